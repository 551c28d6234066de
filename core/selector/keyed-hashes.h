/* Keyed hashes: how a selector's document is kept where other things lie beside it.
 *
 * The document of a selector (selector.h) names patients and scans by 64-bit hashes without a key, so
 * that the same training gives the same bytes everywhere; who has it tries all identifiers, of which
 * there are few. Kept, each hash h stands as E_k(h), E_k a permutation of 64-bit numbers under a key
 * of 32 random bytes that lies elsewhere. So E_k(hash(identifier)) is a keyed hash of the identifier:
 * without the key no identifier can be tried, with it the document comes back, byte for byte.
 *
 * E_k: a Feistel network of six rounds, (l, r) -> (r, l xor F(k, round, r)), F the first 32 bits of
 * SHA-256 (k, round, r), one block of fixed length. Source: Luby & Rackoff, How to construct
 * pseudorandom permutations from pseudorandom functions (1988); six rounds: Patarin, Security of
 * random Feistel schemes with 5 or more rounds (2004). Patients are kept in ascending order of the
 * keyed hashes, so that their order tells nothing of the others. O(hashes). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_HASH_KEY_BYTES 32

/* The document (owned) with its hashes under the key [DEMUR_HASH_KEY_BYTES], for a document as
 * demur_selector_to_json writes it; a copy where it has none (selector/release.h). */
char *demur_selector_document_keyed(const char *document, const guint8 *key);

/* The way back, in place: the document takes as many bytes. One whose hashes are no base64 stays as it is, for its
 * reader to refuse. */
void demur_selector_document_unkey(char *document, const guint8 *key);

G_END_DECLS
