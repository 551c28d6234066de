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
