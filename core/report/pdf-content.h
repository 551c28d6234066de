/* What a reader's ear should pass over: marks the parts of a page that carry no tag as artifacts.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* content [n] is a page's operators. Every stretch outside marked content that paints something is
 * put between "/Artifact .. BDC" and EMC, the first one (running header and footer) as pagination.
 * The new operators (owned), or NULL where the page can't be followed to its end (an inline image,
 * a tag within a text object, an unbalanced tag); it is then to be left as it is. */
char *demur_pdf_mark_artifacts(const char *content, size_t n, size_t *n_out);

G_END_DECLS
