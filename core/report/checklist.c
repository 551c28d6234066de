/* Items are those of TRIPOD+AI (Collins et al., BMJ 2024; T), CLAIM (Mongan et al., Radiology: AI
 * 2020; C) and STARD 2015 (Bossuyt et al., BMJ 2015; S), which STARD-AI extends. The words are
 * ours. */
#include "report/checklist.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

typedef struct {
  GPtrArray *cells;
} Table;

static void
add(Table *table, char *text) {
  g_ptr_array_add(table->cells, text);
}

static void
add_pair(Table *table, const char *key, char *value) {
  add(table, g_strdup(key));
  add(table, value);
}

static void
finish(DemurLayout *layout, Table *table, size_t n_columns, const DemurLayoutColumn *columns) {
  demur_layout_table(layout, n_columns, columns, table->cells->len / n_columns,
                     (const char *const *)table->cells->pdata, NULL);
  g_ptr_array_unref(table->cells);
}

static Table
table_new(void) {
  return (Table){g_ptr_array_new_with_free_func(g_free)};
}

static const char *
or_unrecorded(const char *text) {
  return text && *text ? text : "not recorded";
}

static char *
open_item(const char *what) {
  return g_strdup_printf("For the author: %s", what);
}

/* "6,282 scans of 3,402 patients from 33 sites", owned. */
static char *
amount(size_t n_scans, size_t n_patients, size_t n_sites) {
  g_autofree char *scans = demur_text_counted(n_scans, "scan", "scans"),
                  *patients = demur_text_counted(n_patients, "patient", "patients"),
                  *sites = demur_text_counted(n_sites, "site", "sites");
  return g_strdup_printf("%s of %s from %s", scans, patients, sites);
}

static const char *
setting(const DemurReportInput *input, const char *key) {
  for (size_t i = 0; i < input->selector.n_settings; i++)
    if (g_strcmp0(input->selector.settings[i].key, key) == 0)
      return input->selector.settings[i].value;
  return NULL;
}

static char *
validation_words(const DemurReportValidation *v) {
  if (!v->verdict)
    return g_strdup("not tested on left-out sites (`demur validate`)");
  return v->sentence ? g_strdup(v->sentence)
                     : g_strdup_printf("on left-out sites, against confidence: %s", v->verdict);
}

static char *
threshold_words(const DemurReportInput *input) {
  if (input->n_thresholds == 0)
    return g_strdup("not tuned");
  const DemurReportThreshold *t = &input->thresholds[input->n_thresholds - 1];
  g_autofree char *coverage = demur_text_coverage(t->requested),
                  *threshold = demur_text_significant(t->threshold, 3),
                  *n = demur_text_counted(t->n, "scan", "scans");
  return g_strdup_printf("%s for a coverage of %s, tuned on %s (%s)", threshold, coverage,
                         or_unrecorded(t->split), n);
}

/* "error .031 (chance .022) at coverage 90.1 %", owned. */
static char *
result_words(const DemurReportFinding *f) {
  const DemurOperatingPoint *at = f->subject_at;
  if (!at)
    return g_strdup("no operating point evaluated");
  if (at->n_accepted == 0)
    return g_strdup("no scan is accepted at this threshold: nothing can be said of its risks");
  g_autofree char *error = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3),
                  *chance = demur_text_decimal(at->noise_floor, 3),
                  *coverage = demur_text_percent(at->realised, 1);
  return g_strdup_printf(
      "%s %s (chance alone: %s) among the %s accepted; %s",
      demur_text_measure(DEMUR_MEASURE_SBCE2, f->evaluation->n_classes), error, chance, coverage,
      f->compared ? demur_comparison_verdict_words(f->verdict) : "not compared with confidence");
}

void
demur_card_add(DemurLayout *layout, const DemurReportFinding *f) {
  const DemurReportInput *input = f->input;
  const DemurReportSelector *s = &input->selector;
  const DemurEvaluation *e = f->evaluation;
  demur_layout_page_break(layout, 0);
  demur_layout_text(layout, DEMUR_TEXT_SECTION, "Model card");
  Table table = table_new();
  add_pair(&table, "Name", g_strdup(or_unrecorded(s->name)));
  add_pair(&table, "What it is",
           g_strdup("A selector: it says for each scan whether the risk that another model gave it "
                    "should be shown. It gives no risk itself."));
  add_pair(&table, "Risk model it stands behind", g_strdup(or_unrecorded(s->model)));
  add_pair(&table, "Input",
           g_strdup_printf("the model's risk and embedding; features: %s",
                           or_unrecorded(setting(input, "features"))));
  add_pair(&table, "Output",
           g_strdup("a score from 0 to 1; accepted where it reaches the threshold"));
  add_pair(&table, "Threshold", threshold_words(input));
  add_pair(&table, "Recalibration of risks",
           g_strdup(or_unrecorded(setting(input, "recalibrate"))));
  g_autofree char *training =
      s->n_training_scans > 0
          ? amount(s->n_training_scans, s->n_training_patients, s->n_training_sites)
          : g_strdup("not recorded");
  add_pair(&table, "Trained on",
           g_strdup_printf("cohort %s: %s", or_unrecorded(s->cohort), training));
  add_pair(&table, "Reference set", g_strdup(or_unrecorded(s->reference_set)));
  add_pair(&table, "How",
           g_strdup_printf("calibrated selective classification (Fisch et al. 2022), %s",
                           s->as_published ? "settings as published"
                                           : "settings under “Method and provenance”"));
  add_pair(&table, "Validated", validation_words(&input->validation));
  g_autofree char *evaluated = amount(e->n_scans, e->n_patients, e->n_sites);
  add_pair(&table, "Evaluated here",
           g_strdup_printf("cohort %s, split %s: %s%s%s", e->cohort, e->split, evaluated,
                           e->simulated ? "; simulated data" : "",
                           e->in_sample ? "; in-sample" : ""));
  add_pair(&table, "Result", result_words(f));
  if (e->n_classes == 2 && f->subject_at) {
    g_autofree char *yes = demur_finding_label(input, 1), *no = demur_finding_label(input, 0),
                    *sick = demur_text_percent(demur_finding_rate(f->subject_at, 1), 1),
                    *well = demur_text_percent(demur_finding_rate(f->subject_at, 0), 1);
    add_pair(&table, "Whom it refuses",
             g_strdup_printf("%s of “%s”, %s of “%s”", sick, yes, well, no));
  }
  add_pair(&table, "Not meant for",
           g_strdup("scores of another model, scans unlike the reference set, decisions without a "
                    "reader; a guarantee at a site that the tuning split does not hold"));
  add_pair(&table, "Known limits",
           g_strdup("A calibrated risk is right on average over those who share it. Refusing more "
                    "does not make the rest right; a drift of scanners or patients is seen only by "
                    "watching the coverage reached."));
  add_pair(&table, "Status", g_strdup("for research use, not a cleared device"));
  add_pair(&table, "Made", s->created ? demur_text_date(s->created) : g_strdup("not recorded"));
  add_pair(&table, "Digest", g_strdup(or_unrecorded(s->digest)));
  add_pair(&table, "Intended use and users", open_item("the decision that follows a shown risk"));
  add_pair(&table, "Responsible", open_item("who maintains it, whom to ask, licence"));
  const DemurLayoutColumn columns[] = {{"Fact", FALSE, 120, FALSE}, {"Value", FALSE, 200, TRUE}};
  finish(layout, &table, 2, columns);
}

/* ---- the list ---- */

static void
item(Table *table, const char *name, const char *asked_by, char *here) {
  add(table, g_strdup(name));
  add(table, g_strdup(asked_by));
  add(table, here);
}

/* How many sites of the split the selector's training saw; owned. */
static char *
training_sites_words(const DemurReportCohort *c, const DemurEvaluation *e) {
  if (c->n_sites_in_training < 0)
    return open_item("whether sites of this split were seen in training is not known here");
  const size_t seen = (size_t)c->n_sites_in_training;
  if (e->n_sites == 1)
    return g_strdup_printf("the only site was %sseen in training", seen > 0 ? "" : "not ");
  g_autofree char *sites = demur_text_count(e->n_sites), *some = demur_text_count(seen);
  if (seen == 0)
    return g_strdup_printf("none of the %s sites was seen in training", sites);
  if (seen == e->n_sites)
    return g_strdup_printf("all %s sites were seen in training", sites);
  return g_strdup_printf("%s of the %s sites %s seen in training", some, sites,
                         seen == 1 ? "was" : "were");
}

static void
add_known(DemurLayout *layout, const DemurReportFinding *f) {
  const DemurReportInput *input = f->input;
  const DemurReportCohort *c = &input->cohort;
  const DemurEvaluation *e = f->evaluation;
  Table t = table_new();
  g_autofree char *size = amount(e->n_scans, e->n_patients, e->n_sites);
  item(&t, "Kind of study", "T1, C1, S1",
       g_strdup_printf("evaluation of a selector on cohort %s, split %s", e->cohort, e->split));
  item(
      &t, "Source of data", "T5a, C7",
      g_strdup_printf("%s; scores of model %s", or_unrecorded(c->source), or_unrecorded(c->model)));
  item(&t, "Scans left out", "T6b, C8, S6",
       c->n_exclusions > 0 ? g_strdup("counted by reason under “Cohort”")
       : c->exclusions_recorded
           ? g_strdup("none when the cohort was made; before that: for the author")
           : open_item("what was left out before the cohort was made is not recorded"));
  item(&t, "Splits and their separation", "T16, C20, C21",
       g_strdup_printf("%zu splits, no patient in two of them", c->n_splits));
  item(&t, "Sample size", "T10, C19, S18",
       g_strdup_printf("%s; what there was, no calculation", size));
  item(&t, "Outcome", "T8a, C14, S10b",
       c->label_rule ? g_strdup(c->label_rule)
                     : open_item("what label 1 means and over which time"));
  item(
      &t, "Missing data", "T11, C13, S16",
      g_strdup("scans without label or score are never evaluated; how many there were and why: for "
               "the author"));
  item(&t, "Model and its output", "T15, T22, C22, S10a",
       g_strdup_printf("risk model %s, %zu classes; selector under “Model card”",
                       or_unrecorded(e->model), e->n_classes));
  item(&t, "Training", "T12c, T21, C24–C27",
       g_strdup("all settings under “Method and provenance”"));
  item(&t, "Software", "C23",
       g_strdup_printf("Demur %s", input->version ? input->version : "(version not given)"));
  item(&t, "Threshold, set before or after", "S12a",
       input->n_thresholds > 0 ? g_strdup("tuned on another split, under “Threshold”")
                               : g_strdup("from this split's own scores, labels unseen"));
  item(&t, "Measures", "T12e, C28, S14", g_strdup("defined under “Method and provenance”"));
  item(
      &t, "Uncertainty", "T12e, C29, C36, S24",
      g_strdup("95\u00a0% intervals of differences and rates; plain binned errors have none, their "
               "noise floor stands beside them"));
  item(&t, "Fairness, subgroups", "T14, T23a, S17",
       input->n_rejections > 0 || e->n_groups > 0
           ? g_strdup("by site and each attribute asked for, under “Results”")
           : open_item("no subgroup was asked for (--group-by)"));
  item(&t, "Flow and numbers", "T20a, C33, S19", g_strdup("under “Cohort”"));
  item(&t, "Characteristics", "T20b, C34, S20",
       g_strdup("sites, scanners and outcome under “Cohort”; age, sex and others: for the author"));
  item(&t, "Other hospitals than in training", "T16, C32", training_sites_words(c, e));
  item(&t, "Performance", "T23a, C35, S23", g_strdup("under “Results”"));
  item(&t, "Differences between sites", "T23b", g_strdup("site error, under “Results”"));
  item(&t, "Results that are no answer", "C37, S15",
       g_strdup("refused scans: by label and subgroup, under “Results”"));
  item(&t, "Updating", "T24", g_strdup(or_unrecorded(setting(input, "recalibrate"))));
  item(&t, "Limits", "T26, C38, S26", g_strdup("under “Limits”"));
  item(&t, "Making it again", "T18f, C41",
       g_strdup("seed and digests under “Method and provenance”; `demur report verify`"));
  demur_layout_text(layout, DEMUR_TEXT_HEADING, "What the program knows");
  const DemurLayoutColumn columns[] = {
      {"Item", FALSE, 120, FALSE}, {"Asked by", FALSE, 76, FALSE}, {"Here", FALSE, 200, TRUE}};
  finish(layout, &t, 3, columns);
}

static void
add_open(DemurLayout *layout) {
  static const char *const items[][3] = {
      {"Abstract", "T2, C2, S2", "a structured summary"},
      {"Background", "T3, C3, S3", "the clinical question, existing models, inequalities of care"},
      {"Objectives", "T4, C4, S4", "aims and hypotheses, development or evaluation"},
      {"Design", "C5, C6, S5", "prospective or retrospective, goal of the study"},
      {"Setting and dates", "T5b, T6a, S8", "where, when, how long followed"},
      {"Eligibility", "T6b, C8, S6, S7", "whom, how found, consecutive or chosen"},
      {"Treatments", "T6c", "received before and after the scan"},
      {"Preparation", "T7, C9–C11", "of images and other data, alike for all groups"},
      {"De-identification", "C12", "how and by whom"},
      {"Reference standard", "T8, C15–C18, S11", "why it, who judged, tools, variability"},
      {"Blinding", "T8b, S13", "of those who judged to the risk, and the other way round"},
      {"Choice of predictors", "T9", "of the risk model"},
      {"Class imbalance", "T13", "whether and how handled in the risk model"},
      {"Explanation", "C31", "how the risk model's output is explained, if it is"},
      {"Robustness", "C30", "further analyses of the risk model"},
      {"Severity and timing", "S21, S22, S25", "of disease, interval to the outcome, harms"},
      {"Ethics", "T17", "approval, consent"},
      {"Funding, interests", "T18a, T18b, C42, S30", "sources, roles, conflicts"},
      {"Protocol, registration", "T18c, T18d, C40, C41, S28, S29", "where to be read"},
      {"Data and code", "T18e, T18f", "of the risk model and the cohort: whether and where shared"},
      {"Patients and public", "T19", "how involved"},
      {"Interpretation", "T25, C39, S27",
       "in the light of other studies, implications for practice"},
      {"Use in care", "T27", "poor input, skills needed, next steps"},
  };
  Table t = table_new();
  for (size_t i = 0; i < G_N_ELEMENTS(items); i++)
    for (size_t k = 0; k < 3; k++)
      add(&t, g_strdup(items[i][k]));
  demur_layout_text(layout, DEMUR_TEXT_HEADING, "What only the author can add");
  const DemurLayoutColumn columns[] = {
      {"Item", FALSE, 120, FALSE}, {"Asked by", FALSE, 76, FALSE}, {"Open", FALSE, 200, TRUE}};
  finish(layout, &t, 3, columns);
}

void
demur_checklist_add(DemurLayout *layout, const DemurReportFinding *f) {
  demur_layout_page_break(layout, 0);
  demur_layout_text(layout, DEMUR_TEXT_SECTION, "Reporting guidelines");
  demur_layout_text(layout, DEMUR_TEXT_BODY,
                    "Items of TRIPOD+AI (T), CLAIM 2020 (C) and STARD 2015 (S), which STARD-AI "
                    "extends. A place in this report is no claim that the item is fulfilled.");
  add_known(layout, f);
  add_open(layout);
}
