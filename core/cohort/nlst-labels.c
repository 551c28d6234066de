/* What a person's days say of a screen: its case, its label, and until when it was seen. */
#include "cohort/nlst-private.h"

#include <math.h>

int
demur_nlst_horizon_days(int years) {
  return (int)ceil(365.25 * years);
}

DemurNlstCase
demur_nlst_case(const DemurNlstPerson *person, int screen, int horizon) {
  if (person->cancer != DEMUR_NLST_NOT_RECORDED)
    return person->cancer < screen             ? DEMUR_NLST_CANCER_BEFORE
           : person->cancer - screen < horizon ? DEMUR_NLST_CANCER
                                               : DEMUR_NLST_CANCER_LATER;
  if (person->followup != DEMUR_NLST_NOT_RECORDED && person->followup - screen >= horizon)
    return DEMUR_NLST_FOLLOWED;
  if (person->death != DEMUR_NLST_NOT_RECORDED && person->death - screen < horizon)
    return DEMUR_NLST_DEATH;
  return person->followup == DEMUR_NLST_NOT_RECORDED ? DEMUR_NLST_UNKNOWN : DEMUR_NLST_CENSORED;
}

int
demur_nlst_label(DemurNlstCase which, const DemurNlstOptions *options) {
  switch (which) {
  case DEMUR_NLST_CANCER:
    return 1;
  case DEMUR_NLST_FOLLOWED:
  case DEMUR_NLST_CANCER_LATER:
    return 0;
  case DEMUR_NLST_DEATH:
    return options->death_event_free ? 0 : -1;
  case DEMUR_NLST_CENSORED:
  case DEMUR_NLST_UNKNOWN:
    return options->short_followup == DEMUR_SHORT_EVENT_FREE ? 0 : -1;
  default:
    return -1;
  }
}

void
demur_nlst_count_cases(const DemurNlstPerson *person, int screen, DemurNlstCounts *counts) {
  for (int h = 1; h <= DEMUR_N_YEARS; h++) {
    DemurNlstCases *c = &counts->cases[h - 1];
    size_t *counters[] = {&c->n_cancer, &c->n_followed, &c->n_cancer_later,    &c->n_cancer_before,
                          &c->n_death,  &c->n_censored, &c->n_followup_unknown};
    (*counters[demur_nlst_case(person, screen, demur_nlst_horizon_days(h))])++;
  }
}

DemurNlstSeen
demur_nlst_seen(const DemurNlstPerson *person, int screen, int horizon,
                const DemurNlstOptions *options) {
  if (person->cancer != DEMUR_NLST_NOT_RECORDED)
    return (DemurNlstSeen){MIN(person->cancer - screen, horizon), FALSE};
  const int until_lost =
      person->followup != DEMUR_NLST_NOT_RECORDED ? person->followup - screen : 0;
  const int until_death =
      person->death != DEMUR_NLST_NOT_RECORDED ? person->death - screen : G_MAXINT;
  if (until_lost >= horizon || (until_death < horizon && options->death_event_free))
    return (DemurNlstSeen){horizon, FALSE};
  return (DemurNlstSeen){CLAMP(MIN(until_death, until_lost), 0, horizon), TRUE};
}

static int
compare_seen(gconstpointer a, gconstpointer b) {
  const DemurNlstSeen *x = a, *y = b;
  return x->days != y->days ? (x->days < y->days ? -1 : 1) : 0;
}

double *
demur_nlst_uncensored(GArray *seen, int horizon) {
  double *kept = g_new(double, (size_t)horizon + 1);
  g_array_sort(seen, compare_seen);
  double share = 1.0;
  guint i = 0;
  for (int day = 0; day <= horizon; day++) {
    kept[day] = share;
    const guint n_at_risk = seen->len - i;
    guint n_lost = 0;
    for (; i < seen->len && g_array_index(seen, DemurNlstSeen, i).days == day; i++)
      n_lost += g_array_index(seen, DemurNlstSeen, i).censored ? 1 : 0;
    if (n_at_risk > 0)
      share *= 1.0 - (double)n_lost / (double)n_at_risk;
  }
  return kept;
}

void
demur_nlst_add_outcome(DemurCohortBuilder *builder, const DemurNlstPerson *person, int screen,
                       int horizon_years, DemurNlstCase which, const DemurNlstOptions *options) {
  const int horizon = demur_nlst_horizon_days(horizon_years);
  DemurStatus status = DEMUR_STATUS_CENSORED;
  int days = person->followup != DEMUR_NLST_NOT_RECORDED ? MAX(person->followup - screen, 0) : 0;
  if (which == DEMUR_NLST_CANCER || which == DEMUR_NLST_CANCER_LATER) {
    status = DEMUR_STATUS_EVENT;
    days = person->cancer - screen;
  } else if (which == DEMUR_NLST_DEATH) {
    status = options->death_event_free ? DEMUR_STATUS_COMPETING : DEMUR_STATUS_CENSORED;
    days = MAX(person->death - screen, 0);
    if (!options->death_event_free && person->followup != DEMUR_NLST_NOT_RECORDED)
      days = MIN(days, MAX(person->followup - screen, 0));
  }
  demur_cohort_builder_outcome(builder, (double)days * horizon_years / horizon, status,
                               (double)horizon_years);
}
