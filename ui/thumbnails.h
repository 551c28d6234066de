/* Small pictures of series: the middle slice of each in the lung window, read one after another by a
 * worker from that slice's own file. */
#pragma once

#include <gdk/gdk.h>

#include "ui/job.h"

G_BEGIN_DECLS

typedef struct {
  char *scan_id;
  GdkTexture *texture;
} DemurThumbnail;

void demur_thumbnail_free(DemurThumbnail *thumbnail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurThumbnail, demur_thumbnail_free)

#define DEMUR_THUMBNAIL_SIZE 56 /* pixels at most, of width and height */

/* part gets a DemurThumbnail of each scan (given over) as it comes; those that can't be read alone
 * (tasks/open-slice.h) have none. done gets nothing. scan_ids: NULL-terminated, copied. */
DemurJob *demur_thumbnails_load(const char *workspace, const char *const *scan_ids, GObject *owner,
                                guint64 tag, DemurJobPart part, DemurJobDone done);

G_END_DECLS
