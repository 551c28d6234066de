/* Where the data set of an object begins and how it is written (PS3.10, PS3.5 annex A). */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

/* .. and what the meta header says. */
typedef struct {
  guint64 offset;
  DemurEncoding encoding;
  char *transfer_syntax_uid;              /* without a meta header: what the bytes show */
  char *sop_class_uid, *sop_instance_uid; /* NULL where the meta header has none */
} DemurDataSet;

/* Whether the magic of DICOM stands behind a preamble. */
gboolean demur_data_set_has_magic(DemurSource *source);

/* Finds it, with or without preamble and meta header. A deflated data set replaces *source by its
 * inflated bytes. Errors as demur_header_read. */
gboolean demur_data_set_locate(DemurSource **source, DemurDataSet *set,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_data_set_clear(DemurDataSet *set);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurDataSet, demur_data_set_clear)

/* Walks through all of it: what passes may be handed to DCMTK's parser. */
gboolean demur_data_set_check(DemurSource **source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
