/* The table reader and the cohort import. Expected values are worked out by hand from the texts
 * that stand here; lines and columns are counted in them. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/random.h"
#include "cohort/columns.h"
#include "cohort/export.h"
#include "cohort/import.h"
#include "cohort/table.h"
#include "support/folder.h"
#include "support/support.h"

static char *folder;

static char *
write_bytes(const char *name, const char *bytes, gssize length) {
  return demur_test_write(folder, name, bytes, length);
}

static DemurCohort *
import(const char *text, gssize length, GPtrArray **warnings, GError **error) {
  g_autofree char *path = write_bytes("table.csv", text, length);
  const DemurImportOptions options = {.name = "c", .model = "m", .created = "2022-01-01"};
  return demur_cohort_import(path, &options, NULL, warnings, error);
}

/* The whole table as "a|b\nc|d\n", or the error. */
static char *
flatten(const char *text, gssize length) {
  g_autofree char *path = write_bytes("flat.csv", text, length);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTable) table = demur_table_open(path, &error);
  g_autoptr(GString) out = g_string_new(NULL);
  while (table != NULL) {
    const DemurTableField *fields;
    size_t n;
    if (!demur_table_next(table, &fields, &n, &error))
      break;
    if (n == 0)
      return g_string_free(g_steal_pointer(&out), FALSE);
    for (size_t i = 0; i < n; i++) {
      g_assert_cmpuint(strlen(fields[i].text), ==, fields[i].length);
      g_string_append_printf(out, "%s%s", i > 0 ? "|" : "", fields[i].text);
    }
    g_string_append_c(out, '\n');
  }
  g_assert_nonnull(error);
  return g_strdup(error->message);
}

static void
test_dialects(void) {
  static const struct {
    const char *text, *flat;
  } cases[] = {
      {" a , b\n 1 ,\" 2 \"\n,  \n", "a|b\n1| 2 \n"}, /* blanks around what is not quoted */
      {"a,b\n1,2\n", "a|b\n1|2\n"},
      {"\xef\xbb\xbf"
       "a,b\n1,2",
       "a|b\n1|2\n"},
      {"a;b\r\n1;2\r\n", "a|b\n1|2\n"},
      {"a\tb\n1\t2\n", "a|b\n1|2\n"},
      {"a;b,c;d\n1;2;3\n", "a|b,c|d\n1|2|3\n"},
      {"a,b\n\"1,\"\"x\"\"\",\"2\n3\"\n", "a|b\n1,\"x\"|2\n3\n"},
      {"a,b\n\"\",\n,\n\" \",\"\"\n1,2\n , \n", "a|b\n1|2\n"}, /* rows without anything */
      {"sep=;\na;b,c\n1;2\n", "a|b,c\n1|2\n"},
      {"\xef\xbb\xbf\"SEP=\t\"\r\na,b\tc\r\n1\t2\r\n", "a,b|c\n1|2\n"},
      {"sep=;\n", ""},
      {"a,b\r1,2\r\"3\r4\",5\r", "a|b\n1|2\n3\n4|5\n"}, /* CR ends lines */
      {"a,b\r\n1,2\n3\r4,5\n", "flat.csv: line 3, column 2: a carriage return inside a line; end "
                               "lines with LF or CRLF"},
      {"a,b\n\n1,2\n\r\n\n3,4\n\n", "a|b\n1|2\n3|4\n"},
      {"a,b\n1\n1,2,3\n", "a|b\n1\n1|2|3\n"},
      {"s\xc3\xa9,b\n\xe2\x82\xac,2\n", "s\xc3\xa9|b\n\xe2\x82\xac|2\n"},
      {"a,b\n1,2\n3,\"x", "flat.csv: line 3, column 3: this quote is never closed; close it or "
                          "double it"},
      {"a,b\n1,2\"\n", "flat.csv: line 2, column 4: a quote inside an unquoted field; quote the "
                       "whole field and double the quotes in it"},
      {"a,b\n1,\xff\n", "flat.csv: line 2, column 3: this byte is not UTF-8; save the table as "
                        "UTF-8"},
      {"a,b\n\"1\n2\",3\n4,\"5\"6\n",
       "flat.csv: line 4, column 6: text behind a closing quote; expected a comma or the end of "
       "the line (a quote inside a quoted field is doubled)"},
      {"a,b\n1,x\x1b[2J\n",
       "flat.csv: line 2, column 4: a control character (code 27); take it out of the table"},
      {"a,b\n1,\xc2\x9b\n", "flat.csv: line 2, column 3: a control character (U+0080 to U+009F); "
                            "take it out of the table"},
      {"", "flat.csv: line 1, column 1: the file is empty; expected a header line and rows"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *flat = flatten(cases[i].text, -1);
    g_assert_cmpstr(flat, ==, cases[i].flat);
  }
  g_autofree char *binary = flatten("a,b\n1,\0x\n", 10);
  g_assert_cmpstr(binary, ==,
                  "flat.csv: line 2, column 3: a NUL byte: this is a binary file, not a table; "
                  "expected CSV in UTF-8");
  g_autofree char *utf16 = flatten("\xff\xfe"
                                   "a\0,\0",
                                   6);
  g_assert_nonnull(strstr(utf16, "UTF-16"));
}

/* A record that crosses the reader's blocks must come out whole: 3 MiB in one quoted field. */
static void
test_long_records(void) {
  const size_t n = 3u << 20;
  g_autoptr(GString) text = g_string_new("a,b\n1,\"");
  for (size_t i = 0; i < n; i++)
    g_string_append_c(text, i % 80 == 79 ? '\n' : (char)('a' + i % 26));
  g_string_append(text, "\"\nx,y\n");
  g_autofree char *path = write_bytes("long.csv", text->str, (gssize)text->len);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTable) table = demur_table_open(path, &error);
  const DemurTableField *fields;
  size_t n_fields;
  g_assert_true(demur_table_next(table, &fields, &n_fields, &error));
  g_assert_true(demur_table_next(table, &fields, &n_fields, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(n_fields, ==, 2);
  g_assert_cmpuint(fields[1].length, ==, n);
  g_assert_true(memcmp(fields[1].text, text->str + 7, n) == 0);
  g_assert_true(demur_table_next(table, &fields, &n_fields, &error));
  g_assert_cmpstr(fields[0].text, ==, "x");
  g_assert_cmpuint(fields[0].line, ==, 3 + n / 80);
}

#define HEAD "patient_id,scan_id,site,split,label,risk\n"

static void
test_reads_binary_cohort(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(DemurCohort) c =
      import("risk;label;split;site;scan_id;patient_id;sex;emb_1;emb_0;risk_year_1;shift\n"
             "0.25;1;test;B;s1;p1;female;1.5;-2e-3;0.1;fog\n"
             "1;0;test;A;s2;p1;male;0;0.1;;clean\n"
             "0;;tune;B;s3;p2;female;3;4;0;clean\n",
             -1, &warnings, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(c->n_scans, ==, 3);
  g_assert_cmpuint(c->n_patients, ==, 2);
  g_assert_cmpuint(c->n_sites, ==, 2);
  g_assert_cmpuint(c->n_classes, ==, 2);
  g_assert_cmpuint(c->embedding_width, ==, 2);
  g_assert_cmpstr(c->scan_ids[1], ==, "s2");
  g_assert_cmpstr(c->patient_ids[c->patients[2]], ==, "p2");
  g_assert_cmpstr(c->site_names[c->sites[1]], ==, "A");
  g_assert_cmpstr(c->split_names[c->splits[2]], ==, "tune");
  g_assert_cmpint(c->labels[0], ==, 1);
  g_assert_cmpint(c->labels[2], ==, DEMUR_NO_LABEL);
  g_assert_cmpfloat(c->risks[0], ==, 0.25);
  g_assert_cmpfloat(c->embeddings[0], ==, -2e-3f);
  g_assert_cmpfloat(c->embeddings[1], ==, 1.5f);
  g_assert_cmpfloat(c->embeddings[5], ==, 3.0f);
  g_assert_cmpfloat(c->yearly_risks[0], ==, 0.1);
  g_assert_true(isnan(c->yearly_risks[1]));
  g_assert_true(isnan(c->yearly_risks[DEMUR_N_YEARS]));
  g_assert_cmpuint(c->n_attributes, ==, 2);
  const gssize sex = demur_cohort_find_attribute(c, "sex");
  g_assert_cmpstr(demur_cohort_attribute_text(c, (size_t)sex, 1), ==, "male");
  g_assert_cmpint(demur_cohort_find_scan(c, "s3"), ==, 2);
  g_assert_cmpint(demur_cohort_find_scan(c, "s4"), ==, -1);
  g_assert_cmpuint(warnings->len, ==, 1);
  const DemurTableWarning *warning = warnings->pdata[0];
  g_assert_cmpint(warning->kind, ==, DEMUR_TABLE_UNLABELLED);
  g_assert_cmpstr(warning->column, ==, "tune");
  g_assert_cmpuint(warning->n, ==, 1);
  g_assert_cmpuint(warning->n_all, ==, 1);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(c, "test", &n, &error);
  g_assert_cmpuint(n, ==, 2);
  g_assert_null(demur_cohort_rows(c, "validation", &n, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_assert_nonnull(strstr(error->message, "test, tune"));
}

static void
test_reads_classes(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = import("patient_id,site,split,label,prob_2,prob_0,prob_1\n"
                                    "a,s,test,2,0.5,0.2,0.3\n"
                                    "b,s,test,0,0.3,0.4,0.300001\n",
                                    -1, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(c->n_classes, ==, 3);
  g_assert_null(c->risks);
  g_assert_cmpfloat(c->probabilities[2], ==, 0.5);
  g_assert_cmpstr(c->scan_ids[1], ==, "b");
  g_assert_cmpfloat(demur_cohort_confidence_risk(c, 1), ==, 0.4);
  g_assert_cmpfloat(demur_cohort_confidence_label(c, 0), ==, 1.0);

  /* Two classes: the risk is prob_1; by the year: risk_year_6. */
  g_autoptr(DemurCohort) two =
      import("patient_id,site,split,label,prob_0,prob_1\na,s,test,1,0.75,0.25\n", -1, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(two->risks[0], ==, 0.25);
  g_autoptr(DemurCohort) year =
      import("patient_id,site,split,label,risk_year_6\na,s,test,1,0.125\n", -1, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(year->risks[0], ==, 0.125);
  g_assert_cmpfloat(year->yearly_risks[5], ==, 0.125);
}

/* Each faulty table is refused with the line and column of the fault and a word of the remedy. */
static void
test_refuses(void) {
  static const struct {
    const char *text, *at, *remedy;
  } cases[] = {
      {HEAD "p1,s1,A,test,1,0.5\np1,s2,A,tune,0,0.5\n", "line 3, column 9", "one split"},
      {HEAD "p1,s1,A,test,1,0.5\np2,s1,A,test,0,0.5\n", "line 3, column 4", "once"},
      {HEAD "p1,s1,A,test,1,1.2\n", "line 2, column 16", "between 0 and 1"},
      {HEAD "p1,s1,A,test,1,-0.1\n", "line 2, column 16", "between 0 and 1"},
      {HEAD "p1,s1,A,test,1,nan\n", "line 2, column 16", "not a finite number"},
      {HEAD "p1,s1,A,test,1,inf\n", "line 2, column 16", "not a finite number"},
      {HEAD "p1,s1,A,test,1,1e999\n", "line 2, column 16", "not a finite number"},
      {HEAD "p1,s1,A,test,1,\n", "line 2, column 16", "not a finite number"},
      {HEAD "p1,s1,A,test,1,\"0,5\"\n", "line 2, column 16", "decimal point"},
      {HEAD "p1,s1,A,test,2,0.5\n", "line 2, column 14", "from 0 to 1"},
      {HEAD "p1,s1,A,test,0.5,0.5\n", "line 2, column 14", "whole number"},
      {HEAD "p1,s1,A,test,1\n", "line 2, column 14", "5 fields where the header has 6"},
      {HEAD "p1,s1,A,test,1,0.5,9\n", "line 2, column 20", "7 fields where the header has 6"},
      {HEAD ",s1,A,test,1,0.5\n", "line 2, column 1", "patient_id"},
      {HEAD "p1,s1,,test,1,0.5\n", "line 2, column 7", "site"},
      {HEAD, "line 2, column 1", "no row"},
      {"", "line 1, column 1", "empty"},
      {"patient_id,scan_id,site,split,risk\np,s,A,test,0.5\n", "line 1", "no column label"},
      {"patient_id,scan_id,site,split,label\np,s,A,test,1\n", "line 1", "no column risk"},
      {"patient_id,site,split,label,risk,risk\np,A,test,1,0,0\n", "line 1, column 34", "once"},
      {",patient_id,site,split,label,risk\n0,p,A,test,1,0\n", "line 1, column 1", "index=False"},
      {"patient_id,site,split,label,risk\np,A,test,1,0\np,A,test,1,0\n", "line 3, column 1",
       "scan_id"},
      {"patient_id,site,split,label,risk,emb_0,emb_2\np,A,test,1,0,1,2\n", "line 1", "emb_1"},
      {"patient_id,site,split,label,risk,emb_0\np,A,test,1,0,nan\n", "line 2, column 14", "emb_0"},
      {"patient_id,site,split,label,risk,emb_0\np,A,test,1,0,1e39\n", "line 2, column 14", "emb_0"},
      {"patient_id,site,split,label,risk,risk_year_6\np,A,test,1,0.1,0.2\n", "line 2, column 16",
       "equal"},
      {"patient_id,site,split,label,prob_0\np,A,test,1,1\n", "line 1", "prob_1"},
      {"patient_id,site,split,label,prob_0,prob_1\np,A,test,1,0.5,0.50002\n", "line 2, column 16",
       "sum to 1"},
      {"patient_id,site,split,label,prob_0,prob_1,prob_2\np,A,test,3,0.5,0.25,0.25\n",
       "line 2, column 10", "from 0 to 2"},
      {"patient_id,site,split,label,risk,simulated\np,A,test,1,0,maybe\n", "line 2, column 14",
       "yes nor no"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(import(cases[i].text, -1, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].at) == NULL ||
        strstr(error->message, cases[i].remedy) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\" or \"%s\"", i, error->message, cases[i].at,
              cases[i].remedy);
  }
}

/* 25 faulty rows among 50: ten are shown, all are counted. */
static void
test_counts_all_bad_rows(void) {
  g_autoptr(GString) text = g_string_new(HEAD);
  for (int i = 0; i < 50; i++)
    g_string_append_printf(text, "p%d,s%d,A,test,1,%s\n", i, i, i % 2 == 0 ? "0.5" : "7");
  g_autoptr(GError) error = NULL;
  g_assert_null(import(text->str, -1, NULL, &error));
  g_assert_nonnull(strstr(error->message, "25 rows refused, nothing imported"));
  g_assert_nonnull(strstr(error->message, "line 21, column"));
  g_assert_null(strstr(error->message, "line 23, column"));
  g_assert_nonnull(strstr(error->message, "and 15 more"));
}

/* A text in a number's place may be a name that slipped by a column: it is not repeated. */
static void
test_keeps_names_out_of_messages(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(
      import(HEAD "Jane Doe,s1,A,test,1,Miller\nJane Doe,s2,A,tune,1,0\n", -1, NULL, &error));
  g_assert_null(strstr(error->message, "Jane"));
  g_assert_null(strstr(error->message, "Miller"));
}

static void
test_cancel(void) {
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_cancellable_cancel(cancellable);
  const DemurProgress progress = {.cancellable = cancellable};
  g_autofree char *path = write_bytes("cancel.csv", HEAD "p,s,A,test,1,0\n", -1);
  const DemurImportOptions options = {.name = "c"};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_cohort_import(path, &options, &progress, NULL, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Round trip: what is written reads back to the same digest and attributes; awkward texts and
 * floats too. */
static void
test_export_round_trip(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 3);
  const double risks[] = {0.1, 1.0 / 3.0, 5e-324, 1.0, 0.30000000000000004};
  const float embeddings[5][3] = {{0.1f, -0.0f, 1e-30f},
                                  {16777216.0f, 0.333333343f, -1e-5f},
                                  {3.40282347e38f, 1.17549435e-38f, 1e-45f},
                                  {99999.9922f, 100000.008f, 9.99999975e-06f},
                                  {123456.789f, 0.000123456789f, -7.0f}};
  static const char *const sites[] = {"A,B", "say \"hi\"", "two  blanks", "a blank", "\xc3\xa9;."};
  for (int i = 0; i < 5; i++) {
    g_autofree char *scan = g_strdup_printf("s%d", i);
    const double yearly[] = {0.05, NAN, 0.1, NAN, NAN, risks[i]};
    demur_cohort_builder_add(builder, scan, i < 2 ? "p" : scan, sites[i], "test", i % 2, &risks[i],
                             yearly, embeddings[i]);
    demur_cohort_builder_attribute(builder, "a \"quoted\" name", sites[4 - i]);
  }
  g_autoptr(DemurCohort) c =
      demur_cohort_builder_finish(builder, "x", "m", "test", "", TRUE, &error);
  g_assert_no_error(error);
  g_autofree char *path = g_build_filename(folder, "export.csv", NULL);
  g_assert_true(demur_cohort_export(c, path, NULL, &error));
  g_assert_no_error(error);
  const DemurImportOptions options = {.name = "y"};
  g_autoptr(DemurCohort) back = demur_cohort_import(path, &options, NULL, NULL, &error);
  g_assert_no_error(error);
  g_autofree char *before = demur_cohort_digest(c, NULL, 0),
                  *after = demur_cohort_digest(back, NULL, 0);
  g_assert_cmpstr(before, ==, after);
  g_assert_true(back->simulated);
  g_assert_cmpint(demur_cohort_find_attribute(back, "simulated"), ==, -1);
  for (size_t i = 0; i < 5; i++)
    g_assert_cmpstr(demur_cohort_attribute_text(back, 0, i), ==, sites[4 - i]);
  g_assert_false(g_file_test("export.csv.part", G_FILE_TEST_EXISTS));
}

/* Laws of the digest: named rows like all rows; another value, order or patient changes it; the
 * order in which columns stand and attributes do not. */
static void
test_digest_laws(void) {
  static const struct {
    const char *text;
    gboolean same;
  } cases[] = {
      {"patient_id,site,split,label,risk,sex\na,A,test,1,0.5,f\nb,B,test,0,0.25,m\n", TRUE},
      {"risk,label,split,site,patient_id\n0.5,1,test,A,a\n0.25,0,test,B,b\n", TRUE},
      {"patient_id,scan_id,site,split,label,risk\na,a,A,test,1,5e-1\nb,b,B,test,0,.25\n", TRUE},
      {"patient_id,site,split,label,risk\nb,B,test,0,0.25\na,A,test,1,0.5\n", FALSE},
      {"patient_id,site,split,label,risk\na,A,test,1,0.5\nb,B,test,1,0.25\n", FALSE},
      {"patient_id,site,split,label,risk\na,A,test,1,0.5\nb,A,test,0,0.25\n", FALSE},
      {"patient_id,site,split,label,risk\na,A,tune,1,0.5\nb,B,test,0,0.25\n", FALSE},
      {"patient_id,site,split,label,risk\na,A,test,1,0.5\nb,B,test,0,0.2500000000000001\n", FALSE},
      {"patient_id,scan_id,site,split,label,risk\na,a,A,test,1,.5\na,b,B,test,0,.25\n", FALSE},
  };
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) base = import(
      "patient_id,site,split,label,risk\na,A,test,1,0.5\nb,B,test,0,0.25\n", -1, NULL, &error);
  g_autofree char *digest = demur_cohort_digest(base, NULL, 0);
  const guint32 rows[] = {0, 1};
  g_autofree char *named = demur_cohort_digest(base, rows, 2);
  g_assert_cmpstr(digest, ==, named);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(DemurCohort) other = import(cases[i].text, -1, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *d = demur_cohort_digest(other, NULL, 0);
    if (cases[i].same)
      g_assert_cmpstr(d, ==, digest);
    else
      g_assert_cmpstr(d, !=, digest);
  }
}

/* Bytes changed, dropped and doubled at random: each table is read or refused with one error, and
 * what is read is written and read again to the same digest. */
static void
test_mutations(void) {
  static const char base[] = "patient_id,scan_id,site,split,label,risk,emb_0,note\r\n"
                             "p1,s1,A,test,1,0.5,1e-3,\"a \"\"b\"\",\n c\"\r\n"
                             "p1,s2,A,test,0,0.25,-2,\xc3\xa9\r\n"
                             "p2,s3,B,tune,,1,3.5,\r\n";
  static const char letters[] = ",;\t\"\n\r\0\xff\xc3"
                                "01.eE-+p";
  g_autofree char *copy = g_build_filename(folder, "copy.csv", NULL);
  size_t n_read = 0, n_refused = 0;
  for (guint64 i = 0; i < 2000; i++) {
    DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, i, 0, 0);
    g_autoptr(GString) text = g_string_new_len(base, sizeof base - 1);
    const guint64 n_changes = i == 0 ? 0 : 1 + demur_random_below(&random, 3);
    for (guint64 k = 0; k < n_changes; k++) {
      const gssize at = (gssize)demur_random_below(&random, text->len);
      const char letter = letters[demur_random_below(&random, sizeof letters - 1)];
      switch (demur_random_below(&random, 3)) {
      case 0:
        text->str[at] = letter;
        break;
      case 1:
        g_string_erase(text, at, 1);
        break;
      default:
        g_string_insert_c(text, at, letter);
        break;
      }
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) c = import(text->str, (gssize)text->len, NULL, &error);
    g_assert_true((c == NULL) == (error != NULL));
    if (c == NULL) {
      g_assert_true(g_utf8_validate(error->message, -1, NULL));
      n_refused++;
      continue;
    }
    if (n_read++ >= 40) /* writing waits for the disk each time */
      continue;
    g_assert_true(demur_cohort_export(c, copy, NULL, &error));
    const DemurImportOptions options = {.name = "copy"};
    g_autoptr(DemurCohort) back = demur_cohort_import(copy, &options, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *before = demur_cohort_digest(c, NULL, 0),
                    *after = demur_cohort_digest(back, NULL, 0);
    g_assert_cmpstr(before, ==, after);
  }
  /* The unchanged table is read; most changes hit a name or a text and a good part a number or a
   * quote. */
  g_assert_cmpuint(n_read, >, 100);
  g_assert_cmpuint(n_refused, >, 100);
}

static void
test_attach(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c =
      import(HEAD "p1,s1,A,test,1,0.5\np1,s2,A,test,1,0.5\np2,s3,B,test,1,0.5\n", -1, NULL, &error);
  g_autofree char *path = write_bytes(
      "attributes.csv",
      "sex,patient_id,age,site,emb_0,emb_1,risk_year_1,risk,risk_year_2\nf,p1,60,Z,1,2,0,0,0\n"
      "m,p9,50,Z,1,2,0,0,0\nf,p1,60,Z,1,2,0,0,0\n",
      -1);
  g_autoptr(DemurAttached) a =
      demur_cohort_attach_table(c, path, "patient_id", NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  /* Not site and the embedding, which the cohort has of its own: told, once for all numbers. */
  g_assert_cmpuint(a->n_attributes, ==, 2);
  static const char *const own[] = {"site", "emb_0", "risk_year_1", "risk"};
  g_assert_cmpuint(a->warnings->len, ==, G_N_ELEMENTS(own));
  for (guint w = 0; w < a->warnings->len; w++) {
    const DemurTableWarning *warning = a->warnings->pdata[w];
    g_assert_cmpint(warning->kind, ==, DEMUR_TABLE_OWN_COLUMN);
    g_assert_cmpstr(warning->column, ==, own[w]);
  }
  g_assert_cmpstr(a->attributes[0].name, ==, "sex");
  g_assert_cmpuint(a->n_matched, ==, 2);
  g_assert_cmpuint(a->n_unmatched, ==, 1);
  g_assert_cmpuint(a->n_unused, ==, 1);
  g_assert_cmpstr(a->attributes[1].values[a->attributes[1].codes[1]], ==, "60");
  g_assert_cmpstr(a->attributes[1].values[a->attributes[1].codes[2]], ==, "");

  g_autofree char *twice = write_bytes("twice.csv", "patient_id,age\np1,60\np1,61\n", -1);
  g_assert_null(demur_cohort_attach_table(c, twice, "patient_id", NULL, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, "line 3, column 4"));
}

/* The real cohort: sizes from its folder's README (19,285 rows; 5,783 test scans of 150 sites stand
 * in docs/commands.md as an example and are not checked), and the round trip. */
static void
test_real_cohort_round_trip(void) {
  g_autofree char *path = demur_test_shared("cohorts/ist_deaddep6m.csv");
  if (path == NULL)
    return;
  g_autoptr(GError) error = NULL;
  const DemurImportOptions options = {.name = "ist"};
  g_autoptr(DemurCohort) c = demur_cohort_import(path, &options, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(c->n_scans, ==, 19285);
  g_assert_cmpuint(c->n_patients, ==, 19285);
  g_assert_cmpuint(c->embedding_width, ==, 32);
  g_autofree char *copy = g_build_filename(folder, "ist.csv", NULL);
  g_assert_true(demur_cohort_export(c, copy, NULL, &error));
  g_autoptr(DemurCohort) back = demur_cohort_import(copy, &options, NULL, NULL, &error);
  g_assert_no_error(error);
  g_autofree char *before = demur_cohort_digest(c, NULL, 0),
                  *after = demur_cohort_digest(back, NULL, 0);
  g_assert_cmpstr(before, ==, after);
}

/* Every column that a cohort keeps is told where people look up what a table may hold. */
static void
test_the_guide_tells_every_column(void) {
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "docs", "file-formats.md", NULL);
  g_autofree char *guide = NULL;
  if (!g_file_get_contents(path, &guide, NULL, NULL)) {
    g_test_skip("docs/file-formats.md is not found: set G_TEST_SRCDIR to the source folder");
    return;
  }
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    const DemurCohortColumn *column = &demur_cohort_columns[c];
    g_autofree char *number = g_strdup_printf("%d", column->first_number);
    g_autofree char *name =
        g_strdup_printf("`%s%s`", column->header, column->width == DEMUR_CELL_ONE ? "" : number);
    if (strstr(guide, name) == NULL)
      g_error("docs/file-formats.md does not tell the column %s", name);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-table-XXXXXX", NULL);
  g_test_add_func("/cohort/table/dialects-and-faults", test_dialects);
  g_test_add_func("/cohort/table/records-longer-than-a-block", test_long_records);
  g_test_add_func("/cohort/import/binary", test_reads_binary_cohort);
  g_test_add_func("/cohort/import/classes", test_reads_classes);
  g_test_add_func("/cohort/import/refuses-with-place-and-remedy", test_refuses);
  g_test_add_func("/cohort/import/counts-all-bad-rows", test_counts_all_bad_rows);
  g_test_add_func("/cohort/import/keeps-names-out-of-messages", test_keeps_names_out_of_messages);
  g_test_add_func("/cohort/import/can-be-cancelled", test_cancel);
  g_test_add_func("/cohort/export/reads-back-to-the-same-digest", test_export_round_trip);
  g_test_add_func("/cohort/digest/laws", test_digest_laws);
  g_test_add_func("/cohort/import/random-changes", test_mutations);
  g_test_add_func("/cohort/attach/joins-by-key", test_attach);
  g_test_add_func("/cohort/columns/guide", test_the_guide_tells_every_column);
  g_test_add_func("/cohort/real/round-trip", test_real_cohort_round_trip);
  const int status = g_test_run();
  demur_test_remove_folder(folder);
  g_free(folder);
  return status;
}
