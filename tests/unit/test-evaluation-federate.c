/* Studies by sums. Right values: the same fits and measures of the pooled scans by the rooms that make
 * them; counts by hand for what is withheld; documents that are edited, repeated or foreign are refused. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "evaluation/federate-answer.h"
#include "evaluation/federate-ledger.h"
#include "evaluation/federate-merge.h"
#include "metrics/selective.h"
#include "selector/corrector.h"
#include "support/support.h"

#define N 900
#define WIDTH 3
#define N_SITES 3

static const char *const site_names[] = {"east", "north", "west", NULL};

/* Scans of three sites, one behind the other, whose outcomes are more than said, site by site. */
typedef struct {
  double risks[N], seen[N], scores[N], inputs[N * WIDTH], classes[N * 3];
  gint32 labels[N], answers[N];
  char *names[N], *persons[N];
  guint32 patients[N]; /* each scan its own, to begin with */
  gboolean simulated;
} Material;

/* Sites are of unlike size: 400, 300 and 200 scans. */
static size_t
begin_of(size_t site) {
  static const size_t begins[] = {0, 400, 700, N};
  return begins[site];
}

static Material *
material_new(void) {
  Material *m = g_new0(Material, 1);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_AUDIT, 1, 0, 0);
  for (size_t i = 0; i < N; i++) {
    const size_t site = i < 400 ? 0 : i < 700 ? 1 : 2;
    double total = 0.0;
    for (size_t c = 0; c < WIDTH; c++)
      m->inputs[i * WIDTH + c] = 2.0 * demur_random_uniform(&random) - 1.0;
    m->risks[i] = demur_sigmoid(3.0 * demur_random_uniform(&random) - 2.5);
    const double right = demur_sigmoid(0.7 * demur_logit(m->risks[i]) + 0.2 * (double)site +
                                       0.6 * m->inputs[i * WIDTH]);
    m->labels[i] = demur_random_uniform(&random) < right;
    m->seen[i] = demur_sigmoid(1.2 * demur_logit(m->risks[i]) + 0.1);
    m->scores[i] = demur_random_uniform(&random);
    for (size_t k = 0; k < 3; k++)
      total += m->classes[i * 3 + k] = 0.1 + demur_random_uniform(&random);
    for (size_t k = 0; k < 3; k++)
      m->classes[i * 3 + k] /= total;
    m->answers[i] = demur_random_uniform(&random) < m->classes[i * 3]       ? 0
                    : demur_random_uniform(&random) < m->classes[i * 3 + 1] ? 1
                                                                            : 2;
    m->names[i] = g_strdup_printf("scan-%zu", i);
    m->persons[i] = g_strdup_printf("person-%zu", i);
    m->patients[i] = (guint32)i;
  }
  return m;
}

static void
material_free(Material *m) {
  for (size_t i = 0; i < N; i++) {
    g_free(m->names[i]);
    g_free(m->persons[i]);
  }
  g_free(m);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Material, material_free)

static DemurFederateScans
scans_of(const Material *m, const DemurFederateRound *round, size_t first, size_t end) {
  const gboolean classes = round->n_classes > 2;
  return (DemurFederateScans){.n = end - first,
                              .n_classes = round->n_classes,
                              .risks = classes ? m->classes + 3 * first : m->risks + first,
                              .labels = classes ? m->answers + first : m->labels + first,
                              .patients = m->patients + first,
                              .n_patients = N,
                              .simulated = m->simulated,
                              .inputs = m->inputs + first * WIDTH,
                              .width = round->study == DEMUR_FEDERATE_CORRECTOR ? WIDTH : 0,
                              .seen = m->seen + first,
                              .scores = m->scores + first};
}

/* What the site's file holds, written and read back. */
static DemurFederateAnswer *
answer_of(const Material *m, const DemurFederateRound *round, size_t site) {
  g_autoptr(GError) error = NULL;
  const DemurFederateScans scans = scans_of(m, round, begin_of(site), begin_of(site + 1));
  g_autoptr(DemurFederateAnswer) answer =
      demur_federate_answer(round, site_names[site], &scans, &error);
  g_assert_no_error(error);
  g_autofree char *text = demur_federate_answer_write(round, answer);
  DemurFederateAnswer *read = demur_federate_answer_read(round, text, -1, &error);
  g_assert_no_error(error);
  return read;
}

static char *const paths[] = {(char[]){"a"}, (char[]){"b"}, (char[]){"c"}, (char[]){"d"}};

/* One round of the sites but `gone` (-1: of all), whose name is left out. */
static gboolean
merge(const Material *m, const DemurFederateRound *round, gssize gone, DemurFederateRound **next,
      DemurFederateResult **result, GError **error) {
  g_autoptr(GPtrArray) answers =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_federate_answer_free);
  for (size_t s = 0; s < N_SITES; s++)
    if ((gssize)s != gone && g_strv_contains((const char *const *)round->sites, site_names[s]))
      g_ptr_array_add(answers, answer_of(m, round, s));
  char *const without[] = {(char *)(gone >= 0 ? site_names[gone] : NULL), NULL};
  return demur_federate_merge(round, (DemurFederateAnswer *const *)answers->pdata, paths,
                              answers->len, without, next, result, error);
}

/* To the end, each round through its file. gone_at: the round in which the last site goes (0: never). */
static DemurFederateResult *
run(const Material *m, DemurFederateRound *round, size_t gone_at) {
  DemurFederateResult *result = NULL;
  for (size_t n = 1; result == NULL; n++) {
    g_assert_cmpuint(n, <, 60);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = demur_federate_round_write(round);
    g_autoptr(DemurFederateRound) read = demur_federate_round_read(text, -1, &error);
    g_assert_no_error(error);
    DemurFederateRound *next = NULL;
    g_assert_true(merge(m, read, n == gone_at ? 2 : -1, &next, &result, &error));
    g_assert_no_error(error);
    demur_federate_round_free(round);
    round = next;
    g_assert_true((next == NULL) != (result == NULL));
  }
  return result;
}

static const guint32 columns[] = {0, 1, 2};

static DemurFederateRound *
start(DemurFederateStudy study, DemurRecalibrationKind kind, size_t n_classes) {
  DemurFederateRound *round = demur_federate_round_new(
      study, kind, "selector", n_classes, (char *const *)site_names, WIDTH, columns, WIDTH);
  round->lambda = 3.0;
  return round;
}

static void
test_recalibration_is_the_pooled_one(void) {
  g_autoptr(Material) m = material_new();
  static const DemurRecalibrationKind kinds[] = {
      DEMUR_RECALIBRATION_PLATT, DEMUR_RECALIBRATION_INTERCEPT, DEMUR_RECALIBRATION_TEMPERATURE};
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (size_t gone_at = 0; gone_at <= 2; gone_at++) {
      g_autoptr(DemurFederateResult) result =
          run(m, start(DEMUR_FEDERATE_RECALIBRATION, kinds[k], 2), gone_at);
      const size_t n = gone_at > 0 ? 700 : N;
      g_autoptr(DemurRecalibration) pooled =
          demur_recalibration_fit(kinds[k], m->risks, 2, m->labels, NULL, n);
      demur_assert_close(result->slope, pooled->slope, 1e-9, 1e-9);
      demur_assert_close(result->intercept, pooled->intercept, 1e-9, 1e-9);
      g_assert_cmpfloat(result->n, ==, (double)n);
      g_assert_cmpuint(g_strv_length(result->sites), ==, gone_at > 0 ? 2 : 3);
    }
  g_autoptr(DemurFederateResult) classes =
      run(m, start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_TEMPERATURE, 3), 0);
  g_autoptr(DemurRecalibration) pooled =
      demur_recalibration_fit(DEMUR_RECALIBRATION_TEMPERATURE, m->classes, 3, m->answers, NULL, N);
  demur_assert_close(classes->slope, pooled->slope, 1e-9, 0.0);
  g_assert_cmpfloat(fabs(pooled->slope - 1.0), >, 1e-3); /* something was learnt */
}

static void
test_corrector_is_the_pooled_one(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(DemurFederateResult) result =
      run(m, start(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, 2), 0);
  double offsets[N], labels[N], weights[WIDTH] = {0.0}, intercept = 0.0;
  for (size_t i = 0; i < N; i++) {
    offsets[i] = demur_logit(m->risks[i]);
    labels[i] = m->labels[i];
  }
  const DemurOffsetLogistic problem = {.inputs = m->inputs,
                                       .stride = WIDTH,
                                       .n = N,
                                       .d = WIDTH,
                                       .offsets = offsets,
                                       .labels = labels,
                                       .penalty = 3.0,
                                       .intercept_penalty = DEMUR_CORRECTOR_INTERCEPT_PENALTY};
  demur_offset_logistic_fit(&problem, weights, &intercept);
  demur_assert_close(result->intercept, intercept, 1e-9, 1e-9);
  g_assert_cmpuint(result->n_weights, ==, WIDTH);
  for (size_t c = 0; c < WIDTH; c++)
    demur_assert_close(result->weights[c], weights[c], 1e-9, 1e-9);
  g_assert_cmpfloat(weights[0], >, 0.2);
}

/* An indicator that 9 scans with the outcome have, or 40 scans beside another's 5: told of without it. */
static void
test_columns_of_few_are_refused(void) {
  g_autoptr(Material) m = material_new();
  static const guint32 others[] = {0, 2};
  g_autoptr(DemurFederateRound) whole =
      start(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, 2);
  g_autoptr(DemurFederateRound) without =
      demur_federate_round_new(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, "selector", 2,
                               (char *const *)site_names, WIDTH, others, 2);
  for (size_t wanted = 9; wanted <= 10; wanted++) {
    size_t with[2] = {0, 0};
    for (size_t i = 0; i < 400; i++)
      m->inputs[i * WIDTH + 1] = with[m->labels[i]]++ < wanted ? 1.0 : 0.0;
    const DemurFederateScans scans = scans_of(m, whole, 0, 400);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(whole, "east", &scans, &error);
    g_assert_true((answer != NULL) == (wanted == 10));
    if (answer == NULL) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
      g_assert_nonnull(strstr(error->message, "--leave-out 1"));
    }
    g_autoptr(GError) none = NULL;
    g_autoptr(DemurFederateAnswer) less = demur_federate_answer(without, "east", &scans, &none);
    g_assert_no_error(none);
    g_assert_cmpuint(less->n_sums, ==, 1 + 3 + 6);
  }
  for (size_t i = 0; i < 400; i++) {
    m->inputs[i * WIDTH + 1] = i < 200 ? 1.0 : 0.0;
    m->inputs[i * WIDTH + 2] = i >= 195 ? 1.0 : 0.0; /* 5 scans have both */
  }
  const DemurFederateScans scans = scans_of(m, whole, 0, 400);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_federate_answer(whole, "east", &scans, &error));
  g_assert_nonnull(strstr(error->message, "--leave-out 2"));
}

static void
test_audit_is_the_pooled_one(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(DemurFederateResult) result =
      run(m, start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2), 0);
  double difference = 0.0, variance = 0.0, squares = 0.0, values[N_SITES], errors[N_SITES];
  for (size_t s = 0; s < N_SITES; s++) {
    double d = 0.0, v = 0.0, u = 0.0;
    for (size_t i = begin_of(s); i < begin_of(s + 1); i++) {
      d += (double)m->labels[i] - m->seen[i];
      u += ((double)m->labels[i] - m->seen[i]) * ((double)m->labels[i] - m->seen[i]);
      v += m->seen[i] * (1.0 - m->seen[i]);
    }
    values[s] = d / v;
    errors[s] = sqrt(u) / v;
    difference += d;
    variance += v;
    squares += u;
  }
  const DemurHeterogeneity right = demur_heterogeneity(values, errors, N_SITES);
  demur_assert_close(result->difference, difference / N, 1e-9, 0.0);
  demur_assert_close(result->variance, variance, 1e-9, 0.0);
  demur_assert_close(result->by_patient, squares, 1e-9, 0.0);
  demur_assert_close(result->z, difference / sqrt(squares), 1e-9, 0.0);
  demur_assert_close(result->sites_differ.mean, right.mean, 1e-9, 0.0);
  demur_assert_close(result->sites_differ.tau2, right.tau2, 1e-9, 1e-12);
}

/* Each scan four times under its person: as many times the difference and its standard error, the same z. */
static void
test_repeated_scans_do_not_count_as_persons(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(DemurFederateResult) often = NULL;
  for (size_t i = 0; i < N; i++) {
    const size_t from = i - i % 4;
    m->patients[i] = (guint32)from;
    m->labels[i] = m->labels[from];
    m->seen[i] = m->seen[from];
  }
  often = run(m, start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2), 0);
  double difference = 0.0, squares = 0.0;
  for (size_t i = 0; i < N; i += 4) {
    const double one = (double)m->labels[i] - m->seen[i];
    difference += one;
    squares += one * one;
  }
  demur_assert_close(often->z, difference / sqrt(squares), 1e-9, 0.0);
}

static void
set_cuts(DemurFederateRound *round, const double *thresholds, size_t n_thresholds,
         const double *edges, size_t n_edges) {
  round->n_thresholds = n_thresholds;
  round->n_edges = n_edges;
  round->thresholds = demur_new_array(double, MAX(n_thresholds, 1));
  round->edges = demur_new_array(double, MAX(n_edges, 1));
  if (n_thresholds > 0)
    memcpy(round->thresholds, thresholds, n_thresholds * sizeof(double));
  if (n_edges > 0)
    memcpy(round->edges, edges, n_edges * sizeof(double));
}

static int
compare_pairs(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Accepted scans in ascending risk, pairs of risk and label; n of them. */
static double *
accepted_of(const Material *m, double threshold, size_t *n) {
  double *pairs = g_new(double, 2 * N);
  *n = 0;
  for (size_t i = 0; i < N; i++)
    if (m->scores[i] >= threshold) {
      pairs[2 * *n] = m->seen[i];
      pairs[2 * (*n)++ + 1] = m->labels[i];
    }
  qsort(pairs, *n, 2 * sizeof *pairs, compare_pairs);
  return pairs;
}

/* Bins of equal mass by edges where the pooled scans have them: the measures of metrics/selective.h. */
static void
test_evaluation_is_the_pooled_one(void) {
  g_autoptr(Material) m = material_new();
  const double thresholds[] = {0.4, 0.2};
  size_t n;
  g_autofree double *pairs = accepted_of(m, 0.4, &n);
  double risks[N], labels[N], edges[1];
  guint32 ranks[N] = {0}, counts[N];
  for (size_t i = 0; i < n; i++) {
    risks[i] = pairs[2 * i];
    labels[i] = pairs[2 * i + 1];
    counts[i] = 1;
  }
  const DemurSelectiveSample sample = {
      .n = n, .risks = risks, .labels = labels, .counts = counts, .ranks = ranks, .n_ranks = 1};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(n);
  DemurSelectivePoint right;
  demur_selective_at_rank(&sample, 0, n / 2, scratch, &right);
  g_assert_cmpuint(right.n_bins, ==, 2);
  for (size_t b = 0, end = 0; b < 1; b++) {
    end += n / 2 + (b < n % 2);
    edges[b] = 0.5 * (risks[end - 1] + risks[end]);
  }
  DemurFederateRound *round = start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
  set_cuts(round, thresholds, 2, edges, 1);
  g_autoptr(DemurFederateResult) result = run(m, round, 0);
  g_assert_cmpuint(result->n_points, ==, 3);
  const DemurFederatePoint *at = &result->points[0];
  g_assert_true(at->told);
  g_assert_cmpfloat(at->n, ==, (double)n);
  g_assert_cmpuint(at->n_bins, ==, 2);
  demur_assert_close(at->sbce1, right.error1, 1e-9, 0.0);
  demur_assert_close(at->sbce2, right.error2, 1e-9, 0.0);
  demur_assert_close(at->sbceinf, right.error_inf, 1e-9, 0.0);
  demur_assert_close(at->debiased2, right.debiased2, 1e-9, 1e-12);
  demur_assert_close(at->brier, right.brier, 1e-9, 0.0);
  double refused[2] = {0.0, 0.0}, all[2] = {0.0, 0.0}, expected = 0.0;
  for (size_t i = 0; i < N; i++) {
    all[m->labels[i]] += 1.0;
    refused[m->labels[i]] += !(m->scores[i] >= 0.4);
    expected += m->seen[i];
  }
  for (size_t y = 0; y < 2; y++)
    demur_assert_close(at->refused[y], refused[y] / all[y], 1e-9, 0.0);
  demur_assert_close(result->points[2].expected, expected, 1e-9, 0.0);
  g_assert_cmpfloat(result->points[2].positives, ==, all[1]);
  g_assert_true(isnan(result->points[2].threshold));
}

/* A threshold that keeps few scans of one site: told at no site alone, and not of all. Edges that leave
 * few outcomes in a bin: its scans stand with those of another, and every sum is whole. */
static void
test_small_cells_stand_with_others(void) {
  g_autoptr(Material) m = material_new();
  for (size_t i = 700; i < N;
       i++) /* 5 of the last site's 200 scans are above the first threshold */
    m->scores[i] = i < 705 ? 0.95 : 0.3;
  const double thresholds[] = {0.9, 0.2}, edges[] = {0.16, 0.3};
  DemurFederateRound *round = start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
  set_cuts(round, thresholds, 2, edges, 2);
  g_autoptr(DemurFederateResult) result = run(m, round, 0);
  g_assert_false(result->points[0].told);
  g_assert_true(isnan(result->points[0].n) && isnan(result->points[0].refused[1]));
  g_assert_true(result->points[2].told);
  double squares = 0.0;
  for (size_t i = 0; i < N; i++)
    squares += ((double)m->labels[i] - m->seen[i]) * ((double)m->labels[i] - m->seen[i]);
  demur_assert_close(result->points[2].brier, squares / N, 1e-9, 0.0);
}

/* A group is some bands beside each other with the same bins beside each other. */
static void
assert_neighbours(const DemurFederateRound *round, const DemurFederateGroup *group) {
  const guint32 n_bins = (guint32)round->n_edges + 1, first = group->cells[0],
                last = group->cells[group->n_cells - 1];
  const guint32 width = last % n_bins - first % n_bins + 1,
                height = last / n_bins - first / n_bins + 1;
  g_assert_cmpuint(group->n_cells, ==, width * height);
  for (guint32 c = 0; c < group->n_cells; c++)
    g_assert_cmpuint(group->cells[c], ==, first + c / width * n_bins + c % width);
}

/* Bins of 40, 4, 40 and 4 outcomes in one band, 40 scans without in each: the few go along with a neighbour, and
 * what is no neighbour stands alone. */
static void
test_few_go_along_with_a_neighbour(void) {
  g_autoptr(Material) m = material_new();
  static const size_t outcomes[] = {40, 4, 40, 4};
  static const double risks[] = {0.05, 0.15, 0.25, 0.35}, edges[] = {0.1, 0.2, 0.3};
  size_t n = 0;
  for (size_t b = 0; b < 4; b++)
    for (size_t i = 0; i < outcomes[b] + 40; i++, n++) {
      m->seen[n] = risks[b];
      m->labels[n] = i < outcomes[b];
    }
  g_autoptr(DemurFederateRound) round =
      start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
  set_cuts(round, NULL, 0, edges, 3);
  const DemurFederateScans scans = scans_of(m, round, 0, n);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(round, "east", &scans, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(answer->n_groups, ==, 2);
  g_assert_cmpuint(answer->groups[0].n_cells, ==, 1);
  g_assert_cmpfloat(answer->groups[0].positives, ==, 40.0);
  g_assert_cmpuint(answer->groups[1].n_cells, ==, 3);
  g_assert_cmpfloat(answer->groups[1].positives, ==, 48.0);
}

/* Many tables: a group is of 10 scans of each label or more, of neighbours, and the groups are all scans. */
static void
test_no_group_is_small(void) {
  g_autoptr(Material) m = material_new();
  size_t n_joined = 0;
  for (guint t = 0; t < 200; t++) {
    DemurRandom random = demur_random_stream(t, DEMUR_STREAM_AUDIT, 2, 0, 0);
    double thresholds[] = {1.0, 0.5, 0.0}, edges[4];
    thresholds[0] -= 0.2 * demur_random_uniform(&random);
    thresholds[1] += 0.3 * (demur_random_uniform(&random) - 0.5);
    thresholds[2] += 0.1 * demur_random_uniform(&random);
    for (size_t e = 0; e < 4; e++)
      edges[e] = ((double)e + demur_random_uniform(&random)) / 5.0;
    g_autoptr(DemurFederateRound) round =
        start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
    set_cuts(round, thresholds, 3, edges, 4);
    g_autofree char *text = demur_federate_round_write(round);
    for (size_t s = 0; s < N_SITES; s++) {
      g_autoptr(DemurFederateAnswer) answer = answer_of(m, round, s);
      double n = 0.0;
      for (size_t g = 0; g < answer->n_groups; g++) {
        const DemurFederateGroup *group = &answer->groups[g];
        n_joined += group->n_cells > 1;
        n += group->n;
        g_assert_cmpfloat(group->positives, >=, 10.0);
        g_assert_cmpfloat(group->n - group->positives, >=, 10.0);
        assert_neighbours(round, group);
      }
      g_assert_cmpfloat(n, ==, (double)(begin_of(s + 1) - begin_of(s)));
    }
  }
  g_assert_cmpuint(n_joined, >, 100);
}

static void
assert_refused(GError **error, const char *part) {
  g_assert_error(*error, DEMUR_ERROR, (*error)->code);
  if (strstr((*error)->message, part) == NULL)
    g_error("'%s' does not say '%s'", (*error)->message, part);
  g_clear_error(error);
}

/* Few outcomes: nothing is told, and the coordinator is made to say that it goes on without. */
static void
test_a_small_site_tells_nothing(void) {
  g_autoptr(Material) m = material_new();
  size_t kept = 0;
  for (size_t i = 700; i < N; i++)
    m->labels[i] = m->labels[i] == 1 && kept++ < 9;
  g_autoptr(DemurFederateRound) round = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
  g_autofree char *text = demur_federate_round_write(round);
  g_autoptr(DemurFederateAnswer) answer = answer_of(m, round, 2);
  g_assert_true(answer->withheld);
  g_assert_cmpuint(answer->n, ==, 0);
  g_assert_cmpuint(answer->n_sums, ==, 0);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateRound) next = NULL;
  g_autoptr(DemurFederateResult) result = NULL;
  g_assert_false(merge(m, round, -1, &next, &result, &error));
  assert_refused(&error, "withholds its sums");
  g_assert_true(merge(m, round, 2, &next, &result, &error));
  g_assert_cmpfloat(result->n, ==, 700.0);
}

static void
test_answers_are_asked_once_of_each(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(DemurFederateRound) round = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
  g_autofree char *text = demur_federate_round_write(round);
  DemurFederateAnswer *all[] = {answer_of(m, round, 0), answer_of(m, round, 1),
                                answer_of(m, round, 2), answer_of(m, round, 1)};
  char *const north[] = {(char[]){"north"}, NULL}, *const south[] = {(char[]){"south"}, NULL},
              *const two[] = {(char[]){"north"}, (char[]){"west"}, NULL};
  const struct {
    size_t n;
    char *const *without;
    const char *says;
  } rows[] = {{4, NULL, "d: 'north' answers in b already"},
              {2, NULL, "'west' does not answer"},
              {3, north, "b: 'north' is left out, and answers"},
              {3, south, "'south' is left out, and was not asked"},
              {1, two, "fewer than two sites"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    DemurFederateRound *next = NULL;
    DemurFederateResult *result = NULL;
    g_assert_false(demur_federate_merge(round, all, paths, rows[i].n, rows[i].without, &next,
                                        &result, &error));
    assert_refused(&error, rows[i].says);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
    demur_federate_answer_free(all[i]);
}

/* One site's scans under two names, in each kind of study: its sums would count twice. */
static void
test_two_sites_have_two_sums(void) {
  g_autoptr(Material) m = material_new();
  for (DemurFederateStudy study = 0; study < DEMUR_N_FEDERATE_STUDIES; study++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurFederateRound) round =
        start(study,
              study == DEMUR_FEDERATE_RECALIBRATION ? DEMUR_RECALIBRATION_PLATT
                                                    : DEMUR_RECALIBRATION_NONE,
              2);
    g_autofree char *text = demur_federate_round_write(round);
    DemurFederateAnswer *all[] = {answer_of(m, round, 0), answer_of(m, round, 1),
                                  answer_of(m, round, 1)};
    g_free(all[2]->site);
    all[2]->site = g_strdup(site_names[2]);
    DemurFederateRound *next = NULL;
    DemurFederateResult *result = NULL;
    g_assert_false(demur_federate_merge(round, all, paths, 3, NULL, &next, &result, &error));
    assert_refused(&error, "the same sums");
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
      demur_federate_answer_free(all[i]);
  }
}

/* A name from a document is printed at every site: no line of its own, nothing that steers. */
static void
test_sites_names_are_shown_as_they_are(void) {
  static const char *const wrong[] = {"a\nb",
                                      "a\tb",
                                      "\x1b[2J",
                                      "a\u202eb",
                                      "a\u2066b",
                                      "a\xc2\x85"
                                      "b"};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(GError) error = NULL;
    char *const names[] = {(char *)wrong[i], (char[]){"north"}, NULL};
    g_autoptr(DemurFederateRound) round = demur_federate_round_new(
        DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, "digest", 2, names, 0, NULL, 0);
    g_autofree char *text = demur_federate_round_write(round);
    g_assert_null(demur_federate_round_read(text, -1, &error));
    assert_refused(&error, "control characters");
  }
}

static void
test_foreign_and_edited_documents_are_refused(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateRound) first =
      start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
  g_autofree char *text = demur_federate_round_write(first);
  g_autoptr(DemurFederateRound) second = NULL;
  g_autoptr(DemurFederateResult) result = NULL;
  g_assert_true(merge(m, first, -1, &second, &result, &error));
  g_autofree char *second_text = demur_federate_round_write(second);
  g_autoptr(DemurFederateAnswer) answer = answer_of(m, first, 0);
  g_autofree char *written = demur_federate_answer_write(first, answer);
  g_assert_null(demur_federate_answer_read(second, written, -1, &error));
  assert_refused(&error, "another round (1, here 2)");
  g_autoptr(DemurFederateRound) other = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
  g_autofree char *other_text = demur_federate_round_write(other);
  g_assert_null(demur_federate_answer_read(other, written, -1, &error));
  assert_refused(&error, "another study");
  g_free(other->selector);
  other->selector = g_strdup("another");
  g_assert_null(demur_federate_answer_read(other, written, -1, &error));
  assert_refused(&error, "another selector");
  static const char *const edits[][2] = {{"\"site\": \"east\"", "\"site\": \"west\""},
                                         {"\"n\": 400", "\"n\": 401"},
                                         {"\"withheld\": false", "\"withheld\": true"},
                                         {"\"sums\": [", "\"sums\": [1"},
                                         {"\"groups\": []", "\"groups\": [1]"},
                                         {"\"digest\": \"", "\"digest\": \"0"},
                                         {"\"version\": 2", "\"version\": 1"},
                                         {"\"simulated\": false", "\"simulated\": true"},
                                         {"\"site\": \"east\"", "\"site\": \"south\""},
                                         {"demur-answer", "demur-round"}};
  for (size_t i = 0; i < G_N_ELEMENTS(edits); i++) {
    g_auto(GStrv) pieces = g_strsplit(written, edits[i][0], 2);
    g_assert_cmpuint(g_strv_length(pieces), ==, 2);
    g_autofree char *edited = g_strconcat(pieces[0], edits[i][1], pieces[1], NULL);
    g_assert_null(demur_federate_answer_read(first, edited, -1, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
  }
  static const char *const round_edits[][2] = {
      {"\"kind\": \"platt\"", "\"kind\": \"intercept\""},
      {"\"round\": 2", "\"round\": 3"},
      {"\"at\": [", "\"at\": [1"},
      {"\"west\"", "\"east\""},
      {"\"study\": \"recalibration\"", "\"study\": \"audit\""},
      {"\"scale\": 1", "\"scale\": 0.5"}};
  for (size_t i = 0; i < G_N_ELEMENTS(round_edits); i++) {
    g_auto(GStrv) pieces = g_strsplit(second_text, round_edits[i][0], 2);
    g_assert_cmpuint(g_strv_length(pieces), ==, 2);
    g_autofree char *edited = g_strconcat(pieces[0], round_edits[i][1], pieces[1], NULL);
    g_assert_null(demur_federate_round_read(edited, -1, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
  }
}

/* A step as steep as a count of the scans beyond a risk is not answered. */
static void
test_steep_questions_are_refused(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(DemurFederateRound) round =
      start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
  round->newton->at[0] = 1e4;
  g_autofree char *text = demur_federate_round_write(round);
  const DemurFederateScans scans = scans_of(m, round, 0, 400);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_federate_answer(round, "east", &scans, &error));
  assert_refused(&error, "tell of few scans");
}

/* What is told of scans [first, end), as the ledger sees it. */
static gboolean
note(const Material *m, DemurFederateLedger *ledger, const DemurFederateRound *round, size_t first,
     size_t end, gboolean *known, GError **error) {
  const DemurFederateScans scans = scans_of(m, round, first, end);
  g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(round, "east", &scans, error);
  return answer != NULL && demur_federate_ledger_note(ledger, round, answer, &scans,
                                                      (const char *const *)m->names + first,
                                                      (const char *const *)m->persons + first,
                                                      "2026-01-01T00:00:00Z", known, error);
}

static void
test_two_answers_do_not_tell_of_few(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateLedger) first = demur_federate_ledger_new("salt");
  g_autoptr(DemurFederateRound) platt =
      start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
  g_autoptr(DemurFederateRound) audit = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
  g_autofree char *one = demur_federate_round_write(platt),
                  *two = demur_federate_round_write(audit);
  gboolean known;
  g_assert_true(note(m, first, platt, 0, 400, &known, &error));
  g_assert_false(known);
  g_autofree char *text = demur_federate_ledger_write(first);
  g_assert_null(strstr(text, "scan-")); /* it names nobody */
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_read(text, -1, &error);
  g_assert_no_error(error);
  g_assert_true(note(m, ledger, platt, 0, 400, &known, &error));
  g_assert_true(known); /* the same again */
  g_assert_false(note(m, ledger, platt, 0, 300, &known, &error));
  assert_refused(&error, "of other scans");
  g_assert_false(note(m, ledger, audit, 0, 397, &known, &error));
  assert_refused(&error, "fewer than 10");
  g_assert_false(note(m, ledger, audit, 3, 400, &known, &error));
  assert_refused(&error, "fewer than 10");
  g_assert_true(note(m, ledger, audit, 0, 400, &known, &error)); /* the same scans, another study */
  g_assert_true(note(m, ledger, audit, 0, 400, &known, &error));
  g_assert_true(known);
  m->labels[5] = 1 - m->labels[5];
  g_assert_false(note(m, ledger, audit, 0, 400, &known, &error));
  assert_refused(&error, "fewer than 10");
  m->labels[5] = 1 - m->labels[5];
  m->risks[7] *= 0.99;
  g_assert_false(note(m, ledger, audit, 0, 400, &known, &error));
  assert_refused(&error, "changed since");
  for (size_t i = 0; i < N; i++) /* all of them: no other scans by that */
    m->risks[i] *= 0.999;
  g_assert_false(note(m, ledger, audit, 0, 399, &known, &error));
  assert_refused(&error, "fewer than 10");
  g_autofree char *edited = g_strdup(text);
  *strstr(edited, "\"share\": 0") = ' ';
  g_assert_null(demur_federate_ledger_read(edited, -1, &error));
  g_assert_nonnull(error);
}

static void
test_one_evaluation_of_a_set(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
  const double half[] = {0.5}, near[] = {0.499}, edge[] = {0.3};
  gboolean known;
  for (size_t i = 0; i < 3; i++) {
    g_autoptr(DemurFederateRound) round =
        start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
    set_cuts(round, i == 1 ? near : half, 1, edge, 1);
    round->lambda = (double)i;
    round->number = i + 1; /* another study's digest */
    g_autofree char *text = demur_federate_round_write(round);
    g_assert_cmpint(note(m, ledger, round, 0, 400, &known, &error), ==, i != 1);
    if (i == 1)
      assert_refused(&error, "the few between");
  }
}

/* 40 scans hold 80 numbers; a round of Platt's map tells 6 of them, so the seventh is too much. */
static void
test_fewer_numbers_are_told_than_there_are(void) {
  g_autoptr(Material) m = material_new();
  for (size_t i = 0; i < 40; i++)
    m->labels[i] = i % 2;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
  gboolean known;
  for (size_t n = 1; n <= 7; n++) {
    g_autoptr(DemurFederateRound) round =
        start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
    round->number = n;
    g_autofree char *text = demur_federate_round_write(round);
    g_assert_cmpint(note(m, ledger, round, 0, 40, &known, &error), ==, n < 7);
  }
  assert_refused(&error, "as many numbers");
}

/* 377 scans, then 400: those between are of 12 and 11 patients, and in one band one. Cell by cell, or column
 * by column, the two would tell of it. Sums over all scans are of both. */
static void
test_parts_are_told_of_one_set(void) {
  static const DemurFederateStudy studies[] = {DEMUR_FEDERATE_EVALUATION, DEMUR_FEDERATE_CORRECTOR,
                                               DEMUR_FEDERATE_AUDIT};
  const double half[] = {0.5}, edge[] = {0.3};
  for (size_t k = 0; k < G_N_ELEMENTS(studies); k++) {
    g_autoptr(Material) m = material_new();
    g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
    for (size_t i = 377; i < 400; i++) {
      m->labels[i] = (gint32)(i % 2);
      m->scores[i] = i == 377 ? 0.9 : 0.1;
    }
    for (size_t n = 0; n < 2; n++) {
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurFederateRound) round = start(studies[k], DEMUR_RECALIBRATION_NONE, 2);
      if (studies[k] == DEMUR_FEDERATE_EVALUATION)
        set_cuts(round, half, 1, edge, 1);
      round->number = n + 1; /* another study's digest */
      g_autofree char *text = demur_federate_round_write(round);
      gboolean known;
      const gboolean may = n == 0 || studies[k] == DEMUR_FEDERATE_AUDIT;
      g_assert_cmpint(note(m, ledger, round, 0, n == 0 ? 377 : 400, &known, &error), ==, may);
      if (!may)
        assert_refused(&error, "some of which are among these");
    }
  }
}

/* All risks move a little and one scan goes: the two differ by that one. */
static void
test_moved_risks_make_no_other_scans(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
  gboolean known;
  for (size_t n = 0; n < 3; n++) {
    g_autoptr(DemurFederateRound) round =
        start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
    round->number = n + 1;
    g_autofree char *text = demur_federate_round_write(round);
    g_assert_cmpint(note(m, ledger, round, 0, n == 1 ? 399 : 400, &known, &error), ==, n == 0);
    if (n > 0)
      assert_refused(&error, n == 1 ? "fewer than 10" : "changed since");
    for (size_t i = 0; i < N; i++)
      m->risks[i] *= 0.9999;
  }
}

/* One embedding changes: neither the same round nor another with the same question is answered again, nor as
 * another site. */
static void
test_a_round_is_answered_once(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
  g_autoptr(DemurFederateRound)
      round = start(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, 2),
      other = start(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, 2);
  other->lambda = 4.0;
  g_autofree char *one = demur_federate_round_write(round),
                  *two = demur_federate_round_write(other);
  gboolean known;
  g_assert_true(note(m, ledger, round, 0, 400, &known, &error));
  const DemurFederateScans scans = scans_of(m, round, 0, 400);
  g_autoptr(DemurFederateAnswer) twin = demur_federate_answer(round, "west", &scans, &error);
  g_assert_false(
      demur_federate_ledger_note(ledger, round, twin, &scans, (const char *const *)m->names,
                                 (const char *const *)m->persons, "2026", &known, &error));
  assert_refused(&error, "as site 'east'");
  const double was = m->inputs[5 * WIDTH];
  m->inputs[5 * WIDTH] = 0.125;
  g_assert_false(note(m, ledger, round, 0, 400, &known, &error));
  assert_refused(&error, "with other sums");
  g_assert_false(note(m, ledger, other, 0, 400, &known, &error));
  assert_refused(&error, "changed since");
  g_free(other->selector); /* whose columns are others at one scan */
  other->selector = g_strdup("another");
  g_free(demur_federate_round_write(other));
  g_assert_false(note(m, ledger, other, 0, 400, &known, &error));
  assert_refused(&error, "with another selector");
  g_free(other->selector);
  other->selector = g_strdup("selector");
  g_free(demur_federate_round_write(other));
  m->inputs[5 * WIDTH] = was;
  g_assert_true(note(m, ledger, round, 0, 400, &known, &error));
  g_assert_true(known);
  g_assert_true(note(m, ledger, other, 0, 400, &known, &error));
  g_assert_false(known);
}

/* 50 scans with the outcome of one patient, a band of nine patients, a column's value of nine; and two sets
 * that differ by many scans of one. */
static void
test_scans_of_few_patients_are_withheld(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  const double half[] = {0.5};
  for (size_t wanted = 9; wanted <= 10; wanted++) {
    g_autoptr(DemurFederateRound) audit = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
    g_autofree char *text = demur_federate_round_write(audit);
    for (size_t i = 0; i < 400; i++) {
      m->labels[i] = i < 50;
      m->patients[i] = (guint32)(i < 50 ? i % wanted : i);
    }
    const DemurFederateScans scans = scans_of(m, audit, 0, 400);
    g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(audit, "east", &scans, &error);
    g_assert_no_error(error);
    g_assert_cmpint(answer->withheld, ==, wanted == 9);
  }
  for (size_t wanted = 9; wanted <= 10; wanted++) {
    g_autoptr(DemurFederateRound) round =
        start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
    set_cuts(round, half, 1, NULL, 0);
    g_autofree char *text = demur_federate_round_write(round);
    for (size_t i = 0; i < 400; i++) {
      m->labels[i] = (gint32)(i % 2);
      m->scores[i] = i < 100 ? 0.9 : 0.1;
      m->patients[i] = (guint32)(i < 100 ? 2 * (i / 2 % wanted) + i % 2 : i);
      m->inputs[i * WIDTH + 1] = i < 100;
    }
    const DemurFederateScans scans = scans_of(m, round, 0, 400);
    g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(round, "east", &scans, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(answer->n_groups, ==, wanted == 9 ? 1 : 2);
    g_autoptr(DemurFederateRound) corrector =
        start(DEMUR_FEDERATE_CORRECTOR, DEMUR_RECALIBRATION_NONE, 2);
    const DemurFederateScans columned = scans_of(m, corrector, 0, 400);
    g_autoptr(DemurFederateAnswer) sums =
        demur_federate_answer(corrector, "east", &columned, &error);
    g_assert_cmpint(sums == NULL, ==, wanted == 9);
    g_clear_error(&error);
  }
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_new("salt");
  gboolean known;
  for (size_t i = 300; i < 400; i++) {
    g_free(m->persons[i]);
    m->persons[i] = g_strdup("person");
  }
  for (size_t n = 0; n < 2; n++) {
    g_autoptr(DemurFederateRound) audit = start(DEMUR_FEDERATE_AUDIT, DEMUR_RECALIBRATION_NONE, 2);
    audit->number = n + 1;
    g_autofree char *text = demur_federate_round_write(audit);
    g_assert_cmpint(note(m, ledger, audit, 0, n == 0 ? 300 : 400, &known, &error), ==, n == 0);
  }
  assert_refused(&error, "fewer than 10 patients");
}

/* Two bands of nine patients each with the outcome, the same nine: together they are nine, so the third band,
 * which has more, goes along. */
static void
test_joined_cells_are_of_many_patients(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  const double thresholds[] = {0.8, 0.6, 0.4};
  g_autoptr(DemurFederateRound) round =
      start(DEMUR_FEDERATE_EVALUATION, DEMUR_RECALIBRATION_NONE, 2);
  set_cuts(round, thresholds, 3, NULL, 0);
  g_autofree char *text = demur_federate_round_write(round);
  for (size_t i = 0; i < 400; i++) {
    m->scores[i] = i < 60 ? 0.9 : i < 120 ? 0.7 : i < 200 ? 0.5 : 0.1;
    m->labels[i] = (gint32)(i % 2);
    m->patients[i] = (guint32)(i < 120 && i % 2 == 1 ? i / 2 % 9 : i + 20);
  }
  const DemurFederateScans scans = scans_of(m, round, 0, 400);
  g_autoptr(DemurFederateAnswer) answer = demur_federate_answer(round, "east", &scans, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(answer->n_groups, ==, 2);
  g_assert_cmpuint(answer->groups[0].n_cells, ==, 3);
  g_assert_cmpfloat(answer->groups[0].n, ==, 200.0);
}

/* One site's simulated answer marks the rounds behind it and the result. */
static void
test_simulated_data_are_marked(void) {
  g_autoptr(Material) m = material_new();
  static const DemurFederateStudy studies[] = {DEMUR_FEDERATE_RECALIBRATION, DEMUR_FEDERATE_AUDIT};
  for (int simulated = 0; simulated < 2; simulated++)
    for (size_t k = 0; k < 2; k++) {
      m->simulated = simulated == 1;
      const DemurRecalibrationKind kind =
          k == 0 ? DEMUR_RECALIBRATION_PLATT : DEMUR_RECALIBRATION_NONE;
      g_autoptr(DemurFederateRound) round = start(studies[k], kind, 2);
      g_autofree char *text = demur_federate_round_write(round);
      g_autoptr(DemurFederateAnswer) answer = answer_of(m, round, 0);
      g_assert_cmpint(answer->simulated, ==, simulated);
      g_autoptr(DemurFederateResult) result = run(m, start(studies[k], kind, 2), 0);
      g_assert_cmpint(result->simulated, ==, simulated);
      g_autofree char *written = demur_federate_result_write(result, NULL);
      g_assert_nonnull(strstr(written, simulated ? "\"simulated\": true" : "\"simulated\": false"));
    }
}

/* The last step that may be, and derivatives that no function has. */
static void
test_how_a_fit_ends_is_told(void) {
  g_autoptr(Material) m = material_new();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateResult) right =
      run(m, start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2), 0);
  g_assert_cmpint(right->ending, ==, DEMUR_NEWTON_CONVERGED);
  g_autoptr(DemurFederateRound) round =
      start(DEMUR_FEDERATE_RECALIBRATION, DEMUR_RECALIBRATION_PLATT, 2);
  round->newton->begun = TRUE;
  round->newton->value = 1e9;
  round->newton->n_steps = 59;
  g_autofree char *text = demur_federate_round_write(round);
  g_autoptr(DemurFederateRound) next = NULL;
  g_autoptr(DemurFederateResult) result = NULL;
  g_assert_true(merge(m, round, -1, &next, &result, &error));
  g_assert_cmpint(result->ending, ==, DEMUR_NEWTON_STEPS);
  g_autofree char *written = demur_federate_result_write(result, NULL);
  g_assert_nonnull(strstr(written, "\"ending\": \"steps\""));
  round->newton->value = -1e9;
  round->newton->n_halvings = 39;
  g_clear_pointer(&result, demur_federate_result_free);
  g_assert_true(merge(m, round, -1, &next, &result, &error));
  g_assert_cmpint(result->ending, ==, DEMUR_NEWTON_HALVINGS);
  round->newton->begun = FALSE;
  DemurFederateAnswer *answers[] = {answer_of(m, round, 0), answer_of(m, round, 1),
                                    answer_of(m, round, 2)};
  for (size_t s = 0; s < N_SITES; s++)
    answers[s]->sums[3] = -1.0;
  DemurFederateResult *none = NULL;
  DemurFederateRound *no_next = NULL;
  g_assert_false(
      demur_federate_merge(round, answers, paths, N_SITES, NULL, &no_next, &none, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NUMERIC);
  for (size_t s = 0; s < N_SITES; s++)
    demur_federate_answer_free(answers[s]);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/federate/recalibration", test_recalibration_is_the_pooled_one);
  g_test_add_func("/federate/corrector", test_corrector_is_the_pooled_one);
  g_test_add_func("/federate/columns", test_columns_of_few_are_refused);
  g_test_add_func("/federate/audit", test_audit_is_the_pooled_one);
  g_test_add_func("/federate/evaluation", test_evaluation_is_the_pooled_one);
  g_test_add_func("/federate/small-cells", test_small_cells_stand_with_others);
  g_test_add_func("/federate/neighbours", test_few_go_along_with_a_neighbour);
  g_test_add_func("/federate/groups", test_no_group_is_small);
  g_test_add_func("/federate/small-site", test_a_small_site_tells_nothing);
  g_test_add_func("/federate/two-sums", test_two_sites_have_two_sums);
  g_test_add_func("/federate/shown", test_sites_names_are_shown_as_they_are);
  g_test_add_func("/federate/once", test_answers_are_asked_once_of_each);
  g_test_add_func("/federate/foreign", test_foreign_and_edited_documents_are_refused);
  g_test_add_func("/federate/steep", test_steep_questions_are_refused);
  g_test_add_func("/federate/ledger", test_two_answers_do_not_tell_of_few);
  g_test_add_func("/federate/one-evaluation", test_one_evaluation_of_a_set);
  g_test_add_func("/federate/numbers", test_fewer_numbers_are_told_than_there_are);
  g_test_add_func("/federate/persons", test_repeated_scans_do_not_count_as_persons);
  g_test_add_func("/federate/parts", test_parts_are_told_of_one_set);
  g_test_add_func("/federate/moved", test_moved_risks_make_no_other_scans);
  g_test_add_func("/federate/answered-once", test_a_round_is_answered_once);
  g_test_add_func("/federate/patients", test_scans_of_few_patients_are_withheld);
  g_test_add_func("/federate/joined", test_joined_cells_are_of_many_patients);
  g_test_add_func("/federate/simulated", test_simulated_data_are_marked);
  g_test_add_func("/federate/ending", test_how_a_fit_ends_is_told);
  return g_test_run();
}
