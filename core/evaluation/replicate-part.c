#include "evaluation/replicate-part.h"

#include "base/error.h"

typedef struct {
  DemurShard shard;
  const char *text; /* of the tape, in base64 */
} Content;

static void
write_content(DemurJson *json, const DemurShardPlan *plan, gconstpointer data) {
  (void)plan;
  const Content *content = data;
  demur_json_int(json, "shard", (gint64)content->shard.index);
  demur_json_int(json, "shards", (gint64)content->shard.count);
  demur_json_string(json, "numbers", content->text);
}

char *
demur_replicate_part_write(const DemurShardPlan *plan, const DemurShard *shard, GBytes *bytes) {
  gsize length;
  const guint8 *data = g_bytes_get_data(bytes, &length);
  g_autofree char *text = g_base64_encode(data, length);
  const Content content = {*shard, text};
  return demur_shard_plan_document(plan, write_content, &content);
}

static GBytes *
read_apart(const DemurShardPlan *plan, const char *text, gssize length, DemurShard *shard,
           GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root;
  gint64 index, count;
  Content content;
  if (!demur_shard_plan_load(plan, text, length, parser, &root, error) ||
      !demur_json_read_int(root, "shards", 1, (gint64)(plan->n_trials * plan->n_folds), &count,
                           error) ||
      !demur_json_read_int(root, "shard", 1, count, &index, error) ||
      !demur_json_read_string(root, "numbers", &content.text, error))
    return NULL;
  *shard = content.shard = (DemurShard){(size_t)index, (size_t)count};
  if (!demur_shard_plan_check_unedited(plan, root, write_content, &content, error))
    return NULL;
  gsize n;
  guchar *data = g_base64_decode(content.text, &n);
  return g_bytes_new_take(data, n);
}

static gboolean
check_goes_with(const DemurShard *shard, const DemurReplicateParts *parts, GError **error) {
  if (parts->n > 0 && shard->count != parts->n) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "it is shard %zu of %zu, and the parts before it are of %zu; compute all with one "
        "number of shards",
        shard->index, shard->count, parts->n);
    return FALSE;
  }
  if (parts->n > 0 && parts->tapes[shard->index - 1] != NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "shard %zu is in another part already; name every part once", shard->index);
    return FALSE;
  }
  return TRUE;
}

gboolean
demur_replicate_part_read(const DemurShardPlan *plan, const char *text, gssize length,
                          const char *name, DemurReplicateParts *parts, GError **error) {
  DemurShard shard;
  g_autoptr(GBytes) tape = read_apart(plan, text, length, &shard, error);
  if (tape == NULL || !check_goes_with(&shard, parts, error)) {
    demur_error_prefix(error, "%s: ", name);
    return FALSE;
  }
  if (parts->n == 0) {
    parts->n = shard.count;
    parts->tapes = g_new0(GBytes *, parts->n);
    parts->names = g_new0(char *, parts->n);
  }
  parts->tapes[shard.index - 1] = g_steal_pointer(&tape);
  parts->names[shard.index - 1] = g_strdup(name);
  return TRUE;
}

gboolean
demur_replicate_parts_check_whole(const DemurReplicateParts *parts, GError **error) {
  size_t n_missing = 0, first = 0;
  for (size_t i = 0; i < parts->n; i++)
    if (parts->tapes[i] == NULL && n_missing++ == 0)
      first = i;
  if (parts->n > 0 && n_missing == 0)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "%zu of %zu shards are in no part, the first of them shard %zu; name every part",
                  n_missing, parts->n, first + 1);
  return FALSE;
}

void
demur_replicate_parts_clear(DemurReplicateParts *parts) {
  for (size_t i = 0; i < parts->n; i++) {
    g_clear_pointer(&parts->tapes[i], g_bytes_unref);
    g_free(parts->names[i]);
  }
  g_clear_pointer(&parts->names, g_free);
  g_clear_pointer(&parts->tapes, g_free);
  parts->n = 0;
}
