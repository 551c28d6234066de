/* Does another mix give what a cohort that really has that mix has?
 *
 *   bench-mix ist TABLE.csv COVARIATES.csv [DRAWS [REPLICATES]]     the stroke trial's hospitals abroad, by country
 *   bench-mix simulated [DRAWS [SITES [REPLICATES]]]      an NLST-style cohort, by manufacturer
 *
 * The cohort's scans are the world. Its part with the wanted mix, weighted exactly, is what is right: one
 * value (a country with enough patients, a manufacturer) has twice its share, up to a half. A draw (400)
 * takes as many hospitals as there are with replacement, or patients where there are fewer than 20
 * hospitals, so that it has another mix, and asks for the wanted one; its 95 % intervals must hold what is
 * right, and the change from the drawn mix too. Without replicates (0, quickly) calibration error and changes
 * of ratios have intervals, of which the changes' are narrower than with them, and printed only. A method that
 * shows what it is surest of accepts seven in ten scans of the world. Judged by the 95 % binomial interval (Wilson) of the
 * share that holds: of a value it has to meet 93 to 97 %, of a change to reach 93 %; one that holds more often than 97 % claims
 * too little, which is said and is no failure. Exit 1 where one does not. */
#include "tests/bench/bench.h"

#include "cohort/import.h"
#include "cohort/simulate.h"
#include "evaluation/mix.h"
#include "metrics/intervals.h"

#define LEAST_SHARE 0.05
#define LEAST_SITES 6
/* How often 95 % intervals are to hold. */
#define LEAST_HELD 0.93
#define MOST_HELD 0.97

typedef struct {
  const char *by;
  size_t n; /* scans */
  double *risks;
  int *labels;
  gboolean *accepted;
  guint32 *units, *sites; /* [n] what a draw takes, and the hospital */
  size_t n_units, n_sites;
  GPtrArray *texts; /* [n] owned */
  gboolean of_sites;
} World;

static World
world_new(const DemurCohort *cohort, const char *split, const char *by, const char *const *texts) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, &error);
  g_assert_no_error(error);
  World w = {.by = by,
             .n = n,
             .risks = g_new(double, n),
             .labels = g_new(int, n),
             .accepted = g_new(gboolean, n),
             .units = g_new(guint32, n),
             .sites = g_new(guint32, n),
             .texts = g_ptr_array_new_with_free_func(g_free)};
  g_autofree double *sure = g_new(double, n), *sorted = g_new(double, n);
  g_autoptr(GHashTable) sites = g_hash_table_new(NULL, NULL),
                        patients = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < n; i++) {
    const gpointer site = GUINT_TO_POINTER(cohort->sites[rows[i]] + 1),
                   patient = GUINT_TO_POINTER(cohort->patients[rows[i]] + 1);
    if (!g_hash_table_contains(sites, site))
      g_hash_table_insert(sites, site, GUINT_TO_POINTER(g_hash_table_size(sites)));
    if (!g_hash_table_contains(patients, patient))
      g_hash_table_insert(patients, patient, GUINT_TO_POINTER(g_hash_table_size(patients)));
    w.sites[i] = GPOINTER_TO_UINT(g_hash_table_lookup(sites, site));
    w.units[i] = GPOINTER_TO_UINT(g_hash_table_lookup(patients, patient));
    w.risks[i] = cohort->risks[rows[i]];
    w.labels[i] = cohort->labels[rows[i]];
    sure[i] = sorted[i] = fabs(w.risks[i] - 0.5);
    g_ptr_array_add(w.texts, g_strdup(texts[rows[i]]));
  }
  w.n_sites = g_hash_table_size(sites);
  w.of_sites = w.n_sites >= 20;
  w.n_units = w.of_sites ? w.n_sites : g_hash_table_size(patients);
  if (w.of_sites)
    memcpy(w.units, w.sites, n * sizeof *w.units);
  qsort(sorted, n, sizeof *sorted, bench_compare);
  for (size_t i = 0; i < n; i++)
    w.accepted[i] = sure[i] >= sorted[(size_t)(0.3 * (double)n)];
  return w;
}

static DemurMix *
mix_of(const World *w, const guint32 *times, const char *wish_text, size_t n_replicates) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  g_autoptr(GArray) from = g_array_new(FALSE, FALSE, sizeof(guint32));
  for (guint32 i = 0; i < w->n; i++)
    for (guint32 t = 0; t < times[w->units[i]]; t++) {
      char id[32], patient[32], site[32];
      g_snprintf(id, sizeof id, "s%u-%u", i, t);
      g_snprintf(patient, sizeof patient, "p%u-%u", w->of_sites ? i : w->units[i], t);
      g_snprintf(site, sizeof site, "H%u-%u", w->sites[i], w->of_sites ? t : 0);
      demur_cohort_builder_add(builder, id, patient, site, "test", w->labels[i], &w->risks[i], NULL,
                               NULL);
      demur_cohort_builder_attribute(builder, w->by, w->texts->pdata[i]);
      g_array_append_val(from, i);
    }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "drawn", "2026-01-01T00:00:00Z", TRUE, NULL);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, NULL);
  DemurSample *sample = demur_sample_new(cohort, rows, n, "test", NULL);
  g_autofree gboolean *accepted = g_new(gboolean, n);
  for (size_t i = 0; i < n; i++)
    accepted[i] = w->accepted[g_array_index(from, guint32, sample->rows[i])];
  g_autoptr(GPtrArray) wishes =
      g_ptr_array_new_with_free_func((GDestroyNotify)(gpointer)demur_mix_wish_free);
  g_ptr_array_add(wishes, demur_mix_wish_parse(wish_text, NULL));
  const DemurMixInput input = {.cohort = cohort,
                               .sample = sample,
                               .accepted = accepted,
                               .wishes = wishes,
                               .seed = 1,
                               .n_replicates = n_replicates,
                               .min_bin_size = 25};
  DemurMix *mix = demur_mix_new(&input, NULL, NULL, NULL);
  demur_sample_free(sample);
  return mix;
}

/* "country=Italy:0.4" of each value with enough scans and hospitals. */
static GPtrArray *
find_wishes(const World *w) {
  GPtrArray *wishes = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < w->n; i++) {
    const char *text = w->texts->pdata[i];
    if (*text == '\0' || !g_hash_table_add(seen, (gpointer)text))
      continue;
    g_autoptr(GHashTable) sites = g_hash_table_new(NULL, NULL);
    double share = 0.0;
    for (size_t k = 0; k < w->n; k++)
      if (strcmp(w->texts->pdata[k], text) == 0) {
        share += 1.0 / (double)w->n;
        g_hash_table_add(sites, GUINT_TO_POINTER(w->sites[k] + 1));
      }
    if (share >= LEAST_SHARE && (!w->of_sites || g_hash_table_size(sites) >= LEAST_SITES))
      g_ptr_array_add(wishes, g_strdup_printf("%s=%s:%.3f", w->by, text, fmin(2.0 * share, 0.5)));
  }
  return wishes;
}

/* The share that was held, with its own interval. */
typedef struct {
  double share, low, high;
  gboolean too_few, too_many;
} Held;

static Held
judge(size_t n_held, size_t n) {
  Held held = {.share = (double)n_held / (double)MAX(n, 1)};
  demur_interval_wilson((double)n_held, (double)n, 0.95, &held.low, &held.high);
  held.too_few = held.high < LEAST_HELD;
  held.too_many = held.low > MOST_HELD;
  return held;
}

static void
print_held(const char *what, const Held *held) {
  printf("    %-10s held by %5.1f %% (%.1f to %.1f)%s\n", what, 100.0 * held->share,
         100.0 * held->low, 100.0 * held->high,
         held->too_few    ? ": too narrow"
         : held->too_many ? ": too wide"
                          : "");
}

static gboolean
run(const World *w, const char *title, size_t n_draws, size_t n_replicates) {
  static const DemurMixValue values[] = {DEMUR_MIX_COVERAGE, DEMUR_MIX_OUTCOMES,
                                         DEMUR_MIX_OE_ACCEPTED, DEMUR_MIX_CALIBRATION};
  g_autoptr(GPtrArray) wishes = find_wishes(w);
  g_autofree guint32 *times = g_new(guint32, w->n_units);
  g_autoptr(GPtrArray) right = g_ptr_array_new();
  /* Of the world its labels are the truth: of 64 worlds in one next to no error is taken for chance. */
  for (size_t u = 0; u < w->n_units; u++)
    times[u] = 64;
  for (guint v = 0; v < wishes->len; v++)
    g_ptr_array_add(right, mix_of(w, times, wishes->pdata[v], 0));
  size_t held[G_N_ELEMENTS(values)] = {0}, of_change[G_N_ELEMENTS(values)] = {0},
         above[G_N_ELEMENTS(values)] = {0}, n_told = 0, n_refused = 0;
  for (size_t d = 0; d < n_draws; d++) {
    DemurRandom random = demur_random_stream(21, DEMUR_STREAM_TEST, d, 0, 0);
    memset(times, 0, w->n_units * sizeof *times);
    for (size_t u = 0; u < w->n_units; u++)
      times[demur_random_below(&random, w->n_units)]++;
    const guint wanted = (guint)(d % wishes->len);
    g_autoptr(DemurMix) mix = mix_of(w, times, wishes->pdata[wanted], n_replicates);
    const DemurMix *truth = right->pdata[wanted];
    if (mix == NULL || mix->labels_withheld) {
      n_refused++;
      continue;
    }
    n_told++;
    for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
      const DemurMixRow *row = &mix->rows[values[k]];
      const double value = truth->rows[values[k]].mix;
      held[k] += row->mix_interval.low <= value && value <= row->mix_interval.high ? 1 : 0;
      const double change = truth->rows[values[k]].change;
      of_change[k] += row->change_interval.low <= change && change <= row->change_interval.high;
      above[k] += value < row->mix_interval.low ? 1 : 0;
    }
  }
  gboolean kept = TRUE;
  printf("%s: %zu scans, %zu %s, %u wanted mixes, %zu draws, %zu refused\n", title, w->n,
         w->n_units, w->of_sites ? "hospitals" : "patients", wishes->len, n_draws, n_refused);
  for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
    const Held value = judge(held[k], n_told), change = judge(of_change[k], n_told);
    printf("  %s: %zu intervals lie above it, %zu below\n", demur_mix_value_name(values[k]),
           above[k], n_told - held[k] - above[k]);
    print_held("value", &value);
    print_held("its change", &change);
    kept &= !(value.too_few || value.too_many) ||
            (n_replicates == 0 && values[k] != DEMUR_MIX_CALIBRATION);
    kept &= !change.too_few || n_replicates == 0;
  }
  fflush(stdout);
  for (guint v = 0; v < right->len; v++)
    demur_mix_free(right->pdata[v]);
  return kept;
}

static gboolean
run_table(const char *table, const char *covariates, size_t n_draws, size_t n_replicates) {
  g_autoptr(GError) error = NULL;
  const DemurImportOptions options = {.name = "ist"};
  g_autoptr(DemurCohort) cohort = demur_cohort_import(table, &options, NULL, NULL, &error);
  g_assert_no_error(error);
  char *columns[] = {(char *)"country", NULL};
  g_autoptr(DemurAttached) attached =
      demur_cohort_attach_table(cohort, covariates, "patient_id", columns, NULL, NULL, &error);
  g_assert_no_error(error);
  const DemurAttribute *country = &attached->attributes[0];
  g_autofree const char **texts = g_new(const char *, cohort->n_scans);
  for (size_t i = 0; i < cohort->n_scans; i++)
    texts[i] = country->values[country->codes[i]];
  const World w = world_new(cohort, "test", "country", texts);
  return run(&w, table, n_draws, n_replicates);
}

static gboolean
run_simulated(size_t n_draws, size_t n_sites, size_t n_replicates) {
  g_autoptr(GError) error = NULL;
  DemurSimulation simulation;
  demur_simulation_defaults(&simulation);
  simulation.n_sites = n_sites;
  simulation.n_base_train = 1000;
  g_autoptr(DemurCohort) cohort =
      demur_cohort_simulate(&simulation, "nlst", "2026-01-01T00:00:00Z", NULL, NULL, &error);
  g_assert_no_error(error);
  const gssize maker = demur_cohort_find_attribute(cohort, "manufacturer");
  g_autofree const char **texts = g_new(const char *, cohort->n_scans);
  for (size_t i = 0; i < cohort->n_scans; i++)
    texts[i] = demur_cohort_attribute_text(cohort, (size_t)maker, i);
  const World w = world_new(cohort, "selector_train", "manufacturer", texts);
  g_autofree char *title = g_strdup_printf("simulated, %zu hospitals", n_sites);
  return run(&w, title, n_draws, n_replicates);
}

int
main(int argc, char **argv) {
  const gboolean ist = argc >= 4 && strcmp(argv[1], "ist") == 0;
  if (!ist && (argc < 2 || strcmp(argv[1], "simulated") != 0)) {
    g_printerr(
        "bench-mix ist TABLE.csv COVARIATES.csv [DRAWS [REPLICATES]], or bench-mix simulated "
        "[DRAWS [SITES [REPLICATES]]]\n");
    return 2;
  }
  const int at = ist ? 4 : 2;
  const size_t n_draws = argc > at ? (size_t)atoi(argv[at]) : 400;
  const size_t replicates = argc > (ist ? 5 : 4) ? (size_t)atoi(argv[ist ? 5 : 4]) : 300;
  const gboolean kept =
      ist ? run_table(argv[2], argv[3], n_draws, replicates)
          : run_simulated(n_draws, argc > 3 ? (size_t)atoi(argv[3]) : 33, replicates);
  return kept ? 0 : 1;
}
