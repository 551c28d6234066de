#include "tasks/assess.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "tasks/dicom-scores.h"
#include "tasks/horizon-family.h"
#include "tasks/selection.h"
#include "tasks/watch.h"
#include "base/memory.h"
#include "selector/audit.h"
#include "selector/coverage.h"
#include "selector/reasons.h"
#include "selector/risk-interval.h"
#include "store/audits.h"
#include "store/overrules.h"
#include "store/series.h"
#include "store/watches.h"
#include "words/words.h"

#define N_REASONS 3

void
demur_assessment_clear(DemurAssessment *assessment) {
  demur_selector_unref(assessment->selector);
  demur_threshold_record_free(assessment->threshold);
  demur_bindings_free(assessment->bindings);
  g_clear_pointer(&assessment->verdicts, g_array_unref);
  g_clear_pointer(&assessment->sites, g_array_unref);
  g_clear_pointer(&assessment->audits, g_hash_table_unref);
  g_clear_pointer(&assessment->overrules, g_hash_table_unref);
  g_clear_pointer(&assessment->stops, g_ptr_array_unref);
  g_clear_pointer(&assessment->others, g_ptr_array_unref);
  g_clear_pointer(&assessment->texts, g_string_chunk_free);
}

static void
free_assessment(gpointer assessment) {
  demur_assessment_clear(assessment);
  g_free(assessment);
}

static char *
keep(DemurAssessment *assessment, const char *text) {
  return text != NULL ? g_string_chunk_insert(assessment->texts, text) : NULL;
}

static gboolean
find_audits(DemurTask *task, DemurAssessment *assessment, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) list =
      workspace != NULL ? demur_audits_list(workspace, assessment->selector_name, error) : NULL;
  if (list == NULL)
    return FALSE;
  assessment->audits =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)demur_audit_record_free);
  g_ptr_array_set_free_func(list, NULL);
  for (guint i = 0; i < list->len; i++) {
    DemurAuditRecord *record = list->pdata[i];
    g_hash_table_insert(assessment->audits, record->site, record);
  }
  return TRUE;
}

DemurCohort *
demur_task_audited_view(GHashTable *audits, DemurCohort *view) {
  gboolean any = FALSE;
  for (size_t s = 0; s < view->n_sites && view->risks != NULL; s++)
    any |= g_hash_table_contains(audits, view->site_names[s]);
  if (!any)
    return demur_cohort_ref(view);
  g_autofree double *intercepts = g_new0(double, view->n_sites);
  for (size_t s = 0; s < view->n_sites; s++) {
    const DemurAuditRecord *record = g_hash_table_lookup(audits, view->site_names[s]);
    intercepts[s] = record != NULL ? record->intercept : 0.0;
  }
  double *risks = demur_new_array(double, view->n_scans);
  for (size_t i = 0; i < view->n_scans; i++)
    risks[i] = demur_audit_risk(view->risks[i], intercepts[view->sites[i]]);
  return demur_cohort_with_risks(view, risks);
}

/* Finds which series, or whether that one, a person chose against the rules. scan_id NULL: all. */
static gboolean
find_overrules(DemurWorkspace *workspace, const char *scan_id, DemurAssessment *assessment,
               GError **error) {
  g_autoptr(GPtrArray) series =
      scan_id != NULL ? demur_series_find(workspace, DEMUR_SERIES_OF_SCAN, scan_id, error)
                      : demur_series_list(workspace, error);
  if (series == NULL)
    return FALSE;
  assessment->overrules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                (GDestroyNotify)demur_overrule_record_free);
  for (guint i = 0; i < series->len; i++) {
    const DemurSeriesRecord *one = series->pdata[i];
    DemurOverruleRecord *overrule;
    if (!demur_overrules_current(workspace, one->scan_id, one->accepted, &overrule, error))
      return FALSE;
    if (overrule != NULL)
      g_hash_table_insert(assessment->overrules, g_strdup(one->scan_id), overrule);
  }
  return TRUE;
}

/* Keeps the verdict; behind its reasons the decision of a person, so that both verdicts are told.
 * reasons: may be NULL. */
static void
add_verdict(DemurAssessment *assessment, const char *site, const DemurVerdictRecord *of,
            GPtrArray *reasons) {
  const DemurOverruleRecord *overrule =
      assessment->overrules != NULL ? g_hash_table_lookup(assessment->overrules, of->scan_id)
                                    : NULL;
  g_autoptr(GPtrArray) none = demur_reasons_new();
  if (reasons == NULL)
    reasons = none;
  if (overrule != NULL)
    g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_OVERRULED, overrule->reason,
                                              overrule->rules_reason));
  DemurVerdictRecord verdict = *of;
  g_autofree char *json = demur_reasons_to_json(reasons), *lead = demur_reasons_lead(reasons);
  verdict.scan_id = keep(assessment, of->scan_id);
  verdict.patient_id = keep(assessment, of->patient_id);
  verdict.reasons = keep(assessment, json);
  verdict.lead = keep(assessment, lead);
  if (site != NULL) /* the same for many */
    verdict.site = g_string_chunk_insert_const(assessment->texts, site);
  g_array_append_val(assessment->verdicts, verdict);
  const DemurVerdictSite place = {verdict.site,
                                  site != NULL && isfinite(of->score) &&
                                      g_hash_table_contains(assessment->audits, site)};
  g_array_append_val(assessment->sites, place);
}

/* What a hospital's audit, or none, leaves open of its risks. */
typedef struct {
  gboolean any;
  DemurRiskInterval unseen;
  double across; /* risks whose interval holds it are held back; 0: none */
} Intervals;

static Intervals
find_intervals(const DemurAssessment *assessment) {
  Intervals intervals = {0};
  intervals.any = demur_risk_interval_unseen(assessment->selector, &intervals.unseen);
  if (assessment->threshold != NULL)
    intervals.across = demur_tuning_read_hold_back(assessment->threshold->guarantee);
  return intervals;
}

/* [*low, *high] of a risk as the selector sees it, before the audit; NaN where there is none. */
static void
interval_of(const DemurAssessment *assessment, const Intervals *intervals, const char *site,
            double risk, double *low, double *high) {
  *low = *high = NAN;
  if (!intervals->any)
    return;
  const DemurAuditRecord *audit = g_hash_table_lookup(assessment->audits, site);
  const DemurRiskInterval interval =
      audit != NULL ? demur_risk_interval_audited(assessment->selector, audit->intercept,
                                                  audit->low, audit->high)
                    : intervals->unseen;
  demur_risk_interval_at(&interval, risk, low, high);
}

/* The first alarm that withholds every new verdict of a site (NULL: not known); NULL: none does. */
static const DemurWatchAlarm *
find_stop(const DemurAssessment *assessment, const char *site) {
  for (guint i = 0; assessment->stops != NULL && i < assessment->stops->len; i++) {
    const DemurWatchAlarm *alarm = ((const DemurWatchStop *)assessment->stops->pdata[i])->alarm;
    if (alarm->site == NULL || g_strcmp0(alarm->site, site) == 0)
      return alarm;
  }
  return NULL;
}

/* Behind what the selector itself says of a scan that it would have held back too. */
static void
add_stop(GPtrArray *reasons, const DemurWatchAlarm *stop) {
  DemurReason *reason = demur_reason_new(DEMUR_REASON_WATCH, stop->signal, stop->created);
  reason->n = (guint)stop->id;
  g_ptr_array_insert(reasons, 0, reason);
}

/* Why a scan is not accepted (owned; NULL: it is). held: by its score or, across being the decision
 * threshold that it holds (0: none), by its risk's interval: both have the selector's reasons, since
 * which of the two it is says on which side of what its risk lies. */
static GPtrArray *
find_reasons(const DemurReasoner *reasoner, const double *meta, const DemurAcquisitionScan *made,
             const DemurVerdictRecord *verdict, gboolean held, double across) {
  if (verdict->verdict == DEMUR_VERDICT_ACCEPTED)
    return NULL;
  GPtrArray *reasons = held ? demur_reasoner_explain(reasoner, meta, made) : demur_reasons_new();
  if (verdict->verdict == DEMUR_VERDICT_NOT_TUNED)
    g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_NOT_TUNED, NULL, NULL));
  if (across > 0.0) {
    DemurReason *crosses = demur_reason_new(DEMUR_REASON_CROSSES, NULL, NULL);
    crosses->value = across;
    crosses->tells_risk = TRUE;
    g_ptr_array_insert(reasons, 0, crosses);
  }
  return reasons;
}

/* Verdicts of a cohort's rows that have scores. */
static gboolean
assess_rows(DemurTask *task, DemurAssessment *assessment, DemurCohort *cohort, const guint32 *rows,
            size_t n, GError **error) {
  DemurSelector *selector = assessment->selector;
  g_autoptr(DemurCohort) unaudited =
      demur_selector_view_rows(selector, cohort, rows, n, task->parallel, &task->progress, error);
  if (unaudited == NULL)
    return FALSE;
  g_autoptr(DemurCohort) view = demur_task_audited_view(assessment->audits, unaudited);
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features(
      selector, view, FALSE, rows, n, task->parallel, &task->progress, error);
  if (meta == NULL)
    return FALSE;
  g_autofree double *scores = g_new(double, MAX(n, 1));
  demur_selector_scores(selector, 0, meta, n, scores);
  const gboolean tuned = assessment->threshold != NULL;
  const double threshold = tuned ? assessment->threshold->threshold : NAN;
  g_autoptr(DemurReasoner) reasoner =
      demur_reasoner_new(selector, tuned ? threshold : 0.0, N_REASONS);
  g_autofree DemurAcquisitionScan *made = NULL;
  if (demur_selector_uses_acquisition(selector) &&
      (made = demur_meta_acquisition_scans(view, rows, n, error)) == NULL)
    return FALSE;
  if (demur_selector_tells_making(selector))
    made = demur_meta_acquisition_scans(view, rows, n, NULL); /* what it can't read is not told */
  const Intervals intervals = find_intervals(assessment);
  const gssize distance = demur_selector_find_column(selector, "knn");
  const size_t n_columns = demur_selector_n_columns(selector);
  for (size_t i = 0; i < n; i++) {
    const char *site = cohort->site_names[cohort->sites[rows[i]]];
    DemurVerdictRecord verdict = {.scan_id = cohort->scan_ids[rows[i]],
                                  .patient_id = cohort->patient_ids[cohort->patients[rows[i]]],
                                  .risk = demur_cohort_confidence_risk(view, rows[i]),
                                  .risk_raw = demur_cohort_confidence_risk(cohort, rows[i]),
                                  .score = scores[i],
                                  .distance =
                                      distance >= 0 ? meta[i * n_columns + (size_t)distance] : NAN};
    interval_of(assessment, &intervals, site, demur_cohort_confidence_risk(unaudited, rows[i]),
                &verdict.risk_low, &verdict.risk_high);
    const gboolean refused = tuned && scores[i] < threshold;
    const gboolean crosses =
        tuned && intervals.across > 0.0 &&
        demur_risk_interval_crosses(verdict.risk_low, verdict.risk_high, intervals.across);
    const DemurWatchAlarm *stop = tuned ? find_stop(assessment, site) : NULL;
    verdict.verdict = !tuned                               ? DEMUR_VERDICT_NOT_TUNED
                      : refused || crosses || stop != NULL ? DEMUR_VERDICT_RED_FLAG
                                                           : DEMUR_VERDICT_ACCEPTED;
    g_autoptr(GPtrArray) reasons =
        find_reasons(reasoner, meta + i * n_columns, made != NULL ? &made[i] : NULL, &verdict,
                     refused || crosses, crosses ? intervals.across : 0.0);
    if (stop != NULL)
      add_stop(reasons, stop);
    add_verdict(assessment, site, &verdict, reasons);
  }
  return TRUE;
}

/* Verdicts of DICOM series: those that are eligible and have a score of the selector's model go
 * through assess_rows. */
static gboolean
assess_series(DemurTask *task, DemurAssessment *assessment, const DemurDicomScores *scored,
              const char *scan_id, GError **error) {
  for (size_t i = 0; i < scored->n_unscored; i++) {
    const DemurUnscored *u = &scored->unscored[i];
    if (scan_id != NULL && u->refused) {
      g_auto(GStrv) sentences = demur_words_reasons(u->reasons, NULL, NULL);
      g_autofree char *words = g_strjoinv("; ", sentences);
      demur_error_set(error, DEMUR_ERROR_STATE, "scan %s: %s", u->scan_id, words);
      return FALSE;
    }
    const DemurVerdictRecord verdict = {.scan_id = u->scan_id,
                                        .patient_id = u->patient_id,
                                        .risk = u->risk,
                                        .risk_raw = u->risk,
                                        .risk_low = NAN,
                                        .risk_high = NAN,
                                        .score = NAN,
                                        .distance = NAN,
                                        .verdict = u->verdict};
    g_autoptr(GPtrArray) reasons = demur_reasons_new();
    for (guint r = 0; r < u->reasons->len; r++)
      g_ptr_array_add(reasons, demur_reason_copy(u->reasons->pdata[r]));
    add_verdict(assessment, NULL, &verdict, reasons);
  }
  if (scored->cohort == NULL)
    return TRUE;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(scored->cohort, NULL, &n, error);
  return rows != NULL && assess_rows(task, assessment, scored->cohort, rows, n, error);
}

/* The cohort as the selector reads it. *whole: the cohort itself, read where it is NULL as yet. */
static DemurCohort *
find_cohort(DemurTask *task, const char *name, const DemurSelector *selector, DemurCohort **whole,
            GError **error) {
  if (*whole == NULL)
    *whole = demur_task_load_cohort(task, name, error);
  return *whole != NULL ? demur_task_cohort_for(*whole, selector, error) : NULL;
}

/* Everything that the verdicts are made of, as it is at one moment. cohort: set, owned, where one
 * is assessed; scored: the DICOM series else. */
static gboolean
read_all(DemurTask *task, const DemurAssessParams *options, DemurAssessment *assessment,
         DemurCohort **whole, DemurCohort **cohort, DemurDicomScores **scored, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin_read(workspace, error))
    return FALSE;
  assessment->selector = demur_task_load_selector(task, options->selector, NULL, error);
  gboolean ok =
      assessment->selector != NULL && find_audits(task, assessment, error) &&
      demur_task_find_threshold(task, options->selector, options->coverage, &assessment->threshold,
                                error) &&
      (options->unwatched ||
       (assessment->stops = demur_task_watch_stops(task, options->selector, assessment->selector,
                                                   NULL, error)) != NULL) &&
      (assessment->bindings = demur_bindings_load(workspace, options->cohort, error)) != NULL;
  if (ok && options->cohort != NULL)
    ok = (*cohort = find_cohort(task, options->cohort, assessment->selector, whole, error)) != NULL;
  else if (ok)
    ok = find_overrules(workspace, options->scan_id, assessment, error) &&
         (*scored =
              demur_dicom_scores_load(workspace, assessment->bindings, options->scan_id,
                                      demur_selector_model(assessment->selector),
                                      demur_selector_horizon_years(assessment->selector),
                                      demur_selector_uses_embeddings(assessment->selector)
                                          ? demur_selector_embedding_width(assessment->selector)
                                          : 0,
                                      error)) != NULL;
  demur_workspace_end_read(workspace);
  return ok;
}

/* One selector's share of an assessment: what was read, and what comes of it. */
typedef struct {
  const DemurAssessParams *options; /* of another of the family but for the name */
  DemurAssessment *assessment;
  DemurCohort *cohort;
  DemurDicomScores *scored;
  DemurAssessment *own; /* assessment, where nobody asked for it: owned */
} Share;

static void
share_free(gpointer data) {
  Share *share = data;
  demur_cohort_unref(share->cohort);
  demur_dicom_scores_free(share->scored);
  if (share->own != NULL)
    free_assessment(share->own);
  g_free(share);
}

/* Whether another one of the family can go along with the coverage that is asked for (*coverage,
 * NULL where it is not tuned at all). */
static gboolean
check_coverage(DemurTask *task, const char *name, const char **coverage, GError **error) {
  g_autoptr(DemurThresholdRecord) current = NULL, threshold = NULL;
  if (!demur_task_find_threshold(task, name, NULL, &current, error))
    return FALSE;
  if (current == NULL)
    *coverage = NULL;
  if (demur_task_find_threshold(task, name, *coverage, &threshold, error))
    return TRUE;
  demur_error_prefix(error, "the horizons of a family show a scan's risks together, so a coverage "
                            "is one of all that are tuned: ");
  return FALSE;
}

/* Reads what one selector's verdicts are made of. assessment NULL: nobody asked for it, but what is
 * asked for is held back with it: without a threshold it holds nothing back. */
static gboolean
read_share(DemurTask *task, const DemurAssessParams *options, const char *name,
           DemurAssessment *assessment, DemurCohort **whole, GPtrArray *shares, GError **error) {
  Share *share = g_new0(Share, 1);
  g_ptr_array_add(shares, share);
  if (assessment == NULL)
    assessment = share->own = g_new0(DemurAssessment, 1);
  share->options = options;
  share->assessment = assessment;
  DemurAssessParams one = *options;
  one.selector = name;
  if (share->own != NULL && !check_coverage(task, name, &one.coverage, error))
    return FALSE;
  assessment->texts = g_string_chunk_new(4096);
  assessment->selector_name = share->own != NULL ? keep(assessment, name) : name;
  assessment->cohort = options->cohort;
  assessment->verdicts = g_array_new(FALSE, FALSE, sizeof(DemurVerdictRecord));
  assessment->sites = g_array_new(FALSE, FALSE, sizeof(DemurVerdictSite));
  if (read_all(task, &one, assessment, whole, &share->cohort, &share->scored, error))
    return TRUE;
  if (error != NULL && g_strcmp0(name, options->selector) != 0)
    demur_error_prefix(error, "%s: ", name);
  return FALSE;
}

static gboolean
assess_share(DemurTask *task, Share *share, GError **error) {
  DemurAssessment *assessment = share->assessment;
  const DemurAssessParams *options = share->options;
  assessment->simulated = demur_selector_is_simulated(assessment->selector);
  if (share->cohort == NULL)
    return assess_series(task, assessment, share->scored,
                         options->unscored || share->own != NULL ? NULL : options->scan_id, error);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(
      share->cohort, options->split != NULL ? options->split : DEMUR_SPLIT_TEST, &n, error);
  if (rows == NULL || !assess_rows(task, assessment, share->cohort, rows, n, error))
    return FALSE;
  assessment->n_seen =
      demur_selector_count_seen(assessment->selector, share->cohort, rows, n, task->parallel);
  assessment->simulated |= share->cohort->simulated;
  return TRUE;
}

/* All that is asked for, and behind it the rest of its families, as they are at one moment. */
static gboolean
read_shares(DemurTask *task, const DemurAssessParams *options, const char *const *names, size_t n,
            DemurAssessment *assessments, GPtrArray *others, GPtrArray *shares, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin_read(workspace, error))
    return FALSE;
  g_autoptr(DemurCohort) whole = NULL; /* read once for all */
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n; i++)
    ok = read_share(task, options, names[i], &assessments[i], &whole, shares, error);
  ok = ok && demur_horizon_family_others(workspace, assessments, n, others, error);
  for (guint i = 0; ok && i < others->len; i++)
    ok = read_share(task, options, others->pdata[i], NULL, &whole, shares, error);
  demur_workspace_end_read(workspace);
  return ok;
}

/* Without a threshold nothing is shown: there is nothing to be kept together. */
static void
keep_others(DemurAssessment *first, const GPtrArray *shares) {
  for (guint i = 0; i < shares->len; i++) {
    Share *share = shares->pdata[i];
    if (share->own == NULL || share->own->threshold == NULL)
      continue;
    if (first->others == NULL)
      first->others = g_ptr_array_new_with_free_func(free_assessment);
    g_ptr_array_add(first->others, g_steal_pointer(&share->own));
  }
}

gboolean
demur_task_assess_horizons(DemurTask *task, const DemurAssessParams *options,
                           const char *const *names, size_t n, DemurAssessment *assessments,
                           GError **error) {
  g_autoptr(GPtrArray) shares = g_ptr_array_new_with_free_func(share_free),
                       others = g_ptr_array_new_with_free_func(g_free), all = g_ptr_array_new();
  gboolean ok = read_shares(task, options, names, n, assessments, others, shares, error);
  for (guint i = 0; ok && i < shares->len; i++) {
    Share *share = shares->pdata[i];
    ok = assess_share(task, share, error);
    g_ptr_array_add(all, share->assessment);
  }
  if (!ok)
    return FALSE;
  demur_horizon_family_hold((DemurAssessment *const *)all->pdata, all->len);
  keep_others(&assessments[0], shares);
  return TRUE;
}

gboolean
demur_task_assess(DemurTask *task, const DemurAssessParams *options, DemurAssessment *assessment,
                  GError **error) {
  return demur_task_assess_horizons(task, options, &options->selector, 1, assessment, error);
}

/* Binds the verdicts to what they rest on. In place: a second copy of a million records would be a
 * quarter of a gigabyte. */
static DemurVerdictShare
bind_share(DemurAssessment *assessment, const char *now) {
  const DemurThresholdRecord *threshold = assessment->threshold;
  DemurVerdictBatch batch = {.selector = assessment->selector_name,
                             .selector_digest = demur_selector_digest(assessment->selector),
                             .cohort = assessment->cohort,
                             .model = demur_selector_model(assessment->selector),
                             .horizon_years = demur_selector_horizon_years(assessment->selector),
                             .coverage = threshold != NULL ? threshold->coverage : NAN,
                             .threshold = threshold != NULL ? threshold->threshold : NAN,
                             .created = now,
                             .threshold_digest = threshold != NULL ? threshold->digest : NULL};
  demur_bindings_bind_batch(assessment->bindings, &batch);
  const guint n = assessment->verdicts->len;
  DemurVerdictRecord *bound = (DemurVerdictRecord *)assessment->verdicts->data;
  for (guint i = 0; i < n; i++)
    demur_bindings_bind(assessment->bindings, &batch, &bound[i]);
  return (DemurVerdictShare){batch, bound, n};
}

gboolean
demur_assessments_save(DemurTask *task, DemurAssessment *assessments, size_t n, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  g_autofree char *now = demur_task_now(task);
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  for (size_t i = 0; i < n; i++)
    for (guint o = 0; assessments[i].others != NULL && o < assessments[i].others->len; o++)
      g_ptr_array_add(all, assessments[i].others->pdata[o]);
  for (size_t i = 0; i < n; i++) /* last: what was asked for is a scan's newest verdict */
    g_ptr_array_add(all, &assessments[i]);
  g_autofree DemurVerdictShare *shares = g_new(DemurVerdictShare, MAX(all->len, 1));
  for (guint i = 0; i < all->len; i++)
    shares[i] = bind_share(all->pdata[i], now);
  const DemurPatience usual = demur_workspace_set_patience(workspace, DEMUR_PATIENCE_ENDLESS);
  gboolean ok = demur_verdicts_save_together(workspace, shares, all->len, error);
  demur_workspace_set_patience(workspace, usual);
  for (guint i = 0; ok && i < all->len; i++)
    ok = demur_task_watch_follow(task, shares[i].batch.selector, error);
  return ok;
}

gboolean
demur_assessment_save(DemurTask *task, DemurAssessment *assessment, GError **error) {
  return demur_assessments_save(task, assessment, 1, error);
}
