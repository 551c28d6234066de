/* A held-back risk is not told, and can't be guessed from what is: an attacker who knows 2,500 held
 * back risks with everything that is shown of their scans, in JSON, CSV, text and on the page,
 * guesses those of others with an R^2 of at most .05 (the aim of the project; the verdict alone is
 * the mean). The same attacker finds the risk where it is shown, or what follows it. -m thorough:
 * the attacker knows 5,000, of more training scans, and more are to be guessed. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "commands.h"
#include "guess.h"

#define MOST_GUESSED 0.05

/* What names a scan and not what is said of it, or is the same of all. */
static const char *const names[] = {"scan_id", "patient_id", "created", NULL};

/* How many held-back risks the attacker knows. */
static size_t
n_known(void) {
  return g_test_thorough() ? 5000 : 2500;
}

static double
logit(double p) {
  return log(p / (1.0 - p));
}

/* Rows of the held-back scans: scan_id -> place + 1. */
static GHashTable *
find_held_back(JsonArray *verdicts) {
  GHashTable *rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    if (strcmp(string_at(v, "verdict"), "red_flag") == 0)
      g_hash_table_insert(rows, g_strdup(string_at(v, "scan_id")),
                          GUINT_TO_POINTER(g_hash_table_size(rows) + 1));
  }
  return rows;
}

static gssize
row_of(GHashTable *rows, const char *scan_id) {
  return (gssize)GPOINTER_TO_UINT(g_hash_table_lookup(rows, scan_id)) - 1;
}

static void
add_verdicts(Shown *shown, GHashTable *rows, const char *name, JsonArray *verdicts) {
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonNode *node = json_array_get_element(verdicts, i);
    const gssize row = row_of(rows, string_at(json_node_get_object(node), "scan_id"));
    if (row >= 0)
      shown_add_json(shown, (size_t)row, name, node, names);
  }
}

static void
add_table(Shown *shown, GHashTable *rows, const char *path) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    g_auto(GStrv) fields = g_strsplit(*line, ",", 3);
    const gssize row = fields[0] != NULL ? row_of(rows, fields[0]) : -1;
    if (row >= 0)
      shown_add_text(shown, (size_t)row, "csv", fields[2]);
  }
}

/* The text for people: the lines below a scan's own. */
static void
add_text(Shown *shown, GHashTable *rows, const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  gssize row = -1;
  guint n = 0;
  for (char **line = lines; *line != NULL; line++) {
    if (!g_str_has_prefix(*line, "    ")) {
      g_auto(GStrv) words = g_strsplit_set(*line, " ", -1);
      row = -1;
      for (char **word = words; *word != NULL && row < 0; word++)
        row = **word != '\0' ? row_of(rows, *word) : -1;
      n = 0;
      continue;
    }
    g_autofree char *name = g_strdup_printf("text%u", n++);
    if (row >= 0)
      shown_add_text(shown, (size_t)row, name, *line + 4);
  }
}

/* How each scan was made, as its header says. */
static void
add_headers(const Sandbox *sandbox, Shown *shown, GHashTable *rows) {
  static const char *const columns[] = {
      "slice_thickness_mm", "spacing_mm", "kvp",     "fov_mm", "tube_current_ma", "kernel",
      "manufacturer",       "model_name", "contrast"};
  g_autofree char *path = sandbox_path(sandbox, "cohort.csv"), *text = NULL;
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "export", "sim", path, NULL);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_auto(GStrv) header = g_strsplit(g_strchomp(lines[0]), ",", -1);
  size_t id = 0, n_found = 0;
  while (strcmp(header[id], "scan_id") != 0)
    id++;
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    g_auto(GStrv) fields = g_strsplit(g_strchomp(*line), ",", -1);
    const gssize row = row_of(rows, fields[id]);
    n_found += row >= 0;
    for (size_t f = 0; row >= 0 && header[f] != NULL && fields[f] != NULL; f++)
      for (size_t c = 0; c < G_N_ELEMENTS(columns); c++)
        if (strcmp(header[f], columns[c]) == 0)
          shown_add_text(shown, (size_t)row, columns[c], fields[f]);
  }
  g_assert_cmpuint(n_found, ==, g_hash_table_size(rows));
}

/* The page of one scan says no other reasons. */
static void
check_page(const Sandbox *sandbox, const char *selector, JsonObject *verdict) {
  g_autofree char *path = sandbox_path(sandbox, "page.pdf"),
                  *json_path = sandbox_path(sandbox, "page.json");
  g_autoptr(Run) run =
      run_demur(sandbox, "report", "patient", path, "--scan", string_at(verdict, "scan_id"),
                "--selector", selector, "--cohort", "sim", NULL);
  assert_status(run, 0);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_file(parser, json_path, NULL));
  JsonObject *page = json_node_get_object(json_parser_get_root(parser));
  g_assert_true(is_null_at(page, "risk") && is_null_at(page, "score") &&
                is_null_at(page, "risk_interval"));
  JsonArray *said = array_at(page, "reasons"), *expected = array_at(verdict, "reasons");
  g_assert_cmpuint(json_array_get_length(said), ==, json_array_get_length(expected));
  for (guint i = 0; i < json_array_get_length(said); i++)
    g_assert_cmpstr(json_array_get_string_element(said, i), ==,
                    json_array_get_string_element(expected, i));
}

/* Whether something is said of the scan itself, and not of all. */
static gboolean
has_reason(JsonObject *verdict) {
  JsonArray *reasons = array_at(verdict, "reason_details");
  for (guint i = 0; i < json_array_get_length(reasons); i++) {
    const char *kind = string_at(json_array_get_object_element(reasons, i), "kind");
    if (!g_str_equal(kind, "withheld") && !g_str_equal(kind, "mostly"))
      return TRUE;
  }
  return FALSE;
}

static void
check_selector(const Sandbox *sandbox, const char *selector, gboolean must_tell) {
  g_autofree char *csv = sandbox_path(sandbox, "v.csv"), *json = sandbox_path(sandbox, "v.json");
  g_autoptr(Run) tuned =
      run_json(sandbox, 0, "tune", selector, "--cohort", "sim", "--coverage", "0.3", NULL);
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", selector, "--cohort", "sim", NULL);
  g_autoptr(Run) plain = run_demur(sandbox, "assess", selector, "--cohort", "sim", NULL);
  g_autoptr(Run) as_csv =
      run_json(sandbox, 0, "export", csv, "--cohort", "sim", "--selector", selector, NULL);
  g_autoptr(Run) as_json =
      run_json(sandbox, 0, "export", json, "--cohort", "sim", "--selector", selector, NULL);
  g_autoptr(Run) revealed =
      run_json(sandbox, 0, "assess", selector, "--cohort", "sim", "--reveal", "a test", NULL);
  JsonArray *verdicts = array_at(root_of(run), "verdicts"),
            *told = array_at(root_of(revealed), "verdicts");
  g_autoptr(GHashTable) rows = find_held_back(verdicts);
  const size_t n = g_hash_table_size(rows);
  g_assert_cmpuint(n, >=, n_known() + 500);
  g_autoptr(Shown) shown = shown_new(n);
  add_verdicts(shown, rows, "assess", verdicts);
  add_text(shown, rows, plain->out);
  add_table(shown, rows, csv);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_file(parser, json, NULL));
  add_verdicts(shown, rows, "export",
               array_at(json_node_get_object(json_parser_get_root(parser)), "verdicts"));
  g_autofree double *risks = g_new(double, n), *logits = g_new(double, n);
  size_t n_features, n_said = 0;
  for (guint i = 0; i < json_array_get_length(told); i++) {
    JsonObject *v = json_array_get_object_element(told, i);
    const gssize row = row_of(rows, string_at(v, "scan_id"));
    if (row < 0)
      continue;
    risks[row] = number_at(v, "risk");
    logits[row] = logit(risks[row]);
    JsonObject *held = json_array_get_object_element(verdicts, i);
    n_said += has_reason(held) ? 1 : 0;
    if (row == 0)
      check_page(sandbox, selector, held);
  }
  const double of_risks = shown_guess(shown, risks, n_known(), &n_features),
               of_logits = shown_guess(shown, logits, n_known(), &n_features);
  /* What an image's own header says is no secret of the program's; it may help with the rest. */
  g_autoptr(Shown) headers = shown_new(n);
  add_headers(sandbox, headers, rows);
  add_headers(sandbox, shown, rows);
  size_t n_of_headers, n_of_all;
  const double without = shown_guess(headers, logits, n_known(), &n_of_headers),
               with = shown_guess(shown, logits, n_known(), &n_of_all);
  g_test_message("%s: of %zu held back %zu have a reason; %zu features, R^2 of the risk %.4f, of "
                 "its logit %.4f; by the headers alone %.4f, with them %.4f",
                 selector, n, n_said, n_features, of_risks, of_logits, without, with);
  /* Where the selector reads how scans were made, every statement may tell too much, and none is
   * told; else something is. */
  g_assert_true(n_said > n / 10 || !must_tell);
  g_assert_cmpfloat(of_risks, <=, MOST_GUESSED);
  g_assert_cmpfloat(of_logits, <=, MOST_GUESSED);
  g_assert_cmpfloat(with - without, <=, MOST_GUESSED);
  /* The attacker can guess: what follows the risk, roughly, is found at once. */
  for (size_t i = 0; i < n; i++)
    shown_add(shown, i, "planted", floor(4.0 * logits[i]));
  g_assert_cmpfloat(shown_guess(shown, logits, n_known(), &n_features), >, 0.5);
}

static void
test_held_back_risks_are_not_guessed(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const gboolean whole = g_test_thorough();
  g_autoptr(Run) cohort =
      run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", whole ? "4000" : "2500",
               "--base-train", "1500", "--sites", "20", "--test", whole ? "12000" : "4700", NULL);
  static const struct {
    const char *name, *features;
  } selectors[] = {{"usual", "confidence,class,outlier,corrector"},
                   {"made", "confidence,class,outlier,corrector,acquisition"}};
  for (size_t i = 0; i < G_N_ELEMENTS(selectors); i++) {
    g_autoptr(Run) trained =
        run_json(sandbox, 0, "train", selectors[i].name, "--cohort", "sim", "--epochs", "1",
                 "--datasets-per-epoch", "3200", "--dataset-size", "256", "--average", "1",
                 "--features", selectors[i].features, NULL);
    check_selector(sandbox, selectors[i].name, i == 0);
  }
}

/* A table of patients of one model with yearly risks that are exactly right: the hazard grows with two
 * embeddings, and with time in a way that a third says; 8 % a year leave. */
static void
write_yearly(const Sandbox *sandbox) {
  const struct {
    const char *split;
    size_t n;
  } splits[] = {{"base_train", 600},
                {"selector_train", 2400},
                {"tune", 800},
                {"test", g_test_thorough() ? 7500 : 4300}};
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label,risk_year_1,risk_year_2,"
                                          "risk_year_3,risk_year_4,risk_year_5,risk_year_6,"
                                          "years_to_cancer,years_of_followup,"
                                          "emb_0,emb_1,emb_2,emb_3\n");
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 131, 0, 0);
  size_t id = 0;
  for (size_t s = 0; s < G_N_ELEMENTS(splits); s++)
    for (size_t i = 0; i < splits[s].n; i++, id++) {
      double e[4];
      for (size_t c = 0; c < 4; c++)
        e[c] = demur_random_normal(&random);
      const double hazard = 0.05 * exp(0.8 * e[0] + 0.5 * e[1]), growth = 1.0 + 0.1 * tanh(e[2]),
                   event = pow(-log1p(-demur_random_uniform(&random)) / hazard, 1.0 / growth),
                   left = fmin(8.0, -log1p(-demur_random_uniform(&random)) / 0.08);
      g_string_append_printf(table, "p%zu,%s%zu,%s,", id, splits[s].split, id % 12,
                             splits[s].split);
      for (int year = 1; year <= 6; year++)
        g_string_append_printf(table, ",%.6f", -expm1(-hazard * pow(year, growth)));
      if (event <= left)
        g_string_append_printf(table, ",%.4f,%.4f", event, event);
      else
        g_string_append_printf(table, ",,%.4f", left);
      g_string_append_printf(table, ",%.4f,%.4f,%.4f,%.4f\n", e[0], e[1], e[2], e[3]);
    }
  g_autofree char *path = sandbox_write(sandbox, "yearly.csv", table->str, (gssize)table->len);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "import", "sim", path, "--horizon", "6", "--model", "m", NULL);
}

/* All that a family shows of its held-back scans, at every horizon. own: only whether each refuses by
 * itself, which is what the verdicts are. */
static void
show_family(const Sandbox *sandbox, JsonArray *horizons, GHashTable *rows, Shown *shown,
            Shown *own) {
  for (guint h = 0; h < json_array_get_length(horizons); h++) {
    JsonObject *one = json_array_get_object_element(horizons, h);
    JsonArray *verdicts = array_at(one, "verdicts");
    const char *selector = string_at(one, "selector");
    g_autofree char *csv = sandbox_path(sandbox, "h.csv"), *json = sandbox_path(sandbox, "h.json");
    g_autoptr(Run) as_csv =
        run_json(sandbox, 0, "export", csv, "--cohort", "sim", "--selector", selector, NULL);
    g_autoptr(Run) as_json =
        run_json(sandbox, 0, "export", json, "--cohort", "sim", "--selector", selector, NULL);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_assert_true(json_parser_load_from_file(parser, json, NULL));
    g_autofree char *exported = g_strdup_printf("export-%s", selector);
    add_verdicts(shown, rows, selector, verdicts);
    add_verdicts(shown, rows, exported,
                 array_at(json_node_get_object(json_parser_get_root(parser)), "verdicts"));
    add_table(shown, rows, csv);
    for (guint i = 0; i < json_array_get_length(verdicts); i++) {
      JsonObject *v = json_array_get_object_element(verdicts, i);
      const gssize row = row_of(rows, string_at(v, "scan_id"));
      if (row < 0)
        continue;
      g_assert_cmpstr(string_at(v, "verdict"), ==, "red_flag");
      g_assert_true(is_null_at(v, "risk") && is_null_at(v, "risk_raw") && is_null_at(v, "score"));
      const gboolean by_another =
          find_in(array_at(v, "reason_details"), "kind", "held_together") != NULL;
      shown_add(own, (size_t)row, selector, by_another ? 0.0 : 1.0);
    }
  }
}

/* Of a family all horizons' risks are held back as one: what is shown of a scan at any horizon tells
 * no more of any of its risks than which of them refuse it. By themselves they would: the risk
 * within 1 year, shown, tells that within 6. */
static void
test_another_horizon_tells_no_risk(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  write_yearly(sandbox);
  g_autoptr(Run) trained =
      run_json(sandbox, 0, "train", "f", "--cohort", "sim", "--horizons", "1,6", "--epochs", "1",
               "--datasets-per-epoch", "1600", "--dataset-size", "256", "--average", "1",
               "--features", "confidence,class,outlier", NULL);
  g_autoptr(Run) tuned = run_json(sandbox, 0, "tune", "f", "--horizons", "1,6", "--cohort", "sim",
                                  "--coverage", "0.35", NULL);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "assess", "f", "--horizons", "1,6", "--cohort", "sim", NULL);
  g_autoptr(Run) revealed = run_json(sandbox, 0, "assess", "f", "--horizons", "1,6", "--cohort",
                                     "sim", "--reveal", "a test", NULL);
  JsonArray *horizons = array_at(root_of(run), "horizons"),
            *told = array_at(root_of(revealed), "horizons");
  g_autoptr(GHashTable) rows =
      find_held_back(array_at(json_array_get_object_element(horizons, 0), "verdicts"));
  const size_t n = g_hash_table_size(rows);
  g_assert_cmpuint(n, >=, n_known() + 500);
  g_autoptr(Shown) shown = shown_new(n), own = shown_new(n);
  show_family(sandbox, horizons, rows, shown, own);
  g_autofree double *logits = g_new(double, 2 * n);
  for (guint h = 0; h < 2; h++) {
    JsonArray *verdicts = array_at(json_array_get_object_element(told, h), "verdicts");
    for (guint i = 0; i < json_array_get_length(verdicts); i++) {
      JsonObject *v = json_array_get_object_element(verdicts, i);
      const gssize row = row_of(rows, string_at(v, "scan_id"));
      if (row >= 0)
        logits[h * n + (size_t)row] = logit(number_at(v, "risk"));
    }
  }
  for (guint h = 0; h < 2; h++) {
    size_t n_features;
    const double without = shown_guess(own, logits + h * n, n_known(), &n_features),
                 with = shown_guess(shown, logits + h * n, n_known(), &n_features);
    g_test_message("horizon %u: %zu held back, R^2 of the logit %.4f, by the verdicts alone %.4f",
                   h, n, with, without);
    g_assert_cmpfloat(with - without, <=, MOST_GUESSED);
    /* Shown, another horizon's risk tells it. */
    for (size_t i = 0; h > 0 && i < n; i++)
      shown_add(own, i, "risk", logits[i]);
    g_assert_true(h == 0 || shown_guess(own, logits + h * n, n_known(), &n_features) > 0.5);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/guess/held-back-risks", test_held_back_risks_are_not_guessed);
  g_test_add_func("/commands/guess/another-horizon", test_another_horizon_tells_no_risk);
  return g_test_run();
}
