/* From texts to their codes 0, 1, 2, .. in a list that someone else keeps: an open table of 8 bytes
 * a slot (32 bits of hash, the code), at most two thirds full. A candidate is compared by the
 * caller, who knows the texts. Inside the room.
 *
 *   size_t at = demur_code_table_begin(table, hash);
 *   for (guint32 code; demur_code_table_candidate(table, hash, &at, &code);)
 *     if (the text of code is the one looked for)
 *       return code;
 *   demur_code_table_insert(table, at, hash, new_code);
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 *slots; /* [n_slots], 0: free, else hash << 32 | code + 1; n_slots is a power of two */
  size_t n_slots, n_used;
} DemurCodeTable;

void demur_code_table_init(DemurCodeTable *table);
void demur_code_table_clear(DemurCodeTable *table);

/* Puts a code into the free slot where the search for its hash ended. At most 2^32 - 2 codes. */
void demur_code_table_insert(DemurCodeTable *table, size_t at, guint32 hash, guint32 code);

/* Bernstein's h = 33 h + c: identifiers that follow each other have neighbouring slots, which is
 * what the time of a large table hangs on (a slot that is not in the cache costs more than all
 * else). */
static inline guint32
demur_code_table_hash(const char *text, size_t length) {
  guint32 hash = 5381;
  for (size_t i = 0; i < length; i++)
    hash = hash * 33 + (guchar)text[i];
  return hash;
}

static inline size_t
demur_code_table_begin(const DemurCodeTable *table, guint32 hash) {
  return hash & (table->n_slots - 1);
}

/* The next code with that hash, *at standing behind it; FALSE where there is none, *at a free slot.
 */
static inline gboolean
demur_code_table_candidate(const DemurCodeTable *table, guint32 hash, size_t *at, guint32 *code) {
  const size_t mask = table->n_slots - 1;
  for (; table->slots[*at] != 0; *at = (*at + 1) & mask)
    if ((guint32)(table->slots[*at] >> 32) == hash) {
      *code = (guint32)table->slots[*at] - 1;
      *at = (*at + 1) & mask;
      return TRUE;
    }
  return FALSE;
}

G_END_DECLS
