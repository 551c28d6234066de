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

/* Strings of a tree that are so long that a copy of them costs what reading the rest does (a selector's reference scans):
 * they stay in the text that the tree was made of, and their nodes hold the empty string. */
typedef struct DemurJsonTexts DemurJsonTexts;
void demur_json_texts_free(DemurJsonTexts *texts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurJsonTexts, demur_json_texts_free)

/* The string [*length], without a NUL, of a node that is one of them; borrowed of the text. NULL: it is none. */
const char *demur_json_texts_find(const DemurJsonTexts *texts, const JsonNode *node, gsize *length);

/* demur_json_tree of a text [length + 1], with its NUL, that nobody else reads meanwhile: the ends of its strings are marked
 * in it while it is read, and are as they were afterwards. texts (NULL: not asked for, nothing is left out): the strings that
 * were left out, with a tree; the text must outlive what is read of them. */
JsonNode *demur_json_tree_of_own(char *text, gsize length, DemurJsonTexts **texts,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
