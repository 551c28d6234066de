/* A cohort's columns, splits and attributes as rows, and its name's row. Inside this room. */
#pragma once

#include "store/cohorts.h"
#include "store/connection.h"

G_BEGIN_DECLS

/* Inside a transaction of the caller's: the row of the cohort and all that hangs on it. */
gboolean demur_store_write_cohort(DemurWorkspace *workspace, const DemurCohort *cohort,
                                  const char *digest, const DemurProgress *progress,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_store_write_attribute(DemurWorkspace *workspace, gint64 cohort_id, size_t position,
                                     size_t n_scans, const DemurAttribute *attribute,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Fills the columns and attributes of a cohort whose counts and names are set, and checks them against
 * one another; embedding_width 0: without embeddings. */
gboolean demur_store_read_cohort(DemurWorkspace *workspace, gint64 id, DemurCohort *cohort,
                                 const DemurProgress *progress,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* 1 where there is a cohort of that name, 0 where not, -1 with error. */
gint64 demur_store_cohort_exists(DemurWorkspace *workspace, const char *name, GError **error);

/* DEMUR_ERROR_NOT_FOUND with the names there are; always FALSE. */
gboolean demur_store_cohort_not_found(DemurWorkspace *workspace, const char *name, GError **error);

/* The cohort of that name and its row's id; NULL with error. */
DemurCohortSummary *demur_store_find_cohort(DemurWorkspace *workspace, const char *name, gint64 *id,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
