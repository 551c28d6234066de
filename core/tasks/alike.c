/* share(attribute) = |{i in reference : a_i = a}| / |reference|, numbers equal where
 * |a_i - a| <= DEMUR_ALIKE_WITHIN a. The three nearest by the distance of the feature "knn", one a
 * patient and none of the scan's own. Cost: once a selector the cohort is read; a scan is one pass over
 * the reference. */
#include "tasks/alike.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "features/acquisition.h"
#include "selector/meta-features.h"
#include "selector/reference-scans.h"
#include "store/bindings.h"
#include "tasks/dicom-scores.h"
#include "tasks/selection.h"

#define N_TEXTS (DEMUR_N_ACQUISITION - DEMUR_N_ACQUISITION_NUMBERS)
#define MOST_OF_ONE_PATIENT 16 /* so many of the nearest are looked through */

G_STATIC_ASSERT(DEMUR_ALIKE_SHARES == DEMUR_N_ACQUISITION);

/* A reference scan; texts are in the reference's chunk. */
typedef struct {
  const char *patient_id, *site, *maker, *model;
  double label;
  double numbers[DEMUR_N_ACQUISITION_NUMBERS];
  const char *groups[N_TEXTS]; /* NULL: not recorded */
} ReferenceScan;

struct DemurAlikeReference {
  DemurSelector *selector;
  size_t n;
  ReferenceScan *scans; /* [n], in the order of fitting */
  GStringChunk *texts;
  char *outcome_name;
  DemurOutcome outcome;
  gint ref_count;
};

DemurAlikeReference *
demur_alike_reference_ref(DemurAlikeReference *reference) {
  g_atomic_int_inc(&reference->ref_count);
  return reference;
}

void
demur_alike_reference_unref(DemurAlikeReference *reference) {
  if (reference == NULL || !g_atomic_int_dec_and_test(&reference->ref_count))
    return;
  g_clear_pointer(&reference->selector, demur_selector_unref);
  g_clear_pointer(&reference->texts, g_string_chunk_free);
  g_free(reference->scans);
  g_free(reference->outcome_name);
  g_free(reference);
}

const DemurOutcome *
demur_alike_outcome(const DemurAlikeReference *reference) {
  return &reference->outcome;
}

size_t
demur_alike_n(const DemurAlikeReference *reference) {
  return reference->n;
}

static const char *
keep(DemurAlikeReference *reference, const char *text) {
  return text != NULL ? g_string_chunk_insert_const(reference->texts, text) : NULL;
}

/* made: how it was made; NULL: the cohort doesn't say. */
static void
take(DemurAlikeReference *reference, size_t place, const DemurCohort *cohort, guint32 row,
     const DemurAcquisitionScan *made) {
  ReferenceScan *scan = &reference->scans[place];
  scan->patient_id = keep(reference, cohort->patient_ids[cohort->patients[row]]);
  scan->site = keep(reference, cohort->site_names[cohort->sites[row]]);
  scan->label = demur_cohort_confidence_label(cohort, row);
  scan->maker = scan->model = "";
  for (guint s = 0; made != NULL && s < DEMUR_N_ACQUISITION; s++) {
    if (s < DEMUR_N_ACQUISITION_NUMBERS) {
      scan->numbers[s] = demur_acquisition_number(made, (DemurAcquisitionSubject)s);
      continue;
    }
    g_autofree char *group = demur_acquisition_group(made, (DemurAcquisitionSubject)s);
    scan->groups[s - DEMUR_N_ACQUISITION_NUMBERS] = keep(reference, group);
  }
  if (made == NULL)
    return;
  const char *maker = scan->groups[DEMUR_ACQUISITION_MANUFACTURER - DEMUR_N_ACQUISITION_NUMBERS],
             *model = made->texts[DEMUR_ACQUISITION_MODEL - DEMUR_N_ACQUISITION_NUMBERS];
  scan->maker = maker != NULL ? maker : "";
  scan->model = model != NULL ? keep(reference, model) : "";
}

/* FALSE where the cohort does not hold every reference scan. */
static gboolean
fill(DemurAlikeReference *reference, const DemurCohort *cohort) {
  size_t n;
  g_autofree guint32 *rows = demur_selector_reference_rows(reference->selector, cohort, &n);
  if (rows == NULL || n < 2)
    return FALSE;
  for (size_t i = 0; i < n; i++)
    if (rows[i] == DEMUR_NOT_THERE)
      return FALSE;
  /* A cohort that does not say how scans were made still says which are the nearest. */
  g_autofree DemurAcquisitionScan *made = demur_meta_acquisition_scans(cohort, rows, n, NULL);
  reference->n = n;
  reference->scans = g_new0(ReferenceScan, n);
  for (size_t i = 0; i < n; i++)
    take(reference, i, cohort, rows[i], made != NULL ? &made[i] : NULL);
  reference->outcome = demur_outcome_of_cohort(cohort);
  reference->outcome_name = g_strdup(reference->outcome.name);
  reference->outcome.name = reference->outcome_name;
  return TRUE;
}

gboolean
demur_task_alike_reference(DemurTask *task, const char *name, DemurAlikeReference **out,
                           GError **error) {
  *out = NULL;
  g_autoptr(DemurAlikeReference) reference = g_new0(DemurAlikeReference, 1);
  reference->ref_count = 1;
  reference->texts = g_string_chunk_new(4096);
  reference->selector = demur_task_load_selector(task, name, NULL, error);
  if (reference->selector == NULL)
    return FALSE;
  if (!demur_selector_uses_embeddings(reference->selector))
    return TRUE;
  g_autoptr(GError) cause = NULL;
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort_for(
      task, demur_selector_cohort(reference->selector), reference->selector, &cause);
  if (cohort == NULL) { /* it is elsewhere, or another one by now */
    if (g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND) ||
        g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_STATE))
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&cause));
    return FALSE;
  }
  if (fill(reference, cohort))
    *out = g_steal_pointer(&reference);
  return TRUE;
}

static int
compare_shares(const void *a, const void *b) {
  const DemurAlikeShare *x = a, *y = b;
  return (x->share > y->share) - (x->share < y->share);
}

static double
share_of_number(const DemurAlikeReference *reference, guint subject, double number) {
  size_t n = 0;
  for (size_t i = 0; i < reference->n; i++)
    n += fabs(reference->scans[i].numbers[subject] - number) <= DEMUR_ALIKE_WITHIN * number;
  return (double)n / (double)reference->n;
}

static double
share_of_text(const DemurAlikeReference *reference, guint text, const char *group) {
  size_t n = 0;
  for (size_t i = 0; i < reference->n; i++)
    n += g_strcmp0(reference->scans[i].groups[text], group) == 0;
  return (double)n / (double)reference->n;
}

/* Whether any reference scan records it: else there is nothing to compare with. */
static gboolean
is_known(const DemurAlikeReference *reference, guint subject) {
  for (size_t i = 0; i < reference->n; i++)
    if (subject < DEMUR_N_ACQUISITION_NUMBERS
            ? isfinite(reference->scans[i].numbers[subject]) &&
                  reference->scans[i].numbers[subject] > 0.0
            : reference->scans[i].groups[subject - DEMUR_N_ACQUISITION_NUMBERS] != NULL)
      return TRUE;
  return FALSE;
}

static void
find_shares(const DemurAlikeReference *reference, const DemurAcquisitionScan *made,
            DemurAlike *alike) {
  for (guint s = 0; s < DEMUR_N_ACQUISITION; s++) {
    const DemurAcquisitionSubject subject = (DemurAcquisitionSubject)s;
    DemurAlikeShare share = {.attribute = demur_acquisition_attribute(subject),
                             .unit = demur_acquisition_unit(subject),
                             .number = NAN};
    if (s < DEMUR_N_ACQUISITION_NUMBERS)
      share.number = demur_acquisition_number(made, subject);
    else
      share.text = demur_acquisition_group(made, subject);
    if ((share.text == NULL && isnan(share.number)) || !is_known(reference, s)) {
      g_free(share.text);
      continue;
    }
    share.share = share.text != NULL
                      ? share_of_text(reference, s - DEMUR_N_ACQUISITION_NUMBERS, share.text)
                      : share_of_number(reference, s, share.number);
    alike->shares[alike->n_shares++] = share;
  }
  qsort(alike->shares, alike->n_shares, sizeof *alike->shares, compare_shares);
}

static gboolean
find_nearest(DemurTask *task, const DemurAlikeReference *reference, const DemurCohort *cohort,
             DemurAlike *alike, GError **error) {
  const size_t n = demur_selector_n_reference(reference->selector),
               k = MIN((size_t)MOST_OF_ONE_PATIENT, n - 1);
  guint32 places[MOST_OF_ONE_PATIENT];
  if (!demur_selector_nearest_reference(reference->selector, cohort, 0, k, places, task->parallel,
                                        error))
    return FALSE;
  const char *taken[DEMUR_ALIKE_SCANS + 1] = {cohort->patient_ids[cohort->patients[0]]};
  for (size_t i = 0; i < k && alike->n_scans < DEMUR_ALIKE_SCANS; i++) {
    const ReferenceScan *scan = &reference->scans[places[i]];
    gboolean is_new = TRUE;
    for (guint t = 0; t <= alike->n_scans; t++)
      is_new = is_new && g_strcmp0(taken[t], scan->patient_id) != 0;
    if (!is_new)
      continue;
    alike->scans[alike->n_scans++] =
        (DemurAlikeScan){scan->site, scan->maker, scan->model, scan->label};
    taken[alike->n_scans] = scan->patient_id;
  }
  return TRUE;
}

/* The scan's score, and what binds it to its images, of one moment. */
static DemurDicomScores *
load_score(DemurWorkspace *workspace, const DemurSelector *selector, const char *scan_id,
           GError **error) {
  if (!demur_workspace_begin_read(workspace, error))
    return NULL;
  g_autoptr(DemurBindings) bindings = demur_bindings_load(workspace, NULL, error);
  DemurDicomScores *scored =
      bindings == NULL
          ? NULL
          : demur_dicom_scores_load(workspace, bindings, scan_id, demur_selector_model(selector),
                                    demur_selector_horizon_years(selector),
                                    demur_selector_embedding_width(selector), error);
  demur_workspace_end_read(workspace);
  return scored;
}

DemurAlike *
demur_task_alike(DemurTask *task, const DemurAlikeReference *reference, const char *scan_id,
                 GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurDicomScores) scored =
      workspace != NULL ? load_score(workspace, reference->selector, scan_id, error) : NULL;
  if (scored == NULL)
    return NULL;
  g_autoptr(DemurAlike) alike = g_new0(DemurAlike, 1);
  if (scored->cohort == NULL)
    return g_steal_pointer(&alike);
  const guint32 first = 0;
  g_autofree DemurAcquisitionScan *made =
      demur_meta_acquisition_scans(scored->cohort, &first, 1, NULL);
  if (made != NULL)
    find_shares(reference, made, alike);
  return find_nearest(task, reference, scored->cohort, alike, error) ? g_steal_pointer(&alike)
                                                                     : NULL;
}

void
demur_alike_free(DemurAlike *alike) {
  for (guint i = 0; alike != NULL && i < alike->n_shares; i++)
    g_free(alike->shares[i].text);
  g_free(alike);
}
