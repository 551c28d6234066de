#include "dicom/repeats.h"

#include <math.h>
#include <string.h>

#include "dicom/content-digest.h"

void
demur_repeats_init(DemurRepeats *repeats, const DemurFiles *files) {
  *repeats = (DemurRepeats){.files = files};
  repeats->digests = g_new0(char *, MAX(files->images->len, 1));
}

void
demur_repeats_clear(DemurRepeats *repeats) {
  for (guint i = 0; i < repeats->files->images->len; i++)
    g_free(repeats->digests[i]);
  g_free(repeats->digests);
  demur_open_archive_clear(&repeats->archive);
}

const char *
demur_repeats_digest(DemurRepeats *repeats, const DemurStackImage *image) {
  char **digest = &repeats->digests[image->file_index];
  if (*digest != NULL)
    return *digest;
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autoptr(DemurSource) source =
      demur_files_open_in(&repeats->archive, image->file->path, image->file->entry, NULL);
  const guint64 size = source != NULL ? demur_source_size(source) : 0;
  gboolean good = source != NULL;
  for (guint64 at = 0; good && at < size;) {
    const size_t n = (size_t)MIN((guint64)(1 << 20), size - at);
    const guint8 *bytes = demur_source_peek(source, at, n);
    good = bytes != NULL;
    if (good)
      g_checksum_update(checksum, bytes, (gssize)n);
    at += n;
  }
  *digest = g_strdup(good ? g_checksum_get_string(checksum) : "");
  return *digest;
}

static gboolean
same_position(const DemurStackImage *a, const DemurStackImage *b) {
  if (a->has_position != b->has_position)
    return FALSE;
  for (int i = 0; a->has_position && i < 3; i++)
    if (fabs(a->facts.position_mm[i] - b->facts.position_mm[i]) > DEMUR_SAME_POSITION_MM)
      return FALSE;
  return TRUE;
}

/* The same contents under the same attributes, as another archive may have sent them; where
 * contents are not known, the same bytes. */
static gboolean
is_same(DemurRepeats *repeats, const DemurStackImage *image, const DemurStackImage *other) {
  if (demur_stack_same_pixels(image, other)) {
    char mine[DEMUR_SHA256_HEX], theirs[DEMUR_SHA256_HEX];
    demur_stack_digest_slice(image, mine);
    demur_stack_digest_slice(other, theirs);
    return strcmp(mine, theirs) == 0 && demur_stack_compare_values(image, other) == 0;
  }
  if (image->file->pixel_digests != NULL && other->file->pixel_digests != NULL)
    return FALSE;
  const char *mine = demur_repeats_digest(repeats, image),
             *theirs = demur_repeats_digest(repeats, other);
  return *mine != '\0' && strcmp(mine, theirs) == 0;
}

void
demur_repeats_mark(DemurRepeats *repeats, GPtrArray *images) {
  g_autoptr(GHashTable) by_uid =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  g_ptr_array_sort(images, demur_stack_order_by_instance);
  for (guint i = 0; i < images->len; i++) {
    DemurStackImage *image = images->pdata[i];
    const char *uid = image->file->header->sop_instance_uid;
    char pixels[DEMUR_SHA256_HEX] = "";
    if (image->file->pixel_digests != NULL)
      demur_sha256_hex(image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES,
                       pixels);
    g_autofree char *key =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %u %.2f %s", uid != NULL ? uid : "",
                        image->file->header->instance_number, image->frame,
                        image->has_position ? image->distance : 0.0, pixels);
    GPtrArray *alike = g_hash_table_lookup(by_uid, key);
    if (alike == NULL) {
      alike = g_ptr_array_new();
      g_hash_table_insert(by_uid, g_steal_pointer(&key), alike);
    }
    for (guint k = 0; k < alike->len && image->state == DEMUR_SLICE_USED; k++) {
      const DemurStackImage *other = alike->pdata[k];
      if (other->file == image->file || !same_position(other, image))
        continue;
      if (is_same(repeats, image, other))
        image->state = DEMUR_SLICE_SAME_FILE;
    }
    if (image->state == DEMUR_SLICE_USED)
      g_ptr_array_add(alike, image);
  }
}
