#include "dicom/vr.h"

enum { SHORT = 0, LONG = 1, BYTES = 2, ZERO = 4 }; /* how it is written */

static const struct {
  char name[3];
  guint8 form;
} table[DEMUR_N_VRS] = {
    [DEMUR_VR_NONE] = {"", SHORT},        [DEMUR_VR_OTHER] = {"", SHORT},
    [DEMUR_VR_AE] = {"AE", SHORT},        [DEMUR_VR_AS] = {"AS", SHORT},
    [DEMUR_VR_AT] = {"AT", SHORT},        [DEMUR_VR_CS] = {"CS", SHORT},
    [DEMUR_VR_DA] = {"DA", SHORT},        [DEMUR_VR_DS] = {"DS", SHORT},
    [DEMUR_VR_DT] = {"DT", SHORT},        [DEMUR_VR_FD] = {"FD", SHORT},
    [DEMUR_VR_FL] = {"FL", SHORT},        [DEMUR_VR_IS] = {"IS", SHORT},
    [DEMUR_VR_LO] = {"LO", SHORT},        [DEMUR_VR_LT] = {"LT", SHORT},
    [DEMUR_VR_OB] = {"OB", LONG | BYTES}, [DEMUR_VR_OD] = {"OD", LONG | BYTES},
    [DEMUR_VR_OF] = {"OF", LONG | BYTES}, [DEMUR_VR_OL] = {"OL", LONG | BYTES},
    [DEMUR_VR_OV] = {"OV", LONG | BYTES}, [DEMUR_VR_OW] = {"OW", LONG | BYTES},
    [DEMUR_VR_PN] = {"PN", SHORT},        [DEMUR_VR_SH] = {"SH", SHORT},
    [DEMUR_VR_SL] = {"SL", SHORT},        [DEMUR_VR_SQ] = {"SQ", LONG},
    [DEMUR_VR_SS] = {"SS", SHORT},        [DEMUR_VR_ST] = {"ST", SHORT},
    [DEMUR_VR_SV] = {"SV", LONG},         [DEMUR_VR_TM] = {"TM", SHORT},
    [DEMUR_VR_UC] = {"UC", LONG},         [DEMUR_VR_UI] = {"UI", SHORT | ZERO},
    [DEMUR_VR_UL] = {"UL", SHORT},        [DEMUR_VR_UN] = {"UN", LONG},
    [DEMUR_VR_UR] = {"UR", LONG},         [DEMUR_VR_US] = {"US", SHORT},
    [DEMUR_VR_UT] = {"UT", LONG},         [DEMUR_VR_UV] = {"UV", LONG},
};

DemurVr
demur_vr_find(const guint8 letters[2]) {
  for (guint i = DEMUR_VR_OTHER + 1; i < DEMUR_N_VRS; i++)
    if (letters[0] == (guint8)table[i].name[0] && letters[1] == (guint8)table[i].name[1])
      return (DemurVr)i;
  return DEMUR_VR_OTHER;
}

const char *
demur_vr_name(DemurVr vr) {
  g_return_val_if_fail((guint)vr < DEMUR_N_VRS, "");
  return table[vr].name;
}

gboolean
demur_vr_has_long_length(DemurVr vr) {
  return (table[vr].form & LONG) != 0;
}

gboolean
demur_vr_is_bytes(DemurVr vr) {
  return (table[vr].form & BYTES) != 0;
}

guint8
demur_vr_padding(DemurVr vr) {
  return (table[vr].form & ZERO) != 0 ? 0 : ' ';
}
