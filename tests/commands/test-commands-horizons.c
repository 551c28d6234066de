/* Several horizons of one model. Right values: the twin cohort that the same tables give when they
 * are imported at the shorter horizon; and the selector of each horizon used by itself. The tables
 * are the shared cases' (nlst), whose risks are exactly right at every year. */
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "--features", "confidence,class,outlier", "--recalibrate", "none"

/* FALSE: the shared data are not there, and the test is skipped. */
static gboolean
import_cases(const Sandbox *sandbox, const char *name, const char *horizon) {
  g_autofree char *persons = demur_test_shared("cases/nlst/persons.csv"),
                  *scores = demur_test_shared("cases/nlst/scores.csv");
  if (persons == NULL || scores == NULL) {
    g_test_skip("the shared cases are not there");
    return FALSE;
  }
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "import", name, "--nlst-persons", persons,
                                "--scores", scores, "--horizon", horizon, "--model", "m", NULL);
  return TRUE;
}

/* Everything that evaluation measures of a selector, as text. */
static char *
evaluated(const Sandbox *sandbox, const char *selector, const char *cohort) {
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", selector, "--cohort", cohort,
                                "--bootstrap", "20", NULL);
  JsonNode *methods = json_object_get_member(root_of(run), "methods");
  g_autofree char *text = json_to_string(methods, FALSE);
  g_auto(GStrv) parts = g_strsplit(text, selector, -1);
  return g_strjoinv("SELECTOR", parts);
}

static void
a_horizon_is_the_cohort_imported_at_it(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "six", "6") || !import_cases(sandbox, "two", "2"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "six", MODEL, "--horizons", "2,6", NULL);
  assert_status(family, 0);
  g_autoptr(Run) twin = train_small(sandbox, "g-2y", "two", MODEL, NULL),
                 whole = train_small(sandbox, "g-6y", "six", MODEL, NULL);
  const struct {
    const char *of_family, *by_itself, *cohort;
  } rows[] = {{"f-2y", "g-2y", "two"}, {"f-6y", "g-6y", "six"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *ours = evaluated(sandbox, rows[i].of_family, "six"),
                    *right = evaluated(sandbox, rows[i].by_itself, rows[i].cohort);
    g_assert_cmpstr(ours, ==, right);
  }
}

/* What takes one selector says so of a family, and which there are. */
static void
one_selector_is_named_where_one_is_taken(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "six", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "six", MODEL, "--horizons", "2,6", NULL);
  assert_status(family, 0);
  static const char *const rows[][8] = {
      {"validate", "f", "--cohort", "six"},
      {"ablate", "f", "--cohort", "six"},
      {"shift", "f", "--cohort", "six", "--mix", "site=1:0.6"},
      {"watch", "start", "f", "--cohort", "six"},
      {"watch", "show", "f"},
      {"audit", "plan", "f", "--cohort", "six", "--scans", "50"},
      {"accept", "plan", "f", "--cohort", "six", "--site", "1"},
      {"chart", "reliability", "--selector", "f", "--cohort", "six", "c.svg"},
      {"dicom", "receive", "received", "--selector", "f"}, /* before it listens */
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    const char *const *words = rows[i];
    g_test_message("%s %s", words[0], words[1]);
    g_autoptr(Run) run = run_demur(sandbox, words[0], words[1], words[2], words[3], words[4],
                                   words[5], words[6], words[7], NULL);
    assert_status(run, 1);
    assert_says(run->err, "f is a family of selectors, one a horizon; this takes one of them: "
                          "f-2y, f-6y");
  }
  g_autoptr(Run) nobody = run_demur(sandbox, "validate", "g", "--cohort", "six", NULL);
  assert_says(nobody->err, "there is no selector g; there are: f-2y, f-6y");
}

/* How many patients of its reference a watch over the selector knows the outcome of. */
static int
watched(const Sandbox *sandbox, const char *selector) {
  g_autoptr(Run) run =
      run_demur(sandbox, "watch", "start", selector, "--cohort", "c", "--split", "test", NULL);
  assert_status(run, 0);
  const char *found = strstr(run->out, "patients of c, ");
  g_assert_nonnull(found);
  return atoi(found + strlen("patients of c, "));
}

/* A scan's risks are shown at every horizon or at none: shown, one would bound the others. Where a
 * selector would have shown its own, it says which horizon held it back. */
static void
check_together(JsonArray *horizons) {
  const guint n_horizons = json_array_get_length(horizons),
              n = json_array_get_length(
                  array_at(json_array_get_object_element(horizons, 0), "verdicts"));
  guint n_shown = 0, n_by_another = 0;
  for (guint i = 0; i < n; i++) {
    guint n_accepted = 0, n_by_itself = 0;
    for (guint h = 0; h < n_horizons; h++) {
      JsonObject *v = json_array_get_object_element(
          array_at(json_array_get_object_element(horizons, h), "verdicts"), i);
      JsonObject *together = find_in(array_at(v, "reason_details"), "kind", "held_together");
      n_accepted += g_str_equal(string_at(v, "verdict"), "accepted");
      n_by_itself += g_str_equal(string_at(v, "verdict"), "red_flag") && together == NULL;
      n_by_another += together != NULL;
      if (together != NULL)
        g_assert_cmpfloat(number_at(together, "value"), !=, h + 1);
      g_assert_true(is_null_at(v, "risk") == g_str_equal(string_at(v, "verdict"), "red_flag"));
    }
    g_assert_true(n_accepted == (n_by_itself == 0 ? n_horizons : 0));
    n_shown += n_accepted > 0;
  }
  for (guint h = 0; h < n_horizons; h++)
    g_assert_cmpuint(
        json_array_get_length(array_at(json_array_get_object_element(horizons, h), "bounds")), ==,
        0);
  g_assert_cmpuint(n_shown, >, n / 4);
  g_assert_cmpuint(n_by_another, >, 0);
}

static void
each_horizon_has_its_thresholds_and_verdicts(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "c", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "c", MODEL, "--horizons", "1-6", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(family), "horizons")), ==, 6);
  g_autoptr(Run) tuned = run_json(sandbox, 0, "tune", "f", "--horizons", "1-6", "--cohort", "c",
                                  "--coverage", "0.8", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(tuned), "horizons")), ==, 6);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "assess", "f", "--horizons", "1-6", "--cohort", "c", NULL);
  JsonArray *horizons = array_at(root_of(run), "horizons");
  g_autofree double *before = NULL;
  for (guint h = 0; h < 6; h++) {
    JsonObject *one = json_array_get_object_element(horizons, h);
    g_autofree char *name = g_strdup_printf("f-%uy", h + 1);
    g_assert_cmpstr(string_at(one, "selector"), ==, name);
    g_assert_cmpfloat(number_at(one, "horizon_years"), ==, h + 1);
    g_assert_cmpint(json_object_get_int_member(one, "years"), ==, h + 1);
    g_autoptr(Run) alone = run_json(sandbox, 0, "assess", name, "--cohort", "c", NULL);
    JsonArray *verdicts = array_at(one, "verdicts"), *right = array_at(root_of(alone), "verdicts");
    const guint n = json_array_get_length(verdicts);
    g_autofree double *risks = g_new(double, n);
    g_assert_cmpuint(n, ==, json_array_get_length(right));
    g_assert_cmpfloat(number_at(one, "coverage"), >, 0.25);
    for (guint i = 0; i < n; i++) {
      JsonObject *v = json_array_get_object_element(verdicts, i);
      g_assert_cmpstr(string_at(v, "verdict"), ==,
                      string_at(json_array_get_object_element(right, i), "verdict"));
      risks[i] = number_at(v, "risk");
      if (before != NULL && isfinite(risks[i]) && isfinite(before[i]))
        g_assert_cmpfloat(risks[i], >=, before[i]); /* yearly risks never fall */
    }
    g_free(before);
    before = g_steal_pointer(&risks);
  }
  check_together(horizons);
  g_assert_cmpint(watched(sandbox, "f-1y"), >, watched(sandbox, "f-6y"));
  /* Its name alone is all of it. */
  g_autoptr(Run) named = run_json(sandbox, 0, "assess", "f", "--cohort", "c", NULL);
  g_assert_cmpstr(named->out, ==, run->out);
  g_autoptr(Run) text =
      run_demur(sandbox, "assess", "f", "--horizons", "1,6", "--cohort", "c", NULL);
  assert_status(text, 0);
  assert_says(text->out, "Within 1 year (f-1y)");
  assert_says(text->out, "Within 6 years (f-6y)");
  assert_says(text->out, "1y red_flag  6y red_flag");
  g_assert_null(strstr(text->out, "at most"));
}

/* How many verdicts of a selector are current. */
static guint
count_current(const Sandbox *sandbox, const char *selector) {
  g_autofree char *path = sandbox_path(sandbox, "v.json");
  g_autoptr(Run) run =
      run_json(sandbox, 0, "export", path, "--cohort", "c", "--selector", selector, NULL);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_file(parser, path, NULL));
  JsonArray *verdicts = array_at(json_node_get_object(json_parser_get_root(parser)), "verdicts");
  guint n = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++)
    n += g_str_equal(string_at(json_array_get_object_element(verdicts, i), "state"), "current");
  return n;
}

/* A verdict rests on the thresholds of all horizons, since each may hold it back. */
static void
anothers_threshold_makes_verdicts_old(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "c", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "c", MODEL, "--horizons", "2,6", NULL),
                 alone = train_small(sandbox, "g-2y", "c", MODEL, NULL);
  static const char *const steps[] = {"tune f-6y --cohort c --coverage 0.5", "tune f-6y --use 0.8",
                                      "selector remove f-6y --force"};
  g_autoptr(Run) tuned = run_line(sandbox, "tune f --cohort c --coverage 0.8"),
                 other = run_line(sandbox, "tune g-2y --cohort c --coverage 0.8");
  assert_status(tuned, 0);
  assert_status(other, 0);
  for (size_t s = 0; s < G_N_ELEMENTS(steps); s++) {
    g_autoptr(Run) ours = run_line(sandbox, "assess f-2y --cohort c"),
                   theirs = run_line(sandbox, "assess g-2y --cohort c");
    assert_status(ours, 0);
    assert_status(theirs, 0);
    g_assert_cmpuint(count_current(sandbox, "f-2y"), >, 0);
    g_autoptr(Run) step = run_line(sandbox, steps[s]);
    assert_status(step, 0);
    g_assert_cmpuint(count_current(sandbox, "f-2y"), ==, 0);
    g_assert_cmpuint(count_current(sandbox, "g-2y"), >, 0);
  }
  /* Alone in the workspace it holds back what it refuses itself. */
  g_autoptr(Run) left = run_json(sandbox, 0, "assess", "f-2y", "--cohort", "c", NULL);
  g_assert_cmpfloat(number_at(root_of(left), "coverage"), >, 0.7);
}

/* Labels for ten scans of each site, each of them 1. */
static void
audit(const Sandbox *sandbox, const char *selector) {
  g_autofree char *path = sandbox_path(sandbox, "audit.csv"), *table = NULL;
  g_autoptr(Run) plan = run_json(sandbox, 0, "audit", "plan", selector, "--cohort", "c", "--scans",
                                 "10", "--output", path, NULL);
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_string_append_printf(text, "%s%s\n", lines[i], i > 0 ? "1" : "");
  g_autofree char *filled = sandbox_write(sandbox, "filled.csv", text->str, -1);
  g_autoptr(Run) applied = run_json(sandbox, 0, "audit", "apply", selector, filled, NULL);
}

/* An audit changes what its selector refuses, and so what the others hold back. */
static void
anothers_audit_makes_verdicts_old(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "c", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "c", MODEL, "--horizons", "2,6", NULL),
                 alone = train_small(sandbox, "g-2y", "c", MODEL, NULL);
  g_autoptr(Run) tuned = run_line(sandbox, "tune f --cohort c --coverage 0.8"),
                 other = run_line(sandbox, "tune g-2y --cohort c --coverage 0.8"),
                 ours = run_line(sandbox, "assess f-2y --cohort c"),
                 theirs = run_line(sandbox, "assess g-2y --cohort c");
  Run *const runs[] = {family, alone, tuned, other, ours, theirs};
  for (size_t i = 0; i < G_N_ELEMENTS(runs); i++)
    assert_status(runs[i], 0);
  g_assert_cmpuint(count_current(sandbox, "f-2y"), >, 0);
  audit(sandbox, "f-6y");
  g_assert_cmpuint(count_current(sandbox, "f-2y"), ==, 0);
  g_assert_cmpuint(count_current(sandbox, "f-6y"), ==, 0);
  g_assert_cmpuint(count_current(sandbox, "g-2y"), >, 0);
}

/* The newest current verdicts of a selector: a line a scan, whether it shows a risk (owned). */
static char *
standing(const Sandbox *sandbox, const char *selector, guint *n_shown) {
  g_autofree char *path = sandbox_path(sandbox, "v.json");
  g_autoptr(Run) run =
      run_json(sandbox, 0, "export", path, "--cohort", "c", "--selector", selector, NULL);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_file(parser, path, NULL));
  JsonArray *verdicts = array_at(json_node_get_object(json_parser_get_root(parser)), "verdicts");
  g_autoptr(GString) text = g_string_new(NULL);
  *n_shown = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    g_assert_cmpstr(string_at(v, "state"), ==, "current");
    const gboolean shown = g_str_equal(string_at(v, "verdict"), "accepted");
    g_string_append_printf(text, "%s %d\n", string_at(v, "scan_id"), shown);
    *n_shown += shown ? 1 : 0;
  }
  return g_strdup(text->str);
}

/* Fails unless every scan has the same standing by all three; returns how many show a risk. */
static guint
shown_together(const Sandbox *sandbox) {
  guint n, n_others;
  g_autofree char *first = standing(sandbox, "f-1y", &n),
                  *second = standing(sandbox, "f-2y", &n_others),
                  *last = standing(sandbox, "f-6y", &n_others);
  g_assert_cmpstr(first, ==, second);
  g_assert_cmpstr(first, ==, last);
  return n;
}

/* One horizon at another coverage would stand beside verdicts of the others that show what it holds
 * back; and taken back alone too. */
static void
a_coverage_is_of_all_horizons(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "c", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "c", MODEL, "--horizons", "1,2,6", NULL);
  assert_status(family, 0);
  static const char *const before[] = {"tune f --cohort c --coverage 0.5",
                                       "tune f --cohort c --coverage 0.8", "assess f --cohort c"};
  for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
    g_autoptr(Run) run = run_line(sandbox, before[i]);
    assert_status(run, 0);
  }
  const guint in_use = shown_together(sandbox);
  static const struct {
    const char *line;
    gboolean fewer; /* than by the thresholds in use */
  } steps[] = {{"assess f-6y --cohort c --coverage 0.5", TRUE},
               {"assess f-2y --cohort c", FALSE},
               {"assess f --horizons 1,2 --cohort c --coverage 0.5", TRUE},
               {"assess --undo wrong", FALSE},
               {"assess --undo wrong", TRUE},
               {"assess --undo wrong", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_autoptr(Run) run = run_line(sandbox, steps[i].line);
    assert_status(run, 0);
    const guint n = shown_together(sandbox);
    g_assert_cmpuint(n, >, 0);
    g_assert_true(steps[i].fewer ? n < in_use : n == in_use);
  }
  g_autoptr(Run) tuned = run_line(sandbox, "tune f-6y --cohort c --coverage 0.6"),
                 back = run_line(sandbox, "tune f-6y --use 0.8"),
                 again = run_line(sandbox, "assess f --cohort c"),
                 refused = run_line(sandbox, "assess f-6y --cohort c --coverage 0.6");
  assert_status(tuned, 0);
  assert_status(back, 0);
  assert_status(again, 0);
  assert_status(refused, 1);
  assert_says(refused->err, "a coverage is one of all that are tuned");
  assert_says(refused->err, "f-1y is not tuned for coverage 0.6");
  g_assert_cmpuint(shown_together(sandbox), ==, in_use);
}

/* Fails unless the command says so, and returns so. */
static void
assert_line(const Sandbox *sandbox, const char *line, int status, const char *says) {
  g_autoptr(Run) run = run_line(sandbox, line);
  if (run->status != status || strstr(status == 0 ? run->out : run->err, says) == NULL)
    g_error("%s: %d, %s%s, not %d, %s", line, run->status, run->out, run->err, status, says);
}

/* The verdicts of a family at all horizons, as text, without its name. */
static char *
verdicts_of(const Sandbox *sandbox, const char *family) {
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", family, "--cohort", "c", NULL);
  JsonArray *horizons = array_at(root_of(run), "horizons");
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint h = 0; h < json_array_get_length(horizons); h++) {
    JsonArray *verdicts = array_at(json_array_get_object_element(horizons, h), "verdicts");
    for (guint i = 0; i < json_array_get_length(verdicts); i++) {
      JsonObject *v = json_array_get_object_element(verdicts, i);
      g_string_append_printf(text, "%s %s %g\n", string_at(v, "scan_id"), string_at(v, "verdict"),
                             number_at(v, "risk"));
    }
  }
  return g_strdup(text->str);
}

/* The file with one thing changed, under another name (owned). */
static char *
write_changed(const Sandbox *sandbox, const char *file, const char *name,
              void (*change)(JsonObject *root)) {
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_file(parser, file, NULL));
  change(json_node_get_object(json_parser_get_root(parser)));
  g_autofree char *text = json_to_string(json_parser_get_root(parser), TRUE);
  return sandbox_write(sandbox, name, text, -1);
}

static void
nothing(JsonObject *root) {
}

static void
take_one_out(JsonObject *root) {
  json_array_remove_element(array_at(root, "members"), 0);
}

static void
change_one(JsonObject *root) {
  json_object_set_boolean_member(json_array_get_object_element(array_at(root, "members"), 1),
                                 "simulated", TRUE);
}

/* One file, one family: the same selectors, by any name; whole or not at all. */
static void
a_family_is_one_file(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (!import_cases(sandbox, "c", "6"))
    return;
  g_autoptr(Run) family = train_small(sandbox, "f", "c", MODEL, "--horizons", "1,6", NULL);
  assert_status(family, 0);
  assert_line(sandbox, "tune f --cohort c --coverage 0.8,0.5", 0, "f-6y");
  g_autofree char *file = sandbox_path(sandbox, "f.json"),
                  *rows = sandbox_path(sandbox, "rows.json");
  g_autoptr(Run)
      exported = run_json(sandbox, 0, "selector", "export", "f", file, NULL),
      with_rows = run_json(sandbox, 0, "selector", "export", "f", rows, "--with-reference", NULL),
      imported = run_json(sandbox, 0, "selector", "import", "g", rows, NULL),
      shown = run_json(sandbox, 0, "selector", "show", "g", NULL),
      text = run_demur(sandbox, "selector", "show", "f", NULL);
  g_assert_cmpstr(string_at(root_of(with_rows), "digest"), ==,
                  string_at(root_of(imported), "digest"));
  g_assert_cmpstr(string_at(root_of(exported), "digest"), !=,
                  string_at(root_of(imported), "digest"));
  JsonArray *members = array_at(root_of(imported), "horizons"),
            *horizons = array_at(root_of(shown), "horizons");
  g_assert_cmpuint(json_array_get_length(horizons), ==, 2);
  for (guint h = 0; h < 2; h++) {
    JsonObject *one = json_array_get_object_element(horizons, h);
    g_assert_cmpfloat(number_at(one, "years"), ==, h == 0 ? 1 : 6);
    g_assert_cmpfloat(number_at(one, "horizon_years"), ==, h == 0 ? 1 : 6);
    g_assert_cmpstr(string_at(one, "name"), ==, h == 0 ? "g-1y" : "g-6y");
    g_assert_cmpstr(string_at(one, "family"), ==, "f");
    g_assert_cmpuint(json_array_get_length(array_at(one, "thresholds")), ==, 0);
    g_assert_cmpstr(string_at(one, "digest"), ==,
                    string_at(json_array_get_object_element(members, h), "digest"));
  }
  assert_says(text->out, "Family 'f': risks within 1, 6 years");
  assert_says(text->out, "f-6y             digest");
  assert_line(sandbox, "tune f --use 0.5", 0, "f-6y");
  assert_line(sandbox, "tune f --use 0.8 --json", 0, "\"horizons\"");
  /* In a workspace of its own it says what the first says, under another name too. */
  g_autofree char *ours = verdicts_of(sandbox, "f");
  assert_line(sandbox, "selector remove f", 1, "of selector f-1y there are");
  assert_line(sandbox, "selector remove f --force", 0, "f-1y, f-6y");
  assert_line(sandbox, "tune g --cohort c --coverage 0.8", 0, "g-6y");
  g_autofree char *theirs = verdicts_of(sandbox, "g");
  g_assert_cmpstr(ours, ==, theirs);
  g_autofree char *same = write_changed(sandbox, file, "same.json", nothing),
                  *less = write_changed(sandbox, file, "less.json", take_one_out),
                  *other = write_changed(sandbox, file, "other.json", change_one);
  const struct {
    const char *name, *file, *option;
    int status;
    const char *says;
  } steps[] = {{"h", less, NULL, 1, "horizon 1, which 'horizons' names, is lacking"},
               {"h", other, NULL, 1, "members[1] was changed after it was written"},
               {"g", file, NULL, 1, "there is a selector g-1y already"},
               {"g", file, "--replace", 1, "selector g-1y has 1 threshold"},
               {"h", same, NULL, 0, "it is not tuned yet"},
               {"h", file, "--replace", 0, "it is not tuned yet"}};
  for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_autoptr(Run) run = run_demur(sandbox, "selector", "import", steps[i].name, steps[i].file,
                                   steps[i].option, NULL);
    assert_status(run, steps[i].status);
    assert_says(steps[i].status == 0 ? run->out : run->err, steps[i].says);
  }
  /* A name is a selector's or a family's. */
  assert_line(sandbox, "train h --cohort c --method confidence", 1, "there is a family h already");
  assert_line(sandbox, "selector remove h-6y", 0, "removed");
  g_autofree char *one = sandbox_path(sandbox, "one.json");
  g_autoptr(Run)
      alone = run_demur(sandbox, "selector", "export", "h-1y", one, NULL),
      single = run_demur(sandbox, "selector", "import", "i", one, NULL),
      taken = run_demur(sandbox, "selector", "import", "i", file, NULL),
      shadows = run_demur(sandbox, "selector", "import", "g", one, NULL),
      part = run_demur(sandbox, "selector", "export", "h", less, NULL),
      over = run_demur(sandbox, "selector", "import", "g", less, "--replace", "--force", NULL);
  assert_status(alone, 0);
  assert_status(single, 0);
  assert_status(taken, 1);
  assert_says(taken->err, "there is a selector i already");
  assert_status(shadows, 1);
  assert_says(shadows->err, "there is a family g already");
  assert_status(part, 0);
  assert_status(over, 1);
  assert_says(over->err, "with a selector g-6y that the file has not");
  assert_line(sandbox, "verify", 0, "");
}

/* The file as a document; parser keeps it. */
static JsonObject *
read_document(JsonParser *parser, const Sandbox *sandbox, const char *name) {
  g_autofree char *path = sandbox_path(sandbox, name);
  g_assert_true(json_parser_load_from_file(parser, path, NULL));
  return json_node_get_object(json_parser_get_root(parser));
}

/* How many scans `assess` shows by a family, and their mean risk at its longest horizon. */
static guint
shown_by_verdicts(const Sandbox *sandbox, double *mean) {
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", "f", "--cohort", "c", NULL);
  JsonArray *horizons = array_at(root_of(run), "horizons"),
            *verdicts = array_at(
                json_array_get_object_element(horizons, json_array_get_length(horizons) - 1),
                "verdicts");
  guint n = 0;
  *mean = 0.0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    if (!g_str_equal(string_at(v, "verdict"), "accepted"))
      continue;
    n++;
    *mean += number_at(v, "risk");
  }
  *mean /= n;
  return n;
}

/* A cohort of n scans at 6 sites with yearly risks and times, small and quick to evaluate; its
 * draws are of a fixed stream. */
static void
import_drawn(const Sandbox *sandbox, int n) {
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label");
  for (int year = 1; year <= 6; year++)
    g_string_append_printf(table, ",risk_year_%d", year);
  g_string_append(table, ",years_to_cancer,years_of_followup\n");
  g_autoptr(GRand) draws = g_rand_new_with_seed(5);
  for (int i = 0; i < n; i++) {
    const double u = g_rand_double(draws), risk = 0.03 + 0.7 * u * u, staying = log1p(-risk) / 6,
                 time = log1p(-g_rand_double(draws)) / staying;
    const gboolean event = time < 6;
    g_string_append_printf(table, "p%d,s%d,%s,%d", i, i % 6,
                           i < 200   ? "selector_train"
                           : i < 300 ? "tune"
                                     : "test",
                           event);
    for (int year = 1; year <= 6; year++)
      g_string_append_printf(table, ",%.6f", -expm1(staying * year));
    if (event)
      g_string_append_printf(table, ",%.3f,%.3f\n", time, time);
    else
      g_string_append(table, ",,6.5\n");
  }
  g_autofree char *path = sandbox_write(sandbox, "drawn.csv", table->str, -1);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "import", "c", path, "--horizon", "6", "--model", "m", NULL);
}

/* The text says of which scans a tuned threshold's counting numbers are, as the JSON has them. */
static void
check_counted_text(const Sandbox *sandbox, JsonObject *three) {
  g_autoptr(Run) text = run_line(sandbox, "evaluate --selector f-3y --cohort c --bootstrap 20");
  JsonArray *at = array_at(json_array_get_object_element(array_at(three, "methods"), 0), "at");
  JsonObject *tuned = json_array_get_object_element(at, json_array_get_length(at) - 1);
  g_assert_cmpstr(string_at(tuned, "threshold_from"), ==, "tune");
  const double n_counted = number_at(tuned, "n_counted"), n = number_at(tuned, "n_accepted");
  g_autofree char *of = g_strdup_printf("tuned to 0.9, of %g scans, of %g accepted", n_counted, n);
  g_assert_cmpfloat(n_counted, !=, n);
  assert_says(text->out, isnan(n_counted) ? "tuned to 0.9, withheld: no such set is near" : of);
  assert_says(text->out, "others at the nearest coverage that may be told");
  g_assert_null(strstr(text->out, "nan"));
}

/* Each horizon as by itself; together what `assess` shows, which judges by another way. */
static void
a_family_is_one_document(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_drawn(sandbox, 2700); /* of 600 what is shown would tell of few */
  g_autoptr(Run) family =
      train_small(sandbox, "f", "c", "--features", "confidence", "--horizons", "3,6", NULL);
  assert_status(family, 0);
  assert_line(sandbox, "tune f --cohort c --coverage 0.9", 0, "f-6y");
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "f", "--cohort", "c",
                                "--bootstrap", "20", NULL),
                 alone = run_json(sandbox, 0, "evaluate", "--selector", "f-3y", "--cohort", "c",
                                  "--bootstrap", "20", NULL);
  JsonObject *three = json_array_get_object_element(array_at(root_of(run), "horizons"), 0);
  g_assert_cmpstr(string_at(three, "selector"), ==, "f-3y");
  check_counted_text(sandbox, three);
  json_object_remove_member(three, "years");
  json_object_remove_member(three, "selector");
  g_autoptr(JsonNode) ours = json_node_alloc();
  json_node_init_object(ours, three);
  g_assert_true(json_node_equal(ours, alone->json));
  double mean;
  const guint n_shown = shown_by_verdicts(sandbox, &mean);
  JsonObject *over = object_at(root_of(run), "over_the_years"),
             *six = json_array_get_object_element(array_at(over, "years"), 5);
  g_assert_cmpfloat(number_at(over, "n_shown"), ==, n_shown);
  g_assert_cmpfloat(number_at(over, "n_scans"), >, n_shown);
  g_assert_cmpfloat(number_at(object_at(six, "shown"), "n"), ==, n_shown);
  demur_assert_close(number_at(object_at(six, "shown"), "mean_risk"), mean, 1e-9, 0);
  g_assert_cmpfloat(number_at(object_at(root_of(run), "multiplicity"), "n_horizons"), ==, 2);
  g_autofree char *pdf = sandbox_path(sandbox, "f.pdf"), *own = sandbox_path(sandbox, "own.pdf");
  g_autoptr(Run) written = run_demur(sandbox, "report", pdf, "--selector", "f", "--cohort", "c",
                                     "--bootstrap", "20", "--paper", "letter", NULL),
                 single = run_demur(sandbox, "report", own, "--selector", "f-6y", "--cohort", "c",
                                    "--bootstrap", "20", "--paper", "letter", NULL),
                 verified = run_demur(sandbox, "report", "verify", pdf, NULL);
  assert_status(written, 0);
  assert_status(single, 0);
  assert_status(verified, 0);
  g_autoptr(JsonParser) all = json_parser_new(), one = json_parser_new();
  JsonObject *document = read_document(all, sandbox, "f.json"),
             *last = json_array_get_object_element(array_at(document, "horizons"), 1);
  json_object_remove_member(last, "years");
  g_autoptr(JsonNode) within = json_node_alloc();
  json_node_init_object(within, last);
  g_assert_nonnull(read_document(one, sandbox, "own.json"));
  g_assert_true(json_node_equal(within, json_parser_get_root(one)));
  /* Pinned: what is tuned later is told, and no difference; a number that was changed is one. */
  assert_line(sandbox, "tune f-3y --cohort c --coverage 0.5", 0, "coverage 0.5");
  g_autoptr(Run) later = run_demur(sandbox, "report", "verify", pdf, NULL);
  assert_status(later, 0);
  assert_says(later->out, "f-3y");
  g_autofree char *path = sandbox_path(sandbox, "f.json"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) parts = g_strsplit(text, "\"n_shown\": ", 2);
  g_autofree char *changed = g_strjoinv("\"n_shown\": 1", parts);
  g_assert_true(g_file_set_contents(path, changed, -1, NULL));
  g_autoptr(Run) wrong = run_demur(sandbox, "report", "verify", pdf, NULL);
  assert_status(wrong, 1);
  assert_says(wrong->out, "over_the_years.n_shown");
  static const struct {
    const char *line, *says;
  } refused[] = {{"evaluate --selector f --selector f-3y --cohort c", "f is a family"},
                 {"evaluate --selector f-3y --selector f --cohort c", "f is a family"},
                 {"evaluate --selector f --cohort c --audited", "--audited measures one selector"}};
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
    assert_line(sandbox, refused[i].line, 2, refused[i].says);
}

/* What is called a family is one: `assess` holds back together by the family that was trained. */
static void
a_family_is_of_one_training(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_drawn(sandbox, 600);
  for (int i = 0; i < 2; i++) {
    g_autoptr(Run) family = train_small(sandbox, i == 0 ? "f" : "g", "c", "--features",
                                        "confidence", "--horizons", "3,6", NULL);
    assert_status(family, 0);
  }
  g_autofree char *ours = sandbox_path(sandbox, "f3.json"),
                  *theirs = sandbox_path(sandbox, "g3.json"),
                  *whole = sandbox_path(sandbox, "g.json");
  const struct {
    const char *words[5];
    int status;
    const char *says;
  } steps[] = {
      {{"export", "f-3y", ours}, 0, ""},
      {{"export", "g-3y", theirs}, 0, ""},
      {{"export", "g", whole}, 0, ""},
      {{"import", "f-3y", theirs, "--replace"}, 1, "selector f-6y was trained as family f"},
      {{"remove", "f-3y"}, 0, ""},
      {{"import", "f-3y", theirs}, 1, "selector f-6y was trained as family f, this one as g"},
      {{"show", "f"}, 0, "risks within 6 years"},
      {{"import", "f-3y", ours}, 0, ""},
      {{"show", "f"}, 0, "risks within 3, 6 years"},
      {{"import", "h", whole}, 0, ""}, /* a whole family under another name */
      {{"show", "h"}, 0, "risks within 3, 6 years"},
      {{"import", "h-3y", ours, "--replace"}, 1, "selector h-6y was trained as family g"},
      {{"import", "h-3y", theirs, "--replace"}, 0, ""},
      {{"import", "i-3y", ours}, 0, ""}, /* nothing beside it */
      {{"import", "i-6y", theirs}, 1, "selector i-3y was trained as family f"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
    const char *words[7] = {"selector"};
    memcpy(words + 1, steps[i].words, sizeof steps[i].words);
    g_autoptr(Run) run = run_words(sandbox, words);
    assert_status(run, steps[i].status);
    assert_says(steps[i].status == 0 ? run->out : run->err, steps[i].says);
  }
  assert_line(sandbox, "train h --cohort c --horizons 1,2", 1, "h-3y was trained as family g");
}

static void
what_has_no_horizons_is_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  const struct {
    const char *option, *value, *more, *most;
    int status;
    const char *says;
  } rows[] = {{"--horizons", "0-3", NULL, NULL, 2, "years from 1 to 6"},
              {"--horizons", "1-7", NULL, NULL, 2, "years from 1 to 6"},
              {"--horizons", "3-2", NULL, NULL, 2, "years from 1 to 6"},
              {"--horizons", "1,1", NULL, NULL, 2, "each once"},
              {"--horizons", "", NULL, NULL, 2, "years from 1 to 6"},
              {"--horizons", "1.5", NULL, NULL, 2, "years from 1 to 6"},
              {"--horizons", "1-6", "--recalibrate", "platt", 2, "could fall below"},
              {"--horizons", "1-6", NULL, NULL, 1, "times of its outcomes"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(Run) run = run_demur(sandbox, "train", "f", "--cohort", "sim", rows[i].option,
                                   rows[i].value, rows[i].more, rows[i].most, NULL);
    assert_status(run, rows[i].status);
    assert_says(run->err, rows[i].says);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/horizons/twin", a_horizon_is_the_cohort_imported_at_it);
  g_test_add_func("/commands/horizons/one-is-taken", one_selector_is_named_where_one_is_taken);
  g_test_add_func("/commands/horizons/verdicts", each_horizon_has_its_thresholds_and_verdicts);
  g_test_add_func("/commands/horizons/another-threshold", anothers_threshold_makes_verdicts_old);
  g_test_add_func("/commands/horizons/another-audit", anothers_audit_makes_verdicts_old);
  g_test_add_func("/commands/horizons/coverage", a_coverage_is_of_all_horizons);
  g_test_add_func("/commands/horizons/file", a_family_is_one_file);
  g_test_add_func("/commands/horizons/document", a_family_is_one_document);
  g_test_add_func("/commands/horizons/one-training", a_family_is_of_one_training);
  g_test_add_func("/commands/horizons/refused", what_has_no_horizons_is_refused);
  return g_test_run();
}
