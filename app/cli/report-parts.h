/* The words that `demur report` keeps for itself. */
#pragma once

#include "app/cli/command.h"
#include "report/report.h"

G_BEGIN_DECLS

/* a4 or letter; NULL: a4. */
gboolean demur_cli_paper(const char *text, DemurPaper *paper,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* demur report verify FILE.pdf; argv[0] is "report verify". */
gboolean demur_cli_report_verify(DemurContext *context, int argc, char **argv,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* demur report patient FILE.pdf --scan SCAN; argv[0] is "report patient". */
gboolean demur_cli_report_patient(DemurContext *context, int argc, char **argv,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
