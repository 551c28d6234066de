/* A small bar as long as a risk; empty where the risk is not shown. The number stands beside it as
 * text, so the bar itself says nothing to a screen reader. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_RISK_BAR_FULL 0.5 /* this risk and every higher one fills the bar */

#define DEMUR_TYPE_RISK_BAR (demur_risk_bar_get_type())
G_DECLARE_FINAL_TYPE(DemurRiskBar, demur_risk_bar, DEMUR, RISK_BAR, GtkWidget)

GtkWidget *demur_risk_bar_new(void);
void demur_risk_bar_set(DemurRiskBar *bar, double risk); /* NaN: none */

G_END_DECLS
