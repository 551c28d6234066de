#include "ui/scan-words.h"

#include <math.h>

#include "report/format.h"
#include "ui/words.h"
#include "words/words.h"

char **
demur_scan_reasons(const DemurScan *scan, gboolean revealed) {
  g_autoptr(GPtrArray) shown = demur_scan_told_reasons(scan, revealed);
  return demur_words_reasons(shown, demur_words_translate);
}

char *
demur_scan_first_reason(const DemurScan *scan) {
  g_auto(GStrv) reasons = demur_scan_reasons(scan, FALSE);
  return g_strdup(reasons[0] != NULL ? reasons[0] : "");
}

char *
demur_scan_risk_text(const DemurScan *scan) {
  if (!isnan(scan->risk))
    return demur_text_percent(scan->risk, 1);
  if (scan->shown == DEMUR_SHOWN_RED_FLAG)
    return g_strdup(_("held back"));
  return g_strdup(DEMUR_TEXT_UNDEFINED);
}
