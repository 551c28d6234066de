/* The assessed scans of a cohort as rows of the scan table. A cohort may have a hundred thousand of
 * them: each value of a column is taken over once, whatever the number of its rows. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "store/cohorts.h"
#include "tasks/scan-fill.h"

/* A column: of no cohort where values is NULL. */
typedef struct {
  const guint32 *codes;
  const char **values; /* [values of the column], the table's copies */
  double *numbers;     /* the same read as numbers, NaN where they are none */
} Column;

typedef struct {
  DemurScanFill *fill;
  DemurCohort *cohort;
  const char *source;
  guint8 *seen;             /* [n_scans] */
  size_t next;              /* see find_row */
  GHashTable *others;       /* IDs of assessed scans that the cohort doesn't have */
  const char **patient_ids; /* [n_patients], the table's copies; NULL: not yet */
  const char **site_names;  /* [n_sites] */
  Column manufacturer, model_name, kernel, sex, contrast, age, study_date, study_year, thickness,
      spacing, kvp;
} CohortFill;

static Column
column_of(CohortFill *cohort_fill, const char *name) {
  const gssize at = demur_cohort_find_attribute(cohort_fill->cohort, name);
  if (at < 0)
    return (Column){0};
  const DemurAttribute *attribute = &cohort_fill->cohort->attributes[at];
  Column column = {attribute->codes, g_new(const char *, MAX(attribute->n_values, 1)),
                   g_new(double, MAX(attribute->n_values, 1))};
  for (size_t v = 0; v < attribute->n_values; v++) {
    const char *text = attribute->values[v];
    column.values[v] = demur_scan_keep(cohort_fill->fill, text);
    if (!demur_number_parse(text, strlen(text), &column.numbers[v]))
      column.numbers[v] = NAN;
  }
  return column;
}

static void
column_clear(Column *column) {
  g_free(column->values);
  g_free(column->numbers);
}

static const char *
text_at(const Column *column, size_t row) {
  return column->values != NULL ? column->values[column->codes[row]] : "";
}

static double
number_at(const Column *column, size_t row) {
  return column->values != NULL ? column->numbers[column->codes[row]] : NAN;
}

static const char *
patient_of(CohortFill *cohort_fill, size_t row, const char *patient_id) {
  const DemurCohort *cohort = cohort_fill->cohort;
  const guint32 patient = cohort->patients[row];
  if (g_strcmp0(patient_id, cohort->patient_ids[patient]) != 0)
    return demur_scan_keep(cohort_fill->fill, patient_id);
  if (cohort_fill->patient_ids[patient] == NULL)
    cohort_fill->patient_ids[patient] = demur_scan_copy(cohort_fill->fill, patient_id);
  return cohort_fill->patient_ids[patient];
}

static void
take_facts(CohortFill *cohort_fill, DemurScan *scan, size_t row) {
  const DemurCohort *cohort = cohort_fill->cohort;
  scan->site = cohort_fill->site_names[cohort->sites[row]];
  scan->split = demur_scan_keep(cohort_fill->fill, cohort->split_names[cohort->splits[row]]);
  scan->manufacturer = text_at(&cohort_fill->manufacturer, row);
  scan->model_name = text_at(&cohort_fill->model_name, row);
  scan->kernel = text_at(&cohort_fill->kernel, row);
  scan->sex = text_at(&cohort_fill->sex, row);
  scan->contrast = text_at(&cohort_fill->contrast, row);
  const double age = number_at(&cohort_fill->age, row);
  scan->age = age > 0 && age < 130 ? (int)age : 0;
  scan->date = text_at(&cohort_fill->study_date, row);
  if (*scan->date == '\0')
    scan->date = text_at(&cohort_fill->study_year, row);
  scan->thickness_mm = number_at(&cohort_fill->thickness, row);
  scan->spacing_mm = number_at(&cohort_fill->spacing, row);
  scan->kvp = number_at(&cohort_fill->kvp, row);
  if (cohort->yearly_risks != NULL)
    memcpy(scan->yearly_risks, cohort->yearly_risks + row * DEMUR_N_YEARS,
           sizeof scan->yearly_risks);
}

/* Verdicts stand in the cohort's order and are read backwards: the row before the last one is
 * tried first. */
static gssize
find_row(CohortFill *cohort_fill, const char *scan_id) {
  DemurCohort *cohort = cohort_fill->cohort;
  size_t *next = &cohort_fill->next;
  const gboolean guessed = *next < cohort->n_scans && strcmp(cohort->scan_ids[*next], scan_id) == 0;
  const gssize row = guessed ? (gssize)*next : demur_cohort_find_scan(cohort, scan_id);
  if (row >= 0)
    *next = (size_t)row - 1; /* behind row 0: past the end */
  return row;
}

/* Verdicts come newest first: the first of a scan stays. */
static gboolean
add_scan(const DemurVerdictRecord *verdict, gpointer data) {
  CohortFill *cohort_fill = data;
  const gssize row = find_row(cohort_fill, verdict->scan_id);
  if (row >= 0 && cohort_fill->seen[row])
    return TRUE;
  const char *scan_id = demur_scan_copy(cohort_fill->fill, verdict->scan_id);
  if (row < 0 && !g_hash_table_add(cohort_fill->others, (gpointer)scan_id))
    return TRUE;
  DemurScan *scan = demur_scan_fill_new(cohort_fill->fill);
  scan->source = cohort_fill->source;
  scan->scan_id = scan_id;
  scan->simulated = cohort_fill->cohort->simulated;
  scan->eligible = scan->chosen = TRUE;
  if (row >= 0) {
    cohort_fill->seen[row] = TRUE;
    scan->patient_id = patient_of(cohort_fill, (size_t)row, verdict->patient_id);
    take_facts(cohort_fill, scan, (size_t)row);
  } else {
    scan->patient_id = demur_scan_keep(cohort_fill->fill, verdict->patient_id);
  }
  demur_scan_take_verdict(cohort_fill->fill, scan, verdict);
  demur_scan_complete(cohort_fill->fill, scan);
  return TRUE;
}

/* A screen's number reads "T1". */
static void
name_screens(CohortFill *cohort_fill) {
  const gssize at = demur_cohort_find_attribute(cohort_fill->cohort, "study_year");
  for (size_t v = 0; at >= 0 && v < cohort_fill->cohort->attributes[at].n_values; v++)
    if (*cohort_fill->study_year.values[v] != '\0') {
      g_autofree char *text = g_strdup_printf("T%s", cohort_fill->study_year.values[v]);
      cohort_fill->study_year.values[v] = demur_scan_keep(cohort_fill->fill, text);
    }
}

gboolean
demur_scan_add_cohort(DemurScanFill *fill, DemurWorkspace *workspace, const char *name,
                      const DemurProgress *progress, GError **error) {
  gboolean any = FALSE;
  if (!demur_verdicts_any(workspace, name, &any, error))
    return FALSE;
  if (!any)
    return TRUE;
  g_autoptr(DemurCohort) cohort = demur_cohorts_load_facts(workspace, name, progress, error);
  if (cohort == NULL)
    return FALSE;
  CohortFill cohort_fill = {.fill = fill,
                            .cohort = cohort,
                            .source = demur_scan_keep(fill, name),
                            .seen = g_new0(guint8, cohort->n_scans),
                            .next = cohort->n_scans - 1,
                            .others = g_hash_table_new(g_str_hash, g_str_equal),
                            .patient_ids = g_new0(const char *, cohort->n_patients),
                            .site_names = g_new(const char *, cohort->n_sites)};
  for (size_t s = 0; s < cohort->n_sites; s++)
    cohort_fill.site_names[s] = demur_scan_keep(fill, cohort->site_names[s]);
  const struct {
    Column *column;
    const char *name;
  } columns[] = {
      {&cohort_fill.manufacturer, "manufacturer"},
      {&cohort_fill.model_name, "model_name"},
      {&cohort_fill.kernel, "kernel"},
      {&cohort_fill.sex, "sex"},
      {&cohort_fill.contrast, "contrast"},
      {&cohort_fill.age, "age"},
      {&cohort_fill.study_date, "study_date"},
      {&cohort_fill.study_year, "study_year"},
      {&cohort_fill.thickness, "slice_thickness_mm"},
      {&cohort_fill.spacing, "spacing_mm"},
      {&cohort_fill.kvp, "kvp"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    *columns[i].column = column_of(&cohort_fill, columns[i].name);
  name_screens(&cohort_fill);
  demur_scan_fill_reserve(fill, cohort->n_scans);
  const gboolean ok = demur_verdicts_each(workspace, name, add_scan, &cohort_fill, error);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    column_clear(columns[i].column);
  g_free(cohort_fill.seen);
  g_free(cohort_fill.patient_ids);
  g_free(cohort_fill.site_names);
  g_hash_table_unref(cohort_fill.others);
  return ok;
}
