/* NLST labels at the day before, on and behind each limit. Every expected value is worked out by
 * hand from the rule in method.md ("NLST tables"); 6 years are 2,192 days, the screen is on day
 * 100. */
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/nlst.h"
#include "support/support.h"

static char *persons_path, *scores_path, *images_path;

static DemurCohort *
import_and_tell(const char *persons, const char *scores, const DemurNlstOptions *options,
                DemurNlstCounts *counts, GPtrArray **warnings, GError **error) {
  g_file_set_contents(persons_path, persons, -1, NULL);
  g_file_set_contents(scores_path, scores, -1, NULL);
  return demur_cohort_import_nlst(persons_path, scores_path, options, NULL, counts, warnings,
                                  error);
}

static DemurCohort *
import(const char *persons, const char *scores, const DemurNlstOptions *options,
       DemurNlstCounts *counts, GError **error) {
  g_autoptr(GPtrArray) warnings = NULL;
  return import_and_tell(persons, scores, options, counts, &warnings, error);
}

/* What is told of tables that are taken, with labels at six years. */
static GPtrArray *
told_of(const char *persons, const char *scores) {
  const DemurNlstOptions options = {.name = "n", .split = "test", .horizon_years = 6};
  DemurNlstCounts counts;
  GPtrArray *warnings = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = import_and_tell(persons, scores, &options, &counts, &warnings, &error);
  g_assert_no_error(error);
  return warnings;
}

#define PERSONS "pid,cen,scr_days0,scr_days1,scr_days2,candx_days,fup_days,death_days,age\n"

/* Unmatched both ways are named: 9-T0 has no person, 1-T1 was not taken, 2-T0 was not scored. */
static void
test_names_the_unmatched(void) {
  g_autoptr(GPtrArray) warnings = told_of(PERSONS "1,A,0,,,,3000,,\n2,A,5,,,,3000,,\n",
                                          "pid,study_yr,risk\n1,0,.5\n9,0,.5\n1,1,.5\n");
  g_assert_cmpuint(warnings->len, ==, 2);
  static const DemurTableWarning right[] = {
      {DEMUR_TABLE_NO_PERSON, NULL, (char *)"9-T0, 1-T1", NULL, 2, 3},
      {DEMUR_TABLE_NO_SCORE, NULL, (char *)"2-T0", NULL, 1, 2}};
  for (guint i = 0; i < 2; i++) {
    const DemurTableWarning *warning = warnings->pdata[i];
    g_assert_cmpint(warning->kind, ==, right[i].kind);
    g_assert_cmpstr(warning->first, ==, right[i].first);
    g_assert_cmpuint(warning->n, ==, right[i].n);
  }
}

static void
test_rule_to_the_day(void) {
  static const struct {
    const char *days;                     /* candx, fup, death; short follow-up left out */
    int label, death_free, censored_free; /* -1: left out */
  } cases[] = {
      {"99,3000,", -1, -1, -1},    /* cancer the day before the screen */
      {"100,3000,", 1, 1, 1},      /* on its day */
      {"2291,3000,", 1, 1, 1},     /* 2,191 days later */
      {"2292,3000,", 0, 0, 0},     /* 2,192 days later: behind the horizon */
      {",2292,", 0, 0, 0},         /* followed for 2,192 days */
      {",2291,", -1, -1, 0},       /* for one less */
      {",,", -1, -1, 0},           /* follow-up not recorded */
      {".,.,.", -1, -1, 0},        /* the same in SAS's words */
      {",2000,2000", -1, 0, -1},   /* death without cancer */
      {",2292,2292", 0, 0, 0},     /* death on the day the horizon is reached */
      {"1000,1500,1500", 1, 1, 1}, /* cancer, then death */
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *persons =
        g_strdup_printf(PERSONS "1,A,100,,,%s,60\n2,B,0,,,,9999,,61\n", cases[i].days);
    for (int mode = 0; mode < 3; mode++) {
      const DemurNlstOptions options = {.name = "n",
                                        .horizon_years = 6,
                                        .death_event_free = mode == 1,
                                        .short_followup = mode == 2 ? DEMUR_SHORT_EVENT_FREE
                                                                    : DEMUR_SHORT_LEFT_OUT};
      const int expected = mode == 0   ? cases[i].label
                           : mode == 1 ? cases[i].death_free
                                       : cases[i].censored_free;
      g_autoptr(GError) error = NULL;
      DemurNlstCounts counts;
      g_autoptr(DemurCohort) c =
          import(persons, "pid,study_yr,risk\n2,0,0.5\n1,0,0.25\n", &options, &counts, &error);
      g_assert_no_error(error);
      g_assert_cmpint(demur_nlst_horizon_days(6), ==, 2192);
      const gssize row = demur_cohort_find_scan(c, "1-T0");
      if ((expected < 0 && row >= 0) || (expected >= 0 && (row < 0 || c->labels[row] != expected)))
        g_error("case %zu (%s), mode %d: expected %d", i, cases[i].days, mode, expected);
    }
  }
}

static void
test_counts_every_case(void) {
  /* Screens at days 0, 365, 730 of six persons. */
  const char *persons = PERSONS "1,A,0,365,730,400,3000,,60\n" /* cancer, cancer, before */
                                "2,A,0,365,730,,3000,,60\n"    /* followed three times */
                                "3,B,0,365,,,2300,,60\n"       /* followed, 1935 days: censored */
                                "4,B,0,,,,500,500,60\n"        /* death */
                                "5,B,0,,,,,,60\n"              /* unknown */
                                "6,C,0,,,2500,3000,,60\n";     /* cancer behind the horizon */
  const char *scores = "pid,study_yr,risk_year_1,risk_year_6,emb_0\n"
                       "1,0,.1,.2,1\n1,1,.1,.2,1\n1,2,.1,.2,1\n2,0,.1,.2,1\n2,1,.1,.2,1\n"
                       "2,2,.1,.2,1\n3,0,.1,.2,1\n3,1,.1,.2,1\n4,0,.1,.2,1\n5,0,.1,.2,1\n"
                       "6,0,.1,.2,7\n9,0,.1,.2,1\n3,2,.1,.2,1\n";
  DemurNlstOptions options = {
      .name = "n", .horizon_years = 6, .short_followup = DEMUR_SHORT_LEFT_OUT};
  DemurNlstCounts n;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = import(persons, scores, &options, &n, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n.n_persons, ==, 6);
  g_assert_cmpuint(n.n_screens, ==, 11);
  g_assert_cmpuint(n.n_scores, ==, 13);
  g_assert_cmpuint(n.n_matched, ==, 11);
  g_assert_cmpuint(n.n_scores_without_person, ==, 1);
  g_assert_cmpuint(n.n_scores_without_screen, ==, 1);
  g_assert_cmpuint(n.n_screens_without_score, ==, 0);
  const DemurNlstCases *six = &n.cases[5];
  g_assert_cmpuint(six->n_cancer, ==, 2);
  g_assert_cmpuint(six->n_cancer_before, ==, 1);
  g_assert_cmpuint(six->n_followed, ==, 4);
  g_assert_cmpuint(six->n_censored, ==, 1);
  g_assert_cmpuint(six->n_death, ==, 1);
  g_assert_cmpuint(six->n_followup_unknown, ==, 1);
  g_assert_cmpuint(six->n_cancer_later, ==, 1);
  g_assert_cmpuint(n.n_scans, ==, 7);
  g_assert_cmpuint(c->n_scans, ==, 7);
  g_assert_cmpuint(c->n_sites, ==, 3);
  g_assert_cmpfloat(c->risks[0], ==, 0.2);
  g_assert_cmpfloat(c->yearly_risks[0], ==, 0.1);
  g_assert_cmpfloat(c->embeddings[6], ==, 7.0f);
  g_assert_cmpint(demur_cohort_find_attribute(c, "age"), >=, 0);
  g_assert_cmpstr(c->split_names[0], ==, "selector_train");

  /* One year: 366 days. Person 1's cancer is on day 400: 400, 35 and -330 days off. Person 4 died
   * on day 500. */
  options.horizon_years = 1;
  g_autoptr(DemurCohort) one = import(persons, scores, &options, &n, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n.cases[0].n_cancer, ==, 1);
  g_assert_cmpuint(n.cases[0].n_cancer_later, ==, 2);
  g_assert_cmpuint(n.cases[0].n_death, ==, 0);
  g_assert_cmpuint(n.cases[0].n_followed, ==, 6);
  g_assert_cmpfloat(one->risks[0], ==, 0.1);
}

/* Kaplan-Meier by hand: ten persons followed; at six years two are lost half way, eight are left:
 * those seen at the end weigh 10 / 8, a cancer before the loss weighs 1. */
static void
test_weights(void) {
  g_autoptr(GString) persons = g_string_new(PERSONS "1,A,0,,,100,3000,,60\n");
  g_autoptr(GString) scores = g_string_new("pid,study_yr,risk\n1,0,.5\n");
  for (int i = 2; i <= 11; i++) {
    g_string_append_printf(persons, "%d,A,0,,,,%d,,60\n", i, i <= 3 ? 1000 : 3000);
    g_string_append_printf(scores, "%d,0,.5\n", i);
  }
  const DemurNlstOptions options = {
      .name = "n", .horizon_years = 6, .short_followup = DEMUR_SHORT_LEFT_OUT, .weights = TRUE};
  DemurNlstCounts n;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = import(persons->str, scores->str, &options, &n, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(c->n_scans, ==, 9);
  const size_t weight = (size_t)demur_cohort_find_attribute(c, "ipc_weight");
  g_assert_cmpstr(demur_cohort_attribute_text(c, weight, 0), ==, "1");
  g_assert_cmpstr(demur_cohort_attribute_text(c, weight, 1), ==, "1.25");
  /* Twelve followed of whom three are lost: 12 / 9, to its last digit. */
  g_string_append(persons, "12,A,0,,,,3000,,60\n13,A,0,,,,1000,,60\n");
  g_string_append(scores, "12,0,.5\n13,0,.5\n");
  g_autoptr(DemurCohort) more = import(persons->str, scores->str, &options, &n, &error);
  g_assert_no_error(error);
  const double written = g_ascii_strtod(demur_cohort_attribute_text(more, weight, 1), NULL);
  g_assert_cmpfloat(fabs(written - 12.0 / 9.0), <, 1e-15);
}

/* Codes for "none": -1 and its kin wherever they stand, 999 and its kin where too many persons have
 * it for a day. A cancer before entry is a day below 0 and no code. */
static void
test_codes_are_no_days(void) {
  static const struct {
    const char *days; /* candx, fup, death of persons 1 and 2 */
    const char *says; /* NULL: read */
  } cases[] = {
      {"-1,3000,", "line 2, column 9 (candx_days): -1 looks like a code"},
      {"500,-1,", "(fup_days): -1 looks like a code"},
      {",3000,-9", "(death_days): -9 looks like a code"},
      {"-999,3000,", "(candx_days): -999 looks like a code"},
      {"999,3000,", "(candx_days): 999 stands for 2 of 2 persons"},
      {",9999,", "(fup_days): 9999 stands for 2 of 3 persons"},
      {",3000,888", "(death_days): 888 stands for 2 of 2 persons"},
      {",-300,", "(fup_days): -300 is not a whole number of days"},
      {"-300,3000,", NULL},
      {"1000,3000,", NULL},
  };
  const DemurNlstOptions options = {.name = "n", .horizon_years = 6};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *persons = g_strdup_printf(
        PERSONS "1,A,0,,,%s,60\n2,A,0,,,%s,60\n3,A,0,,,,3000,,60\n", cases[i].days, cases[i].days);
    DemurNlstCounts n;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) c =
        import(persons, "pid,study_yr,risk\n1,0,.5\n2,0,.5\n3,0,.5\n", &options, &n, &error);
    if (cases[i].says == NULL) {
      g_assert_no_error(error);
      continue;
    }
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\"", i, error->message, cases[i].says);
  }
}

/* One person of many on day 999 is a day like any other: read, and told. */
static void
test_one_day_of_999_is_told(void) {
  g_autoptr(GPtrArray) warnings = told_of(PERSONS "1,A,0,,,999,3000,,\n2,A,0,,,,3000,,\n",
                                          "pid,study_yr,risk\n1,0,.5\n2,0,.5\n");
  g_assert_cmpuint(warnings->len, ==, 1);
  const DemurTableWarning *told = warnings->pdata[0];
  g_assert_cmpint(told->kind, ==, DEMUR_TABLE_CODE);
  g_assert_cmpstr(told->column, ==, "candx_days");
  g_assert_cmpstr(told->first, ==, "999");
}

static void
test_refuses(void) {
  static const struct {
    const char *persons, *scores, *says;
  } cases[] = {
      {"pid,cen,scr_days0,fup_days\n", "pid,study_yr,risk\n", "no column candx_days"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,risk\n1,.5\n", "no column study_yr"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr\n1,0\n", "no column risk_year_6 (or risk)"},
      {PERSONS "1,A,0,,,,3000,,\n1,A,0,,,,3000,,\n", "pid,study_yr,risk\n1,0,.5\n",
       "line 3, column 1 (pid)"},
      {PERSONS "1,A,soon,,,,3000,,\n", "pid,study_yr,risk\n1,0,.5\n", "line 2, column 5"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr,risk\n1,3,.5\n", "line 2, column 3"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr,risk\n1,0,1.5\n", "line 2, column 5"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr,risk\n1,0,.5\n1,0,.5\n", "line 3, column 1"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr,risk\n1,0\n", "2 fields"},
      {PERSONS "1,A,0,,,,3000,,\n", "pid,study_yr,risk\n7,0,.5\n", "1 without person"},
  };
  const DemurNlstOptions options = {.name = "n", .horizon_years = 6};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    DemurNlstCounts n;
    g_autoptr(GError) error = NULL;
    g_assert_null(import(cases[i].persons, cases[i].scores, &options, &n, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\"", i, error->message, cases[i].says);
  }
}

/* Weighted: whoever was left stays, without a label; times in years of the horizon's days, 365.33
 * each, so that 2,191 days are below 6. */
static void
test_left_scans_keep_their_time(void) {
  static const struct {
    const char *days; /* candx, fup, death */
    int label;
    double days_seen;
    DemurStatus status;
    gboolean death_free;
  } cases[] = {
      {"2291,3000,", 1, 2191, DEMUR_STATUS_EVENT, FALSE},
      {"2292,3000,", 0, 2192, DEMUR_STATUS_EVENT, FALSE}, /* behind the horizon */
      {",2292,", 0, 2192, DEMUR_STATUS_CENSORED, FALSE},
      {",2291,", DEMUR_NO_LABEL, 2191, DEMUR_STATUS_CENSORED, FALSE},
      {",50,", DEMUR_NO_LABEL, 0, DEMUR_STATUS_CENSORED, FALSE}, /* last seen before the screen */
      {",2000,2000", DEMUR_NO_LABEL, 1900, DEMUR_STATUS_CENSORED, FALSE},
      {",2000,2000", 0, 1900, DEMUR_STATUS_COMPETING, TRUE},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *persons =
        g_strdup_printf(PERSONS "1,A,100,,,%s,60\n2,B,0,,,,9999,,61\n", cases[i].days);
    const DemurNlstOptions options = {
        .name = "n", .split = "test", .horizon_years = 6, .death_event_free = cases[i].death_free};
    DemurNlstCounts counts;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) c =
        import(persons, "pid,study_yr,risk\n1,0,.5\n2,0,.1\n", &options, &counts, &error);
    g_assert_no_error(error);
    const gssize row = demur_cohort_find_scan(c, "1-T0");
    g_assert_cmpint((int)row, >=, 0);
    g_assert_cmpint(c->labels[row], ==, cases[i].label);
    g_assert_cmpint(c->statuses[row], ==, (int)cases[i].status);
    demur_assert_close(c->times[row], cases[i].days_seen * 6.0 / 2192.0, 1e-12, 0.0);
    g_assert_true((c->times[row] < 6.0) == (cases[i].days_seen < 2192));
    g_assert_cmpfloat(demur_cohort_horizon(c), ==, 6.0);
  }
}

/* The public tables of the trial, by the names of their columns (IDC, nlst_prsn and nlst_screen):
 * neither centre nor follow-up; the last day known without cancer stands for it. */
static void
test_public_tables(void) {
  static const char persons[] =
      "race,cigsmok,gender,age,loclhil,locllow,lesionsize,de_type,de_grade,de_stag,scr_res0,"
      "scr_res1,scr_res2,scr_iso0,scr_iso1,scr_iso2,cancyr,can_scr,canc_rpt_link,pid,"
      "dataset_version,scr_days0,scr_days1,scr_days2,candx_days,canc_free_days,de_stag_7thed\n"
      "1,0,1,61,.N,.N,.N,.N,.N,.N,1,1,1,1,1,1,.N,0,0,100002,NLST.780,-4,365,.W,.N,2400,.N\n"
      "1,1,2,70,1,0,12,8140,2,110,4,95,95,4,95,95,0,1,1,100004,NLST.780,9,.E,.W,35,30,110\n";
  static const char images[] =
      "pid,ctdxqual,study_yr,techpara_kvp,techpara_ma,techpara_fov,techpara_effmas,"
      "ct_recon_filter1,ct_recon_filter2,dataset_version\n"
      "100002,1,0,120,80,34,.M,2,.N,NLST.780\n100002,1,1,120,-1,34,.M,6,7,NLST.780\n"
      "100004,1,0,140,80,34,.M,2,.N,NLST.780\n";
  g_file_set_contents(persons_path, persons, -1, NULL);
  g_file_set_contents(scores_path, "pid,study_yr,risk\n100002,0,.1\n100002,1,.2\n100004,0,.7\n", -1,
                      NULL);
  g_file_set_contents(images_path, images, -1, NULL);
  const DemurNlstOptions options = {.name = "n",
                                    .split = "test",
                                    .horizon_years = 6,
                                    .images_path = images_path,
                                    .short_followup = DEMUR_SHORT_LEFT_OUT};
  DemurNlstCounts counts;
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) c = demur_cohort_import_nlst(persons_path, scores_path, &options, NULL,
                                                      &counts, &warnings, &error);
  g_assert_no_error(error);
  /* 100002 was known without cancer for 2,404 days from the first screen, for 2,035 from the
   * second (too short); 100004 had one after 26 days. */
  g_assert_cmpuint(c->n_scans, ==, 2);
  g_assert_cmpuint(c->n_sites, ==, 1);
  g_assert_cmpint(c->labels[0], ==, 0);
  g_assert_cmpint(c->labels[1], ==, 1);
  g_assert_cmpuint(counts.n_screens, ==, 3);
  static const char *const texts[][3] = {
      {"kernel", "2", "2"},     {"kvp", "120", "140"},   {"tube_current_ma", "80", "80"},
      {"manufacturer", "", ""}, {"de_type", "", "8140"}, {"years_to_cancer", "", "0.071"}};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    const gssize a = demur_cohort_find_attribute(c, texts[i][0]);
    g_assert_cmpint((int)a, >=, 0);
    for (size_t row = 0; row < 2; row++)
      g_assert_cmpstr(demur_cohort_attribute_text(c, (size_t)a, row), ==, texts[i][1 + row]);
  }
  gboolean told[DEMUR_N_TABLE_WARNINGS] = {FALSE};
  for (guint i = 0; i < warnings->len; i++)
    told[((const DemurTableWarning *)warnings->pdata[i])->kind] = TRUE;
  g_assert_true(told[DEMUR_TABLE_ONE_SITE]);
  g_assert_true(told[DEMUR_TABLE_FOLLOWUP_FROM]);
  g_assert_true(told[DEMUR_TABLE_MISSING_WORDS]);
}

/* The table of images, by CDAS's names: a screen of two reconstructions and a localizer. Which of
 * them a score is of, its series says; else what both agree on is kept. */
static void
test_images(void) {
  static const char images[] =
      "softwareversion,visit,seriesdescription,imagetype,kvp,reconthickness,reconinterval,"
      "reconfilter,manufacturer,manufacturers_model_name,scannercode,seriesinstanceuids,studyuid,"
      "pid,study_yr,numberimages\n"
      "v,0,Lung,ORIGINAL\\PRIMARY\\AXIAL,120,2,1.8,B50f,SIEMENS,Volume Zoom,1,1.2.1,1.2,1,0,190\n"
      "v,0,Soft,ORIGINAL\\PRIMARY\\AXIAL,120,2,1.8,B30f,SIEMENS,Volume Zoom,1,1.2.2,1.2,1,0,190\n"
      "v,0,Topo,ORIGINAL\\PRIMARY\\LOCALIZER,80,-1,-1,T20f,SIEMENS,Topo,1,1.2.3,1.2,1,0,1\n"
      "v,0,Lung,ORIGINAL\\PRIMARY\\AXIAL,140,-1,1.8,LUNG,GE,LightSpeed,1,1.3.1,1.3,2,0,99\n";
  static const struct {
    const char *scores, *kernel, *thickness, *model; /* of 1-T0 */
    guint n_differ, n_without;
  } cases[] = {
      {"pid,study_yr,risk\n1,0,.5\n2,0,.1\n", "", "2", "Volume Zoom", 1, 0},
      {"pid,study_yr,risk,series_uid\n1,0,.5,1.2.2\n2,0,.1,1.3.1\n", "B30f", "2", "Volume Zoom", 0,
       0},
      {"pid,study_yr,risk\n1,0,.5\n3,0,.1\n", "", "2", "Volume Zoom", 1, 1},
      {"pid,study_yr,risk,series_uid\n1,0,.5,1.3.1\n", NULL, NULL, NULL, 0, 0},
  };
  g_file_set_contents(persons_path,
                      PERSONS "1,A,0,,,,3000,,60\n2,B,0,,,9,3000,,61\n3,B,0,,,,3000,,\n", -1, NULL);
  g_file_set_contents(images_path, images, -1, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_file_set_contents(scores_path, cases[i].scores, -1, NULL);
    const DemurNlstOptions options = {
        .name = "n", .split = "test", .horizon_years = 6, .images_path = images_path};
    DemurNlstCounts counts;
    g_autoptr(GPtrArray) warnings = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurCohort) c = demur_cohort_import_nlst(persons_path, scores_path, &options, NULL,
                                                        &counts, &warnings, &error);
    if (cases[i].kernel == NULL) {
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
      g_assert_nonnull(strstr(error->message, "line 2, column 8 (series_uid)"));
      continue;
    }
    g_assert_no_error(error);
    const char *const names[] = {"kernel", "slice_thickness_mm", "model_name", "spacing_mm"};
    const char *const right[] = {cases[i].kernel, cases[i].thickness, cases[i].model, "1.8"};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
      const gssize a = demur_cohort_find_attribute(c, names[k]);
      g_assert_cmpint((int)a, >=, 0);
      g_assert_cmpstr(demur_cohort_attribute_text(c, (size_t)a, 0), ==, right[k]);
    }
    size_t n_differ = 0, n_without = 0;
    for (guint w = 0; w < warnings->len; w++) {
      const DemurTableWarning *warning = warnings->pdata[w];
      n_differ += warning->kind == DEMUR_TABLE_IMAGES_DIFFER ? warning->n : 0;
      n_without += warning->kind == DEMUR_TABLE_NO_IMAGE ? warning->n : 0;
    }
    g_assert_cmpuint(n_differ, ==, cases[i].n_differ);
    g_assert_cmpuint(n_without, ==, cases[i].n_without);
  }
}

/* Two spellings of one person in two splits are refused, whichever table names the split. */
static void
test_alike_persons(void) {
  static const char *const tables[][2] = {
      {"pid,cen,scr_days0,candx_days,fup_days,split\n7,A,0,,3000,test\n007,A,0,,3000,tune\n",
       "pid,study_yr,risk\n7,0,.5\n007,0,.1\n"},
      {"pid,cen,scr_days0,candx_days,fup_days\np7,A,0,,3000\nP7,A,0,,3000\n",
       "pid,study_yr,risk,split\np7,0,.5,test\nP7,0,.1,tune\n"},
      {"pid,cen,scr_days0,scr_days1,candx_days,fup_days,split\n1.67683E+15,A,0,365,,3000,test\n",
       "pid,study_yr,risk\n1.67683E+15,0,.5\n1.67683E+15,1,.1\n"}};
  static const char *const says[] = {"line 3, column 1 (pid): '007' looks like '7' of line 2",
                                     "'P7' looks like 'p7'", "line 3, column 1 (pid): 1.67683E+15"};
  for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
    const DemurNlstOptions options = {.name = "n", .horizon_years = 6};
    DemurNlstCounts counts;
    g_autoptr(GError) error = NULL;
    g_assert_null(import(tables[i][0], tables[i][1], &options, &counts, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, says[i]) == NULL)
      g_error("%s lacks %s", error->message, says[i]);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-nlst-XXXXXX", NULL);
  persons_path = g_build_filename(folder, "persons.csv", NULL);
  scores_path = g_build_filename(folder, "scores.csv", NULL);
  images_path = g_build_filename(folder, "images.csv", NULL);
  g_test_add_func("/cohort/nlst/rule-to-the-day", test_rule_to_the_day);
  g_test_add_func("/cohort/nlst/counts-every-case", test_counts_every_case);
  g_test_add_func("/cohort/nlst/censoring-weights", test_weights);
  g_test_add_func("/cohort/nlst/names-the-unmatched", test_names_the_unmatched);
  g_test_add_func("/cohort/nlst/left-scans-keep-their-time", test_left_scans_keep_their_time);
  g_test_add_func("/cohort/nlst/codes-are-no-days", test_codes_are_no_days);
  g_test_add_func("/cohort/nlst/one-day-of-999-is-told", test_one_day_of_999_is_told);
  g_test_add_func("/cohort/nlst/refuses", test_refuses);
  g_test_add_func("/cohort/nlst/public-tables", test_public_tables);
  g_test_add_func("/cohort/nlst/images", test_images);
  g_test_add_func("/cohort/nlst/alike-persons", test_alike_persons);
  const int status = g_test_run();
  g_unlink(persons_path);
  g_unlink(scores_path);
  g_unlink(images_path);
  g_rmdir(folder);
  g_free(persons_path);
  g_free(scores_path);
  g_free(images_path);
  return status;
}
