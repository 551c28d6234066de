/* Which column of a table is which of ours, where the names differ: a table of its own with the
 * columns `column` (as the table calls it, exactly) and `means` (a name of docs/file-formats.md, or
 * any other for an attribute; nothing or "-": the column is left out). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurColumnMap DemurColumnMap;

/* NULL with DEMUR_ERROR_INPUT: a column named twice, two columns that mean the same. */
DemurColumnMap *demur_column_map_read(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_column_map_free(DemurColumnMap *map);

/* Empty, to be filled by a person's choices; file: the table that they are of, for messages. */
DemurColumnMap *demur_column_map_new(const char *file);
/* column, as the table calls it, is means from now on; NULL: it is left out. */
void demur_column_map_add(DemurColumnMap *map, const char *column, const char *means);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurColumnMap, demur_column_map_free)

/* What a column means (borrowed): its own name where the map does not have it, NULL where it is
 * left out. Blanks at its ends do not count. Marks the entry as used. */
const char *demur_column_map_find(DemurColumnMap *map, const char *column);

/* FALSE with DEMUR_ERROR_INPUT where an entry was never asked for: the tables don't have it. */
gboolean demur_column_map_check(const DemurColumnMap *map,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
