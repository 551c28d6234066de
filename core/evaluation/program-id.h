/* Which program computes. A version has many commits, and of two the numbers may differ: parts of one study, and
 * the ranks of one work, are of one program. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Its version, and the first digits of the SHA-256 of the sources of the rooms that compute (base, cohort,
 * features, shift, metrics, selector, evaluation), which the build takes: "0.1.0 3f2c9a10b7de". */
const char *demur_program_id(void);

G_END_DECLS
