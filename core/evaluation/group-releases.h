/* Of which sets of accepted scans numbers that count outcomes (refusals by label, O:E, calibration in
 * the large) may be told of groups: of the canonical sets of the whole split alone, as its own points
 * (evaluation/point-releases.h), where each label has enough refused and kept in the group and
 * between any two sets, and so that no withheld group's follow from the whole split's and the told
 * ones (base/small-cells.h). */
#pragma once

#include "evaluation/groups.h"

G_BEGIN_DECLS

/* The groups of one way: their entries places[g] [n_places[g]] of the sample, and their results
 * [n_methods each, of the input's methods], whose asides are taken away. input->told is given. The methods side by side. */
void demur_group_points_release(const DemurGroupsInput *input, size_t n_groups,
                                const guint32 *const *places, const size_t *n_places,
                                DemurGroupMethod *const *results, DemurParallel *parallel);

G_END_DECLS
