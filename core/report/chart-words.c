#include "report/chart-words.h"

static _Thread_local DemurChartTranslate in_use;

DemurChartTranslate
demur_chart_words_use(DemurChartTranslate translate) {
  const DemurChartTranslate before = in_use;
  in_use = translate;
  return before;
}

const char *
demur_chart_word(const char *text) {
  return in_use != NULL ? in_use(text) : text;
}

gboolean
demur_chart_is_word(const char *attribute, const char *value) {
  static const struct {
    const char *attribute, *value;
  } words[] = {{"sex", DEMUR_CHART_WORD("female")}, {"sex", DEMUR_CHART_WORD("male")}};
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (g_strcmp0(attribute, words[i].attribute) == 0 && g_strcmp0(value, words[i].value) == 0)
      return TRUE;
  return value == NULL || *value == '\0';
}
