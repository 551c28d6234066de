/* demur train SELECTOR --cohort C: Algorithm 1. */
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/replace-options.h"
#include "app/cli/shard-options.h"
#include "base/error.h"
#include "tasks/horizons.h"
#include "tasks/names.h"

static gboolean
on_number(const char *option, const char *value, gpointer data, GError **error) {
  DemurTrainSettings *settings = data;
  g_autofree char *name = g_strdup(option + strspn(option, "-"));
  g_strdelimit(name, "-", '_');
  const gssize i = demur_train_settings_find_number(name);
  g_return_val_if_fail(i >= 0, FALSE);
  settings->scoring_explicit = TRUE;
  return demur_train_settings_set_number(settings, (size_t)i, value, error);
}

static gboolean
on_method(const char *option, const char *value, gpointer data, GError **error) {
  return demur_train_settings_set_scoring(data, value, error);
}

static gboolean
on_resample(const char *option, const char *value, gpointer data, GError **error) {
  return demur_train_settings_set_resample(data, value, error);
}

static gboolean
on_target(const char *option, const char *value, gpointer data, GError **error) {
  return demur_train_settings_set_target(data, value, error);
}

static gboolean
on_stopping(const char *option, const char *value, gpointer data, GError **error) {
  return demur_train_settings_set_stopping(data, value, error);
}

static gboolean
on_recalibrate(const char *option, const char *value, gpointer data, GError **error) {
  return demur_recalibration_from_name(value, &((DemurTrainSettings *)data)->recalibrate, error);
}

static gboolean
on_features(const char *option, const char *value, gpointer data, GError **error) {
  return demur_train_settings_set_features(data, value, error);
}

/* What the search looked at; nothing where there was none. */
static void
write_search(const DemurSearch *search, DemurJson *json) {
  if (search == NULL) {
    demur_json_null(json, "search");
    return;
  }
  demur_json_begin_array(json, "search");
  for (size_t t = 0; t < search->n_trials; t++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "settings", search->trials[t].text);
    demur_json_double(json, "sbce2_auc", search->trials[t].sbce2_auc);
    demur_json_bool(json, "chosen", t == search->best);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
print_search(const DemurSearch *search) {
  for (size_t t = 0; search != NULL && t < search->n_trials; t++)
    g_print("  %-40s calibration error over coverage at sites left out %.5f%s\n",
            search->trials[t].text, search->trials[t].sbce2_auc,
            t == search->best ? "  chosen" : "");
}

/* The losses of every epoch, with what it reached on the validation scans where there are any. */
static void
print_networks(const DemurSelector *selector, const DemurTrainingLog *log) {
  const size_t n = log->n_models * log->n_average;
  if (n == 0)
    return;
  const gboolean validated = demur_selector_part_of(selector, DEMUR_PART_VALIDATION) != NULL;
  g_print("  target %s, %zu network%s averaged, stopping %s\n",
          demur_target_name(demur_selector_settings(selector)->target), log->n_average,
          demur_cli_s(log->n_average),
          demur_stopping_name(demur_selector_settings(selector)->stopping));
  for (size_t m = 0; m < n; m++) {
    const DemurTrainerResult *network = log->networks[m];
    if (n > 1)
      g_print("Model %zu, network %zu\n", m / log->n_average + 1, m % log->n_average + 1);
    g_print(validated
                ? "  epoch      loss   mean AUC  worst AUC   (S-BCE_2 over coverage, validation)\n"
                : "  epoch      loss\n");
    for (size_t i = 0; i < network->n_history; i++) {
      const DemurTrainerEpoch *epoch = &network->history[i];
      if (i == 0)
        g_print("  %5d         -", 0);
      else
        g_print("  %5" G_GINT64_FORMAT "  %8.5f", epoch->epoch, epoch->loss);
      if (validated)
        g_print("  %9.5f  %9.5f", epoch->mean_auc, epoch->worst_auc);
      g_print("%s\n", network->best_epoch == epoch->epoch ? "  kept" : "");
    }
  }
}

/* Members into an open object. */
static void
write_result(const char *name, const DemurTrained *trained, gint64 n_updates, DemurJson *json) {
  const DemurSelector *selector = trained->selector;
  const DemurTrainingLog *log = trained->log;
  demur_json_string(json, "selector", name);
  demur_json_int(json, "seed", (gint64)demur_selector_seed(selector));
  demur_json_bool(json, "simulated", demur_selector_is_simulated(selector));
  demur_train_settings_write_json(demur_selector_settings(selector), json, "settings");
  demur_json_double(json, "seconds", trained->seconds);
  demur_json_int(json, "updates", n_updates);
  if (log->n_average > 0)
    demur_json_int(json, "best_epoch", log->networks[0]->best_epoch);
  else
    demur_json_null(json, "best_epoch");
  demur_json_string(json, "method",
                    demur_scoring_row(demur_selector_settings(selector)->scoring)->name);
  demur_json_string(json, "method_chosen",
                    trained->fallback != NULL ? trained->fallback->note : NULL);
  demur_json_string(json, "digest", demur_selector_digest(selector));
  demur_json_string(json, "validation", log->validation_note);
  demur_json_string(json, "recalibration", log->recalibration_note);
  demur_command_write_warnings(json, trained->warnings);
  demur_json_begin_array(json, "parts");
  for (size_t p = 0; p < demur_selector_n_parts(selector); p++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "role", demur_part_role_name(demur_selector_part(selector, p)->role));
    demur_json_string(json, "split", demur_selector_part(selector, p)->split);
    demur_json_int(json, "n_scans", (gint64)demur_selector_part(selector, p)->n_scans);
    demur_json_int(json, "n_patients", (gint64)demur_selector_part(selector, p)->n_patients);
    demur_json_int(json, "n_sites", (gint64)demur_selector_part(selector, p)->n_sites);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_training_log_write_json(log, json);
  write_search(trained->search, json);
}

static gint64
count_updates(const DemurTrainingLog *log) {
  gint64 n_updates = 0;
  for (size_t i = 0; i < log->n_models * log->n_average; i++)
    n_updates += log->networks[i]->n_updates;
  return n_updates;
}

static void
print_text(const char *name, const DemurTrained *trained) {
  const DemurSelector *selector = trained->selector;
  const DemurTrainingLog *log = trained->log;
  const gint64 n_updates = count_updates(log);
  g_print("Selector '%s'%s, seed %" G_GUINT64_FORMAT ", %" G_GINT64_FORMAT " updates in %.1f s\n",
          name, demur_selector_is_simulated(selector) ? " (simulated data)" : "",
          demur_selector_seed(selector), n_updates, trained->seconds);
  for (size_t p = 0; p < demur_selector_n_parts(selector); p++)
    g_print("  %-11s %zu scan%s of %zu patient%s at %zu site%s (%s)\n",
            demur_part_role_name(demur_selector_part(selector, p)->role),
            demur_selector_part(selector, p)->n_scans,
            demur_cli_s(demur_selector_part(selector, p)->n_scans),
            demur_selector_part(selector, p)->n_patients,
            demur_cli_s(demur_selector_part(selector, p)->n_patients),
            demur_selector_part(selector, p)->n_sites,
            demur_cli_s(demur_selector_part(selector, p)->n_sites),
            demur_selector_part(selector, p)->split);
  g_print("  %s\n", log->validation_note);
  print_search(trained->search);
  g_print("  %s\n", log->recalibration_note);
  if (trained->fallback != NULL)
    g_print("  %s\n", trained->fallback->note);
  else if (demur_selector_settings(selector)->scoring == DEMUR_SCORING_NETWORK)
    g_print("  it scores by networks\n");
  else
    g_print("  it scores by %s\n",
            demur_scoring_row(demur_selector_settings(selector)->scoring)->title);
  print_networks(selector, log);
  demur_command_print_warnings(trained->warnings);
  g_print("  digest %s\nNext: demur tune %s --cohort %s --coverage 0.9\n",
          demur_selector_digest(selector), name, demur_selector_cohort(selector));
}

static void
print_result(DemurContext *context, const char *name, const DemurTrained *trained) {
  if (!context->json) {
    print_text(name, trained);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  write_result(name, trained, count_updates(trained->log), json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* One selector a horizon. */
static gboolean
train_horizons(DemurContext *context, const DemurTrainParams *params, const char *text,
               GError **error) {
  DemurHorizons horizons;
  if (!demur_horizons_parse(text, &horizons, error))
    return FALSE;
  DemurTrained trained[DEMUR_N_YEARS] = {0};
  const gboolean ok = demur_task_train_horizons(&context->task, params, &horizons, trained, error);
  DemurJson *json = ok && context->json ? demur_json_new() : NULL;
  if (json != NULL) {
    demur_json_begin_object(json, NULL);
    demur_json_begin_array(json, "horizons");
  }
  for (size_t h = 0; ok && h < horizons.n; h++) {
    g_autofree char *name = demur_horizon_selector(params->selector, horizons.years[h]);
    if (json != NULL) {
      demur_json_begin_object(json, NULL);
      demur_json_int(json, "years", horizons.years[h]);
      write_result(name, &trained[h], count_updates(trained[h].log), json);
      demur_json_end_object(json);
    } else {
      print_text(name, &trained[h]);
    }
  }
  if (json != NULL) {
    demur_json_end_array(json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  }
  for (size_t h = 0; h < horizons.n; h++)
    demur_trained_clear(&trained[h]);
  return ok;
}

/* An option a number of the settings. Returns the texts that the entries point to. */
static GPtrArray *
add_numbers(GArray *entries) {
  GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; demur_train_settings_number_name(i) != NULL; i++) {
    char *name = g_strdup(demur_train_settings_number_name(i));
    g_strdelimit(name, "_", '-');
    const double standard = demur_train_settings_number_default(i),
                 published = demur_train_settings_number_published(i);
    char *help = standard == published
                     ? g_strdup_printf("%s (%g)", demur_train_settings_number_help(i), standard)
                     : g_strdup_printf("%s (%g; published %g)", demur_train_settings_number_help(i),
                                       standard, published);
    g_ptr_array_add(texts, name);
    g_ptr_array_add(texts, help);
    const GOptionEntry entry = {name, 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_number, help, "X"};
    g_array_append_val(entries, entry);
  }
  return texts;
}

/* An error of a task, with the option that the name which is taken asks for. Takes local. */
static void
tell(GError *local, GError **error) {
  if (!g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_EXISTS)) {
    g_propagate_error(error, local);
    return;
  }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS, "%s (--replace)", local->message);
  g_error_free(local);
}

static gboolean
make_part(DemurContext *context, const DemurTrainParams *params, const DemurShardOptions *options,
          GError **error) {
  demur_context_take_stdout(options->part);
  g_autoptr(GError) local = NULL;
  const gboolean made =
      params->grid != NULL
          ? demur_task_search_part(&context->task, params, &options->shard, options->part, &local)
          : demur_task_train_part(&context->task, params, &options->shard, options->part, &local);
  if (!made) {
    tell(g_steal_pointer(&local), error);
    return FALSE;
  }
  demur_shard_options_print(context, options, params->selector);
  return TRUE;
}

static gboolean
make(DemurContext *context, const DemurTrainParams *params, GError **error) {
  g_auto(DemurTrained) trained = {0};
  g_autoptr(GError) local = NULL;
  if (!demur_task_train(&context->task, params, &trained, &local)) {
    if (g_error_matches(local, G_IO_ERROR, G_IO_ERROR_CANCELLED) && trained.n_kept_updates >= 0 &&
        !context->quiet)
      g_printerr("demur: kept after %" G_GINT64_FORMAT
                 " updates; the same command with --resume goes on from there\n",
                 trained.n_kept_updates);
    tell(g_steal_pointer(&local), error);
    return FALSE;
  }
  print_result(context, params->selector, &trained);
  return TRUE;
}

/* What may be replaced, which a shard is told too: it says at once what its merge would refuse. What
 * parts and merges have no use for is refused. */
static gboolean
settle_replacing(gboolean replace, gboolean force, gboolean resume,
                 const DemurShardOptions *options, DemurSelectorReplace *may, GError **error) {
  const DemurOptionGiven of_one = {"--resume", resume};
  return demur_cli_may_replace(replace, force, may, error) &&
         (!options->merge || demur_command_refuse_beside("--merge", &of_one, 1, error)) &&
         (options->part == NULL || demur_command_refuse_beside("--part", &of_one, 1, error));
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *cohort_name = NULL;
  g_autofree char *grid = NULL, *horizons = NULL;
  gboolean as_published = FALSE, replace = FALSE, force = FALSE, search = FALSE, resume = FALSE;
  /* An explicit option beats --as-published in any order: so that one is looked at first. */
  g_autoptr(DemurTrainSettings) settings =
      g_strv_contains((const char *const *)argv, "--as-published")
          ? demur_train_settings_new_published()
          : demur_train_settings_new();
  g_auto(GStrv) arguments = NULL;
  g_auto(DemurShardOptions) options = {0};
  g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
  const GOptionEntry fixed[] = {
      {"cohort", 'c', 0, G_OPTION_ARG_STRING, &cohort_name, "cohort to train on", "C"},
      {"as-published", 0, 0, G_OPTION_ARG_NONE, &as_published,
       "every setting as in the paper; an explicit option beats it", NULL},
      {"method", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_method,
       "what it scores by: auto, network, confidence, entropy, knn, kde, ocsvm, iforest, lof or mc "
       "(auto: networks only where leaving sites out shows that they help, or where one of their "
       "settings is given; else mc or confidence)",
       "METHOD"},
      {"search", 0, 0, G_OPTION_ARG_NONE, &search,
       "choose the settings of the grid by leaving whole sites out first", NULL},
      {"search-grid", 0, 0, G_OPTION_ARG_STRING, &grid, "what is searched (" DEMUR_SEARCH_GRID ")",
       "GRID"},
      DEMUR_SHARD_ENTRIES(options),
      {"horizons", 0, 0, G_OPTION_ARG_STRING, &horizons,
       "one selector a horizon, SELECTOR-1y to SELECTOR-6y, of the risks within so many years (1-6, "
       "or 1,3,6); risks as given",
       "YEARS"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace a selector of that name", NULL},
      {"force", 0, 0, G_OPTION_ARG_NONE, &force,
       "with --replace: even where it has thresholds, site audits or acceptance tests, which end",
       NULL},
      {"resume", 0, 0, G_OPTION_ARG_NONE, &resume,
       "go on with the interrupted training of that name, with the same options", NULL},
      {"split", 0, 0, G_OPTION_ARG_STRING, &settings->split, "scans that train (selector_train)",
       "SPLIT"},
      {"reference-split", 0, 0, G_OPTION_ARG_STRING, &settings->reference_split,
       "reference of the outlier features (base_train if there is one, else the training split)",
       "SPLIT"},
      {"validation-split", 0, 0, G_OPTION_ARG_STRING, &settings->validation_split,
       "scans that choose the epoch (validation if there is one, else, with stopping worst-case, "
       "whole sites drawn by the seed)",
       "SPLIT"},
      {"resample", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_resample,
       "family of perturbations: site, attribute:NAME, none, example, outside (site)", "T"},
      {"features", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_features,
       "groups of meta features (confidence,class,outlier,corrector, the last with the denoised "
       "target); acquisition adds how a scan was made",
       "LIST"},
      {"target", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_target,
       "what the loss takes for a scan's error: denoised or paper (denoised; K > 2: paper)", "T"},
      {"stopping", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_stopping,
       "flat: end when the loss is flat, keep the last; worst-case: keep the best epoch (flat)",
       "RULE"},
      {"recalibrate", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)on_recalibrate,
       "none, auto, intercept, temperature, platt, isotonic or corrector (auto)", "KIND"},
      {"recalibration-split", 0, 0, G_OPTION_ARG_STRING, &settings->recalibration_split,
       "scans that recalibrate (the training split, out of fold by site)", "SPLIT"},
  };
  g_array_append_vals(entries, fixed, G_N_ELEMENTS(fixed));
  g_autoptr(GPtrArray) texts = add_numbers(entries);
  if (!demur_command_parse_group(context, argc, argv, (const GOptionEntry *)(gpointer)entries->data,
                                 settings, &arguments, error) ||
      !demur_shard_options_check(&options, arguments, 1, "train takes the name of the new selector",
                                 error) ||
      !demur_task_check_name("selector", arguments[0], error))
    return FALSE;
  DemurSelectorReplace may_replace;
  if (!settle_replacing(replace, force, resume, &options, &may_replace, error))
    return FALSE;
  if (cohort_name == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "train needs --cohort C; `demur cohort list` shows them");
    return FALSE;
  }
  const DemurTrainParams params = {.selector = arguments[0],
                                   .cohort = cohort_name,
                                   .settings = settings,
                                   .grid = grid != NULL ? grid
                                           : search     ? DEMUR_SEARCH_GRID
                                                        : NULL,
                                   .parts = options.parts,
                                   .replace = may_replace,
                                   .resume = resume ? DEMUR_RESUME_KEPT : DEMUR_RESUME_NO};
  if (horizons != NULL && (options.part != NULL || options.merge)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "shards are of one selector: give them no --horizons");
    return FALSE;
  }
  if (horizons != NULL)
    return train_horizons(context, &params, horizons, error);
  return options.part != NULL ? make_part(context, &params, &options, error)
                              : make(context, &params, error);
}

const DemurCommand demur_command_train = {.name = "train",
                                          .parameters = "SELECTOR --cohort C [FILE…]",
                                          .summary = "train a selector by Algorithm 1",
                                          .description = "What stands in brackets is the default.",
                                          .run = run};
