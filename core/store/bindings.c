#include "store/bindings.h"

#include <math.h>
#include <string.h>

#include "base/sha256.h"
#include "cohort/cohort.h" /* DEMUR_N_YEARS */
#include "store/connection.h"

typedef struct {
  char *digest;         /* of the document */
  char *in_use;         /* of the threshold in use; NULL: not tuned */
  char *family;         /* name and model of its family; NULL: none */
  double horizon_years; /* of the risks that it reads; 0: not recorded */
  char *model;          /* whose scores it reads */
} Selector;

typedef struct {
  char *images, *person;
  char making[17]; /* hash of its site and of what a selector may read, or a reason tell, of how it
                      was made */
  gboolean accepted, conflict;
  gboolean looked; /* places is set */
  DemurPlaces places;
} Series;

struct DemurBindings {
  DemurWorkspace *workspace; /* borrowed */
  gboolean of_cohort;
  char *cohort_digest;    /* NULL: it is gone */
  char *cohort_model;     /* whose scores it holds; NULL likewise */
  GHashTable *selectors;  /* name -> Selector */
  GHashTable *thresholds; /* digests of those that are kept */
  GHashTable *audits;     /* "selector\nsite" -> digest */
  GHashTable *series;     /* scan_id -> Series */
  GHashTable *scores;     /* "scan_id\nmodel" -> digest */
};

static void
selector_free(gpointer data) {
  Selector *selector = data;
  g_free(selector->digest);
  g_free(selector->in_use);
  g_free(selector->model);
  g_free(selector->family);
  g_free(selector);
}

static void
series_free(gpointer data) {
  Series *series = data;
  g_free(series->images);
  g_free(series->person);
  g_free(series);
}

void
demur_bindings_free(DemurBindings *b) {
  if (b == NULL)
    return;
  GHashTable *tables[] = {b->selectors, b->thresholds, b->audits, b->series, b->scores};
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
    g_hash_table_unref(tables[i]);
  g_free(b->cohort_digest);
  g_free(b->cohort_model);
  g_free(b);
}

static char *
pair(const char *first, const char *second) {
  return g_strconcat(first, "\n", second, NULL);
}

/* Calls take for each row of a query without bindings, or with one text. */
static gboolean
each_row(DemurWorkspace *workspace, const char *sql, const char *text,
         void (*take)(DemurBindings *b, DemurStatement *row), DemurBindings *b, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  if (text != NULL)
    demur_store_bind_text(statement, 1, text);
  gboolean row, ok;
  while (
      (ok = demur_store_step(workspace, statement, &row, "reading what verdicts rest on", error)) &&
      row)
    take(b, statement);
  return ok;
}

static void
take_selector(DemurBindings *b, DemurStatement *row) {
  Selector *selector = g_new0(Selector, 1);
  selector->digest = demur_store_text(row, 1);
  selector->horizon_years = demur_store_number(row, 2); /* 0 of NULL */
  selector->model = demur_store_text(row, 3);
  selector->family = demur_store_text(row, 4);
  g_hash_table_insert(b->selectors, demur_store_text(row, 0), selector);
}

/* In growing sequence: the last of a selector is in use. */
static void
take_threshold(DemurBindings *b, DemurStatement *row) {
  Selector *selector = g_hash_table_lookup(b->selectors, demur_store_peek(row, 0));
  char *digest = demur_store_text(row, 1);
  g_hash_table_add(b->thresholds, digest);
  if (selector == NULL)
    return;
  g_free(selector->in_use);
  selector->in_use = g_strdup(digest);
}

static void
take_audit(DemurBindings *b, DemurStatement *row) {
  g_hash_table_insert(b->audits, pair(demur_store_peek(row, 0), demur_store_peek(row, 1)),
                      demur_store_text(row, 2));
}

#define MAKING                                                                                     \
  "site, manufacturer, model_name, kernel, contrast, thickness_mm, spacing_mm, kvp, fov_mm,"       \
  " tube_current_ma"
#define N_MAKING 10

/* FNV-1a (64 bits) of columns as they are stored, each with its type and length. A hundred thousand
 * series are listed at once: texts or digests of them all would be seen there. */
static guint64
hash_of(DemurStatement *row, int first, int n) {
  guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
  for (int c = first; c < first + n; c++) {
    const DemurColumnType type = demur_store_type(row, c);
    const double number = type == DEMUR_COLUMN_FLOAT ? demur_store_number(row, c) : 0.0;
    const guint8 *bytes = NULL;
    gsize length = 0;
    if (type == DEMUR_COLUMN_TEXT) {
      bytes = demur_store_bytes(row, c, &length);
    } else if (type == DEMUR_COLUMN_FLOAT) {
      bytes = (const guint8 *)&number;
      length = sizeof number;
    }
    hash = (hash ^ ((guint64)type + 8 * length)) * G_GUINT64_CONSTANT(0x100000001b3);
    for (gsize i = 0; i < length; i++)
      hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT(0x100000001b3);
  }
  return hash;
}

static void
take_series(DemurBindings *b, DemurStatement *row) {
  Series *series = g_new0(Series, 1);
  series->images = demur_store_text(row, 1);
  series->person = demur_store_text(row, 2);
  series->accepted = demur_store_int(row, 3) != 0;
  series->conflict = demur_store_type(row, 4) != DEMUR_COLUMN_NULL;
  g_snprintf(series->making, sizeof series->making, "%016" G_GINT64_MODIFIER "x",
             hash_of(row, 5, N_MAKING));
  g_hash_table_insert(b->series, demur_store_text(row, 0), series);
}

static void
take_score(DemurBindings *b, DemurStatement *row) {
  g_hash_table_insert(b->scores, pair(demur_store_peek(row, 0), demur_store_peek(row, 1)),
                      demur_store_text(row, 2));
}

static void
take_cohort(DemurBindings *b, DemurStatement *row) {
  b->cohort_digest = demur_store_text(row, 0);
  b->cohort_model = demur_store_text(row, 1);
}

/* The site audits of a selector, in order of their sites. */
static void
add_audits(const DemurBindings *b, const char *name, GString *text) {
  g_autofree char *prefix = pair(name, "");
  g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(b->audits), (GCompareFunc)strcmp);
  for (const GList *key = keys; key != NULL; key = key->next)
    if (g_str_has_prefix(key->data, prefix))
      g_string_append_printf(text, "%s\n", (char *)g_hash_table_lookup(b->audits, key->data));
}

/* What is in use of one selector of a family is what is in use of all of them. */
static void
join_families(DemurBindings *b) {
  g_autoptr(GHashTable) joined = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(b->selectors), (GCompareFunc)strcmp);
  for (const GList *name = names; name != NULL; name = name->next) {
    const Selector *selector = g_hash_table_lookup(b->selectors, name->data);
    if (selector->family == NULL || selector->in_use == NULL)
      continue;
    const char *before = g_hash_table_lookup(joined, selector->family);
    g_autoptr(GString) text = g_string_new(before);
    g_string_append_printf(text, "%s\n%s\n", (char *)name->data, selector->in_use);
    add_audits(b, name->data, text); /* each changes what that selector refuses */
    g_hash_table_insert(joined, selector->family, g_strdup(text->str));
  }
  for (const GList *name = names; name != NULL; name = name->next) {
    Selector *selector = g_hash_table_lookup(b->selectors, name->data);
    if (selector->family == NULL || selector->in_use == NULL)
      continue;
    g_free(selector->in_use);
    selector->in_use = demur_sha256_of_text(g_hash_table_lookup(joined, selector->family));
  }
}

DemurBindings *
demur_bindings_load(DemurWorkspace *workspace, const char *cohort, GError **error) {
  DemurBindings *b = g_new0(DemurBindings, 1);
  b->workspace = workspace;
  b->of_cohort = cohort != NULL;
  b->selectors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, selector_free);
  b->thresholds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  b->audits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  b->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, series_free);
  b->scores = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  const gboolean ok =
      each_row(workspace,
               "SELECT name, digest, horizon_years, model, family || '\n' || model FROM selector",
               NULL, take_selector, b, error) &&
      each_row(workspace,
               "SELECT s.name, coalesce(t.digest, 'sequence ' || t.sequence)"
               " FROM threshold t"
               " JOIN selector s ON s.id = t.selector_id ORDER BY t.sequence",
               NULL, take_threshold, b, error) &&
      each_row(workspace,
               "SELECT s.name, a.site, coalesce(a.digest, 'id ' || a.id) FROM site_audit a"
               " JOIN selector s ON s.id = a.selector_id",
               NULL, take_audit, b, error) &&
      (b->of_cohort
           ? each_row(
                 workspace,
                 "SELECT digest || ' ' || id || ' ' || created, model FROM cohort WHERE name = ?",
                 cohort, take_cohort, b, error)
           : each_row(workspace,
                      "SELECT scan_id, images_digest, person_digest, accepted, conflict, " MAKING
                      " FROM series",
                      NULL, take_series, b, error) &&
                 each_row(workspace,
                          "SELECT scan_id, model, coalesce(digest, 'id ' || id) FROM score", NULL,
                          take_score, b, error));
  if (!ok)
    g_clear_pointer(&b, demur_bindings_free);
  else
    join_families(b);
  return b;
}

/* The digest of one pair, NULL where there is none. */
static const char *
find_pair(GHashTable *table, const char *first, const char *second) {
  if (first == NULL || second == NULL)
    return NULL;
  g_autofree char *key = pair(first, second);
  return g_hash_table_lookup(table, key);
}

/* Of a verdict on a volume whose places hold something else: it stands until they hold what was
 * imported. No digest is such a word. */
#define IMAGES_CHANGED "changed"

DemurPlaces
demur_bindings_places(const DemurBindings *b, const char *scan_id) {
  Series *series = b->of_cohort ? NULL : g_hash_table_lookup(b->series, scan_id);
  if (series == NULL || b->workspace->look == NULL)
    return DEMUR_PLACES_AS_IMPORTED;
  if (!series->looked)
    series->places = b->workspace->look(b->workspace, scan_id, b->workspace->look_data);
  series->looked = TRUE;
  return series->places;
}

/* The images that a verdict on the series is of. */
static const char *
images_now(const DemurBindings *b, const char *scan_id, const Series *series) {
  return demur_bindings_places(b, scan_id) == DEMUR_PLACES_CHANGED ? IMAGES_CHANGED
                                                                   : series->images;
}

void
demur_bindings_bind_batch(const DemurBindings *b, DemurVerdictBatch *batch) {
  const Selector *selector = g_hash_table_lookup(b->selectors, batch->selector);
  batch->in_use_digest = selector != NULL ? selector->in_use : NULL;
  batch->cohort_digest = b->cohort_digest;
}

void
demur_bindings_bind(const DemurBindings *b, const DemurVerdictBatch *batch,
                    DemurVerdictRecord *record) {
  record->audit_digest = (char *)find_pair(b->audits, batch->selector, record->site);
  const Series *series = b->of_cohort ? NULL : g_hash_table_lookup(b->series, record->scan_id);
  if (series == NULL)
    return;
  record->images_digest = (char *)images_now(b, record->scan_id, series);
  record->person_digest = series->person;
  record->making = (char *)series->making;
  record->chosen = series->accepted;
  record->score_digest = (char *)find_pair(b->scores, record->scan_id, batch->model);
}

static guint
differs(const char *then, const char *now, DemurOutdated cause) {
  return g_strcmp0(then, now) == 0 ? 0 : (guint)cause;
}

/* Of one that all else lets stand: its numbers would be told. */
static guint
record_differs(const DemurVerdictRecord *record) {
  g_autofree char *digest = demur_verdict_digest(record);
  return differs(record->digest, digest, DEMUR_OUTDATED_RECORD);
}

/* By what there is now, not by itself. */
static guint
judge_bindings(const DemurBindings *b, const DemurVerdictRecord *record) {
  guint why = 0;
  const Selector *selector = g_hash_table_lookup(b->selectors, record->selector);
  if (selector == NULL || g_strcmp0(selector->digest, record->selector_digest) != 0)
    why |= DEMUR_OUTDATED_SELECTOR;
  else if (g_strcmp0(selector->in_use, record->in_use_digest) != 0 ||
           (record->threshold_digest != NULL &&
            !g_hash_table_contains(b->thresholds, record->threshold_digest)))
    why |= DEMUR_OUTDATED_THRESHOLD;
  /* An older program gave every selector the risk at six years. */
  const double horizon = isnan(record->horizon_years) ? DEMUR_N_YEARS : record->horizon_years;
  if (!b->of_cohort && selector != NULL && selector->horizon_years > 0.0 &&
      selector->horizon_years != horizon)
    why |= DEMUR_OUTDATED_UNBOUND;
  why |= differs(record->audit_digest, find_pair(b->audits, record->selector, record->site),
                 DEMUR_OUTDATED_AUDIT);
  if (b->of_cohort) {
    why |= differs(record->cohort_digest, b->cohort_digest, DEMUR_OUTDATED_COHORT);
    if (selector != NULL && b->cohort_model != NULL)
      why |= differs(selector->model, b->cohort_model, DEMUR_OUTDATED_MODEL);
    return why;
  }
  const Series *series = g_hash_table_lookup(b->series, record->scan_id);
  if (series == NULL)
    return why | DEMUR_OUTDATED_IMAGES;
  if (g_strcmp0(record->images_digest, IMAGES_CHANGED) != 0)
    why |= differs(record->images_digest, series->images, DEMUR_OUTDATED_IMAGES);
  why |= differs(record->person_digest, series->person, DEMUR_OUTDATED_PERSON);
  if (record->making != NULL)
    why |= differs(record->making, series->making, DEMUR_OUTDATED_MAKING);
  why |= series->conflict ? (guint)DEMUR_OUTDATED_CONFLICT : 0;
  why |= series->accepted != record->chosen ? (guint)DEMUR_OUTDATED_CHOICE : 0;
  /* What is not assessed needs no score. */
  if (series->accepted || record->chosen)
    why |= differs(record->score_digest, find_pair(b->scores, record->scan_id, record->model),
                   DEMUR_OUTDATED_SCORE);
  /* Files are looked at only where all else holds. */
  if (why == 0)
    why |= differs(record->images_digest, images_now(b, record->scan_id, series),
                   DEMUR_OUTDATED_IMAGES);
  return why;
}

DemurOutdated
demur_bindings_judge(const DemurBindings *b, const DemurVerdictRecord *record) {
  if (record->digest == NULL)
    return DEMUR_OUTDATED_UNBOUND;
  const guint why = judge_bindings(b, record);
  return (DemurOutdated)(why != 0 ? why : record_differs(record));
}

gboolean
demur_bindings_has_scan(const DemurBindings *b, const char *scan_id) {
  return b->of_cohort || g_hash_table_contains(b->series, scan_id);
}
