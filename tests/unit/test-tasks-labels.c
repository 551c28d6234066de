/* Tables of labels as people send them back: read by the reader of every table. Lines and columns
 * are counted by hand. */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "tasks/label-table.h"
#include "support/support.h"

static GArray *
read_at(const char *now, const char *text, char **site, GError **error) {
  g_autofree char *folder = g_dir_make_tmp("demur-labels-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "labels.csv", NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  GArray *rows = demur_label_table_read(path, NULL, now, site, NULL, error);
  g_unlink(path);
  g_rmdir(folder);
  return rows;
}

static GArray *
read_text(const char *text, char **site, GError **error) {
  return read_at("2026-01-31T12:00:00Z", text, site, error);
}

static void
test_reads(void) {
  static const char *const texts[] = {
      "scan_id,patient_id,site,label\ns1,p1,A,1\ns2,p2,A,\n",
      "\xef\xbb\xbfsep=;\r\nlabel;site;scan_id;patient_id\r\n1;A;s1;p1\r\nNA;A;s2;p2\r\n;;;\r\n",
      "scan_id,patient_id,site,label\rs1,p1,A,1\rs2,p2,A,unknown\r",
      "scan_id,patient_id,site,label\ns1\xc2\xa0,\"p1 \",A,1\n\"s2\",p2,\"A\t\",-\n,,,\n",
      "scan_id,patient_id,site,label\ns1,p1,A,1.0\ns2,p2,A,\n"};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autofree char *site = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) rows = read_text(texts[i], &site, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(rows->len, ==, 2);
    const DemurLabel *first = &g_array_index(rows, DemurLabel, 0);
    const DemurLabel *second = &g_array_index(rows, DemurLabel, 1);
    g_assert_cmpstr(site, ==, "A");
    g_assert_cmpstr(first->scan_id, ==, "s1");
    g_assert_cmpstr(first->patient_id, ==, "p1");
    g_assert_cmpfloat(first->label, ==, 1.0);
    g_assert_cmpstr(second->scan_id, ==, "s2");
    g_assert_true(isnan(second->label));
  }
}

/* A day with dashes or without, with a time behind it, or none; what is today anywhere is no future: 1 February begins
 * in New Zealand while it is noon of 31 January by UTC. */
static void
test_days(void) {
  g_autofree char *site = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = read_text("scan_id,site,label,date\na,A,1,2026-01-31\nb,A,1,20250228\n"
                                     "c,A,1,2024-02-29T10:00:00Z\nd,A,1,\ne,A,1,2026-02-01\n",
                                     &site, &error);
  g_assert_no_error(error);
  static const char *const days[] = {"20260131", "20250228", "20240229", NULL, "20260201"};
  g_assert_cmpuint(rows->len, ==, G_N_ELEMENTS(days));
  for (guint i = 0; i < rows->len; i++)
    g_assert_cmpstr(g_array_index(rows, DemurLabel, i).date, ==, days[i]);
}

static void
test_refuses(void) {
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"scan_id,site,label\ns1,A,2\ns2,A,yes\n",
       "labels.csv: 2 rows refused, nothing imported:\n  line 2, column 6 (label): 2 is not a label"},
      {"scan_id,site,label\ns1,A,1\ns2,B,1\n", "line 3, column 4 (site): 'B', but the rows above"},
      {"scan_id,site,label\n,A,1\n", "line 2, column 1 (scan_id): nothing stands here"},
      {"scan_id,site,Label\ns1,A,1\n", "line 1, column 14: column Label looks like label"},
      {"scan_id,site\ns1,A\n", "the header has no column label"},
      {"scan_id,site,label\ns1,A\n", "line 2, column 4: the row has 2 fields"},
      {"scan_id,site,label\n", "line 2, column 1: a header but no row"},
      {"scan_id,site,label,date\ns1,A,1,2026-02-02\n", "'2026-02-02' lies in the future"},
      {"scan_id,site,label,date\ns1,A,1,31.1.2026\n", "'31.1.2026' is no day"},
      {"scan_id,site,label,date\ns1,A,1,2025-02-29\n", "is no day"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *site = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_null(read_text(cases[i].text, &site, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("\"%s\" lacks \"%s\"", error->message, cases[i].says);
  }
}

/* Late in the evening by UTC, over the ends of months and years too; a clock that says no day is no clock that lets any day
 * through. */
static void
test_clock(void) {
  static const struct {
    const char *now, *date, *says; /* says NULL: taken */
  } cases[] = {{"2026-01-30T23:30:00Z", "2026-01-31", NULL},
               {"2026-01-30T23:30:00Z", "2026-02-01", "lies in the future"},
               {"2025-12-31T23:30:00Z", "2026-01-01", NULL},
               {"2025-12-31T23:30:00Z", "2026-01-02", "lies in the future"},
               {"2024-02-28T23:30:00Z", "2024-02-29", NULL},
               {"", "2026-01-31", "which is no day"},
               {"2026-13-31T12:00:00Z", "2026-01-31", "which is no day"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *site = NULL,
                    *text = g_strdup_printf("scan_id,site,label,date\ns1,A,1,%s\n", cases[i].date);
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) rows = read_at(cases[i].now, text, &site, &error);
    if (cases[i].says == NULL) {
      g_assert_no_error(error);
      continue;
    }
    g_assert_null(rows);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, cases[i].says));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/labels/reads", test_reads);
  g_test_add_func("/tasks/labels/days", test_days);
  g_test_add_func("/tasks/labels/refuses", test_refuses);
  g_test_add_func("/tasks/labels/clock", test_clock);
  return g_test_run();
}
