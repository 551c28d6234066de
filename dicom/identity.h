/* The identity of a volume never changes its meaning: what a workspace knows as a scan_id stays the
 * volume it was, whatever other volumes of its series come later, in whatever order. */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

/* A volume that was imported before. Texts are borrowed. */
typedef struct {
  const char *scan_id, *series_uid;
  const char *const *sop_instance_uids; /* [n]; NULL where not recorded */
  const guint32 *frames;                /* [n] */
  size_t n;
} DemurKnownVolume;

/* Gives the series of an import the scan_ids under which known holds them: each to the volume that
 * shares most images (SOPInstanceUID and frame) with it, at most one each; ties go to the first of
 * known, then to the first of series. The others of the same SeriesInstanceUID get the lowest ids
 * (UID, UID#2, ..) that neither known nor another of series has. part and n_parts follow. What has
 * no SeriesInstanceUID is named by its contents and left alone. Cost O(images). */
void demur_identity_keep(GPtrArray *series, const DemurKnownVolume *known, size_t n_known);

G_END_DECLS
