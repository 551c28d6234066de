/* Two phases of one series for the tests: what each has for an attribute, how they are numbered and
 * how they lie to one another. */
#pragma once

#include "dicom-object.h"
#include "dicom/attributes.h"

#define N_POSITIONS 12
#define SPACING_MM 2.5

typedef enum { NUMBERS_FOLLOW, NUMBERS_ALTERNATE, NUMBERS_REPEAT, N_NUMBERINGS } Numbering;
typedef enum { LIE_SAME, LIE_HALF_COVERED, LIE_BETWEEN, LIE_ABOVE, N_LAYOUTS } Layout;

/* What phase 0 or 1 has for the attribute in its k-th slice. Times advance within a phase. */
static inline void
put_value(GArray *object, const DemurSliceAttribute *attribute, int phase, int k) {
  const char *vr = demur_vr_name(attribute->vr);
  const double number = phase == 0 ? 10 : 20;
  const float small = (float)number;
  const guint32 whole = (guint32)number;
  g_autofree char *text =
      attribute->vr == DEMUR_VR_TM && attribute->role == DEMUR_SLICE_ATTRIBUTE_TIME
          ? g_strdup_printf("12%02d00.%02d", 5 * phase, 5 * k)
      : attribute->vr == DEMUR_VR_TM ? g_strdup_printf("12%02d00", 5 * phase)
      : attribute->vr == DEMUR_VR_DT ? g_strdup_printf("2024010112%02d00.%02d", 5 * phase, 5 * k)
      : attribute->vr == DEMUR_VR_DA ? g_strdup_printf("2024010%d", 1 + phase)
      : attribute->vr == DEMUR_VR_UI ? g_strdup_printf("1.2.7.%d", phase)
      : attribute->vr == DEMUR_VR_IS || attribute->vr == DEMUR_VR_DS ? g_strdup_printf("%g", number)
      : attribute->tag == DEMUR_TAG(0x0008, 0x0008)
          ? g_strdup(phase == 0 ? "ORIGINAL\\PRIMARY\\AXIAL" : "ORIGINAL\\PRIMARY\\AXIAL\\OTHER")
      : attribute->tag == DEMUR_TAG(0x0028, 0x0004)
          ? g_strdup(phase == 0 ? "MONOCHROME2" : "MONOCHROME1")
      : attribute->tag == DEMUR_TAG(0x0018, 0x0050) ? g_strdup(phase == 0 ? "2.5" : "2")
                                                    : g_strdup_printf("VALUE %d", phase);
  if (attribute->vr == DEMUR_VR_FD)
    object_put(object, attribute->tag, vr, &number, sizeof number);
  else if (attribute->vr == DEMUR_VR_FL)
    object_put(object, attribute->tag, vr, &small, sizeof small);
  else if (attribute->vr == DEMUR_VR_UL)
    object_put(object, attribute->tag, vr, &whole, sizeof whole);
  else if (attribute->vr == DEMUR_VR_US)
    object_u16(object, attribute->tag, (guint16)whole);
  else if (attribute->tag == DEMUR_TAG(0x0018, 0x0050))
    object_text(object, attribute->tag, vr, phase == 0 ? "2.5" : "2");
  else
    object_text(object, attribute->tag, vr, text);
}

static inline int
number_of(Numbering numbering, int phase, int k) {
  return numbering == NUMBERS_FOLLOW      ? phase * N_POSITIONS + k + 1
         : numbering == NUMBERS_ALTERNATE ? 2 * k + phase + 1
                                          : k + 1;
}

static inline double
place_of(Layout layout, int phase, int k) {
  return SPACING_MM * k + (phase == 0              ? 0
                           : layout == LIE_BETWEEN ? SPACING_MM / 2
                           : layout == LIE_ABOVE   ? SPACING_MM * N_POSITIONS
                                                   : 0);
}

typedef void (*Change)(GArray *object, int phase, int k, gconstpointer data);

/* Names say nothing of phase or order. */
static inline DemurImport *
import_two(Numbering numbering, Layout layout, Change change, gconstpointer data) {
  g_autofree char *folder = fixture_folder();
  for (int phase = 0; phase < 2; phase++)
    for (int k = 0; k < (layout == LIE_HALF_COVERED && phase == 1 ? 6 : N_POSITIONS); k++) {
      g_autoptr(GArray) object =
          object_slice(phase, k, place_of(layout, phase, k), number_of(numbering, phase, k));
      change(object, phase, k, data);
      g_autofree char *name = g_strdup_printf("%08x.dcm", (guint)(2 * k + phase) * 2654435761u);
      object_save(object, folder, name);
    }
  DemurImport *import = fixture_import_folder(folder);
  fixture_remove(folder);
  return import;
}

/* Whether an accepted volume holds slices of both phases. */
static inline gboolean
accepts_both(const DemurImport *import) {
  for (guint i = 0; i < import->series->len; i++) {
    const DemurSeries *series = fixture_series(import, i);
    gboolean has[2] = {FALSE, FALSE};
    for (size_t s = 0; s < series->n_slices; s++)
      has[series->slices[s].sop_instance_uid[strlen("1.2.9.")] - '0'] = TRUE;
    if (series->eligible && has[0] && has[1])
      return TRUE;
  }
  return FALSE;
}
