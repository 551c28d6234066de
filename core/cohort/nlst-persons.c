/* The persons' table: a row a person, days and codes. */
#include "cohort/nlst-private.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cohort/columns.h"

#define DAYS_BEFORE_RANDOMISATION 30 /* the first screen was up to so early */

/* Days such as 999 are days, unless so many persons have the same that it must be a code: at least
 * two, and one in a hundred of those with a day. */
#define CODE_SHARE 100

void
demur_nlst_person_free(gpointer data) {
  DemurNlstPerson *person = data;
  g_free(person->site);
  g_free(person->split);
  g_strfreev(person->attributes);
  g_free(person);
}

void
demur_nlst_columns_clear(DemurNlstColumns *columns) {
  demur_table_header_clear(&columns->header);
  demur_score_columns_clear(&columns->scores);
  g_clear_pointer(&columns->minus_ones, g_array_unref);
  g_clear_pointer(&columns->missing, g_free);
  g_clear_pointer(&columns->lines, g_string_chunk_free);
}

const char *
demur_nlst_id(DemurIds *ids, const DemurTableField *field) {
  gboolean is_new;
  guint32 like;
  return demur_ids_text(ids, demur_ids_add(ids, field, &is_new, &like));
}

DemurNlstDays
demur_nlst_days_read(const DemurTableField *field, double least, int *days) {
  *days = DEMUR_NLST_NOT_RECORDED;
  if (demur_table_is_missing(field))
    return DEMUR_NLST_DAYS;
  double value;
  if (!demur_number_parse(field->text, field->length, &value))
    return DEMUR_NLST_NO_DAYS;
  if (value != floor(value) || value > 1e6 || value < -1e6)
    return DEMUR_NLST_NO_DAYS;
  const gboolean is_code = value < 0.0 && demur_table_is_code(value);
  if (!is_code && value < least)
    return DEMUR_NLST_NO_DAYS;
  *days = (int)value;
  return is_code ? DEMUR_NLST_CODE : DEMUR_NLST_DAYS;
}

const char *
demur_nlst_text(DemurNlstColumns *columns, const DemurTableField *fields, size_t column) {
  const DemurTableField *field = &fields[column];
  g_autoptr(GString) line = g_string_new(NULL);
  size_t length;
  const char *value = demur_table_value(field, line, &length, &columns->missing[column]);
  if (value != line->str)
    return value;
  if (columns->lines == NULL)
    columns->lines = g_string_chunk_new(256);
  return g_string_chunk_insert_const(columns->lines, value);
}

/* Where the table does not say it (the public one). */
static const DemurTableField only_site = {.text = "NLST", .length = 4};

static gboolean
read_person_header(DemurTable *table, const DemurNlstOptions *options, DemurNlstColumns *columns,
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
  columns->missing = g_new0(DemurCellsNoticed, columns->header.n_columns);
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
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%s: line 1, column 1: the header has no column fup_days (or canc_free_days, as the "
      "public table calls the last day known without cancer); add it",
      demur_table_name(table));
  return FALSE;
}

static void
note_code(DemurNlstDayCodes *codes, int days, const DemurTableField *field) {
  if (days == DEMUR_NLST_NOT_RECORDED)
    return;
  codes->n_recorded++;
  if (!demur_table_is_code((double)days))
    return;
  for (size_t c = 0; c < DEMUR_NLST_N_CODES; c++) {
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
judge_codes(const DemurNlstDayCodes *codes, const char *name, DemurTableFaults *faults,
            GPtrArray *warnings) {
  for (size_t c = 0; c < DEMUR_NLST_N_CODES && codes->counts[c] > 0; c++) {
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

/* A cell of days, one of DEMUR_NLST_N_DAY_COLUMNS; faults are noted. -1 as the day of the first screen is
 * judged when all are read. */
static void
read_days(const DemurTableField *field, const char *name, size_t column, double least,
          DemurNlstColumns *columns, DemurTableFaults *faults, int *days) {
  const DemurNlstDays kind = demur_nlst_days_read(field, least, days);
  if (kind == DEMUR_NLST_DAYS) {
    note_code(&columns->codes[column], *days, field);
  } else if (kind == DEMUR_NLST_CODE && column == 0 && *days == -1) {
    g_array_append_val(columns->minus_ones, *field);
  } else if (kind == DEMUR_NLST_CODE) {
    demur_table_faults_note(faults, field, name,
                            "%s looks like a code for none or not recorded, and days below 0 can't "
                            "be followed; leave the cell empty where there are none",
                            demur_table_shown(field));
  } else {
    demur_table_faults_note_number(
        faults, field, name, N_("a whole number of days from 0"),
        N_("give days since randomisation, or nothing where there are none"));
  }
}

/* One row of the persons' table; faults are noted. */
static void
read_person(const DemurTableField *fields, DemurNlstColumns *columns, DemurNlstIds *ids,
            GHashTable *persons, DemurTableFaults *faults, DemurNlstCounts *counts) {
  const DemurTableField *pid = &fields[columns->pid];
  const DemurTableField *site = columns->site >= 0 ? &fields[columns->site] : &only_site;
  const char *id = demur_nlst_id(&ids->pids, pid);
  const DemurNlstPerson *twin = g_hash_table_lookup(persons, id);
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
  DemurNlstPerson *person = g_new0(DemurNlstPerson, 1);
  person->line = pid->line;
  person->may_be_several = demur_table_id_may_be_several(id);
  person->site = g_strdup(demur_nlst_id(&ids->sites, site));
  if (columns->split >= 0)
    person->split = g_strdup(demur_nlst_id(&ids->splits, &fields[columns->split]));
  const struct {
    gssize at;
    int *days;
    double least;
  } days[DEMUR_NLST_N_DAY_COLUMNS] = {
      {columns->screens[0], &person->screens[0], -DAYS_BEFORE_RANDOMISATION},
      {columns->screens[1], &person->screens[1], 0.0},
      {columns->screens[2], &person->screens[2], 0.0},
      {columns->cancer, &person->cancer, -1e6}, /* before entry */
      {columns->followup, &person->followup, 0.0},
      {columns->death, &person->death, 0.0}};
  for (size_t i = 0; i < DEMUR_NLST_N_DAY_COLUMNS; i++) {
    *days[i].days = DEMUR_NLST_NOT_RECORDED;
    if (days[i].at >= 0)
      read_days(&fields[days[i].at], columns->header.names[days[i].at], i, days[i].least, columns,
                faults, days[i].days);
  }
  columns->before_day_one |=
      person->screens[0] < -1 && person->screens[0] != DEMUR_NLST_NOT_RECORDED;
  for (int k = 0; k < DEMUR_NLST_N_SCREENS; k++)
    counts->n_screens += person->screens[k] != DEMUR_NLST_NOT_RECORDED;
  const GArray *kept = columns->header.others;
  person->attributes = g_new0(char *, kept->len + 1);
  for (guint a = 0; a < kept->len; a++)
    person->attributes[a] =
        g_strdup(demur_nlst_text(columns, fields, g_array_index(kept, size_t, a)));
  g_hash_table_insert(persons, g_strdup(id), person);
}

/* -1 as the only day before 0 is a code for "none", as some preprocessing writes it. */
static void
check_minus_ones(const DemurNlstColumns *columns, DemurTableFaults *faults) {
  for (guint i = 0; !columns->before_day_one && i < columns->minus_ones->len; i++) {
    faults->bad = FALSE;
    demur_table_faults_note(faults, &g_array_index(columns->minus_ones, DemurTableField, i),
                            columns->header.names[columns->screens[0]],
                            "-1 is the only day before 0 here and looks like a code for not "
                            "recorded; leave it empty if so");
  }
}

gboolean
demur_nlst_persons_read(DemurTable *table, DemurNlstColumns *columns, const DemurNlstReading *r,
                        DemurTableFaults *faults, GError **error) {
  if (!read_person_header(table, r->options, columns, r->warnings, error))
    return FALSE;
  for (;; r->counts->n_persons++) {
    const DemurTableField *fields;
    if ((r->counts->n_persons % DEMUR_NLST_ROWS_A_STEP == 0 &&
         !demur_progress_step(r->progress, demur_table_fraction(table) / 2, "reading persons",
                              error)) ||
        !demur_table_header_next(&columns->header, table, faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    read_person(fields, columns, r->ids, r->persons, faults, r->counts);
  }
  const gssize day_columns[DEMUR_NLST_N_DAY_COLUMNS] = {columns->screens[0], columns->screens[1],
                                                        columns->screens[2], columns->cancer,
                                                        columns->followup,   columns->death};
  for (size_t i = 0; i < DEMUR_NLST_N_DAY_COLUMNS; i++)
    if (day_columns[i] >= 0)
      judge_codes(&columns->codes[i], columns->header.names[day_columns[i]], faults, r->warnings);
  check_minus_ones(columns, faults);
  return demur_table_faults_end(faults, r->warnings, error);
}

/* DemurNlstColumns of the persons that the scores have too, or that the cohort makes itself, are not kept.
 */
static void
drop_shared(DemurNlstColumns *persons, DemurNlstColumns *scores, const DemurNlstReading *r) {
  static const char *const made[] = {"study_year", "years_to_cancer", "years_of_followup",
                                     "ipc_weight"};
  DemurNlstColumns *both[] = {persons, scores};
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
void
demur_nlst_persons_drop(DemurNlstColumns *person_columns, DemurNlstColumns *columns,
                        const DemurNlstReading *r) {
  g_autoptr(GArray) all_kept = g_array_copy(person_columns->header.others);
  drop_shared(person_columns, columns, r);
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, r->persons);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    DemurNlstPerson *person = value;
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
