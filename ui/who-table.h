/* Who is rejected: a row a group with its share, its interval and a drawing of both, in a grid that the
 * page's template made. */
#pragma once

#include "ui/drawing.h"
#include "ui/operating-point.h"
#include "ui/text-cell.h"

G_BEGIN_DECLS

#define DEMUR_WHO_MOST 40 /* rows */

typedef struct {
  GtkGrid *grid;  /* the template's */
  GtkLabel *note; /* below it */
  struct {
    GtkLabel *name;
    DemurTextCell *n, *rate, *interval;
    DemurDrawing *drawing;
  } row[DEMUR_WHO_MOST];
  guint n_rows; /* 0: made anew by the next update */
} DemurWhoTable;

/* Fills it; rows are made anew where their number changed. */
void demur_who_table_update(DemurWhoTable *table, const DemurShownPoint *now);

/* What a screen reader hears of each drawing. */
void demur_who_table_describe(DemurWhoTable *table);

G_END_DECLS
