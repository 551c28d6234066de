/* The attributes that tell one acquisition or reconstruction from another: one table, in the order
 * in which they are asked what separates images at one position. A volume is one acquisition of one
 * reconstruction in one frame of reference, so each of them has a rule for the slices of one. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_SLICE_ATTRIBUTE_ONE,   /* one value in a volume */
  DEMUR_SLICE_ATTRIBUTE_STEPS, /* one value, or one a step of a scan in at least three equal steps
                                */
  DEMUR_SLICE_ATTRIBUTE_TIME,  /* goes one way along the volume (s) */
  DEMUR_SLICE_ATTRIBUTE_FREE,  /* may differ from slice to slice, but not take turns */
} DemurSliceAttributeRole;

typedef struct {
  guint32 tag;
  DemurVr vr; /* of the standard: what an implicit data set is read by */
  DemurSliceAttributeRole role;
  const char *keyword; /* PS3.6 */
} DemurSliceAttribute;

size_t demur_slice_attributes_n(void);
const DemurSliceAttribute *demur_slice_attribute(size_t i);

/* Index of the attribute with the tag; -1 where it is none of them. */
int demur_slice_attribute_find(guint32 tag);

/* Its value [element->length] as text that is equal where the value is: UTF-8 without outer blanks;
 * numbers with 6 digits; several values joined by backslashes. Owned; NULL where it is empty. */
char *demur_slice_attribute_text(const DemurElement *element, const guint8 *bytes,
                                 const DemurSliceAttribute *attribute, const char *character_set);

/* Seconds of a DA, TM or DT text of the attribute, from an arbitrary day; NaN where it is none. */
double demur_slice_attribute_seconds(const DemurSliceAttribute *attribute, const char *text);

G_END_DECLS
