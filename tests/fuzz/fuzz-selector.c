/* A selector's file with a right digest, and what it then makes of scans: refused, or every score a
 * number from 0 to 1. A family's file: refused, or written again as it was read. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cohort/cohort.h"
#include "selector/selector-bundle.h"
#include "selector/selector-private.h"

#define N_SCANS 6
#define MAX_WIDTH 64
#define MAX_CLASSES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Risks at both ends and between, embeddings of every size. NULL where the build refuses. */
static DemurCohort *
small_cohort(const DemurSelector *selector) {
  const size_t k = demur_selector_n_classes(selector), d = demur_selector_embedding_width(selector);
  static const double risks[N_SCANS] = {0.0, 1e-12, 0.03, 0.5, 0.97, 1.0};
  static const float sizes[N_SCANS] = {0.0f, 1.0f, -3.0f, 1e-20f, 1e4f, -1e8f};
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(k, d);
  g_autofree double *p = g_new(double, k);
  g_autofree float *embedding = g_new(float, d + 1);
  for (int i = 0; i < N_SCANS; i++) {
    g_autofree char *id = g_strdup_printf("%d", i);
    for (size_t c = 0; c < k; c++)
      p[c] = c == 1 ? risks[i] : (1.0 - risks[i]) / (double)(k - 1);
    for (size_t j = 0; j < d; j++)
      embedding[j] = sizes[i] * (float)(j + 1);
    demur_cohort_builder_add(builder, id, id, i % 2 == 0 ? "A" : "B", "test", i % 2, p, NULL,
                             embedding);
  }
  return demur_cohort_builder_finish(builder, "c", demur_selector_model(selector), "fuzz", "2026",
                                     TRUE, NULL);
}

static void
read_family(const char *text) {
  g_auto(DemurSelectorBundle) bundle = {0}, same = {0};
  g_autoptr(GError) error = NULL;
  if (!demur_selector_bundle_from_json(text, -1, "file", &bundle, &error)) {
    g_assert_nonnull(error);
    g_assert_cmpuint(bundle.n, ==, 0);
    return;
  }
  g_autofree char *again = demur_selector_bundle_to_json(&bundle);
  if (!demur_selector_bundle_from_json(again, -1, "its own", &same, &error))
    g_error("its own document is refused: %s", error->message);
  g_assert_cmpstr(same.digest, ==, bundle.digest);
  g_assert_cmpuint(same.n, ==, bundle.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(GError) error = NULL;
  g_autofree char *text = g_strndup((const char *)data, size);
  read_family(text);
  g_autoptr(DemurSelector) selector =
      demur_selector_from_json_unsealed(text, (gssize)strlen(text), "file", &error);
  if (selector == NULL) {
    g_assert_nonnull(error);
    return 0;
  }
  g_autofree char *again = demur_selector_to_json(selector);
  g_autoptr(DemurSelector) same = demur_selector_from_json(again, -1, "its own", &error);
  if (same == NULL)
    g_error("its own document is refused: %s", error->message);
  if (demur_selector_n_classes(selector) > MAX_CLASSES ||
      demur_selector_embedding_width(selector) > MAX_WIDTH)
    return 0;
  g_autoptr(DemurCohort) cohort = small_cohort(selector);
  g_autoptr(DemurCohort) view =
      cohort != NULL ? demur_selector_view(selector, cohort, &error) : NULL;
  const guint32 rows[N_SCANS] = {0, 1, 2, 3, 4, 5};
  double *meta = view != NULL ? demur_selector_meta_features(selector, view, FALSE, rows, N_SCANS,
                                                             NULL, NULL, &error)
                              : NULL;
  for (size_t m = 0; meta != NULL && m < demur_selector_n_models(selector); m++) {
    double scores[N_SCANS];
    demur_selector_scores(selector, m, meta, N_SCANS, scores);
    for (int i = 0; i < N_SCANS; i++)
      if (!(scores[i] >= 0.0 && scores[i] <= 1.0))
        g_error("scan %d has the score %g", i, scores[i]);
  }
  g_aligned_free(meta);
  return 0;
}
