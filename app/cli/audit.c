/* demur audit plan SELECTOR --cohort C --site S: which scans of a new site to label; demur audit
 * apply SELECTOR FILE: what their labels change. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "base/file-output.h"
#include "tasks/assess.h"
#include "tasks/selection.h"
#include "base/csv-field.h"
#include "base/memory.h"
#include "base/number.h"
#include "cohort/table.h"
#include "selector/audit.h"
#include "store/audits.h"

/* The scans of a site as the selector sees them, without those that made the selector. */
typedef struct {
  DemurSelector *selector;
  DemurCohort *cohort, *view;
  guint32 *rows; /* [n] */
  size_t n;
  double *scores;   /* [n] of the first model */
  gboolean trained; /* the site helped to train the selector */
} Site;

static void
site_clear(Site *site) {
  g_free(site->rows);
  g_free(site->scores);
  demur_cohort_unref(site->view);
  demur_cohort_unref(site->cohort);
  demur_selector_unref(site->selector);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Site, site_clear)

static gboolean
load_selector(DemurContext *context, const char *name, Site *site, GError **error) {
  site->selector = demur_task_load_selector(&context->task, name, NULL, error);
  if (site->selector == NULL)
    return FALSE;
  if (demur_selector_corrector(site->selector, FALSE) == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                "a site audit needs binary risk; selector '%s' has %zu classes", name,
                demur_selector_n_classes(site->selector));
    return FALSE;
  }
  return TRUE;
}

static double *
scores_of(DemurContext *context, const DemurSelector *selector, const DemurCohort *view,
          const guint32 *rows, size_t n, GError **error) {
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, view, FALSE, rows, n, context->task.parallel, &context->task.progress, error);
  if (meta == NULL)
    return NULL;
  double *scores = g_new(double, MAX(n, 1));
  demur_selector_scores(selector, 0, meta, n, scores);
  return scores;
}

/* split NULL: all of them. */
static gboolean
load_site(DemurContext *context, const char *cohort_name, const char *split, const char *site_name,
          Site *site, GError **error) {
  site->cohort = demur_task_load_cohort(&context->task, cohort_name, error);
  if (site->cohort == NULL)
    return FALSE;
  const gssize code = demur_cohort_find_site(site->cohort, site_name);
  if (code < 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                "cohort '%s' has no site '%s'; `demur cohort show %s` names its %zu sites",
                cohort_name, site_name, cohort_name, site->cohort->n_sites);
    return FALSE;
  }
  size_t n_rows;
  site->rows = demur_cohort_rows(site->cohort, split, &n_rows, error);
  if (site->rows == NULL)
    return FALSE;
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 row = site->rows[i];
    if (site->cohort->sites[row] == (guint32)code &&
        !demur_selector_has_seen(site->selector,
                                 site->cohort->patient_ids[site->cohort->patients[row]]))
      site->rows[site->n++] = row;
  }
  if (site->n == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "site '%s' of cohort '%s' has no scan that the selector has not seen%s%s",
                site_name, cohort_name, split != NULL ? " in split " : "",
                split != NULL ? split : "");
    return FALSE;
  }
  site->trained =
      g_strv_contains((const char *const *)demur_selector_site_names(site->selector), site_name);
  site->view = demur_selector_view(site->selector, site->cohort, error);
  if (site->view == NULL)
    return FALSE;
  site->scores = scores_of(context, site->selector, site->view, site->rows, site->n, error);
  return site->scores != NULL;
}

/* Without risks: who labels is not to know what the model said, and some of these are held back. */
static char *
plan_table(const Site *site, const char *site_name, const guint32 *chosen, size_t n_chosen) {
  GString *table = g_string_new("scan_id,patient_id,site,label\n");
  for (size_t i = 0; i < n_chosen; i++) {
    const guint32 row = site->rows[chosen[i]];
    demur_csv_append(table, site->cohort->scan_ids[row]);
    g_string_append_c(table, ',');
    demur_csv_append(table, site->cohort->patient_ids[site->cohort->patients[row]]);
    g_string_append_c(table, ',');
    demur_csv_append(table, site_name);
    g_string_append(table, ",\n");
  }
  return g_string_free(table, FALSE);
}

static void
print_plan_json(DemurContext *context, const char *selector, const Site *site,
                const char *site_name, const guint32 *chosen, size_t n_chosen) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", selector);
  demur_json_string(json, "cohort", site->cohort->name);
  demur_json_string(json, "site", site_name);
  demur_json_bool(json, "simulated", site->cohort->simulated);
  demur_json_bool(json, "site_trained_selector", site->trained);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  demur_json_int(json, "n_site_scans", (gint64)site->n);
  demur_json_begin_array(json, "scans");
  for (size_t i = 0; i < n_chosen; i++) {
    const guint32 row = site->rows[chosen[i]];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", site->cohort->scan_ids[row]);
    demur_json_string(json, "patient_id", site->cohort->patient_ids[site->cohort->patients[row]]);
    demur_json_double(json, "risk", site->view->risks[row]);
    demur_json_double(json, "score", site->scores[chosen[i]]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_plan(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *site_name = NULL, *split = NULL, *output = NULL;
  int n_scans = 50;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort with the site's scans", "C"},
      {"site", 0, 0, G_OPTION_ARG_STRING, &site_name, "the site", "S"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split, "only scans of this split (any)", "SPLIT"},
      {"scans", 0, 0, G_OPTION_ARG_INT, &n_scans, "scans to label (50)", "N"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "write the table there", "FILE.csv"},
      {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR --cohort C --site S",
                           "choose which scans of a site to label",
                           "One scan a patient, spread over the site's risks and scores. Fill the "
                           "column label with 0 or 1 and give the table to `demur audit apply`.",
                           entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "audit plan takes the name of one selector", error))
    return FALSE;
  if (cohort_name == NULL || site_name == NULL || n_scans < 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "audit plan needs --cohort C and --site S, and at least 1 of --scans");
    return FALSE;
  }
  if (output != NULL && !demur_file_output_check(output, DEMUR_FILE_REPLACE, error))
    return FALSE;
  if (output != NULL)
    demur_context_take_stdout(output);
  g_auto(Site) site = {0};
  if (!load_selector(context, arguments[0], &site, error) ||
      !load_site(context, cohort_name, split, site_name, &site, error))
    return FALSE;
  g_autofree double *risks = g_new(double, site.n);
  g_autofree guint32 *patients = g_new(guint32, site.n);
  for (size_t i = 0; i < site.n; i++) {
    risks[i] = site.view->risks[site.rows[i]];
    patients[i] = site.cohort->patients[site.rows[i]];
  }
  size_t n_chosen;
  g_autofree guint32 *chosen = demur_audit_choose(risks, site.scores, patients, site.n,
                                                  (size_t)n_scans, context->task.seed, &n_chosen);
  g_autofree char *table = plan_table(&site, site_name, chosen, n_chosen);
  if (output != NULL && !demur_file_write(output, table, -1, DEMUR_FILE_REPLACE, error))
    return FALSE;
  g_autofree char *now = demur_task_now(&context->task);
  const DemurAuditPlan plan = {arguments[0], site_name,          cohort_name,
                               n_chosen,     context->task.seed, now};
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL || !demur_audit_plans_save(workspace, &plan, error))
    return FALSE;
  if (context->json)
    print_plan_json(context, arguments[0], &site, site_name, chosen, n_chosen);
  else if (output == NULL)
    g_print("%s", table);
  else
    g_print("%zu of %zu scans of site '%s'%s to label: fill the column label with 0 or 1, then "
            "`demur audit apply`\n",
            n_chosen, site.n, site_name, site.cohort->simulated ? " (simulated data)" : "");
  if (site.trained && !context->json)
    g_printerr("Note: scans of site '%s' helped to train the selector; an audit is meant for "
               "a new site.\n",
               site_name);
  return TRUE;
}

/* One row of the table of labels. */
typedef struct {
  char *scan_id, *patient_id; /* patient_id NULL: not given */
  double label;               /* NaN: left empty */
  size_t line;
} Labelled;

static void
labelled_clear(gpointer data) {
  Labelled *row = data;
  g_free(row->scan_id);
  g_free(row->patient_id);
}

enum { SCAN_ID, PATIENT_ID, SITE, LABEL, N_COLUMNS };

static gboolean
find_columns(DemurTable *table, const DemurTableField *fields, size_t n, gssize *columns,
             GError **error) {
  static const char *const names[N_COLUMNS] = {"scan_id", "patient_id", "site", "label"};
  for (size_t k = 0; k < N_COLUMNS; k++) {
    columns[k] = -1;
    for (size_t c = 0; c < n; c++) {
      g_autofree char *text = g_strstrip(g_strdup(fields[c].text));
      if (strcmp(text, names[k]) == 0)
        columns[k] = (gssize)c;
    }
    if (columns[k] < 0 && k != PATIENT_ID) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line 1 has no column %s; the table is the one that `demur audit plan` "
                  "wrote, with labels filled in",
                  demur_table_name(table), names[k]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_row(DemurTable *table, const DemurTableField *fields, const gssize *columns, GArray *rows,
         char **site_name, GError **error) {
  g_autofree char *label = g_strstrip(g_strdup(fields[columns[LABEL]].text));
  const DemurTableField *site = &fields[columns[SITE]];
  Labelled row = {.label = NAN, .line = fields[0].line};
  gint64 number;
  if (*label != '\0') {
    if (!demur_number_parse_int(label, strlen(label), &number) || number < 0 || number > 1) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu, column %zu (label): '%s' is no label; write 0, 1 or nothing",
                  demur_table_name(table), fields[columns[LABEL]].line,
                  fields[columns[LABEL]].column, label);
      return FALSE;
    }
    row.label = (double)number;
  }
  if (*site_name == NULL)
    *site_name = g_strdup(site->text);
  if (strcmp(*site_name, site->text) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line %zu, column %zu (site): '%s', but the rows above are of '%s'; audit one "
                "site at a time",
                demur_table_name(table), site->line, site->column, site->text, *site_name);
    return FALSE;
  }
  row.scan_id = g_strdup(fields[columns[SCAN_ID]].text);
  if (columns[PATIENT_ID] >= 0)
    row.patient_id = g_strdup(fields[columns[PATIENT_ID]].text);
  g_array_append_val(rows, row);
  return TRUE;
}

static GArray *
read_labels(const char *path, char **site_name, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n, n_header;
  if (table == NULL || !demur_table_next(table, &fields, &n_header, error))
    return NULL;
  gssize columns[N_COLUMNS];
  if (!find_columns(table, fields, n_header, columns, error))
    return NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Labelled));
  g_array_set_clear_func(rows, labelled_clear);
  for (;;) {
    if (!demur_table_next(table, &fields, &n, error))
      return NULL;
    if (n == 0)
      break;
    if (n != n_header) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu has %zu fields, the header %zu", demur_table_name(table),
                  fields[0].line, n, n_header);
      return NULL;
    }
    if (!read_row(table, fields, columns, rows, site_name, error))
      return NULL;
  }
  if (rows->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: there is no row below the header",
                demur_table_name(table));
    return NULL;
  }
  return g_steal_pointer(&rows);
}

/* The labelled scans' risks and labels, in the table's order: joined by scan_id, each once, one a
 * patient (the first). */
typedef struct {
  double *risks, *labels;
  size_t n, n_empty, n_repeated;
} Joined;

static void
joined_clear(Joined *joined) {
  g_free(joined->risks);
  g_free(joined->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Joined, joined_clear)

static gboolean
join_labels(const Site *site, const char *site_name, const GArray *rows, const char *path,
            Joined *joined, GError **error) {
  g_autofree char *file = g_path_get_basename(path);
  g_autoptr(GHashTable) scans = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) patients = g_hash_table_new(NULL, NULL);
  joined->risks = g_new(double, rows->len);
  joined->labels = g_new(double, rows->len);
  for (guint i = 0; i < rows->len; i++) {
    const Labelled *row = &g_array_index(rows, Labelled, i);
    const gssize scan = demur_cohort_find_scan(site->cohort, row->scan_id);
    const char *wrong = NULL;
    if (scan < 0)
      wrong = "is not in the cohort";
    else if (strcmp(site->cohort->site_names[site->cohort->sites[scan]], site_name) != 0)
      wrong = "is of another site in the cohort";
    else if (row->patient_id != NULL &&
             strcmp(site->cohort->patient_ids[site->cohort->patients[scan]], row->patient_id) != 0)
      wrong = "is another patient's in the cohort";
    else if (demur_selector_has_seen(site->selector,
                                     site->cohort->patient_ids[site->cohort->patients[scan]]))
      wrong = "is of a patient that made the selector";
    else if (!g_hash_table_add(scans, row->scan_id))
      wrong = "stands in the table twice";
    if (wrong != NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu: scan '%s' %s ('%s'); nothing was kept", file, row->line,
                  row->scan_id, wrong, site->cohort->name);
      return FALSE;
    }
    if (!isfinite(row->label))
      joined->n_empty++;
    else if (!g_hash_table_add(patients, GUINT_TO_POINTER(site->cohort->patients[scan] + 1)))
      joined->n_repeated++;
    else {
      joined->risks[joined->n] = site->view->risks[scan];
      joined->labels[joined->n++] = row->label;
    }
  }
  if (joined->n > 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
              "%s: no row has a label; fill the column label with 0 or 1", file);
  return FALSE;
}

/* Which verdicts the intercept changes at the current threshold; writes "changes". */
static gboolean
compare_verdicts(DemurContext *context, const Site *site, const DemurAuditRecord *record,
                 const DemurThresholdRecord *threshold, DemurJson *json, size_t *n_changed,
                 GError **error) {
  g_autoptr(GHashTable) audits = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_insert(audits, record->site, (gpointer)record);
  g_autoptr(DemurCohort) audited = demur_task_audited_view(audits, site->view);
  g_autofree double *scores =
      scores_of(context, site->selector, audited, site->rows, site->n, error);
  if (scores == NULL)
    return FALSE;
  *n_changed = 0;
  demur_json_begin_array(json, "changes");
  for (size_t i = 0; threshold != NULL && i < site->n; i++) {
    const gboolean before = site->scores[i] >= threshold->threshold;
    const gboolean after = scores[i] >= threshold->threshold;
    if (before == after)
      continue;
    (*n_changed)++;
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", site->cohort->scan_ids[site->rows[i]]);
    demur_json_string(json, "before", before ? "accepted" : "red_flag");
    demur_json_string(json, "after", after ? "accepted" : "red_flag");
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  return TRUE;
}

static void
write_audit(const DemurAudit *audit, const Joined *joined, DemurJson *json) {
  const double interval[] = {audit->low, audit->high};
  demur_json_int(json, "n_labels", (gint64)audit->n_labels);
  demur_json_int(json, "n_unlabelled", (gint64)joined->n_empty);
  demur_json_int(json, "n_repeated_patients", (gint64)joined->n_repeated);
  demur_json_double(json, "intercept", audit->intercept);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_double(json, "level", 0.95);
  demur_json_double(json, "tau2", audit->tau2);
  demur_json_double(json, "observed_difference", audit->observed);
  demur_json_double(json, "mean_risk_before", audit->mean_before);
  demur_json_double(json, "mean_risk_after", audit->mean_after);
  demur_json_double(json, "mean_shift", audit->mean_after - audit->mean_before);
  demur_json_double(json, "expected_site_error_before", audit->error_before);
  demur_json_double(json, "expected_site_error_after", audit->error_after);
}

static gboolean
run_apply(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *site_name = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {{"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name,
                                   "cohort with the scans (the plan's)", "C"},
                                  {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR FILE", "learn a site's intercept from labels",
                           "FILE is the table of `demur audit plan` with labels filled in.",
                           entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "audit apply takes SELECTOR FILE", error))
    return FALSE;
  g_autoptr(GArray) rows = read_labels(arguments[1], &site_name, error);
  g_auto(Site) site = {0};
  DemurWorkspace *workspace = rows != NULL ? demur_task_workspace(&context->task, error) : NULL;
  if (workspace == NULL || !load_selector(context, arguments[0], &site, error))
    return FALSE;
  if (cohort_name == NULL) {
    g_autoptr(DemurAuditPlan) plan = NULL;
    if (!demur_audit_plans_find(workspace, arguments[0], site_name, &plan, error))
      return FALSE;
    if (plan == NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                  "no audit of site '%s' was planned for selector '%s'; give --cohort C with its "
                  "scans, or run `demur audit plan` first",
                  site_name, arguments[0]);
      return FALSE;
    }
    cohort_name = g_strdup(plan->cohort);
  }
  g_auto(Joined) joined = {0};
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (!load_site(context, cohort_name, NULL, site_name, &site, error) ||
      !join_labels(&site, site_name, rows, arguments[1], &joined, error) ||
      !demur_thresholds_current(workspace, arguments[0], &threshold, error))
    return FALSE;
  g_autofree double *risks = g_new(double, site.n);
  for (size_t i = 0; i < site.n; i++)
    risks[i] = site.view->risks[site.rows[i]];
  const DemurAudit audit =
      demur_audit_fit(joined.risks, joined.labels, joined.n,
                      demur_selector_site_prior(site.selector), risks, site.n);
  g_autofree char *now = demur_task_now(&context->task);
  const DemurAuditRecord record = {arguments[0],    site_name, cohort_name,
                                   audit.intercept, audit.low, audit.high,
                                   audit.tau2,      joined.n,  now};
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", arguments[0]);
  demur_json_string(json, "cohort", cohort_name);
  demur_json_string(json, "site", site_name);
  demur_json_bool(json, "simulated", site.cohort->simulated);
  demur_json_int(json, "n_site_scans", (gint64)site.n);
  write_audit(&audit, &joined, json);
  size_t n_changed;
  if (!compare_verdicts(context, &site, &record, threshold, json, &n_changed, error) ||
      !demur_audits_save(workspace, &record, error))
    return FALSE;
  demur_json_int(json, "n_changed", (gint64)n_changed);
  demur_json_end_object(json);
  if (context->json) {
    demur_context_print_json(context, g_steal_pointer(&json));
    return TRUE;
  }
  g_print("Site '%s'%s, %zu labels (%zu left empty): outcomes differ from risks by %+.4f on "
          "average\n"
          "  intercept %+.3f (95 %% interval %+.3f to %+.3f; sites vary by %.3f)\n"
          "  mean risk of its %zu scans %.4f -> %.4f\n"
          "  expected site error %.4f -> %.4f\n",
          site_name, site.cohort->simulated ? " (simulated data)" : "", joined.n, joined.n_empty,
          audit.observed, audit.intercept, audit.low, audit.high, sqrt(audit.tau2), site.n,
          audit.mean_before, audit.mean_after, audit.error_before, audit.error_after);
  if (threshold != NULL)
    g_print("  %zu verdicts would change at threshold %.6f (--json names them)\n", n_changed,
            threshold->threshold);
  g_print("Kept: `demur assess` uses it for scans of this site.\nFor research use, not a cleared "
          "device.\n");
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {"plan", "choose which scans of a site to label", run_plan},
      {"apply", "learn a site's intercept from labels", run_apply},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_audit = {"audit", "learn from a few labels how a new site differs",
                                          run};
