#include "ui/risk-bar.h"

#include <math.h>

#include "ui/theme.h"
#include "ui/words.h"

struct _DemurRiskBar {
  GtkWidget parent_instance;
  double risk;
};

G_DEFINE_FINAL_TYPE(DemurRiskBar, demur_risk_bar, GTK_TYPE_WIDGET)

static void
demur_risk_bar_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  const double risk = DEMUR_RISK_BAR(widget)->risk;
  const float width = (float)gtk_widget_get_width(widget), height = 6;
  if (isnan(risk) || width < 8)
    return;
  /* The whole width stands for DEMUR_RISK_BAR_FULL: most risks are small. */
  const float length = fmaxf(4, width * (float)fmin(1, risk / DEMUR_RISK_BAR_FULL));
  const GdkRGBA colour = demur_theme_verdict_colour(DEMUR_SHOWN_ACCEPTED);
  GskRoundedRect shape;
  const graphene_rect_t rect = GRAPHENE_RECT_INIT(
      0, floorf(((float)gtk_widget_get_height(widget) - height) / 2), length, height);
  gsk_rounded_rect_init_from_rect(&shape, &rect, 3);
  gtk_snapshot_push_rounded_clip(snapshot, &shape);
  gtk_snapshot_append_color(snapshot, &colour, &rect);
  gtk_snapshot_pop(snapshot);
}

static void
demur_risk_bar_class_init(DemurRiskBarClass *class) {
  GTK_WIDGET_CLASS(class)->snapshot = demur_risk_bar_snapshot;
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
demur_risk_bar_init(DemurRiskBar *bar) {
  bar->risk = NAN;
}

GtkWidget *
demur_risk_bar_new(void) {
  return g_object_new(DEMUR_TYPE_RISK_BAR, NULL);
}

void
demur_risk_bar_set(DemurRiskBar *bar, double risk) {
  bar->risk = risk;
  gtk_widget_queue_draw(GTK_WIDGET(bar));
}
