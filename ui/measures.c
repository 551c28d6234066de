#include "ui/measures.h"

#include <math.h>

#include "report/format.h"
#include "ui/words.h"

guint
demur_tool_places(DemurTool tool) {
  return tool == DEMUR_TOOL_NONE ? 0 : tool == DEMUR_TOOL_ANGLE ? 3 : 2;
}

static char *
region_text(const DemurRegion *region, gboolean known, const char *unit) {
  if (region->n == 0)
    return g_strdup(_("no pixel lies within"));
  g_autofree char *mean = demur_text_formatted("%.1f", fabs(region->mean));
  g_autofree char *sd =
      isnan(region->sd) ? g_strdup(DEMUR_TEXT_UNDEFINED) : demur_text_formatted("%.1f", region->sd);
  g_autofree char *area = demur_text_formatted("%.1f", region->area_mm2);
  g_autofree char *size =
      known ? g_strdup_printf("%s mm²", area) : g_strdup_printf(_("%zu pixels"), region->n);
  return g_strdup_printf(_("mean %s%s %s, sd %s, %s"), region->mean < 0 ? "−" : "", mean, unit, sd,
                         size);
}

char *
demur_measured_text(const DemurMeasured *measured, const gint16 *hu, size_t rows, size_t columns,
                    const double spacing_mm[2], const char *unit) {
  const gboolean known = spacing_mm[0] > 0 && spacing_mm[1] > 0;
  const double square[2] = {1, 1};
  const double *spacing = known ? spacing_mm : square;
  const DemurPlace *places = measured->places;
  if (measured->tool == DEMUR_TOOL_REGION) {
    const DemurRegion region =
        demur_measure_ellipse(hu, rows, columns, spacing, places[0], places[1]);
    return region_text(&region, known, unit);
  }
  if (measured->tool == DEMUR_TOOL_ANGLE && measured->n_places == 3) {
    g_autofree char *degrees =
        demur_text_formatted("%.1f", demur_measure_angle(spacing, places[0], places[1], places[2]));
    return known ? g_strdup_printf("%s°", degrees)
                 : g_strdup(_("no angle: the spacing is not known"));
  }
  const double length = demur_measure_length(spacing, places[0], places[1]);
  g_autofree char *number = demur_text_formatted("%.1f", length);
  return known ? g_strdup_printf("%s mm", number) : g_strdup_printf(_("%s pixels"), number);
}
