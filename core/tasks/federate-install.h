/* What a study at several sites came to (evaluation/federate-result.h) taken into the workspace's selector
 * that it is of: as another selector, which names the study (selector/federated.h). */
#pragma once

#include "evaluation/federate-result.h"
#include "selector/federated.h"
#include "store/selectors.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *result; /* file */
  const char *name;   /* of the new selector */
  DemurSelectorReplace replace;
} DemurFederateInstallParams;

typedef struct {
  DemurFederateResult *result;
  char *result_digest;
  char *from; /* name of the selector that it was made of */
  DemurSelector *selector;
} DemurFederateInstalled;

/* What a study of that name changes of a selector; FALSE for one that changes nothing, or for no study's name. */
gboolean demur_task_federate_part(const char *name,
                                  DemurFederatedPart *part) G_GNUC_WARN_UNUSED_RESULT;

/* Kept under the name, untuned. Errors of reading with the file before them; DEMUR_ERROR_NOT_FOUND where
 * no selector of the workspace is the study's, by its digest; DEMUR_ERROR_STATE where the study's steps
 * did not converge; those of demur_selector_federate and demur_task_selector_keep. */
DemurFederateInstalled *demur_task_federate_install(DemurTask *task,
                                                    const DemurFederateInstallParams *params,
                                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_federate_installed_free(DemurFederateInstalled *installed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateInstalled, demur_federate_installed_free)

/* The workspace's selector of that digest, which a study is of, and its name (owned);
 * DEMUR_ERROR_NOT_FOUND where there is none. */
DemurSelector *demur_task_federate_selector(DemurTask *task, const char *digest, char **name,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
