/* Pixels of which nothing but the picture is left. */
#pragma once

#include "dicom/pixels.h"

G_BEGIN_DECLS

typedef struct {
  GBytes *words; /* native, little endian: rows x columns x frames words and no more */
  guint16 bits_allocated, bits_stored;
  gboolean is_signed;
  gboolean decompressed;  /* they were compressed */
  size_t n_outside;       /* words that held something outside the stored bits */
  guint64 n_behind_bytes; /* behind the last pixel */
} DemurNativePixels;

/* Decodes every frame and writes its stored values anew: bits outside BitsStored, bytes behind the
 * pixels, comments and application segments of compressed streams and whatever else is no picture
 * can't get through. Bits above the sign are copies of it; padding keeps its word. FALSE with
 * DEMUR_ERROR_UNSUPPORTED where it can't be done (colour, palettes), DEMUR_ERROR_INPUT where the
 * pixels are damaged. */
gboolean demur_native_pixels(DemurSource *source, const DemurHeader *header,
                             DemurNativePixels *pixels, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_native_pixels_clear(DemurNativePixels *pixels);

G_END_DECLS
