/* Another mix. Right values: by hand for what raking one margin does to shares; for intervals a
 * population whose mix is really the wanted one, drawn large, that the reweighted samples of
 * another mix must hold 95 times in 100; for standard errors the jackknife that rakes anew without
 * each unit, and the textbook's stratified mean. DEMUR_LONG=1: 400 samples in place of 40. */
#include "support/support.h"
#include "base/error.h"
#include "evaluation/mix-ratios.h"
#include "evaluation/mix.h"
#include "metrics/intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 1500
#define N_TRUTH 150000

static double
logistic(double x) {
  return 1.0 / (1.0 + exp(-x));
}

/* Scans of soft and sharp kernels, `sharp` of them sharp. Sharp ones are told too low a risk, and
 * held back more often; scans with a high risk too. */
typedef struct {
  DemurCohort *cohort;
  DemurSample *sample;
  gboolean *accepted;
  gboolean released; /* as others may see it */
} Drawn;

static void
drawn_clear(Drawn *drawn) {
  demur_sample_free(drawn->sample);
  demur_cohort_unref(drawn->cohort);
  g_free(drawn->accepted);
}

static Drawn
draw_scans(size_t n, double sharp, guint64 seed, size_t n_sites) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 1, 0, 0);
  g_autofree gboolean *kept = g_new(gboolean, n);
  for (size_t i = 0; i < n; i++) {
    char id[32], site[32];
    g_snprintf(id, sizeof id, "s%zu", i);
    g_snprintf(site, sizeof site, "H%zu", i % n_sites);
    const gboolean is_sharp = demur_random_uniform(&random) < sharp;
    const double z = -1.5 + demur_random_normal(&random), risk = logistic(z),
                 truth = logistic(z + (is_sharp ? 0.7 : 0.0));
    const int label = demur_random_uniform(&random) < truth;
    kept[i] = demur_random_uniform(&random) < (is_sharp ? 0.6 : 0.9) - 0.3 * risk;
    demur_cohort_builder_add(builder, id, id, site, "test", label, &risk, NULL, NULL);
    demur_cohort_builder_attribute(builder, "kernel", is_sharp ? "sharp" : "soft");
  }
  Drawn drawn = {0};
  drawn.cohort =
      demur_cohort_builder_finish(builder, "c", "m", "drawn", "2026-01-01T00:00:00Z", TRUE, NULL);
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(drawn.cohort, "test", &n_rows, NULL);
  drawn.sample = demur_sample_new(drawn.cohort, rows, n_rows, "test", NULL);
  drawn.accepted = g_new(gboolean, n);
  for (size_t i = 0; i < n; i++)
    drawn.accepted[i] = kept[drawn.sample->rows[i]];
  return drawn;
}

static DemurMix *
mix_of(const Drawn *drawn, size_t n_replicates, GError **error, ...) {
  g_autoptr(GPtrArray) wishes =
      g_ptr_array_new_with_free_func((GDestroyNotify)(gpointer)demur_mix_wish_free);
  va_list list;
  va_start(list, error);
  for (const char *text; (text = va_arg(list, const char *)) != NULL;) {
    DemurMixWish *wish = demur_mix_wish_parse(text, NULL);
    g_assert_nonnull(wish);
    g_ptr_array_add(wishes, wish);
  }
  va_end(list);
  const DemurMixInput input = {.cohort = drawn->cohort,
                               .sample = drawn->sample,
                               .accepted = drawn->accepted,
                               .wishes = wishes,
                               .released = drawn->released,
                               .seed = 1,
                               .n_replicates = n_replicates,
                               .min_bin_size = 25};
  return demur_mix_new(&input, NULL, NULL, error);
}

/* The present mix asked for is the present mix, exactly, in every replicate. */
static void
test_present(void) {
  Drawn drawn = draw_scans(N, 0.2, 1, 4);
  size_t n_sharp = 0;
  for (size_t i = 0; i < N; i++)
    n_sharp += strcmp(demur_cohort_attribute_text(drawn.cohort, 0, i), "sharp") == 0;
  g_autofree char *wish = g_strdup_printf("kernel=sharp:%.17g", (double)n_sharp / N);
  g_autoptr(DemurMix) mix = mix_of(&drawn, 20, NULL, wish, NULL);
  g_assert_nonnull(mix);
  g_assert_cmpfloat_with_epsilon(mix->n_effective, N, 1e-6);
  g_assert_cmpint(mix->unit, ==, DEMUR_UNIT_PATIENT);
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++)
    g_assert_cmpfloat_with_epsilon(mix->rows[v].change, 0.0, 1e-9);
  drawn_clear(&drawn);
}

/* All of one value: what the scans with it say, alone. */
static void
test_one_value(void) {
  Drawn drawn = draw_scans(N, 0.2, 2, 4);
  g_autoptr(DemurMix) mix = mix_of(&drawn, 20, NULL, "kernel=sharp:1", NULL);
  g_assert_nonnull(mix);
  double n = 0, shown = 0, observed = 0, expected = 0;
  for (size_t i = 0; i < N; i++) {
    const guint32 row = drawn.sample->rows[i];
    if (strcmp(demur_cohort_attribute_text(drawn.cohort, 0, row), "sharp") != 0)
      continue;
    n++;
    shown += drawn.accepted[i];
    observed += drawn.accepted[i] ? drawn.sample->labels[i] : 0;
    expected += drawn.accepted[i] ? drawn.sample->risks[i] : 0;
  }
  g_assert_cmpfloat_with_epsilon(mix->n_effective, n, 1e-6);
  g_assert_cmpfloat_with_epsilon(mix->rows[DEMUR_MIX_COVERAGE].mix, shown / n, 1e-9);
  g_assert_cmpfloat_with_epsilon(mix->rows[DEMUR_MIX_OE_ACCEPTED].mix, observed / expected, 1e-9);
  drawn_clear(&drawn);
}

static void
test_refused(void) {
  static const struct {
    const char *mix, *says;
  } cases[] = {{"kernel=bone:0.5", "bone"},
               {"scanner=x:0.5", "no attribute"},
               {"kernel=sharp:0.5,soft:0.4", "must be 1"},
               {"site=H0:0.99", "not supported"}};
  Drawn drawn = draw_scans(N, 0.2, 3, 30);
  for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurMix) mix = mix_of(&drawn, 10, &error, cases[c].mix, NULL);
    g_assert_null(mix);
    g_assert_nonnull(strstr(error->message, cases[c].says));
  }
  static const char *const wrong[] = {
      "",        "kernel", "=a:1",          "k=a",           "k=a:1.5",
      "k=a:-.1", "k=",     "k=a:0.5,a:0.1", "k=a:0.8,b:0.4", "k=a:x"};
  for (size_t c = 0; c < G_N_ELEMENTS(wrong); c++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_mix_wish_parse(wrong[c], &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  g_autoptr(DemurMixWish) wish = demur_mix_wish_parse("m=A\\, B:0.5,C:D:.25", NULL);
  g_assert_cmpstr(wish->values->pdata[0], ==, "A, B");
  g_assert_cmpstr(wish->values->pdata[1], ==, "C:D");
  drawn_clear(&drawn);
}

static Drawn
all_accepted(DemurCohortBuilder *builder) {
  Drawn drawn = {0};
  drawn.cohort =
      demur_cohort_builder_finish(builder, "c", "m", "drawn", "2026-01-01T00:00:00Z", TRUE, NULL);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(drawn.cohort, "test", &n, NULL);
  drawn.sample = demur_sample_new(drawn.cohort, rows, n, "test", NULL);
  drawn.accepted = g_new(gboolean, n);
  for (size_t i = 0; i < n; i++)
    drawn.accepted[i] = TRUE;
  return drawn;
}

/* A value that few have the outcome with is not told of, whichever way it is asked. */
static void
test_small_cells(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < 400; i++) {
    char id[32];
    g_snprintf(id, sizeof id, "s%zu", i);
    const double risk = 0.1 + 0.0005 * (double)i;
    demur_cohort_builder_add(builder, id, id, "H", "test", i < 40 ? i % 2 == 0 : i % 5 == 0, &risk,
                             NULL, NULL);
    demur_cohort_builder_attribute(builder, "kernel", i < 14 ? "rare" : i < 40 ? "b" : "soft");
  }
  Drawn drawn = all_accepted(builder);
  static const char *const asked[] = {"kernel=rare:0.3", "kernel=rare:0", "kernel=b:0.4"};
  for (size_t c = 0; c < G_N_ELEMENTS(asked); c++) {
    g_autoptr(DemurMix) mix = mix_of(&drawn, 10, NULL, asked[c], NULL);
    g_assert_nonnull(mix);
    g_assert_true(mix->labels_withheld);
    g_assert_true(isnan(mix->rows[DEMUR_MIX_OUTCOMES].mix));
    g_assert_true(isfinite(mix->rows[DEMUR_MIX_COVERAGE].mix));
  }
  drawn_clear(&drawn);
}

/* Both ends are steps, to the last digit, and hold what is told and all that was held before. */
static void
assert_told_within(double told, DemurInterval interval, DemurInterval in_full) {
  const double ends[] = {interval.low, interval.high};
  g_assert_cmpfloat(ends[0], <=, in_full.low + 1e-9);
  g_assert_cmpfloat(ends[1], >=, in_full.high - 1e-9);
  g_assert_cmpfloat(ends[0], <=, told);
  g_assert_cmpfloat(ends[1], >=, told);
  for (size_t e = 0; e < 2; e++) {
    char text[32];
    g_ascii_formatd(text, sizeof text, "%.6f", ends[e]);
    g_assert_cmpfloat(ends[e], ==, g_ascii_strtod(text, NULL));
  }
}

/* Where numbers are told in steps their change is one of the steps too, to the last digit, and all have an interval,
 * which a change next to 0, and of few scans a value, lost: its ends are smaller than a step. */
static void
assert_steps(size_t n) {
  Drawn drawn = draw_scans(n, 0.3, 3, 8);
  static const char *const asked[] = {"kernel=sharp:0.1", "kernel=sharp:0.2", "kernel=sharp:0.4",
                                      "kernel=sharp:0.5", "kernel=sharp:0.6", "kernel=sharp:0.7"};
  static const DemurMixValue counted[] = {DEMUR_MIX_OE_ACCEPTED, DEMUR_MIX_REJECTED_1,
                                          DEMUR_MIX_REJECTED_0};
  for (size_t c = 0; c < G_N_ELEMENTS(asked); c++) {
    drawn.released = FALSE;
    g_autoptr(DemurMix) full = mix_of(&drawn, 10, NULL, asked[c], NULL);
    drawn.released = TRUE;
    g_autoptr(DemurMix) mix = mix_of(&drawn, 10, NULL, asked[c], NULL);
    for (size_t v = 0; v < G_N_ELEMENTS(counted); v++) {
      const DemurMixRow *row = &mix->rows[counted[v]], *whole = &full->rows[counted[v]];
      char text[32];
      g_ascii_formatd(text, sizeof text, "%.6f", row->change);
      g_test_message("%s: %.17g to %.17g, change %.17g", asked[c], row->present, row->mix,
                     row->change);
      g_assert_cmpfloat(row->change, ==, g_ascii_strtod(text, NULL));
      g_assert_cmpfloat_with_epsilon(row->change, row->mix - row->present, 1e-9);
      assert_told_within(row->change, row->change_interval, whole->change_interval);
      assert_told_within(row->present, row->present_interval, whole->present_interval);
      assert_told_within(row->mix, row->mix_interval, whole->mix_interval);
    }
  }
  drawn_clear(&drawn);
}

static void
test_steps(void) {
  assert_steps(N);
  assert_steps(200); /* a step is as large as most of the values */
}

/* A hospital of 60 scans in a network of 65: the network's share would tell of the 5 others. B and C
 * are withheld together, A and D told. */
static void
test_small_between_two_ways(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < 200; i++) {
    char id[32];
    g_snprintf(id, sizeof id, "s%zu", i);
    const double risk = 0.1 + 0.001 * (double)i;
    demur_cohort_builder_add(builder, id, id,
                             i < 60   ? "A"
                             : i < 65 ? "B"
                             : i < 77 ? "C"
                                      : "D",
                             "test", i % 2 == 0, &risk, NULL, NULL);
    demur_cohort_builder_attribute(builder, "network", i < 65 ? "north" : "south");
    demur_cohort_builder_attribute(builder, "sex", i % 3 == 0 ? "f" : "m");
  }
  Drawn drawn = all_accepted(builder);
  g_autoptr(GError) error = NULL;
  g_assert_null(mix_of(&drawn, 10, &error, "network=north:0.4", NULL));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_autoptr(DemurMix) mix = mix_of(&drawn, 10, NULL, "sex=f:0.4", NULL);
  g_assert_nonnull(mix);
  drawn_clear(&drawn);
}

/* Standard errors of a raked sample of 200 uneven sites by two margins, against the jackknife (its own
 * raking without each site), which agrees with linearisation to a few in a hundred. */
static void
test_standard_errors(void) {
  enum { SITES = 200, MOST = 24 };
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 1, 0, 0);
  for (guint site = 0; site < SITES; site++)
    for (guint i = 0; i < 8 + site % (MOST - 8); i++) {
      char id[32], name[16];
      g_snprintf(id, sizeof id, "s%03u-%02u", site, i);
      g_snprintf(name, sizeof name, "H%03u", site);
      const double risk = 0.1 + 0.6 * demur_random_uniform(&random);
      demur_cohort_builder_add(builder, id, id, name, "test", demur_random_uniform(&random) < risk,
                               &risk, NULL, NULL);
    }
  Drawn drawn = all_accepted(builder);
  const DemurSample *s = drawn.sample;
  g_autofree guint32 *whole_sites = g_new(guint32, s->n), *scans = g_new(guint32, s->n),
                     *counts = g_new(guint32, s->n);
  guint32 *const codes[2] = {whole_sites, scans};
  for (size_t i = 0; i < s->n; i++) {
    codes[0][i] = s->sites[i] % 4 == 0 ? 1 : 0; /* a margin of whole sites, as countries are */
    codes[1][i] = demur_random_uniform(&random) < 0.3 ? 1 : 0;
    drawn.accepted[i] = demur_random_uniform(&random) < (codes[1][i] ? 0.5 : 0.8);
    counts[i] = 1;
  }
  const double shares[][2] = {{0.5, 0.5}, {0.4, 0.6}};
  const DemurRakingMargin margins[] = {{2, codes[0], shares[0]}, {2, codes[1], shares[1]}};
  const DemurMixRatios ratios = {s, drawn.accepted, DEMUR_UNIT_SITE, 2, margins};
  DemurMixRatiosScratch *scratch = demur_mix_ratios_scratch_new(&ratios);
  g_autofree double *raked = g_new(double, s->n),
                    *influences = g_new(double, DEMUR_N_MIX_VALUES *SITES),
                    *unused = g_new(double, DEMUR_N_MIX_VALUES *SITES);
  g_autofree double *left = g_new(double, SITES), *none = g_new0(double, SITES);
  double values[DEMUR_N_MIX_VALUES], without[SITES][DEMUR_N_MIX_VALUES];
  g_assert_cmpint(demur_raking(margins, 2, s->n, NULL, raked), ==, DEMUR_RAKED);
  demur_mix_ratios(&ratios, (DemurDrawn){NULL, NULL}, raked, scratch, values, influences);
  demur_mix_leverages(&ratios, raked, left);
  g_autofree double *once = g_memdup2(raked, s->n * sizeof(double));
  for (guint site = 0; site < SITES; site++) {
    for (size_t i = 0; i < s->n; i++)
      counts[i] = s->sites[i] != site;
    g_assert_cmpint(demur_raking(margins, 2, s->n, counts, once), ==, DEMUR_RAKED);
    demur_mix_ratios(&ratios, (DemurDrawn){counts, NULL}, once, scratch, without[site], unused);
  }
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    if (!demur_mix_value_is_ratio((DemurMixValue)v, NULL))
      continue;
    double mean = 0.0, squares = 0.0;
    for (guint site = 0; site < SITES; site++)
      mean += without[site][v] / SITES;
    for (guint site = 0; site < SITES; site++)
      squares += (without[site][v] - mean) * (without[site][v] - mean);
    const double jackknife = sqrt((SITES - 1.0) / SITES * squares),
                 se = demur_mix_ratio_standard_error(&ratios, NULL, influences + v * SITES);
    g_test_message("%s %.4f: %.5f, jackknife %.5f", demur_mix_value_name((DemurMixValue)v),
                   values[v], se, jackknife);
    g_assert_cmpfloat(se, >, 0.96 * jackknife);
    g_assert_cmpfloat(se, <, 1.03 * jackknife);
    /* A site twice is two units: as often again drawn, the error falls by the root of two. */
    for (size_t i = 0; i < s->n; i++)
      counts[i] = 2;
    demur_mix_ratios(&ratios, (DemurDrawn){counts, NULL}, raked, scratch, values, unused);
    const double twice = demur_mix_ratio_standard_error(&ratios, counts, unused + v * SITES);
    g_assert_cmpfloat_with_epsilon(twice * twice / (se * se), (SITES - 1.0) / (2.0 * SITES - 1.0),
                                   1e-6);
    double degrees;
    const double *row = influences + v * SITES;
    g_assert_cmpfloat(demur_mix_change_standard_error(&ratios, row, row, left, &degrees), ==, 0.0);
    g_assert_true(isnan(degrees));
    demur_mix_change_standard_error(&ratios, row, none, left, &degrees);
    g_assert_cmpfloat(degrees, >, 1.0);
    g_assert_cmpfloat(degrees, <=, SITES);
  }
  demur_mix_ratios_scratch_free(scratch);
  drawn_clear(&drawn);
}

static void
test_intervals(void) {
  const size_t n_samples = demur_test_repeats(40, 400);
  static const DemurMixValue values[] = {DEMUR_MIX_COVERAGE, DEMUR_MIX_OE_ACCEPTED,
                                         DEMUR_MIX_OUTCOMES, DEMUR_MIX_CALIBRATION};
  Drawn large = draw_scans(N_TRUTH, 0.6, 99, 4);
  g_autoptr(DemurMix) truth = mix_of(&large, 0, NULL, "kernel=sharp:0.6", NULL);
  g_assert_nonnull(truth);
  size_t held[G_N_ELEMENTS(values)] = {0}, present[G_N_ELEMENTS(values)] = {0};
  for (size_t s = 0; s < n_samples; s++) {
    Drawn drawn = draw_scans(N, 0.2, 1000 + s, 4);
    g_autoptr(DemurMix) mix = mix_of(&drawn, 200, NULL, "kernel=sharp:0.6", NULL);
    g_assert_nonnull(mix);
    for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
      const DemurMixRow *row = &mix->rows[values[v]];
      const double right = truth->rows[values[v]].present;
      held[v] += row->mix_interval.low <= right && right <= row->mix_interval.high;
      present[v] += row->present_interval.low <= right && right <= row->present_interval.high;
    }
    drawn_clear(&drawn);
  }
  drawn_clear(&large);
  /* 95 % less three binomial errors; the present mix must not do as well. */
  const double least = 0.95 - 3.0 * sqrt(0.95 * 0.05 / (double)n_samples);
  for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
    g_test_message("%s: %zu of %zu intervals hold it, %zu of the present mix",
                   demur_mix_value_name(values[v]), held[v], n_samples, present[v]);
    g_assert_cmpfloat((double)held[v] / (double)n_samples, >=, least);
  }
  g_assert_cmpuint(present[0], <, n_samples / 4);
}

/* Hospitals of two countries, a few of them in the one that is asked for at half; they differ, and the
 * model is wrong in it. */
static Drawn
draw_hospitals(guint n_north, guint n_south, guint n_each, double off, guint64 seed) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 2, 0, 0);
  for (guint h = 0; h < n_north + n_south; h++) {
    const gboolean north = h < n_north;
    const double intercept = (north ? off : 0.0) + 0.3 * demur_random_normal(&random);
    for (guint i = 0; i < n_each; i++) {
      char id[32], site[16];
      g_snprintf(id, sizeof id, "s%05u-%03u", h, i);
      g_snprintf(site, sizeof site, "H%05u", h);
      const double z = -0.5 + demur_random_normal(&random), risk = logistic(z);
      demur_cohort_builder_add(builder, id, id, site, "test",
                               demur_random_uniform(&random) < logistic(z + intercept), &risk, NULL,
                               NULL);
      demur_cohort_builder_attribute(builder, "country", north ? "north" : "south");
    }
  }
  return all_accepted(builder);
}

/* The calibration error of eight hospitals' country at half of all, where it is large and where it is
 * next to nothing but what hospitals differ by: its 95 % interval, and that of
 * the change of O:E, without a replicate. */
static void
test_few_hospitals(void) {
  static const struct {
    double off, most;
  } rows[] = {{0.9, 0.97}, {0.15, 1.0}}; /* next to 0 the lower end, 0, holds it too */
  const size_t n_samples = demur_test_repeats(200, 2000);
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    Drawn large = draw_hospitals(600, 2400, 60, rows[r].off, 7);
    g_autoptr(DemurMix) truth = mix_of(&large, 0, NULL, "country=north:0.5", NULL);
    const double right = truth->rows[DEMUR_MIX_CALIBRATION].mix,
                 change = truth->rows[DEMUR_MIX_OE_ALL].change;
    drawn_clear(&large);
    size_t n_above = 0, n_below = 0, n_told = 0, n_changes = 0;
    for (size_t s = 0; s < n_samples; s++) {
      Drawn drawn = draw_hospitals(8, 32, 80, rows[r].off, 1000 + s);
      g_autoptr(DemurMix) mix = mix_of(&drawn, 0, NULL, "country=north:0.5", NULL);
      g_assert_cmpint(mix->unit, ==, DEMUR_UNIT_SITE);
      const DemurMixRow *row = &mix->rows[DEMUR_MIX_CALIBRATION];
      drawn_clear(&drawn);
      if (mix->labels_withheld) /* some hospital has few outcomes */
        continue;
      n_told++;
      g_assert_cmpfloat(row->mix_interval.low, <=, row->mix);
      g_assert_cmpfloat(row->mix_interval.high, >=, row->mix);
      n_above += row->mix_interval.low > right;
      n_below += row->mix_interval.high < right;
      const DemurInterval changes = mix->rows[DEMUR_MIX_OE_ALL].change_interval;
      n_changes += changes.low <= change && change <= changes.high;
    }
    const double held = 1.0 - (double)(n_above + n_below) / (double)n_told,
                 error = 3.0 * sqrt(0.95 * 0.05 / (double)n_told);
    g_test_message(
        "off by %g (calibration error %.4f): %.1f %% of intervals hold it, %zu above, %zu "
        "below; the change of O:E (%.4f): %.1f %%",
        rows[r].off, right, 100.0 * held, n_above, n_below, change,
        100.0 * (double)n_changes / (double)n_told);
    g_assert_cmpuint(n_told, >, n_samples / 2);
    g_assert_cmpfloat(held, >=, 0.95 - error);
    g_assert_cmpfloat(held, <=, rows[r].most + error);
    g_assert_cmpfloat((double)n_changes / (double)n_told, >=, 0.95 - error);
  }
}

/* Hospitals that are all alike have no spread, and which outcomes came is chance all the same. By hand: 400 scans of risk .1,
 * half of them sharp, asked for .8: weights of 1.6 and .4, sum m r = sum p r = 40, a sharp outcome moves the change by .6 / 40
 * and a soft one by -.6 / 40, so se = sqrt(400 (.6 / 40)^2 .1 .9) = .09. */
static void
test_chance_of_outcomes(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (guint i = 0; i < 400; i++) {
    const guint site = i / 20, within = i % 20;
    const double risk = 0.1;
    g_autofree char *id = g_strdup_printf("s%u", i), *name = g_strdup_printf("H%u", site);
    demur_cohort_builder_add(builder, id, id, name, "test", within % 10 == 0, &risk, NULL, NULL);
    demur_cohort_builder_attribute(builder, "kernel", within < 10 ? "sharp" : "soft");
  }
  Drawn drawn = all_accepted(builder);
  g_autoptr(DemurMix) mix = mix_of(&drawn, 20, NULL, "kernel=sharp:0.8", NULL);
  drawn_clear(&drawn);
  g_assert_cmpint(mix->unit, ==, DEMUR_UNIT_SITE);
  const DemurMixRow *row = &mix->rows[DEMUR_MIX_OE_ALL];
  const double half = 0.09 * demur_normal_quantile(0.975);
  g_assert_cmpfloat_with_epsilon(row->change, 0.0, 1e-9);
  g_assert_cmpfloat_with_epsilon(row->change_interval.low, -half, 1e-6);
  g_assert_cmpfloat_with_epsilon(row->change_interval.high, half, 1e-6);
}

static void
assert_no_interval(DemurInterval interval) {
  g_test_message("%g to %g", interval.low, interval.high);
  g_assert_true(isnan(interval.low) && isnan(interval.high));
}

/* Where no outcome came among the shown the replicates have none either: an interval from 0 to 0 would be sure of what is only
 * not known. Likewise of one mix alone, which leaves out all that have it: the change has an interval then, by the present
 * one. Where none came at all nothing is told of outcomes. */
static void
test_no_outcome_came(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (guint i = 0; i < 400; i++) {
    const guint within = i % 20;
    const double risk = 0.1;
    g_autofree char *id = g_strdup_printf("s%u", i), *name = g_strdup_printf("H%u", i / 20);
    demur_cohort_builder_add(builder, id, id, name, "test", within % 10 == 0, &risk, NULL, NULL);
    demur_cohort_builder_attribute(builder, "kernel", within < 10 ? "sharp" : "soft");
  }
  Drawn drawn = all_accepted(builder);
  for (size_t i = 0; i < drawn.sample->n; i++)
    drawn.accepted[i] = drawn.sample->labels[i] < 0.5;
  g_autoptr(DemurMix) none = mix_of(&drawn, 20, NULL, "kernel=sharp:0.8", NULL);
  const DemurMixRow *row = &none->rows[DEMUR_MIX_OE_ACCEPTED];
  g_assert_cmpfloat(row->present, ==, 0.0);
  g_assert_cmpfloat(row->change, ==, 0.0);
  assert_no_interval(row->present_interval);
  assert_no_interval(row->mix_interval);
  assert_no_interval(row->change_interval);
  g_assert_cmpfloat(none->rows[DEMUR_MIX_OE_ALL].change_interval.low, <, 0.0);
  for (size_t i = 0; i < drawn.sample->n; i++) /* the sharp ones with the outcome are shown */
    drawn.accepted[i] |= drawn.sample->rows[i] % 20 == 0;
  g_autoptr(DemurMix) soft = mix_of(&drawn, 20, NULL, "kernel=sharp:0", NULL);
  row = &soft->rows[DEMUR_MIX_OE_ACCEPTED];
  g_assert_cmpfloat(row->present_interval.low, <, row->present_interval.high);
  g_assert_cmpfloat(row->mix, ==, 0.0);
  assert_no_interval(row->mix_interval);
  g_assert_cmpfloat(row->change_interval.low, <, row->change);
  g_assert_cmpfloat(row->change_interval.high, >, row->change);
  for (size_t i = 0; i < drawn.sample->n; i++)
    drawn.sample->labels[i] = 0.0;
  g_autoptr(DemurMix) nowhere = mix_of(&drawn, 20, NULL, "kernel=sharp:0.8", NULL);
  drawn_clear(&drawn);
  g_assert_true(nowhere->labels_withheld);
  g_assert_true(isnan(nowhere->rows[DEMUR_MIX_OE_ALL].mix));
}

/* However alike both mixes are, the change of O:E is not known better than the one is known worse than the other: the
 * limits of Zou for a correlation of 1, within which those of any other lie. */
static void
test_change_of_few_hospitals(void) {
  static const DemurMixValue values[] = {DEMUR_MIX_OE_ALL, DEMUR_MIX_OE_ACCEPTED};
  for (guint64 seed = 1; seed <= 12; seed++) {
    Drawn drawn = draw_hospitals(7, 26, 60, 0.5, seed);
    g_autoptr(DemurMix) mix = mix_of(&drawn, 100, NULL, "country=north:0.6", NULL);
    g_assert_cmpint(mix->unit, ==, DEMUR_UNIT_SITE);
    for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
      const DemurMixRow *row = &mix->rows[values[v]];
      const double below = fabs((row->mix - row->mix_interval.low) -
                                (row->present_interval.high - row->present)),
                   above = fabs((row->mix_interval.high - row->mix) -
                                (row->present - row->present_interval.low));
      g_test_message("change %.3f (%.3f to %.3f), at least %.3f below and %.3f above", row->change,
                     row->change_interval.low, row->change_interval.high, below, above);
      g_assert_cmpfloat(row->change_interval.low, <=, row->change - below + 1e-9);
      g_assert_cmpfloat(row->change_interval.high, >=, row->change + above - 1e-9);
    }
    drawn_clear(&drawn);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/mix/the-present-mix-changes-nothing", test_present);
  g_test_add_func("/evaluation/mix/one-value-alone", test_one_value);
  g_test_add_func("/evaluation/mix/refused", test_refused);
  g_test_add_func("/evaluation/mix/small-cells", test_small_cells);
  g_test_add_func("/evaluation/mix/told-in-steps", test_steps);
  g_test_add_func("/evaluation/mix/small-between-two-ways", test_small_between_two_ways);
  g_test_add_func("/evaluation/mix/standard-errors", test_standard_errors);
  g_test_add_func("/evaluation/mix/few-hospitals-of-a-country", test_few_hospitals);
  g_test_add_func("/evaluation/mix/chance-of-outcomes", test_chance_of_outcomes);
  g_test_add_func("/evaluation/mix/no-outcome-came", test_no_outcome_came);
  g_test_add_func("/evaluation/mix/change-of-few-hospitals", test_change_of_few_hospitals);
  g_test_add_func("/evaluation/mix/intervals-hold-the-mix-that-is", test_intervals);
  return g_test_run();
}
