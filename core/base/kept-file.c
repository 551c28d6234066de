#define _GNU_SOURCE /* memmem */
#include "base/kept-file.h"

#include <string.h>

#include "base/file-input.h"

#define FIRST_BYTES                                                                                \
  512 /* the header of SQLite has 100; a document's format is among its first members */

#define MOST_LABEL_BYTES ((gsize)16 << 20) /* looked at of a plan's table */

/* The cells of the row at *at of text[n] (owned), without quotes and blanks around them; a line end within quotes is of its
 * cell. Lines may end by CR alone; by both characters an empty row follows. *at: behind the row's end, or n. */
static char **
take_row(const char *text, gsize n, char separator, gsize *at) {
  GStrvBuilder *cells = g_strv_builder_new();
  g_autoptr(GString) cell = g_string_new(NULL);
  gboolean quoted = FALSE, ended = FALSE;
  for (gsize i = *at; !ended; i++) {
    ended = i == n || ((text[i] == '\n' || text[i] == '\r') && !quoted);
    if (ended || (text[i] == separator && !quoted)) {
      g_strv_builder_add(cells, g_strstrip(cell->str));
      g_string_set_size(cell, 0);
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else {
      g_string_append_c(cell, text[i]);
    }
    *at = MIN(i + 1, n);
  }
  char **list = g_strv_builder_end(cells);
  g_strv_builder_unref(cells);
  return list;
}

static const char *const plan_columns[] = {"scanid", "patientid", "site", "label"}; /* keys */

/* Letters and digits of text[n], small (owned): so a person writes the same name, "Scan ID". */
static char *
key_of(const char *text, gsize n) {
  GString *key = g_string_new(NULL);
  for (gsize i = 0; i < n; i++)
    if (g_ascii_isalnum(text[i]))
      g_string_append_c(key, g_ascii_tolower(text[i]));
  return g_string_free(key, FALSE);
}

static gssize
find_column(char **cells, const char *key) {
  for (gssize c = 0; cells[c] != NULL; c++) {
    g_autofree char *own = key_of(cells[c], strlen(cells[c]));
    if (strcmp(own, key) == 0)
      return c;
  }
  return -1;
}

/* Whether it is a cohort's as `cohort export` writes it, which is made again: it begins with these columns, in this order. */
static gboolean
is_export(char **cells) {
  static const char *const first[] = {"patient_id", "scan_id", "site", "split", "label"};
  for (guint c = 0; c < G_N_ELEMENTS(first); c++)
    if (g_strcmp0(cells[c], first[c]) != 0) /* before a shorter row's end */
      return FALSE;
  return TRUE;
}

/* Where the labels stand in a plan's table, as it was written or as a person kept it: with more columns, in another order,
 * or otherwise spelled; -1: it is none. */
static gssize
label_column(char **cells) {
  gssize at = -1;
  for (guint i = 0; i < G_N_ELEMENTS(plan_columns); i++)
    if ((at = find_column(cells, plan_columns[i])) < 0)
      return -1;
  return is_export(cells) ? -1 : at;
}

#define MOST_ROWS_ABOVE 8 /* a title, a line that names the separator, and empty ones */

/* The column of the header at *at, or a few rows below it; -1: there is none. *at: behind it. */
static gssize
find_labels(const char *text, gsize n, char separator, gsize *at) {
  gssize label = -1;
  for (guint r = 0; r < MOST_ROWS_ABOVE && label < 0 && *at < n; r++) {
    g_auto(GStrv) cells = take_row(text, n, separator, at);
    label = label_column(cells);
  }
  return label;
}

/* Whether it is a plan's table with a label, or one that is too long to know that it has none. */
static gboolean
has_labels(const char *place) {
  static const char mark[] = "\xef\xbb\xbf"; /* that the text is UTF-8 */
  gsize n = 0;
  g_autofree char *text = g_malloc(MOST_LABEL_BYTES);
  if (!demur_file_input_begin(place, text, MOST_LABEL_BYTES, &n, NULL))
    return FALSE;
  const gsize start = n >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  for (const char *separator = ",;\t"; *separator != '\0'; separator++) {
    gsize at = start;
    const gssize label = find_labels(text, n, *separator, &at);
    gboolean any = label >= 0 && n == MOST_LABEL_BYTES;
    while (label >= 0 && !any && at < n) {
      g_auto(GStrv) cells = take_row(text, n, *separator, &at);
      any = (gssize)g_strv_length(cells) > label && *cells[label] != '\0';
    }
    if (any)
      return TRUE;
  }
  return FALSE;
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
  /* A plan's header names its scans among its first columns, wherever its labels stand. */
  g_autofree char *key = key_of(bytes, n);
  return strstr(key, plan_columns[0]) != NULL && has_labels(place) ? DEMUR_KEPT_LABELS
                                                                   : DEMUR_KEPT_NONE;
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
