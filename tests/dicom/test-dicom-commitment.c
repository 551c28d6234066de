/* Storage commitment in both roles: what a server holds it commits to, what it does not hold it
 * refuses by name; an answer to nothing that was asked is not taken. */
#include "network-fixture.h"

#include "base/error.h"
#include "dicom/commitment.h"

static void
test_what_is_held_is_committed_to(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(5);
  FixtureServer *archive = fixture_server_new(place->out, NULL, NULL);
  const DemurPeer peer = fixture_peer(archive);
  g_autoptr(GError) error = NULL;
  g_autofree char *last = g_steal_pointer(&place->paths[4]);
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)place->paths, NULL, &error);
  g_assert_no_error(error);
  DemurCommitment outcome;
  gboolean asked =
      demur_network_commit(&peer, (const char *const *)place->paths, "2.25.1", &outcome, &error);
  g_assert_no_error(error);
  g_assert_true(asked);
  g_assert_cmpint(outcome, ==, DEMUR_COMMITMENT_GIVEN);
  /* One that was never sent. */
  const char *const other[] = {place->paths[0], last, NULL};
  asked = demur_network_commit(&peer, other, "2.25.2", &outcome, &error);
  g_assert_no_error(error);
  g_assert_true(asked);
  g_assert_cmpint(outcome, ==, DEMUR_COMMITMENT_REFUSED);
  const char *const none[] = {"/nowhere", NULL};
  g_assert_false(demur_network_commit(&peer, none, "2.25.3", &outcome, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  fixture_server_stop(archive);
  fixture_server_free(archive);
}

/* The answer comes to our own server, where it is awaited; where it is not, nothing is noted. */
static void
test_an_answer_of_its_own_is_heard(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_autofree char *own = g_build_filename(folder, "own", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 3);
  FixtureServer *ours = fixture_server_new(own, NULL, NULL);
  g_autofree char *address = g_strdup_printf("DEMUR=127.0.0.1:%u", ours->receiver.port);
  const char *const commit_to[] = {address, NULL};
  FixtureServer *archive = fixture_server_make(out, NULL, NULL);
  archive->receiver.commit_to = commit_to;
  fixture_server_start(archive);
  DemurPeer peer = fixture_peer(archive);
  peer.calling = "DEMUR";
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)paths, NULL, &error);
  g_assert_true(demur_commitment_await(own, "2.25.8", &error));
  static const char *const transactions[] = {"2.25.7", "2.25.8"};
  for (gsize t = 0; t < G_N_ELEMENTS(transactions); t++) {
    DemurCommitment outcome;
    g_assert_true(
        demur_network_commit(&peer, (const char *const *)paths, transactions[t], &outcome, &error));
    g_assert_cmpint(outcome, ==, DEMUR_COMMITMENT_AWAITED);
  }
  for (int i = 0; i < 600 && demur_commitment_heard(own, "2.25.8") == DEMUR_COMMITMENT_AWAITED; i++)
    g_usleep(50000);
  g_assert_cmpint(demur_commitment_heard(own, "2.25.8"), ==, DEMUR_COMMITMENT_GIVEN);
  g_assert_cmpint(demur_commitment_heard(own, "2.25.7"), ==, DEMUR_COMMITMENT_NONE);
  g_assert_cmpint(demur_commitment_heard(own, "../../out"), ==, DEMUR_COMMITMENT_NONE);
  demur_commitment_forget(own, "2.25.8");
  g_assert_cmpint(demur_commitment_heard(own, "2.25.8"), ==, DEMUR_COMMITMENT_NONE);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_server_stop(ours);
  fixture_server_free(ours);
  fixture_remove(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/commitment/what-is-held-is-committed-to",
                  test_what_is_held_is_committed_to);
  g_test_add_func("/dicom/commitment/an-answer-of-its-own-is-heard",
                  test_an_answer_of_its_own_is_heard);
  return g_test_run();
}
