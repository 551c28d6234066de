/* The papers that a report is laid out for: one table of names and sizes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_PAPER_A4,
  DEMUR_PAPER_LETTER,
  DEMUR_N_PAPERS,
} DemurPaper;

typedef struct {
  const char *name;     /* "a4", "letter": options and JSON */
  double width, height; /* points of 1/72 inch, upright */
} DemurPaperRow;

const DemurPaperRow *demur_paper_row(DemurPaper paper);

/* Whatever the case of its letters; FALSE: there is none of that name. */
gboolean demur_paper_from_name(const char *name, DemurPaper *paper) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
