/* Errors as values: one GError domain for the whole program.
 *
 * A message says what is wrong, where (file with line and column, or a UID), what was expected and
 * what to do about it. It never holds a patient's name. Cancelling is G_IO_ERROR_CANCELLED. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_ERROR (demur_error_quark())
GQuark demur_error_quark(void);

typedef enum {
  DEMUR_ERROR_INPUT,       /* a file or value from outside is wrong */
  DEMUR_ERROR_USAGE,       /* options or settings contradict each other: exit status 2 */
  DEMUR_ERROR_NOT_FOUND,   /* no cohort, selector, scan, split .. of that name */
  DEMUR_ERROR_EXISTS,      /* the name is taken */
  DEMUR_ERROR_STATE,       /* refused as things stand: not tuned, in-sample split, other model */
  DEMUR_ERROR_STORE,       /* the workspace can't be opened, read or written */
  DEMUR_ERROR_UNSUPPORTED, /* known, but not read by this program */
  DEMUR_ERROR_NUMERIC,     /* a computation has no finite answer for these data */
  DEMUR_ERROR_OUTPUT,      /* a file can't be written */
} DemurError;

G_END_DECLS
