/* ISO 2022 code extension, PS3.5 section 6.1.2.5: G0 holds the codes below 0x80, G1 those above;
 * escape sequences name what either holds. The text is cut into runs of one code table and each is
 * converted by iconv. Cost O(length); text of plain ASCII is copied. */
#include "dicom/charset.h"

#include <string.h>

typedef struct {
  const char *iconv;  /* NULL: none */
  guint width;        /* bytes a character */
  gboolean left;      /* a 7-bit table: its bytes get their high bit before iconv */
  const char *prefix; /* before each character, "" mostly */
} Table;

/* JIS X 0201 (ISO-IR 13 and 14), which glibc's iconv lacks: converted here. */
static const char jis_x0201[] = "JIS_X0201";
#define JIS_X0201 jis_x0201

static const Table ASCII = {"ASCII", 1, FALSE, ""};
static const Table NONE = {NULL, 1, FALSE, ""};

/* How a whole text is coded, by the first of its defined terms. */
typedef enum { CODE_EXTENSIONS, UTF_8, GB_18030, SHIFT_JIS } System;

static const struct {
  const char *term;
  System system;
} systems[] = {{"UTF-8", UTF_8},  {"UTF8", UTF_8},          {"GB18030", GB_18030},
               {"GBK", GB_18030}, {"SHIFT_JIS", SHIFT_JIS}, {"SJIS", SHIFT_JIS}};

#define UTF_8_NUMBER 192 /* ISO_IR 192 */

static const struct {
  int number; /* of the ISO registration in the defined term */
  Table table;
} right_tables[] = {
    {100, {"ISO-8859-1", 1, FALSE, ""}}, {101, {"ISO-8859-2", 1, FALSE, ""}},
    {109, {"ISO-8859-3", 1, FALSE, ""}}, {110, {"ISO-8859-4", 1, FALSE, ""}},
    {144, {"ISO-8859-5", 1, FALSE, ""}}, {127, {"ISO-8859-6", 1, FALSE, ""}},
    {126, {"ISO-8859-7", 1, FALSE, ""}}, {138, {"ISO-8859-8", 1, FALSE, ""}},
    {148, {"ISO-8859-9", 1, FALSE, ""}}, {203, {"ISO-8859-15", 1, FALSE, ""}},
    {166, {"TIS-620", 1, FALSE, ""}},    {13, {JIS_X0201, 1, FALSE, ""}},
    {149, {"EUC-KR", 2, FALSE, ""}},     {58, {"EUC-CN", 2, FALSE, ""}},
};

static const struct {
  const char *sequence; /* behind ESC */
  gboolean g0;
  Table table;
} escapes[] = {
    {"(B", TRUE, {"ASCII", 1, FALSE, ""}},       {"(J", TRUE, {JIS_X0201, 1, FALSE, ""}},
    {"$B", TRUE, {"EUC-JP", 2, TRUE, ""}},       {"$@", TRUE, {"EUC-JP", 2, TRUE, ""}},
    {"$(D", TRUE, {"EUC-JP", 2, TRUE, "\x8F"}},  {")I", FALSE, {JIS_X0201, 1, FALSE, ""}},
    {"-A", FALSE, {"ISO-8859-1", 1, FALSE, ""}}, {"-B", FALSE, {"ISO-8859-2", 1, FALSE, ""}},
    {"-C", FALSE, {"ISO-8859-3", 1, FALSE, ""}}, {"-D", FALSE, {"ISO-8859-4", 1, FALSE, ""}},
    {"-L", FALSE, {"ISO-8859-5", 1, FALSE, ""}}, {"-G", FALSE, {"ISO-8859-6", 1, FALSE, ""}},
    {"-F", FALSE, {"ISO-8859-7", 1, FALSE, ""}}, {"-H", FALSE, {"ISO-8859-8", 1, FALSE, ""}},
    {"-M", FALSE, {"ISO-8859-9", 1, FALSE, ""}}, {"-b", FALSE, {"ISO-8859-15", 1, FALSE, ""}},
    {"-T", FALSE, {"TIS-620", 1, FALSE, ""}},    {"$)C", FALSE, {"EUC-KR", 2, FALSE, ""}},
    {"$)A", FALSE, {"EUC-CN", 2, FALSE, ""}},
};

/* Latin letters with a yen sign and an overline, and half-width katakana from 0xA1 to 0xDF. */
static void
append_jis_x0201(GString *out, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const guint8 byte = (guint8)bytes[i];
    if (byte < 0x80)
      g_string_append_unichar(out, byte == 0x5C ? 0x00A5 : byte == 0x7E ? 0x203E : byte);
    else if (byte >= 0xA1 && byte <= 0xDF)
      g_string_append_unichar(out, 0xFF61u + (byte - 0xA1u));
    else
      g_string_append_unichar(out, 0xFFFD);
  }
}

/* Converts bytes [length] of an iconv charset; what has no meaning becomes U+FFFD, unit bytes at a
 * time. */
static void
append_converted(GString *out, const char *charset, const char *bytes, size_t length, guint unit) {
  if (charset == JIS_X0201) {
    append_jis_x0201(out, bytes, length);
    return;
  }
  GIConv converter = charset != NULL ? g_iconv_open("UTF-8", charset) : (GIConv)-1;
  if (converter == (GIConv)-1) {
    for (size_t i = 0; i < length; i += unit)
      g_string_append(out, "\xEF\xBF\xBD");
    return;
  }
  char *in = (char *)bytes;
  gsize left = length;
  while (left > 0) {
    char buffer[512];
    char *to = buffer;
    gsize room = sizeof buffer;
    const gsize before = left;
    const gsize result = g_iconv(converter, &in, &left, &to, &room);
    g_string_append_len(out, buffer, to - buffer);
    if (result != (gsize)-1 || (left < before && to != buffer))
      continue;
    const gsize skip = MIN(left, unit);
    in += skip;
    left -= skip;
    g_string_append(out, "\xEF\xBF\xBD");
    g_iconv(converter, NULL, NULL, NULL, NULL);
  }
  g_iconv_close(converter);
}

/* The number of a defined term as "ISO_IR 100" or "ISO 2022 IR 100"; 0 where it has none. */
static int
number_of_term(const char *term) {
  const char *number = strstr(term, "IR");
  if (number == NULL)
    return 0;
  for (number += 2; *number == ' ' || *number == '_' || *number == '-'; number++)
    ;
  return (int)g_ascii_strtoll(number, NULL, 10);
}

static Table
table_of_term(const char *term) {
  const int number = number_of_term(term);
  for (size_t i = 0; i < G_N_ELEMENTS(right_tables); i++)
    if (right_tables[i].number == number)
      return right_tables[i].table;
  return NONE;
}

static System
system_of_term(const char *term) {
  for (size_t i = 0; i < G_N_ELEMENTS(systems); i++)
    if (strcmp(term, systems[i].term) == 0)
      return systems[i].system;
  return number_of_term(term) == UTF_8_NUMBER ? UTF_8 : CODE_EXTENSIONS;
}

static void
append_iso2022(GString *out, const char *bytes, size_t length, Table first) {
  Table g0 = ASCII, g1 = first;
  const gboolean resets = first.iconv != NULL;
  size_t i = 0;
  while (i < length) {
    const guint8 byte = (guint8)bytes[i];
    if (byte == 0x1B) {
      size_t k = 0;
      for (; k < G_N_ELEMENTS(escapes); k++) {
        const size_t n = strlen(escapes[k].sequence);
        if (length - i - 1 >= n && memcmp(bytes + i + 1, escapes[k].sequence, n) == 0)
          break;
      }
      if (k == G_N_ELEMENTS(escapes)) {
        g_string_append(out, "\xEF\xBF\xBD");
        i++;
        continue;
      }
      *(escapes[k].g0 ? &g0 : &g1) = escapes[k].table;
      i += 1 + strlen(escapes[k].sequence);
      continue;
    }
    if (byte < 0x80 && g0.width == 1 && g0.iconv == ASCII.iconv) {
      g_string_append_c(out, (char)byte);
      /* The initial state comes back at each delimiter; kept where there is none to come back to.
       */
      if (resets && (byte == '^' || byte == '=' || byte == '\\'))
        g1 = first;
      i++;
      continue;
    }
    const gboolean high = byte >= 0x80;
    const Table table = high ? g1 : g0;
    g_autoptr(GString) run = g_string_new(NULL);
    while (i < length && bytes[i] != 0x1B && (((guint8)bytes[i]) >= 0x80) == high &&
           (high || g0.width == 2 || bytes[i] >= 0x20)) {
      const size_t n = MIN(table.width, length - i);
      g_string_append(run, table.prefix);
      for (size_t k = 0; k < n; k++)
        g_string_append_c(run, (char)(table.left ? (bytes[i + k] | 0x80) : bytes[i + k]));
      i += n;
    }
    if (run->len == 0) { /* a control character in a one-byte table */
      g_string_append_c(out, (char)byte);
      i++;
      continue;
    }
    append_converted(out, table.iconv, run->str, run->len,
                     table.width + (guint)strlen(table.prefix));
  }
}

/* Control characters have no place in a name, an identifier or a terminal. */
static char *
without_controls(char *text) {
  gboolean any = FALSE;
  for (const char *p = text; *p != '\0' && !any; p++)
    any = (guint8)*p < 0x20 || *p == 0x7F;
  if (!any)
    return g_strstrip(text);
  GString *clean = g_string_new(NULL);
  for (const char *p = text; *p != '\0'; p++) {
    if ((guint8)*p >= 0x20 && *p != 0x7F)
      g_string_append_c(clean, *p);
    else if (g_ascii_isspace(*p))
      g_string_append_c(clean, ' ');
    else
      g_string_append(clean, "\xEF\xBF\xBD");
  }
  g_free(text);
  return g_strstrip(g_string_free(clean, FALSE));
}

/* Whether any of the terms is of a Japanese table. */
static gboolean
names_japanese(const char *set) {
  static const int numbers[] = {13, 14, 87, 159};
  g_auto(GStrv) terms = g_strsplit(set, "\\", -1);
  for (guint i = 0; terms[i] != NULL; i++)
    for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++)
      if (number_of_term(terms[i]) == numbers[k])
        return TRUE;
  return FALSE;
}

/* Whether a text that was read as Shift JIS, though nothing says that it is Japanese, can be nothing
 * else: bytes [length] have a lead among those that are control characters in every ISO 8859
 * table, and the text no half-width katakana (single letters of these tables), nothing of private use,
 * and no Latin letter beside a Japanese one. */
static gboolean
is_surely_japanese(const char *text, const char *bytes, size_t length) {
  gboolean leads = FALSE;
  for (size_t i = 0; i < length; i++)
    leads = leads || ((guint8)bytes[i] >= 0x81 && (guint8)bytes[i] <= 0x9F);
  gunichar before = 0;
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    if ((c >= 0xFF61 && c <= 0xFF9F) || (c >= 0xE000 && c <= 0xF8FF) || (c >= 0x80 && c < 0xA0) ||
        (before >= 0x80 && c < 0x80 && g_ascii_isalnum((char)c)) ||
        (c >= 0x80 && before < 0x80 && g_ascii_isalnum((char)before)))
      return FALSE;
    before = c;
  }
  return leads;
}

/* Shift JIS, which Japanese writers put under ISO_IR 13, under ISO 2022 IR 87 without its escapes, or
 * under nothing, though the standard has no room for it: only where there is a lead byte that JIS X
 * 0201 hasn't, and all of it can be read so. NULL else. */
static char *
from_shift_jis(const char *bytes, size_t length) {
  gboolean leads = FALSE;
  for (size_t i = 0; i < length; i++) {
    const guint8 byte = (guint8)bytes[i];
    if (byte == 0x1B)
      return NULL;
    leads = leads || (byte >= 0x81 && byte <= 0x9F) || (byte >= 0xE0 && byte <= 0xFC);
  }
  return leads ? g_convert(bytes, (gssize)length, "UTF-8", "CP932", NULL, NULL, NULL) : NULL;
}

static gboolean
is_ascii(const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((guint8)bytes[i] >= 0x80)
      return FALSE;
  return TRUE;
}

char *
demur_charset_to_utf8(const char *bytes, size_t length, const char *character_set) {
  while (length > 0 && (bytes[length - 1] == '\0' || bytes[length - 1] == ' '))
    length--;
  const char *end = memchr(bytes, '\0', length);
  if (end != NULL)
    length = (size_t)(end - bytes);
  gboolean plain = TRUE;
  for (size_t i = 0; i < length && plain; i++)
    plain = (guint8)bytes[i] < 0x80 && bytes[i] != 0x1B;
  if (plain)
    return without_controls(g_strndup(bytes, length));

  g_autofree char *set = g_strstrip(g_ascii_strup(character_set != NULL ? character_set : "", -1));
  if (set[0] == '\0') {
    if (g_utf8_validate(bytes, (gssize)length, NULL) && memchr(bytes, 0x1B, length) == NULL)
      return without_controls(g_strndup(bytes, length));
    g_autofree char *unsaid = from_shift_jis(bytes, length);
    if (unsaid != NULL && is_surely_japanese(unsaid, bytes, length))
      return without_controls(g_steal_pointer(&unsaid));
    if (!is_ascii(bytes, length))
      return without_controls(g_utf8_make_valid(bytes, (gssize)length));
  }
  const char *separator = strchr(set, '\\');
  const size_t first_length = separator != NULL ? (size_t)(separator - set) : strlen(set);
  g_autofree char *first = g_strstrip(g_strndup(set, first_length));
  const System system = system_of_term(first);
  if (system == UTF_8)
    return without_controls(g_utf8_make_valid(bytes, (gssize)length));
  const Table own = table_of_term(first);
  const Table table =
      own.iconv == NULL && names_japanese(set) ? (Table){JIS_X0201, 1, FALSE, ""} : own;
  char *japanese = table.iconv == JIS_X0201 ? from_shift_jis(bytes, length) : NULL;
  if (japanese != NULL)
    return without_controls(japanese);
  GString *out = g_string_new(NULL);
  if (system == GB_18030)
    append_converted(out, "GB18030", bytes, length, 1);
  else if (system == SHIFT_JIS)
    append_converted(out, "CP932", bytes, length, 1);
  else
    append_iso2022(out, bytes, length, table);
  g_autofree char *text = g_string_free(out, FALSE);
  return without_controls(g_utf8_make_valid(text, -1));
}
