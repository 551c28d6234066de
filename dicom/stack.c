#include "dicom/stack.h"

#include <string.h>

#include "dicom/content-digest.h"

static int
compare_number(gint64 a, gint64 b) {
  return a < b ? -1 : a > b;
}

int
demur_stack_compare_place(const DemurStackImage *a, const DemurStackImage *b) {
  const int paths = strcmp(a->file->path, b->file->path);
  if (paths != 0)
    return paths;
  const int entries = g_strcmp0(a->file->entry, b->file->entry);
  return entries != 0 ? entries : compare_number(a->frame, b->frame);
}

/* By InstanceNumber (unknown ones last), then by place. */
int
demur_stack_compare_instance(const DemurStackImage *a, const DemurStackImage *b) {
  const gint64 x = a->file->header->instance_number, y = b->file->header->instance_number;
  if (x != y && (x == DEMUR_NO_NUMBER || y == DEMUR_NO_NUMBER))
    return x == DEMUR_NO_NUMBER ? 1 : -1;
  return x != y ? compare_number(x, y) : demur_stack_compare_place(a, b);
}

int
demur_stack_order_by_instance(gconstpointer a, gconstpointer b) {
  return demur_stack_compare_instance(*(DemurStackImage *const *)a, *(DemurStackImage *const *)b);
}

int
demur_stack_order_by_distance(gconstpointer a, gconstpointer b) {
  const DemurStackImage *x = *(DemurStackImage *const *)a, *y = *(DemurStackImage *const *)b;
  if (x->distance < y->distance)
    return -1;
  if (x->distance > y->distance)
    return 1;
  return demur_stack_compare_instance(x, y);
}

gboolean
demur_stack_same_pixels(const DemurStackImage *a, const DemurStackImage *b) {
  return a->file->pixel_digests != NULL && b->file->pixel_digests != NULL &&
         memcmp(a->file->pixel_digests + (size_t)a->frame * DEMUR_SHA256_BYTES,
                b->file->pixel_digests + (size_t)b->frame * DEMUR_SHA256_BYTES,
                DEMUR_SHA256_BYTES) == 0;
}

void
demur_stack_digest_slice(const DemurStackImage *image, char hex[DEMUR_SHA256_HEX]) {
  demur_content_digest_slice(image->file->header, image->frame,
                             image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES,
                             hex);
}
