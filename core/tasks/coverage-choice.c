#include "tasks/coverage-choice.h"

#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "report/finding.h"

gboolean
demur_task_summary_coverage(const char *text, double *coverage, GError **error) {
  *coverage = 0.0;
  if (text == NULL)
    return TRUE;
  g_autoptr(GString) there = g_string_new(NULL);
  const gboolean number = demur_number_parse(text, strlen(text), coverage);
  for (size_t i = 0; i < DEMUR_N_OPERATING_COVERAGES; i++) {
    if (number && *coverage == demur_operating_coverages[i])
      return TRUE;
    g_string_append_printf(there, "%s%g",
                           i == 0                                ? ""
                           : i + 1 < DEMUR_N_OPERATING_COVERAGES ? ", "
                                                                 : " or ",
                           demur_operating_coverages[i]);
  }
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "--coverage takes %s here, what every method was measured at, not '%s'",
                  there->str, text);
  return FALSE;
}

gboolean
demur_task_chart_coverage(const char *text, const DemurEvaluating *evaluating, double *coverage,
                          GError **error) {
  *coverage = 0.0;
  if (text == NULL)
    return TRUE;
  const DemurMethodResult *selector =
      demur_evaluation_selector(evaluating->evaluation, evaluating->names[0],
                                demur_selector_recalibration(evaluating->selectors[0]) != NULL);
  if (demur_number_parse(text, strlen(text), coverage) &&
      (demur_finding_at(selector, *coverage, FALSE) != NULL ||
       demur_finding_at(selector, *coverage, TRUE) != NULL))
    return TRUE;
  g_autoptr(GString) there = g_string_new(NULL);
  for (size_t i = 0; i < selector->n_at; i++)
    if (!selector->at[i].from_tune ||
        demur_finding_at(selector, selector->at[i].coverage, FALSE) == NULL)
      g_string_append_printf(there, "%s%g", i ? ", " : "", selector->at[i].coverage);
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "--coverage takes one that the selector was measured at (%s), not '%s'; tune it to "
      "have another",
      there->str, text);
  return FALSE;
}
