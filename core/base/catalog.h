/* A catalogue of translations as msgfmt writes it (a .mo file), for a language that is not the
 * process's own: a page in German is made again whatever the locale is, and without one.
 *
 * Layout (GNU gettext manual, 10.3): magic 0x950412de in the byte order of who wrote it, revision,
 * n, offsets of two tables of n (length, offset): originals in ascending order, translations. Every
 * place is checked, since the file may be anything. A look-up is O(log n). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurCatalog DemurCatalog;

/* NULL with DEMUR_ERROR_INPUT where the file can't be read or is no catalogue. */
DemurCatalog *demur_catalog_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_catalog_free(DemurCatalog *catalog);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCatalog, demur_catalog_free)

/* The translation (borrowed from the catalogue), or the text itself where there is none. */
const char *demur_catalog_find(const DemurCatalog *catalog, const char *text);

G_END_DECLS
