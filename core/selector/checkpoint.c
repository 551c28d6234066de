/* Layout: "demurck1", then settings, seed, cohort digest, inputs digest, number of networks, each
 * network, and the SHA-256 of all that stands before it. A text is its length (u64) and bytes;
 * whole numbers are u64; doubles and floats their IEEE bits; all little endian. A network is u64 0
 * (not begun), or u64 1 and the members of DemurTrainerState in their order, arrays by the shape.
 */
#include "selector/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "base/sha256.h"

#define MAGIC "demurck1"
#define MAX_NETWORKS 5000 /* 100 models of 50 networks, the most the settings take */
#define MAX_INPUTS 1000000
#define MAX_HIDDEN 4096

DemurCheckpoint *
demur_checkpoint_new(const DemurTrainSettings *settings, guint64 seed, const char *cohort_digest,
                     const char *inputs_digest) {
  DemurCheckpoint *checkpoint = g_new0(DemurCheckpoint, 1);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_train_settings_write_json(settings, json, "settings");
  demur_json_end_object(json);
  checkpoint->settings = demur_json_finish(json);
  checkpoint->seed = seed;
  checkpoint->cohort_digest = g_strdup(cohort_digest);
  checkpoint->inputs_digest = g_strdup(inputs_digest);
  checkpoint->n_networks = (size_t)settings->models * (size_t)settings->average;
  checkpoint->networks = g_new0(DemurTrainerState *, MAX(checkpoint->n_networks, 1));
  return checkpoint;
}

void
demur_checkpoint_free(DemurCheckpoint *checkpoint) {
  if (checkpoint == NULL)
    return;
  for (size_t i = 0; i < checkpoint->n_networks; i++)
    demur_trainer_state_free(checkpoint->networks[i]);
  g_free(checkpoint->networks);
  g_free(checkpoint->settings);
  g_free(checkpoint->cohort_digest);
  g_free(checkpoint->inputs_digest);
  g_free(checkpoint);
}

gint64
demur_checkpoint_n_updates(const DemurCheckpoint *checkpoint) {
  gint64 n = 0;
  for (size_t i = 0; i < checkpoint->n_networks; i++)
    n += checkpoint->networks[i] != NULL ? checkpoint->networks[i]->update : 0;
  return n;
}

/* The members of the settings in a document; NULL where it is none. */
static JsonObject *
settings_object(JsonParser *parser, const char *text) {
  JsonObject *root = demur_json_load(parser, text, -1, NULL) &&
                             JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser))
                         ? json_node_get_object(json_parser_get_root(parser))
                         : NULL;
  JsonNode *node = root != NULL ? json_object_get_member(root, "settings") : NULL;
  return node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

/* "epochs 5, now 3; kappa 4, now 2": the members that differ. */
static char *
differences(const char *kept, const char *asked) {
  g_autoptr(JsonParser) kept_parser = json_parser_new_immutable();
  g_autoptr(JsonParser) asked_parser = json_parser_new_immutable();
  JsonObject *then = settings_object(kept_parser, kept),
             *now = settings_object(asked_parser, asked);
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GList) names = now != NULL ? json_object_get_members(now) : NULL;
  for (GList *name = names; name != NULL && then != NULL; name = name->next) {
    JsonNode *a = json_object_get_member(then, name->data);
    JsonNode *b = json_object_get_member(now, name->data);
    if (a != NULL && json_node_equal(a, b))
      continue;
    g_autofree char *before = a != NULL ? json_to_string(a, FALSE) : g_strdup("not set");
    g_autofree char *after = json_to_string(b, FALSE);
    g_string_append_printf(text, "%s%s %s, now %s", text->len > 0 ? "; " : "",
                           (const char *)name->data, before, after);
  }
  return text->len > 0 ? g_strdup(text->str) : g_strdup("by another version of this program");
}

gboolean
demur_checkpoint_check(const DemurCheckpoint *checkpoint, const DemurTrainSettings *settings,
                       guint64 seed, const char *cohort_digest, const char *inputs_digest,
                       GError **error) {
  g_autoptr(DemurCheckpoint) asked = demur_checkpoint_new(settings, seed, cohort_digest, NULL);
  if (strcmp(checkpoint->settings, asked->settings) != 0) {
    g_autofree char *what = differences(checkpoint->settings, asked->settings);
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the interrupted training was begun with other settings (%s); give the same options "
        "again, or train anew without --resume",
        what);
  } else if (checkpoint->seed != seed) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the interrupted training was begun with seed %" PRIu64 ", now it is %" PRIu64
                    "; give the same seed again, or train anew without --resume",
                    checkpoint->seed, seed);
  } else if (strcmp(checkpoint->cohort_digest, cohort_digest) != 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the interrupted training was begun on other scans (digest %.12s.., now %.12s..); "
        "name the same cohort, or train anew without --resume",
        checkpoint->cohort_digest, cohort_digest);
  } else if (inputs_digest != NULL && strcmp(checkpoint->inputs_digest, inputs_digest) != 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the meta features come out otherwise than when the interrupted training "
                    "was begun (another version of this program, another machine, or changed "
                    "attributes): going on would mix two trainings; train anew without "
                    "--resume");
  } else if (checkpoint->n_networks != asked->n_networks) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the interrupted training holds another number of networks than its "
                    "settings; train anew without --resume");
  } else {
    return TRUE;
  }
  return FALSE;
}

static void
put_u64(GByteArray *out, guint64 value) {
  value = GUINT64_TO_LE(value);
  g_byte_array_append(out, (const guint8 *)&value, sizeof value);
}

static void
put_double(GByteArray *out, double value) {
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  put_u64(out, bits);
}

static void
put_text(GByteArray *out, const char *text) {
  const size_t n = strlen(text);
  put_u64(out, n);
  g_byte_array_append(out, (const guint8 *)text, (guint)n);
}

static void
put_floats(GByteArray *out, const float *values, size_t n) {
  for (size_t i = 0; i < n; i++) {
    guint32 bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits = GUINT32_TO_LE(bits);
    g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
  }
}

static void
put_doubles(GByteArray *out, const double *values, size_t n) {
  for (size_t i = 0; i < n; i++)
    put_double(out, values[i]);
}

static void
put_state(GByteArray *out, const DemurTrainerState *s) {
  put_u64(out, s != NULL ? 1 : 0);
  if (s == NULL)
    return;
  const size_t n = s->shape.n_parameters;
  put_u64(out, s->shape.n_inputs);
  put_u64(out, s->shape.n_hidden);
  put_u64(out, (guint64)s->update);
  put_u64(out, (guint64)s->epoch);
  put_u64(out, s->flat ? 1 : 0);
  put_u64(out, s->finished ? 1 : 0);
  put_double(out, s->loss);
  put_double(out, s->window);
  put_double(out, s->last_window);
  put_double(out, s->best);
  put_u64(out, (guint64)s->best_epoch);
  put_floats(out, s->parameters, n);
  put_floats(out, s->kept, n);
  put_u64(out, s->adam_step);
  put_doubles(out, s->adam_first, n);
  put_doubles(out, s->adam_second, n);
  put_u64(out, s->n_history);
  for (size_t e = 0; e < s->n_history; e++) {
    put_u64(out, (guint64)s->history[e].epoch);
    put_double(out, s->history[e].loss);
    put_double(out, s->history[e].mean_auc);
    put_double(out, s->history[e].worst_auc);
  }
}

static void
digest_of(const guint8 *bytes, size_t n, guint8 digest[DEMUR_SHA256_BYTES]) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, bytes, n);
  demur_sha256_finish(&sha, digest);
}

GBytes *
demur_checkpoint_to_bytes(const DemurCheckpoint *checkpoint) {
  GByteArray *out = g_byte_array_new();
  g_byte_array_append(out, (const guint8 *)MAGIC, strlen(MAGIC));
  put_text(out, checkpoint->settings);
  put_u64(out, checkpoint->seed);
  put_text(out, checkpoint->cohort_digest);
  put_text(out, checkpoint->inputs_digest);
  put_u64(out, checkpoint->n_networks);
  for (size_t i = 0; i < checkpoint->n_networks; i++)
    put_state(out, checkpoint->networks[i]);
  guint8 digest[DEMUR_SHA256_BYTES];
  digest_of(out->data, out->len, digest);
  g_byte_array_append(out, digest, sizeof digest);
  return g_byte_array_free_to_bytes(out);
}

/* Reading: once something does not fit, everything after it is zero and ok is FALSE. */
typedef struct {
  const guint8 *at;
  size_t left;
  gboolean ok;
} Reader;

static const guint8 *
take(Reader *r, size_t n) {
  if (!r->ok || n > r->left) {
    r->ok = FALSE;
    return NULL;
  }
  const guint8 *bytes = r->at;
  r->at += n;
  r->left -= n;
  return bytes;
}

static guint64
get_u64(Reader *r) {
  const guint8 *bytes = take(r, sizeof(guint64));
  guint64 value = 0;
  if (bytes != NULL)
    memcpy(&value, bytes, sizeof value);
  return GUINT64_FROM_LE(value);
}

/* A whole number in [0, most]. */
static guint64
get_size(Reader *r, guint64 most) {
  const guint64 value = get_u64(r);
  if (value > most)
    r->ok = FALSE;
  return r->ok ? value : 0;
}

static double
get_double(Reader *r) {
  const guint64 bits = get_u64(r);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static char *
get_text(Reader *r) {
  const size_t n = (size_t)get_size(r, r->left);
  const guint8 *bytes = take(r, n);
  if (bytes == NULL || !g_utf8_validate_len((const char *)bytes, n, NULL))
    r->ok = FALSE;
  return r->ok ? g_strndup((const char *)bytes, n) : NULL;
}

static void
get_floats(Reader *r, float *values, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const guint8 *bytes = take(r, sizeof(guint32));
    guint32 bits = 0;
    if (bytes != NULL)
      memcpy(&bits, bytes, sizeof bits);
    bits = GUINT32_FROM_LE(bits);
    memcpy(&values[i], &bits, sizeof bits);
    r->ok = r->ok && isfinite(values[i]);
  }
}

static void
get_doubles(Reader *r, double *values, size_t n, double least) {
  for (size_t i = 0; i < n; i++) {
    values[i] = get_double(r);
    r->ok = r->ok && isfinite(values[i]) && values[i] >= least;
  }
}

static DemurTrainerState *
get_state(Reader *r) {
  if (get_size(r, 1) == 0)
    return NULL;
  const size_t n_inputs = (size_t)get_size(r, MAX_INPUTS);
  const size_t n_hidden = (size_t)get_size(r, MAX_HIDDEN);
  if (!r->ok || n_inputs == 0 || n_hidden == 0) {
    r->ok = FALSE;
    return NULL;
  }
  const DemurMlpShape shape = demur_mlp_shape(n_inputs, n_hidden);
  /* All arrays of this shape must still lie in front of us: nothing larger is allocated. */
  if (shape.n_parameters > r->left / (2 * sizeof(float) + 2 * sizeof(double))) {
    r->ok = FALSE;
    return NULL;
  }
  DemurTrainerState scalars = {.shape = shape};
  scalars.update = (gint64)get_size(r, G_MAXINT64);
  scalars.epoch = (gint64)get_size(r, G_MAXINT32);
  scalars.flat = get_size(r, 1) == 1;
  scalars.finished = get_size(r, 1) == 1;
  scalars.loss = get_double(r);
  scalars.window = get_double(r);
  scalars.last_window = get_double(r);
  scalars.best = get_double(r);
  scalars.best_epoch = (gint64)get_size(r, (guint64)MAX(scalars.epoch - 1, 0));
  r->ok = r->ok && isfinite(scalars.loss) && isfinite(scalars.window) &&
          !isnan(scalars.last_window) && !isnan(scalars.best);
  g_autoptr(DemurTrainerState) s = demur_trainer_state_new(shape, 0);
  get_floats(r, s->parameters, shape.n_parameters);
  get_floats(r, s->kept, shape.n_parameters);
  scalars.adam_step = get_size(r, G_MAXINT64);
  get_doubles(r, s->adam_first, shape.n_parameters, -INFINITY);
  get_doubles(r, s->adam_second, shape.n_parameters, 0.0);
  scalars.n_history = (size_t)get_size(r, r->left / (4 * sizeof(guint64)));
  if (!r->ok || scalars.n_history != (size_t)scalars.epoch ||
      scalars.adam_step != (guint64)scalars.update) {
    r->ok = FALSE;
    return NULL;
  }
  scalars.parameters = s->parameters;
  scalars.kept = s->kept;
  scalars.adam_first = s->adam_first;
  scalars.adam_second = s->adam_second;
  scalars.history = g_renew(DemurTrainerEpoch, s->history, MAX(scalars.n_history, 1));
  *s = scalars;
  for (size_t e = 0; e < s->n_history; e++) {
    s->history[e].epoch = (gint64)get_size(r, (guint64)s->n_history);
    s->history[e].loss = get_double(r);
    s->history[e].mean_auc = get_double(r);
    s->history[e].worst_auc = get_double(r);
    r->ok = r->ok && s->history[e].epoch == (gint64)e;
  }
  return g_steal_pointer(&s);
}

DemurCheckpoint *
demur_checkpoint_from_bytes(GBytes *bytes, GError **error) {
  size_t n;
  const guint8 *data = g_bytes_get_data(bytes, &n);
  guint8 digest[DEMUR_SHA256_BYTES];
  const gboolean named = n >= strlen(MAGIC) && memcmp(data, MAGIC, strlen(MAGIC)) == 0;
  Reader r = {data, n, named && n >= strlen(MAGIC) + DEMUR_SHA256_BYTES};
  if (r.ok) {
    r.left = n - DEMUR_SHA256_BYTES;
    digest_of(data, r.left, digest);
    r.ok = memcmp(digest, data + r.left, DEMUR_SHA256_BYTES) == 0;
  }
  take(&r, strlen(MAGIC));
  g_autoptr(DemurCheckpoint) c = g_new0(DemurCheckpoint, 1);
  c->settings = get_text(&r);
  c->seed = get_u64(&r);
  c->cohort_digest = get_text(&r);
  c->inputs_digest = get_text(&r);
  const size_t n_networks = (size_t)get_size(&r, MIN(MAX_NETWORKS, r.left / sizeof(guint64)));
  c->networks = g_new0(DemurTrainerState *, MAX(n_networks, 1));
  while (r.ok && c->n_networks < n_networks)
    c->networks[c->n_networks++] = get_state(&r);
  if (r.ok && r.left == 0)
    return g_steal_pointer(&c);
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "what was kept of the interrupted training is %s; train anew without --resume",
                  named ? N_("damaged by now") : N_("no checkpoint of this program"));
  return NULL;
}
