/* Whether a stack is two acquisitions or reconstructions by an element that no other rule looks at:
 * a private one, a text of the study, a rescaling, a sequence. Used by dicom/uniform.c. */
#pragma once

#include "dicom/stack.h"

G_BEGIN_DECLS

/* Fills two_stacks of the series from its used images [n] in order, which are of one scan of files. */
void demur_stack_find_two(const DemurStackImage *const *images, guint n, DemurSeries *series);

G_END_DECLS
