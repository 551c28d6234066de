/* What the rules find, in words: dicom/rules.c and words/rule-words.c are two tables of the same codes. */
#include <string.h>

#include "dicom/rules.h"
#include "support/support.h"
#include "words/rule-words.h"
#include "words/words.h"

static const char *
marked(const char *text) {
  if (strcmp(text, "1,337.5") == 0)
    return "1.337,5"; /* its numbers */
  g_autofree char *copy = g_strconcat("<", text, ">", NULL);
  return g_intern_string(copy);
}

/* A rule without a sentence would be told by its code. */
static void
every_rule_has_a_sentence(void) {
  size_t n;
  const DemurRule *rules = demur_rules(&n);
  g_assert_cmpuint(n, >, 40);
  for (size_t i = 0; i < n; i++)
    if (demur_words_rule_sentence(rules[i].code, 0) == NULL)
      g_error("rule %s has no sentence", rules[i].code);
}

/* Whatever a sentence names, nothing but values stays outside of the translation. */
static void
a_finding_is_told_in_the_readers_language(void) {
  size_t n;
  const DemurRule *rules = demur_rules(&n);
  for (size_t i = 0; i < n; i++)
    for (guint variant = 0; demur_words_rule_sentence(rules[i].code, variant) != NULL; variant++) {
      g_autoptr(DemurReason) reason = demur_reason_new(DEMUR_REASON_RULE, rules[i].code, NULL);
      const char *const values[] = {"1.25", "", "V", "W", NULL};
      reason->values = g_strdupv((char **)values);
      reason->n = variant;
      g_autofree char *words = demur_words_rule(reason, marked);
      g_assert_true(words[0] == '<' && words[strlen(words) - 1] == '>');
      g_assert_null(strchr(words, '{'));
      g_autoptr(GPtrArray) both = demur_reasons_new();
      g_ptr_array_add(both, demur_reason_copy(reason));
      g_ptr_array_add(both, demur_reason_copy(reason));
      g_auto(GStrv) told = demur_words_reasons(both, NULL, NULL);
      g_autofree char *english = demur_words_rule(reason, NULL);
      g_autofree char *wanted = g_strdup_printf("not eligible: %s; %s", english, english);
      g_assert_cmpstr(told[0], ==, wanted);
      g_assert_null(told[1]);
    }
}

/* As it is kept: an array of today's, and the sentences of before. */
static void
what_was_kept_is_told(void) {
  static const struct {
    const char *kept, *english, *translated;
  } rows[] = {
      {"[{\"kind\": \"rule\", \"tells_risk\": false, \"subject\": \"thick\", \"values\": [\"6.5\", "
       "\"5\"]}]",
       "not eligible: slices too thick: 6.5 mm (limit 5)",
       "<not eligible: <slices too thick: 6,5 mm (limit 5)>>"},
      {"[{\"kind\": \"rule\", \"subject\": \"mixed\", \"n\": 1, \"values\": [\"KVP\", \"\", "
       "\"120\"]}]",
       "not eligible: more than one reconstruction or phase in one volume, in turns: KVP nothing "
       "and 120",
       "<not eligible: <more than one reconstruction or phase in one volume, in turns: KVP "
       "<nothing> and 120>>"},
      {"[{\"kind\": \"preferred\", \"subject\": \"1.2\", \"text\": \"softer_kernel\"}]",
       "eligible, not chosen: series 1.2 of the study is preferred (its kernel is softer)",
       "<eligible, not chosen: series 1.2 of the study is preferred (<its kernel is softer>)>"},
      {"[{\"kind\": \"rule\", \"subject\": \"of-tomorrow\"}]", "not eligible: of-tomorrow",
       "<not eligible: of-tomorrow>"},
      {"not eligible: no patient ID", "not eligible: no patient ID",
       "<not eligible: no patient ID (in the words of an earlier version)>"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *english = demur_words_kept(rows[i].kept, NULL);
    g_autofree char *translated = demur_words_kept(rows[i].kept, marked);
    g_assert_cmpstr(english, ==, rows[i].english);
    g_assert_cmpstr(translated, ==, rows[i].translated);
    g_autoptr(GPtrArray) reasons = demur_reasons_from_kept(rows[i].kept);
    g_autofree char *again = demur_reasons_to_json(reasons);
    g_autofree char *told = demur_words_kept(again, NULL);
    g_assert_cmpstr(told, ==, rows[i].english);
  }
  g_assert_null(demur_words_kept(NULL, marked));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/rule-words/every-rule-has-a-sentence", every_rule_has_a_sentence);
  g_test_add_func("/dicom/rule-words/a-finding-is-told-in-the-readers-language",
                  a_finding_is_told_in_the_readers_language);
  g_test_add_func("/dicom/rule-words/what-was-kept-is-told", what_was_kept_is_told);
  return g_test_run();
}
