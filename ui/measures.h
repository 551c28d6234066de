/* What was measured on one scan's images: with the plane and slice that it was measured on, and what
 * comes of it there. */
#pragma once

#include "tasks/annotations.h"
#include "dicom/reformat.h"
#include "ui/measure.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_TOOL_NONE,
  DEMUR_TOOL_LENGTH,
  DEMUR_TOOL_ANGLE,
  DEMUR_TOOL_REGION,
  DEMUR_N_TOOLS,
} DemurTool;

/* "none", "length", "angle", "region": the target of win.measure, "none" aside. FALSE: there is none
 * of that name. */
const char *demur_tool_name(DemurTool tool);
gboolean demur_tool_from_name(const char *name, DemurTool *tool) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  gint64 id; /* of what is kept (store/annotations.h); 0: not kept */
  DemurTool tool;
  guint plane;    /* DemurCtPlane */
  size_t slice;   /* of the plane */
  double slab_mm; /* and of this slab */
  DemurSlab slab;
  guint n_places; /* that are set: an angle gets its third last */
  DemurPlace places[3];
} DemurMeasured;

/* How many places the tool needs. */
guint demur_tool_places(DemurTool tool);

/* Kind, places and numbers of it into annotation, whose other members stay. In pixels where spacing
 * is not known. hu [rows][columns] is the plane that it lies on; unit (borrowed by annotation) "HU"
 * or another. */
void demur_measured_fill(const DemurMeasured *measured, const gint16 *hu, size_t rows,
                         size_t columns, const double spacing_mm[2], const char *unit,
                         DemurAnnotation *annotation);

G_END_DECLS
