#include "ui/cohort-page.h"

#include <math.h>
#include <string.h>

#include "report/confidence-histogram.h"
#include "report/coverage-curve.h"
#include "report/finding.h"
#include "report/forest.h"
#include "report/format.h"
#include "selector/coverage.h"
#include "tasks/tune.h"
#include "ui/chart-card.h"
#include "ui/counting-charts.h"
#include "ui/drawing.h"
#include "ui/files.h"
#include "ui/job.h"
#include "ui/question-window.h"
#include "ui/selector-choice.h"
#include "ui/shown.h"
#include "ui/who-table.h"
#include "ui/words.h"
#include "ui/worker.h"
#include "words/federated-words.h"

#define N_SERIES 3
#define REST_MS 120 /* without a move of the slider */

/* Everything the charts read, filled again at each move of the slider. */
typedef struct {
  DemurShownPoint now;
  double points[N_SERIES][DEMUR_N_COVERAGES], means[N_SERIES][DEMUR_N_COVERAGES],
      sds[N_SERIES][DEMUR_N_COVERAGES], coverages[DEMUR_N_COVERAGES];
  DemurCoverageSeries curve_series[N_SERIES];
  DemurCoverageCurve curve;
  char *labels[DEMUR_OPERATING_MAX_LABELS];
  DemurCountingCharts counting;
  DemurHistogramPanel panels[2];
  DemurConfidenceHistogram histogram;
} Live;

/* The cards of the page, two a line: title, name of their files, and what of Live they show. */
static const struct {
  const char *title, *file_name;
  const DemurChartInterface *interface;
  size_t data;    /* its offset in Live */
  size_t written; /* in DemurWrittenCharts, of one that counts outcomes; 0: as it is shown */
} cards[] = {
    {N_("Selective calibration error"), "coverage-curve", &demur_coverage_curve_chart,
     G_STRUCT_OFFSET(Live, curve), 0},
    {N_("Rejection by label: share of each label that is refused"), "rejection-by-label",
     &demur_rejection_chart, G_STRUCT_OFFSET(Live, counting.rejection),
     G_STRUCT_OFFSET(DemurWrittenCharts, charts.rejection)},
    {N_("Reliability of the accepted"), "reliability", &demur_reliability_chart,
     G_STRUCT_OFFSET(Live, counting.reliability),
     G_STRUCT_OFFSET(DemurWrittenCharts, charts.reliability)},
    {N_("What is shown: risks of the accepted"), "confidence-histogram",
     &demur_confidence_histogram_chart, G_STRUCT_OFFSET(Live, histogram), 0},
};
#define N_CHARTS G_N_ELEMENTS(cards)

struct _DemurCohortPage {
  GtkBox parent_instance;
  DemurSession *session;
  gboolean shown, stale;
  DemurJob *study_job, *tune_job;
  guint64 generation;
  char *choice;   /* what the study, or the one that is computed, is of (choice_of) */
  gint64 event;   /* the last one of the log that it saw (tasks/coverage-study.h) */
  double wanted;  /* a coverage that was asked for before there is a study; NaN: none */
  char *group_by; /* of the report's subgroups; NULL: the usual */
  DemurCoverageStudy *study;
  DemurOperatingScratch *scratch;
  Live live;
  DemurWrittenCharts *written; /* what was last written to a file, which the exporter reads */
  int measure;                 /* DemurMeasure of the curve */
  gboolean tables, updating;
  GtkStack *stack;
  GtkLabel *placeholder;
  GtkProgressBar *progress;
  GtkDropDown *selector, *horizon, *cohort, *split, *measures;
  GtkLabel *coverage, *line, *promise, *verdict, *verdict_line;
  GtkScale *scale;
  GtkWidget *use, *cancel, *renewing;
  DemurChartCard *card[N_CHARTS];
  GtkGrid *charts, *who;
  GtkLabel *who_note;
  DemurWhoTable who_table;
  guint description_idle;
  guint rest; /* a timeout: the slider rests */
};

enum { STUDY, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(DemurCohortPage, demur_cohort_page, GTK_TYPE_BOX)

static void
clear_study(DemurCohortPage *page) {
  for (guint c = 0; c < N_CHARTS; c++)
    if (page->card[c] != NULL)
      demur_chart_card_update(page->card[c], NULL, NULL, NULL);
  g_clear_pointer(&page->scratch, demur_operating_scratch_free);
  g_clear_pointer(&page->study, demur_coverage_study_unref);
  for (guint l = 0; l < DEMUR_OPERATING_MAX_LABELS; l++)
    g_clear_pointer(&page->live.labels[l], g_free);
  demur_counting_charts_clear(&page->live.counting);
  g_clear_pointer(&page->written, demur_written_charts_free);
}

static void
demur_cohort_page_dispose(GObject *object) {
  DemurCohortPage *page = DEMUR_COHORT_PAGE(object);
  demur_job_drop(&page->study_job);
  demur_job_drop(&page->tune_job);
  for (guint c = 0; c < N_CHARTS; c++)
    page->card[c] = NULL;
  clear_study(page);
  g_clear_handle_id(&page->description_idle, g_source_remove);
  g_clear_handle_id(&page->rest, g_source_remove);
  g_clear_object(&page->session);
  g_clear_pointer(&page->group_by, g_free);
  g_clear_pointer(&page->choice, g_free);
  G_OBJECT_CLASS(demur_cohort_page_parent_class)->dispose(object);
}

/* Charts as the report draws them. */

static void
prepare_curve(DemurCohortPage *page) {
  Live *live = &page->live;
  const DemurCoverageStudy *study = page->study;
  const struct {
    const DemurMethodResult *method;
    const char *label;
    DemurChartSeries series;
  } lines[N_SERIES] = {{study->method, _("selector"), DEMUR_SERIES_SELECTOR},
                       {study->confidence, _("confidence"), DEMUR_SERIES_CONFIDENCE},
                       {study->full, _("everything"), DEMUR_SERIES_EVERYTHING}};
  size_t n = 0;
  for (guint s = 0; s < N_SERIES; s++) {
    if (lines[s].method == NULL)
      continue;
    for (guint i = 0; i < DEMUR_N_COVERAGES; i++) {
      const DemurCurvePoint *point = &lines[s].method->curve[page->measure][i];
      live->coverages[i] = study->evaluation->coverages[i];
      live->points[n][i] = point->point;
      live->means[n][i] = point->mean;
      live->sds[n][i] = point->sd;
    }
    live->curve_series[n] = (DemurCoverageSeries){lines[s].label, lines[s].series, live->points[n],
                                                  live->means[n], live->sds[n],    FALSE};
    n++;
  }
  live->curve = (DemurCoverageCurve){
      .measure = demur_text_measure(page->measure, study->evaluation->n_classes),
      .n = DEMUR_N_COVERAGES,
      .coverages = live->coverages,
      .n_series = n,
      .series = live->curve_series,
      .marker = NAN,
      .across = demur_measure_row(page->measure)->tells == DEMUR_TELLS_COUNT,
      .from_zero =
          page->measure != DEMUR_MEASURE_ACCURACY && page->measure != DEMUR_MEASURE_SITE_ERROR,
      .decimals = 4};
  static const char *const titles[DEMUR_N_FINE_MEASURES] = {
      N_("Calibration error %s"), N_("Largest error %s"),   N_("%s of the accepted"),
      N_("%s of the accepted"),   N_("%s of the accepted"), N_("%s of the accepted")};
  g_autofree char *format = g_strdup(_(titles[page->measure]));
  g_auto(GStrv) parts = g_strsplit(format, "%s", 2);
  g_autofree char *name = g_strjoinv(live->curve.measure, parts);
  const size_t n_trials = study->evaluation->n_models * study->evaluation->n_resamples;
  g_autofree char *title = g_strdup_printf(
      ngettext_("%s (± sd, %zu trial)", "%s (± sd, %zu trials)", n_trials), name, n_trials);
  demur_chart_card_set_title(page->card[0], title);
  demur_chart_card_set_note(page->card[0], _("Lines: this split. Bands: ± sd over its resamples."));
  demur_chart_card_changed(page->card[0]);
}

static void
prepare_live(DemurCohortPage *page) {
  Live *live = &page->live;
  const DemurCoverageStudy *study = page->study;
  prepare_curve(page);
  for (size_t l = 0; l < MIN(study->evaluation->n_classes, DEMUR_OPERATING_MAX_LABELS); l++) {
    g_free(live->labels[l]);
    live->labels[l] = study->report->cohort.labels != NULL
                          ? g_strdup(study->report->cohort.labels[l])
                          : demur_label_title((int)l, study->evaluation->n_classes);
  }
  demur_counting_charts_init(&live->counting, &live->now, (const char *const *)live->labels);
  live->panels[0] =
      (DemurHistogramPanel){_("selector"), DEMUR_SERIES_SELECTOR, live->now.histogram, 0};
  live->panels[1] = (DemurHistogramPanel){_("confidence"), DEMUR_SERIES_CONFIDENCE,
                                          live->now.histogram_of_confidence, 0};
  live->histogram = (DemurConfidenceHistogram){.x_label = study->evaluation->n_classes > 2
                                                              ? _("confidence of the prediction")
                                                              : _("risk shown"),
                                               .n_bins = DEMUR_N_HISTOGRAM_BINS,
                                               .low = study->evaluation->histogram_low,
                                               .width = study->evaluation->histogram_width,
                                               .all = study->evaluation->histogram_all,
                                               .n_panels = 2,
                                               .panels = live->panels};
}

/* What a screen reader hears follows in an idle: text for six drawings a frame is too much. */
static gboolean
on_description_idle(gpointer data) {
  DemurCohortPage *page = data;
  page->description_idle = 0;
  if (page->study != NULL)
    demur_who_table_describe(&page->who_table);
  return G_SOURCE_REMOVE;
}

/* What stands below an exported picture. */
static char *
caption_text(const DemurCoverageStudy *study, double coverage) {
  g_autofree char *at = demur_text_coverage(coverage);
  g_autofree char *digest = demur_text_digest(study->evaluation->digest);
  return g_strdup_printf(
      _("%sCohort %s, split %s · selector %s at coverage %s · rows %s · Demur %s · "
        "for research use"),
      study->evaluation->simulated ? _("SIMULATED DATA · ") : "", study->cohort, study->split,
      study->selector, at, digest, DEMUR_VERSION);
}

/* The errors at this coverage, and what tuning to it would promise: the plug-in bound, by the
 * patients it tunes on. */
static void
update_promise(DemurCohortPage *page, double coverage) {
  const DemurCoverageStudy *study = page->study;
  g_autofree char *error2 = demur_text_decimal(page->live.now.selector.error2, 3);
  g_autofree char *confidence2 = demur_text_decimal(page->live.now.confidence.error2, 3);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, _("%s %s, plain confidence %s · "),
                         demur_text_measure(DEMUR_MEASURE_SBCE2, study->evaluation->n_classes),
                         error2, confidence2);
  if (study->n_tune_patients > 0) {
    const double margin = demur_coverage_margin(study->n_tune_patients);
    g_autofree char *least = demur_text_percent(fmax(0, coverage - margin), 1);
    g_string_append_printf(text, _("used: at least %s with 95 %% confidence"), least);
    g_autofree char *patients = demur_text_count(study->n_tune_patients);
    g_autofree char *tip = g_strdup_printf(
        ngettext_(
            "Tuned to this coverage on the %s patient of split “tune”, the selector accepts at "
            "least %s of scans like theirs, with 95 %% confidence.",
            "Tuned to this coverage on the %s patients of split “tune”, the selector accepts at "
            "least %s of scans like theirs, with 95 %% confidence.",
            study->n_tune_patients),
        patients, least);
    demur_shown_tooltip_set(GTK_WIDGET(page->promise), tip);
  } else {
    g_string_append(text, _("no split “tune”, so no coverage can be promised"));
    demur_shown_tooltip_set(GTK_WIDGET(page->promise), NULL);
  }
  demur_shown_label_set(page->promise, text->str);
}

/* The smooth curve, and in the corner O:E, slope and calibration in the large, where they are known:
 * once the slider rests, they take longer than a frame. */
static void
on_rest(gpointer data) {
  DemurCohortPage *page = data;
  page->rest = 0;
  if (page->study == NULL)
    return;
  Live *live = &page->live;
  demur_counting_charts_calibrate(&live->counting, page->study, &live->now);
  g_autofree char *caption = caption_text(page->study, live->now.coverage);
  for (guint c = 0; c < N_CHARTS; c++)
    if (cards[c].data == G_STRUCT_OFFSET(Live, counting.reliability))
      demur_chart_card_update(page->card[c], cards[c].interface, &live->counting.reliability,
                              caption);
}

/* One frame: everything from the arrays. */
static void
update(DemurCohortPage *page) {
  if (page->study == NULL)
    return;
  Live *live = &page->live;
  g_clear_handle_id(&page->rest, g_source_remove);
  page->rest = g_timeout_add_once(REST_MS, on_rest, page);
  const double coverage = round(gtk_range_get_value(GTK_RANGE(page->scale))) / 100;
  demur_operating_compute(page->study, coverage, page->scratch, &live->now);
  live->curve.marker = coverage;
  demur_counting_charts_update(&live->counting, &live->now);
  live->panels[0].n_accepted = live->now.n_accepted;
  live->panels[1].n_accepted = live->now.n_confidence_accepted;
  const DemurCoverageStudy *study = page->study;
  g_autofree char *caption = caption_text(study, coverage);
  for (guint c = 0; c < N_CHARTS; c++)
    demur_chart_card_update(page->card[c], cards[c].interface,
                            G_STRUCT_MEMBER_P(live, cards[c].data), caption);
  g_autofree char *text = demur_text_coverage(coverage);
  demur_shown_label_set(page->coverage, text);
  g_autofree char *accepted = demur_text_count(live->now.n_accepted);
  g_autofree char *all = demur_text_count(live->now.n);
  g_autofree char *threshold = demur_text_significant(live->now.threshold, 3);
  g_autofree char *line = g_strdup_printf(
      ngettext_("accepts %s of %s scan · threshold %s, of this split",
                "accepts %s of %s scans · threshold %s, of this split", live->now.n),
      accepted, all, threshold);
  demur_shown_label_set(page->line, line);
  update_promise(page, coverage);
  demur_who_table_update(&page->who_table, &page->live.now);
  if (page->description_idle == 0)
    page->description_idle = g_idle_add_full(G_PRIORITY_LOW, on_description_idle, page, NULL);
}

static void
on_scale(DemurCohortPage *page) {
  if (!page->updating)
    update(page);
}

/* Of demur_comparison_verdict_words, for translation. */
G_GNUC_UNUSED static const char *const verdict_words[] = {N_("better"), N_("no difference shown"),
                                                          N_("worse"), N_("cannot be decided")};

/* "1,031 patients": what a comparison resampled. */
static char *
units_text(size_t n, DemurUnit unit) {
  g_autofree char *number = demur_text_count(n);
  if (unit == DEMUR_UNIT_PATIENT)
    return g_strdup_printf(ngettext_("%s patient", "%s patients", n), number);
  if (unit == DEMUR_UNIT_SITE)
    return g_strdup_printf(ngettext_("%s site", "%s sites", n), number);
  return g_strdup_printf(ngettext_("%s scan", "%s scans", n), number);
}

/* The verdict of method.md 5, where the selector's name appears. */
static void
update_verdict(DemurCohortPage *page) {
  const DemurReportFinding finding = demur_finding(page->study->report);
  const char *words =
      finding.compared ? _(demur_comparison_verdict_words(finding.verdict)) : _("not compared");
  g_autofree char *title = g_strdup_printf(_("Against plain confidence on this split: %s"), words);
  demur_shown_label_set(page->verdict, title);
  g_autoptr(GString) line = g_string_new(NULL);
  if (finding.plain != NULL) {
    g_autofree char *difference = demur_text_signed(finding.plain->difference, 3);
    g_autofree char *low = demur_text_signed(finding.plain->low, 3);
    g_autofree char *high = demur_text_signed(finding.plain->high, 3);
    g_autofree char *units = units_text(finding.plain->n_units, finding.plain->unit);
    g_string_append_printf(line, _("S-BCE₂ AUC difference %s (%s to %s), resampling %s. "),
                           difference, low, high, units);
  }
  g_string_append(line, page->study->validation != NULL
                            ? _("Validated on left-out sites.")
                            : _("Not validated on left-out sites: run demur validate."));
  g_autofree char *federated = demur_words_federated(page->study->judge, demur_words_translate);
  if (federated != NULL)
    g_string_append_printf(line, " %s", federated);
  demur_shown_label_set(page->verdict_line, line->str);
}

/* Computing the study. */

typedef struct {
  char *path, *selector, *cohort, *split, *group_by, *reason, *user;
  double coverage;
} StudyInput;

static void
input_free(gpointer data) {
  StudyInput *input = data;
  g_free(input->path);
  g_free(input->selector);
  g_free(input->cohort);
  g_free(input->split);
  g_free(input->group_by);
  g_free(input->reason);
  g_free(input->user);
  g_free(input);
}

static gpointer
study_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const StudyInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  const DemurCoverageStudyParams params = {input->selector, input->cohort, input->split,
                                           input->group_by};
  return demur_task_coverage_study(&task, &params, error);
}

static void
study_free(gpointer study) {
  demur_coverage_study_unref(study);
}

static void
placeholder(DemurCohortPage *page, const char *text, gboolean busy) {
  demur_shown_label_set(page->placeholder, text);
  gtk_widget_set_visible(GTK_WIDGET(page->progress), busy);
  gtk_widget_set_visible(page->cancel, busy);
  gtk_stack_set_visible_child_name(page->stack, "placeholder");
}

static void
on_study_progress(gpointer owner, guint64 tag, double fraction, const char *stage) {
  DemurCohortPage *page = owner;
  if (tag == page->generation)
    gtk_progress_bar_set_fraction(page->progress, CLAMP(fraction, 0, 1));
}

static void
on_study(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurCohortPage *page = owner;
  if (tag != page->generation) {
    demur_coverage_study_unref(result);
    return;
  }
  page->study_job = NULL;
  if (result == NULL) {
    g_autofree char *why = demur_words_error(error);
    clear_study(page);  /* it is of before */
    page->stale = TRUE; /* what hindered it may be gone when the page is looked at again */
    placeholder(page,
                g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
                    ? _("Cancelled. Choose a selector, a cohort or a split to begin anew.")
                    : why,
                FALSE);
    g_signal_emit(page, signals[STUDY], 0);
    return;
  }
  /* Anew of what was shown: the reader has a place on the slider, and may be anywhere. */
  const gboolean renewed = page->study != NULL;
  clear_study(page);
  page->study = result;
  page->scratch = demur_operating_scratch_new(page->study);
  page->who_table.n_rows = 0;
  gtk_widget_set_visible(page->renewing, FALSE);
  prepare_live(page);
  update_verdict(page);
  page->updating = TRUE;
  const double tuned = page->study->tuned_coverage;
  gtk_scale_clear_marks(page->scale);
  if (!isnan(tuned))
    gtk_scale_add_mark(page->scale, 100 * tuned, GTK_POS_TOP, NULL);
  if (!renewed)
    gtk_range_set_value(GTK_RANGE(page->scale), 100 * (!isnan(page->wanted) ? page->wanted
                                                       : isnan(tuned)       ? 0.9
                                                                            : tuned));
  page->wanted = NAN;
  page->updating = FALSE;
  gtk_stack_set_visible_child_name(page->stack, "study");
  update(page);
  g_clear_handle_id(&page->rest, g_source_remove);
  on_rest(page);
  if (page->shown && !renewed)
    gtk_widget_grab_focus(GTK_WIDGET(page->scale));
  g_signal_emit(page, signals[STUDY], 0);
}

static const char *
chosen(GtkDropDown *menu) {
  GtkStringObject *item = gtk_drop_down_get_selected_item(menu);
  return item != NULL ? gtk_string_object_get_string(item) : NULL;
}

static const char *
chosen_selector(DemurCohortPage *page) {
  const DemurScanTable *table = demur_session_table(page->session);
  return table != NULL ? demur_selector_choice_get(page->selector, page->horizon,
                                                   demur_selector_choices_of(table))
                       : NULL;
}

/* What the page is asked for (owned); NULL: there is nothing to evaluate. */
static char *
choice_of(DemurCohortPage *page) {
  const char *selector = chosen_selector(page), *cohort = chosen(page->cohort),
             *split = chosen(page->split);
  return selector != NULL && cohort != NULL && split != NULL
             ? g_strjoin("\n", demur_session_path(page->session), selector, cohort, split, NULL)
             : NULL;
}

/* 0 where the workspace can't be read: the study itself then says why. */
static gint64
last_event(DemurCohortPage *page) {
  gint64 event = 0;
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, demur_session_path(page->session),
                          demur_session_user(page->session));
  task.opening = DEMUR_WORKSPACE_READ_ONLY;
  return demur_task_coverage_study_event(&task, &event, NULL) ? event : 0;
}

/* What is shown of the same choice stays, and answers, until it is there anew. */
static void
compute(DemurCohortPage *page) {
  demur_job_drop(&page->study_job);
  page->generation++;
  page->stale = FALSE;
  g_autofree char *before = g_steal_pointer(&page->choice);
  page->choice = choice_of(page);
  const gboolean keep = page->study != NULL && g_strcmp0(before, page->choice) == 0;
  gtk_widget_set_visible(page->renewing, keep);
  if (!keep)
    clear_study(page);
  const char *selector = chosen_selector(page), *cohort = chosen(page->cohort),
             *split = chosen(page->split);
  if (page->choice == NULL) {
    placeholder(page,
                cohort == NULL
                    ? _("This workspace holds no cohort. Drop its table here, or import it by the "
                        "menu.")
                    : _("There is no selector yet. Train one: it learns from this cohort when a "
                        "risk should be held back."),
                FALSE);
    return;
  }
  if (!keep)
    placeholder(page, _("Evaluating the selector and its baselines…"), TRUE);
  gtk_progress_bar_set_fraction(page->progress, 0);
  page->event = last_event(page);
  StudyInput *input = g_new0(StudyInput, 1);
  input->path = g_strdup(demur_session_path(page->session));
  input->selector = g_strdup(selector);
  input->cohort = g_strdup(cohort);
  input->split = g_strdup(split);
  input->group_by = g_strdup(page->group_by);
  const DemurJobStart start = {.func = study_work,
                               .input = input,
                               .free_input = input_free,
                               .free_result = study_free,
                               .owner = G_OBJECT(page),
                               .tag = page->generation,
                               .done = on_study,
                               .progress = on_study_progress};
  page->study_job = demur_job_start(&start);
}

static void
on_choice(DemurCohortPage *page) {
  if (page->updating)
    return;
  if (page->shown)
    compute(page);
  else
    page->stale = TRUE;
}

static void
select_text(GtkDropDown *menu, const char *text) {
  GListModel *model = gtk_drop_down_get_model(menu);
  for (guint i = 0; model != NULL && i < g_list_model_get_n_items(model); i++) {
    g_autoptr(GtkStringObject) item = g_list_model_get_item(model, i);
    if (g_strcmp0(gtk_string_object_get_string(item), text) == 0)
      gtk_drop_down_set_selected(menu, i);
  }
}

static void
fill(GtkDropDown *menu, char *const *texts) {
  g_autoptr(GtkStringList) list = gtk_string_list_new((const char *const *)texts);
  gtk_drop_down_set_model(menu, G_LIST_MODEL(list));
}

static void
fill_splits(DemurCohortPage *page) {
  DemurScanTable *table = demur_session_table(page->session);
  const guint at = gtk_drop_down_get_selected(page->cohort);
  if (at == GTK_INVALID_LIST_POSITION || table->cohorts[0] == NULL) {
    fill(page->split, (char *[]){NULL});
    return;
  }
  fill(page->split, table->splits[at]);
  select_text(page->split, DEMUR_SPLIT_TEST);
}

static void
on_selector_choice(DemurCohortPage *page) {
  if (page->updating)
    return;
  page->updating = TRUE;
  demur_selector_choice_fill_horizons(
      page->selector, page->horizon, demur_selector_choices_of(demur_session_table(page->session)));
  page->updating = FALSE;
  on_choice(page);
}

static void
on_cohort_choice(DemurCohortPage *page) {
  if (page->updating)
    return;
  page->updating = TRUE;
  fill_splits(page);
  page->updating = FALSE;
  on_choice(page);
}

static void
on_loaded(DemurCohortPage *page) {
  DemurScanTable *table = demur_session_table(page->session);
  g_autofree char *cohort = g_strdup(chosen(page->cohort));
  g_autofree char *split = g_strdup(chosen(page->split));
  /* What the reader chose stays chosen, as long as it is there. */
  const gboolean here = page->choice != NULL && g_str_has_prefix(page->choice, table->path) &&
                        page->choice[strlen(table->path)] == '\n';
  /* The table of before is gone: its own text says which selector it was. */
  g_auto(GStrv) parts = g_strsplit(page->choice != NULL ? page->choice : "", "\n", -1);
  const char *selector = here && g_strv_length(parts) == 4 ? parts[1] : NULL;
  page->updating = TRUE;
  demur_selector_choice_fill(page->selector, page->horizon, demur_selector_choices_of(table));
  fill(page->cohort, table->cohorts);
  if (here)
    demur_selector_choice_set(page->selector, page->horizon, demur_selector_choices_of(table),
                              selector);
  select_text(page->cohort, here ? cohort : table->in_use.cohort);
  fill_splits(page);
  if (here)
    select_text(page->split, split);
  page->updating = FALSE;
  g_autofree char *choice = choice_of(page);
  if (choice == NULL || g_strcmp0(choice, page->choice) != 0 || last_event(page) != page->event)
    on_choice(page);
}

void
demur_cohort_page_show_selector(DemurCohortPage *page, const char *selector) {
  page->updating = TRUE;
  demur_selector_choice_set(page->selector, page->horizon,
                            demur_selector_choices_of(demur_session_table(page->session)),
                            selector);
  page->updating = FALSE;
  on_choice(page);
}

void
demur_cohort_page_set_shown(DemurCohortPage *page, gboolean shown) {
  page->shown = shown;
  if (shown && page->stale && demur_session_table(page->session) != NULL)
    compute(page);
}

/* Whether a report of the study would tell what is in the workspace now. */
static gboolean
report_is_current(DemurCohortPage *page) {
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, demur_session_path(page->session),
                          demur_session_user(page->session));
  task.opening = DEMUR_WORKSPACE_READ_ONLY;
  return demur_coverage_study_report_is_current(&task, page->study);
}

void
demur_cohort_page_compute(DemurCohortPage *page) {
  if (page->study_job == NULL && demur_session_table(page->session) != NULL &&
      (page->stale || (page->study != NULL && !report_is_current(page))))
    compute(page);
}

void
demur_cohort_page_group_by(DemurCohortPage *page, const char *group_by) {
  if (g_strcmp0(group_by, page->group_by) == 0)
    return;
  g_free(page->group_by);
  page->group_by = g_strdup(group_by);
  if (demur_session_table(page->session) != NULL)
    compute(page);
}

DemurCoverageStudy *
demur_cohort_page_study(DemurCohortPage *page) {
  return page->study;
}

gboolean
demur_cohort_page_is_computing(DemurCohortPage *page) {
  return page->study_job != NULL;
}

void
demur_cohort_page_set_coverage(DemurCohortPage *page, double coverage) {
  if (page->study == NULL)
    page->wanted = coverage;
  gtk_range_set_value(GTK_RANGE(page->scale), 100 * coverage);
}

double
demur_cohort_page_coverage(DemurCohortPage *page) {
  return round(gtk_range_get_value(GTK_RANGE(page->scale))) / 100;
}

/* Using a coverage. */

static gpointer
tune_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const StudyInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  const DemurTuneParams params = {.selector = input->selector,
                                  .cohort = input->cohort,
                                  .split = input->split,
                                  .coverages = &input->coverage,
                                  .n_coverages = 1,
                                  .keep_hold_back = TRUE,
                                  .reason = input->reason};
  gpointer tuned = demur_task_tune(&task, &params, error);
  if (tuned == NULL)
    demur_worker_refused(&task, "tune", *error);
  return tuned;
}

static void
tuned_free(gpointer tuned) {
  demur_tuned_free(tuned);
}

static void
on_tuned(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurCohortPage *page = owner;
  page->tune_job = NULL;
  gtk_widget_set_sensitive(page->use, TRUE);
  if (result == NULL) {
    demur_session_fail(page->session, error);
    return;
  }
  g_autoptr(DemurTuned) tuned = result;
  const DemurTuning *tuning = tuned->tunings->pdata[0];
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_printf(
      text,
      _("The threshold and your reason are kept. %s Verdicts given before keep the threshold they "
        "were given with; assess again for new ones."),
      tuning->sentence);
  for (guint i = 0; i < tuned->warnings->len; i++) {
    g_autofree char *words =
        demur_task_warning_words(tuned->warnings->pdata[i], demur_words_translate);
    g_string_append_printf(text, _(" Warning: %s."), words);
  }
  demur_session_notice(page->session, text->str, tuned->warnings->len > 0);
  demur_session_reload(page->session);
}

typedef struct {
  DemurCohortPage *page;
  StudyInput *input;
} UseData;

static void
on_reason(const char *text, gpointer data) {
  UseData *use = data;
  DemurCohortPage *page = use->page;
  if (text != NULL && page->tune_job == NULL) {
    use->input->reason = g_strdup(text);
    const DemurJobStart start = {.func = tune_work,
                                 .input = use->input,
                                 .free_input = input_free,
                                 .free_result = tuned_free,
                                 .owner = G_OBJECT(page),
                                 .done = on_tuned};
    page->tune_job = demur_job_start(&start);
    gtk_widget_set_sensitive(page->use, FALSE);
  } else {
    input_free(use->input);
  }
  g_object_unref(page);
  g_free(use);
}

/* Whether there is a study to act on; else the reader is told why not. */
static gboolean
has_study(DemurCohortPage *page) {
  if (page->study == NULL)
    demur_session_notice(
        page->session,
        page->study_job != NULL
            ? _("The selector is still being evaluated: nothing was done. Try again "
                "when the charts stand here.")
            : gtk_label_get_text(page->placeholder),
        FALSE);
  return page->study != NULL;
}

void
demur_cohort_page_use_coverage(DemurCohortPage *page) {
  if (!has_study(page))
    return;
  if (page->tune_job != NULL) {
    demur_session_notice(page->session, _("A threshold is being tuned: wait until it is kept."),
                         FALSE);
    return;
  }
  if (demur_session_read_only(page->session)) {
    demur_session_notice(page->session, _("This workspace can't be written."), TRUE);
    return;
  }
  DemurScanTable *table = demur_session_table(page->session);
  const guint at = gtk_drop_down_get_selected(page->cohort);
  if (at == GTK_INVALID_LIST_POSITION ||
      !g_strv_contains((const char *const *)table->splits[at], DEMUR_SPLIT_TUNE)) {
    demur_session_notice(page->session,
                         _("This cohort has no split named “tune” to take a threshold from: name "
                           "another with “demur tune --split”."),
                         TRUE);
    return;
  }
  UseData *use = g_new(UseData, 1);
  use->page = g_object_ref(page);
  use->input = g_new0(StudyInput, 1);
  use->input->path = g_strdup(demur_session_path(page->session));
  use->input->selector = g_strdup(page->study->selector);
  use->input->cohort = g_strdup(page->study->cohort);
  use->input->split = g_strdup(DEMUR_SPLIT_TUNE);
  use->input->user = g_strdup(demur_session_user(page->session));
  use->input->coverage = demur_cohort_page_coverage(page);
  g_autofree char *coverage = demur_text_coverage(use->input->coverage);
  g_autofree char *text = g_strdup_printf(
      _("Tunes selector %s to accept %s of the scans of split “tune” of cohort %s. Why this "
        "coverage? The reason is kept with your name and the time."),
      page->study->selector, coverage, page->study->cohort);
  demur_question_ask(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(page))), _("Use this coverage"),
                     text, NULL, _("Tune and keep"), FALSE, on_reason, use);
}

/* Tables and export. */

void
demur_cohort_page_toggle_tables(DemurCohortPage *page) {
  page->tables = !page->tables;
  for (guint c = 0; c < N_CHARTS; c++)
    demur_chart_card_show_table(page->card[c], page->tables);
}

/* What a card that counts outcomes writes: of the nearest set that may be told of, and its heading says
 * which. */
static gboolean
on_written(DemurChartCard *card, gpointer owner, DemurChartWritten *out, GError **error) {
  DemurCohortPage *page = owner;
  guint c = 0;
  while (page->card[c] != card)
    c++;
  DemurWrittenCharts *written = demur_written_charts_new(
      page->study, page->live.now.coverage, (const char *const *)page->live.labels, error);
  if (written == NULL)
    return FALSE;
  g_clear_pointer(&page->written, demur_written_charts_free);
  page->written = written;
  out->data = G_STRUCT_MEMBER_P(written, cards[c].written);
  g_autofree char *at = demur_text_coverage(written->coverage);
  /* TRANSLATORS: title of a chart, coverage */
  out->heading = g_strdup_printf(_("%s, at coverage %s"), _(cards[c].title), at);
  out->caption = caption_text(page->study, written->coverage);
  return TRUE;
}

/* What was written into a folder, where what counts outcomes is of another coverage or nowhere. */
static char *
written_text(DemurCohortPage *page) {
  double told;
  g_autoptr(GError) error = NULL;
  if (!demur_coverage_study_told(page->study, page->live.now.coverage, &told, &error)) {
    g_autofree char *why = demur_words_error(error);
    return g_strdup_printf(_("The curve and the histogram were written as SVG and CSV. %s"), why);
  }
  g_autofree char *at = demur_text_coverage(told);
  return g_strdup_printf(
      _("Each chart was written as SVG and CSV; rejection and reliability at coverage %s."), at);
}

static void
on_folder(const char *const *paths, gpointer data) {
  DemurCohortPage *page = data;
  g_autoptr(GError) error = NULL;
  static const char *const endings[] = {"svg", "csv"};
  double told;
  const gboolean counts =
      page->study != NULL &&
      demur_coverage_study_told(page->study, page->live.now.coverage, &told, NULL);
  for (guint c = 0; paths != NULL && error == NULL && c < N_CHARTS; c++)
    for (guint e = 0;
         (cards[c].written == 0 || counts) && error == NULL && e < G_N_ELEMENTS(endings); e++) {
      g_autofree char *name = g_strdup_printf("%s.%s", cards[c].file_name, endings[e]);
      g_autofree char *path = g_build_filename(paths[0], name, NULL);
      if (!demur_chart_card_export(page->card[c], path, &error))
        break;
    }
  if (error != NULL)
    demur_session_fail(page->session, error);
  else if (paths != NULL && page->study != NULL) {
    g_autofree char *text = written_text(page);
    demur_session_notice(page->session, text, FALSE);
  }
  g_object_unref(page);
}

void
demur_cohort_page_export(DemurCohortPage *page) {
  if (has_study(page))
    demur_files_choose(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(page))), DEMUR_CHOOSE_FOLDER,
                       _("Folder for the charts"), NULL, on_folder, g_object_ref(page));
}

/* Building: see resources/ui/cohort-page.ui. */

static void
on_measure(DemurCohortPage *page) {
  static const int measures[] = {DEMUR_MEASURE_SBCE2, DEMUR_MEASURE_BRIER, DEMUR_MEASURE_SBCEINF,
                                 DEMUR_MEASURE_ACCURACY};
  page->measure = measures[MIN(gtk_drop_down_get_selected(page->measures), 3)];
  if (page->study == NULL)
    return;
  prepare_curve(page);
  update(page);
}

static void
on_cancel(DemurCohortPage *page) {
  demur_job_cancel(page->study_job);
}

static void
build_charts(DemurCohortPage *page) {
  for (guint c = 0; c < N_CHARTS; c++) {
    page->card[c] = demur_chart_card_new(_(cards[c].title), cards[c].file_name);
    if (cards[c].written != 0)
      demur_chart_card_set_written(page->card[c], on_written, page);
    gtk_grid_attach(page->charts, GTK_WIDGET(page->card[c]), (int)(c % 2), (int)(c / 2), 1, 1);
  }
  const char *const names[] = {"S-BCE₂", "Brier", "S-BCE∞", _("Accuracy"), NULL};
  page->measures = GTK_DROP_DOWN(gtk_drop_down_new_from_strings(names));
  demur_shown_name_set(GTK_WIDGET(page->measures), _("Measure of the curve"));
  g_signal_connect_swapped(page->measures, "notify::selected", G_CALLBACK(on_measure), page);
  demur_chart_card_add_tool(page->card[0], GTK_WIDGET(page->measures));
}

static void
demur_cohort_page_class_init(DemurCohortPageClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_cohort_page_dispose;
  signals[STUDY] = g_signal_new("study", DEMUR_TYPE_COHORT_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/cohort-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, placeholder);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, progress);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, selector);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, horizon);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, cohort);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, split);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, line);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, promise);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, verdict);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, verdict_line);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, scale);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, use);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, cancel);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, renewing);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, charts);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, who);
  gtk_widget_class_bind_template_child(widget_class, DemurCohortPage, who_note);
  gtk_widget_class_bind_template_callback(widget_class, on_choice);
  gtk_widget_class_bind_template_callback(widget_class, on_selector_choice);
  gtk_widget_class_bind_template_callback(widget_class, on_cohort_choice);
  gtk_widget_class_bind_template_callback(widget_class, on_scale);
  gtk_widget_class_bind_template_callback(widget_class, on_cancel);
}

static void
demur_cohort_page_init(DemurCohortPage *page) {
  page->stale = TRUE;
  page->wanted = NAN;
  page->measure = DEMUR_MEASURE_SBCE2;
  gtk_widget_init_template(GTK_WIDGET(page));
  demur_shown_label_steady(page->line);
  demur_shown_label_steady(page->promise);
  demur_shown_label_steady(page->who_note);
  page->who_table = (DemurWhoTable){.grid = page->who, .note = page->who_note};
  build_charts(page);
}

DemurCohortPage *
demur_cohort_page_new(DemurSession *session) {
  DemurCohortPage *page = g_object_new(DEMUR_TYPE_COHORT_PAGE, NULL);
  page->session = g_object_ref(session);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), page, G_CONNECT_SWAPPED);
  return page;
}
