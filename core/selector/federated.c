/* logit r' = a logit r + b behind logit r_seen = a' logit r + b' of the same r is one map: an intercept
 * joins intercepts, Platt's map and a temperature (Platt's from then on), and that of a corrector,
 * logit h = logit r + s (w x + w_0), as w_0 + b / s. The copy goes through the document, so that what is
 * kept is what a reader of it gets. */
#include "selector/federated.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/sha256.h"
#include "selector/scoring.h"
#include "selector/selector-private.h"
#include "selector/selector-sound.h"

static const char *const part_names[DEMUR_N_FEDERATED_PARTS] = {
    [DEMUR_FEDERATED_RECALIBRATION] = "recalibration",
    [DEMUR_FEDERATED_CORRECTOR] = "corrector",
    [DEMUR_FEDERATED_INTERCEPT] = "intercept",
};

const char *
demur_federated_part_name(DemurFederatedPart part) {
  return part_names[part];
}

/* ---- what a selector keeps ---- */

static void
origin_free(gpointer data) {
  DemurSelectorOrigin *origin = data;
  g_free(origin->result);
  g_free(origin->selector);
  g_strfreev(origin->sites);
  g_free(origin);
}

static void
add_origin(DemurSelector *s, DemurFederatedPart part, const char *result, const char *selector,
           char **sites, guint64 n_scans) {
  if (s->federated == NULL)
    s->federated = g_ptr_array_new_with_free_func(origin_free);
  DemurSelectorOrigin *origin = g_new(DemurSelectorOrigin, 1);
  *origin = (DemurSelectorOrigin){part, g_strdup(result), g_strdup(selector), sites, n_scans};
  g_ptr_array_add(s->federated, origin);
}

size_t
demur_selector_n_federated(const DemurSelector *selector) {
  return selector->federated != NULL ? selector->federated->len : 0;
}

DemurFederatedOrigin
demur_selector_federated(const DemurSelector *selector, size_t i) {
  const DemurSelectorOrigin *origin = selector->federated->pdata[i];
  return (DemurFederatedOrigin){origin->part, origin->result, origin->selector,
                                (const char *const *)origin->sites, origin->n_scans};
}

static gboolean
same_correctors(const DemurCorrector *a, const DemurCorrector *b) {
  return a->n_inputs == b->n_inputs && a->intercept == b->intercept &&
         memcmp(a->weights, b->weights, a->n_inputs * sizeof(double)) == 0;
}

/* A corrector went to the risks where these are a corrector's, and else to the scores: then both
 * correctors are it, even where a map came behind it (part_correctors). */
static DemurFederatedReach
reach_of_corrector(const DemurSelector *s) {
  if (s->recalibration != NULL && s->recalibration->kind == DEMUR_RECALIBRATION_CORRECTOR)
    return DEMUR_FEDERATED_RISKS;
  return s->raw.corrector == NULL || (s->corrected.corrector != NULL &&
                                      same_correctors(s->raw.corrector, s->corrected.corrector))
             ? DEMUR_FEDERATED_SCORES
             : DEMUR_FEDERATED_UNUSED;
}

DemurFederatedReach
demur_selector_federated_reach(const DemurSelector *selector, size_t i) {
  const DemurFederatedPart part = demur_selector_federated(selector, i).part;
  for (size_t j = i + 1; j < demur_selector_n_federated(selector); j++) {
    const DemurFederatedPart later = demur_selector_federated(selector, j).part;
    /* A map takes the place of all that moved risks, a corrector that of its own intercept. */
    if ((later == DEMUR_FEDERATED_RECALIBRATION && part != DEMUR_FEDERATED_CORRECTOR) ||
        (later == DEMUR_FEDERATED_CORRECTOR && part != DEMUR_FEDERATED_RECALIBRATION))
      return DEMUR_FEDERATED_UNUSED;
  }
  return part == DEMUR_FEDERATED_CORRECTOR ? reach_of_corrector(selector) : DEMUR_FEDERATED_RISKS;
}

void
demur_selector_write_federated(const DemurSelector *s, DemurJson *json) {
  if (s->federated == NULL)
    return;
  demur_json_begin_array(json, "federated");
  for (size_t i = 0; i < demur_selector_n_federated(s); i++) {
    const DemurFederatedOrigin origin = demur_selector_federated(s, i);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "part", part_names[origin.part]);
    demur_json_string(json, "result", origin.result);
    demur_json_string(json, "selector", origin.selector);
    demur_json_begin_array(json, "sites");
    for (const char *const *site = origin.sites; *site != NULL; site++)
      demur_json_string(json, NULL, *site);
    demur_json_end_array(json);
    demur_json_int(json, "n_scans", (gint64)origin.n_scans);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static char **
read_sites(JsonObject *object, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(object, "sites", &array, error))
    return NULL;
  const guint n = MIN(json_array_get_length(array), DEMUR_FEDERATED_MOST_SITES);
  g_auto(GStrv) sites = g_new0(char *, (size_t)n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element(array, i);
    const char *name = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
    if (name == NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member 'sites[%u]' of 'federated' is no text", i);
      return NULL;
    }
    sites[i] = g_strdup(name);
  }
  return g_steal_pointer(&sites);
}

static gboolean
read_digest(JsonObject *object, const char *key, const char **digest, GError **error) {
  guint8 bytes[DEMUR_SHA256_BYTES];
  if (!demur_json_read_string(object, key, digest, error))
    return FALSE;
  if (demur_sha256_parse(*digest, bytes))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "member '%s' of 'federated' is no digest", key);
  return FALSE;
}

static gboolean
read_origin(DemurSelector *s, JsonArray *array, guint i, GError **error) {
  JsonObject *object;
  const char *name, *result, *selector;
  gint64 n_scans;
  if (!demur_json_read_element(array, i, "federated", &object, error) ||
      !demur_json_read_string(object, "part", &name, error) ||
      !read_digest(object, "result", &result, error) ||
      !read_digest(object, "selector", &selector, error) ||
      !demur_json_read_int(object, "n_scans", 0, G_MAXINT64, &n_scans, error))
    return FALSE;
  size_t part = 0;
  while (part < DEMUR_N_FEDERATED_PARTS && strcmp(part_names[part], name) != 0)
    part++;
  if (part == DEMUR_N_FEDERATED_PARTS) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member 'part' of 'federated' is '%s', which is none",
                    name);
    return FALSE;
  }
  char **sites = read_sites(object, error);
  if (sites == NULL)
    return FALSE;
  add_origin(s, (DemurFederatedPart)part, result, selector, sites, (guint64)n_scans);
  return TRUE;
}

gboolean
demur_selector_read_federated(DemurSelector *s, JsonObject *root, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(root, "federated", &array, error))
    return FALSE;
  const guint n = json_array_get_length(array);
  if (n < 1 || n > DEMUR_FEDERATED_MOST) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member 'federated' names %u studies, not 1 to %d", n,
                    DEMUR_FEDERATED_MOST);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (!read_origin(s, array, i, error))
      return FALSE;
  return TRUE;
}

/* ---- the three parts ---- */

/* The corrector of raw risks apart from that of the risks that are seen. */
static void
part_correctors(DemurSelector *s) {
  if (s->raw.corrector != NULL || s->corrected.corrector == NULL)
    return;
  s->raw.scaler = demur_scaler_ref(s->corrected.scaler);
  s->raw.corrector = demur_corrector_copy(s->corrected.corrector);
}

static void
set_map(DemurSelector *s, DemurRecalibrationKind kind, double slope, double intercept) {
  part_correctors(s);
  demur_recalibration_free(s->recalibration);
  s->recalibration = g_new0(DemurRecalibration, 1);
  *s->recalibration = (DemurRecalibration){
      .kind = kind, .n_classes = s->n_classes, .slope = slope, .intercept = intercept};
}

static gboolean
take_recalibration(DemurSelector *s, const DemurFederatedNumbers *numbers, GError **error) {
  const gboolean temperature = numbers->kind == DEMUR_RECALIBRATION_TEMPERATURE;
  if ((s->n_classes > 2 && !temperature) ||
      (!temperature && numbers->kind != DEMUR_RECALIBRATION_INTERCEPT &&
       numbers->kind != DEMUR_RECALIBRATION_PLATT)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "a recalibration '%s' is no map of the risks of %zu classes",
                    demur_recalibration_name(numbers->kind), s->n_classes);
    return FALSE;
  }
  set_map(s, numbers->kind, numbers->slope, numbers->intercept);
  return TRUE;
}

static DemurRecalibrationKind
kind_of(const DemurSelector *s) {
  return s->recalibration != NULL ? s->recalibration->kind : DEMUR_RECALIBRATION_NONE;
}

static gboolean
scores_read_corrector(const DemurSelector *s) {
  const size_t first = s->columns->n_confidence + s->columns->n_outlier,
               end = first + s->columns->n_corrector;
  if (s->settings->scoring != DEMUR_SCORING_NETWORK) {
    const gssize column = demur_selector_column(s, demur_scoring_row(s->settings->scoring)->column);
    return column >= (gssize)first && column < (gssize)end;
  }
  for (size_t c = 0; c < s->n_inputs; c++)
    if (s->inputs[c] >= first && s->inputs[c] < end)
      return TRUE;
  return FALSE;
}

/* The corrector of raw risks that a study's takes the place of; NULL: there is none. */
static DemurCorrector *
corrector_of(const DemurSelector *s) {
  return kind_of(s) == DEMUR_RECALIBRATION_CORRECTOR ? s->raw.corrector : s->corrected.corrector;
}

/* Whether something hangs on the corrector of raw risks: behind a map of the risks it goes nowhere, as the
 * scores read the one of the risks that are seen; without a map it goes to the scores alone. */
static gboolean
check_corrector(const DemurSelector *s, GError **error) {
  const DemurRecalibrationKind kind = kind_of(s);
  const DemurCorrector *corrector = corrector_of(s);
  if (kind != DEMUR_RECALIBRATION_NONE && kind != DEMUR_RECALIBRATION_CORRECTOR) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "the selector's risks are recalibrated by a map (%s), and its scores read the "
                    "corrector behind that map: another corrector of the model's risks would "
                    "change nothing; it needs a selector that is trained with --recalibrate "
                    "corrector, and of this one a recalibration can be asked for",
                    demur_recalibration_name(kind));
  } else if (kind == DEMUR_RECALIBRATION_NONE && !scores_read_corrector(s)) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "neither the selector's risks nor its scores read its corrector: another one "
                    "would change nothing; it needs a selector that is trained with --recalibrate "
                    "corrector, and of this one a recalibration can be asked for");
  } else if (corrector == NULL || !(corrector->slope > 0.0)) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "the selector's corrector sees nothing in its training scans (s = 0), so that "
                    "other weights would change nothing; a recalibration can be asked for");
  } else {
    return TRUE;
  }
  return FALSE;
}

static gboolean
check_intercept(const DemurSelector *s, GError **error) {
  const DemurRecalibrationKind kind = kind_of(s);
  if (kind == DEMUR_RECALIBRATION_CORRECTOR)
    return check_corrector(s, error);
  if (kind != DEMUR_RECALIBRATION_ISOTONIC && kind != DEMUR_RECALIBRATION_AUTO)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "an intercept can't be put behind this selector's recalibration (%s)",
                  demur_recalibration_name(kind));
  return FALSE;
}

gboolean
demur_selector_may_federate(const DemurSelector *selector, DemurFederatedPart part,
                            GError **error) {
  if (selector->n_classes > 2 && part != DEMUR_FEDERATED_RECALIBRATION) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "a study of %s needs binary risk, not %zu classes",
                    part_names[part], selector->n_classes);
    return FALSE;
  }
  return part == DEMUR_FEDERATED_CORRECTOR   ? check_corrector(selector, error)
         : part == DEMUR_FEDERATED_INTERCEPT ? check_intercept(selector, error)
                                             : TRUE;
}

static gboolean
take_corrector(DemurSelector *s, const DemurFederatedNumbers *numbers, GError **error) {
  DemurCorrector *corrector = corrector_of(s);
  for (size_t c = 0; c < numbers->n_weights; c++)
    if (numbers->columns[c] >= corrector->n_inputs ||
        (c > 0 && numbers->columns[c] <= numbers->columns[c - 1])) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "column %u of the study's corrector is none of the selector's %zu, or out of "
                      "order",
                      numbers->columns[c], corrector->n_inputs);
      return FALSE;
    }
  memset(corrector->weights, 0, corrector->n_inputs * sizeof(double));
  for (size_t c = 0; c < numbers->n_weights; c++)
    corrector->weights[numbers->columns[c]] = numbers->weights[c];
  corrector->intercept = numbers->intercept;
  corrector->lambda = numbers->lambda;
  return TRUE;
}

/* It may be taken (check_intercept). */
static void
take_intercept(DemurSelector *s, double intercept) {
  const DemurRecalibration *map = s->recalibration;
  const DemurRecalibrationKind kind = kind_of(s);
  DemurCorrector *corrector = corrector_of(s);
  switch (kind) {
  case DEMUR_RECALIBRATION_NONE:
    set_map(s, DEMUR_RECALIBRATION_INTERCEPT, 1.0, intercept);
    break;
  case DEMUR_RECALIBRATION_INTERCEPT:
    set_map(s, kind, map->slope, map->intercept + intercept);
    break;
  case DEMUR_RECALIBRATION_TEMPERATURE:
  case DEMUR_RECALIBRATION_PLATT:
    set_map(s, DEMUR_RECALIBRATION_PLATT, map->slope, map->intercept + intercept);
    break;
  case DEMUR_RECALIBRATION_CORRECTOR:
    corrector->intercept += intercept / corrector->slope;
    break;
  case DEMUR_RECALIBRATION_ISOTONIC:
  case DEMUR_RECALIBRATION_AUTO:
    break;
  }
}

/* A part that may be taken. */
static gboolean
take(DemurSelector *s, DemurFederatedPart part, const DemurFederatedNumbers *numbers,
     GError **error) {
  if (part == DEMUR_FEDERATED_RECALIBRATION)
    return take_recalibration(s, numbers, error);
  if (part == DEMUR_FEDERATED_CORRECTOR)
    return take_corrector(s, numbers, error);
  take_intercept(s, numbers->intercept);
  return TRUE;
}

static gboolean
all_finite(const DemurFederatedNumbers *numbers, DemurFederatedPart part) {
  gboolean sound = isfinite(numbers->intercept);
  if (part == DEMUR_FEDERATED_RECALIBRATION)
    sound = sound && isfinite(numbers->slope);
  if (part == DEMUR_FEDERATED_CORRECTOR)
    sound = sound && isfinite(numbers->lambda) && numbers->lambda >= 0.0;
  for (size_t c = 0; part == DEMUR_FEDERATED_CORRECTOR && c < numbers->n_weights; c++)
    sound = sound && isfinite(numbers->weights[c]);
  return sound;
}

DemurSelector *
demur_selector_federate(const DemurSelector *selector, const DemurFederatedOrigin *origin,
                        const DemurFederatedNumbers *numbers, GError **error) {
  if (strcmp(selector->digest, origin->selector) != 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the study is of another selector (%.12s.., this is %.12s..): what it came to "
                    "holds for that one alone",
                    origin->selector, selector->digest);
    return NULL;
  }
  if (!all_finite(numbers, origin->part)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the study came to no finite numbers");
    return NULL;
  }
  g_autofree char *document = demur_selector_to_json(selector);
  g_autoptr(DemurSelector) s = demur_selector_from_json(document, -1, "selector", error);
  if (s == NULL)
    return NULL;
  if (!demur_selector_may_federate(s, origin->part, error) ||
      !take(s, origin->part, numbers, error) || !demur_selector_check_sound(s, error))
    return NULL;
  s->simulated = s->simulated || numbers->simulated;
  add_origin(s, origin->part, origin->result, origin->selector, g_strdupv((char **)origin->sites),
             origin->n_scans);
  demur_selector_seal(s);
  return g_steal_pointer(&s);
}
