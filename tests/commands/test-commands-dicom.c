/* From a real CT series to its verdict: dicom import, scores import, assess. Right values: the
 * answers that the README beside the shared DICOM files gives for each folder. Skipped where they
 * are absent, apart from what needs no file. */
#include "commands.h"

#include <math.h>
#include <string.h>

#define EMOTION "1.3.6.1.4.1.14519.5.2.1.6919.4624.595457258110671619366082299348"

static JsonObject *
accepted_of(JsonArray *series, guint *n_accepted) {
  JsonObject *accepted = NULL;
  *n_accepted = 0;
  for (guint i = 0; i < json_array_get_length(series); i++) {
    JsonObject *s = json_array_get_object_element(series, i);
    assert_holds(s, "scan_id,series_uid,study_uid,patient_id,modality,type,accepted,n_slices,"
                    "spacing_mm,thickness_mm,tilt_degrees,manufacturer,model,kernel,site,warnings,"
                    "reason");
    /* Accepted without a reason, or not accepted with one. */
    g_assert_true(bool_at(s, "accepted") == is_null_at(s, "reason"));
    if (bool_at(s, "accepted")) {
      accepted = s;
      ++*n_accepted;
    }
  }
  return accepted;
}

static gboolean
warns(JsonObject *series, const char *part) {
  JsonArray *warnings = array_at(series, "warnings");
  for (guint i = 0; i < json_array_get_length(warnings); i++)
    if (strstr(json_array_get_string_element(warnings, i), part) != NULL)
      return TRUE;
  return FALSE;
}

static const struct {
  const char *folder;
  guint n_series, n_accepted;
  double n_slices, spacing_mm, thickness_mm, tilt_degrees;
  const char *manufacturer, *kernel, *warning, *other_warning;
} real[] = {
    {"dicom/real/siemens-emotion", 1, 1, 18, 2.5, 3, 0, "Siemens", "B30s", "body part",
     "thickness"},
    {"dicom/real/philips-series-choice", 5, 1, 28, 5, 5, 0, "Philips", NULL, "extent", "extent"},
    {"dicom/real/philips-tilt", 1, 1, 54, 2.371, 2.5, -18.5, "Philips", NULL, "tilt", "thickness"},
};

static void
test_real_series_get_the_readme_s_answers(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  for (size_t i = 0; i < G_N_ELEMENTS(real); i++) {
    g_autofree char *folder = demur_test_shared(real[i].folder);
    if (folder == NULL)
      return;
    g_test_message("%s", real[i].folder);
    g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", folder, NULL);
    JsonArray *series = array_at(root_of(run), "series");
    guint n_accepted;
    JsonObject *s = accepted_of(series, &n_accepted);
    g_assert_cmpuint(json_array_get_length(series), ==, real[i].n_series);
    g_assert_cmpuint(n_accepted, ==, real[i].n_accepted);
    g_assert_cmpstr(string_at(s, "modality"), ==, "CT");
    g_assert_cmpfloat(number_at(s, "n_slices"), ==, real[i].n_slices);
    demur_assert_close(number_at(s, "spacing_mm"), real[i].spacing_mm, 0, 5e-4);
    demur_assert_close(number_at(s, "thickness_mm"), real[i].thickness_mm, 0, 1e-9);
    demur_assert_close(number_at(s, "tilt_degrees"), real[i].tilt_degrees, 0, 0.01);
    g_assert_cmpstr(string_at(s, "manufacturer"), ==, real[i].manufacturer);
    if (real[i].kernel != NULL)
      g_assert_cmpstr(string_at(s, "kernel"), ==, real[i].kernel);
    g_assert_true(warns(s, real[i].warning) && warns(s, real[i].other_warning));
    JsonArray *skipped = array_at(root_of(run), "skipped");
    for (guint k = 0; k < json_array_get_length(skipped); k++)
      assert_members(json_array_get_object_element(skipped, k), "path,reason");
    /* What was imported is what the workspace lists, and a second import changes nothing. */
    g_autoptr(Run) before = run_json(sandbox, 0, "dicom", "list", NULL);
    g_autoptr(Run) again = run_json(sandbox, 0, "dicom", "import", folder, NULL);
    g_autoptr(Run) after = run_json(sandbox, 0, "dicom", "list", NULL);
    g_assert_cmpstr(before->out, ==, after->out);
    g_autoptr(Run) show = run_json(sandbox, 0, "dicom", "show", string_at(s, "scan_id"), NULL);
    assert_holds(root_of(show), "scan_id,patient_name,geometry,slices");
    g_assert_cmpuint(json_array_get_length(array_at(root_of(show), "slices")), ==,
                     (guint)real[i].n_slices);
    g_autoptr(Run) plain = run_demur(sandbox, "dicom", "list", NULL);
    assert_status(plain, 0);
    assert_says(plain->out, string_at(s, "scan_id"));
  }
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
  g_assert_cmpfloat(number_at(root_of(verify), "n_series"), ==, 7);
}

/* Nothing to import: exit 1, the one document says why for each file. */
static void
test_a_folder_without_images_says_why(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *text = sandbox_write(sandbox, "notes.txt", "no image", -1);
  g_autoptr(Run) run = run_json(sandbox, 1, "dicom", "import", text, NULL);
  assert_holds(root_of(run), "series,skipped");
  g_assert_cmpuint(json_array_get_length(array_at(root_of(run), "series")), ==, 0);
  JsonArray *skipped = array_at(root_of(run), "skipped");
  g_assert_cmpuint(json_array_get_length(skipped), ==, 1);
  assert_says(string_at(json_array_get_object_element(skipped, 0), "path"), "notes.txt");
  g_autoptr(Run) nothing = run_json(sandbox, 1, "dicom", "import", "no-such-folder", NULL);
}

/* "emb_..=values" of the first test scans of a cohort: real score files hold such a row a scan. */
typedef struct {
  char *header; /* ",emb_0,.." */
  char *rows[3];
  double risks[3];
  char *model;
} Embeddings;

static void
embeddings_clear(Embeddings *e) {
  g_free(e->header);
  g_free(e->model);
  for (size_t i = 0; i < G_N_ELEMENTS(e->rows); i++)
    g_free(e->rows[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Embeddings, embeddings_clear)

static void
embeddings_of(const Sandbox *sandbox, Embeddings *e) {
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "sim", NULL);
  e->model = g_strdup(string_at(root_of(show), "model"));
  g_autoptr(Run) out = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
  g_autofree char *path = sandbox_path(sandbox, "sim.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_auto(GStrv) names = g_strsplit(lines[0], ",", -1);
  for (size_t r = 0; r <= G_N_ELEMENTS(e->rows); r++) {
    g_auto(GStrv) fields = g_strsplit(lines[r == 0 ? 0 : 100 * r], ",", -1);
    GString *row = g_string_new(NULL);
    for (guint f = 0; names[f] != NULL; f++)
      if (g_str_has_prefix(names[f], "emb_"))
        g_string_append_printf(row, ",%s", fields[f]);
    if (r == 0)
      e->header = g_string_free(row, FALSE);
    else
      e->rows[r - 1] = g_string_free(row, FALSE);
  }
}

static Sandbox *
with_selector(void) {
  Sandbox *sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  assert_status(train, 0);
  return sandbox;
}

static JsonObject *
verdict_of(const Run *run, const char *scan_id) {
  JsonObject *v = find_in(array_at(root_of(run), "verdicts"), "scan_id", scan_id);
  if (v == NULL)
    g_error("no verdict for %s", scan_id);
  assert_members(
      v, "scan_id,patient_id,risk,risk_raw,risk_interval,score,threshold,verdict,reasons,reason_"
         "details,state,out_of_date_because");
  const gboolean accepted = strcmp(string_at(v, "verdict"), "accepted") == 0;
  g_assert_true(accepted == (json_array_get_length(array_at(v, "reasons")) == 0));
  return v;
}

static void
test_scores_give_each_series_its_verdict(void) {
  g_autoptr(Sandbox) sandbox = NULL;
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  const char *scan_ids[G_N_ELEMENTS(real)] = {NULL}, *patients[G_N_ELEMENTS(real)] = {NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(real); i++) {
    g_autofree char *folder = demur_test_shared(real[i].folder);
    if (folder == NULL)
      return;
    if (sandbox == NULL)
      sandbox = with_selector();
    g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", folder, NULL);
    guint n_accepted;
    JsonObject *s = accepted_of(array_at(root_of(run), "series"), &n_accepted);
    g_ptr_array_add(texts, g_strdup(string_at(s, "scan_id")));
    scan_ids[i] = texts->pdata[texts->len - 1];
    g_ptr_array_add(texts, g_strdup(string_at(s, "patient_id")));
    patients[i] = texts->pdata[texts->len - 1];
  }
  /* Before any score. */
  g_autoptr(Run) none = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--all", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(real); i++)
    g_assert_cmpstr(string_at(verdict_of(none, scan_ids[i]), "verdict"), ==, "no_score");

  g_auto(Embeddings) e = {0};
  embeddings_of(sandbox, &e);
  g_autofree char *table = g_strdup_printf(
      "series_uid,patient_id,risk%s\n%s,%s,0.02%s\n%s,%s,0.3%s\n%s,%s,0.07%s\n"
      "1.2.3.4,,0.5%s\n%s,somebody else,0.5%s\n",
      e.header, scan_ids[0], patients[0], e.rows[0], scan_ids[1], patients[1], e.rows[1],
      scan_ids[2], patients[2], e.rows[2], e.rows[0], scan_ids[0], e.rows[0]);
  g_autofree char *path = sandbox_write(sandbox, "scores.csv", table, -1);
  g_autoptr(Run) scores = run_json(sandbox, 0, "scores", "import", path, "--model", e.model, NULL);
  assert_holds(root_of(scores), "matched,unmatched,ambiguous,wrong_patient");
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "matched")), ==, 3);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "unmatched")), ==, 1);
  g_assert_cmpstr(json_array_get_string_element(array_at(root_of(scores), "unmatched"), 0), ==,
                  "1.2.3.4");
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "ambiguous")), ==, 0);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "wrong_patient")), ==, 1);
  g_autoptr(Run) again = run_json(sandbox, 0, "scores", "import", path, "--model", e.model, NULL);
  g_assert_cmpfloat(number_at(root_of(again), "n_same"), ==, 3);

  /* Before tune: a score, no verdict. */
  g_autoptr(Run) untuned = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--all", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(real); i++) {
    JsonObject *v = verdict_of(untuned, scan_ids[i]);
    g_assert_cmpstr(string_at(v, "verdict"), ==, "not_tuned");
    g_assert_true(is_null_at(v, "threshold"));
    g_assert_true(isfinite(number_at(v, "score")));
  }
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.7", NULL);
  g_autoptr(Run) all = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--all", NULL);
  static const double risks[] = {0.02, 0.3, 0.07};
  for (size_t i = 0; i < G_N_ELEMENTS(real); i++) {
    JsonObject *v = verdict_of(all, scan_ids[i]);
    g_assert_cmpfloat(number_at(v, "risk"), ==, risks[i]);
    g_assert_cmpstr(string_at(v, "patient_id"), ==, patients[i]);
    const gboolean accepted = number_at(v, "score") >= number_at(v, "threshold");
    g_assert_cmpstr(string_at(v, "verdict"), ==, accepted ? "accepted" : "red_flag");
    g_autoptr(Run) one =
        run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", scan_ids[i], NULL);
    g_assert_cmpstr(string_at(verdict_of(one, scan_ids[i]), "verdict"), ==,
                    string_at(v, "verdict"));
  }
  /* The localizer and the summary pages: a verdict too, with the reason of the import. */
  JsonArray *verdicts = array_at(root_of(all), "verdicts");
  guint n_not_eligible = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++)
    n_not_eligible += strcmp(string_at(json_array_get_object_element(verdicts, i), "verdict"),
                             "not_eligible") == 0
                          ? 1
                          : 0;
  g_assert_cmpuint(json_array_get_length(verdicts), ==, 7);
  g_assert_cmpuint(n_not_eligible, ==, 4);
  /* Coverage = accepted / (eligible and scored). */
  g_assert_cmpfloat(number_at(root_of(all), "n_scored"), ==, 3);
  g_assert_cmpfloat(number_at(root_of(all), "coverage"), ==,
                    number_at(root_of(all), "n_accepted") / 3);

  /* Scores of another model only. */
  g_autofree char *table2 =
      g_strdup_printf("scan_id,risk%s\n%s,0.4%s\n", e.header, scan_ids[0], e.rows[0]);
  g_autofree char *path2 = sandbox_write(sandbox, "other.csv", table2, -1);
  g_autoptr(Sandbox) fresh = with_selector();
  g_autofree char *folder = demur_test_shared(real[0].folder);
  g_autoptr(Run) in = run_json(fresh, 0, "dicom", "import", folder, NULL);
  g_autoptr(Run) other = run_json(fresh, 0, "scores", "import", path2, "--model", "another", NULL);
  g_autoptr(Run) refused =
      run_json(fresh, 1, "assess", "s", "--reveal", "a test", "--scan", scan_ids[0], NULL);
  assert_says(refused->err, "another");
}

static void
test_ids_are_text_and_shared_uids_ambiguous(void) {
  g_autofree char *zeros = demur_test_shared("dicom/derived/25_leading_zero_id");
  g_autofree char *phases = demur_test_shared("dicom/derived/21_two_phases_one_series");
  if (zeros == NULL || phases == NULL)
    return;
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", zeros, NULL);
  JsonObject *s = json_array_get_object_element(array_at(root_of(in), "series"), 0);
  g_assert_cmpstr(string_at(s, "patient_id"), ==, "000123");
  const char *uid = string_at(s, "series_uid");
  static const struct {
    const char *patient;
    guint matched, wrong;
  } rows[] = {{"123", 0, 1}, {"0123", 0, 1}, {"000123", 1, 0}, {"", 1, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *table =
        g_strdup_printf("series_uid,patient_id,risk\n%s,%s,0.5\n", uid, rows[i].patient);
    g_autofree char *path = sandbox_write(sandbox, "scores.csv", table, -1);
    /* A file of which no row is paired has failed, and says which and why all the same. */
    g_autoptr(Run) run = run_json(sandbox, rows[i].matched > 0 ? 0 : 1, "scores", "import", path,
                                  "--model", "m", NULL);
    g_assert_cmpuint(json_array_get_length(array_at(root_of(run), "matched")), ==, rows[i].matched);
    g_assert_cmpuint(json_array_get_length(array_at(root_of(run), "wrong_patient")), ==,
                     rows[i].wrong);
  }
  g_autoptr(Sandbox) second = sandbox_new();
  g_autoptr(Run) two = run_json(second, 0, "dicom", "import", phases, NULL);
  JsonArray *series = array_at(root_of(two), "series");
  g_assert_cmpuint(json_array_get_length(series), ==, 2);
  const char *shared = string_at(json_array_get_object_element(series, 0), "series_uid");
  g_autofree char *number_two = g_strconcat(shared, "#2", NULL);
  g_assert_nonnull(find_in(series, "scan_id", shared));
  g_assert_nonnull(find_in(series, "scan_id", number_two));
  g_autofree char *by_uid = g_strdup_printf("series_uid,risk\n%s,0.5\n", shared);
  g_autofree char *path = sandbox_write(second, "by-uid.csv", by_uid, -1);
  g_autoptr(Run) ambiguous = run_json(second, 1, "scores", "import", path, "--model", "m", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(ambiguous), "ambiguous")), ==, 1);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(ambiguous), "matched")), ==, 0);
  g_autofree char *by_scan = g_strdup_printf("scan_id,risk\n%s,0.5\n", number_two);
  g_autofree char *path2 = sandbox_write(second, "by-scan.csv", by_scan, -1);
  g_autoptr(Run) paired = run_json(second, 0, "scores", "import", path2, "--model", "m", NULL);
  g_assert_cmpstr(json_array_get_string_element(array_at(root_of(paired), "matched"), 0), ==,
                  number_two);
}

static void
test_faulty_scores_are_refused(void) {
  g_autofree char *folder = demur_test_shared("dicom/real/siemens-emotion");
  if (folder == NULL)
    return;
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", folder, NULL);
  static const struct {
    const char *bytes, *says;
  } rows[] = {
      {"", "empty"},
      {"series_uid,risk\n", "no row"},
      {"risk\n0.5\n", "series_uid or scan_id"},
      {"series_uid\n" EMOTION "\n", "risk"},
      {"series_uid,risk\n" EMOTION ",1.2\n", "line 2"},
      {"series_uid,risk\n" EMOTION ",nan\n", "line 2"},
      {"series_uid,risk\n" EMOTION ",\n", "line 2"},
      {"series_uid,risk\n" EMOTION "\n", "line 2"},
      {"series_uid,risk\n,0.5\n", "line 2"},
      {"series_uid,risk\n" EMOTION ",0.5\n" EMOTION ",0.5\n", "twice"},
      {"series_uid,risk,risk_year_6\n" EMOTION ",0.5,0.6\n", "risk_year_6"},
      {"series_uid,risk,emb_0\n" EMOTION ",0.5,nan\n", "line 2"},
      {"series_uid,risk,emb_1\n" EMOTION ",0.5,1\n", "emb_"},
      {"series_uid,risk,risk\n" EMOTION ",0.5,0.5\n", "twice"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = sandbox_write(sandbox, "scores.csv", rows[i].bytes, -1);
    g_autoptr(Run) run = run_json(sandbox, 1, "scores", "import", path, "--model", "m", NULL);
    assert_members(root_of(run), "error");
    assert_says(run->err, rows[i].says);
    assert_says(run->err, "scores.csv");
  }
  /* Sybil's file, which names no scan. */
  static const struct {
    const char *bytes;
    int status;
  } sybil[] = {
      {"{\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]]}", 0},
      {"{\"data\": {\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]]}, \"statusCode\": 200}",
       0},
      {"{\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05]]}", 1},
      {"{\"predictions\": [[0.01, 0.02, 0.03, 0.04, 0.05, 1.06]]}", 1},
      {"{\"predictions\": [[0.1,0.1,0.1,0.1,0.1,0.1], [0.1,0.1,0.1,0.1,0.1,0.1]]}", 1},
      {"{\"predictions\": []}", 1},
      {"[]", 1},
      {"not json", 1},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(sybil); i++) {
    g_autofree char *path = sandbox_write(sandbox, "prediction_scores.json", sybil[i].bytes, -1);
    g_autoptr(Run) run = run_json(sandbox, sybil[i].status, "scores", "import", path, "--model",
                                  "sybil", "--scan", EMOTION, NULL);
  }
  /* Another value for a scan that has one: only when asked. */
  g_autofree char *a = sandbox_write(sandbox, "a.csv", "scan_id,risk\n" EMOTION ",0.5\n", -1);
  g_autofree char *b = sandbox_write(sandbox, "b.csv", "scan_id,risk\n" EMOTION ",0.6\n", -1);
  g_autoptr(Run) first = run_json(sandbox, 0, "scores", "import", a, "--model", "m", NULL);
  g_autoptr(Run) kept = run_json(sandbox, 1, "scores", "import", b, "--model", "m", NULL);
  g_autoptr(Run) replaced =
      run_json(sandbox, 0, "scores", "import", b, "--model", "m", "--replace", NULL);
  g_assert_cmpfloat(number_at(root_of(replaced), "n_replaced"), ==, 1);
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/dicom/real", test_real_series_get_the_readme_s_answers);
  g_test_add_func("/commands/dicom/no-images", test_a_folder_without_images_says_why);
  g_test_add_func("/commands/dicom/verdicts", test_scores_give_each_series_its_verdict);
  g_test_add_func("/commands/dicom/ids", test_ids_are_text_and_shared_uids_ambiguous);
  g_test_add_func("/commands/dicom/faulty-scores", test_faulty_scores_are_refused);
  return g_test_run();
}
