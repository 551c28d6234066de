/* A day of a service that is killed 200 times (-9) while 300 studies come in. Right: every object
 * that was acknowledged is there, every study is answered exactly once or listed with why, and a
 * restart takes less than two seconds of the service's own. Label long; numbers are printed. */
#define _GNU_SOURCE
#include "serve-fixture.h"

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
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

/* What a study of 250 slices costs the service itself, from the last acknowledged object to the
 * report at the archive. */
static void
test_what_a_study_costs(void) {
  enum { N_SLICES = 250 };
  g_autofree char *folder = fixture_folder();
  FixtureServer *archive = fixture_server_new(folder, NULL, NULL);
  g_autofree char *answer = answer_to(archive, "");
  g_autoptr(Service) service = service_new(answer);
  service_start(service);
  g_auto(GStrv) paths = write_study(service->sandbox, 1, 0, N_SLICES);
  const DemurPeer peer = service_peer(service);
  const gint64 begun = g_get_monotonic_time();
  g_assert_cmpuint(send_some(&peer, paths), ==, N_SLICES);
  const gint64 sent = g_get_monotonic_time();
  for (int i = 0; i < 60000 && n_archived(folder, 1) == 0; i++)
    g_usleep(10000);
  g_assert_cmpuint(n_archived(folder, 1), ==, 1);
  g_print("# %d slices: sent in %.2f s; report at the archive %.2f s later, the stand-in model "
          "within\n",
          N_SLICES, (double)(sent - begun) / G_USEC_PER_SEC, seconds_since(sent));
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/serve-long/what-a-study-costs", test_what_a_study_costs);
  g_test_add_func("/commands/serve-long/two-hundred-kills-in-a-day",
                  test_two_hundred_kills_in_a_day);
  return g_test_run();
}
