#include "ui/image-data.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dicom/library.h"
#include "tasks/images.h"
#include "tasks/open-slice.h"
#include "tasks/series-records.h"
#include "ui/words.h"

DemurImage *
demur_image_ref(DemurImage *image) {
  g_atomic_int_inc(&image->ref_count);
  return image;
}

void
demur_image_unref(DemurImage *image) {
  if (image == NULL || !g_atomic_int_dec_and_test(&image->ref_count))
    return;
  g_free(image->workspace);
  g_free(image->scan_id);
  g_free(image->images_digest);
  if (image->series_refs != NULL && g_atomic_int_dec_and_test(image->series_refs)) {
    demur_series_free(image->series);
    g_free(image->series_refs);
  }
  demur_volume_free(image->volume);
  g_aligned_free(image->first);
  g_free(image);
}

const char *
demur_image_scan_id(const DemurImage *image) {
  return image->scan_id;
}

const char *
demur_image_digest(const DemurImage *image) {
  return image->images_digest;
}

gboolean
demur_image_is_volume(const DemurImage *image) {
  return image->volume != NULL && image->volume->is_volume;
}

gboolean
demur_image_is_whole(const DemurImage *image) {
  return image->volume != NULL;
}

static void
image_free(gpointer image) {
  demur_image_unref(image);
}

typedef struct {
  char *workspace, *scan_id;
} LoadInput;

static void
input_free(gpointer data) {
  LoadInput *input = data;
  g_free(input->workspace);
  g_free(input->scan_id);
  g_free(input);
}

static DemurImage *
image_new(const char *workspace, const char *scan_id, const char *digest) {
  DemurImage *image = g_new0(DemurImage, 1);
  image->workspace = g_strdup(workspace);
  image->scan_id = g_strdup(scan_id);
  image->images_digest = g_strdup(digest);
  image->ref_count = 1;
  return image;
}

/* An image of one slice of the whole series, which is shared (owned). */
static DemurImage *
part_new(const DemurImage *of, gint16 *hu, size_t slice) {
  DemurImage *part = image_new(of->workspace, of->scan_id, of->images_digest);
  part->series = of->series;
  part->series_refs = of->series_refs;
  g_atomic_int_inc(part->series_refs);
  part->first = hu;
  part->place = part->first_index = slice;
  part->n_slices = of->series->n_slices;
  return part;
}

static gint16 *
read_one(const DemurSeries *series, size_t slice, GError **error) {
  gint16 *hu = demur_memory_array(series->rows, series->columns, sizeof(gint16), error);
  size_t n_padding, n_clamped;
  if (hu != NULL && !demur_volume_read_slice(series, slice, hu, &n_padding, &n_clamped, error))
    g_clear_pointer(&hu, g_aligned_free);
  return hu;
}

/* The same from the slice's own file alone, without the rest of the series (owned). */
static DemurImage *
part_alone(DemurTask *task, const char *scan_id, size_t slice, GError **error) {
  g_auto(DemurSliceOpened) opened;
  if (!demur_task_open_slice(task, scan_id, slice, &opened, error))
    return NULL;
  gint16 *hu = read_one(opened.series, opened.place, error);
  if (hu == NULL)
    return NULL;
  DemurImage *part = image_new(task->workspace_path, scan_id, opened.images_digest);
  part->series = g_steal_pointer(&opened.series);
  part->series_refs = g_new(gint, 1);
  *part->series_refs = 1;
  part->first = hu;
  part->first_index = opened.slice;
  part->place = opened.place;
  part->n_slices = opened.n_slices;
  return part;
}

/* A task of the job's own, which only reads. */
static void
reader_init(DemurTask *task, const char *workspace, const DemurProgress *progress) {
  *task = (DemurTask){.workspace_path = g_strdup(workspace), .opening = DEMUR_WORKSPACE_READ_ONLY};
  task->progress = *progress;
}

typedef struct {
  DemurImage *part;
  size_t slice;
} SliceInput;

static void
slice_input_free(gpointer data) {
  SliceInput *input = data;
  demur_image_unref(input->part);
  g_free(input);
}

static gpointer
load_slice(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const SliceInput *input = data;
  const DemurImage *part = input->part;
  if (part->n_slices == part->series->n_slices) {
    gint16 *hu = read_one(part->series, input->slice, error);
    return hu != NULL ? part_new(part, hu, input->slice) : NULL;
  }
  g_auto(DemurTask) task;
  reader_init(&task, part->workspace, progress);
  return part_alone(&task, part->scan_id, input->slice, error);
}

DemurJob *
demur_image_load_slice(DemurImage *part, size_t slice, GObject *owner, guint64 tag,
                       DemurJobDone done) {
  SliceInput *input = g_new(SliceInput, 1);
  *input = (SliceInput){demur_image_ref(part), slice};
  const DemurJobStart start = {.func = load_slice,
                               .input = input,
                               .free_input = slice_input_free,
                               .free_result = image_free,
                               .owner = owner,
                               .tag = tag,
                               .done = done};
  return demur_job_start(&start);
}

static gpointer
load(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const LoadInput *input = data;
  if (!demur_dicom_init(error))
    return NULL;
  g_auto(DemurTask) task;
  reader_init(&task, input->workspace, progress);
  /* The middle slice at once, from its own file; headers and digests of all others are read behind
   * it. */
  DemurImage *part = part_alone(&task, input->scan_id, DEMUR_MIDDLE_SLICE, NULL);
  const gboolean delivered = part != NULL;
  if (delivered)
    demur_job_deliver(job, part);
  task.parallel = demur_parallel_new(0);
  g_autoptr(DemurImage) image = image_new(input->workspace, input->scan_id, NULL);
  image->series = demur_task_reopen(&task, input->scan_id, error);
  if (image->series == NULL)
    return NULL;
  image->images_digest = demur_dicom_images_digest(image->series);
  image->series_refs = g_new(gint, 1);
  *image->series_refs = 1;
  const DemurSeries *series = image->series;
  if (series->n_slices == 0 || series->rows == 0 || series->columns == 0) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED, "%s",
                    _("no slice of this series holds pixels that can be shown"));
    return NULL;
  }
  const size_t middle = series->n_slices / 2;
  gint16 *hu = delivered ? NULL : read_one(series, middle, NULL);
  if (hu != NULL)
    demur_job_deliver(job, part_new(image, hu, middle));
  image->volume = demur_volume_read(series, task.parallel, progress, error);
  if (image->volume == NULL)
    return NULL;
  return g_steal_pointer(&image);
}

DemurJob *
demur_image_load(const char *workspace, const char *scan_id, GObject *owner, guint64 tag,
                 DemurJobPart part, DemurJobDone done) {
  LoadInput *input = g_new0(LoadInput, 1);
  input->workspace = g_strdup(workspace);
  input->scan_id = g_strdup(scan_id);
  const DemurJobStart start = {.func = load,
                               .input = input,
                               .free_input = input_free,
                               .free_result = image_free,
                               .free_part = image_free,
                               .owner = owner,
                               .tag = tag,
                               .part = part,
                               .done = done};
  return demur_job_start(&start);
}
