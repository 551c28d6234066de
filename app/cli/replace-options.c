#include "app/cli/replace-options.h"

#include "app/cli/command.h"

gboolean
demur_cli_may_replace(gboolean replace, gboolean force, DemurSelectorReplace *may, GError **error) {
  const DemurOptionGiven useless = {"--force", force};
  *may = force     ? DEMUR_SELECTOR_REPLACE_ALL
         : replace ? DEMUR_SELECTOR_REPLACE_BARE
                   : DEMUR_SELECTOR_REPLACE_NONE;
  return replace || demur_command_refuse_without("--replace", &useless, 1, error);
}
