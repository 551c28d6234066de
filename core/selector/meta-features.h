/* phi_meta(x): the meta features of a scan, in the order of design method.md.
 *
 *   p_0 .. p_(K-1), one-hot of the argmax, max p, entropy,   (the first two parts only while K is
 * small) kNN, KDE, one-class SVM, isolation forest, LOF,           (only where there are
 * embeddings) s delta, |h - r|, log expected miscalibration             (only where there is a
 * corrector) */
#pragma once

#include "cohort/cohort.h"
#include "features/outlier.h"
#include "selector/settings.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_columns;
  char **names;  /* [n_columns] "p_0", "class_1", "max_p", "entropy", "knn", .. */
  guint *groups; /* [n_columns] the DemurFeatureGroups that a column needs, all of them */
  size_t n_confidence, n_outlier, n_corrector; /* parts, in this order */
} DemurMetaColumns;

DemurMetaColumns *demur_meta_columns_new(size_t n_classes, gboolean with_embeddings,
                                         gboolean with_corrector);
void demur_meta_columns_free(DemurMetaColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMetaColumns, demur_meta_columns_free)

/* What a column is called for people: "distance to the 8 nearest reference scans". */
const char *demur_meta_column_title(const char *name);

/* The confidence columns of the cohort's rows into out, whose rows lie n_columns apart. */
void demur_meta_confidence(const DemurMetaColumns *columns, const DemurCohort *cohort,
                           const guint32 *rows, size_t n_rows, double *out);

G_END_DECLS
