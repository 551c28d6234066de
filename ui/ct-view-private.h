/* What the files of the image's view share: its state, what is worked out from it, and how a change
 * reaches the screen. Each file holds one idea; this header says which. */
#pragma once

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "ui/ct-view.h"
#include "ui/image-data.h"
#include "ui/plane-frame.h"
#include "ui/shown.h"
#include "ui/words.h"

G_BEGIN_DECLS

struct _DemurCtView {
  GtkWidget parent_instance;
  char *sentence;
  DemurImage *image;
  /* What stands on it, copied from the scan. */
  char *top_left, *top_right, *warning;
  DemurCtPlane plane;
  size_t slice[DEMUR_N_CT_PLANES]; /* by plane */
  double width, level;
  int preset;            /* -1: by hand */
  gboolean own_is_range; /* the file has no window: its range instead */
  gboolean invert;
  double slab_mm;
  double zoom, pan_x, pan_y;
  /* What is shown now. */
  DemurReformat *cut; /* NULL: a slice as acquired */
  const gint16 *hu;   /* [rows][columns] */
  size_t rows, columns;
  double spacing[2]; /* between rows, between columns */
  char left[4], right[4], up[4], down[4];
  GdkTexture *texture;
  guint8 *table; /* [65536] grey of each CT number */
  gboolean table_stale, texture_stale, cut_stale;
  double pointer_x, pointer_y;
  gboolean has_pointer;
  double drag_width, drag_level, drag_x, drag_y;
  size_t wanted; /* the slice that was asked for while the rest is being read */
  DemurSlab slab;
  DemurTool tool;
  GArray *measured;   /* of DemurMeasured, of this image */
  GArray *keys;       /* of DemurMeasured without places: key images */
  gboolean measuring; /* the last one is being drawn */
  gboolean has_cross, has_placed;
  double cross_mm[3], placed_mm[3];
  gboolean has_cursor, placing; /* measuring by keys; the last place follows the cursor */
  DemurPlace cursor;
  gboolean is_beside; /* the same scan's facts stand beside it */
  GArray *drawn;      /* of DemurDrawnText */
  guint cine;         /* a tick callback; 0: it stands */
  gint64 cine_time;
};

/* ct-view.c. After a change: what is shown is worked out anew, described and drawn; "changed". */
void demur_ct_view_changed(DemurCtView *view);

/* ct-plane.c: which slice of which plane. */

/* The planes as dicom/reformat.h names them. */
extern const DemurPlane demur_ct_cut_planes[DEMUR_N_CT_PLANES];
/* Slices lie in the volume by their place along the normal. They are numbered and scrolled as the
 * archive has them, by InstanceNumber, or from the head down where that is not recorded. */
gboolean demur_ct_view_runs_backwards(const DemurSeries *series);
/* The number that is shown for slice (from 0) of the n of the plane. */
size_t demur_ct_view_numbered(DemurCtView *view, size_t slice, size_t n);
/* Between the slices of the plane that is shown, in mm; NaN: not known. */
double demur_ct_view_plane_spacing(DemurCtView *view);

/* ct-pixels.c: the CT numbers of what is shown, and their grey. */

/* Cuts, greys and uploads what is stale. */
void demur_ct_view_refresh(DemurCtView *view);
/* Where the image lies in the widget. */
graphene_rect_t demur_ct_view_image_rect(DemurCtView *view);
/* The pixel under the pointer; FALSE where there is none. */
gboolean demur_ct_view_pointer_pixel(DemurCtView *view, size_t *row, size_t *column);
/* A place of the widget on the plane, in pixels. */
DemurPlace demur_ct_view_place_at(DemurCtView *view, double x, double y);

/* ct-position.c: where it lies in the patient. */

/* FALSE where that is not known. */
gboolean demur_ct_view_frame(DemurCtView *view, DemurPlaneFrame *frame);
/* The cross on the plane, in pixels; FALSE: none. */
gboolean demur_ct_view_cross_place(DemurCtView *view, DemurPlace *place);
/* By a person: signal "placed". */
void demur_ct_view_place_cross(DemurCtView *view, DemurPlace place);

/* ct-measured.c: what is drawn on the images. */

/* Whether it lies on what is shown: plane, slice and slab; and whether there is something of it. */
gboolean demur_ct_view_is_on(DemurCtView *view, const DemurMeasured *measured);
gboolean demur_ct_view_is_measured_on(DemurCtView *view, const DemurMeasured *measured);
void demur_ct_view_begin_measure(DemurCtView *view, DemurPlace place);
void demur_ct_view_go_on_measuring(DemurCtView *view, DemurPlace place);
/* Moves the cursor of a tool, else the cross, by pixels. FALSE: there is neither. */
gboolean demur_ct_view_nudge(DemurCtView *view, double dx, double dy);

/* ct-words.c: what stands on the image (owned), and the description for those who can't see it. */

char *demur_ct_view_slice_text(DemurCtView *view);
char *demur_ct_view_window_text(DemurCtView *view);
char *demur_ct_view_pointer_text(DemurCtView *view);
char *demur_ct_view_measured_text(DemurCtView *view, const DemurMeasured *measured);
void demur_ct_view_copy_facts(DemurCtView *view, const DemurScan *scan);
void demur_ct_view_clear_facts(DemurCtView *view);
void demur_ct_view_describe(DemurCtView *view);

/* ct-draw.c and ct-input.c: the widget's picture; its mouse and keys. */
void demur_ct_view_snapshot(GtkWidget *widget, GtkSnapshot *snapshot);
void demur_ct_view_add_controllers(DemurCtView *view);

G_END_DECLS
