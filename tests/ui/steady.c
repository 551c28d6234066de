/* What a step of the slider changes asks for no new layout of what stands around it, and the same tooltip
 * nothing of the display. Right values: how often the parent is asked for its size, counted; a label's own
 * size at no height; the number of the next request to the X server. Wants a display. */
#include <gdk/x11/gdkx.h>

#include "ui/shown.h"
#include "ui/text-cell.h"

static guint n_measured;

static void
measure(GtkWidget *parent, GtkOrientation orientation, int for_size, int *minimum, int *natural,
        int *minimum_baseline, int *natural_baseline) {
  n_measured++;
  gtk_widget_measure(gtk_widget_get_first_child(parent), orientation, for_size, minimum, natural,
                     minimum_baseline, natural_baseline);
}

static void
allocate(GtkWidget *parent, int width, int height, int baseline) {
  gtk_widget_allocate(gtk_widget_get_first_child(parent), width, height, baseline, NULL);
}

/* Whether the child's parent has to be measured anew. */
static gboolean
is_asked(GtkWidget *parent) {
  const guint before = n_measured;
  int minimum, natural;
  gtk_widget_measure(parent, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL, NULL);
  return n_measured > before;
}

static GtkWidget *
parent_of(GtkWidget *child) {
  GtkWidget *parent = g_object_ref_sink(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0));
  gtk_widget_set_layout_manager(parent, gtk_custom_layout_new(NULL, measure, allocate));
  gtk_box_append(GTK_BOX(parent), child);
  g_assert_true(is_asked(parent));
  g_assert_false(is_asked(parent));
  return parent;
}

static void
test_cell(void) {
  GtkWidget *cell = demur_text_cell_new(1, FALSE);
  demur_text_cell_set_room(DEMUR_TEXT_CELL(cell), 7);
  GtkWidget *parent = parent_of(cell);
  int none, room;
  gtk_widget_measure(cell, GTK_ORIENTATION_HORIZONTAL, -1, &none, &room, NULL, NULL);
  g_assert_cmpint(room, >, 0);
  demur_text_cell_set(DEMUR_TEXT_CELL(cell), g_strdup("9.5 %"));
  g_assert_false(is_asked(parent));
  demur_text_cell_set(DEMUR_TEXT_CELL(cell), g_strdup("100.0 %"));
  g_assert_false(is_asked(parent));
  demur_text_cell_set_room(DEMUR_TEXT_CELL(cell), 14);
  g_assert_true(is_asked(parent));
  g_object_unref(parent);
}

static void
test_same_text(void) {
  GtkWidget *label = demur_shown_label_new("10.5 %");
  GtkWidget *parent = parent_of(label);
  demur_shown_label_set(GTK_LABEL(label), "10.5 %");
  g_assert_false(is_asked(parent));
  demur_shown_label_set(GTK_LABEL(label), "10.6 %");
  g_assert_true(is_asked(parent));
  g_object_unref(parent);
}

/* GTK looks for the pointer at each tooltip that is set: a way to the display and back. */
static void
test_same_tooltip(void) {
  GtkWidget *label = g_object_ref_sink(demur_shown_label_new("slice 7"));
  Display *display = gdk_x11_display_get_xdisplay(gdk_display_get_default());
  demur_shown_tooltip_set(label, "Down and up: another slice");
  const unsigned long before = NextRequest(display);
  demur_shown_tooltip_set(label, "Down and up: another slice");
  g_assert_cmpuint(NextRequest(display), ==, before);
  demur_shown_tooltip_set(label, "There is one slice");
  g_assert_cmpstr(gtk_widget_get_tooltip_text(label), ==, "There is one slice");
  g_assert_cmpuint(NextRequest(display), >, before);
  demur_shown_tooltip_set(label, NULL);
  g_assert_false(gtk_widget_get_has_tooltip(label));
  g_object_unref(label);
}

static void
test_steady(void) {
  GtkWidget *label =
      g_object_ref_sink(demur_shown_label_new("accepts 4,500 of 5,000 scans · threshold .00236"));
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  int least, natural, height, tall_least, tall_natural;
  gtk_widget_measure(label, GTK_ORIENTATION_HORIZONTAL, -1, &least, &natural, NULL, NULL);
  gtk_widget_measure(label, GTK_ORIENTATION_VERTICAL, least, &height, NULL, NULL, NULL);
  gtk_widget_measure(label, GTK_ORIENTATION_HORIZONTAL, height, &tall_least, &tall_natural, NULL,
                     NULL);
  g_assert_cmpint(tall_natural, <, natural); /* a label by itself: searched for */
  demur_shown_label_steady(GTK_LABEL(label));
  gtk_widget_measure(label, GTK_ORIENTATION_HORIZONTAL, height, &tall_least, &tall_natural, NULL,
                     NULL);
  g_assert_cmpint(tall_least, ==, least);
  g_assert_cmpint(tall_natural, ==, natural);
  int again;
  gtk_widget_measure(label, GTK_ORIENTATION_VERTICAL, least, &again, NULL, NULL, NULL);
  g_assert_cmpint(again, ==, height);
  g_object_unref(label);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  gtk_init();
  g_test_add_func("/ui/steady/cell", test_cell);
  g_test_add_func("/ui/steady/same-text", test_same_text);
  g_test_add_func("/ui/steady/same-tooltip", test_same_tooltip);
  g_test_add_func("/ui/steady/label", test_steady);
  return g_test_run();
}
