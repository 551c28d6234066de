/* Patient and study as one image names them: what an object made for the same study must repeat. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

/* UTF-8, owned; "" where not recorded. */
typedef struct {
  char *patient_name, *patient_id, *patient_birth_date, *patient_sex;
  char *study_uid, *study_date, *study_time, *study_id, *study_description;
  char *accession_number, *referring_physician;
} DemurStudy;

/* Reads them from the object at path (entry: within a ZIP archive, else NULL). */
gboolean demur_study_read(const char *path, const char *entry, DemurStudy *study,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_study_clear(DemurStudy *study);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurStudy, demur_study_clear)

G_END_DECLS
