/* HU = slope * stored + intercept in double, each slice with its own pair (PS3.3 C.11.1.1.2),
 * rounded, clamped. One chunk a slice, so any number of threads gives the same bytes. */
#include "dicom/volume.h"
#include "dicom/library.h"
#include "dicom/pixels.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define SLICES_A_BATCH 16

static gboolean
slice_error(GError **error, const DemurSlice *slice, size_t index, GError *cause) {
  g_autofree char *name = demur_files_display(slice->path, slice->entry);
  g_set_error(error, cause != NULL ? cause->domain : DEMUR_ERROR,
              cause != NULL ? cause->code : DEMUR_ERROR_INPUT, "slice %" G_GSIZE_FORMAT " (%s): %s",
              index + 1, slice->sop_instance_uid != NULL ? slice->sop_instance_uid : name,
              cause != NULL ? cause->message : "the file has changed since it was imported");
  g_clear_error(&cause);
  return FALSE;
}

gboolean
demur_volume_read_slice(const DemurSeries *series, size_t index, gint16 *hu, size_t *n_padding,
                        size_t *n_clamped, GError **error) {
  g_return_val_if_fail(index < series->n_slices, FALSE);
  const DemurSlice *slice = &series->slices[index];
  GError *cause = NULL;
  if (!demur_dicom_init(error))
    return FALSE;
  g_autoptr(DemurSource) source = demur_files_open(slice->path, slice->entry, &cause);
  g_autoptr(DemurHeader) header = source != NULL ? demur_header_read(&source, &cause) : NULL;
  if (header == NULL)
    return slice_error(error, slice, index, cause);
  if (header->rows != series->rows || header->columns != series->columns ||
      slice->frame >= header->n_frames ||
      g_strcmp0(header->sop_instance_uid, slice->sop_instance_uid) != 0)
    return slice_error(error, slice, index, NULL);
  const size_t n = (size_t)header->rows * header->columns;
  DEMUR_AUTO_ALIGNED gint32 *values = demur_memory_array(n, 1, sizeof *values, &cause);
  DEMUR_AUTO_ALIGNED guint8 *padding = values != NULL ? demur_memory_array(n, 1, 1, &cause) : NULL;
  if (padding == NULL || !demur_pixels_decode(source, header, slice->frame, values,
                                              header->has_padding ? padding : NULL, &cause))
    return slice_error(error, slice, index, cause);
  size_t padded = 0, clamped = 0;
  /* Whole slope and intercept are the rule, and need no rounding: the same numbers, much faster. */
  const gboolean whole = slice->slope == trunc(slice->slope) && fabs(slice->slope) <= 32768 &&
                         slice->intercept == trunc(slice->intercept) &&
                         fabs(slice->intercept) <= 1073741824.0;
  const gint64 slope = whole ? (gint64)slice->slope : 0;
  const gint64 intercept = whole ? (gint64)slice->intercept : 0;
  for (size_t i = 0; whole && i < n; i++) {
    const gint64 value = slope * values[i] + intercept;
    const gint64 held = CLAMP(value, DEMUR_HU_MIN, DEMUR_HU_MAX);
    clamped += held != value && padding[i] == 0;
    padded += padding[i];
    hu[i] = padding[i] != 0 ? DEMUR_HU_PADDING : (gint16)held;
  }
  for (size_t i = 0; !whole && i < n; i++) {
    if (padding[i] != 0) {
      hu[i] = DEMUR_HU_PADDING;
      padded++;
      continue;
    }
    const double value = round(slice->slope * values[i] + slice->intercept);
    if (value < DEMUR_HU_MIN || value > DEMUR_HU_MAX)
      clamped++;
    hu[i] = (gint16)CLAMP(value, (double)DEMUR_HU_MIN, (double)DEMUR_HU_MAX);
  }
  *n_padding = padded;
  *n_clamped = clamped;
  return TRUE;
}

typedef struct {
  const DemurSeries *series;
  DemurVolume *volume;
  size_t first;
  size_t *n_padding, *n_clamped; /* [n_slices] */
  gint16 *min, *max;             /* [n_slices] */
  GError **errors;               /* [n_slices] */
} Reading;

static void
read_one(size_t chunk, guint worker, gpointer data) {
  Reading *reading = data;
  DemurVolume *volume = reading->volume;
  const size_t i = reading->first + chunk, n = volume->rows * volume->columns;
  gint16 *hu = volume->hu + i * n;
  if (!demur_volume_read_slice(reading->series, i, hu, &reading->n_padding[i],
                               &reading->n_clamped[i], &reading->errors[i]))
    return;
  gint16 low = G_MAXINT16, high = G_MININT16;
  for (size_t k = 0; k < n; k++) {
    if (hu[k] == DEMUR_HU_PADDING)
      continue;
    low = MIN(low, hu[k]);
    high = MAX(high, hu[k]);
  }
  reading->min[i] = low;
  reading->max[i] = high;
}

DemurVolume *
demur_volume_read(const DemurSeries *series, DemurParallel *parallel, const DemurProgress *progress,
                  GError **error) {
  const size_t n = series->n_slices;
  g_autoptr(DemurVolume) volume = g_new0(DemurVolume, 1);
  volume->n_slices = n;
  volume->rows = series->rows;
  volume->columns = series->columns;
  volume->lossy = series->lossy;
  volume->is_volume = series->n_positions >= 2 && series->n_without_position == 0;
  memcpy(volume->pixel_spacing_mm, series->pixel_spacing_mm, sizeof volume->pixel_spacing_mm);
  volume->spacing_mm = series->spacing_mm;
  volume->tilt_degrees = series->tilt_degrees;
  memcpy(volume->orientation, series->orientation, sizeof volume->orientation);
  memcpy(volume->normal, series->normal, sizeof volume->normal);
  /* 65,535 x 65,535 pixels a slice are what the header allows; a product that doesn't fit fails
   * here. */
  if (n == 0 || volume->rows == 0 || volume->columns == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "series %s has no pixels", series->scan_id);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (series->slices[i].problem != NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "series %s, slice %" G_GSIZE_FORMAT ": %s",
                  series->scan_id, i + 1, series->slices[i].problem);
      return NULL;
    }
  volume->hu = demur_memory_array(n, volume->rows * volume->columns, sizeof *volume->hu, error);
  if (volume->hu == NULL)
    return NULL;
  volume->positions_mm = g_new(double, 3 * n);
  volume->distances_mm = g_new(double, n);
  for (size_t i = 0; i < n; i++) {
    const DemurSlice *slice = &series->slices[i];
    for (int k = 0; k < 3; k++)
      volume->positions_mm[3 * i + (size_t)k] = slice->has_position ? slice->position_mm[k] : NAN;
    volume->distances_mm[i] = slice->distance_mm;
  }
  g_autofree size_t *n_padding = g_new0(size_t, n), *n_clamped = g_new0(size_t, n);
  g_autofree gint16 *min = g_new0(gint16, n), *max = g_new0(gint16, n);
  g_autofree GError **errors = g_new0(GError *, n);
  Reading reading = {series, volume, 0, n_padding, n_clamped, min, max, errors};
  gboolean good = TRUE;
  for (reading.first = 0; good && reading.first < n; reading.first += SLICES_A_BATCH) {
    good = demur_progress_step(progress, (double)reading.first / (double)n, "decoding", error);
    if (good)
      demur_parallel_map(parallel, MIN(SLICES_A_BATCH, n - reading.first), read_one, &reading);
    for (size_t i = reading.first; i < n && i < reading.first + SLICES_A_BATCH; i++) {
      if (errors[i] != NULL && good) {
        g_propagate_error(error, g_steal_pointer(&errors[i]));
        good = FALSE;
      }
      g_clear_error(&errors[i]);
    }
  }
  if (!good)
    return NULL;
  gint16 low = G_MAXINT16, high = G_MININT16;
  for (size_t i = 0; i < n; i++) {
    volume->n_padding += n_padding[i];
    volume->n_clamped += n_clamped[i];
    low = MIN(low, min[i]);
    high = MAX(high, max[i]);
  }
  volume->min_hu = low <= high ? low : 0;
  volume->max_hu = low <= high ? high : 0;
  return g_steal_pointer(&volume);
}

void
demur_volume_free(DemurVolume *volume) {
  if (volume == NULL)
    return;
  g_aligned_free(volume->hu);
  g_free(volume->positions_mm);
  g_free(volume->distances_mm);
  g_free(volume);
}
