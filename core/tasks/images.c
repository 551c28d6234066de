#include "tasks/images.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-stamp.h"
#include "dicom/import.h"
#include "dicom/library.h"
#include "tasks/series-records.h"
#include "words/words.h"

char **
demur_task_image_paths(DemurTask *task, const char *scan_id, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) files =
      workspace != NULL ? demur_series_files(workspace, scan_id, error) : NULL;
  if (files == NULL)
    return NULL;
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  const char *last = NULL;
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    if (g_strcmp0(file->path, last) != 0) /* frames of one file stand together */
      g_strv_builder_add(builder, file->path);
    last = file->path;
  }
  return g_strv_builder_end(builder);
}

/* FALSE with DEMUR_ERROR_STATE where what was measured is not what the record tells. */
static gboolean
check_unchanged(const DemurSeries *series, const DemurSeriesRecord *record, GError **error) {
  const DemurPerson now = demur_series_person_of(series);
  g_autofree char *person = demur_person_digest(&now);
  g_autofree char *images = demur_dicom_images_digest(series);
  /* An older program kept no digests: the UIDs of its files were compared when they were found. */
  const gboolean other_images =
                     record->images_digest != NULL && strcmp(images, record->images_digest) != 0,
                 other_person =
                     record->person_digest != NULL && strcmp(person, record->person_digest) != 0;
  if (!other_images && !other_person)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the images of scan %s changed: what lies at their place is %s; import it again",
                  record->scan_id,
                  other_images ? N_("not what was imported") : N_("another person's"));
  return FALSE;
}

DemurSeries *
demur_task_reopen(DemurTask *task, const char *scan_id, GError **error) {
  g_auto(GStrv) paths = demur_task_image_paths(task, scan_id, error);
  g_autoptr(DemurSeriesRecord) record =
      paths != NULL ? demur_series_load(task->workspace, scan_id, error) : NULL;
  if (record == NULL || !demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurSeries) series = demur_import_reopen(scan_id, (const char *const *)paths,
                                                      task->parallel, &task->progress, error);
  if (series == NULL || !check_unchanged(series, record, error))
    return NULL;
  return g_steal_pointer(&series);
}

static void
known_frame_clear(gpointer frame) {
  demur_known_frame_clear(frame);
}

/* What the workspace knows of the file at place (DemurKnownFiles.find). */
static GArray *
find_files(const char *place, gpointer data, GError **error) {
  g_autoptr(GPtrArray) files = demur_series_files_at(data, place, error);
  if (files == NULL)
    return NULL;
  GArray *known = g_array_new(FALSE, TRUE, sizeof(DemurKnownFrame));
  g_array_set_clear_func(known, known_frame_clear);
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    DemurKnownFrame frame = {.frame = file->frame, .decodes = file->decodes};
    if (file->stamp == NULL || !demur_sha256_parse(file->pixel_digest, frame.pixels))
      continue;
    frame.sop_instance_uid = g_strdup(file->sop_instance_uid);
    frame.stamp = g_strdup(file->stamp);
    frame.digest = g_strdup(file->digest);
    g_array_append_val(known, frame);
  }
  return known;
}

DemurKnownFiles
demur_task_known_files(DemurWorkspace *workspace) {
  return (DemurKnownFiles){find_files, workspace};
}

/* ---- what lies at the stored places ---- */

/* A file, or the archive that holds it, as it is now. */
typedef struct {
  char *stamp; /* NULL: nothing can be read there */
  gint64 size, modified;
  dev_t device;
} Container;

static void
container_free(gpointer data) {
  Container *container = data;
  g_free(container->stamp);
  g_free(container);
}

static char *
container_path(const char *path) {
  const char *mark = strstr(path, "!/");
  return mark != NULL && !g_file_test(path, G_FILE_TEST_EXISTS)
             ? g_strndup(path, (gsize)(mark - path))
             : g_strdup(path);
}

/* The container at path, which is looked at once. containers: path -> Container. */
static const Container *
find_container(GHashTable *containers, const char *path) {
  Container *container = g_hash_table_lookup(containers, path);
  if (container != NULL)
    return container;
  container = g_new0(Container, 1);
  g_hash_table_insert(containers, g_strdup(path), container);
  GStatBuf at;
  if (g_stat(path, &at) == 0 && g_access(path, R_OK) == 0) {
    container->stamp = demur_file_stamp(path, g_get_real_time());
    container->size = (gint64)at.st_size;
    container->modified = (gint64)at.st_mtim.tv_sec * G_USEC_PER_SEC + at.st_mtim.tv_nsec / 1000;
    container->device = at.st_dev;
  }
  return container;
}

/* An older program kept no stamp: size and time have to do. */
static gboolean
is_left_alone(const DemurSeriesFile *file, const Container *container) {
  return file->stamp != NULL
             ? demur_file_stamp_bears_the_same(file->stamp, container->stamp)
             : file->size == container->size && file->modified == container->modified;
}

/* Whether what is missing was taken out of its folder: the nearest folder that is still there holds
 * another file of the volume on the same medium. Else the medium is away. */
static gboolean
is_gone(GHashTable *containers, const char *path) {
  g_autofree char *folder = g_path_get_dirname(path);
  GStatBuf at;
  while (g_stat(folder, &at) != 0) {
    char *above = g_path_get_dirname(folder);
    if (strcmp(above, folder) == 0) {
      g_free(above);
      return FALSE;
    }
    g_free(folder);
    folder = above;
  }
  const size_t length = strlen(folder);
  GHashTableIter iter;
  gpointer other, container;
  g_hash_table_iter_init(&iter, containers);
  while (g_hash_table_iter_next(&iter, &other, &container))
    if (((Container *)container)->stamp != NULL && ((Container *)container)->device == at.st_dev &&
        strncmp(other, folder, length) == 0 && ((const char *)other)[length] == G_DIR_SEPARATOR)
      return TRUE;
  return FALSE;
}

/* Whether an image that was read is of the person of the record. */
static gboolean
is_of_person(const DemurHeader *header, const DemurSeriesRecord *record) {
#define KNOWN(field, other) (header->field != NULL ? header->field : (other))
  const DemurPerson person = {
      KNOWN(patient_id_issuer, record->issuer), KNOWN(patient_id, record->patient_id),
      KNOWN(patient_name, record->patient_name), KNOWN(patient_birth_date, record->birth_date),
      KNOWN(patient_sex, record->sex)};
#undef KNOWN
  g_autofree char *now = demur_person_digest(&person);
  return record->person_digest == NULL || strcmp(now, record->person_digest) == 0;
}

/* Whether an image that was read is the stored slice. */
static gboolean
is_slice(const DemurFile *image, const DemurSeriesFile *file, const DemurSeriesRecord *record) {
  const DemurHeader *header = image->header;
  if (!is_of_person(header, record))
    return FALSE;
  /* An older program kept no digests: the UID has to do. */
  if (file->digest == NULL)
    return g_strcmp0(header->sop_instance_uid, file->sop_instance_uid) == 0;
  if (image->pixel_digests == NULL || file->frame >= header->n_frames)
    return FALSE;
  char hex[DEMUR_SHA256_HEX];
  demur_content_digest_slice(header, file->frame,
                             image->pixel_digests + (gsize)file->frame * DEMUR_SHA256_BYTES, hex);
  return strcmp(hex, file->digest) == 0;
}

/* Reads what was not left alone: places that hold the slice after all become AS_IMPORTED. */
static gboolean
read_changed(DemurTask *task, const DemurSeriesRecord *record, const GPtrArray *files,
             char *const *paths, DemurPlaces *places, GError **error) {
  const DemurKnownFiles known = demur_task_known_files(task->workspace);
  /* A look within other work, whose progress goes on. */
  const DemurProgress quiet = {.cancellable = task->progress.cancellable};
  if (!demur_dicom_init(error))
    return FALSE;
  g_autoptr(DemurFiles) now =
      demur_files_scan_known((const char *const *)paths, &known, task->parallel, &quiet, error);
  if (now == NULL)
    return FALSE;
  g_autoptr(GHashTable) images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < now->images->len; i++) {
    DemurFile *image = now->images->pdata[i];
    g_hash_table_insert(images,
                        image->entry != NULL ? g_strdup_printf("%s!/%s", image->path, image->entry)
                                             : g_strdup(image->path),
                        image);
  }
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    const DemurFile *image = g_hash_table_lookup(images, file->path);
    if (places[i] == DEMUR_PLACES_CHANGED && image != NULL && is_slice(image, file, record))
      places[i] = DEMUR_PLACES_AS_IMPORTED;
  }
  return TRUE;
}

DemurPlaces *
demur_task_file_places(DemurTask *task, const DemurSeriesRecord *record, const GPtrArray *files,
                       GError **error) {
  if (demur_task_workspace(task, error) == NULL)
    return NULL;
  g_autofree DemurPlaces *places = g_new0(DemurPlaces, MAX(files->len, 1));
  g_autoptr(GHashTable) containers =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, container_free);
  g_autoptr(GHashTable) changed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    g_autofree char *path = container_path(file->path);
    const Container *container = find_container(containers, path);
    places[i] = container->stamp == NULL         ? DEMUR_PLACES_AWAY
                : is_left_alone(file, container) ? DEMUR_PLACES_AS_IMPORTED
                                                 : DEMUR_PLACES_CHANGED;
    if (places[i] == DEMUR_PLACES_CHANGED)
      g_hash_table_add(changed, g_steal_pointer(&path));
  }
  if (g_hash_table_size(changed) > 0) {
    g_autofree char **paths = (char **)g_hash_table_get_keys_as_array(changed, NULL);
    if (!read_changed(task, record, files, paths, places, error))
      return NULL;
  }
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *path = container_path(((const DemurSeriesFile *)files->pdata[i])->path);
    if (places[i] == DEMUR_PLACES_AWAY && is_gone(containers, path))
      places[i] = DEMUR_PLACES_CHANGED;
  }
  return g_steal_pointer(&places);
}

DemurPlaces
demur_task_places(DemurWorkspace *workspace, const char *scan_id, gpointer data) {
  DemurTask *task = data;
  g_autoptr(DemurSeriesRecord) record = demur_series_load(workspace, scan_id, NULL);
  g_autoptr(GPtrArray) files = record != NULL ? demur_series_files(workspace, scan_id, NULL) : NULL;
  g_autofree DemurPlaces *places =
      files != NULL ? demur_task_file_places(task, record, files, NULL) : NULL;
  DemurPlaces worst = places == NULL ? DEMUR_PLACES_AWAY : DEMUR_PLACES_AS_IMPORTED;
  for (guint i = 0; places != NULL && i < files->len; i++)
    if (places[i] == DEMUR_PLACES_CHANGED || worst == DEMUR_PLACES_AS_IMPORTED)
      worst = places[i];
  return worst;
}

void
demur_task_tell_places(DemurTask *task, DemurSeriesRecord *record) {
  record->places = demur_task_places(task->workspace, record->scan_id, task);
  if (record->places != DEMUR_PLACES_CHANGED || !record->accepted)
    return;
  g_autoptr(DemurReason) reason = demur_reason_new(DEMUR_REASON_FILES, NULL, NULL);
  record->accepted = FALSE;
  g_free(record->reason);
  record->reason = demur_reason_kept(reason);
}

const char *
demur_task_places_name(DemurPlaces places) {
  static const char *const names[] = {[DEMUR_PLACES_AS_IMPORTED] = "as_imported",
                                      [DEMUR_PLACES_CHANGED] = "changed",
                                      [DEMUR_PLACES_AWAY] = "away"};
  return names[places];
}
