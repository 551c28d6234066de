/* Meta features of how a scan was made (method.md, "Meta features", last sentences): slice
 * thickness, slice spacing, tube voltage, field of view, tube current, kernel sharpness;
 * manufacturer, model group, contrast.
 *
 * Fitted on the training scans. A number becomes its standardised value, 0 where it is not
 * recorded, and an indicator "unknown" (1) beside it; a text becomes one 0/1 column for each value
 * that at least 1 % of the training scans have, all 0 for any other value and for "not recorded". A
 * column that would be the same in every training scan is left out: a network learns nothing from
 * it, and must not be moved by it later. Immutable once made. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "base/json-writer.h"

G_BEGIN_DECLS

/* What a column is about: five numbers, the kernel (by its sharpness: 0 soft, 1 standard, 2 sharp),
 * three texts. */
typedef enum {
  DEMUR_ACQUISITION_THICKNESS,
  DEMUR_ACQUISITION_SPACING,
  DEMUR_ACQUISITION_KVP,
  DEMUR_ACQUISITION_FOV,
  DEMUR_ACQUISITION_CURRENT,
  DEMUR_ACQUISITION_KERNEL,
  DEMUR_ACQUISITION_MANUFACTURER,
  DEMUR_ACQUISITION_MODEL,
  DEMUR_ACQUISITION_CONTRAST,
  DEMUR_N_ACQUISITION,
} DemurAcquisitionSubject;

#define DEMUR_N_ACQUISITION_NUMBERS 5 /* the first subjects; the others are texts */

/* The cohort's reserved column of a subject ("slice_thickness_mm", "model_name"), and what it is
 * called for people ("slice thickness"). */
const char *demur_acquisition_attribute(DemurAcquisitionSubject subject);
const char *demur_acquisition_title(DemurAcquisitionSubject subject);
/* " mm", " kV"; "" for a text. */
const char *demur_acquisition_unit(DemurAcquisitionSubject subject);
/* The subject of a reserved column; FALSE where it is none. */
gboolean demur_acquisition_find_subject(const char *attribute,
                                        DemurAcquisitionSubject *subject) G_GNUC_WARN_UNUSED_RESULT;

/* One scan. Texts as recorded (several spellings of a maker are one), borrowed, NULL or "" where
 * not recorded; numbers NaN where not recorded, which a number of 0 or less is too. */
typedef struct {
  double numbers[DEMUR_N_ACQUISITION_NUMBERS];
  const char *texts[DEMUR_N_ACQUISITION - DEMUR_N_ACQUISITION_NUMBERS]; /* from the kernel on */
} DemurAcquisitionScan;

/* A scan's number of a subject that is one, NaN where it is not recorded; its text of another one as
 * they are put in groups (a maker's, model's and agent's spellings are one), owned, NULL where it is
 * not recorded. */
double demur_acquisition_number(const DemurAcquisitionScan *scan, DemurAcquisitionSubject subject);
char *demur_acquisition_group(const DemurAcquisitionScan *scan, DemurAcquisitionSubject subject);

typedef struct DemurAcquisition DemurAcquisition;

/* Fits on scans [n], n >= 1. NULL with DEMUR_ERROR_STATE where nothing differs between them: there
 * would be no column. */
DemurAcquisition *demur_acquisition_fit(const DemurAcquisitionScan *scans, size_t n,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_acquisition_free(DemurAcquisition *acquisition);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcquisition, demur_acquisition_free)

/* The columns: how many (at least 1), their names ("slice_thickness_mm", "kvp_unknown",
 * "manufacturer=GE"; borrowed) and subjects. */
size_t demur_acquisition_width(const DemurAcquisition *acquisition);
const char *demur_acquisition_column_name(const DemurAcquisition *acquisition, size_t column);
DemurAcquisitionSubject demur_acquisition_column_subject(const DemurAcquisition *acquisition,
                                                         size_t column);
/* What a column holds. Of a subject the number comes before its "not recorded". */
typedef enum {
  DEMUR_ACQUISITION_NUMBER,
  DEMUR_ACQUISITION_UNKNOWN, /* 1: the number is not recorded */
  DEMUR_ACQUISITION_GROUP,   /* one of the 0/1 columns of a text */
} DemurAcquisitionColumnKind;

DemurAcquisitionColumnKind demur_acquisition_column_kind(const DemurAcquisition *acquisition,
                                                         size_t column);

/* The columns of one scan, out [width]. */
void demur_acquisition_columns(const DemurAcquisition *acquisition,
                               const DemurAcquisitionScan *scan, double *out);

/* One subject of a scan beside the training scans. */
typedef struct {
  gboolean recorded;
  double value, median, low, high; /* of a number, its own unit; low, high: 1st and 99th percentile
                                    * of the training scans; NaN where it was recorded in none */
  char *text;                      /* the value of a text; owned; NULL for a number */
  double share; /* of the training scans that have this text, or that don't record it either; NaN:
                 * fewer than have the most frequent texts, which alone are kept */
} DemurAcquisitionLook;

/* look->text is the caller's. */
void demur_acquisition_look(const DemurAcquisition *acquisition, DemurAcquisitionSubject subject,
                            const DemurAcquisitionScan *scan, DemurAcquisitionLook *look);

/* Members into an open object; read back with every size and number checked. */
void demur_acquisition_write_json(const DemurAcquisition *acquisition, DemurJson *json);
DemurAcquisition *demur_acquisition_read_json(JsonObject *object,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
