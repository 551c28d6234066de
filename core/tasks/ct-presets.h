/* The windows that a chest CT is looked at with: for the image, its buttons, its keys and the
 * patient's page. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *title, *brief; /* marked for translation (tasks/warnings.h) */
  const char *whole;         /* title with its numbers, likewise */
  double width, level;       /* HU */
} DemurCtPreset;

typedef enum {
  DEMUR_CT_PRESET_LUNG,
  DEMUR_CT_PRESET_MEDIASTINUM,
  DEMUR_CT_PRESET_BONE,
  DEMUR_CT_PRESET_SOFT_TISSUE,
  DEMUR_N_CT_PRESETS,
} DemurCtPresetKind;

extern const DemurCtPreset demur_ct_presets[DEMUR_N_CT_PRESETS];

G_END_DECLS
