/*     preamble CRLF --B CRLF head CRLF CRLF body CRLF --B ... CRLF --B-- epilogue
 *
 * What has come and was not given out lies in one array; a search goes on where the last one ended,
 * so the cost is linear in the bytes, whatever pieces they come in. */
#define _GNU_SOURCE
#include "dicom/multipart.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/translate.h"

typedef enum {
  BEFORE, /* the first boundary */
  MARK,   /* behind a boundary: CRLF or -- */
  HEAD,
  BODY,
  BEHIND, /* the closing boundary: anything */
} State;

struct DemurMultipart {
  char *mark; /* CRLF -- boundary */
  size_t n_mark, max_part;
  DemurMultipartFunc func;
  gpointer data;
  State state;
  GByteArray *kept;
  size_t searched; /* bytes of kept that hold no beginning of what is looked for */
  guint64 n_taken; /* bytes given out or passed over, for messages */
  gboolean too_large;
};

char *
demur_multipart_parameter(const char *content_type, const char *name) {
  const size_t n_name = strlen(name);
  if (content_type == NULL || g_ascii_strncasecmp(content_type, "multipart/", 10) != 0)
    return NULL;
  for (const char *at = strchr(content_type, ';'); at != NULL; at = strchr(at, ';')) {
    at++;
    while (g_ascii_isspace(*at))
      at++;
    if (g_ascii_strncasecmp(at, name, n_name) != 0 || at[n_name] != '=') {
      /* A quoted value may hold a semicolon. */
      const char *quote = strchr(at, '"'), *next = strchr(at, ';');
      if (quote != NULL && (next == NULL || quote < next) && strchr(quote + 1, '"') != NULL)
        at = strchr(quote + 1, '"');
      continue;
    }
    at += n_name + 1;
    const gboolean quoted = *at == '"';
    at += quoted ? 1 : 0;
    const size_t n = quoted ? strcspn(at, "\"") : strcspn(at, "; \t\r\n");
    return !quoted || at[n] == '"' ? g_strndup(at, n) : NULL;
  }
  return NULL;
}

char *
demur_multipart_boundary(const char *content_type) {
  g_autofree char *boundary = demur_multipart_parameter(content_type, "boundary");
  const size_t n = boundary != NULL ? strlen(boundary) : 0;
  return n >= 1 && n <= 70 ? g_steal_pointer(&boundary) : NULL;
}

DemurMultipart *
demur_multipart_new(const char *boundary, size_t max_part, DemurMultipartFunc func, gpointer data) {
  DemurMultipart *m = g_new0(DemurMultipart, 1);
  m->mark = g_strconcat("\r\n--", boundary, NULL);
  m->n_mark = strlen(m->mark);
  m->max_part = max_part;
  m->func = func;
  m->data = data;
  m->kept = g_byte_array_new();
  /* So that a boundary at the very beginning is found like every other. */
  g_byte_array_append(m->kept, (const guint8 *)"\r\n", 2);
  return m;
}

void
demur_multipart_free(DemurMultipart *multipart) {
  if (multipart == NULL)
    return;
  g_byte_array_unref(multipart->kept);
  g_free(multipart->mark);
  g_free(multipart);
}

static gboolean
fail(const DemurMultipart *m, GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "the multipart body is broken at byte %" PRIu64 ": %s",
                  m->n_taken, what);
  return FALSE;
}

static gboolean
fail_large(DemurMultipart *m, GError **error) {
  m->too_large = TRUE;
  return fail(m, error, N_("a part is too large"));
}

static void
take(DemurMultipart *m, size_t n) {
  g_byte_array_remove_range(m->kept, 0, (guint)n);
  m->n_taken += n;
  m->searched = 0;
}

/* Where text begins in what is kept; FALSE where it is not there yet. */
static gboolean
find(DemurMultipart *m, const char *text, size_t n, size_t *at) {
  const guint8 *from = m->kept->data + m->searched;
  const guint8 *found = memmem(from, m->kept->len - m->searched, text, n);
  if (found != NULL) {
    *at = (size_t)(found - m->kept->data);
    return TRUE;
  }
  m->searched = m->kept->len >= n ? m->kept->len - n + 1 : 0;
  return FALSE;
}

/* One move; *more: FALSE where it needs further bytes. */
static gboolean
step(DemurMultipart *m, gboolean *more, GError **error) {
  size_t at;
  switch (m->state) {
  case BEFORE:
    if (find(m, m->mark, m->n_mark, &at)) {
      take(m, at + m->n_mark);
      m->state = MARK;
      return TRUE;
    }
    *more = FALSE;
    return m->kept->len <= DEMUR_MULTIPART_MAX_HEAD || fail(m, error, N_("no boundary is there"));
  case MARK:
    if (m->kept->len < 2) {
      *more = FALSE;
      return TRUE;
    }
    if (memcmp(m->kept->data, "--", 2) == 0)
      m->state = BEHIND;
    else if (memcmp(m->kept->data, "\r\n", 2) == 0)
      m->state = HEAD;
    else
      return fail(m, error, N_("a boundary is followed by neither a part nor the end"));
    /* The line's end may be the beginning of the empty line behind no headers. */
    if (m->state == BEHIND)
      take(m, 2);
    return TRUE;
  case HEAD:
    if (find(m, "\r\n\r\n", 4, &at)) {
      take(m, at + 4 - 2); /* an empty body ends with the same CRLF */
      m->state = BODY;
      return TRUE;
    }
    *more = FALSE;
    return m->kept->len <= DEMUR_MULTIPART_MAX_HEAD ||
           fail(m, error, N_("a part's head has no end"));
  case BODY:
    if (find(m, m->mark, m->n_mark, &at)) {
      const size_t n = at >= 2 ? at - 2 : 0;
      if (n > m->max_part)
        return fail_large(m, error);
      if (!m->func(m->kept->data + 2, n, m->data, error))
        return FALSE;
      take(m, at + m->n_mark);
      m->state = MARK;
      return TRUE;
    }
    *more = FALSE;
    return m->kept->len <= m->max_part + m->n_mark || fail_large(m, error);
  case BEHIND:
    take(m, m->kept->len);
    *more = FALSE;
    return TRUE;
  }
  g_return_val_if_reached(FALSE);
}

gboolean
demur_multipart_feed(DemurMultipart *m, const guint8 *bytes, size_t n, GError **error) {
  if (n > G_MAXUINT - m->kept->len - 1)
    return fail(m, error, N_("too much at once"));
  g_byte_array_append(m->kept, bytes, (guint)n);
  gboolean more = TRUE;
  while (more)
    if (!step(m, &more, error))
      return FALSE;
  return TRUE;
}

gboolean
demur_multipart_end(const DemurMultipart *m, GError **error) {
  return m->state == BEHIND || fail(m, error, N_("it ends before its closing boundary"));
}

gboolean
demur_multipart_is_too_large(const DemurMultipart *multipart) {
  return multipart->too_large;
}
