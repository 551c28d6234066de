#include "app/cli/language.h"

#include <string.h>

#include "base/catalog.h"
#include "base/error.h"

static DemurCatalog *catalog;
static char *catalog_code;

static const char *
translate(const char *text) {
  return demur_catalog_find(catalog, text);
}

/* Letters, and a country behind them: a code is no path. */
static gboolean
is_code(const char *code) {
  return *code != '\0' && strlen(code) <= 16 &&
         strspn(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_@") == strlen(code);
}

const DemurLanguage *
demur_cli_language(const char *code, GError **error) {
  static DemurLanguage language = {.translate = translate};
  if (code == NULL || g_str_equal(code, "en"))
    return NULL;
  const char *folder = g_getenv("DEMUR_LOCALEDIR");
  g_autofree char *path = g_build_filename(folder != NULL ? folder : DEMUR_LOCALE_DIR, code,
                                           "LC_MESSAGES", "demur.mo", NULL);
  if (catalog == NULL && is_code(code)) {
    g_autoptr(GError) local = NULL;
    catalog = demur_catalog_open(path, &local);
    if (catalog == NULL && g_file_test(path, G_FILE_TEST_EXISTS)) {
      g_propagate_error(error, g_steal_pointer(&local));
      return NULL;
    }
    catalog_code = catalog != NULL ? g_strdup(code) : NULL;
    language.code = catalog_code;
  }
  if (catalog != NULL && g_str_equal(code, catalog_code))
    return &language;
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no translation into '%s' (%s)", code,
                  path);
  return NULL;
}
