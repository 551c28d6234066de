#include "late/newer.h"

#ifdef OTHER_BUILD
extern const char demur_late_build[];
const char demur_late_build[] = "0000000000000000000000000000000000000000000000000000000000000000";
#endif

void
demur_newer_answer(DemurNewerAnswer *answer) {
  answer->answer = 42;
}
