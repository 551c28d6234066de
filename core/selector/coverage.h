/* Tuning a selector to a coverage (Eq. quantile), and what can be promised of it (Prop. tuning). */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_TUNING_PLUG_IN,
  DEMUR_TUNING_COVERAGE, /* guaranteed coverage */
  DEMUR_TUNING_RISK,     /* guaranteed selective calibration risk: selector/risk-guarantee.h */
  DEMUR_TUNING_MEASURES, /* guaranteed measures of the accepted: selector/measure-guarantee.h */
} DemurTuningKind;

typedef enum {
  DEMUR_GUARANTEE_NPV,   /* P(y = 0 | accepted, r < positive_from) at least the level */
  DEMUR_GUARANTEE_PPV,   /* P(y = 1 | accepted, r >= positive_from) at least the level */
  DEMUR_GUARANTEE_FNR,   /* P(r < positive_from | accepted, y = 1) at most the level */
  DEMUR_GUARANTEE_ERROR, /* P(r >= positive_from is not y | accepted) at most the level */
  DEMUR_GUARANTEE_BRIER, /* E[(y - r)^2 | accepted] at most the level */
  DEMUR_N_GUARANTEES,
} DemurGuaranteeMeasure;

typedef struct {
  DemurGuaranteeMeasure measure;
  double level; /* in (0, 1) */
  double delta; /* error probability in (0, 1); 0: in expectation (ERROR and BRIER alone), of the
                 * harm a scan: what is accepted and wrong, over all scans */
} DemurGuarantee;

#define DEMUR_MAX_GUARANTEES 8

/* What the accepted tuning scans showed in one bin of risk (low, high] (network 0). */
typedef struct {
  double low, high;
  size_t n;          /* accepted scans, one a patient */
  double difference; /* mean of y - r; NaN for n = 0 */
} DemurRiskBin;

typedef struct {
  DemurTuningKind kind;
  double coverage; /* requested xi */
  size_t n_networks;
  double *thresholds; /* [n_networks]: score >= threshold is accepted */
  double realised;    /* share of the tuning scans that network 0 accepts; ties are all kept */
  size_t n_scans, n_patients;
  double delta;     /* 0: plug-in; else the guarantee's error probability */
  size_t rank;      /* k of the k-th largest score; 0 for a guaranteed risk or measures */
  double margin;    /* plug-in: coverage is below xi - margin with probability at most 0.05 */
  double alpha;     /* guaranteed risk: what no bin's |mean(y - r)| exceeds; else 0 */
  double min_share; /* guaranteed risk: bins that hold less of all scans are not spoken of */
  size_t n_bins;
  DemurRiskBin *bins;  /* [n_bins]; NULL where no risk is guaranteed */
  size_t n_guarantees; /* guaranteed measures */
  DemurGuarantee guarantees[DEMUR_MAX_GUARANTEES];
  double positive_from;    /* of them: risks from here on are called positive */
  double hold_back_across; /* a decision threshold: scans whose risk interval holds it are refused
                            * too; 0: none */
  size_t n_held_back;      /* tuning scans that network 0 would accept but for that */
  char **sites;            /* names of the tuning scans' sites; NULL until they are set */
  char *sentence;          /* what is and is not promised, for people */
} DemurTuning;

void demur_tuning_free(DemurTuning *tuning);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTuning, demur_tuning_free)

/* Plug-in threshold: tau = the ceil(xi n)-th largest score of all rows. scores [n_networks][n];
 * patients [n] codes, for the n of the bound. coverage in (0, 1]: DEMUR_ERROR_USAGE otherwise;
 * DEMUR_ERROR_STATE where n is 0. */
DemurTuning *demur_tune_plug_in(double coverage, const double *const *scores, size_t n_networks,
                                const guint32 *patients, size_t n,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* eps of the plug-in threshold's bound: with that many patients, coverage falls below xi - eps with
 * a probability of at most 0.05. */
double demur_coverage_margin(size_t n_patients);

/* Guaranteed coverage: tau = the k-th largest score of one scan a patient (drawn by the seed), k =
 * 1 + the (1 - delta) quantile of Bin(n, xi). DEMUR_ERROR_STATE "cannot be guaranteed with n = .."
 * where k > n. delta in (0, 1): DEMUR_ERROR_USAGE otherwise; coverage and n as above. */
DemurTuning *demur_tune_guaranteed(double coverage, double delta, const double *const *scores,
                                   size_t n_networks, const guint32 *patients, size_t n,
                                   guint64 seed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* k for n exchangeable scores; n + 1 where no k will do. */
size_t demur_coverage_guaranteed_rank(double coverage, double delta, size_t n);

/* The smallest k with P(Bin(n, p) <= k) >= probability. */
size_t demur_binomial_quantile(double probability, size_t n, double p);

/* One scan a patient, drawn by the seed: rows [result] of [0, n) in ascending order (owned). */
guint32 *demur_one_scan_a_patient(const guint32 *patients, size_t n, guint64 seed,
                                  size_t *n_chosen);

/* Names the sites of the rows that tuned: elsewhere nothing is promised. */
void demur_tuning_set_sites(DemurTuning *tuning, const DemurCohort *cohort, const guint32 *rows,
                            size_t n_rows);

/* Members of the JSON kept with a threshold ("kind", "thresholds", "sentence", "sites", ..). */
char *demur_tuning_to_json(const DemurTuning *tuning);

/* The thresholds [n] of such a document (owned); NULL with DEMUR_ERROR_INPUT. */
double *demur_tuning_read_thresholds(const char *json, size_t *n,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The decision threshold of such a document; 0: none. */
double demur_tuning_read_hold_back(const char *json);

/* Of a plug-in threshold: coverage falls below what was asked for by more with a probability of 5 % at
 * most, for scans drawn like the tuning split. NaN: it promises something else, or nothing. */
double demur_tuning_read_margin(const char *json);

/* Its sentence (owned), or NULL. */
char *demur_tuning_read_sentence(const char *json);

/* Names of the sites that tuned (strv, owned); NULL where they were not kept. */
char **demur_tuning_read_sites(const char *json);

G_END_DECLS
