#include "dicom/repeats.h"

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
  DemurSha256 sha;
  demur_sha256_init(&sha);
  g_autoptr(DemurSource) source =
      demur_files_open_in(&repeats->archive, image->file->path, image->file->entry, NULL);
  const guint64 size = source != NULL ? demur_source_size(source) : 0;
  gboolean good = source != NULL;
  for (guint64 at = 0; good && at < size;) {
    const size_t n = (size_t)MIN((guint64)(1 << 20), size - at);
    const guint8 *bytes = demur_source_peek(source, at, n);
    good = bytes != NULL;
    if (good)
      demur_sha256_update(&sha, bytes, n);
    at += n;
  }
  *digest = good ? demur_sha256_finish_hex(&sha) : g_strdup("");
  return *digest;
}

/* What makes images of one key the same: contents and attributes, as another archive may have sent
 * them; where contents are not known, the bytes. NULL where they can't be read: like nothing. */
static char *
content_of(DemurRepeats *repeats, const DemurStackImage *image) {
  if (image->file->pixel_digests == NULL) {
    const char *bytes = demur_repeats_digest(repeats, image);
    return *bytes != '\0' ? g_strdup(bytes) : NULL;
  }
  char slice[DEMUR_SHA256_HEX], values[DEMUR_SHA256_HEX];
  guint8 digest[DEMUR_SHA256_BYTES];
  DemurSha256 sha;
  demur_stack_digest_slice(image, slice); /* its position too */
  demur_sha256_init(&sha);
  for (size_t i = 0; i < demur_slice_attributes_n(); i++)
    demur_sha256_add_text(&sha, image->values[i]);
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, values);
  return g_strconcat(slice, values, NULL);
}

static char *
key_of(const DemurStackImage *image) {
  const DemurHeader *header = image->file->header;
  char pixels[DEMUR_SHA256_HEX] = "";
  if (image->file->pixel_digests != NULL)
    demur_sha256_hex(image->file->pixel_digests + (size_t)image->frame * DEMUR_SHA256_BYTES,
                     pixels);
  return g_strdup_printf("%s %" G_GINT64_FORMAT " %u %.2f %s",
                         header->sop_instance_uid != NULL ? header->sop_instance_uid : "",
                         header->instance_number, image->frame,
                         image->has_position ? image->distance : 0.0, pixels);
}

/* Of images of one key, whose contents are asked for from the second one on. */
typedef struct {
  const DemurStackImage *first;
  GHashTable *contents; /* of those that are used; NULL until there are two */
} Alike;

static void
alike_free(gpointer data) {
  Alike *alike = data;
  if (alike->contents != NULL)
    g_hash_table_unref(alike->contents);
  g_free(alike);
}

/* Adds its contents; whether they were there. */
static gboolean
add_contents(Alike *alike, DemurRepeats *repeats, const DemurStackImage *image) {
  char *content = content_of(repeats, image);
  return content != NULL && !g_hash_table_add(alike->contents, content);
}

void
demur_repeats_mark(DemurRepeats *repeats, GPtrArray *images) {
  g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, alike_free);
  g_ptr_array_sort(images, demur_stack_order_by_instance);
  for (guint i = 0; i < images->len; i++) {
    DemurStackImage *image = images->pdata[i];
    if (image->state != DEMUR_SLICE_USED)
      continue;
    char *key = key_of(image);
    Alike *alike = g_hash_table_lookup(by_key, key);
    if (alike == NULL) {
      alike = g_new0(Alike, 1);
      alike->first = image;
      g_hash_table_insert(by_key, key, alike);
      continue;
    }
    g_free(key);
    if (alike->contents == NULL) {
      alike->contents = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
      (void)add_contents(alike, repeats, alike->first);
    }
    if (add_contents(alike, repeats, image))
      image->state = DEMUR_SLICE_SAME_FILE;
  }
}
