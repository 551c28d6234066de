/* The report of a family. Right values: what is withheld, by hand; the horizons' documents as
 * demur_report_json gives each alone; text and outline taken out of the PDF by pdftotext and qpdf,
 * where they are installed. */
#include "report/family.h"
#include "report/layout.h"
#include "report-fixture.h"
#include "support/folder.h"
#include "support/support.h"

#include <json-glib/json-glib.h>

static const int years[] = {1, 6};

/* all: 1000 scans, 100 events, unless the row says otherwise. */
static const struct {
  size_t n_all;
  double observed_all;
  size_t n_shown;
  double observed_shown;
  gboolean all_withheld, shown_withheld;
} rows[] = {
    {1000, 0.100, 700, 0.050, FALSE, FALSE},  /* 35 events shown, 65 held back */
    {1000, 0.100, 700, 0.012, FALSE, TRUE},   /* 8 events shown */
    {1000, 0.100, 995, 0.090, FALSE, TRUE},   /* 5 scans held back */
    {1000, 0.100, 900, 0.105, FALSE, TRUE},   /* 95 events shown: 5 held back */
    {1000, 0.100, 1000, 0.100, FALSE, FALSE}, /* nothing held back */
    {1000, 0.009, 700, 0.009, TRUE, TRUE},    /* 9 events in all */
};

static void
fill_years(DemurFamilyYear *by_year) {
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    by_year[i] = (DemurFamilyYear){(int)i + 1,
                                   {rows[i].n_all, 0.08, rows[i].observed_all,
                                    0.8 * rows[i].observed_all, 1.2 * rows[i].observed_all},
                                   {rows[i].n_shown, 0.04, rows[i].observed_shown,
                                    0.8 * rows[i].observed_shown, 1.2 * rows[i].observed_shown},
                                   FALSE};
}

typedef struct {
  Fixture *of[2];
  const DemurReportInput *inputs[2];
  DemurFamilyYear by_year[G_N_ELEMENTS(rows)];
  DemurFamilyReport family;
} Family;

static void
family_make(Family *f, DemurPaper paper) {
  const FixtureKind kinds[] = {{.n_classes = 2, .n_sites = 34}, {.n_classes = 2, .n_sites = 8}};
  for (int h = 0; h < 2; h++) {
    f->of[h] = fixture_new(&kinds[h]);
    f->of[h]->input.paper = paper;
    f->inputs[h] = &f->of[h]->input;
  }
  fill_years(f->by_year);
  f->family = (DemurFamilyReport){.name = "nlst",
                                  .n = 2,
                                  .years = years,
                                  .horizons = f->inputs,
                                  .coverage = 0.9,
                                  .n_scans = 1337,
                                  .n_shown = 1100,
                                  .shown_known = TRUE,
                                  .n_by_year = G_N_ELEMENTS(rows),
                                  .by_year = f->by_year,
                                  .estimator = "Kaplan-Meier"};
}

static void
family_clear(Family *f) {
  for (int h = 0; h < 2; h++)
    fixture_free(f->of[h]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Family, family_clear)

static JsonObject *
root_of_text(JsonParser *parser, const char *text) {
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  return json_node_get_object(json_parser_get_root(parser));
}

static void
small_numbers_are_withheld(void) {
  g_auto(Family) f = {0};
  family_make(&f, DEMUR_PAPER_A4);
  g_autofree char *text = demur_family_report_json(&f.family);
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *over = json_object_get_object_member(root_of_text(parser, text), "over_the_years");
  JsonArray *by_year = json_object_get_array_member(over, "years");
  g_assert_cmpuint(json_array_get_length(by_year), ==, G_N_ELEMENTS(rows));
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    JsonObject *year = json_array_get_object_element(by_year, i),
               *all = json_object_get_object_member(year, "all"),
               *shown = json_object_get_object_member(year, "shown");
    g_assert_cmpint(json_object_get_null_member(all, "observed"), ==, rows[i].all_withheld);
    g_assert_cmpint(json_object_get_null_member(shown, "observed"), ==, rows[i].shown_withheld);
    g_assert_cmpint(json_object_get_null_member(shown, "n"), ==, rows[i].shown_withheld);
    g_assert_cmpint(demur_family_withholds(&f.family, &f.by_year[i], TRUE), ==,
                    rows[i].shown_withheld);
    if (!rows[i].all_withheld)
      demur_assert_close(json_object_get_double_member(all, "oe_ratio"),
                         rows[i].observed_all / 0.08, 1e-12, 0);
  }
  f.by_year[0].shown_tells = TRUE;
  g_assert_true(demur_family_withholds(&f.family, &f.by_year[0], TRUE));
  g_assert_false(demur_family_withholds(&f.family, &f.by_year[0], FALSE));
  f.by_year[0].shown_tells = FALSE;
  g_assert_false(demur_family_withholds(&f.family, &f.by_year[0], TRUE));
  f.family.shown_known = FALSE;
  g_assert_true(demur_family_withholds(&f.family, &f.by_year[0], TRUE));
  g_assert_false(demur_family_withholds(&f.family, &f.by_year[0], FALSE));
}

static void
each_horizon_is_as_its_own_report(void) {
  g_auto(Family) f = {0};
  family_make(&f, DEMUR_PAPER_A4);
  g_autofree char *text = demur_family_report_json(&f.family);
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *root = root_of_text(parser, text);
  g_assert_cmpstr(json_object_get_string_member(root, "format"), ==, DEMUR_FAMILY_REPORT_FORMAT);
  JsonArray *horizons = json_object_get_array_member(root, "horizons");
  g_assert_cmpuint(json_array_get_length(horizons), ==, 2);
  for (guint h = 0; h < 2; h++) {
    JsonObject *ours = json_array_get_object_element(horizons, h);
    g_assert_cmpint(json_object_get_int_member(ours, "years"), ==, years[h]);
    json_object_remove_member(ours, "years");
    g_autofree char *alone = demur_report_json(f.inputs[h]);
    g_autoptr(JsonParser) other = json_parser_new();
    g_assert_nonnull(root_of_text(other, alone));
    g_assert_true(
        json_node_equal(json_array_get_element(horizons, h), json_parser_get_root(other)));
  }
  demur_assert_close(demur_family_simultaneous_level(6), 0.7, 1e-12, 0);
  g_assert_cmpfloat(demur_family_simultaneous_level(1), ==, 0.95);
}

/* What a program prints of the file; NULL where it is not installed. */
static char *
printed(const char *program, const char *option, const char *path, const char *out) {
  g_autofree char *found = g_find_program_in_path(program), *text = NULL;
  if (!found)
    return NULL;
  const char *const argv[] = {found, option, path, out, NULL};
  g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                             &text, NULL, NULL, NULL));
  return g_steal_pointer(&text);
}

static void
assert_before(const char *text, const char *first, const char *second) {
  const char *a = strstr(text, first), *b = a ? strstr(a, second) : NULL;
  if (!b)
    g_error("'%s' and behind it '%s' do not stand in the text", first, second);
}

/* On both papers: the page over the years first, each horizon's finding and what to read with care on
 * the page where its part begins, and the part named in the head of its pages. */
static void
the_pages_stand_in_order(void) {
  const DemurPaper papers[] = {DEMUR_PAPER_A4, DEMUR_PAPER_LETTER};
  g_autofree char *folder = g_dir_make_tmp("demur-family-XXXXXX", NULL),
                  *path = g_build_filename(folder, "f.pdf", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(papers); i++) {
    g_auto(Family) f = {0};
    family_make(&f, papers[i]);
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_family_report_write(&f.family, path, NULL, &error));
    g_assert_no_error(error);
    g_autofree char *text = printed("pdftotext", "-layout", path, "-"),
                    *outline = printed("qpdf", "--json", path, "--json-key=outlines");
    if (!text || !outline) {
      g_test_skip("poppler-utils or qpdf is not installed");
      break;
    }
    g_auto(GStrv) pages = g_strsplit(text, "\f", -1);
    g_auto(GStrv) words = g_strsplit_set(pages[0], " \n", -1);
    g_autoptr(GString) flowing = g_string_new(NULL);
    for (char **word = words; *word != NULL; word++)
      if (**word != '\0')
        g_string_append_printf(flowing, "%s ", *word);
    assert_before(flowing->str,
                  "Against confidence: better within 1 year; cannot be decided within 6 years",
                  "shows those of 1,100 scans, a coverage of 82.3");
    assert_before(pages[0], "Over the years", "Each horizon by its own threshold");
    assert_before(pages[0], "promised to 90 % only", "Within 1 year");
    guint n_parts = 0, n_named = 0;
    for (char **page = pages; *page != NULL; page++) {
      const gboolean begins =
          strstr(*page, "\nWithin 1 year\n") || strstr(*page, "\nWithin 6 years\n");
      n_parts += begins ? 1 : 0;
      n_named += strstr(*page, "split test · Within ") ? 1 : 0;
      if (begins)
        assert_before(*page, "Within ", "Read with care");
    }
    g_assert_cmpuint(n_parts, ==, 2);
    g_assert_cmpuint(n_named, >=, 6);
    g_assert_cmpuint(n_named, <, g_strv_length(pages) - 3);
    assert_before(outline, "\"title\": \"Results\"", "\"title\": \"Within 1 year\"");
    assert_before(outline, "\"title\": \"Within 6 years\"", "\"title\": \"Limits\"");
  }
  demur_test_remove_folder(folder);
}

/* The first page as words with one blank between; NULL: pdftotext is not installed. */
static char *
first_page(const Family *f, const char *path) {
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_family_report_write(&f->family, path, NULL, &error));
  g_assert_no_error(error);
  g_autofree char *text = printed("pdftotext", "-layout", path, "-");
  if (!text)
    return NULL;
  g_auto(GStrv) pages = g_strsplit(text, "\f", 2);
  g_auto(GStrv) words = g_strsplit_set(pages[0], " \n", -1);
  g_autoptr(GString) flowing = g_string_new(NULL);
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0')
      g_string_append_printf(flowing, "%s ", *word);
  return g_strdup(flowing->str);
}

/* The first page says of which scans O:E of the accepted is, where not of those of its coverage, and
 * has no gap where it is withheld. */
static void
counted_sets_are_told(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-family-XXXXXX", NULL),
                  *path = g_build_filename(folder, "f.pdf", NULL);
  g_auto(Family) f = {0};
  family_make(&f, DEMUR_PAPER_A4);
  DemurOperatingPoint *at[2];
  for (int h = 0; h < 2; h++) {
    DemurMethodResult *m = &f.of[h]->evaluation.methods[0];
    at[h] = &m->at[m->n_at - 1];
    at[h]->realised = 0.8;
    at[h]->n_accepted = at[h]->n_counted = 800;
    at[h]->measures[DEMUR_MEASURE_OE_RATIO] = 1.25;
    at[h]->intervals[DEMUR_MEASURE_OE_RATIO] = (DemurInterval){NAN, NAN};
  }
  g_autofree char *all = first_page(&f, path);
  at[0]->n_counted = 750;
  at[1]->n_counted = 0;
  at[1]->measures[DEMUR_MEASURE_OE_RATIO] = NAN;
  g_autofree char *others = first_page(&f, path);
  if (!all || !others) {
    g_test_skip("poppler-utils is not installed");
  } else {
    g_assert_null(strstr(all, "with the highest scores"));
    assert_before(others, "O:E, accepted", "withheld");
    assert_before(others, "Against confidence: difference in", "So that from no two numbers");
    assert_before(others, "within 1 year of the 750 scans with the highest scores",
                  "a coverage of 75.0");
    g_assert_nonnull(strstr(others, "are no such set."));
  }
  demur_test_remove_folder(folder);
}

static void
pages_belong_to_parts(void) {
  g_autoptr(DemurLayout) layout = demur_layout_new(200, 200, (DemurRectangle){10, 10, 180, 180},
                                                   demur_palette_paper(), NULL, NULL, NULL);
  demur_layout_text(layout, DEMUR_TEXT_TITLE, "first");
  demur_layout_part(layout, "P");
  demur_layout_text(layout, DEMUR_TEXT_TITLE, "finding");
  demur_layout_text(layout, DEMUR_TEXT_SECTION, "inner");
  demur_layout_page_break(layout, 0);
  demur_layout_text(layout, DEMUR_TEXT_BODY, "goes on");
  demur_layout_part(layout, NULL);
  demur_layout_text(layout, DEMUR_TEXT_SECTION, "last");
  g_assert_cmpuint(demur_layout_paginate(layout), ==, 4);
  const char *const right[] = {NULL, "P", "P", NULL};
  for (size_t page = 0; page < G_N_ELEMENTS(right); page++)
    g_assert_cmpstr(demur_layout_part_at(layout, page), ==, right[page]);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/family/withheld", small_numbers_are_withheld);
  g_test_add_func("/report/family/horizons", each_horizon_is_as_its_own_report);
  g_test_add_func("/report/family/pages", the_pages_stand_in_order);
  g_test_add_func("/report/family/counted", counted_sets_are_told);
  g_test_add_func("/report/family/parts", pages_belong_to_parts);
  return g_test_run();
}
