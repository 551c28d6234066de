/* A workspace copied to another place, from one engine to another or to the same, and checked there. */
#pragma once

#include "store/copy.h"
#include "tasks/verify.h"

G_BEGIN_DECLS

typedef struct {
  DemurCopied rows;
  DemurSoundness *soundness; /* of the copy, as verify tells it; it is sound */
} DemurWorkspaceCopy;

/* What stands at `from` (a file or a server's address; it is read only) also at `to`, which is absent or
 * empty: every row, digest, seal and the log's chain as they are (store/copy.h). One that is not sound is not
 * copied: DEMUR_ERROR_STATE, with what is wrong first. Else the errors of store/copy.h and of opening; a copy
 * that fails or is cancelled leaves nothing. */
DemurWorkspaceCopy *demur_task_copy_workspace(DemurTask *task, const char *from, const char *to,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether a backup may go there: to the name of a file at which nothing stands. DEMUR_ERROR_USAGE for a server's address
 * (one server's loss is to leave a backup), DEMUR_ERROR_EXISTS. */
gboolean demur_task_is_backup_file(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_workspace_copy_free(DemurWorkspaceCopy *copy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWorkspaceCopy, demur_workspace_copy_free)

G_END_DECLS
