/* A cohort: scans with their patient, site, split, label, risk and embedding. Immutable once built,
 * shared by reference; every other part of the program reads these arrays and none writes them.
 *
 * Scans are joined by key (scan_id, patient_id: text), never by place in a file. Texts that repeat
 * (patients, sites, splits, attribute values) are kept once and named by index. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The model of risks of which nobody said whose they are. */
#define DEMUR_MODEL_UNNAMED "unnamed"

#define DEMUR_N_YEARS 6
#define DEMUR_NO_LABEL (-1)
#define DEMUR_SPLIT_TUNE "tune" /* the split that thresholds are tuned on unless another is named */
#define DEMUR_SPLIT_TEST "test" /* and the one that results are of */
#define DEMUR_COHORT_SHIFT "shift" /* the attribute that says which perturbation a scan is of */

/* What ended a scan's time. */
typedef enum {
  DEMUR_STATUS_CENSORED,  /* nothing: it was followed until then */
  DEMUR_STATUS_EVENT,     /* the outcome */
  DEMUR_STATUS_COMPETING, /* what makes the outcome impossible: death without it */
} DemurStatus;

/* A column that splits results: its distinct texts in order of first appearance. "" is "not
 * recorded". */
typedef struct {
  char *name;
  size_t n_values;
  char **values;  /* [n_values] */
  guint32 *codes; /* [n_scans], index into values */
} DemurAttribute;

typedef struct {
  char *name;         /* the cohort's */
  char *model;        /* whose risks and embeddings these are, for example "sybil-1.2" */
  gboolean simulated; /* marked on every screen, file and page */
  char *source;  /* where it came from, in words ("table ist.csv", "simulated, seed 1"); no path */
  char *outcome; /* what a label 1 means ("lung cancer"); NULL: not said; not part of the digest */
  char *created; /* ISO 8601 date and time (UTC) at import; not part of the digest */

  double horizon_years; /* that label and risk are about; 0: not recorded; not part of the digest */

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

  gint32 *labels; /* [n_scans], class index, DEMUR_NO_LABEL where not recorded */
  /* Where the outcome has a time; all three NULL where none is recorded. A scan that was left
   * before the horizon has no label: it counts through the weights of metrics/censoring.h. */
  double *times;         /* [n_scans], years from the scan to its status, NaN where not recorded */
  gint32 *statuses;      /* [n_scans], DemurStatus, DEMUR_NO_LABEL where not recorded */
  double *horizons;      /* [n_scans], years that label and risk are about; one value for all */
  double *risks;         /* [n_scans], K = 2: probability of class 1; NULL where K > 2 */
  double *probabilities; /* [n_scans][K], K > 2; NULL where K = 2 */
  double
      *yearly_risks; /* [n_scans][DEMUR_N_YEARS], NaN where not given; NULL where no scan has any */
  float *embeddings; /* [n_scans][d]; NULL where d = 0 */

  size_t n_attributes;
  DemurAttribute
      *attributes; /* [n_attributes]; "shift" and the reserved acquisition names among them */
} DemurCohort;

/* New and empty: a reader fills it before anyone else sees it. Arrays are aligned (base/memory.h);
 * texts come from demur_cohort_keep_text or are taken over by demur_cohort_keep_block, apart from
 * name, model, source, outcome, created and attribute names (g_free). */
DemurCohort *demur_cohort_alloc(void);
/* A copy of text [length] that lives as long as the cohort. */
char *demur_cohort_keep_text(DemurCohort *cohort, const char *text, size_t length);
/* The cohort frees block (g_free) with itself. */
void demur_cohort_keep_block(DemurCohort *cohort, gpointer block);
DemurCohort *demur_cohort_ref(DemurCohort *cohort);
void demur_cohort_unref(DemurCohort *cohort);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCohort, demur_cohort_unref)

/* The same scans with other risks (K = 2: risks [n_scans]; K > 2: probabilities [n_scans][K]), as
 * after a recalibration. Everything else is shared with the cohort, which lives as long as the
 * view. The array is taken over (g_aligned_free). */
DemurCohort *demur_cohort_with_risks(DemurCohort *cohort, double *risks);

/* The same scans with other splits: rows with moved [n_scans] != 0 are taken into a split called
 * name, which must be new. Everything else is shared with the cohort. */
DemurCohort *demur_cohort_with_split(DemurCohort *cohort, const char *name, const guint8 *moved);

/* The same scans with label and risk within so many years, 1 to DEMUR_N_YEARS: the yearly risk, and
 * what the times say (an event before then is a 1; whoever was followed for so long, or had what
 * makes the outcome impossible, a 0; who was left before has no label). The cohort's own years: the
 * cohort itself (a new reference). NULL with DEMUR_ERROR_STATE where outcomes have no times, a scan
 * has no risk of that year, or the number is none. */
DemurCohort *demur_cohort_at_horizon(DemurCohort *cohort, double years,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Index of a split, site, attribute or scan by name; -1 where there is none. The scan look-up is by
 * hash table, built at first use and safe from several threads. */
gssize demur_cohort_find_split(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_site(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_attribute(const DemurCohort *cohort, const char *name);
gssize demur_cohort_find_scan(DemurCohort *cohort, const char *scan_id);

/* Whether a split of that name is the one that results are of. */
gboolean demur_split_is_test(const char *name);

/* Rows of a split in ascending order, as guint32 (owned array). NULL with DEMUR_ERROR_NOT_FOUND and
 * the list of splits where it does not exist or is empty. split NULL: every scan. */
guint32 *demur_cohort_rows(const DemurCohort *cohort, const char *split, size_t *n_rows,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The binary reduction that calibration is measured on: for K = 2 the risk and the label; for K > 2
 * the top probability and whether its class is right (ties: the lowest class). label NaN where not
 * recorded. */
double demur_cohort_confidence_risk(const DemurCohort *cohort, size_t row);
double demur_cohort_confidence_label(const DemurCohort *cohort, size_t row);

/* The horizon in years; NaN where outcomes have no times. */
double demur_cohort_horizon(const DemurCohort *cohort);

/* Distinct patients or sites among rows (NULL: all). */
size_t demur_cohort_count_patients(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);
size_t demur_cohort_count_sites(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);

/* The text of an attribute in a row, "" where not recorded (borrowed). */
const char *demur_cohort_attribute_text(const DemurCohort *cohort, size_t attribute, size_t row);

/* SHA-256 (hex, owned) over the given rows: ids, sites, splits, labels, risks (yearly ones too),
 * embeddings, times of the outcome. rows NULL: all. Texts are hashed, not their indices: the order
 * in which patients or sites are numbered does not matter, the order of rows does. Names, model,
 * attributes and times are not part of it. */
char *demur_cohort_digest(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);

/* Builds a cohort scan by scan, where the values are at hand already (simulation, tests). */
typedef struct DemurCohortBuilder DemurCohortBuilder;
DemurCohortBuilder *demur_cohort_builder_new(size_t n_classes, size_t embedding_width);
void demur_cohort_builder_free(DemurCohortBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCohortBuilder, demur_cohort_builder_free)

/* Adds a scan. probabilities: one value (the risk) for two classes, else [n_classes]; yearly
 * [DEMUR_N_YEARS] and embedding [d] may be NULL (d = 0). label: class index or DEMUR_NO_LABEL.
 * Returns its row. */
size_t demur_cohort_builder_add(DemurCohortBuilder *builder, const char *scan_id,
                                const char *patient_id, const char *site, const char *split,
                                int label, const double *probabilities, const double *yearly,
                                const float *embedding);

/* Time, status and horizon of the scan added last (DemurCohort). */
void demur_cohort_builder_outcome(DemurCohortBuilder *builder, double time, DemurStatus status,
                                  double horizon);

/* Attribute of the scan added last; the column is made at its first use. */
void demur_cohort_builder_attribute(DemurCohortBuilder *builder, const char *name,
                                    const char *text);

/* A whole attribute column at once: texts [n_scans], for what is known only when every scan is
 * added. */
void demur_cohort_builder_attribute_all(DemurCohortBuilder *builder, const char *name,
                                        const char *const *texts);

/* The cohort. NULL with DEMUR_ERROR_INPUT: a scan twice, a patient in two splits, a value out of
 * range, no scan at all. The builder can't be used again, only freed. */
DemurCohort *demur_cohort_builder_finish(DemurCohortBuilder *builder, const char *name,
                                         const char *model, const char *source, const char *created,
                                         gboolean simulated,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
