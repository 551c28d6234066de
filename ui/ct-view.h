/* The image of a scan: window and level on the processor, planes and sliding MIP from the volume,
 * what must always be seen with it drawn on it. */
#pragma once

#include <gtk/gtk.h>

#include "tasks/ct-presets.h"
#include "dicom/reformat.h"
#include "ui/image.h"
#include "ui/measures.h"
#include "tasks/scan.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_CT_VIEW (demur_ct_view_get_type())
G_DECLARE_FINAL_TYPE(DemurCtView, demur_ct_view, DEMUR, CT_VIEW, GtkWidget)

/* Planes that can be chosen; the acquired slices are never turned or interpolated. */
typedef enum {
  DEMUR_CT_ACQUIRED,
  DEMUR_CT_CORONAL,
  DEMUR_CT_SAGITTAL,
  DEMUR_N_CT_PLANES,
} DemurCtPlane;

/* "axial" (the acquired slices, however they lie), "coronal", "sagittal": the target of win.plane.
 * FALSE: there is none of that name. */
const char *demur_ct_plane_name(DemurCtPlane plane);
gboolean demur_ct_plane_from_name(const char *name, DemurCtPlane *plane) G_GNUC_WARN_UNUSED_RESULT;

/* Those of tasks/ct-presets.h, and behind them the one that the file asks for. */
#define DEMUR_N_PRESETS (DEMUR_N_CT_PRESETS + 1)

/* Signals: "changed" (what is shown is another: plane, slice, window);
 *          "scrolled": by a person, to another slice; "placed": the cross, by a person;
 *          "measured": a measurement is complete (demur_ct_view_measured);
 *          "wanted" (guint slice): scrolled there while the rest is being read. A template makes the
 *          view, and names it. */

/* Shows nothing but a sentence; scan's facts (copied) stand on the image. NULL: none. */
void demur_ct_view_clear(DemurCtView *view, const char *sentence);
/* The image is referenced. scan is read at once, not kept. Slice, zoom and window start anew unless
 * the image is of the same scan. */
void demur_ct_view_set_image(DemurCtView *view, DemurImage *image, const DemurScan *scan);
DemurImage *demur_ct_view_image(DemurCtView *view); /* borrowed; NULL: none */

void demur_ct_view_preset(DemurCtView *view, guint preset); /* 0 .. 4 */
void demur_ct_view_window(DemurCtView *view, double width, double level);
void demur_ct_view_get_window(DemurCtView *view, double *width, double *level);
void demur_ct_view_invert(DemurCtView *view);
void demur_ct_view_reset(DemurCtView *view);
void demur_ct_view_zoom(DemurCtView *view, double factor);

/* FALSE with the reason (borrowed) where the volume can't be cut so. */
gboolean demur_ct_view_can_show(DemurCtView *view, DemurCtPlane plane, const char **reason);
void demur_ct_view_set_plane(DemurCtView *view, DemurCtPlane plane);
DemurCtPlane demur_ct_view_plane(DemurCtView *view);

/* Beside another view of the same scan: of its facts only who and when stand on it. */
void demur_ct_view_set_beside(DemurCtView *view);

/* A text that stands on the image, as it was drawn last: for the check of the layout. */
typedef struct {
  char *text;
  graphene_rect_t bounds; /* in the view */
  gboolean is_cut;        /* ends early */
  gboolean is_measure;    /* lies where a person drew: may meet another */
} DemurDrawnText;

const GArray *demur_ct_view_drawn(DemurCtView *view); /* of DemurDrawnText, borrowed */

/* What dragging with the first button measures; none: it changes the window. */
void demur_ct_view_set_tool(DemurCtView *view, DemurTool tool);
DemurTool demur_ct_view_tool(DemurCtView *view);
/* What was measured last, complete and not kept yet, with the slice that it is of: into annotation,
 * whose texts are borrowed. FALSE: nothing is. */
gboolean demur_ct_view_measured(DemurCtView *view, DemurAnnotation *annotation);
/* It is kept under that id. */
void demur_ct_view_set_kept(DemurCtView *view, gint64 id);
/* The slice that is shown, as it is seen, as a key image (texts borrowed). FALSE: there is none. */
gboolean demur_ct_view_key_image(DemurCtView *view, DemurAnnotation *annotation);
/* What is kept of this image (array of DemurAnnotation, not kept by the view), in place of what it
 * had; what is not kept yet stays. */
void demur_ct_view_set_annotations(DemurCtView *view, const GPtrArray *annotations);
/* The ids (owned, n) of what lies on the slice that is shown: measurements, or that it is a key
 * image. */
gint64 *demur_ct_view_here(DemurCtView *view, gboolean key_images, gsize *n);
/* Shows the slice, plane and slab that it lies on; of a key image its window too. */
void demur_ct_view_show_annotation(DemurCtView *view, const DemurAnnotation *annotation);
/* What was measured on this slice and is not kept goes. */
void demur_ct_view_remove_measures(DemurCtView *view);

/* Whether a slab shows its maximum, mean or minimum. */
void demur_ct_view_set_slab_kind(DemurCtView *view, DemurSlab slab);
DemurSlab demur_ct_view_slab_kind(DemurCtView *view);
const char *demur_ct_view_slab_name(DemurSlab slab); /* "MIP", "Mean", "MinIP" */

/* Thickness of the sliding slab; 0: none. */
void demur_ct_view_set_slab(DemurCtView *view, double mm);
double demur_ct_view_slab(DemurCtView *view);

size_t demur_ct_view_n_slices(DemurCtView *view);
size_t demur_ct_view_slice(DemurCtView *view);
void demur_ct_view_set_slice(DemurCtView *view, size_t slice);
void demur_ct_view_scroll(DemurCtView *view, int slices);

/* A place in the patient, in mm, on the plane that is shown: along what the plane moves along when
 * it is scrolled, 0 across it. FALSE where the slices have no positions. */
gboolean demur_ct_view_point(DemurCtView *view, double point[3]);
/* Shows the slice nearest to the point, without telling it: half a slice at most beside it, but at
 * the ends. */
void demur_ct_view_show_point(DemurCtView *view, const double point[3]);
/* Whether the point lies within the stack, half a slice beyond its ends. */
gboolean demur_ct_view_has_point(DemurCtView *view, const double point[3]);
/* The point of the middle slice. */
gboolean demur_ct_view_middle(DemurCtView *view, double point[3]);
/* The direction along which the shown plane's slices lie, and where along it this one does, in mm.
 */
gboolean demur_ct_view_axis(DemurCtView *view, double direction[3], double *at_mm);
/* Crosses two lines at the point's foot on the plane; NULL: none. With a cross, a click places it:
 * signal "placed". */
void demur_ct_view_set_cross(DemurCtView *view, const double point_mm[3]);
/* Where a person placed the cross last. */
gboolean demur_ct_view_placed(DemurCtView *view, double point_mm[3]);

/* Runs through the slices, over and over, until it is stopped or something else is shown. */
void demur_ct_view_set_cine(DemurCtView *view, gboolean run);
gboolean demur_ct_view_cine(DemurCtView *view);

/* Measuring by keys: with a tool, Shift and an arrow move a cursor, and this sets the next place
 * there; the last place follows the cursor until it is set. */
void demur_ct_view_set_place(DemurCtView *view);

/* Takes window and inversion from another view, without telling it. */
void demur_ct_view_follow_grey(DemurCtView *view, DemurCtView *leader);
/* Takes window, inversion, slab and what is seen (mm to a pixel of the screen, panned alike) from
 * another view, without telling it. */
void demur_ct_view_follow(DemurCtView *view, DemurCtView *leader);

G_END_DECLS
