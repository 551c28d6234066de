/* The scans of one site as a selector sees them: what auditing a site and accepting it begin with.
 */
#pragma once

#include "cohort/cohort.h"
#include "selector/selector.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* Without the scans of patients that made the selector. */
typedef struct {
  DemurSelector *selector;
  DemurCohort *cohort, *view;
  guint32 *rows; /* [n] */
  size_t n;
  double *scores;   /* [n] of the first model */
  gboolean trained; /* the site helped to train the selector */
} DemurSiteScans;

void demur_site_scans_clear(DemurSiteScans *site);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurSiteScans, demur_site_scans_clear)

/* The selector of that name. DEMUR_ERROR_UNSUPPORTED where its risk is not binary; what: "a site
 * audit". */
gboolean demur_site_scans_selector(DemurTask *task, const char *name, const char *what,
                                   DemurSiteScans *site, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The site's scans in a split of the cohort (NULL: in any), behind demur_site_scans_selector.
 * DEMUR_ERROR_NOT_FOUND for no such site, DEMUR_ERROR_STATE where none is left. */
gboolean demur_site_scans_load(DemurTask *task, const char *cohort_name, const char *split,
                               const char *site_name, DemurSiteScans *site,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Scores [n] of the first model for rows of a view (owned). */
double *demur_site_scans_scores(DemurTask *task, const DemurSelector *selector,
                                const DemurCohort *view, const guint32 *rows, size_t n,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
