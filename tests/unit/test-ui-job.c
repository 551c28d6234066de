/* Work beside the window where no thread can be made: told as any failure is. */
#include "base/error.h"
#include "support/support.h"
#include "ui/job.h"

typedef struct {
  gboolean done, freed;
  guint64 tag;
  int code;
} Told;

static Told told; /* of the one job of the child */

static gpointer
never(DemurJob *job, gpointer input, const DemurProgress *progress, GError **error) {
  (void)job;
  (void)progress;
  (void)error;
  return input;
}

static void
free_input(gpointer input) {
  (void)input;
  told.freed = TRUE;
}

static void
on_done(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  (void)owner;
  told = (Told){TRUE, told.freed, tag,
                result == NULL && error != NULL && error->domain == DEMUR_ERROR ? error->code : -1};
}

static int
begin_alone(void) {
  g_autoptr(GObject) owner = g_object_new(G_TYPE_OBJECT, NULL);
  const DemurJobStart start = {.func = never,
                               .input = owner,
                               .free_input = free_input,
                               .owner = owner,
                               .tag = 7,
                               .done = on_done};
  (void)demur_job_start(&start);
  if (told.done || demur_job_n_running() != 1)
    return 3; /* not before it has returned */
  while (!told.done)
    g_main_context_iteration(NULL, TRUE);
  return told.freed && told.tag == 7 && told.code == DEMUR_ERROR_STATE && demur_job_n_running() == 0
             ? 0
             : 4;
}

static void
a_job_without_a_thread_fails(void) {
  demur_test_without_threads(begin_alone);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/job/no-thread", a_job_without_a_thread_fails);
  return g_test_run();
}
