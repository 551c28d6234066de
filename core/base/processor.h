/* Which of the processor's instructions the numeric rooms compute with.
 *
 * Code for fused multiply-adds (AVX-512, AVX2 with FMA) rounds a product and its sum once, plain
 * code twice: so their last digits differ, and one choice holds for every room of the program. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_PROCESSOR_PLAIN, /* what every processor of the architecture has */
  DEMUR_PROCESSOR_AVX2,  /* with FMA */
  DEMUR_PROCESSOR_AVX512,
} DemurProcessor;

/* Whether this processor has them; asks it itself. */
gboolean demur_processor_has(DemurProcessor level);

/* The highest level to compute with: what the processor has, or less where it was limited. */
DemurProcessor demur_processor_level(void);

/* Nothing above this level is used from now on. To be called at start, before any work: it holds
 * for the whole process. */
void demur_processor_limit(DemurProcessor level);

G_END_DECLS
