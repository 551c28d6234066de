/* An external model's scores from a file, joined to the DICOM series of the workspace by key. */
#pragma once

#include "tasks/task.h"
#include "cohort/column-map.h"

G_BEGIN_DECLS

typedef struct {
  const char *path;    /* a table, or JSON as in scores-json.h */
  const char *model;   /* whose scores these are */
  const char *scan_id; /* path is JSON with one score, of this scan; NULL: the file says which */
  const char *map;     /* .. a table says which item belongs to which scan; NULL */
  const char *columns; /* a table with other names for the table's columns; NULL: none */
  gboolean replace;    /* scores of that model that differ */
  const char *model_version; /* of those that say none of their own; NULL: not recorded */
  double horizon_years;      /* of a risk without yearly ones beside it; 0: not recorded */
  DemurColumnMap *mapping; /* what a person said of the table's columns; borrowed, NULL: nothing */
} DemurScoresImportParams;

typedef struct {
  GPtrArray *scan_ids;   /* char *: what was paired */
  GPtrArray *unmatched;  /* keys of no series */
  GPtrArray *ambiguous;  /* sentences */
  GPtrArray *mismatched; /* sentences: it says of itself another patient or series */
  GPtrArray *mangled;    /* sentences: identifiers that a spreadsheet seems to have changed */
  GPtrArray *warnings;   /* of DemurTableWarning: noticed in the table or document */
  size_t n_new, n_replaced, n_same; /* of the paired ones */
} DemurScoresImported;

/* All that was paired is kept, or nothing. DEMUR_ERROR_INPUT with line and column, or item, for
 * what is wrong in the file; DEMUR_ERROR_EXISTS for scores that differ without replace. */
DemurScoresImported *demur_task_scores_import(DemurTask *task,
                                              const DemurScoresImportParams *params,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_scores_imported_free(DemurScoresImported *imported);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScoresImported, demur_scores_imported_free)

G_END_DECLS
