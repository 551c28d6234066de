/* kNN feature: the mean Euclidean distance to the k = 8 nearest reference rows
 * (golden/outlier.json, knn8_mean). Fewer rows than k: the mean over those there are. Low is
 * normal. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_NEIGHBOURS_K 8

/* near_distances [m][stride], ascending in each row (demur_distance_pass); the first k <= stride of
 * each row are averaged into out[i * out_stride]. k >= 1. */
void demur_neighbours_mean_distance(const double *near_distances, size_t m, size_t stride, size_t k,
                                    double *out, size_t out_stride);

G_END_DECLS
