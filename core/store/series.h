/* DICOM series in the workspace, as plain records: this room knows no DICOM and dicom/ no database.
 */
#pragma once

#include "base/person.h"
#include "store/workspace.h"

G_BEGIN_DECLS

/* SAFETY: how a volume contradicts another one. */
typedef enum {
  DEMUR_CONFLICT_NONE,
  DEMUR_CONFLICT_PERSON,  /* the same images of another person */
  DEMUR_CONFLICT_CONTENT, /* the same UIDs with other content, or in another series */
} DemurConflict;

/* As DemurSeriesRecord.conflict has it ("person", "content"; NULL: none), and back. */
const char *demur_conflict_name(DemurConflict conflict);
DemurConflict demur_conflict_of_name(const char *name);

/* One volume. Text NULL and numbers NaN: not recorded. */
typedef struct {
  char *scan_id; /* SeriesInstanceUID, with #2, #3 .. where a series is split */
  char *series_uid, *study_uid;
  char *patient_id, *patient_name; /* UTF-8 */
  char *study_date;
  char *modality, *type;
  gboolean accepted; /* eligible and chosen for assessment */
  gboolean eligible;
  char *images_digest; /* of what its images hold (dicom/content-digest.h); NULL: not known */
  char *person_digest; /* base/person.h; set when loaded, not read when saved */
  char *issuer, *birth_date, *sex; /* of the patient */
  gboolean simulated;              /* made by a program, as its images say */
  char *conflict;                  /* SAFETY: "person" or "content" of another volume; NULL: none */
  char *reason; /* why it is not accepted: an array of reasons (selector/reason.h), or the
                                    * sentence of an older program; NULL where it is */
  size_t n_slices;
  double spacing_mm, thickness_mm, tilt_degrees;
  char *manufacturer, *manufacturer_raw, *model_name, *kernel; /* manufacturer: normalised */
  double kvp;
  char *contrast;
  double fov_mm, tube_current_ma;
  char *site;
  char *facts_json;    /* everything else, a JSON object; NULL where there is nothing */
  char *warnings_json; /* array of reasons, of an older program of sentences; NULL: none */
  char *created;       /* when first imported (kept when imported again) */
  char *updated;       /* when last imported */
  DemurPlaces places;  /* as they were looked at (tasks/images.h); not kept */
} DemurSeriesRecord;

/* One slice, or one frame of a multi-frame object. */
typedef struct {
  char *path;
  guint frame; /* 0 in single-frame files */
  char *sop_instance_uid;
  double position_mm;    /* along the normal; NaN where not recorded */
  char *digest;          /* of the slice's content; NULL: not known */
  gint64 size, modified; /* of the file as it was read: bytes, and its time in microseconds; 0: not
                          * known */
  char *stamp;           /* base/file-stamp.h; NULL: none was kept */
  char *pixel_digest;    /* of the slice's pixels alone; NULL: not known */
  gboolean decodes;      /* it was decoded */
} DemurSeriesFile;

void demur_series_record_free(DemurSeriesRecord *record);
void demur_series_file_free(DemurSeriesFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSeriesRecord, demur_series_record_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSeriesFile, demur_series_file_free)

/* What to save of one volume; files in slice order. Borrowed. */
typedef struct {
  const DemurSeriesRecord *record;
  const DemurSeriesFile *files;
  size_t n_files;
} DemurSeriesSave;

/* Saves all or none. A scan_id already there gets the new facts and files; its scores and verdicts
 * stay. */
gboolean demur_series_save(DemurWorkspace *workspace, const DemurSeriesSave *series,
                           size_t n_series, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where the files of a known volume lie now; its facts stay. DEMUR_ERROR_NOT_FOUND. */
gboolean demur_series_save_files(DemurWorkspace *workspace, const DemurSeriesSave *series,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets what is assessed: the facts stay. reason: as DemurSeriesRecord.reason. DEMUR_ERROR_NOT_FOUND. */
gboolean demur_series_set_accepted(DemurWorkspace *workspace, const char *scan_id,
                                   gboolean accepted, const char *reason,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Who it is of (borrowed). */
DemurPerson demur_series_person(const DemurSeriesRecord *record);
/* What its last event must say (owned). */
char *demur_series_digest(const DemurSeriesRecord *record);

/* Keeps that the series waits for a person's decision ("person", "content"), or, NULL, that it no
 * longer does. details: a JSON object for the log, may be NULL. DEMUR_ERROR_NOT_FOUND. */
gboolean demur_series_set_conflict(DemurWorkspace *workspace, const char *scan_id,
                                   const char *conflict, const char *details,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The series is of this person: issuer, ID, name, birth date and sex are taken over. */
gboolean demur_series_correct(DemurWorkspace *workspace, const char *scan_id,
                              const DemurSeriesRecord *person, const char *details,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Takes it out with its files and scores; verdicts and reviews stay in the history and hold no
 * longer. */
gboolean demur_series_remove(DemurWorkspace *workspace, const char *scan_id, const char *details,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the workspace holds of one series: what is taken out with it, and what stays of it in the
 * history. */
typedef struct {
  gint64 n_images, n_scores;             /* slices, and scores of any model */
  gint64 n_verdicts, n_reviews, n_drawn; /* of any time; drawn: measurements and key images, taken
                                          * off or not */
} DemurSeriesExtent;

/* DEMUR_ERROR_NOT_FOUND. */
gboolean demur_series_extent(DemurWorkspace *workspace, const char *scan_id,
                             DemurSeriesExtent *extent, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurSeriesRecord, by patient_id, study_date, scan_id (owned, frees its elements). */
GPtrArray *demur_series_list(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum {
  DEMUR_SERIES_OF_SCAN,
  DEMUR_SERIES_OF_UID, /* SeriesInstanceUID */
  DEMUR_SERIES_OF_STUDY,
} DemurSeriesKey;

/* Those of one scan_id, series or study, in the same order: none, one or more. Each is found by an
 * index, whatever else the workspace holds. */
GPtrArray *demur_series_find(DemurWorkspace *workspace, DemurSeriesKey key, const char *value,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* NULL with DEMUR_ERROR_NOT_FOUND. */
DemurSeriesRecord *demur_series_load(DemurWorkspace *workspace, const char *scan_id,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scan_ids of the volumes of that SeriesInstanceUID (strv, owned): none, one, or more where it is
 * ambiguous. */
char **demur_series_find_uid(DemurWorkspace *workspace, const char *series_uid,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scan_ids of the volumes that hold an image of that SOPInstanceUID (strv, owned), in order. */
char **demur_series_holding(DemurWorkspace *workspace, const char *sop_instance_uid,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether two volumes hold an image of the same SOPInstanceUID: 1 or 0; -1 with error. */
int demur_series_share_images(DemurWorkspace *workspace, const char *scan_id, const char *other,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurSeriesFile in slice order; DEMUR_ERROR_NOT_FOUND where there is no such scan. */
GPtrArray *demur_series_files(DemurWorkspace *workspace, const char *scan_id,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The slices that were read from one place, of whatever volumes, by frame: an array as of
 * demur_series_files, empty where nothing was. */
GPtrArray *demur_series_files_at(DemurWorkspace *workspace, const char *path,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
