/* A made-up evaluation, filled by formula: what the report's tests draw and read. Every number is
 * invented and the evaluation says "simulated". */
#pragma once

#include "report/report.h"

#include <math.h>
#include <string.h>

#include "tests/support/font-caches.h"

typedef struct {
  size_t n_classes, n_sites;
  gboolean undefined;  /* every measure NaN, nothing accepted */
  gboolean one_method; /* the selector alone */
  gboolean in_sample, recalibrated, untuned;
  const char *title; /* of the selector and of the first site; NULL: a short one */
} FixtureKind;

typedef struct {
  DemurEvaluation evaluation;
  DemurReportInput input;
  GPtrArray *texts;
  DemurReportGroup *sites;
  DemurReportSplit splits[5];
  DemurReportThreshold thresholds[2];
  DemurReportRejection *rejections;
} Fixture;

static inline char *
fixture_text(Fixture *fixture, char *text) {
  g_ptr_array_add(fixture->texts, text);
  return text;
}

static inline double
fixture_or_nan(const FixtureKind *kind, double value) {
  return kind->undefined ? NAN : value;
}

/* How good a method is at a coverage: a is its error at coverage 1, b what selecting takes off it.
 */
static inline double
fixture_error(double a, double b, double coverage) {
  return a - b * (1 - coverage) * (1.3 - 0.3 * (1 - coverage));
}

static inline void
fixture_point(const FixtureKind *kind, DemurOperatingPoint *at, double coverage, gboolean from_tune,
              double a, double b, double refuse_sick) {
  const size_t n = 1337;
  at->coverage = coverage;
  at->from_tune = from_tune;
  at->threshold = fixture_or_nan(kind, 0.412 + 0.3 * (0.9 - coverage));
  at->realised = kind->undefined ? 0 : coverage + (from_tune ? 0.011 : 0.0007);
  at->n_accepted = (size_t)(at->realised * (double)n);
  const double error = fixture_error(a, b, coverage);
  const double values[DEMUR_N_FINE_MEASURES] = {
      error,       2.4 * error, 0.061 - 0.02 * (1 - coverage), 0.93 + 0.05 * (1 - coverage),
      0.8 * error, 0.3 * error};
  for (int m = 0; m < DEMUR_N_FINE_MEASURES; m++)
    at->measures[m] = fixture_or_nan(kind, values[m]);
  at->noise_floor = fixture_or_nan(kind, kind->n_classes > 2 ? NAN : 0.019);
  at->debiased = fixture_or_nan(kind, error - 0.021);
  at->n_bins = kind->undefined ? 0 : coverage < 0.6 ? 12 : 15;
  at->n_labels = kind->n_classes;
  at->rejected_by_label = g_new0(DemurRejection, kind->n_classes);
  for (size_t l = 0; l < kind->n_classes; l++) {
    DemurRejection *r = &at->rejected_by_label[l];
    r->label = (int)l;
    r->n_all = kind->n_classes == 2 ? (l ? 119 : 1218) : n / kind->n_classes;
    const double rate = fmin(1, (1 - coverage) * (l ? refuse_sick : 0.96));
    r->n_rejected = (size_t)(rate * (double)r->n_all);
    r->rate = fixture_or_nan(kind, rate);
    r->rate_low = fixture_or_nan(kind, fmax(0, rate - (l ? 0.05 : 0.015)));
    r->rate_high = fixture_or_nan(kind, fmin(1, rate + (l ? 0.06 : 0.017)));
    r->share_of_all = (double)r->n_all / (double)n;
    r->share_of_rejected =
        fixture_or_nan(kind, coverage < 1 ? rate * r->share_of_all / (1 - coverage) : NAN);
  }
  at->n_reliability = at->n_bins;
  for (size_t i = 0; i < at->n_reliability; i++) {
    DemurReliabilityBin *bin = &at->reliability[i];
    bin->n = at->n_accepted / at->n_bins + (i < at->n_accepted % at->n_bins);
    bin->mean_risk = 0.004 * pow(1.36, (double)i);
    bin->observed = bin->mean_risk * (1 + 0.15 * sin(2.0 * (double)i));
    const double half = 1.96 * sqrt(bin->observed * (1 - bin->observed) / (double)bin->n) + 0.004;
    bin->low = fmax(0, bin->observed - half);
    bin->high = fmin(1, bin->observed + half);
  }
}

/* By the names that demur_method_name gives. */
static inline DemurMethodKind
fixture_kind(const char *name) {
  for (int k = DEMUR_METHOD_CONFIDENCE; k <= DEMUR_METHOD_RANDOM; k++) {
    g_autofree char *known = demur_method_name((DemurMethodKind)k, NULL);
    if (g_str_equal(known, name))
      return (DemurMethodKind)k;
  }
  return DEMUR_METHOD_SELECTOR;
}

static inline void
fixture_method(Fixture *fixture, const FixtureKind *kind, const char *name, const char *title,
               double a, double b, double refuse_sick, gboolean recalibrated) {
  DemurEvaluation *e = &fixture->evaluation;
  e->interval_unit = DEMUR_UNIT_PATIENT;
  DemurMethodResult *m = &e->methods[e->n_methods++];
  const gboolean selector = g_str_has_prefix(name, "selector:");
  m->kind = fixture_kind(name);
  m->name = fixture_text(fixture, g_strdup(name));
  m->title = fixture_text(fixture, g_strdup(title));
  m->recalibrated = recalibrated;
  m->n_models = selector ? 5 : 1;
  const double scale[DEMUR_N_FINE_MEASURES] = {1, 2.4, 0, 0, 0.8, 0.3};
  for (int k = 0; k < DEMUR_N_FINE_MEASURES; k++) {
    double sum = 0;
    for (int i = 0; i < DEMUR_N_COVERAGES; i++) {
      DemurCurvePoint *c = &m->curve[k][i];
      c->coverage = e->coverages[i];
      c->realised = c->coverage;
      const double error = fixture_error(a, b, c->coverage) + 0.0012 * sin(0.9 * i + 30 * a);
      const double value = k == DEMUR_MEASURE_BRIER      ? 0.061 - 0.4 * b * (1 - c->coverage)
                           : k == DEMUR_MEASURE_ACCURACY ? 0.93 + 0.5 * b * (1 - c->coverage)
                                                         : scale[k] * error;
      /* At the lowest coverages nothing can be binned: a gap. */
      const gboolean gap = i < 2 && k == DEMUR_MEASURE_SBCEINF;
      c->point = gap ? NAN : fixture_or_nan(kind, value);
      c->mean = gap ? NAN : fixture_or_nan(kind, value * (k < 2 ? 1.08 : 1));
      c->sd = gap ? NAN : fixture_or_nan(kind, value * (k < 2 ? 0.09 : 0.012));
      c->debiased = fixture_or_nan(kind, k == 0 ? error - 0.021 : NAN);
      c->noise_floor = fixture_or_nan(kind, k == 0 ? 0.019 : NAN);
      c->n_bins = c->coverage < 0.3 ? 11 : 15;
      sum += value;
    }
    m->auc[k].point = fixture_or_nan(kind, sum / DEMUR_N_COVERAGES);
    m->auc[k].mean = fixture_or_nan(kind, 1.08 * m->auc[k].point);
    m->auc[k].sd = fixture_or_nan(kind, 0.09 * m->auc[k].point);
  }
  m->debiased_auc = fixture_or_nan(kind, m->auc[0].point - 0.021);
  m->noise_floor_auc = fixture_or_nan(kind, 0.019);
  m->n_at = 3 + (selector && !kind->untuned ? 2 : 0);
  m->at = g_new0(DemurOperatingPoint, m->n_at);
  const double coverages[5] = {0.9, 0.7, 0.5, 0.7, 0.9};
  const gboolean full = g_str_equal(name, "full");
  for (size_t i = 0; i < m->n_at; i++) {
    fixture_point(kind, &m->at[i], full ? 1 : coverages[i], i >= 3, a, b, refuse_sick);
    m->at[i].coverage = coverages[i];
    if (full && !kind->undefined) {
      m->at[i].realised = 1;
      m->at[i].n_accepted = 1337;
    }
    for (int h = 0; h < DEMUR_N_HISTOGRAM_BINS && !kind->undefined; h++) {
      const double keep = full                              ? 1
                          : g_str_equal(name, "confidence") ? (h >= 20 - 14 * coverages[i] ? 1 : 0)
                                                            : coverages[i];
      m->at[i].histogram[h] = (size_t)(keep * (double)e->histogram_all[h]);
    }
  }
}

static inline void
fixture_compare(Fixture *fixture, const char *against, DemurCompared measure, double difference,
                double half, DemurComparisonVerdict verdict, gboolean recalibrated,
                const FixtureKind *kind) {
  DemurEvaluation *e = &fixture->evaluation;
  e->comparisons[e->n_comparisons++] = (DemurComparison){
      .method = fixture_text(fixture, g_strdup("selector:nlst-a")),
      .against = fixture_text(fixture, g_strdup(against)),
      .method_kind = DEMUR_METHOD_SELECTOR,
      .against_kind = fixture_kind(against),
      .recalibrated = recalibrated,
      .measure = measure,
      .difference = fixture_or_nan(kind, difference),
      .low = fixture_or_nan(kind, difference - half),
      .high = fixture_or_nan(kind, difference + half),
      .level = 0.95,
      .unit = DEMUR_UNIT_SITE,
      .n_units = kind->n_sites,
      .verdict = kind->undefined || kind->n_sites < 20 ? DEMUR_VERDICT_CANNOT_BE_DECIDED : verdict};
}

static inline Fixture *
fixture_new(const FixtureKind *kind) {
  static const DemurReportPair settings[] = {{"seed", "1"},
                                             {"epochs", "5"},
                                             {"datasets per epoch", "50,000"},
                                             {"data set size", "1,024"},
                                             {"batch", "32"},
                                             {"kappa", "4"},
                                             {"q", "2"},
                                             {"kernel width", "0.2"},
                                             {"resample", "site"},
                                             {"alpha", "1"},
                                             {"lambda 2", "0.01"},
                                             {"learning rate", "0.001"},
                                             {"weight decay", "1e-05"},
                                             {"gradient clip", "10"},
                                             {"bin size", "25"},
                                             {"features", "confidence, class, outlier"},
                                             {"target", "paper"},
                                             {"average", "1"},
                                             {"recalibrate", "none"}};
  static const DemurReportGroup scanners[] = {
      {"SIEMENS Sensation 16", 511, 511, 511, 47, FALSE, FALSE},
      {"GE MEDICAL SYSTEMS LightSpeed VCT", 498, 498, 498, 40, FALSE, FALSE},
      {"Philips Brilliance 64", 257, 257, 257, 25, FALSE, FALSE},
      {"TOSHIBA Aquilion", 71, 71, 71, 7, FALSE, FALSE}};
  static const DemurReportCount exclusions[] = {{"follow-up shorter than six years", 132, FALSE},
                                                {"cancer before the screen", 4, FALSE},
                                                {"no score of the model", 9, FALSE}};
  static const DemurReportCount follow_up[] = {{"cancer within six years", 119, FALSE},
                                               {"followed for six years without", 1218, FALSE}};
  static const char *const labels[] = {"no cancer", "cancer"};
  Fixture *f = g_new0(Fixture, 1);
  f->texts = g_ptr_array_new_with_free_func(g_free);
  DemurEvaluation *e = &f->evaluation;
  e->cohort = fixture_text(f, g_strdup("lung-2024"));
  e->split = fixture_text(f, g_strdup("test"));
  e->model = fixture_text(f, g_strdup("simulated-cnn"));
  e->source = fixture_text(f, g_strdup("simulated, seed 1"));
  e->simulated = TRUE;
  e->in_sample = kind->in_sample;
  e->seed = 1;
  e->n_scans = e->n_patients = 1337;
  e->n_sites = kind->n_sites;
  e->n_classes = kind->n_classes;
  e->prevalence = g_new0(double, kind->n_classes);
  for (size_t l = 0; l < kind->n_classes; l++)
    e->prevalence[l] = kind->n_classes == 2 ? (l ? 0.089 : 0.911) : 1.0 / (double)kind->n_classes;
  e->digest = fixture_text(f, g_compute_checksum_for_string(G_CHECKSUM_SHA256, "rows", -1));
  e->n_models = 5;
  e->n_resamples = 5;
  e->resample_unit = fixture_text(f, g_strdup("patient"));
  e->min_bin_size = 25;
  for (int i = 0; i < DEMUR_N_COVERAGES; i++)
    e->coverages[i] = 0.05 + 0.95 * i / (DEMUR_N_COVERAGES - 1);
  e->histogram_low = kind->n_classes == 2 ? 0.5 : 0;
  e->histogram_width = (1 - e->histogram_low) / DEMUR_N_HISTOGRAM_BINS;
  for (int h = 0; h < DEMUR_N_HISTOGRAM_BINS; h++)
    e->histogram_all[h] = (size_t)(4 * pow(1.22, h));
  const gboolean r = kind->recalibrated;
  const char *title = kind->title ? kind->title : "selector nlst-a";
  e->methods = g_new0(DemurMethodResult, 16);
  e->comparisons = g_new0(DemurComparison, 8);
  fixture_method(f, kind, "selector:nlst-a", title, 0.047, 0.030, 1.29, r);
  if (!kind->one_method) {
    fixture_method(f, kind, "full", "everything", 0.047, 0, 0, r);
    fixture_method(f, kind, "confidence", "confidence", 0.047, 0.011, 2.52, r);
    fixture_method(f, kind, "entropy", "entropy", 0.047, 0.010, 2.45, r);
    fixture_method(f, kind, "knn", "nearest training scans (kNN)", 0.048, 0.002, 1.21, r);
    fixture_method(f, kind, "kde", "density of training scans (KDE)", 0.048, 0.001, 1.2, r);
    fixture_method(f, kind, "ocsvm", "one-class SVM", 0.049, -0.001, 1.18, r);
    fixture_method(f, kind, "iforest", "isolation forest", 0.049, -0.002, 1.12, r);
    fixture_method(f, kind, "lof", "local outlier factor", 0.048, 0.003, 1.15, r);
    fixture_method(f, kind, "mc", "expected miscalibration (mc)", 0.047, 0.019, 1.4, r);
    if (r) {
      fixture_method(f, kind, "full", "everything", 0.068, 0, 0, FALSE);
      fixture_method(f, kind, "confidence", "confidence", 0.068, 0.012, 2.52, FALSE);
    }
    fixture_compare(f, "confidence", DEMUR_COMPARED_SBCE2, -0.013, 0.0065, DEMUR_VERDICT_BETTER, r,
                    kind);
    fixture_compare(f, "confidence", DEMUR_COMPARED_DEBIASED, -0.015, 0.008, DEMUR_VERDICT_BETTER,
                    r, kind);
    fixture_compare(f, "confidence", DEMUR_COMPARED_SITE_ERROR, -0.004, 0.007,
                    DEMUR_VERDICT_NO_DIFFERENCE_SHOWN, r, kind);
    fixture_compare(f, "full", DEMUR_COMPARED_SBCE2, -0.016, 0.006, DEMUR_VERDICT_BETTER, r, kind);
  }

  f->sites = g_new0(DemurReportGroup, kind->n_sites);
  for (size_t i = 0; i < kind->n_sites; i++) {
    const size_t n = i % 7 == 6 ? 6 : 60 - i % 30;
    f->sites[i] = (DemurReportGroup){
        i == 0 && kind->title ? kind->title : fixture_text(f, g_strdup_printf("site %02zu", i + 1)),
        n,
        n,
        n,
        n / 11,
        FALSE,
        FALSE};
  }
  f->rejections = g_new0(DemurReportRejection, kind->n_sites + 2);
  for (size_t i = 0; i < kind->n_sites; i++) {
    const size_t n = f->sites[i].n_scans, rejected = n * (i % 5 == 3 ? 22 : 8) / 100;
    const double rate = (double)rejected / (double)n,
                 half = 1.96 * sqrt((rate + 0.02) * (1 - rate) / (double)n);
    f->rejections[i] = (DemurReportRejection){
        "site", f->sites[i].name, n, rejected, fmax(0, rate - half), fmin(1, rate + half), FALSE};
  }
  f->rejections[kind->n_sites] =
      (DemurReportRejection){"sex", "women", 548, 52, 0.073, 0.123, FALSE};
  f->rejections[kind->n_sites + 1] =
      (DemurReportRejection){"sex", "men", 789, 81, 0.084, 0.126, FALSE};
  f->splits[0] = (DemurReportSplit){"base_train", 6000, 3320, 33, 6000, 0.071};
  f->splits[1] = (DemurReportSplit){"selector_train", 6282, 3402, 33, 6282, 0.069};
  f->splits[2] = (DemurReportSplit){"validation", 1256, 690, 33, 1256, 0.072};
  f->splits[3] = (DemurReportSplit){"tune", 1000, 1000, 1, 0, NAN};
  f->splits[4] = (DemurReportSplit){"test", 1337, 1337, kind->n_sites, 1337, 0.089};
  f->thresholds[0] =
      (DemurReportThreshold){0.7, 0.7, 0.472, "lung-2024", "tune", 1000, NULL, "2026-11-26"};
  f->thresholds[1] = (DemurReportThreshold){0.9,
                                            0.9,
                                            0.412,
                                            "lung-2024",
                                            "tune",
                                            1000,
                                            "For scans drawn like the tuning split the coverage "
                                            "falls below 88 % with a probability of at "
                                            "most 45 % (n = 1,000 patients).",
                                            "2026-11-27"};
  f->input = (DemurReportInput){
      .evaluation = e,
      .cohort = {.name = "lung-2024",
                 .source = "simulated, seed 1",
                 .model = "simulated-cnn",
                 .created = "2026-11-27T09:12:00Z",
                 .digest = e->digest,
                 .simulated = TRUE,
                 .label_rule = "Label 1: lung cancer within six years of the scan.",
                 .labels = kind->n_classes == 2 ? labels : NULL,
                 .n_sites_in_training = 0,
                 .n_splits = 5,
                 .splits = f->splits,
                 .n_sites = kind->n_sites,
                 .sites = f->sites,
                 .n_scanners = G_N_ELEMENTS(scanners),
                 .scanners = scanners,
                 .n_exclusions = G_N_ELEMENTS(exclusions),
                 .exclusions = exclusions,
                 .n_follow_up = G_N_ELEMENTS(follow_up),
                 .follow_up = follow_up},
      .selector = {.name = "nlst-a",
                   .title = kind->title,
                   .method = "selector:nlst-a",
                   .digest = e->digest,
                   .created = "2026-11-27T09:20:00Z",
                   .cohort = "lung-2024, split selector_train",
                   .model = "simulated-cnn",
                   .reference_set = "base_train, 6,000 scans",
                   .n_training_scans = 6282,
                   .n_training_patients = 3402,
                   .n_training_sites = 33,
                   .best_epoch = 4,
                   .as_published = TRUE,
                   .n_settings = G_N_ELEMENTS(settings),
                   .settings = settings},
      .n_thresholds = kind->untuned ? 0 : 2,
      .thresholds = f->thresholds,
      .n_rejections = kind->n_sites + 2,
      .rejections = f->rejections,
      .coverage = 0.9,
      .created = "2026-11-27T09:40:00Z",
      .version = "0.1.0"};
  return f;
}

static inline void
fixture_free(Fixture *f) {
  DemurEvaluation *e = &f->evaluation;
  for (size_t i = 0; i < e->n_methods; i++) {
    for (size_t k = 0; k < e->methods[i].n_at; k++)
      g_free(e->methods[i].at[k].rejected_by_label);
    g_free(e->methods[i].at);
  }
  g_free(e->methods);
  g_free(e->comparisons);
  g_free(e->prevalence);
  g_free(f->sites);
  g_free(f->rejections);
  g_ptr_array_unref(f->texts);
  g_free(f);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)
