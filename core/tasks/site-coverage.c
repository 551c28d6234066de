#include "tasks/site-coverage.h"

#include <math.h>

#include "selector/coverage.h"

GArray *
demur_task_site_coverage(const DemurAssessment *assessment) {
  GArray *sites = g_array_new(FALSE, FALSE, sizeof(DemurSiteCoverage));
  g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
  g_auto(GStrv) tuned = assessment->threshold != NULL
                            ? demur_tuning_read_sites(assessment->threshold->guarantee)
                            : NULL;
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    const DemurVerdictSite *of = &g_array_index(assessment->sites, DemurVerdictSite, i);
    if (of->site == NULL || !isfinite(v->score))
      continue;
    gpointer found;
    if (!g_hash_table_lookup_extended(places, of->site, NULL, &found)) {
      const DemurSiteCoverage site = {
          of->site, 0, 0,
          tuned == NULL ? -1 : g_strv_contains((const char *const *)tuned, of->site)};
      found = GUINT_TO_POINTER(sites->len);
      g_hash_table_insert(places, of->site, found);
      g_array_append_val(sites, site);
    }
    DemurSiteCoverage *site = &g_array_index(sites, DemurSiteCoverage, GPOINTER_TO_UINT(found));
    site->n_scored++;
    site->n_accepted += v->verdict == DEMUR_VERDICT_ACCEPTED;
  }
  return sites;
}

const char *
demur_task_site_guarantee(const DemurAssessment *assessment, const DemurSiteCoverage *site) {
  if (assessment->threshold == NULL)
    return NULL;
  return site->in_tuning_split > 0    ? "as for the tuning split, which held scans of this site"
         : site->in_tuning_split == 0 ? "no guarantee at this site"
                                      : "no guarantee: the sites that tuned were not kept";
}
