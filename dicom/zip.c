#include "dicom/zip.h"
#include "dicom/elements.h"

#include <fcntl.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define END_BYTES 22
#define CENTRAL_BYTES 46
#define LOCAL_BYTES 30
#define MAX_DIRECTORY_BYTES (512u << 20)

struct DemurZip {
  int fd;
  guint64 size;
  GArray *entries;     /* DemurZipEntry */
  GHashTable *by_name; /* char * (borrowed) -> index + 1 */
};

static guint16
u16(const guint8 *bytes) {
  return demur_elements_u16(bytes, FALSE);
}

static guint32
u32(const guint8 *bytes) {
  return demur_elements_u32(bytes, FALSE);
}

static guint64
u64(const guint8 *bytes) {
  return (guint64)u32(bytes) | ((guint64)u32(bytes + 4) << 32);
}

static gboolean
read_at(int fd, guint64 offset, size_t length, guint8 *buffer) {
  size_t done = 0;
  while (done < length) {
    const ssize_t got = pread(fd, buffer + done, length - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return FALSE;
    done += (size_t)got;
  }
  return TRUE;
}

static gboolean
damaged(GError **error, const char *what) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "damaged ZIP archive: %s", what);
  return FALSE;
}

gboolean
demur_zip_recognise(const guint8 *bytes, size_t length) {
  return length >= 4 && bytes[0] == 'P' && bytes[1] == 'K' &&
         ((bytes[2] == 3 && bytes[3] == 4) || (bytes[2] == 5 && bytes[3] == 6));
}

static void
clear_entry(gpointer data) {
  g_free(((DemurZipEntry *)data)->name);
}

/* Where the central directory lies: from the end record, and the ZIP64 one before it. */
static gboolean
find_directory(DemurZip *zip, guint64 *offset, guint64 *length, guint64 *n, GError **error) {
  const size_t tail = (size_t)MIN(zip->size, (guint64)(65535 + END_BYTES));
  g_autofree guint8 *bytes = g_malloc(MAX(tail, 1));
  if (tail < END_BYTES || !read_at(zip->fd, zip->size - tail, tail, bytes))
    return damaged(error, "too short");
  size_t at = tail - END_BYTES + 1;
  while (at-- > 0)
    if (u32(bytes + at) == 0x06054b50u && at + END_BYTES + u16(bytes + at + 20) <= tail)
      break;
  if (at == (size_t)-1)
    return damaged(error, "no end record");
  *n = u16(bytes + at + 10);
  *length = u32(bytes + at + 12);
  *offset = u32(bytes + at + 16);
  const guint64 end = zip->size - tail + at;
  if (*n == 0xFFFF || *length == 0xFFFFFFFFu || *offset == 0xFFFFFFFFu) {
    guint8 locator[20], record[56];
    if (end < 20 || !read_at(zip->fd, end - 20, 20, locator) || u32(locator) != 0x07064b50u ||
        zip->size < 56 || u64(locator + 8) > zip->size - 56 ||
        !read_at(zip->fd, u64(locator + 8), 56, record) || u32(record) != 0x06064b50u)
      return damaged(error, "no ZIP64 end record");
    *n = u64(record + 32);
    *length = u64(record + 40);
    *offset = u64(record + 48);
  }
  if (*offset > zip->size || *length > zip->size - *offset)
    return damaged(error, "its directory lies outside of it");
  if (*n > DEMUR_ZIP_MAX_ENTRIES || *length > MAX_DIRECTORY_BYTES || *n > *length / CENTRAL_BYTES)
    return damaged(error, "more than 1,000,000 entries, or fewer than it says");
  return TRUE;
}

/* The ZIP64 extra field (id 1) replaces those of the three values that are saturated, in this
 * order. */
static gboolean
apply_zip64(DemurZipEntry *entry, const guint8 *extra, size_t length) {
  while (length >= 4) {
    const size_t size = u16(extra + 2);
    if (size > length - 4)
      return FALSE;
    if (u16(extra) == 0x0001) {
      const guint8 *value = extra + 4;
      size_t left = size;
      guint64 *targets[] = {&entry->size, &entry->compressed_size, &entry->header_offset};
      for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
        if (*targets[i] != 0xFFFFFFFFu)
          continue;
        if (left < 8)
          return FALSE;
        *targets[i] = u64(value);
        value += 8;
        left -= 8;
      }
    }
    extra += 4 + size;
    length -= 4 + size;
  }
  return TRUE;
}

static int
compare_offset(gconstpointer a, gconstpointer b) {
  const DemurZipEntry *x = *(DemurZipEntry *const *)a, *y = *(DemurZipEntry *const *)b;
  return x->header_offset < y->header_offset ? -1 : x->header_offset > y->header_offset;
}

/* Entries that share bytes are how a small archive pretends to be a huge one. */
static gboolean
check_overlaps(DemurZip *zip, guint64 directory, GError **error) {
  g_autoptr(GPtrArray) order = g_ptr_array_sized_new(zip->entries->len);
  for (guint i = 0; i < zip->entries->len; i++)
    g_ptr_array_add(order, &g_array_index(zip->entries, DemurZipEntry, i));
  g_ptr_array_sort(order, compare_offset);
  for (guint i = 0; i < order->len; i++) {
    const DemurZipEntry *entry = order->pdata[i];
    const guint64 next = i + 1 < order->len
                             ? ((const DemurZipEntry *)order->pdata[i + 1])->header_offset
                             : directory;
    if (entry->header_offset > next || next - entry->header_offset < LOCAL_BYTES ||
        entry->compressed_size > next - entry->header_offset - LOCAL_BYTES)
      return damaged(error, "entries overlap");
  }
  return TRUE;
}

DemurZip *
demur_zip_open(const char *path, GError **error) {
  g_autoptr(DemurZip) zip = g_new0(DemurZip, 1);
  zip->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  zip->entries = g_array_new(FALSE, TRUE, sizeof(DemurZipEntry));
  g_array_set_clear_func(zip->entries, clear_entry);
  zip->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  struct stat status;
  if (zip->fd < 0 || fstat(zip->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the archive can't be opened");
    return NULL;
  }
  zip->size = (guint64)status.st_size;
  guint64 offset, length, n;
  if (!find_directory(zip, &offset, &length, &n, error))
    return NULL;
  g_autofree guint8 *directory = g_malloc((size_t)length + 1);
  if (!read_at(zip->fd, offset, (size_t)length, directory)) {
    damaged(error, "its directory can't be read");
    return NULL;
  }
  size_t at = 0;
  for (guint64 i = 0; i < n; i++) {
    if (length - at < CENTRAL_BYTES || u32(directory + at) != 0x02014b50u) {
      damaged(error, "its directory is cut off");
      return NULL;
    }
    const guint8 *record = directory + at;
    const size_t name_length = u16(record + 28), extra_length = u16(record + 30);
    const size_t total = CENTRAL_BYTES + name_length + extra_length + u16(record + 32);
    if (total > length - at) {
      damaged(error, "its directory is cut off");
      return NULL;
    }
    DemurZipEntry entry = {
        .header_offset = u32(record + 42),
        .compressed_size = u32(record + 20),
        .size = u32(record + 24),
        .method = u16(record + 10),
        .encrypted = (u16(record + 8) & 1) != 0,
        .crc = u32(record + 16),
    };
    if (!apply_zip64(&entry, record + CENTRAL_BYTES + name_length, extra_length)) {
      damaged(error, "a ZIP64 field is cut off");
      return NULL;
    }
    at += total;
    if (name_length == 0 || record[CENTRAL_BYTES + name_length - 1] == '/')
      continue; /* a folder */
    const char *name = (const char *)record + CENTRAL_BYTES;
    entry.name = g_utf8_validate_len(name, name_length, NULL)
                     ? g_strndup(name, name_length)
                     : g_convert_with_fallback(name, (gssize)name_length, "UTF-8", "CP437", "?",
                                               NULL, NULL, NULL);
    if (entry.name == NULL)
      entry.name = g_utf8_make_valid(name, (gssize)name_length);
    g_array_append_val(zip->entries, entry);
  }
  for (guint i = 0; i < zip->entries->len; i++) {
    char *name = g_array_index(zip->entries, DemurZipEntry, i).name;
    if (!g_hash_table_contains(zip->by_name, name))
      g_hash_table_insert(zip->by_name, name, GUINT_TO_POINTER(i + 1));
  }
  if (!check_overlaps(zip, offset, error))
    return NULL;
  return g_steal_pointer(&zip);
}

void
demur_zip_free(DemurZip *zip) {
  if (zip == NULL)
    return;
  if (zip->fd >= 0)
    close(zip->fd);
  g_hash_table_unref(zip->by_name);
  g_array_unref(zip->entries);
  g_free(zip);
}

size_t
demur_zip_n_entries(const DemurZip *zip) {
  return zip->entries->len;
}

const DemurZipEntry *
demur_zip_entry(const DemurZip *zip, size_t i) {
  return &g_array_index(zip->entries, DemurZipEntry, i);
}

const DemurZipEntry *
demur_zip_find(const DemurZip *zip, const char *name) {
  const guint index = GPOINTER_TO_UINT(g_hash_table_lookup(zip->by_name, name));
  return index > 0 ? demur_zip_entry(zip, index - 1) : NULL;
}

GBytes *
demur_zip_read(const DemurZip *zip, const DemurZipEntry *entry, GError **error) {
  guint8 local[LOCAL_BYTES];
  if (entry->encrypted) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                        "encrypted in the ZIP archive: unpack it first");
    return NULL;
  }
  if (entry->method != 0 && entry->method != 8) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                "packed by ZIP method %u (stored and deflated are read): unpack it first",
                entry->method);
    return NULL;
  }
  if (entry->size > DEMUR_ZIP_MAX_ENTRY_BYTES ||
      entry->size / DEMUR_ZIP_MAX_RATIO > entry->compressed_size ||
      (entry->method == 0 && entry->size != entry->compressed_size)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "its ZIP entry says %" G_GUINT64_FORMAT " bytes in %" G_GUINT64_FORMAT
                ": beyond what is unpacked",
                entry->size, entry->compressed_size);
    return NULL;
  }
  if (!read_at(zip->fd, entry->header_offset, LOCAL_BYTES, local) || u32(local) != 0x04034b50u) {
    damaged(error, "an entry has no header");
    return NULL;
  }
  const guint64 start = entry->header_offset + LOCAL_BYTES + u16(local + 26) + u16(local + 28);
  if (start > zip->size || entry->compressed_size > zip->size - start) {
    damaged(error, "an entry is cut off");
    return NULL;
  }
  guint8 *out = g_try_malloc(MAX((size_t)entry->size, 1));
  if (out == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "no memory for the ZIP entry");
    return NULL;
  }
  gboolean good = TRUE;
  if (entry->method == 0) {
    good = read_at(zip->fd, start, (size_t)entry->size, out);
  } else {
    z_stream stream = {.next_out = out, .avail_out = (uInt)entry->size};
    guint8 chunk[65536];
    guint64 at = 0;
    int status = inflateInit2(&stream, -MAX_WBITS);
    while (status == Z_OK && at < entry->compressed_size) {
      const size_t n = (size_t)MIN((guint64)sizeof chunk, entry->compressed_size - at);
      if (!read_at(zip->fd, start + at, n, chunk))
        break;
      at += n;
      stream.next_in = chunk;
      stream.avail_in = (uInt)n;
      status = inflate(&stream, Z_NO_FLUSH);
      if (status == Z_BUF_ERROR && stream.avail_out > 0)
        status = Z_OK;
    }
    good = status == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
  }
  if (good)
    good = crc32_z(0, out, (size_t)entry->size) == entry->crc;
  if (!good) {
    g_free(out);
    damaged(error, "an entry doesn't unpack to what it says");
    return NULL;
  }
  return g_bytes_new_take(out, (gsize)entry->size);
}
