/* The local acceptance test of a site: which patients to label, and what their labels answer. */
#pragma once

#include "base/json-writer.h"
#include "evaluation/acceptance-document.h"
#include "tasks/accept-earlier.h"
#include "tasks/accept-looks.h"
#include "tasks/task.h"
#include "tasks/warnings.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort, *site;
  const char *split;                /* NULL: any */
  const char *coverage;             /* of the threshold, as written; NULL: the one in use */
  DemurAcceptanceSettings settings; /* alpha: over all plans of the selector at the site together */
  const char *output;               /* the table of labels is written there; NULL: nowhere */
} DemurAcceptPlanParams;

typedef struct {
  char *site, *digest;
  gboolean simulated;
  double share_low, share_high; /* 95 % Wilson interval of the share of patients shown */
  DemurAcceptanceDocument *document;
  DemurAcceptBefore before;
  size_t n_left_out;   /* patients of the site who were candidates before, or made an audit */
  GPtrArray *warnings; /* of DemurTaskWarning */
} DemurAcceptPlanned;

/* One scan a patient, drawn among those that the selector has not seen and no earlier plan whose labels were looked at
 * could have drawn (tasks/accept-earlier.h, which shares alpha among the plans); of them the shown ones
 * are candidates (evaluation/acceptance.h). DEMUR_ERROR_STATE where no patient or no alpha is left. The plan is kept with its digest, and the table written
 * without risks. */
DemurAcceptPlanned *demur_task_accept_plan(DemurTask *task, const DemurAcceptPlanParams *params,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_accept_planned_free(DemurAcceptPlanned *planned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcceptPlanned, demur_accept_planned_free)

/* The table to fill in, in the order in which to label (owned). */
char *demur_accept_planned_table(const DemurAcceptPlanned *planned);

typedef struct {
  char *site, *cohort, *plan_digest, *labels_digest, *planned;
  gboolean simulated;
  double share, share_low, share_high; /* of the site's patients shown, when planned */
  gboolean coverage_kept; /* not shown to be more than DEMUR_ACCEPT_COVERAGE_SLACK below what was
                           * asked for */
  size_t n_later;         /* labels behind the first patient without one: not looked at */
  DemurAcceptanceAnswer answer; /* of both */
  DemurAcceptance acceptance;   /* of the risks as shown */
  DemurAcceptance unaudited;    /* without the audit's intercept; only where intercept is not 0 */
  DemurAcceptanceDocument *document;
  DemurAcceptBefore before; /* earlier plans of the selector at the site */
  DemurAcceptChanges
      changes;        /* against earlier looks: alpha is of labels that stay what they are */
  GPtrArray *noticed; /* of DemurTableWarning: in the table of labels */
} DemurAccepted;

#define DEMUR_ACCEPT_COVERAGE_SLACK 0.05

/* Reads the table, labels filled in from the top, and keeps the answer. columns: a table with other
 * names for its columns; NULL: none. DEMUR_ERROR_STATE where no
 * plan is in force for the site, the same selector has a newer one there under another name, or selector, threshold or
 * audit are not those of the plan;
 * DEMUR_ERROR_INPUT with its line for a row that the plan does not have. */
DemurAccepted *demur_task_accept_run(DemurTask *task, const char *selector, const char *path,
                                     const char *columns, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_accepted_free(DemurAccepted *accepted);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAccepted, demur_accepted_free)

/* Every number of the answer, as `--json` prints it and the workspace keeps it with the labels: a document whose
 * object is still open (owned). */
DemurJson *demur_accepted_json(const DemurAccepted *accepted);

G_END_DECLS
