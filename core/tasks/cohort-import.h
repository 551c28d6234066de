/* A cohort from outside into the workspace: from a table, or from the NLST's tables. */
#pragma once

#include "tasks/task.h"
#include "cohort/column-map.h"
#include "cohort/nlst.h"
#include "cohort/table-warnings.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;             /* of the cohort */
  const char *model;            /* whose risks these are; NULL: DEMUR_MODEL_UNNAMED */
  const char *outcome;          /* what a label 1 means; NULL: not said */
  const char *table;            /* the cohort's table, "-": standard input; NULL: NLST tables */
  const char *persons, *scores; /* NLST: both */
  const char *images;           /* NLST: their table of images, or NULL */
  const char *embeddings,
      *embedding_ids;  /* a table's: .npy and the scan_ids of its rows; or NULL */
  const char *columns; /* a table that says which column is which (cohort/column-map.h); or NULL */
  DemurColumnMap *mapping; /* or what a person said of them; borrowed, NULL: nothing */
  const char *split_by;    /* splits to be made (cohort/split-maker.h); or NULL */
  gboolean replace;        /* a cohort of that name, where nothing was made from it
                                       * or it is the same rows of a model that nobody named */
  const char *split;       /* NLST: of every scan; NULL: the column, or selector_train */
  int horizon_years;       /* of label and risk, 1 to 6; 0: NLST 6, a table's own */
  gboolean
      keeps_horizon; /* horizon_years was proposed, not chosen: in place of a cohort whose model nobody named
                           * the table's own is read, as that one's was */
  DemurShortFollowup short_followup;  /* NLST: cohort/nlst.h */
  gboolean death_event_free, weights; /* NLST: cohort/nlst.h */
} DemurCohortImportParams;

typedef struct {
  DemurCohort *cohort;
  char *digest;
  GPtrArray *warnings; /* of DemurTableWarning: what was noticed; kept with the cohort */
  gboolean is_nlst;
  DemurNlstCounts nlst;
} DemurCohortImported;

/* Reads and keeps it, with what was noticed and what was left out, all or nothing. imported: all
 * zero. */
gboolean demur_task_cohort_import(DemurTask *task, const DemurCohortImportParams *params,
                                  DemurCohortImported *imported,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_cohort_imported_clear(DemurCohortImported *imported);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurCohortImported, demur_cohort_imported_clear)

G_END_DECLS
