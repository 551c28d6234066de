/* z = (x - mean) / sd over the training scans that have x (sd by n, as in features/scaler.h); a
 * text value v has a column where 0.01 n <= count(v) < n. Everything follows from two tables: six
 * numbers (count, mean, sd, three quantiles) and the counts of each text's values, so the file
 * holds only those. Cost: a sort a number; a hash look-up a text. */
#include "features/acquisition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "base/translate.h"
#include "base/vendor.h"

#define N_NUMBERS (DEMUR_N_ACQUISITION_NUMBERS + 1) /* and the kernel's sharpness */
#define N_TEXTS (DEMUR_N_ACQUISITION - DEMUR_N_ACQUISITION_NUMBERS)
#define MIN_SHARE 0.01
#define MAX_VALUES 256 /* of a text, the most frequent; no rarer one can have a column */

static const struct {
  const char *attribute, *title, *unit;
} subjects[DEMUR_N_ACQUISITION] = {
    {"slice_thickness_mm", N_("slice thickness"), " mm"},
    {"spacing_mm", N_("slice spacing"), " mm"},
    {"kvp", N_("tube voltage"), " kV"},
    {"fov_mm", N_("field of view"), " mm"},
    {"tube_current_ma", N_("tube current"), " mA"},
    {"kernel", N_("kernel"), ""},
    {"manufacturer", N_("manufacturer"), ""},
    {"model_name", N_("scanner model"), ""},
    {"contrast", N_("contrast"), ""},
};

typedef struct {
  size_t n_known;
  double mean, sd, low, median, high; /* low, high: 1st and 99th percentile; 0 where n_known = 0 */
} Number;

typedef struct {
  char *text;
  size_t count;
} Value;

typedef struct {
  size_t n_known; /* scans where it is recorded */
  size_t n_values;
  Value *values; /* [n_values] by falling count, then text */
} Text;

typedef struct {
  DemurAcquisitionColumnKind kind;
  DemurAcquisitionSubject subject;
  size_t value; /* of a group */
  char *name;
} Column;

struct DemurAcquisition {
  size_t n_scans;
  Number numbers[N_NUMBERS];
  Text texts[N_TEXTS]; /* kernel, manufacturer, model, contrast */
  size_t n_columns;
  Column *columns;
};

const char *
demur_acquisition_attribute(DemurAcquisitionSubject subject) {
  return subjects[subject].attribute;
}

const char *
demur_acquisition_title(DemurAcquisitionSubject subject) {
  return subjects[subject].title;
}

const char *
demur_acquisition_unit(DemurAcquisitionSubject subject) {
  return subjects[subject].unit;
}

void
demur_acquisition_free(DemurAcquisition *a) {
  if (a == NULL)
    return;
  for (size_t t = 0; t < N_TEXTS; t++) {
    for (size_t v = 0; v < a->texts[t].n_values; v++)
      g_free(a->texts[t].values[v].text);
    g_free(a->texts[t].values);
  }
  for (size_t c = 0; c < a->n_columns; c++)
    g_free(a->columns[c].name);
  g_free(a->columns);
  g_free(a);
}

/* A text of a scan as its group; NULL where it is not recorded. Owned. */
static char *
group_of(const DemurAcquisitionScan *scan, DemurAcquisitionSubject subject) {
  const char *raw = scan->texts[subject - DEMUR_N_ACQUISITION_NUMBERS];
  g_autofree char *text = g_strstrip(g_strdup(raw != NULL ? raw : ""));
  char *value_end = strchr(text, '\\'); /* of several values the first */
  if (value_end != NULL) {
    *value_end = '\0';
    g_strchomp(text);
  }
  if (*text == '\0')
    return NULL;
  const char *maker_text =
      scan->texts[DEMUR_ACQUISITION_MANUFACTURER - DEMUR_N_ACQUISITION_NUMBERS];
  const char *maker = maker_text != NULL ? demur_vendor_normalise(maker_text) : NULL;
  const char *group = NULL;
  switch (subject) {
  case DEMUR_ACQUISITION_MANUFACTURER:
    group = maker;
    break;
  case DEMUR_ACQUISITION_MODEL:
    group = demur_vendor_model_family(maker, text);
    break;
  case DEMUR_ACQUISITION_CONTRAST: {
    static const char *const without[] = {"no", "none", "n", "0", "false", "without", "native"};
    group = "yes";
    for (size_t i = 0; i < G_N_ELEMENTS(without); i++)
      if (g_ascii_strcasecmp(text, without[i]) == 0)
        group = "no";
    break;
  }
  default:
    break;
  }
  return group != NULL ? g_strdup(group) : g_steal_pointer(&text);
}

char *
demur_acquisition_group(const DemurAcquisitionScan *scan, DemurAcquisitionSubject subject) {
  g_return_val_if_fail(subject >= DEMUR_N_ACQUISITION_NUMBERS, NULL);
  return group_of(scan, subject);
}

/* Number i of a scan; NaN where it is not known. */
static double
number_of(const DemurAcquisitionScan *scan, size_t i) {
  if (i < DEMUR_N_ACQUISITION_NUMBERS)
    return isfinite(scan->numbers[i]) && scan->numbers[i] > 0.0 ? scan->numbers[i] : NAN;
  const char *maker = scan->texts[DEMUR_ACQUISITION_MANUFACTURER - DEMUR_N_ACQUISITION_NUMBERS];
  const char *kernel = scan->texts[DEMUR_ACQUISITION_KERNEL - DEMUR_N_ACQUISITION_NUMBERS];
  if (maker == NULL || kernel == NULL)
    return NAN;
  switch (demur_vendor_kernel_class(demur_vendor_normalise(maker), kernel)) {
  case DEMUR_KERNEL_SOFT:
    return 0.0;
  case DEMUR_KERNEL_STANDARD:
    return 1.0;
  case DEMUR_KERNEL_SHARP:
    return 2.0;
  case DEMUR_KERNEL_UNKNOWN:
    break;
  }
  return NAN;
}

double
demur_acquisition_number(const DemurAcquisitionScan *scan, DemurAcquisitionSubject subject) {
  g_return_val_if_fail(subject < DEMUR_N_ACQUISITION_NUMBERS, NAN);
  return number_of(scan, (size_t)subject);
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
quantile(const double *sorted, size_t n, double p) {
  const double place = p * (double)(n - 1);
  const size_t below = (size_t)place;
  const double part = place - (double)below;
  return below + 1 < n ? (1.0 - part) * sorted[below] + part * sorted[below + 1] : sorted[below];
}

/* values is overwritten. */
static Number
fit_number(double *values, size_t n) {
  Number number = {.n_known = n};
  if (n == 0)
    return number;
  qsort(values, n, sizeof *values, compare_doubles);
  for (size_t i = 0; i < n; i++)
    number.mean += values[i];
  number.mean /= (double)n;
  double squares = 0.0;
  for (size_t i = 0; i < n; i++)
    squares += (values[i] - number.mean) * (values[i] - number.mean);
  /* Values that are all the same have no spread, whatever the rounding of their mean. */
  number.sd = values[0] == values[n - 1] ? 0.0 : sqrt(squares / (double)n);
  number.low = quantile(values, n, 0.01);
  number.median = quantile(values, n, 0.5);
  number.high = quantile(values, n, 0.99);
  return number;
}

static int
compare_values(const void *a, const void *b) {
  const Value *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                              : strcmp(x->text, y->text);
}

static Text
fit_text(const DemurAcquisitionScan *scans, size_t n, DemurAcquisitionSubject subject) {
  Text text = {0};
  g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < n; i++) {
    char *group = group_of(&scans[i], subject);
    if (group == NULL)
      continue;
    text.n_known++;
    const gsize count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, group));
    g_hash_table_insert(counts, group, GSIZE_TO_POINTER(count + 1));
  }
  const size_t n_all = g_hash_table_size(counts);
  g_autofree Value *values = g_new0(Value, MAX(n_all, 1));
  GHashTableIter iterator;
  gpointer key, value;
  size_t v = 0;
  g_hash_table_iter_init(&iterator, counts);
  while (g_hash_table_iter_next(&iterator, &key, &value))
    values[v++] = (Value){key, GPOINTER_TO_SIZE(value)};
  qsort(values, n_all, sizeof *values, compare_values);
  text.n_values = MIN(n_all, MAX_VALUES);
  text.values = g_new0(Value, MAX(text.n_values, 1));
  for (v = 0; v < text.n_values; v++)
    text.values[v] = (Value){g_strdup(values[v].text), values[v].count};
  return text;
}

static void
add_column(DemurAcquisition *a, DemurAcquisitionColumnKind kind, DemurAcquisitionSubject subject,
           size_t value, char *name) {
  a->columns = g_renew(Column, a->columns, a->n_columns + 1);
  a->columns[a->n_columns++] = (Column){kind, subject, value, name};
}

/* The columns that the tables give; FALSE where there are none. */
static gboolean
make_columns(DemurAcquisition *a) {
  for (size_t i = 0; i < N_NUMBERS; i++) {
    const char *name = i < DEMUR_N_ACQUISITION_NUMBERS ? subjects[i].attribute : "kernel_sharpness";
    if (a->numbers[i].sd > 0.0)
      add_column(a, DEMUR_ACQUISITION_NUMBER, (DemurAcquisitionSubject)i, 0, g_strdup(name));
    if (a->numbers[i].n_known > 0 && a->numbers[i].n_known < a->n_scans)
      add_column(a, DEMUR_ACQUISITION_UNKNOWN, (DemurAcquisitionSubject)i, 0,
                 g_strconcat(name, "_unknown", NULL));
  }
  for (size_t t = 1; t < N_TEXTS; t++) { /* the kernel's names are for words only */
    const DemurAcquisitionSubject subject =
        (DemurAcquisitionSubject)(DEMUR_N_ACQUISITION_NUMBERS + t);
    for (size_t v = 0; v < a->texts[t].n_values; v++) {
      const size_t count = a->texts[t].values[v].count;
      if ((double)count >= MIN_SHARE * (double)a->n_scans && count < a->n_scans)
        add_column(a, DEMUR_ACQUISITION_GROUP, subject, v,
                   g_strconcat(subjects[subject].attribute, "=", a->texts[t].values[v].text, NULL));
    }
  }
  return a->n_columns > 0;
}

DemurAcquisition *
demur_acquisition_fit(const DemurAcquisitionScan *scans, size_t n, GError **error) {
  g_return_val_if_fail(n >= 1, NULL);
  g_autoptr(DemurAcquisition) a = g_new0(DemurAcquisition, 1);
  a->n_scans = n;
  g_autofree double *values = g_new(double, n);
  for (size_t i = 0; i < N_NUMBERS; i++) {
    size_t n_known = 0;
    for (size_t s = 0; s < n; s++) {
      const double value = number_of(&scans[s], i);
      if (!isnan(value))
        values[n_known++] = value;
    }
    a->numbers[i] = fit_number(values, n_known);
  }
  for (size_t t = 0; t < N_TEXTS; t++)
    a->texts[t] = fit_text(scans, n, (DemurAcquisitionSubject)(DEMUR_N_ACQUISITION_NUMBERS + t));
  if (make_columns(a))
    return g_steal_pointer(&a);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "all training scans were made alike, as far as it is recorded: there is "
                  "nothing for acquisition features to tell; leave them out of --features");
  return NULL;
}

size_t
demur_acquisition_width(const DemurAcquisition *a) {
  return a->n_columns;
}

const char *
demur_acquisition_column_name(const DemurAcquisition *a, size_t column) {
  return a->columns[column].name;
}

DemurAcquisitionSubject
demur_acquisition_column_subject(const DemurAcquisition *a, size_t column) {
  return a->columns[column].subject;
}

DemurAcquisitionColumnKind
demur_acquisition_column_kind(const DemurAcquisition *a, size_t column) {
  return a->columns[column].kind;
}

void
demur_acquisition_columns(const DemurAcquisition *a, const DemurAcquisitionScan *scan,
                          double *out) {
  double numbers[N_NUMBERS];
  char *groups[N_TEXTS];
  for (size_t i = 0; i < N_NUMBERS; i++)
    numbers[i] = number_of(scan, i);
  for (size_t t = 0; t < N_TEXTS; t++)
    groups[t] = group_of(scan, (DemurAcquisitionSubject)(DEMUR_N_ACQUISITION_NUMBERS + t));
  for (size_t c = 0; c < a->n_columns; c++) {
    const Column *column = &a->columns[c];
    if (column->kind == DEMUR_ACQUISITION_GROUP) {
      const size_t t = (size_t)column->subject - DEMUR_N_ACQUISITION_NUMBERS;
      out[c] = g_strcmp0(groups[t], a->texts[t].values[column->value].text) == 0 ? 1.0 : 0.0;
      continue;
    }
    const Number *number = &a->numbers[column->subject];
    const double value = numbers[column->subject];
    if (column->kind == DEMUR_ACQUISITION_UNKNOWN)
      out[c] = isnan(value) ? 1.0 : 0.0;
    else
      out[c] = isnan(value) ? 0.0 : (value - number->mean) / number->sd;
  }
  for (size_t t = 0; t < N_TEXTS; t++)
    g_free(groups[t]);
}

static void
look_at_number(const DemurAcquisition *a, DemurAcquisitionSubject subject, double value,
               DemurAcquisitionLook *look) {
  const Number *number = &a->numbers[subject];
  const double n = (double)a->n_scans;
  look->recorded = !isnan(value);
  look->value = value;
  if (!look->recorded)
    look->share = (n - (double)number->n_known) / n;
  if (number->n_known == 0)
    return;
  look->median = number->median;
  look->low = number->low;
  look->high = number->high;
}

void
demur_acquisition_look(const DemurAcquisition *a, DemurAcquisitionSubject subject,
                       const DemurAcquisitionScan *scan, DemurAcquisitionLook *look) {
  *look =
      (DemurAcquisitionLook){.value = NAN, .median = NAN, .low = NAN, .high = NAN, .share = NAN};
  if (subject < DEMUR_N_ACQUISITION_NUMBERS) {
    look_at_number(a, subject, number_of(scan, (size_t)subject), look);
    return;
  }
  const Text *text = &a->texts[subject - DEMUR_N_ACQUISITION_NUMBERS];
  const double n = (double)a->n_scans;
  look->text = group_of(scan, subject);
  look->recorded = look->text != NULL;
  if (!look->recorded) {
    look->share = (n - (double)text->n_known) / n;
    return;
  }
  size_t count = 0;
  for (size_t v = 0; v < text->n_values; v++)
    if (strcmp(text->values[v].text, look->text) == 0)
      count = text->values[v].count;
  if (count > 0 || text->n_values < MAX_VALUES)
    look->share = (double)count / n;
}

gboolean
demur_acquisition_find_subject(const char *attribute, DemurAcquisitionSubject *subject) {
  for (guint i = 0; i < DEMUR_N_ACQUISITION; i++)
    if (g_strcmp0(attribute, subjects[i].attribute) == 0) {
      *subject = (DemurAcquisitionSubject)i;
      return TRUE;
    }
  return FALSE;
}

void
demur_acquisition_write_json(const DemurAcquisition *a, DemurJson *json) {
  demur_json_int(json, "n_scans", (gint64)a->n_scans);
  demur_json_begin_array(json, "numbers");
  for (size_t i = 0; i < N_NUMBERS; i++) {
    const Number *number = &a->numbers[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", subjects[i].attribute);
    demur_json_int(json, "n_known", (gint64)number->n_known);
    demur_json_double(json, "mean", number->mean);
    demur_json_double(json, "sd", number->sd);
    demur_json_double(json, "low", number->low);
    demur_json_double(json, "median", number->median);
    demur_json_double(json, "high", number->high);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "texts");
  for (size_t t = 0; t < N_TEXTS; t++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", subjects[DEMUR_N_ACQUISITION_NUMBERS + t].attribute);
    demur_json_int(json, "n_known", (gint64)a->texts[t].n_known);
    demur_json_begin_array(json, "values");
    for (size_t v = 0; v < a->texts[t].n_values; v++) {
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "text", a->texts[t].values[v].text);
      demur_json_int(json, "count", (gint64)a->texts[t].values[v].count);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static gboolean
fail(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "member 'acquisition': %s", what);
  return FALSE;
}

/* Element i of an array that must have n, with the name of its subject. */
static gboolean
read_element(JsonArray *array, const char *name, size_t i, size_t n, size_t subject,
             JsonObject **element, GError **error) {
  const char *found;
  if (json_array_get_length(array) != n)
    return fail(error, N_("it holds another number of attributes than there are"));
  if (!demur_json_read_element(array, (guint)i, name, element, error) ||
      !demur_json_read_string(*element, "name", &found, error))
    return FALSE;
  return strcmp(found, subjects[subject].attribute) == 0 ||
         fail(error, N_("its attributes are not in their order"));
}

static gboolean
read_number(JsonObject *object, size_t n_scans, Number *number, GError **error) {
  gint64 n_known;
  if (!demur_json_read_int(object, "n_known", 0, (gint64)n_scans, &n_known, error) ||
      !demur_json_read_double(object, "mean", -INFINITY, INFINITY, &number->mean, error) ||
      !demur_json_read_double(object, "sd", 0.0, INFINITY, &number->sd, error) ||
      !demur_json_read_double(object, "low", -INFINITY, INFINITY, &number->low, error) ||
      !demur_json_read_double(object, "median", number->low, INFINITY, &number->median, error) ||
      !demur_json_read_double(object, "high", number->median, INFINITY, &number->high, error))
    return FALSE;
  number->n_known = (size_t)n_known;
  return TRUE;
}

static gboolean
read_text(JsonObject *object, size_t n_scans, Text *text, GError **error) {
  gint64 n_known;
  JsonArray *values;
  if (!demur_json_read_int(object, "n_known", 0, (gint64)n_scans, &n_known, error) ||
      !demur_json_read_array(object, "values", &values, error))
    return FALSE;
  text->n_known = (size_t)n_known;
  const guint n = json_array_get_length(values);
  if (n > MAX_VALUES)
    return fail(error, N_("a text has more values than are kept"));
  text->values = g_new0(Value, MAX(n, 1));
  for (guint v = 0; v < n; v++) {
    JsonObject *value;
    const char *name;
    gint64 count;
    if (!demur_json_read_element(values, v, "values", &value, error) ||
        !demur_json_read_string(value, "text", &name, error) ||
        !demur_json_read_int(value, "count", 1, n_known, &count, error))
      return FALSE;
    text->values[text->n_values++] = (Value){g_strdup(name), (size_t)count};
    if (v > 0 && compare_values(&text->values[v - 1], &text->values[v]) >= 0)
      return fail(error, N_("values are not in the order of their counts"));
  }
  return TRUE;
}

DemurAcquisition *
demur_acquisition_read_json(JsonObject *object, GError **error) {
  g_autoptr(DemurAcquisition) a = g_new0(DemurAcquisition, 1);
  gint64 n_scans;
  JsonArray *numbers, *texts;
  if (!demur_json_read_int(object, "n_scans", 1, G_MAXINT32, &n_scans, error) ||
      !demur_json_read_array(object, "numbers", &numbers, error) ||
      !demur_json_read_array(object, "texts", &texts, error))
    return NULL;
  a->n_scans = (size_t)n_scans;
  for (size_t i = 0; i < N_NUMBERS; i++) {
    JsonObject *element;
    if (!read_element(numbers, "numbers", i, N_NUMBERS, i, &element, error) ||
        !read_number(element, a->n_scans, &a->numbers[i], error))
      return NULL;
  }
  for (size_t t = 0; t < N_TEXTS; t++) {
    JsonObject *element;
    if (!read_element(texts, "texts", t, N_TEXTS, DEMUR_N_ACQUISITION_NUMBERS + t, &element,
                      error) ||
        !read_text(element, a->n_scans, &a->texts[t], error))
      return NULL;
  }
  if (!make_columns(a)) {
    fail(error, N_("it gives no column"));
    return NULL;
  }
  return g_steal_pointer(&a);
}
