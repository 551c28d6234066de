/* The watch from the command line. Right values: the contract; a hospital that is another one is an
 * alarm, and what an alarm stops only a person starts again. */
#include "commands.h"

#include <string.h>

#include "support/store.h"

/* A tuned selector s; sim's tuning patients are the reference of a watch. */
static Sandbox *
watched(const char *rule) {
  Sandbox *sandbox = sandbox_new();
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "simulate", "sim", "--scans", "600", "--sites", "8",
               "--base-train", "500", "--tune", "500", "--test", "500", "--quiet", NULL);
  g_autoptr(Run) other = run_json(sandbox, 0, "cohort", "simulate", "other", "--scans", "600",
                                  "--sites", "8", "--base-train", "500", "--tune", "500", "--test",
                                  "900", "--seed", "2", "--outside-shift", "3", "--quiet", NULL);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9", NULL);
  g_autoptr(Run) start = run_json(sandbox, 0, "watch", "start", "s", "--cohort", "sim", "--split",
                                  "tune", "--rule", rule, NULL);
  JsonObject *s = root_of(start);
  g_assert_true(bool_at(s, "simulated"));
  g_assert_cmpfloat(number_at(s, "n_reference"), >, 300);
  JsonObject *limits = object_at(s, "limits");
  double spent = 0.0;
  g_autoptr(GList) names = json_object_get_members(limits);
  for (GList *name = names; name != NULL; name = name->next)
    spent += strcmp(name->data, "calibration") != 0 ? 1.0 / number_at(limits, name->data) : 0.0;
  g_assert_cmpuint(g_list_length(names), ==, 14);
  g_assert_cmpfloat(number_at(limits, "calibration"), ==, number_at(limits, "outcome"));
  g_assert_cmpfloat_with_epsilon(spent, 0.05, 1e-9);
  g_assert_true(json_object_get_null_member(s, "limit")); /* each has its own */
  return sandbox;
}

static guint
count_verdicts(const Run *run, const char *verdict, const char *reason) {
  JsonArray *verdicts = array_at(root_of(run), "verdicts");
  guint n = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *one = json_array_get_object_element(verdicts, i);
    JsonArray *details = array_at(one, "reason_details");
    n += strcmp(string_at(one, "verdict"), verdict) == 0 &&
         (reason == NULL ||
          (json_array_get_length(details) > 0 &&
           strcmp(string_at(json_array_get_object_element(details, 0), "kind"), reason) == 0));
  }
  return n;
}

static JsonObject *
first_watch(const Run *run) {
  return json_array_get_object_element(array_at(root_of(run), "watches"), 0);
}

static JsonObject *
stop_of(JsonObject *object) {
  JsonArray *stops = array_at(object, "stopped_by");
  g_assert_cmpuint(json_array_get_length(stops), >, 0);
  return json_array_get_object_element(stops, 0);
}

/* A report's pages, a blank for each gap (owned); NULL: pdftotext is not installed. */
static char *
pages_of(const Sandbox *sandbox, const char *name) {
  g_autofree char *program = g_find_program_in_path("pdftotext");
  if (program == NULL)
    return NULL;
  g_autofree char *path = sandbox_path(sandbox, name), *text = NULL;
  const char *const words[] = {program, "-layout", path, "-", NULL};
  g_autoptr(GError) error = NULL;
  g_assert_true(
      g_spawn_sync(NULL, (char **)(gsize)words, NULL, 0, NULL, NULL, &text, NULL, NULL, &error));
  g_assert_no_error(error);
  g_autoptr(GRegex) gaps = g_regex_new("[\\s\u00a0]+", 0, 0, NULL);
  return g_regex_replace_literal(gaps, text, -1, 0, " ", 0, NULL);
}

/* u's report as it is now (owned). */
static JsonNode *
report_of_u(const Sandbox *sandbox) {
  g_autoptr(Run) report = run_json(sandbox, 0, "report", "u.pdf", "--selector", "u", "--cohort",
                                   "sim", "--bootstrap", "20", "--resamples", "2", "--quiet", NULL);
  g_autofree char *path = sandbox_path(sandbox, "u.json"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return json_from_string(text, NULL);
}

/* That the alarms of s stop u too is told with all watches, in u's report, and by watches over u that saw nothing. */
static void
assert_is_told(const Sandbox *sandbox) {
  g_autoptr(Run) all = run_json(sandbox, 0, "watch", "show", NULL);
  JsonObject *held = find_in(array_at(root_of(all), "held"), "selector", "u");
  g_assert_cmpstr(string_at(stop_of(held), "selector"), ==, "s");
  g_assert_false(bool_at(stop_of(held), "unsure"));
  g_autoptr(Run) text = run_demur(sandbox, "watch", "show", NULL);
  assert_says(text->out, "Selector 'u' is withheld too. Alarm ");
  g_autoptr(JsonNode) unwatched = report_of_u(sandbox);
  JsonObject *stop = stop_of(json_node_get_object(unwatched));
  g_assert_cmpstr(string_at(stop, "selector"), ==, "s");
  assert_says(string_at(stop, "sentence"), "under another name");
  g_autofree char *pages = pages_of(sandbox, "u.pdf");
  if (pages != NULL) {
    assert_says(pages, "Alarm Watch over Site Signal Since ");
    g_assert_null(strstr(pages, "of the watch over selector"));
  }
  g_autoptr(Run) everywhere = run_json(sandbox, 0, "watch", "start", "u", "--cohort", "sim",
                                       "--split", "tune", "--rule", "note", NULL);
  g_autoptr(Run) site = run_json(sandbox, 0, "watch", "start", "u", "--cohort", "sim", "--split",
                                 "tune", "--site", "H09", NULL);
  g_autoptr(Run) own = run_json(sandbox, 0, "watch", "show", "u", NULL);
  g_autoptr(JsonNode) report = report_of_u(sandbox);
  JsonArray *watches[] = {array_at(root_of(own), "watches"),
                          array_at(json_node_get_object(report), "watches")};
  g_assert_cmpuint(json_array_get_length(array_at(root_of(own), "held")), ==, 0);
  g_assert_false(json_object_has_member(json_node_get_object(report), "stopped_by"));
  for (guint w = 0; w < 4; w++) {
    JsonObject *watch = json_array_get_object_element(watches[w / 2], w % 2);
    g_assert_cmpuint(json_array_get_length(array_at(watch, "alarms")), ==, 0);
    g_assert_true(bool_at(watch, "withheld"));
    g_assert_cmpstr(string_at(stop_of(watch), "selector"), ==, "s");
  }
  g_autoptr(Run) verify = run_json(sandbox, 0, "report", "verify", "u.pdf", NULL);
}

/* What an alarm withholds is withheld under every name: of the file read in again, with its reference scans
 * too, of what was trained under the watched name since, and of that read in under another. */
static void
test_each_name(void) {
  g_autoptr(Sandbox) sandbox = watched("withhold");
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) kept = run_json(sandbox, 0, "selector", "export", "s", "old.json", NULL);
  g_autoptr(Run) rows =
      run_json(sandbox, 0, "selector", "export", "s", "rows.json", "--with-reference", NULL);
  g_autoptr(Run) anew =
      train_small(sandbox, "s", "sim", "--seed", "5", "--replace", "--force", NULL);
  assert_status(anew, 0);
  g_autoptr(Run) exported = run_json(sandbox, 0, "selector", "export", "s", "new.json", NULL);
  const struct {
    const char *name, *file;
  } others[] = {{"s", NULL}, {"t", "new.json"}, {"u", "old.json"}, {"v", "rows.json"}};
  for (guint o = 0; o < G_N_ELEMENTS(others); o++) {
    if (others[o].file != NULL) {
      g_autoptr(Run) import =
          run_json(sandbox, 0, "selector", "import", others[o].name, others[o].file, NULL);
    }
    g_autoptr(Run) tune =
        run_json(sandbox, 0, "tune", others[o].name, "--cohort", "sim", "--coverage", "0.9", NULL);
    g_autoptr(Run) assess = run_json(sandbox, 0, "assess", others[o].name, "--cohort", "sim", NULL);
    g_test_message("%s", others[o].name);
    g_assert_cmpuint(count_verdicts(assess, "accepted", NULL), ==, 0);
    g_assert_cmpuint(count_verdicts(assess, "red_flag", "watch_stopped"), ==, 500);
  }
  /* And it is said of a name that nobody watches. */
  g_autoptr(Run) words = run_demur(sandbox, "watch", "show", "u", NULL);
  assert_says(words->out, "withheld");
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "u", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(show), "stopped_by")), >, 0);
  assert_is_told(sandbox);
}

static void
tune_at_90(const Sandbox *sandbox, const char *name) {
  g_autoptr(Run) run =
      run_json(sandbox, 0, "tune", name, "--cohort", "sim", "--coverage", "0.9", NULL);
}

static void
assert_withheld(const Sandbox *sandbox, const char *name, gboolean withheld) {
  g_test_message("%s", name);
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", name, "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(run, "red_flag", "watch_stopped"), ==, withheld ? 500 : 0);
  g_assert_true((count_verdicts(run, "accepted", NULL) == 0) == withheld);
}

/* Watched is a release that was read in. Its alarms hold the selector it was made of, and another release of
 * that, whatever becomes of the name or of what stands under it; and no other selector. */
static void
test_each_release(void) {
  g_autoptr(Sandbox) sandbox = watched("note");
  static const char *const releases[] = {"r", "w"};
  for (guint r = 0; r < G_N_ELEMENTS(releases); r++) {
    g_autofree char *file = g_strconcat(releases[r], ".json", NULL);
    g_autoptr(Run) export = run_json(sandbox, 0, "selector", "export", "s", file,
                                     r > 0 ? "--with-reference" : NULL, NULL);
    g_autoptr(Run) import = run_json(sandbox, 0, "selector", "import", releases[r], file, NULL);
    tune_at_90(sandbox, releases[r]);
  }
  g_autoptr(Run) unrelated = train_small(sandbox, "unrelated", "sim", "--seed", "5", NULL);
  assert_status(unrelated, 0);
  tune_at_90(sandbox, "unrelated");
  g_autoptr(Run) start = run_json(sandbox, 0, "watch", "start", "r", "--cohort", "sim", "--split",
                                  "tune", "--rule", "withhold", NULL);
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "r", "--cohort", "other", NULL);
  static const char *const then[] = {"as watched", "damaged", "another", "gone"};
  for (guint t = 0; t < G_N_ELEMENTS(then); t++) {
    g_test_message("%s", then[t]);
    if (t == 1) {
      g_assert_cmpint(
          demur_test_store_run(
              sandbox->workspace,
              "UPDATE selector SET document = substr(document, 1, 40) WHERE name = 'r'"),
          ==, 1);
      g_autoptr(Run) own = run_demur(sandbox, "assess", "r", "--cohort", "sim", NULL);
      assert_status(own, 1);
      g_autoptr(Run) words = run_demur(sandbox, "watch", "show", "r", NULL);
      assert_status(words, 0);
      assert_says(words->out, "The selector is damaged");
      assert_says(words->out, "ALARM");
      g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "r", NULL);
      g_assert_true(bool_at(first_watch(show), "selector_unreadable"));
      g_assert_true(bool_at(first_watch(show), "withheld"));
      g_autoptr(Run) all = run_json(sandbox, 0, "watch", "show", NULL);
      g_assert_cmpuint(json_array_get_length(array_at(root_of(all), "watches")), ==, 2);
    } else if (t == 2) {
      g_autoptr(Run) anew =
          train_small(sandbox, "r", "sim", "--seed", "6", "--replace", "--force", NULL);
      assert_status(anew, 0);
    } else if (t == 3) {
      g_autoptr(Run) removed = run_json(sandbox, 0, "selector", "remove", "r", "--force", NULL);
    }
    assert_withheld(sandbox, "s", TRUE);
    assert_withheld(sandbox, "w", TRUE);
    assert_withheld(sandbox, "unrelated", FALSE);
  }
}

/* The watch as an older program began it, which kept no origin. */
static void
forget_origin(const Sandbox *sandbox, int watch) {
  g_autofree char *ask = g_strdup_printf("SELECT document FROM watch WHERE id = %d", watch),
                  *document = demur_test_store_text(sandbox->workspace, ask);
  g_autoptr(GRegex) origin = g_regex_new("\\s*\"origin\": \"[0-9a-f]+\",", (GRegexCompileFlags)0,
                                         (GRegexMatchFlags)0, NULL);
  g_autofree char *older =
      g_regex_replace_literal(origin, document, -1, 0, "", (GRegexMatchFlags)0, NULL);
  g_assert_cmpuint(strlen(older), <, strlen(document));
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, older, -1);
  g_autofree char *change = g_strdup_printf(
      "UPDATE watch SET document = '%s', digest = '%s' WHERE id = %d", older, digest, watch);
  g_assert_cmpint(demur_test_store_run(sandbox->workspace, change), ==, 1);
}

/* A watch that an older program began, over a release that was read in: as long as that can be read its alarms hold what it
 * was made of, and no other. Damaged, or gone, nothing tells what it was made of: whatever may be is held, and that it
 * is not known is said, until a person lifts the alarms; what was trained here since can't be. */
static void
test_older_watch(void) {
  g_autoptr(Sandbox) sandbox = watched("note");
  g_autoptr(Run) export = run_json(sandbox, 0, "selector", "export", "s", "r.json", NULL);
  g_autoptr(Run) import = run_json(sandbox, 0, "selector", "import", "r", "r.json", NULL);
  tune_at_90(sandbox, "r");
  g_autoptr(Run) earlier = train_small(sandbox, "earlier", "sim", "--seed", "5", NULL);
  tune_at_90(sandbox, "earlier");
  g_autoptr(Run) start = run_json(sandbox, 0, "watch", "start", "r", "--cohort", "sim", "--split",
                                  "tune", "--rule", "withhold", NULL);
  forget_origin(sandbox, 2);
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "r", "--cohort", "other", NULL);
  g_autoptr(Run) later = train_small(sandbox, "later", "sim", "--seed", "6", NULL);
  tune_at_90(sandbox, "later");
  for (guint t = 0; t < 3; t++) {
    static const char *const then[] = {"as watched", "damaged", "gone"};
    g_test_message("%s", then[t]);
    if (t == 1)
      g_assert_cmpint(
          demur_test_store_run(
              sandbox->workspace,
              "UPDATE selector SET document = substr(document, 1, 40) WHERE name = 'r'"),
          ==, 1);
    if (t == 2) {
      g_autoptr(Run) removed = run_json(sandbox, 0, "selector", "remove", "r", "--force", NULL);
    }
    assert_withheld(sandbox, "s", TRUE);
    assert_withheld(sandbox, "earlier", t > 0);
    assert_withheld(sandbox, "later", FALSE);
    g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "earlier", NULL);
    g_assert_true(t == 0 || bool_at(stop_of(root_of(show)), "unsure"));
  }
  g_autoptr(Run) words = run_demur(sandbox, "watch", "show", "earlier", NULL);
  assert_says(words->out, "nothing tells whether it was this selector");
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "earlier", NULL);
  JsonArray *stops = array_at(root_of(show), "stopped_by");
  for (guint a = 0; a < json_array_get_length(stops); a++) {
    g_autofree char *id =
        g_strdup_printf("%.0f", number_at(json_array_get_object_element(stops, a), "alarm"));
    g_autoptr(Run) lift = run_json(sandbox, 0, "watch", "lift", id, "--reason", "another", NULL);
  }
  assert_withheld(sandbox, "earlier", FALSE);
}

/* Quiet while patients are those of the reference's hospital; the same scans once more, and a look
 * more, change nothing; another hospital's are an alarm, and nothing new is accepted until somebody
 * says why. */
static void
test_stop_and_lift(void) {
  g_autoptr(Sandbox) sandbox = watched("withhold");
  g_autoptr(Run) quiet = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(quiet, "accepted", NULL), >, 300);
  g_autoptr(Run) one = run_json(sandbox, 0, "watch", "show", "s", "--path", NULL);
  JsonObject *w = first_watch(one);
  g_autoptr(Run) mistyped =
      run_demur(sandbox, "watch", "show", "nobody", NULL); /* is not all clear */
  assert_status(mistyped, 1);
  assert_says(mistyped->err, "there is no selector nobody");
  g_autoptr(Run) never =
      run_demur(sandbox, "watch", "start", "s", "--cohort", "sim", "--alpha", "1e-300", NULL);
  g_assert_cmpint(never->status, !=, 0);
  assert_says(never->err, "alpha");
  g_assert_false(bool_at(w, "withheld"));
  g_assert_cmpuint(json_array_get_length(array_at(w, "alarms")), ==, 0);
  g_assert_cmpfloat(number_at(w, "n_patients") + number_at(w, "n_again"), ==, 500);
  JsonObject *kernel = find_in(array_at(w, "signals"), "signal", "kernel");
  g_assert_cmpfloat(number_at(kernel, "evidence"), <, 280);
  g_assert_true(json_object_get_null_member(w, "limit"));
  g_assert_cmpfloat(number_at(object_at(w, "limits"), "kernel"), ==, number_at(kernel, "limit"));
  g_assert_cmpuint(json_array_get_length(array_at(kernel, "evidence_path")), ==,
                   (guint)number_at(w, "n_patients") / 10); /* one patient's step is not told */
  g_autoptr(Run) again = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_autoptr(Run) two = run_json(sandbox, 0, "watch", "show", "s", "--path", NULL);
  g_assert_cmpstr(one->out, ==, two->out);

  /* Of the assessment that raises it the verdicts are given; the next is stopped. */
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) alarmed = run_json(sandbox, 0, "watch", "show", NULL);
  w = first_watch(alarmed);
  JsonArray *alarms = array_at(w, "alarms");
  const guint n_alarms = json_array_get_length(alarms);
  g_assert_cmpuint(n_alarms, >, 0);
  g_assert_true(bool_at(w, "withheld"));
  g_autoptr(Run) stopped = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(stopped, "accepted", NULL), ==, 0);
  g_assert_cmpuint(count_verdicts(stopped, "red_flag", "watch_stopped"), ==, 500);
  g_autoptr(Run) words = run_demur(sandbox, "assess", "s", "--cohort", "sim", NULL);
  assert_says(words->out, "withheld by the watch since");

  /* Not by looking, not by beginning anew, not without a reason. */
  g_autoptr(Run) anew = run_json(sandbox, 0, "watch", "start", "s", "--cohort", "other", NULL);
  g_assert_cmpfloat(number_at(root_of(anew), "ended_watch"), ==, 1.0);
  g_autoptr(Run) once_more = run_demur(sandbox, "watch", "start", "s", "--cohort", "other", NULL);
  assert_says(once_more->out, "It ends watch 2: ");
  g_autoptr(Run) elsewhere =
      run_json(sandbox, 0, "watch", "start", "s", "--cohort", "other", "--site", "H09", NULL);
  g_assert_true(is_null_at(root_of(elsewhere), "ended_watch"));
  g_autoptr(Run) still = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(still, "accepted", NULL), ==, 0);
  g_autoptr(Run) no_reason = run_demur(sandbox, "watch", "lift", "1", NULL);
  assert_status(no_reason, 2);
  g_autoptr(Run) blank = run_demur(sandbox, "watch", "lift", "1", "--reason", "  ", NULL);
  assert_status(blank, 2);
  g_autoptr(Run) none = run_demur(sandbox, "watch", "lift", "999", "--reason", "x", NULL);
  assert_status(none, 1);
  for (guint a = 0; a < n_alarms; a++) {
    g_autofree char *id = g_strdup_printf("%u", a + 1);
    g_autoptr(Run) lift =
        run_json(sandbox, 0, "watch", "lift", id, "--reason", "new scanner approved", NULL);
    g_autoptr(Run) twice = run_demur(sandbox, "watch", "lift", id, "--reason", "x", NULL);
    assert_status(twice, 1);
  }
  g_autoptr(Run) free = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(free, "accepted", NULL), ==,
                   count_verdicts(quiet, "accepted", NULL));
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
  g_autoptr(Run) log = run_demur(sandbox, "log", NULL);
  assert_says(log->out, "watch-lift:1");
}

/* A rule that notes stops nothing, and a site's watch stops that site alone. */
static void
test_notes(void) {
  g_autoptr(Sandbox) sandbox = watched("note");
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", NULL);
  JsonObject *w = first_watch(show);
  g_assert_cmpuint(json_array_get_length(array_at(w, "alarms")), >, 0);
  g_assert_false(bool_at(w, "withheld"));
  g_autoptr(Run) next = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpuint(count_verdicts(next, "accepted", NULL), >, 300);
  g_autoptr(Run) words = run_demur(sandbox, "watch", "show", NULL);
  assert_says(words->out, "ALARM:");
  /* Of one signal the watch's own line is that one's. */
  g_autoptr(Run) one = run_json(sandbox, 0, "watch", "start", "s", "--cohort", "sim", "--rule",
                                "ignore", "--rule", "kernel=note", NULL);
  g_assert_cmpfloat_with_epsilon(number_at(root_of(one), "limit"), 20.0, 1e-9);
  g_assert_cmpfloat_with_epsilon(number_at(object_at(root_of(one), "limits"), "kernel"), 20.0,
                                 1e-9);
  assert_says(words->out, "patients since");
}

/* Labels from a table: those of a cohort's scans are replaced, and a scan nobody assessed is
 * refused with its line. */
static void
test_labels(void) {
  g_autoptr(Sandbox) sandbox = watched("note");
  g_autoptr(Run) quiet = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  JsonArray *verdicts = array_at(root_of(quiet), "verdicts");
  g_autoptr(GString) table = g_string_new("scan_id,label\n");
  for (guint i = 0; i < json_array_get_length(verdicts); i++)
    g_string_append_printf(table, "%s,%s\n",
                           string_at(json_array_get_object_element(verdicts, i), "scan_id"),
                           i % 2 == 0 ? "1" : "");
  g_autofree char *path = sandbox_write(sandbox, "labels.csv", table->str, -1);
  g_autoptr(Run) kept = run_json(sandbox, 0, "watch", "labels", path, NULL);
  g_assert_cmpfloat(number_at(root_of(kept), "n_labels"), ==, 250);
  g_assert_cmpfloat(number_at(root_of(kept), "n_empty"), ==, 250);
  g_assert_null(strstr(kept->out, "overturn"));
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", NULL);
  JsonObject *outcome = find_in(array_at(first_watch(show), "signals"), "signal", "outcome");
  g_assert_true(bool_at(outcome, "alarm")); /* half of them, in place of one in twenty */
  /* One that overturns what an earlier table said is told; the same again is not. */
  const char *first = string_at(json_array_get_object_element(verdicts, 0), "scan_id");
  g_autofree char *other = g_strdup_printf("scan_id,label\n%s,0\n", first),
                  *other_path = sandbox_write(sandbox, "other.csv", other, -1);
  g_autoptr(Run) overturned = run_demur(sandbox, "watch", "labels", other_path, NULL);
  assert_says(overturned->out, "overturns an earlier one");
  assert_says(overturned->out, first);
  g_autoptr(Run) again = run_demur(sandbox, "watch", "labels", other_path, NULL);
  g_assert_null(strstr(again->out, "overturn"));
  /* Whose they are is checked where the table says it. */
  JsonObject *one = json_array_get_object_element(verdicts, 0);
  const char *patient = string_at(one, "patient_id");
  const struct {
    const char *patient, *scan, *more, *says;
  } rows[] = {{patient, "nobody", "", "line 2: scan 'nobody' was never assessed"},
              {"P-other", first, "", "is another patient's"},
              {patient, first, "again", "line 3: scan"},
              {patient, first, "", NULL}};
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *row = g_strdup_printf("%s,%s,1\n", rows[r].patient, rows[r].scan),
                    *text = g_strconcat("patient_id,scan_id,label\n", row,
                                        *rows[r].more != '\0' ? row : "", NULL),
                    *stray = sandbox_write(sandbox, "stray.csv", text, -1);
    g_autoptr(Run) run = run_demur(sandbox, "watch", "labels", stray, NULL);
    assert_status(run, rows[r].says != NULL ? 1 : 0);
    if (rows[r].says != NULL)
      assert_says(run->err, rows[r].says);
  }
}

/* A chart's last row is the evidence as it is now, of all patients that count. */
static void
assert_ends_now(JsonArray *rows, JsonObject *shown) {
  JsonArray *last = json_array_get_array_element(rows, json_array_get_length(rows) - 1);
  g_assert_cmpint(atoi(json_array_get_string_element(last, 1)), ==, (int)number_at(shown, "n"));
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(json_array_get_string_element(last, 2), NULL),
                                 number_at(shown, "evidence"), 1e-9);
}

/* The report's pages and charts of what became of a selector in use tell what `watch show` tells, of no few
 * patients, and are made again after others came: what came later is not in them. */
static void
test_report(void) {
  g_autoptr(Sandbox) sandbox = watched("withhold");
  g_autoptr(Run) unused = run_demur(sandbox, "chart", "acceptance", "a.svg", "-s", "s", NULL);
  assert_status(unused, 1);
  assert_says(unused->err, "nothing to draw");
  g_autoptr(Run) quiet = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_autoptr(Run) shifted = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "s", "--path", NULL);
  JsonObject *shown = find_in(array_at(first_watch(show), "signals"), "signal", "kernel");
  g_autoptr(Run) chart =
      run_json(sandbox, 0, "chart", "watch-kernel", "kernel.csv", "--selector", "s", NULL);
  JsonArray *rows = array_at(root_of(chart), "rows");
  const guint n = (guint)number_at(shown, "n");
  g_assert_cmpuint(json_array_get_length(rows), >, 20);
  g_assert_cmpuint(json_array_get_length(rows), <=, n / 10);
  JsonArray *first = json_array_get_array_element(rows, 0);
  g_assert_cmpfloat_with_epsilon(
      g_ascii_strtod(json_array_get_string_element(first, 2), NULL),
      json_array_get_double_element(array_at(shown, "evidence_path"),
                                    (guint)atoi(json_array_get_string_element(first, 1)) / 10 - 1),
      1e-9);
  assert_ends_now(rows, shown);
  g_auto(GStrv) told_change = g_strsplit(string_at(shown, "what_changed"), " since ", 2);
  assert_says(string_at(root_of(chart), "alternative_text"), told_change[0]);
  assert_says(string_at(root_of(chart), "alternative_text"), "ALARM");
  g_autoptr(Run) all =
      run_json(sandbox, 0, "chart", "watch-signals", "all.svg", "--selector", "s", NULL);
  g_autoptr(Run) elsewhere = run_demur(sandbox, "chart", "watch-kernel", "k.svg", "--selector", "s",
                                       "--site", "nowhere", NULL);
  assert_status(elsewhere, 1);

  g_autoptr(Run) report = run_json(sandbox, 0, "report", "r.pdf", "--selector", "s", "--cohort",
                                   "sim", "--bootstrap", "20", "--resamples", "2", "--quiet", NULL);
  g_autoptr(Run) lift = run_json(sandbox, 0, "watch", "lift", "1", "--reason", "checked", NULL);
  g_autoptr(Run) later = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) anew = run_json(sandbox, 0, "watch", "start", "s", "--cohort", "other", NULL);
  g_autofree char *pages = pages_of(sandbox, "r.pdf"); /* days there are in words */
  if (pages != NULL)
    g_assert_false(g_regex_match_simple("patients since [0-9]{4}-", pages, 0, 0));
  g_autoptr(Run) verify = run_json(sandbox, 0, "report", "verify", "r.pdf", NULL);
  g_autofree char *path = sandbox_path(sandbox, "r.json"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  JsonObject *watch =
      json_array_get_object_element(array_at(json_node_get_object(root), "watches"), 0);
  JsonObject *kernel = find_in(array_at(watch, "signals"), "signal", "kernel");
  g_assert_true(bool_at(watch, "withheld"));
  g_assert_cmpfloat(number_at(kernel, "evidence"), ==, number_at(shown, "evidence"));
  g_assert_cmpstr(string_at(kernel, "sentence"), ==, string_at(shown, "what_changed"));

  /* A number that somebody changed is found. */
  g_autofree char *place = g_strdup_printf("\"n_patients\": %.0f", number_at(watch, "n_patients"));
  char *at = strstr(text, place);
  g_assert_nonnull(at);
  at[strlen(place) - 1] = at[strlen(place) - 1] == '0' ? '1' : '0';
  g_autofree char *changed = sandbox_write(sandbox, "r.json", text, -1);
  g_autoptr(Run) found = run_demur(sandbox, "report", "verify", "r.pdf", NULL);
  assert_status(found, 1);
  assert_says(found->out, "n_patients");
}

/* Who made the selector is left out and counted under another cohort's name and another spelling too: the
 * same table read in again, with the patients' numbers in small letters; the patients of
 * another simulation, who bear the same numbers, are others. */
static void
test_makers(void) {
  g_autoptr(Sandbox) sandbox = watched("note");
  g_autofree char *path = sandbox_path(sandbox, "sim.csv"), *text = NULL;
  g_autoptr(Run) export = run_demur(sandbox, "cohort", "export", "sim", path, "--quiet", NULL);
  assert_status(export, 0);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(GString) spelled = g_string_new(text);
  g_assert_cmpuint(g_string_replace(spelled, "\nP0", "\np0", 0), >, 1000);
  g_autofree char *other = sandbox_write(sandbox, "copy.csv", spelled->str, -1);
  g_autoptr(Run) import = run_json(sandbox, 0, "cohort", "import", "copy", other, "--model",
                                   "simulated-cnn", "--quiet", NULL);
  g_autoptr(Run) seen =
      run_json(sandbox, 0, "assess", "s", "--cohort", "copy", "--split", "selector_train", NULL);
  g_autoptr(Run) show = run_json(sandbox, 0, "watch", "show", "s", NULL);
  const guint n = json_array_get_length(array_at(root_of(seen), "verdicts"));
  g_assert_cmpuint(n, >, 100);
  g_assert_cmpfloat(number_at(first_watch(show), "n_trained"), ==, n);
  g_assert_cmpfloat(number_at(first_watch(show), "n_patients"), ==, 0);
  g_autoptr(Run) words = run_demur(sandbox, "watch", "show", "s", NULL);
  assert_says(words->out, "of patients who made the selector");
  g_autoptr(Run) others = run_json(sandbox, 0, "assess", "s", "--cohort", "other", NULL);
  g_autoptr(Run) after = run_json(sandbox, 0, "watch", "show", "s", NULL);
  g_assert_cmpfloat(number_at(first_watch(after), "n_trained"), ==, n);
  g_assert_cmpfloat(number_at(first_watch(after), "n_patients"), >, 300);
}

static void
test_usage(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const char *const lines[] = {
      "watch start", "watch start s --rule kernel=stop", "watch start s --range 2,3",
      "watch lift one --reason x", "watch start s --rule ignore",
      /* a number that is given is never the usual one */
      "shift s --cohort sim --mix sex=female:0.7 --bootstrap 0",
      "ablate s --cohort sim --bootstrap 0", "evaluate --cohort sim --bootstrap 0",
      "cohort import c sim.csv --model m --horizon 0", "watch start s --alpha 0"};
  simulate_small(sandbox, "sim");
  for (guint l = 0; l < G_N_ELEMENTS(lines); l++) {
    g_autoptr(Run) run = run_line(sandbox, lines[l]);
    assert_status(run, 2);
  }
  g_autoptr(Run) none = run_demur(sandbox, "watch", "show", NULL);
  assert_status(none, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/watch/stop-and-lift", test_stop_and_lift);
  g_test_add_func("/commands/watch/each-name", test_each_name);
  g_test_add_func("/commands/watch/each-release", test_each_release);
  g_test_add_func("/commands/watch/older-watch", test_older_watch);
  g_test_add_func("/commands/watch/notes", test_notes);
  g_test_add_func("/commands/watch/labels", test_labels);
  g_test_add_func("/commands/watch/report", test_report);
  g_test_add_func("/commands/watch/makers", test_makers);
  g_test_add_func("/commands/watch/usage", test_usage);
  return g_test_run();
}
