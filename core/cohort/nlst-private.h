/* What the files of the NLST's import share: persons read into a table by pid, and what their days say of
 * a screen. */
#pragma once

#include "cohort/cohort.h"
#include "cohort/ids.h"
#include "cohort/nlst-images.h"
#include "cohort/nlst.h"
#include "cohort/table-header.h"

G_BEGIN_DECLS

#define DEMUR_NLST_N_SCREENS 3
#define DEMUR_NLST_N_DAY_COLUMNS (DEMUR_NLST_N_SCREENS + 3) /* screens, cancer, follow-up, death */
#define DEMUR_NLST_NOT_RECORDED G_MININT
#define DEMUR_NLST_ROWS_A_STEP 4096

typedef struct {
  char *site, *split;      /* split NULL: no column */
  gboolean may_be_several; /* its pid was rewritten by a spreadsheet */
  int screens[DEMUR_NLST_N_SCREENS], cancer, followup, death; /* days; DEMUR_NLST_NOT_RECORDED */
  gboolean scored[DEMUR_NLST_N_SCREENS];
  size_t line;
  char **attributes; /* [n of kept columns] */
} DemurNlstPerson;

/* The identifiers of both tables. */
typedef struct {
  DemurIds pids, sites, splits;
} DemurNlstIds;

/* What one reading of both tables shares. */
typedef struct {
  const DemurNlstOptions *options;
  const char *persons_name; /* of their table */
  GHashTable *persons;      /* pid -> DemurNlstPerson */
  DemurNlstIds *ids;
  DemurNlstImages *images; /* NULL: none */
  DemurNlstCounts *counts;
  GPtrArray *warnings; /* of DemurTableWarning */
  const DemurProgress *progress;
} DemurNlstReading;

/* Values that may be codes, and how often they stand. */
#define DEMUR_NLST_N_CODES 8

typedef struct {
  size_t n_recorded;
  int values[DEMUR_NLST_N_CODES];
  size_t counts[DEMUR_NLST_N_CODES];
  DemurTableField fields[DEMUR_NLST_N_CODES]; /* where each stood first; texts are not kept */
} DemurNlstDayCodes;

/* A table's header and where the columns of its kind are; -1: absent. */
typedef struct {
  DemurTableHeader header;
  gssize pid, site, screens[DEMUR_NLST_N_SCREENS], cancer, followup, death, split; /* persons */
  gssize cancer_free;         /* in place of followup */
  gssize year, series;        /* scores */
  DemurCellsNoticed *missing; /* [n of columns] */
  GStringChunk *lines;        /* texts of cells that had line ends; NULL: none */
  DemurNlstDayCodes codes[DEMUR_NLST_N_DAY_COLUMNS]; /* persons */
  GArray *minus_ones;      /* DemurTableField of scr_days0: a day, or a code */
  gboolean before_day_one; /* other days of scr_days0 below -1: it is a day */
  DemurScoreColumns scores;
} DemurNlstColumns;

typedef enum { DEMUR_NLST_DAYS, DEMUR_NLST_NO_DAYS, DEMUR_NLST_CODE } DemurNlstDays;

typedef enum {
  DEMUR_NLST_CANCER,
  DEMUR_NLST_FOLLOWED,
  DEMUR_NLST_CANCER_LATER,
  DEMUR_NLST_CANCER_BEFORE,
  DEMUR_NLST_DEATH,
  DEMUR_NLST_CENSORED,
  DEMUR_NLST_UNKNOWN
} DemurNlstCase;

/* For the weights: until which day a scan was seen, and whether censoring ended it. */
typedef struct {
  int days;
  gboolean censored;
} DemurNlstSeen;

void demur_nlst_person_free(gpointer person);
void demur_nlst_columns_clear(DemurNlstColumns *columns);

/* The field's identifier as the cohort has it (borrowed). */
const char *demur_nlst_id(DemurIds *ids, const DemurTableField *field);

/* The text of a column that nobody knows, "" where a word says that nothing is recorded (counted,
 * borrowed). */
const char *demur_nlst_text(DemurNlstColumns *columns, const DemurTableField *fields,
                            size_t column);

/* Days as a whole number from least; "1234.0" too, as tables with gaps write them. *days is set for
 * a code too. */
DemurNlstDays demur_nlst_days_read(const DemurTableField *field, double least, int *days);

/* The persons' table into reading->persons. FALSE with the faults as error. */
gboolean demur_nlst_persons_read(DemurTable *table, DemurNlstColumns *columns,
                                 const DemurNlstReading *reading, DemurTableFaults *faults,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Drops columns of the persons that the scores have too, or that the cohort makes itself, from header and
 * persons, and says so. */
void demur_nlst_persons_drop(DemurNlstColumns *person_columns, DemurNlstColumns *score_columns,
                             const DemurNlstReading *reading);

/* The rule of nlst.h for a screen on that day, with horizon in days. */
DemurNlstCase demur_nlst_case(const DemurNlstPerson *person, int screen, int horizon);
int demur_nlst_label(DemurNlstCase which, const DemurNlstOptions *options); /* -1: left out */
void demur_nlst_count_cases(const DemurNlstPerson *person, int screen, DemurNlstCounts *counts);

DemurNlstSeen demur_nlst_seen(const DemurNlstPerson *person, int screen, int horizon,
                              const DemurNlstOptions *options);

/* kept[day]: Kaplan-Meier estimate of not yet being censored just before that day, [horizon + 1]
 * (g_free). seen: of DemurNlstSeen, sorted here. */
double *demur_nlst_uncensored(GArray *seen, int horizon);

/* Time and status of the scan added last. A year is a share of the horizon's days, so that a day
 * before the horizon is a time below it. */
void demur_nlst_add_outcome(DemurCohortBuilder *builder, const DemurNlstPerson *person, int screen,
                            int horizon_years, DemurNlstCase which,
                            const DemurNlstOptions *options);

G_END_DECLS
