/*   sums of all sites = the sum of their sums, in the order of the round's sites
 *
 * Recalibration and corrector take Newton's steps with them (metrics/newton.h), penalties added once: the
 * steps of the fit of pooled scans, to the rounding of sums. An evaluation's groups are joined: cells that
 * any site tells only together are together, so every sum is whole, over the finest bins that all sites
 * told. Random effects: DerSimonian and Laird 1986 (metrics/heterogeneity.h). O(sites x numbers). */
#include "evaluation/federate-merge.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "selector/corrector.h"

#define MOST_ROUNDS 100 /* of a temperature of more classes, as in the fit of pooled scans */

/* ---- whose answers ---- */

static gboolean
is_among(char *const *names, const char *name) {
  return names != NULL && g_strv_contains((const char *const *)names, name);
}

static gboolean
check_without(const DemurFederateRound *round, char *const *without, GError **error) {
  for (char *const *name = without; name != NULL && *name != NULL; name++)
    if (!is_among(round->sites, *name)) {
      demur_error_set(error, DEMUR_ERROR_USAGE, "'%s' is left out, and was not asked", *name);
      return FALSE;
    }
  return TRUE;
}

/* The site's answer; *index untouched where it is left out. */
static gboolean
find_answer(const char *site, DemurFederateAnswer *const *answers, char *const *paths, size_t n,
            char *const *without, size_t *index, GError **error) {
  const gboolean left_out = is_among(without, site);
  gssize found = -1;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(answers[i]->site, site) != 0)
      continue;
    if (found >= 0) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s: '%s' answers in %s already", paths[i], site,
                      paths[found]);
      return FALSE;
    }
    found = (gssize)i;
  }
  if (left_out && found >= 0 && !answers[found]->withheld) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "%s: '%s' is left out, and answers", paths[found],
                    site);
  } else if (!left_out && found < 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "'%s' does not answer: wait for it, or leave it out by --without", site);
  } else if (!left_out && answers[found]->withheld) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: '%s' withholds its sums, which are of few scans: leave it out by --without",
        paths[found], site);
  } else {
    if (!left_out)
      *index = (size_t)found;
    return TRUE;
  }
  return FALSE;
}

static gboolean
are_alike(const DemurFederateAnswer *a, const DemurFederateAnswer *b) {
  if (a->n != b->n || a->n_sums != b->n_sums || a->n_groups != b->n_groups ||
      (a->n_sums > 0 && memcmp(a->sums, b->sums, a->n_sums * sizeof *a->sums) != 0))
    return FALSE;
  for (size_t g = 0; g < a->n_groups; g++) {
    const DemurFederateGroup *x = &a->groups[g], *y = &b->groups[g];
    if (x->n != y->n || x->positives != y->positives || x->risks != y->risks ||
        x->squares != y->squares)
      return FALSE;
  }
  return TRUE;
}

/* Sums to the last digit are those of the same scans, under another name. */
static gboolean
check_apart(const DemurFederateAnswer *const *found, size_t n, GError **error) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = 0; k < i; k++)
      if (are_alike(found[k], found[i])) {
        demur_error_set(error, DEMUR_ERROR_INPUT,
                        "'%s' and '%s' answer with the same sums: the same scans would count "
                        "twice; leave one of them out by --without",
                        found[k]->site, found[i]->site);
        return FALSE;
      }
  return TRUE;
}

/* The answers that count, in the order of the round's sites (owned array), *names theirs (owned). */
static const DemurFederateAnswer **
answers_of(const DemurFederateRound *round, DemurFederateAnswer *const *answers, char *const *paths,
           size_t n_answers, char *const *without, char ***names, GError **error) {
  if (!check_without(round, without, error))
    return NULL;
  const size_t n_sites = g_strv_length(round->sites);
  g_autofree const DemurFederateAnswer **found = g_new0(const DemurFederateAnswer *, n_sites + 1);
  g_auto(GStrv) of = g_new0(char *, n_sites + 1);
  size_t n = 0;
  for (size_t s = 0; s < n_sites; s++) {
    size_t index = n_answers;
    if (!find_answer(round->sites[s], answers, paths, n_answers, without, &index, error))
      return NULL;
    if (index == n_answers)
      continue;
    of[n] = g_strdup(round->sites[s]);
    found[n++] = answers[index];
  }
  if (n < 2) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "fewer than two sites are left: what one has, it computes by itself");
    return NULL;
  }
  if (!check_apart(found, n, error))
    return NULL;
  *names = g_steal_pointer(&of);
  return g_steal_pointer(&found);
}

static gboolean
is_simulated(const DemurFederateAnswer **answers) {
  gboolean any = FALSE;
  for (size_t s = 0; answers[s] != NULL; s++)
    any = any || answers[s]->simulated;
  return any;
}

/* ---- evaluation ---- */

/* Sets by union: the smallest member stands for its set. */
static size_t
set_of(size_t *sets, size_t i) {
  while (sets[i] != i)
    i = sets[i] = sets[sets[i]];
  return i;
}

static void
join(size_t *sets, size_t i, size_t k) {
  const size_t a = set_of(sets, i), b = set_of(sets, k);
  sets[MAX(a, b)] = MIN(a, b);
}

static size_t *
own_sets(size_t n) {
  size_t *sets = g_new(size_t, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    sets[i] = i;
  return sets;
}

/* Sums [n_cells][4] over all sites, each group's in the cell that stands for the set it is in. */
typedef struct {
  size_t n_bands, n_bins;
  size_t *sets; /* [n_cells] */
  double *sums;
} Pooled;

static void
pooled_clear(Pooled *pooled) {
  g_free(pooled->sets);
  g_free(pooled->sums);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pooled, pooled_clear)

static void
pool(const DemurFederateRound *round, const DemurFederateAnswer **answers, Pooled *pooled) {
  pooled->n_bands = round->n_thresholds + 1;
  pooled->n_bins = round->n_edges + 1;
  const size_t n_cells = pooled->n_bands * pooled->n_bins;
  pooled->sets = own_sets(n_cells);
  pooled->sums = g_new0(double, 4 * n_cells);
  for (size_t s = 0; answers[s] != NULL; s++)
    for (size_t g = 0; g < answers[s]->n_groups; g++) {
      const DemurFederateGroup *group = &answers[s]->groups[g];
      for (size_t c = 1; c < group->n_cells; c++)
        join(pooled->sets, group->cells[0], group->cells[c]);
    }
  for (size_t s = 0; answers[s] != NULL; s++)
    for (size_t g = 0; g < answers[s]->n_groups; g++) {
      const DemurFederateGroup *group = &answers[s]->groups[g];
      if (group->n_cells == 0)
        continue;
      double *sums = pooled->sums + 4 * set_of(pooled->sets, group->cells[0]);
      sums[0] += group->n;
      sums[1] += group->positives;
      sums[2] += group->risks;
      sums[3] += group->squares;
    }
}

static void
measure_bins(const double *bins, size_t n_bins, DemurFederatePoint *point) {
  double sum1 = 0.0, sum2 = 0.0, debiased = 0.0;
  point->sbceinf = 0.0;
  for (size_t b = 0; b < n_bins; b++) {
    const double n = bins[4 * b];
    if (!(n > 0.0))
      continue;
    const double observed = bins[4 * b + 1] / n, gap = fabs(observed - bins[4 * b + 2] / n);
    point->n_bins++;
    sum1 += n * gap;
    sum2 += n * gap * gap;
    debiased += n * (gap * gap - observed * (1.0 - observed) / (n - 1.0));
    point->sbceinf = fmax(point->sbceinf, gap);
  }
  point->sbce1 = sum1 / point->n;
  point->sbce2 = sqrt(sum2 / point->n);
  point->debiased2 = debiased / point->n;
}

/* The scans of the first n_bands bands. */
static void
measure_point(const Pooled *pooled, size_t n_bands, const double *all, DemurFederatePoint *point) {
  const size_t n_bins = pooled->n_bins, end = n_bands * n_bins, n_cells = pooled->n_bands * n_bins;
  g_autofree size_t *bins = own_sets(n_bins);
  g_autofree double *sums = g_new0(double, 4 * n_bins);
  for (size_t c = 0; c < n_cells; c++) {
    const size_t first = set_of(pooled->sets, c);
    if (first < end && c >= end)
      return; /* told only together with scans on the other side */
    if (c < end)
      join(bins, c % n_bins, first % n_bins);
  }
  double total[4] = {0.0, 0.0, 0.0, 0.0};
  for (size_t c = 0; c < end; c++)
    for (size_t k = 0; k < 4; k++) {
      sums[4 * set_of(bins, c % n_bins) + k] += pooled->sums[4 * c + k];
      total[k] += pooled->sums[4 * c + k];
    }
  point->told = TRUE;
  point->n = total[0];
  point->coverage = total[0] / all[0];
  point->positives = total[1];
  point->expected = total[2];
  point->oe_ratio = total[2] > 0.0 ? total[1] / total[2] : NAN;
  point->brier = total[3] / total[0];
  point->refused[0] = 1.0 - (total[0] - total[1]) / (all[0] - all[1]);
  point->refused[1] = 1.0 - total[1] / all[1];
  measure_bins(sums, n_bins, point);
}

static void
measure_points(const DemurFederateRound *round, const DemurFederateAnswer **answers,
               DemurFederateResult *result) {
  g_auto(Pooled) pooled = {0};
  pool(round, answers, &pooled);
  double all[4] = {0.0, 0.0, 0.0, 0.0};
  for (size_t c = 0; c < pooled.n_bands * pooled.n_bins; c++)
    for (size_t k = 0; k < 4; k++)
      all[k] += pooled.sums[4 * c + k];
  result->n_points = pooled.n_bands;
  result->points = g_new0(DemurFederatePoint, result->n_points);
  for (size_t t = 0; t < result->n_points; t++) {
    DemurFederatePoint *point = &result->points[t];
    *point = (DemurFederatePoint){.n = NAN,
                                  .coverage = NAN,
                                  .positives = NAN,
                                  .expected = NAN,
                                  .oe_ratio = NAN,
                                  .brier = NAN,
                                  .sbce1 = NAN,
                                  .sbce2 = NAN,
                                  .sbceinf = NAN,
                                  .debiased2 = NAN,
                                  .refused = {NAN, NAN}};
    point->threshold = t < round->n_thresholds ? round->thresholds[t] : NAN;
    measure_point(&pooled, t + 1, all, point);
  }
}

/* ---- the others ---- */

static void
measure_sites(const DemurFederateAnswer **answers, const double *sums,
              DemurFederateResult *result) {
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double)),
                    errors = g_array_new(FALSE, FALSE, sizeof(double));
  for (size_t s = 0; answers[s] != NULL; s++) {
    const double value = answers[s]->sums[0] / answers[s]->sums[1],
                 spread = sqrt(answers[s]->sums[2]) / answers[s]->sums[1];
    g_array_append_val(values, value);
    g_array_append_val(errors, spread);
  }
  result->difference = sums[0] / result->n;
  result->variance = sums[1];
  result->by_patient = sums[2];
  result->z = sums[0] / sqrt(sums[2]);
  result->sites_differ =
      demur_heterogeneity((double *)values->data, (double *)errors->data, values->len);
}

/* Takes the step. TRUE where it was the last. */
static gboolean
step(const DemurFederateRound *round, const double *sums, DemurNewton *newton) {
  if (round->n_classes > 2) {
    const gboolean last = !demur_recalibration_temperature_step(newton->at, sums[0], sums[1]);
    newton->ending = !(sums[1] > 0.0) ? DEMUR_NEWTON_SINGULAR
                     : last           ? DEMUR_NEWTON_CONVERGED
                                      : DEMUR_NEWTON_STEPS;
    return last || round->number >= MOST_ROUNDS;
  }
  double penalty = round->lambda, intercept_penalty = DEMUR_CORRECTOR_INTERCEPT_PENALTY;
  if (round->study == DEMUR_FEDERATE_RECALIBRATION) {
    const DemurOffsetLogistic problem = demur_recalibration_problem(round->kind);
    penalty = problem.penalty;
    intercept_penalty = problem.intercept_penalty;
  }
  newton->state = DEMUR_NEWTON_VALUE;
  demur_offset_logistic_take(newton, sums, penalty, intercept_penalty);
  return newton->state == DEMUR_NEWTON_ENDED;
}

static void
take_coefficients(const DemurFederateRound *round, const DemurNewton *newton,
                  DemurFederateResult *result) {
  const size_t d = newton->m - 1;
  result->ending = newton->ending;
  result->slope = 1.0;
  result->intercept = newton->at[d];
  if (round->study == DEMUR_FEDERATE_CORRECTOR) {
    result->lambda = round->lambda;
    result->n_weights = d;
    result->weights = g_memdup2(newton->at, MAX(d, 1) * sizeof(double));
    result->inputs = g_new(guint32, MAX(d, 1));
    for (size_t c = 0; c < d; c++)
      result->inputs[c] = round->inputs[c];
  } else if (round->kind != DEMUR_RECALIBRATION_INTERCEPT) {
    result->slope = newton->at[0];
    if (round->kind == DEMUR_RECALIBRATION_TEMPERATURE)
      result->intercept = 0.0;
  }
}

/* The round behind this one, of sites (taken over) and with newton (taken over). */
static DemurFederateRound *
next_of(const DemurFederateRound *round, char **sites, DemurNewton *newton) {
  DemurFederateRound *next = g_new0(DemurFederateRound, 1);
  *next = (DemurFederateRound){.study = round->study,
                               .kind = round->kind,
                               .selector = g_strdup(round->selector),
                               .n_classes = round->n_classes,
                               .number = round->number + 1,
                               .first = g_strdup(demur_federate_round_identity(round)),
                               .sites = sites,
                               .lambda = round->lambda,
                               .newton = newton};
  if (round->study == DEMUR_FEDERATE_CORRECTOR)
    demur_federate_round_set_inputs(next, round->width, round->inputs, round->n_inputs);
  return next;
}

static DemurFederateResult *
result_of(const DemurFederateRound *round, const DemurFederateAnswer **answers,
          char *const *sites) {
  DemurFederateResult *result = g_new0(DemurFederateResult, 1);
  *result = (DemurFederateResult){.study = round->study,
                                  .kind = round->kind,
                                  .selector = g_strdup(round->selector),
                                  .first = g_strdup(demur_federate_round_identity(round)),
                                  .sites = g_strdupv((char **)sites),
                                  .n_rounds = round->number};
  result->simulated = round->simulated || is_simulated(answers);
  for (size_t s = 0; answers[s] != NULL; s++)
    result->n += (double)answers[s]->n;
  return result;
}

gboolean
demur_federate_merge(const DemurFederateRound *round, DemurFederateAnswer *const *answers,
                     char *const *paths, size_t n_answers, char *const *without,
                     DemurFederateRound **next, DemurFederateResult **result, GError **error) {
  *next = NULL;
  *result = NULL;
  g_auto(GStrv) sites = NULL;
  g_autofree const DemurFederateAnswer **counted =
      answers_of(round, answers, paths, n_answers, without, &sites, error);
  if (counted == NULL)
    return FALSE;
  const gboolean fewer = g_strv_length(sites) < g_strv_length(round->sites);
  if (round->newton != NULL && fewer && round->newton->begun) {
    *next = next_of(round, g_steal_pointer(&sites), demur_newton_copy(round->newton));
    demur_federate_round_restart(*next);
    return TRUE;
  }
  const size_t n_sums = demur_federate_n_sums(round);
  g_autofree double *sums = g_new0(double, MAX(n_sums, 1));
  for (size_t s = 0; counted[s] != NULL; s++)
    for (size_t i = 0; i < n_sums; i++)
      sums[i] += counted[s]->sums[i];
  g_autoptr(DemurNewton) newton = round->newton != NULL ? demur_newton_copy(round->newton) : NULL;
  if (newton != NULL && !step(round, sums, newton)) {
    newton->begun = TRUE;
    *next = next_of(round, g_steal_pointer(&sites), g_steal_pointer(&newton));
    (*next)->simulated = round->simulated || is_simulated(counted);
    return TRUE;
  }
  if (newton != NULL && newton->ending == DEMUR_NEWTON_SINGULAR) {
    demur_error_set(error, DEMUR_ERROR_NUMERIC,
                    "the sums of these sites determine no coefficients: their second derivatives "
                    "are not positive");
    return FALSE;
  }
  *result = result_of(round, counted, sites);
  if (newton != NULL)
    take_coefficients(round, newton, *result);
  else if (round->study == DEMUR_FEDERATE_AUDIT)
    measure_sites(counted, sums, *result);
  else
    measure_points(round, counted, *result);
  return TRUE;
}
