/* Writing a file: whole or not at all, whatever stands at its path. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/locked-files.h"
#include "base/shown-text.h"
#include "support/folder.h"
#include "support/support.h"

typedef struct {
  char *folder;
} Fixture;

static void
set_up(Fixture *f, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  f->folder = g_dir_make_tmp("demur-file-XXXXXX", &error);
  g_assert_no_error(error);
}

static guint
count_files(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  guint n = 0;
  while (g_dir_read_name(dir) != NULL)
    n++;
  return n;
}

static void
tear_down(Fixture *f, gconstpointer data) {
  g_assert_true(demur_test_remove_folder(f->folder));
  g_free(f->folder);
}

static char *
in(const Fixture *f, const char *name) {
  return g_build_filename(f->folder, name, NULL);
}

static void
put(const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, text, -1, &error);
  g_assert_no_error(error);
}

static void
assert_holds(const char *path, const char *text) {
  g_autofree char *found = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &found, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(found, ==, text);
}

static void
assert_mode(const char *path, guint mode) {
  struct stat status;
  g_assert_cmpint(lstat(path, &status), ==, 0);
  g_assert_cmphex(status.st_mode & 07777, ==, mode);
}

/* Writing to path fails with a message that holds words; number of the code. */
static void
assert_refused(const char *path, DemurFileFlags flags, int code, const char *words) {
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_file_write(path, "new", -1, flags, &error));
  g_assert_error(error, DEMUR_ERROR, code);
  if (strstr(error->message, words) == NULL)
    g_error("'%s' does not say '%s'", error->message, words);
}

/* Bytes 0 to 15 of a database of SQLite. */
static void
put_database(const char *path) {
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, "SQLite format 3\0and more", 24, &error);
  g_assert_no_error(error);
}

static void
a_database_is_not_replaced(Fixture *f, gconstpointer data) {
  g_autofree char *base = in(f, "base.demur"), *link = in(f, "link.csv"), *twin = in(f, "twin.csv");
  put_database(base);
  g_assert_cmpint(symlink(base, link), ==, 0);
  g_assert_cmpint(linkat(AT_FDCWD, base, AT_FDCWD, twin, 0), ==, 0);
  const char *paths[] = {base, link, twin};
  for (size_t p = 0; p < G_N_ELEMENTS(paths); p++)
    assert_refused(paths[p], DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "database");
  static const char *const companions[] = {"base.demur-wal", "base.demur-shm",
                                           "base.demur-journal"};
  for (size_t c = 0; c < G_N_ELEMENTS(companions); c++) {
    g_autofree char *path = in(f, companions[c]);
    assert_refused(path, DEMUR_FILE_NEW, DEMUR_ERROR_OUTPUT, "belongs to the database");
    put(path, "log");
    assert_refused(path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "belongs to the database");
    assert_holds(path, "log");
  }
  g_autofree char *text = in(f, "text"), *of_text = in(f, "text-wal");
  put(text, "SQLite format 3");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(text, "new", -1, DEMUR_FILE_REPLACE, &error));
  g_assert_true(demur_file_write(of_text, "new", -1, DEMUR_FILE_NEW, &error));
}

/* POSIX: the locks of a process on a file go when it closes any descriptor of it. */
static void
a_look_leaves_the_locks_of_this_process(Fixture *f, gconstpointer data) {
  g_autofree char *base = in(f, "base.demur");
  put_database(base);
  const int fd = open(base, O_RDWR | O_CLOEXEC);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  g_assert_cmpint(fcntl(fd, F_SETLK, &lock), ==, 0);
  demur_locked_files_add(base);
  assert_refused(base, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "database");
  const pid_t child = fork();
  if (child == 0) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    _exit(fcntl(fd, F_GETLK, &asked) == 0 && asked.l_type == F_WRLCK ? 0 : 1);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  demur_locked_files_remove(base);
  close(fd);
}

static void
a_ledger_is_replaced_by_itself_only(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "told");
  put(path, "{\n  \"format\": \"demur-federate-ledger\"}");
  assert_refused(path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "ledger");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(path, "new", -1, DEMUR_FILE_REPLACE | DEMUR_FILE_LEDGER, &error));
}

/* Others hold its digest: a round that is gone makes its answers answers to nothing. */
static void
a_study_s_documents_are_not_replaced(Fixture *f, gconstpointer data) {
  static const char *const formats[] = {"demur-round", "demur-answer", "demur-federated"};
  for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_autofree char *path = in(f, formats[i]);
    g_autofree char *text =
        g_strdup_printf("{\n  \"digest\": \"%064d\",\n  \"format\": \"%s\"}", (int)i, formats[i]);
    put(path, text);
    assert_refused(path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "study between sites");
    assert_refused(path, DEMUR_FILE_REPLACE | DEMUR_FILE_LEDGER, DEMUR_ERROR_OUTPUT, "study");
  }
}

/* A person put them there, line by line; a table without is planned anew into the same file. */
static void
labels_are_not_replaced(Fixture *f, gconstpointer data) {
  static const struct {
    const char *text;
    gboolean kept;
  } rows[] = {
      {"scan_id,patient_id,site,label\na,p,H,\nb,q,H,\n", FALSE},
      {"scan_id,patient_id,site,label\na,p,H,\nb,q,H,1\n", TRUE},
      {"scan_id,patient_id,site,label\r\na,p,H,0\r\nb,q,H,\r\n", TRUE},
      {"scan_id,patient_id,site,label\r\na,p,H,\r\n\r\n", FALSE},
      {"scan_id;patient_id;site;label\na;p;H;1\nb;q;H;\n", TRUE}, /* a German spreadsheet */
      {"scan_id\tpatient_id\tsite\tlabel\na\tp\tH\t1\n", TRUE},
      {"\xef\xbb\xbfscan_id,patient_id,site,label\na,p,H,1\n", TRUE},
      {"scan_id,patient_id,site,label,date\na,p,H,,\nb,q,H,1,2026-01-31\n", TRUE},
      {"scan_id,patient_id,site,label,date\na,p,H,,2026-01-31\n", FALSE},
      {"\"scan_id\",\"patient_id\",\"site\",\"label\"\n\"a,b\",p,H,\"\"\n", FALSE},
      {"\"scan_id\",\"patient_id\",\"site\",\"label\"\n\"a,b\",p,H,\"0\"\n", TRUE},
      {"label,site,scan_id,patient_id\n1,H,a,p\n", TRUE},
      {"scan_id,patient_id,site,label\n\"a\nb\",p,H,1\n", TRUE},
      {"scan_id,patient_id,site,label\n\"a\nb\",p,H,\n", FALSE},
      {"scan_id,patient_id,site,label\na,p,H,1", TRUE}, /* no end of its line */
      {"scan_id,patient_id,site,label\na,p,H,", FALSE},
      {"scan_id,patient_id,site,label", FALSE},
      /* A column more of a risk, lines that end by CR, a name as a spreadsheet's user writes it, a line above. */
      {"scan_id,patient_id,site,label,risk\na,p,H,1,0.5\n", TRUE},
      {"scan_id,patient_id,site,label,risk\na,p,H,,0.5\n", FALSE},
      {"scan_id,patient_id,site,risk,split,label\na,p,H,0.5,test,1\n", TRUE},
      {"scan_id,patient_id,site,label\ra,p,H,\rb,q,H,1\r", TRUE},
      {"scan_id,patient_id,site,label\ra,p,H,\rb,q,H,\r", FALSE},
      {"scan_id,patient_id,site,Label\na,p,H,1\n", TRUE},
      {"Scan ID;Patient ID;Site;LABEL\r\na;p;H;0\r\n", TRUE},
      {"Scan ID;Patient ID;Site;LABEL\r\na;p;H;\r\n", FALSE},
      {"sep=;\r\nscan_id;patient_id;site;label\r\na;p;H;1\r\n", TRUE},
      {"Plan of May,,,\n\nscan_id,patient_id,site,label\na,p,H,1\n", TRUE},
      /* A cohort as it is exported. */
      {"patient_id,scan_id,site,split,label,risk\np,a,H,test,1,0.5\n", FALSE},
      {"patient_id,scan_id,site,split,label,prob_0,prob_1,prob_2\np,a,H,test,1,1,0,0\n", FALSE},
      {"scan_id,site,label\na,H,1\n", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = in(f, "plan.csv");
    put(path, rows[i].text);
    g_autoptr(GError) error = NULL;
    if (rows[i].kept)
      assert_refused(path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "labels stand");
    else
      g_assert_true(demur_file_output_check(path, DEMUR_FILE_REPLACE, &error));
  }
  /* A label behind many columns. */
  g_autoptr(GString) wide = g_string_new("scan_id,patient_id,site");
  for (int i = 0; i < 200; i++)
    g_string_append_printf(wide, ",column%d", i);
  g_string_append(wide, ",label\na,p,H");
  for (int i = 0; i < 200; i++)
    g_string_append(wide, ",");
  g_string_append(wide, ",1\n");
  g_autofree char *wide_path = in(f, "wide.csv");
  put(wide_path, wide->str);
  assert_refused(wide_path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "labels stand");
  /* More than is looked at: what can't be known is kept. */
  g_autofree char *path = in(f, "plan.csv");
  g_autoptr(GString) text = g_string_new("scan_id,patient_id,site,label\n");
  while (text->len < (gsize)17 << 20)
    g_string_append(text, "a,p,H,\n");
  g_string_append(text, "b,q,H,1\n");
  put(path, text->str);
  assert_refused(path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "labels stand");
}

static void
what_is_read_is_not_written(Fixture *f, gconstpointer data) {
  g_autofree char *in_file = in(f, "in"), *link = in(f, "link"), *absent = in(f, "absent");
  g_autofree char *absent_too = g_build_filename(f->folder, ".", "absent", NULL);
  put(in_file, "old");
  g_assert_cmpint(linkat(AT_FDCWD, in_file, AT_FDCWD, link, 0), ==, 0);
  const struct {
    const char *output, *input;
    gboolean apart;
  } cases[] = {{in_file, in_file, FALSE},       {link, in_file, FALSE},
               {absent, in_file, TRUE},         {in_file, absent, TRUE},
               {absent_too, absent, FALSE},     {"-", "-", TRUE},
               {"/dev/null", "/dev/null", TRUE}};
  for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autoptr(GError) error = NULL;
    const char *const inputs[] = {"elsewhere", cases[c].input, NULL};
    g_assert_true(demur_file_output_check_apart(cases[c].output, inputs, &error) == cases[c].apart);
    if (!cases[c].apart)
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
  }
}

static void
a_file_appears_whole_and_only_at_the_commit(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a.csv");
  put(path, "old");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFileOutput) output = demur_file_output_open(path, DEMUR_FILE_REPLACE, &error);
  g_assert_no_error(error);
  g_autoptr(GString) whole = g_string_new(NULL);
  /* Pieces around the buffer's size of 65,536. */
  static const size_t sizes[] = {1, 65535, 65536, 65537, 200000, 0, 7};
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree char *piece = g_strnfill(sizes[i], (char)('a' + (int)i));
    g_assert_true(demur_file_output_write(output, piece, sizes[i], &error));
    g_string_append(whole, piece);
    assert_holds(path, "old");
  }
  g_assert_true(demur_file_output_finish(output, &error));
  assert_holds(path, "old");
  g_assert_true(demur_file_output_commit(output, &error));
  assert_holds(path, whole->str);
  g_assert_cmpuint(count_files(f->folder), ==, 1);
}

static void
what_is_not_committed_leaves_nothing(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a.csv");
  g_autoptr(GError) error = NULL;
  DemurFileOutput *output = demur_file_output_open(path, DEMUR_FILE_NEW, &error);
  g_assert_true(demur_file_output_write(output, "text", 4, &error));
  g_assert_cmpuint(count_files(f->folder), ==, 1);
  demur_file_output_free(output);
  g_assert_cmpuint(count_files(f->folder), ==, 0);
}

static void
rights_are_the_owners_alone_unless_asked(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a");
  static const struct {
    mode_t umask;
    DemurFileFlags flags;
    guint mode;
  } rows[] = {
      {0000, DEMUR_FILE_NEW, 0600},    {0022, DEMUR_FILE_NEW, 0600},
      {0077, DEMUR_FILE_NEW, 0600},    {0000, DEMUR_FILE_PUBLIC, 0666},
      {0022, DEMUR_FILE_PUBLIC, 0644}, {0077, DEMUR_FILE_PUBLIC, 0600},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const mode_t before = umask(rows[r].umask);
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_file_write(path, "text", -1, rows[r].flags, &error));
    umask(before);
    assert_mode(path, rows[r].mode);
    g_assert_cmpint(g_unlink(path), ==, 0);
  }
  put(path, "old");
  g_assert_cmpint(g_chmod(path, 0640), ==, 0);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(path, "new", -1, DEMUR_FILE_REPLACE, &error));
  assert_holds(path, "new");
  assert_mode(path, 0640); /* its owner had chosen them */
}

/* The attack: someone leaves a file of that name that all may read, in wait for patients. */
static void
anothers_rights_are_not_taken_over(Fixture *f, gconstpointer data) {
  if (geteuid() != 0) {
    g_test_skip("giving a file to another user takes root");
    return;
  }
  g_autofree char *path = in(f, "a");
  put(path, "bait");
  g_assert_cmpint(g_chmod(path, 0666), ==, 0);
  g_assert_cmpint(chown(path, 65534, 65534), ==, 0);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(path, "new", -1, DEMUR_FILE_REPLACE, &error));
  assert_mode(path, 0600);
  struct stat status;
  g_assert_cmpint(stat(path, &status), ==, 0);
  g_assert_cmpuint(status.st_uid, ==, 0);
}

static void
a_taken_name_is_kept_without_replace(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a");
  put(path, "old");
  assert_refused(path, DEMUR_FILE_NEW, DEMUR_ERROR_EXISTS, "left as it is");
  assert_holds(path, "old");
  /* Even where it comes to be while the output is open. */
  g_autofree char *late = in(f, "late");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFileOutput) output = demur_file_output_open(late, DEMUR_FILE_NEW, &error);
  g_assert_no_error(error);
  put(late, "another's");
  g_assert_false(demur_file_output_commit(output, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  assert_holds(late, "another's");
}

static void
links_are_written_through(Fixture *f, gconstpointer data) {
  g_autofree char *target = in(f, "target");
  g_autofree char *link = in(f, "link");
  put(target, "old");
  g_assert_cmpint(symlink("target", link), ==, 0);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(link, "new", -1, DEMUR_FILE_REPLACE, &error));
  assert_holds(target, "new");
  g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));

  g_assert_cmpint(g_unlink(target), ==, 0);
  assert_refused(link, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "leads nowhere");
  g_assert_cmpint(g_unlink(link), ==, 0);
  g_assert_cmpint(symlink("link", link), ==, 0); /* to itself */
  assert_refused(link, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "can't be written");
}

static void
anothers_link_in_an_open_folder_is_refused(Fixture *f, gconstpointer data) {
  if (geteuid() != 0) {
    g_test_skip("giving a link to another user takes root");
    return;
  }
  g_autofree char *target = in(f, "target");
  g_autofree char *link = in(f, "link");
  put(target, "old");
  g_assert_cmpint(symlink("target", link), ==, 0);
  g_assert_cmpint(lchown(link, 65534, 65534), ==, 0);
  g_assert_cmpint(g_chmod(f->folder, 01777), ==, 0);
  assert_refused(link, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "another user's link");
  assert_holds(target, "old");
}

static gpointer
read_whole(gpointer path) {
  char *text = NULL;
  g_file_get_contents(path, &text, NULL, NULL);
  return text;
}

static void
streams_stay_what_they_are(Fixture *f, gconstpointer data) {
  struct stat status;
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write("/dev/null", "text", -1, DEMUR_FILE_NEW, &error));
  g_assert_no_error(error);
  g_assert_cmpint(stat("/dev/null", &status), ==, 0);
  g_assert_true(S_ISCHR(status.st_mode));
  assert_refused("/dev/full", DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, "make room");

  g_autofree char *fifo = in(f, "fifo");
  g_autofree char *text = g_strnfill(300000, 'x'); /* more than a pipe holds */
  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  GThread *reader = g_thread_new("reader", read_whole, fifo);
  g_assert_true(demur_file_write(fifo, text, -1, DEMUR_FILE_NEW, &error));
  g_autofree char *found = g_thread_join(reader);
  g_assert_cmpstr(found, ==, text);
  g_assert_cmpint(lstat(fifo, &status), ==, 0);
  g_assert_true(S_ISFIFO(status.st_mode));
}

/* Standard output by any of its names, where it is a file: what was there stays before. */
static void
standard_output_is_a_stream(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "out");
  static const char *const names[] = {"-", "/dev/stdout", NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    g_assert_cmpint(dup2(fd, STDOUT_FILENO), >=, 0);
    printf("before ");
    g_autoptr(GError) error = NULL;
    const char *name = names[i] != NULL ? names[i] : path;
    const gboolean is_stdout = demur_file_output_is_stdout(name);
    const gboolean ok = demur_file_write(name, "text", -1, DEMUR_FILE_NEW, &error);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fd);
    g_assert_no_error(error);
    g_assert_true(ok && is_stdout);
    assert_holds(path, "before text");
  }
  g_assert_false(demur_file_output_is_stdout(path));
}

static void
what_is_no_place_for_a_file_is_refused(Fixture *f, gconstpointer data) {
  g_autofree char *absent = in(f, "absent/a.csv");
  g_autofree char *slash = in(f, "a.csv/");
  g_autofree char *longest = g_strnfill(NAME_MAX, 'n');
  g_autofree char *fits = in(f, longest);
  g_autofree char *longer = g_strconcat(fits, "n", NULL);
  g_autofree char *lines = in(f, "no/ne\nw\xe2\x80\xaeline");
  const struct {
    const char *path, *words;
  } rows[] = {{f->folder, "it is a folder"},
              {absent, "there is no folder"},
              {slash, "folder"},
              {longer, "at most 255 bytes"},
              {"", "without a name"},
              {lines, "ne[U+000A]w[U+202E]line"}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    assert_refused(rows[r].path, DEMUR_FILE_REPLACE, DEMUR_ERROR_OUTPUT, rows[r].words);
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_file_output_check(rows[r].path, DEMUR_FILE_REPLACE, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
  }
  g_assert_cmpuint(count_files(f->folder), ==, 0);
  g_autofree char *line = in(f, "new\nline");
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_output_check(fits, DEMUR_FILE_NEW, &error));
  g_assert_true(demur_file_write(fits, "text", -1, DEMUR_FILE_NEW, &error));
  g_assert_true(demur_file_write(line, "text", -1, DEMUR_FILE_NEW, &error));
  assert_holds(fits, "text");
  assert_holds(line, "text");
}

/* A limit on the size of files stands in for a full disk: every byte before it, none behind it. */
static void
a_full_disk_leaves_what_was_there(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a");
  g_autofree char *text = g_strnfill(200000, 'x');
  put(path, "old");
  struct rlimit before;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  signal(SIGXFSZ, SIG_IGN);
  for (rlim_t room = 0; room <= 150000; room += 50000) {
    const struct rlimit limit = {room, before.rlim_max};
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    g_autoptr(GError) error = NULL;
    const gboolean ok = demur_file_write(path, text, -1, DEMUR_FILE_REPLACE, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(ok);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
    assert_holds(path, "old");
    g_assert_cmpuint(count_files(f->folder), ==, 1);
  }
}

/* A child is killed while it writes: its file lies there until the next one writes, while the
 * unfinished file of a run that lives, and a file that only looks alike, stay. */
static void
leftovers_of_killed_runs_are_removed(Fixture *f, gconstpointer data) {
  g_autofree char *path = in(f, "a");
  int ready[2];
  g_assert_cmpint(pipe(ready), ==, 0);
  const pid_t child = fork();
  if (child == 0) {
    DemurFileOutput *output = demur_file_output_open(path, DEMUR_FILE_NEW, NULL);
    if (output != NULL && write(ready[1], "x", 1) == 1)
      pause();
    _exit(1);
  }
  char byte;
  g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
  g_assert_cmpuint(count_files(f->folder), ==, 1);
  g_assert_cmpint(kill(child, SIGKILL), ==, 0);
  g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
  g_assert_cmpuint(count_files(f->folder), ==, 1);

  g_autofree char *living = in(f, ".demur-00c0ffee.part");
  g_autofree char *alike = in(f, ".demur-notes.part");
  put(living, "");
  put(alike, "");
  const int held = open(living, O_RDONLY);
  g_assert_cmpint(flock(held, LOCK_EX), ==, 0);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_file_write(path, "text", -1, DEMUR_FILE_NEW, &error));
  close(held);
  close(ready[0]);
  close(ready[1]);
  assert_holds(path, "text");
  g_assert_true(g_file_test(living, G_FILE_TEST_EXISTS));
  g_assert_true(g_file_test(alike, G_FILE_TEST_EXISTS));
  g_assert_cmpuint(count_files(f->folder), ==, 3);
}

static void
text_is_shown_in_one_line_and_one_direction(void) {
  static const struct {
    const char *text, *line, *lines;
  } rows[] = {
      {"", "", ""},
      {"Ærøskøbing \xe6\x97\xa5\xe6\x9c\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
       "Ærøskøbing \xe6\x97\xa5\xe6\x9c\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
       "Ærøskøbing \xe6\x97\xa5\xe6\x9c\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"},
      {"a\nb\tc", "a[U+000A]b[U+0009]c", "a\nb\tc"},
      {"\x1b[31m\a\x7f", "[U+001B][31m[U+0007][U+007F]", "[U+001B][31m[U+0007][U+007F]"},
      {"\xc2\x9b", "[U+009B]", "[U+009B]"},
      {"\xe2\x80\xaeTXEN", "[U+202E]TXEN", "[U+202E]TXEN"},
      {"\xe2\x81\xa6x\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f", "[U+2066]x[U+2069][U+061C][U+200F]",
       "[U+2066]x[U+2069][U+061C][U+200F]"},
      {"\xe2\x80\xa8", "[U+2028]", "[U+2028]"},
      {"a\xff\xe2\x80", "a[xFF][xE2][x80]", "a[xFF][xE2][x80]"},
      {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac", /* joined, not turned */
       "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac",
       "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac"},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *line = demur_shown_text(rows[r].text);
    g_autofree char *lines = demur_shown_lines(rows[r].text);
    g_assert_cmpstr(line, ==, rows[r].line);
    g_assert_cmpstr(lines, ==, rows[r].lines);
  }
  g_assert_null(demur_shown_text(NULL));
  g_autofree char *json =
      demur_shown_json("{\n  \"a\": \"\xe2\x80\xaeTXEN \xc2\x9b\xc3\xa4\"\n}\n");
  g_assert_cmpstr(json, ==, "{\n  \"a\": \"\\u202eTXEN \\u009b\xc3\xa4\"\n}\n");
}

#define TEST(name) g_test_add("/file-output/" #name, Fixture, NULL, set_up, name, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  TEST(a_file_appears_whole_and_only_at_the_commit);
  TEST(what_is_not_committed_leaves_nothing);
  TEST(rights_are_the_owners_alone_unless_asked);
  TEST(anothers_rights_are_not_taken_over);
  TEST(a_taken_name_is_kept_without_replace);
  TEST(links_are_written_through);
  TEST(anothers_link_in_an_open_folder_is_refused);
  TEST(streams_stay_what_they_are);
  TEST(standard_output_is_a_stream);
  TEST(what_is_no_place_for_a_file_is_refused);
  TEST(a_full_disk_leaves_what_was_there);
  TEST(leftovers_of_killed_runs_are_removed);
  TEST(a_database_is_not_replaced);
  TEST(a_look_leaves_the_locks_of_this_process);
  TEST(a_ledger_is_replaced_by_itself_only);
  TEST(a_study_s_documents_are_not_replaced);
  TEST(labels_are_not_replaced);
  TEST(what_is_read_is_not_written);
  g_test_add_func("/shown-text/one_line_and_one_direction",
                  text_is_shown_in_one_line_and_one_direction);
  return g_test_run();
}
