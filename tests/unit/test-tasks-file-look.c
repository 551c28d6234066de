/* What a dropped file is: by what stands in it, whatever it is called. Kinds are worked out by hand
 * from docs/file-formats.md. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/locked-files.h"
#include "support/support.h"
#include "tasks/file-look.h"

static DemurFileLook *
look_at(const char *text, gssize length, GError **error) {
  g_autofree char *folder = g_dir_make_tmp("demur-look-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "anything.dat", NULL);
  g_assert_true(g_file_set_contents(path, text, length, NULL));
  DemurFileLook *look = demur_task_file_look(path, error);
  g_unlink(path);
  g_rmdir(folder);
  return look;
}

static void
test_kinds(void) {
  static const struct {
    const char *text;
    DemurFileKind kind;
  } cases[] = {
      {"series_uid,risk\n1.2,0.1\n", DEMUR_FILE_SCORES},
      {"\xef\xbb\xbfscan_id;risk_year_6\n1.2;0.1\n", DEMUR_FILE_SCORES},
      {"sep=;\nSeriesInstanceUID;Score\n1.2;0,1\n", DEMUR_FILE_SCORES},
      {"patient_id,site,split,label,risk\np,A,test,0,.1\n", DEMUR_FILE_COHORT},
      {"Patient ID\tHospital\tCancer\tProbability\np\tA\t0\t.1\n", DEMUR_FILE_COHORT},
      {"prob_0,prob_1,label\n.9,.1,0\n", DEMUR_FILE_COHORT},
      {"scan_id,patient_id,site,label\ns,p,A,\n", DEMUR_FILE_LABELS},
      {"institution,site\nX,A\n", DEMUR_FILE_TABLE},
      {"{\"format\":\"demur-selector\",\"version\":2}", DEMUR_FILE_SELECTOR},
      {" {\"predictions\": [[0.1,0.2]]}", DEMUR_FILE_SCORES},
      {"[{\"scan_id\":\"1\",\"risk\":0.1}]", DEMUR_FILE_SCORES},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFileLook) look = look_at(cases[i].text, -1, &error);
    g_assert_no_error(error);
    g_test_message("%s", cases[i].text);
    g_assert_cmpint(look->kind, ==, cases[i].kind);
  }
}

/* What is proposed for the years of risk and outcome: nothing that the table tells itself, and nothing
 * where it tells no times. */
static void
test_years(void) {
  static const struct {
    const char *header;
    int years;
  } cases[] = {{"risk,label", 0},
               {"risk_year_1,risk_year_6,label", 0},
               {"risk_year_1,risk_year_6,years_to_cancer,years_of_followup", 6},
               {"risk_year_1,risk_year_3,years_to_cancer,years_of_followup", 3},
               {"risk,years_to_cancer,years_of_followup", 6},
               {"risk,years_to_cancer", 0},
               {"risk,years_to_cancer,years_of_followup,outcome_horizon", 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strdup_printf("%s\n", cases[i].header);
    g_autoptr(DemurFileLook) look = look_at(text, -1, &error);
    g_assert_no_error(error);
    g_test_message("%s", cases[i].header);
    g_assert_cmpint(demur_file_look_years(look), ==, cases[i].years);
    g_assert_cmpint(look->has_year[5], ==, i > 0 && i < 3);
    g_assert_cmpint(look->has_year[1], ==, FALSE);
  }
}

static void
test_bytes(void) {
  char dicom[200] = {0};
  memcpy(dicom + 128, "DICM", 4);
  static const char sqlite[] = "SQLite format 3\0\1\2\3";
  const struct {
    const char *bytes;
    gssize n;
    DemurFileKind kind;
  } cases[] = {{dicom, sizeof dicom, DEMUR_FILE_IMAGES},
               {"PK\3\4abc", 7, DEMUR_FILE_IMAGES},
               {"", 0, DEMUR_FILE_IMAGES},
               {sqlite, sizeof sqlite, DEMUR_FILE_WORKSPACE}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFileLook) look = look_at(cases[i].bytes, cases[i].n, &error);
    g_assert_no_error(error);
    g_assert_cmpint(look->kind, ==, cases[i].kind);
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFileLook) folder = demur_task_file_look(g_get_tmp_dir(), &error);
  g_assert_no_error(error);
  g_assert_cmpint(folder->kind, ==, DEMUR_FILE_IMAGES);
  g_assert_null(demur_task_file_look("/nowhere/at all.csv", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
}

/* A workspace that this process has open, and what lies beside it, is looked at without giving up the locks on it: these are of
 * a process and a file, and any descriptor that is closed ends them. */
static void
test_locks(void) {
  static const struct {
    const char *name, *text;
    gsize n;
  } cases[] = {{"open.demur", "SQLite format 3\0\1\2\3", 19},
               {"open.demur-shm", "\x18\xe2\x2d\0\0\0", 6},
               {"empty.demur", "", 0}};
  g_autofree char *folder = g_dir_make_tmp("demur-look-XXXXXX", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_build_filename(folder, cases[i].name, NULL);
    g_assert_true(g_file_set_contents(path, cases[i].text, (gssize)cases[i].n, NULL));
    const int held = open(path, O_RDWR | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    g_assert_cmpint(fcntl(held, F_SETLK, &lock), ==, 0);
    g_autofree char *database =
        g_build_filename(folder, i == 2 ? "empty.demur" : "open.demur", NULL);
    demur_locked_files_add(database);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFileLook) look = demur_task_file_look(path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(look->kind, ==, i == 0 ? DEMUR_FILE_WORKSPACE : DEMUR_FILE_IMAGES);
    const pid_t other = fork();
    if (other == 0) {
      const int fd = open(path, O_RDWR | O_CLOEXEC);
      _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
    }
    int status;
    g_assert_cmpint(waitpid(other, &status, 0), ==, other);
    g_test_message("%s", cases[i].name);
    g_assert_cmpint(status, ==, 0);
    demur_locked_files_remove(database);
    close(held);
    g_unlink(path);
  }
  g_rmdir(folder);
}

/* Tables in another encoding, and spreadsheets' own files, are refused by name as by `cohort import`;
 * images without a preamble, whose first bytes look like two bytes a letter, are images. */
static void
test_foreign(void) {
  static const struct {
    const char *bytes;
    gssize n;
    const char *words; /* NULL: images */
  } cases[] = {{"\xff\xfeM\0R\0N\0", 8, "UTF-16"},
               {"\xfe\xff\0M\0R\0N", 8, "UTF-16"},
               {"M\0R\0N\0;\0", 8, "UTF-16"},
               {"\0M\0R\0N\0;", 8, "UTF-16"},
               {"\xff\xfe\0\0M\0\0\0", 8, "UTF-32"},
               {"\0\0\xfe\xff\0\0\0M", 8, "UTF-32"},
               {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, ".xls"},
               {"PAR1\x15\x04\x15\x10", 8, "Parquet"},
               {"\x08\0\x05\0\x0a\0\0\0ISO_IR 100", 18, NULL},
               {"\0\x08\0\x05\0\0\0\x0aISO_IR 100", 18, NULL},
               {"PK\3\4\x14\0\0\0", 8, NULL}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFileLook) look = look_at(cases[i].bytes, cases[i].n, &error);
    if (cases[i].words != NULL) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(strstr(error->message, cases[i].words));
      continue;
    }
    g_assert_no_error(error);
    g_assert_cmpint(look->kind, ==, DEMUR_FILE_IMAGES);
  }
}

static void
test_preview(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFileLook) look = look_at(
      "MRN,exam,Hospital,Cancer,score,note\n"
      "p1,1,A,0,.1,\"a, b\"\np2,2,A,1,.2,\np3,3\np4,4,B,0,.3,x\np5,5,B,0,.3,x\np6,6,B,0,.3,x\n",
      -1, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(look->n_columns, ==, 6);
  g_assert_cmpuint(look->n_rows, ==, DEMUR_LOOK_ROWS);
  g_assert_cmpstr(look->rows[0][5], ==, "a, b");
  g_assert_cmpstr(look->rows[2][1], ==, "3");
  g_assert_cmpstr(look->rows[2][5], ==, "");
  const gssize expected[DEMUR_N_MEANINGS] = {0, 1, -1, 2, -1, 3, 4};
  for (guint m = 0; m < DEMUR_N_MEANINGS; m++)
    g_assert_cmpint(look->at[m], ==, expected[m]);
}

/* The exact name goes first, whatever stands before it. */
static void
test_guess_exact_first(void) {
  static const char *const names[] = {"score", "risk", "Patient", "patient_id", "set", "class"};
  gssize at[DEMUR_N_MEANINGS];
  demur_column_guess(names, G_N_ELEMENTS(names), at);
  g_assert_cmpint(at[DEMUR_MEANS_RISK], ==, 1);
  g_assert_cmpint(at[DEMUR_MEANS_PATIENT_ID], ==, 3);
  g_assert_cmpint(at[DEMUR_MEANS_SPLIT], ==, 4);
  g_assert_cmpint(at[DEMUR_MEANS_LABEL], ==, 5);
  g_assert_cmpint(at[DEMUR_MEANS_SITE], ==, -1);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/file-look/kinds", test_kinds);
  g_test_add_func("/tasks/file-look/years", test_years);
  g_test_add_func("/tasks/file-look/bytes", test_bytes);
  g_test_add_func("/tasks/file-look/foreign", test_foreign);
  g_test_add_func("/tasks/file-look/preview", test_preview);
  g_test_add_func("/tasks/file-look/guess-exact-first", test_guess_exact_first);
  g_test_add_func("/tasks/file-look/locks", test_locks);
  return g_test_run();
}
