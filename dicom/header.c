/* One table says which elements of the data set are read and where they go; what stands in the
 * functional groups of enhanced images goes to its frame (visit_group_element). The walk stops at the
 * pixel data. */
#include "dicom/header.h"
#include "base/error.h"
#include "dicom/charset.h"
#include "dicom/data-set.h"
#include "dicom/pixel-extent.h"
#include "base/number.h"

#include <math.h>
#include <inttypes.h>
#include <string.h>

#define MAX_TEXT_BYTES 65536
#define MAX_FRAMES 65536
/* Of frames that take fewer bytes than those of 16 x 16 pixels no more are read: each costs some
 * kilobytes, and a file of a page could claim thousands. */
#define FRAME_BYTES 512
#define FREE_FRAMES 64

typedef enum { KIND_UID, KIND_CODE, KIND_TEXT, KIND_US, KIND_IS, KIND_DS, KIND_DS2 } Kind;

typedef struct {
  guint32 tag;
  Kind kind;
  size_t offset;
} Field;

#define AT(member) offsetof(DemurHeader, member)

/* In ascending order of tag. */
static const Field fields[] = {
    {DEMUR_TAG(0x0008, 0x0005), KIND_CODE, AT(character_set)},
    {DEMUR_TAG(0x0008, 0x0008), KIND_CODE, AT(image_type)},
    {DEMUR_TAG(0x0008, 0x0016), KIND_UID, AT(sop_class_uid)},
    {DEMUR_TAG(0x0008, 0x0018), KIND_UID, AT(sop_instance_uid)},
    {DEMUR_TAG(0x0008, 0x001C), KIND_CODE, AT(synthetic)},
    {DEMUR_TAG(0x0008, 0x0020), KIND_CODE, AT(study_date)},
    {DEMUR_TAG(0x0008, 0x0021), KIND_CODE, AT(series_date)},
    {DEMUR_TAG(0x0008, 0x0022), KIND_CODE, AT(acquisition_date)},
    {DEMUR_TAG(0x0008, 0x0023), KIND_CODE, AT(content_date)},
    {DEMUR_TAG(0x0008, 0x0060), KIND_CODE, AT(modality)},
    {DEMUR_TAG(0x0008, 0x0070), KIND_TEXT, AT(manufacturer)},
    {DEMUR_TAG(0x0008, 0x0080), KIND_TEXT, AT(institution)},
    {DEMUR_TAG(0x0008, 0x1010), KIND_TEXT, AT(station)},
    {DEMUR_TAG(0x0008, 0x1030), KIND_TEXT, AT(study_description)},
    {DEMUR_TAG(0x0008, 0x103E), KIND_TEXT, AT(series_description)},
    {DEMUR_TAG(0x0008, 0x1090), KIND_TEXT, AT(model)},
    {DEMUR_TAG(0x0010, 0x0010), KIND_TEXT, AT(patient_name)},
    {DEMUR_TAG(0x0010, 0x0020), KIND_TEXT, AT(patient_id)},
    {DEMUR_TAG(0x0010, 0x0021), KIND_TEXT, AT(patient_id_issuer)},
    {DEMUR_TAG(0x0010, 0x0030), KIND_CODE, AT(patient_birth_date)},
    {DEMUR_TAG(0x0010, 0x0040), KIND_CODE, AT(patient_sex)},
    {DEMUR_TAG(0x0010, 0x1010), KIND_CODE, AT(patient_age)},
    {DEMUR_TAG(0x0018, 0x0010), KIND_TEXT, AT(contrast_agent)},
    {DEMUR_TAG(0x0018, 0x0015), KIND_CODE, AT(body_part)},
    {DEMUR_TAG(0x0018, 0x0050), KIND_DS, AT(shared.thickness_mm)},
    {DEMUR_TAG(0x0018, 0x0060), KIND_DS, AT(kvp)},
    {DEMUR_TAG(0x0018, 0x0088), KIND_DS, AT(spacing_between_mm)},
    {DEMUR_TAG(0x0018, 0x0090), KIND_DS, AT(collection_diameter_mm)},
    {DEMUR_TAG(0x0018, 0x1030), KIND_TEXT, AT(protocol)},
    {DEMUR_TAG(0x0018, 0x1100), KIND_DS, AT(fov_mm)},
    {DEMUR_TAG(0x0018, 0x1120), KIND_DS, AT(tilt_tag_degrees)},
    {DEMUR_TAG(0x0018, 0x1151), KIND_DS, AT(tube_current_ma)},
    {DEMUR_TAG(0x0018, 0x1152), KIND_DS, AT(exposure_mas)},
    {DEMUR_TAG(0x0018, 0x1210), KIND_TEXT, AT(kernel)},
    {DEMUR_TAG(0x0018, 0x5100), KIND_CODE, AT(patient_position)},
    {DEMUR_TAG(0x0020, 0x000D), KIND_UID, AT(study_uid)},
    {DEMUR_TAG(0x0020, 0x000E), KIND_UID, AT(series_uid)},
    {DEMUR_TAG(0x0020, 0x0011), KIND_IS, AT(series_number)},
    {DEMUR_TAG(0x0020, 0x0012), KIND_IS, AT(acquisition_number)},
    {DEMUR_TAG(0x0020, 0x0013), KIND_IS, AT(instance_number)},
    {DEMUR_TAG(0x0020, 0x0032), KIND_DS, AT(shared.position_mm)},
    {DEMUR_TAG(0x0020, 0x0037), KIND_DS, AT(shared.orientation)},
    {DEMUR_TAG(0x0020, 0x0052), KIND_UID, AT(frame_of_reference_uid)},
    {DEMUR_TAG(0x0028, 0x0002), KIND_US, AT(samples)},
    {DEMUR_TAG(0x0028, 0x0004), KIND_CODE, AT(photometric)},
    {DEMUR_TAG(0x0028, 0x0010), KIND_US, AT(rows)},
    {DEMUR_TAG(0x0028, 0x0011), KIND_US, AT(columns)},
    {DEMUR_TAG(0x0028, 0x0030), KIND_DS2, AT(shared.pixel_spacing_mm)},
    {DEMUR_TAG(0x0028, 0x0100), KIND_US, AT(bits_allocated)},
    {DEMUR_TAG(0x0028, 0x0101), KIND_US, AT(bits_stored)},
    {DEMUR_TAG(0x0028, 0x0102), KIND_US, AT(high_bit)},
    {DEMUR_TAG(0x0028, 0x0120), KIND_US, AT(padding)},
    {DEMUR_TAG(0x0028, 0x0121), KIND_US, AT(padding_limit)},
    {DEMUR_TAG(0x0028, 0x1050), KIND_DS, AT(shared.window_center)},
    {DEMUR_TAG(0x0028, 0x1051), KIND_DS, AT(shared.window_width)},
    {DEMUR_TAG(0x0028, 0x1052), KIND_DS, AT(shared.intercept)},
    {DEMUR_TAG(0x0028, 0x1053), KIND_DS, AT(shared.slope)},
    {DEMUR_TAG(0x0028, 0x1054), KIND_CODE, AT(rescale_type)},
    {DEMUR_TAG(0x0028, 0x2110), KIND_CODE, AT(lossy)},
};

#define TAG_N_FRAMES DEMUR_TAG(0x0028, 0x0008)
#define TAG_PLANAR DEMUR_TAG(0x0028, 0x0006)
#define TAG_SIGNED DEMUR_TAG(0x0028, 0x0103)
#define TAG_MODALITY_LUT DEMUR_TAG(0x0028, 0x3000)
#define TAG_REAL_WORLD DEMUR_TAG(0x0040, 0x9096)
#define TAG_UNITS DEMUR_TAG(0x0040, 0x08EA)
#define TAG_SHARED_GROUPS DEMUR_TAG(0x5200, 0x9229)
#define TAG_FRAME_GROUPS DEMUR_TAG(0x5200, 0x9230)

typedef struct {
  DemurSource *source;
  DemurHeader *header;
  gboolean has_padding_limit;
  gboolean real_world_hu; /* one of the mappings gives HU */
  DemurPixelElement pixels;
  DemurRootReading *root;
} Reading;

static DemurFrame
empty_frame(void) {
  DemurFrame frame;
  for (int i = 0; i < 3; i++)
    frame.position_mm[i] = NAN;
  for (int i = 0; i < 6; i++)
    frame.orientation[i] = NAN;
  frame.pixel_spacing_mm[0] = frame.pixel_spacing_mm[1] = NAN;
  frame.thickness_mm = frame.slope = frame.intercept = NAN;
  frame.window_center = frame.window_width = NAN;
  frame.acquisition_number = DEMUR_NO_NUMBER;
  return frame;
}

static size_t
trimmed(const guint8 *bytes, size_t length) {
  const guint8 *end = memchr(bytes, '\0', length);
  if (end != NULL)
    length = (size_t)(end - bytes);
  while (length > 0 && g_ascii_isspace((char)bytes[length - 1]))
    length--;
  return length;
}

/* n decimal strings separated by backslashes; FALSE, and values untouched, unless all n are
 * numbers. */
static gboolean
parse_decimals(const guint8 *bytes, size_t length, size_t n, double *values) {
  double parsed[6];
  const char *text = (const char *)bytes;
  size_t left = trimmed(bytes, length);
  for (size_t i = 0; i < n; i++) {
    const char *separator = memchr(text, '\\', left);
    const size_t size = separator != NULL ? (size_t)(separator - text) : left;
    if (i + 1 < n && separator == NULL)
      return FALSE;
    if (!demur_number_parse(text, size, &parsed[i]))
      return FALSE;
    text += MIN(size + 1, left);
    left -= MIN(size + 1, left);
  }
  memcpy(values, parsed, n * sizeof *values);
  return TRUE;
}

static gint64
parse_integer(const guint8 *bytes, size_t length) {
  gint64 value = DEMUR_NO_NUMBER;
  const size_t size = trimmed(bytes, length);
  if (!demur_number_parse_int((const char *)bytes, size, &value)) {
    double decimal;
    if (demur_number_parse((const char *)bytes, size, &decimal) && fabs(decimal) < 1e15)
      value = (gint64)decimal;
  }
  return value;
}

static void
set_text(char **to, char *text) {
  g_free(*to);
  if (text != NULL && *text == '\0')
    g_clear_pointer(&text, g_free);
  *to = text;
}

static char *
code_text(const guint8 *bytes, size_t length) {
  return demur_charset_to_utf8((const char *)bytes, length, NULL);
}

static void
store_field(Reading *reading, const Field *field, const DemurElement *element,
            const guint8 *bytes) {
  DemurHeader *header = reading->header;
  gpointer to = (guint8 *)header + field->offset;
  const size_t length = element->length;
  switch (field->kind) {
  case KIND_UID:
  case KIND_CODE:
    set_text(to, code_text(bytes, length));
    break;
  case KIND_TEXT:
    set_text(to, demur_charset_to_utf8((const char *)bytes, length, header->character_set));
    break;
  case KIND_US:
    if (length >= 2)
      *(guint16 *)to = demur_elements_u16(bytes, element->big_endian);
    break;
  case KIND_IS:
    *(gint64 *)to = parse_integer(bytes, length);
    break;
  case KIND_DS:
  case KIND_DS2: {
    const size_t n = field->kind == KIND_DS2            ? 2
                     : to == header->shared.position_mm ? 3
                     : to == header->shared.orientation ? 6
                                                        : 1;
    if (!parse_decimals(bytes, length, n, to) && to == &header->shared.thickness_mm &&
        trimmed(bytes, length) > 0)
      set_text(&header->thickness_text, code_text(bytes, length));
    break;
  }
  }
}

static int
compare_field(const void *tag, const void *field) {
  const guint32 a = *(const guint32 *)tag, b = ((const Field *)field)->tag;
  return a < b ? -1 : a > b;
}

static const guint8 *
value_of(Reading *reading, const DemurElement *element) {
  if (element->length > MAX_TEXT_BYTES)
    return NULL;
  return demur_source_peek(reading->source, element->offset, element->length);
}

static double
double_of(const DemurElement *element, const guint8 *bytes) {
  if (element->length != 8)
    return NAN;
  const double value = demur_elements_f64(bytes, element->big_endian);
  return isfinite(value) ? value : NAN;
}

/* Keeps the value where the element is one of dicom/attributes.h: of the whole object (frame -1),
 * or of one frame. */
static void
store_attribute(DemurHeader *header, const DemurElement *element, const guint8 *bytes,
                gint64 frame) {
  const int i = demur_slice_attribute_find(element->tag);
  char *text = i < 0 ? NULL
                     : demur_slice_attribute_text(element, bytes, demur_slice_attribute((size_t)i),
                                                  header->character_set);
  if (text == NULL)
    return;
  if (frame < 0) {
    set_text(&header->attributes[i], text);
    return;
  }
  const guint32 n = header->n_frame_attributes;
  if ((n & (n - 1)) == 0)
    header->frame_attributes =
        g_renew(DemurFrameAttribute, header->frame_attributes, n == 0 ? 1 : 2 * (gsize)n);
  header->frame_attributes[header->n_frame_attributes++] =
      (DemurFrameAttribute){(guint32)frame, (guint32)i, text};
}

/* A second source has a kVp of its own: the first one's is told. */
#define TAG_ADDITIONAL_SOURCES DEMUR_TAG(0x0018, 0x9360)

/* Every functional group may hold what tells frames apart, that of attributes which were taken over
 * unassigned (legacy converted objects) any; but for private ones. An implicit data set does not say
 * what a sequence is: it begins with an item. */
static gboolean
is_functional_group(const Reading *reading, const DemurElement *element) {
  if (((element->tag >> 16) & 1u) != 0 || element->tag == TAG_ADDITIONAL_SOURCES)
    return FALSE;
  if (element->vr != DEMUR_VR_NONE)
    return element->vr == DEMUR_VR_SQ;
  const guint8 *head =
      element->length >= 8 ? demur_source_peek(reading->source, element->offset, 8) : NULL;
  return head != NULL && demur_elements_u16(head, element->big_endian) == 0xFFFE &&
         demur_elements_u16(head + 2, element->big_endian) == 0xE000;
}

/* UCUM's, and what is written in its place. */
static const char *const codes_of_hu[] = {"[hnsf'U]", "HU", "[HU]"};

static gboolean
is_code_of_hu(const char *code) {
  for (size_t i = 0; i < G_N_ELEMENTS(codes_of_hu); i++)
    if (g_ascii_strcasecmp(code, codes_of_hu[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_inside(const DemurElement *element, guint32 sequence) {
  for (guint d = 0; d < element->depth; d++)
    if (element->parents[d].sequence == sequence)
      return TRUE;
  return FALSE;
}

/* What stored values mean otherwise than by slope and intercept (PS3.3 C.11.1, C.7.6.16.2.11), at
 * the root or in a functional group. */
static DemurWalk
visit_value_map(Reading *reading, const DemurElement *element) {
  DemurHeader *header = reading->header;
  const guint32 sequence = element->parents[element->depth - 1].sequence;
  if (element->tag == TAG_UNITS)
    return DEMUR_WALK_DESCEND;
  if (sequence == TAG_MODALITY_LUT && header->lut_type == NULL)
    header->lut_type = g_strdup("");
  const gboolean is_type =
      sequence == TAG_MODALITY_LUT && element->tag == DEMUR_TAG(0x0028, 0x3004);
  const gboolean is_unit = sequence == TAG_UNITS && element->tag == DEMUR_TAG(0x0008, 0x0100);
  const guint8 *bytes = is_type || is_unit ? value_of(reading, element) : NULL;
  g_autofree char *text = bytes != NULL ? code_text(bytes, element->length) : NULL;
  if (text == NULL || *text == '\0')
    return DEMUR_WALK_ON;
  if (is_type)
    set_text(&header->lut_type, g_steal_pointer(&text));
  else if (is_code_of_hu(text))
    reading->real_world_hu = TRUE;
  else if (header->real_world_unit == NULL)
    header->real_world_unit = g_steal_pointer(&text);
  return DEMUR_WALK_ON;
}

/* An element inside the shared or per-frame functional groups; a value that is no number stays NaN:
 * unknown. */
static DemurWalk
visit_group_element(Reading *reading, const DemurElement *element) {
  DemurHeader *header = reading->header;
  const guint32 root = element->parents[0].sequence;
  if (root != TAG_SHARED_GROUPS && root != TAG_FRAME_GROUPS)
    return DEMUR_WALK_ON;
  DemurFrame *frame = &header->shared;
  if (root == TAG_FRAME_GROUPS) {
    if (element->parents[0].item >= header->n_frames)
      return DEMUR_WALK_ON;
    /* Grown by the items that are there, not by the number that is claimed. */
    while (header->n_frame_groups <= element->parents[0].item) {
      const guint32 n = header->n_frame_groups;
      if ((n & (n - 1)) == 0)
        header->frames = g_renew(DemurFrame, header->frames, n == 0 ? 1 : 2 * (gsize)n);
      header->frames[header->n_frame_groups++] = empty_frame();
    }
    frame = &header->frames[element->parents[0].item];
  }
  if (element->depth == 1)
    return is_functional_group(reading, element) ? DEMUR_WALK_DESCEND : DEMUR_WALK_ON;
  if (element->depth != 2 || element->length == DEMUR_ELEMENTS_UNDEFINED)
    return DEMUR_WALK_ON;
  const guint8 *bytes = value_of(reading, element);
  if (bytes == NULL)
    return DEMUR_WALK_ON;
  const size_t length = element->length;
  store_attribute(header, element, bytes,
                  root == TAG_FRAME_GROUPS ? (gint64)element->parents[0].item : -1);
  switch (element->tag) {
  case DEMUR_TAG(0x0020, 0x0032):
    (void)parse_decimals(bytes, length, 3, frame->position_mm);
    break;
  case DEMUR_TAG(0x0020, 0x0037):
    (void)parse_decimals(bytes, length, 6, frame->orientation);
    break;
  case DEMUR_TAG(0x0028, 0x0030):
    (void)parse_decimals(bytes, length, 2, frame->pixel_spacing_mm);
    break;
  case DEMUR_TAG(0x0018, 0x0050):
    (void)parse_decimals(bytes, length, 1, &frame->thickness_mm);
    break;
  case DEMUR_TAG(0x0028, 0x1050):
    (void)parse_decimals(bytes, length, 1, &frame->window_center);
    break;
  case DEMUR_TAG(0x0028, 0x1051):
    (void)parse_decimals(bytes, length, 1, &frame->window_width);
    break;
  case DEMUR_TAG(0x0028, 0x1052):
    (void)parse_decimals(bytes, length, 1, &frame->intercept);
    break;
  case DEMUR_TAG(0x0028, 0x1053):
    (void)parse_decimals(bytes, length, 1, &frame->slope);
    break;
  case DEMUR_TAG(0x0028, 0x1054):
    if (header->rescale_type == NULL)
      set_text(&header->rescale_type, code_text(bytes, length));
    break;
  case DEMUR_TAG(0x0020, 0x9156):
    if (length == 2)
      frame->acquisition_number = demur_elements_u16(bytes, element->big_endian);
    break;
  case DEMUR_TAG(0x0018, 0x0060):
    (void)parse_decimals(bytes, length, 1, &header->kvp);
    break;
  case DEMUR_TAG(0x0018, 0x1210):
    if (header->kernel == NULL)
      set_text(&header->kernel,
               demur_charset_to_utf8((const char *)bytes, length, header->character_set));
    break;
  case DEMUR_TAG(0x0018, 0x1100):
    (void)parse_decimals(bytes, length, 1, &header->fov_mm);
    break;
  case DEMUR_TAG(0x0018, 0x1120):
    (void)parse_decimals(bytes, length, 1, &header->tilt_tag_degrees);
    break;
  case DEMUR_TAG(0x0018, 0x9330):
    header->tube_current_ma = double_of(element, bytes);
    break;
  case DEMUR_TAG(0x0018, 0x9332):
    header->exposure_mas = double_of(element, bytes);
    break;
  default:
    break;
  }
  return DEMUR_WALK_ON;
}

static DemurWalk
visit(const DemurElement *element, gpointer data) {
  Reading *reading = data;
  DemurHeader *header = reading->header;
  demur_root_reading_take(reading->root, element);
  if (is_inside(element, TAG_REAL_WORLD) || is_inside(element, TAG_MODALITY_LUT))
    return visit_value_map(reading, element);
  if (element->depth > 0)
    return visit_group_element(reading, element);
  if (element->tag >= DEMUR_TAG(0x7FE0, 0x0008)) {
    if (element->tag == DEMUR_TAG(0x7FE0, 0x0010)) {
      reading->pixels.found = TRUE;
      reading->pixels.undefined = element->length == DEMUR_ELEMENTS_UNDEFINED;
      reading->pixels.length = element->length;
      header->pixels_offset = element->offset;
      return DEMUR_WALK_STOP;
    }
    if (element->tag == DEMUR_TAG(0x7FE0, 0x0008) || element->tag == DEMUR_TAG(0x7FE0, 0x0009)) {
      reading->pixels.found = reading->pixels.unreadable = TRUE;
      return DEMUR_WALK_STOP;
    }
    return element->tag > DEMUR_TAG(0x7FE0, 0x0010) ? DEMUR_WALK_STOP : DEMUR_WALK_ON;
  }
  if (element->tag == TAG_SHARED_GROUPS || element->tag == TAG_FRAME_GROUPS ||
      element->tag == TAG_REAL_WORLD || element->tag == TAG_MODALITY_LUT)
    return DEMUR_WALK_DESCEND;
  if (element->length == DEMUR_ELEMENTS_UNDEFINED)
    return DEMUR_WALK_ON;
  if (element->tag == TAG_N_FRAMES || element->tag == TAG_SIGNED || element->tag == TAG_PLANAR) {
    const guint8 *bytes = value_of(reading, element);
    if (bytes == NULL)
      return DEMUR_WALK_ON;
    if (element->tag == TAG_N_FRAMES) {
      const gint64 n = parse_integer(bytes, element->length);
      header->n_frames = n >= 1 && n <= G_MAXUINT32 ? (guint32)n : 1;
      if (header->n_frames > MAX_FRAMES)
        return DEMUR_WALK_STOP; /* refused by the caller */
    } else if (element->length >= 2) {
      const gboolean set = demur_elements_u16(bytes, element->big_endian) != 0;
      *(element->tag == TAG_SIGNED ? &header->is_signed : &header->planar) = set;
    }
    return DEMUR_WALK_ON;
  }
  const Field *field =
      bsearch(&element->tag, fields, G_N_ELEMENTS(fields), sizeof *fields, compare_field);
  if (field == NULL && demur_slice_attribute_find(element->tag) < 0)
    return DEMUR_WALK_ON;
  const guint8 *bytes = value_of(reading, element);
  if (bytes != NULL)
    store_attribute(header, element, bytes, -1);
  if (bytes != NULL && field != NULL) {
    store_field(reading, field, element, bytes);
    if (field->offset == AT(padding) && element->length >= 2)
      header->has_padding = TRUE;
    if (field->offset == AT(padding_limit) && element->length >= 2)
      reading->has_padding_limit = TRUE;
  }
  return DEMUR_WALK_ON;
}

DemurHeader *
demur_header_read(DemurSource **source, GError **error) {
  g_auto(DemurDataSet) set = {0};
  const guint64 size = demur_source_size(*source); /* before a deflated data set is unpacked */
  if (!demur_data_set_locate(source, &set, error))
    return NULL;
  g_autoptr(DemurHeader) header = g_new0(DemurHeader, 1);
  header->shared = empty_frame();
  header->attributes = g_new0(char *, demur_slice_attributes_n());
  header->series_number = header->acquisition_number = header->instance_number = DEMUR_NO_NUMBER;
  header->kvp = header->tube_current_ma = header->exposure_mas = header->fov_mm = NAN;
  header->collection_diameter_mm = header->tilt_tag_degrees = header->spacing_between_mm = NAN;
  header->n_frames = 1;
  header->samples = 1;
  header->big_endian = set.encoding.big_endian;
  header->explicit_vr = set.encoding.explicit_vr;
  g_autoptr(DemurRootReading) root = demur_root_reading_new(*source);
  Reading reading = {.source = *source, .header = header, .root = root};
  if (!demur_elements_walk(*source, set.offset, set.encoding, FALSE, visit, &reading, error))
    return NULL;
  if (header->n_frames > MAX_FRAMES) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED, "%u frames are more than the %d that are read",
                    header->n_frames, MAX_FRAMES);
    return NULL;
  }
  if (header->n_frames > FREE_FRAMES + size / FRAME_BYTES) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "%u frames in %" PRIu64 " bytes are more than are read: frames of fewer than "
                    "%d bytes hold no image",
                    header->n_frames, size, FRAME_BYTES);
    return NULL;
  }
  if (reading.real_world_hu)
    g_clear_pointer(&header->real_world_unit, g_free);
  if (!reading.has_padding_limit)
    header->padding_limit = header->padding;
  if (header->sop_instance_uid == NULL)
    header->sop_instance_uid = g_steal_pointer(&set.sop_instance_uid);
  if (header->sop_class_uid == NULL)
    header->sop_class_uid = g_steal_pointer(&set.sop_class_uid);
  header->transfer_syntax_uid = g_steal_pointer(&set.transfer_syntax_uid);
  demur_pixel_extent_check(*source, &reading.pixels, header);
  header->root = demur_root_reading_end(g_steal_pointer(&root));
  return g_steal_pointer(&header);
}

void
demur_header_free(DemurHeader *header) {
  if (header == NULL)
    return;
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
    if (fields[i].kind == KIND_UID || fields[i].kind == KIND_CODE || fields[i].kind == KIND_TEXT)
      g_free(*(char **)((guint8 *)header + fields[i].offset));
  for (size_t i = 0; header->attributes != NULL && i < demur_slice_attributes_n(); i++)
    g_free(header->attributes[i]);
  g_free(header->attributes);
  for (guint32 i = 0; i < header->n_frame_attributes; i++)
    g_free(header->frame_attributes[i].text);
  g_free(header->frame_attributes);
  demur_root_elements_unref(header->root);
  g_free(header->transfer_syntax_uid);
  g_free(header->thickness_text);
  g_free(header->lut_type);
  g_free(header->real_world_unit);
  g_free(header->pixels_problem);
  g_free(header->frames);
  g_free(header->fragments);
  g_free(header);
}

static void
complete(double *value, double fallback) {
  if (isnan(*value))
    *value = fallback;
}

DemurFrame
demur_header_frame(const DemurHeader *header, guint32 i) {
  DemurFrame frame = i < header->n_frame_groups ? header->frames[i] : header->shared;
  const DemurFrame *shared = &header->shared;
  if (isnan(frame.position_mm[0]))
    memcpy(frame.position_mm, shared->position_mm, sizeof frame.position_mm);
  if (isnan(frame.orientation[0]))
    memcpy(frame.orientation, shared->orientation, sizeof frame.orientation);
  if (isnan(frame.pixel_spacing_mm[0]))
    memcpy(frame.pixel_spacing_mm, shared->pixel_spacing_mm, sizeof frame.pixel_spacing_mm);
  complete(&frame.thickness_mm, shared->thickness_mm);
  complete(&frame.slope, shared->slope);
  complete(&frame.window_center, shared->window_center);
  complete(&frame.window_width, shared->window_width);
  complete(&frame.intercept, shared->intercept);
  if (frame.acquisition_number == DEMUR_NO_NUMBER)
    frame.acquisition_number = header->acquisition_number;
  return frame;
}

typedef struct {
  DemurSource *source;
  char *series_uid;
} Damaged;

static DemurWalk
visit_damaged(const DemurElement *element, gpointer data) {
  Damaged *damaged = data;
  if (element->depth == 0 && element->tag == DEMUR_TAG(0x0020, 0x000E) && element->length <= 256) {
    const guint8 *bytes = demur_source_peek(damaged->source, element->offset, element->length);
    if (bytes != NULL)
      set_text(&damaged->series_uid, code_text(bytes, element->length));
  }
  return element->depth == 0 && element->tag > DEMUR_TAG(0x0020, 0x000E) ? DEMUR_WALK_STOP
                                                                         : DEMUR_WALK_ON;
}

char *
demur_header_series_of_damaged(DemurSource **source) {
  g_auto(DemurDataSet) set = {0};
  g_autoptr(GError) ignored = NULL;
  if (!demur_data_set_locate(source, &set, &ignored))
    return NULL;
  Damaged damaged = {*source, NULL};
  (void)!demur_elements_walk(*source, set.offset, set.encoding, FALSE, visit_damaged, &damaged,
                             &ignored);
  return damaged.series_uid;
}
