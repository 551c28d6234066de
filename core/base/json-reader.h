/* Reading documents that may come from anywhere: each function takes one named member of an object
 * and checks its kind, its size and its range before it is used.
 *
 * Every failure is DEMUR_ERROR_INPUT, naming the member, what was found and what was expected. The
 * out value is untouched on failure. Borrowed results live as long as the document. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "base/json-tree.h"

G_BEGIN_DECLS

/* Parses text [length] (-1: up to its NUL) into the parser. DEMUR_ERROR_INPUT where it is not JSON
 * or has a NUL, behind which json-glib reads nothing; or a second value behind the first, which json-glib would take for the whole; or nested deeper than any document of this
 * program: json-glib recurses, and would run out of stack on it; or of more values (2^24) than any has, each of which takes some hundred bytes. */
gboolean demur_json_load(JsonParser *parser, const char *text, gssize length,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A whole document by the same rules; NULL where text is none, or NULL. Owned. */
JsonNode *demur_json_parse(const char *text) G_GNUC_WARN_UNUSED_RESULT;

/* Whether node is a number, written with a fraction or without; NULL: FALSE. */
gboolean demur_json_is_number(JsonNode *node);

gboolean demur_json_read_object(JsonObject *object, const char *key, JsonObject **member,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_json_read_array(JsonObject *object, const char *key, JsonArray **member,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Element i of an array as an object; name is the array's, for the message. */
gboolean demur_json_read_element(JsonArray *array, guint i, const char *name, JsonObject **member,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_json_read_string(JsonObject *object, const char *key, const char **value,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_json_read_bool(JsonObject *object, const char *key, gboolean *value,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A whole number in [minimum, maximum]. */
gboolean demur_json_read_int(JsonObject *object, const char *key, gint64 minimum, gint64 maximum,
                             gint64 *value, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A finite number in [minimum, maximum] (-INFINITY and INFINITY: any finite number). */
gboolean demur_json_read_double(JsonObject *object, const char *key, double minimum, double maximum,
                                double *value, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Exactly n finite numbers, each in [minimum, maximum]; owned, free with g_aligned_free. */
gboolean demur_json_read_doubles(JsonObject *object, const char *key, size_t n, double minimum,
                                 double maximum, double **values,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same; apart (NULL: none): what the object's tree left out (demur_json_tree_of_own). */
gboolean demur_json_read_doubles_of(JsonObject *object, const DemurJsonApart *apart,
                                    const char *key, size_t n, double minimum, double maximum,
                                    double **values, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Exactly n whole numbers, each in [minimum, maximum], maximum < 2^32; owned, g_aligned_free. */
gboolean demur_json_read_indices(JsonObject *object, const char *key, size_t n, guint32 minimum,
                                 guint32 maximum, guint32 **values,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean demur_json_read_indices_of(JsonObject *object, const DemurJsonApart *apart,
                                    const char *key, size_t n, guint32 minimum, guint32 maximum,
                                    guint32 **values, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* 1 to most whole numbers from 1 to most, each once and ascending (years of risk): values [most], *n of
 * them; FALSE where the array holds anything else. */
gboolean demur_json_read_ascending(JsonArray *array, int most, int *values,
                                   size_t *n) G_GNUC_WARN_UNUSED_RESULT;

/* What demur_json_floats_base64 wrote: exactly n finite float32 values; owned, g_aligned_free. A
 * text of any other length is refused before anything of size n is allocated. */
gboolean demur_json_read_floats_base64(JsonObject *object, const char *key, size_t n,
                                       float **values, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same; apart (NULL: none): what the object's tree left out (demur_json_tree_of_own). */
gboolean demur_json_read_floats_base64_of(JsonObject *object, const DemurJsonApart *apart,
                                          const char *key, size_t n, float **values,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
