/* What Demur found, as objects for the archive: a structured report (Enhanced SR, TID 1500)
 * and a PDF in a DICOM envelope, in the study of the images they tell of. The same result gives the
 * same bytes: UIDs are made from what is in it, times are given. */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

#define DEMUR_RESULT_N_YEARS 6

/* Texts are UTF-8 and borrowed. */
typedef struct {
  const char *verdict, *verdict_meaning; /* a code and its meaning: "REDFLAG", "Red flag" */
  const char *const *reasons;            /* NULL-terminated; may be NULL */
  const char *outcome;                   /* that the risk is of, "stroke"; NULL: not known */
  double risk;                           /* NaN: not known, or held back */
  double risk_low, risk_high; /* how far it may be off at its hospital, 95 %; NaN likewise */
  double yearly_risks[DEMUR_RESULT_N_YEARS]; /* NaN likewise */
  double score, threshold, coverage;         /* NaN where there is none */
  const char *model, *model_version;         /* whose risks these are; NULL: not recorded */
  const char *selector, *selector_digest;    /* who gave the verdict */
  const char *version;                       /* of this program */
  double horizon_years;                      /* of the risk; 0: not recorded */
  const char *log_head;                      /* of the workspace's log; NULL: none */
  const char *created;                       /* of the verdict: "2026-01-31T12:00:00Z" */
  gboolean simulated;                        /* not of a person: said in the object */
  const char *remark; /* what a reader must know of this verdict; NULL: nothing */
  const char *predecessor_series_uid, *predecessor_uid; /* of the report before of the same scan;
                                                           NULL: there was none */
} DemurResult;

/* The UIDs that the report of result will have (owned): made from what it tells, its predecessor
 * left out. */
void demur_result_report_uids(const DemurResult *result, const DemurSeries *series,
                              char **series_uid, char **sop_instance_uid);

/* Writes the report that refers to every slice of series. Patient and study are read from its first
 * image. DEMUR_ERROR_INPUT where that can't be read or the file can't be written, DEMUR_ERROR_STATE
 * where the images lack the UIDs that a reference needs. */
gboolean demur_result_write_report(const DemurResult *result, const DemurSeries *series,
                                   const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What objects of such a result are called (owned): "Demur: stroke risk". outcome as above. */
char *demur_result_title(const char *outcome);

/* Writes pdf [length] in an Encapsulated PDF object of series' study. title: of the document.
 * created: as in DemurResult. */
gboolean demur_result_write_pdf(const void *pdf, size_t length, const char *title,
                                const char *created, const DemurSeries *series, const char *path,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A picture of a verdict: rgb [height][width][3], both at most 65535. */
typedef struct {
  const guint8 *rgb;
  guint width, height;
  const char *name;    /* of whose verdict, to make the same UIDs of the same picture */
  const char *created; /* as in DemurResult */
} DemurResultPicture;

/* Writes it as a Secondary Capture Image of series' study. Errors as above. */
gboolean demur_result_write_picture(const DemurResultPicture *picture, const DemurSeries *series,
                                    const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
