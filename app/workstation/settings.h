/* The user's settings and the window's state: one key file, USER_CONFIG_DIR/demur/workstation.ini.
 * A file that can't be read or written is no reason to stop: defaults stand. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  char *theme;     /* "dark", "light", "contrast" */
  char *workspace; /* last one open; NULL: the default */
  int width, height;
  gboolean maximized;
  gboolean hide_names; /* of patients, in the worklist */
  char *viewer;        /* command that opens a folder in another viewer; NULL: not set */
  char *path;          /* of the key file */
} DemurSettings;

DemurSettings *demur_settings_load(void);
void demur_settings_save(const DemurSettings *settings);
void demur_settings_free(DemurSettings *settings);

G_END_DECLS
