/* The equations, their sources and the layout stand in the header. */
#include "evaluation/mix-ratios.h"

#include <math.h>
#include <string.h>

/* Numerator, denominator and whether outcomes are needed, for a scan of label l and risk r that is
 * accepted (a) or not. */
typedef struct {
  double y, x;
} Terms;

static Terms
coverage(double l, double r, double a) {
  return (Terms){a, 1.0};
}

static Terms
outcomes(double l, double r, double a) {
  return (Terms){l, 1.0};
}

static Terms
oe_all(double l, double r, double a) {
  return (Terms){l, r};
}

static Terms
oe_accepted(double l, double r, double a) {
  return (Terms){a * l, a * r};
}

static Terms
rejected_1(double l, double r, double a) {
  return (Terms){(1.0 - a) * l, l};
}

static Terms
rejected_0(double l, double r, double a) {
  return (Terms){(1.0 - a) * (1.0 - l), 1.0 - l};
}

static const struct {
  Terms (*terms)(double label, double risk, double accepted); /* NULL: no ratio of sums */
  DemurScale scale;
  gboolean of_outcomes;
} ratios_table[DEMUR_N_MIX_VALUES] = {
    [DEMUR_MIX_COVERAGE] = {coverage, DEMUR_SCALE_LOGIT, FALSE},
    [DEMUR_MIX_OUTCOMES] = {outcomes, DEMUR_SCALE_LOGIT, TRUE},
    [DEMUR_MIX_OE_ALL] = {oe_all, DEMUR_SCALE_LOG, TRUE},
    [DEMUR_MIX_OE_ACCEPTED] = {oe_accepted, DEMUR_SCALE_LOG, TRUE},
    [DEMUR_MIX_REJECTED_1] = {rejected_1, DEMUR_SCALE_LOGIT, TRUE},
    [DEMUR_MIX_REJECTED_0] = {rejected_0, DEMUR_SCALE_LOGIT, TRUE},
};

gboolean
demur_mix_value_is_ratio(DemurMixValue value, DemurScale *scale) {
  if (scale != NULL)
    *scale = ratios_table[value].scale;
  return ratios_table[value].terms != NULL;
}

struct DemurMixRatiosScratch {
  size_t n_columns; /* of the fit: categories, without the first of each margin but the first */
  guint32 *columns; /* [n_margins][n] column of each entry; n_columns: none */
  double *normal;   /* [n_columns][n_columns] */
  double *sides;    /* [DEMUR_N_MIX_VALUES][n_columns] right-hand sides, then b */
  double *q;        /* [DEMUR_N_MIX_VALUES][n]; of values that are no ratios 0 */
};

DemurMixRatiosScratch *
demur_mix_ratios_scratch_new(const DemurMixRatios *ratios) {
  DemurMixRatiosScratch *scratch = g_new0(DemurMixRatiosScratch, 1);
  const size_t n = ratios->sample->n;
  for (size_t m = 0; m < ratios->n_margins; m++)
    scratch->n_columns += ratios->margins[m].n_categories - (m > 0 ? 1 : 0);
  const size_t k = scratch->n_columns;
  scratch->columns = g_new(guint32, MAX(ratios->n_margins * n, 1));
  size_t first = 0;
  for (size_t m = 0; m < ratios->n_margins; m++) {
    const size_t dropped = m > 0 ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
      const guint32 code = ratios->margins[m].codes[i];
      scratch->columns[m * n + i] = (guint32)(code < dropped ? k : first + code - dropped);
    }
    first += ratios->margins[m].n_categories - dropped;
  }
  scratch->normal = g_new(double, MAX(k * k, 1));
  scratch->sides = g_new(double, DEMUR_N_MIX_VALUES *MAX(k, 1));
  scratch->q = g_new0(double, DEMUR_N_MIX_VALUES *MAX(n, 1));
  return scratch;
}

void
demur_mix_ratios_scratch_free(DemurMixRatiosScratch *scratch) {
  if (scratch == NULL)
    return;
  g_free(scratch->columns);
  g_free(scratch->normal);
  g_free(scratch->sides);
  g_free(scratch->q);
  g_free(scratch);
}

/* Solves (a + ridge) x = b in place for symmetric a [k][k], whose lower triangle is used: Cholesky. Columns
 * that nothing stands in get 0. b [n_sides][k]. */
static void
solve(double *a, size_t k, double *b, size_t n_sides) {
  double largest = 0.0;
  for (size_t i = 0; i < k; i++)
    largest = fmax(largest, a[i * k + i]);
  for (size_t i = 0; i < k; i++)
    a[i * k + i] += 1e-9 * largest;
  for (size_t j = 0; j < k; j++) {
    for (size_t l = 0; l < j; l++)
      for (size_t i = j; i < k; i++)
        a[i * k + j] -= a[i * k + l] * a[j * k + l];
    const double pivot = sqrt(fmax(a[j * k + j], 1e-12 * largest));
    for (size_t i = j; i < k; i++)
      a[i * k + j] = pivot > 0.0 ? a[i * k + j] / pivot : 0.0;
    a[j * k + j] = pivot;
  }
  for (size_t s = 0; s < n_sides; s++) {
    double *x = b + s * k;
    for (size_t j = 0; j < k; j++) {
      for (size_t l = 0; l < j; l++)
        x[j] -= a[j * k + l] * x[l];
      x[j] = a[j * k + j] > 0.0 ? x[j] / a[j * k + j] : 0.0;
    }
    for (size_t j = k; j-- > 0;) {
      for (size_t l = j + 1; l < k; l++)
        x[j] -= a[l * k + j] * x[l];
      x[j] = a[j * k + j] > 0.0 ? x[j] / a[j * k + j] : 0.0;
    }
  }
}

/* What an entry counts as: of raking (0 where it was not drawn), and of its outcome. */
typedef struct {
  double count, rake, known;
} Mass;

static Mass
mass_of(DemurDrawn drawn, const double *raked, size_t i) {
  const double count = drawn.counts != NULL ? (double)drawn.counts[i] : 1.0;
  return (Mass){count, count > 0.0 && raked != NULL ? raked[i] : 1.0,
                drawn.weights != NULL && count > 0.0 ? drawn.weights[i] : 1.0};
}

static Terms
terms_of(const DemurMixRatios *ratios, size_t value, size_t i, double known) {
  const DemurSample *s = ratios->sample;
  return ratios_table[value].terms(known > 0.0 ? s->labels[i] : 0.0, s->risks[i],
                                   ratios->accepted[i] ? 1.0 : 0.0);
}

/* values, and q of the entries that were drawn. */
static void
set_values(const DemurMixRatios *ratios, DemurDrawn drawn, const double *raked,
           DemurMixRatiosScratch *scratch, double *values) {
  const size_t n = ratios->sample->n;
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    if (ratios_table[v].terms == NULL)
      continue;
    double numerator = 0.0, denominator = 0.0, *q = scratch->q + v * n;
    for (size_t i = 0; i < n; i++) {
      const Mass mass = mass_of(drawn, raked, i);
      const double known = ratios_table[v].of_outcomes ? mass.known : 1.0,
                   weight = mass.count * mass.rake * known;
      const Terms terms = terms_of(ratios, v, i, known);
      numerator += weight * terms.y;
      denominator += weight * terms.x;
    }
    values[v] = numerator / denominator;
    for (size_t i = 0; i < n; i++) {
      const Mass mass = mass_of(drawn, raked, i);
      const double known = ratios_table[v].of_outcomes ? mass.known : 1.0;
      const Terms terms = terms_of(ratios, v, i, known);
      q[i] = mass.count > 0.0 ? known * (terms.y - values[v] * terms.x) / denominator : 0.0;
    }
  }
}

void
demur_mix_take_margins_out(const DemurMixRatios *ratios, DemurDrawn drawn, const double *raked,
                           DemurMixRatiosScratch *scratch, double *q, size_t n_rows) {
  g_return_if_fail(n_rows <= DEMUR_N_MIX_VALUES);
  const size_t n = ratios->sample->n, k = scratch->n_columns;
  memset(scratch->normal, 0, k * k * sizeof(double));
  memset(scratch->sides, 0, n_rows * k * sizeof(double));
  for (size_t i = 0; i < n; i++) {
    const Mass mass = mass_of(drawn, raked, i);
    const double weight = mass.count * mass.rake;
    for (size_t m = 0; weight > 0.0 && m < ratios->n_margins; m++) {
      const size_t column = scratch->columns[m * n + i];
      if (column == k)
        continue;
      for (size_t other = 0; other < ratios->n_margins; other++)
        if (scratch->columns[other * n + i] < k)
          scratch->normal[column * k + scratch->columns[other * n + i]] += weight;
      for (size_t v = 0; v < n_rows; v++)
        scratch->sides[v * k + column] += weight * q[v * n + i];
    }
  }
  solve(scratch->normal, k, scratch->sides, n_rows);
  for (size_t v = 0; v < n_rows; v++)
    for (size_t m = 0; m < ratios->n_margins; m++)
      for (size_t i = 0; i < n; i++)
        if (scratch->columns[m * n + i] < k)
          q[v * n + i] -= scratch->sides[v * k + scratch->columns[m * n + i]];
}

static const guint32 *
units_of(const DemurMixRatios *ratios) {
  return ratios->unit == DEMUR_UNIT_SITE ? ratios->sample->sites : ratios->sample->patients;
}

void
demur_mix_ratios(const DemurMixRatios *ratios, DemurDrawn drawn, const double *raked,
                 DemurMixRatiosScratch *scratch, double *values, double *influences) {
  const size_t n = ratios->sample->n, n_units = demur_sample_n_units(ratios->sample, ratios->unit);
  const guint32 *units = units_of(ratios);
  set_values(ratios, drawn, raked, scratch, values);
  if (raked != NULL)
    demur_mix_take_margins_out(ratios, drawn, raked, scratch, scratch->q, DEMUR_N_MIX_VALUES);
  memset(influences, 0, DEMUR_N_MIX_VALUES * n_units * sizeof(double));
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++)
    for (size_t i = 0; ratios_table[v].terms != NULL && i < n; i++) {
      const Mass mass = mass_of(drawn, raked, i);
      if (mass.count > 0.0)
        influences[v * n_units + units[i]] += mass.rake * scratch->q[v * n + i];
    }
}

double
demur_mix_ratio_standard_error(const DemurMixRatios *ratios, const guint32 *counts,
                               const double *influences) {
  const size_t n = ratios->sample->n, n_units = demur_sample_n_units(ratios->sample, ratios->unit);
  const guint32 *units = units_of(ratios);
  g_autofree guint32 *times = g_new0(guint32, MAX(n_units, 1));
  for (size_t i = 0; i < n; i++) /* a unit's entries are drawn together */
    times[units[i]] = counts != NULL ? counts[i] : 1;
  double drawn = 0.0, squares = 0.0;
  for (size_t u = 0; u < n_units; u++) {
    const double z = influences[u];
    drawn += times[u];
    squares += times[u] * z * z;
  }
  return drawn >= 2.0 ? sqrt(drawn / (drawn - 1.0) * squares) : NAN;
}

void
demur_mix_leverages(const DemurMixRatios *ratios, const double *raked, double *left) {
  const size_t n = ratios->sample->n, n_units = demur_sample_n_units(ratios->sample, ratios->unit);
  const guint32 *units = units_of(ratios);
  for (size_t u = 0; u < n_units; u++)
    left[u] = 1.0;
  for (size_t m = 0; raked != NULL && m < ratios->n_margins; m++) {
    const DemurRakingMargin *margin = &ratios->margins[m];
    const size_t k = margin->n_categories;
    g_autofree double *of_units = g_new0(double, MAX(n_units * k, 1)), *sums = g_new0(double, k);
    for (size_t i = 0; i < n; i++) {
      of_units[units[i] * k + margin->codes[i]] += raked[i];
      sums[margin->codes[i]] += raked[i];
    }
    for (size_t u = 0; u < n_units; u++)
      for (size_t c = 0; c < k; c++)
        if (sums[c] > 0.0)
          left[u] = fmin(left[u], 1.0 - fmin(of_units[u * k + c] / sums[c], DEMUR_MIX_MOST_SHARE));
  }
  for (size_t u = 0; u < n_units; u++)
    left[u] = sqrt(left[u]);
}

double
demur_mix_change_standard_error(const DemurMixRatios *ratios, const double *influences,
                                const double *others, const double *left, double *degrees) {
  const size_t n_units = demur_sample_n_units(ratios->sample, ratios->unit);
  double squares = 0.0, fourth = 0.0;
  for (size_t u = 0; u < n_units; u++) {
    const double z = (influences[u] - others[u]) / left[u];
    squares += z * z;
    fourth += z * z * z * z;
  }
  *degrees = fourth > 0.0 ? fmax(squares * squares / fourth, 1.0) : NAN;
  return n_units >= 2 ? sqrt(squares) : NAN;
}

double
demur_mix_correlation(const DemurMixRatios *ratios, const double *influences,
                      const double *others) {
  const size_t n_units = demur_sample_n_units(ratios->sample, ratios->unit);
  double both = 0.0, squares = 0.0, other_squares = 0.0;
  for (size_t u = 0; u < n_units; u++) {
    both += influences[u] * others[u];
    squares += influences[u] * influences[u];
    other_squares += others[u] * others[u];
  }
  return squares > 0.0 && other_squares > 0.0 ? both / sqrt(squares * other_squares) : NAN;
}
