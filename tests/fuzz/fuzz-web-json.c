/* Answers of a DICOMweb server: found elements, stored objects, or a refusal. */
#include <stdint.h>

#include "dicom/web-json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (int series = 0; series < 2; series++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) found =
        demur_web_json_found((const char *)data, size, series != 0, &error);
    g_assert_true((found == NULL) == (error != NULL));
    for (guint i = 0; found != NULL && i < found->len; i++)
      g_assert_nonnull(((const DemurFound *)found->pdata[i])->study_uid);
  }
  size_t n_stored;
  g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
  (void)!demur_web_json_stored((const char *)data, size, &n_stored, problems, NULL);
  return 0;
}
