/* The NLST's table of images (CDAS "CT image information", or the public table nlst_screen): by
 * which scanner, kernel and slice thickness a screen was taken. Inside the room.
 *
 * Columns: pid, study_yr; seriesinstanceuids (or series_uid), imagetype; manufacturer,
 * manufacturers_model_name (or model_name), reconfilter (or ct_recon_filter1), reconthickness,
 * reconinterval, kvp (or techpara_kvp), techpara_ma. They become the reserved attributes
 * manufacturer, model_name, kernel, slice_thickness_mm, spacing_mm, kvp, tube_current_ma.
 *
 * A screen may have several series. Where the score names its own (column series_uid), that one
 * counts; else what all series of the screen agree on: what they differ in is left empty and
 * counted. Localizers (imagetype) do not count, and no number below 0 does, which the tables write
 * for "not recorded". */
#pragma once

#include "cohort/cohort.h"
#include "cohort/column-map.h"

G_BEGIN_DECLS

typedef struct DemurNlstImages DemurNlstImages;

/* NULL with DEMUR_ERROR_INPUT and line and column. warnings: of DemurTableWarning. */
DemurNlstImages *demur_nlst_images_read(const char *path, DemurColumnMap *columns,
                                        GPtrArray *warnings,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_nlst_images_free(DemurNlstImages *images);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurNlstImages, demur_nlst_images_free)

/* Whether an attribute of that name comes from the images. */
gboolean demur_nlst_images_has(const char *name);

/* Gives the scan added last its attributes; series NULL or "": not named. FALSE where the score's
 * series is of another screen in the table, or of none: nothing was given then but empty texts. */
gboolean demur_nlst_images_add(DemurNlstImages *images, DemurCohortBuilder *builder,
                               const char *pid, int year, const char *series);

/* Adds how many scans found no image, or images that differ. */
void demur_nlst_images_warn(const DemurNlstImages *images, GPtrArray *warnings);

G_END_DECLS
