/* Whether a selector that was read can give every scan a finite score.
 *
 * A file's digest says that it is as it was written, not that a program wrote it: weights of 1e38
 * or a standard deviation of 1e-300 overflow to infinity, and the score is no number. What the
 * file's numbers can do at most is worked out from their magnitudes when it is read (interval
 * arithmetic, one pass over the parameters); what a scan's own numbers make of them is checked
 * where meta features are computed. */
#pragma once

#include "selector/selector-private.h"

G_BEGIN_DECLS

/* Standardised inputs beyond this many standard deviations are refused with their scan. */
#define DEMUR_SELECTOR_MAX_INPUT 1e15

/* DEMUR_ERROR_INPUT naming the member whose numbers overflow. */
gboolean demur_selector_check_sound(const DemurSelector *selector,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_NUMERIC naming the scan and the meta feature that is no number or lies beyond. meta
 * [n_rows][columns->n_columns], of these rows of the cohort. */
gboolean demur_selector_check_meta(const DemurSelector *selector, const DemurCohort *cohort,
                                   const guint32 *rows, size_t n_rows, const double *meta,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_NUMERIC naming the scan whose risk, [n_rows][k] of these rows, lies outside 0 to 1.
 */
gboolean demur_selector_check_risks(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                                    const double *risks, size_t k,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
