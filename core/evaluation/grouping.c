#include "evaluation/grouping.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cohort/bands.h"

static const char *const scanner_parts[] = {"manufacturer", "model_name"};

gboolean
demur_grouping_is_site(const char *by) {
  return strcmp(by, "site") == 0;
}

gboolean
demur_grouping_is_shift(const char *by) {
  return strcmp(by, DEMUR_COHORT_SHIFT) == 0;
}

static gboolean
is_scanner(const DemurCohort *cohort, const char *name) {
  return strcmp(name, "scanner") == 0 && demur_cohort_find_attribute(cohort, name) < 0;
}

gboolean
demur_grouping_check(const DemurCohort *cohort, const char *by, GError **error) {
  gboolean known = demur_grouping_is_site(by) || demur_cohort_find_attribute(cohort, by) >= 0;
  if (is_scanner(cohort, by))
    for (size_t p = 0; p < G_N_ELEMENTS(scanner_parts); p++)
      known |= demur_cohort_find_attribute(cohort, scanner_parts[p]) >= 0;
  if (known)
    return TRUE;
  g_autoptr(GString) list = g_string_new("site");
  for (size_t a = 0; a < cohort->n_attributes; a++)
    g_string_append_printf(list, ", %s", cohort->attributes[a].name);
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                  "cohort '%s' has no attribute '%s' to group by; it has %s", cohort->name, by,
                  list->str);
  return FALSE;
}

/* The text that groups a row (owned). */
static char *
text_of(const DemurCohort *cohort, const char *by, const DemurBands *bands, size_t row) {
  if (demur_grouping_is_site(by))
    return g_strdup(cohort->site_names[cohort->sites[row]]);
  if (!is_scanner(cohort, by)) {
    const size_t column = (size_t)demur_cohort_find_attribute(cohort, by);
    return g_strdup(bands != NULL
                        ? bands->names[bands->of_value[cohort->attributes[column].codes[row]]]
                        : demur_cohort_attribute_text(cohort, column, row));
  }
  const char *parts[G_N_ELEMENTS(scanner_parts)];
  for (size_t p = 0; p < G_N_ELEMENTS(scanner_parts); p++) {
    const gssize attribute = demur_cohort_find_attribute(cohort, scanner_parts[p]);
    parts[p] = attribute >= 0 ? demur_cohort_attribute_text(cohort, (size_t)attribute, row) : "";
  }
  return g_strdup_printf("%s%s%s", parts[0], *parts[0] != '\0' && *parts[1] != '\0' ? " " : "",
                         parts[1]);
}

static int
compare_texts(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

DemurGrouping *
demur_grouping_new(const DemurCohort *cohort, const char *by, const guint32 *rows, size_t n) {
  const gssize column = demur_cohort_find_attribute(cohort, by);
  g_autoptr(DemurBands) bands =
      column >= 0 ? demur_bands_new(cohort, (size_t)column, rows, n) : NULL;
  g_autoptr(GHashTable) found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree const char **texts = g_new(const char *, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    char *text = text_of(cohort, by, bands, rows[i]);
    gpointer key;
    if (g_hash_table_lookup_extended(found, text, &key, NULL))
      g_free(text);
    else
      g_hash_table_add(found, key = text);
    texts[i] = key;
  }
  guint n_values;
  g_autofree gpointer *keys = g_hash_table_get_keys_as_array(found, &n_values);
  qsort(keys, n_values, sizeof *keys, compare_texts);
  for (size_t b = 0, v = 0; bands != NULL && b < bands->n_bands; b++) { /* in their own order */
    gpointer key;
    if (g_hash_table_lookup_extended(found, bands->names[b], &key, NULL))
      keys[v++] = key;
  }
  DemurGrouping *grouping = g_new0(DemurGrouping, 1);
  grouping->n_values = n_values;
  grouping->values = g_new0(char *, n_values + 1);
  grouping->codes = g_new(guint32, MAX(n, 1));
  for (guint v = 0; v < n_values; v++) {
    grouping->values[v] = g_strdup(keys[v]);
    g_hash_table_insert(found, g_strdup(keys[v]), GUINT_TO_POINTER(v));
  }
  for (size_t i = 0; i < n; i++)
    grouping->codes[i] = GPOINTER_TO_UINT(g_hash_table_lookup(found, texts[i]));
  return grouping;
}

void
demur_grouping_free(DemurGrouping *grouping) {
  if (grouping == NULL)
    return;
  g_strfreev(grouping->values);
  g_free(grouping->codes);
  g_free(grouping);
}
