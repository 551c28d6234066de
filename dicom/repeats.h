/* Images that were read twice: the same object from another place. Inside this room. */
#pragma once

#include "dicom/stack.h"

G_BEGIN_DECLS

/* Digests of files, made when they are asked for. */
typedef struct {
  const DemurFiles *files; /* borrowed */
  char **digests;          /* [n files] */
  DemurOpenArchive archive;
} DemurRepeats;

void demur_repeats_init(DemurRepeats *repeats, const DemurFiles *files);
void demur_repeats_clear(DemurRepeats *repeats);

/* SHA-256 of the object's bytes; "" where they can't be read (then nothing equals it). */
const char *demur_repeats_digest(DemurRepeats *repeats, const DemurStackImage *image);

/* Marks all but the first of images with the same SOPInstanceUID, position and contents, and sorts them
 * by instance: an array of DemurStackImage. */
void demur_repeats_mark(DemurRepeats *repeats, GPtrArray *images);

G_END_DECLS
