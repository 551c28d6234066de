#include "words/rule-words.h"
#include "base/translate.h"

#include <math.h>
#include <string.h>

/* {0} .. {3} stand for the values, as dicom/rules.c has them. */
static const struct {
  const char *code;
  const char *told[3]; /* a sentence a variant */
} sentences[] = {
    {"two-patients", {N_("SAFETY: one SeriesInstanceUID holds images of more than one patient")}},
    {"not-ct", {N_("not CT: modality {0}"), N_("not CT: modality not recorded")}},
    {"secondary-capture", {N_("a secondary capture, not a scan")}},
    {"localizer", {N_("a localizer (ImageType)"), N_("a localizer (by its orientation)")}},
    {"derived", {N_("derived images (ImageType {0})")}},
    {"not-grey", {N_("not grey: photometric interpretation {0}")}},
    {"not-hu", {N_("not in Hounsfield units: its values are {0} ({1})")}},
    {"mono-energetic", {N_("virtual mono-energetic images ({0})")}},
    {"no-positions", {N_("position absent in {0} of {1} slices")}},
    {"one-position", {N_("not a volume: {0} images at one position")}},
    {"not-axial", {N_("not axial: {0} degrees off the body axis (limit {1})")}},
    {"unseparated",
     {N_("more than one image at a position ({0} images), and no attribute tells which belong "
         "together")}},
    {"several-frames", {N_("its slices lie in more than one frame of reference")}},
    {"several-studies", {N_("its slices name more than one StudyInstanceUID")}},
    {"several-acquisitions",
     {N_("more than one acquisition in one volume: {0} {1} and {2}"),
      N_("more than one acquisition in one volume, in turns: {0} {1} and {2}")}},
    {"mixed",
     {N_("more than one reconstruction or phase in one volume: {0} {1} and {2}"),
      N_("more than one reconstruction or phase in one volume, in turns: {0} {1} and {2}")}},
    {"two-stacks",
     {N_("more than one acquisition or reconstruction in one volume, one behind the other: they "
         "differ in {0}"),
      N_("more than one acquisition or reconstruction in one volume, in turns: they differ in "
         "{0}")}},
    {"time-order",
     {N_("more than one acquisition in one volume: {0} {1} and {2}"),
      N_("more than one acquisition in one volume: {0} goes back and forth along it ({1}, {2})")}},
    {"time-jump", {N_("more than one acquisition in one volume: {0} jumps by {1} s (limit {2})")}},
    {"thickness-varies",
     {N_("slice thickness varies from {0} to {1} mm"),
      N_("slice thickness recorded in some slices only")}},
    {"truncated", {N_("slice truncated or undecodable: {0} ({1})")}},
    {"unreadable", {N_("a file of this series can't be read whole: {0} ({1})")}},
    {"beside-gap",
     {N_("files beside that can't be read and may be of this series: {0} ({1}); numbers of images "
         "that are lacking: {2}")}},
    {"incomplete",
     {N_("images of this series that were imported before can't be read any more: {0}; import all of "
         "them together")}},
    {"lossy", {N_("lossy compression ({0})")}},
    {"few-slices", {N_("too few slices: {0} (at least {1})")}},
    {"thick", {N_("slices too thick: {0} mm (limit {1})")}},
    {"missing-slice", {N_("slices missing: {0} (gaps up to {1} mm, nominal {2})")}},
    {"irregular", {N_("irregular spacing: gaps {0} to {1} mm, nominal {2}")}},
    {"sideways", {N_("slices lie sideways of one another: by up to {0} mm (limit {1})")}},
    {"no-patient-id", {N_("no patient ID")}},
    {"own-series-uids",
     {N_("{0} images of this study, each with a SeriesInstanceUID of its own, seem to be one series")}},
    {"beside", {N_("files beside that can't be read and may be of this series: {0} ({1})")}},
    {"tilt",
     {N_("gantry tilt of {0} degrees"),
      N_("gantry tilt of {0} degrees by its tag, not by the positions"),
      N_("gantry tilt of {0} degrees by the positions, without a tag")}},
    {"spectral-words",
     {N_("its description speaks of a spectral map (\"{0}\"), its attributes do not")}},
    {"thickness-differs", {N_("slice thickness {0} mm, but slices are {1} mm apart")}},
    {"thickness-unknown",
     {N_("slice thickness unreadable: \"{0}\""), N_("slice thickness not recorded")}},
    {"unknown-vendor", {N_("unknown manufacturer \"{0}\""), N_("manufacturer not recorded")}},
    {"body-part", {N_("body part is not chest: {0}"), N_("body part not recorded")}},
    {"short-extent", {N_("extent {0} mm: the lungs may not be covered (at least {1} mm)")}},
    {"same-position",
     {N_("duplicate positions: {0} images left out, the lowest InstanceNumber kept")}},
    {"same-file", {N_("duplicate files: {0} counted once")}},
    {"shared-uids", {N_("different images share one SOPInstanceUID: all are kept")}},
    {"other-contents",
     {N_("different images claim to be the same one (SOPInstanceUID and position): {0} left out; "
         "which is the right one can't be told")}},
    {"no-rescale",
     {N_("rescale slope or intercept absent or 0 in {0} of {1} slices: their stored values stand for "
         "CT numbers")}},
    {"no-pixel-spacing", {N_("no PixelSpacing: distances within a slice are unknown")}},
    {"oblique", {N_("oblique, not straight axial: {0} degrees off the body axis")}},
    {"split",
     {N_("its SeriesInstanceUID holds {0} volumes: this is number {1}; say which one a score belongs "
         "to")}},
    {"no-series-uid", {N_("no SeriesInstanceUID: scan_id is made from the files' digests")}},
};

/* A value as the sentence has it. */
static void
append_value(GString *words, const char *value, DemurTranslate translate) {
  char *end;
  const double number = g_ascii_strtod(value, &end);
  const char *point = strchr(value, '.');
  if (*value == '\0') {
    g_string_append(words, demur_translate(translate, N_("nothing")));
  } else if (point != NULL && *end == '\0' && isfinite(number)) {
    g_autofree char *digits = demur_translate_digits(translate, value);
    g_string_append(words, digits);
  } else { /* a few words that are marked with N_ where they were found, or a name */
    g_string_append(words, strchr(value, ' ') != NULL ? demur_translate(translate, value) : value);
  }
}

const char *
demur_words_rule_sentence(const char *code, guint variant) {
  for (size_t i = 0; i < G_N_ELEMENTS(sentences); i++)
    if (g_strcmp0(sentences[i].code, code) == 0 && variant < G_N_ELEMENTS(sentences[i].told))
      return sentences[i].told[variant];
  return NULL;
}

char *
demur_words_rule(const DemurReason *reason, DemurTranslate translate) {
  const char *told = demur_words_rule_sentence(reason->subject, reason->n);
  if (told == NULL)
    return g_strdup(reason->subject != NULL ? reason->subject : "");
  const guint n_values = reason->values != NULL ? g_strv_length(reason->values) : 0;
  g_autoptr(GString) words = g_string_new(NULL);
  for (told = demur_translate(translate, told); *told != '\0'; told++) {
    if (told[0] != '{' || !g_ascii_isdigit(told[1]) || told[2] != '}') {
      g_string_append_c(words, *told);
      continue;
    }
    const guint i = (guint)(told[1] - '0');
    if (i < n_values)
      append_value(words, reason->values[i], translate);
    told += 2;
  }
  return g_string_free(g_steal_pointer(&words), FALSE);
}
