/* A part of a long study (validation, search) that another process or machine computed: a document
 * of the folds it did. Any parts that together hold every fold once give the bytes of the study that
 * was run whole (evaluation/shard-plan.h). No patient, scan or site is named: values stand in the order
 * of the training scans. */
#pragma once

#include "evaluation/left-out.h"
#include "evaluation/shard-plan.h"

G_BEGIN_DECLS

/* trials [n_trials]: the folds that are done of each. failed [n_trials], may be NULL: a trial whose
 * training came to numbers that are not finite, which is a result. The document, owned. */
char *demur_shard_plan_write_part(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                                  const gboolean *failed);

/* Puts what the document holds into trials and failed. name: what to call it in messages.
 * DEMUR_ERROR_INPUT for a document that is none, was edited, is of another study, or holds a fold
 * that is done already; nothing is changed then. */
gboolean demur_shard_plan_read_part(const DemurShardPlan *plan, const char *text, gssize length,
                                    const char *name, DemurLeftOut *const *trials, gboolean *failed,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_INPUT with the folds that no part held. */
gboolean demur_shard_plan_check_whole(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                                      const gboolean *failed,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
