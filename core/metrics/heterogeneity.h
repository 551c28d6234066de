/* How much estimates of several hospitals differ beyond chance: random effects.
 *
 *   w_i = 1/s_i^2,  y_f = sum w y / sum w,  Q = sum w (y - y_f)^2
 *   tau^2 = max(0, (Q - (k-1)) / (sum w - sum w^2 / sum w))
 *   I^2   = max(0, (Q - (k-1)) / Q)
 *   y = sum w* y_i / sum w*,  w* = 1 / (s_i^2 + tau^2),  se = 1 / sqrt(sum w*)
 *   a new hospital: y +- t_(k-2) sqrt(tau^2 + se^2)
 *
 * DerSimonian and Laird 1986; I^2: Higgins and Thompson 2002; prediction: Higgins, Thompson and
 * Spiegelhalter 2009. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  size_t k;                             /* estimates that were used */
  double tau2, i2, q;                   /* NaN below two estimates */
  double mean, low, high;               /* together, 95 % */
  double predicted_low, predicted_high; /* where a new hospital's lies, 95 %; NaN below three */
} DemurHeterogeneity;

/* values [n] with standard errors [n]; those that are not finite or not positive are left out. O(n)
 */
DemurHeterogeneity demur_heterogeneity(const double *values, const double *errors, size_t n);

G_END_DECLS
