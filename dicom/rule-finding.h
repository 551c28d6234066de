/* What a rule found in a series, as data: stored and compared by its code, worded at the edge. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_RULE_OFF,
  DEMUR_RULE_WARN,
  DEMUR_RULE_REFUSE,
} DemurRuleAction;

const char *demur_rule_action_name(DemurRuleAction action); /* "off", "warn", "refuse" */

#define DEMUR_RULE_FINDING_VALUES 4

typedef struct {
  const char *code;       /* of the rule; static */
  DemurRuleAction action; /* WARN or REFUSE */
  guint variant;          /* which of the rule's sentences tells it (words/rule-words.h) */
  char *values[DEMUR_RULE_FINDING_VALUES]; /* what the sentence names, as text; NULL where unused,
                                            * empty where it names what is not recorded */
} DemurRuleFinding;

void demur_rule_finding_clear(DemurRuleFinding *finding);

G_END_DECLS
