/* RFC 8259, read by descent. json-glib's scanner takes some 80 instructions a byte, whatever it is: of a selector most bytes are
 * base64, which this passes over as fast as memory is read. Whatever is not plainly that grammar (an escape of a code point, a
 * number of many digits, an error) makes the whole text json-glib's to judge, so there is one set of rules. */
#include "base/json-tree.h"

#include <string.h>

#include "base/json-reader.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vector.h"

/* As demur_json_load: what is beyond them is refused there. */
#define MAX_NESTING 64
#define BLOCK 512
#define MAX_VALUES ((size_t)1 << 24)

typedef struct {
  JsonNode *node;   /* owned: none other comes to its place while this is asked for */
  const char *text; /* NULL: of numbers */
  double *numbers;  /* owned; NULL: of a text */
  gsize length;     /* characters or numbers */
} Member;

struct DemurJsonApart {
  GHashTable *by_node; /* node -> Member, owned */
};

void
demur_json_apart_free(DemurJsonApart *apart) {
  if (apart == NULL)
    return;
  g_hash_table_unref(apart->by_node);
  g_free(apart);
}

static void
member_free(gpointer data) {
  Member *member = data;
  json_node_unref(member->node);
  g_free(member->numbers);
  g_free(member);
}

static DemurJsonApart *
apart_new(void) {
  DemurJsonApart *apart = g_new(DemurJsonApart, 1);
  apart->by_node = g_hash_table_new_full(NULL, NULL, NULL, member_free);
  return apart;
}

static const Member *
find(const DemurJsonApart *apart, const JsonNode *node) {
  return apart != NULL && node != NULL ? g_hash_table_lookup(apart->by_node, node) : NULL;
}

const char *
demur_json_apart_text(const DemurJsonApart *apart, const JsonNode *node, gsize *length) {
  const Member *member = find(apart, node);
  if (member == NULL || member->text == NULL)
    return NULL;
  *length = member->length;
  return member->text;
}

const double *
demur_json_apart_numbers(const DemurJsonApart *apart, const JsonNode *node, gsize *n) {
  const Member *member = find(apart, node);
  if (member == NULL || member->numbers == NULL)
    return NULL;
  *n = member->length;
  return member->numbers;
}

#define SMALL_NUMBERS 512 /* whole numbers below are one node wherever they stand */

typedef struct {
  gboolean own;             /* the text may be written to while it is read */
  char *cut;                /* the quote in it that is a NUL now; NULL: none */
  const char *const *names; /* of the members that are kept apart; NULL: none are */
  DemurJsonApart *apart;    /* NULL where names is */
  JsonNode *small[SMALL_NUMBERS];
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

/* Whether a byte [n] is a backslash or no character; *seen gets all of them. */
VECTOR_BYTE_CLONES static gboolean
has_others(const char *text, size_t n, guint8 *seen) {
  guint8 wrong = 0, all = 0;
  for (size_t i = 0; i < n; i++) {
    const guint8 c = (guint8)text[i];
    wrong |= (guint8)((c == '\\') | (c < 0x20));
    all |= c;
  }
  *seen = all;
  return wrong != 0;
}

/* Up to the first byte of text that is a quote, a backslash or no character, or to the end. Long texts have none but the quote
 * at their end, which is looked for once a text, whatever escapes it has: blocks of bytes are looked at together. */
static const char *
plain_end(Reader *reader, const char *text) {
  if (reader->quote == NULL || reader->quote < text) {
    reader->quote = memchr(text, '"', (size_t)(reader->end - text));
    if (reader->quote == NULL)
      reader->quote = reader->end;
  }
  const char *end = reader->quote;
  for (; end - text >= BLOCK; text += BLOCK) {
    guint8 seen;
    if (has_others(text, BLOCK, &seen))
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

static void
mend_cut(Reader *reader) {
  if (reader->cut != NULL)
    *reader->cut = '"';
  reader->cut = NULL;
}

/* The text between quotes, the reader's until the next; NULL where it is none that is plain. */
static const char *
read_text(Reader *reader) {
  mend_cut(reader);
  if (!take(reader, '"'))
    return NULL;
  const char *begin = reader->at;
  const char *end = begin;
  gboolean plain = TRUE;
  while ((end = plain_end(reader, end)) < reader->end && *end == '\\' && reader->end - end > 1) {
    end += 2;
    plain = FALSE;
  }
  if (end >= reader->end || *end != '"')
    return NULL;
  reader->at = end + 1;
  if (plain && reader->own) {
    reader->cut = (char *)end;
    *reader->cut = '\0';
    return begin;
  }
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
whole_node(Reader *reader, gint64 number) {
  if (number < 0 || number >= SMALL_NUMBERS)
    return json_node_init_int(json_node_alloc(), number);
  JsonNode **small = &reader->small[number];
  if (*small == NULL)
    *small = json_node_init_int(json_node_alloc(), number);
  return json_node_ref(*small);
}

typedef struct {
  gboolean is_whole;
  gint64 whole;
  double number; /* whole as double where it is */
} Number;

/* Takes a number; FALSE where it is none that is plain. */
static gboolean
take_number(Reader *reader, Number *number) {
  const char *begin = reader->at, *at = begin, *end = reader->end;
  at += at < end && *at == '-';
  const char *digits = at;
  while (at < end && g_ascii_isdigit(*at))
    at++;
  if (at == digits || at - digits > 18 || (*digits == '0' && at - digits > 1))
    return FALSE;
  number->is_whole = TRUE;
  if (at < end && *at == '.') {
    number->is_whole = FALSE;
    const char *fraction = ++at;
    while (at < end && g_ascii_isdigit(*at))
      at++;
    if (at == fraction)
      return FALSE;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    number->is_whole = FALSE;
    at++;
    at += at < end && (*at == '+' || *at == '-');
    const char *exponent = at;
    while (at < end && g_ascii_isdigit(*at))
      at++;
    if (at == exponent)
      return FALSE;
  }
  reader->at = at;
  if (!number->is_whole)
    return demur_number_parse(begin, (size_t)(at - begin), &number->number);
  number->whole = 0;
  for (; digits < at; digits++)
    number->whole = 10 * number->whole + (*digits - '0');
  if (*begin == '-')
    number->whole = -number->whole;
  number->number = (double)number->whole;
  return TRUE;
}

static JsonNode *
read_number(Reader *reader) {
  Number number;
  if (!take_number(reader, &number))
    return NULL;
  return number.is_whole ? whole_node(reader, number.whole)
                         : json_node_init_double(json_node_alloc(), number.number);
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

/* Takes node and numbers; what stands in the text, or in numbers, is that node's. */
static JsonNode *
keep_apart(Reader *reader, JsonNode *node, const char *text, double *numbers, size_t length) {
  Member *member = g_new(Member, 1);
  *member = (Member){json_node_ref(node), text, numbers, length};
  g_hash_table_insert(reader->apart->by_node, node, member);
  return node;
}

/* The string that begins here, which stays where it is; NULL, and nothing taken, where it can't. */
static JsonNode *
leave_text(Reader *reader) {
  const char *begin = reader->at;
  const char *text = read_text(reader);
  if (text != NULL && reader->cut != NULL) {
    reader->n_values++;
    return keep_apart(reader, json_node_init_string(json_node_alloc(), ""), text, NULL,
                      (size_t)(reader->cut - text));
  }
  reader->at = begin;
  return NULL;
}

/* The array that begins here; NULL, and nothing taken, where it holds anything but numbers. */
static JsonNode *
leave_numbers(Reader *reader) {
  const char *begin = reader->at;
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
  gboolean going = reader->depth < MAX_NESTING;
  reader->at++;
  for (gboolean ended = take(reader, ']'); going && !ended;) {
    Number number;
    skip_blanks(reader);
    going = reader->n_values + numbers->len < MAX_VALUES && take_number(reader, &number);
    if (!going)
      break;
    g_array_append_val(numbers, number.number);
    ended = take(reader, ']');
    going = ended || take(reader, ',');
  }
  if (!going) {
    reader->at = begin;
    return NULL;
  }
  reader->n_values += numbers->len + 1;
  const size_t n = numbers->len;
  g_array_set_size(numbers, (guint)n + 1); /* never NULL */
  g_autoptr(JsonArray) none = json_array_new();
  return keep_apart(reader, json_node_init_array(json_node_alloc(), none), NULL,
                    (double *)(gpointer)g_array_free(g_steal_pointer(&numbers), FALSE), n);
}

static JsonNode *
read_member(Reader *reader, const char *name) {
  JsonNode *apart = NULL;
  skip_blanks(reader);
  if (reader->at < reader->end && reader->names != NULL && g_strv_contains(reader->names, name)) {
    if (*reader->at == '"')
      apart = leave_text(reader);
    else if (*reader->at == '[')
      apart = leave_numbers(reader);
  }
  return apart != NULL ? apart : read_value(reader);
}

static JsonNode *
read_object(Reader *reader) {
  g_autoptr(JsonObject) object = json_object_new();
  if (!take(reader, '}'))
    for (;;) {
      g_autofree char *name = g_strdup(read_text(reader));
      if (name == NULL || name[0] == '\0' || !take(reader, ':'))
        return NULL;
      JsonNode *member = read_member(reader, name);
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

/* own: text may be written to (NULL: not). */
static JsonNode *
make_tree(const char *text, char *own, size_t length, const char *const *names,
          DemurJsonApart **apart, GError **error) {
  g_autoptr(DemurJsonApart) kept = names != NULL ? apart_new() : NULL;
  Reader reader = {
      .own = own != NULL, .names = names, .apart = kept, .at = text, .end = text + length};
  skip_blanks(&reader);
  g_autoptr(JsonNode) root = NULL;
  if (reader.at < reader.end && (*reader.at == '{' || *reader.at == '['))
    root = read_value(&reader);
  mend_cut(&reader);
  g_aligned_free(reader.text);
  for (size_t i = 0; i < SMALL_NUMBERS; i++)
    g_clear_pointer(&reader.small[i], json_node_unref);
  skip_blanks(&reader);
  const gboolean is_ascii = reader.seen < 0x80;
  if (root != NULL && reader.at == reader.end &&
      (is_ascii || g_utf8_validate(text, reader.end - text, NULL))) {
    if (names != NULL)
      *apart = g_steal_pointer(&kept);
    return g_steal_pointer(&root);
  }
  if (names != NULL)
    *apart = apart_new(); /* json-glib's tree has all in it */
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  return demur_json_load(parser, text, (gssize)length, error) ? json_parser_steal_root(parser)
                                                              : NULL;
}

JsonNode *
demur_json_tree(const char *text, gssize length, GError **error) {
  return make_tree(text, NULL, length < 0 ? strlen(text) : (size_t)length, NULL, NULL, error);
}

JsonNode *
demur_json_tree_of_own(char *text, gsize length, const char *const *names, DemurJsonApart **apart,
                       GError **error) {
  return make_tree(text, text, length, names, apart, error);
}
