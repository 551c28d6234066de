/* The state of the program, in one place: which workspace is open, what is in it, which case is
 * shown. Views read it and are told when it changes; they keep no copy. */
#pragma once

#include <gio/gio.h>

#include "ui/scan-list.h"
#include "tasks/annotations.h"
#include "tasks/assess.h"
#include "tasks/decisions.h"
#include "tasks/review.h"
#include "ui/import-outcome.h"
#include "ui/table-import.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_SESSION (demur_session_get_type())
G_DECLARE_FINAL_TYPE(DemurSession, demur_session, DEMUR, SESSION, GObject)

/* Signals:
 *   "loaded"        the workspace was read anew; the table is another one
 *   "case-changed"  another scan is current, or none
 *   "reviewed"      (guint row) a review of that scan was added
 *   "notice"        (const char *text, gboolean is_error, const char *details) a sentence for the reader, NULL: what
 *                   was said holds no longer; details: what another program said of it, NULL: nothing
 *   "imported"      an import ended well: see demur_session_outcome
 *   "assessed"      an assessment was kept and is told of: it can be undone
 *   "busy"          work began, progressed or ended: see demur_session_busy */
DemurSession *demur_session_new(const char *user);

const char *demur_session_user(DemurSession *session);
const char *demur_session_path(DemurSession *session); /* NULL: none is open */
gboolean demur_session_read_only(DemurSession *session);
DemurScanTable *demur_session_table(DemurSession *session); /* borrowed; NULL before the first */
DemurScanList *demur_session_list(DemurSession *session);

/* Who else has a scan open, by the name that the server knows (borrowed); NULL: nobody, or nobody knows. */
const char *demur_session_opened_by(DemurSession *session, const DemurScan *scan);

/* Opens a workspace, or makes it where it may; a failure is a notice and leaves what was open.
 * read_only is tried by itself where the file can't be written. */
void demur_session_open(DemurSession *session, const char *path, gboolean may_create);

/* Reads the open workspace again; it is never made anew. */
void demur_session_reload(DemurSession *session);

/* The current case: -1 none. */
gssize demur_session_row(DemurSession *session);
const DemurScan *demur_session_scan(DemurSession *session); /* NULL: none */
void demur_session_select(DemurSession *session, gssize row);
/* The next (+1) or previous (-1) case of the worklist as it is sorted and filtered. */
void demur_session_step(DemurSession *session, int direction);

/* Whether the held-back risk of the current case was revealed, by anyone, for this verdict. */
gboolean demur_session_revealed(DemurSession *session);

/* Keeps a review of the current case. FALSE with a notice where it can't be kept: then nothing
 * counts as reviewed, and nothing is revealed. */
gboolean demur_session_review(DemurSession *session, DemurReviewKind kind, const char *comment);
gboolean demur_session_reveal(DemurSession *session);
/* The current case is on the screen: kept in the log where the site wants it; a failure is a notice. */
void demur_session_opened(DemurSession *session);
/* The images of the scan that is shown are not those that were imported: its verdict goes. */
void demur_session_images_changed(DemurSession *session);

/* What readers drew on those images of a scan (array of DemurAnnotation, owned): none where the
 * workspace can't say. */
GPtrArray *demur_session_annotations(DemurSession *session, const char *scan_id,
                                     const char *images_digest);
/* Keeps what was drawn and sets its id, or takes it off (tasks/annotations.h). FALSE with a notice. */
gboolean demur_session_annotate(DemurSession *session, DemurAnnotation *annotation);
gboolean demur_session_take_off(DemurSession *session, const gint64 *ids, gsize n);

/* Work that shows in the window, one at a time: FALSE (with a notice) while another runs. */
/* reread: the pixels of unchanged files too (tasks/intake.h). */
gboolean demur_session_import(DemurSession *session, char *const *paths, gboolean reread);
/* import is taken over, whatever comes of it. */
gboolean demur_session_import_table(DemurSession *session, DemurTableImport *import);
/* Opens the demo (tasks/demo.h) of the user's data folder, made first where it is not there: a minute.
 */
gboolean demur_session_demo(DemurSession *session);
/* The whole workspace, a server's too, as a new file that was verified (tasks/workspace-copy.h). */
gboolean demur_session_backup(DemurSession *session, const char *path);
gboolean demur_session_assess(DemurSession *session, const DemurAssessParams *params);
/* What an assessment of all series came to, as a notice; then the signal "assessed". */
void demur_session_tell_assessed(DemurSession *session);
/* Takes that assessment, the last one, back (tasks/assess-undo.h), with why. */
gboolean demur_session_undo_assess(DemurSession *session, gint64 batch, const char *reason);
/* A person's decision on the series that is assessed of a study, and its verdict by the newest
 * selector. */
gboolean demur_session_choose(DemurSession *session, const char *scan_id, const char *reason);
/* How a person decides a contradiction (tasks/decisions.h). */
typedef enum {
  DEMUR_SESSION_KEEP,    /* this volume is right, those that contradict it leave */
  DEMUR_SESSION_BOTH,    /* all are what they say */
  DEMUR_SESSION_CORRECT, /* it came as the archive's correction of the person */
} DemurSessionDecision;
gboolean demur_session_resolve(DemurSession *session, const char *scan_id,
                               DemurSessionDecision decision, const char *reason);
/* Takes series out for good, with a reason, as `demur dicom remove` does; removal is copied. */
gboolean demur_session_remove(DemurSession *session, const DemurRemoval *removal,
                              const char *reason);
/* The page of the current case, with what its risk means in the selector's cohort, as PDF and
 * JSON. */
gboolean demur_session_export_case(DemurSession *session, const char *path);
void demur_session_cancel(DemurSession *session);
/* What runs: title NULL where nothing does. */
const char *demur_session_busy(DemurSession *session, double *fraction);
/* Of the last import; NULL: none. */
const DemurImportOutcome *demur_session_outcome(DemurSession *session);

void demur_session_notice(DemurSession *session, const char *text, gboolean is_error);
/* Says an error, unless it is a cancelling. */
void demur_session_fail(DemurSession *session, const GError *error);

G_END_DECLS
