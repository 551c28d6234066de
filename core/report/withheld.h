/* What the report withholds of groups of people, in print and in the JSON alike: small counts, and
 * those from which small ones would follow (base/small-cells.h). Internal to the room. */
#pragma once

#include "report/report.h"

G_BEGIN_DECLS

typedef struct {
  gboolean *scans;    /* [n] the group's size, and with it all of it */
  gboolean *patients; /* [n] its number of patients */
  gboolean *labels;   /* [n] how many have which label */
  gboolean any_label;
} DemurWithheld;

/* The count, or null where it is withheld. */
void demur_withheld_write_count(DemurJson *json, gboolean withheld, const char *key, size_t n);

/* Owned. Labels are counted where binary. */
DemurWithheld demur_withheld_groups(const DemurReportGroup *groups, size_t n, gboolean binary);
void demur_withheld_clear(DemurWithheld *withheld);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurWithheld, demur_withheld_clear)

/* [n] owned: which rows are withheld; those of one attribute stand together. */
gboolean *demur_withheld_rejections(const DemurReportRejection *rejections, size_t n);

/* [n x n_splits] owned: which cells of Table 1 are withheld: counts of a value that are small, and
 * those that would tell them; quartiles of few. */
gboolean *demur_withheld_characteristics(const DemurReportCharacteristic *rows, size_t n,
                                         size_t n_splits);

/* Fewer than DEMUR_SMALL_CELL of either label. */
gboolean demur_withheld_prevalence(const DemurReportSplit *split);

/* Fewer than DEMUR_SMALL_CELL scans, or with the outcome among them, or without it. */
gboolean demur_withheld_year(const DemurReportYear *year);

/* The same of those that are shown, or of what is held back of all: it follows from both. */
gboolean demur_withheld_shown_year(const DemurReportYear *all, const DemurReportYear *shown);

G_END_DECLS
