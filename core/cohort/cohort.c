#include "cohort/cohort.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "cohort/columns.h"

/* The cohort as others see it, then what they don't. */
typedef struct {
  DemurCohort public;
  gint n_references; /* atomic */
  GStringChunk *texts;
  GPtrArray *blocks;
  GMutex mutex;          /* guards the making of scan_rows */
  GHashTable *scan_rows; /* scan_id -> row */
  DemurCohort *parent;   /* a view with risks or splits of its own: owns all the rest */
} Cohort;

DemurCohort *
demur_cohort_alloc(void) {
  Cohort *cohort = g_new0(Cohort, 1);
  cohort->n_references = 1;
  cohort->texts = g_string_chunk_new(1 << 16);
  cohort->blocks = g_ptr_array_new_with_free_func(g_free);
  g_mutex_init(&cohort->mutex);
  cohort->public.n_classes = 2;
  return &cohort->public;
}

static Cohort *
new_view(DemurCohort *cohort) {
  Cohort *view = g_new0(Cohort, 1);
  view->public = *cohort;
  view->n_references = 1;
  view->parent = demur_cohort_ref(cohort);
  g_mutex_init(&view->mutex);
  return view;
}

DemurCohort *
demur_cohort_with_risks(DemurCohort *cohort, double *risks) {
  Cohort *view = new_view(cohort);
  if (cohort->risks != NULL)
    view->public.risks = risks;
  else
    view->public.probabilities = risks;
  return &view->public;
}

DemurCohort *
demur_cohort_with_split(DemurCohort *cohort, const char *name, const guint8 *moved) {
  Cohort *view = new_view(cohort);
  DemurCohort *c = &view->public;
  c->splits = demur_new_array(guint32, c->n_scans);
  for (size_t i = 0; i < c->n_scans; i++)
    c->splits[i] = moved[i] ? (guint32)cohort->n_splits : cohort->splits[i];
  c->split_names = g_new0(char *, c->n_splits + 2);
  memcpy(c->split_names, cohort->split_names, c->n_splits * sizeof(char *));
  c->split_names[c->n_splits++] = g_strdup(name);
  return c;
}

/* The label by then of a scan; DEMUR_NO_LABEL: it was left before. */
static gint32
label_at(const DemurCohort *c, size_t i, double years) {
  if (!isfinite(c->times[i]) || c->statuses[i] == DEMUR_NO_LABEL)
    return DEMUR_NO_LABEL;
  if (c->times[i] >= years || c->statuses[i] == DEMUR_STATUS_COMPETING)
    return 0;
  return c->statuses[i] == DEMUR_STATUS_EVENT ? 1 : DEMUR_NO_LABEL;
}

static gboolean
check_horizon(const DemurCohort *c, double years, GError **error) {
  if (!(years >= 1.0 && years <= DEMUR_N_YEARS) || years != floor(years)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a horizon of %g years; risks are of whole years from 1 to %d", years,
                    DEMUR_N_YEARS);
    return FALSE;
  }
  if (c->times == NULL || c->statuses == NULL || c->yearly_risks == NULL || c->risks == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "cohort '%s' is of risks within %g years; for others it needs yearly risks "
                    "(risk_year_1 ..) and times of its outcomes",
                    c->name, c->horizon_years);
    return FALSE;
  }
  for (size_t i = 0; i < c->n_scans; i++)
    if (!isfinite(c->yearly_risks[i * DEMUR_N_YEARS + (size_t)years - 1])) {
      demur_error_set(error, DEMUR_ERROR_STATE, "cohort '%s': scan %s has no risk within %g years",
                      c->name, c->scan_ids[i], years);
      return FALSE;
    }
  return TRUE;
}

DemurCohort *
demur_cohort_at_horizon(DemurCohort *cohort, double years, GError **error) {
  if (years == cohort->horizon_years)
    return demur_cohort_ref(cohort);
  if (!check_horizon(cohort, years, error))
    return NULL;
  Cohort *view = new_view(cohort);
  DemurCohort *c = &view->public;
  const size_t n = c->n_scans;
  c->horizon_years = years;
  c->labels = demur_new_array(gint32, n);
  c->risks = demur_new_array(double, n);
  c->horizons = demur_new_array(double, n);
  for (size_t i = 0; i < n; i++) {
    c->labels[i] = label_at(cohort, i, years);
    c->risks[i] = cohort->yearly_risks[i * DEMUR_N_YEARS + (size_t)years - 1];
    c->horizons[i] = years;
  }
  return c;
}

/* Frees what a view does not share with its parent. */
static void
free_view(Cohort *view) {
  DemurCohort *c = &view->public;
  const DemurCohort *parent = view->parent;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    void *array = *demur_cohort_column_place(c, &demur_cohort_columns[k]);
    if (array != demur_cohort_column_data(parent, &demur_cohort_columns[k]))
      g_aligned_free(array);
  }
  if (c->split_names != parent->split_names) {
    g_free(c->split_names[c->n_splits - 1]);
    g_free(c->split_names);
  }
  g_clear_pointer(&view->scan_rows, g_hash_table_unref);
  g_mutex_clear(&view->mutex);
  demur_cohort_unref(view->parent);
  g_free(view);
}

char *
demur_cohort_keep_text(DemurCohort *cohort, const char *text, size_t length) {
  return g_string_chunk_insert_len(((Cohort *)cohort)->texts, text, (gssize)length);
}

void
demur_cohort_keep_block(DemurCohort *cohort, gpointer block) {
  g_ptr_array_add(((Cohort *)cohort)->blocks, block);
}

DemurCohort *
demur_cohort_ref(DemurCohort *cohort) {
  g_atomic_int_inc(&((Cohort *)cohort)->n_references);
  return cohort;
}

void
demur_cohort_unref(DemurCohort *c) {
  Cohort *cohort = (Cohort *)c;
  if (cohort == NULL || !g_atomic_int_dec_and_test(&cohort->n_references))
    return;
  if (cohort->parent != NULL) {
    free_view(cohort);
    return;
  }
  g_free(c->name);
  g_free(c->model);
  g_free(c->source);
  g_free(c->created);
  g_free(c->outcome);
  if (c->scan_ids == c->patient_ids)
    c->scan_ids = NULL;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    const DemurCohortColumn *column = &demur_cohort_columns[k];
    void *array = *demur_cohort_column_place(c, column);
    if (column->type == DEMUR_CELL_TEXT)
      g_free(array);
    else
      g_aligned_free(array);
    if (column->type == DEMUR_CELL_CODE)
      g_free(*demur_cohort_column_texts(c, column));
  }
  for (size_t a = 0; a < c->n_attributes; a++) {
    g_free(c->attributes[a].name);
    g_free(c->attributes[a].values);
    g_aligned_free(c->attributes[a].codes);
  }
  g_free(c->attributes);
  g_clear_pointer(&cohort->scan_rows, g_hash_table_unref);
  g_string_chunk_free(cohort->texts);
  g_ptr_array_unref(cohort->blocks);
  g_mutex_clear(&cohort->mutex);
  g_free(cohort);
}

static gssize
find_text(char **texts, size_t n, const char *text) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(texts[i], text) == 0)
      return (gssize)i;
  return -1;
}

gssize
demur_cohort_find_split(const DemurCohort *cohort, const char *name) {
  return find_text(cohort->split_names, cohort->n_splits, name);
}

gssize
demur_cohort_find_site(const DemurCohort *cohort, const char *name) {
  return find_text(cohort->site_names, cohort->n_sites, name);
}

gssize
demur_cohort_find_attribute(const DemurCohort *cohort, const char *name) {
  for (size_t a = 0; a < cohort->n_attributes; a++)
    if (strcmp(cohort->attributes[a].name, name) == 0)
      return (gssize)a;
  return -1;
}

gssize
demur_cohort_find_scan(DemurCohort *c, const char *scan_id) {
  Cohort *cohort = (Cohort *)c;
  g_mutex_lock(&cohort->mutex);
  if (cohort->scan_rows == NULL) {
    cohort->scan_rows = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < c->n_scans; i++)
      g_hash_table_insert(cohort->scan_rows, c->scan_ids[i], GSIZE_TO_POINTER(i));
  }
  gpointer row;
  const gboolean found = g_hash_table_lookup_extended(cohort->scan_rows, scan_id, NULL, &row);
  g_mutex_unlock(&cohort->mutex);
  return found ? (gssize)GPOINTER_TO_SIZE(row) : -1;
}

gboolean
demur_split_is_test(const char *name) {
  return strcmp(name, DEMUR_SPLIT_TEST) == 0;
}

guint32 *
demur_cohort_rows(const DemurCohort *cohort, const char *split, size_t *n_rows, GError **error) {
  gssize code = -1;
  size_t n = cohort->n_scans;
  if (split != NULL) {
    code = demur_cohort_find_split(cohort, split);
    n = 0;
    if (code >= 0)
      for (size_t i = 0; i < cohort->n_scans; i++)
        n += cohort->splits[i] == (guint32)code;
    if (n == 0) {
      g_autoptr(GString) names = g_string_new(NULL);
      for (size_t s = 0; s < cohort->n_splits; s++)
        g_string_append_printf(names, "%s%s", s > 0 ? ", " : "", cohort->split_names[s]);
      demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "cohort %s has no split %s; its splits are: %s",
                      cohort->name, split, names->str);
      return NULL;
    }
  }
  guint32 *rows = g_new(guint32, MAX(n, 1));
  size_t k = 0;
  for (size_t i = 0; i < cohort->n_scans; i++)
    if (code < 0 || cohort->splits[i] == (guint32)code)
      rows[k++] = (guint32)i;
  *n_rows = n;
  return rows;
}

/* The most probable class of a row (ties: the lowest). */
static size_t
top_class(const DemurCohort *cohort, size_t row) {
  const double *p = cohort->probabilities + row * cohort->n_classes;
  size_t top = 0;
  for (size_t k = 1; k < cohort->n_classes; k++)
    if (p[k] > p[top])
      top = k;
  return top;
}

double
demur_cohort_confidence_risk(const DemurCohort *cohort, size_t row) {
  return cohort->n_classes == 2
             ? cohort->risks[row]
             : cohort->probabilities[row * cohort->n_classes + top_class(cohort, row)];
}

double
demur_cohort_confidence_label(const DemurCohort *cohort, size_t row) {
  const gint32 label = cohort->labels[row];
  if (label == DEMUR_NO_LABEL)
    return NAN;
  return cohort->n_classes == 2 ? (double)label : (double)((size_t)label == top_class(cohort, row));
}

double
demur_cohort_horizon(const DemurCohort *cohort) {
  return cohort->horizons != NULL && cohort->n_scans > 0 ? cohort->horizons[0] : NAN;
}

static size_t
count_codes(const guint32 *codes, size_t n_codes, const guint32 *rows, size_t n_rows) {
  g_autofree guint8 *seen = g_malloc0(MAX(n_codes, 1));
  size_t n = 0;
  for (size_t i = 0; i < n_rows; i++) {
    guint8 *mark = &seen[codes[rows != NULL ? rows[i] : i]];
    n += *mark == 0;
    *mark = 1;
  }
  return n;
}

size_t
demur_cohort_count_patients(const DemurCohort *cohort, const guint32 *rows, size_t n_rows) {
  return count_codes(cohort->patients, cohort->n_patients, rows,
                     rows != NULL ? n_rows : cohort->n_scans);
}

size_t
demur_cohort_count_sites(const DemurCohort *cohort, const guint32 *rows, size_t n_rows) {
  return count_codes(cohort->sites, cohort->n_sites, rows, rows != NULL ? n_rows : cohort->n_scans);
}

const char *
demur_cohort_attribute_text(const DemurCohort *cohort, size_t attribute, size_t row) {
  const DemurAttribute *a = &cohort->attributes[attribute];
  return a->values[a->codes[row]];
}

/* Columns are hashed in blocks of this many rows, gathered first: the bytes are the same for NULL
 * and for every row named one by one. */
#define DIGEST_BLOCK 4096
#define DIGEST_TEXT_BYTES 16384

static void
digest_column(DemurSha256 *sha, const void *values, size_t row_bytes, const guint32 *rows,
              size_t n_rows, guint8 *buffer) {
  for (size_t begin = 0; begin < n_rows; begin += DIGEST_BLOCK) {
    const size_t n = MIN((size_t)DIGEST_BLOCK, n_rows - begin);
    const guint8 *block = (const guint8 *)values + begin * row_bytes;
    if (rows != NULL) {
      for (size_t i = 0; i < n; i++)
        memcpy(buffer + i * row_bytes, (const guint8 *)values + rows[begin + i] * row_bytes,
               row_bytes);
      block = buffer;
    }
    demur_sha256_add_bytes(sha, block, n * row_bytes);
  }
}

/* Each text framed by its length, gathered into larger pieces: a call a text would cost more than
 * its digest. */
static void
digest_texts(DemurSha256 *sha, GString *gathered, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t length = strlen(texts[i]);
    const guint64 frame = GUINT64_TO_LE((guint64)length);
    g_string_append_len(gathered, (const char *)&frame, sizeof frame);
    g_string_append_len(gathered, texts[i], (gssize)length);
  }
  if (gathered->len < DIGEST_TEXT_BYTES)
    return;
  demur_sha256_update(sha, gathered->str, gathered->len);
  g_string_truncate(gathered, 0);
}

char *
demur_cohort_digest(const DemurCohort *cohort, const guint32 *rows, size_t n) {
  const size_t n_rows = rows != NULL ? n : cohort->n_scans;
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "demur cohort 1");
  const guint64 shape[] = {n_rows, cohort->n_classes, cohort->embedding_width,
                           cohort->yearly_risks != NULL};
  demur_sha256_add_bytes(&sha, shape, sizeof shape);
  g_autoptr(GString) gathered = g_string_sized_new(DIGEST_TEXT_BYTES * 2);
  for (size_t i = 0; i < n_rows; i++) {
    const size_t row = rows != NULL ? rows[i] : i;
    const char *const texts[] = {cohort->scan_ids[row], cohort->patient_ids[cohort->patients[row]],
                                 cohort->site_names[cohort->sites[row]],
                                 cohort->split_names[cohort->splits[row]]};
    digest_texts(&sha, gathered, texts, G_N_ELEMENTS(texts));
  }
  demur_sha256_update(&sha, gathered->str, gathered->len);
  size_t widest = 0;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++)
    widest = MAX(widest, demur_cohort_column_row_bytes(cohort, &demur_cohort_columns[k]));
  g_autofree guint8 *buffer = rows != NULL ? g_malloc_n(DIGEST_BLOCK, widest) : NULL;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    const DemurCohortColumn *column = &demur_cohort_columns[k];
    const void *data = demur_cohort_column_data(cohort, column);
    if (column->type == DEMUR_CELL_TEXT || column->type == DEMUR_CELL_CODE || data == NULL)
      continue; /* texts are hashed above */
    if (column->named_in_digest)
      demur_sha256_add_text(&sha, column->name);
    digest_column(&sha, data, demur_cohort_column_row_bytes(cohort, column), rows, n_rows, buffer);
  }
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&sha, digest);
  char *hex = g_malloc(DEMUR_SHA256_HEX);
  demur_sha256_hex(digest, hex);
  return hex;
}
