/* The watch's signals. Right values: shares and medians worked by hand, laws (the same history gives
 * the same evidence however it came), and simulated hospitals with their binomial error. */
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "base/error.h"
#include "base/random.h"
#include "evaluation/watch.h"
#include "support/support.h"

/* What a simulated hospital is like. */
typedef struct {
  double new_kernel, thick, risk_shift, slope, ratio;
  double flagged;   /* ratio of those whose score lies below the threshold */
  double intercept; /* of outcomes on the shown risk's logit */
} Hospital;

#define THRESHOLD (-1.0)
#define NEW 5 /* the bets of a plan that begins now */
static const Hospital usual = {0.06, 0.2, 0.0, 1.0, 1.0, 1.0, 0.0};

static DemurWatchPatient
draw(DemurRandom *random, const Hospital *hospital, gint64 order) {
  const double logit = -2.5 + hospital->risk_shift + 1.2 * demur_random_normal(random);
  const double shown = 1.0 / (1.0 + exp(-logit));
  const double score = demur_random_normal(random);
  const double ratio = hospital->ratio * (score < THRESHOLD ? hospital->flagged : 1.0);
  const double truth = fmin(
      ratio / (1.0 + exp(-(-2.5 + hospital->slope * (logit + 2.5) + hospital->intercept))), 1.0);
  return (DemurWatchPatient){
      .order = order,
      .key = (guint64)order * 7919u + 13u,
      .when = g_strdup_printf("2026-01-01T%02d:00:00Z", (int)(order % 24)),
      .scored = TRUE,
      .outcome_of = g_strdup("assessed"),
      .score = score,
      .raw = shown,
      .risk = shown,
      .distance = demur_random_exponential(random),
      .manufacturer = g_strdup(demur_random_uniform(random) < 0.5 ? "Siemens" : "Philips"),
      .kernel = g_strdup(demur_random_uniform(random) < hospital->new_kernel ? "B60f" : "B30f"),
      .thickness = g_strdup(demur_random_uniform(random) < hospital->thick ? "2.5" : "1.25"),
      .label = demur_random_uniform(random) < truth ? 1.0 : 0.0};
}

static GArray *
stream(guint64 seed, const Hospital *before, const Hospital *since, size_t change, size_t n) {
  GArray *patients = demur_watch_patients_new();
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 1, 0, 0);
  for (size_t i = 0; i < n; i++) {
    const DemurWatchPatient patient = draw(&random, i < change ? before : since, (gint64)i + 1);
    g_array_append_val(patients, patient);
  }
  return patients;
}

static DemurWatchPlan *
plan_like(const Hospital *hospital, guint64 seed, size_t n, gint bets) {
  g_autoptr(GArray) reference = stream(seed + 1000000, hospital, hospital, 0, n);
  DemurWatchPlan *plan = demur_watch_plan_new();
  plan->threshold = THRESHOLD;
  plan->coverage = 0.84;
  plan->bets = bets;
  demur_watch_plan_refer(plan, (const DemurWatchPatient *)(gpointer)reference->data, n);
  return plan;
}

static DemurWatchPlan *
plan_of(guint64 seed, size_t n) {
  return plan_like(&usual, seed, n, NEW);
}

static DemurWatchResult *
look(const DemurWatchPlan *plan, const GArray *patients) {
  return demur_watch_look(plan, (const DemurWatchPatient *)(gpointer)patients->data, patients->len,
                          NULL);
}

/* The sum of 1 / limit, of outcome and calibration once. */
static double
spent(const DemurWatchResult *result) {
  double sum = 0.0;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    sum += s != DEMUR_WATCH_CALIBRATION ? 1.0 / result->signals[s].limit : 0.0;
  return sum;
}

/* 100 hospitals without change, 400 patients each: at most 1 in 20 sees any alarm (5 and three
 * standard errors: 11; of 20 hospitals, where memory is looked at, 1 and 3: 4). */
static void
test_quiet_hospitals(void) {
  const size_t n = demur_test_repeats(100, 100);
  guint n_alarms = 0;
  for (guint64 h = 0; h < n; h++) {
    g_autoptr(DemurWatchPlan) plan = plan_of(h, 200);
    g_autoptr(GArray) patients = stream(h, &usual, &usual, 0, 400);
    g_autoptr(DemurWatchResult) result = look(plan, patients);
    gboolean any = FALSE;
    for (guint s = 0; s < DEMUR_N_WATCH; s++)
      any |= result->signals[s].alarm != DEMUR_WATCH_NONE;
    n_alarms += any ? 1 : 0;
  }
  g_assert_cmpuint(n_alarms, <=, n == 100 ? 11 : 4);
}

/* Each change is found by its own signal, and said in numbers that are there. */
static void
test_changes(void) {
  Hospital kernel = usual, thick = usual, risk = usual, ratio = usual, slope = usual,
           flagged = usual;
  kernel.new_kernel = 0.41;
  thick.thick = 0.6;
  risk.risk_shift = 0.8;
  ratio.ratio = 2.0;
  slope.slope = 0.2;
  flagged.flagged = 4.0;
  const struct {
    DemurWatchSignal signal;
    const Hospital *since;
    const char *text;
  } changes[] = {{DEMUR_WATCH_KERNEL, &kernel, "B"},  {DEMUR_WATCH_THICKNESS, &thick, ""},
                 {DEMUR_WATCH_RISK, &risk, NULL},     {DEMUR_WATCH_CALIBRATION, &ratio, NULL},
                 {DEMUR_WATCH_OUTCOME, &ratio, NULL}, {DEMUR_WATCH_SLOPE, &slope, NULL},
                 {DEMUR_WATCH_RANGE, &ratio, NULL},   {DEMUR_WATCH_FLAGGED, &flagged, NULL}};
  for (guint c = 0; c < G_N_ELEMENTS(changes); c++) {
    g_autoptr(DemurWatchPlan) plan = plan_of(c, 1500);
    g_autoptr(GArray) patients = stream(c, &usual, changes[c].since, 400, 2400);
    g_autoptr(DemurWatchResult) result = look(plan, patients);
    const DemurWatchSignalResult *found = &result->signals[changes[c].signal];
    g_test_message("%s: e %g, alarm at %zu, change at %zu: %s %g, %g before",
                   demur_watch_columns[changes[c].signal].name, found->most, found->alarm,
                   found->change, found->text != NULL ? found->text : "", found->since,
                   found->before);
    g_assert_cmpuint(found->alarm, !=, DEMUR_WATCH_NONE);
    /* `range` asks whether what it saw lies inside, from the first patient on. */
    if (changes[c].signal != DEMUR_WATCH_RANGE)
      g_assert_cmpuint(found->rows[found->alarm], >=, 400);
    g_assert_true(isfinite(found->since));
    if (changes[c].text != NULL)
      g_assert_true(g_str_has_prefix(found->text, changes[c].text));
    for (guint s = 0; c == 0 && s < DEMUR_N_WATCH; s++)
      if (s != DEMUR_WATCH_KERNEL)
        g_assert_cmpuint(result->signals[s].alarm, ==, DEMUR_WATCH_NONE);
  }
}

/* Patients from the change to the alarm of one signal, its share of alpha as if all were watched; all of
 * the patients where there is none. */
static size_t
delay_of(guint64 seed, DemurWatchSignal signal, const Hospital *before, const Hospital *since,
         gint bets) {
  enum { CHANGE = 400, N = 1100 };
  g_autoptr(DemurWatchPlan) plan = plan_like(before, seed, 600, bets);
  plan->alpha = 0.05 / DEMUR_N_WATCH;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    plan->rules[s] = s == signal ? DEMUR_WATCH_NOTE : DEMUR_WATCH_IGNORE;
  g_autoptr(GArray) patients = stream(seed, before, since, CHANGE, N);
  g_autoptr(DemurWatchResult) result = look(plan, patients);
  const DemurWatchSignalResult *found = &result->signals[signal];
  return found->alarm == DEMUR_WATCH_NONE ? N - CHANGE : found->rows[found->alarm] + 1 - CHANGE;
}

/* What is expected of numbers and categories is found a tenth sooner and more than by bets that have to learn
 * it, in sum over ten hospitals; a plan of an older program bets as it did. */
static void
test_expected_changes_are_found_sooner(void) {
  Hospital kernel = usual, thick = usual, risk = usual;
  kernel.new_kernel = 0.25;
  thick.thick = 0.45;
  risk.risk_shift = 0.5;
  const struct {
    DemurWatchSignal signal;
    const Hospital *since;
  } changes[] = {
      {DEMUR_WATCH_KERNEL, &kernel}, {DEMUR_WATCH_THICKNESS, &thick}, {DEMUR_WATCH_RISK, &risk}};
  for (guint c = 0; c < G_N_ELEMENTS(changes); c++) {
    size_t learnt = 0, expected = 0;
    for (guint64 h = 0; h < 10; h++) {
      learnt += delay_of(h, changes[c].signal, &usual, changes[c].since, 1);
      expected += delay_of(h, changes[c].signal, &usual, changes[c].since, NEW);
    }
    g_test_message("%s: %zu patients, learnt %zu", demur_watch_columns[changes[c].signal].name,
                   expected, learnt);
    g_assert_cmpuint(10 * expected, <, 9 * learnt);
  }
}

/* Where the outcome is common and its odds become 2.5 times as large, a patient of high risk without it is no
 * contradiction: bets that take 2.2 times a risk of .5 for certain lose all on one label. */
static void
test_common_outcomes(void) {
  Hospital before = usual;
  before.risk_shift = 2.5;
  Hospital since = before;
  since.intercept = 0.9;
  size_t certain = 0, open = 0;
  for (guint64 h = 0; h < 10; h++) {
    certain += delay_of(h, DEMUR_WATCH_CALIBRATION, &before, &since, 1);
    open += delay_of(h, DEMUR_WATCH_CALIBRATION, &before, &since, NEW);
  }
  g_test_message("common outcomes: %zu patients, %zu by bets that take some for certain", open,
                 certain);
  g_assert_cmpuint(10 * open, <, 9 * certain);
}

/* A reference that records no kernel (a table of scores) says nothing of it: scans that have one are no change,
 * nor are those among them that have none; the first who have one are the reference. */
static void
test_not_recorded_in_the_reference(void) {
  Hospital since = usual;
  since.new_kernel = 0.41;
  g_autoptr(GArray) reference = stream(8, &usual, &usual, 0, 300),
                    patients = stream(9, &usual, &since, 500, 800);
  for (guint i = 0; i < reference->len; i++)
    g_clear_pointer(&g_array_index(reference, DemurWatchPatient, i).kernel, g_free);
  for (guint i = 0; i < 100; i++)
    g_clear_pointer(&g_array_index(patients, DemurWatchPatient, i).kernel, g_free);
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  plan->threshold = THRESHOLD;
  demur_watch_plan_refer(plan, (const DemurWatchPatient *)(gpointer)reference->data,
                         reference->len);
  g_assert_false(demur_watch_is_recorded(plan, DEMUR_WATCH_KERNEL));
  g_assert_true(demur_watch_is_recorded(plan, DEMUR_WATCH_THICKNESS));
  g_autoptr(DemurWatchResult) result = look(plan, patients);
  const DemurWatchSignalResult *kernel = &result->signals[DEMUR_WATCH_KERNEL];
  g_assert_cmpuint(kernel->n_reference, ==, 0);
  g_assert_cmpuint(kernel->n, ==, 700);
  g_assert_cmpuint(kernel->alarm, !=, DEMUR_WATCH_NONE);
  g_assert_cmpuint(kernel->rows[kernel->alarm], >=, 500);
  g_assert_cmpstr(kernel->text, ==, "B60f");
  g_assert_cmpfloat(kernel->before, <, 0.12);
  g_assert_cmpuint(result->signals[DEMUR_WATCH_THICKNESS].n_reference, ==, 300);
  /* A watch that began with the bets of before counts as it did. */
  plan->bets = 1;
  g_autoptr(DemurWatchResult) old = look(plan, patients);
  g_assert_cmpuint(old->signals[DEMUR_WATCH_KERNEL].n_reference, ==, 300);
  g_assert_cmpuint(old->signals[DEMUR_WATCH_KERNEL].n, ==, 800);
}

/* Reference A A A B, stream A, then C three times: shares of C 0 of 5 and 3 of 3 where the change is
 * put behind the first; with fewer patients than a block the change is at the beginning: C 3 of 4
 * against 0 of 4. */
static void
test_shares_by_hand(void) {
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  DemurWatchPatient reference[4] = {{0}}, patients[4] = {{0}};
  for (int i = 0; i < 4; i++) {
    reference[i] = (DemurWatchPatient){.scored = TRUE, .kernel = (char *)(i < 3 ? "A" : "B")};
    patients[i] = (DemurWatchPatient){
        .scored = TRUE, .order = i + 1, .label = NAN, .kernel = (char *)(i < 1 ? "A" : "C")};
  }
  demur_watch_plan_refer(plan, reference, 4);
  g_assert_cmpuint(plan->shares[DEMUR_WATCH_KERNEL].n, ==, 2);
  g_assert_cmpstr(plan->shares[DEMUR_WATCH_KERNEL].texts[0], ==, "A");
  g_assert_cmpuint(plan->shares[DEMUR_WATCH_KERNEL].counts[0], ==, 3);
  g_autoptr(DemurWatchResult) result = demur_watch_look(plan, patients, 4, NULL);
  const DemurWatchSignalResult *kernel = &result->signals[DEMUR_WATCH_KERNEL];
  g_assert_cmpuint(kernel->n_since, ==, 4);
  g_assert_cmpstr(kernel->text, ==, "C");
  g_assert_cmpfloat(kernel->before, ==, 0.0);
  g_assert_cmpfloat(kernel->since, ==, 0.75);
  /* As many times 1 / alpha as all parts are of its own. */
  g_assert_cmpfloat_with_epsilon(spent(result), 0.05, 1e-12);
}

/* A watch that began with the bets before keeps its lines: of the outcome's part .6 of 20.9, then 1.6 of 21.9, now 6.2
 * of 33.55 for it and O:E. */
static void
test_lines_that_were_kept(void) {
  g_autoptr(DemurWatchPlan) plan = plan_of(3, 120);
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(plan, DEMUR_WATCH_OUTCOME), 33.55 / 6.2 / 0.05,
                                 1e-9);
  plan->bets = 4;
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(plan, DEMUR_WATCH_OUTCOME), 21.9 / 1.6 / 0.05,
                                 1e-9);
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(plan, DEMUR_WATCH_SLOPE), 21.9 / 6.0 / 0.05,
                                 1e-9);
  plan->bets = 3;
  g_autofree char *json = demur_watch_plan_to_json(plan);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWatchPlan) back = demur_watch_plan_from_json(json, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(back, DEMUR_WATCH_OUTCOME), 20.9 / 0.6 / 0.05,
                                 1e-9);
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(back, DEMUR_WATCH_KERNEL), 20.9 / 3.2 / 0.05,
                                 1e-9);
}

/* Outcome and O:E are bets on the same places with one part of alpha: what is told of O:E is never above the outcome's
 * fortune, so that the one cannot be wrong where the other is not; alone, each has the part itself. */
static void
test_outcomes_have_one_part(void) {
  Hospital since = usual;
  since.ratio = 2.0;
  g_autoptr(DemurWatchPlan) plan = plan_of(5, 300);
  g_autoptr(GArray) patients = stream(5, &usual, &since, 200, 600);
  g_autoptr(DemurWatchResult) result = look(plan, patients);
  const DemurWatchSignalResult *outcome = &result->signals[DEMUR_WATCH_OUTCOME],
                               *ratio = &result->signals[DEMUR_WATCH_CALIBRATION];
  g_assert_cmpfloat(outcome->limit, ==, ratio->limit);
  g_assert_cmpuint(outcome->n, ==, ratio->n);
  gboolean apart = FALSE;
  for (size_t i = 0; i < ratio->n; i++) {
    g_assert_cmpfloat(ratio->evidence[i], <=, outcome->evidence[i]);
    apart = apart || ratio->evidence[i] < outcome->evidence[i];
  }
  g_assert_true(apart);
  const double limit = demur_watch_limit(plan, DEMUR_WATCH_KERNEL);
  plan->rules[DEMUR_WATCH_CALIBRATION] = DEMUR_WATCH_IGNORE;
  g_assert_cmpfloat(demur_watch_limit(plan, DEMUR_WATCH_KERNEL), ==, limit);
  plan->rules[DEMUR_WATCH_CALIBRATION] = DEMUR_WATCH_NOTE;
  plan->rules[DEMUR_WATCH_OUTCOME] = DEMUR_WATCH_IGNORE;
  g_assert_cmpfloat(demur_watch_limit(plan, DEMUR_WATCH_KERNEL), ==, limit);
  g_autoptr(DemurWatchResult) alone = look(plan, patients);
  for (size_t i = 0; i < ratio->n; i++)
    g_assert_cmpfloat(ratio->evidence[i], <=, alone->signals[DEMUR_WATCH_CALIBRATION].evidence[i]);
}

/* Twice as many outcomes, at the same risks or with risks that rise as much, are found sooner than by bets on labels
 * alone, in sum over ten hospitals. */
static void
test_outcomes_by_their_risks(void) {
  Hospital twice = usual, sicker = usual;
  twice.ratio = 2.2;
  sicker.risk_shift = 0.9;
  const Hospital *const since[] = {&twice, &sicker};
  for (guint c = 0; c < G_N_ELEMENTS(since); c++) {
    size_t by_risks = 0, alone = 0;
    for (guint64 h = 0; h < 10; h++) {
      by_risks += delay_of(h, DEMUR_WATCH_OUTCOME, &usual, since[c], NEW);
      alone += delay_of(h, DEMUR_WATCH_OUTCOME, &usual, since[c], 4);
    }
    g_test_message("%zu patients, %zu by labels alone", by_risks, alone);
    g_assert_cmpuint(by_risks, <, alone);
  }
}

/* The plan read back says the same of the same stream, to the last bit. */
static void
test_document(void) {
  g_autoptr(DemurWatchPlan) plan = plan_of(3, 120);
  plan->rules[DEMUR_WATCH_KERNEL] = DEMUR_WATCH_NOTE;
  plan->rules[DEMUR_WATCH_VERSION] = DEMUR_WATCH_IGNORE;
  g_autofree char *json = demur_watch_plan_to_json(plan);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWatchPlan) back = demur_watch_plan_from_json(json, &error);
  g_assert_no_error(error);
  g_autofree char *again = demur_watch_plan_to_json(back);
  g_assert_cmpstr(json, ==, again);
  g_autoptr(GArray) patients = stream(3, &usual, &usual, 0, 150);
  g_autoptr(DemurWatchResult) one = look(plan, patients), other = look(back, patients);
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    for (size_t i = 0; i < one->signals[s].n; i++)
      g_assert_cmpfloat(one->signals[s].evidence[i], ==, other->signals[s].evidence[i]);
  g_assert_cmpuint(one->signals[DEMUR_WATCH_VERSION].n, ==, 0);
  g_assert_cmpfloat_with_epsilon(spent(one), 0.05, 1e-12);
  g_assert_true(isinf(one->signals[DEMUR_WATCH_VERSION].limit));
  g_autoptr(DemurWatchPlan) none = demur_watch_plan_from_json("{\"alpha\": 2}", &error);
  g_assert_null(none);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);

  /* What the selector was made of is in it, where it was kept. */
  g_assert_null(back->origin);
  g_assert_null(strstr(json, "origin"));
  plan->origin = g_strdup("what it was made of");
  g_autofree char *told = demur_watch_plan_to_json(plan);
  g_autoptr(DemurWatchPlan) knows = demur_watch_plan_from_json(told, NULL);
  g_assert_cmpstr(knows->origin, ==, plan->origin);
}

/* A plan of a program that knew no signal of red flags keeps its limit, and watches what it watched. */
static void
test_older_document(void) {
  g_autoptr(DemurWatchPlan) plan = plan_of(3, 120);
  g_autofree char *json = demur_watch_plan_to_json(plan);
  g_autoptr(JsonNode) root = json_from_string(json, NULL);
  JsonObject *object = json_node_get_object(root);
  json_object_remove_member(json_object_get_object_member(object, "signals"), "flagged");
  json_object_remove_member(object, "scores");
  json_object_remove_member(object, "bets");
  g_autofree char *older = json_to_string(root, FALSE);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWatchPlan) back = demur_watch_plan_from_json(older, &error);
  g_assert_no_error(error);
  g_assert_cmpint(back->rules[DEMUR_WATCH_FLAGGED], ==, DEMUR_WATCH_IGNORE);
  g_assert_cmpfloat_with_epsilon(demur_watch_limit(back, DEMUR_WATCH_SLOPE), 13 / 0.05, 1e-9);
  g_assert_cmpfloat(demur_watch_shared_limit(back), ==, demur_watch_limit(back, DEMUR_WATCH_SLOPE));
  g_assert_true(isnan(demur_watch_shared_limit(plan)));
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    plan->rules[s] = s == DEMUR_WATCH_RISK ? DEMUR_WATCH_NOTE : DEMUR_WATCH_IGNORE;
  g_assert_cmpfloat_with_epsilon(demur_watch_shared_limit(plan), 1 / 0.05, 1e-12);
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    plan->rules[s] = DEMUR_WATCH_WITHHOLD;
  g_autoptr(GArray) patients = stream(3, &usual, &usual, 0, 150);
  g_autoptr(DemurWatchResult) one = look(plan, patients), other = look(back, patients);
  g_assert_cmpuint(other->signals[DEMUR_WATCH_FLAGGED].n, ==, 0);
  g_assert_cmpfloat(one->signals[DEMUR_WATCH_RANGE].evidence[99], ==,
                    other->signals[DEMUR_WATCH_RANGE].evidence[99]);
  g_assert_cmpint(back->bets, ==, 1);
  g_autofree char *again = demur_watch_plan_to_json(back);
  g_assert_null(strstr(again, "\"bets\""));
  g_assert_cmpfloat(one->signals[DEMUR_WATCH_RISK].evidence[99], !=,
                    other->signals[DEMUR_WATCH_RISK].evidence[99]);
}

/* A watch that has begun goes on as it did: evidence as the program computed it that made such plans (commit 6c40738, the
 * last whose new plans had bets 2, and 90b199e1, 4; the same stream and reference), by what asks labels alone and by what
 * asks the reference's kernels and risks. */
static void
test_older_bets(void) {
  static const struct {
    gint bets;
    DemurWatchSignal signal;
    double evidence; /* at the hundredth patient */
  } kept[] = {{1, DEMUR_WATCH_SLOPE, 0.92841465482400154},
              {1, DEMUR_WATCH_CALIBRATION, 0.94084941688602464},
              {1, DEMUR_WATCH_KERNEL, 2.7351583628349978},
              {1, DEMUR_WATCH_RISK, 0.99103508097171422},
              {2, DEMUR_WATCH_SLOPE, 0.92841465482400154},
              {2, DEMUR_WATCH_CALIBRATION, 0.94196156205339332},
              {2, DEMUR_WATCH_KERNEL, 1.3656553526448099},
              {2, DEMUR_WATCH_RISK, 0.93214421926259616},
              {4, DEMUR_WATCH_SLOPE, 0.93676121720489769},
              {4, DEMUR_WATCH_OUTCOME, 0.9395446503522431},
              {4, DEMUR_WATCH_CALIBRATION, 0.95372705183649742},
              {4, DEMUR_WATCH_KERNEL, 1.031027471096309},
              {4, DEMUR_WATCH_RISK, 0.92656538242312247}};
  g_autoptr(GArray) patients = stream(3, &usual, &usual, 0, 150);
  for (gint bets = 1; bets < NEW; bets++) {
    g_autoptr(DemurWatchPlan) plan = plan_like(&usual, 3, 120, bets);
    g_autofree char *json = demur_watch_plan_to_json(plan);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWatchPlan) back = demur_watch_plan_from_json(json, &error);
    g_assert_no_error(error);
    g_assert_cmpint(back->bets, ==, bets);
    g_autoptr(DemurWatchResult) result = look(back, patients);
    for (guint k = 0; k < G_N_ELEMENTS(kept); k++)
      if (kept[k].bets == bets)
        demur_assert_close(result->signals[kept[k].signal].evidence[99], kept[k].evidence, 1e-9,
                           0.0);
  }
}

/* Labels that are late, and come in any order, give in the end what they would have given at once;
 * on the way nobody counts before those who arrived earlier; who is censored is passed over. */
static void
test_late_labels(void) {
  enum { N = 300 };
  g_autoptr(DemurWatchPlan) plan = plan_of(4, 200);
  g_autoptr(GArray) patients = stream(4, &usual, &usual, 0, N);
  DemurWatchPatient *all = (DemurWatchPatient *)(gpointer)patients->data;
  all[7].label = NAN; /* censored */
  g_autoptr(DemurWatchResult) whole = look(plan, patients);
  double labels[N];
  for (size_t i = 0; i < N; i++) {
    labels[i] = all[i].label;
    all[i].pending = isfinite(labels[i]);
    all[i].label = NAN;
  }
  /* Every third comes first, those with the outcome before them. */
  for (size_t i = 0; i < N; i++)
    if (labels[i] == 1.0 || i % 3 == 0) {
      all[i].label = labels[i];
      all[i].pending = FALSE;
    }
  g_autoptr(DemurWatchResult) partly = look(plan, patients);
  const DemurWatchSignalResult *few = &partly->signals[DEMUR_WATCH_OUTCOME],
                               *most = &whole->signals[DEMUR_WATCH_OUTCOME];
  g_assert_cmpuint(few->n, <, 10);
  g_assert_cmpuint(few->n_waiting, >, 80);
  for (size_t i = 0; i < few->n; i++)
    g_assert_cmpfloat(few->evidence[i], ==, most->evidence[i]);
  for (size_t i = N; i-- > 0;) {
    all[i].label = labels[i];
    all[i].pending = FALSE;
  }
  g_autoptr(DemurWatchResult) later = look(plan, patients);
  g_assert_cmpuint(most->n, ==, N - 1);
  g_assert_cmpuint(later->signals[DEMUR_WATCH_OUTCOME].n, ==, N - 1);
  for (size_t i = 0; i < N - 1; i++)
    g_assert_cmpfloat(later->signals[DEMUR_WATCH_OUTCOME].evidence[i], ==, most->evidence[i]);
}

/* Behind a lifted alarm a signal begins anew; the others go on. */
static void
test_after(void) {
  g_autoptr(DemurWatchPlan) plan = plan_of(5, 100);
  g_autoptr(GArray) patients = stream(5, &usual, &usual, 0, 100);
  gint64 after[DEMUR_N_WATCH];
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    after[s] = s == DEMUR_WATCH_KERNEL ? 60 : 0;
  g_autoptr(DemurWatchResult) result =
      demur_watch_look(plan, (const DemurWatchPatient *)(gpointer)patients->data, 100, after);
  g_assert_cmpuint(result->signals[DEMUR_WATCH_KERNEL].n, ==, 40);
  g_assert_cmpuint(result->signals[DEMUR_WATCH_KERNEL].rows[0], ==, 60);
  g_assert_cmpuint(result->signals[DEMUR_WATCH_RISK].n, ==, 100);
}

/* Where three in ten patients have one of many kernels, most of which a reference of 100 lacks, nothing changes: at most
 * 1 in 20 of 24 years sees an alarm (1.2 and three standard errors: 4). A plan of an older program, whose reference fixed the
 * order and was compared too, cries in most: whoever is new stood behind all of the reference. */
static void
test_many_rare_kernels(void) {
  enum { RUNS = 24, REFERENCE = 100, N = 300, RARE = 200 };
  guint n_alarms[2] = {0, 0};
  for (gint bets = 2; bets <= NEW; bets += NEW - 2)
    for (guint64 h = 0; h < RUNS; h++) {
      DemurRandom random = demur_random_stream(31, DEMUR_STREAM_TEST, h, 0, 0);
      g_autoptr(GArray) patients = demur_watch_patients_new();
      for (size_t i = 0; i < REFERENCE + N; i++) {
        const gboolean rare = demur_random_uniform(&random) < 0.3;
        const DemurWatchPatient patient = {
            .order = (gint64)i,
            .key = demur_random_bits(&random),
            .scored = TRUE,
            .label = NAN,
            .kernel = rare ? g_strdup_printf("B%zu", (size_t)demur_random_below(&random, RARE))
                           : g_strdup("B30f")};
        g_array_append_val(patients, patient);
      }
      const DemurWatchPatient *all = (const DemurWatchPatient *)(gpointer)patients->data;
      g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
      plan->bets = bets;
      for (guint s = 0; s < DEMUR_N_WATCH; s++)
        plan->rules[s] = s == DEMUR_WATCH_KERNEL ? DEMUR_WATCH_NOTE : DEMUR_WATCH_IGNORE;
      demur_watch_plan_refer(plan, all, REFERENCE);
      g_autoptr(DemurWatchResult) result = demur_watch_look(plan, all + REFERENCE, N, NULL);
      n_alarms[bets == NEW ? 1 : 0] +=
          result->signals[DEMUR_WATCH_KERNEL].alarm != DEMUR_WATCH_NONE ? 1 : 0;
    }
  g_test_message("%u of 24, by the older bets %u", n_alarms[1], n_alarms[0]);
  g_assert_cmpuint(n_alarms[1], <=, 4);
  g_assert_cmpuint(n_alarms[0], >=, 12);
}

/* A version that the reference lacks is found by the few patients that it takes to be no chance, and the largest
 * evidence and its patient are told. */
static void
test_a_new_version(void) {
  DemurWatchPatient reference[80] = {{0}}, patients[60] = {{0}};
  for (int i = 0; i < 80; i++)
    reference[i] = (DemurWatchPatient){.scored = TRUE, .label = NAN, .version = (char *)"1"};
  for (int i = 0; i < 60; i++)
    patients[i] = (DemurWatchPatient){.scored = TRUE,
                                      .order = i + 1,
                                      .key = (guint64)i,
                                      .label = NAN,
                                      .version = (char *)(i < 30 ? "1" : "2")};
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  demur_watch_plan_refer(plan, reference, 80);
  g_autoptr(DemurWatchResult) result = demur_watch_look(plan, patients, 60, NULL);
  const DemurWatchSignalResult *version = &result->signals[DEMUR_WATCH_VERSION];
  g_assert_cmpuint(version->alarm, >=, 30);
  g_assert_cmpuint(version->alarm, <=, 40);
  g_assert_cmpfloat(version->most, ==, version->evidence[version->most_at]);
  for (size_t i = 0; i < version->n; i++)
    g_assert_cmpfloat(version->evidence[i], <=, version->most);
  g_assert_cmpuint(result->signals[DEMUR_WATCH_OUTCOME].most_at, ==, DEMUR_WATCH_NONE);
}

/* A language that writes 1.337,5 and leaves every other text as it is. */
static const char *
comma(const char *text) {
  return strcmp(text, "1,337.5") == 0 ? "1.337,5" : text;
}

/* A thickness is a number with its unit and is told as the language writes numbers; a kernel is a name. */
static void
test_a_thickness_is_a_number(void) {
  static const struct {
    DemurWatchSignal signal;
    const char *text, *words, *other;
  } rows[] = {
      {DEMUR_WATCH_THICKNESS, "3.20 mm",
       "slice thickness 3.20 mm: 40 % of 50 patients since 2026-05-03, 6.0 % before",
       "slice thickness 3,20 mm: 40 % of 50 patients since 3\u00a0May\u00a02026, 6,0 % before"},
      {DEMUR_WATCH_KERNEL, "B3.0",
       "reconstruction kernel B3.0: 40 % of 50 patients since 2026-05-03, 6.0 % before",
       "reconstruction kernel B3.0: 40 % of 50 patients since 3\u00a0May\u00a02026, 6,0 % before"}};
  g_autoptr(DemurWatchPlan) plan = demur_watch_plan_new();
  const DemurWatchPatient patient = {.when = (char *)"2026-05-03T10:00:00Z"};
  guint32 row = 0;
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    const DemurWatchSignalResult result = {.n = 100,
                                           .rows = &row,
                                           .n_since = 50,
                                           .n_reference = 950,
                                           .since = 0.4,
                                           .before = 0.06,
                                           .text = (char *)rows[r].text};
    g_autofree char *words =
        demur_watch_change_words(plan, rows[r].signal, &result, &patient, NULL);
    g_autofree char *other =
        demur_watch_change_words(plan, rows[r].signal, &result, &patient, comma);
    g_assert_cmpstr(words, ==, rows[r].words);
    g_assert_cmpstr(other, ==, rows[r].other);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/watch/shares-by-hand", test_shares_by_hand);
  g_test_add_func("/watch/document", test_document);
  g_test_add_func("/watch/older-document", test_older_document);
  g_test_add_func("/watch/older-bets", test_older_bets);
  g_test_add_func("/watch/lines-that-were-kept", test_lines_that_were_kept);
  g_test_add_func("/watch/outcomes-have-one-part", test_outcomes_have_one_part);
  g_test_add_func("/watch/outcomes-by-their-risks", test_outcomes_by_their_risks);
  g_test_add_func("/watch/late-labels", test_late_labels);
  g_test_add_func("/watch/after", test_after);
  g_test_add_func("/watch/changes", test_changes);
  g_test_add_func("/watch/expected", test_expected_changes_are_found_sooner);
  g_test_add_func("/watch/common-outcomes", test_common_outcomes);
  g_test_add_func("/watch/not-recorded", test_not_recorded_in_the_reference);
  g_test_add_func("/watch/many-rare-kernels", test_many_rare_kernels);
  g_test_add_func("/watch/a-new-version", test_a_new_version);
  g_test_add_func("/watch/a-thickness-is-a-number", test_a_thickness_is_a_number);
  g_test_add_func("/watch/quiet", test_quiet_hospitals);
  return g_test_run();
}
