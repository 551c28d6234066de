/* The receiver under load beside DCMTK's storescp, peers that are killed in the middle, an archive
 * over DICOM and over the web. Label long; numbers are printed. */
#include "tls-fixture.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { N_OBJECTS = 2000 };

typedef struct {
  DemurPeer peer;
  char **paths; /* borrowed */
  size_t n_sent;
} Sender;

static gpointer
send_in_thread(gpointer data) {
  Sender *sender = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&sender->peer, (const char *const *)sender->paths, NULL, &error);
  g_assert_no_error(error);
  sender->n_sent = sending->n_sent;
  return NULL;
}

/* Sends all paths in n associations at once; seconds. */
static double
send_in(const DemurPeer *peer, char **paths, guint n) {
  const guint n_paths = g_strv_length(paths);
  g_autofree Sender *senders = g_new0(Sender, n);
  g_autofree GThread **threads = g_new0(GThread *, n);
  const gint64 begun = g_get_monotonic_time();
  for (guint i = 0; i < n; i++) {
    const guint from = n_paths * i / n, to = n_paths * (i + 1) / n;
    senders[i] = (Sender){.peer = *peer, .paths = g_new0(char *, to - from + 1)};
    for (guint p = from; p < to; p++)
      senders[i].paths[p - from] = paths[p];
    threads[i] = g_thread_new("sender", send_in_thread, &senders[i]);
  }
  size_t n_sent = 0;
  for (guint i = 0; i < n; i++) {
    g_thread_join(threads[i]);
    n_sent += senders[i].n_sent;
    g_free(senders[i].paths);
  }
  g_assert_cmpuint(n_sent, ==, n_paths);
  return (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
}

/* synced: file and folder of each object before it is acknowledged. NULL where it is not there. */
static GSubprocess *
start_storescp(const char *folder, guint port, gboolean synced) {
  g_autofree char *number = g_strdup_printf("%u", port);
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  if (synced)
    g_subprocess_launcher_setenv(launcher, "LD_PRELOAD", SYNC_ON_CLOSE, TRUE);
  g_mkdir(folder, 0700);
  GSubprocess *process = g_subprocess_launcher_spawn(launcher, NULL, "storescp", "--fork", "-aet",
                                                     "DEMUR", "-od", folder, number, NULL);
  if (process == NULL)
    return NULL;
  const DemurPeer peer = {"127.0.0.1", port, "DEMUR", "TESTER", 5, NULL};
  for (int i = 0; i < 600 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(50000);
  return process;
}

/* Seconds that our sender, or DCMTK's own (which follows Nagle's rule), takes. */
typedef double (*Send)(const DemurPeer *peer, char **paths, guint n);

static double
storescu_in(const DemurPeer *peer, char **paths, guint n) {
  const guint n_paths = g_strv_length(paths);
  g_autofree char *port = g_strdup_printf("%u", peer->port);
  g_autoptr(GPtrArray) running = g_ptr_array_new_with_free_func(g_object_unref);
  const gint64 begun = g_get_monotonic_time();
  for (guint i = 0; i < n; i++) {
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    const char *const head[] = {"storescu", "-aec", peer->called, peer->host, port};
    for (gsize h = 0; h < G_N_ELEMENTS(head); h++)
      g_ptr_array_add(words, (gpointer)head[h]);
    for (guint p = n_paths * i / n; p < n_paths * (i + 1) / n; p++)
      g_ptr_array_add(words, paths[p]);
    g_ptr_array_add(words, NULL);
    GSubprocess *one = g_subprocess_newv((const char *const *)words->pdata,
                                         G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
    g_assert_nonnull(one);
    g_ptr_array_add(running, one);
  }
  for (guint i = 0; i < n; i++)
    g_assert_true(g_subprocess_wait_check(running->pdata[i], NULL, NULL));
  return (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
}

static double
to_storescp(char **paths, const char *folder, guint n, gboolean synced, Send send) {
  const DemurPeer peer = {"127.0.0.1", fixture_port(), "DEMUR", "TESTER", 10, NULL};
  GSubprocess *storescp = start_storescp(folder, peer.port, synced);
  g_assert_nonnull(storescp);
  const double seconds = send(&peer, paths, n);
  g_subprocess_send_signal(storescp, SIGTERM);
  g_subprocess_wait(storescp, NULL, NULL);
  g_object_unref(storescp);
  return seconds;
}

/* A peer that says a byte of a request each second until it is hung up on. */
static gpointer
say_a_byte_a_second(gpointer data) {
  const int fd = *(const int *)data;
  const guint8 request[] = {0x01, 0x00, 0x00, 0x00, 0x00, 0xC8, 0x00, 0x01};
  for (gsize i = 0; send(fd, &request[MIN(i, sizeof request - 1)], 1, MSG_NOSIGNAL) == 1; i++)
    g_usleep(G_USEC_PER_SEC);
  return NULL;
}

/* Our receiver beside ten peers that say nothing and one that says a byte a second. */
static double
to_ours(char **paths, const char *folder, guint n, Send send) {
  FixtureServer *server = fixture_server_new(folder, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  int silent[11]; /* the last says a byte a second */
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)peer.port)};
  for (gsize i = 0; i < G_N_ELEMENTS(silent); i++) {
    silent[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(silent[i], (const struct sockaddr *)&address, sizeof address), ==, 0);
  }
  GThread *slow = g_thread_new("slow", say_a_byte_a_second, &silent[10]);
  const double seconds = send(&peer, paths, n);
  for (gsize i = 0; i < G_N_ELEMENTS(silent); i++)
    shutdown(silent[i], SHUT_RDWR);
  g_thread_join(slow);
  for (gsize i = 0; i < G_N_ELEMENTS(silent); i++)
    close(silent[i]);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, g_strv_length(paths));
  fixture_server_free(server);
  return seconds;
}

/* 2,000 objects over 1, 5 and 20 associations, and the same to storescp as it is, and made to keep
 * what it acknowledges. */
static void
test_two_thousand_objects_beside_storescp(void) {
  static const guint associations[] = {1, 5, 20};
  static const struct {
    const char *name;
    Send send;
  } senders[] = {{"our sender", send_in}, {"storescu", storescu_in}};
  g_autofree char *program = g_find_program_in_path("storescp");
  if (program == NULL) {
    g_test_skip("storescp is not installed (apt: dcmtk)");
    return;
  }
  g_autofree char *folder = fixture_folder();
  g_auto(GStrv) paths = fixture_write_series(folder, N_OBJECTS);
  for (gsize s = 0; s < G_N_ELEMENTS(senders); s++)
    for (gsize a = 0; a < G_N_ELEMENTS(associations); a++) {
      const guint n = associations[a];
      char *at[3];
      for (gsize i = 0; i < G_N_ELEMENTS(at); i++)
        at[i] = g_strdup_printf("%s/%zu-%zu-%zu", folder, s, a, i);
      const double ours = to_ours(paths, at[0], n, senders[s].send),
                   plain = to_storescp(paths, at[1], n, FALSE, senders[s].send),
                   synced = to_storescp(paths, at[2], n, TRUE, senders[s].send);
      g_print("# %d objects of %s over %u associations: %.2f s here (each synced to the disk), "
              "storescp %.2f s, syncing each too %.2f s\n",
              N_OBJECTS, senders[s].name, n, ours, plain, synced);
      /* Removed all together: ext4 without a journal gives no inode anew for a minute, and looks through
       * those that were just freed for each new file. */
      for (gsize i = 0; i < G_N_ELEMENTS(at); i++)
        g_free(at[i]);
    }
  fixture_remove(folder);
}

/* KiB of memory that no other process shares, of all processes begun by this one; *n of them. */
static guint64
private_memory_of_children(pid_t parent, guint *n) {
  g_autofree char *list = g_strdup_printf("/proc/%d/task/%d/children", (int)parent, (int)parent);
  g_autofree char *children = NULL;
  guint64 total = 0;
  if (!g_file_get_contents(list, &children, NULL, NULL))
    return 0;
  g_auto(GStrv) words = g_strsplit(g_strstrip(children), " ", -1);
  for (char **word = words; *word != NULL && **word != '\0'; word++) {
    g_autofree char *path = g_strdup_printf("/proc/%s/smaps_rollup", *word);
    g_autofree char *map = NULL;
    if (g_file_get_contents(path, &map, NULL, NULL)) {
      const char *line = map;
      ++*n;
      while ((line = strstr(line, "\nPrivate_")) != NULL) {
        line = strchr(line, ':') + 1;
        total += g_ascii_strtoull(line + strspn(line, " "), NULL, 10);
      }
    }
    total += private_memory_of_children((pid_t)g_ascii_strtoll(*word, NULL, 10), n);
  }
  return total;
}

typedef struct {
  pid_t receiver;
  double next;     /* share of the objects */
  guint64 kib[10]; /* when each tenth of them was sent */
  guint n;
} Memory;

static void
look_at_memory(double fraction, const char *stage, gpointer data) {
  Memory *memory = data;
  if (fraction < memory->next || memory->n == G_N_ELEMENTS(memory->kib))
    return;
  guint n_processes = 0;
  memory->kib[memory->n++] = private_memory_of_children(memory->receiver, &n_processes);
  g_assert_cmpuint(n_processes, >=, 3); /* who serves, who listens, and the association's own */
  memory->next = 0.1 * memory->n + 0.05;
}

/* Serves in a process of its own until it is killed: what its processes hold is theirs alone. */
static pid_t
serve_apart(const DemurReceiver *receiver) {
  const pid_t child = fork();
  g_assert_cmpint(child, >=, 0);
  if (child == 0) {
    const pid_t inner = fork(); /* so that the one that serves is a child too, and counted */
    if (inner == 0) {
      DemurReceived received;
      (void)!demur_network_receive(receiver, &received, NULL, NULL);
      _exit(0);
    }
    waitpid(inner, NULL, 0);
    _exit(0);
  }
  return child;
}

/* 50,000 objects over one association: what all processes of the receiver hold is the same when few
 * and when all of them came. */
static void
test_fifty_thousand_objects_in_flat_memory(void) {
  enum { N = 50000, ALLOWED_KIB = 1024 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, N);
  const DemurReceiver receiver = {.folder = out,
                                  .port = fixture_port(),
                                  .ae = "DEMUR",
                                  .timeout_seconds = 30,
                                  .settle_seconds = 3600};
  const DemurPeer peer = {"127.0.0.1", receiver.port, "DEMUR", "TESTER", 30, NULL};
  Memory memory = {.receiver = serve_apart(&receiver), .next = 0.05};
  for (int i = 0; i < 600 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(50000);
  const DemurProgress progress = {look_at_memory, &memory, NULL};
  g_autoptr(GError) error = NULL;
  const gint64 begun = g_get_monotonic_time();
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)paths, &progress, &error);
  const double seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, N);
  g_assert_cmpuint(memory.n, ==, G_N_ELEMENTS(memory.kib));
  g_print("# %d objects in %.1f s; KiB held at each tenth:", N, seconds);
  for (guint i = 0; i < memory.n; i++)
    g_print(" %" G_GUINT64_FORMAT, memory.kib[i]);
  g_print("\n");
  g_assert_cmpuint(memory.kib[0], >, 0);
  for (guint i = 1; i < memory.n; i++)
    g_assert_cmpuint(memory.kib[i], <, memory.kib[0] + ALLOWED_KIB);
  g_autofree char *children =
      g_strdup_printf("/proc/%d/task/%d/children", (int)memory.receiver, (int)memory.receiver);
  g_autofree char *inner = NULL;
  g_assert_true(g_file_get_contents(children, &inner, NULL, NULL));
  kill((pid_t)g_ascii_strtoll(inner, NULL, 10), SIGKILL);
  g_assert_cmpint(waitpid(memory.receiver, NULL, 0), ==, memory.receiver);
  fixture_remove(folder);
}

/* At that part of its objects, however long they take. */
static void
die_at(double fraction, const char *stage, gpointer data) {
  if (fraction >= *(const double *)data)
    raise(SIGKILL);
}

/* A sender that is killed in the middle, ten times: its study is told when it was sent whole. */
static void
test_peers_killed_in_the_middle(void) {
  enum { N_KILLS = 10 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, N_OBJECTS);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  for (int k = 0; k < N_KILLS; k++) {
    const pid_t child = fork();
    if (child == 0) {
      double part = (k + 0.5) / N_KILLS;
      const DemurProgress progress = {die_at, &part, NULL};
      g_autoptr(DemurSending) sending =
          demur_network_send(&peer, (const char *const *)paths, &progress, NULL);
      _exit(0);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFSIGNALED(status));
  }
  (void)send_in(&peer, paths, 1);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_autoptr(DemurImport) import = fixture_import_folder(server->settled->pdata[0]);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, N_OBJECTS);
  g_print("# %d senders killed: %" G_GSIZE_FORMAT " associations broke off, all %d objects are "
          "there\n",
          N_KILLS, server->received.n_broken, N_OBJECTS);
  g_assert_cmpuint(server->received.n_broken, ==, N_KILLS);
  fixture_server_free(server);
  fixture_remove(folder);
}

/* DCMTK's own storescu over TLS, with the right certificate and without one. */
static void
test_dcmtk_over_tls(void) {
  g_autofree char *storescu = g_find_program_in_path("storescu");
  FixtureCertificates *c = storescu != NULL ? fixture_certificates() : NULL;
  if (c == NULL) {
    g_test_skip("storescu or openssl is not installed");
    return;
  }
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 3);
  const DemurTls tls = {c->right, c->key, c->authorities, FALSE};
  FixtureServer *server = fixture_server_make(out, NULL, NULL);
  server->receiver.tls = &tls;
  fixture_server_start(server);
  g_autofree char *port = g_strdup_printf("%u", server->receiver.port);
  const char *const right[] = {storescu,       "+tls",   c->key,   c->right,    "+cf",
                               c->authorities, "-aec",   "DEMUR",  "127.0.0.1", port,
                               paths[0],       paths[1], paths[2], NULL};
  const char *const none[] = {storescu, "+tla",      "+cf", c->authorities, "-aec",
                              "DEMUR",  "127.0.0.1", port,  paths[0],       NULL};
  g_autoptr(GSubprocess) good = g_subprocess_newv(
      right, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  g_assert_true(g_subprocess_wait_check(good, NULL, NULL));
  g_autoptr(GSubprocess) bad = g_subprocess_newv(
      none, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  g_assert_false(g_subprocess_wait_check(bad, NULL, NULL));
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, 3);
  fixture_server_free(server);
  fixture_remove(folder);
  fixture_certificates_free(c);
}

enum { N_STUDIES = 10100 }; /* more than the receiver tells apart */

typedef struct {
  const char *place;
  gboolean mounted;
} Room;

/* Before the last two objects, of one study, the disk takes names again. */
static void
make_room(double fraction, const char *stage, gpointer data) {
  Room *room = data;
  if (room->mounted || fraction * (N_STUDIES + 2) < N_STUDIES - 0.5)
    return;
  room->mounted = TRUE;
  g_assert_cmpint(
      mount("demur-test", room->place, "tmpfs", MS_REMOUNT, "size=64m,nr_inodes=100000"), ==, 0);
}

/* A peer that goes on with ever other studies on a disk that takes no names: what is known of them is
 * bounded, and behind the bound nothing that it sent is taken for whole. */
static void
test_ever_other_studies_are_bounded(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_mkdir(out, 0700);
  if (mount("demur-test", out, "tmpfs", 0, "size=64m,nr_inodes=40") != 0) {
    g_test_skip("a small file system can't be mounted here");
    return;
  }
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (gint64 k = 0; k < N_STUDIES + 2; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5);
    g_autofree char *study = g_strdup_printf("1.2.55.%" G_GINT64_FORMAT, MIN(k, N_STUDIES));
    g_autofree char *name = g_strdup_printf("%06" G_GINT64_FORMAT ".dcm", k);
    image.study_uid = study;
    fixture_save(&image, folder, name);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_strv_builder_add(builder, path);
  }
  g_auto(GStrv) paths = g_strv_builder_end(builder);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  const DemurPeer peer = {"127.0.0.1", server->receiver.port, "DEMUR", "TESTER", 60, NULL};
  Room room = {out, FALSE};
  const DemurProgress progress = {make_room, &room, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)paths, &progress, &error);
  g_assert_no_error(error);
  g_assert_true(room.mounted);
  g_assert_cmpuint(sending->n_sent, >=, 2);
  g_assert_cmpuint(sending->n_sent + sending->n_failed, ==, N_STUDIES + 2);
  g_print("# of %d studies %zu objects were kept\n", N_STUDIES + 1, sending->n_sent);
  g_usleep(2 * G_USEC_PER_SEC); /* it would be settled by now */
  fixture_server_stop(server);
  g_assert_cmpuint(server->settled->len, ==, 0);
  g_assert_cmpuint(server->received.n_unread, >=, 1);
  fixture_server_free(server);
  g_assert_cmpint(umount(out), ==, 0);
  fixture_remove(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/network-long/two-thousand-objects-beside-storescp",
                  test_two_thousand_objects_beside_storescp);
  g_test_add_func("/dicom/network-long/fifty-thousand-objects-in-flat-memory",
                  test_fifty_thousand_objects_in_flat_memory);
  g_test_add_func("/dicom/network-long/peers-killed-in-the-middle",
                  test_peers_killed_in_the_middle);
  g_test_add_func("/dicom/network-long/dcmtk-over-tls", test_dcmtk_over_tls);
  g_test_add_func("/dicom/network-long/ever-other-studies-are-bounded",
                  test_ever_other_studies_are_bounded);
  return g_test_run();
}
