#include "store/annotations.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

static const char *const kind_names[DEMUR_N_ANNOTATIONS] = {
    [DEMUR_ANNOTATION_LENGTH] = "length",
    [DEMUR_ANNOTATION_ANGLE] = "angle",
    [DEMUR_ANNOTATION_REGION] = "region",
    [DEMUR_ANNOTATION_KEY_IMAGE] = "key_image",
};

static const char *const plane_names[DEMUR_N_DRAWN_PLANES] = {
    [DEMUR_DRAWN_ACQUIRED] = "acquired",
    [DEMUR_DRAWN_CORONAL] = "coronal",
    [DEMUR_DRAWN_SAGITTAL] = "sagittal",
};

static const char *const slab_names[DEMUR_N_DRAWN_SLABS] = {
    [DEMUR_DRAWN_MAXIMUM] = "maximum",
    [DEMUR_DRAWN_MEAN] = "mean",
    [DEMUR_DRAWN_MINIMUM] = "minimum",
};

static const char pixels[] = "pixel"; /* the unit of a length without a spacing */

/* Index of a column's name among n; 0 where it is none of them, or NULL. */
static guint
index_of(DemurStatement *row, int column, const char *const *names, guint n) {
  g_autofree char *name = demur_store_text(row, column);
  for (guint i = 0; i < n; i++)
    if (g_strcmp0(name, names[i]) == 0)
      return i;
  return 0;
}

const char *
demur_annotation_kind_name(DemurAnnotationKind kind) {
  return kind_names[kind];
}

void
demur_annotation_free(DemurAnnotation *a) {
  if (a == NULL)
    return;
  char *texts[] = {a->scan_id, a->images_digest, a->unit, a->user, a->created};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(a);
}

static void
annotation_free(gpointer annotation) {
  demur_annotation_free(annotation);
}

/* The scan must be there with the images that were drawn on. A workspace of an older program knows
 * no digest of them. */
static gboolean
check_images(DemurWorkspace *workspace, const DemurAnnotation *a, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "SELECT images_digest FROM series WHERE scan_id = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, a->scan_id);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "finding a series", error))
    return FALSE;
  g_autofree char *images = row ? demur_store_text(statement, 0) : NULL;
  if (row)
    demur_store_reset(statement);
  if (!row)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no DICOM scan %s in the workspace any more", a->scan_id);
  else if (images != NULL && g_strcmp0(images, a->images_digest) != 0)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the images of scan %s are others by now: open it again before you measure",
                    a->scan_id);
  else
    return TRUE;
  return FALSE;
}

/* Runs what adds a row, and tells it, in the open transaction. */
static gboolean
add_row(DemurWorkspace *workspace, DemurStatement *statement, const char *created, gint64 *id,
        GError **error) {
  if (!demur_store_run(workspace, statement, "keeping what was drawn on an image", error))
    return FALSE;
  *id = demur_store_inserted_id(workspace);
  g_autofree char *key = g_strdup_printf("annotation:%" PRId64, *id);
  /* The seal holds every column; the digest only says that the row is there. */
  const char *const texts[] = {key, created};
  g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
  return demur_events_add(workspace, DEMUR_EVENT_ANNOTATION, key, digest, NULL, created, error);
}

static gboolean
insert(DemurWorkspace *workspace, DemurAnnotation *a, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO annotation (scan_id, images_digest, kind, plane, slice, number, n_slices, slab_mm,"
      " slab, x1, y1, x2, y2, x3, y3, value, sd, area_mm2, n_pixels, unit, window_width,"
      " window_level, \"user\", created)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, a->scan_id);
  demur_store_bind_text(statement, 2, a->images_digest);
  demur_store_bind_text(statement, 3, kind_names[a->kind]);
  demur_store_bind_text(statement, 4, plane_names[a->plane]);
  demur_store_bind_int(statement, 5, a->slice);
  demur_store_bind_int(statement, 6, a->number);
  demur_store_bind_int(statement, 7, a->n_slices);
  demur_store_bind_double(statement, 8, a->slab_mm);
  demur_store_bind_text(statement, 9, slab_names[a->slab]);
  for (guint i = 0; i < DEMUR_ANNOTATION_PLACES; i++) {
    demur_store_bind_double(statement, 10 + 2 * (int)i, i < a->n_places ? a->x[i] : NAN);
    demur_store_bind_double(statement, 11 + 2 * (int)i, i < a->n_places ? a->y[i] : NAN);
  }
  demur_store_bind_double(statement, 16, a->value);
  demur_store_bind_double(statement, 17, a->sd);
  demur_store_bind_double(statement, 18, a->area_mm2);
  demur_store_bind_int(statement, 19, a->n_pixels);
  demur_store_bind_text(statement, 20, a->in_pixels ? pixels : a->unit);
  demur_store_bind_double(statement, 21, a->window_width);
  demur_store_bind_double(statement, 22, a->window_level);
  demur_store_bind_text(statement, 23, a->user);
  demur_store_bind_text(statement, 24, a->created);
  return add_row(workspace, statement, a->created, &a->id, error);
}

gboolean
demur_annotations_save(DemurWorkspace *workspace, DemurAnnotation *annotation, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gboolean ok =
      check_images(workspace, annotation, error) && insert(workspace, annotation, error);
  return demur_store_end(workspace, ok, error);
}

/* FALSE where there is none of that id, or it is off. */
static gboolean
check_on(DemurWorkspace *workspace, gint64 id, GError **error) {
  g_autofree char *number = g_strdup_printf("%" PRId64, id);
  const gint64 n = demur_store_count(workspace,
                                     "SELECT count(*) FROM annotation WHERE kind <> 'removal'"
                                     " AND id = CAST(? AS BIGINT)",
                                     number, NULL, error);
  const gint64 n_off =
      n < 0 ? -1
            : demur_store_count(workspace,
                                "SELECT count(*) FROM annotation WHERE removes = CAST(? AS BIGINT)",
                                number, NULL, error);
  if (n_off < 0)
    return FALSE;
  if (n == 0)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no measurement %s", number);
  else if (n_off > 0)
    demur_error_set(error, DEMUR_ERROR_STATE, "measurement %s was taken off already", number);
  return n > 0 && n_off == 0;
}

gboolean
demur_annotations_take_off(DemurWorkspace *workspace, gint64 id, const char *user,
                           const char *created, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  DemurStatement *statement =
      check_on(workspace, id, error)
          ? demur_store_statement(
                workspace,
                "INSERT INTO annotation (scan_id, images_digest, kind, removes,"
                " \"user\", created) SELECT scan_id, images_digest, 'removal', id,"
                " ?2, ?3 FROM annotation WHERE id = ?1 RETURNING id",
                error)
          : NULL;
  gboolean ok = statement != NULL;
  if (ok) {
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_text(statement, 2, user);
    demur_store_bind_text(statement, 3, created);
    gint64 removal;
    ok = add_row(workspace, statement, created, &removal, error);
  }
  return demur_store_end(workspace, ok, error);
}

static DemurAnnotation *
read_row(DemurStatement *row) {
  DemurAnnotation *a = g_new0(DemurAnnotation, 1);
  a->id = demur_store_int(row, 0);
  a->scan_id = demur_store_text(row, 1);
  a->images_digest = demur_store_text(row, 2);
  g_autofree char *kind = demur_store_text(row, 3);
  for (guint k = 0; k < DEMUR_N_ANNOTATIONS; k++)
    if (g_strcmp0(kind, kind_names[k]) == 0)
      a->kind = (DemurAnnotationKind)k;
  a->plane = (DemurDrawnPlane)index_of(row, 4, plane_names, DEMUR_N_DRAWN_PLANES);
  a->slice = demur_store_int(row, 5);
  a->number = demur_store_int(row, 6);
  a->n_slices = demur_store_int(row, 7);
  a->slab_mm = demur_store_number(row, 8);
  a->slab = (DemurDrawnSlab)index_of(row, 9, slab_names, DEMUR_N_DRAWN_SLABS);
  for (int i = 0; i < DEMUR_ANNOTATION_PLACES; i++) {
    a->x[i] = demur_store_double(row, 10 + 2 * i);
    a->y[i] = demur_store_double(row, 11 + 2 * i);
    if (!isnan(a->x[i]) && !isnan(a->y[i]) && a->n_places == (guint)i)
      a->n_places++;
  }
  a->value = demur_store_double(row, 16);
  a->sd = demur_store_double(row, 17);
  a->area_mm2 = demur_store_double(row, 18);
  a->n_pixels = demur_store_int(row, 19);
  a->unit = demur_store_text(row, 20);
  a->in_pixels = g_strcmp0(a->unit, pixels) == 0;
  a->window_width = demur_store_double(row, 21);
  a->window_level = demur_store_double(row, 22);
  a->user = demur_store_text(row, 23);
  a->created = demur_store_text(row, 24);
  return a;
}

GPtrArray *
demur_annotations_list(DemurWorkspace *workspace, const char *scan_id, const char *images_digest,
                       gint64 until, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "WITH known AS (SELECT a.* FROM annotation a JOIN event e ON e.key = 'annotation:' || a.id"
      "  WHERE a.scan_id = ?1 AND a.images_digest = ?2 AND (?3 = 0 OR e.sequence <= ?3))"
      " SELECT id, scan_id, images_digest, kind, plane, slice, number, n_slices, slab_mm, slab, x1,"
      " y1, x2, y2, x3, y3, value, sd, area_mm2, n_pixels, unit, window_width, window_level, \"user\","
      " created FROM known WHERE kind <> 'removal'"
      " AND id NOT IN (SELECT removes FROM known WHERE removes IS NOT NULL) ORDER BY id",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  demur_store_bind_text(statement, 2, images_digest);
  demur_store_bind_int(statement, 3, until);
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(annotation_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing what was drawn", error)) &&
         row)
    g_ptr_array_add(list, read_row(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}
