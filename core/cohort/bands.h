/* Bands of a column of numbers, so that results can be split by it: "50 to <60". */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* A text column all of whose values are numbers, with more than DEMUR_BANDS_FEW of them, in bands
 * of a round width (1, 2 or 5 times a power of ten) so that about five hold nine tenths of the
 * scans; the first and the last are open. */
#define DEMUR_BANDS_FEW 12

typedef struct {
  size_t n_bands;
  char **names;     /* [n_bands] ascending: "<50", "50 to <60", "60 and more", last "" where some
                       scan has no number */
  size_t *of_value; /* [n_values of the attribute], index into names */
} DemurBands;

/* NULL where the column is no such (owned). rows: those that the width is chosen from. */
DemurBands *demur_bands_new(const DemurCohort *cohort, size_t attribute, const guint32 *rows,
                            size_t n_rows);
void demur_bands_free(DemurBands *bands);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurBands, demur_bands_free)

G_END_DECLS
