/* What a site has told so far, so that no two answers tell of a few scans by subtraction: neither
 * rounds of one study nor studies. The site keeps it; it leaves for nowhere.
 *
 *   - A study is answered of the same scans in every round, as one site, and each round once: what is
 *     answered again must be the same.
 *   - Two studies are of the same scans, or of sets that differ by scans of DEMUR_SMALL_CELL persons of
 *     every label or more; by name, and by name with label (a scan whose label changed counts twice).
 *   - Of the same scans risks, and what a selector makes of them, are as they were.
 *   - Sums over parts (an evaluation's cells, a corrector's columns) are of one set: another that shares a
 *     scan with it has none, for part by part the two may differ by few.
 *   - Of a set correctors of one selector are answered: another's columns may differ from its at few.
 *   - Of a set one evaluation is answered: one selector, thresholds and edges. Others would cut the same
 *     scans elsewhere.
 *   - The numbers told of a set, and of those that share scans with it, are at most half of those that it
 *     holds (of a scan: label, risk, what the corrector reads): fewer equations than unknowns.
 *
 * Scans and persons stand in it as keyed hashes. Not looked at: three sets and more together, scans of one
 * person under other names, and what other ways out of the house tell (privacy.md). */
#pragma once

#include "evaluation/federate-answer.h"

G_BEGIN_DECLS

typedef struct DemurFederateLedger DemurFederateLedger;

/* An empty one; salt: random text that its hashes are keyed by. */
DemurFederateLedger *demur_federate_ledger_new(const char *salt);
/* DEMUR_ERROR_INPUT for a document that is none, was edited, or is of an earlier version. */
DemurFederateLedger *demur_federate_ledger_read(const char *text, gssize length,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *demur_federate_ledger_write(const DemurFederateLedger *ledger); /* owned */
void demur_federate_ledger_free(DemurFederateLedger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateLedger, demur_federate_ledger_free)

/* Notes the answer of the scans, whose names [n] and patients [n] these are, or refuses it with DEMUR_ERROR_STATE. *known:
 * the same was told before, and nothing is noted. when: ISO 8601. One that is withheld is not
 * noted. O(n log n + sets x n). */
gboolean demur_federate_ledger_note(DemurFederateLedger *ledger, const DemurFederateRound *round,
                                    const DemurFederateAnswer *answer,
                                    const DemurFederateScans *scans, const char *const *names,
                                    const char *const *persons, const char *when, gboolean *known,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether that answer to that round was noted; both by their digests. */
gboolean demur_federate_ledger_has(const DemurFederateLedger *ledger, const char *round,
                                   const char *answer);

/* Numbers that an answer tells beside n. */
size_t demur_federate_n_told(const DemurFederateAnswer *answer);

G_END_DECLS
