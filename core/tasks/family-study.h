/* A family of horizons evaluated: each selector as by itself (tasks/evaluate.h), and what they show
 * together; what `evaluate` and `report` say of a family's name. */
#pragma once

#include "report/family.h"
#include "tasks/evaluate.h"
#include "tasks/horizons.h"
#include "tasks/report.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  DemurHorizons horizons;
  char *lists[DEMUR_N_YEARS][2];           /* [horizons.n] the selector's name alone, and NULL */
  DemurEvaluating each[DEMUR_N_YEARS];     /* [horizons.n] */
  DemurReportTask *reports[DEMUR_N_YEARS]; /* [horizons.n] as its own report has it */
  const DemurReportInput *inputs[DEMUR_N_YEARS];
  DemurFamilyYear by_year[DEMUR_N_YEARS];
  DemurFamilyReport report; /* of all that stands above */
} DemurFamilyStudy;

/* The horizons where the one name given (NULL-terminated; NULL: none) is a family's, n = 0 where none
 * is. DEMUR_ERROR_USAGE for a family beside other names. */
gboolean demur_task_family_asked(DemurTask *task, char *const *names, DemurHorizons *horizons,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* study: all zero. options as of demur_task_evaluate, for each horizon; coverage: of the summary, 0:
 * the usual. pins [horizons->n]: as the report had each (options->pin is not read); NULL: as the
 * workspace is now. Errors: as demur_task_evaluate, with the selector's name before them;
 * DEMUR_ERROR_USAGE with audited, which is of one selector; DEMUR_ERROR_STATE where the workspace was
 * changed meanwhile. */
gboolean demur_task_family_study(DemurTask *task, const char *name, const DemurHorizons *horizons,
                                 DemurEvaluateParams *options, double coverage,
                                 const DemurReportPin *pins, DemurFamilyStudy *study,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The report of the family, PDF and JSON beside it (report/family.h); arguments and errors as above and
 * as demur_family_report_write. *simulated: of simulated data. */
gboolean demur_task_family_report(DemurTask *task, const char *name, const DemurHorizons *horizons,
                                  DemurEvaluateParams *options, double coverage, DemurPaper paper,
                                  const char *path, gboolean *simulated,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_family_study_clear(DemurFamilyStudy *study);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurFamilyStudy, demur_family_study_clear)

G_END_DECLS
