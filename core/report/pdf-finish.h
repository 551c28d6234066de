/* What Cairo 1.16 cannot write into a tagged PDF: document language, alternative texts of figures,
 * scope of table headers, title in the window, a file identifier that depends on the content alone.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A PDF of Cairo in, the finished one out (owned, *n_out bytes). alternatives (NULL-terminated) go
 * to the Figure tags in reading order. dated FALSE removes the dates that Cairo took from the
 * clock. NULL with DEMUR_ERROR_STATE where the number of figures differs or libqpdf refuses. */
guchar *demur_pdf_finish(const guchar *pdf, size_t n, const char *language,
                         const char *const *alternatives, gboolean dated, size_t *n_out,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
