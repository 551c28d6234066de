/* NumPy's format: "\x93NUMPY", major, minor, header length (2 bytes in version 1, 4 in 2 and 3,
 * little endian), a Python dictionary as text with descr, fortran_order and shape, then the values.
 * Cost: one pass; memory: the result and a block. */
#include "cohort/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/locked-files.h"
#include "base/memory.h"

#define MAX_HEADER_BYTES (1u << 20)
#define BLOCK_VALUES 65536

typedef struct {
  int value_bytes; /* 2, 4, 8 */
  gboolean swap;   /* big endian */
  gboolean fortran;
  size_t n_rows, n_columns;
} Header;

static gboolean
refuse(const char *name, const char *what, GError **error) {
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%s: %s; expected a two-dimensional float16, float32 or float64 array as written by "
      "numpy.save, one row a scan",
      name, what);
  return FALSE;
}

/* The text behind 'key': in the dictionary, NULL where there is none. */
static const char *
find_key(const char *header, const char *key) {
  for (const char *quote = "'\""; *quote != '\0'; quote++) {
    g_autofree char *quoted = g_strdup_printf("%c%s%c", *quote, key, *quote);
    const char *p = strstr(header, quoted);
    if (p == NULL)
      continue;
    p += strlen(quoted);
    while (*p == ' ')
      p++;
    if (*p != ':')
      continue;
    for (p++; *p == ' '; p++)
      ;
    return p;
  }
  return NULL;
}

static gboolean
parse_header(const char *text, const char *name, Header *header, GError **error) {
  const char *descr = find_key(text, "descr"), *order = find_key(text, "fortran_order"),
             *shape = find_key(text, "shape");
  if (descr == NULL || order == NULL || shape == NULL || *shape != '(')
    return refuse(name, N_("its header can't be read"), error);
  if (*descr != '\'' && *descr != '"')
    return refuse(name, N_("it holds records (several named columns)"), error);
  descr++;
  if (strchr("<>=|", descr[0]) == NULL || descr[0] == '\0')
    return refuse(name, N_("its type can't be read"), error);
  if (descr[1] == 'O')
    return refuse(name, N_("it holds Python objects, which are not read"), error);
  /* strchr finds the end of a text too: a header may end in "<f". */
  if (descr[1] != 'f' || descr[2] == '\0' || strchr("248", descr[2]) == NULL ||
      (descr[3] != '\'' && descr[3] != '"')) {
    g_autofree char *what = g_strdup_printf("its values are of type %.8s", descr);
    g_strdelimit(what, "'\"", ' ');
    return refuse(name, what, error);
  }
  header->value_bytes = descr[2] - '0';
  header->swap = descr[0] == '>';
  if (g_str_has_prefix(order, "True"))
    header->fortran = TRUE;
  else if (g_str_has_prefix(order, "False"))
    header->fortran = FALSE;
  else
    return refuse(name, N_("its order can't be read"), error);
  guint64 sizes[2];
  const char *p = shape + 1;
  for (int i = 0; i < 2; i++) {
    char *end;
    while (*p == ' ')
      p++;
    if (!g_ascii_isdigit(*p))
      return refuse(name, N_("it is not two-dimensional"), error);
    sizes[i] = g_ascii_strtoull(p, &end, 10);
    p = end;
    if (*p == 'L')
      p++;
    while (*p == ' ')
      p++;
    if (*p == ',')
      p++;
    else if (i == 0)
      return refuse(name, N_("it is not two-dimensional"), error);
  }
  while (*p == ' ')
    p++;
  if (*p != ')')
    return refuse(name, N_("it is not two-dimensional"), error);
  if (sizes[0] == 0 || sizes[1] == 0)
    return refuse(name, N_("it is empty"), error);
  header->n_rows = (size_t)sizes[0];
  header->n_columns = (size_t)sizes[1];
  return TRUE;
}

/* IEEE 754 binary16 -> binary32. */
static float
half_to_float(guint16 half) {
  const int exponent = (half >> 10) & 0x1f;
  const int fraction = half & 0x3ff;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f)
    return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexpf((float)fraction, -24);
  return sign * ldexpf((float)(fraction + 1024), exponent - 25);
}

static float
decode(const guint8 *bytes, const Header *header) {
  if (header->value_bytes == 2) {
    guint16 v;
    memcpy(&v, bytes, sizeof v);
    if (header->swap)
      v = (guint16)(v << 8 | v >> 8);
    return half_to_float(v);
  }
  if (header->value_bytes == 4) {
    guint32 v;
    float f;
    memcpy(&v, bytes, sizeof v);
    v = header->swap ? GUINT32_SWAP_LE_BE(v) : v;
    memcpy(&f, &v, sizeof f);
    return f;
  }
  guint64 v;
  double d;
  memcpy(&v, bytes, sizeof v);
  v = header->swap ? GUINT64_SWAP_LE_BE(v) : v;
  memcpy(&d, &v, sizeof d);
  return (float)d;
}

static float *
read_values(FILE *file, const char *name, const Header *header, const DemurProgress *progress,
            GError **error) {
  float *values = demur_memory_array(header->n_rows, header->n_columns, sizeof(float), error);
  if (values == NULL)
    return NULL;
  const size_t n = header->n_rows * header->n_columns;
  g_autofree guint8 *block = g_malloc(BLOCK_VALUES * 8);
  for (size_t begin = 0; begin < n; begin += BLOCK_VALUES) {
    const size_t n_block = MIN((size_t)BLOCK_VALUES, n - begin);
    if (!demur_progress_step(progress, (double)begin / (double)n, "reading embeddings", error))
      goto failed;
    if (fread(block, (size_t)header->value_bytes, n_block, file) != n_block) {
      refuse(name, N_("it ends before its last value"), error);
      goto failed;
    }
    for (size_t i = 0; i < n_block; i++) {
      const size_t at = begin + i;
      const size_t row = header->fortran ? at % header->n_rows : at / header->n_columns;
      const size_t column = header->fortran ? at / header->n_rows : at % header->n_columns;
      const float value = decode(block + i * (size_t)header->value_bytes, header);
      if (!isfinite(value)) {
        demur_error_set(
            error, DEMUR_ERROR_INPUT,
            "%s: row %zu, column %zu (counted from 0): the value is not a finite float; "
            "every scan needs a whole embedding",
            name, row, column);
        goto failed;
      }
      values[row * header->n_columns + column] = value;
    }
  }
  return values;
failed:
  g_aligned_free(values);
  return NULL;
}

static gboolean
read_header(FILE *file, guint64 file_bytes, const char *name, Header *header, GError **error) {
  guint8 head[12];
  if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
    return refuse(name, N_("it is not an .npy file"), error);
  size_t header_bytes = (size_t)head[8] | (size_t)head[9] << 8;
  size_t at = 10;
  if (head[6] == 2 || head[6] == 3) {
    if (fread(head + 10, 1, 2, file) != 2)
      return refuse(name, N_("its header is cut off"), error);
    header_bytes |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    at = 12;
  } else if (head[6] != 1)
    return refuse(name, N_("its format version is not 1, 2 or 3"), error);
  if (header_bytes > MAX_HEADER_BYTES || at + header_bytes > file_bytes)
    return refuse(name, N_("its header is cut off"), error);
  g_autofree char *text = g_malloc0(header_bytes + 1);
  if (fread(text, 1, header_bytes, file) != header_bytes)
    return refuse(name, N_("its header is cut off"), error);
  if (!parse_header(text, name, header, error))
    return FALSE;
  size_t n, bytes;
  if (!g_size_checked_mul(&n, header->n_rows, header->n_columns) ||
      !g_size_checked_mul(&bytes, n, (size_t)header->value_bytes) ||
      bytes != file_bytes - at - header_bytes) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%s: its header tells of %zu x %zu values of %d bytes, but %" PRIu64
                    " bytes follow; write it again with numpy.save",
                    name, header->n_rows, header->n_columns, header->value_bytes,
                    file_bytes - at - header_bytes);
    return FALSE;
  }
  return TRUE;
}

/* Opens path and passes over its header. NULL with error. */
static FILE *
open_values(const char *path, const char *name, Header *header, GError **error) {
  guint64 file_bytes;
  const int fd = demur_file_input_open(path, &file_bytes, error);
  FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
  if (fd >= 0 && file == NULL) {
    refuse(name, N_("there is no memory to read it"), error);
    demur_locked_files_close(fd);
  }
  if (file != NULL && !read_header(file, file_bytes, name, header, error)) {
    demur_locked_files_close_stream(file);
    return NULL;
  }
  return file;
}

gboolean
demur_npy_shape(const char *path, size_t *n_rows, size_t *n_columns, GError **error) {
  g_autofree char *name = g_path_get_basename(path);
  Header header = {0};
  FILE *file = open_values(path, name, &header, error);
  if (file == NULL)
    return FALSE;
  demur_locked_files_close_stream(file);
  *n_rows = header.n_rows;
  *n_columns = header.n_columns;
  return TRUE;
}

float *
demur_npy_read(const char *path, size_t *n_rows, size_t *n_columns, const DemurProgress *progress,
               GError **error) {
  g_autofree char *name = g_path_get_basename(path);
  Header header = {0};
  FILE *file = open_values(path, name, &header, error);
  if (file == NULL)
    return NULL;
  *n_rows = header.n_rows;
  *n_columns = header.n_columns;
  float *values = read_values(file, name, &header, progress, error);
  demur_locked_files_close_stream(file);
  return values;
}
