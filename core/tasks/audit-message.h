/* Events of DICOM series as audit messages (DICOM PS3.15 A.5), for an audit record repository: who saw,
 * changed or removed whose images. A message names the patient by ID, as the profile asks; it is made
 * from the log and the workspace, and nothing of it is kept in the log. */
#pragma once

#include "store/events.h"
#include "store/series.h"

G_BEGIN_DECLS

/* One AuditMessage on one line (owned). series: the one that the event is of. NULL where events of that
 * kind are none of a patient's images or record. */
char *demur_audit_message(const DemurEvent *event, const DemurSeriesRecord *series);

G_END_DECLS
