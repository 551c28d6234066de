/* demur cohort import | simulate | list | show | export | attach | remove */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/file-output.h"
#include "base/json-writer.h"
#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/noticed.h"
#include "tasks/names.h"
#include "tasks/cohort-import.h"
#include "tasks/cohorts.h"

static void
write_counts(DemurJson *json, const DemurCohort *cohort, const DemurCohortCounts *d) {
  const gboolean binary = cohort->n_classes == 2;
  demur_json_int(json, "n_scans", (gint64)d->n_scans);
  demur_json_int(json, "n_patients", (gint64)d->n_patients);
  demur_json_int(json, "n_sites", (gint64)d->n_sites);
  demur_json_int(json, "n_unlabelled", (gint64)d->n_unlabelled);
  demur_json_double(json, binary ? "prevalence" : "accuracy", d->prevalence);
  demur_json_double(json, binary ? "mean_risk" : "mean_confidence", d->mean_risk);
}

static const char *
number(double value, char buffer[32]) {
  if (isnan(value))
    return "-";
  g_snprintf(buffer, 32, "%.4f", value);
  return buffer;
}

static void
write_nlst(DemurJson *json, const DemurNlstCounts *n) {
  demur_json_begin_object(json, "nlst");
  demur_json_int(json, "n_persons", (gint64)n->n_persons);
  demur_json_int(json, "n_screens", (gint64)n->n_screens);
  demur_json_int(json, "n_scores", (gint64)n->n_scores);
  demur_json_int(json, "n_matched", (gint64)n->n_matched);
  demur_json_int(json, "n_scores_without_person", (gint64)n->n_scores_without_person);
  demur_json_int(json, "n_scores_without_screen", (gint64)n->n_scores_without_screen);
  demur_json_int(json, "n_screens_without_score", (gint64)n->n_screens_without_score);
  demur_json_begin_array(json, "horizons");
  for (int h = 1; h <= DEMUR_N_YEARS; h++) {
    const DemurNlstCases *c = &n->cases[h - 1];
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "years", h);
    demur_json_int(json, "days", demur_nlst_horizon_days(h));
    demur_json_int(json, "cancer", (gint64)c->n_cancer);
    demur_json_int(json, "followed", (gint64)c->n_followed);
    demur_json_int(json, "cancer_later", (gint64)c->n_cancer_later);
    demur_json_int(json, "cancer_before_screen", (gint64)c->n_cancer_before);
    demur_json_int(json, "death", (gint64)c->n_death);
    demur_json_int(json, "censored", (gint64)c->n_censored);
    demur_json_int(json, "followup_unknown", (gint64)c->n_followup_unknown);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static void
print_nlst(const DemurNlstCounts *n) {
  g_print("  %zu person%s with %zu screen%s; %zu score%s, %zu matched, %zu without a person, %zu "
          "without their screen; %zu screen%s without a score\n",
          n->n_persons, demur_cli_s(n->n_persons), n->n_screens, demur_cli_s(n->n_screens),
          n->n_scores, demur_cli_s(n->n_scores), n->n_matched, n->n_scores_without_person,
          n->n_scores_without_screen, n->n_screens_without_score,
          demur_cli_s(n->n_screens_without_score));
  g_print("  %-8s %8s %9s %13s %14s %7s %9s %18s\n", "horizon", "cancer", "followed",
          "cancer later", "cancer before", "death", "censored", "follow-up unknown");
  for (int h = 1; h <= DEMUR_N_YEARS; h++) {
    const DemurNlstCases *c = &n->cases[h - 1];
    g_print("  %d year%s %8zu %9zu %13zu %14zu %7zu %9zu %18zu\n", h, h == 1 ? " " : "s",
            c->n_cancer, c->n_followed, c->n_cancer_later, c->n_cancer_before, c->n_death,
            c->n_censored, c->n_followup_unknown);
  }
}

/* The parts that import, simulate and show have in common. */
static void
print_cohort(DemurContext *context, const DemurCohortFacts *facts, gboolean with_attributes,
             const guint64 *seed, const DemurNlstCounts *nlst) {
  const DemurCohort *cohort = facts->cohort;
  const DemurCohortCounts *all = &facts->all, *splits = facts->splits;
  const gboolean binary = cohort->n_classes == 2;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", cohort->name);
    demur_json_string(json, "model", cohort->model);
    demur_json_string(json, "source", cohort->source);
    demur_json_bool(json, "simulated", cohort->simulated);
    demur_json_string(json, "created", cohort->created);
    demur_json_string(json, "outcome", cohort->outcome);
    demur_json_double(json, "horizon_years",
                      cohort->horizon_years > 0.0 ? cohort->horizon_years : (double)NAN);
    demur_json_string(json, "digest", facts->digest);
    if (seed != NULL)
      demur_json_int(json, "seed", (gint64)*seed);
    demur_json_int(json, "n_classes", (gint64)cohort->n_classes);
    demur_json_int(json, "embedding_width", (gint64)cohort->embedding_width);
    demur_json_bool(json, "yearly_risks", cohort->yearly_risks != NULL);
    write_counts(json, cohort, all);
    demur_json_begin_object(json, "splits");
    for (size_t s = 0; s < cohort->n_splits; s++) {
      if (with_attributes) {
        demur_json_begin_object(json, cohort->split_names[s]);
        write_counts(json, cohort, &splits[s]);
        demur_json_end_object(json);
      } else {
        demur_json_int(json, cohort->split_names[s], (gint64)splits[s].n_scans);
      }
    }
    demur_json_end_object(json);
    demur_json_begin_array(json, "attributes");
    for (size_t a = 0; a < cohort->n_attributes; a++) {
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "name", cohort->attributes[a].name);
      demur_json_int(json, "n_values", (gint64)cohort->attributes[a].n_values);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    if (nlst != NULL)
      write_nlst(json, nlst);
    demur_noticed_write(json, facts->warnings);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }

  g_print("cohort %s%s\n", cohort->name, cohort->simulated ? "  SIMULATED, NOT PATIENTS" : "");
  g_print("  from %s, scores of model %s\n", cohort->source, cohort->model);
  g_print("  %zu scan%s of %zu patient%s at %zu site%s, %zu classes, ", all->n_scans,
          demur_cli_s(all->n_scans), all->n_patients, demur_cli_s(all->n_patients), all->n_sites,
          demur_cli_s(all->n_sites), cohort->n_classes);
  if (cohort->embedding_width > 0)
    g_print("embeddings of %zu numbers\n", cohort->embedding_width);
  else
    g_print("no embeddings\n");
  if (seed != NULL)
    g_print("  seed %" G_GUINT64_FORMAT "\n", *seed);
  g_print("  %-20s %9s %9s %6s %11s %11s %9s\n", "split", "scans", "patients", "sites",
          binary ? "prevalence" : "accuracy", binary ? "mean risk" : "confidence", "unlabelled");
  for (size_t s = 0; s < cohort->n_splits; s++) {
    char prevalence[32], risk[32];
    g_print("  %-20s %9zu %9zu %6zu %11s %11s %9zu\n", cohort->split_names[s], splits[s].n_scans,
            splits[s].n_patients, splits[s].n_sites, number(splits[s].prevalence, prevalence),
            number(splits[s].mean_risk, risk), splits[s].n_unlabelled);
  }
  if (cohort->n_attributes > 0) {
    g_print("  attributes:");
    for (size_t a = 0; a < cohort->n_attributes; a++)
      g_print("%s %s (%zu)", a > 0 ? "," : "", cohort->attributes[a].name,
              cohort->attributes[a].n_values);
    g_print("\n");
  }
  g_print("  digest %s\n", facts->digest);
  if (nlst != NULL)
    print_nlst(nlst);
  demur_noticed_print(facts->warnings);
}

static gboolean
parse_death(const char *text, gboolean *event_free, GError **error) {
  *event_free = g_strcmp0(text, "event-free") == 0;
  if (text == NULL || *event_free || strcmp(text, "censored") == 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "--death is %s; expected censored or event-free", text);
  return FALSE;
}

static gboolean
parse_short(const char *text, DemurShortFollowup *handling, GError **error) {
  static const char *const words[] = {[DEMUR_SHORT_WEIGHTED] = "weighted",
                                      [DEMUR_SHORT_LEFT_OUT] = "left-out",
                                      [DEMUR_SHORT_EVENT_FREE] = "event-free"};
  *handling = DEMUR_SHORT_WEIGHTED;
  for (size_t h = 0; h < G_N_ELEMENTS(words); h++)
    if (text == NULL || strcmp(text, words[h]) == 0) {
      *handling = text == NULL ? DEMUR_SHORT_WEIGHTED : (DemurShortFollowup)h;
      return TRUE;
    }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "--short-followup is %s; expected weighted, left-out or event-free", text);
  return FALSE;
}

/* `--split-by patient 0.4,0.2,0.1,0.3` is one option of two words: joined to one, which the parser
 * of options knows. (owned, with borrowed words but for the joined one in *joined) */
static char **
join_split_by(int *argc, char **argv, char **joined) {
  char **words = g_new0(char *, (gsize)*argc + 1);
  int n = 0;
  for (int i = 0; i < *argc; i++) {
    words[n++] = argv[i];
    if (strcmp(argv[i], "--split-by") != 0 || *joined != NULL || i + 2 >= *argc)
      continue;
    const char *shares = argv[i + 2];
    if (strpbrk(argv[i + 1], " :") != NULL || strchr(shares, ',') == NULL ||
        strpbrk(shares, "0123456789") == NULL || strchr(shares, '/') != NULL)
      continue;
    words[n++] = *joined = g_strdup_printf("%s %s", argv[i + 1], shares);
    i += 2;
  }
  *argc = n;
  return words;
}

/* Years as they are written; 0, which nobody writes, is the usual ones, and -1 what is no number. */
static int
parse_horizon(const char *text) {
  gint64 years;
  if (text == NULL)
    return 0;
  return demur_number_parse_int(text, strlen(text), &years) && years >= 1 && years <= DEMUR_N_YEARS
             ? (int)years
             : -1;
}

/* Whether the parameters go together. */
static gboolean
check_import(const DemurCohortImportParams *p, GError **error) {
  const gboolean nlst = p->persons != NULL || p->scores != NULL;
  const char *wrong = NULL;
  if (nlst && (p->persons == NULL || p->scores == NULL || p->embeddings != NULL ||
               p->embedding_ids != NULL))
    wrong = "NLST tables are two: --nlst-persons P.csv --scores S.csv, embeddings in the scores";
  else if (!nlst && (p->split != NULL || p->images != NULL || p->weights || p->death_event_free ||
                     p->short_followup != DEMUR_SHORT_WEIGHTED))
    wrong = "--nlst-images, --split, --death, --short-followup and --ipc-weights belong to "
            "--nlst-persons";
  else if (p->horizon_years < 0 || p->horizon_years > DEMUR_N_YEARS)
    wrong = "--horizon takes 1 to 6 years";
  else if (p->split != NULL && p->split_by != NULL)
    wrong = "--split and --split-by contradict each other; give one";
  if (wrong != NULL)
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, wrong);
  return wrong == NULL;
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *model = NULL, *embeddings = NULL, *ids = NULL, *persons = NULL, *scores = NULL,
                  *split = NULL, *death = NULL, *censored = NULL, *columns = NULL, *outcome = NULL,
                  *split_by = NULL, *joined = NULL, *images = NULL, *horizon = NULL;
  DemurCohortImportParams params = {0};
  const GOptionEntry entries[] = {
      {"model", 0, 0, G_OPTION_ARG_STRING, &model, "Whose risks and embeddings these are", "M"},
      {"outcome", 0, 0, G_OPTION_ARG_STRING, &outcome,
       "What a label 1 means, as in \"lung cancer\"", "TEXT"},
      {"columns", 0, 0, G_OPTION_ARG_FILENAME, &columns,
       "A table with the columns column and means: other names for columns", "FILE"},
      {"split-by", 0, 0, G_OPTION_ARG_STRING, &split_by,
       "Make splits of whole patients or sites, by the seed: selector_train, validation, tune, "
       "test, "
       "or NAME=SHARE,..",
       "patient|site 0.4,0.2,0.1,0.3"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &params.replace,
       "Replace a cohort of that name from which nothing was made", NULL},
      {"embeddings", 0, 0, G_OPTION_ARG_FILENAME, &embeddings,
       "Embeddings as a NumPy array, one row a scan", "FILE.npy"},
      {"embedding-ids", 0, 0, G_OPTION_ARG_FILENAME, &ids,
       "scan_ids of the array's rows, one a line (default: joined by row order)", "FILE"},
      {"nlst-persons", 0, 0, G_OPTION_ARG_FILENAME, &persons,
       "NLST participants: pid, cen, scr_days0.., candx_days, fup_days, death_days", "P.csv"},
      {"nlst-images", 0, 0, G_OPTION_ARG_FILENAME, &images,
       "NLST images: pid, study_yr, manufacturer, reconfilter, reconthickness ..", "I.csv"},
      {"scores", 0, 0, G_OPTION_ARG_FILENAME, &scores,
       "Scores of NLST screens: pid, study_yr, risk or risk_year_1..6, emb_0..", "S.csv"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &split,
       "NLST: split of every scan (default: column split, or selector_train)", "NAME"},
      {"horizon", 0, 0, G_OPTION_ARG_STRING, &horizon,
       "Years of the label and the risk: reads risk_year_N (NLST: 6)", "1..6"},
      {"death", 0, 0, G_OPTION_ARG_STRING, &death,
       "NLST: death without cancer is censored (default) or event-free", "WORD"},
      {"short-followup", 0, 0, G_OPTION_ARG_STRING, &censored,
       "NLST: scans followed too short are weighted (default: kept with their time, the others stand "
       "for them), left-out or event-free (both biased)",
       "WORD"},
      {"ipc-weights", 0, 0, G_OPTION_ARG_NONE, &params.weights,
       "NLST: add inverse-probability-of-censoring weights as attribute ipc_weight", NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  g_autofree char **arguments = join_split_by(&argc, argv, &joined);
  if (!demur_command_parse(context, argc, arguments, entries, &words, error) ||
      !parse_death(death, &params.death_event_free, error) ||
      !parse_short(censored, &params.short_followup, error))
    return FALSE;
  const gboolean nlst = persons != NULL || scores != NULL;
  params.horizon_years = parse_horizon(horizon);
  params.model = model;
  params.outcome = outcome;
  params.columns = columns;
  params.split_by = split_by;
  params.embeddings = embeddings;
  params.embedding_ids = ids;
  params.persons = persons;
  params.scores = scores;
  params.images = images;
  params.split = split;
  if (!check_import(&params, error) ||
      !demur_command_expect(words, nlst ? 1 : 2,
                            nlst ? "cohort import --nlst-persons takes NAME"
                                 : "cohort import takes NAME FILE",
                            error) ||
      !demur_task_check_name("cohort", words[0], error))
    return FALSE;
  params.name = words[0];
  params.table = nlst ? NULL : words[1];
  g_auto(DemurCohortImported) imported = {0};
  g_autoptr(DemurCohortFacts) facts =
      demur_task_cohort_import(&context->task, &params, &imported, error)
          ? demur_cohort_facts_new(imported.cohort, imported.digest, imported.warnings, error)
          : NULL;
  if (facts == NULL)
    return FALSE;
  print_cohort(context, facts, FALSE, split_by != NULL ? &context->task.seed : NULL,
               nlst ? &imported.nlst : NULL);
  return TRUE;
}

/* Says where a split has too few scans for every hospital outside. */
static void
tell_missing_outside(const DemurCohortFacts *facts, size_t n_outside) {
  static const char *const outside[] = {"tune", "test"};
  const DemurCohort *cohort = facts->cohort;
  for (size_t o = 0; o < G_N_ELEMENTS(outside); o++)
    for (size_t s = 0; s < cohort->n_splits; s++)
      if (strcmp(cohort->split_names[s], outside[o]) == 0 && facts->splits[s].n_sites < n_outside)
        g_printerr("demur: split %s has scans of %zu of the %zu hospitals outside; draw more "
                   "(--%s)\n",
                   outside[o], facts->splits[s].n_sites, n_outside, outside[o]);
}

static gboolean
run_simulate(DemurContext *context, int argc, char **argv, GError **error) {
  DemurSimulation simulation;
  demur_simulation_defaults(&simulation);
  gint64 n_scans = (gint64)simulation.n_scans, n_sites = (gint64)simulation.n_sites,
         n_base = (gint64)simulation.n_base_train, n_tune = (gint64)simulation.n_tune,
         n_test = (gint64)simulation.n_test, n_outside = (gint64)simulation.n_outside;
  gboolean none = FALSE;
  const GOptionEntry entries[] = {
      {"scans", 0, 0, G_OPTION_ARG_INT64, &n_scans,
       "Scans of selector_train; validation gets a fifth of it (6282)", "N"},
      {"sites", 0, 0, G_OPTION_ARG_INT64, &n_sites, "Hospitals inside (33)", "N"},
      {"base-train", 0, 0, G_OPTION_ARG_INT64, &n_base, "Scans that fit the black box (6000)", "N"},
      {"tune", 0, 0, G_OPTION_ARG_INT64, &n_tune, "Outside scans for tuning (1000)", "N"},
      {"test", 0, 0, G_OPTION_ARG_INT64, &n_test, "Outside scans for testing (1337)", "N"},
      {"outside", 0, 0, G_OPTION_ARG_INT64, &n_outside,
       "Hospitals outside (1), or 2: drift reaches the first alone", "1|2"},
      {"base-rate-logit", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.base_rate_logit,
       "Added to the logit of cancer (0: about 5 %)", "X"},
      {"site-effect", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.site_effect,
       "Base rates that differ by hospital; not in the embedding but for a trace", "X"},
      {"acquisition-effect", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.acquisition_effect,
       "Thickness, kernel, contrast and noise change what is shown; in the embedding", "X"},
      {"scanner-effect", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.scanner_effect,
       "The manufacturer changes what is shown; in the embedding", "X"},
      {"hidden-effect", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.hidden_effect,
       "A software version changes what is shown; in no column and not in the embedding", "X"},
      {"outside-shift", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.outside_shift,
       "How far the outside hospital is from the others", "X"},
      {"drift-effect", 0, 0, G_OPTION_ARG_DOUBLE, &simulation.drift_effect,
       "A denoising reconstruction came after the black box was fitted, and hides faint nodules; "
       "in "
       "the embedding (0)",
       "X"},
      {"no-effects", 0, 0, G_OPTION_ARG_NONE, &none,
       "All effects 0 but drift, which is 0 unless asked for: no selector can help", NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "cohort simulate takes NAME", error) ||
      !demur_task_check_name("cohort", words[0], error))
    return FALSE;
  if (n_scans < 0 || n_sites < 0 || n_base < 0 || n_tune < 0 || n_test < 0 || n_outside < 0) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "cohort simulate: numbers of scans and sites can't be below 0");
    return FALSE;
  }
  simulation.seed = context->task.seed;
  simulation.n_scans = (size_t)n_scans;
  simulation.n_sites = (size_t)n_sites;
  simulation.n_base_train = (size_t)n_base;
  simulation.n_tune = (size_t)n_tune;
  simulation.n_test = (size_t)n_test;
  simulation.n_outside = (size_t)n_outside;
  if (none)
    simulation.site_effect = simulation.acquisition_effect = simulation.scanner_effect =
        simulation.hidden_effect = simulation.outside_shift = 0.0;
  g_autoptr(DemurCohortFacts) facts =
      demur_task_cohort_simulate(&context->task, words[0], &simulation, error);
  if (facts == NULL)
    return FALSE;
  tell_missing_outside(facts, simulation.n_outside);
  print_cohort(context, facts, FALSE, &simulation.seed, NULL);
  return TRUE;
}

static gboolean
run_list(DemurContext *context, int argc, char **argv, GError **error) {
  const GOptionEntry entries[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "cohort list takes no words", error))
    return FALSE;
  g_autoptr(GPtrArray) list = demur_task_cohorts(&context->task, error);
  if (list == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_begin_array(json, "cohorts");
    for (guint i = 0; i < list->len; i++) {
      const DemurCohortSummary *cohort = list->pdata[i];
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "name", cohort->name);
      demur_json_int(json, "n_scans", (gint64)cohort->n_scans);
      demur_json_int(json, "n_sites", (gint64)cohort->n_sites);
      demur_json_begin_object(json, "splits");
      for (size_t s = 0; s < cohort->n_splits; s++)
        demur_json_int(json, cohort->splits[s].name, (gint64)cohort->splits[s].n_scans);
      demur_json_end_object(json);
      demur_json_bool(json, "simulated", cohort->simulated);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  if (list->len == 0)
    g_print("no cohort yet: demur cohort import NAME FILE, or demur cohort simulate NAME\n");
  else
    g_print("%-20s %9s %6s %-10s %-16s %s\n", "cohort", "scans", "sites", "simulated", "model",
            "splits");
  for (guint i = 0; i < list->len; i++) {
    const DemurCohortSummary *cohort = list->pdata[i];
    g_print("%-20s %9zu %6zu %-10s %-16s ", cohort->name, cohort->n_scans, cohort->n_sites,
            cohort->simulated ? "SIMULATED" : "no", cohort->model);
    for (size_t s = 0; s < cohort->n_splits; s++)
      g_print("%s%s %zu", s > 0 ? ", " : "", cohort->splits[s].name, cohort->splits[s].n_scans);
    g_print("\n");
  }
  return TRUE;
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  const GOptionEntry entries[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "cohort show takes NAME", error))
    return FALSE;
  g_autoptr(DemurCohortFacts) facts = demur_task_cohort_show(&context->task, words[0], error);
  if (facts == NULL)
    return FALSE;
  print_cohort(context, facts, TRUE, NULL, NULL);
  return TRUE;
}

static gboolean
run_export(DemurContext *context, int argc, char **argv, GError **error) {
  const GOptionEntry entries[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 2, "cohort export takes NAME FILE", error) ||
      !demur_file_output_check(words[1], DEMUR_FILE_REPLACE, error))
    return FALSE;
  demur_context_take_stdout(words[1]);
  g_autoptr(DemurCohort) cohort =
      demur_task_cohort_export(&context->task, words[0], words[1], error);
  if (cohort == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", cohort->name);
    demur_json_string(json, "file", words[1]);
    demur_json_int(json, "n_scans", (gint64)cohort->n_scans);
    demur_json_bool(json, "simulated", cohort->simulated);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else if (strcmp(words[1], "/dev/stdout") != 0) {
    g_print("%zu scan%s of cohort %s written to %s\n", cohort->n_scans,
            demur_cli_s(cohort->n_scans), cohort->name, words[1]);
  }
  return TRUE;
}

static gboolean
run_attach(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *key = NULL, *column_list = NULL, *map_path = NULL;
  gboolean replace = FALSE;
  const GOptionEntry entries[] = {
      {"key", 0, 0, G_OPTION_ARG_STRING, &key, "Joined by: patient_id, scan_id or site", "COLUMN"},
      {"columns", 0, 0, G_OPTION_ARG_STRING, &column_list, "Only these columns", "A,B,.."},
      {"rename", 0, 0, G_OPTION_ARG_FILENAME, &map_path,
       "A table with the columns column and means: other names for columns", "FILE"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "Replace columns of the same name", NULL},
      {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 2, "cohort attach takes NAME FILE", error))
    return FALSE;
  if (key == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "cohort attach needs --key patient_id, scan_id or site");
    return FALSE;
  }
  g_auto(GStrv) columns = column_list != NULL ? g_strsplit(column_list, ",", -1) : NULL;
  for (char **c = columns; c != NULL && *c != NULL; c++)
    g_strstrip(*c);
  const DemurCohortAttachParams params = {.name = words[0],
                                          .table = words[1],
                                          .key = key,
                                          .columns = columns,
                                          .column_map = map_path,
                                          .replace = replace};
  g_autoptr(DemurAttached) attached = demur_task_cohort_attach(&context->task, &params, error);
  if (attached == NULL)
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", words[0]);
    demur_json_string(json, "key", key);
    demur_json_begin_array(json, "columns");
    for (size_t a = 0; a < attached->n_attributes; a++)
      demur_json_string(json, NULL, attached->attributes[a].name);
    demur_json_end_array(json);
    demur_json_int(json, "n_matched", (gint64)attached->n_matched);
    demur_json_int(json, "n_unmatched", (gint64)attached->n_unmatched);
    demur_json_int(json, "n_unused", (gint64)attached->n_unused);
    demur_noticed_write(json, attached->warnings);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return TRUE;
  }
  g_print("cohort %s: %zu column%s attached by %s; %zu scan%s matched, %zu without a row (left "
          "empty), %zu row%s not used\n",
          words[0], attached->n_attributes, demur_cli_s(attached->n_attributes), key,
          attached->n_matched, demur_cli_s(attached->n_matched), attached->n_unmatched,
          attached->n_unused, demur_cli_s(attached->n_unused));
  demur_noticed_print(attached->warnings);
  return TRUE;
}

static gboolean
run_remove(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean force = FALSE;
  const GOptionEntry entries[] = {{"force", 0, 0, G_OPTION_ARG_NONE, &force,
                                   "Also where selectors or verdicts were made from it", NULL},
                                  {NULL, 0, 0, 0, NULL, NULL, NULL}};
  g_auto(GStrv) words = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "cohort remove takes NAME", error))
    return FALSE;
  if (!demur_task_cohort_remove(&context->task, words[0], force, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "removed", words[0]);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("cohort %s removed\n", words[0]);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "import",
       .parameters = "NAME FILE | NAME --nlst-persons P.csv --scores S.csv",
       .summary = "read a cohort table, or NLST tables, into the workspace",
       .description =
           "Columns: patient_id, site, split, label and risk (or risk_year_6, or prob_0..); scan_id "
           "where a patient has\nseveral scans; optional emb_0.., risk_year_1..6, shift; any other "
           "column is kept and can split results.\nFILE is CSV, by gzip or not; - is standard "
           "input. "
           "A faulty table is refused whole, with line and column\nof each fault.",
       .run = run_import},
      {.name = "simulate",
       .parameters = "NAME",
       .summary = "draw a lung-screening cohort with an outside hospital",
       .description =
           "Marked as simulated everywhere. Planted effects are multiplied by their options (1: as "
           "documented, 0: none).\nbase_train, selector_train and validation come from the inside "
           "hospitals, tune and test from the outside one.",
       .run = run_simulate},
      {.name = "list",
       .parameters = "",
       .summary = "list the cohorts of the workspace",
       .run = run_list},
      {.name = "show",
       .parameters = "NAME",
       .summary = "show a cohort's splits and attributes",
       .run = run_show},
      {.name = "export",
       .parameters = "NAME FILE",
       .summary = "write a cohort as a table",
       .description = "The table imports back to the same digest.",
       .run = run_export},
      {.name = "attach",
       .parameters = "NAME FILE",
       .summary = "add attribute columns to a cohort",
       .description = "Scans without a row in the table get an empty value.",
       .run = run_attach},
      {.name = "remove",
       .parameters = "NAME",
       .summary = "remove a cohort from the workspace",
       .run = run_remove},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_cohort = {
    .name = "cohort", .summary = "import, simulate and look after cohorts", .run = run};
