/* An acceptance plan as a document: who is to be labelled, in which order, and how the test ends.
 * Canonical JSON, so that its digest fixes the plan before a label is seen. */
#pragma once

#include "evaluation/acceptance.h"

G_BEGIN_DECLS

/* The plan with whom it is of. */
typedef struct {
  DemurAcceptancePlan *plan;
  char **scan_ids, **patient_ids; /* [plan->n_chosen + 1], in the plan's order, NULL-terminated */
  double *risks;                  /* [n_chosen] as they are shown */
  double *unaudited;              /* [n_chosen] without the intercept of a site audit */
  double intercept;               /* of that audit; 0: none */
  double coverage, threshold;     /* whose shown risks are accepted */
  size_t n_patients, n_shown;     /* of the site; of them shown */
  char **candidates; /* [n_patients + 1] keys of whoever could have been drawn; NULL: of an
                                   * older program */
  double
      alpha_of_all; /* shared by all plans of the selector at the site; the plan's own is its part */
  guint64 seed;
  char *origin; /* what the selector was made of (selector/release.h); NULL: of an older program */
} DemurAcceptanceDocument;

void demur_acceptance_document_free(DemurAcceptanceDocument *document);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcceptanceDocument, demur_acceptance_document_free)

/* Canonical JSON (owned). */
char *demur_acceptance_document_to_json(const DemurAcceptanceDocument *document);

/* SHA-256 of the text, in hexadecimal (owned). */
char *demur_acceptance_document_digest(const char *json);

/* DEMUR_ERROR_INPUT for anything but what to_json wrote. */
DemurAcceptanceDocument *
demur_acceptance_document_from_json(const char *json, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
