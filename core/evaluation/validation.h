/* Go / no-go: does a selector help at hospitals that did not train it? docs/method.md, "Beyond
 * the paper", point 5. */
#pragma once

#include "evaluation/evaluate.h"
#include "evaluation/left-out.h"
#include "evaluation/site-context.h"

G_BEGIN_DECLS

typedef struct {
  DemurCompared measure;
  double selector, confidence;  /* point values */
  double difference, low, high; /* selector minus confidence; 95 % bootstrap of the unit */
} DemurValidationMeasure;

typedef struct {
  DemurComparisonVerdict verdict;
  char *sentence;                /* the verdict with its numbers, for people */
  char *cohort, *split, *digest; /* digest of the rows used */
  gboolean simulated;
  guint64 seed;
  size_t n_folds, n_scans, n_patients, n_sites, n_classes;
  DemurUnit unit; /* what the bootstrap resamples: sites, or patients with under 5 sites */
  gboolean confidence_helps; /* keeping the confident is shown to be better than keeping all */
  DemurValidationMeasure measures[DEMUR_N_COMPARED];
  DemurSiteContext *context; /* NULL: not asked for */
} DemurValidation;

void demur_validation_free(DemurValidation *validation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurValidation, demur_validation_free)

/* Trains with the settings on all but one fold of whole sites of the training split in turn, scores
 * the fold that was left out, and compares the out-of-fold scores (as ranks within their fold; those on one
 * scale, confidence and entropy, as they are) with confidence on the out-of-fold risks. "better" only if the 95 % intervals of the S-BCE_2 AUC
 * difference, plain and debiased, lie below 0 and site error is not worse; "worse" the other way
 * round; under 20 sites "cannot be decided"; confidence itself differs by 0: "no difference shown". n_folds >= 2. The validation split trains nothing and
 * is used as in training. site_context: whether what unlabelled scans tell of a site helps is tried too. */
DemurValidation *demur_validate(DemurCohort *cohort, const DemurTrainSettings *settings,
                                guint64 seed, size_t n_folds, gboolean site_context,
                                DemurParallel *parallel, const DemurProgress *progress,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The second half of it: the comparison, where every fold is done (evaluation/left-out.h). */
DemurValidation *demur_validation_of(DemurCohort *cohort, const DemurTrainSettings *settings,
                                     const DemurLeftOut *left_out, gboolean site_context,
                                     DemurParallel *parallel, const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The document kept with the selector; members into an open object. Its verdict and sentence read
 * back (owned), NULL where there is none. */
void demur_validation_write_json(const DemurValidation *validation, DemurJson *json);
char *demur_validation_read_sentence(const char *json);

/* What it came to. */
typedef struct {
  DemurComparisonVerdict verdict;
  gboolean confidence_helps; /* FALSE also where the document of an older program does not say */
  gboolean confidence_told;  /* it does */
  size_t n_scans, n_sites;
} DemurValidationFound;

/* FALSE where there is none. */
gboolean demur_validation_read_found(const char *json, DemurValidationFound *found);

G_END_DECLS
