/* A hash of folders, each with the ending of names: one look-up a slice and ending. */
#include "dicom/strays.h"

#include <string.h>

#define LONGEST_ENDING 8

struct DemurStrays {
  GHashTable *by_place; /* "folder\nending" -> DemurStray */
};

static void
stray_free(gpointer data) {
  g_free(((DemurStray *)data)->problem);
  g_free(data);
}

DemurStrays *
demur_strays_new(void) {
  DemurStrays *strays = g_new(DemurStrays, 1);
  strays->by_place = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, stray_free);
  return strays;
}

void
demur_strays_free(DemurStrays *strays) {
  if (strays == NULL)
    return;
  g_hash_table_unref(strays->by_place);
  g_free(strays);
}

/* Behind the last point, in small letters; none where it begins with a digit or is long: a UID. */
static char *
ending_of(const char *name) {
  const char *base = strrchr(name, '/');
  const char *point = strrchr(base != NULL ? base : name, '.');
  if (point == NULL || !g_ascii_isalpha(point[1]) || strlen(point) > LONGEST_ENDING)
    return g_strdup("");
  return g_ascii_strdown(point, -1);
}

/* ending NULL: of those that begin like DICOM. */
static char *
place_of(const char *path, const char *entry, const char *ending) {
  g_autofree char *folder = g_path_get_dirname(entry != NULL ? entry : path);
  return g_strdup_printf("%s\n%s\n%s", entry != NULL ? path : "", folder,
                         ending != NULL ? ending : "*");
}

void
demur_strays_add(DemurStrays *strays, const char *path, const char *entry,
                 gboolean begins_like_dicom, const char *problem) {
  g_autofree char *ending = ending_of(entry != NULL ? entry : path);
  char *place = place_of(path, entry, begins_like_dicom ? NULL : ending);
  DemurStray *stray = g_hash_table_lookup(strays->by_place, place);
  if (stray == NULL) {
    stray = g_new0(DemurStray, 1);
    stray->problem = g_strdup(problem);
    g_hash_table_insert(strays->by_place, g_steal_pointer(&place), stray);
  }
  stray->n++;
  g_free(place);
}

gboolean
demur_strays_any(const DemurStrays *strays) {
  return g_hash_table_size(strays->by_place) > 0;
}

void
demur_strays_find(const DemurStrays *strays, const char *path, const char *entry,
                  const DemurStray *found[2]) {
  g_autofree char *ending = ending_of(entry != NULL ? entry : path);
  g_autofree char *named = place_of(path, entry, ending);
  g_autofree char *marked = place_of(path, entry, NULL);
  found[0] = g_hash_table_lookup(strays->by_place, named);
  found[1] = g_hash_table_lookup(strays->by_place, marked);
}
