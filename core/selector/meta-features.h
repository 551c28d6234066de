/* phi_meta(x): the meta features of a scan, in the order of docs/method.md.
 *
 *   p_0 .. p_(K-1), one-hot of the argmax, max p, entropy,   (the first two parts only while K is
 * small) kNN, KDE, one-class SVM, isolation forest, LOF,           (only where there are
 * embeddings) s delta, |h - r|, log expected miscalibration             (only where there is a
 * corrector), how the scan was made                       (only where that is asked for) */
#pragma once

#include "cohort/cohort.h"
#include "features/acquisition.h"
#include "features/outlier.h"
#include "selector/settings.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_columns;
  char **names;  /* [n_columns] "p_0", "class_1", "max_p", "entropy", "knn", .. */
  guint *groups; /* [n_columns] the DemurFeatureGroups that a column needs, all of them */
  size_t n_confidence, n_outlier, n_corrector, n_acquisition; /* parts, in this order */
} DemurMetaColumns;

/* acquisition NULL: without. */
DemurMetaColumns *demur_meta_columns_new(size_t n_classes, gboolean with_embeddings,
                                         gboolean with_corrector,
                                         const DemurAcquisition *acquisition);
void demur_meta_columns_free(DemurMetaColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMetaColumns, demur_meta_columns_free)

/* What a column is called for people: "distance to the 8 nearest reference scans". */
const char *demur_meta_column_title(const char *name);

/* The confidence columns of the cohort's rows into out, whose rows lie n_columns apart. */
void demur_meta_confidence(const DemurMetaColumns *columns, const DemurCohort *cohort,
                           const guint32 *rows, size_t n_rows, double *out);

/* How the cohort's rows were made (owned; texts belong to the cohort), from its reserved columns.
 * NULL with DEMUR_ERROR_STATE where it has none of them (with their names), or where one that is a
 * number holds something else (with the scan). */
DemurAcquisitionScan *demur_meta_acquisition_scans(const DemurCohort *cohort, const guint32 *rows,
                                                   size_t n_rows,
                                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
