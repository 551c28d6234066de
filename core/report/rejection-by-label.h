/* Who is rejected, by label: bars of each label's share of the rejected beside its share of all
 * scans (the paper's figure), or of the rate at which each label is rejected, with intervals. */
#pragma once

#include "evaluation/evaluation.h"
#include "report/chart.h"

G_BEGIN_DECLS

typedef struct {
  const char *label;
  DemurChartSeries series;
  const DemurRejection *rejections; /* [n_labels] */
} DemurRejectionSeries;

typedef enum {
  DEMUR_REJECTION_RATES,  /* rejected / all with that label, with 95 % intervals */
  DEMUR_REJECTION_SHARES, /* that label's share of the rejected, beside its share of all */
} DemurRejectionKind;

typedef struct {
  const char *title;
  DemurRejectionKind kind;
  size_t n_labels;
  const char *const *labels; /* [n_labels] names for people */
  size_t n_series;
  const DemurRejectionSeries *series;
} DemurRejectionChart;

extern const DemurChartInterface demur_rejection_chart; /* of a DemurRejectionChart */

G_END_DECLS
