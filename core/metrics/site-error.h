/* Site error: the miscalibration of whole hospitals among the accepted, which pooling over
 * hospitals cancels.
 *
 *   site error^2(xi) = sum_s n_s U_s / sum_s n_s   over sites with at least 2 accepted patients,
 *
 * U_s the mean of d_i d_j over pairs of accepted scans of DIFFERENT patients, d = y - r; n_s the
 * accepted scans of the site. Unbiased, so it may fall below 0: printed as signed root. design
 * method.md, section Measures. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  size_t n;
  const double *differences; /* [n] y - r */
  const guint32 *sites;      /* [n] in [0, n_sites) */
  const guint32
      *patients; /* [n] in [0, n_patients); copies of a resampled patient are the same patient */
  size_t n_sites, n_patients;
  const guint32 *counts; /* [n] or NULL */
  const double *weights; /* [n] of the outcome, 0 where not known; NULL: 1. n_s and U_s weighted */
  const guint32 *ranks;  /* [n] dense rank of the score, 0 the highest */
  size_t n_ranks;
} DemurSiteSample;

/* squares [n_coverages]: site error^2 at each coverage; NaN where no site has two accepted
 * patients. O(n log n) or better; any order of coverages. A patient's scans must all be at one site
 * (a patient seen at two sites counts as two patients). */
void demur_site_error_curve(const DemurSiteSample *sample, const double *coverages,
                            size_t n_coverages, double *squares);

/* The same, and influences [n_coverages][n_sites]: what each site adds to the estimate,
 *   (n_s U_s - square n_s) / sum_t n_t,  0 for a site that does not count.
 * They sum to 0 at each coverage, and the root of k / (k - 1) times the sum of their squares over k
 * sites is the standard error of the square where sites are independent. */
void demur_site_error_influences(const DemurSiteSample *sample, const double *coverages,
                                 size_t n_coverages, double *squares, double *influences);

/* The same for the entries with rank <= max_rank (-1: none). influences [n_sites] or NULL. */
double demur_site_error_at_rank_influences(const DemurSiteSample *sample, gssize max_rank,
                                           double *influences);

/* The standard error of a square from the influences [n_sites] of its sites, which are the
 * independent units: a site that was drawn m times is m of them. counts: of the sample's entries;
 * scan_of_site [n_sites]: some entry of each site. counts NULL: each site once. NaN for fewer than
 * two. */
double demur_site_error_standard_error(const double *influences, size_t n_sites,
                                       const guint32 *counts, const guint32 *scan_of_site);

/* The square alone for the entries with rank <= max_rank (-1: none). */
double demur_site_error_at_rank(const DemurSiteSample *sample, gssize max_rank);

/* What each entry adds, when entries are added in the order of their rank, to two sums of its
 * patient: squares [n], of (sum of d)^2, and sizes [n], of (scans)^2; counts are not looked at. So
 * for the entries up to any rank, each patient's scans drawn m times, a site has
 *   n = sum m,  sum = sum m d,  patient squares = sum m^2 squares,  patient sizes = sum m^2 sizes,
 * from which demur_site_error_term: the way to many replicates of a large sample. O(n + n_ranks).
 */
void demur_site_error_increments(const DemurSiteSample *sample, double *squares, double *sizes);

typedef struct {
  double n, sum, patient_squares, patient_sizes;
} DemurSiteSums;

/* n_s U_s; *size: n_s, 0 while all scans are of one patient. site error^2 is the sum of the terms
 * over that of the sizes. */
double demur_site_error_term(const DemurSiteSums *sums, double *size);

G_END_DECLS
