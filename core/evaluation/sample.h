/* The split under evaluation: its scans in ascending risk, and its resamples as vectors of counts.
 */
#pragma once

#include "base/random.h"
#include "cohort/cohort.h"

G_BEGIN_DECLS

/* What a resample draws with replacement. */
typedef enum {
  DEMUR_UNIT_SCAN,
  DEMUR_UNIT_PATIENT,
  DEMUR_UNIT_SITE,
} DemurUnit;

const char *demur_unit_name(DemurUnit unit); /* "scan", "patient", "site" */
gboolean demur_unit_from_name(const char *name, DemurUnit *unit,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  size_t n, n_classes;
  gboolean top_label;  /* K > 2: labels are "argmax is right" */
  guint32 *rows;       /* [n] row in the cohort; entries stand in ascending risk, ties by row */
  double *risks;       /* [n] r, or max p */
  double *labels;      /* [n] in {0, 1} */
  double *differences; /* [n] y - r */
  double *confidences; /* [n] max p */
  gint32 *classes;     /* [n] the true class */
  size_t n_patients, n_sites; /* in this split */
  guint32 *patients;          /* [n] in [0, n_patients): a patient seen at two sites is two */
  guint32 *sites;             /* [n] in [0, n_sites) */
} DemurSample;

/* Rows of the cohort; every one needs a label: DEMUR_ERROR_STATE with the first scan that has none.
 */
DemurSample *demur_sample_new(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                              const char *split, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_sample_free(DemurSample *sample);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSample, demur_sample_free)

size_t demur_sample_n_units(const DemurSample *sample, DemurUnit unit);

/* counts [n]: one resample of the unit from the stream: as many units drawn with replacement as
 * there are. */
void demur_sample_resample(const DemurSample *sample, DemurUnit unit, DemurRandom random,
                           guint32 *counts);

G_END_DECLS
