/* How long a reader waits: first image of a series, slice changes in each plane, memory after a
 * hundred cases. Needs a display: xvfb-run build/tests/ui/bench-workstation WORKSPACE SCAN_ID */
#include <gtk/gtk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/ct-view.h"
#include "ui/image-data.h"

static gint64 started, first, whole;
static DemurImage *image;
static GObject *owner;

static void
on_part(gpointer data, guint64 tag, gpointer part) {
  first = g_get_monotonic_time();
  demur_image_unref(part);
}

static void
on_done(gpointer data, guint64 tag, gpointer result, const GError *error) {
  if (error != NULL)
    g_error("%s", error->message);
  whole = g_get_monotonic_time();
  image = result;
}

static int
compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static long
resident_kb(void) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
    return 0;
  const char *at = strstr(text, "VmRSS:");
  return at != NULL ? atol(at + 6) : 0;
}

static void
load(const char *workspace, const char *scan) {
  started = g_get_monotonic_time();
  first = whole = 0;
  demur_image_load(workspace, scan, owner, 0, on_part, on_done);
  while (whole == 0)
    g_main_context_iteration(NULL, TRUE);
}

int
main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "bench-workstation WORKSPACE SCAN_ID\n");
    return 2;
  }
  gtk_init();
  owner = g_object_new(G_TYPE_OBJECT, NULL);
  load(argv[1], argv[2]);
  printf("%zu slices of %u x %u: first image %.0f ms, all %.0f ms\n", image->series->n_slices,
         image->series->rows, image->series->columns, (double)(first - started) / 1e3,
         (double)(whole - started) / 1e3);
  GtkWidget *window = gtk_window_new();
  GtkWidget *view = demur_ct_view_new("CT image");
  gtk_window_set_child(GTK_WINDOW(window), view);
  gtk_window_set_default_size(GTK_WINDOW(window), 800, 800);
  gtk_window_present(GTK_WINDOW(window));
  DemurScan scan = {.scan_id = argv[2],
                    .patient_id = "",
                    .sex = "",
                    .date = "",
                    .description = "",
                    .manufacturer = "",
                    .model_name = "",
                    .kernel = ""};
  demur_ct_view_set_image(DEMUR_CT_VIEW(view), image, &scan);
  for (int i = 0; i < 200; i++)
    g_main_context_iteration(NULL, FALSE);
  static const char *const names[] = {"slice as acquired", "coronal", "sagittal", "MIP of 10 mm"};
  for (int kind = 0; kind < 4; kind++) {
    demur_ct_view_set_plane(DEMUR_CT_VIEW(view), kind == 1   ? DEMUR_CT_CORONAL
                                                 : kind == 2 ? DEMUR_CT_SAGITTAL
                                                             : DEMUR_CT_ACQUIRED);
    demur_ct_view_set_slab(DEMUR_CT_VIEW(view), kind == 3 ? 10 : 0);
    demur_ct_view_set_slice(DEMUR_CT_VIEW(view), 0);
    double times[200];
    const size_t n = MIN(200, demur_ct_view_n_slices(DEMUR_CT_VIEW(view)) - 1);
    for (size_t i = 0; i < n; i++) {
      const gint64 before = g_get_monotonic_time();
      demur_ct_view_scroll(DEMUR_CT_VIEW(view), 1);
      times[i] = (double)(g_get_monotonic_time() - before) / 1e3;
    }
    qsort(times, n, sizeof(double), compare);
    printf("%s: median %.2f ms, 99th percentile %.2f ms\n", names[kind], times[n / 2],
           times[(n * 99) / 100]);
  }
  const long before = resident_kb();
  for (int i = 0; i < 100; i++) {
    g_clear_pointer(&image, demur_image_unref);
    load(argv[1], argv[2]);
    demur_ct_view_set_image(DEMUR_CT_VIEW(view), image, &scan);
  }
  printf("resident before %ld MB, after 100 cases %ld MB\n", before / 1024, resident_kb() / 1024);
  return 0;
}
