/* What the files of the patient's page share: its state, and the steps of one idea that another one
 * asks for. Each file holds one idea; this header says which. */
#pragma once

#include <string.h>

#include "ui/patient-page.h"
#include "ui/scan-words.h"
#include "ui/shown.h"
#include "ui/verdict-card.h"
#include "ui/words.h"

G_BEGIN_DECLS

struct _DemurPatientPage {
  GtkBox parent_instance;
  DemurSession *session;
  gboolean shown;
  GtkBox *side;
  DemurCtView *view, *prior;
  DemurCtView *across[2]; /* coronal and sagittal, of three planes at once */
  GtkWidget *across_box, *three, *cine;
  GtkWidget *prior_box;
  GtkWidget *plane[DEMUR_N_CT_PLANES], *slab, *compare;
  GtkWidget *tool[DEMUR_N_TOOLS]; /* NULL of DEMUR_TOOL_NONE */
  GtkBox *presets;
  DemurVerdictCard *card;
  /* Results carry the generation of the case they were asked for; a late one finds another number
   * here and is dropped. */
  guint64 generation;
  DemurJob *image_job, *slice_job, *prior_job, *prior_slice_job, *pictures_job;
  gssize prior_row;            /* -1: none */
  char *case_source, *case_id; /* what is shown: read again it is kept as it is seen */
  char *prior_id;              /* the prior that was chosen */
  GArray *priors;              /* guint32 rows of the earlier scans, the newest first */
  GtkDropDown *prior_menu;
  GtkWidget *link;
  gboolean linked, aligned, following, filling, crossing;
  double link_mm[3]; /* from the current scan's place to the prior's */
  GtkWidget *key;
  GHashTable *pictures; /* scan_id -> the GtkPicture of a series of the study */
  GtkBox *marks;        /* in the side: what was drawn on the current scan's images */
  GPtrArray *drawn;     /* of DemurAnnotation, the same */
};

/* The planes in the order of their buttons. */
extern const DemurCtPlane demur_patient_page_planes[3];

/* patient-images.c: reading them, slice by slice and whole, of the case and of the prior. */
void demur_patient_page_load_images(DemurPatientPage *page);
void demur_patient_page_load_prior(DemurPatientPage *page);
void demur_patient_page_on_wanted(DemurCtView *view, guint slice, DemurPatientPage *page);
void demur_patient_page_on_prior_wanted(DemurCtView *view, guint slice, DemurPatientPage *page);

/* patient-prior.c: the prior beside the current scan, aligned by position in mm, never by steps. */
gboolean demur_patient_page_both_shown(DemurPatientPage *page);
/* The other of the two goes where from is. */
void demur_patient_page_follow(DemurPatientPage *page, DemurCtView *from);
/* The earlier scans to choose from: the one that was chosen, else the newest. */
void demur_patient_page_fill_priors(DemurPatientPage *page);
void demur_patient_page_on_prior_changed(DemurPatientPage *page);
void demur_patient_page_on_prior_chosen(DemurPatientPage *page);

/* patient-planes.c: three planes at once; each shows where the others cut it. */
gboolean demur_patient_page_is_three(DemurPatientPage *page);
void demur_patient_page_update_cross(DemurPatientPage *page);
/* The whole image of the main view, in the two others too. */
void demur_patient_page_fill_three(DemurPatientPage *page);
/* Grey goes with whichever view it was changed in. */
void demur_patient_page_share_grey(DemurPatientPage *page, DemurCtView *from);
void demur_patient_page_on_across_changed(DemurCtView *from, DemurPatientPage *page);
void demur_patient_page_on_placed(DemurCtView *from, DemurPatientPage *page);

/* patient-marks.c: what is drawn on images and kept. */
void demur_patient_page_on_measured(DemurCtView *view, DemurPatientPage *page);
/* Reads anew what is kept of the images that are shown, and shows it on them. */
void demur_patient_page_show_drawn(DemurPatientPage *page);
/* The list in the side: a button goes there. */
void demur_patient_page_fill_marks(DemurPatientPage *page);

/* patient-side.c: the left-hand column; patient-study.c: the study's series in it, with pictures. */
void demur_patient_page_update_side(DemurPatientPage *page);
/* A line of it. style NULL: none. The label is borrowed. */
GtkWidget *demur_patient_page_add_text(GtkBox *box, const char *text, const char *style);
/* A button that opens the scan of that row of the table. */
void demur_patient_page_add_screen_button(DemurPatientPage *page, guint32 row, GtkWidget *child,
                                          const char *name, gboolean current);
void demur_patient_page_add_study(DemurPatientPage *page, size_t row);
void demur_patient_page_load_pictures(DemurPatientPage *page);

/* patient-tools.c: what stands above the image. */
void demur_patient_page_update_tools(DemurPatientPage *page);

G_END_DECLS
