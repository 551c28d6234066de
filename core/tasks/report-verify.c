#include "tasks/report-verify.h"

#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "base/shown-text.h"
#include "report/files.h"
#include "report/revisions.h"
#include "selector/mlp-kernel.h"
#include "store/events.h"
#include "tasks/evaluate.h"
#include "tasks/family-study.h"
#include "tasks/patient-sheet.h"
#include "tasks/report.h"

typedef struct {
  const char *path; /* of the PDF */
  const char *json_path;
  guchar *pdf;
  gsize n_pdf;
  char *json;
  gsize n_json;
  JsonParser *parser;
  DemurReportRecipe *recipe;
  GPtrArray *differences;     /* of DemurReportDifference; borrowed */
  GPtrArray *methods_changed; /* of names; borrowed */
  DemurReportPin pin;
  const char *log_head;          /* that it prints; NULL: none. Borrowed from the document */
  const char *kernel;            /* likewise: that its numbers were computed with */
  const DemurLanguage *language; /* of the page; NULL: English, or not installed */
  gboolean rounded, pages_compared;
} Check;

static void
check_clear(Check *check) {
  g_free(check->pdf);
  g_free(check->json);
  g_clear_object(&check->parser);
  demur_report_recipe_free(check->recipe);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Check, check_clear)

static void
add(Check *check, const char *where, const char *written, const char *found) {
  g_ptr_array_add(check->differences, demur_report_difference_new(where, written, found));
}

/* Reads both files; whether they belong together is a difference, not an error. */
static gboolean
read_files(Check *check, GError **error) {
  check->pdf =
      (void *)demur_file_input_read(check->path, DEMUR_LIMIT_REPORT_BYTES, &check->n_pdf, error);
  if (check->pdf == NULL)
    return FALSE;
  check->json =
      demur_file_input_read(check->json_path, DEMUR_LIMIT_REPORT_BYTES, &check->n_json, error);
  if (check->json == NULL) {
    demur_error_prefix(
        error,
        "%s can't be checked without its numbers (write the report again, or bring the "
        "file back beside it): ",
        check->path);
    return FALSE;
  }
  check->parser = json_parser_new_immutable();
  if (!demur_json_load(check->parser, check->json, (gssize)check->n_json, error)) {
    demur_error_prefix(error, "%s: ", check->json_path);
    return FALSE;
  }
  JsonNode *root = json_parser_get_root(check->parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s holds no report", check->json_path);
    return FALSE;
  }
  check->recipe = demur_report_recipe_read(json_node_get_object(root), error);
  if (check->recipe == NULL) {
    demur_error_prefix(error, "%s: ", check->json_path);
    return FALSE;
  }
  g_autofree char *digest =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)check->json, check->n_json);
  g_autoptr(GError) no_digest = NULL;
  g_autofree char *named = demur_report_pdf_digest(check->pdf, check->n_pdf, &no_digest);
  if (named == NULL)
    add(check, "the PDF", no_digest->message, NULL);
  else if (strcmp(named, digest) != 0)
    add(check,
        "the digest of the JSON that the PDF names: the two files are not of one report, by a "
        "change or because their writing was cut off; write it again",
        named, digest);
  return TRUE;
}

/* To evaluate as the report did. */
static DemurEvaluateParams
options_of(const DemurReportRecipe *recipe, const DemurReportPin *pin) {
  DemurEvaluateParams options = {.cohort = g_strdup(recipe->cohort),
                                 .split = g_strdup(recipe->split),
                                 .resample_unit = g_strdup(recipe->resample_unit),
                                 .n_resamples = g_strdup_printf("%zu", recipe->n_resamples),
                                 .n_bootstrap = g_strdup_printf("%zu", recipe->n_bootstrap),
                                 .bin_size = g_strdup_printf("%zu", recipe->min_bin_size),
                                 .net_benefit_threshold = g_strdup(recipe->net_benefit_threshold),
                                 .in_sample = recipe->in_sample,
                                 .use = TRUE,
                                 .pin = pin};
  if (recipe->group_by != NULL) {
    const char *const by[] = {recipe->group_by, NULL};
    options.group_by = g_strdupv((char **)by);
  }
  return options;
}

/* The documents made anew, of a report or of a patient's page. json NULL with no error: they can't
 * be made, which is noted. */
typedef struct {
  char *json;
  guchar *pdf;
  size_t n_pdf;
} Remade;

static void
remade_clear(Remade *remade) {
  g_free(remade->json);
  g_free(remade->pdf);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Remade, remade_clear)

static gboolean
remake_report(DemurTask *task, const Check *check, Remade *remade, GError **error) {
  const DemurReportRecipe *recipe = check->recipe;
  g_auto(DemurEvaluating) evaluating = {0};
  DemurEvaluateParams options = options_of(recipe, &check->pin);
  task->seed = recipe->seed;
  if (!demur_task_evaluate(task, recipe->selectors, &options, &evaluating, error))
    return FALSE;
  g_autoptr(DemurReportTask) report = demur_report_task_new(&evaluating, recipe->coverage, error);
  if (report == NULL)
    return FALSE;
  report->input.paper = recipe->paper;
  report->input.log_head = check->log_head;
  report->input.kernel = check->kernel;
  remade->json = demur_report_json(&report->input);
  /* The pages name the digest of the JSON that is there, whatever its last digits are. */
  remade->pdf = demur_report_pdf(&report->input, check->json, &remade->n_pdf, error);
  return remade->pdf != NULL;
}

/* The report of each horizon stands in the family's as it would alone, and is pinned to that. */
static gboolean
remake_family(DemurTask *task, const Check *check, Remade *remade, GError **error) {
  const DemurReportRecipe *recipe = check->recipe;
  DemurHorizons horizons = {.n = g_strv_length(recipe->selectors)};
  DemurReportPin pins[DEMUR_N_YEARS];
  JsonArray *written;
  if (!demur_json_read_array(check->pin.document, "horizons", &written, error))
    return FALSE;
  if (horizons.n > DEMUR_N_YEARS || json_array_get_length(written) != horizons.n) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it holds %u horizons, but was made of %zu selectors",
                    json_array_get_length(written), horizons.n);
    return FALSE;
  }
  for (guint h = 0; h < horizons.n; h++) {
    JsonObject *document;
    if (!demur_json_read_element(written, h, "horizons", &document, error))
      return FALSE;
    if (recipe->years[h] < 1 || recipe->years[h] > DEMUR_N_YEARS) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "it holds a horizon of %d years, not 1 to %d",
                      recipe->years[h], DEMUR_N_YEARS);
      return FALSE;
    }
    pins[h] = (DemurReportPin){document, check->pin.since};
    horizons.years[h] = recipe->years[h];
  }
  g_auto(DemurFamilyStudy) study = {0};
  DemurEvaluateParams options = options_of(recipe, NULL);
  task->seed = recipe->seed;
  if (!demur_task_family_study(task, recipe->family, &horizons, &options, recipe->coverage, pins,
                               &study, error))
    return FALSE;
  for (size_t h = 0; h < horizons.n; h++) {
    study.reports[h]->input.paper = recipe->paper;
    study.reports[h]->input.log_head = check->log_head;
    study.reports[h]->input.kernel = check->kernel;
  }
  remade->json = demur_family_report_json(&study.report);
  remade->pdf = demur_family_report_pdf(&study.report, check->json, &remade->n_pdf, error);
  return remade->pdf != NULL;
}

static gboolean
remake_patient(DemurTask *task, const Check *check, Remade *remade, GError **error) {
  const DemurReportRecipe *recipe = check->recipe;
  const char *assessed = NULL;
  if (!demur_json_read_string(check->pin.document, "assessed", &assessed, NULL))
    assessed = NULL;
  const DemurPatientSheetParams options = {.selector = recipe->selectors[0],
                                           .scan_id = recipe->scan_id,
                                           .cohort = recipe->cohort,
                                           .split = recipe->split,
                                           .coverage = recipe->tuned_coverage,
                                           .assessed = assessed,
                                           .log_head = check->log_head,
                                           .page_language = recipe->language,
                                           .paper = recipe->paper};
  g_autoptr(DemurPatientSheet) patient = demur_task_patient_sheet(task, &options, error);
  if (patient == NULL)
    return FALSE;
  remade->json = demur_patient_json(&patient->input);
  g_autoptr(DemurPatientSheet) page = NULL;
  if (check->language != NULL) {
    DemurPatientSheetParams own = options;
    own.language = check->language;
    own.assessed = patient->input.assessed;
    page = demur_task_patient_sheet(task, &own, error);
    if (page == NULL)
      return FALSE;
  }
  /* The page names the digest of the JSON that is there, as a report does. */
  remade->pdf = demur_patient_pdf(page != NULL ? &page->input : &patient->input, check->json,
                                  &remade->n_pdf, error);
  return remade->pdf != NULL;
}

/* Two texts of the same document differ in numbers alone: what is left of both is the same. */
static gboolean
same_but_for_digits(const char *a, const char *b) {
  static const char digits[] = "0123456789.-+eE";
  while (*a != '\0' || *b != '\0') {
    if (*a == *b) {
      a++;
      b++;
    } else if (strchr(digits, *a) == NULL && strchr(digits, *b) == NULL) {
      return FALSE;
    } else { /* numbers that end apart; a zero byte ends both */
      a += strspn(a, digits);
      b += strspn(b, digits);
      if (*a != *b)
        return FALSE;
    }
  }
  return TRUE;
}

/* The part of an event's key behind its kind: a selector's name up to '|' or the end (owned), and in
 * *rest what stands behind. */
static char *
selector_of(const char *key, const char **rest) {
  const char *begin = strchr(key, ':');
  begin = begin != NULL ? begin + 1 : key;
  const char *bar = strchr(begin, '|');
  *rest = bar != NULL ? bar + 1 : "";
  return bar != NULL ? g_strndup(begin, (size_t)(bar - begin)) : g_strdup(begin);
}

/* What the log says of other selectors since the report: told, each once. Those of the report's own
 * are told where they are set aside (tasks/report-pin.h). */
static gboolean
tell_others(Check *check, DemurWorkspace *workspace, gint64 sequence, GError **error) {
  static const struct {
    DemurEventKind kind;
    const char *prefix, *words; /* selector, what stands behind it, date */
  } rows[] = {
      {DEMUR_EVENT_TRAINING, "selector:", "another selector, '%s', was kept%s on %s"},
      {DEMUR_EVENT_THRESHOLD,
       "threshold:", "another selector, '%s', was tuned for coverage %s on %s"},
      {DEMUR_EVENT_AUDIT, "audit:", "another selector, '%s', was audited at site '%s' on %s"}};
  g_autoptr(GPtrArray) events = demur_events_list(workspace, sequence, NULL, error);
  if (events == NULL)
    return FALSE;
  g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = events->len; i-- > 0;) { /* the newest of each */
    const DemurEvent *event = events->pdata[i];
    for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
      const char *rest;
      g_autofree char *selector = selector_of(event->key, &rest);
      if (event->kind != rows[r].kind || !g_str_has_prefix(event->key, rows[r].prefix) ||
          event->digest == NULL ||
          g_strv_contains((const char *const *)check->recipe->selectors, selector) ||
          !g_hash_table_add(told, event->key))
        continue;
      g_autofree char *shown = demur_shown_text(rest);
      g_ptr_array_add(check->pin.since,
                      g_strdup_printf(rows[r].words, selector, shown, event->created));
    }
  }
  return TRUE;
}

/* The head of the log that a report prints must be in the log as it is: a history that was cut or
 * written anew since has lost it. */
static gboolean
check_head(DemurTask *task, Check *check, GError **error) {
  if (!demur_json_read_string(check->pin.document, "log_head", &check->log_head, NULL)) {
    check->log_head = NULL; /* of an older program */
    return TRUE;
  }
  gint64 sequence = 0;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (*check->log_head != '\0' &&
      !demur_events_find_head(workspace, check->log_head, &sequence, NULL))
    sequence = 0;
  if (*check->log_head != '\0' && sequence == 0)
    add(check,
        "log_head: the workspace's log has no such event in an unbroken chain; it was cut or "
        "written anew since, or is another workspace's",
        check->log_head, NULL);
  return sequence == 0 || tell_others(check, workspace, sequence, error);
}

/* Members that hold sentences. What they say stands in numbers and claims beside them; their words
 * are the program's, and change with it. */
static const char *const sentences[] = {
    "notice",   "headline",  "paragraph", "read_with_care", "guarantee",           "sentence",
    "warnings", "reasons",   "reason",    "meaning",        "out_of_date_because", "words",
    "facts",    "label_rule"};

/* Whether two documents differ there in words only, or in a member that an older program did not
 * write. An element more or less of a list is a difference. */
static gboolean
is_wording(const DemurReportDifference *d) {
  const char *dot = strrchr(d->where, '.');
  const char *member = dot != NULL ? dot + 1 : d->where;
  const size_t n = strcspn(member, "[");
  for (size_t k = 0; k < G_N_ELEMENTS(sentences); k++)
    if (strlen(sentences[k]) == n && strncmp(member, sentences[k], n) == 0)
      return TRUE;
  return d->written == NULL && d->found != NULL && !g_str_has_suffix(d->where, "]");
}

/* The family of methods that a difference is owed to: it was defined anew since the report was
 * written. DEMUR_N_FAMILIES: none. */
static DemurMethodFamily
changed_family(const Check *check, const DemurReportDifference *d) {
  const DemurReportKind kind = check->recipe->kind;
  /* A horizon's report within a family's is judged as by itself. */
  const char *inner = kind == DEMUR_REPORT_OF_FAMILY && g_str_has_prefix(d->where, "horizons[")
                          ? strchr(d->where, '.')
                          : NULL;
  const DemurReportDifference own = {inner != NULL ? (char *)inner + 1 : d->where, d->written,
                                     d->found};
  DemurMethodFamily f = kind == DEMUR_REPORT_OF_PATIENT ? DEMUR_N_FAMILIES : 0;
  while (f < DEMUR_N_FAMILIES && (demur_method_revision_of(check->pin.document, f) ==
                                      demur_method_family_row(f)->revision ||
                                  !demur_method_family_holds(f, &own)))
    f++;
  return f;
}

static void
tell_changed_methods(Check *check, const guint n_owed[DEMUR_N_FAMILIES]) {
  for (DemurMethodFamily f = 0; f < DEMUR_N_FAMILIES; f++) {
    const DemurMethodFamilyRow *row = demur_method_family_row(f);
    if (n_owed[f] == 0)
      continue;
    g_ptr_array_add(check->methods_changed, g_strdup(row->name));
    g_ptr_array_add(check->pin.since,
                    g_strdup_printf("the methods of %s changed (%s: revision %d in the report, %d "
                                    "now): %u of its numbers are others by them and were not "
                                    "compared, nor were the pages",
                                    row->title, row->name,
                                    demur_method_revision_of(check->pin.document, f), row->revision,
                                    n_owed[f]));
  }
}

/* Notes the differences. Where the JSON is the one that the PDF names, so that nobody changed it
 * alone, those of wording and those owed to methods defined anew are told once and are none. */
static void
note_differences(Check *check, const GPtrArray *found) {
  const gboolean untouched = check->differences->len == 0;
  guint n_worded = 0, n_owed[DEMUR_N_FAMILIES] = {0};
  const char *first = NULL;
  for (guint i = 0; i < found->len; i++) {
    const DemurReportDifference *d = found->pdata[i];
    const DemurMethodFamily family = untouched ? changed_family(check, d) : DEMUR_N_FAMILIES;
    if (untouched && is_wording(d)) {
      first = first != NULL ? first : d->where;
      n_worded++;
    } else if (family != DEMUR_N_FAMILIES) {
      n_owed[family]++;
    } else {
      add(check, d->where, d->written, d->found);
    }
  }
  tell_changed_methods(check, n_owed);
  if (n_worded > 0)
    g_ptr_array_add(
        check->pin.since,
        g_strdup_printf("this program says or adds %u of its members in other words than the one "
                        "that wrote the report (%s%s): numbers and claims were compared, pages "
                        "were not",
                        n_worded, first, n_worded > 1 ? " .." : ""));
}

static gboolean
compare_again(DemurTask *task, Check *check, GError **error) {
  g_auto(Remade) remade = {0};
  g_autoptr(GError) failed = NULL;
  static gboolean (*const remake[DEMUR_N_REPORT_KINDS])(DemurTask *, const Check *, Remade *,
                                                        GError **) = {
      [DEMUR_REPORT_OF_SELECTOR] = remake_report,
      [DEMUR_REPORT_OF_PATIENT] = remake_patient,
      [DEMUR_REPORT_OF_FAMILY] = remake_family};
  const gboolean made = remake[check->recipe->kind](task, check, &remade, &failed);
  if (g_error_matches(failed, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_propagate_error(error, g_steal_pointer(&failed));
    return FALSE;
  }
  if (!made) {
    add(check, "the workspace: the report can't be made again from it", NULL, failed->message);
    return TRUE;
  }
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!demur_json_load(parser, remade.json, -1, error))
    return FALSE;
  g_autoptr(GPtrArray) found =
      demur_report_compare(json_parser_get_root(check->parser), json_parser_get_root(parser));
  note_differences(check, found);
  const gboolean same_json =
      strlen(remade.json) == check->n_json && memcmp(remade.json, check->json, check->n_json) == 0;
  /* Equal numbers in other digits: another processor's rounding, unless it is another text. */
  check->rounded = !same_json && found->len == 0 && same_but_for_digits(check->json, remade.json);
  if (!same_json && found->len == 0 && !check->rounded)
    add(check, "the JSON's text", "written in another way than this program writes it", NULL);
  /* Another JSON makes other pages: nothing more can be said of them. */
  const gboolean worded = check->recipe->language != NULL && check->language == NULL;
  if (worded)
    g_ptr_array_add(check->pin.since,
                    g_strdup_printf("its page is in a language that is not installed (%s): numbers "
                                    "and claims were compared, the page was not",
                                    check->recipe->language));
  check->pages_compared = !worded && (same_json || check->rounded);
  if (check->pages_compared &&
      (remade.n_pdf != check->n_pdf || memcmp(remade.pdf, check->pdf, check->n_pdf) != 0))
    add(check, "the PDF's pages",
        "not those that these numbers make here: the file was changed, or it was drawn with other "
        "fonts or libraries",
        NULL);
  return TRUE;
}

DemurReportCheck *
demur_task_report_verify(DemurTask *task, const char *path, DemurLanguageOf language_of,
                         GError **error) {
  g_autoptr(DemurReportCheck) result = g_new0(DemurReportCheck, 1);
  result->differences =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_report_difference_free);
  result->json_path = demur_report_json_path(path, error);
  if (result->json_path == NULL)
    return NULL;
  result->since = g_ptr_array_new_with_free_func(g_free);
  result->methods_changed = g_ptr_array_new_with_free_func(g_free);
  g_auto(Check) check = {.path = path,
                         .json_path = result->json_path,
                         .differences = result->differences,
                         .methods_changed = result->methods_changed};
  if (!read_files(&check, error))
    return NULL;
  check.pin =
      (DemurReportPin){json_node_get_object(json_parser_get_root(check.parser)), result->since};
  if (language_of != NULL && check.recipe->language != NULL)
    check.language = language_of(check.recipe->language, NULL);
  if (!demur_json_read_string(check.pin.document, "kernel", &check.kernel, NULL))
    check.kernel = NULL; /* of an older program */
  if (!check_head(task, &check, error) || !compare_again(task, &check, error))
    return NULL;
  result->rounded = check.rounded;
  result->pages_compared = check.pages_compared;
  result->written_kernel = g_strdup(check.kernel);
  result->kernel = demur_mlp_kernel()->name;
  return g_steal_pointer(&result);
}

void
demur_report_check_free(DemurReportCheck *check) {
  if (check == NULL)
    return;
  g_free(check->json_path);
  g_clear_pointer(&check->differences, g_ptr_array_unref);
  g_clear_pointer(&check->since, g_ptr_array_unref);
  g_clear_pointer(&check->methods_changed, g_ptr_array_unref);
  g_free(check->written_kernel);
  g_free(check);
}
