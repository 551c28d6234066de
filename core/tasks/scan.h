/* The scans of a workspace with their newest verdicts: plain values, read once by a worker and
 * immutable from then on, but for reviews and for what finds a scan (demur_scan_table_link). What
 * every view shows comes from here. */
#pragma once

#include "base/progress.h"
#include "cohort/cohort.h" /* DEMUR_N_YEARS */
#include "selector/reason.h"
#include "selector/verdict.h"
#include "store/reviews.h" /* DemurReviewKind */

G_BEGIN_DECLS

/* What a scan shows: its verdict where that holds (the first ones are DemurVerdict), that it no
 * longer does, or that it never had one. */
typedef enum {
  DEMUR_SHOWN_ACCEPTED = DEMUR_VERDICT_ACCEPTED,
  DEMUR_SHOWN_RED_FLAG = DEMUR_VERDICT_RED_FLAG,
  DEMUR_SHOWN_NOT_ELIGIBLE = DEMUR_VERDICT_NOT_ELIGIBLE,
  DEMUR_SHOWN_NO_SCORE = DEMUR_VERDICT_NO_SCORE,
  DEMUR_SHOWN_NOT_TUNED = DEMUR_VERDICT_NOT_TUNED,
  DEMUR_SHOWN_FAILED = DEMUR_VERDICT_FAILED,
  DEMUR_SHOWN_OUT_OF_DATE = DEMUR_N_VERDICTS,
  DEMUR_SHOWN_NOT_ASSESSED,
  DEMUR_N_SHOWN,
} DemurShown;

/* What a verdict shows, as things are now. */
DemurShown demur_shown_of_verdict(DemurVerdict verdict, DemurOutdated why);

/* Text is owned by the table; "" is "not recorded", NULL only where said. Numbers NaN: not known.
 */
typedef struct {
  const char *scan_id;
  const char *source; /* NULL: a DICOM series; else the cohort's name */
  const char *split;  /* of the cohort; "" for a DICOM series */
  const char *patient_id, *patient_name, *issuer, *birth_date; /* base/person.h */
  int age;                                                     /* 0: not recorded */
  const char *sex;
  const char *date; /* "2024-03-11"; a cohort's screen: "T1" */
  const char *site, *manufacturer, *model_name, *kernel;
  const char *scanner; /* "SIEMENS Definition AS · B30f" */
  const char *study_uid, *series_uid, *description, *type, *contrast;
  int series_number; /* -1: not recorded */
  gboolean simulated, eligible, chosen, lossy;
  gboolean waits; /* SAFETY: it contradicts another series, until a person decides */
  /* A person chose this series against the rules: the reason, and what the rules said. NULL: no. */
  const char *overrule, *overruled; /* overruled: as set_aside, "" where the rules accepted it */
  const char *set_aside; /* why it is not assessed, as DemurReason are kept; NULL where it is */
  size_t n_slices;
  double spacing_mm, thickness_mm, kvp;

  DemurShown shown;
  gint64 verdict_id; /* 0: none */
  /* The risk where it may be shown: NaN when it is held back. The other one must not reach a
   * widget, a label or an accessible text but by demur_scan_revealed_risk. */
  double risk;
  double withheld_risk;
  /* How far that risk may be off at its hospital, 95 %; NaN: not known. By
   * demur_scan_told_interval only. */
  double interval_low, interval_high;
  gboolean audited; /* by its site's audit */
  double yearly_risks[DEMUR_N_YEARS];
  double score, threshold, coverage;
  double horizon_years; /* of the risk; NaN: not recorded */
  const char *selector, *selector_digest, *model, *assessed;
  const char *outcome;    /* what the risk is of: "lung cancer"; "": not known, or there is none */
  DemurOutdated outdated; /* why the verdict no longer holds; DEMUR_CURRENT: it does */
  const char *reasons;    /* as the verdict keeps them (selector/reason.h); NULL: none */
  const char *lead;       /* the first one's kind and subject, to sort by */
  const char *warnings;   /* of the DICOM series, as it keeps them (demur_dicom_warning_words) */
} DemurScan;

/* What was said of the verdict that holds: of one that is out of date nothing counts any more. */
typedef struct {
  gint64 n_reviews;        /* opinions and comments, not reveals */
  DemurReviewKind opinion; /* of the newest one, where there is any */
  gboolean revealed;
  gboolean has_history; /* anything was ever said of the scan, whatever its verdict was then */
} DemurScanReview;

/* The selector in use, the newest that is tuned (else the newest): the status line. */
typedef struct {
  char *selector, *digest, *model, *cohort; /* cohort: the one it was trained on */
  double coverage, threshold;               /* NaN: not tuned */
} DemurInUse;

/* Rows that share a text, each leading to the next: row + 1, 0 at the end. */
typedef struct {
  GHashTable *first; /* text -> row + 1 */
  guint32 *next;     /* [n_scans] */
} DemurScanChain;

typedef struct {
  char *path;
  gboolean simulated; /* any scan or cohort is */
  gboolean read_only;
  gboolean keeps_openings; /* who opened which patient (tasks/history.h) */
  gint64
      last_event; /* that it was read behind, at least (store/events.h, of changes); main thread only */
  gboolean is_new; /* there was no such file: it was made */
  size_t n_scans;
  DemurScan *scans;         /* [n_scans], of base/memory.h */
  DemurScanReview *reviews; /* [n_scans]; main thread only */
  char **cohorts;           /* names of every cohort */
  char ***splits;           /* [cohorts] names of its splits */
  char **selectors;         /* names of every selector, the newest first */
  char **families;          /* [selectors] the family that it is a horizon of; "": none */
  double *selector_years;   /* [selectors] of its risk; 0: not recorded */
  char **models;            /* that have DICOM scores */
  DemurInUse in_use;
  /* private */
  GStringChunk *texts;
  GPtrArray *blocks;
  DemurScanChain of_patient, of_study;
  GHashTable *index; /* scans, by source and scan_id */
  gint ref_count;
} DemurScanTable;

/* Empty, for whoever fills it: path, scans, reviews, names. */
DemurScanTable *demur_scan_table_new(void);

/* Reads everything: DICOM series with their newest verdicts, and each cohort's assessed scans. A
 * file that may only be read is read, and read_only says so. */
DemurScanTable *demur_scan_table_load(const char *path, gboolean may_create,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurScanTable *demur_scan_table_ref(DemurScanTable *table);
void demur_scan_table_unref(DemurScanTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScanTable, demur_scan_table_unref)

/* Makes the scans findable by ID, patient and study, once they stand and unless it was done.
 * Whoever looks for a scan first does it by itself; a hundred thousand take some 20 ms, so a window
 * does it when there is nothing else to do. Not from two threads at once. */
void demur_scan_table_link(DemurScanTable *table);

/* What lies at the places of its images is not what was imported: nothing of its verdict holds.
 * Main thread only. */
void demur_scan_table_images_changed(DemurScanTable *table, size_t row);

/* Row of a scan, -1 where there is none. */
gssize demur_scan_table_find(const DemurScanTable *table, const char *source, const char *scan_id);

/* Rows of the same patient in the same source, newest first (owned, n set). Only series that may
 * be assessed: of one study the chosen one. */
guint32 *demur_scan_table_of_patient(const DemurScanTable *table, size_t row, size_t *n);

/* Of other scans of the same source under the row's PatientID: how many are of another person, and of
 * how many that can't be told. Both are none of that person's scans, but whoever looks for them should
 * know of them. Of a blank ID none is counted. */
void demur_scan_table_namesakes(const DemurScanTable *table, size_t row, size_t *n_others,
                                size_t *n_untold);

/* Whether a was made on an earlier day than b; FALSE where either day is not known. */
gboolean demur_scan_is_earlier(const DemurScan *a, const DemurScan *b);

/* Rows of the same study, by series number (owned, n set). */
guint32 *demur_scan_table_of_study(const DemurScanTable *table, size_t row, size_t *n);

/* What leads the table's scan on to a verdict that holds and tells more: done, it is shown otherwise.
 * DEMUR_REMEDY_NONE where it has one, or nothing would. */
DemurRemedy demur_scan_remedy(const DemurScanTable *table, const DemurScan *scan);

/* The held-back risk, for a reader who deliberately asked for it; NaN where there is none. */
double demur_scan_revealed_risk(const DemurScan *scan);

/* How far the risk may be off at its hospital, where the risk is told: shown, or (revealed) asked
 * for. FALSE: it is not, or nothing is known. */
gboolean demur_scan_told_interval(const DemurScan *scan, gboolean revealed, double *low,
                                  double *high);

/* What may be told of why, most important first (owned, of selector/reason.h): while the risk is
 * held back, without the reasons that tell it by another name; nothing where the verdict is out of
 * date. */
GPtrArray *demur_scan_told_reasons(const DemurScan *scan, gboolean revealed);

G_END_DECLS
