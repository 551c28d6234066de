/* A room whose module is another build's, by which the answer lies elsewhere. */
#pragma once

typedef struct {
#ifdef OTHER_BUILD
  int before;
#endif
  int answer;
} DemurOlderAnswer;

void demur_older_answer(DemurOlderAnswer *answer);
