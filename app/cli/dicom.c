/* demur dicom: import paths into the workspace, list what it holds, show one scan, overrule the
 * choice of series. */
#include <math.h>
#include <sys/random.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "tasks/decisions.h"
#include "tasks/intake.h"
#include "tasks/series-records.h"
#include "words/words.h"
#include "app/cli/dicom-network.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "base/number.h"
#include "dicom/deidentify.h"

static void
print_text(const char *text) {
  g_print("%s", text);
}

static void
print_import_json(DemurContext *context, const DemurImport *import, const GPtrArray *records) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "series");
  for (guint i = 0; i < records->len; i++)
    demur_dicom_json_record(json, records->pdata[i], FALSE);
  demur_json_end_array(json);
  demur_json_begin_array(json, "skipped");
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", skipped->path);
    demur_json_string(json, "reason", skipped->reason);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_unchanged", import->n_known);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_import_text(const DemurImport *import, const GPtrArray *records) {
  guint n_accepted = 0;
  for (guint i = 0; i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    g_autofree char *text = demur_dicom_text_record(record, FALSE);
    print_text(text);
    n_accepted += record->accepted ? 1 : 0;
  }
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    g_autofree char *text = g_strdup_printf("skipped %s: %s\n", skipped->path, skipped->reason);
    print_text(text);
  }
  g_autofree char *summary =
      g_strdup_printf("%u series, %u of them to be assessed; %u file%s skipped\n", records->len,
                      n_accepted, import->skipped->len, demur_cli_s(import->skipped->len));
  print_text(summary);
  if (import->n_known == 0)
    return;
  g_autofree char *known = g_strdup_printf(
      "%u file%s unchanged since %s imported: only the header%s read (--reread reads all)\n",
      import->n_known, import->n_known == 1 ? " is" : "s are",
      import->n_known == 1 ? "it was" : "they were", import->n_known == 1 ? " was" : "s were");
  print_text(known);
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) paths = NULL, changes = NULL;
  g_autofree char *rules_path = NULL, *sites_path = NULL;
  gboolean reread = FALSE;
  const GOptionEntry entries[] = {
      {"reread", 0, 0, G_OPTION_ARG_NONE, &reread,
       "read the pixels of files too that are unchanged since they were imported from there", NULL},
      {"rules", 0, 0, G_OPTION_ARG_FILENAME, &rules_path,
       "change rules of eligibility as FILE says, one rule=value a line", "FILE"},
      {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &changes,
       "change one rule (off, warn, refuse, a limit, or warn:limit); may be repeated",
       "RULE=VALUE"},
      {"site-map", 0, 0, G_OPTION_ARG_FILENAME, &sites_path,
       "table of institution, station and the site they belong to", "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &paths, error))
    return FALSE;
  if (paths == NULL || paths[0] == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "dicom import takes PATH...");
    return FALSE;
  }
  g_autoptr(DemurEligibility) rules = demur_intake_rules(rules_path, changes, error);
  if (rules == NULL)
    return FALSE;
  g_autoptr(DemurSiteMap) sites = NULL;
  if (sites_path != NULL && (sites = demur_site_map_read(sites_path, error)) == NULL)
    return FALSE;
  const DemurIntakeParams params = {rules, sites, reread};
  g_autoptr(DemurIntake) intake =
      demur_intake_run(&context->task, (const char *const *)paths, &params, error);
  if (intake == NULL)
    return FALSE;
  if (context->json)
    print_import_json(context, intake->import, intake->records);
  else
    print_import_text(intake->import, intake->records);
  if (intake->records->len == 0) {
    const guint n_skipped = intake->import->skipped->len;
    if (n_skipped == 0)
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "no DICOM image found: there is no file in %s", paths[0]);
    else
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "no DICOM image found; %u file%s skipped for the reason%s above", n_skipped,
                  n_skipped == 1 ? " was" : "s were", n_skipped == 1 ? "" : "s");
    return FALSE;
  }
  return TRUE;
}

static gboolean
run_list(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {{NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "dicom list takes no words", error))
    return FALSE;
  g_autoptr(GPtrArray) records = demur_task_series(&context->task, error);
  if (records == NULL)
    return FALSE;
  if (!context->json) {
    for (guint i = 0; i < records->len; i++) {
      g_autofree char *text = demur_dicom_text_record(records->pdata[i], FALSE);
      print_text(text);
    }
    if (records->len == 0)
      print_text("no series; demur dicom import PATH reads some\n");
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "series");
  for (guint i = 0; i < records->len; i++)
    demur_dicom_json_record(json, records->pdata[i], FALSE);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

static gboolean
print_one(DemurContext *context, const char *scan_id, GError **error) {
  g_autoptr(DemurOverruleRecord) overrule = NULL;
  g_autoptr(DemurSeriesRecord) record =
      demur_task_series_show(&context->task, scan_id, &overrule, error);
  if (record == NULL)
    return FALSE;
  if (!context->json) {
    g_autofree char *text = demur_dicom_text_record(record, TRUE);
    print_text(text);
    g_autofree char *by_rules =
        overrule != NULL ? demur_words_kept(overrule->rules_reason, NULL) : NULL;
    if (overrule != NULL)
      g_print("  chosen by    a person: %s\n  by the rules %s\n", overrule->reason,
              by_rules != NULL ? by_rules : "accepted");
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_dicom_json_record_begin(json, record, TRUE);
  demur_intake_json_overrule(json, overrule);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

/* --reason of what a person decides. */
#define REASON_ENTRY(reason)                                                                       \
  { "reason", 0, 0, G_OPTION_ARG_STRING, (reason), "why; kept with who and when", "TEXT" }

/* The SCAN that a command takes, owned; NULL with error. */
static char *
parse_scan(DemurContext *context, int argc, char **argv, const GOptionEntry *entries,
           GError **error) {
  g_auto(GStrv) words = NULL;
  g_autofree char *takes = g_strdup_printf("dicom %s takes SCAN", argv[0]);
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, takes, error))
    return NULL;
  return g_strdup(words[0]);
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  const GOptionEntry entries[] = {{NULL}};
  g_autofree char *scan_id = parse_scan(context, argc, argv, entries, error);
  return scan_id != NULL && print_one(context, scan_id, error);
}

static gboolean
run_choose(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
      {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, "why; kept beside the rules' verdict", "TEXT"},
      {NULL}};
  g_autofree char *scan_id = parse_scan(context, argc, argv, entries, error);
  if (scan_id == NULL)
    return FALSE;
  if (reason == NULL || *g_strstrip(reason) == '\0') {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "dicom choose needs --reason TEXT: why the rules are overruled");
    return FALSE;
  }
  return demur_intake_choose(&context->task, scan_id, reason, error) &&
         print_one(context, scan_id, error);
}

static gboolean
run_resolve(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *reason = NULL;
  gboolean keep = FALSE, both = FALSE;
  const GOptionEntry entries[] = {
      {"keep", 0, 0, G_OPTION_ARG_NONE, &keep, "this one is right: the others are taken out", NULL},
      {"both", 0, 0, G_OPTION_ARG_NONE, &both, "all are what they say: each is a scan of its own",
       NULL},
      REASON_ENTRY(&reason),
      {NULL}};
  g_autofree char *scan_id = parse_scan(context, argc, argv, entries, error);
  if (scan_id == NULL)
    return FALSE;
  if (keep == both) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "dicom resolve needs one of --keep and --both");
    return FALSE;
  }
  return demur_decide_resolve(&context->task, scan_id,
                              keep ? DEMUR_RESOLVE_KEEP : DEMUR_RESOLVE_BOTH, reason, error) &&
         print_one(context, scan_id, error);
}

static gboolean
run_correct(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *reason = NULL, *corrected = NULL;
  const GOptionEntry entries[] = {REASON_ENTRY(&reason), {NULL}};
  g_autofree char *scan_id = parse_scan(context, argc, argv, entries, error);
  return scan_id != NULL &&
         demur_decide_correct(&context->task, scan_id, reason, &corrected, error) &&
         print_one(context, corrected, error);
}

/* What a removal takes out and what stays, before it is done (planned) or after it. */
static void
print_extent(DemurContext *context, const DemurRemovalExtent *extent, guint n, gboolean planned) {
  const guint n_series = g_strv_length(extent->scan_ids);
  if (!context->json) {
    g_print("%u series %s (%u stud%s): %" G_GINT64_FORMAT " image%s, %" G_GINT64_FORMAT
            " score%s\n",
            n_series, planned ? "would be taken out" : "taken out", extent->n_studies,
            extent->n_studies == 1 ? "y" : "ies", extent->n_images,
            demur_cli_s((guint64)extent->n_images), extent->n_scores,
            demur_cli_s((guint64)extent->n_scores));
    g_print("kept in the history: %" G_GINT64_FORMAT " verdict%s, %" G_GINT64_FORMAT
            " opinions and comments, %" G_GINT64_FORMAT " measurements; files are not touched\n",
            extent->n_verdicts, demur_cli_s((guint64)extent->n_verdicts), extent->n_reviews,
            extent->n_drawn);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_bool(json, "dry_run", planned);
  demur_json_int(json, "n_removed", n);
  demur_json_begin_array(json, "scans");
  for (guint i = 0; i < n_series; i++)
    demur_json_string(json, NULL, extent->scan_ids[i]);
  demur_json_end_array(json);
  demur_json_int(json, "n_studies", extent->n_studies);
  demur_json_int(json, "n_images", extent->n_images);
  demur_json_int(json, "n_scores", extent->n_scores);
  demur_json_int(json, "n_verdicts_kept", extent->n_verdicts);
  demur_json_int(json, "n_reviews_kept", extent->n_reviews);
  demur_json_int(json, "n_annotations_kept", extent->n_drawn);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_remove(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  g_autofree char *reason = NULL, *scan_id = NULL, *study = NULL, *patient = NULL;
  gboolean dry_run = FALSE;
  const GOptionEntry entries[] = {
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "this series", "SCAN"},
      {"study", 0, 0, G_OPTION_ARG_STRING, &study, "every series of this study", "UID"},
      {"patient", 0, 0, G_OPTION_ARG_STRING, &patient, "every series of this PatientID", "ID"},
      {"dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run,
       "say what would leave and what would stay, and take nothing out", NULL},
      REASON_ENTRY(&reason),
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "dicom remove takes no words", error))
    return FALSE;
  if ((scan_id != NULL) + (study != NULL) + (patient != NULL) != 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "dicom remove needs one of --scan, --study and --patient");
    return FALSE;
  }
  const DemurOptionGiven useless = {"--reason", reason != NULL};
  if (dry_run && !demur_command_refuse_beside("--dry-run", &useless, 1, error))
    return FALSE;
  DemurRemoval removal = {scan_id, study, patient, NULL};
  g_auto(DemurRemovalExtent) extent = {0};
  guint n = 0;
  if (!demur_decide_extent(&context->task, &removal, &extent, error))
    return FALSE;
  removal.agreed = (const char *const *)extent.scan_ids; /* what is told is what was done */
  if (!dry_run && !demur_decide_remove(&context->task, &removal, reason, &n, error))
    return FALSE;
  print_extent(context, &extent, n, dry_run);
  return TRUE;
}

/* The key of --key FILE, else one of this run alone. Owned. */
static GBytes *
read_key(const char *path, GError **error) {
  if (path != NULL) {
    gsize length;
    char *bytes = demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES, &length, error);
    if (bytes == NULL)
      g_prefix_error(error, "the key: ");
    return bytes != NULL ? g_bytes_new_take(bytes, length) : NULL;
  }
  guint8 random[32];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                        "the system gives no random bytes for a key: give --key FILE");
    return NULL;
  }
  return g_bytes_new(random, sizeof random);
}

/* The report: which attributes went or were cleaned in how many elements. No value is told. */
static void
print_what_went(DemurJson *json, const DemurDeidentified *result, gboolean as_text) {
  demur_json_int(json, "n_outside_bits", (gint64)result->n_outside_bits);
  demur_json_int(json, "n_behind_pixels", (gint64)result->n_behind_pixels);
  demur_json_int(json, "n_decompressed", (gint64)result->n_decompressed);
  demur_json_begin_array(json, "attributes");
  for (guint i = 0; i < result->tags->len; i++) {
    const DemurDeidentifiedTag *tag = result->tags->pdata[i];
    g_autofree char *number =
        tag->tag == 0 ? NULL : g_strdup_printf("(%04X,%04X)", tag->tag >> 16, tag->tag & 0xFFFF);
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "tag", number);
    demur_json_string(json, "name", tag->name);
    demur_json_int(json, "n_removed", (gint64)tag->n_removed);
    demur_json_int(json, "n_cleaned", (gint64)tag->n_cleaned);
    demur_json_end_object(json);
    if (as_text)
      g_print("%-11s %-40s removed %zu, changed %zu\n", number != NULL ? number : "", tag->name,
              tag->n_removed, tag->n_cleaned);
  }
  demur_json_end_array(json);
  if (as_text)
    g_print("pixels: %zu copies with something outside their stored bits, %zu with bytes behind, "
            "%zu were compressed\n",
            result->n_outside_bits, result->n_behind_pixels, result->n_decompressed);
}

static gboolean
run_deidentify(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  g_autofree char *key_path = NULL;
  const GOptionEntry entries[] = {
      {"key", 0, 0, G_OPTION_ARG_FILENAME, &key_path,
       "secret bytes that make the new identities: the same file, the same identities (random)",
       "FILE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 2, "dicom deidentify takes IN and OUT", error))
    return FALSE;
  g_autoptr(GBytes) key = read_key(key_path, error);
  if (key == NULL)
    return FALSE;
  const char *paths[] = {words[0], NULL};
  g_autoptr(DemurDeidentified) result =
      demur_deidentify(paths, words[1], g_bytes_get_data(key, NULL), g_bytes_get_size(key),
                       context->task.parallel, &context->task.progress, error);
  if (result == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "n_written", (gint64)result->n_written);
  demur_json_bool(json, "key_given", key_path != NULL);
  print_what_went(json, result, !context->json);
  demur_json_begin_array(json, "skipped");
  for (guint i = 0; i < result->skipped->len; i++) {
    const DemurSkipped *skipped = result->skipped->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "path", skipped->path);
    demur_json_string(json, "reason", skipped->reason);
    demur_json_end_object(json);
    if (!context->json)
      g_print("skipped %s: %s\n", skipped->path, skipped->reason);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_end_json(context, json);
  if (!context->json)
    g_print("%zu image%s copied to %s, %u file%s left behind\n", result->n_written,
            demur_cli_s(result->n_written), words[1], result->skipped->len,
            demur_cli_s(result->skipped->len));
  if (result->n_written > 0)
    return TRUE;
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                      "no CT image was copied, for the reasons above");
  return FALSE;
}

static gboolean
run_rules(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL, changes = NULL;
  g_autofree char *path = NULL;
  const GOptionEntry entries[] = {
      {"rules", 0, 0, G_OPTION_ARG_FILENAME, &path, "with the changes of FILE", "FILE"},
      {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &changes, "with one change", "RULE=VALUE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "dicom rules takes no words", error))
    return FALSE;
  g_autoptr(DemurEligibility) rules = demur_intake_rules(path, changes, error);
  if (rules == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "rules");
  for (size_t i = 0; i < rules->n_rules; i++) {
    const DemurRule *rule = &rules->rules[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "rule", rule->code);
    demur_json_string(json, "action", demur_rule_action_name(rule->action));
    demur_json_double(json, "limit", rule->limit);
    demur_json_string(json, "asks_for", rule->words);
    demur_json_end_object(json);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (!context->json)
      g_print("%-20s %-7s %-5s %s\n", rule->code, demur_rule_action_name(rule->action),
              isnan(rule->limit) ? "" : demur_number_format(rule->limit, number), rule->words);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_end_json(context, json);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "import",
       .parameters = "PATH...",
       .summary = "read DICOM files into the workspace",
       .description =
           "PATH is a file, a folder, a DICOMDIR or a ZIP archive. Which series is assessed "
           "is decided here, from headers, with the reason for every other; `demur dicom rules` "
           "lists the rules. Of files that were imported before and whose size, times and place are "
           "unchanged only the headers are read; --reread reads all.",
       .run = run_import},
      {.name = "list",
       .parameters = "",
       .summary = "list the series of the workspace",
       .run = run_list},
      {.name = "show",
       .parameters = "SCAN",
       .summary = "show one series with its slices",
       .description = "SCAN is a scan_id of dicom list.",
       .run = run_show},
      {.name = "choose",
       .parameters = "SCAN --reason TEXT",
       .summary = "assess a series that the rules did not choose",
       .description = "Both verdicts are kept: the rules' and yours. Not for a series with "
                      "two patients, nor for what is no CT.",
       .run = run_choose},
      {.name = "resolve",
       .parameters = "SCAN --keep | --both --reason TEXT",
       .summary = "decide between series that conflict",
       .description = "SCAN came with UIDs that another person, or other content, has too. "
                      "Until one decides neither is assessed.",
       .run = run_resolve},
      {.name = "correct",
       .parameters = "SCAN --reason TEXT",
       .summary = "take a series as the correction of one with the same images",
       .description = "SCAN came with another person for images that are known: they are that "
                      "person's. The score stays, the verdict has to be given again.",
       .run = run_correct},
      {.name = "remove",
       .parameters = "--scan SCAN | --study UID | --patient ID --reason TEXT",
       .summary = "take series out of the workspace",
       .description = "Images and scores end, verdicts hold no longer; the history says so. "
                      "Files are not touched.",
       .run = run_remove},
      {.name = "rules",
       .parameters = "",
       .summary = "list the rules of eligibility",
       .run = run_rules},
      {.name = "deidentify",
       .parameters = "IN OUT",
       .summary = "copy CT images without what names a person",
       .description = "By the basic profile of PS3.15 annex E: new UIDs, dates moved, all but "
                      "technical attributes out. OUT must be new or empty. Look at the pictures "
                      "before you share them: nothing is painted over.",
       .run = run_deidentify},
      {.name = "echo",
       .parameters = "HOST:PORT",
       .summary = "ask a DICOM peer whether it answers",
       .run = demur_dicom_echo},
      {.name = "query",
       .parameters = "HOST:PORT",
       .summary = "ask an archive for studies and series, have them sent",
       .description =
           "In place of HOST:PORT an https address (QIDO-RS). With --move-to the archive sends what was named, for example to `demur "
           "dicom receive`, which it must know by that AE title.",
       .run = demur_dicom_query},
      {.name = "retrieve",
       .parameters = "PEER FOLDER --study UID",
       .summary = "fetch a study from an archive",
       .description = "PEER is an https address (WADO-RS), or HOST:PORT of an archive "
                      "(C-GET; one that knows none has it sent by `demur dicom query "
                      "--move-to`). Objects are kept as they come in FOLDER/STUDY/SERIES; "
                      "`demur dicom import` reads them.",
       .run = demur_dicom_retrieve},
      {.name = "receive",
       .parameters = "FOLDER",
       .summary = "serve as a DICOM storage peer until Ctrl-C",
       .description = "Objects are kept as sent in FOLDER/STUDY/SERIES; a study is read into "
                      "the workspace once its association was released and all is quiet.",
       .run = demur_dicom_receive},
      {.name = "send",
       .parameters = "HOST:PORT PATH...",
       .summary = "send DICOM files to a peer",
       .description =
           "In place of HOST:PORT an https address (STOW-RS). Each goes as it is stored; `demur export FILE.dcm --scan SCAN` makes "
           "the result that an archive can keep.",
       .run = demur_dicom_send},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_dicom = {
    .name = "dicom", .summary = "CT series: import, list, show; network", .run = run};
