#include "cohort/intern.h"

#include <string.h>

void
demur_intern_init(DemurIntern *intern, DemurCohort *cohort) {
  intern->cohort = cohort;
  intern->codes = g_hash_table_new(g_str_hash, g_str_equal);
  intern->texts = g_ptr_array_new();
  intern->last = 0;
}

guint32
demur_intern_add(DemurIntern *intern, const char *text, size_t length, gboolean *is_new) {
  if (is_new != NULL)
    *is_new = FALSE;
  if (intern->texts->len > 0 && strcmp(text, intern->texts->pdata[intern->last]) == 0)
    return intern->last;
  gpointer code;
  if (g_hash_table_lookup_extended(intern->codes, text, NULL, &code))
    return intern->last = GPOINTER_TO_UINT(code);
  char *copy = intern->cohort != NULL ? demur_cohort_keep_text(intern->cohort, text, length)
                                      : g_strndup(text, length);
  intern->last = intern->texts->len;
  g_ptr_array_add(intern->texts, copy);
  g_hash_table_insert(intern->codes, copy, GUINT_TO_POINTER(intern->last));
  if (is_new != NULL)
    *is_new = TRUE;
  return intern->last;
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
  g_clear_pointer(&intern->codes, g_hash_table_unref);
  if (intern->texts != NULL) {
    if (intern->cohort == NULL)
      g_ptr_array_foreach(intern->texts, (GFunc)(void (*)(void))g_free, NULL);
    g_ptr_array_free(g_steal_pointer(&intern->texts), TRUE);
  }
}
