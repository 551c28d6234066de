/* demur audit plan SELECTOR --cohort C --site S: which scans of a new site to label; demur audit
 * apply SELECTOR FILE: what their labels change. */
#include <math.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/noticed.h"
#include "base/error.h"
#include "base/file-output.h"
#include "tasks/audit.h"

/* Members of one site's plan into an open object. */
static void
write_planned(const DemurAuditPlanned *planned, DemurJson *json) {
  demur_json_string(json, "site", planned->site);
  demur_json_bool(json, "simulated", planned->simulated);
  demur_json_bool(json, "site_trained_selector", planned->site_trained);
  demur_json_int(json, "n_site_scans", (gint64)planned->n_site_scans);
  demur_json_begin_array(json, "scans");
  for (guint i = 0; i < planned->scans->len; i++) {
    const DemurAuditScan *scan = &g_array_index(planned->scans, DemurAuditScan, i);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", scan->scan_id);
    demur_json_string(json, "patient_id", scan->patient_id);
    demur_json_double(json, "risk", scan->risk);
    demur_json_double(json, "score", scan->score);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* One site's members stand in the document itself; those of several in "sites". */
static void
print_plan_json(DemurContext *context, const DemurAuditPlanParams *params,
                const GPtrArray *planned) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", params->selector);
  demur_json_string(json, "cohort", params->cohort);
  demur_json_int(json, "seed", (gint64)context->task.seed);
  if (params->site != NULL) {
    write_planned(planned->pdata[0], json);
  } else {
    demur_json_begin_array(json, "sites");
    for (guint i = 0; i < planned->len; i++) {
      demur_json_begin_object(json, NULL);
      write_planned(planned->pdata[i], json);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
free_planned(gpointer planned) {
  demur_audit_planned_free(planned);
}

/* The plan of the site, or of every site where none is named (owned). */
static GPtrArray *
plan(DemurContext *context, const DemurAuditPlanParams *params, GError **error) {
  if (params->site == NULL)
    return demur_task_audit_plan_sites(&context->task, params, error);
  DemurAuditPlanned *one = demur_task_audit_plan(&context->task, params, error);
  if (one == NULL)
    return NULL;
  GPtrArray *list = g_ptr_array_new_with_free_func(free_planned);
  g_ptr_array_add(list, one);
  return list;
}

static void
print_plan_text(const DemurAuditPlanParams *params, const GPtrArray *planned) {
  g_autofree char *table = demur_audit_planned_table_sites(planned);
  if (params->output == NULL)
    g_print("%s", table);
  for (guint i = 0; i < planned->len; i++) {
    const DemurAuditPlanned *site = planned->pdata[i];
    if (params->output != NULL)
      g_print("%u of %zu scan%s of site '%s'%s to label\n", site->scans->len, site->n_site_scans,
              demur_cli_s(site->n_site_scans), site->site,
              site->simulated ? " (simulated data)" : "");
    /* The table may be on standard output: what is said of it goes elsewhere. */
    for (guint w = 0; w < site->warnings->len; w++) {
      g_autofree char *words = demur_task_warning_words(site->warnings->pdata[w], NULL);
      g_printerr("Note: %s.\n", words);
    }
  }
  if (params->output != NULL)
    g_print("Fill the column label with 0 or 1, then `demur audit apply`\n");
}

static gboolean
run_plan(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *site_name = NULL, *split = NULL, *output = NULL;
  int n_scans = 50;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort with the site's scans", "C"},
      {"site", 0, 0, G_OPTION_ARG_STRING, &site_name, "the site (every site of the split)", "S"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split,
       "only scans of this split (any; without --site: test)", "SPLIT"},
      {"scans", 0, 0, G_OPTION_ARG_INT, &n_scans, "scans to label (50)", "N"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "write the table there", "FILE.csv"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "audit plan takes the name of one selector", error))
    return FALSE;
  if (cohort_name == NULL || n_scans < 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "audit plan needs --cohort C, and at least 1 of --scans");
    return FALSE;
  }
  if (output != NULL && !demur_file_output_check(output, DEMUR_FILE_REPLACE, error))
    return FALSE;
  if (output != NULL)
    demur_context_take_stdout(output);
  const DemurAuditPlanParams params = {arguments[0], cohort_name,     site_name,
                                       split,        (size_t)n_scans, output};
  g_autoptr(GPtrArray) planned = plan(context, &params, error);
  if (planned == NULL)
    return FALSE;
  if (context->json)
    print_plan_json(context, &params, planned);
  else
    print_plan_text(&params, planned);
  return TRUE;
}

/* Members of one site's audit into an open object. */
static void
write_applied(const DemurAuditApplied *applied, DemurJson *json) {
  const DemurAudit *audit = &applied->audit;
  const double interval[] = {audit->low, audit->high};
  demur_json_string(json, "cohort", applied->cohort);
  demur_json_string(json, "site", applied->site);
  demur_json_bool(json, "simulated", applied->simulated);
  demur_json_int(json, "n_site_scans", (gint64)applied->n_site_scans);
  demur_json_int(json, "n_labels", (gint64)audit->n_labels);
  demur_json_int(json, "n_unlabelled", (gint64)applied->n_empty);
  demur_json_int(json, "n_repeated_patients", (gint64)applied->n_repeated);
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
  demur_json_begin_array(json, "changes");
  for (guint i = 0; i < applied->changes->len; i++) {
    const DemurAuditChange *change = &g_array_index(applied->changes, DemurAuditChange, i);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "scan_id", change->scan_id);
    demur_json_string(json, "before", change->accepted ? "red_flag" : "accepted");
    demur_json_string(json, "after", change->accepted ? "accepted" : "red_flag");
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_changed", (gint64)applied->changes->len);
  demur_json_string(json, "replaces", applied->replaced);
}

/* One site's members stand in the document itself; those of several in "sites". */
static void
print_applied_json(DemurContext *context, const char *selector, const GPtrArray *applied,
                   const GPtrArray *noticed) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", selector);
  if (applied->len == 1) {
    write_applied(applied->pdata[0], json);
  } else {
    demur_json_begin_array(json, "sites");
    for (guint i = 0; i < applied->len; i++) {
      demur_json_begin_object(json, NULL);
      write_applied(applied->pdata[i], json);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_noticed_write(json, noticed);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_applied_text(const DemurAuditApplied *applied) {
  const DemurAudit *audit = &applied->audit;
  g_print(
      "Site '%s'%s, %zu label%s (%zu left empty): outcomes differ from risks by %+.4f on average\n"
      "  intercept %+.3f (95 %% interval %+.3f to %+.3f; sites vary by %.3f)\n"
      "  mean risk of its %zu scan%s %.4f -> %.4f\n"
      "  expected site error %.4f -> %.4f\n",
      applied->site, applied->simulated ? " (simulated data)" : "", audit->n_labels,
      demur_cli_s(audit->n_labels), applied->n_empty, audit->observed, audit->intercept, audit->low,
      audit->high, sqrt(audit->tau2), applied->n_site_scans, demur_cli_s(applied->n_site_scans),
      audit->mean_before, audit->mean_after, audit->error_before, audit->error_after);
  if (isfinite(applied->threshold))
    g_print("  %u verdict%s would change at threshold %.6f (--json names them)\n",
            applied->changes->len, demur_cli_s(applied->changes->len), applied->threshold);
  if (applied->replaced != NULL)
    g_print("  in place of the audit of %s (%zu label%s), whose verdicts are out of date now\n",
            applied->replaced, applied->n_replaced_labels, demur_cli_s(applied->n_replaced_labels));
}

static gboolean
run_apply(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL, *columns = NULL;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort with the scans (the plan's)",
       "C"},
      {"columns", 0, 0, G_OPTION_ARG_FILENAME, &columns,
       "a table with the columns column and means: other names for columns", "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "audit apply takes SELECTOR FILE", error))
    return FALSE;
  const DemurAuditApplyParams params = {arguments[0], arguments[1], cohort_name, columns};
  g_autoptr(GPtrArray) noticed = NULL;
  g_autoptr(GPtrArray) applied = demur_task_audit_apply(&context->task, &params, &noticed, error);
  if (applied == NULL)
    return FALSE;
  if (context->json) {
    print_applied_json(context, arguments[0], applied, noticed);
    return TRUE;
  }
  for (guint i = 0; i < applied->len; i++)
    print_applied_text(applied->pdata[i]);
  demur_noticed_print(noticed);
  g_print(
      "Kept: `demur assess` uses %s for scans of %s.\nFor research use, not a cleared device.\n",
      applied->len == 1 ? "it" : "them", applied->len == 1 ? "this site" : "these sites");
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "plan",
       .parameters = "SELECTOR --cohort C [--site S]",
       .summary = "choose which scans of a site, or of every site, to label",
       .description = "One scan a patient, spread over the site's risks and scores. Fill the "
                      "column label with 0 or 1 and give the table to `demur audit apply`.",
       .run = run_plan},
      {.name = "apply",
       .parameters = "SELECTOR FILE",
       .summary = "learn a site's intercept from labels",
       .description = "FILE is the table of `demur audit plan` with labels filled in.",
       .run = run_apply},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_audit = {
    .name = "audit", .summary = "learn from a few labels how a new site differs", .run = run};
