/* A selector as it may leave its workspace: without anything of a single person.
 *
 * What it loses. The hashes of the patients and scans that made it: identifiers have few digits,
 * and all of them can be tried (12,029 came out in .8 s). The reference embeddings and the training
 * scans (their meta features, risk, label, site): in their place stand prototypes, means of groups
 * of at least DEMUR_RELEASE_GROUP scans (features/prototypes.h). kNN, KDE, one-class SVM, forest
 * and LOF are fitted on them anew. Their values have another scale there, so each goes through a
 * map: the quantiles of the five on the reference scans, against prototypes and against the scans
 * themselves, DEMUR_RELEASE_KNOTS of them, straight lines between and beyond. Networks, scalers,
 * components, recalibration and correctors are sums over all scans and stay. What the scores lose
 * is measured in docs/selector-file.md.
 *
 * With the reference: its rows and the training scans stay, the hashes go all the same.
 *
 * A released selector does not know who made it: it can't tell in-sample scans, and leaves no scan
 * out of its own distances. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

#define DEMUR_RELEASE_GROUP 10
#define DEMUR_RELEASE_KNOTS 65

typedef enum {
  DEMUR_RELEASE_NONE, /* a selector in its workspace */
  DEMUR_RELEASE_PROTOTYPES,
  DEMUR_RELEASE_REFERENCE, /* with the reference rows and training scans, without hashes */
} DemurRelease;

/* NULL with DEMUR_ERROR_STATE where there are too few reference scans for prototypes (or the
 * selector was released already in another way), or when cancelled. One that was released so
 * already is returned itself (a new reference). */
DemurSelector *demur_selector_release(DemurSelector *selector, DemurRelease release,
                                      DemurParallel *parallel, const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

DemurRelease demur_selector_released(const DemurSelector *selector);
/* The digest of what it is, whatever it is called and however often it left and came back: of the selector it was
 * released from, its own where it was not. */
const char *demur_selector_origin(const DemurSelector *selector);

/* The digest of the selector it was made of; NULL where it was not released. */
const char *demur_selector_released_from(const DemurSelector *selector);

G_END_DECLS
