/* One case: the patient's scans on the left, images in the middle, the verdict on the right. */
#pragma once

#include <gtk/gtk.h>

#include "ui/ct-view.h"
#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_PATIENT_PAGE (demur_patient_page_get_type())
G_DECLARE_FINAL_TYPE(DemurPatientPage, demur_patient_page, DEMUR, PATIENT_PAGE, GtkBox)

DemurPatientPage *demur_patient_page_new(DemurSession *session);

/* Images are read only while the page is shown. */
void demur_patient_page_set_shown(DemurPatientPage *page, gboolean shown);
DemurCtView *demur_patient_page_view(DemurPatientPage *page);
/* The view that keys act on: the one with the focus, else the current scan's. */
DemurCtView *demur_patient_page_active_view(DemurPatientPage *page);
void demur_patient_page_set_plane(DemurPatientPage *page, DemurCtPlane plane);
void demur_patient_page_next_slab(DemurPatientPage *page);
/* Maximum, mean, minimum; of 5 mm where there was no slab. */
void demur_patient_page_next_slab_kind(DemurPatientPage *page);
/* The same again puts it away. */
void demur_patient_page_set_tool(DemurPatientPage *page, DemurTool tool);
/* Takes what was measured off the slice that has the focus, for all readers. */
void demur_patient_page_remove_measures(DemurPatientPage *page);
/* The slice that has the focus becomes a key image, or is none any more. */
void demur_patient_page_toggle_key_image(DemurPatientPage *page);
void demur_patient_page_toggle_prior(DemurPatientPage *page);

/* The prior moves with the current scan; released it moves by itself, and linked again it keeps the
 * distance that it then has. */
/* Coronal and sagittal beside the slices, with a crosshair through all three. */
void demur_patient_page_toggle_three(DemurPatientPage *page);
void demur_patient_page_toggle_link(DemurPatientPage *page);

/* Review in two keys (ui/verdict-card.h). */
void demur_patient_page_propose(DemurPatientPage *page, DemurReviewKind kind);
gboolean demur_patient_page_keep(DemurPatientPage *page); /* FALSE: nothing waits */
gboolean demur_patient_page_drop(DemurPatientPage *page);

G_END_DECLS
