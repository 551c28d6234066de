/* Reading. The file comes in blocks; a record (all fields of one row, which may span lines) is
 * first found whole, then cut into fields in place, so that a field is a pointer into the block.
 * Cost: a few passes over the bytes; memory: one block, or the longest record. */
#include "cohort/table.h"

#include <string.h>

#include "base/csv-field.h"
#include "base/error.h"
#include "base/limits.h"
#include "cohort/table-source.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define MAX_FIELDS 200000

struct DemurTable {
  DemurTableSource *source;
  const char *name; /* the source's */
  char *buffer;     /* one byte more than capacity, for a NUL behind the last record */
  size_t capacity, begin, end;
  gboolean at_end;    /* nothing more in the file */
  size_t line;        /* where buffer[begin] stands */
  char separator;     /* 0 before the first record */
  gboolean ends_open; /* the last row has no line end */
  size_t n_empty;     /* rows passed over that hold separators or blanks only */
  GArray *fields;     /* DemurTableField */
};

const char *
demur_table_name(const DemurTable *table) {
  return table->name;
}

char
demur_table_separator(const DemurTable *table) {
  return table->separator;
}

gboolean
demur_table_ends_open(const DemurTable *table) {
  return table->ends_open;
}

size_t
demur_table_n_empty(const DemurTable *table) {
  return table->n_empty;
}

guint64
demur_table_n_bytes(const DemurTable *table) {
  return demur_table_source_n_bytes(table->source);
}

double
demur_table_fraction(const DemurTable *table) {
  return demur_table_source_fraction(table->source);
}

size_t
demur_table_count_lines(const DemurTable *table) {
  return demur_table_source_count_lines(table->source);
}

static gboolean
read_block(DemurTable *table, GError **error) {
  if (table->begin > 0) {
    memmove(table->buffer, table->buffer + table->begin, table->end - table->begin);
    table->end -= table->begin;
    table->begin = 0;
  }
  if (table->end == table->capacity) {
    if (table->capacity >= DEMUR_LIMIT_ROW_BYTES) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "%s: line %zu, column 1: a row of over %zu MiB; expected a table with one scan a row (is a "
          "quote not closed?)",
          table->name, table->line, DEMUR_LIMIT_ROW_BYTES >> 20);
      return FALSE;
    }
    table->capacity *= 2;
    table->buffer = g_realloc(table->buffer, table->capacity + 1);
  }
  size_t n;
  if (!demur_table_source_read(table->source, table->buffer + table->end,
                               table->capacity - table->end, &n, error))
    return FALSE;
  table->at_end = n == 0;
  table->end += n;
  return TRUE;
}

DemurTable *
demur_table_open(const char *path, GError **error) {
  DemurTableSource *source = demur_table_source_open(path, error);
  if (source == NULL)
    return NULL;
  DemurTable *table = g_new0(DemurTable, 1);
  table->source = source;
  table->name = demur_table_source_name(source);
  table->capacity = BLOCK_BYTES;
  table->buffer = g_malloc(table->capacity + 1);
  table->line = 1;
  table->fields = g_array_new(FALSE, FALSE, sizeof(DemurTableField));
  return table;
}

void
demur_table_close(DemurTable *table) {
  if (table == NULL)
    return;
  demur_table_source_close(table->source);
  g_array_unref(table->fields);
  g_free(table->buffer);
  g_free(table);
}

/* Length of the record at begin without its line end; *whole is FALSE where the block ends before
 * it does. *next: where the following record begins, relative to begin. */
static size_t
find_record(const char *text, size_t length, gboolean at_end, gboolean *whole, gboolean *open_quote,
            size_t *next) {
  *open_quote = FALSE;
  const char *newline = memchr(text, '\n', length);
  size_t end = newline != NULL ? (size_t)(newline - text) : length;
  if (memchr(text, '"', end) != NULL) {
    gboolean quoted = FALSE;
    size_t i = 0;
    for (; i < length; i++) {
      if (text[i] == '"')
        quoted = !quoted;
      else if (text[i] == '\n' && !quoted)
        break;
    }
    *open_quote = quoted && i == length;
    newline = i < length ? text + i : NULL;
    end = i;
  }
  *whole = newline != NULL || at_end;
  *next = newline != NULL ? end + 1 : end;
  if (end > 0 && text[end - 1] == '\r')
    end--;
  return end;
}

static char
detect_separator(const char *text, size_t length) {
  size_t n[3] = {0};
  const char separators[] = ",;\t";
  gboolean quoted = FALSE;
  for (size_t i = 0; i < length; i++) {
    quoted ^= text[i] == '"';
    for (int s = 0; s < 3 && !quoted; s++)
      n[s] += text[i] == separators[s];
  }
  int best = 0;
  for (int s = 1; s < 3; s++)
    if (n[s] > n[best])
      best = s;
  return separators[best];
}

/* "sep=;" in the first line, as spreadsheets write it, names the separator and is no row. */
static gboolean
read_separator_line(DemurTable *table, const char *text, size_t length) {
  const gboolean quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
  if (quoted)
    text++, length -= 2;
  if (length != 5 || g_ascii_strncasecmp(text, "sep=", 4) != 0 || text[4] == '\0' ||
      strchr(",;\t", text[4]) == NULL)
    return FALSE;
  table->separator = text[4];
  return TRUE;
}

/* Whether the text holds blanks alone, of whatever kind, or characters that nobody sees. */
static gboolean
is_blank(const char *text, size_t length) {
  const char *p = text + strspn(text, " \t"), *end = text + length;
  if (p >= end)
    return TRUE;
  if ((guchar)*p < 0x80)
    return FALSE;
  for (; p < end; p = g_utf8_next_char(p)) {
    const gunichar letter = g_utf8_get_char(p);
    if (!g_unichar_isspace(letter) && g_unichar_type(letter) != G_UNICODE_FORMAT)
      return FALSE;
  }
  return TRUE;
}

/* Whether the row just cut holds nothing. */
static gboolean
is_empty(const DemurTable *table) {
  for (guint i = 0; i < table->fields->len; i++) {
    const DemurTableField *field = &g_array_index(table->fields, DemurTableField, i);
    if (!is_blank(field->text, field->length))
      return FALSE;
  }
  return TRUE;
}

/* Line and column of the byte at text + offset, a record that starts at line, column 1. */
static void
place(const char *text, size_t offset, size_t line, size_t *at_line, size_t *at_column) {
  *at_line = line;
  *at_column = 1;
  for (size_t i = 0; i < offset; i++)
    if (text[i] == '\n')
      *at_line += 1, *at_column = 1;
    else
      *at_column += 1;
}

static gboolean
refuse(const DemurTable *table, const char *record, size_t offset, const char *what,
       GError **error) {
  size_t line, column;
  place(record, offset, table->line, &line, &column);
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line %zu, column %zu: %s", table->name, line,
                  column, what);
  return FALSE;
}

/* What a terminal would obey in place of showing it; a tab and line ends are text. */
static gboolean
is_control(guchar byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
}

/* NUL bytes, other control characters and broken UTF-8 have no place in a table. */
static gboolean
check_bytes(const DemurTable *table, const char *text, size_t length, GError **error) {
  guchar high = 0, control = 0;
  for (size_t i = 0; i < length; i++) {
    const guchar byte = (guchar)text[i];
    high |= byte;
    control |= (guchar)is_control(byte);
  }
  const char *nul = memchr(text, '\0', length);
  if (nul != NULL)
    return refuse(table, text, (size_t)(nul - text),
                  N_("a NUL byte: this is a binary file, not a table; expected CSV in UTF-8"),
                  error);
  const char *bad;
  if ((high & 0x80) != 0 && !g_utf8_validate_len(text, length, &bad))
    return refuse(table, text, (size_t)(bad - text),
                  N_("this byte is not UTF-8; save the table as UTF-8"), error);
  for (size_t i = 0; control && i < length; i++)
    if (is_control((guchar)text[i])) {
      g_autofree char *what =
          g_strdup_printf("a control character (code %d); take it out of the table", (int)text[i]);
      return refuse(table, text, i, what, error);
    }
  /* U+0080 to U+009F: control characters too. */
  for (size_t i = 0; (high & 0x80) != 0 && i + 1 < length; i++)
    if ((guchar)text[i] == 0xc2 && (guchar)text[i + 1] < 0xa0)
      return refuse(table, text, i,
                    N_("a control character (U+0080 to U+009F); take it out of the table"), error);
  return TRUE;
}

/* Cuts text [length] (writable, one byte more) into fields. */
static gboolean
cut(DemurTable *table, char *text, size_t length, GError **error) {
  GArray *fields = table->fields;
  g_array_set_size(fields, 0);
  const char separator = table->separator;
  size_t i = 0, line = table->line, line_begin = 0;
  for (;;) {
    DemurTableField field = {text + i, 0, line, i - line_begin + 1};
    if (i < length && text[i] == '"') {
      size_t to = ++i;
      field.text = text + to;
      for (;;) {
        if (i >= length) {
          demur_error_set(
              error, DEMUR_ERROR_INPUT,
              "%s: line %zu, column %zu: this quote is never closed; close it or double it",
              table->name, field.line, field.column);
          return FALSE;
        }
        if (text[i] == '"') {
          if (i + 1 < length && text[i + 1] == '"')
            i++;
          else
            break;
        } else if (text[i] == '\n') {
          line++;
          line_begin = i + 1;
        }
        text[to++] = text[i++];
      }
      i++; /* the closing quote */
      if (i < length && text[i] != separator) {
        demur_error_set(
            error, DEMUR_ERROR_INPUT,
            "%s: line %zu, column %zu: text behind a closing quote; expected %s or the end "
            "of the line (a quote inside a quoted field is doubled)",
            table->name, line, i - line_begin + 1,
            separator == '\t'  ? N_("a tab")
            : separator == ',' ? N_("a comma")
                               : N_("a semicolon"));
        return FALSE;
      }
      field.length = (size_t)(text + to - field.text);
      text[to] = '\0';
    } else {
      const size_t begin = i;
      while (i < length && text[i] != separator && text[i] != '"' && text[i] != '\r')
        i++;
      if (i < length && text[i] != separator) {
        demur_error_set(
            error, DEMUR_ERROR_INPUT,
            text[i] == '"'
                ? "%s: line %zu, column %zu: a quote inside an unquoted field; quote the "
                  "whole field and double the quotes in it"
                : "%s: line %zu, column %zu: a carriage return inside a line; end lines "
                  "with LF or CRLF",
            table->name, line, i - line_begin + 1);
        return FALSE;
      }
      size_t first = begin, end = i;
      while (first < end && text[first] == ' ')
        first++;
      while (end > first && text[end - 1] == ' ')
        end--;
      if (end < i)
        text[end] = '\0';
      field.text = text + first;
      field.column += first - begin;
      field.length = end - first;
    }
    if (fields->len >= MAX_FIELDS) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "%s: line %zu, column %zu: over %d fields; expected a table with one scan a row",
          table->name, line, field.column, MAX_FIELDS);
      return FALSE;
    }
    const gboolean more = i < length;
    text[i] = '\0'; /* the separator, or the byte behind the record */
    if (*field.text == '\'' && demur_csv_is_guarded(field.text)) {
      field.text++;
      field.length--;
    }
    g_array_append_val(fields, field);
    if (!more)
      return TRUE;
    i++;
  }
}

gboolean
demur_table_next(DemurTable *table, const DemurTableField **fields, size_t *n_fields,
                 GError **error) {
  *fields = NULL;
  *n_fields = 0;
  for (;;) {
    gboolean whole = FALSE, open_quote = FALSE;
    size_t length = 0, next = 0;
    for (;;) {
      length = find_record(table->buffer + table->begin, table->end - table->begin, table->at_end,
                           &whole, &open_quote, &next);
      if (whole)
        break;
      if (!read_block(table, error))
        return FALSE;
    }
    char *text = table->buffer + table->begin;
    if (table->begin == table->end)
      return TRUE;
    if (!check_bytes(table, text, length, error))
      return FALSE;
    const gboolean names_separator =
        table->separator == 0 && read_separator_line(table, text, length);
    if (table->separator == 0)
      table->separator = detect_separator(text, length);
    size_t n_lines = 0;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + next - p))) != NULL; p++)
      n_lines++;
    const gboolean passed_over = length == 0 || names_separator;
    const gboolean ok = passed_over || cut(table, text, length, error);
    table->ends_open = length == next;
    table->begin += next;
    table->line += n_lines;
    if (!ok)
      return FALSE;
    if (!passed_over && is_empty(table)) {
      table->n_empty++;
    } else if (!passed_over) {
      *fields = (const DemurTableField *)(gpointer)table->fields->data;
      *n_fields = table->fields->len;
      return TRUE;
    }
  }
}
