/* What one DICOM object says about itself: the facts that grouping, eligibility and decoding need,
 * read from its header alone. Pixel data are located and checked for completeness, never read. */
#pragma once

#include "dicom/attributes.h"
#include "dicom/root-elements.h"

G_BEGIN_DECLS

#define DEMUR_NO_NUMBER G_MININT64 /* an integer that is not recorded or unreadable */

/* Per frame of a multi-frame image (functional groups, PS3.3 C.7.6.16), or once for a plain one.
 * NaN where not recorded. */
typedef struct {
  double position_mm[3];      /* ImagePositionPatient */
  double orientation[6];      /* ImageOrientationPatient: row cosines, then column cosines */
  double pixel_spacing_mm[2]; /* between rows, between columns */
  double thickness_mm;
  double slope, intercept;
  double window_center, window_width; /* the first of the windows it is to be shown with */
  gint64 acquisition_number;
} DemurFrame;

/* What one frame says of itself; the last one of a frame and attribute counts. */
typedef struct {
  guint32 frame, attribute; /* attribute: index, dicom/attributes.h */
  char *text;
} DemurFrameAttribute;

/* One piece of compressed pixel data. */
typedef struct {
  guint64 offset;        /* of its bytes, in the source */
  guint32 length;        /* > 0 */
  gboolean begins_image; /* its bytes begin with the first marker of a JPEG or JPEG 2000 image */
} DemurFragment;

typedef enum {
  DEMUR_PIXELS_ABSENT,
  DEMUR_PIXELS_COMPLETE,
  DEMUR_PIXELS_TRUNCATED,   /* fewer bytes or fragments than the image needs */
  DEMUR_PIXELS_UNSUPPORTED, /* a layout or compression that is not read; pixels_problem says which
                             */
} DemurPixelState;

typedef struct {
  /* Texts are UTF-8, owned, NULL where absent or empty. */
  char *transfer_syntax_uid; /* of the file meta header; a file without one: what its bytes show */
  char *character_set;
  char *sop_class_uid, *sop_instance_uid; /* the meta header's where the data set has none */
  char *study_uid, *series_uid, *frame_of_reference_uid;
  char *patient_id, *patient_id_issuer, *patient_name, *patient_birth_date, *patient_sex;
  char *patient_age; /* (0010,1010) as written: "069Y" */
  char *study_date, *series_date, *acquisition_date, *content_date;
  char *modality, *image_type, *series_description, *study_description, *protocol;
  char *manufacturer, *model, *institution, *station, *body_part;
  char *kernel, *contrast_agent, *patient_position, *photometric, *lossy;
  char *synthetic;    /* (0008,001C) SyntheticData: "YES" where a program made the image up */
  char *rescale_type; /* (0028,1054); NULL: CT numbers where the modality is CT (PS3.3 C.8.2.1) */
  char *lut_type;     /* of a Modality LUT, by which stored values mean what they do; NULL: none */
  char
      *real_world_unit; /* of the Real World Value Mapping, none of whose units is HU; NULL: none */
  char *thickness_text; /* SliceThickness as written, where it is no number */
  gint64 series_number, acquisition_number, instance_number;
  double kvp, tube_current_ma, exposure_mas, fov_mm, collection_diameter_mm, tilt_tag_degrees;
  double spacing_between_mm;

  char *
      *attributes; /* [demur_slice_attributes_n()]: of the whole object; NULL where not recorded */
  DemurFrameAttribute *frame_attributes; /* [n_frame_attributes], in order of the frames */
  guint32 n_frame_attributes;
  DemurRootElements *root; /* the other elements of its root, as digests */

  guint16 rows, columns, samples, bits_allocated, bits_stored, high_bit;
  gboolean is_signed, planar;
  gboolean has_padding;
  guint16 padding, padding_limit; /* the 16 bits as written; the same where there is no limit */
  guint32 n_frames;
  DemurFrame shared;      /* of a plain image, or the shared functional groups */
  guint32 n_frame_groups; /* of the per-frame groups found, at most n_frames */
  DemurFrame *frames;     /* [n_frame_groups]; NULL where there are none */

  gboolean big_endian;
  gboolean explicit_vr;
  gboolean encapsulated;
  guint64 pixels_offset; /* of the value, in the source the header was read from */
  guint64 pixels_length; /* native: bytes recorded */
  guint64 table_offset;  /* encapsulated: of the offset table's value */
  guint32 table_length;  /* bytes; 0 where it is empty */
  guint32 n_fragments;
  DemurFragment *fragments; /* [n_fragments] in file order, empty ones left out; NULL: native */
  DemurPixelState pixels;
  char *pixels_problem; /* in words; NULL where complete */
} DemurHeader;

/* Reads the header of *source, with or without preamble and meta header. A deflated data set
 * replaces *source by its inflated bytes (which pixels_offset then counts in). NULL with
 * DEMUR_ERROR_INPUT where this is no DICOM object or it is damaged, DEMUR_ERROR_UNSUPPORTED where
 * it is one that can't be read. */
DemurHeader *demur_header_read(DemurSource **source, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_header_free(DemurHeader *header);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurHeader, demur_header_free)

/* Facts of frame i: its own, completed by the shared ones. */
DemurFrame demur_header_frame(const DemurHeader *header, guint32 i);

/* Of an object that demur_header_read refuses as damaged: the SeriesInstanceUID that stands before
 * the damage (owned); NULL where there is none. */
char *demur_header_series_of_damaged(DemurSource **source);

G_END_DECLS
