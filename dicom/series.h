/* Series as they are assessed: what one study holds, grouped, split and measured from positions.
 *
 * A SeriesInstanceUID is split by person (base/person.h), image class, matrix and orientation, and where positions
 * repeat by acquisition, phase, kernel, tube voltage or image type. Slices are ordered by the dot
 * product of ImagePositionPatient with the slice normal, never by file name, InstanceNumber or
 * SliceLocation; spacing is measured along that normal (PS3.3 C.7.6.2.1.1). */
#pragma once

#include "dicom/files.h"
#include "dicom/rule-finding.h"
#include "base/person.h"
#include "base/vendor.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_SERIES_VOLUME, /* parallel slices at different positions */
  DEMUR_SERIES_STACK,  /* images without (different) positions: shown by InstanceNumber */
  DEMUR_SERIES_LOCALIZER,
  DEMUR_SERIES_SECONDARY, /* secondary capture: screen shots, text pages, dose reports as images */
  DEMUR_SERIES_DERIVED,
  DEMUR_SERIES_OTHER, /* not CT */
} DemurSeriesType;

/* "volume", "stack", "localizer", "secondary capture", "derived", "other". */
const char *demur_series_type_name(DemurSeriesType type);

typedef enum {
  DEMUR_SLICE_USED,
  DEMUR_SLICE_SAME_FILE,     /* the same bytes as another */
  DEMUR_SLICE_SAME_POSITION, /* another image lies there */
  DEMUR_SLICE_BROKEN,        /* its pixel data are truncated, absent or undecodable */
} DemurSliceState;

typedef struct {
  char *path;  /* of the file, or of the ZIP archive */
  char *entry; /* within the archive; NULL for a file */
  guint32 frame;
  char *sop_instance_uid; /* NULL where not recorded */
  char *transfer_syntax_uid;
  gint64 instance_number, acquisition_number; /* DEMUR_NO_NUMBER where not recorded */
  gboolean has_position;
  double position_mm[3];
  double distance_mm; /* along the normal; NaN without a position */
  double thickness_mm, slope,
      intercept; /* NaN thickness: unknown; slope 1 and intercept 0 where absent */
  double window_center, window_width; /* the file's own, in CT numbers; NaN where it has none */
  gboolean lossy;
  DemurSliceState state;
  char *problem;        /* in words; NULL where there is none */
  char *content_digest; /* dicom/content-digest.h; NULL where its pixels can't be read whole */
  char *pixel_digest;   /* of its pixels alone, hexadecimal; NULL likewise */
  char *stamp;          /* as of DemurFile */
  gboolean decodes;     /* it was decoded, now or earlier */
} DemurSlice;

/* What shows that a volume holds more than one acquisition or reconstruction. */
typedef enum {
  DEMUR_MIXED_VALUES, /* slices differ in what a volume has once */
  DEMUR_MIXED_TURNS,  /* values take turns along the volume, times go back and forth */
  DEMUR_MIXED_JUMP,   /* a time jumps, by seconds */
} DemurMixedKind;

typedef struct {
  guint attribute; /* index, dicom/attributes.h */
  DemurMixedKind kind;
  char *first, *other; /* values; NULL where not recorded */
  double seconds;      /* of a jump; else NaN */
} DemurMixed;

/* What decided between two series of a study. */
typedef enum {
  DEMUR_PREFERENCE_THINNER, /* slices */
  DEMUR_PREFERENCE_SOFTER,  /* kernel */
  DEMUR_PREFERENCE_MORE_SLICES,
  DEMUR_PREFERENCE_SERIES_NUMBER, /* the lower */
  DEMUR_PREFERENCE_SCAN_ID,       /* the lower */
  DEMUR_N_PREFERENCES,
} DemurPreference;

/* "thinner_slices", "softer_kernel" .. */
const char *demur_preference_name(DemurPreference preference);

typedef struct {
  char *scan_id;
  gboolean scan_id_from_digest; /* the series has no UID: made from the files' SHA-256 */
  char *series_uid, *study_uid, *frame_of_reference_uid;
  guint part;    /* 1, 2, ..: which volume of its SeriesInstanceUID */
  guint n_parts; /* 1 unless split */

  gboolean synthetic;   /* its images say that a program made them up (SyntheticData) */
  char *content_digest; /* of the used slices in order; NULL where one of them has none */

  /* Person and study: UTF-8, NULL where not recorded. Never logged. Whether two series are of the
   * same person is judged from issuer, ID, name, birth date and sex, not here. */
  char *patient_id, *patient_id_issuer, *patient_name, *patient_birth_date, *patient_sex;
  char *patient_age; /* as written: "069Y" */
  char *study_date, *acquisition_date, *description, *study_description, *protocol;
  gint64 series_number, acquisition_number;

  /* Kind. */
  char *modality, *sop_class_uid, *image_type, *body_part, *photometric, *patient_position;
  DemurSeriesType type;
  gboolean derived, localizer_label, multi_frame;
  char *transfer_syntax_uid; /* the first slice's; where lossy, the first lossy slice's */
  gboolean lossy;

  /* Acquisition facts; NaN, NULL or DEMUR_KERNEL_UNKNOWN where not recorded. */
  char *manufacturer, *manufacturer_raw; /* the first normalised, NULL where unknown */
  char *model, *model_family;            /* as recorded; family NULL where unknown */
  char *kernel, *kernel_family;
  DemurKernelClass kernel_class;
  double kvp, tube_current_ma, exposure_mas, fov_mm;
  char *unit;           /* of the values: "HU", or as RescaleType or ImageType tell it */
  char *unit_from;      /* what tells it, where it isn't HU: "RescaleType MGML" */
  char *mono_energetic; /* what tells of virtual mono-energetic images; NULL: nothing */
  char *spectral_words; /* words of a spectral map in the description, nothing else telling it */
  char *contrast_agent;
  char *institution, *station, *site; /* site: institution, else station */

  /* Geometry. NaN where not known. */
  guint16 rows, columns;
  double pixel_spacing_mm[2]; /* between rows, between columns */
  double orientation[6];      /* row cosines, then column cosines */
  double normal[3];
  double axial_angle_degrees; /* normal against the body axis */
  double spacing_mm;          /* nominal: the median gap along the normal */
  double smallest_gap_mm, largest_gap_mm;
  double extent_mm;    /* from the first slice's outer face to the last's */
  double thickness_mm; /* the largest, where they differ */
  double smallest_thickness_mm;
  char *thickness_text;    /* as written, where no number */
  double tilt_degrees;     /* of the stack against the normal; the tag's sign where it agrees */
  double tilt_tag_degrees; /* GantryDetectorTilt */
  size_t n_positions;      /* different ones */
  size_t n_missing;        /* slices that gaps of k x nominal leave out */
  size_t n_irregular;      /* other gaps off by more than the rule's share */
  double irregular_gap_mm; /* the first such gap */

  /* Slices: the used ones in order, then those left out. Where no slice can be read, all stand as
   * used, each with its problem, so that what is there can be seen. */
  size_t n_slices, n_left_out;
  DemurSlice *slices; /* [n_slices + n_left_out] */
  size_t n_same_file, n_same_position, n_broken;
  size_t n_without_position;
  size_t n_other_contents;  /* of n_same_position: with the kept image's SOPInstanceUID */
  size_t n_without_rescale; /* used slices without slope or intercept, or of slope 0 */
  size_t n_unseparated;     /* of n_same_position: other pixels, and nothing tells them apart */
  double sideways_mm;       /* how far a slice lies off its neighbour's line; NaN: no volume */
  size_t n_mixed;
  DemurMixed *mixed;            /* [n_mixed], in the order of dicom/attributes.h */
  size_t n_two_stacks;          /* other elements by which its slices are more than one stack */
  guint32 two_stacks_tag;       /* of the first of them */
  gboolean two_stacks_in_turns; /* its stacks lie between each other, else one behind the other */
  gboolean shared_sop_uids;     /* different images with one SOPInstanceUID */
  gboolean
      several_studies;   /* its slices name more than one StudyInstanceUID: the first's is kept */
  gboolean two_patients; /* its SeriesInstanceUID names more than one, or who it is can't be told */
  char *first_problem;   /* of the broken slices */
  size_t n_unreadable;   /* files that name this series but end before they say what they hold */
  char *unreadable_problem; /* of the first */
  size_t n_strays;          /* files in its folders that can't be read and may be of it */
  char *stray_problem;      /* of the first */
  size_t
      n_numbers_lacking; /* InstanceNumbers that so many of these may have; looked at beside strays only */
  char **gone; /* images that belong to it and were read before, "UID/frame"; NULL: none. Set by who
                  remembers them */
  size_t n_lone_siblings; /* of a study's images that each have a series UID, yet form a stack */

  /* The judgement: dicom/eligibility.h. */
  size_t n_findings;
  DemurRuleFinding *findings; /* [n_findings], in the order of the rules */
  gboolean eligible;          /* none of them refuses it */
  gboolean accepted;          /* eligible and chosen */
  char *preferred; /* of an eligible one not chosen: scan_id of the one that is, else NULL */
  DemurPreference preferred_by;
} DemurSeries;

void demur_series_free(DemurSeries *series);
/* Who it is of (borrowed). */
DemurPerson demur_series_person_of(const DemurSeries *series);
void demur_series_clear_findings(DemurSeries *series);

/* Whether the rule with the code was found broken. */
gboolean demur_series_found(const DemurSeries *series, const char *code);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSeries, demur_series_free)

/* Groups and measures the images of files: DemurSeries, sorted by study, series number, UID and
 * part. Eligibility is left to dicom/eligibility.h. gap_tolerance: the share of the nominal spacing
 * a gap may be off (0.1). Files are read again only to tell exact duplicates apart and to name
 * series without a UID. */
GPtrArray *demur_series_group(const DemurFiles *files, double gap_tolerance,
                              const DemurProgress *progress,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
