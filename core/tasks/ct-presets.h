/* The windows that a chest CT is looked at with: for the image, its buttons, its keys and the
 * patient's page. Their one table is resources/ct-presets.inc. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *title, *brief; /* marked for translation (tasks/warnings.h) */
  const char *whole;         /* title with its numbers, likewise */
  double width, level;       /* HU */
} DemurCtPreset;

typedef enum {
#define CT_PRESET(kind, title, brief, whole, width, level) DEMUR_CT_PRESET_##kind,
#include "resources/ct-presets.inc"
#undef CT_PRESET
  DEMUR_N_CT_PRESETS,
} DemurCtPresetKind;

extern const DemurCtPreset demur_ct_presets[DEMUR_N_CT_PRESETS];

G_END_DECLS
