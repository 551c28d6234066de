/* The way a file from outside goes: ZIP or DICOM, header, whole walk, pixels of small images. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "dicom/library.h"
#include "dicom/pixels.h"
#include "dicom/zip.h"
#include "dicom/data-set.h"
#include "dicom/image-kind.h"
#include "memory-file.h"

#define MAX_PIXELS (512 * 512)
#define MAX_FRAMES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_pixels(DemurSource *source, const DemurHeader *header) {
  const size_t n = (size_t)header->rows * header->columns;
  if (header->pixels != DEMUR_PIXELS_COMPLETE || n > MAX_PIXELS)
    return;
  DEMUR_AUTO_ALIGNED gint32 *values = demur_new_array(gint32, n);
  DEMUR_AUTO_ALIGNED guint8 *padding = demur_new_array(guint8, n);
  for (guint32 frame = 0; frame < MIN(header->n_frames, MAX_FRAMES); frame++) {
    g_autoptr(GError) error = NULL;
    if (!demur_pixels_decode(source, header, frame, values, padding, &error))
      g_assert_nonnull(error);
  }
}

static void
try_dicom(GBytes *bytes) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSource) whole = demur_source_bytes(bytes);
  if (!demur_data_set_check(&whole, &error))
    g_clear_error(&error);
  g_autoptr(DemurSource) source = demur_source_bytes(bytes);
  g_autoptr(DemurHeader) header = demur_header_read(&source, &error);
  if (header == NULL) {
    g_assert_nonnull(error);
    return;
  }
  g_autoptr(GError) fault = demur_header_not_an_image(header);
  for (guint32 frame = 0; frame < MIN(header->n_frames, MAX_FRAMES); frame++)
    demur_header_frame(header, frame);
  try_pixels(source, header);
}

/* An archive lies in a file: here in memory. */
static void
try_zip(const uint8_t *data, size_t size) {
  int fd;
  g_autofree char *path = fuzz_memory_file(data, size, &fd);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurZip) zip = demur_zip_open(path, &error);
  for (size_t i = 0; zip != NULL && i < MIN(demur_zip_n_entries(zip), 8); i++) {
    const DemurZipEntry *entry = demur_zip_entry(zip, i);
    if (entry->size > (1 << 20))
      continue;
    g_autoptr(GBytes) bytes = demur_zip_read(zip, entry, NULL);
    if (bytes != NULL)
      try_dicom(bytes);
  }
  close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(GError) error = NULL;
  if (!demur_dicom_init(&error))
    g_error("%s", error->message);
  if (demur_zip_recognise(data, size))
    try_zip(data, size);
  g_autoptr(GBytes) bytes = g_bytes_new(data, size);
  try_dicom(bytes);
  return 0;
}
