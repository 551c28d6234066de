#include "ui/measures.h"

#include <math.h>

static const char *const tool_names[DEMUR_N_TOOLS] = {
    [DEMUR_TOOL_NONE] = "none",
    [DEMUR_TOOL_LENGTH] = "length",
    [DEMUR_TOOL_ANGLE] = "angle",
    [DEMUR_TOOL_REGION] = "region",
};

const char *
demur_tool_name(DemurTool tool) {
  return tool_names[tool];
}

gboolean
demur_tool_from_name(const char *name, DemurTool *tool) {
  for (guint i = 0; i < DEMUR_N_TOOLS; i++)
    if (g_strcmp0(name, tool_names[i]) == 0) {
      *tool = (DemurTool)i;
      return TRUE;
    }
  return FALSE;
}

guint
demur_tool_places(DemurTool tool) {
  return tool == DEMUR_TOOL_NONE ? 0 : tool == DEMUR_TOOL_ANGLE ? 3 : 2;
}

static void
fill_region(const DemurMeasured *measured, const gint16 *hu, size_t rows, size_t columns,
            const double spacing[2], gboolean known, const char *unit, DemurAnnotation *a) {
  const DemurRegion region =
      demur_measure_ellipse(hu, rows, columns, spacing, measured->places[0], measured->places[1]);
  a->kind = DEMUR_ANNOTATION_REGION;
  a->value = region.mean;
  a->sd = region.sd;
  a->n_pixels = (gint64)region.n;
  a->area_mm2 = known ? region.area_mm2 : NAN;
  a->unit = (char *)unit;
}

void
demur_measured_fill(const DemurMeasured *measured, const gint16 *hu, size_t rows, size_t columns,
                    const double spacing_mm[2], const char *unit, DemurAnnotation *a) {
  const gboolean known = spacing_mm[0] > 0 && spacing_mm[1] > 0;
  const double square[2] = {1, 1};
  const double *spacing = known ? spacing_mm : square;
  const DemurPlace *places = measured->places;
  a->sd = a->area_mm2 = NAN;
  a->n_pixels = 0;
  a->n_places = measured->n_places;
  for (guint i = 0; i < measured->n_places; i++) {
    a->x[i] = places[i].x;
    a->y[i] = places[i].y;
  }
  if (measured->tool == DEMUR_TOOL_REGION) {
    fill_region(measured, hu, rows, columns, spacing, known, unit, a);
  } else if (measured->tool == DEMUR_TOOL_ANGLE && measured->n_places == 3) {
    a->kind = DEMUR_ANNOTATION_ANGLE;
    a->value = known ? demur_measure_angle(spacing, places[0], places[1], places[2]) : NAN;
    a->unit = (char *)"degree";
  } else {
    a->kind = DEMUR_ANNOTATION_LENGTH;
    a->value = demur_measure_length(spacing, places[0], places[1]);
    a->in_pixels = !known;
    a->unit = (char *)"mm";
  }
}
