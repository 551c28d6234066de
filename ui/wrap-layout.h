/* Lays children out like words: one behind the other at their natural width, in as many rows as it
 * takes, from the reading side. Nothing is made narrower than it wants to be while a row can hold
 * it. A template sets it as a box's layout manager. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_WRAP_LAYOUT (demur_wrap_layout_get_type())
G_DECLARE_FINAL_TYPE(DemurWrapLayout, demur_wrap_layout, DEMUR, WRAP_LAYOUT, GtkLayoutManager)

G_END_DECLS
