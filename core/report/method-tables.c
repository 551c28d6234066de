/* All methods in a table: at one coverage, and averaged over coverage. */
#include "report/section.h"

#include "report/format.h"

#include <math.h>
#include <string.h>

/* "Refused, no cancer" (owned), a short label kept whole when the header is wrapped. */
static char *
refused_header(const char *label) {
  g_auto(GStrv) words = g_strsplit(label, " ", -1);
  g_autofree char *whole = g_strjoinv(g_utf8_strlen(label, -1) <= 14 ? "\u00a0" : " ", words);
  return g_strdup_printf("Refused, %s", whole);
}

/* Whether a method stands on the summary: all where they are few, else selectors, everything,
 * confidence, the nearest neighbours as the commonest outlier score, and expected miscalibration.
 */
static gboolean
on_summary(const DemurPages *p, const DemurMethodResult *method) {
  if (!method->recalibrated != !p->finding.subject->recalibrated)
    return method->kind == DEMUR_METHOD_FULL; /* what recalibrating alone does */
  return p->e->n_methods <= 6 || method == p->finding.subject ||
         method->kind == DEMUR_METHOD_SELECTOR || method->kind == DEMUR_METHOD_FULL ||
         method->kind == DEMUR_METHOD_CONFIDENCE || method->kind == DEMUR_METHOD_KNN ||
         method->kind == DEMUR_METHOD_MC;
}

/* One method's operating point; what (may be NULL) is said below its name. Whether there were fewer
 * bins than usual. */
static gboolean
add_operating_row(const DemurPages *p, DemurRows *rows, const DemurMethodResult *m,
                  const DemurOperatingPoint *at, gboolean brief, const char *what) {
  /* The summary shows one kind of risk, as its note says: another one is said. */
  const gboolean kind = demur_section_both_kinds(p->e) &&
                        (!brief || !m->recalibrated != !p->finding.subject->recalibrated);
  g_autofree char *title = demur_section_method(p, m, kind),
                  *error = demur_text_decimal(at->measures[DEMUR_MEASURE_SBCE2], 3);
  const gboolean few = at->n_bins < DEMUR_MAX_RELIABILITY_BINS;
  demur_rows_cell(rows,
                  what ? g_strdup_printf("%s%s%s", title, strchr(title, '\n') ? ", " : "\n", what)
                       : g_strdup(title));
  demur_rows_cell(rows, demur_text_percent(at->realised, 1));
  demur_rows_cell(
      rows, few ? g_strdup_printf("%s\n%zu %s", error, at->n_bins, at->n_bins == 1 ? "bin" : "bins")
                : g_strdup(error));
  demur_rows_cell(rows, demur_text_decimal(at->noise_floor, 3));
  demur_rows_cell(rows, demur_text_decimal(at->measures[DEMUR_MEASURE_SBCEINF], 3));
  demur_rows_cell(rows, demur_finding_measure_text(at, DEMUR_MEASURE_BRIER, 4));
  demur_rows_cell(rows, demur_finding_measure_text(at, DEMUR_MEASURE_ACCURACY, 3));
  if (p->e->n_classes == 2) {
    demur_rows_cell(rows, demur_finding_rate_text(at, 0));
    demur_rows_cell(rows, demur_finding_rate_text(at, 1));
  }
  demur_rows_end(rows, m == p->finding.subject);
  return few;
}

void
demur_section_operating_table(DemurPages *p, double coverage, gboolean brief) {
  const DemurEvaluation *e = p->e;
  const gboolean binary = e->n_classes == 2;
  g_autofree char *no = demur_finding_label(p->input, 0), *yes = demur_finding_label(p->input, 1);
  g_autofree char *refused0 = refused_header(no), *refused1 = refused_header(yes);
  DemurLayoutColumn columns[10];
  size_t n = 0;
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 110, FALSE};
  columns[n++] = (DemurLayoutColumn){"Coverage", TRUE, 0, FALSE};
  columns[n++] =
      (DemurLayoutColumn){demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes), TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Noise floor", TRUE, 0, FALSE};
  columns[n++] =
      (DemurLayoutColumn){demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes), TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Brier", TRUE, 0, FALSE};
  columns[n++] = (DemurLayoutColumn){"Accuracy", TRUE, 0, FALSE};
  if (binary) {
    columns[n++] = (DemurLayoutColumn){refused0, TRUE, 0, FALSE};
    columns[n++] = (DemurLayoutColumn){refused1, TRUE, 0, FALSE};
  }
  DemurRows rows = demur_rows_new();
  gboolean few_bins = FALSE;
  for (size_t i = 0; i < e->n_methods; i++) {
    const DemurMethodResult *m = &e->methods[i];
    const DemurOperatingPoint *at = demur_finding_at(m, coverage, FALSE);
    if (brief && !on_summary(p, m))
      continue;
    /* The threshold in use has a row of its own: its coverage is another than the others'. */
    const gboolean tuned = brief && m == p->finding.subject && p->finding.tuned;
    if (tuned)
      few_bins |= add_operating_row(p, &rows, m, p->finding.subject_at, brief, "tuned threshold");
    if (at)
      few_bins |=
          add_operating_row(p, &rows, m, at, brief, tuned ? "this split's threshold" : NULL);
  }
  if (rows.bold->len == 0) {
    demur_rows_cell(&rows, g_strdup("no method has this coverage"));
    for (size_t i = 1; i < n; i++)
      demur_rows_cell(&rows, g_strdup(""));
    demur_rows_end(&rows, FALSE);
  }
  demur_rows_table(p, &rows, n, columns);
  if (few_bins && !brief) /* “read with care” says it there */
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "The number of bins stands where fewer than %d of at least %zu scans could be made.",
        DEMUR_MAX_RELIABILITY_BINS, e->min_bin_size);
}

static char *
estimate_text(const DemurEstimate *estimate, int decimals) {
  g_autofree char *point = demur_text_decimal(estimate->point, decimals);
  if (!isfinite(estimate->mean))
    return g_steal_pointer(&point);
  g_autofree char *spread = demur_text_mean_sd(estimate->mean, estimate->sd, decimals);
  return g_strdup_printf("%s\n%s", point, spread);
}

void
demur_section_auc_table(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  DemurLayoutColumn columns[10];
  size_t n = 0;
  const gboolean kinds = demur_section_both_kinds(e);
  columns[n++] = (DemurLayoutColumn){"Method", FALSE, 84, FALSE};
  for (int m = 0; m < DEMUR_N_FINE_MEASURES; m++) {
    columns[n++] = (DemurLayoutColumn){demur_text_measure(m, e->n_classes), TRUE, 0, FALSE};
    if (m == DEMUR_MEASURE_SBCE2) {
      columns[n++] = (DemurLayoutColumn){"Debiased", TRUE, 0, FALSE};
      columns[n++] = (DemurLayoutColumn){"Noise floor", TRUE, 0, FALSE};
    }
  }
  DemurRows rows = demur_rows_new();
  for (size_t i = 0; i < e->n_methods; i++) {
    const DemurMethodResult *method = &e->methods[i];
    demur_rows_cell(&rows, demur_section_method(p, method, kinds));
    for (int m = 0; m < DEMUR_N_FINE_MEASURES; m++) {
      demur_rows_cell(&rows, estimate_text(&method->auc[m], 3));
      if (m == DEMUR_MEASURE_SBCE2) {
        demur_rows_cell(&rows, demur_text_decimal(method->debiased_auc, 3));
        demur_rows_cell(&rows, demur_text_decimal(method->noise_floor_auc, 3));
      }
    }
    demur_rows_end(&rows, method == p->finding.subject);
  }
  demur_rows_table(p, &rows, n, columns);
}
