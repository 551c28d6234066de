#include "late/absent.h"

int
demur_absent_answer(void) {
  return 42;
}
