/* Persons are read into a table by pid; scores are then read row by row, each finding its person,
 * its screen and its case. Cost: O(bytes of both). Memory: the persons' texts once, the cohort. */
#include "cohort/nlst-private.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cohort/attribute-codes.h"
#include "cohort/columns.h"

#define MAX_UNMATCHED_SHOWN 10

static void
ids_init(DemurNlstIds *ids) {
  demur_ids_init(&ids->pids, "pid", NULL);
  demur_ids_init(&ids->sites, "cen", NULL);
  demur_ids_init(&ids->splits, "split", NULL);
}

static void
ids_clear(DemurNlstIds *ids) {
  demur_ids_clear(&ids->pids);
  demur_ids_clear(&ids->sites);
  demur_ids_clear(&ids->splits);
}

static gboolean
read_score_header(DemurTable *table, const DemurNlstOptions *options, DemurNlstColumns *columns,
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
  columns->missing = g_new0(DemurCellsNoticed, columns->header.n_columns);
  if (demur_score_columns_n_classes(&columns->scores) == 2)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "%s: line 1, column 1: more than two classes; NLST labels are cancer or none",
                  demur_table_name(table));
  return FALSE;
}

static void
warn_missing(const DemurNlstColumns *columns, GPtrArray *warnings) {
  for (guint a = 0; a < columns->header.others->len; a++) {
    const size_t column = g_array_index(columns->header.others, size_t, a);
    demur_cells_noticed_warn(&columns->missing[column], columns->header.names[column], warnings);
  }
}

typedef struct {
  const DemurNlstOptions *options;
  const DemurNlstColumns *person_columns;
  DemurNlstColumns *columns;
  GHashTable *persons;
  DemurTableFaults *faults;
  DemurNlstCounts *counts;
  DemurCohortBuilder *builder;
  GArray *seen; /* DemurNlstSeen of each matched screen */
  DemurNlstIds *ids;
  DemurNlstImages *images; /* NULL: none */
  GString *strangers;      /* the first scores without person or screen */
  GArray *label_days;      /* int, of each scan of the cohort: the day its label was known, or
                         DEMUR_NLST_NOT_RECORDED */
  float *embedding;
} Scores;

static void
add_years(DemurCohortBuilder *builder, const char *name, int days) {
  char text[G_ASCII_DTOSTR_BUF_SIZE] = "";
  if (days != DEMUR_NLST_NOT_RECORDED)
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
  const DemurNlstPerson *person;
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
    for (int k = 0; k < DEMUR_NLST_N_SCREENS; k++)
      if (entry->person->screens[k] != DEMUR_NLST_NOT_RECORDED && !entry->person->scored[k])
        name_unmatched(list, entry->pid, k, ++n);
  }
  demur_table_warnings_add(warnings, DEMUR_TABLE_NO_SCORE, NULL, list->str, NULL, n,
                           s->counts->n_screens);
}

/* A scored screen that counts. id: its person's; label: DEMUR_NO_LABEL where it was left. */
static void
add_scan(Scores *s, const DemurTableField *fields, const DemurNlstPerson *person, const char *id,
         int year, DemurNlstCase which, int label, const DemurScoreRow *score) {
  DemurNlstColumns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const int screen = person->screens[year];
  const char *split = options->split  ? options->split
                      : c->split >= 0 ? demur_nlst_id(&s->ids->splits, &fields[c->split])
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
    demur_nlst_add_outcome(s->builder, person, screen, options->horizon_years, which, options);
  const int label_day = label == DEMUR_NO_LABEL ? DEMUR_NLST_NOT_RECORDED
                        : which == DEMUR_NLST_CANCER
                            ? person->cancer - screen
                            : demur_nlst_horizon_days(options->horizon_years);
  g_array_append_val(s->label_days, label_day);
  s->counts->n_scans++;
  char text[2] = {(char)('0' + year), '\0'};
  demur_cohort_builder_attribute(s->builder, "study_year", text);
  add_years(s->builder, "years_to_cancer",
            person->cancer != DEMUR_NLST_NOT_RECORDED ? person->cancer - screen
                                                      : DEMUR_NLST_NOT_RECORDED);
  add_years(s->builder, "years_of_followup",
            person->followup != DEMUR_NLST_NOT_RECORDED ? MAX(person->followup - screen, 0)
                                                        : DEMUR_NLST_NOT_RECORDED);
  for (guint a = 0; a < c->header.others->len; a++) {
    const size_t at = g_array_index(c->header.others, size_t, a);
    demur_cohort_builder_attribute(s->builder, c->header.names[at], demur_nlst_text(c, fields, at));
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
  DemurNlstColumns *c = s->columns;
  const DemurNlstOptions *options = s->options;
  const DemurTableField *pid = &fields[c->pid], *year_field = &fields[c->year];
  int year;
  if (demur_nlst_days_read(year_field, 0.0, &year) != DEMUR_NLST_DAYS || year < 0 ||
      year >= DEMUR_NLST_N_SCREENS) {
    demur_table_faults_note_number(s->faults, year_field, "study_yr", N_("the year of a screen"),
                                   N_("give 0, 1 or 2"));
    return;
  }
  const int h = options->horizon_years;
  DemurScoreRow score;
  const gboolean ok =
      demur_score_columns_read(&c->scores, fields, h, s->faults, &score, NULL, s->embedding);
  /* The risk is that of the last year kept, so that the cohort reads back as it is written. */
  for (int k = h; k < DEMUR_N_YEARS; k++)
    score.years[k] = NAN;
  const char *id = demur_nlst_id(&s->ids->pids, pid);
  if (*id == '\0') {
    demur_table_faults_note(s->faults, pid, "pid",
                            "nothing stands here; every score needs its pid");
    return;
  }
  DemurNlstPerson *person = g_hash_table_lookup(s->persons, id);
  if (person == NULL) {
    s->counts->n_scores_without_person++;
    name_unmatched(s->strangers, id, year, n_unmatched_scores(s->counts));
    return;
  }
  const int screen = person->screens[year];
  if (screen == DEMUR_NLST_NOT_RECORDED) {
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
  demur_nlst_count_cases(person, screen, s->counts);
  const int horizon = demur_nlst_horizon_days(h);
  const DemurNlstCase which = demur_nlst_case(person, screen, horizon);
  if (which != DEMUR_NLST_CANCER_BEFORE) {
    const DemurNlstSeen seen = demur_nlst_seen(person, screen, horizon, options);
    g_array_append_val(s->seen, seen);
  }
  const int label = demur_nlst_label(which, options);
  const gboolean weighed = options->short_followup == DEMUR_SHORT_WEIGHTED;
  const gboolean left =
      label < 0 && (which == DEMUR_NLST_DEATH || which == DEMUR_NLST_CENSORED) && weighed;
  if (!ok || (label < 0 && !left))
    return;
  add_scan(s, fields, person, id, year, which, left ? DEMUR_NO_LABEL : label, &score);
}

/* The attribute ipc_weight of the scans of the builder. */
static void
add_weights(const Scores *s, GPtrArray *warnings) {
  const int horizon = demur_nlst_horizon_days(s->options->horizon_years);
  const size_t n = s->counts->n_scans;
  g_autofree double *kept = demur_nlst_uncensored(s->seen, horizon);
  g_autofree char **texts = g_new0(char *, n);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  for (size_t i = 0; i < n; i++) {
    const int day = g_array_index(s->label_days, int, i);
    const double share = day == DEMUR_NLST_NOT_RECORDED ? 0.0 : kept[CLAMP(day, 0, horizon)];
    texts[i] = g_strdup(demur_number_format(share > 0.0 ? 1.0 / share : 0.0, number));
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
    const DemurNlstPerson *person = g_hash_table_lookup(persons, id),
                          *before = g_hash_table_lookup(persons, other);
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line %zu, column 1 (pid): '%s' looks like '%s' of line %zu, which is in split "
        "%s and this one in %s; write one person in one way and keep it in one split",
        table, person->line, id, other, before->line, cohort->split_names[splits[alike[p]]],
        cohort->split_names[splits[p]]);
    return FALSE;
  }
  return TRUE;
}

static DemurCohort *
read_scores(DemurTable *table, DemurNlstColumns *columns, DemurNlstColumns *person_columns,
            const DemurNlstReading *r, DemurTableFaults *faults, GError **error) {
  const DemurNlstOptions *options = r->options;
  DemurNlstCounts *counts = r->counts;
  GPtrArray *warnings = r->warnings;
  GHashTable *persons = r->persons;
  DemurIds *ids[] = {&r->ids->pids, &r->ids->sites, &r->ids->splits};
  if (!read_score_header(table, options, columns, warnings, error))
    return NULL;
  demur_nlst_persons_drop(person_columns, columns, r);
  g_autoptr(DemurCohortBuilder) builder =
      demur_cohort_builder_new(2, demur_score_columns_width(&columns->scores));
  g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(DemurNlstSeen));
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
    if ((counts->n_scores % DEMUR_NLST_ROWS_A_STEP == 0 &&
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
    demur_error_set(error, DEMUR_ERROR_INPUT,
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
      builder, options->name, options->model != NULL ? options->model : DEMUR_MODEL_UNNAMED, source,
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
    demur_error_set(error, DEMUR_ERROR_USAGE, "horizon of %d years; expected 1 to %d",
                    options->horizon_years, DEMUR_N_YEARS);
    return NULL;
  }
  if (options->weights && options->short_followup == DEMUR_SHORT_EVENT_FREE) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
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
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, demur_nlst_person_free);
  g_autoptr(GPtrArray) noticed = demur_table_warnings_new();
  g_autoptr(DemurNlstImages) images = NULL;
  if (options->images_path != NULL &&
      (images = demur_nlst_images_read(options->images_path, options->columns, noticed, error)) ==
          NULL)
    return NULL;
  g_auto(DemurTableFaults) person_faults = {0}, score_faults = {0};
  demur_table_faults_init(&person_faults, persons_table);
  demur_table_faults_init(&score_faults, scores_table);
  DemurNlstColumns person_columns = {0}, score_columns = {0};
  DemurNlstIds ids;
  ids_init(&ids);
  const DemurNlstReading reading = {
      options, demur_table_name(persons_table), persons, &ids, images, counts, noticed, progress};
  DemurCohort *cohort = NULL;
  if (demur_nlst_persons_read(persons_table, &person_columns, &reading, &person_faults, error))
    cohort =
        read_scores(scores_table, &score_columns, &person_columns, &reading, &score_faults, error);
  demur_nlst_columns_clear(&person_columns);
  demur_nlst_columns_clear(&score_columns);
  ids_clear(&ids);
  if (cohort != NULL && options->columns != NULL &&
      !demur_column_map_check(options->columns, error))
    g_clear_pointer(&cohort, demur_cohort_unref);
  if (cohort != NULL && warnings != NULL)
    *warnings = g_steal_pointer(&noticed);
  return cohort;
}
