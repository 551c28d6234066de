/* JPEG 2000 through OpenJPEG from memory: DCMTK 3.6.7 has no decoder for it. The size in the
 * codestream must be the header's before a pixel is decoded, so a small stream can't ask for a
 * large buffer. */
#include "dicom/pixels.h"

#include <openjpeg.h>
#include <string.h>

#include "base/error.h"

typedef struct {
  const guint8 *bytes;
  gsize size, at;
} Memory;

static OPJ_SIZE_T
read_memory(void *buffer, OPJ_SIZE_T n, void *data) {
  Memory *memory = data;
  const gsize left = memory->size - memory->at;
  if (left == 0)
    return (OPJ_SIZE_T)-1;
  const gsize got = MIN((gsize)n, left);
  memcpy(buffer, memory->bytes + memory->at, got);
  memory->at += got;
  return got;
}

static OPJ_OFF_T
skip_memory(OPJ_OFF_T n, void *data) {
  Memory *memory = data;
  if (n < 0)
    return -1;
  const gsize step = MIN((gsize)n, memory->size - memory->at);
  memory->at += step;
  return (OPJ_OFF_T)step;
}

static OPJ_BOOL
seek_memory(OPJ_OFF_T at, void *data) {
  Memory *memory = data;
  if (at < 0 || (gsize)at > memory->size)
    return OPJ_FALSE;
  memory->at = (gsize)at;
  return OPJ_TRUE;
}

static void
quiet(const char *message, void *data) {
  (void)message;
  (void)data;
}

static gboolean
decode(opj_codec_t *codec, opj_stream_t *stream, opj_image_t **image, guint16 rows, guint16 columns,
       gint32 *values, GError **error) {
  if (!opj_read_header(stream, codec, image)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the JPEG 2000 header is damaged");
    return FALSE;
  }
  const opj_image_t *picture = *image;
  if (picture->numcomps != 1 || picture->comps[0].w != columns || picture->comps[0].h != rows ||
      picture->comps[0].prec > 16) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the JPEG 2000 image has %u components of %u x %u, but the header says %u x %u",
                    picture->numcomps, picture->numcomps > 0 ? picture->comps[0].h : 0,
                    picture->numcomps > 0 ? picture->comps[0].w : 0, rows, columns);
    return FALSE;
  }
  if (!opj_decode(codec, stream, *image) || !opj_end_decompress(codec, stream) ||
      picture->comps[0].data == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the JPEG 2000 image is damaged");
    return FALSE;
  }
  memcpy(values, picture->comps[0].data, (size_t)rows * columns * sizeof *values);
  return TRUE;
}

gboolean
demur_jpeg2000_decode(GBytes *codestream, guint16 rows, guint16 columns, gint32 *values,
                      guint *precision, gboolean *is_signed, GError **error) {
  Memory memory = {0};
  memory.bytes = g_bytes_get_data(codestream, &memory.size);
  /* A JP2 file begins with a box of 12 bytes, a codestream with SOC. */
  const gboolean boxed = memory.size > 4 && memory.bytes[0] == 0;
  opj_codec_t *codec = opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_stream_t *stream = opj_stream_create(MIN(MAX(memory.size, 1024), 1 << 20), OPJ_TRUE);
  opj_image_t *image = NULL;
  gboolean good = FALSE;
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (codec != NULL && stream != NULL) {
    opj_set_info_handler(codec, quiet, NULL);
    opj_set_warning_handler(codec, quiet, NULL);
    opj_set_error_handler(codec, quiet, NULL);
    opj_stream_set_user_data(stream, &memory, NULL);
    opj_stream_set_user_data_length(stream, memory.size);
    opj_stream_set_read_function(stream, read_memory);
    opj_stream_set_skip_function(stream, skip_memory);
    opj_stream_set_seek_function(stream, seek_memory);
    if (opj_setup_decoder(codec, &parameters))
      good = decode(codec, stream, &image, rows, columns, values, error);
    else
      demur_error_set(error, DEMUR_ERROR_INPUT, "OpenJPEG can't be started");
  } else {
    demur_error_set(error, DEMUR_ERROR_INPUT, "OpenJPEG can't be started");
  }
  *is_signed = good && image->comps[0].sgnd != 0;
  *precision = good ? image->comps[0].prec : 0;
  if (image != NULL)
    opj_image_destroy(image);
  if (stream != NULL)
    opj_stream_destroy(stream);
  if (codec != NULL)
    opj_destroy_codec(codec);
  return good;
}
