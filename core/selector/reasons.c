/* Contribution of a quantity: g~(x with it at what is typical of the accepted training scans) -
 * g~(x), the paper's selector asked what it would have said. A quantity is one meta feature alone,
 * or an attribute of how the scan was made with all its columns (a number and "not recorded"; the
 * 0/1 columns of a text): what is named is what moved, and nothing beside it moved. Typical is the
 * median; of a text the most frequent value. How unusual it is: the share of the training scans
 * that it lies beyond, counted among those that the selector keeps.
 * Cost: one forward pass a quantity, and one pass over the kept training scans for the nearest. */
#include "selector/reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/sort-floats.h"
#include "selector/making.h"
#include "selector/nearest-scans.h"
#include "selector/reasons-private.h"

static double
quantile(const float *sorted, size_t n, double p) {
  const double place = p * (double)(n - 1);
  const size_t below = (size_t)place;
  const double part = place - (double)below;
  return below + 1 < n ? (1.0 - part) * (double)sorted[below] + part * (double)sorted[below + 1]
                       : (double)sorted[below];
}

/* Place of a column among those of how the scan was made; -1 for another one. */
static gssize
acquisition_column(const DemurSelector *s, size_t column) {
  const size_t first = s->columns->n_columns - s->columns->n_acquisition;
  return column >= first ? (gssize)(column - first) : -1;
}

static DemurQuantityKind
kind_of(const DemurSelector *s, size_t column) {
  const size_t image = s->columns->n_confidence, past = image + s->columns->n_outlier;
  return acquisition_column(s, column) >= 0 ? DEMUR_OF_MAKING
         : column >= image && column < past ? DEMUR_OF_IMAGE
                                            : DEMUR_OF_RISK;
}

/* Numbers come before "not recorded" among the columns of a subject, so the first is its name. */
static void
find_quantities(DemurReasoner *r) {
  const DemurSelector *s = r->selector;
  gboolean seen[DEMUR_N_ACQUISITION] = {FALSE};
  r->quantities = g_new0(DemurQuantity, MAX(s->n_inputs, 1));
  for (size_t c = 0; c < s->n_inputs; c++) {
    DemurQuantity quantity = {kind_of(s, s->inputs[c]), c, 0};
    if (quantity.kind == DEMUR_OF_MAKING) {
      quantity.subject = demur_acquisition_column_subject(
          s->acquisition, (size_t)acquisition_column(s, s->inputs[c]));
      if (seen[quantity.subject])
        continue;
      seen[quantity.subject] = TRUE;
    }
    r->quantities[r->n_quantities++] = quantity;
  }
}

gboolean
demur_reasoner_belongs(const DemurReasoner *r, const DemurQuantity *quantity, size_t input) {
  if (quantity->kind != DEMUR_OF_MAKING)
    return input == quantity->input;
  const gssize place = acquisition_column(r->selector, r->selector->inputs[input]);
  return place >= 0 && demur_acquisition_column_subject(r->selector->acquisition, (size_t)place) ==
                           quantity->subject;
}

DemurAcquisitionColumnKind
demur_reasoner_column_kind(const DemurReasoner *r, size_t input) {
  const gssize place = acquisition_column(r->selector, r->selector->inputs[input]);
  return demur_acquisition_column_kind(r->selector->acquisition, (size_t)place);
}

/* The input that says whether the number of a quantity is not recorded; n_inputs: there is none. */
size_t
demur_reasoner_unknown(const DemurReasoner *r, const DemurQuantity *quantity) {
  const size_t d = r->selector->n_inputs;
  for (size_t c = 0; c < d && quantity->kind == DEMUR_OF_MAKING; c++)
    if (demur_reasoner_belongs(r, quantity, c) &&
        demur_reasoner_column_kind(r, c) == DEMUR_ACQUISITION_UNKNOWN)
      return c;
  return d;
}

/* The 0/1 columns of a text have one median together: the most frequent value among the accepted
 * scans, "any other" included. shares [n_inputs] of ones among them. */
static void
settle_texts(DemurReasoner *r, const double *shares) {
  const DemurSelector *s = r->selector;
  for (size_t q = 0; q < r->n_quantities; q++) {
    if (r->quantities[q].kind != DEMUR_OF_MAKING)
      continue;
    double other = 1.0;
    size_t most = s->n_inputs;
    for (size_t c = 0; c < s->n_inputs; c++) {
      if (!demur_reasoner_belongs(r, &r->quantities[q], c) ||
          demur_reasoner_column_kind(r, c) != DEMUR_ACQUISITION_GROUP)
        continue;
      r->summaries[c].median = 0.0;
      other -= shares[c];
      if (most == s->n_inputs || shares[c] > shares[most])
        most = c;
    }
    if (most < s->n_inputs && shares[most] >= other)
      r->summaries[most].median = 1.0;
  }
}

/* Values of a quantity's number where it is recorded, ascending. */
static void
sort_known(DemurReasoner *r, const DemurQuantity *quantity) {
  const DemurSelector *s = r->selector;
  const size_t d = s->n_inputs, unknown = demur_reasoner_unknown(r, quantity);
  DemurColumnSummary *summary = &r->summaries[quantity->input];
  /* "Not recorded" is 0 or 1, and above 0 only where it is 1, standardised or not. */
  summary->sorted = g_new(float, MAX(s->n_kept, 1));
  for (size_t i = 0; i < s->n_kept; i++)
    if (unknown == d || unknown == quantity->input || !(s->kept_inputs[i * d + unknown] > 0.0f))
      summary->sorted[summary->n++] = s->kept_inputs[i * d + quantity->input];
  demur_sort_floats(summary->sorted, summary->n);
}

static void
summarise(DemurReasoner *r) {
  const DemurSelector *s = r->selector;
  const size_t d = s->n_inputs, n = s->n_kept;
  /* With risk bands the kept scores are g~ and the threshold a share: then all training scans
   * describe. */
  const gboolean comparable = s->settings->risk_bands == 0;
  size_t n_accepted = 0;
  for (size_t i = 0; i < n; i++)
    n_accepted += comparable && (double)s->kept_scores[i] >= r->threshold;
  const gboolean all = n_accepted == 0;
  const double *means = demur_scaler_means(s->scaler), *sds = demur_scaler_sds(s->scaler);
  g_autofree float *values = g_new(float, MAX(n, 1));
  g_autofree double *shares = g_new0(double, MAX(d, 1));
  for (size_t c = 0; c < d && n > 0; c++) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
      if (all || (double)s->kept_scores[i] >= r->threshold)
        values[m++] = s->kept_inputs[i * d + c];
    for (size_t i = 0; i < m; i++)
      shares[c] += (means[c] + sds[c] * (double)values[i]) / (double)m;
    demur_sort_floats(values, m);
    r->summaries[c].median = means[c] + sds[c] * quantile(values, m, 0.5);
    r->summaries[c].low = means[c] + sds[c] * quantile(values, m, 0.01);
    r->summaries[c].high = means[c] + sds[c] * quantile(values, m, 0.99);
  }
  settle_texts(r, shares);
  for (size_t q = 0; q < r->n_quantities; q++)
    sort_known(r, &r->quantities[q]);
}

DemurReasoner *
demur_reasoner_new(const DemurSelector *selector, double threshold, size_t n_most) {
  DemurReasoner *r = g_new0(DemurReasoner, 1);
  r->selector = selector;
  r->threshold = threshold;
  r->n_most = MAX(n_most, 1);
  r->summaries = g_new0(DemurColumnSummary, MAX(selector->n_inputs, 1));
  find_quantities(r);
  r->telling = g_new0(gboolean, r->n_quantities + DEMUR_REASONER_WHOLES);
  return r;
}

void
demur_reasoner_free(DemurReasoner *r) {
  if (r == NULL)
    return;
  for (size_t c = 0; c < r->selector->n_inputs; c++)
    g_free(r->summaries[c].sorted);
  g_free(r->summaries);
  g_free(r->quantities);
  g_free(r->telling);
  demur_scan_finder_free(r->finder);
  g_free(r);
}

void
demur_reasoner_score(const DemurReasoner *r, const double *meta, size_t n, guint kinds,
                     double *scores) {
  const DemurSelector *s = r->selector;
  const size_t width = s->columns->n_columns;
  g_autofree size_t *places =
      g_new(size_t, r->n_quantities + 1); /* of each row among a scan's scores */
  size_t n_rows = 1;
  places[0] = 0;
  for (size_t q = 0; q < r->n_quantities; q++)
    if (kinds & 1u << r->quantities[q].kind)
      places[n_rows++] = q + 1;
  g_autofree double *rows = g_new(double, n *n_rows *width), *found = g_new(double, n *n_rows);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n_rows; k++) {
      double *row = rows + (i * n_rows + k) * width;
      memcpy(row, meta + i * width, width * sizeof(double));
      for (size_t c = 0; k > 0 && c < s->n_inputs; c++)
        if (demur_reasoner_belongs(r, &r->quantities[places[k] - 1], c))
          row[s->inputs[c]] = r->summaries[c].median;
    }
  demur_selector_scores(s, 0, rows, n * n_rows, found);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n_rows; k++)
      scores[i * (r->n_quantities + 1) + places[k]] = found[i * n_rows + k];
}

int
demur_reason_candidates_compare(const void *a, const void *b) {
  const DemurReasonCandidate *x = a, *y = b;
  if (x->contribution != y->contribution)
    return x->contribution < y->contribution ? 1 : -1;
  return (x->quantity > y->quantity) - (x->quantity < y->quantity);
}

/* What lowers the score, the most first: one at least, then only what does. candidates has room for
 * all quantities. */
size_t
demur_reasoner_candidates(const DemurReasoner *r, const double *scores,
                          DemurReasonCandidate *candidates) {
  for (size_t q = 0; q < r->n_quantities; q++)
    candidates[q] = (DemurReasonCandidate){q, scores[q + 1] - scores[0]};
  qsort(candidates, r->n_quantities, sizeof *candidates, demur_reason_candidates_compare);
  size_t n = MIN(r->n_quantities, 1);
  while (n < r->n_quantities && candidates[n].contribution > 0.0)
    n++;
  return n;
}

static DemurReasonPlace
place_of(double value, double median, double low, double high) {
  if (isnan(value) || isnan(median))
    return DEMUR_PLACE_UNKNOWN;
  return value > high     ? DEMUR_PLACE_ABOVE
         : value < low    ? DEMUR_PLACE_BELOW
         : value > median ? DEMUR_PLACE_HIGH
         : value < median ? DEMUR_PLACE_LOW
                          : DEMUR_PLACE_MEDIAN;
}

gboolean
demur_reason_place_is_high(DemurReasonPlace place) {
  return place == DEMUR_PLACE_HIGH || place == DEMUR_PLACE_ABOVE;
}

/* How many of the sorted values lie below (strictly) a value, or not above it. */
static size_t
count_below(const DemurColumnSummary *summary, float value, gboolean or_equal) {
  size_t low = 0, high = summary->n;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (summary->sorted[middle] < value || (or_equal && summary->sorted[middle] == value))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Share of the training scans that the value lies beyond; NaN where there are none, or it is no
 * further out than what is typical. */
double
demur_reasoner_beyond(const DemurReasoner *r, size_t input, float value, DemurReasonPlace place) {
  const DemurColumnSummary *summary = &r->summaries[input];
  if (summary->n == 0 || place == DEMUR_PLACE_UNKNOWN || place == DEMUR_PLACE_MEDIAN)
    return NAN;
  const double n = (double)summary->n;
  return demur_reason_place_is_high(place) ? (double)count_below(summary, value, FALSE) / n
                                           : 1.0 - (double)count_below(summary, value, TRUE) / n;
}

/* Where an input lies beside what is typical. */
DemurReasonPlace
demur_reasoner_place(const DemurReasoner *r, size_t input, const double *meta) {
  const DemurColumnSummary *s = &r->summaries[input];
  return place_of(meta[r->selector->inputs[input]], s->median, s->low, s->high);
}

double
demur_reasoner_unlike(const DemurReasoner *r, const double *scores, const double *meta,
                      const float *inputs) {
  double most = NAN;
  for (size_t q = 0; q < r->n_quantities; q++) {
    const DemurQuantity *quantity = &r->quantities[q];
    if (quantity->kind != DEMUR_OF_IMAGE || !(scores[q + 1] > scores[0]))
      continue;
    const size_t column = r->selector->inputs[quantity->input] - r->selector->columns->n_confidence;
    const DemurReasonPlace place = demur_reasoner_place(r, quantity->input, meta);
    if (demur_reason_place_is_high(place) != (demur_outlier_columns[column].keep_sign < 0))
      continue;
    const double share = demur_reasoner_beyond(r, quantity->input, inputs[quantity->input], place);
    if (share >= 0.5 && !(share <= most))
      most = share;
  }
  return most;
}

static void
ensure_judged(const DemurReasoner *r) {
  DemurReasoner *own = (DemurReasoner *)(gpointer)r; /* filled once, whoever asks first */
  if (g_once_init_enter(&own->judged)) {
    summarise(own);
    demur_reasoner_judge(own);
    g_once_init_leave(&own->judged, 1);
  }
}

/* ---- reasons ---- */

static DemurReason *
reason_of_feature(const DemurReasoner *r, const DemurQuantity *quantity, const double *meta) {
  const DemurSelector *s = r->selector;
  const DemurColumnSummary *summary = &r->summaries[quantity->input];
  const size_t column = s->inputs[quantity->input];
  DemurReason *reason = demur_reason_new(DEMUR_REASON_FEATURE, s->columns->names[column], NULL);
  reason->value = meta[column];
  reason->median = summary->median;
  reason->low = summary->low;
  reason->high = summary->high;
  reason->place = demur_reasoner_place(r, quantity->input, meta);
  return reason;
}

static DemurReason *
reason_of_making(const DemurReasoner *r, const DemurQuantity *quantity, const double *meta,
                 const DemurAcquisitionScan *scan) {
  const char *attribute = demur_acquisition_attribute(quantity->subject);
  if (scan == NULL)
    return demur_reason_new(DEMUR_REASON_GROUP, attribute, NULL);
  DemurAcquisitionLook look;
  demur_acquisition_look(r->selector->acquisition, quantity->subject, scan, &look);
  DemurReason *reason = demur_reason_new(!look.recorded      ? DEMUR_REASON_NOT_RECORDED
                                         : look.text != NULL ? DEMUR_REASON_GROUP
                                                             : DEMUR_REASON_NUMBER,
                                         attribute, look.text);
  reason->share = look.share;
  reason->value = look.value;
  reason->median = look.median;
  reason->low = look.low;
  reason->high = look.high;
  /* The side that it was moved from; of a kernel its sharpness. */
  if (look.recorded && demur_reasoner_column_kind(r, quantity->input) == DEMUR_ACQUISITION_NUMBER)
    reason->place = demur_reasoner_place(r, quantity->input, meta);
  g_free(look.text);
  return reason;
}

static DemurReason *
reason_of(const DemurReasoner *r, size_t q, const double *meta, const float *inputs,
          const DemurAcquisitionScan *scan) {
  const DemurQuantity *quantity = &r->quantities[q];
  DemurReason *reason = quantity->kind == DEMUR_OF_MAKING
                            ? reason_of_making(r, quantity, meta, scan)
                            : reason_of_feature(r, quantity, meta);
  reason->beyond =
      demur_reasoner_beyond(r, quantity->input, inputs[quantity->input], reason->place);
  reason->tells_risk = r->telling[q];
  return reason;
}

/* "A: 46, B: 31": the sites that have DEMUR_SMALL_CELL of the scans or more, the most first (ties:
 * by name). Owned; NULL: none has. */
static char *
list_sites(const DemurSelector *s, const guint *counts) {
  g_autofree DemurReasonCandidate *sites = g_new(DemurReasonCandidate, MAX(s->n_site_names, 1));
  size_t n = 0;
  for (size_t site = 0; site < s->n_site_names; site++)
    if (counts[site] >= DEMUR_SMALL_CELL)
      sites[n++] = (DemurReasonCandidate){site, (double)counts[site]};
  qsort(sites, n, sizeof *sites, demur_reason_candidates_compare);
  g_autoptr(GString) list = g_string_new(NULL);
  for (size_t i = 0; i < n; i++)
    g_string_append_printf(list, "%s%s: %u", i > 0 ? ", " : "", s->site_names[sites[i].quantity],
                           counts[sites[i].quantity]);
  return n > 0 ? g_strdup(list->str) : NULL;
}

/* The nearest training scans by site, and by outcome: that says something of the risk. */
static void
add_nearest(const DemurReasoner *r, const float *inputs, GPtrArray *reasons) {
  const DemurSelector *s = r->selector;
  g_autofree guint *counts = g_new0(guint, MAX(s->n_site_names, 1));
  DemurNearestScans nearest;
  if (!demur_nearest_scans(r->finder, inputs, -1, counts, &nearest) || nearest.n_sites == 0)
    return;
  DemurReason *by_site = demur_reason_new(DEMUR_REASON_NEAREST, s->site_names[nearest.top], NULL);
  by_site->text = list_sites(s, counts);
  by_site->n = nearest.n;
  by_site->n_sites = nearest.n_sites;
  by_site->share = (double)nearest.n_top / nearest.n;
  by_site->tells_risk = r->telling[r->n_quantities + DEMUR_REASONER_NEAREST];
  g_ptr_array_add(reasons, by_site);
  DemurReason *by_outcome =
      demur_reason_new(DEMUR_REASON_SIMILAR, s->n_classes == 2 ? "risk" : "max_p", NULL);
  by_outcome->n = nearest.n;
  by_outcome->n_over = nearest.n_over;
  by_outcome->n_sites = nearest.n_sites;
  by_outcome->value = nearest.expected;
  if (nearest.n_events >= DEMUR_SMALL_CELL && nearest.n - nearest.n_events >= DEMUR_SMALL_CELL)
    by_outcome->n_events = nearest.n_events;
  by_outcome->tells_risk = TRUE;
  g_ptr_array_add(reasons, by_outcome);
}

/* For what this selector refuses the training scans: the same of every scan, the most first. */
static void
add_mostly(const DemurReasoner *r, GPtrArray *reasons) {
  static const char *const subjects[DEMUR_N_QUANTITY_KINDS] = {
      [DEMUR_OF_IMAGE] = "image", [DEMUR_OF_RISK] = "risk", [DEMUR_OF_MAKING] = "making"};
  DemurReasonCandidate kinds[DEMUR_N_QUANTITY_KINDS];
  for (size_t k = 0; k < DEMUR_N_QUANTITY_KINDS; k++)
    kinds[k] = (DemurReasonCandidate){k, (double)r->n_first[k] / (double)MAX(r->n_refused, 1)};
  qsort(kinds, DEMUR_N_QUANTITY_KINDS, sizeof *kinds, demur_reason_candidates_compare);
  for (size_t k = 0; k < DEMUR_N_QUANTITY_KINDS; k++) {
    if (r->n_first[kinds[k].quantity] < DEMUR_SMALL_CELL)
      return;
    DemurReason *reason = demur_reason_new(DEMUR_REASON_MOSTLY, subjects[kinds[k].quantity], NULL);
    reason->share = kinds[k].contribution;
    reason->n = (guint)r->n_refused;
    g_ptr_array_add(reasons, reason);
  }
}

GPtrArray *
demur_reasoner_explain(const DemurReasoner *r, const double *meta,
                       const DemurAcquisitionScan *scan) {
  ensure_judged(r);
  g_autofree float *inputs = g_new(float, MAX(r->selector->n_inputs, 1));
  demur_selector_inputs(r->selector, meta, 1, inputs);
  g_autofree double *scores = g_new(double, r->n_quantities + 1);
  demur_reasoner_score(r, meta, 1, DEMUR_OF_ANY, scores);
  g_autofree DemurReasonCandidate *candidates =
      g_new(DemurReasonCandidate, MAX(r->n_quantities, 1));
  const size_t n = demur_reasoner_candidates(r, scores, candidates);
  GPtrArray *reasons = demur_reasons_new();
  size_t n_of[2] = {0}; /* of those that don't tell the risk, and that do: each has its own room, so
                         * that what is said of the one tells nothing of the other */
  for (size_t i = 0; i < n; i++) {
    const size_t q = candidates[i].quantity;
    if (n_of[r->telling[q] ? 1 : 0]++ >= r->n_most)
      continue;
    DemurReason *reason = reason_of(r, q, meta, inputs, scan);
    reason->score = scores[0];
    reason->changed = scores[q + 1];
    g_ptr_array_add(reasons, reason);
  }
  const double unlike = demur_reasoner_unlike(r, scores, meta, inputs);
  if (unlike >= r->image_level && !r->telling[r->n_quantities + DEMUR_REASONER_IMAGE]) {
    DemurReason *reason = demur_reason_new(DEMUR_REASON_UNLIKE, NULL, NULL);
    reason->rough = r->image_level > 0.0;
    reason->beyond = reason->rough ? r->image_level : unlike;
    g_ptr_array_add(reasons, reason);
  }
  add_nearest(r, inputs, reasons);
  if (r->selector->making != NULL && scan != NULL)
    demur_making_tell(r->selector->making, scan, reasons);
  add_mostly(r, reasons);
  return reasons;
}

gboolean
demur_reasoner_may_tell(const DemurReasoner *r, const char *name) {
  ensure_judged(r);
  for (size_t q = 0; q < r->n_quantities; q++)
    if (strcmp(name, r->selector->columns->names[r->selector->inputs[r->quantities[q].input]]) == 0)
      return !r->telling[q];
  return FALSE;
}
