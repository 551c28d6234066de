/* One table says which elements of the data set are read and where they go; what stands in the
 * functional groups of enhanced images goes to its frame (visit_group_element). The walk stops at the
 * pixel data. */
#include "dicom/header.h"
#include "base/error.h"
#include "dicom/charset.h"
#include "dicom/transfer-syntax.h"
#include "base/number.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define MAX_TEXT_BYTES 65536
#define MAX_INFLATED_BYTES (G_GUINT64_CONSTANT(512) << 20)
#define FREE_INFLATED_BYTES (G_GUINT64_CONSTANT(32) << 20)
#define INFLATED_TIMES 32 /* CT images pack 2 to 10 to 1 */
#define MAX_FRAMES 65536
#define MAX_FRAGMENTS (1u << 20)
#define MAX_TAIL_BYTES 1024 /* of padding behind a compressed image */

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
#define TAG_SHARED_GROUPS DEMUR_TAG(0x5200, 0x9229)
#define TAG_FRAME_GROUPS DEMUR_TAG(0x5200, 0x9230)

typedef struct {
  DemurSource *source;
  DemurHeader *header;
  gboolean found_pixels;
  gboolean pixels_unreadable; /* float or double pixel data */
  gboolean pixels_undefined;
  gboolean has_padding_limit;
  guint32 pixels_length;
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
  if (element->vr[0] != '\0')
    return strcmp(element->vr, "SQ") == 0;
  const guint8 *head =
      element->length >= 8 ? demur_source_peek(reading->source, element->offset, 8) : NULL;
  return head != NULL && demur_elements_u16(head, element->big_endian) == 0xFFFE &&
         demur_elements_u16(head + 2, element->big_endian) == 0xE000;
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
  if (element->depth > 0)
    return visit_group_element(reading, element);
  if (element->tag >= DEMUR_TAG(0x7FE0, 0x0008)) {
    if (element->tag == DEMUR_TAG(0x7FE0, 0x0010)) {
      reading->found_pixels = TRUE;
      reading->pixels_undefined = element->length == DEMUR_ELEMENTS_UNDEFINED;
      reading->pixels_length = element->length;
      header->pixels_offset = element->offset;
      return DEMUR_WALK_STOP;
    }
    if (element->tag == DEMUR_TAG(0x7FE0, 0x0008) || element->tag == DEMUR_TAG(0x7FE0, 0x0009)) {
      reading->found_pixels = reading->pixels_unreadable = TRUE;
      return DEMUR_WALK_STOP;
    }
    return element->tag > DEMUR_TAG(0x7FE0, 0x0010) ? DEMUR_WALK_STOP : DEMUR_WALK_ON;
  }
  if (element->tag == TAG_SHARED_GROUPS || element->tag == TAG_FRAME_GROUPS) {
    return DEMUR_WALK_DESCEND;
  }
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

typedef struct {
  DemurSource *source;
  char *transfer_syntax, *sop_class, *sop_instance;
  guint64 end; /* of the meta header */
  gboolean nested;
} Meta;

static DemurWalk
visit_meta(const DemurElement *element, gpointer data) {
  Meta *meta = data;
  if ((element->tag >> 16) != 0x0002)
    return DEMUR_WALK_STOP;
  if (element->length == DEMUR_ELEMENTS_UNDEFINED)
    return DEMUR_WALK_STOP;
  if (strcmp(element->vr, "SQ") == 0) {
    meta->nested = TRUE;
    return DEMUR_WALK_STOP;
  }
  char **to = element->tag == DEMUR_TAG(0x0002, 0x0010)   ? &meta->transfer_syntax
              : element->tag == DEMUR_TAG(0x0002, 0x0002) ? &meta->sop_class
              : element->tag == DEMUR_TAG(0x0002, 0x0003) ? &meta->sop_instance
                                                          : NULL;
  if (to != NULL && element->length <= 256) {
    const guint8 *bytes = demur_source_peek(meta->source, element->offset, element->length);
    if (bytes != NULL)
      set_text(to, code_text(bytes, element->length));
  }
  meta->end = element->offset + element->length;
  return DEMUR_WALK_ON;
}

/* How the first element at offset is written; FALSE where it can't be one of a DICOM data set. */
static gboolean
guess_encoding(DemurSource *source, guint64 offset, gboolean preamble, DemurEncoding *encoding) {
  const guint8 *head = demur_source_peek(source, offset, 8);
  if (head == NULL)
    return FALSE;
  const guint16 little = demur_elements_u16(head, FALSE), big = demur_elements_u16(head, TRUE);
  /* Behind a preamble any low group may come first; without one only these do. */
  const guint16 last = preamble ? 0x0020 : 0x0008;
  const gboolean is_little = little >= 0x0002 && little <= last;
  if (!is_little && !(big >= 0x0004 && big <= last))
    return FALSE;
  encoding->big_endian = !is_little;
  encoding->explicit_vr = g_ascii_isupper(head[4]) && g_ascii_isupper(head[5]);
  if (encoding->explicit_vr)
    return TRUE;
  /* Implicit: the first value must fit, and no first value is long. */
  const guint32 length = demur_elements_u32(head + 4, encoding->big_endian);
  return !encoding->big_endian && length <= 4096 &&
         length <= demur_source_size(source) - offset - 8;
}

/* A bare deflate stream (PS3.5 annex A.5), or one in zlib's wrapping, which some writers add. */
static GBytes *
inflate_rest(DemurSource *source, guint64 offset, GError **error) {
  z_stream stream = {0};
  const guint8 *head = demur_source_peek(source, offset, 2);
  const gboolean wrapped =
      head != NULL && (head[0] & 0x8F) == 0x08 && ((head[0] << 8) | head[1]) % 31 == 0;
  if (inflateInit2(&stream, wrapped ? MAX_WBITS : -MAX_WBITS) != Z_OK) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "zlib can't be started");
    return NULL;
  }
  g_autoptr(GByteArray) out = g_byte_array_new();
  guint8 chunk[65536];
  const guint64 size = demur_source_size(source);
  const guint64 most =
      MIN(MAX_INFLATED_BYTES, FREE_INFLATED_BYTES + INFLATED_TIMES * (size - offset));
  int status = Z_OK;
  while (status == Z_OK && offset < size) {
    const size_t n = (size_t)MIN((guint64)16384, size - offset);
    const guint8 *in = demur_source_peek(source, offset, n);
    if (in == NULL)
      break;
    offset += n;
    stream.next_in = (Bytef *)in;
    stream.avail_in = (uInt)n;
    do {
      stream.next_out = chunk;
      stream.avail_out = sizeof chunk;
      status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        break;
      g_byte_array_append(out, chunk, (guint)(sizeof chunk - stream.avail_out));
      if (out->len > most) {
        inflateEnd(&stream);
        g_set_error_literal(
            error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
            "the deflated data set grows to more than 32 times its size, or 512 MiB");
        return NULL;
      }
    } while (status == Z_OK && stream.avail_out == 0);
    if (status == Z_BUF_ERROR)
      status = Z_OK;
  }
  inflateEnd(&stream);
  if (status != Z_OK && status != Z_STREAM_END) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the deflated data set is damaged");
    return NULL;
  }
  return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}

static void
check_native(DemurHeader *header, guint64 available, guint64 recorded) {
  /* rows, columns <= 65,535, samples <= 4, frames <= 65,536, 4 bytes: below 2^53. */
  const guint64 frame = (guint64)header->rows * header->columns * header->samples *
                        ((header->bits_allocated + 7u) / 8u);
  const guint64 needed = frame * header->n_frames;
  header->pixels_length = MIN(available, recorded);
  if (header->pixels_length >= needed)
    return;
  header->pixels = DEMUR_PIXELS_TRUNCATED;
  header->pixels_problem =
      g_strdup_printf("pixel data too short: %" G_GUINT64_FORMAT
                      " bytes where %u x %u pixels need %" G_GUINT64_FORMAT,
                      header->pixels_length, header->rows, header->columns, needed);
}

static gboolean
begins_image(const guint8 *bytes) {
  return bytes[0] == 0xFF && (bytes[1] == 0xD8 || bytes[1] == 0x4F); /* SOI, SOC */
}

/* Whether the image's last marker stands at the end of bytes begin .. end, before its padding:
 * zeros and, as some writers leave it, one odd byte. */
static gboolean
ends_image(DemurSource *source, guint64 begin, guint64 end) {
  const size_t n = (size_t)MIN(end - begin, MAX_TAIL_BYTES);
  const guint8 *tail = demur_source_peek(source, end - n, n);
  if (tail == NULL)
    return FALSE;
  for (size_t at = n; at >= 2; at--) {
    if (tail[at - 2] == 0xFF && tail[at - 1] == 0xD9)
      return TRUE;
    if (tail[at - 1] != 0 && at != n)
      return FALSE;
  }
  return FALSE;
}

/* Walks the fragments (PS3.5 annex A.4): an offset table, at least one fragment a frame, the
 * delimiter. Notes where they lie. */
static const char *
walk_fragments(DemurSource *source, DemurHeader *header) {
  g_autoptr(GArray) fragments = g_array_new(FALSE, FALSE, sizeof(DemurFragment));
  guint64 at = header->pixels_offset;
  for (gboolean table = TRUE;; table = FALSE) {
    const guint8 *head = demur_source_peek(source, at, 8);
    if (head == NULL)
      return "cut off: its fragments have no end";
    const guint32 tag =
        ((guint32)demur_elements_u16(head, FALSE) << 16) | demur_elements_u16(head + 2, FALSE);
    const guint32 length = demur_elements_u32(head + 4, FALSE);
    at += 8;
    if (tag == DEMUR_TAG(0xFFFE, 0xE0DD))
      break;
    if (tag != DEMUR_TAG(0xFFFE, 0xE000))
      return "damaged: no fragment where one was expected";
    if (length > demur_source_size(source) - at)
      return "cut off inside a fragment";
    if (table) {
      header->table_offset = at;
      header->table_length = length;
    } else if (length > 0) {
      if (fragments->len >= MAX_FRAGMENTS)
        return "damaged: more fragments than any image has";
      const guint8 *bytes = length >= 2 ? demur_source_peek(source, at, 2) : NULL;
      const DemurFragment fragment = {at, length, bytes != NULL && begins_image(bytes)};
      g_array_append_val(fragments, fragment);
    }
    at += length;
  }
  if (fragments->len < header->n_frames)
    return "incomplete: fewer fragments than frames";
  header->n_fragments = fragments->len;
  header->fragments = (DemurFragment *)(void *)g_array_free(g_steal_pointer(&fragments), FALSE);
  return NULL;
}

static void
check_encapsulated(DemurSource *source, DemurHeader *header, DemurCoding coding) {
  const char *problem = walk_fragments(source, header);
  if (problem == NULL && coding != DEMUR_CODING_RLE) {
    const DemurFragment *first = header->fragments;
    const DemurFragment *last = header->fragments + header->n_fragments - 1;
    const guint8 *start = demur_source_peek(source, first->offset, 1);
    const gboolean boxed = coding == DEMUR_CODING_JPEG_2000 && start != NULL && start[0] == 0;
    if (!first->begins_image && !boxed)
      problem = "damaged: no compressed image begins there";
    else if (!ends_image(source, last->offset, last->offset + last->length))
      problem = "cut off: the compressed image has no end";
  }
  if (problem != NULL) {
    header->pixels = DEMUR_PIXELS_TRUNCATED;
    header->pixels_problem = g_strdup_printf("pixel data %s", problem);
  }
}

static void
refuse_pixels(DemurHeader *header, char *problem) {
  header->pixels = DEMUR_PIXELS_UNSUPPORTED;
  set_text(&header->pixels_problem, problem);
}

static void
check_pixels(Reading *reading) {
  DemurHeader *header = reading->header;
  if (!reading->found_pixels) {
    header->pixels = DEMUR_PIXELS_ABSENT;
    header->pixels_problem = g_strdup("no pixel data");
    return;
  }
  header->pixels = DEMUR_PIXELS_COMPLETE;
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  header->encapsulated = reading->pixels_undefined;
  if (reading->pixels_unreadable) {
    refuse_pixels(header, g_strdup("floating-point pixel data are not read"));
  } else if (syntax == NULL || syntax->coding == DEMUR_CODING_UNREADABLE) {
    g_autofree char *name = demur_transfer_syntax_name(header->transfer_syntax_uid);
    refuse_pixels(header, g_strdup_printf("compression %s is not read", name));
  } else if (header->rows == 0 || header->columns == 0) {
    refuse_pixels(header, g_strdup("the image has no rows or columns"));
  } else if (header->bits_allocated == 0 || header->bits_allocated > 32 ||
             header->bits_stored == 0 || header->bits_stored > header->bits_allocated ||
             header->samples == 0 || header->samples > 4) {
    refuse_pixels(header,
                  g_strdup_printf("pixels of %u samples, %u bits stored in %u are not read",
                                  header->samples, header->bits_stored, header->bits_allocated));
  } else if (!header->encapsulated && header->bits_allocated != 8 && header->bits_allocated != 16 &&
             header->bits_allocated != 32) {
    refuse_pixels(header, g_strdup_printf("native pixels of %u bits are not read: only of 8, 16 or "
                                          "32",
                                          header->bits_allocated));
  } else if (header->encapsulated) {
    if (syntax->coding == DEMUR_CODING_NATIVE || syntax->coding == DEMUR_CODING_DEFLATED)
      refuse_pixels(header,
                    g_strdup("pixel data in fragments, but the transfer syntax is not compressed"));
    else
      check_encapsulated(reading->source, header, syntax->coding);
  } else if (syntax->coding != DEMUR_CODING_NATIVE && syntax->coding != DEMUR_CODING_DEFLATED) {
    refuse_pixels(header,
                  g_strdup("pixel data not in fragments, but the transfer syntax is compressed"));
  } else {
    check_native(header, demur_source_size(reading->source) - header->pixels_offset,
                 reading->pixels_length);
  }
}

void
demur_data_set_clear(DemurDataSet *set) {
  g_clear_pointer(&set->transfer_syntax_uid, g_free);
  g_clear_pointer(&set->sop_class_uid, g_free);
  g_clear_pointer(&set->sop_instance_uid, g_free);
}

gboolean
demur_data_set_locate(DemurSource **source, DemurDataSet *set, GError **error) {
  guint64 offset = 0;
  DemurEncoding encoding = {0};
  Meta meta = {.source = *source};
  const guint8 *magic = demur_source_peek(*source, 128, 4);
  const gboolean preamble = magic != NULL && memcmp(magic, "DICM", 4) == 0;
  g_autoptr(GError) meta_error = NULL;

  if (preamble || (guess_encoding(*source, 0, FALSE, &encoding) && !encoding.big_endian &&
                   demur_elements_u16(demur_source_peek(*source, 0, 2), FALSE) == 0x0002)) {
    offset = preamble ? 132 : 0;
    meta.end = offset;
    const DemurEncoding explicit_little = {TRUE, FALSE};
    /* The meta header ends at the first tag of another group; what stands there may be compressed,
     * so an error behind it is none of the meta header's. */
    if (!demur_elements_walk(*source, offset, explicit_little, FALSE, visit_meta, &meta,
                             &meta_error))
      g_clear_error(&meta_error);
    offset = meta.end;
  }
  g_auto(DemurDataSet) found = {.transfer_syntax_uid = meta.transfer_syntax,
                                .sop_class_uid = meta.sop_class,
                                .sop_instance_uid = meta.sop_instance};
  if (meta.nested) { /* which DCMTK would follow as deep as it goes */
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                        "the file meta header holds a sequence");
    return FALSE;
  }
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(found.transfer_syntax_uid);
  if (syntax != NULL && syntax->coding == DEMUR_CODING_DEFLATED) {
    g_autoptr(GBytes) inflated = inflate_rest(*source, offset, error);
    if (inflated == NULL)
      return FALSE;
    demur_source_free(*source);
    *source = demur_source_bytes(inflated);
    offset = 0;
  }
  if (!guess_encoding(*source, offset, preamble, &encoding)) {
    if (preamble && demur_source_size(*source) <= offset)
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                          "a DICOM header with nothing behind it");
    else if (preamble)
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                          "a DICOM header, but no data set behind it");
    else if (demur_source_size(*source) == 0)
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "empty file");
    else
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "not a DICOM file");
    return FALSE;
  }

  if (found.transfer_syntax_uid == NULL || *found.transfer_syntax_uid == '\0') {
    g_free(found.transfer_syntax_uid);
    found.transfer_syntax_uid = g_strdup(encoding.big_endian    ? "1.2.840.10008.1.2.2"
                                         : encoding.explicit_vr ? "1.2.840.10008.1.2.1"
                                                                : "1.2.840.10008.1.2");
  }
  found.offset = offset;
  found.encoding = encoding;
  *set = found;
  found = (DemurDataSet){0};
  return TRUE;
}

/* DCMTK takes what its dictionary calls a sequence for one, also where the VR is not written: so
 * here all that begins like a sequence is walked too. */
static DemurWalk
pass_by(const DemurElement *element, gpointer data) {
  DemurSource *source = data;
  if (element->vr[0] != '\0' || element->length == DEMUR_ELEMENTS_UNDEFINED ||
      element->length < 8 || element->tag == DEMUR_TAG(0x7FE0, 0x0010))
    return DEMUR_WALK_ON;
  const guint8 *bytes = demur_source_peek(source, element->offset, 4);
  return bytes != NULL && demur_elements_u16(bytes, element->big_endian) == 0xFFFE
             ? DEMUR_WALK_DESCEND
             : DEMUR_WALK_ON;
}

gboolean
demur_data_set_check(DemurSource **source, GError **error) {
  g_auto(DemurDataSet) set = {0};
  return demur_data_set_locate(source, &set, error) &&
         demur_elements_walk(*source, set.offset, set.encoding, TRUE, pass_by, *source, error);
}

DemurHeader *
demur_header_read(DemurSource **source, GError **error) {
  g_auto(DemurDataSet) set = {0};
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
  Reading reading = {.source = *source, .header = header};
  if (!demur_elements_walk(*source, set.offset, set.encoding, FALSE, visit, &reading, error))
    return NULL;
  if (header->n_frames > MAX_FRAMES) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                "%u frames are more than the %d that are read", header->n_frames, MAX_FRAMES);
    return NULL;
  }
  if (!reading.has_padding_limit)
    header->padding_limit = header->padding;
  if (header->sop_instance_uid == NULL)
    header->sop_instance_uid = g_steal_pointer(&set.sop_instance_uid);
  if (header->sop_class_uid == NULL)
    header->sop_class_uid = g_steal_pointer(&set.sop_class_uid);
  header->transfer_syntax_uid = g_steal_pointer(&set.transfer_syntax_uid);
  check_pixels(&reading);
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
  g_free(header->transfer_syntax_uid);
  g_free(header->thickness_text);
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

char *
demur_header_not_an_image(const DemurHeader *header) {
  static const struct {
    const char *prefix; /* of the SOP class */
    const char *modality;
    const char *words;
  } others[] = {
      {"1.2.840.10008.1.3.10", NULL,
       "a directory (DICOMDIR): the files it lists are read themselves"},
      {"1.2.840.10008.5.1.4.1.1.88.", "SR", "a structured report (SR)"},
      {"1.2.840.10008.5.1.4.1.1.66.", "SEG", "a segmentation (SEG), not an image"},
      {"1.2.840.10008.5.1.4.1.1.481.3", "RTSTRUCT", "a radiotherapy structure set (RTSTRUCT)"},
      {"1.2.840.10008.5.1.4.1.1.481.5", "RTPLAN", "a radiotherapy plan (RTPLAN)"},
      {"1.2.840.10008.5.1.4.1.1.481.2", "RTDOSE",
       "a radiotherapy dose grid (RTDOSE), not an image"},
      {"1.2.840.10008.5.1.4.1.1.11.", "PR", "a presentation state (PR)"},
      {"1.2.840.10008.5.1.4.1.1.104.", "DOC", "an encapsulated document (DOC)"},
      {"1.2.840.10008.5.1.4.1.1.9.", "ECG", "a waveform"},
      {NULL, "KO", "a key object selection (KO)"},
      {NULL, "REG", "a registration (REG)"},
      {NULL, "RTRECORD", "a radiotherapy record (RTRECORD)"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    if (others[i].prefix != NULL && header->sop_class_uid != NULL) {
      const size_t n = strlen(others[i].prefix);
      if (strncmp(header->sop_class_uid, others[i].prefix, n) == 0 &&
          (others[i].prefix[n - 1] == '.' || header->sop_class_uid[n] == '\0'))
        return g_strdup(others[i].words);
    }
    if (others[i].modality != NULL && g_strcmp0(header->modality, others[i].modality) == 0)
      return g_strdup(others[i].words);
  }
  if (header->pixels == DEMUR_PIXELS_ABSENT && (header->rows == 0 || header->columns == 0))
    return header->modality != NULL
               ? g_strdup_printf("a DICOM object without an image (modality %s)", header->modality)
               : g_strdup("a DICOM object without an image");
  return NULL;
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

gboolean
demur_header_lacks_its_image(const DemurHeader *header) {
  static const char ct[] = "1.2.840.10008.5.1.4.1.1.2";
  return header->series_uid != NULL && header->pixels == DEMUR_PIXELS_ABSENT &&
         (header->rows == 0 || header->columns == 0) &&
         (header->sop_class_uid != NULL ? g_str_has_prefix(header->sop_class_uid, ct)
                                        : g_strcmp0(header->modality, "CT") == 0);
}

gboolean
demur_header_is_lossy(const DemurHeader *header) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  return (syntax != NULL && syntax->lossy) ||
         (header->lossy != NULL && g_str_has_prefix(header->lossy, "01"));
}

char *
demur_transfer_syntax_name(const char *uid) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(uid);
  if (syntax != NULL)
    return g_strdup_printf("%s (%s)", syntax->name, uid);
  const gboolean standard = uid != NULL && g_str_has_prefix(uid, "1.2.840.10008.");
  return g_strdup_printf("%s (%s)", standard ? "unknown" : "private to its maker",
                         uid != NULL ? uid : "none");
}
