/* Writes a small phantom series for the tests of faults. Usage: fault-phantom FOLDER SEED SLICES;
 * prints the series UID. */
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "dicom/library.h"
#include "dicom/phantom.h"

int
main(int argc, char **argv) {
  g_autoptr(GError) error = NULL;
  g_autofree char *uid = NULL;
  DemurPhantomOptions options = demur_phantom_defaults(argc == 4 ? (guint64)atoi(argv[2]) : 0);
  options.n_slices = argc == 4 ? (guint)atoi(argv[3]) : 0;
  options.size = 64;
  options.spacing_mm = 4.0;
  DemurParallel *parallel = demur_parallel_new(1);
  if (argc != 4 || !demur_dicom_init(&error) ||
      !demur_phantom_write(&options, argv[1], parallel, NULL, &uid, &error)) {
    fprintf(stderr, "%s\n", error != NULL ? error->message : "fault-phantom FOLDER SEED SLICES");
    return 1;
  }
  demur_parallel_free(parallel);
  puts(uid);
  return 0;
}
