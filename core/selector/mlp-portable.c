/* Plain C for every processor: four lanes, a tile of 6 x 8, products rounded before they are
 * added. */
#include <string.h>

#include "base/tiny-numbers.h"
#include "selector/mlp-kernel.h"

typedef float Vector __attribute__((vector_size(16)));
typedef int Mask __attribute__((vector_size(16)));
#define LANES 4
#define TILE_VECTORS 2
#define SPLAT(x) ((Vector){x, x, x, x})
#define MADD(a, b, c) ((a) * (b) + (c))
#define POSITIVE(x) ((Vector)((Mask)(x) & ((x) > SPLAT(0.0f))))
#define KERNEL(name) portable_##name

#include "selector/mlp-tiles.inc"

const DemurMlpKernel demur_mlp_portable = {"portable", DEMUR_PROCESSOR_PLAIN, portable_first,
                                           portable_forward, portable_backward};
