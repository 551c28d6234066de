/* What of a selector comes from sums of several sites (selector/federated.h), in sentences. */
#pragma once

#include "base/translate.h"
#include "selector/federated.h"

G_BEGIN_DECLS

/* A sentence for its risks, for its scores and for what is not in use (owned), as far as there is something to
 * say; NULL where nothing comes from a study. */
char *demur_words_federated(const DemurSelector *selector, DemurTranslate translate);

G_END_DECLS
