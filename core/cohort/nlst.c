/* Persons are read into a table by pid; scores are then read row by row, each finding its person,
 * its screen and its case. Cost: O(bytes of both). Memory: the persons' texts once, the cohort. */
#include "cohort/nlst.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cohort/attribute-codes.h"
#include "cohort/columns.h"
#include "cohort/ids.h"
#include "cohort/nlst-images.h"
#include "cohort/table-header.h"

#define N_SCREENS 3
#define N_DAY_COLUMNS (N_SCREENS + 3) /* screens, cancer, follow-up, death */
#define MAX_UNMATCHED_SHOWN 10
#define NOT_RECORDED G_MININT
#define DAYS_BEFORE_RANDOMISATION 30 /* the first screen was up to so early */
#define ROWS_A_STEP 4096

typedef struct {
  char *site, *split;                              /* split NULL: no column */
  gboolean may_be_several;                         /* its pid was rewritten by a spreadsheet */
  int screens[N_SCREENS], cancer, followup, death; /* days; NOT_RECORDED */
  gboolean scored[N_SCREENS];
  size_t line;
  char **attributes; /* [n of kept columns] */
} Person;

/* The identifiers of both tables. */
typedef struct {
  DemurIds pids, sites, splits;
} Ids;

static void
ids_init(Ids *ids) {
  demur_ids_init(&ids->pids, "pid", NULL);
  demur_ids_init(&ids->sites, "cen", NULL);
  demur_ids_init(&ids->splits, "split", NULL);
}

static void
ids_clear(Ids *ids) {
  demur_ids_clear(&ids->pids);
  demur_ids_clear(&ids->sites);
  demur_ids_clear(&ids->splits);
}

/* The field's identifier as the cohort has it (borrowed). */
static const char *
clean(DemurIds *ids, const DemurTableField *field) {
  gboolean is_new;
  guint32 like;
  return demur_ids_text(ids, demur_ids_add(ids, field, &is_new, &like));
}

/* What one reading of both tables shares. */
typedef struct {
  const DemurNlstOptions *options;
  const char *persons_name; /* of their table */
  GHashTable *persons;      /* pid -> Person */
  Ids *ids;
  DemurNlstImages *images; /* NULL: none */
  DemurNlstCounts *counts;
  GPtrArray *warnings; /* of DemurTableWarning */
  const DemurProgress *progress;
} Reading;

/* Days such as 999 are days, unless so many persons have the same that it must be a code: at least
 * two, and one in a hundred of those with a day. */
#define CODE_SHARE 100
#define N_CODES 8

typedef struct {
  size_t n_recorded;
  int values[N_CODES];
  size_t counts[N_CODES];
  DemurTableField fields[N_CODES]; /* where each stood first; texts are not kept */
} DayCodes;

/* A table's header and where the columns of its kind are; -1: absent. */
typedef struct {
  DemurTableHeader header;
  gssize pid, site, screens[N_SCREENS], cancer, followup, death, split; /* persons */
  gssize cancer_free;                                                   /* in place of followup */
  gssize year, series;                                                  /* scores */
  DemurMissingWords *missing;                                           /* [n of columns] */
  DayCodes codes[N_DAY_COLUMNS];                                        /* persons */
  GArray *minus_ones;      /* DemurTableField of scr_days0: a day, or a code */
  gboolean before_day_one; /* other days of scr_days0 below -1: it is a day */
  DemurScoreColumns scores;
} Columns;

int
demur_nlst_horizon_days(int years) {
  return (int)ceil(365.25 * years);
}

static void
person_free(gpointer data) {
  Person *person = data;
  g_free(person->site);
  g_free(person->split);
  g_strfreev(person->attributes);
  g_free(person);
}

static void
columns_clear(Columns *columns) {
  demur_table_header_clear(&columns->header);
  demur_score_columns_clear(&columns->scores);
  g_clear_pointer(&columns->minus_ones, g_array_unref);
  g_clear_pointer(&columns->missing, g_free);
}

typedef enum { DAYS, NO_DAYS, CODE } DaysKind;

/* Days as a whole number from least; "1234.0" too, as tables with gaps write them. *days is set for
 * a code too. */
static DaysKind
parse_days(const DemurTableField *field, double least, int *days) {
  *days = NOT_RECORDED;
  if (demur_table_is_missing(field))
    return DAYS;
  double value;
  if (!demur_number_parse(field->text, field->length, &value))
    return NO_DAYS;
  if (value != floor(value) || value > 1e6 || value < -1e6)
    return NO_DAYS;
  const gboolean is_code = value < 0.0 && demur_table_is_code(value);
  if (!is_code && value < least)
    return NO_DAYS;
  *days = (int)value;
  return is_code ? CODE : DAYS;
}

/* Where the table does not say it (the public one). */
static const DemurTableField only_site = {.text = "NLST", .length = 4};

static gboolean
read_person_header(DemurTable *table, const DemurNlstOptions *options, Columns *columns,
                   GPtrArray *warnings, GError **error) {
  const DemurNamedColumn named[] = {
      {"pid", NULL, &columns->pid, TRUE},
      {"cen", NULL, &columns->site, FALSE},
      {"scr_days0", "scr_days_0", &columns->screens[0], TRUE},
      {"scr_days1", "scr_days_1", &columns->screens[1], FALSE},
      {"scr_days2", "scr_days_2", &columns->screens[2], FALSE},
      {"candx_days", NULL, &columns->cancer, TRUE},
      {"fup_days", NULL, &columns->followup, FALSE},
      {"canc_free_days", NULL, &columns->cancer_free, FALSE},
      {"death_days", NULL, &columns->death, FALSE},
      {"split", NULL, &columns->split, FALSE},
  };
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = "pid, cen, scr_days0, candx_days, fup_days",
                                .map = options->columns};
  if (!demur_table_header_read(&columns->header, table, &plan, warnings, error))
    return FALSE;
  columns->missing = g_new0(DemurMissingWords, columns->header.n_columns);
  columns->minus_ones = g_array_new(FALSE, FALSE, sizeof(DemurTableField));
  if (columns->site < 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_ONE_SITE, "cen", only_site.text, NULL, 0, 0);
  if (columns->followup >= 0)
    return TRUE;
  columns->followup = columns->cancer_free;
  if (columns->followup >= 0) {
    demur_table_warnings_add(warnings, DEMUR_TABLE_FOLLOWUP_FROM, "canc_free_days", NULL, NULL, 0,
                             0);
    return TRUE;
  }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
              "%s: line 1, column 1: the header has no column fup_days (or canc_free_days, as the "
              "public table calls the last day known without cancer); add it",
              demur_table_name(table));
  return FALSE;
}

static gboolean
read_score_header(DemurTable *table, const DemurNlstOptions *options, Columns *columns,
                  GPtrArray *warnings, GError **error) {
  const DemurNamedColumn named[] = {
      {"pid", NULL, &columns->pid, TRUE},
      {"study_yr", NULL, &columns->year, TRUE},
      {"series_uid", "seriesinstanceuid", &columns->series, FALSE},
      {"split", NULL, &columns->split, FALSE},
  };
  demur_score_columns_init(&columns->scores);
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .scores = &columns->scores,
                                .horizon = options->horizon_years,
                                .expected = "pid, study_yr, risk",
                                .map = options->columns};
  if (!demur_table_header_read(&columns->header, table, &plan, warnings, error))
    return FALSE;
  columns->missing = g_new0(DemurMissingWords, columns->header.n_columns);
  if (demur_score_columns_n_classes(&columns->scores) == 2)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
              "%s: line 1, column 1: more than two classes; NLST labels are cancer or none",
              demur_table_name(table));
  return FALSE;
}

static void
note_code(DayCodes *codes, int days, const DemurTableField *field) {
  if (days == NOT_RECORDED)
    return;
  codes->n_recorded++;
  if (!demur_table_is_code((double)days))
    return;
  for (size_t c = 0; c < N_CODES; c++) {
    if (codes->counts[c] == 0) {
      codes->values[c] = days;
      codes->fields[c] = (DemurTableField){.line = field->line, .column = field->column};
    }
    if (codes->values[c] == days) {
      codes->counts[c]++;
      return;
    }
  }
}

/* Refuses what must be a code, and tells what may be one. */
static void
judge_codes(const DayCodes *codes, const char *name, DemurTableFaults *faults,
            GPtrArray *warnings) {
  for (size_t c = 0; c < N_CODES && codes->counts[c] > 0; c++) {
    if (codes->counts[c] >= 2 && codes->counts[c] * CODE_SHARE >= codes->n_recorded) {
      faults->bad = FALSE;
      demur_table_faults_note(faults, &codes->fields[c], name,
                              "%d stands for %zu of %zu persons: a code for none or not recorded, "
                              "not a day; leave the cell empty where there are none",
                              codes->values[c], codes->counts[c], codes->n_recorded);
      continue;
    }
    g_autofree char *text = g_strdup_printf("%d", codes->values[c]);
    demur_table_warnings_add(warnings, DEMUR_TABLE_CODE, name, text, NULL, codes->counts[c], 0);
  }
}

/* The text of a column that nobody knows, "" where a word says that nothing is recorded (counted,
 * borrowed). */
static const char *
text_of(Columns *columns, const DemurTableField *fields, size_t column) {
  const DemurTableField *field = &fields[column];
  return demur_table_count_missing(field, &columns->missing[column]) ? "" : field->text;
}

static void
warn_missing(const Columns *columns, GPtrArray *warnings) {
  for (guint a = 0; a < columns->header.others->len; a++) {
    const size_t column = g_array_index(columns->header.others, size_t, a);
    demur_missing_words_warn(&columns->missing[column], columns->header.names[column], warnings);
  }
}

/* A cell of days, one of N_DAY_COLUMNS; faults are noted. -1 as the day of the first screen is
 * judged when all are read. */
static void
read_days(const DemurTableField *field, const char *name, size_t column, double least,
          Columns *columns, DemurTableFaults *faults, int *days) {
  const DaysKind kind = parse_days(field, least, days);
  if (kind == DAYS) {
    note_code(&columns->codes[column], *days, field);
  } else if (kind == CODE && column == 0 && *days == -1) {
    g_array_append_val(columns->minus_ones, *field);
  } else if (kind == CODE) {
    demur_table_faults_note(faults, field, name,
                            "%s looks like a code for none or not recorded, and days below 0 can't "
                            "be followed; leave the cell empty where there are none",
                            demur_table_shown(field));
  } else {
    demur_table_faults_note_number(faults, field, name,
                                   "a whole number of days from 0; give days since randomisation, "
                                   "or nothing where there are none");
  }
}

/* One row of the persons' table; faults are noted. */
static void
read_person(const DemurTableField *fields, Columns *columns, Ids *ids, GHashTable *persons,
            DemurTableFaults *faults, DemurNlstCounts *counts) {
  const DemurTableField *pid = &fields[columns->pid];
  const DemurTableField *site = columns->site >= 0 ? &fields[columns->site] : &only_site;
  const char *id = clean(&ids->pids, pid);
  const Person *twin = g_hash_table_lookup(persons, id);
  const gboolean no_id = *id == '\0' || demur_table_is_missing(pid);
  if (no_id || demur_table_is_missing(site)) {
    demur_table_faults_note(faults, no_id ? pid : site, no_id ? "pid" : "cen",
                            "nothing is recorded here; every person needs pid and cen");
    return;
  }
  if (twin != NULL) {
    demur_table_faults_note(faults, pid, "pid",
                            "this person stands in line %zu already; keep one row a person",
                            twin->line);
    return;
  }
  Person *person = g_new0(Person, 1);
  person->line = pid->line;
  person->may_be_several = demur_table_id_may_be_several(id);
  person->site = g_strdup(clean(&ids->sites, site));
  if (columns->split >= 0)
    person->split = g_strdup(clean(&ids->splits, &fields[columns->split]));
  const struct {
    gssize at;
    int *days;
    double least;
  } days[N_DAY_COLUMNS] = {{columns->screens[0], &person->screens[0], -DAYS_BEFORE_RANDOMISATION},
                           {columns->screens[1], &person->screens[1], 0.0},
                           {columns->screens[2], &person->screens[2], 0.0},
                           {columns->cancer, &person->cancer, -1e6}, /* before entry */
                           {columns->followup, &person->followup, 0.0},
                           {columns->death, &person->death, 0.0}};
  for (size_t i = 0; i < N_DAY_COLUMNS; i++) {
    *days[i].days = NOT_RECORDED;
    if (days[i].at >= 0)
      read_days(&fields[days[i].at], columns->header.names[days[i].at], i, days[i].least, columns,
                faults, days[i].days);
  }
  columns->before_day_one |= person->screens[0] < -1 && person->screens[0] != NOT_RECORDED;
  for (int k = 0; k < N_SCREENS; k++)
    counts->n_screens += person->screens[k] != NOT_RECORDED;
  const GArray *kept = columns->header.others;
  person->attributes = g_new0(char *, kept->len + 1);
  for (guint a = 0; a < kept->len; a++)
    person->attributes[a] = g_strdup(text_of(columns, fields, g_array_index(kept, size_t, a)));
  g_hash_table_insert(persons, g_strdup(id), person);
}

/* -1 as the only day before 0 is a code for "none", as some preprocessing writes it. */
static void
check_minus_ones(const Columns *columns, DemurTableFaults *faults) {
  for (guint i = 0; !columns->before_day_one && i < columns->minus_ones->len; i++) {
    faults->bad = FALSE;
    demur_table_faults_note(faults, &g_array_index(columns->minus_ones, DemurTableField, i),
                            columns->header.names[columns->screens[0]],
                            "-1 is the only day before 0 here and looks like a code for not "
                            "recorded; leave it empty if so");
  }
}

static gboolean
read_persons(DemurTable *table, Columns *columns, const Reading *r, DemurTableFaults *faults,
             GError **error) {
  if (!read_person_header(table, r->options, columns, r->warnings, error))
    return FALSE;
  for (;; r->counts->n_persons++) {
    const DemurTableField *fields;
    if ((r->counts->n_persons % ROWS_A_STEP == 0 &&
         !demur_progress_step(r->progress, demur_table_fraction(table) / 2, "reading persons",
                              error)) ||
        !demur_table_header_next(&columns->header, table, faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    read_person(fields, columns, r->ids, r->persons, faults, r->counts);
  }
  const gssize day_columns[N_DAY_COLUMNS] = {columns->screens[0], columns->screens[1],
                                             columns->screens[2], columns->cancer,
                                             columns->followup,   columns->death};
  for (size_t i = 0; i < N_DAY_COLUMNS; i++)
    if (day_columns[i] >= 0)
      judge_codes(&columns->codes[i], columns->header.names[day_columns[i]], faults, r->warnings);
  check_minus_ones(columns, faults);
  return demur_table_faults_end(faults, r->warnings, error);
}

typedef enum { CANCER, FOLLOWED, CANCER_LATER, CANCER_BEFORE, DEATH, CENSORED, UNKNOWN } Case;

/* The rule of the header for a screen on that day. */
static Case
find_case(const Person *person, int screen, int horizon) {
  if (person->cancer != NOT_RECORDED)
    return person->cancer < screen             ? CANCER_BEFORE
           : person->cancer - screen < horizon ? CANCER
                                               : CANCER_LATER;
  if (person->followup != NOT_RECORDED && person->followup - screen >= horizon)
    return FOLLOWED;
  if (person->death != NOT_RECORDED && person->death - screen < horizon)
    return DEATH;
  return person->followup == NOT_RECORDED ? UNKNOWN : CENSORED;
}

static int
label_of(Case which, const DemurNlstOptions *options) {
  switch (which) {
  case CANCER:
    return 1;
  case FOLLOWED:
  case CANCER_LATER:
    return 0;
  case DEATH:
    return options->death_event_free ? 0 : -1;
  case CENSORED:
  case UNKNOWN:
    return options->short_followup == DEMUR_SHORT_EVENT_FREE ? 0 : -1;
  default:
    return -1;
  }
}

static void
count_cases(const Person *person, int screen, DemurNlstCounts *counts) {
  for (int h = 1; h <= DEMUR_N_YEARS; h++) {
    DemurNlstCases *c = &counts->cases[h - 1];
    size_t *counters[] = {&c->n_cancer, &c->n_followed, &c->n_cancer_later,    &c->n_cancer_before,
                          &c->n_death,  &c->n_censored, &c->n_followup_unknown};
    (*counters[find_case(person, screen, demur_nlst_horizon_days(h))])++;
  }
}

/* For the weights: until which day a scan was seen, and whether censoring ended it. */
typedef struct {
  int days;
  gboolean censored;
} Seen;

static Seen
seen_of(const Person *person, int screen, int horizon, const DemurNlstOptions *options) {
  if (person->cancer != NOT_RECORDED)
    return (Seen){MIN(person->cancer - screen, horizon), FALSE};
  const int until_lost = person->followup != NOT_RECORDED ? person->followup - screen : 0;
  const int until_death = person->death != NOT_RECORDED ? person->death - screen : G_MAXINT;
  if (until_lost >= horizon || (until_death < horizon && options->death_event_free))
    return (Seen){horizon, FALSE};
  return (Seen){CLAMP(MIN(until_death, until_lost), 0, horizon), TRUE};
}

static int
compare_seen(gconstpointer a, gconstpointer b) {
  const Seen *x = a, *y = b;
  return x->days != y->days ? (x->days < y->days ? -1 : 1) : 0;
}

/* kept[day]: Kaplan-Meier estimate of not yet being censored just before that day, [horizon + 1]
 * (g_free). */
static double *
uncensored(GArray *seen, int horizon) {
  double *kept = g_new(double, (size_t)horizon + 1);
  g_array_sort(seen, compare_seen);
  double share = 1.0;
  guint i = 0;
  for (int day = 0; day <= horizon; day++) {
    kept[day] = share;
    const guint n_at_risk = seen->len - i;
    guint n_lost = 0;
    for (; i < seen->len && g_array_index(seen, Seen, i).days == day; i++)
      n_lost += g_array_index(seen, Seen, i).censored ? 1 : 0;
    if (n_at_risk > 0)
      share *= 1.0 - (double)n_lost / (double)n_at_risk;
  }
  return kept;
}

typedef struct {
  const DemurNlstOptions *options;
  const Columns *person_columns;
  Columns *columns;
  GHashTable *persons;
  DemurTableFaults *faults;
  DemurNlstCounts *counts;
  DemurCohortBuilder *builder;
  GArray *seen; /* Seen of each matched screen */
  Ids *ids;
  DemurNlstImages *images; /* NULL: none */
  GString *strangers;      /* the first scores without person or screen */
  GArray *label_days;      /* int, of each scan of the cohort: the day its label was known, or
                         NOT_RECORDED */
  float *embedding;
} Scores;

static void
add_years(DemurCohortBuilder *builder, const char *name, int days) {
  char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
  if (days != NOT_RECORDED)
    g_ascii_formatd(text, sizeof text, "%.3f", days / 365.25);
  demur_cohort_builder_attribute(builder, name, text);
}

static size_t
n_unmatched_scores(const DemurNlstCounts *counts) {
  return counts->n_scores_without_person + counts->n_scores_without_screen;
}

/* Adds the nth unmatched screen to the list; the first ten are named. */
static void
name_unmatched(GString *list, const char *pid, int year, size_t nth) {
  if (nth <= MAX_UNMATCHED_SHOWN)
    g_string_append_printf(list, "%s%s-T%d", nth > 1 ? ", " : "", pid, year);
  else if (nth == MAX_UNMATCHED_SHOWN + 1)
    g_string_append(list, ", ..");
}

typedef struct {
  const char *pid;
  const Person *person;
} Entry;

static int
compare_entries(gconstpointer a, gconstpointer b) {
  const size_t x = ((const Entry *)a)->person->line, y = ((const Entry *)b)->person->line;
  return x < y ? -1 : x > y;
}

/* Says which scores and which screens have no partner. */
static void
warn_unmatched(const Scores *s, GPtrArray *warnings) {
  const size_t n_scores = n_unmatched_scores(s->counts);
  if (n_scores > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_NO_PERSON, NULL, s->strangers->str, NULL,
                             n_scores, s->counts->n_scores);
  if (s->counts->n_screens_without_score == 0)
    return;
  g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
  GHashTableIter iterator;
  gpointer pid, person;
  g_hash_table_iter_init(&iterator, s->persons);
  while (g_hash_table_iter_next(&iterator, &pid, &person)) {
    const Entry entry = {pid, person};
    g_array_append_val(entries, entry);
  }
  g_array_sort(entries, compare_entries);
  g_autoptr(GString) list = g_string_new(NULL);
  size_t n = 0;
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = &g_array_index(entries, Entry, i);
    for (int k = 0; k < N_SCREENS; k++)
      if (entry->person->screens[k] != NOT_RECORDED && !entry->person->scored[k])
        name_unmatched(list, entry->pid, k, ++n);
  }
  demur_table_warnings_add(warnings, DEMUR_TABLE_NO_SCORE, NULL, list->str, NULL, n,
                           s->counts->n_screens);
}

/* Time and status of the scan added last. A year is a share of the horizon's days, so that a day
 * before the horizon is a time below it. */
static void
add_outcome(DemurCohortBuilder *builder, const Person *person, int screen, int horizon_years,
            Case which, const DemurNlstOptions *options) {
  const int horizon = demur_nlst_horizon_days(horizon_years);
  DemurStatus status = DEMUR_STATUS_CENSORED;
  int days = person->followup != NOT_RECORDED ? MAX(person->followup - screen, 0) : 0;
  if (which == CANCER || which == CANCER_LATER) {
    status = DEMUR_STATUS_EVENT;
    days = person->cancer - screen;
  } else if (which == DEATH) {
    status = options->death_event_free ? DEMUR_STATUS_COMPETING : DEMUR_STATUS_CENSORED;
    days = MAX(person->death - screen, 0);
    if (!options->death_event_free && person->followup != NOT_RECORDED)
      days = MIN(days, MAX(person->followup - screen, 0));
  }
  demur_cohort_builder_outcome(builder, (double)days * horizon_years / horizon, status,
                               (double)horizon_years);
}

/* A scored screen that counts. id: its person's; label: DEMUR_NO_LABEL where it was left. */
static void
add_scan(Scores *s, const DemurTableField *fields, const Person *person, const char *id, int year,
         Case which, int label, const DemurScoreRow *score) {
  Columns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const int screen = person->screens[year];
  const char *split = options->split  ? options->split
                      : c->split >= 0 ? clean(&s->ids->splits, &fields[c->split])
                      : person->split ? person->split
                                      : "selector_train";
  const DemurTableField split_field = {.text = split, .length = strlen(split)};
  if (demur_table_is_missing(&split_field)) {
    demur_table_faults_note(s->faults, &fields[c->pid], "split",
                            "the patient has no split; give it one");
    return;
  }
  g_autofree char *scan_id = g_strdup_printf("%s-T%d", id, year);
  demur_cohort_builder_add(s->builder, scan_id, id, person->site, split, label, &score->risk,
                           score->years, s->embedding);
  if (options->short_followup == DEMUR_SHORT_WEIGHTED)
    add_outcome(s->builder, person, screen, options->horizon_years, which, options);
  const int label_day = label == DEMUR_NO_LABEL ? NOT_RECORDED
                        : which == CANCER       ? person->cancer - screen
                                                : demur_nlst_horizon_days(options->horizon_years);
  g_array_append_val(s->label_days, label_day);
  s->counts->n_scans++;
  char text[2] = {(char)('0' + year), '\0'};
  demur_cohort_builder_attribute(s->builder, "study_year", text);
  add_years(s->builder, "years_to_cancer",
            person->cancer != NOT_RECORDED ? person->cancer - screen : NOT_RECORDED);
  add_years(s->builder, "years_of_followup",
            person->followup != NOT_RECORDED ? MAX(person->followup - screen, 0) : NOT_RECORDED);
  for (guint a = 0; a < c->header.others->len; a++) {
    const size_t at = g_array_index(c->header.others, size_t, a);
    demur_cohort_builder_attribute(s->builder, c->header.names[at], text_of(c, fields, at));
  }
  const DemurTableHeader *persons = &s->person_columns->header;
  for (guint a = 0; a < persons->others->len; a++)
    demur_cohort_builder_attribute(s->builder,
                                   persons->names[g_array_index(persons->others, size_t, a)],
                                   person->attributes[a]);
  const char *series = c->series >= 0 ? fields[c->series].text : NULL;
  if (s->images != NULL && !demur_nlst_images_add(s->images, s->builder, id, year, series))
    demur_table_faults_note(s->faults, &fields[c->series], "series_uid",
                            "the table of images has no such series of this person and year");
}

static void
read_score(Scores *s, const DemurTableField *fields) {
  Columns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const DemurTableField *pid = &fields[c->pid], *year_field = &fields[c->year];
  int year;
  if (parse_days(year_field, 0.0, &year) != DAYS || year < 0 || year >= N_SCREENS) {
    demur_table_faults_note_number(s->faults, year_field, "study_yr",
                                   "the year of a screen; give 0, 1 or 2");
    return;
  }
  const int h = options->horizon_years;
  DemurScoreRow score;
  const gboolean ok =
      demur_score_columns_read(&c->scores, fields, h, s->faults, &score, NULL, s->embedding);
  /* The risk is that of the last year kept, so that the cohort reads back as it is written. */
  for (int k = h; k < DEMUR_N_YEARS; k++)
    score.years[k] = NAN;
  const char *id = clean(&s->ids->pids, pid);
  if (*id == '\0') {
    demur_table_faults_note(s->faults, pid, "pid",
                            "nothing stands here; every score needs its pid");
    return;
  }
  Person *person = g_hash_table_lookup(s->persons, id);
  if (person == NULL) {
    s->counts->n_scores_without_person++;
    name_unmatched(s->strangers, id, year, n_unmatched_scores(s->counts));
    return;
  }
  const int screen = person->screens[year];
  if (screen == NOT_RECORDED) {
    s->counts->n_scores_without_screen++;
    name_unmatched(s->strangers, id, year, n_unmatched_scores(s->counts));
    return;
  }
  if (person->scored[year]) {
    demur_table_faults_note(s->faults, pid, "pid", "this screen has a score already; keep one");
    return;
  }
  if (person->may_be_several && (person->scored[0] || person->scored[1] || person->scored[2])) {
    demur_table_faults_note(s->faults, pid, "pid",
                            "%s has a score in an earlier line too and looks rewritten by a "
                            "spreadsheet, so several persons may have become one; export "
                            "identifiers as text",
                            id);
    return;
  }
  person->scored[year] = TRUE;
  s->counts->n_matched++;
  count_cases(person, screen, s->counts);
  const int horizon = demur_nlst_horizon_days(h);
  const Case which = find_case(person, screen, horizon);
  if (which != CANCER_BEFORE) {
    const Seen seen = seen_of(person, screen, horizon, options);
    g_array_append_val(s->seen, seen);
  }
  const int label = label_of(which, options);
  const gboolean weighed = options->short_followup == DEMUR_SHORT_WEIGHTED;
  const gboolean left = label < 0 && (which == DEATH || which == CENSORED) && weighed;
  if (!ok || (label < 0 && !left))
    return;
  add_scan(s, fields, person, id, year, which, left ? DEMUR_NO_LABEL : label, &score);
}

/* Columns of the persons that the scores have too, or that the cohort makes itself, are not kept.
 */
static void
drop_shared(Columns *persons, Columns *scores, const Reading *r) {
  static const char *const made[] = {"study_year", "years_to_cancer", "years_of_followup",
                                     "ipc_weight"};
  Columns *both[] = {persons, scores};
  for (int t = 0; t < 2; t++)
    for (guint a = 0; a < both[t]->header.others->len;) {
      const char *name = both[t]->header.names[g_array_index(both[t]->header.others, size_t, a)];
      gboolean shared =
          demur_cohort_column_is_own(name) || (r->images != NULL && demur_nlst_images_has(name));
      for (size_t m = 0; m < G_N_ELEMENTS(made); m++)
        shared |= strcmp(name, made[m]) == 0;
      for (guint b = 0; t == 0 && b < scores->header.others->len; b++)
        shared |=
            strcmp(name, scores->header.names[g_array_index(scores->header.others, size_t, b)]) ==
            0;
      if (!shared) {
        a++;
        continue;
      }
      demur_table_warnings_add(r->warnings, DEMUR_TABLE_COLUMN_TWICE, name,
                               t == 0 ? "persons" : "scores", NULL, 1, 0);
      g_array_remove_index(both[t]->header.others, a);
    }
}

/* Attributes of the persons are read already: what is dropped of them must keep its place. */
static void
drop_attributes(Columns *person_columns, Columns *columns, const Reading *r) {
  g_autoptr(GArray) all_kept = g_array_copy(person_columns->header.others);
  drop_shared(person_columns, columns, r);
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, r->persons);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    Person *person = value;
    guint kept = 0;
    for (guint a = 0; a < all_kept->len; a++) {
      char *text = person->attributes[a];
      person->attributes[a] = NULL;
      if (kept < person_columns->header.others->len &&
          g_array_index(person_columns->header.others, size_t, kept) ==
              g_array_index(all_kept, size_t, a))
        person->attributes[kept++] = text;
      else
        g_free(text);
    }
  }
}

/* The attribute ipc_weight of the scans of the builder. */
static void
add_weights(const Scores *s, GPtrArray *warnings) {
  const int horizon = demur_nlst_horizon_days(s->options->horizon_years);
  const size_t n = s->counts->n_scans;
  g_autofree double *kept = uncensored(s->seen, horizon);
  g_autofree char **texts = g_new0(char *, n);
  for (size_t i = 0; i < n; i++) {
    const int day = g_array_index(s->label_days, int, i);
    const double share = day == NOT_RECORDED ? 0.0 : kept[CLAMP(day, 0, horizon)];
    texts[i] = g_strdup_printf("%.6g", share > 0.0 ? 1.0 / share : 0.0);
  }
  demur_cohort_builder_attribute_all(s->builder, "ipc_weight", (const char *const *)texts);
  for (size_t i = 0; i < n; i++)
    g_free(texts[i]);
  demur_table_warnings_add(warnings, DEMUR_TABLE_WEIGHTS, NULL, NULL, NULL, 0, 0);
}

/* Persons that look alike in two splits may be one. */
static gboolean
check_alike(const DemurCohort *cohort, GHashTable *persons, const char *table, GError **error) {
  g_autofree guint32 *alike = demur_ids_alike(cohort->patient_ids, cohort->n_patients);
  g_autofree guint32 *splits = g_new(guint32, MAX(cohort->n_patients, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    splits[cohort->patients[i]] = cohort->splits[i];
  for (size_t p = 0; p < cohort->n_patients; p++) {
    const char *id = cohort->patient_ids[p], *other = cohort->patient_ids[alike[p]];
    if (splits[p] == splits[alike[p]])
      continue;
    const Person *person = g_hash_table_lookup(persons, id),
                 *before = g_hash_table_lookup(persons, other);
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line %zu, column 1 (pid): '%s' looks like '%s' of line %zu, which is in split "
                "%s and this one in %s; write one person in one way and keep it in one split",
                table, person->line, id, other, before->line, cohort->split_names[splits[alike[p]]],
                cohort->split_names[splits[p]]);
    return FALSE;
  }
  return TRUE;
}

static DemurCohort *
read_scores(DemurTable *table, Columns *columns, Columns *person_columns, const Reading *r,
            DemurTableFaults *faults, GError **error) {
  const DemurNlstOptions *options = r->options;
  DemurNlstCounts *counts = r->counts;
  GPtrArray *warnings = r->warnings;
  GHashTable *persons = r->persons;
  DemurIds *ids[] = {&r->ids->pids, &r->ids->sites, &r->ids->splits};
  if (!read_score_header(table, options, columns, warnings, error))
    return NULL;
  drop_attributes(person_columns, columns, r);
  g_autoptr(DemurCohortBuilder) builder =
      demur_cohort_builder_new(2, demur_score_columns_width(&columns->scores));
  g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(Seen));
  g_autoptr(GArray) label_days = g_array_new(FALSE, FALSE, sizeof(int));
  g_autoptr(GString) strangers = g_string_new(NULL);
  g_autofree float *embedding = g_new0(float, demur_score_columns_width(&columns->scores) + 1);
  Scores scores = {.options = options,
                   .person_columns = person_columns,
                   .columns = columns,
                   .persons = persons,
                   .faults = faults,
                   .counts = counts,
                   .builder = builder,
                   .seen = seen,
                   .ids = r->ids,
                   .images = r->images,
                   .strangers = strangers,
                   .label_days = label_days,
                   .embedding = embedding};
  for (;; counts->n_scores++) {
    const DemurTableField *fields;
    if ((counts->n_scores % ROWS_A_STEP == 0 &&
         !demur_progress_step(r->progress, 0.5 + demur_table_fraction(table) / 2, "reading scores",
                              error)) ||
        !demur_table_header_next(&columns->header, table, faults, &fields, error))
      return NULL;
    if (fields == NULL)
      break;
    read_score(&scores, fields);
  }
  counts->n_screens_without_score = counts->n_screens - counts->n_matched;
  if (!demur_table_faults_end(faults, warnings, error))
    return NULL;
  if (counts->n_scans == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: none of %zu scores belongs to a screen with a known label (%zu without "
                "person, %zu without screen); check pid and study_yr",
                demur_table_name(table), counts->n_scores, counts->n_scores_without_person,
                counts->n_scores_without_screen);
    return NULL;
  }
  for (size_t k = 0; k < G_N_ELEMENTS(ids); k++)
    demur_ids_warn(ids[k], warnings);
  warn_unmatched(&scores, warnings);
  if (columns->split < 0 && person_columns->split < 0 && options->split == NULL &&
      options->splits == NULL)
    demur_table_warnings_add(warnings, DEMUR_TABLE_ONE_SPLIT, NULL, "selector_train", NULL, 0, 0);
  g_autofree char *source =
      g_strdup_printf("NLST tables %s and %s, labels at %d years", r->persons_name,
                      demur_table_name(table), options->horizon_years);
  if (options->weights)
    add_weights(&scores, warnings);
  g_autoptr(DemurCohort) cohort = demur_cohort_builder_finish(
      builder, options->name, options->model != NULL ? options->model : "unnamed", source,
      options->created != NULL ? options->created : "", FALSE, error);
  if (cohort == NULL || !check_alike(cohort, persons, r->persons_name, error))
    return NULL;
  warn_missing(person_columns, warnings);
  warn_missing(columns, warnings);
  if (r->images != NULL)
    demur_nlst_images_warn(r->images, warnings);
  cohort->horizon_years = options->horizon_years;
  demur_score_columns_warn(&columns->scores, warnings);
  demur_attribute_codes_warn(cohort->attributes, cohort->n_attributes, cohort->n_scans, warnings);
  demur_site_codes_warn(cohort, warnings);
  g_autofree char *words = NULL;
  if (options->splits != NULL) {
    if (!demur_cohort_make_splits(cohort, options->splits, options->seed, &words, error))
      return NULL;
    demur_table_warnings_add(warnings, DEMUR_TABLE_SPLIT_MADE,
                             options->splits->by_site ? "site" : "patient", words, NULL, 0, 0);
  }
  return g_steal_pointer(&cohort);
}

DemurCohort *
demur_cohort_import_nlst(const char *persons_path, const char *scores_path,
                         const DemurNlstOptions *options, const DemurProgress *progress,
                         DemurNlstCounts *counts, GPtrArray **warnings, GError **error) {
  memset(counts, 0, sizeof *counts);
  if (options->horizon_years < 1 || options->horizon_years > DEMUR_N_YEARS) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "horizon of %d years; expected 1 to %d",
                options->horizon_years, DEMUR_N_YEARS);
    return NULL;
  }
  if (options->weights && options->short_followup == DEMUR_SHORT_EVENT_FREE) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "weights for censoring and censored scans taken as event-free contradict "
                        "each other; choose one");
    return NULL;
  }
  g_autoptr(DemurTable) persons_table = demur_table_open(persons_path, error);
  if (persons_table == NULL)
    return NULL;
  g_autoptr(DemurTable) scores_table = demur_table_open(scores_path, error);
  if (scores_table == NULL)
    return NULL;
  g_autoptr(GHashTable) persons =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, person_free);
  g_autoptr(GPtrArray) noticed = demur_table_warnings_new();
  g_autoptr(DemurNlstImages) images = NULL;
  if (options->images_path != NULL &&
      (images = demur_nlst_images_read(options->images_path, options->columns, noticed, error)) ==
          NULL)
    return NULL;
  g_auto(DemurTableFaults) person_faults = {0}, score_faults = {0};
  demur_table_faults_init(&person_faults, persons_table);
  demur_table_faults_init(&score_faults, scores_table);
  Columns person_columns = {0}, score_columns = {0};
  Ids ids;
  ids_init(&ids);
  const Reading reading = {
      options, demur_table_name(persons_table), persons, &ids, images, counts, noticed, progress};
  DemurCohort *cohort = NULL;
  if (read_persons(persons_table, &person_columns, &reading, &person_faults, error))
    cohort =
        read_scores(scores_table, &score_columns, &person_columns, &reading, &score_faults, error);
  columns_clear(&person_columns);
  columns_clear(&score_columns);
  ids_clear(&ids);
  if (cohort != NULL && options->columns != NULL &&
      !demur_column_map_check(options->columns, error))
    g_clear_pointer(&cohort, demur_cohort_unref);
  if (cohort != NULL && warnings != NULL)
    *warnings = g_steal_pointer(&noticed);
  return cohort;
}
