#include "base/json-reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/finite.h"
#include "base/json-tree.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/processor.h"
#include "base/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MAX_NESTING 64

/* What stands beside a value in memory: some hundred bytes of json-glib's for each. */
#define MAX_VALUES ((size_t)1 << 24)

/* Where a document stands, outside of strings. */
typedef enum { BEFORE, SCALAR, WITHIN, BEHIND } Place;

/* Whether c, at the depth before it, has a place there: json-glib takes one value behind another, and
 * the last of them for the whole. A number or word at the top is left to it, but nothing opens
 * behind one; so is what is no ASCII. */
static gboolean
has_place(char c, size_t depth, Place *place) {
  if (depth > 0 || c == ' ' || c == '\t' || c == '\n' || c == '\r' || (guchar)c >= 0x80)
    return TRUE;
  const gboolean opens = c == '[' || c == '{';
  if (*place == BEHIND || (*place == SCALAR && opens))
    return FALSE;
  *place = opens ? WITHIN : SCALAR;
  return TRUE;
}

/* The text outside strings may hold neither a comment nor a quote other than '"', which json-glib
 * lets pass: so strings, and with them the depth, are told from the outside without doubt. */
static gboolean
check_extent(const char *text, size_t length, GError **error) {
  size_t depth = 0, n_values = 0;
  gboolean in_string = FALSE;
  Place place = BEFORE;
  for (size_t i = 0; i < length; i++) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        i++;
      else if (c == '"')
        in_string = FALSE;
      continue;
    }
    if (!has_place(c, depth, &place)) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "byte %zu: the document ends before it, and something stands behind", i + 1);
      return FALSE;
    }
    n_values += c == ',' || c == '[' || c == '{';
    if (n_values > MAX_VALUES) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "byte %zu: over %zu values, more than a document of demur can need", i + 1,
                      MAX_VALUES);
      return FALSE;
    }
    if (c == '"') {
      in_string = TRUE;
    } else if (c == '[' || c == '{') {
      if (++depth > MAX_NESTING) {
        demur_error_set(error, DEMUR_ERROR_INPUT,
                        "byte %zu: nested deeper than %d, which no document of demur is", i + 1,
                        MAX_NESTING);
        return FALSE;
      }
    } else if (c == ']' || c == '}') {
      place = depth == 1 ? BEHIND : place;
      depth -= depth > 0;
    } else if (c == '/' || c == '\'' || c == '#') {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "byte %zu: '%c' has no place in JSON outside of a string", i + 1, c);
      return FALSE;
    }
  }
  return TRUE;
}

/* json-glib ends there without a word, and takes what stands before it for the whole. */
static gboolean
check_no_nul(const char *text, size_t length, GError **error) {
  const char *nul = memchr(text, '\0', length);
  if (nul == NULL)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "byte %zu: a NUL has no place in JSON",
                  (size_t)(nul - text) + 1);
  return FALSE;
}

gboolean
demur_json_load(JsonParser *parser, const char *text, gssize length, GError **error) {
  g_autoptr(GError) local = NULL;
  if (length > 0 && !check_no_nul(text, (size_t)length, error))
    return FALSE;
  if (!check_extent(text, length < 0 ? strlen(text) : (size_t)length, error))
    return FALSE;
  if (json_parser_load_from_data(parser, text, length, &local))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s", local->message);
  return FALSE;
}

JsonNode *
demur_json_parse(const char *text) {
  return text != NULL ? demur_json_tree(text, -1, NULL) : NULL;
}

static const char *
kind_of(JsonNode *node) {
  if (node == NULL)
    return "nothing";
  switch (json_node_get_node_type(node)) {
  case JSON_NODE_OBJECT:
    return "an object";
  case JSON_NODE_ARRAY:
    return "an array";
  case JSON_NODE_NULL:
    return "null";
  case JSON_NODE_VALUE:
    break;
  }
  switch (json_node_get_value_type(node)) {
  case G_TYPE_STRING:
    return "a text";
  case G_TYPE_BOOLEAN:
    return "true or false";
  default:
    return "a number";
  }
}

static gboolean
refuse(const char *key, JsonNode *node, const char *expected, GError **error) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "member \"%s\": expected %s, found %s", key, expected,
                  kind_of(node));
  return FALSE;
}

gboolean
demur_json_is_number(JsonNode *node) {
  if (node == NULL || !JSON_NODE_HOLDS_VALUE(node))
    return FALSE;
  const GType type = json_node_get_value_type(node);
  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

static gboolean
whole_double(double number, gint64 *value) {
  if (!(fabs(number) <= 0x1p53) || number != floor(number))
    return FALSE;
  *value = (gint64)number;
  return TRUE;
}

/* A whole number, written with or without a fraction of 0. */
static gboolean
whole_number(JsonNode *node, gint64 *value) {
  if (!demur_json_is_number(node))
    return FALSE;
  if (json_node_get_value_type(node) == G_TYPE_INT64) {
    *value = json_node_get_int(node);
    return TRUE;
  }
  return whole_double(json_node_get_double(node), value);
}

gboolean
demur_json_read_object(JsonObject *object, const char *key, JsonObject **member, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node))
    return refuse(key, node, N_("an object"), error);
  *member = json_node_get_object(node);
  return TRUE;
}

gboolean
demur_json_read_array(JsonObject *object, const char *key, JsonArray **member, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY(node))
    return refuse(key, node, N_("an array"), error);
  *member = json_node_get_array(node);
  return TRUE;
}

gboolean
demur_json_read_element(JsonArray *array, guint i, const char *name, JsonObject **member,
                        GError **error) {
  JsonNode *node = i < json_array_get_length(array) ? json_array_get_element(array, i) : NULL;
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node)) {
    g_autofree char *key = g_strdup_printf("%s[%u]", name, i);
    return refuse(key, node, N_("an object"), error);
  }
  *member = json_node_get_object(node);
  return TRUE;
}

gboolean
demur_json_read_string(JsonObject *object, const char *key, const char **value, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  if (node == NULL || !JSON_NODE_HOLDS_VALUE(node) ||
      json_node_get_value_type(node) != G_TYPE_STRING)
    return refuse(key, node, N_("a text"), error);
  *value = json_node_get_string(node);
  return TRUE;
}

gboolean
demur_json_read_bool(JsonObject *object, const char *key, gboolean *value, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  if (node == NULL || !JSON_NODE_HOLDS_VALUE(node) ||
      json_node_get_value_type(node) != G_TYPE_BOOLEAN)
    return refuse(key, node, N_("true or false"), error);
  *value = json_node_get_boolean(node);
  return TRUE;
}

gboolean
demur_json_read_int(JsonObject *object, const char *key, gint64 minimum, gint64 maximum,
                    gint64 *value, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  gint64 number;
  if (!whole_number(node, &number))
    return refuse(key, node, N_("a whole number"), error);
  if (number < minimum || number > maximum) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member \"%s\": expected a whole number from %" PRId64 " to %" PRId64
                    ", found %" PRId64,
                    key, minimum, maximum, number);
    return FALSE;
  }
  *value = number;
  return TRUE;
}

static gboolean
in_range(const char *name, double number, double minimum, double maximum, GError **error) {
  if (isfinite(number) && number >= minimum && number <= maximum)
    return TRUE;
  char found[G_ASCII_DTOSTR_BUF_SIZE], low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "member \"%s\": expected a finite number from %s to %s, found %s", name,
                  demur_number_format(minimum, low), demur_number_format(maximum, high),
                  demur_number_format(number, found));
  return FALSE;
}

gboolean
demur_json_read_double(JsonObject *object, const char *key, double minimum, double maximum,
                       double *value, GError **error) {
  JsonNode *node = json_object_get_member(object, key);
  if (!demur_json_is_number(node))
    return refuse(key, node, N_("a number"), error);
  const double number = json_node_get_double(node);
  if (!in_range(key, number, minimum, maximum, error))
    return FALSE;
  *value = number;
  return TRUE;
}

/* Numbers of a member: in the tree, or apart from it. */
typedef struct {
  JsonArray *array; /* borrowed; NULL: apart */
  const double *apart;
} Numbers;

/* The array of exactly n elements named key. */
static gboolean
sized_array(JsonObject *object, const DemurJsonApart *apart, const char *key, size_t n,
            Numbers *numbers, GError **error) {
  JsonArray *array = NULL;
  gsize length;
  const double *found =
      demur_json_apart_numbers(apart, json_object_get_member(object, key), &length);
  if (found == NULL) {
    if (!demur_json_read_array(object, key, &array, error))
      return FALSE;
    length = json_array_get_length(array);
  }
  if (length != n) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member \"%s\": expected %zu elements, found %u", key,
                    n, (guint)length);
    return FALSE;
  }
  *numbers = (Numbers){array, found};
  return TRUE;
}

gboolean
demur_json_read_doubles(JsonObject *object, const char *key, size_t n, double minimum,
                        double maximum, double **values, GError **error) {
  return demur_json_read_doubles_of(object, NULL, key, n, minimum, maximum, values, error);
}

gboolean
demur_json_read_doubles_of(JsonObject *object, const DemurJsonApart *apart, const char *key,
                           size_t n, double minimum, double maximum, double **values,
                           GError **error) {
  Numbers source;
  if (!sized_array(object, apart, key, n, &source, error))
    return FALSE;
  DEMUR_AUTO_ALIGNED double *numbers = demur_new_array(double, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = source.array != NULL ? json_array_get_element(source.array, i) : NULL;
    g_autofree char *name = NULL;
    if (node != NULL && !demur_json_is_number(node)) {
      name = g_strdup_printf("%s[%u]", key, i);
      return refuse(name, node, N_("a number"), error);
    }
    numbers[i] = node != NULL ? json_node_get_double(node) : source.apart[i];
    if (!isfinite(numbers[i]) || numbers[i] < minimum || numbers[i] > maximum) {
      name = g_strdup_printf("%s[%u]", key, i);
      return in_range(name, numbers[i], minimum, maximum, error);
    }
  }
  *values = g_steal_pointer(&numbers);
  return TRUE;
}

gboolean
demur_json_read_indices(JsonObject *object, const char *key, size_t n, guint32 minimum,
                        guint32 maximum, guint32 **values, GError **error) {
  return demur_json_read_indices_of(object, NULL, key, n, minimum, maximum, values, error);
}

gboolean
demur_json_read_indices_of(JsonObject *object, const DemurJsonApart *apart, const char *key,
                           size_t n, guint32 minimum, guint32 maximum, guint32 **values,
                           GError **error) {
  Numbers source;
  if (!sized_array(object, apart, key, n, &source, error))
    return FALSE;
  DEMUR_AUTO_ALIGNED guint32 *numbers = demur_new_array(guint32, n);
  for (guint i = 0; i < n; i++) {
    gint64 number = 0;
    const gboolean whole = source.array != NULL
                               ? whole_number(json_array_get_element(source.array, i), &number)
                               : whole_double(source.apart[i], &number);
    if (!whole || number < minimum || number > maximum) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member \"%s[%u]\": expected a whole number from %u to %u", key, i, minimum,
                      maximum);
      return FALSE;
    }
    numbers[i] = (guint32)number;
  }
  *values = g_steal_pointer(&numbers);
  return TRUE;
}

gboolean
demur_json_read_ascending(JsonArray *array, int most, int *values, size_t *n) {
  const guint length = json_array_get_length(array);
  gint64 last = 0;
  if (length < 1 || length > (guint)most)
    return FALSE;
  for (guint i = 0; i < length; i++) {
    gint64 number;
    if (!whole_number(json_array_get_element(array, i), &number) || number <= last || number > most)
      return FALSE;
    values[i] = (int)number;
    last = number;
  }
  *n = length;
  return TRUE;
}

#define BLOCK 4096 /* letters whose values are found before any is used */

typedef guint8 Bytes __attribute__((vector_size(32)));

/* The values [BLOCK] of letters; FALSE where there is another character. */
VECTOR_BYTE_CLONES static gboolean
values_of(const char *letters, guint8 *values) {
  Bytes right = {0};
  right = ~right;
  for (size_t i = 0; i < BLOCK; i += sizeof(Bytes)) {
    Bytes c;
    memcpy(&c, letters + i, sizeof c);
    const Bytes upper = (Bytes)(c - 'A' < 26), lower = (Bytes)(c - 'a' < 26);
    const Bytes digit = (Bytes)(c - '0' < 10), plus = (Bytes)(c == '+'), slash = (Bytes)(c == '/');
    const Bytes value = (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) |
                        (plus & 62) | (slash & 63);
    right &= upper | lower | digit | plus | slash;
    memcpy(values + i, &value, sizeof value);
  }
  guint8 all = 0xff;
  for (size_t i = 0; i < sizeof right; i++)
    all &= right[i];
  return all == 0xff;
}

/* n values of six bits, a multiple of 32, as bytes; up to four more behind them are written to. */
typedef void (*JoinFunc)(const guint8 *values, size_t n, guchar *bytes);

static void
join_plain(const guint8 *values, size_t n, guchar *bytes) {
  for (size_t i = 0; i < n; i += 8, bytes += 6) {
    guint64 w;
    memcpy(&w, values + i, sizeof w);
    w = GUINT64_FROM_LE(w);
    w = (w & G_GUINT64_CONSTANT(0x00ff00ff00ff00ff)) << 6 |
        (w >> 8 & G_GUINT64_CONSTANT(0x00ff00ff00ff00ff)); /* 12 bits in each 16 */
    w = (w & G_GUINT64_CONSTANT(0x0000ffff0000ffff)) << 12 |
        (w >> 16 & G_GUINT64_CONSTANT(0x0000ffff0000ffff)); /* 24 in each 32 */
    w = GUINT64_TO_BE((w & 0xffffff) << 40 | (w >> 32 & 0xffffff) << 16);
    memcpy(bytes, &w, sizeof w);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
join_avx2(const guint8 *values, size_t n, guchar *bytes) {
  const __m256i in_12 = _mm256_set1_epi32(0x01400140), in_24 = _mm256_set1_epi32(0x00011000);
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  for (size_t i = 0; i < n; i += 32, bytes += 24) {
    const __m256i v = _mm256_loadu_si256((const __m256i *)(gconstpointer)(values + i));
    const __m256i w = _mm256_madd_epi16(_mm256_maddubs_epi16(v, in_12), in_24);
    const __m256i joined = _mm256_shuffle_epi8(w, order);
    _mm_storeu_si128((__m128i *)(gpointer)bytes, _mm256_castsi256_si128(joined));
    _mm_storeu_si128((__m128i *)(gpointer)(bytes + 12), _mm256_extracti128_si256(joined, 1));
  }
}
#endif

static JoinFunc
choose_join(void) {
#if defined(__x86_64__)
  if (demur_processor_level() >= DEMUR_PROCESSOR_AVX2)
    return join_avx2;
#endif
  return join_plain;
}

/* RFC 4648, section 4: four letters are three bytes, the last of them filled up with '='. bytes of
 * them into decoded, which has room for three more; text has length = 4 ceil(bytes / 3) characters.
 * length, or the place of the first character that does not belong there. In one pass: GLib's
 * decoder skips over whatever is no base64, and takes four times as long. */
static size_t
decode_base64(const char *text, size_t length, size_t bytes, guchar *decoded) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  guint8 value_of[256];
  memset(value_of, 0xff, sizeof value_of);
  for (guint i = 0; i < 64; i++)
    value_of[(guchar)letters[i]] = (guint8)i;
  const size_t n_padding = (3 - bytes % 3) % 3;
  const size_t n_full = n_padding > 0 ? length - 4 : length;
  const JoinFunc join_values = choose_join();
  size_t done = 0;
  for (guint8 values[BLOCK]; n_full - done > BLOCK; done += BLOCK, decoded += BLOCK / 4 * 3) {
    if (!values_of(text + done, values))
      break; /* found below */
    join_values(values, BLOCK, decoded);
  }
  for (size_t i = done; i < length; i += 4) {
    guint8 v[4];
    for (size_t k = 0; k < 4; k++)
      v[k] = value_of[(guchar)text[i + k]];
    for (size_t k = 4 - n_padding; i == n_full && k < 4; k++)
      v[k] = text[i + k] == '=' ? 0 : 0xff;
    if ((v[0] | v[1] | v[2] | v[3]) & 0x80)
      for (size_t k = 0; k < 4; k++)
        if (v[k] & 0x80)
          return i + k;
    decoded[0] = (guchar)(v[0] << 2 | v[1] >> 4);
    decoded[1] = (guchar)(v[1] << 4 | v[2] >> 2);
    decoded[2] = (guchar)(v[2] << 6 | v[3]);
    decoded += 3;
  }
  return length;
}

gboolean
demur_json_read_floats_base64(JsonObject *object, const char *key, size_t n, float **values,
                              GError **error) {
  return demur_json_read_floats_base64_of(object, NULL, key, n, values, error);
}

gboolean
demur_json_read_floats_base64_of(JsonObject *object, const DemurJsonApart *apart, const char *key,
                                 size_t n, float **values, GError **error) {
  const char *text;
  if (!demur_json_read_string(object, key, &text, error))
    return FALSE;
  size_t bytes, length = 0;
  const char *in_text = demur_json_apart_text(apart, json_object_get_member(object, key), &length);
  if (in_text != NULL)
    text = in_text;
  else
    length = strlen(text);
  if (!g_size_checked_mul(&bytes, n, sizeof(float)) || bytes > G_MAXSIZE / 2 ||
      length != (bytes + 2) / 3 * 4) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member \"%s\": expected the base64 text of %zu float32 values, found %zu "
                    "characters",
                    key, n, length);
    return FALSE;
  }
  /* The last for its three bytes; all others are written. */
  DEMUR_AUTO_ALIGNED float *floats = demur_memory_unset(n + 1, 1, sizeof(float), error);
  if (floats == NULL)
    return FALSE;
  const size_t wrong = decode_base64(text, length, bytes, (guchar *)floats);
  if (wrong < length) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member \"%s\": character %zu does not belong into the base64 text of %zu "
                    "float32 values",
                    key, wrong, n);
    return FALSE;
  }
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    for (size_t i = 0; i < n; i++) {
      guint32 word;
      memcpy(&word, &floats[i], sizeof(word));
      word = GUINT32_FROM_LE(word);
      memcpy(&floats[i], &word, sizeof(word));
    }
  const gboolean finite = demur_floats_are_finite(floats, n);
  for (size_t i = 0; !finite && i < n; i++)
    if (!isfinite(floats[i])) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member \"%s\": value %zu is not a finite number",
                      key, i);
      return FALSE;
    }
  *values = g_steal_pointer(&floats);
  return TRUE;
}
