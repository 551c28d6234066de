#include "tasks/series-records.h"

#include "base/sha256.h"
#include "base/json-reader.h"
#include "base/number.h"
#include "dicom/geometry.h"
#include "selector/reason.h"
#include "tasks/images.h"
#include "words/rule-words.h"
#include "words/words.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static void
write_integer(DemurJson *json, const char *key, gint64 value) {
  if (value == DEMUR_NO_NUMBER)
    demur_json_null(json, key);
  else
    demur_json_int(json, key, value);
}

static void
write_pair_or_null(DemurJson *json, const char *key, const double *values, size_t n) {
  if (isnan(values[0]))
    demur_json_null(json, key);
  else
    demur_json_doubles(json, key, values, n);
}

static void
write_geometry(DemurJson *json, const DemurSeries *series) {
  demur_json_begin_object(json, "geometry");
  demur_json_int(json, "rows", series->rows);
  demur_json_int(json, "columns", series->columns);
  write_pair_or_null(json, "pixel_spacing_mm", series->pixel_spacing_mm, 2);
  write_pair_or_null(json, "orientation", series->orientation, 6);
  write_pair_or_null(json, "normal", series->normal, 3);
  if (!isnan(series->orientation[0])) {
    char right[4], down[4];
    demur_geometry_letters(series->orientation, right);
    demur_geometry_letters(series->orientation + 3, down);
    demur_json_string(json, "screen_right", right);
    demur_json_string(json, "screen_down", down);
  }
  demur_json_double(json, "axial_angle_degrees", series->axial_angle_degrees);
  demur_json_double(json, "extent_mm", series->extent_mm);
  demur_json_double(json, "smallest_gap_mm", series->smallest_gap_mm);
  demur_json_double(json, "largest_gap_mm", series->largest_gap_mm);
  demur_json_double(json, "tilt_tag_degrees", series->tilt_tag_degrees);
  demur_json_int(json, "n_positions", (gint64)series->n_positions);
  demur_json_int(json, "n_missing", (gint64)series->n_missing);
  demur_json_int(json, "n_irregular", (gint64)series->n_irregular);
  demur_json_string(json, "frame_of_reference_uid", series->frame_of_reference_uid);
  demur_json_end_object(json);
}

static void
write_acquisition(DemurJson *json, const DemurSeries *series, gboolean mapped_site) {
  demur_json_begin_object(json, "acquisition");
  demur_json_string(json, "manufacturer_raw", series->manufacturer_raw);
  demur_json_string(json, "model_family", series->model_family);
  demur_json_string(json, "kernel_family", series->kernel_family);
  demur_json_string(json, "kernel_class", demur_vendor_kernel_class_name(series->kernel_class));
  demur_json_double(json, "kvp", series->kvp);
  demur_json_double(json, "tube_current_ma", series->tube_current_ma);
  demur_json_double(json, "exposure_mas", series->exposure_mas);
  demur_json_double(json, "fov_mm", series->fov_mm);
  /* What neighbouring slices share of the body; negative: what none of them shows. */
  demur_json_double(json, "overlap_mm", series->thickness_mm - series->spacing_mm);
  demur_json_string(json, "contrast", series->contrast_agent);
  demur_json_string(json, "institution", series->institution);
  demur_json_string(json, "station", series->station);
  demur_json_string(json, "site_source",
                    mapped_site                   ? "mapping"
                    : series->institution != NULL ? "institution"
                    : series->station != NULL     ? "station"
                                                  : NULL);
  demur_json_string(json, "protocol", series->protocol);
  demur_json_string(json, "body_part", series->body_part);
  demur_json_string(json, "image_type", series->image_type);
  demur_json_string(json, "patient_position", series->patient_position);
  demur_json_string(json, "acquisition_date", series->acquisition_date);
  demur_json_string(json, "transfer_syntax_uid", series->transfer_syntax_uid);
  demur_json_bool(json, "lossy", series->lossy);
  demur_json_end_object(json);
}

static void
write_slices(DemurJson *json, const char *key, const DemurSlice *slices, size_t n) {
  demur_json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    const DemurSlice *slice = &slices[i];
    g_autofree char *path = demur_files_display(slice->path, slice->entry);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", path);
    demur_json_int(json, "frame", slice->frame);
    demur_json_string(json, "sop_instance_uid", slice->sop_instance_uid);
    write_integer(json, "instance_number", slice->instance_number);
    write_integer(json, "acquisition_number", slice->acquisition_number);
    if (slice->has_position)
      demur_json_doubles(json, "position_mm", slice->position_mm, 3);
    else
      demur_json_null(json, "position_mm");
    demur_json_double(json, "distance_mm", slice->distance_mm);
    demur_json_double(json, "thickness_mm", slice->thickness_mm);
    demur_json_double(json, "slope", slice->slope);
    demur_json_double(json, "intercept", slice->intercept);
    demur_json_bool(json, "lossy", slice->lossy);
    demur_json_string(json, "problem", slice->problem);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

/* What the rules found, as data: {rule, action, variant of its sentence, values}. */
static void
write_findings(DemurJson *json, const DemurSeries *series) {
  demur_json_begin_array(json, "findings");
  for (size_t i = 0; i < series->n_findings; i++) {
    const DemurRuleFinding *finding = &series->findings[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "rule", finding->code);
    demur_json_string(json, "action", demur_rule_action_name(finding->action));
    demur_json_int(json, "variant", finding->variant);
    demur_json_begin_array(json, "values");
    for (int k = 0; k < DEMUR_RULE_FINDING_VALUES && finding->values[k] != NULL; k++)
      demur_json_string(json, NULL, finding->values[k]);
    demur_json_end_array(json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static char *
facts_of(const DemurSeries *series, gboolean mapped_site, const char *const *rules) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "description", series->description);
  write_integer(json, "series_number", series->series_number);
  demur_json_int(json, "part", series->part);
  demur_json_int(json, "n_parts", series->n_parts);
  demur_json_bool(json, "scan_id_from_digest", series->scan_id_from_digest);
  demur_json_string(json, "patient_birth_date", series->patient_birth_date);
  demur_json_string(json, "patient_sex", series->patient_sex);
  demur_json_string(json, "patient_age", series->patient_age);
  demur_json_string(json, "unit", series->unit);
  write_geometry(json, series);
  write_acquisition(json, series, mapped_site);
  demur_json_begin_array(json, "rules_changed");
  for (; rules != NULL && *rules != NULL; rules++)
    demur_json_string(json, NULL, *rules);
  demur_json_end_array(json);
  write_findings(json, series);
  if (series->gone != NULL) {
    demur_json_begin_array(json, "gone");
    for (char **key = series->gone; *key != NULL; key++)
      demur_json_string(json, NULL, *key);
    demur_json_end_array(json);
  }
  write_slices(json, "slices", series->slices, series->n_slices);
  write_slices(json, "left_out", series->slices + series->n_slices, series->n_left_out);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* What the rules with that action found, as reasons. */
static GPtrArray *
reasons_of(const DemurSeries *series, DemurRuleAction action) {
  GPtrArray *reasons = demur_reasons_new();
  for (size_t i = 0; i < series->n_findings; i++) {
    const DemurRuleFinding *finding = &series->findings[i];
    if (finding->action != action)
      continue;
    DemurReason *reason = demur_reason_new(DEMUR_REASON_RULE, finding->code, NULL);
    g_autoptr(GStrvBuilder) values = g_strv_builder_new();
    for (int k = 0; k < DEMUR_RULE_FINDING_VALUES && finding->values[k] != NULL; k++)
      g_strv_builder_add(values, finding->values[k]);
    if (finding->values[0] != NULL)
      reason->values = g_strv_builder_end(values);
    reason->n = finding->variant;
    g_ptr_array_add(reasons, reason);
  }
  return reasons;
}

/* Why it is not assessed, as it is kept; NULL where it is. */
static char *
set_aside_by(const DemurSeries *series) {
  if (series->accepted)
    return NULL;
  g_autoptr(GPtrArray) reasons = reasons_of(series, DEMUR_RULE_REFUSE);
  if (series->preferred != NULL)
    g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_PREFERRED, series->preferred,
                                              demur_preference_name(series->preferred_by)));
  return reasons->len > 0 ? demur_reasons_to_json(reasons) : NULL;
}

static char *
warnings_of(const DemurSeries *series) {
  g_autoptr(GPtrArray) reasons = reasons_of(series, DEMUR_RULE_WARN);
  return demur_reasons_to_json(reasons);
}

char **
demur_dicom_warning_words(const char *kept, DemurTranslate translate) {
  g_autoptr(GPtrArray) warnings = demur_reasons_from_json(kept);
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  for (guint i = 0; i < warnings->len; i++) {
    const DemurReason *warning = warnings->pdata[i];
    g_autofree char *words = warning->kind == DEMUR_REASON_RULE
                                 ? demur_words_rule(warning, translate)
                                 : demur_words_reason(warning, translate);
    g_strv_builder_add(list, words);
  }
  return g_strv_builder_end(list);
}

void
demur_dicom_json_reasons(DemurJson *json, const char *key, const char *kept) {
  g_autoptr(GPtrArray) reasons = demur_reasons_from_kept(kept);
  demur_json_begin_array(json, key);
  for (guint i = 0; i < reasons->len; i++)
    demur_reason_write(json, reasons->pdata[i]);
  demur_json_end_array(json);
}

/* Of what its images hold; of which images they are, where one of them can't be read whole: such a
 * series is not assessed, and still another one when it comes with other files. */
char *
demur_dicom_images_digest(const DemurSeries *series) {
  if (series->content_digest != NULL)
    return g_strdup(series->content_digest);
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (size_t i = 0; i < series->n_slices; i++) {
    demur_sha256_add_text(&sha, series->slices[i].sop_instance_uid);
    demur_sha256_add_text(&sha, series->slices[i].content_digest);
  }
  g_autofree char *digest = demur_sha256_finish_hex(&sha);
  return g_strconcat("unread ", digest, NULL);
}

DemurSeriesRecord *
demur_dicom_record_new(const DemurSeries *series, gboolean mapped_site, const char *const *rules,
                       const char *now) {
  DemurSeriesRecord *record = g_new0(DemurSeriesRecord, 1);
  record->scan_id = g_strdup(series->scan_id);
  record->series_uid = g_strdup(series->series_uid);
  record->study_uid = g_strdup(series->study_uid);
  record->patient_id = g_strdup(series->patient_id);
  record->patient_name = g_strdup(series->patient_name);
  record->study_date = g_strdup(series->study_date);
  record->modality = g_strdup(series->modality);
  record->type = g_strdup(demur_series_type_name(series->type));
  record->accepted = series->accepted;
  record->eligible = series->eligible;
  record->images_digest = demur_dicom_images_digest(series);
  record->issuer = g_strdup(series->patient_id_issuer);
  record->birth_date = g_strdup(series->patient_birth_date);
  record->sex = g_strdup(series->patient_sex);
  record->simulated = series->synthetic;
  record->reason = set_aside_by(series);
  record->n_slices = series->n_slices;
  record->spacing_mm = series->spacing_mm;
  record->thickness_mm = series->thickness_mm;
  record->tilt_degrees = series->tilt_degrees;
  record->manufacturer = g_strdup(series->manufacturer);
  record->manufacturer_raw = g_strdup(series->manufacturer_raw);
  record->model_name = g_strdup(series->model);
  record->kernel = g_strdup(series->kernel);
  record->kvp = series->kvp;
  record->contrast = g_strdup(series->contrast_agent);
  record->fov_mm = series->fov_mm;
  record->tube_current_ma = series->tube_current_ma;
  record->site = g_strdup(series->site);
  record->facts_json = facts_of(series, mapped_site, rules);
  record->warnings_json = warnings_of(series);
  record->created = g_strdup(now);
  record->updated = g_strdup(now);
  return record;
}

gboolean
demur_dicom_record_found(const DemurSeriesRecord *record, const char *rule, gboolean *known) {
  g_autoptr(JsonNode) facts = demur_json_parse(record->facts_json);
  JsonObject *object =
      facts != NULL && JSON_NODE_HOLDS_OBJECT(facts) ? json_node_get_object(facts) : NULL;
  JsonNode *findings = object != NULL ? json_object_get_member(object, "findings") : NULL;
  *known = findings != NULL && JSON_NODE_HOLDS_ARRAY(findings);
  if (!*known)
    return FALSE;
  JsonArray *array = json_node_get_array(findings);
  for (guint i = 0; i < json_array_get_length(array); i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (JSON_NODE_HOLDS_OBJECT(node) && g_strcmp0(json_object_get_string_member_with_default(
                                                      json_node_get_object(node), "rule", NULL),
                                                  rule) == 0)
      return TRUE;
  }
  return FALSE;
}

char **
demur_dicom_record_gone(const DemurSeriesRecord *record) {
  g_autoptr(JsonNode) facts = demur_json_parse(record->facts_json);
  JsonObject *object =
      facts != NULL && JSON_NODE_HOLDS_OBJECT(facts) ? json_node_get_object(facts) : NULL;
  JsonNode *node = object != NULL ? json_object_get_member(object, "gone") : NULL;
  g_autoptr(GStrvBuilder) keys = g_strv_builder_new();
  if (node != NULL && JSON_NODE_HOLDS_ARRAY(node)) {
    JsonArray *array = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(array); i++) {
      const char *key = json_node_get_string(json_array_get_element(array, i));
      if (key != NULL)
        g_strv_builder_add(keys, key);
    }
  }
  return g_strv_builder_end(keys);
}

DemurSeriesFile *
demur_dicom_files_new(const DemurSeries *series) {
  DemurSeriesFile *files = g_new0(DemurSeriesFile, MAX(series->n_slices, 1));
  for (size_t i = 0; i < series->n_slices; i++) {
    const DemurSlice *slice = &series->slices[i];
    g_autofree char *path = g_canonicalize_filename(slice->path, NULL);
    files[i].path = slice->entry != NULL ? g_strdup_printf("%s!/%s", path, slice->entry)
                                         : g_steal_pointer(&path);
    files[i].frame = slice->frame;
    files[i].sop_instance_uid = g_strdup(slice->sop_instance_uid);
    files[i].position_mm = slice->distance_mm;
    files[i].digest = g_strdup(slice->content_digest);
    files[i].stamp = g_strdup(slice->stamp);
    files[i].pixel_digest = g_strdup(slice->pixel_digest);
    files[i].decodes = slice->decodes;
    GStatBuf at;
    if (g_stat(slice->path, &at) == 0) {
      files[i].size = (gint64)at.st_size;
      files[i].modified = (gint64)at.st_mtim.tv_sec * G_USEC_PER_SEC + at.st_mtim.tv_nsec / 1000;
    }
  }
  return files;
}

void
demur_dicom_files_free(DemurSeriesFile *files, size_t n_files) {
  for (size_t i = 0; files != NULL && i < n_files; i++) {
    g_free(files[i].path);
    g_free(files[i].sop_instance_uid);
    g_free(files[i].digest);
    g_free(files[i].stamp);
    g_free(files[i].pixel_digest);
  }
  g_free(files);
}

/* Writes a parsed value again, its members in their order. */
static void
write_node(DemurJson *json, const char *key, JsonNode *node) {
  switch (json_node_get_node_type(node)) {
  case JSON_NODE_OBJECT: {
    JsonObject *object = json_node_get_object(node);
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;
    demur_json_begin_object(json, key);
    json_object_iter_init_ordered(&iter, object);
    while (json_object_iter_next_ordered(&iter, &name, &member))
      write_node(json, name, member);
    demur_json_end_object(json);
    return;
  }
  case JSON_NODE_ARRAY: {
    JsonArray *array = json_node_get_array(node);
    demur_json_begin_array(json, key);
    for (guint i = 0; i < json_array_get_length(array); i++)
      write_node(json, NULL, json_array_get_element(array, i));
    demur_json_end_array(json);
    return;
  }
  case JSON_NODE_VALUE:
    switch (json_node_get_value_type(node)) {
    case G_TYPE_STRING:
      demur_json_string(json, key, json_node_get_string(node));
      return;
    case G_TYPE_BOOLEAN:
      demur_json_bool(json, key, json_node_get_boolean(node));
      return;
    case G_TYPE_INT64:
      demur_json_int(json, key, json_node_get_int(node));
      return;
    default:
      demur_json_double(json, key, json_node_get_double(node));
      return;
    }
  case JSON_NODE_NULL:
    break;
  }
  demur_json_null(json, key);
}

void
demur_dicom_json_record(DemurJson *json, const DemurSeriesRecord *record, gboolean details) {
  demur_dicom_json_record_begin(json, record, details);
  demur_json_end_object(json);
}

void
demur_dicom_json_record_begin(DemurJson *json, const DemurSeriesRecord *record, gboolean details) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "scan_id", record->scan_id);
  demur_json_string(json, "series_uid", record->series_uid);
  demur_json_string(json, "study_uid", record->study_uid);
  demur_json_string(json, "patient_id", record->patient_id);
  if (details)
    demur_json_string(json, "patient_name", record->patient_name);
  demur_json_string(json, "study_date", record->study_date);
  demur_json_string(json, "modality", record->modality);
  demur_json_string(json, "type", record->type);
  demur_json_bool(json, "accepted", record->accepted);
  demur_json_bool(json, "eligible", record->eligible);
  demur_json_int(json, "n_slices", (gint64)record->n_slices);
  demur_json_double(json, "spacing_mm", record->spacing_mm);
  demur_json_double(json, "thickness_mm", record->thickness_mm);
  demur_json_double(json, "tilt_degrees", record->tilt_degrees);
  demur_json_string(json, "manufacturer", record->manufacturer);
  demur_json_string(json, "model", record->model_name);
  demur_json_string(json, "kernel", record->kernel);
  demur_json_string(json, "site", record->site);
  g_auto(GStrv) warnings = demur_dicom_warning_words(record->warnings_json, NULL);
  g_autofree char *reason = demur_words_kept(record->reason, NULL);
  demur_json_begin_array(json, "warnings");
  for (char **warning = warnings; *warning != NULL; warning++)
    demur_json_string(json, NULL, *warning);
  demur_json_end_array(json);
  demur_dicom_json_reasons(json, "warning_details", record->warnings_json);
  demur_json_string(json, "reason", reason);
  demur_dicom_json_reasons(json, "reason_details", record->reason);
  demur_json_string(json, "conflict", record->conflict);
  demur_json_string(json, "images", demur_task_places_name(record->places));
  g_autoptr(JsonNode) facts = details ? demur_json_parse(record->facts_json) : NULL;
  if (facts != NULL && JSON_NODE_HOLDS_OBJECT(facts)) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *member;
    json_object_iter_init_ordered(&iter, json_node_get_object(facts));
    while (json_object_iter_next_ordered(&iter, &name, &member))
      write_node(json, name, member);
  }
}

static const char *
or_unknown(const char *text) {
  return text != NULL ? text : "not recorded";
}

static char *
number_text(double value, const char *unit) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (!isfinite(value))
    return g_strdup("not known");
  return g_strdup_printf("%s%s", demur_number_format(round(value * 1000) / 1000, buffer), unit);
}

char *
demur_dicom_text_record(const DemurSeriesRecord *record, gboolean details) {
  g_autofree char *spacing = number_text(record->spacing_mm, " mm");
  g_autofree char *thickness = number_text(record->thickness_mm, " mm");
  g_autofree char *tilt = number_text(record->tilt_degrees, " degrees");
  g_autofree char *kvp = number_text(record->kvp, "");
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s\n", record->scan_id);
  g_string_append_printf(text, "  patient      %s\n", or_unknown(record->patient_id));
  if (details)
    g_string_append_printf(text, "  name         %s\n", or_unknown(record->patient_name));
  g_string_append_printf(text, "  study        %s, %s\n", or_unknown(record->study_date),
                         or_unknown(record->study_uid));
  g_string_append_printf(text, "  kind         %s %s, %" G_GSIZE_FORMAT " slice%s\n",
                         or_unknown(record->modality), record->type, record->n_slices,
                         record->n_slices == 1 ? "" : "s");
  g_string_append_printf(text, "  geometry     spacing %s, thickness %s, tilt %s\n", spacing,
                         thickness, tilt);
  g_string_append_printf(text, "  scanner      %s, %s, kernel %s, kVp %s\n",
                         record->manufacturer != NULL ? record->manufacturer
                                                      : or_unknown(record->manufacturer_raw),
                         or_unknown(record->model_name), or_unknown(record->kernel), kvp);
  g_string_append_printf(text, "  site         %s\n", or_unknown(record->site));
  g_autofree char *reason = demur_words_kept(record->reason, NULL);
  g_string_append_printf(text, "  assessed     %s%s%s\n", record->accepted ? "yes" : "no",
                         reason != NULL ? ": " : "", reason != NULL ? reason : "");
  if (record->places == DEMUR_PLACES_AWAY)
    g_string_append(text, "  images       can't be read: nothing is at their places now\n");
  g_auto(GStrv) warnings = demur_dicom_warning_words(record->warnings_json, NULL);
  for (char **warning = warnings; *warning != NULL; warning++)
    g_string_append_printf(text, "  warning      %s\n", *warning);
  return g_string_free(text, FALSE);
}

/* Out of the workspace. */

GPtrArray *
demur_task_series(DemurTask *task, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  GPtrArray *list = workspace != NULL ? demur_series_list(workspace, error) : NULL;
  for (guint i = 0; list != NULL && i < list->len; i++)
    demur_task_tell_places(task, list->pdata[i]);
  return list;
}

DemurSeriesRecord *
demur_task_series_show(DemurTask *task, const char *scan_id, DemurOverruleRecord **overrule,
                       GError **error) {
  *overrule = NULL;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurSeriesRecord) record =
      workspace != NULL ? demur_series_load(workspace, scan_id, error) : NULL;
  if (record == NULL ||
      !demur_overrules_current(workspace, scan_id, record->accepted, overrule, error))
    return NULL;
  demur_task_tell_places(task, record);
  return g_steal_pointer(&record);
}
