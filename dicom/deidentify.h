/* De-identified copies of CT images: the Basic Application Level Confidentiality Profile of PS3.15
 * annex E with the option "Retain Longitudinal Temporal Information with Modified Dates".
 *
 * Made the other way round than the table of the standard: what is on a short list of technical
 * attributes stays (and everything on that list may stay by the profile), all else goes, in
 * sequences too: names, comments, descriptions, device and station names, private groups, overlays,
 * curves. UIDs are replaced by keyed digests of themselves, so that images, series, studies and
 * frames of reference stay together; PatientID and name by one of patient and key; dates go back by
 * one number of days a patient, made from the key. Only CT images are copied, and none that says it
 * has text burned in: a screen capture or a report may show a name in its pixels. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "dicom/files.h"

G_BEGIN_DECLS

#define DEMUR_DEIDENTIFY_MIN_KEY 16 /* bytes */

typedef struct {
  size_t n_written;
  GPtrArray *skipped; /* DemurSkipped: with the reason */
} DemurDeidentified;

/* Copies every CT image found at paths to folder/STUDY/SERIES/INSTANCE.dcm under their new UIDs.
 * key [key_length]: secret; the same key gives the same identities, another key others. Who has the
 * key and the originals can find a person again: keep it or destroy it. DEMUR_ERROR_EXISTS where
 * folder holds something already. */
DemurDeidentified *demur_deidentify(const char *const *paths, const char *folder, const void *key,
                                    size_t key_length, DemurParallel *parallel,
                                    const DemurProgress *progress,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_deidentified_free(DemurDeidentified *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurDeidentified, demur_deidentified_free)

/* Whether an element may stand in a de-identified object: on the list, or set by the profile. For
 * the tests' own walk. */
gboolean demur_deidentify_may_stand(guint32 tag);

G_END_DECLS
