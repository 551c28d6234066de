/* The elements at the root of a data set that may differ among the slices of one acquisition in any
 * pattern, halves and turns too: one table, each row with its reason. All others are compared
 * (dicom/two-stacks.c), but for those of dicom/attributes.h, which have rules of their own. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

/* Who reserved a block of private elements, as far as the table knows them. */
typedef enum {
  DEMUR_CREATOR_UNKNOWN,
  DEMUR_CREATOR_GE_ACQUISITION, /* GEMS_ACQU_01 */
  DEMUR_CREATOR_GE_IMAGE,       /* GEMS_IMAG_01 */
  DEMUR_CREATOR_GE_PARAMETERS,  /* GEMS_PARM_01 */
  DEMUR_CREATOR_ELSCINT,        /* ELSCINT1 */
  DEMUR_CREATOR_SIEMENS_CT,     /* SIEMENS CT VA0  GEN */
  DEMUR_CREATOR_SIEMENS_COAD,   /* SIEMENS CT VA0  COAD */
  DEMUR_CREATOR_SIEMENS,        /* SIEMENS MED */
  DEMUR_CREATOR_SIEMENS_MEDCOM, /* SIEMENS MEDCOM HEADER */
  DEMUR_N_CREATORS,
} DemurPrivateCreator;

/* Of the text [length] of a private creator (PS3.5 section 7.8.1). */
DemurPrivateCreator demur_private_creator_find(const guint8 *text, size_t length);

typedef enum {
  DEMUR_ELEMENT_COMPARED, /* it stands in no row */
  DEMUR_ELEMENT_TURNS,    /* it may take turns from slice to slice, but not differ between halves */
  DEMUR_ELEMENT_FREE,     /* it may differ in any pattern */
} DemurElementFreedom;

/* creator: of its block, where it is private. */
DemurElementFreedom demur_element_freedom(guint32 tag, DemurPrivateCreator creator);

/* The rows, for those who read them: each has a reason. */
size_t demur_free_elements_n(void);
const char *demur_free_element_reason(size_t i);

G_END_DECLS
