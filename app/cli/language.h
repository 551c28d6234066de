/* Languages of pages that the command line writes or makes again: from the catalogues that are
 * installed (DEMUR_LOCALEDIR in their place), whatever the process's locale is. */
#pragma once

#include "base/translate.h"

G_BEGIN_DECLS

/* NULL for NULL and "en" without error (English); NULL with DEMUR_ERROR_NOT_FOUND where there is no
 * catalogue of that language. Lives as long as the process; one language a process. */
const DemurLanguage *demur_cli_language(const char *code, GError **error);

G_END_DECLS
