/* The identifiers of one column as they are read: cleaned, kept once, and compared with those
 * before by likeness, so that one person in two spellings is noticed. Inside the room, for readers.
 */
#pragma once

#include "cohort/intern.h"
#include "cohort/table-text.h"

G_BEGIN_DECLS

#define DEMUR_IDS_NONE G_MAXUINT32

typedef struct {
  const char *column; /* its name in messages */
  DemurIntern texts;
  GString *scratch, *likeness;
  DemurCodeTable likenesses; /* of the first identifier with each */
  size_t n_trimmed, n_composed, n_like, n_rewritten;
  size_t n_missing, n_empty; /* identifiers that are a word for "not recorded", or nothing */
  char *like[2], *rewritten, *missing; /* the first of each kind */
} DemurIds;

void demur_ids_init(DemurIds *ids, const char *column, DemurCohort *cohort);
void demur_ids_clear(DemurIds *ids);

/* The code of the field's identifier. *is_new: it was not there before; *like: the code of an
 * earlier one that a new one looks like, DEMUR_IDS_NONE otherwise. An empty one has a code as well.
 */
guint32 demur_ids_add(DemurIds *ids, const DemurTableField *field, gboolean *is_new, guint32 *like);

/* The text of a code (borrowed). */
const char *demur_ids_text(const DemurIds *ids, guint32 code);

/* alike[i]: the first of texts [n] that text i looks like, i itself where there is none (g_free). */
guint32 *demur_ids_alike(char *const *texts, size_t n);

/* Adds what was noticed to the list of DemurTableWarning. */
void demur_ids_warn(const DemurIds *ids, GPtrArray *warnings);

G_END_DECLS
