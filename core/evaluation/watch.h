/* The watch over a selector in use: has anything changed since the reference? Design: deployment.md,
 * "watch".
 *
 * What is watched is a table of signals. Each is a stream of one value a patient, first without
 * labels, at once; then with labels, as they come. Most are tests of exchangeability with the
 * reference (metrics/exchangeability.h): of the value itself, of a category's place in an order that
 * the reference fixes (by share, then by text; what it does not have lies behind all, by a digest of
 * its text), or of what label y and shown risk r say together:
 *
 *   outcome       y - r too: y, and who have the same y in the order of their risks
 *   calibration   y - r
 *   slope         (y - r) (logit r - m),  m the reference's mean logit
 *   flagged       y - r of patients whose risk is held back, against the reference's
 *
 * On what is expected of a change most of a fortune is staked (evaluation/watch-expected.h).
 *
 * One, range, asks nothing of a reference: from every beginning it bets against "O:E of what is
 * shown is at most high" and "at least low" (metrics/betting.h), half a fortune on each.
 *
 * What is fixed and what is compared. The order of categories, m, the edges of bins and the shapes of
 * what is expected come from a part of the reference that a draw takes, half of the patients for categories and about a
 * third of those with labels; places are among the other part and the stream. So the theorem holds as it stands:
 *
 *   Given the fixed part, every value is a fixed function of its patient, and the other part and the stream are exchangeable
 *   where nothing changes. Places are then independent and uniform, and each bet hangs on earlier
 *   places alone: a signal's e-value M_s is a nonnegative martingale of its own places, M_s(0) = 1, so that
 *   E M_s(stop) <= 1 at any stopping time of theirs, and P(M_s ever >= 1 / a_s) <= a_s (Ville). An alarm of s is M_s >= 1 /
 *   a_s, sum_s a_s = alpha: P(any alarm, ever) <= alpha (union bound).
 *
 * Had the same patients fixed the order and been compared, whoever has what the reference lacks would stand out by
 * that alone: with three in ten patients of 200 rare kernels most quiet years saw an alarm (watches that began with
 * bets 1 or 2, which keep them; tests/unit/test-evaluation-watch.c). Why no mean of the signals' e-values in place of
 * the union bound: each is a martingale of its own places, not of all signals' (whose common order tells of the
 * next), and labels come in another order; e-values of different filtrations may not be averaged (Choe and Ramdas,
 * "Combining evidence across filtrations", 2024).
 *
 * Outcome and calibration have the same places, so one part of alpha is enough for both: outcome bets on more outcomes,
 * at every risk or in all, and calibration, which bets on those at every risk, is told no more than outcome's fortune. So
 * {calibration alarms} lies in {outcome's fortune reaches the limit}, and both are wrong with a_outcome at most. (Where a
 * person lifts one of them, it begins anew with a part of its own.)
 *
 * a_s / alpha is the signal's part among those that are not ignored (demur_watch_limit): larger where a change is
 * common and a patient says little of it, as of the slope. Assumed: patients are independent draws, and of one
 * patient one value counts. */
#pragma once

#include <glib.h>

#include "base/translate.h"

G_BEGIN_DECLS

/* The table of signals: name (in JSON, in --rule, behind "watch-" of its chart), title for people, kind.
 * risk is as the model gives it, coverage whether it is shown, eligible what became of the patient. */
#define DEMUR_WATCH_SIGNALS(X)                                                                     \
  X(SCORE, "score", N_("selector's score"), NUMBER)                                                \
  X(RISK, "risk", N_("model's risk"), NUMBER)                                                      \
  X(DISTANCE, "distance", N_("distance to the reference scans"), NUMBER)                           \
  X(COVERAGE, "coverage", N_("share of risks that are shown"), CATEGORY)                           \
  X(ELIGIBLE, "eligible", N_("what becomes of the patients"), CATEGORY)                            \
  X(MANUFACTURER, "manufacturer", N_("manufacturer"), CATEGORY)                                    \
  X(KERNEL, "kernel", N_("reconstruction kernel"), CATEGORY)                                       \
  X(THICKNESS, "thickness", N_("slice thickness"), CATEGORY)                                       \
  X(VERSION, "version", N_("version of the model"), CATEGORY)                                      \
  X(OUTCOME, "outcome", N_("share with the outcome"), LABELLED)                                    \
  X(CALIBRATION, "calibration", N_("observed over expected outcomes"), LABELLED)                   \
  X(SLOPE, "slope", N_("calibration slope"), LABELLED)                                             \
  X(RANGE, "range", N_("observed over expected of what is shown"), LABELLED)                       \
  X(FLAGGED, "flagged", N_("observed over expected of red flags"), LABELLED)

#define DEMUR_WATCH_ENUM(id, name, title, kind) DEMUR_WATCH_##id,
typedef enum {
  DEMUR_WATCH_SIGNALS(DEMUR_WATCH_ENUM) DEMUR_N_WATCH,
} DemurWatchSignal;

typedef enum {
  DEMUR_WATCH_NUMBER,   /* a number a patient */
  DEMUR_WATCH_CATEGORY, /* a text a patient */
  DEMUR_WATCH_LABELLED, /* made of label and shown risk */
} DemurWatchKind;

typedef struct {
  const char *name;  /* "kernel" */
  const char *title; /* for people, to be translated */
  DemurWatchKind kind;
} DemurWatchColumn;

extern const DemurWatchColumn demur_watch_columns[DEMUR_N_WATCH];

/* FALSE where the name is none of them. */
gboolean demur_watch_from_name(const char *name,
                               DemurWatchSignal *signal) G_GNUC_WARN_UNUSED_RESULT;

/* What an alarm does. */
typedef enum {
  DEMUR_WATCH_NOTE,     /* it is told */
  DEMUR_WATCH_WITHHOLD, /* and no new verdict is accepted until a person lifts it */
  DEMUR_WATCH_IGNORE,   /* the signal is not looked at */
  DEMUR_N_WATCH_RULES,
} DemurWatchRule;

/* "note", "withhold", "ignore". */
const char *demur_watch_rule_name(DemurWatchRule rule);
gboolean demur_watch_rule_from_name(const char *name,
                                    DemurWatchRule *rule) G_GNUC_WARN_UNUSED_RESULT;

/* What is known of one patient. Texts may be NULL: not recorded. */
typedef struct {
  gint64 order;                      /* of arrival: ascending in a stream */
  guint64 key;                       /* of the scan: ties are broken by it */
  char *when;                        /* ISO 8601 */
  gboolean scored;                   /* without it only `outcome_of` says something */
  char *outcome_of;                  /* the verdict's name, "assessed" where scored */
  double score, raw, risk, distance; /* raw: the model's risk; risk: as shown; NaN: not known */
  char *manufacturer, *kernel, *thickness, *version;
  double label;     /* 0 or 1; NaN: none */
  gboolean pending; /* it is not known yet whether there will be one */
} DemurWatchPatient;

/* Frees what it holds. */
void demur_watch_patient_clear(DemurWatchPatient *patient);
/* Array of them that clears its elements. */
GArray *demur_watch_patients_new(void);

/* The reference's values of a category. */
typedef struct {
  size_t n;
  char **texts;   /* [n + 1] by share of the fixed part (of all, bets < 3), then by text */
  size_t *counts; /* [n] */
  size_t *fixed;  /* [n] .. of them in the fixed part */
} DemurWatchShares;

/* What is fixed before the first patient is seen. */
typedef struct {
  double alpha;     /* .05 */
  double low, high; /* the agreed range of O:E */
  DemurWatchRule rules[DEMUR_N_WATCH];
  double coverage, threshold; /* whose shown risks are watched */
  gint64 after;               /* the last verdict before it began */
  guint64 seed;
  gint
      bets; /* which: 1, of labels alone something is expected; 2, of all; 3, by a fixed part of the
              * reference; 4, of alpha more for the outcome's rate; 5, outcomes by their risks, beginnings evenly over the first patients, one part of alpha
              * for outcome and calibration (a new plan) */
  gboolean simulated;
  size_t n_numbers[DEMUR_N_WATCH];
  double *numbers[DEMUR_N_WATCH];         /* of the reference, of each signal that is a number */
  DemurWatchShares shares[DEMUR_N_WATCH]; /* .. that is a category */
  size_t n_labelled, n_fixed; /* of those with a label, in the fixed part: the first ones */
  double *labels, *risks,
      *scores;     /* [n_labelled] of the reference; scores NaN: not kept (a watch that
                                    * an older program began: flagged is ignored) */
  char **patients; /* digests of the reference's patients, NULL-terminated */
  char *
      origin; /* the watched selector's (selector/release.h), so that an alarm holds it whatever becomes of its name;
                 * NULL: not kept (a watch that an older program began) */
} DemurWatchPlan;

/* alpha .05, range .8 to 1.25, every rule `withhold`; an empty reference. */
DemurWatchPlan *demur_watch_plan_new(void);
void demur_watch_plan_free(DemurWatchPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchPlan, demur_watch_plan_free)

/* DEMUR_ERROR_USAGE for an alpha outside (0, 1), a range without 1 inside, or nothing to watch. */
gboolean demur_watch_plan_check(const DemurWatchPlan *plan,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes the values of patients [n] (one a patient, threshold set) for the reference. */
void demur_watch_plan_refer(DemurWatchPlan *plan, const DemurWatchPatient *patients, size_t n);

/* FALSE where the signal is a category of which nobody in the reference has a value (a table of scores without
 * kernels): then it has no reference, patients without a value don't count, and the first who have one are
 * what the later ones are compared with. */
gboolean demur_watch_is_recorded(const DemurWatchPlan *plan, DemurWatchSignal signal);

/* Canonical JSON (owned), so that its digest fixes the plan; and back. DEMUR_ERROR_INPUT. */
char *demur_watch_plan_to_json(const DemurWatchPlan *plan);
DemurWatchPlan *demur_watch_plan_from_json(const char *json,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The e-value of a signal that is an alarm; infinity where it is ignored. Of outcome and calibration it is the same one,
 * spent once (bets >= 5). */
double demur_watch_limit(const DemurWatchPlan *plan, DemurWatchSignal signal);

/* .. that all signals share which are not ignored; NaN where they have different ones. */
double demur_watch_shared_limit(const DemurWatchPlan *plan);

#define DEMUR_WATCH_NONE G_MAXSIZE

/* What a signal says. */
typedef struct {
  size_t n_reference, n; /* patients that count */
  guint32 *rows;         /* [n] which of the stream's */
  double *evidence;      /* [n] the e-value behind each of them */
  double limit;          /* the e-value that is an alarm */
  double most;           /* the largest; 1 for n = 0 */
  size_t
      most_at;  /* the first of rows behind which it was that; DEMUR_WATCH_NONE: at the beginning */
  size_t alarm; /* the first of rows at which it reached the limit; DEMUR_WATCH_NONE */
  size_t change;  /* the first of rows behind which something most likely changed */
  size_t n_since; /* patients from there on */
  /* Of the category whose share grew most (text), else of the median (numbers), the share with the
   * outcome, observed over expected, or the calibration slope: before (the reference and the stream up to there) and
   * since. NaN: nothing to compare. */
  char *text;
  double before, since;
  size_t n_waiting; /* labelled: labels behind the first patient who may still get one */
} DemurWatchSignalResult;

/* Whether the share before (of a category, or with the outcome) is one of some but fewer than
 * DEMUR_SMALL_CELL patients, or of all but so few: it is not told as a number. */
gboolean demur_watch_before_is_few(DemurWatchSignal signal, const DemurWatchSignalResult *result);

/* Its change, for people (owned): "reconstruction kernel B60f: 41 % of 120 patients since 2026-05-03,
 * 6 % before". signal's result of a stream of patients; "" where no patient counts. */
char *demur_watch_change_words(const DemurWatchPlan *plan, DemurWatchSignal signal,
                               const DemurWatchSignalResult *result,
                               const DemurWatchPatient *patients, DemurTranslate translate);

typedef struct {
  DemurWatchSignalResult signals[DEMUR_N_WATCH];
} DemurWatchResult;

/* Looks at a stream of patients [n] in ascending order. after [DEMUR_N_WATCH]: a signal counts only
 * patients with a larger order (a lifted alarm begins anew there); NULL: all. The same history gives
 * the same result, whenever and however often it is looked at. O(n^2 / 25) a signal. */
DemurWatchResult *demur_watch_look(const DemurWatchPlan *plan, const DemurWatchPatient *patients,
                                   size_t n, const gint64 *after);
void demur_watch_result_free(DemurWatchResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchResult, demur_watch_result_free)

G_END_DECLS
