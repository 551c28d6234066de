#include "dicom/image-kind.h"

#include "base/error.h"

#include <string.h>

#include "dicom/transfer-syntax.h"

static gboolean
image_type_has(const DemurHeader *header, const char *word) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", -1);
  for (guint i = 0; values[i] != NULL; i++)
    if (g_ascii_strcasecmp(g_strstrip(values[i]), word) == 0)
      return TRUE;
  return FALSE;
}

gboolean
demur_modality_is_ct(const char *modality) {
  return g_strcmp0(modality, "CT") == 0;
}

gboolean
demur_image_is_localizer(const DemurHeader *header) {
  return image_type_has(header, "LOCALIZER") || image_type_has(header, "SCOUT");
}

gboolean
demur_image_is_derived(const DemurHeader *header) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", 2);
  return values[0] != NULL && g_ascii_strcasecmp(g_strstrip(values[0]), "DERIVED") == 0;
}

gboolean
demur_image_is_secondary(const DemurHeader *header) {
  return (header->sop_class_uid != NULL &&
          (g_str_equal(header->sop_class_uid, "1.2.840.10008.5.1.4.1.1.7") ||
           g_str_has_prefix(header->sop_class_uid, "1.2.840.10008.5.1.4.1.1.7."))) ||
         image_type_has(header, "SCREEN SAVE");
}

GError *
demur_header_not_an_image(const DemurHeader *header) {
  static const struct {
    const char *prefix; /* of the SOP class */
    const char *modality;
    const char *words;
  } others[] = {
      {"1.2.840.10008.1.3.10", NULL,
       N_("a directory (DICOMDIR): the files it lists are read themselves")},
      {"1.2.840.10008.5.1.4.1.1.88.", "SR", N_("a structured report (SR)")},
      {"1.2.840.10008.5.1.4.1.1.66.", "SEG", N_("a segmentation (SEG), not an image")},
      {"1.2.840.10008.5.1.4.1.1.481.3", "RTSTRUCT", N_("a radiotherapy structure set (RTSTRUCT)")},
      {"1.2.840.10008.5.1.4.1.1.481.5", "RTPLAN", N_("a radiotherapy plan (RTPLAN)")},
      {"1.2.840.10008.5.1.4.1.1.481.2", "RTDOSE",
       N_("a radiotherapy dose grid (RTDOSE), not an image")},
      {"1.2.840.10008.5.1.4.1.1.11.", "PR", N_("a presentation state (PR)")},
      {"1.2.840.10008.5.1.4.1.1.104.", "DOC", N_("an encapsulated document (DOC)")},
      {"1.2.840.10008.5.1.4.1.1.9.", "ECG", N_("a waveform")},
      {NULL, "KO", N_("a key object selection (KO)")},
      {NULL, "REG", N_("a registration (REG)")},
      {NULL, "RTRECORD", N_("a radiotherapy record (RTRECORD)")},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    if (others[i].prefix != NULL && header->sop_class_uid != NULL) {
      const size_t n = strlen(others[i].prefix);
      if (strncmp(header->sop_class_uid, others[i].prefix, n) == 0 &&
          (others[i].prefix[n - 1] == '.' || header->sop_class_uid[n] == '\0'))
        return demur_error_new(DEMUR_ERROR_UNSUPPORTED, "%s", others[i].words);
    }
    if (others[i].modality != NULL && g_strcmp0(header->modality, others[i].modality) == 0)
      return demur_error_new(DEMUR_ERROR_UNSUPPORTED, "%s", others[i].words);
  }
  if (header->pixels == DEMUR_PIXELS_ABSENT && (header->rows == 0 || header->columns == 0))
    return header->modality != NULL
               ? demur_error_new(DEMUR_ERROR_UNSUPPORTED,
                                 "a DICOM object without an image (modality %s)", header->modality)
               : demur_error_new(DEMUR_ERROR_UNSUPPORTED, "a DICOM object without an image");
  return NULL;
}

gboolean
demur_header_lacks_its_image(const DemurHeader *header) {
  static const char ct[] = "1.2.840.10008.5.1.4.1.1.2";
  return header->series_uid != NULL && header->pixels == DEMUR_PIXELS_ABSENT &&
         (header->rows == 0 || header->columns == 0) &&
         (header->sop_class_uid != NULL ? g_str_has_prefix(header->sop_class_uid, ct)
                                        : demur_modality_is_ct(header->modality));
}

gboolean
demur_header_is_lossy(const DemurHeader *header) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  return (syntax != NULL && syntax->lossy) ||
         (header->lossy != NULL && g_str_has_prefix(header->lossy, "01"));
}
