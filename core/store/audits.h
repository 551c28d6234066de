/* Site audits: which scans of a site were asked for, and the intercept that their labels gave. Kept
 * with the selector and gone with it. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* Which scans of a site to label: from which cohort they come. */
typedef struct {
  char *selector, *site, *cohort;
  size_t n_scans;
  guint64 seed;
  char *created; /* ISO 8601, UTC */
} DemurAuditPlan;

void demur_audit_plan_free(DemurAuditPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAuditPlan, demur_audit_plan_free)

/* One plan a (selector, site): a repeat replaces it. DEMUR_ERROR_NOT_FOUND where there is no such
 * selector. */
gboolean demur_audit_plans_save(DemurWorkspace *workspace, const DemurAuditPlan *plan,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* *plan is NULL (and no error set) where there is none. */
gboolean demur_audit_plans_find(DemurWorkspace *workspace, const char *selector, const char *site,
                                DemurAuditPlan **plan, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  char *selector, *site;
  char *cohort;                /* of the labelled scans */
  double intercept, low, high; /* posterior mode and 95 % interval of b_site */
  double tau2;
  size_t n_labels;
  char *labels;  /* a JSON object of scan_id and 0 or 1; NULL: of an older program */
  char *created; /* ISO 8601, UTC */
  gint64 event;  /* set when saved or loaded */
  char *digest;  /* of all of this; NULL: of an older program; set when loaded */
} DemurAuditRecord;

void demur_audit_record_free(DemurAuditRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAuditRecord, demur_audit_record_free)

/* Its key in the log (owned), and what its digest must be (owned). */
char *demur_audit_key(const char *selector, const char *site);
char *demur_audit_digest(const DemurAuditRecord *record);

/* One audit a (selector, site): a repeat replaces it, old verdicts keep their risks.
 * DEMUR_ERROR_NOT_FOUND where there is no such selector. */
gboolean demur_audits_save(DemurWorkspace *workspace, const DemurAuditRecord *record,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAuditRecord of the selector by name of site (owned, frees its elements). */
GPtrArray *demur_audits_list(DemurWorkspace *workspace, const char *selector,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
