#include "dicom/root-elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dicom/attributes.h"
#include "dicom/free-elements.h"

#define MAX_ELEMENTS 4096
#define MAX_VALUE_BYTES 65536
#define PIXEL_GROUP 0x7FE0u

struct DemurRootElements {
  gatomicrefcount n_references;
  DemurRootElements *base; /* NULL: it is one */
  guint n;
  DemurRootElement elements[];
};

typedef struct {
  guint32 block; /* group and block: gggg00bb */
  DemurPrivateCreator creator;
} Block;

struct DemurRootReading {
  DemurSource *source;
  GArray *elements; /* DemurRootElement, as they come */
  GArray *blocks;   /* Block */
  gboolean inside;  /* the elements inside the last one belong to its digest */
  gboolean in_order;
};

/* FNV-1a over 8 bytes at a time, each spread by a multiplication and a shift. */
static guint64
mix(guint64 digest, guint64 word) {
  digest = (digest ^ word) * G_GUINT64_CONSTANT(0x9E3779B97F4A7C15);
  return digest ^ (digest >> 29);
}

static guint64
digest_of(guint64 digest, const guint8 *bytes, size_t length) {
  for (; length >= 8; bytes += 8, length -= 8) {
    guint64 word;
    memcpy(&word, bytes, sizeof word);
    digest = mix(digest, GUINT64_FROM_LE(word));
  }
  guint64 rest = length; /* how many, so that zero bytes count */
  for (size_t i = 0; i < length; i++)
    rest = (rest << 8) | bytes[i];
  return mix(digest, rest);
}

#define WRITING_BITS 7u /* of a digest: the writing, and one more so that none is 0 */

static guint64
marked(guint64 digest, DemurRootWriting writing) {
  return (digest & ~(guint64)WRITING_BITS) | ((guint64)writing + 1);
}

DemurRootWriting
demur_root_element_writing(const DemurRootElement *element) {
  return (DemurRootWriting)((element->digest & WRITING_BITS) - 1);
}

/* Of a value that may have been measured: DS, FL, FD, or a text with a point where no VR is
 * written. */
static float
number_of(const DemurElement *element, const guint8 *bytes, size_t length) {
  double value;
  if (element->vr == DEMUR_VR_FD && length == 8)
    value = demur_elements_f64(bytes, element->big_endian);
  else if (element->vr == DEMUR_VR_FL && length == 4)
    value = demur_elements_f32(bytes, element->big_endian);
  else if (!((element->vr == DEMUR_VR_DS ||
              (element->vr == DEMUR_VR_NONE && memchr(bytes, '.', length) != NULL)) &&
             length <= 32 && demur_number_parse((const char *)bytes, length, &value)))
    return NAN;
  return (float)value;
}

/* An implicit data set does not say what is a text. What is nothing but blanks or zeros stays: a
 * number. */
static size_t
without_padding(const guint8 *bytes, size_t length) {
  size_t left = length;
  while (left > 0 && (bytes[left - 1] == ' ' || bytes[left - 1] == '\0'))
    left--;
  return left > 0 ? left : length;
}

/* An implicit sequence begins with an item. */
static gboolean
begins_with_item(const DemurElement *element, const guint8 *bytes, size_t length) {
  return length >= 8 && demur_elements_u16(bytes, element->big_endian) == 0xFFFE &&
         demur_elements_u16(bytes + 2, element->big_endian) == 0xE000;
}

static DemurRootWriting
writing_of(const DemurElement *element, const guint8 *bytes, size_t length) {
  if (element->vr == DEMUR_VR_SQ)
    return DEMUR_ROOT_EXPLICIT_SEQUENCE;
  if ((element->vr == DEMUR_VR_NONE || element->vr == DEMUR_VR_UN) &&
      begins_with_item(element, bytes, length))
    return DEMUR_ROOT_IMPLICIT_SEQUENCE;
  return element->big_endian ? DEMUR_ROOT_BIG_ENDIAN : DEMUR_ROOT_VALUE;
}

DemurRootReading *
demur_root_reading_new(DemurSource *source) {
  DemurRootReading *reading = g_new0(DemurRootReading, 1);
  reading->source = source;
  reading->elements = g_array_new(FALSE, FALSE, sizeof(DemurRootElement));
  reading->blocks = g_array_new(FALSE, FALSE, sizeof(Block));
  reading->in_order = TRUE;
  return reading;
}

void
demur_root_reading_free(DemurRootReading *reading) {
  if (reading == NULL)
    return;
  g_array_unref(reading->elements);
  g_array_unref(reading->blocks);
  g_free(reading);
}

static DemurPrivateCreator
creator_of(const DemurRootReading *reading, guint32 tag) {
  const guint32 block = (tag & 0xFFFF0000u) | ((tag >> 8) & 0xFFu);
  for (guint i = 0; (tag & 0x10000u) != 0 && i < reading->blocks->len; i++)
    if (g_array_index(reading->blocks, Block, i).block == block)
      return g_array_index(reading->blocks, Block, i).creator;
  return DEMUR_CREATOR_UNKNOWN;
}

static void
note_creator(DemurRootReading *reading, const DemurElement *element, const guint8 *bytes,
             size_t length) {
  const guint32 low = element->tag & 0xFFFFu;
  if ((element->tag & 0x10000u) == 0 || low < 0x10 || low > 0xFF)
    return;
  const Block block = {element->tag, demur_private_creator_find(bytes, length)};
  if (block.creator != DEMUR_CREATOR_UNKNOWN && reading->blocks->len < DEMUR_N_CREATORS * 4)
    g_array_append_val(reading->blocks, block);
}

static void
add(DemurRootReading *reading, const DemurRootElement *element) {
  DemurRootElement *last =
      reading->elements->len > 0
          ? &g_array_index(reading->elements, DemurRootElement, reading->elements->len - 1)
          : NULL;
  if (reading->elements->len < MAX_ELEMENTS) {
    reading->in_order = reading->in_order && (last == NULL || last->tag < element->tag);
    g_array_append_vals(reading->elements, element, 1);
    return;
  }
  last->digest = marked(mix(mix(last->digest, element->tag), element->digest),
                        demur_root_element_writing(last));
  last->number = NAN;
}

static void
take_inside(DemurRootReading *reading, const DemurElement *element) {
  if (!reading->inside)
    return;
  DemurRootElement *root =
      &g_array_index(reading->elements, DemurRootElement, reading->elements->len - 1);
  guint64 digest = mix(mix(root->digest, element->tag),
                       ((guint64)element->depth << 32) ^ element->parents[element->depth - 1].item);
  if (element->length != DEMUR_ELEMENTS_UNDEFINED) {
    const size_t held = MIN(element->length, MAX_VALUE_BYTES);
    const guint8 *bytes = demur_source_peek(reading->source, element->offset, held);
    if (bytes != NULL)
      digest = digest_of(held < element->length ? digest ^ element->length : digest, bytes,
                         without_padding(bytes, held));
  }
  root->digest = marked(digest, DEMUR_ROOT_OPEN_SEQUENCE);
}

void
demur_root_reading_take(DemurRootReading *reading, const DemurElement *element) {
  if (element->depth > 0) {
    take_inside(reading, element);
    return;
  }
  reading->inside = FALSE;
  if (element->tag >> 16 == PIXEL_GROUP || element->length == 0 ||
      demur_slice_attribute_find(element->tag) >= 0 ||
      demur_element_freedom(element->tag, creator_of(reading, element->tag)) == DEMUR_ELEMENT_FREE)
    return;
  DemurRootElement root = {element->tag, NAN, marked(0, DEMUR_ROOT_OPEN_SEQUENCE)};
  if (element->length == DEMUR_ELEMENTS_UNDEFINED) {
    reading->inside = TRUE;
    add(reading, &root);
    return;
  }
  const size_t held = MIN(element->length, MAX_VALUE_BYTES);
  const guint8 *bytes = demur_source_peek(reading->source, element->offset, held);
  if (bytes == NULL)
    return; /* the walk says that it is cut off */
  const size_t length = without_padding(bytes, held);
  note_creator(reading, element, bytes, length);
  root.number = number_of(element, bytes, length);
  root.digest = marked(digest_of(held < element->length ? element->length : 0, bytes, length),
                       writing_of(element, bytes, held));
  add(reading, &root);
}

static int
compare_tags(gconstpointer a, gconstpointer b) {
  const guint32 x = ((const DemurRootElement *)a)->tag, y = ((const DemurRootElement *)b)->tag;
  return x < y ? -1 : x > y;
}

static DemurRootElements *
elements_new(const DemurRootElement *elements, guint n, DemurRootElements *base) {
  DemurRootElements *made = g_malloc(sizeof *made + n * sizeof *elements);
  g_atomic_ref_count_init(&made->n_references);
  made->base = base;
  made->n = n;
  if (n > 0)
    memcpy(made->elements, elements, n * sizeof *elements);
  return made;
}

DemurRootElements *
demur_root_reading_end(DemurRootReading *reading) {
  if (reading == NULL)
    return NULL;
  GArray *elements = reading->elements;
  DemurRootElement *at = (DemurRootElement *)(void *)elements->data;
  guint n = 0;
  if (!reading->in_order)
    g_array_sort(elements, compare_tags);
  for (guint i = 0; i < elements->len; i++) /* one that stands twice counts as the two together */
    if (n > 0 && at[n - 1].tag == at[i].tag)
      at[n - 1].digest =
          marked(mix(at[n - 1].digest, at[i].digest), demur_root_element_writing(&at[n - 1]));
    else
      at[n++] = at[i];
  DemurRootElements *made = elements_new(at, n, NULL);
  demur_root_reading_free(reading);
  return made;
}

DemurRootElements *
demur_root_elements_against(DemurRootElements *elements, DemurRootElements *base) {
  g_return_val_if_fail(elements->base == NULL && base->base == NULL, elements);
  g_autoptr(GArray) differing = g_array_new(FALSE, FALSE, sizeof(DemurRootElement));
  for (guint i = 0, k = 0; i < elements->n || k < base->n;) {
    const DemurRootElement *own = i < elements->n ? &elements->elements[i] : NULL;
    const DemurRootElement *of_base = k < base->n ? &base->elements[k] : NULL;
    if (of_base == NULL || (own != NULL && own->tag < of_base->tag)) {
      g_array_append_vals(differing, own, 1);
      i++;
    } else if (own == NULL || of_base->tag < own->tag) {
      const DemurRootElement absent = {of_base->tag, NAN, DEMUR_ROOT_ABSENT};
      g_array_append_val(differing, absent);
      k++;
    } else {
      if (own->digest != of_base->digest)
        g_array_append_vals(differing, own, 1);
      i++;
      k++;
    }
  }
  DemurRootElements *made = elements_new((const DemurRootElement *)(const void *)differing->data,
                                         differing->len, demur_root_elements_ref(base));
  demur_root_elements_unref(elements);
  return made;
}

static const DemurRootElements *
base_of(const DemurRootElements *elements) {
  return elements->base != NULL ? elements->base : elements;
}

gboolean
demur_root_elements_share(const DemurRootElements *a, const DemurRootElements *b) {
  return base_of(a) == base_of(b);
}

const DemurRootElement *
demur_root_elements_differing(const DemurRootElements *elements, guint *n) {
  *n = elements->base != NULL ? elements->n : 0;
  return elements->elements;
}

DemurRootElement
demur_root_elements_base(const DemurRootElements *elements, guint32 tag) {
  const DemurRootElements *base = base_of(elements);
  const DemurRootElement absent = {tag, NAN, DEMUR_ROOT_ABSENT};
  const DemurRootElement *found =
      bsearch(&absent, base->elements, base->n, sizeof absent, compare_tags);
  return found != NULL ? *found : absent;
}

DemurRootElements *
demur_root_elements_ref(DemurRootElements *elements) {
  g_atomic_ref_count_inc(&elements->n_references);
  return elements;
}

void
demur_root_elements_unref(DemurRootElements *elements) {
  if (elements == NULL || !g_atomic_ref_count_dec(&elements->n_references))
    return;
  demur_root_elements_unref(elements->base);
  g_free(elements);
}
