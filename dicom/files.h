/* From paths to headers: files, folders, DICOMDIR media and ZIP archives are scanned, each object's
 * header is read (in parallel, in an order that depends on the paths alone), and what is no image
 * is listed with the reason. Nothing found in one file stops the rest. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "dicom/content-digest.h"
#include "dicom/strays.h"
#include "dicom/zip.h"

G_BEGIN_DECLS

#define DEMUR_FILES_MAX_DEPTH 64 /* of folders in folders */

typedef struct {
  char *path;  /* as given or found; bytes of the file system */
  char *entry; /* within the ZIP archive at path; NULL for a file */
  DemurHeader *header;
  guint8 *pixel_digests; /* [n_frames][DEMUR_SHA256_BYTES]; NULL where not asked for or not whole */
  char *stamp;           /* base/file-stamp.h, from before it was read; NULL: none */
  gboolean is_known;     /* its pixels were not read: pixel_digests are those of an earlier time */
  gboolean decodes;      /* all its frames are known to decode */
  guint most_series;     /* that its archive may make of images as small as these; 0: any number */
} DemurFile;

/* One frame of a file that was read before, as its reader kept it. */
typedef struct {
  guint32 frame;
  char *sop_instance_uid, *stamp; /* owned */
  char *digest;                   /* of the slice, hexadecimal (owned) */
  guint8 pixels[DEMUR_SHA256_BYTES];
  gboolean decodes;
} DemurKnownFrame;

/* Who knows files from before. find gives the frames of the file or entry at place (an absolute
 * path, "archive.zip!/entry" for an entry): GArray of DemurKnownFrame that frees its elements
 * (demur_known_frame_clear), owned by the caller; NULL with error. It is called on the thread that
 * scans. A file is taken as known, and its pixels are not read, where all its frames are known with
 * the stamp that it has now and the SOPInstanceUID that its header says, and the header and the
 * known pixels still make the digest of the slice that was kept. */
typedef struct {
  GArray *(*find)(const char *place, gpointer data, GError **error);
  gpointer data;
} DemurKnownFiles;

void demur_known_frame_clear(DemurKnownFrame *frame);

typedef enum {
  DEMUR_FILES_HEADERS,  /* one or two small reads of each file */
  DEMUR_FILES_CONTENTS, /* each read to its end, for the digests of its pixels */
} DemurFilesDepth;

typedef struct {
  char *path;          /* UTF-8, for people; ZIP entries as "archive.zip!/entry" */
  const GError *error; /* why */
  const char *reason;  /* its message */
  gpointer shared;     /* what the error lies in, with others that were skipped for the same */
} DemurSkipped;

/* A file that names its series but is damaged or cut off before it says what it holds: it is
 * skipped, yet its series isn't whole. */
typedef struct {
  char *path, *entry; /* as of DemurFile */
  char *series_uid, *reason;
} DemurUnreadable;

typedef struct {
  GPtrArray *images;     /* DemurFile, sorted by path and entry */
  GPtrArray *skipped;    /* DemurSkipped, sorted by path */
  GPtrArray *unreadable; /* DemurUnreadable, in the order of their paths */
  DemurStrays *strays;   /* what can't be read and names no series */
  guint n_known;         /* images whose pixels were not read */
} DemurFiles;

/* Scans paths (NULL-terminated). A path that doesn't exist is DEMUR_ERROR_NOT_FOUND before anything
 * is read; a DICOMDIR given as a path stands for its folder. Cancelling is G_IO_ERROR_CANCELLED. */
DemurFiles *demur_files_scan(const char *const *paths, DemurFilesDepth depth,
                             DemurParallel *parallel, const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same with DEMUR_FILES_CONTENTS, but for the pixels of what known (borrowed; NULL: nothing)
 * knows. */
DemurFiles *demur_files_scan_known(const char *const *paths, const DemurKnownFiles *known,
                                   DemurParallel *parallel, const DemurProgress *progress,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_files_free(DemurFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFiles, demur_files_free)

void demur_file_free(DemurFile *file);
/* before (may be NULL): another one, whose error is shared where it says the same: an archive may hold
 * 65,000 empty files. */
DemurSkipped *demur_skipped_new(const char *path, const char *entry, const GError *error,
                                const DemurSkipped *before);
void demur_skipped_free(DemurSkipped *skipped);

/* The archive that was opened last: its directory is read once, not for each entry. Zero to begin
 * with. */
typedef struct {
  char *path;
  DemurZip *zip;
} DemurOpenArchive;
void demur_open_archive_clear(DemurOpenArchive *archive);

/* The bytes of a file, or of an entry of a ZIP archive as they are unpacked; archive must outlive
 * the source and is taken along from call to call. */
DemurSource *demur_files_open_in(DemurOpenArchive *archive, const char *path, const char *entry,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The bytes of a file, or of an entry of a ZIP archive (unpacked in memory). */
DemurSource *demur_files_open(const char *path, const char *entry,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "path" or "archive.zip!/entry" in UTF-8; owned. */
char *demur_files_display(const char *path, const char *entry);

G_END_DECLS
