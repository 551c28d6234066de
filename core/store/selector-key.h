/* The key under which the workspace keeps the hashes of its selectors' patients and scans
 * (selector/keyed-hashes.h): 32 random bytes, made with the workspace or when an older one is first
 * opened, copied with it and in no other output. Inside the store only. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

#define DEMUR_STORE_FIRST_KEY 22 /* the first user_version with a key */

/* In the open transaction of the migration: makes the key, and keeps the selectors that are there by
 * it, each with an event that seals it anew. One that is not as its last event sealed it, or not
 * what was saved, is left as it is, and stays wrong. */
gboolean demur_store_key_selectors(DemurWorkspace *workspace,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The document as it is kept (owned), NULL with error; and the way back, in place. */
char *demur_store_document_keyed(DemurWorkspace *workspace, const char *document, GError **error);
gboolean demur_store_document_unkey(DemurWorkspace *workspace, char *document,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
