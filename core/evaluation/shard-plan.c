#include "evaluation/shard-plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/sha256.h"

#define FORMAT "demur-part"
#define VERSION 2 /* 1: scores of confidence in bands of risk were ranks */
#define MOST_SHARDS 1000000

/* What a study of the kind is cut into, and what a part of another number of them is told. */
static const struct {
  const char *name, *pieces, *title;
} kinds[DEMUR_N_SHARD_KINDS] = {
    [DEMUR_SHARD_VALIDATE] = {"validate", "folds", "cut into folds"},
    [DEMUR_SHARD_SEARCH] = {"search", "folds", "cut into folds"},
    [DEMUR_SHARD_TRAIN] = {"train", "networks", "number of networks"},
    [DEMUR_SHARD_EVALUATE] = {"evaluate", "replicates", "number of replicates"},
};

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
        "%zu shards of %zu pieces (%s): some would have nothing to do; take at most %zu shards",
        shard->count, n, kinds[plan->kind].pieces, n);
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
  const struct {
    const char *key, *title;
  } named[N_MEMBERS] = {
      {"kind", "study"},
      {"program", "version of the program"},
      {"kernel", "kernel"},
      {"cohort_digest", "cohort"},
      {"settings", "settings"},
      {"seed", "seed"},
      {kinds[plan->kind].pieces, kinds[plan->kind].title},
  };
  for (size_t i = 0; i < N_MEMBERS; i++) {
    members[i].key = named[i].key;
    members[i].title = named[i].title;
  }
  g_strlcpy(members[0].value, kinds[plan->kind].name, sizeof members[0].value);
  g_strlcpy(members[1].value, plan->program, sizeof members[1].value);
  g_strlcpy(members[2].value, plan->kernel, sizeof members[2].value);
  g_strlcpy(members[3].value, plan->cohort_digest, sizeof members[3].value);
  g_strlcpy(members[4].value, plan->settings, sizeof members[4].value);
  g_snprintf(members[5].value, sizeof members[5].value, "%" PRIu64, plan->seed);
  g_snprintf(members[6].value, sizeof members[6].value, "%zu x %zu", plan->n_trials, plan->n_folds);
}

/* What a part is of. */
typedef struct {
  const DemurShardPlan *plan;
  DemurShardWrite write;
  gconstpointer data;
} Part;

/* As DemurSha256Write, of a Part. */
static char *
document_of(gconstpointer content, const char *digest) {
  const Part *part = content;
  Member members[N_MEMBERS];
  members_of(part->plan, members);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (digest != NULL)
    demur_json_string(json, "digest", digest);
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", VERSION);
  for (size_t i = 0; i < N_MEMBERS; i++)
    demur_json_string(json, members[i].key, members[i].value);
  part->write(json, part->plan, part->data);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

char *
demur_shard_plan_document(const DemurShardPlan *plan, DemurShardWrite write, gconstpointer data) {
  const Part part = {plan, write, data};
  return demur_sha256_seal(document_of, &part, NULL);
}

static gboolean
check_members(const DemurShardPlan *plan, JsonObject *root, GError **error) {
  const char *format;
  gint64 version;
  if (!demur_json_read_string(root, "format", &format, error))
    return FALSE;
  if (strcmp(format, FORMAT) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it is no part, as --shard and --part write them");
    return FALSE;
  }
  if (!demur_json_read_int(root, "version", 1, G_MAXINT, &version, error))
    return FALSE;
  if (version != VERSION) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it is a part of version %d, this program's are of version %d; compute all "
                    "parts with one program",
                    (int)version, VERSION);
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

gboolean
demur_shard_plan_load(const DemurShardPlan *plan, const char *text, gssize length,
                      JsonParser *parser, JsonObject **root, GError **error) {
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
  *root = json_node_get_object(node);
  return check_members(plan, *root, error);
}

gboolean
demur_shard_plan_check_unedited(const DemurShardPlan *plan, JsonObject *root, DemurShardWrite write,
                                gconstpointer data, GError **error) {
  const char *digest;
  if (!demur_json_read_string(root, "digest", &digest, error))
    return FALSE;
  const Part part = {plan, write, data};
  g_autofree char *right = NULL;
  if (!demur_sha256_is_sealed(document_of, &part, digest, &right)) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "it was changed after it was written: its digest is %.12s.., its content's %.12s..", digest,
        right);
    return FALSE;
  }
  return TRUE;
}
