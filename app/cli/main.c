/* demur: the command line, in a process of its own. */
#include "app/cli/run.h"

#include <stdlib.h>

int
main(int argc, char **argv) {
  return demur_cli_begin(argc, argv) ? demur_cli_run(argc, argv, NULL) : EXIT_FAILURE;
}
