#include "report/withheld.h"

#include "base/small-cells.h"

#include <math.h>

void
demur_withheld_write_count(DemurJson *json, gboolean withheld, const char *key, size_t n) {
  if (withheld)
    demur_json_null(json, key);
  else
    demur_json_int(json, key, (gint64)n);
}

DemurWithheld
demur_withheld_groups(const DemurReportGroup *groups, size_t n, gboolean binary) {
  DemurWithheld withheld = {.scans = g_new0(gboolean, n + 1),
                            .patients = g_new0(gboolean, n + 1),
                            .labels = g_new0(gboolean, n + 1)};
  g_autofree size_t *scans = g_new0(size_t, n + 1), *patients = g_new0(size_t, n + 1),
                    *labels = g_new0(size_t, 2 * n + 1);
  g_autofree gboolean *scans_tell = g_new0(gboolean, n + 1), *labels_tell = g_new0(gboolean, n + 1);
  for (size_t i = 0; i < n; i++) {
    scans[i] = groups[i].n_scans;
    patients[i] = groups[i].n_patients;
    labels[2 * i] = groups[i].n_labelled - groups[i].n_positive;
    labels[2 * i + 1] = groups[i].n_positive;
    scans_tell[i] = groups[i].scans_tell;
    labels_tell[i] = groups[i].labels_tell;
  }
  demur_small_cells_beside(scans, n, 1, scans_tell, withheld.scans);
  demur_small_cells(patients, n, 1, withheld.patients);
  if (binary)
    withheld.any_label = demur_small_cells_beside(labels, n, 2, labels_tell, withheld.labels) > 0;
  return withheld;
}

void
demur_withheld_clear(DemurWithheld *withheld) {
  g_clear_pointer(&withheld->scans, g_free);
  g_clear_pointer(&withheld->patients, g_free);
  g_clear_pointer(&withheld->labels, g_free);
}

gboolean *
demur_withheld_rejections(const DemurReportRejection *rejections, size_t n) {
  gboolean *withheld = g_new0(gboolean, n + 1);
  g_autofree size_t *scans = g_new0(size_t, n + 1);
  g_autofree gboolean *tells = g_new0(gboolean, n + 1);
  for (size_t i = 0; i < n; i++) {
    scans[i] = rejections[i].n_scans;
    tells[i] = rejections[i].tells;
  }
  for (size_t from = 0, to; from < n; from = to) {
    for (to = from + 1;
         to < n && g_strcmp0(rejections[to].attribute, rejections[from].attribute) == 0;)
      to++;
    demur_small_cells_beside(scans + from, to - from, 1, tells + from, withheld + from);
  }
  return withheld;
}

gboolean *
demur_withheld_characteristics(const DemurReportCharacteristic *rows, size_t n, size_t n_splits) {
  gboolean *withheld = g_new0(gboolean, n * n_splits + 1);
  g_autofree size_t *counts = g_new0(size_t, n + 1);
  g_autofree gboolean *column = g_new0(gboolean, n + 1), *tells = g_new0(gboolean, n + 1);
  for (size_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && rows[from].value && rows[to].value &&
                        g_strcmp0(rows[to].attribute, rows[from].attribute) == 0;)
      to++;
    for (size_t s = 0; s < n_splits; s++) {
      size_t n_there = 0; /* a value that does not occur in a split is left out of its table */
      for (size_t i = from; i < to; i++)
        if (rows[i].counts[s] > 0) {
          tells[n_there] = rows[i].tells != NULL && rows[i].tells[s];
          counts[n_there++] = rows[i].counts[s];
        }
      demur_small_cells_beside(counts, n_there, 1, tells, column);
      for (size_t i = from, k = 0; i < to; i++)
        withheld[i * n_splits + s] = rows[i].counts[s] > 0 && column[k++];
    }
  }
  return withheld;
}

gboolean
demur_withheld_prevalence(const DemurReportSplit *split) {
  const double n = (double)split->n_labelled, positive = round(split->prevalence * n);
  return isfinite(positive) && fmin(positive, n - positive) < DEMUR_SMALL_CELL;
}

gboolean
demur_withheld_year(const DemurReportYear *year) {
  const double n = (double)year->n, events = round(year->observed * n);
  return n < DEMUR_SMALL_CELL || (isfinite(events) && fmin(events, n - events) < DEMUR_SMALL_CELL);
}

gboolean
demur_withheld_shown_year(const DemurReportYear *all, const DemurReportYear *shown) {
  if (demur_withheld_year(all) || demur_withheld_year(shown))
    return TRUE;
  if (shown->n == all->n)
    return FALSE;
  const double held_back = (double)all->n - (double)shown->n,
               events = all->observed * (double)all->n - shown->observed * (double)shown->n;
  return held_back < DEMUR_SMALL_CELL ||
         (isfinite(events) && fmin(round(events), held_back - round(events)) < DEMUR_SMALL_CELL);
}
