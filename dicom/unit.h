/* In what unit an image's values are: a CT image is in Hounsfield units only where nothing says
 * otherwise (PS3.3 C.8.2.1, C.8.15.3.10: RescaleType, and values 3 and 4 of ImageType). */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

/* Fills unit, unit_from, mono_energetic and spectral_words from rescale type, image or frame type
 * (both as recorded, NULL where absent), the energy that the images are computed for (NULL where
 * none) and the description. */
void demur_unit_fill(DemurSeries *series, const char *rescale_type, const char *image_type,
                     const char *energy, const char *description);

/* Of a (0028,1054) as recorded; NULL: not recorded, taken for Hounsfield units. */
gboolean demur_rescale_type_is_hu(const char *rescale_type);

/* Whether the values are in Hounsfield units; NULL: not known, FALSE. */
gboolean demur_unit_is_hu(const char *unit);

G_END_DECLS
