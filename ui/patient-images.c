/* The images of the case and of its prior: one slice first, then the whole, and what a reader scrolls
 * to meanwhile. Late results carry another generation and are dropped: a wrong patient's image is
 * never shown. */
#include "ui/patient-page-private.h"

#include "base/error.h"

static gboolean
is_of(const DemurScan *scan, const DemurImage *image) {
  return scan != NULL && image != NULL && scan->source == NULL &&
         strcmp(scan->scan_id, demur_image_scan_id(image)) == 0;
}

static void
take_image(DemurPatientPage *page, guint64 tag, DemurImage *image) {
  const DemurScan *scan = demur_session_scan(page->session);
  /* Asked twice: by generation, and by what the image says it is of. */
  const gboolean taken = tag == page->generation && is_of(scan, image);
  if (taken)
    demur_ct_view_set_image(page->view, image, scan);
  demur_patient_page_fill_three(page);
  if (taken)
    demur_patient_page_show_drawn(page);
  demur_image_unref(image);
}

/* One slice that was scrolled to before the whole was there; late, it is of no use any more. */
static void
on_slice(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  page->slice_job = NULL;
  const DemurImage *shown = demur_ct_view_image(page->view);
  if (result != NULL && (shown == NULL || demur_image_is_whole(shown)))
    demur_image_unref(result);
  else if (result != NULL)
    take_image(page, tag, result);
}

void
demur_patient_page_on_wanted(DemurCtView *view, guint slice, DemurPatientPage *page) {
  demur_job_drop(&page->slice_job);
  page->slice_job = demur_image_load_slice(demur_ct_view_image(view), slice, G_OBJECT(page),
                                           page->generation, on_slice);
}

static void
on_image_part(gpointer owner, guint64 tag, gpointer part) {
  take_image(owner, tag, part);
}

static void
on_image(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (result != NULL) {
    if (tag == page->generation)
      page->image_job = NULL;
    take_image(page, tag, result);
    return;
  }
  if (tag != page->generation)
    return;
  page->image_job = NULL;
  if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_autofree char *why = demur_words_error(error);
    g_autofree char *text = g_strdup_printf(_("The images can't be shown: %s"), why);
    demur_ct_view_clear(page->view, text);
    if (g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STATE))
      demur_session_images_changed(page->session);
  }
}

void
demur_patient_page_load_images(DemurPatientPage *page) {
  demur_job_drop(&page->image_job);
  demur_job_drop(&page->slice_job);
  const DemurScan *scan = demur_session_scan(page->session);
  if (scan == NULL) {
    demur_ct_view_clear(page->view, _("No case is open. Choose one in the worklist."));
  } else if (scan->source != NULL) {
    g_autofree char *text = g_strdup_printf(
        _("No images: this scan came from the table of cohort %s, which holds risks and "
          "embeddings only."),
        scan->source);
    demur_ct_view_clear(page->view, text);
  } else {
    /* The same case read again stays as it is seen, until its images come anew. */
    if (!is_of(scan, demur_ct_view_image(page->view)))
      demur_ct_view_clear(page->view, _("Reading the images…"));
    if (page->shown)
      page->image_job = demur_image_load(demur_session_path(page->session), scan->scan_id,
                                         G_OBJECT(page), page->generation, on_image_part, on_image);
  }
}

/* The prior's. */

static void
take_prior(DemurPatientPage *page, guint64 tag, DemurImage *image) {
  DemurScanTable *table = demur_session_table(page->session);
  if (tag == page->generation && page->prior_row >= 0 &&
      is_of(&table->scans[page->prior_row], image)) {
    demur_ct_view_set_image(page->prior, image, &table->scans[page->prior_row]);
    demur_patient_page_show_drawn(page);
  }
  demur_image_unref(image);
  demur_patient_page_follow(page, page->view);
}

/* As on_slice, of the prior. */
static void
on_prior_slice(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  page->prior_slice_job = NULL;
  const DemurImage *shown = demur_ct_view_image(page->prior);
  if (result != NULL && (shown == NULL || demur_image_is_whole(shown)))
    demur_image_unref(result);
  else if (result != NULL)
    take_prior(page, tag, result);
}

void
demur_patient_page_on_prior_wanted(DemurCtView *view, guint slice, DemurPatientPage *page) {
  demur_job_drop(&page->prior_slice_job);
  page->prior_slice_job = demur_image_load_slice(demur_ct_view_image(view), slice, G_OBJECT(page),
                                                 page->generation, on_prior_slice);
}

static void
on_prior_part(gpointer owner, guint64 tag, gpointer part) {
  take_prior(owner, tag, part);
}

static void
on_prior(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (tag == page->generation)
    page->prior_job = NULL;
  if (result != NULL)
    take_prior(page, tag, result);
  else if (tag == page->generation && !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_autofree char *why = demur_words_error(error);
    demur_ct_view_clear(page->prior, why);
  }
}

void
demur_patient_page_load_prior(DemurPatientPage *page) {
  demur_job_drop(&page->prior_job);
  demur_job_drop(&page->prior_slice_job);
  if (!gtk_widget_get_visible(page->prior_box) || page->prior_row < 0)
    return;
  const DemurScan *scan = &demur_session_table(page->session)->scans[page->prior_row];
  if (!is_of(scan, demur_ct_view_image(page->prior))) {
    page->aligned = FALSE;
    demur_ct_view_clear(page->prior, _("Reading the prior…"));
  }
  page->prior_job = demur_image_load(demur_session_path(page->session), scan->scan_id,
                                     G_OBJECT(page), page->generation, on_prior_part, on_prior);
}
