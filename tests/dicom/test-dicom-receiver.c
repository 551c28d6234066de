/* The storage server beside peers that are silent, slow, many, killed, or served by a full disk,
 * and after its own end. Right: every object that was acknowledged is there and is told, whatever
 * else connects. */
#include "network-fixture.h"

#include "base/file-output.h"
#include "dicom/object-folder.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utime.h>

/* How often a kernel was asked to hold nothing back, by all processes of this test; NULL: not
 * counted. */
typedef struct {
  guint n_no_delay, n_quick;
} Wishes;
static Wishes *wishes;

/* In the place of the system's, which it calls. */
int
setsockopt(int fd, int level, int name, const void *value, socklen_t n) {
  if (wishes != NULL && level == IPPROTO_TCP && name == TCP_NODELAY)
    __atomic_fetch_add(&wishes->n_no_delay, 1, __ATOMIC_RELAXED);
  if (wishes != NULL && level == IPPROTO_TCP && name == TCP_QUICKACK)
    __atomic_fetch_add(&wishes->n_quick, 1, __ATOMIC_RELAXED);
  return (int)syscall(SYS_setsockopt, fd, level, name, value, n);
}

static int
connect_to(const FixtureServer *server) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)server->receiver.port)};
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  return fd;
}

static DemurSending *
send_all(const DemurPeer *peer, char **paths) {
  g_autoptr(GError) error = NULL;
  DemurSending *sending = demur_network_send(peer, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  return sending;
}

typedef struct {
  DemurPeer peer;
  char **paths;
  size_t n_sent;
} Sender;

static gpointer
send_in_thread(gpointer data) {
  Sender *sender = data;
  g_autoptr(DemurSending) sending = send_all(&sender->peer, sender->paths);
  sender->n_sent = sending->n_sent;
  return NULL;
}

/* Ten connections that say nothing and one that says a byte of a request at a time cost the others
 * nothing: they are still open when all is sent. */
static void
test_silent_peers_cost_only_themselves(void) {
  enum { N_SILENT = 10, N_SENDERS = 4, N_IMAGES = 5 };
  g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  int silent[N_SILENT + 1];
  for (guint i = 0; i <= N_SILENT; i++)
    silent[i] = connect_to(server);
  const guint8 begin[] = {0x01, 0x00, 0x00};
  g_assert_cmpint(send(silent[N_SILENT], begin, sizeof begin, MSG_NOSIGNAL), ==, sizeof begin);
  Sender senders[N_SENDERS];
  GThread *threads[N_SENDERS];
  for (guint i = 0; i < N_SENDERS; i++) {
    senders[i] = (Sender){fixture_peer(server), place->paths, 0};
    threads[i] = g_thread_new("sender", send_in_thread, &senders[i]);
  }
  for (guint i = 0; i < N_SENDERS; i++) {
    g_thread_join(threads[i]);
    g_assert_cmpuint(senders[i].n_sent, ==, N_IMAGES);
  }
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  for (guint i = 0; i <= N_SILENT; i++)
    close(silent[i]);
  g_assert_cmpuint(server->received.n_associations, ==, N_SENDERS);
  g_assert_cmpuint(server->received.n_received, ==, N_IMAGES);
  g_assert_cmpuint(server->received.n_known, ==, (N_SENDERS - 1) * N_IMAGES);
  fixture_server_free(server);
}

/* One place, several senders: each has its turn. */
static void
test_a_full_server_gives_turns(void) {
  enum { N_SENDERS = 5 };
  g_autoptr(FixturePlace) place = fixture_place_new(3);
  FixtureServer *server = fixture_server_new_limited(place->out, 1);
  Sender senders[N_SENDERS];
  GThread *threads[N_SENDERS];
  for (guint i = 0; i < N_SENDERS; i++) {
    senders[i] = (Sender){fixture_peer(server), place->paths, 0};
    threads[i] = g_thread_new("sender", send_in_thread, &senders[i]);
  }
  for (guint i = 0; i < N_SENDERS; i++) {
    g_thread_join(threads[i]);
    g_assert_cmpuint(senders[i].n_sent, ==, 3);
  }
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_associations, ==, N_SENDERS);
  fixture_server_free(server);
}

/* What a server acknowledged and did not read, because it was ended, is told by the next one. */
static void
test_acknowledged_studies_are_recalled(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_autofree char *study = g_build_filename(out, "1.2.3", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 4);
  FixtureServer *first = fixture_server_new_patient(out); /* settles after an hour */
  const DemurPeer peer = fixture_peer(first);
  g_autoptr(DemurSending) sending = send_all(&peer, paths);
  g_assert_cmpuint(sending->n_sent, ==, 4);
  fixture_server_stop(first);
  g_assert_cmpuint(first->settled->len, ==, 0);
  fixture_server_free(first);

  FixtureServer *second = fixture_server_new(out, NULL, NULL);
  fixture_wait(second, second->settled, 1);
  g_assert_cmpstr(second->settled->pdata[0], ==, study);
  fixture_server_stop(second);
  fixture_server_free(second);

  /* It was read: a third one has nothing to tell before something new comes. */
  FixtureServer *third = fixture_server_new(out, NULL, NULL);
  const DemurPeer again = fixture_peer(third);
  g_autoptr(DemurSending) known = send_all(&again, paths);
  fixture_wait(third, third->settled, 1);
  fixture_server_stop(third);
  g_assert_cmpuint(third->settled->len, ==, 1);
  g_assert_cmpuint(third->received.n_known, ==, 4);
  fixture_server_free(third);
  fixture_remove(folder);
}

typedef struct {
  char *folder, *series;
  guint n;
} Arrived;

static char *
arrived_path(const Arrived *arrived, guint k) {
  return g_strdup_printf("%s/%s/1.2.%u.dcm", arrived->folder, arrived->series, k);
}

static char *
arrived_bytes(guint k, gsize *n) {
  *n = 600 + 700 * k;
  char *bytes = g_malloc(*n);
  for (gsize i = 0; i < *n; i++)
    bytes[i] = (char)(1 + (i + k) % 100);
  return bytes;
}

static void
put_arrivals(const Arrived *arrived, int process) {
  g_autoptr(GError) error = NULL;
  DemurArrivalLog *log = demur_arrival_log_open(arrived->folder, process, &error);
  g_assert_no_error(error);
  for (guint k = 0; k < arrived->n; k++) {
    gsize n;
    g_autofree char *bytes = arrived_bytes(k, &n);
    g_autofree char *uid = g_strdup_printf("1.2.%u", k);
    const DemurObjectPlace place = {arrived->folder, arrived->series, uid};
    gboolean known;
    const gboolean put = demur_object_put(&place, bytes, n, log, &known, &error);
    g_assert_no_error(error);
    g_assert_true(put);
    g_assert_false(known);
  }
}

/* n objects that came by the log of a process that was ended before it could sync their files. */
static void
arrive(const Arrived *arrived, int process) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    put_arrivals(arrived, process);
    _exit(0);
  }
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_cmpint(status, ==, 0);
}

static void
assert_arrived(const Arrived *arrived, guint n) {
  for (guint k = 0; k < n; k++) {
    gsize n_expected, n_found = 0;
    g_autofree char *expected = arrived_bytes(k, &n_expected), *found = NULL;
    g_autofree char *path = arrived_path(arrived, k);
    g_assert_true(g_file_get_contents(path, &found, &n_found, NULL));
    g_assert_true(n_found == n_expected && memcmp(found, expected, n_expected) == 0);
  }
}

static guint
count_in(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  guint n = 0;
  while (dir != NULL && g_dir_read_name(dir) != NULL)
    n++;
  return n;
}

/* What a power cut takes of files that were not synced (all, their ends, blocks within) is put back
 * from the log; another object of the same name, and what lies behind a torn record, is not. */
static void
test_the_log_puts_back_what_a_power_cut_took(void) {
  enum { N = 40 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_autofree char *journal = g_build_filename(out, ".journal", NULL);
  const Arrived arrived = {out, (char *)"1.2/3.4", N};
  g_assert_true(demur_folder_make(journal, NULL));
  arrive(&arrived, 4711);
  assert_arrived(&arrived, N);
  for (guint k = 0; k < N; k++) {
    gsize n;
    g_autofree char *path = arrived_path(&arrived, k), *bytes = arrived_bytes(k, &n);
    if (k % 5 == 0)
      g_assert_cmpint(g_unlink(path), ==, 0);
    if (k % 5 == 1)
      g_assert_true(g_file_set_contents(path, "", 0, NULL));
    if (k % 5 == 2)
      g_assert_true(g_file_set_contents(path, bytes, (gssize)n / 2, NULL));
    if (k % 5 == 3 && n > 1024) {
      memset(bytes + 512, 0, 512);
      g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    }
  }
  g_autofree char *other = arrived_path(&arrived, 9);
  g_assert_true(g_file_set_contents(other, "another object", -1, NULL));
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_objects_recover(out, 4712, &error)); /* not its log */
  g_assert_cmpuint(count_in(journal), ==, 1);
  g_assert_true(demur_objects_recover(out, 0, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(count_in(journal), ==, 0);
  g_autofree char *series = g_build_filename(out, "1.2", "3.4", NULL);
  g_assert_cmpuint(count_in(series), ==, N + 1);
  g_autofree char *second = g_strdup_printf("%s/1.2.9-2.dcm", series);
  g_assert_cmpint(g_rename(second, other), ==, 0);
  assert_arrived(&arrived, N);
  fixture_remove(folder);
}

/* A log that ends within a record, or whose last one was hit, gives all those before it. */
static void
test_a_torn_log_gives_what_is_whole(void) {
  enum { N = 12 };
  static const gssize cuts[] = {0, 20, 40, 700, 5000, 20000, -1};
  for (gsize c = 0; c < G_N_ELEMENTS(cuts); c++) {
    g_autofree char *folder = fixture_folder();
    g_autofree char *journal = g_build_filename(folder, ".journal", NULL);
    g_autofree char *path = g_build_filename(journal, "7.log", NULL);
    g_autofree char *series = g_build_filename(folder, "1.2", "3.4", NULL);
    const Arrived arrived = {folder, (char *)"1.2/3.4", N};
    g_assert_true(demur_folder_make(journal, NULL));
    arrive(&arrived, 7);
    fixture_remove(series);
    g_autofree char *bytes = NULL;
    gsize n = 0, end = 0;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    for (guint k = 0; k < N; k++)
      end += 40 + strlen("1.2/3.4") + strlen("1.2.0") + (k > 9) + 600 + 700 * k;
    if (cuts[c] < 0)
      bytes[end - 1] ^= 1;
    else
      n = (gsize)cuts[c];
    g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_objects_recover(folder, 0, &error));
    guint n_whole = 0;
    for (gsize at = 0; n_whole < N; n_whole++) {
      at += 40 + strlen("1.2/3.4") + strlen("1.2.0") + (n_whole > 9) + 600 + 700 * n_whole;
      if (at > n || (cuts[c] < 0 && n_whole == N - 1))
        break;
    }
    g_assert_cmpuint(count_in(series), ==, n_whole);
    assert_arrived(&arrived, n_whole);
    fixture_remove(folder);
  }
}

/* More than a log holds goes on in it from its beginning; what is left is removed for many at once. */
static void
test_a_full_log_begins_anew(void) {
  enum { N = 80, SIZE = 1 << 20 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *journal = g_build_filename(folder, ".journal", NULL);
  g_autofree char *bytes = g_malloc0(SIZE);
  g_assert_true(demur_folder_make(journal, NULL));
  g_autoptr(GError) error = NULL;
  DemurArrivalLog *log = demur_arrival_log_open(folder, 7, &error);
  for (guint k = 0; k < N; k++) {
    g_autofree char *uid = g_strdup_printf("1.2.%u", k);
    memcpy(bytes, uid, strlen(uid));
    g_assert_true(demur_arrival_log_add(log, "1.2/3.4", uid, bytes, SIZE));
  }
  g_assert_true(demur_objects_recover(folder, 7, &error));
  /* 80 MiB in a log of 32: the last round's, those before were synced as files. */
  g_autofree char *series = g_build_filename(folder, "1.2", "3.4", NULL);
  g_assert_cmpuint(count_in(series), ==, N % 31);
  g_assert_false(demur_arrival_log_add(log, "1.2/3.4", "1", bytes, (size_t)64 << 20));
  demur_arrival_log_leave(log); /* it was read and is gone */
  const int processes[] = {7, 8, 9};
  for (gsize p = 0; p < G_N_ELEMENTS(processes); p++) {
    log = demur_arrival_log_open(folder, processes[p], &error);
    g_assert_true(demur_arrival_log_add(log, "1.2/3.4", "1.2.900", bytes, SIZE));
    demur_arrival_log_leave(log);
  }
  /* What was left is kept until it is removed, and no process writes over it. */
  g_assert_null(demur_arrival_log_open(folder, 8, NULL));
  g_assert_cmpuint(count_in(journal), ==, 3);
  g_assert_true(demur_arrival_logs_remove(folder, processes, 2, &error));
  g_assert_cmpuint(count_in(journal), ==, 1);
  g_assert_true(demur_arrival_logs_remove(folder, processes, 3, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(count_in(journal), ==, 0);
  fixture_remove(folder);
}

/* A study that could not be read now (the workspace is locked, say) is told again. */
static void
test_what_could_not_be_read_is_told_again(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  server->n_again = 2;
  const DemurPeer peer = fixture_peer(server);
  g_autoptr(DemurSending) sending = send_all(&peer, place->paths);
  fixture_wait(server, server->settled, 3);
  fixture_server_stop(server);
  g_assert_cmpuint(server->settled->len, ==, 3);
  fixture_server_free(server);
}

/* The same object through another AE: its file meta information names the other, its data set is
 * the same. */
static void
test_the_same_object_from_another_ae_is_known(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(3);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  DemurPeer peer = fixture_peer(server);
  g_autoptr(DemurSending) first = send_all(&peer, place->paths);
  peer.calling = "OTHER";
  g_autoptr(DemurSending) second = send_all(&peer, place->paths);
  g_assert_cmpuint(second->n_sent, ==, 3);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, 3);
  g_assert_cmpuint(server->received.n_known, ==, 3);
  fixture_server_free(server);
}

typedef struct {
  FixtureServer *server;
  DemurPeer peer;
  char **others; /* sent by a peer that goes away in the middle */
  gboolean done;
} Beside;

static void
go_away(double fraction, const char *stage, gpointer data) {
  if (fraction >= 0.5)
    _exit(0);
}

/* While this association is open another peer sends a part of its own images, and is gone. */
static void
break_off_beside(double fraction, const char *stage, gpointer data) {
  Beside *beside = data;
  if (beside->done || fraction < 0.5)
    return;
  beside->done = TRUE;
  const pid_t child = fork();
  if (child == 0) {
    const DemurProgress progress = {go_away, NULL, NULL};
    g_autoptr(DemurSending) sending =
        demur_network_send(&beside->peer, (const char *const *)beside->others, &progress, NULL);
    _exit(0);
  }
  g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
  fixture_wait(beside->server, beside->server->problems, 1);
}

/* A study comes over two associations at once; one breaks off, the other ends as it should: what the
 * first lost is not there, and the study waits until it is sent again. */
static void
test_a_good_end_beside_a_broken_one_makes_no_whole_study(void) {
  enum { N_IMAGES = 12 };
  g_autoptr(FixturePlace) place = fixture_place_new(2 * N_IMAGES);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  Beside beside = {server, fixture_peer(server), place->paths + N_IMAGES, FALSE};
  const DemurProgress progress = {break_off_beside, &beside, NULL};
  g_autofree char **first = g_new0(char *, N_IMAGES + 1);
  memcpy(first, place->paths, N_IMAGES * sizeof *first);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&beside.peer, (const char *const *)first, &progress, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, N_IMAGES);
  g_assert_true(beside.done);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_autoptr(DemurSending) again = send_all(&beside.peer, place->paths);
  g_assert_cmpuint(again->n_sent, ==, 2 * N_IMAGES);
  fixture_wait(server, server->settled, 1);
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.3"));
  fixture_server_stop(server);
  g_assert_cmpuint(server->settled->len, ==, 1); /* not before it was whole */
  fixture_server_free(server);
}

/* n of the paths from one on, by the association of one title, released in good order. */
static guint
send_as(const FixtureServer *server, const char *ae, char **paths, guint n) {
  DemurPeer peer = fixture_peer(server);
  peer.calling = ae;
  g_autofree char **some = g_new0(char *, n + 1);
  memcpy(some, paths, n * sizeof *some);
  g_autoptr(DemurSending) sending = send_all(&peer, some);
  return (guint)sending->n_sent;
}

/* An image of another study. */
static char *
write_other_study(const FixturePlace *place) {
  FixtureImage image = fixture_image(1, 0);
  image.study_uid = "1.2.9";
  image.series_uid = image.uid_root = "1.2.9.1";
  fixture_save(&image, place->folder, "other.dcm");
  return g_build_filename(place->folder, "other.dcm", NULL);
}

/* A peer sends the first half, and is gone. */
static void
break_off(FixtureServer *server, const char *ae, char **paths) {
  DemurPeer peer = fixture_peer(server);
  peer.calling = ae;
  const guint n_problems = server->problems->len;
  const pid_t child = fork();
  if (child == 0) {
    const DemurProgress progress = {go_away, NULL, NULL};
    g_autoptr(DemurSending) sending =
        demur_network_send(&peer, (const char *const *)paths, &progress, NULL);
    _exit(0);
  }
  g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
  fixture_wait(server, server->problems, n_problems + 1);
}

static guint
n_settled(FixtureServer *server, const char *study) {
  guint n = 0;
  g_mutex_lock(&server->mutex);
  for (guint i = 0; i < server->settled->len; i++)
    n += g_str_has_suffix(server->settled->pdata[i], study) ? 1 : 0;
  g_mutex_unlock(&server->mutex);
  return n;
}

/* Ends a server that never told the study, and starts one on the same folder. */
static FixtureServer *
restart(FixtureServer *server, const char *folder) {
  fixture_server_stop(server);
  g_assert_cmpuint(n_settled(server, "/1.2.3"), ==, 0);
  g_assert_true(demur_receiver_is_broken(folder, "1.2.3"));
  fixture_server_free(server);
  return fixture_server_new(folder, NULL, NULL);
}

/* The study is told once, and of no loss is a mark left. */
static void
assert_whole(FixtureServer *server, const char *folder) {
  g_assert_false(demur_receiver_is_broken(folder, "1.2.3"));
  for (guint n = 1; n_settled(server, "/1.2.3") == 0; n++) /* behind other studies */
    fixture_wait(server, server->settled, n);
  fixture_server_stop(server);
  g_assert_cmpuint(n_settled(server, "/1.2.3"), ==, 1);
  g_assert_cmpuint(server->received.n_unread, ==, 0);
  fixture_server_free(server);
  g_autofree char *journal = g_build_filename(folder, ".journal", NULL);
  g_autoptr(GDir) dir = g_dir_open(journal, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    g_assert_false(g_str_has_prefix(name, "1.2.3."));
}

/* What a broken association lost is not made good by another title's, by another study's, or by a
 * restart, but by the same title's that brings the study. The title is one that no file may be named
 * by. */
static void
test_what_broke_off_waits_for_who_broke_off(void) {
  enum { N_IMAGES = 12 };
  static const char ae[] = "CT/1.new %";
  g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
  g_autofree char *other = write_other_study(place);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  break_off(server, ae, place->paths);
  g_assert_cmpuint(send_as(server, "OTHER", place->paths, 1), ==, 1);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_assert_cmpuint(send_as(server, ae, &other, 1), ==, 1);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.9"));
  server = restart(server, place->out);
  g_assert_cmpuint(send_as(server, "OTHER", place->paths, N_IMAGES), ==, N_IMAGES);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  break_off(server, "OTHER", place->paths); /* two titles lost something */
  g_assert_cmpuint(send_as(server, ae, place->paths, N_IMAGES), ==, N_IMAGES);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  server = restart(server, place->out);
  g_assert_cmpuint(send_as(server, "OTHER", place->paths, N_IMAGES), ==, N_IMAGES);
  assert_whole(server, place->out);
}

/* A server that refuses every object for want of room. */
static FixtureServer *
full_server(const char *folder) {
  FixtureServer *server = fixture_server_make(folder, NULL, NULL);
  server->receiver.reserve_mb = G_MAXUINT;
  return fixture_server_start(server);
}

/* Objects that were refused are lost until they came, all of them, from whichever title: before the
 * first of the study was kept, and behind a restart. */
static void
test_what_was_refused_waits_for_itself(void) {
  enum { N_IMAGES = 22, N_FIRST = 11 };
  g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
  g_autofree char *other = write_other_study(place);
  FixtureServer *server = full_server(place->out);
  g_assert_cmpuint(send_as(server, "TESTER", place->paths + N_FIRST, N_IMAGES - N_FIRST), ==, 0);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  server = restart(server, place->out);
  g_assert_cmpuint(send_as(server, "TESTER", place->paths, N_FIRST), ==, N_FIRST);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_assert_cmpuint(send_as(server, "TESTER", &other, 1), ==, 1);
  g_assert_cmpuint(send_as(server, "TESTER", place->paths, N_FIRST), ==, N_FIRST); /* known */
  g_assert_cmpuint(send_as(server, "OTHER", place->paths + N_FIRST, 1), ==, 1);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  fixture_server_stop(server);
  g_assert_cmpuint(n_settled(server, "/1.2.3"), ==, 0);
  fixture_server_free(server);

  /* Lost again though it came: kept is what came last. */
  server = full_server(place->out);
  g_assert_cmpuint(send_as(server, "OTHER", place->paths + N_FIRST, 1), ==, 0);
  server = restart(server, place->out);
  g_assert_cmpuint(send_as(server, "OTHER", place->paths + N_FIRST + 1, N_IMAGES - N_FIRST - 1), ==,
                   N_IMAGES - N_FIRST - 1);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_assert_cmpuint(send_as(server, "THIRD", place->paths + N_FIRST, 1), ==, 1);
  assert_whole(server, place->out);
}

/* What a server left that was killed while a study came, and what one left that named no losses. */
static void
test_losses_of_an_earlier_server_are_recalled(void) {
  static const struct {
    const char *marks[3];
    gboolean mended; /* by all of the study from TESTER */
  } rows[] = {
      {{"1.2.3.new", "1.2.3.open-7-TESTER"}, TRUE},
      {{"1.2.3.new", "1.2.3.open-7-OTHER"}, FALSE},
      {{"1.2.3.new", "1.2.3.open-7"}, FALSE},
      {{"1.2.3.new", "1.2.3.broken"}, FALSE},
      {{"1.2.3.new", "1.2.3.lost-by-TESTER"}, TRUE}, /* killed before it was said to be a part */
      {{"1.2.3.new", "1.2.3.lost-at-7-by-TESTER"}, TRUE},
      {{"1.2.3.new", "1.2.3.lost-at-7-by-TESTER", "1.2.3.broken"}, TRUE},
      {{"1.2.3.new", "1.2.3.lost-at-7-by-OTHER"}, FALSE},
      {{"1.2.3.new", "1.2.3.lost-at-7-by-TESTER", "1.2.3.lost-at-9-by-OTHER"}, FALSE},
      {{"1.2.3.new", "1.2.3.lost-at-7-by-TESTER", "1.2.3.open-8-TESTER"}, TRUE},
      {{"1.2.3.reading", "1.2.3.lost-object-1.2.3.4.1", "1.2.3.lost-object-9"}, FALSE},
  };
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    enum { N_IMAGES = 3 };
    g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
    g_autofree char *journal = g_build_filename(place->out, ".journal", NULL);
    g_assert_true(demur_folder_make(journal, NULL));
    for (gsize m = 0; m < G_N_ELEMENTS(rows[r].marks) && rows[r].marks[m] != NULL; m++) {
      g_autofree char *path = g_build_filename(journal, rows[r].marks[m], NULL);
      g_assert_true(g_file_set_contents(path, "", 0, NULL));
      /* A clock that was put back since: no clock says what was earlier. */
      const struct utimbuf later = {4102444800, 4102444800};
      g_assert_cmpint(g_utime(path, (struct utimbuf *)(gpointer)&later), ==, 0);
    }
    FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
    g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
    g_assert_cmpuint(send_as(server, "TESTER", place->paths, N_IMAGES), ==, N_IMAGES);
    if (rows[r].mended) {
      assert_whole(server, place->out);
      continue;
    }
    server = restart(server, place->out); /* and it stays so */
    fixture_server_stop(server);
    g_assert_cmpuint(server->received.n_unread, ==, 1);
    fixture_server_free(server);
  }
}

static guint
count_logs(const char *folder) {
  g_autofree char *journal = g_build_filename(folder, ".journal", NULL);
  g_autoptr(GDir) dir = g_dir_open(journal, 0, NULL);
  const char *name;
  guint n = 0;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    n += g_str_has_suffix(name, ".log") ? 1 : 0;
  return n;
}

/* Associations leave their logs to the server, which removes them. */
static void
test_logs_of_ended_associations_are_removed(void) {
  enum { N_ASSOCIATIONS = 30, N_EACH = 6 };
  g_autoptr(FixturePlace) place = fixture_place_new(N_ASSOCIATIONS * N_EACH);
  FixtureServer *server = fixture_server_new_patient(place->out);
  const DemurPeer peer = fixture_peer(server);
  for (guint a = 0; a < N_ASSOCIATIONS; a++) {
    char *paths[N_EACH + 1] = {NULL};
    for (guint i = 0; i < N_EACH; i++)
      paths[i] = place->paths[a * N_EACH + i];
    g_autoptr(DemurSending) sending = send_all(&peer, paths);
    g_assert_cmpuint(sending->n_sent, ==, N_EACH);
  }
  for (int i = 0; i < 600 && count_logs(place->out) > 0; i++)
    g_usleep(100000);
  g_assert_cmpuint(count_logs(place->out), ==, 0);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, N_ASSOCIATIONS * N_EACH);
  fixture_server_free(server);
  g_autofree char *series = g_build_filename(place->out, "1.2.3", "1.2.3.4", NULL);
  g_assert_cmpuint(count_in(series), ==, N_ASSOCIATIONS * N_EACH);
}

/* A peer that follows Nagle's rule sends an object's parts behind our acknowledgements: none is left
 * to the kernel, which keeps it back for 40 ms. Told by what the kernel is asked, not by time. */
static void
test_no_acknowledgement_is_kept_back(void) {
  enum { N_IMAGES = 20 };
  g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
  wishes = mmap(NULL, sizeof *wishes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true(wishes != MAP_FAILED);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  g_autoptr(DemurSending) sending = send_all(&peer, place->paths);
  g_assert_cmpuint(sending->n_sent, ==, N_IMAGES);
  fixture_server_stop(server);
  g_assert_cmpuint(wishes->n_no_delay, >=, 2); /* by who calls and by who is called */
  /* Of an object here, of its answer there: head and body of a command, of a data set, of the
   * answer. */
  g_assert_cmpuint(wishes->n_quick, >=, 6 * N_IMAGES);
  fixture_server_free(server);
  g_assert_cmpint(munmap(g_steal_pointer(&wishes), sizeof *wishes), ==, 0);
}

/* A disk of 256 KiB: the peer is told for each object that has no room, the association goes on,
 * and what was acknowledged is there whole. The study is a part until the
 * rest came. */
static void
test_a_full_disk_is_told_to_the_peer(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(400);
  g_mkdir(place->out, 0700);
  if (mount("demur-test", place->out, "tmpfs", 0, "size=256k") != 0) {
    g_test_skip("a small file system can't be mounted here");
    return;
  }
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  g_autoptr(DemurSending) sending = send_all(&peer, place->paths);
  g_assert_cmpuint(sending->n_sent, >, 0);
  g_assert_cmpuint(sending->n_failed, >, 0);
  g_assert_cmpuint(sending->n_sent + sending->n_failed, ==, 400);
  g_assert_nonnull(strstr(sending->problems->pdata[0], "0xA700"));
  g_assert_cmpint(mount("demur-test", place->out, "tmpfs", MS_REMOUNT, "size=64m"), ==, 0);
  g_assert_cmpuint(send_as(server, "TESTER", place->paths, 1), ==, 1); /* not what was refused */
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_autoptr(DemurSending) again = send_all(&peer, place->paths);
  g_assert_cmpuint(again->n_sent, ==, 400);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->settled->len, ==, 1);
  g_assert_cmpuint(server->received.n_received, ==, 400);
  g_autoptr(DemurImport) import = fixture_import_folder(server->settled->pdata[0]);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 400);
  fixture_server_free(server);
  g_assert_cmpint(umount(place->out), ==, 0);
}

/* A disk that takes no name of what was refused: the study is a part, also when the server was ended
 * before there was room, and even when all seems to come. */
static void
test_losses_without_a_name_stay(void) {
  enum { N_IMAGES = 60 };
  g_autoptr(FixturePlace) place = fixture_place_new(N_IMAGES);
  g_mkdir(place->out, 0700);
  if (mount("demur-test", place->out, "tmpfs", 0, "size=64m,nr_inodes=40") != 0) {
    g_test_skip("a small file system can't be mounted here");
    return;
  }
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  const guint n = send_as(server, "TESTER", place->paths, N_IMAGES);
  g_assert_cmpuint(n, >, 0);
  g_assert_cmpuint(n, <, N_IMAGES);
  fixture_server_stop(server);
  g_assert_cmpuint(server->settled->len, ==, 0);
  g_assert_cmpuint(server->received.n_unread, ==, 1);
  fixture_server_free(server);
  g_assert_cmpint(mount("demur-test", place->out, "tmpfs", MS_REMOUNT, "nr_inodes=10000"), ==, 0);
  server = fixture_server_new(place->out, NULL, NULL);
  g_assert_cmpuint(send_as(server, "TESTER", place->paths, N_IMAGES), ==, N_IMAGES);
  server = restart(server, place->out);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_unread, ==, 1);
  fixture_server_free(server);
  g_assert_cmpint(umount(place->out), ==, 0);
}

/* An image each of N_STUDIES studies 1.2.55.0 .. and one of 1.2.9. */
static char **
write_studies(const char *folder, guint n_studies) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (guint k = 0; k <= n_studies; k++) {
    FixtureImage image = fixture_image((int)k + 1, 2.5);
    g_autofree char *study = g_strdup_printf("1.2.55.%u", k),
                    *name = g_strdup_printf("study%03u.dcm", k);
    image.study_uid = k < n_studies ? study : "1.2.9";
    fixture_save(&image, folder, name);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_strv_builder_add(builder, path);
  }
  return g_strv_builder_end(builder);
}

/* More studies lost objects than are told apart, on a disk that took no mark of it: what comes then
 * may be a part. It waits for ever; or for so long, and is told as a part, which its mark says to whoever reads
 * it. Where all are told apart it is whole. */
static void
test_behind_losses_that_are_not_told_apart_all_are_parts(void) {
  enum { N_STUDIES = 60 };
  static const struct {
    guint max_lacking, give_up_seconds;
    gboolean settled, broken;
  } rows[] = {{3, 1, TRUE, TRUE}, {3, 0, FALSE, TRUE}, {0, 1, TRUE, FALSE}};
  g_autoptr(FixturePlace) place = fixture_place_new(1);
  g_auto(GStrv) paths = write_studies(place->folder, N_STUDIES);
  g_mkdir(place->out, 0700);
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    if (mount("demur-test", place->out, "tmpfs", 0, "size=64m,nr_inodes=40") != 0) {
      g_test_skip("a small file system can't be mounted here");
      return;
    }
    FixtureServer *server = fixture_server_make(place->out, NULL, NULL);
    server->receiver.max_lacking = rows[r].max_lacking;
    server->receiver.give_up_seconds = rows[r].give_up_seconds;
    fixture_server_start(server);
    g_assert_cmpuint(send_as(server, "TESTER", paths, N_STUDIES), <, N_STUDIES - 10);
    g_assert_cmpint(mount("demur-test", place->out, "tmpfs", MS_REMOUNT, "nr_inodes=10000"), ==, 0);
    g_assert_cmpuint(send_as(server, "OTHER", paths + N_STUDIES, 1), ==, 1);
    for (guint n = 1; rows[r].settled && n_settled(server, "/1.2.9") == 0; n++)
      fixture_wait(server, server->settled, n);
    for (guint tries = 0;
         tries < 600 && demur_receiver_is_broken(place->out, "1.2.9") != rows[r].broken; tries++)
      g_usleep(50000);
    g_assert_true(demur_receiver_is_broken(place->out, "1.2.9") == rows[r].broken);
    fixture_server_stop(server);
    g_assert_cmpuint(n_settled(server, "/1.2.9"), ==, rows[r].settled ? 1 : 0);
    fixture_server_free(server);
    g_assert_cmpint(umount(place->out), ==, 0);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/receiver/silent-peers-cost-only-themselves",
                  test_silent_peers_cost_only_themselves);
  g_test_add_func("/dicom/receiver/behind-losses-that-are-not-told-apart-all-are-parts",
                  test_behind_losses_that_are_not_told_apart_all_are_parts);
  g_test_add_func("/dicom/receiver/a-full-server-gives-turns", test_a_full_server_gives_turns);
  g_test_add_func("/dicom/receiver/acknowledged-studies-are-recalled",
                  test_acknowledged_studies_are_recalled);
  g_test_add_func("/dicom/receiver/the-log-puts-back-what-a-power-cut-took",
                  test_the_log_puts_back_what_a_power_cut_took);
  g_test_add_func("/dicom/receiver/a-torn-log-gives-what-is-whole",
                  test_a_torn_log_gives_what_is_whole);
  g_test_add_func("/dicom/receiver/a-full-log-begins-anew", test_a_full_log_begins_anew);
  g_test_add_func("/dicom/receiver/what-could-not-be-read-is-told-again",
                  test_what_could_not_be_read_is_told_again);
  g_test_add_func("/dicom/receiver/the-same-object-from-another-ae-is-known",
                  test_the_same_object_from_another_ae_is_known);
  g_test_add_func("/dicom/receiver/a-good-end-beside-a-broken-one-makes-no-whole-study",
                  test_a_good_end_beside_a_broken_one_makes_no_whole_study);
  g_test_add_func("/dicom/receiver/what-broke-off-waits-for-who-broke-off",
                  test_what_broke_off_waits_for_who_broke_off);
  g_test_add_func("/dicom/receiver/what-was-refused-waits-for-itself",
                  test_what_was_refused_waits_for_itself);
  g_test_add_func("/dicom/receiver/losses-of-an-earlier-server-are-recalled",
                  test_losses_of_an_earlier_server_are_recalled);
  g_test_add_func("/dicom/receiver/logs-of-ended-associations-are-removed",
                  test_logs_of_ended_associations_are_removed);
  g_test_add_func("/dicom/receiver/no-acknowledgement-is-kept-back",
                  test_no_acknowledgement_is_kept_back);
  g_test_add_func("/dicom/receiver/a-full-disk-is-told-to-the-peer",
                  test_a_full_disk_is_told_to_the_peer);
  g_test_add_func("/dicom/receiver/losses-without-a-name-stay", test_losses_without_a_name_stay);
  return g_test_run();
}
