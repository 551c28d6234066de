/* Writing one DICOM object: explicit VR little endian with preamble and meta header (PS3.10). For
 * objects this program makes itself, whose elements are added in ascending order of tag. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

typedef struct DemurWriter DemurWriter;

DemurWriter *demur_writer_new(const char *sop_class_uid, const char *sop_instance_uid);
void demur_writer_free(DemurWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWriter, demur_writer_free)

/* text in UTF-8; padded to an even length as vr asks. NULL writes an empty value. */
void demur_writer_text(DemurWriter *writer, guint32 tag, DemurVr vr, const char *text);
void demur_writer_u16(DemurWriter *writer, guint32 tag, guint16 value);
void demur_writer_integer(DemurWriter *writer, guint32 tag, gint64 value); /* IS */
void demur_writer_decimals(DemurWriter *writer, guint32 tag, const double *values,
                           size_t n);                                                      /* DS */
void demur_writer_words(DemurWriter *writer, guint32 tag, const guint16 *words, size_t n); /* OW */

/* Writes the file atomically. */
gboolean demur_writer_save(const DemurWriter *writer, const char *path,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "2.25." and a number made of the SHA-256 of name (PS3.5 annex B.2): the same name, the same UID.
 * Owned. */
char *demur_writer_uid(const char *name);

G_END_DECLS
