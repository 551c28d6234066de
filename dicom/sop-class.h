/* SOP classes (PS3.4 annex B.5, PS3.6 table A-1) of which this program does different things: one
 * table, by which whatever arrives is read. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_SOP_OTHER, /* or unknown */
  DEMUR_SOP_CT,    /* CT Image, Enhanced CT Image, Legacy Converted Enhanced CT Image */
  DEMUR_SOP_SECONDARY_CAPTURE,
  DEMUR_SOP_DIRECTORY, /* Media Storage Directory: a DICOMDIR */
  DEMUR_SOP_STRUCTURED_REPORT,
  DEMUR_SOP_SEGMENTATION,
  DEMUR_SOP_RT_STRUCTURE_SET,
  DEMUR_SOP_RT_PLAN,
  DEMUR_SOP_RT_DOSE,
  DEMUR_SOP_PRESENTATION_STATE,
  DEMUR_SOP_DOCUMENT,
  DEMUR_SOP_WAVEFORM,
} DemurSopClass;

/* Of a SOPClassUID; NULL: DEMUR_SOP_OTHER. */
DemurSopClass demur_sop_class_find(const char *uid);

/* The UID of CT Image Storage. */
#define DEMUR_SOP_CT_IMAGE_UID "1.2.840.10008.5.1.4.1.1.2"

G_END_DECLS
