/* Recalibrating the risks before anything else, where it earns its place on sites left out.
 * docs/method.md, "Beyond the paper", point 3. */
#pragma once

#include <glib.h>

#include "base/json-writer.h"
#include "metrics/offset-logistic.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_RECALIBRATION_NONE,
  DEMUR_RECALIBRATION_INTERCEPT,   /* logit r + b */
  DEMUR_RECALIBRATION_TEMPERATURE, /* logit r / T; any K: p_k^(1/T), normalised */
  DEMUR_RECALIBRATION_PLATT,       /* a logit r + b */
  DEMUR_RECALIBRATION_ISOTONIC,    /* monotone steps, linear between their middles */
  DEMUR_RECALIBRATION_AUTO, /* none, intercept, Platt or corrector (K > 2: none or temperature) */
  DEMUR_RECALIBRATION_CORRECTOR, /* h of selector/corrector.h: no map of risks alone */
} DemurRecalibrationKind;

/* "none", "intercept", .., "auto"; DEMUR_ERROR_USAGE for another name. */
const char *demur_recalibration_name(DemurRecalibrationKind kind);
gboolean demur_recalibration_from_name(const char *name, DemurRecalibrationKind *kind,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A fitted map of risks. CORRECTOR stands for h, which needs more of a scan than its risk: it has
 * no numbers here and demur_recalibration_apply does not take it (demur_selector_view does). */
typedef struct {
  DemurRecalibrationKind kind; /* never AUTO */
  size_t n_classes;
  double slope, intercept; /* slope = 1/T for the temperature */
  size_t n_knots;
  double *knots_x, *knots_y; /* [n_knots] ascending; isotonic */
} DemurRecalibration;

void demur_recalibration_free(DemurRecalibration *recalibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRecalibration, demur_recalibration_free)

/* probabilities [n][K] (K = 2: risks [n]), labels [n] class index; use [n] or NULL: what
 * each row counts, 0: it is left out. kind not AUTO;
 * isotonic, Platt, intercept and corrector need K = 2. */
DemurRecalibration *demur_recalibration_fit(DemurRecalibrationKind kind,
                                            const double *probabilities, size_t n_classes,
                                            const gint32 *labels, const double *use, size_t n);

/* What is fitted for intercept, Platt and temperature of binary risks, still without rows: d = 1, the
 * input is the logit, from 1; d = 0, the offset is. The intercept, from 0, of a temperature is held at
 * 0 by its penalty. */
DemurOffsetLogistic demur_recalibration_problem(DemurRecalibrationKind kind);

/* Of more classes the temperature's slope minimises the negative log likelihood of softmax(slope log p):
 * its first two derivatives as sums over rows (as for demur_recalibration_fit), and the step that they
 * give, from 1. FALSE: it was the last. */
void demur_recalibration_temperature_sums(const double *p, size_t k, const gint32 *labels,
                                          const double *use, size_t n, double slope, double *first,
                                          double *second);
gboolean demur_recalibration_temperature_step(double *slope, double first, double second);

/* out [n][K] (K = 2: [n]); may be the same array. NONE leaves every value as it is. */
void demur_recalibration_apply(const DemurRecalibration *recalibration, const double *probabilities,
                               size_t n, double *out);

/* What a choice is made on. */
typedef struct {
  DemurRecalibrationKind kind; /* AUTO: choose; else that one is taken, and compared with none */
  const double *probabilities; /* [n][K], K = 2: risks [n] */
  size_t n_classes;
  const gint32 *labels;    /* [n] */
  const double *weights;   /* [n] of the outcomes (metrics/censoring.h); NULL: 1 */
  const guint32 *sites;    /* [n] codes */
  const double *corrected; /* [n] h by fits without the scan's site; NULL: CORRECTOR is not tried */
  size_t n;
  guint64 seed;
} DemurRecalibrationQuestion;

/* One kind on sites left out in turn (in 50 groups where there are more). */
typedef struct {
  DemurRecalibrationKind kind;
  double sbce2, log_loss;
  DemurRecalibrationKind against; /* what stood when it was tried */
  /* Log loss minus that of `against`, with one-sided bounds over sites: of 97.5 % under 20 sites, else
   * of 90 % (`bound`); NaN for none itself, and the bounds under 2 sites. */
  double difference, low, high, bound;
} DemurRecalibrationTrial;

#define DEMUR_RECALIBRATION_MAX_TRIALS 4

/* none stands; intercept, Platt and corrector (K > 2: temperature) are tried in that order, and one
 * takes the place of what stands where the upper bound of the difference of log loss is below 0:
 * the burden of proof is on the change. trials [DEMUR_RECALIBRATION_MAX_TRIALS] receives what was
 * compared, *n_trials how many. out_of_fold [n][K]: each row's probabilities by the chosen fit
 * without its site. */
DemurRecalibrationKind demur_recalibration_choose(const DemurRecalibrationQuestion *question,
                                                  double *out_of_fold,
                                                  DemurRecalibrationTrial *trials,
                                                  size_t *n_trials);

/* One object under key; read back with DEMUR_ERROR_INPUT where it is not sound. */
void demur_recalibration_write_json(const DemurRecalibration *recalibration, DemurJson *json,
                                    const char *key);
DemurRecalibration *demur_recalibration_read_json(JsonObject *object,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
