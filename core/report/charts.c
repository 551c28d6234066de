/* Charts by name, and what can be done with one. */
#include "report/charts-private.h"

#include "base/error.h"
#include "evaluation/grouping.h"
#include "evaluation/watch.h"
#include "report/chart-export.h"
#include "report/format.h"

#include <string.h>

#define MOST_ROWS 40 /* of a forest plot that stands by itself */

void
demur_chart_free(DemurChart *chart) {
  if (!chart)
    return;
  g_free(chart->title);
  g_ptr_array_unref(chart->owned);
  g_free(chart);
}

const char *
demur_chart_title(const DemurChart *chart) {
  return chart->title;
}

double
demur_chart_height(const DemurChart *chart, const DemurPalette *palette, double width) {
  return demur_chart_interface_height(chart->interface, &chart->data, palette, width);
}

void
demur_chart_draw(const DemurChart *chart, cairo_t *cr, const DemurPalette *palette,
                 DemurRectangle rectangle) {
  chart->interface->draw(&chart->data, cr, palette, rectangle);
}

DemurChartTable *
demur_chart_table(const DemurChart *chart) {
  return chart->interface->table(&chart->data);
}

char *
demur_chart_describe(const DemurChart *chart) {
  return chart->interface->describe(&chart->data);
}

/* ---- charts by name ---- */

typedef DemurChart *(*MakeFunc)(const DemurReportFinding *finding, const char *attribute,
                                int argument, GError **error);

static void
nothing_to_draw(const char *what, GError **error) {
  demur_error_set(error, DEMUR_ERROR_STATE, "there is nothing to draw: %s", what);
}

static DemurChart *
make_curve(const DemurReportFinding *f, const char *attribute, int measure, GError **error) {
  const gboolean multi = f->evaluation->n_classes > 2;
  const char *words = demur_measure_row((DemurMeasure)measure)->title;
  g_autofree char *title =
      measure == DEMUR_MEASURE_BRIER || measure == DEMUR_MEASURE_SITE_ERROR ? g_strdup(words)
      : measure == DEMUR_MEASURE_ACCURACY
          ? g_strdup(multi ? "Accuracy of the top class" : "Accuracy at risk .5")
          : g_strdup_printf("%s %s", words, demur_text_measure(measure, f->evaluation->n_classes));
  return demur_chart_coverage_curve(f, measure, title, DEMUR_N_SERIES);
}

static DemurChart *
make_reliability(const DemurReportFinding *f, const char *attribute, int everything,
                 GError **error) {
  const DemurOperatingPoint *at = everything ? f->full_at : f->subject_at;
  if (!at) {
    nothing_to_draw(N_("no operating point of that coverage was evaluated"), error);
    return NULL;
  }
  const char *label = demur_chart_method_label(f, everything ? f->full : f->subject);
  g_autofree char *percent = demur_text_coverage(everything ? 1 : f->coverage);
  g_autofree char *scans = demur_text_counted(at->n_counted > 0 ? at->n_counted : at->n_accepted,
                                              "scan", "scans"); /* that the bins are of */
  g_autofree char *yes = f->evaluation->n_classes > 2 ? NULL : demur_finding_label(f->input, 1);
  char *title = yes ? g_strdup_printf("Observed share with “%s” (%s, coverage %s: %s)", yes, label,
                                      percent, scans)
                    : g_strdup_printf("Share right (%s, coverage %s: %s)", label, percent, scans);
  return demur_chart_reliability(
      f, at, everything ? DEMUR_SERIES_EVERYTHING : DEMUR_SERIES_SELECTOR, label, title, 0);
}

static DemurChart *
make_histogram(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  DemurChart *chart = demur_chart_histogram(f, f->coverage);
  if (!chart)
    nothing_to_draw(N_("no method has an operating point of that coverage"), error);
  return chart;
}

static DemurChart *
make_distribution(const DemurReportFinding *f, const char *attribute, int argument,
                  GError **error) {
  DemurChart *chart = demur_chart_risk_distribution(f);
  if (!chart)
    nothing_to_draw(N_("no method has an operating point"), error);
  return chart;
}

/* Groups [from, to) by the attribute (NULL: by the first); none where from = to. */
static void
find_groups(const DemurEvaluation *e, const char *attribute, size_t *from, size_t *to) {
  for (*from = 0; *from < e->n_groups && attribute && !g_str_equal(e->groups[*from].by, attribute);)
    (*from)++;
  for (*to = *from; *to < e->n_groups && g_str_equal(e->groups[*to].by, e->groups[*from].by);)
    (*to)++;
}

static DemurChart *
make_group_bars(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  size_t from, to;
  find_groups(f->evaluation, attribute, &from, &to);
  DemurChart *chart = demur_chart_group_bars(f, from, to, MOST_ROWS);
  if (!chart)
    nothing_to_draw(N_("no group of that attribute has enough scans"), error);
  return chart;
}

static DemurChart *
make_rejection(const DemurReportFinding *f, const char *attribute, int kind, GError **error) {
  DemurChart *chart = demur_chart_rejection(f, f->coverage, (DemurRejectionKind)kind);
  if (!chart)
    nothing_to_draw(N_("no method has an operating point of that coverage"), error);
  return chart;
}

static DemurChart *
make_forest(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  const DemurReportInput *input = f->input;
  size_t from = 0, to;
  if (input->n_rejections == 0) {
    nothing_to_draw(N_("refusals by subgroup were not evaluated"), error);
    return NULL;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < input->n_rejections; i++)
    if (i == 0 ||
        g_strcmp0(input->rejections[i].attribute, input->rejections[i - 1].attribute) != 0)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", input->rejections[i].attribute);
  while (attribute && from < input->n_rejections &&
         g_strcmp0(input->rejections[from].attribute, attribute) != 0)
    from++;
  if (from == input->n_rejections) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there are no subgroups by '%s' here; there are: %s", attribute, names->str);
    return NULL;
  }
  for (to = from; to < input->n_rejections && g_strcmp0(input->rejections[to].attribute,
                                                        input->rejections[from].attribute) == 0;)
    to++;
  return demur_chart_forest(f, from, to, MOST_ROWS);
}

static DemurChart *
make_oe_forest(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  size_t from, to;
  find_groups(f->evaluation, attribute, &from, &to);
  DemurChart *chart = demur_chart_oe_forest(f, from, to, MOST_ROWS);
  if (!chart)
    nothing_to_draw(N_("no group of that attribute has enough accepted scans of each label"),
                    error);
  return chart;
}

static DemurChart *
make_decision(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  DemurChart *chart = demur_chart_decision_curve(f);
  if (!chart)
    nothing_to_draw(N_("a decision curve is of two labels, with an operating point"), error);
  return chart;
}

static DemurChart *
make_risk(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  DemurChart *chart = demur_chart_risk_over_time(f);
  if (!chart)
    nothing_to_draw(N_("the cohort has no yearly risks (risk_year_1 ..) with years of follow-up"),
                    error);
  return chart;
}

static DemurChart *
make_flow(const DemurReportFinding *f, const char *attribute, int argument, GError **error) {
  return demur_chart_cohort_flow(f);
}

/* Of a watch of the selector; argument: the signal, DEMUR_N_WATCH for all of them. */
static DemurChart *
make_watch(const DemurReportFinding *f, const char *site, int signal, GError **error) {
  DemurChart *chart = demur_chart_watch(f->input->use, site, (DemurWatchSignal)signal);
  if (!chart)
    nothing_to_draw(N_("no watch of the selector looks at it there (`demur watch show`)"), error);
  return chart;
}

static DemurChart *
make_acceptance(const DemurReportFinding *f, const char *site, int argument, GError **error) {
  DemurChart *chart = demur_chart_acceptance(f->input->use, site);
  if (!chart)
    nothing_to_draw(
        N_("no local acceptance test of the selector has labels of ten patients with and "
           "ten without the outcome (`demur accept run`)"),
        error);
  return chart;
}

#define WATCHED(id, name, title, signal_kind)                                                      \
  {{"watch-" name, "Evidence of a change over time: " name, NULL, TRUE},                           \
   make_watch,                                                                                     \
   DEMUR_WATCH_##id},

static const struct {
  DemurChartKind kind;
  MakeFunc make;
  int argument;
} kinds[] = {
    {{"coverage-sbce2", "Calibration error S-BCE₂ (S-TCE₂) against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_SBCE2},
    {{"coverage-sbceinf", "Largest bin error S-BCE∞ (S-TCE∞) against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_SBCEINF},
    {{"coverage-brier", "Brier score against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_BRIER},
    {{"coverage-accuracy", "Accuracy against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_ACCURACY},
    {{"coverage-site-error", "Site error against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_SITE_ERROR},
    {{"coverage-smmce", "Kernel calibration error S-MMCE against coverage", NULL, FALSE},
     make_curve,
     DEMUR_MEASURE_SMMCE},
    {{"reliability", "Reliability of the accepted scans", NULL, FALSE}, make_reliability, FALSE},
    {{"reliability-everything", "Reliability of all scans", NULL, FALSE}, make_reliability, TRUE},
    {{"confidence-histogram", "Risks (confidences) of accepted scans against all", NULL, FALSE},
     make_histogram,
     0},
    {{"risk-distribution", "Risks (confidences) of accepted scans at each coverage", NULL, FALSE},
     make_distribution,
     0},
    {{"per-shift", "Calibration error in each perturbation or another group", DEMUR_COHORT_SHIFT,
      FALSE},
     make_group_bars,
     0},
    {{"rejection-shares", "Each label's share of the refused", NULL, FALSE},
     make_rejection,
     DEMUR_REJECTION_SHARES},
    {{"rejection-rates", "Share of each label that is refused", NULL, FALSE},
     make_rejection,
     DEMUR_REJECTION_RATES},
    {{"forest", "Refusals by site or another subgroup", "site", FALSE}, make_forest, 0},
    {{"forest-oe", "Observed over expected outcomes by site or another subgroup", "site", FALSE},
     make_oe_forest,
     0},
    {{"decision-curve", "Net benefit of treating by risk, all scans and accepted", NULL, FALSE},
     make_decision,
     0},
    {{"risk-over-time", "Yearly risk and observed share by years after the scan", NULL, FALSE},
     make_risk,
     0},
    {{"cohort-flow", "From the cohort to the result", NULL, FALSE}, make_flow, 0},
    {{"acceptance", "Local acceptance test: observed over expected by label", NULL, TRUE},
     make_acceptance,
     0},
    {{"watch-signals", "Evidence of a change over time: every signal", NULL, TRUE},
     make_watch,
     DEMUR_N_WATCH},
    DEMUR_WATCH_SIGNALS(WATCHED)};

const DemurChartKind *
demur_chart_kind(size_t i) {
  return i < G_N_ELEMENTS(kinds) ? &kinds[i].kind : NULL;
}

static void
unknown_chart(const char *name, GError **error) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    g_string_append_printf(names, "%s%s", i ? ", " : "", kinds[i].kind.name);
  demur_error_set(error, DEMUR_ERROR_USAGE, "there is no chart '%s'; there are: %s", name,
                  names->str);
}

DemurChart *
demur_chart_new(const char *name, const DemurReportInput *input, double coverage,
                const char *attribute, GError **error) {
  size_t kind = 0;
  while (kind < G_N_ELEMENTS(kinds) && strcmp(kinds[kind].kind.name, name) != 0)
    kind++;
  if (kind == G_N_ELEMENTS(kinds)) {
    unknown_chart(name, error);
    return NULL;
  }
  if (kinds[kind].kind.of_use) {
    const DemurReportFinding use = {.input = input};
    return kinds[kind].make(&use, attribute, kinds[kind].argument, error);
  }
  if (!input->evaluation || input->evaluation->n_methods == 0) {
    nothing_to_draw(N_("the evaluation holds no method"), error);
    return NULL;
  }
  DemurReportInput at_coverage = *input;
  if (coverage > 0)
    at_coverage.coverage = coverage;
  DemurReportFinding finding = demur_finding(&at_coverage);
  finding.input = input; /* outlives the chart, unlike the copy; its coverage is not read again */
  return kinds[kind].make(&finding, attribute, kinds[kind].argument, error);
}

/* ---- files ---- */

gboolean
demur_chart_simulated(const DemurReportInput *input) {
  gboolean simulated = input->evaluation && input->evaluation->simulated;
  for (size_t i = 0; input->use && i < input->use->n_watches; i++)
    simulated |= input->use->watches[i].simulated;
  for (size_t i = 0; input->use && i < input->use->n_acceptances; i++)
    simulated |= input->use->acceptances[i].simulated;
  return simulated;
}

char *
demur_chart_caption(const DemurReportInput *input) {
  const DemurEvaluation *e = input->evaluation;
  if (!e) /* of what became of a selector in use */
    return g_strdup_printf(
        "%sselector %s · demur %s", demur_chart_simulated(input) ? "Simulated data · " : "",
        demur_text_recorded(input->selector.name), input->version ? input->version : "");
  g_autofree char *digest = demur_text_digest(e->digest);
  return g_strdup_printf("%s%scohort %s, split %s · demur %s · rows %s",
                         e->simulated ? "Simulated data · " : "",
                         e->in_sample ? "In-sample · " : "", e->cohort, e->split,
                         input->version ? input->version : "", digest);
}

const DemurChartKind *
demur_chart_check(const char *name, const char *path, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kinds[i].kind.name, name) == 0)
      return demur_chart_export_check(path, error) ? &kinds[i].kind : NULL;
  unknown_chart(name, error);
  return NULL;
}

gboolean
demur_chart_write(const DemurChart *chart, const char *path, const char *caption, GError **error) {
  const DemurChartPicture picture = {.interface = chart->interface,
                                     .data = &chart->data,
                                     .name = chart->title,
                                     .caption = caption};
  return demur_chart_export(&picture, path, error);
}
