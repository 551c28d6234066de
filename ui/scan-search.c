#include "ui/scan-search.h"

#include <string.h>

struct DemurScanSearch {
  char *const *words;
  guint n_words;
  GHashTable **shared; /* [n_words] of text -> FOUND or ABSENT */
};

#define ABSENT GINT_TO_POINTER(1)
#define FOUND GINT_TO_POINTER(2)

DemurScanSearch *
demur_scan_search_new(char *const *words) {
  DemurScanSearch *search = g_new0(DemurScanSearch, 1);
  search->words = words;
  search->n_words = words != NULL ? g_strv_length((char **)words) : 0;
  search->shared = g_new(GHashTable *, MAX(search->n_words, 1));
  for (guint w = 0; w < search->n_words; w++)
    search->shared[w] = g_hash_table_new(NULL, NULL);
  return search;
}

void
demur_scan_search_free(DemurScanSearch *search) {
  for (guint w = 0; w < search->n_words; w++)
    g_hash_table_unref(search->shared[w]);
  g_free(search->shared);
  g_free(search);
}

static inline char
lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

static gboolean
folded_holds(const char *text, const char *word) {
  g_autofree char *folded = g_utf8_strdown(text, -1);
  return strstr(folded, word) != NULL;
}

/* Whether text holds the lower case word. Letters of ASCII, which most texts are made of, are
 * folded as they are read. */
static gboolean
holds(const char *text, const char *word) {
  for (const char *at = text;; at++) {
    if ((*at & 0x80) != 0)
      return folded_holds(text, word);
    size_t i = 0;
    while (word[i] != '\0' && lower(at[i]) == word[i])
      i++;
    if (word[i] == '\0')
      return TRUE;
    if (*at == '\0')
      return FALSE;
  }
}

static gboolean
shared_holds(GHashTable *known, const char *text, const char *word) {
  gpointer found = g_hash_table_lookup(known, text);
  if (found == NULL) {
    found = holds(text, word) ? FOUND : ABSENT;
    g_hash_table_insert(known, (gpointer)text, found);
  }
  return found == FOUND;
}

gboolean
demur_scan_search_matches(DemurScanSearch *search, const DemurScan *scan) {
  for (guint w = 0; w < search->n_words; w++) {
    const char *word = search->words[w];
    GHashTable *known = search->shared[w];
    if (!shared_holds(known, scan->site, word) && !shared_holds(known, scan->scanner, word) &&
        !shared_holds(known, scan->date, word) &&
        !(scan->source != NULL && shared_holds(known, scan->source, word)) &&
        !holds(scan->patient_id, word) && !holds(scan->patient_name, word) &&
        !holds(scan->scan_id, word) && !holds(scan->description, word))
      return FALSE;
  }
  return TRUE;
}
