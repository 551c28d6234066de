/* How long a reader waits, in the real window: first image of a series, slice changes in each plane
 * and steps of the coverage slider with all that is drawn for them, opening the worklist, what an
 * idle window costs and what a hundred cases leave behind. Needs a display; tests/ui/bench.sh makes
 * the workspaces and runs it.
 *
 *   bench-workstation phantom FOLDER                   writes two series of 250 slices of 512 x 512
 *   bench-workstation images|first|three|slider|worklist WORKSPACE
 *
 * Each line has the time on the clock and the processor time of the whole program: on a busy
 * machine the second one says more. */
#include <gtk/gtk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "dicom/phantom.h"
#include "ui/ct-view.h"
#include "ui/job.h"
#include "ui/theme.h"
#include "ui/window.h"

static DemurSession *session;
static DemurWindow *window;
static guint n_painted;
static double paint_began, paint_began_cpu, painting, painting_cpu;

static double
wall_ms(void) {
  return (double)g_get_monotonic_time() / 1e3;
}

static double
cpu_ms(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void
on_before_paint(void) {
  paint_began = wall_ms();
  paint_began_cpu = cpu_ms();
}

static void
on_after_paint(void) {
  painting += wall_ms() - paint_began;
  painting_cpu += cpu_ms() - paint_began_cpu;
  n_painted++;
}

/* Until the window has drawn what was asked of it. */
static void
paint(void) {
  const guint before = n_painted;
  gtk_widget_queue_draw(GTK_WIDGET(window));
  while (n_painted == before)
    g_main_context_iteration(NULL, TRUE);
}

static void
settle(void) {
  for (int quiet = 0; quiet < 5; quiet++) {
    if (demur_job_n_running() > 0)
      quiet = 0;
    paint();
  }
}

/* How long the program was busy at a stretch, between two waits for something to happen: what a
 * person would feel as a stutter. */
static double busy_since, longest_busy;

static gint
timed_poll(GPollFD *fds, guint n_fds, gint timeout) {
  longest_busy = MAX(longest_busy, wall_ms() - busy_since);
  const gint result = g_poll(fds, n_fds, timeout);
  busy_since = wall_ms();
  return result;
}

static int
compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  size_t n;
  double wall[1024], cpu[1024];
} Times;

static void
print_times(const char *name, Times *times) {
  const size_t n = times->n;
  qsort(times->wall, n, sizeof(double), compare);
  qsort(times->cpu, n, sizeof(double), compare);
  printf("%s: median %.1f ms, 99th percentile %.1f ms (processor %.1f and %.1f ms), %zu steps\n",
         name, times->wall[n / 2], times->wall[n * 99 / 100], times->cpu[n / 2],
         times->cpu[n * 99 / 100], n);
}

/* One change with the frame that shows it; the wait for the screen's next refresh is not counted.
 */
static void
time_step(Times *times, void (*step)(size_t i), size_t i) {
  painting = painting_cpu = 0;
  const double wall = wall_ms(), cpu = cpu_ms();
  step(i);
  const double stepped = wall_ms() - wall, stepped_cpu = cpu_ms() - cpu;
  const guint before = n_painted;
  while (n_painted == before)
    g_main_context_iteration(NULL, TRUE);
  times->wall[times->n] = stepped + painting;
  times->cpu[times->n++] = stepped_cpu + painting_cpu;
}

static void
activate(const char *action, GVariant *value) {
  g_action_group_activate_action(G_ACTION_GROUP(window), action, value);
}

static void
show_page(DemurPage page) {
  demur_window_show_page(window, page);
}

static long
resident_kb(void) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
    return 0;
  const char *at = strstr(text, "VmRSS:");
  return at != NULL ? atol(at + 6) : 0;
}

static gboolean
on_time(gpointer data) {
  *(gboolean *)data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Processor time of ten seconds in which nobody does anything. */
static void
measure_idle(const char *what) {
  settle();
  gboolean over = FALSE;
  g_timeout_add_seconds(3, on_time, &over); /* what was put off, or fades out, is done */
  while (!over)
    g_main_context_iteration(NULL, TRUE);
  over = FALSE;
  g_timeout_add_seconds(10, on_time, &over);
  const double before = cpu_ms();
  guint n_wakes = 0;
  for (; !over; n_wakes++)
    g_main_context_iteration(NULL, TRUE);
  printf("idle, %s: %.1f ms of processor in 10 s, woken %u times\n", what, cpu_ms() - before,
         n_wakes);
}

static void
open_workspace(const char *path) {
  const double wall = wall_ms(), cpu = cpu_ms();
  demur_session_open(session, path, FALSE);
  while (demur_session_table(session) == NULL)
    g_main_context_iteration(NULL, TRUE);
  paint();
  printf("workspace with %zu scans open and drawn: %.0f ms (processor %.0f ms)\n",
         demur_session_table(session)->n_scans, wall_ms() - wall, cpu_ms() - cpu);
}

/* Images. */

static GtkWidget *
find_type(GtkWidget *widget, GType type) {
  if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type) && gtk_widget_get_child_visible(widget) &&
      !GTK_IS_POPOVER(gtk_widget_get_native(widget)))
    return widget;
  GtkWidget *found = NULL;
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling(child))
    found = find_type(child, type);
  return found;
}

static DemurCtView *view;
static int forward; /* which way the wheel goes away from slice 0: as the archive numbers them */

static void
step_slice(size_t i) {
  demur_ct_view_scroll(view, forward);
}

static void
step_window(size_t i) {
  demur_ct_view_window(view, 400 + (double)i * 4, 40);
}

static void
time_planes(void) {
  static const char *const names[] = {"slice as acquired", "coronal", "sagittal", "MIP of 10 mm"};
  for (int kind = 0; kind < 4; kind++) {
    demur_ct_view_set_plane(view, kind == 1   ? DEMUR_CT_CORONAL
                                  : kind == 2 ? DEMUR_CT_SAGITTAL
                                              : DEMUR_CT_ACQUIRED);
    demur_ct_view_set_slab(view, kind == 3 ? 10 : 0);
    demur_ct_view_set_slice(view, 0);
    demur_ct_view_scroll(view, 1);
    forward = demur_ct_view_slice(view) == 0 ? -1 : 1;
    demur_ct_view_set_slice(view, 0);
    paint();
    Times times = {0};
    const size_t n = MIN(240, demur_ct_view_n_slices(view) - 1);
    for (size_t i = 0; i < n; i++)
      time_step(&times, step_slice, i);
    print_times(names[kind], &times);
  }
  demur_ct_view_set_slab(view, 0);
  Times times = {0};
  for (size_t i = 0; i < 200; i++)
    time_step(&times, step_window, i);
  print_times("window", &times);
}

static DemurCtView *three[3];
static guint n_three;

static void
find_views(GtkWidget *widget) {
  if (DEMUR_IS_CT_VIEW(widget) && gtk_widget_get_mapped(widget) && n_three < 3)
    three[n_three++] = DEMUR_CT_VIEW(widget);
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL;
       child = gtk_widget_get_next_sibling(child))
    find_views(child);
}

/* Each of the three is cut elsewhere: what a click does. */
static void
step_three(size_t i) {
  for (guint v = 0; v < n_three; v++)
    demur_ct_view_scroll(three[v], i % 200 < 100 ? 1 : -1);
}

static void
time_three_planes(void) {
  demur_ct_view_set_plane(view, DEMUR_CT_ACQUIRED);
  activate("three-planes", NULL);
  settle();
  find_views(GTK_WIDGET(window));
  for (guint v = 0; v < n_three; v++)
    demur_ct_view_set_slice(three[v], 40);
  paint();
  Times times = {0};
  for (size_t i = 0; i < 200; i++)
    time_step(&times, step_three, i);
  g_autofree char *name = g_strdup_printf("%u planes at once, each cut elsewhere", n_three);
  print_times(name, &times);
  activate("three-planes", NULL);
  settle();
}

static void
time_first_image(gssize row) {
  const double wall = wall_ms(), cpu = cpu_ms();
  demur_session_select(session, row);
  while (demur_ct_view_image(view) == NULL)
    g_main_context_iteration(NULL, TRUE);
  paint();
  const double first = wall_ms() - wall, first_cpu = cpu_ms() - cpu;
  while (!demur_image_is_volume(demur_ct_view_image(view)))
    g_main_context_iteration(NULL, TRUE);
  paint();
  printf("%zu slices: first image %.0f ms (processor %.0f ms), all %.0f ms\n",
         demur_ct_view_n_slices(view), first, first_cpu, wall_ms() - wall);
}

/* The first image alone, opened anew five times. */
static void
bench_first(void) {
  show_page(DEMUR_PAGE_PATIENT);
  view = DEMUR_CT_VIEW(find_type(GTK_WIDGET(window), DEMUR_TYPE_CT_VIEW));
  for (guint i = 0; i < 5; i++) {
    time_first_image(0);
    settle();
    demur_session_select(session, -1);
    settle();
  }
}

/* Three planes alone. */
static void
bench_three(void) {
  show_page(DEMUR_PAGE_PATIENT);
  view = DEMUR_CT_VIEW(find_type(GTK_WIDGET(window), DEMUR_TYPE_CT_VIEW));
  time_first_image(0);
  settle();
  time_three_planes();
}

static void
bench_images(void) {
  show_page(DEMUR_PAGE_PATIENT);
  view = DEMUR_CT_VIEW(find_type(GTK_WIDGET(window), DEMUR_TYPE_CT_VIEW));
  const size_t n = demur_session_table(session)->n_scans;
  for (size_t i = 0; i < MIN(n, 2); i++) {
    time_first_image((gssize)i);
    settle();
  }
  time_planes();
  time_three_planes();
  measure_idle("with an image");
  demur_session_select(session, -1);
  settle();
  long before = 0;
  for (size_t i = 0; i <= 100; i++) {
    demur_session_select(session, (gssize)(i % n));
    settle();
    demur_session_select(session, -1);
    settle();
    if (i == 0)
      before = resident_kb();
  }
  const long after = resident_kb();
  printf("memory: %.1f MB after the first case was closed, %.1f MB after 100 more (%+.1f %%)\n",
         (double)before / 1024, (double)after / 1024,
         100.0 * (double)(after - before) / (double)before);
}

/* The slider. */

static void
step_coverage(size_t i) {
  activate("coverage", g_variant_new_double(0.05 + 0.01 * (double)(i * 37 % 96)));
}

static void
bench_slider(void) {
  show_page(DEMUR_PAGE_COHORT);
  settle();
  Times times = {0};
  for (size_t i = 0; i < 300; i++)
    time_step(&times, step_coverage, i);
  print_times("slider, everything drawn", &times);
  measure_idle("with charts");
}

/* The worklist. */

static void
step_case(size_t i) {
  activate("next", NULL);
}

/* A page of the list down, as the wheel or a key does. */
static void
step_scroll(size_t i) {
  GtkWidget *scrolled = find_type(GTK_WIDGET(window), GTK_TYPE_COLUMN_VIEW);
  GtkAdjustment *adjustment = gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(scrolled));
  const double page = gtk_adjustment_get_page_size(adjustment);
  const double end = gtk_adjustment_get_upper(adjustment) - page;
  gtk_adjustment_set_value(adjustment, i % 20 == 19
                                           ? end * (double)(i % 7) / 7
                                           : gtk_adjustment_get_value(adjustment) + 0.2 * page);
  gtk_widget_queue_draw(scrolled);
}

/* A search that is typed letter by letter, and taken back in the same way. */
static void
step_search(GtkEditable *entry, size_t i) {
  static const char typed[] = "siemens 1";
  const int n = (int)strlen(typed), at = (int)(i % (2 * strlen(typed)));
  int position = at;
  if (at < n)
    gtk_editable_insert_text(entry, typed + at, 1, &position);
  else
    gtk_editable_delete_text(entry, 2 * n - 1 - at, -1);
}

static void
on_search_changed(GtkWidget *entry, gboolean *changed) {
  *changed = TRUE;
}

/* The longest stretch until the list that was found is drawn. */
static void
time_search(Times *times, size_t i) {
  gboolean changed = FALSE;
  GtkWidget *entry = find_type(GTK_WIDGET(window), GTK_TYPE_SEARCH_ENTRY);
  const gulong handler =
      g_signal_connect_after(entry, "search-changed", G_CALLBACK(on_search_changed), &changed);
  busy_since = wall_ms();
  longest_busy = 0;
  const double cpu = cpu_ms();
  step_search(GTK_EDITABLE(entry), i);
  while (!changed)
    g_main_context_iteration(NULL, TRUE);
  paint();
  paint();
  times->wall[times->n] = longest_busy;
  times->cpu[times->n++] = cpu_ms() - cpu;
  g_signal_handler_disconnect(entry, handler);
}

static void
bench_worklist(void) {
  g_main_context_set_poll_func(NULL, timed_poll);
  Times times = {0};
  for (size_t i = 0; i < 200; i++)
    time_step(&times, step_case, i);
  print_times("next case in the worklist", &times);
  Times scroll = {0};
  for (size_t i = 0; i < 200; i++)
    time_step(&scroll, step_scroll, i);
  print_times("scrolling the worklist", &scroll);
  Times search = {0};
  for (size_t i = 0; i < 90; i++)
    time_search(&search, i);
  print_times("a letter of a search, longest stretch (processor: all)", &search);
  measure_idle("with the worklist");
}

/* n series of n_slices each, 250 mm high. */
static int
write_phantoms(const char *folder, guint n, guint n_slices) {
  for (guint i = 1; i <= n; i++) {
    DemurPhantomOptions options = demur_phantom_defaults(1);
    options.index = i;
    options.n_slices = n_slices;
    options.size = 512;
    options.spacing_mm = 250.0 / n_slices;
    g_autofree char *name = g_strdup_printf("%u", i);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(DemurParallel) parallel = demur_parallel_new(0);
    g_autoptr(GError) error = NULL;
    if (!demur_phantom_write(&options, path, parallel, NULL, NULL, &error)) {
      fprintf(stderr, "bench-workstation: %s\n", error->message);
      return 1;
    }
  }
  return 0;
}

int
main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "bench-workstation phantom|thousand|images|first|three|slider|worklist PATH\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (strcmp(argv[1], "phantom") == 0)
    return write_phantoms(argv[2], 2, 250);
  if (strcmp(argv[1], "thousand") == 0)
    return write_phantoms(argv[2], 1, 1000);
  gtk_init();
  demur_theme_set(DEMUR_THEME_DARK);
  session = demur_session_new("bench");
  window = demur_window_new(NULL, session);
  gtk_window_present(GTK_WINDOW(window));
  while (gtk_widget_get_frame_clock(GTK_WIDGET(window)) == NULL)
    g_main_context_iteration(NULL, TRUE);
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(window));
  g_signal_connect(clock, "before-paint", G_CALLBACK(on_before_paint), NULL);
  g_signal_connect(clock, "after-paint", G_CALLBACK(on_after_paint), NULL);
  paint();
  open_workspace(argv[2]);
  if (strcmp(argv[1], "images") == 0)
    bench_images();
  else if (strcmp(argv[1], "first") == 0)
    bench_first();
  else if (strcmp(argv[1], "three") == 0)
    bench_three();
  else if (strcmp(argv[1], "slider") == 0)
    bench_slider();
  else
    bench_worklist();
  return 0;
}
