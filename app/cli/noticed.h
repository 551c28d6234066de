/* What was noticed while a table was read, as every command that reads one says it. */
#pragma once

#include "base/json-writer.h"

G_BEGIN_DECLS

/* Members "warnings" (sentences) and "noticed" (the same as data) of the open object. warnings: of
 * DemurTableWarning; NULL: none. */
void demur_noticed_write(DemurJson *json, const GPtrArray *warnings);

/* One line each on standard output. */
void demur_noticed_print(const GPtrArray *warnings);

G_END_DECLS
