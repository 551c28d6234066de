/* What lies at the places of imported images is looked at whenever a verdict is told: a slice that was
 * deleted or replaced there since ends it, with an import in between or without; a medium that was
 * taken out does not. The right answers are worked by hand: 24 slices are imported, scored, accepted. */
#include <math.h>
#include <unistd.h>

#include "life-fixture.h"
#include "tasks/scan.h"
#include "support/store.h"

typedef enum {
  ACCEPTED, /* nothing that was imported is another thing now */
  ENDED,    /* the verdict is out of date, a new one is not eligible */
  WAITS,    /* the same, and imported again it contradicts what is known */
} Answer;

typedef struct {
  const char *what;
  Answer answer;
  gboolean heals; /* bringing the files back, and importing them, makes it what it was */
} Case;

static const Case cases[] = {
    {"nothing", ACCEPTED, TRUE},
    {"a slice in the middle deleted", ENDED, TRUE},
    {"the last slice deleted", ENDED, TRUE},
    {"three slices at both ends deleted", ENDED, TRUE},
    {"a slice replaced by one with other pixels", WAITS, FALSE},
    {"a slice replaced by its neighbour", ENDED, TRUE},
    {"a slice replaced by one of another series", ENDED, TRUE},
    {"a slice replaced by one of another person", WAITS, FALSE},
    {"a slice cut off", ENDED, TRUE},
    {"a slice that is no image any more", ENDED, TRUE},
    {"another study's files in their places", ENDED, TRUE},
    {"the same files written anew", ACCEPTED, TRUE},
    {"a slice and nothing else copied to another disk and back", ACCEPTED, TRUE},
    {"all slices away, as with a medium taken out", ACCEPTED, TRUE},
    {"the folder away", ACCEPTED, TRUE},
    {"other files put beside them", ACCEPTED, TRUE},
};

static char *
slice_path(const Sandbox *sandbox, int k) {
  g_autofree char *name = g_strdup_printf("a/%03d.dcm", k);
  return sandbox_path(sandbox, name);
}

static void
copy_over(const char *from, const char *to) {
  g_autofree char *bytes = NULL;
  gsize length;
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_get_contents(from, &bytes, &length, &error));
  g_assert_true(g_file_set_contents(to, bytes, (gssize)length, &error));
}

static void
remove_slices(const Sandbox *sandbox, int from, int to) {
  for (int k = from; k < to; k++) {
    g_autofree char *path = slice_path(sandbox, k);
    g_assert_cmpint(g_unlink(path), ==, 0);
  }
}

static void
write_other_series(const Sandbox *sandbox, const char *folder_name, int from, int to) {
  g_autofree char *folder = sandbox_path(sandbox, folder_name);
  for (int k = from; k < to; k++) {
    FixtureImage image = fixture_image(100 + k, 2.5 * k);
    g_autofree char *file = g_strdup_printf("%03d.dcm", k);
    image.series_uid = "1.2.3.5";
    image.patient_id = "P2";
    image.patient_name = "Two^Person";
    fixture_save(&image, folder, file);
  }
}

/* What becomes of the folder. */
static void
change(const Sandbox *sandbox, guint c) {
  g_autofree char *path = slice_path(sandbox, 7), *next = slice_path(sandbox, 8),
                  *folder = sandbox_path(sandbox, "a"), *elsewhere = sandbox_path(sandbox, "gone");
  g_autoptr(GError) error = NULL;
  switch (c) {
  case 1:
    remove_slices(sandbox, 7, 8);
    break;
  case 2:
    remove_slices(sandbox, N - 1, N);
    break;
  case 3:
    remove_slices(sandbox, 0, 3);
    remove_slices(sandbox, N - 3, N);
    break;
  case 4:
    write_slices(sandbox, "a", 7, 8, "P1", "One^Person", 5);
    break;
  case 5:
    copy_over(next, path);
    break;
  case 6:
    write_other_series(sandbox, "a", 7, 8);
    break;
  case 7:
    write_slices(sandbox, "a", 7, 8, "P2", "Two^Person", 0);
    break;
  case 8:
    g_assert_cmpint(truncate(path, 900), ==, 0);
    break;
  case 9:
    g_assert_true(g_file_set_contents(path, "no image", -1, &error));
    break;
  case 10:
    write_other_series(sandbox, "a", 0, N);
    break;
  case 11:
    write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
    break;
  case 12:
    write_slices(sandbox, "a", 7, 8, "P1", "One^Person", 0);
    break;
  case 13:
    remove_slices(sandbox, 0, N);
    break;
  case 14:
    g_assert_cmpint(g_rename(folder, elsewhere), ==, 0);
    break;
  case 15:
    write_other_series(sandbox, "a", N, N + 12);
    break;
  default:
    break;
  }
}

/* The verdict that `export` tells: "accepted", "out_of_date" or another verdict's name (owned). */
static char *
exported(const Sandbox *sandbox) {
  g_autofree char *path = sandbox_path(sandbox, "out.json");
  g_autofree char *text = NULL;
  g_unlink(path);
  g_autoptr(Run) run = run_json(sandbox, 0, "export", path, NULL);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(JsonNode) node = json_from_string(text, NULL);
  JsonObject *one = find_in(array_at(json_node_get_object(node), "verdicts"), "scan_id", UID);
  if (one == NULL)
    return g_strdup("none");
  const gboolean current = strcmp(string_at(one, "state"), "current") == 0;
  g_autoptr(Run) listed = run_json(sandbox, 0, "dicom", "list", NULL);
  const gboolean waits =
      !is_null_at(find_in(array_at(root_of(listed), "series"), "scan_id", UID), "conflict");
  if (current)
    g_assert_true(is_null_at(one, "next_step"));
  else
    g_assert_cmpstr(string_at(one, "next_step"), ==, waits ? "resolve" : "assess");
  if (!current || strcmp(string_at(one, "verdict"), "accepted") != 0)
    g_assert_true(is_null_at(one, "risk"));
  return g_strdup(current ? string_at(one, "verdict") : "out_of_date");
}

/* The same as the window's list has it. */
static char *
in_window(const Sandbox *sandbox) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScanTable) table = demur_scan_table_load(sandbox->workspace, FALSE, NULL, &error);
  g_assert_no_error(error);
  const gssize row = demur_scan_table_find(table, NULL, UID);
  g_assert_cmpint(row, >=, 0);
  const DemurScan *scan = &table->scans[row];
  if (scan->shown != DEMUR_SHOWN_ACCEPTED) {
    g_assert_true(isnan(scan->risk));
    g_assert_true(isnan(demur_scan_revealed_risk(scan)));
  }
  return g_strdup(scan->shown == DEMUR_SHOWN_OUT_OF_DATE    ? "out_of_date"
                  : scan->shown == DEMUR_SHOWN_ACCEPTED     ? "accepted"
                  : scan->shown == DEMUR_SHOWN_NOT_ELIGIBLE ? "not_eligible"
                                                            : "other");
}

static void
expect(const Sandbox *sandbox, const Case *one, const char *when, const char *wanted) {
  g_autofree char *told = exported(sandbox), *shown = in_window(sandbox);
  if (strcmp(told, wanted) == 0 && strcmp(shown, wanted) == 0)
    return;
  g_test_message("%s, %s: export says %s, the window %s, right is %s", one->what, when, told, shown,
                 wanted);
  g_test_fail();
}

/* Whether `dicom list` has it to be assessed. */
static gboolean
is_listed_accepted(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "list", NULL);
  return bool_at(find_in(array_at(root_of(run), "series"), "scan_id", UID), "accepted");
}

/* A workspace with the selector, made once. */
static Sandbox *trained;

static Sandbox *
with_accepted(void) {
  Sandbox *sandbox = sandbox_new();
  demur_test_store_copy(trained->workspace, sandbox->workspace);
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  return sandbox;
}

/* Nothing is imported again: each view and each object says so at once. */
static void
test_without_an_import(void) {
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    const Case *one = &cases[c];
    g_autoptr(Sandbox) sandbox = with_accepted();
    expect(sandbox, one, "before", "accepted");
    change(sandbox, c);
    expect(sandbox, one, "at once", one->answer == ACCEPTED ? "accepted" : "out_of_date");
    g_autofree char *sr = sandbox_path(sandbox, "out.dcm");
    g_autoptr(Run) object = run_demur(sandbox, "export", sr, "-f", "sr", "--scan", UID, NULL);
    const gboolean written = one->answer == ACCEPTED && c != 13 && c != 14;
    assert_status(object, written ? 0 : 1);
    if (!written) /* what to do is said */
      assert_says(object->err, " again");
    g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--all", NULL);
    expect(sandbox, one, "assessed", one->answer == ACCEPTED ? "accepted" : "not_eligible");
    g_assert_true(is_listed_accepted(sandbox) == (one->answer == ACCEPTED));
    /* Back in their places they are what was imported. */
    if (c == 14) {
      g_autofree char *folder = sandbox_path(sandbox, "a"), *gone = sandbox_path(sandbox, "gone");
      g_assert_cmpint(g_rename(gone, folder), ==, 0);
    }
    write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
    expect(sandbox, one, "brought back", one->answer == ACCEPTED ? "accepted" : "out_of_date");
    assess(sandbox);
    expect(sandbox, one, "brought back, assessed", "accepted");
    g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
    assert_status(verify, 0);
  }
}

/* The folder is imported again as it is now, twice. */
static void
test_with_an_import(void) {
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    const Case *one = &cases[c];
    g_autoptr(Sandbox) sandbox = with_accepted();
    change(sandbox, c);
    g_autofree char *folder = sandbox_path(sandbox, "a");
    for (guint turn = 0; turn < 2; turn++) {
      g_autoptr(Run) again = run_demur(sandbox, "dicom", "import", folder, NULL);
      expect(sandbox, one, "imported", one->answer == ACCEPTED ? "accepted" : "out_of_date");
      g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--all", NULL);
      expect(sandbox, one, "imported, assessed",
             one->answer == ACCEPTED ? "accepted"
             : one->answer == WAITS  ? "out_of_date"
                                     : "not_eligible");
      g_assert_true(is_listed_accepted(sandbox) == (one->answer == ACCEPTED));
      /* In its second turn the verdict before it says so already. */
      g_autoptr(Run) verify = run_demur(sandbox, "verify", NULL);
      assert_status(verify, 0);
      if (one->answer != ACCEPTED)
        break;
    }
    g_autoptr(Run) again = run_demur(sandbox, "dicom", "import", folder, NULL);
    g_assert_true(is_listed_accepted(sandbox) == (one->answer == ACCEPTED));
    if (!one->heals || c == 14)
      continue;
    write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
    import(sandbox, "a");
    assess(sandbox);
    expect(sandbox, one, "brought back, imported, assessed", "accepted");
  }
}

/* Two discs, one after the other, at the same mount point: of the two halves none is a whole. */
static void
test_discs_at_one_place(void) {
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "a", 0, N / 2, "P1", "One^Person", 0);
  import(sandbox, "a");
  score(sandbox, UID, "0.05", NULL);
  assess(sandbox);
  remove_slices(sandbox, 0, N / 2);
  write_slices(sandbox, "a", N / 2, N, "P1", "One^Person", 0);
  for (guint turn = 0; turn < 2; turn++) {
    import(sandbox, "a");
    assess(sandbox);
    g_assert_false(is_listed_accepted(sandbox));
    g_autofree char *told = exported(sandbox);
    g_assert_cmpstr(told, ==, "not_eligible");
  }
  /* One more slice of those that are gone is not all of them. */
  write_slices(sandbox, "a", N / 2 - 1, N / 2, "P1", "One^Person", 0);
  import(sandbox, "a");
  g_assert_false(is_listed_accepted(sandbox));
  write_slices(sandbox, "a", 0, N, "P1", "One^Person", 0);
  import(sandbox, "a");
  g_assert_true(is_listed_accepted(sandbox));
  g_autoptr(Run) list = run_json(sandbox, 0, "dicom", "list", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(list), "series")), ==, 1);
}

/* Nothing was skipped where there is nothing. */
static void
test_an_empty_folder_is_said(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *folder = sandbox_path(sandbox, "empty");
  g_mkdir(folder, 0700);
  g_autoptr(Run) none = run_demur(sandbox, "dicom", "import", folder, NULL);
  assert_status(none, 1);
  assert_says(none->err, "there is no file in ");
  g_autofree char *file = sandbox_write(sandbox, "empty/notes.txt", "no image", -1);
  g_autoptr(Run) one = run_demur(sandbox, "dicom", "import", folder, NULL);
  assert_status(one, 1);
  assert_says(one->err, "1 file was skipped for the reason above");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_dicom_init(&error))
    g_error("%s", error->message);
  trained = with_selector();
#define TEST(name, function) g_test_add_func("/commands/dicom-places/" name, function)
  TEST("without-an-import", test_without_an_import);
  TEST("with-an-import", test_with_an_import);
  TEST("discs-at-one-place", test_discs_at_one_place);
  TEST("an-empty-folder-is-said", test_an_empty_folder_is_said);
#undef TEST
  const int status = g_test_run();
  sandbox_free(trained);
  return status;
}
