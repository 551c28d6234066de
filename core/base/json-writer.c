#include "base/json-writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

#define MAX_DEPTH 32

struct DemurJson {
  GString *text;
  int depth;
  gboolean filled[MAX_DEPTH]; /* the open object or array at this depth has a member already */
};

DemurJson *
demur_json_new(void) {
  DemurJson *json = g_new0(DemurJson, 1);
  json->text = g_string_new(NULL);
  return json;
}

void
demur_json_free(DemurJson *json) {
  if (json == NULL)
    return;
  g_string_free(json->text, TRUE);
  g_free(json);
}

char *
demur_json_finish(DemurJson *json) {
  g_return_val_if_fail(json->depth == 0, NULL);
  g_string_append_c(json->text, '\n');
  char *text = g_string_free(json->text, FALSE);
  g_free(json);
  return text;
}

char *
demur_json_take(DemurJson *json) {
  char *text = g_string_free(json->text, FALSE);
  json->text = g_string_new(NULL);
  return text;
}

static void
append_escaped(GString *text, const char *value) {
  g_string_append_c(text, '"');
  g_autofree char *valid = g_utf8_make_valid(value, -1);
  for (const char *p = valid; *p != '\0'; p++) {
    const guchar c = (guchar)*p;
    switch (c) {
    case '"':
      g_string_append(text, "\\\"");
      break;
    case '\\':
      g_string_append(text, "\\\\");
      break;
    case '\n':
      g_string_append(text, "\\n");
      break;
    case '\t':
      g_string_append(text, "\\t");
      break;
    case '\r':
      g_string_append(text, "\\r");
      break;
    default:
      if (c < 0x20 || c == 0x7f)
        g_string_append_printf(text, "\\u%04x", c);
      else
        g_string_append_c(text, (char)c);
    }
  }
  g_string_append_c(text, '"');
}

/* Comma, new line, indentation and key before a member. */
static void
begin_member(DemurJson *json, const char *key) {
  if (json->depth > 0) {
    if (json->filled[json->depth])
      g_string_append_c(json->text, ',');
    json->filled[json->depth] = TRUE;
    g_string_append_c(json->text, '\n');
    for (int i = 0; i < json->depth; i++)
      g_string_append(json->text, " ");
  }
  if (key != NULL) {
    append_escaped(json->text, key);
    g_string_append(json->text, ": ");
  }
}

static void
open_bracket(DemurJson *json, const char *key, char bracket) {
  g_return_if_fail(json->depth + 1 < MAX_DEPTH);
  begin_member(json, key);
  g_string_append_c(json->text, bracket);
  json->filled[++json->depth] = FALSE;
}

static void
close_bracket(DemurJson *json, char bracket) {
  g_return_if_fail(json->depth > 0);
  const gboolean filled = json->filled[json->depth--];
  if (filled) {
    g_string_append_c(json->text, '\n');
    for (int i = 0; i < json->depth; i++)
      g_string_append(json->text, " ");
  }
  g_string_append_c(json->text, bracket);
}

void
demur_json_begin_object(DemurJson *json, const char *key) {
  open_bracket(json, key, '{');
}

void
demur_json_end_object(DemurJson *json) {
  close_bracket(json, '}');
}

void
demur_json_begin_array(DemurJson *json, const char *key) {
  open_bracket(json, key, '[');
}

void
demur_json_end_array(DemurJson *json) {
  close_bracket(json, ']');
}

void
demur_json_string(DemurJson *json, const char *key, const char *value) {
  if (value == NULL) {
    demur_json_null(json, key);
    return;
  }
  begin_member(json, key);
  append_escaped(json->text, value);
}

static void
append_double(GString *text, double value) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (value == 0.0 && signbit(value)) /* "-0" is an integer to a reader, and loses its sign */
    g_string_append(text, "-0.0");
  else
    g_string_append(text, isfinite(value) ? demur_number_format(value, buffer) : "null");
}

void
demur_json_double(DemurJson *json, const char *key, double value) {
  begin_member(json, key);
  append_double(json->text, value);
}

void
demur_json_int(DemurJson *json, const char *key, gint64 value) {
  begin_member(json, key);
  g_string_append_printf(json->text, "%" PRId64, value);
}

void
demur_json_bool(DemurJson *json, const char *key, gboolean value) {
  begin_member(json, key);
  g_string_append(json->text, value ? "true" : "false");
}

void
demur_json_null(DemurJson *json, const char *key) {
  begin_member(json, key);
  g_string_append(json->text, "null");
}

void
demur_json_doubles(DemurJson *json, const char *key, const double *values, size_t n) {
  begin_member(json, key);
  g_string_append_c(json->text, '[');
  for (size_t i = 0; i < n; i++) {
    if (i > 0)
      g_string_append(json->text, ", ");
    append_double(json->text, values[i]);
  }
  g_string_append_c(json->text, ']');
}

void
demur_json_floats_base64(DemurJson *json, const char *key, const float *values, size_t n) {
  g_autofree guint32 *words = g_new(guint32, MAX(n, 1));
  memcpy(words, values, n * sizeof(float));
  for (size_t i = 0; i < n; i++)
    words[i] = GUINT32_TO_LE(words[i]);
  g_autofree char *encoded = g_base64_encode((const guchar *)words, n * sizeof(float));
  begin_member(json, key);
  g_string_append_c(json->text, '"');
  g_string_append(json->text, encoded);
  g_string_append_c(json->text, '"');
}
