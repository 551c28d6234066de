/* Images -> groups by text key -> split by orientation and pixel spacing -> split where positions
 * repeat -> ordered and measured. Everything is decided on values and breaks its ties by path, so
 * the order in which files were found plays no part. Cost O(n log n) in the images. */
#include "dicom/series.h"
#include "dicom/geometry.h"
#include "dicom/stack.h"
#include "dicom/unit.h"

#include <math.h>
#include <string.h>

#define FARTHEST_MM 1e6 /* positions beyond a kilometre are none */
#define SIDEWAYS_MM 1.0
#define SAME_DIRECTION_DEGREES 0.5
#define SAME_SPACING 0.01 /* share of the pixel spacing */

typedef DemurStackImage Image;

typedef struct {
  GPtrArray *images;      /* Image, borrowed */
  const char *series_uid; /* borrowed; NULL */
  double first_distance;
  DemurSeries *series;
} Part;

typedef struct {
  const DemurFiles *files;
  guint *persons; /* [n files] */
  char **digests; /* [n files], made when asked for */
  DemurOpenArchive archive;
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
  g_free(slice->pixel_digest);
  g_free(slice->stamp);
}

void
demur_series_clear_findings(DemurSeries *series) {
  for (size_t i = 0; i < series->n_findings; i++)
    demur_rule_finding_clear(&series->findings[i]);
  g_clear_pointer(&series->findings, g_free);
  series->n_findings = 0;
}

gboolean
demur_series_found(const DemurSeries *series, const char *code) {
  for (size_t i = 0; i < series->n_findings; i++)
    if (strcmp(series->findings[i].code, code) == 0)
      return TRUE;
  return FALSE;
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
      series->patient_age,
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
      series->unreadable_problem,
      series->unit,
      series->unit_from,
      series->mono_energetic,
      series->spectral_words,
      series->reason,
  };
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  for (size_t i = 0; i < series->n_slices + series->n_left_out; i++)
    clear_slice(&series->slices[i]);
  g_free(series->slices);
  for (size_t i = 0; i < series->n_mixed; i++) {
    g_free(series->mixed[i].first);
    g_free(series->mixed[i].other);
  }
  g_free(series->mixed);
  demur_series_clear_findings(series);
  g_strfreev(series->warnings);
  g_strfreev(series->gone);
  g_free(series);
}

DemurPerson
demur_series_person_of(const DemurSeries *series) {
  return (DemurPerson){series->patient_id_issuer, series->patient_id, series->patient_name,
                       series->patient_birth_date, series->patient_sex};
}

/* SHA-256 of the object's bytes; "" where they can't be read (then nothing equals it). */
static const char *
digest_of(Grouping *grouping, const Image *image) {
  char **digest = &grouping->digests[image->file_index];
  if (*digest != NULL)
    return *digest;
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autoptr(DemurSource) source =
      demur_files_open_in(&grouping->archive, image->file->path, image->file->entry, NULL);
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

static char *
group_key(const DemurFile *file, guint person) {
  const DemurHeader *header = file->header;
  g_autofree char *folder = g_path_get_dirname(file->path);
  g_autofree char *unnamed =
      g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s", header->series_number,
                      file->entry != NULL ? file->path : folder, header->series_description);
  return g_strdup_printf("%s\n%s\n%u\n%s\n%s\n%d%d%d\n%u x %u x %u",
                         header->series_uid == NULL && header->study_uid != NULL ? header->study_uid
                                                                                 : "",
                         header->series_uid != NULL ? header->series_uid : unnamed, person,
                         header->modality != NULL ? header->modality : "",
                         header->sop_class_uid != NULL ? header->sop_class_uid : "",
                         is_localizer_label(header), is_secondary_capture(header),
                         header->n_frames > 1, header->rows, header->columns, header->samples);
}

/* Which person each file is of: [n files], owned. The same words in one series are one person; what
 * can't be told stands apart (base/person.h). */
static guint *
persons_of(const DemurFiles *files) {
  const guint n = files->images->len;
  g_autofree DemurPerson *persons = g_new0(DemurPerson, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    const DemurHeader *header = ((const DemurFile *)files->images->pdata[i])->header;
    persons[i] = (DemurPerson){header->patient_id_issuer, header->patient_id, header->patient_name,
                               header->patient_birth_date, header->patient_sex};
  }
  guint *classes = g_new0(guint, MAX(n, 1));
  demur_person_classes(persons, n, classes);
  return classes;
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
    if (fabs(a->facts.position_mm[i] - b->facts.position_mm[i]) > DEMUR_SAME_POSITION_MM)
      return FALSE;
  return TRUE;
}

static gboolean
same_pixels(const Image *a, const Image *b) {
  return a->file->pixel_digests != NULL && b->file->pixel_digests != NULL &&
         memcmp(a->file->pixel_digests + (size_t)a->frame * DEMUR_SHA256_BYTES,
                b->file->pixel_digests + (size_t)b->frame * DEMUR_SHA256_BYTES,
                DEMUR_SHA256_BYTES) == 0;
}

static void
digest_slice(const Image *image, char hex[DEMUR_SHA256_HEX]) {
  demur_content_digest_slice(image->file->header, image->frame,
                             image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES,
                             hex);
}

/* The same contents under the same attributes, as another archive may have sent them; where
 * contents are not known, the same bytes. */
static gboolean
is_same(Grouping *grouping, const Image *image, const Image *other) {
  if (same_pixels(image, other)) {
    char mine[DEMUR_SHA256_HEX], theirs[DEMUR_SHA256_HEX];
    digest_slice(image, mine);
    digest_slice(other, theirs);
    return strcmp(mine, theirs) == 0 && demur_stack_compare_values(image, other) == 0;
  }
  if (image->file->pixel_digests != NULL && other->file->pixel_digests != NULL)
    return FALSE;
  const char *mine = digest_of(grouping, image), *theirs = digest_of(grouping, other);
  return *mine != '\0' && strcmp(mine, theirs) == 0;
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
    char pixels[DEMUR_SHA256_HEX] = "";
    if (image->file->pixel_digests != NULL)
      demur_sha256_hex(image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES,
                       pixels);
    g_autofree char *key =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %u %.2f %s", uid != NULL ? uid : "",
                        image->file->header->instance_number, image->frame,
                        image->has_position ? image->distance : 0.0, pixels);
    GPtrArray *alike = g_hash_table_lookup(by_uid, key);
    if (alike == NULL) {
      alike = g_ptr_array_new();
      g_hash_table_insert(by_uid, g_steal_pointer(&key), alike);
    }
    for (guint k = 0; k < alike->len && image->state == DEMUR_SLICE_USED; k++) {
      const Image *other = alike->pdata[k];
      if (other->file == image->file || !same_position(other, image))
        continue;
      if (is_same(grouping, image, other))
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
    if (n == 0 || image->distance - last > DEMUR_SAME_POSITION_MM) {
      n++;
      last = image->distance;
    }
  }
  return n;
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
  series->patient_age = known(header->patient_age);
  series->synthetic = g_strcmp0(header->synthetic, "YES") == 0;
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
    digest_slice(image, hex);
    slice->content_digest = g_strdup(hex);
    demur_sha256_hex(image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES, hex);
    slice->pixel_digest = g_strdup(hex);
  }
  slice->stamp = g_strdup(image->file->stamp);
  slice->decodes = image->file->decodes;
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

/* Of a stack whose slices lie sideways of one another there is no tilt to tell. */
static void
measure_tilt(DemurSeries *series) {
  if (series->sideways_mm > SIDEWAYS_MM) {
    series->tilt_degrees = 0;
    return;
  }
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

/* Counts what is whole and positioned; marks the broken ones where others are whole. TRUE where
 * every image that is used has a position. */
static gboolean
mark_broken(DemurSeries *series, GPtrArray *images) {
  size_t n_whole = 0, n_positioned = 0, n_candidates = 0;
  for (guint i = 0; i < images->len; i++) {
    const Image *image = images->pdata[i];
    if (image->state == DEMUR_SLICE_SAME_FILE) {
      series->n_same_file++;
      continue;
    }
    const gboolean whole = image->file->header->pixels == DEMUR_PIXELS_COMPLETE;
    n_whole += whole ? 1 : 0;
    series->n_broken += whole ? 0 : 1;
    if (!whole && series->first_problem == NULL)
      series->first_problem = g_strdup(image->file->header->pixels_problem);
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
  return n_candidates > 0 && series->n_without_position == 0;
}

/* Leaves out all but the first image of a position; images: sorted by distance. */
static void
mark_same_positions(DemurSeries *series, GPtrArray *images) {
  const Image *last = NULL;
  for (guint i = 0; i < images->len; i++) {
    Image *image = images->pdata[i];
    if (image->state != DEMUR_SLICE_USED)
      continue;
    if (last == NULL || image->distance - last->distance > DEMUR_SAME_POSITION_MM) {
      last = image;
      continue;
    }
    image->state = DEMUR_SLICE_SAME_POSITION;
    series->n_same_position++;
    series->n_unseparated += same_pixels(image, last) ? 0 : 1;
    const char *uid = image->file->header->sop_instance_uid;
    if (uid != NULL && g_strcmp0(uid, last->file->header->sop_instance_uid) == 0)
      series->n_other_contents++;
  }
  /* One image again is a copy; a whole stack again is one too many, whatever its pixels. */
  if (2 * series->n_same_position >= series->n_positions)
    series->n_unseparated = series->n_same_position;
}

static void
fill_slices(DemurSeries *series, const GPtrArray *images) {
  series->slices = g_new0(DemurSlice, images->len);
  for (guint i = 0; i < images->len; i++)
    if (((Image *)images->pdata[i])->state == DEMUR_SLICE_USED)
      fill_slice(&series->slices[series->n_slices++], images->pdata[i]);
  g_autoptr(GPtrArray) left_out = g_ptr_array_copy((GPtrArray *)images, NULL, NULL);
  g_ptr_array_sort(left_out, order_used_first);
  for (guint i = 0; i < left_out->len; i++)
    if (((Image *)left_out->pdata[i])->state != DEMUR_SLICE_USED)
      fill_slice(&series->slices[series->n_slices + series->n_left_out++], left_out->pdata[i]);
}

static void
take_thickness(DemurSeries *series, const Image *image) {
  const DemurHeader *header = image->file->header;
  const double thickness = image->facts.thickness_mm;
  if (thickness > 0) {
    series->thickness_mm = fmax(series->thickness_mm, thickness);
    series->smallest_thickness_mm = fmin(series->smallest_thickness_mm, thickness);
  } else if (series->thickness_text == NULL) {
    series->thickness_text = header->thickness_text != NULL ? g_strdup(header->thickness_text)
                             : isfinite(thickness)          ? g_strdup_printf("%g", thickness)
                                                            : NULL;
  }
}

static const char *
value_of(const Image *image, guint32 tag) {
  return image->values[demur_slice_attribute_find(tag)];
}

/* The unit of the first image that isn't in HU: one that isn't spoils the series. */
static void
fill_unit(DemurSeries *series, const Image *first, const Image *other_unit) {
  const Image *image = other_unit != NULL ? other_unit : first;
  const char *type = value_of(image, DEMUR_TAG(0x0008, 0x0008));
  const char *frame = value_of(image, DEMUR_TAG(0x0008, 0x9007));
  g_autofree char *types =
      g_strdup_printf("%s\\%s", type != NULL ? type : "", frame != NULL ? frame : "");
  demur_unit_fill(series, value_of(image, DEMUR_TAG(0x0028, 0x1054)), types,
                  value_of(image, DEMUR_TAG(0x0018, 0x937C)), series->description);
}

/* What any of the used slices says; returns the first of them. */
static const Image *
fill_worst(DemurSeries *series, const GPtrArray *images) {
  const Image *first = NULL, *other_unit = NULL;
  const DemurHeader *derived = NULL, *lossy = NULL;
  series->thickness_mm = series->smallest_thickness_mm = NAN;
  for (guint i = 0; i < images->len; i++) {
    const Image *image = images->pdata[i];
    const DemurHeader *header = image->file->header;
    if (image->state != DEMUR_SLICE_USED)
      continue;
    if (first == NULL) {
      first = image;
      fill_facts(series, first);
    }
    if (derived == NULL && is_derived(header))
      derived = header;
    if (lossy == NULL && demur_header_is_lossy(header))
      lossy = header;
    const char *unit = value_of(image, DEMUR_TAG(0x0028, 0x1054));
    if (other_unit == NULL && unit != NULL && g_ascii_strcasecmp(unit, "HU") != 0)
      other_unit = image;
    if (!isfinite(image->facts.slope) || image->facts.slope == 0 ||
        !isfinite(image->facts.intercept))
      series->n_without_rescale++;
    series->several_studies |= g_strcmp0(header->study_uid, first->file->header->study_uid) != 0;
    take_thickness(series, image);
  }
  fill_unit(series, first, other_unit);
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
  return first;
}

/* One part -> its record. */
static DemurSeries *
measure(const Grouping *grouping, GPtrArray *images) {
  DemurSeries *series = g_new0(DemurSeries, 1);
  const gboolean positioned = mark_broken(series, images);
  g_ptr_array_sort(images, positioned ? order_by_distance : order_by_instance);
  size_t n_used;
  series->n_positions = positioned ? count_positions(images, &n_used) : 0;
  if (series->n_positions >= 2)
    mark_same_positions(series, images);
  else
    g_ptr_array_sort(images, order_by_instance);
  fill_slices(series, images);
  const DemurHeader *header = fill_worst(series, images)->file->header;
  series->localizer_label = is_localizer_label(header);
  series->spacing_mm = series->smallest_gap_mm = series->largest_gap_mm = NAN;
  series->extent_mm = series->tilt_degrees = NAN;
  demur_stack_check(images, series);
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
  if (x_at && fabs(x->first_distance - y->first_distance) > DEMUR_SAME_POSITION_MM)
    return x->first_distance < y->first_distance ? -1 : 1;
  const int acquisitions =
      compare_number(x->series->acquisition_number, y->series->acquisition_number);
  if (acquisitions != 0)
    return acquisitions;
  const int values = demur_stack_compare_values(x->images->pdata[0], y->images->pdata[0]);
  return values != 0 ? values : compare_place(x->images->pdata[0], y->images->pdata[0]);
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

/* The object's values, overlaid by the frame's; *own: the first of the frames' not yet looked at.
 */
static void
take_values(Image *image, const DemurHeader *header, guint32 frame, guint32 *own) {
  image->values = (const char *const *)(void *)header->attributes;
  if (header->n_frame_attributes == 0)
    return;
  image->own_values =
      g_memdup2(header->attributes, demur_slice_attributes_n() * sizeof *header->attributes);
  image->values = (const char *const *)(void *)image->own_values;
  for (; *own < header->n_frame_attributes && header->frame_attributes[*own].frame <= frame; ++*own)
    if (header->frame_attributes[*own].frame == frame)
      image->own_values[header->frame_attributes[*own].attribute] =
          header->frame_attributes[*own].text;
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

/* Images of one study, one plane and different positions that each are a series of their own. */
static void
find_lone_siblings(const Grouping *grouping, const GPtrArray *parts) {
  g_autoptr(GHashTable) stacks =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = parts->pdata[i];
    const Image *image = part->images->pdata[0];
    const DemurSeries *series = part->series;
    if (series->n_slices != 1 || part->series_uid == NULL || !image->has_position ||
        g_strcmp0(series->modality, "CT") != 0 || series->type == DEMUR_SERIES_LOCALIZER)
      continue;
    char *key = g_strdup_printf("%s\n%u\n%u x %u\n%.2f %.2f %.2f", series->study_uid,
                                grouping->persons[image->file_index], series->rows, series->columns,
                                series->normal[0], series->normal[1], series->normal[2]);
    GPtrArray *stack = g_hash_table_lookup(stacks, key);
    if (stack == NULL) {
      stack = g_ptr_array_new();
      g_hash_table_insert(stacks, key, stack);
    } else {
      g_free(key);
    }
    g_ptr_array_add(stack, parts->pdata[i]);
  }
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, stacks);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const GPtrArray *stack = value;
    double lowest = INFINITY, highest = -INFINITY;
    for (guint i = 0; i < stack->len; i++) {
      const Image *image = ((const Part *)stack->pdata[i])->images->pdata[0];
      lowest = fmin(lowest, image->distance);
      highest = fmax(highest, image->distance);
    }
    for (guint i = 0; i < stack->len && stack->len >= 3 && highest > lowest; i++)
      ((const Part *)stack->pdata[i])->series->n_lone_siblings = stack->len;
  }
}

/* Files that name a series but end before they say what they hold: counted in each of its parts. */
static void
find_unreadable(const DemurFiles *files, const GPtrArray *parts) {
  for (guint i = 0; i < files->unreadable->len; i++) {
    const DemurUnreadable *file = files->unreadable->pdata[i];
    for (guint k = 0; k < parts->len; k++) {
      const Part *part = parts->pdata[k];
      if (g_strcmp0(part->series_uid, file->series_uid) != 0)
        continue;
      if (part->series->n_unreadable++ == 0)
        part->series->unreadable_problem = g_strdup(file->reason);
    }
  }
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
    g_autoptr(GPtrArray) split = positioned ? demur_stack_separate(plane) : NULL;
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
  grouping.persons = persons_of(files);
  g_autoptr(GPtrArray) images =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_stack_image_free);
  g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(part_free);
  g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) patients =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_hash_table_unref);
  for (guint i = 0; i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    const DemurHeader *header = file->header;
    g_autofree char *key = group_key(file, grouping.persons[i]);
    GPtrArray *group = g_hash_table_lookup(by_key, key);
    if (group == NULL) {
      group = g_ptr_array_new();
      g_ptr_array_add(groups, group);
      g_hash_table_insert(by_key, g_steal_pointer(&key), group);
    }
    if (header->series_uid != NULL) {
      GHashTable *keys = g_hash_table_lookup(patients, header->series_uid);
      if (keys == NULL) {
        keys = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(patients, header->series_uid, keys);
      }
      g_hash_table_add(keys, GUINT_TO_POINTER(grouping.persons[i]));
    }
    /* What can't be decoded is listed once, however many frames it claims. */
    const guint32 n_frames = header->pixels == DEMUR_PIXELS_COMPLETE ? header->n_frames : 1;
    guint32 own = 0; /* of the attributes of frames */
    for (guint32 frame = 0; frame < n_frames; frame++) {
      Image *image = g_new0(Image, 1);
      take_values(image, header, frame, &own);
      image->file = file;
      image->file_index = i;
      image->frame = frame;
      image->facts = demur_header_frame(header, frame);
      image->has_normal = demur_geometry_normal(image->facts.orientation, image->normal);
      /* One position for all frames of an image says nothing of any of them. */
      const gboolean its_own = header->n_frames == 1 || header->frames != NULL;
      image->has_position = image->has_normal && its_own;
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
    find_lone_siblings(&grouping, parts);
    find_unreadable(files, parts);
    name_parts(&grouping, parts);
    result = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
    for (guint i = 0; i < parts->len; i++)
      g_ptr_array_add(result, g_steal_pointer(&((Part *)parts->pdata[i])->series));
    g_ptr_array_sort(result, order_series);
  }
  for (guint i = 0; i < files->images->len; i++)
    g_free(grouping.digests[i]);
  g_free(grouping.digests);
  g_free(grouping.persons);
  demur_open_archive_clear(&grouping.archive);
  return result;
}
