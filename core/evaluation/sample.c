#include "evaluation/sample.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "metrics/coverage.h"

#define FEWEST_CODES 64

static int
compare_scans(gconstpointer a, gconstpointer b, gpointer data) {
  const DemurCohort *cohort = data;
  return strcmp(cohort->scan_ids[*(const guint32 *)a], cohort->scan_ids[*(const guint32 *)b]);
}

/* rows [n] in ascending risk, to ordered [n]. Ties stand by scan_id, which no order of rows changes: of a million scans only those
 * of equal risk are compared. */
static void
sort_rows(const DemurCohort *cohort, const guint32 *rows, size_t n, guint32 *ordered) {
  g_autofree double *scores = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    scores[i] = -demur_cohort_confidence_risk(cohort, rows[i]);
  g_autofree guint32 *ranks = g_new(guint32, MAX(n, 1));
  const size_t n_ranks = demur_coverage_ranks(scores, n, ranks);
  g_autofree guint32 *ends = g_new0(guint32, n_ranks + 1); /* of each rank's scans, behind them */
  for (size_t i = 0; i < n; i++)
    ends[ranks[i] + 1]++;
  for (size_t r = 0; r < n_ranks; r++)
    ends[r + 1] += ends[r];
  for (size_t i = 0; i < n; i++)
    ordered[ends[ranks[i]]++] = rows[i];
  for (size_t r = 0, begin = 0; r < n_ranks; begin = ends[r++])
    if (ends[r] - begin > 1)
      g_qsort_with_data(ordered + begin, (int)(ends[r] - begin), sizeof *ordered, compare_scans,
                        (gpointer)cohort);
}

/* Names values by their places among those met so far: a table with open addresses, at most half of it taken (a GHashTable would want
 * an allocation for each of a million patients). */
typedef struct {
  size_t n, size; /* a power of two */
  guint64 *values;
  guint32 *codes; /* 0: free; else one more than the code */
} Codes;

static Codes
codes_new(size_t size) {
  return (Codes){0, size, g_new(guint64, size), g_new0(guint32, size)};
}

static void
codes_clear(Codes *codes) {
  g_free(codes->values);
  g_free(codes->codes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Codes, codes_clear)

/* Where value stands, or the free address for it. */
static size_t
codes_address(const Codes *codes, guint64 value) {
  guint64 hash = value * G_GUINT64_CONSTANT(0x9E3779B97F4A7C15);
  hash ^= hash >> 32;
  size_t at = (size_t)hash & (codes->size - 1);
  while (codes->codes[at] != 0 && codes->values[at] != value)
    at = (at + 1) & (codes->size - 1);
  return at;
}

static guint32
dense_code(Codes *codes, guint64 value) {
  size_t at = codes_address(codes, value);
  if (codes->codes[at] != 0)
    return codes->codes[at] - 1;
  if (2 * (codes->n + 1) > codes->size) {
    Codes larger = codes_new(2 * codes->size);
    for (size_t i = 0; i < codes->size; i++)
      if (codes->codes[i] != 0) {
        const size_t to = codes_address(&larger, codes->values[i]);
        larger.values[to] = codes->values[i];
        larger.codes[to] = codes->codes[i];
      }
    larger.n = codes->n;
    codes_clear(codes);
    *codes = larger;
    at = codes_address(codes, value);
  }
  codes->values[at] = value;
  codes->codes[at] = (guint32)++codes->n;
  return codes->codes[at] - 1;
}

/* Patients of a cohort, each at its site, named by their places among those met so far: by a table of the cohort's patients, and the
 * few that a cohort has at several sites by their numbers. */
typedef struct {
  guint32 n;
  guint32 *codes, *sites; /* [cohort's patients]: 0, or one more than the code at that site */
  Codes others;           /* by site and patient, to places in other_codes */
  GArray *other_codes;    /* of guint32 */
} PatientCodes;

static PatientCodes
patient_codes_new(size_t n_patients) {
  return (PatientCodes){0, g_new0(guint32, MAX(n_patients, 1)), g_new(guint32, MAX(n_patients, 1)),
                        codes_new(FEWEST_CODES), g_array_new(FALSE, FALSE, sizeof(guint32))};
}

static void
patient_codes_clear(PatientCodes *codes) {
  g_free(codes->codes);
  g_free(codes->sites);
  codes_clear(&codes->others);
  g_array_unref(codes->other_codes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PatientCodes, patient_codes_clear)

static guint32
patient_code(PatientCodes *codes, guint32 site, guint32 patient) {
  if (codes->codes[patient] == 0) {
    codes->codes[patient] = ++codes->n;
    codes->sites[patient] = site;
    return codes->n - 1;
  }
  if (codes->sites[patient] == site)
    return codes->codes[patient] - 1;
  const guint32 place = dense_code(&codes->others, (guint64)site << 32 | patient);
  if (place == codes->other_codes->len) {
    const guint32 code = codes->n++;
    g_array_append_val(codes->other_codes, code);
  }
  return g_array_index(codes->other_codes, guint32, place);
}

static DemurSample *
sample_alloc(size_t n) {
  DemurSample *s = g_new0(DemurSample, 1);
  s->n = n;
  s->rows = g_new(guint32, MAX(n, 1));
  s->risks = g_new(double, MAX(n, 1));
  s->labels = g_new(double, MAX(n, 1));
  s->differences = g_new(double, MAX(n, 1));
  s->confidences = g_new(double, MAX(n, 1));
  s->classes = g_new(gint32, MAX(n, 1));
  s->patients = g_new(guint32, MAX(n, 1));
  s->sites = g_new(guint32, MAX(n, 1));
  return s;
}

/* Left before the horizon, so that nothing is known of the outcome by it. */
static gboolean
is_left(const DemurCohort *cohort, size_t row) {
  return cohort->times != NULL && cohort->statuses[row] == DEMUR_STATUS_CENSORED &&
         cohort->times[row] < cohort->horizons[row];
}

static gboolean
check_outcomes(const DemurCohort *cohort, const guint32 *rows, size_t n_rows, const char *split,
               gboolean *any_left, GError **error) {
  *any_left = FALSE;
  for (size_t i = 0; i < n_rows; i++) {
    const gboolean left = is_left(cohort, rows[i]);
    *any_left |= left;
    if (left || cohort->labels[rows[i]] != DEMUR_NO_LABEL)
      continue;
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "scan %s of split '%s' has no label, which an evaluation needs; put scans without "
        "follow-up into a split of their own",
        cohort->scan_ids[rows[i]], split);
    return FALSE;
  }
  return TRUE;
}

/* Weights of the sample as it is, and what fits them to resamples. */
static gboolean
weigh(DemurSample *s, const DemurCohort *cohort, GError **error) {
  g_autofree double *times = g_new(double, MAX(s->n, 1));
  g_autofree gint32 *ended = g_new(gint32, MAX(s->n, 1));
  for (size_t i = 0; i < s->n; i++) {
    times[i] = cohort->times[s->rows[i]];
    ended[i] = cohort->statuses[s->rows[i]];
  }
  s->censoring = demur_censoring_new(times, ended, s->sites, s->n, s->n_sites,
                                     demur_cohort_horizon(cohort), error);
  if (s->censoring == NULL)
    return FALSE;
  s->weights = g_new(double, MAX(s->n, 1));
  demur_censoring_weights(s->censoring, NULL, s->weights, &s->n_capped);
  return TRUE;
}

DemurSample *
demur_sample_new(const DemurCohort *cohort, const guint32 *rows, size_t n_rows, const char *split,
                 GError **error) {
  gboolean any_left;
  if (!check_outcomes(cohort, rows, n_rows, split, &any_left, error))
    return NULL;
  g_autoptr(DemurSample) s = sample_alloc(n_rows);
  s->n_classes = cohort->n_classes;
  s->top_label = cohort->n_classes > 2;
  sort_rows(cohort, rows, n_rows, s->rows);
  g_auto(Codes) sites = codes_new(FEWEST_CODES);
  g_auto(PatientCodes) patients = patient_codes_new(cohort->n_patients);
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 row = s->rows[i];
    const gboolean left = is_left(cohort, row);
    s->risks[i] = demur_cohort_confidence_risk(cohort, row);
    s->labels[i] = left ? 0.0 : demur_cohort_confidence_label(cohort, row);
    s->differences[i] = s->labels[i] - s->risks[i];
    s->confidences[i] = s->top_label ? s->risks[i] : fmax(s->risks[i], 1.0 - s->risks[i]);
    s->classes[i] = left ? DEMUR_NO_LABEL : cohort->labels[row];
    s->n_known += !left;
    s->sites[i] = dense_code(&sites, cohort->sites[row]);
    s->patients[i] = patient_code(&patients, cohort->sites[row], cohort->patients[row]);
  }
  s->n_sites = sites.n;
  s->n_patients = patients.n;
  if (any_left && !weigh(s, cohort, error))
    return NULL;
  return g_steal_pointer(&s);
}

DemurSample *
demur_sample_part(const DemurSample *whole, const guint32 *places, size_t n) {
  DemurSample *s = sample_alloc(n);
  s->n_classes = whole->n_classes;
  s->top_label = whole->top_label;
  if (whole->weights != NULL)
    s->weights = g_new(double, MAX(n, 1));
  g_auto(Codes) sites = codes_new(FEWEST_CODES), patients = codes_new(FEWEST_CODES);
  for (size_t i = 0; i < n; i++) {
    const size_t at = places[i];
    s->rows[i] = whole->rows[at];
    s->risks[i] = whole->risks[at];
    s->labels[i] = whole->labels[at];
    s->differences[i] = whole->differences[at];
    s->confidences[i] = whole->confidences[at];
    s->classes[i] = whole->classes[at];
    s->n_known += whole->classes[at] != DEMUR_NO_LABEL;
    s->sites[i] = dense_code(&sites, whole->sites[at]);
    s->patients[i] = dense_code(&patients, whole->patients[at]);
    if (s->weights != NULL) {
      s->weights[i] = whole->weights[at];
      s->n_capped += s->weights[i] >= DEMUR_WEIGHT_CAP;
    }
  }
  s->n_sites = sites.n;
  s->n_patients = patients.n;
  return s;
}

DemurDrawn
demur_sample_as_is(const DemurSample *s) {
  return (DemurDrawn){NULL, s->weights};
}

DemurDrawn
demur_sample_drawn(const DemurSample *s, const guint32 *counts, double *buffer) {
  if (s->censoring == NULL)
    return (DemurDrawn){counts, s->weights};
  demur_censoring_weights(s->censoring, counts, buffer, NULL);
  return (DemurDrawn){counts, buffer};
}

void
demur_sample_free(DemurSample *s) {
  if (s == NULL)
    return;
  g_free(s->rows);
  g_free(s->risks);
  g_free(s->labels);
  g_free(s->differences);
  g_free(s->confidences);
  g_free(s->classes);
  g_free(s->weights);
  demur_censoring_free(s->censoring);
  g_free(s->patients);
  g_free(s->sites);
  g_free(s);
}

size_t
demur_sample_n_units(const DemurSample *s, DemurUnit unit) {
  return unit == DEMUR_UNIT_SCAN ? s->n : unit == DEMUR_UNIT_PATIENT ? s->n_patients : s->n_sites;
}

void
demur_sample_resample(const DemurSample *s, DemurUnit unit, DemurRandom random, guint32 *counts) {
  const size_t n_units = demur_sample_n_units(s, unit);
  if (unit == DEMUR_UNIT_SCAN) {
    memset(counts, 0, s->n * sizeof *counts);
    for (size_t i = 0; i < n_units; i++)
      counts[demur_random_below(&random, n_units)]++;
    return;
  }
  g_autofree guint32 *unit_counts = g_new0(guint32, MAX(n_units, 1));
  for (size_t i = 0; i < n_units; i++)
    unit_counts[demur_random_below(&random, n_units)]++;
  const guint32 *unit_of = unit == DEMUR_UNIT_PATIENT ? s->patients : s->sites;
  for (size_t i = 0; i < s->n; i++)
    counts[i] = unit_counts[unit_of[i]];
}
