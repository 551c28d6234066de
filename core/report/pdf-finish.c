#include "report/pdf-finish.h"

#include "base/error.h"
#include "report/pdf-content.h"
#include "report/report.h"
#include "report/srgb-profile.h"

#include <qpdf/qpdf-c.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  qpdf_data qpdf;
  const char *const *alternatives;
  size_t n_figures;
} Finish;

static gboolean
is_named(qpdf_data qpdf, qpdf_oh dictionary, const char *key, const char *name) {
  return qpdf_oh_is_dictionary(qpdf, dictionary) &&
         qpdf_oh_is_name_and_equals(qpdf, qpdf_oh_get_key(qpdf, dictionary, key), name);
}

/* Whether every cell of a table's row is a header: then they head columns, else the row. */
static gboolean
heads_columns(qpdf_data qpdf, qpdf_oh row) {
  qpdf_oh cells = qpdf_oh_get_key(qpdf, row, "/K");
  if (!qpdf_oh_is_array(qpdf, cells))
    return TRUE;
  const int n = qpdf_oh_get_array_n_items(qpdf, cells);
  for (int i = 0; i < n; i++)
    if (!is_named(qpdf, qpdf_oh_get_array_item(qpdf, cells, i), "/S", "/TH"))
      return FALSE;
  return TRUE;
}

/* Walks the structure tree in reading order; scope: of the headers in the row it is in. */
static void
visit(Finish *finish, qpdf_oh element, const char *scope, int depth) {
  qpdf_data qpdf = finish->qpdf;
  if (depth > 64)
    return;
  if (qpdf_oh_is_array(qpdf, element)) {
    const int n = qpdf_oh_get_array_n_items(qpdf, element);
    for (int i = 0; i < n; i++)
      visit(finish, qpdf_oh_get_array_item(qpdf, element, i), scope, depth + 1);
    return;
  }
  if (!qpdf_oh_is_dictionary(qpdf, element))
    return;
  if (is_named(qpdf, element, "/S", "/Figure")) {
    const char *text = *finish->alternatives;
    finish->n_figures++;
    if (text) {
      qpdf_oh_replace_key(qpdf, element, "/Alt", qpdf_oh_new_unicode_string(qpdf, text));
      finish->alternatives++;
    }
  } else if (is_named(qpdf, element, "/S", "/TR"))
    scope = heads_columns(qpdf, element) ? "/Column" : "/Row";
  else if (is_named(qpdf, element, "/S", "/TH")) {
    qpdf_oh attributes = qpdf_oh_new_dictionary(qpdf);
    qpdf_oh_replace_key(qpdf, attributes, "/O", qpdf_oh_new_name(qpdf, "/Table"));
    qpdf_oh_replace_key(qpdf, attributes, "/Scope", qpdf_oh_new_name(qpdf, scope));
    qpdf_oh_replace_key(qpdf, element, "/A", attributes);
  }
  if (qpdf_oh_has_key(qpdf, element, "/K"))
    visit(finish, qpdf_oh_get_key(qpdf, element, "/K"), scope, depth + 1);
}

/* Tabs follow the structure, and each link says where it goes. */
static void
describe_links(qpdf_data qpdf, const char *const *links) {
  const int n = qpdf_get_num_pages(qpdf);
  for (int i = 0; i < n; i++) {
    qpdf_oh page = qpdf_get_page_n(qpdf, (size_t)i);
    qpdf_oh_replace_key(qpdf, page, "/Tabs", qpdf_oh_new_name(qpdf, "/S"));
    qpdf_oh annotations = qpdf_oh_get_key(qpdf, page, "/Annots");
    if (!qpdf_oh_is_array(qpdf, annotations))
      continue;
    const int n_annotations = qpdf_oh_get_array_n_items(qpdf, annotations);
    for (int k = 0; k < n_annotations && links && *links; k++) {
      qpdf_oh annotation = qpdf_oh_get_array_item(qpdf, annotations, k);
      if (is_named(qpdf, annotation, "/Subtype", "/Link"))
        qpdf_oh_replace_key(qpdf, annotation, "/Contents",
                            qpdf_oh_new_unicode_string(qpdf, *links++));
    }
  }
}

/* Pages are asked for once: their list is copied by every call. */
static gboolean
mark_artifacts(qpdf_data qpdf) {
  const int n = qpdf_get_num_pages(qpdf);
  for (int i = 0; i < n; i++) {
    qpdf_oh contents = qpdf_oh_get_key(qpdf, qpdf_get_page_n(qpdf, (size_t)i), "/Contents");
    if (!qpdf_oh_is_stream(qpdf, contents))
      continue;
    unsigned char *data = NULL;
    size_t length = 0, n_marked;
    if (qpdf_oh_get_stream_data(qpdf, contents, qpdf_dl_all, NULL, &data, &length) & QPDF_ERRORS)
      return FALSE;
    g_autofree char *marked = demur_pdf_mark_artifacts((const char *)data, length, &n_marked);
    free(data);
    if (marked)
      qpdf_oh_replace_stream_data(qpdf, contents, (const unsigned char *)marked, n_marked,
                                  qpdf_oh_new_null(qpdf), qpdf_oh_new_null(qpdf));
  }
  return TRUE;
}

static qpdf_oh
new_stream(qpdf_data qpdf, const void *data, size_t n) {
  qpdf_oh stream = qpdf_oh_new_stream(qpdf);
  qpdf_oh_replace_stream_data(qpdf, stream, data, n, qpdf_oh_new_null(qpdf),
                              qpdf_oh_new_null(qpdf));
  return stream;
}

static void
add_metadata(qpdf_data qpdf, const DemurPdfFacts *facts) {
  const char *language = facts->language ? facts->language : "en";
  g_autofree char *title = g_markup_escape_text(facts->title ? facts->title : "", -1),
                  *subject = g_markup_escape_text(facts->subject ? facts->subject : "", -1),
                  *version = g_markup_escape_text(facts->version ? facts->version : "", -1);
  GString *xmp = g_string_new(NULL);
  g_string_append_printf(
      xmp,
      "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
      "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
      "<rdf:Description rdf:about=\"\"\n"
      "  xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
      "  xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\"\n"
      "  xmlns:demur=\"urn:demur:report:1\">\n"
      "<dc:format>application/pdf</dc:format>\n"
      "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">%s</rdf:li></rdf:Alt></dc:title>\n"
      "<dc:description><rdf:Alt><rdf:li xml:lang=\"x-default\">%s</rdf:li></rdf:Alt>"
      "</dc:description>\n"
      "<dc:creator><rdf:Seq><rdf:li>Demur</rdf:li></rdf:Seq></dc:creator>\n"
      "<dc:language><rdf:Bag><rdf:li>%s</rdf:li></rdf:Bag></dc:language>\n"
      "<xmp:CreatorTool>Demur %s</xmp:CreatorTool>\n",
      title, subject, language, version);
  if (facts->created)
    g_string_append_printf(xmp,
                           "<xmp:CreateDate>%s</xmp:CreateDate>\n"
                           "<xmp:ModifyDate>%s</xmp:ModifyDate>\n",
                           facts->created, facts->created);
  if (facts->numbers_digest)
    g_string_append_printf(xmp, "<demur:numbersDigest>%s</demur:numbersDigest>\n",
                           facts->numbers_digest);
  g_string_append(xmp, "</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>\n");
  qpdf_oh stream = new_stream(qpdf, xmp->str, xmp->len);
  qpdf_oh dictionary = qpdf_oh_get_dict(qpdf, stream);
  qpdf_oh_replace_key(qpdf, dictionary, "/Type", qpdf_oh_new_name(qpdf, "/Metadata"));
  qpdf_oh_replace_key(qpdf, dictionary, "/Subtype", qpdf_oh_new_name(qpdf, "/XML"));
  qpdf_oh_replace_key(qpdf, qpdf_get_root(qpdf), "/Metadata", stream);
  g_string_free(xmp, TRUE);
}

/* Numbers for red, green and blue are those of sRGB. */
static void
add_output_intent(qpdf_data qpdf) {
  size_t n;
  g_autofree guchar *profile = demur_srgb_profile(&n);
  qpdf_oh stream = new_stream(qpdf, profile, n);
  qpdf_oh_replace_key(qpdf, qpdf_oh_get_dict(qpdf, stream), "/N", qpdf_oh_new_integer(qpdf, 3));
  qpdf_oh intent = qpdf_oh_new_dictionary(qpdf);
  qpdf_oh_replace_key(qpdf, intent, "/Type", qpdf_oh_new_name(qpdf, "/OutputIntent"));
  qpdf_oh_replace_key(qpdf, intent, "/S", qpdf_oh_new_name(qpdf, "/GTS_PDFA1"));
  qpdf_oh_replace_key(qpdf, intent, "/OutputConditionIdentifier",
                      qpdf_oh_new_string(qpdf, "sRGB IEC61966-2.1"));
  qpdf_oh_replace_key(qpdf, intent, "/Info", qpdf_oh_new_string(qpdf, "sRGB IEC61966-2.1"));
  qpdf_oh_replace_key(qpdf, intent, "/DestOutputProfile", stream);
  qpdf_oh intents = qpdf_oh_new_array(qpdf);
  qpdf_oh_append_item(qpdf, intents, qpdf_make_indirect_object(qpdf, intent));
  qpdf_oh_replace_key(qpdf, qpdf_get_root(qpdf), "/OutputIntents", intents);
}

guchar *
demur_pdf_finish(const guchar *pdf, size_t n, const DemurPdfFacts *facts, size_t *n_out,
                 GError **error) {
  guchar *result = NULL;
  const char *const *alternatives = facts->alternatives;
  qpdf_data qpdf = qpdf_init();
  Finish finish = {qpdf, alternatives, 0};
  qpdf_silence_errors(qpdf);
  qpdf_set_suppress_warnings(qpdf, QPDF_TRUE);
  if (qpdf_read_memory(qpdf, "report", (const char *)pdf, n, NULL) & QPDF_ERRORS)
    goto out;
  qpdf_oh root = qpdf_get_root(qpdf);
  qpdf_oh_replace_key(qpdf, root, "/Lang",
                      qpdf_oh_new_string(qpdf, facts->language ? facts->language : "en"));
  qpdf_oh viewer = qpdf_oh_new_dictionary(qpdf);
  qpdf_oh_replace_key(qpdf, viewer, "/DisplayDocTitle", qpdf_oh_new_bool(qpdf, QPDF_TRUE));
  qpdf_oh_replace_key(qpdf, root, "/ViewerPreferences", viewer);
  if (qpdf_oh_has_key(qpdf, root, "/StructTreeRoot"))
    visit(&finish, qpdf_oh_get_key(qpdf, root, "/StructTreeRoot"), "/Column", 0);
  const size_t n_texts = (size_t)(finish.alternatives - alternatives);
  if (*finish.alternatives || finish.n_figures != n_texts) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the PDF has %zu tagged figures, expected one for each of its alternative texts; "
        "this Cairo does not write the tags the report needs",
        finish.n_figures);
    goto out;
  }
  if (!mark_artifacts(qpdf))
    goto out;
  describe_links(qpdf, facts->links);
  add_metadata(qpdf, facts);
  add_output_intent(qpdf);
  qpdf_oh info = qpdf_oh_get_key(qpdf, qpdf_get_trailer(qpdf), "/Info");
  if (qpdf_oh_is_dictionary(qpdf, info)) {
    if (!facts->created) {
      qpdf_oh_remove_key(qpdf, info, "/CreationDate");
      qpdf_oh_remove_key(qpdf, info, "/ModDate");
    }
    if (facts->numbers_digest)
      qpdf_oh_replace_key(qpdf, info, "/" DEMUR_REPORT_DIGEST_KEY,
                          qpdf_oh_new_string(qpdf, facts->numbers_digest));
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
    demur_error_set(error, DEMUR_ERROR_STATE, "libqpdf could not finish the PDF: %s", why);
  }
  qpdf_cleanup(&qpdf);
  return result;
}
