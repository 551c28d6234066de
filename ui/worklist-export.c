#include "ui/worklist-export.h"

#include <math.h>

#include "base/csv-field.h"
#include "base/file-output.h"
#include "base/number.h"
#include "base/shown-text.h"
#include "selector/verdict.h"
#include "tasks/review.h"
#include "ui/scan-words.h"
#include "ui/words.h"

/* Names of the outside contract, not words of the reader's language. */
static const char *
shown_name(DemurShown shown) {
  return shown == DEMUR_SHOWN_OUT_OF_DATE    ? "out_of_date"
         : shown == DEMUR_SHOWN_NOT_ASSESSED ? "not_assessed"
                                             : demur_verdict_name((DemurVerdict)shown);
}

static void
add(GString *csv, const char *text) {
  if (csv->len > 0 && csv->str[csv->len - 1] != '\n')
    g_string_append_c(csv, ',');
  g_autofree char *safe = demur_shown_text(text);
  demur_csv_append(csv, safe);
}

static void
add_row(GString *csv, const DemurScan *scan, const DemurScanReview *review) {
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *age = scan->age > 0 ? g_strdup_printf("%d", scan->age) : g_strdup("");
  g_autofree char *reason = demur_scan_first_reason(scan);
  const char *const cells[] = {shown_name(scan->shown),
                               scan->patient_id,
                               age,
                               scan->sex,
                               scan->date,
                               scan->site,
                               scan->scanner,
                               isfinite(scan->risk) ? demur_number_format(scan->risk, number) : "",
                               reason,
                               demur_task_opinion_name(review),
                               scan->scan_id};
  for (size_t i = 0; i < G_N_ELEMENTS(cells); i++)
    add(csv, cells[i]);
  g_string_append(csv, "\r\n");
}

gboolean
demur_worklist_export(DemurScanList *list, const char *path, GError **error) {
  g_autoptr(GString) csv = g_string_new(
      "verdict,patient_id,age,sex,study,site,scanner,risk,reason,reviewed,scan_id\r\n");
  const DemurScanTable *table = demur_scan_list_table(list);
  const guint n = g_list_model_get_n_items(G_LIST_MODEL(list));
  for (guint i = 0; i < n; i++) {
    const guint32 row = demur_scan_list_row_at(list, i);
    add_row(csv, &table->scans[row], &table->reviews[row]);
  }
  return demur_file_write(path, csv->str, (gssize)csv->len, DEMUR_FILE_REPLACE, error);
}
