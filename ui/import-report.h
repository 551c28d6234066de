/* What an import did, in a window of its own. */
#pragma once

#include <gtk/gtk.h>

#include "ui/import-outcome.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_IMPORT_REPORT (demur_import_report_get_type())
G_DECLARE_FINAL_TYPE(DemurImportReport, demur_import_report, DEMUR, IMPORT_REPORT, GtkWindow)

/* Shows it; what is told is copied. Its actions are those of parent, the window. */
void demur_import_report_present(GtkWindow *parent, const DemurImportOutcome *outcome);

G_END_DECLS
