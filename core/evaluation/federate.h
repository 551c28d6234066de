/* A study at hospitals that may not share scans: rounds of questions that each answers with sums.
 *
 *   round 1 --> every site's answer --> merged --> round 2 .. --> the result
 *
 * What is asked depends on the study:
 *
 *   recalibration  value, gradient and Hessian of the log likelihood at the round's coefficients
 *                  (metrics/offset-logistic.h), on the logits of the model's risks; of more than two
 *                  classes the two derivatives in the temperature's slope
 *   corrector      the same over what the selector's corrector reads (selector/corrector.h), offset logit r
 *   audit          sum y - r, sum r (1 - r) of the risks that the selector sees, and the sum over patients
 *                  of (their sum of y - r)^2
 *   evaluation     of bands of score and bins of risk: n, sum y, sum r, sum (y - r)^2, small ones together
 *                  with their neighbours (federate-answer.h)
 *
 * Rounds and answers are canonical JSON with the SHA-256 of the rest as their member "digest", which
 * tells damage and editing, not who wrote them: that is for whoever carries them. An answer names its
 * round by digest. docs/federate.md: what the numbers tell, and what they don't. */
#pragma once

#include "metrics/newton.h"
#include "selector/recalibration.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_FEDERATE_RECALIBRATION,
  DEMUR_FEDERATE_CORRECTOR,
  DEMUR_FEDERATE_AUDIT,
  DEMUR_FEDERATE_EVALUATION,
  DEMUR_N_FEDERATE_STUDIES,
} DemurFederateStudy;

/* "recalibration", ..; DEMUR_ERROR_USAGE for another name. */
const char *demur_federate_study_name(DemurFederateStudy study);
gboolean demur_federate_study_from_name(const char *name, DemurFederateStudy *study,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

#define DEMUR_FEDERATE_MOST_SITES 1000
#define DEMUR_FEDERATE_MOST_CUTS 50 /* thresholds, or edges */
#define DEMUR_FEDERATE_MOST_COEFFICIENTS 512
#define DEMUR_FEDERATE_MOST_LAMBDA 1e12
/* A site answers at coefficients of at most this magnitude: steeper ones would count the scans beyond a
 * risk, and two such counts tell of the few between. */
#define DEMUR_FEDERATE_STEEPEST 10.0

typedef struct {
  DemurFederateStudy study;
  DemurRecalibrationKind kind; /* of a recalibration: intercept, temperature or Platt; else none */
  char *selector;              /* digest of the selector that every site has */
  size_t n_classes;
  size_t number;      /* from 1 */
  char *first;        /* digest of the study's first round; NULL: this is it */
  char **sites;       /* names of those who answer, to NULL */
  gboolean simulated; /* of what was answered so far, some is of simulated data */
  double lambda;      /* of a corrector: */
  size_t width;       /* columns that the selector's corrector reads */
  size_t n_inputs;
  guint32 *inputs; /* [n_inputs] those that are asked of, ascending; coefficients are of these */
  /* Of the first two studies, else NULL: `at` is where sums are asked. Of a temperature of more classes
   * `at` alone counts. */
  DemurNewton *newton;
  size_t n_thresholds, n_edges; /* of an evaluation */
  double *thresholds;           /* descending: score >= is accepted */
  double *edges;                /* ascending: risk < is below */
  char *digest; /* of the document it was read from, or of the last that was written */
} DemurFederateRound;

/* The first round. sites: to NULL, copied. inputs [n_inputs] of width, ascending, of a corrector (copied). */
DemurFederateRound *demur_federate_round_new(DemurFederateStudy study, DemurRecalibrationKind kind,
                                             const char *selector, size_t n_classes,
                                             char *const *sites, size_t width,
                                             const guint32 *inputs, size_t n_inputs);
/* Copies them; for whoever makes a round of a corrector. */
void demur_federate_round_set_inputs(DemurFederateRound *round, size_t width, const guint32 *inputs,
                                     size_t n_inputs);
void demur_federate_round_free(DemurFederateRound *round);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateRound, demur_federate_round_free)

/* The study and its selector as one digest: rounds of one study have one. */
const char *demur_federate_round_identity(const DemurFederateRound *round);

/* A study begins anew with its first question, as where a site has left it. */
void demur_federate_round_restart(DemurFederateRound *round);

/* Numbers that an answer has beside n, unless it is an evaluation's (0); what the i-th is called,
 * "gradient[1]" (owned). */
size_t demur_federate_n_sums(const DemurFederateRound *round);
char *demur_federate_sum_name(const DemurFederateRound *round, size_t i);

/* Scans of some bands and bins together. Cell: band * (n_edges + 1) + bin, band 0 the highest scores. */
typedef struct {
  size_t n_cells;
  guint32 *cells; /* ascending */
  double n, positives, risks, squares;
} DemurFederateGroup;

typedef struct {
  char *site;
  gboolean simulated; /* of simulated data */
  gboolean
      withheld; /* fewer than DEMUR_SMALL_CELL patients with a scan of a label: nothing is told */
  size_t n;     /* scans; 0 where withheld */
  size_t n_sums;
  double *sums; /* [n_sums] */
  size_t n_groups;
  DemurFederateGroup *groups; /* every cell stands in one */
} DemurFederateAnswer;

void demur_federate_answer_free(DemurFederateAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateAnswer, demur_federate_answer_free)

/* The documents (owned). That of a round sets its digest. */
char *demur_federate_round_write(DemurFederateRound *round);
char *demur_federate_answer_write(const DemurFederateRound *round,
                                  const DemurFederateAnswer *answer);

/* The digest in it (owned). */
char *demur_federate_answer_digest(const DemurFederateRound *round,
                                   const DemurFederateAnswer *answer);

/* Reading back; text ends in NUL. DEMUR_ERROR_INPUT for what is none, was edited, or is out of range; an answer, too, of
 * another study, round or selector, or of a site that was not asked. */
DemurFederateRound *demur_federate_round_read(const char *text, gssize length,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurFederateAnswer *demur_federate_answer_read(const DemurFederateRound *round, const char *text,
                                                gssize length,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
