/* Files that can't be read at all and don't say what they are of, by the folder they lie in: one may
 * be a slice of a series there, cut off before its SeriesInstanceUID, or empty. A file may be one of a
 * series' where its name ends as that of a slice in the folder does (".dcm", or nothing: "IM0007",
 * "1.2.840.17"), or where it begins like DICOM. What else lies there (a text, a picture) is none.
 * Memory O(folders), not files: an archive may hold 65,000 empty ones. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint n;
  char *problem; /* of the first */
} DemurStray;

typedef struct DemurStrays DemurStrays;

DemurStrays *demur_strays_new(void);
void demur_strays_free(DemurStrays *strays);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurStrays, demur_strays_free)

/* path and entry as of DemurFile (dicom/files.h). */
void demur_strays_add(DemurStrays *strays, const char *path, const char *entry,
                      gboolean begins_like_dicom, const char *problem);
gboolean demur_strays_any(const DemurStrays *strays);

/* Those of the folder of a slice that may be of its series: found [2] (borrowed), NULL where none. */
void demur_strays_find(const DemurStrays *strays, const char *path, const char *entry,
                       const DemurStray *found[2]);

G_END_DECLS
