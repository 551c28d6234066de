/* The images of one series in one plane, before they are volumes: what separates them, and what
 * shows that a volume holds more than one acquisition or reconstruction (dicom/attributes.h). Used
 * by dicom/group.c and dicom/measure.c. */
#pragma once

#include "base/sha256.h"
#include "dicom/series.h"

G_BEGIN_DECLS

#define DEMUR_SAME_POSITION_MM 0.01

typedef struct {
  const DemurFile *file;
  size_t file_index;
  guint32 frame;
  DemurFrame facts;
  gboolean has_normal, has_position;
  double normal[3];
  double distance; /* along the normal of the stack's first image */
  DemurSliceState state;
  const char *const *values; /* [demur_slice_attributes_n()]; NULL where not recorded */
  char **own_values;         /* the same, where they are the frame's own; texts borrowed */
  guint place;               /* index of its position in the stack; set by _separate */
} DemurStackImage;

void demur_stack_image_free(DemurStackImage *image);

/* Parts (GPtrArray of GPtrArray of DemurStackImage) where positions repeat and one of the
 * attributes, or several after one another, separate them into whole stacks. NULL where no position
 * repeats, or nothing tells what lies at one position apart. images: sorted by distance. Times
 * separate by their gaps. Nothing is ever separated by InstanceNumber, UID or file name. */
GPtrArray *demur_stack_separate(GPtrArray *images);

/* Fills mixed and sideways_mm of the series from its used images, sorted by distance. */
void demur_stack_check(const GPtrArray *images, DemurSeries *series);

/* By path, entry of an archive, frame. */
int demur_stack_compare_place(const DemurStackImage *a, const DemurStackImage *b);

/* By InstanceNumber (unknown ones last), then by place. */
int demur_stack_compare_instance(const DemurStackImage *a, const DemurStackImage *b);

/* For arrays of images: GCompareFunc. By distance, then by instance. */
int demur_stack_order_by_instance(gconstpointer a, gconstpointer b);
int demur_stack_order_by_distance(gconstpointer a, gconstpointer b);

/* FALSE where either was not read. */
gboolean demur_stack_same_pixels(const DemurStackImage *a, const DemurStackImage *b);

/* demur_content_digest_slice of an image whose pixels were read. */
void demur_stack_digest_slice(const DemurStackImage *image, char hex[DEMUR_SHA256_HEX]);

/* By the values of the attributes, in the order of their table: a written rule for ties. */
int demur_stack_compare_values(const DemurStackImage *a, const DemurStackImage *b);

G_END_DECLS
