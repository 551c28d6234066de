#include "ui/worklist-page.h"

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "ui/scan-words.h"
#include "ui/shown.h"
#include "ui/text-cell.h"
#include "ui/theme.h"
#include "ui/words.h"
#include "ui/wrap-layout.h"

#define N_CHIPS 10
/* Widths in pixels are of the usual size of text (scaled). */
#define LESS_WIDE 1400 /* below, the site gives way to the reason */
#define NARROW 1200    /* and below, the name */
#define VERDICT_WIDTH 116
#define SCANNER_WIDE 232
#define SCANNER_NARROW 170
#define SCANNER_LEAST 82
#define RISK_WIDE 168
#define NAME_WIDTH 150
#define SITE_WIDTH 104
#define RISK_NARROW 124
#define REASON_LEAST 100
#define REASON_ROOMY 240  /* what the reason has beyond, who reviewed may have */
#define REVIEWED_WIDE 176 /* "✓ agreed · a user's name" */
#define REVIEWED_LEAST 98
#define RISK_CHARS 9
#define CELL_PADDING 9 /* of style.css */
/* GTK keeps widgets for 200 rows, which take longer to make than a workspace to be read. So the
 * list is given as many as the window shows at first, some more a frame until there are widgets for
 * all that GTK keeps, and then every row. */
#define LEAST_ROW_HEIGHT 29
#define MORE_ROWS 8
#define KEPT_ROWS 208
#define RISK_BAR_FULL 0.5 /* this risk and every higher one fills the bar */

/* Chips in order: what they show. */
static const struct {
  const char *name;
  int shown;
} chips[N_CHIPS] = {
    {"all", DEMUR_SHOW_ALL},
    {"accepted", DEMUR_SHOWN_ACCEPTED},
    {"red_flag", DEMUR_SHOWN_RED_FLAG},
    {"out_of_date", DEMUR_SHOWN_OUT_OF_DATE},
    {"not_eligible", DEMUR_SHOWN_NOT_ELIGIBLE},
    {"no_score", DEMUR_SHOWN_NO_SCORE},
    {"not_tuned", DEMUR_SHOWN_NOT_TUNED},
    {"failed", DEMUR_SHOWN_FAILED},
    {"not_assessed", DEMUR_SHOWN_NOT_ASSESSED},
    {"not_reviewed", DEMUR_SHOW_NOT_REVIEWED},
};

struct _DemurWorklistPage {
  GtkBox parent_instance;
  DemurSession *session;
  GtkBox *chip_row;
  GtkWidget *chip[N_CHIPS];
  GtkDropDown *source, *site, *scanner;
  GtkColumnView *view;
  GtkSliceListModel *shown_rows; /* of the session's list: see KEPT_ROWS */
  GtkSingleSelection *selection;
  GtkStack *stack;
  gboolean listed; /* there was a list already */
  GtkLabel *empty;
  GtkColumnViewColumn *name_column, *site_column, *scanner_column, *risk_column, *reason_column,
      *reviewed_column;     /* borrowed */
  GtkAdjustment *across;    /* borrowed: of the list's scrolled window */
  guint fold;               /* 0: every column, 1: less wide, 2: narrow */
  gboolean horizons_differ; /* of the risks */
  guint width_idle;
  GtkWidget *begin; /* the ways in, where there is nothing yet */
  gboolean show_names;
  DemurScanRow *probe[2]; /* see on_sorter_changed */
  DemurSort primary;
  char *text;
  int shown;
  gboolean updating;
  gssize scroll_to;
  guint scroll_tick, grow_tick;
  gboolean first_frame;
};

G_DEFINE_FINAL_TYPE(DemurWorklistPage, demur_worklist_page, GTK_TYPE_BOX)

static void
demur_worklist_page_dispose(GObject *object) {
  DemurWorklistPage *page = DEMUR_WORKLIST_PAGE(object);
  g_clear_handle_id(&page->width_idle, g_source_remove);
  g_clear_object(&page->session);
  g_clear_object(&page->probe[0]);
  g_clear_object(&page->probe[1]);
  g_clear_pointer(&page->text, g_free);
  G_OBJECT_CLASS(demur_worklist_page_parent_class)->dispose(object);
}

static gboolean
has_focus(DemurWorklistPage *page, GtkWidget *within) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(page));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus(root) : NULL;
  return focus != NULL && (focus == within || gtk_widget_is_ancestor(focus, within));
}

/* Whether the keyboard is nowhere that somebody put it: the window gave it to the first thing it
 * found while there was no list. What is being written keeps it. */
static gboolean
is_untouched(DemurWorklistPage *page) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(page));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus(root) : NULL;
  return !page->listed && root != NULL &&
         !(GTK_IS_EDITABLE(focus) && *gtk_editable_get_text(GTK_EDITABLE(focus)) != '\0');
}

/* The list, or what stands in its place while it is empty. The keyboard goes with it: from a list that
 * is hidden no Tab leads anywhere. */
static void
show_list(DemurWorklistPage *page, gboolean list) {
  const gboolean had = has_focus(page, GTK_WIDGET(page->stack)) || (list && is_untouched(page));
  gtk_stack_set_visible_child_name(page->stack, list ? "list" : "empty");
  page->listed |= list;
  if (had)
    demur_worklist_page_focus_list(page);
}

static void
update_chips(DemurWorklistPage *page) {
  guint counts[DEMUR_N_SHOWN + 2];
  demur_scan_list_counts(demur_session_list(page->session), counts);
  for (guint i = 0; i < N_CHIPS; i++) {
    const int shown = chips[i].shown;
    const guint n = shown == DEMUR_SHOW_ALL            ? counts[DEMUR_N_SHOWN + 1]
                    : shown == DEMUR_SHOW_NOT_REVIEWED ? counts[DEMUR_N_SHOWN]
                                                       : counts[shown];
    g_autofree char *number = demur_text_count(n);
    g_autofree char *label = shown == DEMUR_SHOW_ALL ? g_strdup_printf(_("All %s"), number)
                             : shown == DEMUR_SHOW_NOT_REVIEWED
                                 ? g_strdup_printf(_("Not reviewed %s"), number)
                                 : g_strdup_printf("%s %s %s", demur_shown_glyph((DemurShown)shown),
                                                   demur_shown_title((DemurShown)shown), number);
    gtk_button_set_label(GTK_BUTTON(page->chip[i]), label);
    gtk_widget_set_visible(page->chip[i], shown < 0 || shown >= DEMUR_N_SHOWN || n > 0 ||
                                              shown == page->shown ||
                                              shown <= DEMUR_SHOWN_RED_FLAG);
  }
  const gboolean none =
      g_list_model_get_n_items(G_LIST_MODEL(demur_session_list(page->session))) == 0;
  DemurScanTable *table = demur_session_table(page->session);
  if (none)
    demur_shown_label_set(
        page->empty, table == NULL ? _("No workspace is open.")
                     : table->n_scans == 0
                         ? _("This workspace holds no scans yet.\nDrop a folder, a ZIP archive or "
                             "a DICOMDIR here, or choose Import.\nThe demo is a workspace of its "
                             "own: 12 simulated CT scans and a report, made in a minute or two.")
                         : _("No scan matches the search and the filters."));
  gtk_widget_set_visible(page->begin, table == NULL || table->n_scans == 0);
  show_list(page, !none);
}

/* Scrolls to the selected row once the list has its size: before, GTK 4.8 would put it on top and
 * nothing below. */
static gboolean
on_scroll_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  DemurWorklistPage *page = DEMUR_WORKLIST_PAGE(widget);
  if (page->scroll_to >= 0 && gtk_widget_get_height(GTK_WIDGET(page->view)) < 60)
    return G_SOURCE_CONTINUE;
  page->scroll_tick = 0;
  for (GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(page->view));
       child != NULL && page->scroll_to >= 0; child = gtk_widget_get_next_sibling(child))
    if (GTK_IS_LIST_VIEW(child))
      gtk_widget_activate_action(child, "list.scroll-to-item", "u", (guint)page->scroll_to);
  return G_SOURCE_REMOVE;
}

static guint
first_rows(DemurWorklistPage *page) {
  const int height = gtk_widget_get_height(GTK_WIDGET(page));
  return height > 0 ? (guint)MIN(height / LEAST_ROW_HEIGHT + 2, KEPT_ROWS - 1) : 40;
}

static void
show_all_rows(DemurWorklistPage *page) {
  gtk_slice_list_model_set_size(page->shown_rows, G_MAXUINT);
}

static gboolean
on_grow_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  DemurWorklistPage *page = DEMUR_WORKLIST_PAGE(widget);
  if (page->first_frame) { /* which is not drawn yet */
    page->first_frame = FALSE;
    return G_SOURCE_CONTINUE;
  }
  const guint size = gtk_slice_list_model_get_size(page->shown_rows);
  page->updating = TRUE;
  const gboolean all = size >= KEPT_ROWS; /* or somebody needed them: G_MAXUINT */
  if (all)
    show_all_rows(page);
  else
    gtk_slice_list_model_set_size(page->shown_rows, size + MORE_ROWS);
  page->updating = FALSE;
  if (all)
    page->grow_tick = 0;
  return !all;
}

/* The current case stays selected wherever it went. */
static void
update_selection(DemurWorklistPage *page) {
  const gssize row = demur_session_row(page->session);
  const gssize at =
      row >= 0 ? demur_scan_list_position_of(demur_session_list(page->session), (guint32)row) : -1;
  page->updating = TRUE;
  if (at >= (gssize)gtk_slice_list_model_get_size(page->shown_rows))
    show_all_rows(page);
  gtk_single_selection_set_selected(page->selection,
                                    at >= 0 ? (guint)at : GTK_INVALID_LIST_POSITION);
  page->updating = FALSE;
  page->scroll_to = at;
  if (at >= 0 && page->scroll_tick == 0)
    page->scroll_tick = gtk_widget_add_tick_callback(GTK_WIDGET(page), on_scroll_tick, NULL, NULL);
}

static const char *
chosen(GtkDropDown *menu) {
  GtkStringObject *item = gtk_drop_down_get_selected_item(menu);
  return gtk_drop_down_get_selected(menu) == 0 || item == NULL ? NULL
                                                               : gtk_string_object_get_string(item);
}

static void
apply_filter(DemurWorklistPage *page) {
  if (page->updating)
    return;
  const guint source = gtk_drop_down_get_selected(page->source);
  const gboolean dicom = source == 1;
  const DemurScanFilter filter = {.shown = page->shown,
                                  .text = page->text,
                                  .site = chosen(page->site),
                                  .scanner = chosen(page->scanner),
                                  .source = dicom ? "" : chosen(page->source)};
  page->updating = TRUE;
  demur_scan_list_set_filter(demur_session_list(page->session), &filter);
  page->updating = FALSE;
  update_selection(page);
  update_chips(page);
}

static void
on_menu(DemurWorklistPage *page) {
  apply_filter(page);
}

static void
on_chip(GtkToggleButton *button, DemurWorklistPage *page) {
  if (!gtk_toggle_button_get_active(button))
    return;
  for (guint i = 0; i < N_CHIPS; i++)
    if (page->chip[i] == GTK_WIDGET(button))
      page->shown = chips[i].shown;
  apply_filter(page);
}

static int
compare_plain(gconstpointer a, gconstpointer b) {
  return g_utf8_collate(*(const char *const *)a, *(const char *const *)b);
}

static void
fill_menu(GtkDropDown *menu, const char *all, const char *second, GHashTable *texts) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, texts);
  while (g_hash_table_iter_next(&iter, &key, NULL))
    if (*(const char *)key != '\0')
      g_ptr_array_add(names, key);
  g_ptr_array_sort(names, compare_plain);
  GtkStringList *list = gtk_string_list_new(NULL);
  gtk_string_list_append(list, all);
  if (second != NULL)
    gtk_string_list_append(list, second);
  for (guint i = 0; i < names->len; i++)
    gtk_string_list_append(list, names->pdata[i]);
  gtk_drop_down_set_model(menu, G_LIST_MODEL(list));
  gtk_drop_down_set_selected(menu, 0);
  gtk_widget_set_visible(GTK_WIDGET(menu), names->len > 1 || (second != NULL && names->len > 0));
  g_object_unref(list);
}

static int
scaled(DemurWorklistPage *page, int width) {
  return (int)round(width * demur_shown_text_scale(GTK_WIDGET(page->view)));
}

/* GTK 4.8 counts the width of a hidden column where it places cells from right to left, but not where
 * it places headings: a hidden one has none. */
static void
show_column(GtkColumnViewColumn *column, gboolean visible, int width) {
  if (visible == gtk_column_view_column_get_visible(column) &&
      (visible || gtk_column_view_column_get_fixed_width(column) == 0))
    return;
  gtk_column_view_column_set_fixed_width(column, visible ? width : 0);
  gtk_column_view_column_set_visible(column, visible);
}

/* The column is there where any scan has a name, unless the reader hides names; where the window is
 * narrow, those that say least give way to the reason. */
static void
update_columns(DemurWorklistPage *page) {
  const DemurScanTable *table = demur_session_table(page->session);
  gboolean any = FALSE;
  for (size_t i = 0; table != NULL && i < table->n_scans && !any; i++)
    any = *table->scans[i].patient_name != '\0';
  show_column(page->name_column, any && page->show_names && page->fold < 2,
              scaled(page, NAME_WIDTH));
  show_column(page->site_column, page->fold == 0, scaled(page, SITE_WIDTH));
  gtk_column_view_column_set_fixed_width(
      page->scanner_column, scaled(page, page->fold > 0 ? SCANNER_NARROW : SCANNER_WIDE));
  gtk_column_view_column_set_fixed_width(page->risk_column,
                                         scaled(page, page->fold > 0 ? RISK_NARROW : RISK_WIDE));
}

/* Of a cell or heading with that text. */
static int
text_width(DemurWorklistPage *page, const char *text) {
  g_autoptr(PangoLayout) layout = demur_shown_layout(GTK_WIDGET(page->view), text);
  int wide;
  pango_layout_get_pixel_size(layout, &wide, NULL);
  return wide + 2 * CELL_PADDING + 2;
}

/* Who reviewed has what a roomy reason does not need. */
static int
reviewed_width(DemurWorklistPage *page, int left) {
  const int least = MAX(scaled(page, REVIEWED_LEAST), text_width(page, _("Reviewed"))),
            more = MAX(scaled(page, REVIEWED_WIDE) - least, 0);
  return least + CLAMP(left - least - scaled(page, REASON_ROOMY), 0, more);
}

/* The reason has what the others leave: GTK 4.8 gives an expanding column nothing once others were
 * hidden. Where that is too little, the scanner gives of its own. */
static void
update_reason_width(DemurWorklistPage *page) {
  GListModel *columns = gtk_column_view_get_columns(page->view);
  int left = (int)gtk_adjustment_get_page_size(page->across);
  for (guint i = 0; i < g_list_model_get_n_items(columns); i++) {
    g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);
    if (column != page->reason_column && column != page->reviewed_column &&
        gtk_column_view_column_get_visible(column))
      left -= gtk_column_view_column_get_fixed_width(column);
  }
  const int reviewed = reviewed_width(page, left);
  gtk_column_view_column_set_fixed_width(page->reviewed_column, reviewed);
  left -= reviewed;
  const int least = scaled(page, REASON_LEAST);
  const gboolean gives = page->fold > 0 && left < least;
  gtk_column_view_column_set_title(page->scanner_column,
                                   gives ? _("Scanner") : _("Scanner · kernel"));
  if (gives) {
    const int scanner = gtk_column_view_column_get_fixed_width(page->scanner_column),
              given = CLAMP(least - left, 0, scanner - scaled(page, SCANNER_LEAST));
    gtk_column_view_column_set_fixed_width(page->scanner_column, scanner - given);
  }
  gtk_column_view_column_set_fixed_width(page->reason_column,
                                         page->fold > 0 ? MAX(left, least) : -1);
}

static gboolean
on_width_idle(gpointer data) {
  DemurWorklistPage *page = data;
  page->width_idle = 0;
  update_columns(page);
  update_reason_width(page);
  return G_SOURCE_REMOVE;
}

static void
on_width(DemurWorklistPage *page) {
  const double width =
      gtk_adjustment_get_page_size(page->across) / demur_shown_text_scale(GTK_WIDGET(page->view));
  const guint fold = width < NARROW ? 2 : width < LESS_WIDE ? 1 : 0;
  if ((fold > 0 || page->fold > 0) && page->width_idle == 0)
    page->width_idle = g_idle_add(on_width_idle, page);
  page->fold = fold;
}

void
demur_worklist_page_show_names(DemurWorklistPage *page, gboolean show) {
  page->show_names = show;
  update_columns(page);
}

/* Of which years the risks are: in the heading where it is the same for all, else beside each. */
static void
update_risk_title(DemurWorklistPage *page, const DemurScanTable *table) {
  double years = NAN;
  page->horizons_differ = FALSE;
  for (size_t i = 0; i < table->n_scans && !page->horizons_differ; i++) {
    const DemurScan *scan = &table->scans[i];
    if (isnan(scan->risk))
      continue;
    page->horizons_differ = isfinite(years) && scan->horizon_years != years;
    years = scan->horizon_years;
  }
  g_autofree char *number = demur_text_formatted("%g", years);
  g_autofree char *title =
      page->horizons_differ || isnan(years)
          ? g_strdup(_("Risk"))
          : g_strdup_printf(ngettext_("Risk, %s year", "Risk, %s years", (gulong)years), number);
  gtk_column_view_column_set_title(page->risk_column, title);
}

static void
on_loaded(DemurWorklistPage *page) {
  DemurScanTable *table = demur_session_table(page->session);
  update_columns(page);
  page->updating = TRUE;
  if (gtk_slice_list_model_get_size(page->shown_rows) == 0)
    gtk_slice_list_model_set_size(page->shown_rows, first_rows(page));
  /* The table keeps each of these texts once: known by address. */
  g_autoptr(GHashTable) sites = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) scanners = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) sources = g_hash_table_new(NULL, NULL);
  const DemurScan *last = NULL; /* neighbours are often of one site and source */
  for (size_t i = 0; i < table->n_scans; i++) {
    const DemurScan *scan = &table->scans[i];
    if (last == NULL || scan->site != last->site)
      g_hash_table_add(sites, (gpointer)scan->site);
    if (last == NULL || scan->manufacturer != last->manufacturer)
      g_hash_table_add(scanners, (gpointer)scan->manufacturer);
    if (scan->source != NULL && (last == NULL || scan->source != last->source))
      g_hash_table_add(sources, (gpointer)scan->source);
    last = scan;
  }
  update_risk_title(page, table);
  fill_menu(page->site, _("All sites"), NULL, sites);
  fill_menu(page->scanner, _("All scanners"), NULL, scanners);
  fill_menu(page->source, _("All sources"), _("DICOM series"), sources);
  page->updating = FALSE;
  apply_filter(page);
  if (table->n_scans > 0 && page->grow_tick == 0 &&
      gtk_slice_list_model_get_size(page->shown_rows) < KEPT_ROWS) {
    page->first_frame = TRUE;
    page->grow_tick = gtk_widget_add_tick_callback(GTK_WIDGET(page), on_grow_tick, NULL, NULL);
  }
}

static void
on_case_changed(DemurWorklistPage *page) {
  update_selection(page);
}

static void
on_reviewed(DemurWorklistPage *page) {
  update_chips(page);
}

static void
on_selected(DemurWorklistPage *page) {
  if (page->updating)
    return;
  const guint at = gtk_single_selection_get_selected(page->selection);
  if (at != GTK_INVALID_LIST_POSITION)
    demur_session_select(page->session,
                         demur_scan_list_row_at(demur_session_list(page->session), at));
}

static void
on_activate(DemurWorklistPage *page, guint position) {
  demur_session_select(page->session,
                       demur_scan_list_row_at(demur_session_list(page->session), position));
  gtk_widget_activate_action(GTK_WIDGET(page), "win.open-case", NULL);
}

/* Columns. */

typedef struct {
  DemurWorklistPage *page;
  DemurSort sort;
} ColumnData;

/* GTK 4.8 keeps the column that sorts to itself. The view's sorter asks the primary column first,
 * so comparing two probes tells which it is and in which direction; the rows are then sorted by
 * the model, on plain arrays. */
static int
compare_probe(gconstpointer a, gconstpointer b, gpointer data) {
  const ColumnData *column = data;
  column->page->primary = column->sort;
  return a == column->page->probe[0] ? -1 : 1;
}

static void
on_sorter_changed(DemurWorklistPage *page) {
  GtkSorter *sorter = gtk_column_view_get_sorter(page->view);
  if (page->probe[0] == NULL) /* the page is going */
    return;
  page->primary = DEMUR_N_SORTS;
  const GtkOrdering order = gtk_sorter_compare(sorter, page->probe[0], page->probe[1]);
  if (page->primary == DEMUR_N_SORTS || order == GTK_ORDERING_EQUAL)
    return;
  page->updating = TRUE;
  demur_scan_list_set_sort(demur_session_list(page->session), page->primary,
                           order == GTK_ORDERING_LARGER);
  page->updating = FALSE;
  update_selection(page);
}

static char *
verdict_text(DemurShown shown) {
  return g_strdup_printf("%s %s", demur_shown_glyph(shown), demur_shown_title(shown));
}

/* Of the columns whose every row looks the same. */
static const char *
column_style(DemurSort sort) {
  switch (sort) {
  case DEMUR_SORT_AGE:
  case DEMUR_SORT_DATE:
  case DEMUR_SORT_SCANNER:
  case DEMUR_SORT_REASON:
  case DEMUR_SORT_REVIEWED:
    return "muted";
  default:
    return NULL;
  }
}

/* What tells cases apart, and what is decided, is never cut at the usual width. */
static gboolean
may_end(DemurSort sort) {
  return sort == DEMUR_SORT_NAME || sort == DEMUR_SORT_SITE || sort == DEMUR_SORT_SCANNER ||
         sort == DEMUR_SORT_REASON;
}

static void
on_setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data) {
  const ColumnData *column = data;
  GtkWidget *cell =
      demur_text_cell_new(column->sort == DEMUR_SORT_REASON ? 2 : 1, may_end(column->sort));
  const char *style = column_style(column->sort);
  if (style != NULL)
    gtk_widget_add_css_class(cell, style);
  gtk_list_item_set_child(item, cell);
  g_object_set_data(G_OBJECT(item), "column", data);
}

static void
set_style(GtkWidget *widget, const char *style) {
  const char *styles[] = {style, NULL};
  gtk_widget_set_css_classes(widget, styles);
}

/* A row is called by what stands in it first, as a reader would say it. */
static void
name_row(GtkWidget *cell, const DemurScan *scan) {
  GtkWidget *place = gtk_widget_get_parent(cell);
  GtkWidget *row = place != NULL ? gtk_widget_get_parent(place) : NULL;
  if (row == NULL)
    return;
  g_autofree char *risk = demur_scan_risk_text(scan);
  g_autofree char *name = g_strdup_printf("%s, %s, %s, %s", demur_shown_title(scan->shown),
                                          scan->patient_id, scan->date, risk);
  demur_shown_name_set(row, name);
}

static void
fill_cell(GtkListItem *item, const ColumnData *column) {
  DemurScanRow *row = gtk_list_item_get_item(item);
  const DemurScan *scan = demur_scan_row_scan(row);
  const DemurScanReview *review = demur_scan_row_review(row);
  GtkWidget *child = gtk_list_item_get_child(item);
  char *text = NULL;
  switch (column->sort) {
  case DEMUR_SORT_VERDICT:
    text = verdict_text(scan->shown);
    set_style(child, demur_shown_style(scan->shown));
    name_row(child, scan);
    break;
  case DEMUR_SORT_PATIENT:
    text = g_strdup(*scan->patient_id != '\0' ? scan->patient_id : DEMUR_TEXT_UNDEFINED);
    break;
  case DEMUR_SORT_NAME:
    text = demur_scan_name_text(scan);
    break;
  case DEMUR_SORT_AGE:
    text = demur_age_sex_text(scan->age, scan->sex);
    break;
  case DEMUR_SORT_DATE:
    text = g_strdup(*scan->date != '\0' ? scan->date : DEMUR_TEXT_UNDEFINED);
    break;
  case DEMUR_SORT_SITE:
    text = g_strdup(*scan->site != '\0' ? scan->site : DEMUR_TEXT_UNDEFINED);
    break;
  case DEMUR_SORT_SCANNER:
    text = g_strdup(*scan->scanner != '\0' ? scan->scanner : DEMUR_TEXT_UNDEFINED);
    break;
  case DEMUR_SORT_RISK: {
    text = demur_scan_risk_text(scan);
    if (column->page->horizons_differ && isfinite(scan->risk) && isfinite(scan->horizon_years)) {
      g_autofree char *risk = text, *years = demur_text_formatted("%g", scan->horizon_years);
      /* Translators: a risk and its years, as in "5.0 % (6 y)". */
      text = g_strdup_printf(_("%s (%s y)"), risk, years);
    }
    set_style(child, isnan(scan->risk) ? "muted" : "strong");
    const GdkRGBA colour = demur_theme_verdict_colour(DEMUR_SHOWN_ACCEPTED);
    demur_text_cell_set_bar(DEMUR_TEXT_CELL(child), RISK_CHARS, scan->risk / RISK_BAR_FULL,
                            &colour);
    break;
  }
  case DEMUR_SORT_REASON:
    text = demur_scan_first_reason(scan);
    break;
  default: {
    const char *by = demur_session_opened_by(column->page->session, scan);
    text = g_strdup(review->n_reviews == 0                     ? ""
                    : review->opinion == DEMUR_REVIEW_AGREE    ? _("✓ agreed")
                    : review->opinion == DEMUR_REVIEW_DISAGREE ? _("✗ disagreed")
                                                               : _("✓ comment"));
    if (by != NULL) {
      g_autofree char *said = text;
      /* Translators: whoever has the case open now, as in "open: anna"; before it what stands there else. */
      g_autofree char *open = g_strdup_printf(_("open: %s"), by);
      text = g_strjoin(*said != '\0' ? " · " : "", said, open, NULL);
    }
    break;
  }
  }
  demur_text_cell_set(DEMUR_TEXT_CELL(child), text);
}

static void
on_row_changed(DemurScanRow *row, GtkListItem *item) {
  fill_cell(item, g_object_get_data(G_OBJECT(item), "column"));
}

static void
on_bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data) {
  fill_cell(item, data);
  g_signal_connect_object(gtk_list_item_get_item(item), "changed", G_CALLBACK(on_row_changed), item,
                          0);
}

static void
on_unbind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data) {
  g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(item), on_row_changed, item);
}

/* As wide as its longest word in the reader's language, and no less than width. */
static int
verdict_width(DemurWorklistPage *page, int width) {
  for (int shown = 0; shown < DEMUR_N_SHOWN; shown++) {
    g_autofree char *text = verdict_text((DemurShown)shown);
    width = MAX(width, text_width(page, text));
  }
  return width;
}

static GtkColumnViewColumn *
add_column(DemurWorklistPage *page, DemurSort sort, const char *title, int width, gboolean expand) {
  ColumnData *data = g_new(ColumnData, 1);
  *data = (ColumnData){page, sort};
  g_object_set_data_full(G_OBJECT(page), g_intern_string(title), data, g_free);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
  g_signal_connect(factory, "setup", G_CALLBACK(on_setup), data);
  g_signal_connect(factory, "bind", G_CALLBACK(on_bind), data);
  g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), data);
  GtkColumnViewColumn *column = gtk_column_view_column_new(title, factory);
  if (expand)
    gtk_column_view_column_set_expand(column, TRUE);
  else
    gtk_column_view_column_set_fixed_width(column,
                                           MAX(scaled(page, width), text_width(page, title)));
  gtk_column_view_column_set_resizable(column, TRUE);
  GtkSorter *sorter = GTK_SORTER(gtk_custom_sorter_new(compare_probe, data, NULL));
  gtk_column_view_column_set_sorter(column, sorter);
  g_object_unref(sorter);
  gtk_column_view_append_column(page->view, column);
  g_object_unref(column);
  return column;
}

static void
build_chips(DemurWorklistPage *page) {
  for (guint i = 0; i < N_CHIPS; i++) {
    page->chip[i] = gtk_toggle_button_new_with_label("");
    gtk_widget_add_css_class(page->chip[i], "chip");
    if (i > 0)
      gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(page->chip[i]),
                                  GTK_TOGGLE_BUTTON(page->chip[0]));
    g_signal_connect(page->chip[i], "toggled", G_CALLBACK(on_chip), page);
    gtk_box_append(page->chip_row, page->chip[i]);
  }
}

/* Tab leaves the list in one step; rows are walked by the arrows. */
static gboolean
leave_list(DemurWorklistPage *page, GtkDirectionType direction) {
  GtkWidget *view = GTK_WIDGET(page->view);
  gtk_widget_set_can_focus(view, FALSE);
  const gboolean left = gtk_widget_child_focus(GTK_WIDGET(gtk_widget_get_root(view)), direction);
  gtk_widget_set_can_focus(view, TRUE);
  return left;
}

static gboolean
on_tab(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
       DemurWorklistPage *page) {
  GtkWidget *focus = gtk_root_get_focus(gtk_widget_get_root(GTK_WIDGET(page)));
  const gboolean in_rows =
      focus != NULL && gtk_widget_get_ancestor(focus, GTK_TYPE_LIST_VIEW) != NULL;
  if (!in_rows || (key != GDK_KEY_Tab && key != GDK_KEY_ISO_Left_Tab))
    return FALSE;
  return leave_list(page, key == GDK_KEY_Tab ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD);
}

/* A letter typed in the list begins a search, apart from N and P, which step. */
static gboolean
on_key(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
       DemurWorklistPage *page) {
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return FALSE;
  const gunichar letter = gdk_keyval_to_unicode(key);
  if (letter == 0 || !g_unichar_isgraph(letter) || key == GDK_KEY_n || key == GDK_KEY_p)
    return FALSE;
  char text[8] = {0};
  g_unichar_to_utf8(letter, text);
  return gtk_widget_activate_action(GTK_WIDGET(page), "win.search", "s", text);
}

/* Building: see resources/ui/worklist-page.ui. */

static void
demur_worklist_page_class_init(DemurWorklistPageClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_worklist_page_dispose;
  g_type_ensure(DEMUR_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/worklist-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, chip_row);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, source);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, site);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, scanner);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, view);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, empty);
  gtk_widget_class_bind_template_callback(widget_class, on_menu);
  gtk_widget_class_bind_template_callback(widget_class, on_activate);
  gtk_widget_class_bind_template_callback(widget_class, on_key);
  gtk_widget_class_bind_template_callback(widget_class, on_tab);
  gtk_widget_class_bind_template_child(widget_class, DemurWorklistPage, begin);
}

static void
demur_worklist_page_init(DemurWorklistPage *page) {
  page->shown = DEMUR_SHOW_ALL;
  gtk_widget_init_template(GTK_WIDGET(page));
  build_chips(page);
}

DemurWorklistPage *
demur_worklist_page_new(DemurSession *session) {
  DemurWorklistPage *page = g_object_new(DEMUR_TYPE_WORKLIST_PAGE, NULL);
  page->session = g_object_ref(session);
  page->probe[0] = g_object_new(DEMUR_TYPE_SCAN_ROW, NULL);
  page->probe[1] = g_object_new(DEMUR_TYPE_SCAN_ROW, NULL);

  page->shown_rows =
      gtk_slice_list_model_new(G_LIST_MODEL(g_object_ref(demur_session_list(session))), 0, 0);
  page->selection = gtk_single_selection_new(G_LIST_MODEL(page->shown_rows));
  gtk_single_selection_set_autoselect(page->selection, FALSE);
  gtk_single_selection_set_can_unselect(page->selection, TRUE);
  gtk_column_view_set_model(page->view, GTK_SELECTION_MODEL(page->selection));
  g_object_unref(page->selection); /* the view has it */
  GtkColumnViewColumn *verdict =
      add_column(page, DEMUR_SORT_VERDICT, _("Verdict"), VERDICT_WIDTH, FALSE);
  gtk_column_view_column_set_fixed_width(verdict, verdict_width(page, scaled(page, VERDICT_WIDTH)));
  add_column(page, DEMUR_SORT_PATIENT, _("Patient"), 118, FALSE);
  demur_shown_name_set(gtk_widget_get_first_child(GTK_WIDGET(page->view)), _("Headings"));
  page->across = gtk_scrollable_get_hadjustment(GTK_SCROLLABLE(page->view));
  g_signal_connect_object(page->across, "changed", G_CALLBACK(on_width), page, G_CONNECT_SWAPPED);
  page->name_column = add_column(page, DEMUR_SORT_NAME, _("Name"), NAME_WIDTH, FALSE);
  show_column(page->name_column, FALSE, NAME_WIDTH);
  add_column(page, DEMUR_SORT_AGE, _("Age, sex"), 74, FALSE);
  GtkColumnViewColumn *date = add_column(page, DEMUR_SORT_DATE, _("Study"), 96, FALSE);
  page->site_column = add_column(page, DEMUR_SORT_SITE, _("Site"), SITE_WIDTH, FALSE);
  page->scanner_column =
      add_column(page, DEMUR_SORT_SCANNER, _("Scanner · kernel"), SCANNER_WIDE, FALSE);
  page->risk_column = add_column(page, DEMUR_SORT_RISK, _("Risk"), RISK_WIDE, FALSE);
  page->reason_column = add_column(page, DEMUR_SORT_REASON, _("Reason"), 200, TRUE);
  page->reviewed_column =
      add_column(page, DEMUR_SORT_REVIEWED, _("Reviewed"), REVIEWED_WIDE, FALSE);
  g_signal_connect_swapped(gtk_column_view_get_sorter(page->view), "changed",
                           G_CALLBACK(on_sorter_changed), page);
  gtk_column_view_sort_by_column(page->view, date, GTK_SORT_DESCENDING);
  g_signal_connect_swapped(page->selection, "notify::selected", G_CALLBACK(on_selected), page);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), page, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "case-changed", G_CALLBACK(on_case_changed), page,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_reviewed), page, G_CONNECT_SWAPPED);
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(page->chip[0]), TRUE);
  update_chips(page);
  return page;
}

void
demur_worklist_page_set_text(DemurWorklistPage *page, const char *text) {
  g_free(page->text);
  page->text = g_strdup(text);
  apply_filter(page);
}

const char *
demur_worklist_page_text(DemurWorklistPage *page) {
  return page->text != NULL ? page->text : "";
}

void
demur_worklist_page_show(DemurWorklistPage *page, const char *what) {
  for (guint i = 0; i < N_CHIPS; i++)
    if (g_strcmp0(chips[i].name, what) == 0)
      gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(page->chip[i]), TRUE);
}

void
demur_worklist_page_focus_list(DemurWorklistPage *page) {
  GtkWidget *shown = gtk_stack_get_visible_child(page->stack);
  if (gtk_widget_is_ancestor(GTK_WIDGET(page->view), shown))
    gtk_widget_grab_focus(GTK_WIDGET(page->view));
  else if (!gtk_widget_child_focus(shown, GTK_DIR_TAB_FORWARD))
    gtk_widget_child_focus(GTK_WIDGET(page), GTK_DIR_TAB_FORWARD);
}
