/* The calibration report: a PDF to file and to read, and a JSON with every number printed.
 *
 * Input is plain data: one DemurEvaluation and the facts about its cohort, selector and thresholds.
 * The report has no clock, environment or locale: the same input gives the same bytes of both
 * files. What is unknown is left NULL, 0 or NaN as each field says, and then reads "not recorded",
 * never a guess. */
#pragma once

#include "base/progress.h"
#include "evaluation/evaluation.h"
#include "report/paper.h"
#include "report/use.h"

#include <cairo.h>

G_BEGIN_DECLS

#define DEMUR_REPORT_FORMAT "demur-report-1"         /* of the JSON */
#define DEMUR_REPORT_DIGEST_KEY "DemurNumbersDigest" /* document information of the PDF */

/* One line of a settings list, in the order to print. */
typedef struct {
  const char *key, *value;
} DemurReportPair;

/* A reason and how many scans (or patients, as the text says) it holds for. */
typedef struct {
  const char *reason;
  size_t n;
  gboolean told_elsewhere; /* drawn among what was left out: kept in the JSON, not drawn again */
} DemurReportCount;

/* A split of the cohort. prevalence: share with label 1 among the labelled; NaN where K > 2 or none
 * is labelled. */
typedef struct {
  const char *name;
  size_t n_scans, n_patients, n_sites, n_labelled;
  double prevalence;
} DemurReportSplit;

/* A site or scanner of the evaluated split. n_positive: labelled scans with label 1 (K = 2). The
 * share of positives is withheld in print below DEMUR_SMALL_CELL scans. */
typedef struct {
  const char *name;
  size_t n_scans, n_patients, n_labelled, n_positive;
  gboolean scans_tell, labels_tell; /* few would follow from them beside other groups
                                     * (evaluation/releases.h): withheld */
} DemurReportGroup;

/* A row of Table 1: numbers of an attribute by their quartiles, or how many scans have one of its
 * values. Rows of one attribute stand together. Small counts are withheld. */
typedef struct {
  const char *attribute, *value; /* value NULL: numbers */
  const char *title;             /* of the attribute, for people, with its unit; NULL: its name */
  const size_t *counts;          /* [n_splits] scans with that value, or with a number */
  const double *low, *median, *high; /* [n_splits] quartiles; NULL where value is set */
  const gboolean *tells; /* [n_splits] few would follow from the count beside other groups
                          * (evaluation/releases.h): withheld; NULL: nowhere */
} DemurReportCharacteristic;

/* One year after the scan, over the evaluated scans whose yearly risk is recorded. */
typedef struct {
  size_t n;
  double mean_risk, observed; /* mean yearly risk; share with the outcome by then, estimated */
  double low, high;           /* 95 % interval of observed */
} DemurReportYear;

typedef struct {
  const char *name, *source, *model; /* source in words, no path */
  const char *created;               /* stored date, ISO 8601; NULL: not recorded */
  const char *digest; /* of the whole cohort; the rows used: DemurEvaluation.digest */
  gboolean simulated;
  const char *label_rule; /* what label 1 means, a sentence; NULL: not recorded */
  const char *const
      *labels; /* [n_classes] names for people ("no cancer", "cancer"); NULL: "label 0", .. */
  gssize n_sites_in_training; /* sites of the evaluated split that the selector's training saw; -1:
                                 unknown */
  size_t n_splits;
  const DemurReportSplit *splits;
  size_t n_characteristics;
  const DemurReportCharacteristic *characteristics;
  size_t n_sites;
  const DemurReportGroup *sites;
  size_t n_scanners;
  const DemurReportGroup *scanners; /* by manufacturer (and model); 0 where not recorded */
  gboolean exclusions_recorded;     /* with n_exclusions 0: nothing was left out */
  size_t n_exclusions;
  const DemurReportCount *exclusions; /* left out before the cohort was made */
  size_t n_noticed;
  const DemurReportCount *noticed; /* while the cohort's table was read; names nobody */
  size_t n_follow_up;
  const DemurReportCount *follow_up; /* "followed for six years without cancer", "censored", .. */
  size_t n_years;                    /* 0: no yearly risks, or no years of follow-up */
  const DemurReportYear *years;      /* [n_years]: 1, 2, .. years after the scan */
  const char *years_estimator;       /* of observed: "Kaplan-Meier", .. */
} DemurReportCohort;

typedef struct {
  const char *name, *title; /* title: for people, NULL: "selector NAME" */
  const char
      *method; /* its name in the evaluation ("selector:NAME"); NULL: the first selector there */
  const char *digest, *created, *cohort, *model; /* cohort: the one it was trained on */
  const char *reference_set;                     /* in words: "base_train, 6,000 scans" */
  size_t n_training_scans, n_training_patients, n_training_sites;
  gint64 best_epoch; /* -1: does not apply */
  gboolean as_published;
  const char *scores_by; /* without a network, by what; NULL: its networks */
  const char
      *federated; /* which studies of several sites its numbers come from, a sentence; NULL: none */
  size_t n_settings;
  const DemurReportPair *settings;
} DemurReportSelector;

/* A tuned threshold, as `demur tune` keeps it. */
typedef struct {
  double requested, realised; /* coverage asked, and reached on the tuning split */
  double threshold;
  const char *cohort, *split; /* of the tuning scans */
  size_t n;                   /* scans there */
  const char *guarantee;      /* a sentence: what it guarantees, with its n; NULL: none */
  const char *created;
} DemurReportThreshold;

/* What a few labels of a site said of its risks there (`demur audit`). Verdicts use it, the
 * evaluation does not. */
typedef struct {
  const char *site, *cohort;   /* the site, and the cohort of the labelled scans */
  size_t n_labels;             /* withheld below DEMUR_SMALL_CELL */
  double intercept, low, high; /* added to the log-odds of the risk; 95 % interval */
  gboolean in_split;           /* the evaluated split has scans of this site */
  const char *created;
} DemurReportAudit;

/* What `demur validate` said of the selector; verdict NULL: never validated. */
typedef struct {
  const char *verdict;          /* "better", "no difference shown", "worse", "cannot be decided" */
  const char *sentence;         /* in words, with its numbers; NULL: none kept */
  const char *cohort;           /* it was validated on; NULL: not recorded */
  size_t n_sites, n_folds;      /* 0: not recorded */
  double difference, low, high; /* S-BCE_2 AUC against confidence; NaN: not recorded */
} DemurReportValidation;

/* What `demur report verify` needs to make the same report again from the workspace; n_selectors 0:
 * it can't be made again (a preview, a test). */
typedef struct {
  size_t n_selectors;
  const char *const *selectors; /* names in the workspace, the first is reported on */
  const char *cohort, *split;
  guint64 seed;
  size_t n_resamples, n_bootstrap, min_bin_size;
  const char *resample_unit;
  gboolean in_sample;
  const char *group_by;              /* comma between; NULL: none asked for */
  const char *net_benefit_threshold; /* as asked; NULL: the usual */
  /* Of a family (report/family.h) only: its name, and each selector's horizon. */
  const char *family;
  const int *years; /* [n_selectors] */
  /* Of a patient's page (report/patient.h) only: */
  const char *scan_id;
  gboolean cohort_scan;       /* it belongs to the cohort, else it is a DICOM series */
  const char *tuned_coverage; /* as asked; NULL: the current threshold */
  const char *language;       /* of the page: "de"; NULL: English */
} DemurReportRequest;

/* How often the selector refuses a site, scanner or other subgroup of the evaluated split at the
 * report's coverage. Rates are withheld below DEMUR_SMALL_CELL scans. */
typedef struct {
  const char *attribute, *name; /* "site", "site 03"; rows of one attribute stand together */
  size_t n_scans, n_rejected;
  double low, high; /* 95 % interval of n_rejected / n_scans */
  gboolean tells;   /* few would follow beside other groups (evaluation/releases.h): withheld */
} DemurReportRejection;

typedef struct {
  const DemurEvaluation *evaluation;
  DemurReportCohort cohort;
  DemurReportSelector selector;
  size_t n_thresholds;
  const DemurReportThreshold *thresholds; /* oldest first; the last is current */
  size_t n_rejections;
  const DemurReportRejection
      *rejections; /* who is refused, by subgroup; 0: that part is left out */
  DemurReportValidation validation;
  size_t n_audits;
  const DemurReportAudit *audits; /* of the selector, by name of site */
  const DemurReportUse *use;      /* acceptance tests and watches; NULL: not looked for */
  DemurReportRequest request;
  const char *log_head; /* of the workspace's log; NULL: none */
  const char *kernel;   /* that the numbers were computed with; NULL: not recorded */
  double coverage;      /* of the summary, one that every method's `at` holds; 0: 0.9 */
  const char *created;  /* date of the report, from stored dates (ISO 8601); NULL: undated */
  const char *version;  /* of the program, "0.1.0" */
  DemurPaper paper;
} DemurReportInput;

/* Writes the PDF to path and the JSON beside it (path with .json for its ending), each whole or not
 * at all. FALSE with DEMUR_ERROR_USAGE where path does not end in ".pdf", DEMUR_ERROR_INPUT where
 * the evaluation has no method, DEMUR_ERROR_OUTPUT where a file can't be written, or
 * G_IO_ERROR_CANCELLED; no file has then changed unless the very last renaming failed. */
gboolean demur_report_write(const DemurReportInput *input, const char *path,
                            const DemurProgress *progress,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The JSON document alone, owned by the caller. Its SHA-256 is the digest in the PDF's footer. */
char *demur_report_json(const DemurReportInput *input);

/* The PDF that belongs to that document (owned, *n bytes); json: what demur_report_json gave. */
guchar *demur_report_pdf(const DemurReportInput *input, const char *json, size_t *n,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* path's JSON: its ".pdf" replaced by ".json" (owned). NULL with DEMUR_ERROR_USAGE. */
char *demur_report_json_path(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same pages for a preview: demur_report_pages_draw draws one on cr at scale 1 (points). */
typedef struct DemurReportPages DemurReportPages;

/* input and all it points to must outlive the pages. */
DemurReportPages *demur_report_pages_new(const DemurReportInput *input, GError **error);
void demur_report_pages_free(DemurReportPages *pages);
size_t demur_report_pages_count(const DemurReportPages *pages);
void demur_report_pages_size(const DemurReportPages *pages, double *width, double *height);

void demur_report_pages_draw(DemurReportPages *pages, size_t page, cairo_t *cr);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReportPages, demur_report_pages_free)

G_END_DECLS
