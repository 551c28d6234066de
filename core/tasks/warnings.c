#include "tasks/warnings.h"

static void
warning_free(gpointer data) {
  DemurTaskWarning *warning = data;
  g_free(warning->subject);
  g_free(warning);
}

GPtrArray *
demur_task_warnings_new(void) {
  return g_ptr_array_new_with_free_func(warning_free);
}

void
demur_task_warnings_add(GPtrArray *warnings, DemurTaskWarningKind kind, size_t n, size_t n_all,
                        const char *subject) {
  DemurTaskWarning *warning = g_new(DemurTaskWarning, 1);
  *warning = (DemurTaskWarning){kind, n, n_all, g_strdup(subject)};
  g_ptr_array_add(warnings, warning);
}

/* NULL stands for English. */
static const char *
say(DemurTaskTranslate translate, const char *text) {
  return translate != NULL ? translate(text) : text;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

char *
demur_task_warning_words(const DemurTaskWarning *warning, DemurTaskTranslate translate) {
  switch (warning->kind) {
  case DEMUR_TASK_WARNING_UNTRAINED:
    return g_strdup_printf(
        say(translate,
            warning->n == 1
                ? DEMUR_TASK_WORD(
                      "%zu of its %zu networks is as it was drawn, before any training: on the "
                      "validation scans no epoch's worst case was better (stopping worst-case). "
                      "What it would refuse is not learnt")
                : DEMUR_TASK_WORD(
                      "%zu of its %zu networks are as they were drawn, before any training: on the "
                      "validation scans no epoch's worst case was better (stopping worst-case). "
                      "What they would refuse is not learnt")),
        warning->n, warning->n_all);
  case DEMUR_TASK_WARNING_TUNED_ON_TEST:
    return g_strdup(
        say(translate, DEMUR_TASK_WORD("evaluate and report take split 'test' where none is named, "
                                       "and refuse a selector whose threshold was taken from it")));
  case DEMUR_TASK_WARNING_SEEN:
    return g_strdup_printf(
        say(translate,
            warning->n == 1
                ? DEMUR_TASK_WORD("%zu of these patients was used to train or validate the "
                                  "selector; tune on scans it has not seen")
                : DEMUR_TASK_WORD("%zu of these patients were used to train or validate the "
                                  "selector; tune on scans it has not seen")),
        warning->n);
  case DEMUR_TASK_WARNING_SITE_TRAINED:
    return g_strdup_printf(
        say(translate, DEMUR_TASK_WORD("scans of site '%s' helped to train the selector; an audit "
                                       "is meant for a new site")),
        warning->subject);
  case DEMUR_TASK_WARNING_NO_EMBEDDINGS:
    return g_strdup(
        say(translate, DEMUR_TASK_WORD("the cohort has no embeddings: kNN, KDE, one-class SVM, "
                                       "isolation forest and LOF are left out of the features")));
  case DEMUR_TASK_WARNING_FEDERATED:
    return g_strdup_printf(
        say(translate,
            DEMUR_TASK_WORD("its numbers come from sums of several sites (%s); the scans "
                            "that answered there are in-sample: tune and evaluate on "
                            "others")),
        warning->subject);
  case DEMUR_N_TASK_WARNINGS:
    break;
  }
  g_return_val_if_reached(g_strdup(""));
}

#pragma GCC diagnostic pop
