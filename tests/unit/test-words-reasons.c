/* Verdicts, states and reasons in words. The right sentences are written by hand; data from an
 * older program and from a damaged workspace come out as written, or not at all. */
#include <math.h>
#include <string.h>

#include "support/support.h"
#include "words/words.h"

static const char *
upper(const char *text) {
  g_autofree char *capitals = g_ascii_strup(text, -1); /* a language that is easily seen */
  return g_intern_string(capitals);
}

/* Every kind of reason that a program keeps has words of its own, in any language, and comes back
 * from its data. */
static void
each_kind_of_reason_has_words(void) {
  static const struct {
    const char *json, *words;
  } rows[] = {
      {"[\"an old sentence\"]", "an old sentence"},
      {"[{\"kind\": \"feature\", \"subject\": \"knn\", \"value\": 9.41, \"place\": \"above_p99\","
       " \"median\": 3.2, \"low\": 1.1, \"high\": 7, \"tells_risk\": false}]",
       "distance to the 8 nearest reference scans is 9.41, above the 99th percentile of accepted "
       "training scans (median 3.2, 98 % of them from 1.1 to 7)"},
      {"[{\"kind\": \"number\", \"subject\": \"slice_thickness_mm\", \"value\": 5, \"place\":"
       " \"above_median\", \"median\": 2, \"low\": 1, \"high\": 6, \"score\": 0.25, \"changed\":"
       " 0.5}]",
       "slice thickness is 5 mm, above the median of the training scans (median 2 mm, 98 % of them "
       "from 1 to 6 mm); at the accepted scans' median the score would be 0.5 in place of 0.25"},
      {"[{\"kind\": \"number\", \"subject\": \"kvp\", \"value\": 90}]",
       "tube voltage is 90 kV; it was recorded in no training scan"},
      {"[{\"kind\": \"group\", \"subject\": \"kernel\", \"text\": \"B70f\", \"share\": 0.002}]",
       "kernel B70f was in 0.2 % of the training scans"},
      {"[{\"kind\": \"group\", \"subject\": \"kernel\", \"text\": \"B70f\", \"share\": 0}]",
       "kernel B70f was in none of the training scans"},
      {"[{\"kind\": \"group\", \"subject\": \"kernel\", \"text\": \"B70f\"}]",
       "kernel B70f is none of the most frequent of the training scans"},
      {"[{\"kind\": \"group\", \"subject\": \"kernel\"}]",
       "kernel is not that of most accepted training scans"},
      {"[{\"kind\": \"not_recorded\", \"subject\": \"kvp\", \"share\": 0.03}]",
       "tube voltage is not recorded, as in 3 % of the training scans"},
      {"[{\"kind\": \"similar\", \"subject\": \"risk\", \"n\": 50, \"n_over\": 3, \"n_sites\": 9}]",
       "among the 50 training scans most like it the risk was too high at 3 of 9 sites"},
      {"[{\"kind\": \"feature\", \"subject\": \"knn\", \"value\": 9.41, \"place\": \"above_p99\","
       " \"median\": 3.2, \"beyond\": 0.979, \"tells_risk\": false}]",
       "the image looks unlike those the model was checked on: farther from its nearest neighbours "
       "than 97 % of them"},
      {"[{\"kind\": \"feature\", \"subject\": \"ocsvm\", \"place\": \"above_median\", \"beyond\":"
       " 0.95, \"rough\": true}]",
       "beside the images the model was checked on: deeper inside their range than at least 95 % of "
       "them"},
      {"[{\"kind\": \"feature\", \"subject\": \"p_1\", \"value\": 0.2, \"place\": \"above_p99\","
       " \"median\": 0.1, \"beyond\": 1, \"score\": 0.25, \"changed\": 0.5}]",
       "its risk is higher than that of all of the scans the model was checked on; at the accepted "
       "scans' median the score would be 0.5 in place of 0.25"},
      {"[{\"kind\": \"feature\", \"subject\": \"p_7\", \"value\": 0.2, \"place\": \"below_median\","
       " \"median\": 0.3, \"beyond\": 0.512}]",
       "predicted probability of a class is lower than for 51 % of the scans the model was checked "
       "on"},
      {"[{\"kind\": \"number\", \"subject\": \"slice_thickness_mm\", \"value\": 5, \"place\":"
       " \"above_median\", \"median\": 2, \"low\": 1, \"high\": 6, \"beyond\": 0.97}]",
       "the image looks unlike those the model was checked on: thicker slices than 97 % of them (5 "
       "mm; their median is 2 mm)"},
      {"[{\"kind\": \"group\", \"subject\": \"kernel\", \"text\": \"B70f\", \"place\":"
       " \"above_median\", \"beyond\": 0.97}]",
       "the image looks unlike those the model was checked on: a sharper kernel than 97 % of them "
       "(B70f)"},
      {"[{\"kind\": \"made\", \"subject\": \"kvp\", \"place\": \"below_p1\", \"value\": 100, \"low\":"
       " 120, \"high\": 140}]",
       "tube voltage is 100 kV, outside what the model was checked on: 98 % of those scans have 120 to "
       "140 kV"},
      {"[{\"kind\": \"made\", \"subject\": \"kernel\", \"text\": \"B70f\"}]",
       "kernel B70f is in fewer than 1 % of the scans the model was checked on"},
      {"[{\"kind\": \"made\", \"subject\": \"kvp\"}]",
       "tube voltage is not recorded; it is in nearly all scans the model was checked on"},
      {"[{\"kind\": \"made_within\", \"text\": \"slice_thickness_mm,kernel\"}]",
       "as in the scans the model was checked on: slice thickness, kernel"},
      {"[{\"kind\": \"mostly\", \"subject\": \"image\", \"share\": 0.514, \"n\": 656}]",
       "in general: of 656 training scans that this selector holds back, 51 % are held back first "
       "for how the image lies beside those the model was checked on"},
      {"[{\"kind\": \"unlike\", \"beyond\": 0.75, \"rough\": true}]",
       "beside the images the model was checked on: farther out than at least 75 % of them by at "
       "least one measure"},
      {"[{\"kind\": \"nearest\", \"subject\": \"A\", \"text\": \"A: 46, B: 31\", \"n\": 200,"
       " \"n_sites\": 23, \"share\": 0.23}]",
       "the 200 training scans most like it are from 23 sites (A: 46, B: 31; few from each other "
       "one)"},
      {"[{\"kind\": \"nearest\", \"subject\": \"A\", \"n\": 200, \"share\": 0.5, \"rough\": true}]",
       "of the 200 training scans most like it at least 50 % are from site A"},
      {"[{\"kind\": \"similar\", \"subject\": \"risk\", \"n\": 200, \"n_over\": 3, \"n_sites\": 9,"
       " \"n_events\": 14, \"value\": 9.31}]",
       "among the 200 training scans most like it the risk was too high at 3 of 9 sites; 14 of them "
       "had the outcome, their risks expect 9.3"},
      {"[{\"kind\": \"similar\", \"subject\": \"risk\", \"n\": 200, \"n_over\": 3, \"n_sites\": 9,"
       " \"value\": 9.31}]",
       "among the 200 training scans most like it the risk was too high at 3 of 9 sites (how many "
       "had the outcome is withheld: a small count)"},
      {"[{\"kind\": \"withheld\"}]",
       "the reason would give the risk away, so it is shown together with the risk, once that is "
       "revealed"},
      {"[{\"kind\": \"not_tuned\"}]",
       "the selector has no threshold yet: choose its coverage (the Cohort page, or `demur tune`)"},
      {"[{\"kind\": \"no_score\", \"subject\": \"sybil\"}]",
       "no score of model 'sybil' was imported for this scan"},
      {"[{\"kind\": \"other_model\", \"subject\": \"a\", \"text\": \"b\"}]",
       "the scan has a score of model 'b', but the selector was trained on scores of 'a': scores "
       "of "
       "another model are refused"},
      {"[{\"kind\": \"embedding_width\", \"n\": 4, \"n_over\": 512}]",
       "the score came with 4 numbers that describe the image (its embedding), but the selector "
       "needs 512: import the score again with all of them"},
      {"[{\"kind\": \"watch_stopped\", \"subject\": \"kernel\", \"text\": \"2026-11-29T10:00:00Z\","
       " \"n\": 1}]",
       "withheld by the watch since 2026-11-29: the mix of reconstruction kernels changed (alarm 1); "
       "no risk is shown until a person lifts the alarm"},
      {"[{\"kind\": \"series\", \"text\": \"no CT\"}]", "no CT"},
      {"[{\"kind\": \"not_chosen\"}]", "not chosen for assessment"},
      {"[{\"kind\": \"overruled\", \"subject\": \"the other one is cut\", \"text\": \"thick\"}]",
       "assessed by a person's decision (the other one is cut); by the rules: thick"},
      {"[{\"kind\": \"overruled\", \"subject\": \"why\"}]",
       "assessed by a person's decision (why); by the rules: accepted"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GPtrArray) reasons = demur_reasons_from_json(rows[i].json);
    g_assert_cmpuint(reasons->len, ==, 1);
    g_autofree char *words = demur_words_reason(reasons->pdata[0], NULL);
    g_assert_cmpstr(words, ==, rows[i].words);
    g_autofree char *kept = demur_reasons_to_json(reasons);
    g_autoptr(GPtrArray) again = demur_reasons_from_json(kept);
    g_autofree char *once_more = demur_words_reason(again->pdata[0], NULL);
    g_assert_cmpstr(once_more, ==, rows[i].words);
  }
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json("[{\"kind\": \"withheld\"}]");
  g_autofree char *loud = demur_words_reason(reasons->pdata[0], upper);
  g_assert_cmpstr(
      loud, ==,
      "THE REASON WOULD GIVE THE RISK AWAY, SO IT IS SHOWN TOGETHER WITH THE RISK, ONCE THAT "
      "IS REVEALED");
}

/* Only the scan's own reasons bear a number, in front; what surrounds a verdict stands below them. */
static void
remarks_bear_no_number(void) {
#define SURROUNDS                                                                                  \
  " {\"kind\": \"made_within\", \"tells_risk\": false, \"text\": \"kernel\"},"                     \
  " {\"kind\": \"mostly\", \"tells_risk\": false, \"subject\": \"risk\", \"n\": 656,"              \
  " \"share\": 0.5}]"
#define ASTEION                                                                                    \
  "{\"kind\": \"made\", \"tells_risk\": false, \"subject\": \"model_name\", \"text\": \"Asteion\"},"
#define RISK "{\"kind\": \"feature\", \"subject\": \"p_1\", \"value\": 0.2, \"tells_risk\": true},"
  static const struct {
    const char *json, *first;
    guint n, n_numbered;
  } rows[] = {
      {"[" RISK SURROUNDS, "the reason would give the risk away", 3, 0},
      {"[" ASTEION SURROUNDS, "scanner model Asteion is in fewer", 3, 1},
      {"[" ASTEION RISK SURROUNDS, "scanner model Asteion is in fewer", 4, 1},
      {"[{\"kind\": \"rule\", \"tells_risk\": false, \"subject\": \"few-slices\", \"values\":"
       " [\"8\", \"10\"]}, {\"kind\": \"rule\", \"tells_risk\": false, \"subject\":"
       " \"no-patient-id\"}]",
       "not eligible: too few slices", 1, 1},
      {"[]", NULL, 0, 0},
  };
#undef SURROUNDS
#undef ASTEION
#undef RISK
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GPtrArray) kept = demur_reasons_from_json(rows[i].json);
    g_autoptr(GPtrArray) shown = demur_reasons_shown(kept, FALSE);
    guint n_numbered = 99;
    g_auto(GStrv) words = demur_words_reasons(shown, &n_numbered, NULL);
    g_assert_cmpuint(g_strv_length(words), ==, rows[i].n);
    g_assert_cmpuint(n_numbered, ==, rows[i].n_numbered);
    if (rows[i].first != NULL)
      g_assert_true(g_str_has_prefix(words[0], rows[i].first));
    /* Beside a verdict that says it, "not eligible" is not said twice. */
    g_auto(GStrv) beside = demur_words_reasons_beside(shown, NULL, NULL);
    g_assert_cmpuint(g_strv_length(beside), ==, rows[i].n);
    g_assert_true(beside[0] == NULL || !g_str_has_prefix(beside[0], "not eligible"));
  }
}

/* Beside a risk that is held back no number stands that follows it, whichever reason it is of, and
 * whether or not another one was left out is not said. */
static void
held_back_reasons_are_told_roughly(void) {
  g_autoptr(GPtrArray) kept = demur_reasons_from_json(
      "[{\"kind\": \"feature\", \"subject\": \"knn\", \"value\": 9.41, \"place\": \"above_p99\","
      " \"median\": 3.2, \"low\": 1, \"high\": 7, \"beyond\": 0.983, \"score\": 0.2, \"changed\": 0.5,"
      " \"tells_risk\": false},"
      " {\"kind\": \"nearest\", \"subject\": \"A\", \"text\": \"A: 46\", \"n\": 60, \"n_sites\": 9,"
      " \"share\": 0.77, \"tells_risk\": false}]");
  g_autoptr(GPtrArray) shown = demur_reasons_shown(kept, FALSE);
  g_autofree char *json = demur_reasons_to_json(shown);
  g_autoptr(GPtrArray) expected = demur_reasons_from_json(
      "[{\"kind\": \"feature\", \"subject\": \"knn\", \"place\": \"above_median\", \"beyond\": 0.95,"
      " \"rough\": true, \"tells_risk\": false},"
      " {\"kind\": \"nearest\", \"subject\": \"A\", \"n\": 60, \"share\": 0.75, \"rough\": true,"
      " \"tells_risk\": false}, {\"kind\": \"withheld\", \"tells_risk\": false}]");
  g_autofree char *right = demur_reasons_to_json(expected);
  g_assert_cmpstr(json, ==, right);
  g_autoptr(GPtrArray) revealed = demur_reasons_shown(kept, TRUE);
  g_autofree char *all = demur_reasons_to_json(revealed), *as_kept = demur_reasons_to_json(kept);
  g_assert_cmpstr(all, ==, as_kept);
}

static void
what_is_no_reason_gives_none(void) {
  static const char *const texts[] = {"",
                                      "{}",
                                      "[",
                                      "[1, null, {}]",
                                      "[{\"kind\": \"feature",
                                      "[{\"kind\": \"nonsense\"}]",
                                      "[{\"kind\": 3}]"};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GPtrArray) reasons = demur_reasons_from_json(texts[i]);
    g_assert_cmpuint(reasons->len, ==, 0);
  }
  g_autoptr(GPtrArray) none = demur_reasons_from_json(NULL);
  g_assert_cmpuint(none->len, ==, 0);
}

/* The outcome is the cohort's; what is not known is not told. */
static void
a_risk_says_of_what_it_is(void) {
  static const struct {
    const char *noun;
    double years;
    const char *words;
  } rows[] = {{"lung cancer", 6, "risk of lung cancer within 6 years"},
              {"stroke", 1, "risk of stroke within 1 year"},
              {"stroke", NAN, "risk of stroke (years not recorded)"},
              {NULL, 2.5, "risk within 2.5 years"},
              {"", 0, "risk (years not recorded)"}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *words = demur_words_risk_of(rows[i].noun, rows[i].years, NULL);
    g_assert_cmpstr(words, ==, rows[i].words);
  }
}

static void
an_outdated_verdict_says_why_and_what_to_do(void) {
  g_assert_null(demur_words_outdated_first(DEMUR_CURRENT, NULL));
  g_assert_null(demur_remedy_name(demur_outdated_remedy(DEMUR_CURRENT)));
  /* Each cause is told in a list, and what helps: a contradiction is resolved, whatever else changed. */
  for (guint i = 0; i < DEMUR_N_OUTDATED; i++) {
    const guint why = 1u << i, with = why | DEMUR_OUTDATED_CONFLICT;
    g_autofree char *first = demur_words_outdated_first((DemurOutdated)why, NULL);
    g_autofree char *whole = demur_words_outdated((DemurOutdated)why, NULL);
    g_autofree char *both = demur_words_outdated_first((DemurOutdated)with, NULL);
    g_auto(GStrv) cause = demur_words_causes((DemurOutdated)why, NULL);
    const gboolean waits = why == DEMUR_OUTDATED_CONFLICT;
    const gboolean again = why == DEMUR_OUTDATED_MODEL;
    g_assert_true(g_str_has_prefix(first, waits   ? "resolve: "
                                          : again ? "import again: "
                                                  : "assess again: "));
    g_assert_nonnull(strstr(first, cause[0]));
    g_assert_nonnull(strstr(whole, waits   ? "`demur dicom resolve`"
                                   : again ? "--model M --replace"
                                           : "Assess again"));
    g_assert_true(g_str_has_prefix(both, "resolve: SAFETY"));
    g_assert_cmpint(demur_outdated_remedy((DemurOutdated)with), ==, DEMUR_REMEDY_RESOLVE);
  }
  g_assert_null(demur_words_outdated(DEMUR_CURRENT, NULL));
  g_autofree char *words =
      demur_words_outdated(DEMUR_OUTDATED_SCORE | DEMUR_OUTDATED_THRESHOLD, NULL);
  g_assert_cmpstr(
      words, ==, "Out of date: the score was replaced; another threshold is in use. Assess again.");
  for (guint i = 0; i < DEMUR_N_OUTDATED; i++) {
    g_auto(GStrv) one = demur_words_causes(1u << i, NULL);
    g_assert_cmpuint(g_strv_length(one), ==, 1);
    for (guint j = 0; j < i; j++)
      g_assert_cmpstr(demur_outdated_name(1u << i), !=, demur_outdated_name(1u << j));
    g_assert_false(demur_verdict_tells_risk(DEMUR_VERDICT_ACCEPTED, 1u << i));
  }
  g_assert_true(demur_verdict_tells_risk(DEMUR_VERDICT_ACCEPTED, DEMUR_CURRENT));
  for (guint v = 0; v < DEMUR_N_VERDICTS; v++) {
    DemurVerdict back = DEMUR_N_VERDICTS;
    g_assert_true(demur_verdict_from_name(demur_verdict_name((DemurVerdict)v), &back));
    g_assert_cmpint(back, ==, v);
    g_assert_cmpint(demur_verdict_tells_risk((DemurVerdict)v, DEMUR_CURRENT), ==,
                    v == DEMUR_VERDICT_ACCEPTED);
  }
}

/* A language that writes 1.337,5 and leaves every other text as it is. */
static const char *
comma(const char *text) {
  return strcmp(text, "1,337.5") == 0 ? "1.337,5" : text;
}

static void
numbers_are_as_the_language_writes_them(void) {
  static const char *const subjects[] = {"slice_thickness_mm", "knn", "p_1", "kernel", "kvp"};
  static const double beyonds[] = {NAN, 0.512};
  for (int kind = 0; kind < DEMUR_N_REASONS; kind++)
    for (size_t s = 0; s < G_N_ELEMENTS(subjects); s++)
      for (size_t b = 0; b < G_N_ELEMENTS(beyonds); b++)
        for (int full = 0; full < 4; full++) {
          g_autoptr(DemurReason) reason =
              demur_reason_new((DemurReasonKind)kind, subjects[s], full & 1 ? "text" : NULL);
          reason->place = DEMUR_PLACE_ABOVE;
          reason->value = 3.25;
          reason->median = full & 2 ? 2.5 : (double)NAN;
          reason->low = 1.5;
          reason->high = 7.5;
          reason->share = 0.0125;
          reason->beyond = beyonds[b];
          reason->score = 0.25;
          reason->changed = 0.5;
          reason->n = 50;
          reason->n_over = 3;
          reason->n_sites = 4;
          reason->n_events = 9;
          g_autofree char *words = demur_words_reason(reason, comma);
          if (g_regex_match_simple("[0-9][.][0-9]", words, 0, 0))
            g_error("a point within a number: %s", words);
        }
  g_autofree char *risk = demur_words_risk_of("lung cancer", 2.5, comma);
  g_assert_cmpstr(risk, ==, "risk of lung cancer within 2,5 years");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/words/each-kind-of-reason-has-words", each_kind_of_reason_has_words);
  g_test_add_func("/words/numbers-as-the-language-writes-them",
                  numbers_are_as_the_language_writes_them);
  g_test_add_func("/words/remarks-bear-no-number", remarks_bear_no_number);
  g_test_add_func("/words/held-back-reasons-are-told-roughly", held_back_reasons_are_told_roughly);
  g_test_add_func("/words/a-risk-says-of-what-it-is", a_risk_says_of_what_it_is);
  g_test_add_func("/words/what-is-no-reason-gives-none", what_is_no_reason_gives_none);
  g_test_add_func("/words/an-outdated-verdict-says-why-and-what-to-do",
                  an_outdated_verdict_says_why_and_what_to_do);
  return g_test_run();
}
