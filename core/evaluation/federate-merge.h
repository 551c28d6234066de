/* The answers of a round put together: the next round, or what the study came to. Whoever holds the
 * answers does this; it needs no workspace. */
#pragma once

#include "evaluation/federate-result.h"

G_BEGIN_DECLS

/* answers [n_answers] of the round, paths [n_answers] what to call them; without (to NULL, or NULL): sites
 * that are left out by decision. DEMUR_ERROR_INPUT where a site answered twice or withheld its sums, or
 * is missing, without being left out; DEMUR_ERROR_NUMERIC where the sums determine no coefficients (their
 * Hessian is not positive); DEMUR_ERROR_USAGE for one that is left out and answered, was not
 * asked, or leaves fewer than two. *next or *result is set: where a site goes in the middle of a study
 * that goes step by step, the next round begins it anew with the others. */
gboolean demur_federate_merge(const DemurFederateRound *round, DemurFederateAnswer *const *answers,
                              char *const *paths, size_t n_answers, char *const *without,
                              DemurFederateRound **next, DemurFederateResult **result,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
