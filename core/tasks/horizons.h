/* Selectors of one family, one a horizon: the risk within 1 year, 2 .. 6 years of the same model, each
 * with networks, thresholds and verdicts of its own (method.md, "Horizons"). That of NAME within N
 * years is the selector "NAME-Ny", and can be used as any other, but that they hold risks back
 * together (tasks/horizon-family.h).
 *
 * Risks are as the model gives them: recalibrated one by one, those of a later year could fall below
 * an earlier year's. */
#pragma once

#include "tasks/train.h"

G_BEGIN_DECLS

typedef struct {
  size_t n;
  int years[DEMUR_N_YEARS]; /* [n] ascending */
} DemurHorizons;

/* "1-6", "1,3,6", "2-4,6": whole years from 1 to DEMUR_N_YEARS, each once; DEMUR_ERROR_USAGE
 * otherwise. */
gboolean demur_horizons_parse(const char *text, DemurHorizons *horizons,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "NAME-3y" (owned). */
char *demur_horizon_selector(const char *name, int years);

/* "NAME" of the selector "NAME-3y" of that horizon (owned); NULL: it is not called so. */
char *demur_horizon_family_name(const char *selector, double years);

/* The horizons of the family of that name: of the selectors NAME-Ny that hold risks back together,
 * whether trained under the name or read from a file under it. Where they are of several families or
 * models (a workspace of before this was refused): those of the family NAME, else of the shortest
 * horizon's. n = 0 where there is none in the workspace, or where a selector has the name itself. */
gboolean demur_horizons_of_family(DemurTask *task, const char *name, DemurHorizons *horizons,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a selector (family: selectors NAME-Ny) can be kept under the name and be called by it:
 * DEMUR_ERROR_EXISTS where a family (a selector) has it, whatever may be replaced. */
gboolean demur_horizons_check_name(DemurTask *task, const char *name, gboolean family,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether selectors of that family and model (NULL: not known yet) can be kept as NAME-Ny of these
 * horizons: DEMUR_ERROR_EXISTS where a selector NAME-Ny of another horizon is of another family or
 * model, with which they would be taken for one. family NULL: of none, and taken for none. */
gboolean demur_horizons_check_others(DemurTask *task, const char *name, const DemurHorizons *kept,
                                     const char *family, const char *model,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The selectors that a name stands for: those of the horizons, or, of none, itself (owned). */
char **demur_horizon_selectors(const char *name, const DemurHorizons *horizons);

/* What the risks of a scan that are shown say of the one at place at: it is no less than those of
 * fewer years and no more than those of more. risks [n], ascending years, NaN where held back; NaN:
 * nothing is said on that side. */
void demur_horizon_bounds(const double *risks, size_t n, size_t at, double *at_least,
                          double *at_most);

/* Trains and keeps the selector of each horizon. params: of one training; its selector is the
 * family's name, its horizon is not read. trained [horizons->n], all zero. Refused before any work:
 * as demur_task_train, and DEMUR_ERROR_USAGE for a recalibration that is asked for (auto is none
 * where there are several horizons). What is trained stays where a later horizon fails. */
gboolean demur_task_train_horizons(DemurTask *task, const DemurTrainParams *params,
                                   const DemurHorizons *horizons, DemurTrained *trained,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
