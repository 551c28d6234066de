#include "tasks/federate-install.h"

#include "base/error.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "tasks/selection.h"
#include "tasks/selectors.h"

DemurSelector *
demur_task_federate_selector(DemurTask *task, const char *digest, char **name, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  for (guint i = 0; records != NULL && i < records->len; i++) {
    const DemurSelectorRecord *record = records->pdata[i];
    if (g_strcmp0(record->digest, digest) == 0) {
      *name = g_strdup(record->name);
      return demur_task_load_selector(task, record->name, NULL, error);
    }
  }
  if (records != NULL)
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "no selector of this workspace is the study's (%.12s..): import the file that "
                    "the coordinator has it from",
                    digest);
  return NULL;
}

static const DemurFederatedPart parts[] = {
    [DEMUR_FEDERATE_RECALIBRATION] = DEMUR_FEDERATED_RECALIBRATION,
    [DEMUR_FEDERATE_CORRECTOR] = DEMUR_FEDERATED_CORRECTOR,
    [DEMUR_FEDERATE_AUDIT] = DEMUR_FEDERATED_INTERCEPT,
};

static DemurFederatedPart
part_of(DemurFederateStudy study) {
  return parts[study]; /* that of an evaluation is not read */
}

gboolean
demur_task_federate_part(const char *name, DemurFederatedPart *part) {
  DemurFederateStudy study;
  if (!demur_federate_study_from_name(name, &study, NULL) || study == DEMUR_FEDERATE_EVALUATION)
    return FALSE;
  *part = part_of(study);
  return TRUE;
}

static DemurSelector *
make(const DemurSelector *selector, const DemurFederateResult *result, const char *digest,
     GError **error) {
  const DemurFederatedOrigin origin = {.part = part_of(result->study),
                                       .result = digest,
                                       .selector = result->selector,
                                       .sites = (const char *const *)result->sites,
                                       .n_scans = (guint64)result->n};
  const DemurFederatedNumbers numbers = {.kind = result->kind,
                                         .slope = result->slope,
                                         .intercept = result->study == DEMUR_FEDERATE_AUDIT
                                                          ? result->sites_differ.mean
                                                          : result->intercept,
                                         .lambda = result->lambda,
                                         .n_weights = result->n_weights,
                                         .weights = result->weights,
                                         .columns = result->inputs,
                                         .simulated = result->simulated};
  return demur_selector_federate(selector, &origin, &numbers, error);
}

static DemurFederateResult *
read_result(const char *path, char **digest, GError **error) {
  gsize length;
  g_autofree char *text = demur_file_input_read(path, DEMUR_LIMIT_REPORT_BYTES, &length, error);
  if (text == NULL)
    return NULL;
  g_autoptr(DemurFederateResult) result =
      demur_federate_result_read(text, (gssize)length, digest, error);
  if (result == NULL) {
    demur_error_prefix(error, "%s: ", path);
    return NULL;
  }
  if (result->ending == DEMUR_NEWTON_CONVERGED)
    return g_steal_pointer(&result);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "%s: the study's steps did not converge (%s): the fit of pooled scans may be "
                  "elsewhere",
                  path, demur_newton_ending_name(result->ending));
  return NULL;
}

DemurFederateInstalled *
demur_task_federate_install(DemurTask *task, const DemurFederateInstallParams *params,
                            GError **error) {
  g_autoptr(DemurFederateInstalled) installed = g_new0(DemurFederateInstalled, 1);
  installed->result = read_result(params->result, &installed->result_digest, error);
  if (installed->result == NULL)
    return NULL;
  g_autoptr(DemurSelector) from =
      demur_task_federate_selector(task, installed->result->selector, &installed->from, error);
  installed->selector =
      from != NULL ? make(from, installed->result, installed->result_digest, error) : NULL;
  return installed->selector != NULL &&
                 demur_task_selector_keep(task, params->name, installed->selector, params->replace,
                                          error)
             ? g_steal_pointer(&installed)
             : NULL;
}

void
demur_federate_installed_free(DemurFederateInstalled *installed) {
  if (installed == NULL)
    return;
  demur_federate_result_free(installed->result);
  g_free(installed->result_digest);
  g_free(installed->from);
  demur_selector_unref(installed->selector);
  g_free(installed);
}
