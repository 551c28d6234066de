/* Local acceptance tests: plans, each fixed by its digest before a label is seen, and answers.
 * Nothing is overwritten: a later plan of the same site stands beside the earlier one, and the
 * newest is in force. With the selector they end; what they saw of the site stays (DemurSiteSeen): labels that were
 * looked at are no fresh ones for whatever is tested there later, and alpha that was spent is spent. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  gint64 id;   /* set when saved and loaded; grows with time while none ends */
  gint64 made; /* the event of the log that tells of it, which grows with time; set when loaded */
  char *selector, *selector_digest;
  char *cohort, *site;
  char *document; /* JSON of evaluation/acceptance-document.h */
  char *digest;   /* of the document */
  char *user, *created;
} DemurAcceptancePlanRecord;

void demur_acceptance_plan_record_free(DemurAcceptancePlanRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcceptancePlanRecord, demur_acceptance_plan_record_free)

/* Adds a plan and sets its id. DEMUR_ERROR_NOT_FOUND where there is no such selector. */
gboolean demur_acceptance_plans_save(DemurWorkspace *workspace, DemurAcceptancePlanRecord *record,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The plan in force for a selector at a site; *record is NULL, and no error set, where there is
 * none. DEMUR_ERROR_STORE where the document is not the one that was saved. */
gboolean demur_acceptance_plans_current(DemurWorkspace *workspace, const char *selector,
                                        const char *site, DemurAcceptancePlanRecord **record,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAcceptancePlanRecord (owned) in force for a selector, by site, among those whose id is
 * at most `to`. DEMUR_ERROR_STORE as above. */
GPtrArray *demur_acceptance_plans_list(DemurWorkspace *workspace, const char *selector, gint64 to,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAcceptancePlanRecord (owned) of the site, in force or not, by whatever selector, oldest first.
 * DEMUR_ERROR_STORE as above. */
GPtrArray *demur_acceptance_plans_of_site(DemurWorkspace *workspace, const char *site,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of a selector, at every site. Each is as it stands, so that one that was changed keeps no selector from being
 * removed. */
GPtrArray *demur_acceptance_plans_of_selector(DemurWorkspace *workspace, const char *selector,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The largest ids of plans and answers; 0: none. */
gboolean demur_acceptances_last(DemurWorkspace *workspace, gint64 *plan, gint64 *acceptance,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  gint64 id; /* set when loaded */
  gint64 plan;
  char *answer;        /* "accepted", "not accepted", "more" */
  char *document;      /* JSON: every number of the answer */
  char *labels_digest; /* of the labels that it rests on */
  size_t n_labels;
  char *user, *created;
} DemurAcceptanceRecord;

void demur_acceptance_record_free(DemurAcceptanceRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcceptanceRecord, demur_acceptance_record_free)

/* Adds an answer. */
gboolean demur_acceptances_save(DemurWorkspace *workspace, const DemurAcceptanceRecord *record,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAcceptanceRecord of a plan, newest first (owned, frees its elements). */
GPtrArray *demur_acceptances_list(DemurWorkspace *workspace, gint64 plan,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Labels that the answers (of DemurAcceptanceRecord) of one plan saw, the most of any: those that were looked at (*looked_at), and
 * those of the table behind a gap. 0: none was asked. */
size_t demur_acceptances_seen(const GPtrArray *answers, size_t *looked_at);

G_END_DECLS
