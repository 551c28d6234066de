/* The charts of an operating point that count outcomes: refusals by label and reliability. On the
 * screen of any coverage, in a file of a canonical set alone, so that from no two files the outcomes of
 * few people follow (docs/privacy.md). */
#pragma once

#include "report/rejection-by-label.h"
#include "report/reliability.h"
#include "ui/operating-point.h"

G_BEGIN_DECLS

typedef struct {
  DemurRejectionSeries series[2];
  DemurRejectionChart rejection;
  DemurReliability reliability;
  DemurShownCalibration calibration;
  char *corner[4]; /* of the reliability, NULL-terminated */
} DemurCountingCharts;

/* Charts of now, which is borrowed, as are labels [DEMUR_OPERATING_MAX_LABELS]. */
void demur_counting_charts_init(DemurCountingCharts *charts, const DemurShownPoint *now,
                                const char *const *labels);
/* now was computed anew: without what takes longer than a frame. */
void demur_counting_charts_update(DemurCountingCharts *charts, const DemurShownPoint *now);
/* The smooth curve, and in the corner O:E, slope and calibration in the large, where they are known. */
void demur_counting_charts_calibrate(DemurCountingCharts *charts, const DemurCoverageStudy *study,
                                     const DemurShownPoint *now);
void demur_counting_charts_clear(DemurCountingCharts *charts);

/* Those that may be written to a file where a slider stands at some coverage. */
typedef struct {
  double coverage; /* of the canonical set */
  DemurShownPoint now;
  DemurOperatingScratch *scratch;
  DemurCountingCharts charts;
} DemurWrittenCharts;

/* Errors as demur_coverage_study_told. Confidence is left out where its scans at that coverage may not
 * be told of. study and labels are borrowed. O(n DEMUR_N_SMOOTH). */
DemurWrittenCharts *demur_written_charts_new(const DemurCoverageStudy *study, double coverage,
                                             const char *const *labels,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_written_charts_free(DemurWrittenCharts *written);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWrittenCharts, demur_written_charts_free)

G_END_DECLS
