/* The corrector without a site. Right by a law: what a fit without a site says of its scans does not
 * depend on their outcomes. With few sites neither the penalty nor the slope may look at them. */
#include <math.h>

#include "base/random.h"
#include "selector/corrector.h"
#include "support/support.h"

enum { N_SITES = 8, PER_SITE = 60, N = N_SITES * PER_SITE, D = 6 };

typedef struct {
  double inputs[N * D], risks[N], labels[N];
  guint32 sites[N];
} World;

/* Columns that say a little, and sites that differ. */
static void
draw(World *world) {
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    world->sites[i] = (guint32)(i / PER_SITE);
    double seen = 0.0;
    for (size_t c = 0; c < D; c++) {
      world->inputs[i * D + c] = demur_random_normal(&random);
      seen += 0.3 * world->inputs[i * D + c];
    }
    const double logit = -1.0 + demur_random_normal(&random);
    world->risks[i] = 1.0 / (1.0 + exp(-logit));
    const double shift = 0.5 * ((double)(world->sites[i] % 3) - 1.0);
    world->labels[i] = demur_random_uniform(&random) < 1.0 / (1.0 + exp(-(logit + seen + shift)));
  }
}

static void
fit(const World *world, DemurCorrectorTraining *training) {
  g_autoptr(GError) error = NULL;
  const DemurProgress none = {0};
  const DemurCorrectorData data = {.n = N,
                                   .n_inputs = D,
                                   .inputs = world->inputs,
                                   .risks = world->risks,
                                   .labels = world->labels,
                                   .units = world->sites,
                                   .sites = world->sites};
  g_autoptr(DemurCorrector) corrector =
      demur_corrector_fit(&data, 5, NULL, &none, training, &error);
  g_assert_no_error(error);
}

/* Labels of one site turned over, which moves the whole fit; its own left-out risks stay. */
static void
a_site_left_out_has_no_say_in_it(void) {
  g_autofree World *world = g_new(World, 1), *other = g_new(World, 1);
  draw(world);
  g_auto(DemurCorrectorTraining) before = {0};
  fit(world, &before);
  for (guint32 site = 0; site < N_SITES; site++) {
    *other = *world;
    for (size_t i = 0; i < N; i++)
      if (other->sites[i] == site)
        other->labels[i] = 1.0 - other->labels[i];
    g_auto(DemurCorrectorTraining) after = {0};
    fit(other, &after);
    double own = 0.0, others = 0.0;
    for (size_t i = 0; i < N; i++) {
      const double change = fabs(after.left_out[i] - before.left_out[i]);
      if (world->sites[i] == site)
        own = fmax(own, change);
      else
        others = fmax(others, change);
    }
    g_assert_cmpfloat(own, <, 1e-6);    /* where Newton ended */
    g_assert_cmpfloat(others, >, 1e-3); /* who trains on it sees it */
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/corrector/left-out", a_site_left_out_has_no_say_in_it);
  return g_test_run();
}
