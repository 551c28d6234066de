#include "dicom/files.h"
#include "dicom/data-set.h"
#include "dicom/image-kind.h"
#include "dicom/sop-class.h"
#include "base/error.h"
#include "base/file-stamp.h"
#include "base/limits.h"

#include <inttypes.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_A_CHUNK 16
#define FILES_A_BATCH 512 /* between two progress steps */

typedef struct {
  char *path;
  char *entry;
  DemurZip *zip; /* borrowed */
  const DemurZipEntry *zip_entry;
  DemurFilesDepth depth;
  DemurHeader *header; /* the result: this or fault */
  guint8 *pixel_digests;
  char *stamp;   /* of the file or archive, from before it was opened */
  GArray *known; /* DemurKnownFrame; NULL: none */
  gboolean is_known, decodes;
  GError *fault;    /* why it is no image */
  char *cut_series; /* SeriesInstanceUID of a file that can't be read whole; else NULL */
  gboolean is_stray, begins_like_dicom; /* it can't be read and names no series */
} Job;

typedef struct {
  DemurFilesDepth depth;
  const DemurKnownFiles *known;
  GPtrArray *jobs; /* Job */
  GPtrArray *zips; /* DemurZip */
  GPtrArray *skipped;
  GHashTable *folders; /* "device:inode", those already entered */
  GHashTable *seen;    /* canonical paths */
  GHashTable *first;   /* SeriesInstanceUID -> DemurRootElements of its first image */
} Scan;

static void
job_free(gpointer data) {
  Job *job = data;
  if (job == NULL)
    return;
  g_free(job->path);
  g_free(job->entry);
  demur_header_free(job->header);
  g_free(job->pixel_digests);
  g_free(job->stamp);
  if (job->known != NULL)
    g_array_unref(job->known);
  g_clear_error(&job->fault);
  g_free(job->cut_series);
  g_free(job);
}

char *
demur_files_display(const char *path, const char *entry) {
  g_autofree char *name = g_filename_display_name(path);
  return entry != NULL ? g_strdup_printf("%s!/%s", name, entry) : g_steal_pointer(&name);
}

typedef struct {
  GError *error;
} SharedError;

static void
shared_error_clear(gpointer data) {
  g_error_free(((SharedError *)data)->error);
}

DemurSkipped *
demur_skipped_new(const char *path, const char *entry, const GError *error,
                  const DemurSkipped *before) {
  DemurSkipped *skipped = g_new0(DemurSkipped, 1);
  skipped->path = demur_files_display(path, entry);
  if (before != NULL && g_error_matches(before->error, error->domain, error->code) &&
      strcmp(before->reason, error->message) == 0) {
    skipped->shared = g_atomic_rc_box_acquire(before->shared);
  } else {
    SharedError *shared = g_atomic_rc_box_new(SharedError);
    shared->error = g_error_copy(error);
    skipped->shared = shared;
  }
  skipped->error = ((const SharedError *)skipped->shared)->error;
  skipped->reason = skipped->error->message;
  return skipped;
}

void
demur_skipped_free(DemurSkipped *skipped) {
  if (skipped == NULL)
    return;
  g_free(skipped->path);
  g_atomic_rc_box_release_full(skipped->shared, shared_error_clear);
  g_free(skipped);
}

void
demur_file_free(DemurFile *file) {
  if (file == NULL)
    return;
  g_free(file->path);
  g_free(file->entry);
  demur_header_free(file->header);
  g_free(file->pixel_digests);
  g_free(file->stamp);
  g_free(file);
}

void
demur_known_frame_clear(DemurKnownFrame *frame) {
  g_free(frame->sop_instance_uid);
  g_free(frame->stamp);
  g_free(frame->digest);
}

static void
unreadable_free(gpointer data) {
  DemurUnreadable *file = data;
  g_free(file->path);
  g_free(file->entry);
  g_free(file->series_uid);
  g_free(file->reason);
  g_free(file);
}

static void
add_unreadable(DemurFiles *files, const Job *job) {
  DemurUnreadable *file = g_new(DemurUnreadable, 1);
  *file = (DemurUnreadable){g_strdup(job->path), g_strdup(job->entry), g_strdup(job->cut_series),
                            g_strdup(job->fault->message)};
  g_ptr_array_add(files->unreadable, file);
}

void
demur_files_free(DemurFiles *files) {
  if (files == NULL)
    return;
  g_ptr_array_unref(files->images);
  g_ptr_array_unref(files->skipped);
  g_ptr_array_unref(files->unreadable);
  demur_strays_free(files->strays);
  g_free(files);
}

void
demur_open_archive_clear(DemurOpenArchive *archive) {
  g_clear_pointer(&archive->path, g_free);
  g_clear_pointer(&archive->zip, demur_zip_free);
}

static const DemurZipEntry *
find_entry(const DemurZip *zip, const char *name, GError **error) {
  const DemurZipEntry *found = demur_zip_find(zip, name);
  if (found == NULL)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "the archive has no entry \"%s\"", name);
  return found;
}

DemurSource *
demur_files_open_in(DemurOpenArchive *archive, const char *path, const char *entry,
                    GError **error) {
  if (entry == NULL)
    return demur_source_open(path, error);
  if (archive->zip == NULL || strcmp(archive->path, path) != 0) {
    demur_open_archive_clear(archive);
    archive->zip = demur_zip_open(path, error);
    if (archive->zip == NULL)
      return NULL;
    archive->path = g_strdup(path);
  }
  const DemurZipEntry *found = find_entry(archive->zip, entry, error);
  return found != NULL ? demur_zip_stream(archive->zip, found, error) : NULL;
}

DemurSource *
demur_files_open(const char *path, const char *entry, GError **error) {
  if (entry == NULL)
    return demur_source_open(path, error);
  g_autoptr(DemurZip) zip = demur_zip_open(path, error);
  if (zip == NULL)
    return NULL;
  const DemurZipEntry *found = find_entry(zip, entry, error);
  if (found == NULL)
    return NULL;
  g_autoptr(GBytes) bytes = demur_zip_read(zip, found, error);
  return bytes != NULL ? demur_source_bytes(bytes) : NULL;
}

static void
skip(Scan *scan, const char *path, const char *entry, const GError *error) {
  const guint n = scan->skipped->len;
  g_ptr_array_add(scan->skipped, demur_skipped_new(path, entry, error,
                                                   n > 0 ? scan->skipped->pdata[n - 1] : NULL));
}

/* why: marked with N_. */
static void
skip_because(Scan *scan, const char *path, const char *why) {
  g_autoptr(GError) error = demur_error_new(DEMUR_ERROR_INPUT, "%s", why);
  skip(scan, path, NULL, error);
}

static gboolean
is_new(GHashTable *table, char *key) {
  return g_hash_table_add(table, key);
}

static void
add_job(Scan *scan, const char *path) {
  if (!is_new(scan->seen, g_canonicalize_filename(path, NULL)))
    return;
  Job *job = g_new0(Job, 1);
  job->path = g_strdup(path);
  job->depth = scan->depth;
  g_ptr_array_add(scan->jobs, job);
}

static gboolean
enter_folder(Scan *scan, const struct stat *status) {
  return is_new(scan->folders, g_strdup_printf("%" PRIu64 ":%" PRIu64, (guint64)status->st_dev,
                                               (guint64)status->st_ino));
}

typedef struct {
  char *path;
  guint depth;
} Folder;

/* Whether the folder is a link to one that isn't below root (both absolute; root NULL: unknown). */
static gboolean
leads_out(const char *folder, const char *root) {
  if (!g_file_test(folder, G_FILE_TEST_IS_SYMLINK))
    return FALSE;
  char *target = realpath(folder, NULL);
  const size_t n = root != NULL ? strlen(root) : 0;
  const gboolean below = target != NULL && root != NULL && strncmp(target, root, n) == 0 &&
                         (target[n] == '/' || target[n] == '\0' || strcmp(root, "/") == 0);
  free(target);
  return !below;
}

/* Folders wait in a list: no recursion, whatever the nesting. Links to folders are followed where
 * they stay below the one that was named, each folder is entered once. */
static gboolean
collect(Scan *scan, const char *path, const DemurProgress *progress, GError **error) {
  GStatBuf status;
  if (g_stat(path, &status) != 0) {
    skip_because(scan, path, N_("cannot be read"));
    return TRUE;
  }
  if (!S_ISDIR(status.st_mode)) {
    if (S_ISREG(status.st_mode))
      add_job(scan, path);
    else
      skip_because(scan, path, N_("not a regular file"));
    return TRUE;
  }
  if (!enter_folder(scan, &status))
    return TRUE;
  char *root = realpath(path, NULL);
  g_autoptr(GPtrArray) waiting = g_ptr_array_new();
  Folder *first = g_new(Folder, 1);
  *first = (Folder){g_strdup(path), 0};
  g_ptr_array_add(waiting, first);
  gboolean going = TRUE;
  while (waiting->len > 0) {
    Folder *folder = g_ptr_array_steal_index(waiting, waiting->len - 1);
    GDir *dir = going ? g_dir_open(folder->path, 0, NULL) : NULL;
    if (going && dir == NULL)
      skip_because(scan, folder->path, N_("the folder cannot be read"));
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
      g_autofree char *child = g_build_filename(folder->path, name, NULL);
      if (g_stat(child, &status) != 0) {
        skip_because(scan, child, N_("cannot be read"));
      } else if (S_ISDIR(status.st_mode) && leads_out(child, root)) {
        skip_because(scan, child, N_("a link out of the folder: name what it leads to"));
      } else if (S_ISDIR(status.st_mode)) {
        if (folder->depth + 1 >= DEMUR_FILES_MAX_DEPTH) {
          skip_because(scan, child, N_("folders are nested more than 64 deep"));
        } else if (enter_folder(scan, &status)) {
          Folder *next = g_new(Folder, 1);
          *next = (Folder){g_steal_pointer(&child), folder->depth + 1};
          g_ptr_array_add(waiting, next);
        }
      } else if (S_ISREG(status.st_mode)) {
        add_job(scan, child);
      } else {
        skip_because(scan, child, N_("not a regular file"));
      }
    }
    if (dir != NULL)
      g_dir_close(dir);
    g_free(folder->path);
    g_free(folder);
    going = going && demur_progress_step(progress, 0, "scanning", error);
  }
  free(root);
  return going;
}

static const char unpacks_wrongly[] =
    N_("damaged ZIP archive: an entry doesn't unpack to what it says");

static const char closed_archive[] = N_(
    "a ZIP archive in an archive, which is opened only where its name ends in .zip, it is whole, "
    "and it lies no deeper than one");

static void
digest_pixels(Job *job, DemurSource *source) {
  const DemurHeader *header = job->header;
  if (header->pixels != DEMUR_PIXELS_COMPLETE)
    return;
  g_autofree guint8 *digests = g_malloc((gsize)header->n_frames * DEMUR_SHA256_BYTES);
  for (guint32 frame = 0; frame < header->n_frames; frame++)
    if (!demur_content_digest_pixels(source, header, frame,
                                     digests + (gsize)frame * DEMUR_SHA256_BYTES))
      return;
  job->pixel_digests = g_steal_pointer(&digests);
}

/* Whether the frame as it was kept is what the header and its pixels make now. */
static gboolean
is_frame(const Job *job, const DemurKnownFrame *known, guint32 frame) {
  char hex[DEMUR_SHA256_HEX];
  if (known->frame != frame || g_strcmp0(known->stamp, job->stamp) != 0 ||
      g_strcmp0(known->sop_instance_uid, job->header->sop_instance_uid) != 0)
    return FALSE;
  demur_content_digest_slice(job->header, frame, known->pixels, hex);
  return g_strcmp0(known->digest, hex) == 0;
}

/* Takes the digests of an earlier time where the file is unchanged since. */
static gboolean
take_known(Job *job) {
  const DemurHeader *header = job->header;
  if (job->known == NULL || header->pixels != DEMUR_PIXELS_COMPLETE ||
      job->known->len < header->n_frames)
    return FALSE;
  g_autofree guint8 *digests = g_malloc((gsize)header->n_frames * DEMUR_SHA256_BYTES);
  gboolean decodes = TRUE;
  guint at = 0;
  for (guint32 frame = 0; frame < header->n_frames; frame++) {
    /* They are sorted by frame. */
    while (at < job->known->len &&
           !is_frame(job, &g_array_index(job->known, DemurKnownFrame, at), frame))
      at++;
    if (at == job->known->len)
      return FALSE;
    const DemurKnownFrame *known = &g_array_index(job->known, DemurKnownFrame, at);
    memcpy(digests + (gsize)frame * DEMUR_SHA256_BYTES, known->pixels, DEMUR_SHA256_BYTES);
    decodes = decodes && known->decodes;
  }
  job->pixel_digests = g_steal_pointer(&digests);
  job->decodes = decodes;
  return TRUE;
}

/* Counts the images of an entry; FALSE with a fault where its archive has too many, for which it is
 * refused in the end. */
static gboolean
has_room(Job *job) {
  const DemurHeader *header = job->header;
  if (job->zip == NULL)
    return TRUE;
  if (header != NULL)
    demur_zip_take(job->zip, job->zip_entry,
                   header->pixels == DEMUR_PIXELS_COMPLETE ? header->n_frames : 1);
  return !demur_zip_is_crowded(job->zip, &job->fault);
}

/* The CRC is known at the end only: the last byte of an entry can't be had where it is wrong. */
static gboolean
unpacks_to_its_end(DemurSource *source, const DemurZipEntry *entry) {
  const guint64 size = demur_source_size(source);
  return size == 0 || size != entry->size || demur_source_peek(source, size - 1, 1) != NULL;
}

/* An archive that was not replaced by its entries. */
static gboolean
is_closed_archive(const Job *job, DemurSource *source) {
  enum { N_MAGIC = 4 };
  const guint8 *magic = job->zip != NULL ? demur_source_peek(source, 0, N_MAGIC) : NULL;
  return magic != NULL && demur_zip_recognise(magic, N_MAGIC);
}

/* Why there is no header; error: what its reader said. */
static GError *
fault_of(const Job *job, DemurSource *source, GError **error) {
  if (source != NULL && demur_source_is_damaged(source))
    return demur_error_new(DEMUR_ERROR_INPUT, "%s", unpacks_wrongly);
  if (source != NULL && is_closed_archive(job, source))
    return demur_error_new(DEMUR_ERROR_UNSUPPORTED, "%s", closed_archive);
  return g_steal_pointer(error);
}

static void
read_job(Job *job) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSource) source = NULL;
  if (!has_room(job))
    return;
  if (job->zip != NULL) {
    source = demur_zip_stream(job->zip, job->zip_entry, &error);
  } else {
    source = demur_source_open(job->path, &error);
  }
  if (source != NULL && demur_source_size(source) > DEMUR_LIMIT_OBJECT_BYTES) {
    job->fault = demur_error_new(DEMUR_ERROR_INPUT, "larger than 4 GiB, which no image is");
    return;
  }
  if (source != NULL)
    job->header = demur_header_read(&source, &error);
  if (job->header == NULL) {
    job->fault = fault_of(job, source, &error);
    job->cut_series = source != NULL ? demur_header_series_of_damaged(&source) : NULL;
    job->is_stray = job->cut_series == NULL;
    job->begins_like_dicom = source != NULL && demur_data_set_has_magic(source);
    return;
  }
  if (!has_room(job))
    return;
  job->fault = demur_header_not_an_image(job->header);
  if (job->fault != NULL && demur_header_lacks_its_image(job->header))
    job->cut_series = g_strdup(job->header->series_uid);
  job->is_stray = job->fault != NULL && demur_header_may_be_cut(job->header);
  job->begins_like_dicom = job->is_stray;
  job->is_known = job->fault == NULL && take_known(job);
  if (job->is_known)
    return;
  if (job->fault == NULL && job->depth == DEMUR_FILES_CONTENTS)
    digest_pixels(job, source);
  if (job->zip != NULL && !unpacks_to_its_end(source, job->zip_entry)) {
    g_clear_error(&job->fault);
    job->fault = demur_error_new(DEMUR_ERROR_INPUT, "%s", unpacks_wrongly);
  }
}

static void
read_chunk(size_t chunk, guint worker, gpointer data) {
  GPtrArray *batch = data;
  const size_t end = MIN((chunk + 1) * FILES_A_CHUNK, batch->len);
  for (size_t i = chunk * FILES_A_CHUNK; i < end; i++)
    read_job(batch->pdata[i]);
}

static int
compare_job(gconstpointer a, gconstpointer b) {
  const Job *x = *(Job *const *)a, *y = *(Job *const *)b;
  const int paths = strcmp(x->path, y->path);
  return paths != 0 ? paths : g_strcmp0(x->entry, y->entry);
}

static int
compare_skipped(gconstpointer a, gconstpointer b) {
  const DemurSkipped *x = *(DemurSkipped *const *)a, *y = *(DemurSkipped *const *)b;
  const int paths = strcmp(x->path, y->path);
  return paths != 0 ? paths : strcmp(x->reason, y->reason);
}

/* Of an archive with too many images one fault is left; jobs are sorted by path. */
static void
refuse_crowded(Scan *scan) {
  const DemurZip *refused = NULL;
  for (guint i = 0; i < scan->jobs->len; i++) {
    Job *job = scan->jobs->pdata[i];
    if (job->zip == NULL || !demur_zip_is_crowded(job->zip, NULL))
      continue;
    g_clear_pointer(&job->header, demur_header_free);
    g_clear_pointer(&job->entry, g_free);
    g_clear_pointer(&job->cut_series, g_free);
    job->is_stray = FALSE;
    g_clear_error(&job->fault);
    if (job->zip != refused)
      demur_zip_is_crowded(job->zip, &job->fault);
    refused = job->zip;
  }
}

/* An archive is replaced by its entries. */
static void
unfold_archives(Scan *scan) {
  const guint n = scan->jobs->len;
  for (guint i = 0; i < n; i++) {
    Job *job = scan->jobs->pdata[i];
    guint8 magic[4];
    g_autoptr(DemurSource) source = demur_source_open(job->path, NULL);
    if (source == NULL || !demur_source_read(source, 0, sizeof magic, magic) ||
        !demur_zip_recognise(magic, sizeof magic))
      continue;
    g_autoptr(GError) error = NULL;
    g_autofree char *stamp = demur_file_stamp(job->path, g_get_real_time());
    DemurZip *zip = demur_zip_open(job->path, &error);
    if (zip == NULL) {
      job->fault = g_steal_pointer(&error);
      continue;
    }
    g_ptr_array_add(scan->zips, zip);
    for (size_t k = 0; k < demur_zip_n_entries(zip); k++) {
      Job *entry = g_new0(Job, 1);
      entry->path = g_strdup(job->path);
      entry->depth = scan->depth;
      entry->stamp = g_strdup(stamp);
      entry->zip = zip;
      entry->zip_entry = demur_zip_entry(zip, k);
      entry->entry = g_strdup(entry->zip_entry->name);
      g_ptr_array_add(scan->jobs, entry);
    }
    g_ptr_array_index(scan->jobs, i) = NULL;
    job_free(job);
  }
  for (guint i = n; i-- > 0;)
    if (scan->jobs->pdata[i] == NULL)
      g_ptr_array_remove_index(scan->jobs, i);
}

/* A DICOMDIR named by itself stands for the folder it is in. */
static char *
folder_of_directory_file(const char *path) {
  g_autoptr(DemurSource) source = demur_source_open(path, NULL);
  if (source == NULL)
    return NULL;
  g_autoptr(DemurHeader) header = demur_header_read(&source, NULL);
  if (header == NULL || demur_sop_class_find(header->sop_class_uid) != DEMUR_SOP_DIRECTORY)
    return NULL;
  return g_path_get_dirname(path);
}

/* What is known of the file from before. */
static gboolean
find_known(const Scan *scan, Job *job, GError **error) {
  if (job->zip == NULL)
    job->stamp = demur_file_stamp(job->path, g_get_real_time());
  if (scan->known == NULL || job->stamp == NULL || !demur_file_stamp_is_settled(job->stamp))
    return TRUE;
  g_autofree char *path = g_canonicalize_filename(job->path, NULL);
  g_autofree char *place =
      job->entry != NULL ? g_strdup_printf("%s!/%s", path, job->entry) : g_steal_pointer(&path);
  job->known = scan->known->find(place, scan->known->data, error);
  return job->known != NULL;
}

/* Keeps of the elements at its root those in which it differs from the first image of its series. */
static void
compare_root(Scan *scan, DemurHeader *header) {
  const char *series = header->series_uid != NULL ? header->series_uid : "";
  DemurRootElements *first = g_hash_table_lookup(scan->first, series);
  if (first != NULL)
    header->root = demur_root_elements_against(header->root, first);
  else
    g_hash_table_insert(scan->first, g_strdup(series), demur_root_elements_ref(header->root));
}

static gboolean
run_scan(Scan *scan, const char *const *paths, DemurParallel *parallel,
         const DemurProgress *progress, GError **error) {
  for (size_t i = 0; paths[i] != NULL; i++) {
    g_autofree char *folder = folder_of_directory_file(paths[i]);
    if (!collect(scan, folder != NULL ? folder : paths[i], progress, error))
      return FALSE;
  }
  unfold_archives(scan);
  g_ptr_array_sort(scan->jobs, compare_job);
  for (guint start = 0; start < scan->jobs->len; start += FILES_A_BATCH) {
    if (!demur_progress_step(progress, (double)start / scan->jobs->len, "reading", error))
      return FALSE;
    g_autoptr(GPtrArray) batch = g_ptr_array_new();
    const guint end = MIN(start + FILES_A_BATCH, scan->jobs->len);
    for (guint i = start; i < end; i++) {
      Job *job = scan->jobs->pdata[i];
      if (job->fault != NULL)
        continue;
      if (!find_known(scan, job, error))
        return FALSE;
      g_ptr_array_add(batch, job);
    }
    demur_parallel_map(parallel, (batch->len + FILES_A_CHUNK - 1) / FILES_A_CHUNK, read_chunk,
                       batch);
    for (guint i = 0; i < batch->len; i++) {
      const Job *job = batch->pdata[i];
      if (job->fault == NULL)
        compare_root(scan, job->header);
    }
  }
  refuse_crowded(scan);
  return TRUE;
}

static DemurFiles *
scan_paths(const char *const *paths, DemurFilesDepth depth, const DemurKnownFiles *known,
           DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  for (size_t i = 0; paths[i] != NULL; i++) {
    if (!g_file_test(paths[i], G_FILE_TEST_EXISTS)) {
      g_autofree char *name = g_filename_display_name(paths[i]);
      demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                      "%s does not exist; a file, folder, DICOMDIR or ZIP archive was expected",
                      name);
      return NULL;
    }
  }
  Scan scan = {
      .depth = depth,
      .known = known,
      .jobs = g_ptr_array_new_with_free_func(job_free),
      .zips = g_ptr_array_new_with_free_func((GDestroyNotify)demur_zip_free),
      .skipped = g_ptr_array_new_with_free_func((GDestroyNotify)demur_skipped_free),
      .folders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
      .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
      .first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                     (GDestroyNotify)demur_root_elements_unref),
  };
  DemurFiles *files = NULL;
  if (run_scan(&scan, paths, parallel, progress, error)) {
    files = g_new0(DemurFiles, 1);
    files->images = g_ptr_array_new_with_free_func((GDestroyNotify)demur_file_free);
    files->unreadable = g_ptr_array_new_with_free_func(unreadable_free);
    files->strays = demur_strays_new();
    for (guint i = 0; i < scan.jobs->len; i++) {
      Job *job = scan.jobs->pdata[i];
      if (job->fault != NULL) {
        skip(&scan, job->path, job->entry, job->fault);
        if (job->cut_series != NULL)
          add_unreadable(files, job);
        else if (job->is_stray)
          demur_strays_add(files->strays, job->path, job->entry, job->begins_like_dicom,
                           job->fault->message);
        continue;
      }
      if (job->header == NULL)
        continue; /* of an archive that is refused */
      DemurFile *file = g_new0(DemurFile, 1);
      file->path = g_steal_pointer(&job->path);
      file->entry = g_steal_pointer(&job->entry);
      file->header = g_steal_pointer(&job->header);
      file->pixel_digests = g_steal_pointer(&job->pixel_digests);
      file->stamp = g_steal_pointer(&job->stamp);
      file->decodes = job->decodes;
      if (job->zip != NULL && demur_zip_is_small(job->zip_entry, file->header->n_frames))
        file->most_series = demur_zip_most_series(job->zip);
      file->is_known = job->is_known;
      files->n_known += job->is_known ? 1 : 0;
      g_ptr_array_add(files->images, file);
    }
    g_ptr_array_sort(scan.skipped, compare_skipped);
    files->skipped = g_ptr_array_ref(scan.skipped);
  }
  g_ptr_array_unref(scan.jobs);
  g_ptr_array_unref(scan.zips);
  g_ptr_array_unref(scan.skipped);
  g_hash_table_unref(scan.folders);
  g_hash_table_unref(scan.seen);
  g_hash_table_unref(scan.first);
  return files;
}

DemurFiles *
demur_files_scan(const char *const *paths, DemurFilesDepth depth, DemurParallel *parallel,
                 const DemurProgress *progress, GError **error) {
  return scan_paths(paths, depth, NULL, parallel, progress, error);
}

DemurFiles *
demur_files_scan_known(const char *const *paths, const DemurKnownFiles *known,
                       DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  return scan_paths(paths, DEMUR_FILES_CONTENTS, known, parallel, progress, error);
}
