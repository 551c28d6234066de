#include "base/program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *program;
static gboolean output_ended;

gboolean
demur_program_end_output(void) {
  output_ended = TRUE;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return TRUE;
  g_printerr("%s: the output could not be written: %s\n", program, g_strerror(errno));
  return FALSE;
}

static void
on_exit_of_others(void) {
  if (!output_ended && !demur_program_end_output())
    _exit(EXIT_FAILURE);
}

void
demur_program_begin(const char *name) {
  program = name;
  signal(SIGXFSZ, SIG_IGN);
  (void)atexit(on_exit_of_others);
}
