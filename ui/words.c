#include "ui/words.h"

#include <string.h>

#include "report/format.h"

const char *
demur_words_translate(const char *text) {
  return dgettext(DEMUR_UI_DOMAIN, text);
}

static const struct {
  const char *word, *title, *glyph, *style;
} shown_words[DEMUR_N_SHOWN] = {
    {"accepted", N_("Accepted"), "●", "accepted"},
    {"red_flag", N_("Red flag"), "▲", "red-flag"},
    {"not_eligible", N_("Not eligible"), "◇", "not-eligible"},
    {"no_score", N_("No score"), "○", "other-verdict"},
    {"not_tuned", N_("Not tuned"), "□", "other-verdict"},
    {"failed", N_("Failed"), "✕", "other-verdict"},
    {NULL, N_("Not assessed"), "–", "other-verdict"},
};

DemurShown
demur_shown_from_word(const char *word) {
  if (word == NULL)
    return DEMUR_SHOWN_NOT_ASSESSED;
  for (guint i = 0; i < DEMUR_SHOWN_NOT_ASSESSED; i++)
    if (strcmp(word, shown_words[i].word) == 0)
      return (DemurShown)i;
  return DEMUR_SHOWN_FAILED;
}

const char *
demur_shown_word(DemurShown shown) {
  return shown_words[shown].word;
}

const char *
demur_shown_title(DemurShown shown) {
  return _(shown_words[shown].title);
}

const char *
demur_shown_glyph(DemurShown shown) {
  return shown_words[shown].glyph;
}

const char *
demur_shown_style(DemurShown shown) {
  return shown_words[shown].style;
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
