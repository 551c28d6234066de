/* Recalibrating the risks before anything else, where it earns its place on sites left out.
 * Design method.md, "Beyond the paper", point 3. */
#pragma once

#include "base/error.h"
#include "base/json-writer.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_RECALIBRATION_NONE,
  DEMUR_RECALIBRATION_INTERCEPT,   /* logit r + b */
  DEMUR_RECALIBRATION_TEMPERATURE, /* logit r / T; any K: p_k^(1/T), normalised */
  DEMUR_RECALIBRATION_PLATT,       /* a logit r + b */
  DEMUR_RECALIBRATION_ISOTONIC,    /* monotone steps, linear between their middles */
  DEMUR_RECALIBRATION_AUTO, /* none, intercept or Platt (K > 2: none or temperature), whichever is
                               better out of fold */
} DemurRecalibrationKind;

/* "none", "intercept", .., "auto". */
const char *demur_recalibration_name(DemurRecalibrationKind kind);
gboolean demur_recalibration_from_name(const char *name, DemurRecalibrationKind *kind,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A fitted map of risks. */
typedef struct {
  DemurRecalibrationKind kind; /* never AUTO */
  size_t n_classes;
  double slope, intercept; /* slope = 1/T for the temperature */
  size_t n_knots;
  double *knots_x, *knots_y; /* [n_knots] ascending; isotonic */
} DemurRecalibration;

void demur_recalibration_free(DemurRecalibration *recalibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRecalibration, demur_recalibration_free)

/* probabilities [n][K] (K = 2: risks [n]), labels [n] class index; use [n] or NULL. kind not AUTO;
 * isotonic, Platt and intercept need K = 2. */
DemurRecalibration *demur_recalibration_fit(DemurRecalibrationKind kind,
                                            const double *probabilities, size_t n_classes,
                                            const gint32 *labels, const guint8 *use, size_t n);

/* out [n][K] (K = 2: [n]); may be the same array. NONE leaves every value as it is. */
void demur_recalibration_apply(const DemurRecalibration *recalibration, const double *probabilities,
                               size_t n, double *out);

/* What auto looked at: out of fold by site. */
typedef struct {
  DemurRecalibrationKind kind;
  double sbce2, log_loss;
} DemurRecalibrationTrial;

/* The kind that auto chooses: the one of least out-of-fold log loss among those whose S-BCE_2 and
 * log loss are both below those of the raw risks; else NONE. trials [3] receives what was compared,
 * *n_trials how many. Also for a given kind: then it is returned and compared with none.
 * out_of_fold [n][K]: each row's probabilities by the fit without its fold. */
DemurRecalibrationKind demur_recalibration_choose(DemurRecalibrationKind kind,
                                                  const double *probabilities, size_t n_classes,
                                                  const gint32 *labels, const guint32 *units,
                                                  size_t n, guint64 seed, double *out_of_fold,
                                                  DemurRecalibrationTrial *trials,
                                                  size_t *n_trials);

void demur_recalibration_write_json(const DemurRecalibration *recalibration, DemurJson *json,
                                    const char *key);
DemurRecalibration *demur_recalibration_read_json(JsonObject *object,
                                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
