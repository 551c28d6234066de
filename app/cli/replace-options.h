/* What --replace and --force allow of a selector whose name is taken; train, selector import and federate
 * install ask it alike. */
#pragma once

#include <glib.h>

#include "tasks/selectors.h"

/* *may from what was given; DEMUR_ERROR_USAGE for --force without --replace. */
gboolean demur_cli_may_replace(gboolean replace, gboolean force, DemurSelectorReplace *may,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
