/* Newton's method for a convex function whose value and derivatives are sums that somebody else
 * makes: over rows here (metrics/offset-logistic.h), or at hospitals that tell no rows
 * (evaluation/federate-merge.h). Both take the same steps and end at the same place. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_NEWTON_VALUE,       /* wants the function's value at `at` */
  DEMUR_NEWTON_DERIVATIVES, /* wants gradient and Hessian there */
  DEMUR_NEWTON_ENDED,       /* `at` is where it ended */
} DemurNewtonState;

typedef enum {
  DEMUR_NEWTON_CONVERGED, /* the step is small, or gains less than rounding */
  DEMUR_NEWTON_STEPS,     /* there were too many */
  DEMUR_NEWTON_HALVINGS, /* no part of the step is better: of rounding, or of derivatives that are not the value's */
  DEMUR_NEWTON_SINGULAR, /* the Hessian is not positive, or something is not finite */
} DemurNewtonEnding;

/* "converged", "steps", "halvings", "singular" */
const char *demur_newton_ending_name(DemurNewtonEnding ending);

/* All there is to know between two steps: plain values, so that they can be written down. */
typedef struct {
  DemurNewtonState state;
  size_t m;
  double *at;       /* [m] */
  double *accepted; /* [m] the last point that was taken */
  double *step;     /* [m] from there */
  gboolean begun;   /* whether a value came: */
  double value;     /* at accepted */
  double scale;     /* of the step */
  guint n_steps, n_halvings;
  DemurNewtonEnding ending; /* where it ended: why */
} DemurNewton;

/* Begins at start [m]. */
DemurNewton *demur_newton_new(const double *start, size_t m);
DemurNewton *demur_newton_copy(const DemurNewton *newton);
void demur_newton_free(DemurNewton *newton);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurNewton, demur_newton_free)

/* What it wanted. A point that is no better than the last halves the step. */
void demur_newton_value(DemurNewton *newton, double value);
/* gradient [m], hessian [m][m] with its lower triangle filled, which is overwritten. Ends where the
 * step is small, gains less than rounding, or is none (the Hessian is not positive). */
void demur_newton_derivatives(DemurNewton *newton, const double *gradient, double *hessian);

G_END_DECLS
