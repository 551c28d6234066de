#include "tasks/site-scans.h"

#include "base/error.h"
#include "base/memory.h"
#include "tasks/selection.h"

void
demur_site_scans_clear(DemurSiteScans *site) {
  g_free(site->rows);
  g_free(site->scores);
  demur_cohort_unref(site->view);
  demur_cohort_unref(site->cohort);
  demur_selector_unref(site->selector);
  *site = (DemurSiteScans){0};
}

gboolean
demur_site_scans_selector(DemurTask *task, const char *name, const char *what, DemurSiteScans *site,
                          GError **error) {
  site->selector = demur_task_load_selector(task, name, NULL, error);
  if (site->selector == NULL)
    return FALSE;
  if (demur_selector_corrector(site->selector, FALSE) == NULL) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "%s needs binary risk; selector '%s' has %zu classes", what, name,
                    demur_selector_n_classes(site->selector));
    return FALSE;
  }
  return TRUE;
}

double *
demur_site_scans_scores(DemurTask *task, const DemurSelector *selector, const DemurCohort *view,
                        const guint32 *rows, size_t n, GError **error) {
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, view, FALSE, rows, n, task->parallel, &task->progress, error);
  if (meta == NULL)
    return NULL;
  double *scores = g_new(double, MAX(n, 1));
  demur_selector_scores(selector, 0, meta, n, scores);
  return scores;
}

/* The first of them: names alone, which tell of no few patients. */
#define SITES_NAMED 40

static GString *
some_sites(const DemurCohort *cohort) {
  GString *names = g_string_new(NULL);
  const size_t n = MIN(cohort->n_sites, (size_t)SITES_NAMED);
  for (size_t s = 0; s < n; s++)
    g_string_append_printf(names, "%s%s", s > 0 ? ", " : "", cohort->site_names[s]);
  if (n < cohort->n_sites)
    g_string_append(names, ", ..");
  return names;
}

gboolean
demur_site_scans_load(DemurTask *task, const char *cohort_name, const char *split,
                      const char *site_name, DemurSiteScans *site, GError **error) {
  site->cohort = demur_task_load_cohort_for(task, cohort_name, site->selector, error);
  if (site->cohort == NULL)
    return FALSE;
  const gssize code = demur_cohort_find_site(site->cohort, site_name);
  if (code < 0) {
    g_autoptr(GString) names = some_sites(site->cohort);
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "cohort '%s' has no site '%s'; its %zu sites are %s", cohort_name, site_name,
                    site->cohort->n_sites, names->str);
    return FALSE;
  }
  size_t n_rows;
  site->rows = demur_cohort_rows(site->cohort, split, &n_rows, error);
  if (site->rows == NULL)
    return FALSE;
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 row = site->rows[i];
    if (site->cohort->sites[row] == (guint32)code &&
        !demur_selector_has_seen(site->selector,
                                 site->cohort->patient_ids[site->cohort->patients[row]]))
      site->rows[site->n++] = row;
  }
  if (site->n == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "site '%s' of cohort '%s' has no scan that the selector has not seen%s%s",
                    site_name, cohort_name, split != NULL ? N_(" in split ") : "",
                    split != NULL ? split : "");
    return FALSE;
  }
  site->trained =
      g_strv_contains((const char *const *)demur_selector_site_names(site->selector), site_name);
  site->view = demur_selector_view_rows(site->selector, site->cohort, site->rows, site->n,
                                        task->parallel, NULL, error);
  if (site->view == NULL)
    return FALSE;
  site->scores =
      demur_site_scans_scores(task, site->selector, site->view, site->rows, site->n, error);
  return site->scores != NULL;
}
