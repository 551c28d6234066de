/* Errors keep what their message is made of. Right messages are what printf makes of the same arguments. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "support/support.h"

/* A language whose words are in brackets, and whose order may be another. */
static const char *
foreign(const char *text) {
  if (strcmp(text, "%s holds %zu of %u") == 0)
    return "[%3$s, %2$s: %1$s]";
  g_autofree char *marked = g_strconcat("[", text, "]", NULL);
  return g_intern_string(marked);
}

static void
check(GError *error, const char *message, const char *words) {
  g_autoptr(GError) copy = g_error_copy(error);
  g_autofree char *english = demur_error_words(error, NULL);
  g_autofree char *told = demur_error_words(copy, foreign);
  g_assert_cmpstr(error->message, ==, message);
  g_assert_cmpstr(english, ==, message);
  g_assert_cmpstr(told, ==, words);
  g_error_free(error);
}

static void
a_message_is_told_in_another_language(void) {
  check(demur_error_new(DEMUR_ERROR_INPUT, "no scan"), "no scan", "[no scan]");
  check(demur_error_new(DEMUR_ERROR_INPUT, "%s holds %zu of %u", "a", (size_t)7, 9u),
        "a holds 7 of 9", "[9, 7: a]");
  check(demur_error_new(DEMUR_ERROR_INPUT, "95 %% of '%.3s', %5.2f|%-4d|%" PRIu64 "|%c|%.*s",
                        "abcdef", 1.5, 3, (guint64)G_MAXUINT64, 'x', 2, "yz."),
        "95 % of 'abc',  1.50|3   |18446744073709551615|x|yz",
        "[95 % of 'abc',  1.50|3   |18446744073709551615|x|yz]");
}

/* Phrases are translated, names are not, whatever they look like. */
static void
a_phrase_in_a_message_is_a_word_and_a_name_is_none(void) {
  check(demur_error_new(DEMUR_ERROR_STATE, "scan %s: %s", "risk", "it is no CT"),
        "scan risk: it is no CT", "[scan risk: [it is no CT]]");
}

static void
a_prefix_a_cause_and_a_sequel_are_told(void) {
  GError *error = demur_error_new(DEMUR_ERROR_INPUT, "empty file");
  demur_error_prefix(&error, "line %u: ", 4u);
  demur_error_prefix(&error, "%s: ", "t.csv");
  check(error, "t.csv: line 4: empty file", "[t.csv: ][line 4: ][empty file]");
  g_autoptr(GError) cause = demur_error_new(DEMUR_ERROR_INPUT, "row %d", 3);
  error = NULL;
  demur_error_set(&error, DEMUR_ERROR_INPUT, "%s is no table: %s", "t.csv", cause->message);
  demur_error_because(&error, cause);
  demur_error_append(error, demur_error_new(DEMUR_ERROR_INPUT, " and %d more", 2));
  check(error, "t.csv is no table: row 3 and 2 more", "[t.csv is no table: [row 3]][ and 2 more]");
}

/* Of other domains, and raised without a format of ours: as they are. */
static void
what_cannot_be_translated_stays(void) {
  check(g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "disk %d", 1), "disk 1", "disk 1");
  check(g_error_new(DEMUR_ERROR, DEMUR_ERROR_STATE, "plain"), "plain", "plain");
  GError *error = g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "gone");
  demur_error_prefix(&error, "%s: ", "a");
  check(error, "a: gone", "a: gone");
  demur_error_set(NULL, DEMUR_ERROR_INPUT, "%s", "nobody asks");
}

/* What another program said stands behind the message, and in nobody's words. */
static void
details_are_no_words(void) {
  g_autoptr(GError) error = demur_error_new(DEMUR_ERROR_AWAY, "the server %s is away", "ward");
  demur_error_set_details(error, "FATAL: closed");
  g_autoptr(GError) copy = g_error_copy(error);
  g_assert_cmpstr(copy->message, ==, "the server ward is away (FATAL: closed)");
  g_assert_cmpstr(demur_error_details(copy), ==, "FATAL: closed");
  g_autofree char *words = demur_error_words(copy, foreign);
  g_assert_null(strstr(words, "FATAL"));
  g_autoptr(GError) other = g_error_new_literal(G_IO_ERROR, G_IO_ERROR_FAILED, "no");
  g_assert_null(demur_error_details(other));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/error/a-message-is-told-in-another-language",
                  a_message_is_told_in_another_language);
  g_test_add_func("/base/error/a-phrase-in-a-message-is-a-word-and-a-name-is-none",
                  a_phrase_in_a_message_is_a_word_and_a_name_is_none);
  g_test_add_func("/base/error/a-prefix-a-cause-and-a-sequel-are-told",
                  a_prefix_a_cause_and_a_sequel_are_told);
  g_test_add_func("/base/error/what-cannot-be-translated-stays", what_cannot_be_translated_stays);
  g_test_add_func("/base/error/details-are-no-words", details_are_no_words);
  return g_test_run();
}
