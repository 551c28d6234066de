/* Who is refused: by label, and by subgroup. */
#include "report/section.h"

#include "report/charts.h"
#include "report/format.h"
#include "report/withheld.h"

#include <math.h>

void
demur_section_rejections(DemurPages *p) {
  gboolean any = FALSE, kept = FALSE;
  for (size_t i = 0; i < DEMUR_SECTION_N_COVERAGES; i++) {
    DemurChart *shares =
        demur_chart_rejection(&p->finding, demur_section_coverages[i], DEMUR_REJECTION_SHARES);
    if (!shares)
      continue;
    const DemurLayoutFigure figures[2] = {
        demur_section_figure(shares),
        demur_section_figure(
            demur_chart_rejection(&p->finding, demur_section_coverages[i], DEMUR_REJECTION_RATES))};
    if (!any)
      demur_section_text(p, DEMUR_TEXT_HEADING, "Who is refused, by label");
    any = TRUE;
    if (i + 1 == DEMUR_SECTION_N_COVERAGES) { /* with the note below */
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
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "A method that refuses regardless of the outcome gives each label the share it has in "
      "all scans, and the same rate to every label; below a label the share it has. Upright lines: "
      "95\u00a0%% bootstrap "
      "intervals. Withheld where fewer than %d scans of a label are refused, or kept, or would be "
      "told by another coverage.",
      DEMUR_SMALL_CELL);
  if (kept)
    demur_layout_keep_end(p->layout);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Refusals in numbers");
  DemurRows rows = demur_rows_new();
  const DemurMethodResult *methods[2] = {p->finding.subject, p->finding.confidence};
  gboolean left_out = FALSE;
  for (size_t i = 0; i < DEMUR_SECTION_N_COVERAGES; i++)
    for (size_t m = 0; m < 2; m++) {
      const DemurOperatingPoint *at =
          demur_finding_at(methods[m], demur_section_coverages[i], FALSE);
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
        demur_rows_cell(&rows, demur_text_coverage(at->coverage));
        demur_rows_cell(&rows, g_strdup(demur_section_short_title(p, methods[m])));
        demur_rows_cell(&rows, demur_finding_label(p->input, l));
        demur_rows_cell(&rows, demur_text_count(r->n_all));
        demur_rows_cell(&rows,
                        r->withheld ? g_strdup("withheld") : demur_text_count(r->n_rejected));
        demur_rows_cell(&rows, demur_text_percent(r->rate, 1));
        demur_rows_cell(&rows, isfinite(r->rate_low) && isfinite(r->rate_high)
                                   ? g_strdup_printf("%s to %s", low, high)
                                   : g_strdup(DEMUR_TEXT_UNDEFINED));
        demur_rows_cell(&rows, demur_text_percent(r->share_of_rejected, 1));
        demur_rows_cell(&rows, demur_text_percent(r->share_of_all, 1));
        demur_rows_end(&rows, FALSE);
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
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
  if (left_out)
    demur_layout_text(p->layout, DEMUR_TEXT_NOTE,
                      "The other coverages' numbers are in the charts above and in the JSON.");
}

void
demur_section_subgroups(DemurPages *p) {
  const DemurReportInput *input = p->input;
  if (input->n_rejections == 0)
    return;
  g_autofree gboolean *withheld = demur_withheld_rejections(input->rejections, input->n_rejections);
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  demur_section_text(p, DEMUR_TEXT_HEADING, "Who is refused, by subgroup, at coverage %s",
                     coverage);
  gboolean any = FALSE;
  for (size_t from = 0, to; from < input->n_rejections; from = to) {
    to = from + 1;
    while (to < input->n_rejections &&
           g_strcmp0(input->rejections[to].attribute, input->rejections[from].attribute) == 0)
      to++;
    size_t n_withheld = 0;
    for (size_t i = from; i < to; i++)
      n_withheld += withheld[i] ? 1 : 0;
    if (n_withheld == to - from) {
      g_autofree char *n = demur_text_counted(n_withheld, "group", "groups");
      demur_section_text(p, DEMUR_TEXT_BODY, "By %s: %s, withheld: fewer than %d scans each.",
                         input->rejections[from].attribute, n, DEMUR_SMALL_CELL);
      continue;
    }
    demur_section_forest(p, demur_chart_forest, from, to);
    any = TRUE;
  }
  if (!any)
    return;
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Dotted upright: the share refused over all. Diamond and bold: its interval leaves that "
      "share out; with many groups some do so by chance. Rates of groups with fewer than %d "
      "scans are withheld, and those that would tell them.",
      DEMUR_SMALL_CELL);
}
