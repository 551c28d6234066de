/* What hospitals' tables hold beside what they mean: identifiers with blanks at their ends or
 * changed by a spreadsheet, words for "not recorded", numbers in local spelling. Told, never
 * guessed at. */
#pragma once

#include "cohort/table.h"

G_BEGIN_DECLS

/* What was done to an identifier before it was taken. */
typedef enum {
  DEMUR_ID_AS_WRITTEN = 0,
  DEMUR_ID_TRIMMED = 1 << 0,  /* blanks at its ends, line ends in it, or invisible characters */
  DEMUR_ID_COMPOSED = 1 << 1, /* brought to Unicode's composed form (NFC) */
} DemurIdChanges;

/* An identifier without blanks of any kind (U+0020, tabs, line ends, U+00A0, ..) at its ends and
 * without invisible characters (U+200B, U+FEFF, U+00AD, direction marks; joiners at its ends), each tab
 * and line end in it a blank, in composed form: text [*length] of the field itself, or of scratch. Plain
 * ASCII costs one look at each byte. */
const char *demur_table_id(const DemurTableField *field, GString *scratch, size_t *length,
                           DemurIdChanges *changes);

/* What else is printed as a name (a column's, an attribute's value): TRUE where line ends, tabs or control
 * characters were in it, and line is the text with a blank in their places. */
gboolean demur_table_one_line(const char *text, size_t length, GString *line);

/* An identifier's likeness [a NUL-terminated text in likeness]: two that people would take for one
 * have one likeness. Letters' case, accents, blanks, dashes' kind, Cyrillic and Greek letters that
 * look Latin do not count; nor, in whole numbers, zeros in front and ".0" behind. */
void demur_table_id_likeness(const char *id, size_t length, GString *likeness);

/* What a spreadsheet may have done to an identifier: "1.67683E+15", digits rounded to 15 places, a
 * date made of "2-3" or "03-02-21", or a column that was too narrow or a formula that failed. */
typedef enum {
  DEMUR_ID_NOT_REWRITTEN,
  DEMUR_ID_EXPONENT,   /* like a number with an exponent, or one that was read as such: 100234.0 */
  DEMUR_ID_SCIENTIFIC, /* as spreadsheets and programs write one: 1.67683E+15, 1.6e15 */
  DEMUR_ID_ROUNDED,
  DEMUR_ID_DATE, /* "2-Mar", "Mrz 21", "03/02/2021", "2021-02-03" */
  DEMUR_ID_LOST, /* "#####", "#REF!", "#WERT!" */
} DemurIdRewriting;
DemurIdRewriting demur_table_id_rewriting(const char *id);

/* Whether several identifiers may have become this one, so that it can't stand for one person. */
gboolean demur_table_id_may_be_several(const char *id);

/* Whether the field says "not recorded": empty, or in any case NA, N/A, #N/A, <NA>, NaN, NULL,
 * None, missing, unknown, UNK, not recorded, N.A., N.D., k.A., unbekannt, keine Angabe, or ".", "-",
 * "--", a longer dash, "?", SAS's ".A" to ".Z". */
gboolean demur_table_is_missing(const DemurTableField *field);

/* What was noticed of one column's cells. All zero: nothing yet. */
typedef struct {
  size_t n;        /* that say in a word that nothing is recorded */
  char first[16];  /* the first such word */
  size_t n_broken; /* with line ends, tabs or control characters in them */
} DemurCellsNoticed;

/* demur_table_is_missing, and a word is counted. */
gboolean demur_table_count_missing(const DemurTableField *field, DemurCellsNoticed *words);

/* The value [*length] that a cell is kept as: "" where nothing is recorded, on one line (line holds it then),
 * else the field's own. What was done is counted. */
const char *demur_table_value(const DemurTableField *field, GString *line, size_t *length,
                              DemurCellsNoticed *words);

/* Adds a DEMUR_TABLE_MISSING_WORDS, and a DEMUR_TABLE_TRIMMED, of the column where there were any. */
void demur_cells_noticed_warn(const DemurCellsNoticed *words, const char *column,
                              GPtrArray *warnings);

/* Why a field is no number, in a few words ("a decimal comma"), to stand in brackets behind it;
 * NULL where nothing is known. */
const char *demur_table_number_fault(const DemurTableField *field);

/* Whether a number looks like a code for "not recorded": -1, -8, -9, -88, -99, .., 99, 888, 997 to
 * 999, 8888, 9997 to 9999, .. */
gboolean demur_table_is_code(double value);

/* Whether the field is such a number below 0, as no identifier is. */
gboolean demur_table_is_negative_code(const DemurTableField *field);

/* text with blanks that can't be told from U+0020, and invisible characters, as "[U+00A0]" (owned).
 */
char *demur_table_visible(const char *text);

G_END_DECLS
