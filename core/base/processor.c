#include "base/processor.h"

static gint limit = DEMUR_PROCESSOR_AVX512;

gboolean
demur_processor_has(DemurProcessor level) {
  switch (level) {
  case DEMUR_PROCESSOR_AVX512:
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#else
    return FALSE;
#endif
  case DEMUR_PROCESSOR_AVX2:
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return FALSE;
#endif
  case DEMUR_PROCESSOR_PLAIN:
  default:
    return TRUE;
  }
}

DemurProcessor
demur_processor_level(void) {
  DemurProcessor level = (DemurProcessor)g_atomic_int_get(&limit);
  while (!demur_processor_has(level))
    level--;
  return level;
}

void
demur_processor_limit(DemurProcessor level) {
  g_atomic_int_set(&limit, (gint)level);
}
