/* What kind of method an evaluation measures: a selector, or a baseline. Carried as data beside the
 * name; nothing reads the name to know it. */
#pragma once

#include "selector/scoring.h"

G_BEGIN_DECLS

/* The baselines that are one meta feature are those of selector/scoring.h. */
typedef enum {
  DEMUR_METHOD_SELECTOR = DEMUR_SCORING_NETWORK,
  DEMUR_METHOD_CONFIDENCE = DEMUR_SCORING_CONFIDENCE,
  DEMUR_METHOD_ENTROPY = DEMUR_SCORING_ENTROPY,
  DEMUR_METHOD_KNN = DEMUR_SCORING_KNN,
  DEMUR_METHOD_KDE = DEMUR_SCORING_KDE,
  DEMUR_METHOD_SVM = DEMUR_SCORING_SVM,
  DEMUR_METHOD_FOREST = DEMUR_SCORING_FOREST,
  DEMUR_METHOD_LOF = DEMUR_SCORING_LOF,
  DEMUR_METHOD_MC = DEMUR_SCORING_MC,
  DEMUR_METHOD_FULL,   /* everything is kept */
  DEMUR_METHOD_RANDOM, /* any are */
} DemurMethodKind;

/* The name in JSON (owned): "selector:NAME", "full", "confidence", "knn" .. selector is of the first
 * kind alone, else NULL. */
char *demur_method_name(DemurMethodKind kind, const char *selector);

G_END_DECLS
