/* What was drawn on images: right values are what was saved (round trip), and that nothing of it is
 * found on other images. */
#include <math.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "store/annotations.h"
#include "store/events.h"
#include "store/series.h"
#include "support/store.h"

#define MADE "2026-01-01T00:00:00Z"

static char *folder;

static DemurWorkspace *
open_new(void) {
  g_autoptr(GError) error = NULL;
  folder = g_dir_make_tmp("demur-annotations-XXXXXX", &error);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  return workspace;
}

static void
close_and_remove(DemurWorkspace *workspace) {
  static const char *const names[] = {"w.demur", "w.demur-wal", "w.demur-shm"};
  demur_workspace_close(workspace);
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(folder, names[i], NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
  g_clear_pointer(&folder, g_free);
}

/* The series "1.2" with images of that digest; again: other images at its place. */
static void
put_series(DemurWorkspace *workspace, const char *images) {
  g_autoptr(GError) error = NULL;
  const DemurSeriesRecord record = {.scan_id = (char *)"1.2",
                                    .series_uid = (char *)"1.2",
                                    .study_uid = (char *)"1",
                                    .patient_id = (char *)"P",
                                    .eligible = TRUE,
                                    .accepted = TRUE,
                                    .images_digest = (char *)images,
                                    .n_slices = 1,
                                    .spacing_mm = NAN,
                                    .thickness_mm = NAN,
                                    .tilt_degrees = NAN,
                                    .kvp = NAN,
                                    .fov_mm = NAN,
                                    .tube_current_ma = NAN,
                                    .created = (char *)MADE,
                                    .updated = (char *)MADE};
  const DemurSeriesFile file = {
      .path = (char *)"/there", .sop_instance_uid = (char *)"1.2.1", .position_mm = NAN};
  const DemurSeriesSave save = {&record, &file, 1};
  g_assert_true(demur_series_save(workspace, &save, 1, &error));
  g_assert_no_error(error);
}

static DemurAnnotation
angle_on(const char *images) {
  return (DemurAnnotation){.scan_id = (char *)"1.2",
                           .images_digest = (char *)images,
                           .kind = DEMUR_ANNOTATION_ANGLE,
                           .plane = DEMUR_DRAWN_CORONAL,
                           .slice = 7,
                           .number = 8,
                           .n_slices = 512,
                           .slab_mm = 10,
                           .slab = DEMUR_DRAWN_MEAN,
                           .n_places = 3,
                           .x = {1.5, 20.25, 3},
                           .y = {4, 5, 6.125},
                           .value = 41.3,
                           .sd = NAN,
                           .area_mm2 = NAN,
                           .unit = (char *)"degree",
                           .window_width = 1500,
                           .window_level = -600,
                           .user = (char *)"reader",
                           .created = (char *)MADE};
}

static GPtrArray *
list(DemurWorkspace *workspace, const char *images, gint64 until) {
  g_autoptr(GError) error = NULL;
  GPtrArray *found = demur_annotations_list(workspace, "1.2", images, until, &error);
  g_assert_no_error(error);
  return found;
}

static void
what_was_drawn_comes_back(void) {
  DemurWorkspace *workspace = open_new();
  g_autoptr(GError) error = NULL;
  put_series(workspace, "first");
  DemurAnnotation drawn = angle_on("first");
  g_assert_true(demur_annotations_save(workspace, &drawn, &error));
  g_assert_no_error(error);
  g_autoptr(GPtrArray) found = list(workspace, "first", 0);
  g_assert_cmpuint(found->len, ==, 1);
  const DemurAnnotation *back = found->pdata[0];
  g_assert_cmpint(back->id, ==, drawn.id);
  g_assert_cmpint(back->kind, ==, drawn.kind);
  g_assert_cmpint(back->plane, ==, DEMUR_DRAWN_CORONAL);
  g_assert_cmpint(back->slice, ==, 7);
  g_assert_cmpint(back->number, ==, 8);
  g_assert_cmpint(back->n_slices, ==, 512);
  g_assert_cmpfloat(back->slab_mm, ==, 10);
  g_assert_cmpint(back->slab, ==, DEMUR_DRAWN_MEAN);
  g_assert_cmpuint(back->n_places, ==, 3);
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpfloat(back->x[i], ==, drawn.x[i]);
    g_assert_cmpfloat(back->y[i], ==, drawn.y[i]);
  }
  g_assert_cmpfloat(back->value, ==, 41.3);
  g_assert_true(isnan(back->sd) && isnan(back->area_mm2));
  g_assert_cmpstr(back->unit, ==, "degree");
  g_assert_cmpfloat(back->window_level, ==, -600);
  g_assert_cmpstr(back->user, ==, "reader");
  g_assert_cmpstr(back->created, ==, MADE);
  close_and_remove(workspace);
}

static void
other_images_show_none_of_it(void) {
  DemurWorkspace *workspace = open_new();
  g_autoptr(GError) error = NULL;
  put_series(workspace, "first");
  DemurAnnotation drawn = angle_on("first");
  g_assert_true(demur_annotations_save(workspace, &drawn, &error));
  put_series(workspace, "second");
  g_autoptr(GPtrArray) of_second = list(workspace, "second", 0);
  g_assert_cmpuint(of_second->len, ==, 0);
  /* What was begun on the first images can't be kept any more. */
  g_assert_false(demur_annotations_save(workspace, &drawn, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_clear_error(&error);
  drawn = angle_on("second");
  drawn.scan_id = (char *)"9.9";
  g_assert_false(demur_annotations_save(workspace, &drawn, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  /* The first images again: theirs is there again. */
  put_series(workspace, "first");
  g_autoptr(GPtrArray) of_first = list(workspace, "first", 0);
  g_assert_cmpuint(of_first->len, ==, 1);
  close_and_remove(workspace);
}

static void
what_is_taken_off_was_there(void) {
  DemurWorkspace *workspace = open_new();
  g_autoptr(GError) error = NULL;
  put_series(workspace, "first");
  DemurAnnotation a = angle_on("first"), b = angle_on("first");
  b.kind = DEMUR_ANNOTATION_KEY_IMAGE;
  b.n_places = 0;
  g_assert_true(demur_annotations_save(workspace, &a, &error) &&
                demur_annotations_save(workspace, &b, &error));
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, NULL, &error);
  const gint64 before = ((DemurEvent *)events->pdata[events->len - 1])->sequence;
  g_assert_true(demur_annotations_take_off(workspace, a.id, "other", MADE, &error));
  g_assert_no_error(error);
  g_autoptr(GPtrArray) left = list(workspace, "first", 0), was = list(workspace, "first", before);
  g_assert_cmpuint(left->len, ==, 1);
  g_assert_cmpint(((DemurAnnotation *)left->pdata[0])->id, ==, b.id);
  g_assert_cmpuint(((DemurAnnotation *)left->pdata[0])->n_places, ==, 0);
  g_assert_cmpuint(was->len, ==, 2);
  g_assert_false(demur_annotations_take_off(workspace, a.id, "other", MADE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_clear_error(&error);
  g_assert_false(demur_annotations_take_off(workspace, 99, "other", MADE, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  close_and_remove(workspace);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/annotations/round-trip", what_was_drawn_comes_back);
  g_test_add_func("/annotations/images", other_images_show_none_of_it);
  g_test_add_func("/annotations/taken-off", what_is_taken_off_was_there);
  return g_test_run();
}
