/* The same person or not: each row is a case that hospitals have, its answer by hand. */
#include "base/person.h"

#include "support/support.h"

#define SAME DEMUR_PERSON_SAME
#define OTHER DEMUR_PERSON_OTHER
#define UNKNOWN DEMUR_PERSON_UNKNOWN

static void
each_case_has_its_answer(void) {
  static const struct {
    const char *what;
    DemurPerson a, b; /* issuer, id, name, birth date, sex */
    DemurPersonMatch right;
  } rows[] = {
      {"identical",
       {"H1", "1", "DOE^JANE", "19400131", "F"},
       {"H1", "1", "DOE^JANE", "19400131", "F"},
       SAME},
      {"case, blanks and separators of the name",
       {NULL, "1", "DOE^JANE", "19400131", "F"},
       {NULL, "1", " Doe, jane ", "1940-01-31", "F"},
       SAME},
      {"empty components",
       {NULL, "1", "DOE^JANE^^^", NULL, NULL},
       {NULL, "1", "Doe^Jane", NULL, NULL},
       SAME},
      {"an accent in two encodings",
       {NULL, "1", "M\xc3\xbcller^A", NULL, NULL},
       {NULL, "1", "Mu\xcc\x88ller^A", NULL, NULL},
       SAME},
      {"a second script",
       {NULL, "1", "Yamada^Tarou", NULL, NULL},
       {NULL, "1", "Yamada^Tarou=\xe5\xb1\xb1\xe7\x94\xb0", NULL, NULL},
       SAME},
      {"a no-break space in the ID",
       {NULL, "1\xc2\xa0", "A", NULL, NULL},
       {NULL, "1", "A", NULL, NULL},
       SAME},
      {"a married name",
       {NULL, "1", "DOE^JANE", "19400131", "F"},
       {NULL, "1", "ROE^JANE", "19400131", "F"},
       SAME},
      {"another name altogether",
       {NULL, "1", "DOE^JANE", "19400131", "F"},
       {NULL, "1", "ROE^ANN", "19400131", "F"},
       UNKNOWN},
      {"another name, nothing else known",
       {NULL, "7", "A", NULL, NULL},
       {NULL, "7", "B", NULL, NULL},
       UNKNOWN},
      {"the number used twice: a man of 1988 and a woman of 1940",
       {NULL, "1", "DOE^J", "19880505", "M"},
       {NULL, "1", "DOE^J", "19400131", "F"},
       OTHER},
      {"the birth date speaks against it",
       {NULL, "1", "DOE^J", "19880505", NULL},
       {NULL, "1", "DOE^J", "19400131", NULL},
       OTHER},
      {"the sex speaks against it",
       {NULL, "1", "DOE^J", NULL, "M"},
       {NULL, "1", "DOE^J", NULL, "F"},
       OTHER},
      {"a sex that says nothing",
       {NULL, "1", "DOE^J", NULL, "M"},
       {NULL, "1", "DOE^J", NULL, "O"},
       SAME},
      {"the birth date is missing once",
       {NULL, "1", "DOE^J", "19400131", "F"},
       {NULL, "1", "DOE^J", "", "F"},
       SAME},
      {"a birth date that is none",
       {NULL, "1", "DOE^J", "19400131", "F"},
       {NULL, "1", "DOE^J", "00000000", "F"},
       SAME},
      {"the name is missing once, the birth date agrees",
       {NULL, "1", "DOE^J", "19400131", NULL},
       {NULL, "1", NULL, "19400131", NULL},
       SAME},
      {"nothing but the ID on one side",
       {NULL, "1", "DOE^J", "19400131", "F"},
       {NULL, "1", NULL, NULL, NULL},
       UNKNOWN},
      {"nothing but the ID on both", {NULL, "1", "", "", ""}, {NULL, "1", NULL, NULL, NULL}, SAME},
      {"zeros in front are another ID",
       {NULL, "007", "A", NULL, NULL},
       {NULL, "7", "A", NULL, NULL},
       OTHER},
      {"two hospitals with the same number",
       {"H1", "1", "DOE^J", "19400131", "F"},
       {"H2", "1", "ROE^A", "19500101", "M"},
       OTHER},
      {"two hospitals, the same number and person by all that is known",
       {"H1", "1", "DOE^J", "19400131", "F"},
       {"H2", "1", "DOE^J", "19400131", "F"},
       UNKNOWN},
      {"two hospitals, two numbers, the same person by all that is known",
       {"H1", "1", "DOE^J", "19400131", "F"},
       {"H2", "9", "DOE^J", "19400131", "F"},
       UNKNOWN},
      {"two numbers of one hospital",
       {"H1", "1", "DOE^J", "19400131", "F"},
       {"H1", "9", "DOE^J", "19400131", "F"},
       OTHER},
      {"the issuer is missing once",
       {"H1", "1", "DOE^J", "19400131", "F"},
       {NULL, "1", "DOE^J", "19400131", "F"},
       SAME},
      {"blank IDs",
       {NULL, "", "DOE^J", "19400131", "F"},
       {NULL, NULL, "DOE^J", "19400131", "F"},
       UNKNOWN},
      {"blank IDs of two",
       {NULL, "", "DOE^J", NULL, NULL},
       {NULL, " ", "ROE^A", NULL, NULL},
       OTHER},
      {"ANON is everybody's",
       {NULL, "ANON", NULL, NULL, NULL},
       {NULL, "anon", NULL, NULL, NULL},
       UNKNOWN},
      {"ANONYMOUS by name too",
       {NULL, "ANON", "ANONYMOUS", NULL, NULL},
       {NULL, "ANON", "DOE^J", NULL, NULL},
       UNKNOWN},
      {"zeros only", {NULL, "0000", "A", NULL, NULL}, {NULL, "0000", "A", NULL, NULL}, UNKNOWN},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_test_message("%s", rows[i].what);
    g_assert_cmpint(demur_person_compare(&rows[i].a, &rows[i].b), ==, rows[i].right);
    g_assert_cmpint(demur_person_compare(&rows[i].b, &rows[i].a), ==, rows[i].right);
  }
}

/* Of one study: the same words are one person whoever it is, and what can't be told stands apart,
 * in whatever order the records come. */
static void
records_fall_into_classes(void) {
  static const DemurPerson people[] = {{NULL, "1", "DOE^JANE", "19400131", "F"},
                                       {NULL, " 1", "doe, jane", NULL, NULL},
                                       {NULL, "1", "ROE^JANE", "19400131", "F"},
                                       {NULL, "1", "ROE^ANN", NULL, NULL},
                                       {NULL, "ANON", NULL, NULL, NULL},
                                       {NULL, "anon", NULL, NULL, NULL},
                                       {NULL, "ANON", "DOE^JANE", NULL, NULL},
                                       {"H1", "2", "A", NULL, NULL},
                                       {"H2", "2", "A", NULL, NULL}};
  /* The married name is the same as the first by birth date and sex, but can't be told to be the
   * second's, of which only the name is known: it joins neither. */
  static const guint right[] = {0, 0, 1, 2, 3, 3, 4, 5, 6};
  DemurPerson turned[G_N_ELEMENTS(people)];
  guint classes[G_N_ELEMENTS(people)], turned_classes[G_N_ELEMENTS(people)];
  const guint n = G_N_ELEMENTS(people);
  g_assert_cmpuint(demur_person_classes(people, n, classes), ==, 7);
  for (guint i = 0; i < n; i++) {
    turned[i] = people[n - 1 - i];
    for (guint k = 0; k < i; k++)
      g_assert_true((classes[i] == classes[k]) == (right[i] == right[k]));
  }
  demur_person_classes(turned, n, turned_classes);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < i; k++)
      g_assert_true((classes[i] == classes[k]) ==
                    (turned_classes[n - 1 - i] == turned_classes[n - 1 - k]));
  g_assert_true(demur_person_same_id(" p1", "P1"));
  g_assert_false(demur_person_same_id("01", "1"));
}

/* Texts that hold what could part them are no other texts; those of one ID that names nobody are as many
 * as they say, and are not each compared with each (of 20,000 that would be seen). */
static void
classes_of_what_is_written_badly(void) {
  const DemurPerson two[] = {{"H", "1\n2", "DOE", NULL, NULL}, {"H", "1", "2\nDOE", NULL, NULL}};
  guint of_two[2];
  g_assert_cmpuint(demur_person_classes(two, 2, of_two), ==, 2);
  const guint n = 20000;
  g_autofree DemurPerson *many = g_new0(DemurPerson, n);
  g_autofree guint *classes = g_new(guint, n);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < n; i++) {
    g_ptr_array_add(names, g_strdup_printf("NAME^%u", i / 2));
    many[i] = (DemurPerson){NULL, "ANONYMOUS", names->pdata[i], NULL, NULL};
  }
  g_assert_cmpuint(demur_person_classes(many, n, classes), ==, n / 2);
  g_assert_cmpuint(classes[0], ==, classes[1]);
  g_assert_cmpuint(classes[0], !=, classes[2]);
}

/* What is written otherwise keeps its digest; whatever a witness says else changes it. */
static void
a_digest_is_of_what_is_compared(void) {
  const DemurPerson one = {"H", "1", "DOE^JANE", "19400131", "F"},
                    again = {"h", " 1", "doe, jane", "1940-01-31", "f"};
  g_autofree char *digest = demur_person_digest(&one), *same = demur_person_digest(&again);
  g_assert_cmpstr(digest, ==, same);
  const DemurPerson others[] = {{"G", "1", "DOE^JANE", "19400131", "F"},
                                {"H", "2", "DOE^JANE", "19400131", "F"},
                                {"H", "1", "DOE^JAN", "19400131", "F"},
                                {"H", "1", "DOE^JANE", "19400130", "F"},
                                {"H", "1", "DOE^JANE", "19400131", "M"}};
  for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autofree char *other = demur_person_digest(&others[i]);
    g_assert_cmpstr(other, !=, digest);
  }
}

static void
dates_are_days(void) {
  static const struct {
    const char *text;
    gboolean is_date;
  } rows[] = {{"20240229", TRUE},
              {"2024-02-29", TRUE},
              {"2024.02.29", TRUE},
              {"20230229", FALSE},
              {"2024-02-29T10:00:00Z", TRUE},
              {"", FALSE},
              {"T1", FALSE},
              {"20240", FALSE},
              {"2024-2-29", FALSE},
              {"00000000", FALSE},
              {"9999999a", FALSE},
              {NULL, FALSE}};
  gint64 first = 0, days = 0;
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_assert_cmpint(demur_person_date(rows[i].text, &days), ==, rows[i].is_date);
    if (i == 0)
      first = days;
    if (rows[i].is_date)
      g_assert_cmpint(days, ==, first);
    g_autofree char *date = demur_person_date_text(rows[i].text);
    g_assert_cmpstr(date, ==, rows[i].is_date ? "2024-02-29" : NULL);
  }
  g_assert_true(demur_person_date("20240301", &days));
  g_assert_cmpint(days, ==, first + 1);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/person/classes-of-what-is-written-badly",
                  classes_of_what_is_written_badly);
  g_test_add_func("/base/person/each-case-has-its-answer", each_case_has_its_answer);
  g_test_add_func("/base/person/records-fall-into-classes", records_fall_into_classes);
  g_test_add_func("/base/person/a-digest-is-of-what-is-compared", a_digest_is_of_what_is_compared);
  g_test_add_func("/base/person/dates-are-days", dates_are_days);
  return g_test_run();
}
