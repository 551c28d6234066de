/* The work that the window asks for and does not do itself: the application composes it from the
 * same functions as the command line (app/workstation/work.c), so that both give the same answers.
 * Every function runs on a worker's thread and opens the workspace by path. */
#pragma once

#include "base/progress.h"
#include "cohort/cohort.h"
#include "evaluation/evaluation.h"
#include "evaluation/sample.h"
#include "report/report.h"
#include "selector/settings.h"

G_BEGIN_DECLS

/* What an import did. */
typedef struct {
  char *title;  /* series: patient, number, description; skipped: the path */
  char *detail; /* why not, or what to know; NULL: nothing */
} DemurImportLine;

typedef struct {
  GPtrArray *accepted, *rejected, *skipped; /* of DemurImportLine */
  guint n_series;
} DemurImportOutcome;

DemurImportOutcome *demur_import_outcome_new(void);
void demur_import_outcome_add(GPtrArray *lines, char *title, char *detail); /* taken over */
void demur_import_outcome_free(DemurImportOutcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurImportOutcome, demur_import_outcome_free)

/* An attribute that splits the evaluated scans. */
typedef struct {
  char *name; /* "site", "manufacturer", "sex", "age" */
  size_t n_values;
  char **values;  /* [n_values] for people */
  guint32 *codes; /* [n] of the sample's entries */
} DemurStudyGroup;

/* A selector evaluated on a split, and all that the coverage slider needs to do it again at any
 * coverage without the workspace. Immutable once made. */
typedef struct {
  char *selector, *digest, *cohort, *split;
  DemurEvaluation *evaluation;
  const DemurMethodResult *method, *confidence, *full; /* of the same kind of risk; may be NULL */
  DemurCohort *view;                                   /* with the risks that are shown */
  DemurSample *sample;
  double *scores; /* [n] g~ of network 0, in the sample's order */
  guint32 *ranks; /* [n] dense ranks of the scores, 0 the highest */
  size_t n_ranks;
  guint32 *confidence_ranks; /* [n] */
  size_t n_confidence_ranks;
  size_t n_groups;
  DemurStudyGroup *groups;
  double tuned_coverage, tuned_threshold; /* the current threshold; NaN: not tuned */
  size_t n_tune_patients;                 /* of the cohort's split "tune"; 0: there is none */
  char *validation;                       /* JSON of `demur validate`; NULL: not run */
  const DemurReportInput *report;
  gpointer owner; /* what the report input points to */
  GDestroyNotify free_owner;
  gint ref_count;
} DemurStudy;

DemurStudy *demur_study_new(void);
DemurStudy *demur_study_ref(DemurStudy *study);
void demur_study_unref(DemurStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurStudy, demur_study_unref)

/* Accepted scans of the reference cohort with a risk near this one, and what became of them. */
typedef struct {
  double low, high;           /* the band of risk */
  size_t n, n_positive;       /* accepted scans there; those with label 1 */
  double rate_low, rate_high; /* 95 % Wilson interval */
  char *cohort;
} DemurMeaning;
void demur_meaning_free(DemurMeaning *meaning);

/* What one epoch of a training reached. */
typedef struct {
  size_t network; /* from 0 */
  gint64 epoch;
  double loss, mean_auc, worst_auc; /* NaN: not measured */
} DemurTrainingPoint;

typedef struct {
  DemurImportOutcome *(*import)(const char *workspace, char *const *paths,
                                const DemurProgress *progress, GError **error);
  /* Verdicts for every DICOM series, or for the scans of a cohort's split. */
  gboolean (*assess)(const char *workspace, const char *selector, const char *cohort,
                     const char *split, const DemurProgress *progress, GError **error);
  DemurStudy *(*study)(const char *workspace, const char *selector, const char *cohort,
                       const char *split, const DemurProgress *progress, GError **error);
  /* Tunes to the coverage on the split and keeps threshold and reason; returns the sentence that
   * says what is promised. */
  char *(*tune)(const char *workspace, const char *selector, const char *cohort, const char *split,
                double coverage, const char *reason, const char *user,
                const DemurProgress *progress, GError **error);
  /* Trains and keeps the selector. resume: from where a training of that name was cut, by the
   * window or the command line, if one was; its settings must be the same. point is called on the
   * worker's thread for every epoch. */
  gboolean (*train)(const char *workspace, const char *selector, const char *cohort,
                    const DemurTrainSettings *settings, guint64 seed, gboolean resume,
                    void (*point)(const DemurTrainingPoint *point, gpointer data), gpointer data,
                    const DemurProgress *progress, GError **error);
  /* A person's decision that this DICOM series is assessed in place of its study's other ones, kept
   * with the reason and the rules' own verdict; then its verdict, where selector is not NULL. */
  gboolean (*choose)(const char *workspace, const char *scan_id, const char *reason,
                     const char *selector, const DemurProgress *progress, GError **error);
  /* The band of risk around a risk among the accepted scans of the cohort that tuned the selector
   * (labelled, and assessed with it); NULL without error where there is none. */
  DemurMeaning *(*meaning)(const char *workspace, const char *selector, double risk,
                           const DemurProgress *progress, GError **error);
} DemurWork;

G_END_DECLS
