/* Persons are read into a table by pid; scores are then read row by row, each finding its person,
 * its screen and its case. Cost: O(bytes of both). Memory: the persons' texts once, the cohort. */
#include "cohort/nlst.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cohort/table.h"

#define N_SCREENS 3
#define MAX_FAULTS_SHOWN 10
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

typedef struct {
  GString *faults;
  size_t n_bad;
  const char *table;
} Faults;

/* The columns of a table by name; -1: absent. */
typedef struct {
  size_t n_columns;
  char **names;
  gssize pid, site, screens[N_SCREENS], cancer, followup, death, split; /* persons */
  gssize year, risk, years[DEMUR_N_YEARS];                              /* scores */
  GArray *embeddings;                                                   /* gssize, by index */
  GArray *kept;                                                         /* size_t: attributes */
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
  for (size_t c = 0; c < columns->n_columns; c++)
    g_free(columns->names[c]);
  g_free(columns->names);
  g_clear_pointer(&columns->embeddings, g_array_unref);
  g_clear_pointer(&columns->kept, g_array_unref);
}

static void
G_GNUC_PRINTF(3, 4) note(Faults *faults, const DemurTableField *field, const char *format, ...) {
  if (faults->n_bad++ >= MAX_FAULTS_SHOWN)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_string_append_printf(faults->faults, "\n  %s: line %zu, column %zu", faults->table, field->line,
                         field->column);
  g_string_append_vprintf(faults->faults, format, arguments);
  va_end(arguments);
}

static gboolean
refuse(const Faults *faults, GError **error) {
  if (faults->n_bad == 0)
    return FALSE;
  g_autofree char *more =
      faults->n_bad > MAX_FAULTS_SHOWN
          ? g_strdup_printf("\n  and %zu more", faults->n_bad - MAX_FAULTS_SHOWN)
          : g_strdup("");
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%zu row%s refused, nothing imported:%s%s",
              faults->n_bad, faults->n_bad == 1 ? "" : "s", faults->faults->str, more);
  return TRUE;
}

static gboolean
is_missing(const DemurTableField *field) {
  return field->length == 0 ||
         (field->text[0] == '.' &&
          (field->length == 1 || (field->length == 2 && g_ascii_isalpha(field->text[1]))));
}

/* Days as a whole number; "1234.0" too, as tables with gaps write them. */
static gboolean
parse_days(const DemurTableField *field, int *days) {
  *days = NOT_RECORDED;
  if (is_missing(field))
    return TRUE;
  double value;
  if (!demur_number_parse(field->text, field->length, &value) || value != floor(value) ||
      fabs(value) > 1e6)
    return FALSE;
  *days = (int)value;
  return TRUE;
}

static gboolean
read_header(DemurTable *table, gboolean persons, Columns *columns, GError **error) {
  const DemurTableField *fields;
  size_t n;
  if (!demur_table_next(table, &fields, &n, error))
    return FALSE;
  *columns = (Columns){.n_columns = n, .names = g_new0(char *, MAX(n, 1)), .pid = -1};
  columns->site = columns->cancer = columns->followup = columns->death = columns->split =
      columns->year = columns->risk = -1;
  for (int k = 0; k < N_SCREENS; k++)
    columns->screens[k] = -1;
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    columns->years[k] = -1;
  columns->embeddings = g_array_new(FALSE, FALSE, sizeof(gssize));
  columns->kept = g_array_new(FALSE, FALSE, sizeof(size_t));
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t c = 0; c < n; c++) {
    char *name = columns->names[c] = g_strstrip(g_strdup(fields[c].text));
    if (*name == '\0' || !g_hash_table_add(names, name)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu, column %zu: a column without a name, or the second of its name",
                  demur_table_name(table), fields[c].line, fields[c].column);
      return FALSE;
    }
    gssize *at = NULL;
    if (strcmp(name, "pid") == 0)
      at = &columns->pid;
    else if (strcmp(name, "split") == 0)
      at = &columns->split;
    else if (persons) {
      for (int k = 0; k < N_SCREENS; k++) {
        const char joined[] = {'s', 'c', 'r', '_', 'd', 'a', 'y', 's', (char)('0' + k), '\0'};
        const char spaced[] = {'s', 'c', 'r', '_', 'd', 'a', 'y', 's', '_', (char)('0' + k), '\0'};
        if (strcmp(name, joined) == 0 || strcmp(name, spaced) == 0)
          at = &columns->screens[k];
      }
      at = strcmp(name, "cen") == 0          ? &columns->site
           : strcmp(name, "candx_days") == 0 ? &columns->cancer
           : strcmp(name, "fup_days") == 0   ? &columns->followup
           : strcmp(name, "death_days") == 0 ? &columns->death
                                             : at;
    } else {
      for (int k = 0; k < DEMUR_N_YEARS; k++)
        if (g_str_has_prefix(name, "risk_year_") && name[10] == '1' + k && name[11] == '\0')
          at = &columns->years[k];
      at = strcmp(name, "study_yr") == 0 ? &columns->year
           : strcmp(name, "risk") == 0   ? &columns->risk
                                         : at;
    }
    const gssize here = (gssize)c;
    if (at != NULL) {
      *at = here;
      continue;
    }
    gint64 index;
    if (!persons && g_str_has_prefix(name, "emb_") &&
        demur_number_parse_int(name + 4, strlen(name + 4), &index) && index >= 0 &&
        index < 100000) {
      const gssize absent = -1;
      while ((gint64)columns->embeddings->len <= index)
        g_array_append_val(columns->embeddings, absent);
      g_array_index(columns->embeddings, gssize, index) = here;
      continue;
    }
    g_array_append_val(columns->kept, c);
  }
  const struct {
    const char *name;
    gboolean there;
  } needed[] = {
      {"pid", columns->pid >= 0},
      {"cen", !persons || columns->site >= 0},
      {"scr_days0", !persons || columns->screens[0] >= 0},
      {"candx_days", !persons || columns->cancer >= 0},
      {"fup_days", !persons || columns->followup >= 0},
      {"study_yr", persons || columns->year >= 0},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
    if (!needed[i].there) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line 1, column 1: no column %s; add it", demur_table_name(table),
                  needed[i].name);
      return FALSE;
    }
  for (guint k = 0; k < columns->embeddings->len; k++)
    if (g_array_index(columns->embeddings, gssize, k) < 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line 1: no column emb_%u, but later ones; number them without gaps",
                  demur_table_name(table), k);
      return FALSE;
    }
  return TRUE;
}

/* Next row of the header's width; *n_fields 0 at the end. Ragged rows are noted and passed over. */
static gboolean
next_row(DemurTable *table, const Columns *columns, Faults *faults, const DemurTableField **fields,
         size_t *n_fields, GError **error) {
  for (;;) {
    if (!demur_table_next(table, fields, n_fields, error))
      return FALSE;
    if (*n_fields == 0 || *n_fields == columns->n_columns)
      return TRUE;
    note(faults, &(*fields)[*n_fields - 1], ": the row has %zu fields where the header has %zu",
         *n_fields, columns->n_columns);
  }
}

static gboolean
read_persons(DemurTable *table, Columns *columns, GHashTable *persons, Faults *faults,
             DemurNlstCounts *counts, const DemurProgress *progress, GError **error) {
  if (!read_header(table, TRUE, columns, error))
    return FALSE;
  for (;; counts->n_persons++) {
    const DemurTableField *fields;
    size_t n;
    if (counts->n_persons % ROWS_A_STEP == 0 &&
        !demur_progress_step(progress, demur_table_fraction(table) / 2, "reading persons", error))
      return FALSE;
    if (!next_row(table, columns, faults, &fields, &n, error))
      return FALSE;
    if (n == 0)
      return TRUE;
    const DemurTableField *pid = &fields[columns->pid], *site = &fields[columns->site];
    const Person *twin = g_hash_table_lookup(persons, pid->text);
    if (is_missing(pid) || is_missing(site)) {
      note(faults, is_missing(pid) ? pid : site,
           ": nothing stands here; every person needs pid and cen");
      continue;
    }
    if (twin != NULL) {
      note(faults, pid, " (pid): this person stands in line %zu already", twin->line);
      continue;
    }
    Person *person = g_new0(Person, 1);
    person->line = pid->line;
    person->site = g_strdup(site->text);
    if (columns->split >= 0)
      person->split = g_strdup(fields[columns->split].text);
    const struct {
      gssize at;
      int *days;
    } days[] = {
        {columns->screens[0], &person->screens[0]}, {columns->screens[1], &person->screens[1]},
        {columns->screens[2], &person->screens[2]}, {columns->cancer, &person->cancer},
        {columns->followup, &person->followup},     {columns->death, &person->death}};
    for (size_t i = 0; i < G_N_ELEMENTS(days); i++) {
      *days[i].days = NOT_RECORDED;
      if (days[i].at >= 0 && !parse_days(&fields[days[i].at], days[i].days))
        note(faults, &fields[days[i].at], " (%s): this is not a whole number of days",
             columns->names[days[i].at]);
    }
    for (int k = 0; k < N_SCREENS; k++)
      counts->n_screens += person->screens[k] != NOT_RECORDED;
    person->attributes = g_new0(char *, columns->kept->len + 1);
    for (guint a = 0; a < columns->kept->len; a++)
      person->attributes[a] = g_strdup(fields[g_array_index(columns->kept, size_t, a)].text);
    g_hash_table_insert(persons, g_strdup(pid->text), person);
  }
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
    return options->censored_event_free ? 0 : -1;
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
  const Columns *person_columns, *columns;
  GHashTable *persons;
  Faults *faults;
  DemurNlstCounts *counts;
  DemurCohortBuilder *builder;
  GArray *seen;       /* Seen of each matched screen */
  GString *strangers; /* the first scores without person or screen */
  GArray *label_days; /* int, of each scan of the cohort: the day its label was known */
  float *embedding;
} Scores;

static gboolean
read_probability(Scores *s, const DemurTableField *field, const char *name, double *value) {
  if (demur_number_parse(field->text, field->length, value) && *value >= 0.0 && *value <= 1.0)
    return TRUE;
  note(s->faults, field, " (%s): this is not a number between 0 and 1", name);
  return FALSE;
}

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
    g_ptr_array_add(warnings, g_strdup_printf("%zu scores without a person or a screen: %s%s",
                                              n_scores, s->strangers->str,
                                              n_scores > MAX_UNMATCHED_SHOWN ? ", .." : ""));
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
  g_ptr_array_add(warnings, g_strdup_printf("%zu screens without a score: %s%s", n, list->str,
                                            n > MAX_UNMATCHED_SHOWN ? ", .." : ""));
}

static void
read_score(Scores *s, const DemurTableField *fields) {
  const Columns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const DemurTableField *pid = &fields[c->pid], *year_field = &fields[c->year];
  int year;
  if (!parse_days(year_field, &year) || year < 0 || year >= N_SCREENS) {
    note(s->faults, year_field, " (study_yr): expected 0, 1 or 2");
    return;
  }
  double yearly[DEMUR_N_YEARS], risk = NAN;
  gboolean ok = TRUE;
  for (int k = 0; k < DEMUR_N_YEARS; k++) {
    yearly[k] = NAN;
    if (c->years[k] >= 0 && fields[c->years[k]].length > 0)
      ok = ok && read_probability(s, &fields[c->years[k]], c->names[c->years[k]], &yearly[k]);
  }
  const int h = options->horizon_years;
  if (c->risk >= 0)
    ok = ok && read_probability(s, &fields[c->risk], "risk", &risk);
  if (ok && h == DEMUR_N_YEARS && !isnan(risk) && !isnan(yearly[h - 1]) && risk != yearly[h - 1]) {
    note(s->faults, &fields[c->risk], " (risk): it differs from risk_year_6 in the same row");
    ok = FALSE;
  }
  if (h < DEMUR_N_YEARS || isnan(risk))
    risk = yearly[h - 1];
  if (ok && isnan(risk)) {
    note(s->faults, c->years[h - 1] >= 0 ? &fields[c->years[h - 1]] : pid,
         " (risk_year_%d): the scan has no risk for this horizon", h);
    ok = FALSE;
  }
  /* The risk is that of the last year kept, so that the cohort reads back as it is written. */
  for (int k = h; k < DEMUR_N_YEARS; k++)
    yearly[k] = NAN;
  for (guint k = 0; k < c->embeddings->len; k++) {
    const gssize at = g_array_index(c->embeddings, gssize, k);
    double value;
    if (demur_number_parse(fields[at].text, fields[at].length, &value) && isfinite((float)value)) {
      s->embedding[k] = (float)value;
    } else if (ok) {
      note(s->faults, &fields[at], " (%s): this is not a finite float", c->names[at]);
      ok = FALSE;
    }
  }
  Person *person = g_hash_table_lookup(s->persons, pid->text);
  if (person == NULL) {
    s->counts->n_scores_without_person++;
    name_unmatched(s->strangers, pid->text, year, n_unmatched_scores(s->counts));
    return;
  }
  const int screen = person->screens[year];
  if (screen == NOT_RECORDED) {
    s->counts->n_scores_without_screen++;
    name_unmatched(s->strangers, pid->text, year, n_unmatched_scores(s->counts));
    return;
  }
  if (person->scored[year]) {
    note(s->faults, pid, " (pid): this screen has a score already; keep one");
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
  if (!ok || label < 0)
    return;
  const char *split = options->split  ? options->split
                      : c->split >= 0 ? fields[c->split].text
                      : person->split ? person->split
                                      : "selector_train";
  if (*split == '\0') {
    note(s->faults, pid, " (split): the patient has no split");
    return;
  }
  g_autofree char *scan_id = g_strdup_printf("%s-T%d", pid->text, year);
  demur_cohort_builder_add(s->builder, scan_id, pid->text, person->site, split, label, &risk,
                           yearly, s->embedding);
  const int label_day = which == CANCER ? person->cancer - screen : horizon;
  g_array_append_val(s->label_days, label_day);
  s->counts->n_scans++;
  char text[2] = {(char)('0' + year), '\0'};
  demur_cohort_builder_attribute(s->builder, "study_year", text);
  add_years(s->builder, "years_to_cancer",
            person->cancer != NOT_RECORDED ? person->cancer - screen : NOT_RECORDED);
  add_years(s->builder, "years_of_followup",
            person->followup != NOT_RECORDED ? MAX(person->followup - screen, 0) : NOT_RECORDED);
  for (guint a = 0; a < c->kept->len; a++) {
    const size_t at = g_array_index(c->kept, size_t, a);
    demur_cohort_builder_attribute(s->builder, c->names[at], fields[at].text);
  }
  for (guint a = 0; a < s->person_columns->kept->len; a++)
    demur_cohort_builder_attribute(
        s->builder, s->person_columns->names[g_array_index(s->person_columns->kept, size_t, a)],
        person->attributes[a]);
}

/* Columns of the persons that the scores have too, or that the cohort makes itself, are not kept.
 */
static void
drop_shared(Columns *persons, Columns *scores, GPtrArray *warnings) {
  static const char *const made[] = {"study_year", "years_to_cancer", "years_of_followup",
                                     "ipc_weight", "patient_id",      "scan_id",
                                     "site",       "label",           "risk",
                                     "simulated"};
  Columns *both[] = {persons, scores};
  for (int t = 0; t < 2; t++)
    for (guint a = 0; a < both[t]->kept->len;) {
      const char *name = both[t]->names[g_array_index(both[t]->kept, size_t, a)];
      gboolean shared = g_str_has_prefix(name, "emb_") || g_str_has_prefix(name, "prob_") ||
                        g_str_has_prefix(name, "risk_year_");
      for (size_t m = 0; m < G_N_ELEMENTS(made); m++)
        shared |= strcmp(name, made[m]) == 0;
      for (guint b = 0; t == 0 && b < scores->kept->len; b++)
        shared |= strcmp(name, scores->names[g_array_index(scores->kept, size_t, b)]) == 0;
      if (!shared) {
        a++;
        continue;
      }
      g_ptr_array_add(warnings, g_strdup_printf("column %s of the %s is not kept: the cohort has "
                                                "one of that name",
                                                name, t == 0 ? "persons" : "scores"));
      g_array_remove_index(both[t]->kept, a);
    }
}

static DemurCohort *
read_scores(DemurTable *table, Columns *columns, Columns *person_columns, GHashTable *persons,
            const DemurNlstOptions *options, Faults *faults, DemurNlstCounts *counts,
            GPtrArray *warnings, const char *persons_name, const DemurProgress *progress,
            GError **error) {
  if (!read_header(table, FALSE, columns, error))
    return NULL;
  const gboolean has_risk = columns->years[options->horizon_years - 1] >= 0 ||
                            (options->horizon_years == DEMUR_N_YEARS && columns->risk >= 0);
  if (!has_risk) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1, column 1: no column risk_year_%d%s; add it", demur_table_name(table),
                options->horizon_years,
                options->horizon_years == DEMUR_N_YEARS ? " (or risk)" : "");
    return NULL;
  }
  /* Attributes of the persons are read already: what is dropped of them must keep its place. */
  g_autoptr(GArray) all_kept = g_array_copy(person_columns->kept);
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
      if (kept < person_columns->kept->len &&
          g_array_index(person_columns->kept, size_t, kept) == g_array_index(all_kept, size_t, a))
        person->attributes[kept++] = text;
      else
        g_free(text);
    }
  }

  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, columns->embeddings->len);
  g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(Seen));
  g_autoptr(GArray) label_days = g_array_new(FALSE, FALSE, sizeof(int));
  g_autoptr(GString) strangers = g_string_new(NULL);
  g_autofree float *embedding = g_new0(float, columns->embeddings->len + 1);
  Scores scores = {.options = options,
                   .person_columns = person_columns,
                   .columns = columns,
                   .persons = persons,
                   .faults = faults,
                   .counts = counts,
                   .builder = builder,
                   .seen = seen,
                   .strangers = strangers,
                   .label_days = label_days,
                   .embedding = embedding};
  for (;; counts->n_scores++) {
    const DemurTableField *fields;
    size_t n;
    if ((counts->n_scores % ROWS_A_STEP == 0 &&
         !demur_progress_step(progress, 0.5 + demur_table_fraction(table) / 2, "reading scores",
                              error)) ||
        !next_row(table, columns, faults, &fields, &n, error))
      return NULL;
    if (n == 0)
      break;
    read_score(&scores, fields);
  }
  counts->n_screens_without_score = counts->n_screens - counts->n_matched;
  if (refuse(faults, error))
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
  if (columns->split < 0 && person_columns->split < 0 && options->split == NULL)
    g_ptr_array_add(warnings, g_strdup("no column split in either table: every scan is in split "
                                       "selector_train (--split names another)"));
  g_autofree char *source =
      g_strdup_printf("NLST tables %s and %s, labels at %d years", persons_name,
                      demur_table_name(table), options->horizon_years);
  DemurCohort *cohort = NULL;
  if (options->weights) {
    const int horizon = demur_nlst_horizon_days(options->horizon_years);
    g_autofree double *kept = uncensored(seen, horizon);
    g_autofree char **texts = g_new0(char *, counts->n_scans);
    for (size_t i = 0; i < counts->n_scans; i++) {
      const double share = kept[CLAMP(g_array_index(label_days, int, i), 0, horizon)];
      texts[i] = g_strdup_printf("%.6g", share > 0.0 ? 1.0 / share : 0.0);
    }
    demur_cohort_builder_attribute_all(builder, "ipc_weight", (const char *const *)texts);
    for (size_t i = 0; i < counts->n_scans; i++)
      g_free(texts[i]);
    g_ptr_array_add(warnings,
                    g_strdup("ipc_weight holds for censoring that does not depend on the risk; "
                             "it is kept beside the scans and no measure uses it by itself"));
  }
  cohort = demur_cohort_builder_finish(
      builder, options->name, options->model != NULL ? options->model : "unnamed", source,
      options->created != NULL ? options->created : "", FALSE, error);
  return cohort;
}

DemurCohort *
demur_cohort_import_nlst(const char *persons_path, const char *scores_path,
                         const DemurNlstOptions *options, const DemurProgress *progress,
                         DemurNlstCounts *counts, char ***warnings, GError **error) {
  memset(counts, 0, sizeof *counts);
  if (options->horizon_years < 1 || options->horizon_years > DEMUR_N_YEARS) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "horizon of %d years; expected 1 to %d",
                options->horizon_years, DEMUR_N_YEARS);
    return NULL;
  }
  if (options->weights && options->censored_event_free) {
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
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  Faults faults = {.faults = g_string_new(NULL), .table = demur_table_name(persons_table)};
  Columns person_columns = {0}, score_columns = {0};
  DemurCohort *cohort = NULL;
  if (read_persons(persons_table, &person_columns, persons, &faults, counts, progress, error)) {
    faults.table = demur_table_name(scores_table);
    cohort = read_scores(scores_table, &score_columns, &person_columns, persons, options, &faults,
                         counts, sentences, demur_table_name(persons_table), progress, error);
  }
  columns_clear(&person_columns);
  columns_clear(&score_columns);
  g_string_free(faults.faults, TRUE);
  if (cohort != NULL && warnings != NULL) {
    g_ptr_array_add(sentences, NULL);
    *warnings = (char **)g_ptr_array_free(g_steal_pointer(&sentences), FALSE);
  }
  return cohort;
}
