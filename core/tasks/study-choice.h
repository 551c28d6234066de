/* Which series of a study is assessed: by the rules, unless a person has chosen, and unless a score
 * of the study is known already: then the series chosen before stays. */
#pragma once

#include "store/series.h"

G_BEGIN_DECLS

/* The study of a series as one text (owned; of a series without one, itself). */
char *demur_study_choice_key(const DemurSeriesRecord *record);

/* The series of the study with that key, as demur_series_list. */
GPtrArray *demur_study_choice_series(DemurWorkspace *workspace, const char *key,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the choice anew for each person in every study named by keys (a set of texts). before: the
 * series of those studies, and maybe others, as they were (DemurSeriesRecord). What conflicts is never chosen. */
gboolean demur_study_choose(DemurWorkspace *workspace, GHashTable *keys, const GPtrArray *before,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The other series of the study and person of record that is assessed; NULL where there is none.
 * Borrowed from all (DemurSeriesRecord). */
const DemurSeriesRecord *demur_study_chosen_beside(const GPtrArray *all,
                                                   const DemurSeriesRecord *record);

/* Why a series that conflicts is not assessed, as DemurSeriesRecord.reason (owned). */
char *demur_study_choice_conflict(const DemurSeriesRecord *record);

G_END_DECLS
