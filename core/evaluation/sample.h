/* The split under evaluation: its scans in ascending risk, and its resamples as vectors of counts.
 */
#pragma once

#include "base/random.h"
#include "cohort/cohort.h"
#include "evaluation/unit.h"
#include "metrics/censoring.h"

G_BEGIN_DECLS

typedef struct {
  size_t n, n_classes;
  gboolean top_label;  /* K > 2: labels are "argmax is right" */
  guint32 *rows;       /* [n] row in the cohort; entries stand in ascending risk, ties by scan_id */
  double *risks;       /* [n] r, or max p */
  double *labels;      /* [n] in {0, 1} */
  double *differences; /* [n] y - r */
  double *confidences; /* [n] max p */
  gint32 *classes;     /* [n] the true class; DEMUR_NO_LABEL where it is not known */
  /* Where some scans were left before the horizon, else NULL: what each outcome weighs (0: not
   * known), and how that is fitted anew to a resample (NULL for a part: its weights stay). */
  double *weights; /* [n] */
  DemurCensoring *censoring;
  size_t n_known, n_capped;
  size_t n_patients, n_sites; /* in this split */
  guint32 *patients;          /* [n] in [0, n_patients): a patient seen at two sites is two */
  guint32 *sites;             /* [n] in [0, n_sites) */
} DemurSample;

/* Rows of the cohort. Every one needs a label or, left before the horizon, a time:
 * DEMUR_ERROR_STATE with the first scan that has neither, or where the horizon is too long for
 * these scans (metrics/censoring.h). Nothing in it but the rows depends on their order. */
DemurSample *demur_sample_new(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                              const char *split, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_sample_free(DemurSample *sample);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSample, demur_sample_free)

/* The entries at places [n], ascending, as a sample of their own; their weights are those of the
 * whole. */
DemurSample *demur_sample_part(const DemurSample *whole, const guint32 *places, size_t n);

/* A sample as measures take it: how often each scan was drawn, and what its outcome then weighs. */
typedef struct {
  const guint32 *counts; /* [n]; NULL: each once */
  const double *weights; /* [n]; NULL: 1 */
} DemurDrawn;

/* The sample as it is; a resample, for which G is fitted anew into buffer [n]. */
DemurDrawn demur_sample_as_is(const DemurSample *sample);
DemurDrawn demur_sample_drawn(const DemurSample *sample, const guint32 *counts, double *buffer);

size_t demur_sample_n_units(const DemurSample *sample, DemurUnit unit);

/* counts [n]: one resample of the unit from the stream: as many units drawn with replacement as
 * there are. */
void demur_sample_resample(const DemurSample *sample, DemurUnit unit, DemurRandom random,
                           guint32 *counts);

G_END_DECLS
