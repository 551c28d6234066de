#include "evaluation/unit.h"

#include <string.h>

#include "base/error.h"

static const char *const unit_names[] = {"scan", "patient", "site"};

const char *
demur_unit_name(DemurUnit unit) {
  return unit_names[unit];
}

gboolean
demur_unit_from_name(const char *name, DemurUnit *unit, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(unit_names); i++)
    if (strcmp(name, unit_names[i]) == 0) {
      *unit = (DemurUnit)i;
      return TRUE;
    }
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "'%s' can't be resampled; there are scan, patient and site", name);
  return FALSE;
}
