#include "report/paper.h"

/* ISO 216 and ANSI Y14.1. */
static const DemurPaperRow papers[DEMUR_N_PAPERS] = {
    [DEMUR_PAPER_A4] = {"a4", 595.276, 841.89},
    [DEMUR_PAPER_LETTER] = {"letter", 612, 792},
};

const DemurPaperRow *
demur_paper_row(DemurPaper paper) {
  return &papers[paper];
}

gboolean
demur_paper_from_name(const char *name, DemurPaper *paper) {
  for (int p = 0; p < DEMUR_N_PAPERS; p++)
    if (g_ascii_strcasecmp(name, papers[p].name) == 0) {
      *paper = (DemurPaper)p;
      return TRUE;
    }
  return FALSE;
}
