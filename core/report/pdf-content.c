/* A scanner of content streams (ISO 32000-1, 7.8.2): operands come before their operator; strings,
 * names, dictionaries and arrays have to be told from operators, nothing has to be understood. */
#include "report/pdf-content.h"

#include <string.h>

static gboolean
is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\0';
}

static gboolean
is_delimiter(char c) {
  return c != '\0' && strchr("()<>[]{}/%", c) != NULL;
}

/* The end of the string that begins at start ("("), or 0 where it has none. */
static size_t
string_end(const char *content, size_t n, size_t start) {
  int depth = 0;
  for (size_t i = start; i < n; i++) {
    if (content[i] == '\\')
      i++;
    else if (content[i] == '(')
      depth++;
    else if (content[i] == ')' && --depth == 0)
      return i + 1;
  }
  return 0;
}

typedef struct {
  size_t start, end;
  gboolean is_operator;
} Token;

/* The next token at or after i; FALSE at the end. *broken where a string has no end. */
static gboolean
next_token(const char *content, size_t n, size_t i, Token *token, gboolean *broken) {
  for (; i < n; i++) {
    if (content[i] == '%') {
      while (i < n && content[i] != '\n' && content[i] != '\r')
        i++;
      i--;
    } else if (!is_blank(content[i]))
      break;
  }
  if (i >= n)
    return FALSE;
  *token = (Token){i, i + 1, FALSE};
  const char c = content[i];
  if (c == '(') {
    token->end = string_end(content, n, i);
    *broken = token->end == 0;
    return !*broken;
  }
  if (c == '<' && i + 1 < n && content[i + 1] != '<') {
    const char *close = memchr(content + i, '>', n - i);
    *broken = close == NULL;
    token->end = close ? (size_t)(close - content) + 1 : 0;
    return !*broken;
  }
  if (c == '<' || (c == '>' && i + 1 < n && content[i + 1] == '>')) {
    token->end = i + 2;
    return TRUE;
  }
  if (is_delimiter(c) && c != '/')
    return TRUE;
  size_t end = i + 1;
  while (end < n && !is_blank(content[end]) && !is_delimiter(content[end]))
    end++;
  token->end = end;
  /* What begins like a number or a name is an operand. */
  token->is_operator = g_ascii_isalpha(c) || c == '\'' || c == '"';
  const size_t length = end - i;
  if ((length == 4 &&
       (memcmp(content + i, "true", 4) == 0 || memcmp(content + i, "null", 4) == 0)) ||
      (length == 5 && memcmp(content + i, "false", 5) == 0))
    token->is_operator = FALSE;
  return TRUE;
}

static gboolean
is_one_of(const char *text, size_t length, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == length && memcmp(text, *words, length) == 0)
      return TRUE;
  return FALSE;
}

static void
append_stretch(GString *out, const char *text, size_t n, gboolean paints, gboolean *first) {
  if (!paints) {
    g_string_append_len(out, text, (gssize)n);
    return;
  }
  g_string_append(out, *first ? "/Artifact << /Type /Pagination >> BDC\n" : "/Artifact BMC\n");
  g_string_append_len(out, text, (gssize)n);
  g_string_append(out, "\nEMC\n");
  *first = FALSE;
}

char *
demur_pdf_mark_artifacts(const char *content, size_t n, size_t *n_out) {
  static const char *const begins[] = {"BDC", "BMC", NULL}, *const ends[] = {"EMC", NULL},
                           *const text_begins[] = {"BT", NULL}, *const text_ends[] = {"ET", NULL},
                           *const images[] = {"BI", NULL}, *const paints[] = {"f",  "F",  "f*",
                                                                              "S",  "s",  "B",
                                                                              "B*", "b",  "b*",
                                                                              "Tj", "TJ", "'",
                                                                              "\"", "Do", "sh",
                                                                              NULL};
  GString *out = g_string_sized_new(n + n / 8);
  size_t stretch = 0, operation = 0;
  gboolean painted = FALSE, in_text = FALSE, broken = FALSE, first = TRUE, in_operands = FALSE;
  int depth = 0;
  Token token = {0, 0, FALSE};
  while (next_token(content, n, token.end, &token, &broken)) {
    if (!in_operands)
      operation = token.start;
    in_operands = !token.is_operator;
    if (!token.is_operator)
      continue;
    const char *text = content + token.start;
    const size_t length = token.end - token.start;
    if (is_one_of(text, length, images))
      broken = TRUE;
    else if (is_one_of(text, length, text_begins))
      in_text = TRUE;
    else if (is_one_of(text, length, text_ends))
      in_text = FALSE;
    else if (is_one_of(text, length, begins)) {
      if (depth++ == 0) {
        broken |= in_text;
        append_stretch(out, content + stretch, operation - stretch, painted, &first);
        stretch = operation;
        painted = FALSE;
      }
    } else if (is_one_of(text, length, ends)) {
      if (--depth == 0) {
        broken |= in_text;
        g_string_append_len(out, content + stretch, (gssize)(token.end - stretch));
        g_string_append_c(out, '\n');
        stretch = token.end;
        painted = FALSE;
      }
      broken |= depth < 0;
    } else if (depth == 0 && is_one_of(text, length, paints))
      painted = TRUE;
    if (broken)
      break;
  }
  if (broken || depth != 0 || in_text) {
    g_string_free(out, TRUE);
    return NULL;
  }
  append_stretch(out, content + stretch, n - stretch, painted, &first);
  *n_out = out->len;
  return g_string_free(out, FALSE);
}
