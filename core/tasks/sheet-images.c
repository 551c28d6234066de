#include "tasks/sheet-images.h"

#if DEMUR_WITH_DICOM
#include <math.h>
#include <string.h>

#include "dicom/reformat.h"
#include "report/format.h"
#include "tasks/annotations.h"
#include "tasks/ct-presets.h"
#include "tasks/images.h"
#include "tasks/series-records.h"

typedef struct {
  DemurTask *task;
  DemurPatientSheet *sheet;
  DemurSeries *series;
  DemurVolume *volume; /* NULL until a picture needs it */
  GPtrArray *drawn;    /* of DemurAnnotation */
  DemurTranslate translate;
} Pictures;

static gpointer
own(DemurPatientSheet *sheet, gpointer memory) {
  g_ptr_array_add(sheet->owned, memory);
  return memory;
}

/* CT numbers in a window, as the screen shows them: 0 black, 255 white. */
static guint8 *
grey_of(const gint16 *hu, size_t n, double width, double level) {
  guint8 *grey = g_malloc(n);
  for (size_t i = 0; i < n; i++) {
    const double share = ((double)hu[i] - level) / width + 0.5;
    grey[i] = hu[i] == DEMUR_HU_PADDING ? 0 : (guint8)lround(255.0 * CLAMP(share, 0.0, 1.0));
  }
  return grey;
}

static double
aspect_of(const double spacing[2]) {
  return isfinite(spacing[0]) && isfinite(spacing[1]) && spacing[1] > 0.0 ? spacing[0] / spacing[1]
                                                                          : 1.0;
}

/* What was drawn on the same slice, plane and slab. */
static void
add_drawings(const Pictures *p, const DemurAnnotation *of, DemurPatientImage *image) {
  GArray *drawings = g_array_new(FALSE, FALSE, sizeof(DemurPatientDrawing));
  for (guint i = 0; i < p->drawn->len; i++) {
    const DemurAnnotation *a = p->drawn->pdata[i];
    if (a->n_places < 2 || a->slice != of->slice || a->plane != of->plane ||
        a->slab_mm != of->slab_mm || (a->slab_mm > 0 && a->slab != of->slab))
      continue;
    DemurPatientDrawing drawing = {.ellipse = a->kind == DEMUR_ANNOTATION_REGION,
                                   .n_places = a->n_places,
                                   .text = own(p->sheet, demur_annotation_words(a, p->translate))};
    memcpy(drawing.x, a->x, sizeof drawing.x);
    memcpy(drawing.y, a->y, sizeof drawing.y);
    g_array_append_val(drawings, drawing);
  }
  image->n_drawings = drawings->len;
  image->drawings = own(p->sheet, g_array_free(drawings, FALSE));
}

/* One slice as acquired. */
static gboolean
read_slice(const Pictures *p, size_t slice, double width, double level, DemurPatientImage *image,
           GError **error) {
  const size_t n = (size_t)p->series->rows * p->series->columns;
  g_autofree gint16 *hu = g_new(gint16, n);
  size_t n_padding, n_clamped;
  if (!demur_volume_read_slice(p->series, slice, hu, &n_padding, &n_clamped, error))
    return FALSE;
  *image = (DemurPatientImage){.width = p->series->columns,
                               .height = p->series->rows,
                               .grey = own(p->sheet, grey_of(hu, n, width, level)),
                               .aspect = aspect_of(p->series->pixel_spacing_mm)};
  return TRUE;
}

/* A plane or slab through the volume, as the window cuts it (ui/ct-view.c). */
static gboolean
cut_plane(Pictures *p, const DemurAnnotation *a, DemurPatientImage *image, GError **error) {
  if (p->volume == NULL)
    p->volume = demur_volume_read(p->series, p->task->parallel, &p->task->progress, error);
  if (p->volume == NULL)
    return FALSE;
  static const DemurPlane planes[DEMUR_N_DRAWN_PLANES] = {
      [DEMUR_DRAWN_ACQUIRED] = DEMUR_PLANE_ACQUIRED,
      [DEMUR_DRAWN_CORONAL] = DEMUR_PLANE_CORONAL,
      [DEMUR_DRAWN_SAGITTAL] = DEMUR_PLANE_SAGITTAL};
  static const DemurSlab slabs[DEMUR_N_DRAWN_SLABS] = {[DEMUR_DRAWN_MAXIMUM] = DEMUR_SLAB_MAXIMUM,
                                                       [DEMUR_DRAWN_MEAN] = DEMUR_SLAB_MEAN,
                                                       [DEMUR_DRAWN_MINIMUM] = DEMUR_SLAB_MINIMUM};
  const DemurPlane plane = planes[a->plane];
  const double step = plane == DEMUR_PLANE_CORONAL    ? p->volume->pixel_spacing_mm[0]
                      : plane == DEMUR_PLANE_SAGITTAL ? p->volume->pixel_spacing_mm[1]
                                                      : p->volume->spacing_mm;
  const size_t n_slab = a->slab_mm > 0 && step > 0 ? (size_t)fmax(1, round(a->slab_mm / step)) : 1;
  g_autoptr(DemurReformat) cut =
      demur_reformat_new(p->volume, plane, (size_t)a->slice, n_slab, slabs[a->slab], error);
  if (cut == NULL)
    return FALSE;
  *image = (DemurPatientImage){.width = cut->columns,
                               .height = cut->rows,
                               .grey = own(p->sheet, grey_of(cut->hu, cut->rows * cut->columns,
                                                             a->window_width, a->window_level)),
                               .aspect = aspect_of(cut->pixel_spacing_mm)};
  return TRUE;
}

static gboolean
add_keys(Pictures *p, GError **error) {
  GArray *keys = g_array_new(FALSE, TRUE, sizeof(DemurPatientImage));
  gboolean ok = TRUE;
  for (guint i = 0; i < p->drawn->len && ok; i++) {
    const DemurAnnotation *a = p->drawn->pdata[i];
    DemurPatientImage image;
    if (a->kind != DEMUR_ANNOTATION_KEY_IMAGE)
      continue;
    const gboolean whole = a->plane == DEMUR_DRAWN_ACQUIRED && !(a->slab_mm > 0);
    ok = whole ? read_slice(p, (size_t)a->slice, a->window_width, a->window_level, &image, error)
               : cut_plane(p, a, &image, error);
    if (!ok)
      break;
    g_autofree char *place = demur_annotation_place(a, p->translate);
    g_autofree char *width = demur_translate_number(p->translate, "%g", a->window_width),
                    *level = demur_translate_number(p->translate, "%g", a->window_level);
    image.words = own(
        p->sheet, g_strdup_printf(demur_format(p->translate, N_("Key image: %s, window %s / %s")),
                                  place, width, level));
    add_drawings(p, a, &image);
    g_array_append_val(keys, image);
  }
  p->sheet->input.n_keys = keys->len;
  p->sheet->input.keys = own(p->sheet, g_array_free(keys, FALSE));
  return ok;
}

/* The table of everything, and its numbers for the JSON. */
static void
add_drawn(Pictures *p) {
  GArray *all = g_array_new(FALSE, TRUE, sizeof(DemurPatientDrawn));
  for (guint i = 0; i < p->drawn->len; i++) {
    const DemurAnnotation *a = p->drawn->pdata[i];
    const DemurPatientDrawn drawn = {.kind = demur_annotation_kind_name(a->kind),
                                     .what = own(p->sheet, demur_annotation_words(a, p->translate)),
                                     .where =
                                         own(p->sheet, demur_annotation_place(a, p->translate)),
                                     .value = a->value,
                                     .sd = a->sd,
                                     .area_mm2 = a->area_mm2,
                                     .unit = own(p->sheet, g_strdup(a->unit)),
                                     .user = own(p->sheet, g_strdup(a->user)),
                                     .created = own(p->sheet, g_strdup(a->created))};
    g_array_append_val(all, drawn);
    if (g_strcmp0(a->created, p->sheet->input.created) > 0)
      p->sheet->input.created = drawn.created;
  }
  p->sheet->input.n_drawn = all->len;
  p->sheet->input.drawn = own(p->sheet, g_array_free(all, FALSE));
}

/* The middle slice in the lung window. */
static gboolean
add_middle(const Pictures *p, GError **error) {
  const DemurCtPreset *lung = &demur_ct_presets[DEMUR_CT_PRESET_LUNG];
  const size_t middle = p->series->n_slices / 2;
  DemurPatientImage *image = &p->sheet->input.image;
  if (!read_slice(p, middle, lung->width, lung->level, image, error))
    return FALSE;
  image->words =
      own(p->sheet,
          g_strdup_printf(
              demur_format(p->translate, N_("Slice %zu of %zu, lung window (%g ± %g HU)%s")),
              middle + 1, p->series->n_slices, lung->level, lung->width / 2.0,
              p->series->lossy ? demur_translate(p->translate, N_(", lossy compressed")) : ""));
  return TRUE;
}

gboolean
demur_sheet_images(DemurTask *task, DemurPatientSheet *sheet, gint64 until, GError **error) {
  g_autoptr(DemurSeries) series = demur_task_reopen(task, sheet->input.scan_id, error);
  if (series == NULL)
    return FALSE;
  if (series->n_slices == 0 || series->rows == 0 || series->columns == 0)
    return TRUE;
  g_autofree char *digest = demur_dicom_images_digest(series);
  g_autoptr(GPtrArray) drawn =
      demur_annotations_list(task->workspace, sheet->input.scan_id, digest, until, error);
  if (drawn == NULL)
    return FALSE;
  Pictures p = {.task = task,
                .sheet = sheet,
                .series = series,
                .drawn = drawn,
                .translate = demur_patient_translate(&sheet->input)};
  const gboolean ok = add_middle(&p, error) && add_keys(&p, error);
  if (ok)
    add_drawn(&p);
  demur_volume_free(p.volume);
  return ok;
}
#else
gboolean
demur_sheet_images(DemurTask *task, DemurPatientSheet *sheet, gint64 until, GError **error) {
  return TRUE;
}
#endif
