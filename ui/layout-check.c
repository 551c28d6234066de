#include "ui/layout-check.h"

#include "ui/ct-view.h"
#include "ui/text-cell.h"

/* A pixel is lost by rounding. */
#define SLACK 1.5f

typedef struct {
  GtkWidget *window;
  graphene_rect_t whole;
  GPtrArray *found;
} Check;

static gboolean
is_in(GtkWidget *widget, GType type) {
  return gtk_widget_get_ancestor(widget, type) != NULL;
}

static void
check_label(const Check *check, GtkLabel *label) {
  const char *text = gtk_label_get_text(label);
  PangoLayout *layout = gtk_label_get_layout(label);
  if (*text == '\0')
    return;
  int width, height;
  pango_layout_get_pixel_size(layout, &width, &height);
  const float have_width = (float)gtk_widget_get_width(GTK_WIDGET(label)),
              have_height = (float)gtk_widget_get_height(GTK_WIDGET(label));
  if (pango_layout_is_ellipsized(layout))
    g_ptr_array_add(check->found, g_strdup_printf("ends early: \"%s\"", text));
  else if ((float)width > have_width + SLACK || (float)height > have_height + SLACK)
    g_ptr_array_add(check->found,
                    g_strdup_printf("%d x %d in a place of %.0f x %.0f: \"%s\"", width, height,
                                    (double)have_width, (double)have_height, text));
}

/* A cell of a list that is seen: what isn't was not drawn. */
static void
check_cell(const Check *check, DemurTextCell *cell) {
  if (demur_text_cell_is_cut(cell) && !demur_text_cell_may_end(cell))
    g_ptr_array_add(check->found,
                    g_strdup_printf("a cell ends early: \"%s\"", demur_text_cell_text(cell)));
}

static void
check_two_drawn(const Check *check, const DemurDrawnText *a, const DemurDrawnText *b) {
  graphene_rect_t both;
  if (!a->is_measure && !b->is_measure &&
      graphene_rect_intersection(&a->bounds, &b->bounds, &both) && both.size.width > SLACK &&
      both.size.height > SLACK)
    g_ptr_array_add(check->found,
                    g_strdup_printf("on the image \"%s\" lies over \"%s\"", b->text, a->text));
}

/* Texts on an image. */
static void
check_image(const Check *check, DemurCtView *view) {
  const GArray *drawn = demur_ct_view_drawn(view);
  const graphene_rect_t whole =
      GRAPHENE_RECT_INIT(-SLACK, -SLACK, (float)gtk_widget_get_width(GTK_WIDGET(view)) + 2 * SLACK,
                         (float)gtk_widget_get_height(GTK_WIDGET(view)) + 2 * SLACK);
  for (guint i = 0; i < drawn->len; i++) {
    const DemurDrawnText *one = &g_array_index(drawn, DemurDrawnText, i);
    if (one->is_cut)
      g_ptr_array_add(check->found, g_strdup_printf("on the image ends early: \"%s\"", one->text));
    if (!one->is_measure && !graphene_rect_contains_rect(&whole, &one->bounds))
      g_ptr_array_add(check->found, g_strdup_printf("outside of the image: \"%s\"", one->text));
    for (guint j = 0; j < i; j++)
      check_two_drawn(check, &g_array_index(drawn, DemurDrawnText, j), one);
  }
}

/* What to call a widget by. */
static char *
name_of(GtkWidget *widget) {
  if (GTK_IS_LABEL(widget))
    return g_strdup_printf("\"%s\"", gtk_label_get_text(GTK_LABEL(widget)));
  if (GTK_IS_BUTTON(widget) && gtk_button_get_label(GTK_BUTTON(widget)) != NULL)
    return g_strdup_printf("button \"%s\"", gtk_button_get_label(GTK_BUTTON(widget)));
  const char *id = gtk_buildable_get_buildable_id(GTK_BUILDABLE(widget));
  return g_strdup_printf("%s %s", G_OBJECT_TYPE_NAME(widget), id != NULL ? id : "");
}

static gboolean
bounds_of(const Check *check, GtkWidget *widget, graphene_rect_t *bounds) {
  return gtk_widget_get_mapped(widget) &&
         gtk_widget_compute_bounds(widget, check->window, bounds) && bounds->size.width > 0 &&
         bounds->size.height > 0;
}

static void
check_inside(const Check *check, GtkWidget *widget) {
  graphene_rect_t bounds;
  if (is_in(widget, GTK_TYPE_SCROLLED_WINDOW) || !bounds_of(check, widget, &bounds))
    return;
  if (bounds.origin.x < check->whole.origin.x - SLACK ||
      bounds.origin.y < check->whole.origin.y - SLACK ||
      bounds.origin.x + bounds.size.width >
          check->whole.origin.x + check->whole.size.width + SLACK ||
      bounds.origin.y + bounds.size.height >
          check->whole.origin.y + check->whole.size.height + SLACK) {
    g_autofree char *name = name_of(widget);
    g_ptr_array_add(check->found, g_strdup_printf("outside of the window: %s", name));
  }
}

/* Children of a box, a grid or a flow stand beside one another. */
static void
check_beside(const Check *check, GtkWidget *parent) {
  if (!GTK_IS_BOX(parent) && !GTK_IS_GRID(parent) && !GTK_IS_FLOW_BOX(parent))
    return;
  for (GtkWidget *a = gtk_widget_get_first_child(parent); a != NULL;
       a = gtk_widget_get_next_sibling(a))
    for (GtkWidget *b = gtk_widget_get_next_sibling(a); b != NULL;
         b = gtk_widget_get_next_sibling(b)) {
      graphene_rect_t one, other, both;
      if (!bounds_of(check, a, &one) || !bounds_of(check, b, &other) ||
          !graphene_rect_intersection(&one, &other, &both) || both.size.width <= SLACK ||
          both.size.height <= SLACK)
        continue;
      g_autofree char *first = name_of(a), *second = name_of(b);
      g_ptr_array_add(check->found, g_strdup_printf("%s lies over %s", second, first));
    }
}

static void
visit(const Check *check, GtkWidget *widget) {
  if (!gtk_widget_get_mapped(widget))
    return;
  if (GTK_IS_LABEL(widget))
    check_label(check, GTK_LABEL(widget));
  else if (DEMUR_IS_TEXT_CELL(widget))
    check_cell(check, DEMUR_TEXT_CELL(widget));
  else if (DEMUR_IS_CT_VIEW(widget))
    check_image(check, DEMUR_CT_VIEW(widget));
  if (widget != check->window) /* which has a shadow around it */
    check_inside(check, widget);
  check_beside(check, widget);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
       child = gtk_widget_get_next_sibling(child))
    if (!GTK_IS_NATIVE(child))
      visit(check, child);
}

GPtrArray *
demur_layout_check(GtkWidget *window) {
  Check check = {.window = window, .found = g_ptr_array_new_with_free_func(g_free)};
  check.whole = GRAPHENE_RECT_INIT(0, 0, (float)gtk_widget_get_width(window),
                                   (float)gtk_widget_get_height(window));
  visit(&check, window);
  return check.found;
}
