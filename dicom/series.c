/* Images -> groups by text key -> split by orientation and pixel spacing -> split where positions
 * repeat -> ordered and measured. Everything is decided on values and breaks its ties by path, so
 * the order in which files were found plays no part. Cost O(n log n) in the images. */
#include "dicom/series.h"
#include "dicom/geometry.h"

#include <math.h>
#include <string.h>

#define SAME_POSITION_MM 0.01
#define FARTHEST_MM 1e6 /* positions beyond a kilometre are none */
#define SAME_DIRECTION_DEGREES 0.5
#define SAME_SPACING 0.01 /* share of the pixel spacing */

typedef struct {
  const DemurFile *file;
  size_t file_index;
  guint32 frame;
  DemurFrame facts;
  gboolean has_normal, has_position;
  double normal[3];
  double distance;
  DemurSliceState state;
} Image;

typedef struct {
  GPtrArray *images;      /* Image, borrowed */
  const char *series_uid; /* borrowed; NULL */
  double first_distance;
  DemurSeries *series;
} Part;

typedef struct {
  const DemurFiles *files;
  char **digests; /* [n files], made when asked for */
  double gap_tolerance;
} Grouping;

const char *
demur_series_type_name(DemurSeriesType type) {
  static const char *const names[] = {"volume",  "stack", "localizer", "secondary capture",
                                      "derived", "other"};
  g_return_val_if_fail((guint)type < G_N_ELEMENTS(names), NULL);
  return names[type];
}

static void
clear_slice(DemurSlice *slice) {
  g_free(slice->path);
  g_free(slice->entry);
  g_free(slice->sop_instance_uid);
  g_free(slice->transfer_syntax_uid);
  g_free(slice->problem);
  g_free(slice->content_digest);
}

void
demur_series_free(DemurSeries *series) {
  if (series == NULL)
    return;
  char *const texts[] = {
      series->scan_id,
      series->series_uid,
      series->study_uid,
      series->frame_of_reference_uid,
      series->patient_id,
      series->patient_id_issuer,
      series->content_digest,
      series->patient_name,
      series->patient_birth_date,
      series->patient_sex,
      series->study_date,
      series->acquisition_date,
      series->description,
      series->study_description,
      series->protocol,
      series->modality,
      series->sop_class_uid,
      series->image_type,
      series->body_part,
      series->photometric,
      series->patient_position,
      series->transfer_syntax_uid,
      series->manufacturer,
      series->manufacturer_raw,
      series->model,
      series->model_family,
      series->kernel,
      series->kernel_family,
      series->contrast_agent,
      series->institution,
      series->station,
      series->site,
      series->thickness_text,
      series->first_problem,
      series->reason,
  };
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  for (size_t i = 0; i < series->n_slices + series->n_left_out; i++)
    clear_slice(&series->slices[i]);
  g_free(series->slices);
  g_strfreev(series->warnings);
  g_free(series);
}

/* SHA-256 of the object's bytes; "" where they can't be read (then nothing equals it). */
static const char *
digest_of(Grouping *grouping, const Image *image) {
  char **digest = &grouping->digests[image->file_index];
  if (*digest != NULL)
    return *digest;
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autoptr(DemurSource) source = demur_files_open(image->file->path, image->file->entry, NULL);
  const guint64 size = source != NULL ? demur_source_size(source) : 0;
  gboolean good = source != NULL;
  for (guint64 at = 0; good && at < size;) {
    const size_t n = (size_t)MIN((guint64)(1 << 20), size - at);
    const guint8 *bytes = demur_source_peek(source, at, n);
    good = bytes != NULL;
    if (good)
      g_checksum_update(checksum, bytes, (gssize)n);
    at += n;
  }
  *digest = g_strdup(good ? g_checksum_get_string(checksum) : "");
  return *digest;
}

static gboolean
image_type_has(const DemurHeader *header, const char *word) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", -1);
  for (guint i = 0; values[i] != NULL; i++)
    if (g_ascii_strcasecmp(g_strstrip(values[i]), word) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_localizer_label(const DemurHeader *header) {
  return image_type_has(header, "LOCALIZER") || image_type_has(header, "SCOUT");
}

static gboolean
is_derived(const DemurHeader *header) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", 2);
  return values[0] != NULL && g_ascii_strcasecmp(g_strstrip(values[0]), "DERIVED") == 0;
}

static gboolean
is_secondary_capture(const DemurHeader *header) {
  return (header->sop_class_uid != NULL &&
          (g_str_equal(header->sop_class_uid, "1.2.840.10008.5.1.4.1.1.7") ||
           g_str_has_prefix(header->sop_class_uid, "1.2.840.10008.5.1.4.1.1.7."))) ||
         image_type_has(header, "SCREEN SAVE");
}

/* A name without the empty components that some systems write behind it ("One^Person^^^"), and
 * without regard to case. Owned. */
static char *
plain_name(const char *name) {
  g_auto(GStrv) groups = g_strsplit(name != NULL ? name : "", "=", -1);
  for (guint i = 0; groups[i] != NULL; i++)
    for (size_t n = strlen(groups[i]); n > 0 && strchr("^ ", groups[i][n - 1]) != NULL; n--)
      groups[i][n - 1] = '\0';
  g_autofree char *joined = g_strjoinv("=", groups);
  for (size_t n = strlen(joined); n > 0 && joined[n - 1] == '='; n--)
    joined[n - 1] = '\0';
  return g_utf8_casefold(joined, -1);
}

/* A person: the ID alone never joins, a different name or birth date parts. */
static char *
patient_key(const DemurHeader *header) {
  g_autofree char *name = plain_name(header->patient_name);
  return g_strdup_printf("%s\n%s\n%s", header->patient_id != NULL ? header->patient_id : "", name,
                         header->patient_birth_date != NULL ? header->patient_birth_date : "");
}

static char *
group_key(const DemurFile *file) {
  const DemurHeader *header = file->header;
  g_autofree char *patient = patient_key(header);
  g_autofree char *folder = g_path_get_dirname(file->path);
  g_autofree char *unnamed =
      g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s", header->series_number,
                      file->entry != NULL ? file->path : folder, header->series_description);
  return g_strdup_printf("%s\n%s\n%s\n%s\n%s\n%d%d%d\n%u x %u x %u",
                         header->series_uid == NULL && header->study_uid != NULL ? header->study_uid
                                                                                 : "",
                         header->series_uid != NULL ? header->series_uid : unnamed, patient,
                         header->modality != NULL ? header->modality : "",
                         header->sop_class_uid != NULL ? header->sop_class_uid : "",
                         is_localizer_label(header), is_secondary_capture(header),
                         header->n_frames > 1, header->rows, header->columns, header->samples);
}

static int
compare_number(gint64 a, gint64 b) {
  return a < b ? -1 : a > b;
}

static int
compare_place(const Image *a, const Image *b) {
  const int paths = strcmp(a->file->path, b->file->path);
  if (paths != 0)
    return paths;
  const int entries = g_strcmp0(a->file->entry, b->file->entry);
  return entries != 0 ? entries : compare_number(a->frame, b->frame);
}

/* By InstanceNumber (unknown ones last), then by place. */
static int
compare_instance(const Image *a, const Image *b) {
  const gint64 x = a->file->header->instance_number, y = b->file->header->instance_number;
  if (x != y && (x == DEMUR_NO_NUMBER || y == DEMUR_NO_NUMBER))
    return x == DEMUR_NO_NUMBER ? 1 : -1;
  return x != y ? compare_number(x, y) : compare_place(a, b);
}

static int
order_by_instance(gconstpointer a, gconstpointer b) {
  return compare_instance(*(Image *const *)a, *(Image *const *)b);
}

static int
order_by_distance(gconstpointer a, gconstpointer b) {
  const Image *x = *(Image *const *)a, *y = *(Image *const *)b;
  if (x->distance < y->distance)
    return -1;
  if (x->distance > y->distance)
    return 1;
  return compare_instance(x, y);
}

/* Used slices first, broken and repeated ones behind. */
static int
order_used_first(gconstpointer a, gconstpointer b) {
  const Image *x = *(Image *const *)a, *y = *(Image *const *)b;
  const int used = (x->state != DEMUR_SLICE_USED) - (y->state != DEMUR_SLICE_USED);
  return used != 0 ? used : compare_instance(x, y);
}

static gboolean
same_plane(const Image *a, const Image *b) {
  if (a->has_normal != b->has_normal)
    return FALSE;
  if (a->has_normal &&
      (demur_geometry_angle(a->normal, b->normal) > SAME_DIRECTION_DEGREES ||
       demur_geometry_angle(a->facts.orientation, b->facts.orientation) > SAME_DIRECTION_DEGREES))
    return FALSE;
  for (int i = 0; i < 2; i++) {
    const double x = a->facts.pixel_spacing_mm[i], y = b->facts.pixel_spacing_mm[i];
    if (isfinite(x) && isfinite(y) && fabs(x - y) > SAME_SPACING * fmax(fabs(x), fabs(y)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
same_position(const Image *a, const Image *b) {
  if (a->has_position != b->has_position)
    return FALSE;
  for (int i = 0; a->has_position && i < 3; i++)
    if (fabs(a->facts.position_mm[i] - b->facts.position_mm[i]) > SAME_POSITION_MM)
      return FALSE;
  return TRUE;
}

/* Marks all but the first of images with the same SOPInstanceUID, position and bytes. */
static void
mark_same_files(Grouping *grouping, GPtrArray *images) {
  g_autoptr(GHashTable) by_uid =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  g_ptr_array_sort(images, order_by_instance);
  for (guint i = 0; i < images->len; i++) {
    Image *image = images->pdata[i];
    const char *uid = image->file->header->sop_instance_uid;
    g_autofree char *key =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %u %.2f", uid != NULL ? uid : "",
                        image->file->header->instance_number, image->frame,
                        image->has_position ? image->distance : 0.0);
    GPtrArray *alike = g_hash_table_lookup(by_uid, key);
    if (alike == NULL) {
      alike = g_ptr_array_new();
      g_hash_table_insert(by_uid, g_steal_pointer(&key), alike);
    }
    for (guint k = 0; k < alike->len && image->state == DEMUR_SLICE_USED; k++) {
      const Image *other = alike->pdata[k];
      if (other->file == image->file || !same_position(other, image))
        continue;
      const char *mine = digest_of(grouping, image), *theirs = digest_of(grouping, other);
      if (*mine != '\0' && strcmp(mine, theirs) == 0)
        image->state = DEMUR_SLICE_SAME_FILE;
    }
    if (image->state == DEMUR_SLICE_USED)
      g_ptr_array_add(alike, image);
  }
}

/* Number of different positions among used images, which are sorted by distance. */
static size_t
count_positions(const GPtrArray *images, size_t *n_used) {
  size_t n = 0;
  double last = 0;
  *n_used = 0;
  for (guint i = 0; i < images->len; i++) {
    const Image *image = images->pdata[i];
    if (image->state != DEMUR_SLICE_USED)
      continue;
    ++*n_used;
    if (n == 0 || image->distance - last > SAME_POSITION_MM) {
      n++;
      last = image->distance;
    }
  }
  return n;
}

static char *
attribute_text(const Image *image, guint attribute) {
  const DemurHeader *header = image->file->header;
  switch (attribute) {
  case 0:
    return g_strdup_printf("%" G_GINT64_FORMAT, image->facts.acquisition_number);
  case 1:
    return g_strdup_printf("%" G_GINT64_FORMAT, header->temporal_position);
  case 2:
    return g_strdup(header->kernel != NULL ? header->kernel : "");
  case 3:
    return g_strdup_printf("%.3f", header->kvp);
  default:
    return g_strdup(header->image_type != NULL ? header->image_type : "");
  }
}

#define N_ATTRIBUTES 5

/* Where positions repeat: the parts by the first attribute that leaves none repeated, has at least
 * two images a value, and whose smallest part is repeated by half at least (consecutive
 * acquisitions of one volume that meet in a slice are not two volumes). NULL where there is none:
 * the repeats are then left out. */
static GPtrArray *
split_by_attribute(GPtrArray *images) {
  size_t n_used;
  const size_t n_positions = count_positions(images, &n_used);
  if (n_positions == n_used || n_positions < 2)
    return NULL;
  for (guint attribute = 0; attribute < N_ATTRIBUTES; attribute++) {
    g_autoptr(GHashTable) by_value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < images->len; i++) {
      g_autofree char *value = attribute_text(images->pdata[i], attribute);
      GPtrArray *part = g_hash_table_lookup(by_value, value);
      if (part == NULL) {
        part = g_ptr_array_new();
        g_ptr_array_add(parts, part);
        g_hash_table_insert(by_value, g_steal_pointer(&value), part);
      }
      g_ptr_array_add(part, images->pdata[i]);
    }
    gboolean clean = parts->len > 1;
    size_t smallest = n_used;
    for (guint i = 0; i < parts->len && clean; i++) {
      size_t used;
      clean = count_positions(parts->pdata[i], &used) == used && used >= 2;
      smallest = MIN(smallest, used);
    }
    if (clean && 2 * (n_used - n_positions) >= smallest)
      return g_steal_pointer(&parts);
  }
  return NULL;
}

static char *
known(const char *text) {
  return g_strdup(text);
}

static void
fill_facts(DemurSeries *series, const Image *image) {
  const DemurHeader *header = image->file->header;
  series->series_uid = known(header->series_uid);
  series->study_uid = known(header->study_uid);
  series->frame_of_reference_uid = known(header->frame_of_reference_uid);
  series->patient_id = known(header->patient_id);
  series->patient_id_issuer = known(header->patient_id_issuer);
  series->patient_name = known(header->patient_name);
  series->patient_birth_date = known(header->patient_birth_date);
  series->patient_sex = known(header->patient_sex);
  series->study_date = known(header->study_date);
  series->acquisition_date = known(header->acquisition_date != NULL ? header->acquisition_date
                                   : header->series_date != NULL    ? header->series_date
                                                                    : header->content_date);
  series->description = known(header->series_description);
  series->study_description = known(header->study_description);
  series->protocol = known(header->protocol);
  series->series_number = header->series_number;
  series->acquisition_number = image->facts.acquisition_number;
  series->modality = known(header->modality);
  series->sop_class_uid = known(header->sop_class_uid);
  series->image_type = known(header->image_type);
  series->body_part = known(header->body_part);
  series->photometric = known(header->photometric);
  series->patient_position = known(header->patient_position);
  series->transfer_syntax_uid = known(header->transfer_syntax_uid);
  series->multi_frame = header->n_frames > 1;
  series->manufacturer_raw = known(header->manufacturer);
  series->manufacturer = known(demur_vendor_normalise(header->manufacturer));
  series->model = known(header->model);
  series->model_family = known(demur_vendor_model_family(series->manufacturer, header->model));
  series->kernel = known(header->kernel);
  series->kernel_family = demur_vendor_kernel_family(header->kernel);
  series->kernel_class = demur_vendor_kernel_class(series->manufacturer, header->kernel);
  series->kvp = header->kvp > 0 ? header->kvp : NAN;
  series->tube_current_ma = header->tube_current_ma;
  series->exposure_mas = header->exposure_mas;
  series->contrast_agent = known(header->contrast_agent);
  series->institution = known(header->institution);
  series->station = known(header->station);
  series->site = known(header->institution != NULL ? header->institution : header->station);
  series->rows = header->rows;
  series->columns = header->columns;
  memcpy(series->pixel_spacing_mm, image->facts.pixel_spacing_mm, sizeof series->pixel_spacing_mm);
  for (int i = 0; i < 2; i++)
    if (!(series->pixel_spacing_mm[i] > 0))
      series->pixel_spacing_mm[0] = series->pixel_spacing_mm[1] = NAN;
  series->fov_mm =
      header->fov_mm > 0 ? header->fov_mm : series->pixel_spacing_mm[1] * series->columns;
  for (int i = 0; i < 6; i++)
    series->orientation[i] = image->has_normal ? image->facts.orientation[i] : NAN;
  static const double body_axis[3] = {0, 0, 1};
  series->axial_angle_degrees = NAN;
  for (int i = 0; i < 3; i++)
    series->normal[i] = image->has_normal ? image->normal[i] : NAN;
  if (image->has_normal) {
    const double angle = demur_geometry_angle(image->normal, body_axis);
    series->axial_angle_degrees = fmin(angle, 180 - angle);
  }
  series->tilt_tag_degrees = header->tilt_tag_degrees;
}

static void
fill_slice(DemurSlice *slice, const Image *image) {
  const DemurHeader *header = image->file->header;
  slice->path = g_strdup(image->file->path);
  slice->entry = g_strdup(image->file->entry);
  slice->frame = image->frame;
  slice->sop_instance_uid = g_strdup(header->sop_instance_uid);
  slice->transfer_syntax_uid = g_strdup(header->transfer_syntax_uid);
  slice->instance_number = header->instance_number;
  slice->acquisition_number = image->facts.acquisition_number;
  slice->has_position = image->has_position;
  memcpy(slice->position_mm, image->facts.position_mm, sizeof slice->position_mm);
  slice->distance_mm = image->has_position ? image->distance : NAN;
  slice->thickness_mm = image->facts.thickness_mm > 0 ? image->facts.thickness_mm : NAN;
  slice->slope = isfinite(image->facts.slope) && image->facts.slope != 0 ? image->facts.slope : 1;
  slice->intercept = isfinite(image->facts.intercept) ? image->facts.intercept : 0;
  const gboolean has_window =
      image->facts.window_width >= 1 && isfinite(image->facts.window_center);
  slice->window_center = has_window ? image->facts.window_center : NAN;
  slice->window_width = has_window ? image->facts.window_width : NAN;
  slice->lossy = demur_header_is_lossy(header);
  slice->state = image->state;
  if (image->file->pixel_digests != NULL) {
    char hex[DEMUR_SHA256_HEX];
    demur_content_digest_slice(
        header, image->frame,
        image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES, hex);
    slice->content_digest = g_strdup(hex);
  }
  if (header->pixels_problem != NULL)
    slice->problem = g_strdup(header->pixels_problem);
  else if (image->state == DEMUR_SLICE_SAME_FILE)
    slice->problem = g_strdup("the same file again: left out");
  else if (image->state == DEMUR_SLICE_SAME_POSITION)
    slice->problem = g_strdup("another image lies at its position: left out");
}

static int
compare_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Nominal spacing: the lower median of the gaps; range / (n - 1) would hide a missing slice. */
static void
measure_gaps(DemurSeries *series, double tolerance) {
  const size_t n = series->n_slices;
  g_autofree double *gaps = g_new(double, n - 1), *sorted = g_new(double, n - 1);
  for (size_t i = 0; i + 1 < n; i++)
    sorted[i] = gaps[i] = series->slices[i + 1].distance_mm - series->slices[i].distance_mm;
  qsort(sorted, n - 1, sizeof *sorted, compare_double);
  const double nominal = sorted[(n - 2) / 2];
  series->spacing_mm = nominal;
  series->smallest_gap_mm = sorted[0];
  series->largest_gap_mm = sorted[n - 2];
  const double slack = 1e-6;
  for (size_t i = 0; i + 1 < n; i++) {
    if (fabs(gaps[i] - nominal) <= (tolerance + slack) * nominal)
      continue;
    const double k = round(gaps[i] / nominal);
    /* A gap of more slices than there are is no missing slice but another region of the body. */
    if (k >= 2 && k <= (double)n &&
        fabs(gaps[i] - k * nominal) <= (tolerance + slack) * k * nominal) {
      series->n_missing += (size_t)k - 1;
      continue;
    }
    if (series->n_irregular++ == 0)
      series->irregular_gap_mm = gaps[i];
  }
}

static void
measure_tilt(DemurSeries *series) {
  const double *first = series->slices[0].position_mm;
  const double *last = series->slices[series->n_slices - 1].position_mm;
  const double along[3] = {last[0] - first[0], last[1] - first[1], last[2] - first[2]};
  const double angle = demur_geometry_angle(along, series->normal);
  series->tilt_degrees = fmin(angle, 180 - angle);
  /* Positions have about 1e-3 mm: what is below that is no tilt. */
  if (series->tilt_degrees < 0.01)
    series->tilt_degrees = 0;
  if (isfinite(series->tilt_tag_degrees) && series->tilt_tag_degrees < 0 &&
      fabs(fabs(series->tilt_tag_degrees) - series->tilt_degrees) < 1)
    series->tilt_degrees = -series->tilt_degrees;
}

static DemurSeriesType
type_of(const DemurSeries *series, const DemurHeader *header) {
  if (is_secondary_capture(header))
    return DEMUR_SERIES_SECONDARY;
  if (g_strcmp0(header->modality, "CT") != 0)
    return DEMUR_SERIES_OTHER;
  if (series->localizer_label)
    return DEMUR_SERIES_LOCALIZER;
  if (series->derived)
    return DEMUR_SERIES_DERIVED;
  if (series->axial_angle_degrees > 30 && series->n_slices <= 2)
    return DEMUR_SERIES_LOCALIZER;
  return series->n_positions >= 2 && series->n_without_position == 0 ? DEMUR_SERIES_VOLUME
                                                                     : DEMUR_SERIES_STACK;
}

static void
check_shared_uids(DemurSeries *series) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < series->n_slices; i++) {
    const DemurSlice *slice = &series->slices[i];
    if (slice->sop_instance_uid != NULL &&
        !g_hash_table_add(seen, g_strdup_printf("%s/%u", slice->sop_instance_uid, slice->frame)))
      series->shared_sop_uids = TRUE;
  }
}

static void
digest_volume(DemurSeries *series) {
  g_autofree const char **digests = g_new0(const char *, MAX(series->n_slices, 1));
  for (size_t i = 0; i < series->n_slices; i++)
    digests[i] = series->slices[i].content_digest;
  series->content_digest = demur_content_digest_volume(digests, series->n_slices);
}

/* One part -> its record. */
static DemurSeries *
measure(const Grouping *grouping, GPtrArray *images) {
  DemurSeries *series = g_new0(DemurSeries, 1);
  size_t n_whole = 0, n_positioned = 0, n_candidates = 0;
  for (guint i = 0; i < images->len; i++) {
    Image *image = images->pdata[i];
    if (image->state == DEMUR_SLICE_SAME_FILE) {
      series->n_same_file++;
      continue;
    }
    const gboolean whole = image->file->header->pixels == DEMUR_PIXELS_COMPLETE;
    n_whole += whole ? 1 : 0;
    if (!whole) {
      series->n_broken++;
      if (series->first_problem == NULL)
        series->first_problem = g_strdup(image->file->header->pixels_problem);
    }
  }
  for (guint i = 0; i < images->len; i++) {
    Image *image = images->pdata[i];
    if (image->state == DEMUR_SLICE_SAME_FILE)
      continue;
    if (n_whole > 0 && image->file->header->pixels != DEMUR_PIXELS_COMPLETE) {
      image->state = DEMUR_SLICE_BROKEN;
      continue;
    }
    n_candidates++;
    n_positioned += image->has_position ? 1 : 0;
  }
  series->n_without_position = n_candidates - n_positioned;
  const gboolean positioned = n_candidates > 0 && series->n_without_position == 0;
  g_ptr_array_sort(images, positioned ? order_by_distance : order_by_instance);
  size_t n_used;
  series->n_positions = positioned ? count_positions(images, &n_used) : 0;
  if (series->n_positions >= 2) {
    const Image *last = NULL;
    for (guint i = 0; i < images->len; i++) {
      Image *image = images->pdata[i];
      if (image->state != DEMUR_SLICE_USED)
        continue;
      if (last != NULL && image->distance - last->distance <= SAME_POSITION_MM) {
        image->state = DEMUR_SLICE_SAME_POSITION;
        series->n_same_position++;
        const char *uid = image->file->header->sop_instance_uid;
        if (uid != NULL && g_strcmp0(uid, last->file->header->sop_instance_uid) == 0)
          series->n_other_contents++;
      } else {
        last = image;
      }
    }
  } else {
    g_ptr_array_sort(images, order_by_instance);
  }
  series->slices = g_new0(DemurSlice, images->len);
  for (guint i = 0; i < images->len; i++)
    if (((Image *)images->pdata[i])->state == DEMUR_SLICE_USED)
      fill_slice(&series->slices[series->n_slices++], images->pdata[i]);
  g_autoptr(GPtrArray) left_out = g_ptr_array_copy(images, NULL, NULL);
  g_ptr_array_sort(left_out, order_used_first);
  for (guint i = 0; i < left_out->len; i++)
    if (((Image *)left_out->pdata[i])->state != DEMUR_SLICE_USED)
      fill_slice(&series->slices[series->n_slices + series->n_left_out++], left_out->pdata[i]);

  const Image *first = NULL;
  series->thickness_mm = series->smallest_thickness_mm = NAN;
  const DemurHeader *derived = NULL, *lossy = NULL;
  for (guint i = 0; i < images->len; i++) {
    const Image *image = images->pdata[i];
    if (image->state != DEMUR_SLICE_USED)
      continue;
    if (first == NULL)
      first = image;
    if (derived == NULL && is_derived(image->file->header))
      derived = image->file->header;
    if (lossy == NULL && demur_header_is_lossy(image->file->header))
      lossy = image->file->header;
    if (!isfinite(image->facts.slope) || image->facts.slope == 0 ||
        !isfinite(image->facts.intercept))
      series->n_without_rescale++;
    series->several_studies |=
        g_strcmp0(image->file->header->study_uid, first->file->header->study_uid) != 0;
    if (image->facts.thickness_mm > 0) {
      series->thickness_mm = fmax(series->thickness_mm, image->facts.thickness_mm);
      series->smallest_thickness_mm =
          fmin(series->smallest_thickness_mm, image->facts.thickness_mm);
    } else if (series->thickness_text == NULL) {
      const DemurHeader *header = image->file->header;
      series->thickness_text = header->thickness_text != NULL ? g_strdup(header->thickness_text)
                               : isfinite(image->facts.thickness_mm)
                                   ? g_strdup_printf("%g", image->facts.thickness_mm)
                                   : NULL;
    }
  }
  const DemurHeader *header = first->file->header;
  fill_facts(series, first);
  series->derived = derived != NULL;
  series->lossy = lossy != NULL;
  if (derived != NULL) { /* what decides is what is shown */
    g_free(series->image_type);
    series->image_type = g_strdup(derived->image_type);
  }
  if (lossy != NULL) {
    g_free(series->transfer_syntax_uid);
    series->transfer_syntax_uid = g_strdup(lossy->transfer_syntax_uid);
  }
  series->localizer_label = is_localizer_label(header);
  series->spacing_mm = series->smallest_gap_mm = series->largest_gap_mm = NAN;
  series->extent_mm = series->tilt_degrees = NAN;
  if (series->n_positions >= 2) {
    measure_gaps(series, grouping->gap_tolerance);
    measure_tilt(series);
    series->extent_mm = series->slices[series->n_slices - 1].distance_mm -
                        series->slices[0].distance_mm + series->spacing_mm;
  }
  series->type = type_of(series, header);
  check_shared_uids(series);
  digest_volume(series);
  return series;
}

static int
order_parts(gconstpointer a, gconstpointer b) {
  const Part *x = *(Part *const *)a, *y = *(Part *const *)b;
  const int uids = g_strcmp0(x->series_uid, y->series_uid);
  if (uids != 0)
    return uids;
  const gboolean x_at = isfinite(x->first_distance), y_at = isfinite(y->first_distance);
  if (x_at != y_at)
    return y_at - x_at;
  if (x_at && fabs(x->first_distance - y->first_distance) > SAME_POSITION_MM)
    return x->first_distance < y->first_distance ? -1 : 1;
  const int acquisitions =
      compare_number(x->series->acquisition_number, y->series->acquisition_number);
  return acquisitions != 0 ? acquisitions
                           : strcmp(x->series->slices[0].path, y->series->slices[0].path);
}

static int
order_series(gconstpointer a, gconstpointer b) {
  const DemurSeries *x = *(DemurSeries *const *)a, *y = *(DemurSeries *const *)b;
  const int studies = g_strcmp0(x->study_uid, y->study_uid);
  if (studies != 0)
    return studies;
  const int numbers = compare_number(x->series_number, y->series_number);
  if (numbers != 0)
    return numbers;
  const int uids = g_strcmp0(x->series_uid, y->series_uid);
  if (uids != 0)
    return uids;
  return x->part != y->part ? compare_number(x->part, y->part) : strcmp(x->scan_id, y->scan_id);
}

static int
compare_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
name_by_digest(Grouping *grouping, Part *part) {
  g_autoptr(GPtrArray) digests = g_ptr_array_new();
  for (guint i = 0; i < part->images->len; i++) {
    const Image *image = part->images->pdata[i];
    if (image->state != DEMUR_SLICE_SAME_FILE)
      g_ptr_array_add(digests, (gpointer)digest_of(grouping, image));
  }
  g_ptr_array_sort(digests, compare_text);
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < digests->len; i++)
    g_checksum_update(checksum, digests->pdata[i], -1);
  part->series->scan_id = g_strdup_printf("digest-%.32s", g_checksum_get_string(checksum));
  part->series->scan_id_from_digest = TRUE;
}

static void
name_parts(Grouping *grouping, GPtrArray *parts) {
  g_ptr_array_sort(parts, order_parts);
  for (guint start = 0; start < parts->len;) {
    Part *first = parts->pdata[start];
    guint end = start + 1;
    while (first->series_uid != NULL && end < parts->len &&
           g_strcmp0(((Part *)parts->pdata[end])->series_uid, first->series_uid) == 0)
      end++;
    for (guint i = start; i < end; i++) {
      Part *part = parts->pdata[i];
      part->series->part = i - start + 1;
      part->series->n_parts = end - start;
      if (part->series_uid == NULL)
        name_by_digest(grouping, part);
      else
        part->series->scan_id = i == start
                                    ? g_strdup(part->series_uid)
                                    : g_strdup_printf("%s#%u", part->series_uid, i - start + 1);
    }
    start = end;
  }
}

static void
add_part(const Grouping *grouping, GPtrArray *parts, GPtrArray *images, GHashTable *patients) {
  Part *part = g_new0(Part, 1);
  const DemurHeader *header = ((Image *)images->pdata[0])->file->header;
  part->images = g_ptr_array_ref(images);
  part->series_uid = header->series_uid;
  part->series = measure(grouping, images);
  part->first_distance =
      part->series->n_slices > 0 ? part->series->slices[0].distance_mm : (double)NAN;
  if (part->series_uid != NULL) {
    GHashTable *keys = g_hash_table_lookup(patients, part->series_uid);
    part->series->two_patients = keys != NULL && g_hash_table_size(keys) > 1;
  }
  g_ptr_array_add(parts, part);
}

static void
part_free(gpointer data) {
  Part *part = data;
  g_ptr_array_unref(part->images);
  demur_series_free(part->series);
  g_free(part);
}

static void
split_group(Grouping *grouping, GPtrArray *group, GPtrArray *parts, GHashTable *patients) {
  g_autoptr(GPtrArray) planes = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  mark_same_files(grouping, group);
  for (guint i = 0; i < group->len; i++) {
    GPtrArray *plane = NULL;
    for (guint k = 0; k < planes->len && plane == NULL; k++)
      if (same_plane(((GPtrArray *)planes->pdata[k])->pdata[0], group->pdata[i]))
        plane = planes->pdata[k];
    if (plane == NULL) {
      plane = g_ptr_array_new();
      g_ptr_array_add(planes, plane);
    }
    g_ptr_array_add(plane, group->pdata[i]);
  }
  for (guint k = 0; k < planes->len; k++) {
    GPtrArray *plane = planes->pdata[k];
    /* Distances within a plane are along one normal, the first image's. */
    const Image *first = plane->pdata[0];
    gboolean positioned = TRUE;
    for (guint i = 0; i < plane->len; i++) {
      Image *image = plane->pdata[i];
      positioned &= image->has_position;
      if (image->has_position)
        image->distance = demur_geometry_dot(image->facts.position_mm, first->normal);
    }
    g_ptr_array_sort(plane, order_by_distance);
    g_autoptr(GPtrArray) split = positioned ? split_by_attribute(plane) : NULL;
    for (guint i = 0; split != NULL && i < split->len; i++)
      add_part(grouping, parts, split->pdata[i], patients);
    if (split == NULL)
      add_part(grouping, parts, plane, patients);
  }
}

GPtrArray *
demur_series_group(const DemurFiles *files, double gap_tolerance, const DemurProgress *progress,
                   GError **error) {
  Grouping grouping = {.files = files, .gap_tolerance = gap_tolerance};
  grouping.digests = g_new0(char *, MAX(files->images->len, 1));
  g_autoptr(GPtrArray) images = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(part_free);
  g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) patients =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_hash_table_unref);
  for (guint i = 0; i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    const DemurHeader *header = file->header;
    g_autofree char *key = group_key(file);
    GPtrArray *group = g_hash_table_lookup(by_key, key);
    if (group == NULL) {
      group = g_ptr_array_new();
      g_ptr_array_add(groups, group);
      g_hash_table_insert(by_key, g_steal_pointer(&key), group);
    }
    if (header->series_uid != NULL) {
      GHashTable *keys = g_hash_table_lookup(patients, header->series_uid);
      if (keys == NULL) {
        keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(patients, header->series_uid, keys);
      }
      g_hash_table_add(keys, patient_key(header));
    }
    /* What can't be decoded is listed once, however many frames it claims. */
    const guint32 n_frames = header->pixels == DEMUR_PIXELS_COMPLETE ? header->n_frames : 1;
    for (guint32 frame = 0; frame < n_frames; frame++) {
      Image *image = g_new0(Image, 1);
      image->file = file;
      image->file_index = i;
      image->frame = frame;
      image->facts = demur_header_frame(header, frame);
      image->has_normal = demur_geometry_normal(image->facts.orientation, image->normal);
      /* One position for all frames of an image says nothing of any of them. */
      const gboolean own = header->n_frames == 1 || header->frames != NULL;
      image->has_position = image->has_normal && own;
      for (int k = 0; k < 3; k++)
        image->has_position &= fabs(image->facts.position_mm[k]) < FARTHEST_MM; /* not NaN either */
      if (image->has_position)
        image->distance = demur_geometry_dot(image->facts.position_mm, image->normal);
      g_ptr_array_add(images, image);
      g_ptr_array_add(group, image);
    }
  }
  GPtrArray *result = NULL;
  gboolean going = TRUE;
  for (guint i = 0; i < groups->len && going; i++) {
    going = demur_progress_step(progress, (double)i / groups->len, "grouping", error);
    if (going)
      split_group(&grouping, groups->pdata[i], parts, patients);
  }
  if (going) {
    name_parts(&grouping, parts);
    result = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
    for (guint i = 0; i < parts->len; i++)
      g_ptr_array_add(result, g_steal_pointer(&((Part *)parts->pdata[i])->series));
    g_ptr_array_sort(result, order_series);
  }
  for (guint i = 0; i < files->images->len; i++)
    g_free(grouping.digests[i]);
  g_free(grouping.digests);
  return result;
}
