/* NEON of aarch64: four lanes, a tile of 6 x 16 in 24 of 32 registers. */
#ifdef __aarch64__

#include <arm_neon.h>
#include <string.h>

#include "base/tiny-numbers.h"
#include "selector/mlp-kernel.h"

typedef float32x4_t Vector;
typedef int Mask __attribute__((vector_size(16)));
#define LANES 4
#define TILE_VECTORS 4
#define SPLAT(x) vdupq_n_f32(x)
#define MADD(a, b, c) vfmaq_f32(c, a, b)
#define POSITIVE(x) vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vcgtzq_f32(x)))
#define KERNEL(name) neon_##name

#include "selector/mlp-tiles.inc"

const DemurMlpKernel demur_mlp_neon = {"neon",         DEMUR_PROCESSOR_PLAIN, neon_first,
                                       neon_transpose, neon_forward,          neon_backward};

#endif
