/* What became of the selector in use: a page for each local acceptance test, and one for each watch. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

/* "1.04 (.86 to 1.24)", owned. */
static char *
with_interval(double value, double low, double high, int decimals) {
  g_autofree char *text = demur_text_decimal(value, decimals);
  if (!isfinite(low) || !isfinite(high))
    return g_steal_pointer(&text);
  g_autofree char *from = demur_text_decimal(low, decimals),
                  *to = demur_text_decimal(high, decimals);
  return g_strdup_printf("%s (%s to %s)", text, from, to);
}

static char *
date(const char *iso) {
  return iso ? demur_text_date(iso) : g_strdup(demur_text_recorded(NULL));
}

/* ---- a local acceptance test ---- */

static char *
answer_words(const DemurReportAcceptance *a) {
  if (!a->answered)
    return g_strdup("Not begun: no outcome was looked at yet.");
  if (a->answer == DEMUR_ACCEPTANCE_ACCEPTED)
    return g_strdup(
        "Accepted: what is shown at this site is calibrated, in the range that was agreed.");
  if (a->answer == DEMUR_ACCEPTANCE_NOT_ACCEPTED)
    return g_strdup(a->coverage_kept
                        ? "Not accepted: observed over expected lies outside the agreed range."
                        : "Not accepted: fewer risks are shown at this site than was asked for.");
  const size_t n_left = a->n_planned > a->n_labels ? a->n_planned - a->n_labels : 0;
  switch (a->few ? DEMUR_ACCEPTANCE_TOO_FEW /* their numbers are not told */
                 : demur_acceptance_outlook(a->n_labels, a->n_events, a->n_more, a->ratio, n_left,
                                            a->range_low, a->range_high)) {
  case DEMUR_ACCEPTANCE_TOO_FEW:
  case DEMUR_ACCEPTANCE_IN_SIGHT:
    return a->n_more > 0
               ? g_strdup_printf(
                     "Not decided yet: about %zu more patients with their outcome are needed.",
                     a->n_more)
               : g_strdup("Not decided yet: more patients with their outcome are needed.");
  case DEMUR_ACCEPTANCE_BEYOND_PLAN:
    return g_strdup_printf(
        "Not decided yet. More patients would be needed than the %zu whose outcome is still to come in this "
        "plan: it may end without an answer. A wider range, or more patients, needs a new plan.",
        n_left);
  case DEMUR_ACCEPTANCE_OUTSIDE:
    break;
  }
  return g_strdup(
      "Not decided yet: O:E is not shown to lie in the agreed range, and at what it is so far more "
      "outcomes won't show it. Recalibrate at this site, then plan anew.");
}

static void
add_finding(DemurPages *p, const DemurReportAcceptance *a) {
  g_autofree char *answer = answer_words(a), *planned = date(a->planned),
                  *low = demur_text_decimal(a->range_low, 2),
                  *high = demur_text_decimal(a->range_high, 2);
  demur_section_text(p, DEMUR_TEXT_STRONG, "%s%s", a->simulated ? "Simulated data. " : "", answer);
  if (a->outdated)
    demur_section_text(p, DEMUR_TEXT_STRONG,
                       "The selector was trained anew since: this test was of an earlier one.");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "Observed over expected (O:E) compares how many patients had the outcome with how many the "
      "shown risks let expect: 1 is right, 2 means twice as many as was said. On %s, before an "
      "outcome was seen, it was agreed to accept the selector at this site when O:E is shown to lie "
      "between %s and %s.",
      planned, low, high);
  if (!a->answered)
    return;
  if (a->labels_changed)
    demur_section_text(
        p, DEMUR_TEXT_STRONG,
        "Outcomes that were looked at were changed or taken out before this look: the chance of "
        "accepting wrongly is not the one that was agreed.");
  g_autofree char *looked = date(a->looked),
                  *ratio = with_interval(a->ratio, a->ratio_low, a->ratio_high, 2);
  if (a->few)
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "By %s fewer than %d patients with, or without, the outcome were known: their "
        "numbers are not told.",
        looked, DEMUR_SMALL_CELL);
  else
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "By %s the outcome of %zu patient%s was known, %zu of them had it: O:E is %s.", looked,
        a->n_labels, a->n_labels == 1 ? "" : "s", a->n_events, ratio);
}

static void
add_facts(DemurPages *p, const DemurReportAcceptance *a) {
  DemurRows rows = demur_rows_new();
  demur_rows_pair(
      &rows, "Patients to label",
      a->n_needed > 0
          ? g_strdup_printf("%zu for a chance of %g to accept a site of O:E 1; %zu drawn",
                            a->n_needed, a->power, a->n_planned)
          : g_strdup_printf("more than can be labelled; %zu drawn", a->n_planned));
  demur_rows_pair(
      &rows, "Chance of accepting a site outside the range",
      a->n_earlier == 0
          ? g_strdup_printf("at most %g, however often it is looked at", a->alpha)
          : g_strdup_printf(
                "at most %.3g by this plan, and %g by it and the %zu before it together, "
                "however often they are looked at",
                a->alpha, a->alpha_of_all, a->n_earlier));
  g_autofree char *asked = demur_text_coverage(a->coverage_asked),
                  *share = demur_text_percent(a->coverage, 1),
                  *low = demur_text_percent(a->coverage_low, 1),
                  *high = demur_text_percent(a->coverage_high, 1);
  demur_rows_pair(
      &rows, "Risks shown",
      g_strdup_printf("%s of patients (%s to %s); asked for %s", share, low, high, asked));
  if (a->answered && !a->few) {
    g_autofree char *above = demur_text_evidence(a->evidence_above, NULL),
                    *below = demur_text_evidence(a->evidence_below, NULL),
                    *limit = demur_text_evidence(1.0 / a->alpha, NULL);
    demur_rows_pair(&rows, "Evidence that O:E is above the lower, below the upper end",
                    g_strdup_printf("%s, %s; both must reach %s", above, below, limit));
    demur_rows_pair(&rows, "Calibration intercept (95 % interval)",
                    with_interval(a->intercept, a->intercept_low, a->intercept_high, 2));
    demur_rows_pair(&rows, "AUROC (95 % interval)",
                    with_interval(a->auroc, a->auroc_low, a->auroc_high, 2));
    if (isfinite(a->unaudited))
      demur_rows_pair(&rows, "O:E without the site's audit",
                      with_interval(a->unaudited, a->unaudited_low, a->unaudited_high, 2));
  }
  demur_rows_pair(&rows, "Digest of the plan", g_strdup(demur_text_recorded(a->plan_digest)));
  demur_rows_pair(&rows, "Digest of the outcomes", g_strdup(demur_text_recorded(a->labels_digest)));
  demur_rows_pairs_table(p, &rows, "Fact", "Value");
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "The interval of O:E holds at every look together (a confidence sequence by betting), so that "
      "looking early and often costs nothing; intercept and AUROC are of this look alone. Patients "
      "were drawn once, spread over risk, and labelled in that order by people who saw no risk.");
}

static void
add_test(DemurPages *p, const DemurReportAcceptance *a) {
  demur_layout_page_break(p->layout, 0);
  demur_section_text(p, DEMUR_TEXT_SECTION, "Local acceptance test: site %s",
                     demur_text_recorded(a->site));
  add_finding(p, a);
  DemurChart *chart = demur_chart_acceptance(p->input->use, a->site);
  if (chart) {
    demur_section_chart(p, 210, chart);
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "Each mark is a look at the outcomes known by then, its line the 95\u00a0%% "
        "interval. Accepted: O:E is shown to lie above the lower end of the band, "
        "and below its upper end, each by evidence of its own (in the table), so that "
        "the line may reach a little beyond it. Not accepted: it is shown to lie "
        "outside.");
  }
  add_facts(p, a);
}

/* ---- a watch ---- */

/* Whether there is more to say of it than its panel does. */
static gboolean
is_told(const DemurReportSignal *s) {
  return s->alarm || s->change || s->n_waiting > 0 || s->now >= s->limit / 10.0;
}

static char *
change_words(const DemurReportSignal *s) {
  if (s->change) { /* the title stands beside it already */
    const char *change = s->change;
    if (g_str_has_prefix(change, s->title))
      change += strlen(s->title);
    return g_strstrip(g_strdup(*change == ':' ? change + 1 : change));
  }
  if (s->n_waiting > 0)
    return g_strdup_printf("%zu outcome%s for those of earlier patients", s->n_waiting,
                           s->n_waiting == 1 ? " waits" : "s wait");
  return g_strdup(s->alarm ? "of too few patients to be told" : "–");
}

/* Now, and when it was highest. */
static char *
evidence_words(const DemurReportSignal *s) {
  g_autofree char *now = demur_text_evidence(s->now, NULL),
                  *limit = demur_text_evidence(s->limit, NULL);
  if (s->n == 0)
    return g_strdup("");
  g_autofree char *most = demur_text_evidence(s->most, NULL);
  if (!s->most_reached || strcmp(most, now) == 0)
    return g_strdup_printf("e-value now %s; alarm at %s", now, limit);
  g_autofree char *when = demur_text_date(s->most_reached);
  return g_strdup_printf("e-value now %s, highest %s on %s; alarm at %s", now, most, when, limit);
}

/* A table without rows says nothing, and is left out. */
static void
table_of_some(DemurPages *p, DemurRows *rows, size_t n_columns, const DemurLayoutColumn *columns) {
  if (rows->bold->len > 0) {
    demur_rows_table(p, rows, n_columns, columns);
    return;
  }
  g_ptr_array_unref(rows->cells);
  g_array_unref(rows->bold);
}

static void
add_signals(DemurPages *p, const DemurReportWatch *w) {
  DemurRows rows = demur_rows_new();
  g_autoptr(GString) others = g_string_new(NULL);
  for (size_t i = 0; i < w->n_signals; i++) {
    const DemurReportSignal *s = &w->signals[i];
    if (!is_told(s)) {
      g_string_append_printf(others, "%s%s", others->len > 0 ? ", " : "", s->title);
      continue;
    }
    demur_rows_cell(&rows, g_strdup(s->title));
    demur_rows_cell(
        &rows, g_strdup(s->alarm ? (s->rule == DEMUR_WATCH_NOTE ? "ALARM, told" : "ALARM, stops")
                        : s->now >= s->limit / 10.0 ? "unusual"
                                                    : "no alarm"));
    demur_rows_cell(&rows, evidence_words(s));
    demur_rows_cell(&rows, change_words(s));
    demur_rows_end(&rows, s->alarm);
  }
  const DemurLayoutColumn columns[] = {{"Watched", FALSE, 120, FALSE},
                                       {"State", FALSE, 72, FALSE},
                                       {"Evidence", FALSE, 100, TRUE},
                                       {"What changed most", FALSE, 150, TRUE}};
  table_of_some(p, &rows, G_N_ELEMENTS(columns), columns);
  if (others->len > 0)
    demur_section_text(p, DEMUR_TEXT_BODY, "No alarm, or nothing yet: %s.", others->str);
}

/* Whether the table of signals tells of it. */
static gboolean
is_in_signals(const DemurReportWatch *w, const DemurReportAlarm *alarm) {
  for (size_t i = 0; i < w->n_signals; i++)
    if (w->signals[i].alarm && w->signals[i].signal == alarm->signal)
      return !alarm->lifted;
  return FALSE;
}

/* Alarms that were lifted, and those of an earlier watch that nobody lifted. */
static void
add_alarms(DemurPages *p, const DemurReportWatch *w) {
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < w->n_alarms; i++) {
    const DemurReportAlarm *a = &w->alarms[i];
    if (is_in_signals(w, a))
      continue;
    g_autofree char *lifted = a->lifted ? demur_text_date(a->lifted) : NULL;
    demur_rows_cell(&rows, date(a->created));
    demur_rows_cell(&rows, g_strdup(a->change ? a->change : a->title));
    demur_rows_cell(&rows, lifted ? g_strdup_printf("lifted on %s by %s: %s", lifted, a->lifted_by,
                                                    a->lifted_why)
                           : a->withholds ? g_strdup("no new risk is shown until a person lifts it")
                                          : g_strdup("told, as was agreed; risks are shown"));
    demur_rows_end(&rows, !a->lifted && a->withholds);
  }
  const DemurLayoutColumn columns[] = {{"Earlier alarm", FALSE, 88, FALSE},
                                       {"What changed", FALSE, 150, TRUE},
                                       {"What was done", FALSE, 150, TRUE}};
  table_of_some(p, &rows, G_N_ELEMENTS(columns), columns);
}

static void
add_counts(DemurPages *p, const DemurReportWatch *w) {
  g_autofree char *digest = demur_text_digest(w->plan_digest),
                  *alpha = demur_text_percent(w->alpha, 1);
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Evidence (an e-value) multiplies as it becomes less likely that nothing changed; an alarm is "
      "evidence that once reached the signal's line, whatever it is now. Where nothing changes, at most %s of hospitals ever see one, however long they watch. "
      "Of %zu scans %zu do not count: %zu again of the same patients, %zu of patients of the reference or from before the "
      "watch, %zu of patients who made the selector, %zu taken out or not certain. Shares and "
      "outcomes of fewer than %d patients are not told. Plan %s.",
      alpha, w->n_scans, w->n_again + w->n_before + w->n_trained + w->n_gone, w->n_again,
      w->n_before, w->n_trained, w->n_gone, DEMUR_SMALL_CELL, digest);
}

/* Alarms of other watches, one a row. name: of the page's selector. */
static void
add_stops(DemurPages *p, const char *name, const DemurReportStop *stops, size_t n) {
  DemurRows rows = demur_rows_new();
  gboolean any_unsure = FALSE, any_other = FALSE, any_own = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurReportStop *s = &stops[i];
    const gboolean other = !s->unsure && g_strcmp0(s->selector, name) != 0;
    any_unsure |= s->unsure;
    any_other |= other;
    any_own |= !s->unsure && !other;
    demur_rows_cell(&rows, g_strdup_printf("%" G_GINT64_FORMAT, s->alarm));
    demur_rows_cell(&rows, g_strdup_printf("%s%s", s->selector, s->unsure ? " ?" : ""));
    demur_rows_cell(&rows, g_strdup(s->site ? s->site : "every site"));
    demur_rows_cell(&rows, g_strdup(demur_watch_columns[s->signal].title));
    demur_rows_cell(&rows, date(s->created));
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{"Alarm", FALSE, 44, FALSE},
                                       {"Watch over", FALSE, 110, TRUE},
                                       {"Site", FALSE, 80, TRUE},
                                       {"Signal", FALSE, 110, TRUE},
                                       {"Since", FALSE, 98, FALSE}};
  table_of_some(p, &rows, G_N_ELEMENTS(columns), columns);
  if (any_own)
    demur_section_text(p, DEMUR_TEXT_BODY,
                       "Alarms of watches over this selector's own name stop this site too.");
  if (any_other)
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "Under another name, where no mark stands, it is the same selector: until a person "
        "lifts the alarm, no new risk is shown under this name either.");
  if (any_unsure)
    demur_section_text(p, DEMUR_TEXT_BODY,
                       "Marked by ?: what was watched there is damaged or gone, and nothing tells "
                       "whether it was this selector.");
}

static void
add_what_to_do(DemurPages *p) {
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "What to do: find out what changed at the site (a scanner, a kernel, the model, who is "
      "scanned). Correct it, or show by outcomes or a site audit that the risks still hold. Then "
      "lift each alarm that stops, on the Watch page or by `demur watch lift`, and say why; that "
      "is kept.");
}

/* Alarms of watches over other names, where no watch of the selector's own lists them. */
static void
add_other_stops(DemurPages *p, const DemurReportUse *use) {
  if (use->n_stops == 0)
    return;
  demur_layout_page_break(p->layout, 0);
  demur_section_text(p, DEMUR_TEXT_SECTION, "Watch in use: under another name");
  g_autofree char *since = date(use->stops[use->n_stops - 1].created);
  demur_section_text(p, DEMUR_TEXT_STRONG,
                     "Stopped since %s by what a watch over another name saw: no new risk is shown "
                     "until a person lifts the alarms below.",
                     since);
  add_stops(p, p->input->selector.name, use->stops, use->n_stops);
  add_what_to_do(p);
}

static void
add_watch(DemurPages *p, const DemurReportWatch *w) {
  demur_layout_page_break(p->layout, 0);
  if (w->site)
    demur_section_text(p, DEMUR_TEXT_SECTION, "Watch in use: site %s", w->site);
  else
    demur_section_text(p, DEMUR_TEXT_SECTION, "Watch in use: every site");
  demur_section_text(p, DEMUR_TEXT_STRONG, "%s%s", w->simulated ? "Simulated data. " : "",
                     w->headline);
  add_stops(p, p->input->selector.name, w->stops, w->n_stops);
  if (w->stopped)
    add_what_to_do(p);
  g_autofree char *began = date(w->began),
                  *count = demur_text_counted(w->n_patients, "patient", "patients");
  demur_section_text(p, DEMUR_TEXT_BODY,
                     "Since %s every patient the selector is asked about is compared with %s%s: %s "
                     "so far.",
                     began, w->reference ? "the reference cohort " : "those who came before",
                     w->reference ? w->reference : "", count);
  DemurChart *chart = demur_chart_watch(p->input->use, w->site, DEMUR_N_WATCH);
  if (chart) {
    const double width = p->width - 2 * DEMUR_PAGES_MARGIN;
    demur_section_chart(p, fmin(demur_chart_height(chart, demur_palette_paper(), width), 270),
                        chart);
    demur_section_text(p, DEMUR_TEXT_NOTE,
                       "Patients from left to right. The solid line rises as evidence of a change "
                       "grows; the dashed line is the alarm.");
  }
  add_signals(p, w);
  add_alarms(p, w);
  add_counts(p, w);
}

void
demur_section_use(DemurPages *p) {
  const DemurReportUse *use = p->input->use;
  for (size_t i = 0; use && i < use->n_acceptances; i++)
    add_test(p, &use->acceptances[i]);
  for (size_t i = 0; use && i < use->n_watches; i++)
    add_watch(p, &use->watches[i]);
  if (use)
    add_other_stops(p, use);
}
