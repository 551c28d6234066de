/* Random streams: xoshiro256** (Blackman and Vigna 2018) seeded by SplitMix64 from
 * (seed, purpose, three indices).
 *
 * A draw depends only on its stream's key and its place in the stream, never on a thread, a name or
 * what else was asked for; so any number of threads gives the same bytes. The algorithms and the
 * test vectors of tests/unit/test-base-random.c are frozen: reports depend on them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a stream is for. Values are part of the frozen key: add at the end, never renumber. */
typedef enum {
  DEMUR_STREAM_WEIGHTS = 1,          /* initial weights; index: model */
  DEMUR_STREAM_RESAMPLE = 2,         /* training perturbations; index: model, update, data set */
  DEMUR_STREAM_VALIDATION = 3,       /* validation perturbations; index: data set */
  DEMUR_STREAM_VALIDATION_SPLIT = 4, /* which sites or patients validate */
  DEMUR_STREAM_TRIAL = 5,            /* evaluation resamples; index: resample */
  DEMUR_STREAM_BOOTSTRAP = 6,        /* intervals; index: replicate */
  DEMUR_STREAM_NOISE_FLOOR = 7,      /* redrawn labels; index: draw */
  DEMUR_STREAM_RANDOM_BASELINE = 8,  /* the method "random" */
  DEMUR_STREAM_FOREST = 9,           /* isolation forest; index: tree */
  DEMUR_STREAM_SVM_SUBSAMPLE = 10,   /* reference rows of the one-class SVM */
  DEMUR_STREAM_REFERENCE = 11,       /* reference rows when there are too many */
  DEMUR_STREAM_SIMULATION = 12,      /* simulated cohorts; index: part, patient */
  DEMUR_STREAM_PHANTOM = 13,         /* phantom CT; index: slice */
  DEMUR_STREAM_FOLDS = 14,           /* site folds */
  DEMUR_STREAM_ONE_SCAN = 15,        /* one scan a patient */
  DEMUR_STREAM_AUDIT = 16,           /* which scans of a site to label */
  DEMUR_STREAM_SPLITS = 17,          /* splits made at import */
  DEMUR_STREAM_ACCEPTANCE = 18,      /* acceptance tests: plan, simulations, bootstrap */
  DEMUR_STREAM_MIX = 19,             /* another mix of patients; index: replicate */
  DEMUR_STREAM_WATCH = 20,           /* ties of watched values; index: scan, signal */
  DEMUR_STREAM_TEST = 1000,          /* tests only */
} DemurStream;

typedef struct {
  guint64 state[4];
} DemurRandom;

/* Starts the stream of that key. */
DemurRandom demur_random_stream(guint64 seed, DemurStream purpose, guint64 i, guint64 j, guint64 k);

/* 64 uniform bits. */
static inline guint64
demur_random_bits(DemurRandom *random) {
  guint64 *s = random->state;
  const guint64 m = s[1] * 5;
  const guint64 result = ((m << 7) | (m >> 57)) * 9;
  const guint64 t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double
demur_random_uniform(DemurRandom *random) {
  return (double)(demur_random_bits(random) >> 11) * 0x1.0p-53;
}

/* Uniform integer in [0, n), n >= 1, unbiased (Lemire 2019). */
guint64 demur_random_below(DemurRandom *random, guint64 n);

/* Standard normal (polar method, no value kept between calls). */
double demur_random_normal(DemurRandom *random);

/* Exponential with mean 1. */
double demur_random_exponential(DemurRandom *random);

/* Gamma(shape, 1), shape > 0 (Marsaglia and Tsang 2000). */
double demur_random_gamma(DemurRandom *random, double shape);

/* weights [n] ~ Dirichlet(alpha, .., alpha), alpha > 0; they sum to 1. */
void demur_random_dirichlet(DemurRandom *random, double alpha, size_t n, double *weights);

/* Permutes values [n] in place, every order equally likely. */
void demur_random_shuffle(DemurRandom *random, size_t n, guint32 *values);

G_END_DECLS
