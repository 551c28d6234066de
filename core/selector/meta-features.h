/* phi_meta(x): the meta features of a scan, in the order of design method.md.
 *
 *   p_0 .. p_(K-1), one-hot of the argmax, max p, entropy, kNN, KDE, one-class SVM, isolation
 * forest, LOF
 *
 * (the first two parts only while K is small; the last five only where there are embeddings). */
#pragma once

#include "cohort/cohort.h"
#include "features/outlier.h"
#include "selector/settings.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_columns;
  char **names;     /* [n_columns] "p_0", "class_1", "max_p", "entropy", "knn", .. */
  guint *groups;    /* [n_columns] the DemurFeatureGroups that a column needs, all of them */
  size_t n_outlier; /* the last n_outlier columns are features/outlier.h's; 0 without embeddings */
} DemurMetaColumns;

DemurMetaColumns *demur_meta_columns_new(size_t n_classes, gboolean with_embeddings);
void demur_meta_columns_free(DemurMetaColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMetaColumns, demur_meta_columns_free)

/* What a column is called for people: "distance to the 8 nearest reference scans". */
const char *demur_meta_column_title(const char *name);

/* Raw meta features out [n_rows][n_columns] of the cohort's rows. outlier may be NULL only where
 * the columns have none. exclude [n_rows] or NULL: the reference row that is this scan itself
 * (features/outlier.h). */
gboolean demur_meta_features_compute(const DemurMetaColumns *columns, const DemurCohort *cohort,
                                     const guint32 *rows, size_t n_rows,
                                     const DemurOutlierModel *outlier, const gssize *exclude,
                                     DemurParallel *parallel, const DemurProgress *progress,
                                     double *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Embeddings of the rows, gathered (owned, g_aligned_free): [n_rows][d]. */
float *demur_meta_gather_embeddings(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);

G_END_DECLS
