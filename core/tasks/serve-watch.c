#include "tasks/serve-watch.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "dicom/files.h"
#include "dicom/library.h"
#include "dicom/object-folder.h"

#define MAX_DEPTH 16

/* One entry of the watched folder as it was last seen. */
typedef struct {
  guint64 signature; /* of names, sizes and times of all below */
  gint64 since;      /* it is so */
  gboolean done;     /* it was looked into, and is so since */
} Seen;

struct DemurServeWatch {
  GHashTable *seen; /* name -> Seen */
};

DemurServeWatch *
demur_serve_watch_new(void) {
  DemurServeWatch *watch = g_new0(DemurServeWatch, 1);
  watch->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  return watch;
}

void
demur_serve_watch_free(DemurServeWatch *watch) {
  if (watch == NULL)
    return;
  g_hash_table_unref(watch->seen);
  g_free(watch);
}

static guint64
signature_of(const char *path, int depth) {
  GStatBuf facts;
  if (depth > MAX_DEPTH || g_lstat(path, &facts) != 0)
    return 0;
  guint64 signature = g_str_hash(path) * G_GUINT64_CONSTANT(0x9E3779B97F4A7C15) +
                      (guint64)facts.st_size * 31 + (guint64)facts.st_mtime;
  g_autoptr(GDir) dir = S_ISDIR(facts.st_mode) ? g_dir_open(path, 0, NULL) : NULL;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    signature += signature_of(child, depth + 1); /* in any order */
  }
  return signature;
}

/* Puts one image into the service's folder. */
static gboolean
take_image(DemurOpenArchive *archive, const DemurFile *file, const char *folder, GError **error) {
  const DemurHeader *header = file->header;
  if (!demur_object_is_uid(header->study_uid) || !demur_object_is_uid(header->series_uid) ||
      !demur_object_is_uid(header->sop_instance_uid)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it names no study, series or instance");
    return FALSE;
  }
  g_autoptr(DemurSource) source = demur_files_open_in(archive, file->path, file->entry, error);
  if (source == NULL)
    return FALSE;
  const size_t n = (size_t)demur_source_size(source);
  const guint8 *bytes = demur_source_peek(source, 0, n);
  if (bytes == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it can't be read whole");
    return FALSE;
  }
  g_autofree char *series = g_build_filename(header->study_uid, header->series_uid, NULL);
  const DemurObjectPlace place = {folder, series, header->sop_instance_uid};
  gboolean known;
  return demur_object_put(&place, (const char *)bytes, n, NULL, &known, error);
}

/* Removes the folders below and at path that are empty now. */
static void
remove_empty(const char *path, int depth) {
  g_autoptr(GDir) dir = depth <= MAX_DEPTH ? g_dir_open(path, 0, NULL) : NULL;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
      remove_empty(child, depth + 1);
  }
  (void)g_rmdir(path);
}

/* Takes an entry's images; FALSE where that is to be tried again. */
static gboolean
take_entry(const char *path, const char *folder, const DemurWatchTold *told) {
  const char *const paths[] = {path, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFiles) files =
      demur_dicom_init(&error) ? demur_files_scan(paths, DEMUR_FILES_HEADERS, NULL, NULL, &error)
                               : NULL;
  if (files == NULL) {
    told->problem(error->message, told->data);
    return TRUE;
  }
  DemurOpenArchive archive = {0};
  g_autoptr(GHashTable) studies = g_hash_table_new(g_str_hash, g_str_equal);
  g_autofree gboolean *taken = g_new0(gboolean, MAX(files->images->len, 1));
  gboolean full = FALSE;
  guint n_left = files->skipped->len + files->unreadable->len;
  for (guint i = 0; i < files->images->len && !full; i++) {
    const DemurFile *file = files->images->pdata[i];
    g_autoptr(GError) cause = NULL;
    taken[i] = take_image(&archive, file, folder, &cause);
    if (taken[i]) {
      g_hash_table_add(studies, file->header->study_uid);
      continue;
    }
    full = g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
    n_left++;
    told->problem(cause->message, told->data);
  }
  demur_open_archive_clear(&archive);
  if (n_left > 0) {
    g_autofree char *sentence =
        g_strdup_printf("%u files in the watched folder are no images that can be taken: they are "
                        "left where they are",
                        n_left);
    told->problem(sentence, told->data);
  }
  GHashTableIter iter;
  gpointer study;
  gboolean good = !full;
  g_hash_table_iter_init(&iter, studies);
  while (g_hash_table_iter_next(&iter, &study, NULL))
    good &= told->arrived(study, told->data);
  /* What was not taken stays, whatever study it is of; an archive goes when all that is in it was. */
  for (guint i = 0; good && i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    if (file->entry == NULL ? taken[i] : n_left == 0)
      (void)g_unlink(file->path);
  }
  if (g_file_test(path, G_FILE_TEST_IS_DIR))
    remove_empty(path, 0);
  return good;
}

void
demur_serve_watch_look(DemurServeWatch *watch, const char *watched, guint quiet_seconds,
                       const char *folder, gint64 now, const DemurWatchTold *told) {
  g_autoptr(GDir) dir = g_dir_open(watched, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(watched, name, NULL);
    const guint64 signature = signature_of(path, 0);
    Seen *seen = g_hash_table_lookup(watch->seen, name);
    if (seen == NULL) {
      seen = g_new0(Seen, 1);
      g_hash_table_insert(watch->seen, g_strdup(name), seen);
    }
    if (seen->signature != signature || seen->since == 0) {
      *seen = (Seen){signature, now, FALSE};
      continue;
    }
    if (seen->done || now - seen->since < MAX(quiet_seconds, 1))
      continue;
    if (take_entry(path, folder, told)) {
      /* What stays is looked into again when it changes. */
      seen->signature = signature_of(path, 0);
      seen->done = TRUE;
    } else {
      seen->since = now;
    }
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
      g_hash_table_remove(watch->seen, name);
  }
}
