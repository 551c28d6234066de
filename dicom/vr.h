/* Value representations (PS3.5 table 6.2-1): what kind of value an element holds, and how it is
 * written. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_VR_NONE,  /* not written: an implicit element */
  DEMUR_VR_OTHER, /* written, but none of the standard */
  DEMUR_VR_AE,
  DEMUR_VR_AS,
  DEMUR_VR_AT,
  DEMUR_VR_CS,
  DEMUR_VR_DA,
  DEMUR_VR_DS,
  DEMUR_VR_DT,
  DEMUR_VR_FD,
  DEMUR_VR_FL,
  DEMUR_VR_IS,
  DEMUR_VR_LO,
  DEMUR_VR_LT,
  DEMUR_VR_OB,
  DEMUR_VR_OD,
  DEMUR_VR_OF,
  DEMUR_VR_OL,
  DEMUR_VR_OV,
  DEMUR_VR_OW,
  DEMUR_VR_PN,
  DEMUR_VR_SH,
  DEMUR_VR_SL,
  DEMUR_VR_SQ,
  DEMUR_VR_SS,
  DEMUR_VR_ST,
  DEMUR_VR_SV,
  DEMUR_VR_TM,
  DEMUR_VR_UC,
  DEMUR_VR_UI,
  DEMUR_VR_UL,
  DEMUR_VR_UN,
  DEMUR_VR_UR,
  DEMUR_VR_US,
  DEMUR_VR_UT,
  DEMUR_VR_UV,
  DEMUR_N_VRS
} DemurVr;

/* Of the two letters that stand in an explicit data set; DEMUR_VR_OTHER where no VR has them. */
DemurVr demur_vr_find(const guint8 letters[2]);

/* Its two letters; "" for DEMUR_VR_NONE and DEMUR_VR_OTHER. */
const char *demur_vr_name(DemurVr vr);

/* Whether two reserved bytes and a length of 32 bits stand behind the letters (PS3.5 7.1.2), not
 * one of 16. */
gboolean demur_vr_has_long_length(DemurVr vr);

/* Whether it is a stream of bytes or words, which may stand in fragments (PS3.5 A.4): the O.. ones. */
gboolean demur_vr_is_bytes(DemurVr vr);

/* What fills up a text of odd length: a zero byte for a UID, else a blank (PS3.5 6.2). */
guint8 demur_vr_padding(DemurVr vr);

G_END_DECLS
