#include "ui/wrap-row.h"

GtkWidget *
demur_wrap_row_new(GtkWidget *start, GtkWidget *end) {
  GtkFlowBox *row = GTK_FLOW_BOX(gtk_flow_box_new());
  gtk_flow_box_set_selection_mode(row, GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line(row, 2);
  gtk_widget_set_halign(start, GTK_ALIGN_START);
  gtk_widget_set_halign(end, GTK_ALIGN_END);
  GtkWidget *const groups[] = {start, end};
  for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
    gtk_flow_box_append(row, groups[i]);
    gtk_widget_set_focusable(gtk_widget_get_parent(groups[i]),
                             FALSE); /* Tab goes to what is in it */
  }
  return GTK_WIDGET(row);
}
