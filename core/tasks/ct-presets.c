#include "tasks/ct-presets.h"

#include "tasks/warnings.h"

const DemurCtPreset demur_ct_presets[DEMUR_N_CT_PRESETS] = {
    {DEMUR_TASK_WORD("Lung"), DEMUR_TASK_WORD("Lung"), DEMUR_TASK_WORD("Lung 1500 / −600"), 1500,
     -600},
    {DEMUR_TASK_WORD("Mediastinum"), DEMUR_TASK_WORD("Mediast"),
     DEMUR_TASK_WORD("Mediastinum 400 / 40"), 400, 40},
    {DEMUR_TASK_WORD("Bone"), DEMUR_TASK_WORD("Bone"), DEMUR_TASK_WORD("Bone 2000 / 350"), 2000,
     350},
    {DEMUR_TASK_WORD("Soft tissue"), DEMUR_TASK_WORD("Soft"),
     DEMUR_TASK_WORD("Soft tissue 400 / 50"), 400, 50},
};
