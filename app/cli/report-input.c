#include "app/cli/report-input.h"

#include <math.h>
#include <string.h>

#include "selector/coverage.h"

void
demur_cli_report_free(DemurCliReport *report) {
  if (report == NULL)
    return;
  g_clear_pointer(&report->owned, g_ptr_array_unref);
  g_free(report);
}

static gpointer
own(DemurCliReport *report, gpointer memory) {
  g_ptr_array_add(report->owned, memory);
  return memory;
}

/* Counts the scans of rows by a code (site or an attribute's value); only codes that occur are
 * returned. */
static DemurReportGroup *
count_groups(DemurCliReport *report, const DemurCohort *cohort, const guint32 *rows, size_t n,
             const guint32 *codes, char *const *names, size_t n_codes, size_t *n_groups) {
  DemurReportGroup *all = own(report, g_new0(DemurReportGroup, MAX(n_codes, 1)));
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  for (size_t i = 0; i < n; i++) {
    const guint32 row = rows[i], code = codes[row];
    DemurReportGroup *group = &all[code];
    group->n_scans++;
    const gint64 pair = (gint64)code << 32 | cohort->patients[row];
    group->n_patients += g_hash_table_add(seen, g_memdup2(&pair, sizeof pair)) ? 1 : 0;
    group->n_labelled += cohort->labels[row] != DEMUR_NO_LABEL;
    group->n_positive += cohort->labels[row] == 1;
  }
  size_t kept = 0;
  for (size_t c = 0; c < n_codes; c++)
    if (all[c].n_scans > 0) {
      all[kept] = all[c];
      all[kept++].name = *names[c] != '\0' ? names[c] : "not recorded";
    }
  *n_groups = kept;
  return all;
}

static void
describe_splits(DemurCliReport *report, const DemurCohort *cohort) {
  DemurReportCohort *facts = &report->input.cohort;
  DemurReportSplit *splits = own(report, g_new0(DemurReportSplit, MAX(cohort->n_splits, 1)));
  for (size_t s = 0; s < cohort->n_splits; s++) {
    DemurReportSplit *split = &splits[s];
    g_autofree guint8 *patients = g_new0(guint8, MAX(cohort->n_patients, 1));
    g_autofree guint8 *sites = g_new0(guint8, MAX(cohort->n_sites, 1));
    size_t n_positive = 0;
    split->name = cohort->split_names[s];
    for (size_t i = 0; i < cohort->n_scans; i++) {
      if (cohort->splits[i] != s)
        continue;
      split->n_scans++;
      split->n_patients += !patients[cohort->patients[i]];
      patients[cohort->patients[i]] = 1;
      split->n_sites += !sites[cohort->sites[i]];
      sites[cohort->sites[i]] = 1;
      split->n_labelled += cohort->labels[i] != DEMUR_NO_LABEL;
      n_positive += cohort->labels[i] == 1;
    }
    split->prevalence = cohort->n_classes == 2 && split->n_labelled > 0
                            ? (double)n_positive / (double)split->n_labelled
                            : NAN;
  }
  facts->splits = splits;
  facts->n_splits = cohort->n_splits;
}

static void
describe_cohort(DemurCliReport *report, const DemurCliEvaluation *e, const guint32 *rows,
                size_t n) {
  DemurReportCohort *facts = &report->input.cohort;
  const DemurCohort *cohort = e->cohort;
  facts->name = cohort->name;
  facts->source = cohort->source;
  facts->model = cohort->model;
  facts->created = cohort->created;
  facts->digest = own(report, demur_cohort_digest(cohort, NULL, 0));
  facts->simulated = cohort->simulated;
  facts->n_sites_in_training = -1;
  describe_splits(report, cohort);
  facts->sites = count_groups(report, cohort, rows, n, cohort->sites, cohort->site_names,
                              cohort->n_sites, &facts->n_sites);
  const gssize scanner = demur_cohort_find_attribute(cohort, "manufacturer");
  if (scanner >= 0) {
    const DemurAttribute *attribute = &cohort->attributes[scanner];
    facts->scanners = count_groups(report, cohort, rows, n, attribute->codes, attribute->values,
                                   attribute->n_values, &facts->n_scanners);
  }
  /* Sites that trained: known where the selector came from this very cohort. */
  const DemurSelector *selector = e->selectors[0];
  if (g_strcmp0(selector->cohort, cohort->name) != 0)
    return;
  g_autofree guint8 *trained = g_new0(guint8, MAX(cohort->n_sites, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    for (size_t p = 0; p < selector->n_parts; p++)
      if (strcmp(selector->parts[p].role, "reference") != 0 &&
          strcmp(selector->parts[p].split, cohort->split_names[cohort->splits[i]]) == 0)
        trained[cohort->sites[i]] = 1;
  g_autofree guint8 *counted = g_new0(guint8, MAX(cohort->n_sites, 1));
  facts->n_sites_in_training = 0;
  for (size_t i = 0; i < n; i++) {
    const guint32 site = cohort->sites[rows[i]];
    facts->n_sites_in_training += trained[site] && !counted[site];
    counted[site] = 1;
  }
}

static void
add_pair(DemurCliReport *report, GArray *pairs, const char *key, char *value) {
  const DemurReportPair pair = {own(report, g_strdup(key)), own(report, value)};
  g_array_append_val(pairs, pair);
}

static void
describe_selector(DemurCliReport *report, const DemurCliEvaluation *e) {
  DemurReportSelector *facts = &report->input.selector;
  const DemurSelector *s = e->selectors[0];
  const DemurSelectorRecord *record = e->records[0];
  facts->name = e->names[0];
  facts->digest = s->digest;
  facts->created = record->created;
  facts->cohort = s->cohort;
  facts->model = s->model;
  facts->best_epoch =
      s->settings->stopping == DEMUR_STOPPING_WORST_CASE ? s->models[0].epochs[0] : -1;
  facts->as_published = s->settings->as_published;
  g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(DemurReportPair));
  for (size_t p = 0; p < s->n_parts; p++) {
    const DemurSelectorPart *part = &s->parts[p];
    char *text =
        own(report, g_strdup_printf("%s, %zu scans of %zu patients at %zu sites", part->split,
                                    part->n_scans, part->n_patients, part->n_sites));
    add_pair(report, pairs, part->role, g_strdup(text));
    if (strcmp(part->role, "reference") == 0) {
      facts->reference_set = text;
    } else if (strcmp(part->role, "training") == 0) {
      facts->n_training_scans = part->n_scans;
      facts->n_training_patients = part->n_patients;
      facts->n_training_sites = part->n_sites;
    }
  }
  for (size_t i = 0; demur_train_settings_number_name(i) != NULL; i++) {
    char value[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *key = g_strdelimit(g_strdup(demur_train_settings_number_name(i)), "_", ' ');
    demur_train_settings_number_text(s->settings, i, value);
    add_pair(report, pairs, key, g_strdup(value));
  }
  add_pair(report, pairs, "target", g_strdup(demur_target_name(s->settings->target)));
  add_pair(report, pairs, "stopping", g_strdup(demur_stopping_name(s->settings->stopping)));
  add_pair(
      report, pairs, "recalibrate",
      g_strdup_printf("%s (asked: %s)",
                      demur_recalibration_name(s->recalibration != NULL ? s->recalibration->kind
                                                                        : DEMUR_RECALIBRATION_NONE),
                      demur_recalibration_name(s->settings->recalibrate)));
  add_pair(report, pairs, "resample", demur_train_settings_resample_text(s->settings));
  add_pair(report, pairs, "features", demur_train_settings_features_text(s->settings));
  add_pair(report, pairs, "seed", g_strdup_printf("%" G_GUINT64_FORMAT, s->seed));
  facts->n_settings = pairs->len;
  facts->settings = own(report, g_array_free(g_steal_pointer(&pairs), FALSE));
}

static void
describe_thresholds(DemurCliReport *report, const DemurCliEvaluation *e) {
  const GPtrArray *records = e->thresholds[0];
  DemurReportThreshold *thresholds = own(report, g_new0(DemurReportThreshold, records->len + 1));
  for (guint t = 0; t < records->len; t++) {
    const DemurThresholdRecord *record = records->pdata[t];
    thresholds[t] = (DemurReportThreshold){
        .requested = record->coverage,
        .realised = record->realised,
        .threshold = record->threshold,
        .cohort = record->cohort,
        .split = record->split,
        .n = record->n_scans,
        .guarantee = own(report, demur_tuning_read_sentence(record->guarantee)),
        .created = record->created};
  }
  report->input.thresholds = thresholds;
  report->input.n_thresholds = records->len;
}

/* The latest of the stored dates: the report's own, so that it does not depend on a clock. */
static const char *
latest_date(const DemurReportInput *input) {
  const char *latest = input->cohort.created;
  if (g_strcmp0(input->selector.created, latest) > 0)
    latest = input->selector.created;
  for (size_t t = 0; t < input->n_thresholds; t++)
    if (g_strcmp0(input->thresholds[t].created, latest) > 0)
      latest = input->thresholds[t].created;
  return latest;
}

DemurCliReport *
demur_cli_report_new(const DemurCliEvaluation *e, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(e->cohort, e->evaluation->split, &n, error);
  if (rows == NULL)
    return NULL;
  DemurCliReport *report = g_new0(DemurCliReport, 1);
  report->owned = g_ptr_array_new_with_free_func(g_free);
  report->input.evaluation = e->evaluation;
  report->input.version = DEMUR_VERSION;
  describe_cohort(report, e, rows, n);
  describe_selector(report, e);
  describe_thresholds(report, e);
  report->input.created = latest_date(&report->input);
  return report;
}
