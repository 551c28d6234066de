#include "tasks/accept-looks.h"

#include <math.h>
#include <string.h>

#include "base/json-reader.h"
#include "store/acceptances.h"

#define NO_LABEL '-'

static char
letter(double label) {
  return !isfinite(label) ? NO_LABEL : label > 0.5 ? '1' : '0';
}

char *
demur_accept_labels_text(const double *labels, size_t n) {
  while (n > 0 && !isfinite(labels[n - 1]))
    n--;
  char *text = g_new0(char, n + 1);
  for (size_t i = 0; i < n; i++)
    text[i] = letter(labels[i]);
  return text;
}

/* What an answer kept (owned); NULL: it is of an older program. */
static char *
kept_labels(const DemurAcceptanceRecord *answer) {
  g_autoptr(JsonNode) root = demur_json_parse(answer->document);
  const char *text;
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root) ||
      !demur_json_read_string(json_node_get_object(root), "labels", &text, NULL))
    return NULL;
  return g_strdup(text);
}

gboolean
demur_accept_changes_find(DemurWorkspace *workspace, gint64 plan,
                          const DemurAcceptanceDocument *document, const double *labels,
                          DemurAcceptChanges *changes, GError **error) {
  *changes = (DemurAcceptChanges){0};
  g_autoptr(GPtrArray) answers = demur_acceptances_list(workspace, plan, error);
  if (answers == NULL)
    return FALSE;
  const size_t n = document->plan->n_chosen;
  g_autofree gboolean *other = g_new0(gboolean, MAX(n, 1));
  for (guint a = 0; a < answers->len; a++) {
    g_autofree char *kept = kept_labels(answers->pdata[a]);
    const size_t n_kept = kept != NULL ? MIN(strlen(kept), n) : 0;
    for (size_t i = 0; i < n_kept; i++)
      other[i] |= kept[i] != NO_LABEL && kept[i] != letter(labels[i]);
  }
  for (size_t i = 0; i < n; i++) {
    if (!other[i])
      continue;
    if (changes->first == NULL)
      changes->first = document->scan_ids[i];
    if (isfinite(labels[i]))
      changes->n_changed++;
    else
      changes->n_gone++;
  }
  return TRUE;
}
