/* Reports of small and odd cohorts, on both papers: every one is written, and its pages hold. Right
 * values: a page is sound where no word stands outside it or on another word, no number is "nan",
 * every font is embedded and qpdf finds no fault; groups of fewer than ten scans are withheld in
 * the JSON; what the first sentence must say follows from how the cohort was made. */
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EDGE 20.0  /* points that no word comes nearer to the paper's edge */
#define SHARE 0.35 /* of a word's height that another may reach into it (descenders) */

/* ---- cohorts ---- */

typedef enum {
  ROWS_USUAL,
  ROWS_TIED,      /* every test scan the same */
  ROWS_ONE_LABEL, /* no test scan has the outcome */
  ROWS_REFUSED,   /* far from every other scan, and of no confidence */
  ROWS_SURE,      /* in the middle of the others, of the highest confidence: what tunes those */
} RowKind;

typedef struct {
  const char *name;
  RowKind kind;
  guint n_test, n_sites, n_classes;
  const char *const *site_names; /* patterns with %u in turn; NULL: "site %03u" */
  const char *headline;          /* words of the first sentence; NULL: not said */
} Odd;

static const char *const long_names[] = {
    "Hospital-with-a-name-of-eighty-characters-without-a-blank-in-it-so-it-can't-break%03u",
    "Universitätsklinikum für diagnostische Radiologie der Stadt am langen Fluss, Haus %03u"};
static const char *const scripts[] = {
    "مستشفى بيت لحم %u", "בית חולים %u",  "東京大学医学部附属病院%u",
    "서울대학교병원 %u", "โรงพยาบาล %u",  "अस्पताल %u",
    "Больница %u",       "Νοσοκομείο %u", "አዲስ ሆስፒታል %u"};

static const Odd odds[] = {
    {"thirty scans", ROWS_USUAL, 30, 25, 2, NULL, NULL},
    {"one site", ROWS_USUAL, 200, 1, 2, NULL, "cannot be decided from 1\302\240site"},
    {"one label", ROWS_ONE_LABEL, 200, 24, 2, NULL, "occurs in this split"},
    {"all refused", ROWS_REFUSED, 200, 24, 2, NULL, "refuses every scan"},
    {"all ties", ROWS_TIED, 200, 24, 2, NULL, NULL},
    {"ten classes", ROWS_USUAL, 400, 24, 10, NULL, NULL},
    {"long names", ROWS_USUAL, 400, 30, 2, long_names, NULL},
    {"scripts", ROWS_USUAL, 400, 27, 2, scripts, NULL},
    {"four hundred sites", ROWS_USUAL, 4400, 400, 2, NULL, NULL},
};

static char *
site_name(const Odd *odd, guint site) {
  if (odd->site_names == NULL)
    return g_strdup_printf("site %03u", site);
  const guint n = odd->site_names == scripts ? G_N_ELEMENTS(scripts) : G_N_ELEMENTS(long_names);
  g_auto(GStrv) parts = g_strsplit(odd->site_names[site % n], "%", 2);
  g_autofree char *number = g_strdup_printf("%03u", site);
  return g_strconcat(parts[0], number, NULL);
}

static void
add_rows(GString *table, GRand *random, const Odd *odd, const char *split, guint n, RowKind kind,
         guint *patient) {
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = site_name(odd, i % odd->n_sites);
    double risk = pow(g_rand_double(random), 3.0), emb[2];
    gboolean label = g_rand_double(random) < risk;
    for (int k = 0; k < 2; k++)
      emb[k] = g_rand_double_range(random, -1, 1);
    if (kind == ROWS_TIED || kind == ROWS_REFUSED) {
      risk = kind == ROWS_TIED ? 0.3 : 0.5;
      emb[0] = emb[1] = kind == ROWS_TIED ? 0 : 40;
    }
    if (kind == ROWS_SURE) {
      risk = 0.001;
      emb[0] = emb[1] = 0;
      label = FALSE;
    }
    if (kind == ROWS_ONE_LABEL)
      label = FALSE;
    g_string_append_printf(table, "p%u,\"%s\",%s,", (*patient)++, name, split);
    if (odd->n_classes == 2)
      g_string_append_printf(table, "%d,%.6f", label, risk);
    else {
      /* One class likely, the others share the rest; right more often the likelier it is. */
      const double top = g_rand_double_range(random, 0.2, 0.9);
      const guint likely = (guint)g_rand_int_range(random, 0, (gint32)odd->n_classes),
                  other = (guint)g_rand_int_range(random, 0, (gint32)odd->n_classes);
      g_string_append_printf(table, "%u", g_rand_double(random) < top ? likely : other);
      for (guint k = 0; k < odd->n_classes; k++)
        g_string_append_printf(table, ",%.8f",
                               k == likely ? top : (1 - top) / (double)(odd->n_classes - 1));
    }
    g_string_append_printf(table, ",%.4f,%.4f,%s\n", emb[0], emb[1], i % 2 ? "GE" : "Siemens");
  }
}

static char *
make_table(const Sandbox *sandbox, const Odd *odd) {
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label");
  if (odd->n_classes == 2)
    g_string_append(table, ",risk");
  for (guint k = 0; odd->n_classes > 2 && k < odd->n_classes; k++)
    g_string_append_printf(table, ",prob_%u", k);
  g_string_append(table, ",emb_0,emb_1,manufacturer\n");
  GRand *random = g_rand_new_with_seed(11);
  guint patient = 0;
  add_rows(table, random, odd, "base_train", 200, ROWS_USUAL, &patient);
  add_rows(table, random, odd, "selector_train", MAX(400, odd->n_sites), ROWS_USUAL, &patient);
  add_rows(table, random, odd, "validation", 100, ROWS_USUAL, &patient);
  add_rows(table, random, odd, "tune", 150, odd->kind == ROWS_REFUSED ? ROWS_SURE : ROWS_USUAL,
           &patient);
  add_rows(table, random, odd, "test", odd->n_test, odd->kind, &patient);
  g_rand_free(random);
  return sandbox_write(sandbox, "odd.csv", table->str, -1);
}

/* ---- pages ---- */

/* What a program prints (owned); NULL where it is not installed. */
static char *
output_of(const char *name, const char *const *words, int *status) {
  g_autofree char *program = g_find_program_in_path(name);
  if (program == NULL)
    return NULL;
  g_autoptr(GPtrArray) line = g_ptr_array_new();
  g_ptr_array_add(line, program);
  for (size_t i = 0; words[i] != NULL; i++)
    g_ptr_array_add(line, (gpointer)words[i]);
  g_ptr_array_add(line, NULL);
  char *out = NULL;
  int wait = 0;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(NULL, (char **)line->pdata, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL,
               &wait, &error);
  g_assert_no_error(error);
  if (status != NULL)
    *status = g_spawn_check_wait_status(wait, NULL) ? 0 : 1;
  return out;
}

typedef struct {
  double box[4]; /* left, top, right, bottom */
  char *text;
} Word;

static void
word_clear(gpointer data) {
  g_free(((Word *)data)->text);
}

/* The value of attribute="number" in a line; NaN where there is none. */
static double
attribute(const char *line, const char *name) {
  g_autofree char *key = g_strconcat(" ", name, "=\"", NULL);
  const char *at = strstr(line, key);
  return at != NULL ? g_ascii_strtod(at + strlen(key), NULL) : NAN;
}

static gboolean
is_no_number(const char *text) {
  static const char *const bad[] = {"nan", "inf", "(null)", "-nan", "-inf", "nan%", "inf%"};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
    if (g_ascii_strcasecmp(text, bad[i]) == 0)
      return TRUE;
  return FALSE;
}

/* The faults of one page of `pdftotext -bbox`, in words. */
static void
check_page(const GArray *words, guint page, double width, double height, GString *faults) {
  for (guint i = 0; i < words->len; i++) {
    const Word *a = &g_array_index(words, Word, i);
    if (a->box[0] < EDGE || a->box[1] < EDGE || a->box[2] > width - EDGE ||
        a->box[3] > height - EDGE)
      g_string_append_printf(faults, "page %u: '%s' leaves the page\n", page, a->text);
    if (is_no_number(a->text))
      g_string_append_printf(faults, "page %u: '%s'\n", page, a->text);
    for (guint k = 0; k < i; k++) {
      const Word *b = &g_array_index(words, Word, k);
      const double across = fmin(a->box[2], b->box[2]) - fmax(a->box[0], b->box[0]),
                   down = fmin(a->box[3], b->box[3]) - fmax(a->box[1], b->box[1]),
                   least = fmin(a->box[3] - a->box[1], b->box[3] - b->box[1]);
      if (across > 0.5 && down > SHARE * least)
        g_string_append_printf(faults, "page %u: '%s' stands on '%s'\n", page, a->text, b->text);
    }
  }
}

/* Pages of the listing, with their faults. */
static guint
check_words(const char *listing, GString *faults) {
  g_auto(GStrv) lines = g_strsplit(listing, "\n", -1);
  g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(Word));
  g_array_set_clear_func(words, word_clear);
  guint page = 0;
  double width = 0, height = 0;
  for (char **line = lines; *line != NULL; line++) {
    if (strstr(*line, "<page ") != NULL) {
      page++;
      width = attribute(*line, "width");
      height = attribute(*line, "height");
      g_array_set_size(words, 0);
    } else if (strstr(*line, "</page>") != NULL) {
      check_page(words, page, width, height, faults);
    } else if (strstr(*line, "<word ") != NULL) {
      const char *text = strchr(*line, '>'), *end = strstr(*line, "</word>");
      g_assert_true(text != NULL && end != NULL && text < end);
      const Word word = {{attribute(*line, "xMin"), attribute(*line, "yMin"),
                          attribute(*line, "xMax"), attribute(*line, "yMax")},
                         g_strndup(text + 1, (gsize)(end - text - 1))};
      g_array_append_val(words, word);
    }
  }
  return page;
}

/* The check itself: a page made by hand with one fault of each kind, and one without. */
static void
test_faults_are_found(void) {
  static const char page[] =
      "<page width=\"600\" height=\"800\">\n"
      "<word xMin=\"50\" yMin=\"50\" xMax=\"90\" yMax=\"60\">one</word>\n%s\n</page>\n";
  static const struct {
    const char *line, *says;
  } cases[] = {
      {"<word xMin=\"92\" yMin=\"50\" xMax=\"120\" yMax=\"60\">two</word>", NULL},
      {"<word xMin=\"50\" yMin=\"57\" xMax=\"90\" yMax=\"67\">below</word>", NULL},
      {"<word xMin=\"88\" yMin=\"52\" xMax=\"120\" yMax=\"62\">two</word>", "stands on"},
      {"<word xMin=\"560\" yMin=\"50\" xMax=\"590\" yMax=\"60\">two</word>", "leaves the page"},
      {"<word xMin=\"92\" yMin=\"785\" xMax=\"120\" yMax=\"795\">two</word>", "leaves the page"},
      {"<word xMin=\"92\" yMin=\"50\" xMax=\"120\" yMax=\"60\">nan</word>", "'nan'"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(GStrv) parts = g_strsplit(page, "%s", 2);
    g_autofree char *listing = g_strconcat(parts[0], cases[i].line, parts[1], NULL);
    g_autoptr(GString) faults = g_string_new(NULL);
    g_assert_cmpuint(check_words(listing, faults), ==, 1);
    if (cases[i].says == NULL)
      g_assert_cmpstr(faults->str, ==, "");
    else
      g_assert_nonnull(strstr(faults->str, cases[i].says));
  }
}

static void
check_pages(const char *pdf) {
  const char *const bbox[] = {"-bbox", pdf, "-", NULL}, *const check[] = {"--check", pdf, NULL},
                    *const fonts[] = {pdf, NULL};
  g_autofree char *listing = output_of("pdftotext", bbox, NULL);
  if (listing != NULL) {
    g_autoptr(GString) faults = g_string_new(NULL);
    g_assert_cmpuint(check_words(listing, faults), >=, 8);
    if (faults->len > 0) {
      g_test_message("%s\n%s", pdf, faults->str);
      g_test_fail();
    }
  }
  int status = 0;
  g_autofree char *checked = output_of("qpdf", check, &status);
  g_assert_cmpint(status, ==, 0);
  g_autofree char *listed = output_of("pdffonts", fonts, NULL);
  if (listed != NULL) {
    g_auto(GStrv) lines = g_strsplit(listed, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), >, 3);
    for (guint i = 2; lines[i] != NULL && *lines[i] != '\0'; i++)
      g_assert_nonnull(strstr(lines[i], " yes yes yes ")); /* embedded, subset, Unicode */
  }
}

/* No group of fewer than ten scans has a number in the JSON, and those that have one have ten. */
static void
check_small_cells(JsonObject *root) {
  JsonArray *lists[] = {array_at(object_at(root, "cohort"), "sites"), array_at(root, "rejections")};
  for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
    for (guint i = 0; i < json_array_get_length(lists[l]); i++) {
      JsonObject *group = json_array_get_object_element(lists[l], i);
      if (!is_null_at(group, "n_scans"))
        g_assert_cmpfloat(number_at(group, "n_scans"), >=, 10);
      else if (json_object_has_member(group, "n_rejected"))
        g_assert_true(is_null_at(group, "n_rejected") && is_null_at(group, "interval"));
    }
}

static void
test_odd_cohort(gconstpointer data) {
  const Odd *odd = data;
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *table = make_table(sandbox, odd);
  g_autoptr(Run) import =
      run_demur(sandbox, "cohort", "import", "c", table, "--model", "made", NULL);
  assert_status(import, 0);
  g_autoptr(Run) train = train_small(sandbox, "s", "c", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune = run_demur(sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9", NULL);
  assert_status(tune, 0);
  /* In turn on one paper and the other; -m thorough: on both. */
  static const char *const papers[] = {"a4", "letter"};
  const size_t first = (size_t)(odd - odds) % 2;
  for (size_t p = 0; p < G_N_ELEMENTS(papers); p++) {
    if (p != first && !g_test_thorough())
      continue;
    g_autofree char *file = g_strconcat(papers[p], ".pdf", NULL),
                    *pdf = sandbox_path(sandbox, file),
                    *json_file = g_strconcat(papers[p], ".json", NULL),
                    *json = sandbox_path(sandbox, json_file);
    g_autoptr(Run) report = run_demur(sandbox, "report", pdf, "--selector", "s", "--cohort", "c",
                                      "--bootstrap", "20", "--paper", papers[p], NULL);
    assert_status(report, 0);
    check_pages(pdf);
    if (p != first)
      continue;
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    json_parser_load_from_file(parser, json, &error);
    g_assert_no_error(error);
    JsonObject *root = json_node_get_object(json_parser_get_root(parser));
    check_small_cells(root);
    if (odd->headline != NULL)
      assert_says(string_at(object_at(root, "finding"), "headline"), odd->headline);
    g_autoptr(Run) verify = run_demur(sandbox, "report", "verify", pdf, NULL);
    assert_status(verify, 0);
  }
}

/* Numbers that so few scans do not have (a site error of one site, an interval of a measure that is
 * not defined in every replicate) are gaps in what is printed for people. */
static void
test_gaps_are_said(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  const Odd few = {.n_sites = 3, .n_classes = 2}, one = {.n_sites = 1, .n_classes = 2};
  g_autoptr(GString) table =
      g_string_new("patient_id,site,split,label,risk,emb_0,emb_1,manufacturer\n");
  GRand *random = g_rand_new_with_seed(3);
  guint patient = 0;
  add_rows(table, random, &few, "selector_train", 60, ROWS_USUAL, &patient);
  add_rows(table, random, &one, "tune", 2, ROWS_SURE, &patient);
  add_rows(table, random, &one, "test", 2, ROWS_USUAL, &patient);
  g_rand_free(random);
  g_autofree char *path = sandbox_write(sandbox, "few.csv", table->str, -1);
  g_autoptr(Run) import = run_demur(sandbox, "cohort", "import", "c", path, NULL),
                 train = train_small(sandbox, "s", "c", NULL),
                 tune = run_demur(sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9", NULL);
  assert_status(import, 0);
  assert_status(train, 0);
  assert_status(tune, 0);
  g_autoptr(Run) none = run_demur(sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9",
                                  "--guarantee", "ppv:0.5:0.1", NULL),
                 validate =
                     run_demur(sandbox, "validate", "s", "--cohort", "c", "--folds", "2", NULL),
                 ablate = run_demur(sandbox, "ablate", "s", "--cohort", "c", "--without",
                                    "without_class", "--bootstrap", "20", NULL),
                 evaluate = run_demur(sandbox, "evaluate", "--selector", "s", "--cohort", "c",
                                      "--bootstrap", "20", NULL);
  const Run *const runs[] = {none, validate, ablate, evaluate};
  const int statuses[] = {1, 0, 0, 0};
  for (size_t r = 0; r < G_N_ELEMENTS(runs); r++) {
    assert_status(runs[r], statuses[r]);
    g_autofree char *said = g_strconcat(runs[r]->out, " ", runs[r]->err, NULL);
    g_auto(GStrv) words = g_strsplit_set(said, " \n\t()+,:;", -1);
    for (char **word = words; *word != NULL; word++)
      if (is_no_number(*word))
        g_error("%s", said);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/odd/faults of a page are found", test_faults_are_found);
  g_test_add_func("/commands/odd/gaps are said", test_gaps_are_said);
  for (size_t i = 0; i < G_N_ELEMENTS(odds); i++) {
    g_autofree char *path = g_strdup_printf("/commands/odd/%s", odds[i].name);
    g_test_add_data_func(path, &odds[i], test_odd_cohort);
  }
  return g_test_run();
}
