#include "evaluation/network-part.h"

#include <string.h>

#include "base/error.h"

static void
write_text(DemurJson *json, const DemurShardPlan *plan, gconstpointer data) {
  (void)plan;
  demur_json_string(json, "checkpoint", data);
}

char *
demur_network_part_write(const DemurShardPlan *plan, const DemurCheckpoint *networks) {
  g_autoptr(GBytes) bytes = demur_checkpoint_to_bytes(networks);
  gsize length;
  const guint8 *data = g_bytes_get_data(bytes, &length);
  g_autofree char *text = g_base64_encode(data, length);
  return demur_shard_plan_document(plan, write_text, text);
}

static DemurCheckpoint *
read_apart(const DemurShardPlan *plan, const char *text, gssize length, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root;
  const char *checkpoint;
  if (!demur_shard_plan_load(plan, text, length, parser, &root, error) ||
      !demur_json_read_string(root, "checkpoint", &checkpoint, error) ||
      !demur_shard_plan_check_unedited(plan, root, write_text, checkpoint, error))
    return NULL;
  gsize n;
  guchar *data = g_base64_decode(checkpoint, &n);
  g_autoptr(GBytes) bytes = g_bytes_new_take(data, n);
  g_autoptr(DemurCheckpoint) networks = demur_checkpoint_from_bytes(bytes, error);
  if (networks != NULL && networks->n_networks != plan->n_trials * plan->n_folds) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it holds %zu networks where the training has %zu",
                    networks->n_networks, plan->n_trials * plan->n_folds);
    return NULL;
  }
  return g_steal_pointer(&networks);
}

static gboolean
check_goes_with(const DemurCheckpoint *part, const DemurCheckpoint *whole, GError **error) {
  if (strcmp(part->inputs_digest, whole->inputs_digest) != 0 ||
      strcmp(part->settings, whole->settings) != 0 ||
      strcmp(part->cohort_digest, whole->cohort_digest) != 0 || part->seed != whole->seed) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "its networks are trained on other numbers than those of the parts before it (the "
        "features came out otherwise on its machine); compute all parts on machines of one "
        "kind");
    return FALSE;
  }
  for (size_t i = 0; i < part->n_networks; i++)
    if (part->networks[i] != NULL && whole->networks[i] != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "network %zu is in another part already; name every part once", i + 1);
      return FALSE;
    }
  return TRUE;
}

gboolean
demur_network_part_read(const DemurShardPlan *plan, const char *text, gssize length,
                        const char *name, DemurCheckpoint **whole, GError **error) {
  g_autoptr(DemurCheckpoint) part = read_apart(plan, text, length, error);
  if (part == NULL || (*whole != NULL && !check_goes_with(part, *whole, error))) {
    demur_error_prefix(error, "%s: ", name);
    return FALSE;
  }
  if (*whole == NULL) {
    *whole = g_steal_pointer(&part);
    return TRUE;
  }
  for (size_t i = 0; i < part->n_networks; i++)
    if (part->networks[i] != NULL)
      (*whole)->networks[i] = g_steal_pointer(&part->networks[i]);
  return TRUE;
}

gboolean
demur_network_part_check_whole(const DemurShardPlan *plan, const DemurCheckpoint *whole,
                               GError **error) {
  const size_t n = plan->n_trials * plan->n_folds;
  size_t n_missing = 0, first = 0;
  for (size_t i = 0; i < n; i++)
    if (whole == NULL || whole->networks[i] == NULL || !whole->networks[i]->finished)
      if (n_missing++ == 0)
        first = i;
  if (n_missing == 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%zu of %zu networks are in no part, the first of them network %zu; name every part",
      n_missing, n, first + 1);
  return FALSE;
}
