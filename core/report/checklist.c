/* Items by number: TRIPOD+AI (Collins et al., BMJ 2024;385:e078378), CLAIM 2024 (Tejani et al.,
 * Radiology: Artificial Intelligence 2024;6:e240300) and STARD-AI (Sounderajah et al., Nature
 * Medicine 2025;31:3283). The words are ours; numbers were checked against public transcriptions of
 * the three lists, and the page says so.
 *
 * What the program knows is a fact; each item names the fact that answers it, or none. */
#include "report/section.h"

#include "report/format.h"
#include "report/withheld.h"

#include <math.h>

typedef enum {
  OPEN, /* for the author */
  KIND,
  ABSTRACT,
  SOURCE,
  DATES,
  SETTING,
  EXCLUSIONS,
  SPLITS,
  SIZE,
  OUTCOME,
  MISSING,
  INPUTS,
  PREDICTIONS,
  TRAINING,
  SELECTION,
  AVERAGE,
  SOFTWARE,
  THRESHOLD,
  MEASURES,
  UNCERTAINTY,
  SUBGROUPS,
  FLOW,
  CHARACTERISTICS,
  NUMBERS,
  SCANNERS,
  SPECIFICATION,
  OTHER_SITES,
  INTERNAL,
  EXTERNAL,
  PERFORMANCE,
  REJECTIONS,
  SITES,
  NO_ANSWER,
  UPDATING,
  LIMITS,
  REPEATING,
  STORED,
  N_FACTS,
} Fact;

typedef struct {
  const char *number, *name;
  Fact fact;
} Item;

static const Item tripod[] = {
    {"1", "Title: kind of study, population, outcome", KIND},
    {"2", "Abstract", ABSTRACT},
    {"3a", "Background: context, existing models", OPEN},
    {"3b", "Target population, purpose, users", OPEN},
    {"3c", "Known inequalities between groups", OPEN},
    {"4", "Objectives", OPEN},
    {"5a", "Data: sources, why these, how representative", SOURCE},
    {"5b", "Dates of accrual and follow-up", DATES},
    {"6a", "Setting, number and place of centres", SETTING},
    {"6b", "Eligibility", EXCLUSIONS},
    {"6c", "Treatments received", OPEN},
    {"7", "Data preparation and quality checks", OPEN},
    {"8a", "Outcome, time horizon, how assessed", OUTCOME},
    {"8b", "Who assessed the outcome", OPEN},
    {"8c", "Blinding of the outcome's assessment", OPEN},
    {"9a", "Choice of initial predictors", OPEN},
    {"9b", "Predictors: definition and measurement", INPUTS},
    {"9c", "Who assessed predictors", OPEN},
    {"10", "Sample size", SIZE},
    {"11", "Missing data", MISSING},
    {"12a", "How data were used and partitioned", SPLITS},
    {"12b", "How predictors were handled", INPUTS},
    {"12c", "Type of model, building, tuning, internal validation", TRAINING},
    {"12d", "Heterogeneity across clusters: how handled", SITES},
    {"12e", "Measures and plots of performance", MEASURES},
    {"12f", "Model updating: how", UPDATING},
    {"12g", "How predictions were calculated", PREDICTIONS},
    {"13", "Class imbalance", OPEN},
    {"14", "Fairness: approaches", SUBGROUPS},
    {"15", "Model output, how thresholds were found", THRESHOLD},
    {"16", "Training versus evaluation: differences", OTHER_SITES},
    {"17", "Ethical approval, consent", OPEN},
    {"18a", "Funding", OPEN},
    {"18b", "Conflicts of interest", OPEN},
    {"18c", "Protocol", OPEN},
    {"18d", "Registration", OPEN},
    {"18e", "Data sharing", OPEN},
    {"18f", "Code sharing", REPEATING},
    {"19", "Patient and public involvement", OPEN},
    {"20a", "Participants: flow, outcomes, follow-up", FLOW},
    {"20b", "Characteristics, by source and setting", CHARACTERISTICS},
    {"20c", "Comparison with the development data", NUMBERS},
    {"21", "Participants and events in each analysis", NUMBERS},
    {"22", "Model specification", SPECIFICATION},
    {"23a", "Performance with intervals, by key subgroup", PERFORMANCE},
    {"23b", "Heterogeneity across clusters: results", SITES},
    {"24", "Model updating: results", UPDATING},
    {"25", "Interpretation", OPEN},
    {"26", "Limitations", LIMITS},
    {"27a", "Poor or unavailable input", NO_ANSWER},
    {"27b", "What users do, expertise they need", OPEN},
    {"27c", "Next steps", OPEN},
};

static const Item claim[] = {
    {"1", "Title or abstract: AI method named", KIND},
    {"2", "Structured abstract", ABSTRACT},
    {"3", "Background, intended use and role", OPEN},
    {"4", "Aims, objectives, hypotheses", OPEN},
    {"5", "Prospective or retrospective", OPEN},
    {"6", "Study goal", KIND},
    {"7", "Data sources", SOURCE},
    {"8", "Inclusion and exclusion criteria", EXCLUSIONS},
    {"9", "Preprocessing", OPEN},
    {"10", "Selection of data subsets", SPLITS},
    {"11", "De-identification", OPEN},
    {"12", "Missing data", MISSING},
    {"13", "Image acquisition protocol", SCANNERS},
    {"14", "Reference standard: definition", OUTCOME},
    {"15", "Reference standard: why this one", OPEN},
    {"16", "Source of its annotations", OPEN},
    {"17", "Annotation of the test set", OPEN},
    {"18", "Variability between and within raters", OPEN},
    {"19", "How data were assigned to partitions", SPLITS},
    {"20", "Level at which partitions are disjoint", SPLITS},
    {"21", "Intended sample size", SIZE},
    {"22", "Description of the model", SPECIFICATION},
    {"23", "Software and versions", SOFTWARE},
    {"24", "Initialisation of parameters", TRAINING},
    {"25", "Training", TRAINING},
    {"26", "How the final model was selected", SELECTION},
    {"27", "Ensembling", AVERAGE},
    {"28", "Metrics", MEASURES},
    {"29", "Significance and uncertainty", UNCERTAINTY},
    {"30", "Robustness or sensitivity", OPEN},
    {"31", "Explainability", OPEN},
    {"32", "Evaluation on internal data", INTERNAL},
    {"33", "Testing on external data", EXTERNAL},
    {"34", "Registration of a clinical trial", OPEN},
    {"35", "Numbers included and excluded", FLOW},
    {"36", "Characteristics in each partition", CHARACTERISTICS},
    {"37", "Performance and its uncertainty", PERFORMANCE},
    {"38", "Diagnostic performance and its precision", PERFORMANCE},
    {"39", "Failure analysis", REJECTIONS},
    {"40", "Limitations", LIMITS},
    {"41", "Implications for practice", OPEN},
    {"42", "Full protocol or technical details", REPEATING},
    {"43", "Availability of software, model, data", SPECIFICATION},
    {"44", "Funding, role of funders", OPEN},
};

static const Item stard[] = {
    {"1", "Title: AI-centred accuracy, a measure named", KIND},
    {"2", "Structured abstract", ABSTRACT},
    {"3", "Background, intended use, workflow", OPEN},
    {"4", "Objectives and hypotheses", OPEN},
    {"5", "Prospective or retrospective", OPEN},
    {"6", "Ethical approval", OPEN},
    {"7", "Eligibility of participants and of data", EXCLUSIONS},
    {"8", "How participants were identified", OPEN},
    {"9", "Setting, place, dates", SETTING},
    {"10", "Consecutive, random or convenience series", OPEN},
    {"11", "Source of the data", SOURCE},
    {"12", "Who annotated, and how", OPEN},
    {"13", "Devices; software of the index test", SCANNERS},
    {"14", "Acquisition protocols, preprocessing", OPEN},
    {"15a", "Index test, to be repeated", SPECIFICATION},
    {"15b", "How the index test was developed", TRAINING},
    {"15c", "Its cut-offs, set before or after", THRESHOLD},
    {"15d", "Its users and their expertise", OPEN},
    {"16a", "Reference standard", OUTCOME},
    {"16b", "Why this reference standard", OPEN},
    {"16c", "Its cut-offs", OPEN},
    {"17a", "Blinding of the index test", OPEN},
    {"17b", "Blinding of the reference standard", OPEN},
    {"18", "Methods of estimating and comparing", MEASURES},
    {"19", "Indeterminate results", NO_ANSWER},
    {"20", "Missing data", MISSING},
    {"21", "Analyses of variability", SUBGROUPS},
    {"22", "Sample size", SIZE},
    {"23", "Error analysis, bias and fairness", SUBGROUPS},
    {"24", "Flow of participants", FLOW},
    {"25", "Characteristics of each partition", CHARACTERISTICS},
    {"26a", "Severity in those with the condition", OPEN},
    {"26b", "Other diagnoses in those without", OPEN},
    {"27", "Interval and interventions between tests", OPEN},
    {"28", "Whether the data represent the intended use", OPEN},
    {"29", "How external data differ", OTHER_SITES},
    {"30", "Results by reference standard", REJECTIONS},
    {"31", "Accuracy and its precision", PERFORMANCE},
    {"32", "Adverse events", OPEN},
    {"33", "Limitations", LIMITS},
    {"34", "Implications for practice", OPEN},
    {"35", "Ethical considerations, fairness", OPEN},
    {"36", "Registration", OPEN},
    {"37", "Protocol", OPEN},
    {"38", "Funding", OPEN},
    {"39", "Commercial interests", OPEN},
    {"40a", "Availability of data and code", REPEATING},
    {"40b", "Whether outputs are stored and auditable", STORED},
};

/* How many sites of the split the selector's training saw; owned. */
static char *
training_sites(const DemurReportCohort *c, const DemurEvaluation *e) {
  if (c->n_sites_in_training < 0)
    return g_strdup("whether sites of this split were seen in training: for the author");
  const size_t seen = (size_t)c->n_sites_in_training;
  if (e->n_sites == 1)
    return g_strdup_printf("its only site was %sseen in training", seen > 0 ? "" : "not ");
  g_autofree char *sites = demur_text_count(e->n_sites), *some = demur_text_count(seen);
  if (seen == 0)
    return g_strdup_printf("none of its %s sites was seen in training", sites);
  if (seen == e->n_sites)
    return g_strdup_printf("all %s sites were seen in training", sites);
  return g_strdup_printf("%s of its %s sites %s seen in training", some, sites,
                         seen == 1 ? "was" : "were");
}

/* ---- what the report holds: an item may only point to what is there ---- */

static gboolean
has_interval(DemurInterval interval) {
  return isfinite(interval.low) && isfinite(interval.high);
}

/* Differences between methods with an interval. */
static gboolean
has_compared(const DemurEvaluation *e) {
  for (size_t i = 0; i < e->n_comparisons; i++)
    if (isfinite(e->comparisons[i].low) && isfinite(e->comparisons[i].high))
      return TRUE;
  return FALSE;
}

/* Rates of refusal by label with an interval. */
static gboolean
has_rates(const DemurReportFinding *f) {
  const DemurOperatingPoint *at = f->subject_at;
  for (size_t l = 0; at && l < at->n_labels; l++)
    if (isfinite(at->rejected_by_label[l].rate_low) && isfinite(at->rejected_by_label[l].rate_high))
      return TRUE;
  return FALSE;
}

static gboolean
has_refusals(const DemurReportFinding *f) {
  return f->subject_at && f->subject_at->n_labels > 0 && f->subject != f->full;
}

/* Calibration of what is shown with an interval. */
static gboolean
has_performance(const DemurReportFinding *f) {
  const DemurOperatingPoint *at = f->subject_at;
  return at && (has_interval(at->intervals[DEMUR_MEASURE_OE_RATIO]) ||
                has_interval(at->debiased_interval));
}

/* Adds by to the list "site, sex" unless it is there. */
static void
add_name(GString *names, const char *by) {
  g_auto(GStrv) there = g_strsplit(names->str, ", ", -1);
  if (!g_strv_contains((const char *const *)there, by))
    g_string_append_printf(names, "%s%s", names->len ? ", " : "", by);
}

/* The subgroups that results were printed by: a group that is not withheld; owned, "" for none. */
static char *
subgroups(const DemurReportFinding *f) {
  GString *names = g_string_new(NULL);
  g_autofree gboolean *withheld =
      demur_withheld_rejections(f->input->rejections, f->input->n_rejections);
  for (size_t i = 0; i < f->input->n_rejections; i++)
    if (!withheld[i])
      add_name(names, f->input->rejections[i].attribute);
  for (size_t g = 0; g < f->evaluation->n_groups; g++)
    if (!f->evaluation->groups[g].withheld)
      add_name(names, f->evaluation->groups[g].by);
  return g_string_free(names, FALSE);
}

static gboolean
has_subgroup(const DemurReportFinding *f, const char *by) {
  g_autofree char *names = subgroups(f);
  g_auto(GStrv) there = g_strsplit(names, ", ", -1);
  return g_strv_contains((const char *const *)there, by);
}

/* The parts that are there, "a, b" (owned); otherwise none. */
static char *
parts_words(const char *none, const char *after, const gboolean *there, const char *const *parts,
            size_t n) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t i = 0; i < n; i++)
    if (there[i])
      g_string_append_printf(text, "%s%s", text->len ? ", " : "", parts[i]);
  return text->len ? g_strdup_printf("%s%s", text->str, after) : g_strdup(none);
}

static char *
cohort_words(const DemurReportFinding *f, Fact fact) {
  const DemurReportCohort *c = &f->input->cohort;
  const DemurEvaluation *e = f->evaluation;
  switch (fact) {
  case SOURCE:
    return g_strdup_printf("%s; scores of model %s", demur_text_recorded(c->source),
                           demur_text_recorded(c->model));
  case DATES:
    return c->n_follow_up > 0 ? g_strdup("follow-up under “Cohort”; dates: for the author")
                              : g_strdup("for the author");
  case SETTING: {
    g_autofree char *n = demur_text_counted(e->n_sites, "site", "sites");
    return g_strdup_printf("%s%s; setting, place, dates: for the author", n,
                           c->n_sites > 0 ? ", under “Cohort”" : "");
  }
  case EXCLUSIONS:
    return c->n_exclusions > 0
               ? g_strdup("what was left out, by reason, under “Cohort”; criteria: for the author")
           : c->exclusions_recorded
               ? g_strdup("nothing was left out at import; criteria: for the author")
               : g_strdup("for the author; what was left out is not recorded");
  case SPLITS:
    return c->n_splits > 0
               ? g_strdup_printf("%zu splits under “Cohort”, no patient in two of them; how they "
                                 "were drawn: for the author",
                                 c->n_splits)
               : g_strdup("for the author; splits are not recorded");
  case SIZE: {
    g_autofree char *size = demur_section_amount(e->n_scans, e->n_patients, e->n_sites);
    return g_strdup_printf("%s: what there was, no calculation", size);
  }
  case OUTCOME:
    return c->label_rule ? g_strdup(c->label_rule)
                         : g_strdup("for the author: what label 1 means, over which time");
  case CHARACTERISTICS: {
    const gboolean there[] = {c->n_characteristics > 0 && c->n_splits > 0, c->n_sites > 0,
                              c->n_scanners > 0, c->n_splits > 0};
    static const char *const parts[] = {"what the table recorded, by split", "sites", "scanners",
                                        "outcome by split"};
    return parts_words("for the author", ", under “Cohort”; others: for the author", there, parts,
                       G_N_ELEMENTS(parts));
  }
  case NUMBERS:
    return c->n_splits > 0
               ? g_strdup("scans, patients and outcome of each split under “Cohort”")
               : g_strdup("scans and patients of the evaluated split under “Cohort”; of others: "
                          "for the author");
  case SCANNERS:
    return c->n_scanners > 0 ? g_strdup("scanners under “Cohort”; protocol: for the author")
                             : g_strdup("for the author; no scanner is recorded");
  default:
    g_return_val_if_reached(NULL);
  }
}

static char *
selector_words(const DemurReportFinding *f, Fact fact) {
  const DemurReportInput *input = f->input;
  const char *recalibrate = demur_section_setting(input, "recalibrate");
  switch (fact) {
  case INPUTS: {
    g_autofree char *features =
        demur_section_setting_words(demur_section_setting(input, "features"));
    return g_strdup_printf("of the selector: features %s of the model's output; of the risk model: "
                           "for the author",
                           features);
  }
  case PREDICTIONS:
    return g_strdup_printf("by model %s, outside this program; recalibration: %s",
                           demur_text_recorded(f->evaluation->model),
                           demur_text_recorded(recalibrate));
  case TRAINING:
    return input->selector.n_settings > 0
               ? g_strdup("of the selector: all settings under “Method and provenance”; of the "
                          "risk model: for the author")
               : g_strdup("for the author; no setting of the selector's training is recorded");
  case SELECTION:
    return g_strdup_printf("of the selector: stopping %s; of the risk model: for the author",
                           demur_text_recorded(demur_section_setting(input, "stopping")));
  case AVERAGE:
    return g_strdup_printf("of the selector: average of %s; of the risk model: for the author",
                           demur_text_recorded(demur_section_setting(input, "average")));
  case SOFTWARE:
    return g_strdup_printf("Demur %s; of the risk model: for the author",
                           input->version ? input->version : "(version not given)");
  case THRESHOLD: {
    if (!f->threshold || !f->tuned)
      return g_strdup("score from 0 to 1; threshold from this split's own scores, labels unseen");
    const gboolean here = g_strcmp0(f->threshold->cohort, f->evaluation->cohort) == 0 &&
                          g_strcmp0(f->threshold->split, f->evaluation->split) == 0;
    return g_strdup_printf("score from 0 to 1; threshold tuned on %s, under “Threshold”",
                           here ? "this very split" : "another split");
  }
  case SPECIFICATION:
    return g_strdup_printf("of the selector: its file (“demur selector export”)%s; of the risk "
                           "model: for the author",
                           input->selector.digest ? ", digest in the model card" : "");
  case UPDATING:
    return g_strdup_printf("recalibration: %s%s", demur_text_recorded(recalibrate),
                           input->n_audits > 0 ? "; site audits under “Site audits”" : "");
  default:
    g_return_val_if_reached(NULL);
  }
}

static char *
result_words(const DemurReportFinding *f, Fact fact) {
  switch (fact) {
  case UNCERTAINTY: {
    const gboolean there[] = {has_compared(f->evaluation), has_rates(f), has_performance(f)};
    static const char *const parts[] = {"differences", "rates of refusal", "calibration"};
    g_autofree char *of = parts_words("none is given", "", there, parts, G_N_ELEMENTS(parts));
    return g_strdup_printf("95\u00a0%% intervals: %s; binned errors stand beside their noise floor",
                           of);
  }
  case SUBGROUPS: {
    g_autofree char *names = subgroups(f);
    return *names ? g_strdup_printf("by %s, under “Results”", names)
                  : g_strdup("no subgroup is shown here");
  }
  case PERFORMANCE: {
    g_autofree char *names = subgroups(f);
    if (!f->subject_at)
      return g_strdup("no operating point was evaluated");
    return g_strdup_printf("under “Results”%s%s%s", has_performance(f) ? ", with intervals" : "",
                           *names ? ", by " : "; by subgroup: not in this report", names);
  }
  case REJECTIONS:
    return has_refusals(f)
               ? g_strdup("refused scans by label, under “Results”; single cases: for the author")
               : g_strdup("for the author");
  case SITES: {
    const gboolean error =
        f->subject_at && isfinite(f->subject_at->measures[DEMUR_MEASURE_SITE_ERROR]);
    const gboolean there[] = {error, has_subgroup(f, "site")};
    static const char *const parts[] = {"site error", "results by site"};
    return parts_words("not in this report", ", under “Results”", there, parts,
                       G_N_ELEMENTS(parts));
  }
  case NO_ANSWER:
    return g_strdup_printf("a refused, unscored or unfit scan shows no risk%s",
                           has_refusals(f) ? "; refusals under “Results”" : "");
  default:
    g_return_val_if_reached(NULL);
  }
}

/* Where the data come from, as the training saw them or not. */
static char *
data_words(const DemurReportFinding *f, Fact fact) {
  const DemurReportCohort *c = &f->input->cohort;
  g_autofree char *sites = training_sites(c, f->evaluation);
  if (fact == INTERNAL && c->n_sites_in_training <= 0)
    return g_strdup(c->n_sites_in_training == 0 ? "not in this report: see external data"
                                                : "for the author");
  if (fact == EXTERNAL && c->n_sites_in_training != 0)
    return g_strdup_printf("%s; other data: for the author", sites);
  return g_steal_pointer(&sites);
}

/* What stands beside an item, owned. */
static char *
fact_words(const DemurReportFinding *f, Fact fact) {
  static const char *const always[N_FACTS] = {
      [OPEN] = "for the author",
      [ABSTRACT] = "for the author; the first page's paragraph may be quoted",
      [MISSING] =
          "scans without label or score are not evaluated; why they lack it: for the author",
      [MEASURES] = "defined under “Method and provenance”",
      [FLOW] = "under “Cohort”",
      [LIMITS] = "of the method, under “Limits”; of the study: for the author",
      [REPEATING] = "seed and digests under “Method and provenance”, “demur report verify”; what "
                    "is shared: for the author",
      [STORED] = "verdicts stay in the workspace with the selector's digest (“demur export”)"};
  if (always[fact])
    return g_strdup(always[fact]);
  switch (fact) {
  case KIND:
    return g_strdup_printf("evaluation of a selector on cohort %s, split %s", f->evaluation->cohort,
                           f->evaluation->split);
  case SOURCE:
  case DATES:
  case SETTING:
  case EXCLUSIONS:
  case SPLITS:
  case SIZE:
  case OUTCOME:
  case CHARACTERISTICS:
  case NUMBERS:
  case SCANNERS:
    return cohort_words(f, fact);
  case UNCERTAINTY:
  case SUBGROUPS:
  case PERFORMANCE:
  case REJECTIONS:
  case SITES:
  case NO_ANSWER:
    return result_words(f, fact);
  case OTHER_SITES:
  case INTERNAL:
  case EXTERNAL:
    return data_words(f, fact);
  default:
    return selector_words(f, fact);
  }
}

static const struct {
  const char *name, *heading;
  const Item *items;
  size_t n;
} lists[] = {
    {"TRIPOD+AI", "TRIPOD+AI (2024, 27 items)", tripod, G_N_ELEMENTS(tripod)},
    {"CLAIM", "CLAIM (2024 update, 44 items)", claim, G_N_ELEMENTS(claim)},
    {"STARD-AI", "STARD-AI (2025, 40 items)", stard, G_N_ELEMENTS(stard)},
};

char *
demur_section_checklist_words(const DemurReportFinding *f, const char *list, const char *number) {
  for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
    for (size_t i = 0; i < lists[l].n; i++)
      if (g_str_equal(lists[l].name, list) && g_str_equal(lists[l].items[i].number, number))
        return fact_words(f, lists[l].items[i].fact);
  return NULL;
}

static void
add_list(DemurPages *p, const char *heading, const Item *items, size_t n) {
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < n; i++) {
    demur_rows_cell(&rows, g_strdup(items[i].number));
    demur_rows_cell(&rows, g_strdup(items[i].name));
    demur_rows_cell(&rows, fact_words(&p->finding, items[i].fact));
    demur_rows_end(&rows, FALSE);
  }
  demur_layout_text(p->layout, DEMUR_TEXT_HEADING, heading);
  const DemurLayoutColumn columns[] = {
      {"No.", FALSE, 30, FALSE}, {"Item", FALSE, 150, FALSE}, {"Here", FALSE, 220, TRUE}};
  demur_rows_table(p, &rows, G_N_ELEMENTS(columns), columns);
}

void
demur_section_checklist(DemurPages *p) {
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Reporting guidelines");
  demur_layout_text(
      p->layout, DEMUR_TEXT_BODY,
      "Every item of three lists, in short words of our own: what this report holds on it, or that "
      "it is for the author. A place in this report is no claim that the item is fulfilled.");
  demur_layout_text(
      p->layout, DEMUR_TEXT_NOTE,
      "Numbers and names were checked against public transcriptions, not against the journals' own "
      "pages: of TRIPOD+AI one (of the checklist of 11 January 2024), of CLAIM 2024 two that "
      "agree, "
      "of STARD-AI one. Complete the official lists for a submission.");
  for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
    add_list(p, lists[l].heading, lists[l].items, lists[l].n);
}
