/* Persons are read into a table by pid; scores are then read row by row, each finding its person,
 * its screen and its case. Cost: O(bytes of both). Memory: the persons' texts once, the cohort. */
#include "cohort/nlst.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cohort/attribute-codes.h"
#include "cohort/columns.h"
#include "cohort/ids.h"
#include "cohort/table-header.h"

#define N_SCREENS 3
#define N_DAY_COLUMNS (N_SCREENS + 3) /* screens, cancer, follow-up, death */
#define MAX_UNMATCHED_SHOWN 10
#define NOT_RECORDED G_MININT
#define ROWS_A_STEP 4096

typedef struct {
  char *site, *split;                              /* split NULL: no column */
  int screens[N_SCREENS], cancer, followup, death; /* days; NOT_RECORDED */
  gboolean scored[N_SCREENS];
  size_t line;
  char **attributes; /* [n of kept columns] */
} Person;

/* A table's header and where the columns of its kind are; -1: absent. */
typedef struct {
  DemurTableHeader header;
  gssize pid, site, screens[N_SCREENS], cancer, followup, death, split; /* persons */
  gssize year;                                                          /* scores */
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
}

typedef enum { DAYS, NO_DAYS, CODE } DaysKind;

/* Days as a whole number from least; "1234.0" too, as tables with gaps write them. */
static DaysKind
parse_days(const DemurTableField *field, double least, int *days) {
  *days = NOT_RECORDED;
  if (demur_table_is_missing(field))
    return DAYS;
  double value;
  if (!demur_number_parse(field->text, field->length, &value))
    return NO_DAYS;
  if (value < 0.0 && demur_table_is_code(value))
    return CODE;
  if (value != floor(value) || value < least || value > 1e6)
    return NO_DAYS;
  *days = (int)value;
  return DAYS;
}

static gboolean
read_person_header(DemurTable *table, const DemurNlstOptions *options, Columns *columns,
                   GPtrArray *warnings, GError **error) {
  const DemurNamedColumn named[] = {
      {"pid", NULL, &columns->pid, TRUE},
      {"cen", NULL, &columns->site, TRUE},
      {"scr_days0", "scr_days_0", &columns->screens[0], TRUE},
      {"scr_days1", "scr_days_1", &columns->screens[1], FALSE},
      {"scr_days2", "scr_days_2", &columns->screens[2], FALSE},
      {"candx_days", NULL, &columns->cancer, TRUE},
      {"fup_days", NULL, &columns->followup, TRUE},
      {"death_days", NULL, &columns->death, FALSE},
      {"split", NULL, &columns->split, FALSE},
  };
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = "pid, cen, scr_days0, candx_days, fup_days",
                                .map = options->columns};
  return demur_table_header_read(&columns->header, table, &plan, warnings, error);
}

static gboolean
read_score_header(DemurTable *table, const DemurNlstOptions *options, Columns *columns,
                  GPtrArray *warnings, GError **error) {
  const DemurNamedColumn named[] = {
      {"pid", NULL, &columns->pid, TRUE},
      {"study_yr", NULL, &columns->year, TRUE},
      {"split", NULL, &columns->split, FALSE},
  };
  demur_score_columns_init(&columns->scores);
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .scores = &columns->scores,
                                .horizon = options->horizon_years,
                                .expected = "pid, study_yr, risk",
                                .map = options->columns};
  if (!demur_table_header_read(&columns->header, table, &plan, warnings, error) ||
      (plan.map != NULL && !demur_column_map_check(plan.map, error)))
    return FALSE;
  if (demur_score_columns_n_classes(&columns->scores) == 2)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
              "%s: line 1, column 1: more than two classes; NLST labels are cancer or none",
              demur_table_name(table));
  return FALSE;
}

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

/* One row of the persons' table; faults are noted. codes [N_DAY_COLUMNS] of the columns of days. */
static void
read_person(const DemurTableField *fields, const Columns *columns, DemurIds *ids,
            GHashTable *persons, DayCodes *codes, DemurTableFaults *faults,
            DemurNlstCounts *counts) {
  const DemurTableField *pid = &fields[columns->pid], *site = &fields[columns->site];
  gboolean is_new;
  guint32 like;
  const char *id = demur_ids_text(ids, demur_ids_add(ids, pid, &is_new, &like));
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
  person->site = g_strdup(site->text);
  if (columns->split >= 0)
    person->split = g_strdup(fields[columns->split].text);
  const struct {
    gssize at;
    int *days;
    double least;
  } days[N_DAY_COLUMNS] = {{columns->screens[0], &person->screens[0], 0.0},
                           {columns->screens[1], &person->screens[1], 0.0},
                           {columns->screens[2], &person->screens[2], 0.0},
                           {columns->cancer, &person->cancer, -1e6}, /* before entry */
                           {columns->followup, &person->followup, 0.0},
                           {columns->death, &person->death, 0.0}};
  for (size_t i = 0; i < N_DAY_COLUMNS; i++) {
    *days[i].days = NOT_RECORDED;
    const DaysKind kind =
        days[i].at >= 0 ? parse_days(&fields[days[i].at], days[i].least, days[i].days) : DAYS;
    if (kind == DAYS)
      note_code(&codes[i], *days[i].days, days[i].at >= 0 ? &fields[days[i].at] : NULL);
    else
      demur_table_faults_note(faults, &fields[days[i].at], columns->header.names[days[i].at],
                              kind == CODE
                                  ? "%s looks like a code for none or not recorded, and days below "
                                    "0 can't be followed; leave the cell empty where there are none"
                                  : "%s is not a whole number of days from 0; give days since "
                                    "randomisation, or nothing where there are none",
                              demur_table_shown(&fields[days[i].at]));
  }
  for (int k = 0; k < N_SCREENS; k++)
    counts->n_screens += person->screens[k] != NOT_RECORDED;
  const GArray *kept = columns->header.others;
  person->attributes = g_new0(char *, kept->len + 1);
  for (guint a = 0; a < kept->len; a++)
    person->attributes[a] = g_strdup(fields[g_array_index(kept, size_t, a)].text);
  g_hash_table_insert(persons, g_strdup(id), person);
}

static gboolean
read_persons(DemurTable *table, const DemurNlstOptions *options, Columns *columns,
             GHashTable *persons, DemurTableFaults *faults, DemurNlstCounts *counts,
             GPtrArray *warnings, const DemurProgress *progress, GError **error) {
  if (!read_person_header(table, options, columns, warnings, error))
    return FALSE;
  DayCodes codes[N_DAY_COLUMNS] = {0};
  DemurIds ids;
  demur_ids_init(&ids, "pid", NULL);
  for (;; counts->n_persons++) {
    const DemurTableField *fields;
    if ((counts->n_persons % ROWS_A_STEP == 0 &&
         !demur_progress_step(progress, demur_table_fraction(table) / 2, "reading persons",
                              error)) ||
        !demur_table_header_next(&columns->header, table, faults, &fields, error)) {
      demur_ids_clear(&ids);
      return FALSE;
    }
    if (fields == NULL)
      break;
    read_person(fields, columns, &ids, persons, codes, faults, counts);
  }
  const gssize day_columns[N_DAY_COLUMNS] = {columns->screens[0], columns->screens[1],
                                             columns->screens[2], columns->cancer,
                                             columns->followup,   columns->death};
  for (size_t i = 0; i < N_DAY_COLUMNS; i++)
    if (day_columns[i] >= 0)
      judge_codes(&codes[i], columns->header.names[day_columns[i]], faults, warnings);
  demur_ids_warn(&ids, warnings);
  demur_ids_clear(&ids);
  return !demur_table_faults_raise(faults, error);
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
  GString *scratch;
  GString *strangers; /* the first scores without person or screen */
  GArray *label_days; /* int, of each scan of the cohort: the day its label was known, or
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

static void
read_score(Scores *s, const DemurTableField *fields) {
  Columns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const DemurTableField *pid = &fields[c->pid], *year_field = &fields[c->year];
  int year;
  if (parse_days(year_field, 0.0, &year) != DAYS || year < 0 || year >= N_SCREENS) {
    demur_table_faults_note(s->faults, year_field, "study_yr", "%s is not 0, 1 or 2",
                            demur_table_shown(year_field));
    return;
  }
  const int h = options->horizon_years;
  DemurScoreRow score;
  const gboolean ok =
      demur_score_columns_read(&c->scores, fields, h, s->faults, &score, NULL, s->embedding);
  /* The risk is that of the last year kept, so that the cohort reads back as it is written. */
  for (int k = h; k < DEMUR_N_YEARS; k++)
    score.years[k] = NAN;
  size_t length;
  DemurIdChanges changes;
  const char *id = demur_table_id(pid, s->scratch, &length, &changes);
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
  const char *split = options->split  ? options->split
                      : c->split >= 0 ? fields[c->split].text
                      : person->split ? person->split
                                      : "selector_train";
  if (*split == '\0') {
    demur_table_faults_note(s->faults, pid, "split", "the patient has no split; give it one");
    return;
  }
  g_autofree char *scan_id = g_strdup_printf("%s-T%d", id, year);
  demur_cohort_builder_add(s->builder, scan_id, id, person->site, split,
                           left ? DEMUR_NO_LABEL : label, &score.risk, score.years, s->embedding);
  if (weighed)
    add_outcome(s->builder, person, screen, h, which, options);
  const int label_day = left ? NOT_RECORDED : which == CANCER ? person->cancer - screen : horizon;
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
    demur_cohort_builder_attribute(s->builder, c->header.names[at], fields[at].text);
  }
  const DemurTableHeader *persons = &s->person_columns->header;
  for (guint a = 0; a < persons->others->len; a++)
    demur_cohort_builder_attribute(s->builder,
                                   persons->names[g_array_index(persons->others, size_t, a)],
                                   person->attributes[a]);
}

/* Columns of the persons that the scores have too, or that the cohort makes itself, are not kept.
 */
static void
drop_shared(Columns *persons, Columns *scores, GPtrArray *warnings) {
  static const char *const made[] = {"study_year", "years_to_cancer", "years_of_followup",
                                     "ipc_weight"};
  Columns *both[] = {persons, scores};
  for (int t = 0; t < 2; t++)
    for (guint a = 0; a < both[t]->header.others->len;) {
      const char *name = both[t]->header.names[g_array_index(both[t]->header.others, size_t, a)];
      gboolean shared = demur_cohort_column_is_own(name);
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
      demur_table_warnings_add(warnings, DEMUR_TABLE_COLUMN_TWICE, name,
                               t == 0 ? "persons" : "scores", NULL, 1, 0);
      g_array_remove_index(both[t]->header.others, a);
    }
}

static DemurCohort *
read_scores(DemurTable *table, Columns *columns, Columns *person_columns, GHashTable *persons,
            const DemurNlstOptions *options, DemurTableFaults *faults, DemurNlstCounts *counts,
            GPtrArray *warnings, const char *persons_name, const DemurProgress *progress,
            GError **error) {
  if (!read_score_header(table, options, columns, warnings, error))
    return NULL;
  /* Attributes of the persons are read already: what is dropped of them must keep its place. */
  g_autoptr(GArray) all_kept = g_array_copy(person_columns->header.others);
  drop_shared(person_columns, columns, warnings);
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, persons);
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

  g_autoptr(DemurCohortBuilder) builder =
      demur_cohort_builder_new(2, demur_score_columns_width(&columns->scores));
  g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(Seen));
  g_autoptr(GArray) label_days = g_array_new(FALSE, FALSE, sizeof(int));
  g_autoptr(GString) strangers = g_string_new(NULL), scratch = g_string_new(NULL);
  g_autofree float *embedding = g_new0(float, demur_score_columns_width(&columns->scores) + 1);
  Scores scores = {.options = options,
                   .person_columns = person_columns,
                   .columns = columns,
                   .persons = persons,
                   .faults = faults,
                   .counts = counts,
                   .builder = builder,
                   .seen = seen,
                   .scratch = scratch,
                   .strangers = strangers,
                   .label_days = label_days,
                   .embedding = embedding};
  for (;; counts->n_scores++) {
    const DemurTableField *fields;
    if ((counts->n_scores % ROWS_A_STEP == 0 &&
         !demur_progress_step(progress, 0.5 + demur_table_fraction(table) / 2, "reading scores",
                              error)) ||
        !demur_table_header_next(&columns->header, table, faults, &fields, error))
      return NULL;
    if (fields == NULL)
      break;
    read_score(&scores, fields);
  }
  counts->n_screens_without_score = counts->n_screens - counts->n_matched;
  if (demur_table_faults_raise(faults, error))
    return NULL;
  if (counts->n_scans == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: none of %zu scores belongs to a screen with a known label (%zu without "
                "person, %zu without screen); check pid and study_yr",
                demur_table_name(table), counts->n_scores, counts->n_scores_without_person,
                counts->n_scores_without_screen);
    return NULL;
  }
  warn_unmatched(&scores, warnings);
  if (columns->split < 0 && person_columns->split < 0 && options->split == NULL &&
      options->splits == NULL)
    demur_table_warnings_add(warnings, DEMUR_TABLE_ONE_SPLIT, NULL, "selector_train", NULL, 0, 0);
  g_autofree char *source =
      g_strdup_printf("NLST tables %s and %s, labels at %d years", persons_name,
                      demur_table_name(table), options->horizon_years);
  DemurCohort *cohort = NULL;
  if (options->weights) {
    const int horizon = demur_nlst_horizon_days(options->horizon_years);
    g_autofree double *kept = uncensored(seen, horizon);
    g_autofree char **texts = g_new0(char *, counts->n_scans);
    for (size_t i = 0; i < counts->n_scans; i++) {
      const int day = g_array_index(label_days, int, i);
      const double share = day == NOT_RECORDED ? 0.0 : kept[CLAMP(day, 0, horizon)];
      texts[i] = g_strdup_printf("%.6g", share > 0.0 ? 1.0 / share : 0.0);
    }
    demur_cohort_builder_attribute_all(builder, "ipc_weight", (const char *const *)texts);
    for (size_t i = 0; i < counts->n_scans; i++)
      g_free(texts[i]);
    demur_table_warnings_add(warnings, DEMUR_TABLE_WEIGHTS, NULL, NULL, NULL, 0, 0);
  }
  cohort = demur_cohort_builder_finish(
      builder, options->name, options->model != NULL ? options->model : "unnamed", source,
      options->created != NULL ? options->created : "", FALSE, error);
  if (cohort == NULL)
    return NULL;
  demur_score_columns_warn(&columns->scores, warnings);
  demur_attribute_codes_warn(cohort, warnings);
  g_autofree char *words = NULL;
  if (options->splits != NULL) {
    if (!demur_cohort_make_splits(cohort, options->splits, options->seed, &words, error)) {
      demur_cohort_unref(cohort);
      return NULL;
    }
    demur_table_warnings_add(warnings, DEMUR_TABLE_SPLIT_MADE,
                             options->splits->by_site ? "site" : "patient", words, NULL, 0, 0);
  }
  return cohort;
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
  g_auto(DemurTableFaults) person_faults = {0}, score_faults = {0};
  demur_table_faults_init(&person_faults, persons_table);
  demur_table_faults_init(&score_faults, scores_table);
  Columns person_columns = {0}, score_columns = {0};
  DemurCohort *cohort = NULL;
  if (read_persons(persons_table, options, &person_columns, persons, &person_faults, counts,
                   noticed, progress, error))
    cohort =
        read_scores(scores_table, &score_columns, &person_columns, persons, options, &score_faults,
                    counts, noticed, demur_table_name(persons_table), progress, error);
  columns_clear(&person_columns);
  columns_clear(&score_columns);
  if (cohort != NULL && warnings != NULL)
    *warnings = g_steal_pointer(&noticed);
  return cohort;
}
