/* What is expected of a change, as shapes of places (metrics/exchange-table.h), by the plan's fixed part of
 * the reference alone. Shares of a sample are known but for its error: a shape is the mean over five
 * quantiles of the share that a sample of that many leaves open.
 *
 * Shapes and their weights (sum 1):
 *
 *   numbers     .35 or .8 standard deviations lower or higher, on the scale on which the reference is normal
 *   categories  the odds of one are others (of two, the rarer's 1/6, .4, 2.5 or 6 times; of more, of each .3 or
 *               3.5 times), or one that the reference lacks takes .2 or .9 of all
 *   labels      p(1 | r) behind the change: the outcome .45, .67, 1.5 or 2.2 times as often, or a calibration
 *               slope of .3, .6, 1.6 or 2.5: both labels that a patient of the reference may have, by their
 *               probability P (a logistic fit on the logits), are weighed by how much likelier each would
 *               be then, P'(y | r) / P(y | r)
 *
 * More is staked on what is seen more: a rarer category that spreads, more outcomes than expected,
 * risks that are too extreme. */
#pragma once

#include "evaluation/watch.h"
#include "metrics/exchange-table.h"

G_BEGIN_DECLS

/* p(1 | r) where the outcome comes `ratio` times as often; where `ratio` times the risk is near 1, what is left of 1
 * divided by it: no label is so unlikely behind the change that one of them takes the fortune. */
double demur_watch_times_as_often(double ratio, double risk);

/* p(1 | r) behind a calibration slope, about the mean logit `middle`. */
double demur_watch_sloped(double slope, double middle, double risk);

/* Of every number of every watch the same: made once for the process, which keeps it. */
const DemurExchangeTable *demur_watch_expect_moves(void);

/* counts [n]: of the reference's fixed part, each category's, by share; those of no patient left out. n_pool: patients of
 * the reference among whom places are. NULL for n = 0. */
DemurExchangeTable *demur_watch_expect_shares(const size_t *counts, size_t n, size_t n_pool);

/* A labelled signal's value; middle: the reference's mean logit. */
double demur_watch_labelled_value(DemurWatchSignal signal, double middle, double label,
                                  double risk);

/* labels, risks [n] of the reference's fixed part; NULL where fewer than five have either label. */
DemurExchangeTable *demur_watch_expect_labels(DemurWatchSignal signal, const double *labels,
                                              const double *risks, size_t n, double middle,
                                              size_t n_pool);

/* Of outcomes in the order of y - r: three quarters of the stake on an outcome that comes so many times as often at
 * every risk, a quarter on one that does in all, whatever the risks say (the bins of 1 and of 0 are then even). Arguments
 * as above. */
DemurExchangeTable *demur_watch_expect_outcomes(const double *labels, const double *risks, size_t n,
                                                size_t n_pool);

G_END_DECLS
