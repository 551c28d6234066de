/* The images of one scan: read by a worker, first one slice, then the whole volume; immutable and
 * shared from then on. What is inside is ui/image-data.h, for the view alone. */
#pragma once

#include "ui/job.h"

G_BEGIN_DECLS

typedef struct DemurImage DemurImage;

DemurImage *demur_image_ref(DemurImage *image);
void demur_image_unref(DemurImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurImage, demur_image_unref)

/* Whose images these are: looked at again before they are shown. */
const char *demur_image_scan_id(const DemurImage *image);
/* What the images hold, as a digest: what is drawn is bound to it. */
const char *demur_image_digest(const DemurImage *image);
/* Whether the whole is there, with positions along one normal. */
gboolean demur_image_is_volume(const DemurImage *image);

/* Whether all slices are there, with or without positions. */
gboolean demur_image_is_whole(const DemurImage *image);

/* Reads one slice of an image whose rest is not there yet; done gets another such image that shows
 * it (given over), or the error. */
DemurJob *demur_image_load_slice(DemurImage *part, size_t slice, GObject *owner, guint64 tag,
                                 DemurJobDone done);

/* Starts reading. part gets a DemurImage with the middle slice, done the whole one; both are given
 * over. Errors say what is wrong with which file. */
DemurJob *demur_image_load(const char *workspace, const char *scan_id, GObject *owner, guint64 tag,
                           DemurJobPart part, DemurJobDone done);

G_END_DECLS
