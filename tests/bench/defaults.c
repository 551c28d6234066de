/* Is what is shown by default worth showing?  bench-defaults draw the training hospitals of a
 * cohort, train as `demur train` does when nothing is asked for, and measure on hospitals that
 * trained nothing:
 *
 *   bench-defaults cohort TABLE.csv SITES DRAWS [COVARIATES.csv]    SITES 0: all training sites; a draw
 *                                                                   is another seed (folds, labels)
 *   bench-defaults simulated SITES DRAWS                            every kind of cohort below
 *
 * DRAWS: how many, or the first and the last of them (7-9), so that what takes hours can be cut up.
 *
 * A draw: SITES of the training sites with at least 40 scans, by the seed. Compared is what the
 * default accepts and shows with what plain confidence accepts of the risks as given: log of the
 * ratio of the AUC over coverage of S-BCE_2; at a coverage of 0.9 log loss, and root mean square
 * error of whole sites and of subgroups (age x sex; simulated: two covariates), unbiased, over
 * pairs of different patients. "worse": the 95 % interval of the difference of the debiased AUC and
 * of the plain one, resampling test sites, both lie above 0. Then 50 labels of each test site with
 * at least 70 scans (an audit), judged on the accepted of the rest: site error before, after, and
 * after by the test sites' own prior (best_prior). "audit worse": the 95 % interval of the difference
 * of the squares, resampling those sites, lies above 0. Means of draws stand with Student's 95 %
 * interval, shares with the exact 95 % interval's upper end (Clopper and Pearson). */
#include "tests/bench/bench.h"

#include "cohort/import.h"
#include "evaluation/fallback.h"
#include "evaluation/sample.h"
#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/offset-logistic.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "selector/audit.h"

#define N_COVERAGES 20
#define N_REPLICATES 200
#define N_LABELS 50

typedef struct {
  double log_ratio, log_loss, site_error[2], group_error[2],
      audit[3]; /* before, after, by the best prior */
  gboolean worse, better, audit_worse;
} Outcome;

/* Scans of a test split as a method shows them, in ascending risk. */
typedef struct {
  size_t n;
  double *risks, *labels, *differences, *scores;
  guint32 *ranks, *sites, *patients, *groups, *places; /* places: in the split */
  size_t n_ranks;
} Shown;

static void
shown_clear(Shown *s) {
  g_free(s->risks), g_free(s->labels), g_free(s->differences), g_free(s->scores);
  g_free(s->ranks), g_free(s->sites), g_free(s->patients), g_free(s->groups), g_free(s->places);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Shown, shown_clear)

typedef struct {
  double risk;
  guint32 place;
} Ordered;

static int
compare_ordered(const void *a, const void *b) {
  const Ordered *x = a, *y = b;
  if (x->risk != y->risk)
    return x->risk < y->risk ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void
shown_fill(Shown *s, const DemurCohort *cohort, const guint32 *rows, const guint32 *groups,
           size_t n, const double *risks, const double *scores) {
  g_autofree Ordered *order = g_new(Ordered, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (Ordered){risks[i], (guint32)i};
  qsort(order, n, sizeof *order, compare_ordered);
  *s = (Shown){.n = n,
               .risks = g_new(double, n),
               .labels = g_new(double, n),
               .differences = g_new(double, n),
               .scores = g_new(double, n),
               .ranks = g_new(guint32, n),
               .sites = g_new(guint32, n),
               .patients = g_new(guint32, n),
               .groups = g_new(guint32, n),
               .places = g_new(guint32, n)};
  for (size_t i = 0; i < n; i++) {
    const guint32 at = order[i].place, row = rows[at];
    s->places[i] = at;
    s->risks[i] = risks[at];
    s->labels[i] = (double)cohort->labels[row];
    s->differences[i] = s->labels[i] - s->risks[i];
    s->scores[i] = scores[at];
    s->sites[i] = cohort->sites[row];
    s->patients[i] = cohort->patients[row];
    s->groups[i] = groups[at];
  }
  s->n_ranks = demur_coverage_ranks(s->scores, n, s->ranks);
}

static void
areas(const Shown *s, const guint32 *counts, double *plain, double *debiased) {
  double coverages[N_COVERAGES], errors[N_COVERAGES], squares[N_COVERAGES];
  demur_coverage_grid(N_COVERAGES, coverages);
  const DemurSelectiveSample sample = {.n = s->n,
                                       .risks = s->risks,
                                       .labels = s->labels,
                                       .counts = counts,
                                       .ranks = s->ranks,
                                       .n_ranks = s->n_ranks};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(s->n);
  demur_selective_debiased(&sample, coverages, N_COVERAGES, 25, scratch, errors, squares);
  *plain = demur_coverage_auc(coverages, errors, N_COVERAGES);
  *debiased = demur_signed_root(demur_coverage_auc(coverages, squares, N_COVERAGES));
}

static double
error_between(const Shown *s, const guint32 *codes, size_t n_codes, size_t n_patients) {
  const DemurSiteSample sample = {.n = s->n,
                                  .differences = s->differences,
                                  .sites = codes,
                                  .patients = s->patients,
                                  .n_sites = n_codes,
                                  .n_patients = n_patients,
                                  .ranks = s->ranks,
                                  .n_ranks = s->n_ranks};
  const double coverage = 0.9;
  double square;
  demur_site_error_curve(&sample, &coverage, 1, &square);
  return demur_signed_root(square);
}

static double
log_loss(const Shown *s) {
  const double threshold = demur_coverage_threshold(0.9, s->scores, s->n);
  double sum = 0.0, n = 0.0;
  for (size_t i = 0; i < s->n; i++)
    if (s->scores[i] >= threshold) {
      sum += demur_log_loss(s->labels[i], s->risks[i]);
      n += 1.0;
    }
  return sum / n;
}

/* Whether the default (a) is shown to be worse, or better, than confidence (b). */
static void
judge(const Shown *a, const Shown *b, size_t n_sites, guint64 seed, Outcome *o) {
  double plain[2], debiased[2];
  areas(a, NULL, &plain[0], &debiased[0]);
  areas(b, NULL, &plain[1], &debiased[1]);
  o->log_ratio = log(plain[0] / plain[1]);
  g_autofree guint32 *present = g_new0(guint32, n_sites), *codes = g_new(guint32, n_sites);
  size_t n_there = 0;
  for (size_t i = 0; i < a->n; i++)
    present[a->sites[i]] = 1;
  for (size_t t = 0; t < n_sites; t++)
    if (present[t])
      codes[n_there++] = (guint32)t;
  double differences[2][N_REPLICATES];
  g_autofree guint32 *drawn = g_new(guint32, n_sites), *counts = g_new(guint32, a->n);
  for (guint64 r = 0; r < N_REPLICATES; r++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 77, r, 0);
    memset(drawn, 0, n_sites * sizeof *drawn);
    for (size_t t = 0; t < n_there; t++)
      drawn[codes[demur_random_below(&random, n_there)]]++;
    double p[2], d[2];
    for (int m = 0; m < 2; m++) {
      const Shown *s = m == 0 ? a : b;
      for (size_t i = 0; i < s->n; i++)
        counts[i] = drawn[s->sites[i]];
      areas(s, counts, &p[m], &d[m]);
    }
    differences[0][r] = p[0] - p[1];
    differences[1][r] = d[0] - d[1];
  }
  double low[2], high[2];
  for (int m = 0; m < 2; m++)
    demur_interval_expanded(differences[m], N_REPLICATES, n_there, 0.95, &low[m], &high[m]);
  o->worse = low[0] > 0.0 && low[1] > 0.0;
  o->better = high[0] < 0.0 && high[1] < 0.0;
}

/* Whether the audit is shown to be worse, of squares [n] before and after and scans counted [n]. */
static gboolean
audit_is_worse(const double *before, const double *after, const double *counted, size_t n,
               guint64 seed) {
  double differences[N_REPLICATES], low, high;
  for (guint64 r = 0; r < N_REPLICATES; r++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 80, r, 0);
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < n; i++) {
      const size_t s = demur_random_below(&random, n);
      sum += counted[s] * (after[s] - before[s]);
      total += counted[s];
    }
    differences[r] = sum / total;
  }
  demur_interval_expanded(differences, N_REPLICATES, n, 0.95, &low, &high);
  return low > 0.0;
}

/* The prior of an audit that all labels of the test split give: what 50 labels can do where the
 * training sites are no limit. */
static DemurSitePrior *
best_prior(const DemurCohort *cohort, const guint32 *rows, size_t n, const double *risks) {
  g_autofree double *offsets = g_new(double, n), *labels = g_new(double, n);
  g_autofree guint32 *sites = g_new(guint32, n);
  for (size_t i = 0; i < n; i++) {
    offsets[i] = demur_logit(risks[i]);
    labels[i] = (double)cohort->labels[rows[i]];
    sites[i] = cohort->sites[rows[i]];
  }
  return demur_site_prior_fit(offsets, labels, NULL, sites, n, NULL);
}

/* Site error of what is accepted of the scans without a label: the risks as shown, and audited. */
static void
audit_sites(const DemurSelector *selector, const DemurCohort *cohort, const guint32 *rows, size_t n,
            const double *risks, const double *scores, guint64 seed, Outcome *o) {
  const double threshold = demur_coverage_threshold(0.9, scores, n);
  g_autoptr(DemurSitePrior) best = best_prior(cohort, rows, n, risks);
  double sums[3] = {0.0, 0.0, 0.0}, total = 0.0;
  g_autofree double *of_sites = g_new(double, 4 * cohort->n_sites);
  double *squares_of[3] = {of_sites, of_sites + cohort->n_sites, of_sites + 2 * cohort->n_sites},
         *counted = of_sites + 3 * cohort->n_sites;
  size_t n_audited = 0;
  g_autofree guint32 *at = g_new(guint32, n), *patients = g_new(guint32, n);
  g_autofree double *r = g_new(double, n), *g = g_new(double, n), *y = g_new(double, n),
                    *lr = g_new(double, n), *ly = g_new(double, n);
  for (size_t s = 0; s < cohort->n_sites; s++) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
      if (cohort->sites[rows[i]] == s) {
        at[m] = (guint32)i;
        r[m] = risks[i];
        g[m] = scores[i];
        y[m] = (double)cohort->labels[rows[i]];
        patients[m++] = cohort->patients[rows[i]];
      }
    if (m < N_LABELS + 20)
      continue;
    size_t n_chosen;
    g_autofree guint32 *chosen = demur_audit_choose(r, g, patients, m, N_LABELS, seed, &n_chosen);
    g_autofree guint8 *labelled = g_new0(guint8, m);
    for (size_t i = 0; i < n_chosen; i++) {
      labelled[chosen[i]] = 1;
      lr[i] = r[chosen[i]];
      ly[i] = y[chosen[i]];
    }
    const DemurAudit audit = demur_audit_fit(lr, ly, n_chosen, demur_selector_site_prior(selector),
                                             r, m),
                     ideal = demur_audit_fit(lr, ly, n_chosen, best, r, m);
    double sum[3] = {0.0}, squares[3] = {0.0}, k = 0.0;
    for (size_t i = 0; i < m; i++) {
      if (labelled[i] || g[i] < threshold)
        continue;
      const double d[3] = {y[i] - r[i], y[i] - demur_audit_risk(r[i], audit.intercept),
                           y[i] - demur_audit_risk(r[i], ideal.intercept)};
      for (int j = 0; j < 3; j++) {
        sum[j] += d[j];
        squares[j] += d[j] * d[j];
      }
      k += 1.0;
    }
    if (k < 10.0)
      continue;
    for (int j = 0; j < 3; j++) {
      squares_of[j][n_audited] = (sum[j] * sum[j] - squares[j]) / (k * (k - 1.0));
      sums[j] += k * squares_of[j][n_audited];
    }
    counted[n_audited++] = k;
    total += k;
  }
  o->audit_worse =
      n_audited > 1 && audit_is_worse(squares_of[0], squares_of[1], counted, n_audited, seed);
  for (int j = 0; j < 3; j++)
    o->audit[j] = demur_signed_root(sums[j] / fmax(total, 1.0));
}

static Outcome
measure(DemurCohort *cohort, const guint32 *all_groups, guint64 seed, DemurParallel *parallel,
        char **told) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
  g_autoptr(DemurFallback) fallback =
      demur_fallback_choose(cohort, settings, seed, 5, parallel, NULL, &error);
  if (fallback == NULL)
    bench_fail(error);
  settings->scoring = fallback->scoring;
  g_autoptr(DemurTrainingLog) log = NULL;
  g_autoptr(DemurSelector) selector =
      demur_selector_train(cohort, settings, seed, parallel, NULL, &log, &error);
  if (selector == NULL)
    bench_fail(error);
  const DemurRecalibration *recalibration = demur_selector_recalibration(selector);
  *told = g_strdup_printf(
      "%s/%s", recalibration != NULL ? demur_recalibration_name(recalibration->kind) : "none",
      demur_scoring_row(settings->scoring)->name);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurCohort) view =
      demur_selector_view_rows(selector, cohort, rows, n, parallel, NULL, &error);
  DEMUR_AUTO_ALIGNED double *meta =
      view == NULL
          ? NULL
          : demur_selector_meta_features(selector, view, FALSE, rows, n, parallel, NULL, &error);
  if (meta == NULL)
    bench_fail(error);
  g_autofree double *scores = g_new(double, n), *risks = g_new(double, n),
                    *confidence = g_new(double, n), *raw = g_new(double, n);
  g_autofree guint32 *groups = g_new(guint32, n);
  demur_selector_scores(selector, 0, meta, n, scores);
  guint32 n_groups = 0;
  for (size_t i = 0; i < n; i++) {
    risks[i] = view->risks[rows[i]];
    raw[i] = cohort->risks[rows[i]];
    confidence[i] = fmax(raw[i], 1.0 - raw[i]);
    groups[i] = all_groups[rows[i]];
    n_groups = MAX(n_groups, groups[i] + 1);
  }
  Outcome o = {0};
  g_auto(Shown) a = {0}, b = {0};
  shown_fill(&a, cohort, rows, groups, n, risks, scores);
  shown_fill(&b, cohort, rows, groups, n, raw, confidence);
  judge(&a, &b, cohort->n_sites, seed, &o);
  o.log_loss = log_loss(&a) - log_loss(&b);
  for (int m = 0; m < 2; m++) {
    o.site_error[m] = error_between(m == 0 ? &a : &b, m == 0 ? a.sites : b.sites, cohort->n_sites,
                                    cohort->n_patients);
    o.group_error[m] =
        error_between(m == 0 ? &a : &b, m == 0 ? a.groups : b.groups, n_groups, cohort->n_patients);
  }
  audit_sites(selector, cohort, rows, n, risks, scores, seed, &o);
  return o;
}

typedef struct {
  double n, log_ratio, log_ratio_squares, log_loss, worse, better, site[2], group[2], audit[3],
      audit_worse;
  GHashTable *told;
} Sum;

static void
add(Sum *sum, const Outcome *o, char *told) {
  sum->n += 1.0;
  sum->log_ratio += o->log_ratio;
  sum->log_ratio_squares += o->log_ratio * o->log_ratio;
  sum->log_loss += o->log_loss;
  sum->worse += o->worse;
  sum->better += o->better;
  for (int m = 0; m < 2; m++) {
    sum->site[m] += o->site_error[m];
    sum->group[m] += o->group_error[m];
  }
  for (int m = 0; m < 3; m++)
    sum->audit[m] += o->audit[m];
  sum->audit_worse += o->audit_worse;
  if (sum->told == NULL)
    sum->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(sum->told, told));
  g_hash_table_insert(sum->told, told, GUINT_TO_POINTER(before + 1));
}

/* Half the width of Student's 95 % interval of the mean log ratio; 0 for one draw. */
static double
half_width(const Sum *sum) {
  if (sum->n < 2.0)
    return 0.0;
  const double mean = sum->log_ratio / sum->n,
               variance = fmax(sum->log_ratio_squares / sum->n - mean * mean, 0.0) / (sum->n - 1.0);
  return demur_student_quantile(0.975, sum->n - 1.0) * sqrt(variance);
}

/* The largest share of which k or fewer in n are no rarer than one in forty. */
static double
share_at_most(double k, double n) {
  double low = k / n, high = 1.0;
  for (int step = 0; step < 60 && k < n; step++) {
    const double p = 0.5 * (low + high);
    double below = 0.0;
    for (double i = 0.0; i <= k; i++)
      below += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
                   (n - i) * log1p(-p));
    *(below > 0.025 ? &low : &high) = p;
  }
  return high;
}

static void
print_sum(const char *name, size_t n_sites, Sum *sum) {
  g_autoptr(GString) told = g_string_new(NULL);
  g_autoptr(GList) kinds = g_list_sort(g_hash_table_get_keys(sum->told), (GCompareFunc)strcmp);
  for (GList *kind = kinds; kind != NULL; kind = kind->next)
    g_string_append_printf(told, " %s %u", (char *)kind->data,
                           GPOINTER_TO_UINT(g_hash_table_lookup(sum->told, kind->data)));
  const double n = sum->n;
  printf("%-26s %3zu %3.0f  %+.3f (+-%.3f)  %+.4f  %.3f %.3f  %.3f %.3f  %5.1f (<= %.1f) %5.1f  "
         "%.3f %.3f %.3f %5.1f%s\n",
         name, n_sites, n, sum->log_ratio / n, half_width(sum), sum->log_loss / n, sum->site[0] / n,
         sum->site[1] / n, sum->group[0] / n, sum->group[1] / n, 100.0 * sum->worse / n,
         100.0 * share_at_most(sum->worse, n), 100.0 * sum->better / n, sum->audit[0] / n,
         sum->audit[1] / n, sum->audit[2] / n, 100.0 * sum->audit_worse / n, told->str);
  fflush(stdout);
  g_hash_table_unref(sum->told);
}

/* ---- a table of real hospitals ---- */

/* Age under 65, to 74, to 84, above, by sex. */
static guint32 *
real_groups(DemurCohort *cohort, const char *path) {
  guint32 *groups = g_new0(guint32, cohort->n_scans);
  if (path == NULL)
    return groups;
  g_autoptr(GError) error = NULL;
  char *names[] = {(char *)"age", (char *)"female", NULL};
  DemurAttached *attached =
      demur_cohort_attach_table(cohort, path, "patient_id", names, NULL, NULL, &error);
  if (attached == NULL)
    bench_fail(error);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    const double age =
        g_ascii_strtod(attached->attributes[0].values[attached->attributes[0].codes[i]], NULL);
    const double female =
        g_ascii_strtod(attached->attributes[1].values[attached->attributes[1].codes[i]], NULL);
    groups[i] = (age < 65   ? 0U
                 : age < 75 ? 1U
                 : age < 85 ? 2U
                            : 3U) *
                    2U +
                (female > 0.5 ? 1U : 0U);
  }
  return groups;
}

/* All but n_sites of the training sites that have 40 scans are moved out. */
static DemurCohort *
draw_sites(DemurCohort *cohort, size_t n_sites, guint64 seed) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "selector_train", &n, &error);
  if (rows == NULL)
    bench_fail(error);
  if (n_sites == 0)
    return demur_cohort_ref(cohort);
  g_autofree guint32 *sizes = g_new0(guint32, cohort->n_sites),
                     *larger = g_new(guint32, cohort->n_sites);
  g_autofree guint8 *moved = g_new0(guint8, cohort->n_scans);
  g_autofree guint8 *kept = g_new0(guint8, cohort->n_sites);
  size_t n_larger = 0;
  for (size_t i = 0; i < n; i++)
    sizes[cohort->sites[rows[i]]]++;
  for (size_t s = 0; s < cohort->n_sites; s++)
    if (sizes[s] >= 40)
      larger[n_larger++] = (guint32)s;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 78, n_sites, 0);
  for (size_t k = 0; k < MIN(n_sites, n_larger); k++) {
    const size_t other = k + demur_random_below(&random, n_larger - k);
    const guint32 site = larger[other];
    larger[other] = larger[k];
    larger[k] = site;
    kept[site] = 1;
  }
  for (size_t i = 0; i < n; i++)
    moved[rows[i]] = !kept[cohort->sites[rows[i]]];
  return demur_cohort_with_split(cohort, "not drawn", moved);
}

typedef struct {
  guint64 first, last;
} Draws;

static Draws
read_draws(const char *text) {
  char *end;
  Draws draws = {1, g_ascii_strtoull(text, &end, 10)};
  if (*end == '-')
    draws = (Draws){draws.last, g_ascii_strtoull(end + 1, NULL, 10)};
  return draws;
}

static void
run_table(const char *path, size_t n_sites, Draws draws, const char *covariates,
          DemurParallel *parallel) {
  g_autoptr(GError) error = NULL;
  const DemurImportOptions options = {.name = "bench"};
  g_autoptr(DemurCohort) whole = demur_cohort_import(path, &options, NULL, NULL, &error);
  if (whole == NULL)
    bench_fail(error);
  g_autofree guint32 *groups = real_groups(whole, covariates);
  Sum sum = {0};
  for (guint64 draw = draws.first; draw <= draws.last; draw++) {
    g_autoptr(DemurCohort) cohort = draw_sites(whole, n_sites, draw);
    char *told;
    const Outcome o = measure(cohort, groups, draw, parallel, &told);
    if (o.worse)
      printf("  draw %" G_GUINT64_FORMAT " is worse: %s, log ratio %+.3f, log loss %+.4f\n", draw,
             told, o.log_ratio, o.log_loss);
    printf("  draw %2" G_GUINT64_FORMAT ": %+.4f  %+.5f  %.4f %.4f  %d %d  %.4f %.4f %.4f %d %s\n",
           draw, o.log_ratio, o.log_loss, o.site_error[0], o.group_error[0], o.worse, o.better,
           o.audit[0], o.audit[1], o.audit[2], o.audit_worse, told);
    fflush(stdout);
    add(&sum, &o, told);
  }
  g_autofree char *name = g_path_get_basename(path);
  print_sum(name, n_sites, &sum);
}

/* ---- simulated hospitals ---- */

#define WIDTH 8

typedef struct {
  const char *name;
  double base;             /* logit of the outcome */
  double shift, tau;       /* of the sites' intercepts: mean, spread */
  double test_shift;       /* mean of the test sites' */
  double covariates;       /* spread of the sites' mean embeddings */
  double slope, intercept; /* logit of the risk = intercept + slope x what the model sees */
  double visible;          /* what of the embedding the model missed */
} Kind;

static const Kind kinds[] = {
    {"no shift", -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0},
    {"sites differ", -1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0},
    {"label shift", -1.0, 0.6, 0.3, 0.6, 0.0, 1.0, 0.0, 0.0},
    {"label shift, other sign", -1.0, 0.3, 0.3, -0.1, 0.0, 1.0, 0.0, 0.0},
    {"covariate shift", -1.0, 0.0, 0.2, 0.0, 0.7, 1.0, 0.0, 0.5},
    {"too sure", -1.0, 0.0, 0.2, 0.0, 0.0, 1.8, 0.4, 0.0},
    {"too flat", -1.0, 0.0, 0.2, 0.0, 0.0, 0.5, 0.0, 0.0},
    {"few outcomes", -4.0, 0.2, 0.4, 0.2, 0.0, 1.0, 0.0, 0.0},
    {"visible error", -1.0, 0.0, 0.1, 0.0, 0.2, 1.0, 0.0, 1.0},
};

static void
add_site(DemurCohortBuilder *builder, const Kind *kind, DemurRandom *random, const char *split,
         size_t site, size_t n, double shift, double spread) {
  static const double weights[WIDTH] = {0.9, 0.6, -0.5, 0.3, 0.0, 0.0, 0.0, 0.0};
  double means[WIDTH];
  for (size_t c = 0; c < WIDTH; c++)
    means[c] = spread > 0.0 ? kind->covariates * demur_random_normal(random) : 0.0;
  const double b = spread > 0.0 ? shift + kind->tau * demur_random_normal(random) : 0.0;
  g_autofree char *name = g_strdup_printf("%s-%zu", split, site);
  for (size_t i = 0; i < n; i++) {
    float embedding[WIDTH];
    double seen = kind->base;
    for (size_t c = 0; c < WIDTH; c++) {
      const double e = means[c] + demur_random_normal(random);
      embedding[c] = (float)e;
      seen += weights[c] * e;
    }
    const double missed = kind->visible * (embedding[WIDTH - 1] > 0.8 ? 1.0 : 0.0) * spread;
    const double risk = demur_sigmoid(kind->intercept + kind->slope * seen);
    const int label = demur_random_uniform(random) < demur_sigmoid(seen + missed + b);
    g_autofree char *id = g_strdup_printf("%s-%zu", name, i);
    demur_cohort_builder_add(builder, id, id, name, split, label, &risk, NULL, embedding);
  }
}

static DemurCohort *
simulate(const Kind *kind, size_t n_sites, guint64 draw) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, WIDTH);
  DemurRandom random = demur_random_stream(draw, DEMUR_STREAM_TEST, 79, n_sites, 0);
  add_site(builder, kind, &random, "base_train", 0, 1500, 0.0, 0.0);
  for (size_t s = 0; s < n_sites; s++)
    add_site(builder, kind, &random, "selector_train", s, 60 + demur_random_below(&random, 240),
             kind->shift, 1.0);
  for (size_t s = 0; s < 40; s++)
    add_site(builder, kind, &random, "test", s, 60 + demur_random_below(&random, 100),
             kind->test_shift, 1.0);
  DemurCohort *cohort =
      demur_cohort_builder_finish(builder, "bench", "model", "bench", "", TRUE, &error);
  if (cohort == NULL)
    bench_fail(error);
  return cohort;
}

static void
run_simulated(size_t n_sites, Draws draws, DemurParallel *parallel) {
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    Sum sum = {0};
    for (guint64 draw = draws.first; draw <= draws.last; draw++) {
      g_autoptr(DemurCohort) cohort = simulate(&kinds[k], n_sites, draw);
      g_autofree guint32 *groups = g_new(guint32, cohort->n_scans);
      for (size_t i = 0; i < cohort->n_scans; i++)
        groups[i] = (cohort->embeddings[i * WIDTH] > 0.0F ? 1U : 0U) +
                    (cohort->embeddings[i * WIDTH + WIDTH - 1] > 0.8F ? 2U : 0U);
      char *told;
      const Outcome o = measure(cohort, groups, draw, parallel, &told);
      add(&sum, &o, told);
    }
    print_sum(kinds[k].name, n_sites, &sum);
  }
}

int
main(int argc, char **argv) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(1);
  const gboolean table = argc >= 5 && strcmp(argv[1], "cohort") == 0;
  if (!table && (argc != 4 || strcmp(argv[1], "simulated") != 0)) {
    fprintf(stderr, "usage: bench-defaults cohort TABLE SITES DRAWS [COVARIATES]\n"
                    "       bench-defaults simulated SITES DRAWS\n");
    return 2;
  }
  printf(
      "cohort                   sites  n  ratio (95 %%)  log loss  site error    subgroups   worse better"
      "  audit: before, after, best prior, worse; what was chosen\n");
  if (table)
    run_table(argv[2], (size_t)g_ascii_strtoull(argv[3], NULL, 10), read_draws(argv[4]),
              argc > 5 ? argv[5] : NULL, parallel);
  else
    run_simulated((size_t)g_ascii_strtoull(argv[2], NULL, 10), read_draws(argv[3]), parallel);
  return 0;
}
