/* The order of the report: summary, cohort, results, threshold, method and provenance, limits. Each
 * section is one function that adds its blocks; what it says comes from finding.c and the charts.
 */
#include "report/pages.h"

#include "report/charts.h"
#include "report/checklist.h"
#include "report/format.h"
#include "report/reliability.h"

#include <math.h>
#include <string.h>

#define MARGIN_X 46.0
#define HEADER_Y 34.0
#define BAND_HEIGHT 17.0
#define SUMMARY_ROOM 420.0  /* the cohort begins below the summary only on a page of little else */
#define SUMMARY_CHART 162.0 /* height of the summary's charts, and how low they may be made */
#define SUMMARY_CHART_LEAST 112.0 /* so that it stands on one page */
#define SECTION_ROOM 200.0        /* a section begins on the page before where that much is left */
#define MOST_GROUPS 25            /* sites and scanners in print; the rest are summed in one row */

static const double shown_coverages[] = {0.9, 0.7, 0.5};

typedef struct {
  const DemurReportInput *input;
  const DemurEvaluation *e;
  DemurReportFinding finding;
  DemurLayout *layout;
  char *digest;
  char *sentence; /* scratch */
  double width, height;
} Pages;

/* ---- tables from growing lists of cells ---- */

typedef struct {
  GPtrArray *cells;
  GArray *bold;
} Rows;

static Rows
rows_new(void) {
  return (Rows){g_ptr_array_new_with_free_func(g_free),
                g_array_new(FALSE, FALSE, sizeof(gboolean))};
}

/* Takes the text over. */
static void
add_cell(Rows *rows, char *text) {
  g_ptr_array_add(rows->cells, text);
}

static void
end_row(Rows *rows, gboolean bold) {
  g_array_append_val(rows->bold, bold);
}

/* Adds the table and frees the rows. */
static void
add_table(Pages *p, Rows *rows, size_t n_columns, const DemurLayoutColumn *columns) {
  demur_layout_table(p->layout, n_columns, columns, rows->bold->len,
                     (const char *const *)rows->cells->pdata,
                     (const gboolean *)(void *)rows->bold->data);
  g_ptr_array_unref(rows->cells);
  g_array_unref(rows->bold);
}

static char *
or_unrecorded(const char *text) {
  return g_strdup(text && *text ? text : "not recorded");
}

static void
add_pair(Rows *rows, const char *key, char *value) {
  add_cell(rows, g_strdup(key));
  add_cell(rows, value);
  end_row(rows, FALSE);
}

static void
add_pairs_table(Pages *p, Rows *rows, const char *key, const char *value) {
  const DemurLayoutColumn columns[] = {{key, FALSE, 150, FALSE}, {value, FALSE, 200, TRUE}};
  add_table(p, rows, 2, columns);
}

G_GNUC_PRINTF(3, 4)
static void
add_text(Pages *p, DemurTextStyle style, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  demur_layout_text(p->layout, style, text);
}

/* ---- figures ---- */

static void
figure_draw(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle,
            gconstpointer data) {
  demur_chart_draw(data, cr, palette, rectangle);
}

static void
figure_free(gpointer data) {
  demur_chart_free(data);
}

/* Takes the chart over. */
static DemurLayoutFigure
chart_figure(DemurChart *chart) {
  return (DemurLayoutFigure){figure_draw, chart, figure_free, demur_chart_alternative(chart)};
}

static void
add_chart(Pages *p, double height, DemurChart *chart) {
  const DemurLayoutFigure figure = chart_figure(chart);
  demur_layout_figures(p->layout, height, 1, &figure);
}

static DemurLayoutFigure
curve_figure(const Pages *p, DemurMeasure measure, const char *title) {
  return chart_figure(demur_chart_coverage_curve(&p->finding, (int)measure, title, DEMUR_N_SERIES));
}

/* A method's short name at a line or a panel. */
static const char *
short_title(const Pages *p, const DemurMethodResult *method) {
  return demur_chart_method_label(&p->finding, method);
}

/* ---- 1. summary ---- */

/* "25 trials (5 models x 5 resamples by patient)", owned. */
static char *
trial_words(const DemurEvaluation *e) {
  return g_strdup_printf("%zu trials (%zu %s × %zu resamples by %s)", e->n_models * e->n_resamples,
                         e->n_models, e->n_models == 1 ? "model" : "models", e->n_resamples,
                         e->resample_unit ? e->resample_unit : "scan");
}

static void
add_key_figures(Pages *p) {
  const DemurReportFinding *f = &p->finding;
  const DemurOperatingPoint *at = f->subject_at;
  char *texts[8] = {NULL};
  g_autofree char *asked = demur_text_coverage(f->coverage);
  texts[0] = demur_text_percent(at ? at->realised : NAN, 1);
  g_autofree char *threshold = demur_text_significant(at ? at->threshold : NAN, 3);
  texts[1] = g_strdup_printf("coverage reached (asked: %s; threshold %s, %s)", asked, threshold,
                             f->tuned ? "tuned" : "from this split's scores");
  texts[2] = demur_text_decimal(at ? at->measures[DEMUR_MEASURE_SBCE2] : NAN, 3);
  g_autofree char *floor_text = demur_text_decimal(at ? at->noise_floor : NAN, 3);
  texts[3] =
      at && isfinite(at->noise_floor)
          ? g_strdup_printf("calibration error of what is shown (chance alone: %s)", floor_text)
          : g_strdup("calibration error of what is shown");
  if (p->e->n_classes == 2) {
    g_autofree char *yes = demur_finding_label(p->input, 1), *no = demur_finding_label(p->input, 0);
    g_autofree char *others = demur_text_percent(demur_finding_rate(at, 0), 1);
    if (isfinite(demur_finding_rate(at, 1)) || !isfinite(demur_finding_rate(at, 0))) {
      texts[4] = demur_text_percent(demur_finding_rate(at, 1), 1);
      texts[5] = g_strdup_printf("of “%s” refused, %s of “%s”", yes, others, no);
    } else {
      texts[4] = g_strdup(others);
      texts[5] = g_strdup_printf("of “%s” refused; there is no “%s”", no, yes);
    }
  } else {
    g_autofree char *full = demur_text_percent(
        f->full ? f->full->curve[DEMUR_MEASURE_ACCURACY][DEMUR_N_COVERAGES - 1].point : NAN, 1);
    texts[4] = demur_text_percent(at ? at->measures[DEMUR_MEASURE_ACCURACY] : NAN, 1);
    texts[5] = g_strdup_printf("of what is shown is right, %s of everything", full);
  }
  if (f->compared) {
    g_autofree char *d = demur_text_signed(f->plain->difference, 3),
                    *low = demur_text_signed(f->plain->low, 3),
                    *high = demur_text_signed(f->plain->high, 3),
                    *n_units = demur_text_count(f->plain->n_units);
    texts[6] = g_strdup(demur_comparison_verdict_words(f->verdict));
    texts[7] =
        isfinite(f->plain->low) && isfinite(f->plain->high)
            ? g_strdup_printf("against confidence: %s (%s to %s), resampling %s %s%s", d, low, high,
                              n_units, f->plain->unit, f->plain->n_units == 1 ? "" : "s")
            : g_strdup_printf("against confidence: %s, no interval", d);
  } else {
    texts[6] = g_strdup(DEMUR_TEXT_UNDEFINED);
    texts[7] = g_strdup("no comparison with confidence made");
  }
  demur_layout_key_figures(p->layout, 4, (const char *const *)texts);
  for (int i = 0; i < 8; i++)
    g_free(texts[i]);
}

/* "Observed share with “cancer”, accepted scans", owned. */
static char *
observed_words(const Pages *p) {
  if (p->e->n_classes > 2)
    return g_strdup("Share right, accepted scans");
  g_autofree char *yes = demur_finding_label(p->input, 1);
  return g_strdup_printf("Observed share with “%s”, accepted scans", yes);
}

static void
add_summary_charts(Pages *p) {
  DemurLayoutFigure figures[2];
  size_t n = 0;
  g_autofree char *title = g_strdup_printf(
      "Calibration error %s", demur_text_measure(DEMUR_MEASURE_SBCE2, p->e->n_classes));
  figures[n++] =
      chart_figure(demur_chart_coverage_curve(&p->finding, DEMUR_MEASURE_SBCE2, title, 3));
  if (p->finding.subject_at)
    figures[n++] = chart_figure(
        demur_chart_reliability(&p->finding, p->finding.subject_at, DEMUR_SERIES_SELECTOR,
                                short_title(p, p->finding.subject), observed_words(p), 0));
  demur_layout_figures(p->layout, SUMMARY_CHART, n, figures);
  g_autofree char *trials = trial_words(p->e);
  add_text(
      p, DEMUR_TEXT_NOTE,
      "Left: lines are the split as it is, bands mean ± sd of %s; resampling repeats scans, so "
      "bands may lie above their line; dotted upright: the coverage of this page. Right: "
      "95\u00a0%% "
      "Wilson intervals; on the dashed line risks and outcomes agree.",
      trials);
}

/* Raw and recalibrated risks stand side by side. */
static gboolean
both_kinds(const DemurEvaluation *e) {
  for (size_t i = 1; i < e->n_methods; i++)
    if (!e->methods[i].recalibrated != !e->methods[0].recalibrated)
      return TRUE;
  return FALSE;
}

/* A method's title, with its kind of risk below where both stand side by side; owned. */
static char *
method_words(const Pages *p, const DemurMethodResult *method, gboolean kinds) {
  const char *title = demur_finding_title(&p->finding, method);
  return kinds
             ? g_strdup_printf("%s\n%s risks", title, method->recalibrated ? "recalibrated" : "raw")
             : g_strdup(title);
}

/* "Refused, no cancer" (owned), a short label kept whole when the header is wrapped. */
static char *
refused_header(const char *label) {
  g_auto(GStrv) words = g_strsplit(label, " ", -1);
  g_autofree char *whole = g_strjoinv(g_utf8_strlen(label, -1) <= 14 ? "\u00a0" : " ", words);
  return g_strdup_printf("Refused, %s", whole);
}

/* Whether a method stands on the summary: all where they are few, else selectors, everything,
 * confidence, the nearest neighbours as the commonest outlier score, and expected miscalibration.
 */
static gboolean
on_summary(const Pages *p, const DemurMethodResult *method) {
  static const char *const names[] = {"full", "confidence", "knn", "mc"};
  if (!method->recalibrated != !p->finding.subject->recalibrated)
    return g_str_equal(method->name, "full"); /* what recalibrating alone does */
  gboolean shown = p->e->n_methods <= 6 || method == p->finding.subject ||
                   g_str_has_prefix(method->name, "selector:");
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    shown |= g_str_equal(method->name, names[i]);
  return shown;
}

/* Operating points of every method at one coverage; only the subject's kind of risk where brief. */
static void
add_operating_table(Pages *p, double coverage, gboolean brief) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  const gboolean kinds = both_kinds(e);
  g_autofree char *no = demur_finding_label(p->input, 0), *yes = demur_finding_label(p->input, 1);
  g_autofree char *refused0 = refused_header(no), *refused1 = refused_header(yes);
  DemurLayoutColumn columns[10];
  size_t n = 0;
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 110, FALSE};
  columns[n++] = (DemurLayoutColumn){"Coverage", TRUE, 0, FALSE};
  columns[n++] =
      (DemurLayoutColumn){demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes), TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Noise floor", TRUE, 0, FALSE};
  columns[n++] =
      (DemurLayoutColumn){demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes), TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Brier", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Accuracy", TRUE, 0, FALSE};
  if (binary) {
    columns[n++] = (DemurLayoutColumn){refused0, TRUE, 0, FALSE};
    columns[n++] = (DemurLayoutColumn){refused1, TRUE, 0, FALSE};
  }
  Rows rows = rows_new();
  gboolean few_bins = FALSE;
  for (size_t i = 0; i < e->n_methods; i++) {
    const DemurMethodResult *m = &e->methods[i];
    const DemurOperatingPoint *at = m == p->finding.subject && brief
                                        ? p->finding.subject_at
                                        : demur_finding_at(m, coverage, FALSE);
    if (!at || (brief && !on_summary(p, m)))
      continue;
    add_cell(&rows, method_words(p, m, kinds));
    add_cell(&rows, demur_text_percent(at->realised, 1));
    const gboolean few = at->n_bins < DEMUR_MAX_RELIABILITY_BINS;
    g_autofree char *error = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3);
    few_bins |= few;
    add_cell(&rows, few ? g_strdup_printf("%s\n%zu %s", error, at->n_bins,
                                          at->n_bins == 1 ? "bin" : "bins")
                        : g_strdup(error));
    add_cell(&rows, demur_text_decimal(at->noise_floor, 3));
    add_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_SBCEINF], 3));
    add_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_BRIER], 4));
    add_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_ACCURACY], 3));
    if (binary) {
      add_cell(&rows, demur_text_percent(demur_finding_rate(at, 0), 1));
      add_cell(&rows, demur_text_percent(demur_finding_rate(at, 1), 1));
    }
    end_row(&rows, m == p->finding.subject);
  }
  if (rows.bold->len == 0) {
    add_cell(&rows, g_strdup("no method has this coverage"));
    for (size_t i = 1; i < n; i++)
      add_cell(&rows, g_strdup(""));
    end_row(&rows, FALSE);
  }
  add_table(p, &rows, n, columns);
  if (few_bins && !brief) /* “read with care” says it there */
    add_text(p, DEMUR_TEXT_NOTE,
             "The number of bins stands where fewer than %d of at least %zu scans could be made.",
             DEMUR_MAX_RELIABILITY_BINS, e->min_bin_size);
}

/* The sentence without its full stop; owned by the layout's data. */
static const char *
without_stop(Pages *p, const char *sentence) {
  g_free(p->sentence);
  const size_t n = strlen(sentence);
  p->sentence = g_strndup(sentence, n > 0 && sentence[n - 1] == '.' ? n - 1 : n);
  return p->sentence;
}

static void
add_summary(Pages *p) {
  const DemurReportFinding *f = &p->finding;
  g_autofree char *headline = demur_finding_headline(f), *paragraph = demur_finding_paragraph(f);
  demur_layout_text(p->layout, DEMUR_TEXT_TITLE, headline);
  demur_layout_text(p->layout, DEMUR_TEXT_LEAD, paragraph);
  const DemurReportValidation *v = &p->input->validation;
  if (v->verdict) {
    add_text(p, DEMUR_TEXT_BODY,
             "Before this report, whole sites of cohort %s were left out of training in turn "
             "(`demur validate`): %s.",
             v->cohort ? v->cohort : "(not recorded)",
             v->sentence ? without_stop(p, v->sentence) : v->verdict);
    demur_layout_space(p->layout, 5);
  }
  add_key_figures(p);
  demur_layout_keep_begin(p->layout);
  add_summary_charts(p);
  demur_layout_keep_end(p->layout);
  g_autofree char *percent = demur_text_coverage(f->coverage);
  add_text(p, DEMUR_TEXT_HEADING, "Methods side by side at coverage %s", percent);
  add_operating_table(p, f->coverage, TRUE);
  add_text(p, DEMUR_TEXT_NOTE,
           "The split as it is (%s). Lower is better for the calibration errors and Brier. "
           "Noise floor: the error that "
           "perfectly calibrated risks would show by chance. “–”: undefined.",
           both_kinds(p->e)           ? "raw and recalibrated risks as said"
           : f->subject->recalibrated ? "recalibrated risks"
                                      : "raw risks");
  g_autoptr(GPtrArray) cares = demur_finding_cares(f);
  if (cares->len > 0) {
    add_text(p, DEMUR_TEXT_HEADING, "Read with care");
    for (guint i = 0; i < cares->len; i++)
      demur_layout_text(p->layout, DEMUR_TEXT_BODY, g_ptr_array_index(cares, i));
  }
  demur_layout_contents(p->layout);
  demur_layout_fit_page(p->layout, SUMMARY_CHART_LEAST);
}

/* ---- 2. cohort ---- */

static void
add_counts(Pages *p, const char *heading, const char *column, const DemurReportCount *counts,
           size_t n) {
  if (n == 0)
    return;
  demur_layout_text(p->layout, DEMUR_TEXT_HEADING, heading);
  Rows rows = rows_new();
  for (size_t i = 0; i < n; i++) {
    add_cell(&rows, g_strdup(counts[i].reason));
    add_cell(&rows, demur_text_count(counts[i].n));
    end_row(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{column, FALSE, 200, FALSE}, {"Number", TRUE, 0, FALSE}};
  add_table(p, &rows, 2, columns);
}

/* Largest first, ties by name. */
static int
compare_groups(gconstpointer a, gconstpointer b) {
  const DemurReportGroup *x = *(const DemurReportGroup *const *)a,
                         *y = *(const DemurReportGroup *const *)b;
  if (x->n_scans != y->n_scans)
    return x->n_scans > y->n_scans ? -1 : 1;
  return strcmp(x->name, y->name);
}

static void
add_groups(Pages *p, const char *heading, const char *column, const DemurReportGroup *groups,
           size_t n) {
  if (n == 0)
    return;
  add_text(p, DEMUR_TEXT_HEADING, "%s", heading);
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  for (size_t i = 0; i < n; i++)
    g_ptr_array_add(sorted, (gpointer)&groups[i]);
  g_ptr_array_sort(sorted, compare_groups);
  const gboolean binary = p->e->n_classes == 2;
  g_autofree char *yes = demur_finding_label(p->input, 1);
  g_autofree char *share = g_strdup_printf("Share “%s”", yes);
  Rows rows = rows_new();
  size_t shown = 0; /* the largest, none of them small */
  while (shown < MIN(n, MOST_GROUPS) &&
         ((const DemurReportGroup *)g_ptr_array_index(sorted, shown))->n_scans >=
             DEMUR_REPORT_SMALL_CELL)
    shown++;
  size_t scans = 0, patients = 0, labelled = 0, positive = 0, n_small = 0;
  for (size_t i = 0; i < n; i++) {
    const DemurReportGroup *g = g_ptr_array_index(sorted, i);
    if (i < shown) {
      add_cell(&rows, or_unrecorded(g->name));
      add_cell(&rows, demur_text_count(g->n_scans));
      add_cell(&rows, demur_text_count(g->n_patients));
      if (binary)
        add_cell(&rows,
                 demur_text_percent(
                     g->n_labelled ? (double)g->n_positive / (double)g->n_labelled : NAN, 1));
      end_row(&rows, FALSE);
      continue;
    }
    n_small += g->n_scans < DEMUR_REPORT_SMALL_CELL;
    scans += g->n_scans;
    patients += g->n_patients;
    labelled += g->n_labelled;
    positive += g->n_positive;
  }
  if (shown < n) {
    const gboolean few = scans < DEMUR_REPORT_SMALL_CELL;
    add_cell(&rows, shown > 0 ? g_strdup_printf("%zu smaller ones together", n - shown)
                              : g_strdup_printf("%zu together", n - shown));
    add_cell(&rows, few ? g_strdup("< 10") : demur_text_count(scans));
    add_cell(&rows, few ? g_strdup("< 10") : demur_text_count(patients));
    if (binary)
      add_cell(&rows,
               few ? g_strdup("withheld")
                   : demur_text_percent(labelled ? (double)positive / (double)labelled : NAN, 1));
    end_row(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{column, FALSE, 120, FALSE},
                                       {"Scans", TRUE, 0, FALSE},
                                       {"Patients", TRUE, 0, FALSE},
                                       {share, TRUE, 0, FALSE}};
  add_table(p, &rows, binary ? 4 : 3, columns);
  if (n_small > 0)
    add_text(p, DEMUR_TEXT_NOTE, "%zu of them, with fewer than %d scans each, are not shown apart.",
             n_small, DEMUR_REPORT_SMALL_CELL);
}

static void
add_cohort(Pages *p) {
  const DemurReportCohort *c = &p->input->cohort;
  const DemurEvaluation *e = p->e;
  demur_layout_page_break(p->layout, SUMMARY_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Cohort");
  g_autofree char *scans = demur_text_counted(e->n_scans, "scan", "scans"),
                  *patients = demur_text_counted(e->n_patients, "patient", "patients"),
                  *sites = demur_text_counted(e->n_sites, "site", "sites"),
                  *date = c->created ? demur_text_date(c->created) : NULL,
                  *made = date ? g_strdup_printf(", made on %s", date) : g_strdup("");
  add_text(p, DEMUR_TEXT_BODY,
           "Cohort %s (%s)%s. This report is about its split “%s”: %s of %s from %s. Risks "
           "come from the model %s.",
           c->name ? c->name : e->cohort, c->source ? c->source : "source not recorded", made,
           e->split, scans, patients, sites,
           c->model   ? c->model
           : e->model ? e->model
                      : "(name not recorded)");
  if (c->label_rule)
    demur_layout_text(p->layout, DEMUR_TEXT_BODY, c->label_rule);
  DemurChart *flow = demur_chart_cohort_flow(&p->finding);
  add_chart(p, demur_chart_height(flow, demur_palette_paper(), p->width - 2 * MARGIN_X), flow);
  if (c->n_exclusions > 0)
    add_counts(p, "Left out before the cohort was made", "Reason", c->exclusions, c->n_exclusions);
  else if (!c->simulated)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      c->exclusions_recorded
                          ? "The table was taken whole: nothing was left out when the cohort was "
                            "made. What was left out of the table is for the author to say."
                          : "What was left out before the cohort was made is not recorded.");
  add_counts(p, "Follow-up", "State", c->follow_up, c->n_follow_up);
  if (c->n_splits > 0) {
    demur_layout_text(p->layout, DEMUR_TEXT_HEADING, "Splits");
    Rows rows = rows_new();
    for (size_t i = 0; i < c->n_splits; i++) {
      const DemurReportSplit *s = &c->splits[i];
      add_cell(&rows, g_strdup(s->name));
      add_cell(&rows, demur_text_count(s->n_scans));
      add_cell(&rows, demur_text_count(s->n_patients));
      add_cell(&rows, demur_text_count(s->n_sites));
      add_cell(&rows, demur_text_count(s->n_labelled));
      if (e->n_classes == 2)
        add_cell(&rows, demur_text_percent(s->prevalence, 1));
      end_row(&rows, g_strcmp0(s->name, e->split) == 0);
    }
    g_autofree char *yes = demur_finding_label(p->input, 1);
    g_autofree char *share = g_strdup_printf("Share “%s”", yes);
    const DemurLayoutColumn columns[] = {{"Split", FALSE, 120, FALSE}, {"Scans", TRUE, 0, FALSE},
                                         {"Patients", TRUE, 0, FALSE}, {"Sites", TRUE, 0, FALSE},
                                         {"Labelled", TRUE, 0, FALSE}, {share, TRUE, 0, FALSE}};
    add_table(p, &rows, e->n_classes == 2 ? 6 : 5, columns);
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      "No patient stands in two splits. Bold: the split this report is about.");
  }
  if (e->n_classes > 2) {
    demur_layout_text(p->layout, DEMUR_TEXT_HEADING, "Labels");
    Rows rows = rows_new();
    for (size_t l = 0; l < e->n_classes; l++) {
      add_cell(&rows, demur_finding_label(p->input, l));
      add_cell(&rows, demur_text_percent(e->prevalence[l], 1));
      end_row(&rows, FALSE);
    }
    const DemurLayoutColumn columns[] = {{"Label", FALSE, 120, FALSE},
                                         {"Share of the split", TRUE, 0, FALSE}};
    add_table(p, &rows, 2, columns);
  }
  DemurChart *years = demur_chart_risk_over_time(&p->finding);
  if (years) {
    demur_layout_keep_begin(p->layout);
    add_text(p, DEMUR_TEXT_HEADING, "Risks and outcomes by year");
    add_chart(p, 150, years);
    add_text(p, DEMUR_TEXT_NOTE,
             "Over the scans whose yearly risk is recorded and whose outcome is known by then, "
             "accepted or not. Upright lines: 95\u00a0%% Wilson intervals of the observed share.");
    demur_layout_keep_end(p->layout);
  }
  add_groups(p, "Sites of this split", "Site", c->sites, c->n_sites);
  add_groups(p, "Scanners of this split", "Scanner", c->scanners, c->n_scanners);
}

/* ---- 3. results ---- */

static char *
estimate_text(const DemurEstimate *estimate, int decimals) {
  g_autofree char *point = demur_text_decimal(estimate->point, decimals);
  if (!isfinite(estimate->mean))
    return g_steal_pointer(&point);
  g_autofree char *spread = demur_text_mean_sd(estimate->mean, estimate->sd, decimals);
  return g_strdup_printf("%s\n%s", point, spread);
}

static void
add_auc_table(Pages *p) {
  const DemurEvaluation *e = p->e;
  DemurLayoutColumn columns[10];
  size_t n = 0;
  const gboolean kinds = both_kinds(e);
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 84, FALSE};
  for (int m = 0; m < DEMUR_N_MEASURES; m++) {
    columns[n++] = (DemurLayoutColumn){demur_text_measure(m, e->n_classes), TRUE, 0, FALSE};
    if (m == DEMUR_MEASURE_SBCE2) {
      columns[n++] = (DemurLayoutColumn){"Debiased", TRUE, 0, FALSE};
      columns[n++] = (DemurLayoutColumn){"Noise floor", TRUE, 0, FALSE};
    }
  }
  Rows rows = rows_new();
  for (size_t i = 0; i < e->n_methods; i++) {
    const DemurMethodResult *method = &e->methods[i];
    add_cell(&rows, method_words(p, method, kinds));
    for (int m = 0; m < DEMUR_N_MEASURES; m++) {
      add_cell(&rows, estimate_text(&method->auc[m], 3));
      if (m == DEMUR_MEASURE_SBCE2) {
        add_cell(&rows, demur_text_decimal(method->debiased_auc, 3));
        add_cell(&rows, demur_text_decimal(method->noise_floor_auc, 3));
      }
    }
    end_row(&rows, method == p->finding.subject);
  }
  add_table(p, &rows, n, columns);
}

static void
add_reliability(Pages *p) {
  const DemurReportFinding *f = &p->finding;
  DemurLayoutFigure figures[4];
  const DemurOperatingPoint *points[4] = {NULL};
  size_t n = 0;
  /* Everything shown is coverage 1, whatever coverage it is listed under. */
  if (f->full && f->full->n_at > 0)
    points[n++] = &f->full->at[0];
  for (size_t i = 0; i < G_N_ELEMENTS(shown_coverages); i++) {
    const DemurOperatingPoint *at =
        f->subject != f->full ? demur_finding_at(f->subject, shown_coverages[i], FALSE) : NULL;
    if (at)
      points[n++] = at;
  }
  if (n == 0)
    return;
  double end = 0;
  for (size_t i = 0; i < n; i++)
    end = fmax(end, points[i]->n_reliability > 0
                        ? demur_reliability_end(points[i]->n_reliability, points[i]->reliability)
                        : 0);
  for (size_t i = 0; i < n; i++) {
    const gboolean full = f->full && points[i] == &f->full->at[0];
    g_autofree char *percent = demur_text_coverage(full ? 1 : points[i]->coverage);
    g_autofree char *accepted = demur_text_counted(points[i]->n_accepted, "scan", "scans");
    const char *label = full ? "everything" : short_title(p, f->subject);
    figures[i] = chart_figure(demur_chart_reliability(
        &p->finding, points[i], full ? DEMUR_SERIES_EVERYTHING : DEMUR_SERIES_SELECTOR, label,
        g_strdup_printf("%s, coverage %s: %s", label, percent, accepted), end));
  }
  add_text(p, DEMUR_TEXT_HEADING, "Reliability of what is shown");
  demur_layout_keep_begin(p->layout);
  for (size_t i = 0; i < n; i += 2) {
    if (i > 0) { /* the last row stays with the note */
      demur_layout_keep_end(p->layout);
      demur_layout_keep_begin(p->layout);
    }
    demur_layout_figures(p->layout, 158, MIN(2, n - i), figures + i);
  }
  g_autofree char *yes = demur_finding_label(p->input, 1),
                  *observed = g_strdup_printf("Observed share with “%s”", yes);
  add_text(p, DEMUR_TEXT_NOTE,
           "%s against %s; one mark a bin of accepted scans (equal mass, at least %zu scans), with "
           "its 95\u00a0%% Wilson interval. On the dashed line the two agree. Model 1.",
           p->e->n_classes > 2 ? "Share of right predictions" : observed,
           p->e->n_classes > 2 ? "confidence" : "risk shown", p->e->min_bin_size);
  demur_layout_keep_end(p->layout);
}

static void
add_histograms(Pages *p) {
  gboolean any = FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(shown_coverages); i++) {
    DemurChart *chart = demur_chart_histogram(&p->finding, shown_coverages[i]);
    if (!chart)
      continue;
    if (!any)
      add_text(p, DEMUR_TEXT_HEADING, "How confident the accepted predictions are");
    any = TRUE;
    add_chart(p, 138, chart);
  }
  if (any)
    add_text(
        p, DEMUR_TEXT_NOTE,
        "Bars: accepted scans by confidence (largest class probability). Outline: all scans of the "
        "split. "
        "A method that only keeps sure predictions fills the right and leaves the left empty.");
}

static void
add_rejections(Pages *p) {
  gboolean any = FALSE, kept = FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(shown_coverages); i++) {
    DemurChart *shares =
        demur_chart_rejection(&p->finding, shown_coverages[i], DEMUR_REJECTION_SHARES);
    if (!shares)
      continue;
    const DemurLayoutFigure figures[2] = {
        chart_figure(shares), chart_figure(demur_chart_rejection(&p->finding, shown_coverages[i],
                                                                 DEMUR_REJECTION_RATES))};
    if (!any)
      add_text(p, DEMUR_TEXT_HEADING, "Who is refused, by label");
    any = TRUE;
    if (i + 1 == G_N_ELEMENTS(shown_coverages)) { /* with the note below */
      demur_layout_keep_begin(p->layout);
      kept = TRUE;
    }
    if (p->e->n_classes > 4) { /* many labels need the whole width */
      demur_layout_figures(p->layout, 150, 1, &figures[0]);
      demur_layout_figures(p->layout, 150, 1, &figures[1]);
    } else
      demur_layout_figures(p->layout, 150, 2, figures);
  }
  if (!any)
    return;
  add_text(p, DEMUR_TEXT_NOTE,
           "A method that refuses regardless of the outcome gives each label the share it has in "
           "all scans, and the same rate to every label. Upright lines: 95\u00a0%% bootstrap "
           "intervals.");
  if (kept)
    demur_layout_keep_end(p->layout);
  add_text(p, DEMUR_TEXT_HEADING, "Refusals in numbers");
  Rows rows = rows_new();
  const DemurMethodResult *methods[2] = {p->finding.subject, p->finding.confidence};
  gboolean left_out = FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(shown_coverages); i++)
    for (size_t m = 0; m < 2; m++) {
      const DemurOperatingPoint *at = demur_finding_at(methods[m], shown_coverages[i], FALSE);
      if (!at || (m == 1 && methods[1] == methods[0]) || methods[m] == p->finding.full)
        continue;
      if (p->e->n_classes > 4 && fabs(at->coverage - p->finding.coverage) > 1e-9) {
        left_out = TRUE; /* a row a label and method: the summary's coverage is enough in print */
        continue;
      }
      for (size_t l = 0; l < at->n_labels; l++) {
        const DemurRejection *r = &at->rejected_by_label[l];
        g_autofree char *low = demur_text_percent(r->rate_low, 1),
                        *high = demur_text_percent(r->rate_high, 1);
        add_cell(&rows, demur_text_coverage(at->coverage));
        add_cell(&rows, g_strdup(short_title(p, methods[m])));
        add_cell(&rows, demur_finding_label(p->input, l));
        add_cell(&rows, demur_text_count(r->n_all));
        add_cell(&rows, demur_text_count(r->n_rejected));
        add_cell(&rows, demur_text_percent(r->rate, 1));
        add_cell(&rows, isfinite(r->rate_low) && isfinite(r->rate_high)
                            ? g_strdup_printf("%s – %s", low, high)
                            : g_strdup(DEMUR_TEXT_UNDEFINED));
        add_cell(&rows, demur_text_percent(r->share_of_rejected, 1));
        add_cell(&rows, demur_text_percent(r->share_of_all, 1));
        end_row(&rows, FALSE);
      }
    }
  const DemurLayoutColumn columns[] = {{"Coverage", FALSE, 40, FALSE},
                                       {"Method", FALSE, 60, FALSE},
                                       {"Label", FALSE, 60, FALSE},
                                       {"Scans", TRUE, 0, FALSE},
                                       {"Refused", TRUE, 0, FALSE},
                                       {"Rate", TRUE, 0, FALSE},
                                       {"95\u00a0% interval", TRUE, 0, FALSE},
                                       {"Share of refused", TRUE, 0, FALSE},
                                       {"Share of all", TRUE, 0, FALSE}};
  add_table(p, &rows, G_N_ELEMENTS(columns), columns);
  if (left_out)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      "The other coverages' numbers are in the charts above and in the JSON.");
}

/* A method's title by its JSON name. */
static const char *
title_of(const Pages *p, const char *name, gboolean recalibrated) {
  const DemurMethodResult *method = demur_evaluation_method(p->e, name, recalibrated);
  return method ? demur_finding_title(&p->finding, method) : name;
}

static void
add_subgroups(Pages *p) {
  const DemurReportInput *input = p->input;
  if (input->n_rejections == 0)
    return;
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  add_text(p, DEMUR_TEXT_HEADING, "Who is refused, by subgroup, at coverage %s", coverage);
  gboolean any = FALSE;
  for (size_t from = 0, to; from < input->n_rejections; from = to) {
    to = from + 1;
    while (to < input->n_rejections &&
           g_strcmp0(input->rejections[to].attribute, input->rejections[from].attribute) == 0)
      to++;
    if (to == input->n_rejections) /* the last one and the note stay together */
      demur_layout_keep_begin(p->layout);
    size_t n_withheld = 0;
    for (size_t i = from; i < to; i++)
      n_withheld += input->rejections[i].n_scans < DEMUR_REPORT_SMALL_CELL;
    if (n_withheld == to - from) {
      g_autofree char *n = demur_text_counted(n_withheld, "group", "groups");
      add_text(p, DEMUR_TEXT_BODY, "By %s: %s, withheld: fewer than %d scans each.",
               input->rejections[from].attribute, n, DEMUR_REPORT_SMALL_CELL);
      continue;
    }
    DemurChart *chart = demur_chart_forest(&p->finding, from, to, MOST_GROUPS);
    add_chart(p, demur_chart_height(chart, demur_palette_paper(), p->width - 2 * MARGIN_X), chart);
    any = TRUE;
  }
  if (!any) {
    demur_layout_keep_end(p->layout);
    return;
  }
  add_text(p, DEMUR_TEXT_NOTE,
           "Dotted upright: the share refused over all. Diamond and bold: its interval leaves that "
           "share out; with many groups some do so by chance. Rates of groups with fewer than %d "
           "scans are withheld.",
           DEMUR_REPORT_SMALL_CELL);
  demur_layout_keep_end(p->layout);
}

/* "1.08 (.93 to 1.25)", owned. */
static char *
interval_text(double value, DemurInterval interval, int decimals) {
  g_autofree char *text = demur_text_decimal(value, decimals);
  if (!isfinite(value) || !isfinite(interval.low) || !isfinite(interval.high))
    return g_steal_pointer(&text);
  g_autofree char *low = demur_text_decimal(interval.low, decimals),
                  *high = demur_text_decimal(interval.high, decimals);
  return g_strdup_printf("%s\n%s to %s", text, low, high);
}

/* Calibration in the large and slope, discrimination and usefulness of what is shown. */
static void
add_extras(Pages *p) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  const DemurMethodResult *methods[3] = {p->finding.subject, p->finding.confidence,
                                         p->finding.full};
  Rows rows = rows_new();
  for (size_t m = 0; m < 3; m++) {
    const DemurOperatingPoint *at =
        m == 0 ? p->finding.subject_at : demur_finding_at(methods[m], p->finding.coverage, FALSE);
    if (!at || (m > 0 && methods[m] == methods[0]))
      continue;
    add_cell(&rows, g_strdup(short_title(p, methods[m])));
    add_cell(&rows, demur_text_percent(at->realised, 1));
    add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_OE_RATIO],
                                  at->extra_intervals[DEMUR_EXTRA_OE_RATIO], 2));
    if (binary) {
      add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_INTERCEPT],
                                    at->extra_intervals[DEMUR_EXTRA_INTERCEPT], 2));
      add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_SLOPE],
                                    at->extra_intervals[DEMUR_EXTRA_SLOPE], 2));
    }
    add_cell(&rows, demur_text_decimal(at->extra[DEMUR_EXTRA_ICI], 3));
    add_cell(&rows, interval_text(at->debiased, at->debiased_interval, 3));
    add_cell(&rows,
             interval_text(at->measures[DEMUR_MEASURE_SITE_ERROR], at->site_error_interval, 3));
    if (binary)
      add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_AUROC],
                                    at->extra_intervals[DEMUR_EXTRA_AUROC], 3));
    end_row(&rows, m == 0);
  }
  if (rows.bold->len == 0) {
    g_ptr_array_unref(rows.cells);
    g_array_unref(rows.bold);
    return;
  }
  g_autofree char *percent = demur_text_coverage(p->finding.coverage);
  add_text(p, DEMUR_TEXT_HEADING, "Calibration and discrimination of what is shown, at coverage %s",
           percent);
  DemurLayoutColumn columns[9];
  size_t n = 0;
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 70, FALSE};
  columns[n++] = (DemurLayoutColumn){"Coverage", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"O:E", TRUE, 0, FALSE};
  if (binary) {
    columns[n++] = (DemurLayoutColumn){"Intercept", TRUE, 0, FALSE};
    columns[n++] = (DemurLayoutColumn){"Slope", TRUE, 0, FALSE};
  }
  columns[n++] = (DemurLayoutColumn){"ICI", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Debiased error", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Site error", TRUE, 0, FALSE};
  if (binary)
    columns[n++] = (DemurLayoutColumn){"AUROC", TRUE, 0, FALSE};
  add_table(p, &rows, n, columns);
  add_text(
      p, DEMUR_TEXT_NOTE,
      "O:E: observed over expected outcomes, 1 is right. Intercept 0 and slope 1: calibrated. "
      "ICI: mean distance of a smooth calibration curve from the risk. Second line: 95\u00a0%% "
      "bootstrap interval, resampling %ss.",
      e->interval_unit ? e->interval_unit : "patient");
}

/* How well calibrated the accepted scans of each group are, the largest groups of each kind. */
static const DemurOperatingPoint *
group_point(const Pages *p, const DemurGroup *group) {
  const DemurReportFinding *f = &p->finding;
  for (size_t m = 0; m < group->n_methods; m++) {
    const DemurGroupMethod *method = &group->methods[m];
    if (!g_str_equal(method->name, f->subject->name) ||
        !method->recalibrated != !f->subject->recalibrated)
      continue;
    for (size_t a = 0; a < method->n_at && f->subject_at; a++)
      if (method->at[a].coverage == f->subject_at->coverage &&
          !method->at[a].from_tune == !f->subject_at->from_tune)
        return &method->at[a];
  }
  return NULL;
}

static int
compare_sizes(gconstpointer a, gconstpointer b) {
  const DemurGroup *x = *(const DemurGroup *const *)a, *y = *(const DemurGroup *const *)b;
  if (x->n_scans != y->n_scans)
    return x->n_scans > y->n_scans ? -1 : 1;
  return strcmp(x->value, y->value);
}

/* FALSE: every group is withheld, and that is said. */
static gboolean
add_group_table(Pages *p, size_t from, size_t to) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  size_t n_small = 0;
  for (size_t g = from; g < to; g++) {
    const DemurOperatingPoint *at = group_point(p, &e->groups[g]);
    if (at && at->n_accepted >= DEMUR_SMALL_CELL)
      g_ptr_array_add(sorted, &e->groups[g]);
    else
      n_small++;
  }
  if (sorted->len == 0) {
    add_text(p, DEMUR_TEXT_BODY, "By %s: no group has %d accepted scans or more; all are withheld.",
             e->groups[from].by, DEMUR_SMALL_CELL);
    return FALSE;
  }
  g_ptr_array_sort(sorted, compare_sizes);
  Rows rows = rows_new();
  for (guint i = 0; i < MIN(sorted->len, MOST_GROUPS); i++) {
    const DemurGroup *group = g_ptr_array_index(sorted, i);
    const DemurOperatingPoint *at = group_point(p, group);
    add_cell(&rows, or_unrecorded(group->value));
    add_cell(&rows, demur_text_count(at->n_accepted));
    add_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3));
    add_cell(&rows, demur_text_decimal(at->noise_floor, 3));
    add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_OE_RATIO],
                                  at->extra_intervals[DEMUR_EXTRA_OE_RATIO], 2));
    if (binary)
      add_cell(&rows, interval_text(at->extra[DEMUR_EXTRA_SLOPE],
                                    at->extra_intervals[DEMUR_EXTRA_SLOPE], 2));
    end_row(&rows, FALSE);
  }
  g_autofree char *by = g_strdup(e->groups[from].by);
  by[0] = g_ascii_toupper(by[0]);
  const DemurLayoutColumn columns[] = {
      {by, FALSE, 140, TRUE},
      {"Accepted", TRUE, 0, FALSE},
      {demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes), TRUE, 0, FALSE},
      {"Noise floor", TRUE, 0, FALSE},
      {"O:E", TRUE, 0, FALSE},
      {"Slope", TRUE, 0, FALSE}};
  add_table(p, &rows, binary ? 6 : 5, columns);
  const size_t left = sorted->len > MOST_GROUPS ? sorted->len - MOST_GROUPS : 0;
  g_autofree char *printed = demur_text_counted(left, "smaller group is", "smaller groups are"),
                  *small = demur_text_counted(n_small, "group is", "groups are");
  if (left > 0)
    add_text(p, DEMUR_TEXT_NOTE, "%s not printed here; the JSON holds them.", printed);
  if (n_small > 0)
    add_text(p, DEMUR_TEXT_NOTE, "%s withheld: fewer than %d accepted scans.", small,
             DEMUR_SMALL_CELL);
  return TRUE;
}

static void
add_group_calibration(Pages *p) {
  const DemurEvaluation *e = p->e;
  if (e->n_groups == 0)
    return;
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  add_text(p, DEMUR_TEXT_HEADING, "How calibrated the accepted are, by subgroup, at coverage %s",
           coverage);
  gboolean any = FALSE;
  for (size_t from = 0, to; from < e->n_groups; from = to) {
    to = from + 1;
    while (to < e->n_groups && g_str_equal(e->groups[to].by, e->groups[from].by))
      to++;
    any |= add_group_table(p, from, to);
  }
  if (!any)
    return;
  add_text(
      p, DEMUR_TEXT_NOTE,
      "The threshold of the whole split, applied to each group. Small groups have large errors "
      "by chance: compare with the noise floor. Second line: 95\u00a0%% bootstrap interval of "
      "the group's patients.");
}

/* Which of the three columns a comparison's measure belongs to; -1: none. */
static int
comparison_column(const char *measure) {
  if (g_str_equal(measure, "sbce2_auc") || g_str_equal(measure, "stce2_auc"))
    return 0;
  if (g_str_has_suffix(measure, "_debiased_auc"))
    return 1;
  return g_str_equal(measure, "site_error_auc") ? 2 : -1;
}

static gboolean
same_pair(const DemurComparison *a, const DemurComparison *b) {
  return g_str_equal(a->method, b->method) && g_str_equal(a->against, b->against) &&
         !a->recalibrated == !b->recalibrated;
}

/* Selectors against everything; the other methods only against what needs no training. */
static gboolean
in_print(const DemurComparison *c) {
  return g_str_has_prefix(c->method, "selector:") || g_str_equal(c->against, "confidence") ||
         g_str_equal(c->against, "full");
}

/* "−.013 (−.019 to −.006)", below it the verdict. */
static char *
comparison_words(const DemurComparison *c) {
  g_autofree char *difference = demur_text_signed(c->difference, 3),
                  *low = demur_text_signed(c->low, 3), *high = demur_text_signed(c->high, 3);
  const char *verdict = demur_comparison_verdict_words(c->verdict);
  if (!isfinite(c->low) || !isfinite(c->high))
    return g_strdup_printf("%s\n%s", difference, verdict);
  return g_strdup_printf("%s (%s to %s)\n%s", difference, low, high, verdict);
}

/* One row a pair of methods, one column a measure. */
static void
add_comparisons(Pages *p) {
  const DemurEvaluation *e = p->e;
  add_text(p, DEMUR_TEXT_HEADING, "Comparisons, averaged over coverage");
  if (e->n_comparisons == 0) {
    add_text(p, DEMUR_TEXT_BODY, "No comparison between methods was made.");
    return;
  }
  const gboolean kinds = both_kinds(e);
  Rows rows = rows_new();
  for (size_t i = 0; i < e->n_comparisons; i++) {
    const DemurComparison *c = &e->comparisons[i];
    gboolean done = FALSE;
    for (size_t k = 0; k < i && !done; k++)
      done = same_pair(c, &e->comparisons[k]);
    if (done || !in_print(c))
      continue;
    const DemurComparison *columns[3] = {NULL};
    for (size_t k = i; k < e->n_comparisons; k++) {
      const int column = comparison_column(e->comparisons[k].measure);
      if (column >= 0 && same_pair(c, &e->comparisons[k]))
        columns[column] = &e->comparisons[k];
    }
    const char *title = title_of(p, c->method, c->recalibrated);
    add_cell(&rows, kinds ? g_strdup_printf("%s\n%s risks", title,
                                            c->recalibrated ? "recalibrated" : "raw")
                          : g_strdup(title));
    add_cell(&rows, g_strdup(title_of(p, c->against, c->recalibrated)));
    for (int k = 0; k < 3; k++)
      add_cell(&rows, columns[k] ? comparison_words(columns[k]) : g_strdup(DEMUR_TEXT_UNDEFINED));
    end_row(&rows, FALSE);
  }
  const char *measure = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes);
  g_autofree char *debiased = g_strdup_printf("%s, debiased", measure);
  const DemurLayoutColumn columns[] = {{"Method", FALSE, 80, FALSE},
                                       {"Against", FALSE, 80, FALSE},
                                       {measure, TRUE, 0, FALSE},
                                       {debiased, TRUE, 0, FALSE},
                                       {"Site error", TRUE, 0, FALSE}};
  add_table(p, &rows, G_N_ELEMENTS(columns), columns);
  const DemurComparison *first = &e->comparisons[0];
  g_autofree char *level = demur_text_coverage(first->level),
                  *units = demur_text_count(first->n_units);
  add_text(p, DEMUR_TEXT_NOTE,
           "Method minus the other, with its %s interval (percentile bootstrap of paired "
           "differences, resampling %s %s%s); below zero the method's error is smaller. The "
           "report's verdict is “better” only where the intervals of %s, plain and debiased, lie "
           "below zero and the site error is not worse; “worse” the other way round.",
           level, units, first->unit, first->n_units == 1 ? "" : "s", measure);
}

static void
add_results(Pages *p) {
  const DemurEvaluation *e = p->e;
  const gboolean multi = e->n_classes > 2;
  g_autofree char *trials = trial_words(e);
  demur_layout_page_break(p->layout, SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Results");
  add_text(p, DEMUR_TEXT_HEADING, "All methods, averaged over coverage");
  add_auc_table(p);
  add_text(
      p, DEMUR_TEXT_NOTE,
      "Area under the curve over %d coverages from .05 to 1, divided by its range. First line: the "
      "split as it is, mean over "
      "models; second line: mean ± sd of %s. Lower is better but for accuracy. Debiased: what is "
      "left of the error once chance is taken out (signed root). Noise floor: what perfectly "
      "calibrated risks would show. "
      "“–”: undefined or not computed.",
      DEMUR_N_COVERAGES, trials);
  add_text(p, DEMUR_TEXT_HEADING, "Measures against coverage");
  demur_layout_keep_begin(p->layout);
  const char *two = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes),
             *inf = demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes);
  g_autofree char *title_two = g_strdup_printf("%s, calibration error", two),
                  *title_inf = g_strdup_printf("%s, largest bin error", inf);
  DemurLayoutFigure figures[4] = {
      curve_figure(p, DEMUR_MEASURE_SBCE2, title_two),
      curve_figure(p, DEMUR_MEASURE_SBCEINF, title_inf),
      curve_figure(p, DEMUR_MEASURE_BRIER, "Brier score"),
      curve_figure(p, DEMUR_MEASURE_ACCURACY,
                   multi ? "Accuracy of the top class" : "Accuracy at risk .5")};
  demur_layout_figures(p->layout, 158, 2, figures);
  demur_layout_keep_end(p->layout);
  demur_layout_keep_begin(p->layout);
  demur_layout_figures(p->layout, 158, 2, figures + 2);
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  add_text(p, DEMUR_TEXT_NOTE,
           "Lines: the split as it is. Bands: mean ± sd of %s; resampling repeats scans and so "
           "adds to the binned errors. Dotted upright: coverage %s. A gap: undefined there.",
           trials, coverage);
  demur_layout_keep_end(p->layout);
  for (size_t i = 0; i < G_N_ELEMENTS(shown_coverages); i++) {
    g_autofree char *percent = demur_text_coverage(shown_coverages[i]);
    add_text(p, DEMUR_TEXT_HEADING, "All methods at coverage %s", percent);
    add_operating_table(p, shown_coverages[i], FALSE);
  }
  add_text(p, DEMUR_TEXT_NOTE,
           "Thresholds from this split's own scores, labels unseen; the split as it is.");
  add_extras(p);
  add_comparisons(p);
  add_reliability(p);
  add_histograms(p);
  add_rejections(p);
  add_subgroups(p);
  add_group_calibration(p);
}

/* ---- 4. threshold ---- */

static void
add_threshold(Pages *p) {
  const DemurReportInput *input = p->input;
  demur_layout_page_break(p->layout, SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Threshold");
  if (input->n_thresholds == 0) {
    add_text(p, DEMUR_TEXT_BODY,
             "This selector is not tuned. Every threshold in this report is taken from the "
             "evaluated split's own scores, labels "
             "unseen: the coverage asked is met by construction, and nothing is promised for other "
             "scans.");
    return;
  }
  Rows rows = rows_new();
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    const DemurOperatingPoint *at = demur_finding_at(p->finding.subject, t->requested, TRUE);
    add_cell(&rows, demur_text_coverage(t->requested));
    add_cell(&rows, demur_text_significant(t->threshold, 3));
    add_cell(&rows, g_strdup_printf("%s, %s", t->cohort ? t->cohort : "cohort not recorded",
                                    t->split ? t->split : "split not recorded"));
    add_cell(&rows, demur_text_count(t->n));
    add_cell(&rows, demur_text_percent(t->realised, 1));
    add_cell(&rows, demur_text_percent(at ? at->realised : NAN, 1));
    add_cell(&rows, at ? demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3)
                       : g_strdup(DEMUR_TEXT_UNDEFINED));
    add_cell(&rows, t->created ? demur_text_date(t->created) : or_unrecorded(NULL));
    end_row(&rows, i + 1 == input->n_thresholds);
  }
  g_autofree char *here =
      g_strdup_printf("%s here", demur_text_measure(DEMUR_MEASURE_SBCE2, p->e->n_classes));
  const DemurLayoutColumn columns[] = {{"Asked", TRUE, 0, FALSE},
                                       {"Threshold", TRUE, 0, FALSE},
                                       {"Tuned on", FALSE, 90, FALSE},
                                       {"Scans", TRUE, 0, FALSE},
                                       {"Reached there", TRUE, 0, FALSE},
                                       {"Reached here", TRUE, 0, FALSE},
                                       {here, TRUE, 0, FALSE},
                                       {"Date", FALSE, 60, FALSE}};
  add_table(p, &rows, G_N_ELEMENTS(columns), columns);
  add_text(
      p, DEMUR_TEXT_NOTE,
      "A scan is accepted when its score reaches the threshold. “Here”: the threshold applied "
      "unchanged to the split of this report. Bold: the current one. “–”: not evaluated here.");
  gboolean heading = FALSE;
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    if (!t->guarantee)
      continue;
    if (!heading)
      add_text(p, DEMUR_TEXT_HEADING, "What it guarantees");
    heading = TRUE;
    g_autofree char *percent = demur_text_coverage(t->requested);
    add_text(p, DEMUR_TEXT_BODY, "%s: %s", percent, t->guarantee);
  }
  add_text(p, DEMUR_TEXT_HEADING, "What it does not guarantee");
  add_text(p, DEMUR_TEXT_BODY,
           "Any statement about coverage holds for scans drawn like the tuning split. For a site "
           "that is not in it there is no "
           "guarantee: watch the coverage reached there. Coverage says how many risks are shown, "
           "not that they are right.");
}

static void
add_audits(Pages *p) {
  const DemurReportInput *input = p->input;
  if (input->n_audits == 0)
    return;
  add_text(p, DEMUR_TEXT_HEADING, "Site audits");
  add_text(p, DEMUR_TEXT_BODY,
           "At these sites a few outcomes were compared with the risks (`demur audit`). What was "
           "learnt is added to the log-odds of a site's risks wherever a verdict is given there; "
           "the numbers of this report are without it.");
  Rows rows = rows_new();
  for (size_t i = 0; i < input->n_audits; i++) {
    const DemurReportAudit *a = &input->audits[i];
    g_autofree char *value = demur_text_signed(a->intercept, 2),
                    *low = demur_text_signed(a->low, 2), *high = demur_text_signed(a->high, 2);
    add_cell(&rows, or_unrecorded(a->site));
    add_cell(&rows, g_strdup(a->in_split ? "yes" : "no"));
    add_cell(&rows, a->n_labels < DEMUR_REPORT_SMALL_CELL ? g_strdup("< 10")
                                                          : demur_text_count(a->n_labels));
    add_cell(&rows, or_unrecorded(a->cohort));
    add_cell(&rows, g_strdup_printf("%s (%s to %s)", value, low, high));
    add_cell(&rows, a->created ? demur_text_date(a->created) : or_unrecorded(NULL));
    end_row(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{"Site", FALSE, 90, TRUE},
                                       {"In this split", FALSE, 40, FALSE},
                                       {"Labels", TRUE, 0, FALSE},
                                       {"Of cohort", FALSE, 60, FALSE},
                                       {"Intercept (95\u00a0% interval)", TRUE, 0, FALSE},
                                       {"Date", FALSE, 60, FALSE}};
  add_table(p, &rows, G_N_ELEMENTS(columns), columns);
}

/* ---- 5. method and provenance ---- */

static void
add_provenance(Pages *p) {
  const DemurReportInput *input = p->input;
  const DemurEvaluation *e = p->e;
  const DemurReportSelector *s = &input->selector;
  demur_layout_page_break(p->layout, SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Method and provenance");
  add_text(p, DEMUR_TEXT_BODY,
           "Method: A. Fisch, T. Jaakkola and R. Barzilay, Calibrated Selective Classification, "
           "Transactions on Machine Learning "
           "Research, 2022. A selector scores each scan from the risk model's output and from how "
           "unlike the "
           "reference scans it is; scans below the threshold are refused, so that the risks that "
           "are shown agree with what happens.");
  if (s->name) {
    add_text(p, DEMUR_TEXT_HEADING, "Selector");
    Rows rows = rows_new();
    add_pair(&rows, "Name", g_strdup(s->name));
    add_pair(&rows, "Settings as published", g_strdup(s->as_published ? "yes" : "no"));
    add_pair(&rows, "Trained on", or_unrecorded(s->cohort));
    g_autofree char *scans = demur_text_counted(s->n_training_scans, "scan", "scans"),
                    *patients = demur_text_counted(s->n_training_patients, "patient", "patients"),
                    *sites = demur_text_counted(s->n_training_sites, "site", "sites");
    add_pair(&rows, "Training data",
             s->n_training_scans > 0 ? g_strdup_printf("%s of %s from %s", scans, patients, sites)
                                     : or_unrecorded(NULL));
    add_pair(&rows, "Reference set", or_unrecorded(s->reference_set));
    add_pair(&rows, "Risk model", or_unrecorded(s->model));
    add_pair(&rows, "Epoch kept",
             s->best_epoch >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, s->best_epoch)
                                : g_strdup("does not apply"));
    add_pair(&rows, "Made", s->created ? demur_text_date(s->created) : or_unrecorded(NULL));
    add_pair(&rows, "Digest (SHA-256)", or_unrecorded(s->digest));
    add_pairs_table(p, &rows, "Fact", "Value");
  }
  if (s->n_settings > 0) {
    add_text(p, DEMUR_TEXT_HEADING, "Settings of training");
    Rows rows = rows_new();
    const size_t half = (s->n_settings + 1) / 2;
    for (size_t i = 0; i < half; i++) {
      for (size_t k = i; k < 2 * half; k += half) {
        add_cell(&rows, g_strdup(k < s->n_settings ? s->settings[k].key : ""));
        add_cell(&rows, k < s->n_settings ? or_unrecorded(s->settings[k].value) : g_strdup(""));
      }
      end_row(&rows, FALSE);
    }
    const DemurLayoutColumn columns[] = {{"Setting", FALSE, 80, FALSE},
                                         {"Value", FALSE, 80, TRUE},
                                         {"Setting", FALSE, 80, FALSE},
                                         {"Value", FALSE, 80, TRUE}};
    add_table(p, &rows, 4, columns);
  }
  add_text(p, DEMUR_TEXT_HEADING, "Evaluation and files");
  Rows rows = rows_new();
  add_pair(&rows, "Program", g_strdup_printf("Demur %s", input->version ? input->version : ""));
  add_pair(&rows, "Cohort and split", g_strdup_printf("%s, %s", e->cohort, e->split));
  add_pair(&rows, "Risk model evaluated", or_unrecorded(e->model));
  add_pair(&rows, "Seed", g_strdup_printf("%" G_GUINT64_FORMAT, e->seed));
  add_pair(&rows, "Trials", trial_words(e));
  add_pair(&rows, "Bins",
           g_strdup_printf("at most %d of equal mass, each of at least %zu scans",
                           DEMUR_MAX_RELIABILITY_BINS, e->min_bin_size));
  add_pair(&rows, "In-sample scans", g_strdup(e->in_sample ? "yes, by request" : "none"));
  add_pair(&rows, "Cohort digest (SHA-256)", or_unrecorded(input->cohort.digest));
  add_pair(&rows, "Digest of the rows used (SHA-256)", or_unrecorded(e->digest));
  add_pair(&rows, "Digest of the JSON of this report (SHA-256)", g_strdup(p->digest));
  add_pairs_table(p, &rows, "Fact", "Value");
  add_text(p, DEMUR_TEXT_NOTE,
           "Every number of this report stands in the JSON file beside it, whose digest is in the "
           "footer of each page.");
  if (demur_layout_lacks_glyphs(p->layout))
    add_text(p, DEMUR_TEXT_NOTE,
             "Some names hold characters that no font installed here has: they stand as their "
             "Unicode code points, “[U+..]”. The JSON holds the names as they are.");
  add_text(p, DEMUR_TEXT_HEADING, "Measures");
  add_text(p, DEMUR_TEXT_BODY,
           "%s: accepted scans in bins of equal mass by the %s; root of the mean squared "
           "difference between observed share and mean "
           "%s. %s: the largest such difference. Brier: mean squared error. Site error: how far "
           "sites differ from their risks "
           "beyond chance, from pairs of different patients of a site. S-MMCE: the kernel form of "
           "the calibration error that "
           "training lowers.",
           demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes),
           e->n_classes > 2 ? "top probability" : "risk",
           e->n_classes > 2 ? "top probability" : "risk",
           demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes));
  add_text(p, DEMUR_TEXT_BODY,
           "Choices where the paper and its code differ: bins of at least 25 scans (paper); new "
           "perturbations at every update (paper); "
           "the threshold is the exact ceil(coverage × n)-th largest score, ties all kept; an "
           "empty selection is undefined, never "
           "zero; resamples are shared by all methods.");
  if (e->in_cells) {
    g_autofree char *n = demur_text_count(e->n_scans);
    add_text(
        p, DEMUR_TEXT_BODY,
        "With %s scans, resamples and redrawn labels were counted in cells of risk and score "
        "(up to 512 × 512 for intervals and noise floors, 8,192 × 512 for trials), not scan by "
        "scan. The numbers of the split itself were measured scan by scan.",
        n);
  }
}

/* ---- 6. limits ---- */

static void
add_limits(Pages *p) {
  static const char *const limits[] = {
      "For research use. Demur is not a cleared device, and this report is no clearance of one.",
      "The report speaks about the scans it was made from. Another population, scanner or time may "
      "give another answer; the "
      "comparison with its interval says how far this one carries.",
      "Binned calibration errors are never negative and grow as scans become few: read each beside "
      "its noise floor and its "
      "debiased value. Spread over resamples is no confidence interval of them.",
      "Good calibration of what is shown can be bought by refusing the sick: read rejection by "
      "label beside it.",
      "A calibrated risk is right on average over those who share it, not for each patient.",
  };
  demur_layout_page_break(p->layout, SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Limits");
  for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
    demur_layout_text(p->layout, DEMUR_TEXT_BODY, limits[i]);
}

/* ---- what stands on every page ---- */

static size_t
n_bands(const DemurEvaluation *e) {
  return (e->simulated ? 1u : 0u) + (e->in_sample ? 1u : 0u);
}

/* A marked strip across the page: hatched ends, so that grey print keeps it. */
void
demur_pages_band(cairo_t *cr, const DemurPalette *palette, const char *text, double x, double y,
                 double width) {
  const double height = BAND_HEIGHT - 3;
  cairo_rectangle(cr, x, y, width, height);
  demur_chart_colour(cr, palette->warning, 0.1);
  cairo_fill_preserve(cr);
  demur_chart_colour(cr, palette->warning, 1);
  cairo_set_line_width(cr, 0.8);
  cairo_stroke(cr);
  for (int end = 0; end < 2; end++) {
    const double left = end ? x + width - 26 : x;
    cairo_save(cr);
    cairo_rectangle(cr, left, y, 26, height);
    cairo_clip(cr);
    cairo_set_line_width(cr, 1.6);
    for (double t = left - height; t < left + 26; t += 5) {
      cairo_move_to(cr, t, y + height);
      cairo_line_to(cr, t + height, y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
  }
  demur_chart_text(cr, palette, text, 8, TRUE, palette->ink, x + width / 2, y + height / 2, 0.5,
                   0.5, width - 60);
}

static void
draw_frame(cairo_t *cr, size_t page, size_t n_pages, gpointer data) {
  const Pages *p = data;
  const DemurPalette *palette = demur_palette_paper();
  const double width = p->width - 2 * MARGIN_X, bottom = p->height - 40;
  cairo_save(cr);
  g_autofree char *left =
      g_strdup_printf("Calibration report · cohort %s, split %s", p->e->cohort, p->e->split);
  g_autofree char *date =
      p->input->created ? demur_text_date(p->input->created) : g_strdup("undated");
  const DemurSize size = demur_chart_text(cr, palette, date, 8, FALSE, palette->muted,
                                          p->width - MARGIN_X, HEADER_Y, 1, 0, width / 3);
  demur_chart_text(cr, palette, left, 8, FALSE, palette->muted, MARGIN_X, HEADER_Y, 0, 0,
                   width - size.width - 20);
  double y = HEADER_Y + 16;
  if (p->e->simulated) {
    demur_pages_band(cr, palette, "Simulated data: no patient stands behind these numbers",
                     MARGIN_X, y, width);
    y += BAND_HEIGHT;
  }
  if (p->e->in_sample)
    demur_pages_band(cr, palette, "In-sample: some of these scans trained or tuned the selector",
                     MARGIN_X, y, width);
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.5);
  cairo_move_to(cr, MARGIN_X, bottom);
  cairo_line_to(cr, MARGIN_X + width, bottom);
  cairo_stroke(cr);
  g_autofree char *digest = demur_text_digest(p->digest);
  g_autofree char *right =
      g_strdup_printf("demur %s · digest %s · page %zu of %zu",
                      p->input->version ? p->input->version : "", digest, page + 1, n_pages);
  demur_chart_text(cr, palette, "For research use, not a cleared device.", 7.5, TRUE, palette->ink,
                   MARGIN_X, bottom + 5, 0, 0, width / 2);
  demur_chart_text(cr, palette, right, 7.5, FALSE, palette->muted, p->width - MARGIN_X, bottom + 5,
                   1, 0, width / 2);
  cairo_restore(cr);
}

void
demur_pages_paper(DemurPaper paper, double *width, double *height) {
  *width = paper == DEMUR_PAPER_LETTER ? 612 : 595.276;
  *height = paper == DEMUR_PAPER_LETTER ? 792 : 841.89;
}

static void
pages_free(gpointer data) {
  Pages *p = data;
  g_free(p->digest);
  g_free(p->sentence);
  g_free(p);
}

DemurLayout *
demur_pages_layout(const DemurReportInput *input, const char *digest) {
  Pages *p = g_new0(Pages, 1);
  p->input = input;
  p->e = input->evaluation;
  p->finding = demur_finding(input);
  p->digest = g_strdup(digest);
  demur_pages_paper(input->paper, &p->width, &p->height);
  const double top = HEADER_Y + 22 + BAND_HEIGHT * (double)n_bands(p->e);
  const DemurRectangle area = {MARGIN_X, top, p->width - 2 * MARGIN_X, p->height - 50 - top};
  p->layout =
      demur_layout_new(p->width, p->height, area, demur_palette_paper(), draw_frame, p, pages_free);
  add_summary(p);
  add_cohort(p);
  add_results(p);
  add_threshold(p);
  add_audits(p);
  add_provenance(p);
  add_limits(p);
  demur_card_add(p->layout, &p->finding);
  demur_checklist_add(p->layout, &p->finding);
  demur_layout_paginate(p->layout);
  return p->layout;
}
