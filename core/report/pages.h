/* The report's pages: which block stands where. Internal to the room. */
#pragma once

#include "report/family.h"
#include "report/layout.h"
#include "report/report.h"

G_BEGIN_DECLS

/* The paginated layout (owned); digest: hexadecimal, for the footer. input and what it points to
 * must outlive it. */
DemurLayout *demur_pages_layout(const DemurReportInput *input, const char *digest);

/* The same of a family: the page over the years, the cohort, a part a horizon, and what stands once
 * for all. */
DemurLayout *demur_pages_family_layout(const DemurFamilyReport *family, const char *digest);

/* A marked strip across the page (17 points with the gap below), for "Simulated data". */
void demur_pages_band(cairo_t *cr, const DemurPalette *palette, const char *text, double x,
                      double y, double width);

G_END_DECLS
