#include "dicom/zip.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/locked-files.h"

#define END_BYTES 22
#define CENTRAL_BYTES 46
#define LOCAL_BYTES 30
#define MAX_DIRECTORY_BYTES (14u << 20)
#define INNER_TIMES 4 /* by which an archive within may have been packed */

/* What an archive may still cost, those within it too. */
typedef struct {
  guint64 bytes;   /* unpacked */
  guint64 n_small; /* entries; of what is left images are taken */
} Room;

struct DemurZip {
  int fd; /* -1: bytes */
  GBytes *bytes;
  GPtrArray *inner; /* DemurZip */
  guint64 size;
  guint most_images;   /* beyond one an entry */
  guint n_images;      /* of these taken; atomic */
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
read_at(const DemurZip *zip, guint64 offset, size_t length, guint8 *buffer) {
  if (offset > zip->size || length > zip->size - offset)
    return FALSE;
  if (zip->bytes != NULL) {
    if (length > 0)
      memcpy(buffer, (const guint8 *)g_bytes_get_data(zip->bytes, NULL) + offset, length);
    return TRUE;
  }
  return demur_file_input_at(zip->fd, offset, length, buffer);
}

static gboolean
damaged(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "damaged ZIP archive: %s", what);
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
  if (tail < END_BYTES || !read_at(zip, zip->size - tail, tail, bytes))
    return damaged(error, N_("too short"));
  size_t at = tail - END_BYTES + 1;
  while (at-- > 0)
    if (u32(bytes + at) == 0x06054b50u && at + END_BYTES + u16(bytes + at + 20) <= tail)
      break;
  if (at == (size_t)-1)
    return damaged(error, N_("no end record"));
  *n = u16(bytes + at + 10);
  *length = u32(bytes + at + 12);
  *offset = u32(bytes + at + 16);
  const guint64 end = zip->size - tail + at;
  if (*n == 0xFFFF || *length == 0xFFFFFFFFu || *offset == 0xFFFFFFFFu) {
    guint8 locator[20], record[56];
    if (end < 20 || !read_at(zip, end - 20, 20, locator) || u32(locator) != 0x07064b50u ||
        zip->size < 56 || u64(locator + 8) > zip->size - 56 ||
        !read_at(zip, u64(locator + 8), 56, record) || u32(record) != 0x06064b50u)
      return damaged(error, N_("no ZIP64 end record"));
    *n = u64(record + 32);
    *length = u64(record + 40);
    *offset = u64(record + 48);
  }
  if (*offset > zip->size || *length > zip->size - *offset)
    return damaged(error, N_("its directory lies outside of it"));
  if (*n > *length / CENTRAL_BYTES)
    return damaged(error, N_("fewer entries than it says"));
  if (*n <= DEMUR_ZIP_MAX_ENTRIES && *length <= MAX_DIRECTORY_BYTES)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "the archive has more than %d entries, or names that are too long: unpack it first",
      DEMUR_ZIP_MAX_ENTRIES);
  return FALSE;
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
      return damaged(error, N_("entries overlap"));
  }
  return TRUE;
}

/* The next entry of the directory at *at; FALSE with error where it is cut off. A folder has no
 * name. */
static gboolean
read_entry(const guint8 *directory, guint64 length, size_t *at, DemurZipEntry *entry,
           GError **error) {
  if (length - *at < CENTRAL_BYTES || u32(directory + *at) != 0x02014b50u)
    return damaged(error, N_("its directory is cut off"));
  const guint8 *record = directory + *at;
  const size_t name_length = u16(record + 28), extra_length = u16(record + 30);
  const size_t total = CENTRAL_BYTES + name_length + extra_length + u16(record + 32);
  if (total > length - *at)
    return damaged(error, N_("its directory is cut off"));
  *entry = (DemurZipEntry){
      .header_offset = u32(record + 42),
      .compressed_size = u32(record + 20),
      .size = u32(record + 24),
      .method = u16(record + 10),
      .encrypted = (u16(record + 8) & 1) != 0,
      .crc = u32(record + 16),
  };
  if (!apply_zip64(entry, record + CENTRAL_BYTES + name_length, extra_length))
    return damaged(error, N_("a ZIP64 field is cut off"));
  *at += total;
  if (name_length == 0 || record[CENTRAL_BYTES + name_length - 1] == '/')
    return TRUE;
  const char *name = (const char *)record + CENTRAL_BYTES;
  entry->name = g_utf8_validate_len(name, name_length, NULL)
                    ? g_strndup(name, name_length)
                    : g_convert_with_fallback(name, (gssize)name_length, "UTF-8", "CP437", "?",
                                              NULL, NULL, NULL);
  if (entry->name == NULL)
    entry->name = g_utf8_make_valid(name, (gssize)name_length);
  return TRUE;
}

/* Gives each entry a name of its own: what is listed can be found again. In one walk: the number
 * that was last tried of a name is kept, and an entry called "a (7)" stands in the way of "a"
 * alone. */
static void
index_names(DemurZip *zip) {
  g_autoptr(GHashTable) last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_remove_all(zip->by_name);
  for (guint i = 0; i < zip->entries->len; i++) {
    DemurZipEntry *entry = &g_array_index(zip->entries, DemurZipEntry, i);
    if (g_hash_table_contains(zip->by_name, entry->name)) {
      g_autofree char *name = g_steal_pointer(&entry->name);
      guint copy = MAX(GPOINTER_TO_UINT(g_hash_table_lookup(last, name)), 1);
      do {
        g_free(entry->name);
        entry->name = g_strdup_printf("%s (%u)", name, ++copy);
      } while (g_hash_table_contains(zip->by_name, entry->name));
      g_hash_table_insert(last, g_steal_pointer(&name), GUINT_TO_POINTER(copy));
    }
    g_hash_table_insert(zip->by_name, entry->name, GUINT_TO_POINTER(i + 1));
  }
}

/* Takes the small entries off the room; FALSE with error where there are more. */
static gboolean
check_small(const DemurZip *zip, Room *room, GError **error) {
  guint n = 0;
  for (guint i = 0; i < zip->entries->len; i++)
    if (demur_zip_is_small(&g_array_index(zip->entries, DemurZipEntry, i), 1))
      n++;
  if (n > room->n_small) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "the archive has %u entries that are packed to less than %d bytes, more than %u "
        "at its size: unpack it first if that is meant",
        n, DEMUR_ZIP_SMALL_BYTES, (guint)room->n_small);
    return FALSE;
  }
  room->n_small -= n;
  return TRUE;
}

/* Marks what is beyond the room, which the others use up. */
static void
mark_beyond(DemurZip *zip, Room *room) {
  for (guint i = 0; i < zip->entries->len; i++) {
    DemurZipEntry *entry = &g_array_index(zip->entries, DemurZipEntry, i);
    entry->beyond = entry->size > room->bytes;
    room->bytes -= entry->beyond ? 0 : entry->size;
  }
}

/* Reads the directory of an archive whose bytes can be had. */
static gboolean
read_directory(DemurZip *zip, Room *room, GError **error) {
  guint64 offset, length, n;
  if (!find_directory(zip, &offset, &length, &n, error))
    return FALSE;
  g_autofree guint8 *directory = g_malloc((size_t)length + 1);
  if (!read_at(zip, offset, (size_t)length, directory))
    return damaged(error, N_("its directory can't be read"));
  size_t at = 0;
  for (guint64 i = 0; i < n; i++) {
    DemurZipEntry entry;
    if (!read_entry(directory, length, &at, &entry, error))
      return FALSE;
    if (entry.name != NULL)
      g_array_append_val(zip->entries, entry);
  }
  if (!check_overlaps(zip, offset, error) || !check_small(zip, room, error))
    return FALSE;
  mark_beyond(zip, room);
  return TRUE;
}

static DemurZip *
zip_new(void) {
  DemurZip *zip = g_new0(DemurZip, 1);
  zip->fd = -1;
  zip->entries = g_array_new(FALSE, TRUE, sizeof(DemurZipEntry));
  g_array_set_clear_func(zip->entries, clear_entry);
  zip->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  zip->inner = g_ptr_array_new_with_free_func((GDestroyNotify)demur_zip_free);
  return zip;
}

/* The archive that the entry is; NULL where it is none, or can't be read as one. */
static DemurZip *
open_inner(const DemurZip *zip, const DemurZipEntry *entry, Room *room) {
  g_autofree char *lower = g_ascii_strdown(entry->name, -1);
  if (!g_str_has_suffix(lower, ".zip") || entry->beyond ||
      entry->size / INNER_TIMES > entry->compressed_size)
    return NULL;
  g_autoptr(GBytes) bytes = demur_zip_read(zip, entry, NULL);
  gsize size = 0;
  const guint8 *head = bytes != NULL ? g_bytes_get_data(bytes, &size) : NULL;
  if (!demur_zip_recognise(head, size))
    return NULL;
  g_autoptr(DemurZip) inner = zip_new();
  inner->bytes = g_steal_pointer(&bytes);
  inner->size = size;
  return read_directory(inner, room, NULL) ? g_steal_pointer(&inner) : NULL;
}

/* Replaces each entry that is an archive by what is in it. */
static void
unfold_inner(DemurZip *zip, Room *room) {
  const guint n = zip->entries->len;
  GArray *unfolded = g_array_new(FALSE, TRUE, sizeof(DemurZipEntry));
  g_array_set_clear_func(unfolded, clear_entry);
  for (guint i = 0; i < n; i++) {
    DemurZipEntry entry = g_array_index(zip->entries, DemurZipEntry, i);
    DemurZip *inner = open_inner(zip, &entry, room);
    entry.name = g_strdup(entry.name);
    if (inner == NULL) {
      g_array_append_val(unfolded, entry);
      continue;
    }
    g_ptr_array_add(zip->inner, inner);
    for (guint k = 0; k < inner->entries->len; k++) {
      DemurZipEntry within = g_array_index(inner->entries, DemurZipEntry, k);
      within.name = g_strdup_printf("%s!/%s", entry.name, within.name);
      within.inside = inner;
      g_array_append_val(unfolded, within);
    }
    g_free(entry.name);
  }
  g_array_unref(zip->entries);
  zip->entries = unfolded;
}

DemurZip *
demur_zip_open(const char *path, GError **error) {
  g_autoptr(DemurZip) zip = zip_new();
  zip->fd = demur_locked_files_open(path);
  struct stat status;
  if (zip->fd < 0 || fstat(zip->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the archive can't be opened");
    return NULL;
  }
  zip->size = (guint64)status.st_size;
  Room room = {DEMUR_ZIP_FREE_BYTES + DEMUR_ZIP_TIMES * zip->size,
               DEMUR_ZIP_FREE_SMALL + zip->size / DEMUR_ZIP_SMALLEST_BYTES};
  if (!read_directory(zip, &room, error))
    return NULL;
  unfold_inner(zip, &room);
  zip->most_images = (guint)MIN(room.n_small, G_MAXINT32);
  index_names(zip);
  return g_steal_pointer(&zip);
}

void
demur_zip_free(DemurZip *zip) {
  if (zip == NULL)
    return;
  if (zip->fd >= 0)
    demur_locked_files_close(zip->fd);
  g_hash_table_unref(zip->by_name);
  g_array_unref(zip->entries);
  g_ptr_array_unref(zip->inner);
  g_clear_pointer(&zip->bytes, g_bytes_unref);
  g_free(zip);
}

gboolean
demur_zip_is_small(const DemurZipEntry *entry, guint32 n_images) {
  return entry->compressed_size / MAX(n_images, 1) < DEMUR_ZIP_SMALL_BYTES;
}

void
demur_zip_take(DemurZip *zip, const DemurZipEntry *entry, guint32 n_images) {
  const guint counted = demur_zip_is_small(entry, 1) ? 1 : 0;
  if (demur_zip_is_small(entry, n_images) && n_images > counted && !demur_zip_is_crowded(zip, NULL))
    g_atomic_int_add(&zip->n_images, n_images - counted);
}

gboolean
demur_zip_is_crowded(const DemurZip *zip, GError **error) {
  if ((guint)g_atomic_int_get(&zip->n_images) <= zip->most_images)
    return FALSE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "the archive has more images that are packed to less than %d bytes than %u "
                  "beside one an entry: unpack it first if that is meant",
                  DEMUR_ZIP_SMALL_BYTES, zip->most_images);
  return TRUE;
}

guint
demur_zip_most_series(const DemurZip *zip) {
  return (guint)MIN(DEMUR_ZIP_FREE_SERIES + zip->size / DEMUR_ZIP_SMALL_BYTES, G_MAXINT32);
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

/* Whether the entry may be unpacked, and where its bytes begin. */
static gboolean
find_start(const DemurZip *zip, const DemurZipEntry *entry, guint64 *start, GError **error) {
  guint8 local[LOCAL_BYTES];
  if (entry->encrypted) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "encrypted in the ZIP archive: unpack it first");
    return FALSE;
  }
  if (entry->method != 0 && entry->method != 8) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "packed by ZIP method %u (stored and deflated are read): unpack it first",
                    entry->method);
    return FALSE;
  }
  if (entry->size > DEMUR_ZIP_MAX_ENTRY_BYTES ||
      entry->size / DEMUR_ZIP_MAX_RATIO > entry->compressed_size ||
      (entry->method == 0 && entry->size != entry->compressed_size)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "its ZIP entry says %" PRIu64 " bytes in %" PRIu64 ": beyond what is unpacked",
                    entry->size, entry->compressed_size);
    return FALSE;
  }
  if (entry->beyond) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "the archive unpacks to more than %d times its size: unpack it first if that is "
        "meant",
        DEMUR_ZIP_TIMES);
    return FALSE;
  }
  if (!read_at(zip, entry->header_offset, LOCAL_BYTES, local) || u32(local) != 0x04034b50u)
    return damaged(error, N_("an entry has no header"));
  *start = entry->header_offset + LOCAL_BYTES + u16(local + 26) + u16(local + 28);
  if (*start > zip->size || entry->compressed_size > zip->size - *start)
    return damaged(error, N_("an entry is cut off"));
  return TRUE;
}

/* An entry on its way out of the archive. */
typedef struct {
  const DemurZip *zip;
  const DemurZipEntry *entry;
  guint64 start, at; /* of the packed bytes; how many were taken */
  guint64 done;      /* unpacked bytes given */
  z_stream inflater;
  gboolean inflating;
  guint32 crc;
  guint8 chunk[65536];
} Unpacking;

static gboolean
unpacking_restart(gpointer data) {
  Unpacking *unpacking = data;
  unpacking->at = unpacking->done = 0;
  unpacking->crc = 0;
  if (unpacking->inflating)
    inflateEnd(&unpacking->inflater);
  unpacking->inflater = (z_stream){0};
  unpacking->inflating =
      unpacking->entry->method == 8 && inflateInit2(&unpacking->inflater, -MAX_WBITS) == Z_OK;
  return unpacking->entry->method == 0 || unpacking->inflating;
}

static gboolean
take_chunk(Unpacking *unpacking) {
  const size_t n = (size_t)MIN((guint64)sizeof unpacking->chunk,
                               unpacking->entry->compressed_size - unpacking->at);
  if (n == 0 || !read_at(unpacking->zip, unpacking->start + unpacking->at, n, unpacking->chunk))
    return FALSE;
  unpacking->at += n;
  unpacking->inflater.next_in = unpacking->chunk;
  unpacking->inflater.avail_in = (uInt)n;
  return TRUE;
}

/* length is at most what is left of the entry's size. */
static gboolean
unpacking_more(gpointer data, guint8 *buffer, size_t length) {
  Unpacking *unpacking = data;
  const DemurZipEntry *entry = unpacking->entry;
  if (entry->method == 0) {
    if (!read_at(unpacking->zip, unpacking->start + unpacking->done, length, buffer))
      return FALSE;
  } else {
    z_stream *inflater = &unpacking->inflater;
    for (size_t done = 0; done < length;) {
      const size_t n = MIN(length - done, (size_t)1 << 30);
      inflater->next_out = buffer + done;
      inflater->avail_out = (uInt)n;
      const int status = inflate(inflater, Z_NO_FLUSH);
      done += n - inflater->avail_out;
      if (done < length && (status == Z_STREAM_END || (status != Z_OK && status != Z_BUF_ERROR) ||
                            (inflater->avail_in == 0 && !take_chunk(unpacking))))
        return FALSE;
    }
  }
  unpacking->crc = (guint32)crc32_z(unpacking->crc, buffer, length);
  unpacking->done += length;
  return unpacking->done < entry->size || unpacking->crc == entry->crc;
}

static void
unpacking_free(gpointer data) {
  Unpacking *unpacking = data;
  if (unpacking->inflating)
    inflateEnd(&unpacking->inflater);
  g_free(unpacking);
}

DemurSource *
demur_zip_stream(const DemurZip *outer, const DemurZipEntry *entry, GError **error) {
  const DemurZip *zip = entry->inside != NULL ? entry->inside : outer;
  guint64 start;
  if (!find_start(zip, entry, &start, error))
    return NULL;
  Unpacking *unpacking = g_new0(Unpacking, 1);
  unpacking->zip = zip;
  unpacking->entry = entry;
  unpacking->start = start;
  const DemurSourceStream stream = {unpacking_more, unpacking_restart, unpacking_free, unpacking};
  if (unpacking_restart(unpacking))
    return demur_source_stream(stream, entry->size);
  unpacking_free(unpacking);
  damaged(error, N_("it can't be unpacked"));
  return NULL;
}

GBytes *
demur_zip_read(const DemurZip *zip, const DemurZipEntry *entry, GError **error) {
  g_autoptr(DemurSource) source = demur_zip_stream(zip, entry, error);
  if (source == NULL)
    return NULL;
  guint8 *out = g_try_malloc(MAX((size_t)entry->size, 1));
  if (out == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "no memory for the ZIP entry");
    return NULL;
  }
  if (!demur_source_read(source, 0, (size_t)entry->size, out) ||
      (entry->size == 0 && entry->crc != 0)) {
    g_free(out);
    damaged(error, N_("an entry doesn't unpack to what it says"));
    return NULL;
  }
  return g_bytes_new_take(out, (gsize)entry->size);
}
