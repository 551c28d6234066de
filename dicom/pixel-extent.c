#include "dicom/pixel-extent.h"

#include "base/translate.h"
#include "dicom/transfer-syntax.h"

#define MAX_FRAGMENTS (1u << 20)
#define MAX_TAIL_BYTES 1024 /* of padding behind a compressed image */

static void
check_native(DemurHeader *header, guint64 available, guint64 recorded) {
  /* rows, columns <= 65,535, samples <= 4, frames <= 65,536, 4 bytes: below 2^53. */
  const guint64 frame = (guint64)header->rows * header->columns * header->samples *
                        ((header->bits_allocated + 7u) / 8u);
  const guint64 needed = frame * header->n_frames;
  header->pixels_length = MIN(available, recorded);
  if (header->pixels_length >= needed)
    return;
  header->pixels = DEMUR_PIXELS_TRUNCATED;
  header->pixels_problem =
      g_strdup_printf("pixel data too short: %" G_GUINT64_FORMAT
                      " bytes where %u x %u pixels need %" G_GUINT64_FORMAT,
                      header->pixels_length, header->rows, header->columns, needed);
}

static gboolean
begins_image(const guint8 *bytes) {
  return bytes[0] == 0xFF && (bytes[1] == 0xD8 || bytes[1] == 0x4F); /* SOI, SOC */
}

/* Whether the image's last marker stands at the end of bytes begin .. end, before its padding:
 * zeros and, as some writers leave it, one odd byte. */
static gboolean
ends_image(DemurSource *source, guint64 begin, guint64 end) {
  const size_t n = (size_t)MIN(end - begin, MAX_TAIL_BYTES);
  const guint8 *tail = demur_source_peek(source, end - n, n);
  if (tail == NULL)
    return FALSE;
  for (size_t at = n; at >= 2; at--) {
    if (tail[at - 2] == 0xFF && tail[at - 1] == 0xD9)
      return TRUE;
    if (tail[at - 1] != 0 && at != n)
      return FALSE;
  }
  return FALSE;
}

/* Walks the fragments (PS3.5 annex A.4): an offset table, at least one fragment a frame, the
 * delimiter. Notes where they lie. */
static const char *
walk_fragments(DemurSource *source, DemurHeader *header) {
  g_autoptr(GArray) fragments = g_array_new(FALSE, FALSE, sizeof(DemurFragment));
  guint64 at = header->pixels_offset;
  for (gboolean table = TRUE;; table = FALSE) {
    const guint8 *head = demur_source_peek(source, at, 8);
    if (head == NULL)
      return "cut off: its fragments have no end";
    const guint32 tag =
        ((guint32)demur_elements_u16(head, FALSE) << 16) | demur_elements_u16(head + 2, FALSE);
    const guint32 length = demur_elements_u32(head + 4, FALSE);
    at += 8;
    if (tag == DEMUR_TAG(0xFFFE, 0xE0DD))
      break;
    if (tag != DEMUR_TAG(0xFFFE, 0xE000))
      return "damaged: no fragment where one was expected";
    if (length > demur_source_size(source) - at)
      return "cut off inside a fragment";
    if (table) {
      header->table_offset = at;
      header->table_length = length;
    } else if (length > 0) {
      if (fragments->len >= MAX_FRAGMENTS)
        return "damaged: more fragments than any image has";
      const guint8 *bytes = length >= 2 ? demur_source_peek(source, at, 2) : NULL;
      const DemurFragment fragment = {at, length, bytes != NULL && begins_image(bytes)};
      g_array_append_val(fragments, fragment);
    }
    at += length;
  }
  if (fragments->len < header->n_frames)
    return "incomplete: fewer fragments than frames";
  header->n_fragments = fragments->len;
  header->fragments = (DemurFragment *)(void *)g_array_free(g_steal_pointer(&fragments), FALSE);
  return NULL;
}

static void
check_encapsulated(DemurSource *source, DemurHeader *header, DemurCoding coding) {
  const char *problem = walk_fragments(source, header);
  if (problem == NULL && coding != DEMUR_CODING_RLE) {
    const DemurFragment *first = header->fragments;
    const DemurFragment *last = header->fragments + header->n_fragments - 1;
    const guint8 *start = demur_source_peek(source, first->offset, 1);
    const gboolean boxed = coding == DEMUR_CODING_JPEG_2000 && start != NULL && start[0] == 0;
    if (!first->begins_image && !boxed)
      problem = "damaged: no compressed image begins there";
    else if (!ends_image(source, last->offset, last->offset + last->length))
      problem = "cut off: the compressed image has no end";
  }
  if (problem != NULL) {
    header->pixels = DEMUR_PIXELS_TRUNCATED;
    header->pixels_problem = g_strdup_printf("pixel data %s", problem);
  }
}

static void
refuse_pixels(DemurHeader *header, char *problem) {
  header->pixels = DEMUR_PIXELS_UNSUPPORTED;
  g_free(header->pixels_problem);
  header->pixels_problem = problem;
}

void
demur_pixel_extent_check(DemurSource *source, const DemurPixelElement *pixels,
                         DemurHeader *header) {
  if (!pixels->found) {
    header->pixels = DEMUR_PIXELS_ABSENT;
    header->pixels_problem = g_strdup(N_("no pixel data"));
    return;
  }
  header->pixels = DEMUR_PIXELS_COMPLETE;
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  header->encapsulated = pixels->undefined;
  if (pixels->unreadable) {
    refuse_pixels(header, g_strdup(N_("floating-point pixel data are not read")));
  } else if (syntax == NULL || syntax->coding == DEMUR_CODING_UNREADABLE) {
    g_autofree char *name = demur_transfer_syntax_name(header->transfer_syntax_uid);
    refuse_pixels(header, g_strdup_printf("compression %s is not read", name));
  } else if (header->rows == 0 || header->columns == 0) {
    refuse_pixels(header, g_strdup(N_("the image has no rows or columns")));
  } else if (header->bits_allocated == 0 || header->bits_allocated > 32 ||
             header->bits_stored == 0 || header->bits_stored > header->bits_allocated ||
             header->samples == 0 || header->samples > 4) {
    refuse_pixels(header,
                  g_strdup_printf("pixels of %u samples, %u bits stored in %u are not read",
                                  header->samples, header->bits_stored, header->bits_allocated));
  } else if (!header->encapsulated && header->bits_allocated != 8 && header->bits_allocated != 16 &&
             header->bits_allocated != 32) {
    refuse_pixels(header, g_strdup_printf("native pixels of %u bits are not read: only of 8, 16 or "
                                          "32",
                                          header->bits_allocated));
  } else if (header->encapsulated) {
    if (syntax->coding == DEMUR_CODING_NATIVE || syntax->coding == DEMUR_CODING_DEFLATED)
      refuse_pixels(
          header,
          g_strdup(N_("pixel data in fragments, but the transfer syntax is not compressed")));
    else
      check_encapsulated(source, header, syntax->coding);
  } else if (syntax->coding != DEMUR_CODING_NATIVE && syntax->coding != DEMUR_CODING_DEFLATED) {
    refuse_pixels(
        header, g_strdup(N_("pixel data not in fragments, but the transfer syntax is compressed")));
  } else {
    check_native(header, demur_source_size(source) - header->pixels_offset, pixels->length);
  }
}
