/* demur report patient FILE.pdf --scan SCAN: one scan on one page. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "tasks/assess.h"
#include "tasks/report.h"
#include "app/cli/report-parts.h"
#include "tasks/selection.h"
#include "metrics/intervals.h"
#include "report/files.h"
#include "report/format.h"
#include "selector/coverage.h"
#include "store/scores.h"
#include "store/series.h"

#if DEMUR_WITH_DICOM
#include "dicom/import.h"
#include "dicom/library.h"
#include "dicom/volume.h"
#endif

/* How many accepted scans nearest in risk say what a risk means: a tenth of them, within these. */
#define FEWEST_NEIGHBOURS 30
#define MOST_NEIGHBOURS 200

/* The lung window. */
#define WINDOW_CENTRE_HU (-600.0)
#define WINDOW_WIDTH_HU 1500.0

static gpointer
own(DemurCliPatient *patient, gpointer memory) {
  g_ptr_array_add(patient->owned, memory);
  return memory;
}

void
demur_cli_patient_free(DemurCliPatient *patient) {
  if (patient == NULL)
    return;
  g_clear_pointer(&patient->owned, g_ptr_array_unref);
  g_free(patient);
}

static void
add_fact(DemurCliPatient *patient, GArray *facts, const char *key, char *value) {
  const DemurReportPair pair = {key, own(patient, value)};
  if (value != NULL && *value != '\0')
    g_array_append_val(facts, pair);
}

/* The reasons of a verdict, as they are kept (a JSON array). */
static const char *const *
read_reasons(DemurCliPatient *patient, const char *json) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (json == NULL || !json_parser_load_from_data(parser, json, -1, NULL))
    return NULL;
  JsonArray *array = json_node_get_array(json_parser_get_root(parser));
  const guint n = json_array_get_length(array);
  const char **reasons = own(patient, g_new0(const char *, n + 1));
  for (guint i = 0; i < n; i++)
    reasons[i] = own(patient, g_strdup(json_array_get_string_element(array, i)));
  return reasons;
}

static gboolean
take_verdict(DemurCliPatient *patient, const DemurAssessment *assessment, const char *scan_id,
             GError **error) {
  DemurPatientInput *input = &patient->input;
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    if (strcmp(v->scan_id, scan_id) != 0)
      continue;
    input->scan_id = own(patient, g_strdup(v->scan_id));
    input->patient_id = own(patient, g_strdup(v->patient_id));
    input->verdict = own(patient, g_strdup(v->verdict));
    input->risk = v->risk;
    input->risk_raw = v->risk_raw;
    input->recalibrated = v->risk != v->risk_raw && isfinite(v->risk);
    input->score = v->score;
    input->reasons = read_reasons(patient, v->reasons);
    input->simulated = assessment->simulated;
    const DemurThresholdRecord *t = assessment->threshold;
    input->threshold = t != NULL ? t->threshold : NAN;
    input->coverage = t != NULL ? t->coverage : NAN;
    if (t != NULL)
      input->tuned = (DemurReportThreshold){
          .requested = t->coverage,
          .realised = t->realised,
          .threshold = t->threshold,
          .cohort = own(patient, g_strdup(t->cohort)),
          .split = own(patient, g_strdup(t->split)),
          .n = t->n_scans,
          .guarantee = own(patient, demur_tuning_read_sentence(t->guarantee)),
          .created = own(patient, g_strdup(t->created))};
    return TRUE;
  }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND, "there is no scan '%s'", scan_id);
  return FALSE;
}

/* ---- what became of accepted scans with such a risk ---- */

typedef struct {
  double distance, risk, label;
} Neighbour;

static int
compare_neighbours(gconstpointer a, gconstpointer b) {
  const Neighbour *x = a, *y = b;
  if (x->distance != y->distance)
    return x->distance < y->distance ? -1 : 1;
  return x->risk < y->risk ? -1 : x->risk > y->risk;
}

static void
describe_reference(DemurCliPatient *patient, DemurCohort *cohort, const char *split,
                   const DemurAssessment *assessment) {
  DemurPatientInput *input = &patient->input;
  DemurPatientReference *r = &input->reference;
  *r = (DemurPatientReference){.cohort = own(patient, g_strdup(cohort->name)),
                               .split = own(patient, g_strdup(split)),
                               .simulated = cohort->simulated,
                               .risk_low = NAN,
                               .risk_high = NAN,
                               .low = NAN,
                               .high = NAN};
  const gboolean accepted = strcmp(input->verdict, "accepted") == 0;
  g_autoptr(GArray) near = g_array_new(FALSE, FALSE, sizeof(Neighbour));
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    r->n_scans++;
    if (strcmp(v->verdict, "accepted") != 0)
      continue;
    r->n_accepted++;
    const gssize row = demur_cohort_find_scan(cohort, v->scan_id);
    const double label = row >= 0 ? demur_cohort_confidence_label(cohort, (size_t)row) : NAN;
    /* The patient's own outcome tells nothing about the patient's risk. */
    if (!accepted || !isfinite(label) || g_strcmp0(v->patient_id, input->patient_id) == 0)
      continue;
    const Neighbour neighbour = {fabs(v->risk - input->risk), v->risk, label};
    g_array_append_val(near, neighbour);
  }
  if (near->len == 0)
    return;
  g_array_sort(near, compare_neighbours);
  const guint wanted = MIN(near->len, CLAMP(near->len / 10, FEWEST_NEIGHBOURS, MOST_NEIGHBOURS));
  r->risk_low = r->risk_high = g_array_index(near, Neighbour, 0).risk;
  for (guint i = 0; i < wanted; i++) {
    const Neighbour *n = &g_array_index(near, Neighbour, i);
    r->risk_low = fmin(r->risk_low, n->risk);
    r->risk_high = fmax(r->risk_high, n->risk);
  }
  /* All within that range, so that ties at its ends are not drawn by lot. */
  for (guint i = 0; i < near->len; i++) {
    const Neighbour *n = &g_array_index(near, Neighbour, i);
    if (n->risk < r->risk_low || n->risk > r->risk_high)
      continue;
    r->n_near++;
    r->mean_risk += n->risk;
    r->n_positive += n->label > 0.5;
  }
  r->mean_risk /= (double)r->n_near;
  demur_interval_wilson((double)r->n_positive, (double)r->n_near, 0.95, &r->low, &r->high);
  input->outcome = cohort->n_classes > 2 ? "had a right prediction"
                   : demur_cohort_find_attribute(cohort, "years_to_cancer") >= 0
                       ? "developed cancer within six years"
                       : "had the outcome (label 1)";
}

/* ---- a DICOM series ---- */

#if DEMUR_WITH_DICOM
/* The middle slice in the lung window. */
static gboolean
describe_image(DemurContext *context, DemurCliPatient *patient, DemurWorkspace *workspace,
               GError **error) {
  DemurPatientImage *image = &patient->input.image;
  g_autoptr(GPtrArray) files = demur_series_files(workspace, patient->input.scan_id, error);
  if (files == NULL || !demur_dicom_init(error))
    return FALSE;
  g_autofree const char **paths = g_new0(const char *, files->len + 1);
  for (guint i = 0; i < files->len; i++)
    paths[i] = ((const DemurSeriesFile *)files->pdata[i])->path;
  g_autoptr(DemurSeries) series = demur_import_reopen(
      patient->input.scan_id, paths, context->task.parallel, &context->task.progress, error);
  if (series == NULL)
    return FALSE;
  if (series->n_slices == 0 || series->rows == 0 || series->columns == 0)
    return TRUE;
  const size_t middle = series->n_slices / 2, n = (size_t)series->rows * series->columns;
  g_autofree gint16 *hu = g_new(gint16, n);
  size_t n_padding, n_clamped;
  if (!demur_volume_read_slice(series, middle, hu, &n_padding, &n_clamped, error))
    return FALSE;
  guint8 *grey = own(patient, g_malloc(n));
  for (size_t i = 0; i < n; i++) {
    const double share =
        ((double)hu[i] - WINDOW_CENTRE_HU) / WINDOW_WIDTH_HU + 0.5; /* 0 black, 1 white */
    grey[i] = hu[i] == DEMUR_HU_PADDING ? 0 : (guint8)lround(255.0 * CLAMP(share, 0.0, 1.0));
  }
  const double *spacing = series->pixel_spacing_mm;
  *image = (DemurPatientImage){
      .width = series->columns,
      .height = series->rows,
      .grey = grey,
      .aspect = isfinite(spacing[0]) && isfinite(spacing[1]) && spacing[1] > 0.0
                    ? spacing[0] / spacing[1]
                    : 1.0,
      .words =
          own(patient, g_strdup_printf("Slice %zu of %zu, lung window (%g ± %g HU)%s", middle + 1,
                                       series->n_slices, WINDOW_CENTRE_HU, WINDOW_WIDTH_HU / 2.0,
                                       series->lossy ? ", lossy compressed" : ""))};
  return TRUE;
}
#endif

static gboolean
describe_series(DemurContext *context, DemurCliPatient *patient, const char *model, GArray *facts,
                GError **error) {
  DemurPatientInput *input = &patient->input;
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL)
    return FALSE;
  g_autoptr(DemurSeriesRecord) series = demur_series_load(workspace, input->scan_id, error);
  if (series == NULL)
    return FALSE;
  /* DICOM's YYYYMMDD */
  const gboolean plain = series->study_date != NULL && strlen(series->study_date) == 8;
  g_autofree char *iso = plain ? g_strdup_printf("%.4s-%.2s-%.2s", series->study_date,
                                                 series->study_date + 4, series->study_date + 6)
                               : g_strdup(series->study_date);
  add_fact(patient, facts, "Study date", iso != NULL ? demur_text_date(iso) : NULL);
  add_fact(patient, facts, "Scanner",
           g_strdup_printf(
               "%s%s%s%s%s", series->manufacturer ? series->manufacturer : "maker not recorded",
               series->model_name ? " " : "", series->model_name ? series->model_name : "",
               series->kernel ? ", kernel " : "", series->kernel ? series->kernel : ""));
  add_fact(patient, facts, "Series",
           isfinite(series->spacing_mm)
               ? g_strdup_printf("%zu slices, %.4g mm apart", series->n_slices, series->spacing_mm)
               : g_strdup_printf("%zu slices", series->n_slices));
  add_fact(patient, facts, "Site", g_strdup(series->site));
  patient->input.created = own(patient, g_strdup(series->updated));
  g_autoptr(DemurScoreRecord) score = NULL;
  if (!demur_scores_load(workspace, input->scan_id, model, &score, error))
    return FALSE;
  if (score != NULL) {
    memcpy(input->yearly, score->yearly_risks, sizeof input->yearly);
    add_fact(patient, facts, "Risk from", g_strdup(score->source));
    if (g_strcmp0(score->created, input->created) > 0)
      input->created = own(patient, g_strdup(score->created));
  }
#if DEMUR_WITH_DICOM
  return describe_image(context, patient, workspace, error);
#else
  return TRUE;
#endif
}

static void
describe_cohort_scan(DemurCliPatient *patient, const DemurCohort *cohort, size_t row,
                     GArray *facts) {
  DemurPatientInput *input = &patient->input;
  add_fact(patient, facts, "Cohort",
           g_strdup_printf("%s (%s), split %s", cohort->name, cohort->source,
                           cohort->split_names[cohort->splits[row]]));
  add_fact(patient, facts, "Site", g_strdup(cohort->site_names[cohort->sites[row]]));
  static const char *const names[][2] = {
      {"manufacturer", "Scanner"}, {"model_name", "Scanner model"}, {"kernel", "Kernel"}};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    const gssize attribute = demur_cohort_find_attribute(cohort, names[i][0]);
    if (attribute >= 0)
      add_fact(patient, facts, names[i][1],
               g_strdup(demur_cohort_attribute_text(cohort, (size_t)attribute, row)));
  }
  if (cohort->yearly_risks != NULL)
    memcpy(input->yearly, cohort->yearly_risks + row * (size_t)DEMUR_N_YEARS, sizeof input->yearly);
  input->created = own(patient, g_strdup(cohort->created));
}

/* ---- all together ---- */

static void
later(const char **latest, const char *date) {
  if (g_strcmp0(date, *latest) > 0)
    *latest = date;
}

static void
describe_selector(DemurCliPatient *patient, const DemurSelector *selector,
                  const DemurSelectorRecord *record) {
  DemurPatientInput *input = &patient->input;
  input->selector =
      (DemurReportSelector){.name = own(patient, g_strdup(record->name)),
                            .digest = own(patient, g_strdup(demur_selector_digest(selector))),
                            .created = own(patient, g_strdup(record->created)),
                            .cohort = own(patient, g_strdup(demur_selector_cohort(selector))),
                            .model = own(patient, g_strdup(demur_selector_model(selector)))};
  demur_task_read_validation(record->validation, patient->owned, &input->validation);
  later(&input->created, input->selector.created);
  later(&input->created, input->tuned.created);
}

static gboolean
fill(DemurContext *context, const DemurCliPatientOptions *options, DemurCliPatient *patient,
     GError **error) {
  DemurPatientInput *input = &patient->input;
  for (size_t y = 0; y < G_N_ELEMENTS(input->yearly); y++)
    input->yearly[y] = NAN;
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) selector =
      demur_task_load_selector(&context->task, options->selector, &record, error);
  if (selector == NULL)
    return FALSE;
  g_autoptr(DemurCohort) cohort =
      options->cohort != NULL ? demur_task_load_cohort(&context->task, options->cohort, error)
                              : NULL;
  if (options->cohort != NULL && cohort == NULL)
    return FALSE;
  const gssize row = cohort != NULL ? demur_cohort_find_scan(cohort, options->scan_id) : -1;
  const char *split = options->split != NULL ? options->split : "test";
  g_auto(DemurAssessment) of_scan = {0};
  const DemurAssessParams ask = {.selector = options->selector,
                                 .cohort = row >= 0 ? options->cohort : NULL,
                                 .split =
                                     row >= 0 ? cohort->split_names[cohort->splits[row]] : NULL,
                                 .scan_id = row >= 0 ? NULL : options->scan_id,
                                 .coverage = options->coverage};
  if (!demur_task_assess(&context->task, &ask, &of_scan, error) ||
      !take_verdict(patient, &of_scan, options->scan_id, error))
    return FALSE;
  g_autoptr(GArray) facts = g_array_new(FALSE, FALSE, sizeof(DemurReportPair));
  if (row >= 0) {
    const guint32 own_row = (guint32)row;
    input->in_sample = demur_selector_count_seen(selector, cohort, &own_row, 1) > 0;
    describe_cohort_scan(patient, cohort, (size_t)row, facts);
  } else if (!describe_series(context, patient, demur_selector_model(selector), facts, error)) {
    return FALSE;
  }
  if (cohort != NULL) {
    g_auto(DemurAssessment) reference = {0};
    const DemurAssessParams all = {.selector = options->selector,
                                   .cohort = options->cohort,
                                   .split = split,
                                   .coverage = options->coverage};
    if (!demur_task_assess(&context->task, &all, &reference, error))
      return FALSE;
    if (reference.n_seen > 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                  "%zu scans of split '%s' of cohort '%s' are of patients that made selector '%s': "
                  "what became of them says too little about others; name another --split",
                  reference.n_seen, split, cohort->name, options->selector);
      return FALSE;
    }
    describe_reference(patient, cohort, split, &reference);
    later(&input->created, own(patient, g_strdup(cohort->created)));
  }
  describe_selector(patient, selector, record);
  input->n_facts = facts->len;
  input->facts = own(patient, g_array_free(g_steal_pointer(&facts), FALSE));
  input->version = DEMUR_VERSION;
  input->paper = options->paper;
  const char **selectors = own(patient, g_new0(const char *, 2));
  selectors[0] = own(patient, g_strdup(options->selector));
  input->request =
      (DemurReportRequest){.n_selectors = 1,
                           .selectors = selectors,
                           .cohort = own(patient, g_strdup(options->cohort)),
                           .split = options->cohort ? own(patient, g_strdup(split)) : NULL,
                           .scan_id = input->scan_id,
                           .cohort_scan = row >= 0,
                           .tuned_coverage = own(patient, g_strdup(options->coverage))};
  return TRUE;
}

/* The selector asked for, or the only one there is. */
static char *
choose_selector(DemurContext *context, const char *name, GError **error) {
  if (name != NULL)
    return g_strdup(name);
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  g_autoptr(GPtrArray) all = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (all == NULL)
    return NULL;
  if (all->len == 1)
    return g_strdup(((const DemurSelectorRecord *)all->pdata[0])->name);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "the workspace holds %u selectors: say which with --selector S", all->len);
  return NULL;
}

DemurCliPatient *
demur_cli_patient_new(DemurContext *context, const DemurCliPatientOptions *options,
                      GError **error) {
  g_autoptr(DemurCliPatient) patient = g_new0(DemurCliPatient, 1);
  patient->owned = g_ptr_array_new_with_free_func(g_free);
  DemurCliPatientOptions ask = *options;
  g_autofree char *selector = choose_selector(context, options->selector, error);
  ask.selector = selector;
  return selector != NULL && fill(context, &ask, patient, error) ? g_steal_pointer(&patient) : NULL;
}

gboolean
demur_cli_report_patient(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *selector = NULL, *scan_id = NULL, *cohort = NULL, *split = NULL,
                  *coverage = NULL, *paper = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id,
       "a DICOM series, or a scan of the cohort named by --cohort", "SCAN"},
      {"selector", 's', 0, G_OPTION_ARG_STRING, &selector, "selector that judges (the only one)",
       "S"},
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort,
       "cohort with known outcomes, to say what the risk means", "C"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "its split (test)", "SPLIT"},
      {"coverage", 0, 0, G_OPTION_ARG_STRING, &coverage,
       "use the threshold tuned for this coverage (the current one)", "X"},
      {"paper", 0, 0, G_OPTION_ARG_STRING, &paper, "a4 or letter (a4)", "SIZE"},
      {NULL}};
  DemurCliPatientOptions options = {0};
  if (!demur_command_parse(argc, argv, "FILE.pdf --scan SCAN",
                           "write one scan's page (PDF and JSON)", NULL, entries, &arguments,
                           error) ||
      !demur_command_expect(arguments, 1, "report patient takes one FILE.pdf", error) ||
      !demur_cli_paper(paper, &options.paper, error))
    return FALSE;
  if (scan_id == NULL || (split != NULL && cohort == NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        scan_id == NULL ? "report patient needs --scan SCAN"
                                        : "--split needs --cohort C");
    return FALSE;
  }
  g_autofree char *json_path = demur_report_json_path(arguments[0], error);
  if (json_path == NULL || !demur_report_check_files(arguments[0], error))
    return FALSE;
  options.selector = selector;
  options.scan_id = scan_id;
  options.cohort = cohort;
  options.split = split;
  options.coverage = coverage;
  g_autoptr(DemurCliPatient) patient = demur_cli_patient_new(context, &options, error);
  if (patient == NULL || !demur_patient_write(&patient->input, arguments[0], error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "pdf", arguments[0]);
    demur_json_string(json, "json", json_path);
    demur_json_string(json, "scan_id", patient->input.scan_id);
    demur_json_string(json, "verdict", patient->input.verdict);
    demur_json_bool(json, "simulated", patient->input.simulated);
    demur_json_int(json, "seed", (gint64)context->task.seed);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("Patient page%s: %s\nIts numbers: %s\n",
            patient->input.simulated ? " (simulated data)" : "", arguments[0], json_path);
  }
  return TRUE;
}
