/* demur selector list / show / export / import / remove. */
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/replace-options.h"
#include "base/error.h"
#include "selector/federated.h"

#include <math.h>
#include "tasks/selectors.h"
#include "words/federated-words.h"

/* What was done with a file, as the one document of --json. */
static void
print_file_done(DemurContext *context, const char *what, const char *name,
                const DemurSelectorBundle *bundle, const char *file) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, what, name);
  demur_json_string(json, "digest", bundle->digest);
  demur_json_bool(json, "simulated", demur_selector_bundle_is_simulated(bundle));
  demur_json_string(json, "file", file);
  if (bundle->family != NULL) {
    demur_json_string(json, "family", bundle->family);
    demur_json_begin_array(json, "horizons");
    for (size_t i = 0; i < bundle->n; i++) {
      g_autofree char *member = demur_horizon_selector(name, bundle->years[i]);
      demur_json_begin_object(json, NULL);
      demur_json_int(json, "years", bundle->years[i]);
      demur_json_string(json, "selector", member);
      demur_json_string(json, "digest", demur_selector_digest(bundle->members[i]));
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* "1, 2, 6": the horizons of a family. */
static void
print_years(const int *years, size_t n) {
  for (size_t h = 0; h < n; h++)
    g_print("%s%d", h > 0 ? ", " : "", years[h]);
}

static gboolean
run_list(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error) ||
      !demur_command_expect(arguments, 0, "selector list takes no words", error))
    return FALSE;
  g_autoptr(GPtrArray) selectors = demur_task_selectors(&context->task, error);
  if (selectors == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "selectors");
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorFacts *s = selectors->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", s->name);
    demur_json_string(json, "cohort", s->cohort);
    demur_json_string(json, "model", s->model);
    demur_json_string(json, "digest", s->digest);
    demur_json_bool(json, "simulated", s->simulated);
    demur_json_string(json, "created", s->created);
    demur_json_string(json, "family", s->family);
    demur_json_double(json, "horizon_years",
                      s->horizon_years > 0.0 ? s->horizon_years : (double)NAN);
    demur_json_begin_array(json, "coverages");
    for (guint t = 0; t < s->thresholds->len; t++)
      demur_json_double(json, NULL, ((DemurSelectorThreshold *)s->thresholds->pdata[t])->coverage);
    demur_json_end_array(json);
    demur_json_end_object(json);
    if (!context->json)
      g_print("%-20s model %s, trained on '%s'%s, %u thresholds, digest %.12s\n", s->name, s->model,
              s->cohort, s->simulated ? " (simulated data)" : "", s->thresholds->len, s->digest);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_end_json(context, json);
  if (!context->json && selectors->len == 0)
    g_print("There is no selector yet: demur train NAME --cohort C\n");
  return TRUE;
}

/* Members into an open object. */
static void
write_facts(const DemurSelectorFacts *facts, DemurJson *json) {
  const DemurSelector *s = facts->selector;
  demur_json_string(json, "name", facts->name);
  demur_json_string(json, "digest", demur_selector_digest(s));
  demur_json_bool(json, "simulated", demur_selector_is_simulated(s));
  demur_json_string(json, "model", demur_selector_model(s));
  const double years = demur_selector_horizon_years(s);
  demur_json_double(json, "horizon_years", years > 0.0 ? years : (double)NAN);
  demur_json_int(json, "n_classes", (gint64)demur_selector_n_classes(s));
  demur_json_int(json, "embedding_width", (gint64)demur_selector_embedding_width(s));
  demur_json_int(json, "seed", (gint64)demur_selector_seed(s));
  demur_json_string(json, "cohort", demur_selector_cohort(s));
  demur_json_string(json, "cohort_digest", demur_selector_cohort_digest(s));
  demur_json_string(json, "created", facts->created);
  demur_train_settings_write_json(demur_selector_settings(s), json, "settings");
  demur_json_begin_array(json, "parts");
  for (size_t p = 0; p < demur_selector_n_parts(s); p++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "role", demur_part_role_name(demur_selector_part(s, p)->role));
    demur_json_string(json, "split", demur_selector_part(s, p)->split);
    demur_json_int(json, "n_scans", (gint64)demur_selector_part(s, p)->n_scans);
    demur_json_int(json, "n_patients", (gint64)demur_selector_part(s, p)->n_patients);
    demur_json_int(json, "n_sites", (gint64)demur_selector_part(s, p)->n_sites);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "meta_features");
  for (size_t c = 0; c < demur_selector_n_inputs(s); c++)
    demur_json_string(json, NULL, demur_selector_input_name(s, c));
  demur_json_end_array(json);
  demur_json_int(json, "models", (gint64)demur_selector_n_models(s));
  demur_json_begin_array(json, "kept_epochs");
  for (size_t m = 0; m < demur_selector_n_models(s); m++)
    for (size_t i = 0; i < demur_selector_n_networks(s); i++)
      demur_json_int(json, NULL, demur_selector_epoch(s, m, i));
  demur_json_end_array(json);
  if (demur_selector_recalibration(s) != NULL)
    demur_recalibration_write_json(demur_selector_recalibration(s), json, "recalibration");
  else
    demur_json_null(json, "recalibration");
  demur_selector_write_federated(s, json);
  demur_json_string(json, "validation", facts->validation);
  demur_json_begin_array(json, "thresholds");
  for (guint t = 0; t < facts->thresholds->len; t++) {
    const DemurSelectorThreshold *threshold = facts->thresholds->pdata[t];
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "coverage", threshold->coverage);
    demur_json_double(json, "threshold", threshold->threshold);
    demur_json_double(json, "realised", threshold->realised);
    demur_json_int(json, "n_scans", (gint64)threshold->n_scans);
    demur_json_int(json, "n_patients", (gint64)threshold->n_patients);
    demur_json_string(json, "cohort", threshold->cohort);
    demur_json_string(json, "split", threshold->split);
    demur_json_string(json, "guarantee", threshold->guarantee);
    demur_json_string(json, "created", threshold->created);
    demur_json_bool(json, "current", threshold->current);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
show_json(DemurContext *context, const char *name, const GPtrArray *all,
          const DemurHorizons *horizons) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  if (horizons->n == 0)
    write_facts(all->pdata[0], json);
  else {
    demur_json_string(json, "name", name);
    demur_json_begin_array(json, "horizons");
    for (guint h = 0; h < all->len; h++) {
      const DemurSelectorFacts *facts = all->pdata[h];
      demur_json_begin_object(json, NULL);
      demur_json_int(json, "years", horizons->years[h]);
      demur_json_string(json, "family", facts->family);
      write_facts(facts, json);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* What is common to all of a family, then a line or two a horizon. */
static void
show_family(const char *name, const GPtrArray *all, const DemurHorizons *horizons) {
  const DemurSelectorFacts *first = all->pdata[0];
  g_print("Family '%s'%s: risks within ", name, first->simulated ? " (simulated data)" : "");
  print_years(horizons->years, horizons->n);
  g_print(
      " years, shown together or not at all\n  model %s, trained on cohort '%s' as family '%s'\n",
      first->model, first->cohort, first->family);
  for (guint h = 0; h < all->len; h++) {
    const DemurSelectorFacts *facts = all->pdata[h];
    const guint n = facts->thresholds->len;
    const DemurSelectorThreshold *current = n > 0 ? facts->thresholds->pdata[n - 1] : NULL;
    g_print("  within %d year%s  %-16s digest %.12s, ", horizons->years[h],
            demur_cli_s((size_t)horizons->years[h]), facts->name, facts->digest);
    if (current == NULL)
      g_print("not tuned\n");
    else
      g_print("coverage %g: threshold %.6f, realised %.4f on '%s' of '%s'\n", current->coverage,
              current->threshold, current->realised, current->split, current->cohort);
    demur_command_print_warnings(facts->warnings);
  }
  g_print("`demur selector show %s` says all of one horizon.\n", first->name);
}

static void
show_one(const DemurSelectorFacts *facts) {
  const DemurSelector *s = facts->selector;
  g_autofree char *resample = demur_train_settings_resample_text(demur_selector_settings(s));
  g_autofree char *features = demur_train_settings_features_text(demur_selector_settings(s));
  g_print("Selector '%s'%s\n  model %s, %zu classes, embedding width %zu, seed %" G_GUINT64_FORMAT
          ", %s\n  trained on cohort '%s', %s\n",
          facts->name, demur_selector_is_simulated(s) ? " (simulated data)" : "",
          demur_selector_model(s), demur_selector_n_classes(s), demur_selector_embedding_width(s),
          demur_selector_seed(s),
          demur_selector_settings(s)->as_published ? "as published" : "not the published settings",
          demur_selector_cohort(s), facts->created);
  for (size_t p = 0; p < demur_selector_n_parts(s); p++)
    g_print("  %-11s %zu scan%s of %zu patient%s at %zu site%s (%s)\n",
            demur_part_role_name(demur_selector_part(s, p)->role),
            demur_selector_part(s, p)->n_scans, demur_cli_s(demur_selector_part(s, p)->n_scans),
            demur_selector_part(s, p)->n_patients,
            demur_cli_s(demur_selector_part(s, p)->n_patients), demur_selector_part(s, p)->n_sites,
            demur_cli_s(demur_selector_part(s, p)->n_sites), demur_selector_part(s, p)->split);
  g_print("  resample %s, features %s, %zu model%s, kept epochs", resample, features,
          demur_selector_n_models(s), demur_cli_s(demur_selector_n_models(s)));
  for (size_t m = 0; m < demur_selector_n_models(s); m++)
    for (size_t i = 0; i < demur_selector_n_networks(s); i++)
      g_print(" %" G_GINT64_FORMAT, demur_selector_epoch(s, m, i));
  g_print("\n");
  demur_command_print_warnings(facts->warnings);
  for (guint t = 0; t < facts->thresholds->len; t++) {
    const DemurSelectorThreshold *threshold = facts->thresholds->pdata[t];
    g_print("  coverage %-6g threshold %.6f, realised %.4f on '%s' of '%s'%s\n    %s\n",
            threshold->coverage, threshold->threshold, threshold->realised, threshold->split,
            threshold->cohort, threshold->current ? " (current)" : "",
            threshold->guarantee != NULL ? threshold->guarantee : "");
  }
  g_autofree char *federated = demur_words_federated(s, NULL);
  if (federated != NULL)
    g_print("  %s\n", federated);
  g_print("  %s\n  digest %s\n", facts->validation, demur_selector_digest(s));
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error) ||
      !demur_command_expect(arguments, 1, "selector show takes the name of one selector", error))
    return FALSE;
  DemurHorizons horizons;
  g_autoptr(GPtrArray) all =
      demur_task_selector_show(&context->task, arguments[0], &horizons, error);
  if (all == NULL)
    return FALSE;
  if (context->json)
    show_json(context, arguments[0], all, &horizons);
  else if (horizons.n > 0)
    show_family(arguments[0], all, &horizons);
  else
    show_one(all->pdata[0]);
  return TRUE;
}

static gboolean
run_export(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean with_reference = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"with-reference", 0, 0, G_OPTION_ARG_NONE, &with_reference,
       "with the reference embeddings and the training scans' risks, labels and sites", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "selector export takes SELECTOR FILE", error))
    return FALSE;
  demur_context_take_stdout(arguments[1]);
  g_auto(DemurSelectorBundle) written = {0};
  if (!demur_task_selector_export(
          &context->task, arguments[0], arguments[1],
          with_reference ? DEMUR_RELEASE_REFERENCE : DEMUR_RELEASE_PROTOTYPES, &written, error))
    return FALSE;
  if (context->json) {
    print_file_done(context, "exported", arguments[0], &written, arguments[1]);
    return TRUE;
  }
  g_print("%s '%s' written", written.family != NULL ? "Family" : "Selector", arguments[0]);
  if (written.family != NULL) {
    g_print(", its selectors within ");
    print_years(written.years, written.n);
    g_print(" years in one file");
  }
  g_print(", digest %s; %s\n", written.digest,
          with_reference
              ? "WITH ITS REFERENCE: embeddings, risks, labels and sites of single scans "
                "are in the file"
              : "prototypes stand in place of its scans");
  return TRUE;
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean replace = FALSE, force = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace a selector of that name", NULL},
      {"force", 0, 0, G_OPTION_ARG_NONE, &force,
       "with --replace: even where it has thresholds, site audits or acceptance tests, which end",
       NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "selector import takes SELECTOR FILE", error))
    return FALSE;
  DemurSelectorReplace may;
  if (!demur_cli_may_replace(replace, force, &may, error))
    return FALSE;
  g_auto(DemurSelectorBundle) read = {0};
  if (!demur_task_selector_import(&context->task, arguments[0], arguments[1], may, &read, error))
    return FALSE;
  if (context->json) {
    print_file_done(context, "imported", arguments[0], &read, arguments[1]);
    return TRUE;
  }
  g_print("%s '%s' read", read.family != NULL ? "Family" : "Selector", arguments[0]);
  if (read.family != NULL) {
    g_print(", its selectors within ");
    print_years(read.years, read.n);
    g_print(" years");
  }
  g_print(", digest %s; it is not tuned yet\n", read.digest);
  return TRUE;
}

static gboolean
run_remove(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean force = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"force", 0, 0, G_OPTION_ARG_NONE, &force,
       "even where there are verdicts, site audits, acceptance tests or watches of it", NULL},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "selector remove takes the name of one selector", error))
    return FALSE;
  DemurHorizons horizons;
  if (!demur_task_selector_remove(&context->task, arguments[0], force, &horizons, error))
    return FALSE;
  g_auto(GStrv) names = demur_horizon_selectors(arguments[0], &horizons);
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "removed", arguments[0]);
    if (horizons.n > 0) {
      demur_json_begin_array(json, "selectors");
      for (char **name = names; *name != NULL; name++)
        demur_json_string(json, NULL, *name);
      demur_json_end_array(json);
    }
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else if (horizons.n > 0) {
    g_autofree char *all = g_strjoinv(", ", names);
    g_print("Family '%s' removed: its selectors %s and their thresholds\n", arguments[0], all);
  } else {
    g_print("Selector '%s' and its thresholds removed\n", arguments[0]);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand list[] = {
      {.name = "list",
       .parameters = "",
       .summary = "the selectors of the workspace",
       .run = run_list},
      {.name = "show",
       .parameters = "SELECTOR",
       .summary = "what a selector is and came from",
       .run = run_show},
      {.name = "export",
       .parameters = "SELECTOR FILE.json",
       .summary = "write a selector's file",
       .description = "The file gives up nothing of a person: reference and training scans "
                      "are prototypes, means "
                      "of at least 10 scans,\nand nothing tells who they were. It is a "
                      "selector of its own, to be "
                      "tuned where it goes; docs/selector-file.md says\nwhat it loses. A family's "
                      "name (train --horizons) writes all of its selectors into one file.",
       .run = run_export},
      {.name = "import",
       .parameters = "SELECTOR FILE.json",
       .summary = "read a selector's file",
       .run = run_import},
      {.name = "remove",
       .parameters = "SELECTOR",
       .summary = "remove a selector and its thresholds",
       .run = run_remove},
  };
  return demur_command_dispatch(context, list, G_N_ELEMENTS(list), argc, argv, error);
}

const DemurCommand demur_command_selector = {
    .name = "selector", .summary = "list, show, export or import selectors", .run = run};
