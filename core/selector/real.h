/* The selector's number type: float in the program, double in the tests that compare with golden
 * numbers (the library demur-selector-double is the same source with DEMUR_REAL_DOUBLE). */
#pragma once

#include "base/blas.h"

#ifdef DEMUR_REAL_DOUBLE
typedef double DemurReal;
#define demur_real_multiply demur_blas_multiply
#else
typedef float DemurReal;
#define demur_real_multiply demur_blas_multiply_float
#endif
