/* What became of a plan's labels since earlier looks. That looking often costs nothing (evaluation/acceptance.h) is so
 * of labels that stay what they were: a sequence of which one was looked at and then changed, or taken
 * out, is another, chosen by what the first one showed. So each answer keeps the labels that it saw, and says which are
 * others now. Compared is with every earlier look at the plan that kept them, so that one that is changed and changed back
 * is still told. */
#pragma once

#include "evaluation/acceptance-document.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_changed;  /* patients whose label an earlier look had otherwise */
  size_t n_gone;     /* patients who had a label at an earlier look and have none now */
  const char *first; /* the first such scan in the plan's order (the document's); NULL: none */
} DemurAcceptChanges;

/* Labels [n] as an answer keeps them (owned): a letter each, 0, 1 or - (none), without the - at the end. */
char *demur_accept_labels_text(const double *labels, size_t n);

/* labels [n_chosen] of the document's plan, NaN: none. */
gboolean demur_accept_changes_find(DemurWorkspace *workspace, gint64 plan,
                                   const DemurAcceptanceDocument *document, const double *labels,
                                   DemurAcceptChanges *changes,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
