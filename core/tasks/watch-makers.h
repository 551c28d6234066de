/* Inside the room: who made a selector, under whatever name, spelling or cohort they come again. What fits the
 * patients it was trained on says nothing of a hospital. */
#pragma once

#include "cohort/cohort.h"
#include "selector/selector.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  const DemurSelector *selector; /* NULL: nobody made it */
  DemurCohort *own;              /* the cohort it was trained on; NULL: not in the workspace */
  GHashTable *keys;              /* demur_person_key of the patients there that it has seen */
} DemurWatchMakers;

gboolean demur_watch_makers_read(DemurWorkspace *workspace, const DemurSelector *selector,
                                 DemurWatchMakers *makers,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_watch_makers_clear(DemurWatchMakers *makers);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurWatchMakers, demur_watch_makers_clear)

/* Whether the cohort's patients are others who only bear the same numbers: of another simulation, as no
 * scan of both has the same risk. O(scans). */
gboolean demur_watch_makers_apart(const DemurWatchMakers *makers, const DemurCohort *cohort);

/* Whether this patient made the selector. row of a cohort that is not apart, or cohort NULL: a DICOM
 * series. */
gboolean demur_watch_makers_hold(const DemurWatchMakers *makers, const DemurCohort *cohort,
                                 size_t row, const char *patient_id);

G_END_DECLS
