/* What can be moved of a scan, and what moving it does to its score: for reasons.c and
 * reason-telling.c only. */
#pragma once

#include "selector/nearest-scans.h"
#include "selector/reasons.h"
#include "selector/selector-private.h"

G_BEGIN_DECLS

typedef struct {
  double median, low, high; /* raw units; low and high: 1st and 99th percentile */
  float *sorted;            /* [n] kept values as the networks read them, where known; ascending */
  size_t n;
} DemurColumnSummary;

typedef enum {
  DEMUR_OF_IMAGE,
  DEMUR_OF_RISK,
  DEMUR_OF_MAKING,
  DEMUR_N_QUANTITY_KINDS,
} DemurQuantityKind;

#define DEMUR_OF_ANY ((1u << DEMUR_N_QUANTITY_KINDS) - 1)

typedef struct {
  DemurQuantityKind kind;
  size_t input;                    /* the column it is named by: a number's value, a text's first */
  DemurAcquisitionSubject subject; /* DEMUR_OF_MAKING */
} DemurQuantity;

/* What is said of no single quantity; places behind those in `telling`. */
enum {
  DEMUR_REASONER_NEAREST, /* the site of most of the nearest scans */
  DEMUR_REASONER_IMAGE,   /* the image as a whole is unlike the others */
  DEMUR_REASONER_WHOLES,
};

struct DemurReasoner {
  const DemurSelector *selector;
  double threshold;
  size_t n_most;
  size_t n_quantities;
  DemurQuantity *quantities;
  /* What the judgement gives, once (judged), where a scan is explained: what is accepted needs none. */
  gsize judged;
  DemurColumnSummary *summaries; /* [n_inputs] */
  DemurScanFinder *finder;
  double image_level; /* of the whole image no more is told than that it lies beyond this share; 0:
                       * beyond how many */
  gboolean *telling;  /* [n_quantities + DEMUR_REASONER_WHOLES] */
  size_t n_refused, n_first[DEMUR_N_QUANTITY_KINDS]; /* judged scans that the threshold refuses, by
                                                      * what lowers their score most */
};

typedef struct {
  size_t quantity;
  double contribution;
} DemurReasonCandidate;

/* scores [n][n_quantities + 1] of scans meta [n][width]: as they are, and with each quantity of these kinds (their bits) at
 * what is typical; those of others stay as they are. */
void demur_reasoner_score(const DemurReasoner *reasoner, const double *meta, size_t n, guint kinds,
                          double *scores);
/* What lowers the score, the most first: one at least, then only what does. candidates has room for
 * all quantities; scores are of one scan. */
size_t demur_reasoner_candidates(const DemurReasoner *reasoner, const double *scores,
                                 DemurReasonCandidate *candidates);
/* The most first, ties to the first quantity: for qsort. */
int demur_reason_candidates_compare(const void *a, const void *b);

gboolean demur_reasoner_belongs(const DemurReasoner *reasoner, const DemurQuantity *quantity,
                                size_t input);
DemurAcquisitionColumnKind demur_reasoner_column_kind(const DemurReasoner *reasoner, size_t input);
/* The input that says whether the number of a quantity is not recorded; n_inputs: there is none. */
size_t demur_reasoner_unknown(const DemurReasoner *reasoner, const DemurQuantity *quantity);

/* Where an input lies beside what is typical, and the share of the training scans that its value,
 * as the networks read it, lies beyond (NaN: it is typical, or there are none). */
DemurReasonPlace demur_reasoner_place(const DemurReasoner *reasoner, size_t input,
                                      const double *meta);
double demur_reasoner_beyond(const DemurReasoner *reasoner, size_t input, float value,
                             DemurReasonPlace place);
gboolean demur_reason_place_is_high(DemurReasonPlace place);

/* The largest share of the training scans that a measure of the image which lowers the score lies
 * beyond, on the side where images are unlike the others; NaN: half of them or less. scores, meta,
 * inputs: of one scan. */
double demur_reasoner_unlike(const DemurReasoner *reasoner, const double *scores,
                             const double *meta, const float *inputs);

/* Fills reasoner->telling. */
void demur_reasoner_judge(DemurReasoner *reasoner);

G_END_DECLS
