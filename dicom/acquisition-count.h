/* Whether images of a study are still missing, as the images say themselves: ImagesInAcquisition
 * (0020,1002), the number of images that resulted from an acquisition. Images are of one
 * acquisition where their AcquisitionNumber is, in whatever series of the study they are: writers
 * count those of one reconstruction, or of all. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint n_here;    /* objects of acquisitions that say how many images they have; at most so many */
  guint n_missing; /* images that these acquisitions have and that are not here */
} DemurAcquisitionCount;

/* Looks at the heads of all .dcm files below folder, a few folders deep; what can't be read says
 * nothing. */
DemurAcquisitionCount demur_acquisition_count(const char *folder);

G_END_DECLS
