/* Errors as values: one GError domain for the whole program.
 *
 * A message says what is wrong, where (file with line and column, or a UID), what was expected and
 * what to do about it. It never holds a patient's name. Cancelling is G_IO_ERROR_CANCELLED.
 *
 * error->message is English: command line, logs and files have it. An error keeps its format and what
 * stands in it beside, so that whoever shows it can word it in the reader's language: formats are
 * collected for po/ where they are given to the functions below. */
#pragma once

#include <stdarg.h>

#include "base/translate.h"

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
  DEMUR_ERROR_AWAY, /* the workspace's server can't be reached, or went away: it may come back */
  DEMUR_ERROR_PEER, /* another process of the same work failed, and says why (base/ranks.h) */
} DemurError;

/* As g_error_new, g_set_error and g_prefix_error. The first two know the conversions of C but %n and
 * those of wide characters. A prefix before an error of another domain stays English. */
GError *demur_error_new(DemurError code, const char *format, ...) G_GNUC_PRINTF(2, 3);
GError *demur_error_new_valist(DemurError code, const char *format, va_list arguments)
    G_GNUC_PRINTF(2, 0);
void demur_error_set(GError **error, DemurError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
void demur_error_prefix(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* error says both, one behind the other. next: taken over, of DEMUR_ERROR as error is. */
void demur_error_append(GError *error, GError *next);

/* *error, just set, has the message of cause among what stands in it: that is worded, too. Where error is
 * NULL nothing happens. */
void demur_error_because(GError **error, const GError *cause);

/* What another program said of it (a server, a library), in its own words: message has them behind the sentence, in
 * parentheses, the reader's words don't. NULL where there is nothing; borrowed. */
void demur_error_set_details(GError *error, const char *details);
const char *demur_error_details(const GError *error);

/* The message in the reader's language (owned), numbers as the locale writes them. What stands in it is
 * translated only where it has several words and is marked with N_ (a name is never taken for a word).
 * translate NULL, or an error of another domain: the message as it is. */
char *demur_error_words(const GError *error, DemurTranslate translate);

G_END_DECLS
