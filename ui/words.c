#include "ui/words.h"

#include "base/error.h"
#include "report/format.h"
#include "words/words.h"

void
demur_words_numbers(gboolean readers) {
  /* Translators: this number as it is written in your language; its marks are taken from here. */
  const char *sample = _("1,337.5");
  if (readers)
    demur_text_marks_use_sample(sample);
  else
    demur_text_marks_use(NULL, NULL);
}

const DemurLanguage *
demur_words_language(void) {
  static DemurLanguage language = {.translate = demur_words_translate};
  /* Translators: the code of your language, such as "de". */
  static const char untranslated[] = N_("en");
  language.code = demur_words_translate(untranslated);
  return language.code == untranslated ? NULL : &language; /* as gettext gives what it lacks */
}

const char *
demur_words_translate(const char *text) {
  return dgettext(DEMUR_UI_DOMAIN, text);
}

char *
demur_words_error(const GError *error) {
  return demur_error_words(error, demur_words_translate);
}

static const struct {
  const char *glyph, *style;
} shown_marks[DEMUR_N_SHOWN] = {
    [DEMUR_SHOWN_ACCEPTED] = {"●", "accepted"},
    [DEMUR_SHOWN_RED_FLAG] = {"▲", "red-flag"},
    [DEMUR_SHOWN_NOT_ELIGIBLE] = {"◇", "not-eligible"},
    [DEMUR_SHOWN_NO_SCORE] = {"○", "other-verdict"},
    [DEMUR_SHOWN_NOT_TUNED] = {"□", "other-verdict"},
    [DEMUR_SHOWN_FAILED] = {"✕", "other-verdict"},
    [DEMUR_SHOWN_OUT_OF_DATE] = {"↻", "other-verdict"},
    [DEMUR_SHOWN_NOT_ASSESSED] = {"–", "other-verdict"},
};

const char *
demur_shown_title(DemurShown shown) {
  if (shown == DEMUR_SHOWN_OUT_OF_DATE)
    return _("Out of date");
  if (shown == DEMUR_SHOWN_NOT_ASSESSED)
    return _("Not assessed");
  return demur_words_verdict((DemurVerdict)shown, demur_words_translate);
}

const char *
demur_shown_glyph(DemurShown shown) {
  return shown_marks[shown].glyph;
}

const char *
demur_shown_style(DemurShown shown) {
  return shown_marks[shown].style;
}

char *
demur_label_title(int label, gsize n_classes) {
  if (n_classes == 2)
    return g_strdup(label == 0 ? _("label 0") : _("label 1"));
  return g_strdup_printf(_("label %d"), label);
}

char *
demur_age_sex_text(int age, const char *sex) {
  /* "F", "female" and "male" as in DICOM: one letter; anything else as it is written. */
  g_autofree char *letter = NULL;
  if (sex != NULL &&
      (g_ascii_strcasecmp(sex, "female") == 0 || g_ascii_strcasecmp(sex, "male") == 0))
    sex = letter = g_ascii_strup(sex, 1);
  const gboolean has_sex = sex != NULL && *sex != '\0';
  if (age > 0)
    return has_sex ? g_strdup_printf("%d %s", age, sex) : g_strdup_printf("%d", age);
  return g_strdup(has_sex ? sex : DEMUR_TEXT_UNDEFINED);
}
