/* What plans of acceptance tests and site audits saw, kept when they end with their selector: whose labels were seen at a site is
 * of the site and not of a name, and what was spent of alpha there stays spent. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_SEEN_BY_PLAN,  /* of an acceptance test whose labels were looked at */
  DEMUR_SEEN_BY_AUDIT, /* site audit */
} DemurSeenBy;

/* Whose labels were seen at a site by what ended with its selector. */
typedef struct {
  gint64 id;
  DemurSeenBy by;
  gint64 plan; /* the event of the log that told of the plan when it was made; 0: of an audit */
  char *selector, *selector_digest, *cohort, *site;
  char *
      origin; /* what the selector was made of (selector/release.h); NULL: it could not be read any more */
  char *document; /* the plan's; of an audit its labels: a JSON object of scan_id and 0 or 1 */
  char *digest;   /* SHA-256 of the document */
  char *made;     /* when the plan, or the audit, was */
  char *answer;   /* the last; of an audit NULL */
  size_t n_labels;
} DemurSiteSeen;

void demur_site_seen_free(DemurSiteSeen *seen);

/* Array of DemurSiteSeen (owned) of the site, oldest first. DEMUR_ERROR_STORE for a document that is not the one that was
 * saved. */
GPtrArray *demur_site_seen_list(DemurWorkspace *workspace, const char *site,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Inside the store: keeps what plans and audits of a selector saw, before they end with it. In the open
 * transaction. */
gboolean demur_site_seen_keep(DemurWorkspace *workspace, const char *selector, const char *created,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
