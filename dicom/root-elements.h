/* What stands at the root of a data set, element by element, as digests: enough to say in which
 * elements the slices of a stack differ, and in what pattern, without keeping their values. Left out
 * are pixel data, what dicom/attributes.h keeps as text and what dicom/free-elements.h lets vary.
 *
 * The digest is of 64 bits, of the value without the blanks and zero bytes that fill it up; of more
 * than 64 KiB of the first 64 and the length; of a sequence without length of the elements in it.
 * Equal values have equal digests where they are written in one way, which is told beside it: an
 * archive may have written half of a series anew. No attack is thought of, as whoever can choose an
 * element can also write the same one twice.
 *
 * Memory: of the images that are read as one scan each keeps 16 bytes for each element in which it
 * differs from the first image of its SeriesInstanceUID, and no more. */
#pragma once

#include "dicom/elements.h"

G_BEGIN_DECLS

#define DEMUR_ROOT_ABSENT 0u /* digest of an element that is not there, or is empty */

typedef enum {
  DEMUR_ROOT_VALUE,         /* bytes that are the same in explicit and implicit data sets */
  DEMUR_ROOT_BIG_ENDIAN,    /* whose order is the other one */
  DEMUR_ROOT_OPEN_SEQUENCE, /* without a length: its digest is of what is in it */
  DEMUR_ROOT_EXPLICIT_SEQUENCE,
  DEMUR_ROOT_IMPLICIT_SEQUENCE,
  DEMUR_N_ROOT_WRITINGS,
} DemurRootWriting;

typedef struct {
  guint32 tag;
  float number;   /* of one decimal or floating point number; NaN: the value is something else */
  guint64 digest; /* DEMUR_ROOT_ABSENT, or of the value */
} DemurRootElement;

/* How the element, which is not absent, is written: digests of different writings say nothing of each
 * other. It stands in the digest. */
DemurRootWriting demur_root_element_writing(const DemurRootElement *element);

/* Of one data set; immutable once it is ended, then shared by images. */
typedef struct DemurRootElements DemurRootElements;

/* While the data set is walked: each root element and each element inside one. Elements behind the
 * first 4,096 share one digest, under the tag of the last. */
typedef struct DemurRootReading DemurRootReading;
DemurRootReading *demur_root_reading_new(DemurSource *source);
void demur_root_reading_take(DemurRootReading *reading, const DemurElement *element);
/* Takes the reading (NULL: gives none). */
DemurRootElements *demur_root_reading_end(DemurRootReading *reading) G_GNUC_WARN_UNUSED_RESULT;
void demur_root_reading_free(DemurRootReading *reading);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRootReading, demur_root_reading_free)

/* What differs from base, which it keeps a reference to; takes elements. Two of one base are
 * compared by their differences. */
DemurRootElements *demur_root_elements_against(DemurRootElements *elements,
                                               DemurRootElements *base) G_GNUC_WARN_UNUSED_RESULT;

/* Whether both stand against one base, or one is the other's. */
gboolean demur_root_elements_share(const DemurRootElements *a, const DemurRootElements *b);

/* Those in which it differs from its base, in order of their tags; none where it is a base. */
const DemurRootElement *demur_root_elements_differing(const DemurRootElements *elements, guint *n);

/* The element of its base; digest DEMUR_ROOT_ABSENT where that has none. */
DemurRootElement demur_root_elements_base(const DemurRootElements *elements, guint32 tag);

DemurRootElements *demur_root_elements_ref(DemurRootElements *elements);
void demur_root_elements_unref(DemurRootElements *elements);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRootElements, demur_root_elements_unref)

G_END_DECLS
