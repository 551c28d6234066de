/* The image's mouse and keys. */
#include "ui/ct-view-private.h"

static gboolean
on_scroll(GtkEventControllerScroll *controller, double dx, double dy, DemurCtView *view) {
  const GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
  if ((state & GDK_CONTROL_MASK) != 0)
    demur_ct_view_zoom(view, dy < 0 ? 1.15 : 1 / 1.15);
  else
    demur_ct_view_scroll(view, dy > 0 ? 1 : -1);
  return TRUE;
}

static void
on_motion(GtkEventControllerMotion *controller, double x, double y, DemurCtView *view) {
  view->pointer_x = x;
  view->pointer_y = y;
  view->has_pointer = TRUE;
  demur_ct_view_describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

static void
on_leave(GtkEventControllerMotion *controller, DemurCtView *view) {
  view->has_pointer = FALSE;
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

static void
on_drag_begin(GtkGestureDrag *gesture, double x, double y, DemurCtView *view) {
  gtk_widget_grab_focus(GTK_WIDGET(view));
  view->drag_width = view->width;
  view->drag_level = view->level;
  view->drag_x = view->pan_x;
  view->drag_y = view->pan_y;
  if (view->tool != DEMUR_TOOL_NONE && view->hu != NULL &&
      gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY) {
    demur_ct_view_begin_measure(view, demur_ct_view_place_at(view, x, y));
    view->measuring = TRUE;
    view->placing = FALSE;
  }
}

static void
on_drag_update(GtkGestureDrag *gesture, double dx, double dy, DemurCtView *view) {
  if (view->image == NULL)
    return;
  if (view->measuring) {
    double x, y;
    gtk_gesture_drag_get_start_point(gesture, &x, &y);
    demur_ct_view_go_on_measuring(view, demur_ct_view_place_at(view, x + dx, y + dy));
    return;
  }
  if (gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY) {
    if (fabs(dx) + fabs(dy) > 2)
      demur_ct_view_window(view, view->drag_width + dx * 4, view->drag_level + dy * 2);
    return;
  }
  view->pan_x = view->drag_x + dx;
  view->pan_y = view->drag_y + dy;
  demur_ct_view_changed(view);
}

static void
on_drag_end(GtkGestureDrag *gesture, double dx, double dy, DemurCtView *view) {
  if (!view->measuring) {
    double x, y;
    if (fabs(dx) + fabs(dy) <= 2 && gtk_gesture_drag_get_start_point(gesture, &x, &y) &&
        gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY)
      demur_ct_view_place_cross(view, demur_ct_view_place_at(view, x, y));
    return;
  }
  view->measuring = FALSE;
  const DemurMeasured *last =
      &g_array_index(view->measured, DemurMeasured, view->measured->len - 1);
  /* A click without a way measures nothing. */
  if (last->n_places == 2 && fabs(dx) + fabs(dy) < 2)
    g_array_set_size(view->measured, view->measured->len - 1);
  else if (last->n_places == demur_tool_places(last->tool))
    g_signal_emit_by_name(view, "measured");
  demur_ct_view_changed(view);
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       DemurCtView *view) {
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if ((state & GDK_SHIFT_MASK) != 0)
    return key == GDK_KEY_Up      ? demur_ct_view_nudge(view, 0, -1)
           : key == GDK_KEY_Down  ? demur_ct_view_nudge(view, 0, 1)
           : key == GDK_KEY_Left  ? demur_ct_view_nudge(view, -1, 0)
           : key == GDK_KEY_Right ? demur_ct_view_nudge(view, 1, 0)
                                  : FALSE;
  switch (key) {
  case GDK_KEY_Up:
    demur_ct_view_scroll(view, -1);
    return TRUE;
  case GDK_KEY_Down:
    demur_ct_view_scroll(view, 1);
    return TRUE;
  case GDK_KEY_Page_Up:
    demur_ct_view_scroll(view, -10);
    return TRUE;
  case GDK_KEY_Page_Down:
    demur_ct_view_scroll(view, 10);
    return TRUE;
  case GDK_KEY_Home:
    demur_ct_view_scroll(view, -G_MAXINT / 2);
    return TRUE;
  case GDK_KEY_End:
    demur_ct_view_scroll(view, G_MAXINT / 2);
    return TRUE;
  default:
    return FALSE;
  }
}

void
demur_ct_view_add_controllers(DemurCtView *view) {
  GtkEventController *scroll = gtk_event_controller_scroll_new(
      GTK_EVENT_CONTROLLER_SCROLL_VERTICAL | GTK_EVENT_CONTROLLER_SCROLL_DISCRETE);
  g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
  gtk_widget_add_controller(GTK_WIDGET(view), scroll);
  GtkEventController *motion = gtk_event_controller_motion_new();
  g_signal_connect(motion, "motion", G_CALLBACK(on_motion), view);
  g_signal_connect(motion, "leave", G_CALLBACK(on_leave), view);
  gtk_widget_add_controller(GTK_WIDGET(view), motion);
  GtkGesture *drag = gtk_gesture_drag_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), 0);
  g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), view);
  g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), view);
  g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), view);
  gtk_widget_add_controller(GTK_WIDGET(view), GTK_EVENT_CONTROLLER(drag));
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), view);
  gtk_widget_add_controller(GTK_WIDGET(view), keys);
}
