/* What readers drew on images: lengths, angles, regions, key images. Each is bound to the digest of
 * the images that it was made on, so that it is never shown on others. Nothing is overwritten or
 * taken out: what is taken off the image is another row that says who did, and when. No verdict
 * rests on any of it. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_ANNOTATION_LENGTH,
  DEMUR_ANNOTATION_ANGLE,
  DEMUR_ANNOTATION_REGION,    /* the ellipse in a box */
  DEMUR_ANNOTATION_KEY_IMAGE, /* a slice as it was seen */
  DEMUR_N_ANNOTATIONS,
} DemurAnnotationKind;

/* "length", "angle", "region", "key_image". */
const char *demur_annotation_kind_name(DemurAnnotationKind kind);

/* What was drawn on, in the order of what shows it: ui/ct-view.h, dicom/reformat.h. */
typedef enum {
  DEMUR_DRAWN_ACQUIRED,
  DEMUR_DRAWN_CORONAL,
  DEMUR_DRAWN_SAGITTAL,
  DEMUR_N_DRAWN_PLANES,
} DemurDrawnPlane;

typedef enum {
  DEMUR_DRAWN_MAXIMUM,
  DEMUR_DRAWN_MEAN,
  DEMUR_DRAWN_MINIMUM,
  DEMUR_N_DRAWN_SLABS,
} DemurDrawnSlab;

#define DEMUR_ANNOTATION_PLACES 3

typedef struct {
  gint64 id; /* set when saved and loaded; grows with time */
  char *scan_id;
  char *images_digest; /* of what was measured on (dicom/content-digest.h) */
  DemurAnnotationKind kind;
  DemurDrawnPlane plane;
  gint64 slice;                      /* of the plane, from 0, in the volume's order */
  gint64 number, n_slices;           /* as the reader was shown it: "slice 61 of 122" */
  double slab_mm;                    /* 0: none */
  DemurDrawnSlab slab;               /* of slab_mm above 0 */
  guint n_places;                    /* 0 to 3 */
  double x[DEMUR_ANNOTATION_PLACES]; /* in pixels of the plane (ui/measure.h): columns */
  double y[DEMUR_ANNOTATION_PLACES]; /* and rows */
  double value;                      /* length, angle or mean; NaN: none */
  double sd, area_mm2;               /* of a region; NaN: not known */
  gint64 n_pixels;                   /* of a region */
  gboolean in_pixels;                /* value is of pixels: no spacing is known */
  char *unit;                        /* of value, to show: "mm", "pixel", "degree", "HU" .. */
  double window_width, window_level; /* that the image was seen in */
  char *user, *created;              /* who and when (ISO 8601, UTC) */
} DemurAnnotation;

void demur_annotation_free(DemurAnnotation *annotation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAnnotation, demur_annotation_free)

/* Adds it and sets its id. DEMUR_ERROR_NOT_FOUND where the workspace has no such series,
 * DEMUR_ERROR_STATE where its images are others by now. */
gboolean demur_annotations_save(DemurWorkspace *workspace, DemurAnnotation *annotation,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes it off, for everyone who looks from now on. DEMUR_ERROR_NOT_FOUND for none of that id,
 * DEMUR_ERROR_STATE for one that is off already. */
gboolean demur_annotations_take_off(DemurWorkspace *workspace, gint64 id, const char *user,
                                    const char *created, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurAnnotation on these images of the scan that were not taken off, oldest first (owned,
 * frees its elements). until: what the log knew with that event (its sequence); 0: all. */
GPtrArray *demur_annotations_list(DemurWorkspace *workspace, const char *scan_id,
                                  const char *images_digest, gint64 until,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
