/* Reading ZIP archives: stored and deflated entries, ZIP64, no encryption (APPNOTE.TXT 6.3.9).
 * Sizes are believed only as far as the archive's own length allows: entries may not overlap, one
 * inflated entry is at most DEMUR_ZIP_MAX_ENTRY_BYTES and stops at the size it declares. All
 * entries together may unpack to DEMUR_ZIP_TIMES the archive's size and DEMUR_ZIP_FREE_BYTES; what
 * is beyond is refused, entry by entry: CT images pack 2 to 10 to 1.
 *
 * Archives within an archive are opened too, one deep: their entries are "inner.zip!/entry". They
 * are kept in memory, and refused where they are packed more than 4 to 1. Entries of one name get
 * names of their own: "entry (2)".
 *
 * Each image costs time and memory of its own, however little it holds: 45 us and 4 KiB, and .4 ms
 * and 14 KiB where it is a series of its own. What is packed to less than DEMUR_ZIP_SMALL_BYTES an
 * image is counted, frame by frame. An archive with more than DEMUR_ZIP_FREE_SMALL of these, and one
 * more for each DEMUR_ZIP_SMALLEST_BYTES of it, is refused whole, and one that makes more than
 * DEMUR_ZIP_FREE_SERIES series of them, and one more for each DEMUR_ZIP_SMALL_BYTES. So what an
 * archive can cost grows with its size. 32 x 32 pixels with noise of 40 HU pack to 1.7 KiB with their
 * header: of such images, and larger ones, any number is read. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

#define DEMUR_ZIP_MAX_ENTRIES 100000 /* some hundred studies; each costs memory */
#define DEMUR_ZIP_MAX_ENTRY_BYTES (G_GUINT64_CONSTANT(2) << 30)
#define DEMUR_ZIP_FREE_BYTES (G_GUINT64_CONSTANT(64) << 20)
#define DEMUR_ZIP_TIMES 32
#define DEMUR_ZIP_SMALL_BYTES 8192
#define DEMUR_ZIP_SMALLEST_BYTES 1536
#define DEMUR_ZIP_FREE_SMALL 8000
#define DEMUR_ZIP_FREE_SERIES 3000
#define DEMUR_ZIP_MAX_RATIO 1100 /* DEFLATE cannot do better than 1,032 to 1 */

typedef struct DemurZip DemurZip;

typedef struct {
  char *name; /* UTF-8, for people; also the key of demur_zip_find */
  guint64 header_offset, compressed_size, size;
  guint16 method; /* 0 stored, 8 deflated */
  gboolean encrypted;
  guint32 crc;
  gboolean beyond;  /* of what the archive may unpack to: not read */
  DemurZip *inside; /* the archive within that holds it, borrowed; NULL: this one */
} DemurZipEntry;

/* Whether the file begins like a ZIP archive. */
gboolean demur_zip_recognise(const guint8 *bytes, size_t length);

/* Opens an archive and reads its directory; folders are left out. NULL with DEMUR_ERROR_INPUT where
 * it is damaged, overlaps itself or is beyond the caps. Reading from several threads at once is
 * safe. */
DemurZip *demur_zip_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_zip_free(DemurZip *zip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurZip, demur_zip_free)

/* Whether the entry's images are packed so small that they are counted. */
gboolean demur_zip_is_small(const DemurZipEntry *entry, guint32 n_images);

/* Takes the images of an entry off what the archive may hold, when its header is known: the entry
 * itself was counted in the directory. From any thread; past the most it stops counting. */
void demur_zip_take(DemurZip *zip, const DemurZipEntry *entry, guint32 n_images);

/* Whether more were taken than it may hold: DEMUR_ERROR_INPUT then (error may be NULL). */
gboolean demur_zip_is_crowded(const DemurZip *zip, GError **error);

/* How many series its small images may make. */
guint demur_zip_most_series(const DemurZip *zip);

size_t demur_zip_n_entries(const DemurZip *zip);
const DemurZipEntry *demur_zip_entry(const DemurZip *zip, size_t i);
/* NULL where there is none of that name. */
const DemurZipEntry *demur_zip_find(const DemurZip *zip, const char *name);

/* The entry as it is unpacked, in little memory; its CRC-32 is checked where its end is read. The
 * archive must outlive it. Errors as demur_zip_read, but for damage, which is met on the way. */
DemurSource *demur_zip_stream(const DemurZip *zip, const DemurZipEntry *entry,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The entry's bytes in memory, checked against its CRC-32. DEMUR_ERROR_INPUT where they are damaged or
 * don't fit into memory. */
GBytes *demur_zip_read(const DemurZip *zip, const DemurZipEntry *entry,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
