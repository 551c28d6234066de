/* demur-workstation [--workspace FILE] [--screenshot PAGE FILE.png] */
#include <locale.h>
#include <string.h>

#include "app/workstation/application.h"
#include "base/program.h"
#include "ui/words.h"

int
main(int argc, char **argv) {
  demur_program_begin("demur-workstation");
  setlocale(LC_ALL, "");
  /* Numbers are written by one rule (demur_words_numbers), and those of reports by none of the
   * reader's: GTK must not bring the locale's back. */
  setlocale(LC_NUMERIC, "C");
  gtk_disable_setlocale();
  bindtextdomain(DEMUR_UI_DOMAIN, g_getenv("DEMUR_LOCALEDIR") != NULL ? g_getenv("DEMUR_LOCALEDIR")
                                                                      : DEMUR_LOCALE_DIR);
  bind_textdomain_codeset(DEMUR_UI_DOMAIN, "UTF-8");
  textdomain(DEMUR_UI_DOMAIN);
  demur_words_numbers(TRUE);
  gboolean picture = FALSE;
  for (int i = 1; i < argc; i++)
    picture |= strcmp(argv[i], "--screenshot") == 0 || strcmp(argv[i], "--check-layout") == 0;
  if (picture) {
    /* Drawn by the processor, by anyone, anywhere: the same picture without a graphics card, an
     * accessibility bus or a session. */
    g_setenv("GSK_RENDERER", "cairo", FALSE);
    g_setenv("GTK_A11Y", "none", FALSE);
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
  }
  g_autoptr(DemurApplication) application = demur_application_new(picture);
  const int status = g_application_run(G_APPLICATION(application), argc, argv);
  return status != 0 ? status : demur_application_status(application);
}
