/*   key(scan) = the first 16 digits of SHA-256(salt, scan, label, risk)
 *
 * Sets are sorted keys with their labels; two are compared in one walk: of each label, how many scans are
 * in one of them alone. Symmetric differences, since both directions stand in the difference of two sums.
 * One document, sealed as rounds are: [sets][n] keys as one text, labels beside them. */
#include "evaluation/federate-ledger.h"

#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/sha256.h"

#define FORMAT "demur-federate-ledger"
#define KEY 16 /* hexadecimal digits */
#define MOST_TOLD 0.5
#define MOST_LABELS 1000

typedef struct {
  char key[KEY];
  guint32 label;
} Entry;

typedef struct {
  size_t n;
  Entry *entries; /* [n] by key */
} Set;

typedef struct {
  char *study, *round; /* digests of its first round, and of the one that was answered */
  char *cuts;          /* of an evaluation: digest of selector, thresholds and edges; else "" */
  char *when;
  size_t set;
  double share; /* numbers told, of those that the set holds */
} Told;

struct DemurFederateLedger {
  char *salt;
  GPtrArray *sets; /* of Set */
  GPtrArray *told; /* of Told */
};

static void
set_free(gpointer data) {
  Set *set = data;
  g_free(set->entries);
  g_free(set);
}

static void
told_free(gpointer data) {
  Told *told = data;
  g_free(told->study);
  g_free(told->round);
  g_free(told->cuts);
  g_free(told->when);
  g_free(told);
}

DemurFederateLedger *
demur_federate_ledger_new(const char *salt) {
  DemurFederateLedger *ledger = g_new0(DemurFederateLedger, 1);
  ledger->salt = g_strdup(salt);
  ledger->sets = g_ptr_array_new_with_free_func(set_free);
  ledger->told = g_ptr_array_new_with_free_func(told_free);
  return ledger;
}

void
demur_federate_ledger_free(DemurFederateLedger *ledger) {
  if (ledger == NULL)
    return;
  g_free(ledger->salt);
  g_ptr_array_unref(ledger->sets);
  g_ptr_array_unref(ledger->told);
  g_free(ledger);
}

/* ---- the document ---- */

static char *
text_of(const DemurFederateLedger *ledger, const char *digest) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (digest != NULL)
    demur_json_string(json, "digest", digest);
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", 1);
  demur_json_string(json, "salt", ledger->salt);
  demur_json_begin_array(json, "sets");
  for (guint s = 0; s < ledger->sets->len; s++) {
    const Set *set = ledger->sets->pdata[s];
    g_autoptr(GString) keys = g_string_sized_new(KEY * set->n);
    for (size_t i = 0; i < set->n; i++)
      g_string_append_len(keys, set->entries[i].key, KEY);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "keys", keys->str);
    demur_json_begin_array(json, "labels");
    for (size_t i = 0; i < set->n; i++)
      demur_json_int(json, NULL, set->entries[i].label);
    demur_json_end_array(json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "told");
  for (guint t = 0; t < ledger->told->len; t++) {
    const Told *told = ledger->told->pdata[t];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "study", told->study);
    demur_json_string(json, "round", told->round);
    demur_json_string(json, "cuts", told->cuts);
    demur_json_string(json, "when", told->when);
    demur_json_int(json, "set", (gint64)told->set);
    demur_json_double(json, "share", told->share);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

char *
demur_federate_ledger_write(const DemurFederateLedger *ledger) {
  g_autofree char *rest = text_of(ledger, NULL);
  g_autofree char *digest = demur_sha256_of_text(rest);
  return text_of(ledger, digest);
}

static gboolean
read_set(JsonArray *array, guint i, DemurFederateLedger *ledger, GError **error) {
  JsonObject *object;
  const char *keys;
  DEMUR_AUTO_ALIGNED guint32 *labels = NULL;
  if (!demur_json_read_element(array, i, "sets", &object, error) ||
      !demur_json_read_string(object, "keys", &keys, error))
    return FALSE;
  const size_t n = strlen(keys) / KEY;
  if (!demur_json_read_indices(object, "labels", n, 0, MOST_LABELS, &labels, error))
    return FALSE;
  Set *set = g_new0(Set, 1);
  set->n = n;
  set->entries = g_new0(Entry, MAX(n, 1));
  for (size_t k = 0; k < n; k++) {
    memcpy(set->entries[k].key, keys + KEY * k, KEY);
    set->entries[k].label = labels[k];
  }
  g_ptr_array_add(ledger->sets, set);
  return TRUE;
}

static gboolean
read_told(JsonArray *array, guint i, DemurFederateLedger *ledger, GError **error) {
  JsonObject *object;
  const char *study, *round, *cuts, *when;
  gint64 set;
  double share;
  if (!demur_json_read_element(array, i, "told", &object, error) ||
      !demur_json_read_string(object, "study", &study, error) ||
      !demur_json_read_string(object, "round", &round, error) ||
      !demur_json_read_string(object, "cuts", &cuts, error) ||
      !demur_json_read_string(object, "when", &when, error) ||
      !demur_json_read_int(object, "set", 0, (gint64)ledger->sets->len - 1, &set, error) ||
      !demur_json_read_double(object, "share", 0.0, 1.0, &share, error))
    return FALSE;
  Told *told = g_new0(Told, 1);
  *told =
      (Told){g_strdup(study), g_strdup(round), g_strdup(cuts), g_strdup(when), (size_t)set, share};
  g_ptr_array_add(ledger->told, told);
  return TRUE;
}

static gboolean
read_all(JsonObject *root, DemurFederateLedger *ledger, GError **error) {
  JsonArray *sets, *told;
  if (!demur_json_read_array(root, "sets", &sets, error) ||
      !demur_json_read_array(root, "told", &told, error))
    return FALSE;
  for (guint i = 0; i < json_array_get_length(sets); i++)
    if (!read_set(sets, i, ledger, error))
      return FALSE;
  for (guint i = 0; i < json_array_get_length(told); i++)
    if (!read_told(told, i, ledger, error))
      return FALSE;
  return TRUE;
}

DemurFederateLedger *
demur_federate_ledger_read(const char *text, gssize length, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  const char *format, *salt, *digest;
  gint64 version;
  if (!demur_json_load(parser, text, length, error))
    return NULL;
  JsonNode *node = json_parser_get_root(parser);
  JsonObject *root =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  if (root == NULL || !demur_json_read_string(root, "format", &format, NULL) ||
      strcmp(format, FORMAT) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it is no list of what a site has told (%s): name another, or move it away",
                    FORMAT);
    return NULL;
  }
  if (!demur_json_read_int(root, "version", 1, 1, &version, error) ||
      !demur_json_read_string(root, "salt", &salt, error) ||
      !demur_json_read_string(root, "digest", &digest, error))
    return NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new(salt);
  if (!read_all(root, ledger, error))
    return NULL;
  g_autofree char *rest = text_of(ledger, NULL);
  g_autofree char *right = demur_sha256_of_text(rest);
  if (strcmp(digest, right) == 0)
    return g_steal_pointer(&ledger);
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "the list of what the site has told was changed: its digest is %.12s.., its "
                  "content's %.12s..; take it from a copy",
                  digest, right);
  return NULL;
}

/* ---- noting ---- */

static int
compare_entries(const void *a, const void *b) {
  return memcmp(((const Entry *)a)->key, ((const Entry *)b)->key, KEY);
}

static Set *
set_of(const DemurFederateLedger *ledger, const DemurFederateScans *scans,
       const char *const *names) {
  const size_t width = scans->n_classes > 2 ? scans->n_classes : 1;
  Set *set = g_new0(Set, 1);
  set->n = scans->n;
  set->entries = g_new0(Entry, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++) {
    g_auto(DemurSha256) sha;
    guint8 digest[DEMUR_SHA256_BYTES];
    char hex[DEMUR_SHA256_HEX];
    demur_sha256_init(&sha);
    demur_sha256_add_text(&sha, ledger->salt);
    demur_sha256_add_text(&sha, names[i]);
    demur_sha256_add_bytes(&sha, &scans->labels[i], sizeof scans->labels[i]);
    demur_sha256_add_doubles(&sha, scans->risks + i * width, width);
    demur_sha256_finish(&sha, digest);
    demur_sha256_hex(digest, hex);
    memcpy(set->entries[i].key, hex, KEY);
    set->entries[i].label = (guint32)scans->labels[i];
  }
  qsort(set->entries, set->n, sizeof *set->entries, compare_entries);
  return set;
}

/* alone [n_classes]: scans of each label that are in one of them. Returns whether there are any. */
static gboolean
differ(const Set *a, const Set *b, size_t n_classes, size_t *alone) {
  gboolean any = FALSE;
  memset(alone, 0, n_classes * sizeof *alone);
  for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
    const int order = i == a->n   ? 1
                      : k == b->n ? -1
                                  : compare_entries(&a->entries[i], &b->entries[k]);
    const guint32 label = order <= 0 ? a->entries[i].label : b->entries[k].label;
    if (order != 0 && label < n_classes)
      alone[label]++;
    any = any || order != 0;
    i += order <= 0;
    k += order >= 0;
  }
  return any;
}

/* The set's place among those there are, at the end where it is new; FALSE where it is too near to one. */
static gboolean
place_of(const DemurFederateLedger *ledger, const Set *set, size_t n_classes, size_t *place,
         GError **error) {
  g_autofree size_t *alone = g_new0(size_t, n_classes);
  *place = ledger->sets->len;
  for (guint s = 0; s < ledger->sets->len; s++) {
    if (!differ(set, ledger->sets->pdata[s], n_classes, alone)) {
      *place = s;
      continue;
    }
    for (size_t k = 0; k < n_classes; k++)
      if (alone[k] < DEMUR_SMALL_CELL) {
        demur_error_set(error, DEMUR_ERROR_STATE,
                        "these scans differ from those of an earlier answer by fewer than %d of "
                        "label %zu: the two together would tell of few",
                        DEMUR_SMALL_CELL, k);
        return FALSE;
      }
  }
  return TRUE;
}

/* Selector, thresholds and edges of an evaluation as one digest (owned); "" of another study. */
static char *
cuts_of(const DemurFederateRound *round) {
  if (round->study != DEMUR_FEDERATE_EVALUATION)
    return g_strdup("");
  g_auto(DemurSha256) sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, round->selector);
  demur_sha256_add_doubles(&sha, round->thresholds, round->n_thresholds);
  demur_sha256_add_doubles(&sha, round->edges, round->n_edges);
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, hex);
  return g_strdup(hex);
}

size_t
demur_federate_n_told(const DemurFederateAnswer *answer) {
  return answer->n_sums + 4 * answer->n_groups;
}

/* share: of this answer. *known: the very same was told. */
static gboolean
check_told(const DemurFederateLedger *ledger, const DemurFederateRound *round, const char *cuts,
           size_t place, double share, gboolean *known, GError **error) {
  const char *study = demur_federate_round_identity(round);
  for (guint t = 0; t < ledger->told->len; t++) {
    const Told *told = ledger->told->pdata[t];
    if (strcmp(told->study, study) == 0 && told->set != place) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "the study was answered of other scans on %s: rounds of other scans would "
                      "tell of those between; answer it of the same cohort and split",
                      told->when);
      return FALSE;
    }
    if (told->set != place)
      continue;
    if (*cuts != '\0' && *told->cuts != '\0' && strcmp(cuts, told->cuts) != 0) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "an evaluation of these scans was answered on %s with another selector, "
                      "other thresholds or other edges: two tables would tell of the few between "
                      "their lines",
                      told->when);
      return FALSE;
    }
    *known = *known || strcmp(told->round, round->digest) == 0;
    share += told->share;
  }
  if (*known || share <= MOST_TOLD)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "with this answer %.0f %% as many numbers would be told of these scans as they "
                  "hold; a site tells up to %.0f %%",
                  100.0 * share, 100.0 * MOST_TOLD);
  return FALSE;
}

gboolean
demur_federate_ledger_note(DemurFederateLedger *ledger, const DemurFederateRound *round,
                           const DemurFederateAnswer *answer, const DemurFederateScans *scans,
                           const char *const *names, const char *when, gboolean *known,
                           GError **error) {
  *known = answer->withheld;
  if (answer->withheld)
    return TRUE;
  size_t place;
  Set *set = set_of(ledger, scans, names);
  g_autofree char *cuts = cuts_of(round);
  const double share =
      (double)demur_federate_n_told(answer) / (double)(scans->n * (round->n_inputs + 2));
  if (!place_of(ledger, set, scans->n_classes, &place, error) ||
      !check_told(ledger, round, cuts, place, share, known, error)) {
    set_free(set);
    return FALSE;
  }
  if (place == ledger->sets->len)
    g_ptr_array_add(ledger->sets, set);
  else
    set_free(set);
  if (*known)
    return TRUE;
  Told *told = g_new0(Told, 1);
  *told = (Told){g_strdup(demur_federate_round_identity(round)),
                 g_strdup(round->digest),
                 g_steal_pointer(&cuts),
                 g_strdup(when),
                 place,
                 share};
  g_ptr_array_add(ledger->told, told);
  return TRUE;
}
