/* The report of a family of horizons: one PDF and one JSON over all of them, put together from the
 * reports of the single horizons (report.h).
 *
 * Its first page sets the horizons side by side: what was expected and what was observed by each
 * year, of all scans and of those that the family shows, and each horizon's results by its own
 * threshold. The family shows a scan where every horizon accepts it (docs/method.md, "Horizons"). Behind
 * it stand the cohort, then a part a horizon as its own report has it, then what is said once. */
#pragma once

#include "report/report.h"

G_BEGIN_DECLS

#define DEMUR_FAMILY_REPORT_FORMAT "demur-report-family-1" /* of the JSON */

/* By one year: all scans of the split, and those that the family shows. Withheld in print and JSON
 * where few with the outcome or without it, of them or of what is held back, would be told. */
typedef struct {
  int year;
  DemurReportYear all, shown;
  gboolean shown_tells; /* few would follow from shown beside what the horizon of that year tells of
                         * the scans that it accepts: shown is withheld */
} DemurFamilyYear;

typedef struct {
  const char *name;
  size_t n;
  const int *years;                        /* [n] ascending */
  const DemurReportInput *const *horizons; /* [n] as each horizon's own report has it */
  double coverage;                         /* of each horizon's threshold here */
  size_t n_scans, n_shown; /* of the split; shown: accepted at every horizon by that threshold */
  gboolean shown_known;    /* each horizon has a threshold of that coverage */
  size_t n_by_year;        /* 0: no yearly risks, or no times */
  const DemurFamilyYear *by_year; /* [n_by_year] */
  const char *estimator;          /* of what was observed: "Kaplan-Meier", .. */
} DemurFamilyReport;

/* At least this share of draws has every one of n intervals of 95 % right (Bonferroni). */
double demur_family_simultaneous_level(size_t n);

/* Whether nothing is told of the year, of all scans or of those that are shown. */
gboolean demur_family_withholds(const DemurFamilyReport *family, const DemurFamilyYear *year,
                                gboolean shown);

/* Fewer than DEMUR_SMALL_CELL scans, or of them with the outcome by then, or without it. */
gboolean demur_family_is_few(const DemurReportYear *year);

/* The members "multiplicity" and "over_the_years" into an open object: what `evaluate` and the report
 * both say of a family beside its horizons. */
void demur_family_write_json(const DemurFamilyReport *family, DemurJson *json);

/* As demur_report_json, demur_report_pdf and demur_report_write. */
char *demur_family_report_json(const DemurFamilyReport *family);
guchar *demur_family_report_pdf(const DemurFamilyReport *family, const char *json, size_t *n,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_family_report_write(const DemurFamilyReport *family, const char *path,
                                   const DemurProgress *progress,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
