#include "ui/thumbnails.h"

#include <math.h>

#include "dicom/volume.h"
#include "tasks/ct-presets.h"
#include "tasks/open-slice.h"

void
demur_thumbnail_free(DemurThumbnail *thumbnail) {
  if (thumbnail == NULL)
    return;
  g_free(thumbnail->scan_id);
  g_clear_object(&thumbnail->texture);
  g_free(thumbnail);
}

static void
thumbnail_free(gpointer thumbnail) {
  demur_thumbnail_free(thumbnail);
}

typedef struct {
  char *workspace, **scan_ids;
} Input;

static void
input_free(gpointer data) {
  Input *input = data;
  g_free(input->workspace);
  g_strfreev(input->scan_ids);
  g_free(input);
}

/* The grey of a box of CT numbers, in the lung window. */
static guint8
grey_of_box(const DemurSeries *series, const gint16 *hu, size_t row, size_t column, size_t n_rows,
            size_t n_columns) {
  const DemurCtPreset *lung = &demur_ct_presets[DEMUR_CT_PRESET_LUNG];
  double sum = 0;
  size_t n = 0;
  for (size_t r = row; r < row + n_rows; r++)
    for (size_t c = column; c < column + n_columns; c++)
      if (hu[r * series->columns + c] != DEMUR_HU_PADDING) {
        sum += hu[r * series->columns + c];
        n++;
      }
  if (n == 0)
    return 0;
  const double share = (sum / (double)n - lung->level) / lung->width + 0.5;
  return (guint8)lround(255.0 * CLAMP(share, 0.0, 1.0));
}

/* Each pixel of it is the mean of a square of the slice's. */
static GdkTexture *
make_texture(const DemurSeries *series, const gint16 *hu) {
  const size_t longest = MAX(series->rows, series->columns);
  const size_t box = MAX(1, (longest + DEMUR_THUMBNAIL_SIZE - 1) / DEMUR_THUMBNAIL_SIZE);
  const size_t rows = MAX(1, series->rows / box), columns = MAX(1, series->columns / box);
  guint8 *bytes = g_malloc(rows * columns * 3);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) {
      const guint8 grey = grey_of_box(series, hu, r * box, c * box, MIN(box, series->rows),
                                      MIN(box, series->columns));
      guint8 *pixel = bytes + 3 * (r * columns + c);
      pixel[0] = pixel[1] = pixel[2] = grey;
    }
  g_autoptr(GBytes) data = g_bytes_new_take(bytes, rows * columns * 3);
  return gdk_memory_texture_new((int)columns, (int)rows, GDK_MEMORY_R8G8B8, data, columns * 3);
}

static DemurThumbnail *
make(DemurTask *task, const char *scan_id) {
  g_auto(DemurSliceOpened) opened;
  if (!demur_task_open_slice(task, scan_id, DEMUR_MIDDLE_SLICE, &opened, NULL))
    return NULL;
  const DemurSeries *series = opened.series;
  g_autofree gint16 *hu = g_try_new(gint16, (size_t)series->rows * series->columns);
  size_t n_padding, n_clamped;
  if (hu == NULL ||
      !demur_volume_read_slice(series, opened.place, hu, &n_padding, &n_clamped, NULL))
    return NULL;
  DemurThumbnail *thumbnail = g_new(DemurThumbnail, 1);
  *thumbnail = (DemurThumbnail){g_strdup(scan_id), make_texture(series, hu)};
  return thumbnail;
}

static gpointer
load(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const Input *input = data;
  g_auto(DemurTask) task = {.workspace_path = g_strdup(input->workspace),
                            .opening = DEMUR_WORKSPACE_READ_ONLY,
                            .progress = *progress};
  for (char **scan_id = input->scan_ids; *scan_id != NULL; scan_id++) {
    if (!demur_progress_step(progress, 0.0, "reading pictures", error))
      return NULL;
    DemurThumbnail *thumbnail = make(&task, *scan_id);
    if (thumbnail != NULL)
      demur_job_deliver(job, thumbnail);
  }
  return GINT_TO_POINTER(1);
}

DemurJob *
demur_thumbnails_load(const char *workspace, const char *const *scan_ids, GObject *owner,
                      guint64 tag, DemurJobPart part, DemurJobDone done) {
  Input *input = g_new(Input, 1);
  *input = (Input){g_strdup(workspace), g_strdupv((char **)scan_ids)};
  const DemurJobStart start = {.func = load,
                               .input = input,
                               .free_input = input_free,
                               .free_part = thumbnail_free,
                               .owner = owner,
                               .tag = tag,
                               .part = part,
                               .done = done};
  return demur_job_start(&start);
}
