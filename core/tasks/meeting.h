/* When images come again: what came meets what the workspace knows.
 *
 *   the same images               nothing changes
 *   more slices of a volume       united by SOP Instance UID, measured anew, the volume keeps its id
 *   fewer, and the others were    the same of those that are left: the volume is not whole until they
 *   taken away or replaced since  came again (DemurSeries.gone), so it is not eligible
 *   the same SOP Instance UID     SAFETY: both are kept, apart, each with an id of its own, and wait
 *   with other content, or the    for a person (`demur dicom resolve`)
 *   same UIDs under another
 *   person or in another series
 *
 * Whether two are of the same person is asked in one place (base/person.h); can't be told is not
 * the same. The id of a volume never changes its meaning. Nothing is written here. */
#pragma once

#include "tasks/task.h"
#include "dicom/import.h"
#include "store/series.h"

G_BEGIN_DECLS

/* How one volume is to be kept. */
typedef struct {
  DemurSeries *series; /* borrowed from the import, or of a union */
  char *scan_id;       /* owned */
  DemurConflict conflict;
  gboolean is_known;   /* nothing of it is new */
  gboolean keep_facts; /* it is known and unchanged: only its files may have moved */
  gboolean keep_files; /* they have not: a part of what is known came */
} DemurArrival;

typedef struct {
  GArray *arrivals;      /* of DemurArrival */
  guint *arrival_of;     /* [import->series->len]: which one each series of the import went into */
  GHashTable *conflicts; /* scan_id of a known volume (owned) -> DemurConflict */
  GPtrArray *united;     /* scan_ids of known volumes that went into another one (owned) */
  GPtrArray *imports;    /* DemurImport of the unions */
  GPtrArray *known;      /* DemurSeriesRecord of the workspace that what came met */
} DemurMeeting;

/* Asks the workspace for what has the series, ids and images of what came, nothing else. rules and
 * files as demur_import_run_known. */
DemurMeeting *demur_meeting_plan(DemurTask *task, const DemurImport *import,
                                 const DemurEligibility *rules, const DemurKnownFiles *files,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_meeting_free(DemurMeeting *meeting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMeeting, demur_meeting_free)

/* The paths of files (DemurSeriesFile) as demur_import_run takes them, archives once (owned). */
char **demur_meeting_paths(const GPtrArray *files);

G_END_DECLS
