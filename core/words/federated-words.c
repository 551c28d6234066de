#include "words/federated-words.h"

static const char *const openings[DEMUR_N_FEDERATED_REACHES] = {
    [DEMUR_FEDERATED_RISKS] = N_("Its risks come from sums of several sites: "),
    [DEMUR_FEDERATED_SCORES] = N_("Its scores come from sums of several sites: "),
    [DEMUR_FEDERATED_UNUSED] = N_("Of several sites' sums, but not in use: "),
};

static const char *const studies[DEMUR_N_FEDERATED_PARTS] = {
    [DEMUR_FEDERATED_RECALIBRATION] = N_("recalibration of %s scans of %s (result %.12s)"),
    [DEMUR_FEDERATED_CORRECTOR] = N_("corrector of %s scans of %s (result %.12s)"),
    [DEMUR_FEDERATED_INTERCEPT] = N_("intercept of %s scans of %s (result %.12s)"),
};

static void
tell_reach(const DemurSelector *selector, DemurFederatedReach reach, DemurTranslate translate,
           GString *text) {
  size_t n = 0;
  for (size_t i = 0; i < demur_selector_n_federated(selector); i++) {
    if (demur_selector_federated_reach(selector, i) != reach)
      continue;
    const DemurFederatedOrigin origin = demur_selector_federated(selector, i);
    g_autofree char *sites = g_strjoinv(", ", (char **)origin.sites),
                    *scans = g_strdup_printf("%" G_GUINT64_FORMAT, origin.n_scans);
    if (n == 0)
      g_string_append_printf(text, "%s%s", text->len == 0 ? "" : " ",
                             demur_translate(translate, openings[reach]));
    else
      g_string_append(text, demur_translate(translate, N_("; then ")));
    g_string_append_printf(text, demur_format(translate, studies[origin.part]), scans, sites,
                           origin.result);
    n++;
  }
  if (n > 0)
    g_string_append_c(text, '.');
}

char *
demur_words_federated(const DemurSelector *selector, DemurTranslate translate) {
  if (demur_selector_n_federated(selector) == 0)
    return NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint reach = 0; reach < DEMUR_N_FEDERATED_REACHES; reach++)
    tell_reach(selector, (DemurFederatedReach)reach, translate, text);
  return g_string_free(g_steal_pointer(&text), FALSE);
}
