/* A folder for what one run needs for itself, and for nothing longer: 0700, of a name of its own,
 * removed with all in it when it is freed.
 *
 *   g_autoptr(DemurPrivateFolder) folder = demur_private_folder_make(NULL, "demur-run-", error);
 *
 * It is locked while its owner lives. What a killed run left is removed by the next one of the same
 * prefix in the same place: same owner, closed to others, no lock. Links are removed, never
 * followed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurPrivateFolder DemurPrivateFolder;

/* Sweeps first. place: the folder it is made in; NULL: the user's folder for temporary files.
 * DEMUR_ERROR_OUTPUT. */
DemurPrivateFolder *demur_private_folder_make(const char *place, const char *prefix,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Its path, absolute; of a name in it (owned). */
const char *demur_private_folder_path(const DemurPrivateFolder *folder);
char *demur_private_folder_name(const DemurPrivateFolder *folder, const char *name);

/* Removes what killed runs left: for a run that may come to need no folder. */
void demur_private_folder_sweep(const char *place, const char *prefix);

/* NULL is allowed. What can't be removed stays, for the next run. */
void demur_private_folder_free(DemurPrivateFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurPrivateFolder, demur_private_folder_free)

G_END_DECLS
