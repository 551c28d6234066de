#include "report/pdf-finish.h"

#include "base/error.h"

#include <qpdf/qpdf-c.h>
#include <string.h>

typedef struct {
  qpdf_data qpdf;
  const char *const *alternatives;
  size_t n_figures;
} Finish;

/* Walks the structure tree in reading order. */
static void
visit(Finish *finish, qpdf_oh element, int depth) {
  qpdf_data qpdf = finish->qpdf;
  if (depth > 64)
    return;
  if (qpdf_oh_is_array(qpdf, element)) {
    const int n = qpdf_oh_get_array_n_items(qpdf, element);
    for (int i = 0; i < n; i++)
      visit(finish, qpdf_oh_get_array_item(qpdf, element, i), depth + 1);
    return;
  }
  if (!qpdf_oh_is_dictionary(qpdf, element))
    return;
  qpdf_oh kind = qpdf_oh_get_key(qpdf, element, "/S");
  if (qpdf_oh_is_name_and_equals(qpdf, kind, "/Figure")) {
    const char *text = *finish->alternatives;
    finish->n_figures++;
    if (text) {
      qpdf_oh_replace_key(qpdf, element, "/Alt", qpdf_oh_new_unicode_string(qpdf, text));
      finish->alternatives++;
    }
  } else if (qpdf_oh_is_name_and_equals(qpdf, kind, "/TH")) {
    qpdf_oh attributes = qpdf_oh_new_dictionary(qpdf);
    qpdf_oh_replace_key(qpdf, attributes, "/O", qpdf_oh_new_name(qpdf, "/Table"));
    qpdf_oh_replace_key(qpdf, attributes, "/Scope", qpdf_oh_new_name(qpdf, "/Column"));
    qpdf_oh_replace_key(qpdf, element, "/A", attributes);
  }
  if (qpdf_oh_has_key(qpdf, element, "/K"))
    visit(finish, qpdf_oh_get_key(qpdf, element, "/K"), depth + 1);
}

guchar *
demur_pdf_finish(const guchar *pdf, size_t n, const char *language, const char *const *alternatives,
                 gboolean dated, size_t *n_out, GError **error) {
  guchar *result = NULL;
  qpdf_data qpdf = qpdf_init();
  Finish finish = {qpdf, alternatives, 0};
  qpdf_silence_errors(qpdf);
  qpdf_set_suppress_warnings(qpdf, QPDF_TRUE);
  if (qpdf_read_memory(qpdf, "report", (const char *)pdf, n, NULL) & QPDF_ERRORS)
    goto out;
  qpdf_oh root = qpdf_get_root(qpdf);
  qpdf_oh_replace_key(qpdf, root, "/Lang", qpdf_oh_new_string(qpdf, language));
  qpdf_oh viewer = qpdf_oh_new_dictionary(qpdf);
  qpdf_oh_replace_key(qpdf, viewer, "/DisplayDocTitle", qpdf_oh_new_bool(qpdf, QPDF_TRUE));
  qpdf_oh_replace_key(qpdf, root, "/ViewerPreferences", viewer);
  if (qpdf_oh_has_key(qpdf, root, "/StructTreeRoot"))
    visit(&finish, qpdf_oh_get_key(qpdf, root, "/StructTreeRoot"), 0);
  const size_t n_texts = (size_t)(finish.alternatives - alternatives);
  if (*finish.alternatives || finish.n_figures != n_texts) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the PDF has %zu tagged figures, expected one for each of its alternative texts; "
                "this Cairo does not write the tags the report needs",
                finish.n_figures);
    goto out;
  }
  if (!dated) {
    qpdf_oh info = qpdf_oh_get_key(qpdf, qpdf_get_trailer(qpdf), "/Info");
    if (qpdf_oh_is_dictionary(qpdf, info)) {
      qpdf_oh_remove_key(qpdf, info, "/CreationDate");
      qpdf_oh_remove_key(qpdf, info, "/ModDate");
    }
  }
  if (qpdf_init_write_memory(qpdf) & QPDF_ERRORS)
    goto out;
  qpdf_set_deterministic_ID(qpdf, QPDF_TRUE);
  if (qpdf_write(qpdf) & QPDF_ERRORS)
    goto out;
  *n_out = qpdf_get_buffer_length(qpdf);
  result = g_memdup2(qpdf_get_buffer(qpdf), *n_out);
out:
  if (!result && error && !*error) {
    const char *why =
        qpdf_has_error(qpdf) ? qpdf_get_error_full_text(qpdf, qpdf_get_error(qpdf)) : "no reason";
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "libqpdf could not finish the PDF: %s", why);
  }
  qpdf_cleanup(&qpdf);
  return result;
}
