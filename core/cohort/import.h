/* Reading a cohort table (docs/file-formats.md): checked whole, every fault with its line and
 * column, nothing half imported.
 *
 * Columns, in any order: patient_id, site, split, label; risk, or risk_year_6 in its place, or
 * prob_0..prob_{K-1}; scan_id (may be left out when no patient_id repeats); optional
 * emb_0..emb_{d-1}, risk_year_1..risk_year_6; `simulated` (yes or no: a yes anywhere marks the
 * whole cohort as simulated; demur_cohort_export writes it, so that a simulated cohort stays
 * marked). Any other column is kept as attribute. Where risk and risk_year_6 (or risk and prob_1)
 * are both given they must be equal.
 *
 * Where years_to_cancer and years_of_followup both stand and a horizon is asked for, each scan's
 * outcome gets its time from them: label 1 within the horizon, 0 where it was followed as long
 * without, else it was left (no label is needed; given ones must not contradict).
 *
 * Identifiers, sites and splits are taken without blanks at their ends and in composed form
 * (cohort/table-text.h). A patient in two splits is refused in whichever spelling, and so is an
 * identifier of several rows that a spreadsheet has rewritten (1.67683E+15) or that means "not
 * recorded"; other look-alikes are told. Words for "not recorded" count as nothing everywhere else.
 */
#pragma once

#include "base/progress.h"
#include "cohort/cohort.h"
#include "cohort/column-map.h"
#include "cohort/split-maker.h"
#include "cohort/table-warnings.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;            /* of the cohort */
  const char *model;           /* whose risks these are; NULL: DEMUR_MODEL_UNNAMED */
  const char *created;         /* ISO 8601, UTC; NULL: "" */
  const char *embeddings_path; /* .npy [n_scans][d] in place of emb_ columns; NULL: none */
  const char
      *embedding_ids_path; /* scan_ids of the .npy's rows, one a line; NULL: joined by row order */
  DemurColumnMap *columns; /* other names for columns; NULL: none */
  const DemurSplitPlan *splits; /* made in place of a column split; NULL: the column is needed */
  guint64 seed;                 /* of the splits made */
  int horizon_years; /* of label and risk, 1 to 6: the risk is that of risk_year_N; 0: not said */
} DemurImportOptions;

/* NULL with DEMUR_ERROR_INPUT and up to 10 faults, each "line L, column C (NAME): what, what to
 * do", and how many there are in all. *warnings (of DemurTableWarning, owned; may be NULL) gets
 * what was noticed. DEMUR_ERROR_USAGE where options contradict each other. Memory: the cohort's own
 * arrays plus a few bytes a row. O(size of the file). */
DemurCohort *demur_cohort_import(const char *path, const DemurImportOptions *options,
                                 const DemurProgress *progress, GPtrArray **warnings,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Attribute columns read from a table and joined to the cohort by key ("patient_id", "scan_id" or
 * "site"). columns: the ones to take (strv, as map calls them), NULL: all but the key and those that the cohort's own
 * arrays hold. A key twice in the table with different values is refused, with its lines; rows of
 * the cohort without a partner get "". map: other names for columns; NULL: none. */
typedef struct {
  size_t n_attributes;
  DemurAttribute *attributes; /* [n_attributes], codes [n_scans] */
  size_t n_matched;           /* scans of the cohort with a row in the table */
  size_t n_unmatched;         /* scans without */
  size_t n_unused;            /* rows of the table that no scan asked for */
  GPtrArray *warnings;        /* of DemurTableWarning: what was noticed */
} DemurAttached;

DemurAttached *demur_cohort_attach_table(DemurCohort *cohort, const char *path, const char *key,
                                         char **columns, DemurColumnMap *map,
                                         const DemurProgress *progress,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_attached_free(DemurAttached *attached);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAttached, demur_attached_free)

G_END_DECLS
