/* The one place that sets up the BLAS. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes OpenBLAS use the calling thread only: a product's last digits depend on the BLAS's own
 * number of threads, and every parallel loop of this program is a DemurParallel map, inside which
 * any number of BLAS calls may run side by side. Call it once, at the start of a program, before
 * the first product; a second call changes nothing. Needed by every user of cblas.h (core/features
 * needs none: its one product is its own, see features/distances.h). */
void demur_blas_init(void);

G_END_DECLS
