/* A phantom chest CT: lungs, heart, spine, ribs, vessels and a nodule, written as a DICOM series
 * that says it is simulated in SyntheticData (0008,001C), by which the program knows it again, and,
 * for people, in its description, comments, patient and model. Nothing in it was measured on a
 * person. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"

G_BEGIN_DECLS

typedef struct {
  guint64 seed;
  guint index;             /* of the study, from 1: its UIDs and noise */
  guint patient;           /* "PHANTOM-<patient>", whose anatomy it is; 0: index */
  guint n_slices;          /* >= 2; the chest is stretched over them */
  guint size;              /* rows and columns, 64 to 1024; the field of view is 360 mm */
  double spacing_mm;       /* between slices, the thickness too */
  double nodule_radius_mm; /* 0: none */
  const char *study_date;  /* YYYYMMDD */
  const char *maker, *model, *kernel;
  double kvp;
  double noise_hu;     /* standard deviation before the kernel */
  int sharpness;       /* of the kernel: -1 soft, 0 standard, 1 sharp */
  double tilt_degrees; /* of the gantry */
  double contrast_hu;  /* added to blood */
  double motion_mm;    /* how far the chest moved while a slice was taken */
} DemurPhantomOptions;

/* 96 slices of 256 x 256, 2.5 mm apart (240 mm: accepted without a warning), a nodule of 6 mm; a
 * standard kernel at 120 kVp without contrast, tilt or motion. Texts are borrowed. */
DemurPhantomOptions demur_phantom_defaults(guint64 seed);

/* Writes slice-001.dcm, .. into folder, which is made if need be. The same options give the same
 * bytes (UIDs from seed and index, fixed dates, noise from stream PHANTOM: slice, index).
 * series_uid: owned, may be NULL. DEMUR_ERROR_USAGE for options out of range, DEMUR_ERROR_INPUT
 * where a file can't be written. */
gboolean demur_phantom_write(const DemurPhantomOptions *options, const char *folder,
                             DemurParallel *parallel, const DemurProgress *progress,
                             char **series_uid, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
