#include "app/cli/site-coverage.h"

#include <math.h>
#include <string.h>

#include "selector/coverage.h"

GArray *
demur_cli_site_coverage(const DemurCliAssessment *assessment) {
  GArray *sites = g_array_new(FALSE, FALSE, sizeof(DemurCliSiteCoverage));
  g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
  g_auto(GStrv) tuned = assessment->threshold != NULL
                            ? demur_tuning_read_sites(assessment->threshold->guarantee)
                            : NULL;
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    const DemurCliVerdictSite *of = &g_array_index(assessment->sites, DemurCliVerdictSite, i);
    if (of->site == NULL || !isfinite(v->score))
      continue;
    gpointer found;
    if (!g_hash_table_lookup_extended(places, of->site, NULL, &found)) {
      const DemurCliSiteCoverage site = {
          of->site, 0, 0,
          tuned == NULL ? -1 : g_strv_contains((const char *const *)tuned, of->site)};
      found = GUINT_TO_POINTER(sites->len);
      g_hash_table_insert(places, of->site, found);
      g_array_append_val(sites, site);
    }
    DemurCliSiteCoverage *site =
        &g_array_index(sites, DemurCliSiteCoverage, GPOINTER_TO_UINT(found));
    site->n_scored++;
    site->n_accepted += strcmp(v->verdict, "accepted") == 0;
  }
  return sites;
}

const char *
demur_cli_site_guarantee(const DemurCliAssessment *assessment, const DemurCliSiteCoverage *site) {
  if (assessment->threshold == NULL)
    return NULL;
  return site->in_tuning_split > 0    ? "as for the tuning split, which held scans of this site"
         : site->in_tuning_split == 0 ? "no guarantee at this site"
                                      : "no guarantee: the sites that tuned were not kept";
}
