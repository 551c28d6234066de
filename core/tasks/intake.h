/* From paths to series kept in the workspace, with one choice a study over all that it holds: what
 * `demur dicom import`, `receive` and `choose` share. */
#pragma once

#include "tasks/task.h"
#include "base/json-writer.h"
#include "dicom/import.h"
#include "store/overrules.h"
#include "store/series.h"

G_BEGIN_DECLS

/* Institution and station -> site, from a table with the columns site and institution, station or
 * both. The first row whose given cells all match (without regard to case and outer blanks) names
 * the site. */
typedef struct DemurSiteMap DemurSiteMap;

/* NULL with DEMUR_ERROR_INPUT, line and column where it is no such table. */
DemurSiteMap *demur_site_map_read(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_site_map_free(DemurSiteMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSiteMap, demur_site_map_free)
/* NULL where no row matches. */
const char *demur_site_map_find(const DemurSiteMap *map, const char *institution,
                                const char *station);

/* The rules of --rules FILE and --set CHANGE.. (either may be NULL), the file first. */
DemurEligibility *demur_intake_rules(const char *path, char *const *changes,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  DemurImport *import;
  GPtrArray *records; /* DemurSeriesRecord as the workspace has them now, in import's order */
} DemurIntake;

typedef struct {
  const DemurEligibility *rules; /* NULL: the project's */
  const DemurSiteMap *sites;     /* NULL: none */
  gboolean reread;               /* the pixels of files that are as they were imported, too */
} DemurIntakeParams;

/* Reads paths, saves every series found and makes the choice anew for each study touched: over all
 * its series in the workspace, by the rules, unless a person has chosen, and unless a score of the
 * study is known already: then the series chosen before stays. Of a file that was imported from the
 * same place and is unchanged since by its stamp (base/file-stamp.h) the header alone is read
 * (import->n_known counts them); whoever shows or scores images reads them whole in any case. */
DemurIntake *demur_intake_run(DemurTask *task, const char *const *paths,
                              const DemurIntakeParams *params,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_intake_free(DemurIntake *intake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurIntake, demur_intake_free)

/* A person's decision: scan_id is assessed in place of the study's other series, whatever the rules
 * say; both verdicts are kept. DEMUR_ERROR_STATE for what no person may overrule: two patients in
 * one series, or images that are no CT. */
gboolean demur_intake_choose(DemurTask *task, const char *scan_id, const char *reason,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Member "overrule": null, or the reason, the time, and the rules' own verdict. */
void demur_intake_json_overrule(DemurJson *json, const DemurOverruleRecord *record);

G_END_DECLS
