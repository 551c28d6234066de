/* How calibrated the accepted scans of each subgroup are. */
#include "report/section.h"

#include "evaluation/grouping.h"
#include "report/charts.h"
#include "report/format.h"

#include <math.h>

#include <string.h>

static int
compare_sizes(gconstpointer a, gconstpointer b) {
  const DemurGroup *x = *(const DemurGroup *const *)a, *y = *(const DemurGroup *const *)b;
  if (x->n_scans != y->n_scans)
    return x->n_scans > y->n_scans ? -1 : 1;
  return strcmp(x->value, y->value);
}

/* What the forest says together: how far hospitals differ, and where a new one would lie. */
static void
add_heterogeneity(DemurPages *p, size_t from, size_t to) {
  const DemurHeterogeneity h = demur_finding_heterogeneity(&p->finding, from, to);
  if (h.k < 2)
    return;
  g_autofree char *mean = demur_text_decimal(exp(h.mean), 2),
                  *low = demur_text_decimal(exp(h.low), 2),
                  *high = demur_text_decimal(exp(h.high), 2), *i2 = demur_text_percent(h.i2, 0),
                  *tau = demur_text_decimal(sqrt(h.tau2), 2),
                  *new_low = demur_text_decimal(exp(h.predicted_low), 2),
                  *new_high = demur_text_decimal(exp(h.predicted_high), 2);
  g_autofree char *predicted =
      h.k > 2 ? g_strdup_printf("; for a group that is not among them %s to %s is expected",
                                new_low, new_high)
              : g_strdup("");
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Together (random effects, %zu groups): O:E %s (%s to %s); I² %s, τ %s of "
                     "log O:E%s.",
                     h.k, mean, low, high, i2, tau, predicted);
}

/* The paper's bars of each perturbation. */
static void
add_shift_bars(DemurPages *p, size_t from, size_t to) {
  DemurChart *chart = demur_chart_group_bars(&p->finding, from, to, DEMUR_SECTION_MOST_GROUPS);
  if (!chart)
    return;
  demur_section_chart(
      p, demur_chart_height(chart, demur_palette_paper(), p->width - 2 * DEMUR_PAGES_MARGIN),
      chart);
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Averaged over coverage, thresholds from each perturbation's own scores; the "
                     "mean counts each perturbation alike.");
}

/* Whether anything is told of the accepted of a group: errors of few bins are withheld of a set that is
 * not told, O:E where no told set is near, the slope of neither. */
static gboolean
tells(const DemurOperatingPoint *at) {
  return at && (isfinite(at->measures[DEMUR_MEASURE_SBCE2]) ||
                isfinite(at->measures[DEMUR_MEASURE_OE_RATIO]) ||
                isfinite(at->measures[DEMUR_MEASURE_SLOPE]));
}

/* FALSE: every group is withheld, and that is said. */
static gboolean
add_group_table(DemurPages *p, size_t from, size_t to) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  g_autoptr(GPtrArray) sorted = g_ptr_array_new();
  size_t n_small = 0;
  for (size_t g = from; g < to; g++) {
    const DemurOperatingPoint *at = demur_finding_group_at(&p->finding, &e->groups[g]);
    if (tells(at))
      g_ptr_array_add(sorted, &e->groups[g]);
    else
      n_small++;
  }
  if (sorted->len == 0) {
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "By %s: no group has %d accepted scans of each label or more; all are withheld.",
        e->groups[from].by, DEMUR_SMALL_CELL);
    return FALSE;
  }
  g_ptr_array_sort(sorted, compare_sizes);
  demur_section_forest(p, demur_chart_oe_forest, from, to);
  add_heterogeneity(p, from, to);
  if (demur_grouping_is_shift(e->groups[from].by))
    add_shift_bars(p, from, to);
  DemurRows rows = demur_rows_new();
  gboolean others = FALSE;
  for (guint i = 0; i < MIN(sorted->len, DEMUR_SECTION_MOST_GROUPS); i++) {
    const DemurGroup *group = g_ptr_array_index(sorted, i);
    const DemurOperatingPoint *at = demur_finding_group_at(&p->finding, group);
    others |= demur_operating_counts_others(at);
    demur_rows_cell(&rows, g_strdup(demur_text_recorded(group->value)));
    demur_rows_cell(&rows, demur_text_count(at->n_accepted));
    demur_rows_cell(&rows, demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3));
    demur_rows_cell(&rows, demur_text_decimal(at->noise_floor, 3));
    demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_OE_RATIO],
                                                  at->intervals[DEMUR_MEASURE_OE_RATIO], 2));
    if (binary)
      demur_rows_cell(&rows, demur_section_interval(at->measures[DEMUR_MEASURE_SLOPE],
                                                    at->intervals[DEMUR_MEASURE_SLOPE], 2));
    demur_rows_end(&rows, FALSE);
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
  demur_rows_table(p, &rows, binary ? 6 : 5, columns);
  if (others)
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "O:E is of the group's scans among those whose outcomes are counted (see the "
        "first page), not of all that are accepted.");
  const size_t left =
      sorted->len > DEMUR_SECTION_MOST_GROUPS ? sorted->len - DEMUR_SECTION_MOST_GROUPS : 0;
  g_autofree char *printed = demur_text_counted(left, "smaller group is", "smaller groups are"),
                  *small = demur_text_counted(n_small, "group is", "groups are");
  if (left > 0)
    demur_section_text(p, DEMUR_TEXT_NOTE, "%s not printed here; the JSON holds them.", printed);
  if (n_small > 0)
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "%s withheld: fewer than %d accepted scans of a label, or telling of such a group.", small,
        DEMUR_SMALL_CELL);
  return TRUE;
}

static char *
difference_words(double difference, double low, double high) {
  g_autofree char *point = demur_text_signed(difference, 3), *from = demur_text_signed(low, 3),
                  *to = demur_text_signed(high, 3);
  return isfinite(low) && isfinite(high) ? g_strdup_printf("%s\n%s to %s", point, from, to)
                                         : g_steal_pointer(&point);
}

/* The contrast of the report's selector at a site; NULL: none. */
static const DemurSiteContrast *
contrast_of(const DemurReportFinding *f, const DemurGroup *group) {
  for (size_t i = 0; i < group->n_contrasts; i++)
    if (g_str_equal(group->contrasts[i].method, f->subject->name) &&
        !group->contrasts[i].recalibrated == !f->subject->recalibrated)
      return &group->contrasts[i];
  return NULL;
}

/* Where the selector of the report is better than plain confidence, site by site. */
static void
add_site_contrasts(DemurPages *p, size_t from, size_t to) {
  const DemurEvaluation *e = p->e;
  size_t n[DEMUR_VERDICT_CANNOT_BE_DECIDED + 1] = {0}, n_sites = 0;
  for (size_t g = from; g < to; g++) {
    const DemurSiteContrast *c = contrast_of(&p->finding, &e->groups[g]);
    n_sites += c != NULL;
    if (c != NULL)
      n[c->verdict]++;
  }
  if (n_sites == 0)
    return;
  if (demur_finding_is_confidence(&p->finding)) {
    demur_section_text(p, DEMUR_TEXT_BODY,
                       "At every site the selector keeps what plain confidence keeps.");
    return;
  }
  demur_section_text(p, DEMUR_TEXT_BODY,
                     "Where the selector helps: it is better than plain confidence at %zu of %zu "
                     "sites, worse at %zu; at %zu no difference is shown.",
                     n[DEMUR_VERDICT_BETTER], n_sites, n[DEMUR_VERDICT_WORSE],
                     n[DEMUR_VERDICT_NO_DIFFERENCE_SHOWN]);
  DemurRows rows = demur_rows_new();
  for (size_t g = from; g < to; g++) {
    const DemurSiteContrast *c = contrast_of(&p->finding, &e->groups[g]);
    if (c == NULL)
      continue;
    demur_rows_cell(&rows, g_strdup(demur_text_recorded(e->groups[g].value)));
    demur_rows_cell(&rows, difference_words(c->plain.difference, c->plain.low, c->plain.high));
    demur_rows_cell(&rows,
                    difference_words(c->debiased.difference, c->debiased.low, c->debiased.high));
    demur_rows_cell(&rows, g_strdup(demur_comparison_verdict_words(c->verdict)));
    demur_rows_end(&rows, c->verdict == DEMUR_VERDICT_BETTER);
  }
  const DemurLayoutColumn columns[] = {{"Site", FALSE, 140, TRUE},
                                       {"Selector − confidence", TRUE, 0, FALSE},
                                       {"Debiased", TRUE, 0, FALSE},
                                       {"The selector is", FALSE, 120, TRUE}};
  demur_rows_table(p, &rows, 4, columns);
  demur_section_text(p, DEMUR_TEXT_NOTE,
                     "Difference of %s, averaged over coverage; below 0 is better. 95\u00a0%% "
                     "intervals resample the site's patients; the verdict is corrected for the "
                     "number of sites, and tells of these sites, not of others.",
                     demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes));
}

void
demur_section_group_calibration(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  if (e->n_groups == 0)
    return;
  g_autofree char *coverage = demur_text_coverage(p->finding.coverage);
  demur_section_text(p, DEMUR_TEXT_HEADING,
                     "How calibrated the accepted are, by subgroup, at coverage %s", coverage);
  gboolean any = FALSE;
  for (size_t from = 0, to; from < e->n_groups; from = to) {
    to = from + 1;
    while (to < e->n_groups && g_str_equal(e->groups[to].by, e->groups[from].by))
      to++;
    any |= add_group_table(p, from, to);
    add_site_contrasts(p, from, to);
  }
  if (!any)
    return;
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "The threshold of the whole split, applied to each group. Small groups have large errors "
      "by chance: compare with the noise floor. Second line: 95\u00a0%% bootstrap interval of "
      "the group's patients.");
}
