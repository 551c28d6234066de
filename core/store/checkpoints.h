/* Unfinished trainings: the bytes that `demur train --resume` goes on from, one a name of the
 * selector to be. This room stores them; core/selector/checkpoint.h reads them and checks every
 * byte. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* Keeps the bytes under the name, in place of earlier ones. n_updates: made so far, for people. */
gboolean demur_checkpoints_save(DemurWorkspace *workspace, const char *name, GBytes *bytes,
                                gint64 n_updates, const char *created,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The bytes kept under the name (owned); NULL with DEMUR_ERROR_NOT_FOUND where there are none. */
GBytes *demur_checkpoints_load(DemurWorkspace *workspace, const char *name,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes what is kept under the name, if anything is. */
gboolean demur_checkpoints_remove(DemurWorkspace *workspace, const char *name,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
