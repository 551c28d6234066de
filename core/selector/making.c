#include "selector/making.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "metrics/offset-logistic.h"
#include "selector/reason-guess.h"

#define FEWEST 100 /* fewer training scans judge nothing */
#define RARE 0.01
#define N DEMUR_N_ACQUISITION

struct DemurMaking {
  DemurAcquisition *acquisition;
  gboolean told[N];
};

/* Where an attribute of a scan lies beside the training scans. */
typedef enum {
  WITHIN,
  UNKNOWN, /* there is nothing to compare it with */
  BELOW,
  ABOVE,
  OTHER,        /* a text that they don't have */
  NOT_RECORDED, /* which it is in nearly all of them */
} Place;

static gboolean
is_outside(Place place) {
  return place > UNKNOWN;
}

/* look->text is the caller's. */
static Place
place_of(const DemurMaking *making, DemurAcquisitionSubject subject,
         const DemurAcquisitionScan *scan, DemurAcquisitionLook *look) {
  demur_acquisition_look(making->acquisition, subject, scan, look);
  /* A header that names no contrast agent mostly means that none was given. */
  if (!look->recorded)
    return look->share < RARE && subject != DEMUR_ACQUISITION_CONTRAST ? NOT_RECORDED : UNKNOWN;
  if (subject >= DEMUR_N_ACQUISITION_NUMBERS)
    return look->share >= RARE ? WITHIN : OTHER; /* NaN: fewer than have the most frequent ones */
  return isnan(look->median)        ? UNKNOWN
         : look->value < look->low  ? BELOW
         : look->value > look->high ? ABOVE
                                    : WITHIN;
}

/* What would be said of one scan: list [N], DEMUR_GUESS_NONE where nothing is. */
static void
state(const DemurMaking *making, const DemurAcquisitionScan *scan, guint32 *list) {
  for (guint s = 0; s < N; s++) {
    DemurAcquisitionLook look;
    const Place place = place_of(making, (DemurAcquisitionSubject)s, scan, &look);
    const guint text = place == OTHER ? g_str_hash(look.text) % 0xfff : 0;
    list[s] = place == WITHIN ? DEMUR_GUESS_NONE : s << 16 | (guint)place << 12 | text;
    g_free(look.text);
  }
}

/* --- what may be told --- */

typedef struct {
  double score;
  size_t scan;
} Ranked;

static int
compare_ranked(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  return x->score != y->score ? (x->score > y->score) - (x->score < y->score)
                              : (x->scan > y->scan) - (x->scan < y->scan);
}

/* The training scans by score, the lowest first. */
typedef struct {
  size_t n;
  const guint32 *lists; /* [n][N] */
  const double *risks, *logits;
} Judged;

/* The most that is guessed of any of the parts that may be held back. */
static double
guess(const DemurMaking *making, const Judged *judged) {
  static const size_t tenths[] = {1, 3, 5};
  const double *const targets[] = {judged->risks, judged->logits};
  g_autofree guint32 *told = g_memdup2(judged->lists, judged->n * N * sizeof *told);
  for (size_t i = 0; i < judged->n * N; i++)
    if (!making->told[i % N])
      told[i] = DEMUR_GUESS_NONE;
  double most = 0.0;
  for (size_t t = 0; t < G_N_ELEMENTS(tenths); t++) {
    const size_t n = MAX(judged->n * tenths[t] / 10, MIN(judged->n, FEWEST));
    most = MAX(most, demur_reason_guess(told, n, N, targets, G_N_ELEMENTS(targets)));
  }
  return most;
}

static void
withhold(DemurMaking *making, const Judged *judged) {
  while (guess(making, judged) > DEMUR_REASON_TELLING) {
    double least = INFINITY;
    guint best = N;
    for (guint s = 0; s < N; s++) {
      if (!making->told[s])
        continue;
      making->told[s] = FALSE;
      const double without = guess(making, judged);
      making->told[s] = TRUE;
      if (without < least) {
        least = without;
        best = s;
      }
    }
    if (best == N)
      return;
    making->told[best] = FALSE;
  }
}

DemurMaking *
demur_making_fit(const DemurAcquisitionScan *scans, const float *risks, const float *scores,
                 size_t n) {
  if (n < FEWEST)
    return NULL;
  g_autoptr(DemurMaking) making = g_new0(DemurMaking, 1);
  making->acquisition = demur_acquisition_fit(scans, n, NULL);
  if (making->acquisition == NULL)
    return NULL;
  for (guint s = 0; s < N; s++)
    making->told[s] = TRUE;
  g_autofree Ranked *order = g_new(Ranked, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (Ranked){(double)scores[i], i};
  qsort(order, n, sizeof *order, compare_ranked);
  g_autofree guint32 *lists = g_new(guint32, n * N);
  g_autofree double *sorted = g_new(double, n), *logits = g_new(double, n);
  for (size_t i = 0; i < n; i++) {
    state(making, &scans[order[i].scan], lists + i * N);
    sorted[i] = (double)risks[order[i].scan];
    logits[i] = demur_logit(sorted[i]);
  }
  withhold(making, &(const Judged){n, lists, sorted, logits});
  for (guint s = 0; s < N; s++)
    if (making->told[s])
      return g_steal_pointer(&making);
  return NULL;
}

void
demur_making_free(DemurMaking *making) {
  if (making == NULL)
    return;
  demur_acquisition_free(making->acquisition);
  g_free(making);
}

/* --- what is told --- */

static DemurReason *
outside(DemurAcquisitionSubject subject, Place place, const DemurAcquisitionLook *look) {
  DemurReason *reason =
      demur_reason_new(DEMUR_REASON_MADE, demur_acquisition_attribute(subject), look->text);
  reason->value = look->value;
  reason->low = look->low;
  reason->high = look->high;
  reason->place = place == BELOW   ? DEMUR_PLACE_BELOW
                  : place == ABOVE ? DEMUR_PLACE_ABOVE
                                   : DEMUR_PLACE_UNKNOWN;
  return reason;
}

void
demur_making_tell(const DemurMaking *making, const DemurAcquisitionScan *scan, GPtrArray *reasons) {
  g_autoptr(GString) within = g_string_new(NULL);
  for (guint s = 0; s < N; s++) {
    if (!making->told[s])
      continue;
    const DemurAcquisitionSubject subject = (DemurAcquisitionSubject)s;
    DemurAcquisitionLook look;
    const Place place = place_of(making, subject, scan, &look);
    if (is_outside(place))
      g_ptr_array_add(reasons, outside(subject, place, &look));
    else if (place == WITHIN)
      g_string_append_printf(within, "%s%s", within->len > 0 ? "," : "",
                             demur_acquisition_attribute(subject));
    g_free(look.text);
  }
  if (within->len > 0)
    g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_MADE_WITHIN, NULL, within->str));
}

void
demur_making_write_json(const DemurMaking *making, DemurJson *json) {
  demur_acquisition_write_json(making->acquisition, json);
  demur_json_begin_array(json, "told");
  for (guint s = 0; s < N; s++)
    if (making->told[s])
      demur_json_string(json, NULL, demur_acquisition_attribute((DemurAcquisitionSubject)s));
  demur_json_end_array(json);
}

DemurMaking *
demur_making_read_json(JsonObject *object, GError **error) {
  g_autoptr(DemurMaking) making = g_new0(DemurMaking, 1);
  JsonArray *told;
  making->acquisition = demur_acquisition_read_json(object, error);
  if (making->acquisition == NULL || !demur_json_read_array(object, "told", &told, error))
    return NULL;
  for (guint i = 0; i < json_array_get_length(told); i++) {
    JsonNode *node = json_array_get_element(told, i);
    DemurAcquisitionSubject subject;
    if (!JSON_NODE_HOLDS_VALUE(node) ||
        !demur_acquisition_find_subject(json_node_get_string(node), &subject)) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member 'told[%u]' is no attribute of how a scan was made", i);
      return NULL;
    }
    making->told[subject] = TRUE;
  }
  return g_steal_pointer(&making);
}
