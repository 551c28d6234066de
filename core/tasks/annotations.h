/* What readers draw on images: kept with who and when, found again on the same images alone, and in
 * words. No verdict is touched by it. */
#pragma once

#include "base/translate.h"
#include "store/annotations.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* Keeps it as the task's user, now, and sets its id; user and created of annotation are not read.
 * Errors as demur_annotations_save. */
gboolean demur_task_annotate(DemurTask *task, DemurAnnotation *annotation,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes those off, all or none. */
gboolean demur_task_annotations_take_off(DemurTask *task, const gint64 *ids, size_t n,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAnnotation on these images (owned), oldest first. */
GPtrArray *demur_task_annotations(DemurTask *task, const char *scan_id, const char *images_digest,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What was measured (owned): "12.3 mm", "45.0°", "mean −812.0 HU, sd 34.0, 214.0 mm²"; "key image".
 * In pixels where no spacing is known. */
char *demur_annotation_words(const DemurAnnotation *annotation, DemurTranslate translate);

/* Where (owned): "slice 61 of 122, mean of 5 mm", "coronal 256 of 512". */
char *demur_annotation_place(const DemurAnnotation *annotation, DemurTranslate translate);

G_END_DECLS
