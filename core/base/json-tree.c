/* RFC 8259, read by descent. json-glib's scanner takes some 80 instructions a byte, whatever it is: of a selector most bytes are
 * base64, which this passes over as fast as memory is read. Whatever is not plainly that grammar (an escape of a code point, a
 * number of many digits, an error) makes the whole text json-glib's to judge, so there is one set of rules. */
#include "base/json-tree.h"

#include <string.h>

#include "base/json-reader.h"
#include "base/memory.h"
#include "base/number.h"

/* As demur_json_load: what is beyond them is refused there. */
#define MAX_NESTING 64
#define MAX_VALUES ((size_t)1 << 24)

typedef struct {
  const char *at, *end; /* at <= end; *end need not be readable */
  const char *quote;    /* the next one, as last looked for; NULL, or passed: not looked for */
  size_t n_values;
  guint8 seen; /* every byte of the texts, or-ed: whether all of them are ASCII */
  guint depth;
  char *text; /* the last one, with its NUL; on large pages where it is long (base/memory.h) */
  size_t room;
} Reader;

static JsonNode *read_value(Reader *reader);

static void
skip_blanks(Reader *reader) {
  while (reader->at < reader->end &&
         (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' || *reader->at == '\r'))
    reader->at++;
}

/* Takes the character; FALSE, and nothing taken, where another stands there. */
static gboolean
take(Reader *reader, char character) {
  skip_blanks(reader);
  if (reader->at == reader->end || *reader->at != character)
    return FALSE;
  reader->at++;
  return TRUE;
}

/* Up to the first byte of text that is a quote, a backslash or no character, or to the end. Long texts have none but the quote
 * at their end, which is looked for once a text, whatever escapes it has: blocks of 64 bytes are looked at together. */
static const char *
plain_end(Reader *reader, const char *text) {
  if (reader->quote == NULL || reader->quote < text) {
    reader->quote = memchr(text, '"', (size_t)(reader->end - text));
    if (reader->quote == NULL)
      reader->quote = reader->end;
  }
  const char *end = reader->quote;
  for (; end - text >= 64; text += 64) {
    guint8 wrong = 0, seen = 0;
    for (size_t i = 0; i < 64; i++) {
      const guint8 c = (guint8)text[i];
      wrong |= (guint8)((c == '\\') | (c < 0x20));
      seen |= c;
    }
    if (wrong)
      break;
    reader->seen |= seen;
  }
  for (; text < end && *text != '\\' && (guchar)*text >= 0x20; text++)
    reader->seen |= (guchar)*text;
  return text;
}

static char *
make_room(Reader *reader, size_t length) {
  if (length >= reader->room) {
    char *text = demur_memory_unset(2, length + 1, 1, NULL);
    if (text == NULL)
      g_error("no memory for a text of %zu bytes", length);
    g_aligned_free(reader->text);
    reader->text = text;
    reader->room = 2 * (length + 1);
  }
  return reader->text;
}

/* The text between quotes, the reader's until the next; NULL where it is none that is plain. */
static const char *
read_text(Reader *reader) {
  if (!take(reader, '"'))
    return NULL;
  const char *begin = reader->at;
  const char *end = begin;
  while ((end = plain_end(reader, end)) < reader->end && *end == '\\' && reader->end - end > 1)
    end += 2;
  if (end >= reader->end || *end != '"')
    return NULL;
  reader->at = end + 1;
  char *text = make_room(reader, (size_t)(end - begin));
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  size_t length = 0;
  for (const char *from = begin;;) {
    const char *escape = memchr(from, '\\', (size_t)(end - from));
    const size_t n = (size_t)((escape != NULL ? escape : end) - from);
    memcpy(text + length, from, n);
    length += n;
    if (escape == NULL)
      break;
    const char *kind = escape[1] != '\0' ? strchr(escapes, escape[1]) : NULL;
    if (kind == NULL)
      return NULL;
    text[length++] = meant[kind - escapes];
    from = escape + 2;
  }
  text[length] = '\0';
  return text;
}

static JsonNode *
read_number(Reader *reader) {
  const char *begin = reader->at, *at = begin, *end = reader->end;
  at += at < end && *at == '-';
  const char *digits = at;
  while (at < end && g_ascii_isdigit(*at))
    at++;
  if (at == digits || at - digits > 18 || (*digits == '0' && at - digits > 1))
    return NULL;
  gboolean whole = TRUE;
  if (at < end && *at == '.') {
    whole = FALSE;
    const char *fraction = ++at;
    while (at < end && g_ascii_isdigit(*at))
      at++;
    if (at == fraction)
      return NULL;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    whole = FALSE;
    at++;
    at += at < end && (*at == '+' || *at == '-');
    const char *exponent = at;
    while (at < end && g_ascii_isdigit(*at))
      at++;
    if (at == exponent)
      return NULL;
  }
  reader->at = at;
  if (whole) {
    gint64 number = 0;
    for (; digits < at; digits++)
      number = 10 * number + (*digits - '0');
    return json_node_init_int(json_node_alloc(), *begin == '-' ? -number : number);
  }
  double number;
  return demur_number_parse(begin, (size_t)(at - begin), &number)
             ? json_node_init_double(json_node_alloc(), number)
             : NULL;
}

static JsonNode *
read_word(Reader *reader) {
  static const char *const words[] = {"null", "true", "false"};
  for (size_t w = 0; w < G_N_ELEMENTS(words); w++) {
    const size_t n = strlen(words[w]);
    if ((size_t)(reader->end - reader->at) < n || memcmp(reader->at, words[w], n) != 0)
      continue;
    reader->at += n;
    return w == 0 ? json_node_init_null(json_node_alloc())
                  : json_node_init_boolean(json_node_alloc(), w == 1);
  }
  return NULL;
}

static JsonNode *
read_array(Reader *reader) {
  g_autoptr(JsonArray) array = json_array_new();
  if (!take(reader, ']'))
    for (;;) {
      JsonNode *element = read_value(reader);
      if (element == NULL)
        return NULL;
      json_array_add_element(array, element);
      if (take(reader, ']'))
        break;
      if (!take(reader, ','))
        return NULL;
    }
  return json_node_init_array(json_node_alloc(), array);
}

static JsonNode *
read_object(Reader *reader) {
  g_autoptr(JsonObject) object = json_object_new();
  if (!take(reader, '}'))
    for (;;) {
      g_autofree char *name = g_strdup(read_text(reader));
      if (name == NULL || name[0] == '\0' || !take(reader, ':'))
        return NULL;
      JsonNode *member = read_value(reader);
      if (member == NULL)
        return NULL;
      json_object_set_member(object, name, member);
      if (take(reader, '}'))
        break;
      if (!take(reader, ','))
        return NULL;
    }
  return json_node_init_object(json_node_alloc(), object);
}

/* NULL where json-glib has to say what there is. */
static JsonNode *
read_value(Reader *reader) {
  skip_blanks(reader);
  if (reader->at == reader->end || ++reader->n_values > MAX_VALUES)
    return NULL;
  switch (*reader->at) {
  case '"': {
    const char *text = read_text(reader);
    return text != NULL ? json_node_init_string(json_node_alloc(), text) : NULL;
  }
  case '[':
  case '{': {
    if (++reader->depth > MAX_NESTING)
      return NULL;
    const gboolean is_array = *reader->at++ == '[';
    JsonNode *node = is_array ? read_array(reader) : read_object(reader);
    reader->depth--;
    return node;
  }
  case 'n':
  case 't':
  case 'f':
    return read_word(reader);
  default:
    return read_number(reader);
  }
}

JsonNode *
demur_json_tree(const char *text, gssize length, GError **error) {
  Reader reader = {.at = text, .end = text + (length < 0 ? strlen(text) : (size_t)length)};
  skip_blanks(&reader);
  g_autoptr(JsonNode) root = NULL;
  if (reader.at < reader.end && (*reader.at == '{' || *reader.at == '['))
    root = read_value(&reader);
  g_aligned_free(reader.text);
  skip_blanks(&reader);
  const gboolean is_ascii = reader.seen < 0x80;
  if (root != NULL && reader.at == reader.end &&
      (is_ascii || g_utf8_validate(text, reader.end - text, NULL)))
    return g_steal_pointer(&root);
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  return demur_json_load(parser, text, length, error) ? json_parser_steal_root(parser) : NULL;
}
