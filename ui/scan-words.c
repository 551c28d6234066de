#include "ui/scan-words.h"

#include <math.h>

#include "report/format.h"
#include "ui/words.h"
#include "words/words.h"

char **
demur_scan_reasons(const DemurScan *scan, gboolean revealed, guint *n_numbered) {
  g_autoptr(GPtrArray) shown = demur_scan_told_reasons(scan, revealed);
  return scan->shown == DEMUR_SHOWN_NOT_ELIGIBLE
             ? demur_words_reasons_beside(shown, n_numbered, demur_words_translate)
             : demur_words_reasons(shown, n_numbered, demur_words_translate);
}

char *
demur_scan_first_reason(const DemurScan *scan) {
  if (scan->shown == DEMUR_SHOWN_OUT_OF_DATE)
    return demur_words_outdated_first(scan->outdated, demur_words_translate);
  g_auto(GStrv) reasons = demur_scan_reasons(scan, FALSE, NULL);
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

char *
demur_scan_name_text(const DemurScan *scan) {
  if (*scan->patient_name == '\0')
    return g_strdup(DEMUR_TEXT_UNDEFINED);
  /* Family, given, middle name, prefix, suffix (PS3.5 6.2, PN); the first of several writings. */
  g_autofree char *one = g_strndup(scan->patient_name, strcspn(scan->patient_name, "="));
  g_auto(GStrv) parts = g_strsplit(one, "^", -1);
  GString *text = g_string_new(parts[0]);
  for (guint i = 1; parts[0] != NULL && parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_string_append_printf(text, "%s%s", i == 1 ? ", " : " ", parts[i]);
  return g_string_free(text, FALSE);
}

const char *
demur_scan_why_no_review(const DemurScan *scan, gboolean read_only, DemurReviewKind kind) {
  if (read_only)
    return _("This workspace can't be written.");
  switch (scan != NULL ? demur_task_review_bar(scan, kind) : DEMUR_REVIEW_NO_VERDICT) {
  case DEMUR_REVIEW_OUT_OF_DATE:
    return _("The verdict is out of date: assess the scan again first.");
  case DEMUR_REVIEW_NO_DECISION:
    return _("Nothing was decided about this scan yet that you could agree or disagree with. A "
             "comment can be kept.");
  case DEMUR_REVIEW_NO_VERDICT:
    return _("An opinion is of a verdict: this scan is not assessed.");
  default:
    return NULL;
  }
}
