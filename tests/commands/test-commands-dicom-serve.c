/* `demur serve`: every acknowledged study is answered once, or listed with why, whatever ends the
 * service in between. The archive is a storage server in the test; the model, a shell script. */
#define _GNU_SOURCE
#include "serve-fixture.h"

#include "dicom/commitment.h"
#include "base/error.h"
#include "dicom/web.h"
#include "tasks/serve.h"

#include <glib/gstdio.h>
#include <utime.h>

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
  service_end_all(service, archive, folder);
}

/* By HTTP where the program takes it so, else by an association. */
static void
store_study(const Service *service, guint k, guint http_port) {
  g_auto(GStrv) paths = write_study(service->sandbox, k, 0, N_SERVE_SLICES);
  g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u", http_port);
  const DemurWeb web = {.url = url, .timeout_seconds = 20};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending = demur_web_send(&web, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, N_SERVE_SLICES);
}

/* Nothing that the service writes for itself names a patient, whichever way objects came. */
static void
test_journal_and_log_name_nobody(void) {
  const DemurStow stow = {.address = "127.0.0.1"};
  const gboolean by_http = demur_stow_check(&stow, NULL);
  const guint port = fixture_port();
  g_autofree char *more = by_http ? g_strdup_printf("[stow]\nport = %u\n", port) : g_strdup("");
  g_autoptr(Service) service = service_new(more);
  service->process = start_demur_heard(service->sandbox, "serve", service->settings, NULL);
  const DemurPeer peer = service_peer(service);
  for (int i = 0; i < PATIENCE_SECONDS * 100 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(10000);
  send_study(service, 2, 0, N_SERVE_SLICES);
  if (by_http)
    store_study(service, 3, port);
  service_wait(service, "n_answered", by_http ? 2 : 1);
  g_subprocess_send_signal(service->process, SIGTERM);
  g_autofree char *out = NULL, *err = NULL;
  g_assert_true(g_subprocess_communicate_utf8(service->process, NULL, NULL, &out, &err, NULL));
  g_clear_object(&service->process);
  assert_says(err, "study 1.2.77.2 is answered: accepted");
  if (by_http)
    assert_says(err, "study 1.2.77.3 is answered: accepted");
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
  service_end_all(service, archive, folder);
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
  /* Another sender has some of it too: that is not what the killed service lost. */
  DemurPeer other = sender.peer;
  other.calling = "OTHER";
  char *some[] = {paths[0], paths[1], NULL};
  g_assert_cmpuint(send_some(&other, some), ==, 2);
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
    service_end_all(service, archive, folder);
  }
}

static void
send_of(const Service *service, guint k, int from, int to, guint n) {
  g_auto(GStrv) paths = write_study_of(service->sandbox, k, from, to, n);
  const DemurPeer peer = service_peer(service);
  g_assert_cmpuint(send_some(&peer, paths), ==, (size_t)(to - from));
}

/* Images that say how many their acquisition has are waited for; then the study is held or told as a
 * part, unless the settings say that they are not counted. */
static void
test_images_of_an_acquisition_are_waited_for(void) {
  static const struct {
    const char *complete, *end, *why;
  } rows[] = {
      {"wait = 600\n", "n_answered", NULL},
      {"wait = 0\n", "n_held", "24 of the 30 images that its acquisitions have"},
      {"wait = 0\npart = assess\n", "n_answered", "24 of 30 objects"},
      {"wait = 600\nacquisitions = no\n", "n_answered", NULL},
  };
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *folder = fixture_folder();
    FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
    g_autofree char *answer = answer_to(archive, "");
    g_autofree char *more = g_strconcat("[complete]\n", rows[r].complete, answer, NULL);
    g_autoptr(Service) service = service_new(more);
    service_start(service);
    send_of(service, 30, 0, 24, 30);
    if (r == 0) {
      g_autofree char *why = NULL;
      for (int i = 0; i < PATIENCE_SECONDS * 10 && why == NULL; i++) {
        g_autoptr(Run) run = service_status(service);
        JsonArray *queue = array_at(root_of(run), "queue");
        JsonObject *study =
            json_array_get_length(queue) > 0 ? json_array_get_object_element(queue, 0) : NULL;
        why = study != NULL && !is_null_at(study, "why") ? g_strdup(string_at(study, "why")) : NULL;
        g_usleep(100000);
      }
      assert_says(why, "24 of the 30 images that its acquisitions have (0020,1002) are here");
      send_of(service, 30, 24, 30, 30);
    }
    service_wait(service, rows[r].end, 1);
    g_autoptr(Run) run = service_status(service);
    if (strcmp(rows[r].end, "n_held") == 0) {
      JsonObject *study = json_array_get_object_element(array_at(root_of(run), "held"), 0);
      assert_says(string_at(study, "why"), rows[r].why);
    } else {
      g_auto(GStrv) files = archived(folder, 30);
      g_assert_cmpuint(g_strv_length(files), ==, 1);
      g_assert_cmpint(holds_text(files[0], "of a part"), ==, rows[r].why != NULL);
    }
    service_end_all(service, archive, folder);
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
  service_end_all(service, archive, folder);
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
  service_end_all(service, archive, folder);
}

/* A night in which the archive is down and the service is killed again and again: in the morning each
 * study is answered, once. */
static void
test_a_night_without_the_archive(void) {
  enum { N_NIGHT = 12 };
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_make(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  for (guint k = 0; k < N_NIGHT; k++) {
    send_study(service, 40 + k, 0, N_SERVE_SLICES);
    if (k % 4 != 3)
      continue;
    service_end(service, SIGKILL);
    service_start(service);
  }
  service_wait(service, "n_answer", N_NIGHT);
  fixture_server_start(archive);
  service_wait(service, "n_answered", N_NIGHT);
  for (guint k = 0; k < N_NIGHT; k++)
    g_assert_cmpuint(n_archived(folder, 40 + k), ==, 1);
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  g_assert_cmpuint(archive->received.n_received, ==, N_NIGHT);
  g_assert_cmpuint(archive->received.n_known, ==, 0);
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
  /* An image of the same study that can't be kept by its name is not taken: it stays. */
  FixtureImage nameless = fixture_image(90, 200.0);
  nameless.study_uid = "1.2.77.12";
  nameless.series_uid = "1.2.77.12.1";
  nameless.uid_root = "no.uid";
  nameless.patient_id = "P12";
  nameless.patient_name = "Somebody^Number12";
  fixture_save(&nameless, from, "nameless.dcm");
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
  g_autofree char *left = g_build_filename(to, "nameless.dcm", NULL);
  g_assert_true(g_file_test(left, G_FILE_TEST_EXISTS));
}

/* The verdict of study k as it was given last. */
static char *
verdict_of(const Service *service, guint k, gboolean *withheld) {
  g_autofree char *path = sandbox_path(service->sandbox, "verdicts.json"), *text = NULL;
  g_autofree char *scan = g_strdup_printf("1.2.77.%u.1", k);
  g_autoptr(Run) export = run_json(service->sandbox, 0, "export", path, NULL);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(JsonNode) root = json_from_string(text, NULL);
  JsonObject *one = find_in(array_at(json_node_get_object(root), "verdicts"), "scan_id", scan);
  JsonArray *reasons = array_at(one, "reasons");
  *withheld = json_array_get_length(reasons) > 0 &&
              strstr(json_array_get_string_element(reasons, 0), "withheld by the watch") != NULL;
  return g_strdup(string_at(one, "verdict"));
}

/* Cohort "makers" for a watch's reference: the model's risks again, each with its scanner's maker. */
static void
import_makers(const Sandbox *sandbox) {
  g_autoptr(GRand) random = g_rand_new_with_seed(12);
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label,risk,manufacturer\n");
  for (int i = 0; i < 300; i++) {
    const double risk = 0.02 + 0.5 * g_rand_double(random);
    g_string_append_printf(table, "m%d,s%d,tune,%d,%.4f,MAKER %c\n", i, i % 8,
                           g_rand_double(random) < risk ? 1 : 0, risk, "AB"[i % 2]);
  }
  g_autofree char *path = sandbox_write(sandbox, "makers.csv", table->str, -1);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "import", "makers", path, "--model", "m", NULL);
}

/* Studies of a scanner that the reference does not have are answered until the watch alarms; the next is
 * answered as withheld, with why; behind a person's decision risks are shown again. */
static void
test_an_alarm_withholds_until_a_person_lifts_it(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  import_makers(service->sandbox);
  g_autoptr(Run) start =
      run_json(service->sandbox, 0, "watch", "start", "s", "--cohort", "makers", "--split", "tune",
               "--alpha", "0.9", "--rule", "ignore", "--rule", "manufacturer=withhold", NULL);
  g_assert_cmpfloat(number_at(root_of(start), "n_reference"), >, 50);
  service_start(service);
  const guint first = 5000; /* no number of a patient of the cohort */
  guint k = first, n_alarms = 0;
  gboolean withheld;
  while (n_alarms == 0 && k < first + 12) {
    send_study(service, ++k, 0, N_SERVE_SLICES);
    service_wait(service, "n_answered", k - first);
    g_autofree char *verdict = verdict_of(service, k, &withheld);
    g_assert_cmpstr(verdict, ==, "accepted");
    g_autoptr(Run) show = run_json(service->sandbox, 0, "watch", "show", "s", NULL);
    n_alarms = json_array_get_length(
        array_at(json_array_get_object_element(array_at(root_of(show), "watches"), 0), "alarms"));
  }
  g_assert_cmpuint(n_alarms, ==, 1);
  send_study(service, ++k, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", k - first);
  g_autofree char *stopped = verdict_of(service, k, &withheld);
  g_assert_cmpstr(stopped, ==, "red_flag");
  g_assert_true(withheld);
  g_assert_cmpuint(n_archived(folder, k), ==, 1);
  g_auto(GStrv) told = archived(folder, k);
  g_assert_true(holds_text(told[0], "withheld by the watch since"));
  g_autoptr(Run) lift = run_json(service->sandbox, 0, "watch", "lift", "1", "--reason",
                                 "the new scanner is approved", NULL);
  send_study(service, ++k, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", k - first);
  g_autofree char *again = verdict_of(service, k, &withheld);
  g_assert_cmpstr(again, ==, "accepted");
  g_autoptr(Run) log = run_demur(service->sandbox, "log", NULL);
  assert_says(log->out, "watch-lift:1");
  service_end_all(service, archive, folder);
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
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0016), DEMUR_VR_UI, "1.2.840.10008.5.1.4.1.1.88.11");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0018), DEMUR_VR_UI, "1.2.77.6.1.1");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0060), DEMUR_VR_CS, "SR");
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0020), DEMUR_VR_LO, "P6");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000D), DEMUR_VR_UI, "1.2.77.6");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000E), DEMUR_VR_UI, "1.2.77.6.1");
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

/* How many objects that an archive has of a study name that SOP class. */
static guint
count_of_class(const char *folder, guint k, const char *sop_class) {
  g_auto(GStrv) files = archived(folder, k);
  guint n = 0;
  for (char **file = files; *file != NULL; file++)
    n += holds_text(*file, sop_class) ? 1 : 0;
  return n;
}

/* Whether a delivery of a study in the queue is in that state, and says so of why it is (NULL: any). */
static gboolean
has_delivery(const Service *service, const char *state, const char *why) {
  g_autoptr(Run) run = service_status(service);
  JsonArray *queue = array_at(root_of(run), "queue");
  for (guint i = 0; i < json_array_get_length(queue); i++) {
    JsonArray *deliveries = array_at(json_array_get_object_element(queue, i), "deliveries");
    for (guint d = 0; d < json_array_get_length(deliveries); d++) {
      JsonObject *delivery = json_array_get_object_element(deliveries, d);
      if (strcmp(string_at(delivery, "state"), state) == 0 &&
          (why == NULL || (!json_object_get_null_member(delivery, "why") &&
                           strstr(string_at(delivery, "why"), why) != NULL)))
        return TRUE;
    }
  }
  return FALSE;
}

static void
wait_for_delivery(const Service *service, const char *state, const char *why) {
  for (int i = 0; i < PATIENCE_SECONDS * 10; i++) {
    if (has_delivery(service, state, why))
      return;
    g_usleep(100000);
  }
  g_error("no delivery ever was %s", state);
}

/* The transaction whose answer the service awaits. Owned. */
static char *
awaited_transaction(const Service *service) {
  g_autofree char *open = g_build_filename(service->folder, ".journal", "commitments", NULL);
  g_autoptr(GDir) dir = g_dir_open(open, 0, NULL);
  g_assert_nonnull(dir);
  char *transaction = g_strdup(g_dir_read_name(dir));
  g_assert_nonnull(transaction);
  return transaction;
}

/* An archive that stored a report and says hours later that it does not commit to it, as another
 * that does not hold it says to the same question: it is sent again, and committed to. */
static void
test_what_is_not_committed_to_is_sent_again(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *nothing = fixture_folder();
  g_autoptr(Service) service = service_new("");
  g_autofree char *nowhere = g_strdup_printf("DEMUR=127.0.0.1:%u", fixture_port());
  g_autofree char *there = g_strdup_printf("DEMUR=127.0.0.1:%u", service->port);
  const char *const to_nowhere[] = {nowhere, NULL}, *const to_service[] = {there, NULL};
  FixtureServer *archive = fixture_server_make(folder, NULL, NULL);
  archive->receiver.commit_to = to_nowhere;
  fixture_server_start(archive);
  FixtureServer *without = fixture_server_make(nothing, NULL, NULL);
  without->receiver.commit_to = to_service;
  fixture_server_start(without);
  g_autofree char *command = serve_model(service->sandbox, NULL);
  g_autofree char *answer = answer_to(archive, "commit = yes\n");
  serve_settings(service, command, answer);
  service_start(service);
  send_study(service, 32, 0, N_SERVE_SLICES);
  wait_for_delivery(service, "stored", "has not committed");
  g_autofree char *transaction = awaited_transaction(service);
  g_auto(GStrv) files = archived(folder, 32);
  g_assert_cmpuint(g_strv_length(files), ==, 1);
  DemurPeer peer = fixture_peer(without);
  peer.calling = "DEMUR";
  DemurCommitment outcome;
  g_autoptr(GError) error = NULL;
  g_assert_true(
      demur_network_commit(&peer, (const char *const *)files, transaction, &outcome, &error));
  g_assert_no_error(error);
  wait_for_delivery(service, "waiting", "does not commit");
  service_end(service, SIGKILL);
  fixture_server_stop(without);
  fixture_server_free(without);
  const guint port = archive->receiver.port;
  fixture_server_stop(archive);
  fixture_server_free(archive);
  archive = fixture_server_make(folder, NULL, NULL);
  archive->receiver.port = port;
  fixture_server_start(archive);
  service_start(service);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 32), ==, 1);
  fixture_server_stop(archive);
  g_assert_cmpuint(archive->received.n_known, >=, 1);
  service_end(service, SIGTERM);
  fixture_server_free(archive);
  fixture_remove(nothing);
  fixture_remove(folder);
}

/* Report, page and picture go out, and count as delivered once the archive has committed to them. */
static void
test_an_archive_commits_to_three_objects(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "objects = sr pdf picture\ncommit = yes\n");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  send_study(service, 30, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 30), ==, 3);
  g_assert_cmpuint(count_of_class(folder, 30, "1.2.840.10008.5.1.4.1.1.88.22"), ==, 1);
  g_assert_cmpuint(count_of_class(folder, 30, "1.2.840.10008.5.1.4.1.1.104.1"), ==, 1);
  g_assert_cmpuint(count_of_class(folder, 30, "1.2.840.10008.5.1.4.1.1.7"), ==, 1);
  g_autofree char *open = g_build_filename(service->folder, ".journal", "commitments", NULL);
  g_autoptr(GDir) dir = g_dir_open(open, 0, NULL);
  g_assert_null(g_dir_read_name(dir));
  service_end_all(service, archive, folder);
}

/* An archive that commits over an association of its own, later, to the port of the service: across
 * a kill too. One that never does is asked again, and the answer goes out again. */
static void
test_a_late_commitment_is_awaited(void) {
  g_autofree char *folder = fixture_folder();
  g_autoptr(Service) service = service_new("");
  g_autofree char *nowhere = g_strdup_printf("DEMUR=127.0.0.1:%u", fixture_port());
  g_autofree char *there = g_strdup_printf("DEMUR=127.0.0.1:%u", service->port);
  const char *const to_nowhere[] = {nowhere, NULL}, *const to_service[] = {there, NULL};
  FixtureServer *archive = fixture_server_make(folder, NULL, NULL);
  archive->receiver.commit_to = to_nowhere;
  fixture_server_start(archive);
  g_autofree char *command = serve_model(service->sandbox, NULL);
  g_autofree char *answer = answer_to(archive, "commit = yes\ncommit-wait = 1\n");
  serve_settings(service, command, answer);
  service_start(service);
  send_study(service, 31, 0, N_SERVE_SLICES);
  wait_for_delivery(service, "stored", NULL);
  service_end(service, SIGKILL);
  const guint port = archive->receiver.port;
  fixture_server_stop(archive);
  /* It was sent, and is sent again: the same object. */
  g_assert_cmpuint(n_archived(folder, 31), ==, 1);
  fixture_server_free(archive);
  archive = fixture_server_make(folder, NULL, NULL);
  archive->receiver.port = port;
  archive->receiver.commit_to = to_service;
  fixture_server_start(archive);
  service_start(service);
  service_wait(service, "n_answered", 1);
  g_assert_cmpuint(n_archived(folder, 31), ==, 1);
  fixture_server_stop(archive);
  g_assert_cmpuint(archive->received.n_known, >=, 1);
  service_end(service, SIGTERM);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* What an HTTP server on this machine answers to a request (owned). */
static char *
ask(guint port, const char *request) {
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketConnection) connection =
      g_socket_client_connect_to_host(client, "127.0.0.1", (guint16)port, NULL, &error);
  g_assert_no_error(error);
  GIOStream *stream = G_IO_STREAM(connection);
  char answer[16384] = "";
  gsize n = 0;
  g_assert_true(g_output_stream_write_all(g_io_stream_get_output_stream(stream), request,
                                          strlen(request), NULL, NULL, NULL));
  g_assert_true(g_input_stream_read_all(g_io_stream_get_input_stream(stream), answer,
                                        sizeof answer - 1, &n, NULL, NULL));
  return g_strndup(answer, n);
}

/* Prometheus reads the counters at a port of this machine, beside one who asks and says nothing. */
static void
test_counters_are_read_at_a_port(void) {
  const guint port = fixture_port();
  g_autoptr(Service) service = service_new("");
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(service->settings, &text, NULL, NULL));
  g_autofree char *line = g_strdup_printf("reserve = 0\nmetrics = %u\n", port);
  g_auto(GStrv) parts = g_strsplit(text, "reserve = 0\n", 2);
  g_autofree char *changed = g_strjoinv(line, parts);
  g_assert_true(g_file_set_contents(service->settings, changed, -1, NULL));
  service_start(service);
  g_autofree char *counters = ask(port, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  assert_says(counters, "HTTP/1.0 200 OK\r\n");
  assert_says(counters, "\ndemur_serve_running 1\n");
  assert_says(counters, "\ndemur_serve_held 0\n");
  g_autofree char *other = ask(port, "GET /studies HTTP/1.1\r\n\r\n");
  assert_says(other, "HTTP/1.0 404");
  service_end(service, SIGTERM);
}

static void
make_old(const char *path, gint64 seconds) {
  const gint64 then = g_get_real_time() / G_USEC_PER_SEC - seconds;
  struct utimbuf times = {then, then};
  g_assert_cmpint(g_utime(path, &times), ==, 0);
}

/* Images of a study that was answered long ago go where the settings say so, and the log tells; those
 * that came since, and those of other studies, stay. */
static void
test_images_of_old_answers_are_removed(void) {
  g_autoptr(Service) service = service_new("[keep]\nimages = 2\n");
  service_start(service);
  for (guint k = 40; k < 43; k++)
    send_study(service, k, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 3);
  service_end(service, SIGTERM);
  for (guint k = 40; k < 42; k++) {
    g_autofree char *name = g_strdup_printf("1.2.77.%u.json", k);
    g_autofree char *record = g_build_filename(service->folder, ".journal", "answered", name, NULL);
    make_old(record, 3 * 86400);
    g_auto(GStrv) files = archived(service->folder, k);
    for (char **file = files; *file != NULL; file++)
      if (k == 40 || file != files) /* one of 41 came since */
        make_old(*file, 3 * 86400);
  }
  service->process = start_demur_heard(service->sandbox, "serve", service->settings, NULL);
  g_autofree char *gone = g_build_filename(service->folder, "1.2.77.40", NULL);
  for (int i = 0; i < PATIENCE_SECONDS * 10 &&
                  (g_file_test(gone, G_FILE_TEST_EXISTS) || n_archived(service->folder, 41) > 1);
       i++)
    g_usleep(100000);
  g_subprocess_send_signal(service->process, SIGTERM);
  g_autofree char *out = NULL, *err = NULL;
  g_assert_true(g_subprocess_communicate_utf8(service->process, NULL, NULL, &out, &err, NULL));
  g_clear_object(&service->process);
  g_assert_false(g_file_test(gone, G_FILE_TEST_EXISTS));
  g_assert_cmpuint(n_archived(service->folder, 41), ==, 1);
  g_assert_cmpuint(n_archived(service->folder, 42), ==, N_SERVE_SLICES);
  assert_says(err, "study 1.2.77.40: 24 received images were removed");
  g_autoptr(Run) sound = run_json(service->sandbox, 0, "verify", NULL);
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
      {"[receive]\ncommit-to = PACS\n", "line 2: commit-to takes AE=HOST:PORT"},
      {"[receive]\nfolder = /f\n[model]\nname = m\ncommand = {series} {output}\n[assess]\n"
       "selector = s\n[answer a]\nto = https://h\ncommit = yes\n",
       "[answer a] commit = yes needs HOST:PORT"},
#define REST "[model]\nname = m\ncommand = {series} {output}\n[assess]\nselector = s\n"
      {"[receive]\nfolder = /f\nwatch = /f\n" REST, "line 3: watch and folder must not hold"},
      {"[receive]\nwatch = /f/w/\nfolder = /f\n" REST, "line 2: watch and folder must not hold"},
      {"[receive]\nfolder = /f/../g/h\nwatch = /g\n" REST, "line 3: watch and folder must not"},
      {"[receive]\nfolder = /f\nwatch = /\n" REST, "line 3: watch and folder must not hold"},
      {"[stow]\naddress = here\n", "line 2: address takes an address of this machine"},
      {"[receive]\nfolder = /f\nport = 8\n[stow]\nport = 8\n" REST, "[stow] port 8 is taken"},
      {"[receive]\nfolder = /f\n[stow]\nport = 8\naddress = 0.0.0.0\n" REST,
       "[stow] address 0.0.0.0 is reached from other machines: add certificate"},
      {"[receive]\nfolder = /f\n[stow]\nport = 8\nkey = /k\n" REST,
       "[stow] certificate and key go together: add certificate"},
      {"[receive]\nfolder = /f\n[stow]\nport = 8\nauthorities = /a\n" REST,
       "[stow] authorities need our own certificate"},
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
      "# all\n[receive]\nfolder = /f\nwatch = /f2\n[model]\nname = m\ncommand = run {series} {output}\n"
      "[assess]\nselector = s\n[answer pacs]\nto = h:104\nobjects = sr pdf\n[stow]\nport = 8\naddress = ::1\n",
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
  service_end_all(service, archive, folder);
}

/* A terminal, or a container, ends all processes of the service at once: in good order too. */
static void
test_all_its_processes_are_ended(void) {
  g_autoptr(Service) service = service_new("");
  service_start(service);
  const char *pid = g_subprocess_get_identifier(service->process);
  g_autofree char *path = g_strdup_printf("/proc/%s/task/%s/children", pid, pid), *text = NULL;
  if (g_file_get_contents(path, &text, NULL, NULL)) {
    g_auto(GStrv) children = g_strsplit(g_strchomp(text), " ", -1);
    g_assert_cmpuint(g_strv_length(children), >, 0);
    for (char **child = children; *child != NULL; child++)
      kill((pid_t)g_ascii_strtoll(*child, NULL, 10), SIGTERM);
  } else
    g_test_message("this kernel tells no children");
  service_end(service, SIGTERM);
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
  /* Neither does one whose model is not the selector's, or whose coverage was not tuned. */
  static const struct {
    const char *from, *to, *says;
  } rows[] = {{"name = m\n", "name = n\n", "reads scores of model m, but [model] name is n"},
              {"selector = s\n", "selector = s\ncoverage = 0.123\n", "0.123"}};
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_string_assign(other, text);
    g_assert_cmpuint(g_string_replace(other, rows[r].from, rows[r].to, 0), ==, 1);
    g_autofree char *faulty = sandbox_write(service->sandbox, "other.conf", other->str, -1);
    g_autoptr(Run) run = run_demur(service->sandbox, "serve", faulty, NULL);
    assert_status(run, 1);
    assert_says(run->err, rows[r].says);
  }
}

/* A service whose threads are of a limited number: started, it is ended by its first word of being there. */
typedef struct {
  const Service *service;
  GCancellable *ended;
  gboolean must_serve, may_serve;
} FewThreads;

static void
end_when_listening(const char *sentence, gpointer data) {
  const FewThreads *few = data;
  if (g_str_has_prefix(sentence, "listening on"))
    g_cancellable_cancel(few->ended);
}

static int
serve_with_few(gpointer data) {
  FewThreads *few = data;
  few->ended = g_cancellable_new();
  g_auto(DemurTask) task = {.workspace_path = g_strdup(few->service->sandbox->workspace),
                            .seed = 1,
                            .progress = {NULL, NULL, few->ended}};
  const DemurServeParams params = {
      .config_path = few->service->settings, .say = end_when_listening, .data = few};
  g_autoptr(GError) error = NULL;
  if (demur_task_serve(&task, &params, &error))
    return few->must_serve || few->may_serve ? 0 : 3;
  const gboolean told = g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STATE) &&
                        strstr(error->message, "the system makes no more threads") != NULL;
  if (!told)
    g_printerr("%s\n", error->message);
  return told && !few->must_serve ? 0 : 4;
}

/* Its listener is a process, its worker and its courier are threads, and so are the counters at a port; what it computes
 * with takes what is left. */
static void
test_without_threads_it_says_so(void) {
  g_autofree char *metrics = g_strdup_printf("[receive]\nmetrics = %u\n", fixture_port());
  g_autoptr(Service) service = service_new(metrics);
  static const struct {
    guint n;
    gboolean must_serve, may_serve;
  } rows[] = {{2, FALSE, FALSE}, {3, FALSE, FALSE}, {4, FALSE, FALSE},
              {5, FALSE, TRUE},  {6, FALSE, TRUE},  {200, TRUE, FALSE}};
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    FewThreads few = {service, NULL, rows[r].must_serve, rows[r].may_serve};
    demur_test_with_few_threads(rows[r].n, service->sandbox->folder, serve_with_few, &few);
  }
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
  g_test_add_func("/commands/serve/images-of-an-acquisition-are-waited-for",
                  test_images_of_an_acquisition_are_waited_for);
  g_test_add_func("/commands/serve/an-alarm-withholds-until-a-person-lifts-it",
                  test_an_alarm_withholds_until_a_person_lifts_it);
  g_test_add_func("/commands/serve/a-failing-model-is-told", test_a_failing_model_is_told);
  g_test_add_func("/commands/serve/an-archive-that-is-down-is-waited-for",
                  test_an_archive_that_is_down_is_waited_for);
  g_test_add_func("/commands/serve/a-night-without-the-archive", test_a_night_without_the_archive);
  g_test_add_func("/commands/serve/a-held-study-is-listed-and-taken-up-again",
                  test_a_held_study_is_listed_and_taken_up_again);
  g_test_add_func("/commands/serve/an-archive-commits-to-three-objects",
                  test_an_archive_commits_to_three_objects);
  g_test_add_func("/commands/serve/what-is-not-committed-to-is-sent-again",
                  test_what_is_not_committed_to_is_sent_again);
  g_test_add_func("/commands/serve/a-late-commitment-is-awaited",
                  test_a_late_commitment_is_awaited);
  g_test_add_func("/commands/serve/counters-are-read-at-a-port", test_counters_are_read_at_a_port);
  g_test_add_func("/commands/serve/images-of-old-answers-are-removed",
                  test_images_of_old_answers_are_removed);
  g_test_add_func("/commands/serve/faulty-settings-name-line-and-remedy",
                  test_faulty_settings_name_line_and_remedy);
  g_test_add_func("/commands/serve/settings-are-read-again", test_settings_are_read_again);
  g_test_add_func("/commands/serve/all-its-processes-are-ended", test_all_its_processes_are_ended);
  g_test_add_func("/commands/serve/what-can-not-serve-does-not-begin",
                  test_what_can_not_serve_does_not_begin);
  g_test_add_func("/commands/serve/without-threads-it-says-so", test_without_threads_it_says_so);
  g_test_add_func("/commands/serve/the-model-s-version-goes-with-its-score",
                  test_the_model_s_version_goes_with_its_score);
  return g_test_run();
}
