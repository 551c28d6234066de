#include "report/pdf-document.h"

#include "base/error.h"

#include <cairo-pdf.h>
#include <string.h>

static cairo_status_t
append_bytes(void *closure, const unsigned char *data, unsigned int length) {
  g_byte_array_append(closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

/* "2026-11-27" and "2026-11-27T10:00:00Z" as Cairo reads them; NULL for what is no date. */
static char *
pdf_date(const char *created) {
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
  g_autofree char *text = !created                ? NULL
                          : strlen(created) == 10 ? g_strconcat(created, "T00:00:00Z", NULL)
                                                  : g_strdup(created);
  g_autoptr(GDateTime) date = text ? g_date_time_new_from_iso8601(text, utc) : NULL;
  g_autoptr(GDateTime) in_utc = date ? g_date_time_to_timezone(date, utc) : NULL;
  return in_utc ? g_date_time_format(in_utc, "%Y-%m-%dT%H:%M:%SZ") : NULL;
}

guchar *
demur_pdf_document(DemurLayout *layout, double width, double height, const DemurPdfFacts *facts,
                   size_t *n, GError **error) {
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  cairo_surface_t *surface =
      cairo_pdf_surface_create_for_stream(append_bytes, bytes, width, height);
  g_autofree char *creator = g_strdup_printf("Demur %s", facts->version ? facts->version : "");
  g_autofree char *date = pdf_date(facts->created);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, facts->title);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_AUTHOR, "Demur");
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, facts->subject);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, creator);
  /* Without a date of ours Cairo takes the clock's; then it is removed again below. */
  if (date) {
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_MOD_DATE, date);
  }
  demur_layout_draw_tagged(layout, surface);
  cairo_surface_finish(surface);
  const cairo_status_t status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status != CAIRO_STATUS_SUCCESS) {
    demur_error_set(error, DEMUR_ERROR_STATE, "Cairo could not draw the report: %s",
                    cairo_status_to_string(status));
    return NULL;
  }
  DemurPdfFacts all = *facts;
  all.created = date;
  all.alternatives = demur_layout_alternatives(layout);
  all.links = demur_layout_links(layout);
  return demur_pdf_finish(bytes->data, bytes->len, &all, n, error);
}
