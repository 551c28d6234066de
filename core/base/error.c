#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A format and the text of each of its conversions. */
typedef struct {
  char *format;
  char **texts;
  char *types; /* of the conversions: "su" */
} Part;

typedef struct {
  GPtrArray *parts; /* of Part: prefixes, then the message; NULL: raised by g_set_error */
  GError *cause;
  char *details; /* NULL: none */
} DemurErrorPrivate;

static void
part_free(gpointer data) {
  Part *part = data;
  g_free(part->format);
  g_strfreev(part->texts);
  g_free(part->types);
  g_free(part);
}

static void
demur_error_private_init(DemurErrorPrivate *private) {
  *private = (DemurErrorPrivate){NULL, NULL, NULL};
}

static void
demur_error_private_copy(const DemurErrorPrivate *from, DemurErrorPrivate *to) {
  to->cause = from->cause != NULL ? g_error_copy(from->cause) : NULL;
  to->details = g_strdup(from->details);
  if (from->parts == NULL)
    return;
  to->parts = g_ptr_array_new_with_free_func(part_free);
  for (guint i = 0; i < from->parts->len; i++) {
    const Part *part = from->parts->pdata[i];
    Part *copy = g_new(Part, 1);
    *copy = (Part){g_strdup(part->format), g_strdupv(part->texts), g_strdup(part->types)};
    g_ptr_array_add(to->parts, copy);
  }
}

static void
demur_error_private_clear(DemurErrorPrivate *private) {
  g_clear_pointer(&private->parts, g_ptr_array_unref);
  g_clear_error(&private->cause);
  g_clear_pointer(&private->details, g_free);
}

G_DEFINE_EXTENDED_ERROR(DemurError, demur_error)

/* One conversion of a format: "%-12.3lf" has the length "l" and the type 'f'; "%2$s" the place 2. */
typedef struct {
  const char *end;
  int place;                             /* 0: the next one */
  gboolean width_given, precision_given; /* by an argument */
  char length[3];
  char type;
} Conversion;

/* at stands on '%'. */
static Conversion
read_conversion(const char *at) {
  Conversion c = {.end = at + 1};
  const size_t digits = strspn(c.end, "0123456789");
  if (digits > 0 && c.end[digits] == '$') {
    c.place = (int)g_ascii_strtoll(c.end, NULL, 10);
    c.end += digits + 1;
  }
  c.end += strspn(c.end, "-+ #0'");
  c.width_given = *c.end == '*';
  c.end += c.width_given ? 1 : strspn(c.end, "0123456789");
  if (*c.end == '.') {
    c.precision_given = *++c.end == '*';
    c.end += c.precision_given ? 1 : strspn(c.end, "0123456789");
  }
  const size_t n = strspn(c.end, "hljztL");
  g_strlcpy(c.length, c.end, MIN(n + 1, sizeof c.length));
  c.end += n;
  c.type = *c.end;
  c.end += c.type != '\0' ? 1 : 0;
  return c;
}

/* A whole number as the conversion takes it from the arguments. */
static char *
whole_text(const char *spec, const Conversion *c, va_list *arguments) {
  if (strcmp(c->length, "ll") == 0)
    return g_strdup_printf(spec, va_arg(*arguments, long long));
  switch (c->length[0]) {
  case 'l':
    return g_strdup_printf(spec, va_arg(*arguments, long));
  case 'z':
    return g_strdup_printf(spec, va_arg(*arguments, size_t));
  case 'j':
    return g_strdup_printf(spec, va_arg(*arguments, intmax_t));
  case 't':
    return g_strdup_printf(spec, va_arg(*arguments, ptrdiff_t));
  default:
    return g_strdup_printf(spec, va_arg(*arguments, int));
  }
}

/* spec is one conversion with its widths written out, hence no literal. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static char *
text_of(const char *spec, const Conversion *c, va_list *arguments) {
  switch (c->type) {
  case 's':
    return g_strdup_printf(spec, va_arg(*arguments, const char *));
  case 'p':
    return g_strdup_printf(spec, va_arg(*arguments, void *));
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    return c->length[0] == 'L' ? g_strdup_printf(spec, va_arg(*arguments, long double))
                               : g_strdup_printf(spec, va_arg(*arguments, double));
  default:
    return whole_text(spec, c, arguments);
  }
}
G_GNUC_END_IGNORE_DEPRECATIONS

static Part *
part_new(const char *format, va_list *arguments) {
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  GString *types = g_string_new(NULL);
  for (const char *at = format; (at = strchr(at, '%')) != NULL;) {
    const Conversion c = read_conversion(at);
    g_autoptr(GString) spec = g_string_new(NULL);
    for (const char *k = at; k < c.end; k++)
      if (*k == '*')
        g_string_append_printf(spec, "%d", va_arg(*arguments, int));
      else
        g_string_append_c(spec, *k);
    at = c.end;
    if (c.type == '%' || c.type == '\0')
      continue;
    g_autofree char *text = text_of(spec->str, &c, arguments);
    g_strv_builder_add(texts, text);
    g_string_append_c(types, c.type);
  }
  Part *part = g_new(Part, 1);
  *part = (Part){g_strdup(format), g_strv_builder_end(texts), g_string_free(types, FALSE)};
  return part;
}

static GError *
error_new(DemurError code, const char *format, va_list *arguments) {
  va_list again;
  va_copy(again, *arguments);
  GError *error = g_error_new_valist(DEMUR_ERROR, (int)code, format, *arguments);
  DemurErrorPrivate *private = demur_error_get_private(error);
  private->parts = g_ptr_array_new_with_free_func(part_free);
  g_ptr_array_add(private->parts, part_new(format, &again));
  va_end(again);
  return error;
}

GError *
demur_error_new_valist(DemurError code, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  GError *error = error_new(code, format, &again);
  va_end(again);
  return error;
}

GError *
demur_error_new(DemurError code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  GError *error = error_new(code, format, &arguments);
  va_end(arguments);
  return error;
}

void
demur_error_set(GError **error, DemurError code, const char *format, ...) {
  if (error == NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_propagate_error(error, error_new(code, format, &arguments));
  va_end(arguments);
}

void
demur_error_prefix(GError **error, const char *format, ...) {
  if (error == NULL || *error == NULL)
    return;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  g_autofree char *prefix = g_strdup_vprintf(format, arguments);
  g_prefix_error_literal(error, prefix);
  DemurErrorPrivate *private =
      (*error)->domain == DEMUR_ERROR ? demur_error_get_private(*error) : NULL;
  if (private != NULL && private->parts != NULL)
    g_ptr_array_insert(private->parts, 0, part_new(format, &again));
  va_end(again);
  va_end(arguments);
}

void
demur_error_append(GError *error, GError *next) {
  DemurErrorPrivate *private = demur_error_get_private(error);
  DemurErrorPrivate *of_next = demur_error_get_private(next);
  g_autofree char *before = error->message;
  error->message = g_strconcat(before, next->message, NULL);
  if (private->parts != NULL && of_next->parts != NULL)
    g_ptr_array_extend_and_steal(private->parts, g_steal_pointer(&of_next->parts));
  g_error_free(next);
}

void
demur_error_because(GError **error, const GError *cause) {
  if (error == NULL || *error == NULL || (*error)->domain != DEMUR_ERROR)
    return;
  DemurErrorPrivate *private = demur_error_get_private(*error);
  g_clear_error(&private->cause);
  private->cause = g_error_copy(cause);
}

void
demur_error_set_details(GError *error, const char *details) {
  DemurErrorPrivate *private = demur_error_get_private(error);
  g_free(private->details);
  private->details = g_strdup(details);
  g_autofree char *before = error->message;
  error->message = g_strdup_printf("%s (%s)", before, details);
}

const char *
demur_error_details(const GError *error) {
  return error->domain == DEMUR_ERROR ? demur_error_get_private((GError *)(gsize)error)->details
                                      : NULL;
}

static void
append_text(GString *words, const DemurErrorPrivate *private, const char *text, char type,
            DemurTranslate translate) {
  if (private->cause != NULL && strcmp(text, private->cause->message) == 0) {
    g_autofree char *cause = demur_error_words(private->cause, translate);
    g_string_append(words, cause);
    return;
  }
  g_string_append(words, type == 's' && strchr(text, ' ') != NULL ? translate(text) : text);
}

static void
append_part(GString *words, const DemurErrorPrivate *private, const Part *part,
            DemurTranslate translate) {
  const int n_texts = (int)g_strv_length(part->texts);
  int next = 0;
  for (const char *at = translate(part->format); *at != '\0';) {
    if (*at != '%') {
      g_string_append_c(words, *at++);
      continue;
    }
    const Conversion c = read_conversion(at);
    at = c.end;
    const int place = c.place > 0 ? c.place - 1 : next;
    if (c.type == '%')
      g_string_append_c(words, '%');
    else if (place < n_texts)
      append_text(words, private, part->texts[place], part->types[place], translate);
    next += c.type != '%' ? 1 : 0;
  }
}

char *
demur_error_words(const GError *error, DemurTranslate translate) {
  const DemurErrorPrivate *private = error->domain == DEMUR_ERROR && translate != NULL
                                         ? demur_error_get_private((GError *)(gsize)error)
                                         : NULL;
  if (private == NULL || private->parts == NULL)
    return g_strdup(error->message);
  g_autoptr(GString) words = g_string_new(NULL);
  for (guint i = 0; i < private->parts->len; i++)
    append_part(words, private, private->parts->pdata[i], translate);
  return g_string_free(g_steal_pointer(&words), FALSE);
}
