#include "evaluation/left-out-part.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The scans of a fold, by their places in the training split; n of them. Owned. */
static guint32 *
places_of(const DemurLeftOut *left_out, size_t fold, size_t *n) {
  guint32 *places = g_new(guint32, MAX(left_out->n, 1));
  *n = 0;
  for (size_t i = 0; i < left_out->n; i++)
    if (left_out->folds[i] == fold)
      places[(*n)++] = (guint32)i;
  return places;
}

static void
write_fold(DemurJson *json, size_t trial, size_t fold, const DemurLeftOut *left_out) {
  size_t n;
  g_autofree guint32 *places = places_of(left_out, fold, &n);
  const size_t width = left_out->width;
  g_autofree double *scores = g_new(double, MAX(n, 1)), *risks = g_new(double, MAX(n * width, 1));
  for (size_t i = 0; i < n; i++) {
    scores[i] = left_out->scores[places[i]];
    memcpy(risks + i * width, left_out->risks + places[i] * width, width * sizeof(double));
  }
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "trial", (gint64)trial);
  demur_json_int(json, "fold", (gint64)fold);
  demur_json_doubles(json, "scores", scores, n);
  demur_json_doubles(json, "risks", risks, n * width);
  demur_json_end_object(json);
}

/* What a part holds, as it is written. */
typedef struct {
  DemurLeftOut *const *trials;
  const gboolean *failed; /* may be NULL */
} Folds;

static void
write_folds(DemurJson *json, const DemurShardPlan *plan, gconstpointer data) {
  const Folds *folds = data;
  demur_json_begin_array(json, "failed");
  for (size_t t = 0; folds->failed != NULL && t < plan->n_trials; t++)
    if (folds->failed[t])
      demur_json_int(json, NULL, (gint64)t);
  demur_json_end_array(json);
  demur_json_begin_array(json, "done");
  for (size_t t = 0; t < plan->n_trials; t++)
    for (size_t f = 0; f < plan->n_folds; f++)
      if (folds->trials[t]->done[f])
        write_fold(json, t, f, folds->trials[t]);
  demur_json_end_array(json);
}

char *
demur_shard_plan_write_part(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                            const gboolean *failed) {
  const Folds folds = {trials, failed};
  return demur_shard_plan_document(plan, write_folds, &folds);
}

static gboolean
read_fold(const DemurShardPlan *plan, JsonArray *done, guint i, DemurLeftOut *const *trials,
          GError **error) {
  JsonObject *object;
  gint64 trial, fold;
  if (!demur_json_read_element(done, i, "done", &object, error) ||
      !demur_json_read_int(object, "trial", 0, (gint64)plan->n_trials - 1, &trial, error) ||
      !demur_json_read_int(object, "fold", 0, (gint64)plan->n_folds - 1, &fold, error))
    return FALSE;
  DemurLeftOut *left_out = trials[trial];
  if (left_out->done[fold]) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "fold %d of trial %d is in another part already; name every part once",
                    (int)fold + 1, (int)trial + 1);
    return FALSE;
  }
  size_t n;
  g_autofree guint32 *places = places_of(left_out, (size_t)fold, &n);
  const size_t width = left_out->width;
  DEMUR_AUTO_ALIGNED double *scores = NULL, *risks = NULL;
  if (!demur_json_read_doubles(object, "scores", n, 0.0, 1.0, &scores, error) ||
      !demur_json_read_doubles(object, "risks", n * width, 0.0, 1.0, &risks, error))
    return FALSE;
  for (size_t k = 0; k < n; k++) {
    left_out->scores[places[k]] = scores[k];
    memcpy(left_out->risks + places[k] * width, risks + k * width, width * sizeof(double));
  }
  left_out->done[fold] = TRUE;
  return TRUE;
}

static gboolean
read_failed(const DemurShardPlan *plan, JsonObject *root, gboolean *failed, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(root, "failed", &array, error))
    return FALSE;
  const guint n = json_array_get_length(array);
  DEMUR_AUTO_ALIGNED guint32 *trials = NULL;
  if (n > plan->n_trials ||
      !demur_json_read_indices(root, "failed", n, 0, (guint32)plan->n_trials - 1, &trials, error)) {
    if (n > plan->n_trials)
      demur_error_set(error, DEMUR_ERROR_INPUT, "%u trials failed, of %zu", n, plan->n_trials);
    return FALSE;
  }
  for (guint i = 0; failed != NULL && i < n; i++)
    failed[trials[i]] = TRUE;
  return TRUE;
}

static DemurLeftOut *
copy_undone(const DemurLeftOut *from) {
  DemurLeftOut *copy = g_new0(DemurLeftOut, 1);
  *copy = (DemurLeftOut){.split = g_strdup(from->split),
                         .seed = from->seed,
                         .n = from->n,
                         .n_folds = from->n_folds,
                         .width = from->width,
                         .rows = g_memdup2(from->rows, from->n * sizeof *from->rows),
                         .folds = g_memdup2(from->folds, from->n * sizeof *from->folds),
                         .done = g_new0(gboolean, from->n_folds),
                         .scores = g_new0(double, MAX(from->n, 1)),
                         .risks = g_new0(double, MAX(from->n * from->width, 1))};
  return copy;
}

static void
left_out_free(gpointer left_out) {
  demur_left_out_free(left_out);
}

/* own: read apart first, so that a document that is refused changes nothing. */
static gboolean
read_apart(const DemurShardPlan *plan, const char *text, gssize length, DemurLeftOut *const *trials,
           GPtrArray *own, gboolean *failed, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root;
  JsonArray *done;
  if (!demur_shard_plan_load(plan, text, length, parser, &root, error) ||
      !demur_json_read_array(root, "done", &done, error) || !read_failed(plan, root, failed, error))
    return FALSE;
  for (size_t t = 0; t < plan->n_trials; t++)
    g_ptr_array_add(own, copy_undone(trials[t]));
  for (guint i = 0; i < json_array_get_length(done); i++)
    if (!read_fold(plan, done, i, (DemurLeftOut *const *)own->pdata, error))
      return FALSE;
  const Folds folds = {(DemurLeftOut *const *)own->pdata, failed};
  return demur_shard_plan_check_unedited(plan, root, write_folds, &folds, error);
}

gboolean
demur_shard_plan_read_part(const DemurShardPlan *plan, const char *text, gssize length,
                           const char *name, DemurLeftOut *const *trials, gboolean *failed,
                           GError **error) {
  g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(left_out_free);
  g_autofree gboolean *own_failed = g_new0(gboolean, MAX(plan->n_trials, 1));
  if (!read_apart(plan, text, length, trials, own, own_failed, error)) {
    demur_error_prefix(error, "%s: ", name);
    return FALSE;
  }
  for (size_t t = 0; t < plan->n_trials; t++) {
    const DemurLeftOut *part = own->pdata[t];
    for (size_t f = 0; f < plan->n_folds; f++)
      if (part->done[f] && trials[t]->done[f]) {
        demur_error_set(
            error, DEMUR_ERROR_INPUT,
            "%s: fold %zu of trial %zu is in another part already; name every part once", name,
            f + 1, t + 1);
        return FALSE;
      }
  }
  for (size_t t = 0; t < plan->n_trials; t++) {
    const DemurLeftOut *part = own->pdata[t];
    for (size_t i = 0; i < part->n; i++)
      if (part->done[part->folds[i]]) {
        trials[t]->scores[i] = part->scores[i];
        memcpy(trials[t]->risks + i * part->width, part->risks + i * part->width,
               part->width * sizeof(double));
      }
    for (size_t f = 0; f < plan->n_folds; f++)
      trials[t]->done[f] |= part->done[f];
    if (failed != NULL)
      failed[t] |= own_failed[t];
  }
  return TRUE;
}

gboolean
demur_shard_plan_check_whole(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                             const gboolean *failed, GError **error) {
  size_t n_missing = 0, trial = 0, fold = 0;
  for (size_t t = 0; t < plan->n_trials; t++)
    for (size_t f = 0; f < plan->n_folds; f++)
      if (!trials[t]->done[f] && !(failed != NULL && failed[t]) && n_missing++ == 0) {
        trial = t;
        fold = f;
      }
  if (n_missing == 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%zu of %zu folds are in no part, the first of them fold %zu of trial %zu; name every "
      "part",
      n_missing, plan->n_trials * plan->n_folds, fold + 1, trial + 1);
  return FALSE;
}
