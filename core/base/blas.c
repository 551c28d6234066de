#include "base/blas.h"

#include <cblas.h>

void
demur_blas_init(void) {
  openblas_set_num_threads(1);
}
