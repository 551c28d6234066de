/* What is drawn whole when scans are drawn anew. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a resample draws with replacement. */
typedef enum {
  DEMUR_UNIT_SCAN,
  DEMUR_UNIT_PATIENT,
  DEMUR_UNIT_SITE,
} DemurUnit;

const char *demur_unit_name(DemurUnit unit); /* "scan", "patient", "site" */
/* DEMUR_ERROR_USAGE for another name, with those that there are. */
gboolean demur_unit_from_name(const char *name, DemurUnit *unit,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
