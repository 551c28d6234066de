/* A study at hospitals that may not share scans (evaluation/federate.h): a coordinator starts it and
 * merges answers, each site answers from its own workspace. Files are carried by whoever carries them. */
#pragma once

#include "evaluation/federate-ledger.h"
#include "evaluation/federate-merge.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  DemurFederateStudy study;
  DemurRecalibrationKind kind; /* of a recalibration */
  const char *selector;        /* name in this workspace */
  char *const *sites;          /* to NULL */
  double
      lambda; /* of a corrector, 0 to DEMUR_FEDERATE_MOST_LAMBDA; NaN: the selector's corrector's */
  const char *leave_out; /* likewise: columns that are not asked of, "2,3"; NULL: none */
  /* Of an evaluation: "0.4,0.6"; NULL: those that the selector is tuned to; "": none, of everything
   * alone. */
  const char *thresholds;
  const char *edges;  /* likewise, of risk; NULL: .01, .02, .05, .1, .2, .5 */
  const char *output; /* the round's file; replaced */
} DemurFederateStartParams;

/* The first round, written. DEMUR_ERROR_USAGE for fewer than two sites, a name twice, or what the study
 * does not take; DEMUR_ERROR_STATE for an evaluation without thresholds of a selector that is not tuned; DEMUR_ERROR_UNSUPPORTED where it needs binary risk,
 * and for a corrector that could not be installed (selector/federated.h). */
DemurFederateRound *demur_task_federate_start(DemurTask *task,
                                              const DemurFederateStartParams *params,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  const char *round;  /* file */
  const char *site;   /* who answers */
  const char *cohort; /* whose scans */
  const char *split;  /* NULL: "test" */
  const char *
      ledger; /* file of what was told; NULL: the workspace's, with .federate behind its name (of a server's there is none) */
  const char *output; /* NULL: nothing is written or noted, to see what would leave */
} DemurFederateAnswerParams;

typedef struct {
  DemurFederateRound *round;
  DemurFederateAnswer *answer;
  char *selector, *ledger;
  gboolean known; /* the same was told before */
  size_t n_seen;  /* scans left out: their patients made the selector */
} DemurFederateAnswered;

/* DEMUR_ERROR_USAGE where the site is not asked, or a server's workspace has no ledger named; DEMUR_ERROR_OUTPUT where its folder can't be locked; DEMUR_ERROR_NOT_FOUND where no selector of the workspace is the round's; DEMUR_ERROR_STATE where the
 * ledger forbids it or lacks an answer that the workspace's log holds, or a scan has no label. The ledger is written before the answer, and an event of
 * the log that it leaves; who answers at the same time waits. */
DemurFederateAnswered *demur_task_federate_answer(DemurTask *task,
                                                  const DemurFederateAnswerParams *params,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_federate_answered_free(DemurFederateAnswered *answered);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateAnswered, demur_federate_answered_free)

typedef struct {
  const char *round;    /* file */
  const char *output;   /* of the next round, or of the result; replaced */
  char *const *answers; /* files, to NULL */
  char *const *without; /* sites, to NULL; NULL: none */
} DemurFederateMergeParams;

/* One of them is set. */
typedef struct {
  DemurFederateRound *next;
  DemurFederateResult *result;
} DemurFederateMerged;

/* Errors of demur_federate_merge, and of reading, with the file before them. */
DemurFederateMerged *demur_task_federate_merge(const DemurFederateMergeParams *params,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_federate_merged_free(DemurFederateMerged *merged);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateMerged, demur_federate_merged_free)

/* Reads a round, and an answer to it (NULL: none); errors have the file before them. */
gboolean demur_task_federate_read(const char *round_path, const char *answer_path,
                                  DemurFederateRound **round, DemurFederateAnswer **answer,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
