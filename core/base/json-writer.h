/* Canonical JSON: keys in the order they are written, the shortest text of a double, null for an
 * undefined number, no locale. The same values give the same bytes, so a document can be hashed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurJson DemurJson;

DemurJson *demur_json_new(void);
void demur_json_free(DemurJson *json);

/* Ends the document, which must be complete, and returns its text with a newline behind it (owned
 * by the caller); frees json. */
char *demur_json_finish(DemurJson *json);

/* The text written since the last call (owned by the caller), for a document too long to be held:
 * what demur_json_finish gives is then the rest. */
char *demur_json_take(DemurJson *json);

/* key is NULL inside an array and at the top, else the member's name. */
void demur_json_begin_object(DemurJson *json, const char *key);
void demur_json_end_object(DemurJson *json);
void demur_json_begin_array(DemurJson *json, const char *key);
void demur_json_end_array(DemurJson *json);
void demur_json_string(DemurJson *json, const char *key, const char *value); /* NULL: null */
void demur_json_double(DemurJson *json, const char *key, double value);      /* not finite: null */
void demur_json_int(DemurJson *json, const char *key, gint64 value);
void demur_json_bool(DemurJson *json, const char *key, gboolean value);
void demur_json_null(DemurJson *json, const char *key);
/* [a, b, ..] on one line. */
void demur_json_doubles(DemurJson *json, const char *key, const double *values, size_t n);
/* float32 values, little endian, base64: long arrays of weights and embeddings. */
void demur_json_floats_base64(DemurJson *json, const char *key, const float *values, size_t n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurJson, demur_json_free)

G_END_DECLS
