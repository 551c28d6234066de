/* De-identified copies of CT images: the Basic Application Level Confidentiality Profile of PS3.15
 * annex E with the option "Retain Longitudinal Temporal Information with Modified Dates".
 *
 * Made the other way round than the table of the standard: what is on a short list of technical
 * attributes stays (and everything on that list may stay by the profile), all else goes, in
 * sequences too: names, comments, descriptions, device and station names, private groups, overlays,
 * curves. Of what stays, the values are looked at (dicom/deidentify-values.h): numbers must be
 * numbers, codes words that are known. UIDs are replaced by keyed digests of themselves, so that
 * images, series, studies and frames of reference stay together; PatientID and name by one of
 * patient and key; dates and times go back by one span a patient, made from the key.
 *
 * Pixels are decoded and written anew, uncompressed (dicom/native-pixels.h): nothing but the
 * picture gets through. Only CT images are copied, and none that says it has text burned in: a
 * screen capture or a report may show a name in its pixels. What can't be cleaned is left behind,
 * with the reason. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "dicom/files.h"

G_BEGIN_DECLS

#define DEMUR_DEIDENTIFY_MIN_KEY 16 /* bytes */

/* What became of one attribute over all copies; never its values. */
typedef struct {
  guint32 tag;      /* 0: all private elements */
  char *name;       /* its keyword */
  size_t n_removed; /* elements */
  size_t n_cleaned; /* of which some values or parts of them stayed, or were replaced */
} DemurDeidentifiedTag;

typedef struct {
  size_t n_written;
  size_t n_outside_bits;  /* copies whose pixels held something outside their stored bits */
  size_t n_behind_pixels; /* copies with bytes behind their pixels */
  size_t n_decompressed;  /* copies whose pixels were compressed */
  GPtrArray *tags;        /* DemurDeidentifiedTag, ascending */
  GPtrArray *skipped;     /* DemurSkipped: with the reason */
} DemurDeidentified;

void demur_deidentified_tag_free(DemurDeidentifiedTag *tag);

/* Copies every CT image found at paths to folder/STUDY/SERIES/INSTANCE.dcm under their new UIDs.
 * key [key_length]: secret; the same key gives the same identities, another key others. Who has the
 * key and the originals can find a person again: keep it or destroy it. DEMUR_ERROR_EXISTS where
 * folder holds something already, DEMUR_ERROR_USAGE where the key is shorter than
 * DEMUR_DEIDENTIFY_MIN_KEY, DEMUR_ERROR_OUTPUT where a copy can't be written, DEMUR_ERROR_INPUT where
 * one can't be made: the copies before it stand. */
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
