#include "ui/verdict-card.h"

#include "words/words.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "report/format.h"
#include "tasks/meaning.h"
#include "tasks/review.h"
#include "tasks/series-records.h"
#include "ui/alike-card.h"
#include "ui/drawing.h"
#include "ui/job.h"
#include "ui/scan-words.h"
#include "ui/shown.h"
#include "ui/theme.h"
#include "ui/words.h"
#include "ui/worker.h"

struct _DemurVerdictCard {
  GtkBox parent_instance;
  DemurSession *session;
  GtkBox *list; /* the cards, made anew by update() */
  GtkBox *meaning_box;
  GtkLabel *meaning;
  DemurJob *meaning_job;
  DemurMeaningReference *reference; /* what risks are compared with; NULL: not looked up yet */
  char *reference_of;               /* as reference_key makes it */
  DemurAlikeCard *alike;            /* kept over cases: it knows the reference of a selector */
  guint64 generation;  /* of the case that is shown: late answers of another are dropped */
  GtkBox *pending_box; /* visible while an opinion waits */
  GtkLabel *pending;
  DemurReviewKind proposal;
  gint64 proposed_of;         /* the verdict it is of */
  char *proposed_scan;        /* its scan */
  gboolean proposed_revealed; /* whether its risk had been revealed */
  gboolean details_shown;
  GtkWidget *agree, *disagree, *comment;
};

static void on_loaded(DemurVerdictCard *card);

G_DEFINE_FINAL_TYPE(DemurVerdictCard, demur_verdict_card, GTK_TYPE_BOX)

static void
demur_verdict_card_dispose(GObject *object) {
  DemurVerdictCard *card = DEMUR_VERDICT_CARD(object);
  demur_job_drop(&card->meaning_job);
  on_loaded(card);
  g_clear_pointer(&card->proposed_scan, g_free);
  g_clear_object(&card->alike);
  g_clear_object(&card->session);
  G_OBJECT_CLASS(demur_verdict_card_parent_class)->dispose(object);
}

/* Small builders. */

static GtkWidget *
add_label(GtkBox *box, const char *text, const char *style) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 10);
  if (style != NULL) {
    g_auto(GStrv) styles = g_strsplit(style, " ", -1);
    for (char **name = styles; *name != NULL; name++)
      gtk_widget_add_css_class(label, *name);
  }
  gtk_box_append(box, label);
  return label;
}

static GtkBox *
add_card(DemurVerdictCard *card, const char *heading) {
  GtkBox *box = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 5));
  gtk_widget_add_css_class(GTK_WIDGET(box), "card");
  if (heading != NULL)
    add_label(box, heading, "heading");
  gtk_box_append(card->list, GTK_WIDGET(box));
  return box;
}

static void
add_pair(GtkGrid *grid, int row, const char *name, const char *value) {
  GtkWidget *left = demur_shown_label_new(name);
  gtk_label_set_xalign(GTK_LABEL(left), 0);
  gtk_widget_set_valign(left, GTK_ALIGN_START);
  gtk_widget_add_css_class(left, "muted");
  GtkWidget *right = demur_shown_label_new(value);
  gtk_label_set_xalign(GTK_LABEL(right), 0);
  gtk_label_set_wrap(GTK_LABEL(right), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(right), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(right), 10);
  gtk_widget_set_hexpand(right, TRUE);
  gtk_grid_attach(grid, left, 0, row, 1, 1);
  gtk_grid_attach(grid, right, 1, row, 1, 1);
}

/* The score against the threshold, on a logit scale around it. */

typedef struct {
  double score, threshold;
  DemurShown shown;
} Gauge;

static double
logit(double p) {
  const double clipped = CLAMP(p, 1e-9, 1 - 1e-9);
  return log(clipped / (1 - clipped));
}

static void
draw_gauge(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Gauge *gauge = data;
  const double half = fmax(4, fabs(logit(gauge->score) - logit(gauge->threshold)) * 1.15);
  const double middle = r.x + r.width / 2, y = r.y + 7;
  const double x =
      middle + (logit(gauge->score) - logit(gauge->threshold)) / half * (r.width / 2 - 8);
  const GdkRGBA below = demur_theme_verdict_colour(DEMUR_SHOWN_RED_FLAG);
  const GdkRGBA above = demur_theme_verdict_colour(DEMUR_SHOWN_ACCEPTED);
  cairo_set_source_rgba(cr, below.red, below.green, below.blue, 0.35);
  cairo_rectangle(cr, r.x, y - 2.5, middle - r.x, 5);
  cairo_fill(cr);
  cairo_set_source_rgba(cr, above.red, above.green, above.blue, 0.35);
  cairo_rectangle(cr, middle, y - 2.5, r.x + r.width - middle, 5);
  cairo_fill(cr);
  demur_chart_colour(cr, palette->ink, 1);
  cairo_rectangle(cr, middle - 1, y - 7, 2, 14);
  cairo_fill(cr);
  const GdkRGBA mark = demur_theme_verdict_colour((int)gauge->shown);
  cairo_set_source_rgba(cr, mark.red, mark.green, mark.blue, 1);
  if (gauge->shown == DEMUR_SHOWN_ACCEPTED) {
    cairo_arc(cr, x, y, 6, 0, 2 * G_PI);
  } else {
    cairo_move_to(cr, x, y - 5);
    cairo_line_to(cr, x + 7, y + 7);
    cairo_line_to(cr, x - 7, y + 7);
    cairo_close_path(cr);
  }
  cairo_fill(cr);
}

/* Yearly risks. */

/* The height of the chart: one scale for every scan, so that bars of two can be compared. */
#define YEARLY_FULL 0.3

typedef struct {
  double risks[DEMUR_N_YEARS];
  DemurShown shown;
} Yearly;

/* A risk above the scale fills it, and its number says how much it is. A revealed one is drawn
 * hollow in the colour of its verdict: it is not one that may be relied on. */
static void
draw_year(cairo_t *cr, const Yearly *yearly, int year, DemurRectangle bar) {
  const GdkRGBA colour = demur_theme_verdict_colour(yearly->shown);
  const gboolean accepted = yearly->shown == DEMUR_SHOWN_ACCEPTED;
  cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue,
                        !accepted || year == DEMUR_N_YEARS - 1 ? 1 : 0.6);
  if (accepted) {
    cairo_rectangle(cr, bar.x, bar.y, bar.width, bar.height);
    cairo_fill(cr);
  } else {
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, bar.x + 0.5, bar.y + 0.5, bar.width - 1, fmax(bar.height - 1, 0.5));
    cairo_stroke(cr);
  }
}

static void
draw_yearly(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Yearly *yearly = data;
  const double step = r.width / DEMUR_N_YEARS, top = 16, base = r.height - 17;
  demur_chart_colour(cr, palette->grid, 1);
  cairo_set_line_width(cr, 1);
  cairo_move_to(cr, r.x, r.y + base + 0.5);
  cairo_line_to(cr, r.x + r.width, r.y + base + 0.5);
  cairo_stroke(cr);
  for (int y = 0; y < DEMUR_N_YEARS; y++) {
    const double x = r.x + (y + 0.5) * step;
    g_autofree char *year = g_strdup_printf("%d", y + 1);
    demur_chart_text(cr, palette, year, palette->font_size * 0.95, FALSE, palette->muted, x,
                     r.y + r.height, 0.5, 1, 0);
    if (isnan(yearly->risks[y]))
      continue;
    const double height = fmax(1.5, (base - top) * fmin(1, yearly->risks[y] / YEARLY_FULL));
    draw_year(cr, yearly, y,
              (DemurRectangle){x - step * 0.3, r.y + base - height, step * 0.6, height});
    g_autofree char *text = demur_text_percent(yearly->risks[y], 1);
    demur_chart_text(cr, palette, text, palette->font_size * 0.92, y == DEMUR_N_YEARS - 1,
                     palette->ink, x, r.y + base - height - 2, 0.5, 1, step);
  }
}

static void
add_yearly(GtkBox *box, const DemurScan *scan) {
  gboolean any = FALSE;
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    any |= !isnan(scan->yearly_risks[y]);
  if (!any)
    return;
  DemurDrawing *drawing = demur_drawing_new(_("Risk by year"), 200, 64);
  gtk_widget_set_hexpand(GTK_WIDGET(drawing), TRUE);
  gtk_widget_set_margin_top(GTK_WIDGET(drawing), 4);
  Yearly *yearly = g_new(Yearly, 1);
  memcpy(yearly->risks, scan->yearly_risks, sizeof yearly->risks);
  yearly->shown = scan->shown;
  g_autoptr(GString) text = g_string_new(NULL);
  for (int y = 0; y < DEMUR_N_YEARS; y++) {
    g_autofree char *risk = demur_text_percent(scan->yearly_risks[y], 1);
    g_string_append_printf(text, _("%syear %d: %s"), y > 0 ? "; " : "", y + 1, risk);
  }
  demur_drawing_set(drawing, draw_yearly, NULL, yearly, g_free);
  demur_drawing_describe(drawing, text->str);
  gtk_box_append(box, GTK_WIDGET(drawing));
  /* The selector's recalibration is of its own horizon's risk only. */
  const double risk = demur_scan_revealed_risk(scan),
               years = isnan(scan->horizon_years) ? DEMUR_N_YEARS : scan->horizon_years;
  const int last = years >= 1.0 && years <= DEMUR_N_YEARS ? (int)years - 1 : DEMUR_N_YEARS - 1;
  if (fabs(risk - scan->yearly_risks[last]) > 5e-4)
    add_label(
        box,
        _("Years after the scan, as the model gave them, to one scale for all cases; the risk above "
          "is recalibrated."),
        "muted small");
  else
    add_label(box, _("Years after the scan, as the model gave them, to one scale for all cases."),
              "muted small");
}

/* The cards. */

/* Whether an alarm holds every new risk back. */
static gboolean
is_withheld(const DemurScan *scan) {
  g_autoptr(GPtrArray) reasons = demur_scan_told_reasons(scan, FALSE);
  return reasons->len > 0 && ((const DemurReason *)reasons->pdata[0])->kind == DEMUR_REASON_WATCH;
}

/* Whether nothing but that holds the risk back: where the selector refuses the scan too its reasons
 * stand behind, or that they can't be told. */
static gboolean
is_stopped(const DemurScan *scan) {
  g_autoptr(GPtrArray) reasons = demur_scan_told_reasons(scan, FALSE);
  for (guint i = 1; i < reasons->len; i++)
    if (((const DemurReason *)reasons->pdata[i])->kind != DEMUR_REASON_OVERRULED)
      return FALSE;
  return is_withheld(scan);
}

static const char *
verdict_sentence(const DemurScan *scan, DemurRemedy remedy) {
  if (remedy == DEMUR_REMEDY_RESOLVE)
    return _("Possible mix-up: decide which images are right");
  if (remedy == DEMUR_REMEDY_COHORT)
    return _("Out of date: import the cohort again");
  switch (scan->shown) {
  case DEMUR_SHOWN_ACCEPTED:
    return _("Accepted: the risk is shown");
  case DEMUR_SHOWN_RED_FLAG:
    return is_stopped(scan) ? _("Red flag: an alarm holds every risk back")
                            : _("Red flag: do not rely on this risk");
  case DEMUR_SHOWN_NOT_ELIGIBLE:
    return _("Not eligible: this series is not assessed");
  case DEMUR_SHOWN_NO_SCORE:
    return _("No score: the external model has not seen it");
  case DEMUR_SHOWN_NOT_TUNED:
    return _("Not tuned: no threshold yet");
  case DEMUR_SHOWN_FAILED:
    return _("Failed: it could not be assessed");
  case DEMUR_SHOWN_OUT_OF_DATE:
    return _("Out of date: assess again");
  default:
    return _("Not assessed yet: Assess all series in the menu, once there are scores");
  }
}

/* What a verdict that holds asks of the reader; NULL: nothing. */
static const char *
held_sentence(const DemurScan *scan) {
  switch (scan->shown) {
  case DEMUR_SHOWN_ACCEPTED:
    return _("The risk may be read. Accepted does not mean that it is low.");
  case DEMUR_SHOWN_RED_FLAG:
    if (is_stopped(scan))
      return _("It is not about this scan: the scans that arrive have changed, so no new risk is "
               "shown until somebody lifts the alarm on the Watch page. Read the scan as if there "
               "were no risk from the model.");
    return _("The model is least to be trusted on scans like this one. Read it as if there were no "
             "risk from the model.");
  case DEMUR_SHOWN_NOT_ELIGIBLE:
    return _("Read the scan without a risk, or see whether another series of the study is "
             "assessed.");
  default:
    return NULL;
  }
}

/* What it asks of the reader (owned); NULL where a button or the title says it. */
static char *
what_to_do(const DemurScan *scan, DemurRemedy remedy) {
  switch (remedy) {
  case DEMUR_REMEDY_TUNE:
    return g_strdup_printf(
        _("Selector %s has no threshold: choose on the Cohort page how many "
          "scans are to be accepted, and use this coverage. Then assess again. Until "
          "then read the scan without a risk."),
        scan->selector);
  case DEMUR_REMEDY_TRAIN:
    return g_strdup(_("There is no selector yet: train one on the Cohort page first."));
  case DEMUR_REMEDY_SCORE:
    return g_strdup(scan->shown == DEMUR_SHOWN_FAILED
                        ? _("Read the scan without a risk until what failed is mended.")
                        : _("Import what the model said of this series. Then assess again. Until "
                            "then read the scan without a risk."));
  case DEMUR_REMEDY_NONE:
    return g_strdup(held_sentence(scan));
  default:
    return NULL;
  }
}

/* What to do with images that contradict others. */
static const char *
conflict_sentence(void) {
  return _(
      "These images came a second time, under another person or changed, so they may not be this "
      "patient's. Find out whose they are before you read them; no risk is shown until then.");
}

/* Why a verdict no longer holds and what to read by; the title and the button say what to do (owned). */
static char *
outdated_sentence(const DemurScan *scan, DemurRemedy remedy) {
  if (remedy == DEMUR_REMEDY_RESOLVE)
    return g_strdup(conflict_sentence());
  g_auto(GStrv) causes = demur_words_causes(scan->outdated, demur_words_translate);
  g_autofree char *all = g_strjoinv("; ", causes);
  return g_strdup_printf(
      remedy == DEMUR_REMEDY_COHORT
          ? _("The verdict no longer holds: %s. If they are of its model, import the table again "
              "under that model's name, then assess again. Until then read the scan without a risk.")
          : _("The verdict no longer holds: %s. Read the scan without a risk until it is assessed "
              "again."),
      all);
}

static GtkWidget *
key_button(const char *label, const char *key, const char *action) {
  GtkWidget *button = gtk_button_new();
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 7);
  gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
  GtkWidget *text = demur_shown_label_new(label);
  GtkWidget *cap = demur_shown_label_new(key);
  gtk_widget_add_css_class(cap, "key");
  gtk_widget_set_valign(cap, GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(box), text);
  gtk_box_append(GTK_BOX(box), cap);
  gtk_button_set_child(GTK_BUTTON(button), box);
  demur_shown_name_set(GTK_WIDGET(button), label);
  gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
  return button;
}

/* What leads on, one button. */
static GtkWidget *
remedy_button(const DemurScan *scan, DemurRemedy remedy) {
  switch (remedy) {
  case DEMUR_REMEDY_RESOLVE:
    return key_button(_("Resolve…"), "Y", "win.resolve");
  case DEMUR_REMEDY_TUNE:
    return key_button(_("Choose a coverage…"), "E", "win.assess-case");
  case DEMUR_REMEDY_COHORT:
    return key_button(_("Import the cohort again…"), "E", "win.assess-case");
  case DEMUR_REMEDY_SCORE:
    return key_button(_("Import scores…"), "E", "win.assess-case");
  case DEMUR_REMEDY_TRAIN:
    return key_button(_("Go to the Cohort page"), "E", "win.assess-case");
  default:
    return key_button(scan->shown == DEMUR_SHOWN_OUT_OF_DATE ? _("Assess again") : _("Assess"), "E",
                      "win.assess-case");
  }
}

/* Beside a risk that is told: how far it may be off at its hospital. */
static void
add_interval(GtkBox *box, const DemurScan *scan, gboolean revealed) {
  double ends[2];
  if (!demur_scan_told_interval(scan, revealed, &ends[0], &ends[1]))
    return;
  g_autofree char *low = demur_text_percent(ends[0], 1);
  g_autofree char *high = demur_text_percent(ends[1], 1);
  g_autofree char *text =
      demur_words_risk_interval(low, high, scan->audited, demur_words_translate);
  add_label(box, text, "small");
}

static char *
risk_of(const DemurScan *scan) {
  return demur_words_risk_of(scan->outcome, scan->horizon_years, demur_words_translate);
}

static void
add_verdict(DemurVerdictCard *card, const DemurScan *scan) {
  const gboolean revealed = demur_session_revealed(card->session);
  const DemurRemedy remedy = demur_scan_remedy(demur_session_table(card->session), scan);
  GtkBox *box = add_card(card, NULL);
  gtk_widget_add_css_class(GTK_WIDGET(box), "verdict-card");
  /* A possible mix-up of patients is no state among others. */
  const gboolean mixed = remedy == DEMUR_REMEDY_RESOLVE;
  const char *colour = demur_shown_style(mixed ? DEMUR_SHOWN_RED_FLAG : scan->shown);
  gtk_widget_add_css_class(GTK_WIDGET(box), colour);
  g_autofree char *title = g_strdup_printf("%s %s", mixed ? "⚠" : demur_shown_glyph(scan->shown),
                                           verdict_sentence(scan, remedy));
  g_autofree char *style = g_strdup_printf("verdict-title %s", colour);
  add_label(box, title, style);
  if (scan->shown == DEMUR_SHOWN_ACCEPTED) {
    GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10));
    g_autofree char *risk = demur_text_percent(scan->risk, 1);
    GtkWidget *big = demur_shown_label_new(risk);
    gtk_widget_add_css_class(big, "big");
    gtk_box_append(line, big);
    g_autofree char *of = risk_of(scan);
    GtkWidget *unit = demur_shown_label_new(of);
    gtk_label_set_xalign(GTK_LABEL(unit), 0);
    gtk_label_set_wrap(GTK_LABEL(unit), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(unit), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_width_chars(GTK_LABEL(unit), 10);
    gtk_widget_set_hexpand(unit, TRUE);
    gtk_widget_add_css_class(unit, "muted");
    gtk_widget_set_valign(unit, GTK_ALIGN_END);
    gtk_widget_set_margin_bottom(unit, 5);
    gtk_box_append(line, unit);
    gtk_box_append(box, GTK_WIDGET(line));
    add_interval(box, scan, FALSE);
  } else if (scan->shown == DEMUR_SHOWN_RED_FLAG && !revealed) {
    GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10));
    GtkWidget *big = demur_shown_label_new(_("Risk held back"));
    gtk_widget_add_css_class(big, "title");
    gtk_label_set_xalign(GTK_LABEL(big), 0);
    gtk_label_set_wrap(GTK_LABEL(big), TRUE); /* beside the button it is wide in German */
    gtk_widget_set_hexpand(big, TRUE);
    gtk_box_append(line, big);
    GtkWidget *reveal = key_button(_("Reveal"), "R", "win.reveal");
    demur_shown_tooltip_set(reveal, _("Show the held-back risk of this case; that is kept"));
    gtk_widget_set_valign(reveal, GTK_ALIGN_CENTER);
    gtk_box_append(line, reveal);
    gtk_box_append(box, GTK_WIDGET(line));
    add_label(box, _("Revealing it is recorded with your name."), "muted small");
  } else if (scan->shown == DEMUR_SHOWN_RED_FLAG) {
    g_autofree char *risk = demur_text_percent(demur_scan_revealed_risk(scan), 1);
    g_autofree char *text = g_strdup_printf(_("Revealed: %s"), risk), *of = risk_of(scan);
    add_label(box, text, "title");
    add_label(box, of, "muted");
    add_label(box, _("A risk that the selector does not trust. The reveal was kept."),
              "muted small");
    add_interval(box, scan, TRUE);
  }
  g_autofree char *todo = what_to_do(scan, remedy);
  if (scan->shown != DEMUR_SHOWN_OUT_OF_DATE && remedy == DEMUR_REMEDY_RESOLVE)
    add_label(box, conflict_sentence(), NULL);
  if (scan->shown == DEMUR_SHOWN_OUT_OF_DATE) {
    g_autofree char *why = outdated_sentence(scan, remedy);
    add_label(box, why, NULL);
  }
  if (todo != NULL)
    add_label(box, todo, NULL);
  if (remedy != DEMUR_REMEDY_NONE) {
    GtkWidget *again = remedy_button(scan, remedy);
    gtk_widget_add_css_class(again, "primary");
    gtk_widget_set_halign(again, GTK_ALIGN_START);
    gtk_widget_set_sensitive(again, !demur_session_read_only(card->session));
    gtk_box_append(box, again);
  }
  if (scan->shown == DEMUR_SHOWN_RED_FLAG && is_withheld(scan)) {
    GtkWidget *watch = gtk_button_new_with_label(_("Go to the Watch page"));
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(watch), "win.page::watch");
    gtk_widget_add_css_class(watch, "primary");
    gtk_widget_set_halign(watch, GTK_ALIGN_START);
    gtk_box_append(box, watch);
  }
  const gboolean told =
      scan->shown == DEMUR_SHOWN_ACCEPTED || (scan->shown == DEMUR_SHOWN_RED_FLAG && revealed);
  if (told) /* what is read in five seconds stands above it */
    add_yearly(box, scan);
  if (told && !isnan(scan->score) && !isnan(scan->threshold)) {
    g_autofree char *score = demur_text_significant(scan->score, 3);
    g_autofree char *threshold = demur_text_significant(scan->threshold, 3);
    g_autofree char *text = g_strdup_printf(
        _("The selector trusts the model on this scan with %s; %s is enough."), score, threshold);
    g_auto(GStrv) reasons = demur_scan_reasons(scan, revealed, NULL);
    if (reasons[0] == NULL) /* else their own card says why */
      gtk_widget_set_margin_top(add_label(box, _("Why"), "heading"), 4);
    add_label(box, text, NULL);
    DemurDrawing *gauge = demur_drawing_new(_("Score against the threshold"), 120, 16);
    Gauge *data = g_new(Gauge, 1);
    *data = (Gauge){scan->score, scan->threshold, scan->shown};
    demur_drawing_set(gauge, draw_gauge, NULL, data, g_free);
    demur_drawing_describe(gauge, text);
    gtk_box_append(box, GTK_WIDGET(gauge));
  }
}

/* With a capital letter (owned). */
static char *
as_sentence(const char *text) {
  char first[7] = "";
  g_unichar_to_utf8(g_unichar_toupper(g_utf8_get_char(text)), first);
  return *text != '\0' ? g_strconcat(first, g_utf8_next_char(text), NULL) : g_strdup("");
}

static void
on_details(GtkExpander *expander, GParamSpec *spec, DemurVerdictCard *card) {
  card->details_shown = gtk_expander_get_expanded(expander);
}

/* A place below what is read first, folded until a reader wants it, then open for every case. */
static GtkBox *
add_details(DemurVerdictCard *card, GtkBox *box) {
  GtkWidget *expander = gtk_expander_new(NULL);
  GtkWidget *title = demur_shown_label_new(_("More about such scans"));
  gtk_widget_add_css_class(title, "muted");
  gtk_expander_set_label_widget(GTK_EXPANDER(expander), title);
  demur_shown_name_set(expander, _("More about such scans"));
  GtkWidget *within = gtk_box_new(GTK_ORIENTATION_VERTICAL, 5);
  gtk_expander_set_child(GTK_EXPANDER(expander), within);
  gtk_expander_set_expanded(GTK_EXPANDER(expander), card->details_shown);
  g_signal_connect(expander, "notify::expanded", G_CALLBACK(on_details), card);
  gtk_box_append(box, expander);
  return GTK_BOX(within);
}

/* How many of them, from the last, are of scans at large. */
static size_t
n_context(DemurVerdictCard *card, const DemurScan *scan) {
  g_autoptr(GPtrArray) told = demur_scan_told_reasons(scan, demur_session_revealed(card->session));
  size_t n = 0;
  while (n < told->len && demur_reason_is_context(told->pdata[told->len - 1 - n]))
    n++;
  return n;
}

static void
add_reasons(DemurVerdictCard *card, const DemurScan *scan) {
  if (scan->shown == DEMUR_SHOWN_NOT_TUNED)
    return; /* the verdict says it itself */
  guint n_numbered;
  g_auto(GStrv) reasons =
      demur_scan_reasons(scan, demur_session_revealed(card->session), &n_numbered);
  if (reasons[0] == NULL)
    return;
  GtkBox *box = add_card(card, _("Why"));
  const size_t n = g_strv_length(reasons), first_context = n - MIN(n, n_context(card, scan));
  GtkBox *details = NULL;
  for (size_t i = 0; i < n; i++) {
    g_autofree char *text = as_sentence(reasons[i]);
    if (i > 0 && i >= first_context) {
      details = details != NULL ? details : add_details(card, box);
      add_label(details, text, "muted small");
      continue;
    }
    if (i >= n_numbered) { /* the first of all is what there is to be said */
      gtk_widget_set_margin_top(add_label(box, text, i == 0 ? NULL : "muted small"),
                                i > 0 && i == n_numbered ? 4 : 0);
      continue;
    }
    GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 9));
    g_autofree char *number = g_strdup_printf("%zu", i + 1);
    GtkWidget *mark = demur_shown_label_new(number);
    gtk_widget_add_css_class(mark, "strong");
    gtk_widget_add_css_class(mark, demur_shown_style(scan->shown));
    gtk_widget_set_valign(mark, GTK_ALIGN_START);
    gtk_box_append(line, mark);
    gtk_widget_set_hexpand(add_label(line, text, NULL), TRUE);
    gtk_box_append(box, GTK_WIDGET(line));
  }
}

/* A series that has a verdict, while another one of its study is assessed now. */
static void
add_set_aside(DemurVerdictCard *card, const DemurScan *scan) {
  if (scan->set_aside == NULL || scan->verdict_id == 0 || scan->shown == DEMUR_SHOWN_NOT_ELIGIBLE ||
      scan->waits) /* the verdict says it itself */
    return;
  GtkBox *box = add_card(card, _("Not the assessed series now"));
  g_autofree char *why = demur_words_kept(scan->set_aside, demur_words_translate);
  add_label(box, why, NULL);
}

static void
say_meaning(DemurVerdictCard *card, const DemurScan *scan) {
  const DemurMeaningReference *reference = card->reference;
  const DemurMeaning meaning = demur_meaning_find(reference, scan->risk, scan->patient_id);
  if (meaning.n == 0) {
    demur_shown_label_set(card->meaning,
                          _("No accepted scan of a known outcome says what this risk "
                            "means here."));
    return;
  }
  if (!demur_meaning_is_told(&meaning)) {
    g_autofree char *few =
        g_strdup_printf(_("Fewer than %d accepted scans of cohort %s lie near this risk: what "
                          "became of them is withheld."),
                        DEMUR_SMALL_CELL, reference->cohort);
    demur_shown_label_set(card->meaning, few);
    return;
  }
  g_autofree char *low = demur_text_percent(meaning.risk_low, 1);
  g_autofree char *high = demur_text_percent(meaning.risk_high, 1);
  g_autofree char *rate = demur_text_percent((double)meaning.n_positive / (double)meaning.n, 1);
  g_autofree char *rate_low = demur_text_percent(meaning.rate_low, 1);
  g_autofree char *rate_high = demur_text_percent(meaning.rate_high, 1);
  g_autofree char *n = demur_text_count(meaning.n);
  g_autofree char *outcome = demur_words_outcome(&reference->outcome, demur_words_translate);
  g_autofree char *text = g_strdup_printf(
      ngettext_(
          "Of %s accepted scan with a risk of %s to %s in cohort %s, %s %s (95 %% interval of that share: "
          "%s to %s).",
          "Of %s accepted scans with a risk of %s to %s in cohort %s, %s %s (95 %% interval of that share: "
          "%s to %s).",
          meaning.n),
      n, low, high, reference->cohort, rate, outcome, rate_low, rate_high);
  demur_shown_label_set(card->meaning, text);
}

/* What the reference depends on (owned). */
static char *
reference_key(const DemurScan *scan) {
  return g_strdup_printf("%s\n%s\n%s", scan->selector, scan->source != NULL ? scan->source : "",
                         scan->split);
}

static void
on_meaning(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurVerdictCard *card = owner;
  if (tag != card->generation) {
    demur_meaning_reference_free(result);
    return;
  }
  card->meaning_job = NULL;
  if (result == NULL) {
    g_autofree char *why = error != NULL ? demur_words_error(error) : NULL;
    demur_shown_label_set(card->meaning, why != NULL
                                             ? why
                                             : _("No cohort with known outcomes says what this "
                                                 "risk means here."));
    return;
  }
  const DemurScan *scan = demur_session_scan(card->session);
  g_clear_pointer(&card->reference, demur_meaning_reference_free);
  card->reference = result;
  g_free(card->reference_of);
  card->reference_of = reference_key(scan);
  say_meaning(card, scan);
}

typedef struct {
  char *path, *selector, *cohort, *split; /* of the scan; cohort NULL: a DICOM series */
} MeaningInput;

static void
meaning_input_free(gpointer data) {
  MeaningInput *input = data;
  g_free(input->path);
  g_free(input->selector);
  g_free(input->cohort);
  g_free(input->split);
  g_free(input);
}

static gpointer
meaning_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const MeaningInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, NULL, progress);
  g_autofree char *cohort = NULL, *split = NULL;
  if (!demur_task_meaning_choose(&task, input->selector, input->cohort, input->split, &cohort,
                                 &split, error) ||
      cohort == NULL)
    return NULL;
  const DemurMeaningParams params = {.selector = input->selector, .cohort = cohort, .split = split};
  return demur_task_meaning_reference(&task, &params, error);
}

static void
meaning_free(gpointer reference) {
  demur_meaning_reference_free(reference);
}

/* The reference is made once a workspace and selector: a case costs nothing then. */
static void
add_meaning(DemurVerdictCard *card, const DemurScan *scan) {
  if (isnan(scan->risk) || *scan->selector == '\0')
    return;
  GtkBox *box = add_card(card, _("What this risk means here"));
  card->meaning = GTK_LABEL(add_label(box, _("Looking it up…"), NULL));
  g_autofree char *key = reference_key(scan);
  if (g_strcmp0(card->reference_of, key) == 0) {
    say_meaning(card, scan);
    return;
  }
  if (!gtk_widget_get_mapped(GTK_WIDGET(card)))
    return; /* looked up when it is seen: stepping through the worklist costs nothing */
  MeaningInput *input = g_new(MeaningInput, 1);
  *input = (MeaningInput){g_strdup(demur_session_path(card->session)), g_strdup(scan->selector),
                          g_strdup(scan->source), g_strdup(scan->split)};
  const DemurJobStart start = {.func = meaning_work,
                               .input = input,
                               .free_input = meaning_input_free,
                               .free_result = meaning_free,
                               .owner = G_OBJECT(card),
                               .tag = card->generation,
                               .done = on_meaning};
  card->meaning_job = demur_job_start(&start);
}

/* Another workspace, threshold or selector: what was looked up is of before. */
static void
on_loaded(DemurVerdictCard *card) {
  g_clear_pointer(&card->reference, demur_meaning_reference_free);
  g_clear_pointer(&card->reference_of, g_free);
  if (card->alike != NULL)
    demur_alike_card_forget(card->alike);
}

static void
add_warnings(DemurVerdictCard *card, const DemurScan *scan) {
  g_auto(GStrv) warnings = demur_dicom_warning_words(scan->warnings, demur_words_translate);
  if (warnings[0] == NULL)
    return;
  GtkBox *box = add_card(card, _("About this series"));
  for (char **warning = warnings; *warning != NULL; warning++) {
    g_autofree char *text = g_strdup_printf("· %s", *warning);
    /* A long comment has a few lines here and the rest in its tooltip. */
    GtkWidget *label = add_label(box, text, "small");
    gtk_label_set_lines(GTK_LABEL(label), 6);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    if (strlen(text) > 200)
      demur_shown_tooltip_set(label, text);
  }
}

static void
add_provenance(DemurVerdictCard *card, const DemurScan *scan) {
  if (*scan->selector == '\0')
    return;
  GtkBox *box = add_card(card, _("Where this comes from"));
  GtkGrid *grid = GTK_GRID(gtk_grid_new());
  gtk_grid_set_column_spacing(grid, 12);
  gtk_grid_set_row_spacing(grid, 3);
  gtk_widget_add_css_class(GTK_WIDGET(grid), "small");
  g_autofree char *digest = demur_text_digest(scan->selector_digest);
  g_autofree char *selector = g_strdup_printf("%s · %s", scan->selector, digest);
  g_autofree char *coverage = demur_text_coverage(scan->coverage);
  g_autofree char *threshold = demur_text_significant(scan->threshold, 4);
  g_autofree char *tuned = isnan(scan->threshold)
                               ? g_strdup(_("not tuned"))
                               : g_strdup_printf(_("%s, threshold %s"), coverage, threshold);
  g_autofree char *date = demur_translate_day(demur_words_translate, scan->assessed);
  add_pair(grid, 0, _("Model"), scan->model);
  add_pair(grid, 1, _("Selector"), selector);
  add_pair(grid, 2, _("Coverage"), tuned);
  add_pair(grid, 3, _("Source"), scan->source != NULL ? scan->source : _("DICOM series"));
  add_pair(grid, 4,
           scan->shown == DEMUR_SHOWN_NOT_ELIGIBLE || scan->shown == DEMUR_SHOWN_NO_SCORE ||
                   scan->shown == DEMUR_SHOWN_FAILED || scan->shown == DEMUR_SHOWN_NOT_TUNED
               ? _("Looked at")
               : _("Assessed"),
           date);
  add_pair(grid, 5, _("Program"), "Demur " DEMUR_VERSION);
  gtk_box_append(box, GTK_WIDGET(grid));
}

/* What was said before, newest first. */
static void
add_history(DemurVerdictCard *card, const DemurScan *scan) {
  const gssize row = demur_session_row(card->session);
  const DemurScanReview *mine = &demur_session_table(card->session)->reviews[row];
  if (!mine->has_history)
    return;
  g_auto(DemurTask) task = {.workspace_path = g_strdup(demur_session_path(card->session)),
                            .opening = DEMUR_WORKSPACE_READ_ONLY};
  g_autoptr(GPtrArray) reviews = demur_task_reviews(&task, scan->source, scan->scan_id, NULL);
  if (reviews == NULL || reviews->len == 0)
    return;
  GtkBox *box = add_card(card, _("Reviews"));
  for (guint i = 0; i < MIN(reviews->len, 8); i++) {
    const DemurReviewRecord *review = reviews->pdata[i];
    const char *what = review->kind == DEMUR_REVIEW_AGREE      ? _("agreed")
                       : review->kind == DEMUR_REVIEW_DISAGREE ? _("disagreed")
                       : review->kind == DEMUR_REVIEW_COMMENT  ? _("commented")
                                                               : _("revealed the risk");
    g_autofree char *day = demur_translate_day(demur_words_translate, review->created);
    const gboolean is_earlier =
        review->verdict_id != scan->verdict_id || scan->outdated != DEMUR_CURRENT;
    g_autofree char *text = g_strdup_printf(
        "%s %s, %s%s%s%s%s", review->user, what, day,
        is_earlier && review->verdict_id != 0 ? _(" (of an earlier verdict)") : "",
        review->revealed && review->kind != DEMUR_REVIEW_REVEAL ? _(" (risk revealed)") : "",
        review->comment != NULL ? ": " : "", review->comment != NULL ? review->comment : "");
    add_label(box, text, "small");
  }
}

static void
update_opinions(DemurVerdictCard *card, const DemurScan *scan) {
  const struct {
    GtkWidget *button;
    DemurReviewKind kind;
  } opinions[] = {{card->agree, DEMUR_REVIEW_AGREE},
                  {card->disagree, DEMUR_REVIEW_DISAGREE},
                  {card->comment, DEMUR_REVIEW_COMMENT}};
  for (guint i = 0; i < G_N_ELEMENTS(opinions); i++) {
    const char *why =
        demur_scan_why_no_review(scan, demur_session_read_only(card->session), opinions[i].kind);
    gtk_widget_set_sensitive(opinions[i].button, why == NULL);
    demur_shown_tooltip_set(opinions[i].button, why);
  }
}

/* Others write meanwhile: an opinion goes on waiting while what it is of is what is shown. That it was dropped is told where
 * its scan is still there; who opened another case knows. */
static void
keep_waiting(DemurVerdictCard *card, const DemurScan *scan) {
  const gboolean same = scan != NULL && g_strcmp0(scan->scan_id, card->proposed_scan) == 0;
  const gboolean made_anew = same && scan->verdict_id != card->proposed_of;
  if (same && !made_anew && demur_session_revealed(card->session) == card->proposed_revealed &&
      demur_scan_why_no_review(scan, demur_session_read_only(card->session), card->proposal) ==
          NULL)
    return;
  if (demur_verdict_card_drop(card) && made_anew)
    demur_session_notice(card->session,
                         _("The verdict was made anew meanwhile: your opinion was not kept. Look "
                           "at what is shown now, and say it again."),
                         TRUE);
}

void
demur_verdict_card_update(DemurVerdictCard *card) {
  demur_job_drop(&card->meaning_job);
  card->generation++;
  card->meaning = NULL;
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(card->list))) != NULL;)
    gtk_box_remove(card->list, child);
  const DemurScan *scan = demur_session_scan(card->session);
  update_opinions(card, scan);
  keep_waiting(card, scan);
  if (scan == NULL)
    return;
  add_verdict(card, scan);
  add_reasons(card, scan);
  add_set_aside(card, scan);
  add_meaning(card, scan);
  gtk_box_append(card->list, GTK_WIDGET(card->alike));
  demur_alike_card_show(card->alike, card->session);
  add_history(card, scan);
  add_warnings(card, scan);
  add_provenance(card, scan);
}

void
demur_verdict_card_propose(DemurVerdictCard *card, DemurReviewKind kind) {
  const DemurScan *scan = demur_session_scan(card->session);
  const char *why = demur_scan_why_no_review(scan, demur_session_read_only(card->session), kind);
  if (why != NULL) {
    demur_session_notice(card->session, why, FALSE);
    return;
  }
  card->proposal = kind;
  card->proposed_of = scan->verdict_id;
  g_free(card->proposed_scan);
  card->proposed_scan = g_strdup(scan->scan_id);
  card->proposed_revealed = demur_session_revealed(card->session);
  demur_shown_label_set(card->pending, kind == DEMUR_REVIEW_AGREE
                                           ? _("Agree? Enter keeps it, Escape drops it.")
                                           : _("Disagree? Enter keeps it, Escape drops it."));
  gtk_widget_set_visible(GTK_WIDGET(card->pending_box), TRUE);
}

gboolean
demur_verdict_card_drop(DemurVerdictCard *card) {
  const gboolean waited = gtk_widget_get_visible(GTK_WIDGET(card->pending_box));
  gtk_widget_set_visible(GTK_WIDGET(card->pending_box), FALSE);
  demur_shown_label_set(card->pending, "");
  return waited;
}

gboolean
demur_verdict_card_keep(DemurVerdictCard *card) {
  if (!demur_verdict_card_drop(card))
    return FALSE;
  const DemurScan *scan = demur_session_scan(card->session);
  if (demur_scan_why_no_review(scan, demur_session_read_only(card->session), card->proposal) ==
          NULL &&
      scan->verdict_id == card->proposed_of)
    return demur_session_review(card->session, card->proposal, NULL) || TRUE;
  return TRUE;
}

/* Building: see resources/ui/verdict-card.ui. */

static void
demur_verdict_card_class_init(DemurVerdictCardClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_verdict_card_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/verdict-card.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, list);
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, pending_box);
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, pending);
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, agree);
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, disagree);
  gtk_widget_class_bind_template_child(widget_class, DemurVerdictCard, comment);
  gtk_widget_class_bind_template_callback(widget_class, demur_verdict_card_update);
}

static void
demur_verdict_card_init(DemurVerdictCard *card) {
  gtk_widget_init_template(GTK_WIDGET(card));
  card->alike = g_object_ref_sink(demur_alike_card_new());
}

void
demur_verdict_card_set_session(DemurVerdictCard *card, DemurSession *session) {
  card->session = g_object_ref(session);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), card, G_CONNECT_SWAPPED);
  demur_verdict_card_update(card);
}
