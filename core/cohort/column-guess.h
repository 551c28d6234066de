/* What a column of somebody's table most likely is, by its name: for a person to look at and
 * correct, never for reading a table without being asked (cohort/table-header.h reads exact names
 * only). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Columns of a cohort's or a score table that a person may have to name, in the order in which they
 * are asked for (docs/file-formats.md). */
typedef enum {
  DEMUR_MEANS_PATIENT_ID,
  DEMUR_MEANS_SCAN_ID,
  DEMUR_MEANS_SERIES_UID,
  DEMUR_MEANS_SITE,
  DEMUR_MEANS_SPLIT,
  DEMUR_MEANS_LABEL,
  DEMUR_MEANS_RISK,
  DEMUR_N_MEANINGS,
} DemurColumnMeaning;

/* "patient_id" .. "risk". */
const char *demur_column_meaning_name(guint meaning);
/* "risk_year_1" ..: the column of the risk within so many years (owned). */
char *demur_column_yearly_name(int years);

/* For each meaning the place of the column that it most likely is, -1 where none looks like it; no
 * column twice. A column of the exact name goes before one of a name that means the same ("Patient
 * ID", "hospital", "cancer", "dataset"), compared without letters' case, blanks and marks. */
void demur_column_guess(const char *const *names, size_t n_names, gssize at[DEMUR_N_MEANINGS]);

G_END_DECLS
