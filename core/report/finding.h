/* What the report says in words: the finding, the paragraph to quote and what to read with care,
 * each a function of the numbers. "better" stands only where the comparison says so. */
#pragma once

#include "metrics/heterogeneity.h"
#include "report/report.h"

G_BEGIN_DECLS

/* The places in the evaluation that the summary is about. Borrowed pointers, NULL where absent. */
typedef struct {
  const DemurReportInput *input;
  const DemurEvaluation *evaluation;
  double coverage;
  const DemurMethodResult *subject;    /* the selector, else the first method */
  const DemurMethodResult *confidence; /* of the same kind of risk */
  const DemurMethodResult *full;       /* everything shown, of the same kind of risk */
  const DemurOperatingPoint *subject_at, *confidence_at, *full_at;
  gboolean tuned; /* subject_at has the tuned threshold, else one from this split's own scores */
  /* With a threshold from this split's own scores, as the other methods have it: what is compared
   * with them, at one coverage. */
  const DemurOperatingPoint *subject_own_at;
  const DemurReportThreshold *threshold; /* the current one of that coverage */
  const DemurComparison *plain, *debiased,
      *site; /* subject against confidence, AUC over coverage */
  gboolean compared;
  DemurComparisonVerdict verdict; /* the three comparisons together; only where compared */
} DemurReportFinding;

DemurReportFinding demur_finding(const DemurReportInput *input);

/* Whether the selector keeps at every coverage what confidence keeps: every difference, and both
 * ends of its interval, is 0. */
gboolean demur_finding_is_confidence(const DemurReportFinding *finding);

/* The comparisons of method.md 5 together: better only if plain and debiased S-BCE_2 are better and
 * site error is not worse; worse the other way round; undecidable as soon as one is. NULL: not
 * compared, left out of the rule. */
DemurComparisonVerdict demur_finding_verdict(const DemurComparison *plain,
                                             const DemurComparison *debiased,
                                             const DemurComparison *site);

/* method's operating point of that coverage; NULL where it has none. */
const DemurOperatingPoint *demur_finding_at(const DemurMethodResult *method, double coverage,
                                            gboolean from_tune);

/* The group's operating point under the same threshold as subject_at; NULL: none, or withheld. */
const DemurOperatingPoint *demur_finding_group_at(const DemurReportFinding *finding,
                                                  const DemurGroup *group);

/* How O:E of the accepted differs between groups [from, to) of one attribute, on the log scale
 * (metrics/heterogeneity.h), standard errors from the bootstrap intervals. */
DemurHeterogeneity demur_finding_heterogeneity(const DemurReportFinding *finding, size_t from,
                                               size_t to);

/* Share of a label that is rejected at the point; NAN where undefined or no such label. */
double demur_finding_rate(const DemurOperatingPoint *at, size_t label);
/* The same in print (owned): "withheld" where it is (evaluation/evaluation.h). */
char *demur_finding_rate_text(const DemurOperatingPoint *at, size_t label);

/* A measure in print (owned): "withheld" where it is. */
char *demur_finding_measure_text(const DemurOperatingPoint *at, DemurMeasure measure, int decimals);

/* What stands once below tables of these points (owned): of which scans what counts outcomes is, where
 * it is not of those accepted, or that it is withheld, and why; NULL: there is nothing to say. */
char *demur_finding_counted_note(const DemurReportFinding *finding);

/* What that note is made of, for tables of several findings (owned): which sets outcomes are told of and
 * why; "the 750 scans with the highest scores (a coverage of 75.0 %)" of a point that is told by another
 * set. */
char *demur_finding_counted_rule(void);
char *demur_finding_counted_set(const DemurOperatingPoint *at);

/* A label's name for people (owned): "cancer", or "label 1". */
char *demur_finding_label(const DemurReportInput *input, size_t label);

/* A method's name for people; borrowed. */
const char *demur_finding_title(const DemurReportFinding *finding, const DemurMethodResult *method);

char *demur_finding_headline(const DemurReportFinding *finding);
char *demur_finding_paragraph(const DemurReportFinding *finding);

/* Sentences (GPtrArray of owned char *), the strongest first; empty where nothing stands out.
 * n_strong (may be NULL): how many say that the numbers themselves mislead. */
GPtrArray *demur_finding_cares(const DemurReportFinding *finding, guint *n_strong);

G_END_DECLS
