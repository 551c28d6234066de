/* What external models write as JSON: one score or several, with or without the scans' names. */
#pragma once

#include <glib.h>

#include "store/scores.h"
#include "store/series.h"

G_BEGIN_DECLS

/* A score, and how the file names its scan. */
typedef struct {
  DemurScoreRecord *record;   /* risk, years, embedding */
  char *series_uid, *scan_id; /* NULL where the file does not say */
  char *name;                 /* the member's or the item's "name", else its place ("0", "1", ..) */
} DemurNamedScore;

void demur_named_score_free(DemurNamedScore *score);

/* What it says of whom it is of (scan_id, series_uid, a name that is a UID: of series, study or patient)
 * and that this series is not, the first of them (borrowed from score); NULL: nothing. What it does
 * not say speaks against nothing; name NULL: what it means is said elsewhere. */
const char *demur_named_score_other(const DemurNamedScore *score, const DemurSeriesRecord *series);

/* Reads FILE, which holds one of
 *   {"predictions": [[six yearly risks] or risk, ..]}       as Sybil writes it
 *   [{"series_uid" | "scan_id" | "name": .., SCORE}, ..], or {"scores": [..]} of the same
 *   {"name": SCORE or risk or [six yearly risks], ..}
 *   SCORE alone
 * where SCORE is "risk" or "risks" (six yearly ones) or "risk_year_1" .. "risk_year_6", and
 * optionally "embedding": [..], "patient_id" and "model_version" (of the list: beside it, where
 * "series_uid" and "scan_id" may stand too). Array of DemurNamedScore (owned, frees its
 * elements); DEMUR_ERROR_INPUT naming the item and what is wrong. */
GPtrArray *demur_scores_json_read(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
