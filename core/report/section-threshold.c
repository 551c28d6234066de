/* The threshold, what it guarantees and what not, and site audits. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>

void
demur_section_threshold(DemurPages *p) {
  const DemurReportInput *input = p->input;
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Threshold");
  if (input->n_thresholds == 0) {
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "This selector is not tuned. Every threshold in this report is taken from the "
        "evaluated split's own scores, labels "
        "unseen: the coverage asked is met by construction, and nothing is promised for other "
        "scans.");
    return;
  }
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    const DemurOperatingPoint *at = demur_finding_at(p->finding.subject, t->requested, TRUE);
    demur_rows_cell(&rows, demur_text_coverage(t->requested));
    demur_rows_cell(&rows, demur_text_significant(t->threshold, 3));
    demur_rows_cell(&rows, g_strdup_printf("%s, %s", t->cohort ? t->cohort : "cohort not recorded",
                                           t->split ? t->split : "split not recorded"));
    demur_rows_cell(&rows, demur_text_count(t->n));
    demur_rows_cell(&rows, demur_text_percent(t->realised, 1));
    demur_rows_cell(&rows, demur_text_percent(at ? at->realised : NAN, 1));
    demur_rows_cell(&rows, at ? demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3)
                              : g_strdup(DEMUR_TEXT_UNDEFINED));
    demur_rows_cell(&rows,
                    t->created ? demur_text_date(t->created) : g_strdup(demur_text_recorded(NULL)));
    demur_rows_end(&rows, i + 1 == input->n_thresholds);
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
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "A scan is accepted when its score reaches the threshold. “Here”: the threshold applied "
      "unchanged to the split of this report. Bold: the current one. “–”: not evaluated here.");
  gboolean heading = FALSE;
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    if (!t->guarantee)
      continue;
    if (!heading)
      demur_section_text(p, DEMUR_TEXT_HEADING, "What it guarantees");
    heading = TRUE;
    g_autofree char *percent = demur_text_coverage(t->requested);
    demur_section_text(p, DEMUR_TEXT_BODY, "%s: %s", percent, t->guarantee);
  }
  demur_section_text(p, DEMUR_TEXT_HEADING, "What it does not guarantee");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "Any statement about coverage holds for scans drawn like the tuning split. For a site "
      "that is not in it there is no "
      "guarantee: watch the coverage reached there. Coverage says how many risks are shown, "
      "not that they are right.");
}

void
demur_section_audits(DemurPages *p) {
  const DemurReportInput *input = p->input;
  if (input->n_audits == 0)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Site audits");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "At these sites a few outcomes were compared with the risks (“demur audit”). What was "
      "learnt is added to the log-odds of a site's risks wherever a verdict is given there; "
      "the numbers of this report are without it.");
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < input->n_audits; i++) {
    const DemurReportAudit *a = &input->audits[i];
    g_autofree char *value = demur_text_signed(a->intercept, 2),
                    *low = demur_text_signed(a->low, 2), *high = demur_text_signed(a->high, 2);
    demur_rows_cell(&rows, g_strdup(demur_text_recorded(a->site)));
    demur_rows_cell(&rows, g_strdup(a->in_split ? "yes" : "no"));
    demur_rows_cell(&rows, a->n_labels < DEMUR_SMALL_CELL ? g_strdup("< 10")
                                                          : demur_text_count(a->n_labels));
    demur_rows_cell(&rows, g_strdup(demur_text_recorded(a->cohort)));
    demur_rows_cell(&rows, g_strdup_printf("%s (%s to %s)", value, low, high));
    demur_rows_cell(&rows,
                    a->created ? demur_text_date(a->created) : g_strdup(demur_text_recorded(NULL)));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{"Site", FALSE, 90, TRUE},
                                       {"In this split", FALSE, 40, FALSE},
                                       {"Labels", TRUE, 0, FALSE},
                                       {"Of cohort", FALSE, 60, FALSE},
                                       {"Intercept (95\u00a0% interval)", TRUE, 0, FALSE},
                                       {"Date", FALSE, 60, FALSE}};
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
}
