/* The finding in words. Right values: the rule of method.md 5, written out case by case, and
 * sentences by hand. */
#include "report-fixture.h"
#include "report/finding.h"

#define B DEMUR_VERDICT_BETTER
#define N DEMUR_VERDICT_NO_DIFFERENCE_SHOWN
#define W DEMUR_VERDICT_WORSE
#define C DEMUR_VERDICT_CANNOT_BE_DECIDED

static void
test_rule(void) {
  static const struct {
    DemurComparisonVerdict plain, debiased, site, together;
  } cases[] = {{B, B, B, B}, {B, B, N, B}, {B, B, W, N}, {B, N, B, N}, {N, B, B, N},
               {B, W, N, N}, {W, W, N, W}, {W, W, W, W}, {W, W, B, N}, {W, N, W, N},
               {N, N, N, N}, {C, C, C, C}, {B, B, C, C}, {B, C, B, C}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    const DemurComparison plain = {.verdict = cases[i].plain},
                          debiased = {.verdict = cases[i].debiased},
                          site = {.verdict = cases[i].site};
    g_assert_cmpint(demur_finding_verdict(&plain, &debiased, &site), ==, cases[i].together);
  }
  const DemurComparison better = {.verdict = B}, worse = {.verdict = W};
  g_assert_cmpint(demur_finding_verdict(&better, NULL, NULL), ==, B);
  g_assert_cmpint(demur_finding_verdict(&worse, NULL, NULL), ==, W);
  g_assert_cmpint(demur_finding_verdict(NULL, &better, &better), ==, C);
}

/* How confidence compares with showing every risk, where that was looked at. */
static DemurComparisonVerdict confidence_against_full = DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;

static char *
headline_with(FixtureKind kind, DemurComparisonVerdict verdict) {
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++)
    fixture->evaluation.comparisons[i].verdict = verdict;
  if (fixture->evaluation.n_comparisons > 0) {
    DemurComparison *last = &fixture->evaluation.comparisons[fixture->evaluation.n_comparisons - 1];
    last->method = fixture_text(fixture, g_strdup("confidence")); /* it stood against full */
    last->method_kind = DEMUR_METHOD_CONFIDENCE;
    last->verdict = confidence_against_full;
  }
  const DemurReportFinding finding = demur_finding(&fixture->input);
  return demur_finding_headline(&finding);
}

/* "better" may stand in the headline under one verdict only. */
static void
test_headline(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autofree char *better = headline_with(kind, B), *none = headline_with(kind, N),
                  *worse = headline_with(kind, W), *undecided = headline_with(kind, C);
  g_assert_nonnull(strstr(better, "agree better with what happened"));
  g_assert_nonnull(strstr(better, "Across 34\u00a0sites"));
  g_assert_null(strstr(none, "better"));
  g_assert_null(strstr(none, "use confidence")); /* it is not shown to help either */
  confidence_against_full = B;
  g_autofree char *helps = headline_with(kind, N);
  confidence_against_full = N;
  g_assert_nonnull(strstr(helps, "use confidence"));
  g_assert_null(strstr(worse, "better"));
  g_assert_nonnull(strstr(worse, "do not use it here"));
  g_assert_nonnull(strstr(undecided, "cannot be decided from 34\u00a0sites"));
  FixtureKind alone = kind;
  alone.one_method = TRUE;
  g_autofree char *single = headline_with(alone, B);
  g_assert_null(strstr(single, "better"));
}

/* A selector that never differs from confidence is called what it is, whatever the verdicts say. */
static void
test_plain_confidence(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++) {
    DemurComparison *c = &fixture->evaluation.comparisons[i];
    c->difference = c->low = c->high = 0.0;
  }
  DemurReportFinding finding = demur_finding(&fixture->input);
  g_autofree char *same = demur_finding_headline(&finding),
                  *paragraph = demur_finding_paragraph(&finding);
  g_assert_true(demur_finding_is_confidence(&finding));
  g_assert_nonnull(strstr(same, "the risks that plain confidence lets through"));
  g_assert_null(strstr(paragraph, "favours the selector"));
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++)
    if (fixture->evaluation.comparisons[i].measure != DEMUR_COMPARED_SBCE2)
      fixture->evaluation.comparisons[i].low = fixture->evaluation.comparisons[i].high = NAN;
  finding = demur_finding(&fixture->input);
  g_assert_true(demur_finding_is_confidence(&finding)); /* few sites: some have no interval */
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++)
    fixture->evaluation.comparisons[i].high = 1e-9;
  finding = demur_finding(&fixture->input);
  g_assert_false(demur_finding_is_confidence(&finding));
}

/* With patients resampled instead of sites the finding is about these patients, not about
 * hospitals. */
static void
test_scope(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++)
    fixture->evaluation.comparisons[i].unit = DEMUR_UNIT_PATIENT;
  fixture->evaluation.n_sites = 1;
  const DemurReportFinding finding = demur_finding(&fixture->input);
  g_autofree char *headline = demur_finding_headline(&finding);
  g_assert_true(g_str_has_prefix(headline, "In these patients of one site the risks"));
}

/* Site error worse takes the "better" of the two calibration errors back: nothing is shown. */
static void
test_site_error_counts(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  DemurReportFinding finding = demur_finding(&fixture->input);
  g_assert_cmpint(finding.verdict, ==, B);
  for (size_t i = 0; i < fixture->evaluation.n_comparisons; i++)
    if (fixture->evaluation.comparisons[i].measure == DEMUR_COMPARED_SITE_ERROR)
      fixture->evaluation.comparisons[i].verdict = W;
  finding = demur_finding(&fixture->input);
  g_assert_cmpint(finding.verdict, ==, N);
}

/* One label only, or nothing accepted: that is what the first sentence says, and no comparison is
 * called better or worse where only one label occurs. */
static void
test_what_stands_first(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  DemurMethodResult *m = &fixture->evaluation.methods[0];
  DemurOperatingPoint *at = &m->at[m->n_at - 1]; /* the tuned 0.9 */
  DemurReportFinding finding = demur_finding(&fixture->input);
  g_assert_true(finding.subject_at == at && finding.tuned);
  const size_t n_accepted = at->n_accepted;
  at->n_accepted = 0;
  g_autofree char *none = demur_finding_headline(&finding);
  g_assert_cmpstr(
      none, ==,
      "At its threshold for 90\u00a0% coverage this selector refuses every scan here: no "
      "risk is shown.");
  at->n_accepted = n_accepted;
  at->rejected_by_label[1].n_all = 0;
  finding = demur_finding(&fixture->input);
  g_assert_cmpint(finding.verdict, ==, C);
  g_autofree char *one = demur_finding_headline(&finding),
                  *paragraph = demur_finding_paragraph(&finding);
  g_assert_true(g_str_has_prefix(one, "Only “no cancer” occurs in this split:"));
  g_assert_nonnull(strstr(paragraph, "of the scans, all of them labelled “no cancer”."));
  g_assert_null(strstr(paragraph, "labelled “cancer”"));
}

static void
test_paragraph(void) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34, .untuned = TRUE};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  DemurOperatingPoint *at = &fixture->evaluation.methods[0].at[0];
  at->n_accepted = 1204;
  at->realised = 0.9005;
  at->measures[DEMUR_MEASURE_SBCE2] = 0.0314;
  at->noise_floor = 0.0221;
  at->rejected_by_label[1].rate = 0.129;
  at->rejected_by_label[1].rate_low = 0.074;
  at->rejected_by_label[1].rate_high = 0.19;
  const DemurReportFinding finding = demur_finding(&fixture->input);
  g_assert_false(finding.tuned);
  g_autofree char *text = demur_finding_paragraph(&finding);
  static const char *const parts[] = {
      "On simulated data: 1,337\u00a0scans of 1,337\u00a0patients from 34\u00a0sites, none of them "
      "seen in training",
      "let 1,204 risks through: a coverage of 90.0\u00a0% where 90\u00a0% was asked",
      "the calibration error S-BCE₂ was .031 (chance alone would give .022)",
      "It refused 12.9\u00a0% of the scans labelled “cancer” (95\u00a0% interval 7.4\u00a0% to "
      "19.0\u00a0%)",
      "was −.013 (95\u00a0% interval −.019 to −.006, resampling 34 sites)"};
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
    if (!strstr(text, parts[i]))
      g_error("'%s' is not in '%s'", parts[i], text);
}

static gboolean
cares_about(const DemurReportInput *input, const char *words) {
  const DemurReportFinding finding = demur_finding(input);
  g_autoptr(GPtrArray) cares = demur_finding_cares(&finding, NULL);
  for (guint i = 0; i < cares->len; i++)
    if (strstr(g_ptr_array_index(cares, i), words))
      return TRUE;
  return FALSE;
}

static void
test_cares(void) {
  FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  g_assert_true(cares_about(&fixture->input, "simulated"));
  g_assert_false(cares_about(&fixture->input, "flattering"));
  g_assert_false(cares_about(&fixture->input, "Only one label"));
  /* The tuned 0.9 is the last operating point. */
  DemurMethodResult *m = &fixture->evaluation.methods[0];
  DemurRejection *r = m->at[m->n_at - 1].rejected_by_label;
  m->at[m->n_at - 1].noise_floor = 0.03;
  g_assert_false(cares_about(&fixture->input, "not well calibrated"));
  m->at[m->n_at - 1].noise_floor = 0.01;
  g_assert_true(cares_about(&fixture->input, "not well calibrated"));
  fixture->evaluation.in_sample = TRUE;
  g_assert_true(cares_about(&fixture->input, "flattering"));
  m->at[m->n_at - 1].n_bins = 12;
  g_assert_true(cares_about(&fixture->input, "Only 12 bins of at least 25 accepted scans"));
  m->at[m->n_at - 1].realised = 0.85;
  g_assert_true(
      cares_about(&fixture->input, "Coverage here is 85.0\u00a0%, not the 90\u00a0% asked"));
  r[1].n_all = 0;
  g_assert_true(cares_about(&fixture->input, "Only one label occurs"));
  DemurWarning warning = {
      .kind = DEMUR_WARNING_UNTRAINED, .subject = (char *)"other", .n = 1, .n_networks = 5};
  fixture->evaluation.n_warnings = 1;
  fixture->evaluation.warnings = &warning;
  g_assert_true(cares_about(&fixture->input, "Selector other: 1 of its 5 networks"));
}

/* The shares are of another set than the scans accepted: the sentence says of which. */
static void
test_cares_of_another_set(void) {
  FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  DemurMethodResult *m = &fixture->evaluation.methods[0];
  DemurOperatingPoint *at = &m->at[m->n_at - 1];
  at->realised = 0.8;
  at->n_accepted = at->n_counted = 800;
  at->rejected_by_label[1].n_rejected = 100;
  at->rejected_by_label[1].rate = 0.9;
  g_assert_true(cares_about(&fixture->input, "of all scans 20.0\u00a0%: the errors"));
  at->n_counted = 750;
  g_assert_true(cares_about(&fixture->input, "of all scans 25.0\u00a0% (at a coverage of "
                                             "75.0\u00a0%): the errors"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/finding/plain-confidence", test_plain_confidence);
  g_test_add_func("/report/finding/cares-of-another-set", test_cares_of_another_set);
  g_test_add_func("/report/finding/three-comparisons-make-one-verdict", test_rule);
  g_test_add_func("/report/finding/headline-says-better-only-where-shown", test_headline);
  g_test_add_func("/report/finding/patients-resampled-speaks-of-these-patients", test_scope);
  g_test_add_func("/report/finding/worse-site-error-takes-better-back", test_site_error_counts);
  g_test_add_func("/report/finding/what-stands-first", test_what_stands_first);
  g_test_add_func("/report/finding/paragraph-holds-numbers-and-uncertainty", test_paragraph);
  g_test_add_func("/report/finding/care-is-asked-for-what-stands-out", test_cares);
  return g_test_run();
}
