/* What an image holds, as a SHA-256: so that a score and a verdict belong to these pixels and not
 * only to a name. One other pixel, position, rescale value or SOPInstanceUID is another digest.
 *
 * Of a slice: SOPInstanceUID, frame, rows, columns, position, orientation, pixel spacing, slice
 * thickness, FrameOfReferenceUID, rescale slope, intercept and type, how pixels are stored (bits,
 * sign, padding, photometric interpretation, compression), and the SHA-256 of its pixel bytes.
 * Names of persons, dates, descriptions, file names and group 0002 (but for the compression) are
 * not in it: the same object from another sender, or corrected in its person, keeps its digest.
 * Of a volume: the digests of its used slices in their order.
 *
 * Pixel bytes are those of the frame as stored: native ones are rows x columns words and no more
 * (bytes behind them don't count; big-endian words are turned), compressed ones the frame's
 * fragments joined. So an object that was compressed otherwise on its way is another digest: that
 * is reported as other content, never silently taken for the same.
 *
 * demur_import_run and demur_import_reopen fill DemurSlice.content_digest and
 * DemurSeries.content_digest as they read each file: what lies at a stored path is still what was
 * imported where the two are equal. Cost of 250 slices of 512 x 512: 0.12 s of one core. */
#pragma once

#include "dicom/header.h"
#include "base/sha256.h"

G_BEGIN_DECLS

/* SHA-256 of one frame's pixel bytes. FALSE where header->pixels isn't DEMUR_PIXELS_COMPLETE, or
 * they can't be read. Reads them once, in pieces. */
gboolean demur_content_digest_pixels(DemurSource *source, const DemurHeader *header, guint32 frame,
                                     guint8 digest[DEMUR_SHA256_BYTES]) G_GNUC_WARN_UNUSED_RESULT;

/* Digest of the slice that has these pixels, in hexadecimal. */
void demur_content_digest_slice(const DemurHeader *header, guint32 frame,
                                const guint8 pixels[DEMUR_SHA256_BYTES],
                                char hex[DEMUR_SHA256_HEX]);

/* Digest of a volume from its n slices' in order (hexadecimal; owned). NULL where one is NULL. */
char *demur_content_digest_volume(const char *const *slices, size_t n);

G_END_DECLS
