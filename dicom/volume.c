/* HU = slope * stored + intercept in double, each slice with its own pair (PS3.3 C.11.1.1.2),
 * rounded, clamped. One chunk a slice, so any number of threads gives the same bytes. */
#include "dicom/volume.h"
#include "base/error.h"
#include "dicom/library.h"
#include "dicom/pixels.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

#define SLICES_A_BATCH 16

static gboolean
has_changed(GError **error) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "the file has changed since it was imported");
  return FALSE;
}

/* Says which slice it was. cause: taken. */
static gboolean
slice_error(GError **error, const DemurSlice *slice, size_t index, GError *cause) {
  g_autofree char *name = demur_files_display(slice->path, slice->entry);
  demur_error_prefix(&cause, "slice %zu (%s): ", index + 1,
                     slice->sop_instance_uid != NULL ? slice->sop_instance_uid : name);
  g_propagate_error(error, cause);
  return FALSE;
}

/* What decoding one slice needs beside its result, kept from slice to slice: memory that is had
 * anew for each costs more than the conversion. */
typedef struct {
  size_t n;        /* pixels there is room for */
  gint32 *values;  /* [n] */
  guint8 *padding; /* [n] */
  /* The file read last: the next slice is often its next frame. */
  const DemurSlice *last; /* borrowed; NULL */
  DemurOpenArchive archive;
  DemurSource *source;
  DemurHeader *header;
} Scratch;

static void
scratch_close(Scratch *scratch) {
  g_clear_pointer(&scratch->header, demur_header_free);
  g_clear_pointer(&scratch->source, demur_source_free);
  scratch->last = NULL;
}

static void
scratch_clear(Scratch *scratch) {
  scratch_close(scratch);
  demur_open_archive_clear(&scratch->archive);
  g_aligned_free(scratch->values);
  g_aligned_free(scratch->padding);
  *scratch = (Scratch){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scratch, scratch_clear)

static gboolean
scratch_reserve(Scratch *scratch, size_t n, GError **error) {
  if (scratch->n >= n)
    return TRUE;
  g_clear_pointer(&scratch->values, g_aligned_free);
  g_clear_pointer(&scratch->padding, g_aligned_free);
  scratch->n = 0;
  scratch->values = demur_memory_unset(n, 1, sizeof *scratch->values, error);
  if (scratch->values != NULL)
    scratch->padding = demur_memory_unset(n, 1, 1, error);
  if (scratch->padding == NULL)
    return FALSE;
  scratch->n = n;
  return TRUE;
}

typedef struct {
  size_t n_padding, n_clamped;
  gint16 min_hu, max_hu; /* over what is not padding; min > max where all is */
} SliceCounts;

/* Whole slope and intercept of the size scanners write, from stored values of up to 16 bits: 32-bit
 * integers hold every step. The same numbers as below, many at a time. */
VECTOR_CLONES static SliceCounts
to_hu_whole(const gint32 *values, const guint8 *padding, size_t n, gint32 slope, gint32 intercept,
            gint16 *hu) {
  gint32 low = G_MAXINT16, high = G_MININT16;
  guint32 n_clamped = 0, n_padding = 0; /* n fits: rows and columns are 16 bits each */
  for (size_t i = 0; i < n; i++) {
    const gint32 value = slope * values[i] + intercept;
    const gint32 held = CLAMP(value, DEMUR_HU_MIN, DEMUR_HU_MAX);
    const gboolean padded = padding != NULL && padding[i] != 0;
    n_clamped += held != value && !padded;
    n_padding += (guint32)padded;
    low = padded ? low : MIN(low, held);
    high = padded ? high : MAX(high, held);
    hu[i] = (gint16)(padded ? DEMUR_HU_PADDING : held);
  }
  return (SliceCounts){n_padding, n_clamped, (gint16)low, (gint16)high};
}

static SliceCounts
to_hu(const gint32 *values, const guint8 *padding, size_t n, double slope, double intercept,
      gint16 *hu) {
  SliceCounts counts = {0, 0, G_MAXINT16, G_MININT16};
  for (size_t i = 0; i < n; i++) {
    if (padding != NULL && padding[i] != 0) {
      hu[i] = DEMUR_HU_PADDING;
      counts.n_padding++;
      continue;
    }
    const double value = round(slope * values[i] + intercept);
    if (value < DEMUR_HU_MIN || value > DEMUR_HU_MAX)
      counts.n_clamped++;
    hu[i] = (gint16)CLAMP(value, (double)DEMUR_HU_MIN, (double)DEMUR_HU_MAX);
    counts.min_hu = MIN(counts.min_hu, hu[i]);
    counts.max_hu = MAX(counts.max_hu, hu[i]);
  }
  return counts;
}

static gboolean
decode_slice(const DemurSeries *series, size_t index, Scratch *scratch, gint16 *hu,
             SliceCounts *counts, GError **error) {
  const DemurSlice *slice = &series->slices[index];
  if (scratch->last == NULL || strcmp(scratch->last->path, slice->path) != 0 ||
      g_strcmp0(scratch->last->entry, slice->entry) != 0) {
    scratch_close(scratch);
    scratch->source = demur_files_open_in(&scratch->archive, slice->path, slice->entry, error);
    scratch->header = scratch->source != NULL ? demur_header_read(&scratch->source, error) : NULL;
    if (scratch->header == NULL)
      return FALSE;
    scratch->last = slice;
  }
  const DemurHeader *header = scratch->header;
  if (header->rows != series->rows || header->columns != series->columns ||
      slice->frame >= header->n_frames ||
      g_strcmp0(header->sop_instance_uid, slice->sop_instance_uid) != 0)
    return has_changed(error);
  const size_t n = (size_t)header->rows * header->columns;
  if (!scratch_reserve(scratch, n, error))
    return FALSE;
  guint8 *padding = header->has_padding ? scratch->padding : NULL;
  if (!demur_pixels_decode(scratch->source, header, slice->frame, scratch->values, padding, error))
    return FALSE;
  const gboolean whole = header->bits_allocated <= 16 && slice->slope == trunc(slice->slope) &&
                         fabs(slice->slope) <= 4096 &&
                         slice->intercept == trunc(slice->intercept) &&
                         fabs(slice->intercept) <= 1073741824.0;
  *counts = whole ? to_hu_whole(scratch->values, padding, n, (gint32)slice->slope,
                                (gint32)slice->intercept, hu)
                  : to_hu(scratch->values, padding, n, slice->slope, slice->intercept, hu);
  return TRUE;
}

/* The same; error says which slice it was. */
static gboolean
read_slice(const DemurSeries *series, size_t index, Scratch *scratch, gint16 *hu,
           SliceCounts *counts, GError **error) {
  GError *cause = NULL;
  return decode_slice(series, index, scratch, hu, counts, &cause) ||
         slice_error(error, &series->slices[index], index, cause);
}

gboolean
demur_volume_read_slice(const DemurSeries *series, size_t index, gint16 *hu, size_t *n_padding,
                        size_t *n_clamped, GError **error) {
  g_return_val_if_fail(index < series->n_slices, FALSE);
  if (!demur_dicom_init(error))
    return FALSE;
  g_auto(Scratch) scratch = {0};
  SliceCounts counts;
  if (!read_slice(series, index, &scratch, hu, &counts, error))
    return FALSE;
  *n_padding = counts.n_padding;
  *n_clamped = counts.n_clamped;
  return TRUE;
}

struct DemurSliceReader {
  const DemurSeries *series;
  Scratch scratch;
  gint16 *hu; /* [rows * columns]; NULL until it is needed */
};

DemurSliceReader *
demur_slice_reader_new(const DemurSeries *series) {
  DemurSliceReader *reader = g_new0(DemurSliceReader, 1);
  reader->series = series;
  return reader;
}

void
demur_slice_reader_free(DemurSliceReader *reader) {
  if (reader == NULL)
    return;
  scratch_clear(&reader->scratch);
  g_aligned_free(reader->hu);
  g_free(reader);
}

gboolean
demur_slice_reader_check(DemurSliceReader *reader, size_t index, GError **error) {
  const DemurSeries *series = reader->series;
  SliceCounts counts;
  g_return_val_if_fail(index < series->n_slices, FALSE);
  if (reader->hu == NULL)
    reader->hu = demur_memory_unset(series->rows, series->columns, sizeof *reader->hu, error);
  return reader->hu != NULL && demur_dicom_init(error) &&
         decode_slice(series, index, &reader->scratch, reader->hu, &counts, error);
}

typedef struct {
  const DemurSeries *series;
  DemurVolume *volume;
  Scratch *scratch; /* [n_threads] */
  size_t first;
  SliceCounts *counts; /* [n_slices] */
  GError **errors;     /* [n_slices] */
} Reading;

static void
read_one(size_t chunk, guint worker, gpointer data) {
  Reading *reading = data;
  DemurVolume *volume = reading->volume;
  const size_t i = reading->first + chunk;
  if (!read_slice(reading->series, i, &reading->scratch[worker],
                  volume->hu + i * volume->rows * volume->columns, &reading->counts[i],
                  &reading->errors[i]))
    return; /* told by its error */
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
    demur_error_set(error, DEMUR_ERROR_INPUT, "series %s has no pixels", series->scan_id);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (series->slices[i].problem != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "series %s, slice %zu: %s", series->scan_id, i + 1,
                      series->slices[i].problem);
      return NULL;
    }
  if (!demur_dicom_init(error))
    return NULL;
  volume->hu = demur_memory_unset(n, volume->rows * volume->columns, sizeof *volume->hu, error);
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
  const guint n_threads = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  g_autofree Scratch *scratch = g_new0(Scratch, n_threads);
  g_autofree SliceCounts *counts = g_new0(SliceCounts, n);
  g_autofree GError **errors = g_new0(GError *, n);
  Reading reading = {series, volume, scratch, 0, counts, errors};
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
  for (guint t = 0; t < n_threads; t++)
    scratch_clear(&scratch[t]);
  if (!good)
    return NULL;
  gint16 low = G_MAXINT16, high = G_MININT16;
  for (size_t i = 0; i < n; i++) {
    volume->n_padding += counts[i].n_padding;
    volume->n_clamped += counts[i].n_clamped;
    low = MIN(low, counts[i].min_hu);
    high = MAX(high, counts[i].max_hu);
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
