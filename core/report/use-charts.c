/* From what became of a selector in use to a chart. */
#include "report/charts-private.h"

/* The path, whose last step is longer so that the line ends with what is so now: an alarm of the
 * last few patients lies on it, and the words beside it are those of the table. */
static DemurEvidencePanel
panel_of(DemurChart *chart, const DemurReportSignal *s) {
  DemurEvidencePanel panel = {.title = s->title,
                              .n = s->n_points,
                              .limit = s->limit,
                              .first = s->first,
                              .last = s->last,
                              .change = s->change,
                              .change_at = s->change_at,
                              .alarm_at = s->alarm_at};
  if (s->n_points == 0)
    return panel;
  size_t *at = demur_chart_own(chart, g_memdup2(s->at, s->n_points * sizeof *at));
  double *evidence = demur_chart_own(chart, g_memdup2(s->evidence, s->n_points * sizeof *evidence));
  at[s->n_points - 1] = s->n;
  evidence[s->n_points - 1] = s->now;
  panel.at = at;
  panel.evidence = evidence;
  return panel;
}

DemurChart *
demur_chart_watch(const DemurReportUse *use, const char *site, DemurWatchSignal signal) {
  const DemurReportWatch *watch = NULL;
  for (size_t i = 0; use && i < use->n_watches && !watch; i++)
    if (!site || g_strcmp0(site, use->watches[i].site) == 0)
      watch = &use->watches[i];
  if (!watch)
    return NULL;
  DemurChart *chart = demur_chart_begin(&demur_evidence_chart, NULL);
  DemurEvidencePanel *panels =
      demur_chart_own(chart, g_new0(DemurEvidencePanel, watch->n_signals + 1));
  size_t n = 0;
  for (size_t s = 0; s < watch->n_signals; s++)
    if (signal < DEMUR_N_WATCH ? watch->signals[s].signal == signal
                               : watch->signals[s].n_points > 0)
      panels[n++] = panel_of(chart, &watch->signals[s]);
  if (n == 0 || (n == 1 && panels[0].n == 0)) {
    demur_chart_free(chart);
    return NULL;
  }
  g_autofree char *where =
      watch->site ? g_strdup_printf(", site %s", watch->site) : g_strdup(", every site");
  chart->title = signal < DEMUR_N_WATCH ? g_strdup_printf("Watch%s: %s", where, panels[0].title)
                                        : g_strdup_printf("Watch%s: every signal", where);
  chart->data.evidence = (DemurEvidence){.title = chart->title, .n_panels = n, .panels = panels};
  return chart;
}

DemurChart *
demur_chart_acceptance(const DemurReportUse *use, const char *site) {
  const DemurReportAcceptance *test = NULL;
  for (size_t i = 0; use && i < use->n_acceptances && !test; i++)
    if (!site || g_strcmp0(site, use->acceptances[i].site) == 0)
      test = &use->acceptances[i];
  if (!test || test->n_looks == 0)
    return NULL;
  DemurChart *chart = demur_chart_begin(&demur_looks_chart, NULL);
  chart->title = g_strdup_printf("Local acceptance test, site %s", test->site);
  chart->data.looks = (DemurLooks){.title = chart->title,
                                   .low = test->range_low,
                                   .high = test->range_high,
                                   .answer = demur_acceptance_answer_name(test->answer),
                                   .n = test->n_looks,
                                   .n_planned = test->n_planned,
                                   .looks = test->looks};
  return chart;
}
