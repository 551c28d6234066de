/* The pages of the window: the one table of what they are called where an action, an option or the
 * stack wants text. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In the order in which the header shows them. */
typedef enum {
  DEMUR_PAGE_ANY = -1, /* no page in particular */
  DEMUR_PAGE_WORKLIST,
  DEMUR_PAGE_PATIENT,
  DEMUR_PAGE_COHORT,
  DEMUR_PAGE_REPORT,
  DEMUR_PAGE_WATCH,
  DEMUR_N_PAGES,
} DemurPage;

/* "worklist", "patient", "cohort", "report", "watch": the target of win.page. */
const char *demur_page_name(DemurPage page);

/* The page of that name; FALSE: there is none, and *page is left as it was. */
gboolean demur_page_from_name(const char *name, DemurPage *page) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
