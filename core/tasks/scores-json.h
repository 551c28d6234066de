/* What external models write as JSON: one score or several, with or without the scans' names. */
#pragma once

#include <glib.h>

#include "store/scores.h"

G_BEGIN_DECLS

/* A score, and how the file names its scan. */
typedef struct {
  DemurScoreRecord *record;   /* risk, years, embedding */
  char *series_uid, *scan_id; /* NULL where the file does not say */
  char *name;                 /* the member's or the item's "name", else its place ("0", "1", ..) */
} DemurNamedScore;

void demur_named_score_free(DemurNamedScore *score);

/* Whether all that it says of whom it is of (series_uid, scan_id, a name that is a UID) is this series
 * (series_uid may be NULL); what it does not say speaks against nothing. */
gboolean demur_named_score_is_of(const DemurNamedScore *score, const char *scan_id,
                                 const char *series_uid);

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
