/* A whole JSON document as json-glib's tree, several times as fast as json-glib reads it. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The root of text [length] (-1: up to its NUL), owned; NULL without an error where the text is blank; the same tree that demur_json_load makes of it, and refused by the
 * same rules and in the same words (DEMUR_ERROR_INPUT): what is not plainly JSON is left to it. Small numbers may be one node
 * in several places: the tree is to be read, not changed. */
JsonNode *demur_json_tree(const char *text, gssize length,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Members of a document that would cost more in its tree than in what reads them (a selector's reference scans): strings stay in
 * the text that the tree was made of, numbers of arrays lie one behind the other, and their nodes hold the empty string and array. */
typedef struct DemurJsonApart DemurJsonApart;
void demur_json_apart_free(DemurJsonApart *apart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurJsonApart, demur_json_apart_free)

/* The string [*length], without a NUL, of a node that is one of them; borrowed of the text. NULL: it is none, or apart is NULL. */
const char *demur_json_apart_text(const DemurJsonApart *apart, const JsonNode *node, gsize *length);

/* The numbers [*n] of a node that is one of them, whole ones too; borrowed. NULL: it is none, or apart is NULL. */
const double *demur_json_apart_numbers(const DemurJsonApart *apart, const JsonNode *node, gsize *n);

/* demur_json_tree of a text [length + 1], with its NUL, that nobody else reads meanwhile: the ends of its strings are marked
 * in it while it is read, and are as they were afterwards. names (ends with NULL; NULL: none): members, wherever they stand, whose
 * string or array of nothing but numbers is kept apart, however short: whoever reads such a member asks for it as
 * demur_json_read_doubles_of does. *apart, with a tree: those that were; the text must outlive what is read of them. */
JsonNode *demur_json_tree_of_own(char *text, gsize length, const char *const *names,
                                 DemurJsonApart **apart, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
