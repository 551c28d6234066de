/* The command line's context for one piece of work in a worker's thread: its own handle on the
 * workspace, its own threads, no output. With it the window calls the very functions that commands
 * are made of. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* progress is copied. */
void demur_work_context_init(DemurContext *context, const char *workspace,
                             const DemurProgress *progress);
void demur_work_context_clear(DemurContext *context);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurContext, demur_work_context_clear)

G_END_DECLS
