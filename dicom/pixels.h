/* Stored values of one frame: native pixels are read straight from the file, compressed ones are
 * decoded here (JPEG lossless), by DCMTK (other JPEG, JPEG-LS, RLE) or OpenJPEG (JPEG 2000) from
 * their fragments. DCMTK never parses the file itself: it is handed a data set made of the pixel
 * attributes and the fragments of that one frame. */
#pragma once

#include "dicom/header.h"

G_BEGIN_DECLS

/* Decodes frame of the object into values [rows * columns], as 32-bit integers with the sign
 * extended from the BitsStored below HighBit, in compressed pixels too. padding [rows * columns],
 * may be NULL: 1 where the value is PixelPaddingValue (or in its range). demur_dicom_init must have
 * been called for compressed pixels. Several threads may decode at once, each with its own source.
 * DEMUR_ERROR_INPUT where the pixels are damaged, DEMUR_ERROR_UNSUPPORTED where the layout is not
 * read (colour, for example).
 */
gboolean demur_pixels_decode(DemurSource *source, const DemurHeader *header, guint32 frame,
                             gint32 *values, guint8 *padding,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* First and behind the last of header->fragments that hold the frame: by the offset table where
 * there is one, else by one fragment a frame, else by where images begin. */
gboolean demur_pixels_fragments(DemurSource *source, const DemurHeader *header, guint32 frame,
                                guint32 *begin, guint32 *end,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The bytes of one frame's compressed image, its fragments joined (owned). */
GBytes *demur_pixels_fragment(DemurSource *source, const DemurHeader *header, guint32 frame,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One component of a JPEG 2000 codestream or file (high-throughput or not) into values [rows *
 * columns], as coded: within *precision bits, at most 16, *is_signed or not. DEMUR_ERROR_INPUT where
 * it can't be decoded. */
gboolean demur_jpeg2000_decode(GBytes *codestream, guint16 rows, guint16 columns, gint32 *values,
                               guint *precision, gboolean *is_signed,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* JPEG lossless of one component into words [rows * columns], as coded. DEMUR_JPEG_OTHER, without
 * an error, where it is another kind of JPEG: DCMTK's; DEMUR_JPEG_DAMAGED with DEMUR_ERROR_INPUT.
 */
typedef enum {
  DEMUR_JPEG_DECODED,
  DEMUR_JPEG_OTHER,
  DEMUR_JPEG_DAMAGED,
} DemurJpegResult;
DemurJpegResult demur_jpeg_lossless_decode(GBytes *image, guint16 rows, guint16 columns,
                                           guint16 *words,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* JPEG, JPEG-LS or RLE by DCMTK: the frame's native words, and how they are stored afterwards.
 * words [rows * columns]. */
typedef struct {
  guint bits_allocated, bits_stored;
  gboolean is_signed;
} DemurDecodedLayout;
gboolean demur_dcmtk_decode(GBytes *image, const DemurHeader *header, guint16 *words,
                            DemurDecodedLayout *layout, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
