/* Contribution of a group of meta features: g~(x with the group at the accepted training scans'
 * median) - g~(x), the paper's selector asked what it would have said. Groups: everything that is a
 * function of the risk, each outlier feature, the corrector's features, each attribute of how the
 * scan was made (a text is put to the accepted scans' most frequent value). Cost: one forward pass
 * a group, and one pass over the kept training scans for the similar ones. */
#include "selector/reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "selector/selector-private.h"

#define N_SIMILAR 50
#define MAX_GROUPS (7 + DEMUR_N_ACQUISITION)

typedef struct {
  double median, low, high; /* raw units; low and high: 1st and 99th percentile */
} ColumnSummary;

/* Meta features that are put to the median together. */
typedef struct {
  guint members;                   /* DemurFeatureGroups it stands for: 0 for a single column */
  size_t input;                    /* the single column */
  DemurAcquisitionSubject subject; /* of DEMUR_FEATURES_ACQUISITION */
} Group;

struct DemurReasoner {
  const DemurSelector *selector;
  double threshold;
  ColumnSummary *summaries; /* [n_inputs] */
  size_t n_groups;
  Group groups[MAX_GROUPS];
};

static int
compare_floats(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double
quantile(const float *sorted, size_t n, double p) {
  const double place = p * (double)(n - 1);
  const size_t below = (size_t)place;
  const double part = place - (double)below;
  return below + 1 < n ? (1.0 - part) * (double)sorted[below] + part * (double)sorted[below + 1]
                       : (double)sorted[below];
}

static gboolean
is_of_risk(const DemurSelector *s, size_t column) {
  return column < s->columns->n_confidence;
}

static gboolean
is_of_corrector(const DemurSelector *s, size_t column) {
  const size_t first = s->columns->n_confidence + s->columns->n_outlier;
  return column >= first && column < first + s->columns->n_corrector;
}

/* Place of a column among those of how the scan was made; -1 for another one. */
static gssize
acquisition_column(const DemurSelector *s, size_t column) {
  const size_t first = s->columns->n_columns - s->columns->n_acquisition;
  return column >= first ? (gssize)(column - first) : -1;
}

static void
find_groups(DemurReasoner *r) {
  const DemurSelector *s = r->selector;
  gboolean risk = FALSE, corrector = FALSE, subjects[DEMUR_N_ACQUISITION] = {FALSE};
  for (size_t c = 0; c < s->n_inputs; c++) {
    const size_t column = s->inputs[c];
    if (is_of_risk(s, column)) {
      risk = TRUE;
    } else if (is_of_corrector(s, column)) {
      corrector = TRUE;
    } else if (acquisition_column(s, column) >= 0) {
      const DemurAcquisitionSubject subject =
          demur_acquisition_column_subject(s->acquisition, (size_t)acquisition_column(s, column));
      if (!subjects[subject])
        r->groups[r->n_groups++] = (Group){DEMUR_FEATURES_ACQUISITION, c, subject};
      subjects[subject] = TRUE;
    } else {
      r->groups[r->n_groups++] = (Group){0, c, 0};
    }
  }
  if (risk)
    r->groups[r->n_groups++] = (Group){DEMUR_FEATURES_CONFIDENCE, 0, 0};
  if (corrector)
    r->groups[r->n_groups++] = (Group){DEMUR_FEATURES_CORRECTOR, 0, 0};
}

static gboolean
belongs(const DemurReasoner *r, const Group *group, size_t input) {
  const size_t column = r->selector->inputs[input];
  switch (group->members) {
  case DEMUR_FEATURES_CONFIDENCE:
    return is_of_risk(r->selector, column);
  case DEMUR_FEATURES_CORRECTOR:
    return is_of_corrector(r->selector, column);
  case DEMUR_FEATURES_ACQUISITION: {
    const gssize place = acquisition_column(r->selector, column);
    return place >= 0 && demur_acquisition_column_subject(r->selector->acquisition,
                                                          (size_t)place) == group->subject;
  }
  default:
    return input == group->input;
  }
}

/* What is a function of the risk goes where the risk goes. */
static gboolean
tells_risk(const Group *group) {
  return group->members == DEMUR_FEATURES_CONFIDENCE || group->members == DEMUR_FEATURES_CORRECTOR;
}

/* The 0/1 columns of a text have one median together: the most frequent value among the accepted
 * scans, "any other" included. shares [n_inputs] of ones among them. */
static void
settle_texts(DemurReasoner *r, const double *shares) {
  const DemurSelector *s = r->selector;
  for (size_t g = 0; g < r->n_groups; g++) {
    if (r->groups[g].members != DEMUR_FEATURES_ACQUISITION)
      continue;
    double other = 1.0;
    size_t most = s->n_inputs;
    for (size_t c = 0; c < s->n_inputs; c++) {
      const gssize place = acquisition_column(s, s->inputs[c]);
      if (!belongs(r, &r->groups[g], c) ||
          !demur_acquisition_column_is_group(s->acquisition, (size_t)place))
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

DemurReasoner *
demur_reasoner_new(const DemurSelector *selector, double threshold) {
  DemurReasoner *r = g_new0(DemurReasoner, 1);
  r->selector = selector;
  r->threshold = threshold;
  const size_t d = selector->n_inputs, n = selector->n_kept;
  r->summaries = g_new0(ColumnSummary, MAX(d, 1));
  find_groups(r);
  /* With risk bands the kept scores are g~ and the threshold a share: then all training scans
   * describe. */
  const gboolean comparable = selector->settings->risk_bands == 0;
  size_t n_accepted = 0;
  for (size_t i = 0; i < n; i++)
    n_accepted += comparable && (double)selector->kept_scores[i] >= threshold;
  const gboolean all = n_accepted == 0;
  const double *means = demur_scaler_means(selector->scaler),
               *sds = demur_scaler_sds(selector->scaler);
  g_autofree float *values = g_new(float, MAX(n, 1));
  g_autofree double *shares = g_new0(double, MAX(d, 1));
  for (size_t c = 0; c < d && n > 0; c++) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
      if (all || (double)selector->kept_scores[i] >= threshold)
        values[m++] = selector->kept_inputs[i * d + c];
    for (size_t i = 0; i < m; i++)
      shares[c] += (means[c] + sds[c] * (double)values[i]) / (double)m;
    qsort(values, m, sizeof *values, compare_floats);
    r->summaries[c] = (ColumnSummary){means[c] + sds[c] * quantile(values, m, 0.5),
                                      means[c] + sds[c] * quantile(values, m, 0.01),
                                      means[c] + sds[c] * quantile(values, m, 0.99)};
  }
  settle_texts(r, shares);
  return r;
}

void
demur_reasoner_free(DemurReasoner *r) {
  if (r == NULL)
    return;
  g_free(r->summaries);
  g_free(r);
}

/* Scores of the scan itself [0] and with each group put to the median [1 + group]. */
static void
score_changed(const DemurReasoner *r, const double *meta, double *scores) {
  const DemurSelector *s = r->selector;
  const size_t width = s->columns->n_columns;
  g_autofree double *rows = g_new(double, (r->n_groups + 1) * width);
  for (size_t g = 0; g <= r->n_groups; g++) {
    double *row = rows + g * width;
    memcpy(row, meta, width * sizeof(double));
    for (size_t c = 0; g > 0 && c < s->n_inputs; c++)
      if (belongs(r, &r->groups[g - 1], c))
        row[s->inputs[c]] = r->summaries[c].median;
  }
  demur_selector_scores(s, 0, rows, r->n_groups + 1, scores);
}

/* The input of a group that moves the score most when it alone is put to the median: what the group
 * is called by. One that lies at the median moved nothing and is never it, unless all do. */
static size_t
moving_input(const DemurReasoner *r, const Group *group, const double *meta) {
  const DemurSelector *s = r->selector;
  const size_t width = s->columns->n_columns;
  g_autofree double *rows = g_new(double, s->n_inputs *width);
  g_autofree size_t *inputs = g_new(size_t, s->n_inputs);
  g_autofree double *scores = g_new(double, s->n_inputs);
  size_t n = 0, first = s->n_inputs;
  for (size_t c = 0; c < s->n_inputs; c++) {
    if (!belongs(r, group, c))
      continue;
    first = MIN(first, c);
    if (meta[s->inputs[c]] == r->summaries[c].median)
      continue;
    memcpy(rows + n * width, meta, width * sizeof(double));
    rows[n * width + s->inputs[c]] = r->summaries[c].median;
    inputs[n++] = c;
  }
  if (n == 0)
    return first;
  demur_selector_scores(s, 0, rows, n, scores);
  size_t most = 0;
  for (size_t i = 1; i < n; i++)
    if (scores[i] > scores[most])
      most = i;
  return inputs[most];
}

typedef struct {
  float distance;
  guint32 scan;
} Neighbour;

/* The training scans most like one scan (Euclidean in the standardised inputs): at how many of
 * their sites the mean risk exceeds the observed share. */
typedef struct {
  guint n, n_sites, n_sites_over;
} Similar;

static Similar
find_similar(const DemurReasoner *r, const double *meta) {
  const DemurSelector *s = r->selector;
  const size_t d = s->n_inputs, k = MIN(N_SIMILAR, s->n_kept);
  Similar similar = {.n = (guint)k};
  if (k == 0)
    return similar;
  g_autofree float *x = g_new(float, d);
  demur_selector_inputs(s, meta, 1, x);
  /* The k nearest so far in ascending order; ties to the earlier scan. */
  Neighbour nearest[N_SIMILAR];
  size_t n = 0;
  for (size_t i = 0; i < s->n_kept; i++) {
    float distance = 0.0f;
    for (size_t c = 0; c < d; c++) {
      const float difference = s->kept_inputs[i * d + c] - x[c];
      distance += difference * difference;
    }
    if (n == k && !(distance < nearest[n - 1].distance))
      continue;
    size_t place = n < k ? n++ : n - 1;
    while (place > 0 && nearest[place - 1].distance > distance) {
      nearest[place] = nearest[place - 1];
      place--;
    }
    nearest[place] = (Neighbour){distance, (guint32)i};
  }
  g_autofree double *site_gaps = g_new0(double, MAX(s->n_site_names, 1));
  g_autofree guint8 *site_seen = g_new0(guint8, MAX(s->n_site_names, 1));
  for (size_t i = 0; i < k; i++) {
    const guint32 scan = nearest[i].scan, site = s->kept_sites[scan];
    site_gaps[site] += (double)s->kept_risks[scan] - (double)s->kept_labels[scan];
    similar.n_sites += !site_seen[site];
    site_seen[site] = 1;
  }
  for (size_t site = 0; site < s->n_site_names; site++)
    similar.n_sites_over += site_seen[site] && site_gaps[site] > 0.0;
  if (s->release == DEMUR_RELEASE_PROTOTYPES) /* groups are of several sites */
    similar.n_sites = similar.n_sites_over = 0;
  return similar;
}

typedef struct {
  size_t group;
  double contribution;
} Candidate;

static int
compare_candidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->contribution != y->contribution)
    return x->contribution < y->contribution ? 1 : -1;
  return (x->group > y->group) - (x->group < y->group);
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

static DemurReason *
reason_of_feature(const DemurReasoner *r, const Group *group, const double *meta) {
  const DemurSelector *s = r->selector;
  const size_t input = group->members == 0 ? group->input : moving_input(r, group, meta);
  const ColumnSummary *summary = &r->summaries[input];
  const size_t column = s->inputs[input];
  DemurReason *reason = demur_reason_new(DEMUR_REASON_FEATURE, s->columns->names[column], NULL);
  reason->value = meta[column];
  reason->median = summary->median;
  reason->low = summary->low;
  reason->high = summary->high;
  reason->place = place_of(reason->value, reason->median, reason->low, reason->high);
  return reason;
}

static DemurReason *
reason_of_acquisition(const DemurReasoner *r, DemurAcquisitionSubject subject,
                      const DemurAcquisitionScan *scan) {
  const char *attribute = demur_acquisition_attribute(subject);
  if (scan == NULL)
    return demur_reason_new(DEMUR_REASON_GROUP, attribute, NULL);
  DemurAcquisitionLook look;
  demur_acquisition_look(r->selector->acquisition, subject, scan, &look);
  DemurReason *reason = demur_reason_new(!look.recorded      ? DEMUR_REASON_NOT_RECORDED
                                         : look.text != NULL ? DEMUR_REASON_GROUP
                                                             : DEMUR_REASON_NUMBER,
                                         attribute, look.text);
  reason->share = look.share;
  reason->value = look.value;
  reason->median = look.median;
  reason->low = look.low;
  reason->high = look.high;
  reason->place = place_of(look.value, look.median, look.low, look.high);
  g_free(look.text);
  return reason;
}

/* The training scans most like it are found by the risk too: where they were over-estimated says
 * something of it. */
static void
add_similar(const DemurReasoner *r, const double *meta, GPtrArray *reasons) {
  const Similar similar = find_similar(r, meta);
  if (similar.n == 0 || similar.n_sites == 0)
    return;
  DemurReason *reason =
      demur_reason_new(DEMUR_REASON_SIMILAR, r->selector->n_classes == 2 ? "risk" : "max_p", NULL);
  reason->n = similar.n;
  reason->n_over = similar.n_sites_over;
  reason->n_sites = similar.n_sites;
  reason->tells_risk = TRUE;
  g_ptr_array_add(reasons, reason);
}

GPtrArray *
demur_reasoner_explain(const DemurReasoner *r, const double *meta, const DemurAcquisitionScan *scan,
                       size_t n_most) {
  double scores[MAX_GROUPS + 1];
  score_changed(r, meta, scores);
  Candidate candidates[MAX_GROUPS];
  for (size_t g = 0; g < r->n_groups; g++)
    candidates[g] = (Candidate){g, scores[g + 1] - scores[0]};
  qsort(candidates, r->n_groups, sizeof *candidates, compare_candidates);
  GPtrArray *reasons = demur_reasons_new();
  size_t n_of[2] = {0}; /* of those that don't tell the risk, and that do: each has its own room, so
                         * that what is said of the one tells nothing of the other */
  for (size_t i = 0; i < r->n_groups; i++) {
    /* After the first, only what lowers the score. */
    if (i > 0 && !(candidates[i].contribution > 0.0))
      break;
    const Group *group = &r->groups[candidates[i].group];
    const gboolean telling = tells_risk(group);
    if (n_of[telling]++ >= MAX(n_most, 1))
      continue;
    DemurReason *reason = group->members == DEMUR_FEATURES_ACQUISITION
                              ? reason_of_acquisition(r, group->subject, scan)
                              : reason_of_feature(r, group, meta);
    reason->tells_risk = telling;
    reason->score = scores[0];
    reason->changed = scores[candidates[i].group + 1];
    g_ptr_array_add(reasons, reason);
  }
  add_similar(r, meta, reasons);
  return reasons;
}
