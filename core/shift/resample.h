/* The family T of perturbations: a data set redrawn from the training scans (Algorithm 1, lines
 * 5-6).
 *
 * Site-weighted resampling: w ~ Dirichlet(alpha, .., alpha) over the sites, then n scans with
 * replacement, each with probability w_site / (scans of its site). The other members replace the
 * first step. A drawn data set is a vector of counts over the scans, kept sparse: the distinct rows
 * in ascending order. */
#pragma once

#include "base/random-lanes.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_SHIFT_GROUPS,  /* Dirichlet weights over the groups: sites, or another attribute's values */
  DEMUR_SHIFT_NONE,    /* every scan alike */
  DEMUR_SHIFT_EXAMPLE, /* a perturbation for each example: groups mixed evenly within a data set */
  DEMUR_SHIFT_OUTSIDE, /* perturbed outside: one group (value of the column `shift`) a data set */
} DemurShiftKind;

/* One drawn data set: row rows[j] stands in it counts[j] times; rows ascend, counts >= 1. */
typedef struct {
  size_t n_rows;   /* distinct */
  size_t n_total;  /* sum of counts */
  guint32 *rows;   /* [n_rows], room for capacity */
  guint16 *counts; /* [n_rows] */
  size_t capacity;
} DemurDataset;

DemurDataset *demur_dataset_new(size_t capacity);
void demur_dataset_free(DemurDataset *dataset);

typedef struct DemurResampler DemurResampler;

/* groups [n_scans] in [0, n_groups); groups without scans are never drawn. kind NONE ignores
 * groups. dataset_size in [1, 65535] scans a data set; alpha > 0. Copies what it needs. */
DemurResampler *demur_resampler_new(DemurShiftKind kind, size_t n_scans, const guint32 *groups,
                                    size_t n_groups, double alpha, size_t dataset_size);
void demur_resampler_free(DemurResampler *resampler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurResampler, demur_resampler_free)

/* Scratch memory of one thread. */
typedef struct DemurResamplerScratch DemurResamplerScratch;
DemurResamplerScratch *demur_resampler_scratch_new(const DemurResampler *resampler);
void demur_resampler_scratch_free(DemurResamplerScratch *scratch);

/* Draws n <= DEMUR_RANDOM_LANES data sets, each from a stream of its own, which goes on behind what was taken; each must have a
 * capacity of min(n_scans, dataset_size). Which are drawn together changes none of them. */
void demur_resampler_draw_some(const DemurResampler *resampler, DemurRandom *randoms, size_t n,
                               DemurResamplerScratch *scratch, DemurDataset *const *datasets);

/* One of them. */
void demur_resampler_draw(const DemurResampler *resampler, DemurRandom *random,
                          DemurResamplerScratch *scratch, DemurDataset *dataset);

G_END_DECLS
