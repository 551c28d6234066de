/* An alarm of the newest watch of a workspace, as hundreds of patients would have raised it, so that there is one to lift.
 *
 *   fault-alarm WORKSPACE: prints its number */
#include <stdio.h>

#include "store/watches.h"
#include "store/workspace.h"

int
main(int argc, char **argv) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace =
      demur_workspace_open(argc == 2 ? argv[1] : "", DEMUR_WORKSPACE_DEFAULT, &error);
  g_autoptr(GPtrArray) watches =
      workspace != NULL ? demur_watches_list(workspace, NULL, NULL, &error) : NULL;
  if (watches == NULL || watches->len == 0) {
    fprintf(stderr, "%s\n", error != NULL ? error->message : "there is no watch");
    return 1;
  }
  const DemurWatchRecord *watch = g_ptr_array_index(watches, 0);
  const DemurWatchAlarm alarm = {.watch = watch->id,
                                 .signal = (char *)"coverage",
                                 .at = demur_watches_last_verdict(workspace, NULL),
                                 .document = (char *)"{}",
                                 .created = (char *)"2023-11-14T22:13:20Z"};
  if (!demur_watch_alarms_save(workspace, &alarm, &error)) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  g_autoptr(GPtrArray) alarms = demur_watch_alarms_list(workspace, NULL, NULL, &error);
  const DemurWatchAlarm *kept = alarms != NULL ? g_ptr_array_index(alarms, 0) : NULL;
  printf("%" G_GINT64_FORMAT "\n", kept != NULL ? kept->id : 0);
  return kept == NULL;
}
