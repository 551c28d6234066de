#include "report/report.h"

#include "base/error.h"
#include "base/shown-text.h"
#include "report/files.h"
#include "report/finding.h"
#include "report/format.h"
#include "report/pages.h"
#include "report/pdf-document.h"
#include "report/revisions.h"
#include "report/withheld.h"

#include <math.h>
#include <string.h>

struct DemurReportPages {
  DemurLayout *layout;
  size_t n_pages;
  double width, height;
};

static gboolean
check_input(const DemurReportInput *input, GError **error) {
  if (input->evaluation && input->evaluation->n_methods > 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "the evaluation holds no method, so there is nothing to report; evaluate at least one "
      "selector or baseline first");
  return FALSE;
}

static void
write_counts(DemurJson *json, const char *key, const DemurReportCount *counts, size_t n) {
  demur_json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "reason", counts[i].reason);
    demur_json_int(json, "n", (gint64)counts[i].n);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_groups(DemurJson *json, const char *key, const DemurReportGroup *groups, size_t n,
             gboolean binary) {
  g_auto(DemurWithheld) withheld = demur_withheld_groups(groups, n, binary);
  demur_json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", groups[i].name);
    /* Withheld as in print; labelled scans are those of the labels together. */
    demur_withheld_write_count(json, withheld.scans[i], "n_scans", groups[i].n_scans);
    demur_withheld_write_count(json, withheld.scans[i] || withheld.patients[i], "n_patients",
                               groups[i].n_patients);
    demur_withheld_write_count(json, withheld.scans[i] || withheld.labels[i], "n_labelled",
                               groups[i].n_labelled);
    demur_withheld_write_count(json, withheld.scans[i] || withheld.labels[i] || !binary,
                               "n_positive", groups[i].n_positive);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_characteristics(DemurJson *json, const DemurReportCohort *c) {
  g_autofree gboolean *withheld =
      demur_withheld_characteristics(c->characteristics, c->n_characteristics, c->n_splits);
  demur_json_begin_array(json, "characteristics");
  for (size_t i = 0; i < c->n_characteristics; i++) {
    const DemurReportCharacteristic *row = &c->characteristics[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "attribute", row->attribute);
    demur_json_string(json, "value", row->value);
    demur_json_begin_array(json, "by_split");
    for (size_t s = 0; s < c->n_splits; s++) {
      const gboolean hidden = withheld[i * c->n_splits + s];
      demur_json_begin_object(json, NULL);
      demur_withheld_write_count(json, hidden, "n", row->counts[s]);
      if (!row->value) {
        const double quartiles[3] = {hidden ? NAN : row->low[s], hidden ? NAN : row->median[s],
                                     hidden ? NAN : row->high[s]};
        demur_json_doubles(json, "quartiles", quartiles, 3);
      }
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_years(DemurJson *json, const DemurReportCohort *c) {
  demur_json_begin_array(json, "years");
  for (size_t y = 0; y < c->n_years; y++) {
    const DemurReportYear *year = &c->years[y];
    const gboolean small = demur_withheld_year(year); /* as in print */
    const double interval[2] = {small ? NAN : year->low, small ? NAN : year->high};
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "year", (gint64)(y + 1));
    demur_json_int(json, "n", (gint64)year->n);
    demur_json_double(json, "mean_risk", small ? NAN : year->mean_risk);
    demur_json_double(json, "observed", small ? NAN : year->observed);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_cohort(DemurJson *json, const DemurReportInput *input) {
  const DemurReportCohort *c = &input->cohort;
  demur_json_begin_object(json, "cohort");
  demur_json_string(json, "name", c->name);
  demur_json_string(json, "source", c->source);
  demur_json_string(json, "model", c->model);
  demur_json_string(json, "created", c->created);
  demur_json_string(json, "digest", c->digest);
  demur_json_bool(json, "simulated", c->simulated);
  demur_json_string(json, "label_rule", c->label_rule);
  demur_json_begin_array(json, "labels");
  for (size_t i = 0; i < input->evaluation->n_classes; i++) {
    g_autofree char *label = demur_finding_label(input, i);
    demur_json_string(json, NULL, label);
  }
  demur_json_end_array(json);
  if (c->n_sites_in_training >= 0)
    demur_json_int(json, "n_sites_in_training", c->n_sites_in_training);
  else
    demur_json_null(json, "n_sites_in_training");
  demur_json_begin_array(json, "splits");
  for (size_t i = 0; i < c->n_splits; i++) {
    const DemurReportSplit *s = &c->splits[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", s->name);
    demur_json_int(json, "n_scans", (gint64)s->n_scans);
    demur_json_int(json, "n_patients", (gint64)s->n_patients);
    demur_json_int(json, "n_sites", (gint64)s->n_sites);
    demur_json_int(json, "n_labelled", (gint64)s->n_labelled);
    demur_json_double(json, "prevalence", demur_withheld_prevalence(s) ? NAN : s->prevalence);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  write_characteristics(json, c);
  const gboolean binary = input->evaluation->n_classes == 2;
  write_groups(json, "sites", c->sites, c->n_sites, binary);
  write_groups(json, "scanners", c->scanners, c->n_scanners, binary);
  demur_json_bool(json, "exclusions_recorded", c->exclusions_recorded);
  write_counts(json, "exclusions", c->exclusions, c->n_exclusions);
  write_counts(json, "noticed", c->noticed, c->n_noticed);
  write_counts(json, "follow_up", c->follow_up, c->n_follow_up);
  write_years(json, c);
  demur_json_string(json, "years_estimator", c->years_estimator);
  demur_json_end_object(json);
}

static void
write_selector(DemurJson *json, const DemurReportSelector *s) {
  demur_json_begin_object(json, "selector");
  demur_json_string(json, "name", s->name);
  demur_json_string(json, "method", s->method);
  demur_json_string(json, "digest", s->digest);
  demur_json_string(json, "created", s->created);
  demur_json_string(json, "cohort", s->cohort);
  demur_json_string(json, "model", s->model);
  demur_json_string(json, "reference_set", s->reference_set);
  demur_json_int(json, "n_training_scans", (gint64)s->n_training_scans);
  demur_json_int(json, "n_training_patients", (gint64)s->n_training_patients);
  demur_json_int(json, "n_training_sites", (gint64)s->n_training_sites);
  if (s->best_epoch >= 0)
    demur_json_int(json, "best_epoch", s->best_epoch);
  else
    demur_json_null(json, "best_epoch");
  demur_json_bool(json, "as_published", s->as_published);
  demur_json_begin_array(json, "settings");
  for (size_t i = 0; i < s->n_settings; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "key", s->settings[i].key);
    demur_json_string(json, "value", s->settings[i].value);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
write_thresholds(DemurJson *json, const DemurReportInput *input) {
  demur_json_begin_array(json, "thresholds");
  for (size_t i = 0; i < input->n_thresholds; i++) {
    const DemurReportThreshold *t = &input->thresholds[i];
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "requested", t->requested);
    demur_json_double(json, "realised", t->realised);
    demur_json_double(json, "threshold", t->threshold);
    demur_json_string(json, "cohort", t->cohort);
    demur_json_string(json, "split", t->split);
    demur_json_int(json, "n", (gint64)t->n);
    demur_json_string(json, "guarantee", t->guarantee);
    demur_json_string(json, "created", t->created);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_rejections(DemurJson *json, const DemurReportInput *input) {
  g_autofree gboolean *withheld = demur_withheld_rejections(input->rejections, input->n_rejections);
  demur_json_begin_array(json, "rejections");
  for (size_t i = 0; i < input->n_rejections; i++) {
    const DemurReportRejection *r = &input->rejections[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "attribute", r->attribute);
    demur_json_string(json, "name", r->name);
    if (withheld[i]) { /* as in print */
      demur_json_null(json, "n_scans");
      demur_json_null(json, "n_rejected");
      demur_json_null(json, "interval");
    } else {
      const double interval[2] = {r->low, r->high};
      demur_json_int(json, "n_scans", (gint64)r->n_scans);
      demur_json_int(json, "n_rejected", (gint64)r->n_rejected);
      demur_json_doubles(json, "interval", interval, 2);
    }
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* How O:E differs between the groups of each attribute. */
static void
write_heterogeneity(DemurJson *json, const DemurReportInput *input) {
  const DemurReportFinding finding = demur_finding(input);
  const DemurEvaluation *e = input->evaluation;
  demur_json_begin_array(json, "heterogeneity");
  for (size_t from = 0, to; from < e->n_groups; from = to) {
    for (to = from + 1; to < e->n_groups && g_str_equal(e->groups[to].by, e->groups[from].by);)
      to++;
    const DemurHeterogeneity h = demur_finding_heterogeneity(&finding, from, to);
    const double interval[2] = {exp(h.low), exp(h.high)},
                 predicted[2] = {exp(h.predicted_low), exp(h.predicted_high)};
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "by", e->groups[from].by);
    demur_json_int(json, "n_groups", (gint64)h.k);
    demur_json_double(json, "oe_ratio", exp(h.mean));
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_doubles(json, "prediction_interval", predicted, 2);
    demur_json_double(json, "tau2", h.tau2);
    demur_json_double(json, "i2", h.i2);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_finding(DemurJson *json, const DemurReportInput *input) {
  const DemurReportFinding finding = demur_finding(input);
  g_autofree char *headline = demur_finding_headline(&finding);
  g_autofree char *paragraph = demur_finding_paragraph(&finding);
  g_autoptr(GPtrArray) cares = demur_finding_cares(&finding, NULL);
  demur_json_begin_object(json, "finding");
  demur_json_double(json, "coverage", finding.coverage);
  demur_json_string(json, "method", finding.subject->name);
  demur_json_string(json, "verdict",
                    finding.compared ? demur_comparison_verdict_words(finding.verdict) : NULL);
  demur_json_string(json, "headline", headline);
  demur_json_string(json, "paragraph", paragraph);
  demur_json_begin_array(json, "read_with_care");
  for (guint i = 0; i < cares->len; i++)
    demur_json_string(json, NULL, g_ptr_array_index(cares, i));
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
write_validation(DemurJson *json, const DemurReportValidation *v) {
  if (!v->verdict) {
    demur_json_null(json, "validation");
    return;
  }
  const double interval[2] = {v->low, v->high};
  demur_json_begin_object(json, "validation");
  demur_json_string(json, "verdict", v->verdict);
  demur_json_string(json, "sentence", v->sentence);
  demur_json_string(json, "cohort", v->cohort);
  demur_json_int(json, "n_sites", (gint64)v->n_sites);
  demur_json_int(json, "folds", (gint64)v->n_folds);
  demur_json_double(json, "difference", v->difference);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_end_object(json);
}

static void
write_audits(DemurJson *json, const DemurReportInput *input) {
  demur_json_begin_array(json, "audits");
  for (size_t i = 0; i < input->n_audits; i++) {
    const DemurReportAudit *a = &input->audits[i];
    const double interval[2] = {a->low, a->high};
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "site", a->site);
    demur_json_string(json, "cohort", a->cohort);
    if (a->n_labels < DEMUR_SMALL_CELL) /* withheld, as in print */
      demur_json_null(json, "n_labels");
    else
      demur_json_int(json, "n_labels", (gint64)a->n_labels);
    demur_json_double(json, "intercept", a->intercept);
    demur_json_doubles(json, "interval", interval, 2);
    demur_json_bool(json, "in_split", a->in_split);
    demur_json_string(json, "created", a->created);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

void
demur_report_write_members(DemurJson *json, const DemurReportInput *input) {
  demur_json_string(json, "format", DEMUR_REPORT_FORMAT);
  demur_json_string(json, "version", input->version);
  demur_json_string(json, "created", input->created);
  demur_json_string(json, "notice", "For research use, not a cleared device");
  demur_json_string(json, "log_head", input->log_head);
  demur_json_string(json, "kernel", input->kernel);
  demur_method_revisions_write(json);
  demur_report_request_write(json, &input->request, DEMUR_REPORT_OF_SELECTOR, input->coverage,
                             input->paper);
  write_finding(json, input);
  write_validation(json, &input->validation);
  write_cohort(json, input);
  write_selector(json, &input->selector);
  write_thresholds(json, input);
  write_audits(json, input);
  demur_report_use_write(json, input->use);
  write_rejections(json, input);
  write_heterogeneity(json, input);
  demur_json_begin_object(json, "evaluation");
  demur_evaluation_write_json(input->evaluation, json);
  demur_json_end_object(json);
}

char *
demur_report_json(const DemurReportInput *input) {
  g_return_val_if_fail(input->evaluation && input->evaluation->n_methods > 0, NULL);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_report_write_members(json, input);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  return demur_shown_json(text); /* read by people too */
}

char *
demur_report_json_path(const char *path, GError **error) {
  const size_t n = strlen(path);
  if (n < 5 || g_ascii_strcasecmp(path + n - 4, ".pdf") != 0 || path[n - 5] == '/') {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "'%s' does not name a PDF: the report's file must end in .pdf, its numbers go "
                    "beside it into the same name with .json",
                    path);
    return NULL;
  }
  return g_strdup_printf("%.*s.json", (int)(n - 4), path);
}

static char *
json_digest(const char *json) {
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
}

guchar *
demur_report_pdf(const DemurReportInput *input, const char *json, size_t *n, GError **error) {
  if (!check_input(input, error))
    return NULL;
  g_autofree char *digest = json_digest(json);
  g_autoptr(DemurLayout) layout = demur_pages_layout(input, digest);
  const DemurEvaluation *e = input->evaluation;
  g_autofree char *title = g_strdup_printf("Calibration report: cohort %s, split %s%s", e->cohort,
                                           e->split, e->simulated ? " (simulated data)" : "");
  const DemurPdfFacts facts = {.title = title,
                               .subject = "Calibrated selective classification: for research use, "
                                          "not a cleared device",
                               .version = input->version,
                               .created = input->created,
                               .numbers_digest = digest};
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  return demur_pdf_document(layout, paper->width, paper->height, &facts, n, error);
}

gboolean
demur_report_write(const DemurReportInput *input, const char *path, const DemurProgress *progress,
                   GError **error) {
  if (!check_input(input, error))
    return FALSE;
  if (!demur_report_check_files(path, error) || !demur_progress_step(progress, 0, "drawing", error))
    return FALSE;
  g_autofree char *json = demur_report_json(input);
  size_t n;
  g_autofree guchar *pdf = demur_report_pdf(input, json, &n, error);
  if (!pdf || !demur_progress_step(progress, 0.9, "writing", error))
    return FALSE;
  return demur_report_files_write(path, pdf, n, json, DEMUR_REPORT_FOR_ALL, error);
}

DemurReportPages *
demur_report_pages_new(const DemurReportInput *input, GError **error) {
  if (!check_input(input, error))
    return NULL;
  g_autofree char *json = demur_report_json(input);
  g_autofree char *digest = json_digest(json);
  DemurReportPages *pages = g_new0(DemurReportPages, 1);
  pages->layout = demur_pages_layout(input, digest);
  pages->n_pages = demur_layout_paginate(pages->layout);
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  pages->width = paper->width;
  pages->height = paper->height;
  return pages;
}

void
demur_report_pages_free(DemurReportPages *pages) {
  if (!pages)
    return;
  demur_layout_free(pages->layout);
  g_free(pages);
}

size_t
demur_report_pages_count(const DemurReportPages *pages) {
  return pages->n_pages;
}

void
demur_report_pages_size(const DemurReportPages *pages, double *width, double *height) {
  *width = pages->width;
  *height = pages->height;
}

void
demur_report_pages_draw(DemurReportPages *pages, size_t page, cairo_t *cr) {
  g_return_if_fail(page < pages->n_pages);
  demur_layout_draw(pages->layout, cr, page);
}
