/* A stored cohort put into canonical order. Right values: every scan keeps its patient, site, split,
 * label and risk, whichever order its table had, and whether scans have IDs of their own or are
 * named by their patients. */
#include "cohort/order.h"
#include "store/cohorts.h"
#include "support/store.h"

#include <glib/gstdio.h>
#include <string.h>

#define N 101
#define WIDTH 9 /* of the embeddings: rows too wide for a second array */

/* own_ids FALSE: as a table without scan_id is read, scans and patients share their names.
 * Scan k of the table stands at k * stride mod N, so that no order is left as it is. */
static DemurCohort *
made(gboolean own_ids, size_t stride) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, WIDTH);
  for (size_t i = 0; i < N; i++) {
    const size_t k = i * stride % N;
    char patient[16], scan[16], site[16];
    g_snprintf(patient, sizeof patient, "P%03zu", k);
    g_snprintf(scan, sizeof scan, own_ids ? "S%03zu" : "P%03zu", own_ids ? N - k : k);
    g_snprintf(site, sizeof site, "H%zu", k % 7);
    const double risk = ((double)k + 0.5) / N;
    float embedding[WIDTH];
    for (size_t c = 0; c < WIDTH; c++)
      embedding[c] = (float)(k * WIDTH + c);
    demur_cohort_builder_add(builder, scan, patient, site, k % 3 == 0 ? "test" : "tune",
                             (int)(k % 2), &risk, NULL, embedding);
    demur_cohort_builder_attribute(builder, "kernel", k % 5 == 0 ? "sharp" : "soft");
  }
  DemurCohort *cohort =
      demur_cohort_builder_finish(builder, "c", "m", "made", "2026-01-01T00:00:00Z", FALSE, NULL);
  if (!own_ids) {
    g_free(cohort->scan_ids);
    cohort->scan_ids = cohort->patient_ids;
  }
  return cohort;
}

static void
check_row(const DemurCohort *c, size_t row, gboolean own_ids) {
  size_t k = (size_t)g_ascii_strtoull(c->patient_ids[c->patients[row]] + 1, NULL, 10);
  char scan[16], site[16];
  g_snprintf(scan, sizeof scan, own_ids ? "S%03zu" : "P%03zu", own_ids ? N - k : k);
  g_snprintf(site, sizeof site, "H%zu", k % 7);
  g_assert_cmpstr(c->scan_ids[row], ==, scan);
  g_assert_cmpstr(c->site_names[c->sites[row]], ==, site);
  g_assert_cmpstr(c->split_names[c->splits[row]], ==, k % 3 == 0 ? "test" : "tune");
  g_assert_cmpint(c->labels[row], ==, (gint32)(k % 2));
  g_assert_cmpfloat(c->risks[row], ==, ((double)k + 0.5) / N);
  for (size_t d = 0; d < WIDTH; d++)
    g_assert_cmpfloat(c->embeddings[WIDTH * row + d], ==, (float)(k * WIDTH + d));
  g_assert_cmpstr(demur_cohort_attribute_text(c, 0, row), ==, k % 5 == 0 ? "sharp" : "soft");
}

static void
test_order(void) {
  static const size_t strides[] = {1, 37, 100};
  for (int own_ids = 0; own_ids < 2; own_ids++)
    for (size_t s = 0; s < G_N_ELEMENTS(strides); s++) {
      g_autofree char *folder = g_dir_make_tmp("demur-order-XXXXXX", NULL),
                      *path = demur_test_store_path(folder, "w.demur");
      g_autoptr(DemurWorkspace) workspace =
          demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, NULL);
      g_autoptr(DemurCohort) cohort = made(own_ids != 0, strides[s]);
      g_assert_true(demur_cohorts_save(workspace, cohort, NULL, NULL));
      g_autoptr(DemurCohort) loaded = demur_cohorts_load(workspace, "c", NULL, NULL);
      demur_cohort_put_in_order(loaded);
      for (size_t i = 0; i < N; i++) {
        check_row(loaded, i, own_ids != 0);
        if (i > 0)
          g_assert_cmpstr(loaded->scan_ids[i - 1], <, loaded->scan_ids[i]);
      }
      g_clear_pointer(&workspace, demur_workspace_close);
      g_unlink(path);
      g_rmdir(folder);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* What stands behind a word in the kernel's account of this process, in KiB. */
static size_t
status_kib(const char *word) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents("/proc/self/status", &text, NULL, NULL));
  const char *at = strstr(text, word);
  g_assert_nonnull(at);
  return (size_t)g_ascii_strtoull(at + strlen(word), NULL, 10);
}
#endif

/* Embeddings are most of a cohort: they stand once in memory, however the table was sorted. */
static void
test_memory(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip("the sanitizer keeps memory of its own");
#else
  enum { MANY = 20000, WIDE = 256, KIB = MANY * WIDE * 4 / 1024 };
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, WIDE);
  const float embedding[WIDE] = {1.0f};
  const double risk = 0.5;
  for (size_t i = 0; i < MANY; i++) {
    char name[16];
    g_snprintf(name, sizeof name, "P%05zu", i * 7919 % MANY);
    demur_cohort_builder_add(builder, name, name, "H", "test", 0, &risk, NULL, embedding);
  }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "made", "2026-01-01T00:00:00Z", FALSE, NULL);
  FILE *peak = fopen("/proc/self/clear_refs", "w"); /* 5: the peak is that of now */
  if (peak == NULL || fputs("5", peak) < 0 || fclose(peak) != 0) {
    g_test_skip("this kernel doesn't begin a process's peak anew");
    return;
  }
  const size_t before = status_kib("VmHWM:");
  demur_cohort_put_in_order(cohort);
  g_assert_cmpstr(cohort->scan_ids[1], ==, "P00001");
  g_assert_cmpuint(status_kib("VmHWM:") - before, <, (size_t)KIB / 4);
#endif
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/cohort-order/every-scan-keeps-its-patient", test_order);
  g_test_add_func("/store/cohort-order/embeddings-stand-once", test_memory);
  return g_test_run();
}
