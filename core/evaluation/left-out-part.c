#include "evaluation/left-out-part.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-writer.h"
#include "base/memory.h"
#include "base/sha256.h"

#define FORMAT "demur-part"
#define VERSION 1
#define MOST_SHARDS 1000000

static const char *const kind_names[DEMUR_N_SHARD_KINDS] = {"validate", "search"};

gboolean
demur_shard_parse(const char *text, DemurShard *shard, GError **error) {
  g_auto(GStrv) words = g_strsplit(text, "/", 3);
  guint64 index, count;
  if (g_strv_length(words) != 2 ||
      !g_ascii_string_to_unsigned(words[1], 10, 1, MOST_SHARDS, &count, NULL) ||
      !g_ascii_string_to_unsigned(words[0], 10, 1, count, &index, NULL)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "'%s' is no shard: its number, '/' and how many there are, such as 3/25", text);
    return FALSE;
  }
  *shard = (DemurShard){(size_t)index, (size_t)count};
  return TRUE;
}

gboolean
demur_shard_plan_range(const DemurShardPlan *plan, const DemurShard *shard, size_t *first,
                       size_t *end, GError **error) {
  const size_t n = plan->n_trials * plan->n_folds;
  if (shard->count > n) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "%zu shards of %zu folds: some would have nothing to do; take at most %zu, or more "
        "--folds",
        shard->count, n, n);
    return FALSE;
  }
  *first = (shard->index - 1) * n / shard->count;
  *end = shard->index * n / shard->count;
  return TRUE;
}

/* The members that say what the part is of, in their order: texts as they are, numbers as text. */
typedef struct {
  const char *key, *title;
  char value[80];
} Member;

#define N_MEMBERS 7

static void
members_of(const DemurShardPlan *plan, Member members[N_MEMBERS]) {
  static const struct {
    const char *key, *title;
  } named[N_MEMBERS] = {
      {"kind", "study"},           {"program", "version of the program"},
      {"kernel", "kernel"},        {"cohort_digest", "cohort"},
      {"settings", "settings"},    {"seed", "seed"},
      {"folds", "cut into folds"},
  };
  for (size_t i = 0; i < N_MEMBERS; i++) {
    members[i].key = named[i].key;
    members[i].title = named[i].title;
  }
  g_strlcpy(members[0].value, kind_names[plan->kind], sizeof members[0].value);
  g_strlcpy(members[1].value, plan->program, sizeof members[1].value);
  g_strlcpy(members[2].value, plan->kernel, sizeof members[2].value);
  g_strlcpy(members[3].value, plan->cohort_digest, sizeof members[3].value);
  g_strlcpy(members[4].value, plan->settings, sizeof members[4].value);
  g_snprintf(members[5].value, sizeof members[5].value, "%" PRIu64, plan->seed);
  g_snprintf(members[6].value, sizeof members[6].value, "%zu x %zu", plan->n_trials, plan->n_folds);
}

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

static void
write_rest(DemurJson *json, const DemurShardPlan *plan, DemurLeftOut *const *trials,
           const gboolean *failed) {
  Member members[N_MEMBERS];
  members_of(plan, members);
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", VERSION);
  for (size_t i = 0; i < N_MEMBERS; i++)
    demur_json_string(json, members[i].key, members[i].value);
  demur_json_begin_array(json, "failed");
  for (size_t t = 0; failed != NULL && t < plan->n_trials; t++)
    if (failed[t])
      demur_json_int(json, NULL, (gint64)t);
  demur_json_end_array(json);
  demur_json_begin_array(json, "done");
  for (size_t t = 0; t < plan->n_trials; t++)
    for (size_t f = 0; f < plan->n_folds; f++)
      if (trials[t]->done[f])
        write_fold(json, t, f, trials[t]);
  demur_json_end_array(json);
}

/* The text of a part whose digest is known, or without one. */
static char *
document_of(const DemurShardPlan *plan, DemurLeftOut *const *trials, const gboolean *failed,
            const char *digest) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (digest != NULL)
    demur_json_string(json, "digest", digest);
  write_rest(json, plan, trials, failed);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

char *
demur_shard_plan_write_part(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                            const gboolean *failed) {
  g_autofree char *rest = document_of(plan, trials, failed, NULL);
  g_autofree char *digest = demur_sha256_of_text(rest);
  return document_of(plan, trials, failed, digest);
}

static gboolean
check_members(const DemurShardPlan *plan, JsonObject *root, GError **error) {
  const char *format;
  gint64 version;
  if (!demur_json_read_string(root, "format", &format, error) ||
      !demur_json_read_int(root, "version", 1, VERSION, &version, error))
    return FALSE;
  if (strcmp(format, FORMAT) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it is no part, as --shard and --part write them");
    return FALSE;
  }
  Member members[N_MEMBERS];
  members_of(plan, members);
  for (size_t i = 0; i < N_MEMBERS; i++) {
    const char *found;
    if (!demur_json_read_string(root, members[i].key, &found, error))
      return FALSE;
    if (strcmp(found, members[i].value) != 0) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "it is of another %s (%.40s, here %.40s); compute it again with what the others "
          "were computed from",
          members[i].title, found, members[i].value);
      return FALSE;
    }
  }
  return TRUE;
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

/* What the document says, written anew, has the digest that it names. */
static gboolean
is_unedited(const DemurShardPlan *plan, JsonObject *root, DemurLeftOut *const *own,
            const gboolean *failed, GError **error) {
  const char *digest;
  if (!demur_json_read_string(root, "digest", &digest, error))
    return FALSE;
  g_autofree char *rest = document_of(plan, own, failed, NULL);
  g_autofree char *right = demur_sha256_of_text(rest);
  if (strcmp(digest, right) != 0) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "it was changed after it was written: its digest is %.12s.., its content's %.12s..", digest,
        right);
    return FALSE;
  }
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
  g_autoptr(GError) local = NULL;
  const gboolean loaded = demur_json_load(parser, text, length, &local);
  JsonNode *node = loaded ? json_parser_get_root(parser) : NULL;
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it is no part, as --shard and --part write them (%s)",
                    local != NULL ? local->message : N_("no JSON object"));
    demur_error_because(error, local);
    return FALSE;
  }
  JsonObject *root = json_node_get_object(node);
  JsonArray *done;
  if (!check_members(plan, root, error) || !demur_json_read_array(root, "done", &done, error) ||
      !read_failed(plan, root, failed, error))
    return FALSE;
  for (size_t t = 0; t < plan->n_trials; t++)
    g_ptr_array_add(own, copy_undone(trials[t]));
  for (guint i = 0; i < json_array_get_length(done); i++)
    if (!read_fold(plan, done, i, (DemurLeftOut *const *)own->pdata, error))
      return FALSE;
  return is_unedited(plan, root, (DemurLeftOut *const *)own->pdata, failed, error);
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
