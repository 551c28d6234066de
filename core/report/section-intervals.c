/* How far shown risks may be off at their hospitals: whether the intervals hold here, and what
 * holding back across a decision threshold gains beside the selector. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

static char *
row_title(const DemurHoldBack *hold_back, const DemurHoldBackRow *row) {
  if (row->is_rule)
    return g_strdup("intervals that hold the threshold held back");
  if (row->kind == DEMUR_METHOD_FULL)
    return g_strdup("everything shown");
  if (row->kind == DEMUR_METHOD_SELECTOR)
    return g_strdup_printf("selector %s, as many shown", hold_back->selector);
  return g_strdup_printf("%s, as many shown", row->method);
}

static void
add_rule(DemurPages *p, const DemurHoldBack *hold_back) {
  DemurRows rows = demur_rows_new();
  for (size_t r = 0; r < hold_back->n_rows; r++) {
    const DemurHoldBackRow *row = &hold_back->rows[r];
    demur_rows_cell(&rows, row_title(hold_back, row));
    demur_rows_cell(&rows, isfinite(row->coverage) ? demur_text_count(row->n_shown)
                                                   : g_strdup("withheld"));
    demur_rows_cell(&rows, demur_text_percent(row->coverage, 1));
    demur_rows_cell(&rows, demur_text_decimal(row->net_benefit, 4));
    demur_rows_cell(&rows, demur_text_decimal(row->selectivity, 2));
    demur_rows_end(&rows, row->is_rule);
  }
  const DemurLayoutColumn columns[] = {{"Shown by", FALSE, 170, FALSE},
                                       {"Scans", TRUE, 0, FALSE},
                                       {"Coverage", TRUE, 0, FALSE},
                                       {"Net benefit", TRUE, 0, FALSE},
                                       {"Selectivity", TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
  g_autofree char *decision = demur_text_percent(hold_back->decision, 1);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Decision threshold %s (%s). Net benefit: of the scans shown, treated from the threshold up. "
      "Selectivity: mean cost of a wrong call among the scans held back, relative to all; 1 is "
      "holding back by lot. Model 1. So that they tell of no few outcomes, those of the intervals are "
      "rounded to steps of %d outcomes (“–” where that is more than the number), and others are at "
      "the nearest coverage that may be told.",
      decision,
      hold_back->tuned ? "the one that the current threshold holds back across"
                       : "that of net benefit; nothing is held back across it now",
      DEMUR_SMALL_CELL);
}

void
demur_section_intervals(DemurPages *p) {
  for (size_t h = 0; h < p->e->n_hold_back; h++) {
    const DemurHoldBack *hold_back = &p->e->hold_back[h];
    if (strcmp(hold_back->selector, p->input->selector.name) != 0)
      continue;
    g_autofree char *width = demur_text_decimal(hold_back->mean_width, 3),
                    *sites = demur_text_counted(hold_back->n_sites, "site", "sites");
    demur_section_text(p, DEMUR_TEXT_HEADING, "How far a risk may be off at its hospital");
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "Beside each risk stands a 95\u00a0%% interval for its hospital (mean width here %s). The "
        "number of outcomes lay within what the intervals and chance allow at %zu of %s with at "
        "least %d scans.",
        width, hold_back->n_held, sites, DEMUR_SMALL_CELL);
    add_rule(p, hold_back);
  }
}
