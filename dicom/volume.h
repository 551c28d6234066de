/* A series as one buffer of CT numbers. */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

/* Where there is no measurement (PixelPaddingValue): no CT number is ever this low. */
#define DEMUR_HU_PADDING G_MININT16
#define DEMUR_HU_MIN (G_MININT16 + 1)
#define DEMUR_HU_MAX G_MAXINT16

typedef struct {
  size_t n_slices, rows, columns;
  gint16 *hu; /* [n_slices][rows][columns]: slope x stored value + intercept of each slice, rounded
               * to the nearest (halves away from 0), DEMUR_HU_PADDING where padded */
  gint16 min_hu, max_hu;       /* over what is not padding; both 0 where all is */
  size_t n_padding, n_clamped; /* pixels; clamped: beyond DEMUR_HU_MIN..DEMUR_HU_MAX */
  gboolean lossy;

  gboolean is_volume;         /* the slices have positions along one normal */
  double pixel_spacing_mm[2]; /* between rows, between columns; NaN unknown: no distance may be
                                 shown */
  double spacing_mm;          /* NaN unknown */
  double tilt_degrees;        /* a straight reformat is wrong where this is not about 0 */
  double orientation[6], normal[3];
  double *positions_mm; /* [n_slices][3]; NaN where not recorded */
  double *distances_mm; /* [n_slices] along the normal; NaN where not recorded */
} DemurVolume;

/* Decodes the used slices of series, in parallel; the files are read anew and must still hold the
 * same SOPInstanceUID and size. Peak memory: the int16 volume and a few slices a thread. A slice
 * that can't be decoded fails the whole with DEMUR_ERROR_INPUT naming it: zeros are never shown as
 * anatomy. */
DemurVolume *demur_volume_read(const DemurSeries *series, DemurParallel *parallel,
                               const DemurProgress *progress,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_volume_free(DemurVolume *volume);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurVolume, demur_volume_free)

/* One slice, decoded by itself: hu [rows * columns] as above. For verifying, and for showing the
 * first slice at once. */
gboolean demur_volume_read_slice(const DemurSeries *series, size_t slice, gint16 *hu,
                                 size_t *n_padding, size_t *n_clamped,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for one slice after another: keeps its memory, and the file where the next slice is
 * another frame of it. One thread at a time; series must outlive it. */
typedef struct DemurSliceReader DemurSliceReader;
DemurSliceReader *demur_slice_reader_new(const DemurSeries *series);
void demur_slice_reader_free(DemurSliceReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSliceReader, demur_slice_reader_free)
/* Whether the slice can be decoded; error says why not, and not which slice. */
gboolean demur_slice_reader_check(DemurSliceReader *reader, size_t slice,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
