/* Which quantities may be given as reasons of a risk that is held back. Not a list of names:
 * columns that are computed from the risk never; of the others those whose reasons, told roughly,
 * let the risks of the training scans that the threshold refuses be guessed with an R^2 of at most
 * DEMUR_REASON_TELLING (selector/reason-guess.h; of risk and logit the worse). While more can be
 * guessed, the quantity goes without which least can. So an outlier score goes where it follows the
 * risk and stays where it does not, whatever the cohort. Which measure of the image is far out
 * often follows the risk where that any is does not: where no single one may be named, the image as
 * a whole is. Cost: one forward pass a quantity and scan, for at most MAX_JUDGED scans, once a
 * reasoner; then n_quantities^2 guesses at most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort-floats.h"
#include "metrics/offset-logistic.h"
#include "selector/nearest-scans.h"
#include "selector/reason-guess.h"
#include "selector/reasons-private.h"

#define MIN_JUDGED 100 /* fewer training scans tell nothing of what can be guessed */
#define MIN_REFUSED 500
#define MAX_JUDGED 2000
#define CHUNK 64 /* scans scored in one call */
#define N_WHOLES DEMUR_REASONER_WHOLES
#define NEAREST_SITE DEMUR_REASONER_NEAREST
#define WHOLE_IMAGE DEMUR_REASONER_IMAGE

/* A number for what is said, roughly, of a quantity: different words, different numbers. */
static guint32
statement_of(const DemurReasoner *r, size_t q, const double *meta, const float *inputs) {
  const DemurQuantity *quantity = &r->quantities[q];
  guint32 said = 0;
  if (quantity->kind == DEMUR_OF_MAKING &&
      demur_reasoner_column_kind(r, quantity->input) == DEMUR_ACQUISITION_GROUP) {
    for (size_t c = 0; c < r->selector->n_inputs; c++)
      if (demur_reasoner_belongs(r, quantity, c) && meta[r->selector->inputs[c]] > 0.5)
        said = (guint32)c + 1;
  } else {
    const size_t unknown = demur_reasoner_unknown(r, quantity);
    const DemurReasonPlace place = demur_reasoner_place(r, quantity->input, meta);
    guint band;
    demur_reason_band(demur_reasoner_beyond(r, quantity->input, inputs[quantity->input], place),
                      &band);
    said = unknown < r->selector->n_inputs && meta[r->selector->inputs[unknown]] > 0.5
               ? 99
               : 2 * band + (demur_reason_place_is_high(place) ? 1 : 0);
  }
  return (guint32)(q << 16) + said;
}

/* The training scans that are judged: those of the lowest scores, at least MIN_REFUSED and all that
 * the threshold refuses; evenly taken where there are many. Only those whose rounded scores may be among the lowest are put in
 * order. */
static size_t *
find_judged(const DemurReasoner *r, const double *scores, size_t *n_judged) {
  const size_t n = r->selector->n_kept;
  size_t n_refused = 0, n_near = 0;
  g_autofree float *rounded = g_new(float, n);
  for (size_t i = 0; i < n; i++) {
    rounded[i] = (float)scores[i];
    n_refused += scores[i] < r->threshold;
  }
  demur_sort_floats(rounded, n);
  const size_t n_low = MIN(n, MAX(n_refused, MIN_REFUSED));
  const float highest = rounded[n_low - 1];
  g_autofree DemurReasonCandidate *order = g_new(DemurReasonCandidate, n);
  for (size_t i = 0; i < n; i++)
    if (!((float)scores[i] > highest))
      order[n_near++] = (DemurReasonCandidate){i, -scores[i]};
  qsort(order, n_near, sizeof *order, demur_reason_candidates_compare);
  *n_judged = MIN(n_low, MAX_JUDGED);
  size_t *judged = g_new(size_t, *n_judged);
  for (size_t j = 0; j < *n_judged; j++)
    judged[j] = order[j * n_low / *n_judged].quantity;
  return judged;
}

/* One scan's list of what could be told; scores [n_quantities + 1] as demur_reasoner_score gives
 * them. */
static void
state_scan(const DemurReasoner *r, const double *scores, const double *meta, size_t kept,
           DemurReasonCandidate *candidates, guint32 *list) {
  const DemurSelector *s = r->selector;
  const float *inputs = s->kept_inputs + kept * s->n_inputs;
  const size_t n = demur_reasoner_candidates(r, scores, candidates);
  for (size_t k = 0, said = 0; k < n; k++)
    if (r->quantities[candidates[k].quantity].kind != DEMUR_OF_RISK)
      list[said++] = statement_of(r, candidates[k].quantity, meta, inputs);
  DemurNearestScans nearest;
  guint band;
  if (demur_nearest_sites(r->finder, inputs, (gssize)kept, &nearest) && nearest.n_sites > 0) {
    demur_reason_band((double)nearest.n_top / nearest.n, &band);
    list[r->n_quantities + NEAREST_SITE] =
        (guint32)((r->n_quantities + NEAREST_SITE) << 16) + 8 * nearest.top + band;
  }
  const double unlike = demur_reasoner_unlike(r, scores, meta, inputs);
  if (isfinite(unlike)) {
    demur_reason_band(unlike, &band);
    list[r->n_quantities + WHOLE_IMAGE] = (guint32)((r->n_quantities + WHOLE_IMAGE) << 16) + band;
  }
}

/* What lowers the scores of the judged scans most. */
static void
count_first(DemurReasoner *r, const double *scores, const DemurReasonCandidate *first) {
  if (!(scores[0] < r->threshold))
    return;
  r->n_refused++;
  r->n_first[r->quantities[first->quantity].kind]++;
}

/* Whether it matters what the risk's quantities do to a score: they are named of no scan, but may be what a refused one is refused
 * for first, and where nothing raises the score one of them may stand in the only place. */
static gboolean
needs_risk(const DemurReasoner *r, const double *scores) {
  gboolean any = FALSE;
  for (size_t q = 0; q < r->n_quantities; q++)
    any |= r->quantities[q].kind != DEMUR_OF_RISK && scores[q + 1] > scores[0];
  return scores[0] < r->threshold || !any;
}

/* scores [n][n_quantities + 1] of scans rows [n][width], n at most CHUNK; those of the risk's quantities are the lowest where they don't
 * matter. */
static void
score_scans(const DemurReasoner *r, const double *rows, size_t n, double *scores) {
  const size_t width = r->selector->columns->n_columns, n_scores = r->n_quantities + 1;
  for (size_t k = 0; k < n * n_scores; k++)
    scores[k] = -INFINITY;
  demur_reasoner_score(r, rows, n, DEMUR_OF_ANY & ~(1u << DEMUR_OF_RISK), scores);
  g_autofree double *needed = g_new(double, n *width), *found = g_new(double, n *n_scores);
  size_t places[CHUNK], n_needed = 0;
  for (size_t i = 0; i < n; i++)
    if (needs_risk(r, scores + i * n_scores)) {
      memcpy(needed + n_needed * width, rows + i * width, width * sizeof *rows);
      places[n_needed++] = i;
    }
  for (size_t j = 0; j < n_needed; j++)
    memcpy(found + j * n_scores, scores + places[j] * n_scores, n_scores * sizeof *scores);
  demur_reasoner_score(r, needed, n_needed, 1u << DEMUR_OF_RISK, found);
  for (size_t j = 0; j < n_needed; j++)
    memcpy(scores + places[j] * n_scores, found + j * n_scores, n_scores * sizeof *scores);
}

/* What would be said of each judged scan could all be told: statements [n][n_statements] in the
 * order of its reasons, the nearest scans' site and the image as a whole at their own places
 * behind. */
static guint32 *
find_statements(DemurReasoner *r, const double *kept, const size_t *judged, size_t n) {
  const DemurSelector *s = r->selector;
  const size_t width = s->columns->n_columns, length = r->n_quantities + N_WHOLES;
  guint32 *statements = g_new(guint32, n * length);
  memset(statements, 0xff, n * length * sizeof *statements); /* DEMUR_GUESS_NONE */
  g_autofree double *rows = g_new(double, CHUNK *width),
                    *all = g_new(double, CHUNK *(r->n_quantities + 1));
  g_autofree DemurReasonCandidate *candidates =
      g_new(DemurReasonCandidate, MAX(r->n_quantities, 1));
  for (size_t start = 0; start < n; start += CHUNK) {
    const size_t m = MIN(CHUNK, n - start);
    for (size_t j = 0; j < m; j++)
      memcpy(rows + j * width, kept + judged[start + j] * width, width * sizeof(double));
    score_scans(r, rows, m, all);
    for (size_t j = 0; j < m; j++) {
      const double *scores_of = all + j * (r->n_quantities + 1);
      state_scan(r, scores_of, rows + j * width, judged[start + j], candidates,
                 statements + (start + j) * length);
      count_first(r, scores_of, candidates);
    }
  }
  return statements;
}

/* What the judgement looks at. */
typedef struct {
  size_t n;
  guint32 *statements; /* [n][n_quantities + N_WHOLES] */
  double *risks, *logits;
} Judged;

/* How much of the risk is guessed where the quantities that are not telling are told. */
static double
guess(const DemurReasoner *r, const Judged *judged) {
  const size_t length = r->n_quantities + N_WHOLES, told_length = r->n_most + N_WHOLES;
  g_autofree guint32 *told = g_new(guint32, judged->n * told_length);
  memset(told, 0xff, judged->n * told_length * sizeof *told);
  for (size_t i = 0; i < judged->n; i++)
    for (size_t k = 0, said = 0; k < length; k++) {
      const guint32 statement = judged->statements[i * length + k];
      if (statement == DEMUR_GUESS_NONE || r->telling[statement >> 16])
        continue;
      if (k >= r->n_quantities)
        told[i * told_length + r->n_most + k - r->n_quantities] = statement;
      else if (said < r->n_most)
        told[i * told_length + said++] = statement;
    }
  const double *const targets[] = {judged->risks, judged->logits};
  return demur_reason_guess(told, judged->n, told_length, targets, G_N_ELEMENTS(targets));
}

/* While more can be guessed than may be: without the quantity without which the least can. */
static void
withhold(DemurReasoner *r, const Judged *judged) {
  double guessed = guess(r, judged);
  while (guessed > DEMUR_REASON_TELLING) {
    size_t best = r->n_quantities + N_WHOLES;
    double least = INFINITY;
    for (size_t q = 0; q < r->n_quantities + N_WHOLES; q++) {
      if (r->telling[q])
        continue;
      r->telling[q] = TRUE;
      const double without = guess(r, judged);
      r->telling[q] = FALSE;
      if (without < least) {
        least = without;
        best = q;
      }
    }
    if (best == r->n_quantities + N_WHOLES)
      break;
    r->telling[best] = TRUE;
    guessed = least;
  }
}

/* Where no measure of the image may be named: that it is unlike the others, by whichever measure,
 * by how much; where that is too much, that it lies beyond the smallest share of them that may be
 * told, and no more. */
static void
tell_image(DemurReasoner *r, const Judged *judged) {
  const size_t n = judged->n, length = r->n_quantities + N_WHOLES,
               place = r->n_quantities + WHOLE_IMAGE;
  for (size_t q = 0; q < r->n_quantities; q++)
    if (r->quantities[q].kind == DEMUR_OF_IMAGE && !r->telling[q])
      return;
  r->telling[place] = FALSE;
  if (guess(r, judged) <= DEMUR_REASON_TELLING)
    return;
  g_autofree guint32 *bands = g_new(guint32, n);
  for (size_t j = 0; j < n; j++) {
    const guint32 said = judged->statements[j * length + place];
    bands[j] = said == DEMUR_GUESS_NONE ? 0 : said & 0xffff;
  }
  for (guint level = 1; level < DEMUR_REASON_BANDS; level++) {
    for (size_t j = 0; j < n; j++)
      judged->statements[j * length + place] =
          bands[j] >= level ? (guint32)(place << 16) : DEMUR_GUESS_NONE;
    r->image_level = demur_reason_bands[level];
    if (guess(r, judged) <= DEMUR_REASON_TELLING)
      return;
  }
  r->telling[place] = TRUE;
}

void
demur_reasoner_judge(DemurReasoner *r) {
  const DemurSelector *s = r->selector;
  const gboolean judgeable = s->n_kept >= MIN_JUDGED;
  r->finder = demur_scan_finder_new(s);
  gboolean *nearest = &r->telling[r->n_quantities + NEAREST_SITE],
           *whole = &r->telling[r->n_quantities + WHOLE_IMAGE];
  for (size_t q = 0; q < r->n_quantities; q++)
    r->telling[q] = r->quantities[q].kind == DEMUR_OF_RISK || !judgeable;
  *nearest = !judgeable || !demur_nearest_scans_by_image(s);
  *whole = TRUE;
  if (!judgeable)
    return;
  DEMUR_AUTO_ALIGNED double *kept = demur_selector_kept_meta(s);
  g_autofree double *scores = g_new(double, s->n_kept);
  demur_selector_lowest_scores(s, kept, s->n_kept, MIN_REFUSED, r->threshold, scores);
  size_t n;
  g_autofree size_t *judged = find_judged(r, scores, &n);
  g_autofree guint32 *statements = find_statements(r, kept, judged, n);
  g_autofree double *risks = g_new(double, n), *logits = g_new(double, n);
  for (size_t j = 0; j < n; j++) {
    risks[j] = (double)s->kept_risks[judged[j]];
    logits[j] = demur_logit(risks[j]);
  }
  const Judged all = {n, statements, risks, logits};
  withhold(r, &all);
  tell_image(r, &all);
}
