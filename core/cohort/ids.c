#include "cohort/ids.h"

#include <string.h>

#include "cohort/table-warnings.h"

void
demur_ids_init(DemurIds *ids, const char *column, DemurCohort *cohort) {
  *ids =
      (DemurIds){.column = column, .scratch = g_string_new(NULL), .likeness = g_string_new(NULL)};
  demur_code_table_init(&ids->likenesses);
  demur_intern_init(&ids->texts, cohort);
}

void
demur_ids_clear(DemurIds *ids) {
  demur_intern_clear(&ids->texts);
  if (ids->scratch != NULL)
    g_string_free(g_steal_pointer(&ids->scratch), TRUE);
  if (ids->likeness != NULL)
    g_string_free(g_steal_pointer(&ids->likeness), TRUE);
  demur_code_table_clear(&ids->likenesses);
  g_clear_pointer(&ids->like[0], g_free);
  g_clear_pointer(&ids->like[1], g_free);
  g_clear_pointer(&ids->rewritten, g_free);
  g_clear_pointer(&ids->missing, g_free);
}

const char *
demur_ids_text(const DemurIds *ids, guint32 code) {
  return ids->texts.texts->pdata[code];
}

/* The earlier identifier with the likeness of this new one, which is kept otherwise. */
static guint32
find_like(DemurIds *ids, guint32 code, size_t length) {
  demur_table_id_likeness(demur_ids_text(ids, code), length, ids->likeness);
  const guint32 hash = demur_code_table_hash(ids->likeness->str, ids->likeness->len);
  size_t at = demur_code_table_begin(&ids->likenesses, hash);
  for (guint32 earlier; demur_code_table_candidate(&ids->likenesses, hash, &at, &earlier);) {
    g_autoptr(GString) other = g_string_new(NULL);
    const char *text = demur_ids_text(ids, earlier);
    demur_table_id_likeness(text, strlen(text), other);
    if (g_string_equal(other, ids->likeness))
      return earlier;
  }
  demur_code_table_insert(&ids->likenesses, at, hash, code);
  return DEMUR_IDS_NONE;
}

static void
keep_first(char **first, const char *text) {
  if (*first == NULL)
    *first = g_strdup(text);
}

guint32
demur_ids_add(DemurIds *ids, const DemurTableField *field, gboolean *is_new, guint32 *like) {
  *like = DEMUR_IDS_NONE;
  *is_new = FALSE;
  /* Columns are often runs of one identifier, and a cleaned one is cleaned to itself. */
  const DemurIntern *known = &ids->texts;
  if (known->texts->len > 0 && strcmp(field->text, demur_ids_text(ids, known->last)) == 0)
    return known->last;
  size_t length;
  DemurIdChanges changes;
  const char *text = demur_table_id(field, ids->scratch, &length, &changes);
  ids->n_trimmed += (changes & DEMUR_ID_TRIMMED) != 0;
  ids->n_composed += (changes & DEMUR_ID_COMPOSED) != 0;
  const guint32 code = demur_intern_add(&ids->texts, text, length, is_new);
  if (*is_new && length == 0)
    ids->n_empty++;
  if (!*is_new || length == 0)
    return code;
  *like = find_like(ids, code, length);
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

guint32 *
demur_ids_alike(char *const *texts, size_t n) {
  guint32 *alike = g_new(guint32, MAX(n, 1));
  g_autofree guint32 *first = g_new(guint32, MAX(n, 1)); /* by code */
  DemurIds ids;
  demur_ids_init(&ids, "", NULL);
  for (size_t i = 0; i < n; i++) {
    const DemurTableField field = {.text = texts[i], .length = strlen(texts[i])};
    gboolean is_new;
    guint32 like;
    const guint32 code = demur_ids_add(&ids, &field, &is_new, &like);
    if (is_new)
      first[code] = (guint32)i;
    alike[i] = first[like != DEMUR_IDS_NONE ? like : code];
  }
  demur_ids_clear(&ids);
  return alike;
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
