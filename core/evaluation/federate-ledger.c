/*   key(scan) = the first 16 digits of SHA-256(salt, scan),   person likewise of the patient
 *
 * Sets are sorted keys with their labels and persons; two are compared in one walk, by key(scan) and by
 * key(scan) with its label: of each label, how many persons have a scan that is in one of them alone (no
 * more than there are such scans). Symmetric differences, since both directions stand in the difference of
 * two sums. What was read of a set's scans (risks, what the selector sees, columns) is kept as digests:
 * sums of the same scans with one number changed tell of that number.
 * One document, sealed as rounds are: [sets][n] keys as one text, persons as another, labels. */
#include "evaluation/federate-ledger.h"

#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/sha256.h"

#define FORMAT "demur-federate-ledger"
#define VERSION 2
#define KEY 16 /* hexadecimal digits */
#define MOST_TOLD 0.5
#define MOST_LABELS 1000

typedef struct {
  char key[KEY], person[KEY];
  guint32 label;
} Entry;

/* What was read of a set's scans, by digest; "" where it was not. */
typedef struct {
  char *risks, *seen, *inputs;
} Sources;

typedef struct {
  size_t n;
  Entry *entries; /* [n] by key */
} Set;

typedef struct {
  char *study, *round; /* digests of its first round, and of the one that was answered */
  char *site, *answer; /* as which site, and the answer's digest */
  char *selector;
  char *cuts; /* of an evaluation: digest of selector, thresholds and edges; else "" */
  Sources sources;
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
sources_clear(Sources *sources) {
  g_free(sources->risks);
  g_free(sources->seen);
  g_free(sources->inputs);
}

static void
told_free(gpointer data) {
  Told *told = data;
  g_free(told->study);
  g_free(told->round);
  g_free(told->site);
  g_free(told->answer);
  g_free(told->selector);
  g_free(told->cuts);
  sources_clear(&told->sources);
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

/* As DemurSha256Write. */
static char *
text_of(gconstpointer content, const char *digest) {
  const DemurFederateLedger *ledger = content;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (digest != NULL)
    demur_json_string(json, "digest", digest);
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", VERSION);
  demur_json_string(json, "salt", ledger->salt);
  demur_json_begin_array(json, "sets");
  for (guint s = 0; s < ledger->sets->len; s++) {
    const Set *set = ledger->sets->pdata[s];
    g_autoptr(GString) keys = g_string_sized_new(KEY * set->n),
                       persons = g_string_sized_new(KEY * set->n);
    for (size_t i = 0; i < set->n; i++) {
      g_string_append_len(keys, set->entries[i].key, KEY);
      g_string_append_len(persons, set->entries[i].person, KEY);
    }
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "keys", keys->str);
    demur_json_string(json, "persons", persons->str);
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
    demur_json_string(json, "site", told->site);
    demur_json_string(json, "answer", told->answer);
    demur_json_string(json, "selector", told->selector);
    demur_json_string(json, "cuts", told->cuts);
    demur_json_string(json, "risks", told->sources.risks);
    demur_json_string(json, "seen", told->sources.seen);
    demur_json_string(json, "inputs", told->sources.inputs);
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
  return demur_sha256_seal(text_of, ledger, NULL);
}

static gboolean
read_set(JsonArray *array, guint i, DemurFederateLedger *ledger, GError **error) {
  JsonObject *object;
  const char *keys, *persons;
  DEMUR_AUTO_ALIGNED guint32 *labels = NULL;
  if (!demur_json_read_element(array, i, "sets", &object, error) ||
      !demur_json_read_string(object, "keys", &keys, error) ||
      !demur_json_read_string(object, "persons", &persons, error))
    return FALSE;
  const size_t n = strlen(keys) / KEY;
  if (strlen(persons) != strlen(keys)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s has %zu characters, not %zu", "persons",
                    strlen(persons), strlen(keys));
    return FALSE;
  }
  if (!demur_json_read_indices(object, "labels", n, 0, MOST_LABELS, &labels, error))
    return FALSE;
  Set *set = g_new0(Set, 1);
  set->n = n;
  set->entries = g_new0(Entry, MAX(n, 1));
  for (size_t k = 0; k < n; k++) {
    memcpy(set->entries[k].key, keys + KEY * k, KEY);
    memcpy(set->entries[k].person, persons + KEY * k, KEY);
    set->entries[k].label = labels[k];
  }
  g_ptr_array_add(ledger->sets, set);
  return TRUE;
}

static gboolean
read_told(JsonArray *array, guint i, DemurFederateLedger *ledger, GError **error) {
  JsonObject *object;
  const char *study, *round, *site, *answer, *selector, *cuts, *risks, *seen, *inputs, *when;
  gint64 set;
  double share;
  if (!demur_json_read_element(array, i, "told", &object, error) ||
      !demur_json_read_string(object, "study", &study, error) ||
      !demur_json_read_string(object, "round", &round, error) ||
      !demur_json_read_string(object, "site", &site, error) ||
      !demur_json_read_string(object, "answer", &answer, error) ||
      !demur_json_read_string(object, "selector", &selector, error) ||
      !demur_json_read_string(object, "cuts", &cuts, error) ||
      !demur_json_read_string(object, "risks", &risks, error) ||
      !demur_json_read_string(object, "seen", &seen, error) ||
      !demur_json_read_string(object, "inputs", &inputs, error) ||
      !demur_json_read_string(object, "when", &when, error) ||
      !demur_json_read_int(object, "set", 0, (gint64)ledger->sets->len - 1, &set, error) ||
      !demur_json_read_double(object, "share", 0.0, 1.0, &share, error))
    return FALSE;
  Told *told = g_new0(Told, 1);
  *told = (Told){.study = g_strdup(study),
                 .round = g_strdup(round),
                 .site = g_strdup(site),
                 .answer = g_strdup(answer),
                 .selector = g_strdup(selector),
                 .cuts = g_strdup(cuts),
                 .sources = {g_strdup(risks), g_strdup(seen), g_strdup(inputs)},
                 .when = g_strdup(when),
                 .set = (size_t)set,
                 .share = share};
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
  if (!demur_json_read_int(root, "version", VERSION, VERSION, &version, error) ||
      !demur_json_read_string(root, "salt", &salt, error) ||
      !demur_json_read_string(root, "digest", &digest, error))
    return NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new(salt);
  if (!read_all(root, ledger, error))
    return NULL;
  g_autofree char *right = NULL;
  if (demur_sha256_is_sealed(text_of, ledger, digest, &right))
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

static int
compare_texts(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean
reads_seen(const DemurFederateRound *round) {
  return round->study == DEMUR_FEDERATE_AUDIT || round->study == DEMUR_FEDERATE_EVALUATION;
}

static void
key_of(const DemurFederateLedger *ledger, const char *name, char *key) {
  DemurSha256 sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, ledger->salt);
  demur_sha256_add_text(&sha, name);
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, hex);
  memcpy(key, hex, KEY);
}

static Set *
set_of(const DemurFederateLedger *ledger, const DemurFederateScans *scans, const char *const *names,
       const char *const *persons) {
  Set *set = g_new0(Set, 1);
  set->n = scans->n;
  set->entries = g_new0(Entry, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++) {
    key_of(ledger, names[i], set->entries[i].key);
    key_of(ledger, persons[i], set->entries[i].person);
    set->entries[i].label = (guint32)scans->labels[i];
  }
  qsort(set->entries, set->n, sizeof *set->entries, compare_entries);
  return set;
}

/* Numbers by the scans' names, so that another order of the same is the same; "" for NULL (owned). */
static char *
source_of(const DemurFederateLedger *ledger, const DemurFederateScans *scans,
          const char *const *names, const double *numbers, size_t width) {
  if (numbers == NULL)
    return g_strdup("");
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; i < scans->n; i++) {
    DemurSha256 sha;
    guint8 digest[DEMUR_SHA256_BYTES];
    char hex[DEMUR_SHA256_HEX];
    demur_sha256_init(&sha);
    demur_sha256_add_text(&sha, ledger->salt);
    demur_sha256_add_text(&sha, names[i]);
    demur_sha256_add_doubles(&sha, numbers + i * width, width);
    demur_sha256_finish(&sha, digest);
    demur_sha256_hex(digest, hex);
    g_ptr_array_add(lines, g_strdup(hex));
  }
  g_ptr_array_sort(lines, compare_texts);
  DemurSha256 all;
  guint8 digest[DEMUR_SHA256_BYTES];
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_init(&all);
  for (guint i = 0; i < lines->len; i++)
    demur_sha256_add_text(&all, lines->pdata[i]);
  demur_sha256_finish(&all, digest);
  demur_sha256_hex(digest, hex);
  return g_strdup(hex);
}

static void
take_sources(const DemurFederateLedger *ledger, const DemurFederateRound *round,
             const DemurFederateScans *scans, const char *const *names, Sources *sources) {
  const gboolean corrects = round->study == DEMUR_FEDERATE_CORRECTOR;
  sources->risks =
      source_of(ledger, scans, names, scans->risks, scans->n_classes > 2 ? scans->n_classes : 1);
  sources->seen = source_of(ledger, scans, names, reads_seen(round) ? scans->seen : NULL, 1);
  sources->inputs = source_of(ledger, scans, names, corrects ? scans->inputs : NULL, scans->width);
}

/* ---- two sets ---- */

static gboolean
overlap(const Set *a, const Set *b) {
  for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
    const int order = compare_entries(&a->entries[i], &b->entries[k]);
    if (order == 0)
      return TRUE;
    i += order < 0;
    k += order > 0;
  }
  return FALSE;
}

static int
compare_alone(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  return x->label != y->label ? (x->label > y->label) - (x->label < y->label)
                              : memcmp(x->person, y->person, KEY);
}

/* Entries in one of them alone, by label and person; with by_label those whose label changed, too. */
static GArray *
differ(const Set *a, const Set *b, gboolean by_label) {
  GArray *alone = g_array_new(FALSE, FALSE, sizeof(Entry));
  for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
    const int order = i == a->n   ? 1
                      : k == b->n ? -1
                                  : compare_entries(&a->entries[i], &b->entries[k]);
    const gboolean relabelled =
        by_label && order == 0 && a->entries[i].label != b->entries[k].label;
    if (order < 0 || relabelled)
      g_array_append_val(alone, a->entries[i]);
    if (order > 0 || relabelled)
      g_array_append_val(alone, b->entries[k]);
    i += order <= 0;
    k += order >= 0;
  }
  g_array_sort(alone, compare_alone);
  return alone;
}

/* The first label of fewer than DEMUR_SMALL_CELL persons; n_classes where there is none. */
static size_t
few_among(const GArray *alone, size_t n_classes) {
  g_autofree size_t *persons = g_new0(size_t, n_classes);
  const Entry *entries = (const Entry *)(const void *)alone->data;
  for (guint i = 0; i < alone->len; i++)
    if (entries[i].label < n_classes &&
        (i == 0 || compare_alone(&entries[i], &entries[i - 1]) != 0))
      persons[entries[i].label]++;
  size_t k = 0;
  while (k < n_classes && persons[k] >= DEMUR_SMALL_CELL)
    k++;
  return k;
}

/* The set's place among those there are, at the end where it is new; FALSE where it is too near to one. */
static gboolean
place_of(const DemurFederateLedger *ledger, const Set *set, size_t n_classes, size_t *place,
         GError **error) {
  *place = ledger->sets->len;
  for (guint s = 0; s < ledger->sets->len; s++) {
    gboolean same = TRUE;
    for (int by_label = 0; by_label < 2; by_label++) {
      g_autoptr(GArray) alone = differ(set, ledger->sets->pdata[s], by_label == 1);
      const size_t few = alone->len > 0 ? few_among(alone, n_classes) : n_classes;
      same = same && alone->len == 0;
      if (few < n_classes) {
        demur_error_set(error, DEMUR_ERROR_STATE,
                        "these scans differ from those of an earlier answer by fewer than %d "
                        "patients of label %zu: the two together would tell of few",
                        DEMUR_SMALL_CELL, few);
        return FALSE;
      }
    }
    if (same)
      *place = s;
  }
  return TRUE;
}

/* Selector, thresholds and edges of an evaluation as one digest (owned); "" of another study. */
static char *
cuts_of(const DemurFederateRound *round) {
  if (round->study != DEMUR_FEDERATE_EVALUATION)
    return g_strdup("");
  DemurSha256 sha;
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

gboolean
demur_federate_ledger_has(const DemurFederateLedger *ledger, const char *round,
                          const char *answer) {
  for (guint t = 0; t < ledger->told->len; t++) {
    const Told *told = ledger->told->pdata[t];
    if (strcmp(told->round, round) == 0 && strcmp(told->answer, answer) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Sums over parts of a set (cells, columns), and not over all of it alone. */
static gboolean
is_of_parts(const Told *told) {
  return *told->cuts != '\0' || *told->sources.inputs != '\0';
}

/* Both were read, and differ. */
static gboolean
changed(const char *a, const char *b) {
  return *a != '\0' && *b != '\0' && strcmp(a, b) != 0;
}

/* fresh: of the same study as an earlier answer. */
static gboolean
check_same_study(const Told *fresh, const Told *told, GError **error) {
  if (told->set != fresh->set)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the study was answered of other scans on %s: rounds of other scans would "
                    "tell of those between; answer it of the same cohort and split",
                    told->when);
  else if (strcmp(told->site, fresh->site) != 0)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the study was answered of these scans on %s as site '%s': they would count "
                    "twice as '%s'",
                    told->when, told->site, fresh->site);
  else if (strcmp(told->round, fresh->round) == 0 && strcmp(told->answer, fresh->answer) != 0)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the round was answered on %s with other sums: two answers would tell of what "
                    "changed between them; the first one stands",
                    told->when);
  else
    return TRUE;
  return FALSE;
}

/* fresh: of the same scans as an earlier answer. */
static gboolean
check_same_set(const Told *fresh, const Told *told, GError **error) {
  const gboolean same_selector = strcmp(fresh->selector, told->selector) == 0;
  if (changed(fresh->cuts, told->cuts)) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "an evaluation of these scans was answered on %s with another selector, "
                    "other thresholds or other edges: two tables would tell of the few between "
                    "their lines",
                    told->when);
    return FALSE;
  }
  if (!same_selector && *fresh->sources.inputs != '\0' && *told->sources.inputs != '\0') {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "a corrector of these scans was answered on %s with another selector: columns "
                    "of the two may differ at few scans, and would tell of them",
                    told->when);
    return FALSE;
  }
  if (!changed(fresh->sources.risks, told->sources.risks) &&
      !(same_selector && changed(fresh->sources.seen, told->sources.seen)) &&
      !changed(fresh->sources.inputs, told->sources.inputs))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "risks or embeddings of these scans changed since the answer of %s: the two "
                  "together would tell of those that changed",
                  told->when);
  return FALSE;
}

/* The fresh answer of the set beside all that was told. *known: the very same was. */
static gboolean
check_told(const DemurFederateLedger *ledger, const Told *fresh, const Set *set, gboolean *known,
           GError **error) {
  double share = fresh->share;
  for (guint t = 0; t < ledger->told->len; t++) {
    const Told *told = ledger->told->pdata[t];
    const gboolean same = told->set == fresh->set, study = strcmp(told->study, fresh->study) == 0;
    if ((study && !check_same_study(fresh, told, error)) ||
        (same && !check_same_set(fresh, told, error)))
      return FALSE;
    if (!same && !overlap(set, ledger->sets->pdata[told->set]))
      continue;
    if (!same && is_of_parts(fresh) && is_of_parts(told)) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "an evaluation or a corrector was answered on %s of other scans, some of "
                      "which are among these: cell by cell the two would tell of few; answer of "
                      "the same scans, or of those that are new alone",
                      told->when);
      return FALSE;
    }
    *known = *known || strcmp(told->round, fresh->round) == 0;
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
                           const char *const *names, const char *const *persons, const char *when,
                           gboolean *known, GError **error) {
  *known = answer->withheld;
  if (answer->withheld)
    return TRUE;
  Set *set = set_of(ledger, scans, names, persons);
  Told *told = g_new0(Told, 1);
  *told = (Told){.study = g_strdup(demur_federate_round_identity(round)),
                 .round = g_strdup(round->digest),
                 .site = g_strdup(answer->site),
                 .answer = demur_federate_answer_digest(round, answer),
                 .selector = g_strdup(round->selector),
                 .cuts = cuts_of(round),
                 .when = g_strdup(when),
                 .share = (double)demur_federate_n_told(answer) /
                          (double)(scans->n * (round->n_inputs + 2))};
  take_sources(ledger, round, scans, names, &told->sources);
  const gboolean sound = place_of(ledger, set, scans->n_classes, &told->set, error) &&
                         check_told(ledger, told, set, known, error);
  if (sound && told->set == ledger->sets->len)
    g_ptr_array_add(ledger->sets, set);
  else
    set_free(set);
  if (sound && !*known)
    g_ptr_array_add(ledger->told, told);
  else
    told_free(told);
  return sound;
}
