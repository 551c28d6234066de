/* Tables as hospitals have them. Each row of the tables below is one thing that was sent somewhere:
 * what is read, what is told of it and what is refused stands in the contract (commands.md, "Added
 * in the second round"); values, lines and columns are worked out by hand. */
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/import.h"
#include "cohort/table-source.h"
#include "cohort/nlst.h"
#include "cohort/table-text.h"
#include "support/folder.h"
#include "support/support.h"

static char *folder;

static char *
write_bytes(const char *name, const char *bytes, gssize length) {
  return demur_test_write(folder, name, bytes, length);
}

static DemurCohort *
import_with(const char *text, const DemurImportOptions *options, GPtrArray **warnings,
            GError **error) {
  g_autofree char *path = write_bytes("table.csv", text, -1);
  return demur_cohort_import(path, options, NULL, warnings, error);
}

static DemurCohort *
import(const char *text, GPtrArray **warnings, GError **error) {
  const DemurImportOptions options = {.name = "c", .model = "m"};
  return import_with(text, &options, warnings, error);
}

/* "kind column n; .." of all that was noticed. */
static char *
summary_of(const GPtrArray *warnings) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < warnings->len; i++) {
    const DemurTableWarning *w = warnings->pdata[i];
    g_string_append_printf(text, "%s%s %s %zu", i > 0 ? "; " : "",
                           demur_table_warning_name(w->kind), w->column != NULL ? w->column : "-",
                           w->n);
  }
  return g_string_free(text, FALSE);
}

#define HEAD "patient_id,scan_id,site,split,label,risk"
#define ROW "p1,s1,A,train,1,0.5\n"
#define NBSP "\xc2\xa0"
#define ZWSP "\xe2\x80\x8b"
#define NNBSP "\xe2\x80\xaf"

static void
test_noticed(void) {
  static const struct {
    const char *text, *noticed;
  } cases[] = {
      {HEAD "\n" ROW, ""},
      /* identifiers: blanks of every kind, invisible characters, decomposed letters */
      {HEAD "\n" ROW "p1" NBSP ",s2,A,train,1,0.5\n", "trimmed patient_id 1"},
      {HEAD "\n" ROW "\"p1 \",s2,A,train,1,0.5\n", "trimmed patient_id 1"},
      {HEAD "\n" ROW "p1\t,s2,A,train,1,0.5\n", "trimmed patient_id 1"},
      {HEAD "\n" ROW "p" ZWSP "1,s2,A,train,1,0.5\n", "trimmed patient_id 1"},
      {HEAD "\n" ROW NNBSP "p1,s2,A,train,1,0.5\n", "trimmed patient_id 1"},
      {HEAD "\n" ROW "p1,s2\xef\xbb\xbf,A\xc2\xad,\"train\n\",1,0.5\n",
       "trimmed scan_id 1; trimmed site 1; trimmed split 1"},
      {HEAD "\nMu\xcc\x88,s1,A,train,1,0.5\nM\xc3\xbc,s2,A,train,1,0.5\n", "composed patient_id 1"},
      /* look-alikes that stay two, in one split */
      {HEAD "\n" ROW "P1,s2,A,train,1,0.5\n", "like patient_id 1"},
      {HEAD "\n7,s1,A,train,1,0.5\n007,s2,A,train,1,0.5\n7.0,s3,A,train,1,0.5\n",
       "like patient_id 2"},
      {HEAD "\nMuller,s1,A,train,1,0.5\nM\xc3\xbcller,s2,A,train,1,0.5\n", "like patient_id 1"},
      {HEAD "\n\xd0\xa0"
            "1,s2,A,train,1,0.5\n" ROW,
       "like patient_id 1"}, /* Cyrillic Er */
      {HEAD "\np 1,s2,A,train,1,0.5\n" ROW, "like patient_id 1"},
      {HEAD "\n" ROW "p2,S1,a,Train,1,0.5\n", "like scan_id 1; like site 1; like split 1"},
      {HEAD "\n" ROW "1.67683E+15,s2,A,train,1,0.5\n", "rewritten patient_id 1"},
      {HEAD "\n" ROW "100234.0,s2,A,train,1,0.5\n", "rewritten patient_id 1"},
      {HEAD "\n" ROW "12.0,s2,A,train,1,0.5\n", ""},
      {HEAD "\n" ROW "3-Feb,s2,A,train,1,0.5\n", "rewritten patient_id 1"},
      {HEAD "\n" ROW "3-Feb-1,s2,A,train,1,0.5\n", "rewritten patient_id 1"},
      {HEAD "\n" ROW "3-2,s2,A,train,1,0.5\n", ""},
      {HEAD "\n" ROW "12-34-56,s2,A,train,1,0.5\n", ""},
      {HEAD "\n" ROW "May,s2,A,train,1,0.5\n", ""},
      {HEAD "\n" ROW "#12,s2,A,train,1,0.5\n", ""},
      {HEAD "\n" ROW "p2,s2,888,train,1,0.5\n", "code site 1"},
      {HEAD "\n" ROW NBSP ",,,,,\n", "empty_rows - 1"},
      {HEAD ",Risk\n"
            "p1,s1,A,train,1,0.5,2\n",
       "like_column Risk 1"},
      {HEAD "\n" ROW "1234567890123450000,s2,A,train,1,0.5\n", "rewritten patient_id 1"},
      {HEAD "\n" ROW "NA,s2,A,train,1,0.5\n", "id_missing patient_id 1"},
      /* words for not recorded */
      {HEAD ",sex\n"
            "p1,s1,A,train,1,0.5,NA\np2,s2,A,train,0,0.5,unknown\np3,s3,A,train,0,0.5,\n",
       "missing_words sex 2"},
      {HEAD ",sex\n"
            "p1,s1,A,train,1,0.5,#NV\np2,s2,A,train,0,0.5,k.A.\np3,s3,A,train,0,0.5,Unbekannt\n",
       "missing_words sex 3"},
      {HEAD ",sex\n"
            "p1,s1,A,train,1,0.5,N.A.\np2,s2,A,train,0,0.5,n. d.\np3,s3,A,train,0,0.5,UNK\n"
            "p4,s4,A,train,0,0.5,\xe2\x80\x94\n",
       "missing_words sex 4"},
      {HEAD
       ",sex\n"
       "p1,s1,A,train,1,0.5,ND\np2,s2,A,train,0,0.5,Unkel\np3,s3,A,train,0,0.5,\xe2\x80\x94 4\n",
       ""},
      {HEAD "\n" ROW "p2,s2,A,train,N/A,0.5\n", "missing_words label 1; unlabelled train 1"},
      {HEAD ",risk_year_1\np1,s1,A,train,1,0.5,#N/A\n", "missing_words risk_year_.. 1"},
      /* codes */
      {HEAD ",age\np1,s1,A,train,1,0.5,61\np2,s2,A,train,0,0.5,70\np3,s3,A,train,0,0.5,999\n"
            "p4,s4,A,train,0,0.5,999\n",
       "code age 2"},
      {HEAD ",age\np1,s1,A,train,1,0.5,61\np2,s2,A,train,0,0.5,70\np3,s3,A,train,0,0.5,998\n"
            "p4,s4,A,train,0,0.5,9997\n",
       "code age 1; code age 1"},
      {HEAD "\n" ROW "999,s2,A,train,0,0.5\n999,s3,A,train,0,0.5\n", "code patient_id 2"},
      {HEAD "\n100,s1,A,train,0,0.5\n-9,s2,A,train,0,0.5\n", "code patient_id 1"},
      {HEAD "\n100,s1,A,train,0,0.5\n1200,s2,A,train,0,0.5\n999,s3,A,train,0,0.5\n"
            "999,s4,A,train,0,0.5\n",
       ""},
      {HEAD ",packs\np1,s1,A,train,1,0.5,0\np2,s2,A,train,0,0.5,70\np3,s3,A,train,0,0.5,-1\n",
       "code packs 1"},
      {HEAD ",hu\np1,s1,A,train,1,0.5,-999\np2,s2,A,train,0,0.5,-700\np3,s3,A,train,0,0.5,70\n",
       ""},
      {HEAD ",packs\np1,s1,A,train,1,0.5,90\np2,s2,A,train,0,0.5,70\np3,s3,A,train,0,0.5,99\n", ""},
      /* numbers in another notation, which stay texts; ranges, dates and names are none */
      {HEAD ",dose\np1,s1,A,train,1,0.5,1'234.5\np2,s2,A,train,0,0.5,870\n",
       "other_numbers dose 1"},
      {HEAD ",dose\np1,s1,A,train,1,0.5,\"12,5\"\np2,s2,A,train,0,0.5,30 %\np3,s3,A,train,0,0.5,1 "
            "234\np4,s4,A,train,0,0.5,1" NBSP "234\n"
            "p5,s5,A,train,1,0.5,12.5\n",
       "other_numbers dose 4"},
      {HEAD ",dose\np1,s1,A,train,1,0.5,\"- 1.234.567,5\"\np2,s2,A,train,0,0.5,\"1,234.5\"\n"
            "p3,s3,A,train,0,0.5,\"0,125 %\"\np4,s4,A,train,0,0.5,7\n",
       "other_numbers dose 3"},
      {HEAD ",age\np1,s1,A,train,1,0.5,40-50\np2,s2,A,train,0,0.5,1.02.2020\n", ""},
      {HEAD ",lobes\np1,s1,A,train,1,0.5,\"0,1,2\"\np2,s2,A,train,0,0.5,2\n", ""},
      {HEAD ",lobes\np1,s1,A,train,1,0.5,\"2, 5\"\np2,s2,A,train,0,0.5,2\n", ""},
      {HEAD ",lobes\np1,s1,A,train,1,0.5,\"2,5\"\np2,s2,A,train,0,0.5,\"1,3\"\n", ""},
      {HEAD ",born\np1,s1,A,train,1,0.5,04 08 2021\np2,s2,A,train,0,0.5,1951\n", ""},
      {HEAD ",ward\np1,s1,A,train,1,0.5,030 123\np2,s2,A,train,0,0.5,40\n", ""},
      {HEAD ",pressure\np1,s1,A,train,1,0.5,120 80\np2,s2,A,train,0,0.5,130\n", ""},
      {HEAD ",dose\np1,s1,A,train,1,0.5,5-10 %\np2,s2,A,train,0,0.5,7\n", ""},
      {HEAD ",ward\np1,s1,A,train,1,0.5,\"1,5\"\np2,s2,A,train,0,0.5,north\n", ""},
      /* rows without anything, falling years, a column beside the known one */
      {HEAD "\n" ROW ",,,,,\n \n\n,,,,,\n", "empty_rows - 3"},
      {HEAD ",risk_year_1\np1,s1,A,train,1,0.5,0.25\np2,s2,A,train,1,0.5,0.75\n", ""},
      {HEAD ",risk_year_6,risk_year_1\np1,s1,A,train,1,0.5,0.5,0.75\n", "falling - 1"},
      {HEAD ",Site\np1,s1,A,train,1,0.5,x\n", "like_column Site 1"},
      {HEAD "\np1,s1,A,train,1,0.5", "ends_open - 1"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].text);
    g_autoptr(GPtrArray) warnings = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) cohort = import(cases[i].text, &warnings, &error);
    g_assert_no_error(error);
    g_autofree char *noticed = summary_of(warnings);
    g_assert_cmpstr(noticed, ==, cases[i].noticed);
    /* Nobody is merged by what was trimmed but those who are the same. */
    for (size_t p = 0; p < cohort->n_patients; p++)
      g_assert_true(g_utf8_validate(cohort->patient_ids[p], -1, NULL));
  }
}

static void
test_refused(void) {
  static const struct {
    const char *text, *at, *says;
  } cases[] = {
      /* one person in two splits, whichever way it is spelled */
      {HEAD "\n" ROW "p1" NBSP ",s2,A,test,1,0.5\n", "line 3, column 11 (split)", "one split"},
      {HEAD "\n" ROW "P1,s2,A,test,1,0.5\n", "line 3, column 1 (patient_id)",
       "'P1' looks like 'p1' of line 2"},
      {HEAD "\n7,s1,A,train,1,0.5\n007,s2,A,test,1,0.5\n", "line 3, column 1", "'007' looks like"},
      {HEAD "\n7,s1,A,train,1,0.5\n7.0,s2,A,test,1,0.5\n", "line 3, column 1", "'7.0' looks like"},
      {HEAD "\nM\xc3\xbcller,s1,A,train,1,0.5\nMULLER,s2,A,test,1,0.5\n", "line 3, column 1",
       "looks like"},
      {HEAD "\np-1,s1,A,train,1,0.5\np\xe2\x80\x93"
            "1,s2,A,test,1,0.5\n",
       "line 3, column 1", "looks like"},
      /* several persons become one */
      {HEAD "\n1.67683E+15,s1,A,train,1,0.5\n1.67683E+15,s2,A,train,1,0.5\n", "line 3, column 1",
       "spreadsheet"},
      {HEAD "\n1.6e15,s1,A,train,1,0.5\n1.6e15,s2,A,train,1,0.5\n", "line 3, column 1",
       "spreadsheet"},
      {HEAD "\n-1,s1,A,train,1,0.5\n-1,s2,A,train,1,0.5\n", "line 3, column 1", "not recorded"},
      {HEAD "\n-99,s1,A,train,1,0.5\n-99,s2,A,train,1,0.5\n", "line 3, column 1", "not recorded"},
      {HEAD "\n2-Mar,s1,A,train,1,0.5\n2-Mar,s2,A,train,1,0.5\n", "line 3, column 1", "rewritten"},
      {HEAD "\nDez 21,s1,A,train,1,0.5\nDez 21,s2,A,train,1,0.5\n", "line 3, column 1",
       "rewritten"},
      {HEAD "\n03/02/2021,s1,A,train,1,0.5\n03/02/2021,s2,A,train,1,0.5\n", "line 3, column 1",
       "rewritten"},
      {HEAD "\n2021-02-03,s1,A,train,1,0.5\n2021-02-03,s2,A,train,1,0.5\n", "line 3, column 1",
       "rewritten"},
      {HEAD "\n####,s1,A,train,1,0.5\n####,s2,A,train,1,0.5\n", "line 3, column 1", "rewritten"},
      {HEAD "\n#REF!,s1,A,train,1,0.5\n#REF!,s2,A,train,1,0.5\n", "line 3, column 1", "rewritten"},
      {"patient_id|scan_id|site|split|label|risk\np1|s1|A|train|1|0.5\n", "line 1, column 1",
       "'|'"},
      {"sep=;\n" HEAD "\n" ROW, "line 2, column 1", "','"},
      {"sep=|\n" HEAD "\n" ROW, "line 1, column 1", "separator"},
      {"patient_id,scan_id,site,split,label,ri" ZWSP "sk\n" ROW, "line 1", "looks like risk"},
      {"patient_id,scan_id,site,split,label,r\xd1\x96sk\n" ROW, "line 1", "looks like risk"},
      {HEAD "\n1E+15,s1,A,train,1,0.5\n1E+15,s2,A,train,1,0.5\n", "line 3, column 1",
       "spreadsheet"},
      {HEAD "\nNA,s1,A,train,1,0.5\nNA,s2,A,train,1,0.5\n", "line 3, column 1", "not recorded"},
      {HEAD "\n" NBSP ",s1,A,train,1,0.5\n", "line 2, column 1", "every scan needs its patient_id"},
      /* no hospital, no split */
      {HEAD "\np1,s1,NA,train,1,0.5\n", "line 2, column 7 (site)", "'NA' means not recorded"},
      {HEAD "\np1,s1,#N/A,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,#NV,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,unbekannt,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,-,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,Unknown,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,N.A.,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,n. a.,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,n.d.,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,UNK,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,keine Angabe,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,\xe2\x80\x93,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,\xe2\x80\x94,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,\xe2\x88\x92,train,1,0.5\n", "line 2, column 7", "not recorded"},
      {HEAD "\np1,s1,A,null,1,0.5\n", "line 2, column 9", "not recorded"},
      /* numbers in local spelling, by their name */
      {HEAD "\np1,s1,A,train,1,\"0,5\"\n", "line 2, column 17", "a decimal comma"},
      {HEAD "\np1,s1,A,train,1,50%\n", "line 2, column 17", "a per cent sign, %"},
      {HEAD "\np1,s1,A,train,1,50 \xef\xbc\x85\n", "line 2, column 17", "a per cent sign, %"},
      {HEAD "\np1,s1,A,train,1,\"1,000.5\"\n", "line 2, column 17", "a thousands separator"},
      {HEAD "\np1,s1,A,train,1,1'000\n", "line 2, column 17", "a thousands separator"},
      {HEAD "\np1,s1,A,train,1,\"1,000\"\n", "line 2, column 17", "decimal comma"},
      {HEAD "\np1,s1,A,train,1,0" NBSP "5\n", "line 2, column 17", "a blank or an invisible"},
      {HEAD "\np1,s1,A,train,1,\xe2\x88\x92"
            "0.5\n",
       "line 2, column 17", "a minus sign"},
      {HEAD "\np1,s1,A,train,1,NA\n", "line 2, column 17", "a word for not recorded"},
      {HEAD "\np1,s1,A,train,1,999\n", "line 2, column 17", "a code for not recorded"},
      {HEAD "\np1,s1,A,train,1,-1\n", "line 2, column 17", "a code for not recorded"},
      /* headers */
      {"patient_id,site,split,label" NBSP ",risk\np,A,t,1,0.5\n", "line 1, column 23",
       "label[U+00A0] looks like label; write it so (small letters, no blanks)"},
      {"patient_id,site,split,label,\"risk \t\xef\xbb\xbf\"\np,A,t,1,0.5\n", "line 1", "risk"},
      {"Patient ID,site,split,label,risk\np,A,t,1,0.5\n", "line 1, column 1", "patient_id"},
      {"PATIENT_ID,SITE,SPLIT,LABEL,RISK\np,A,t,1,0.5\n", "line 1, column 1", "patient_id"},
      {"Lung cohort,,,,\npatient_id,site,split,label,risk\np,A,t,1,0.5\n", "line 1, column 13",
       "title"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(import(cases[i].text, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].at) == NULL ||
        strstr(error->message, cases[i].says) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\" or \"%s\"", i, error->message, cases[i].at,
              cases[i].says);
  }
}

/* Files that are no text in UTF-8 are refused by their name. */
static void
test_foreign_files(void) {
  static const struct {
    const char *bytes;
    gssize n;
    const char *says;
  } cases[] = {
      {"\xff\xfep\0a\0", 6, "UTF-16"},
      {"\xfe\xff\0p\0a", 6, "UTF-16"},
      {"p\0a\0t\0", 6, "UTF-16"},
      {"\0p\0a\0t", 6, "UTF-16"},
      {"\xff\xfe\0\0p\0\0\0", 8, "UTF-32"},
      {"PK\3\4rest", 8, ".xlsx"},
      {"\xd0\xcf\x11\xe0\xa1\xb1", 6, ".xls"},
      {"PAR1abcd", 8, "Parquet"},
      {"\x1f\x8b\x08\0", 4, "cut off"},
      {"patient_id\xe4,x\n", -1, "not UTF-8"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = write_bytes("foreign.csv", cases[i].bytes, cases[i].n);
    g_autoptr(GError) error = NULL;
    const DemurImportOptions options = {.name = "c"};
    g_assert_null(demur_cohort_import(path, &options, NULL, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\"", i, error->message, cases[i].says);
  }
}

/* The bytes by gzip, at least one member. */
static void
append_gzip(GByteArray *out, const char *text, size_t n) {
  z_stream z = {.next_in = (Bytef *)(gpointer)text, .avail_in = (uInt)n};
  guint8 packed[4096];
  g_assert_cmpint(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
  z.next_out = packed;
  z.avail_out = sizeof packed;
  g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_append(out, packed, (guint)(sizeof packed - z.avail_out));
  deflateEnd(&z);
}

/* One content in every wrapping: one digest. */
static void
test_wrappings(void) {
  static const char text[] = HEAD "\n" ROW "p2,s2,B,test,0,0.25\n";
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) plain = import(text, NULL, &error);
  g_assert_no_error(error);
  g_autofree char *digest = demur_cohort_digest(plain, NULL, 0);
  g_autoptr(GByteArray) packed = g_byte_array_new();
  append_gzip(packed, text, 30);
  append_gzip(packed, text + 30, sizeof text - 1 - 30); /* members in a row are one file */
  g_autofree char *gz = write_bytes("t.csv.gz", (const char *)packed->data, (gssize)packed->len);
  g_autofree char *named = write_bytes("t.csv", (const char *)packed->data, (gssize)packed->len);
  const DemurImportOptions options = {.name = "c", .model = "m"};
  const char *const paths[] = {gz, named};
  for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(DemurCohort) cohort = demur_cohort_import(paths[i], &options, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *same = demur_cohort_digest(cohort, NULL, 0);
    g_assert_cmpstr(same, ==, digest);
  }
  for (guint cut = 1; cut < packed->len; cut++) {
    g_autofree char *part = write_bytes("part.gz", (const char *)packed->data, (gssize)cut);
    g_autoptr(GError) refused = NULL;
    g_autoptr(DemurCohort) cohort = demur_cohort_import(part, &options, NULL, NULL, &refused);
    /* The first member alone is a whole file, whose last row is short. */
    g_assert_null(cohort);
    g_assert_error(refused, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_test_message("%s", refused->message);
    g_assert_true(g_regex_match_simple("line [0-9]+, column [0-9]+[ :]", refused->message, 0, 0));
  }
}

/* A megabyte that unpacks to a gigabyte of sound rows is given up when it has unpacked to a hundred
 * times its size: counted, whatever the machine's speed. A table that packs as tables do is read. */
static void
test_gzip_bomb(void) {
  static const char row[] = "p,s,A,test,0,0.25\n";
  const size_t n_rows = ((size_t)200 << 20) / (sizeof row - 1);
  g_autoptr(GString) text = g_string_sized_new(n_rows * (sizeof row - 1));
  for (size_t i = 0; i < n_rows; i++)
    g_string_append_len(text, row, sizeof row - 1);
  g_autofree guint8 *packed = g_malloc((size_t)8 << 20);
  z_stream z = {.next_in = (Bytef *)text->str, .avail_in = (uInt)text->len};
  g_assert_cmpint(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
  z.next_out = packed;
  z.avail_out = 8u << 20;
  g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
  const gssize n_packed = (gssize)z.total_out;
  deflateEnd(&z);
  g_autofree char *path = write_bytes("bomb.csv.gz", (const char *)packed, n_packed);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTableSource) source = demur_table_source_open(path, &error);
  g_assert_no_error(error);
  const size_t limit = MAX((size_t)64 << 20, (size_t)n_packed * 100);
  g_assert_cmpuint(limit, <, text->len / 2);
  size_t n = 0, got = 1;
  while (demur_table_source_read(source, text->str, 1 << 20, &got, &error) && got > 0)
    n += got;
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, "times its size"));
  g_assert_cmpuint(n, <=, limit + (2 << 20));
}

static void
test_columns_by_a_map(void) {
  static const char table[] = "MRN,Klinik,Teil,Befund,Score,Alter,Name\np1,A,train,1,0.5,60,Doe\n";
  static const char map[] = "column,means\nMRN,patient_id\nKlinik,site\nTeil,split\n"
                            "Befund,label\nScore,risk\nAlter,age\nName,-\n";
  g_autofree char *path = write_bytes("map.csv", map, -1);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurColumnMap) columns = demur_column_map_read(path, &error);
  g_assert_no_error(error);
  const DemurImportOptions options = {.name = "c", .columns = columns};
  g_autoptr(DemurCohort) cohort = import_with(table, &options, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(cohort->n_attributes, ==, 1);
  g_assert_cmpstr(cohort->attributes[0].name, ==, "age");
  g_assert_cmpfloat(cohort->risks[0], ==, 0.5);
  static const struct {
    const char *map, *says;
  } refused[] = {
      {"column,means\nMRN,patient_id\nKlinik,patient_id\n", "line 3, column 8 (means)"},
      {"column,means\nMRN,patient_id\nMRN,site\n", "line 3, column 1 (column)"},
      {"column,means\n,site\n", "line 2, column 1 (column)"},
      {"column\nMRN\n", "no column means"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autofree char *other = write_bytes("other.csv", refused[i].map, -1);
    g_autoptr(GError) fault = NULL;
    g_assert_null(demur_column_map_read(other, &fault));
    g_assert_nonnull(strstr(fault->message, refused[i].says));
  }
  /* An entry that the table does not have is no silence. */
  g_autofree char *more = write_bytes("more.csv", "column,means\nNobody,age\n", -1);
  g_autoptr(DemurColumnMap) unused = demur_column_map_read(more, &error);
  const DemurImportOptions with_unused = {.name = "c", .columns = unused};
  g_assert_null(import_with(HEAD "\n" ROW, &with_unused, NULL, &error));
  g_assert_nonnull(strstr(error->message, "more.csv: line 2, column 1: the table has no column "
                                          "Nobody"));
}

/* What calzone reads and writes: class probabilities, labels and subgroups, and nobody's name. */
static void
test_predictions_alone(void) {
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort =
      import("proba_0,proba_1,subgroup_1,label\n0.75,0.25,A,0\n0.5,0.5,B,1\n", &warnings, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(cohort->n_scans, ==, 2);
  g_assert_cmpuint(cohort->n_patients, ==, 2);
  g_assert_cmpuint(cohort->n_sites, ==, 1);
  g_assert_cmpstr(cohort->split_names[0], ==, "test");
  g_assert_cmpfloat(cohort->risks[0], ==, 0.25);
  g_assert_cmpint(cohort->labels[1], ==, 1);
  g_assert_cmpstr(cohort->attributes[0].name, ==, "subgroup_1");
  g_autofree char *noticed = summary_of(warnings);
  g_assert_cmpstr(noticed, ==, "bare - 0");
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"proba_0,proba_1,site,label\n0.75,0.25,A,0\n", "no column patient_id"},
      {"proba_0,prob_0,proba_1,label\n0.75,0.75,0.25,0\n", "a second column prob_0"},
      {"proba_1,label\n0.25,0\n", "prob_0 is missing"},
      {"Proba_0,proba_1,label\n0.75,0.25,0\n", "Proba_0 looks like"},
      {"risk,label\n0.25,0\n", "no column patient_id"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) fault = NULL;
    g_assert_null(import(cases[i].text, NULL, &fault));
    g_assert_nonnull(strstr(fault->message, cases[i].says));
  }
}

/* Laws of splits that are made: whole groups, shares within a group's size, the same for a seed. */
static void
test_splits_are_made(void) {
  g_autoptr(GString) text = g_string_new("patient_id,scan_id,site,label,risk\n");
  for (int i = 0; i < 1000; i++)
    g_string_append_printf(text, "p%d,s%d,h%d,%d,0.5\n", i / 2, i, i / 50, i % 2);
  static const char *const plans[] = {"patient 0.4,0.2,0.1,0.3", "site 0.4,0.2,0.1,0.3",
                                      "patient:selector_train=0.7,test=0.3"};
  for (size_t k = 0; k < G_N_ELEMENTS(plans); k++) {
    g_auto(DemurSplitPlan) plan = {0};
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_split_plan_parse(&plan, plans[k], &error));
    const DemurImportOptions options = {.name = "c", .splits = &plan, .seed = 7};
    g_autoptr(DemurCohort) cohort = import_with(text->str, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(cohort->n_splits, ==, plan.n);
    size_t n[4] = {0};
    for (size_t i = 0; i < cohort->n_scans; i++) {
      n[cohort->splits[i]]++;
      for (size_t j = i; j-- > 0 && i - j < 60;)
        if (plan.by_site ? cohort->sites[j] == cohort->sites[i]
                         : cohort->patients[j] == cohort->patients[i])
          g_assert_cmpuint(cohort->splits[i], ==, cohort->splits[j]);
    }
    for (size_t s = 0; s < plan.n; s++)
      g_assert_cmpfloat(ABS((double)n[s] - 1000.0 * plan.shares[s]), <=, plan.by_site ? 50.0 : 2.0);
    g_autoptr(DemurCohort) again = import_with(text->str, &options, NULL, &error);
    g_autofree char *one = demur_cohort_digest(cohort, NULL, 0),
                    *other = demur_cohort_digest(again, NULL, 0);
    g_assert_cmpstr(one, ==, other);
    /* A table that has splits is not given others. */
    g_assert_null(import_with(HEAD "\n" ROW, &options, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  /* Two spellings of one patient stay together, whatever the seed. */
  g_autoptr(GString) twins = g_string_new("patient_id,scan_id,site,label,risk\n");
  for (int i = 0; i < 60; i++)
    g_string_append_printf(twins, "%03d,s%d,h,0,0.5\n%d,t%d,h,0,0.5\n", i, i, i, i);
  for (guint64 seed = 0; seed < 20; seed++) {
    g_auto(DemurSplitPlan) halves = {0};
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_split_plan_parse(&halves, "patient a=0.5,b=0.5", &error));
    const DemurImportOptions options = {.name = "c", .splits = &halves, .seed = seed};
    g_autoptr(DemurCohort) cohort = import_with(twins->str, &options, NULL, &error);
    g_assert_no_error(error);
    for (size_t i = 0; i < cohort->n_scans; i += 2)
      g_assert_cmpuint(cohort->splits[i], ==, cohort->splits[i + 1]);
  }
  /* A patient at two sites keeps both in one split. */
  g_auto(DemurSplitPlan) plan = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_split_plan_parse(&plan, "site a=0.5,b=0.5", &error));
  const DemurImportOptions options = {.name = "c", .splits = &plan};
  g_assert_null(import_with("patient_id,scan_id,site,label,risk\np,1,A,0,0\np,2,B,0,0\n", &options,
                            NULL, &error));
  g_assert_nonnull(strstr(error->message, "would be empty"));
  static const char *const wrong[] = {"",
                                      "patient",
                                      "scan 0.5,0.5",
                                      "site 1",
                                      "site 0.5,0.6",
                                      "site 0.5,0.5",
                                      "site a=x,b=0.5",
                                      "site a=0.5,a=0.5"};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_auto(DemurSplitPlan) none = {0};
    g_autoptr(GError) fault = NULL;
    g_assert_false(demur_split_plan_parse(&none, wrong[i], &fault));
    g_assert_error(fault, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
}

/* Whether the names of kinds can be stored and found again. */
static void
test_names_of_kinds(void) {
  for (int k = 0; k < DEMUR_N_TABLE_WARNINGS; k++)
    g_assert_cmpint(demur_table_warning_find(demur_table_warning_name((DemurTableWarningKind)k)),
                    ==, k);
  g_assert_cmpint(demur_table_warning_find("no such kind"), ==, -1);
}

/* Times of outcomes from years_to_cancer and years_of_followup, by hand: cancer within the horizon,
 * cancer after it, followed beyond it, followed for less, nothing recorded. */
static void
test_follow_up(void) {
  const DemurImportOptions options = {.name = "c", .model = "m", .horizon_years = 6};
#define YEARS ",years_to_cancer,years_of_followup\n"
#define TIMES ",outcome_time,outcome_status,outcome_horizon\n"
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort =
      import_with(HEAD YEARS "p1,s1,A,train,,0.5,2.5,2.5\np2,s2,A,train,,0.5,6.5,7\n"
                             "p3,s3,A,train,,0.5,,6\np4,s4,A,train,,0.5,NA,4\n"
                             "p5,s5,A,train,,0.5,,\np6,s6,A,train,0,0.5,,3\n"
                             "p7,s7,A,train,1,0.5,1,\n",
                  &options, &warnings, &error);
  g_assert_no_error(error);
  static const gint32 labels[] = {1, 0, 0, DEMUR_NO_LABEL, DEMUR_NO_LABEL, 0, 1};
  static const double times[] = {2.5, 6.5, 6, 4, 0, 6, 1};
  static const gint32 statuses[] = {
      DEMUR_STATUS_EVENT,    DEMUR_STATUS_EVENT,    DEMUR_STATUS_CENSORED, DEMUR_STATUS_CENSORED,
      DEMUR_STATUS_CENSORED, DEMUR_STATUS_CENSORED, DEMUR_STATUS_EVENT};
  for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
    g_assert_cmpint(cohort->labels[i], ==, labels[i]);
    g_assert_cmpfloat(cohort->times[i], ==, times[i]);
    g_assert_cmpint(cohort->statuses[i], ==, statuses[i]);
    g_assert_cmpfloat(cohort->horizons[i], ==, 6);
  }
  g_autofree char *noticed = summary_of(warnings);
  g_assert_cmpstr(noticed, ==, "missing_words years_to_cancer 1; follow_up - 2; free_by_label - 1");
  static const char *const refused[] = {
      HEAD YEARS "p1,s1,A,train,0,0.5,2.5,2.5\n", HEAD YEARS "p1,s1,A,train,1,0.5,,7\n",
      HEAD YEARS "p1,s1,A,train,1,0.5,7,7\n", HEAD YEARS "p1,s1,A,train,1,0.5,-1,7\n",
      HEAD YEARS "p1,s1,A,train,0,0.5,,soon\n",
      /* days: 400 after the scan, and followed for six years of them */
      HEAD YEARS "p1,s1,A,train,,0.5,400,400\n", HEAD YEARS "p1,s1,A,train,,0.5,,2190\n",
      HEAD TIMES "p1,s1,A,train,1,0.5,400,1,6\n", HEAD TIMES "p1,s1,A,train,1,0.5,4,1,2190\n"};
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(GError) fault = NULL;
    g_assert_null(import_with(refused[i], &options, NULL, &fault));
    g_assert_error(fault, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(fault->message, "line 2, column"));
  }
  /* Months can't be told from years for certain: taken, and told. */
  g_autoptr(GPtrArray) told = NULL;
  g_autoptr(DemurCohort) months =
      import_with(HEAD YEARS "p1,s1,A,train,,0.5,40,72\np2,s2,A,train,,0.5,,72\n"
                             "p3,s3,A,train,,0.5,,30\n",
                  &options, &told, &error);
  g_assert_no_error(error);
  g_autofree char *of_months = summary_of(told);
  g_assert_cmpstr(of_months, ==, "follow_up - 0; long_times - 2");
  /* Without a horizon they are attributes, as before. */
  g_autoptr(DemurCohort) plain = import(refused[0], NULL, &error);
  g_assert_no_error(error);
  g_assert_null(plain->times);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("demur-hospital-XXXXXX", NULL);
  g_test_add_func("/cohort/hospital/noticed", test_noticed);
  g_test_add_func("/cohort/hospital/follow-up", test_follow_up);
  g_test_add_func("/cohort/hospital/refused", test_refused);
  g_test_add_func("/cohort/hospital/foreign-files", test_foreign_files);
  g_test_add_func("/cohort/hospital/wrappings", test_wrappings);
  g_test_add_func("/cohort/hospital/gzip-bomb", test_gzip_bomb);
  g_test_add_func("/cohort/hospital/columns-by-a-map", test_columns_by_a_map);
  g_test_add_func("/cohort/hospital/predictions-alone", test_predictions_alone);
  g_test_add_func("/cohort/hospital/splits-are-made", test_splits_are_made);
  g_test_add_func("/cohort/hospital/names-of-kinds", test_names_of_kinds);
  const int status = g_test_run();
  demur_test_remove_folder(folder);
  g_free(folder);
  return status;
}
