#include "report/family.h"

#include <math.h>

#include "base/shown-text.h"
#include "report/files.h"
#include "report/pages.h"
#include "report/pdf-document.h"
#include "report/revisions.h"
#include "report/withheld.h"

double
demur_family_simultaneous_level(size_t n) {
  return fmax(0.0, 1.0 - 0.05 * (double)n);
}

gboolean
demur_family_withholds(const DemurFamilyReport *family, const DemurFamilyYear *year,
                       gboolean shown) {
  return shown ? !family->shown_known || year->shown_tells ||
                     demur_withheld_shown_year(&year->all, &year->shown)
               : demur_withheld_year(&year->all);
}

gboolean
demur_family_is_few(const DemurReportYear *year) {
  return demur_withheld_year(year);
}

static void
write_share(DemurJson *json, const char *key, const DemurReportYear *year, gboolean withheld) {
  const double interval[2] = {withheld ? NAN : year->low, withheld ? NAN : year->high},
               ratios[3] = {withheld ? NAN : year->observed / year->mean_risk,
                            interval[0] / year->mean_risk, interval[1] / year->mean_risk};
  demur_json_begin_object(json, key);
  demur_withheld_write_count(json, withheld, "n", year->n);
  demur_json_double(json, "mean_risk", withheld ? NAN : year->mean_risk);
  demur_json_double(json, "observed", withheld ? NAN : year->observed);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_double(json, "oe_ratio", ratios[0]);
  demur_json_doubles(json, "oe_interval", ratios + 1, 2);
  demur_json_end_object(json);
}

void
demur_family_write_json(const DemurFamilyReport *family, DemurJson *json) {
  demur_json_begin_object(json, "multiplicity");
  demur_json_int(json, "n_horizons", (gint64)family->n);
  demur_json_double(json, "level", 0.95);
  demur_json_double(json, "simultaneous_level_at_least",
                    demur_family_simultaneous_level(family->n));
  demur_json_bool(json, "verdicts_corrected_across_horizons", FALSE);
  demur_json_end_object(json);
  demur_json_begin_object(json, "over_the_years");
  demur_json_double(json, "coverage", family->coverage);
  demur_json_int(json, "n_scans", (gint64)family->n_scans);
  demur_withheld_write_count(json, !family->shown_known, "n_shown", family->n_shown);
  demur_json_double(json, "coverage_together",
                    family->shown_known && family->n_scans > 0
                        ? (double)family->n_shown / (double)family->n_scans
                        : (double)NAN);
  demur_json_string(json, "estimator", family->n_by_year > 0 ? family->estimator : NULL);
  demur_json_begin_array(json, "years");
  for (size_t y = 0; y < family->n_by_year; y++) {
    const DemurFamilyYear *year = &family->by_year[y];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "year", year->year);
    write_share(json, "all", &year->all, demur_family_withholds(family, year, FALSE));
    write_share(json, "shown", &year->shown, demur_family_withholds(family, year, TRUE));
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

/* How it was made: as the last horizon says of itself, but of all selectors. */
static void
write_request(const DemurFamilyReport *family, DemurJson *json) {
  const DemurReportInput *last = family->horizons[family->n - 1];
  g_autofree const char **names = g_new0(const char *, family->n + 1);
  for (size_t h = 0; h < family->n; h++)
    names[h] = family->horizons[h]->request.n_selectors > 0
                   ? family->horizons[h]->request.selectors[0]
                   : NULL;
  DemurReportRequest request = last->request;
  request.n_selectors = request.n_selectors > 0 ? family->n : 0;
  request.selectors = names;
  request.family = family->name;
  request.years = family->years;
  demur_report_request_write(json, &request, DEMUR_REPORT_OF_FAMILY, last->coverage, last->paper);
}

/* The latest of the horizons' dates. */
static const char *
created(const DemurFamilyReport *family) {
  const char *latest = NULL;
  for (size_t h = 0; h < family->n; h++)
    if (g_strcmp0(family->horizons[h]->created, latest) > 0)
      latest = family->horizons[h]->created;
  return latest;
}

char *
demur_family_report_json(const DemurFamilyReport *family) {
  const DemurReportInput *last = family->horizons[family->n - 1];
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", DEMUR_FAMILY_REPORT_FORMAT);
  demur_json_string(json, "version", last->version);
  demur_json_string(json, "created", created(family));
  demur_json_string(json, "notice", "For research use, not a cleared device");
  demur_json_string(json, "log_head", last->log_head);
  demur_json_string(json, "kernel", last->kernel);
  demur_method_revisions_write(json);
  write_request(family, json);
  demur_json_string(json, "family", family->name);
  demur_family_write_json(family, json);
  demur_json_begin_array(json, "horizons");
  for (size_t h = 0; h < family->n; h++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "years", family->years[h]);
    demur_report_write_members(json, family->horizons[h]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  return demur_shown_json(text); /* read by people too */
}

guchar *
demur_family_report_pdf(const DemurFamilyReport *family, const char *json, size_t *n,
                        GError **error) {
  const DemurReportInput *last = family->horizons[family->n - 1];
  const DemurEvaluation *e = last->evaluation;
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
  g_autoptr(DemurLayout) layout = demur_pages_family_layout(family, digest);
  g_autofree char *title =
      g_strdup_printf("Calibration report of family %s: cohort %s, split %s%s", family->name,
                      e->cohort, e->split, e->simulated ? " (simulated data)" : "");
  const DemurPdfFacts facts = {.title = title,
                               .subject = "Calibrated selective classification: for research use, "
                                          "not a cleared device",
                               .version = last->version,
                               .created = created(family),
                               .numbers_digest = digest};
  const DemurPaperRow *paper = demur_paper_row(last->paper);
  return demur_pdf_document(layout, paper->width, paper->height, &facts, n, error);
}

gboolean
demur_family_report_write(const DemurFamilyReport *family, const char *path,
                          const DemurProgress *progress, GError **error) {
  if (!demur_report_check_files(path, error) || !demur_progress_step(progress, 0, "drawing", error))
    return FALSE;
  g_autofree char *json = demur_family_report_json(family);
  size_t n;
  g_autofree guchar *pdf = demur_family_report_pdf(family, json, &n, error);
  return pdf && demur_progress_step(progress, 0.9, "writing", error) &&
         demur_report_files_write(path, pdf, n, json, DEMUR_REPORT_FOR_ALL, error);
}
