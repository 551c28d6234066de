#include "ui/alike-card.h"

#include <math.h>

#include "report/format.h"
#include "tasks/alike.h"
#include "ui/drawing.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"
#include "words/words.h"

struct _DemurAlikeCard {
  GtkBox parent_instance;
  DemurJob *job;
  guint64 generation; /* of the case that is shown: late answers of another are dropped */
  gboolean told;      /* its risk is shown */
  char *selector;     /* whose reference is known; NULL: none is */
  DemurAlikeReference *reference; /* NULL: it has none here */
};

G_DEFINE_FINAL_TYPE(DemurAlikeCard, demur_alike_card, GTK_TYPE_BOX)

static GtkWidget *
small_label(const char *text, gboolean muted) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 10);
  gtk_widget_add_css_class(label, "small");
  if (muted)
    gtk_widget_add_css_class(label, "muted");
  return label;
}

/* How many were made like it. What is common is no news. */

#define MOST_BARS 5

typedef struct {
  double share;
} ShareBar;

static void
draw_share(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const ShareBar *bar = data;
  const double y = r.y + floor(r.height / 2) - 3;
  demur_chart_colour(cr, palette->grid, 1);
  cairo_rectangle(cr, r.x, y, r.width, 6);
  cairo_fill(cr);
  const double width = bar->share > 0 ? fmax(r.width * bar->share, 1) : 0;
  demur_chart_colour(cr, palette->ink, 0.75);
  cairo_rectangle(
      cr, gtk_widget_get_default_direction() == GTK_TEXT_DIR_RTL ? r.x + r.width - width : r.x, y,
      width, 6);
  cairo_fill(cr);
}

/* With no more decimals than it needs, two at most (owned). */
static char *
short_number(double number) {
  int decimals = 0;
  while (decimals < 2 &&
         fabs(number - rint(number * pow(10, decimals)) / pow(10, decimals)) > 0.004)
    decimals++;
  return demur_text_decimal(number, decimals);
}

/* "slice thickness 2.5 mm" (owned). */
static char *
made_text(const DemurAlikeShare *share) {
  const char *title = demur_words_subject(share->attribute, demur_words_translate);
  g_autofree char *number = share->text == NULL ? short_number(share->number) : NULL;
  return number != NULL ? g_strdup_printf("%s %s%s", title, number, share->unit)
                        : g_strdup_printf("%s %s", title, share->text);
}

static char *
share_text(double share) {
  return share < 0.01 ? g_strdup(_("under 1 %")) : demur_text_percent(share, 0);
}

static void
show_shares(DemurAlikeCard *card, const DemurAlike *alike) {
  g_autofree char *n = demur_text_count(demur_alike_n(card->reference));
  g_autofree char *text = g_strdup_printf(
      _("How many of %s reference scans were made as it was, the rarest first (numbers: up to a "
        "tenth apart)"),
      n);
  gtk_box_append(GTK_BOX(card), small_label(text, TRUE));
  GtkGrid *grid = GTK_GRID(gtk_grid_new());
  gtk_grid_set_column_spacing(grid, 8);
  gtk_grid_set_row_spacing(grid, 2);
  for (guint i = 0; i < MIN(alike->n_shares, MOST_BARS); i++) {
    g_autofree char *made = made_text(&alike->shares[i]);
    g_autofree char *share = share_text(alike->shares[i].share);
    GtkWidget *name = small_label(made, FALSE);
    gtk_widget_set_hexpand(name, TRUE);
    DemurDrawing *drawing = demur_drawing_new(made, 72, 12);
    ShareBar *bar = g_new(ShareBar, 1);
    *bar = (ShareBar){alike->shares[i].share};
    demur_drawing_set(drawing, draw_share, NULL, bar, g_free);
    demur_drawing_describe(drawing, share);
    gtk_widget_set_valign(GTK_WIDGET(drawing), GTK_ALIGN_CENTER);
    GtkWidget *value = demur_shown_label_new(share);
    gtk_label_set_xalign(GTK_LABEL(value), 1);
    gtk_widget_add_css_class(value, "small");
    gtk_grid_attach(grid, name, 0, (int)i, 1, 1);
    gtk_grid_attach(grid, GTK_WIDGET(drawing), 1, (int)i, 1, 1);
    gtk_grid_attach(grid, value, 2, (int)i, 1, 1);
  }
  gtk_box_append(GTK_BOX(card), GTK_WIDGET(grid));
}

/* What became of the nearest. */

static void
show_nearest(DemurAlikeCard *card, const DemurAlike *alike) {
  DemurOutcome outcome = *demur_alike_outcome(card->reference);
  g_autofree char *years = demur_text_years_in(outcome.horizon_years, demur_words_translate);
  g_autofree char *heading =
      outcome.horizon_years > 0.0
          ? g_strdup_printf(_("Most alike, and what came of them in %s"), years)
          : g_strdup(_("Most alike, and what came of them"));
  outcome.horizon_years = 0.0; /* the heading has said it */
  GtkWidget *label = small_label(heading, TRUE);
  gtk_widget_set_margin_top(label, 4);
  gtk_box_append(GTK_BOX(card), label);
  for (guint i = 0; i < alike->n_scans; i++) {
    const DemurAlikeScan *scan = &alike->scans[i];
    g_autofree char *became = demur_words_became(&outcome, scan->label, demur_words_translate);
    g_autofree char *scanner = g_strconcat(
        scan->maker, *scan->maker != '\0' && *scan->model != '\0' ? " " : "", scan->model, NULL);
    g_autofree char *text =
        g_strdup_printf("· %s%s%s: %s", scan->site, *scanner != '\0' ? ", " : "", scanner, became);
    gtk_box_append(GTK_BOX(card), small_label(text, FALSE));
  }
}

static void
empty(DemurAlikeCard *card) {
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(card))) != NULL;)
    gtk_box_remove(GTK_BOX(card), child);
  gtk_widget_set_visible(GTK_WIDGET(card), FALSE);
}

static void
show(DemurAlikeCard *card, const DemurAlike *alike) {
  const gboolean nearest = card->told && alike->n_scans > 0;
  if (alike->n_shares == 0 && !nearest)
    return;
  GtkWidget *heading = demur_shown_label_new(_("How usual this scan is"));
  gtk_label_set_xalign(GTK_LABEL(heading), 0);
  gtk_label_set_wrap(GTK_LABEL(heading), TRUE);
  gtk_widget_add_css_class(heading, "heading");
  gtk_box_append(GTK_BOX(card), heading);
  if (alike->n_shares > 0)
    show_shares(card, alike);
  if (nearest)
    show_nearest(card, alike);
  gtk_widget_set_visible(GTK_WIDGET(card), TRUE);
}

/* Finding them, on a thread. */

typedef struct {
  DemurAlikeReference *reference; /* NULL: there is none */
  DemurAlike *alike;              /* NULL with that */
} Found;

static void
found_free(gpointer data) {
  Found *found = data;
  demur_alike_reference_unref(found->reference);
  demur_alike_free(found->alike);
  g_free(found);
}

typedef struct {
  char *path, *selector, *scan_id;
  DemurAlikeReference *reference; /* NULL: to be read */
} Input;

static void
input_free(gpointer data) {
  Input *input = data;
  g_free(input->path);
  g_free(input->selector);
  g_free(input->scan_id);
  demur_alike_reference_unref(input->reference);
  g_free(input);
}

static gpointer
work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  Input *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, NULL, progress);
  if (input->reference == NULL &&
      !demur_task_alike_reference(&task, input->selector, &input->reference, error))
    return NULL;
  Found *found = g_new0(Found, 1);
  if (input->reference == NULL)
    return found;
  found->reference = demur_alike_reference_ref(input->reference);
  found->alike = demur_task_alike(&task, input->reference, input->scan_id, error);
  if (found->alike == NULL)
    g_clear_pointer(&found, found_free);
  return found;
}

static void
on_found(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurAlikeCard *card = owner;
  g_autofree char *why = result == NULL && error != NULL ? demur_words_error(error) : NULL;
  Found *found = result;
  if (tag == card->generation) {
    card->job = NULL;
    if (found != NULL && card->reference == NULL)
      card->reference = g_steal_pointer(&found->reference);
    if (found != NULL && found->alike != NULL)
      show(card, found->alike);
    if (why != NULL) {
      gtk_box_append(GTK_BOX(card), small_label(why, TRUE));
      gtk_widget_set_visible(GTK_WIDGET(card), TRUE);
      g_clear_pointer(&card->selector, g_free); /* tried again with the next case */
    }
  }
  g_clear_pointer(&found, found_free);
}

void
demur_alike_card_show(DemurAlikeCard *card, DemurSession *session) {
  if (card->job != NULL &&
      card->reference == NULL) /* dropped before it said whether there is one */
    g_clear_pointer(&card->selector, g_free);
  demur_job_drop(&card->job);
  card->generation++;
  empty(card);
  const DemurScan *scan = demur_session_scan(session);
  if (scan == NULL || scan->source != NULL || *scan->selector == '\0' ||
      (scan->shown != DEMUR_SHOWN_ACCEPTED && scan->shown != DEMUR_SHOWN_RED_FLAG) ||
      !gtk_widget_get_mapped(gtk_widget_get_parent(GTK_WIDGET(card))))
    return; /* looked up when it is seen: stepping through the worklist costs nothing */
  card->told = scan->shown == DEMUR_SHOWN_ACCEPTED || demur_session_revealed(session);
  const gboolean known = g_strcmp0(card->selector, scan->selector) == 0;
  if (known && card->reference == NULL)
    return;
  if (!known) {
    demur_alike_card_forget(card);
    card->selector = g_strdup(scan->selector);
  }
  Input *input = g_new(Input, 1);
  *input =
      (Input){g_strdup(demur_session_path(session)), g_strdup(scan->selector),
              g_strdup(scan->scan_id), known ? demur_alike_reference_ref(card->reference) : NULL};
  const DemurJobStart start = {.func = work,
                               .input = input,
                               .free_input = input_free,
                               .free_result = found_free,
                               .owner = G_OBJECT(card),
                               .tag = card->generation,
                               .done = on_found};
  card->job = demur_job_start(&start);
}

void
demur_alike_card_forget(DemurAlikeCard *card) {
  g_clear_pointer(&card->selector, g_free);
  g_clear_pointer(&card->reference, demur_alike_reference_unref);
}

static void
demur_alike_card_dispose(GObject *object) {
  DemurAlikeCard *card = DEMUR_ALIKE_CARD(object);
  demur_job_drop(&card->job);
  demur_alike_card_forget(card);
  G_OBJECT_CLASS(demur_alike_card_parent_class)->dispose(object);
}

static void
demur_alike_card_class_init(DemurAlikeCardClass *class) {
  G_OBJECT_CLASS(class)->dispose = demur_alike_card_dispose;
}

static void
demur_alike_card_init(DemurAlikeCard *card) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(card), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(card), 5);
  gtk_widget_add_css_class(GTK_WIDGET(card), "card");
  gtk_widget_set_visible(GTK_WIDGET(card), FALSE);
}

DemurAlikeCard *
demur_alike_card_new(void) {
  return g_object_new(DEMUR_TYPE_ALIKE_CARD, NULL);
}
