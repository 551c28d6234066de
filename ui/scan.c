#include "ui/scan.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/format.h"
#include "store/overrules.h"
#include "store/cohorts.h"
#include "store/reviews.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"

/* Texts repeat (sites, scanners, selectors): kept once. */
static const char *
keep(DemurScanTable *table, const char *text) {
  return text == NULL || *text == '\0' ? "" : g_string_chunk_insert_const(table->texts, text);
}

static const char *const *
keep_sentences(DemurScanTable *table, const char *json, size_t *n) {
  *n = 0;
  if (json == NULL || strcmp(json, "[]") == 0)
    return NULL;
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!json_parser_load_from_data(parser, json, -1, NULL) ||
      !JSON_NODE_HOLDS_ARRAY(json_parser_get_root(parser)))
    return NULL;
  JsonArray *array = json_node_get_array(json_parser_get_root(parser));
  const guint length = json_array_get_length(array);
  const char **sentences = g_new0(const char *, length + 1);
  g_ptr_array_add(table->blocks, sentences);
  for (guint i = 0; i < length; i++) {
    const char *text = json_array_get_string_element(array, i);
    if (text != NULL)
      sentences[(*n)++] = keep(table, text);
  }
  return sentences;
}

/* A text or number member at the head of the canonical facts document: its slices, which are long,
 * stand behind and are never parsed here. Owned; NULL where absent or null. */
static char *
fact(const char *json, const char *key) {
  if (json == NULL)
    return NULL;
  g_autofree char *quoted = g_strdup_printf("\"%s\":", key);
  const char *at = strstr(json, quoted);
  if (at == NULL)
    return NULL;
  at += strlen(quoted);
  while (*at == ' ')
    at++;
  if (*at != '"') {
    const size_t length = strcspn(at, ",\n}");
    return length == 0 || strncmp(at, "null", 4) == 0 ? NULL : g_strndup(at, length);
  }
  const char *end = at + 1;
  while (*end != '\0' && *end != '"')
    end += *end == '\\' && end[1] != '\0' ? 2 : 1;
  g_autofree char *literal = g_strndup(at, (size_t)(end - at) + (*end == '"' ? 1 : 0));
  g_autoptr(JsonNode) node = json_from_string(literal, NULL);
  return node != NULL && JSON_NODE_HOLDS_VALUE(node) ? g_strdup(json_node_get_string(node)) : NULL;
}

/* "20240311" -> "2024-03-11"; anything else as it is. */
static const char *
keep_date(DemurScanTable *table, const char *text) {
  if (text == NULL)
    return "";
  if (strlen(text) == 8 && strspn(text, "0123456789") == 8) {
    g_autofree char *date = g_strdup_printf("%.4s-%.2s-%.2s", text, text + 4, text + 6);
    return keep(table, date);
  }
  return keep(table, text);
}

static int
age_at(const char *birth, const char *study) {
  if (birth == NULL || study == NULL || strlen(birth) != 8 || strlen(study) != 8)
    return 0;
  const int years = (atoi(study) - atoi(birth)) / 10000;
  return years > 0 && years < 130 ? years : 0;
}

static void
complete(DemurScanTable *table, DemurScan *scan) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (*scan->manufacturer != '\0')
    g_string_append(text, scan->manufacturer);
  if (*scan->model_name != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", scan->model_name);
  if (*scan->kernel != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? " · " : "", scan->kernel);
  scan->scanner = keep(table, text->str);
  g_autofree char *joined =
      g_strjoin("\n", scan->patient_id, scan->site, scan->scanner, scan->date, scan->scan_id,
                scan->description, scan->source != NULL ? scan->source : "", NULL);
  g_autofree char *folded = g_utf8_strdown(joined, -1);
  scan->key = g_string_chunk_insert(table->texts, folded);
}

static void
take_verdict(DemurScanTable *table, DemurScan *scan, const DemurVerdictRecord *verdict) {
  scan->shown = demur_shown_from_word(verdict->verdict);
  scan->verdict_id = verdict->id;
  if (scan->shown == DEMUR_SHOWN_ACCEPTED)
    scan->risk = verdict->risk;
  else
    scan->withheld_risk = verdict->risk;
  scan->score = verdict->score;
  scan->threshold = verdict->threshold;
  scan->coverage = verdict->coverage;
  scan->selector = keep(table, verdict->selector);
  scan->selector_digest = keep(table, verdict->selector_digest);
  scan->model = keep(table, verdict->model);
  scan->assessed = keep(table, verdict->created);
  scan->reasons = keep_sentences(table, verdict->reasons, &scan->n_reasons);
}

static DemurScan
blank_scan(void) {
  DemurScan scan = {.patient_id = "",
                    .patient_name = "",
                    .sex = "",
                    .date = "",
                    .site = "",
                    .manufacturer = "",
                    .model_name = "",
                    .kernel = "",
                    .scanner = "",
                    .study_uid = "",
                    .series_uid = "",
                    .description = "",
                    .type = "",
                    .contrast = "",
                    .series_number = -1,
                    .spacing_mm = NAN,
                    .thickness_mm = NAN,
                    .kvp = NAN,
                    .shown = DEMUR_SHOWN_NOT_ASSESSED,
                    .risk = NAN,
                    .withheld_risk = NAN,
                    .score = NAN,
                    .threshold = NAN,
                    .coverage = NAN,
                    .selector = "",
                    .selector_digest = "",
                    .model = "",
                    .assessed = "",
                    .key = ""};
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    scan.yearly_risks[y] = NAN;
  return scan;
}

static DemurScan
scan_of_series(DemurScanTable *table, const DemurSeriesRecord *s) {
  DemurScan scan = blank_scan();
  scan.scan_id = keep(table, s->scan_id);
  scan.patient_id = keep(table, s->patient_id);
  scan.patient_name = keep(table, s->patient_name);
  g_autofree char *sex = fact(s->facts_json, "patient_sex");
  g_autofree char *birth = fact(s->facts_json, "patient_birth_date");
  g_autofree char *description = fact(s->facts_json, "description");
  g_autofree char *number = fact(s->facts_json, "series_number");
  g_autofree char *lossy = fact(s->facts_json, "lossy");
  scan.sex = keep(table, sex);
  scan.age = age_at(birth, s->study_date);
  scan.description = keep(table, description);
  scan.series_number = number != NULL ? atoi(number) : -1;
  scan.lossy = g_strcmp0(lossy, "true") == 0;
  scan.date = keep_date(table, s->study_date);
  scan.site = keep(table, s->site);
  scan.manufacturer = keep(table, s->manufacturer != NULL ? s->manufacturer : s->manufacturer_raw);
  scan.model_name = keep(table, s->model_name);
  scan.kernel = keep(table, s->kernel);
  scan.study_uid = keep(table, s->study_uid);
  scan.series_uid = keep(table, s->series_uid);
  scan.type = keep(table, s->type);
  scan.contrast = keep(table, s->contrast);
  scan.eligible = s->eligible;
  scan.chosen = s->accepted;
  scan.n_slices = s->n_slices;
  scan.spacing_mm = s->spacing_mm;
  scan.thickness_mm = s->thickness_mm;
  scan.kvp = s->kvp;
  /* A phantom says so itself. */
  scan.simulated = strstr(scan.description, "imulat") != NULL ||
                   strstr(scan.description, "SIMULAT") != NULL ||
                   g_str_has_prefix(scan.patient_id, "PHANTOM-");
  scan.warnings = keep_sentences(table, s->warnings_json, &scan.n_warnings);
  if (!s->accepted) {
    scan.set_aside = keep(table, s->reason != NULL ? s->reason : _("not chosen for assessment"));
    /* Known from the header: no selector has to say it. */
    scan.shown = DEMUR_SHOWN_NOT_ELIGIBLE;
    const char **reason = g_new0(const char *, 1);
    g_ptr_array_add(table->blocks, reason);
    reason[0] = scan.set_aside;
    scan.reasons = reason;
    scan.n_reasons = 1;
  }
  return scan;
}

static gboolean
add_series(DemurScanTable *table, GArray *scans, DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) series = demur_series_list(workspace, error);
  g_autoptr(GPtrArray) verdicts =
      series != NULL ? demur_verdicts_latest(workspace, NULL, error) : NULL;
  g_autoptr(GPtrArray) scores =
      verdicts != NULL ? demur_scores_list(workspace, NULL, NULL, error) : NULL;
  g_autoptr(GPtrArray) overrules =
      scores != NULL ? demur_overrules_list(workspace, NULL, error) : NULL;
  if (overrules == NULL)
    return FALSE;
  g_autoptr(GHashTable) chosen_by = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = overrules->len; i-- > 0;) /* the newest stands last, and stays */
    g_hash_table_insert(chosen_by, ((DemurOverruleRecord *)overrules->pdata[i])->scan_id,
                        overrules->pdata[i]);
  g_autoptr(GHashTable) by_scan = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) score_of = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < verdicts->len; i++)
    g_hash_table_insert(by_scan, ((DemurVerdictRecord *)verdicts->pdata[i])->scan_id,
                        verdicts->pdata[i]);
  for (guint i = 0; i < scores->len; i++)
    g_hash_table_insert(score_of, ((DemurScoreRecord *)scores->pdata[i])->scan_id,
                        scores->pdata[i]);
  for (guint i = 0; i < series->len; i++) {
    const DemurSeriesRecord *record = series->pdata[i];
    DemurScan scan = scan_of_series(table, record);
    const DemurVerdictRecord *verdict = g_hash_table_lookup(by_scan, record->scan_id);
    if (verdict != NULL)
      take_verdict(table, &scan, verdict);
    const DemurScoreRecord *score = g_hash_table_lookup(score_of, record->scan_id);
    if (score != NULL && (verdict == NULL || g_strcmp0(score->model, verdict->model) == 0))
      memcpy(scan.yearly_risks, score->yearly_risks, sizeof scan.yearly_risks);
    const DemurOverruleRecord *overrule =
        record->accepted ? g_hash_table_lookup(chosen_by, record->scan_id) : NULL;
    if (overrule != NULL) {
      scan.overrule = keep(table, overrule->reason);
      scan.overruled =
          keep(table, overrule->rules_reason != NULL ? overrule->rules_reason : _("accepted"));
    }
    complete(table, &scan);
    table->simulated |= scan.simulated;
    g_array_append_val(scans, scan);
  }
  return TRUE;
}

static const char *
attribute(DemurScanTable *table, const DemurCohort *cohort, const char *name, size_t row) {
  const gssize at = demur_cohort_find_attribute(cohort, name);
  return at >= 0 ? keep(table, demur_cohort_attribute_text(cohort, (size_t)at, row)) : "";
}

static double
attribute_number(const DemurCohort *cohort, const char *name, size_t row) {
  const gssize at = demur_cohort_find_attribute(cohort, name);
  double value;
  if (at < 0)
    return NAN;
  const char *text = demur_cohort_attribute_text(cohort, (size_t)at, row);
  return demur_number_parse(text, strlen(text), &value) ? value : NAN;
}

typedef struct {
  DemurScanTable *table;
  GArray *scans;
  DemurCohort *cohort;
  const char *source;
} CohortFill;

static gboolean
add_cohort_scan(const DemurVerdictRecord *verdict, gpointer data) {
  CohortFill *fill = data;
  DemurScan scan = blank_scan();
  scan.source = fill->source;
  scan.scan_id = keep(fill->table, verdict->scan_id);
  scan.patient_id = keep(fill->table, verdict->patient_id);
  scan.simulated = fill->cohort->simulated;
  scan.eligible = scan.chosen = TRUE;
  const gssize found = demur_cohort_find_scan(fill->cohort, verdict->scan_id);
  if (found >= 0) {
    const size_t row = (size_t)found;
    scan.site = keep(fill->table, fill->cohort->site_names[fill->cohort->sites[row]]);
    scan.manufacturer = attribute(fill->table, fill->cohort, "manufacturer", row);
    scan.model_name = attribute(fill->table, fill->cohort, "model_name", row);
    scan.kernel = attribute(fill->table, fill->cohort, "kernel", row);
    scan.sex = attribute(fill->table, fill->cohort, "sex", row);
    scan.contrast = attribute(fill->table, fill->cohort, "contrast", row);
    const double age = attribute_number(fill->cohort, "age", row);
    scan.age = age > 0 && age < 130 ? (int)age : 0;
    scan.date = attribute(fill->table, fill->cohort, "study_date", row);
    if (*scan.date == '\0') {
      const char *screen = attribute(fill->table, fill->cohort, "study_year", row);
      if (*screen != '\0') {
        g_autofree char *text = g_strdup_printf("T%s", screen);
        scan.date = keep(fill->table, text);
      }
    }
    scan.thickness_mm = attribute_number(fill->cohort, "slice_thickness_mm", row);
    scan.spacing_mm = attribute_number(fill->cohort, "spacing_mm", row);
    scan.kvp = attribute_number(fill->cohort, "kvp", row);
    if (fill->cohort->yearly_risks != NULL)
      memcpy(scan.yearly_risks, fill->cohort->yearly_risks + row * DEMUR_N_YEARS,
             sizeof scan.yearly_risks);
  }
  take_verdict(fill->table, &scan, verdict);
  complete(fill->table, &scan);
  g_array_append_val(fill->scans, scan);
  return TRUE;
}

static gboolean
any_verdict(const DemurVerdictRecord *verdict, gpointer data) {
  *(gboolean *)data = TRUE;
  return FALSE;
}

static gboolean
add_cohort(DemurScanTable *table, GArray *scans, DemurWorkspace *workspace, const char *name,
           const DemurProgress *progress, GError **error) {
  gboolean any = FALSE;
  if (!demur_verdicts_each_latest(workspace, name, any_verdict, &any, error))
    return FALSE;
  if (!any)
    return TRUE;
  g_autoptr(DemurCohort) cohort = demur_cohorts_load_facts(workspace, name, progress, error);
  CohortFill fill = {table, scans, cohort, keep(table, name)};
  return cohort != NULL &&
         demur_verdicts_each_latest(workspace, name, add_cohort_scan, &fill, error);
}

static char *
index_key(const char *source, const char *scan_id) {
  return g_strconcat(source != NULL ? source : "", "\n", scan_id, NULL);
}

static gboolean
add_reviews(DemurScanTable *table, DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) reviews = demur_reviews_list(workspace, error);
  if (reviews == NULL)
    return FALSE;
  for (guint i = 0; i < reviews->len; i++) {
    const DemurReviewRecord *review = reviews->pdata[i];
    const gssize row = demur_scan_table_find(table, review->cohort, review->scan_id);
    if (row < 0)
      continue;
    DemurScanReview *mine = &table->reviews[row];
    if (review->kind == DEMUR_REVIEW_REVEAL) {
      /* A reveal belongs to the verdict that was on the screen then. */
      mine->revealed |= review->verdict_id == table->scans[row].verdict_id;
      continue;
    }
    if (mine->n_reviews++ == 0)
      mine->opinion = demur_review_kind_name(review->kind);
  }
  return TRUE;
}

static gint
compare_created(gconstpointer a, gconstpointer b) {
  const DemurSelectorRecord *const *x = a, *const *y = b;
  const int order = g_strcmp0((*y)->created, (*x)->created);
  return order != 0 ? order : strcmp((*x)->name, (*y)->name);
}

static gboolean
add_names(DemurScanTable *table, DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) cohorts = demur_cohorts_list(workspace, error);
  g_autoptr(GPtrArray) selectors = cohorts != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (selectors == NULL)
    return FALSE;
  table->splits = g_new0(char **, cohorts->len + 1);
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < cohorts->len; i++) {
    const DemurCohortSummary *cohort = cohorts->pdata[i];
    g_strv_builder_add(names, cohort->name);
    table->simulated |= cohort->simulated;
    table->splits[i] = g_new0(char *, cohort->n_splits + 1);
    for (size_t k = 0; k < cohort->n_splits; k++)
      table->splits[i][k] = g_strdup(cohort->splits[k].name);
  }
  table->cohorts = g_strv_builder_end(names);
  g_ptr_array_sort(selectors, compare_created);
  g_autoptr(GStrvBuilder) selector_names = g_strv_builder_new();
  for (guint i = 0; i < selectors->len; i++)
    g_strv_builder_add(selector_names, ((DemurSelectorRecord *)selectors->pdata[i])->name);
  table->selectors = g_strv_builder_end(selector_names);
  table->models = demur_scores_models(workspace, error);
  if (table->models == NULL)
    return FALSE;
  table->in_use.coverage = table->in_use.threshold = NAN;
  if (selectors->len == 0)
    return TRUE;
  const DemurSelectorRecord *newest = selectors->pdata[0];
  table->in_use.selector = g_strdup(newest->name);
  table->in_use.digest = g_strdup(newest->digest);
  table->in_use.model = g_strdup(newest->model);
  table->in_use.cohort = g_strdup(newest->cohort);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (!demur_thresholds_current(workspace, newest->name, &threshold, error))
    return FALSE;
  if (threshold != NULL) {
    table->in_use.coverage = threshold->coverage;
    table->in_use.threshold = threshold->threshold;
  }
  return TRUE;
}

/* Rows that share a text; those without one stand alone. */
static void
fill_chain(DemurScanTable *table, DemurScanChain *chain, gsize offset) {
  chain->first = g_hash_table_new(g_str_hash, g_str_equal);
  chain->next = g_new0(guint32, MAX(table->n_scans, 1));
  for (size_t i = table->n_scans; i-- > 0;) {
    const char *text = *(const char *const *)((const char *)&table->scans[i] + offset);
    if (*text == '\0')
      continue;
    chain->next[i] = (guint32)GPOINTER_TO_SIZE(g_hash_table_lookup(chain->first, text));
    g_hash_table_insert(chain->first, (gpointer)text, GSIZE_TO_POINTER(i + 1));
  }
}

void
demur_scan_table_link(DemurScanTable *table) {
  fill_chain(table, &table->of_patient, G_STRUCT_OFFSET(DemurScan, patient_id));
  fill_chain(table, &table->of_study, G_STRUCT_OFFSET(DemurScan, study_uid));
}

static gboolean
load(DemurScanTable *table, DemurWorkspace *workspace, const DemurProgress *progress,
     GError **error) {
  g_autoptr(GArray) scans = g_array_sized_new(FALSE, FALSE, sizeof(DemurScan), 1024);
  if (!add_names(table, workspace, error) || !add_series(table, scans, workspace, error))
    return FALSE;
  for (char **name = table->cohorts; *name != NULL; name++)
    if (!add_cohort(table, scans, workspace, *name, progress, error))
      return FALSE;
  table->n_scans = scans->len;
  table->reviews = g_new0(DemurScanReview, MAX(scans->len, 1));
  table->scans = (DemurScan *)(gpointer)g_array_free(g_steal_pointer(&scans), FALSE);
  for (size_t i = 0; i < table->n_scans; i++)
    g_hash_table_insert(table->index, index_key(table->scans[i].source, table->scans[i].scan_id),
                        GSIZE_TO_POINTER(i + 1));
  demur_scan_table_link(table);
  return add_reviews(table, workspace, error);
}

DemurScanTable *
demur_scan_table_load(const char *path, gboolean read_only, const DemurProgress *progress,
                      GError **error) {
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(
      path, read_only ? DEMUR_WORKSPACE_READ_ONLY : DEMUR_WORKSPACE_CREATE, error);
  if (workspace == NULL)
    return NULL;
  g_autoptr(DemurScanTable) table = g_new0(DemurScanTable, 1);
  table->ref_count = 1;
  table->path = g_strdup(path);
  table->read_only = read_only;
  table->texts = g_string_chunk_new(1 << 16);
  table->blocks = g_ptr_array_new_with_free_func(g_free);
  table->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  return load(table, workspace, progress, error) ? g_steal_pointer(&table) : NULL;
}

DemurScanTable *
demur_scan_table_ref(DemurScanTable *table) {
  g_atomic_int_inc(&table->ref_count);
  return table;
}

void
demur_scan_table_unref(DemurScanTable *table) {
  if (table == NULL || !g_atomic_int_dec_and_test(&table->ref_count))
    return;
  g_free(table->path);
  g_free(table->scans);
  g_free(table->reviews);
  for (char ***splits = table->splits; splits != NULL && *splits != NULL; splits++)
    g_strfreev(*splits);
  g_free(table->splits);
  g_free(table->in_use.cohort);
  g_strfreev(table->cohorts);
  g_strfreev(table->selectors);
  g_strfreev(table->models);
  g_free(table->in_use.selector);
  g_free(table->in_use.digest);
  g_free(table->in_use.model);
  g_string_chunk_free(table->texts);
  g_ptr_array_unref(table->blocks);
  g_hash_table_unref(table->index);
  g_clear_pointer(&table->of_patient.first, g_hash_table_unref);
  g_clear_pointer(&table->of_study.first, g_hash_table_unref);
  g_free(table->of_patient.next);
  g_free(table->of_study.next);
  g_free(table);
}

gssize
demur_scan_table_find(const DemurScanTable *table, const char *source, const char *scan_id) {
  g_autofree char *key = index_key(source, scan_id);
  return (gssize)GPOINTER_TO_SIZE(g_hash_table_lookup(table->index, key)) - 1;
}

typedef struct {
  const DemurScanTable *table;
  gboolean by_series;
} OrderData;

static gint
compare_rows(gconstpointer a, gconstpointer b, gpointer data) {
  const OrderData *order = data;
  const DemurScan *x = &order->table->scans[*(const guint32 *)a];
  const DemurScan *y = &order->table->scans[*(const guint32 *)b];
  if (order->by_series && x->series_number != y->series_number)
    return x->series_number < y->series_number ? -1 : 1;
  const int newest = order->by_series ? 0 : strcmp(y->date, x->date);
  return newest != 0 ? newest : strcmp(x->scan_id, y->scan_id);
}

static guint32 *
collect(const DemurScanTable *table, size_t row, gboolean study, size_t *n) {
  const DemurScan *one = &table->scans[row];
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(guint32));
  const guint32 self = (guint32)row;
  g_array_append_val(rows, self);
  const DemurScanChain *chain = study ? &table->of_study : &table->of_patient;
  const char *key = study ? one->study_uid : one->patient_id;
  for (gsize at = GPOINTER_TO_SIZE(g_hash_table_lookup(chain->first, key)); at > 0;
       at = chain->next[at - 1]) {
    const guint32 i = (guint32)at - 1;
    const DemurScan *other = &table->scans[i];
    /* Never on the ID alone where another fact of the person speaks against it. */
    if (i != row && other->source == one->source &&
        strcmp(other->patient_id, one->patient_id) == 0 &&
        strcmp(other->patient_name, one->patient_name) == 0 && (study || other->chosen))
      g_array_append_val(rows, i);
  }
  OrderData order = {table, study};
  g_array_sort_with_data(rows, compare_rows, &order);
  *n = rows->len;
  return (guint32 *)(gpointer)g_array_free(g_steal_pointer(&rows), FALSE);
}

guint32 *
demur_scan_table_of_patient(const DemurScanTable *table, size_t row, size_t *n) {
  return collect(table, row, FALSE, n);
}

guint32 *
demur_scan_table_of_study(const DemurScanTable *table, size_t row, size_t *n) {
  return collect(table, row, TRUE, n);
}

double
demur_scan_revealed_risk(const DemurScan *scan) {
  return isnan(scan->risk) ? scan->withheld_risk : scan->risk;
}

char *
demur_scan_reason(const DemurScan *scan, size_t i, gboolean revealed) {
  const char *text = scan->reasons[i];
  static const char *const telling[] = {"risk", "probability", "entropy", "correct", "confidence"};
  const char *is = strstr(text, " is ");
  const char *comma = is != NULL ? strstr(is, ", ") : NULL;
  const char *scans = comma != NULL ? strstr(comma, " accepted training scans") : NULL;
  if (scan->shown != DEMUR_SHOWN_RED_FLAG || revealed || scans == NULL)
    return g_strdup(text);
  g_autofree char *subject = g_strndup(text, (size_t)(is - text));
  for (guint t = 0; t < G_N_ELEMENTS(telling); t++)
    if (strstr(subject, telling[t]) != NULL) {
      g_autofree char *place = g_strndup(comma + 2, (size_t)(scans - comma - 2));
      return g_strdup_printf("%s lies %s accepted training scans", subject, place);
    }
  return g_strdup(text);
}

char *
demur_scan_risk_text(const DemurScan *scan) {
  if (!isnan(scan->risk))
    return demur_text_percent(scan->risk, 1);
  if (scan->shown == DEMUR_SHOWN_RED_FLAG)
    return g_strdup(_("held back"));
  return g_strdup(DEMUR_TEXT_UNDEFINED);
}
