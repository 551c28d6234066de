#include "tasks/watch-stream.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/person.h"
#include "base/sha256.h"
#include "cohort/cohort.h"
#include "features/acquisition.h"
#include "store/bindings.h"
#include "store/cohorts.h"
#include "store/scores.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "tasks/selection.h"
#include "tasks/watch-makers.h"

#define PERSON_DIGITS 24

/* One scan of which the selector gave a verdict. */
typedef struct {
  char *cohort, *scan_id; /* cohort NULL: a DICOM series */
  char *patient_id, *site, *when, *cohort_digest;
  gint64 order; /* the first verdict of the assessment that gave its first; 0: none in the window */
  gboolean before;
  gboolean chosen_out; /* another series of its study is assessed */
  DemurVerdict verdict;
  double score, raw, risk, distance;
} Scan;

static void
scan_free(gpointer data) {
  Scan *scan = data;
  g_free(scan->cohort);
  g_free(scan->scan_id);
  g_free(scan->patient_id);
  g_free(scan->site);
  g_free(scan->when);
  g_free(scan->cohort_digest);
  g_free(scan);
}

typedef struct {
  const DemurWatchStreamParams *params;
  GHashTable *by_name; /* "cohort\nscan" -> Scan, borrowed */
  GPtrArray *scans;    /* owned */
  gint64 batch, order; /* the assessment that is walked through, and its first verdict */
} Walk;

static void
take_text(char **text, const char *value) {
  g_free(*text);
  *text = g_strdup(value);
}

static gboolean
walk_verdict(const DemurVerdictRecord *record, gpointer data) {
  Walk *walk = data;
  const DemurWatchStreamParams *params = walk->params;
  if (record->batch != walk->batch) {
    walk->batch = record->batch;
    walk->order = record->id;
  }
  if (g_strcmp0(record->selector, params->selector) != 0 || record->id > params->to)
    return TRUE;
  g_autofree char *name =
      g_strconcat(record->cohort != NULL ? record->cohort : "", "\n", record->scan_id, NULL);
  Scan *scan = g_hash_table_lookup(walk->by_name, name);
  if (scan == NULL) {
    scan = g_new0(Scan, 1);
    scan->cohort = g_strdup(record->cohort);
    scan->scan_id = g_strdup(record->scan_id);
    g_ptr_array_add(walk->scans, scan);
    g_hash_table_insert(walk->by_name, g_steal_pointer(&name), scan);
  }
  if (record->id <= params->after)
    scan->before = TRUE;
  else if (g_strcmp0(record->selector_digest, params->selector_digest) == 0) {
    if (scan->order == 0) {
      scan->order = walk->order;
      scan->when = g_strdup(record->created);
    }
    scan->verdict = record->verdict;
    scan->chosen_out =
        g_strcmp0(record->lead, demur_reason_kind_name(DEMUR_REASON_NOT_CHOSEN)) == 0;
    scan->score = record->score;
    scan->raw = record->risk_raw;
    scan->risk = record->risk;
    scan->distance = record->distance;
    take_text(&scan->patient_id, record->patient_id);
    take_text(&scan->site, record->site);
    take_text(&scan->cohort_digest, record->cohort_digest);
  }
  return TRUE;
}

guint64
demur_watch_scan_key(const char *cohort, const char *scan_id) {
  DemurSha256 sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, cohort);
  demur_sha256_add_text(&sha, scan_id);
  demur_sha256_finish(&sha, digest);
  guint64 key = 0;
  for (size_t b = 0; b < 8; b++)
    key = key << 8 | digest[b];
  return key;
}

static char *
person_digest(const char *space, const char *id, guint number) {
  g_autofree char *text = g_strdup_printf("%s\n%s\n%u", space, id, number);
  char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
  digest[PERSON_DIGITS] = '\0';
  return digest;
}

char *
demur_watch_person_of_cohort(const DemurCohort *cohort, const char *patient_id) {
  g_autofree char *key = demur_person_key(patient_id);
  return person_digest(cohort->simulated ? cohort->name : "", key, 0);
}

/* "1.25 mm": thickness is told to a hundredth, as scanners set it. */
static char *
thickness_text(double mm) {
  return isfinite(mm) ? g_strdup_printf("%.2f mm", mm) : NULL;
}

static const char *
attribute_text(const DemurCohort *cohort, DemurAcquisitionSubject subject, size_t row) {
  const gssize a = demur_cohort_find_attribute(cohort, demur_acquisition_attribute(subject));
  const char *text = a >= 0 ? demur_cohort_attribute_text(cohort, (size_t)a, row) : "";
  return *text != '\0' ? text : NULL;
}

void
demur_watch_fill_cohort(DemurWatchPatient *patient, const DemurCohort *cohort, size_t row) {
  patient->manufacturer = g_strdup(attribute_text(cohort, DEMUR_ACQUISITION_MANUFACTURER, row));
  patient->kernel = g_strdup(attribute_text(cohort, DEMUR_ACQUISITION_KERNEL, row));
  const char *text = attribute_text(cohort, DEMUR_ACQUISITION_THICKNESS, row);
  double mm;
  if (text != NULL)
    patient->thickness =
        demur_number_parse(text, strlen(text), &mm) ? thickness_text(mm) : g_strdup(text);
  patient->label = demur_cohort_confidence_label(cohort, row);
}

/* ---- from scans to patients ---- */

typedef struct {
  DemurCohort *cohort; /* NULL: it is gone */
  char *digest;        /* what verdicts of it are bound to */
  gboolean apart;      /* its patients are others than those of the same numbers elsewhere */
} Source;

static void
source_free(gpointer data) {
  Source *source = data;
  demur_cohort_unref(source->cohort);
  g_free(source->digest);
  g_free(source);
}

typedef struct {
  DemurWorkspace *workspace;
  const DemurWatchStreamParams *params;
  GHashTable *cohorts;  /* name -> Source */
  GPtrArray *series;    /* of DemurSeriesRecord */
  GHashTable *by_scan;  /* scan_id -> DemurSeriesRecord, borrowed */
  GHashTable *persons;  /* scan_id of a series -> the digest of its person */
  GHashTable *versions; /* scan_id -> version of its score's model */
  GHashTable *labels;   /* scan_id -> double */
  GHashTable *left_out; /* digests of persons */
  DemurWatchMakers makers;
} Sources;

static void
sources_clear(Sources *sources) {
  g_clear_pointer(&sources->cohorts, g_hash_table_unref);
  g_clear_pointer(&sources->by_scan, g_hash_table_unref);
  g_clear_pointer(&sources->series, g_ptr_array_unref);
  g_clear_pointer(&sources->persons, g_hash_table_unref);
  g_clear_pointer(&sources->versions, g_hash_table_unref);
  g_clear_pointer(&sources->labels, g_hash_table_unref);
  g_clear_pointer(&sources->left_out, g_hash_table_unref);
  demur_watch_makers_clear(&sources->makers);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sources, sources_clear)

static void
array_unref(gpointer array) {
  g_ptr_array_unref(array);
}

/* Persons of the series, by the one function that tells them apart. Of an ID the first person is the
 * one that a table's patient of that ID is taken for. */
static void
find_persons(Sources *sources) {
  g_autoptr(GHashTable) by_key =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, array_unref);
  for (guint i = 0; i < sources->series->len; i++) {
    const DemurSeriesRecord *one = sources->series->pdata[i];
    const DemurPerson person = demur_series_person(one);
    g_autofree char *key = demur_person_key(one->patient_id);
    GPtrArray *same = g_hash_table_lookup(by_key, key);
    if (same == NULL) {
      same = g_ptr_array_new();
      g_hash_table_insert(by_key, g_strdup(key), same);
    }
    guint number = 0;
    for (; number < same->len; number++) {
      const DemurPerson other = demur_series_person(same->pdata[number]);
      if (demur_person_compare(&person, &other) == DEMUR_PERSON_SAME)
        break;
    }
    if (number == same->len)
      g_ptr_array_add(same, (gpointer)one);
    g_hash_table_insert(sources->persons, one->scan_id, person_digest("", key, number));
  }
}

static gboolean
sources_read(Sources *sources, GError **error) {
  DemurWorkspace *workspace = sources->workspace;
  sources->cohorts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, source_free);
  sources->by_scan = g_hash_table_new(g_str_hash, g_str_equal);
  sources->persons = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  sources->versions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  sources->left_out = g_hash_table_new(g_str_hash, g_str_equal);
  for (char **one = sources->params->left_out; one != NULL && *one != NULL; one++)
    g_hash_table_add(sources->left_out, *one);
  sources->series = demur_series_list(workspace, error);
  sources->labels = sources->series != NULL
                        ? demur_watch_labels_load(workspace, sources->params->then, error)
                        : NULL;
  if (sources->labels == NULL ||
      !demur_watch_makers_read(workspace, sources->params->trained, &sources->makers, error))
    return FALSE;
  for (guint i = 0; i < sources->series->len; i++) {
    DemurSeriesRecord *one = sources->series->pdata[i];
    g_hash_table_insert(sources->by_scan, one->scan_id, one);
  }
  find_persons(sources);
  return demur_scores_versions(workspace, sources->versions, error);
}

static Source *
find_source(Sources *sources, const char *name, GError **error) {
  Source *source = g_hash_table_lookup(sources->cohorts, name);
  if (source != NULL)
    return source;
  g_autoptr(GError) local = NULL;
  source = g_new0(Source, 1);
  g_hash_table_insert(sources->cohorts, g_strdup(name), source);
  g_autoptr(DemurCohort) whole = demur_cohorts_load_facts(sources->workspace, name, NULL, &local);
  /* Labels are those of the selector's years. */
  source->cohort = whole == NULL ? NULL
                   : sources->params->trained != NULL
                       ? demur_task_cohort_for(whole, sources->params->trained, &local)
                       : demur_cohort_ref(whole);
  if (source->cohort == NULL && !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return NULL;
  }
  if (source->cohort != NULL) {
    g_autoptr(DemurBindings) bindings = demur_bindings_load(sources->workspace, name, error);
    if (bindings == NULL)
      return NULL;
    DemurVerdictBatch batch = {.selector = sources->params->selector, .cohort = name};
    demur_bindings_bind_batch(bindings, &batch);
    source->digest = g_strdup(batch.cohort_digest);
    source->apart = demur_watch_makers_apart(&sources->makers, source->cohort);
  }
  return source;
}

/* What came of a scan. */
typedef enum { COUNTS, GONE, TRAINED, BEFORE } Fate;

typedef struct {
  DemurWatchPatient patient;
  char *person; /* owned */
  gboolean chosen_out;
} Candidate;

static void
candidate_clear(gpointer data) {
  Candidate *candidate = data;
  demur_watch_patient_clear(&candidate->patient);
  g_free(candidate->person);
}

static Fate
fill_of_cohort(Sources *sources, const Scan *scan, const Source *source, Candidate *candidate) {
  DemurCohort *cohort = source->cohort;
  const gssize row = cohort != NULL ? demur_cohort_find_scan(cohort, scan->scan_id) : -1;
  if (row < 0 || g_strcmp0(scan->cohort_digest, source->digest) != 0)
    return GONE;
  const char *patient_id = cohort->patient_ids[cohort->patients[row]];
  candidate->person = demur_watch_person_of_cohort(cohort, patient_id);
  demur_watch_fill_cohort(&candidate->patient, cohort, (size_t)row);
  return !source->apart &&
                 demur_watch_makers_hold(&sources->makers, cohort, (size_t)row, patient_id)
             ? TRAINED
             : COUNTS;
}

static Fate
fill_of_series(Sources *sources, const Scan *scan, Candidate *candidate) {
  const DemurSeriesRecord *series = g_hash_table_lookup(sources->by_scan, scan->scan_id);
  if (series == NULL || series->conflict != NULL)
    return GONE;
  DemurWatchPatient *patient = &candidate->patient;
  candidate->person = g_strdup(g_hash_table_lookup(sources->persons, scan->scan_id));
  patient->manufacturer =
      g_strdup(series->manufacturer != NULL ? series->manufacturer : series->manufacturer_raw);
  patient->kernel = g_strdup(series->kernel);
  patient->thickness = thickness_text(series->thickness_mm);
  patient->version = g_strdup(g_hash_table_lookup(sources->versions, scan->scan_id));
  patient->pending = TRUE;
  return demur_watch_makers_hold(&sources->makers, NULL, 0, series->patient_id) ? TRAINED : COUNTS;
}

/* Everything of a scan that may count; *fate says whether it does. */
static gboolean
fill(Sources *sources, const Scan *scan, Candidate *candidate, Fate *fate, GError **error) {
  candidate->patient = (DemurWatchPatient){.order = scan->order,
                                           .key = demur_watch_scan_key(scan->cohort, scan->scan_id),
                                           .when = g_strdup(scan->when),
                                           .scored = isfinite(scan->score),
                                           .score = scan->score,
                                           .raw = scan->raw,
                                           .risk = scan->risk,
                                           .distance = scan->distance,
                                           .label = NAN};
  DemurWatchPatient *patient = &candidate->patient;
  candidate->chosen_out = scan->chosen_out;
  patient->outcome_of = g_strdup(patient->scored ? "assessed" : demur_verdict_name(scan->verdict));
  if (scan->cohort != NULL) {
    const Source *source = find_source(sources, scan->cohort, error);
    if (source == NULL)
      return FALSE;
    *fate = fill_of_cohort(sources, scan, source, candidate);
  } else {
    *fate = fill_of_series(sources, scan, candidate);
  }
  if (*fate == COUNTS &&
      (scan->before ||
       (candidate->person != NULL && g_hash_table_contains(sources->left_out, candidate->person))))
    *fate = BEFORE;
  const double *label = g_hash_table_lookup(sources->labels, scan->scan_id);
  if (label != NULL) {
    patient->label = *label;
    patient->pending = FALSE;
  }
  return TRUE;
}

static gboolean
is_of_site(Sources *sources, const Scan *scan) {
  const DemurSeriesRecord *series =
      scan->cohort == NULL ? g_hash_table_lookup(sources->by_scan, scan->scan_id) : NULL;
  const char *site = series != NULL ? series->site : scan->site;
  return sources->params->site == NULL || g_strcmp0(sources->params->site, site) == 0;
}

static int
by_arrival(gconstpointer a, gconstpointer b) {
  const DemurWatchPatient *one = &((const Candidate *)a)->patient,
                          *other = &((const Candidate *)b)->patient;
  if (one->order != other->order)
    return one->order < other->order ? -1 : 1;
  return (one->key > other->key) - (one->key < other->key);
}

/* Of each person the first scan that was scored, else the first that is not passed over for another
 * of its study. */
static void
take_patients(GArray *candidates, DemurWatchStream *stream) {
  g_array_sort(candidates, by_arrival);
  g_autoptr(GHashTable) chosen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < candidates->len; i++) {
    const Candidate *one = &g_array_index(candidates, Candidate, i);
    const gpointer at = g_hash_table_lookup(chosen, one->person);
    const Candidate *now =
        at != NULL ? &g_array_index(candidates, Candidate, GPOINTER_TO_UINT(at) - 1) : NULL;
    stream->n_again += now != NULL ? 1 : 0;
    if (now == NULL ||
        (!now->patient.scored && (one->patient.scored || (now->chosen_out && !one->chosen_out))))
      g_hash_table_insert(chosen, one->person, GUINT_TO_POINTER(i + 1));
  }
  g_autoptr(GStrvBuilder) persons = g_strv_builder_new();
  for (guint i = 0; i < candidates->len; i++) {
    Candidate *one = &g_array_index(candidates, Candidate, i);
    if (GPOINTER_TO_UINT(g_hash_table_lookup(chosen, one->person)) != i + 1)
      continue;
    g_strv_builder_add(persons, one->person);
    g_array_append_val(stream->patients, one->patient);
    one->patient = (DemurWatchPatient){0};
  }
  stream->persons = g_strv_builder_end(persons);
}

static gboolean
take_scans(Sources *sources, const GPtrArray *scans, DemurWatchStream *stream, GError **error) {
  g_autoptr(GArray) candidates = g_array_new(FALSE, TRUE, sizeof(Candidate));
  g_array_set_clear_func(candidates, candidate_clear);
  for (guint i = 0; i < scans->len; i++) {
    const Scan *scan = scans->pdata[i];
    if (scan->order == 0 || !is_of_site(sources, scan))
      continue;
    Candidate candidate = {0};
    Fate fate;
    if (!fill(sources, scan, &candidate, &fate, error)) {
      candidate_clear(&candidate);
      return FALSE;
    }
    stream->n_scans++;
    stream->n_gone += fate == GONE ? 1 : 0;
    stream->n_trained += fate == TRAINED ? 1 : 0;
    stream->n_before += fate == BEFORE ? 1 : 0;
    if (fate == COUNTS)
      g_array_append_val(candidates, candidate);
    else
      candidate_clear(&candidate);
  }
  take_patients(candidates, stream);
  return TRUE;
}

gboolean
demur_watch_stream_read(DemurWorkspace *workspace, const DemurWatchStreamParams *params,
                        DemurWatchStream *stream, GError **error) {
  *stream = (DemurWatchStream){.patients = demur_watch_patients_new()};
  g_autoptr(GHashTable) by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) scans = g_ptr_array_new_with_free_func(scan_free);
  Walk walk = {.params = params, .by_name = by_name, .scans = scans, .batch = -1};
  g_auto(Sources) sources = {.workspace = workspace, .params = params};
  if (!demur_workspace_begin_read(workspace, error))
    return FALSE;
  const gboolean ok = demur_verdicts_walk(workspace, walk_verdict, &walk, error) &&
                      sources_read(&sources, error) && take_scans(&sources, scans, stream, error);
  demur_workspace_end_read(workspace);
  return ok;
}

void
demur_watch_stream_clear(DemurWatchStream *stream) {
  g_clear_pointer(&stream->patients, g_array_unref);
  g_clear_pointer(&stream->persons, g_strfreev);
}
