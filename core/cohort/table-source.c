#include "cohort/table-source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/locked-files.h"
#include "base/limits.h"

#define BLOCK_BYTES ((size_t)1 << 20)

struct DemurTableSource {
  char *name;
  FILE *file;
  guint64 file_bytes;  /* 0 where not known */
  guint64 bytes_read;  /* of the file */
  guint64 bytes_given; /* of the text */
  size_t lines;        /* ended in the text unpacked so far; 0 where nothing is packed */
  char *head;          /* the first block, until it is given out */
  size_t begin, end;
  gboolean by_cr; /* CR ends a line */
  z_stream *gzip; /* NULL: not compressed */
  guint8 *packed; /* [BLOCK_BYTES] */
  gboolean member_ended;
};

const char *
demur_table_source_name(const DemurTableSource *source) {
  return source->name;
}

guint64
demur_table_source_n_bytes(const DemurTableSource *source) {
  return source->gzip == NULL ? source->file_bytes : 0;
}

double
demur_table_source_fraction(const DemurTableSource *source) {
  return source->file_bytes > 0 ? (double)source->bytes_read / (double)source->file_bytes : 0.0;
}

size_t
demur_table_source_count_lines(const DemurTableSource *source) {
  if (demur_table_source_n_bytes(source) == 0)
    return 0;
  const char end = source->by_cr ? '\r' : '\n';
  g_autofree char *block = g_malloc(BLOCK_BYTES);
  size_t n = 1;
  off_t offset = 0;
  for (;;) {
    const ssize_t got = pread(fileno(source->file), block, BLOCK_BYTES, offset);
    if (got <= 0)
      return n;
    offset += got;
    for (ssize_t i = 0; i < got; i++)
      n += block[i] == end;
  }
}

static gboolean
fail(const DemurTableSource *source, const char *what, GError **error) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line 1, column 1: %s", source->name, what);
  return FALSE;
}

static gboolean
read_file(DemurTableSource *source, void *bytes, size_t n, size_t *got, GError **error) {
  *got = fread(bytes, 1, n, source->file);
  source->bytes_read += *got;
  if (*got > 0 || !ferror(source->file))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s can't be read: %s", source->name,
                  g_strerror(errno));
  return FALSE;
}

/* Whether CR ends its lines is known from the first block on; before, both are looked for. */
static size_t
count_ends(const DemurTableSource *source, const char *text, size_t n) {
  size_t lf = 0, cr = 0;
  for (size_t i = 0; i < n; i++) {
    lf += text[i] == '\n';
    cr += text[i] == '\r';
  }
  return source->by_cr || lf == 0 ? cr : lf;
}

/* unpacked [n] of this block. */
static gboolean
fail_packed(const DemurTableSource *source, const char *unpacked, size_t n, const char *what,
            GError **error) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line %zu, column 1: %s", source->name,
                  source->lines + count_ends(source, unpacked, n) + 1, what);
  return FALSE;
}

/* A gzip file may be several members in a row (RFC 1952). */
static gboolean
read_gzip(DemurTableSource *source, void *bytes, size_t n, size_t *got, GError **error) {
  z_stream *z = source->gzip;
  z->next_out = bytes;
  z->avail_out = (uInt)n;
  while (z->avail_out == n) {
    if (z->avail_in == 0) {
      size_t packed;
      if (!read_file(source, source->packed, BLOCK_BYTES, &packed, error))
        return FALSE;
      if (packed == 0 && !source->member_ended)
        return fail_packed(source, bytes, n - z->avail_out,
                           N_("the compressed file is cut off here; fetch it again"), error);
      if (packed == 0)
        break;
      z->next_in = source->packed;
      z->avail_in = (uInt)packed;
    }
    if (source->member_ended && inflateReset(z) != Z_OK)
      break;
    source->member_ended = FALSE;
    const int status = inflate(z, Z_NO_FLUSH);
    source->member_ended = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      return fail_packed(source, bytes, n - z->avail_out,
                         N_("the compressed file is damaged here; fetch it again"), error);
  }
  *got = n - z->avail_out;
  source->lines += count_ends(source, bytes, *got);
  return TRUE;
}

/* A stream may have no end, and a compressed file grow a thousandfold. */
static gboolean
check_amount(const DemurTableSource *source, GError **error) {
  if (source->gzip != NULL && source->bytes_given > DEMUR_LIMIT_UNPACKED_FREELY &&
      source->bytes_given / DEMUR_LIMIT_UNPACKED_TIMES > source->bytes_read) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line %zu, column 1: it unpacks to over %d times its size, as no table does; "
        "unpack it and look at it first",
        source->name, source->lines + 1, DEMUR_LIMIT_UNPACKED_TIMES);
    return FALSE;
  }
  if (source->bytes_given > DEMUR_LIMIT_TABLE_BYTES) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s: a table of over %d GiB; give it in parts",
                    source->name, (int)(DEMUR_LIMIT_TABLE_BYTES >> 30));
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_text(DemurTableSource *source, char *bytes, size_t n, size_t *got, GError **error) {
  if (!(source->gzip != NULL ? read_gzip : read_file)(source, bytes, n, got, error))
    return FALSE;
  source->bytes_given += *got;
  if (!check_amount(source, error))
    return FALSE;
  if (source->by_cr)
    for (size_t i = 0; i < *got; i++)
      if (bytes[i] == '\r')
        bytes[i] = '\n';
  return TRUE;
}

gboolean
demur_table_source_read(DemurTableSource *source, char *bytes, size_t n, size_t *got,
                        GError **error) {
  if (source->begin == source->end)
    return read_text(source, bytes, n, got, error);
  *got = MIN(n, source->end - source->begin);
  memcpy(bytes, source->head + source->begin, *got);
  source->begin += *got;
  if (source->begin == source->end)
    g_clear_pointer(&source->head, g_free);
  return TRUE;
}

/* What the first bytes say that a file is, where it is no text in UTF-8; NULL: nothing. */
static const char *
foreign(const char *head, size_t n) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *what;
  } kinds[] = {
      {"\xff\xfe\0\0", 4, "this is UTF-32; save the table as UTF-8"},
      {"\0\0\xfe\xff", 4, "this is UTF-32; save the table as UTF-8"},
      {"\xff\xfe", 2, "this is UTF-16; save the table as UTF-8"},
      {"\xfe\xff", 2, "this is UTF-16; save the table as UTF-8"},
      {"PK\3\4", 4,
       "this is a ZIP archive (an .xlsx or .ods spreadsheet is one); save the table as "
       "CSV in UTF-8"},
      {"\xd0\xcf\x11\xe0", 4, "this is an old spreadsheet (.xls); save the table as CSV in UTF-8"},
      {"PAR1", 4,
       "this is a Parquet file; write the table as CSV in UTF-8, as by Python's "
       "pandas.read_parquet(\"a.parquet\").to_csv(\"a.csv\", index=False), by DuckDB, or by R's arrow"},
      {"\x93NUMPY", 6, "this is a NumPy array; it belongs to --embeddings"},
      {"BZh", 3, "this is compressed by bzip2; give the table as it is, or by gzip"},
      {"\xfd"
       "7zXZ",
       5, "this is compressed by xz; give the table as it is, or by gzip"},
      {"\x28\xb5\x2f\xfd", 4, "this is compressed by zstd; give the table as it is, or by gzip"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (n >= kinds[i].n && memcmp(head, kinds[i].bytes, kinds[i].n) == 0)
      return kinds[i].what;
  /* UTF-16 without its mark: every other byte of the first letters is null. */
  if (n >= 4 && ((head[0] == 0 && head[2] == 0 && head[1] != 0 && head[3] != 0) ||
                 (head[1] == 0 && head[3] == 0 && head[0] != 0 && head[2] != 0)))
    return "this is UTF-16 (without a byte order mark); save the table as UTF-8";
  return NULL;
}

const char *
demur_table_source_foreign(const char *bytes, size_t n) {
  if (n >= 2 && memcmp(bytes, "PK", 2) == 0)
    return NULL;
  /* The first elements of a DICOM file without a preamble are no letters. */
  const gboolean is_marked = n >= 4 && memcmp(bytes, "\0\0\xfe\xff", 4) == 0;
  if (n >= 4 && !is_marked && (bytes[0] == '\0' || bytes[1] == '\0') &&
      (guchar)(bytes[0] | bytes[1]) < ' ')
    return NULL;
  return foreign(bytes, n);
}

/* The first block: what it is, and how its lines end. */
static gboolean
read_head(DemurTableSource *source, GError **error) {
  source->head = g_malloc(BLOCK_BYTES);
  if (!read_file(source, source->head, BLOCK_BYTES, &source->end, error))
    return FALSE;
  if (source->end >= 2 && memcmp(source->head, "\x1f\x8b", 2) == 0) {
    source->packed = (guint8 *)g_steal_pointer(&source->head);
    source->gzip = g_new0(z_stream, 1);
    source->gzip->next_in = source->packed;
    source->gzip->avail_in = (uInt)source->end;
    source->end = 0;
    source->head = g_malloc(BLOCK_BYTES);
    if (inflateInit2(source->gzip, 16 + MAX_WBITS) != Z_OK)
      return fail(source, N_("there is no memory to read a compressed table"), error);
    while (source->end < BLOCK_BYTES) {
      size_t got;
      if (!read_gzip(source, source->head + source->end, BLOCK_BYTES - source->end, &got, error))
        return FALSE;
      source->end += got;
      if (got == 0)
        break;
    }
  }
  const char *what = foreign(source->head, source->end);
  if (what != NULL)
    return fail(source, what, error);
  if (source->end >= 3 && memcmp(source->head, "\xef\xbb\xbf", 3) == 0)
    source->begin = 3;
  if (source->begin == source->end)
    return fail(source, N_("the file is empty; expected a header line and rows"), error);
  source->by_cr = memchr(source->head, '\n', source->end) == NULL &&
                  memchr(source->head, '\r', source->end) != NULL;
  for (size_t i = 0; source->by_cr && i < source->end; i++)
    if (source->head[i] == '\r')
      source->head[i] = '\n';
  return TRUE;
}

DemurTableSource *
demur_table_source_open(const char *path, GError **error) {
  const gboolean is_stdin = strcmp(path, DEMUR_TABLE_STDIN) == 0;
  guint64 n_bytes = 0;
  const int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                          : demur_file_input_open(path, &n_bytes, error);
  if (fd < 0 && !is_stdin)
    return NULL;
  g_autofree char *name = is_stdin ? g_strdup("standard input") : g_path_get_basename(path);
  FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
  if (file == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s can't be read: %s", name, g_strerror(errno));
    if (fd >= 0)
      demur_locked_files_close(fd);
    return NULL;
  }
  setvbuf(file, NULL, _IONBF, 0);
  g_autoptr(DemurTableSource) source = g_new0(DemurTableSource, 1);
  source->name = g_steal_pointer(&name);
  source->file = file;
  source->file_bytes = n_bytes;
  return read_head(source, error) ? g_steal_pointer(&source) : NULL;
}

void
demur_table_source_close(DemurTableSource *source) {
  if (source == NULL)
    return;
  demur_locked_files_close_stream(source->file);
  if (source->gzip != NULL)
    inflateEnd(source->gzip);
  g_free(source->gzip);
  g_free(source->packed);
  g_free(source->head);
  g_free(source->name);
  g_free(source);
}
