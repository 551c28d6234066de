#include "evaluation/group-releases.h"

#include <math.h>
#include <string.h>

#include "base/small-cells.h"

/* Takes coverages[t] from what is told of a group. */
static void
drop(DemurToldCoverages *told, double coverage) {
  size_t n = 0;
  for (size_t t = 0; t < told->n; t++)
    if (told->coverages[t] != coverage)
      told->coverages[n++] = told->coverages[t];
  told->n = n;
}

/* told [n_groups]: what may be told of method k in each group. */
static void
find_told(const DemurGroupsInput *input, size_t k, size_t n_groups, const guint32 *const *places,
          const size_t *n_places, DemurToldCoverages *told) {
  const DemurSample *sample = input->sample;
  const DemurMethod *method = input->methods->pdata[k];
  const DemurToldCoverages *whole = &input->told[k];
  const size_t K = sample->n_classes, stride = whole->n * K;
  g_autofree size_t *kept = g_new0(size_t, n_groups * stride + 1),
                    *all = g_new0(size_t, n_groups * K + 1),
                    *cells = g_new0(size_t, n_groups * 2 * K + 1);
  g_autofree gboolean *forced = g_new0(gboolean, n_groups + 1),
                      *withheld = g_new0(gboolean, n_groups + 1);
  g_autofree gssize *cuts = g_new(gssize, method->n_models * whole->n + 1);
  demur_told_cuts(sample, method, whole, cuts);
  for (size_t g = 0; g < n_groups; g++) {
    told[g] = demur_told_coverages_of_part(sample, method, whole, cuts, places[g], n_places[g],
                                           kept + g * stride);
    for (size_t i = 0; i < n_places[g]; i++)
      if (sample->classes[places[g][i]] != DEMUR_NO_LABEL)
        all[g * K + (size_t)sample->classes[places[g][i]]]++;
  }
  for (size_t t = 0; t < whole->n; t++) {
    for (size_t g = 0; g < n_groups; g++) {
      for (size_t l = 0; l < K; l++) {
        const size_t own = kept[g * stride + t * K + l];
        cells[(g * K + l) * 2] = own;
        cells[(g * K + l) * 2 + 1] = all[g * K + l] - own;
      }
      forced[g] = !demur_told_coverages_have(&told[g], whole->coverages[t]);
    }
    demur_small_cells_beside(cells, n_groups, 2 * K, forced, withheld);
    for (size_t g = 0; g < n_groups; g++)
      if (withheld[g])
        drop(&told[g], whole->coverages[t]);
  }
}

/* The points of method k in a group, which stand in the order of its thresholds. */
static void
release_points(const DemurGroupsInput *input, size_t k, const DemurToldCoverages *told,
               DemurGroupMethod *result) {
  size_t first = 0, n = 0;
  while (first < input->n_thresholds && input->thresholds[first].method != k)
    first++;
  for (size_t a = 0; a < result->n_at; a++) {
    DemurOperatingPoint *at = &result->at[a];
    const DemurGroupThreshold *threshold = &input->thresholds[first + a];
    if (threshold->aside)
      continue;
    n++;
    const DemurOperatingPoint *by =
        threshold->told >= 0 &&
                demur_told_coverages_have(told, input->thresholds[threshold->told].coverage)
            ? &result->at[(size_t)threshold->told - first]
            : NULL;
    demur_point_release(at, by);
  }
  for (size_t a = n; a < result->n_at; a++)
    g_free(result->at[a].rejected_by_label);
  result->n_at = n;
}

typedef struct {
  const DemurGroupsInput *input;
  size_t n_groups;
  const guint32 *const *places;
  const size_t *n_places;
  DemurGroupMethod *const *results;
} Release;

static void
release_method(size_t k, guint worker, gpointer data) {
  const Release *r = data;
  g_autofree DemurToldCoverages *told = g_new0(DemurToldCoverages, r->n_groups + 1);
  find_told(r->input, k, r->n_groups, r->places, r->n_places, told);
  for (size_t g = 0; g < r->n_groups; g++)
    release_points(r->input, k, &told[g], &r->results[g][k]);
}

void
demur_group_points_release(const DemurGroupsInput *input, size_t n_groups,
                           const guint32 *const *places, const size_t *n_places,
                           DemurGroupMethod *const *results, DemurParallel *parallel) {
  Release release = {input, n_groups, places, n_places, results};
  demur_parallel_map(parallel, input->methods->len, release_method, &release);
}
