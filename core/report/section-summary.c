/* Page 1: the finding, a paragraph to quote, four figures, two charts, one table, what to read with
 * care. */
#include "report/section.h"

#include "report/charts.h"
#include "report/format.h"

#include <math.h>
#include <string.h>

#define SUMMARY_CHART 162.0      /* height of the summary's charts, and how low they may be made */
#define SUMMARY_CHART_LEAST 94.0 /* so that it stands on one page */

static void
add_key_figures(DemurPages *p) {
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
    g_autofree char *others = demur_finding_rate_text(at, 0);
    if (isfinite(demur_finding_rate(at, 1)) || !isfinite(demur_finding_rate(at, 0))) {
      texts[4] = demur_finding_rate_text(at, 1);
      texts[5] = g_strdup_printf("of “%s” refused, %s of “%s”", yes, others, no);
    } else {
      texts[4] = g_strdup(others);
      texts[5] = g_strdup_printf("of “%s” refused; there is no “%s”", no, yes);
    }
  } else {
    g_autofree char *full = demur_text_percent(
        f->full ? f->full->curve[DEMUR_MEASURE_ACCURACY][DEMUR_N_COVERAGES - 1].point : NAN, 1);
    texts[4] = at && at->n_counted == 0 && at->n_accepted > 0
                   ? g_strdup("withheld")
                   : demur_text_percent(at ? at->measures[DEMUR_MEASURE_ACCURACY] : NAN, 1);
    texts[5] = g_strdup_printf("of what is shown is right, %s of everything", full);
  }
  if (demur_finding_is_confidence(f)) {
    texts[6] = g_strdup("the same");
    texts[7] = g_strdup("as plain confidence, at every coverage");
  } else if (f->compared) {
    g_autofree char *d = demur_text_signed(f->plain->difference, 3),
                    *low = demur_text_signed(f->plain->low, 3),
                    *high = demur_text_signed(f->plain->high, 3),
                    *n_units = demur_text_count(f->plain->n_units);
    texts[6] = g_strdup(demur_comparison_verdict_words(f->verdict));
    texts[7] = isfinite(f->plain->low) && isfinite(f->plain->high)
                   ? g_strdup_printf("against confidence: %s (%s to %s), resampling %s %s%s", d,
                                     low, high, n_units, demur_unit_name(f->plain->unit),
                                     f->plain->n_units == 1 ? "" : "s")
                   : g_strdup_printf("against confidence: %s, no interval", d);
  } else {
    texts[6] = g_strdup(DEMUR_TEXT_UNDEFINED);
    texts[7] = g_strdup("no comparison with confidence made");
  }
  demur_layout_key_figures(p->layout, 4, (const char *const *)texts);
  for (int i = 0; i < 8; i++)
    g_free(texts[i]);
}

#define LONGEST_LABEL 12 /* letters that a title of half a page has room for */

/* "Observed share with “cancer”, accepted scans", owned. */
static char *
observed_words(const DemurPages *p) {
  if (p->e->n_classes > 2)
    return g_strdup("Share right, accepted scans");
  g_autofree char *yes = demur_finding_label(p->input, 1);
  return g_utf8_strlen(yes, -1) > LONGEST_LABEL
             ? g_strdup("Observed share, accepted scans")
             : g_strdup_printf("Observed share with “%s”, accepted scans", yes);
}

static void
add_summary_charts(DemurPages *p) {
  DemurLayoutFigure figures[2];
  size_t n = 0;
  g_autofree char *title = g_strdup_printf(
      "Calibration error %s", demur_text_measure(DEMUR_MEASURE_SBCE2, p->e->n_classes));
  figures[n++] =
      demur_section_figure(demur_chart_coverage_curve(&p->finding, DEMUR_MEASURE_SBCE2, title, 3));
  if (p->finding.subject_at)
    figures[n++] = demur_section_figure(demur_chart_reliability(
        &p->finding, p->finding.subject_at, DEMUR_SERIES_SELECTOR,
        demur_section_short_title(p, p->finding.subject), observed_words(p), 0));
  demur_layout_figures(p->layout, SUMMARY_CHART, n, figures);
  g_autofree char *trials = demur_section_trials(p->e);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Left: ± one sd over %s; dotted: this page's coverage. Right: 95\u00a0%% Wilson intervals; "
      "dashed: ideal.",
      trials);
}

/* The sentence without its full stop, owned. */
static char *
without_stop(const char *sentence) {
  const size_t n = strlen(sentence);
  return g_strndup(sentence, n > 0 && sentence[n - 1] == '.' ? n - 1 : n);
}

void
demur_section_summary(DemurPages *p) {
  const DemurReportFinding *f = &p->finding;
  g_autofree char *headline = demur_finding_headline(f), *paragraph = demur_finding_paragraph(f);
  demur_layout_text(p->layout, DEMUR_TEXT_TITLE, headline);
  demur_layout_text(p->layout, DEMUR_TEXT_LEAD, paragraph);
  guint n_strong;
  g_autoptr(GPtrArray) cares = demur_finding_cares(f, &n_strong);
  if (n_strong > 0)
    demur_layout_text(p->layout, DEMUR_TEXT_STRONG, g_ptr_array_index(cares, 0));
  const DemurReportValidation *v = &p->input->validation;
  if (v->verdict) {
    g_autofree char *sentence = without_stop(v->sentence ? v->sentence : v->verdict);
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "Before this report, whole sites of cohort %s were left out of training in turn "
        "(“demur validate”): %s.",
        v->cohort ? v->cohort : "(not recorded)", sentence);
    demur_layout_space(p->layout, 5);
  }
  add_key_figures(p);
  demur_layout_keep_begin(p->layout);
  add_summary_charts(p);
  demur_layout_keep_end(p->layout);
  /* Before the table, which is longer than what some pages have left. */
  const guint from = n_strong > 0 ? 1 : 0; /* the first stands at the top */
  if (cares->len > from)
    demur_section_text(p, DEMUR_TEXT_HEADING, "Read with care");
  g_autoptr(GString) rest = g_string_new(NULL);
  for (guint i = from; i < cares->len; i++)
    g_string_append_printf(rest, "%s%s", i > from ? " " : "",
                           (const char *)g_ptr_array_index(cares, i));
  if (rest->len > 0)
    demur_layout_text(p->layout, DEMUR_TEXT_BODY, rest->str);
  g_autofree char *percent = demur_text_coverage(f->coverage);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Methods side by side at coverage %s", percent);
  demur_section_operating_table(p, f->coverage, TRUE);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "The split as it is (%s). Thresholds are of this split's own scores, labels unseen, so that "
      "methods are compared at one coverage%s. Noise floor: the error that perfectly calibrated "
      "risks would show by chance.",
      !demur_section_both_kinds(p->e)
          ? (f->subject->recalibrated ? "recalibrated risks" : "raw risks")
      : f->subject->recalibrated ? "recalibrated risks, raw where said"
                                 : "raw risks, recalibrated where said",
      f->tuned ? "; the first row is of the tuned threshold" : "");
  const guint mark = demur_layout_mark(p->layout);
  /* By which rule counts are told stands among the results, where all of them are. */
  if (!p->in_part) /* the document's first page has them */
    demur_layout_contents(p->layout);
  demur_layout_fit_page(p->layout, SUMMARY_CHART_LEAST, mark);
}
