/* How a report says that it was made, read again. Right values: the limits of a family's horizons, by
 * hand. */
#include "report/verify.h"

#include "base/error.h"
#include "cohort/cohort.h"
#include "report/patient.h"

#include <json-glib/json-glib.h>
#include <string.h>

static DemurReportRecipe *
read_text(const char *text, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  return demur_report_recipe_read(json_node_get_object(json_parser_get_root(parser)), error);
}

/* The years are places of arrays in whoever makes the family again. */
static void
years_of_a_family_are_its_horizons(void) {
  static const struct {
    const char *selectors, *years;
    gboolean right;
  } rows[] = {{"\"f-1y\",\"f-6y\"", "1,6", TRUE},      {"\"f-1y\",\"f-7y\"", "1,7", FALSE},
              {"\"f-1y\",\"f-100y\"", "1,100", FALSE}, {"\"f-0y\",\"f-6y\"", "0,6", FALSE},
              {"\"f-6y\",\"f-1y\"", "6,1", FALSE},     {"\"f-1y\"", "1,6", FALSE}};
  g_assert_cmpint(DEMUR_N_YEARS, ==, DEMUR_PATIENT_YEARS);
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = g_strdup_printf(
        "{\"format\": \"%s\", \"request\": {\"kind\": \"family\", \"selectors\": [%s], \"cohort\": "
        "\"c\", \"split\": \"test\", \"paper\": \"a4\", \"family\": \"f\", \"years\": [%s], "
        "\"resample_unit\": null, \"group_by\": null, \"net_benefit_threshold\": null, \"seed\": 1, "
        "\"resamples\": 1, \"bootstrap\": 1, \"bin_size\": 1, \"in_sample\": false, \"coverage\": "
        "0.9}}",
        demur_report_kind_row(DEMUR_REPORT_OF_FAMILY)->format, rows[i].selectors, rows[i].years);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurReportRecipe) recipe = read_text(text, &error);
    if (rows[i].right) {
      g_assert_no_error(error);
      g_assert_cmpint(recipe->years[1], ==, 6);
      continue;
    }
    g_assert_null(recipe);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, "\"years\""));
  }
}

/* The refusal names each format that is read. */
static void
another_format_is_refused(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(read_text("{\"format\": \"other\"}", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  for (DemurReportKind kind = 0; kind < DEMUR_N_REPORT_KINDS; kind++)
    g_assert_nonnull(strstr(error->message, demur_report_kind_row(kind)->format));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/verify/years", years_of_a_family_are_its_horizons);
  g_test_add_func("/report/verify/format", another_format_is_refused);
  return g_test_run();
}
