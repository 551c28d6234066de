/* In what unit an image's values are: a CT image is in Hounsfield units only where nothing says
 * otherwise (PS3.3 C.8.2.1, C.8.15.3.10: RescaleType, a Modality LUT, the unit of a Real World Value
 * Mapping, and the values of ImageType, in which makers have words of their own). */
#pragma once

#include "dicom/header.h"
#include "dicom/series.h"

G_BEGIN_DECLS

/* What an image says of its values; texts borrowed, as recorded, NULL where it says nothing. */
typedef struct {
  const char *rescale_type;    /* RescaleType */
  const char *lut_type;        /* of a Modality LUT, as DemurHeader has it */
  const char *real_world_unit; /* as DemurHeader has it */
  const char *image_type;      /* ImageType and FrameType, their values joined */
  const char *energy;          /* keV that it is computed for */
  const char *description;     /* of the series */
} DemurUnitFacts;

/* Fills unit, unit_from, mono_energetic and spectral_words. */
void demur_unit_fill(DemurSeries *series, const DemurUnitFacts *facts);

/* Whether numbers decide: RescaleType, a Modality LUT or a Real World Value Mapping says that the
 * values are in another unit. A mapping beside a RescaleType is one more, and says nothing. */
gboolean demur_unit_is_told(const DemurUnitFacts *facts);

/* Of one image: the defined term of RescaleType for its unit ("US" where the unit has none); NULL: it
 * is in Hounsfield units. *mono_energetic: it is a virtual mono-energetic image. */
const char *demur_unit_term(const DemurHeader *header, gboolean *mono_energetic);

/* Whether the values are in Hounsfield units; NULL: not known, FALSE. */
gboolean demur_unit_is_hu(const char *unit);

G_END_DECLS
