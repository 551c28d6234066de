/* Opening the case that is shown in another viewer, by the command that the site has set: for what this
 * program leaves to others (docs/viewers.md). */
#pragma once

#include "ui/session.h"

G_BEGIN_DECLS

/* Whether the command can be run at all: words as the shell has them, among them one with "{folder}".
 * FALSE with DEMUR_ERROR_USAGE. */
gboolean demur_other_viewer_check(const char *command, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes a folder of links to the images of the case (tasks/image-folder.h), which lasts as long as the
 * session, and runs the command with it in place of "{folder}". What fails is a notice. */
void demur_other_viewer_open(DemurSession *session, const char *command);

G_END_DECLS
