/* Each claim of the guidelines' pages hangs on the content that it names. Right values: with the
 * content the claim stands, and it is gone once that content alone is taken away. */
#include "report-fixture.h"
#include "report/section.h"

typedef void (*TakeAway)(Fixture *fixture);

static DemurOperatingPoint *
subject_at(Fixture *f) {
  return (DemurOperatingPoint *)demur_finding(&f->input).subject_at;
}

static void
no_sites(Fixture *f) {
  f->input.cohort.n_sites = 0;
}

static void
no_scanners(Fixture *f) {
  f->input.cohort.n_scanners = 0;
}

static void
no_splits(Fixture *f) {
  f->input.cohort.n_splits = 0;
}

static void
no_follow_up(Fixture *f) {
  f->input.cohort.n_follow_up = 0;
}

static void
no_exclusions(Fixture *f) {
  f->input.cohort.n_exclusions = 0;
}

static void
no_label_rule(Fixture *f) {
  f->input.cohort.label_rule = NULL;
}

/* As `--group-by sex` leaves it. */
static void
by_sex_only(Fixture *f) {
  f->input.rejections += f->input.n_rejections - 2;
  f->input.n_rejections = 2;
}

static void
all_groups_small(Fixture *f) {
  for (size_t i = 0; i < f->input.n_rejections; i++)
    f->rejections[i].n_scans = 9;
}

static void
no_comparisons(Fixture *f) {
  f->evaluation.n_comparisons = 0;
}

static void
no_rate_intervals(Fixture *f) {
  DemurOperatingPoint *at = subject_at(f);
  for (size_t l = 0; l < at->n_labels; l++)
    at->rejected_by_label[l].rate_low = NAN;
}

static void
no_refusals(Fixture *f) {
  subject_at(f)->n_labels = 0;
}

static void
no_site_error(Fixture *f) {
  subject_at(f)->measures[DEMUR_MEASURE_SITE_ERROR] = NAN;
}

static void
no_settings(Fixture *f) {
  f->input.selector.n_settings = 0;
}

static void
untuned(Fixture *f) {
  f->input.n_thresholds = 0;
}

static void
tuned_here(Fixture *f) {
  f->thresholds[1].split = f->evaluation.split;
}

static void
no_digest(Fixture *f) {
  f->input.selector.digest = NULL;
}

static void
no_intervals(Fixture *f) {
  subject_at(f)->intervals[DEMUR_MEASURE_OE_RATIO] = (DemurInterval){NAN, NAN};
  subject_at(f)->debiased_interval = (DemurInterval){NAN, NAN};
}

static void
sites_unknown(Fixture *f) {
  f->input.cohort.n_sites_in_training = -1;
}

static const struct {
  const char *list, *number, *claim;
  TakeAway take_away;
} claims[] = {
    {"TRIPOD+AI", "5b", "under “Cohort”", no_follow_up},
    {"TRIPOD+AI", "6a", "under “Cohort”", no_sites},
    {"TRIPOD+AI", "6b", "under “Cohort”", no_exclusions},
    {"TRIPOD+AI", "8a", "within six years", no_label_rule},
    {"TRIPOD+AI", "12a", "under “Cohort”", no_splits},
    {"TRIPOD+AI", "12c", "all settings", no_settings},
    {"TRIPOD+AI", "12d", "site error", no_site_error},
    {"TRIPOD+AI", "12d", "results by site", by_sex_only},
    {"TRIPOD+AI", "14", "by site", by_sex_only},
    {"TRIPOD+AI", "14", "by site", all_groups_small},
    {"TRIPOD+AI", "15", "tuned on another split", untuned},
    {"TRIPOD+AI", "15", "tuned on another split", tuned_here},
    {"TRIPOD+AI", "20b", "scanners", no_scanners},
    {"TRIPOD+AI", "20b", "sites", no_sites},
    {"TRIPOD+AI", "20b", "outcome by split", no_splits},
    {"TRIPOD+AI", "21", "each split", no_splits},
    {"TRIPOD+AI", "22", "digest", no_digest},
    {"TRIPOD+AI", "23a", "with intervals", no_intervals},
    {"TRIPOD+AI", "23a", "by site", by_sex_only},
    {"TRIPOD+AI", "27a", "refusals under", no_refusals},
    {"CLAIM", "13", "under “Cohort”", no_scanners},
    {"CLAIM", "29", "differences", no_comparisons},
    {"CLAIM", "29", "rates of refusal", no_rate_intervals},
    {"CLAIM", "29", "calibration", no_intervals},
    {"CLAIM", "33", "none of its", sites_unknown},
    {"CLAIM", "39", "by label", no_refusals},
    {"STARD-AI", "29", "none of its", sites_unknown},
};

static void
test_claims(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(claims); i++) {
    g_autoptr(Fixture) f = fixture_new(&(FixtureKind){.n_classes = 2, .n_sites = 34});
    subject_at(f)->intervals[DEMUR_MEASURE_OE_RATIO] = (DemurInterval){0.9, 1.1};
    DemurReportFinding finding = demur_finding(&f->input);
    g_autofree char *with =
        demur_section_checklist_words(&finding, claims[i].list, claims[i].number);
    if (!strstr(with, claims[i].claim))
      g_error("%s %s: '%s' is not in '%s'", claims[i].list, claims[i].number, claims[i].claim,
              with);
    claims[i].take_away(f);
    finding = demur_finding(&f->input);
    g_autofree char *without =
        demur_section_checklist_words(&finding, claims[i].list, claims[i].number);
    if (strstr(without, claims[i].claim))
      g_error("%s %s: '%s' is still in '%s'", claims[i].list, claims[i].number, claims[i].claim,
              without);
  }
}

/* What is set beside confidence on page 1 is of its coverage, whatever the tuned threshold reaches.
 */
static void
test_one_coverage(void) {
  g_autoptr(Fixture) f = fixture_new(&(FixtureKind){.n_classes = 2, .n_sites = 34});
  subject_at(f)->realised = 0.878;
  subject_at(f)->measures[DEMUR_MEASURE_SBCE2] = 0.0111;
  DemurReportFinding finding = demur_finding(&f->input);
  g_assert_true(finding.tuned && finding.subject_own_at != finding.subject_at);
  g_autofree char *text = demur_finding_paragraph(&finding);
  const char *tuned = strstr(text, "a coverage of 87.8\u00a0% where 90\u00a0% was asked"),
             *beside = strstr(text, "At a coverage of 90.1\u00a0%, by this split's own scores,");
  g_assert_true(tuned && beside && strstr(tuned, ".011") < beside);
  g_assert_nonnull(strstr(beside, "for keeping as many of the most confident"));
  g_assert_null(strstr(beside, ".011"));
  /* Ties that all are kept: the two no longer show the same share. */
  ((DemurOperatingPoint *)finding.confidence_at)->realised = 0.97;
  g_autofree char *apart = demur_finding_paragraph(&finding);
  g_assert_null(strstr(apart, "most confident"));
}

/* What misleads most stands at the top of the page; that data are simulated is on a band. */
static void
test_strongest_first(void) {
  g_autoptr(Fixture) f = fixture_new(&(FixtureKind){.n_classes = 2, .n_sites = 34});
  guint n_strong;
  subject_at(f)->noise_floor = 0.03;
  DemurReportFinding finding = demur_finding(&f->input);
  g_autoptr(GPtrArray) quiet = demur_finding_cares(&finding, &n_strong);
  g_assert_cmpuint(n_strong, ==, 0);
  g_assert_nonnull(strstr(g_ptr_array_index(quiet, quiet->len - 1), "simulated"));
  subject_at(f)->noise_floor = 0.001;
  finding = demur_finding(&f->input);
  g_autoptr(GPtrArray) loud = demur_finding_cares(&finding, &n_strong);
  g_assert_cmpuint(n_strong, ==, 1);
  g_assert_nonnull(strstr(g_ptr_array_index(loud, 0), "not well calibrated"));
  f->evaluation.in_sample = TRUE;
  finding = demur_finding(&f->input);
  g_autoptr(GPtrArray) louder = demur_finding_cares(&finding, &n_strong);
  g_assert_cmpuint(n_strong, ==, 2);
  g_assert_nonnull(strstr(g_ptr_array_index(louder, 0), "flattering"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/claims/each-goes-with-its-content", test_claims);
  g_test_add_func("/report/claims/page-1-compares-at-one-coverage", test_one_coverage);
  g_test_add_func("/report/claims/the-strongest-warning-stands-first", test_strongest_first);
  return g_test_run();
}
