/* Scans by the value of a column: what results are split by, and mixed by. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* The scans of a column's values: a column of many numbers in bands (cohort/bands.h), in their own
 * order; else texts in the order of their bytes, "" for not recorded. */
typedef struct {
  size_t n_values;
  char **values;  /* [n_values], each with at least one scan */
  guint32 *codes; /* [n] of the rows, index into values */
} DemurGrouping;

/* by: "site", the name of an attribute, or "scanner" (manufacturer and model_name together, where
 * no attribute has that very name). FALSE with DEMUR_ERROR_NOT_FOUND and the list of what there is
 * for. */
gboolean demur_grouping_check(const DemurCohort *cohort, const char *by,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether by asks for sites, and not for an attribute. */
gboolean demur_grouping_is_site(const char *by);

/* Whether by asks for the perturbations that a cohort of them was made with. */
gboolean demur_grouping_is_shift(const char *by);

/* Of rows [n] of the cohort; by is known to it. Owned. */
DemurGrouping *demur_grouping_new(const DemurCohort *cohort, const char *by, const guint32 *rows,
                                  size_t n);
void demur_grouping_free(DemurGrouping *grouping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurGrouping, demur_grouping_free)

G_END_DECLS
