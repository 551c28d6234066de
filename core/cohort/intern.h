/* Texts that repeat, kept once and named by index in order of first appearance. For readers and
 * builders. */
#pragma once

#include "cohort/code-table.h"
#include "cohort/cohort.h"

G_BEGIN_DECLS

typedef struct {
  DemurCohort *cohort; /* keeps the texts; NULL: each text is allocated with g_malloc */
  DemurCodeTable codes;
  GPtrArray *texts;
  guint32 last; /* code of the text asked for last: columns are often runs of one text */
} DemurIntern;

void demur_intern_init(DemurIntern *intern, DemurCohort *cohort);
/* The code of text; *is_new (may be NULL) tells whether it was not there before. */
guint32 demur_intern_add(DemurIntern *intern, const char *text, size_t length, gboolean *is_new);
/* The code of a text that is there; FALSE where it is not. */
gboolean demur_intern_find(const DemurIntern *intern, const char *text, guint32 *code);
/* The texts as an array [*n] (g_free); intern is cleared. */
char **demur_intern_steal(DemurIntern *intern, size_t *n);
/* Frees what is left; texts too where there is no cohort to keep them. */
void demur_intern_clear(DemurIntern *intern);

G_END_DECLS
