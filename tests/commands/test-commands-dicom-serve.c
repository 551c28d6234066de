/* `demur serve`: every acknowledged study is answered once, or listed with why, whatever ends the
 * service in between. The archive is a storage server in the test; the model, a shell script. */
#define _GNU_SOURCE
#include "serve-fixture.h"

/* A study comes and is answered; it comes again and is not; more of it comes and it is, with a
 * report that names the one before. */
static void
test_a_study_is_answered_once(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  send_study(service, 1, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 1), ==, 1);
  send_study(service, 1, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 1), ==, 1);
  g_auto(GStrv) first = archived(folder, 1);
  g_autofree char *name = g_path_get_basename(first[0]);
  *strrchr(name, '.') = '\0'; /* its SOPInstanceUID */
  send_study(service, 1, N_SERVE_SLICES, N_SERVE_SLICES + 4);
  for (int i = 0; i < PATIENCE_SECONDS * 10 && n_archived(folder, 1) < 2; i++)
    g_usleep(100000);
  service_wait(service, "n_answered", 1);
  g_auto(GStrv) both = archived(folder, 1);
  g_assert_cmpuint(g_strv_length(both), ==, 2);
  const char *second = strcmp(both[0], first[0]) == 0 ? both[1] : both[0];
  g_assert_true(holds_text(second, name)); /* its predecessor */
  g_autoptr(Run) show = run_json(service->sandbox, 0, "dicom", "list", NULL);
  JsonObject *series = json_array_get_object_element(array_at(root_of(show), "series"), 0);
  g_assert_cmpfloat(number_at(series, "n_slices"), ==, N_SERVE_SLICES + 4);
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* Nothing that the service writes for itself names a patient. */
static void
test_journal_and_log_name_nobody(void) {
  g_autoptr(Service) service = service_new("");
  service->process = start_demur_heard(service->sandbox, "serve", service->settings, NULL);
  const DemurPeer peer = service_peer(service);
  for (int i = 0; i < PATIENCE_SECONDS * 100 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(10000);
  send_study(service, 2, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  g_subprocess_send_signal(service->process, SIGTERM);
  g_autofree char *out = NULL, *err = NULL;
  g_assert_true(g_subprocess_communicate_utf8(service->process, NULL, NULL, &out, &err, NULL));
  g_clear_object(&service->process);
  assert_says(err, "study 1.2.77.2 is answered: accepted");
  g_assert_null(strstr(err, "Somebody"));
  g_assert_null(strstr(err, "P2"));
  g_autofree char *journal = g_build_filename(service->folder, ".journal", NULL);
  g_assert_true(holds_text(journal, "1.2.77.2"));
  g_assert_false(holds_text(journal, "Somebody"));
}

/* Killed at moments all over the way of several studies: each is answered, once. */
static void
test_killed_it_goes_on_where_it_was(void) {
  enum { N_STUDIES = 3, N_KILLS = 8 };
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  g_autofree char *command = serve_model(service->sandbox, "sleep 0.3");
  serve_settings(service, command, answer);
  service_start(service);
  for (guint k = 0; k < N_STUDIES; k++)
    send_study(service, k, 0, N_SERVE_SLICES);
  for (int kill = 0; kill < N_KILLS; kill++) {
    g_usleep((gulong)(50000 + 70000 * kill));
    service_end(service, SIGKILL);
    service_start(service);
  }
  service_wait(service, "n_answered", N_STUDIES);
  for (guint k = 0; k < N_STUDIES; k++)
    g_assert_cmpuint(n_archived(folder, k), ==, 1);
  g_autoptr(Run) sound = run_json(service->sandbox, 0, "verify", NULL);
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

typedef struct {
  DemurPeer peer;
  char **paths;
} Sender;

static gpointer
send_in_thread(gpointer data) {
  const Sender *sender = data;
  (void)send_some(&sender->peer, sender->paths);
  return NULL;
}

/* Killed while a study comes in: what came is a part, and no verdict is given from it, until it is
 * sent again whole. */
static void
test_a_study_cut_off_by_a_kill_is_no_whole_one(void) {
  enum { N_LONG = 400, N_SOME = 30 };
  g_autoptr(Service) service = service_new("");
  service_start(service);
  g_auto(GStrv) paths = write_study(service->sandbox, 9, 0, N_LONG);
  Sender sender = {service_peer(service), paths};
  GThread *thread = g_thread_new("sender", send_in_thread, &sender);
  while (n_archived(service->folder, 9) < N_SOME)
    g_usleep(1000);
  service_end(service, SIGKILL);
  g_thread_join(thread);
  g_assert_cmpuint(n_archived(service->folder, 9), <, N_LONG);
  service_start(service);
  /* Another study goes all its way meanwhile. */
  send_study(service, 10, 0, N_SERVE_SLICES);
  for (int i = 0; i < PATIENCE_SECONDS * 10; i++) {
    g_autoptr(Run) run = service_status(service);
    if (number_at(root_of(run), "n_answered") >= 1)
      break;
    g_usleep(100000);
  }
  g_autoptr(Run) run = service_status(service);
  g_assert_cmpfloat(number_at(root_of(run), "n_answered"), ==, 1);
  g_assert_cmpfloat(number_at(root_of(run), "n_broken"), ==, 1);
  g_assert_cmpuint(send_some(&sender.peer, paths), ==, N_LONG);
  service_wait(service, "n_answered", 2);
  service_end(service, SIGTERM);
}

/* A study whose association broke off, and that nobody sends again: held with why, or, where the
 * settings say so, assessed and its report says that it may be of a part. */
static void
test_a_study_that_broke_off_is_held_or_told_as_a_part(void) {
  for (int assess = 0; assess < 2; assess++) {
    g_autofree char *folder = fixture_folder();
    FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
    g_autofree char *answer = answer_to(archive, "");
    g_autofree char *more =
        g_strdup_printf("[complete]\nwait = 1\npart = %s\n%s", assess ? "assess" : "hold", answer);
    g_autoptr(Service) service = service_new(more);
    service_start(service);
    g_auto(GStrv) paths = write_study(service->sandbox, 11, 0, 400);
    Sender sender = {service_peer(service), paths};
    GThread *thread = g_thread_new("sender", send_in_thread, &sender);
    while (n_archived(service->folder, 11) < 30)
      g_usleep(1000);
    service_end(service, SIGKILL);
    g_thread_join(thread);
    service_start(service);
    service_wait(service, assess ? "n_answered" : "n_held", 1);
    g_autoptr(Run) run = service_status(service);
    if (assess) {
      g_auto(GStrv) files = archived(folder, 11);
      g_assert_cmpuint(g_strv_length(files), ==, 1);
      g_assert_true(holds_text(files[0], "may be of a part"));
    } else {
      JsonObject *study = json_array_get_object_element(array_at(root_of(run), "held"), 0);
      assert_says(string_at(study, "why"), "broke off");
      g_assert_cmpuint(n_archived(folder, 11), ==, 0);
    }
    service_end(service, SIGTERM);
    fixture_server_stop(archive);
    fixture_server_free(archive);
    fixture_remove(folder);
  }
}

/* A model that fails is tried again, and then the verdict is `failed`, with its reason; who wants
 * such verdicts gets them. */
static void
test_a_failing_model_is_told(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "verdicts = failed\n");
  g_autoptr(Service) service = service_new(answer);
  g_autofree char *tries = sandbox_path(service->sandbox, "tries");
  g_autofree char *more = g_strdup_printf("echo x >> '%s'; exit 3", tries);
  g_autofree char *command = serve_model(service->sandbox, more);
  serve_settings(service, command, answer);
  service_start(service);
  send_study(service, 4, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(tries, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "x\nx\nx\n");
  g_auto(GStrv) files = archived(folder, 4);
  g_assert_cmpuint(g_strv_length(files), ==, 1);
  g_assert_true(holds_text(files[0], "FAILED"));
  g_assert_true(holds_text(files[0], "ended with exit status 3"));
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* An archive that is down: the answer waits, said with why, and goes out when it is back. */
static void
test_an_archive_that_is_down_is_waited_for(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_make(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  send_study(service, 5, 0, N_SERVE_SLICES);
  service_wait(service, "n_answer", 1);
  g_autoptr(Run) run = service_status(service);
  JsonObject *study = json_array_get_object_element(array_at(root_of(run), "queue"), 0);
  g_assert_cmpstr(string_at(study, "verdict"), ==, "accepted");
  service_end(service, SIGKILL);
  fixture_server_start(archive);
  service_start(service);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 5), ==, 1);
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* Studies that others put into the watched folder go the same way; what is no image stays there. */
static void
test_a_watched_folder_is_taken_over(void) {
  g_autoptr(Service) service = service_new("");
  g_autofree char *in = sandbox_path(service->sandbox, "in");
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(service->settings, &text, NULL, NULL));
  g_autoptr(GString) settings = g_string_new(text);
  g_autofree char *line = g_strdup_printf("[receive]\nwatch = %s", in);
  g_string_replace(settings, "[receive]", line, 1);
  g_free(sandbox_write(service->sandbox, "serve.conf", settings->str, -1));
  g_mkdir(in, 0700);
  service_start(service);
  g_auto(GStrv) paths = write_study(service->sandbox, 12, 0, N_SERVE_SLICES);
  g_autofree char *from = g_path_get_dirname(paths[0]);
  g_autofree char *to = g_build_filename(in, "study", NULL);
  fixture_write(from, "README", "no image", 8);
  g_assert_cmpint(g_rename(from, to), ==, 0);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(service->folder, 12), ==, N_SERVE_SLICES);
  g_autofree char *readme = g_build_filename(to, "README", NULL);
  g_autofree char *slice = g_build_filename(to, "000.dcm", NULL);
  g_assert_true(g_file_test(readme, G_FILE_TEST_EXISTS));
  for (int i = 0; i < PATIENCE_SECONDS * 10 && g_file_test(slice, G_FILE_TEST_EXISTS); i++)
    g_usleep(100000);
  g_assert_false(g_file_test(slice, G_FILE_TEST_EXISTS));
  service_end(service, SIGTERM);
}

/* What has no CT is held with why, and taken up again when a person says so. */
static void
test_a_held_study_is_listed_and_taken_up_again(void) {
  g_autoptr(Service) service = service_new("");
  service_start(service);
  g_autofree char *folder = sandbox_path(service->sandbox, "other");
  g_autofree char *path = g_build_filename(folder, "a.dcm", NULL);
  g_mkdir(folder, 0700);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWriter) w = demur_writer_new("1.2.840.10008.5.1.4.1.1.88.11", "1.2.77.6.1.1");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0016), "UI", "1.2.840.10008.5.1.4.1.1.88.11");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0018), "UI", "1.2.77.6.1.1");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0060), "CS", "SR");
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0020), "LO", "P6");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000D), "UI", "1.2.77.6");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000E), "UI", "1.2.77.6.1");
  g_assert_true(demur_writer_save(w, path, &error));
  const DemurPeer peer = service_peer(service);
  char *paths[] = {path, NULL};
  g_assert_cmpuint(send_some(&peer, paths), ==, 1);
  service_wait(service, "n_held", 1);
  g_autoptr(Run) run = service_status(service);
  JsonObject *study = json_array_get_object_element(array_at(root_of(run), "held"), 0);
  g_assert_cmpstr(string_at(study, "study_uid"), ==, "1.2.77.6");
  assert_says(string_at(study, "why"), "no CT series");
  g_autoptr(Run) unknown =
      run_demur(service->sandbox, "serve", "--again", "1.2.99", service->settings, NULL);
  assert_status(unknown, 1);
  send_study(service, 6, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  service_end(service, SIGTERM);
}

/* Settings are told apart by line, with what to write. */
static void
test_faulty_settings_name_line_and_remedy(void) {
  static const struct {
    const char *text, *says;
  } rows[] = {
      {"port = 1\n", "line 1: a key before the first section: write [receive]"},
      {"[recieve]\n", "line 1: there is no section [recieve]: there are [receive]"},
      {"[receive]\nfolder = /f\nprot = 5\n", "line 3: [receive] has no key 'prot': it has folder"},
      {"[receive]\nport = 70000\n", "line 2: port takes a whole number from 1 to 65535"},
      {"[receive]\nport = many\n", "line 2: port takes a whole number"},
      {"[receive]\nport = 1\n\nport = 2\n", "line 4: port is given in line 2 already"},
      {"[receive]\nfolder = here\n", "line 2: folder takes an absolute path"},
      {"[receive]\nae = MUCH TOO LONG A TITLE\n", "line 2: ae takes an AE title"},
      {"[complete]\narchive = pacs\n", "line 2: archive takes HOST:PORT, as in"},
      {"[complete]\npart = yes\n", "line 2: part takes hold or assess"},
      {"[receive\n", "line 1: a section ends with ]"},
      {"[receive]\nfolder\n", "line 2: neither a [section]"},
      {"[answer a b]\n", "line 1: a name of [answer NAME]"},
      {"[answer a]\nto = h:1\n[answer a]\n", "line 3: [answer a] is there twice"},
      {"[answer a]\nobjects = sr\n", "line 1: [answer] lacks to: add `to = ..`"},
      {"[answer a]\nto = h:1\nverdicts = accepted green\n", "line 3: verdicts takes words"},
      {"[receive]\nport = 1\n", "[receive] lacks folder: add `folder = ..`"},
      {"[receive]\nfolder = /f\n[model]\nname = m\ncommand = run\n[assess]\nselector = s\n",
       "line 5: command lacks {series} or {output}"},
  };
  g_autoptr(Sandbox) sandbox = sandbox_new();
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = sandbox_write(sandbox, "bad.conf", rows[i].text, -1);
    g_autoptr(Run) run = run_demur(sandbox, "serve", "--check", path, NULL);
    assert_status(run, 1);
    assert_says(run->err, rows[i].says);
  }
  g_autofree char *good = sandbox_write(
      sandbox, "good.conf",
      "# all\n[receive]\nfolder = /f\n[model]\nname = m\ncommand = run {series} {output}\n"
      "[assess]\nselector = s\n[answer pacs]\nto = h:104\nobjects = sr pdf\n",
      -1);
  g_autoptr(Run) run = run_demur(sandbox, "serve", "--check", good, NULL);
  assert_status(run, 0);
}

/* Settings that change while it runs: good ones are taken over, faulty ones are not. */
static void
test_settings_are_read_again(void) {
  g_autoptr(Service) service = service_new("");
  g_autofree char *broken = serve_model(service->sandbox, "exit 1");
  serve_settings(service, broken, "");
  service_start(service);
  g_autofree char *good = serve_model(service->sandbox, NULL);
  (void)sandbox_write(service->sandbox, "serve.conf", "[receive]\nnonsense\n", -1);
  g_subprocess_send_signal(service->process, SIGHUP);
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  serve_settings(service, good, answer);
  g_subprocess_send_signal(service->process, SIGHUP);
  /* Whenever the new settings hold, the answer goes to the archive. */
  for (guint k = 0; k < 20 && n_archived(folder, 6 + k) == 0; k++) {
    send_study(service, 7 + k, 0, N_SERVE_SLICES);
    service_wait(service, "n_answered", k + 1);
    if (n_archived(folder, 7 + k) > 0)
      break;
    g_assert_cmpuint(k, <, 19);
  }
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* One service a folder; and one that could give no verdict does not begin. */
static void
test_what_can_not_serve_does_not_begin(void) {
  g_autoptr(Service) service = service_new("");
  service_start(service);
  g_autoptr(Run) second = run_demur(service->sandbox, "serve", service->settings, NULL);
  assert_status(second, 1);
  assert_says(second->err, "another service has the folder");
  g_autoptr(Run) status = service_status(service);
  g_assert_true(bool_at(root_of(status), "running"));
  service_end(service, SIGTERM);
  g_autoptr(Run) ended = service_status(service);
  g_assert_false(bool_at(root_of(ended), "running"));
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(service->settings, &text, NULL, NULL));
  g_autoptr(GString) other = g_string_new(text);
  g_string_replace(other, "selector = s", "selector = nobody", 0);
  g_autofree char *path = sandbox_write(service->sandbox, "other.conf", other->str, -1);
  g_autoptr(Run) unknown = run_demur(service->sandbox, "serve", path, NULL);
  assert_status(unknown, 1);
  assert_says(unknown->err, "nobody");
}

/* Whose numbers they are is said with its version wherever they go; where nobody says it, that. */
static void
test_the_model_s_version_goes_with_its_score(void) {
  static const struct {
    const char *name, *text, *option, *version;
  } rows[] = {
      {"a.csv", "scan_id,risk,model_version\n1.2.3.4,0.2,1.0-rc\n", NULL, "1.0-rc"},
      {"b.csv", "scan_id,risk\n1.2.3.4,0.3\n", "2.0-rc", "2.0-rc"},
      {"c.json",
       "{\"model_version\": \"3.0-rc\", \"scores\": [{\"scan_id\": \"1.2.3.4\", "
       "\"risk\": 0.3}]}",
       NULL, "3.0-rc"},
      {"d.json", "[{\"scan_id\": \"1.2.3.4\", \"risk\": 0.3, \"model_version\": \"4.0-rc\"}]",
       "9.9", "4.0-rc"},
      {"e.csv", "scan_id,risk\n1.2.3.4,0.3\n", NULL, NULL},
  };
  g_autoptr(Sandbox) sandbox = with_selector();
  write_slices(sandbox, "in", 0, N, "P1", "One^Person", 0);
  import(sandbox, "in");
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *path = sandbox_write(sandbox, rows[i].name, rows[i].text, -1);
    if (i > 0) { /* another version is another score */
      g_autoptr(Run) other =
          run_json(sandbox, 1, "scores", "import", path, "--model", "m",
                   rows[i].option != NULL ? "--model-version" : NULL, rows[i].option, NULL);
      assert_says(other->err, "another score by model m");
    }
    g_autoptr(Run) taken =
        run_json(sandbox, 0, "scores", "import", path, "--model", "m", "--replace",
                 rows[i].option != NULL ? "--model-version" : NULL, rows[i].option, NULL);
    assess(sandbox);
    g_autofree char *report = sandbox_path(sandbox, "report.dcm"),
                    *json = sandbox_path(sandbox, "out.json");
    g_autoptr(Run) sr = run_json(sandbox, 0, "export", report, "--scan", UID, NULL);
    g_assert_true(holds_text(report, rows[i].version != NULL ? rows[i].version : "not recorded"));
    g_autoptr(Run) table = run_json(sandbox, 0, "export", json, NULL);
    g_autofree char *written = rows[i].version != NULL
                                   ? g_strdup_printf("\"model_version\": \"%s\"", rows[i].version)
                                   : g_strdup("\"model_version\": null");
    g_assert_true(holds_text(json, written));
  }
  g_autoptr(Run) sound = run_json(sandbox, 0, "verify", NULL);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/serve/a-study-is-answered-once", test_a_study_is_answered_once);
  g_test_add_func("/commands/serve/journal-and-log-name-nobody", test_journal_and_log_name_nobody);
  g_test_add_func("/commands/serve/killed-it-goes-on-where-it-was",
                  test_killed_it_goes_on_where_it_was);
  g_test_add_func("/commands/serve/a-study-cut-off-by-a-kill-is-no-whole-one",
                  test_a_study_cut_off_by_a_kill_is_no_whole_one);
  g_test_add_func("/commands/serve/a-study-that-broke-off-is-held-or-told-as-a-part",
                  test_a_study_that_broke_off_is_held_or_told_as_a_part);
  g_test_add_func("/commands/serve/a-watched-folder-is-taken-over",
                  test_a_watched_folder_is_taken_over);
  g_test_add_func("/commands/serve/a-failing-model-is-told", test_a_failing_model_is_told);
  g_test_add_func("/commands/serve/an-archive-that-is-down-is-waited-for",
                  test_an_archive_that_is_down_is_waited_for);
  g_test_add_func("/commands/serve/a-held-study-is-listed-and-taken-up-again",
                  test_a_held_study_is_listed_and_taken_up_again);
  g_test_add_func("/commands/serve/faulty-settings-name-line-and-remedy",
                  test_faulty_settings_name_line_and_remedy);
  g_test_add_func("/commands/serve/settings-are-read-again", test_settings_are_read_again);
  g_test_add_func("/commands/serve/what-can-not-serve-does-not-begin",
                  test_what_can_not_serve_does_not_begin);
  g_test_add_func("/commands/serve/the-model-s-version-goes-with-its-score",
                  test_the_model_s_version_goes_with_its_score);
  return g_test_run();
}
