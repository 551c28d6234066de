#include "app/workstation/settings.h"

#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"

#define GROUP "workstation"

static int
get_size(GKeyFile *file, const char *key, int standard) {
  const int value = g_key_file_get_integer(file, GROUP, key, NULL);
  return value >= 640 && value <= 16384 ? value : standard;
}

DemurSettings *
demur_settings_load(void) {
  DemurSettings *settings = g_new0(DemurSettings, 1);
  settings->path = g_build_filename(g_get_user_config_dir(), "demur", "workstation.ini", NULL);
  g_autoptr(GKeyFile) file = g_key_file_new();
  /* An absent or broken file leaves the key file empty. */
  gsize n;
  g_autofree char *text =
      demur_file_input_read(settings->path, DEMUR_LIMIT_SETTINGS_BYTES, &n, NULL);
  if (text == NULL || !g_key_file_load_from_data(file, text, n, G_KEY_FILE_NONE, NULL))
    g_debug("no settings at %s", settings->path);
  settings->theme = g_key_file_get_string(file, GROUP, "theme", NULL);
  if (settings->theme == NULL)
    settings->theme = g_strdup("dark");
  settings->workspace = g_key_file_get_string(file, GROUP, "workspace", NULL);
  settings->viewer = g_key_file_get_string(file, GROUP, "viewer", NULL);
  settings->width = get_size(file, "width", 1440);
  settings->height = get_size(file, "height", 900);
  settings->hide_names = g_key_file_get_boolean(file, GROUP, "hide-names", NULL);
  settings->maximized = g_key_file_get_boolean(file, GROUP, "maximized", NULL);
  return settings;
}

void
demur_settings_save(const DemurSettings *settings) {
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_key_file_set_string(file, GROUP, "theme", settings->theme);
  if (settings->workspace != NULL)
    g_key_file_set_string(file, GROUP, "workspace", settings->workspace);
  if (settings->viewer != NULL)
    g_key_file_set_string(file, GROUP, "viewer", settings->viewer);
  g_key_file_set_integer(file, GROUP, "width", settings->width);
  g_key_file_set_integer(file, GROUP, "height", settings->height);
  g_key_file_set_boolean(file, GROUP, "hide-names", settings->hide_names);
  g_key_file_set_boolean(file, GROUP, "maximized", settings->maximized);
  g_autofree char *folder = g_path_get_dirname(settings->path);
  g_autofree char *text = g_key_file_to_data(file, NULL, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_folder_make(folder, &error) ||
      !demur_file_write(settings->path, text, -1, DEMUR_FILE_REPLACE, &error))
    g_message("settings can't be kept in %s", settings->path);
}

void
demur_settings_free(DemurSettings *settings) {
  if (settings == NULL)
    return;
  g_free(settings->theme);
  g_free(settings->workspace);
  g_free(settings->viewer);
  g_free(settings->path);
  g_free(settings);
}
