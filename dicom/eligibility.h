/* Which series may be assessed, and which one of a study is: one table of rules, each with its
 * code, its limit and its words. Decided from headers, before any score is seen.
 *
 * The choice among the eligible series of one study and patient: closest thickness to thin (the
 * thinnest first, unknown last), then a soft or standard kernel before an unknown one before a
 * sharp one, then more slices, then the lower series number, then the lower scan_id. (Non-axial,
 * derived and thick ones are not eligible.) */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_RULE_OFF,
  DEMUR_RULE_WARN,
  DEMUR_RULE_REFUSE,
} DemurRuleAction;

typedef struct {
  const char *code;       /* "not-ct", "few-slices", .. */
  DemurRuleAction action; /* what is done where the rule is broken */
  double limit;           /* NaN where the rule has none */
  const char *words;      /* what the rule asks, for tables and the guide */
} DemurRule;

typedef struct {
  size_t n_rules;
  DemurRule *rules; /* [n_rules], in the order in which reasons are told */
} DemurEligibility;

/* The rules of the project (docs: "When a series is accepted"). */
DemurEligibility *demur_eligibility_new(void);
void demur_eligibility_free(DemurEligibility *eligibility);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurEligibility, demur_eligibility_free)

/* Changes one rule; limit NaN keeps the limit. DEMUR_ERROR_USAGE for an unknown code (with the
 * list), a limit that is negative, or a limit for a rule without one. */
gboolean demur_eligibility_set(DemurEligibility *eligibility, const char *code,
                               DemurRuleAction action, double limit,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* NaN where there is no such rule. */
double demur_eligibility_limit(const DemurEligibility *eligibility, const char *code);

/* Fills eligible, reason and warnings of every series, and accepted by the choice within each
 * study. */
void demur_eligibility_judge(const DemurEligibility *eligibility, GPtrArray *series);

G_END_DECLS
