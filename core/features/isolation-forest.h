/* Isolation forest (Liu, Ting and Zhou 2008), as scikit-learn's: n_trees trees, each grown on
 * psi = min(sample, n) rows drawn without replacement down to depth ceil(log2 psi) by uniform cuts
 * of a column drawn among those that are not constant;
 *
 *   score(x) = -2^(-mean_t h_t(x) / c(psi)),   h = depth of x's leaf + c(rows in that leaf)
 *   c(1) = 0, c(2) = 1, c(n) = 2 (ln(n - 1) + 0.5772..) - 2 (n - 1) / n
 *
 * in [-1, 0); high is normal. Tree t is grown from the stream (seed, FOREST, t). The cuts don't
 * depend on the scale of a column, so raw embeddings do. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "base/json-tree.h"
#include "base/json-writer.h"
#include "base/parallel.h"

G_BEGIN_DECLS

#define DEMUR_FOREST_TREES 100
#define DEMUR_FOREST_SAMPLE 256

typedef struct DemurForest DemurForest;

/* rows [n][d], finite, n >= 1, d >= 1. */
DemurForest *demur_forest_fit(const float *rows, size_t n, size_t d, size_t n_trees, size_t sample,
                              guint64 seed, DemurParallel *parallel);
void demur_forest_free(DemurForest *forest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurForest, demur_forest_free)
size_t demur_forest_width(const DemurForest *forest); /* d */

/* queries [m][d] -> out[i * out_stride]. */
void demur_forest_score(const DemurForest *forest, const float *queries, size_t m, double *out,
                        size_t out_stride, DemurParallel *parallel);

/* The members of one JSON object (the caller opens and closes it); what was written reads back to
 * the same scores. A document that is no forest of width d is refused (DEMUR_ERROR_INPUT): children
 * must lie behind their parent, so that every path ends. apart (NULL: none): what the object's tree left out. */
void demur_forest_write_json(const DemurForest *forest, DemurJson *json);
DemurForest *demur_forest_read_json(JsonObject *object, const DemurJsonApart *apart, size_t d,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
