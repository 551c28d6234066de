/* A person's decisions on which DICOM series of a study is assessed, against the rules' own
 * verdict. Nothing is ever overwritten: a later decision stands beside the earlier one. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  gint64 id;     /* set when loaded; grows with time */
  char *scan_id; /* of the series a person chose */
  char *reason;  /* the person's; never empty */
  /* The verdict of the rules, as it stood. */
  gboolean rules_eligible, rules_accepted;
  char *rules_reason; /* as DemurSeriesRecord.reason; NULL where the rules accepted it */
  char *replaced;     /* scan_id of the series that was to be assessed before; NULL: none */
  char *created;
  char *user; /* NULL: not known */
} DemurOverruleRecord;

void demur_overrule_record_free(DemurOverruleRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurOverruleRecord, demur_overrule_record_free)

/* Its key in the log (owned), and what its digest must be (owned). */
char *demur_overrule_key(gint64 id);
char *demur_overrule_digest(const DemurOverruleRecord *record);

/* DEMUR_ERROR_NOT_FOUND where there is no such scan. */
gboolean demur_overrules_add(DemurWorkspace *workspace, const DemurOverruleRecord *record,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurOverruleRecord, newest first (owned). scan_id NULL: of every scan. */
GPtrArray *demur_overrules_list(DemurWorkspace *workspace, const char *scan_id,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The decision in force for a series: the newest that names it, where the series is accepted (a
 * later decision for another series of the study takes the acceptance away). *record is NULL, and
 * no error set, where there is none. */
gboolean demur_overrules_current(DemurWorkspace *workspace, const char *scan_id, gboolean accepted,
                                 DemurOverruleRecord **record,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
