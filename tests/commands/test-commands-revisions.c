/* The numbers behind each family of methods (report/revisions.h), held beside the family's revision:
 * who changes what a measure is sees here that `report verify` must be told. The table below is made
 * by formula; its numbers are this program's own at that revision. Changed a method? Raise its
 * revision in report/revisions.c and put revision and number in here. Their right values are tested
 * where the methods are. */
#include "commands.h"

#include "report/revisions.h"

#include <math.h>

static const struct {
  int revision;
  double size; /* sum of the absolute numbers in the report; of withholding how many are null */
} held[DEMUR_N_FAMILIES] = {
    [DEMUR_FAMILY_COMPARISONS] = {3, 212.292748286},
    [DEMUR_FAMILY_BINS] = {1, 12867.5361499},
    [DEMUR_FAMILY_SCORES] = {1, 1362.9251492},
    [DEMUR_FAMILY_SITE_ERROR] = {1, 585.121587702},
    [DEMUR_FAMILY_KERNEL] = {1, 399.084016799},
    [DEMUR_FAMILY_FITS] = {2, 6780.45284742},
    [DEMUR_FAMILY_SMOOTH] = {1, 720.859147032},
    [DEMUR_FAMILY_NET_BENEFIT] = {2, 2434.91153563},
    [DEMUR_FAMILY_INTERVALS] = {2, 884.972791745},
    [DEMUR_FAMILY_HETEROGENEITY] = {1, 1},
    [DEMUR_FAMILY_TIMES] = {1, 819.24938542},
    [DEMUR_FAMILY_HOLD_BACK] = {2, 2223.77147665},
    [DEMUR_FAMILY_WATCHES] = {6, 151592.616004},
    [DEMUR_FAMILY_ACCEPTANCES] = {2, 967.463618797},
    [DEMUR_FAMILY_WITHHOLDING] = {5, 5932},
    [DEMUR_FAMILY_COUNTED] = {3, 42291.6666408},
};

static void
add_up(JsonNode *node, const char *where, double size[DEMUR_N_FAMILIES]) {
  if (JSON_NODE_HOLDS_OBJECT(node)) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;
    json_object_iter_init(&iter, json_node_get_object(node));
    while (json_object_iter_next(&iter, &name, &member)) {
      g_autofree char *path = g_strconcat(where, *where != '\0' ? "." : "", name, NULL);
      add_up(member, path, size);
    }
    return;
  }
  if (JSON_NODE_HOLDS_ARRAY(node)) {
    JsonArray *array = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(array); i++) {
      g_autofree char *path = g_strdup_printf("%s[%u]", where, i);
      add_up(json_array_get_element(array, i), path, size);
    }
    return;
  }
  const gboolean null = JSON_NODE_HOLDS_NULL(node);
  if (!null && json_node_get_value_type(node) == G_TYPE_STRING)
    return;
  const DemurReportDifference d = {(char *)where, null ? "null" : "1", "2"};
  for (DemurMethodFamily f = 0; f < DEMUR_N_FAMILIES; f++)
    if (demur_method_family_holds(f, &d))
      size[f] += null ? demur_method_family_row(f)->withholds : fabs(json_node_get_double(node));
}

/* 700 scans of test at six hospitals; some are left without the outcome before the horizon. */
static char *
write_table(const Sandbox *sandbox) {
  g_autoptr(GString) csv = g_string_new(
      "patient_id,site,split,risk,label,outcome_time,outcome_status,outcome_horizon,sex\n");
  for (int i = 0; i < 1400; i++) {
    const double u = fmod(i * 0.754877666, 1), v = fmod(i * 0.569840291, 1),
                 w = fmod(i * 0.819172513, 1);
    const int site = i % 6;
    const double risk = 0.02 + 0.7 * u * u, drift = 0.05 * (site - 2.5);
    const gboolean sick = v < risk * (1 + drift);
    const double years = sick ? 0.2 + 5.7 * w : i < 700 ? 7 : 1 + 9 * w;
    g_string_append_printf(csv, "P%04d,H%d,%s,%.6f,%s,%.3f,%d,6,%s\n", i, site,
                           i < 400   ? "selector_train"
                           : i < 700 ? "tune"
                                     : "test",
                           risk,
                           sick         ? "1"
                           : years >= 6 ? "0"
                                        : "",
                           years, sick,
                           i % 101 == 0 ? "X"
                           : i % 2      ? "F"
                                        : "M");
  }
  return sandbox_write(sandbox, "t.csv", csv->str, -1);
}

/* A watch that has seen the split test, and the plan of an acceptance test at a hospital. */
static void
use_it(const Sandbox *sandbox) {
  g_autofree char *plan = sandbox_path(sandbox, "plan.csv");
  g_autoptr(Run) watch =
      run_demur(sandbox, "watch", "start", "s", "--cohort", "c", "--split", "tune", NULL);
  assert_status(watch, 0);
  g_autoptr(Run) assess = run_demur(sandbox, "assess", "s", "--cohort", "c", NULL);
  assert_status(assess, 0);
  g_autoptr(Run) asked = run_demur(sandbox, "accept", "plan", "s", "--cohort", "c", "--site", "H1",
                                   "--output", plan, NULL);
  assert_status(asked, 0);
}

static void
test_every_family_has_its_numbers(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *table = write_table(sandbox), *pdf = sandbox_path(sandbox, "r.pdf"),
                  *json = sandbox_path(sandbox, "r.json");
  g_autoptr(Run) import =
      run_demur(sandbox, "cohort", "import", "c", table, "--model", "m", "--horizon", "6", NULL);
  assert_status(import, 0);
  g_autoptr(Run) train =
      run_demur(sandbox, "train", "s", "--cohort", "c", "--method", "confidence", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune = run_demur(sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9", NULL);
  assert_status(tune, 0);
  use_it(sandbox);
  g_autoptr(Run) report =
      run_demur(sandbox, "--kernel", "portable", "report", pdf, "--selector", "s", "--cohort", "c",
                "--bootstrap", "40", "--group-by", "site,sex", NULL);
  assert_status(report, 0);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_file(parser, json, &error);
  g_assert_no_error(error);
  JsonNode *root = json_parser_get_root(parser);
  double size[DEMUR_N_FAMILIES] = {0};
  add_up(root, "", size);
  for (DemurMethodFamily f = 0; f < DEMUR_N_FAMILIES; f++) {
    const DemurMethodFamilyRow *row = demur_method_family_row(f);
    g_assert_cmpint(demur_method_revision_of(json_node_get_object(root), f), ==, row->revision);
    if (row->revision == held[f].revision && fabs(size[f] - held[f].size) <= 1e-6 * held[f].size)
      continue;
    g_test_message("%s: revision %d, %.12g; held here: revision %d, %.12g", row->name,
                   row->revision, size[f], held[f].revision, held[f].size);
    g_test_fail();
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/revisions/every family has its numbers",
                  test_every_family_has_its_numbers);
  return g_test_run();
}
