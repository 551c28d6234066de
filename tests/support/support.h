/* What tests share: where the shared test data lie, and how closely numbers must agree. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Path of a file or folder below the shared test data, owned by the caller. They lie where
 * DEMUR_SHARED says, else beside the sources (../shared). Without any the running test is marked as
 * skipped, with the reason, and NULL returned; where they are there and lack this one the test
 * fails. */
char *demur_test_shared(const char *relative);

/* The JSON file below the shared test data (owned), or NULL with the test skipped. */
JsonParser *demur_test_golden(const char *relative);

/* JSON array -> doubles (owned by caller); the strings "inf", "-inf", "nan" stand for those values.
 */
double *demur_test_doubles(JsonArray *array, size_t *n);
double demur_test_number(JsonNode *node);

/* How often a simulation is repeated: `full` times with DEMUR_LONG set (`check.sh --long`), else
 * `quick` times; a fifth of that under a sanitizer, which looks at memory and not at frequencies. */
size_t demur_test_repeats(size_t quick, size_t full);

/* Whether this build looks at memory: what holds of numbers alone is then left to the release build. */
gboolean demur_test_at_memory(void);

/* Runs a function where the system makes no more threads, in a process of its own; what it returns there, 0: all is well. The
 * limit counts a user's threads, and root has none: else than by root the running test is marked as skipped. */
void demur_test_without_threads(int (*function)(void));
/* The same with room for so many processes and threads in all, by a user of its own: folder (NULL: none) and what is in it
 * becomes that user's. */
void demur_test_with_few_threads(guint n, const char *folder, int (*function)(gpointer),
                                 gpointer data);

/* Writes a file anew below a folder, without the waits for the disk that a file worth keeping needs;
 * its path (owned). length -1: NUL-terminated. */
char *demur_test_write(const char *folder, const char *name, const char *bytes, gssize length);

/* |a - b| <= relative * max(|a|, |b|) + absolute, or both the same non-finite value. */
gboolean demur_test_close(double a, double b, double relative, double absolute);

#define demur_assert_close(a, b, relative, absolute)                                               \
  G_STMT_START {                                                                                   \
    const double demur_a_ = (a), demur_b_ = (b);                                                   \
    if (!demur_test_close(demur_a_, demur_b_, (relative), (absolute)))                             \
      g_error("%s:%d: %s = %.17g but %s = %.17g", __FILE__, __LINE__, #a, demur_a_, #b, demur_b_); \
  }                                                                                                \
  G_STMT_END

G_END_DECLS
