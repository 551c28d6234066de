#include "dicom/study.h"
#include "dicom/charset.h"
#include "dicom/files.h"
#include "dicom/data-set.h"

#include <stddef.h>

#define MAX_LENGTH 1024

static const struct {
  guint32 tag;
  size_t offset;
} fields[] = {
    {DEMUR_TAG(0x0008, 0x0020), offsetof(DemurStudy, study_date)},
    {DEMUR_TAG(0x0008, 0x0030), offsetof(DemurStudy, study_time)},
    {DEMUR_TAG(0x0008, 0x0050), offsetof(DemurStudy, accession_number)},
    {DEMUR_TAG(0x0008, 0x0090), offsetof(DemurStudy, referring_physician)},
    {DEMUR_TAG(0x0008, 0x1030), offsetof(DemurStudy, study_description)},
    {DEMUR_TAG(0x0010, 0x0010), offsetof(DemurStudy, patient_name)},
    {DEMUR_TAG(0x0010, 0x0020), offsetof(DemurStudy, patient_id)},
    {DEMUR_TAG(0x0010, 0x0030), offsetof(DemurStudy, patient_birth_date)},
    {DEMUR_TAG(0x0010, 0x0040), offsetof(DemurStudy, patient_sex)},
    {DEMUR_TAG(0x0020, 0x000D), offsetof(DemurStudy, study_uid)},
    {DEMUR_TAG(0x0020, 0x0010), offsetof(DemurStudy, study_id)},
};

typedef struct {
  DemurSource *source;
  DemurStudy *study;
  char *character_set;
} Reading;

static char **
field_of(DemurStudy *study, size_t i) {
  return (char **)(gpointer)((guint8 *)study + fields[i].offset);
}

static DemurWalk
visit(const DemurElement *element, gpointer data) {
  Reading *reading = data;
  if (element->depth > 0)
    return DEMUR_WALK_ON;
  if (element->tag > DEMUR_TAG(0x0020, 0x0010))
    return DEMUR_WALK_STOP;
  if (element->length > MAX_LENGTH)
    return DEMUR_WALK_ON;
  const guint8 *bytes = demur_source_peek(reading->source, element->offset, element->length);
  if (bytes == NULL)
    return DEMUR_WALK_ON;
  if (element->tag == DEMUR_TAG(0x0008, 0x0005)) {
    g_free(reading->character_set);
    reading->character_set = g_strndup((const char *)bytes, element->length);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
    if (fields[i].tag == element->tag) {
      char **to = field_of(reading->study, i);
      g_free(*to);
      *to = demur_charset_to_utf8((const char *)bytes, element->length, reading->character_set);
    }
  return DEMUR_WALK_ON;
}

gboolean
demur_study_read(const char *path, const char *entry, DemurStudy *study, GError **error) {
  g_auto(DemurDataSet) set = {0};
  g_autoptr(DemurSource) source = demur_files_open(path, entry, error);
  if (source == NULL || !demur_data_set_locate(&source, &set, error))
    return FALSE;
  g_auto(DemurStudy) found = {0};
  Reading reading = {source, &found, NULL};
  const gboolean walked =
      demur_elements_walk(source, set.offset, set.encoding, FALSE, visit, &reading, error);
  g_free(reading.character_set);
  if (!walked)
    return FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
    if (*field_of(&found, i) == NULL)
      *field_of(&found, i) = g_strdup("");
  *study = found;
  found = (DemurStudy){0};
  return TRUE;
}

void
demur_study_clear(DemurStudy *study) {
  for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
    g_clear_pointer(field_of(study, i), g_free);
}
