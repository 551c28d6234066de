/* A ZIP archive: refused, or entries that are read whole or refused. */
#include <stdint.h>
#include <unistd.h>

#include "dicom/zip.h"
#include "memory-file.h"

#define MAX_ENTRIES 64
#define MAX_BYTES (4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  g_autofree char *path = fuzz_memory_file(data, size, &fd);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurZip) zip = demur_zip_open(path, &error);
  if (zip == NULL)
    g_assert_nonnull(error);
  for (size_t i = 0; zip != NULL && i < MIN(demur_zip_n_entries(zip), MAX_ENTRIES); i++) {
    const DemurZipEntry *entry = demur_zip_entry(zip, i);
    g_assert_nonnull(demur_zip_find(zip, entry->name));
    if (entry->size > MAX_BYTES)
      continue;
    g_autoptr(GBytes) bytes = demur_zip_read(zip, entry, NULL);
    if (bytes != NULL)
      g_assert_cmpuint(g_bytes_get_size(bytes), ==, entry->size);
  }
  close(fd);
  return 0;
}
