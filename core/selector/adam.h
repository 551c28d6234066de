/* Adam (Kingma and Ba 2015) with global-norm clipping and L2 added to the gradient, in PyTorch's
 * order. */
#pragma once

#include <glib.h>

#include "selector/real.h"

G_BEGIN_DECLS

typedef struct {
  double learning_rate; /* 1e-3 */
  double weight_decay;  /* 1e-5, added to the gradient after clipping, biases too */
  double clip;          /* 10: the largest global l2 norm; 0 or less: no clipping */
} DemurAdamSettings;

typedef struct {
  size_t n;
  guint64 step;   /* updates made */
  double *first;  /* [n] m */
  double *second; /* [n] v */
} DemurAdam;

DemurAdam *demur_adam_new(size_t n_parameters);
void demur_adam_free(DemurAdam *adam);

/* One step: parameters [n] change; gradient [n] is overwritten. Returns the norm before clipping.
 */
double demur_adam_step(DemurAdam *adam, const DemurAdamSettings *settings, DemurReal *gradient,
                       DemurReal *parameters);

G_END_DECLS
