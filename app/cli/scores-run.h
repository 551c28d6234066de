/* demur scores run --command CMD --model M: the external model, run once for each series. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

gboolean demur_scores_run(DemurContext *context, int argc, char **argv,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
