#include "ui/wrap-layout.h"

#define COLUMN_SPACING 4
#define ROW_SPACING 3

struct _DemurWrapLayout {
  GtkLayoutManager parent_instance;
};

G_DEFINE_FINAL_TYPE(DemurWrapLayout, demur_wrap_layout, GTK_TYPE_LAYOUT_MANAGER)

static GtkSizeRequestMode
get_request_mode(GtkLayoutManager *manager, GtkWidget *widget) {
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

/* Width and height of a child in a row of that width. */
static void
size_of(GtkWidget *child, int row_width, int *width, int *height) {
  int minimum, natural;
  gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL, NULL);
  *width = MAX(minimum, MIN(natural, row_width));
  gtk_widget_measure(child, GTK_ORIENTATION_VERTICAL, *width, height, NULL, NULL, NULL);
}

/* The first child behind the row that begins with `first`, and the row's height. */
static GtkWidget *
end_of_row(GtkWidget *first, int row_width, int *height) {
  int x = 0;
  *height = 0;
  for (GtkWidget *child = first; child != NULL; child = gtk_widget_get_next_sibling(child)) {
    int w, h;
    if (!gtk_widget_should_layout(child))
      continue;
    size_of(child, row_width, &w, &h);
    if (x > 0 && x + COLUMN_SPACING + w > row_width)
      return child;
    x += (x > 0 ? COLUMN_SPACING : 0) + w;
    *height = MAX(*height, h);
  }
  return NULL;
}

static void
measure(GtkLayoutManager *manager, GtkWidget *widget, GtkOrientation orientation, int for_size,
        int *minimum, int *natural, int *minimum_baseline, int *natural_baseline) {
  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_VERTICAL) {
    const int width = for_size >= 0 ? for_size : G_MAXINT / 2;
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;) {
      int height;
      child = end_of_row(child, width, &height);
      *minimum += (*minimum > 0 && height > 0 ? ROW_SPACING : 0) + height;
    }
    *natural = *minimum;
    return;
  }
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
       child = gtk_widget_get_next_sibling(child)) {
    int least, most;
    if (!gtk_widget_should_layout(child))
      continue;
    gtk_widget_measure(child, orientation, -1, &least, &most, NULL, NULL);
    *minimum = MAX(*minimum, least);
    *natural += (*natural > 0 ? COLUMN_SPACING : 0) + most;
  }
}

static void
allocate(GtkLayoutManager *manager, GtkWidget *widget, int width, int height, int baseline) {
  const gboolean from_right = gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL;
  int y = 0;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;) {
    int row_height, x = 0;
    GtkWidget *const end = end_of_row(child, width, &row_height);
    for (; child != end; child = gtk_widget_get_next_sibling(child)) {
      int w, h;
      if (!gtk_widget_should_layout(child))
        continue;
      size_of(child, width, &w, &h);
      gtk_widget_size_allocate(
          child, &(GtkAllocation){from_right ? width - x - w : x, y, w, row_height}, -1);
      x += w + COLUMN_SPACING;
    }
    y += row_height + (row_height > 0 ? ROW_SPACING : 0);
  }
}

static void
demur_wrap_layout_class_init(DemurWrapLayoutClass *class) {
  GtkLayoutManagerClass *layout = GTK_LAYOUT_MANAGER_CLASS(class);
  layout->get_request_mode = get_request_mode;
  layout->measure = measure;
  layout->allocate = allocate;
}

static void
demur_wrap_layout_init(DemurWrapLayout *layout) {
}
