/* The model card of a selector, one page. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

static char *
open_item(const char *what) {
  return g_strdup_printf("For the author: %s", what);
}

static char *
validation_words(const DemurReportValidation *v) {
  if (!v->verdict)
    return g_strdup("not tested on left-out sites (“demur validate”)");
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
    g_string_append_printf(text, "; tuned on split %s, %s", demur_text_recorded(last->split), n);
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
demur_section_model_card(DemurPages *p) {
  const DemurReportFinding *f = &p->finding;
  const DemurReportInput *input = p->input;
  const DemurReportSelector *s = &input->selector;
  const DemurEvaluation *e = f->evaluation;
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Model card");
  DemurRows rows = demur_rows_new();
  demur_rows_pair(&rows, "Name", g_strdup(demur_text_recorded(s->name)));
  demur_rows_pair(
      &rows, "What it is",
      g_strdup("A selector: it says for each scan whether the risk that another model gave it "
               "should be shown. It gives no risk itself."));
  demur_rows_pair(&rows, "Risk model it stands behind", g_strdup(demur_text_recorded(s->model)));
  g_autofree char *features = demur_section_setting_words(demur_section_setting(input, "features"));
  demur_rows_pair(&rows, "Input",
                  g_strdup_printf("the model's risk and embedding; features: %s", features));
  demur_rows_pair(&rows, "Output",
                  g_strdup("a score from 0 to 1; accepted where it reaches the threshold"));
  demur_rows_pair(&rows, "Threshold", threshold_words(input));
  demur_rows_pair(&rows, "Recalibration of risks",
                  g_strdup(demur_text_recorded(demur_section_setting(input, "recalibrate"))));
  if (s->federated)
    demur_rows_pair(&rows, "From several sites", g_strdup(s->federated));
  g_autofree char *training =
      s->n_training_scans > 0
          ? demur_section_amount(s->n_training_scans, s->n_training_patients, s->n_training_sites)
          : g_strdup("not recorded");
  demur_rows_pair(&rows, "Trained on",
                  g_strdup_printf("cohort %s: %s", demur_text_recorded(s->cohort), training));
  demur_rows_pair(&rows, "Reference set", g_strdup(demur_text_recorded(s->reference_set)));
  demur_rows_pair(
      &rows, "How",
      s->scores_by ? g_strdup_printf("scores by %s, without a network", s->scores_by)
                   : g_strdup_printf("calibrated selective classification (Fisch et al. 2022), %s",
                                     s->as_published ? "settings as published"
                                                     : "settings under “Method and "
                                                       "provenance”"));
  demur_rows_pair(&rows, "Validated", validation_words(&input->validation));
  g_autofree char *evaluated = demur_section_amount(e->n_scans, e->n_patients, e->n_sites);
  demur_rows_pair(&rows, "Evaluated here",
                  g_strdup_printf("cohort %s, split %s: %s%s%s", e->cohort, e->split, evaluated,
                                  e->simulated ? "; simulated data" : "",
                                  e->in_sample ? "; in-sample" : ""));
  demur_rows_pair(&rows, "Result", result_words(f));
  if (e->n_classes == 2 && f->subject_at) {
    g_autofree char *yes = demur_finding_label(input, 1), *no = demur_finding_label(input, 0),
                    *sick = demur_finding_rate_text(f->subject_at, 1),
                    *well = demur_finding_rate_text(f->subject_at, 0);
    demur_rows_pair(&rows, "Whom it refuses",
                    g_strdup_printf("%s of “%s”, %s of “%s”", sick, yes, well, no));
  }
  demur_rows_pair(
      &rows, "Not meant for",
      g_strdup("scores of another model, scans unlike the reference set, decisions without a "
               "reader; a guarantee at a site that the tuning split does not hold"));
  demur_rows_pair(
      &rows, "Known limits",
      g_strdup("A calibrated risk is right on average over those who share it. Refusing more "
               "does not make the rest right; a drift of scanners or patients is seen only by "
               "watching the coverage reached."));
  demur_rows_pair(&rows, "Status", g_strdup("for research use, not a cleared device"));
  demur_rows_pair(&rows, "Made",
                  s->created ? demur_text_date(s->created) : g_strdup("not recorded"));
  demur_rows_pair(&rows, "Digest", g_strdup(demur_text_recorded(s->digest)));
  demur_rows_pair(&rows, "Intended use and users",
                  open_item("the decision that follows a shown risk"));
  demur_rows_pair(&rows, "Responsible", open_item("who maintains it, whom to ask, licence"));
  const DemurLayoutColumn columns[] = {{"Fact", FALSE, 120, FALSE}, {"Value", FALSE, 200, TRUE}};
  demur_rows_table(p, &rows, 2, columns);
}
