/* What the sections of the report share. */
#include "report/section.h"

#include "report/charts.h"
#include "report/format.h"

#include <math.h>

const double demur_section_coverages[DEMUR_SECTION_N_COVERAGES] = {0.9, 0.7, 0.5};

DemurRows
demur_rows_new(void) {
  return (DemurRows){g_ptr_array_new_with_free_func(g_free),
                     g_array_new(FALSE, FALSE, sizeof(gboolean))};
}

/* Takes the text over. */
void
demur_rows_cell(DemurRows *rows, char *text) {
  g_ptr_array_add(rows->cells, text);
}

void
demur_rows_end(DemurRows *rows, gboolean bold) {
  g_array_append_val(rows->bold, bold);
}

/* Adds the table and frees the rows. */
void
demur_rows_table(DemurPages *p, DemurRows *rows, size_t n_columns,
                 const DemurLayoutColumn *columns) {
  demur_layout_table(p->layout, n_columns, columns, rows->bold->len,
                     (const char *const *)rows->cells->pdata,
                     (const gboolean *)(void *)rows->bold->data);
  g_ptr_array_unref(rows->cells);
  g_array_unref(rows->bold);
}

void
demur_rows_pair(DemurRows *rows, const char *key, char *value) {
  demur_rows_cell(rows, g_strdup(key));
  demur_rows_cell(rows, value);
  demur_rows_end(rows, FALSE);
}

void
demur_rows_pairs_table(DemurPages *p, DemurRows *rows, const char *key, const char *value) {
  const DemurLayoutColumn columns[] = {{key, FALSE, 150, FALSE}, {value, FALSE, 200, TRUE}};
  demur_rows_table(p, rows, 2, columns);
}

void
demur_section_text(DemurPages *p, DemurTextStyle style, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  demur_layout_text(p->layout, style, text);
}

static void
figure_draw(gconstpointer data, cairo_t *cr, const DemurPalette *palette,
            DemurRectangle rectangle) {
  demur_chart_draw(data, cr, palette, rectangle);
}

static void
figure_free(gpointer data) {
  demur_chart_free(data);
}

/* Takes the chart over. */
DemurLayoutFigure
demur_section_figure(DemurChart *chart) {
  return (DemurLayoutFigure){figure_draw, chart, figure_free, demur_chart_describe(chart)};
}

void
demur_section_chart(DemurPages *p, double height, DemurChart *chart) {
  const DemurLayoutFigure figure = demur_section_figure(chart);
  demur_layout_figures(p->layout, height, 1, &figure);
}

/* A method's short name at a line or a panel. */
#define FOREST_PART 13 /* rows that stay together */

gboolean
demur_section_forest(DemurPages *p,
                     DemurChart *(*make)(const DemurReportFinding *finding, size_t from, size_t to,
                                         size_t most_rows),
                     size_t from, size_t to) {
  size_t n = FOREST_PART;
  for (size_t first = 0; first < n; first += FOREST_PART) {
    DemurChart *part = make(&p->finding, from, to, DEMUR_SECTION_MOST_GROUPS);
    if (!part)
      return FALSE;
    n = demur_chart_forest_part(part, first, FOREST_PART);
    demur_section_chart(
        p, demur_chart_height(part, demur_palette_paper(), p->width - 2 * DEMUR_PAGES_MARGIN),
        part);
  }
  return TRUE;
}

const char *
demur_section_short_title(const DemurPages *p, const DemurMethodResult *method) {
  return demur_chart_method_label(&p->finding, method);
}

/* "25 trials (5 models x 5 resamples by patient)", owned. */
char *
demur_section_trials(const DemurEvaluation *e) {
  return g_strdup_printf("%zu trials (%zu %s × %zu resamples by %s)", e->n_models * e->n_resamples,
                         e->n_models, e->n_models == 1 ? "model" : "models", e->n_resamples,
                         e->resample_unit ? e->resample_unit : "scan");
}

/* Raw and recalibrated risks stand side by side. */
gboolean
demur_section_both_kinds(const DemurEvaluation *e) {
  for (size_t i = 1; i < e->n_methods; i++)
    if (!e->methods[i].recalibrated != !e->methods[0].recalibrated)
      return TRUE;
  return FALSE;
}

/* A method's title, with its kind of risk below where both stand side by side; owned. */
char *
demur_section_method(const DemurPages *p, const DemurMethodResult *method, gboolean kinds) {
  const char *title = demur_finding_title(&p->finding, method);
  return kinds
             ? g_strdup_printf("%s\n%s risks", title, method->recalibrated ? "recalibrated" : "raw")
             : g_strdup(title);
}

/* "1.08 (.93 to 1.25)", owned. */
char *
demur_section_interval(double value, DemurInterval interval, int decimals) {
  g_autofree char *text = demur_text_decimal(value, decimals);
  if (!isfinite(value) || !isfinite(interval.low) || !isfinite(interval.high))
    return g_steal_pointer(&text);
  g_autofree char *low = demur_text_decimal(interval.low, decimals),
                  *high = demur_text_decimal(interval.high, decimals);
  return g_strdup_printf("%s\n%s to %s", text, low, high);
}

char *
demur_section_measure(const DemurOperatingPoint *at, DemurMeasure measure) {
  return isfinite(at->measures[measure])
             ? demur_section_interval(at->measures[measure], at->intervals[measure], 2)
             : demur_finding_measure_text(at, measure, 2);
}

char *
demur_section_amount(size_t n_scans, size_t n_patients, size_t n_sites) {
  g_autofree char *scans = demur_text_counted(n_scans, "scan", "scans"),
                  *patients = demur_text_counted(n_patients, "patient", "patients"),
                  *sites = demur_text_counted(n_sites, "site", "sites");
  return g_strdup_printf("%s of %s from %s", scans, patients, sites);
}

const char *
demur_section_setting(const DemurReportInput *input, const char *key) {
  for (size_t i = 0; i < input->selector.n_settings; i++)
    if (g_strcmp0(input->selector.settings[i].key, key) == 0)
      return input->selector.settings[i].value;
  return NULL;
}

char *
demur_section_setting_words(const char *value) {
  GString *words = g_string_new(NULL);
  for (const char *c = demur_text_recorded(value); *c != '\0'; c++) {
    g_string_append_c(words, *c);
    if (*c == ',' && c[1] != ' ' && c[1] != '\0' && !g_ascii_isdigit(c[1]))
      g_string_append_c(words, ' ');
  }
  return g_string_free(words, FALSE);
}
