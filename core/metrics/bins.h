/* Bins of equal mass over ascending risk, for what is shown bin by bin (reliability diagrams, the
 * parts of the Brier score). The loops that need speed cut theirs in selective.c, by the same rule:
 * the first n mod m bins hold one scan more; a block of equal risk that an edge cuts gives both
 * bins its mean outcome. Of weighted outcomes all bins hold the same mass. */
#pragma once

#include "metrics/outcomes.h"

G_BEGIN_DECLS

#define DEMUR_MAX_BINS 15

typedef struct {
  size_t n_bins; /* max(1, min(15, floor(n / min_bin_size))), n the scans whose outcome is known;
                    0: none */
  double n_known[DEMUR_MAX_BINS];        /* scans with a known outcome */
  double mass[DEMUR_MAX_BINS];           /* sum of c w */
  double risks[DEMUR_MAX_BINS];          /* sum of c w r */
  double squared_risks[DEMUR_MAX_BINS];  /* sum of c w r^2 */
  double positives[DEMUR_MAX_BINS];      /* sum of c w y */
  double risk_positives[DEMUR_MAX_BINS]; /* sum of c w r y */
  double squares[DEMUR_MAX_BINS]; /* sum of f^2 c w^2, f the share of its block in the bin: the
                                     effective size is mass^2 / squares */
} DemurBins;

/* O(n). */
void demur_bins_fill(DemurBins *bins, const DemurOutcomes *outcomes, size_t min_bin_size);

/* The same with so many bins, 1 to DEMUR_MAX_BINS; none where fewer scans are known. */
void demur_bins_fill_number(DemurBins *bins, const DemurOutcomes *outcomes, size_t n_bins);

/* The number of bins for n scans; 0 for none. */
size_t demur_bins_count(size_t n, size_t min_bin_size);

G_END_DECLS
