/* Whether numbers that follow a body, as a tube current does, are of two stacks that lie between each
 * other. Used by dicom/uniform.c. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_DOSE_LEAST_SLICES 10 /* of which anything is said */

/* values [n] in the order of the slices. FALSE where one is not above 0: it is no dose. */
gboolean demur_dose_takes_turns(const double *values, guint n);

G_END_DECLS
