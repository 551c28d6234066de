/* What Cairo 1.16 cannot write into a tagged PDF: document language, alternative texts of figures,
 * scope of table headers, contents of links, order of tabs, artifacts, XMP metadata, the meaning of
 * its colours, title in the window, a file identifier that depends on the content alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *title, *subject; /* subject may be NULL */
  const char *version;         /* of the program; NULL: not said */
  const char
      *created; /* "2026-11-27T10:00:00Z"; NULL removes the dates Cairo took from the clock */
  const char *language;            /* NULL: "en" */
  const char *numbers_digest;      /* SHA-256 of the JSON beside it, hexadecimal; NULL: none */
  const char *const *alternatives; /* NULL-terminated, in reading order of the Figure tags */
  const char *const *links; /* what each link says, in order, NULL-terminated; NULL: no links */
} DemurPdfFacts;

/* A PDF of Cairo in, the finished one out (owned, *n_out bytes). NULL with DEMUR_ERROR_STATE where
 * the number of figures differs from that of the texts or libqpdf refuses. */
guchar *demur_pdf_finish(const guchar *pdf, size_t n, const DemurPdfFacts *facts, size_t *n_out,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
