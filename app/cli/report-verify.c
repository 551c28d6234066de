/* demur report verify FILE.pdf: makes the report again from the workspace and says what differs
 * from the PDF and the JSON that are there. */
#include <string.h>

#include "app/cli/command.h"
#include "app/cli/report-parts.h"
#include "base/error.h"
#include "app/cli/language.h"
#include "tasks/report-verify.h"

#define MOST_SHOWN 20 /* differences in print; --json holds them all */

static void
print_result(DemurContext *context, const char *path, const DemurReportCheck *check) {
  const GPtrArray *all = check->differences;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "pdf", path);
    demur_json_string(json, "json", check->json_path);
    demur_json_bool(json, "verified", all->len == 0);
    demur_json_int(json, "seed", (gint64)context->task.seed);
    demur_json_begin_array(json, "differences");
    for (guint i = 0; i < all->len; i++) {
      const DemurReportDifference *d = all->pdata[i];
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "where", d->where);
      demur_json_string(json, "written", d->written);
      demur_json_string(json, "found", d->found);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    demur_json_bool(json, "rounded", check->rounded);
    demur_json_bool(json, "pages_compared", check->pages_compared);
    demur_json_begin_object(json, "kernel");
    demur_json_string(json, "written", check->written_kernel);
    demur_json_string(json, "found", check->kernel);
    demur_json_end_object(json);
    demur_json_begin_array(json, "methods_changed");
    for (guint i = 0; i < check->methods_changed->len; i++)
      demur_json_string(json, NULL, check->methods_changed->pdata[i]);
    demur_json_end_array(json);
    demur_json_begin_array(json, "since_then");
    for (guint i = 0; i < check->since->len; i++)
      demur_json_string(json, NULL, check->since->pdata[i]);
    demur_json_end_array(json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  for (guint i = 0; i < check->since->len; i++)
    g_print("since then: %s\n", (const char *)check->since->pdata[i]);
  if (check->rounded)
    g_print("numbers are equal within 1e-9, not in every digit: made on another processor (kernel "
            "%s, here %s)\n",
            check->written_kernel != NULL ? check->written_kernel : "not recorded", check->kernel);
  for (guint i = 0; i < MIN(all->len, MOST_SHOWN); i++) {
    const DemurReportDifference *d = all->pdata[i];
    g_print("differs: %s\n", d->where);
    if (d->written != NULL)
      g_print("  in the report: %s\n", d->written);
    if (d->found != NULL)
      g_print("  found now:     %s\n", d->found);
    if (d->written != NULL && d->found == NULL && strchr(d->where, '[') != NULL)
      g_print("  found now:     nothing\n");
  }
  if (all->len > MOST_SHOWN)
    g_print("and %u more (--json lists them all)\n", all->len - MOST_SHOWN);
  if (all->len == 0 && check->pages_compared)
    g_print("Verified: every number of %s, and the pages of %s, are what the workspace gives.\n",
            check->json_path, path);
  else if (all->len == 0)
    g_print("Verified: %s names %s, and what was compared of it is what the workspace gives.\n",
            path, check->json_path);
}

gboolean
demur_cli_report_verify(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {{NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "report verify takes one FILE.pdf", error))
    return FALSE;
  g_autoptr(DemurReportCheck) check =
      demur_task_report_verify(&context->task, arguments[0], demur_cli_language, error);
  if (check == NULL)
    return FALSE;
  print_result(context, arguments[0], check);
  if (check->differences->len == 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "%s is not what the workspace gives: %u %s",
              arguments[0], check->differences->len,
              check->differences->len == 1 ? "difference" : "differences");
  return FALSE;
}
