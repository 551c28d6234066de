#include "words/noticed.h"

#include "base/translate.h"
#include "base/shown-text.h"

/* $c is column, $f first, $s second, $n n, $a n_all; {..} holds what names scans or
 * persons. one: where n is 1; NULL: the other text. */
static const struct {
  const char *one, *several;
} words[DEMUR_N_TABLE_WARNINGS] = {
    [DEMUR_TABLE_TRIMMED] =
        {N_("$n cell of $c: blanks at its ends, line ends or invisible characters were "
            "taken away"),
         N_("$n cells of $c: blanks at their ends, line ends or invisible characters were "
            "taken away")},
    [DEMUR_TABLE_COMPOSED] = {N_("$n cell of $c was brought to composed form (NFC)"),
                              N_("$n cells of $c were brought to composed form (NFC)")},
    [DEMUR_TABLE_LIKE] =
        {N_("$n of $c looks like another one{ ('$f' and '$s')}; they were taken as different"),
         N_("$n of $c look like another one{ ('$f' and '$s')}; they were taken as different")},
    [DEMUR_TABLE_REWRITTEN] =
        {N_("$n of $c looks rewritten by a spreadsheet{ ('$f')}: export identifiers as text"),
         N_("$n of $c look rewritten by a spreadsheet{ ('$f')}: export identifiers as text")},
    [DEMUR_TABLE_ID_MISSING] = {NULL, N_("'$f' looks like a word for not recorded, but was taken "
                                         "as a $c")},
    [DEMUR_TABLE_MISSING_WORDS] =
        {N_("column $c: $n cell says '$f'; it is not recorded"),
         N_("column $c: $n cells say '$f' or the like; they are not recorded")},
    [DEMUR_TABLE_CODE] =
        {N_("column $c: $n cell is $f, which looks like a code for not recorded; it was taken as a "
            "number: leave it empty if so"),
         N_("column $c: $n cells are $f, which looks like a code for not recorded; they were taken "
            "as numbers: leave them empty if so")},
    [DEMUR_TABLE_OTHER_NUMBERS] =
        {N_("column $c: $n cell is a number in another notation{ ('$f')} and was kept as text: write "
            "a decimal point and nothing else"),
         N_("column $c: $n cells are numbers in another notation{ ('$f')} and were kept as text: "
            "write a decimal point and nothing else")},
    [DEMUR_TABLE_FALLING] =
        {N_("$n of $a scans: its yearly risks fall from one year to a later one"),
         N_("$n of $a scans: yearly risks fall from one year to a later one")},
    [DEMUR_TABLE_EMPTY_ROWS] = {N_("$n row without any value was passed over"),
                                N_("$n rows without any value were passed over")},
    [DEMUR_TABLE_ENDS_OPEN] = {NULL, N_("the last row has no line end: if the file was cut off, "
                                        "its last value is not whole")},
    [DEMUR_TABLE_LIKE_COLUMN] = {NULL, N_("column $c was kept as an attribute beside $f, which "
                                          "looks like it")},
    [DEMUR_TABLE_COLUMN_TWICE] = {NULL, N_("column $c of the $f is not kept: the cohort has one of "
                                           "that name")},
    [DEMUR_TABLE_UNLABELLED] = {NULL, N_("split $c: $n of $a scans without label; it can't train, "
                                         "recalibrate or be evaluated")},
    [DEMUR_TABLE_BY_ORDER] = {NULL, N_("embeddings of $f joined by row order: row 1 of the array "
                                       "is the first scan of the table")},
    [DEMUR_TABLE_PART_SIMULATED] = {NULL, N_("column simulated says yes in some rows only ($n of "
                                             "$a); the whole cohort is marked as simulated")},
    [DEMUR_TABLE_BARE] = {NULL, N_("no patient_id, scan_id, site and split: every row was taken as "
                                   "a patient of its own, at one site, in split test")},
    [DEMUR_TABLE_ONE_SPLIT] = {NULL, N_("no column split: every scan is in split $f (--split names "
                                        "another)")},
    [DEMUR_TABLE_SPLIT_MADE] = {NULL, N_("splits were made by $c: $f")},
    [DEMUR_TABLE_NO_PERSON] = {N_("$n score without a person or a screen{: $f}"),
                               N_("$n scores without a person or a screen{: $f}")},
    [DEMUR_TABLE_NO_SCORE] = {N_("$n screen without a score{: $f}"),
                              N_("$n screens without a score{: $f}")},
    [DEMUR_TABLE_WEIGHTS] = {NULL, N_("ipc_weight holds for censoring that does not depend on the "
                                      "risk; it is kept beside the scans and no measure uses it "
                                      "by itself")},
    [DEMUR_TABLE_NO_IMAGE] =
        {N_("$n of $a scans has no row in the table of images; its scanner, kernel and thickness "
            "are not recorded"),
         N_("$n of $a scans have no row in the table of images; their scanner, kernel and "
            "thickness are not recorded")},
    [DEMUR_TABLE_IMAGES_DIFFER] =
        {NULL, N_("$n of $a scans are of screens with several series; what these differ in "
                  "(kernel, thickness ..) is not recorded: name each score's series in a column "
                  "series_uid")},
    [DEMUR_TABLE_ONE_SITE] = {NULL, N_("no column $c: every person is at site $f, so nothing can "
                                       "be said by site")},
    [DEMUR_TABLE_FOLLOWUP_FROM] =
        {NULL, N_("no column fup_days: $c was taken as the last follow-up; it ends earlier for "
                  "some, so more screens are left out")},
    [DEMUR_TABLE_FOLLOW_UP] =
        {NULL,
         N_("outcomes have their times from years_to_cancer and years_of_followup: of $n of $a "
            "scans the outcome at the horizon is not known (followed for less, and no label)")},
    [DEMUR_TABLE_FREE_BY_LABEL] =
        {N_("$n other of $a scans was followed for less than the horizon too, but has label 0; its "
            "label was believed"),
         N_("$n others of $a scans were followed for less than the horizon too, but have label 0; "
            "their labels were believed")},
    [DEMUR_TABLE_OWN_COLUMN] = {NULL, N_("column $c is the cohort's own and was not attached: what "
                                         "it says here was not read (cohort import reads it)")},
    [DEMUR_TABLE_LONG_TIMES] =
        {N_("the outcome of $n of $a scans has a time of over 30 years: it is taken as years, not "
            "months"),
         N_("outcomes of $n of $a scans have times of over 30 years: they are taken as years, not "
            "months")},
    [DEMUR_TABLE_CONTRARY] =
        {N_("of $a labels that the cohort has too $n says the contrary there{ (scan $f)}: is 1 the "
            "outcome in both?"),
         N_("of $a labels that the cohort has too $n say the contrary there{ (scan $f)}: is 1 the "
            "outcome in both?")},
    [DEMUR_TABLE_OVERTURNED] =
        {N_("$n of $a labels overturns an earlier one{ (scan $f)}; the later one counts, both are "
            "kept"),
         N_("$n of $a labels overturn an earlier one{ (scan $f)}; the later ones count, all are "
            "kept")},
};

static void
append_text(GString *said, const char *text) {
  g_autofree char *shown = demur_shown_text(text);
  g_string_append(said, shown != NULL ? shown : "");
}

static void
append_letter(GString *said, char letter, const DemurTableWarning *warning) {
  switch (letter) {
  case 'c':
    append_text(said, warning->column);
    break;
  case 'f':
    append_text(said, warning->first);
    break;
  case 's':
    append_text(said, warning->second);
    break;
  case 'n':
    g_string_append_printf(said, "%zu", warning->n);
    break;
  case 'a':
    g_string_append_printf(said, "%zu", warning->n_all);
    break;
  default:
    g_assert_not_reached();
  }
}

char *
demur_words_noticed(const DemurTableWarning *warning, gboolean with_ids, DemurTranslate translate) {
  const char *one = words[warning->kind].one, *several = words[warning->kind].several;
  const char *text = demur_translate(translate, warning->n == 1 && one != NULL ? one : several);
  GString *said = g_string_new(NULL);
  gboolean in_ids = FALSE;
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '{' || *p == '}')
      in_ids = *p == '{';
    else if (in_ids && !with_ids)
      continue;
    else if (*p != '$')
      g_string_append_c(said, *p);
    else
      append_letter(said, *++p, warning);
  }
  return g_string_free(said, FALSE);
}
