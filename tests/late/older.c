#include "late/older.h"

void
demur_older_answer(DemurOlderAnswer *answer) {
  answer->answer = 42;
}
