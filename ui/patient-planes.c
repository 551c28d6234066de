/* Three planes at once: coronal and sagittal beside the slices, with a crosshair through all. */
#include "ui/patient-page-private.h"

#include "ui/plane-frame.h"

const DemurCtPlane demur_patient_page_planes[3] = {DEMUR_CT_ACQUIRED, DEMUR_CT_CORONAL,
                                                   DEMUR_CT_SAGITTAL};

gboolean
demur_patient_page_is_three(DemurPatientPage *page) {
  return gtk_widget_get_visible(page->across_box);
}

void
demur_patient_page_update_cross(DemurPatientPage *page) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  double directions[3][3], at_mm[3], point[3];
  gboolean known = demur_patient_page_is_three(page);
  for (int i = 0; i < 3 && known; i++)
    known = demur_ct_view_axis(views[i], directions[i], &at_mm[i]);
  known = known && demur_plane_frame_meet(directions, at_mm, point);
  for (int i = 0; i < 3; i++)
    demur_ct_view_set_cross(views[i], known ? point : NULL);
}

void
demur_patient_page_fill_three(DemurPatientPage *page) {
  DemurImage *image = demur_ct_view_image(page->view);
  const DemurScan *scan = demur_session_scan(page->session);
  const char *reason;
  if (!demur_patient_page_is_three(page))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 2; i++)
    if (image == NULL || scan == NULL || !demur_image_is_volume(image) ||
        !demur_ct_view_can_show(page->view, demur_patient_page_planes[i + 1], &reason)) {
      demur_ct_view_clear(page->across[i], image == NULL || !demur_image_is_whole(image)
                                               ? _("Reading the images…")
                                               : reason);
    } else if (demur_ct_view_image(page->across[i]) != image) {
      demur_ct_view_set_image(page->across[i], image, scan);
      demur_ct_view_set_plane(page->across[i], demur_patient_page_planes[i + 1]);
      demur_ct_view_follow_grey(page->across[i], page->view);
    }
  page->crossing = FALSE;
  demur_patient_page_update_cross(page);
}

void
demur_patient_page_share_grey(DemurPatientPage *page, DemurCtView *from) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  if (page->crossing || !demur_patient_page_is_three(page))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 3; i++)
    if (views[i] != from && demur_ct_view_image(views[i]) != NULL)
      demur_ct_view_follow_grey(views[i], from);
  page->crossing = FALSE;
  demur_patient_page_update_cross(page);
}

void
demur_patient_page_on_across_changed(DemurCtView *from, DemurPatientPage *page) {
  demur_patient_page_share_grey(page, from);
}

void
demur_patient_page_on_placed(DemurCtView *from, DemurPatientPage *page) {
  DemurCtView *const views[3] = {page->view, page->across[0], page->across[1]};
  double point[3];
  if (!demur_ct_view_placed(from, point))
    return;
  page->crossing = TRUE;
  for (int i = 0; i < 3; i++)
    if (views[i] != from)
      demur_ct_view_show_point(views[i], point);
  page->crossing = FALSE;
  demur_patient_page_update_cross(page);
}

void
demur_patient_page_toggle_three(DemurPatientPage *page) {
  const char *reason;
  if (!demur_patient_page_is_three(page) &&
      !demur_ct_view_can_show(page->view, DEMUR_CT_CORONAL, &reason)) {
    if (demur_ct_view_image(page->view) != NULL)
      demur_session_notice(page->session, reason, FALSE);
    return;
  }
  demur_ct_view_set_plane(page->view, DEMUR_CT_ACQUIRED);
  gtk_widget_set_visible(page->across_box, !demur_patient_page_is_three(page));
  demur_patient_page_fill_three(page);
  demur_patient_page_update_cross(page);
  demur_patient_page_update_tools(page);
}

void
demur_patient_page_set_plane(DemurPatientPage *page, DemurCtPlane plane) {
  const char *reason;
  if (!demur_ct_view_can_show(page->view, plane, &reason)) {
    if (demur_ct_view_image(page->view) != NULL)
      demur_session_notice(page->session, reason, FALSE);
    return;
  }
  if (demur_patient_page_is_three(page) && plane != DEMUR_CT_ACQUIRED)
    demur_patient_page_toggle_three(page);
  demur_ct_view_set_plane(page->view, plane);
  if (gtk_widget_get_visible(page->prior_box))
    demur_ct_view_set_plane(page->prior, plane);
}
