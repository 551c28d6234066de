/* Method and provenance: settings, seeds, versions, digests, choices. */
#include "report/section.h"

#include "base/number.h"
#include "report/format.h"

#include <string.h>

static void
add_selector(DemurPages *p) {
  const DemurReportSelector *s = &p->input->selector;
  if (!s->name)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Selector");
  DemurRows rows = demur_rows_new();
  demur_rows_pair(&rows, "Name", g_strdup(s->name));
  demur_rows_pair(&rows, "Settings as published", g_strdup(s->as_published ? "yes" : "no"));
  demur_rows_pair(&rows, "Trained on", g_strdup(demur_text_recorded(s->cohort)));
  g_autofree char *scans = demur_text_counted(s->n_training_scans, "scan", "scans"),
                  *patients = demur_text_counted(s->n_training_patients, "patient", "patients"),
                  *sites = demur_text_counted(s->n_training_sites, "site", "sites");
  demur_rows_pair(&rows, "Training data",
                  s->n_training_scans > 0
                      ? g_strdup_printf("%s of %s from %s", scans, patients, sites)
                      : g_strdup(demur_text_recorded(NULL)));
  demur_rows_pair(&rows, "Reference set", g_strdup(demur_text_recorded(s->reference_set)));
  demur_rows_pair(&rows, "Risk model", g_strdup(demur_text_recorded(s->model)));
  if (s->scores_by)
    demur_rows_pair(&rows, "Scores by", g_strdup_printf("%s; it has no network", s->scores_by));
  else
    demur_rows_pair(&rows, "Epoch kept",
                    s->best_epoch >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, s->best_epoch)
                                       : g_strdup("does not apply"));
  demur_rows_pair(&rows, "Made",
                  s->created ? demur_text_date(s->created) : g_strdup(demur_text_recorded(NULL)));
  demur_rows_pair(&rows, "Digest (SHA-256)", g_strdup(demur_text_recorded(s->digest)));
  demur_rows_pairs_table(p, &rows, "Fact", "Value");
}

/* "1e-05" as "1 × 10⁻⁵"; any other text as it is. Owned. */
static char *
setting_words(const char *value) {
  static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const char *e = value ? strstr(value, "e-") : NULL;
  double number;
  if (!e || !demur_number_parse(value, strlen(value), &number))
    return demur_section_setting_words(value);
  GString *words = g_string_new_len(value, e - value);
  g_string_append(words, " × 10⁻");
  for (const char *digit = e + 2 + strspn(e + 2, "0"); g_ascii_isdigit(*digit); digit++)
    g_string_append(words, raised[*digit - '0']);
  return g_string_free(words, FALSE);
}

/* Of the settings those that made a selector without networks. */
static gboolean
is_setting_of(const DemurReportSelector *s, const char *key) {
  static const char *const without[] = {"reference",   "training", "validation", "embedding svd",
                                        "recalibrate", "features", "seed",       NULL};
  return s->scores_by == NULL || g_strv_contains(without, key);
}

static void
add_settings(DemurPages *p) {
  const DemurReportSelector *s = &p->input->selector;
  if (s->n_settings == 0)
    return;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Settings of training");
  DemurRows rows = demur_rows_new();
  g_autofree const DemurReportPair **settings = g_new(const DemurReportPair *, s->n_settings);
  size_t n = 0;
  for (size_t i = 0; i < s->n_settings; i++)
    if (is_setting_of(s, s->settings[i].key))
      settings[n++] = &s->settings[i];
  const size_t half = (n + 1) / 2;
  for (size_t i = 0; i < half; i++) {
    for (size_t k = i; k < 2 * half; k += half) {
      demur_rows_cell(&rows, g_strdup(k < n ? settings[k]->key : ""));
      demur_rows_cell(&rows, k < n ? setting_words(settings[k]->value) : g_strdup(""));
    }
    demur_rows_end(&rows, FALSE);
  }
  const DemurLayoutColumn columns[] = {{"Setting", FALSE, 80, FALSE},
                                       {"Value", FALSE, 80, TRUE},
                                       {"Setting", FALSE, 80, FALSE},
                                       {"Value", FALSE, 80, TRUE}};
  demur_rows_table(p, &rows, 4, columns);
}

static void
add_files(DemurPages *p) {
  const DemurReportInput *input = p->input;
  const DemurEvaluation *e = p->e;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Evaluation and files");
  DemurRows rows = demur_rows_new();
  demur_rows_pair(&rows, "Program",
                  g_strdup_printf("Demur %s", input->version ? input->version : ""));
  demur_rows_pair(&rows, "Cohort and split", g_strdup_printf("%s, %s", e->cohort, e->split));
  demur_rows_pair(&rows, "Risk model evaluated", g_strdup(demur_text_recorded(e->model)));
  demur_rows_pair(&rows, "Seed", g_strdup_printf("%" G_GUINT64_FORMAT, e->seed));
  demur_rows_pair(&rows, "Trials", demur_section_trials(e));
  demur_rows_pair(&rows, "Bins",
                  g_strdup_printf("at most %d of equal mass, each of at least %zu scans",
                                  DEMUR_MAX_RELIABILITY_BINS, e->min_bin_size));
  demur_rows_pair(&rows, "In-sample scans", g_strdup(e->in_sample ? "yes, by request" : "none"));
  demur_rows_pair(&rows, "Cohort digest (SHA-256)",
                  g_strdup(demur_text_recorded(input->cohort.digest)));
  demur_rows_pair(&rows, "Digest of the rows used (SHA-256)",
                  g_strdup(demur_text_recorded(e->digest)));
  if (input->log_head != NULL)
    demur_rows_pair(&rows, "Head of the log", g_strdup(input->log_head));
  demur_rows_pair(&rows, "Digest of the JSON of this report (SHA-256)", g_strdup(p->digest));
  demur_rows_pairs_table(p, &rows, "Fact", "Value");
  demur_section_text(
      p, DEMUR_TEXT_NOTE,
      "Every number of this report stands in the JSON file beside it, whose digest is in the "
      "footer of each page.");
  if (demur_layout_lacks_glyphs(p->layout))
    demur_section_text(
        p, DEMUR_TEXT_NOTE,
        "Some names hold characters that no font installed here has: they stand as their "
        "Unicode code points, “[U+..]”. The JSON holds the names as they are.");
}

static void
add_measures(DemurPages *p) {
  const DemurEvaluation *e = p->e;
  demur_section_text(p, DEMUR_TEXT_HEADING, "Measures");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "%s: accepted scans in bins of equal mass by the %s; root of the mean squared "
      "difference between observed share and mean "
      "%s. %s: the largest such difference. Brier: mean squared error. Site error: how far "
      "sites differ from their risks "
      "beyond chance, from pairs of different patients of a site. S-MMCE: the kernel form of "
      "the calibration error that "
      "training lowers.",
      demur_text_measure(DEMUR_MEASURE_SBCE2, e->n_classes),
      e->n_classes > 2 ? "top probability" : "risk", e->n_classes > 2 ? "top probability" : "risk",
      demur_text_measure(DEMUR_MEASURE_SBCEINF, e->n_classes));
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "Choices where the paper and its code differ: bins of at least 25 scans (paper); new "
      "perturbations at every update (paper); "
      "the threshold is the exact ceil(coverage × n)-th largest score, ties all kept; an "
      "empty selection is undefined, never "
      "zero; resamples are shared by all methods.");
  if (e->in_cells) {
    g_autofree char *n = demur_text_count(e->n_scans);
    demur_section_text(
        p, DEMUR_TEXT_BODY,
        "With %s scans, resamples and redrawn labels were counted in cells of risk and score "
        "(up to 512 × 512 for intervals and noise floors, 8,192 × 512 for trials), not scan by "
        "scan. The numbers of the split itself were measured scan by scan.",
        n);
  }
}

void
demur_section_provenance(DemurPages *p) {
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Method and provenance");
  demur_section_text(
      p, DEMUR_TEXT_BODY,
      "Method: A. Fisch, T. Jaakkola and R. Barzilay, Calibrated Selective Classification, "
      "Transactions on Machine Learning "
      "Research, 2022. A selector scores each scan from the risk model's output and from how "
      "unlike the "
      "reference scans it is; scans below the threshold are refused, so that the risks that "
      "are shown agree with what happens.");
  add_selector(p);
  add_settings(p);
  add_files(p);
  add_measures(p);
}
