/* Entries are added in the order of their score; each addition changes one patient's and one site's
 * sums: pairs of different patients: (sum d)^2 - sum_p (sum_p d)^2  over  n^2 - sum_p n_p^2. One
 * pass serves all coverages. Cost: O(n + n_ranks) after a counting sort by rank. */
#include "metrics/site-error.h"

#include <math.h>

#include "metrics/coverage.h"

typedef struct {
  double n, sum;                /* scans, sum of d */
  double patient_squares;       /* sum over patients of (their sum of d)^2 */
  double patient_count_squares; /* sum over patients of (their scans)^2 */
} SiteSums;

typedef struct {
  double numerator, denominator;
} Total;

/* n_s U_s and n_s of one site; nothing while all its scans are of one patient. */
static Total
contribution(const SiteSums *site) {
  const double n_pairs = site->n * site->n - site->patient_count_squares;
  if (!(n_pairs > 0.5))
    return (Total){0.0, 0.0};
  return (Total){site->n * (site->sum * site->sum - site->patient_squares) / n_pairs, site->n};
}

typedef struct {
  double n, sum;
} PatientSums;

typedef struct {
  SiteSums *sites;
  PatientSums *patients;
  Total total;
} Running;

static void
add_entry(Running *running, const DemurSiteSample *sample, size_t i) {
  const double count = sample->counts != NULL ? (double)sample->counts[i] : 1.0;
  if (count == 0.0)
    return;
  SiteSums *site = &running->sites[sample->sites[i]];
  PatientSums *patient = &running->patients[sample->patients[i]];
  const Total before = contribution(site);
  site->patient_squares -= patient->sum * patient->sum;
  site->patient_count_squares -= patient->n * patient->n;
  patient->sum += count * sample->differences[i];
  patient->n += count;
  site->patient_squares += patient->sum * patient->sum;
  site->patient_count_squares += patient->n * patient->n;
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

void
demur_site_error_curve(const DemurSiteSample *sample, const double *coverages, size_t n_coverages,
                       double *squares) {
  demur_site_error_influences(sample, coverages, n_coverages, squares, NULL);
}

void
demur_site_error_influences(const DemurSiteSample *sample, const double *coverages,
                            size_t n_coverages, double *squares, double *influences) {
  g_autofree SiteSums *sites = g_new0(SiteSums, MAX(sample->n_sites, 1));
  g_autofree PatientSums *patients = g_new0(PatientSums, MAX(sample->n_patients, 1));
  Running running = {sites, patients, {0.0, 0.0}};

  /* Counting sort of the entries by rank. */
  g_autofree guint32 *first = g_new0(guint32, sample->n_ranks + 2);
  g_autofree guint32 *entries = g_new(guint32, MAX(sample->n, 1));
  size_t n_total = 0;
  for (size_t i = 0; i < sample->n; i++) {
    first[sample->ranks[i] + 2]++;
    n_total += sample->counts != NULL ? sample->counts[i] : 1;
  }
  for (size_t r = 2; r < sample->n_ranks + 2; r++)
    first[r] += first[r - 1];
  for (size_t i = 0; i < sample->n; i++)
    entries[first[sample->ranks[i] + 1]++] = (guint32)i;

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
  g_autofree SiteSums *sites = g_new0(SiteSums, MAX(sample->n_sites, 1));
  g_autofree PatientSums *patients = g_new0(PatientSums, MAX(sample->n_patients, 1));
  Running running = {sites, patients, {0.0, 0.0}};
  for (size_t i = 0; i < sample->n; i++)
    if ((gssize)sample->ranks[i] <= max_rank)
      add_entry(&running, sample, i);
  if (influences != NULL)
    fill_influences(&running, sample->n_sites, influences);
  return square_of(&running);
}
