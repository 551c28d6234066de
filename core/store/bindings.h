/* What verdicts rest on, as it is at one moment: taken when a verdict is made, to be kept with it,
 * and when it is read, to say whether it still holds. The state of a verdict is derived from this,
 * and is nowhere kept.
 *
 *     verdict -> person, images (of the series), its site and making, score, selector, threshold in
 *     use, site audit;
 *     of a cohort's row: the cohort in place of series and score.
 *
 * Images are what the workspace knows of the series, and what lies at their stored places: a slice
 * that was deleted or replaced there since is other images too (demur_workspace_set_places_look).
 * Places are looked at once a DemurBindings, and only of verdicts that else hold.
 *
 * A selector of a family (store/selectors.h) holds back what another of it does: its threshold in
 * use is then that of all of them, with the site audits of each, which change what it refuses.
 *
 * Each arrow is a digest: of a row that was made anew with the same values too, since the number of
 * its event is in it. A verdict without them (of an older program) is bound by names only and never
 * holds. Take bindings in the same read transaction as what they are of. */
#pragma once

#include "store/verdicts.h"

G_BEGIN_DECLS

typedef struct DemurBindings DemurBindings;

/* As things are now. cohort NULL: for DICOM series; else for that cohort's rows (which may be
 * gone). Not longer than the workspace is open.
 */
DemurBindings *demur_bindings_load(DemurWorkspace *workspace, const char *cohort,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_bindings_free(DemurBindings *bindings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurBindings, demur_bindings_free)

/* Sets what the verdicts of a batch are bound to (batch->selector and model are set), and one
 * verdict (record->scan_id and site are). All texts are borrowed from the bindings. */
void demur_bindings_bind_batch(const DemurBindings *bindings, DemurVerdictBatch *batch);
void demur_bindings_bind(const DemurBindings *bindings, const DemurVerdictBatch *batch,
                         DemurVerdictRecord *record);

/* Why a loaded verdict no longer holds; DEMUR_CURRENT where it does. */
DemurOutdated demur_bindings_judge(const DemurBindings *bindings, const DemurVerdictRecord *record);

/* What lies at the places of a DICOM series' images. */
DemurPlaces demur_bindings_places(const DemurBindings *bindings, const char *scan_id);

/* Whether its scan is still there: of a DICOM series that was taken out nothing is listed. */
gboolean demur_bindings_has_scan(const DemurBindings *bindings, const char *scan_id);

G_END_DECLS
