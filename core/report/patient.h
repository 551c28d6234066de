/* One scan on one page: image, verdict, reasons, what the risk means, provenance; and a JSON of the
 * same numbers beside it.
 *
 * A risk that is held back is neither printed nor written: a number one is told not to use is used
 * all the same. Same input, same bytes. */
#pragma once

#include "base/translate.h"
#include "report/report.h"
#include "selector/verdict.h"

G_BEGIN_DECLS

#define DEMUR_PATIENT_FORMAT "demur-patient-1"
#define DEMUR_PATIENT_YEARS 6

/* What was drawn on an image: lines from place to place, or the ellipse in the box of two. */
typedef struct {
  gboolean ellipse;
  guint n_places;
  double x[3], y[3]; /* pixels, from the left upper edge of the first */
  const char *text;
} DemurPatientDrawing;

typedef struct {
  size_t width, height; /* pixels; 0: no image */
  const guint8 *grey;   /* [height][width], row by row, 0 black */
  double aspect;        /* height of a pixel / its width */
  const char *words;    /* below it: "slice 61 of 122, lung window"; NULL: nothing */
  size_t n_drawings;
  const DemurPatientDrawing *drawings;
} DemurPatientImage;

/* One measurement or key image of a reader. Numbers NaN: it has none. */
typedef struct {
  const char *kind; /* "length", "angle", "region", "key_image" */
  const char *what, *where;
  double value, sd, area_mm2;
  const char *unit; /* of value; may be NULL */
  const char *user, *created;
} DemurPatientDrawn;

/* What became of accepted scans with a risk near this one's, in a cohort whose outcomes are known.
 */
typedef struct {
  const char *cohort, *split; /* cohort NULL: none was given */
  gboolean simulated;
  size_t n_scans, n_accepted; /* of the split, by the same threshold */
  size_t n_near, n_positive;  /* accepted scans nearest in risk, and those with label 1 */
  double risk_low, risk_high; /* their risks */
  double mean_risk;           /* of the n_near */
  double low, high;           /* 95 % Wilson interval of n_positive / n_near */
} DemurPatientReference;

typedef struct {
  /* Of all texts below and of the page; NULL: English. The JSON is of an input in English. */
  const DemurLanguage *language;
  const char *scan_id, *patient_id;
  gboolean simulated;
  gboolean in_sample; /* this patient made the selector */
  DemurVerdict verdict;
  double risk, risk_raw; /* NaN: none; read only where the verdict is "accepted" */
  /* How far the risk may be off at its hospital, 95 %, and the sentence that says so; NaN and NULL:
   * not known. Read like the risk. */
  double interval_low, interval_high;
  const char *interval;
  gboolean kept;              /* in the workspace; else it was given for this page alone */
  DemurOutdated outdated;     /* why it no longer holds: then none of its numbers is read */
  const char *outdated_words; /* the same as a sentence that says what to do */
  const char *const *causes;  /* the same one by one, NULL-terminated; may be NULL */
  const char *assessed;       /* when it was given; NULL: now */
  double horizon_years;       /* of the risk; 0: not recorded */
  const char *risk_of;  /* "risk of lung cancer within 6 years"; NULL: of what is not recorded */
  const char *log_head; /* of the workspace's log; NULL: none */
  double yearly[DEMUR_PATIENT_YEARS]; /* NaN: not given */
  gboolean recalibrated;              /* risk is not risk_raw; yearly risks are as given */
  double score, threshold, coverage;  /* NaN: none */
  const char *const *reasons;         /* NULL-terminated; may be NULL */
  guint n_numbered; /* of those, from the first: the scan's own reasons; the rest are remarks */
  DemurPatientImage image;
  size_t n_keys, n_drawn;
  const DemurPatientImage *keys; /* key images */
  const DemurPatientDrawn
      *drawn; /* all that readers drew on these images; never part of a verdict */
  size_t n_facts;
  const DemurReportPair *facts; /* of the scan: "Scanner", "Slices" .. (keys in English) */
  DemurPatientReference reference;
  const char *outcome; /* "developed cancer within 6 years"; NULL: "had the outcome (label
                          1)" */
  DemurReportSelector selector;
  const char *federated; /* what of the selector comes from sums of several sites; NULL: nothing */
  DemurReportThreshold tuned; /* of threshold; cohort NULL: not tuned */
  DemurReportValidation validation;
  DemurReportRequest request; /* to make it again; n_selectors 0: not given */
  const char *created;        /* from stored dates; NULL: undated */
  const char *version;
  DemurPaper paper;
} DemurPatientInput;

/* As demur_report_write, for one scan. page: the same scan in the language of the page; NULL: it is
 * in English, as the JSON always is. */
gboolean demur_patient_write(const DemurPatientInput *input, const DemurPatientInput *page,
                             const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *demur_patient_json(const DemurPatientInput *input);
guchar *demur_patient_pdf(const DemurPatientInput *input, const char *json, size_t *n,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of the input's language; NULL: English. */
DemurTranslate demur_patient_translate(const DemurPatientInput *input);

/* What the verdict says, in one sentence, and what the risk means (owned). */
char *demur_patient_headline(const DemurPatientInput *input);
char *demur_patient_meaning(const DemurPatientInput *input);

G_END_DECLS
