#include "tasks/dicom-scores.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "features/acquisition.h"
#include "store/runs.h"
#include "store/scores.h"
#include "store/series.h"

void
demur_dicom_scores_free(DemurDicomScores *scores) {
  if (scores == NULL)
    return;
  demur_cohort_unref(scores->cohort);
  for (size_t i = 0; i < scores->n_unscored; i++) {
    g_free(scores->unscored[i].scan_id);
    g_free(scores->unscored[i].patient_id);
    g_ptr_array_unref(scores->unscored[i].reasons);
  }
  g_free(scores->unscored);
  g_free(scores);
}

/* reason: the first one, taken over; NULL: none yet. */
static DemurUnscored *
add_unscored(DemurDicomScores *scores, const DemurSeriesRecord *series, double risk,
             DemurVerdict verdict, gboolean refused, DemurReason *reason) {
  DemurUnscored *one = &scores->unscored[scores->n_unscored++];
  *one = (DemurUnscored){g_strdup(series->scan_id),
                         g_strdup(series->patient_id),
                         risk,
                         verdict,
                         demur_reasons_new(),
                         refused};
  if (reason != NULL)
    g_ptr_array_add(one->reasons, reason);
  return one;
}

/* Index of a text in a list of distinct texts, added where it is new. */
static guint32
code_of(DemurCohort *cohort, GHashTable *codes, GPtrArray *texts, const char *text) {
  gpointer found;
  if (g_hash_table_lookup_extended(codes, text, NULL, &found))
    return GPOINTER_TO_UINT(found);
  char *copy = demur_cohort_keep_text(cohort, text, strlen(text));
  const guint32 code = texts->len;
  g_ptr_array_add(texts, copy);
  g_hash_table_insert(codes, copy, GUINT_TO_POINTER(code));
  return code;
}

/* The names gathered, as the cohort's own strv. */
static char **
take_texts(GPtrArray *texts) {
  g_ptr_array_add(texts, NULL);
  return (char **)g_ptr_array_free(texts, FALSE);
}

/* A reserved attribute of one series as a cohort's text; buffer holds G_ASCII_DTOSTR_BUF_SIZE
 * bytes. "" where it is not recorded. */
static const char *
attribute_text(const DemurSeriesRecord *s, const char *name, char *buffer) {
  const struct {
    const char *name, *text;
    double number;
  } known[] = {
      {"manufacturer", s->manufacturer != NULL ? s->manufacturer : s->manufacturer_raw, NAN},
      {"model_name", s->model_name, NAN},
      {"kernel", s->kernel, NAN},
      {"slice_thickness_mm", NULL, s->thickness_mm},
      {"spacing_mm", NULL, s->spacing_mm},
      {"kvp", NULL, s->kvp},
      {"contrast", s->contrast, NAN},
      {"fov_mm", NULL, s->fov_mm},
      {"tube_current_ma", NULL, s->tube_current_ma}};
  for (size_t k = 0; k < G_N_ELEMENTS(known); k++) {
    if (strcmp(known[k].name, name) != 0)
      continue;
    if (known[k].text != NULL)
      return known[k].text;
    return isfinite(known[k].number) ? demur_number_format(known[k].number, buffer) : "";
  }
  g_return_val_if_reached("");
}

/* The reserved acquisition attributes, for selectors that look at how a scan was made. */
static void
add_attributes(DemurCohort *c, GPtrArray *series) {
  c->n_attributes = DEMUR_N_ACQUISITION;
  c->attributes = g_new0(DemurAttribute, c->n_attributes);
  for (size_t a = 0; a < c->n_attributes; a++) {
    DemurAttribute *attribute = &c->attributes[a];
    attribute->name = g_strdup(demur_acquisition_attribute((DemurAcquisitionSubject)a));
    attribute->codes = demur_new_array(guint32, c->n_scans);
    g_autoptr(GHashTable) codes = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *values = g_ptr_array_new();
    for (size_t i = 0; i < c->n_scans; i++) {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      attribute->codes[i] =
          code_of(c, codes, values, attribute_text(series->pdata[i], attribute->name, buffer));
    }
    attribute->n_values = values->len;
    attribute->values = take_texts(values);
  }
}

/* What a selector needs of scores. */
typedef struct {
  const DemurBindings *bindings; /* of the moment */
  const char *model;
  double horizon_years; /* 0: not recorded */
  size_t width;
} Wanted;

static DemurCohort *
build_cohort(const Wanted *wanted, GPtrArray *series, GPtrArray *records) {
  const size_t width = wanted->width;
  const size_t n = series->len;
  DemurCohort *c = demur_cohort_alloc();
  c->name = g_strdup("DICOM series");
  c->model = g_strdup(wanted->model);
  c->horizon_years = wanted->horizon_years;
  c->source = g_strdup("DICOM series of the workspace");
  c->n_scans = n;
  c->n_classes = 2;
  c->embedding_width = width;
  c->scan_ids = g_new0(char *, n + 1);
  c->patients = demur_new_array(guint32, n);
  c->sites = demur_new_array(guint32, n);
  c->splits = demur_new_array(guint32, n);
  c->n_splits = 1;
  c->split_names = g_new0(char *, 2);
  c->split_names[0] = demur_cohort_keep_text(c, "workspace", strlen("workspace"));
  c->labels = demur_new_array(gint32, n);
  c->risks = demur_new_array(double, n);
  c->embeddings = width > 0 ? demur_new_matrix(float, n, width) : NULL;
  g_autoptr(GHashTable) patient_codes = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) site_codes = g_hash_table_new(g_str_hash, g_str_equal);
  GPtrArray *patients = g_ptr_array_new(), *sites = g_ptr_array_new();
  for (size_t i = 0; i < n; i++) {
    const DemurSeriesRecord *s = series->pdata[i];
    const DemurScoreRecord *score = records->pdata[i];
    c->scan_ids[i] = demur_cohort_keep_text(c, s->scan_id, strlen(s->scan_id));
    c->patients[i] =
        code_of(c, patient_codes, patients, s->patient_id != NULL ? s->patient_id : "");
    c->sites[i] = code_of(c, site_codes, sites, s->site != NULL ? s->site : "");
    c->labels[i] = DEMUR_NO_LABEL;
    c->risks[i] = demur_score_risk_within(score, wanted->horizon_years);
    if (width > 0)
      memcpy(c->embeddings + i * width, score->embedding, width * sizeof(float));
  }
  c->n_patients = patients->len;
  c->patient_ids = take_texts(patients);
  c->n_sites = sites->len;
  c->site_names = take_texts(sites);
  add_attributes(c, series);
  return c;
}

/* How the model's last run on these images ended, where it gave no score; NULL: it was not run on
 * them. FALSE with error. */
static gboolean
find_failed_run(DemurWorkspace *workspace, const DemurSeriesRecord *series, const char *model,
                char **message, GError **error) {
  g_autoptr(GPtrArray) runs = demur_score_runs_list(workspace, series->scan_id, model, error);
  *message = NULL;
  if (runs == NULL)
    return FALSE;
  const DemurScoreRunRecord *last = runs->len > 0 ? runs->pdata[0] : NULL;
  if (last != NULL && last->message != NULL && g_strcmp0(last->created, series->updated) >= 0)
    *message = g_strdup(last->message);
  return TRUE;
}

/* Sorts one series into "can be scored" (series and its record are appended) or "why not". */
static gboolean
look_at(DemurWorkspace *workspace, DemurDicomScores *result, DemurSeriesRecord *series,
        const Wanted *wanted, GPtrArray *scored, GPtrArray *records, GError **error) {
  const char *model = wanted->model;
  const size_t width = wanted->width;
  g_autoptr(DemurScoreRecord) score = NULL;
  if (!demur_scores_load(workspace, series->scan_id, model, &score, error))
    return FALSE;
  const gboolean of_these =
      score != NULL && g_strcmp0(score->images_digest, series->images_digest) == 0;
  const double risk =
      of_these ? demur_score_risk_within(score, wanted->horizon_years) : (double)NAN;
  if (!series->accepted || series->conflict != NULL) {
    DemurUnscored *u = add_unscored(result, series, risk, DEMUR_VERDICT_NOT_ELIGIBLE, FALSE, NULL);
    if (series->conflict != NULL)
      g_ptr_array_add(u->reasons, demur_reason_new(DEMUR_REASON_CONFLICT, NULL, NULL));
    else if (series->reason == NULL)
      g_ptr_array_add(u->reasons, demur_reason_new(DEMUR_REASON_NOT_CHOSEN, NULL, NULL));
    else
      g_ptr_array_extend_and_steal(u->reasons, demur_reasons_from_kept(series->reason));
    return TRUE;
  }
  if (demur_bindings_places(wanted->bindings, series->scan_id) == DEMUR_PLACES_CHANGED) {
    add_unscored(result, series, NAN, DEMUR_VERDICT_NOT_ELIGIBLE, FALSE,
                 demur_reason_new(DEMUR_REASON_FILES, NULL, NULL));
    return TRUE;
  }
  if (score == NULL) {
    g_autoptr(GPtrArray) others = demur_scores_list(workspace, series->scan_id, NULL, error);
    if (others == NULL)
      return FALSE;
    const gboolean other = others->len > 0;
    g_autofree char *failure = NULL;
    if (!other && !find_failed_run(workspace, series, model, &failure, error))
      return FALSE;
    if (failure != NULL) {
      add_unscored(result, series, NAN, DEMUR_VERDICT_FAILED, FALSE,
                   demur_reason_new(DEMUR_REASON_RUN_FAILED, model, failure));
      return TRUE;
    }
    add_unscored(result, series, NAN, DEMUR_VERDICT_NO_SCORE, other,
                 other ? demur_reason_new(DEMUR_REASON_OTHER_MODEL, model,
                                          ((DemurScoreRecord *)others->pdata[0])->model)
                       : demur_reason_new(DEMUR_REASON_NO_SCORE, model, NULL));
    return TRUE;
  }
  if (!of_these) {
    add_unscored(result, series, NAN, DEMUR_VERDICT_NO_SCORE, FALSE,
                 demur_reason_new(DEMUR_REASON_OTHER_IMAGES, model, NULL));
    return TRUE;
  }
  if (isnan(risk)) {
    DemurReason *reason = demur_reason_new(DEMUR_REASON_HORIZON, model, NULL);
    reason->value = wanted->horizon_years;
    add_unscored(result, series, NAN, DEMUR_VERDICT_NO_SCORE, TRUE, reason);
    return TRUE;
  }
  if (width > 0 && score->embedding_width != width) {
    DemurReason *reason = demur_reason_new(DEMUR_REASON_WIDTH, NULL, NULL);
    reason->n = (guint)score->embedding_width;
    reason->n_over = (guint)width;
    add_unscored(result, series, risk, DEMUR_VERDICT_FAILED, TRUE, reason);
    return TRUE;
  }
  g_ptr_array_add(scored, series);
  g_ptr_array_add(records, g_steal_pointer(&score));
  return TRUE;
}

DemurDicomScores *
demur_dicom_scores_load(DemurWorkspace *workspace, const DemurBindings *bindings,
                        const char *scan_id, const char *model, double horizon_years, size_t width,
                        GError **error) {
  const Wanted wanted = {bindings, model, horizon_years, width};
  g_autoptr(GPtrArray) series = NULL;
  if (scan_id == NULL) {
    series = demur_series_list(workspace, error);
  } else {
    DemurSeriesRecord *one = demur_series_load(workspace, scan_id, error);
    if (one != NULL) {
      series = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
      g_ptr_array_add(series, one);
    }
  }
  if (series == NULL)
    return NULL;
  g_autoptr(DemurDicomScores) result = g_new0(DemurDicomScores, 1);
  result->unscored = g_new0(DemurUnscored, MAX(series->len, 1));
  g_autoptr(GPtrArray) scored = g_ptr_array_new();
  g_autoptr(GPtrArray) records =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_score_record_free);
  for (guint i = 0; i < series->len; i++)
    if (!look_at(workspace, result, series->pdata[i], &wanted, scored, records, error))
      return NULL;
  if (scored->len > 0)
    result->cohort = build_cohort(&wanted, scored, records);
  return g_steal_pointer(&result);
}
