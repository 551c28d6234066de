/* Evaluating selectors of the workspace: what `evaluate` and `report` share. */
#pragma once

#include "app/cli/selection.h"
#include "store/audits.h"
#include "store/cohorts.h"

G_BEGIN_DECLS

typedef struct {
  char *cohort, *split, *resample_unit;
  char *n_resamples, *n_bootstrap, *bin_size; /* as written; NULL: the usual */
  char **group_by; /* NULL-terminated, each one name or several with commas; may be NULL */
  char *net_benefit_threshold;
  gboolean usual_groups; /* where group_by is NULL: by site, and by scanner where it is recorded */
  gboolean in_sample;
} DemurCliEvaluationOptions;

#define DEMUR_CLI_EVALUATION_ENTRIES(options)                                                       \
  {"cohort", 'c', 0, G_OPTION_ARG_STRING, &(options).cohort, "cohort to evaluate on", "C"},         \
      {"split", 0, 0, G_OPTION_ARG_STRING, &(options).split, "its split (test)", "SPLIT"},          \
      {"resamples", 0, 0, G_OPTION_ARG_STRING, &(options).n_resamples, "resamples a model (5)",     \
       "N"},                                                                                        \
      {"resample-unit",                                                                             \
       0,                                                                                           \
       0,                                                                                           \
       G_OPTION_ARG_STRING,                                                                         \
       &(options).resample_unit,                                                                    \
       "what a resample draws: scan, patient or site (scan)",                                       \
       "UNIT"},                                                                                     \
      {"bootstrap",                                                                                 \
       0,                                                                                           \
       0,                                                                                           \
       G_OPTION_ARG_STRING,                                                                         \
       &(options).n_bootstrap,                                                                      \
       "replicates for intervals (1000)",                                                           \
       "N"},                                                                                        \
      {"bin-size", 0, 0, G_OPTION_ARG_STRING, &(options).bin_size, "fewest scans a bin (25)", "N"}, \
  {                                                                                                 \
    "in-sample", 0, 0, G_OPTION_ARG_NONE, &(options).in_sample,                                     \
        "allow scans that made the selector; printed on every result", NULL                         \
  }

/* What else can be asked for, where the command shows it. */
#define DEMUR_CLI_MEASURE_ENTRIES(options)                                                         \
  {"group-by",                                                                                     \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING_ARRAY,                                                                      \
   &(options).group_by,                                                                            \
   "results by site, scanner, shift or an attribute too; may be given several times",              \
   "NAME"},                                                                                        \
  {                                                                                                \
    "net-benefit-threshold", 0, 0, G_OPTION_ARG_STRING, &(options).net_benefit_threshold,          \
        "risk from which on a scan would be treated (the split's prevalence)", "R"                 \
  }

/* Everything that was loaded, and the result. */
typedef struct {
  size_t n_selectors;
  DemurSelector **selectors;
  DemurSelectorRecord **records;
  char **names;           /* borrowed */
  GPtrArray **thresholds; /* [n_selectors] of DemurThresholdRecord, by growing sequence */
  GPtrArray *audits;      /* of DemurAuditRecord: those of the first selector, by name of site */
  DemurCohort *cohort;
  gboolean exclusions_recorded;
  GPtrArray *exclusions; /* of DemurExclusion: what was left out before the cohort was made */
  DemurEvaluation *evaluation;
  size_t n_bootstrap;          /* replicates that were asked for */
  char *group_by;              /* names with commas between; NULL: none */
  char *net_benefit_threshold; /* as asked; NULL: the usual */
  gboolean allow_in_sample;    /* as asked; whether it was needed: evaluation->in_sample */
} DemurCliEvaluation;

/* names: NULL-terminated, at least one. options' texts are freed. */
gboolean demur_cli_evaluate(DemurContext *context, char **names, DemurCliEvaluationOptions *options,
                            DemurCliEvaluation *evaluation,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_cli_evaluation_clear(DemurCliEvaluation *evaluation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurCliEvaluation, demur_cli_evaluation_clear)

G_END_DECLS
