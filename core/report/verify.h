/* Checking a report against what it is made of: reads back how it was made, and compares its JSON
 * with one made anew. The evaluation itself is the caller's. */
#pragma once

#include "report/files.h"
#include "report/report.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* How a report was made, read from its JSON. */
typedef struct {
  DemurReportKind kind;
  char **selectors;
  char *family; /* of a family: its name, and the horizon of each selector, ascending */
  int *years;   /* [selectors] */
  char *cohort, *split, *resample_unit;
  char *group_by;              /* NULL: none */
  char *net_benefit_threshold; /* as asked; NULL: the usual */
  guint64 seed;
  size_t n_resamples, n_bootstrap, min_bin_size;
  gboolean in_sample;
  double coverage; /* 0: the usual */
  DemurPaper paper;
  char *scan_id, *tuned_coverage; /* of a patient's page */
  char *language;                 /* that the page is in: "de"; NULL: English */
  gboolean cohort_scan;
} DemurReportRecipe;

void demur_report_recipe_free(DemurReportRecipe *recipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReportRecipe, demur_report_recipe_free)

/* NULL with DEMUR_ERROR_INPUT where the document (its root object) is no report's or does not say
 * how it was made. */
DemurReportRecipe *demur_report_recipe_read(JsonObject *document,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A place where two documents differ. */
typedef struct {
  char *where;           /* "evaluation.methods[0].at[1].sbce2" */
  char *written, *found; /* as JSON text, shortened; NULL: absent there */
} DemurReportDifference;

void demur_report_difference_free(DemurReportDifference *difference);
DemurReportDifference *demur_report_difference_new(const char *where, const char *written,
                                                   const char *found);

/* Equal, or within 1e-9 of the larger (1e-12 where both are that small): what another processor or
 * library may make of the same data. Both NaN are the same. */
gboolean demur_report_same_number(double a, double b);

/* All differences of two JSON values, in the order of the first (owned, frees its elements).
 * Numbers differ where demur_report_same_number says so, whole numbers where they are not equal. */
GPtrArray *demur_report_compare(JsonNode *written, JsonNode *found);

/* The digest of the JSON that a PDF names as its own (owned, hexadecimal). NULL with
 * DEMUR_ERROR_INPUT where the bytes are no PDF of this program. */
char *demur_report_pdf_digest(const guchar *pdf, size_t n,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
