/* The watch over simulated hospital-years.
 *
 *   bench-watch [YEARS [RUNS [SHIFT [SEED [CHANGE]]]]]  SHIFT: the number of one of those below, alone; 0: all
 *
 * The parts of the bets' money and of the 5 % were chosen on years of seeds 11, 13 and 14: years judged are of 15.
 * A hospital has 2,500 patients a year and a reference of 1,000 (another line: 300). Quiet: YEARS (500)
 * years in which nothing changes; in at most 5 % any of the 14 signals may reach its alarm. Shifts: RUNS
 * (400) runs in each of which one thing changes behind the 1,000th patient (CHANGE), looked at for 1,500 more. The delay is the number
 * of patients (labelled at once) from there to the alarm of that thing's own signal (to the first of any signal, in 50
 * runs: printed only), beside the delay of a CUSUM that is told both distributions and may be wrong in 5 % of years, as if nothing
 * else were to be watched, or in 5 % / 14, a fourteenth of what may be wrong in all: its limits are found on years of its
 * own without change. Judged is the first: it is the oracle that is tuned for that very shift, and has the risks where the
 * outcome's rate changes at the same risks (another line, by labels alone, is printed only). Fails where the own alarm's
 * median delay is more than twice that CUSUM's, whose ratio is told with a bootstrap's 95 % interval (the same runs of
 * both), or where more quiet years than 5 % and their binomial error see an alarm. Changes the other way are printed
 * only. */
#include "tests/bench/bench.h"

#include "evaluation/watch.h"
#include "metrics/exchangeability.h"

#define N_YEAR 2500
#define BEHIND 1500 /* patients that are looked at behind a change */
#define MOST_REFERENCE 1000
#define LIMIT_YEARS 4000
#define MIDDLE (-2.5)
#define SPREAD 1.2
#define THRESHOLD (-1.0)
#define ANY_RUNS 50 /* runs in which all signals are looked at */

typedef struct {
  double kernel, thick, logit, score, ratio, slope;
} Hospital;

static const Hospital usual = {0.06, 0.2, 0.0, 0.0, 1.0, 1.0};

static guint64 seed = 15;
static size_t change = 1000; /* patients before it */

/* Patients of a run: of a quiet year N_YEAR. */
static size_t
n_looked_at(void) {
  return change + BEHIND;
}

static double
sigmoid(double x) {
  return 1.0 / (1.0 + exp(-x));
}

static double
truth(const Hospital *hospital, double risk) {
  const double logit = log(risk / (1.0 - risk));
  return fmin(hospital->ratio * sigmoid(MIDDLE + hospital->slope * (logit - MIDDLE)), 0.999);
}

/* Texts are constants: nothing of a patient is freed. */
static DemurWatchPatient
draw(DemurRandom *random, const Hospital *hospital, gint64 order) {
  static const char *const makers[] = {"SIEMENS", "GE", "PHILIPS"};
  DemurWatchPatient patient = {.order = order,
                               .key = demur_random_bits(random),
                               .when = (char *)"2026",
                               .scored = TRUE,
                               .outcome_of = (char *)"assessed",
                               .version = (char *)"1"};
  patient.raw = patient.risk =
      sigmoid(MIDDLE + hospital->logit + SPREAD * demur_random_normal(random));
  patient.score = hospital->score + demur_random_normal(random);
  patient.distance = demur_random_exponential(random);
  patient.manufacturer = (char *)makers[demur_random_below(random, 3)];
  patient.kernel = (char *)(demur_random_uniform(random) < hospital->kernel ? "B60f" : "B30f");
  patient.thickness =
      (char *)(demur_random_uniform(random) < hospital->thick ? "2.50 mm" : "1.25 mm");
  patient.label = demur_random_uniform(random) < truth(hospital, patient.risk) ? 1.0 : 0.0;
  return patient;
}

static void
draw_year(guint64 run, guint64 what, const Hospital *since, size_t n_reference,
          DemurWatchPatient *reference, size_t n, DemurWatchPatient *year) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, run, what, 0);
  for (size_t i = 0; i < n_reference; i++)
    reference[i] = draw(&random, &usual, 0);
  for (size_t i = 0; i < n; i++)
    year[i] = draw(&random, i < change ? &usual : since, (gint64)i + 1);
}

/* .. of one signal alone, with the limit that it has among all. */
static DemurWatchResult *
look_at_one(DemurWatchSignal signal, size_t n_reference, const DemurWatchPatient *reference,
            size_t n, const DemurWatchPatient *year) {
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  plan->threshold = THRESHOLD;
  plan->alpha = 1.0 / demur_watch_limit(plan, signal);
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (s != signal && !(signal == DEMUR_WATCH_CALIBRATION && s == DEMUR_WATCH_OUTCOME))
      plan->rules[s] = DEMUR_WATCH_IGNORE;
  demur_watch_plan_refer(plan, reference, n_reference);
  return demur_watch_look(plan, year, n, NULL);
}

static DemurWatchResult *
look(size_t n_reference, const DemurWatchPatient *reference, size_t n,
     const DemurWatchPatient *year) {
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  plan->threshold = THRESHOLD;
  demur_watch_plan_refer(plan, reference, n_reference);
  return demur_watch_look(plan, year, n, NULL);
}

/* The .9995 quantile of n draws of 5 %. */
static size_t
most_alarms(size_t n) {
  double log_chance = (double)n * log1p(-0.05), sum = exp(log_chance);
  size_t k = 0;
  while (sum < 0.9995 && k < n) {
    log_chance += log((double)(n - k) / (double)(k + 1) * 0.05 / 0.95);
    sum += exp(log_chance);
    k++;
  }
  return k;
}

/* Whether no more years than 5 % and their binomial error have an alarm. */
static gboolean
quiet(size_t years, size_t n_reference) {
  g_autofree DemurWatchPatient *reference = g_new0(DemurWatchPatient, MOST_REFERENCE),
                               *year = g_new0(DemurWatchPatient, N_YEAR);
  size_t n_alarms = 0;
  for (size_t y = 0; y < years; y++) {
    draw_year(y, 0, &usual, n_reference, reference, N_YEAR, year);
    g_autoptr(DemurWatchResult) result = look(n_reference, reference, N_YEAR, year);
    gboolean any = FALSE;
    for (guint s = 0; s < DEMUR_N_WATCH; s++)
      any |= result->signals[s].alarm != DEMUR_WATCH_NONE;
    n_alarms += any ? 1 : 0;
  }
  printf("quiet, reference of %zu: any alarm in %zu of %zu years\n", n_reference, n_alarms, years);
  fflush(stdout);
  return n_alarms <= most_alarms(years);
}

typedef struct {
  const char *title;
  DemurWatchSignal signal;
  Hospital since;
  gboolean printed_only;
  double before, after; /* of labels alone, the outcome's rates; 0: labels by their risks */
} Shift;

static double
bernoulli(gboolean hit, double before, double since) {
  return hit ? log(since / before) : log((1.0 - since) / (1.0 - before));
}

static double
normal_cdf(double x) {
  return 0.5 * erfc(-x / sqrt(2.0));
}

/* What one patient says for the change, the distributions being known. */
static double
likelihood_ratio(const Shift *shift, const DemurWatchPatient *p) {
  const Hospital *since = &shift->since;
  const double z = (log(p->raw / (1.0 - p->raw)) - MIDDLE) / SPREAD, move = since->logit / SPREAD;
  switch (shift->signal) {
  case DEMUR_WATCH_KERNEL:
    return bernoulli(strcmp(p->kernel, "B60f") == 0, usual.kernel, since->kernel);
  case DEMUR_WATCH_THICKNESS:
    return bernoulli(strcmp(p->thickness, "2.50 mm") == 0, usual.thick, since->thick);
  case DEMUR_WATCH_RISK:
    return move * z - 0.5 * move * move;
  case DEMUR_WATCH_COVERAGE:
    return bernoulli(p->score >= THRESHOLD, 1.0 - normal_cdf(THRESHOLD),
                     1.0 - normal_cdf(THRESHOLD - since->score));
  default:
    if (shift->before > 0.0)
      return bernoulli(p->label > 0.5, shift->before, shift->after);
    return bernoulli(p->label > 0.5, truth(&usual, p->risk), truth(since, p->risk));
  }
}

/* The largest CUSUM of n patients; *reached: patients behind the change until it passed the limit. */
static double
cusum(const Shift *shift, size_t n, const DemurWatchPatient *year, double limit, double *reached) {
  double sum = 0.0, most = 0.0;
  *reached = INFINITY;
  for (size_t i = 0; i < n; i++) {
    sum = fmax(0.0, sum + likelihood_ratio(shift, &year[i]));
    most = fmax(most, sum);
    if (i >= change && !isfinite(*reached) && sum >= limit)
      *reached = (double)(i - change + 1);
  }
  return most;
}

/* limits: passed in 5 % of years without change, and in 5 % / 14. */
static void
cusum_limits(const Shift *shift, guint64 what, DemurWatchPatient *reference,
             DemurWatchPatient *year, double *limits) {
  g_autofree double *most = g_new(double, LIMIT_YEARS);
  double reached;
  for (size_t y = 0; y < LIMIT_YEARS; y++) {
    draw_year(1000000 + y, what, &usual, 0, reference, N_YEAR, year);
    most[y] = cusum(shift, N_YEAR, year, INFINITY, &reached);
  }
  qsort(most, LIMIT_YEARS, sizeof *most, bench_compare);
  limits[0] = most[LIMIT_YEARS * 95 / 100];
  limits[1] = most[(size_t)(LIMIT_YEARS * (1.0 - 0.05 / DEMUR_N_WATCH))];
}

/* The same of an e-process that is told both distributions and not when: sum_k w_k prod LR, the watch's own
 * beginnings, which may be wrong as seldom for all time. *reached: patients until it is 1 / level. */
static double
oracle_bets(const Shift *shift, size_t n, const DemurWatchPatient *year, double level) {
  double begun = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (i % DEMUR_EXCHANGE_BLOCK == 0)
      begun += demur_exchange_weight(i / DEMUR_EXCHANGE_BLOCK);
    begun *= exp(likelihood_ratio(shift, &year[i]));
    if (begun + demur_exchange_weight_from(i / DEMUR_EXCHANGE_BLOCK + 1) >= 1.0 / level &&
        i >= change)
      return (double)(i - change + 1);
  }
  return INFINITY;
}

/* log(1 / level) over the mean of the logarithms of the ratios behind a change: what nobody who is told both
 * distributions, and when, and may be wrong that seldom for all time, is faster than on average (Wald). */
static double
least_delay(const Shift *shift, guint64 what, double level) {
  g_autofree DemurWatchPatient *none = g_new0(DemurWatchPatient, 1),
                               *year = g_new0(DemurWatchPatient, n_looked_at());
  double sum = 0.0, n = 0.0;
  for (size_t y = 0; y < 200; y++) {
    draw_year(2000000 + y, what, &shift->since, 0, none, n_looked_at(), year);
    for (size_t i = change; i < n_looked_at(); i++, n++)
      sum += likelihood_ratio(shift, &year[i]);
  }
  return -log(level) / (sum / n);
}

static double
delay_of(const DemurWatchSignalResult *signal) {
  if (signal->alarm == DEMUR_WATCH_NONE)
    return INFINITY;
  return (double)signal->rows[signal->alarm] - (double)change + 1.0;
}

/* The ends of the 95 % interval of the ratio of the medians of late and best [n], run by run the same. */
static void
ratio_interval(const double *late, const double *best, size_t n, double ends[2]) {
  enum { RESAMPLES = 2000 };
  g_autofree double *one = g_new(double, n), *other = g_new(double, n),
                    *ratios = g_new(double, RESAMPLES);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 0, G_MAXUINT32, 0);
  for (size_t b = 0; b < RESAMPLES; b++) {
    for (size_t i = 0; i < n; i++) {
      const size_t from = (size_t)demur_random_below(&random, n);
      one[i] = late[from];
      other[i] = best[from];
    }
    ratios[b] = bench_median(one, n) / bench_median(other, n);
  }
  qsort(ratios, RESAMPLES, sizeof *ratios, bench_compare);
  ends[0] = ratios[RESAMPLES * 25 / 1000];
  ends[1] = ratios[RESAMPLES * 975 / 1000];
}

static double
first_of_any(size_t n_reference, const DemurWatchPatient *reference, size_t n,
             const DemurWatchPatient *year) {
  g_autoptr(DemurWatchResult) result = look(n_reference, reference, n, year);
  double first = INFINITY;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    first = fmin(first, delay_of(&result->signals[s]));
  return first;
}

/* Whether the signal's own alarm comes within twice the delay of the CUSUM. */
static gboolean
shifted(const Shift *shift, guint64 what, size_t runs, size_t n_reference) {
  const size_t n = n_looked_at();
  g_autofree DemurWatchPatient *reference = g_new0(DemurWatchPatient, MOST_REFERENCE),
                               *year = g_new0(DemurWatchPatient, MAX(n, N_YEAR));
  g_autofree double *own = g_new(double, runs), *any = g_new(double, runs),
                    *oracle = g_new(double, runs), *shared = g_new(double, runs),
                    *bets = g_new(double, runs);
  double limits[2];
  cusum_limits(shift, what, reference, year, limits);
  size_t n_found = 0, n_oracle = 0;
  for (size_t r = 0; r < runs; r++) {
    draw_year(r, what, &shift->since, n_reference, reference, n, year);
    g_autoptr(DemurWatchResult) one = look_at_one(shift->signal, n_reference, reference, n, year);
    own[r] = delay_of(&one->signals[shift->signal]);
    if (r < ANY_RUNS)
      any[r] = first_of_any(n_reference, reference, n, year);
    cusum(shift, n, year, limits[0], &oracle[r]);
    cusum(shift, n, year, limits[1], &shared[r]);
    bets[r] = oracle_bets(shift, n, year, 0.05 / DEMUR_N_WATCH);
    n_found += isfinite(own[r]) ? 1 : 0;
    n_oracle += isfinite(oracle[r]) ? 1 : 0;
  }
  double ends[2];
  ratio_interval(own, oracle, runs, ends); /* before medians sort them */
  const double median = bench_median(own, runs), best = bench_median(oracle, runs);
  const double fair = bench_median(shared, runs), told = bench_median(bets, runs);
  printf(
      "%-32s found %3zu, CUSUM %3zu of %zu; median delay %4.0f (nine in ten within %4.0f), any signal "
      "%4.0f; CUSUM %3.0f: %.1f x, wrong in 5 %% / 14: %3.0f: %.1f x; bets "
      "that are told the change %3.0f: %.1f x; least %.0f, %.0f\n",
      shift->title, n_found, n_oracle, runs, median, own[runs * 9 / 10],
      bench_median(any, MIN(runs, ANY_RUNS)), best, median / best, fair, median / fair, told,
      median / told, least_delay(shift, what, 0.05 / DEMUR_N_WATCH),
      least_delay(shift, what, 0.05));
  fflush(stdout);
  printf("  own alarm: %.2f x (95 %% interval %.2f to %.2f)%s\n", median / best, ends[0], ends[1],
         shift->printed_only ? ", not judged" : "");
  fflush(stdout);
  return shift->printed_only || median <= 2.0 * best;
}

/* The outcome's rate before and after. */
static void
set_rates(Shift *shift) {
  g_autofree DemurWatchPatient *none = g_new0(DemurWatchPatient, 1),
                               *year = g_new0(DemurWatchPatient, N_YEAR);
  double n = 0.0, before = 0.0, after = 0.0;
  for (size_t y = 0; y < 200; y++) {
    draw_year(3000000 + y, 0, &usual, 0, none, N_YEAR, year);
    for (size_t i = 0; i < N_YEAR; i++, n++) {
      before += truth(&usual, year[i].risk);
      after += truth(&shift->since, year[i].risk);
    }
  }
  shift->before = before / n;
  shift->after = after / n;
}

int
main(int argc, char **argv) {
  const size_t years = argc > 1 ? (size_t)atoi(argv[1]) : 500;
  const size_t runs = argc > 2 ? (size_t)atoi(argv[2]) : 400;
  const size_t alone = argc > 3 ? (size_t)atoi(argv[3]) : 0;
  seed = argc > 4 ? g_ascii_strtoull(argv[4], NULL, 10) : seed;
  change = argc > 5 ? (size_t)atoi(argv[5]) : change;
  Shift shifts[] = {
      {"kernel B60f 6 % -> 20 %", DEMUR_WATCH_KERNEL, .since = {0.2, 0.2, 0.0, 0.0, 1.0, 1.0}},
      {"kernel B60f 6 % -> 41 %", DEMUR_WATCH_KERNEL, .since = {0.41, 0.2, 0.0, 0.0, 1.0, 1.0}},
      {"thickness 2.5 mm 20 % -> 40 %", DEMUR_WATCH_THICKNESS,
       .since = {0.06, 0.4, 0.0, 0.0, 1.0, 1.0}},
      {"risk: logit + .4 (new version)", DEMUR_WATCH_RISK,
       .since = {0.06, 0.2, 0.4, 0.0, 1.0, 1.0}},
      {"coverage 84 % -> 70 %", DEMUR_WATCH_COVERAGE, .since = {0.06, 0.2, 0.0, -0.476, 1.0, 1.0}},
      {"outcome rate x 2", DEMUR_WATCH_OUTCOME, .since = {0.06, 0.2, 0.0, 0.0, 2.0, 1.0}},
      {"O:E 1 -> 2", DEMUR_WATCH_CALIBRATION, .since = {0.06, 0.2, 0.0, 0.0, 2.0, 1.0}},
      {"calibration slope 1 -> .3", DEMUR_WATCH_SLOPE, .since = {0.06, 0.2, 0.0, 0.0, 1.0, 0.3}},
      {"outcome rate x 2, CUSUM by labels", DEMUR_WATCH_OUTCOME,
       .since = {0.06, 0.2, 0.0, 0.0, 2.0, 1.0}, .printed_only = TRUE},
      {"thickness 2.5 mm 20 % -> 8 %", DEMUR_WATCH_THICKNESS,
       .since = {0.06, 0.08, 0.0, 0.0, 1.0, 1.0}, .printed_only = TRUE},
      {"risk: logit - .4", DEMUR_WATCH_RISK, .since = {0.06, 0.2, -0.4, 0.0, 1.0, 1.0},
       .printed_only = TRUE},
      {"coverage 84 % -> 94 %", DEMUR_WATCH_COVERAGE, .since = {0.06, 0.2, 0.0, 0.56, 1.0, 1.0},
       .printed_only = TRUE},
      {"O:E 1 -> .5", DEMUR_WATCH_CALIBRATION, .since = {0.06, 0.2, 0.0, 0.0, 0.5, 1.0},
       .printed_only = TRUE},
      {"calibration slope 1 -> 2", DEMUR_WATCH_SLOPE, .since = {0.06, 0.2, 0.0, 0.0, 1.0, 2.0},
       .printed_only = TRUE},
  };
  set_rates(&shifts[8]);
  gboolean kept = TRUE;
  for (size_t s = 0; runs > 0 && s < G_N_ELEMENTS(shifts); s++)
    if (alone == 0 || alone == s + 1)
      kept &= shifted(&shifts[s], s + 1, runs, MOST_REFERENCE);
  kept &= quiet(years, MOST_REFERENCE);
  kept &= quiet(years, 300);
  return kept ? 0 : 1;
}
