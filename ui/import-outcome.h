/* What an import did, for people. */
#pragma once

#include "tasks/intake.h"

G_BEGIN_DECLS

typedef struct {
  char *title;  /* series: patient, number, description; skipped: the path */
  char *detail; /* why not, or what to know; NULL: nothing */
} DemurImportLine;

typedef struct {
  GPtrArray *accepted, *rejected, *skipped; /* of DemurImportLine */
  guint n_series;
  guint n_unchanged; /* files whose headers alone were read */
  char **paths;      /* that were imported */
} DemurImportOutcome;

/* paths are copied. */
DemurImportOutcome *demur_import_outcome_new(const DemurIntake *intake, char *const *paths);
void demur_import_outcome_free(DemurImportOutcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurImportOutcome, demur_import_outcome_free)

/* That unchanged files were not read whole (owned); NULL where there were none. */
char *demur_import_outcome_unchanged(const DemurImportOutcome *outcome);

G_END_DECLS
