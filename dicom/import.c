#include "dicom/import.h"

#include <math.h>

DemurImport *
demur_import_run(const char *const *paths, const DemurEligibility *eligibility,
                 DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  g_autoptr(DemurEligibility) defaults = eligibility == NULL ? demur_eligibility_new() : NULL;
  const DemurEligibility *rules = eligibility != NULL ? eligibility : defaults;
  g_autoptr(DemurFiles) files = demur_files_scan(paths, parallel, progress, error);
  if (files == NULL)
    return NULL;
  GPtrArray *series =
      demur_series_group(files, demur_eligibility_limit(rules, "irregular"), progress, error);
  if (series == NULL)
    return NULL;
  demur_eligibility_judge(rules, series);
  DemurImport *import = g_new0(DemurImport, 1);
  import->series = series;
  import->skipped = g_ptr_array_ref(files->skipped);
  return import;
}

void
demur_import_free(DemurImport *import) {
  if (import == NULL)
    return;
  g_ptr_array_unref(import->series);
  g_ptr_array_unref(import->skipped);
  g_free(import);
}
