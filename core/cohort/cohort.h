/* A cohort: scans with their patient, site, split, label, risk and embedding. Immutable once built, shared by
 * reference; every other part of the program reads these arrays and none writes them.
 *
 * Scans are joined by key (scan_id, patient_id: text), never by place in a file. Texts that repeat
 * (patients, sites, splits, attribute values) are kept once and named by index. */
#pragma once

#include "base/error.h"

G_BEGIN_DECLS

#define DEMUR_N_YEARS 6
#define DEMUR_NO_LABEL (-1)

/* A column that splits results: its distinct texts in order of first appearance. "" is "not recorded". */
typedef struct {
  char *name;
  size_t n_values;
  char **values;   /* [n_values] */
  guint32 *codes;  /* [n_scans], index into values */
} DemurAttribute;

typedef struct {
  char *name;         /* the cohort's */
  char *model;        /* whose risks and embeddings these are, for example "sybil-1.2" */
  gboolean simulated; /* marked on every screen, file and page */
  char *source;       /* where it came from, in words ("table ist.csv", "simulated, seed 1"); no path */
  char *created;      /* ISO 8601 date and time (UTC) at import; not part of the digest */

  size_t n_scans;
  size_t n_classes;       /* K >= 2 */
  size_t embedding_width; /* d, 0 where there are none */

  char **scan_ids; /* [n_scans], unique */
  size_t n_patients;
  char **patient_ids; /* [n_patients] */
  guint32 *patients;  /* [n_scans] */
  size_t n_sites;
  char **site_names; /* [n_sites] */
  guint32 *sites;    /* [n_scans] */
  size_t n_splits;
  char **split_names; /* [n_splits], in order of first appearance */
  guint32 *splits;    /* [n_scans] */

  gint32 *labels;        /* [n_scans], class index, DEMUR_NO_LABEL where not recorded */
  double *risks;         /* [n_scans], K = 2: probability of class 1; NULL where K > 2 */
  double *probabilities; /* [n_scans][K], K > 2; NULL where K = 2 */
  double *yearly_risks;  /* [n_scans][DEMUR_N_YEARS], NaN where not given; NULL where no scan has any */
  float *embeddings;     /* [n_scans][d]; NULL where d = 0 */

  size_t n_attributes;
  DemurAttribute *attributes; /* [n_attributes]; "shift" and the reserved acquisition names among them */
} DemurCohort;

/* New and empty: the builder (demur_cohort_builder_..) or a reader fills it before anyone else sees it. */
DemurCohort *demur_cohort_alloc(void);
DemurCohort *demur_cohort_ref(DemurCohort *cohort);
void demur_cohort_unref(DemurCohort *cohort);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCohort, demur_cohort_unref)

/* Index of a split, site, attribute or scan by name; -1 where there is none. The scan look-up is by hash
 * table, built at first use and safe from several threads. */
gssize demur_cohort_find_split(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_site(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_attribute(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_scan(DemurCohort *cohort, const char *scan_id);

/* Rows of a split in ascending order, as guint32 (owned array). NULL with DEMUR_ERROR_NOT_FOUND and the list of
 * splits where it does not exist or is empty. split NULL: every scan. */
guint32 *demur_cohort_rows(const DemurCohort *cohort, const char *split, size_t *n_rows,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The binary reduction that calibration is measured on: for K = 2 the risk and the label; for K > 2 the top
 * probability and whether its class is right (ties: the lowest class). label NaN where not recorded. */
double demur_cohort_confidence_risk(const DemurCohort *cohort, size_t row);
double demur_cohort_confidence_label(const DemurCohort *cohort, size_t row);

/* SHA-256 (hex, owned) over the given rows: ids, sites, splits, labels, risks, embeddings. rows NULL: all. */
char *demur_cohort_digest(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);

G_END_DECLS
