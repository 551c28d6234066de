#include "cohort/split-maker.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/random.h"
#include "cohort/ids.h"

void
demur_split_plan_clear(DemurSplitPlan *plan) {
  for (size_t s = 0; s < plan->n; s++)
    g_clear_pointer(&plan->names[s], g_free);
  plan->n = 0;
}

/* The usual names of n splits without names; NULL where there are none. */
static const char *const *
usual_names(size_t n) {
  static const char *const three[] = {"selector_train", DEMUR_SPLIT_TUNE, DEMUR_SPLIT_TEST};
  static const char *const four[] = {"selector_train", "validation", DEMUR_SPLIT_TUNE,
                                     DEMUR_SPLIT_TEST};
  return n == 3 ? three : n == 4 ? four : NULL;
}

static gboolean
usage(GError **error, const char *text, const char *what) {
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "--split-by is '%s': %s; expected patient or site and shares, as in `--split-by "
                  "patient 0.4,0.2,0.1,0.3` or `--split-by site selector_train=0.6,test=0.4`",
                  text, what);
  return FALSE;
}

/* One part, "NAME=0.4" or "0.4". */
static gboolean
parse_share(DemurSplitPlan *plan, const char *part, const char *usual) {
  const char *equals = strchr(part, '=');
  const char *number = equals != NULL ? equals + 1 : part;
  g_autofree char *name =
      equals != NULL ? g_strndup(part, (gsize)(equals - part)) : g_strdup(usual);
  if (name == NULL || *g_strstrip(name) == '\0' ||
      !demur_number_parse(number, strlen(number), &plan->shares[plan->n]) ||
      !(plan->shares[plan->n] > 0.0 && plan->shares[plan->n] <= 1.0))
    return FALSE;
  for (size_t s = 0; s < plan->n; s++)
    if (strcmp(plan->names[s], name) == 0)
      return FALSE;
  plan->names[plan->n++] = g_steal_pointer(&name);
  return TRUE;
}

gboolean
demur_split_plan_parse(DemurSplitPlan *plan, const char *text, GError **error) {
  *plan = (DemurSplitPlan){0};
  const size_t word = strcspn(text, " :");
  if (word == strlen("site") && strncmp(text, "site", word) == 0)
    plan->by_site = TRUE;
  else if (word != strlen("patient") || strncmp(text, "patient", word) != 0)
    return usage(error, text, N_("neither patient nor site"));
  g_auto(GStrv) parts = g_strsplit(text[word] != '\0' ? text + word + 1 : "", ",", -1);
  const size_t n = g_strv_length(parts);
  const char *const *usual = usual_names(n);
  if (n < 2 || n > DEMUR_MAX_SPLITS_MADE)
    return usage(error, text, N_("needs from 2 to 16 shares"));
  double sum = 0.0;
  for (size_t s = 0; s < n; s++) {
    if (!parse_share(plan, parts[s], usual != NULL ? usual[s] : NULL))
      return usage(error, text,
                   N_("a share is no number above 0, a name stands twice, or names are missing"));
    sum += plan->shares[s];
  }
  return fabs(sum - 1.0) < 1e-9 || usage(error, text, N_("the shares do not sum to 1"));
}

static guint32
root_of(guint32 *parents, guint32 i) {
  while (parents[i] != i)
    i = parents[i] = parents[parents[i]];
  return i;
}

/* groups[site]: sites that share a patient, or look alike, have one. persons[patient]: the first
 * that looks like it. (g_free) */
static guint32 *
join_sites(const DemurCohort *cohort, const guint32 *persons) {
  guint32 *parents = demur_ids_alike(cohort->site_names, cohort->n_sites);
  g_autofree guint32 *first = g_new(guint32, MAX(cohort->n_patients, 1));
  memset(first, 0xff, cohort->n_patients * sizeof *first);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    guint32 *site = &first[persons[cohort->patients[i]]];
    if (*site == G_MAXUINT32)
      *site = cohort->sites[i];
    parents[root_of(parents, cohort->sites[i])] = root_of(parents, *site);
  }
  for (guint32 s = 0; s < cohort->n_sites; s++)
    parents[s] = root_of(parents, s);
  return parents;
}

/* split_of[group]: groups are dealt out in a drawn order; the one that crosses a border goes to the
 * side that has more of it. */
static void
deal(const DemurSplitPlan *plan, guint64 seed, const size_t *sizes, guint32 n_groups,
     size_t n_scans, guint32 *split_of) {
  g_autofree guint32 *order = g_new(guint32, MAX(n_groups, 1));
  for (guint32 g = 0; g < n_groups; g++)
    order[g] = g;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_SPLITS, 0, 0, 0);
  demur_random_shuffle(&random, n_groups, order);
  size_t dealt = 0;
  guint32 split = 0;
  double border = plan->shares[0] * (double)n_scans;
  for (guint32 k = 0; k < n_groups; k++) {
    const guint32 g = order[k];
    while (split + 1 < plan->n && (double)dealt + (double)sizes[g] / 2.0 > border)
      border += plan->shares[++split] * (double)n_scans;
    split_of[g] = split;
    dealt += sizes[g];
  }
}

gboolean
demur_cohort_make_splits(DemurCohort *cohort, const DemurSplitPlan *plan, guint64 seed,
                         char **words, GError **error) {
  g_autofree guint32 *persons = demur_ids_alike(cohort->patient_ids, cohort->n_patients);
  g_autofree guint32 *sites = plan->by_site ? join_sites(cohort, persons) : NULL;
  const guint32 *joined = plan->by_site ? sites : persons;
  const guint32 n_groups = (guint32)(plan->by_site ? cohort->n_sites : cohort->n_patients);
  const guint32 *codes = plan->by_site ? cohort->sites : cohort->patients;
  g_autofree size_t *sizes = g_new0(size_t, MAX(n_groups, 1));
  g_autofree guint32 *split_of = g_new0(guint32, MAX(n_groups, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    sizes[joined[codes[i]]]++;
  deal(plan, seed, sizes, n_groups, cohort->n_scans, split_of);
  size_t n_in[DEMUR_MAX_SPLITS_MADE] = {0};
  for (size_t i = 0; i < cohort->n_scans; i++) {
    cohort->splits[i] = split_of[joined[codes[i]]];
    n_in[cohort->splits[i]]++;
  }
  g_autoptr(GString) told = g_string_new(NULL);
  g_free(cohort->split_names);
  cohort->split_names = g_new0(char *, plan->n);
  cohort->n_splits = plan->n;
  for (size_t s = 0; s < plan->n; s++) {
    cohort->split_names[s] = demur_cohort_keep_text(cohort, plan->names[s], strlen(plan->names[s]));
    g_string_append_printf(told, "%s%s %zu", s > 0 ? ", " : "", plan->names[s], n_in[s]);
    if (n_in[s] == 0) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "split %s would be empty: there are too few %s for these shares",
                      plan->names[s], plan->by_site ? "sites" : "patients");
      return FALSE;
    }
  }
  *words = g_string_free(g_steal_pointer(&told), FALSE);
  return TRUE;
}
