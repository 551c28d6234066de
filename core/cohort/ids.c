/* Likenesses are compared by a 64-bit hash in an open table (FNV-1a); a hit is told only where the
 * likenesses themselves are the same. Memory: 12 bytes a slot, at most two thirds of them used. */
#include "cohort/ids.h"

#include <string.h>

#include "cohort/table-warnings.h"

#define FIRST_SLOTS 1024

void
demur_ids_init(DemurIds *ids, const char *column, DemurCohort *cohort) {
  *ids = (DemurIds){.column = column,
                    .scratch = g_string_new(NULL),
                    .likeness = g_string_new(NULL),
                    .slots = g_new0(guint64, FIRST_SLOTS),
                    .codes = g_new(guint32, FIRST_SLOTS),
                    .n_slots = FIRST_SLOTS};
  demur_intern_init(&ids->texts, cohort);
}

void
demur_ids_clear(DemurIds *ids) {
  demur_intern_clear(&ids->texts);
  if (ids->scratch != NULL)
    g_string_free(g_steal_pointer(&ids->scratch), TRUE);
  if (ids->likeness != NULL)
    g_string_free(g_steal_pointer(&ids->likeness), TRUE);
  g_clear_pointer(&ids->slots, g_free);
  g_clear_pointer(&ids->codes, g_free);
  g_clear_pointer(&ids->like[0], g_free);
  g_clear_pointer(&ids->like[1], g_free);
  g_clear_pointer(&ids->rewritten, g_free);
  g_clear_pointer(&ids->missing, g_free);
}

const char *
demur_ids_text(const DemurIds *ids, guint32 code) {
  return ids->texts.texts->pdata[code];
}

static guint64
hash_of(const GString *text) {
  guint64 hash = G_GUINT64_CONSTANT(14695981039346656037);
  for (gsize i = 0; i < text->len; i++)
    hash = (hash ^ (guchar)text->str[i]) * G_GUINT64_CONSTANT(1099511628211);
  return hash != 0 ? hash : 1;
}

static void
grow(DemurIds *ids) {
  const size_t n = ids->n_slots * 2;
  guint64 *slots = g_new0(guint64, n);
  guint32 *codes = g_new(guint32, n);
  for (size_t i = 0; i < ids->n_slots; i++) {
    if (ids->slots[i] == 0)
      continue;
    size_t at = ids->slots[i] & (n - 1);
    while (slots[at] != 0)
      at = (at + 1) & (n - 1);
    slots[at] = ids->slots[i];
    codes[at] = ids->codes[i];
  }
  g_free(ids->slots);
  g_free(ids->codes);
  ids->slots = slots;
  ids->codes = codes;
  ids->n_slots = n;
}

/* The earlier identifier with the likeness of this new one, which is kept otherwise. */
static guint32
find_like(DemurIds *ids, guint32 code) {
  const char *id = demur_ids_text(ids, code);
  demur_table_id_likeness(id, strlen(id), ids->likeness);
  const guint64 hash = hash_of(ids->likeness);
  size_t at = hash & (ids->n_slots - 1);
  for (; ids->slots[at] != 0; at = (at + 1) & (ids->n_slots - 1)) {
    if (ids->slots[at] != hash)
      continue;
    g_autoptr(GString) other = g_string_new(NULL);
    const char *earlier = demur_ids_text(ids, ids->codes[at]);
    demur_table_id_likeness(earlier, strlen(earlier), other);
    if (g_string_equal(other, ids->likeness))
      return ids->codes[at];
  }
  ids->slots[at] = hash;
  ids->codes[at] = code;
  if (++ids->n_used * 3 > ids->n_slots * 2)
    grow(ids);
  return DEMUR_IDS_NONE;
}

static void
keep_first(char **first, const char *text) {
  if (*first == NULL)
    *first = g_strdup(text);
}

guint32
demur_ids_add(DemurIds *ids, const DemurTableField *field, gboolean *is_new, guint32 *like) {
  size_t length;
  DemurIdChanges changes;
  const char *text = demur_table_id(field, ids->scratch, &length, &changes);
  ids->n_trimmed += (changes & DEMUR_ID_TRIMMED) != 0;
  ids->n_composed += (changes & DEMUR_ID_COMPOSED) != 0;
  const guint32 code = demur_intern_add(&ids->texts, text, length, is_new);
  *like = DEMUR_IDS_NONE;
  if (!*is_new || length == 0)
    return code;
  *like = find_like(ids, code);
  if (*like != DEMUR_IDS_NONE) {
    ids->n_like++;
    keep_first(&ids->like[0], demur_ids_text(ids, *like));
    keep_first(&ids->like[1], text);
  }
  if (demur_table_id_rewriting(text) != DEMUR_ID_NOT_REWRITTEN) {
    ids->n_rewritten++;
    keep_first(&ids->rewritten, text);
  }
  const DemurTableField cleaned = {.text = text, .length = length};
  if (demur_table_is_missing(&cleaned)) {
    ids->n_missing++;
    keep_first(&ids->missing, text);
  }
  return code;
}

void
demur_ids_warn(const DemurIds *ids, GPtrArray *warnings) {
  if (ids->n_trimmed > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_TRIMMED, ids->column, NULL, NULL, ids->n_trimmed,
                             0);
  if (ids->n_composed > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_COMPOSED, ids->column, NULL, NULL,
                             ids->n_composed, 0);
  if (ids->n_like > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_LIKE, ids->column, ids->like[0], ids->like[1],
                             ids->n_like, 0);
  if (ids->n_rewritten > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_REWRITTEN, ids->column, ids->rewritten, NULL,
                             ids->n_rewritten, 0);
  if (ids->n_missing > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_ID_MISSING, ids->column, ids->missing, NULL,
                             ids->n_missing, 0);
}
