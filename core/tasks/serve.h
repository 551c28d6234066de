/* The loop that never sleeps: receive -> complete? -> external model -> assess -> answer, for weeks,
 * and after any end on from where it was (serve-journal.h).
 *
 * The calling thread receives (dicom/receiver.h: processes of its own for the listener and each
 * connection). One thread reads, runs the model and assesses, a study after the other; another one
 * delivers, so that an archive that is down delays no verdict and a long run of the model no
 * answer. What is said is for a log: no patient's name or ID. */
#pragma once

#include "tasks/serve-config.h"
#include "tasks/serve-journal.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *config_path;
  /* One line for the log; from any thread, one at a time. */
  void (*say)(const char *sentence, gpointer data);
  /* Whether the settings are to be read again; asked several times a second. May be NULL. */
  gboolean (*reload_asked)(gpointer data);
  gpointer data;
} DemurServeParams;

/* Serves until task's progress is cancelled, a good end: what is open is in the journal.
 * DEMUR_ERROR_INPUT for faulty settings, DEMUR_ERROR_STATE where another service has the folder,
 * the port can't be opened, the selector can't give verdicts or the system makes no more threads, DEMUR_ERROR_NOT_FOUND where there
 * is no such selector. */
gboolean demur_task_serve(DemurTask *task, const DemurServeParams *params,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Puts a held study in the queue again, whether the service runs or not. DEMUR_ERROR_NOT_FOUND
 * where it is not held. */
gboolean demur_task_serve_again(const DemurServeConfig *config, const char *study,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --- status: read from the folder, by anybody, at any time --- */

/* A study that has not come whole. */
typedef struct {
  char *study;
  gboolean broken; /* it may be a part: it waits until what was lost came */
  gint64 since;    /* seconds since 1970 */
} DemurArriving;

typedef struct {
  gboolean running; /* a service has the folder */
  gint64 now;
  guint n_arriving, n_broken, n_queue, n_held, n_answered;
  guint n_step[DEMUR_N_SERVE_STEPS]; /* of the queue */
  gint64 oldest;                     /* seconds that the oldest open study waits; 0: none */
  gint64 last_answer;                /* when; 0: none yet */
  gint64 free_mb;                    /* of the disk */
  GPtrArray *arriving;               /* DemurArriving */
  GPtrArray *queue, *held;           /* DemurServeStudy, by arrival */
  GPtrArray *damaged;                /* char *: records that can't be read */
} DemurServeStatus;

/* How the service of config stands, by its folder, whether it runs or not (owned).
 * DEMUR_ERROR_NOT_FOUND where there is no such folder to look at. */
DemurServeStatus *demur_task_serve_status(const DemurServeConfig *config,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_serve_status_free(DemurServeStatus *status);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurServeStatus, demur_serve_status_free)

G_END_DECLS
