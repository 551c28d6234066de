/* Standardising columns: z = (x - mean) / sd, with the mean and the population standard deviation
 * (divided by n) of the rows it was fitted on.
 *
 * A column with at most two distinct values is left as it is (mean 0, sd 1: indicators stay 0 and
 * 1), and so is the scale of a column whose sd is 0 (golden/scaler.json). Immutable once made. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurScaler DemurScaler;

/* Fits on values [n][d], n >= 1, all finite (refused with row and column: DEMUR_ERROR_INPUT). Two
 * passes in double, so a large mean costs no digits. */
DemurScaler *demur_scaler_fit(const double *values, size_t n, size_t d,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurScaler *demur_scaler_fit_floats(const float *values, size_t n, size_t d,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* From stored arrays means [d], sds [d] (copied): finite, every sd > 0, else DEMUR_ERROR_INPUT. */
DemurScaler *demur_scaler_new_from_arrays(const double *means, const double *sds, size_t d,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

DemurScaler *demur_scaler_ref(DemurScaler *scaler);
void demur_scaler_unref(DemurScaler *scaler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScaler, demur_scaler_unref)

size_t demur_scaler_width(const DemurScaler *scaler);        /* d */
const double *demur_scaler_means(const DemurScaler *scaler); /* [d], borrowed */
const double *demur_scaler_sds(const DemurScaler *scaler);   /* [d], borrowed */

/* in [n][d] -> out [n][d]; out may be in itself for the double form. */
void demur_scaler_apply(const DemurScaler *scaler, const double *in, size_t n, double *out);
void demur_scaler_apply_floats(const DemurScaler *scaler, const float *in, size_t n, double *out);

G_END_DECLS
