/* What no output replaces, whoever names it: it holds what can't be made again. Looked at by what stands in a file, not by
 * its name, so links and copies count. */
#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_KEPT_NONE,
  DEMUR_KEPT_DATABASE,  /* SQLite's, as every workspace is */
  DEMUR_KEPT_COMPANION, /* of a database: its log, index or journal, there or not */
  DEMUR_KEPT_LEDGER,    /* of what a site told (evaluation/federate-ledger.h) */
  DEMUR_KEPT_LABELS, /* a plan's table (`audit plan`, `accept plan`) in which a person put labels */
  DEMUR_KEPT_STUDY, /* a round, an answer or a result (evaluation/federate.h): others hold its digest */
} DemurKeptFile;

/* Of the regular file at place; status NULL where none is there. One that may not be read is none. */
DemurKeptFile demur_kept_file(const char *place, const struct stat *status);

G_END_DECLS
