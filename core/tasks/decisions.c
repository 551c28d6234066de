#include "tasks/decisions.h"

#include <string.h>

#include "base/error.h"
#include "tasks/images.h"
#include "tasks/series-records.h"
#include "tasks/study-choice.h"
#include "dicom/library.h"
#include "store/events.h"
#include "store/series.h"

static gboolean
end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

static gboolean
check_reason(const char *reason, GError **error) {
  if (reason != NULL && reason[strspn(reason, " \t\r\n")] != '\0')
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "such a decision needs a reason, which is kept with it (--reason TEXT)");
  return FALSE;
}

/* For the log (owned). with: another scan, or NULL. */
static char *
details_of(const char *decision, const char *reason, const char *with) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "decision", decision);
  demur_json_string(json, "reason", reason);
  if (with != NULL)
    demur_json_string(json, "with", with);
  demur_json_end_object(json);
  return g_strchomp(demur_json_finish(json));
}

/* Whether two volumes contradict each other: 1 or 0; -1 with error. */
static int
contradict(DemurWorkspace *workspace, const DemurSeriesRecord *a, const DemurSeriesRecord *b,
           GError **error) {
  if (strcmp(a->scan_id, b->scan_id) == 0)
    return 0;
  const DemurPerson x = demur_series_person(a), y = demur_series_person(b);
  if (a->series_uid != NULL && g_strcmp0(a->series_uid, b->series_uid) == 0 &&
      demur_person_compare_in_study(&x, &y) != DEMUR_PERSON_SAME)
    return 1;
  return demur_series_share_images(workspace, a->scan_id, b->scan_id, error);
}

/* Those of all that wait and contradict record (borrowed). NULL with error. */
static GPtrArray *
find_others(DemurWorkspace *workspace, const GPtrArray *all, const DemurSeriesRecord *record,
            GError **error) {
  g_autoptr(GPtrArray) others = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++) {
    const DemurSeriesRecord *other = all->pdata[i];
    const int against = other->conflict != NULL ? contradict(workspace, other, record, error) : 0;
    if (against < 0)
      return NULL;
    if (against > 0)
      g_ptr_array_add(others, all->pdata[i]);
  }
  return g_steal_pointer(&others);
}

/* What a decision is made by, before anything is written. */
typedef struct {
  DemurTask *task;
  GPtrArray *before;    /* DemurSeriesRecord of the whole workspace */
  GPtrArray *waiting;   /* those that wait with what is decided, itself first; borrowed */
  GHashTable *measured; /* scan_id -> DemurSeries, of those whose files are what was imported */
} Look;

static void
look_clear(Look *look) {
  g_clear_pointer(&look->before, g_ptr_array_unref);
  g_clear_pointer(&look->waiting, g_ptr_array_unref);
  g_clear_pointer(&look->measured, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Look, look_clear)

static DemurSeriesRecord *
find_record(const GPtrArray *all, const char *scan_id) {
  for (guint i = 0; i < all->len; i++)
    if (strcmp(((DemurSeriesRecord *)all->pdata[i])->scan_id, scan_id) == 0)
      return all->pdata[i];
  return NULL;
}

/* Adds record and all that waits with it, by however many steps. */
static gboolean
gather_waiting(Look *look, DemurSeriesRecord *record, GError **error) {
  guint at = look->waiting->len;
  if (g_ptr_array_find(look->waiting, record, NULL))
    return TRUE;
  g_ptr_array_add(look->waiting, record);
  for (; at < look->waiting->len; at++) {
    g_autoptr(GPtrArray) others =
        find_others(look->task->workspace, look->before, look->waiting->pdata[at], error);
    for (guint i = 0; others != NULL && i < others->len; i++)
      if (!g_ptr_array_find(look->waiting, others->pdata[i], NULL))
        g_ptr_array_add(look->waiting, others->pdata[i]);
    if (others == NULL)
      return FALSE;
  }
  return TRUE;
}

/* Measures what waits anew, each from its own files alone: beside another person's images it was
 * judged as one of two patients. What can't be read, or is no longer what was imported, stays as it
 * was known. */
static gboolean
measure_waiting(Look *look, GError **error) {
  for (guint i = 0; i < look->waiting->len; i++) {
    const DemurSeriesRecord *record = look->waiting->pdata[i];
    g_autoptr(GError) cause = NULL;
    DemurSeries *series =
        record->conflict != NULL ? demur_task_reopen(look->task, record->scan_id, &cause) : NULL;
    if (series != NULL)
      g_hash_table_insert(look->measured, g_strdup(record->scan_id), series);
    if (g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
      g_propagate_error(error, g_steal_pointer(&cause));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
look_again(Look *look, GError **error) {
  look_clear(look);
  look->before = demur_series_list(look->task->workspace, error);
  look->waiting = g_ptr_array_new();
  look->measured =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)demur_series_free);
  return look->before != NULL;
}

/* Saves what was measured of the files of from as scan_id; nothing where it could not be. */
static gboolean
save_measured(const Look *look, const char *from, const char *scan_id, GError **error) {
  const DemurSeries *series = g_hash_table_lookup(look->measured, from);
  if (series == NULL)
    return TRUE;
  g_autofree char *now = demur_task_now(look->task);
  g_autoptr(DemurSeriesRecord) record = demur_dicom_record_new(series, FALSE, NULL, now);
  g_free(record->scan_id);
  record->scan_id = g_strdup(scan_id);
  DemurSeriesFile *kept = demur_dicom_files_new(series);
  const DemurSeriesSave save = {record, kept, series->n_slices};
  const gboolean saved = demur_series_save(look->task->workspace, &save, 1, error);
  demur_dicom_files_free(kept, series->n_slices);
  return saved;
}

/* The end of one volume's waiting. */
static gboolean
release(const Look *look, const char *scan_id, const char *details, GError **error) {
  return save_measured(look, scan_id, scan_id, error) &&
         demur_series_set_conflict(look->task->workspace, scan_id, NULL, details, error);
}

/* Releases what waited and is contradicted by nothing any more. */
static gboolean
release_uncontradicted(const Look *look, const char *details, GError **error) {
  DemurWorkspace *workspace = look->task->workspace;
  g_autoptr(GPtrArray) now = demur_series_list(workspace, error);
  for (guint i = 0; now != NULL && i < look->waiting->len; i++) {
    const char *scan_id = ((const DemurSeriesRecord *)look->waiting->pdata[i])->scan_id;
    const DemurSeriesRecord *record = find_record(now, scan_id);
    int against = record == NULL || record->conflict == NULL; /* gone, or it waits no longer */
    for (guint k = 0; k < now->len && against == 0; k++)
      against = contradict(workspace, record, now->pdata[k], error);
    if (against < 0 || (against == 0 && !release(look, scan_id, details, error)))
      return FALSE;
  }
  return now != NULL;
}

/* Makes the choice anew in the studies of all that waited or left, as they were and as they are. */
static gboolean
choose_again(const Look *look, const GPtrArray *gone, GError **error) {
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) now = demur_series_list(look->task->workspace, error);
  for (guint i = 0; gone != NULL && i < gone->len; i++)
    g_hash_table_add(keys, demur_study_choice_key(gone->pdata[i]));
  for (guint i = 0; now != NULL && i < look->waiting->len; i++) {
    const DemurSeriesRecord *was = look->waiting->pdata[i], *is = find_record(now, was->scan_id);
    g_hash_table_add(keys, demur_study_choice_key(was));
    if (is != NULL)
      g_hash_table_add(keys, demur_study_choice_key(is));
  }
  return now != NULL && demur_study_choose(look->task->workspace, keys, look->before, error);
}

/* A decision: what it needs to look at (images are read there), and what it writes. */
typedef struct {
  gboolean (*look)(Look *look, gpointer data, GError **error);
  gboolean (*write)(const Look *look, gpointer data, GError **error);
} Decision;

#define MOST_TRIES 5

static gboolean
decide(DemurTask *task, const Decision *decision, gpointer data, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_dicom_init(error))
    return FALSE;
  g_auto(Look) look = {.task = task};
  for (guint tries = 0; tries < MOST_TRIES; tries++) {
    g_autofree char *head = demur_events_head(workspace, error);
    if (head == NULL || !look_again(&look, error) || !decision->look(&look, data, error) ||
        !measure_waiting(&look, error) || !demur_workspace_begin(workspace, error))
      return FALSE;
    g_autofree char *head_now = demur_events_head(workspace, error);
    if (g_strcmp0(head, head_now) == 0)
      return end(workspace, decision->write(&look, data, error), error);
    demur_workspace_rollback(workspace);
    if (head_now == NULL)
      return FALSE;
  }
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "others write to the workspace without a pause; decide again later");
  return FALSE;
}

/* What resolve and correct are asked. */
typedef struct {
  const char *scan_id, *reason;
  DemurResolution resolution;
  char **corrected;
} Question;

static gboolean
look_at_waiting(Look *look, gpointer data, GError **error) {
  const Question *question = data;
  DemurSeriesRecord *record = find_record(look->before, question->scan_id);
  if (record == NULL) {
    g_autoptr(DemurSeriesRecord) none =
        demur_series_load(look->task->workspace, question->scan_id, error);
    return none != NULL;
  }
  if (record->conflict == NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "scan %s conflicts with nothing; `demur dicom list` shows what waits for a "
                    "decision",
                    question->scan_id);
    return FALSE;
  }
  return gather_waiting(look, record, error);
}

static gboolean
resolve(const Look *look, gpointer data, GError **error) {
  const Question *question = data;
  DemurWorkspace *workspace = look->task->workspace;
  const DemurSeriesRecord *record = look->waiting->pdata[0];
  const gboolean keep = question->resolution == DEMUR_RESOLVE_KEEP;
  g_autofree char *details = details_of(keep ? "keep" : "both", question->reason, record->scan_id);
  g_autoptr(GPtrArray) others = find_others(workspace, look->before, record, error);
  if (others == NULL)
    return FALSE;
  for (guint i = 0; keep && i < others->len; i++)
    if (!demur_series_remove(workspace, ((DemurSeriesRecord *)others->pdata[i])->scan_id, details,
                             error))
      return FALSE;
  for (guint i = 0; i < (keep ? 1 : look->waiting->len); i++)
    if (!release(look, ((DemurSeriesRecord *)look->waiting->pdata[i])->scan_id, details, error))
      return FALSE;
  return release_uncontradicted(look, details, error) && choose_again(look, NULL, error);
}

gboolean
demur_decide_resolve(DemurTask *task, const char *scan_id, DemurResolution resolution,
                     const char *reason, GError **error) {
  static const Decision decision = {look_at_waiting, resolve};
  Question question = {scan_id, reason, resolution, NULL};
  return check_reason(reason, error) && decide(task, &decision, &question, error);
}

static gboolean
correct(const Look *look, gpointer data, GError **error) {
  Question *question = data;
  DemurWorkspace *workspace = look->task->workspace;
  const DemurSeriesRecord *record = look->waiting->pdata[0], *same = NULL;
  g_autoptr(GPtrArray) others = find_others(workspace, look->before, record, error);
  for (guint i = 0; others != NULL && i < others->len && same == NULL; i++) {
    const DemurSeriesRecord *other = others->pdata[i];
    if (record->images_digest != NULL &&
        g_strcmp0(other->images_digest, record->images_digest) == 0)
      same = other;
  }
  if (others == NULL)
    return FALSE;
  if (same == NULL) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "scan %s corrects nothing: no volume that conflicts with it has the same images; "
        "decide with `demur dicom resolve`",
        record->scan_id);
    return FALSE;
  }
  g_autofree char *details = details_of("correct", question->reason, record->scan_id);
  /* With two, the conflict ends with them; a third keeps waiting. */
  if (!save_measured(look, record->scan_id, same->scan_id, error) ||
      !demur_series_correct(workspace, same->scan_id, record, details, error) ||
      !demur_series_remove(workspace, record->scan_id, details, error) ||
      !demur_series_set_conflict(workspace, same->scan_id, same->conflict, details, error))
    return FALSE;
  /* What was measured of its files is of the person before. */
  g_hash_table_remove(look->measured, same->scan_id);
  if (!release_uncontradicted(look, details, error) || !choose_again(look, NULL, error))
    return FALSE;
  if (question->corrected != NULL) {
    g_free(*question->corrected);
    *question->corrected = g_strdup(same->scan_id);
  }
  return TRUE;
}

gboolean
demur_decide_correct(DemurTask *task, const char *scan_id, const char *reason, char **corrected,
                     GError **error) {
  static const Decision decision = {look_at_waiting, correct};
  char *found = NULL;
  Question question = {scan_id, reason, DEMUR_RESOLVE_KEEP, &found};
  const gboolean done = check_reason(reason, error) && decide(task, &decision, &question, error);
  if (done && corrected != NULL)
    *corrected = g_steal_pointer(&found);
  g_free(found);
  return done;
}

typedef struct {
  const DemurRemoval *removal;
  const char *reason;
  guint *n;
} Leaving;

static gboolean
is_meant(const DemurRemoval *removal, const DemurSeriesRecord *record) {
  return (removal->scan_id != NULL && strcmp(removal->scan_id, record->scan_id) == 0) ||
         (removal->study_uid != NULL && g_strcmp0(removal->study_uid, record->study_uid) == 0) ||
         (removal->patient_id != NULL &&
          demur_person_same_id(removal->patient_id, record->patient_id));
}

/* Series that are meant (borrowed). */
static GPtrArray *
find_meant(const GPtrArray *all, const DemurRemoval *removal) {
  GPtrArray *meant = g_ptr_array_new();
  for (guint i = 0; i < all->len; i++)
    if (is_meant(removal, all->pdata[i]))
      g_ptr_array_add(meant, all->pdata[i]);
  return meant;
}

/* A number that two hospitals gave is no person. */
static gboolean
check_one_person(const GPtrArray *meant, GError **error) {
  g_autofree DemurPerson *persons = g_new0(DemurPerson, MAX(meant->len, 1));
  g_autofree guint *classes = g_new0(guint, MAX(meant->len, 1));
  for (guint i = 0; i < meant->len; i++)
    persons[i] = demur_series_person(meant->pdata[i]);
  const guint n = demur_person_classes(persons, meant->len, classes);
  if (n <= 1)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "that PatientID names %u persons here, or one whose records disagree: take them out "
      "by study (--study UID)",
      n);
  return FALSE;
}

/* The series that are meant, where they may leave (borrowed). */
static GPtrArray *
find_leaving(const GPtrArray *all, const DemurRemoval *removal, GError **error) {
  g_autoptr(GPtrArray) meant = find_meant(all, removal);
  if (meant->len == 0) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no such series in the workspace; `demur dicom list` shows what "
                    "there is");
    return NULL;
  }
  if (removal->patient_id != NULL && !check_one_person(meant, error))
    return NULL;
  gboolean as_agreed =
      removal->agreed == NULL || g_strv_length((char **)removal->agreed) == meant->len;
  for (guint i = 0; removal->agreed != NULL && i < meant->len; i++)
    as_agreed &= g_strv_contains(removal->agreed, ((DemurSeriesRecord *)meant->pdata[i])->scan_id);
  if (as_agreed)
    return g_steal_pointer(&meant);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the workspace was changed meanwhile: other series would leave than those "
                  "that were shown; look again, then decide");
  return NULL;
}

static gboolean
look_at_leaving(Look *look, gpointer data, GError **error) {
  const Leaving *leaving = data;
  g_autoptr(GPtrArray) meant = find_leaving(look->before, leaving->removal, error);
  for (guint i = 0; meant != NULL && i < meant->len; i++)
    if (((DemurSeriesRecord *)meant->pdata[i])->conflict != NULL &&
        !gather_waiting(look, meant->pdata[i], error))
      return FALSE;
  return meant != NULL;
}

static gboolean
remove_all(const Look *look, gpointer data, GError **error) {
  const Leaving *leaving = data;
  g_autoptr(GPtrArray) meant = find_meant(look->before, leaving->removal);
  g_autofree char *details = details_of("remove", leaving->reason, NULL);
  for (guint i = 0; i < meant->len; i++)
    if (!demur_series_remove(look->task->workspace, ((DemurSeriesRecord *)meant->pdata[i])->scan_id,
                             details, error))
      return FALSE;
  *leaving->n = meant->len;
  return release_uncontradicted(look, details, error) && choose_again(look, meant, error);
}

gboolean
demur_decide_remove(DemurTask *task, const DemurRemoval *removal, const char *reason, guint *n,
                    GError **error) {
  static const Decision decision = {look_at_leaving, remove_all};
  Leaving leaving = {removal, reason, n};
  return check_reason(reason, error) && decide(task, &decision, &leaving, error);
}

void
demur_removal_extent_clear(DemurRemovalExtent *extent) {
  g_clear_pointer(&extent->scan_ids, g_strfreev);
}

/* Adds what there is of each series; the workspace is held still meanwhile. */
static gboolean
measure_leaving(DemurWorkspace *workspace, const DemurRemoval *removal, DemurRemovalExtent *extent,
                GError **error) {
  g_autoptr(GPtrArray) all = demur_series_list(workspace, error);
  g_autoptr(GPtrArray) meant = all != NULL ? find_leaving(all, removal, error) : NULL;
  if (meant == NULL)
    return FALSE;
  g_autoptr(GHashTable) studies = g_hash_table_new(g_str_hash, g_str_equal);
  *extent = (DemurRemovalExtent){.scan_ids = g_new0(char *, meant->len + 1)};
  for (guint i = 0; i < meant->len; i++) {
    const DemurSeriesRecord *record = meant->pdata[i];
    DemurSeriesExtent one = {0};
    if (!demur_series_extent(workspace, record->scan_id, &one, error))
      return FALSE;
    extent->scan_ids[i] = g_strdup(record->scan_id);
    /* Without a StudyInstanceUID each is a study of its own. */
    g_hash_table_add(studies, record->study_uid != NULL ? record->study_uid : record->scan_id);
    extent->n_images += one.n_images;
    extent->n_scores += one.n_scores;
    extent->n_verdicts += one.n_verdicts;
    extent->n_reviews += one.n_reviews;
    extent->n_drawn += one.n_drawn;
  }
  extent->n_studies = g_hash_table_size(studies);
  return TRUE;
}

gboolean
demur_decide_extent(DemurTask *task, const DemurRemoval *removal, DemurRemovalExtent *extent,
                    GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_workspace_begin_read(workspace, error))
    return FALSE;
  const gboolean measured = measure_leaving(workspace, removal, extent, error);
  demur_workspace_end_read(workspace);
  return measured;
}
