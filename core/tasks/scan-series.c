/* The DICOM series of a workspace as rows of the scan table. */
#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/person.h"
#include "store/overrules.h"
#include "base/json-reader.h"
#include "store/scores.h"
#include "store/series.h"
#include "tasks/scan-fill.h"
#include "tasks/warnings.h"

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
  g_autoptr(JsonNode) node = demur_json_parse(literal);
  return node != NULL && JSON_NODE_HOLDS_VALUE(node) ? g_strdup(json_node_get_string(node)) : NULL;
}

/* A date of any form as "2024-03-11"; anything else as it is. */
static const char *
keep_date(DemurScanFill *fill, const char *text) {
  g_autofree char *date = demur_person_date_text(text);
  return demur_scan_keep(fill, date != NULL ? date : text);
}

static int
age_at(const char *birth, const char *study) {
  g_autofree char *from = demur_person_date_text(birth), *to = demur_person_date_text(study);
  if (from == NULL || to == NULL)
    return 0;
  /* A year more where the day of the year was reached. */
  const int years = atoi(to) - atoi(from) - (strcmp(to + 4, from + 4) < 0 ? 1 : 0);
  return years > 0 && years < 130 ? years : 0;
}

/* Whole years of an age as DICOM writes it (PS3.5 6.2, AS): "069Y", "018M", "004W", "002D"; 0: not
 * recorded, or under a year. */
static int
age_of(const char *text) {
  static const char units[] = "YMWD";
  static const int a_year[] = {1, 12, 52, 365};
  if (text == NULL || strlen(text) != 4 || strspn(text, "0123456789") != 3)
    return 0;
  const char *unit = strchr(units, text[3]);
  const int years = unit != NULL ? atoi(text) / a_year[unit - units] : 0;
  return years < 130 ? years : 0;
}

static DemurScan *
scan_of_series(DemurScanFill *fill, const DemurSeriesRecord *s) {
  DemurScan *scan = demur_scan_fill_new(fill);
  scan->scan_id = demur_scan_keep(fill, s->scan_id);
  scan->patient_id = demur_scan_keep(fill, s->patient_id);
  scan->patient_name = demur_scan_keep(fill, s->patient_name);
  scan->issuer = demur_scan_keep(fill, s->issuer);
  scan->birth_date = demur_scan_keep(fill, s->birth_date);
  g_autofree char *description = fact(s->facts_json, "description");
  g_autofree char *number = fact(s->facts_json, "series_number");
  g_autofree char *lossy = fact(s->facts_json, "lossy");
  scan->sex = demur_scan_keep(fill, s->sex);
  g_autofree char *age = fact(s->facts_json, "patient_age");
  scan->age = age_at(s->birth_date, s->study_date);
  if (scan->age == 0)
    scan->age = age_of(age);
  scan->description = demur_scan_keep(fill, description);
  scan->series_number = number != NULL ? atoi(number) : -1;
  scan->lossy = g_strcmp0(lossy, "true") == 0;
  scan->date = keep_date(fill, s->study_date);
  scan->site = demur_scan_keep(fill, s->site);
  scan->manufacturer =
      demur_scan_keep(fill, s->manufacturer != NULL ? s->manufacturer : s->manufacturer_raw);
  scan->model_name = demur_scan_keep(fill, s->model_name);
  scan->kernel = demur_scan_keep(fill, s->kernel);
  scan->study_uid = demur_scan_keep(fill, s->study_uid);
  scan->series_uid = demur_scan_keep(fill, s->series_uid);
  scan->type = demur_scan_keep(fill, s->type);
  scan->contrast = demur_scan_keep(fill, s->contrast);
  scan->eligible = s->eligible;
  scan->chosen = s->accepted;
  scan->waits = s->conflict != NULL;
  scan->n_slices = s->n_slices;
  scan->spacing_mm = s->spacing_mm;
  scan->thickness_mm = s->thickness_mm;
  scan->kvp = s->kvp;
  scan->simulated = s->simulated;
  scan->warnings = demur_scan_keep(fill, s->warnings_json);
  if (!s->accepted) {
    g_autoptr(GPtrArray) why = demur_reasons_from_kept(s->reason);
    if (why->len == 0)
      g_ptr_array_add(why, demur_reason_new(DEMUR_REASON_NOT_CHOSEN, NULL, NULL));
    g_autofree char *set_aside = demur_reasons_to_json(why);
    scan->set_aside = demur_scan_keep(fill, set_aside);
    /* Known from the header: no selector has to say it. */
    scan->shown = DEMUR_SHOWN_NOT_ELIGIBLE;
    g_autoptr(GPtrArray) reasons = demur_reasons_new();
    if (scan->waits)
      g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_CONFLICT, NULL, NULL));
    g_autofree char *waits = scan->waits ? demur_reasons_to_json(reasons) : NULL;
    g_autofree char *lead = demur_reasons_lead(scan->waits ? reasons : why);
    scan->reasons = scan->waits ? demur_scan_keep(fill, waits) : scan->set_aside;
    scan->lead = demur_scan_keep(fill, lead);
  }
  return scan;
}

gboolean
demur_scan_add_series(DemurScanFill *fill, DemurWorkspace *workspace, GError **error) {
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
  demur_scan_fill_reserve(fill, series->len);
  for (guint i = 0; i < series->len; i++) {
    const DemurSeriesRecord *record = series->pdata[i];
    DemurScan *scan = scan_of_series(fill, record);
    const DemurVerdictRecord *verdict = g_hash_table_lookup(by_scan, record->scan_id);
    if (verdict != NULL)
      demur_scan_take_verdict(fill, scan, verdict);
    const DemurScoreRecord *score = g_hash_table_lookup(score_of, record->scan_id);
    /* Years stand beside a risk, and only beside the one that they are of. */
    if (score != NULL && verdict != NULL && verdict->outdated == DEMUR_CURRENT &&
        g_strcmp0(score->digest, verdict->score_digest) == 0)
      memcpy(scan->yearly_risks, score->yearly_risks, sizeof scan->yearly_risks);
    const DemurOverruleRecord *overrule =
        record->accepted ? g_hash_table_lookup(chosen_by, record->scan_id) : NULL;
    if (overrule != NULL) {
      scan->overrule = demur_scan_keep(fill, overrule->reason);
      scan->overruled = demur_scan_keep(fill, overrule->rules_reason);
    }
    demur_scan_complete(fill, scan);
  }
  return TRUE;
}
