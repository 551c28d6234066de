/* Inside the room: the patients that a watch sees, from the history of verdicts as it stands. */
#pragma once

#include "tasks/watch.h"
#include "selector/selector.h"
#include "store/watches.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *selector_digest;
  const char *site;           /* NULL: any */
  const DemurWatchMark *then; /* labels as they were then; NULL: now */
  gint64 after, to; /* verdicts behind `after`, up to `to`; who had one before is left out */
  char **left_out;  /* digests of patients, NULL-terminated */
  /* Whose patients are left out, and whose years labels of cohorts are of; NULL: nobody's, and the
   * cohort's own. */
  const DemurSelector *trained;
} DemurWatchStreamParams;

/* patients: of DemurWatchPatient in ascending order, one a patient: the first scan that was scored,
 * else the first. Scans that one assessment gave at once come in an order by their names' digests,
 * which is any order; assessments come as they came. Counts are those of DemurWatchState; persons
 * [patients->len] (owned, NULL-terminated): digests of who they are. */
typedef struct {
  GArray *patients;
  char **persons;
  size_t n_scans, n_again, n_before, n_trained, n_gone;
} DemurWatchStream;

gboolean demur_watch_stream_read(DemurWorkspace *workspace, const DemurWatchStreamParams *params,
                                 DemurWatchStream *stream,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_watch_stream_clear(DemurWatchStream *stream);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurWatchStream, demur_watch_stream_clear)

/* How a scan of a cohort was made, and its label, into a patient. */
void demur_watch_fill_cohort(DemurWatchPatient *patient, const DemurCohort *cohort, size_t row);

/* What a scan's ties are broken by. cohort NULL: a DICOM series. */
guint64 demur_watch_scan_key(const char *cohort, const char *scan_id);

/* The digest of a cohort's patient (owned): the same in every cohort of patients, another in each
 * simulated one, whose numbers are the same. */
char *demur_watch_person_of_cohort(const DemurCohort *cohort, const char *patient_id);

G_END_DECLS
