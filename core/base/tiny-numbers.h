/* Numbers below the smallest normal one (1.2e-38 in single precision) as 0, while products are summed.
 *
 * Weights that nothing asks for decay towards 0 through them, and some processors take a hundred times as long for each
 * product with one. In a sum beside numbers of usual size they change no bit. */
#pragma once

#include <glib.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* From begin to end, of the calling thread: tiny operands count as 0, and tiny results become 0. end gets what begin gave. */
static inline guint64
demur_tiny_numbers_begin(void) {
#if defined(__SSE2__)
  const guint32 before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u); /* flush to zero, denormals are zero */
  return before;
#elif defined(__aarch64__)
  guint64 before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | (guint64)1 << 24) : "memory"); /* FZ */
  return before;
#else
  return 0;
#endif
}

static inline void
demur_tiny_numbers_end(guint64 before) {
#if defined(__SSE2__)
  _mm_setcsr((guint32)before);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory");
#endif
}
