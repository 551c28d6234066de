#include "cohort/outcome.h"

#include <math.h>

#include "base/translate.h"

DemurOutcome
demur_outcome_of_cohort(const DemurCohort *cohort) {
  if (cohort->n_classes > 2)
    return (DemurOutcome){.kind = DEMUR_OUTCOME_RIGHT};
  const double horizon = demur_cohort_horizon(cohort);
  const double years = isfinite(horizon) ? horizon : cohort->horizon_years;
  if (cohort->outcome != NULL && *cohort->outcome != '\0')
    return (DemurOutcome){DEMUR_OUTCOME_NAMED, cohort->outcome, years};
  if (demur_cohort_find_attribute(cohort, "years_to_cancer") < 0)
    return (DemurOutcome){DEMUR_OUTCOME_LABEL, NULL, years};
  return (DemurOutcome){DEMUR_OUTCOME_CANCER, NULL, years > 0.0 ? years : DEMUR_N_YEARS};
}

const char *
demur_outcome_noun(const DemurOutcome *outcome) {
  switch (outcome->kind) {
  case DEMUR_OUTCOME_NAMED:
    return outcome->name;
  case DEMUR_OUTCOME_CANCER:
    return N_("lung cancer");
  case DEMUR_OUTCOME_LABEL:
  case DEMUR_OUTCOME_RIGHT:
    return NULL;
  }
  g_return_val_if_reached(NULL);
}
