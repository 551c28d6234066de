#include "dicom/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dicom/content-digest.h"
#include "dicom/geometry.h"
#include "dicom/image-kind.h"
#include "dicom/unit.h"

#define SIDEWAYS_MM 1.0

typedef DemurStackImage Image;

/* Used slices first, broken and repeated ones behind. */
static int
order_used_first(gconstpointer a, gconstpointer b) {
  const Image *x = *(Image *const *)a, *y = *(Image *const *)b;
  const int used = (x->state != DEMUR_SLICE_USED) - (y->state != DEMUR_SLICE_USED);
  return used != 0 ? used : demur_stack_compare_instance(x, y);
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
    demur_stack_digest_slice(image, hex);
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
  if (demur_image_is_secondary(header))
    return DEMUR_SERIES_SECONDARY;
  if (!demur_modality_is_ct(header->modality))
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
    series->n_unseparated += demur_stack_same_pixels(image, last) ? 0 : 1;
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

static DemurUnitFacts
unit_facts(const Image *image) {
  const DemurHeader *header = image->file->header;
  return (DemurUnitFacts){.rescale_type = value_of(image, DEMUR_TAG(0x0028, 0x1054)),
                          .lut_type = header->lut_type,
                          .real_world_unit = header->real_world_unit,
                          .energy = value_of(image, DEMUR_TAG(0x0018, 0x937C))};
}

/* The unit of the first image that isn't in HU: one that isn't spoils the series. */
static void
fill_unit(DemurSeries *series, const Image *first, const Image *other_unit) {
  const Image *image = other_unit != NULL ? other_unit : first;
  DemurUnitFacts facts = unit_facts(image);
  const char *type = value_of(image, DEMUR_TAG(0x0008, 0x0008));
  const char *frame = value_of(image, DEMUR_TAG(0x0008, 0x9007));
  g_autofree char *types =
      g_strdup_printf("%s\\%s", type != NULL ? type : "", frame != NULL ? frame : "");
  facts.image_type = types;
  facts.description = series->description;
  demur_unit_fill(series, &facts);
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
    if (derived == NULL && demur_image_is_derived(header))
      derived = header;
    if (lossy == NULL && demur_header_is_lossy(header))
      lossy = header;
    const DemurUnitFacts facts = unit_facts(image);
    if (other_unit == NULL && demur_unit_is_told(&facts))
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

DemurSeries *
demur_series_measure(GPtrArray *images, double gap_tolerance) {
  DemurSeries *series = g_new0(DemurSeries, 1);
  const gboolean positioned = mark_broken(series, images);
  g_ptr_array_sort(images,
                   positioned ? demur_stack_order_by_distance : demur_stack_order_by_instance);
  size_t n_used;
  series->n_positions = positioned ? count_positions(images, &n_used) : 0;
  if (series->n_positions >= 2)
    mark_same_positions(series, images);
  else
    g_ptr_array_sort(images, demur_stack_order_by_instance);
  fill_slices(series, images);
  const DemurHeader *header = fill_worst(series, images)->file->header;
  series->localizer_label = demur_image_is_localizer(header);
  series->spacing_mm = series->smallest_gap_mm = series->largest_gap_mm = NAN;
  series->extent_mm = series->tilt_degrees = NAN;
  demur_stack_check(images, series);
  if (series->n_positions >= 2) {
    measure_gaps(series, gap_tolerance);
    measure_tilt(series);
    series->extent_mm = series->slices[series->n_slices - 1].distance_mm -
                        series->slices[0].distance_mm + series->spacing_mm;
  }
  series->type = type_of(series, header);
  check_shared_uids(series);
  digest_volume(series);
  return series;
}
