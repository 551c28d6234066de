/* A day of a service that is killed 200 times (-9) while 300 studies come in. Right: every object
 * that was acknowledged is there, every study is answered exactly once or listed with why, and a
 * restart takes less than two seconds of the service's own. Label long; numbers are printed. */
#define _GNU_SOURCE
#include "dicom/orthanc-fixture.h"
#include "serve-fixture.h"
#include "dicom/phantom.h"

#include <unistd.h>

enum { N_STUDIES = 300, N_KILLS = 200 };

typedef struct {
  Service *service;
  gint n_acknowledged; /* studies, all of whose objects were */
  gint ended;
} Day;

/* Sends one study after the other, each until the service has acknowledged all of it. */
static gpointer
send_the_day(gpointer data) {
  Day *day = data;
  const DemurPeer peer = service_peer(day->service);
  for (guint k = 0; k < N_STUDIES; k++) {
    g_auto(GStrv) paths = write_study(day->service->sandbox, k, 0, N_SERVE_SLICES);
    while (send_some(&peer, paths) < N_SERVE_SLICES)
      g_usleep(20000);
    g_atomic_int_inc(&day->n_acknowledged);
  }
  g_atomic_int_set(&day->ended, 1);
  return NULL;
}

static double
seconds_since(gint64 begun) {
  return (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
}

static void
test_two_hundred_kills_in_a_day(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  Day day = {.service = service};
  GThread *sender = g_thread_new("sender", send_the_day, &day);
  g_autoptr(GRand) random = g_rand_new_with_seed(15);
  double longest = 0.0, total = 0.0;
  for (int kill = 0; kill < N_KILLS; kill++) {
    g_usleep((gulong)g_rand_int_range(random, 50000, 1500000));
    service_end(service, SIGKILL);
    const gint64 begun = g_get_monotonic_time();
    service_start(service);
    longest = MAX(longest, seconds_since(begun));
    total += seconds_since(begun);
  }
  while (!g_atomic_int_get(&day.ended))
    g_usleep(100000);
  g_thread_join(sender);
  g_autoptr(Run) run = NULL;
  for (int i = 0; i < 36000; i++) {
    g_clear_pointer(&run, run_free);
    run = service_status(service);
    JsonObject *root = root_of(run);
    if (number_at(root, "n_queue") == 0 &&
        number_at(root, "n_arriving") == number_at(root, "n_broken"))
      break;
    g_usleep(100000);
  }
  JsonObject *root = root_of(run);
  guint n_once = 0, n_lost = 0;
  for (guint k = 0; k < N_STUDIES; k++) {
    const guint n = n_archived(folder, k);
    g_assert_cmpuint(n, <=, 1);
    n_once += n;
    n_lost += N_SERVE_SLICES - n_archived(service->folder, k);
  }
  g_print("# %d kills: restart %.2f s on average, %.2f s at most, until the port answers; %u of %d "
          "studies answered once, %.0f held, %.0f waiting to be sent again, %u objects lost\n",
          N_KILLS, total / N_KILLS, longest, n_once, N_STUDIES, number_at(root, "n_held"),
          number_at(root, "n_broken"), n_lost);
  g_assert_cmpuint(n_lost, ==, 0);
  g_assert_cmpfloat(n_once + number_at(root, "n_held") + number_at(root, "n_broken"), ==,
                    N_STUDIES);
  g_autoptr(Run) sound = run_json(service->sandbox, 0, "verify", NULL);
  service_end_all(service, archive, folder);
}

/* Seconds of processor of the process and of its children that have ended. */
static double
processor_of(const Service *service) {
  g_autofree char *path =
      g_strdup_printf("/proc/%s/stat", g_subprocess_get_identifier(service->process));
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) words = g_strsplit(strrchr(text, ')') + 2, " ", -1);
  guint64 ticks = 0;
  for (guint i = 11; i <= 14; i++) /* utime, stime, cutime, cstime: fields 14 to 17 */
    ticks += g_ascii_strtoull(words[i], NULL, 10);
  return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static gboolean
has_any(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(folder, name, NULL);
    if (g_str_has_suffix(name, ".dcm") ||
        (name[0] != '.' && g_file_test(child, G_FILE_TEST_IS_DIR) && has_any(child)))
      return TRUE;
  }
  return FALSE;
}

static char **
phantom_of(const Sandbox *sandbox, guint index, guint n_slices, guint size) {
  g_autofree char *name = g_strdup_printf("phantom-%u", index);
  g_autofree char *folder = sandbox_path(sandbox, name);
  DemurPhantomOptions options = demur_phantom_defaults(index);
  options.n_slices = n_slices;
  options.size = size;
  options.spacing_mm = 1.25;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  g_mkdir(folder, 0700);
  g_assert_true(demur_phantom_write(&options, folder, parallel, NULL, NULL, &error));
  g_assert_no_error(error);
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *file;
  while ((file = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_strv_builder_add(paths, path);
  }
  return g_strv_builder_end(paths);
}

/* What a study of 250 slices of 512 x 512 costs the service itself, from the last acknowledged object
 * to the report at the archive. */
static void
test_what_a_study_costs(void) {
  enum { N_SLICES = 250, N_TURNS = 3 };
  for (guint turn = 1; turn <= N_TURNS; turn++) {
    g_autofree char *folder = fixture_folder();
    FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
    g_autofree char *answer = answer_to(archive, "");
    g_autoptr(Service) service = service_new(answer);
    service_start(service);
    g_auto(GStrv) paths = phantom_of(service->sandbox, turn, N_SLICES, 512);
    const DemurPeer peer = service_peer(service);
    const double before = processor_of(service);
    const gint64 begun = g_get_monotonic_time();
    g_assert_cmpuint(send_some(&peer, paths), ==, N_SLICES);
    const gint64 sent = g_get_monotonic_time();
    const double received = processor_of(service);
    for (int i = 0; i < 60000 && !has_any(folder); i++)
      g_usleep(10000);
    g_assert_true(has_any(folder));
    g_print("# %d slices of 512 x 512: sent in %.2f s; report at the archive %.2f s later, the "
            "stand-in model within; processor of the service %.2f s, of it %.2f s behind the last "
            "object (its receiver's process within)\n",
            N_SLICES, (double)(sent - begun) / G_USEC_PER_SEC, seconds_since(sent),
            processor_of(service) - before, processor_of(service) - received);
    service_end_all(service, archive, folder);
  }
}

/* An archive that has more of a study than came: it waits for the rest, or is held with how many are
 * missing; what came later is read with it. */
static void
test_a_study_that_lacks_objects_waits_for_them(void) {
  enum { N_WHOLE = N_SERVE_SLICES + 6 };
  if (!g_file_test(WEB_PLUGIN, G_FILE_TEST_EXISTS)) {
    g_test_skip("Orthanc's DICOMweb plug-in is not installed (apt: orthanc-dicomweb)");
    return;
  }
  Orthanc *orthanc = orthanc_start(fixture_port());
  if (orthanc == NULL)
    return;
  g_autofree char *more =
      g_strdup_printf("[complete]\narchive = 127.0.0.1:%u\ncalled = ORTHANC\nwait = 600\n"
                      "[answer archive]\nto = 127.0.0.1:%u\ncalled = ORTHANC\n",
                      orthanc->port, orthanc->port);
  g_autoptr(Service) service = service_new(more);
  g_auto(GStrv) whole = write_study(service->sandbox, 20, 0, N_WHOLE);
  const DemurPeer archive = orthanc_peer(orthanc);
  g_assert_cmpuint(send_some(&archive, whole), ==, N_WHOLE);
  service_start(service);
  send_study(service, 20, 0, N_SERVE_SLICES);
  g_autofree char *why = NULL;
  for (int i = 0; i < PATIENCE_SECONDS * 10 && why == NULL; i++) {
    g_autoptr(Run) run = service_status(service);
    JsonArray *queue = array_at(root_of(run), "queue");
    JsonObject *study =
        json_array_get_length(queue) > 0 ? json_array_get_object_element(queue, 0) : NULL;
    if (study != NULL && !is_null_at(study, "why"))
      why = g_strdup(string_at(study, "why"));
    g_usleep(100000);
  }
  g_assert_cmpstr(why, ==, "24 of the 30 objects that the archive has are here");
  send_study(service, 20, N_SERVE_SLICES, N_WHOLE);
  service_wait(service, "n_answered", 1);
  /* Its own report is in the archive now, and is no object that is missing. */
  send_study(service, 20, 0, N_SERVE_SLICES);
  service_wait(service, "n_answered", 1);
  const DemurQuery query = {.study_uid = "1.2.77.20"};
  g_autoptr(GPtrArray) found = demur_network_find(&archive, &query, NULL);
  g_assert_cmpuint(found->len, ==, 2);
  /* Where it does not come, the study is held. */
  g_autofree char *hold =
      g_strdup_printf("[complete]\narchive = http://127.0.0.1:%u/dicom-web\nwait = 1\n"
                      "[answer web]\nto = http://127.0.0.1:%u/dicom-web\n",
                      orthanc->web_port, orthanc->web_port);
  service_end(service, SIGTERM);
  g_autofree char *command = serve_model(service->sandbox, NULL);
  serve_settings(service, command, hold);
  g_auto(GStrv) other = write_study(service->sandbox, 21, 0, N_WHOLE);
  g_assert_cmpuint(send_some(&archive, other), ==, N_WHOLE);
  service_start(service);
  send_study(service, 21, 0, N_SERVE_SLICES);
  service_wait(service, "n_held", 1);
  send_study(service, 21, N_SERVE_SLICES, N_WHOLE);
  service_wait(service, "n_answered", 2);
  const DemurQuery answered = {.study_uid = "1.2.77.21"};
  g_autoptr(GPtrArray) series = demur_network_find(&archive, &answered, NULL);
  g_assert_cmpuint(series->len, ==, 2);
  service_end(service, SIGTERM);
  orthanc_stop(orthanc);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/serve-long/what-a-study-costs", test_what_a_study_costs);
  g_test_add_func("/commands/serve-long/two-hundred-kills-in-a-day",
                  test_two_hundred_kills_in_a_day);
  g_test_add_func("/commands/serve-long/a-study-that-lacks-objects-waits-for-them",
                  test_a_study_that_lacks_objects_waits_for_them);
  return g_test_run();
}
