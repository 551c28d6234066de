/* Risks with their outcomes, as every measure takes them.
 *
 * A sample is count-weighted: a resampled split is a vector of counts over its scans, so that one
 * sort by risk serves every resample. A scan whose outcome is not known has weight 0 and another
 * stands for it (metrics/censoring.h); its label is not looked at, its count is. Scans of equal
 * risk are one block: they share their mean outcome, so that no number hangs on their order. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  size_t n;
  const double *risks;   /* [n] ascending */
  const double *labels;  /* [n] in {0, 1} */
  const guint32 *counts; /* [n] how often each stands in the sample, 0 allowed; NULL: once each */
  const double *weights; /* [n] of the outcome, 0 where not known; NULL: 1, all are known */
} DemurOutcomes;

/* Scans of one risk. Without weights mass = n_known = squares. */
typedef struct {
  double risk;
  double n_known;                   /* scans with a known outcome, with multiplicity */
  double mass, positives;           /* sum c w,  sum c w y */
  double squares, positive_squares; /* sum c w^2,  sum c w^2 y */
} DemurBlock;

static inline double
demur_outcomes_mass(const DemurOutcomes *o, size_t i) {
  const double count = o->counts != NULL ? (double)o->counts[i] : 1.0;
  return o->weights != NULL ? count * o->weights[i] : count;
}

/* The block that begins at entry i < n; returns where the next begins. It may be empty (mass 0). */
static inline size_t
demur_outcomes_block(const DemurOutcomes *o, size_t i, DemurBlock *block) {
  *block = (DemurBlock){.risk = o->risks[i]};
  for (; i < o->n && o->risks[i] == block->risk; i++) {
    const double count = o->counts != NULL ? (double)o->counts[i] : 1.0;
    const double weight = o->weights != NULL ? o->weights[i] : 1.0;
    if (!(count * weight > 0.0))
      continue;
    block->n_known += count;
    block->mass += count * weight;
    block->positives += count * weight * o->labels[i];
    block->squares += count * weight * weight;
    block->positive_squares += count * weight * weight * o->labels[i];
  }
  return i;
}

G_END_DECLS
