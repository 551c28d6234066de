/* The rules a series is judged by: one table of rows, each with its code, what is done, its limit,
 * what it asks and the function that looks. What it found is worded in words/rule-words.c. */
#pragma once

#include "dicom/series.h"

G_BEGIN_DECLS

typedef struct DemurRule DemurRule;

/* Whether the series breaks the rule. Then finding holds variant and values; code and action are
 * the caller's to set. */
typedef gboolean (*DemurRuleFunc)(const DemurSeries *series, const DemurRule *rule,
                                  DemurRuleFinding *finding);

struct DemurRule {
  const char *code;       /* "not-ct", "few-slices", .. */
  DemurRuleAction action; /* what is done where the rule is broken */
  double limit;           /* NaN where the rule has none */
  const char *words;      /* what the rule asks, for tables and the guide */
  DemurRuleFunc function;
};

/* The code of the rule that says more of the same thing: where that is broken (though it be off) this one
 * is silent. NULL: none. */
const char *demur_rule_less_than(const DemurRule *rule);

/* The project's rules, in the order in which reasons are told. */
const DemurRule *demur_rules(size_t *n);

G_END_DECLS
