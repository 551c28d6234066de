/* Whose images they are, and whether they are the same: each row brings images a second time with
 * one thing changed, together with the first or after them, and says by the rules of
 * tasks/meeting.h and base/person.h what is right. */
#include "ways-fixture.h"

/* How the second set differs; NULL and 0: as the first. */
typedef struct {
  const char *what;
  const char *issuer, *id, *name, *birth_date, *series_uid;
  int lift;             /* of every pixel */
  int shift;            /* its first slice */
  gint64 acquisition;   /* of SOP Instance UIDs of their own */
  guint n, n_waiting;   /* volumes that are there then, and that wait for a person */
  const char *nameless; /* PatientID and name of both sets */
} Row;

static const Row rows[] = {
    {"the same", .n = 1},
    {"another person", .id = "P2", .name = "Two^Person", .n = 2, .n_waiting = 2},
    {"the same number of another hospital", .issuer = "H2", .n = 2, .n_waiting = 2},
    {"born on another day", .birth_date = "19880505", .n = 2, .n_waiting = 2},
    {"another name under the number", .name = "Two^Other", .n = 2, .n_waiting = 2},
    {"the name written otherwise", .name = "ONE, person", .n = 1},
    {"the number written otherwise", .id = " p1 ", .n = 1},
    {"a married name", .name = "Wed^Person", .n = 1},
    {"no number", .id = "", .n = 2, .n_waiting = 2},
    {"other pixels", .lift = 100, .n = 2, .n_waiting = 2},
    {"another series", .series_uid = "1.2.3.5", .n = 2, .n_waiting = 2},
    {"another series of another person", .series_uid = "1.2.3.5", .id = "P2", .name = "Two^Person",
     .n = 2, .n_waiting = 2},
    {"a part of them in another series", .series_uid = "1.2.3.5", .shift = N - 2, .n = 2,
     .n_waiting = 2},
    {"other images in another series", .series_uid = "1.2.3.5", .acquisition = 2, .n = 2},
    {"another phase", .acquisition = 2, .n = 2},
    {"nobody's number twice", .nameless = "ANON", .n = 1},
    {"blank twice", .nameless = "", .n = 1},
};

static void
write_set(const Sandbox *sandbox, const char *folder_name, const Row *row, gboolean second) {
  g_autofree char *folder = sandbox_path(sandbox, folder_name);
  g_mkdir(folder, 0700);
  const int from = second ? row->shift : 0;
  for (int k = from; k < from + N; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *file = g_strdup_printf("%s-%03d.dcm", folder_name, k);
    image.issuer = "H1";
    image.birth_date = "19400131";
    image.sex = "F";
    if (row->nameless != NULL) {
      image.patient_id = image.patient_name = row->nameless;
      image.issuer = image.birth_date = image.sex = NULL;
    }
    if (second) {
      image.issuer = row->issuer != NULL ? row->issuer : image.issuer;
      image.patient_id = row->id != NULL ? row->id : image.patient_id;
      image.patient_name = row->name != NULL ? row->name : image.patient_name;
      image.birth_date = row->birth_date != NULL ? row->birth_date : image.birth_date;
      image.series_uid = row->series_uid != NULL ? row->series_uid : image.series_uid;
      image.acquisition_number = row->acquisition != 0 ? row->acquisition : 1;
      image.value = (guint16)(image.value + row->lift);
    }
    fixture_save(&image, folder, file);
  }
}

static void
check_row(const Sandbox *sandbox, const Row *row, const char *way) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(run), "series");
  guint n_waiting = 0, n_assessed = 0;
  const gboolean nobody = g_strcmp0(row->nameless, "") == 0; /* not eligible without an ID */
  for (guint i = 0; i < json_array_get_length(series); i++) {
    JsonObject *one = json_array_get_object_element(series, i);
    n_waiting += is_null_at(one, "conflict") ? 0 : 1;
    n_assessed += bool_at(one, "accepted") ? 1 : 0;
    if (!is_null_at(one, "conflict") && bool_at(one, "accepted")) {
      g_test_message("%s, %s: what waits is assessed", row->what, way);
      g_test_fail();
    }
  }
  if (json_array_get_length(series) != row->n || n_waiting != row->n_waiting ||
      n_assessed != (row->n_waiting > 0 || nobody ? 0u : 1u)) {
    g_test_message("%s, %s: %u volumes, %u wait, %u assessed", row->what, way,
                   json_array_get_length(series), n_waiting, n_assessed);
    g_test_fail();
  }
  if (strcmp(way, "after") == 0)
    return;
  g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
  assert_status(verify, 0);
}

static void
test_one_after_the_other(void) {
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(Sandbox) sandbox = sandbox_new();
    write_set(sandbox, "a", &rows[r], FALSE);
    write_set(sandbox, "b", &rows[r], TRUE);
    import(sandbox, "a");
    import(sandbox, "b");
    check_row(sandbox, &rows[r], "after");
    /* Once more, the other way round: nothing is new. */
    import(sandbox, "b");
    import(sandbox, "a");
    check_row(sandbox, &rows[r], "again");
  }
}

/* However they come: from an archive, by a DICOMDIR, over the network, from the web. What is sent lies
 * in one folder with what was sent before, and is read with it. */
static void
test_in_every_way(void) {
  static const struct {
    const char *name;
    void (*bring)(const Sandbox *sandbox, const char *name);
  } others[] = {{"ZIP", import_packed},
                {"DICOMDIR", import_by_directory},
                {"receive", receive},
                {"retrieve", retrieve}};
  guint n = 0;
  for (guint w = 0; w < G_N_ELEMENTS(others); w++)
    for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
      /* Some rows a way, other ones each time, are enough for one build. */
      if ((!g_test_thorough() && n++ % 6 != 0) || (w == 0 && !can_pack()))
        continue;
      g_test_message("%s: %s", others[w].name, rows[r].what);
      g_autoptr(Sandbox) sandbox = sandbox_new();
      write_set(sandbox, "a", &rows[r], FALSE);
      write_set(sandbox, "b", &rows[r], TRUE);
      others[w].bring(sandbox, "a");
      others[w].bring(sandbox, "b");
      check_row(sandbox, &rows[r], others[w].name);
    }
}

/* Together, where the one name in two spellings is one volume, and other pixels under the same UID
 * and place are a volume that is not eligible. */
static void
test_together(void) {
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(Sandbox) sandbox = sandbox_new();
    if (rows[r].lift != 0)
      continue;
    write_set(sandbox, "a", &rows[r], FALSE);
    write_set(sandbox, "b", &rows[r], TRUE);
    g_autofree char *a = sandbox_path(sandbox, "a"), *b = sandbox_path(sandbox, "b");
    g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", a, b, NULL);
    check_row(sandbox, &rows[r], "together");
  }
}

/* The one person's two phases under the UID that another person came under too: what is decided of
 * one phase takes nothing else out, and what nothing contradicts any more waits no longer. */
static void
test_a_decision_takes_out_only_what_contradicts(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const Row phase = {.acquisition = 2}, other = {.id = "P2", .name = "Two^Person"};
  write_set(sandbox, "a", &phase, FALSE);
  write_set(sandbox, "b", &phase, TRUE);
  write_set(sandbox, "c", &other, TRUE);
  import(sandbox, "a");
  import(sandbox, "b");
  import(sandbox, "c");
  g_autoptr(Run) run =
      run_json(sandbox, 0, "dicom", "resolve", UID, "--keep", "--reason", "seen", NULL);
  g_autoptr(Run) list = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(list), "series");
  g_assert_cmpuint(json_array_get_length(series), ==, 2);
  for (guint i = 0; i < 2; i++) {
    g_assert_true(is_null_at(json_array_get_object_element(series, i), "conflict"));
    g_assert_cmpstr(string_at(json_array_get_object_element(series, i), "patient_id"), ==, "P1");
  }
}

/* What lies at the place of what waits is another's meanwhile: nothing of that is taken over. */
static void
test_a_decision_reads_only_what_was_imported(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const Row first = {.n = 0}, other = {.id = "P2", .name = "Two^Person"},
            third = {.id = "P3", .name = "Three^Person", .lift = 100};
  write_set(sandbox, "a", &first, FALSE);
  write_set(sandbox, "b", &other, TRUE);
  import(sandbox, "a");
  import(sandbox, "b");
  write_set(sandbox, "a", &third, TRUE);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "dicom", "resolve", UID, "--keep", "--reason", "seen", NULL);
  g_autoptr(Run) list = run_json(sandbox, 0, "dicom", "list", NULL);
  JsonArray *series = array_at(root_of(list), "series");
  g_assert_cmpuint(json_array_get_length(series), ==, 1);
  g_assert_cmpstr(string_at(json_array_get_object_element(series, 0), "patient_id"), ==, "P1");
}

/* A number that two hospitals gave takes nobody out. */
static void
test_a_number_of_two_is_no_person(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const Row first = {.n = 0},
            other = {.issuer = "H2", .series_uid = "1.2.3.5", .acquisition = 2, .name = "Two^P"};
  write_set(sandbox, "a", &first, FALSE);
  write_set(sandbox, "b", &other, TRUE);
  import(sandbox, "a");
  import(sandbox, "b");
  g_autoptr(Run) run =
      run_demur(sandbox, "dicom", "remove", "--patient", "P1", "--reason", "gone", NULL);
  assert_status(run, 1);
  assert_says(run->err, "2 persons");
  g_autoptr(Run) one =
      run_demur(sandbox, "dicom", "remove", "--scan", UID, "--reason", "gone", NULL);
  assert_status(one, 0);
  g_autoptr(Run) again =
      run_demur(sandbox, "dicom", "remove", "--patient", "p1", "--reason", "gone", NULL);
  assert_status(again, 0);
}

int
main(int argc, char **argv) {
  fixture_init(&argc, &argv);
  g_test_add_func("/commands/dicom-persons/one-after-the-other", test_one_after_the_other);
  g_test_add_func("/commands/dicom-persons/in-every-way", test_in_every_way);
  g_test_add_func("/commands/dicom-persons/together", test_together);
  g_test_add_func("/commands/dicom-persons/a-decision-takes-out-only-what-contradicts",
                  test_a_decision_takes_out_only_what_contradicts);
  g_test_add_func("/commands/dicom-persons/a-decision-reads-only-what-was-imported",
                  test_a_decision_reads_only_what_was_imported);
  g_test_add_func("/commands/dicom-persons/a-number-of-two-is-no-person",
                  test_a_number_of_two_is_no_person);
  return g_test_run();
}
