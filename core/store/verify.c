#include <string.h>

#include "cohort/order.h"
#include "store/cohorts.h"
#include "store/connection.h"
#include "store/selectors.h"
#include "store/verify-history.h"
#include "store/workspace.h"

static void
finding_clear(gpointer data) {
  DemurFinding *finding = data;
  g_free(finding->subject);
  g_free(finding->message);
}

void
demur_verification_free(DemurVerification *verification) {
  if (verification == NULL)
    return;
  for (size_t f = 0; f < verification->n_findings; f++)
    finding_clear(&verification->findings[f]);
  g_free(verification->findings);
  g_free(verification);
}

/* Takes subject and message over. */
static void
add(GArray *findings, gboolean ok, char *subject, char *message) {
  const DemurFinding finding = {ok, subject, message};
  g_array_append_val(findings, finding);
}

static gboolean
is_cancelled(const GError *error) {
  return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A check of the engine's own: every row but "ok" is a fault. */
static gboolean
check_engine(DemurWorkspace *workspace, DemurDialect of, const char *what, GArray *findings,
             GError **error) {
  DemurStatement *statement = demur_store_dialect(workspace, of, error);
  if (statement == NULL)
    return FALSE;
  g_autoptr(GString) faults = g_string_new(NULL);
  size_t n_faults = 0;
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, what, error)) && row) {
    const char *text = demur_store_peek(statement, 0);
    if (text != NULL && strcmp(text, "ok") == 0)
      continue;
    if (n_faults++ < 5)
      g_string_append_printf(faults, "%s%s", n_faults > 1 ? "; " : "",
                             text != NULL ? text : "a row");
  }
  if (!ok) {
    add(findings, FALSE, g_strdup("database"), g_strdup((*error)->message));
    g_clear_error(error);
    return TRUE;
  }
  if (n_faults == 0)
    add(findings, TRUE, g_strdup("database"), g_strdup_printf("%s: no fault", what));
  else
    add(findings, FALSE, g_strdup("database"),
        g_strdup_printf("%s: %zu faults (%s); bring back a copy of the workspace", what, n_faults,
                        faults->str));
  return TRUE;
}

static gboolean
check_cohorts(DemurWorkspace *workspace, const DemurProgress *progress, GArray *findings,
              size_t *n_cohorts, GError **error) {
  g_autoptr(GPtrArray) list = demur_cohorts_list(workspace, error);
  if (list == NULL)
    return FALSE;
  *n_cohorts = list->len;
  for (guint i = 0; i < list->len; i++) {
    const DemurCohortSummary *summary = list->pdata[i];
    if (!demur_progress_step(progress, (double)i / list->len, "checking cohorts", error))
      return FALSE;
    const DemurProgress quiet = {.cancellable = progress != NULL ? progress->cancellable : NULL};
    g_autoptr(GError) fault = NULL;
    g_autoptr(DemurCohort) cohort = demur_cohorts_load(workspace, summary->name, &quiet, &fault);
    char *subject = g_strdup_printf("cohort %s", summary->name);
    if (cohort == NULL) {
      if (is_cancelled(fault)) {
        g_free(subject);
        g_propagate_error(error, g_steal_pointer(&fault));
        return FALSE;
      }
      add(findings, FALSE, subject, g_strdup(fault->message));
      continue;
    }
    /* Of the scans in canonical order; programs before took the order of the table. */
    g_autofree guint32 *order = demur_cohort_order(cohort);
    g_autofree char *digest = demur_cohort_digest(cohort, order, cohort->n_scans),
                    *before = demur_cohort_digest(cohort, NULL, 0);
    if (strcmp(digest, summary->digest) == 0 || strcmp(before, summary->digest) == 0)
      add(findings, TRUE, subject,
          g_strdup_printf(summary->n_scans == 1 ? "%zu scan, digest %.12s as saved"
                                                : "%zu scans, digest %.12s as saved",
                          summary->n_scans, summary->digest));
    else
      add(findings, FALSE, subject,
          g_strdup("its scans are not what was saved; bring back a copy of the workspace, or "
                   "import it again"));
  }
  return TRUE;
}

static void
check_thresholds(DemurWorkspace *workspace, const char *selector, GArray *findings) {
  g_autoptr(GError) fault = NULL;
  g_autoptr(GPtrArray) list = demur_thresholds_list(workspace, selector, &fault);
  if (list == NULL) {
    add(findings, FALSE, g_strdup_printf("thresholds of %s", selector), g_strdup(fault->message));
    return;
  }
  size_t n_unknown = 0;
  for (guint t = 0; t < list->len; t++)
    n_unknown += !((const DemurThresholdRecord *)list->pdata[t])->checked;
  if (n_unknown > 0)
    add(findings, TRUE, g_strdup_printf("thresholds of %s", selector),
        g_strdup_printf("%zu of %u were kept by an older program, without a digest: whether they "
                        "were changed can't be told; tune again to have one",
                        n_unknown, list->len));
  else if (list->len > 0)
    add(findings, TRUE, g_strdup_printf("thresholds of %s", selector),
        g_strdup_printf("%u as saved", list->len));
}

static gboolean
check_selectors(DemurWorkspace *workspace, GArray *findings, size_t *n_selectors, GError **error) {
  g_autoptr(GPtrArray) list = demur_selectors_list(workspace, error);
  if (list == NULL)
    return FALSE;
  *n_selectors = list->len;
  for (guint i = 0; i < list->len; i++) {
    const DemurSelectorRecord *entry = list->pdata[i];
    g_autoptr(GError) fault = NULL;
    g_autoptr(DemurSelectorRecord) record = demur_selectors_load(workspace, entry->name, &fault);
    add(findings, record != NULL, g_strdup_printf("selector %s", entry->name),
        record != NULL ? g_strdup_printf("document as saved, digest %.12s", record->digest)
                       : g_strdup(fault->message));
    if (record != NULL)
      check_thresholds(workspace, entry->name, findings);
  }
  return TRUE;
}

static gboolean
count(DemurWorkspace *workspace, const char *sql, size_t *n, GError **error) {
  const gint64 value = demur_store_count(workspace, sql, NULL, NULL, error);
  *n = value > 0 ? (size_t)value : 0;
  return value >= 0;
}

DemurVerification *
demur_workspace_verify(DemurWorkspace *workspace, const DemurProgress *progress, GError **error) {
  g_autoptr(DemurVerification) verification = g_new0(DemurVerification, 1);
  g_autoptr(GArray) findings = g_array_new(FALSE, TRUE, sizeof(DemurFinding));
  g_array_set_clear_func(findings, finding_clear);
  /* The caller may not want the error; the checks turn theirs into findings. */
  g_autoptr(GError) fault = NULL;
  const gboolean ok =
      demur_progress_step(progress, 0.0, "checking the database", &fault) &&
      check_engine(workspace, DEMUR_DIALECT_INTEGRITY, "integrity check", findings, &fault) &&
      check_engine(workspace, DEMUR_DIALECT_FOREIGN_KEYS, "foreign key check", findings, &fault) &&
      check_cohorts(workspace, progress, findings, &verification->n_cohorts, &fault) &&
      check_selectors(workspace, findings, &verification->n_selectors, &fault) &&
      demur_store_verify_history(workspace, findings, &fault) &&
      count(workspace, "SELECT count(*) FROM series", &verification->n_series, &fault) &&
      count(workspace, "SELECT count(*) FROM score", &verification->n_scores, &fault) &&
      count(workspace, "SELECT count(*) FROM verdict", &verification->n_verdicts, &fault);
  if (!ok) {
    g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
  }
  verification->ok = TRUE;
  for (guint f = 0; f < findings->len; f++)
    verification->ok &= g_array_index(findings, DemurFinding, f).ok;
  verification->n_findings = findings->len;
  g_array_set_clear_func(findings, NULL);
  verification->findings =
      (DemurFinding *)(gpointer)g_array_free(g_steal_pointer(&findings), FALSE);
  return g_steal_pointer(&verification);
}
