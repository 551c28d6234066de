#include "tasks/meeting.h"

#include <string.h>

#include "dicom/identity.h"
#include "tasks/images.h"
#include "tasks/series-records.h"

static void
arrival_clear(gpointer data) {
  g_free(((DemurArrival *)data)->scan_id);
}

static void
import_free(gpointer import) {
  demur_import_free(import);
}

static void
record_free(gpointer record) {
  demur_series_record_free(record);
}

void
demur_meeting_free(DemurMeeting *meeting) {
  if (meeting == NULL)
    return;
  g_array_unref(meeting->arrivals);
  g_free(meeting->arrival_of);
  g_hash_table_unref(meeting->conflicts);
  g_ptr_array_unref(meeting->united);
  g_ptr_array_unref(meeting->imports);
  g_ptr_array_unref(meeting->known);
  g_free(meeting);
}

/* A volume of the workspace with its files. */
typedef struct {
  const DemurSeriesRecord *record;
  GPtrArray *files;    /* DemurSeriesFile */
  GHashTable *digests; /* key of a slice -> a digest of it, borrowed; "" where not known */
  GHashTable *slices;  /* key and digest of each: faulty images share a UID within one volume */
  gboolean unites;     /* with what came */
  DemurPlaces *places; /* [files->len], of one that unites */
  char **gone;         /* keys of slices that were its own and were gone before */
} Known;

static void
known_free(gpointer data) {
  Known *known = data;
  if (known->files != NULL)
    g_ptr_array_unref(known->files);
  g_clear_pointer(&known->digests, g_hash_table_unref);
  g_clear_pointer(&known->slices, g_hash_table_unref);
  g_free(known->places);
  g_strfreev(known->gone);
  g_free(known);
}

/* What came of one SeriesInstanceUID, and what is known of it. */
typedef struct {
  GArray *came;     /* guint: places in the import */
  GPtrArray *known; /* of Known */
  GPtrArray *ids;   /* scan_ids that are taken by others, or were given out (owned) */
} Group;

static void
group_free(gpointer data) {
  Group *group = data;
  g_array_unref(group->came);
  g_ptr_array_unref(group->known);
  g_ptr_array_unref(group->ids);
  g_free(group);
}

/* A slice by its SOPInstanceUID and frame (owned). */
static char *
slice_key(const char *sop_instance_uid, guint frame) {
  return g_strdup_printf("%s/%u", sop_instance_uid != NULL ? sop_instance_uid : "", frame);
}

/* The same with what it holds (owned). */
static char *
slice_and_content(const char *key, const char *digest) {
  return g_strdup_printf("%s %s", key, digest);
}

static Known *
known_new(DemurWorkspace *workspace, const DemurSeriesRecord *record, GError **error) {
  Known *known = g_new0(Known, 1);
  known->record = record;
  known->files = demur_series_files(workspace, record->scan_id, error);
  if (known->files == NULL) {
    known_free(known);
    return NULL;
  }
  known->gone = demur_dicom_record_gone(record);
  known->digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  known->slices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < known->files->len; i++) {
    const DemurSeriesFile *file = known->files->pdata[i];
    const char *digest = file->digest != NULL ? file->digest : "";
    char *key = slice_key(file->sop_instance_uid, file->frame);
    g_hash_table_add(known->slices, slice_and_content(key, digest));
    g_hash_table_insert(known->digests, key, (gpointer)digest);
  }
  return known;
}

/* How what came stands to what is known. */
typedef enum {
  EQUAL,   /* the same slices of the same person */
  PART,    /* some of its slices */
  MORE,    /* other slices of the same person, or some of its slices while others are gone */
  PERSON,  /* of another person, or that can't be told */
  CONTENT, /* the same SOPInstanceUIDs hold something else */
} Relation;

static gboolean
same_person(const DemurSeries *came, const DemurSeriesRecord *known) {
  const DemurPerson a = demur_series_person_of(came), b = demur_series_person(known);
  /* Recorded in the same words: what came is what came before, whoever it is. */
  return demur_person_compare_in_study(&a, &b) == DEMUR_PERSON_SAME;
}

static Relation
relate(const DemurSeries *came, const Known *known) {
  size_t n_shared = 0;
  gboolean other_content = FALSE;
  for (size_t i = 0; i < came->n_slices; i++) {
    const DemurSlice *slice = &came->slices[i];
    g_autofree char *key = slice_key(slice->sop_instance_uid, slice->frame);
    const char *digest = g_hash_table_lookup(known->digests, key);
    if (digest == NULL)
      continue;
    n_shared++;
    /* Of an older program no digest is known: the UID has to do. */
    if (*digest == '\0' || slice->content_digest == NULL)
      continue;
    g_autofree char *whole = slice_and_content(key, slice->content_digest);
    other_content |= !g_hash_table_contains(known->slices, whole);
  }
  if (!same_person(came, known->record))
    return PERSON;
  if (other_content)
    return CONTENT;
  if (n_shared == came->n_slices)
    return n_shared == known->files->len ? EQUAL : PART;
  return MORE;
}

/* What is known of a group's series, or of the scan_id of one without a UID; the records go behind
 * others. */
static gboolean
find_known(DemurWorkspace *workspace, const DemurImport *import, Group *group, GPtrArray *records,
           GError **error) {
  const DemurSeries *first = import->series->pdata[g_array_index(group->came, guint, 0)];
  g_autoptr(GPtrArray) found =
      first->series_uid != NULL
          ? demur_series_find(workspace, DEMUR_SERIES_OF_UID, first->series_uid, error)
          : demur_series_find(workspace, DEMUR_SERIES_OF_SCAN, first->scan_id, error);
  if (found == NULL)
    return FALSE;
  while (found->len > 0) {
    DemurSeriesRecord *record = g_ptr_array_steal_index(found, 0);
    g_ptr_array_add(records, record);
    Known *known = known_new(workspace, record, error);
    if (known == NULL)
      return FALSE;
    g_ptr_array_add(group->known, known);
  }
  return TRUE;
}

/* The group of each SeriesInstanceUID that came (those without one by the scan_id of their files'
 * digest), in order. */
static GPtrArray *
find_groups(DemurWorkspace *workspace, const DemurImport *import, GPtrArray *records,
            GError **error) {
  g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(group_free);
  g_autoptr(GHashTable) by_uid = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < import->series->len; i++) {
    const DemurSeries *series = import->series->pdata[i];
    const char *uid = series->series_uid != NULL ? series->series_uid : series->scan_id;
    Group *group = g_hash_table_lookup(by_uid, uid);
    if (group == NULL) {
      group = g_new0(Group, 1);
      group->came = g_array_new(FALSE, FALSE, sizeof(guint));
      group->known = g_ptr_array_new_with_free_func(known_free);
      group->ids = g_ptr_array_new_with_free_func(g_free);
      g_ptr_array_add(groups, group);
      g_hash_table_insert(by_uid, (gpointer)uid, group);
    }
    g_array_append_val(group->came, i);
  }
  for (guint g = 0; g < groups->len; g++)
    if (!find_known(workspace, import, groups->pdata[g], records, error))
      return NULL;
  return g_steal_pointer(&groups);
}

typedef struct {
  DemurTask *task;
  const DemurImport *import;
  const DemurEligibility *rules;
  const DemurKnownFiles *files;
  DemurMeeting *meeting;
  GHashTable *given;   /* scan_ids that were given out (owned) */
  gboolean judge_anew; /* what came: images of it are gone */
  GError *failed;      /* the workspace can't be read */
} Planner;

/* Whether a volume of the workspace, or one that arrives, has the id. */
static gboolean
is_taken(Planner *planner, const char *scan_id) {
  if (g_hash_table_contains(planner->given, scan_id))
    return TRUE;
  if (planner->failed != NULL)
    return FALSE;
  g_autoptr(GPtrArray) found =
      demur_series_find(planner->task->workspace, DEMUR_SERIES_OF_SCAN, scan_id, &planner->failed);
  return found != NULL && found->len > 0;
}

/* A known volume as dicom/identity.h takes it: its images, and those of volumes that stand for it now.
 * without_images: only its id counts, as taken. */
static DemurKnownVolume
identity_of(const Known *known, gboolean without_images, const GPtrArray *volumes,
            GPtrArray *owned) {
  size_t n = without_images ? 0 : known->files->len;
  size_t n_more = 0;
  for (guint v = 0; n > 0 && v < volumes->len; v++)
    n_more += ((const DemurSeries *)volumes->pdata[v])->n_slices;
  const char **uids = g_new0(const char *, MAX(n + n_more, 1));
  guint32 *frames = g_new0(guint32, MAX(n + n_more, 1));
  for (guint i = 0; i < n; i++) {
    const DemurSeriesFile *file = known->files->pdata[i];
    uids[i] = file->sop_instance_uid;
    frames[i] = file->frame;
  }
  for (guint v = 0; n_more > 0 && v < volumes->len; v++) {
    const DemurSeries *series = volumes->pdata[v];
    for (size_t i = 0; i < series->n_slices; i++) {
      uids[n] = series->slices[i].sop_instance_uid;
      frames[n++] = series->slices[i].frame;
    }
  }
  g_ptr_array_add(owned, uids);
  g_ptr_array_add(owned, frames);
  return (DemurKnownVolume){known->record->scan_id, known->record->series_uid, uids, frames, n};
}

static gboolean
look_at_places(Planner *planner, Known *known, GError **error) {
  if (known->places == NULL)
    known->places = demur_task_file_places(planner->task, known->record, known->files, error);
  return known->places != NULL;
}

/* Whether slices of one that unites can't be read at their places. */
static gboolean
has_lost(const Known *known) {
  for (guint i = 0; known->places != NULL && i < known->files->len; i++)
    if (known->places[i] != DEMUR_PLACES_AS_IMPORTED)
      return TRUE;
  return FALSE;
}

/* Names volumes of one SeriesInstanceUID: a known volume that unites gives its id to the one that
 * has most of its images, the others get ids that nothing has. */
static void
name_volumes(Planner *planner, GPtrArray *volumes, Group *group, gboolean uniting) {
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  g_autoptr(GHashTable) known_ids = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint k = 0; k < group->known->len; k++)
    g_hash_table_add(known_ids, ((const Known *)group->known->pdata[k])->record->scan_id);
  for (gboolean clash = TRUE; clash;) {
    g_autoptr(GArray) known = g_array_new(FALSE, FALSE, sizeof(DemurKnownVolume));
    for (guint k = 0; k < group->known->len; k++) {
      const Known *one = group->known->pdata[k];
      const DemurKnownVolume volume =
          identity_of(one, !uniting || !one->unites, has_lost(one) ? volumes : none, owned);
      g_array_append_val(known, volume);
    }
    for (guint i = 0; i < group->ids->len; i++) {
      const DemurKnownVolume volume = {.scan_id = group->ids->pdata[i]};
      g_array_append_val(known, volume);
    }
    demur_identity_keep(volumes, (const DemurKnownVolume *)(gpointer)known->data, known->len);
    clash = FALSE;
    for (guint v = 0; v < volumes->len; v++) {
      const char *id = ((const DemurSeries *)volumes->pdata[v])->scan_id;
      /* A volume that was corrected may have the id of another series. */
      if (g_hash_table_contains(known_ids, id) || !is_taken(planner, id))
        continue;
      clash = TRUE;
      g_ptr_array_add(group->ids, g_strdup(id));
    }
  }
  for (guint v = 0; v < volumes->len; v++) {
    const char *id = ((const DemurSeries *)volumes->pdata[v])->scan_id;
    g_ptr_array_add(group->ids, g_strdup(id));
    g_hash_table_add(planner->given, g_strdup(id));
  }
}

/* Names one series that stands for itself. */
static char *
own_id(Planner *planner, DemurSeries *series, Group *group) {
  g_autoptr(GPtrArray) one = g_ptr_array_new();
  g_ptr_array_add(one, series);
  name_volumes(planner, one, group, FALSE);
  return g_strdup(series->scan_id);
}

static guint
add_arrival(Planner *planner, DemurSeries *series, char *scan_id) {
  const DemurArrival arrival = {.series = series, .scan_id = scan_id};
  g_array_append_val(planner->meeting->arrivals, arrival);
  return planner->meeting->arrivals->len - 1;
}

static DemurArrival *
arrival_at(Planner *planner, guint at) {
  return &g_array_index(planner->meeting->arrivals, DemurArrival, at);
}

/* Nothing is known of it. */
static void
take_new(Planner *planner, guint i, Group *group) {
  DemurSeries *series = planner->import->series->pdata[i];
  const guint at = add_arrival(planner, series, own_id(planner, series, group));
  arrival_at(planner, at)->conflict =
      series->two_patients ? DEMUR_CONFLICT_PERSON : DEMUR_CONFLICT_NONE;
  planner->meeting->arrival_of[i] = at;
}

/* It came as it is known. */
static void
take_known(Planner *planner, guint i, const Known *known, Relation relation) {
  DemurSeries *series = planner->import->series->pdata[i];
  const guint at = add_arrival(planner, series, g_strdup(known->record->scan_id));
  DemurArrival *arrival = arrival_at(planner, at);
  arrival->conflict = demur_conflict_of_name(known->record->conflict);
  arrival->is_known = TRUE;
  /* Beside another person's images the import judges a series as one of two patients. */
  arrival->keep_facts = relation == PART || series->two_patients;
  arrival->keep_files = relation == PART;
  if (known->gone[0] != NULL && !arrival->keep_facts) {
    g_strfreev(series->gone); /* of a plan that was made before */
    series->gone = g_strdupv(known->gone);
    planner->judge_anew = TRUE;
  }
  planner->meeting->arrival_of[i] = at;
}

/* It conflicts with what is known: both wait. */
static void
keep_apart(Planner *planner, guint i, Group *group, const Relation *relations) {
  DemurSeries *series = planner->import->series->pdata[i];
  const guint at = add_arrival(planner, series, own_id(planner, series, group));
  planner->meeting->arrival_of[i] = at;
  for (guint k = 0; k < group->known->len; k++) {
    if (relations[k] != PERSON && relations[k] != CONTENT)
      continue;
    const DemurConflict conflict =
        relations[k] == PERSON ? DEMUR_CONFLICT_PERSON : DEMUR_CONFLICT_CONTENT;
    const Known *known = group->known->pdata[k];
    arrival_at(planner, at)->conflict = conflict;
    g_hash_table_insert(planner->meeting->conflicts, g_strdup(known->record->scan_id),
                        GINT_TO_POINTER(conflict));
  }
}

char **
demur_meeting_paths(const GPtrArray *files) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  for (guint i = 0; i < files->len; i++) {
    const char *path = ((const DemurSeriesFile *)files->pdata[i])->path;
    const char *mark = strstr(path, "!/");
    char *container = mark != NULL && !g_file_test(path, G_FILE_TEST_EXISTS)
                          ? g_strndup(path, (gsize)(mark - path))
                          : g_strdup(path);
    if (g_hash_table_contains(seen, container)) {
      g_free(container);
      continue;
    }
    g_strv_builder_add(paths, container);
    g_hash_table_add(seen, container);
  }
  return g_strv_builder_end(paths);
}

/* Adds the paths of a union: of what came, and of what only the known files hold, where it still lies at
 * its place. */
static void
gather_paths(Planner *planner, const Group *group, const GArray *uniting, GPtrArray *files) {
  g_autoptr(GHashTable) came = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint c = 0; c < uniting->len; c++) {
    const DemurSeries *series = planner->import->series->pdata[g_array_index(uniting, guint, c)];
    for (size_t i = 0; i < series->n_slices; i++) {
      const DemurSlice *slice = &series->slices[i];
      g_hash_table_add(came, slice_key(slice->sop_instance_uid, slice->frame));
      DemurSeriesFile *file = g_new0(DemurSeriesFile, 1);
      file->path = slice->entry != NULL ? g_strdup_printf("%s!/%s", slice->path, slice->entry)
                                        : g_strdup(slice->path);
      g_ptr_array_add(files, file);
    }
  }
  for (guint k = 0; k < group->known->len; k++) {
    const Known *known = group->known->pdata[k];
    for (guint i = 0; known->unites && i < known->files->len; i++) {
      const DemurSeriesFile *file = known->files->pdata[i];
      g_autofree char *key = slice_key(file->sop_instance_uid, file->frame);
      if (g_hash_table_contains(came, key) || known->places[i] != DEMUR_PLACES_AS_IMPORTED)
        continue;
      DemurSeriesFile *copy = g_new0(DemurSeriesFile, 1);
      copy->path = g_strdup(file->path);
      g_ptr_array_add(files, copy);
    }
  }
}

static void
file_free(gpointer file) {
  demur_series_file_free(file);
}

/* Slices that a volume and some files have in common. */
static size_t
count_shared(const DemurSeries *series, GHashTable *digests) {
  size_t n = 0;
  for (size_t i = 0; i < series->n_slices; i++) {
    g_autofree char *key = slice_key(series->slices[i].sop_instance_uid, series->slices[i].frame);
    n += g_hash_table_contains(digests, key) ? 1 : 0;
  }
  return n;
}

/* Gives the volumes of a union their ids; known ones that no volume is left for went into another
 * one. */
static void
name_union(Planner *planner, Group *group, GPtrArray *volumes, GArray *places) {
  name_volumes(planner, volumes, group, TRUE);
  g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint v = 0; v < volumes->len; v++) {
    DemurSeries *series = volumes->pdata[v];
    const guint at = add_arrival(planner, series, g_strdup(series->scan_id));
    g_array_index(places, guint, v) = at;
    g_hash_table_insert(kept, series->scan_id, GUINT_TO_POINTER(at + 1));
  }
  for (guint k = 0; k < group->known->len; k++) {
    const Known *known = group->known->pdata[k];
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(kept, known->record->scan_id));
    if (known->unites && at > 0)
      arrival_at(planner, at - 1)->conflict = demur_conflict_of_name(known->record->conflict);
    else if (known->unites)
      g_ptr_array_add(planner->meeting->united, g_strdup(known->record->scan_id));
  }
}

/* Which volume of the union holds most of what came. */
static guint
find_place(const DemurSeries *came, const GPtrArray *volumes) {
  g_autoptr(GHashTable) slices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < came->n_slices; i++)
    g_hash_table_add(slices, slice_key(came->slices[i].sop_instance_uid, came->slices[i].frame));
  guint best = 0;
  size_t most = 0;
  for (guint v = 0; v < volumes->len; v++) {
    const size_t n = count_shared(volumes->pdata[v], slices);
    if (n > most) {
      most = n;
      best = v;
    }
  }
  return best;
}

static void
judge(const Planner *planner, GPtrArray *series) {
  g_autoptr(DemurEligibility) usual = demur_eligibility_new();
  demur_eligibility_judge(planner->rules != NULL ? planner->rules : usual, series);
}

/* Says of the volumes of a union which images of theirs were imported before and are in none of them. */
static void
tell_gone(const Planner *planner, const Group *group, const GPtrArray *volumes,
          GPtrArray *imported) {
  g_autoptr(GHashTable) here = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GStrvBuilder) gone = g_strv_builder_new();
  for (guint v = 0; v < volumes->len; v++) {
    const DemurSeries *series = volumes->pdata[v];
    for (size_t i = 0; i < series->n_slices + series->n_left_out; i++)
      g_hash_table_add(here,
                       slice_key(series->slices[i].sop_instance_uid, series->slices[i].frame));
  }
  for (guint k = 0; k < group->known->len; k++) {
    const Known *known = group->known->pdata[k];
    for (guint i = 0; known->unites && i < known->files->len; i++) {
      const DemurSeriesFile *file = known->files->pdata[i];
      g_autofree char *key = slice_key(file->sop_instance_uid, file->frame);
      if (!g_hash_table_contains(here, key) && g_hash_table_add(told, g_strdup(key)))
        g_strv_builder_add(gone, key);
    }
    for (char **key = known->gone; known->unites && *key != NULL; key++)
      if (!g_hash_table_contains(here, *key) && g_hash_table_add(told, g_strdup(*key)))
        g_strv_builder_add(gone, *key);
  }
  if (g_hash_table_size(told) == 0)
    return;
  g_auto(GStrv) keys = g_strv_builder_end(gone);
  for (guint v = 0; v < volumes->len; v++)
    ((DemurSeries *)volumes->pdata[v])->gone = g_strdupv(keys);
  judge(planner, imported);
}

/* Measures what came together with what is known anew. */
static gboolean
unite(Planner *planner, Group *group, const GArray *uniting, GError **error) {
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(file_free);
  DemurTask *task = planner->task;
  gather_paths(planner, group, uniting, files);
  g_auto(GStrv) paths = demur_meeting_paths(files);
  DemurImport *import =
      demur_import_run_known((const char *const *)paths, planner->rules, planner->files,
                             task->parallel, &task->progress, error);
  if (import == NULL)
    return FALSE;
  g_ptr_array_add(planner->meeting->imports, import);
  /* An archive holds more than what was asked for. */
  const DemurSeries *first = planner->import->series->pdata[g_array_index(uniting, guint, 0)];
  g_autoptr(GPtrArray) volumes = g_ptr_array_new();
  for (guint v = 0; v < import->series->len; v++)
    if (g_strcmp0(((DemurSeries *)import->series->pdata[v])->series_uid, first->series_uid) == 0)
      g_ptr_array_add(volumes, import->series->pdata[v]);
  tell_gone(planner, group, volumes, import->series);
  g_autoptr(GArray) places = g_array_new(FALSE, TRUE, sizeof(guint));
  g_array_set_size(places, volumes->len);
  name_union(planner, group, volumes, places);
  for (guint c = 0; c < uniting->len && volumes->len > 0; c++) {
    const guint i = g_array_index(uniting, guint, c);
    planner->meeting->arrival_of[i] =
        g_array_index(places, guint, find_place(planner->import->series->pdata[i], volumes));
  }
  return TRUE;
}

/* Whether slices of the known volume that did not come were taken from their places, or replaced there:
 * then it is not what it was. */
static gboolean
is_less_than_known(Planner *planner, const DemurSeries *came, Known *known, gboolean *less,
                   GError **error) {
  *less = FALSE;
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < came->n_slices; i++)
    g_hash_table_add(keys, slice_key(came->slices[i].sop_instance_uid, came->slices[i].frame));
  if (!look_at_places(planner, known, error))
    return FALSE;
  for (guint i = 0; i < known->files->len; i++) {
    const DemurSeriesFile *file = known->files->pdata[i];
    g_autofree char *key = slice_key(file->sop_instance_uid, file->frame);
    *less |= known->places[i] == DEMUR_PLACES_CHANGED && !g_hash_table_contains(keys, key);
  }
  return TRUE;
}

/* One series against all volumes of its UID: taken as known, kept apart, or put to those that
 * unite. */
static gboolean
meet_one(Planner *planner, guint i, Group *group, GArray *uniting, GError **error) {
  const DemurSeries *series = planner->import->series->pdata[i];
  const guint n = group->known->len;
  g_autofree Relation *relations = g_new(Relation, n);
  for (guint k = 0; k < n; k++) {
    Known *known = group->known->pdata[k];
    gboolean less = FALSE;
    relations[k] = relate(series, known);
    if (relations[k] == PART && !is_less_than_known(planner, series, known, &less, error))
      return FALSE;
    relations[k] = less ? MORE : relations[k];
  }
  for (Relation wanted = EQUAL; wanted <= PART; wanted++)
    for (guint k = 0; k < n; k++)
      if (relations[k] == wanted) {
        take_known(planner, i, group->known->pdata[k], wanted);
        return TRUE;
      }
  gboolean more = FALSE;
  for (guint k = 0; k < n; k++)
    if (relations[k] == MORE) {
      Known *known = group->known->pdata[k];
      known->unites = more = TRUE;
      if (!look_at_places(planner, known, error))
        return FALSE;
    }
  if (more)
    g_array_append_val(uniting, i);
  else
    keep_apart(planner, i, group, relations);
  return TRUE;
}

static gboolean
meet_group(Planner *planner, Group *group, GError **error) {
  g_autoptr(GArray) uniting = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint c = 0; c < group->came->len; c++) {
    const guint i = g_array_index(group->came, guint, c);
    if (group->known->len == 0)
      take_new(planner, i, group);
    else if (!meet_one(planner, i, group, uniting, error))
      return FALSE;
  }
  return uniting->len == 0 || unite(planner, group, uniting, error);
}

/* A volume as it is to stand: known and left alone, or one that arrives. */
typedef struct {
  DemurPerson person;
  const char *scan_id, *series_uid;
  guint arrival; /* place + 1; 0: known, and nothing of it came */
} Standing;

static DemurConflict
conflict_between(const DemurPerson *a, const DemurPerson *b) {
  return demur_person_compare_in_study(a, b) == DEMUR_PERSON_SAME ? DEMUR_CONFLICT_CONTENT
                                                                  : DEMUR_CONFLICT_PERSON;
}

/* The two contradict each other: both wait. */
static void
set_apart(Planner *planner, const Standing *one, const Standing *other) {
  const Standing *const both[] = {one, other};
  const DemurConflict conflict = conflict_between(&one->person, &other->person);
  for (int i = 0; i < 2; i++)
    if (both[i]->arrival == 0)
      g_hash_table_insert(planner->meeting->conflicts, g_strdup(both[i]->scan_id),
                          GINT_TO_POINTER(conflict));
    else if (arrival_at(planner, both[i]->arrival - 1)->conflict != DEMUR_CONFLICT_PERSON)
      arrival_at(planner, both[i]->arrival - 1)->conflict = conflict;
}

/* Whether it is as a person left it: of what they decided nothing begins anew. */
static gboolean
is_as_known(Planner *planner, const Standing *one) {
  if (one->arrival == 0)
    return TRUE;
  const DemurArrival *arrival = arrival_at(planner, one->arrival - 1);
  return arrival->keep_facts || arrival->is_known;
}

/* The record of a volume that holds one of the images; loaded once. NULL with error. */
static const DemurSeriesRecord *
holder_of(Planner *planner, GHashTable *records, const char *scan_id, GError **error) {
  DemurSeriesRecord *record = g_hash_table_lookup(records, scan_id);
  if (record != NULL)
    return record;
  record = demur_series_load(planner->task->workspace, scan_id, error);
  if (record == NULL)
    return NULL;
  g_ptr_array_add(planner->meeting->known, record);
  g_hash_table_insert(records, record->scan_id, record);
  return record;
}

/* An image is one object of one series: the same SOP Instance UID in two is a contradiction,
 * whatever it holds. Those of one SeriesInstanceUID have met already. */
static gboolean
find_shared_images(Planner *planner, GError **error) {
  const GPtrArray *known = planner->meeting->known;
  GArray *arrivals = planner->meeting->arrivals;
  g_autoptr(GHashTable) records = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) arriving = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) holder = g_hash_table_new(g_str_hash, g_str_equal); /* SOP UID -> place */
  g_autoptr(GArray) standing = g_array_new(FALSE, FALSE, sizeof(Standing));
  for (guint i = 0; i < known->len; i++)
    g_hash_table_insert(records, ((DemurSeriesRecord *)known->pdata[i])->scan_id, known->pdata[i]);
  for (guint i = 0; i < arrivals->len; i++) {
    const DemurArrival *arrival = arrival_at(planner, i);
    const Standing one = {demur_series_person_of(arrival->series), arrival->scan_id,
                          arrival->series->series_uid, i + 1};
    g_array_append_val(standing, one);
    g_hash_table_add(arriving, arrival->scan_id);
  }
  for (guint i = 0; i < arrivals->len; i++) {
    const Standing *mine = &g_array_index(standing, Standing, i);
    const DemurSeries *series = arrival_at(planner, i)->series;
    for (size_t k = 0; k < series->n_slices; k++) {
      const char *uid = series->slices[k].sop_instance_uid;
      if (uid == NULL)
        continue;
      const guint first = GPOINTER_TO_UINT(g_hash_table_lookup(holder, uid));
      if (first == 0)
        g_hash_table_insert(holder, (gpointer)uid, GUINT_TO_POINTER(i + 1));
      const Standing *other = &g_array_index(standing, Standing, first > 0 ? first - 1 : i);
      if (g_strcmp0(other->series_uid, mine->series_uid) != 0 &&
          !(is_as_known(planner, mine) && is_as_known(planner, other)))
        set_apart(planner, mine, other);
      if (is_as_known(planner, mine))
        continue;
      g_auto(GStrv) holders = demur_series_holding(planner->task->workspace, uid, error);
      if (holders == NULL)
        return FALSE;
      for (char **scan_id = holders; *scan_id != NULL; scan_id++) {
        if (g_hash_table_contains(arriving, *scan_id))
          continue;
        const DemurSeriesRecord *record = holder_of(planner, records, *scan_id, error);
        if (record == NULL)
          return FALSE;
        if (g_strcmp0(record->series_uid, mine->series_uid) == 0)
          continue;
        const Standing theirs = {demur_series_person(record), record->scan_id, record->series_uid,
                                 0};
        set_apart(planner, mine, &theirs);
      }
    }
  }
  return TRUE;
}

DemurMeeting *
demur_meeting_plan(DemurTask *task, const DemurImport *import, const DemurEligibility *rules,
                   const DemurKnownFiles *files, GError **error) {
  g_autoptr(DemurMeeting) meeting = g_new0(DemurMeeting, 1);
  meeting->arrivals = g_array_new(FALSE, TRUE, sizeof(DemurArrival));
  g_array_set_clear_func(meeting->arrivals, arrival_clear);
  meeting->arrival_of = g_new0(guint, MAX(import->series->len, 1));
  meeting->conflicts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  meeting->united = g_ptr_array_new_with_free_func(g_free);
  meeting->imports = g_ptr_array_new_with_free_func(import_free);
  meeting->known = g_ptr_array_new_with_free_func(record_free);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) groups =
      workspace != NULL ? find_groups(workspace, import, meeting->known, error) : NULL;
  if (groups == NULL)
    return NULL;
  g_autoptr(GHashTable) given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Planner planner = {task, import, rules, files, meeting, given, FALSE, NULL};
  for (guint g = 0; g < groups->len; g++)
    if (!meet_group(&planner, groups->pdata[g], error))
      return NULL;
  if (planner.failed != NULL) {
    g_propagate_error(error, planner.failed);
    return NULL;
  }
  if (!find_shared_images(&planner, error))
    return NULL;
  if (planner.judge_anew)
    judge(&planner, import->series);
  return g_steal_pointer(&meeting);
}
