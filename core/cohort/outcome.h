/* What label 1 of a cohort says: one answer for the window, the report, the patient's page and the
 * objects that go out. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* Times of outcomes are years. What lies beyond a life is of another unit (days, as a rule), and is
 * refused; what is longer than any screening was followed may be (months), and is told. */
#define DEMUR_MOST_YEARS 150.0
#define DEMUR_LONG_YEARS 30.0

typedef enum {
  DEMUR_OUTCOME_LABEL,  /* not recorded what it is */
  DEMUR_OUTCOME_NAMED,  /* the cohort names it: "stroke" */
  DEMUR_OUTCOME_CANCER, /* cancer within some years: the cohort tells the years to it */
  DEMUR_OUTCOME_RIGHT,  /* several classes: the predicted one was right */
} DemurOutcomeKind;

typedef struct {
  DemurOutcomeKind kind;
  const char *name;     /* of a named one, borrowed of the cohort; else NULL */
  double horizon_years; /* within which; 0: outcomes have no times */
} DemurOutcome;

/* A name that the cohort gives goes before what its columns are called. */
DemurOutcome demur_outcome_of_cohort(const DemurCohort *cohort);

/* What is predicted, as a noun: "stroke", "lung cancer"; NULL: not recorded. Borrowed. */
const char *demur_outcome_noun(const DemurOutcome *outcome);

G_END_DECLS
