/* A prior beside the current scan stays where the current one is, to half a slice: for every pair of
 * spacings, over 200 steps of the one and 200 of the other, in the real window. The right value is
 * the place in the patient, from ImagePositionPatient alone. Needs a display.
 *
 *   alignment FOLDER                        an empty one, for phantoms and a workspace */
#include <gtk/gtk.h>
#include <math.h>
#include <stdio.h>

#include "dicom/phantom.h"
#include "ui/image-data.h"
#include "ui/job.h"
#include "ui/patient-page.h"
#include "ui/theme.h"
#include "ui/window.h"

#define STEPS 200

static const double spacings[] = {0.625, 1, 1.25, 2, 2.5, 3, 3.2, 5};
#define N G_N_ELEMENTS(spacings)

static DemurSession *session;
static DemurWindow *window;

static void
settle(void) {
  for (int quiet = 0; quiet < 20; quiet++) {
    if (demur_job_n_running() > 0)
      quiet = 0;
    g_main_context_iteration(NULL, demur_job_n_running() > 0);
    while (g_main_context_iteration(NULL, FALSE))
      ;
  }
}

/* One scan of the patient: earlier ones a day apart, the current ones all of one later day. */
static void
write_scan(const char *folder, guint index, double spacing, gboolean earlier) {
  g_autofree char *date = earlier ? g_strdup_printf("202001%02u", index) : g_strdup("20210101");
  DemurPhantomOptions options = demur_phantom_defaults(1);
  options.index = index;
  options.patient = 1;
  options.n_slices = (guint)round(250 / spacing);
  options.size = 64;
  options.spacing_mm = spacing;
  options.study_date = date;
  g_autofree char *name = g_strdup_printf("%u", index);
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_phantom_write(&options, path, NULL, NULL, NULL, &error))
    g_error("%s", error->message);
}

static GtkWidget *
find_type(GtkWidget *widget, GType type) {
  if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type))
    return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling(child))
    found = find_type(child, type);
  return found;
}

/* The view of the prior: the last one of the page. */
static void
find_views(GtkWidget *widget, DemurCtView *views[8], guint *n) {
  if (DEMUR_IS_CT_VIEW(widget))
    views[(*n)++] = DEMUR_CT_VIEW(widget);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
       child = gtk_widget_get_next_sibling(child))
    find_views(child, views, n);
}

static gboolean
is_end(DemurCtView *view) {
  const size_t slice = demur_ct_view_slice(view);
  return slice == 0 || slice + 1 == demur_ct_view_n_slices(view);
}

static double
spacing_of(DemurCtView *view) {
  return demur_ct_view_image(view)->volume->spacing_mm;
}

/* Scrolls leader, there and back; the number of steps after which the other was further off than
 * half of its own slice. Where it has no more slices it can't follow. */
static guint
count_wrong(DemurCtView *leader, DemurCtView *other, guint *n_compared) {
  guint n_wrong = 0;
  int step = 1;
  for (guint i = 0; i < STEPS; i++) {
    const size_t before = demur_ct_view_slice(leader);
    demur_ct_view_scroll(leader, i % 9 == 8 ? 10 * step : step);
    if (demur_ct_view_slice(leader) == before) { /* at the end */
      step = -step;
      continue;
    }
    double here[3], there[3], off = 0;
    if (!demur_ct_view_point(leader, here) || !demur_ct_view_point(other, there))
      return STEPS;
    for (int k = 0; k < 3; k++)
      off += (there[k] - here[k]) * (there[k] - here[k]);
    if (is_end(other))
      continue;
    (*n_compared)++;
    if (sqrt(off) > spacing_of(other) / 2 + 1e-6)
      n_wrong++;
  }
  return n_wrong;
}

static guint
try_pair(DemurCtView *view, DemurCtView *prior, double current, double earlier) {
  guint n_compared = 0;
  if (!demur_image_is_volume(demur_ct_view_image(view)) ||
      !demur_image_is_volume(demur_ct_view_image(prior)) ||
      fabs(spacing_of(view) - current) > 1e-3 || fabs(spacing_of(prior) - earlier) > 1e-3)
    g_error("not the pair %g and %g", current, earlier);
  const guint n_down = count_wrong(view, prior, &n_compared),
              n_up = count_wrong(prior, view, &n_compared);
  if (n_compared < STEPS)
    g_error("only %u places were compared", n_compared);
  if (n_down + n_up > 0)
    printf("%g mm beside %g mm: %u steps of the current scan and %u of the prior are off by more "
           "than half a slice\n",
           current, earlier, n_down, n_up);
  return n_down + n_up;
}

static guint
try_all(void) {
  GtkWidget *page = find_type(GTK_WIDGET(window), DEMUR_TYPE_PATIENT_PAGE);
  DemurCtView *views[8];
  guint n_views = 0, n_wrong = 0, n_pairs = 0;
  find_views(page, views, &n_views);
  DemurCtView *view = views[0], *prior = views[n_views - 1];
  GtkDropDown *menu = GTK_DROP_DOWN(find_type(page, GTK_TYPE_DROP_DOWN));
  const DemurScanTable *table = demur_session_table(session);
  for (size_t row = 0; row < table->n_scans; row++) {
    if (!g_str_has_prefix(table->scans[row].date, "2021"))
      continue;
    demur_session_select(session, (gssize)row);
    settle();
    if (!gtk_widget_get_mapped(GTK_WIDGET(prior)))
      g_action_group_activate_action(G_ACTION_GROUP(window), "compare", NULL);
    for (guint j = 0; j < N; j++) {
      gtk_drop_down_set_selected(menu, j); /* the newest first */
      settle();
      n_wrong += try_pair(view, prior, table->scans[row].spacing_mm, spacings[N - 1 - j]);
      n_pairs++;
    }
  }
  printf("%u pairs of spacings, %d steps of each: %u wrong\n", n_pairs, 2 * STEPS, n_wrong);
  return n_pairs == N * N ? n_wrong : 1;
}

int
main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "alignment FOLDER\n");
    return 2;
  }
  g_autofree char *images = g_build_filename(argv[1], "images", NULL);
  g_autofree char *workspace = g_build_filename(argv[1], "w.demur", NULL);
  for (guint i = 0; i < N; i++) {
    write_scan(images, i + 1, spacings[i], TRUE);
    write_scan(images, (guint)N + i + 1, spacings[i], FALSE);
  }
  gtk_init();
  demur_theme_set(DEMUR_THEME_DARK);
  session = demur_session_new("reader");
  window = demur_window_new(NULL, session);
  gtk_window_present(GTK_WINDOW(window));
  demur_session_open(session, workspace, TRUE);
  settle();
  char *paths[] = {images, NULL};
  if (!demur_session_import(session, paths, FALSE))
    return 1;
  settle();
  demur_window_show_page(window, DEMUR_PAGE_PATIENT);
  return try_all() == 0 ? 0 : 1;
}
