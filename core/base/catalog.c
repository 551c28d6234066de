#include "base/catalog.h"

#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/limits.h"

#define MAGIC 0x950412deU

struct DemurCatalog {
  char *bytes; /* a NUL behind the last one */
  gsize n_bytes;
  gboolean swapped;
  guint32 n, originals, translations;
};

void
demur_catalog_free(DemurCatalog *catalog) {
  if (catalog == NULL)
    return;
  g_free(catalog->bytes);
  g_free(catalog);
}

static guint32
number_at(const DemurCatalog *c, gsize offset) {
  guint32 value = 0;
  if (offset + sizeof value <= c->n_bytes)
    memcpy(&value, c->bytes + offset, sizeof value);
  return c->swapped ? GUINT32_SWAP_LE_BE(value) : value;
}

/* Text i of a table; NULL where it does not lie in the file and end there. */
static const char *
text_at(const DemurCatalog *c, guint32 table, guint32 i) {
  const gsize place = (gsize)table + 8 * (gsize)i;
  const gsize length = number_at(c, place), begin = number_at(c, place + 4);
  return begin + length < c->n_bytes && c->bytes[begin + length] == '\0' ? c->bytes + begin : NULL;
}

DemurCatalog *
demur_catalog_open(const char *path, GError **error) {
  g_autoptr(DemurCatalog) c = g_new0(DemurCatalog, 1);
  c->bytes = demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES * 8, &c->n_bytes, error);
  if (c->bytes == NULL)
    return NULL;
  c->swapped = number_at(c, 0) == GUINT32_SWAP_LE_BE(MAGIC);
  c->n = number_at(c, 8);
  c->originals = number_at(c, 12);
  c->translations = number_at(c, 16);
  const guint64 most = MAX(c->originals, c->translations) + 8 * (guint64)c->n;
  if (number_at(c, 0) != MAGIC || most > c->n_bytes) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s is no catalogue of translations", path);
    return NULL;
  }
  return g_steal_pointer(&c);
}

const char *
demur_catalog_find(const DemurCatalog *c, const char *text) {
  guint32 low = 0, high = *text != '\0' ? c->n : 0; /* the empty text is the catalogue's head */
  while (low < high) {
    const guint32 middle = low + (high - low) / 2;
    const char *original = text_at(c, c->originals, middle);
    if (original == NULL)
      return text;
    const int order = strcmp(text, original);
    if (order == 0) {
      const char *translation = text_at(c, c->translations, middle);
      return translation != NULL && *translation != '\0' ? translation : text;
    }
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return text;
}
