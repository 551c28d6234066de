/* Verdicts in the workspace: what was said of a scan, by which selector, from which risk and
 * threshold. Nothing is ever overwritten: assessing again adds to the history. Verdicts of an
 * assessment that was taken back (store/verdict-undo.h) are in none of the lists below but
 * demur_verdicts_walk. */
#pragma once

#include "selector/reason.h"
#include "selector/verdict.h"
#include "store/workspace.h"

G_BEGIN_DECLS

/* What the verdicts of one run of `assess` have in common. All text is borrowed while saving. */
typedef struct {
  const char *selector, *selector_digest;
  const char *cohort; /* NULL: scans are DICOM series */
  const char *model;
  double coverage, threshold; /* NaN where not tuned */
  double horizon_years;       /* of the risks; 0: not recorded */
  const char *created;
  const char *threshold_digest; /* of the threshold; NULL: not tuned */
  /* demur_bindings_bind_batch */
  const char *in_use_digest; /* of the threshold in use then */
  const char *cohort_digest;
} DemurVerdictBatch;

typedef struct {
  gint64 id, batch; /* set when loaded; grow with time */
  char *scan_id;    /* of the cohort, or of a DICOM series */
  char *patient_id;
  double risk, risk_raw;      /* risk: after recalibration; NaN where there is no score */
  double risk_low, risk_high; /* how far it may be off at its hospital, 95 %; NaN: not known */
  double score;               /* NaN where there is none */
  double
      distance; /* mean distance of its embedding to the nearest reference scans; NaN: not known */
  DemurVerdict verdict;
  char *reasons;          /* demur_reasons_to_json, most important first */
  char *lead;             /* kind and subject of the first reason that may be shown: to sort by */
  DemurOutdated outdated; /* as things are now: set when loaded */
  char *site;             /* NULL: not known */
  /* What it rests on: demur_bindings_bind. NULL: nothing of that kind. */
  char *making; /* of its site, scanner and the like; NULL: of a program of before */
  char *images_digest, *person_digest, *score_digest, *audit_digest;
  gboolean chosen; /* its series was the one to be assessed */
  char *digest;    /* of all of this; NULL: of an older program; set when saved */
  gint64 event;    /* the assessment that it is of, set when saved */
  /* From the batch: set when loaded, not read when saved. */
  char *selector, *selector_digest, *cohort, *model, *created;
  char *threshold_digest, *in_use_digest, *cohort_digest;
  double coverage, threshold;
  double horizon_years; /* of the risks; NaN: not recorded */
} DemurVerdictRecord;

void demur_verdict_record_free(DemurVerdictRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurVerdictRecord, demur_verdict_record_free)

/* What its digest must be (owned). */
char *demur_verdict_digest(const DemurVerdictRecord *record);

/* One selector's verdicts of an assessment by several (borrowed). */
typedef struct {
  DemurVerdictBatch batch;
  const DemurVerdictRecord *records; /* [n_records] */
  size_t n_records;                  /* 0: it is not kept */
} DemurVerdictShare;

/* Saves those of several selectors so that a scan has all of its verdicts or none of them: at most
 * twenty thousand a transaction where all are of the same scans in the same order, as below, and one
 * transaction else. The last share's are the newest. */
gboolean demur_verdicts_save_together(DemurWorkspace *workspace, const DemurVerdictShare *shares,
                                      size_t n_shares, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Saves in the given order, twenty thousand a transaction, so that other writers come in between:
 * what was saved before a failure or a kill stays, and is as good as the rest. */
gboolean demur_verdicts_save(DemurWorkspace *workspace, const DemurVerdictBatch *batch,
                             const DemurVerdictRecord *records, size_t n_records,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Arrays of DemurVerdictRecord, newest first (owned, free their elements). cohort NULL: DICOM
 * series. */
GPtrArray *demur_verdicts_of_scan(DemurWorkspace *workspace, const char *cohort,
                                  const char *scan_id, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* By a selector of that name, whatever became of it since; latest_only: the newest verdict a scan.
 */
GPtrArray *demur_verdicts_of_selector(DemurWorkspace *workspace, const char *selector,
                                      gboolean latest_only,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The newest verdict of each scan, by any selector: the worklist. cohort NULL: DICOM series. */
GPtrArray *demur_verdicts_latest(DemurWorkspace *workspace, const char *cohort,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Every verdict one after the other, newest first, for long lists: the first one of a scan is its
 * newest. The record and its texts are func's for the time of the call only. Ends early, with TRUE,
 * when func returns FALSE; a server sends what is left all the same. cohort NULL: DICOM series. */
typedef gboolean (*DemurVerdictFunc)(const DemurVerdictRecord *record, gpointer data);
gboolean demur_verdicts_each(DemurWorkspace *workspace, const char *cohort, DemurVerdictFunc func,
                             gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The newest verdict of each scan that is there, oldest first, else as demur_verdicts_each: what goes
 * out as a table. selector, scan_id: of that one alone; NULL: of any. */
gboolean demur_verdicts_each_newest(DemurWorkspace *workspace, const char *cohort,
                                    const char *selector, const char *scan_id,
                                    DemurVerdictFunc func, gpointer data,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether there is one that demur_verdicts_each would tell of. */
gboolean demur_verdicts_any(DemurWorkspace *workspace, const char *cohort, gboolean *any,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Every verdict of the workspace in the order of saving, not judged (outdated is not set); else as
 * demur_verdicts_each. */
gboolean demur_verdicts_walk(DemurWorkspace *workspace, DemurVerdictFunc func, gpointer data,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
