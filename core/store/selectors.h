/* Selectors and their thresholds in the workspace.
 *
 * A selector is its canonical JSON document (weights, scalers, feature models, settings), kept as
 * text: this room stores it and checks its bytes, core/selector reads it. */
#pragma once

#include "selector/selector.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  char *document;       /* canonical JSON; NULL in lists */
  char *digest;         /* the selector's own, as its verdicts name it */
  char *cohort;         /* name of the cohort that trained it */
  char *cohort_digest;  /* of the training rows */
  char *model;          /* whose scores it reads */
  double horizon_years; /* of those; 0: not recorded. Of an old document its cohort's */
  char *family;         /* selectors that hold risks back together (its settings'); NULL: none */
  char *history;        /* JSON: epochs of the training; NULL where there is none */
  char *validation;     /* JSON: answer of `demur validate`; NULL before it */
  gboolean simulated;   /* trained on a simulated cohort */
  char *created;
} DemurSelectorRecord;

void demur_selector_record_free(DemurSelectorRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelectorRecord, demur_selector_record_free)

/* What may be replaced under a name that is taken. */
typedef enum {
  DEMUR_SELECTOR_REPLACE_NONE,
  DEMUR_SELECTOR_REPLACE_BARE, /* one that people made nothing of: neither thresholds nor site audits
                                * nor acceptance tests */
  DEMUR_SELECTOR_REPLACE_ALL,  /* one with all of these, which end with it */
} DemurSelectorReplace;

/* Whether a selector may be saved under the name: DEMUR_ERROR_EXISTS where it is taken and nothing may
 * be replaced, DEMUR_ERROR_STATE where what may not would end with it. */
gboolean demur_selectors_check_free(DemurWorkspace *workspace, const char *name,
                                    DemurSelectorReplace replace,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Saves under record->name where that is free (demur_selectors_check_free). The old selector goes with
 * what was made of it; verdicts made by it stay and keep its digest. */
gboolean demur_selectors_save(DemurWorkspace *workspace, const DemurSelectorRecord *record,
                              DemurSelectorReplace replace,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of several [n], all or none. */
gboolean demur_selectors_save_all(DemurWorkspace *workspace, const DemurSelectorRecord *records,
                                  size_t n, DemurSelectorReplace replace,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* NULL with DEMUR_ERROR_NOT_FOUND and the names there are; DEMUR_ERROR_STORE where the document's
 * bytes are not those that were saved. */
DemurSelectorRecord *demur_selectors_load(DemurWorkspace *workspace, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The selector itself, likewise; in messages it is called title. That its bytes are those that were saved is seen by the
 * digest that stands beside them, which is of the whole document; where they are not, as demur_selectors_load and
 * demur_selector_from_kept_json have it. record (NULL: not asked for): what stands beside it, without the document. */
DemurSelector *demur_selectors_read(DemurWorkspace *workspace, const char *name, const char *title,
                                    DemurSelectorRecord **record,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurSelectorRecord without documents, in order of name (owned, frees its elements). */
GPtrArray *demur_selectors_list(DemurWorkspace *workspace,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What its document says that its risks are of ("lung cancer"; owned), without reading the rest of it;
 * NULL without error: it does not say. */
gboolean demur_selectors_outcome(DemurWorkspace *workspace, const char *name, char **outcome,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps the answer of `demur validate` (JSON) with the selector; replaces an earlier one. */
gboolean demur_selectors_set_validation(DemurWorkspace *workspace, const char *name,
                                        const char *validation,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes the selector and its thresholds. DEMUR_ERROR_STATE while verdicts, site audits, acceptance
 * tests or watches are of it, unless forced: verdicts and watches then stay and keep its name and
 * digest. */
gboolean demur_selectors_remove(DemurWorkspace *workspace, const char *name, gboolean force,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of several [n], all or none. */
gboolean demur_selectors_remove_all(DemurWorkspace *workspace, const char *const *names, size_t n,
                                    gboolean force, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A tuned threshold: score >= threshold is accepted. */
typedef struct {
  gint64 sequence; /* grows with every tuning; set when saved */
  char *selector;
  double coverage; /* requested, in (0, 1] */
  double threshold;
  double realised; /* on the tuning split */
  size_t n_scans, n_patients;
  char *cohort, *split; /* what tuned it, so that evaluating on it can be refused */
  char *cohort_digest;  /* of the tuning rows */
  char *guarantee;      /* JSON or sentence: what it guarantees; NULL where nothing */
  char *created;
  char *digest; /* of every member and the selector's digest; NULL: of an older program; set when
                 * loaded */
  gboolean checked; /* read back: found to be what was saved (tuned by an older program: unknown) */
} DemurThresholdRecord;

void demur_threshold_record_free(DemurThresholdRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurThresholdRecord, demur_threshold_record_free)

/* Its key in the log (owned). */
char *demur_threshold_key(const char *selector, double coverage);

/* Keeps one threshold for each (selector, coverage): a repeat takes the old one's place and becomes
 * the current one. Sets record->sequence. DEMUR_ERROR_NOT_FOUND where there is no such selector. */
gboolean demur_thresholds_save(DemurWorkspace *workspace, DemurThresholdRecord *record,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurThresholdRecord of the selector by growing sequence (the last is current); empty
 * where it was never tuned. DEMUR_ERROR_NOT_FOUND where there is no such selector,
 * DEMUR_ERROR_STORE where a threshold is not what was saved (its digest covers every member and the
 * selector's digest). */
GPtrArray *demur_thresholds_list(DemurWorkspace *workspace, const char *selector,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The current threshold: *record is NULL (and no error set) where the selector was never tuned. */
gboolean demur_thresholds_current(DemurWorkspace *workspace, const char *selector,
                                  DemurThresholdRecord **record,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The threshold tuned for that coverage. NULL with DEMUR_ERROR_STATE and the coverages there are.
 */
DemurThresholdRecord *demur_thresholds_find(DemurWorkspace *workspace, const char *selector,
                                            double coverage,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
