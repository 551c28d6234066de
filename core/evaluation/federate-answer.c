/*   audit:       sum_i y_i - r_i,   sum_i r_i (1 - r_i),   sum_p (sum_(i of p) y_i - r_i)^2
 *   evaluation:  in cell (band, bin): n, sum y, sum r, sum (y - r)^2
 *
 * and the sums of metrics/offset-logistic.h. Cells are told in groups of neighbours: bands from the highest
 * scores down are joined until they have DEMUR_SMALL_CELL patients of each label together, what is left at the end
 * goes along with the last; then the bins of the bands that stand together, from the lowest risks up, likewise. That
 * makes as many groups as can be of those that are beside each other: each closes as early as it may. A group is so
 * a rectangle of bands and bins, and the groups are all scans: whatever is added up or subtracted is of whole
 * groups, none of which is small. Counts are of patients, who may have scans in several groups. Complete
 * aggregation in place of suppression: Hundepool et al. 2012, chapter 4.
 *
 * A corrector's column that is an indicator makes its sums those of the scans that have it: a column of at
 * most 16 values is told of where each has as many patients of each label, and none but many share a value
 * of two such columns (the Hessian has their products).
 *
 * Cells lie band by band, [n_bands][n_bins]. O(n m^2), or O(n (thresholds + edges)). */
#include "evaluation/federate-answer.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"

#define MOST_VALUES 16 /* a column of more is no indicator, nor a grade */

/* Scans patient by patient (owned). */
static size_t *
by_patient(const DemurFederateScans *scans) {
  g_autofree size_t *begins = g_new0(size_t, scans->n_patients + 1);
  size_t *order = g_new(size_t, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++)
    begins[scans->patients[i] + 1]++;
  for (size_t p = 0; p < scans->n_patients; p++)
    begins[p + 1] += begins[p];
  for (size_t i = 0; i < scans->n; i++)
    order[begins[scans->patients[i]]++] = i;
  return order;
}

/* counts [n_rows][n_labels]: patients with a scan of that row and label; of n_labels 1, of any label. rows
 * [n]: each scan's (NULL: 0), n_rows and more: none. */
static void
count_patients(const DemurFederateScans *scans, const size_t *rows, size_t n_rows, size_t n_labels,
               size_t *counts) {
  g_autofree size_t *order = by_patient(scans), *last = g_new0(size_t, n_rows * n_labels);
  memset(counts, 0, n_rows * n_labels * sizeof *counts);
  for (size_t o = 0; o < scans->n; o++) {
    const size_t i = order[o], row = rows != NULL ? rows[i] : 0,
                 label = n_labels > 1 ? (size_t)scans->labels[i] : 0,
                 stamp = (size_t)scans->patients[i] + 1;
    if (row >= n_rows || label >= n_labels)
      continue;
    const size_t place = row * n_labels + label;
    counts[place] += last[place] != stamp;
    last[place] = stamp;
  }
}

static gboolean
has_few(const DemurFederateScans *scans) {
  g_autofree size_t *counts = g_new0(size_t, scans->n_classes);
  count_patients(scans, NULL, 1, scans->n_classes, counts);
  for (size_t k = 0; k < scans->n_classes; k++)
    if (counts[k] < DEMUR_SMALL_CELL)
      return TRUE;
  return FALSE;
}

static double
label_of(const DemurFederateScans *scans, size_t i) {
  return scans->labels[i] == 1 ? 1.0 : 0.0;
}

static void
sum_logistic(const DemurFederateRound *round, const DemurFederateScans *scans, double *sums) {
  const size_t n = scans->n;
  g_autofree double *logits = g_new(double, n), *labels = g_new(double, n),
                    *zeros = g_new0(double, n);
  for (size_t i = 0; i < n; i++) {
    logits[i] = demur_logit(scans->risks[i]);
    labels[i] = label_of(scans, i);
  }
  const size_t d = round->n_inputs;
  g_autofree double *inputs = g_new(double, MAX(n * d, 1));
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < d; c++)
      inputs[i * d + c] = scans->inputs[i * scans->width + round->inputs[c]];
  DemurOffsetLogistic problem = {.inputs = inputs, .stride = d, .d = d, .offsets = logits};
  if (round->study == DEMUR_FEDERATE_RECALIBRATION) {
    problem = demur_recalibration_problem(round->kind);
    problem.inputs = problem.d > 0 ? logits : NULL;
    problem.offsets = problem.d > 0 ? zeros : logits;
  }
  problem.n = n;
  problem.labels = labels;
  demur_offset_logistic_sums(&problem, round->newton->at, sums);
}

static void
add_to_sums(const DemurFederateRound *round, const DemurFederateScans *scans, double *sums) {
  if (round->study == DEMUR_FEDERATE_AUDIT) {
    g_autofree double *of_patient = g_new0(double, MAX(scans->n_patients, 1));
    for (size_t i = 0; i < scans->n; i++) {
      sums[0] += label_of(scans, i) - scans->seen[i];
      sums[1] += scans->seen[i] * (1.0 - scans->seen[i]);
      of_patient[scans->patients[i]] += label_of(scans, i) - scans->seen[i];
    }
    for (size_t p = 0; p < scans->n_patients; p++)
      sums[2] += of_patient[p] * of_patient[p];
  } else if (round->n_classes > 2) {
    demur_recalibration_temperature_sums(scans->risks, scans->n_classes, scans->labels, NULL,
                                         scans->n, round->newton->at[0], &sums[0], &sums[1]);
  } else {
    sum_logistic(round, scans, sums);
  }
}

/* ---- cells ---- */

typedef struct {
  size_t n_bands, n_bins;
  double *sums; /* [n_bands n_bins][4] n, positives, risks, squares */
  size_t *of;   /* [n] each scan's cell */
} Cells;

static void
cells_clear(Cells *cells) {
  g_free(cells->sums);
  g_free(cells->of);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cells, cells_clear)

static void
fill_cells(const DemurFederateRound *round, const DemurFederateScans *scans, Cells *cells) {
  cells->n_bands = round->n_thresholds + 1;
  cells->n_bins = round->n_edges + 1;
  const size_t n_cells = cells->n_bands * cells->n_bins;
  cells->sums = g_new0(double, 4 * n_cells);
  cells->of = g_new0(size_t, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++) {
    size_t band = 0, bin = 0;
    while (band < round->n_thresholds && !(scans->scores[i] >= round->thresholds[band]))
      band++;
    while (bin < round->n_edges && scans->seen[i] >= round->edges[bin])
      bin++;
    const size_t cell = band * cells->n_bins + bin;
    const double y = label_of(scans, i), difference = y - scans->seen[i];
    double *sums = cells->sums + 4 * cell;
    sums[0] += 1.0;
    sums[1] += y;
    sums[2] += scans->seen[i];
    sums[3] += difference * difference;
    cells->of[i] = cell;
  }
}

/* Puts a cell into the group. */
static void
add_cell(const Cells *cells, size_t cell, DemurFederateGroup *group) {
  const double *sums = cells->sums + 4 * cell;
  group->cells[group->n_cells++] = (guint32)cell;
  group->n += sums[0];
  group->positives += sums[1];
  group->risks += sums[2];
  group->squares += sums[3];
}

static DemurFederateGroup *
new_group(DemurFederateAnswer *answer, size_t n_cells) {
  DemurFederateGroup *group = &answer->groups[answer->n_groups++];
  group->cells = demur_new_array(guint32, MAX(n_cells, 1));
  return group;
}

/* Runs of neighbouring rows, each of DEMUR_SMALL_CELL patients of each label; rows [n]: each scan's, n_rows and
 * more: none. ends [n_rows]: the row behind each run. Returns how many there are, one at least. */
static size_t
join_neighbours(const DemurFederateScans *scans, const size_t *rows, size_t n_rows, size_t *ends) {
  g_autofree size_t *begins = g_new0(size_t, n_rows + 2), *order = g_new(size_t, MAX(scans->n, 1)),
                    *last = g_new0(size_t, MAX(2 * scans->n_patients, 1));
  for (size_t i = 0; i < scans->n; i++)
    begins[MIN(rows[i], n_rows) + 1]++;
  for (size_t r = 0; r <= n_rows; r++)
    begins[r + 1] += begins[r];
  for (size_t i = 0; i < scans->n; i++)
    order[begins[MIN(rows[i], n_rows)]++] = i; /* where a row began, it ends at last */
  size_t n_runs = 0, patients[2] = {0, 0};
  for (size_t r = 0, o = 0; r < n_rows; r++) {
    for (; o < begins[r]; o++) {
      const size_t label = scans->labels[order[o]] == 1,
                   place = 2 * (size_t)scans->patients[order[o]] + label;
      patients[label] += last[place] != n_runs + 1;
      last[place] = n_runs + 1;
    }
    if (MIN(patients[0], patients[1]) < DEMUR_SMALL_CELL)
      continue;
    ends[n_runs++] = r + 1;
    patients[0] = patients[1] = 0;
  }
  n_runs = MAX(n_runs, 1);
  ends[n_runs - 1] = n_rows;
  return n_runs;
}

/* The bins of the bands from `first` to before `end`, which stand together. */
static void
group_bands(const DemurFederateScans *scans, const Cells *cells, size_t first, size_t end,
            DemurFederateAnswer *answer) {
  const size_t n_bins = cells->n_bins;
  g_autofree size_t *bins = g_new(size_t, MAX(scans->n, 1)), *ends = g_new(size_t, n_bins);
  for (size_t i = 0; i < scans->n; i++) {
    const size_t band = cells->of[i] / n_bins;
    bins[i] = band >= first && band < end ? cells->of[i] % n_bins : n_bins;
  }
  const size_t n_runs = join_neighbours(scans, bins, n_bins, ends);
  for (size_t run = 0, bin = 0; run < n_runs; bin = ends[run++]) {
    DemurFederateGroup *group = new_group(answer, (end - first) * (ends[run] - bin));
    for (size_t band = first; band < end; band++)
      for (size_t b = bin; b < ends[run]; b++)
        add_cell(cells, band * n_bins + b, group);
  }
}

static void
group_cells(const DemurFederateScans *scans, const Cells *cells, DemurFederateAnswer *answer) {
  const size_t n_bands = cells->n_bands, n_bins = cells->n_bins;
  g_autofree size_t *bands = g_new(size_t, MAX(scans->n, 1)), *ends = g_new(size_t, n_bands);
  for (size_t i = 0; i < scans->n; i++)
    bands[i] = cells->of[i] / n_bins;
  answer->groups = g_new0(DemurFederateGroup, n_bands * n_bins);
  const size_t n_runs = join_neighbours(scans, bands, n_bands, ends);
  for (size_t run = 0, first = 0; run < n_runs; first = ends[run++])
    group_bands(scans, cells, first, ends[run], answer);
}

/* ---- columns of few values ---- */

/* codes [n]: which of its values each scan has in the column; how many there are, 0 where there are more
 * than MOST_VALUES. */
static size_t
code_values(const DemurFederateScans *scans, guint32 column, guint8 *codes) {
  double values[MOST_VALUES];
  size_t n_values = 0;
  for (size_t i = 0; i < scans->n; i++) {
    const double value = scans->inputs[i * scans->width + column];
    size_t v = 0;
    while (v < n_values && values[v] != value)
      v++;
    if (v == MOST_VALUES)
      return 0;
    if (v == n_values)
      values[n_values++] = value;
    codes[i] = (guint8)v;
  }
  return n_values;
}

/* Whether some value has few patients of a label. */
static gboolean
value_is_small(const DemurFederateScans *scans, const guint8 *codes, size_t n_values) {
  size_t counts[MOST_VALUES * 2];
  g_autofree size_t *rows = g_new(size_t, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++)
    rows[i] = codes[i];
  count_patients(scans, rows, MOST_VALUES, 2, counts);
  for (size_t v = 0; n_values > 1 && v < n_values; v++)
    if (MIN(counts[2 * v], counts[2 * v + 1]) < DEMUR_SMALL_CELL)
      return TRUE;
  return FALSE;
}

/* Whether some, but few, patients have scans of one value here and one there. */
static gboolean
pair_is_small(const DemurFederateScans *scans, const guint8 *a, const guint8 *b) {
  size_t counts[MOST_VALUES * MOST_VALUES];
  g_autofree size_t *rows = g_new(size_t, MAX(scans->n, 1));
  for (size_t i = 0; i < scans->n; i++)
    rows[i] = (size_t)a[i] * MOST_VALUES + b[i];
  count_patients(scans, rows, G_N_ELEMENTS(counts), 1, counts);
  for (size_t v = 0; v < G_N_ELEMENTS(counts); v++)
    if (counts[v] > 0 && counts[v] < DEMUR_SMALL_CELL)
      return TRUE;
  return FALSE;
}

static gboolean
check_columns(const DemurFederateRound *round, const DemurFederateScans *scans, GError **error) {
  const size_t n = scans->n;
  g_autofree guint8 *codes = g_new(guint8, MAX(n * round->n_inputs, 1));
  g_autofree gboolean *few = g_new0(gboolean, MAX(round->n_inputs, 1));
  for (size_t c = 0; c < round->n_inputs; c++) {
    guint8 *own = codes + c * n;
    const size_t n_values = code_values(scans, round->inputs[c], own);
    few[c] = n_values > 0;
    gboolean small = few[c] && value_is_small(scans, own, n_values);
    for (size_t b = 0; few[c] && b < c && !small; b++)
      small = few[b] && pair_is_small(scans, own, codes + b * n);
    if (small) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "the corrector's column %u has few values, and at one of them fewer than %d "
                      "patients of a label, or beside another column of few values: its sums would "
                      "tell of them; ask for a study that leaves it out (--leave-out %u)",
                      round->inputs[c], DEMUR_SMALL_CELL, round->inputs[c]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_asked(const DemurFederateRound *round, const DemurFederateScans *scans, GError **error) {
  const DemurNewton *newton = round->newton;
  for (size_t c = 0; newton != NULL && c < newton->m; c++)
    if (fabs(newton->at[c]) > DEMUR_FEDERATE_STEEPEST) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "the round asks at coefficient %zu = %g; a site answers up to %g, for "
                      "steeper ones would tell of few scans",
                      c, newton->at[c], DEMUR_FEDERATE_STEEPEST);
      return FALSE;
    }
  if (round->study == DEMUR_FEDERATE_CORRECTOR && scans->n > 0 && round->width != scans->width) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the round is of a corrector of %zu columns; the selector's reads %zu",
                    round->width, scans->width);
    return FALSE;
  }
  return TRUE;
}

DemurFederateAnswer *
demur_federate_answer(const DemurFederateRound *round, const char *site,
                      const DemurFederateScans *scans, GError **error) {
  if (!check_asked(round, scans, error))
    return NULL;
  g_autoptr(DemurFederateAnswer) answer = g_new0(DemurFederateAnswer, 1);
  answer->site = g_strdup(site);
  answer->simulated = scans->simulated;
  answer->withheld = has_few(scans);
  if (answer->withheld)
    return g_steal_pointer(&answer);
  if (round->study == DEMUR_FEDERATE_CORRECTOR && !check_columns(round, scans, error))
    return NULL;
  answer->n = scans->n;
  answer->n_sums = demur_federate_n_sums(round);
  answer->sums = demur_new_array(double, MAX(answer->n_sums, 1));
  if (round->study == DEMUR_FEDERATE_EVALUATION) {
    g_auto(Cells) cells = {0};
    fill_cells(round, scans, &cells);
    group_cells(scans, &cells, answer);
  } else {
    add_to_sums(round, scans, answer->sums);
  }
  for (size_t i = 0; i < answer->n_sums; i++)
    if (!isfinite(answer->sums[i])) {
      demur_error_set(error, DEMUR_ERROR_NUMERIC,
                      "the sums of these scans are not finite at the round's coefficients");
      return NULL;
    }
  return g_steal_pointer(&answer);
}
