#include "tasks/ct-presets.h"

#include "tasks/warnings.h"

const DemurCtPreset demur_ct_presets[DEMUR_N_CT_PRESETS] = {
#define CT_PRESET(kind, title, brief, whole, width, level)                                         \
  [DEMUR_CT_PRESET_##kind] = {title, brief, whole, width, level},
#include "resources/ct-presets.inc"
#undef CT_PRESET
};
