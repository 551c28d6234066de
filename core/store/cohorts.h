/* Cohorts in the workspace: whole, immutable apart from attribute columns that are attached later.
 */
#pragma once

#include "cohort/cohort.h"
#include "cohort/table-warnings.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  size_t n_scans, n_patients; /* scans and distinct patients */
} DemurSplitSummary;

typedef struct {
  char *name, *model, *source, *created;
  char *outcome;        /* what a label 1 means; NULL: not said */
  double horizon_years; /* of labels and risks; 0: not recorded */
  char *digest;         /* demur_cohort_digest of all rows, as computed when it was saved */
  gboolean simulated;
  size_t n_scans, n_patients, n_sites, n_classes, embedding_width;
  size_t n_splits;
  DemurSplitSummary *splits; /* [n_splits], in order of first appearance */
} DemurCohortSummary;

void demur_cohort_summary_free(DemurCohortSummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCohortSummary, demur_cohort_summary_free)

/* Saves under cohort->name, all or nothing. DEMUR_ERROR_EXISTS where the name is taken. */
gboolean demur_cohorts_save(DemurWorkspace *workspace, const DemurCohort *cohort,
                            const DemurProgress *progress,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The cohort as it was saved, with its attached attributes. NULL with DEMUR_ERROR_NOT_FOUND and the
 * names there are. The digest is not computed anew (demur_workspace_verify does that). */
DemurCohort *demur_cohorts_load(DemurWorkspace *workspace, const char *name,
                                const DemurProgress *progress,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same without its embeddings (embedding_width 0), which are most of its bytes: for lists. */
DemurCohort *demur_cohorts_load_facts(DemurWorkspace *workspace, const char *name,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the cohort is, without reading its scans. NULL with DEMUR_ERROR_NOT_FOUND. */
DemurCohortSummary *demur_cohorts_summary(DemurWorkspace *workspace, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurCohortSummary in order of name (owned, frees its elements). */
GPtrArray *demur_cohorts_list(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Why scans (or patients, as the words say) never came into a cohort, and how many. */
typedef struct {
  char *reason;
  size_t n;
} DemurExclusion;

void demur_exclusion_free(DemurExclusion *exclusion);

/* Keeps what was left out before the cohort was made, in place of what was kept before: none (n =
 * 0, or each n 0) says that nothing was. DEMUR_ERROR_NOT_FOUND where there is no such cohort. */
gboolean demur_cohorts_set_exclusions(DemurWorkspace *workspace, const char *name,
                                      const DemurExclusion *exclusions, size_t n,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* *exclusions: array of DemurExclusion in the order they were given (owned, frees its elements);
 * *recorded FALSE: it was never said what was left out. DEMUR_ERROR_NOT_FOUND as above. */
gboolean demur_cohorts_exclusions(DemurWorkspace *workspace, const char *name, gboolean *recorded,
                                  GPtrArray **exclusions, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps what was noticed while its table was read (of DemurTableWarning), in place of what was kept
 * before. DEMUR_ERROR_NOT_FOUND where there is no such cohort. */
gboolean demur_cohorts_set_warnings(DemurWorkspace *workspace, const char *name,
                                    const GPtrArray *warnings,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same read back (owned, frees its elements). Kinds that this program does not know are left
 * out. NULL with DEMUR_ERROR_NOT_FOUND as above. */
GPtrArray *demur_cohorts_warnings(DemurWorkspace *workspace, const char *name,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Adds attribute columns: codes [n_scans] of the cohort's own row order. DEMUR_ERROR_EXISTS where
 * the cohort has a column of that name, unless replace. The digest does not cover attributes and
 * stays. */
gboolean demur_cohorts_attach(DemurWorkspace *workspace, const char *name,
                              const DemurAttribute *attributes, size_t n_attributes,
                              gboolean replace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes the cohort. DEMUR_ERROR_STATE with the reason while selectors, thresholds or verdicts
 * were made from it, unless forced: these then stay and keep its name and digest. */
gboolean demur_cohorts_remove(DemurWorkspace *workspace, const char *name, gboolean force,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
