/* What was noticed while a table was read (cohort/table-warnings.h) in the words of people. */
#pragma once

#include "base/translate.h"
#include "cohort/table-warnings.h"

G_BEGIN_DECLS

/* One sentence without a full stop (owned). with_ids: identifiers of scans and persons are named;
 * FALSE for what leaves the workspace. */
char *demur_words_noticed(const DemurTableWarning *warning, gboolean with_ids,
                          DemurTranslate translate);

G_END_DECLS
