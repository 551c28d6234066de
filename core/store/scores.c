#include "store/scores.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/seal.h"

void
demur_score_record_free(DemurScoreRecord *record) {
  if (record == NULL)
    return;
  g_free(record->scan_id);
  g_free(record->model);
  g_free(record->model_version);
  g_free(record->patient_id);
  g_free(record->embedding);
  g_free(record->source);
  g_free(record->created);
  g_free(record->images_digest);
  g_free(record->digest);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_score_record_free(record);
}

#define COLUMNS                                                                                    \
  "scan_id, model, patient_id, risk, risk_year_1, risk_year_2, risk_year_3, risk_year_4,"          \
  " risk_year_5, risk_year_6, embedding, source, created, images_digest, event, digest,"           \
  " horizon_years, model_version"

static gpointer
read_score(DemurStatement *statement) {
  DemurScoreRecord *record = g_new0(DemurScoreRecord, 1);
  record->scan_id = demur_store_text(statement, 0);
  record->model = demur_store_text(statement, 1);
  record->patient_id = demur_store_text(statement, 2);
  record->risk = demur_store_double(statement, 3);
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    record->yearly_risks[k] = demur_store_double(statement, 4 + k);
  gsize n_bytes;
  gconstpointer embedding = demur_store_bytes(statement, 10, &n_bytes);
  record->embedding_width = n_bytes / sizeof(float);
  if (record->embedding_width > 0)
    record->embedding = g_memdup2(embedding, record->embedding_width * sizeof(float));
  record->source = demur_store_text(statement, 11);
  record->created = demur_store_text(statement, 12);
  record->images_digest = demur_store_text(statement, 13);
  record->event = demur_store_int(statement, 14);
  record->digest = demur_store_text(statement, 15);
  record->horizon_years = demur_store_double(statement, 16);
  record->model_version = demur_store_text(statement, 17);
  return record;
}

double
demur_score_risk_within(const DemurScoreRecord *record, double years) {
  if (years == 0.0 || record->horizon_years == years)
    return record->risk;
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    if (years == k + 1 && !isnan(record->yearly_risks[k]))
      return record->yearly_risks[k];
  return years == DEMUR_N_YEARS && isnan(record->horizon_years) ? record->risk : (double)NAN;
}

static gboolean
same_number(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static gboolean
same_values(const DemurScoreRecord *a, const DemurScoreRecord *b) {
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    if (!same_number(a->yearly_risks[k], b->yearly_risks[k]))
      return FALSE;
  return a->risk == b->risk && g_strcmp0(a->model_version, b->model_version) == 0 &&
         same_number(a->horizon_years, b->horizon_years) &&
         a->embedding_width == b->embedding_width &&
         (a->embedding_width == 0 ||
          memcmp(a->embedding, b->embedding, a->embedding_width * sizeof(float)) == 0);
}

static gboolean
same_score(const DemurScoreRecord *a, const DemurScoreRecord *b) {
  return g_strcmp0(a->images_digest, b->images_digest) == 0 && same_values(a, b);
}

char *
demur_score_key(const char *scan_id, const char *model) {
  return g_strdup_printf("score:%s|%s", scan_id, model);
}

char *
demur_score_digest(const DemurScoreRecord *r) {
  g_autofree char *event = g_strdup_printf("%" PRId64, r->event);
  g_autofree char *embedding = g_compute_checksum_for_data(
      G_CHECKSUM_SHA256, (const guchar *)r->embedding, r->embedding_width * sizeof(float));
  const char *const texts[] = {r->scan_id, r->model,   r->patient_id,
                               r->source,  r->created, r->images_digest,
                               event,      embedding,  r->model_version};
  double numbers[2 + DEMUR_N_YEARS] = {r->risk};
  memcpy(numbers + 1, r->yearly_risks, sizeof r->yearly_risks);
  numbers[1 + DEMUR_N_YEARS] = r->horizon_years;
  /* Neither is in the digest where it is not recorded, nor in those of before. */
  return demur_store_digest(texts, G_N_ELEMENTS(texts) - (r->model_version == NULL ? 1 : 0),
                            numbers, G_N_ELEMENTS(numbers) - (isnan(r->horizon_years) ? 1 : 0));
}

static gboolean
insert(DemurWorkspace *workspace, const DemurScoreRecord *record, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "INSERT INTO score (" COLUMNS
                            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            " ON CONFLICT (scan_id, model) DO UPDATE SET id = excluded.id,"
                            " patient_id = excluded.patient_id, risk = excluded.risk,"
                            " risk_year_1 = excluded.risk_year_1,"
                            " risk_year_2 = excluded.risk_year_2,"
                            " risk_year_3 = excluded.risk_year_3,"
                            " risk_year_4 = excluded.risk_year_4,"
                            " risk_year_5 = excluded.risk_year_5,"
                            " risk_year_6 = excluded.risk_year_6,"
                            " embedding = excluded.embedding, source = excluded.source,"
                            " created = excluded.created,"
                            " images_digest = excluded.images_digest, event = excluded.event,"
                            " digest = excluded.digest, horizon_years = excluded.horizon_years,"
                            " model_version = excluded.model_version",
                            error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, record->scan_id);
  demur_store_bind_text(statement, 2, record->model);
  demur_store_bind_text(statement, 3, record->patient_id);
  demur_store_bind_double(statement, 4, record->risk);
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    demur_store_bind_double(statement, 5 + k, record->yearly_risks[k]);
  if (record->embedding_width > 0)
    demur_store_bind_blob(statement, 11, record->embedding,
                          record->embedding_width * sizeof(float));
  demur_store_bind_text(statement, 12, record->source);
  demur_store_bind_text(statement, 13, record->created);
  demur_store_bind_text(statement, 14, record->images_digest);
  demur_store_bind_int(statement, 15, record->event);
  demur_store_bind_text(statement, 16, record->digest);
  demur_store_bind_double(statement, 17, record->horizon_years);
  demur_store_bind_text(statement, 18, record->model_version);
  return demur_store_run_later(workspace, statement, "saving scores", error);
}

gboolean
demur_scores_load(DemurWorkspace *workspace, const char *scan_id, const char *model,
                  DemurScoreRecord **record, GError **error) {
  *record = NULL;
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT " COLUMNS " FROM score WHERE scan_id = ? AND model = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, model);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a score", error))
    return FALSE;
  if (row) {
    *record = read_score(statement);
    demur_store_reset(statement);
  }
  return TRUE;
}

/* ---- saving ---- */

/* So many at once: on a server each question is a way there and back, whatever number of scans it is about. */
#define SCORES_AT_ONCE 128

/* Some of the records that are to be saved, no (scan, model) twice. */
typedef struct {
  const DemurScoreRecord *records; /* [n], borrowed */
  size_t n;
  GHashTable *old;    /* key -> DemurScoreRecord that is there */
  GHashTable *images; /* scan_id -> digest of what the series' images hold; NULL: not known */
  GPtrArray *keys;    /* of those that are written, in order */
  GPtrArray *digests;
  GPtrArray *created; /* borrowed */
} Some;

static void
some_clear(Some *some) {
  g_clear_pointer(&some->old, g_hash_table_unref);
  g_clear_pointer(&some->images, g_hash_table_unref);
  g_clear_pointer(&some->keys, g_ptr_array_unref);
  g_clear_pointer(&some->digests, g_ptr_array_unref);
  g_clear_pointer(&some->created, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Some, some_clear)

/* "SELECT .. WHERE scan_id IN (?, ..)" of the scans of some: places that are left over hold nothing. */
static DemurStatement *
ask_of_scans(DemurWorkspace *workspace, const char *select, const Some *some, GError **error) {
  g_autoptr(GString) sql = g_string_new(select);
  g_string_append(sql, " WHERE scan_id IN (?");
  for (int i = 1; i < SCORES_AT_ONCE; i++)
    g_string_append(sql, ", ?");
  g_string_append_c(sql, ')');
  DemurStatement *statement = demur_store_statement(workspace, g_intern_string(sql->str), error);
  for (int i = 0; statement != NULL && i < SCORES_AT_ONCE; i++)
    demur_store_bind_text(statement, i + 1, (size_t)i < some->n ? some->records[i].scan_id : NULL);
  return statement;
}

/* What there is of them already. */
static gboolean
read_some(DemurWorkspace *workspace, Some *some, GError **error) {
  some->old = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, record_free);
  some->images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  some->keys = g_ptr_array_new_with_free_func(g_free);
  some->digests = g_ptr_array_new_with_free_func(g_free);
  some->created = g_ptr_array_new();
  gboolean row, ok;
  DemurStatement *statement = ask_of_scans(workspace, "SELECT " COLUMNS " FROM score", some, error);
  if (statement == NULL)
    return FALSE;
  while ((ok = demur_store_step(workspace, statement, &row, "reading scores", error)) && row) {
    DemurScoreRecord *old = read_score(statement);
    g_hash_table_insert(some->old, demur_score_key(old->scan_id, old->model), old);
  }
  statement =
      ok ? ask_of_scans(workspace, "SELECT scan_id, images_digest FROM series", some, error) : NULL;
  if (statement == NULL)
    return FALSE;
  while ((ok = demur_store_step(workspace, statement, &row, "reading series", error)) && row)
    g_hash_table_insert(some->images, demur_store_text(statement, 0),
                        demur_store_text(statement, 1));
  return ok;
}

/* Saves the score; its event, whose number it has, is due (tell_some). */
static gboolean
insert_due(DemurWorkspace *workspace, Some *some, DemurScoreRecord *record, gint64 first,
           GError **error) {
  record->event = first + some->keys->len;
  record->digest = demur_score_digest(record);
  g_ptr_array_add(some->keys, demur_score_key(record->scan_id, record->model));
  g_ptr_array_add(some->digests, record->digest);
  g_ptr_array_add(some->created, record->created);
  return insert(workspace, record, error);
}

static int
find_column(DemurStatement *statement, const char *name) {
  int at = 0;
  while (at < demur_store_n_columns(statement) &&
         !g_str_equal(demur_store_column_name(statement, at), name))
    at++;
  return at;
}

/* The events of what was written, each with the seal of its row as it stands there now. */
static gboolean
tell_some(DemurWorkspace *workspace, const Some *some, gint64 first, GError **error) {
  if (some->keys->len == 0)
    return TRUE;
  DemurStatement *statement = ask_of_scans(workspace, "SELECT * FROM score", some, error);
  if (statement == NULL)
    return FALSE;
  g_autoptr(GPtrArray) seals = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_set_size(seals, (int)some->keys->len);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "sealing the log", error)) && row) {
    const gint64 place = demur_store_int(statement, find_column(statement, "event")) - first;
    if (place >= 0 && place < seals->len && seals->pdata[place] == NULL)
      seals->pdata[place] = demur_store_seal_of_row(statement);
  }
  for (guint i = 0; ok && i < seals->len; i++)
    ok = demur_store_add_sealed_event(workspace, DEMUR_EVENT_SCORE, some->keys->pdata[i],
                                      some->digests->pdata[i], some->created->pdata[i],
                                      g_steal_pointer(&seals->pdata[i]), error);
  return ok;
}

typedef enum { NEW, REPLACED, SAME, N_COUNTS } Count;

/* One of them, by what was there: n counts it. */
static gboolean
save_one(DemurWorkspace *workspace, Some *some, const DemurScoreRecord *given, gboolean replace,
         gint64 first, size_t n[N_COUNTS], GError **error) {
  DemurScoreRecord record = *given;
  g_autofree char *key = demur_score_key(record.scan_id, record.model);
  const DemurScoreRecord *old = g_hash_table_lookup(some->old, key);
  char *images = g_hash_table_lookup(some->images, record.scan_id);
  if (record.images_digest != NULL && g_strcmp0(record.images_digest, images) != 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the images of scan %s changed while it was scored; score it again",
                    record.scan_id);
    return FALSE;
  }
  record.images_digest = images;
  /* The risk among yearly ones is the sixth year's. */
  if (!isnan(record.yearly_risks[DEMUR_N_YEARS - 1]))
    record.horizon_years = DEMUR_N_YEARS;
  else if (record.horizon_years <= 0)
    record.horizon_years = (double)NAN;
  if (old != NULL && old->digest != NULL && same_score(old, &record)) {
    n[SAME]++;
    return TRUE;
  }
  /* A score of other images than the series has now says nothing of it, and is no obstacle. */
  if (old != NULL && !replace && g_strcmp0(old->images_digest, images) == 0 &&
      !same_values(old, &record)) {
    demur_error_set(error, DEMUR_ERROR_EXISTS,
                    "scan %s has another score by model %s already; ask for it to be replaced, or "
                    "name the model anew",
                    record.scan_id, record.model);
    return FALSE;
  }
  n[old != NULL ? REPLACED : NEW]++;
  return insert_due(workspace, some, &record, first, error);
}

/* How many of the records can be saved at once: none that hangs on one before it. */
static size_t
count_some(const DemurScoreRecord *records, size_t n) {
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  size_t i = 0;
  while (i < MIN(n, SCORES_AT_ONCE) &&
         g_hash_table_add(keys, demur_score_key(records[i].scan_id, records[i].model)))
    i++;
  return i;
}

static gboolean
save_some(DemurWorkspace *workspace, const DemurScoreRecord *records, size_t n, gboolean replace,
          size_t counts[N_COUNTS], GError **error) {
  g_auto(Some) some = {.records = records, .n = n};
  const gint64 first = demur_store_next_event(workspace, error);
  gboolean ok = first >= 0 && read_some(workspace, &some, error);
  for (size_t i = 0; ok && i < n; i++)
    ok = save_one(workspace, &some, &records[i], replace, first, counts, error);
  return ok && tell_some(workspace, &some, first, error);
}

gboolean
demur_scores_save(DemurWorkspace *workspace, const DemurScoreRecord *records, size_t n_records,
                  gboolean replace, size_t *n_new, size_t *n_replaced, size_t *n_same,
                  GError **error) {
  size_t counts[N_COUNTS] = {0};
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = TRUE;
  for (size_t i = 0, n; ok && i < n_records; i += n) {
    n = count_some(records + i, n_records - i);
    ok = save_some(workspace, records + i, n, replace, counts, error);
  }
  if (!demur_store_end(workspace, ok, error))
    return FALSE;
  size_t *const told[] = {[NEW] = n_new, [REPLACED] = n_replaced, [SAME] = n_same};
  for (guint c = 0; c < N_COUNTS; c++)
    if (told[c] != NULL)
      *told[c] = counts[c];
  return TRUE;
}

GPtrArray *
demur_scores_list(DemurWorkspace *workspace, const char *scan_id, const char *model,
                  GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "SELECT " COLUMNS " FROM score WHERE (?1 IS NULL OR scan_id = ?1)"
                            " AND (?2 IS NULL OR model = ?2) ORDER BY scan_id, model",
                            error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, model);
  return demur_store_list(workspace, statement, read_score, record_free, "listing scores", error);
}

char **
demur_scores_models(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "SELECT DISTINCT model FROM score ORDER BY model", error);
  if (statement == NULL)
    return NULL;
  return demur_store_list_texts(workspace, statement, "listing models", error);
}

gboolean
demur_scores_versions(DemurWorkspace *workspace, GHashTable *versions, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT scan_id, model_version FROM score WHERE model_version IS NOT NULL ORDER BY event NULLS FIRST, id",
      error);
  gboolean row, ok = statement != NULL;
  while (ok && (ok = demur_store_step(workspace, statement, &row, "reading scores", error)) && row)
    g_hash_table_replace(versions, demur_store_text(statement, 0), demur_store_text(statement, 1));
  return ok;
}
