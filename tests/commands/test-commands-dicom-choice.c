/* Which series of a study is assessed: over several imports, by changed rules, by a person. Right
 * values follow from the images written. */
#include "commands.h"
#include "dicom/dicom-fixture.h"

/* A series of n slices 2.5 mm apart below the sandbox; its folder (owned). */
static char *
write_series(const Sandbox *sandbox, const char *uid, const char *thickness, int n,
             const char *patient) {
  char *folder = sandbox_path(sandbox, uid);
  g_mkdir(folder, 0700);
  for (int k = 0; k < n; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *name = g_strdup_printf("%03d.dcm", k);
    image.series_uid = uid;
    image.thickness = thickness;
    if (patient != NULL && k > 0)
      image.patient_id = patient;
    image.acquisition_number = (gint64)strlen(uid); /* SOPInstanceUIDs of their own */
    fixture_save(&image, folder, name);
  }
  return folder;
}

static void
import(const Sandbox *sandbox, const char *folder) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", folder, NULL);
}

/* scan_id of the one series of the list that is to be assessed (owned). */
static char *
accepted(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(run), "series");
  char *found = NULL;
  for (guint i = 0; i < json_array_get_length(series); i++) {
    JsonObject *one = json_array_get_object_element(series, i);
    if (bool_at(one, "accepted")) {
      g_assert_null(found);
      found = g_strdup(string_at(one, "scan_id"));
    }
  }
  return found;
}

static char *
reason_of(const Sandbox *sandbox, const char *scan_id) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "show", scan_id, NULL);
  return g_strdup(is_null_at(root_of(run), "reason") ? "" : string_at(root_of(run), "reason"));
}

static void
assert_accepted(const Sandbox *sandbox, const char *scan_id) {
  g_autofree char *found = accepted(sandbox);
  g_assert_cmpstr(found, ==, scan_id);
}

static void
test_one_series_a_study_over_several_imports(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *thick = write_series(sandbox, "1.1", "5", 12, NULL);
  g_autofree char *thin = write_series(sandbox, "1.22", "2.5", 12, NULL);
  g_autofree char *thinnest = write_series(sandbox, "1.333", "1", 12, NULL);
  import(sandbox, thick);
  assert_accepted(sandbox, "1.1");
  import(sandbox, thin);
  assert_accepted(sandbox, "1.22");
  g_autofree char *reason = reason_of(sandbox, "1.1");
  assert_says(reason, "series 1.22 of the study is preferred (its slices are thinner)");
  /* Again and in another order: the same. */
  import(sandbox, thick);
  assert_accepted(sandbox, "1.22");
  /* Once a score of the study is known, the choice stays. */
  g_autofree char *table = sandbox_write(sandbox, "s.csv", "series_uid,risk\n1.22,0.1\n", -1);
  g_autoptr(Run) scored = run_json(sandbox, 0, "scores", "import", table, "--model", "m", NULL);
  import(sandbox, thinnest);
  assert_accepted(sandbox, "1.22");
  g_autofree char *late = reason_of(sandbox, "1.333");
  assert_says(late, "series 1.22 of the study was chosen before, and a score is known");
  /* The one chosen turns out not to be eligible: none is assessed then. */
  g_autoptr(Run) strict = run_json(sandbox, 0, "dicom", "import", thin, "--set", "thick=2", NULL);
  g_autofree char *none = accepted(sandbox);
  g_assert_null(none);
}

static void
test_a_person_s_choice_keeps_both_verdicts(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *thick = write_series(sandbox, "1.1", "6", 12, NULL); /* over 5 mm */
  g_autofree char *thin = write_series(sandbox, "1.22", "2.5", 12, NULL);
  import(sandbox, thick);
  import(sandbox, thin);
  assert_accepted(sandbox, "1.22");
  g_autoptr(Run) chosen = run_json(sandbox, 0, "dicom", "choose", "1.1", "--reason",
                                   "the thin one holds its breath badly", NULL);
  JsonObject *overrule = object_at(root_of(chosen), "overrule");
  g_assert_true(bool_at(root_of(chosen), "accepted"));
  g_assert_false(bool_at(root_of(chosen), "eligible"));
  g_assert_cmpstr(string_at(overrule, "reason"), ==, "the thin one holds its breath badly");
  g_assert_cmpstr(string_at(overrule, "replaced"), ==, "1.22");
  g_assert_false(bool_at(object_at(overrule, "by_rules"), "eligible"));
  assert_says(string_at(object_at(overrule, "by_rules"), "reason"), "slices too thick: 6 mm");
  assert_accepted(sandbox, "1.1");
  g_autofree char *reason = reason_of(sandbox, "1.22");
  assert_says(reason, "a person chose series 1.1 of the study instead");
  import(sandbox, thin); /* a later import does not undo it */
  import(sandbox, thick);
  assert_accepted(sandbox, "1.1");
  g_autoptr(Run) shown = run_json(sandbox, 0, "dicom", "show", "1.1", NULL);
  assert_says(string_at(object_at(object_at(root_of(shown), "overrule"), "by_rules"), "reason"),
              "slices too thick");
  g_autoptr(Run) back =
      run_json(sandbox, 0, "dicom", "choose", "1.22", "--reason", "the thin one after all", NULL);
  assert_accepted(sandbox, "1.22");
}

static void
test_what_no_person_may_choose(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *mixed = write_series(sandbox, "1.1", "2.5", 12, "P2");
  import(sandbox, mixed);
  g_autofree char *none = accepted(sandbox);
  g_assert_null(none);
  g_autoptr(Run) safety =
      run_json(sandbox, 1, "dicom", "choose", "1.1", "--reason", "because", NULL);
  assert_says(safety->err, "more than one patient");
  g_autoptr(Run) silent = run_line(sandbox, "dicom choose 1.1");
  assert_status(silent, 2);
  g_autoptr(Run) blank = run_json(sandbox, 2, "dicom", "choose", "1.1", "--reason", "  ", NULL);
  g_autoptr(Run) absent = run_json(sandbox, 1, "dicom", "choose", "9.9", "--reason", "x", NULL);
}

static void
test_rules_can_be_changed_and_are_kept_with_the_series(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *few = write_series(sandbox, "1.1", "2.5", 6, NULL);
  import(sandbox, few);
  g_autofree char *reason = reason_of(sandbox, "1.1");
  assert_says(reason, "too few slices: 6 (at least 10)");
  g_autofree char *rules =
      sandbox_write(sandbox, "rules", "# ours\nfew-slices = 5 # short phantoms\n\n", -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", few, "--rules", rules, NULL);
  assert_accepted(sandbox, "1.1");
  g_autoptr(Run) shown = run_json(sandbox, 0, "dicom", "show", "1.1", NULL);
  JsonArray *changed = array_at(root_of(shown), "rules_changed");
  g_assert_cmpuint(json_array_get_length(changed), ==, 1);
  g_assert_cmpstr(json_array_get_string_element(changed, 0), ==, "few-slices=refuse:5");
  static const struct {
    const char *change;
    int status;
  } changes[] = {{"few-slices=warn", 0},     {"few-slices=warn:7", 0}, {"few-slices=off", 0},
                 {"few-slices", 2},          {"few-slices=", 2},       {"few-slices=-1", 2},
                 {"few-slices=warn:5:6", 2}, {"few-slices=5:warn", 2}, {"no-such=5", 2},
                 {"two-patients=3", 2},      {"few-slices=nan", 2},    {"few-slices=0x10", 2}};
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_autoptr(Run) one = run_json(sandbox, changes[i].status, "dicom", "import", few, "--set",
                                  changes[i].change, NULL);
  }
  g_autofree char *bad = sandbox_write(sandbox, "bad", "few-slices=5\nlossy=maybe\n", -1);
  g_autoptr(Run) refused = run_json(sandbox, 1, "dicom", "import", few, "--rules", bad, NULL);
  assert_says(refused->err, "bad, line 2");
  g_autoptr(Run) listed = run_json(sandbox, 0, "dicom", "rules", "--set", "lossy=warn", NULL);
  JsonObject *lossy = find_in(array_at(root_of(listed), "rules"), "rule", "lossy");
  g_assert_cmpstr(string_at(lossy, "action"), ==, "warn");
}

static void
test_a_site_map_names_the_site(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *folder = demur_test_shared("dicom/real/philips-tilt");
  if (folder == NULL)
    return;
  g_autoptr(Run) before = run_json(sandbox, 0, "dicom", "import", folder, NULL);
  JsonObject *series = json_array_get_object_element(array_at(root_of(before), "series"), 0);
  const char *scan_id = string_at(series, "scan_id");
  g_autoptr(Run) shown = run_json(sandbox, 0, "dicom", "show", scan_id, NULL);
  JsonObject *acquisition = object_at(root_of(shown), "acquisition");
  assert_holds(acquisition, "manufacturer_raw,model_family,kernel_family,kernel_class,kvp,"
                            "exposure_mas,contrast,fov_mm,overlap_mm,institution,station,"
                            "site_source");
  demur_assert_close(number_at(acquisition, "overlap_mm"), 0.129, 0, 1e-3); /* 2.5 less 2.371 mm */
  const char *column = is_null_at(acquisition, "institution") ? "station" : "institution";
  if (is_null_at(acquisition, column)) {
    g_test_skip("the series names neither institution nor station");
    return;
  }
  g_autofree char *lower = g_utf8_strdown(string_at(acquisition, column), -1);
  g_autofree char *text = g_strdup_printf("%s,site\nelsewhere,Z\n\" %s \",Site A\n", column, lower);
  g_autofree char *map = sandbox_write(sandbox, "map.csv", text, -1);
  g_autoptr(Run) mapped = run_json(sandbox, 0, "dicom", "import", folder, "--site-map", map, NULL);
  g_autoptr(Run) after = run_json(sandbox, 0, "dicom", "show", scan_id, NULL);
  g_assert_cmpstr(string_at(root_of(after), "site"), ==, "Site A");
  g_assert_cmpstr(string_at(object_at(root_of(after), "acquisition"), "site_source"), ==,
                  "mapping");
  g_autofree char *bad = sandbox_write(sandbox, "bad.csv", "hospital,site\na,b\n", -1);
  g_autoptr(Run) refused = run_json(sandbox, 1, "dicom", "import", folder, "--site-map", bad, NULL);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/dicom-choice/one-series-a-study-over-several-imports",
                  test_one_series_a_study_over_several_imports);
  g_test_add_func("/commands/dicom-choice/a-person-s-choice-keeps-both-verdicts",
                  test_a_person_s_choice_keeps_both_verdicts);
  g_test_add_func("/commands/dicom-choice/what-no-person-may-choose",
                  test_what_no_person_may_choose);
  g_test_add_func("/commands/dicom-choice/rules-can-be-changed-and-are-kept-with-the-series",
                  test_rules_can_be_changed_and_are_kept_with_the_series);
  g_test_add_func("/commands/dicom-choice/a-site-map-names-the-site",
                  test_a_site_map_names_the_site);
  return g_test_run();
}
