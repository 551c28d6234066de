#include "dicom/acquisition-count.h"

#include <string.h>

#include "base/number.h"
#include "dicom/data-set.h"
#include "dicom/files.h"

#define MAX_DEPTH 4
#define MAX_LENGTH 64
#define MAX_IMAGES 1000000 /* that an acquisition may say it has */

#define TAG_ACQUISITION_NUMBER DEMUR_TAG(0x0020, 0x0012)
#define TAG_IMAGES_IN_ACQUISITION DEMUR_TAG(0x0020, 0x1002)

typedef struct {
  DemurSource *source;
  char *acquisition; /* "": none is named */
  gint64 n_images;   /* 0: it does not say */
} Reading;

typedef struct {
  guint n_here, n_images;
} Acquisition;

static DemurWalk
visit(const DemurElement *element, gpointer data) {
  Reading *reading = data;
  if (element->depth > 0)
    return DEMUR_WALK_ON;
  if (element->tag > TAG_IMAGES_IN_ACQUISITION)
    return DEMUR_WALK_STOP;
  if ((element->tag != TAG_ACQUISITION_NUMBER && element->tag != TAG_IMAGES_IN_ACQUISITION) ||
      element->length > MAX_LENGTH)
    return DEMUR_WALK_ON;
  const guint8 *bytes = demur_source_peek(reading->source, element->offset, element->length);
  g_autofree char *text =
      bytes != NULL ? g_strstrip(g_strndup((const char *)bytes, element->length)) : NULL;
  gint64 number = 0;
  if (text == NULL)
    return DEMUR_WALK_ON;
  if (element->tag == TAG_ACQUISITION_NUMBER) {
    g_free(reading->acquisition);
    reading->acquisition = g_steal_pointer(&text);
  } else if (demur_number_parse_int(text, strlen(text), &number) && number > 0 &&
             number <= MAX_IMAGES) {
    reading->n_images = number;
  }
  return DEMUR_WALK_ON;
}

static void
count_file(const char *path, GHashTable *acquisitions) {
  g_auto(DemurDataSet) set = {0};
  g_autoptr(DemurSource) source = demur_source_open(path, NULL);
  if (source == NULL || !demur_data_set_locate(&source, &set, NULL))
    return;
  Reading reading = {source, g_strdup(""), 0};
  if (!demur_elements_walk(source, set.offset, set.encoding, FALSE, visit, &reading, NULL))
    reading.n_images = 0;
  Acquisition *acquisition = g_hash_table_lookup(acquisitions, reading.acquisition);
  if (acquisition == NULL) {
    acquisition = g_new0(Acquisition, 1);
    g_hash_table_insert(acquisitions, g_strdup(reading.acquisition), acquisition);
  }
  acquisition->n_here++;
  acquisition->n_images = MAX(acquisition->n_images, (guint)reading.n_images);
  g_free(reading.acquisition);
}

static void
count_folder(const char *path, guint depth, GHashTable *acquisitions) {
  g_autoptr(GDir) dir = depth < MAX_DEPTH ? g_dir_open(path, 0, NULL) : NULL;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    if (g_str_has_suffix(name, ".dcm"))
      count_file(child, acquisitions);
    else
      count_folder(child, depth + 1, acquisitions);
  }
}

DemurAcquisitionCount
demur_acquisition_count(const char *folder) {
  g_autoptr(GHashTable) acquisitions =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  count_folder(folder, 0, acquisitions);
  DemurAcquisitionCount count = {0, 0};
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, acquisitions);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const Acquisition *acquisition = value;
    if (acquisition->n_images == 0)
      continue;
    count.n_here += MIN(acquisition->n_here, acquisition->n_images);
    count.n_missing += acquisition->n_images - MIN(acquisition->n_here, acquisition->n_images);
  }
  return count;
}
