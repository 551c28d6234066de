/* Comparisons of methods, averaged over coverage. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>

/* A method's title by its JSON name. */
static const char *
title_of(const DemurPages *p, const char *name, gboolean recalibrated) {
  const DemurMethodResult *method = demur_evaluation_method(p->e, name, recalibrated);
  return method ? demur_finding_title(&p->finding, method) : name;
}

static gboolean
same_pair(const DemurComparison *a, const DemurComparison *b) {
  return g_str_equal(a->method, b->method) && g_str_equal(a->against, b->against) &&
         !a->recalibrated == !b->recalibrated;
}

/* Selectors against everything; the other methods only against what needs no training. */
static gboolean
in_print(const DemurComparison *c) {
  return c->method_kind == DEMUR_METHOD_SELECTOR || c->against_kind == DEMUR_METHOD_CONFIDENCE ||
         c->against_kind == DEMUR_METHOD_FULL;
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
void
demur_section_comparisons(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Comparisons, averaged over coverage");
  if (e->n_comparisons == 0) {
    demur_section_text(p, DEMUR_TEXT_BODY, "No comparison between methods was made.");
    return;
  }
  const gboolean kinds = demur_section_both_kinds(e);
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < e->n_comparisons; i++) {
    const DemurComparison *c = &e->comparisons[i];
    gboolean done = FALSE;
    for (size_t k = 0; k < i && !done; k++)
      done = same_pair(c, &e->comparisons[k]);
    if (done || !in_print(c))
      continue;
    const DemurComparison *columns[DEMUR_N_COMPARED] = {NULL};
    for (size_t k = i; k < e->n_comparisons; k++)
      if (same_pair(c, &e->comparisons[k]))
        columns[e->comparisons[k].measure] = &e->comparisons[k];
    const char *title = title_of(p, c->method, c->recalibrated);
    demur_rows_cell(&rows, kinds ? g_strdup_printf("%s\n%s risks", title,
                                                   c->recalibrated ? "recalibrated" : "raw")
                                 : g_strdup(title));
    demur_rows_cell(&rows, g_strdup(title_of(p, c->against, c->recalibrated)));
    for (int k = 0; k < DEMUR_N_COMPARED; k++)
      demur_rows_cell(&rows,
                      columns[k] ? comparison_words(columns[k]) : g_strdup(DEMUR_TEXT_UNDEFINED));
    demur_rows_end(&rows, FALSE);
  }
  const char *measure = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes);
  g_autofree char *debiased = g_strdup_printf("%s, debiased", measure);
  const DemurLayoutColumn columns[] = {{"Method", FALSE, 80, FALSE},
                                       {"Against", FALSE, 80, FALSE},
                                       {measure, TRUE, 0, FALSE},
                                       {debiased, TRUE, 0, FALSE},
                                       {"Site error", TRUE, 0, FALSE}};
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
  const DemurComparison *first = &e->comparisons[0];
  g_autofree char *level = demur_text_coverage(first->level),
                  *units = demur_text_count(first->n_units);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Method minus the other, with its %s interval (percentile bootstrap of paired "
      "differences, resampling %s %s%s); below zero the method's error is smaller. The "
      "report's verdict is “better” only where the intervals of %s, plain and debiased, lie "
      "below zero and the site error is not worse; “worse” the other way round.",
      level, units, demur_unit_name(first->unit), first->n_units == 1 ? "" : "s", measure);
}
