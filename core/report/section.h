/* What the sections of the report share: the page they are written on, tables from growing lists of
 * cells, figures, and words that stand in more than one section. Each section is a file with one
 * function that adds its blocks. Internal to the room. */
#pragma once

#include "report/charts.h"
#include "report/family.h"
#include "report/finding.h"
#include "report/layout.h"

G_BEGIN_DECLS

#define DEMUR_PAGES_MARGIN 46.0  /* left and right, points */
#define DEMUR_SECTION_ROOM 200.0 /* a section begins on the page before where that much is left */
#define DEMUR_SECTION_MOST_GROUPS 25 /* sites and scanners in print; the rest are one row */

#define DEMUR_SECTION_N_COVERAGES 3
extern const double demur_section_coverages[DEMUR_SECTION_N_COVERAGES]; /* that results are at */

typedef struct {
  const DemurReportInput *input;
  const DemurEvaluation *e; /* of input */
  DemurReportFinding finding;
  DemurLayout *layout;
  char *digest;         /* of the JSON */
  double width, height; /* of the paper */
  gboolean in_part;     /* it is a part of a longer document */
} DemurPages;

/* ---- the sections in the report's order ---- */

void demur_section_summary(DemurPages *p);
/* The first page of a family: its horizons side by side. p: that of the longest; horizons
 * [family->n]: of each. */
void demur_section_family(DemurPages *p, const DemurFamilyReport *family,
                          DemurPages *const *horizons);
void demur_section_cohort(DemurPages *p);
void demur_section_results(DemurPages *p);
void demur_section_threshold(DemurPages *p);
void demur_section_intervals(DemurPages *p);
void demur_section_audits(DemurPages *p);
void demur_section_use(DemurPages *p); /* acceptance tests and watches, a page each */
void demur_section_provenance(DemurPages *p);
void demur_section_limits(DemurPages *p);
void demur_section_model_card(DemurPages *p); /* what the selector is, for whom, how made, tested */
void demur_section_checklist(DemurPages *p);  /* TRIPOD+AI, CLAIM and STARD-AI, item by item */

/* What stands beside the item of that number ("12d") of the list "TRIPOD+AI", "CLAIM" or
 * "STARD-AI": it names only what the report holds. Owned; NULL: no such item. */
char *demur_section_checklist_words(const DemurReportFinding *finding, const char *list,
                                    const char *number);

/* ---- parts of the results ---- */

void demur_section_comparisons(DemurPages *p);
void demur_section_reliability(DemurPages *p);
void demur_section_histograms(DemurPages *p);
void demur_section_rejections(DemurPages *p);
void demur_section_subgroups(DemurPages *p);         /* who is refused */
void demur_section_group_calibration(DemurPages *p); /* how calibrated the accepted are */

/* Operating points of every method at one coverage; brief: those that stand on the summary. */
void demur_section_operating_table(DemurPages *p, double coverage, gboolean brief);
void demur_section_auc_table(DemurPages *p);

/* ---- tables from growing lists of cells ---- */

typedef struct {
  GPtrArray *cells;
  GArray *bold;
} DemurRows;

DemurRows demur_rows_new(void);
void demur_rows_cell(DemurRows *rows, char *text); /* takes the text over */
void demur_rows_end(DemurRows *rows, gboolean bold);
void demur_rows_pair(DemurRows *rows, const char *key, char *value); /* takes the value over */

/* Adds the table and frees the rows. */
void demur_rows_table(DemurPages *p, DemurRows *rows, size_t n_columns,
                      const DemurLayoutColumn *columns);
void demur_rows_pairs_table(DemurPages *p, DemurRows *rows, const char *key, const char *value);

/* ---- text and figures ---- */

void demur_section_text(DemurPages *p, DemurTextStyle style, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Take the chart over. */
DemurLayoutFigure demur_section_figure(DemurChart *chart);
void demur_section_chart(DemurPages *p, double height, DemurChart *chart);

/* A forest plot of groups [from, to) in parts that pages can be broken between; make: as in
 * charts.h. FALSE where there is nothing to draw. */
gboolean demur_section_forest(DemurPages *p,
                              DemurChart *(*make)(const DemurReportFinding *finding, size_t from,
                                                  size_t to, size_t most_rows),
                              size_t from, size_t to);

/* "25 trials (5 models x 5 resamples by patient)", owned. */
char *demur_section_trials(const DemurEvaluation *e);

/* Raw and recalibrated risks stand side by side. */
gboolean demur_section_both_kinds(const DemurEvaluation *e);

/* A method's short name at a line or a panel; borrowed. */
const char *demur_section_short_title(const DemurPages *p, const DemurMethodResult *method);

/* A method's title, with its kind of risk below where both stand side by side; owned. */
char *demur_section_method(const DemurPages *p, const DemurMethodResult *method, gboolean kinds);

/* "1.08", below it ".93 to 1.25"; owned. */
char *demur_section_interval(double value, DemurInterval interval, int decimals);

/* A measure with its interval, two decimals, or "withheld"; owned. */
char *demur_section_measure(const DemurOperatingPoint *at, DemurMeasure measure);

/* "6,282 scans of 3,402 patients from 33 sites", owned. */
char *demur_section_amount(size_t n_scans, size_t n_patients, size_t n_sites);

/* A setting of the training by its name; NULL: not recorded. */
const char *demur_section_setting(const DemurReportInput *input, const char *key);

/* A setting's value as text that lines can break: "confidence, class" of "confidence,class", "not recorded" of
 * NULL; owned. */
char *demur_section_setting_words(const char *value);

G_END_DECLS
