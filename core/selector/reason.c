#include "selector/reason.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/json-reader.h"

static const char *const kinds[DEMUR_N_REASONS] = {
    [DEMUR_REASON_LEGACY] = "legacy",
    [DEMUR_REASON_FEATURE] = "feature",
    [DEMUR_REASON_NUMBER] = "number",
    [DEMUR_REASON_GROUP] = "group",
    [DEMUR_REASON_NOT_RECORDED] = "not_recorded",
    [DEMUR_REASON_SIMILAR] = "similar",
    [DEMUR_REASON_UNLIKE] = "unlike",
    [DEMUR_REASON_NEAREST] = "nearest",
    [DEMUR_REASON_MADE] = "made",
    [DEMUR_REASON_WITHHELD] = "withheld",
    [DEMUR_REASON_MADE_WITHIN] = "made_within",
    [DEMUR_REASON_MOSTLY] = "mostly",
    [DEMUR_REASON_NOT_TUNED] = "not_tuned",
    [DEMUR_REASON_NO_SCORE] = "no_score",
    [DEMUR_REASON_OTHER_MODEL] = "other_model",
    [DEMUR_REASON_OTHER_IMAGES] = "other_images",
    [DEMUR_REASON_WIDTH] = "embedding_width",
    [DEMUR_REASON_SERIES] = "series",
    [DEMUR_REASON_NOT_CHOSEN] = "not_chosen",
    [DEMUR_REASON_OVERRULED] = "overruled",
    [DEMUR_REASON_CONFLICT] = "conflict",
    [DEMUR_REASON_CROSSES] = "crosses",
    [DEMUR_REASON_FILES] = "files",
    [DEMUR_REASON_RUN_FAILED] = "run_failed",
    [DEMUR_REASON_HORIZON] = "horizon",
    [DEMUR_REASON_WATCH] = "watch_stopped",
    [DEMUR_REASON_RULE] = "rule",
    [DEMUR_REASON_PREFERRED] = "preferred",
    [DEMUR_REASON_PERSON_CHOSE] = "person_chose",
    [DEMUR_REASON_CHOSEN_BEFORE] = "chosen_before",
    [DEMUR_REASON_CHOSEN_IS_OUT] = "chosen_is_out",
    [DEMUR_REASON_TOGETHER] = "held_together",
};

static const char of_risk[] = "risk";

static const char *const places[] = {
    [DEMUR_PLACE_UNKNOWN] = "unknown",   [DEMUR_PLACE_BELOW] = "below_p1",
    [DEMUR_PLACE_LOW] = "below_median",  [DEMUR_PLACE_MEDIAN] = "at_median",
    [DEMUR_PLACE_HIGH] = "above_median", [DEMUR_PLACE_ABOVE] = "above_p99",
};

/* The members of an object that are there only where they say something: one table for both ways.
 */
#define NUMBER(name)                                                                               \
  { #name, G_STRUCT_OFFSET(DemurReason, name) }
static const struct {
  const char *name;
  gsize offset;
} numbers[] = {NUMBER(value), NUMBER(median), NUMBER(low),   NUMBER(high),
               NUMBER(share), NUMBER(beyond), NUMBER(score), NUMBER(changed)},
  counts[] = {NUMBER(n), NUMBER(n_over), NUMBER(n_sites), NUMBER(n_events)};
#undef NUMBER

DemurReason *
demur_reason_new(DemurReasonKind kind, const char *subject, const char *text) {
  DemurReason *reason = g_new0(DemurReason, 1);
  reason->kind = kind;
  reason->subject = g_strdup(subject);
  reason->text = g_strdup(text);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    *(double *)G_STRUCT_MEMBER_P(reason, numbers[i].offset) = NAN;
  return reason;
}

DemurReason *
demur_reason_copy(const DemurReason *reason) {
  DemurReason *copy = g_memdup2(reason, sizeof *reason);
  copy->subject = g_strdup(reason->subject);
  copy->text = g_strdup(reason->text);
  copy->values = g_strdupv(reason->values);
  return copy;
}

void
demur_reason_free(DemurReason *reason) {
  if (reason == NULL)
    return;
  g_free(reason->subject);
  g_free(reason->text);
  g_strfreev(reason->values);
  g_free(reason);
}

const char *
demur_reason_kind_name(DemurReasonKind kind) {
  return kinds[kind];
}

gboolean
demur_reason_is_of_risk(const DemurReason *reason) {
  return g_strcmp0(reason->subject, of_risk) == 0;
}

const char *
demur_reason_place_name(DemurReasonPlace place) {
  return places[place];
}

GPtrArray *
demur_reasons_new(void) {
  return g_ptr_array_new_with_free_func((GDestroyNotify)demur_reason_free);
}

void
demur_reason_write(DemurJson *json, const DemurReason *reason) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "kind", kinds[reason->kind]);
  demur_json_bool(json, "tells_risk", reason->tells_risk);
  if (reason->rough)
    demur_json_bool(json, "rough", TRUE);
  if (reason->subject != NULL)
    demur_json_string(json, "subject", reason->subject);
  if (reason->text != NULL)
    demur_json_string(json, "text", reason->text);
  if (reason->values != NULL) {
    demur_json_begin_array(json, "values");
    for (char **value = reason->values; *value != NULL; value++)
      demur_json_string(json, NULL, *value);
    demur_json_end_array(json);
  }
  if (reason->place != DEMUR_PLACE_UNKNOWN)
    demur_json_string(json, "place", places[reason->place]);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    const double value = *(const double *)G_STRUCT_MEMBER_P(reason, numbers[i].offset);
    if (isfinite(value))
      demur_json_double(json, numbers[i].name, value);
  }
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    const guint count = *(const guint *)G_STRUCT_MEMBER_P(reason, counts[i].offset);
    if (count > 0)
      demur_json_int(json, counts[i].name, count);
  }
  demur_json_end_object(json);
}

char *
demur_reasons_to_json(const GPtrArray *reasons) {
  DemurJson *json = demur_json_new();
  demur_json_begin_array(json, NULL);
  for (guint i = 0; reasons != NULL && i < reasons->len; i++)
    demur_reason_write(json, reasons->pdata[i]);
  demur_json_end_array(json);
  return g_strchomp(demur_json_finish(json));
}

/* A member's text; NULL where there is none. */
static const char *
text_of(JsonObject *object, const char *name) {
  JsonNode *node = json_object_get_member(object, name);
  return node != NULL && JSON_NODE_HOLDS_VALUE(node) &&
                 json_node_get_value_type(node) == G_TYPE_STRING
             ? json_node_get_string(node)
             : NULL;
}

/* The texts of an array (owned); NULL where it is none. */
static char **
texts_of(JsonObject *object, const char *name) {
  JsonNode *node = json_object_get_member(object, name);
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY(node))
    return NULL;
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
  JsonArray *array = json_node_get_array(node);
  for (guint i = 0; i < json_array_get_length(array); i++) {
    JsonNode *text = json_array_get_element(array, i);
    const gboolean is_text =
        JSON_NODE_HOLDS_VALUE(text) && json_node_get_value_type(text) == G_TYPE_STRING;
    g_strv_builder_add(texts, is_text ? json_node_get_string(text) : "");
  }
  return g_strv_builder_end(texts);
}

/* Index of a text among n; -1 where it is none of them. */
static int
index_of(const char *text, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (g_strcmp0(text, texts[i]) == 0)
      return (int)i;
  return -1;
}

static DemurReason *
read_reason(JsonObject *object) {
  const int kind = index_of(text_of(object, "kind"), kinds, DEMUR_N_REASONS);
  if (kind < 0)
    return NULL;
  DemurReason *reason =
      demur_reason_new((DemurReasonKind)kind, text_of(object, "subject"), text_of(object, "text"));
  reason->values = texts_of(object, "values");
  const int place = index_of(text_of(object, "place"), places, G_N_ELEMENTS(places));
  reason->place = place >= 0 ? (DemurReasonPlace)place : DEMUR_PLACE_UNKNOWN;
  reason->tells_risk = json_object_get_boolean_member_with_default(object, "tells_risk", TRUE);
  reason->rough = json_object_get_boolean_member_with_default(object, "rough", FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    *(double *)G_STRUCT_MEMBER_P(reason, numbers[i].offset) =
        json_object_get_double_member_with_default(object, numbers[i].name, NAN);
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
    *(guint *)G_STRUCT_MEMBER_P(reason, counts[i].offset) =
        (guint)json_object_get_int_member_with_default(object, counts[i].name, 0);
  return reason;
}

GPtrArray *
demur_reasons_from_json(const char *json) {
  GPtrArray *reasons = demur_reasons_new();
  g_autoptr(JsonNode) root = demur_json_parse(json);
  JsonArray *array = root != NULL && JSON_NODE_HOLDS_ARRAY(root) ? json_node_get_array(root) : NULL;
  for (guint i = 0; array != NULL && i < json_array_get_length(array); i++) {
    JsonNode *node = json_array_get_element(array, i);
    DemurReason *reason = NULL;
    if (JSON_NODE_HOLDS_OBJECT(node)) {
      reason = read_reason(json_node_get_object(node));
    } else if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_string(node) != NULL) {
      reason = demur_reason_new(DEMUR_REASON_LEGACY, NULL, json_node_get_string(node));
      reason->tells_risk = TRUE;
    }
    if (reason != NULL)
      g_ptr_array_add(reasons, reason);
  }
  return reasons;
}

GPtrArray *
demur_reasons_from_kept(const char *kept) {
  g_autoptr(JsonNode) root = demur_json_parse(kept);
  if (kept == NULL || (root != NULL && JSON_NODE_HOLDS_ARRAY(root)))
    return demur_reasons_from_json(kept);
  GPtrArray *reasons = demur_reasons_new();
  g_ptr_array_add(reasons, demur_reason_new(DEMUR_REASON_SERIES, NULL, kept));
  return reasons;
}

char *
demur_reason_kept(const DemurReason *reason) {
  g_autoptr(GPtrArray) one = g_ptr_array_new();
  g_ptr_array_add(one, (gpointer)(gsize)reason);
  return demur_reasons_to_json(one);
}

const double demur_reason_bands[DEMUR_REASON_BANDS] = {0.0, 0.5, 0.75, 0.9, 0.95, 0.99};

double
demur_reason_band(double beyond, guint *band) {
  guint b = 0;
  while (b + 1 < DEMUR_REASON_BANDS && beyond >= demur_reason_bands[b + 1])
    b++;
  if (band != NULL)
    *band = b;
  return demur_reason_bands[b];
}

/* Why the selector has its score: what its other reasons are says something of the risk. */
static gboolean
is_of_selector(const DemurReason *reason) {
  switch (reason->kind) {
  case DEMUR_REASON_FEATURE:
  case DEMUR_REASON_NUMBER:
  case DEMUR_REASON_GROUP:
  case DEMUR_REASON_NOT_RECORDED:
  case DEMUR_REASON_SIMILAR:
  case DEMUR_REASON_UNLIKE:
  case DEMUR_REASON_NEAREST:
  case DEMUR_REASON_CROSSES:
  case DEMUR_REASON_LEGACY:
    return TRUE;
  default:
    return FALSE;
  }
}

/* What surrounds a verdict and is no reason of it. */
gboolean
demur_reason_is_context(const DemurReason *reason) {
  return reason->kind == DEMUR_REASON_MADE_WITHIN || reason->kind == DEMUR_REASON_MOSTLY;
}

gboolean
demur_reason_is_remark(const DemurReason *reason) {
  return reason->kind == DEMUR_REASON_WITHHELD || demur_reason_is_context(reason);
}

/* Takes away what a risk could be read from. */
static void
roughen(DemurReason *reason) {
  if (!is_of_selector(reason))
    return;
  reason->value = reason->median = reason->low = reason->high = NAN;
  reason->score = reason->changed = NAN;
  reason->n_over = reason->n_sites = reason->n_events = 0;
  if (reason->place == DEMUR_PLACE_ABOVE || reason->place == DEMUR_PLACE_HIGH)
    reason->place = DEMUR_PLACE_HIGH;
  else if (reason->place == DEMUR_PLACE_BELOW || reason->place == DEMUR_PLACE_LOW)
    reason->place = DEMUR_PLACE_LOW;
  if (isfinite(reason->beyond)) {
    reason->beyond = demur_reason_band(reason->beyond, NULL);
    reason->rough = TRUE;
  }
  if (reason->kind == DEMUR_REASON_NEAREST) {
    g_clear_pointer(&reason->text, g_free);
    reason->share = demur_reason_band(reason->share, NULL);
    reason->rough = TRUE;
  }
}

GPtrArray *
demur_reasons_shown(const GPtrArray *reasons, gboolean tells_risk) {
  GPtrArray *shown = demur_reasons_new();
  gboolean of_selector = FALSE;
  guint n_reasons = 0; /* before what surrounds them */
  for (guint i = 0; reasons != NULL && i < reasons->len; i++) {
    const DemurReason *reason = reasons->pdata[i];
    of_selector |= is_of_selector(reason);
    /* What holds for any scan is said in place of the scan's own reasons. */
    if (tells_risk && reason->kind == DEMUR_REASON_MOSTLY)
      continue;
    if (!tells_risk && reason->tells_risk) {
      of_selector = TRUE;
      continue;
    }
    DemurReason *copy = demur_reason_copy(reason);
    if (!tells_risk)
      roughen(copy);
    g_ptr_array_add(shown, copy);
    if (!demur_reason_is_context(copy))
      n_reasons = shown->len;
  }
  if (!tells_risk && of_selector)
    g_ptr_array_insert(shown, (gint)n_reasons, demur_reason_new(DEMUR_REASON_WITHHELD, NULL, NULL));
  return shown;
}

char *
demur_reasons_lead(const GPtrArray *reasons) {
  for (guint i = 0; reasons != NULL && i < reasons->len; i++) {
    const DemurReason *reason = reasons->pdata[i];
    if (!reason->tells_risk && !demur_reason_is_context(reason))
      return g_strdup_printf("%s:%s", kinds[reason->kind],
                             reason->subject != NULL ? reason->subject : "");
  }
  return reasons != NULL && reasons->len > 0 ? g_strdup(kinds[DEMUR_REASON_WITHHELD]) : NULL;
}
