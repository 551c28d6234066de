/* Items by number: TRIPOD+AI (Collins et al., BMJ 2024;385:e078378), CLAIM 2024 (Tejani et al.,
 * Radiology: Artificial Intelligence 2024;6:e240300) and STARD-AI (Sounderajah et al., Nature
 * Medicine 2025;31:3283). The words are ours; numbers were checked against public transcriptions of
 * the three lists, and the page says so.
 *
 * What the program knows is a fact; each item names the fact that answers it, or none. */
#include "report/section.h"

#include "report/format.h"

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

/* What stands beside an item, owned. */
static char *
fact_words(const DemurReportFinding *f, Fact fact) {
  const DemurReportInput *input = f->input;
  const DemurReportCohort *c = &input->cohort;
  const DemurEvaluation *e = f->evaluation;
  g_autofree char *sites = training_sites(c, e);
  switch (fact) {
  case OPEN:
    return g_strdup("for the author");
  case KIND:
    return g_strdup_printf("evaluation of a selector on cohort %s, split %s", e->cohort, e->split);
  case ABSTRACT:
    return g_strdup("for the author; the first page's paragraph may be quoted");
  case SOURCE:
    return g_strdup_printf("%s; scores of model %s", demur_text_recorded(c->source),
                           demur_text_recorded(c->model));
  case DATES:
    return c->n_follow_up > 0 ? g_strdup("follow-up under “Cohort”; dates: for the author")
                              : g_strdup("for the author");
  case SETTING: {
    g_autofree char *n = demur_text_counted(e->n_sites, "site", "sites");
    return g_strdup_printf("%s, under “Cohort”; setting, place, dates: for the author", n);
  }
  case EXCLUSIONS:
    return c->n_exclusions > 0
               ? g_strdup("what was left out, by reason, under “Cohort”; criteria: for the author")
           : c->exclusions_recorded
               ? g_strdup("nothing was left out at import; criteria: for the author")
               : g_strdup("for the author; what was left out is not recorded");
  case SPLITS:
    return g_strdup_printf("%zu splits under “Cohort”, no patient in two of them; how they were "
                           "drawn: for the author",
                           c->n_splits);
  case SIZE: {
    g_autofree char *size = demur_section_amount(e->n_scans, e->n_patients, e->n_sites);
    return g_strdup_printf("%s: what there was, no calculation", size);
  }
  case OUTCOME:
    return c->label_rule ? g_strdup(c->label_rule)
                         : g_strdup("for the author: what label 1 means, over which time");
  case MISSING:
    return g_strdup("scans without label or score are not evaluated; why they lack it: for the "
                    "author");
  case INPUTS:
    return g_strdup_printf("of the selector: the model's risk and embedding, features %s; of the "
                           "risk model: for the author",
                           demur_text_recorded(demur_section_setting(input, "features")));
  case PREDICTIONS:
    return g_strdup_printf("by model %s, outside this program; recalibration: %s",
                           demur_text_recorded(e->model),
                           demur_text_recorded(demur_section_setting(input, "recalibrate")));
  case TRAINING:
    return g_strdup("of the selector: all settings under “Method and provenance”; of the risk "
                    "model: for the author");
  case SELECTION:
    return g_strdup_printf("of the selector: stopping %s; of the risk model: for the author",
                           demur_text_recorded(demur_section_setting(input, "stopping")));
  case AVERAGE:
    return g_strdup_printf("of the selector: average of %s; of the risk model: for the author",
                           demur_text_recorded(demur_section_setting(input, "average")));
  case SOFTWARE:
    return g_strdup_printf("Demur %s; of the risk model: for the author",
                           input->version ? input->version : "(version not given)");
  case THRESHOLD:
    return input->n_thresholds > 0
               ? g_strdup("score from 0 to 1; threshold tuned on another split, under “Threshold”")
               : g_strdup("score from 0 to 1; threshold from this split's own scores, labels "
                          "unseen");
  case MEASURES:
    return g_strdup("defined under “Method and provenance”");
  case UNCERTAINTY:
    return g_strdup("95\u00a0% intervals of differences and rates; binned errors stand beside "
                    "their noise floor");
  case SUBGROUPS:
    return input->n_rejections > 0 || e->n_groups > 0
               ? g_strdup("refusals and calibration by site and each attribute asked for, under "
                          "“Results”")
               : g_strdup("no subgroup was asked for (--group-by)");
  case FLOW:
    return g_strdup("under “Cohort”");
  case CHARACTERISTICS:
    return g_strdup("sites, scanners, outcome under “Cohort”; age, sex and others: for the author");
  case NUMBERS:
    return g_strdup("scans, patients and outcome of each split under “Cohort”");
  case SCANNERS:
    return c->n_scanners > 0 ? g_strdup("scanners under “Cohort”; protocol: for the author")
                             : g_strdup("for the author; no scanner is recorded");
  case SPECIFICATION:
    return g_strdup("of the selector: its file (`demur selector export`), digest in the model "
                    "card; of the risk model: for the author");
  case OTHER_SITES:
    return g_steal_pointer(&sites);
  case INTERNAL:
    return c->n_sites_in_training > 0 ? g_steal_pointer(&sites)
                                      : g_strdup("not in this report: see external data");
  case EXTERNAL:
    return c->n_sites_in_training == 0 ? g_steal_pointer(&sites)
                                       : g_strdup_printf("%s; other data: for the author", sites);
  case PERFORMANCE:
    return g_strdup("under “Results”, with intervals and by subgroup");
  case REJECTIONS:
    return g_strdup("refused scans by label, under “Results”; single cases: for the author");
  case SITES:
    return g_strdup("site error and results by site, under “Results”");
  case NO_ANSWER:
    return g_strdup("a refused, unscored or unfit scan shows no risk; refusals under “Results”");
  case UPDATING:
    return g_strdup_printf("recalibration: %s%s",
                           demur_text_recorded(demur_section_setting(input, "recalibrate")),
                           input->n_audits > 0 ? "; site audits under “Threshold”" : "");
  case LIMITS:
    return g_strdup("of the method, under “Limits”; of the study: for the author");
  case REPEATING:
    return g_strdup("seed and digests under “Method and provenance”, `demur report verify`; what "
                    "is shared: for the author");
  case STORED:
    return g_strdup("verdicts stay in the workspace with the selector's digest (`demur export`)");
  default:
    g_return_val_if_reached(NULL);
  }
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
  demur_layout_page_break(p->layout, 0);
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
  add_list(p, "TRIPOD+AI (2024, 27 items)", tripod, G_N_ELEMENTS(tripod));
  add_list(p, "CLAIM (2024 update, 44 items)", claim, G_N_ELEMENTS(claim));
  add_list(p, "STARD-AI (2025, 40 items)", stard, G_N_ELEMENTS(stard));
}
