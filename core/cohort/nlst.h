/* The National Lung Screening Trial's participant table and a model's scores, joined into a cohort.
 *
 * Persons: pid, cen (the site), scr_days0..scr_days2 (days from randomisation to each screen;
 * empty: not taken), candx_days (to the lung cancer; empty: none), fup_days (last follow-up),
 * death_days (may be absent). The first screen may be up to 30 days before randomisation. The
 * public table (nlst_prsn) has neither cen nor fup_days: every person is of one site then, and
 * canc_free_days stands for the follow-up; both are told. Scores: pid, study_yr (0 to 2), risk or risk_year_1..6, emb_0... series_uid
 * (with a table of images). A column split in either table names each patient's split. Other columns of both are kept as
 * attributes. "" and "." (SAS) are "not recorded".
 *
 * The rule, to the day. H = 2,192 days for six years, ceil(365.25 h) for h. Of a screen at day s:
 *   cancer at day c < s                       left out (cancer before the screen)
 *   0 <= c - s < H                            label 1
 *   c - s >= H, or no cancer and f - s >= H   label 0 (f the last follow-up)
 *   neither, and death at day d, d - s < H    competing event: as follow-up that ends there, or
 *                                             label 0 (death_event_free)
 *   else                                      follow-up too short: by short_followup kept without a
 *                                             label, left out, or label 0
 * Days are whole numbers from 0; a cancer's may be below 0 (found before entry). Codes such as -1,
 * and 999 where it stands too often to be a day, are refused by name.
 * Source: method.md, "NLST tables". */
#pragma once

#include "base/progress.h"
#include "cohort/cohort.h"
#include "cohort/column-map.h"
#include "cohort/split-maker.h"
#include "cohort/table-warnings.h"

G_BEGIN_DECLS

/* Scans followed for less than the horizon. Leaving them out, and more so taking them for label 0,
 * biases every measure of outcomes (method.md, "Censoring"). */
typedef enum {
  DEMUR_SHORT_WEIGHTED,   /* kept without a label, every scan with its time, so that the others can
                             stand for them (metrics/censoring.h) */
  DEMUR_SHORT_LEFT_OUT,   /* not in the cohort; nor are those whose follow-up is not recorded */
  DEMUR_SHORT_EVENT_FREE, /* label 0 */
} DemurShortFollowup;

typedef struct {
  const char *name, *model, *created;
  const char
      *split; /* of every scan; NULL: the column split, or selector_train where there is none */
  const DemurSplitPlan *splits; /* made in place of them; NULL: not */
  guint64 seed;                 /* of the splits made */
  DemurColumnMap *columns;      /* other names for columns of all tables; NULL: none */
  const char *images_path;      /* their table of images (cohort/nlst-images.h); NULL: none */
  int horizon_years;            /* 1 to 6: which label, and which risk_year_ is the risk */
  DemurShortFollowup short_followup;
  gboolean death_event_free;
  gboolean
      weights; /* adds the attribute ipc_weight: 1 / Kaplan-Meier estimate of staying uncensored */
} DemurNlstOptions;

/* How the scored screens fall by the rule, at one horizon. They add up to n_matched. */
typedef struct {
  size_t n_cancer;           /* label 1 */
  size_t n_followed;         /* label 0: no cancer, followed for the whole horizon */
  size_t n_cancer_later;     /* label 0: cancer behind the horizon */
  size_t n_cancer_before;    /* left out */
  size_t n_death;            /* death without cancer within the horizon */
  size_t n_censored;         /* follow-up too short */
  size_t n_followup_unknown; /* no cancer and no follow-up recorded: handled as censored */
} DemurNlstCases;

typedef struct {
  size_t n_persons, n_screens, n_scores; /* as read; a screen has a day */
  size_t n_matched;                      /* scores with their screen */
  size_t n_scores_without_person, n_scores_without_screen, n_screens_without_score;
  DemurNlstCases cases[DEMUR_N_YEARS]; /* by horizon; [5] is six years */
  size_t n_scans;                      /* in the cohort, at options' horizon */
} DemurNlstCounts;

/* NULL with DEMUR_ERROR_INPUT and the faults, as demur_cohort_import; DEMUR_ERROR_USAGE for a horizon
 * out of 1 to 6 years or options that contradict each other. *warnings (of DemurTableWarning, owned) as
 * there. */
DemurCohort *demur_cohort_import_nlst(const char *persons_path, const char *scores_path,
                                      const DemurNlstOptions *options,
                                      const DemurProgress *progress, DemurNlstCounts *counts,
                                      GPtrArray **warnings,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Days of a horizon in years: 2192 for 6. */
int demur_nlst_horizon_days(int years);

G_END_DECLS
