#include "report/verify.h"

#include "base/error.h"
#include "base/json-reader.h"
#include "report/patient.h"

#include <qpdf/qpdf-c.h>
#include <math.h>
#include <string.h>

#define RELATIVE 1e-9
#define ABSOLUTE 1e-12 /* differences that cancel to nothing */
#define SHOWN 120      /* characters of a value in a difference */

void
demur_report_recipe_free(DemurReportRecipe *recipe) {
  if (!recipe)
    return;
  g_strfreev(recipe->selectors);
  g_free(recipe->family);
  g_free(recipe->years);
  g_free(recipe->cohort);
  g_free(recipe->split);
  g_free(recipe->resample_unit);
  g_free(recipe->group_by);
  g_free(recipe->net_benefit_threshold);
  g_free(recipe->scan_id);
  g_free(recipe->tuned_coverage);
  g_free(recipe->language);
  g_free(recipe);
}

/* A string or null; FALSE with error for anything else. */
static gboolean
read_optional(JsonObject *object, const char *key, char **value, GError **error) {
  const char *text;
  if (json_object_has_member(object, key) && json_object_get_null_member(object, key))
    return TRUE;
  if (!demur_json_read_string(object, key, &text, error))
    return FALSE;
  *value = g_strdup(text);
  return TRUE;
}

static gboolean
read_size(JsonObject *object, const char *key, size_t *value, GError **error) {
  gint64 number;
  if (!demur_json_read_int(object, key, 0, G_MAXINT, &number, error))
    return FALSE;
  *value = (size_t)number;
  return TRUE;
}

static gboolean
read_selectors(JsonObject *object, char ***selectors, GError **error) {
  JsonArray *array;
  if (!demur_json_read_array(object, "selectors", &array, error))
    return FALSE;
  const guint n = json_array_get_length(array);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element(array, i);
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
      break;
    g_ptr_array_add(names, g_strdup(json_node_get_string(node)));
  }
  if (n == 0 || names->len != n) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member \"selectors\": expected at least one name");
    return FALSE;
  }
  g_ptr_array_add(names, NULL);
  *selectors = g_strdupv((char **)names->pdata);
  return TRUE;
}

/* The members of an evaluation. */
static gboolean
read_evaluation(JsonObject *request, DemurReportRecipe *recipe, GError **error) {
  gint64 seed;
  if (!read_optional(request, "resample_unit", &recipe->resample_unit, error) ||
      !read_optional(request, "group_by", &recipe->group_by, error) ||
      !read_optional(request, "net_benefit_threshold", &recipe->net_benefit_threshold, error) ||
      !demur_json_read_int(request, "seed", G_MININT64, G_MAXINT64, &seed, error) ||
      !read_size(request, "resamples", &recipe->n_resamples, error) ||
      !read_size(request, "bootstrap", &recipe->n_bootstrap, error) ||
      !read_size(request, "bin_size", &recipe->min_bin_size, error) ||
      !demur_json_read_bool(request, "in_sample", &recipe->in_sample, error) ||
      !demur_json_read_double(request, "coverage", 0, 1, &recipe->coverage, error))
    return FALSE;
  recipe->seed = (guint64)seed;
  return TRUE;
}

/* The members of a patient's page. */
static gboolean
read_patient(JsonObject *request, DemurReportRecipe *recipe, GError **error) {
  const char *scan_id;
  if (!demur_json_read_string(request, "scan", &scan_id, error) ||
      !demur_json_read_bool(request, "cohort_scan", &recipe->cohort_scan, error) ||
      !read_optional(request, "tuned_coverage", &recipe->tuned_coverage, error))
    return FALSE;
  recipe->scan_id = g_strdup(scan_id);
  return !json_object_has_member(request, "language") ||
         read_optional(request, "language", &recipe->language, error);
}

/* The members of a family's request: each selector's horizon. */
static gboolean
read_family(JsonObject *request, DemurReportRecipe *recipe, GError **error) {
  const char *family;
  JsonArray *years;
  if (!demur_json_read_string(request, "family", &family, error) ||
      !demur_json_read_array(request, "years", &years, error))
    return FALSE;
  recipe->family = g_strdup(family);
  recipe->years = g_new0(int, DEMUR_PATIENT_YEARS);
  size_t n;
  const gboolean ok = demur_json_read_ascending(years, DEMUR_PATIENT_YEARS, recipe->years, &n) &&
                      n == g_strv_length(recipe->selectors);
  if (!ok)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member \"years\": expected a whole number of years from 1 to %d for each "
                    "selector, ascending",
                    DEMUR_PATIENT_YEARS);
  return ok;
}

static gboolean
read_recipe(JsonObject *request, DemurReportRecipe *recipe, GError **error) {
  const char *expected = demur_report_kind_row(recipe->kind)->word;
  const char *kind, *paper;
  if (!demur_json_read_string(request, "kind", &kind, error) ||
      !read_selectors(request, &recipe->selectors, error) ||
      !read_optional(request, "cohort", &recipe->cohort, error) ||
      !read_optional(request, "split", &recipe->split, error) ||
      !demur_json_read_string(request, "paper", &paper, error))
    return FALSE;
  if (strcmp(kind, expected) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member \"kind\": expected \"%s\"", expected);
    return FALSE;
  }
  if (!demur_paper_from_name(paper, &recipe->paper)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member \"paper\": expected \"a4\" or \"letter\"");
    return FALSE;
  }
  if (recipe->kind == DEMUR_REPORT_OF_FAMILY && !read_family(request, recipe, error))
    return FALSE;
  return recipe->kind == DEMUR_REPORT_OF_PATIENT ? read_patient(request, recipe, error)
                                                 : read_evaluation(request, recipe, error);
}

/* "\"a\", \"b\"": of every kind of report; owned. */
static char *
known_formats(void) {
  GString *text = g_string_new(NULL);
  for (DemurReportKind kind = 0; kind < DEMUR_N_REPORT_KINDS; kind++)
    g_string_append_printf(text, "%s\"%s\"", kind > 0 ? ", " : "",
                           demur_report_kind_row(kind)->format);
  return g_string_free(text, FALSE);
}

DemurReportRecipe *
demur_report_recipe_read(JsonObject *document, GError **error) {
  const char *format = NULL;
  if (!demur_json_read_string(document, "format", &format, NULL))
    format = NULL;
  DemurReportKind kind = 0;
  while (kind < DEMUR_N_REPORT_KINDS && g_strcmp0(format, demur_report_kind_row(kind)->format) != 0)
    kind++;
  if (kind == DEMUR_N_REPORT_KINDS) {
    g_autofree char *formats = known_formats();
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the document is no report of this program: its \"format\" is none of %s",
                    formats);
    return NULL;
  }
  JsonObject *request;
  if (!demur_json_read_object(document, "request", &request, error)) {
    demur_error_prefix(error, "the report does not say how it was made: ");
    return NULL;
  }
  g_autoptr(DemurReportRecipe) recipe = g_new0(DemurReportRecipe, 1);
  recipe->kind = kind;
  if (!read_recipe(request, recipe, error)) {
    demur_error_prefix(error, "the report does not say how it was made: \"request\", ");
    return NULL;
  }
  return g_steal_pointer(&recipe);
}

void
demur_report_difference_free(DemurReportDifference *difference) {
  if (!difference)
    return;
  g_free(difference->where);
  g_free(difference->written);
  g_free(difference->found);
  g_free(difference);
}

DemurReportDifference *
demur_report_difference_new(const char *where, const char *written, const char *found) {
  DemurReportDifference *difference = g_new0(DemurReportDifference, 1);
  difference->where = g_strdup(where);
  difference->written = g_strdup(written);
  difference->found = g_strdup(found);
  return difference;
}

static char *
node_text(JsonNode *node) {
  if (!node)
    return NULL;
  g_autofree char *text = json_to_string(node, FALSE);
  if (g_utf8_strlen(text, -1) <= SHOWN)
    return g_steal_pointer(&text);
  g_autofree char *start = g_utf8_substring(text, 0, SHOWN);
  return g_strconcat(start, "…", NULL);
}

static void
add_difference(GPtrArray *differences, const char *where, JsonNode *written, JsonNode *found) {
  g_autofree char *a = node_text(written), *b = node_text(found);
  g_ptr_array_add(differences, demur_report_difference_new(*where ? where : "document", a, b));
}

gboolean
demur_report_same_number(double a, double b) {
  if (a == b || (isnan(a) && isnan(b)))
    return TRUE;
  return fabs(a - b) <= fmax(RELATIVE * fmax(fabs(a), fabs(b)), ABSOLUTE);
}

static gboolean
same_value(JsonNode *a, JsonNode *b) {
  const GType x = json_node_get_value_type(a), y = json_node_get_value_type(b);
  const gboolean number_a = x == G_TYPE_INT64 || x == G_TYPE_DOUBLE,
                 number_b = y == G_TYPE_INT64 || y == G_TYPE_DOUBLE;
  if (number_a != number_b || (!number_a && x != y))
    return FALSE;
  if (x == G_TYPE_INT64 && y == G_TYPE_INT64)
    return json_node_get_int(a) == json_node_get_int(b);
  if (number_a)
    return demur_report_same_number(json_node_get_double(a), json_node_get_double(b));
  if (x == G_TYPE_BOOLEAN)
    return !json_node_get_boolean(a) == !json_node_get_boolean(b);
  return g_strcmp0(json_node_get_string(a), json_node_get_string(b)) == 0;
}

/* Depth is bounded: found is ours, and a member of written that found lacks ends the walk. */
static void
compare(GPtrArray *differences, const char *where, JsonNode *written, JsonNode *found) {
  if (!written || !found || json_node_get_node_type(written) != json_node_get_node_type(found)) {
    if (written != found)
      add_difference(differences, where, written, found);
    return;
  }
  switch (json_node_get_node_type(written)) {
  case JSON_NODE_OBJECT: {
    JsonObject *a = json_node_get_object(written), *b = json_node_get_object(found);
    g_autoptr(GList) in_a = json_object_get_members(a);
    g_autoptr(GList) in_b = json_object_get_members(b);
    for (GList *l = in_a; l; l = l->next) {
      g_autofree char *path = g_strconcat(where, *where ? "." : "", (const char *)l->data, NULL);
      compare(differences, path, json_object_get_member(a, l->data),
              json_object_get_member(b, l->data));
    }
    for (GList *l = in_b; l; l = l->next)
      if (!json_object_has_member(a, l->data)) {
        g_autofree char *path = g_strconcat(where, *where ? "." : "", (const char *)l->data, NULL);
        add_difference(differences, path, NULL, json_object_get_member(b, l->data));
      }
    break;
  }
  case JSON_NODE_ARRAY: {
    JsonArray *a = json_node_get_array(written), *b = json_node_get_array(found);
    const guint n = MAX(json_array_get_length(a), json_array_get_length(b));
    for (guint i = 0; i < n; i++) {
      g_autofree char *path = g_strdup_printf("%s[%u]", where, i);
      compare(differences, path, i < json_array_get_length(a) ? json_array_get_element(a, i) : NULL,
              i < json_array_get_length(b) ? json_array_get_element(b, i) : NULL);
    }
    break;
  }
  case JSON_NODE_VALUE:
    if (!same_value(written, found))
      add_difference(differences, where, written, found);
    break;
  default: /* both null */
    break;
  }
}

GPtrArray *
demur_report_compare(JsonNode *written, JsonNode *found) {
  GPtrArray *differences =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_report_difference_free);
  compare(differences, "", written, found);
  return differences;
}

char *
demur_report_pdf_digest(const guchar *pdf, size_t n, GError **error) {
  char *digest = NULL;
  qpdf_data qpdf = qpdf_init();
  qpdf_silence_errors(qpdf);
  qpdf_set_suppress_warnings(qpdf, QPDF_TRUE);
  if (!(qpdf_read_memory(qpdf, "report", (const char *)pdf, n, NULL) & QPDF_ERRORS)) {
    const char *value = qpdf_get_info_key(qpdf, "/" DEMUR_REPORT_DIGEST_KEY);
    if (value && strlen(value) == 64 && strspn(value, "0123456789abcdef") == 64)
      digest = g_strdup(value);
  }
  if (!digest)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the PDF names no digest of its numbers: it is no report of this program, "
                    "or it was damaged or written anew by another one");
  qpdf_cleanup(&qpdf);
  return digest;
}
