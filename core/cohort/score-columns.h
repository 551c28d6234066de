/* The columns in which a model's output stands, and how they are read: for every table that holds
 * scores (cohort, NLST scores, scores of DICOM series), so that one header has one meaning.
 *
 *     risk                      the probability of class 1, within six years
 *     risk_year_1..risk_year_6  within 1 to 6 years; that of the last year may stand for risk
 *     prob_0..prob_{K-1}        K probabilities that sum to 1 within 1e-5 (also proba_0.., as
 *                               calzone calls them); K = 2: the risk is prob_1
 *     emb_0..emb_{d-1}          the embedding
 *
 * Numbers are plain: no zero in front, small letters, no gap. A name that differs from one of these
 * in letters' case, blanks, or zeros (Emb_0, emb_00, risk_year_06) is refused, and so are
 * risk_year_0 (years are counted from 1) and risk_year_7: kept as something else it would be a
 * score nobody sees. */
#pragma once

#include "cohort/cohort.h"
#include "cohort/table-faults.h"

G_BEGIN_DECLS

/* Where each column stands in the table; -1: absent. */
typedef struct {
  gssize risk;
  gssize years[DEMUR_N_YEARS];
  GArray *probabilities; /* gssize [n_probabilities] */
  GArray *embedding;     /* gssize [embedding_width] */
  const char *const
      *names; /* of the header, for messages; set by the caller before rows are read */
  /* Counted while rows are read. */
  size_t n_rows, n_falling; /* rows; those whose yearly risks fall */
  size_t n_missing_words;   /* yearly risks that say in a word that they are not recorded */
  char *missing_word;       /* the first */
} DemurScoreColumns;

/* What a row says. */
typedef struct {
  double risk;                 /* at the horizon asked for; NaN where K > 2 */
  double years[DEMUR_N_YEARS]; /* NaN where not given */
} DemurScoreRow;

void demur_score_columns_init(DemurScoreColumns *columns);
void demur_score_columns_clear(DemurScoreColumns *columns);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurScoreColumns, demur_score_columns_clear)

size_t demur_score_columns_n_probabilities(const DemurScoreColumns *columns); /* 0: by risk */
size_t demur_score_columns_n_classes(const DemurScoreColumns *columns);       /* 2 or more */
size_t demur_score_columns_width(const DemurScoreColumns *columns);           /* d, or 0 */
gboolean demur_score_columns_any_year(const DemurScoreColumns *columns);

/* Whether a column of that key (demur_column_key) looks like the risk, of which there is none. */
gboolean demur_score_columns_looks_like_risk(const DemurScoreColumns *columns, const char *key);

/* Takes the column at place `at` of the header where its name is one of these; *taken says whether.
 * FALSE with DEMUR_ERROR_INPUT where the name only looks like one. */
gboolean demur_score_columns_take(DemurScoreColumns *columns, const DemurTable *table,
                                  const DemurTableField *field, const char *name, size_t at,
                                  gboolean *taken, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* When every column was offered: no gaps, and a risk at the horizon (1..6 years). last: the
 * header's last field, where faults of the whole header are told. */
gboolean demur_score_columns_check(const DemurScoreColumns *columns, const DemurTable *table,
                                   const DemurTableField *last, int horizon,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads a row. probabilities [K] and embedding [d] may be NULL where there are none. Faults are
 * noted; then FALSE and the numbers are of no use. Where risk, risk_year_6 and prob_1 stand beside
 * each other they must be equal. At a horizon below six years the risk is that of its year. */
gboolean demur_score_columns_read(DemurScoreColumns *columns, const DemurTableField *fields,
                                  int horizon, DemurTableFaults *faults, DemurScoreRow *row,
                                  double *probabilities, float *embedding);

/* Adds what was noticed in the rows to the list of DemurTableWarning. */
void demur_score_columns_warn(const DemurScoreColumns *columns, GPtrArray *warnings);

/* Whether the yearly risks (NaN: not given) fall from one year to a later one. */
gboolean demur_yearly_risks_fall(const double years[DEMUR_N_YEARS]);

G_END_DECLS
