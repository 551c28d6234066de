/* The cohort: flow, follow-up, splits, years, sites and scanners. */
#include "report/section.h"

#include "base/number.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/withheld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY_ROOM 320.0 /* the cohort begins below the summary only on a page of little else */

static void
add_counts(DemurPages *p, const char *heading, const char *column, const DemurReportCount *counts,
           size_t n) {
  size_t n_told = 0;
  for (size_t i = 0; i < n; i++)
    n_told += counts[i].told_elsewhere ? 0 : 1;
  if (n_told == 0)
    return;
  demur_layout_text(p->layout, DEMUR_TEXT_HEADING, heading);
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < n; i++) {
    if (counts[i].told_elsewhere)
      continue;
    demur_rows_cell(&rows, g_strdup(counts[i].reason));
    demur_rows_cell(&rows, demur_text_count(counts[i].n));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{column, FALSE, 200, FALSE}, {"Number", TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, 2, columns);
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
add_groups(DemurPages *p, const char *heading, const char *column, const DemurReportGroup *groups,
           size_t n) {
  if (n == 0)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "%s", heading);
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  for (size_t i = 0; i < n; i++)
    g_ptr_array_add(sorted, (gpointer)&groups[i]);
  g_ptr_array_sort(sorted, compare_groups);
  const gboolean binary = p->e->n_classes == 2;
  g_autofree char *yes = demur_finding_label(p->input, 1);
  g_autofree char *share = g_strdup_printf("Share “%s”", yes);
  const DemurReportGroup **order = (const DemurReportGroup **)sorted->pdata;
  g_autofree DemurReportGroup *ranked = g_new(DemurReportGroup, n);
  for (size_t i = 0; i < n; i++)
    ranked[i] = *order[i];
  g_auto(DemurWithheld) withheld = demur_withheld_groups(ranked, n, binary);
  DemurRows rows = demur_rows_new();
  size_t shown = 0; /* the largest, none of them withheld */
  while (shown < MIN(n, DEMUR_SECTION_MOST_GROUPS) && !withheld.scans[shown])
    shown++;
  size_t scans = 0, patients = 0, labelled = 0, positive = 0, n_small = 0;
  gboolean few_patients = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurReportGroup *g = &ranked[i];
    const double positives = g->n_labelled ? (double)g->n_positive / (double)g->n_labelled : NAN;
    if (i < shown) {
      demur_rows_cell(&rows, g_strdup(demur_text_recorded(g->name)));
      demur_rows_cell(&rows, demur_text_count(g->n_scans));
      demur_rows_cell(&rows, withheld.patients[i] ? g_strdup("withheld")
                                                  : demur_text_count(g->n_patients));
      if (binary)
        demur_rows_cell(&rows, withheld.labels[i] ? g_strdup("withheld")
                                                  : demur_text_percent(positives, 1));
      demur_rows_end(&rows, FALSE);
      few_patients |= withheld.patients[i];
      continue;
    }
    n_small += withheld.scans[i] ? 1 : 0;
    scans += g->n_scans;
    patients += g->n_patients;
    labelled += g->n_labelled;
    positive += g->n_positive;
  }
  if (shown < n) {
    const gboolean few = scans < DEMUR_SMALL_CELL;
    demur_rows_cell(&rows, shown > 0 ? g_strdup_printf("%zu smaller ones together", n - shown)
                                     : g_strdup_printf("%zu together", n - shown));
    demur_rows_cell(&rows, few ? g_strdup("< 10") : demur_text_count(scans));
    demur_rows_cell(&rows, few || few_patients || patients < DEMUR_SMALL_CELL
                               ? g_strdup("withheld")
                               : demur_text_count(patients));
    if (binary) /* with a row's share withheld above, this one's would tell it */
      demur_rows_cell(
          &rows, withheld.any_label
                     ? g_strdup("withheld")
                     : demur_text_percent(labelled ? (double)positive / (double)labelled : NAN, 1));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{column, FALSE, 120, FALSE},
                                       {"Scans", TRUE, 0, FALSE},
                                       {"Patients", TRUE, 0, FALSE},
                                       {share, TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, binary ? 4 : 3, columns);
  if (n_small > 0)
    demur_section_text(p, DEMUR_TEXT_NOTE, "%zu of them are too small to be shown apart.", n_small);
  if (withheld.any_label)
    demur_section_text(p, DEMUR_TEXT_NOTE,
                       "Withheld: fewer than %d scans with or without “%s”, or such a number would "
                       "follow from it.",
                       DEMUR_SMALL_CELL, yes);
}

/* "62 (58 to 66)", owned. */
static char *
quartile_words(const DemurReportCharacteristic *row, size_t split) {
  const double size = fmax(fabs(row->low[split]), fabs(row->high[split]));
  const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  g_autofree char *low = demur_text_decimal(row->low[split], decimals),
                  *median = demur_text_decimal(row->median[split], decimals),
                  *high = demur_text_decimal(row->high[split], decimals);
  return g_strdup_printf("%s\n%s to %s", median, low, high);
}

typedef struct {
  double number; /* NaN: its value is none */
  size_t row;
} Place;

static int
compare_places(gconstpointer a, gconstpointer b) {
  const Place *x = a, *y = b;
  if (isnan(x->number) || isnan(y->number) || x->number == y->number)
    return isnan(x->number) != isnan(y->number) ? (isnan(x->number) ? 1 : -1)
                                                : (x->row > y->row) - (x->row < y->row);
  return x->number < y->number ? -1 : 1;
}

/* The order in print [n_characteristics] (owned): values of an attribute that are numbers by their
 * size, what is no number ("not recorded", "2 others") behind them; others as they are, by how
 * common they are. */
static size_t *
order_of(const DemurReportCohort *c) {
  const DemurReportCharacteristic *rows = c->characteristics;
  size_t *order = g_new(size_t, c->n_characteristics);
  g_autofree Place *places = g_new(Place, c->n_characteristics);
  for (size_t begin = 0, end; begin < c->n_characteristics; begin = end) {
    for (end = begin;
         end < c->n_characteristics && g_strcmp0(rows[end].attribute, rows[begin].attribute) == 0;
         end++) {
      places[end] = (Place){NAN, end};
      if (rows[end].value == NULL ||
          !demur_number_parse(rows[end].value, strlen(rows[end].value), &places[end].number))
        places[end].number = NAN;
    }
    qsort(places + begin, end - begin, sizeof *places, compare_places);
    for (size_t i = begin; i < end; i++)
      order[i] = places[i].row;
  }
  return order;
}

#define MOST_SPLITS 5 /* in print, the evaluated one among them */

/* Table 1: who stands in which split. */
static void
add_characteristics(DemurPages *p) {
  const DemurReportCohort *c = &p->input->cohort;
  if (c->n_characteristics == 0 || c->n_splits == 0)
    return;
  size_t shown[MOST_SPLITS], n_shown = 0;
  for (size_t s = 0; s < c->n_splits; s++) {
    const gboolean evaluated = g_strcmp0(c->splits[s].name, p->e->split) == 0;
    if (n_shown < MOST_SPLITS)
      shown[n_shown++] = s;
    else if (evaluated)
      shown[MOST_SPLITS - 1] = s;
  }
  g_autofree gboolean *withheld =
      demur_withheld_characteristics(c->characteristics, c->n_characteristics, c->n_splits);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Characteristics by split");
  DemurRows rows = demur_rows_new();
  g_autofree size_t *order = order_of(c);
  for (size_t at = 0; at < c->n_characteristics; at++) {
    const size_t i = order[at];
    const DemurReportCharacteristic *row = &c->characteristics[i];
    const gboolean first =
        at == 0 || g_strcmp0(row->attribute, c->characteristics[order[at - 1]].attribute) != 0;
    g_autofree char *name =
        row->title ? g_strdup(row->title) : g_strdelimit(g_strdup(row->attribute), "_", ' ');
    demur_rows_cell(&rows, !row->value ? g_strdup(name)
                           : first     ? g_strdup_printf("%s: %s", name, row->value)
                                       : g_strconcat(DEMUR_LAYOUT_INDENT, row->value, NULL));
    for (size_t k = 0; k < n_shown; k++) {
      const size_t s = shown[k], all = c->splits[s].n_scans;
      g_autofree char *n = demur_text_count(row->counts[s]),
                      *share = demur_text_percent(
                          all > 0 ? (double)row->counts[s] / (double)all : NAN, 1);
      demur_rows_cell(&rows, withheld[i * c->n_splits + s] ? g_strdup("withheld")
                             : row->counts[s] == 0         ? g_strdup(DEMUR_TEXT_UNDEFINED)
                             : row->value                  ? g_strdup_printf("%s (%s)", n, share)
                                                           : quartile_words(row, s));
    }
    demur_rows_end(&rows, FALSE);
  }
  DemurLayoutColumn columns[MOST_SPLITS + 1] = {{"Characteristic", FALSE, 110, FALSE}};
  for (size_t k = 0; k < n_shown; k++)
    columns[k + 1] = (DemurLayoutColumn){c->splits[shown[k]].name, TRUE, 0, FALSE};
  demur_rows_table(p, &rows, n_shown + 1, columns);
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Scans (share of the split), or the median with the quartiles below it. “–”: "
                     "none there. Withheld: fewer than %d, or such a number would follow from it.",
                     DEMUR_SMALL_CELL);
}

void
demur_section_cohort(DemurPages *p) {
  const DemurReportCohort *c = &p->input->cohort;
  const DemurEvaluation *e = p->e;
  demur_layout_page_break(p->layout, SUMMARY_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Cohort");
  g_autofree char *scans = demur_text_counted(e->n_scans, "scan", "scans"),
                  *patients = demur_text_counted(e->n_patients, "patient", "patients"),
                  *sites = demur_text_counted(e->n_sites, "site", "sites"),
                  *date = c->created ? demur_text_date(c->created) : NULL,
                  *made = date ? g_strdup_printf(", made on %s", date) : g_strdup("");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "Cohort %s (%s)%s. This report is about its split “%s”: %s of %s from %s. Risks "
      "come from the model %s.",
      c->name ? c->name : e->cohort, c->source ? c->source : "source not recorded", made, e->split,
      scans, patients, sites,
      c->model   ? c->model
      : e->model ? e->model
                 : "(name not recorded)");
  if (c->label_rule)
    demur_layout_text(p->layout, DEMUR_TEXT_BODY, c->label_rule);
  DemurChart *flow = demur_chart_cohort_flow(&p->finding);
  demur_section_chart(
      p, demur_chart_height(flow, demur_palette_paper(), p->width - 2 * DEMUR_PAGES_MARGIN), flow);
  if (c->n_exclusions > 0)
    add_counts(p, "Left out before the cohort was made", "Reason", c->exclusions, c->n_exclusions);
  else if (!c->simulated)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      c->exclusions_recorded
                          ? "The table was taken whole: nothing was left out when the cohort was "
                            "made. What was left out of the table is for the author to say."
                          : "What was left out before the cohort was made is not recorded.");
  add_counts(p, "Noticed while the cohort's table was read", "What", c->noticed, c->n_noticed);
  add_counts(p, "Follow-up", "State", c->follow_up, c->n_follow_up);
  if (c->n_splits > 0) {
    demur_layout_text(p->layout, DEMUR_TEXT_HEADING, "Splits");
    DemurRows rows = demur_rows_new();
    for (size_t i = 0; i < c->n_splits; i++) {
      const DemurReportSplit *s = &c->splits[i];
      demur_rows_cell(&rows, g_strdup(s->name));
      demur_rows_cell(&rows, demur_text_count(s->n_scans));
      demur_rows_cell(&rows, demur_text_count(s->n_patients));
      demur_rows_cell(&rows, demur_text_count(s->n_sites));
      demur_rows_cell(&rows, demur_text_count(s->n_labelled));
      if (e->n_classes == 2)
        demur_rows_cell(&rows, demur_withheld_prevalence(s) ? g_strdup("withheld")
                                                            : demur_text_percent(s->prevalence, 1));
      demur_rows_end(&rows, g_strcmp0(s->name, e->split) == 0);
    }
    g_autofree char *yes = demur_finding_label(p->input, 1);
    g_autofree char *share = g_strdup_printf("Share “%s”", yes);
    const DemurLayoutColumn columns[] = {{"Split", FALSE, 120, FALSE}, {"Scans", TRUE, 0, FALSE},
                                         {"Patients", TRUE, 0, FALSE}, {"Sites", TRUE, 0, FALSE},
                                         {"Labelled", TRUE, 0, FALSE}, {share, TRUE, 0, FALSE}};
    demur_rows_table(p, &rows, e->n_classes == 2 ? 6 : 5, columns);
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      "No patient stands in two splits. Bold: the split this report is about.");
  }
  add_characteristics(p);
  if (e->n_classes > 2) {
    demur_layout_text(p->layout, DEMUR_TEXT_HEADING, "Labels");
    DemurRows rows = demur_rows_new();
    for (size_t l = 0; l < e->n_classes; l++) {
      demur_rows_cell(&rows, demur_finding_label(p->input, l));
      demur_rows_cell(&rows, demur_text_percent(e->prevalence[l], 1));
      demur_rows_end(&rows, FALSE);
    }
    const DemurLayoutColumn columns[] = {{"Label", FALSE, 120, FALSE},
                                         {"Share of the split", TRUE, 0, FALSE}};
    demur_rows_table(p, &rows, 2, columns);
  }
  DemurChart *years = demur_chart_risk_over_time(&p->finding);
  if (years) {
    demur_layout_keep_begin(p->layout);
    demur_section_text(p, DEMUR_TEXT_HEADING, "Risks and outcomes by year");
    demur_section_chart(p, 150, years);
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "Over the scans whose yearly risk is recorded, accepted or not. Observed: %s, so that "
        "scans that were not followed so long count for as long as they were. Upright "
        "lines: its pointwise 95\u00a0%% intervals.",
        c->years_estimator ? c->years_estimator : "as the cohort has it");
    demur_layout_keep_end(p->layout);
  }
  add_groups(p, "Sites of this split", "Site", c->sites, c->n_sites);
  add_groups(p, "Scanners of this split", "Scanner", c->scanners, c->n_scanners);
}
