#include "dicom/eligibility.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

static const DemurRule defaults[] = {
    {"two-patients", DEMUR_RULE_REFUSE, NAN, "one SeriesInstanceUID, one patient"},
    {"not-ct", DEMUR_RULE_REFUSE, NAN, "modality CT"},
    {"secondary-capture", DEMUR_RULE_REFUSE, NAN, "no Secondary Capture"},
    {"localizer", DEMUR_RULE_REFUSE, NAN, "no localizer"},
    {"derived", DEMUR_RULE_REFUSE, NAN, "original images, not DERIVED ones"},
    {"not-grey", DEMUR_RULE_REFUSE, NAN, "one grey sample a pixel"},
    {"no-positions", DEMUR_RULE_REFUSE, NAN, "position and orientation in every slice"},
    {"one-position", DEMUR_RULE_REFUSE, NAN, "images at different positions"},
    {"not-axial", DEMUR_RULE_REFUSE, 30, "normal within .. degrees of the body axis"},
    {"truncated", DEMUR_RULE_REFUSE, NAN, "pixel data of every slice complete and decodable"},
    {"lossy", DEMUR_RULE_REFUSE, NAN, "no lossy compression"},
    {"few-slices", DEMUR_RULE_REFUSE, 10, "at least .. slices"},
    {"thick", DEMUR_RULE_REFUSE, 5, "thickness of at most .. mm"},
    {"missing-slice", DEMUR_RULE_REFUSE, NAN, "no slice missing"},
    {"irregular", DEMUR_RULE_REFUSE, 0.1, "gaps within this share of the nominal spacing"},
    {"no-patient-id", DEMUR_RULE_REFUSE, NAN, "a PatientID"},
    {"tilt", DEMUR_RULE_WARN, 0.5, "tilt of at most .. degrees"},
    {"thickness-differs", DEMUR_RULE_WARN, 0.1, "thickness within .. mm of the spacing"},
    {"thickness-unknown", DEMUR_RULE_WARN, NAN, "a readable SliceThickness"},
    {"thickness-varies", DEMUR_RULE_WARN, NAN, "one thickness"},
    {"unknown-vendor", DEMUR_RULE_WARN, NAN, "a known manufacturer"},
    {"body-part", DEMUR_RULE_WARN, NAN, "body part CHEST, THORAX or LUNG"},
    {"short-extent", DEMUR_RULE_WARN, 200, "an extent of at least .. mm"},
    {"same-position", DEMUR_RULE_WARN, NAN, "one image a position"},
    {"same-file", DEMUR_RULE_WARN, NAN, "each file once"},
    {"shared-uids", DEMUR_RULE_WARN, NAN, "one SOPInstanceUID an image"},
    {"other-contents", DEMUR_RULE_WARN, NAN, "one content a SOPInstanceUID and position"},
    {"no-rescale", DEMUR_RULE_WARN, NAN,
     "RescaleSlope (not 0) and RescaleIntercept in every slice"},
    {"no-pixel-spacing", DEMUR_RULE_WARN, NAN, "a PixelSpacing"},
    {"oblique", DEMUR_RULE_WARN, 20, "normal within .. degrees of the body axis without a warning"},
    {"several-studies", DEMUR_RULE_WARN, NAN, "one study a series"},
    {"split", DEMUR_RULE_WARN, NAN, "one volume a SeriesInstanceUID"},
    {"no-series-uid", DEMUR_RULE_WARN, NAN, "a SeriesInstanceUID"},
};

DemurEligibility *
demur_eligibility_new(void) {
  DemurEligibility *eligibility = g_new0(DemurEligibility, 1);
  eligibility->n_rules = G_N_ELEMENTS(defaults);
  eligibility->rules = g_memdup2(defaults, sizeof defaults);
  return eligibility;
}

void
demur_eligibility_free(DemurEligibility *eligibility) {
  if (eligibility == NULL)
    return;
  g_free(eligibility->rules);
  g_free(eligibility);
}

gboolean
demur_eligibility_set(DemurEligibility *eligibility, const char *code, DemurRuleAction action,
                      double limit, GError **error) {
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    DemurRule *rule = &eligibility->rules[i];
    if (strcmp(rule->code, code) != 0)
      continue;
    if (!isnan(limit)) {
      if (isnan(rule->limit) || !isfinite(limit) || limit < 0) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                    isnan(rule->limit) ? "rule \"%s\" has no limit to set"
                                       : "the limit of rule \"%s\" must be a number of at least 0",
                    code);
        return FALSE;
      }
      rule->limit = limit;
    }
    rule->action = action;
    return TRUE;
  }
  g_autoptr(GString) list = g_string_new(NULL);
  for (size_t i = 0; i < eligibility->n_rules; i++)
    g_string_append_printf(list, "%s%s", i > 0 ? ", " : "", eligibility->rules[i].code);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "no rule \"%s\"; the rules are %s", code,
              list->str);
  return FALSE;
}

const char *
demur_rule_action_name(DemurRuleAction action) {
  static const char *const names[] = {"off", "warn", "refuse"};
  g_return_val_if_fail((guint)action < G_N_ELEMENTS(names), NULL);
  return names[action];
}

static const DemurRule *
find_rule(const DemurEligibility *eligibility, const char *code) {
  for (size_t i = 0; i < eligibility->n_rules; i++)
    if (strcmp(eligibility->rules[i].code, code) == 0)
      return &eligibility->rules[i];
  return NULL;
}

gboolean
demur_eligibility_parse(DemurEligibility *eligibility, const char *change, GError **error) {
  const char *equals = strchr(change, '=');
  g_autofree char *code = equals != NULL ? g_strndup(change, (gsize)(equals - change)) : NULL;
  g_auto(GStrv) words = equals != NULL ? g_strsplit(equals + 1, ":", 2) : NULL;
  if (code == NULL || words[0] == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "\"%s\" changes no rule: write rule=limit, rule=off, rule=warn, rule=refuse or "
                "rule=warn:limit",
                change);
    return FALSE;
  }
  g_strstrip(code);
  const DemurRule *rule = find_rule(eligibility, code);
  int action = rule != NULL ? (int)rule->action : DEMUR_RULE_REFUSE;
  double limit = NAN;
  size_t at = 0;
  for (int a = DEMUR_RULE_OFF; a <= DEMUR_RULE_REFUSE; a++)
    if (strcmp(g_strstrip(words[0]), demur_rule_action_name((DemurRuleAction)a)) == 0) {
      action = a;
      at = 1;
    }
  if (words[at] != NULL && ((at == 0 && words[1] != NULL) ||
                            !demur_number_parse(words[at], strlen(words[at]), &limit))) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "rule \"%s\" can't be set to \"%s\": give off, warn, refuse, a limit, or both as "
                "warn:limit",
                code, equals + 1);
    return FALSE;
  }
  return demur_eligibility_set(eligibility, code, (DemurRuleAction)action, limit, error);
}

gboolean
demur_eligibility_read(DemurEligibility *eligibility, const char *path, GError **error) {
  g_autofree char *text = NULL;
  g_autoptr(GError) cause = NULL;
  if (!g_file_get_contents(path, &text, NULL, &cause)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the rules can't be read: %s",
                cause->message);
    return FALSE;
  }
  g_autofree char *name = g_path_get_basename(path);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    char *comment = strchr(lines[i], '#');
    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip(lines[i]) != '\0' && !demur_eligibility_parse(eligibility, lines[i], &cause)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s, line %u: %s", name, i + 1,
                  cause->message);
      return FALSE;
    }
  }
  return TRUE;
}

char **
demur_eligibility_changes(const DemurEligibility *eligibility) {
  g_autoptr(GStrvBuilder) changes = g_strv_builder_new();
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    const DemurRule *rule = &eligibility->rules[i], *normal = &defaults[i];
    const gboolean other_limit = !isnan(rule->limit) && rule->limit != normal->limit;
    if (rule->action == normal->action && !other_limit)
      continue;
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *change = g_strdup_printf(
        "%s=%s%s%s", rule->code, demur_rule_action_name(rule->action), other_limit ? ":" : "",
        other_limit ? demur_number_format(rule->limit, number) : "");
    g_strv_builder_add(changes, change);
  }
  return g_strv_builder_end(changes);
}

double
demur_eligibility_limit(const DemurEligibility *eligibility, const char *code) {
  for (size_t i = 0; i < eligibility->n_rules; i++)
    if (strcmp(eligibility->rules[i].code, code) == 0)
      return eligibility->rules[i].limit;
  return NAN;
}

static gboolean
is_chest(const char *body_part) {
  static const char *const words[] = {"CHEST", "THORAX", "LUNG", "TORSO"};
  g_autofree char *upper = g_ascii_strup(body_part, -1);
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (strstr(upper, words[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* Numbers for people: up to three decimals, no trailing zeros. */
static char *
tidy(double value) {
  char buffer[64];
  g_ascii_formatd(buffer, sizeof buffer, "%.3f", value);
  if (strchr(buffer, '.') != NULL) {
    size_t n = strlen(buffer);
    while (buffer[n - 1] == '0')
      buffer[--n] = '\0';
    if (buffer[n - 1] == '.')
      buffer[n - 1] = '\0';
  }
  return g_strdup(strcmp(buffer, "-0") == 0 ? "0" : buffer);
}

/* What the series does against the rule, with the value; NULL where it keeps it. One branch a row
 * of the table. */
static char *
broken(const DemurEligibility *eligibility, const DemurSeries *series, const DemurRule *rule) {
  g_autofree char *limit = tidy(rule->limit);
  const char *code = rule->code;
  if (g_str_equal(code, "two-patients"))
    return series->two_patients
               ? g_strdup("SAFETY: one SeriesInstanceUID holds images of more than one patient")
               : NULL;
  if (g_str_equal(code, "not-ct"))
    return g_strcmp0(series->modality, "CT") != 0
               ? g_strdup_printf("not CT: modality %s",
                                 series->modality != NULL ? series->modality : "not recorded")
               : NULL;
  if (g_str_equal(code, "secondary-capture"))
    return series->type == DEMUR_SERIES_SECONDARY ? g_strdup("a secondary capture, not a scan")
                                                  : NULL;
  if (g_str_equal(code, "localizer"))
    return series->type == DEMUR_SERIES_LOCALIZER
               ? g_strdup(series->localizer_label ? "a localizer (ImageType)"
                                                  : "a localizer (by its orientation)")
               : NULL;
  if (g_str_equal(code, "derived"))
    return series->derived ? g_strdup_printf("derived images (ImageType %s)", series->image_type)
                           : NULL;
  if (g_str_equal(code, "not-grey"))
    return series->photometric != NULL && !g_str_has_prefix(series->photometric, "MONOCHROME")
               ? g_strdup_printf("not grey: photometric interpretation %s", series->photometric)
               : NULL;
  if (g_str_equal(code, "no-positions"))
    return series->n_without_position > 0
               ? g_strdup_printf("position absent in %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                                 " slices",
                                 series->n_without_position, series->n_slices)
               : NULL;
  if (g_str_equal(code, "one-position"))
    return series->n_positions == 1 && series->n_slices > 1
               ? g_strdup_printf("not a volume: %" G_GSIZE_FORMAT " images at one position",
                                 series->n_slices)
               : NULL;
  if (g_str_equal(code, "not-axial")) {
    if (!(series->axial_angle_degrees > rule->limit))
      return NULL;
    g_autofree char *angle = tidy(series->axial_angle_degrees);
    return g_strdup_printf("not axial: %s degrees off the body axis (limit %s)", angle, limit);
  }
  if (g_str_equal(code, "truncated"))
    return series->n_broken > 0
               ? g_strdup_printf("slice truncated or undecodable: %" G_GSIZE_FORMAT " (%s)",
                                 series->n_broken, series->first_problem)
               : NULL;
  if (g_str_equal(code, "lossy")) {
    if (!series->lossy)
      return NULL;
    g_autofree char *name = demur_transfer_syntax_name(series->transfer_syntax_uid);
    return g_strdup_printf("lossy compression (%s)", name);
  }
  if (g_str_equal(code, "few-slices"))
    return (double)series->n_slices < rule->limit
               ? g_strdup_printf("too few slices: %" G_GSIZE_FORMAT " (at least %s)",
                                 series->n_slices, limit)
               : NULL;
  if (g_str_equal(code, "thick")) {
    if (!(series->thickness_mm > rule->limit))
      return NULL;
    g_autofree char *thickness = tidy(series->thickness_mm);
    return g_strdup_printf("slices too thick: %s mm (limit %s)", thickness, limit);
  }
  if (g_str_equal(code, "missing-slice")) {
    if (series->n_missing == 0)
      return NULL;
    g_autofree char *largest = tidy(series->largest_gap_mm);
    g_autofree char *nominal = tidy(series->spacing_mm);
    return g_strdup_printf("slices missing: %" G_GSIZE_FORMAT " (gaps up to %s mm, nominal %s)",
                           series->n_missing, largest, nominal);
  }
  if (g_str_equal(code, "irregular")) {
    if (series->n_irregular == 0)
      return NULL;
    g_autofree char *smallest = tidy(series->smallest_gap_mm);
    g_autofree char *largest = tidy(series->largest_gap_mm);
    g_autofree char *nominal = tidy(series->spacing_mm);
    return g_strdup_printf("irregular spacing: gaps %s to %s mm, nominal %s", smallest, largest,
                           nominal);
  }
  if (g_str_equal(code, "no-patient-id"))
    return series->patient_id == NULL ? g_strdup("no patient ID") : NULL;
  if (g_str_equal(code, "tilt")) {
    const double angle = isfinite(series->tilt_degrees) && fabs(series->tilt_degrees) > rule->limit
                             ? series->tilt_degrees
                             : series->tilt_tag_degrees;
    if (!(fabs(angle) > rule->limit))
      return NULL;
    g_autofree char *tilt = tidy(angle);
    const gboolean measured = fabs(series->tilt_degrees) > rule->limit;
    const gboolean tagged = fabs(series->tilt_tag_degrees) > rule->limit;
    return g_strdup_printf("gantry tilt of %s degrees%s", tilt,
                           !measured ? " by its tag, not by the positions"
                           : !tagged ? " by the positions, without a tag"
                                     : "");
  }
  if (g_str_equal(code, "thickness-differs")) {
    if (!(fabs(series->thickness_mm - series->spacing_mm) > rule->limit))
      return NULL;
    g_autofree char *thickness = tidy(series->thickness_mm);
    g_autofree char *spacing = tidy(series->spacing_mm);
    return g_strdup_printf("slice thickness %s mm, but slices are %s mm apart", thickness, spacing);
  }
  if (g_str_equal(code, "thickness-unknown"))
    return !isnan(series->thickness_mm) ? NULL
           : series->thickness_text != NULL
               ? g_strdup_printf("slice thickness unreadable: \"%s\"", series->thickness_text)
               : g_strdup("slice thickness not recorded");
  if (g_str_equal(code, "thickness-varies")) {
    if (!(series->thickness_mm > series->smallest_thickness_mm))
      return NULL;
    g_autofree char *smallest = tidy(series->smallest_thickness_mm);
    g_autofree char *largest = tidy(series->thickness_mm);
    return g_strdup_printf("slice thickness varies from %s to %s mm", smallest, largest);
  }
  if (g_str_equal(code, "unknown-vendor"))
    return series->manufacturer != NULL ? NULL
           : series->manufacturer_raw != NULL
               ? g_strdup_printf("unknown manufacturer \"%s\"", series->manufacturer_raw)
               : g_strdup("manufacturer not recorded");
  if (g_str_equal(code, "body-part"))
    return series->body_part == NULL ? g_strdup("body part not recorded")
           : !is_chest(series->body_part)
               ? g_strdup_printf("body part is not chest: %s", series->body_part)
               : NULL;
  if (g_str_equal(code, "short-extent")) {
    if (!(series->extent_mm < rule->limit))
      return NULL;
    g_autofree char *extent = tidy(series->extent_mm);
    return g_strdup_printf("extent %s mm: the lungs may not be covered (at least %s)", extent,
                           limit);
  }
  if (g_str_equal(code, "same-position"))
    return series->n_same_position > 0
               ? g_strdup_printf("duplicate positions: %" G_GSIZE_FORMAT
                                 " images left out, the lowest InstanceNumber kept",
                                 series->n_same_position)
               : NULL;
  if (g_str_equal(code, "same-file"))
    return series->n_same_file > 0
               ? g_strdup_printf("duplicate files: %" G_GSIZE_FORMAT " counted once",
                                 series->n_same_file)
               : NULL;
  if (g_str_equal(code, "shared-uids"))
    return series->shared_sop_uids
               ? g_strdup("different images share one SOPInstanceUID: all are kept")
               : NULL;
  if (g_str_equal(code, "other-contents"))
    return series->n_other_contents > 0
               ? g_strdup_printf("different images claim to be the same one (SOPInstanceUID and "
                                 "position): %" G_GSIZE_FORMAT
                                 " left out; which is the right one can't be told",
                                 series->n_other_contents)
               : NULL;
  if (g_str_equal(code, "no-rescale"))
    return g_strcmp0(series->modality, "CT") == 0 && series->type != DEMUR_SERIES_SECONDARY &&
                   series->n_without_rescale > 0
               ? g_strdup_printf("rescale slope or intercept absent or 0 in %" G_GSIZE_FORMAT
                                 " of %" G_GSIZE_FORMAT
                                 " slices: their stored values stand for CT numbers",
                                 series->n_without_rescale, series->n_slices)
               : NULL;
  if (g_str_equal(code, "no-pixel-spacing"))
    return isnan(series->pixel_spacing_mm[0])
               ? g_strdup("no PixelSpacing: distances within a slice are unknown")
               : NULL;
  if (g_str_equal(code, "oblique")) {
    if (!(series->axial_angle_degrees > rule->limit) ||
        series->axial_angle_degrees > demur_eligibility_limit(eligibility, "not-axial"))
      return NULL;
    g_autofree char *angle = tidy(series->axial_angle_degrees);
    return g_strdup_printf("oblique, not straight axial: %s degrees off the body axis", angle);
  }
  if (g_str_equal(code, "several-studies"))
    return series->several_studies ? g_strdup("its slices name more than one StudyInstanceUID")
                                   : NULL;
  if (g_str_equal(code, "split"))
    return series->n_parts > 1
               ? g_strdup_printf(
                     "its SeriesInstanceUID holds %u volumes: this is number %u; say which"
                     " one a score belongs to",
                     series->n_parts, series->part)
               : NULL;
  if (g_str_equal(code, "no-series-uid"))
    return series->series_uid == NULL
               ? g_strdup("no SeriesInstanceUID: scan_id is made from the files' digests")
               : NULL;
  g_return_val_if_reached(NULL);
}

static void
judge_one(const DemurEligibility *eligibility, DemurSeries *series) {
  g_autoptr(GPtrArray) warnings = g_ptr_array_new();
  g_autoptr(GString) reasons = g_string_new(NULL);
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    const DemurRule *rule = &eligibility->rules[i];
    if (rule->action == DEMUR_RULE_OFF)
      continue;
    g_autofree char *words = broken(eligibility, series, rule);
    if (words == NULL)
      continue;
    if (rule->action == DEMUR_RULE_WARN)
      g_ptr_array_add(warnings, g_steal_pointer(&words));
    else
      g_string_append_printf(reasons, "%s%s", reasons->len > 0 ? "; " : "", words);
  }
  g_ptr_array_add(warnings, NULL);
  g_strfreev(series->warnings);
  series->warnings = (char **)g_ptr_array_free(g_steal_pointer(&warnings), FALSE);
  series->eligible = reasons->len == 0;
  series->accepted = FALSE;
  g_free(series->reason);
  series->reason = series->eligible ? NULL : g_strdup_printf("not eligible: %s", reasons->str);
}

static int
kernel_rank(DemurKernelClass sharpness) {
  switch (sharpness) {
  case DEMUR_KERNEL_SOFT:
  case DEMUR_KERNEL_STANDARD:
    return 0;
  case DEMUR_KERNEL_UNKNOWN:
    return 1;
  case DEMUR_KERNEL_SHARP:
    break;
  }
  return 2;
}

/* < 0 where a is preferred; why: the criterion that decided. */
static int
prefer(const DemurCandidate *a, const DemurCandidate *b, const char **why) {
  const double x = isnan(a->thickness_mm) ? INFINITY : a->thickness_mm;
  const double y = isnan(b->thickness_mm) ? INFINITY : b->thickness_mm;
  *why = "its slices are thinner";
  if (x < y)
    return -1;
  if (x > y)
    return 1;
  *why = "its kernel is softer";
  if (kernel_rank(a->kernel_class) != kernel_rank(b->kernel_class))
    return kernel_rank(a->kernel_class) - kernel_rank(b->kernel_class);
  *why = "it has more slices";
  if (a->n_slices != b->n_slices)
    return a->n_slices > b->n_slices ? -1 : 1;
  *why = "its series number is lower";
  if (a->series_number != b->series_number)
    return a->series_number < b->series_number ? -1 : 1;
  *why = "its scan_id is lower";
  return strcmp(a->scan_id, b->scan_id);
}

char *
demur_eligibility_study(const DemurCandidate *candidate) {
  return g_strdup_printf("%s\n%s\n%s",
                         candidate->study_uid != NULL ? candidate->study_uid : candidate->scan_id,
                         candidate->patient_id != NULL ? candidate->patient_id : "",
                         candidate->patient_name != NULL ? candidate->patient_name : "");
}

void
demur_eligibility_choose(DemurCandidate *candidates, size_t n) {
  g_autoptr(GHashTable) chosen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  const char *why;
  for (size_t i = 0; i < n; i++) {
    DemurCandidate *one = &candidates[i];
    if (!one->eligible)
      continue;
    g_autofree char *key = demur_eligibility_study(one);
    const DemurCandidate *best = g_hash_table_lookup(chosen, key);
    if (best == NULL || prefer(one, best, &why) < 0)
      g_hash_table_insert(chosen, g_steal_pointer(&key), one);
  }
  for (size_t i = 0; i < n; i++) {
    DemurCandidate *one = &candidates[i];
    one->accepted = FALSE;
    one->reason = NULL;
    if (!one->eligible)
      continue;
    g_autofree char *key = demur_eligibility_study(one);
    const DemurCandidate *best = g_hash_table_lookup(chosen, key);
    one->accepted = best == one;
    if (!one->accepted) {
      prefer(best, one, &why);
      one->reason = g_strdup_printf(
          "eligible, not chosen: series %s of the study is preferred (%s)", best->scan_id, why);
    }
  }
}

void
demur_eligibility_judge(const DemurEligibility *eligibility, GPtrArray *series) {
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, MAX(series->len, 1));
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    judge_one(eligibility, one);
    candidates[i] = (DemurCandidate){.scan_id = one->scan_id,
                                     .study_uid = one->study_uid,
                                     .patient_id = one->patient_id,
                                     .patient_name = one->patient_name,
                                     .eligible = one->eligible,
                                     .thickness_mm = one->thickness_mm,
                                     .kernel_class = one->kernel_class,
                                     .n_slices = one->n_slices,
                                     .series_number = one->series_number};
  }
  demur_eligibility_choose(candidates, series->len);
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    one->accepted = candidates[i].accepted;
    if (candidates[i].reason != NULL)
      one->reason = candidates[i].reason;
  }
}
