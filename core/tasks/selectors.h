/* The selectors of the workspace: listed, shown, taken out into a file and back in, removed. */
#pragma once

#include "selector/release.h"
#include "tasks/selection.h"

G_BEGIN_DECLS

/* A threshold, with what is promised of it. */
typedef struct {
  double coverage, threshold, realised;
  size_t n_scans, n_patients;
  char *cohort, *split, *created;
  char *guarantee; /* a sentence; NULL: none */
  gboolean current;
} DemurSelectorThreshold;

typedef struct {
  char *name, *cohort, *model, *digest, *created;
  gboolean simulated;
  DemurSelector *selector; /* NULL in lists */
  GPtrArray *thresholds;   /* of DemurSelectorThreshold, the oldest first */
  char *validation;        /* whether it helps, a sentence */
  GPtrArray *warnings;     /* of DemurTaskWarning; NULL in lists */
} DemurSelectorFacts;

void demur_selector_facts_free(DemurSelectorFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelectorFacts, demur_selector_facts_free)

/* Array of DemurSelectorFacts by name (owned, frees its elements). */
GPtrArray *demur_task_selectors(DemurTask *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One of them, read and checked. */
DemurSelectorFacts *demur_task_selector_show(DemurTask *task, const char *name,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What its risks are of ("lung cancer"; owned): its document says, or, of before, the cohort that it was
 * trained on. NULL: not known, or name is NULL. */
char *demur_task_selector_outcome(DemurTask *task, const char *name);

/* Its file, canonical JSON, of what may leave (selector/release.h). Returns the selector that was
 * written. */
DemurSelector *demur_task_selector_export(DemurTask *task, const char *name, const char *path,
                                          DemurRelease release,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads a selector's file and keeps it under the name, untuned. Refused as
 * by demur_selectors_save. */
DemurSelector *demur_task_selector_import(DemurTask *task, const char *name, const char *path,
                                          DemurSelectorReplace replace,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* With its thresholds. DEMUR_ERROR_STATE while people made more of it, unless forced
 * (demur_selectors_remove). */
gboolean demur_task_selector_remove(DemurTask *task, const char *name, gboolean force,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
