#include "cohort/column-guess.h"

#include <string.h>

#include "cohort/columns.h"
#include "cohort/table-header.h"

/* The name, and others by which tables call the same; as demur_column_key writes them. */
static const struct {
  const char *name;
  const char *others[14];
} meanings[DEMUR_N_MEANINGS] = {
    [DEMUR_MEANS_PATIENT_ID] = {"patient_id",
                                {"patient", "pid", "subject", "subjectid", "mrn", "participant",
                                 "participantid", "caseid", "patientnumber", "patid", "pseudonym",
                                 "patientennummer", "patientenid"}},
    [DEMUR_MEANS_SCAN_ID] = {"scan_id",
                             {"scan", "exam", "examid", "study", "studyid", "accession",
                              "accessionnumber", "imageid", "examination", "untersuchung"}},
    [DEMUR_MEANS_SERIES_UID] = {"series_uid",
                                {"seriesinstanceuid", "series", "seriesuid", "seriesid"}},
    [DEMUR_MEANS_SITE] = {"site",
                          {"hospital", "center", "centre", "institution", "siteid", "clinic",
                           "location", "hospitalid", "facility", "standort", "klinik"}},
    [DEMUR_MEANS_SPLIT] = {"split",
                           {"dataset", "set", "subset", "partition", "fold", "splitname", "part"}},
    [DEMUR_MEANS_LABEL] = {"label",
                           {"cancer", "outcome", "y", "ytrue", "truth", "groundtruth", "event",
                            "target", "class", "diagnosis", "lungcancer", "malignant"}},
    [DEMUR_MEANS_RISK] = {"risk",
                          {"score", "prob", "probability", "prediction", "pred", "yprob", "ypred",
                           "predictedrisk", "riskscore", "cancerprobability", "risk6",
                           "predictedprobability"}}};

const char *
demur_column_meaning_name(guint meaning) {
  return meanings[meaning].name;
}

char *
demur_column_yearly_name(int years) {
  return g_strdup_printf("%s%d", demur_cohort_columns[DEMUR_COHORT_YEARLY_RISK].header, years);
}

static gboolean
is_other(guint meaning, const char *key) {
  g_autofree char *own = demur_column_key(meanings[meaning].name);
  if (strcmp(own, key) == 0)
    return TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS(meanings[meaning].others); i++)
    if (g_strcmp0(meanings[meaning].others[i], key) == 0)
      return TRUE;
  return FALSE;
}

void
demur_column_guess(const char *const *names, size_t n_names, gssize at[DEMUR_N_MEANINGS]) {
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++) {
    at[m] = -1;
    for (size_t c = 0; c < n_names && at[m] < 0; c++)
      if (strcmp(names[c], meanings[m].name) == 0)
        at[m] = (gssize)c;
  }
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++)
    for (size_t c = 0; c < n_names && at[m] < 0; c++) {
      gboolean taken = FALSE;
      for (guint other = 0; other < DEMUR_N_MEANINGS; other++)
        taken |= at[other] == (gssize)c;
      g_autofree char *key = demur_column_key(names[c]);
      if (!taken && is_other(m, key))
        at[m] = (gssize)c;
    }
}
