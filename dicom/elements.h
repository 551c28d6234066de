/* The raw element stream of one DICOM data set, walked without recursion.
 *
 * Nothing is read but tags, lengths and the values asked for, so a header costs one or two reads of
 * a file however large it is, and nothing a hostile file says is believed before it is checked:
 * every length is compared with what is left, sequences nest at most DEMUR_ELEMENTS_MAX_DEPTH deep,
 * no size is allocated that the file doesn't have. (DCMTK 3.6.7 overflows its stack on deep
 * nesting: whatever is handed to its parser must have passed demur_elements_walk with `everything`
 * set.) PS3.5 section 7 and annex A. */
#pragma once

#include <glib.h>

#include "dicom/vr.h"

G_BEGIN_DECLS

#define DEMUR_ELEMENTS_MAX_DEPTH 64
#define DEMUR_ELEMENTS_UNDEFINED 0xFFFFFFFFu /* a length that is not given */
#define DEMUR_TAG(group, element) (((guint32)(group) << 16) | (guint32)(element))

/* Random access to the bytes of one object: a file, or memory (a ZIP entry, an inflated data set).
 * One thread at a time. */
typedef struct DemurSource DemurSource;

/* NULL with DEMUR_ERROR_INPUT where path is no regular file or can't be opened. */
DemurSource *demur_source_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurSource *demur_source_bytes(GBytes *bytes); /* takes its own reference */

/* Bytes that can only be had one after another: an entry of an archive as it is unpacked. more puts
 * the next length bytes into buffer, FALSE where they can't be had; restart goes back to the first.
 * A window of what was asked for last is kept, no more; going back costs the whole way again. */
typedef struct {
  gboolean (*more)(gpointer data, guint8 *buffer, size_t length);
  gboolean (*restart)(gpointer data);
  GDestroyNotify free;
  gpointer data; /* owned by the source */
} DemurSourceStream;
DemurSource *demur_source_stream(DemurSourceStream stream, guint64 size);

void demur_source_free(DemurSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSource, demur_source_free)
guint64 demur_source_size(const DemurSource *source);

/* Whether a stream has failed to give what it should hold. */
gboolean demur_source_is_damaged(const DemurSource *source);

/* length bytes at offset, valid until the next call; NULL where the source has fewer or can't be
 * read. */
const guint8 *demur_source_peek(DemurSource *source, guint64 offset, size_t length);

/* Copies length bytes at offset to buffer; FALSE where the source has fewer. */
gboolean demur_source_read(DemurSource *source, guint64 offset, size_t length,
                           gpointer buffer) G_GNUC_WARN_UNUSED_RESULT;

/* How the elements are written. */
typedef struct {
  gboolean explicit_vr;
  gboolean big_endian;
} DemurEncoding;

typedef struct {
  guint32 sequence; /* tag of the sequence */
  size_t item;      /* index of the item within it, from 0 */
} DemurElementStep;

typedef struct {
  guint32 tag;
  DemurVr vr;                      /* DEMUR_VR_NONE where implicit */
  guint64 offset;                  /* of the value, in the source */
  guint32 length;                  /* DEMUR_ELEMENTS_UNDEFINED: encapsulated or delimited */
  guint depth;                     /* 0 at the root */
  const DemurElementStep *parents; /* [depth], outermost first */
  gboolean big_endian;
} DemurElement;

typedef enum {
  DEMUR_WALK_ON,      /* next element; a sequence of known length is stepped over */
  DEMUR_WALK_DESCEND, /* visit the items of this sequence too (meaningless for other elements) */
  DEMUR_WALK_STOP,    /* end here, successfully */
} DemurWalk;

/* Called for each element, sequences included, in file order. */
typedef DemurWalk (*DemurElementFunc)(const DemurElement *element, gpointer data);

/* Walks from offset to the end of the source. An element that lacks its VR among explicit ones is
 * read as an implicit one, unless `everything` is set: then it is an error. Sequences of undefined
 * length are always walked through, those of known length only if func says so or `everything` is
 * set. Root pixel data of undefined length end the walk after their visit. FALSE with
 * DEMUR_ERROR_INPUT, naming the offset, where the stream is damaged, cut off or nested too deep. */
gboolean demur_elements_walk(DemurSource *source, guint64 offset, DemurEncoding encoding,
                             gboolean everything, DemurElementFunc func, gpointer data,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

guint16 demur_elements_u16(const guint8 *bytes, gboolean big_endian);
guint32 demur_elements_u32(const guint8 *bytes, gboolean big_endian);
double demur_elements_f32(const guint8 *bytes, gboolean big_endian);
double demur_elements_f64(const guint8 *bytes, gboolean big_endian);

G_END_DECLS
