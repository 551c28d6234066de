/* A folder in which others put studies (files, folders, ZIP archives): images are taken over into the
 * service's own folder as if they had been received.
 *
 * What lies in it is taken once it has not changed for a while. Files that were taken are removed;
 * what is no image, or can't be read, stays and is told once. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"

G_BEGIN_DECLS

typedef struct DemurServeWatch DemurServeWatch;

typedef struct {
  /* An image of the study is in the service's folder; FALSE: it must be taken again. */
  gboolean (*arrived)(const char *study, gpointer data);
  void (*problem)(const char *sentence, gpointer data);
  gpointer data;
} DemurWatchTold;

DemurServeWatch *demur_serve_watch_new(void);
void demur_serve_watch_free(DemurServeWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurServeWatch, demur_serve_watch_free)

/* Looks at the folder, and takes what has been quiet for so long into FOLDER/STUDY/SERIES. To be
 * called again and again. now: seconds. */
void demur_serve_watch_look(DemurServeWatch *watch, const char *watched, guint quiet_seconds,
                            const char *folder, gint64 now, const DemurWatchTold *told);

G_END_DECLS
