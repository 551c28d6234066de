#include "ui/patient-page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shown-text.h"
#include "report/format.h"
#include "ui/drawing.h"
#include "ui/plane-frame.h"
#include "ui/scan-words.h"
#include "ui/shown.h"
#include "ui/theme.h"
#include "ui/thumbnails.h"
#include "ui/verdict-card.h"
#include "ui/wrap-layout.h"
#include "ui/words.h"

struct _DemurPatientPage {
  GtkBox parent_instance;
  DemurSession *session;
  gboolean shown;
  GtkBox *side;
  DemurCtView *view, *prior;
  DemurCtView *across[2]; /* coronal and sagittal, of three planes at once */
  GtkWidget *across_box, *three, *cine;
  GtkWidget *prior_box;
  GtkWidget *plane[3], *slab, *compare, *tool[3];
  GtkBox *presets;
  DemurVerdictCard *card;
  /* Results carry the generation of the case they were asked for; a late one finds another number
   * here and is dropped. */
  guint64 generation;
  DemurJob *image_job, *slice_job, *prior_job, *prior_slice_job, *pictures_job;
  gssize prior_row;            /* -1: none */
  char *case_source, *case_id; /* what is shown: read again it is kept as it is seen */
  char *prior_id;              /* the prior that was chosen */
  GArray *priors;              /* guint32 rows of the earlier scans, the newest first */
  GtkDropDown *prior_menu;
  GtkWidget *link;
  gboolean linked, aligned, following, filling, crossing;
  double link_mm[3]; /* from the current scan's place to the prior's */
  GtkWidget *key;
  GHashTable *pictures; /* scan_id -> the GtkPicture of a series of the study */
  GtkBox *marks;        /* in the side: what was drawn on the current scan's images */
  GPtrArray *drawn;     /* of DemurAnnotation, the same */
};

G_DEFINE_FINAL_TYPE(DemurPatientPage, demur_patient_page, GTK_TYPE_BOX)

static const DemurCtPlane planes[3] = {DEMUR_CT_ACQUIRED, DEMUR_CT_CORONAL, DEMUR_CT_SAGITTAL};

static void
demur_patient_page_dispose(GObject *object) {
  DemurPatientPage *page = DEMUR_PATIENT_PAGE(object);
  demur_job_drop(&page->image_job);
  demur_job_drop(&page->slice_job);
  demur_job_drop(&page->prior_job);
  demur_job_drop(&page->prior_slice_job);
  demur_job_drop(&page->pictures_job);
  g_clear_object(&page->session);
  G_OBJECT_CLASS(demur_patient_page_parent_class)->dispose(object);
}

static void
demur_patient_page_finalize(GObject *object) {
  DemurPatientPage *page = DEMUR_PATIENT_PAGE(object);
  g_free(page->case_source);
  g_free(page->case_id);
  g_free(page->prior_id);
  g_array_unref(page->priors);
  g_ptr_array_unref(page->drawn);
  g_hash_table_unref(page->pictures);
  G_OBJECT_CLASS(demur_patient_page_parent_class)->finalize(object);
}

/* Tools above the image. */

static void
update_tools(DemurPatientPage *page) {
  for (guint i = 0; i < G_N_ELEMENTS(planes); i++) {
    const char *reason;
    const gboolean can = demur_ct_view_can_show(page->view, planes[i], &reason);
    gtk_widget_set_sensitive(page->plane[i], can && demur_ct_view_image(page->view) != NULL);
    demur_shown_tooltip_set(page->plane[i], reason);
    const gboolean active = demur_ct_view_plane(page->view) == planes[i];
    if (active)
      gtk_widget_set_state_flags(page->plane[i], GTK_STATE_FLAG_CHECKED, FALSE);
    else
      gtk_widget_unset_state_flags(page->plane[i], GTK_STATE_FLAG_CHECKED);
  }
  const double slab = demur_ct_view_slab(page->view);
  g_autofree char *text =
      slab > 0 ? g_strdup_printf("%s %.0f mm",
                                 demur_ct_view_slab_name(demur_ct_view_slab_kind(page->view)), slab)
               : g_strdup(_("MIP off"));
  demur_shown_label_set(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(page->slab))), text);
  demur_shown_name_set(GTK_WIDGET(page->slab), text);
  static const DemurTool tools[] = {DEMUR_TOOL_LENGTH, DEMUR_TOOL_ANGLE, DEMUR_TOOL_REGION};
  for (guint i = 0; i < G_N_ELEMENTS(tools); i++) {
    if (demur_ct_view_tool(page->view) == tools[i])
      gtk_widget_set_state_flags(page->tool[i], GTK_STATE_FLAG_CHECKED, FALSE);
    else
      gtk_widget_unset_state_flags(page->tool[i], GTK_STATE_FLAG_CHECKED);
  }
  DemurImage *image = demur_ct_view_image(page->view);
  gtk_widget_set_sensitive(page->slab, image != NULL && demur_image_is_volume(image));
  const char *why;
  const gboolean can_three = demur_ct_view_can_show(page->view, DEMUR_CT_CORONAL, &why);
  const gboolean is_whole = image != NULL && demur_image_is_whole(image);
  gtk_widget_set_sensitive(page->three, image != NULL && can_three);
  demur_shown_tooltip_set(page->three,
                          can_three ? _("Three planes at once, with a crosshair (T)") : why);
  gtk_widget_set_sensitive(page->cine, is_whole);
  gsize n_keys;
  g_free(demur_ct_view_here(page->view, TRUE, &n_keys));
  const gboolean is_key = n_keys > 0;
  gtk_widget_set_sensitive(page->key, image != NULL);
  const struct {
    GtkWidget *button;
    gboolean on;
  } held[] = {{page->three, gtk_widget_get_visible(page->across_box)},
              {page->cine, demur_ct_view_cine(page->view)},
              {page->key, is_key}};
  for (guint i = 0; i < G_N_ELEMENTS(held); i++)
    if (held[i].on)
      gtk_widget_set_state_flags(held[i].button, GTK_STATE_FLAG_CHECKED, FALSE);
    else
      gtk_widget_unset_state_flags(held[i].button, GTK_STATE_FLAG_CHECKED);
  gtk_widget_set_sensitive(page->compare, page->prior_row >= 0);
  demur_shown_tooltip_set(page->compare,
                          page->prior_row >= 0 ? NULL : _("No earlier scan with images."));
}

/* The prior beside the current scan: aligned by position in mm, never by steps. */

static gboolean
both_shown(DemurPatientPage *page) {
  return gtk_widget_get_visible(page->prior_box) && demur_ct_view_image(page->prior) != NULL;
}

/* Where the places of both say nothing of each other (the prior's stack does not hold this one),
 * middle is set beside middle. */
static void
align_prior(DemurPatientPage *page) {
  double here[3], middle[3], prior_middle[3];
  if (page->aligned || !both_shown(page) || !demur_ct_view_point(page->view, here) ||
      !demur_ct_view_middle(page->view, middle) || !demur_ct_view_middle(page->prior, prior_middle))
    return;
  const gboolean same = demur_ct_view_has_point(page->prior, middle);
  for (int i = 0; i < 3; i++)
    page->link_mm[i] = same ? 0 : prior_middle[i] - middle[i];
  page->aligned = TRUE;
}

static void
follow(DemurPatientPage *page, DemurCtView *from) {
  DemurCtView *to = from == page->view ? page->prior : page->view;
  if (!page->linked || page->following || !both_shown(page))
    return;
  align_prior(page);
  page->following = TRUE;
  double point[3];
  if (page->aligned && demur_ct_view_point(from, point)) {
    for (int i = 0; i < 3; i++)
      point[i] += from == page->view ? page->link_mm[i] : -page->link_mm[i];
    demur_ct_view_show_point(to, point);
  }
  demur_ct_view_follow(to, from);
  page->following = FALSE;
}

/* Three planes at once: each shows where the others cut it. */

static gboolean
is_three(DemurPatientPage *page) {
  return gtk_widget_get_visible(page->across_box);
}

static void
update_cross(DemurPatientPage *page) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  double directions[3][3], at_mm[3], point[3];
  gboolean known = is_three(page);
  for (int i = 0; i < 3 && known; i++)
    known = demur_ct_view_axis(views[i], directions[i], &at_mm[i]);
  known = known && demur_plane_frame_meet(directions, at_mm, point);
  for (int i = 0; i < 3; i++)
    demur_ct_view_set_cross(views[i], known ? point : NULL);
}

/* The whole image of the main view, in the two others too. */
static void
fill_three(DemurPatientPage *page) {
  DemurImage *image = demur_ct_view_image(page->view);
  const DemurScan *scan = demur_session_scan(page->session);
  const char *reason;
  if (!is_three(page))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 2; i++)
    if (image == NULL || scan == NULL || !demur_image_is_volume(image) ||
        !demur_ct_view_can_show(page->view, planes[i + 1], &reason)) {
      demur_ct_view_clear(page->across[i], image == NULL || !demur_image_is_whole(image)
                                               ? _("Reading the images…")
                                               : reason);
    } else if (demur_ct_view_image(page->across[i]) != image) {
      demur_ct_view_set_image(page->across[i], image, scan);
      demur_ct_view_set_plane(page->across[i], planes[i + 1]);
      demur_ct_view_follow_grey(page->across[i], page->view);
    }
  page->crossing = FALSE;
  update_cross(page);
}

/* Grey goes with whichever view it was changed in. */
static void
share_grey(DemurPatientPage *page, DemurCtView *from) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  if (page->crossing || !is_three(page))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 3; i++)
    if (views[i] != from && demur_ct_view_image(views[i]) != NULL)
      demur_ct_view_follow_grey(views[i], from);
  page->crossing = FALSE;
  update_cross(page);
}

static void
on_across_changed(DemurCtView *from, DemurPatientPage *page) {
  share_grey(page, from);
}

static void
on_placed(DemurCtView *from, DemurPatientPage *page) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  double point[3];
  if (!demur_ct_view_placed(from, point))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 3; i++)
    if (views[i] != from)
      demur_ct_view_show_point(views[i], point);
  page->crossing = FALSE;
  update_cross(page);
}

void
demur_patient_page_toggle_three(DemurPatientPage *page) {
  const char *reason;
  if (!is_three(page) && !demur_ct_view_can_show(page->view, DEMUR_CT_CORONAL, &reason)) {
    if (demur_ct_view_image(page->view) != NULL)
      demur_session_notice(page->session, reason, FALSE);
    return;
  }
  demur_ct_view_set_plane(page->view, DEMUR_CT_ACQUIRED);
  gtk_widget_set_visible(page->across_box, !is_three(page));
  fill_three(page);
  update_cross(page);
  update_tools(page);
}

static void
on_view_changed(DemurPatientPage *page) {
  update_tools(page);
  follow(page, page->view);
  share_grey(page, page->view);
}

/* Window and zoom; where it lies only changes when a person scrolls it. */
static void
on_prior_changed(DemurPatientPage *page) {
  if (!page->linked || page->following || !both_shown(page))
    return;
  page->following = TRUE;
  demur_ct_view_follow(page->view, page->prior);
  page->following = FALSE;
}

static void
on_scrolled(DemurCtView *from, DemurPatientPage *page) {
  follow(page, from);
  update_cross(page);
}

static void
say_link(DemurPatientPage *page) {
  const char *text = page->linked ? _("Linked") : _("Free");
  demur_shown_label_set(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(page->link))), text);
  demur_shown_name_set(GTK_WIDGET(page->link), text);
}

void
demur_patient_page_toggle_link(DemurPatientPage *page) {
  double here[3], there[3];
  page->linked = !page->linked;
  if (page->linked && both_shown(page) && demur_ct_view_point(page->view, here) &&
      demur_ct_view_point(page->prior, there)) {
    for (int i = 0; i < 3; i++)
      page->link_mm[i] = there[i] - here[i];
    page->aligned = TRUE;
    follow(page, page->view);
  }
  say_link(page);
}

/* A line of the left-hand column. */
static GtkWidget *
add_text(GtkBox *box, const char *text, const char *style) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 8);
  if (style != NULL)
    gtk_widget_add_css_class(label, style);
  gtk_box_append(box, label);
  return label;
}

/* What is drawn on images, and kept. */

static void
on_mark_clicked(GtkButton *button, DemurPatientPage *page) {
  const guint at = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "mark"));
  if (at < page->drawn->len)
    demur_ct_view_show_annotation(page->view, page->drawn->pdata[at]);
}

/* The list in the side: a button goes there. */
static void
fill_marks(DemurPatientPage *page) {
  if (page->marks == NULL)
    return;
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(page->marks))) != NULL;)
    gtk_box_remove(page->marks, child);
  gtk_widget_set_visible(GTK_WIDGET(page->marks), page->drawn->len > 0);
  if (page->drawn->len > 0)
    gtk_widget_set_margin_top(add_text(page->marks, _("Key images and measurements"), "heading"),
                              8);
  for (guint i = 0; i < page->drawn->len; i++) {
    const DemurAnnotation *drawn = page->drawn->pdata[i];
    g_autofree char *where = demur_annotation_place(drawn, demur_words_translate);
    g_autofree char *what = demur_annotation_words(drawn, demur_words_translate);
    g_autofree char *text = g_strdup_printf(
        "%s%s · %s", drawn->kind == DEMUR_ANNOTATION_KEY_IMAGE ? "★ " : "", where, what);
    g_autofree char *who = g_strdup_printf(_("By %s, %s"), drawn->user, drawn->created);
    GtkWidget *button = gtk_button_new();
    GtkBox *lines = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    add_text(lines, text, "small");
    gtk_button_set_child(GTK_BUTTON(button), GTK_WIDGET(lines));
    gtk_widget_add_css_class(button, "screen");
    demur_shown_tooltip_set(button, who);
    demur_shown_name_set(button, text);
    g_object_set_data(G_OBJECT(button), "mark", GUINT_TO_POINTER(i));
    g_signal_connect(button, "clicked", G_CALLBACK(on_mark_clicked), page);
    gtk_box_append(page->marks, button);
  }
}

/* Reads anew what is kept of the images that are shown, and shows it on them. */
static void
show_drawn(DemurPatientPage *page) {
  DemurCtView *const views[] = {page->view, page->across[0], page->across[1], page->prior};
  g_clear_pointer(&page->drawn, g_ptr_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS(views); i++) {
    const DemurImage *image = demur_ct_view_image(views[i]);
    if (image == NULL)
      continue;
    g_autoptr(GPtrArray) drawn =
        views[i] != page->prior && page->drawn != NULL
            ? g_ptr_array_ref(page->drawn)
            : demur_session_annotations(page->session, demur_image_scan_id(image),
                                        demur_image_digest(image));
    demur_ct_view_set_annotations(views[i], drawn);
    if (views[i] == page->view)
      page->drawn = g_ptr_array_ref(drawn);
  }
  if (page->drawn == NULL)
    page->drawn = g_ptr_array_new();
  fill_marks(page);
}

static void
on_measured(DemurCtView *view, DemurPatientPage *page) {
  DemurAnnotation annotation;
  if (!demur_ct_view_measured(view, &annotation) ||
      !demur_session_annotate(page->session, &annotation))
    return;
  demur_ct_view_set_kept(view, annotation.id);
  show_drawn(page);
}

/* Images. */

static gboolean
is_of(const DemurScan *scan, const DemurImage *image) {
  return scan != NULL && image != NULL && scan->source == NULL &&
         strcmp(scan->scan_id, demur_image_scan_id(image)) == 0;
}

static void
take_image(DemurPatientPage *page, guint64 tag, DemurImage *image) {
  const DemurScan *scan = demur_session_scan(page->session);
  /* Asked twice: by generation, and by what the image says it is of. */
  const gboolean taken = tag == page->generation && is_of(scan, image);
  if (taken)
    demur_ct_view_set_image(page->view, image, scan);
  fill_three(page);
  if (taken)
    show_drawn(page);
  demur_image_unref(image);
}

/* One slice that was scrolled to before the whole was there; late, it is of no use any more. */
static void
on_slice(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  page->slice_job = NULL;
  const DemurImage *shown = demur_ct_view_image(page->view);
  if (result != NULL && (shown == NULL || demur_image_is_whole(shown)))
    demur_image_unref(result);
  else if (result != NULL)
    take_image(page, tag, result);
}

static void
on_wanted(DemurCtView *view, guint slice, DemurPatientPage *page) {
  demur_job_drop(&page->slice_job);
  page->slice_job = demur_image_load_slice(demur_ct_view_image(view), slice, G_OBJECT(page),
                                           page->generation, on_slice);
}

static void
on_image_part(gpointer owner, guint64 tag, gpointer part) {
  take_image(owner, tag, part);
}

static void
on_image(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (result != NULL) {
    if (tag == page->generation)
      page->image_job = NULL;
    take_image(page, tag, result);
    return;
  }
  if (tag != page->generation)
    return;
  page->image_job = NULL;
  if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_autofree char *text = g_strdup_printf(_("The images can't be shown: %s"), error->message);
    demur_ct_view_clear(page->view, text);
    if (g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STATE))
      demur_session_images_changed(page->session);
  }
}

static void
take_prior(DemurPatientPage *page, guint64 tag, DemurImage *image) {
  DemurScanTable *table = demur_session_table(page->session);
  if (tag == page->generation && page->prior_row >= 0 &&
      is_of(&table->scans[page->prior_row], image)) {
    demur_ct_view_set_image(page->prior, image, &table->scans[page->prior_row]);
    show_drawn(page);
  }
  demur_image_unref(image);
  follow(page, page->view);
}

/* As on_slice, of the prior. */
static void
on_prior_slice(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  page->prior_slice_job = NULL;
  const DemurImage *shown = demur_ct_view_image(page->prior);
  if (result != NULL && (shown == NULL || demur_image_is_whole(shown)))
    demur_image_unref(result);
  else if (result != NULL)
    take_prior(page, tag, result);
}

static void
on_prior_wanted(DemurCtView *view, guint slice, DemurPatientPage *page) {
  demur_job_drop(&page->prior_slice_job);
  page->prior_slice_job = demur_image_load_slice(demur_ct_view_image(view), slice, G_OBJECT(page),
                                                 page->generation, on_prior_slice);
}

static void
on_prior_part(gpointer owner, guint64 tag, gpointer part) {
  take_prior(owner, tag, part);
}

static void
on_prior(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (tag == page->generation)
    page->prior_job = NULL;
  if (result != NULL)
    take_prior(page, tag, result);
  else if (tag == page->generation && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    demur_ct_view_clear(page->prior, error->message);
}

static void
load_prior(DemurPatientPage *page) {
  demur_job_drop(&page->prior_job);
  demur_job_drop(&page->prior_slice_job);
  if (!gtk_widget_get_visible(page->prior_box) || page->prior_row < 0)
    return;
  const DemurScan *scan = &demur_session_table(page->session)->scans[page->prior_row];
  if (!is_of(scan, demur_ct_view_image(page->prior))) {
    page->aligned = FALSE;
    demur_ct_view_clear(page->prior, _("Reading the prior…"));
  }
  page->prior_job = demur_image_load(demur_session_path(page->session), scan->scan_id,
                                     G_OBJECT(page), page->generation, on_prior_part, on_prior);
}

/* The left-hand column. */

static void
on_screen_clicked(GtkButton *button, DemurPatientPage *page) {
  demur_session_select(page->session,
                       GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), "row")) - 1);
}

static void
add_screen(DemurPatientPage *page, guint32 row, gboolean current) {
  const DemurScan *scan = &demur_session_table(page->session)->scans[row];
  GtkWidget *button = gtk_button_new();
  gtk_widget_add_css_class(button, "screen");
  if (current)
    gtk_widget_add_css_class(button, "current");
  GtkBox *box = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 2));
  GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6));
  GtkWidget *date = demur_shown_label_new(*scan->date != '\0' ? scan->date : _("no date"));
  gtk_widget_add_css_class(date, "strong");
  gtk_widget_set_hexpand(date, TRUE);
  gtk_label_set_xalign(GTK_LABEL(date), 0);
  gtk_box_append(line, date);
  g_autofree char *risk = isnan(scan->risk) && scan->shown != DEMUR_SHOWN_RED_FLAG
                              ? g_strdup(demur_shown_title(scan->shown))
                              : demur_scan_risk_text(scan);
  g_autofree char *verdict = g_strdup_printf("%s %s", demur_shown_glyph(scan->shown), risk);
  GtkWidget *label = demur_shown_label_new(verdict);
  gtk_widget_add_css_class(label, demur_shown_style(scan->shown));
  gtk_box_append(line, label);
  gtk_box_append(box, GTK_WIDGET(line));
  g_autoptr(GString) facts = g_string_new(scan->scanner);
  g_autofree char *thickness = demur_text_formatted("%.4g", scan->thickness_mm);
  if (!isnan(scan->thickness_mm))
    g_string_append_printf(facts, "%s%s mm", facts->len > 0 ? " · " : "", thickness);
  if (facts->len > 0) {
    GtkWidget *text = add_text(box, facts->str, "small");
    gtk_widget_add_css_class(text, "muted");
  }
  gtk_button_set_child(GTK_BUTTON(button), GTK_WIDGET(box));
  g_autofree char *name = g_strdup_printf(_("Scan of %s, %s"), scan->date, verdict);
  demur_shown_name_set(GTK_WIDGET(button), name);
  g_object_set_data(G_OBJECT(button), "row", GINT_TO_POINTER((int)row + 1));
  g_signal_connect(button, "clicked", G_CALLBACK(on_screen_clicked), page);
  gtk_box_append(page->side, button);
}

/* Risk over time: accepted risks as a line, held-back ones as a mark on the axis that tells no
 * height. */
typedef struct {
  guint n;
  double *at;    /* [n] in [0, 1] of the axis */
  double *risks; /* [n] NaN: not shown */
  DemurShown *shown;
  char **dates;
} Course;

static void
course_free(gpointer data) {
  Course *course = data;
  g_free(course->at);
  g_free(course->risks);
  g_free(course->shown);
  g_strfreev(course->dates);
  g_free(course);
}

static void
draw_course(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Course *course = data;
  double most = 0.02;
  for (guint i = 0; i < course->n; i++)
    most = isnan(course->risks[i]) ? most : fmax(most, course->risks[i]);
  const double base = r.y + r.height - 18, top = r.y + 18, left = r.x + 16, width = r.width - 32;
  demur_chart_colour(cr, palette->grid, 1);
  cairo_set_line_width(cr, 1);
  cairo_move_to(cr, r.x, base + 0.5);
  cairo_line_to(cr, r.x + r.width, base + 0.5);
  cairo_stroke(cr);
  const GdkRGBA line = demur_theme_verdict_colour(DEMUR_SHOWN_ACCEPTED);
  cairo_set_source_rgba(cr, line.red, line.green, line.blue, 0.8);
  cairo_set_line_width(cr, 1.5);
  gboolean begun = FALSE;
  for (guint i = 0; i < course->n; i++)
    if (!isnan(course->risks[i])) {
      const double x = left + width * course->at[i],
                   y = base - (base - top) * course->risks[i] / most;
      if (begun)
        cairo_line_to(cr, x, y);
      else
        cairo_move_to(cr, x, y);
      begun = TRUE;
    } else {
      begun = FALSE; /* no line through a year whose risk is not shown */
    }
  cairo_stroke(cr);
  for (guint i = 0; i < course->n; i++) {
    const double x = left + width * course->at[i];
    const GdkRGBA colour = demur_theme_verdict_colour((int)course->shown[i]);
    cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue, 1);
    if (!isnan(course->risks[i])) {
      const double y = base - (base - top) * course->risks[i] / most;
      cairo_arc(cr, x, y, 4.5, 0, 2 * G_PI);
      cairo_fill(cr);
      g_autofree char *text = demur_text_percent(course->risks[i], 1);
      demur_chart_text(cr, palette, text, palette->font_size * 0.95, FALSE, palette->ink, x, y - 6,
                       0.5, 1, 0);
    } else {
      demur_chart_text(cr, palette, demur_shown_glyph(course->shown[i]), palette->font_size * 1.1,
                       FALSE, (DemurColour){colour.red, colour.green, colour.blue}, x, base - 1,
                       0.5, 1, 0);
    }
    demur_chart_text(cr, palette, course->dates[i], palette->font_size * 0.92, FALSE,
                     palette->muted, x, r.y + r.height, 0.5, 1, 0);
  }
}

/* Days, or the number of a screen, as a place in time. */
static double
time_of(const char *date) {
  int year, month, day;
  if (sscanf(date, "%d-%d-%d", &year, &month, &day) == 3)
    return year * 365.25 + month * 30.4 + day;
  return *date == 'T' ? atof(date + 1) * 365.25 : NAN;
}

static void
add_course(DemurPatientPage *page, const guint32 *rows, size_t n) {
  const DemurScanTable *table = demur_session_table(page->session);
  /* A course is of two days at least, and of something that was assessed. */
  gboolean dates = FALSE, assessed = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurScan *scan = &table->scans[rows[i]];
    dates |= strcmp(scan->date, table->scans[rows[0]].date) != 0;
    assessed |= scan->shown == DEMUR_SHOWN_ACCEPTED || scan->shown == DEMUR_SHOWN_RED_FLAG;
  }
  if (!dates || !assessed)
    return;
  Course *course = g_new0(Course, 1);
  course->n = (guint)MIN(n, 6);
  course->at = g_new(double, course->n);
  course->risks = g_new(double, course->n);
  course->shown = g_new(DemurShown, course->n);
  course->dates = g_new0(char *, course->n + 1);
  g_autoptr(GString) text = g_string_new(NULL);
  double first = INFINITY, last = -INFINITY;
  for (guint i = 0; i < course->n; i++) {
    const DemurScan *scan = &table->scans[rows[course->n - 1 - i]]; /* oldest first */
    course->at[i] = time_of(scan->date);
    first = fmin(first, course->at[i]);
    last = fmax(last, course->at[i]);
    course->risks[i] = scan->risk;
    course->shown[i] = scan->shown;
    course->dates[i] = g_strndup(scan->date, *scan->date == 'T' ? 3 : 4);
    g_autofree char *risk = demur_scan_risk_text(scan);
    g_string_append_printf(text, "%s%s: %s, %s", i > 0 ? "; " : "", scan->date,
                           demur_shown_title(scan->shown), risk);
  }
  for (guint i = 0; i < course->n; i++)
    course->at[i] = last > first && !isnan(course->at[i]) ? (course->at[i] - first) / (last - first)
                                                          : (double)i / (course->n - 1);
  gtk_widget_set_margin_top(add_text(page->side, _("Risk over time"), "heading"), 8);
  DemurDrawing *drawing = demur_drawing_new(_("Risk over time"), 160, 104);
  demur_drawing_set(drawing, draw_course, NULL, course, course_free);
  demur_drawing_describe(drawing, text->str);
  gtk_box_append(page->side, GTK_WIDGET(drawing));
}

/* Pictures of the study's series, in their buttons as they come. */

static void
on_picture(gpointer owner, guint64 tag, gpointer part) {
  DemurPatientPage *page = owner;
  g_autoptr(DemurThumbnail) thumbnail = part;
  GtkWidget *picture = g_hash_table_lookup(page->pictures, thumbnail->scan_id);
  if (tag != page->generation || picture == NULL)
    return;
  gtk_picture_set_paintable(GTK_PICTURE(picture), GDK_PAINTABLE(thumbnail->texture));
  g_autofree char *name = g_strdup_printf(_("Middle slice of the series, %d by %d pixels"),
                                          gdk_texture_get_width(thumbnail->texture),
                                          gdk_texture_get_height(thumbnail->texture));
  demur_shown_name_set(picture, name);
}

static void
on_pictures(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (tag == page->generation)
    page->pictures_job = NULL;
}

static void
add_picture(DemurPatientPage *page, GtkBox *line, const DemurScan *scan) {
  GtkWidget *picture = gtk_picture_new();
  gtk_picture_set_can_shrink(GTK_PICTURE(picture), TRUE);
  gtk_widget_set_size_request(picture, DEMUR_THUMBNAIL_SIZE, DEMUR_THUMBNAIL_SIZE);
  gtk_widget_set_valign(picture, GTK_ALIGN_START);
  gtk_widget_add_css_class(picture, "ct");
  demur_shown_name_set(picture, _("No picture of the series yet"));
  gtk_box_append(line, picture);
  g_hash_table_insert(page->pictures, g_strdup(scan->scan_id), picture);
}

static void
load_pictures(DemurPatientPage *page) {
  demur_job_drop(&page->pictures_job);
  if (!page->shown || g_hash_table_size(page->pictures) == 0)
    return;
  g_autofree char **scan_ids = (char **)g_hash_table_get_keys_as_array(page->pictures, NULL);
  page->pictures_job =
      demur_thumbnails_load(demur_session_path(page->session), (const char *const *)scan_ids,
                            G_OBJECT(page), page->generation, on_picture, on_pictures);
}

static void
add_study(DemurPatientPage *page, size_t row) {
  const DemurScanTable *table = demur_session_table(page->session);
  size_t n;
  g_autofree guint32 *rows = demur_scan_table_of_study(table, row, &n);
  if (table->scans[row].source != NULL || n < 1)
    return;
  gtk_widget_set_margin_top(add_text(page->side, _("Series of this study"), "heading"), 8);
  for (size_t i = 0; i < n; i++) {
    const DemurScan *scan = &table->scans[rows[i]];
    g_autoptr(GString) text = g_string_new(NULL);
    if (scan->series_number >= 0)
      g_string_append_printf(text, "%d · ", scan->series_number);
    g_string_append(text, *scan->description != '\0' ? scan->description : scan->type);
    if (scan->chosen)
      g_string_append_printf(text, " · %s",
                             scan->overrule != NULL ? _("assessed by a person's choice")
                                                    : _("chosen for assessment"));
    else if (scan->reasons != NULL) {
      g_autofree char *reason = demur_scan_first_reason(scan);
      g_string_append_printf(text, ": %s", reason);
    }
    GtkWidget *button = gtk_button_new();
    GtkWidget *label = demur_shown_label_new(text->str);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_width_chars(GTK_LABEL(label), 8);
    gtk_widget_add_css_class(label, "small");
    gtk_widget_set_hexpand(label, TRUE);
    if (!scan->chosen)
      gtk_widget_add_css_class(label, "muted");
    GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6));
    add_picture(page, line, scan);
    gtk_box_append(line, label);
    gtk_button_set_child(GTK_BUTTON(button), GTK_WIDGET(line));
    demur_shown_name_set(button, text->str);
    gtk_widget_add_css_class(button, "screen");
    if (rows[i] == row)
      gtk_widget_add_css_class(button, "current");
    g_object_set_data(G_OBJECT(button), "row", GINT_TO_POINTER((int)rows[i] + 1));
    g_signal_connect(button, "clicked", G_CALLBACK(on_screen_clicked), page);
    gtk_box_append(page->side, button);
  }
  const DemurScan *mine = &table->scans[row];
  const char *rule = _("The rule chooses the series before any score is seen.");
  if (mine->overrule != NULL) {
    g_autofree char *text = g_strdup_printf(_("Chosen by a person: %s. By the rules: %s."),
                                            mine->overrule, demur_words_translate(mine->overruled));
    add_text(page->side, text, NULL);
  }
  add_text(page->side, rule, "muted");
  if (!mine->chosen) {
    GtkWidget *choose = gtk_button_new_with_label(_("Assess this series instead…"));
    gtk_label_set_wrap(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(choose))), TRUE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(choose), "win.choose-series");
    demur_shown_tooltip_set(choose, _("Overrule the rules, with a reason (W)"));
    gtk_box_append(page->side, choose);
  }
}

/* The earlier scans to choose from: the one that was chosen, else the newest. */
static void
fill_priors(DemurPatientPage *page) {
  const DemurScanTable *table = demur_session_table(page->session);
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  guint chosen = 0;
  for (guint i = 0; i < page->priors->len; i++) {
    const DemurScan *scan = &table->scans[g_array_index(page->priors, guint32, i)];
    g_autofree char *name =
        g_strdup_printf(_("Prior %s · %s %s"), scan->date, demur_shown_glyph(scan->shown),
                        demur_shown_title(scan->shown));
    g_autofree char *safe = demur_shown_text(name);
    gtk_string_list_append(names, safe);
    if (g_strcmp0(scan->scan_id, page->prior_id) == 0)
      chosen = i;
  }
  page->filling = TRUE;
  gtk_drop_down_set_model(page->prior_menu, G_LIST_MODEL(names));
  if (page->priors->len > 0)
    gtk_drop_down_set_selected(page->prior_menu, chosen);
  page->filling = FALSE;
  if (page->priors->len > 0)
    page->prior_row = (gssize)g_array_index(page->priors, guint32, chosen);
}

static void
on_prior_chosen(DemurPatientPage *page) {
  const guint at = gtk_drop_down_get_selected(page->prior_menu);
  if (page->filling || at >= page->priors->len)
    return;
  page->prior_row = (gssize)g_array_index(page->priors, guint32, at);
  g_free(page->prior_id);
  page->prior_id = g_strdup(demur_session_table(page->session)->scans[page->prior_row].scan_id);
  load_prior(page);
}

static void
update_side(DemurPatientPage *page) {
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(page->side))) != NULL;)
    gtk_box_remove(page->side, child);
  page->prior_row = -1;
  page->marks = NULL;
  g_hash_table_remove_all(page->pictures);
  g_array_set_size(page->priors, 0);
  const DemurScan *scan = demur_session_scan(page->session);
  if (scan == NULL) {
    add_text(page->side, _("No case is open. Choose one in the worklist."), "muted");
    return;
  }
  const size_t row = (size_t)demur_session_row(page->session);
  const DemurScanTable *table = demur_session_table(page->session);
  GtkWidget *id = add_text(
      page->side, *scan->patient_id != '\0' ? scan->patient_id : _("no patient ID"), "title");
  gtk_label_set_selectable(GTK_LABEL(id), TRUE);
  gtk_widget_set_can_focus(id, FALSE); /* its text is chosen by mouse; Tab would end in it */
  if (*scan->patient_name != '\0') {
    g_autofree char *name = demur_scan_name_text(scan);
    add_text(page->side, name, NULL);
  }
  g_autofree char *age = demur_age_sex_text(scan->age, scan->sex);
  g_autofree char *who =
      *scan->site != '\0' ? g_strdup_printf("%s · %s", age, scan->site) : g_strdup(age);
  add_text(page->side, who, "muted");
  if (scan->simulated) {
    GtkWidget *mark = add_text(page->side, _("SIMULATED DATA"), "simulated");
    gtk_widget_set_halign(mark, GTK_ALIGN_START);
  }
  size_t n;
  g_autofree guint32 *rows = demur_scan_table_of_patient(table, row, &n);
  gtk_widget_set_margin_top(add_text(page->side, _("Scans"), "heading"), 8);
  for (size_t i = 0; i < n; i++) {
    add_screen(page, rows[i], rows[i] == row);
    if (scan->source == NULL && rows[i] != row &&
        strcmp(table->scans[rows[i]].date, scan->date) < 0)
      g_array_append_val(page->priors, rows[i]);
  }
  fill_priors(page);
  add_course(page, rows, n);
  add_study(page, row);
  page->marks = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6));
  gtk_box_append(page->side, GTK_WIDGET(page->marks));
  fill_marks(page);
}

/* One update of the model. */

static void
load_images(DemurPatientPage *page) {
  demur_job_drop(&page->image_job);
  demur_job_drop(&page->slice_job);
  const DemurScan *scan = demur_session_scan(page->session);
  if (scan == NULL) {
    demur_ct_view_clear(page->view, _("No case is open. Choose one in the worklist."));
  } else if (scan->source != NULL) {
    g_autofree char *text = g_strdup_printf(
        _("No images: this scan came from the table of cohort %s, which holds risks and "
          "embeddings only."),
        scan->source);
    demur_ct_view_clear(page->view, text);
  } else {
    /* The same case read again stays as it is seen, until its images come anew. */
    if (!is_of(scan, demur_ct_view_image(page->view)))
      demur_ct_view_clear(page->view, _("Reading the images…"));
    if (page->shown)
      page->image_job = demur_image_load(demur_session_path(page->session), scan->scan_id,
                                         G_OBJECT(page), page->generation, on_image_part, on_image);
  }
}

static void
on_case_changed(DemurPatientPage *page) {
  const DemurScan *scan = demur_session_scan(page->session);
  const gboolean same = scan != NULL && g_strcmp0(scan->scan_id, page->case_id) == 0 &&
                        g_strcmp0(scan->source, page->case_source) == 0;
  page->generation++;
  demur_job_drop(&page->prior_job);
  if (!same) {
    g_free(page->case_id);
    g_free(page->case_source);
    page->case_id = scan != NULL ? g_strdup(scan->scan_id) : NULL;
    page->case_source = scan != NULL ? g_strdup(scan->source) : NULL;
    g_clear_pointer(&page->prior_id, g_free);
    g_ptr_array_unref(page->drawn); /* another patient's */
    page->drawn = g_ptr_array_new();
    page->aligned = FALSE;
    demur_ct_view_clear(page->view, "");
    for (int i = 0; i < 2; i++)
      demur_ct_view_clear(page->across[i], _("Reading the images…"));
    demur_ct_view_clear(page->prior, _("Reading the prior…"));
  }
  load_images(page);
  update_side(page);
  demur_verdict_card_update(page->card);
  if (page->prior_row < 0)
    gtk_widget_set_visible(page->prior_box, FALSE);
  load_prior(page);
  load_pictures(page);
  update_tools(page);
  if (!same && gtk_widget_get_mapped(GTK_WIDGET(page)))
    demur_session_opened(page->session);
}

static void
on_map(DemurPatientPage *page) {
  demur_session_opened(page->session);
}

static void
on_reviewed(DemurPatientPage *page, guint row) {
  if ((gssize)row == demur_session_row(page->session))
    demur_verdict_card_update(page->card);
}

void
demur_patient_page_set_shown(DemurPatientPage *page, gboolean shown) {
  if (page->shown == shown)
    return;
  page->shown = shown;
  demur_verdict_card_drop(page->card); /* what waits is out of sight */
  const DemurScan *scan = demur_session_scan(page->session);
  if (shown && scan != NULL && scan->source == NULL && demur_ct_view_image(page->view) == NULL &&
      page->image_job == NULL)
    load_images(page);
  if (shown && page->pictures_job == NULL)
    load_pictures(page);
}

/* Tools. */

DemurCtView *
demur_patient_page_view(DemurPatientPage *page) {
  return page->view;
}

DemurCtView *
demur_patient_page_active_view(DemurPatientPage *page) {
  DemurCtView *const others[] = {page->prior, page->across[0], page->across[1]};
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (gtk_widget_is_focus(GTK_WIDGET(others[i])))
      return others[i];
  return page->view;
}

void
demur_patient_page_set_plane(DemurPatientPage *page, DemurCtPlane plane) {
  const char *reason;
  if (!demur_ct_view_can_show(page->view, plane, &reason)) {
    if (demur_ct_view_image(page->view) != NULL)
      demur_session_notice(page->session, reason, FALSE);
    return;
  }
  if (is_three(page) && plane != DEMUR_CT_ACQUIRED)
    demur_patient_page_toggle_three(page);
  demur_ct_view_set_plane(page->view, plane);
  if (gtk_widget_get_visible(page->prior_box))
    demur_ct_view_set_plane(page->prior, plane);
}

void
demur_patient_page_next_slab(DemurPatientPage *page) {
  static const double slabs[] = {0, 5, 10, 20};
  const double now = demur_ct_view_slab(page->view);
  guint next = 0;
  for (guint i = 0; i < G_N_ELEMENTS(slabs); i++)
    if (slabs[i] == now)
      next = (i + 1) % G_N_ELEMENTS(slabs);
  demur_ct_view_set_slab(page->view, slabs[next]);
  if (gtk_widget_get_visible(page->prior_box))
    demur_ct_view_set_slab(page->prior, slabs[next]);
}

void
demur_patient_page_next_slab_kind(DemurPatientPage *page) {
  static const DemurSlab after[] = {[DEMUR_SLAB_MAXIMUM] = DEMUR_SLAB_MEAN,
                                    [DEMUR_SLAB_MEAN] = DEMUR_SLAB_MINIMUM,
                                    [DEMUR_SLAB_MINIMUM] = DEMUR_SLAB_MAXIMUM};
  const DemurSlab next = after[demur_ct_view_slab_kind(page->view)];
  demur_ct_view_set_slab_kind(page->view, next);
  if (demur_ct_view_slab(page->view) <= 0)
    demur_patient_page_next_slab(page);
}

void
demur_patient_page_set_tool(DemurPatientPage *page, DemurTool tool) {
  const DemurTool now = demur_ct_view_tool(page->view) == tool ? DEMUR_TOOL_NONE : tool;
  demur_ct_view_set_tool(page->view, now);
  demur_ct_view_set_tool(page->prior, now);
  for (int i = 0; i < 2; i++)
    demur_ct_view_set_tool(page->across[i], now);
}

void
demur_patient_page_remove_measures(DemurPatientPage *page) {
  DemurCtView *view = demur_patient_page_active_view(page);
  gsize n;
  g_autofree gint64 *ids = demur_ct_view_here(view, FALSE, &n);
  demur_ct_view_remove_measures(view);
  if (demur_session_take_off(page->session, ids, n))
    show_drawn(page);
}

void
demur_patient_page_toggle_key_image(DemurPatientPage *page) {
  DemurCtView *view = demur_patient_page_active_view(page);
  DemurAnnotation annotation;
  gsize n;
  g_autofree gint64 *ids = demur_ct_view_here(view, TRUE, &n);
  if (n > 0 ? demur_session_take_off(page->session, ids, n)
            : demur_ct_view_key_image(view, &annotation) &&
                  demur_session_annotate(page->session, &annotation))
    show_drawn(page);
}

void
demur_patient_page_toggle_prior(DemurPatientPage *page) {
  if (page->prior_row < 0) {
    demur_session_notice(page->session, _("No earlier scan of this patient has images here."),
                         FALSE);
    return;
  }
  gtk_widget_set_visible(page->prior_box, !gtk_widget_get_visible(page->prior_box));
  load_prior(page);
}

/* Reviews. */

void
demur_patient_page_propose(DemurPatientPage *page, DemurReviewKind kind) {
  demur_verdict_card_propose(page->card, kind);
}

gboolean
demur_patient_page_keep(DemurPatientPage *page) {
  return page->shown && demur_verdict_card_keep(page->card);
}

gboolean
demur_patient_page_drop(DemurPatientPage *page) {
  return demur_verdict_card_drop(page->card);
}

/* Building: see resources/ui/patient-page.ui. */

static GtkWidget *
named_button(const char *label) {
  GtkWidget *button = gtk_button_new_with_label(label);
  demur_shown_name_set(GTK_WIDGET(button), label);
  return button;
}

static void
build_presets(DemurPatientPage *page) {
  for (guint i = 0; i < DEMUR_N_PRESETS; i++) {
    g_autofree char *label = g_strdup_printf(
        "%u %s", i + 1, i < DEMUR_N_CT_PRESETS ? _(demur_ct_presets[i].brief) : _("Own"));
    GtkWidget *button = named_button(label);
    demur_shown_tooltip_set(button, i < DEMUR_N_CT_PRESETS ? _(demur_ct_presets[i].whole)
                                                           : _("The file's own window"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.preset");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "i", (int)i + 1);
    gtk_box_append(page->presets, button);
  }
}

static void
demur_patient_page_class_init(DemurPatientPageClass *class) {
  static const char *const plane_names[] = {"axial", "coronal", "sagittal"};
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_patient_page_dispose;
  G_OBJECT_CLASS(class)->finalize = demur_patient_page_finalize;
  g_type_ensure(DEMUR_TYPE_CT_VIEW);
  g_type_ensure(DEMUR_TYPE_VERDICT_CARD);
  g_type_ensure(DEMUR_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/patient-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, side);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, presets);
  static const char *const tool_names[] = {"length", "angle", "region"};
  for (guint i = 0; i < G_N_ELEMENTS(tool_names); i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, tool_names[i], FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, tool) + i * sizeof(GtkWidget *)));
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, slab);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, compare);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, view);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, across_box);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, three);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, cine);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, key);
  static const char *const across_names[] = {"across_coronal", "across_sagittal"};
  for (guint i = 0; i < G_N_ELEMENTS(across_names); i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, across_names[i], FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, across) + i * sizeof(DemurCtView *)));
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior_box);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior_menu);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, link);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, card);
  for (guint i = 0; i < G_N_ELEMENTS(plane_names); i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, plane_names[i], FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, plane) + i * sizeof(GtkWidget *)));
  gtk_widget_class_bind_template_callback(widget_class, on_view_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_prior_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_prior_chosen);
  gtk_widget_class_bind_template_callback(widget_class, on_scrolled);
  gtk_widget_class_bind_template_callback(widget_class, on_placed);
  gtk_widget_class_bind_template_callback(widget_class, on_measured);
  gtk_widget_class_bind_template_callback(widget_class, on_across_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_wanted);
  gtk_widget_class_bind_template_callback(widget_class, on_prior_wanted);
}

static void
demur_patient_page_init(DemurPatientPage *page) {
  page->prior_row = -1;
  page->linked = TRUE;
  page->drawn = g_ptr_array_new();
  page->pictures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  page->priors = g_array_new(FALSE, FALSE, sizeof(guint32));
  gtk_widget_init_template(GTK_WIDGET(page));
  build_presets(page);
}

DemurPatientPage *
demur_patient_page_new(DemurSession *session) {
  DemurPatientPage *page = g_object_new(DEMUR_TYPE_PATIENT_PAGE, NULL);
  page->session = g_object_ref(session);
  demur_verdict_card_set_session(page->card, session);
  g_signal_connect_object(session, "case-changed", G_CALLBACK(on_case_changed), page,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_reviewed), page, G_CONNECT_SWAPPED);
  g_signal_connect(page, "map", G_CALLBACK(on_map), NULL);
  on_case_changed(page);
  return page;
}
