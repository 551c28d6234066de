/* What a selector scores scans by: its networks, or one meta feature alone (no network). One table:
 * training, scoring, the baselines of an evaluation and the options read it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_SCORING_NETWORK,
  DEMUR_SCORING_CONFIDENCE,
  DEMUR_SCORING_ENTROPY,
  DEMUR_SCORING_KNN,
  DEMUR_SCORING_KDE,
  DEMUR_SCORING_SVM,
  DEMUR_SCORING_FOREST,
  DEMUR_SCORING_LOF,
  DEMUR_SCORING_MC,
  DEMUR_N_SCORINGS,
} DemurScoring;

typedef struct {
  const char *name, *title; /* "confidence"; for people */
  const char *column;       /* of the meta features; NULL for networks */
  double keep_sign;         /* sign x value is high where a scan should be kept */
  guint features;           /* DemurFeatureGroups that hold the column */
  gboolean needs_embeddings, needs_binary;
  gboolean
      one_scale; /* a function of the risk alone: scores of several trainings can be compared */
} DemurScoringRow;

const DemurScoringRow *demur_scoring_row(DemurScoring scoring);

/* DEMUR_ERROR_USAGE with the list for another word. */
gboolean demur_scoring_from_name(const char *name, DemurScoring *scoring,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A score in (0, 1), like g~, that ranks scans by keep_sign x value: 1/2 (1 + x / (1 + |x|)), which
 * never rounds two far values to one. The confidence itself, which lies there. */
double demur_scoring_score(DemurScoring scoring, double value);

G_END_DECLS
