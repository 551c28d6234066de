#include "dicom/sop-class.h"

#include <string.h>

#define STORAGE "1.2.840.10008.5.1.4.1.1."

static const struct {
  const char *uid; /* one that ends with a dot stands for all below it */
  DemurSopClass sop_class;
} table[] = {
    {DEMUR_SOP_CT_IMAGE_UID, DEMUR_SOP_CT},
    {STORAGE "2.1", DEMUR_SOP_CT},
    {STORAGE "2.2", DEMUR_SOP_CT},
    {STORAGE "7", DEMUR_SOP_SECONDARY_CAPTURE},
    {STORAGE "7.", DEMUR_SOP_SECONDARY_CAPTURE},
    {"1.2.840.10008.1.3.10", DEMUR_SOP_DIRECTORY},
    {STORAGE "88.", DEMUR_SOP_STRUCTURED_REPORT},
    {STORAGE "66.", DEMUR_SOP_SEGMENTATION},
    {STORAGE "481.3", DEMUR_SOP_RT_STRUCTURE_SET},
    {STORAGE "481.5", DEMUR_SOP_RT_PLAN},
    {STORAGE "481.2", DEMUR_SOP_RT_DOSE},
    {STORAGE "11.", DEMUR_SOP_PRESENTATION_STATE},
    {STORAGE "104.", DEMUR_SOP_DOCUMENT},
    {STORAGE "9.", DEMUR_SOP_WAVEFORM},
};

DemurSopClass
demur_sop_class_find(const char *uid) {
  for (size_t i = 0; uid != NULL && i < G_N_ELEMENTS(table); i++) {
    const size_t n = strlen(table[i].uid);
    if (strncmp(uid, table[i].uid, n) == 0 && (table[i].uid[n - 1] == '.' || uid[n] == '\0'))
      return table[i].sop_class;
  }
  return DEMUR_SOP_OTHER;
}
