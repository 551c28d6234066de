/* A cohort table: refused with its faults, or a cohort that comes back from its own table with the
 * same digest. */
#include <stdint.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "cohort/export.h"
#include "cohort/import.h"
#include "memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  g_autofree char *path = fuzz_memory_file(data, size, &fd);
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) warnings = NULL;
  const DemurImportOptions options = {.name = "c", .model = "m", .created = "2026"};
  g_autoptr(DemurCohort) cohort = demur_cohort_import(path, &options, NULL, &warnings, &error);
  close(fd);
  if (cohort == NULL) {
    g_assert_nonnull(error);
    return 0;
  }
  g_autofree char *folder = g_dir_make_tmp("demur-fuzz-XXXXXX", &error);
  g_assert_no_error(error);
  g_autofree char *copy = g_build_filename(folder, "c.csv", NULL);
  if (!demur_cohort_export(cohort, copy, NULL, &error))
    g_error("its table can't be written: %s", error->message);
  g_autoptr(DemurCohort) again = demur_cohort_import(copy, &options, NULL, NULL, &error);
  if (again == NULL)
    g_error("its own table is refused: %s", error->message);
  g_autofree char *first = demur_cohort_digest(cohort, NULL, 0);
  g_autofree char *second = demur_cohort_digest(again, NULL, 0);
  g_assert_cmpstr(first, ==, second);
  g_unlink(copy);
  g_rmdir(folder);
  return 0;
}
