#include "cohort/table-text.h"
#include "base/translate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cohort/table-warnings.h"

/* Characters that show nothing and mean nothing in an identifier. */
static gboolean
is_invisible(gunichar c) {
  return c == 0x00ad || c == 0x034f || c == 0x061c || c == 0x180e || c == 0x200b || c == 0x200e ||
         c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
         c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f);
}

/* Tabs, line ends of any kind and control characters: printed, what stands behind them would be a line of
 * its own, or steer a terminal. */
static gboolean
breaks_line(gunichar c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

/* Zero width joiners have a meaning between letters only. */
static gboolean
is_joiner(gunichar c) {
  return c == 0x200c || c == 0x200d;
}

static gboolean
is_blank(gunichar c) {
  return g_unichar_isspace(c) || c == 0x0085 || c == 0x00a0 || c == 0x2007 || c == 0x202f ||
         c == 0x2800 || c == 0x3164;
}

static gboolean
is_plain(const char *text, size_t length) {
  if (length == 0)
    return TRUE;
  guchar high = 0, low = 0;
  for (size_t i = 0; i < length; i++) {
    high |= (guchar)text[i];
    low |= (guchar)((guchar)text[i] < ' ');
  }
  return high < 0x80 && low == 0 && (guchar)text[0] > ' ' && (guchar)text[length - 1] > ' ';
}

static gboolean
is_cut_off(gunichar c) {
  return is_blank(c) || is_invisible(c) || is_joiner(c);
}

/* The text on one line: a blank for each line end (one for both of "\r\n"), tab or control character; TRUE
 * where there was one. Invisible characters stay only where they are wanted. */
static gboolean
append_line(GString *line, const char *begin, const char *end, gboolean invisible) {
  gboolean found = FALSE;
  for (const char *p = begin; p < end; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    if (breaks_line(c)) {
      found = TRUE;
      if (c != '\n' || p == begin || p[-1] != '\r')
        g_string_append_c(line, ' ');
    } else if (invisible || !is_invisible(c)) {
      g_string_append_unichar(line, c);
    }
  }
  return found;
}

gboolean
demur_table_one_line(const char *text, size_t length, GString *line) {
  g_string_truncate(line, 0);
  return !is_plain(text, length) && append_line(line, text, text + length, TRUE);
}

const char *
demur_table_id(const DemurTableField *field, GString *scratch, size_t *length,
               DemurIdChanges *changes) {
  *changes = DEMUR_ID_AS_WRITTEN;
  *length = field->length;
  if (is_plain(field->text, field->length))
    return field->text;
  const char *begin = field->text, *end = field->text + field->length;
  while (begin < end && is_cut_off(g_utf8_get_char(begin)))
    begin = g_utf8_next_char(begin);
  while (end > begin && is_cut_off(g_utf8_get_char(g_utf8_prev_char(end))))
    end = g_utf8_prev_char(end);
  g_string_truncate(scratch, 0);
  const gboolean in_line = append_line(scratch, begin, end, FALSE);
  if (scratch->len != field->length || in_line)
    *changes |= DEMUR_ID_TRIMMED;
  g_autofree char *composed = g_utf8_normalize(scratch->str, -1, G_NORMALIZE_NFC);
  if (composed != NULL && strcmp(composed, scratch->str) != 0) {
    g_string_assign(scratch, composed);
    *changes |= DEMUR_ID_COMPOSED;
  }
  *length = scratch->len;
  return scratch->str;
}

/* Small Cyrillic and Greek letters that look like a Latin one. */
static gunichar
latin(gunichar c) {
  static const struct {
    gunichar other, latin;
  } pairs[] = {{0x430, 'a'}, {0x432, 'b'}, {0x435, 'e'}, {0x43a, 'k'}, {0x43c, 'm'}, {0x43d, 'h'},
               {0x43e, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x442, 't'}, {0x443, 'y'}, {0x445, 'x'},
               {0x455, 's'}, {0x456, 'i'}, {0x458, 'j'}, {0x3b1, 'a'}, {0x3b2, 'b'}, {0x3b5, 'e'},
               {0x3b6, 'z'}, {0x3b7, 'h'}, {0x3b9, 'i'}, {0x3ba, 'k'}, {0x3bc, 'm'}, {0x3bd, 'n'},
               {0x3bf, 'o'}, {0x3c1, 'p'}, {0x3c4, 't'}, {0x3c5, 'y'}, {0x3c7, 'x'}};
  for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
    if (pairs[i].other == c)
      return pairs[i].latin;
  return c;
}

static void
append_likeness(GString *likeness, const char *id) {
  g_autofree char *wide = g_utf8_normalize(id, -1, G_NORMALIZE_ALL);
  for (const char *p = wide != NULL ? wide : ""; *p != '\0'; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    const GUnicodeType type = g_unichar_type(c);
    if (is_cut_off(c) || type == G_UNICODE_NON_SPACING_MARK || type == G_UNICODE_ENCLOSING_MARK)
      continue;
    if (type == G_UNICODE_DASH_PUNCTUATION || c == 0x2212)
      g_string_append_c(likeness, '-');
    else if (g_unichar_isdigit(c))
      g_string_append_c(likeness, (char)('0' + g_unichar_digit_value(c)));
    else
      g_string_append_unichar(likeness, latin(g_unichar_tolower(c)));
  }
}

void
demur_table_id_likeness(const char *id, size_t length, GString *likeness) {
  g_string_truncate(likeness, 0);
  if (is_plain(id, length)) {
    g_string_set_size(likeness, length);
    size_t n = 0;
    for (size_t i = 0; i < length; i++)
      if ((guchar)id[i] > ' ')
        likeness->str[n++] = (char)(id[i] + (id[i] >= 'A' && id[i] <= 'Z' ? 'a' - 'A' : 0));
    g_string_truncate(likeness, n);
  } else {
    append_likeness(likeness, id);
  }
  const char *text = likeness->str;
  if (!g_ascii_isdigit(*text))
    return;
  const size_t digits = strspn(text, "0123456789");
  const gboolean whole = digits > 0 && text[digits] == '.' && text[digits + 1] == '0' &&
                         strspn(text + digits + 1, "0") == likeness->len - digits - 1;
  if (whole)
    g_string_truncate(likeness, digits);
  if (digits > 0 && digits == likeness->len) {
    const size_t zeros = strspn(likeness->str, "0");
    g_string_erase(likeness, 0, (gssize)MIN(zeros, likeness->len - 1));
  }
}

/* A month as spreadsheets shorten it in English, German, French, Spanish and Italian; how long it
 * is, a full stop behind it too. 0: none. */
static size_t
month_length(const char *text) {
  static const char *const months[] = {"jan",
                                       "feb",
                                       "mar",
                                       "apr",
                                       "may",
                                       "jun",
                                       "jul",
                                       "aug",
                                       "sep",
                                       "sept",
                                       "oct",
                                       "nov",
                                       "dec",
                                       "mrz",
                                       "m\xc3\xa4r",
                                       "mai",
                                       "okt",
                                       "dez",
                                       "janv",
                                       "f\xc3\xa9vr",
                                       "mars",
                                       "avr",
                                       "juin",
                                       "juil",
                                       "ao\xc3\xbbt",
                                       "d\xc3\xa9"
                                       "c",
                                       "ene",
                                       "abr",
                                       "ago",
                                       "dic",
                                       "gen",
                                       "mag",
                                       "giu",
                                       "lug",
                                       "set",
                                       "ott"};
  size_t longest = 0;
  if (*text == '\0' || strchr("jfmasondeglJFMASONDEGL", *text) == NULL)
    return 0;
  for (size_t m = 0; m < G_N_ELEMENTS(months); m++) {
    const size_t n = strlen(months[m]);
    if (n > longest && g_ascii_strncasecmp(text, months[m], n) == 0)
      longest = n;
  }
  return longest > 0 && text[longest] == '.' ? longest + 1 : longest;
}

/* Digits of a number from least to most at *text, which is moved behind them; 0: none such. */
static size_t
take_number(const char **text, int least, int most) {
  const size_t n = strspn(*text, "0123456789");
  if (n == 0 || n > 4)
    return 0;
  const int value = atoi(*text);
  *text += n;
  return value >= least && value <= most ? n : 0;
}

/* "2-Mar", "Mar-21", "2-Mar-21" with any of "-/. " between. */
static gboolean
is_date_in_words(const char *id) {
  const char *p = id;
  const gboolean day = g_ascii_isdigit(*p);
  if (day && (take_number(&p, 1, 31) == 0 || strchr("-/. ", *p) == NULL || *p == '\0'))
    return FALSE;
  p += day ? strspn(p, "-/. ") : 0;
  const size_t month = month_length(p);
  p += month;
  if (month == 0 || (*p == '\0' && !day))
    return FALSE;
  if (*p == '\0')
    return TRUE;
  if (strchr("-/. ", *p) == NULL)
    return FALSE;
  p += strspn(p, "-/. ");
  return take_number(&p, 0, 9999) > 0 && *p == '\0';
}

/* "03/02/2021", "3.2.21", "2021-02-03", "2021-02-03 00:00:00". */
static gboolean
is_date_in_digits(const char *id) {
  const char *p = id;
  const gboolean year_first = strspn(id, "0123456789") == 4;
  const size_t first = take_number(&p, year_first ? 1900 : 1, year_first ? 2099 : 31);
  const char mark = *p;
  if (first == 0 || mark == '\0' || strchr("-/.", mark) == NULL)
    return FALSE;
  p++;
  const size_t second = take_number(&p, 1, year_first ? 12 : 31);
  if (second == 0 || second > 2 || *p++ != mark)
    return FALSE;
  const size_t third = take_number(&p, year_first ? 1 : 0, year_first ? 31 : 9999);
  if (third == 0 || third == 3 || (!year_first && third == 1))
    return FALSE;
  return *p == '\0' || (*p == ' ' && strspn(p, " 0123456789:") == strlen(p));
}

/* "#####" of a column that was too narrow, "#REF!", "#NAME?", "#DIV/0!" of a formula that failed. */
static gboolean
is_lost(const char *id) {
  const size_t n = strlen(id);
  return n > 2 && id[0] == '#' && (strspn(id, "#") == n || strchr("!?", id[n - 1]) != NULL);
}

/* An identifier that was read as a number has so many digits and ".0" behind them. */
#define FEWEST_DIGITS 4

gboolean
demur_table_id_may_be_several(const char *id) {
  const DemurIdRewriting rewriting = demur_table_id_rewriting(id);
  return rewriting == DEMUR_ID_SCIENTIFIC || rewriting == DEMUR_ID_DATE ||
         rewriting == DEMUR_ID_LOST;
}

DemurIdRewriting
demur_table_id_rewriting(const char *id) {
  if (*id == '#')
    return is_lost(id) ? DEMUR_ID_LOST : DEMUR_ID_NOT_REWRITTEN;
  if (strpbrk(id, "-/. ") != NULL && strlen(id) <= 20 &&
      (is_date_in_words(id) || is_date_in_digits(id)))
    return DEMUR_ID_DATE;
  if (!g_ascii_isdigit(*id))
    return DEMUR_ID_NOT_REWRITTEN;
  const size_t mantissa = strspn(id, "0123456789.,");
  const char *e = id + mantissa;
  if ((*e == 'e' || *e == 'E') && (e[1] == '+' || g_ascii_isdigit(e[1])) && e[2] != '\0' &&
      strspn(e + 1, "+0123456789") == strlen(e + 1)) {
    const gboolean one_digit = mantissa == 1 || id[1] == '.' || id[1] == ',';
    return one_digit && (e[1] == '+' || mantissa > 1) ? DEMUR_ID_SCIENTIFIC : DEMUR_ID_EXPONENT;
  }
  const size_t n = strlen(id);
  if (mantissa == n && n >= FEWEST_DIGITS + 2 && strcmp(id + n - 2, ".0") == 0 &&
      strspn(id, "0123456789") == n - 2)
    return DEMUR_ID_EXPONENT;
  return n > 15 && strspn(id, "0123456789") == n && strspn(id + 15, "0") == n - 15
             ? DEMUR_ID_ROUNDED
             : DEMUR_ID_NOT_REWRITTEN;
}

gboolean
demur_table_is_missing(const DemurTableField *field) {
#define WORD(word)                                                                                 \
  { word, sizeof word - 1 }
  static const struct {
    const char *word;
    size_t length;
  } words[] = {WORD("na"), WORD("n/a"), WORD("#n/a"), WORD("<na>"), WORD("nan"), WORD("null"),
               WORD("none"), WORD("missing"), WORD("unknown"), WORD("not recorded"), WORD("n.a."),
               WORD("n. a."), WORD("n.d."), WORD("n. d."), WORD("unk"),
               /* a spreadsheet's own in German, Spanish and Italian; German words */
               WORD("#nv"), WORD("#n/d"), WORD("#nd"), WORD("k.a."), WORD("k. a."),
               WORD("keine angabe"), WORD("unbekannt"),
               /* U+2013, U+2014, U+2212 alone */
               WORD("\xe2\x80\x93"), WORD("\xe2\x80\x94"), WORD("\xe2\x88\x92")};
#undef WORD
  const char *text = field->text;
  if (field->length == 0)
    return TRUE;
  if (field->length > 12)
    return FALSE;
  switch (*text) {
  case '.':
    return field->length == 1 || (field->length == 2 && g_ascii_isalpha(text[1]));
  case '-':
    return field->length == 1 || strcmp(text, "--") == 0;
  case '?':
    return field->length == 1;
  case 'n':
  case 'N':
  case '#':
  case '<':
  case 'k':
  case 'K':
  case 'm':
  case 'M':
  case 'u':
  case 'U':
  case '\xe2':
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
      if (field->length == words[i].length && g_ascii_strcasecmp(text, words[i].word) == 0)
        return TRUE;
    return FALSE;
  default:
    return FALSE;
  }
}

gboolean
demur_table_count_missing(const DemurTableField *field, DemurCellsNoticed *words) {
  if (!demur_table_is_missing(field))
    return FALSE;
  if (field->length > 0 && words->n++ == 0)
    g_strlcpy(words->first, field->text, sizeof words->first);
  return TRUE;
}

const char *
demur_table_value(const DemurTableField *field, GString *line, size_t *length,
                  DemurCellsNoticed *words) {
  *length = 0;
  if (demur_table_count_missing(field, words))
    return "";
  *length = field->length;
  if (!demur_table_one_line(field->text, field->length, line))
    return field->text;
  words->n_broken++;
  *length = line->len;
  return line->str;
}

void
demur_cells_noticed_warn(const DemurCellsNoticed *words, const char *column, GPtrArray *warnings) {
  if (words->n_broken > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_TRIMMED, column, NULL, NULL, words->n_broken, 0);
  if (words->n > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_MISSING_WORDS, column, words->first, NULL,
                             words->n, 0);
}

/* Groups of three digits behind the first, as in 1,000 or 12.345.678. */
static gboolean
is_grouped(const char *text, char mark) {
  const size_t first = strspn(text, "0123456789");
  if (first < 1 || first > 3 || text[0] == '0' || text[first] != mark)
    return FALSE;
  const char *p = text + first;
  while (*p == mark) {
    if (strspn(p + 1, "0123456789") < 3)
      return FALSE;
    p += 4;
  }
  return !g_ascii_isdigit(*p);
}

const char *
demur_table_number_fault(const DemurTableField *field) {
  const char *text = field->text;
  if (field->length == 0 || field->length > 64)
    return NULL;
  if (demur_table_is_missing(field))
    return N_("a word for not recorded");
  if (strpbrk(text, "0123456789") == NULL)
    return NULL;
  if (strchr(text, '%') != NULL || strstr(text, "\xef\xbc\x85") != NULL ||
      strstr(text, "\xe2\x80\xb0") != NULL) /* full width, and per mille */
    return N_("a per cent sign, %; give a fraction");
  if (strchr(text, ',') != NULL) {
    const char *digits = text + strspn(text, "+- ");
    if (is_grouped(digits, ','))
      return strchr(digits, '.') != NULL
                 ? N_("a thousands separator; write a decimal point and nothing else")
                 : N_("a comma: a thousands separator, to be left out, or a decimal comma");
    return N_("a decimal comma");
  }
  if (strchr(text, '\'') != NULL || strstr(text, "\xe2\x80\x99") != NULL)
    return N_("a thousands separator; write a decimal point and nothing else");
  if (strstr(text, "\xe2\x88\x92") != NULL)
    return N_("a minus sign that is not -");
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p))
    if (is_cut_off(g_utf8_get_char(p)))
      return N_("a blank or an invisible character in it");
  return is_grouped(text, '.') && strchr(strchr(text, '.') + 1, '.') != NULL
             ? N_("thousands separators; leave them out")
             : NULL;
}

gboolean
demur_table_is_code(double value) {
  if (value == -1.0)
    return TRUE;
  const double magnitude = fabs(value);
  for (double nines = value < 0.0 ? 9.0 : 99.0; nines <= 99999.0; nines = nines * 10.0 + 9.0)
    if (magnitude == nines ||
        (nines >= 999.0 && (magnitude == nines - 1.0 || magnitude == nines - 2.0)))
      return TRUE;
  for (double eights = value < 0.0 ? 8.0 : 888.0; eights <= 8888.0; eights = eights * 10.0 + 8.0)
    if (magnitude == eights)
      return TRUE;
  return FALSE;
}

gboolean
demur_table_is_negative_code(const DemurTableField *field) {
  double value;
  return *field->text == '-' && demur_number_parse(field->text, field->length, &value) &&
         demur_table_is_code(value);
}

char *
demur_table_visible(const char *text) {
  GString *shown = g_string_new(NULL);
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    if (c != ' ' && is_cut_off(c))
      g_string_append_printf(shown, "[U+%04X]", c);
    else
      g_string_append_unichar(shown, c);
  }
  return g_string_free(shown, FALSE);
}
