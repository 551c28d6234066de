#include "report/revisions.h"

#include "base/json-reader.h"

#include <string.h>

#define MEMBER "method_revisions"

static const char *const bins[] = {"sbce2",
                                   "sbceinf",
                                   "sbce1",
                                   "stce2",
                                   "stceinf",
                                   "stce1",
                                   "sbce2_auc",
                                   "stce2_auc",
                                   "debiased",
                                   "debiased_auc",
                                   "noise_floor",
                                   "n_bins",
                                   "reliability",
                                   "brier_within",
                                   "accepted_sbce2",
                                   "brier_reliability",
                                   "comparisons",
                                   "against_confidence",
                                   "brier_resolution",
                                   "finding.verdict",
                                   NULL};
static const char *const scores[] = {"brier",      "accuracy",          "auroc", "aurc_error",
                                     "aurc_brier", "brier_uncertainty", NULL};
static const char *const site_error[] = {"site_error",         "accepted_site_error", "comparisons",
                                         "against_confidence", "finding.verdict",     NULL};
static const char *const kernel[] = {"smmce", NULL};
static const char *const fits[] = {
    "calibration_in_the_large", "calibration_intercept", "calibration_slope", "oe_ratio",
    "spiegelhalter_z",          "hosmer_lemeshow",       "heterogeneity",     NULL};
static const char *const smooth[] = {"ici", "e50", "e90", "smooth", NULL};
static const char *const net_benefit[] = {"net_benefit", "net_benefit_treat_all", "decision_curve",
                                          NULL};
static const char *const intervals[] = {"intervals", "interval", "comparisons",
                                        "against_confidence", NULL};
static const char *const comparisons[] = {"comparisons", "against_confidence", "finding.verdict",
                                          NULL};
static const char *const heterogeneity[] = {"heterogeneity", NULL};
static const char *const times[] = {"ipcw", "years", "years_estimator", NULL};
static const char *const hold_back[] = {"hold_back", NULL};
static const char *const watches[] = {"watches", "stopped_by", NULL};
static const char *const acceptances[] = {"acceptances", NULL};
static const char *const withholding[] = {
    "splits",  "characteristics", "sites",      "scanners",          "years",
    "audits",  "groups",          "rejections", "rejected_by_label", "sbce2",
    "sbceinf", "sbce1",           "debiased",   "brier_reliability", NULL};
/* numbers that are of another set of scans, or rounded, since */
static const char *const counted[] = {"brier",
                                      "accuracy",
                                      "calibration_in_the_large",
                                      "calibration_intercept",
                                      "oe_ratio",
                                      "auroc",
                                      "spiegelhalter_z",
                                      "brier_resolution",
                                      "net_benefit",
                                      "n_counted",
                                      "brier_uncertainty",
                                      "net_benefit_treat_all",
                                      "reliability",
                                      "smooth",
                                      "decision_curve",
                                      "rejected_by_label",
                                      "aurc_error",
                                      "aurc_brier",
                                      "hold_back",
                                      "warnings",
                                      "heterogeneity",
                                      "sbce2",
                                      "debiased",
                                      NULL};

static const DemurMethodFamilyRow rows[DEMUR_N_FAMILIES] = {
    [DEMUR_FAMILY_BINS] = {"bin_errors", "errors of equal-mass bins", 1, bins},
    [DEMUR_FAMILY_SCORES] = {"scores", "Brier score, accuracy, AUROC and areas under risk-coverage",
                             1, scores},
    [DEMUR_FAMILY_SITE_ERROR] = {"site_error", "site error", 1, site_error},
    [DEMUR_FAMILY_KERNEL] = {"kernel_error", "kernel calibration error", 1, kernel},
    /* 2: the intercept is that of the fit with a slope, no longer calibration in the large */
    [DEMUR_FAMILY_FITS] = {"calibration_fits",
                           "calibration in the large, intercept, slope, O:E, z and Hosmer-Lemeshow",
                           2, fits},
    [DEMUR_FAMILY_SMOOTH] = {"smooth_curves", "smooth calibration curves, ICI, E50 and E90", 1,
                             smooth},
    /* 2: what an interval of the wider prior holds back has another one */
    [DEMUR_FAMILY_NET_BENEFIT] = {"net_benefit", "net benefit", 2, net_benefit},
    /* 2: over few sites by the jackknife */
    [DEMUR_FAMILY_INTERVALS] = {"intervals", "intervals", 2, intervals},
    /* 2: corrected for their number; 3: on squares too where roots are compared */
    [DEMUR_FAMILY_COMPARISONS] = {"comparisons", "comparisons between methods", 3, comparisons},
    [DEMUR_FAMILY_HETEROGENEITY] = {"heterogeneity", "how O:E differs between groups", 1,
                                    heterogeneity},
    [DEMUR_FAMILY_TIMES] = {"times", "what was observed by years, and weights for follow-up", 1,
                            times},
    /* 2: intervals by a wider prior of how hospitals differ */
    [DEMUR_FAMILY_HOLD_BACK] = {"hold_back", "risks held back by their interval", 2, hold_back},
    /* 2: bets on what a change would look like, and none on what the reference does not record; 3: bets that
     * a part of the reference fixes, and a line of each signal's own; 4: more of alpha for the outcome's rate; 5: outcomes by their risks, with
     * one part of alpha for the outcome's rate and O:E; 6: alarms of other watches that stop the selector too */
    [DEMUR_FAMILY_WATCHES] = {"watches", "evidence of change while the selector is in use", 6,
                              watches},
    [DEMUR_FAMILY_ACCEPTANCES] = {"acceptances", "local acceptance tests", 2, acceptances},
    /* 2: between two ways of grouping too; 4: errors of few bins too; 5: years with few without the
     * outcome, and what a family shows beside every set that is told */
    [DEMUR_FAMILY_WITHHOLDING] = {"withholding", "which small numbers are withheld", 5, withholding,
                                  .withholds = TRUE},
    /* 2: of sets of scans that differ by enough of each label; 3: groups' O:E and intercept too */
    [DEMUR_FAMILY_COUNTED] = {"counted_sets", "the sets of scans whose outcomes are counted", 3,
                              counted},
};

const DemurMethodFamilyRow *
demur_method_family_row(DemurMethodFamily family) {
  g_return_val_if_fail((guint)family < DEMUR_N_FAMILIES, &rows[0]);
  return &rows[family];
}

void
demur_method_revisions_write(DemurJson *json) {
  demur_json_begin_object(json, MEMBER);
  for (DemurMethodFamily f = 0; f < DEMUR_N_FAMILIES; f++)
    demur_json_int(json, rows[f].name, rows[f].revision);
  demur_json_end_object(json);
}

int
demur_method_revision_of(JsonObject *report, DemurMethodFamily family) {
  JsonObject *revisions;
  gint64 revision;
  if (!demur_json_read_object(report, MEMBER, &revisions, NULL) ||
      !demur_json_read_int(revisions, demur_method_family_row(family)->name, 1, G_MAXINT, &revision,
                           NULL))
    return 1;
  return (int)revision;
}

/* Whether a part of a path, [name, end), is the member or its interval; places in lists are left
 * off. */
static gboolean
is_member(const char *name, const char *end, const char *member) {
  size_t n = (size_t)(end - name);
  const char *bracket = memchr(name, '[', n);
  n = bracket != NULL ? (size_t)(bracket - name) : n;
  if (n == strlen(member) && strncmp(name, member, n) == 0)
    return TRUE;
  static const char suffix[] = "_interval";
  const size_t n_suffix = sizeof suffix - 1;
  if (n <= n_suffix || strncmp(name + n - n_suffix, suffix, n_suffix) != 0)
    return FALSE;
  /* "rate_interval" is of "rate", and an "interval" */
  return g_str_equal(member, "interval") ||
         (n - n_suffix == strlen(member) && strncmp(name, member, n - n_suffix) == 0);
}

static gboolean
is_null(const char *text) {
  return g_strcmp0(text, "null") == 0;
}

gboolean
demur_method_family_holds(DemurMethodFamily family, const DemurReportDifference *d) {
  const DemurMethodFamilyRow *row = demur_method_family_row(family);
  /* what a report names of the family itself */
  if (g_str_has_prefix(d->where, MEMBER "."))
    return g_str_equal(d->where + sizeof MEMBER, row->name);
  if (row->withholds && is_null(d->written) == is_null(d->found))
    return FALSE;
  if (g_strv_contains(row->members, d->where))
    return TRUE;
  for (const char *name = d->where; *name != '\0';) {
    const char *dot = strchr(name, '.'), *end = dot != NULL ? dot : name + strlen(name);
    for (size_t m = 0; row->members[m] != NULL; m++)
      if (is_member(name, end, row->members[m]))
        return TRUE;
    name = dot != NULL ? dot + 1 : end;
  }
  return FALSE;
}
