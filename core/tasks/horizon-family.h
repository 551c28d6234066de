/* Selectors of several horizons that were trained together (tasks/horizons.h), and what they hold
 * back together.
 *
 * The risks of one scan within 1 to 6 years of one model are nearly functions of each other: each
 * that is shown bounds the others, and with a few scans where all are shown tells them. So a scan's
 * risks are shown or held back as one: shown where every selector of the family that has a threshold
 * accepts it, held back at every horizon where any does not. A verdict still says which horizon it
 * was: the reasons are the selector's own where it refuses, and DEMUR_REASON_TOGETHER where another
 * one does. docs/method.md, "Horizons". */
#pragma once

#include "tasks/assess.h"

G_BEGIN_DECLS

/* Adds the names of the other selectors of the families that these assessments' selectors belong to
 * (owned texts); none where they belong to none. */
gboolean demur_horizon_family_others(DemurWorkspace *workspace, const DemurAssessment *assessments,
                                     size_t n, GPtrArray *names,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Holds back in each assessment what another one of its family does; all are of the same scans, each
 * by its own threshold alone as yet. Without a threshold none holds anything back. O(n x scans). */
void demur_horizon_family_hold(DemurAssessment *const *assessments, size_t n);

G_END_DECLS
