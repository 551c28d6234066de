/* Enhanced and legacy converted enhanced CT objects, frame by frame. */
#pragma once

#include "phases-fixture.h"

#define MULTIFRAME_SHARED DEMUR_TAG(0x5200, 0x9229)
#define MULTIFRAME_FRAMES DEMUR_TAG(0x5200, 0x9230)
#define MULTIFRAME_CONTENT DEMUR_TAG(0x0020, 0x9111)
#define MULTIFRAME_UNASSIGNED DEMUR_TAG(0x0020, 0x9171) /* what no other group takes */

typedef struct {
  int phase, k; /* the phase's k-th slice */
  double z_mm;
  int number; /* in its stack */
} MultiframeFrame;

/* What is beside the usual groups of a frame: values in the group of that tag. */
typedef struct {
  guint32 group; /* 0: none */
  GArray *values;
} MultiframeMore;

static inline void
object_take(GArray *to, GArray *from) {
  for (guint i = 0; i < from->len; i++) {
    const ObjectElement *element = &g_array_index(from, ObjectElement, i);
    object_put(to, element->tag, element->vr, element->bytes->data, element->bytes->len);
  }
}

static inline void
object_drop(GArray *object, guint32 tag) {
  for (guint i = 0; i < object->len; i++)
    if (g_array_index(object, ObjectElement, i).tag == tag)
      g_array_remove_index(object, i--);
}

static inline GByteArray *
multiframe_item(const MultiframeFrame *frame, const MultiframeMore *more) {
  g_autoptr(GArray) item = object_new();
  g_autoptr(GArray) content = object_new();
  g_autoptr(GArray) place = object_new();
  const guint32 number = GUINT32_TO_LE((guint32)frame->number);
  g_autofree char *position = g_strdup_printf("0\\0\\%g", frame->z_mm);
  object_put(content, DEMUR_TAG(0x0020, 0x9057), "UL", &number, sizeof number);
  object_text(place, DEMUR_TAG(0x0020, 0x0032), "DS", position);
  if (more->group == MULTIFRAME_CONTENT)
    object_take(content, more->values);
  else if (more->group != 0)
    object_sequence(item, more->group, more->values);
  object_sequence(item, MULTIFRAME_CONTENT, content);
  object_sequence(item, DEMUR_TAG(0x0020, 0x9113), place);
  return object_item(item);
}

static inline void
multiframe_shared(GArray *object) {
  g_autoptr(GArray) shared = object_new();
  g_autoptr(GArray) measures = object_new();
  g_autoptr(GArray) plane = object_new();
  g_autoptr(GArray) transformation = object_new();
  object_text(measures, DEMUR_TAG(0x0018, 0x0050), "DS", "2.5");
  object_text(measures, DEMUR_TAG(0x0028, 0x0030), "DS", "0.7\\0.7");
  object_text(plane, DEMUR_TAG(0x0020, 0x0037), "DS", "1\\0\\0\\0\\1\\0");
  object_text(transformation, DEMUR_TAG(0x0028, 0x1052), "DS", "-1024");
  object_text(transformation, DEMUR_TAG(0x0028, 0x1053), "DS", "1");
  object_sequence(shared, DEMUR_TAG(0x0020, 0x9116), plane);
  object_sequence(shared, DEMUR_TAG(0x0028, 0x9110), measures);
  object_sequence(shared, DEMUR_TAG(0x0028, 0x9145), transformation);
  object_sequence(object, MULTIFRAME_SHARED, shared);
}

/* An object of n frames that is good in everything; more [n]. uid: its last number. Owned. */
static inline GArray *
multiframe_object(const MultiframeFrame *frames, const MultiframeMore *more, guint n, guint uid) {
  static const guint32 of_a_frame[] = {DEMUR_TAG(0x0018, 0x0050), DEMUR_TAG(0x0020, 0x0032),
                                       DEMUR_TAG(0x0020, 0x0037), DEMUR_TAG(0x0028, 0x0030),
                                       DEMUR_TAG(0x0028, 0x1052), DEMUR_TAG(0x0028, 0x1053)};
  GArray *object = object_slice(0, 0, 0, 1);
  for (size_t i = 0; i < G_N_ELEMENTS(of_a_frame); i++)
    object_drop(object, of_a_frame[i]);
  g_autoptr(GByteArray) items = g_byte_array_new();
  g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(guint16));
  for (guint f = 0; f < n; f++) {
    g_autoptr(GByteArray) item = multiframe_item(&frames[f], &more[f]);
    g_byte_array_append(items, item->data, item->len);
    for (guint i = 0; i < 64; i++) {
      const guint16 word = GUINT16_TO_LE((guint16)(1000 + 100 * frames[f].phase + frames[f].k));
      g_array_append_val(words, word);
    }
  }
  g_autofree char *number = g_strdup_printf("%u", n);
  g_autofree char *instance = g_strdup_printf("1.2.9.7.%u", uid);
  object_text(object, DEMUR_TAG(0x0008, 0x0016), "UI", "1.2.840.10008.5.1.4.1.1.2.1");
  object_text(object, DEMUR_TAG(0x0008, 0x0018), "UI", instance);
  object_text(object, DEMUR_TAG(0x0028, 0x0008), "IS", number);
  multiframe_shared(object);
  object_put(object, MULTIFRAME_FRAMES, "SQ", items->data, items->len);
  object_put(object, DEMUR_TAG(0x7FE0, 0x0010), "OW", words->data, 2 * words->len);
  return object;
}
