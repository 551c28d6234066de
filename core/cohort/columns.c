#include "cohort/columns.h"

#include <string.h>

#define AT(member) G_STRUCT_OFFSET(DemurCohort, member)

const DemurCohortColumn demur_cohort_columns[DEMUR_N_COHORT_COLUMNS] = {
    [DEMUR_COHORT_PATIENT] = {.name = "patient",
                              .header = "patient_id",
                              .type = DEMUR_CELL_CODE,
                              .array = AT(patients),
                              .texts = AT(patient_ids),
                              .n_texts = AT(n_patients),
                              .texts_name = "patient_ids"},
    [DEMUR_COHORT_SCAN] = {.name = "scan_ids",
                           .header = "scan_id",
                           .type = DEMUR_CELL_TEXT,
                           .array = AT(scan_ids)},
    [DEMUR_COHORT_SITE] = {.name = "site",
                           .header = "site",
                           .type = DEMUR_CELL_CODE,
                           .array = AT(sites),
                           .texts = AT(site_names),
                           .n_texts = AT(n_sites),
                           .texts_name = "site_names"},
    [DEMUR_COHORT_SPLIT] = {.name = "split",
                            .header = "split",
                            .type = DEMUR_CELL_CODE,
                            .array = AT(splits),
                            .texts = AT(split_names),
                            .n_texts = AT(n_splits)},
    [DEMUR_COHORT_LABEL] = {.name = "label",
                            .header = "label",
                            .type = DEMUR_CELL_LABEL,
                            .array = AT(labels)},
    [DEMUR_COHORT_RISK] = {.name = "risk",
                           .header = "risk",
                           .type = DEMUR_CELL_DOUBLE,
                           .presence = DEMUR_COLUMN_TWO_CLASSES,
                           .array = AT(risks)},
    [DEMUR_COHORT_PROBABILITY] = {.name = "probability",
                                  .header = "prob_",
                                  .type = DEMUR_CELL_DOUBLE,
                                  .width = DEMUR_CELL_PER_CLASS,
                                  .presence = DEMUR_COLUMN_MORE_CLASSES,
                                  .array = AT(probabilities)},
    [DEMUR_COHORT_YEARLY_RISK] = {.name = "yearly_risk",
                                  .header = "risk_year_",
                                  .first_number = 1,
                                  .type = DEMUR_CELL_DOUBLE,
                                  .width = DEMUR_CELL_PER_YEAR,
                                  .presence = DEMUR_COLUMN_OPTIONAL,
                                  .array = AT(yearly_risks)},
    [DEMUR_COHORT_TIME] = {.name = "time",
                           .header = "outcome_time",
                           .type = DEMUR_CELL_DOUBLE,
                           .presence = DEMUR_COLUMN_OPTIONAL,
                           .named_in_digest = TRUE,
                           .array = AT(times)},
    [DEMUR_COHORT_STATUS] = {.name = "status",
                             .header = "outcome_status",
                             .type = DEMUR_CELL_LABEL,
                             .presence = DEMUR_COLUMN_OPTIONAL,
                             .named_in_digest = TRUE,
                             .array = AT(statuses)},
    [DEMUR_COHORT_HORIZON] = {.name = "horizon",
                              .header = "outcome_horizon",
                              .type = DEMUR_CELL_DOUBLE,
                              .presence = DEMUR_COLUMN_OPTIONAL,
                              .named_in_digest = TRUE,
                              .array = AT(horizons)},
    [DEMUR_COHORT_EMBEDDING] = {.name = "embedding",
                                .header = "emb_",
                                .type = DEMUR_CELL_FLOAT,
                                .width = DEMUR_CELL_PER_DIMENSION,
                                .presence = DEMUR_COLUMN_EMBEDDED,
                                .array = AT(embeddings)},
};

void **
demur_cohort_column_place(DemurCohort *cohort, const DemurCohortColumn *column) {
  return (void **)G_STRUCT_MEMBER_P(cohort, column->array);
}

const void *
demur_cohort_column_data(const DemurCohort *cohort, const DemurCohortColumn *column) {
  return *(void *const *)G_STRUCT_MEMBER_P(cohort, column->array);
}

char ***
demur_cohort_column_texts(DemurCohort *cohort, const DemurCohortColumn *column) {
  return (char ***)G_STRUCT_MEMBER_P(cohort, column->texts);
}

size_t *
demur_cohort_column_n_texts(DemurCohort *cohort, const DemurCohortColumn *column) {
  return (size_t *)G_STRUCT_MEMBER_P(cohort, column->n_texts);
}

const char *
demur_cohort_column_text(const DemurCohort *cohort, const DemurCohortColumn *column, size_t row) {
  char *const *texts = *(char **const *)G_STRUCT_MEMBER_P(cohort, column->texts);
  return texts[((const guint32 *)demur_cohort_column_data(cohort, column))[row]];
}

size_t
demur_cohort_column_width(const DemurCohort *cohort, const DemurCohortColumn *column) {
  switch (column->width) {
  case DEMUR_CELL_PER_CLASS:
    return cohort->n_classes;
  case DEMUR_CELL_PER_YEAR:
    return DEMUR_N_YEARS;
  case DEMUR_CELL_PER_DIMENSION:
    return cohort->embedding_width;
  default:
    return 1;
  }
}

size_t
demur_cohort_column_row_bytes(const DemurCohort *cohort, const DemurCohortColumn *column) {
  static const size_t bytes[] = {[DEMUR_CELL_TEXT] = sizeof(char *),
                                 [DEMUR_CELL_CODE] = sizeof(guint32),
                                 [DEMUR_CELL_LABEL] = sizeof(gint32),
                                 [DEMUR_CELL_DOUBLE] = sizeof(double),
                                 [DEMUR_CELL_FLOAT] = sizeof(float)};
  return demur_cohort_column_width(cohort, column) * bytes[column->type];
}

gboolean
demur_cohort_column_is_due(const DemurCohort *cohort, const DemurCohortColumn *column) {
  switch (column->presence) {
  case DEMUR_COLUMN_TWO_CLASSES:
    return cohort->n_classes == 2;
  case DEMUR_COLUMN_MORE_CLASSES:
    return cohort->n_classes > 2;
  case DEMUR_COLUMN_EMBEDDED:
    return cohort->embedding_width > 0;
  case DEMUR_COLUMN_OPTIONAL:
    return FALSE;
  default:
    return TRUE;
  }
}

gboolean
demur_cohort_column_is_own(const char *header) {
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    const DemurCohortColumn *column = &demur_cohort_columns[c];
    if (column->width == DEMUR_CELL_ONE ? strcmp(header, column->header) == 0
                                        : g_str_has_prefix(header, column->header))
      return TRUE;
  }
  return strcmp(header, DEMUR_COLUMN_SIMULATED) == 0;
}
