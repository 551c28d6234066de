#include "evaluation/federate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "base/shown-text.h"
#include "evaluation/federate-private.h"
#include "metrics/offset-logistic.h"

#define ROUND_FORMAT "demur-round"
#define ANSWER_FORMAT "demur-answer"
#define VERSION 2

static const char *const studies[DEMUR_N_FEDERATE_STUDIES] = {"recalibration", "corrector", "audit",
                                                              "evaluation"};

const char *
demur_federate_study_name(DemurFederateStudy study) {
  return studies[study];
}

gboolean
demur_federate_study_from_name(const char *name, DemurFederateStudy *study, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(studies); i++)
    if (strcmp(name, studies[i]) == 0) {
      *study = (DemurFederateStudy)i;
      return TRUE;
    }
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "no study is called '%s'; there are recalibration, corrector, audit and "
                  "evaluation",
                  name);
  return FALSE;
}

static gboolean
is_newton(const DemurFederateRound *round) {
  return round->study == DEMUR_FEDERATE_RECALIBRATION || round->study == DEMUR_FEDERATE_CORRECTOR;
}

/* Slopes begin at 1, all else at 0: where the fits of pooled scans begin. */
static DemurNewton *
newton_of(const DemurFederateRound *round, size_t m) {
  g_autofree double *start = g_new0(double, m);
  if (round->study == DEMUR_FEDERATE_RECALIBRATION && round->kind != DEMUR_RECALIBRATION_INTERCEPT)
    start[0] = 1.0;
  return demur_newton_new(start, m);
}

DemurFederateRound *
demur_federate_round_new(DemurFederateStudy study, DemurRecalibrationKind kind,
                         const char *selector, size_t n_classes, char *const *sites, size_t width,
                         const guint32 *inputs, size_t n_inputs) {
  DemurFederateRound *round = g_new0(DemurFederateRound, 1);
  round->study = study;
  round->kind = kind;
  round->selector = g_strdup(selector);
  round->n_classes = n_classes;
  round->number = 1;
  round->sites = g_strdupv((char **)sites);
  if (study == DEMUR_FEDERATE_CORRECTOR) {
    round->newton = newton_of(round, n_inputs + 1);
    demur_federate_round_set_inputs(round, width, inputs, n_inputs);
  }
  if (study == DEMUR_FEDERATE_RECALIBRATION)
    round->newton = newton_of(round, n_classes > 2 ? 1 : demur_recalibration_problem(kind).d + 1);
  return round;
}

void
demur_federate_round_set_inputs(DemurFederateRound *round, size_t width, const guint32 *inputs,
                                size_t n_inputs) {
  g_aligned_free(round->inputs);
  round->width = width;
  round->n_inputs = n_inputs;
  round->inputs = demur_new_array(guint32, MAX(n_inputs, 1));
  if (n_inputs > 0)
    memcpy(round->inputs, inputs, n_inputs * sizeof *inputs);
}

void
demur_federate_round_free(DemurFederateRound *round) {
  if (round == NULL)
    return;
  g_free(round->selector);
  g_free(round->first);
  g_strfreev(round->sites);
  demur_newton_free(round->newton);
  g_aligned_free(round->inputs);
  g_aligned_free(round->thresholds);
  g_aligned_free(round->edges);
  g_free(round->digest);
  g_free(round);
}

const char *
demur_federate_round_identity(const DemurFederateRound *round) {
  return round->first != NULL ? round->first : round->digest;
}

void
demur_federate_round_restart(DemurFederateRound *round) {
  if (round->newton == NULL)
    return;
  DemurNewton *anew = newton_of(round, round->newton->m);
  demur_newton_free(round->newton);
  round->newton = anew;
}

size_t
demur_federate_n_sums(const DemurFederateRound *round) {
  if (round->study == DEMUR_FEDERATE_EVALUATION)
    return 0;
  if (round->study == DEMUR_FEDERATE_AUDIT)
    return 3;
  if (round->n_classes > 2)
    return 2;
  return DEMUR_N_LOGISTIC_SUMS(round->newton->m);
}

char *
demur_federate_sum_name(const DemurFederateRound *round, size_t i) {
  static const char *const of_audit[] = {"sum of y - r", "sum of r (1 - r)",
                                         "patients' (sum of y - r)^2"};
  static const char *const of_slope[] = {"first derivative", "second derivative"};
  if (round->study == DEMUR_FEDERATE_AUDIT)
    return g_strdup(of_audit[i]);
  if (round->n_classes > 2)
    return g_strdup(of_slope[i]);
  const size_t m = round->newton->m;
  if (i == 0)
    return g_strdup("minus log likelihood");
  if (i <= m)
    return g_strdup_printf("gradient[%zu]", i - 1);
  size_t row = 0, place = i - 1 - m;
  while (place > row)
    place -= ++row;
  return g_strdup_printf("hessian[%zu][%zu]", row, place);
}

void
demur_federate_answer_free(DemurFederateAnswer *answer) {
  if (answer == NULL)
    return;
  g_free(answer->site);
  g_aligned_free(answer->sums);
  for (size_t g = 0; answer->groups != NULL && g < answer->n_groups; g++)
    g_aligned_free(answer->groups[g].cells);
  g_free(answer->groups);
  g_free(answer);
}

/* ---- writing ---- */

DemurJson *
demur_federate_begin(const char *digest, const char *format) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (digest != NULL)
    demur_json_string(json, "digest", digest);
  demur_json_string(json, "format", format);
  demur_json_int(json, "version", VERSION);
  return json;
}

static char *
end(DemurJson *json) {
  demur_json_end_object(json);
  return demur_json_finish(json);
}

static void
write_newton(DemurJson *json, const DemurNewton *newton) {
  demur_json_begin_object(json, "newton");
  demur_json_int(json, "m", (gint64)newton->m);
  demur_json_doubles(json, "at", newton->at, newton->m);
  demur_json_doubles(json, "accepted", newton->accepted, newton->m);
  demur_json_doubles(json, "step", newton->step, newton->m);
  demur_json_bool(json, "begun", newton->begun);
  demur_json_double(json, "value", newton->value);
  demur_json_double(json, "scale", newton->scale);
  demur_json_int(json, "steps", newton->n_steps);
  demur_json_int(json, "halvings", newton->n_halvings);
  demur_json_end_object(json);
}

/* As DemurSha256Write. */
static char *
round_text(gconstpointer content, const char *digest) {
  const DemurFederateRound *round = content;
  DemurJson *json = demur_federate_begin(digest, ROUND_FORMAT);
  demur_json_string(json, "study", studies[round->study]);
  demur_json_string(json, "kind", demur_recalibration_name(round->kind));
  demur_json_string(json, "selector", round->selector);
  demur_json_int(json, "n_classes", (gint64)round->n_classes);
  demur_json_int(json, "round", (gint64)round->number);
  demur_json_string(json, "first", round->first != NULL ? round->first : "");
  demur_json_begin_array(json, "sites");
  for (char **site = round->sites; *site != NULL; site++)
    demur_json_string(json, NULL, *site);
  demur_json_end_array(json);
  demur_json_bool(json, "simulated", round->simulated);
  if (round->study == DEMUR_FEDERATE_CORRECTOR) {
    demur_json_double(json, "lambda", round->lambda);
    demur_json_int(json, "width", (gint64)round->width);
    demur_json_begin_array(json, "inputs");
    for (size_t c = 0; c < round->n_inputs; c++)
      demur_json_int(json, NULL, round->inputs[c]);
    demur_json_end_array(json);
  }
  if (round->newton != NULL)
    write_newton(json, round->newton);
  if (round->study == DEMUR_FEDERATE_EVALUATION) {
    demur_json_doubles(json, "thresholds", round->thresholds, round->n_thresholds);
    demur_json_doubles(json, "edges", round->edges, round->n_edges);
  }
  return end(json);
}

char *
demur_federate_round_write(DemurFederateRound *round) {
  g_free(round->digest);
  return demur_sha256_seal(round_text, round, &round->digest);
}

static void
write_group(DemurJson *json, const DemurFederateGroup *group) {
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "cells");
  for (size_t c = 0; c < group->n_cells; c++)
    demur_json_int(json, NULL, group->cells[c]);
  demur_json_end_array(json);
  demur_json_int(json, "n", (gint64)group->n);
  demur_json_int(json, "positives", (gint64)group->positives);
  demur_json_double(json, "risks", group->risks);
  demur_json_double(json, "squares", group->squares);
  demur_json_end_object(json);
}

/* An answer and the round that it is to. */
typedef struct {
  const DemurFederateRound *round;
  const DemurFederateAnswer *answer;
} Answered;

/* As DemurSha256Write, of an Answered. */
static char *
answer_text(gconstpointer content, const char *digest) {
  const DemurFederateRound *round = ((const Answered *)content)->round;
  const DemurFederateAnswer *answer = ((const Answered *)content)->answer;
  DemurJson *json = demur_federate_begin(digest, ANSWER_FORMAT);
  demur_json_string(json, "study", demur_federate_round_identity(round));
  demur_json_int(json, "number", (gint64)round->number);
  demur_json_string(json, "round", round->digest);
  demur_json_string(json, "selector", round->selector);
  demur_json_string(json, "site", answer->site);
  demur_json_bool(json, "simulated", answer->simulated);
  demur_json_bool(json, "withheld", answer->withheld);
  demur_json_int(json, "n", (gint64)answer->n);
  demur_json_doubles(json, "sums", answer->sums, answer->n_sums);
  demur_json_begin_array(json, "groups");
  for (size_t g = 0; g < answer->n_groups; g++)
    write_group(json, &answer->groups[g]);
  demur_json_end_array(json);
  return end(json);
}

char *
demur_federate_answer_digest(const DemurFederateRound *round, const DemurFederateAnswer *answer) {
  const Answered answered = {round, answer};
  char *digest;
  g_autofree char *text = demur_sha256_seal(answer_text, &answered, &digest);
  return digest;
}

char *
demur_federate_answer_write(const DemurFederateRound *round, const DemurFederateAnswer *answer) {
  const Answered answered = {round, answer};
  return demur_sha256_seal(answer_text, &answered, NULL);
}

/* ---- reading ---- */

JsonObject *
demur_federate_load(JsonParser *parser, const char *text, gssize length, const char *format,
                    GError **error) {
  g_autoptr(GError) local = NULL;
  const char *found = NULL;
  gint64 version;
  const gboolean loaded = demur_json_load(parser, text, length, &local);
  JsonNode *node = loaded ? json_parser_get_root(parser) : NULL;
  JsonObject *root =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  if (root == NULL || !demur_json_read_string(root, "format", &found, NULL) ||
      strcmp(found, format) != 0 ||
      !demur_json_read_int(root, "version", VERSION, VERSION, &version, &local)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it is no %s, as `demur federate` writes them (%s)",
                    format, local != NULL ? local->message : N_("another format"));
    if (local != NULL)
      demur_error_because(error, local);
    return NULL;
  }
  return root;
}

/* Whether two texts differ in blanks and ends of lines only. */
static gboolean
same_but_blanks(const char *a, const char *b) {
  for (;;) {
    while (g_ascii_isspace(*a))
      a++;
    while (g_ascii_isspace(*b))
      b++;
    if (*a != *b || *a == '\0')
      return *a == *b;
    a++;
    b++;
  }
}

gboolean
demur_federate_check_unedited(const char *text, const char *digest, DemurSha256Write write,
                              gconstpointer content, GError **error) {
  g_autofree char *right = NULL;
  if (!demur_sha256_is_sealed(write, content, digest, &right)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it was changed after it was written: its digest is %.12s.., its content's "
                    "%.12s..",
                    digest, right);
    return FALSE;
  }
  g_autofree char *whole = write(content, digest);
  if (!same_but_blanks(text, whole)) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it holds more than `demur federate` writes, or in another way");
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_newton(JsonObject *root, DemurFederateRound *round, GError **error) {
  JsonObject *object;
  gint64 m, steps, halvings;
  DEMUR_AUTO_ALIGNED double *at = NULL, *accepted = NULL, *step = NULL;
  gboolean begun;
  double value, scale;
  if (!demur_json_read_object(root, "newton", &object, error) ||
      !demur_json_read_int(object, "m", 1, DEMUR_FEDERATE_MOST_COEFFICIENTS, &m, error) ||
      !demur_json_read_doubles(object, "at", (size_t)m, -INFINITY, INFINITY, &at, error) ||
      !demur_json_read_doubles(object, "accepted", (size_t)m, -INFINITY, INFINITY, &accepted,
                               error) ||
      !demur_json_read_doubles(object, "step", (size_t)m, -INFINITY, INFINITY, &step, error) ||
      !demur_json_read_bool(object, "begun", &begun, error) ||
      !demur_json_read_double(object, "value", -INFINITY, INFINITY, &value, error) ||
      !demur_json_read_double(object, "scale", 0.0, 1.0, &scale, error) ||
      !demur_json_read_int(object, "steps", 0, 1000, &steps, error) ||
      !demur_json_read_int(object, "halvings", 0, 1000, &halvings, error))
    return FALSE;
  const size_t wanted = round->n_classes > 2 ? 1 : demur_recalibration_problem(round->kind).d + 1;
  if (round->study == DEMUR_FEDERATE_RECALIBRATION && (size_t)m != wanted) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it has %d coefficients; %s has %d", (int)m,
                    demur_recalibration_name(round->kind), (int)wanted);
    return FALSE;
  }
  round->newton = demur_newton_new(at, (size_t)m);
  memcpy(round->newton->accepted, accepted, (size_t)m * sizeof(double));
  memcpy(round->newton->step, step, (size_t)m * sizeof(double));
  round->newton->begun = begun;
  round->newton->value = value;
  round->newton->scale = scale;
  round->newton->n_steps = (guint)steps;
  round->newton->n_halvings = (guint)halvings;
  return TRUE;
}

/* Columns in strict order, as many as there are coefficients beside the intercept. */
static gboolean
read_inputs(JsonObject *root, DemurFederateRound *round, GError **error) {
  const size_t n = round->newton->m - 1;
  gint64 width;
  DEMUR_AUTO_ALIGNED guint32 *inputs = NULL;
  if (!demur_json_read_double(root, "lambda", 0.0, DEMUR_FEDERATE_MOST_LAMBDA, &round->lambda,
                              error) ||
      !demur_json_read_int(root, "width", 1, DEMUR_FEDERATE_MOST_COEFFICIENTS - 1, &width, error) ||
      !demur_json_read_indices(root, "inputs", n, 0, (guint32)width - 1, &inputs, error))
    return FALSE;
  for (size_t c = 1; c < n; c++)
    if (inputs[c] <= inputs[c - 1]) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s are not in order at %zu", "inputs", c);
      return FALSE;
    }
  demur_federate_round_set_inputs(round, (size_t)width, inputs, n);
  return TRUE;
}

/* Numbers in strict order, at most DEMUR_FEDERATE_MOST_CUTS. */
static gboolean
read_cuts(JsonObject *root, const char *key, gboolean ascending, size_t *n, double **cuts,
          GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(root, key, &array, error))
    return FALSE;
  *n = MIN(json_array_get_length(array), DEMUR_FEDERATE_MOST_CUTS);
  if (!demur_json_read_doubles(root, key, *n, -INFINITY, INFINITY, cuts, error))
    return FALSE;
  for (size_t i = 1; i < *n; i++)
    if (ascending ? (*cuts)[i] <= (*cuts)[i - 1] : (*cuts)[i] >= (*cuts)[i - 1]) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s are not in order at %zu", key, i);
      return FALSE;
    }
  return TRUE;
}

char **
demur_federate_read_sites(JsonObject *root, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(root, "sites", &array, error))
    return NULL;
  const guint n = json_array_get_length(array);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < n && n <= DEMUR_FEDERATE_MOST_SITES; i++) {
    JsonNode *node = json_array_get_element(array, i);
    const char *name = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
    if (name == NULL || *name == '\0' || !demur_is_shown_as_it_is(name) ||
        g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
      break;
    g_ptr_array_add(names, g_strdup(name));
  }
  if (names->len < 2 || names->len != n) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "sites must be 2 to %d names, each once, without control characters",
                    DEMUR_FEDERATE_MOST_SITES);
    return NULL;
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

static gboolean
read_kind(JsonObject *root, DemurFederateRound *round, GError **error) {
  const char *study, *kind;
  gint64 n_classes;
  g_autoptr(GError) local = NULL;
  if (!demur_json_read_string(root, "study", &study, error) ||
      !demur_json_read_string(root, "kind", &kind, error) ||
      !demur_json_read_int(root, "n_classes", 2, 1000, &n_classes, error))
    return FALSE;
  round->n_classes = (size_t)n_classes;
  const gboolean named = demur_federate_study_from_name(study, &round->study, NULL) &&
                         demur_recalibration_from_name(kind, &round->kind, NULL);
  const gboolean recalibrates = round->study == DEMUR_FEDERATE_RECALIBRATION,
                 temperature = round->kind == DEMUR_RECALIBRATION_TEMPERATURE,
                 map = temperature || round->kind == DEMUR_RECALIBRATION_PLATT ||
                       round->kind == DEMUR_RECALIBRATION_INTERCEPT;
  if (named && (recalibrates ? map : round->kind == DEMUR_RECALIBRATION_NONE) &&
      (n_classes == 2 || (recalibrates && temperature)))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "there is no study '%s' of kind '%s' with %d classes",
                  study, kind, (int)n_classes);
  return FALSE;
}

DemurFederateRound *
demur_federate_round_read(const char *text, gssize length, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root = demur_federate_load(parser, text, length, ROUND_FORMAT, error);
  g_autoptr(DemurFederateRound) round = g_new0(DemurFederateRound, 1);
  const char *selector, *first, *digest;
  gint64 number;
  if (root == NULL || !demur_json_read_string(root, "digest", &digest, error) ||
      !read_kind(root, round, error) ||
      !demur_json_read_string(root, "selector", &selector, error) ||
      !demur_json_read_int(root, "round", 1, 100000, &number, error) ||
      !demur_json_read_string(root, "first", &first, error) ||
      (round->sites = demur_federate_read_sites(root, error)) == NULL ||
      !demur_json_read_bool(root, "simulated", &round->simulated, error) ||
      (is_newton(round) && !read_newton(root, round, error)) ||
      (round->study == DEMUR_FEDERATE_CORRECTOR && !read_inputs(root, round, error)) ||
      (round->study == DEMUR_FEDERATE_EVALUATION &&
       (!read_cuts(root, "thresholds", FALSE, &round->n_thresholds, &round->thresholds, error) ||
        !read_cuts(root, "edges", TRUE, &round->n_edges, &round->edges, error))))
    return NULL;
  round->selector = g_strdup(selector);
  round->number = (size_t)number;
  round->first = *first != '\0' ? g_strdup(first) : NULL;
  if (!demur_federate_check_unedited(text, digest, round_text, round, error))
    return NULL;
  round->digest = g_strdup(digest);
  return g_steal_pointer(&round);
}

static gboolean
read_group(const DemurFederateRound *round, JsonArray *array, guint i, guint8 *found,
           DemurFederateGroup *group, GError **error) {
  const guint32 n_cells = (guint32)((round->n_thresholds + 1) * (round->n_edges + 1));
  JsonObject *object;
  JsonArray *cells;
  gint64 n, positives;
  if (!demur_json_read_element(array, i, "groups", &object, error) ||
      !demur_json_read_array(object, "cells", &cells, error))
    return FALSE;
  group->n_cells = MIN(json_array_get_length(cells), n_cells);
  if (!demur_json_read_indices(object, "cells", group->n_cells, 0, n_cells - 1, &group->cells,
                               error) ||
      !demur_json_read_int(object, "n", 0, DEMUR_FEDERATE_MOST_SCANS, &n, error) ||
      !demur_json_read_int(object, "positives", 0, n, &positives, error) ||
      !demur_json_read_double(object, "risks", 0.0, (double)n, &group->risks, error) ||
      !demur_json_read_double(object, "squares", 0.0, (double)n, &group->squares, error))
    return FALSE;
  group->n = (double)n;
  group->positives = (double)positives;
  for (size_t c = 0; c < group->n_cells; c++) {
    if (found[group->cells[c]]) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "cell %u stands in two groups", group->cells[c]);
      return FALSE;
    }
    found[group->cells[c]] = 1;
  }
  return TRUE;
}

static gboolean
read_groups(const DemurFederateRound *round, JsonObject *root, DemurFederateAnswer *answer,
            GError **error) {
  const size_t n_cells = (round->n_thresholds + 1) * (round->n_edges + 1);
  JsonArray *array;
  if (!demur_json_read_array(root, "groups", &array, error))
    return FALSE;
  if (answer->withheld || round->study != DEMUR_FEDERATE_EVALUATION)
    return TRUE; /* what stands there all the same, the digest tells */
  g_autofree guint8 *found = g_new0(guint8, n_cells);
  const size_t n_groups = MIN(json_array_get_length(array), n_cells);
  answer->groups = g_new0(DemurFederateGroup, MAX(n_groups, 1));
  double n = 0.0;
  for (size_t g = 0; g < n_groups; g++) {
    answer->n_groups = g + 1;
    if (!read_group(round, array, (guint)g, found, &answer->groups[g], error))
      return FALSE;
    n += answer->groups[g].n;
  }
  size_t n_found = 0;
  for (size_t c = 0; c < n_cells; c++)
    n_found += found[c];
  if (n_found == n_cells && n == (double)answer->n)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "its groups have %zu of %zu cells, and %.0f of %zu scans", n_found, n_cells, n,
                  answer->n);
  return FALSE;
}

/* Which round and whose the answer is. */
static gboolean
check_of_round(const DemurFederateRound *round, JsonObject *root, GError **error) {
  const char *study, *of, *selector, *site;
  gint64 number;
  if (!demur_json_read_string(root, "study", &study, error) ||
      !demur_json_read_int(root, "number", 1, 100000, &number, error) ||
      !demur_json_read_string(root, "round", &of, error) ||
      !demur_json_read_string(root, "selector", &selector, error) ||
      !demur_json_read_string(root, "site", &site, error))
    return FALSE;
  if (strcmp(selector, round->selector) != 0)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it is of another selector (%.12s.., here %.12s..): import the one that the "
                    "study is of",
                    selector, round->selector);
  else if (strcmp(study, demur_federate_round_identity(round)) != 0)
    demur_error_set(error, DEMUR_ERROR_INPUT, "it answers another study (%.12s.., here %.12s..)",
                    study, demur_federate_round_identity(round));
  else if ((size_t)number != round->number || strcmp(of, round->digest) != 0)
    demur_error_set(error, DEMUR_ERROR_INPUT, "it answers another round (%d, here %d)", (int)number,
                    (int)round->number);
  else if (!g_strv_contains((const char *const *)round->sites, site))
    demur_error_set(error, DEMUR_ERROR_INPUT, "it is of '%s', which was not asked", site);
  else
    return TRUE;
  return FALSE;
}

DemurFederateAnswer *
demur_federate_answer_read(const DemurFederateRound *round, const char *text, gssize length,
                           GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  JsonObject *root = demur_federate_load(parser, text, length, ANSWER_FORMAT, error);
  g_autoptr(DemurFederateAnswer) answer = g_new0(DemurFederateAnswer, 1);
  const char *site, *digest;
  gint64 n;
  if (root == NULL || !demur_json_read_string(root, "digest", &digest, error) ||
      !check_of_round(round, root, error) || !demur_json_read_string(root, "site", &site, error) ||
      !demur_json_read_bool(root, "simulated", &answer->simulated, error) ||
      !demur_json_read_bool(root, "withheld", &answer->withheld, error) ||
      !demur_json_read_int(root, "n", 0, DEMUR_FEDERATE_MOST_SCANS, &n, error))
    return NULL;
  answer->site = g_strdup(site);
  answer->n = (size_t)n;
  answer->n_sums = answer->withheld ? 0 : demur_federate_n_sums(round);
  if (!demur_json_read_doubles(root, "sums", answer->n_sums, -INFINITY, INFINITY, &answer->sums,
                               error) ||
      !read_groups(round, root, answer, error))
    return NULL;
  const Answered answered = {round, answer};
  return demur_federate_check_unedited(text, digest, answer_text, &answered, error)
             ? g_steal_pointer(&answer)
             : NULL;
}
