#include "tasks/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-reader.h"
#include "base/number.h"
#include "evaluation/releases.h"
#include "metrics/censoring.h"
#include "metrics/intervals.h"
#include "report/finding.h"
#include "report/format.h"
#include "selector/coverage.h"
#include "selector/mlp-kernel.h"
#include "tasks/meaning.h"
#include "tasks/prevalence.h"
#include "tasks/report-characteristics.h"
#include "words/federated-words.h"
#include "words/noticed.h"

void
demur_report_task_free(DemurReportTask *report) {
  if (report == NULL)
    return;
  g_clear_pointer(&report->owned, g_ptr_array_unref);
  g_free(report);
}

static gpointer
own(DemurReportTask *report, gpointer memory) {
  g_ptr_array_add(report->owned, memory);
  return memory;
}

static int
compare_pairs(gconstpointer a, gconstpointer b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

/* Counts the scans of rows by a code (site or an attribute's value); only codes that occur are
 * returned. Distinct patients by sorting (code, patient): O(n log n), no table of pairs. */
static DemurReportGroup *
count_groups(DemurReportTask *report, const DemurCohort *cohort, const guint32 *rows, size_t n,
             const guint32 *codes, char *const *names, size_t n_codes, const DemurReleasedWay *way,
             size_t *n_groups) {
  DemurReportGroup *all = own(report, g_new0(DemurReportGroup, MAX(n_codes, 1)));
  g_autofree guint64 *pairs = g_new(guint64, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const guint32 row = rows[i], code = codes[row];
    DemurReportGroup *group = &all[code];
    group->n_scans++;
    group->n_labelled += cohort->labels[row] != DEMUR_NO_LABEL;
    group->n_positive += cohort->labels[row] == 1;
    pairs[i] = (guint64)code << 32 | cohort->patients[row];
  }
  qsort(pairs, n, sizeof *pairs, compare_pairs);
  for (size_t i = 0; i < n; i++)
    all[pairs[i] >> 32].n_patients += i == 0 || pairs[i] != pairs[i - 1];
  size_t kept = 0;
  for (size_t c = 0; c < n_codes; c++)
    if (all[c].n_scans > 0) {
      all[kept] = all[c];
      for (size_t g = 0; g < way->grouping->n_values; g++)
        if (strcmp(way->grouping->values[g], names[c]) == 0) {
          all[kept].scans_tell = way->scans_withheld[g];
          all[kept].labels_tell = way->labels_withheld[g];
        }
      all[kept++].name = *names[c] != '\0' ? names[c] : "not recorded";
    }
  *n_groups = kept;
  return all;
}

/* One pass over the scans. No patient stands in two splits: each is counted once. */
static void
describe_splits(DemurReportTask *report, const DemurCohort *cohort) {
  DemurReportCohort *facts = &report->input.cohort;
  const size_t n_sites = MAX(cohort->n_sites, 1);
  DemurReportSplit *splits = own(report, g_new0(DemurReportSplit, MAX(cohort->n_splits, 1)));
  g_autofree guint8 *patients = g_new0(guint8, MAX(cohort->n_patients, 1));
  g_autofree guint8 *sites = g_new0(guint8, MAX(cohort->n_splits, 1) * n_sites);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    const guint32 s = cohort->splits[i];
    DemurReportSplit *split = &splits[s];
    guint8 *site = &sites[s * n_sites + cohort->sites[i]];
    split->n_scans++;
    split->n_patients += !patients[cohort->patients[i]];
    patients[cohort->patients[i]] = 1;
    split->n_sites += !*site;
    *site = 1;
    split->n_labelled += cohort->labels[i] != DEMUR_NO_LABEL;
  }
  for (size_t s = 0; s < cohort->n_splits; s++) {
    splits[s].name = cohort->split_names[s];
    size_t n_rows = 0;
    g_autofree guint32 *rows =
        demur_cohort_rows(cohort, cohort->split_names[s], &n_rows, NULL); /* the split exists */
    splits[s].prevalence =
        cohort->n_classes == 2 ? demur_task_prevalence(cohort, rows, n_rows) : NAN;
  }
  facts->splits = splits;
  facts->n_splits = cohort->n_splits;
}

/* The numbers of a text column's values [n_values] (owned); NaN where one is empty or none. */
static double *
attribute_numbers(const DemurAttribute *attribute) {
  double *numbers = g_new(double, MAX(attribute->n_values, 1));
  for (size_t v = 0; v < attribute->n_values; v++)
    if (!demur_number_parse(attribute->values[v], strlen(attribute->values[v]), &numbers[v]))
      numbers[v] = NAN;
  return numbers;
}

/* When each scan's outcome came or its follow-up ended, of the rows where that is recorded: the
 * cohort's own times, else its columns years_to_cancer and years_of_followup. */
typedef struct {
  size_t n;
  guint32 *rows; /* [n] */
  double *times; /* [n] years */
  gint32 *ended; /* [n] DemurEnded */
  double horizon;
  gboolean competing; /* some ended by what makes the outcome impossible */
} FollowUp;

static void
follow_up_clear(FollowUp *follow_up) {
  g_free(follow_up->rows);
  g_free(follow_up->times);
  g_free(follow_up->ended);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FollowUp, follow_up_clear)

static void
add_follow_up(FollowUp *f, guint32 row, double time, DemurEnded ended) {
  if (!isfinite(time) || time < 0)
    return;
  f->rows[f->n] = row;
  f->times[f->n] = time;
  f->ended[f->n++] = (gint32)ended;
  f->competing |= ended == DEMUR_ENDED_COMPETING && time <= f->horizon;
}

static void
read_follow_up(const DemurCohort *cohort, const guint32 *rows, size_t n, FollowUp *f) {
  static const DemurEnded ended_of[] = {[DEMUR_STATUS_CENSORED] = DEMUR_ENDED_LEFT,
                                        [DEMUR_STATUS_EVENT] = DEMUR_ENDED_EVENT,
                                        [DEMUR_STATUS_COMPETING] = DEMUR_ENDED_COMPETING};
  const gssize outcome = demur_cohort_find_attribute(cohort, "years_to_cancer"),
               followed = demur_cohort_find_attribute(cohort, "years_of_followup");
  const double horizon = demur_cohort_horizon(cohort);
  *f = (FollowUp){.rows = g_new(guint32, n + 1),
                  .times = g_new(double, n + 1),
                  .ended = g_new(gint32, n + 1),
                  .horizon = isfinite(horizon) ? horizon : DEMUR_N_YEARS};
  if (cohort->times != NULL && cohort->statuses != NULL) {
    for (size_t i = 0; i < n; i++)
      if (cohort->statuses[rows[i]] != DEMUR_NO_LABEL)
        add_follow_up(f, rows[i], cohort->times[rows[i]], ended_of[cohort->statuses[rows[i]]]);
  } else if (outcome >= 0 && followed >= 0) {
    const DemurAttribute *outcomes = &cohort->attributes[outcome],
                         *follow_ups = &cohort->attributes[followed];
    g_autofree double *to_outcome = attribute_numbers(outcomes),
                      *until = attribute_numbers(follow_ups);
    for (size_t i = 0; i < n; i++) {
      const double at = to_outcome[outcomes->codes[rows[i]]];
      if (isfinite(at))
        add_follow_up(f, rows[i], at, DEMUR_ENDED_EVENT);
      else
        add_follow_up(f, rows[i], until[follow_ups->codes[rows[i]]], DEMUR_ENDED_LEFT);
    }
  }
}

/* How scans were followed, by what ended their time before the horizon. */
static void
describe_follow_up(DemurReportTask *report, const DemurCohort *cohort, const FollowUp *f) {
  enum { OUTCOME, FOLLOWED, COMPETING, LEFT, N_ENDS };
  DemurReportCohort *facts = &report->input.cohort;
  DemurReportCount *counts = own(report, g_new0(DemurReportCount, N_ENDS));
  const char *outcome = cohort->outcome != NULL ? cohort->outcome
                        : demur_outcome_of_cohort(cohort).kind == DEMUR_OUTCOME_CANCER ? "cancer"
                                                                                       : "outcome";
  g_autofree char *years = demur_text_years(f->horizon);
  const char *const words[N_ENDS] = {
      own(report, g_strdup_printf("%s within %s of the scan", outcome, years)),
      own(report, g_strdup_printf("followed for %s without it", years)),
      own(report, g_strdup_printf("died of something else within %s", years)),
      "followed for a shorter time, without it so far"};
  size_t n_ends[N_ENDS] = {0}, n = 0;
  for (size_t i = 0; i < f->n; i++)
    n_ends[f->times[i] >= f->horizon              ? FOLLOWED
           : f->ended[i] == DEMUR_ENDED_EVENT     ? OUTCOME
           : f->ended[i] == DEMUR_ENDED_COMPETING ? COMPETING
                                                  : LEFT]++;
  for (int end = 0; end < N_ENDS; end++)
    if (end != COMPETING || f->competing)
      counts[n++] = (DemurReportCount){words[end], n_ends[end], FALSE};
  facts->follow_up = counts;
  facts->n_follow_up = n;
}

/* As demur_report_years, of scans whose follow-up was read. */
static size_t
years_of(const DemurCohort *cohort, const FollowUp *f, DemurReportYear *years) {
  size_t n_years = 0;
  g_autofree double *times = g_new(double, f->n);
  g_autofree gint32 *ended = g_new(gint32, f->n);
  for (size_t y = 0; y < DEMUR_N_YEARS && cohort->yearly_risks != NULL; y++) {
    const double at = (double)(y + 1);
    years[y] = (DemurReportYear){0};
    for (size_t i = 0; i < f->n; i++) {
      const double risk = cohort->yearly_risks[f->rows[i] * (size_t)DEMUR_N_YEARS + y];
      if (!isfinite(risk))
        continue;
      times[years[y].n] = f->times[i];
      ended[years[y].n++] = f->ended[i];
      years[y].mean_risk += risk;
    }
    years[y].mean_risk = years[y].n > 0 ? years[y].mean_risk / (double)years[y].n : NAN;
    years[y].observed = years[y].low = years[y].high = NAN;
    if (years[y].n > 0)
      demur_cumulative_incidence(times, ended, years[y].n, &at, 1, &years[y].observed,
                                 &years[y].low, &years[y].high);
    n_years = years[y].n > 0 ? DEMUR_N_YEARS : n_years;
  }
  return n_years;
}

static const char *
estimator_of(const FollowUp *f) {
  return f->competing ? "Aalen-Johansen" : "Kaplan-Meier";
}

size_t
demur_report_years(const DemurCohort *cohort, const guint32 *rows, size_t n, DemurReportYear *years,
                   const char **estimator) {
  g_auto(FollowUp) f = {0};
  read_follow_up(cohort, rows, n, &f);
  *estimator = estimator_of(&f);
  return f.n > 0 ? years_of(cohort, &f, years) : 0;
}

static void
describe_years(DemurReportTask *report, const DemurCohort *cohort, const guint32 *rows, size_t n) {
  DemurReportCohort *facts = &report->input.cohort;
  g_auto(FollowUp) f = {0};
  read_follow_up(cohort, rows, n, &f);
  if (f.n == 0)
    return;
  describe_follow_up(report, cohort, &f);
  DemurReportYear *years = own(report, g_new0(DemurReportYear, DEMUR_N_YEARS));
  facts->n_years = years_of(cohort, &f, years);
  facts->years = years;
  facts->years_estimator = estimator_of(&f);
}

/* Whether label 1 is what the cohort's own columns call a cancer, for every scan with a label. */
static gboolean
labels_are_cancer(const DemurCohort *cohort, const guint32 *rows, size_t n) {
  const gssize outcome = demur_cohort_find_attribute(cohort, "years_to_cancer");
  const double horizon = demur_cohort_horizon(cohort),
               within = isfinite(horizon) ? horizon : DEMUR_N_YEARS;
  if (outcome < 0 || demur_outcome_of_cohort(cohort).kind != DEMUR_OUTCOME_CANCER)
    return FALSE;
  g_autofree double *years = attribute_numbers(&cohort->attributes[outcome]);
  size_t n_labelled = 0;
  for (size_t i = 0; i < n; i++) {
    const gint32 label = cohort->labels[rows[i]];
    if (label == DEMUR_NO_LABEL)
      continue;
    if ((label == 1) != (years[cohort->attributes[outcome].codes[rows[i]]] < within))
      return FALSE;
    n_labelled++;
  }
  return n_labelled > 0;
}

/* Names for the labels, where the cohort says what its outcome is. */
static void
describe_labels(DemurReportTask *report, const DemurCohort *cohort, const guint32 *rows, size_t n) {
  const double horizon = demur_cohort_horizon(cohort);
  const char *outcome = cohort->outcome != NULL              ? cohort->outcome
                        : labels_are_cancer(cohort, rows, n) ? "cancer"
                                                             : NULL;
  if (outcome == NULL || cohort->n_classes != 2)
    return;
  const gboolean timed = isfinite(horizon) || cohort->outcome == NULL;
  const char **names = own(report, g_new0(const char *, 2));
  names[0] = own(report, g_strdup_printf("no %s", outcome));
  names[1] = outcome;
  report->input.cohort.labels = names;
  g_autofree char *years = demur_text_years(isfinite(horizon) ? horizon : DEMUR_N_YEARS);
  report->input.cohort.label_rule =
      own(report, timed ? g_strdup_printf("Label 1, “%s”: within %s of the scan.", outcome, years)
                        : g_strdup_printf("Label 1: %s.", outcome));
}

static void
describe_cohort(DemurReportTask *report, const DemurEvaluating *e, const guint32 *rows, size_t n) {
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
  g_autoptr(DemurReleases) releases = demur_releases_new(cohort, rows, n, "manufacturer");
  facts->sites =
      count_groups(report, cohort, rows, n, cohort->sites, cohort->site_names, cohort->n_sites,
                   demur_releases_find(releases, "site"), &facts->n_sites);
  const gssize scanner = demur_cohort_find_attribute(cohort, "manufacturer");
  if (scanner >= 0) {
    const DemurAttribute *attribute = &cohort->attributes[scanner];
    facts->scanners = count_groups(
        report, cohort, rows, n, attribute->codes, attribute->values, attribute->n_values,
        demur_releases_find(releases, attribute->name), &facts->n_scanners);
  }
  demur_report_characteristics(cohort, report->owned, facts);
  describe_years(report, cohort, rows, n);
  describe_labels(report, cohort, rows, n);
  /* Sites that trained: known where the selector came from this very cohort. */
  const DemurSelector *selector = e->selectors[0];
  if (g_strcmp0(demur_selector_cohort(selector), cohort->name) != 0)
    return;
  g_autofree guint8 *trained = g_new0(guint8, MAX(cohort->n_sites, 1));
  g_autofree guint8 *made = g_new0(guint8, MAX(cohort->n_splits, 1)); /* splits that made it */
  for (size_t s = 0; s < cohort->n_splits; s++)
    for (size_t p = 0; p < demur_selector_n_parts(selector); p++)
      if (demur_selector_part(selector, p)->role != DEMUR_PART_REFERENCE &&
          strcmp(demur_selector_part(selector, p)->split, cohort->split_names[s]) == 0)
        made[s] = 1;
  for (size_t i = 0; i < cohort->n_scans; i++)
    if (made[cohort->splits[i]])
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
add_pair(DemurReportTask *report, GArray *pairs, const char *key, char *value) {
  const DemurReportPair pair = {own(report, g_strdup(key)), own(report, value)};
  g_array_append_val(pairs, pair);
}

static void
describe_selector(DemurReportTask *report, const DemurEvaluating *e) {
  DemurReportSelector *facts = &report->input.selector;
  const DemurSelector *s = e->selectors[0];
  const DemurSelectorRecord *record = e->records[0];
  facts->name = e->names[0];
  /* Others may stand before it in the evaluation, where they see raw risks and it doesn't. */
  facts->method = own(report, demur_method_name(DEMUR_METHOD_SELECTOR, e->names[0]));
  facts->digest = demur_selector_digest(s);
  facts->created = record->created;
  facts->cohort = demur_selector_cohort(s);
  facts->model = demur_selector_model(s);
  facts->best_epoch = demur_selector_settings(s)->stopping == DEMUR_STOPPING_WORST_CASE
                          ? demur_selector_epoch(s, 0, 0)
                          : -1;
  facts->as_published = demur_selector_settings(s)->as_published;
  if (demur_selector_settings(s)->scoring != DEMUR_SCORING_NETWORK)
    facts->scores_by = demur_scoring_row(demur_selector_settings(s)->scoring)->title;
  char *federated = demur_words_federated(s, NULL);
  facts->federated = federated != NULL ? own(report, federated) : NULL;
  g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(DemurReportPair));
  for (size_t p = 0; p < demur_selector_n_parts(s); p++) {
    const DemurSelectorPart *part = demur_selector_part(s, p);
    g_autofree char *scans = demur_text_counted(part->n_scans, "scan", "scans"),
                    *patients = demur_text_counted(part->n_patients, "patient", "patients"),
                    *sites = demur_text_counted(part->n_sites, "site", "sites");
    char *text =
        own(report, g_strdup_printf("%s, %s of %s at %s", part->split, scans, patients, sites));
    add_pair(report, pairs, demur_part_role_name(part->role), g_strdup(text));
    if (part->role == DEMUR_PART_REFERENCE) {
      facts->reference_set = text;
    } else if (part->role == DEMUR_PART_TRAINING) {
      facts->n_training_scans = part->n_scans;
      facts->n_training_patients = part->n_patients;
      facts->n_training_sites = part->n_sites;
    }
  }
  for (size_t i = 0; demur_train_settings_number_name(i) != NULL; i++) {
    char value[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *key = g_strdelimit(g_strdup(demur_train_settings_number_name(i)), "_", ' ');
    demur_train_settings_number_text(demur_selector_settings(s), i, value);
    add_pair(report, pairs, key, g_strdup(value));
  }
  add_pair(report, pairs, "target",
           g_strdup(demur_target_name(demur_selector_settings(s)->target)));
  add_pair(report, pairs, "stopping",
           g_strdup(demur_stopping_name(demur_selector_settings(s)->stopping)));
  add_pair(report, pairs, "recalibrate",
           g_strdup_printf("%s (asked: %s)",
                           demur_recalibration_name(demur_selector_recalibration(s) != NULL
                                                        ? demur_selector_recalibration(s)->kind
                                                        : DEMUR_RECALIBRATION_NONE),
                           demur_recalibration_name(demur_selector_settings(s)->recalibrate)));
  add_pair(report, pairs, "resample",
           demur_train_settings_resample_text(demur_selector_settings(s)));
  add_pair(report, pairs, "features",
           demur_train_settings_features_text(demur_selector_settings(s)));
  add_pair(report, pairs, "seed", g_strdup_printf("%" G_GUINT64_FORMAT, demur_selector_seed(s)));
  facts->n_settings = pairs->len;
  facts->settings = own(report, g_array_free(g_steal_pointer(&pairs), FALSE));
}

static void
describe_thresholds(DemurReportTask *report, const DemurEvaluating *e) {
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

void
demur_task_read_validation(const char *document, GPtrArray *owned, DemurReportValidation *facts) {
  *facts = (DemurReportValidation){.difference = NAN, .low = NAN, .high = NAN};
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (document == NULL || !demur_json_load(parser, document, -1, NULL) ||
      !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
    return;
  JsonObject *object = json_node_get_object(json_parser_get_root(parser));
  const struct {
    const char *member, **text;
  } texts[] = {
      {"verdict", &facts->verdict}, {"sentence", &facts->sentence}, {"cohort", &facts->cohort}};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    const char *text;
    if (demur_json_read_string(object, texts[i].member, &text, NULL)) {
      *texts[i].text = g_strdup(text);
      g_ptr_array_add(owned, (gpointer)*texts[i].text);
    }
  }
  gint64 count;
  if (demur_json_read_int(object, "n_sites", 0, G_MAXINT, &count, NULL))
    facts->n_sites = (size_t)count;
  if (demur_json_read_int(object, "folds", 0, G_MAXINT, &count, NULL))
    facts->n_folds = (size_t)count;
}

static void
describe_exclusions(DemurReportTask *report, const DemurEvaluating *e) {
  DemurReportCohort *facts = &report->input.cohort;
  DemurReportCount *counts = own(report, g_new0(DemurReportCount, e->exclusions->len + 1));
  for (guint i = 0; i < e->exclusions->len; i++) {
    const DemurExclusion *exclusion = e->exclusions->pdata[i];
    counts[i] = (DemurReportCount){exclusion->reason, exclusion->n, FALSE};
  }
  facts->exclusions_recorded = e->exclusions_recorded;
  facts->exclusions = counts;
  facts->n_exclusions = e->exclusions->len;
}

/* What was noticed while the cohort's table was read; nobody is named. */
static void
describe_noticed(DemurReportTask *report, const DemurEvaluating *e) {
  DemurReportCohort *facts = &report->input.cohort;
  DemurReportCount *counts = own(report, g_new0(DemurReportCount, e->noticed->len + 1));
  for (guint i = 0; i < e->noticed->len; i++) {
    const DemurTableWarning *warning = e->noticed->pdata[i];
    /* What the NLST's rule left out, it counts. */
    const gboolean left_out = e->exclusions->len > 0 && (warning->kind == DEMUR_TABLE_NO_SCORE ||
                                                         warning->kind == DEMUR_TABLE_NO_PERSON);
    counts[i] = (DemurReportCount){own(report, demur_words_noticed(warning, FALSE, NULL)),
                                   warning->n, left_out};
  }
  facts->noticed = counts;
  facts->n_noticed = e->noticed->len;
}

static void
describe_audits(DemurReportTask *report, const DemurEvaluating *e) {
  const DemurReportCohort *cohort = &report->input.cohort;
  DemurReportAudit *audits = own(report, g_new0(DemurReportAudit, e->audits->len + 1));
  g_autoptr(GHashTable) sites = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t s = 0; s < cohort->n_sites; s++)
    g_hash_table_add(sites, (gpointer)cohort->sites[s].name);
  for (guint a = 0; a < e->audits->len; a++) {
    const DemurAuditRecord *record = e->audits->pdata[a];
    audits[a] = (DemurReportAudit){.site = record->site,
                                   .cohort = record->cohort,
                                   .n_labels = record->n_labels,
                                   .intercept = record->intercept,
                                   .low = record->low,
                                   .high = record->high,
                                   .in_split = g_hash_table_contains(sites, record->site),
                                   .created = record->created};
  }
  report->input.audits = audits;
  report->input.n_audits = e->audits->len;
}

static void
describe_request(DemurReportTask *report, const DemurEvaluating *e) {
  const DemurEvaluation *evaluation = e->evaluation;
  report->input.request = (DemurReportRequest){.n_selectors = e->n_selectors,
                                               .selectors = (const char *const *)e->names,
                                               .cohort = e->cohort->name,
                                               .split = evaluation->split,
                                               .seed = evaluation->seed,
                                               .n_resamples = evaluation->n_resamples,
                                               .n_bootstrap = e->n_bootstrap,
                                               .min_bin_size = evaluation->min_bin_size,
                                               .resample_unit = evaluation->resample_unit,
                                               .in_sample = e->allow_in_sample,
                                               .group_by = e->group_by,
                                               .net_benefit_threshold = e->net_benefit_threshold};
}

/* The subject's operating point of the report's coverage among the group's; NULL where it has none
 * or little is said of so small a group. */
static const DemurOperatingPoint *
group_point(const DemurReportFinding *finding, const DemurGroup *group) {
  for (size_t m = 0; m < group->n_methods; m++) {
    const DemurGroupMethod *method = &group->methods[m];
    if (strcmp(method->name, finding->subject->name) != 0 ||
        !method->recalibrated != !finding->subject->recalibrated)
      continue;
    for (size_t a = 0; a < method->n_at && finding->subject_at != NULL; a++)
      if (method->at[a].coverage == finding->subject_at->coverage &&
          !method->at[a].from_tune == !finding->subject_at->from_tune)
        return &method->at[a];
  }
  return NULL;
}

/* Who is refused: from the evaluation's groups. */
static void
describe_rejections(DemurReportTask *report) {
  const DemurEvaluation *e = report->input.evaluation;
  const DemurReportFinding finding = demur_finding(&report->input);
  DemurReportRejection *rejections = own(report, g_new0(DemurReportRejection, e->n_groups + 1));
  size_t n = 0;
  for (size_t g = 0; g < e->n_groups; g++) {
    const DemurGroup *group = &e->groups[g];
    DemurReportRejection *r = &rejections[n];
    *r = (DemurReportRejection){.attribute = group->by,
                                .name = group->value,
                                .n_scans = group->n_scans,
                                .tells = group->withheld,
                                .low = NAN,
                                .high = NAN};
    const DemurOperatingPoint *at = group_point(&finding, group);
    if (at == NULL && !group->withheld)
      continue;
    n++;
    if (at == NULL)
      continue;
    r->n_rejected = (size_t)llround((double)group->n_scans * (1.0 - at->realised));
    r->low = 1.0 - at->realised_interval.high;
    r->high = 1.0 - at->realised_interval.low;
    /* A bootstrap of none or all refused has no width; that of Wilson has. */
    if (!(r->high > r->low))
      demur_interval_wilson((double)r->n_rejected, (double)group->n_scans, 0.95, &r->low, &r->high);
  }
  report->input.rejections = rejections;
  report->input.n_rejections = n;
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
  for (size_t a = 0; a < input->n_audits; a++)
    if (g_strcmp0(input->audits[a].created, latest) > 0)
      latest = input->audits[a].created;
  return latest;
}

DemurReportTask *
demur_report_task_new(const DemurEvaluating *e, double coverage, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(e->cohort, e->evaluation->split, &n, error);
  if (rows == NULL)
    return NULL;
  DemurReportTask *report = g_new0(DemurReportTask, 1);
  report->owned = g_ptr_array_new_with_free_func(g_free);
  report->input.evaluation = e->evaluation;
  report->input.version = DEMUR_VERSION;
  report->input.coverage = coverage;
  describe_cohort(report, e, rows, n);
  describe_exclusions(report, e);
  describe_noticed(report, e);
  describe_audits(report, e);
  report->input.use = e->used != NULL ? &e->used->use : NULL;
  describe_selector(report, e);
  describe_thresholds(report, e);
  demur_task_read_validation(e->records[0]->validation, report->owned, &report->input.validation);
  describe_request(report, e);
  describe_rejections(report);
  report->input.created = latest_date(&report->input);
  report->input.log_head = own(report, g_strdup(e->log_head));
  report->input.kernel = demur_mlp_kernel()->name;
  return report;
}
