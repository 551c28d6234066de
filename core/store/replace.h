/* Putting a finished workspace into another's place. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* What path holds becomes what made holds, in one transaction: whole or not at all, and seen as such
 * by whoever has path open. Both are of this program; made is closed by all others and stays. Where
 * path is absent, made is renamed to it: the same file system. DEMUR_ERROR_STORE, path then being
 * as it was; DEMUR_ERROR_UNSUPPORTED for a server's address. */
gboolean demur_workspace_replace(const char *made, const char *path,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
