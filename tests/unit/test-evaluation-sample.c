/* The sample: patients and sites named in the order in which they are met, whatever their number, and a part of it; right
 * is a GHashTable of the same. */
#include <math.h>
#include <string.h>

#include "cohort/simulate.h"
#include "evaluation/sample.h"
#include "support/support.h"

static guint32
name_of(GHashTable *names, const char *text) {
  gpointer found;
  if (!g_hash_table_lookup_extended(names, text, NULL, &found))
    g_hash_table_insert(names, g_strdup(text), found = GUINT_TO_POINTER(g_hash_table_size(names)));
  return GPOINTER_TO_UINT(found);
}

static void
patients_and_sites_are_named_in_the_order_of_the_risks(void) {
  DemurSimulation options;
  demur_simulation_defaults(&options);
  options.n_scans = 700;
  options.n_sites = 90; /* more than a first table holds */
  options.n_base_train = options.n_tune = options.n_test = 100;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort =
      demur_cohort_simulate(&options, "c", "2026-01-01T00:00:00Z", NULL, NULL, &error);
  g_assert_no_error(error);
  g_autofree guint32 *rows = g_new(guint32, cohort->n_scans);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    rows[i] = (guint32)(cohort->n_scans - 1 - i);
    cohort->risks[i] = round(cohort->risks[i] * 100.0) / 100.0; /* many are equal */
    if (i % 7 == 0) /* so patients are at several sites */
      cohort->sites[i] = (guint32)(i / 7 % cohort->n_sites);
    if (i % 3 == 1)
      cohort->patients[i] = cohort->patients[i - 1];
  }
  g_autoptr(DemurSample) sample = demur_sample_new(cohort, rows, cohort->n_scans, "any", &error);
  g_assert_no_error(error);
  g_autoptr(GHashTable) patients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) sites = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 row = sample->rows[i];
    g_autofree char *site = g_strdup_printf("%u", cohort->sites[row]);
    g_autofree char *patient = g_strdup_printf("%u at %s", cohort->patients[row], site);
    g_assert_cmpuint(sample->sites[i], ==, name_of(sites, site));
    g_assert_cmpuint(sample->patients[i], ==, name_of(patients, patient));
    if (i == 0)
      continue;
    g_assert_cmpfloat(sample->risks[i - 1], <=, sample->risks[i]);
    if (sample->risks[i - 1] == sample->risks[i])
      g_assert_cmpstr(cohort->scan_ids[sample->rows[i - 1]], <, cohort->scan_ids[row]);
  }
  g_assert_cmpuint(sample->n_sites, ==, g_hash_table_size(sites));
  g_assert_cmpuint(sample->n_sites, >, 64);
  g_assert_cmpuint(sample->n_patients, ==, g_hash_table_size(patients));

  /* every third, from the end of the names on */
  g_autofree guint32 *places = g_new(guint32, sample->n);
  size_t n = 0;
  for (size_t i = 2; i < sample->n; i += 3)
    places[n++] = (guint32)i;
  g_autoptr(DemurSample) part = demur_sample_part(sample, places, n);
  g_hash_table_remove_all(patients);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *patient = g_strdup_printf("%u", sample->patients[places[i]]);
    g_assert_cmpuint(part->patients[i], ==, name_of(patients, patient));
  }
  g_assert_cmpuint(part->n_patients, ==, g_hash_table_size(patients));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/sample/names",
                  patients_and_sites_are_named_in_the_order_of_the_risks);
  return g_test_run();
}
