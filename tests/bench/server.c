/* A workspace on a server beside one in a file: what who sits before a window waits for.
 *
 *   bench-server worklist PATH TIMES     reads the whole worklist anew each time
 *   bench-server series PATH N           N invented DICOM series, each with the facts of 300 slices
 *   bench-server heard PATH TIMES        from a review that another line writes to the worklist read anew for it
 *
 * PATH: a file or a server's address. server.sh puts them together. */
#include "tests/bench/bench.h"

#include "store/reviews.h"
#include "store/series.h"
#include "tasks/others.h"
#include "tasks/scan.h"

static DemurScanTable *
read_worklist(const char *path) {
  g_autoptr(GError) error = NULL;
  DemurScanTable *table = demur_scan_table_load(path, FALSE, NULL, &error);
  if (table == NULL)
    bench_fail(error);
  return table;
}

/* Puts both in order. */
static void
print_times(const char *what, double *clock, double *processor, size_t n) {
  const double first = clock[0], median = bench_median(clock, n);
  printf("%s, %zu times: median %.3f s, least %.3f, most %.3f, first %.3f", what, n, median,
         clock[0], clock[n - 1], first);
  if (processor != NULL)
    printf("; own processor time, median %.3f s", bench_median(processor, n));
  printf("\n");
}

static void
bench_worklist(const char *path, size_t n) {
  g_autofree double *clock = g_new(double, n), *processor = g_new(double, n);
  size_t n_scans = 0;
  for (size_t i = 0; i < n; i++) {
    const gint64 start = g_get_monotonic_time();
    const double used = bench_processor_seconds();
    g_autoptr(DemurScanTable) table = read_worklist(path);
    clock[i] = bench_seconds_since(start);
    processor[i] = bench_processor_seconds() - used;
    n_scans = table->n_scans;
  }
  g_autofree char *what = g_strdup_printf("worklist of %zu scans", n_scans);
  print_times(what, clock, processor, n);
}

/* As `dicom import` keeps them: what is asked of a series first, its slices behind. */
static char *
facts_of(size_t number) {
  GString *facts = g_string_new(NULL);
  g_string_append_printf(facts,
                         "{\"description\":\"Chest 1.0 B30f\",\"series_number\":%zu,"
                         "\"lossy\":false,\"patient_age\":\"064Y\",\"slices\":[",
                         number % 9 + 1);
  for (int slice = 0; slice < 300; slice++)
    g_string_append_printf(facts, "%s{\"instance\":%d,\"position_mm\":%.2f,\"exposure_mas\":%d}",
                           slice > 0 ? "," : "", slice + 1, -300.0 + slice, 40 + slice % 30);
  g_string_append(facts, "]}");
  return g_string_free(facts, FALSE);
}

static void
add_series(const char *path, size_t n) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  if (workspace == NULL)
    bench_fail(error);
  static char *const makers[] = {"SIEMENS", "GE MEDICAL SYSTEMS", "Philips", "TOSHIBA"};
  const size_t piece = 500;
  g_autofree DemurSeriesRecord *records = g_new0(DemurSeriesRecord, piece);
  g_autofree DemurSeriesSave *saves = g_new0(DemurSeriesSave, piece);
  for (size_t from = 0; from < n; from += piece) {
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    size_t taken = 0;
    for (size_t i = from; i < MIN(from + piece, n); i++, taken++) {
      char *const own[] = {
          g_strdup_printf("1.2.826.0.1.3680043.10.1.%zu", i),
          g_strdup_printf("1.2.826.0.1.3680043.10.2.%zu", i), g_strdup_printf("DEMUR-%06zu", i / 2),
          facts_of(i),
          g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)&i, sizeof i)};
      for (size_t t = 0; t < G_N_ELEMENTS(own); t++)
        g_ptr_array_add(texts, own[t]);
      records[taken] = (DemurSeriesRecord){.scan_id = own[0],
                                           .series_uid = own[0],
                                           .study_uid = own[1],
                                           .patient_id = own[2],
                                           .patient_name = (char *)"INVENTED^PATIENT",
                                           .study_date = (char *)"20240311",
                                           .modality = (char *)"CT",
                                           .type = (char *)"volume",
                                           .accepted = TRUE,
                                           .eligible = TRUE,
                                           .images_digest = own[4],
                                           .birth_date = (char *)"19600101",
                                           .sex = (char *)"F",
                                           .n_slices = 300,
                                           .spacing_mm = 1.0,
                                           .thickness_mm = 1.0,
                                           .tilt_degrees = 0.0,
                                           .manufacturer = makers[i % G_N_ELEMENTS(makers)],
                                           .model_name = (char *)"Definition AS",
                                           .kernel = (char *)"B30f",
                                           .kvp = 120.0,
                                           .fov_mm = 350.0,
                                           .tube_current_ma = 80.0,
                                           .site = (char *)"ward",
                                           .facts_json = own[3],
                                           .created = (char *)"2026-01-01T00:00:00Z"};
      saves[taken] = (DemurSeriesSave){.record = &records[taken]};
    }
    if (!demur_series_save(workspace, saves, taken, &error))
      bench_fail(error);
  }
}

/* --- another's review --- */

typedef struct {
  gint64 last; /* told so far */
  gint64 told; /* when */
  GMainLoop *loop;
} Heard;

static void
hear(const DemurOthersNews *news, gpointer data) {
  Heard *heard = data;
  if (news->last <= heard->last)
    return;
  heard->last = news->last;
  heard->told = g_get_monotonic_time();
  g_main_loop_quit(heard->loop);
}

static gboolean
stop_waiting(gpointer data) {
  (void)data;
  fprintf(stderr, "nothing was heard for a minute\n");
  exit(1);
}

static void
write_review(DemurWorkspace *workspace, const DemurScan *scan) {
  g_autoptr(GError) error = NULL;
  DemurReviewRecord review = {.scan_id = (char *)scan->scan_id,
                              .cohort = (char *)scan->source,
                              .verdict_id = scan->verdict_id,
                              .kind = DEMUR_REVIEW_AGREE,
                              .shown = (char *)"{}",
                              .user = (char *)demur_workspace_user(workspace),
                              .created = (char *)"2026-01-01T00:00:00Z"};
  if (!demur_reviews_save(workspace, &review, &error))
    bench_fail(error);
}

static void
bench_heard(const char *path, size_t n) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) other = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
  if (other == NULL)
    bench_fail(error);
  demur_workspace_set_actor(other, "anna", "ward", NULL); /* a server knows better */
  g_autoptr(DemurScanTable) table = read_worklist(path);
  Heard heard = {.last = -1, .loop = g_main_loop_new(NULL, FALSE)};
  DemurOthers *others = demur_others_start(path, hear, &heard, NULL);
  g_autofree double *told = g_new(double, n), *shown = g_new(double, n);
  g_main_loop_run(heard.loop); /* what is there already */
  for (size_t i = 0; i < n; i++) {
    g_usleep(1200000 + 37000 * (gulong)(i % 7)); /* not in step with who looks */
    const guint limit = g_timeout_add_seconds(60, stop_waiting, NULL);
    write_review(other, &table->scans[i % table->n_scans]);
    const gint64 start = g_get_monotonic_time();
    g_main_loop_run(heard.loop);
    told[i] = (double)(heard.told - start) * 1e-6;
    g_autoptr(DemurScanTable) anew = read_worklist(path);
    shown[i] = bench_seconds_since(start);
    if (anew->reviews[i % table->n_scans].n_reviews == 0) {
      fprintf(stderr, "the review is not in the worklist\n");
      exit(1);
    }
    g_source_remove(limit);
    printf("another's review: told after %.3f s, in the worklist of %zu scans after %.3f s\n",
           told[i], anew->n_scans, shown[i]);
  }
  demur_others_stop(others);
  g_main_loop_unref(heard.loop);
  print_times("told", told, NULL, n);
  print_times("in the worklist", shown, NULL, n);
}

int
main(int argc, char **argv) {
  const size_t n = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
  static const struct {
    const char *name;
    void (*run)(const char *path, size_t n);
  } all[] = {{"worklist", bench_worklist}, {"series", add_series}, {"heard", bench_heard}};
  for (size_t i = 0; n > 0 && i < G_N_ELEMENTS(all); i++)
    if (strcmp(argv[1], all[i].name) == 0) {
      all[i].run(argv[2], n);
      return 0;
    }
  fprintf(stderr, "usage: bench-server worklist PATH TIMES | series PATH N | heard PATH TIMES\n");
  return 2;
}
