/* Hearing of what others do where no thread can be made: refused as an error, and nothing is left. */
#include "base/error.h"
#include "support/support.h"
#include "tasks/others.h"

static void
never(const DemurOthersNews *news, gpointer data) {
  (void)news;
  (void)data;
  g_assert_not_reached();
}

static int
start_alone(void) {
  g_autoptr(GError) error = NULL;
  DemurOthers *others = demur_others_start("/nowhere/workspace.demur", never, NULL, &error);
  demur_others_stop(others);
  return others == NULL && g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STATE) ? 0 : 3;
}

static void
without_a_thread_nobody_is_heard(void) {
  demur_test_without_threads(start_alone);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/others/no-thread", without_a_thread_nobody_is_heard);
  return g_test_run();
}
