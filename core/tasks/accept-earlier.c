#include "tasks/accept-earlier.h"

#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/person.h"
#include "evaluation/acceptance-document.h"
#include "store/audits.h"
#include "store/cohorts.h"
#include "selector/release.h"
#include "store/selectors.h"
#include "store/site-seen.h"
#include "tasks/selection.h"

void
demur_accept_before_clear(DemurAcceptBefore *before) {
  g_clear_pointer(&before->plans, g_ptr_array_unref);
  g_clear_pointer(&before->patients, g_hash_table_unref);
  g_clear_pointer(&before->newer, g_free);
}

static void
earlier_free(gpointer data) {
  DemurAcceptEarlier *earlier = data;
  if (earlier == NULL)
    return;
  char *texts[] = {earlier->selector, earlier->digest, earlier->created, earlier->answer};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(earlier);
}

static DemurAcceptEarlier *
earlier_new(const char *selector, const char *digest, const char *created, const char *answer,
            size_t n_labels) {
  DemurAcceptEarlier *earlier = g_new0(DemurAcceptEarlier, 1);
  earlier->selector = g_strdup(selector);
  earlier->digest = g_strdup(digest);
  earlier->created = g_strdup(created);
  earlier->answer = g_strdup(answer);
  earlier->n_labels = n_labels;
  return earlier;
}

/* *earlier is NULL where no label of the plan was looked at. */
static gboolean
read_earlier(DemurWorkspace *workspace, const DemurAcceptancePlanRecord *plan,
             DemurAcceptEarlier **earlier, GError **error) {
  *earlier = NULL;
  g_autoptr(GPtrArray) answers = demur_acceptances_list(workspace, plan->id, error);
  if (answers == NULL)
    return FALSE;
  size_t looked_at;
  if (demur_acceptances_seen(answers, &looked_at) == 0)
    return TRUE;
  *earlier = earlier_new(plan->selector, plan->digest, plan->created,
                         ((const DemurAcceptanceRecord *)answers->pdata[0])->answer, looked_at);
  return TRUE;
}

/* Who could have been drawn by a plan: in its document, or all of the site in its cohort. */
static gboolean
add_candidates(DemurWorkspace *workspace, const DemurAcceptancePlanRecord *plan,
               const DemurAcceptanceDocument *document, GHashTable *patients, GError **error) {
  for (size_t i = 0; i < document->plan->n_chosen; i++)
    g_hash_table_add(patients, demur_person_key(document->patient_ids[i]));
  if (document->candidates != NULL) {
    for (char **key = document->candidates; *key != NULL; key++)
      g_hash_table_add(patients, g_strdup(*key));
    return TRUE;
  }
  g_autoptr(GError) gone = NULL;
  g_autoptr(DemurCohort) cohort = demur_cohorts_load_facts(workspace, plan->cohort, NULL, &gone);
  const gssize site = cohort != NULL ? demur_cohort_find_site(cohort, plan->site) : -1;
  if (site < 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the plan of %s for site '%s' is of an older program, and its cohort '%s' is "
                    "gone: whom it could have drawn can't be told, so no plan can leave them out",
                    plan->created, plan->site, plan->cohort);
    return FALSE;
  }
  for (size_t i = 0; i < cohort->n_scans; i++)
    if (cohort->sites[i] == (guint32)site)
      g_hash_table_add(patients, demur_person_key(cohort->patient_ids[cohort->patients[i]]));
  return TRUE;
}

/* Takes earlier. d: the plan's document. */
static gboolean
add_earlier(DemurWorkspace *workspace, const DemurAcceptancePlanRecord *plan,
            const DemurAcceptanceDocument *d, gboolean of_selector, DemurAcceptEarlier *earlier,
            DemurAcceptBefore *before, GError **error) {
  if (of_selector) {
    const DemurAcceptanceSettings *settings = &d->plan->settings;
    earlier->low = settings->low;
    earlier->high = settings->high;
    earlier->alpha = settings->alpha;
    before->alpha_spent += settings->alpha;
    g_ptr_array_add(before->plans, earlier);
  } else {
    earlier_free(earlier);
  }
  return before->patients == NULL || add_candidates(workspace, plan, d, before->patients, error);
}

/* The patients of labels, a JSON object of scan_id and 0 or 1. */
static void
add_labelled(const char *labels, DemurCohort *cohort, GHashTable *patients) {
  g_autoptr(JsonNode) root = labels != NULL ? demur_json_parse(labels) : NULL;
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root))
    return;
  g_autoptr(GList) names = json_object_get_members(json_node_get_object(root));
  for (GList *name = names; name != NULL; name = name->next) {
    const gssize row = demur_cohort_find_scan(cohort, name->data);
    if (row >= 0)
      g_hash_table_add(patients, demur_person_key(cohort->patient_ids[cohort->patients[row]]));
  }
}

/* The cohort's patients whose labels made an audit of the site, of any selector. */
static gboolean
add_audits(DemurWorkspace *workspace, const char *site, DemurCohort *cohort, GHashTable *patients,
           GError **error) {
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, error);
  if (selectors == NULL)
    return FALSE;
  for (guint s = 0; s < selectors->len; s++) {
    const DemurSelectorRecord *selector = selectors->pdata[s];
    g_autoptr(GPtrArray) audits = demur_audits_list(workspace, selector->name, error);
    if (audits == NULL)
      return FALSE;
    for (guint a = 0; a < audits->len; a++) {
      const DemurAuditRecord *audit = audits->pdata[a];
      if (g_strcmp0(audit->site, site) == 0)
        add_labelled(audit->labels, cohort, patients);
    }
  }
  return TRUE;
}

/* Whether a plan is of the selector, by what is kept with it; one of an older program, which kept no origin, by what
 * stands under its name. Where that can't be read or is another now nothing tells: then it is taken for the
 * selector's, so that no alpha is spent twice (*unsure). */
static gboolean
is_of_selector(DemurTask *task, const char *name, const char *digest, const char *origin,
               const DemurSelector *selector, gboolean *of_selector, gboolean *unsure,
               GError **error) {
  *unsure = FALSE;
  *of_selector = g_strcmp0(digest, demur_selector_digest(selector)) == 0 ||
                 g_strcmp0(digest, demur_selector_origin(selector)) == 0 ||
                 g_strcmp0(origin, demur_selector_origin(selector)) == 0;
  if (*of_selector || origin != NULL)
    return TRUE;
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) other = demur_task_load_selector(task, name, NULL, &local);
  if (other == NULL && !demur_task_selector_is_unreadable(local)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  *unsure = other == NULL || g_strcmp0(demur_selector_digest(other), digest) != 0;
  *of_selector =
      *unsure || g_strcmp0(demur_selector_origin(other), demur_selector_origin(selector)) == 0;
  return TRUE;
}

/* Whose plans and patients are looked for. */
typedef struct {
  DemurTask *task;
  DemurWorkspace *workspace;
  const DemurSelector *selector;
  gint64 plan;
  DemurAcceptBefore *before;
} Asked;

/* A plan that is there, or was. origin: of its selector, where the plan itself has none (NULL: not known); earlier: NULL
 * where no label of it was looked at; taken. */
static gboolean
take_plan(const Asked *asked, const DemurAcceptancePlanRecord *one, const char *origin,
          DemurAcceptEarlier *earlier, GError **error) {
  g_autoptr(DemurAcceptanceDocument) d = demur_acceptance_document_from_json(one->document, error);
  gboolean of_selector = FALSE, unsure = FALSE;
  if (d == NULL || !is_of_selector(asked->task, one->selector, one->selector_digest,
                                   d->origin != NULL ? d->origin : origin, asked->selector,
                                   &of_selector, &unsure, error)) {
    earlier_free(earlier);
    return FALSE;
  }
  /* What may be of another selector counts among what was spent, and takes no plan out of force. */
  if (of_selector && !unsure && one->made > asked->plan) {
    g_free(asked->before->newer);
    asked->before->newer = g_strdup(one->created);
  }
  if (earlier == NULL || one->made >= asked->plan) {
    earlier_free(earlier);
    return TRUE;
  }
  earlier->unsure = unsure;
  return add_earlier(asked->workspace, one, d, of_selector, earlier, asked->before, error);
}

/* Plans and audits that ended with their selectors. */
static gboolean
take_ended(const Asked *asked, const char *site, DemurCohort *cohort, GError **error) {
  g_autoptr(GPtrArray) ended = demur_site_seen_list(asked->workspace, site, error);
  if (ended == NULL)
    return FALSE;
  for (guint i = 0; i < ended->len; i++) {
    const DemurSiteSeen *seen = ended->pdata[i];
    if (seen->by == DEMUR_SEEN_BY_AUDIT) {
      if (cohort != NULL)
        add_labelled(seen->document, cohort, asked->before->patients);
      continue;
    }
    const DemurAcceptancePlanRecord plan = {.made = seen->plan,
                                            .selector = seen->selector,
                                            .selector_digest = seen->selector_digest,
                                            .cohort = seen->cohort,
                                            .site = seen->site,
                                            .document = seen->document,
                                            .digest = seen->digest,
                                            .created = seen->made};
    if (!take_plan(
            asked, &plan, seen->origin,
            earlier_new(plan.selector, plan.digest, plan.created, seen->answer, seen->n_labels),
            error))
      return FALSE;
  }
  return TRUE;
}

gboolean
demur_accept_before_read(DemurTask *task, const char *site, const DemurSelector *selector,
                         gint64 plan, DemurCohort *cohort, DemurAcceptBefore *before,
                         GError **error) {
  *before = (DemurAcceptBefore){.plans = g_ptr_array_new_with_free_func(earlier_free)};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (cohort != NULL) {
    before->patients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!add_audits(workspace, site, cohort, before->patients, error))
      return FALSE;
  }
  const Asked asked = {task, workspace, selector, plan, before};
  g_autoptr(GPtrArray) all = demur_acceptance_plans_of_site(workspace, site, error);
  if (all == NULL || !take_ended(&asked, site, cohort, error))
    return FALSE;
  for (guint i = 0; i < all->len; i++) {
    DemurAcceptEarlier *earlier;
    if (!read_earlier(workspace, all->pdata[i], &earlier, error) ||
        !take_plan(&asked, all->pdata[i], NULL, earlier, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
demur_accept_before_holds(const DemurAcceptBefore *before, const DemurCohort *cohort, size_t row) {
  g_autofree char *key = demur_person_key(cohort->patient_ids[cohort->patients[row]]);
  return g_hash_table_contains(before->patients, key);
}

gboolean
demur_accept_before_spend(const DemurAcceptBefore *before, const char *site, double alpha,
                          double *own, GError **error) {
  *own = DEMUR_ACCEPT_ALPHA_SHARE * (alpha - before->alpha_spent);
  if (*own > 1e-9 * alpha)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "earlier plans of this selector at site '%s' have spent %g of the chance to "
                  "accept wrongly, and --alpha %g is what all of them share: nothing is left for "
                  "another; agree on a larger --alpha for all together",
                  site, before->alpha_spent, alpha);
  return FALSE;
}

void
demur_accept_before_write(DemurJson *json, const DemurAcceptBefore *before) {
  demur_json_begin_array(json, "earlier_plans");
  for (guint i = 0; i < before->plans->len; i++) {
    const DemurAcceptEarlier *earlier = before->plans->pdata[i];
    const double range[] = {earlier->low, earlier->high};
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "selector", earlier->selector);
    demur_json_string(json, "planned", earlier->created);
    demur_json_string(json, "plan_digest", earlier->digest);
    demur_json_doubles(json, "range", range, 2);
    demur_json_double(json, "alpha", earlier->alpha);
    demur_json_int(json, "n_labels", (gint64)earlier->n_labels);
    demur_json_string(json, "answer", earlier->answer);
    demur_json_bool(json, "unsure", earlier->unsure);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}
