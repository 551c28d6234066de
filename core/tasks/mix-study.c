#include "tasks/mix-study.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"
#include "tasks/assess.h"
#include "tasks/counts.h"
#include "tasks/selection.h"

void
demur_mix_study_free(DemurMixStudy *study) {
  if (study == NULL)
    return;
  g_free(study->split);
  g_free(study->model);
  demur_mix_free(study->mix);
  g_clear_pointer(&study->warnings, g_ptr_array_unref);
  g_free(study);
}

/* --- what is wanted --- */

static void
free_wish(gpointer wish) {
  demur_mix_wish_free(wish);
}

/* Puts the row's value into the wish of its column, which is made where there is none. */
static void
add_row(GPtrArray *wishes, const char *by, const char *value, double share) {
  DemurMixWish *wish = NULL;
  for (guint i = 0; i < wishes->len && wish == NULL; i++)
    if (strcmp(((DemurMixWish *)wishes->pdata[i])->by, by) == 0)
      wish = wishes->pdata[i];
  if (wish == NULL) {
    wish = g_new0(DemurMixWish, 1);
    wish->by = g_strdup(by);
    wish->values = g_ptr_array_new_with_free_func(g_free);
    wish->shares = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(wishes, wish);
  }
  g_ptr_array_add(wish->values, g_strdup(value));
  g_array_append_val(wish->shares, share);
}

typedef struct {
  DemurTableHeader header;
  gssize attribute, value, share;
  DemurTableFaults faults;
} Reader;

static gboolean
read_rows(Reader *reader, DemurTable *table, GPtrArray *wishes, GError **error) {
  const DemurNamedColumn named[] = {{"attribute", NULL, &reader->attribute, TRUE},
                                    {"value", NULL, &reader->value, TRUE},
                                    {"share", NULL, &reader->share, TRUE}};
  const DemurHeaderPlan plan = {
      .named = named, .n_named = G_N_ELEMENTS(named), .expected = "attribute, value, share"};
  if (!demur_table_header_read(&reader->header, table, &plan, NULL, error))
    return FALSE;
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&reader->header, table, &reader->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    const DemurTableField *share = &fields[reader->share];
    double number;
    if (!demur_number_parse(share->text, share->length, &number) ||
        !(number >= 0.0 && number <= 1.0))
      demur_table_faults_note_number(&reader->faults, share, "share", N_("a share"),
                                     N_("give a number from 0 to 1"));
    else
      add_row(wishes, fields[reader->attribute].text, fields[reader->value].text, number);
  }
  return demur_table_faults_end(&reader->faults, NULL, error);
}

static gboolean
read_table(const char *path, GPtrArray *wishes, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return FALSE;
  Reader reader = {0};
  demur_table_faults_init(&reader.faults, table);
  const gboolean ok = read_rows(&reader, table, wishes, error);
  demur_table_header_clear(&reader.header);
  demur_table_faults_clear(&reader.faults);
  return ok;
}

/* Array of DemurMixWish (owned). */
static GPtrArray *
read_wishes(const DemurMixStudyParams *params, GError **error) {
  g_autoptr(GPtrArray) wishes = g_ptr_array_new_with_free_func(free_wish);
  for (size_t i = 0; params->mixes != NULL && params->mixes[i] != NULL; i++) {
    DemurMixWish *wish = demur_mix_wish_parse(params->mixes[i], error);
    if (wish == NULL)
      return NULL;
    g_ptr_array_add(wishes, wish);
  }
  if (params->table != NULL && !read_table(params->table, wishes, error))
    return NULL;
  if (wishes->len == 0) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "say which mix: --mix scanner=Philips:0.6, or --mix-table FILE");
    return NULL;
  }
  return g_steal_pointer(&wishes);
}

/* --- what is shown --- */

static gboolean
assess(DemurTask *task, const DemurMixStudyParams *params, DemurAssessment *assessment,
       GError **error) {
  const DemurAssessParams options = {.selector = params->selector,
                                     .cohort = params->cohort,
                                     .split = params->split,
                                     .coverage = params->coverage,
                                     .unwatched = TRUE};
  if (!demur_task_assess(task, &options, assessment, error))
    return FALSE;
  if (demur_selector_n_classes(assessment->selector) > 2) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "another mix needs binary risk; selector '%s' has %zu classes",
                    params->selector, demur_selector_n_classes(assessment->selector));
    return FALSE;
  }
  if (assessment->threshold == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "selector '%s' is not tuned, so no risk is shown yet: `demur tune %s` first",
                    params->selector, params->selector);
    return FALSE;
  }
  if (assessment->n_seen > 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the patients of %zu scans made selector '%s': what it does on them says nothing "
        "of others; take another --split or cohort",
        assessment->n_seen, params->selector);
    return FALSE;
  }
  return TRUE;
}

/* Risks and verdicts of the assessment, which are in the order of the split's rows, as a sample. */
static DemurSample *
take_sample(const DemurAssessment *assessment, DemurCohort *cohort, const char *split,
            DemurCohort **view, gboolean **accepted, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, error);
  if (rows == NULL)
    return NULL;
  double *risks = demur_new_array(double, cohort->n_scans);
  g_autofree gboolean *of_row = g_new0(gboolean, cohort->n_scans);
  for (size_t i = 0; i < cohort->n_scans; i++)
    risks[i] = NAN;
  for (size_t i = 0; i < n; i++) {
    const DemurVerdictRecord *verdict = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    risks[rows[i]] = verdict->risk;
    of_row[rows[i]] = verdict->verdict == DEMUR_VERDICT_ACCEPTED;
  }
  *view = demur_cohort_with_risks(cohort, risks);
  DemurSample *sample = demur_sample_new(*view, rows, n, split, error);
  if (sample == NULL)
    return NULL;
  *accepted = g_new(gboolean, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    (*accepted)[i] = of_row[sample->rows[i]];
  return sample;
}

DemurMixStudy *
demur_task_mix_study(DemurTask *task, const DemurMixStudyParams *params, GError **error) {
  DemurEvaluateInput usual; /* as `evaluate` does */
  demur_evaluate_input_init(&usual);
  if (!demur_task_take_count(params->n_replicates, "--bootstrap", &usual.n_bootstrap, error))
    return NULL;
  g_autoptr(GPtrArray) wishes = read_wishes(params, error);
  g_auto(DemurAssessment) assessment = {0};
  if (wishes == NULL || !assess(task, params, &assessment, error))
    return NULL;
  g_autoptr(DemurCohort) cohort =
      demur_task_load_cohort_for(task, params->cohort, assessment.selector, error);
  if (cohort == NULL)
    return NULL;
  g_autoptr(DemurMixStudy) study = g_new0(DemurMixStudy, 1);
  study->split = g_strdup(params->split != NULL ? params->split : DEMUR_SPLIT_TEST);
  g_autoptr(DemurCohort) view = NULL;
  g_autofree gboolean *accepted = NULL;
  DemurSample *sample = take_sample(&assessment, cohort, study->split, &view, &accepted, error);
  if (sample == NULL)
    return NULL;
  const DemurMixInput input = {.cohort = view,
                               .sample = sample,
                               .accepted = accepted,
                               .wishes = wishes,
                               .released = TRUE,
                               .seed = task->seed,
                               .n_replicates = usual.n_bootstrap,
                               .min_bin_size = usual.min_bin_size};
  study->mix = demur_mix_new(&input, task->parallel, &task->progress, error);
  demur_sample_free(sample);
  if (study->mix == NULL)
    return NULL;
  study->model = g_strdup(cohort->model);
  study->simulated = assessment.simulated;
  study->coverage = assessment.threshold->coverage;
  study->threshold = assessment.threshold->threshold;
  for (guint i = 0; i < assessment.sites->len; i++)
    study->audited |= g_array_index(assessment.sites, DemurVerdictSite, i).audited;
  study->warnings = demur_task_warnings_new();
  demur_task_warn_untrained(assessment.selector, study->warnings);
  return g_steal_pointer(&study);
}
