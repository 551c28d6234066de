/* A trained selector from its file, scoring vectors. They become cohorts of BLOCK scans, one after
 * another, so that nothing of the size of the caller's arrays is copied; a scan's score does not
 * depend on what else is scored. */
#include "library/libdemur-private.h"

#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "library/pool.h"
#include "selector/selector.h"

#define BLOCK 4096

struct libdemur_selector {
  DemurSelector *selector;
  DemurLibraryPool *pool;
};

libdemur_selector *
libdemur_selector_read(const char *path, unsigned n_threads, libdemur_error *error) {
  GError *cause = NULL;
  gsize length;
  g_autofree char *text = demur_file_input_read(path, DEMUR_LIMIT_SELECTOR_BYTES, &length, &cause);
  g_autofree char *name = g_path_get_basename(path);
  DemurSelector *read =
      text != NULL ? demur_selector_from_json(text, (gssize)length, name, &cause) : NULL;
  DemurLibraryPool *pool = read != NULL ? demur_library_pool_new(n_threads, &cause) : NULL;
  if (pool == NULL) {
    g_clear_pointer(&read, demur_selector_unref);
    demur_library_fail(error, cause);
    return NULL;
  }
  libdemur_selector *selector = g_new(libdemur_selector, 1);
  *selector = (libdemur_selector){read, pool};
  return selector;
}

void
libdemur_selector_free(libdemur_selector *selector) {
  if (selector == NULL)
    return;
  demur_selector_unref(selector->selector);
  demur_library_pool_free(selector->pool);
  g_free(selector);
}

const char *
libdemur_selector_digest(const libdemur_selector *selector) {
  return demur_selector_digest(selector->selector);
}

const char *
libdemur_selector_model(const libdemur_selector *selector) {
  return demur_selector_model(selector->selector);
}

double
libdemur_selector_horizon_years(const libdemur_selector *selector) {
  return demur_selector_horizon_years(selector->selector);
}

int
libdemur_selector_is_simulated(const libdemur_selector *selector) {
  return demur_selector_is_simulated(selector->selector);
}

size_t
libdemur_selector_n_classes(const libdemur_selector *selector) {
  return demur_selector_n_classes(selector->selector);
}

size_t
libdemur_selector_embedding_width(const libdemur_selector *selector) {
  return demur_selector_uses_embeddings(selector->selector)
             ? demur_selector_embedding_width(selector->selector)
             : 0;
}

int
libdemur_selector_uses_acquisition(const libdemur_selector *selector) {
  return demur_selector_uses_acquisition(selector->selector);
}

/* Scans [from, from + n) as a cohort of the selector's model. */
static DemurCohort *
make_cohort(const DemurSelector *selector, const double *risks, const float *embeddings, size_t d,
            size_t from, size_t n, GError **error) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, d);
  for (size_t i = from; i < from + n; i++) {
    char id[32];
    g_snprintf(id, sizeof id, "%zu", i);
    demur_cohort_builder_add(builder, id, id, "", "", DEMUR_NO_LABEL, &risks[i], NULL,
                             d > 0 ? embeddings + i * d : NULL);
  }
  DemurCohort *cohort = demur_cohort_builder_finish(
      builder, "vectors", demur_selector_model(selector), "vectors", "", FALSE, error);
  if (cohort != NULL)
    cohort->horizon_years = demur_selector_horizon_years(selector);
  return cohort;
}

static gboolean
score_block(const DemurSelector *s, DemurCohort *cohort, double *scores, double *shown,
            DemurParallel *parallel, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, NULL, &n, error);
  g_autoptr(DemurCohort) view = demur_selector_view_rows(s, cohort, rows, n, parallel, NULL, error);
  if (view == NULL)
    return FALSE;
  double *meta = demur_selector_meta_features(s, view, FALSE, rows, n, parallel, NULL, error);
  if (meta == NULL)
    return FALSE;
  demur_selector_scores(s, 0, meta, n, scores);
  g_aligned_free(meta);
  if (shown != NULL)
    memcpy(shown, view->risks, n * sizeof *shown);
  return TRUE;
}

int
libdemur_selector_score(libdemur_selector *selector, const double *risks, const float *embeddings,
                        size_t n, double *scores, double *shown, libdemur_error *error) {
  GError *cause = NULL;
  const size_t d = libdemur_selector_embedding_width(selector);
  if (demur_selector_n_classes(selector->selector) != 2)
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the selector is of %zu classes; vectors of risks are of two",
                demur_selector_n_classes(selector->selector));
  else if (demur_selector_uses_acquisition(selector->selector))
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the selector reads how a scan was made, which vectors don't tell; use `demur "
                "assess`");
  else if (d > 0 && embeddings == NULL)
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "the selector reads embeddings of %zu numbers; none are given", d);
  else
    demur_library_check("risks", risks, n, 0.0, 1.0, &cause);
  DemurParallel *parallel = demur_library_pool_take(selector->pool);
  for (size_t from = 0; cause == NULL && from < n; from += BLOCK) {
    g_autoptr(DemurCohort) cohort =
        make_cohort(selector->selector, risks, embeddings, d, from, MIN(BLOCK, n - from), &cause);
    if (cohort != NULL)
      score_block(selector->selector, cohort, scores + from, shown != NULL ? shown + from : NULL,
                  parallel, &cause);
  }
  demur_library_pool_give(selector->pool, parallel);
  return cause == NULL ? 0 : demur_library_fail(error, cause);
}
