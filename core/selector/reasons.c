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
#include "metrics/intervals.h"
#include "selector/selector-private.h"

#define N_SIMILAR 50
#define MAX_GROUPS (7 + DEMUR_N_ACQUISITION)

typedef struct {
  double median, low, high; /* raw units; low and high: 1st and 99th percentile */
} ColumnSummary;

typedef struct {
  const char *title;
  size_t shown;                    /* column whose value the sentence tells */
  guint member_group;              /* DemurFeatureGroups it stands for: 0 for a single column */
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
  gssize risk = -1, corrector = -1;
  gboolean subjects[DEMUR_N_ACQUISITION] = {FALSE};
  for (size_t c = 0; c < s->n_inputs; c++) {
    const size_t column = s->inputs[c];
    const char *name = s->columns->names[column];
    if (is_of_risk(s, column)) {
      if (risk < 0)
        risk = (gssize)c;
      if (strcmp(name, s->n_classes == 2 ? "p_1" : "max_p") == 0)
        risk = (gssize)c;
    } else if (is_of_corrector(s, column)) {
      if (corrector < 0 || strcmp(name, "correction_size") == 0)
        corrector = (gssize)c;
    } else if (acquisition_column(s, column) >= 0) {
      const DemurAcquisitionSubject subject =
          demur_acquisition_column_subject(s->acquisition, (size_t)acquisition_column(s, column));
      if (!subjects[subject])
        r->groups[r->n_groups++] =
            (Group){demur_acquisition_title(subject), c, DEMUR_FEATURES_ACQUISITION, subject};
      subjects[subject] = TRUE;
    } else {
      r->groups[r->n_groups++] = (Group){demur_meta_column_title(name), c, 0, 0};
    }
  }
  if (risk >= 0)
    r->groups[r->n_groups++] = (Group){demur_meta_column_title(s->columns->names[s->inputs[risk]]),
                                       (size_t)risk, DEMUR_FEATURES_CONFIDENCE, 0};
  if (corrector >= 0)
    r->groups[r->n_groups++] =
        (Group){demur_meta_column_title(s->columns->names[s->inputs[corrector]]), (size_t)corrector,
                DEMUR_FEATURES_CORRECTOR, 0};
}

static gboolean
belongs(const DemurReasoner *r, const Group *group, size_t input) {
  const size_t column = r->selector->inputs[input];
  switch (group->member_group) {
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
    return input == group->shown;
  }
}

/* The 0/1 columns of a text have one median together: the most frequent value among the accepted
 * scans, "any other" included. shares [n_inputs] of ones among them. */
static void
settle_texts(DemurReasoner *r, const double *shares) {
  const DemurSelector *s = r->selector;
  for (size_t g = 0; g < r->n_groups; g++) {
    if (r->groups[g].member_group != DEMUR_FEATURES_ACQUISITION)
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

size_t
demur_reasoner_n_groups(const DemurReasoner *r) {
  return r->n_groups;
}

const char *
demur_reasoner_group_title(const DemurReasoner *r, size_t group) {
  return r->groups[group].title;
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

void
demur_reasoner_contributions(const DemurReasoner *r, const double *meta, double *contributions) {
  double scores[MAX_GROUPS + 1];
  score_changed(r, meta, scores);
  for (size_t g = 0; g < r->n_groups; g++)
    contributions[g] = scores[g + 1] - scores[0];
}

typedef struct {
  float distance;
  guint32 scan;
} Neighbour;

DemurSimilarScans
demur_reasoner_similar(const DemurReasoner *r, const double *meta) {
  const DemurSelector *s = r->selector;
  const size_t d = s->n_inputs, k = MIN(N_SIMILAR, s->n_kept);
  DemurSimilarScans similar = {.n = k};
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
  double risks = 0.0, labels = 0.0;
  g_autofree double *site_gaps = g_new0(double, MAX(s->n_site_names, 1));
  g_autofree guint8 *site_seen = g_new0(guint8, MAX(s->n_site_names, 1));
  for (size_t i = 0; i < k; i++) {
    const guint32 scan = nearest[i].scan, site = s->kept_sites[scan];
    risks += (double)s->kept_risks[scan];
    labels += (double)s->kept_labels[scan];
    site_gaps[site] += (double)s->kept_risks[scan] - (double)s->kept_labels[scan];
    similar.n_sites += !site_seen[site];
    site_seen[site] = 1;
  }
  for (size_t site = 0; site < s->n_site_names; site++)
    similar.n_sites_over += site_seen[site] && site_gaps[site] > 0.0;
  similar.mean_risk = risks / (double)k;
  similar.observed = labels / (double)k;
  demur_interval_wilson(labels, (double)k, 0.95, &similar.low, &similar.high);
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

static char *
group_sentence(const DemurReasoner *r, size_t group, const double *meta, double score,
               double changed) {
  const DemurSelector *s = r->selector;
  const size_t input = r->groups[group].shown;
  const ColumnSummary *summary = &r->summaries[input];
  const double value = meta[s->inputs[input]];
  const char *place = value > summary->high     ? "above the 99th percentile of"
                      : value < summary->low    ? "below the 1st percentile of"
                      : value > summary->median ? "above the median of"
                      : value < summary->median ? "below the median of"
                                                : "at the median of";
  /* A risk that is held back is not told by its reason either. */
  if (is_of_risk(s, s->inputs[input]))
    return g_strdup_printf("%s is %s accepted training scans; at the median the score would be "
                           "%.4g in place of %.4g",
                           r->groups[group].title, place, changed, score);
  return g_strdup_printf("%s is %.3g, %s accepted training scans (median %.3g, 98 %% of them from "
                         "%.3g to %.3g); at the median the score would be %.4g in place of %.4g",
                         r->groups[group].title, value, place, summary->median, summary->low,
                         summary->high, changed, score);
}

static char *
acquisition_sentence(const DemurReasoner *r, size_t group, const DemurAcquisitionScan *scan,
                     double score, double changed) {
  const DemurAcquisitionSubject subject = r->groups[group].subject;
  if (scan == NULL)
    return g_strdup_printf("%s is not that of most accepted scans; as they have it the score would "
                           "be %.4g in place of %.4g",
                           r->groups[group].title, changed, score);
  g_autofree char *what = demur_acquisition_describe(r->selector->acquisition, subject, scan);
  return g_strdup_printf("%s; %s the score would be %.4g in place of %.4g", what,
                         subject < DEMUR_N_ACQUISITION_NUMBERS ? "at the accepted scans' median"
                                                               : "as most accepted scans have it",
                         changed, score);
}

/* Where scans like it were over-estimated; neither their risks nor what became of them, which would
 * tell the risk that is held back. */
static char *
similar_sentence(const DemurReasoner *r, const double *meta) {
  const DemurSimilarScans similar = demur_reasoner_similar(r, meta);
  if (similar.n == 0)
    return NULL;
  return g_strdup_printf("among the %zu training scans most like it the %s was too high at %zu of "
                         "%zu sites",
                         similar.n, r->selector->n_classes == 2 ? "risk" : "top probability",
                         similar.n_sites_over, similar.n_sites);
}

char **
demur_reasoner_explain(const DemurReasoner *r, const double *meta, size_t n_most) {
  return demur_reasoner_explain_scan(r, meta, NULL, n_most);
}

char **
demur_reasoner_explain_scan(const DemurReasoner *r, const double *meta,
                            const DemurAcquisitionScan *scan, size_t n_most) {
  double scores[MAX_GROUPS + 1];
  score_changed(r, meta, scores);
  Candidate candidates[MAX_GROUPS];
  for (size_t g = 0; g < r->n_groups; g++)
    candidates[g] = (Candidate){g, scores[g + 1] - scores[0]};
  qsort(candidates, r->n_groups, sizeof *candidates, compare_candidates);
  GPtrArray *sentences = g_ptr_array_new();
  for (size_t i = 0; i < r->n_groups && sentences->len < MAX(n_most, 1); i++) {
    /* After the first, only what lowers the score. */
    if (i > 0 && !(candidates[i].contribution > 0.0))
      break;
    const size_t group = candidates[i].group;
    g_ptr_array_add(sentences,
                    r->groups[group].member_group == DEMUR_FEATURES_ACQUISITION
                        ? acquisition_sentence(r, group, scan, scores[0], scores[group + 1])
                        : group_sentence(r, group, meta, scores[0], scores[group + 1]));
  }
  char *similar = similar_sentence(r, meta);
  if (similar != NULL)
    g_ptr_array_add(sentences, similar);
  g_ptr_array_add(sentences, NULL);
  return (char **)g_ptr_array_free(sentences, FALSE);
}
