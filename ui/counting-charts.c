#include "ui/counting-charts.h"

#include <math.h>

#include "report/format.h"
#include "ui/words.h"

void
demur_counting_charts_init(DemurCountingCharts *charts, const DemurShownPoint *now,
                           const char *const *labels) {
  charts->series[0] = (DemurRejectionSeries){_("selector"), DEMUR_SERIES_SELECTOR, now->rejected};
  charts->series[1] =
      (DemurRejectionSeries){_("confidence"), DEMUR_SERIES_CONFIDENCE, now->rejected_by_confidence};
  charts->rejection = (DemurRejectionChart){
      .kind = DEMUR_REJECTION_RATES, .labels = labels, .n_series = 2, .series = charts->series};
  charts->reliability = (DemurReliability){.label = _("selector"),
                                           .x_label = _("risk shown"),
                                           .y_label = _("observed share"),
                                           .series = DEMUR_SERIES_SELECTOR,
                                           .bins = now->reliability};
}

void
demur_counting_charts_update(DemurCountingCharts *charts, const DemurShownPoint *now) {
  demur_counting_charts_clear(charts);
  charts->rejection.n_labels = now->n_labels;
  charts->reliability.n_bins = now->n_reliability;
}

void
demur_counting_charts_calibrate(DemurCountingCharts *charts, const DemurCoverageStudy *study,
                                const DemurShownPoint *now) {
  demur_operating_calibration(study, now, &charts->calibration);
  demur_counting_charts_clear(charts);
  const struct {
    const char *name;
    double value;
  } known[] = {{"O:E", charts->calibration.oe_ratio},
               {_("slope"), charts->calibration.slope},
               {_("in the large"), charts->calibration.intercept}};
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    g_autofree char *value = demur_text_decimal(known[i].value, 2);
    if (isfinite(known[i].value))
      charts->corner[n++] = g_strdup_printf("%s %s", known[i].name, value);
  }
  charts->reliability.corner = (const char *const *)charts->corner;
  charts->reliability.n_smooth = charts->calibration.n_smooth;
  charts->reliability.smooth = charts->calibration.smooth;
}

void
demur_counting_charts_clear(DemurCountingCharts *charts) {
  charts->reliability.n_smooth = 0;
  charts->reliability.corner = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(charts->corner); i++)
    g_clear_pointer(&charts->corner[i], g_free);
}

DemurWrittenCharts *
demur_written_charts_new(const DemurCoverageStudy *study, double coverage,
                         const char *const *labels, GError **error) {
  double told;
  if (!demur_coverage_study_told(study, coverage, &told, error))
    return NULL;
  DemurWrittenCharts *written = g_new0(DemurWrittenCharts, 1);
  written->coverage = told;
  written->scratch = demur_operating_scratch_new(study);
  demur_operating_compute(study, told, written->scratch, &written->now);
  demur_counting_charts_init(&written->charts, &written->now, labels);
  demur_counting_charts_update(&written->charts, &written->now);
  demur_counting_charts_calibrate(&written->charts, study, &written->now);
  if (!demur_told_coverages_have(&study->confidence_told, told))
    written->charts.rejection.n_series = 1;
  return written;
}

void
demur_written_charts_free(DemurWrittenCharts *written) {
  if (written == NULL)
    return;
  demur_counting_charts_clear(&written->charts);
  demur_operating_scratch_free(written->scratch);
  g_free(written);
}
