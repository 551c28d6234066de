#include "evaluation/site-context.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/random.h"
#include "features/acquisition.h"
#include "metrics/offset-logistic.h"
#include "metrics/site-prior.h"

#define MOST_FEATURES 32
#define MOST_SHARES 3 /* values of a category that have a share each */
#define N_BOOTSTRAP 1000
#define NO_PENALTY INFINITY /* w = 0 */

static const double penalties[] = {NO_PENALTY, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0};
static const size_t step_labels[DEMUR_CONTEXT_STEPS] = {0, 10, 20, DEMUR_CONTEXT_LABELS};

/* The scans with a label; sites are numbered anew. */
typedef struct {
  const DemurCohort *cohort;
  size_t n, n_sites, n_folds;
  guint32 *rows, *sites, *folds; /* [n] */
  guint32 *patients;             /* [n] */
  double *labels, *offsets;      /* [n] logit r */
} Scans;

static void
scans_clear(Scans *s) {
  g_free(s->rows);
  g_free(s->sites);
  g_free(s->folds);
  g_free(s->patients);
  g_free(s->labels);
  g_free(s->offsets);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scans, scans_clear)

static Scans
take_scans(const DemurCohort *cohort, const DemurLeftOut *left_out) {
  const size_t n = left_out->n;
  Scans s = {.cohort = cohort,
             .n_folds = left_out->n_folds,
             .rows = g_new(guint32, n),
             .sites = g_new(guint32, n),
             .folds = g_new(guint32, n),
             .patients = g_new(guint32, n),
             .labels = g_new(double, n),
             .offsets = g_new(double, n)};
  g_autofree guint32 *places = g_new0(guint32, cohort->n_sites + 1);
  for (size_t i = 0; i < n; i++) {
    const guint32 row = left_out->rows[i];
    if (cohort->labels[row] == DEMUR_NO_LABEL)
      continue;
    if (places[cohort->sites[row]] == 0)
      places[cohort->sites[row]] = (guint32)++s.n_sites;
    s.rows[s.n] = row;
    s.sites[s.n] = places[cohort->sites[row]] - 1;
    s.folds[s.n] = left_out->folds[i];
    s.patients[s.n] = cohort->patients[row];
    s.labels[s.n] = (double)cohort->labels[row];
    s.offsets[s.n++] = demur_logit(left_out->risks[i]);
  }
  return s;
}

/* ---- what is known of a site without a label ---- */

/* [n_sites][n_features], and which scans trained. */
typedef struct {
  size_t n_features;
  double *values;
} Features;

/* Adds a feature whose value at a site is the mean of of_scan [n], NaN: not known. */
static void
add_mean(const Scans *s, Features *f, const double *of_scan) {
  g_autofree double *sums = g_new0(double, s->n_sites), *counts = g_new0(double, s->n_sites);
  if (f->n_features == MOST_FEATURES)
    return;
  for (size_t i = 0; i < s->n; i++)
    if (isfinite(of_scan[i])) {
      sums[s->sites[i]] += of_scan[i];
      counts[s->sites[i]] += 1.0;
    }
  for (size_t t = 0; t < s->n_sites; t++)
    f->values[t * MOST_FEATURES + f->n_features] = counts[t] > 0.0 ? sums[t] / counts[t] : NAN;
  f->n_features++;
}

static void
add_risks(const Scans *s, Features *f, double *of_scan) {
  const size_t mean = f->n_features;
  add_mean(s, f, s->offsets);
  for (size_t i = 0; i < s->n; i++) {
    const double away = s->offsets[i] - f->values[s->sites[i] * MOST_FEATURES + mean];
    of_scan[i] = away * away;
  }
  add_mean(s, f, of_scan);
  for (size_t t = 0; t < s->n_sites; t++)
    f->values[t * MOST_FEATURES + f->n_features - 1] =
        sqrt(f->values[t * MOST_FEATURES + f->n_features - 1]);
  g_autofree double *counts = g_new0(double, s->n_sites);
  for (size_t i = 0; i < s->n; i++)
    counts[s->sites[i]] += 1.0;
  for (size_t i = 0; i < s->n; i++)
    of_scan[i] = log(counts[s->sites[i]]);
  add_mean(s, f, of_scan);
}

/* Mean, 1 / sd of each dimension over the training scans, and the direction in which their outcomes leave
 * their risks: sum (y - r) (e - mean) / sd, of length 1. */
static void
find_direction(const Scans *s, const gboolean *trains, double *means, double *scales,
               double *direction) {
  const size_t d = s->cohort->embedding_width;
  double n = 0.0, norm = 0.0;
  for (size_t i = 0; i < s->n; i++) {
    const float *e = s->cohort->embeddings + s->rows[i] * d;
    if (!trains[i])
      continue;
    n += 1.0;
    for (size_t k = 0; k < d; k++) {
      means[k] += (double)e[k];
      scales[k] += (double)e[k] * (double)e[k];
    }
  }
  for (size_t k = 0; k < d; k++) {
    means[k] /= n;
    const double variance = scales[k] / n - means[k] * means[k];
    scales[k] = variance > 1e-12 ? 1.0 / sqrt(variance) : 0.0;
  }
  for (size_t i = 0; i < s->n; i++) {
    const float *e = s->cohort->embeddings + s->rows[i] * d;
    const double left = trains[i] ? s->labels[i] - demur_sigmoid(s->offsets[i]) : 0.0;
    for (size_t k = 0; k < d; k++)
      direction[k] += left * ((double)e[k] - means[k]) * scales[k];
  }
  for (size_t k = 0; k < d; k++)
    norm += direction[k] * direction[k];
  for (size_t k = 0; norm > 0.0 && k < d; k++)
    direction[k] /= sqrt(norm);
}

static void
add_embeddings(const Scans *s, const gboolean *trains, Features *f, double *of_scan) {
  const size_t d = s->cohort->embedding_width;
  if (d == 0)
    return;
  g_autofree double *means = g_new0(double, d), *scales = g_new0(double, d),
                    *direction = g_new0(double, d);
  g_autofree double *centres = g_new0(double, s->n_sites *d), *counts = g_new0(double, s->n_sites);
  find_direction(s, trains, means, scales, direction);
  for (size_t i = 0; i < s->n; i++) {
    const float *e = s->cohort->embeddings + s->rows[i] * d;
    counts[s->sites[i]] += 1.0;
    of_scan[i] = 0.0;
    for (size_t k = 0; k < d; k++) {
      const double z = ((double)e[k] - means[k]) * scales[k];
      of_scan[i] += z * direction[k];
      centres[s->sites[i] * d + k] += z;
    }
  }
  add_mean(s, f, of_scan);
  for (size_t i = 0; i < s->n; i++) {
    const float *e = s->cohort->embeddings + s->rows[i] * d;
    of_scan[i] = 0.0;
    for (size_t k = 0; k < d; k++) {
      const double centre = centres[s->sites[i] * d + k] / counts[s->sites[i]],
                   z = ((double)e[k] - means[k]) * scales[k] - centre;
      of_scan[i] += z * z / (double)d;
    }
  }
  add_mean(s, f, of_scan); /* spread */
  for (size_t i = 0; i < s->n; i++) {
    of_scan[i] = 0.0;
    for (size_t k = 0; k < d; k++) {
      const double centre = centres[s->sites[i] * d + k] / counts[s->sites[i]];
      of_scan[i] += centre * centre / (double)d;
    }
  }
  add_mean(s, f, of_scan); /* how far away */
}

/* Numbers by their mean, categories by the shares of the values that training scans have most. */
static void
add_attribute(const Scans *s, const gboolean *trains, const DemurAttribute *attribute,
              gboolean number, Features *f, double *of_scan) {
  g_autofree double *numbers = g_new(double, attribute->n_values),
                    *counts = g_new0(double, attribute->n_values);
  for (size_t v = 0; v < attribute->n_values; v++)
    if (!demur_number_parse(attribute->values[v], strlen(attribute->values[v]), &numbers[v]))
      numbers[v] = NAN;
  if (number) {
    for (size_t i = 0; i < s->n; i++)
      of_scan[i] = numbers[attribute->codes[s->rows[i]]];
    add_mean(s, f, of_scan);
    return;
  }
  for (size_t i = 0; i < s->n; i++)
    counts[attribute->codes[s->rows[i]]] += trains[i] ? 1.0 : 0.0;
  for (size_t k = 0; k < MOST_SHARES && k < attribute->n_values; k++) {
    size_t most = 0;
    for (size_t v = 1; v < attribute->n_values; v++)
      most = counts[v] > counts[most] ? v : most;
    if (counts[most] <= 0.0)
      return;
    counts[most] = 0.0;
    for (size_t i = 0; i < s->n; i++)
      of_scan[i] = attribute->codes[s->rows[i]] == most ? 1.0 : 0.0;
    add_mean(s, f, of_scan);
  }
}

static void
add_acquisition(const Scans *s, const gboolean *trains, Features *f, double *of_scan) {
  static const struct {
    DemurAcquisitionSubject subject;
    gboolean number;
  } known[] = {{DEMUR_ACQUISITION_THICKNESS, TRUE},
               {DEMUR_ACQUISITION_CURRENT, TRUE},
               {DEMUR_ACQUISITION_KERNEL, FALSE},
               {DEMUR_ACQUISITION_MANUFACTURER, FALSE},
               {DEMUR_ACQUISITION_CONTRAST, FALSE}};
  for (size_t k = 0; k < G_N_ELEMENTS(known); k++) {
    const gssize a =
        demur_cohort_find_attribute(s->cohort, demur_acquisition_attribute(known[k].subject));
    if (a >= 0)
      add_attribute(s, trains, &s->cohort->attributes[a], known[k].number, f, of_scan);
  }
}

/* Standardised over the sites that train; what is not known is their mean. */
static void
standardise(const Scans *s, const gboolean *trains, Features *f) {
  g_autofree gboolean *of_site = g_new0(gboolean, s->n_sites);
  for (size_t i = 0; i < s->n; i++)
    of_site[s->sites[i]] |= trains[i];
  for (size_t k = 0; k < f->n_features; k++) {
    double sum = 0.0, squares = 0.0, n = 0.0;
    for (size_t t = 0; t < s->n_sites; t++) {
      const double value = f->values[t * MOST_FEATURES + k];
      if (!of_site[t] || !isfinite(value))
        continue;
      sum += value;
      squares += value * value;
      n += 1.0;
    }
    const double mean = n > 0.0 ? sum / n : 0.0,
                 variance = n > 1.0 ? squares / n - mean * mean : 0.0,
                 scale = variance > 1e-12 ? 1.0 / sqrt(variance) : 0.0;
    for (size_t t = 0; t < s->n_sites; t++) {
      double *value = &f->values[t * MOST_FEATURES + k];
      /* A site far outside is as far as three standard deviations. */
      *value = isfinite(*value) ? CLAMP((*value - mean) * scale, -3.0, 3.0) : 0.0;
    }
  }
}

static Features
describe_sites(const Scans *s, const gboolean *trains) {
  Features f = {0, g_new0(double, s->n_sites *MOST_FEATURES)};
  g_autofree double *of_scan = g_new0(double, s->n);
  add_risks(s, &f, of_scan);
  add_embeddings(s, trains, &f, of_scan);
  add_acquisition(s, trains, &f, of_scan);
  standardise(s, trains, &f);
  return f;
}

/* ---- from context to an intercept ---- */

/* Fits b and w to the scans that train; shifts [n_sites] = w . x_s, and b. */
static double
fit(const Scans *s, const gboolean *trains, const Features *f, double penalty, double *shifts) {
  const size_t d = isfinite(penalty) ? f->n_features : 0;
  g_autofree double *inputs = g_new(double, MAX(s->n * d, 1)), *use = g_new(double, s->n);
  double weights[MOST_FEATURES] = {0.0}, intercept = 0.0;
  for (size_t i = 0; i < s->n; i++) {
    use[i] = trains[i] ? 1.0 : 0.0;
    if (d > 0)
      memcpy(inputs + i * d, f->values + s->sites[i] * MOST_FEATURES, d * sizeof(double));
  }
  const DemurOffsetLogistic problem = {.inputs = d > 0 ? inputs : NULL,
                                       .stride = d,
                                       .n = s->n,
                                       .d = d,
                                       .offsets = s->offsets,
                                       .labels = s->labels,
                                       .use = use,
                                       .penalty = d > 0 ? penalty : 0.0};
  demur_offset_logistic_fit(&problem, weights, &intercept);
  for (size_t t = 0; t < s->n_sites; t++) {
    shifts[t] = 0.0;
    for (size_t k = 0; k < d; k++)
      shifts[t] += weights[k] * f->values[t * MOST_FEATURES + k];
  }
  return intercept;
}

static double
loss_at(const Scans *s, size_t i, double shift) {
  return demur_log_loss(s->labels[i], demur_sigmoid(s->offsets[i] + shift));
}

/* Whether the sites' losses [n_sites] are lower than without context by more than their standard error. */
static gboolean
is_lower(const double *losses, const double *without, size_t n_sites) {
  double sum = 0.0, squares = 0.0;
  for (size_t t = 0; t < n_sites; t++)
    sum += losses[t] - without[t];
  for (size_t t = 0; t < n_sites; t++) {
    const double away = losses[t] - without[t] - sum / (double)n_sites;
    squares += away * away;
  }
  return sum < -sqrt(squares);
}

/* The penalty that does best on the other folds, each left out in turn; none, where the best is not better
 * than none by a standard error. */
static double
choose_penalty(const Scans *s, guint32 fold, double *shifts) {
  double totals[G_N_ELEMENTS(penalties)] = {0.0};
  g_autofree double *losses = g_new0(double, G_N_ELEMENTS(penalties) * s->n_sites);
  g_autofree gboolean *trains = g_new(gboolean, s->n);
  for (guint32 inner = 0; inner < s->n_folds; inner++) {
    if (inner == fold)
      continue;
    for (size_t i = 0; i < s->n; i++)
      trains[i] = s->folds[i] != fold && s->folds[i] != inner;
    Features f = describe_sites(s, trains);
    for (size_t p = 0; p < G_N_ELEMENTS(penalties); p++) {
      const double intercept = fit(s, trains, &f, penalties[p], shifts);
      for (size_t i = 0; i < s->n; i++)
        if (s->folds[i] == inner) {
          const double loss = loss_at(s, i, intercept + shifts[s->sites[i]]);
          losses[p * s->n_sites + s->sites[i]] += loss;
          totals[p] += loss;
        }
    }
    g_free(f.values);
  }
  size_t best = 0;
  for (size_t p = 1; p < G_N_ELEMENTS(penalties); p++)
    best = totals[p] < totals[best] ? p : best;
  return is_lower(losses + best * s->n_sites, losses, s->n_sites) ? penalties[best] : NO_PENALTY;
}

/* ---- what it is worth ---- */

/* Of one site and one way: over the scans that are measured. */
typedef struct {
  double n, loss, sum;             /* scans, log loss, sum of y - p */
  double patient_squares, n_pairs; /* for pairs of different patients */
} Term;

typedef struct {
  Term all[2], steps[DEMUR_CONTEXT_STEPS][2];
} SiteTerms;

/* Scans places [n] of one site with the shift added to their logits. */
static void
measure(const Scans *s, const guint32 *places, size_t n, double shift, Term *term) {
  g_autoptr(GHashTable) sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  for (size_t i = 0; i < n; i++) {
    const double p = demur_sigmoid(s->offsets[places[i]] + shift);
    const gpointer key = GUINT_TO_POINTER(s->patients[places[i]] + 1);
    double *of_patient = g_hash_table_lookup(sums, key);
    if (of_patient == NULL) {
      of_patient = g_new0(double, 2);
      g_hash_table_insert(sums, key, of_patient);
    }
    of_patient[0] += s->labels[places[i]] - p;
    of_patient[1] += 1.0;
    term->n += 1.0;
    term->loss += demur_log_loss(s->labels[places[i]], p);
    term->sum += s->labels[places[i]] - p;
  }
  term->n_pairs = term->n * term->n;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, sums);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const double *of_patient = value;
    term->patient_squares += of_patient[0] * of_patient[0];
    term->n_pairs -= of_patient[1] * of_patient[1];
  }
}

/* The intercept of a site behind its first labels, with what context adds to it. */
static double
posterior_shift(const Scans *s, const guint32 *order, size_t n_labels, const DemurSitePrior *prior,
                double context) {
  g_autofree double *offsets = g_new(double, MAX(n_labels, 1)),
                    *labels = g_new(double, MAX(n_labels, 1));
  for (size_t i = 0; i < n_labels; i++) {
    offsets[i] = s->offsets[order[i]] + context;
    labels[i] = s->labels[order[i]];
  }
  g_autoptr(DemurSitePosterior) posterior =
      demur_site_posterior_new(prior, offsets, labels, n_labels);
  return context + demur_site_posterior_mean(posterior);
}

static void
measure_site(const Scans *s, guint32 site, guint64 seed, DemurSitePrior *const *priors,
             double context, SiteTerms *terms) {
  g_autofree guint32 *order = g_new(guint32, s->n);
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++)
    if (s->sites[i] == site)
      order[n++] = (guint32)i;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_AUDIT, 2, site, 0);
  demur_random_shuffle(&random, n, order);
  for (int way = 0; way < 2; way++) {
    const double added = way == 1 ? context : 0.0;
    measure(s, order, n, posterior_shift(s, order, 0, priors[way], added), &terms->all[way]);
    for (size_t k = 0; n >= DEMUR_CONTEXT_LEAST && k < DEMUR_CONTEXT_STEPS; k++)
      measure(s, order + DEMUR_CONTEXT_LABELS, n - DEMUR_CONTEXT_LABELS,
              posterior_shift(s, order, step_labels[k], priors[way], added), &terms->steps[k][way]);
  }
}

/* One fold by the others. Returns whether context is used. */
static gboolean
judge_fold(const Scans *s, guint32 fold, guint64 seed, size_t *n_features, SiteTerms *terms) {
  g_autofree gboolean *trains = g_new(gboolean, s->n), *done = g_new0(gboolean, s->n_sites);
  g_autofree double *shifts = g_new(double, s->n_sites), *offsets = g_new(double, s->n * 2),
                    *labels = g_new(double, s->n);
  g_autofree guint32 *sites = g_new(guint32, s->n);
  const double penalty = choose_penalty(s, fold, shifts);
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++)
    trains[i] = s->folds[i] != fold;
  Features f = describe_sites(s, trains);
  fit(s, trains, &f, penalty, shifts);
  *n_features = f.n_features;
  g_free(f.values);
  for (size_t i = 0; i < s->n; i++)
    if (trains[i]) {
      offsets[n] = s->offsets[i];
      offsets[s->n + n] = s->offsets[i] + shifts[s->sites[i]];
      labels[n] = s->labels[i];
      sites[n++] = s->sites[i];
    }
  g_autoptr(DemurSitePrior) without = demur_site_prior_fit(offsets, labels, NULL, sites, n, NULL),
                            with =
                                demur_site_prior_fit(offsets + s->n, labels, NULL, sites, n, NULL);
  DemurSitePrior *const priors[] = {without, with};
  for (size_t i = 0; i < s->n; i++)
    if (!trains[i] && !done[s->sites[i]]) {
      done[s->sites[i]] = TRUE;
      measure_site(s, s->sites[i], seed, priors, shifts[s->sites[i]], &terms[s->sites[i]]);
    }
  return isfinite(penalty);
}

/* Log loss a scan, and the signed root of the site error's square, of sites drawn counts [n_sites] times
 * (NULL: each once); at: the offset of a pair of terms. */
static void
pool(const SiteTerms *terms, size_t n_sites, const guint32 *counts, size_t at, double *loss,
     double *site_error) {
  for (int way = 0; way < 2; way++) {
    double n = 0.0, sum = 0.0, pairs = 0.0, n_paired = 0.0;
    for (size_t t = 0; t < n_sites; t++) {
      const Term *term = (const Term *)((const char *)&terms[t] + at) + way;
      const double times = counts != NULL ? (double)counts[t] : 1.0;
      n += times * term->n;
      sum += times * term->loss;
      if (term->n_pairs > 0.0) {
        pairs += times * term->n * (term->sum * term->sum - term->patient_squares) / term->n_pairs;
        n_paired += times * term->n;
      }
    }
    const double square = n_paired > 0.0 ? pairs / n_paired : NAN;
    loss[way] = n > 0.0 ? sum / n : NAN;
    site_error[way] = square < 0.0 ? -sqrt(-square) : sqrt(square);
  }
}

static int
ascending(gconstpointer a, gconstpointer b) {
  const double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static void
take_interval(double *replicates, const double *values, DemurContextMeasure *measured) {
  qsort(replicates, N_BOOTSTRAP, sizeof(double), ascending);
  *measured = (DemurContextMeasure){.value = {values[0], values[1]},
                                    .difference = values[1] - values[0],
                                    .low = replicates[N_BOOTSTRAP / 40],
                                    .high = replicates[N_BOOTSTRAP - 1 - N_BOOTSTRAP / 40]};
}

static void
compare(const SiteTerms *terms, size_t n_sites, guint64 seed, DemurSiteContext *context) {
  g_autofree double *losses = g_new(double, N_BOOTSTRAP), *errors = g_new(double, N_BOOTSTRAP);
  g_autofree guint32 *counts = g_new(guint32, n_sites);
  double loss[2], site_error[2];
  for (size_t b = 0; b < N_BOOTSTRAP; b++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_AUDIT, 3, b, 0);
    memset(counts, 0, n_sites * sizeof *counts);
    for (size_t t = 0; t < n_sites; t++)
      counts[demur_random_below(&random, n_sites)]++;
    pool(terms, n_sites, counts, offsetof(SiteTerms, all), loss, site_error);
    losses[b] = loss[1] - loss[0];
    errors[b] = site_error[1] - site_error[0];
  }
  pool(terms, n_sites, NULL, offsetof(SiteTerms, all), loss, site_error);
  take_interval(losses, loss, &context->log_loss);
  take_interval(errors, site_error, &context->site_error);
  context->helps = context->log_loss.high < 0.0 && context->site_error.high < 0.0;
}

/* Where the curve without context comes down to what context has without labels, by straight lines. */
static double
count_saved(const DemurContextStep *steps) {
  const double reached = steps[0].log_loss[1];
  if (!(reached < steps[0].log_loss[0]))
    return 0.0;
  for (size_t k = 1; k < DEMUR_CONTEXT_STEPS; k++) {
    const double before = steps[k - 1].log_loss[0], after = steps[k].log_loss[0];
    if (after <= reached)
      return (double)steps[k - 1].n_labels + (double)(steps[k].n_labels - steps[k - 1].n_labels) *
                                                 (before - reached) / (before - after);
  }
  return INFINITY;
}

DemurSiteContext *
demur_site_context_try(const DemurCohort *cohort, const DemurLeftOut *left_out, GError **error) {
  if (left_out->width != 1) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "site context is of a binary risk; cohort '%s' has %zu classes", cohort->name,
                    left_out->width);
    return NULL;
  }
  g_auto(Scans) s = take_scans(cohort, left_out);
  g_autofree SiteTerms *terms = g_new0(SiteTerms, MAX(s.n_sites, 1));
  DemurSiteContext *context = g_new0(DemurSiteContext, 1);
  context->n_scans = s.n;
  context->n_sites = s.n_sites;
  context->n_folds = s.n_folds;
  for (guint32 fold = 0; fold < s.n_folds; fold++)
    context->n_used += judge_fold(&s, fold, left_out->seed, &context->n_features, terms) ? 1 : 0;
  compare(terms, s.n_sites, left_out->seed, context);
  for (size_t t = 0; t < s.n_sites; t++)
    context->n_labelled_sites += terms[t].steps[0][0].n > 0.0 ? 1 : 0;
  for (size_t k = 0; k < DEMUR_CONTEXT_STEPS; k++) {
    context->steps[k].n_labels = step_labels[k];
    pool(terms, s.n_sites, NULL, offsetof(SiteTerms, steps) + k * sizeof terms->steps[0],
         context->steps[k].log_loss, context->steps[k].site_error);
  }
  context->labels_saved = context->n_labelled_sites > 0 ? count_saved(context->steps) : NAN;
  return context;
}

char *
demur_site_context_sentence(const DemurSiteContext *c) {
  g_autofree char *saved =
      isnan(c->labels_saved)   ? g_strdup_printf("no site has %d labels", DEMUR_CONTEXT_LEAST)
      : isinf(c->labels_saved) ? g_strdup_printf("more than %d labels a site", DEMUR_CONTEXT_LABELS)
                               : g_strdup_printf("%.0f labels a site", c->labels_saved);
  return g_strdup_printf(
      "Site context (%zu facts of a site's unlabelled scans, used in %zu of %zu folds) %s at %zu "
      "sites left out: log loss %.4f against %.4f (%+.4f, 95 %% interval %+.4f to %+.4f), site error "
      "%.4f against %.4f (%+.4f, %+.4f to %+.4f); labels saved: %s.",
      c->n_features, c->n_used, c->n_folds, c->helps ? "helps" : "is not shown to help", c->n_sites,
      c->log_loss.value[1], c->log_loss.value[0], c->log_loss.difference, c->log_loss.low,
      c->log_loss.high, c->site_error.value[1], c->site_error.value[0], c->site_error.difference,
      c->site_error.low, c->site_error.high, saved);
}

static void
write_measure(DemurJson *json, const char *key, const DemurContextMeasure *m) {
  const double interval[2] = {m->low, m->high};
  demur_json_begin_object(json, key);
  demur_json_double(json, "without", m->value[0]);
  demur_json_double(json, "with", m->value[1]);
  demur_json_double(json, "difference", m->difference);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_end_object(json);
}

void
demur_site_context_write(DemurJson *json, const char *key, const DemurSiteContext *c) {
  g_autofree char *sentence = demur_site_context_sentence(c);
  demur_json_begin_object(json, key);
  demur_json_bool(json, "helps", c->helps);
  demur_json_string(json, "sentence", sentence);
  demur_json_int(json, "n_scans", (gint64)c->n_scans);
  demur_json_int(json, "n_sites", (gint64)c->n_sites);
  demur_json_int(json, "n_features", (gint64)c->n_features);
  demur_json_int(json, "n_folds_used", (gint64)c->n_used);
  write_measure(json, "log_loss", &c->log_loss);
  write_measure(json, "site_error", &c->site_error);
  demur_json_int(json, "n_labelled_sites", (gint64)c->n_labelled_sites);
  demur_json_double(json, "labels_saved", c->labels_saved);
  demur_json_begin_array(json, "labels");
  for (size_t k = 0; c->n_labelled_sites > 0 && k < DEMUR_CONTEXT_STEPS; k++) {
    const DemurContextStep *step = &c->steps[k];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n_labels", (gint64)step->n_labels);
    demur_json_double(json, "log_loss_without", step->log_loss[0]);
    demur_json_double(json, "log_loss_with", step->log_loss[1]);
    demur_json_double(json, "site_error_without", step->site_error[0]);
    demur_json_double(json, "site_error_with", step->site_error[1]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}
