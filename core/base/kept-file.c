#define _GNU_SOURCE /* memmem */
#include "base/kept-file.h"

#include <string.h>

#include "base/file-input.h"

#define FIRST_BYTES                                                                                \
  512 /* the header of SQLite has 100; a document's format is among its first members */

#define MOST_LABEL_BYTES ((gsize)1 << 20) /* looked at of a plan's table: thousands of scans */

/* Whether a plan's table, whose label is the last cell of a line and empty at first, has one. */
static gboolean
has_labels(const char *place, const char *head, gsize n) {
  static const char header[] = "scan_id,patient_id,site,label";
  if (n < sizeof header || memcmp(head, header, sizeof header - 1) != 0 ||
      strchr("\r\n", head[sizeof header - 1]) == NULL)
    return FALSE;
  g_autofree char *text = g_malloc(MOST_LABEL_BYTES + 1);
  if (!demur_file_input_begin(place, text, MOST_LABEL_BYTES, &n, NULL))
    return FALSE;
  text[n] = '\0';
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  gboolean any = FALSE;
  /* What stands behind the last line end is cut off, or nothing. */
  for (char **line = lines + 1; !any && line[0] != NULL && line[1] != NULL; line++) {
    g_strchomp(*line);
    any = **line != '\0' && !g_str_has_suffix(*line, ",");
  }
  return any;
}

static DemurKeptFile
kind_of(const char *place) {
  static const char database[] = "SQLite format 3"; /* with its zero byte (Database Header) */
  static const struct {
    const char *format; /* with its quotes */
    DemurKeptFile kind;
  } documents[] = {{"\"demur-federate-ledger\"", DEMUR_KEPT_LEDGER},
                   {"\"demur-round\"", DEMUR_KEPT_STUDY},
                   {"\"demur-answer\"", DEMUR_KEPT_STUDY},
                   {"\"demur-federated\"", DEMUR_KEPT_STUDY}};
  char bytes[FIRST_BYTES];
  gsize n;
  if (!demur_file_input_begin(place, bytes, sizeof bytes, &n, NULL))
    return DEMUR_KEPT_NONE;
  if (n >= sizeof database && memcmp(bytes, database, sizeof database) == 0)
    return DEMUR_KEPT_DATABASE;
  for (size_t d = 0; d < G_N_ELEMENTS(documents); d++)
    if (memmem(bytes, n, documents[d].format, strlen(documents[d].format)) != NULL)
      return documents[d].kind;
  return has_labels(place, bytes, n) ? DEMUR_KEPT_LABELS : DEMUR_KEPT_NONE;
}

DemurKeptFile
demur_kept_file(const char *place, const struct stat *status) {
  static const char *const companions[] = {"-wal", "-shm", "-journal"};
  for (size_t c = 0; c < G_N_ELEMENTS(companions); c++) {
    if (!g_str_has_suffix(place, companions[c]))
      continue;
    g_autofree char *base = g_strndup(place, strlen(place) - strlen(companions[c]));
    struct stat of_base;
    if (stat(base, &of_base) == 0 && S_ISREG(of_base.st_mode) &&
        kind_of(base) == DEMUR_KEPT_DATABASE)
      return DEMUR_KEPT_COMPANION;
  }
  return status != NULL ? kind_of(place) : DEMUR_KEPT_NONE;
}
