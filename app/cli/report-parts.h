/* The words that `demur report` keeps for itself, and how a patient's page is gathered. */
#pragma once

#include "app/cli/command.h"
#include "report/patient.h"

G_BEGIN_DECLS

/* a4 or letter; NULL: a4. */
gboolean demur_cli_paper(const char *text, DemurPaper *paper,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  const char *selector; /* NULL: the only one there is */
  const char *scan_id;
  const char *cohort, *split; /* with known outcomes; cohort NULL: none, split NULL: test */
  const char *coverage;       /* of the threshold, as written; NULL: the current one */
  DemurPaper paper;
} DemurCliPatientOptions;

typedef struct {
  DemurPatientInput input;
  GPtrArray *owned; /* what the input points to */
} DemurCliPatient;

/* Assesses the scan, reads its image and what the cohort says of such risks. */
DemurCliPatient *demur_cli_patient_new(DemurContext *context, const DemurCliPatientOptions *options,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_cli_patient_free(DemurCliPatient *patient);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCliPatient, demur_cli_patient_free)

/* demur report verify FILE.pdf; argv[0] is "report verify". */
gboolean demur_cli_report_verify(DemurContext *context, int argc, char **argv,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* demur report patient FILE.pdf --scan SCAN; argv[0] is "report patient". */
gboolean demur_cli_report_patient(DemurContext *context, int argc, char **argv,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
