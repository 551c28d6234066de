/*   x' = x - s H(x)^-1 g(x),   s = 1, 1/2, 1/4, .. until f(x') <= f(x)
 *
 * Ends where max |step| <= 1e-10 or the Newton decrement g' H^-1 g <= 1e-14 (1 + |f|): it is twice what
 * the step would still gain, and below the rounding of f comparing values decides nothing. Damped
 * Newton's method: Boyd and Vandenberghe 2004, 9.5. O(m^3) a step. */
#include "metrics/newton.h"

#include <math.h>
#include <string.h>

#define MAX_STEPS 60
#define MAX_HALVINGS 40
#define TOLERANCE 1e-10 /* of the largest change of a coefficient */

DemurNewton *
demur_newton_new(const double *start, size_t m) {
  DemurNewton *newton = g_new0(DemurNewton, 1);
  newton->m = m;
  newton->at = g_memdup2(start, m * sizeof(double));
  newton->accepted = g_memdup2(start, m * sizeof(double));
  newton->step = g_new0(double, m);
  newton->scale = 1.0;
  return newton;
}

DemurNewton *
demur_newton_copy(const DemurNewton *from) {
  DemurNewton *copy = g_memdup2(from, sizeof *from);
  copy->at = g_memdup2(from->at, from->m * sizeof(double));
  copy->accepted = g_memdup2(from->accepted, from->m * sizeof(double));
  copy->step = g_memdup2(from->step, from->m * sizeof(double));
  return copy;
}

void
demur_newton_free(DemurNewton *newton) {
  if (newton == NULL)
    return;
  g_free(newton->at);
  g_free(newton->accepted);
  g_free(newton->step);
  g_free(newton);
}

/* Solves the symmetric positive definite system a [m][m] x = b in place by Cholesky; FALSE where it
 * is not positive. */
static gboolean
solve_positive(double *a, double *b, size_t m) {
  for (size_t j = 0; j < m; j++) {
    double diagonal = a[j * m + j];
    for (size_t k = 0; k < j; k++)
      diagonal -= a[j * m + k] * a[j * m + k];
    if (!(diagonal > 0.0))
      return FALSE;
    a[j * m + j] = sqrt(diagonal);
    for (size_t i = j + 1; i < m; i++) {
      double sum = a[i * m + j];
      for (size_t k = 0; k < j; k++)
        sum -= a[i * m + k] * a[j * m + k];
      a[i * m + j] = sum / a[j * m + j];
    }
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t k = 0; k < i; k++)
      b[i] -= a[i * m + k] * b[k];
    b[i] /= a[i * m + i];
  }
  for (size_t i = m; i-- > 0;) {
    for (size_t k = i + 1; k < m; k++)
      b[i] -= a[k * m + i] * b[k];
    b[i] /= a[i * m + i];
  }
  return TRUE;
}

const char *
demur_newton_ending_name(DemurNewtonEnding ending) {
  static const char *const names[] = {"converged", "steps", "halvings", "singular"};
  return names[ending];
}

static void
end(DemurNewton *newton, DemurNewtonEnding ending) {
  newton->ending = ending;
  memcpy(newton->at, newton->accepted, newton->m * sizeof(double));
  newton->state = DEMUR_NEWTON_ENDED;
}

static void
go(DemurNewton *newton) {
  for (size_t c = 0; c < newton->m; c++)
    newton->at[c] = newton->accepted[c] - newton->scale * newton->step[c];
  newton->state = DEMUR_NEWTON_VALUE;
}

void
demur_newton_value(DemurNewton *newton, double value) {
  g_return_if_fail(newton->state == DEMUR_NEWTON_VALUE);
  const gboolean first = !newton->begun;
  newton->begun = TRUE;
  if (first || value <= newton->value) {
    memcpy(newton->accepted, newton->at, newton->m * sizeof(double));
    newton->value = value;
    newton->state = DEMUR_NEWTON_DERIVATIVES;
    if (!first && ++newton->n_steps == MAX_STEPS)
      end(newton, DEMUR_NEWTON_STEPS);
    return;
  }
  newton->scale *= 0.5;
  if (++newton->n_halvings < MAX_HALVINGS)
    go(newton);
  else
    end(newton, DEMUR_NEWTON_HALVINGS);
}

void
demur_newton_derivatives(DemurNewton *newton, const double *gradient, double *hessian) {
  g_return_if_fail(newton->state == DEMUR_NEWTON_DERIVATIVES);
  const size_t m = newton->m;
  memcpy(newton->step, gradient, m * sizeof(double));
  double largest = 0.0, decrement = 0.0;
  const gboolean solved = solve_positive(hessian, newton->step, m);
  for (size_t c = 0; solved && c < m; c++) {
    largest = fmax(largest, fabs(newton->step[c]));
    decrement += gradient[c] * newton->step[c];
  }
  if (!solved || !isfinite(largest) || !isfinite(decrement)) {
    end(newton, DEMUR_NEWTON_SINGULAR);
    return;
  }
  if (!(largest > TOLERANCE) || !(decrement > 1e-14 * (1.0 + fabs(newton->value)))) {
    end(newton, DEMUR_NEWTON_CONVERGED);
    return;
  }
  newton->scale = 1.0;
  newton->n_halvings = 0;
  go(newton);
}
