/* What sites came to without sharing scans (evaluation/federate.h), taken into the selector that all of
 * them have: another selector, with a digest of its own, whose document names the study.
 *
 *   recalibration  logit r' = a logit r + b of the model's risk r (K > 2: softmax(a log p)), in place of
 *                  the selector's own map
 *   corrector      weights and intercept of delta at the study's lambda, in place of those of the
 *                  corrector of raw risks; its share s and the spread of its sites stay. Where the
 *                  risks are that corrector's they change, where they are the model's the scores alone
 *   intercept      logit r' = logit r_seen + b of the risk that the selector sees: what an audit of all
 *                  sites together says
 *
 * Networks, scalers, reasons and the corrector of the risks that are seen stay as they were trained, as
 * where a site's audit moves its risks. Thresholds don't come along: the risks are others, and with them
 * the scores. The same selector and the same numbers give the same document everywhere. */
#pragma once

#include "base/json-writer.h"
#include "selector/selector.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_FEDERATED_RECALIBRATION,
  DEMUR_FEDERATED_CORRECTOR,
  DEMUR_FEDERATED_INTERCEPT,
  DEMUR_N_FEDERATED_PARTS,
} DemurFederatedPart;

/* "recalibration", ..: as documents have it. */
const char *demur_federated_part_name(DemurFederatedPart part);

/* Where a part of a selector comes from. */
typedef struct {
  DemurFederatedPart part;
  const char *result;       /* digest of what the study came to */
  const char *selector;     /* of the selector that it is of */
  const char *const *sites; /* that answered, to NULL */
  guint64 n_scans;          /* of all of them */
} DemurFederatedOrigin;

#define DEMUR_FEDERATED_MOST 100 /* studies that one selector may come from */
#define DEMUR_FEDERATED_MOST_SITES 1000

/* What a study came to; numbers of other parts are not read. */
typedef struct {
  DemurRecalibrationKind kind; /* of a recalibration: intercept, temperature or Platt */
  double slope, intercept;     /* b alone of an intercept */
  double lambda;               /* of a corrector: */
  size_t n_weights;
  const double *weights; /* [n_weights] */
  const guint32
      *columns;       /* [n_weights] which each is of, ascending; those that are lacking have 0 */
  gboolean simulated; /* some of its scans are simulated */
} DemurFederatedNumbers;

/* Whether a study of that part has a place in the selector, whatever it comes to; for who is about to begin one.
 * DEMUR_ERROR_UNSUPPORTED, with what can be asked for, where it has none (an intercept behind isotonic steps, a
 * corrector that nothing hangs on: its s is 0, a map stands before the corrector that is read, or scores read
 * none); DEMUR_ERROR_INPUT where it needs binary risk. */
gboolean demur_selector_may_federate(const DemurSelector *selector, DemurFederatedPart part,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The new selector. DEMUR_ERROR_STATE where the study is of another selector; DEMUR_ERROR_INPUT where it
 * has other columns or classes, or numbers that no fit gives; errors of demur_selector_may_federate. */
DemurSelector *demur_selector_federate(const DemurSelector *selector,
                                       const DemurFederatedOrigin *origin,
                                       const DemurFederatedNumbers *numbers,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The studies that a selector comes from, the earliest first; 0: it is as it was trained. */
size_t demur_selector_n_federated(const DemurSelector *selector);
/* Study i; what it points to is the selector's own. */
DemurFederatedOrigin demur_selector_federated(const DemurSelector *selector, size_t i);

/* What of the selector comes from a study. */
typedef enum {
  DEMUR_FEDERATED_RISKS,  /* its risks, and with them its scores */
  DEMUR_FEDERATED_SCORES, /* its scores alone */
  DEMUR_FEDERATED_UNUSED, /* nothing: a later study took its place */
  DEMUR_N_FEDERATED_REACHES,
} DemurFederatedReach;

/* Of study i. */
DemurFederatedReach demur_selector_federated_reach(const DemurSelector *selector, size_t i);

/* All of them as the member "federated" of the object that is open, as the selector's document has it:
 * [{"part", "result", "selector", "sites", "n_scans"}]; no member where there is none. */
void demur_selector_write_federated(const DemurSelector *selector, DemurJson *json);

G_END_DECLS
