/* The model card of a selector, one page. */
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

/* ".00196 for 90 %, .00268 for 70 % (the current one), tuned on split tune", owned. */
static char *
threshold_words(const DemurReportInput *input) {
  if (input->n_thresholds == 0)
    return g_strdup("not tuned");
  GString *text = g_string_new(NULL);
  const DemurReportThreshold *last = &input->thresholds[input->n_thresholds - 1];
  gboolean one_split = TRUE;
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    g_autofree char *coverage = demur_text_coverage(t->requested),
                    *threshold = demur_text_significant(t->threshold, 3);
    g_string_append_printf(text, "%s%s for a coverage of %s%s", i > 0 ? ", " : "", threshold,
                           coverage, t == last && i > 0 ? " (the current one)" : "");
    one_split &= g_strcmp0(t->split, last->split) == 0 && t->n == last->n;
  }
  if (one_split) {
    g_autofree char *n = demur_text_counted(last->n, "scan", "scans");
    g_string_append_printf(text, "; tuned on split %s, %s", or_unrecorded(last->split), n);
  }
  return g_string_free(text, FALSE);
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
