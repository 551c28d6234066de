/* Plain C for every processor: four lanes, a tile of 6 x 8, products rounded before they are
 * added. */
#include <string.h>

#include "base/tiny-numbers.h"
#include "selector/mlp-kernel.h"

typedef float Vector __attribute__((vector_size(16)));
typedef int Mask __attribute__((vector_size(16)));
#define LANES 4
#define TILE_VECTORS 2
#define ROW_VECTORS 8
#define SPLAT(x) ((Vector){x, x, x, x})
#define MADD(a, b, c) ((a) * (b) + (c))
#define POSITIVE(x) ((Vector)((Mask)(x) & ((x) > SPLAT(0.0f))))
#define NONZERO_BITS(x) nonzero_lanes(x)
#define KERNEL(name) portable_##name

static inline __attribute__((always_inline)) guint32
nonzero_lanes(Vector x) {
#if defined(__SSE__)
  return (guint32)_mm_movemask_ps((Vector)(x != SPLAT(0.0f)));
#else
  const Mask bits = (x != SPLAT(0.0f)) & (Mask){1, 2, 4, 8};
  return (guint32)(bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

#include "selector/mlp-tiles.inc"

const DemurMlpKernel demur_mlp_portable = {"portable",       DEMUR_PROCESSOR_PLAIN,
                                           portable_first,   portable_transpose,
                                           portable_forward, portable_backward};
