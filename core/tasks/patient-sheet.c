#include "tasks/patient-sheet.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/person.h"
#include "report/files.h"
#include "report/format.h"
#include "selector/coverage.h"
#include "store/events.h"
#include "store/scores.h"
#include "store/series.h"
#include "words/federated-words.h"
#include "words/words.h"
#include "tasks/assess.h"
#include "tasks/history.h"
#include "tasks/meaning.h"
#include "tasks/report.h"
#include "tasks/selection.h"
#include "tasks/sheet-images.h"

static gpointer
own(DemurPatientSheet *page, gpointer memory) {
  g_ptr_array_add(page->owned, memory);
  return memory;
}

void
demur_patient_sheet_free(DemurPatientSheet *page) {
  if (page == NULL)
    return;
  g_clear_pointer(&page->owned, g_ptr_array_unref);
  g_free(page);
}

static DemurTranslate
translate_of(const DemurPatientSheet *page) {
  return demur_patient_translate(&page->input);
}

/* key: in English, marked for translation. */
static void
add_fact(DemurPatientSheet *page, GArray *facts, const char *key, char *value) {
  const DemurReportPair pair = {key, own(page, value)};
  if (value != NULL && *value != '\0')
    g_array_append_val(facts, pair);
}

/* The reasons that may stand beside the risk, or beside that it is held back. */
static const char *const *
word_reasons(DemurPatientSheet *page, const DemurVerdictRecord *verdict) {
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json(verdict->reasons);
  g_autoptr(GPtrArray) shown =
      demur_reasons_shown(reasons, verdict->verdict != DEMUR_VERDICT_RED_FLAG);
  char **words = demur_words_reasons(shown, &page->input.n_numbered, translate_of(page));
  for (char **word = words; *word != NULL; word++)
    own(page, *word);
  return own(page, words);
}

static void
word_interval(DemurPatientSheet *page, const DemurVerdictRecord *verdict, gboolean audited) {
  page->input.interval_low = verdict->risk_low;
  page->input.interval_high = verdict->risk_high;
  if (!(verdict->risk_high > verdict->risk_low))
    return;
  g_autofree char *low = demur_text_percent(verdict->risk_low, 1),
                  *high = demur_text_percent(verdict->risk_high, 1);
  page->input.interval =
      own(page, demur_words_risk_interval(low, high, audited, translate_of(page)));
}

static void
take_threshold(DemurPatientSheet *page, const DemurThresholdRecord *t) {
  page->input.tuned =
      (DemurReportThreshold){.requested = t->coverage,
                             .realised = t->realised,
                             .threshold = t->threshold,
                             .cohort = own(page, g_strdup(t->cohort)),
                             .split = own(page, g_strdup(t->split)),
                             .n = t->n_scans,
                             .guarantee = own(page, demur_tuning_read_sentence(t->guarantee)),
                             .created = own(page, g_strdup(t->created))};
}

static void
take_record(DemurPatientSheet *page, const DemurVerdictRecord *v) {
  DemurPatientInput *input = &page->input;
  input->scan_id = own(page, g_strdup(v->scan_id));
  input->patient_id = own(page, g_strdup(v->patient_id));
  input->verdict = v->verdict;
  input->risk = v->risk;
  input->risk_raw = v->risk_raw;
  input->recalibrated = v->risk != v->risk_raw && isfinite(v->risk);
  input->score = v->score;
  input->interval_low = input->interval_high = NAN;
}

/* The verdict that the workspace keeps, and whether it still holds. */
static gboolean
take_kept(DemurTask *task, DemurPatientSheet *page, const DemurVerdictRecord *v, GError **error) {
  DemurPatientInput *input = &page->input;
  take_record(page, v);
  input->kept = TRUE;
  input->assessed = own(page, g_strdup(v->created));
  input->horizon_years = isnan(v->horizon_years) ? 0.0 : v->horizon_years;
  input->threshold = v->threshold;
  input->coverage = v->coverage;
  input->outdated = v->outdated;
  if (v->outdated != DEMUR_CURRENT) {
    char **causes = demur_words_causes(v->outdated, translate_of(page));
    for (char **cause = causes; *cause != NULL; cause++)
      own(page, *cause);
    input->causes = own(page, causes);
    input->outdated_words = own(page, demur_words_outdated(v->outdated, translate_of(page)));
    return TRUE;
  }
  input->reasons = word_reasons(page, v);
  word_interval(page, v, v->audit_digest != NULL);
  g_autoptr(GPtrArray) thresholds = demur_thresholds_list(task->workspace, v->selector, error);
  for (guint i = 0; thresholds != NULL && i < thresholds->len; i++) {
    const DemurThresholdRecord *t = thresholds->pdata[i];
    if (t->digest != NULL && g_strcmp0(t->digest, v->threshold_digest) == 0)
      take_threshold(page, t);
  }
  return thresholds != NULL;
}

/* A verdict given for this page. */
static gboolean
take_given(DemurPatientSheet *page, const DemurAssessment *assessment, const char *scan_id,
           GError **error) {
  DemurPatientInput *input = &page->input;
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    if (strcmp(v->scan_id, scan_id) != 0)
      continue;
    take_record(page, v);
    input->reasons = word_reasons(page, v);
    word_interval(page, v, g_array_index(assessment->sites, DemurVerdictSite, i).audited);
    input->horizon_years = demur_selector_horizon_years(assessment->selector);
    const DemurThresholdRecord *t = assessment->threshold;
    input->threshold = t != NULL ? t->threshold : NAN;
    input->coverage = t != NULL ? t->coverage : NAN;
    if (t != NULL)
      take_threshold(page, t);
    return TRUE;
  }
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no scan '%s'", scan_id);
  return FALSE;
}

/* ---- what became of accepted scans with such a risk ---- */

static void
later(const char **latest, const char *date) {
  if (g_strcmp0(date, *latest) > 0)
    *latest = date;
}

static gboolean
describe_reference(DemurTask *task, const DemurPatientSheetParams *params, DemurPatientSheet *page,
                   const char *split, GError **error) {
  DemurPatientInput *input = &page->input;
  const DemurMeaningParams ask = {params->selector, params->cohort, split, params->coverage};
  g_autoptr(DemurMeaningReference) reference = demur_task_meaning_reference(task, &ask, error);
  if (reference == NULL)
    return FALSE;
  const gboolean accepted =
      input->verdict == DEMUR_VERDICT_ACCEPTED && input->outdated == DEMUR_CURRENT;
  const DemurMeaning meaning =
      demur_meaning_find(reference, accepted ? input->risk : NAN, input->patient_id);
  input->reference = (DemurPatientReference){.cohort = own(page, g_strdup(reference->cohort)),
                                             .split = own(page, g_strdup(split)),
                                             .simulated = reference->simulated,
                                             .n_scans = reference->n_scans,
                                             .n_accepted = reference->n_accepted,
                                             .n_near = meaning.n,
                                             .n_positive = meaning.n_positive,
                                             .risk_low = meaning.risk_low,
                                             .risk_high = meaning.risk_high,
                                             .mean_risk = meaning.n > 0 ? meaning.mean_risk : 0.0,
                                             .low = meaning.rate_low,
                                             .high = meaning.rate_high};
  if (meaning.n > 0)
    input->outcome = own(page, demur_words_outcome(&reference->outcome, translate_of(page)));
  later(&input->created, own(page, g_strdup(reference->cohort_created)));
  return TRUE;
}

/* ---- a DICOM series ---- */

static void
add_series_facts(DemurPatientSheet *page, const DemurSeriesRecord *series, GArray *facts) {
  const DemurTranslate translate = translate_of(page);
  g_autofree char *iso = demur_person_date_text(series->study_date);
  add_fact(page, facts, N_("Study date"),
           iso != NULL ? demur_translate_day(translate, iso) : g_strdup(series->study_date));
  g_autofree char *kernel =
      series->kernel != NULL
          ? g_strdup_printf(demur_format(translate, N_(", kernel %s")), series->kernel)
          : NULL;
  add_fact(page, facts, N_("Scanner"),
           g_strdup_printf("%s%s%s%s",
                           series->manufacturer != NULL
                               ? series->manufacturer
                               : demur_translate(translate, N_("maker not recorded")),
                           series->model_name ? " " : "",
                           series->model_name ? series->model_name : "", kernel ? kernel : ""));
  g_autofree char *apart = demur_text_formatted("%.4g", series->spacing_mm);
  g_autofree char *slices =
      demur_text_counted(series->n_slices, demur_translate(translate, N_("slice")),
                         demur_translate(translate, N_("slices")));
  add_fact(page, facts, N_("Series"),
           isfinite(series->spacing_mm)
               ? g_strdup_printf(demur_format(translate, N_("%s, %s mm apart")), slices, apart)
               : g_strdup(slices));
  add_fact(page, facts, N_("Site"), g_strdup(series->site));
}

static gboolean
describe_series(DemurTask *task, DemurPatientSheet *page, const char *model, gint64 until,
                GArray *facts, GError **error) {
  DemurPatientInput *input = &page->input;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  g_autoptr(DemurSeriesRecord) series = demur_series_load(workspace, input->scan_id, error);
  if (series == NULL)
    return FALSE;
  add_series_facts(page, series, facts);
  page->input.created = own(page, g_strdup(series->updated));
  page->input.simulated |= series->simulated;
  page->input.patient_id = own(page, g_strdup(series->patient_id)); /* as it is now */
  g_autoptr(DemurScoreRecord) score = NULL;
  if (!demur_scores_load(workspace, input->scan_id, model, &score, error))
    return FALSE;
  if (score != NULL) {
    memcpy(input->yearly, score->yearly_risks, sizeof input->yearly);
    add_fact(page, facts, N_("Risk from"), g_strdup(score->source));
    add_fact(page, facts, N_("Model version"), g_strdup(score->model_version));
    if (g_strcmp0(score->created, input->created) > 0)
      input->created = own(page, g_strdup(score->created));
  }
  return demur_sheet_images(task, page, until, error);
}

static void
describe_cohort_scan(DemurPatientSheet *page, const DemurCohort *cohort, size_t row,
                     GArray *facts) {
  DemurPatientInput *input = &page->input;
  add_fact(page, facts, N_("Cohort"),
           g_strdup_printf(demur_format(translate_of(page), N_("%s (%s), split %s")), cohort->name,
                           cohort->source, cohort->split_names[cohort->splits[row]]));
  add_fact(page, facts, N_("Site"), g_strdup(cohort->site_names[cohort->sites[row]]));
  static const char *const names[][2] = {{"manufacturer", N_("Scanner")},
                                         {"model_name", N_("Scanner model")},
                                         {"kernel", N_("Kernel")}};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    const gssize attribute = demur_cohort_find_attribute(cohort, names[i][0]);
    if (attribute >= 0)
      add_fact(page, facts, names[i][1],
               g_strdup(demur_cohort_attribute_text(cohort, (size_t)attribute, row)));
  }
  if (cohort->yearly_risks != NULL)
    memcpy(input->yearly, cohort->yearly_risks + row * (size_t)DEMUR_N_YEARS, sizeof input->yearly);
  input->created = own(page, g_strdup(cohort->created));
}

/* ---- all together ---- */

/* selector and record NULL: it is gone, and only what the verdict says of it is known. */
static void
describe_selector(DemurPatientSheet *page, const DemurSelector *selector,
                  const DemurSelectorRecord *record, const DemurVerdictRecord *kept) {
  DemurPatientInput *input = &page->input;
  if (selector == NULL) {
    input->selector = (DemurReportSelector){.name = own(page, g_strdup(kept->selector)),
                                            .digest = own(page, g_strdup(kept->selector_digest)),
                                            .model = own(page, g_strdup(kept->model))};
    return;
  }
  input->selector =
      (DemurReportSelector){.name = own(page, g_strdup(record->name)),
                            .digest = own(page, g_strdup(demur_selector_digest(selector))),
                            .created = own(page, g_strdup(record->created)),
                            .cohort = own(page, g_strdup(demur_selector_cohort(selector))),
                            .model = own(page, g_strdup(demur_selector_model(selector)))};
  /* A verdict that an earlier selector of this name gave doesn't come from where this one does. */
  if (kept == NULL || g_strcmp0(kept->selector_digest, input->selector.digest) == 0)
    input->federated = own(page, demur_words_federated(selector, translate_of(page)));
  input->simulated |= demur_selector_is_simulated(selector);
  demur_task_read_validation(record->validation, page->owned, &input->validation);
  later(&input->created, input->selector.created);
  later(&input->created, input->tuned.created);
  later(&input->created, input->assessed);
}

/* The verdict that the window shows of the scan: the newest that is kept, by the selector where one
 * is named. *kept NULL: there is none, or another threshold is asked for. */
static gboolean
find_kept(DemurTask *task, const DemurPatientSheetParams *params, const char *cohort,
          DemurVerdictRecord **kept, GError **error) {
  *kept = NULL;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || params->coverage != NULL)
    return workspace != NULL;
  g_autoptr(GPtrArray) list = demur_verdicts_of_scan(workspace, cohort, params->scan_id, error);
  for (guint i = 0; list != NULL && i < list->len && *kept == NULL; i++)
    if ((params->assessed == NULL ||
         g_strcmp0(((DemurVerdictRecord *)list->pdata[i])->created, params->assessed) == 0) &&
        (params->selector == NULL ||
         strcmp(((DemurVerdictRecord *)list->pdata[i])->selector, params->selector) == 0))
      *kept = g_ptr_array_steal_index(list, i);
  return list != NULL;
}

/* Whether a page may tell the risk of a verdict that was given for it alone: not where the newest one
 * that is kept holds it back. That would be a reveal of which nobody is told. */
static gboolean
check_told(DemurTask *task, const DemurPatientSheetParams *params, const char *cohort,
           const DemurPatientSheet *page, GError **error) {
  /* One that is made again, to be verified, was told then. */
  if (page->input.verdict != DEMUR_VERDICT_ACCEPTED || params->log_head != NULL)
    return TRUE;
  g_autoptr(GPtrArray) list =
      demur_verdicts_of_scan(task->workspace, cohort, params->scan_id, error);
  const DemurVerdictRecord *newest = list != NULL && list->len > 0 ? list->pdata[0] : NULL;
  if (newest == NULL || newest->outdated != DEMUR_CURRENT ||
      newest->verdict != DEMUR_VERDICT_RED_FLAG)
    return list != NULL;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the risk of scan %s is held back by selector %s, and this page would tell it: "
                  "assess the scan so first (`demur assess`), which is kept",
                  params->scan_id, newest->selector);
  return FALSE;
}

/* The verdict, kept or given for the page, and what the selector that gave it is. */
static gboolean
fill_verdict(DemurTask *task, const DemurPatientSheetParams *params, const DemurVerdictRecord *kept,
             const DemurCohort *cohort, gssize row, DemurPatientSheet *page, GError **error) {
  if (kept != NULL)
    return take_kept(task, page, kept, error);
  g_auto(DemurAssessment) of_scan = {0};
  const DemurAssessParams ask = {.selector = params->selector,
                                 .cohort = row >= 0 ? params->cohort : NULL,
                                 .split =
                                     row >= 0 ? cohort->split_names[cohort->splits[row]] : NULL,
                                 .scan_id = row >= 0 ? NULL : params->scan_id,
                                 .coverage = params->coverage};
  return demur_task_assess(task, &ask, &of_scan, error) &&
         take_given(page, &of_scan, params->scan_id, error) &&
         check_told(task, params, ask.cohort, page, error);
}

static void
fill_request(DemurPatientSheet *page, const DemurPatientSheetParams *params, gboolean in_cohort,
             const char *split) {
  DemurPatientInput *input = &page->input;
  input->version = DEMUR_VERSION;
  input->paper = params->paper;
  const char **selectors = own(page, g_new0(const char *, 2));
  selectors[0] = own(page, g_strdup(params->selector));
  input->request = (DemurReportRequest){.n_selectors = 1,
                                        .selectors = selectors,
                                        .cohort = own(page, g_strdup(params->cohort)),
                                        .split = params->cohort ? own(page, g_strdup(split)) : NULL,
                                        .scan_id = input->scan_id,
                                        .language = own(page, g_strdup(params->page_language)),
                                        .cohort_scan = in_cohort,
                                        .tuned_coverage = own(page, g_strdup(params->coverage))};
}

static gboolean
fill(DemurTask *task, const DemurPatientSheetParams *params, const DemurVerdictRecord *kept,
     DemurCohort *cohort, gssize row, DemurPatientSheet *page, GError **error) {
  DemurPatientInput *input = &page->input;
  for (size_t y = 0; y < G_N_ELEMENTS(input->yearly); y++)
    input->yearly[y] = NAN;
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(GError) gone = NULL;
  g_autoptr(DemurSelector) selector =
      demur_task_load_selector(task, params->selector, &record, &gone);
  /* A verdict outlives its selector. */
  if (selector == NULL &&
      (kept == NULL || !g_error_matches(gone, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND))) {
    g_propagate_error(error, g_steal_pointer(&gone));
    return FALSE;
  }
  const char *split = params->split != NULL ? params->split : DEMUR_SPLIT_TEST;
  if (!fill_verdict(task, params, kept, cohort, row, page, error) ||
      (input->log_head = own(page, params->log_head != NULL ? g_strdup(params->log_head)
                                                            : demur_events_head_of_change(
                                                                  task->workspace, error))) == NULL)
    return FALSE;
  g_autoptr(GArray) facts = g_array_new(FALSE, FALSE, sizeof(DemurReportPair));
  const char *model = selector != NULL ? demur_selector_model(selector) : kept->model;
  if (row >= 0) {
    const guint32 own_row = (guint32)row;
    input->simulated |= cohort->simulated;
    input->in_sample =
        selector != NULL && demur_selector_count_seen(selector, cohort, &own_row, 1, NULL) > 0;
    describe_cohort_scan(page, cohort, (size_t)row, facts);
  } else {
    gint64 until = 0;
    if (params->log_head != NULL &&
        !demur_events_find_head(task->workspace, params->log_head, &until, error))
      return FALSE;
    if (!describe_series(task, page, model, until, facts, error))
      return FALSE;
  }
  if (cohort != NULL && selector != NULL && input->outdated == DEMUR_CURRENT &&
      !describe_reference(task, params, page, split, error))
    return FALSE;
  describe_selector(page, selector, record, kept);
  if (selector != NULL && demur_selector_outcome(selector) != NULL)
    input->risk_of = own(page, demur_words_risk_of(demur_selector_outcome(selector),
                                                   input->horizon_years, translate_of(page)));
  input->n_facts = facts->len;
  input->facts = own(page, g_array_free(g_steal_pointer(&facts), FALSE));
  fill_request(page, params, row >= 0, split);
  return TRUE;
}

/* The selector asked for, or the only one there is (owned). */
static char *
only_selector(DemurTask *task, const char *name, GError **error) {
  if (name != NULL)
    return g_strdup(name);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) all = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (all == NULL)
    return NULL;
  if (all->len == 1)
    return g_strdup(((const DemurSelectorRecord *)all->pdata[0])->name);
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "the workspace holds %u selectors: say which with --selector S", all->len);
  return NULL;
}

static DemurPatientSheet *
make_sheet(DemurTask *task, const DemurPatientSheetParams *params, GError **error) {
  g_autoptr(DemurPatientSheet) page = g_new0(DemurPatientSheet, 1);
  page->owned = g_ptr_array_new_with_free_func(g_free);
  page->input.language = params->language;
  DemurPatientSheetParams ask = *params;
  g_autoptr(DemurCohort) cohort =
      params->cohort != NULL ? demur_task_load_cohort(task, params->cohort, error) : NULL;
  if (params->cohort != NULL && cohort == NULL)
    return NULL;
  const gssize row = cohort != NULL ? demur_cohort_find_scan(cohort, params->scan_id) : -1;
  g_autoptr(DemurVerdictRecord) kept = NULL;
  if (!find_kept(task, params, row >= 0 ? params->cohort : NULL, &kept, error))
    return NULL;
  g_autofree char *selector = params->selector == NULL && kept != NULL
                                  ? g_strdup(kept->selector)
                                  : only_selector(task, params->selector, error);
  ask.selector = selector;
  return selector != NULL && fill(task, &ask, kept, cohort, row, page, error)
             ? g_steal_pointer(&page)
             : NULL;
}

DemurPatientSheet *
demur_task_patient_sheet(DemurTask *task, const DemurPatientSheetParams *params, GError **error) {
  if (params->language != NULL)
    demur_text_language_use(params->language);
  DemurPatientSheet *page = make_sheet(task, params, error);
  if (params->language != NULL)
    demur_text_language_use(NULL);
  return page;
}

/* The page and its numbers on their way out, for the event and for themselves. */
typedef struct {
  DemurTask *task;
  const DemurPatientSheetParams *params;
  const DemurPatientInput *numbers, *page; /* page: NULL: the numbers' */
  const char *path;
  gboolean written;
} Going;

static gboolean
tell(gpointer data, GError **error) {
  const Going *going = data;
  return demur_history_add_opened(going->task, going->params->cohort, going->numbers->scan_id,
                                  "report", error);
}

static gboolean
give(gpointer data, GError **error) {
  Going *going = data;
  going->written = demur_patient_write(going->numbers, going->page, going->path, error);
  return going->written;
}

static void
take_back_numbers(const char *path) {
  g_autofree char *json = demur_report_json_path(path, NULL);
  if (json != NULL)
    demur_file_take_back(json);
}

gboolean
demur_task_patient_sheet_write(DemurTask *task, const DemurPatientSheetParams *params,
                               const char *path, DemurPatientSheet **written, GError **error) {
  DemurPatientSheetParams ask = *params;
  ask.language = NULL;
  ask.page_language = params->language != NULL ? params->language->code : NULL;
  g_autoptr(DemurPatientSheet) numbers = demur_task_patient_sheet(task, &ask, error);
  if (numbers == NULL)
    return FALSE;
  g_autoptr(DemurPatientSheet) page = NULL;
  if (params->language != NULL) { /* of the same verdict, whatever was given meanwhile */
    ask.language = params->language;
    ask.assessed = numbers->input.assessed;
    ask.log_head = numbers->input.log_head;
    page = demur_task_patient_sheet(task, &ask, error);
    if (page == NULL)
      return FALSE;
  }
  Going going = {task, params, &numbers->input, page != NULL ? &page->input : NULL, path, FALSE};
  if (!(params->logged ? demur_history_let_out(task, path, tell, give, &going, error)
                       : give(&going, error))) {
    if (going.written) /* the log could not be kept */
      take_back_numbers(path);
    return FALSE;
  }
  if (written != NULL)
    *written = g_steal_pointer(&numbers);
  return TRUE;
}
