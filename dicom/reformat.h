/* Planes through a volume: the acquired ones, axial, coronal and sagittal ones, and slabs of them.
 *
 * Planes are cut from the slices' real positions. Across the slices there is one output line for
 * each nominal spacing, interpolated linearly between the two slices beside it; a gap of more than
 * 1.5 spacings stays empty but for half a spacing around its slices, so that a missing slice is
 * seen. A tilted gantry is corrected: each slice is shifted within its plane to where its position
 * says, so that what stands above one another in the picture does so in the body; without
 * PixelSpacing that can't be done and is refused. */
#pragma once

#include "dicom/volume.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_PLANE_ACQUIRED, /* slices as they are; never turned, shifted or interpolated */
  DEMUR_PLANE_AXIAL,    /* patient's left on the right of the picture, back below */
  DEMUR_PLANE_CORONAL,  /* left on the right, feet below */
  DEMUR_PLANE_SAGITTAL, /* back on the right, feet below */
} DemurPlane;

typedef enum {
  DEMUR_SLAB_MAXIMUM, /* maximum intensity projection */
  DEMUR_SLAB_MEAN,
  DEMUR_SLAB_MINIMUM,
} DemurSlab;

typedef struct {
  size_t rows, columns;
  gint16 *hu;                 /* [rows][columns]; DEMUR_HU_PADDING where nothing was measured */
  double pixel_spacing_mm[2]; /* between rows, between columns; both NaN where the volume has no
                               * PixelSpacing or no spacing: then no distance may be shown */
  char left[4], right[4], up[4], down[4]; /* letters at the edges; "" where not known */
  double origin_mm[3];                    /* centre of the first pixel; NaN where not known */
  double orientation[6];   /* of its rows, then of its columns; NaN where not known */
  gboolean tilt_corrected; /* slices were shifted */
  gboolean interpolated;   /* some value lies between measured ones */
} DemurReformat;

/* How many planes there are along one direction; 0 where the volume can't be cut so (no positions,
 * or a tilt that can't be corrected). Plane i grows along the volume's own slices, rows or columns.
 */
size_t demur_reformat_n_planes(const DemurVolume *volume, DemurPlane plane);

/* Plane index, or the slab of n_slab >= 1 planes from index on (those beyond the last are left
 * out). Where all is padding the result is, else padding plays no part in a slab. DEMUR_ERROR_STATE
 * where the volume can't be cut so, DEMUR_ERROR_USAGE for an index there is not. */
DemurReformat *demur_reformat_new(const DemurVolume *volume, DemurPlane plane, size_t index,
                                  size_t n_slab, DemurSlab slab,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_reformat_free(DemurReformat *reformat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReformat, demur_reformat_free)

G_END_DECLS
