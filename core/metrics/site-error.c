/* Entries are added in the order of their score; each addition changes one patient's and one site's
 * sums: pairs of different patients: (sum d)^2 - sum_p (sum_p d)^2  over  n^2 - sum_p n_p^2. One
 * pass serves all coverages. Cost: O(n + n_ranks) after a counting sort by rank. */
#include "metrics/site-error.h"

#include <math.h>

#include "metrics/coverage.h"

typedef struct {
  double numerator, denominator;
} Total;

double
demur_site_error_term(const DemurSiteSums *sums, double *size) {
  const double n_pairs = sums->n * sums->n - sums->patient_sizes;
  const gboolean counts = n_pairs > 0.5;
  *size = counts ? sums->n : 0.0;
  return counts ? sums->n * (sums->sum * sums->sum - sums->patient_squares) / n_pairs : 0.0;
}

static Total
contribution(const DemurSiteSums *site) {
  Total total;
  total.numerator = demur_site_error_term(site, &total.denominator);
  return total;
}

typedef struct {
  double n, sum;
} PatientSums;

typedef struct {
  DemurSiteSums *sites;
  PatientSums *patients;
  Total total;
} Running;

static void
add_entry(Running *running, const DemurSiteSample *sample, size_t i) {
  const double count = (sample->counts != NULL ? (double)sample->counts[i] : 1.0) *
                       (sample->weights != NULL ? sample->weights[i] : 1.0);
  if (count == 0.0)
    return;
  DemurSiteSums *site = &running->sites[sample->sites[i]];
  PatientSums *patient = &running->patients[sample->patients[i]];
  const Total before = contribution(site);
  site->patient_squares -= patient->sum * patient->sum;
  site->patient_sizes -= patient->n * patient->n;
  patient->sum += count * sample->differences[i];
  patient->n += count;
  site->patient_squares += patient->sum * patient->sum;
  site->patient_sizes += patient->n * patient->n;
  site->n += count;
  site->sum += count * sample->differences[i];
  const Total after = contribution(site);
  running->total.numerator += after.numerator - before.numerator;
  running->total.denominator += after.denominator - before.denominator;
}

static double
square_of(const Running *running) {
  return running->total.denominator > 0.5 ? running->total.numerator / running->total.denominator
                                          : NAN;
}

static void
fill_influences(const Running *running, size_t n_sites, double *influences) {
  const double square = square_of(running);
  for (size_t s = 0; s < n_sites; s++) {
    const Total site = contribution(&running->sites[s]);
    influences[s] = site.denominator > 0.5
                        ? (site.numerator - square * site.denominator) / running->total.denominator
                        : 0.0;
  }
}

/* Entries in the order of their rank (owned); those of rank r stand at (*first)[r] up to
 * (*first)[r + 1] (owned). */
static guint32 *
sort_by_rank(const DemurSiteSample *sample, guint32 **first) {
  guint32 *places = g_new0(guint32, sample->n_ranks + 2);
  guint32 *entries = g_new(guint32, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    places[sample->ranks[i] + 2]++;
  for (size_t r = 2; r < sample->n_ranks + 2; r++)
    places[r] += places[r - 1];
  for (size_t i = 0; i < sample->n; i++)
    entries[places[sample->ranks[i] + 1]++] = (guint32)i;
  *first = places;
  return entries;
}

void
demur_site_error_increments(const DemurSiteSample *sample, double *squares, double *sizes) {
  g_autofree PatientSums *patients = g_new0(PatientSums, MAX(sample->n_patients, 1));
  g_autofree guint32 *first = NULL;
  g_autofree guint32 *entries = sort_by_rank(sample, &first);
  for (size_t e = 0; e < sample->n; e++) {
    const guint32 i = entries[e];
    PatientSums *patient = &patients[sample->patients[i]];
    const double d = sample->differences[i];
    squares[i] = d * (2.0 * patient->sum + d);
    sizes[i] = 2.0 * patient->n + 1.0;
    patient->sum += d;
    patient->n += 1.0;
  }
}

void
demur_site_error_curve(const DemurSiteSample *sample, const double *coverages, size_t n_coverages,
                       double *squares) {
  demur_site_error_influences(sample, coverages, n_coverages, squares, NULL);
}

void
demur_site_error_influences(const DemurSiteSample *sample, const double *coverages,
                            size_t n_coverages, double *squares, double *influences) {
  g_autofree DemurSiteSums *sites = g_new0(DemurSiteSums, MAX(sample->n_sites, 1));
  g_autofree PatientSums *patients = g_new0(PatientSums, MAX(sample->n_patients, 1));
  Running running = {sites, patients, {0.0, 0.0}};

  g_autofree guint32 *first = NULL;
  g_autofree guint32 *entries = sort_by_rank(sample, &first);
  size_t n_total = 0;
  for (size_t i = 0; i < sample->n; i++)
    n_total += sample->counts != NULL ? sample->counts[i] : 1;

  g_autofree size_t *order = g_new(size_t, MAX(n_coverages, 1));
  for (size_t c = 0; c < n_coverages; c++) {
    size_t place = c;
    while (place > 0 && coverages[order[place - 1]] > coverages[c]) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = c;
  }
  size_t rank = 0, n_selected = 0;
  for (size_t o = 0; o < n_coverages; o++) {
    const size_t wanted = demur_coverage_count(coverages[order[o]], n_total);
    while (n_selected < wanted) {
      for (size_t e = first[rank]; e < first[rank + 1]; e++) {
        add_entry(&running, sample, entries[e]);
        n_selected += sample->counts != NULL ? sample->counts[entries[e]] : 1;
      }
      rank++;
    }
    squares[order[o]] = square_of(&running);
    if (influences != NULL)
      fill_influences(&running, sample->n_sites, influences + order[o] * sample->n_sites);
  }
}

double
demur_site_error_at_rank(const DemurSiteSample *sample, gssize max_rank) {
  return demur_site_error_at_rank_influences(sample, max_rank, NULL);
}

double
demur_site_error_at_rank_influences(const DemurSiteSample *sample, gssize max_rank,
                                    double *influences) {
  g_autofree DemurSiteSums *sites = g_new0(DemurSiteSums, MAX(sample->n_sites, 1));
  g_autofree PatientSums *patients = g_new0(PatientSums, MAX(sample->n_patients, 1));
  Running running = {sites, patients, {0.0, 0.0}};
  for (size_t i = 0; i < sample->n; i++)
    if ((gssize)sample->ranks[i] <= max_rank)
      add_entry(&running, sample, i);
  if (influences != NULL)
    fill_influences(&running, sample->n_sites, influences);
  return square_of(&running);
}

double
demur_site_error_standard_error(const double *influences, size_t n_sites, const guint32 *counts,
                                const guint32 *scan_of_site) {
  double n = 0.0, sum = 0.0;
  for (size_t s = 0; s < n_sites; s++) {
    const double times = counts != NULL ? (double)counts[scan_of_site[s]] : 1.0;
    if (times > 0.0) {
      n += times;
      sum += influences[s] * influences[s] / times;
    }
  }
  return n > 1.0 ? sqrt(n / (n - 1.0) * sum) : NAN;
}
