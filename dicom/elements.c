#include "dicom/elements.h"

#include <inttypes.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/locked-files.h"

#define WINDOW_BYTES 16384
#define STREAM_BYTES 65536

struct DemurSource {
  int fd; /* -1: memory, or a stream */
  DemurSourceStream stream;
  guint64 stream_at; /* how far it has been read */
  gboolean damaged;
  GBytes *bytes;
  const guint8 *memory;
  guint64 size;
  guint8 *window; /* [window_capacity] */
  size_t window_capacity;
  size_t window_length;
  guint64 window_offset;
};

DemurSource *
demur_source_open(const char *path, GError **error) {
  const int fd = demur_locked_files_open(path);
  if (fd < 0) {
    const int code = errno;
    demur_error_set(error, DEMUR_ERROR_INPUT, "cannot be opened: %s", g_strerror(code));
    return NULL;
  }
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    demur_locked_files_close(fd);
    demur_error_set(error, DEMUR_ERROR_INPUT, "not a regular file");
    return NULL;
  }
  DemurSource *source = g_new0(DemurSource, 1);
  source->fd = fd;
  source->size = (guint64)status.st_size;
  return source;
}

DemurSource *
demur_source_bytes(GBytes *bytes) {
  DemurSource *source = g_new0(DemurSource, 1);
  gsize size = 0;
  source->fd = -1;
  source->bytes = g_bytes_ref(bytes);
  source->memory = g_bytes_get_data(bytes, &size);
  source->size = size;
  return source;
}

DemurSource *
demur_source_stream(DemurSourceStream stream, guint64 size) {
  DemurSource *source = g_new0(DemurSource, 1);
  source->fd = -1;
  source->stream = stream;
  source->size = size;
  return source;
}

void
demur_source_free(DemurSource *source) {
  if (source == NULL)
    return;
  if (source->stream.free != NULL)
    source->stream.free(source->stream.data);
  if (source->fd >= 0)
    demur_locked_files_close(source->fd);
  g_clear_pointer(&source->bytes, g_bytes_unref);
  g_free(source->window);
  g_free(source);
}

guint64
demur_source_size(const DemurSource *source) {
  return source->size;
}

gboolean
demur_source_is_damaged(const DemurSource *source) {
  return source->damaged;
}

/* Makes the window begin at offset and hold length bytes at least, which the source has. */
static gboolean
fill_from_stream(DemurSource *source, guint64 offset, size_t length) {
  const size_t wanted = (size_t)MIN((guint64)MAX(length, STREAM_BYTES), source->size - offset);
  if (MAX(wanted, STREAM_BYTES) > source->window_capacity) {
    source->window_capacity = MAX(wanted, STREAM_BYTES);
    source->window = g_realloc(source->window, source->window_capacity);
  }
  const guint64 end = source->window_offset + source->window_length;
  size_t kept = 0;
  if (offset < source->window_offset || offset > end) {
    if (offset < source->stream_at) {
      if (!source->stream.restart(source->stream.data))
        return FALSE;
      source->stream_at = 0;
    }
    source->window_length = 0;
    while (source->stream_at < offset) {
      const size_t n = (size_t)MIN((guint64)STREAM_BYTES, offset - source->stream_at);
      if (!source->stream.more(source->stream.data, source->window, n))
        return FALSE;
      source->stream_at += n;
    }
  } else {
    kept = (size_t)(end - offset);
    memmove(source->window, source->window + (offset - source->window_offset), kept);
  }
  source->window_offset = offset;
  source->window_length = kept;
  if (kept < wanted) {
    if (!source->stream.more(source->stream.data, source->window + kept, wanted - kept))
      return FALSE;
    source->stream_at += wanted - kept;
    source->window_length = wanted;
  }
  return TRUE;
}

static const guint8 *
peek_stream(DemurSource *source, guint64 offset, size_t length) {
  const gboolean held = offset >= source->window_offset &&
                        offset - source->window_offset + length <= source->window_length;
  if (length == 0)
    return (const guint8 *)"";
  if (!held && !fill_from_stream(source, offset, length)) {
    source->damaged = TRUE;
    source->window_length = 0;
    source->window_offset = source->stream_at;
    return NULL;
  }
  return source->window + (offset - source->window_offset);
}

const guint8 *
demur_source_peek(DemurSource *source, guint64 offset, size_t length) {
  if (offset > source->size || length > source->size - offset)
    return NULL;
  if (source->stream.more != NULL)
    return peek_stream(source, offset, length);
  if (source->fd < 0)
    return length == 0 ? (const guint8 *)"" : source->memory + offset;
  if (offset < source->window_offset ||
      offset - source->window_offset + length > source->window_length) {
    const size_t wanted = (size_t)MIN((guint64)MAX(length, WINDOW_BYTES), source->size - offset);
    if (wanted > source->window_capacity) {
      source->window = g_realloc(source->window, wanted);
      source->window_capacity = wanted;
    }
    source->window_length = 0;
    if (!demur_file_input_at(source->fd, offset, wanted, source->window))
      return NULL;
    source->window_offset = offset;
    source->window_length = wanted;
  }
  if (length == 0)
    return (const guint8 *)"";
  return source->window + (offset - source->window_offset);
}

gboolean
demur_source_read(DemurSource *source, guint64 offset, size_t length, gpointer buffer) {
  if (offset > source->size || length > source->size - offset)
    return FALSE;
  if (source->fd >= 0)
    return demur_file_input_at(source->fd, offset, length, buffer);
  for (size_t done = 0; source->stream.more != NULL && done < length;) {
    const size_t n = MIN((size_t)STREAM_BYTES, length - done);
    const guint8 *bytes = peek_stream(source, offset + done, n);
    if (bytes == NULL)
      return FALSE;
    memcpy((guint8 *)buffer + done, bytes, n);
    done += n;
    if (done == length)
      return TRUE;
  }
  if (length > 0)
    memcpy(buffer, source->memory + offset, length);
  return TRUE;
}

guint16
demur_elements_u16(const guint8 *bytes, gboolean big_endian) {
  const guint high = bytes[big_endian ? 0 : 1], low = bytes[big_endian ? 1 : 0];
  return (guint16)((high << 8) | low);
}

guint32
demur_elements_u32(const guint8 *bytes, gboolean big_endian) {
  const guint32 first = demur_elements_u16(bytes, big_endian);
  const guint32 second = demur_elements_u16(bytes + 2, big_endian);
  return big_endian ? (first << 16) | second : (second << 16) | first;
}

double
demur_elements_f32(const guint8 *bytes, gboolean big_endian) {
  const guint32 bits = demur_elements_u32(bytes, big_endian);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

double
demur_elements_f64(const guint8 *bytes, gboolean big_endian) {
  const guint64 first = demur_elements_u32(bytes, big_endian);
  const guint64 second = demur_elements_u32(bytes + 4, big_endian);
  const guint64 bits = big_endian ? (first << 32) | second : (second << 32) | first;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

typedef enum { LEVEL_SEQUENCE, LEVEL_ITEM, LEVEL_FRAGMENTS } LevelKind;

typedef struct {
  LevelKind kind;
  guint64 end; /* G_MAXUINT64: delimited */
  gboolean explicit_vr, big_endian;
} Level;

static gboolean
fail(GError **error, guint64 offset, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s at byte %" PRIu64, what, offset);
  return FALSE;
}

/* Whether the first item of the sequence at offset is written in little endian, as what a UN holds
 * is in a big-endian data set too (PS3.5 section 6.2.2); some writers turn it. */
static gboolean
is_little(DemurSource *source, guint64 offset) {
  const guint8 *item = demur_source_peek(source, offset, 4);
  return item == NULL || item[0] == 0xFE;
}

/* Where a walk stands: the sequences and items that are open, and the place in the file. */
typedef struct {
  DemurSource *source;
  DemurEncoding encoding;
  gboolean everything;
  guint64 at;
  guint n_levels, n_steps; /* a step for each sequence level */
  Level levels[2 * DEMUR_ELEMENTS_MAX_DEPTH];
  DemurElementStep steps[DEMUR_ELEMENTS_MAX_DEPTH];
} Walk;

/* The innermost level that is open; NULL: none. */
static Level *
level_of(Walk *walk) {
  return walk->n_levels > 0 ? &walk->levels[walk->n_levels - 1] : NULL;
}

static gboolean
is_big(Walk *walk) {
  const Level *level = level_of(walk);
  return level != NULL ? level->big_endian : walk->encoding.big_endian;
}

/* Where what is open ends at the latest. */
static guint64
limit_of(Walk *walk) {
  const Level *level = level_of(walk);
  return level != NULL && level->end != G_MAXUINT64 ? level->end : walk->source->size;
}

/* Ends the levels whose length is used up. */
static gboolean
close_levels(Walk *walk, GError **error) {
  for (const Level *level;
       (level = level_of(walk)) != NULL && level->end != G_MAXUINT64 && walk->at >= level->end;) {
    if (walk->at > level->end)
      return fail(error, walk->at, N_("an item or sequence is longer than it says"));
    if (level->kind != LEVEL_ITEM)
      walk->n_steps--;
    walk->n_levels--;
  }
  return TRUE;
}

static gboolean
open_sequence(Walk *walk, guint32 tag, Level level, GError **error) {
  if (walk->n_steps >= DEMUR_ELEMENTS_MAX_DEPTH)
    return fail(error, walk->at, N_("sequences are nested more than 64 deep"));
  walk->steps[walk->n_steps++] = (DemurElementStep){tag, G_MAXSIZE};
  walk->levels[walk->n_levels++] = level;
  return TRUE;
}

/* Fewer than eight bytes are left: up to seven zero bytes of padding behind the last element do no
 * harm. */
static gboolean
check_padding(Walk *walk, GError **error) {
  const size_t rest = (size_t)(walk->source->size - walk->at);
  const guint8 *tail = rest < 8 ? demur_source_peek(walk->source, walk->at, rest) : NULL;
  gboolean padding = tail != NULL && walk->n_levels == 0;
  for (size_t i = 0; padding && i < rest; i++)
    padding = tail[i] == 0;
  return padding ? TRUE : fail(error, walk->at, N_("the file is cut off inside an element"));
}

/* An item, or the end of an item or a sequence (group FFFE), of that length. */
static gboolean
step_item(Walk *walk, guint32 tag, guint32 length, GError **error) {
  const guint64 start = walk->at, limit = limit_of(walk);
  Level *level = level_of(walk);
  walk->at += 8;
  if (level == NULL)
    return tag == DEMUR_TAG(0xFFFE, 0xE000)
               ? fail(error, start, N_("an item outside of any sequence"))
               : TRUE; /* a stray delimiter */
  if (level->kind == LEVEL_ITEM) {
    if (tag != DEMUR_TAG(0xFFFE, 0xE00D) || level->end != G_MAXUINT64)
      return fail(error, start, N_("an item or delimiter where an element was expected"));
    walk->n_levels--;
    return TRUE;
  }
  if (tag == DEMUR_TAG(0xFFFE, 0xE0DD)) {
    if (level->end != G_MAXUINT64)
      return TRUE; /* written although the length was given */
    walk->n_levels--;
    walk->n_steps--;
    return TRUE;
  }
  if (tag != DEMUR_TAG(0xFFFE, 0xE000))
    return fail(error, start, N_("no item where one was expected"));
  if (length != DEMUR_ELEMENTS_UNDEFINED && length > limit - walk->at)
    return fail(error, start, N_("an item is longer than what is left"));
  if (level->kind == LEVEL_FRAGMENTS) {
    if (length == DEMUR_ELEMENTS_UNDEFINED)
      return fail(error, start, N_("a pixel fragment without a length"));
    walk->at += length;
    return TRUE;
  }
  walk->steps[walk->n_steps - 1].item++; /* starts at G_MAXSIZE, so the first item is 0 */
  walk->levels[walk->n_levels++] =
      (Level){LEVEL_ITEM, length == DEMUR_ELEMENTS_UNDEFINED ? G_MAXUINT64 : walk->at + length,
              level->explicit_vr, level->big_endian};
  return TRUE;
}

/* VR, length and place of the value of the element whose first eight bytes are head. */
static gboolean
read_element(Walk *walk, const guint8 *head, DemurElement *element, gboolean *explicit_vr,
             GError **error) {
  const guint64 at = walk->at;
  const Level *level = level_of(walk);
  const gboolean big = element->big_endian;
  *explicit_vr = level != NULL ? level->explicit_vr : walk->encoding.explicit_vr;
  /* Some archives write single elements (private ones mostly) without their VR: implicit, then.
   * Not where DCMTK is to parse it afterwards: it might take them otherwise. */
  if (*explicit_vr && (!g_ascii_isupper(head[4]) || !g_ascii_isupper(head[5]))) {
    if (walk->everything)
      return fail(error, at, N_("no value representation where one was expected"));
    /* "??", "--" and blanks stand where a VR should, and a length of 16 bits behind them. */
    *explicit_vr = head[4] == head[5] && strchr("?- ", head[4]) != NULL && head[4] != 0;
  }
  element->offset = at + 8;
  if (!*explicit_vr) {
    element->length = demur_elements_u32(head + 4, big);
    return TRUE;
  }
  element->vr = demur_vr_find(head + 4);
  if (!demur_vr_has_long_length(element->vr)) {
    element->length = demur_elements_u16(head + 6, big);
    return TRUE;
  }
  head = demur_source_peek(walk->source, at, 12);
  if (head == NULL)
    return fail(error, at, N_("the file is cut off inside an element"));
  element->length = demur_elements_u32(head + 8, big);
  element->offset = at + 12;
  return TRUE;
}

/* Into a value of undefined length: a sequence, or the fragments of pixel data. */
static gboolean
enter_undefined(Walk *walk, const DemurElement *element, gboolean is_pixels, gboolean explicit_vr,
                GError **error) {
  const gboolean fragments = demur_vr_is_bytes(element->vr) || is_pixels;
  const gboolean unknown = element->vr == DEMUR_VR_UN;
  if (walk->n_steps < DEMUR_ELEMENTS_MAX_DEPTH && !fragments && !unknown && explicit_vr &&
      element->vr != DEMUR_VR_SQ)
    return fail(error, walk->at, N_("an element without a length that is no sequence"));
  /* UN of undefined length holds an implicit sequence (PS3.5 section 6.2.2 note 4). */
  const Level level = {
      fragments ? LEVEL_FRAGMENTS : LEVEL_SEQUENCE, G_MAXUINT64, explicit_vr && !unknown,
      element->big_endian && !(unknown && is_little(walk->source, element->offset))};
  if (!open_sequence(walk, element->tag, level, error))
    return FALSE;
  walk->at = element->offset;
  return TRUE;
}

/* One element that is no item. *done: the walk ends here, rightly. */
static gboolean
step_element(Walk *walk, const guint8 *head, guint32 tag, DemurElementFunc func, gpointer data,
             gboolean *done, GError **error) {
  const Level *outer = level_of(walk);
  if (outer != NULL && outer->kind != LEVEL_ITEM)
    return fail(error, walk->at, N_("an element where an item of a sequence was expected"));
  DemurElement element = {
      .tag = tag, .depth = walk->n_steps, .parents = walk->steps, .big_endian = is_big(walk)};
  gboolean explicit_vr;
  if (!read_element(walk, head, &element, &explicit_vr, error))
    return FALSE;
  const guint64 limit = limit_of(walk);
  const gboolean undefined = element.length == DEMUR_ELEMENTS_UNDEFINED;
  const gboolean is_pixels = tag == DEMUR_TAG(0x7FE0, 0x0010) && outer == NULL;
  /* Pixel data that are cut off are told by their reader, not an error of the header. */
  if (!undefined && !is_pixels &&
      (element.offset > limit || element.length > limit - element.offset))
    return fail(error, walk->at, N_("an element is longer than what is left"));
  const DemurWalk wish = func(&element, data);
  *done = wish == DEMUR_WALK_STOP || (undefined && is_pixels && !walk->everything);
  if (*done)
    return TRUE;
  if (undefined)
    return enter_undefined(walk, &element, is_pixels, explicit_vr, error);
  const gboolean sequence = element.vr == DEMUR_VR_SQ;
  if ((sequence && walk->everything) || wish == DEMUR_WALK_DESCEND) {
    const Level level = {LEVEL_SEQUENCE, element.offset + element.length, explicit_vr,
                         element.big_endian};
    if (!open_sequence(walk, tag, level, error))
      return FALSE;
    walk->at = element.offset;
    return TRUE;
  }
  *done = is_pixels && element.length > walk->source->size - element.offset;
  walk->at = element.offset + element.length;
  return TRUE;
}

gboolean
demur_elements_walk(DemurSource *source, guint64 offset, DemurEncoding encoding,
                    gboolean everything, DemurElementFunc func, gpointer data, GError **error) {
  Walk walk;
  walk.source = source;
  walk.encoding = encoding;
  walk.everything = everything;
  walk.at = offset;
  walk.n_levels = walk.n_steps = 0;
  for (gboolean done = FALSE; !done;) {
    if (!close_levels(&walk, error))
      return FALSE;
    if (walk.at >= source->size)
      return walk.n_levels == 0 ||
             fail(error, walk.at, N_("the file is cut off inside a sequence"));
    const guint8 *head = demur_source_peek(source, walk.at, 8);
    if (head == NULL)
      return check_padding(&walk, error);
    const gboolean big = is_big(&walk);
    const guint32 tag =
        ((guint32)demur_elements_u16(head, big) << 16) | demur_elements_u16(head + 2, big);
    if (!((tag >> 16) == 0xFFFE ? step_item(&walk, tag, demur_elements_u32(head + 4, big), error)
                                : step_element(&walk, head, tag, func, data, &done, error)))
      return FALSE;
  }
  return TRUE;
}
