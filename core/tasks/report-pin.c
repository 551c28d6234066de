#include "tasks/report-pin.h"

#include "base/json-reader.h"
#include "base/json-writer.h"
#include "evaluation/method-kind.h"
#include "report/format.h"
#include "report/verify.h"

#include <math.h>
#include <string.h>

/* member of object where it is an array, else NULL. */
static JsonArray *
array_of(JsonObject *object, const char *member) {
  JsonNode *node = object != NULL ? json_object_get_member(object, member) : NULL;
  return node != NULL && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static JsonObject *
element_of(JsonArray *array, guint i) {
  JsonNode *node = json_array_get_element(array, i);
  return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

/* NULL where member is no string. */
static const char *
text_of(JsonObject *object, const char *member) {
  const char *text;
  return object != NULL && demur_json_read_string(object, member, &text, NULL) ? text : NULL;
}

static double
number_of(JsonObject *object, const char *member) {
  double number;
  return object != NULL &&
                 demur_json_read_double(object, member, -G_MAXDOUBLE, G_MAXDOUBLE, &number, NULL)
             ? number
             : NAN;
}

static size_t
count_of(JsonObject *object, const char *member) {
  gint64 number;
  return object != NULL && demur_json_read_int(object, member, 0, G_MAXINT, &number, NULL)
             ? (size_t)number
             : 0;
}

/* --- thresholds --- */

typedef struct {
  double coverage, threshold;
} Tuned;

/* The thresholds that the report's evaluation used of the selector, in its order. */
static GArray *
tuned_of(const DemurReportPin *pin, const char *selector) {
  GArray *tuned = g_array_new(FALSE, FALSE, sizeof(Tuned));
  JsonNode *node = json_object_get_member(pin->document, "evaluation");
  JsonArray *methods = node != NULL && JSON_NODE_HOLDS_OBJECT(node)
                           ? array_of(json_node_get_object(node), "methods")
                           : NULL;
  g_autofree char *name = demur_method_name(DEMUR_METHOD_SELECTOR, selector);
  for (guint m = 0; methods != NULL && m < json_array_get_length(methods) && tuned->len == 0; m++) {
    JsonObject *method = element_of(methods, m);
    JsonArray *at = g_strcmp0(text_of(method, "name"), name) == 0 ? array_of(method, "at") : NULL;
    for (guint a = 0; at != NULL && a < json_array_get_length(at); a++) {
      JsonObject *point = element_of(at, a);
      if (g_strcmp0(text_of(point, "threshold_from"), "tune") != 0)
        continue;
      const Tuned one = {number_of(point, "coverage"), number_of(point, "threshold")};
      g_array_append_val(tuned, one);
    }
  }
  return tuned;
}

/* The report's own words of its first selector's threshold for that coverage; NULL: none. */
static JsonObject *
described(const DemurReportPin *pin, double coverage) {
  JsonArray *thresholds = array_of(pin->document, "thresholds");
  for (guint t = thresholds != NULL ? json_array_get_length(thresholds) : 0; t-- > 0;) {
    JsonObject *threshold = element_of(thresholds, t);
    if (demur_report_same_number(number_of(threshold, "requested"), coverage))
      return threshold;
  }
  return NULL;
}

/* The record that replaced took the place of, from the report. */
static DemurThresholdRecord *
restore_threshold(const DemurReportPin *pin, const Tuned *tuned,
                  const DemurThresholdRecord *replaced) {
  JsonObject *words = described(pin, tuned->coverage);
  DemurThresholdRecord *record = g_new0(DemurThresholdRecord, 1);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_doubles(json, "thresholds", &tuned->threshold, 1);
  if (text_of(words, "guarantee") != NULL)
    demur_json_string(json, "sentence", text_of(words, "guarantee"));
  demur_json_end_object(json);
  record->selector = g_strdup(replaced->selector);
  record->coverage = tuned->coverage;
  record->threshold = tuned->threshold;
  record->realised = number_of(words, "realised");
  record->n_scans = count_of(words, "n");
  record->cohort = g_strdup(text_of(words, "cohort"));
  record->split = g_strdup(text_of(words, "split"));
  record->created = g_strdup(text_of(words, "created"));
  record->guarantee = demur_json_finish(json);
  return record;
}

/* A record that came after what the report says of it, by the stored dates; one of the same date
 * that is another is a change, and stays to be found. */
static gboolean
came_later(const DemurReportPin *pin, const char *created, const char *written) {
  return g_strcmp0(created, written != NULL ? written : text_of(pin->document, "created")) > 0;
}

size_t
demur_report_pin_thresholds(const DemurReportPin *pin, const char *selector, GPtrArray *records) {
  g_autoptr(GArray) tuned = tuned_of(pin, selector);
  g_autoptr(GPtrArray) kept =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_threshold_record_free);
  size_t n_aside = 0;
  for (guint t = 0; t < tuned->len; t++) {
    const Tuned *one = &g_array_index(tuned, Tuned, t);
    for (guint i = 0; i < records->len; i++) {
      DemurThresholdRecord *record = records->pdata[i];
      if (!demur_report_same_number(record->coverage, one->coverage))
        continue;
      const gboolean same = demur_report_same_number(record->threshold, one->threshold);
      const char *written = text_of(described(pin, one->coverage), "created");
      /* Tuned anew to what it was, it differs by its date alone, where the report tells that. */
      if ((same && written == NULL) || !came_later(pin, record->created, written))
        g_ptr_array_add(kept, g_ptr_array_steal_index(records, i));
      else
        g_ptr_array_add(kept, restore_threshold(pin, one, record));
      break;
    }
  }
  for (guint i = 0; i < records->len; i++, n_aside++) {
    const DemurThresholdRecord *record = records->pdata[i];
    g_ptr_array_add(pin->since,
                    g_strdup_printf("selector '%s' was tuned for coverage %g on %s", selector,
                                    record->coverage, demur_text_recorded(record->created)));
  }
  g_ptr_array_set_size(records, 0);
  g_ptr_array_extend_and_steal(records, g_steal_pointer(&kept));
  return n_aside;
}

/* --- audits --- */

static DemurAuditRecord *
restore_audit(JsonObject *words, const char *selector) {
  DemurAuditRecord *record = g_new0(DemurAuditRecord, 1);
  JsonArray *interval = array_of(words, "interval");
  const gboolean whole = interval != NULL && json_array_get_length(interval) == 2;
  record->selector = g_strdup(selector);
  record->site = g_strdup(text_of(words, "site"));
  record->cohort = g_strdup(text_of(words, "cohort"));
  record->created = g_strdup(text_of(words, "created"));
  record->intercept = number_of(words, "intercept");
  record->low = whole ? json_array_get_double_element(interval, 0) : NAN;
  record->high = whole ? json_array_get_double_element(interval, 1) : NAN;
  record->n_labels = count_of(words, "n_labels"); /* null: withheld, few */
  return record;
}

void
demur_report_pin_audits(const DemurReportPin *pin, GPtrArray *records) {
  JsonArray *audits = array_of(pin->document, "audits");
  g_autoptr(GPtrArray) kept =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_audit_record_free);
  for (guint a = 0; audits != NULL && a < json_array_get_length(audits); a++) {
    JsonObject *words = element_of(audits, a);
    for (guint i = 0; words != NULL && i < records->len; i++) {
      DemurAuditRecord *record = records->pdata[i];
      if (g_strcmp0(record->site, text_of(words, "site")) != 0)
        continue;
      if (came_later(pin, record->created, text_of(words, "created")))
        g_ptr_array_add(kept, restore_audit(words, record->selector));
      else
        g_ptr_array_add(kept, g_ptr_array_steal_index(records, i));
      break;
    }
  }
  for (guint i = 0; i < records->len; i++) {
    const DemurAuditRecord *record = records->pdata[i];
    g_ptr_array_add(pin->since, g_strdup_printf("site '%s' was audited on %s", record->site,
                                                demur_text_recorded(record->created)));
  }
  g_ptr_array_set_size(records, 0);
  g_ptr_array_extend_and_steal(records, g_steal_pointer(&kept));
}

void
demur_report_pin_validation(const DemurReportPin *pin, DemurSelectorRecord *record) {
  if (record->validation == NULL || !json_object_has_member(pin->document, "validation") ||
      !json_object_get_null_member(pin->document, "validation"))
    return;
  g_clear_pointer(&record->validation, g_free);
  g_ptr_array_add(pin->since, g_strdup_printf("selector '%s' was validated", record->name));
}
