#include "tasks/annotations.h"
#include "base/translate.h"

#include <math.h>
#include <string.h>

#include "report/format.h"

gboolean
demur_task_annotate(DemurTask *task, DemurAnnotation *annotation, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  g_autofree char *now = demur_task_now(task);
  DemurAnnotation kept = *annotation;
  kept.user = task->user;
  kept.created = now;
  const gboolean ok = demur_annotations_save(workspace, &kept, error);
  annotation->id = ok ? kept.id : 0;
  return ok;
}

gboolean
demur_task_annotations_take_off(DemurTask *task, const gint64 *ids, size_t n, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return FALSE;
  g_autofree char *now = demur_task_now(task);
  gboolean ok = TRUE;
  for (size_t i = 0; i < n && ok; i++)
    ok = demur_annotations_take_off(workspace, ids[i], task->user, now, error);
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

GPtrArray *
demur_task_annotations(DemurTask *task, const char *scan_id, const char *images_digest,
                       GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL ? demur_annotations_list(workspace, scan_id, images_digest, 0, error)
                           : NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static char *
region_words(const DemurAnnotation *a, DemurTranslate translate) {
  if (a->n_pixels == 0)
    return g_strdup(demur_translate(translate, N_("no pixel lies within")));
  g_autofree char *mean = demur_text_formatted("%.1f", fabs(a->value));
  g_autofree char *sd =
      isnan(a->sd) ? g_strdup(DEMUR_TEXT_UNDEFINED) : demur_text_formatted("%.1f", a->sd);
  g_autofree char *area = demur_text_formatted("%.1f", a->area_mm2);
  g_autofree char *size =
      isnan(a->area_mm2)
          ? g_strdup_printf(demur_translate(translate, N_("%zu pixels")), (size_t)a->n_pixels)
          : g_strdup_printf("%s mm²", area);
  return g_strdup_printf(demur_translate(translate, N_("mean %s%s %s, sd %s, %s")),
                         a->value < 0 ? "−" : "", mean, a->unit, sd, size);
}

char *
demur_annotation_words(const DemurAnnotation *a, DemurTranslate translate) {
  g_autofree char *number = isnan(a->value) ? NULL : demur_text_formatted("%.1f", a->value);
  switch (a->kind) {
  case DEMUR_ANNOTATION_REGION:
    return region_words(a, translate);
  case DEMUR_ANNOTATION_ANGLE:
    return number != NULL
               ? g_strdup_printf("%s°", number)
               : g_strdup(demur_translate(translate, N_("no angle: the spacing is not known")));
  case DEMUR_ANNOTATION_LENGTH:
    return a->in_pixels ? g_strdup_printf(demur_translate(translate, N_("%s pixels")), number)
                        : g_strdup_printf("%s mm", number);
  default:
    return g_strdup(demur_translate(translate, N_("key image")));
  }
}

char *
demur_annotation_place(const DemurAnnotation *a, DemurTranslate translate) {
  static const char *const formats[DEMUR_N_DRAWN_PLANES] = {
      [DEMUR_DRAWN_ACQUIRED] = N_("slice %zu of %zu"),
      [DEMUR_DRAWN_CORONAL] = N_("coronal %zu of %zu"),
      [DEMUR_DRAWN_SAGITTAL] = N_("sagittal %zu of %zu")};
  static const char *const slabs[DEMUR_N_DRAWN_SLABS] = {
      [DEMUR_DRAWN_MAXIMUM] = N_("%s, maximum of %s mm"),
      [DEMUR_DRAWN_MEAN] = N_("%s, mean of %s mm"),
      [DEMUR_DRAWN_MINIMUM] = N_("%s, minimum of %s mm")};
  g_autofree char *place = g_strdup_printf(demur_translate(translate, formats[a->plane]),
                                           (size_t)a->number, (size_t)a->n_slices);
  if (!(a->slab_mm > 0))
    return g_steal_pointer(&place);
  g_autofree char *mm = demur_text_formatted("%.0f", a->slab_mm);
  return g_strdup_printf(demur_translate(translate, slabs[a->slab]), place, mm);
}

#pragma GCC diagnostic pop
