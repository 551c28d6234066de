/* Names of cohorts, selectors and models. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Names stand in messages, files and on the command line: DEMUR_ERROR_USAGE for an empty one, one
 * that begins with -, and one with / or control characters. what: "cohort", "selector". */
gboolean demur_task_check_name(const char *what, const char *name,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What else is printed as a name (a model, its version, an outcome): DEMUR_ERROR_USAGE for an empty one and
 * one with control characters or direction marks. NULL is allowed. */
gboolean demur_task_check_label(const char *what, const char *name,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
