/* The selectors of the workspace: listed, shown, taken out into a file and back in, removed. What
 * takes a name takes a family's, too (tasks/horizons.h): all of its selectors then, or none. */
#pragma once

#include "evaluation/validation.h"
#include "selector/release.h"
#include "selector/selector-bundle.h"
#include "tasks/horizons.h"
#include "tasks/selection.h"

G_BEGIN_DECLS

/* A threshold, with what is promised of it. */
typedef struct {
  double coverage, threshold, realised;
  size_t n_scans, n_patients;
  char *cohort, *split, *created;
  char *guarantee; /* a sentence; NULL: none */
  double margin;   /* selector/coverage.h, demur_tuning_read_margin */
  gboolean current;
} DemurSelectorThreshold;

typedef struct {
  char *name, *cohort, *model, *digest, *created;
  char *family;         /* that holds risks back together (tasks/horizon-family.h); NULL: none */
  double horizon_years; /* of its risks; 0: not recorded */
  gboolean simulated;
  DemurSelector *selector; /* NULL in lists */
  GPtrArray *thresholds;   /* of DemurSelectorThreshold, the oldest first */
  char *validation;        /* whether it helps, a sentence */
  gboolean is_validated;   /* that was looked at: */
  DemurValidationFound validated;
  GPtrArray *warnings; /* of DemurTaskWarning; NULL in lists */
} DemurSelectorFacts;

void demur_selector_facts_free(DemurSelectorFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelectorFacts, demur_selector_facts_free)

/* Array of DemurSelectorFacts by name (owned, frees its elements). */
GPtrArray *demur_task_selectors(DemurTask *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Those that the name stands for, read and checked: one, or all horizons of a family (horizons->n, in
 * their order). Array of DemurSelectorFacts (owned, frees its elements). */
GPtrArray *demur_task_selector_show(DemurTask *task, const char *name, DemurHorizons *horizons,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What its risks are of ("lung cancer"; owned): its document says, or, of before, the cohort that it was
 * trained on. NULL: not known, or name is NULL. */
char *demur_task_selector_outcome(DemurTask *task, const char *name);

/* Its file, canonical JSON, of what may leave (selector/release.h); of a family one file with all of
 * its selectors (selector/selector-bundle.h). The log tells of it before it has its name. written (all
 * zero): what is in it. */
gboolean demur_task_selector_export(DemurTask *task, const char *name, const char *path,
                                    DemurRelease release, DemurSelectorBundle *written,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads a selector's file and keeps what is in it (*read, all zero) under the name, untuned; a
 * family's selectors as NAME-1y .., in one transaction. Refused as by demur_selectors_save; a family
 * too where a family of the name has a horizon that the file lacks, which would then stand beside those
 * of another origin (DEMUR_ERROR_EXISTS); and as by demur_horizons_check_name. */
gboolean demur_task_selector_import(DemurTask *task, const char *name, const char *path,
                                    DemurSelectorReplace replace, DemurSelectorBundle *read,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps a selector that was made of another under the name, untuned; errors as above. */
gboolean demur_task_selector_keep(DemurTask *task, const char *name, DemurSelector *selector,
                                  DemurSelectorReplace replace,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* With its thresholds. *horizons: of a family's name those that went. DEMUR_ERROR_STATE while people
 * made more of it, or of one of the family, unless forced (demur_selectors_remove). */
gboolean demur_task_selector_remove(DemurTask *task, const char *name, gboolean force,
                                    DemurHorizons *horizons,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
