/* What the rules of eligibility found in a series (dicom/rules.h), in the words of people: reasons of kind
 * DEMUR_REASON_RULE. */
#pragma once

#include "base/translate.h"
#include "selector/reason.h"

G_BEGIN_DECLS

/* The sentence of one finding without a full stop (owned), numbers as the reader's language writes
 * them. Of a rule that this program does not know: its code. */
char *demur_words_rule(const DemurReason *reason, DemurTranslate translate);

/* The sentence that tells a rule's variant, as it stands for translation; NULL: there is none. */
const char *demur_words_rule_sentence(const char *code, guint variant);

G_END_DECLS
