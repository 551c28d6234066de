#include "cohort/intern.h"

#include <string.h>

void
demur_intern_init(DemurIntern *intern, DemurCohort *cohort) {
  intern->cohort = cohort;
  demur_code_table_init(&intern->codes);
  intern->texts = g_ptr_array_new();
  intern->last = 0;
}

guint32
demur_intern_add(DemurIntern *intern, const char *text, size_t length, gboolean *is_new) {
  if (is_new != NULL)
    *is_new = FALSE;
  if (intern->texts->len > 0 && strcmp(text, intern->texts->pdata[intern->last]) == 0)
    return intern->last;
  const guint32 hash = demur_code_table_hash(text, length);
  size_t at = demur_code_table_begin(&intern->codes, hash);
  for (guint32 code; demur_code_table_candidate(&intern->codes, hash, &at, &code);)
    if (strcmp(text, intern->texts->pdata[code]) == 0)
      return intern->last = code;
  char *copy = intern->cohort != NULL ? demur_cohort_keep_text(intern->cohort, text, length)
                                      : g_strndup(text, length);
  intern->last = intern->texts->len;
  g_ptr_array_add(intern->texts, copy);
  demur_code_table_insert(&intern->codes, at, hash, intern->last);
  if (is_new != NULL)
    *is_new = TRUE;
  return intern->last;
}

gboolean
demur_intern_find(const DemurIntern *intern, const char *text, guint32 *code) {
  const guint32 hash = demur_code_table_hash(text, strlen(text));
  size_t at = demur_code_table_begin(&intern->codes, hash);
  while (demur_code_table_candidate(&intern->codes, hash, &at, code))
    if (strcmp(text, intern->texts->pdata[*code]) == 0)
      return TRUE;
  return FALSE;
}

char **
demur_intern_steal(DemurIntern *intern, size_t *n) {
  *n = intern->texts->len;
  char **texts = (char **)g_ptr_array_free(intern->texts, FALSE);
  if (texts == NULL)
    texts = g_new0(char *, 1);
  intern->texts = NULL;
  demur_intern_clear(intern);
  return g_renew(char *, texts, MAX(*n, 1));
}

void
demur_intern_clear(DemurIntern *intern) {
  demur_code_table_clear(&intern->codes);
  if (intern->texts != NULL) {
    if (intern->cohort == NULL)
      g_ptr_array_foreach(intern->texts, (GFunc)(void (*)(void))g_free, NULL);
    g_ptr_array_free(g_steal_pointer(&intern->texts), TRUE);
  }
}
