/* What is said of an image: on it, and to those who can't see it. */
#include "ui/ct-view-private.h"

#include "dicom/unit.h"

static const char *
plane_name(DemurCtPlane plane) {
  switch (plane) {
  case DEMUR_CT_CORONAL:
    return _("coronal");
  case DEMUR_CT_SAGITTAL:
    return _("sagittal");
  default:
    return _("slice");
  }
}

static void
append_mm(GString *text, const char *before, double mm) {
  g_autofree char *number = demur_text_formatted("%.2f", fabs(mm));
  g_string_append_printf(text, "%s%s%s mm", before, mm < 0 ? "−" : "", number);
}

static gboolean
is_key_image(DemurCtView *view) {
  for (guint i = 0; i < view->keys->len; i++)
    if (demur_ct_view_is_on(view, &g_array_index(view->keys, DemurMeasured, i)))
      return TRUE;
  return FALSE;
}

char *
demur_ct_view_slice_text(DemurCtView *view) {
  const size_t n = demur_ct_view_n_slices(view);
  const gboolean whole = view->image->volume != NULL;
  const size_t slice = whole ? view->slice[view->plane] : view->image->first_index;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, _("%s %zu of %zu"), plane_name(view->plane),
                         demur_ct_view_numbered(view, slice, n), n);
  const size_t place = whole ? slice : view->image->place;
  const DemurSlice *facts =
      view->plane == DEMUR_CT_ACQUIRED && place < view->image->series->n_slices
          ? &view->image->series->slices[place]
          : NULL;
  if (facts != NULL && !isnan(facts->distance_mm))
    append_mm(text, " · z ", facts->distance_mm);
  else if (view->cut != NULL && !isnan(view->cut->origin_mm[0])) {
    const double at = view->plane == DEMUR_CT_SAGITTAL  ? view->cut->origin_mm[0]
                      : view->plane == DEMUR_CT_CORONAL ? view->cut->origin_mm[1]
                                                        : view->cut->origin_mm[2];
    append_mm(text, " · ", at);
  }
  if (view->slab_mm > 0)
    g_string_append_printf(text, " · %s %.0f mm", demur_ct_view_slab_name(view->slab),
                           view->slab_mm);
  if (is_key_image(view))
    g_string_append(text, _(" · ★ key image"));
  if (!whole)
    g_string_append(text, _(" · reading the rest"));
  return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
demur_ct_view_window_text(DemurCtView *view) {
  const char *name = view->preset < 0                     ? _("by hand")
                     : view->preset < DEMUR_N_PRESETS - 1 ? _(demur_ct_presets[view->preset].title)
                     : view->own_is_range                 ? _("whole range, the file has no window")
                                                          : _("the file's own");
  return g_strdup_printf("W %.0f L %s%.0f · %s%s", view->width, view->level < 0 ? "−" : "",
                         fabs(view->level), name, view->invert ? _(" · inverted") : "");
}

char *
demur_ct_view_pointer_text(DemurCtView *view) {
  size_t row, column;
  const char *unit = view->image->series->unit;
  const gboolean is_hu = demur_unit_is_hu(unit);
  if (!demur_ct_view_pointer_pixel(view, &row, &column))
    return g_strdup(is_hu ? _("HU at pointer –") : _("Value at pointer –"));
  const gint16 hu = view->hu[row * view->columns + column];
  if (hu == DEMUR_HU_PADDING)
    return g_strdup(is_hu ? _("HU at pointer: not measured") : _("Value at pointer: not measured"));
  if (!is_hu) /* a map of something else: never called HU */
    return g_strdup_printf(_("Value at pointer %s%d (%s)"), hu < 0 ? "−" : "", ABS(hu), unit);
  return g_strdup_printf(_("HU at pointer %s%d"), hu < 0 ? "−" : "", ABS(hu));
}

char *
demur_ct_view_measured_text(DemurCtView *view, const DemurMeasured *measured) {
  DemurAnnotation annotation = {0};
  demur_measured_fill(measured, view->hu, view->rows, view->columns, view->spacing,
                      view->image->series->unit, &annotation);
  return demur_annotation_words(&annotation, demur_words_translate);
}

/* What stands on it of the scan. */

void
demur_ct_view_clear_facts(DemurCtView *view) {
  g_clear_pointer(&view->top_left, g_free);
  g_clear_pointer(&view->top_right, g_free);
  g_clear_pointer(&view->warning, g_free);
  g_clear_pointer(&view->sentence, g_free);
}

static void
append_line(GString *text, const char *line) {
  if (line != NULL && *line != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? "\n" : "", line);
}

/* How it was made (owned). */
static char *
scanner_text(const DemurScan *scan) {
  g_autoptr(GString) right = g_string_new(NULL);
  g_autofree char *scanner =
      g_strstrip(g_strdup_printf("%s %s", scan->manufacturer, scan->model_name));
  append_line(right, scanner);
  g_autoptr(GString) kernel = g_string_new(NULL);
  if (*scan->kernel != '\0')
    g_string_append_printf(kernel, _("kernel %s"), scan->kernel);
  if (!isnan(scan->kvp))
    g_string_append_printf(kernel, "%s%.0f kVp", kernel->len > 0 ? " · " : "", scan->kvp);
  append_line(right, kernel->str);
  g_autoptr(GString) sizes = g_string_new(NULL);
  g_autofree char *thickness = demur_text_formatted("%.4g", scan->thickness_mm);
  g_autofree char *spacing = demur_text_formatted("%.4g", scan->spacing_mm);
  if (!isnan(scan->thickness_mm))
    g_string_append_printf(sizes, _("thickness %s mm"), thickness);
  else
    g_string_append(sizes, _("thickness not recorded"));
  if (!isnan(scan->spacing_mm))
    g_string_append_printf(sizes, _(" · spacing %s mm"), spacing);
  append_line(right, sizes->str);
  return g_string_free(g_steal_pointer(&right), FALSE);
}

void
demur_ct_view_copy_facts(DemurCtView *view, const DemurScan *scan) {
  demur_ct_view_clear_facts(view);
  g_autofree char *age = demur_age_sex_text(scan->age, scan->sex);
  g_autofree char *who = g_strdup_printf("%s · %s", scan->patient_id, age);
  g_autofree char *series =
      scan->series_number >= 0
          ? g_strdup_printf(_("Series %d · %s"), scan->series_number, scan->description)
          : g_strdup(scan->description);
  g_autoptr(GString) left = g_string_new(who);
  append_line(left, scan->date);
  if (!view->is_beside)
    append_line(left, series);
  if (scan->simulated)
    append_line(left, _("SIMULATED DATA"));
  view->top_left = g_string_free(g_steal_pointer(&left), FALSE);
  if (!view->is_beside)
    view->top_right = scanner_text(scan);
  if (scan->lossy)
    view->warning = g_strdup(_("lossy: these pixels were compressed with loss"));
}

/* The description. */

static void
describe_cross(DemurCtView *view, GString *text) {
  DemurPlace place;
  if (!demur_ct_view_cross_place(view, &place))
    return;
  g_string_append(text, _("; crosshair at"));
  for (int i = 0; i < 3; i++)
    append_mm(text, i > 0 ? ", " : " ", view->cross_mm[i]);
}

void
demur_ct_view_describe(DemurCtView *view) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (view->image == NULL) {
    g_string_append(text, view->sentence != NULL ? view->sentence : _("no image"));
  } else {
    g_autofree char *slice = demur_ct_view_slice_text(view);
    g_autofree char *window = demur_ct_view_window_text(view);
    g_autofree char *pointer = demur_ct_view_pointer_text(view);
    g_string_append_printf(text, "%s; %s; %s; %s", view->top_left, slice, window, pointer);
    size_t row, column;
    if (demur_ct_view_pointer_pixel(view, &row, &column))
      g_string_append_printf(text, _("; row %zu column %zu"), row, column);
    if (view->sentence != NULL)
      g_string_append_printf(text, "; %s", view->sentence);
    for (guint i = 0; view->hu != NULL && i < view->measured->len; i++) {
      const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
      g_autofree char *said = demur_ct_view_is_measured_on(view, measured)
                                  ? demur_ct_view_measured_text(view, measured)
                                  : NULL;
      if (said != NULL)
        g_string_append_printf(text, _("; measured: %s"), said);
    }
    describe_cross(view, text);
    if (view->has_cursor)
      g_string_append_printf(text, _("; cursor at row %.0f column %.0f"), floor(view->cursor.y),
                             floor(view->cursor.x));
  }
  demur_shown_description_set(GTK_WIDGET(view), text->str);
}
