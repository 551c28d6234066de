#include "report/patient.h"

#include "base/shown-text.h"
#include "report/files.h"
#include "report/format.h"
#include "report/pages.h"
#include "report/pdf-document.h"
#include "report/risk-over-time.h"

#include <math.h>
#include <string.h>

#define MARGIN_X 46.0
#define HEADER_Y 34.0
#define BAND 17.0
#define BANNER 42.0
#define FEWEST_NEAR DEMUR_SMALL_CELL

DemurTranslate
demur_patient_translate(const DemurPatientInput *input) {
  return input->language ? input->language->translate : NULL;
}

/* text, or a format, in the page's language. */
static const char *word(const DemurPatientInput *input, const char *text) G_GNUC_FORMAT(2);
static const char *
word(const DemurPatientInput *input, const char *text) {
  return demur_translate(demur_patient_translate(input), text);
}

static gboolean
is_accepted(const DemurPatientInput *input) {
  return input->verdict == DEMUR_VERDICT_ACCEPTED && input->outdated == DEMUR_CURRENT;
}

static gboolean
is_refused(const DemurPatientInput *input) {
  return input->verdict == DEMUR_VERDICT_RED_FLAG && input->outdated == DEMUR_CURRENT;
}

/* The score follows the risk, and goes where it goes. */
static gboolean
tells_score(const DemurPatientInput *input) {
  return input->outdated == DEMUR_CURRENT && !is_refused(input);
}

static const char *
state_name(const DemurPatientInput *input) {
  return input->kept ? demur_verdict_state_name(demur_verdict_state(input->outdated)) : "not_kept";
}

/* Simulated outcomes beside a real scan are to be marked as well. */
static gboolean
is_simulated(const DemurPatientInput *input) {
  return input->simulated || (input->reference.cohort && input->reference.simulated);
}

char *
demur_patient_headline(const DemurPatientInput *input) {
  if (is_accepted(input)) {
    g_autofree char *risk = demur_text_percent(input->risk, 1);
    if (input->risk_of)
      return g_strdup_printf(word(input, N_("Accepted: the %s is %s.")), input->risk_of, risk);
    if (input->horizon_years > 0.0) {
      g_autofree char *years = demur_text_formatted("%g", input->horizon_years);
      return g_strdup_printf(
          input->horizon_years == 1.0
              ? word(input, N_("Accepted: the risk of this scan within %s year is %s."))
              : word(input, N_("Accepted: the risk of this scan within %s years is %s.")),
          years, risk);
    }
    return g_strdup_printf(word(input, N_("Accepted: the risk of this scan is %s.")), risk);
  }
  if (input->outdated != DEMUR_CURRENT)
    return g_strdup(word(input, N_("Out of date: the verdict of this scan no longer holds.")));
  static const char *const sentences[DEMUR_N_VERDICTS] = {
      [DEMUR_VERDICT_RED_FLAG] =
          N_("Held back: for this scan the risk model should not be relied on."),
      [DEMUR_VERDICT_NOT_ELIGIBLE] = N_("Not eligible: this series can't be assessed."),
      [DEMUR_VERDICT_NO_SCORE] = N_("No score: the risk model has not read this scan."),
      [DEMUR_VERDICT_NOT_TUNED] = N_("No verdict: the selector has no threshold yet."),
      [DEMUR_VERDICT_FAILED] = N_("Failed: this scan could not be assessed."),
  };
  return g_strdup(word(input, sentences[input->verdict]));
}

static const char *
outcome_words(const DemurPatientInput *input) {
  return input->outcome ? input->outcome : word(input, N_("had the outcome (label 1)"));
}

static void
append_sentence(const DemurPatientInput *input, GString *text, const char *sentence) {
  g_string_append_printf(text, " %s", word(input, sentence));
}

char *
demur_patient_meaning(const DemurPatientInput *input) {
  const DemurPatientReference *r = &input->reference;
  if (input->outdated != DEMUR_CURRENT)
    return g_strdup(input->outdated_words);
  if (is_refused(input)) {
    GString *text = g_string_new(
        word(input, N_("The risk is not shown, because scans like this one are where the "
                       "risk model is least to be trusted. Read the scan as if there "
                       "were no risk from the model.")));
    if (r->cohort && r->n_scans > 0) {
      g_autofree char *share =
          demur_text_percent(1 - (double)r->n_accepted / (double)r->n_scans, 1);
      g_autofree char *scans =
          demur_text_counted(r->n_scans, word(input, N_("scan")), word(input, N_("scans")));
      g_string_append_c(text, ' ');
      g_string_append_printf(text,
                             word(input, N_("In the reference cohort %s (split %s) %s of %s were "
                                            "held back by the same threshold.")),
                             r->cohort, r->split, share, scans);
    }
    return g_string_free(text, FALSE);
  }
  if (!is_accepted(input))
    return g_strdup(word(input, N_("There is no risk to explain.")));
  if (!r->cohort)
    return g_strdup(word(input, N_("What became of patients with such a risk is not known here: no "
                                   "cohort with known outcomes was named (--cohort).")));
  g_autofree char *low = demur_text_percent(r->risk_low, 1),
                  *high = demur_text_percent(r->risk_high, 1), *n = demur_text_count(r->n_near);
  if (r->n_near < FEWEST_NEAR)
    return g_strdup_printf(
        word(input, N_("Fewer than %d accepted scans of cohort %s (split %s) lie "
                       "near this risk: what became of them is withheld.")),
        FEWEST_NEAR, r->cohort, r->split);
  g_autofree char *share = demur_text_percent((double)r->n_positive / (double)r->n_near, 1),
                  *from = demur_text_percent(r->low, 1), *to = demur_text_percent(r->high, 1);
  const gboolean inside = input->risk >= r->risk_low - 1e-12 && input->risk <= r->risk_high + 1e-12;
  GString *text = g_string_new(NULL);
  g_autofree char *mean = demur_text_percent(r->mean_risk, 1);
  g_string_append_printf(
      text,
      word(input, N_("Of %s accepted scans with a risk between %s and %s (%s on average) in "
                     "the reference cohort %s (split %s), %s (95\u00a0%% interval %s to %s) %s.")),
      n, low, high, mean, r->cohort, r->split, share, from, to, outcome_words(input));
  if (!inside)
    append_sentence(input, text,
                    N_("No accepted scan there has a risk as this one's: these are the nearest."));
  else if (r->mean_risk > r->high)
    append_sentence(input, text, N_("Risks of this size are too high there."));
  else if (r->mean_risk < r->low)
    append_sentence(input, text, N_("Risks of this size are too low there."));
  if (input->risk > 0 && (r->risk_high > 2 * input->risk || r->risk_low < input->risk / 2))
    append_sentence(input, text,
                    N_("So few scans have a risk as this one's that others, much lower or "
                       "higher, had to be counted in."));
  return g_string_free(text, FALSE);
}

/* ---- JSON ---- */

static void
write_reference(DemurJson *json, const DemurPatientReference *r) {
  if (!r->cohort) {
    demur_json_null(json, "reference");
    return;
  }
  const gboolean small = r->n_near < FEWEST_NEAR;
  const double risks[2] = {r->risk_low, r->risk_high},
               interval[2] = {small ? NAN : r->low, small ? NAN : r->high};
  demur_json_begin_object(json, "reference");
  demur_json_string(json, "cohort", r->cohort);
  demur_json_string(json, "split", r->split);
  demur_json_bool(json, "simulated", r->simulated);
  demur_json_int(json, "n_scans", (gint64)r->n_scans);
  demur_json_int(json, "n_accepted", (gint64)r->n_accepted);
  if (small) { /* withheld, as in print */
    demur_json_null(json, "n_near");
    demur_json_null(json, "risks");
    demur_json_null(json, "mean_risk");
    demur_json_null(json, "n_positive");
  } else {
    demur_json_int(json, "n_near", (gint64)r->n_near);
    demur_json_doubles(json, "risks", risks, 2);
    demur_json_double(json, "mean_risk", r->mean_risk);
    demur_json_int(json, "n_positive", (gint64)r->n_positive);
  }
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_end_object(json);
}

static void
write_image(DemurJson *json, const DemurPatientImage *image) {
  if (image->width == 0) {
    demur_json_null(json, "image");
    return;
  }
  g_autofree char *digest =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, image->grey, image->width * image->height);
  demur_json_begin_object(json, "image");
  demur_json_string(json, "words", image->words);
  demur_json_int(json, "width", (gint64)image->width);
  demur_json_int(json, "height", (gint64)image->height);
  demur_json_string(json, "pixels_digest", digest);
  demur_json_end_object(json);
}

static void
write_drawn(DemurJson *json, const DemurPatientInput *input) {
  demur_json_begin_array(json, "drawn");
  for (size_t i = 0; i < input->n_drawn; i++) {
    const DemurPatientDrawn *drawn = &input->drawn[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "kind", drawn->kind);
    demur_json_string(json, "where", drawn->where);
    demur_json_string(json, "what", drawn->what);
    demur_json_double(json, "value", drawn->value);
    demur_json_string(json, "unit", drawn->unit);
    demur_json_double(json, "sd", drawn->sd);
    demur_json_double(json, "area_mm2", drawn->area_mm2);
    demur_json_string(json, "user", drawn->user);
    demur_json_string(json, "created", drawn->created);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

char *
demur_patient_json(const DemurPatientInput *input) {
  const gboolean shown = is_accepted(input);
  double yearly[DEMUR_PATIENT_YEARS];
  for (int y = 0; y < DEMUR_PATIENT_YEARS; y++)
    yearly[y] = shown ? input->yearly[y] : NAN;
  g_autofree char *headline = demur_patient_headline(input),
                  *meaning = demur_patient_meaning(input);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", DEMUR_PATIENT_FORMAT);
  demur_json_string(json, "version", input->version);
  demur_json_string(json, "created", input->created);
  demur_json_string(json, "notice", "For research use, not a cleared device");
  demur_report_request_write(json, &input->request, DEMUR_REPORT_OF_PATIENT, 0, input->paper);
  demur_json_bool(json, "simulated", is_simulated(input));
  demur_json_bool(json, "in_sample", input->in_sample);
  demur_json_string(json, "scan_id", input->scan_id);
  demur_json_string(json, "patient_id", input->patient_id);
  demur_json_string(json, "verdict", demur_verdict_name(input->verdict));
  demur_json_string(json, "state", state_name(input));
  demur_json_begin_array(json, "out_of_date_because");
  for (size_t i = 0; input->causes && input->causes[i]; i++)
    demur_json_string(json, NULL, input->causes[i]);
  demur_json_end_array(json);
  demur_json_string(json, "assessed", input->assessed);
  demur_json_string(json, "log_head", input->log_head);
  demur_json_string(json, "headline", headline);
  demur_json_string(json, "meaning", meaning);
  demur_json_double(json, "horizon_years", input->horizon_years > 0 ? input->horizon_years : NAN);
  demur_json_double(json, "risk", shown ? input->risk : NAN);
  demur_json_double(json, "risk_raw", shown ? input->risk_raw : NAN);
  const double interval[2] = {input->interval_low, input->interval_high};
  if (shown && input->interval)
    demur_json_doubles(json, "risk_interval", interval, 2);
  else
    demur_json_null(json, "risk_interval");
  demur_json_bool(json, "recalibrated", input->recalibrated);
  demur_json_doubles(json, "yearly_risks", yearly, DEMUR_PATIENT_YEARS);
  demur_json_double(json, "score", tells_score(input) ? input->score : NAN);
  demur_json_double(json, "threshold", input->threshold);
  demur_json_double(json, "coverage", input->coverage);
  demur_json_begin_array(json, "reasons");
  for (size_t i = 0; input->reasons && input->reasons[i]; i++)
    demur_json_string(json, NULL, input->reasons[i]);
  demur_json_end_array(json);
  write_reference(json, &input->reference);
  write_image(json, &input->image);
  write_drawn(json, input);
  demur_json_begin_array(json, "facts");
  for (size_t i = 0; i < input->n_facts; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "key", input->facts[i].key);
    demur_json_string(json, "value", input->facts[i].value);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_object(json, "selector");
  demur_json_string(json, "name", input->selector.name);
  demur_json_string(json, "digest", input->selector.digest);
  demur_json_string(json, "created", input->selector.created);
  demur_json_string(json, "cohort", input->selector.cohort);
  demur_json_string(json, "model", input->selector.model);
  demur_json_string(json, "validation", input->validation.verdict);
  if (input->federated != NULL) /* a page of another selector stays as it was */
    demur_json_string(json, "federated", input->federated);
  demur_json_end_object(json);
  demur_json_begin_object(json, "tuned_on");
  demur_json_string(json, "cohort", input->tuned.cohort);
  demur_json_string(json, "split", input->tuned.split);
  demur_json_int(json, "n", (gint64)input->tuned.n);
  demur_json_string(json, "guarantee", input->tuned.guarantee);
  demur_json_string(json, "created", input->tuned.created);
  demur_json_end_object(json);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  return demur_shown_json(text); /* read by people too */
}

/* ---- the page ---- */

typedef struct {
  const DemurPatientInput *input;
  char *digest;
  double width, height;
} Frame;

static void
frame_free(gpointer data) {
  g_free(((Frame *)data)->digest);
  g_free(data);
}

static void
draw_frame(cairo_t *cr, size_t page, size_t n_pages, gpointer data) {
  const Frame *f = data;
  const DemurPalette *palette = demur_palette_paper();
  const double inner = f->width - 2 * MARGIN_X, bottom = f->height - 40;
  g_autofree char *date =
      f->input->created ? demur_translate_day(demur_patient_translate(f->input), f->input->created)
                        : g_strdup(word(f->input, N_("undated")));
  const DemurSize size = demur_chart_text(cr, palette, date, 8, FALSE, palette->muted,
                                          f->width - MARGIN_X, HEADER_Y, 1, 0, inner / 3);
  demur_chart_text(cr, palette, word(f->input, N_("Patient summary")), 8, FALSE, palette->muted,
                   MARGIN_X, HEADER_Y, 0, 0, inner - size.width - 20);
  double y = HEADER_Y + 16;
  if (is_simulated(f->input)) {
    demur_pages_band(cr, palette,
                     word(f->input, N_("Simulated data: no patient stands behind these numbers")),
                     MARGIN_X, y, inner);
    y += BAND;
  }
  if (f->input->in_sample)
    demur_pages_band(cr, palette,
                     word(f->input, N_("In-sample: this patient took part in making the selector")),
                     MARGIN_X, y, inner);
  g_autofree char *digest = demur_text_digest(f->digest);
  g_autofree char *right =
      g_strdup_printf(word(f->input, N_("demur %s · digest %s · page %zu of %zu")),
                      f->input->version ? f->input->version : "", digest, page + 1, n_pages);
  demur_chart_colour(cr, palette->muted, 1);
  cairo_set_line_width(cr, 0.5);
  cairo_move_to(cr, MARGIN_X, bottom);
  cairo_line_to(cr, MARGIN_X + inner, bottom);
  cairo_stroke(cr);
  demur_chart_text(cr, palette, word(f->input, N_("For research use, not a cleared device.")), 7.5,
                   TRUE, palette->ink, MARGIN_X, bottom + 5, 0, 0, inner / 2);
  demur_chart_text(cr, palette, right, 7.5, FALSE, palette->muted, f->width - MARGIN_X, bottom + 5,
                   1, 0, inner / 2);
}

/* Glyph, words and pattern of a verdict: a full disc with a tick for accepted, hatch and "!" for
 * held back, a plain frame and a bar for the others, so that grey print tells them apart. */
static void
draw_banner(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle r) {
  const DemurPatientInput *input = data;
  const gboolean accepted = is_accepted(input), refused = is_refused(input);
  const DemurColour colour = accepted  ? palette->series[DEMUR_SERIES_OTHER_1]
                             : refused ? palette->warning
                                       : palette->muted;
  const double middle = r.y + r.height / 2, radius = r.height * 0.3, x = r.x + r.height * 0.55;
  cairo_save(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  cairo_rectangle(cr, r.x, r.y, r.width, r.height);
  demur_chart_colour(cr, colour, 0.08);
  cairo_fill(cr);
  if (refused) { /* hatched border strips */
    cairo_save(cr);
    cairo_rectangle(cr, r.x, r.y, r.width, 4);
    cairo_rectangle(cr, r.x, r.y + r.height - 4, r.width, 4);
    cairo_clip(cr);
    demur_chart_colour(cr, colour, 1);
    cairo_set_line_width(cr, 1.5);
    for (double t = r.x - r.height; t < r.x + r.width; t += 5) {
      cairo_move_to(cr, t, r.y + r.height);
      cairo_line_to(cr, t + r.height, r.y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
  }
  cairo_rectangle(cr, r.x, r.y, r.width, r.height);
  demur_chart_colour(cr, colour, 1);
  cairo_set_line_width(cr, accepted ? 1.6 : 1);
  cairo_stroke(cr);
  if (refused) { /* a triangle */
    cairo_move_to(cr, x, middle - radius);
    cairo_line_to(cr, x + radius, middle + radius * 0.8);
    cairo_line_to(cr, x - radius, middle + radius * 0.8);
    cairo_close_path(cr);
  } else
    cairo_arc(cr, x, middle, radius, 0, 2 * G_PI);
  if (accepted || refused)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
  demur_chart_colour(cr, accepted || refused ? palette->paper : colour, 1);
  cairo_set_line_width(cr, 2);
  if (accepted) {
    cairo_move_to(cr, x - radius * 0.45, middle);
    cairo_line_to(cr, x - radius * 0.1, middle + radius * 0.4);
    cairo_line_to(cr, x + radius * 0.5, middle - radius * 0.4);
  } else if (refused) {
    cairo_move_to(cr, x, middle - radius * 0.4);
    cairo_line_to(cr, x, middle + radius * 0.2);
    cairo_move_to(cr, x, middle + radius * 0.42);
    cairo_line_to(cr, x, middle + radius * 0.6);
  } else {
    cairo_move_to(cr, x - radius * 0.45, middle);
    cairo_line_to(cr, x + radius * 0.45, middle);
  }
  cairo_stroke(cr);
  g_autofree char *headline = demur_patient_headline(input);
  /* Never shortened: the risk stands at its end. */
  const double room = r.width - r.height * 1.3;
  double size = 13;
  while (size > 6 && demur_chart_text_size(cr, palette, headline, size, TRUE).width > room)
    size -= 0.5;
  demur_chart_text(cr, palette, headline, size, TRUE, palette->ink, r.x + r.height * 1.1, middle, 0,
                   0.5, room);
  cairo_restore(cr);
}

/* On the picture, in its own pixels; scale to points. */
static void
draw_drawing(cairo_t *cr, const DemurPalette *palette, const DemurPatientDrawing *drawing,
             DemurRectangle r, double scale, double aspect) {
  double x[3], y[3];
  for (guint i = 0; i < drawing->n_places; i++) {
    x[i] = r.x + drawing->x[i] * scale;
    y[i] = r.y + drawing->y[i] * scale * aspect;
  }
  cairo_new_path(cr);
  if (drawing->ellipse) {
    cairo_save(cr);
    cairo_translate(cr, (x[0] + x[1]) / 2, (y[0] + y[1]) / 2);
    cairo_scale(cr, fmax(fabs(x[1] - x[0]) / 2, 0.1), fmax(fabs(y[1] - y[0]) / 2, 0.1));
    cairo_arc(cr, 0, 0, 1, 0, 2 * G_PI);
    cairo_restore(cr);
  } else {
    cairo_move_to(cr, x[0], y[0]);
    for (guint i = 1; i < drawing->n_places; i++)
      cairo_line_to(cr, x[i], y[i]);
  }
  cairo_set_source_rgb(cr, 0, 0, 0);
  cairo_set_line_width(cr, 2.2);
  cairo_stroke_preserve(cr);
  cairo_set_source_rgb(cr, 0.97, 0.82, 0.35);
  cairo_set_line_width(cr, 1);
  cairo_stroke(cr);
  const guint last = drawing->n_places - 1;
  const DemurColour ink = {0.97, 0.82, 0.35};
  demur_chart_text(cr, palette, drawing->text, 7, FALSE, ink, x[last] + 3, y[last] + 1, 0, 0, 0);
}

static void
draw_image(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle r) {
  const DemurPatientImage *image = data;
  const double line = image->words ? 12 : 0;
  const double aspect = isfinite(image->aspect) && image->aspect > 0 ? image->aspect : 1;
  const double natural_width = (double)image->width,
               natural_height = (double)image->height * aspect;
  const double scale = fmin(r.width / natural_width, (r.height - line) / natural_height);
  const int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, (int)image->width);
  g_autofree guint32 *pixels = g_malloc0((size_t)stride * image->height);
  for (size_t y = 0; y < image->height; y++)
    for (size_t x = 0; x < image->width; x++) {
      const guint32 grey = image->grey[y * image->width + x];
      pixels[y * (size_t)stride / 4 + x] = grey << 16 | grey << 8 | grey;
    }
  cairo_surface_t *surface = cairo_image_surface_create_for_data(
      (guchar *)pixels, CAIRO_FORMAT_RGB24, (int)image->width, (int)image->height, stride);
  cairo_save(cr);
  cairo_translate(cr, r.x, r.y);
  cairo_scale(cr, scale, scale * aspect);
  cairo_set_source_surface(cr, surface, 0, 0);
  cairo_rectangle(cr, 0, 0, (double)image->width, (double)image->height);
  cairo_fill(cr);
  cairo_restore(cr);
  /* A recording surface keeps a reference to the pixels: they are copied before they go. */
  cairo_surface_finish(surface);
  cairo_surface_destroy(surface);
  cairo_save(cr);
  cairo_rectangle(cr, r.x, r.y, natural_width * scale, natural_height * scale);
  cairo_clip(cr);
  for (size_t i = 0; i < image->n_drawings; i++)
    draw_drawing(cr, palette, &image->drawings[i], r, scale, aspect);
  cairo_restore(cr);
  if (image->words)
    demur_chart_text(cr, palette, image->words, 7.5, FALSE, palette->muted, r.x,
                     r.y + natural_height * scale + 2, 0, 0, r.width);
}

typedef struct {
  DemurRiskOverTime chart;
  DemurRiskSeries series;
} RiskData;

static void
draw_risk(gconstpointer data, cairo_t *cr, const DemurPalette *palette, DemurRectangle r) {
  demur_risk_over_time_chart.draw(&((const RiskData *)data)->chart, cr, palette, r);
}

static gboolean
has_yearly(const DemurPatientInput *input) {
  for (int y = 0; y < DEMUR_PATIENT_YEARS; y++)
    if (isfinite(input->yearly[y]))
      return is_accepted(input);
  return FALSE;
}

static DemurLayoutFigure
risk_figure(const DemurPatientInput *input) {
  RiskData *data = g_new0(RiskData, 1);
  data->series = (DemurRiskSeries){.label = word(input, N_("this scan")),
                                   .series = DEMUR_SERIES_SELECTOR,
                                   .values = input->yearly,
                                   .numbers = TRUE};
  data->chart = (DemurRiskOverTime){
      .title = input->recalibrated ? word(input, N_("Yearly risks, as the model gave them"))
                                   : word(input, N_("Risk by years after the scan")),
      .n_years = DEMUR_PATIENT_YEARS,
      .n_series = 1,
      .series = &data->series};
  return (DemurLayoutFigure){draw_risk, data, g_free,
                             demur_risk_over_time_chart.describe(&data->chart)};
}

static void
add_reasons(DemurLayout *layout, const DemurPatientInput *input) {
  if (!input->reasons || !input->reasons[0])
    return;
  demur_layout_text(layout, DEMUR_TEXT_HEADING,
                    is_refused(input) ? word(input, N_("Why it is held back"))
                                      : word(input, N_("Why")));
  for (size_t i = 0; input->reasons[i] && i < 5; i++) {
    g_autofree char *line = i < input->n_numbered
                                ? g_strdup_printf("%zu. %s", i + 1, input->reasons[i])
                                : g_strdup(input->reasons[i]);
    demur_layout_text(layout, DEMUR_TEXT_BODY, line);
  }
}

/* The sentence was kept in English with its numbers: a page in another language says the verdict. */
static char *
validation_words(const DemurPatientInput *input) {
  const DemurReportValidation *v = &input->validation;
  if (!v->verdict)
    return g_strdup(
        word(input, N_("Whether this selector helps was never tested on left-out sites (“demur "
                       "validate”): take its verdict as a hint.")));
  g_autofree char *tested =
      g_strdup_printf(word(input, N_("Tested on left-out sites, against plain confidence: %s.")),
                      demur_translate(demur_patient_translate(input), v->verdict));
  return v->sentence && !input->language ? g_strconcat(tested, " ", v->sentence, NULL)
                                         : g_steal_pointer(&tested);
}

static void
add_care(DemurLayout *layout, const DemurPatientInput *input) {
  demur_layout_text(layout, DEMUR_TEXT_HEADING, word(input, N_("Read with care")));
  if (is_accepted(input))
    demur_layout_text(layout, DEMUR_TEXT_BODY,
                      word(input, N_("A calibrated risk is right on average over those who share "
                                     "it, not for each patient. Accepted means that the risk may "
                                     "be read, not that it is low.")));
  g_autofree char *validation = validation_words(input);
  demur_layout_text(layout, DEMUR_TEXT_BODY, validation);
}

static void
add_pair(GPtrArray *cells, const char *key, char *value) {
  g_ptr_array_add(cells, g_strdup(key));
  g_ptr_array_add(cells, value);
}

static const char *
recorded(const DemurPatientInput *input, const char *text) {
  return text ? text : word(input, N_("not recorded"));
}

static const char *
state_words(const DemurPatientInput *input) {
  return input->outdated == DEMUR_CURRENT ? word(input, N_("current"))
                                          : word(input, N_("out of date"));
}

static void
add_threshold(GPtrArray *cells, const DemurPatientInput *input) {
  g_autofree char *coverage = demur_text_coverage(input->coverage),
                  *threshold = demur_text_significant(input->threshold, 3),
                  *score = tells_score(input) ? demur_text_significant(input->score, 3)
                                              : g_strdup(word(input, N_("held back"))),
                  *n = demur_text_counted(input->tuned.n, word(input, N_("scan")),
                                          word(input, N_("scans")));
  add_pair(cells, word(input, N_("Threshold")),
           g_strdup_printf(
               word(input, N_("%s (score of this scan: %s), tuned for a coverage of %s on %s of "
                              "cohort %s, split %s")),
               threshold, score, coverage, n, input->tuned.cohort, input->tuned.split));
}

static void
add_provenance(DemurLayout *layout, const DemurPatientInput *input) {
  const DemurReportSelector *s = &input->selector;
  const DemurTranslate translate = demur_patient_translate(input);
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  add_pair(cells, word(input, N_("Scan")), g_strdup(input->scan_id));
  add_pair(cells, word(input, N_("Patient")), g_strdup(recorded(input, input->patient_id)));
  for (size_t i = 0; i < input->n_facts; i++)
    add_pair(cells, demur_translate(translate, input->facts[i].key),
             g_strdup(input->facts[i].value));
  add_pair(cells, word(input, N_("Verdict")),
           !input->kept
               ? g_strdup(word(input, N_("given for this page alone, not kept in the workspace")))
           : input->assessed ? g_strdup_printf(word(input, N_("given %s; %s")), input->assessed,
                                               state_words(input))
                             : g_strdup(state_words(input)));
  add_pair(cells, word(input, N_("Risk model")), g_strdup(recorded(input, s->model)));
  add_pair(cells, word(input, N_("Years of the risk")),
           input->horizon_years > 0 ? demur_text_formatted("%g", input->horizon_years)
                                    : g_strdup(recorded(input, NULL)));
  if (is_accepted(input) && input->recalibrated)
    add_pair(cells, word(input, N_("Risk before recalibration")),
             demur_text_percent(input->risk_raw, 1));
  g_autofree char *digest =
                      s->digest ? demur_text_digest(s->digest) : g_strdup(recorded(input, NULL)),
                  *made = s->created ? demur_translate_day(translate, s->created)
                                     : g_strdup(word(input, N_("date not recorded")));
  add_pair(cells, word(input, N_("Selector")),
           g_strdup_printf(word(input, N_("%s, trained on cohort %s, %s, digest %s")), s->name,
                           recorded(input, s->cohort), made, digest));
  if (input->federated != NULL)
    add_pair(cells, word(input, N_("Studies of several sites")), g_strdup(input->federated));
  if (input->tuned.cohort)
    add_threshold(cells, input);
  if (input->log_head)
    add_pair(cells, word(input, N_("Head of the log")), g_strdup(input->log_head));
  const DemurLayoutColumn columns[] = {{word(input, N_("Fact")), FALSE, 110, FALSE},
                                       {word(input, N_("Value")), FALSE, 200, TRUE}};
  demur_layout_text(layout, DEMUR_TEXT_HEADING, word(input, N_("Where this comes from")));
  demur_layout_table(layout, 2, columns, cells->len / 2, (const char *const *)cells->pdata, NULL);
}

#define KEYS_A_ROW 3
#define KEY_HEIGHT 180.0

/* Pictures of the key images, and a table of all that was drawn. */
static void
add_drawn(DemurLayout *layout, const DemurPatientInput *input) {
  if (input->n_drawn == 0)
    return;
  demur_layout_text(layout, DEMUR_TEXT_HEADING, word(input, N_("Key images and measurements")));
  for (size_t i = 0; i < input->n_keys; i += KEYS_A_ROW) {
    const size_t n = MIN(KEYS_A_ROW, input->n_keys - i);
    DemurLayoutFigure row[KEYS_A_ROW];
    for (size_t k = 0; k < n; k++)
      row[k] = (DemurLayoutFigure){draw_image, (gpointer)&input->keys[i + k], NULL,
                                   g_strdup_printf("%s.", input->keys[i + k].words)};
    demur_layout_figures(layout, KEY_HEIGHT, n, row);
    demur_layout_space(layout, 4);
  }
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; i < input->n_drawn; i++) {
    const DemurPatientDrawn *drawn = &input->drawn[i];
    add_pair(cells, drawn->where, g_strdup(drawn->what));
    add_pair(cells, drawn->user, g_strdup(drawn->created));
  }
  const DemurLayoutColumn columns[] = {{word(input, N_("Where")), FALSE, 100, FALSE},
                                       {word(input, N_("What")), FALSE, 160, TRUE},
                                       {word(input, N_("By")), FALSE, 50, FALSE},
                                       {word(input, N_("When")), FALSE, 100, FALSE}};
  demur_layout_table(layout, 4, columns, input->n_drawn, (const char *const *)cells->pdata, NULL);
  demur_layout_text(layout, DEMUR_TEXT_NOTE,
                    word(input, N_("Drawn by readers on these images. No verdict rests on it.")));
}

/* drawn: with what readers drew, which may take more pages. */
static DemurLayout *
new_layout(const DemurPatientInput *input, const char *digest, double picture, gboolean drawn) {
  Frame *frame = g_new0(Frame, 1);
  frame->input = input;
  frame->digest = g_strdup(digest);
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  frame->width = paper->width;
  frame->height = paper->height;
  const double top = HEADER_Y + 22 + BAND * ((is_simulated(input) ? 1 : 0) + !!input->in_sample);
  const DemurRectangle area = {MARGIN_X, top, frame->width - 2 * MARGIN_X,
                               frame->height - 50 - top};
  DemurLayout *layout = demur_layout_new(frame->width, frame->height, area, demur_palette_paper(),
                                         draw_frame, frame, frame_free);
  g_autofree char *patient =
      g_strdup_printf(word(input, N_("Patient %s")), recorded(input, input->patient_id));
  demur_layout_text(layout, DEMUR_TEXT_SECTION, patient);
  DemurLayoutFigure banner = {draw_banner, (gpointer)input, NULL, demur_patient_headline(input)};
  demur_layout_figures(layout, BANNER, 1, &banner);
  demur_layout_space(layout, 8);
  g_autofree char *meaning = demur_patient_meaning(input);
  demur_layout_text(layout, DEMUR_TEXT_HEADING,
                    is_accepted(input) ? word(input, N_("What the risk means here"))
                                       : word(input, N_("What this means")));
  demur_layout_text(layout, DEMUR_TEXT_LEAD, meaning);
  if (is_accepted(input) && input->interval)
    demur_layout_text(layout, DEMUR_TEXT_BODY, input->interval);
  DemurLayoutFigure figures[2];
  size_t n = 0;
  if (input->image.width > 0)
    figures[n++] =
        (DemurLayoutFigure){draw_image, (gpointer)&input->image, NULL,
                            g_strdup_printf("%s%s%s.", word(input, N_("CT image of the scan")),
                                            input->image.words ? ": " : "",
                                            input->image.words ? input->image.words : "")};
  if (has_yearly(input))
    figures[n++] = risk_figure(input);
  if (n > 0) {
    demur_layout_figures(layout, picture, n, figures);
    demur_layout_space(layout, 6);
  }
  add_reasons(layout, input);
  add_care(layout, input);
  add_provenance(layout, input);
  if (drawn)
    add_drawn(layout, input);
  return layout;
}

static guchar *
write_pages(const DemurPatientInput *input, const char *json, size_t *n, GError **error) {
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
  /* The picture gives way until all stands on one page. */
  g_autoptr(DemurLayout) layout = NULL;
  for (double picture = 260; picture >= 80; picture -= 30) {
    g_clear_pointer(&layout, demur_layout_free);
    layout = new_layout(input, digest, picture, FALSE);
    if (demur_layout_paginate(layout) != 1 && picture - 30 >= 80)
      continue;
    if (input->n_drawn > 0) {
      demur_layout_free(layout);
      layout = new_layout(input, digest, picture, TRUE);
      demur_layout_paginate(layout);
    }
    break;
  }
  const DemurPdfFacts facts = {
      .title = is_simulated(input) ? word(input, N_("Patient summary (simulated data)"))
                                   : word(input, N_("Patient summary")),
      .subject = word(
          input, N_("Calibrated selective classification: for research use, not a cleared device")),
      .language = input->language ? input->language->code : NULL,
      .version = input->version,
      .created = input->created,
      .numbers_digest = digest};
  const DemurPaperRow *paper = demur_paper_row(input->paper);
  return demur_pdf_document(layout, paper->width, paper->height, &facts, n, error);
}

guchar *
demur_patient_pdf(const DemurPatientInput *input, const char *json, size_t *n, GError **error) {
  if (input->language)
    demur_text_language_use(input->language);
  guchar *pdf = write_pages(input, json, n, error);
  if (input->language)
    demur_text_language_use(NULL);
  return pdf;
}

gboolean
demur_patient_write(const DemurPatientInput *input, const DemurPatientInput *page, const char *path,
                    GError **error) {
  if (!demur_report_check_files(path, error))
    return FALSE;
  size_t n;
  g_autofree char *json = demur_patient_json(input);
  g_autofree guchar *pdf = demur_patient_pdf(page ? page : input, json, &n, error);
  return pdf && demur_report_files_write(path, pdf, n, json, DEMUR_REPORT_FOR_OWNER, error);
}
