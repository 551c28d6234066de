/* The first page of a family's report: its horizons side by side. */
#include "report/section.h"

#include "report/charts-private.h"
#include "report/format.h"

#include <math.h>

#define YEARS_CHART 176.0 /* height of the page's charts, and how low they may be made */
#define YEARS_CHART_LEAST 104.0

/* "1 year", "1, 2 and 6 years", "2 to 5 years"; owned. */
static char *
years_words(const int *years, size_t n) {
  if (n > 2 && years[n - 1] - years[0] + 1 == (int)n)
    return g_strdup_printf("%d to %d years", years[0], years[n - 1]);
  GString *text = g_string_new(NULL);
  for (size_t i = 0; i < n; i++)
    g_string_append_printf(text, "%s%d", i == 0 ? "" : i + 1 == n ? " and " : ", ", years[i]);
  g_string_append(text, n == 1 && years[0] == 1 ? " year" : " years");
  return g_string_free(text, FALSE);
}

/* What came of the comparisons with confidence, at which horizons. */
static char *
headline(const DemurFamilyReport *family, DemurPages *const *horizons) {
  GString *text = g_string_new("Against confidence");
  gboolean any = FALSE;
  g_autofree int *years = g_new(int, family->n);
  for (DemurComparisonVerdict verdict = DEMUR_VERDICT_BETTER;
       verdict <= DEMUR_VERDICT_CANNOT_BE_DECIDED; verdict++) {
    size_t n = 0;
    for (size_t h = 0; h < family->n; h++)
      if (horizons[h]->finding.compared && horizons[h]->finding.verdict == verdict)
        years[n++] = family->years[h];
    if (n == 0)
      continue;
    g_autofree char *within = years_words(years, n);
    g_string_append_printf(text, "%s %s within %s", any ? ";" : ":",
                           demur_comparison_verdict_words(verdict), within);
    any = TRUE;
  }
  if (!any)
    g_string_append(text, " nothing was compared");
  return g_string_free(text, FALSE);
}

static void
add_lead(DemurPages *p, const DemurFamilyReport *family, DemurPages *const *horizons) {
  g_autofree char *years = years_words(family->years, family->n),
                  *amount = demur_section_amount(p->e->n_scans, p->e->n_patients, p->e->n_sites),
                  *coverage = demur_text_coverage(family->coverage),
                  *together = demur_text_percent(
                      (double)family->n_shown / (double)MAX(family->n_scans, 1), 1),
                  *n_shown = demur_text_counted(family->n_shown, "scan", "scans");
  gboolean tuned = TRUE;
  double least = INFINITY, most = -INFINITY;
  for (size_t h = 0; h < family->n; h++)
    if (horizons[h]->finding.subject_at) {
      least = fmin(least, horizons[h]->finding.subject_at->realised);
      most = fmax(most, horizons[h]->finding.subject_at->realised);
      tuned &= horizons[h]->finding.tuned;
    }
  g_autofree char *low = demur_text_percent(least, 1), *high = demur_text_percent(most, 1);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text,
                         "Family %s gives the risks within %s of a scan and shows all of them or "
                         "none. On %s ",
                         family->name, years, amount);
  if (family->shown_known)
    g_string_append_printf(
        text,
        "it shows those of %s, a coverage of %s: those that every horizon accepts "
        "by its own threshold for coverage %s%s. Each by itself accepts %s to %s.",
        n_shown, together, coverage,
        tuned ? "" : " (of this split's own scores where none was tuned)", low, high);
  else
    g_string_append_printf(text,
                           "what it shows together is not known: not every horizon has a "
                           "threshold for coverage %s.",
                           coverage);
  demur_layout_text(p->layout, DEMUR_TEXT_LEAD, text->str);
}

/* ---- expected and observed ---- */

static double
highest(const DemurFamilyReport *family) {
  double top = 0;
  for (size_t y = 0; y < family->n_by_year; y++) {
    const DemurFamilyYear *year = &family->by_year[y];
    if (!demur_family_withholds(family, year, FALSE)) /* fmax passes over NaN */
      top = fmax(top, fmax(year->all.mean_risk, year->all.high));
    if (!demur_family_withholds(family, year, TRUE))
      top = fmax(top, fmax(year->shown.mean_risk, year->shown.high));
  }
  return top;
}

static DemurChart *
years_chart(const DemurFamilyReport *family, gboolean shown, const char *title) {
  DemurChart *chart = demur_chart_begin(&demur_risk_over_time_chart, g_strdup(title));
  const size_t n_years = (size_t)family->years[family->n - 1];
  double *expected = demur_chart_own(chart, g_new0(double, 4 * n_years)),
         *observed = expected + n_years, *low = observed + n_years, *high = low + n_years;
  size_t *n = demur_chart_own(chart, g_new0(size_t, n_years));
  for (size_t i = 0; i < 4 * n_years; i++)
    expected[i] = NAN;
  for (size_t y = 0; y < family->n_by_year; y++) {
    const DemurFamilyYear *year = &family->by_year[y];
    const DemurReportYear *of = shown ? &year->shown : &year->all;
    if (demur_family_withholds(family, year, shown))
      continue;
    const size_t at = (size_t)year->year - 1;
    n[at] = of->n;
    expected[at] = of->mean_risk;
    observed[at] = of->observed;
    low[at] = of->low;
    high[at] = of->high;
  }
  DemurRiskSeries *series = demur_chart_own(chart, g_new0(DemurRiskSeries, 2));
  series[0] = (DemurRiskSeries){
      "expected (mean risk)", DEMUR_SERIES_SELECTOR, expected, NULL, NULL, n, FALSE};
  series[1] =
      (DemurRiskSeries){"observed", DEMUR_SERIES_CONFIDENCE, observed, low, high, NULL, FALSE};
  chart->data.risk = (DemurRiskOverTime){.title = chart->title,
                                         .n_years = n_years,
                                         .n_series = 2,
                                         .series = series,
                                         .top = highest(family)};
  return chart;
}

/* "4.9 %", below it "4.0 % to 6.1 %"; owned. */
static char *
share_words(double value, double low, double high) {
  g_autofree char *text = demur_text_percent(value, 1);
  if (!isfinite(low) || !isfinite(high))
    return g_steal_pointer(&text);
  g_autofree char *from = demur_text_percent(low, 1), *to = demur_text_percent(high, 1);
  return g_strdup_printf("%s\n%s to %s", text, from, to);
}

static void
add_share(DemurRows *rows, const DemurReportYear *year, gboolean withheld) {
  if (withheld) {
    for (int c = 0; c < 4; c++)
      demur_rows_cell(rows, g_strdup("withheld"));
    return;
  }
  const DemurInterval ratio = {year->low / year->mean_risk, year->high / year->mean_risk};
  demur_rows_cell(rows, demur_text_count(year->n));
  demur_rows_cell(rows, demur_text_percent(year->mean_risk, 1));
  demur_rows_cell(rows, share_words(year->observed, year->low, year->high));
  demur_rows_cell(rows, demur_section_interval(year->observed / year->mean_risk, ratio, 2));
}

static void
add_years(DemurPages *p, const DemurFamilyReport *family) {
  if (family->n_by_year == 0)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Over the years");
  demur_layout_keep_begin(p->layout);
  DemurLayoutFigure figures[2];
  size_t n = 0;
  figures[n++] = demur_section_figure(years_chart(family, FALSE, "All scans"));
  if (family->shown_known)
    figures[n++] = demur_section_figure(years_chart(family, TRUE, "Scans that are shown"));
  demur_layout_figures(p->layout, YEARS_CHART, n, figures);
  DemurRows rows = demur_rows_new();
  for (size_t y = 0; y < family->n_by_year; y++) {
    const DemurFamilyYear *year = &family->by_year[y];
    demur_rows_cell(&rows, g_strdup_printf("%d", year->year));
    add_share(&rows, &year->all, demur_family_withholds(family, year, FALSE));
    if (family->shown_known)
      add_share(&rows, &year->shown, demur_family_withholds(family, year, TRUE));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {
      {"Year", TRUE, 0, FALSE},     {"All scans", TRUE, 0, FALSE}, {"Expected", TRUE, 0, FALSE},
      {"Observed", TRUE, 0, FALSE}, {"O:E", TRUE, 0, FALSE},       {"Shown", TRUE, 0, FALSE},
      {"Expected", TRUE, 0, FALSE}, {"Observed", TRUE, 0, FALSE},  {"O:E", TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, family->shown_known ? 9 : 5, columns);
  g_autofree char *withheld = g_strdup_printf(
      " Withheld: fewer than %d with the outcome or without it, or such a number would follow from "
      "it.",
      DEMUR_SMALL_CELL);
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Expected: mean risk within so many years. Observed: %s, so that scans that "
                     "were not followed so long count for as long as they were; upright lines and "
                     "second lines: pointwise 95\u00a0%% intervals of these scans. O:E: observed "
                     "over expected, 1 is right.%s",
                     family->estimator ? family->estimator : "as the cohort has it", withheld);
  demur_layout_keep_end(p->layout);
}

/* ---- each horizon by its own threshold ---- */

static char *
difference_words(const DemurReportFinding *f) {
  if (demur_finding_is_confidence(f))
    return g_strdup("the same");
  if (!f->compared)
    return g_strdup(DEMUR_TEXT_UNDEFINED);
  g_autofree char *difference = demur_text_signed(f->plain->difference, 3);
  return g_strdup_printf("%s\n%s", difference, demur_comparison_verdict_words(f->verdict));
}

/* Of which scans O:E of the accepted is, where not of those of its row's coverage: horizons of one set
 * are named together. */
static void
add_counted_note(DemurPages *p, const DemurFamilyReport *family, DemurPages *const *horizons) {
  g_autofree char *rule = demur_finding_counted_rule();
  g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
  g_autofree int *set_of = g_new(int, MAX(family->n, 1)), *years = g_new(int, MAX(family->n, 1));
  gboolean withheld = FALSE;
  for (size_t h = 0; h < family->n; h++) {
    const DemurOperatingPoint *at = horizons[h]->finding.subject_at;
    withheld |= at && at->n_counted == 0 && at->n_accepted > 0;
    set_of[h] = -1;
    if (!at || !demur_operating_counts_others(at))
      continue;
    g_autofree char *set = demur_finding_counted_set(at);
    guint place;
    if (!g_ptr_array_find_with_equal_func(sets, set, g_str_equal, &place)) {
      place = sets->len;
      g_ptr_array_add(sets, g_steal_pointer(&set));
    }
    set_of[h] = (int)place;
  }
  g_autoptr(GString) text = g_string_new(rule);
  for (guint s = 0; s < sets->len; s++) {
    size_t n = 0;
    for (size_t h = 0; h < family->n; h++)
      if (set_of[h] == (int)s)
        years[n++] = family->years[h];
    g_autofree char *within = years_words(years, n);
    g_string_append_printf(text, "%s within %s of %s", s == 0 ? " O:E of the accepted is" : ",",
                           within, (const char *)sets->pdata[s]);
  }
  if (sets->len > 0)
    g_string_append_c(text, '.');
  if (withheld)
    g_string_append(text, " “Withheld”: the scans of that coverage are no such set.");
  if (sets->len > 0 || withheld)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE, text->str);
}

static void
add_horizons(DemurPages *p, const DemurFamilyReport *family, DemurPages *const *horizons) {
  g_autofree char *coverage = demur_text_coverage(family->coverage);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Each horizon by its own threshold for coverage %s",
                     coverage);
  DemurRows rows = demur_rows_new();
  for (size_t h = 0; h < family->n; h++) {
    const DemurReportFinding *f = &horizons[h]->finding;
    const DemurOperatingPoint *at = f->subject_at, *full = f->full_at;
    g_autofree char *years = demur_text_years(family->years[h]);
    demur_rows_cell(&rows, g_strdup_printf("%s\n%s", years, f->tuned ? "tuned" : "not tuned"));
    if (!at) {
      for (int c = 0; c < 6; c++)
        demur_rows_cell(&rows, g_strdup(DEMUR_TEXT_UNDEFINED));
      demur_rows_end(&rows, FALSE);
      continue;
    }
    demur_rows_cell(&rows, demur_text_percent(at->realised, 1));
    demur_rows_cell(&rows, full ? demur_section_measure(full, DEMUR_MEASURE_OE_RATIO)
                                : g_strdup(DEMUR_TEXT_UNDEFINED));
    demur_rows_cell(&rows, demur_section_measure(at, DEMUR_MEASURE_OE_RATIO));
    g_autofree char *error = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3),
                    *chance = demur_text_decimal(at->noise_floor, 3);
    demur_rows_cell(&rows, g_strdup_printf("%s\nchance: %s", error, chance));
    demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_SITE_ERROR],
                                                  at->site_error_interval, 3));
    demur_rows_cell(&rows, difference_words(f));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {
      {"Within", FALSE, 70, FALSE},
      {"Coverage", TRUE, 0, FALSE},
      {"O:E, all", TRUE, 0, FALSE},
      {"O:E, accepted", TRUE, 0, FALSE},
      {demur_text_measure(DEMUR_MEASURE_SBCE2, p->e->n_classes), TRUE, 0, FALSE},
      {"Site error", TRUE, 0, FALSE},
      {"Against confidence", TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
  g_autofree char *level = demur_text_coverage(demur_family_simultaneous_level(family->n));
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Second lines: 95\u00a0%% intervals over %ss, each by itself; that all %zu of a column hold is "
      "promised to %s only. A verdict is corrected for the comparisons of its horizon, not for the "
      "number of horizons. Against confidence: difference in %s, averaged over coverage; below 0 "
      "is better.",
      demur_unit_name(p->e->interval_unit), family->n, level,
      demur_text_measure(DEMUR_MEASURE_SBCE2, p->e->n_classes));
  add_counted_note(p, family, horizons);
}

void
demur_section_family(DemurPages *p, const DemurFamilyReport *family, DemurPages *const *horizons) {
  g_autofree char *finding = headline(family, horizons);
  demur_layout_text(p->layout, DEMUR_TEXT_TITLE, finding);
  add_lead(p, family, horizons);
  add_years(p, family);
  add_horizons(p, family, horizons);
  const guint mark = demur_layout_mark(p->layout);
  demur_layout_contents(p->layout);
  demur_layout_fit_page(p->layout, YEARS_CHART_LEAST, mark);
}
