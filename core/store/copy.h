/* A workspace into another place, from one engine to another or to the same. */
#pragma once

#include "base/sha256.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  gint64 n_rows;
  char digest[DEMUR_SHA256_HEX]; /* of all of them: the same in every engine */
} DemurCopied;

/* Looks at the finished copy before anyone else can see it; it may be read, and not written. FALSE with
 * error: there will be none. */
typedef gboolean (*DemurCopyCheck)(DemurWorkspace *copy, const DemurProgress *progress,
                                   gpointer data, GError **error);

/* Every row of every table, and the numbers that come next, to the address or file `to`: an absent file, or
 * a workspace or database in which nothing is kept yet. from is read in one view, whoever writes meanwhile,
 * and has no transaction open. The rows of the copy are read again and compared by their digest, and check
 * (may be NULL) is asked; then it is there as a whole. Whatever fails or is cancelled leaves nothing but
 * what was there.
 *
 * What stands in from and is none of this program's (a table of somebody else's) stays behind.
 *
 * DEMUR_ERROR_EXISTS where something is kept in `to`, or something stands there that is none of this program's, DEMUR_ERROR_UNSUPPORTED for a text that is no UTF-8
 * and would go to a server, DEMUR_ERROR_STORE, DEMUR_ERROR_OUTPUT; FALSE too as check says. Memory: some
 * megabytes, or one row. */
gboolean demur_workspace_copy(DemurWorkspace *from, const char *to, DemurCopyCheck check,
                              gpointer data, const DemurProgress *progress, DemurCopied *copied,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
