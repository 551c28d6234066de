#include "ui/page.h"

static const char *const names[DEMUR_N_PAGES] = {
    [DEMUR_PAGE_WORKLIST] = "worklist", [DEMUR_PAGE_PATIENT] = "patient",
    [DEMUR_PAGE_COHORT] = "cohort",     [DEMUR_PAGE_REPORT] = "report",
    [DEMUR_PAGE_WATCH] = "watch",
};

const char *
demur_page_name(DemurPage page) {
  g_return_val_if_fail(page >= 0 && page < DEMUR_N_PAGES, NULL);
  return names[page];
}

gboolean
demur_page_from_name(const char *name, DemurPage *page) {
  for (int p = 0; p < DEMUR_N_PAGES; p++)
    if (g_strcmp0(name, names[p]) == 0) {
      *page = (DemurPage)p;
      return TRUE;
    }
  return FALSE;
}
