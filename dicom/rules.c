#include "dicom/rules.h"
#include "dicom/attributes.h"
#include "dicom/image-kind.h"
#include "dicom/tag-name.h"
#include "dicom/transfer-syntax.h"
#include "dicom/unit.h"

#include <math.h>
#include <string.h>

#define TAG_FRAME_OF_REFERENCE DEMUR_TAG(0x0020, 0x0052)
#define TAG_STUDY DEMUR_TAG(0x0020, 0x000D)
#define TAG_THICKNESS DEMUR_TAG(0x0018, 0x0050)

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

static gboolean
found(DemurRuleFinding *finding, guint variant) {
  finding->variant = variant;
  return TRUE;
}

static gboolean
found_text(DemurRuleFinding *finding, guint variant, const char *text) {
  finding->values[0] = g_strdup(text);
  return found(finding, variant);
}

/* Counts, the first of them ending the list that is not wanted by being NaN. */
static gboolean
found_numbers(DemurRuleFinding *finding, guint variant, double a, double b, double c) {
  const double values[] = {a, b, c};
  for (size_t i = 0; i < G_N_ELEMENTS(values) && !isnan(values[i]); i++)
    finding->values[i] = tidy(values[i]);
  return found(finding, variant);
}

static gboolean
find_two_patients(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->two_patients && found(f, 0);
}

static gboolean
find_not_ct(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return !demur_modality_is_ct(s->modality) &&
         found_text(f, s->modality != NULL ? 0 : 1, s->modality);
}

static gboolean
find_secondary_capture(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->type == DEMUR_SERIES_SECONDARY && found(f, 0);
}

static gboolean
find_localizer(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->type == DEMUR_SERIES_LOCALIZER && found(f, s->localizer_label ? 0 : 1);
}

static gboolean
find_derived(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->derived && found_text(f, 0, s->image_type);
}

static gboolean
find_not_grey(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return !demur_photometric_is_grey(s->photometric) && found_text(f, 0, s->photometric);
}

static gboolean
find_not_hu(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (!demur_modality_is_ct(s->modality) || s->unit == NULL || demur_unit_is_hu(s->unit))
    return FALSE;
  f->values[0] = g_strdup(s->unit);
  f->values[1] = g_strdup(s->unit_from);
  return found(f, 0);
}

static gboolean
find_mono_energetic(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->mono_energetic != NULL && found_text(f, 0, s->mono_energetic);
}

static gboolean
find_spectral_words(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->spectral_words != NULL && found_text(f, 0, s->spectral_words);
}

static gboolean
find_no_positions(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_without_position > 0 &&
         found_numbers(f, 0, (double)s->n_without_position, (double)s->n_slices, NAN);
}

static gboolean
find_one_position(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_positions == 1 && s->n_slices > 1 &&
         found_numbers(f, 0, (double)s->n_slices, NAN, NAN);
}

static gboolean
find_not_axial(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->axial_angle_degrees > rule->limit &&
         found_numbers(f, 0, s->axial_angle_degrees, rule->limit, NAN);
}

static gboolean
find_truncated(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->n_broken == 0)
    return FALSE;
  found_numbers(f, 0, (double)s->n_broken, NAN, NAN);
  f->values[1] = g_strdup(s->first_problem);
  return TRUE;
}

static gboolean
find_unreadable(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->n_unreadable == 0)
    return FALSE;
  found_numbers(f, 0, (double)s->n_unreadable, NAN, NAN);
  f->values[1] = g_strdup(s->unreadable_problem);
  return TRUE;
}

static gboolean
find_beside(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->n_strays == 0)
    return FALSE;
  found_numbers(f, 0, (double)s->n_strays, NAN, NAN);
  f->values[1] = g_strdup(s->stray_problem);
  return TRUE;
}

static gboolean
find_beside_gap(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->n_numbers_lacking == 0)
    return FALSE;
  found_numbers(f, 0, (double)s->n_strays, NAN, NAN);
  f->values[1] = g_strdup(s->stray_problem);
  f->values[2] = tidy((double)s->n_numbers_lacking);
  return TRUE;
}

static gboolean
find_incomplete(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->gone != NULL && found_numbers(f, 0, (double)g_strv_length(s->gone), NAN, NAN);
}

static gboolean
find_lossy(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (!s->lossy)
    return FALSE;
  f->values[0] = demur_transfer_syntax_name(s->transfer_syntax_uid);
  return found(f, 0);
}

static gboolean
find_few_slices(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return (double)s->n_slices < rule->limit &&
         found_numbers(f, 0, (double)s->n_slices, rule->limit, NAN);
}

static gboolean
find_thick(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->thickness_mm > rule->limit && found_numbers(f, 0, s->thickness_mm, rule->limit, NAN);
}

static gboolean
find_missing_slice(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_missing > 0 &&
         found_numbers(f, 0, (double)s->n_missing, s->largest_gap_mm, s->spacing_mm);
}

static gboolean
find_irregular(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_irregular > 0 &&
         found_numbers(f, 0, s->smallest_gap_mm, s->largest_gap_mm, s->spacing_mm);
}

static gboolean
find_sideways(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->sideways_mm > rule->limit && found_numbers(f, 0, s->sideways_mm, rule->limit, NAN);
}

static gboolean
find_no_patient_id(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->patient_id == NULL && found(f, 0);
}

static gboolean
find_unseparated(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_unseparated > 0 && found_numbers(f, 0, (double)s->n_unseparated, NAN, NAN);
}

/* Attributes whose differences a rule of their own tells. */
static gboolean
has_own_rule(const DemurSliceAttribute *attribute) {
  return attribute->tag == TAG_FRAME_OF_REFERENCE || attribute->tag == TAG_STUDY ||
         attribute->tag == TAG_THICKNESS;
}

static gboolean
found_mixed(DemurRuleFinding *f, const DemurMixed *mixed) {
  f->values[0] = g_strdup(demur_slice_attribute(mixed->attribute)->keyword);
  f->values[1] = g_strdup(mixed->first != NULL ? mixed->first : "");
  f->values[2] = g_strdup(mixed->other != NULL ? mixed->other : "");
  return found(f, mixed->kind == DEMUR_MIXED_TURNS ? 1 : 0);
}

/* The first attribute of the role that differs; tag: that one only (0: any without a rule of its own). */
static gboolean
find_mixed_role(const DemurSeries *s, DemurSliceAttributeRole role, guint32 tag,
                DemurRuleFinding *f) {
  for (size_t i = 0; i < s->n_mixed; i++) {
    const DemurMixed *mixed = &s->mixed[i];
    const DemurSliceAttribute *attribute = demur_slice_attribute(mixed->attribute);
    if (attribute->role == role && mixed->kind != DEMUR_MIXED_JUMP &&
        (tag != 0 ? attribute->tag == tag : !has_own_rule(attribute)))
      return found_mixed(f, mixed);
  }
  return FALSE;
}

static gboolean
find_several_frames(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_ONE, TAG_FRAME_OF_REFERENCE, f);
}

static gboolean
find_several_studies(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->several_studies && found(f, 0);
}

static gboolean
find_mixed(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_ONE, 0, f) ||
         find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_FREE, 0, f);
}

static gboolean
find_two_stacks(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->n_two_stacks == 0)
    return FALSE;
  f->values[0] = demur_tag_name(s->two_stacks_tag);
  return found(f, s->two_stacks_in_turns ? 1 : 0);
}

static gboolean
find_several_acquisitions(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_STEPS, 0, f);
}

static gboolean
find_time_order(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_TIME, 0, f);
}

static gboolean
find_time_jump(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  for (size_t i = 0; i < s->n_mixed; i++) {
    if (s->mixed[i].kind != DEMUR_MIXED_JUMP || !(s->mixed[i].seconds > rule->limit))
      continue;
    f->values[0] = g_strdup(demur_slice_attribute(s->mixed[i].attribute)->keyword);
    f->values[1] = tidy(s->mixed[i].seconds);
    f->values[2] = tidy(rule->limit);
    return found(f, 0);
  }
  return FALSE;
}

static gboolean
find_thickness_varies(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  if (s->thickness_mm > s->smallest_thickness_mm)
    return found_numbers(f, 0, s->smallest_thickness_mm, s->thickness_mm, NAN);
  if (!find_mixed_role(s, DEMUR_SLICE_ATTRIBUTE_ONE, TAG_THICKNESS, f))
    return FALSE;
  return found(f, 1);
}

static gboolean
find_tilt(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  const gboolean measured = fabs(s->tilt_degrees) > rule->limit;
  const gboolean tagged = fabs(s->tilt_tag_degrees) > rule->limit;
  return (measured || tagged) &&
         found_numbers(f,
                       !measured ? 1
                       : !tagged ? 2
                                 : 0,
                       measured ? s->tilt_degrees : s->tilt_tag_degrees, NAN, NAN);
}

static gboolean
find_thickness_differs(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return fabs(s->thickness_mm - s->spacing_mm) > rule->limit &&
         found_numbers(f, 0, s->thickness_mm, s->spacing_mm, NAN);
}

static gboolean
find_thickness_unknown(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return isnan(s->thickness_mm) &&
         found_text(f, s->thickness_text != NULL ? 0 : 1, s->thickness_text);
}

static gboolean
find_unknown_vendor(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->manufacturer == NULL &&
         found_text(f, s->manufacturer_raw != NULL ? 0 : 1, s->manufacturer_raw);
}

static gboolean
find_body_part(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  static const char *const words[] = {"CHEST", "THORAX", "LUNG", "TORSO"};
  if (s->body_part == NULL)
    return found(f, 1);
  g_autofree char *upper = g_ascii_strup(s->body_part, -1);
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (strstr(upper, words[i]) != NULL)
      return FALSE;
  return found_text(f, 0, s->body_part);
}

static gboolean
find_short_extent(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->extent_mm < rule->limit && found_numbers(f, 0, s->extent_mm, rule->limit, NAN);
}

static gboolean
find_same_position(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_same_position > 0 && found_numbers(f, 0, (double)s->n_same_position, NAN, NAN);
}

static gboolean
find_same_file(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_same_file > 0 && found_numbers(f, 0, (double)s->n_same_file, NAN, NAN);
}

static gboolean
find_shared_uids(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->shared_sop_uids && found(f, 0);
}

static gboolean
find_other_contents(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_other_contents > 0 && found_numbers(f, 0, (double)s->n_other_contents, NAN, NAN);
}

static gboolean
find_no_rescale(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return demur_modality_is_ct(s->modality) && s->type != DEMUR_SERIES_SECONDARY &&
         s->n_without_rescale > 0 &&
         found_numbers(f, 0, (double)s->n_without_rescale, (double)s->n_slices, NAN);
}

static gboolean
find_no_pixel_spacing(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return isnan(s->pixel_spacing_mm[0]) && found(f, 0);
}

static gboolean
find_oblique(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->axial_angle_degrees > rule->limit &&
         found_numbers(f, 0, s->axial_angle_degrees, NAN, NAN);
}

static gboolean
find_split(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_parts > 1 && found_numbers(f, 0, s->n_parts, s->part, NAN);
}

static gboolean
find_no_series_uid(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->series_uid == NULL && found(f, 0);
}

static gboolean
find_own_series_uids(const DemurSeries *s, const DemurRule *rule, DemurRuleFinding *f) {
  return s->n_lone_siblings > 0 && found_numbers(f, 0, (double)s->n_lone_siblings, NAN, NAN);
}

#define REFUSE DEMUR_RULE_REFUSE
#define WARN DEMUR_RULE_WARN

static const DemurRule table[] = {
    {"two-patients", REFUSE, NAN, "one SeriesInstanceUID, one patient", find_two_patients},
    {"not-ct", REFUSE, NAN, "modality CT", find_not_ct},
    {"secondary-capture", REFUSE, NAN, "no Secondary Capture", find_secondary_capture},
    {"localizer", REFUSE, NAN, "no localizer", find_localizer},
    {"derived", REFUSE, NAN, "original images, not DERIVED ones", find_derived},
    {"not-grey", REFUSE, NAN, "one grey sample a pixel", find_not_grey},
    {"not-hu", REFUSE, NAN, "CT numbers in Hounsfield units", find_not_hu},
    {"mono-energetic", REFUSE, NAN, "no virtual mono-energetic images", find_mono_energetic},
    {"no-positions", REFUSE, NAN, "position and orientation in every slice", find_no_positions},
    {"one-position", REFUSE, NAN, "images at different positions", find_one_position},
    {"not-axial", REFUSE, 30, "normal within .. degrees of the body axis", find_not_axial},
    {"unseparated", REFUSE, NAN, "images at one position told apart by an attribute",
     find_unseparated},
    {"several-frames", REFUSE, NAN, "one FrameOfReferenceUID", find_several_frames},
    {"several-studies", REFUSE, NAN, "one study a series", find_several_studies},
    {"several-acquisitions", REFUSE, NAN, "one acquisition, or one a step of an axial scan",
     find_several_acquisitions},
    {"mixed", REFUSE, NAN, "one reconstruction and one phase", find_mixed},
    {"two-stacks", REFUSE, NAN, "no other element that parts the slices into whole stacks",
     find_two_stacks},
    {"time-order", REFUSE, NAN, "times that go one way along the volume", find_time_order},
    {"time-jump", REFUSE, 10, "no jump of a time by more than .. s", find_time_jump},
    {"thickness-varies", REFUSE, NAN, "one thickness", find_thickness_varies},
    {"truncated", REFUSE, NAN, "pixel data of every slice complete and decodable", find_truncated},
    {"unreadable", REFUSE, NAN, "every file of the series readable", find_unreadable},
    {"beside-gap", REFUSE, NAN,
     "no number lacking that a file beside may have, which can't be read", find_beside_gap},
    {"incomplete", REFUSE, NAN, "every image that was imported of it there", find_incomplete},
    {"lossy", REFUSE, NAN, "no lossy compression", find_lossy},
    {"few-slices", REFUSE, 10, "at least .. slices", find_few_slices},
    {"thick", REFUSE, 5, "thickness of at most .. mm", find_thick},
    {"missing-slice", REFUSE, NAN, "no slice missing", find_missing_slice},
    {"irregular", REFUSE, 0.1, "gaps within this share of the nominal spacing", find_irregular},
    {"sideways", REFUSE, 1, "slices within .. mm of one straight line", find_sideways},
    {"no-patient-id", REFUSE, NAN, "a PatientID", find_no_patient_id},
    {"own-series-uids", REFUSE, NAN, "one SeriesInstanceUID for the images of a stack",
     find_own_series_uids},
    {"beside", WARN, NAN, "every file beside readable that may be of the series", find_beside},
    {"tilt", WARN, 0.5, "tilt of at most .. degrees", find_tilt},
    {"spectral-words", WARN, NAN, "no words of spectral maps in the description",
     find_spectral_words},
    {"thickness-differs", WARN, 0.1, "thickness within .. mm of the spacing",
     find_thickness_differs},
    {"thickness-unknown", WARN, NAN, "a readable SliceThickness", find_thickness_unknown},
    {"unknown-vendor", WARN, NAN, "a known manufacturer", find_unknown_vendor},
    {"body-part", WARN, NAN, "body part CHEST, THORAX or LUNG", find_body_part},
    {"short-extent", WARN, 200, "an extent of at least .. mm", find_short_extent},
    {"same-position", WARN, NAN, "one image a position", find_same_position},
    {"same-file", WARN, NAN, "each file once", find_same_file},
    {"shared-uids", WARN, NAN, "one SOPInstanceUID an image", find_shared_uids},
    {"other-contents", WARN, NAN, "one content a SOPInstanceUID and position", find_other_contents},
    {"no-rescale", WARN, NAN, "RescaleSlope (not 0) and RescaleIntercept in every slice",
     find_no_rescale},
    {"no-pixel-spacing", WARN, NAN, "a PixelSpacing", find_no_pixel_spacing},
    {"oblique", WARN, 20, "normal within .. degrees of the body axis without a warning",
     find_oblique},
    {"split", WARN, NAN, "one volume a SeriesInstanceUID", find_split},
    {"no-series-uid", WARN, NAN, "a SeriesInstanceUID", find_no_series_uid},
};

const char *
demur_rule_less_than(const DemurRule *rule) {
  static const struct {
    const char *less, *more;
  } pairs[] = {{"oblique", "not-axial"}, {"beside", "beside-gap"}};
  for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
    if (strcmp(pairs[i].less, rule->code) == 0)
      return pairs[i].more;
  return NULL;
}

const DemurRule *
demur_rules(size_t *n) {
  *n = G_N_ELEMENTS(table);
  return table;
}

const char *
demur_rule_action_name(DemurRuleAction action) {
  static const char *const names[] = {"off", "warn", "refuse"};
  g_return_val_if_fail((guint)action < G_N_ELEMENTS(names), NULL);
  return names[action];
}

void
demur_rule_finding_clear(DemurRuleFinding *finding) {
  for (size_t i = 0; i < G_N_ELEMENTS(finding->values); i++)
    g_clear_pointer(&finding->values[i], g_free);
}
