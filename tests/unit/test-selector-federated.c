/* What a study of several sites changes in a selector. Right value: a law, that of everything that is taken in some
 * risk or some score is another, that no risk is where only scores are said to come from it, and that what is said
 * not to be in use moves nothing. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "selector-fixture.h"
#include "selector/federated.h"
#include "selector/selector-private.h"

static DemurCohort *cohort;

/* What a selector says of every scan. */
typedef struct {
  size_t n;
  double *risks, *scores;
} Said;

static void
said_clear(Said *said) {
  g_free(said->risks);
  g_free(said->scores);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Said, said_clear)

static void
say(const DemurSelector *s, Said *said) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, NULL, &n, &error);
  g_autoptr(DemurCohort) view = demur_selector_view_rows(s, cohort, rows, n, NULL, NULL, &error);
  g_assert_no_error(error);
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(s, view, FALSE, rows, n, NULL, NULL, &error);
  g_assert_no_error(error);
  *said = (Said){n, g_new(double, n), g_new(double, n)};
  for (size_t i = 0; i < n; i++)
    said->risks[i] = view->risks[rows[i]];
  demur_selector_scores(s, 0, meta, n, said->scores);
}

static gboolean
differ(const double *a, const double *b, size_t n) {
  return memcmp(a, b, n * sizeof *a) != 0;
}

/* A corrector that sees something, whatever the small cohort let it see. */
static DemurSelector *
trained(guint features) {
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 20, 100, 1);
  settings->recalibrate = DEMUR_RECALIBRATION_NONE;
  settings->features = features;
  g_autoptr(GError) error = NULL;
  DemurSelector *s = demur_selector_train(cohort, settings, 5, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  s->corrected.corrector->slope = 0.5;
  demur_selector_seal(s);
  return s;
}

/* The same selector where its risks go through a map of that kind. */
static DemurSelector *
recalibrated(const DemurSelector *selector, DemurRecalibrationKind kind) {
  g_autofree char *document = demur_selector_to_json(selector);
  g_autoptr(GError) error = NULL;
  DemurSelector *s = demur_selector_from_json(document, -1, "selector", &error);
  g_assert_no_error(error);
  if (kind == DEMUR_RECALIBRATION_NONE)
    return s;
  s->raw.scaler = demur_scaler_ref(s->corrected.scaler);
  s->raw.corrector = demur_corrector_copy(s->corrected.corrector);
  s->raw.corrector->weights[0] += 0.125;
  s->recalibration = g_new0(DemurRecalibration, 1);
  *s->recalibration =
      (DemurRecalibration){.kind = kind,
                           .n_classes = 2,
                           .slope = kind == DEMUR_RECALIBRATION_INTERCEPT ? 1.0 : 1.25,
                           .intercept = kind == DEMUR_RECALIBRATION_TEMPERATURE ? 0.0 : 0.25};
  if (kind == DEMUR_RECALIBRATION_ISOTONIC) {
    s->recalibration->n_knots = 2;
    s->recalibration->knots_x = demur_new_array(double, 2);
    s->recalibration->knots_y = demur_new_array(double, 2);
    memcpy(s->recalibration->knots_x, (double[]){0.1, 0.6}, 2 * sizeof(double));
    memcpy(s->recalibration->knots_y, (double[]){0.2, 0.5}, 2 * sizeof(double));
  }
  demur_selector_seal(s);
  return s;
}

/* A study of the selector, of numbers that none had before; n tells studies apart. */
static DemurSelector *
taken(const DemurSelector *s, DemurFederatedPart part, size_t n, GError **error) {
  static const char *const sites[] = {"east", "west", NULL};
  const DemurCorrector *corrector = demur_selector_corrector(s, TRUE);
  g_autofree double *weights = g_new(double, corrector->n_inputs);
  g_autofree guint32 *columns = g_new(guint32, corrector->n_inputs);
  for (size_t c = 0; c < corrector->n_inputs; c++) {
    weights[c] = corrector->weights[c] + 0.5 + (double)n;
    columns[c] = (guint32)c;
  }
  g_autofree char *result = g_strnfill(64, (char)('a' + n));
  const DemurFederatedOrigin origin = {part, result, demur_selector_digest(s), sites, 100 + n};
  const DemurFederatedNumbers numbers = {.kind = DEMUR_RECALIBRATION_PLATT,
                                         .slope = 0.75,
                                         .intercept = 0.375 + (double)n / 8.0,
                                         .lambda = 1.0,
                                         .n_weights = corrector->n_inputs,
                                         .weights = weights,
                                         .columns = columns};
  return demur_selector_federate(s, &origin, &numbers, error);
}

static const DemurRecalibrationKind kinds[] = {
    DEMUR_RECALIBRATION_NONE,  DEMUR_RECALIBRATION_INTERCEPT, DEMUR_RECALIBRATION_TEMPERATURE,
    DEMUR_RECALIBRATION_PLATT, DEMUR_RECALIBRATION_ISOTONIC,  DEMUR_RECALIBRATION_CORRECTOR};

static void
check_one(const DemurSelector *s, DemurFederatedPart part, gboolean sound) {
  g_autoptr(GError) error = NULL, before = NULL;
  g_autoptr(DemurSelector) after = taken(s, part, 1, &error);
  g_assert_cmpint(demur_selector_may_federate(s, part, &before), ==,
                  sound); /* known before it begins */
  if (!sound) {
    g_assert_cmpstr(before->message, ==, error->message);
    g_assert_null(after);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED);
    return;
  }
  g_assert_no_error(error);
  g_auto(Said) was = {0}, is = {0};
  say(s, &was);
  say(after, &is);
  const gboolean risks = differ(was.risks, is.risks, was.n);
  g_assert_true(risks || differ(was.scores, is.scores, was.n));
  const DemurFederatedReach reach = demur_selector_federated_reach(after, 0);
  g_assert_cmpint(reach, ==, risks ? DEMUR_FEDERATED_RISKS : DEMUR_FEDERATED_SCORES);
}

/* A corrector is taken where the risks are its own, or the model's and the scores read it. */
static void
what_changes_nothing_is_refused(void) {
  const guint whole = DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS | DEMUR_FEATURES_CORRECTOR;
  for (gboolean reads = FALSE; reads <= TRUE; reads++) {
    g_autoptr(DemurSelector) selector =
        trained(reads ? whole : whole & ~(guint)DEMUR_FEATURES_CORRECTOR);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
      const DemurRecalibrationKind kind = kinds[k];
      g_test_message("%s, scores that %s the corrector", demur_recalibration_name(kind),
                     reads ? "read" : "don't read");
      g_autoptr(DemurSelector) s = recalibrated(selector, kind);
      check_one(s, DEMUR_FEDERATED_CORRECTOR,
                kind == DEMUR_RECALIBRATION_CORRECTOR ||
                    (kind == DEMUR_RECALIBRATION_NONE && reads));
      check_one(s, DEMUR_FEDERATED_RECALIBRATION, TRUE);
      check_one(s, DEMUR_FEDERATED_INTERCEPT, kind != DEMUR_RECALIBRATION_ISOTONIC);
    }
  }
}

/* Studies behind each other: each is told by what of it is left. */
static void
what_is_left_of_each_is_told(void) {
  enum {
    R = DEMUR_FEDERATED_RECALIBRATION,
    C = DEMUR_FEDERATED_CORRECTOR,
    I = DEMUR_FEDERATED_INTERCEPT
  };
  enum {
    RISKS = DEMUR_FEDERATED_RISKS,
    SCORES = DEMUR_FEDERATED_SCORES,
    UNUSED = DEMUR_FEDERATED_UNUSED
  };
  static const struct {
    DemurRecalibrationKind kind;
    size_t n;
    int parts[3];
    int reaches[3]; /* -1: the last is refused */
  } cases[] = {
      {DEMUR_RECALIBRATION_NONE, 2, {C, R}, {SCORES, RISKS}},
      {DEMUR_RECALIBRATION_NONE, 3, {C, I, R}, {SCORES, UNUSED, RISKS}},
      {DEMUR_RECALIBRATION_NONE, 2, {C, C}, {UNUSED, SCORES}},
      {DEMUR_RECALIBRATION_NONE, 2, {R, C}, {RISKS, -1}},
      {DEMUR_RECALIBRATION_NONE, 2, {I, C}, {RISKS, -1}},
      {DEMUR_RECALIBRATION_NONE, 3, {R, I, R}, {UNUSED, UNUSED, RISKS}},
      {DEMUR_RECALIBRATION_CORRECTOR, 2, {C, I}, {RISKS, RISKS}},
      {DEMUR_RECALIBRATION_CORRECTOR, 3, {C, I, C}, {UNUSED, UNUSED, RISKS}},
      {DEMUR_RECALIBRATION_CORRECTOR, 3, {C, I, R}, {UNUSED, UNUSED, RISKS}},
  };
  g_autoptr(DemurSelector) selector =
      trained(DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS | DEMUR_FEATURES_CORRECTOR);
  for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autoptr(DemurSelector) s = recalibrated(selector, cases[c].kind);
    g_autoptr(GError) error = NULL;
    size_t n = 0;
    while (n < cases[c].n) {
      DemurSelector *next = taken(s, (DemurFederatedPart)cases[c].parts[n], n, &error);
      if (cases[c].reaches[n] < 0) {
        g_assert_null(next);
        g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED);
        g_clear_error(&error);
        break;
      }
      g_assert_no_error(error);
      demur_selector_unref(s);
      s = next;
      n++;
    }
    for (size_t i = 0; i < n; i++)
      g_assert_cmpint(demur_selector_federated_reach(s, i), ==, cases[c].reaches[i]);
    g_autofree char *document = demur_selector_to_json(s);
    g_autoptr(DemurSelector) back = demur_selector_from_json(document, -1, "selector", &error);
    g_assert_no_error(error);
    for (size_t i = 0; i < n; i++)
      g_assert_cmpint(demur_selector_federated_reach(back, i), ==, cases[c].reaches[i]);
    fixture_comes_back_at_once(s);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  cohort = fixture_cohort(0);
  g_test_add_func("/selector/federated/refused", what_changes_nothing_is_refused);
  g_test_add_func("/selector/federated/left", what_is_left_of_each_is_told);
  const int status = g_test_run();
  demur_cohort_unref(cohort);
  return status;
}
