/* Site audits: which scans of a new site to label, and what their labels change. */
#pragma once

#include "selector/audit.h"
#include "tasks/task.h"
#include "tasks/warnings.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort, *site;
  const char *split;  /* NULL: any */
  size_t n_scans;     /* to label; fewer where the site has fewer patients */
  const char *output; /* the table is written there; NULL: nowhere */
} DemurAuditPlanParams;

typedef struct {
  char *scan_id, *patient_id;
  double risk, score;
} DemurAuditScan;

typedef struct {
  char *site;
  gboolean simulated, site_trained;
  size_t n_site_scans; /* that the selector has not seen */
  GArray *scans;       /* of DemurAuditScan, to be labelled */
  GPtrArray *warnings; /* of DemurTaskWarning */
} DemurAuditPlanned;

/* One scan a patient, spread over the site's risks and scores; the plan is kept with the selector.
 */
DemurAuditPlanned *demur_task_audit_plan(DemurTask *task, const DemurAuditPlanParams *params,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_audit_planned_free(DemurAuditPlanned *planned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAuditPlanned, demur_audit_planned_free)

/* The same for every site of the split (NULL: "test") that has scans which the selector has not
 * seen: array of DemurAuditPlanned in the order of their names (owned); one table for all.
 * params->site is not read. DEMUR_ERROR_STATE where there is no such site. */
GPtrArray *demur_task_audit_plan_sites(DemurTask *task, const DemurAuditPlanParams *params,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The table of such an array (owned). */
char *demur_audit_planned_table_sites(const GPtrArray *planned);

/* The table to fill in (owned), without risks: who labels is not to know what the model said, and
 * some of these are held back. */
char *demur_audit_planned_table(const DemurAuditPlanned *planned);

typedef struct {
  const char *selector;
  const char *path;    /* of the table, with labels filled in */
  const char *cohort;  /* with the scans; NULL: the plan's */
  const char *columns; /* a table with other names for columns; NULL: none */
} DemurAuditApplyParams;

/* A verdict that the intercept changes at the current threshold. */
typedef struct {
  char *scan_id;
  gboolean accepted; /* from now on; before it was the other */
} DemurAuditChange;

typedef struct {
  char *site, *cohort;
  gboolean simulated;
  size_t n_site_scans;
  DemurAudit audit;
  size_t n_empty, n_repeated; /* rows without a label; of a patient that was there already */
  double threshold;           /* NaN: not tuned */
  GArray *changes;            /* of DemurAuditChange */
  char *replaced; /* when the audit that this one takes the place of was made; NULL: none */
  size_t n_replaced_labels; /* of that one */
} DemurAuditApplied;

/* Learns the intercept of each site of the table and keeps it: `assess` uses it for scans of that
 * site. Array of DemurAuditApplied in the order in which sites first appear (owned). Nothing is
 * kept where a row of any is wrong (DEMUR_ERROR_INPUT with its line). *noticed (of
 * DemurTableWarning, owned): what was noticed in the table. */
GPtrArray *demur_task_audit_apply(DemurTask *task, const DemurAuditApplyParams *params,
                                  GPtrArray **noticed, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_audit_applied_free(DemurAuditApplied *applied);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAuditApplied, demur_audit_applied_free)

G_END_DECLS
