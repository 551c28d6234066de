/* For each input of the network the median and the quartiles over the accepted training scans; a
 * scan's distance from the median is counted in robust standard deviations (interquartile range
 * / 1.349). Inputs that say the same for two classes (p_0 beside p_1, class_0 beside class_1) are
 * told once. */
#include "selector/reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_IQR                                                                                 \
  1.3489795003921634 /* interquartile range of the standard normal distribution                    \
                      */

typedef struct {
  double median, low, high; /* raw units; low and high: 1st and 99th percentile */
  double scale;             /* robust standard deviation, raw units */
} InputSummary;

struct DemurReasoner {
  const DemurSelector *selector;
  InputSummary *summaries; /* [n_inputs] */
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

DemurReasoner *
demur_reasoner_new(const DemurSelector *selector, double threshold) {
  DemurReasoner *reasoner = g_new0(DemurReasoner, 1);
  reasoner->selector = selector;
  const size_t d = selector->n_inputs, n = selector->n_kept;
  reasoner->summaries = g_new0(InputSummary, d);
  size_t n_accepted = 0;
  for (size_t i = 0; i < n; i++)
    n_accepted += (double)selector->kept_scores[i] >= threshold;
  const gboolean all = n_accepted == 0;
  const double *means = demur_scaler_means(selector->scaler),
               *sds = demur_scaler_sds(selector->scaler);
  g_autofree float *values = g_new(float, MAX(n, 1));
  for (size_t c = 0; c < d && n > 0; c++) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
      if (all || (double)selector->kept_scores[i] >= threshold)
        values[m++] = selector->kept_inputs[i * d + c];
    qsort(values, m, sizeof *values, compare_floats);
    InputSummary *s = &reasoner->summaries[c];
    const double iqr = quantile(values, m, 0.75) - quantile(values, m, 0.25);
    s->median = means[c] + sds[c] * quantile(values, m, 0.5);
    s->low = means[c] + sds[c] * quantile(values, m, 0.01);
    s->high = means[c] + sds[c] * quantile(values, m, 0.99);
    /* An indicator, or a column that hardly varies among the accepted, is measured in its own
     * units. */
    s->scale = iqr > 1e-6 ? sds[c] * iqr / NORMAL_IQR : sds[c];
  }
  return reasoner;
}

void
demur_reasoner_free(DemurReasoner *reasoner) {
  if (reasoner == NULL)
    return;
  g_free(reasoner->summaries);
  g_free(reasoner);
}

typedef struct {
  size_t input;
  double distance;
} Candidate;

static int
compare_candidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->distance != y->distance)
    return x->distance < y->distance ? 1 : -1;
  return (x->input > y->input) - (x->input < y->input);
}

static gboolean
is_redundant(const DemurSelector *selector, const char *name) {
  return selector->n_classes == 2 && (strcmp(name, "p_0") == 0 || strcmp(name, "class_0") == 0);
}

char **
demur_reasoner_explain(const DemurReasoner *reasoner, const double *meta, size_t n_most) {
  const DemurSelector *selector = reasoner->selector;
  g_autofree Candidate *candidates = g_new(Candidate, selector->n_inputs);
  size_t n = 0;
  for (size_t c = 0; c < selector->n_inputs; c++) {
    const size_t column = selector->inputs[c];
    if (is_redundant(selector, selector->columns->names[column]))
      continue;
    const InputSummary *s = &reasoner->summaries[c];
    candidates[n++] = (Candidate){c, fabs(meta[column] - s->median) / s->scale};
  }
  qsort(candidates, n, sizeof *candidates, compare_candidates);
  GPtrArray *sentences = g_ptr_array_new();
  for (size_t i = 0; i < n && sentences->len < MAX(n_most, 1); i++) {
    /* After the first, only what is unusual by itself. */
    if (i > 0 && candidates[i].distance < 2.0)
      break;
    const InputSummary *s = &reasoner->summaries[candidates[i].input];
    const size_t column = selector->inputs[candidates[i].input];
    const char *name = selector->columns->names[column];
    if (g_str_has_prefix(name, "class_")) {
      g_ptr_array_add(sentences,
                      g_strdup_printf("the predicted class %s %s; among accepted training scans it "
                                      "mostly %s",
                                      meta[column] >= 0.5 ? "is" : "is not",
                                      name + strlen("class_"), s->median >= 0.5 ? "is" : "is not"));
      continue;
    }
    const char *place = meta[column] > s->high     ? "above the 99th percentile of"
                        : meta[column] < s->low    ? "below the 1st percentile of"
                        : meta[column] > s->median ? "above the median of"
                                                   : "below the median of";
    g_ptr_array_add(
        sentences,
        g_strdup_printf("%s is %.3g, %s accepted training scans (median %.3g, 98 %% of them from "
                        "%.3g to %.3g)",
                        demur_meta_column_title(name), meta[column], place, s->median, s->low,
                        s->high));
  }
  g_ptr_array_add(sentences, NULL);
  return (char **)g_ptr_array_free(sentences, FALSE);
}
