/* Whether an object's pixels are there whole and of a kind that is read, by their extent alone: nothing is
 * decoded. Inside this room. */
#pragma once

#include "dicom/header.h"

G_BEGIN_DECLS

/* The element of the pixel data, as the walk over the data set met it. */
typedef struct {
  gboolean found;
  gboolean unreadable; /* float or double pixel data */
  gboolean undefined;  /* its length: in fragments */
  guint32 length;
} DemurPixelElement;

/* Fills pixels, pixels_problem, pixels_length, encapsulated and the fragments of the header, whose other
 * members are read. */
void demur_pixel_extent_check(DemurSource *source, const DemurPixelElement *pixels,
                              DemurHeader *header);

G_END_DECLS
