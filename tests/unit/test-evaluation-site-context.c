/* Site context. Right values: planted sites, whose intercepts follow their embeddings' mean, are told of
 * without a label; sites whose intercepts follow nothing are not; what is measured does not hang on the
 * order of the scans. */
#include <math.h>

#include "base/random.h"
#include "evaluation/site-context.h"
#include "support/support.h"

enum { SITES = 40, SCANS = 100, FOLDS = 5 };

typedef struct {
  DemurCohort *cohort;
  DemurLeftOut left_out;
} Planted;

static void
planted_clear(Planted *planted) {
  demur_cohort_unref(planted->cohort);
  g_free(planted->left_out.rows);
  g_free(planted->left_out.folds);
  g_free(planted->left_out.risks);
}

/* Intercept of a site: visible x (its embeddings' mean) + sd z, invisible. turned: scans in the other order. */
static Planted
plant(double visible, double sd, guint64 seed, gboolean turned) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 2);
  double *means = g_new(double, SITES), *intercepts = g_new(double, SITES);
  DemurRandom of_sites = demur_random_stream(seed, DEMUR_STREAM_TEST, 1, 0, 0);
  for (size_t t = 0; t < SITES; t++) {
    means[t] = demur_random_normal(&of_sites);
    intercepts[t] = visible * means[t] + sd * demur_random_normal(&of_sites);
  }
  for (size_t k = 0; k < (size_t)SITES * SCANS; k++) {
    const size_t i = turned ? (size_t)SITES * SCANS - 1 - k : k, site = i % SITES;
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 2, i, 0);
    const double z = -1.5 + demur_random_normal(&random), risk = 1.0 / (1.0 + exp(-z)),
                 truth = 1.0 / (1.0 + exp(-(z + intercepts[site])));
    const float embedding[2] = {(float)(means[site] + demur_random_normal(&random)),
                                (float)demur_random_normal(&random)};
    char id[32], name[32];
    g_snprintf(id, sizeof id, "s%05zu", i);
    g_snprintf(name, sizeof name, "H%02zu", site);
    demur_cohort_builder_add(builder, id, id, name, "train",
                             demur_random_uniform(&random) < truth ? 1 : 0, &risk, NULL, embedding);
  }
  g_free(means);
  g_free(intercepts);
  Planted planted = {0};
  planted.cohort =
      demur_cohort_builder_finish(builder, "c", "m", "drawn", "2026-01-01T00:00:00Z", TRUE, NULL);
  const size_t n = planted.cohort->n_scans;
  planted.left_out = (DemurLeftOut){.seed = 1,
                                    .n = n,
                                    .n_folds = FOLDS,
                                    .width = 1,
                                    .rows = g_new(guint32, n),
                                    .folds = g_new(guint32, n),
                                    .risks = g_new(double, n)};
  for (guint32 i = 0; i < n; i++) {
    const char *site = planted.cohort->site_names[planted.cohort->sites[i]];
    planted.left_out.rows[i] = i;
    planted.left_out.folds[i] = (guint32)g_ascii_strtoull(site + 1, NULL, 10) % FOLDS;
    planted.left_out.risks[i] = planted.cohort->risks[i];
  }
  return planted;
}

static DemurSiteContext *
try_of(double visible, double sd, guint64 seed, gboolean turned) {
  Planted planted = plant(visible, sd, seed, turned);
  g_autoptr(GError) error = NULL;
  DemurSiteContext *context = demur_site_context_try(planted.cohort, &planted.left_out, &error);
  g_assert_no_error(error);
  g_autofree char *sentence = demur_site_context_sentence(context);
  g_test_message("%s", sentence);
  planted_clear(&planted);
  return context;
}

static void
test_visible(void) {
  g_autofree DemurSiteContext *context = try_of(0.6, 0.1, 1, FALSE);
  g_assert_cmpuint(context->n_sites, ==, SITES);
  g_assert_cmpuint(context->n_features, ==, 6);
  g_assert_cmpuint(context->n_used, ==, FOLDS);
  g_assert_true(context->helps);
  g_assert_cmpfloat(context->site_error.value[1], <, 0.5 * context->site_error.value[0]);
  g_assert_cmpfloat(context->labels_saved, >, 10.0);
  /* Labels help without context, and with it there is less left for them. */
  g_assert_cmpfloat(context->steps[3].log_loss[0], <, context->steps[0].log_loss[0]);
  g_assert_cmpfloat(context->steps[0].log_loss[1], <, context->steps[0].log_loss[0]);
}

static void
test_invisible(void) {
  for (guint64 seed = 2; seed < 6; seed++) {
    g_autofree DemurSiteContext *context = try_of(0.0, 0.6, seed, FALSE);
    g_assert_false(context->helps);
    g_assert_cmpfloat(context->site_error.value[0], >, 0.02);
  }
}

static void
test_order(void) {
  g_autofree DemurSiteContext *one = try_of(0.6, 0.1, 1, FALSE), *other = try_of(0.6, 0.1, 1, TRUE);
  g_assert_cmpfloat_with_epsilon(one->log_loss.value[1], other->log_loss.value[1], 1e-6);
  g_assert_cmpfloat_with_epsilon(one->site_error.value[0], other->site_error.value[0], 1e-9);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/site-context/visible", test_visible);
  g_test_add_func("/evaluation/site-context/invisible", test_invisible);
  g_test_add_func("/evaluation/site-context/order", test_order);
  return g_test_run();
}
