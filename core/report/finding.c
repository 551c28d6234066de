#include "report/finding.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

#define SAME_COVERAGE 1e-9
#define SAME_REALISED 0.005 /* coverages reached: apart they are not set beside each other */

const DemurOperatingPoint *
demur_finding_at(const DemurMethodResult *method, double coverage, gboolean from_tune) {
  if (!method)
    return NULL;
  /* A coverage tuned again: the last one is current. */
  for (size_t i = method->n_at; i-- > 0;)
    if (!method->at[i].from_tune == !from_tune &&
        fabs(method->at[i].coverage - coverage) < SAME_COVERAGE)
      return &method->at[i];
  return NULL;
}

const DemurOperatingPoint *
demur_finding_group_at(const DemurReportFinding *f, const DemurGroup *group) {
  for (size_t m = 0; m < group->n_methods; m++) {
    const DemurGroupMethod *method = &group->methods[m];
    if (!g_str_equal(method->name, f->subject->name) ||
        !method->recalibrated != !f->subject->recalibrated)
      continue;
    for (size_t a = 0; a < method->n_at && f->subject_at; a++)
      if (method->at[a].coverage == f->subject_at->coverage &&
          !method->at[a].from_tune == !f->subject_at->from_tune)
        return &method->at[a];
  }
  return NULL;
}

DemurHeterogeneity
demur_finding_heterogeneity(const DemurReportFinding *f, size_t from, size_t to) {
  const size_t n = to - from;
  g_autofree double *values = g_new(double, n + 1), *errors = g_new(double, n + 1);
  for (size_t i = 0; i < n; i++) {
    const DemurOperatingPoint *at = demur_finding_group_at(f, &f->evaluation->groups[from + i]);
    const DemurInterval interval =
        at ? at->intervals[DEMUR_MEASURE_OE_RATIO] : (DemurInterval){NAN, NAN};
    values[i] = at ? log(at->measures[DEMUR_MEASURE_OE_RATIO]) : NAN;
    errors[i] = (log(interval.high) - log(interval.low)) / (2 * 1.959963984540054);
  }
  return demur_heterogeneity(values, errors, n);
}

double
demur_finding_rate(const DemurOperatingPoint *at, size_t label) {
  return at && label < at->n_labels ? at->rejected_by_label[label].rate : NAN;
}

char *
demur_finding_rate_text(const DemurOperatingPoint *at, size_t label) {
  return at && label < at->n_labels && at->rejected_by_label[label].withheld
             ? g_strdup("withheld")
             : demur_text_percent(demur_finding_rate(at, label), 1);
}

char *
demur_finding_measure_text(const DemurOperatingPoint *at, DemurMeasure measure, int decimals) {
  return at->n_counted == 0 && at->n_accepted > 0 &&
                 demur_measure_row(measure)->tells == DEMUR_TELLS_COUNT
             ? g_strdup("withheld")
             : demur_text_decimal(at->measures[measure], decimals);
}

char *
demur_finding_counted_rule(void) {
  return g_strdup_printf(
      "So that from no two numbers the outcomes of fewer than %d people follow, what counts "
      "outcomes (refusals by label, Brier, accuracy, O:E, intercepts, net benefit, reliability) is "
      "told of sets of scans only that differ by %d or more of each label.",
      DEMUR_SMALL_CELL, DEMUR_SMALL_CELL);
}

char *
demur_finding_counted_set(const DemurOperatingPoint *at) {
  g_autofree char *n = demur_text_count(at->n_counted),
                  *share = demur_text_percent(demur_operating_counted(at), 1);
  return g_strdup_printf("the %s scans with the highest scores (a coverage of %s)", n, share);
}

char *
demur_finding_counted_note(const DemurReportFinding *f) {
  const DemurOperatingPoint *tuned = f->tuned ? f->subject_at : NULL;
  gboolean withheld = FALSE;
  for (size_t m = 0; m < f->evaluation->n_methods; m++)
    for (size_t a = 0; a < f->evaluation->methods[m].n_at; a++) {
      const DemurOperatingPoint *at = &f->evaluation->methods[m].at[a];
      withheld |= at->n_counted == 0 && at->n_accepted > 0;
    }
  const gboolean tuned_by_others = tuned && demur_operating_counts_others(tuned);
  if (!withheld && !tuned_by_others)
    return NULL;
  g_autofree char *rule = demur_finding_counted_rule();
  GString *text = g_string_new(rule);
  if (tuned_by_others) {
    g_autofree char *set = demur_finding_counted_set(tuned);
    g_string_append_printf(text, " At the tuned threshold it is of %s.", set);
  }
  if (withheld)
    g_string_append(text, " “Withheld”: the scans of that coverage are no such set.");
  return g_string_free(text, FALSE);
}

char *
demur_finding_label(const DemurReportInput *input, size_t label) {
  if (input->cohort.labels && input->cohort.labels[label])
    return g_strdup(input->cohort.labels[label]);
  return g_strdup_printf("label %zu", label);
}

DemurComparisonVerdict
demur_finding_verdict(const DemurComparison *plain, const DemurComparison *debiased,
                      const DemurComparison *site) {
  const DemurComparison *all[3] = {plain, debiased, site};
  for (int i = 0; i < 3; i++)
    if (all[i] && all[i]->verdict == DEMUR_VERDICT_CANNOT_BE_DECIDED)
      return DEMUR_VERDICT_CANNOT_BE_DECIDED;
  if (!plain)
    return DEMUR_VERDICT_CANNOT_BE_DECIDED;
  for (int k = 0; k < 2; k++) {
    const DemurComparisonVerdict one = k ? DEMUR_VERDICT_WORSE : DEMUR_VERDICT_BETTER,
                                 other = k ? DEMUR_VERDICT_BETTER : DEMUR_VERDICT_WORSE;
    if (plain->verdict == one && (!debiased || debiased->verdict == one) &&
        (!site || site->verdict != other))
      return one;
  }
  return DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;
}

static const DemurComparison *
find_comparison(const DemurEvaluation *e, const DemurMethodResult *subject, DemurMethodKind against,
                DemurCompared measure) {
  for (size_t i = 0; i < e->n_comparisons; i++) {
    const DemurComparison *c = &e->comparisons[i];
    if (strcmp(c->method, subject->name) == 0 && c->against_kind == against &&
        c->measure == measure && !c->recalibrated == !subject->recalibrated)
      return c;
  }
  return NULL;
}

/* The only label that occurs in the split, where it is binary; -1: both do, or it is not known. */
static int
only_label(const DemurReportFinding *f) {
  if (!f->subject_at || f->subject_at->n_labels != 2)
    return -1;
  const DemurRejection *r = f->subject_at->rejected_by_label;
  return r[0].n_all == 0 ? 1 : r[1].n_all == 0 ? 0 : -1;
}

DemurReportFinding
demur_finding(const DemurReportInput *input) {
  const DemurEvaluation *e = input->evaluation;
  DemurReportFinding f = {
      .input = input, .evaluation = e, .coverage = input->coverage > 0 ? input->coverage : 0.9};
  for (size_t i = 0; i < e->n_methods && !f.subject; i++)
    if (input->selector.method ? strcmp(e->methods[i].name, input->selector.method) == 0
                               : e->methods[i].kind == DEMUR_METHOD_SELECTOR)
      f.subject = &e->methods[i];
  if (!f.subject && e->n_methods > 0)
    f.subject = &e->methods[0];
  if (!f.subject)
    return f;
  f.confidence = demur_evaluation_baseline(e, DEMUR_METHOD_CONFIDENCE, f.subject->recalibrated);
  f.full = demur_evaluation_baseline(e, DEMUR_METHOD_FULL, f.subject->recalibrated);
  for (size_t i = input->n_thresholds; i-- > 0 && !f.threshold;)
    if (fabs(input->thresholds[i].requested - f.coverage) < SAME_COVERAGE)
      f.threshold = &input->thresholds[i];
  if (f.threshold)
    f.subject_at = demur_finding_at(f.subject, f.coverage, TRUE);
  f.tuned = f.subject_at != NULL;
  f.subject_own_at = demur_finding_at(f.subject, f.coverage, FALSE);
  if (!f.subject_at)
    f.subject_at = f.subject_own_at;
  f.confidence_at = demur_finding_at(f.confidence, f.coverage, FALSE);
  f.full_at = demur_finding_at(f.full, f.coverage, FALSE);
  if (f.confidence && f.confidence != f.subject) {
    f.plain = find_comparison(e, f.subject, DEMUR_METHOD_CONFIDENCE, DEMUR_COMPARED_SBCE2);
    f.debiased = find_comparison(e, f.subject, DEMUR_METHOD_CONFIDENCE, DEMUR_COMPARED_DEBIASED);
    f.site = find_comparison(e, f.subject, DEMUR_METHOD_CONFIDENCE, DEMUR_COMPARED_SITE_ERROR);
  }
  f.compared = f.plain != NULL;
  if (f.compared)
    f.verdict = only_label(&f) < 0 ? demur_finding_verdict(f.plain, f.debiased, f.site)
                                   : DEMUR_VERDICT_CANNOT_BE_DECIDED;
  return f;
}

static gboolean
is_nothing(const DemurComparison *c) {
  return c == NULL || (c->difference == 0.0 && !(c->low < 0.0) && !(c->high > 0.0)); /* NaN: none */
}

gboolean
demur_finding_is_confidence(const DemurReportFinding *f) {
  return f->compared && is_nothing(f->plain) && is_nothing(f->debiased) && is_nothing(f->site);
}

const char *
demur_finding_title(const DemurReportFinding *f, const DemurMethodResult *method) {
  if (method == f->subject && f->input->selector.title && method->kind == DEMUR_METHOD_SELECTOR)
    return f->input->selector.title;
  return method->title ? method->title : method->name;
}

/* Whether keeping the confident is shown to be better than showing every risk. */
static gboolean
confidence_helps(const DemurReportFinding *f) {
  const DemurComparison *c =
      f->confidence != NULL
          ? find_comparison(f->evaluation, f->confidence, DEMUR_METHOD_FULL, DEMUR_COMPARED_SBCE2)
          : NULL;
  return c != NULL && c->verdict == DEMUR_VERDICT_BETTER;
}

/* Whom the finding is about, as its sentence begins (owned). Unless whole sites were resampled it
 * speaks of these patients only. */
static char *
scope_words(const DemurReportFinding *f) {
  const DemurEvaluation *e = f->evaluation;
  g_autofree char *sites = demur_text_counted(e->n_sites, "site", "sites");
  if (f->plain->unit == DEMUR_UNIT_SITE)
    return g_strdup_printf("Across %s", sites);
  if (e->n_sites == 1)
    return g_strdup("In these patients of one site");
  return g_strdup_printf("In these patients of %s", sites);
}

char *
demur_finding_headline(const DemurReportFinding *f) {
  const DemurEvaluation *e = f->evaluation;
  g_autofree char *sites = demur_text_counted(e->n_sites, "site", "sites");
  if (!f->compared) {
    g_autofree char *scans = demur_text_counted(e->n_scans, "scan", "scans");
    return g_strdup_printf("How well the risks shown agree with what happened: %s of %s, no "
                           "comparison with confidence made.",
                           scans, sites);
  }
  if (f->tuned && f->subject_at->n_accepted == 0) {
    g_autofree char *asked = demur_text_coverage(f->coverage);
    return g_strdup_printf("At its threshold for %s coverage this selector refuses every scan "
                           "here: no risk is shown.",
                           asked);
  }
  const int only = only_label(f);
  if (only >= 0) {
    g_autofree char *label = demur_finding_label(f->input, (size_t)only);
    return g_strdup_printf("Only “%s” occurs in this split: whether this selector calibrates "
                           "better than confidence cannot be decided.",
                           label);
  }
  if (demur_finding_is_confidence(f))
    return g_strdup("This selector lets through the risks that plain confidence lets through.");
  g_autofree char *scope = scope_words(f);
  const char *in_sample = e->in_sample ? ", on data that it has seen" : "";
  switch (f->verdict) {
  case DEMUR_VERDICT_BETTER:
    return g_strdup_printf("%s the risks this selector lets through agree better with what "
                           "happened than those confidence would keep%s.",
                           scope, in_sample);
  case DEMUR_VERDICT_WORSE:
    return g_strdup_printf("%s the risks this selector lets through agree worse with what "
                           "happened than those confidence would keep%s: do not use it here.",
                           scope, in_sample);
  case DEMUR_VERDICT_CANNOT_BE_DECIDED:
    if (!isfinite(f->plain->difference))
      return g_strdup("Whether this selector calibrates better than confidence cannot be decided: "
                      "their difference is undefined here.");
    return g_strdup_printf("Whether this selector calibrates better than confidence cannot be "
                           "decided from %s.",
                           sites);
  default:
    return g_strdup_printf("%s no difference between this selector and plain confidence was "
                           "shown%s%s.",
                           scope, in_sample, confidence_helps(f) ? ": use confidence" : "");
  }
}

/* " (95 % interval .1 to .2)" or "" where undefined; owned. */
static char *
percent_interval(double low, double high) {
  if (!isfinite(low) || !isfinite(high))
    return g_strdup("");
  g_autofree char *a = demur_text_percent(low, 1), *b = demur_text_percent(high, 1);
  return g_strdup_printf(" (95\u00a0%% interval %s to %s)", a, b);
}

/* " (at a coverage of 75.0 %)" where what counts outcomes is of another set than those accepted;
 * owned. */
static char *
counted_where(const DemurOperatingPoint *at) {
  if (!demur_operating_counts_others(at))
    return g_strdup("");
  g_autofree char *counted = demur_text_percent(demur_operating_counted(at), 1);
  return g_strdup_printf(" (at a coverage of %s)", counted);
}

static void
append_refusals(const DemurReportFinding *f, GString *text) {
  if (!f->subject_at || f->subject_at->n_labels != 2 || f->subject == f->full)
    return;
  const DemurRejection *r = f->subject_at->rejected_by_label;
  if (only_label(f) < 0 && r[0].withheld && r[1].withheld) {
    g_string_append_printf(text,
                           " How many of each label it refused is withheld: fewer than %d of one "
                           "were refused, or shown, or would be told by another coverage.",
                           DEMUR_SMALL_CELL);
    return;
  }
  if (only_label(f) < 0 && !isfinite(r[0].rate) && !isfinite(r[1].rate))
    return;
  g_autofree char *no = demur_finding_label(f->input, 0), *yes = demur_finding_label(f->input, 1);
  g_autofree char *rate1 = demur_text_percent(r[1].rate, 1),
                  *rate0 = demur_text_percent(r[0].rate, 1);
  g_autofree char *interval = percent_interval(r[1].rate_low, r[1].rate_high);
  const int only = only_label(f);
  if (only >= 0) {
    g_autofree char *refused = demur_text_percent(1 - f->subject_at->realised, 1);
    g_string_append_printf(text, " It refused %s of the scans, all of them labelled “%s”.", refused,
                           only ? yes : no);
    return;
  }
  g_autofree char *where = counted_where(f->subject_at);
  g_string_append_printf(text,
                         " It refused %s of the scans labelled “%s”%s and %s of those "
                         "labelled “%s”%s.",
                         rate1, yes, interval, rate0, no, where);
}

/* Two methods keep the same share of the scans, so that what is said of both can be compared. */
static gboolean
same_coverage(const DemurOperatingPoint *a, const DemurOperatingPoint *b) {
  return a && b && fabs(a->realised - b->realised) < SAME_REALISED;
}

/* The selector beside confidence at one coverage, and beside everything. */
static void
append_beside(const DemurReportFinding *f, GString *text) {
  const DemurOperatingPoint *own = f->subject_own_at, *confidence = f->confidence_at;
  const char *measure = demur_text_measure(DEMUR_MEASURE_SBCE2, f->evaluation->n_classes);
  const gboolean beside = f->confidence != f->subject && same_coverage(own, confidence),
                 full = f->full && f->full != f->subject;
  if (!own || own->n_accepted == 0 || (!beside && !full))
    return;
  g_autofree char *error = demur_text_decimal(own->measures[DEMUR_MEASURE_SBCE2], 3),
                  *at = demur_text_percent(own->realised, 1);
  g_string_append_printf(text, " At a coverage of %s%s %s is %s", at,
                         f->tuned ? ", by this split's own scores," : "", measure, error);
  if (beside) {
    g_autofree char *other = demur_text_decimal(confidence->measures[DEMUR_MEASURE_SBCE2], 3);
    g_string_append_printf(text, ", against %s for keeping as many of the most confident", other);
  }
  if (full) {
    const DemurCurvePoint *all = &f->full->curve[DEMUR_MEASURE_SBCE2][DEMUR_N_COVERAGES - 1];
    g_autofree char *everything = demur_text_decimal(all->point, 3);
    g_string_append_printf(text, "%s %s for showing everything", beside ? " and" : ", against",
                           everything);
  }
  if (beside && own->n_labels == 2 && confidence->n_labels == 2 && only_label(f) < 0 &&
      !confidence->rejected_by_label[0].withheld) {
    g_autofree char *yes = demur_finding_label(f->input, 1), *no = demur_finding_label(f->input, 0),
                    *c1 = demur_finding_rate_text(confidence, 1),
                    *c0 = demur_finding_rate_text(confidence, 0);
    g_string_append_printf(text, "; confidence refuses %s of “%s” and %s of “%s” there", c1, yes,
                           c0, no);
  }
  g_string_append_c(text, '.');
}

/* What recalibrating alone does, where raw risks were evaluated too. */
static void
append_recalibration(const DemurReportFinding *f, GString *text) {
  const DemurMethodResult *raw =
      f->subject->recalibrated ? demur_evaluation_baseline(f->evaluation, DEMUR_METHOD_FULL, FALSE)
                               : NULL;
  if (!raw || !f->full)
    return;
  const size_t last = DEMUR_N_COVERAGES - 1;
  g_autofree char *before = demur_text_decimal(raw->curve[DEMUR_MEASURE_SBCE2][last].point, 3),
                  *after = demur_text_decimal(f->full->curve[DEMUR_MEASURE_SBCE2][last].point, 3);
  g_string_append_printf(text,
                         " Risks are recalibrated: by itself this changed the error of showing "
                         "everything from %s (raw) to %s.",
                         before, after);
}

char *
demur_finding_paragraph(const DemurReportFinding *f) {
  const DemurEvaluation *e = f->evaluation;
  const char *measure = demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes);
  g_autofree char *scans = demur_text_counted(e->n_scans, "scan", "scans");
  g_autofree char *patients = demur_text_counted(e->n_patients, "patient", "patients");
  g_autofree char *sites = demur_text_counted(e->n_sites, "site", "sites");
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s%s of %s from %s", e->simulated ? "On simulated data: " : "On ",
                         scans, patients, sites);
  if (f->input->cohort.n_sites_in_training == 0)
    g_string_append(text,
                    e->n_sites == 1 ? ", not seen in training" : ", none of them seen in training");
  else if (f->input->cohort.n_sites_in_training == (gssize)e->n_sites)
    g_string_append(text, e->n_sites == 1 ? ", which was seen in training"
                                          : ", all of which were seen in training");
  else if (f->input->cohort.n_sites_in_training > 0)
    g_string_append_printf(text, ", %zd of which %s seen in training",
                           f->input->cohort.n_sites_in_training,
                           f->input->cohort.n_sites_in_training == 1 ? "was" : "were");
  const DemurOperatingPoint *at = f->subject_at;
  if (at) {
    g_autofree char *accepted = demur_text_count(at->n_accepted);
    g_autofree char *realised = demur_text_percent(at->realised, 1);
    g_autofree char *asked = demur_text_coverage(f->coverage);
    g_autofree char *error = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3);
    g_string_append_printf(text, ", %s let %s risks through: a coverage of %s where %s was asked.",
                           demur_finding_title(f, f->subject), accepted, realised, asked);
    if (at->n_accepted == 0)
      g_string_append(text, " Nothing is accepted, so its calibration error is undefined.");
    else {
      g_string_append_printf(text, " Among these the calibration error %s was %s", measure, error);
      if (isfinite(at->noise_floor)) {
        g_autofree char *floor_text = demur_text_decimal(at->noise_floor, 3);
        g_string_append_printf(text, " (chance alone would give %s)", floor_text);
      }
      g_string_append_c(text, '.');
    }
    append_refusals(f, text);
    append_beside(f, text);
    append_recalibration(f, text);
  } else {
    g_autofree char *asked = demur_text_coverage(f->coverage);
    g_string_append_printf(text, ": no operating point at %s coverage was evaluated.", asked);
  }
  if (demur_finding_is_confidence(f))
    g_string_append(text, " At every coverage it keeps what confidence keeps.");
  else if (f->compared && isfinite(f->plain->difference)) {
    g_autofree char *difference = demur_text_signed(f->plain->difference, 3),
                    *low = demur_text_signed(f->plain->low, 3),
                    *high = demur_text_signed(f->plain->high, 3),
                    *level = demur_text_coverage(f->plain->level),
                    *n = demur_text_count(f->plain->n_units);
    g_string_append_printf(text,
                           " Averaged over all coverages the difference in %s to confidence was %s",
                           measure, difference);
    if (isfinite(f->plain->low) && isfinite(f->plain->high))
      g_string_append_printf(text, " (%s interval %s to %s, resampling %s %s%s)", level, low, high,
                             n, demur_unit_name(f->plain->unit), f->plain->n_units == 1 ? "" : "s");
    if (f->debiased && isfinite(f->debiased->difference)) {
      g_autofree char *d = demur_text_signed(f->debiased->difference, 3),
                      *d_low = demur_text_signed(f->debiased->low, 3),
                      *d_high = demur_text_signed(f->debiased->high, 3);
      g_string_append_printf(text, ", with chance taken out %s", d);
      if (isfinite(f->debiased->low) && isfinite(f->debiased->high))
        g_string_append_printf(text, " (%s to %s)", d_low, d_high);
    }
    g_string_append(text, "; below zero favours the selector.");
  }
  return g_string_free(text, FALSE);
}

/* What is to be read with care, the strongest first: the order of the page. */
typedef enum {
  CARE_IN_SAMPLE,
  CARE_ONE_LABEL,
  CARE_NOT_CALIBRATED,
  CARE_REFUSALS,
  CARE_EVALUATION,
  CARE_DISAGREEMENT,
  CARE_COVERAGE,
  CARE_FEW_SITES,
  CARE_CHANCE,
  CARE_FEW_BINS,
  CARE_NOT_VALIDATED,
  CARE_AUDITS,
  CARE_OWN_THRESHOLD,
  CARE_SIMULATED, /* a band on each page says it too */
  N_CARES,
} CareKind;

typedef struct {
  GPtrArray *sentences[N_CARES];
} Cares;

/* Takes the sentence over. */
static void
add_care(Cares *cares, CareKind kind, char *sentence) {
  if (!cares->sentences[kind])
    cares->sentences[kind] = g_ptr_array_new();
  g_ptr_array_add(cares->sentences[kind], sentence);
}

static gboolean
leaves_out_its_value(const DemurComparison *c) {
  return c && isfinite(c->difference) && isfinite(c->low) && isfinite(c->high) &&
         (c->difference < c->low || c->difference > c->high);
}

/* Where the report's verdict rests on two intervals that do not say the same, or on one that is not
 * about its value. */
static void
add_disagreement(const DemurReportFinding *f, Cares *cares) {
  const DemurComparison *plain = f->plain, *debiased = f->debiased;
  if (!f->compared || f->verdict == DEMUR_VERDICT_CANNOT_BE_DECIDED)
    return;
  if (debiased && plain->verdict != debiased->verdict)
    add_care(
        cares, CARE_DISAGREEMENT,
        g_strdup_printf("The interval of the plain difference says “%s”, that of the difference "
                        "with chance taken out “%s”: a difference counts as shown only where both "
                        "say it.",
                        demur_comparison_verdict_words(plain->verdict),
                        demur_comparison_verdict_words(debiased->verdict)));
  if (leaves_out_its_value(plain) || leaves_out_its_value(debiased))
    add_care(cares, CARE_DISAGREEMENT,
             g_strdup("A difference to confidence lies outside its own interval: "
                      "resampling repeats scans, which shifts binned errors, so the "
                      "interval is not centred on the value."));
}

/* Whom the selector refuses much more often than scans in general, at the summary's operating
 * point. */
static void
add_refusals(const DemurReportFinding *f, Cares *cares) {
  const DemurOperatingPoint *at = f->subject_at;
  if (!at || f->subject == f->full || !(at->realised < 1))
    return;
  const double counted = demur_operating_counted(at);
  g_autofree char *all = demur_text_percent(1 - counted, 1);
  for (size_t l = 0; l < at->n_labels; l++) {
    const DemurRejection *r = &at->rejected_by_label[l];
    if (!demur_rejection_is_much(r, counted))
      continue;
    g_autofree char *label = demur_finding_label(f->input, l),
                    *rate = r->withheld ? g_strdup("many more") : demur_text_percent(r->rate, 1),
                    *where = counted_where(at);
    add_care(cares, CARE_REFUSALS,
             g_strdup_printf("Of the scans labelled “%s” %s are refused, of all scans %s%s: "
                             "the errors are measured without them.",
                             label, rate, all, where));
  }
}

/* The evaluation's own warning of the same, at the coverage that the split's scores give. */
static gboolean
is_about_refusals(const DemurReportFinding *f, const DemurWarning *warning) {
  return f->subject_at && warning->kind == DEMUR_WARNING_REFUSAL &&
         g_strcmp0(warning->subject, f->subject->title) == 0;
}

GPtrArray *
demur_finding_cares(const DemurReportFinding *f, guint *n_strong) {
  guint unused;
  if (!n_strong)
    n_strong = &unused;
  const DemurEvaluation *e = f->evaluation;
  Cares cares = {{NULL}};
  if (e->in_sample)
    add_care(&cares, CARE_IN_SAMPLE,
             g_strdup("Some of these scans trained, stopped, recalibrated or tuned a "
                      "selector: every number here is flattering."));
  if (e->simulated)
    add_care(&cares, CARE_SIMULATED,
             g_strdup("The scans and outcomes are simulated: the numbers show that "
                      "the program works, nothing about patients."));
  if (only_label(f) >= 0)
    add_care(&cares, CARE_ONE_LABEL,
             g_strdup("Only one label occurs in this split: calibration and "
                      "rejection by label cannot be judged."));
  add_refusals(f, &cares);
  for (size_t i = 0; i < e->n_warnings; i++) {
    const DemurWarning *warning = &e->warnings[i];
    g_autofree char *label = warning->kind == DEMUR_WARNING_REFUSAL
                                 ? demur_finding_label(f->input, (size_t)warning->label)
                                 : NULL;
    if (!is_about_refusals(f, warning))
      add_care(&cares, CARE_EVALUATION, demur_warning_words(warning, label));
  }
  add_disagreement(f, &cares);
  if (f->compared && e->n_sites < DEMUR_FEW_SITES) {
    g_autofree char *sites = demur_text_counted(e->n_sites, "site", "sites");
    add_care(&cares, CARE_FEW_SITES,
             g_strdup_printf("With %s (fewer than %d) nothing can be said about other "
                             "hospitals.",
                             sites, DEMUR_FEW_SITES));
  }
  const DemurOperatingPoint *at = f->subject_at;
  if (at && only_label(f) < 0 &&
      at->measures[DEMUR_MEASURE_SBCE2] >= DEMUR_FAR_ABOVE_CHANCE * at->noise_floor) {
    g_autofree char *shown = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3),
                    *chance = demur_text_decimal(at->noise_floor, 3);
    add_care(&cares, CARE_NOT_CALIBRATED,
             g_strdup_printf("Whatever the comparison says, the risks that are shown "
                             "are not well calibrated here: their error is %s where "
                             "chance alone would give %s. Recalibrate the risk model "
                             "before relying on them.",
                             shown, chance));
  }
  if (at && isfinite(at->noise_floor) && isfinite(at->measures[DEMUR_MEASURE_SBCE2]) &&
      at->measures[DEMUR_MEASURE_SBCE2] <= at->noise_floor)
    add_care(&cares, CARE_CHANCE,
             g_strdup("The calibration error lies at or below what chance alone gives "
                      "to perfectly calibrated risks: smaller differences between "
                      "methods mean nothing."));
  if (at && at->n_accepted > 0 && at->n_bins < DEMUR_MAX_RELIABILITY_BINS)
    add_care(&cares, CARE_FEW_BINS,
             g_strdup_printf("Only %zu %s of at least %zu accepted scans could be made "
                             "(15 is usual): the calibration error is coarse.",
                             at->n_bins, at->n_bins == 1 ? "bin" : "bins", e->min_bin_size));
  if (at && fabs(at->realised - f->coverage) > 0.02) {
    g_autofree char *asked = demur_text_coverage(f->coverage),
                    *got = demur_text_percent(at->realised, 1);
    add_care(&cares, CARE_COVERAGE,
             g_strdup_printf("Coverage here is %s, not the %s asked: %s.", got, asked,
                             f->tuned ? "the tuning split is unlike this one"
                                      : "tied scores are all kept"));
  }
  if (!f->input->validation.verdict && f->subject->kind == DEMUR_METHOD_SELECTOR)
    add_care(&cares, CARE_NOT_VALIDATED,
             g_strdup("This selector was not tested on left-out sites of its own "
                      "training data (“demur validate”)."));
  size_t n_audited = 0;
  for (size_t a = 0; a < f->input->n_audits; a++)
    n_audited += f->input->audits[a].in_split ? 1 : 0;
  if (n_audited > 0) {
    g_autofree char *sites = demur_text_counted(n_audited, "site", "sites");
    add_care(&cares, CARE_AUDITS,
             g_strdup_printf("At %s of this split verdicts use what an audit of its "
                             "labels found (“Site audits”); this report does not.",
                             sites));
  }
  if (at && !f->tuned)
    add_care(&cares, CARE_OWN_THRESHOLD,
             g_strdup("The threshold is taken from this split's own scores (labels "
                      "unseen), not from a tuned one: coverage holds by construction."));
  GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
  *n_strong = 0;
  for (int kind = 0; kind < N_CARES; kind++) {
    if (!cares.sentences[kind])
      continue;
    g_ptr_array_extend_and_steal(sentences, cares.sentences[kind]);
    if (kind < CARE_FEW_SITES)
      *n_strong = sentences->len;
  }
  return sentences;
}
