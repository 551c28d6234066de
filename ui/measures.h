/* What was measured on one scan's images: kept with the plane and slice that it was measured on, and
 * worded there. */
#pragma once

#include "ui/measure.h"

G_BEGIN_DECLS

typedef enum { DEMUR_TOOL_NONE, DEMUR_TOOL_LENGTH, DEMUR_TOOL_ANGLE, DEMUR_TOOL_REGION } DemurTool;

typedef struct {
  DemurTool tool;
  guint plane;    /* DemurCtPlane */
  size_t slice;   /* of the plane */
  double slab_mm; /* and of this slab */
  guint n_places; /* that are set: an angle gets its third last */
  DemurPlace places[3];
} DemurMeasured;

/* How many places the tool needs. */
guint demur_tool_places(DemurTool tool);

/* "12.3 mm", "45.0°", "mean −812 HU, sd 34, 214 mm²" (owned). In pixels where spacing is not
 * known, and that is said. hu [rows][columns] is the plane that it lies on; unit "HU" or another. */
char *demur_measured_text(const DemurMeasured *measured, const gint16 *hu, size_t rows,
                          size_t columns, const double spacing_mm[2], const char *unit);

G_END_DECLS
