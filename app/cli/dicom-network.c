#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "app/cli/dicom-network.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tasks/assess.h"
#include "tasks/intake.h"
#include "tasks/selection.h"
#include "base/file-input.h"
#include "base/number.h"
#include "dicom/network.h"
#include "dicom/receiver.h"
#include "dicom/web.h"
#include "tasks/series-records.h"
#include "words/words.h"

#define MAX_DEPTH 64
#define MAX_LOGIN 65536 /* bytes of a file with a login */

/* Options of every command that calls a peer. */
typedef struct {
  char *called, *calling, *certificate, *key, *authorities, *login_path, *login;
  int timeout;
  DemurTls tls; /* filled by parse_peer */
} PeerOptions;

static void
peer_options_clear(PeerOptions *options) {
  g_free(options->called);
  g_free(options->calling);
  g_free(options->certificate);
  g_free(options->key);
  g_free(options->authorities);
  g_free(options->login_path);
  g_free(options->login);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PeerOptions, peer_options_clear)

#define TLS_ENTRIES(o)                                                                             \
  {"tls-ca",                                                                                       \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_FILENAME,                                                                          \
   &(o).authorities,                                                                               \
   "encrypt; certificates of the authorities that are trusted (PEM)",                              \
   "FILE"},                                                                                        \
      {"tls-cert", 0, 0, G_OPTION_ARG_FILENAME, &(o).certificate, "our own certificate (PEM)",     \
       "FILE"},                                                                                    \
  {                                                                                                \
    "tls-key", 0, 0, G_OPTION_ARG_FILENAME, &(o).key, "and its key (PEM)", "FILE"                  \
  }

#define PEER_ENTRIES(o)                                                                            \
  {"called", 0, 0, G_OPTION_ARG_STRING, &(o).called, "AE title of the peer (ANY-SCP)", "AE"},      \
      {"calling", 0, 0, G_OPTION_ARG_STRING, &(o).calling, "AE title of our own (DEMUR)", "AE"},   \
      {"timeout",                                                                                  \
       0,                                                                                          \
       0,                                                                                          \
       G_OPTION_ARG_INT,                                                                           \
       &(o).timeout,                                                                               \
       "seconds to wait for the peer, each time (30)",                                             \
       "N"},                                                                                       \
      TLS_ENTRIES(o)

static gboolean
check_ae(const char *title, GError **error) {
  const size_t n = strlen(title);
  gboolean good = n > 0 && n <= 16 && strspn(title, " ") < n;
  for (size_t i = 0; i < n; i++)
    good &= title[i] >= ' ' && title[i] < 127 && title[i] != '\\';
  if (!good)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "'%s' is no AE title: 1 to 16 characters of ASCII without a backslash", title);
  return good;
}

/* Whether TLS is asked for: *tls is then filled. */
static gboolean
parse_tls(const char *certificate, const char *key, const char *authorities, DemurTls *tls,
          const DemurTls **use, GError **error) {
  *tls = (DemurTls){.certificate = certificate, .key = key, .authorities = authorities};
  *use = authorities != NULL ? tls : NULL;
  if ((certificate == NULL) == (key == NULL) && (certificate == NULL || authorities != NULL))
    return TRUE;
  g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                      "--tls-cert and --tls-key go together, and with --tls-ca");
  return FALSE;
}

/* "HOST:PORT" -> peer, whose host is owned by *host. */
static gboolean
parse_peer(const char *word, PeerOptions *options, DemurPeer *peer, char **host, GError **error) {
  const char *colon = strrchr(word, ':');
  gint64 port = 0;
  if (colon == NULL || colon == word ||
      !demur_number_parse_int(colon + 1, strlen(colon + 1), &port) || port < 1 || port > 65535) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "'%s' is no peer: give HOST:PORT, as in 127.0.0.1:4242", word);
    return FALSE;
  }
  if (options->timeout < 1 || options->timeout > 3600) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--timeout takes 1 to 3600 seconds");
    return FALSE;
  }
  *host = g_strndup(word, (gsize)(colon - word));
  *peer = (DemurPeer){.host = *host,
                      .port = (guint)port,
                      .called = options->called != NULL ? options->called : "ANY-SCP",
                      .calling = options->calling != NULL ? options->calling : "DEMUR",
                      .timeout_seconds = (guint)options->timeout};
  const DemurOptionGiven of_web = {"--login", options->login_path != NULL};
  return demur_command_refuse_beside("HOST:PORT", &of_web, 1, error) &&
         parse_tls(options->certificate, options->key, options->authorities, &options->tls,
                   &peer->tls, error) &&
         check_ae(peer->called, error) && check_ae(peer->calling, error);
}

#define WEB_ENTRY(o)                                                                               \
  {                                                                                                \
    "login", 0, 0, G_OPTION_ARG_FILENAME, &(o).login_path,                                         \
        "for an https address: a file with USER:PASSWORD, or a token", "FILE"                      \
  }

/* "https://.." -> web, whose login is owned by options. */
static gboolean
parse_web(const char *word, PeerOptions *options, DemurWeb *web, GError **error) {
  if (options->timeout < 1 || options->timeout > 3600) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--timeout takes 1 to 3600 seconds");
    return FALSE;
  }
  *web = (DemurWeb){.url = word, .timeout_seconds = (guint)options->timeout};
  const DemurOptionGiven of_peer[] = {{"--called", options->called != NULL},
                                      {"--calling", options->calling != NULL}};
  if (!demur_command_refuse_beside("an https address", of_peer, G_N_ELEMENTS(of_peer), error) ||
      !parse_tls(options->certificate, options->key, options->authorities, &options->tls, &web->tls,
                 error))
    return FALSE;
  if (options->login_path != NULL &&
      (options->login = demur_file_input_read(options->login_path, MAX_LOGIN, NULL, error)) == NULL)
    return FALSE;
  web->login = options->login != NULL ? g_strstrip(options->login) : NULL;
  return TRUE;
}

gboolean
demur_dicom_echo(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(PeerOptions) options = {.timeout = 30};
  g_auto(GStrv) words = NULL;
  g_autofree char *host = NULL;
  DemurPeer peer;
  const GOptionEntry entries[] = {PEER_ENTRIES(options), {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "dicom echo takes HOST:PORT", error) ||
      !parse_peer(words[0], &options, &peer, &host, error) || !demur_network_echo(&peer, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "peer", words[0]);
    demur_json_bool(json, "answered", TRUE);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("%s at %s answers\n", peer.called, words[0]);
  }
  return TRUE;
}

static int
compare_names(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every regular file at or below path, in order of name. */
static void
add_files(GPtrArray *files, const char *path, int depth) {
  if (!g_file_test(path, G_FILE_TEST_IS_DIR) || depth > MAX_DEPTH) {
    g_ptr_array_add(files, g_strdup(path));
    return;
  }
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    g_ptr_array_add(names, g_build_filename(path, name, NULL));
  g_ptr_array_sort(names, compare_names);
  for (guint i = 0; i < names->len; i++)
    if (!g_file_test(names->pdata[i], G_FILE_TEST_IS_SYMLINK) ||
        !g_file_test(names->pdata[i], G_FILE_TEST_IS_DIR))
      add_files(files, names->pdata[i], depth + 1);
}

static void
print_sending(DemurContext *context, const DemurSending *sending) {
  if (!context->json) {
    for (guint i = 0; i < sending->problems->len; i++)
      g_print("%s\n", (const char *)sending->problems->pdata[i]);
    g_print("%zu sent, %zu refused, %zu skipped\n", sending->n_sent, sending->n_failed,
            sending->n_skipped);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "n_sent", (gint64)sending->n_sent);
  demur_json_int(json, "n_failed", (gint64)sending->n_failed);
  demur_json_int(json, "n_skipped", (gint64)sending->n_skipped);
  demur_json_begin_array(json, "problems");
  for (guint i = 0; i < sending->problems->len; i++)
    demur_json_string(json, NULL, sending->problems->pdata[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

gboolean
demur_dicom_send(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(PeerOptions) options = {.timeout = 30};
  g_auto(GStrv) words = NULL;
  g_autofree char *host = NULL;
  DemurPeer peer;
  DemurWeb web;
  const GOptionEntry entries[] = {PEER_ENTRIES(options), WEB_ENTRY(options), {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error))
    return FALSE;
  if (g_strv_length(words) < 2) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "dicom send takes HOST:PORT PATH...");
    return FALSE;
  }
  const gboolean is_web = demur_web_is_url(words[0]);
  if (is_web ? !parse_web(words[0], &options, &web, error)
             : !parse_peer(words[0], &options, &peer, &host, error))
    return FALSE;
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  for (char **path = words + 1; *path != NULL; path++) {
    if (!g_file_test(*path, G_FILE_TEST_EXISTS)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND, "%s does not exist", *path);
      return FALSE;
    }
    add_files(files, *path, 0);
  }
  g_ptr_array_add(files, NULL);
  const char *const *paths = (const char *const *)files->pdata;
  const DemurProgress *progress = &context->task.progress;
  g_autoptr(DemurSending) sending = is_web ? demur_web_send(&web, paths, progress, error)
                                           : demur_network_send(&peer, paths, progress, error);
  if (sending == NULL)
    return FALSE;
  print_sending(context, sending);
  if (sending->n_failed > 0 || sending->n_sent == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "%zu objects were sent, %zu were not",
                sending->n_sent, sending->n_failed);
    return FALSE;
  }
  return TRUE;
}

static void
print_found(DemurContext *context, const GPtrArray *found, gboolean series) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, series ? "series" : "studies");
  for (guint i = 0; i < found->len; i++) {
    const DemurFound *f = found->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "study_uid", f->study_uid);
    if (series) {
      demur_json_string(json, "series_uid", f->series_uid);
      demur_json_string(json, "series_number", f->series_number);
      demur_json_string(json, "description", f->series_description);
    } else {
      demur_json_string(json, "patient_id", f->patient_id);
      demur_json_string(json, "accession_number", f->accession_number);
      demur_json_string(json, "study_date", f->study_date);
      demur_json_string(json, "description", f->study_description);
    }
    demur_json_string(json, "modality", f->modality);
    demur_json_string(json, "n_instances", f->n_instances);
    demur_json_end_object(json);
    if (context->json)
      continue;
    if (series)
      g_print("%s  %s  number %s  %s objects  %s\n", f->series_uid, f->modality, f->series_number,
              f->n_instances, f->series_description);
    else
      g_print("%s  %s  %s  patient %s  %s objects  %s\n", f->study_uid, f->study_date, f->modality,
              f->patient_id, f->n_instances, f->study_description);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_end_json(context, json);
}

static void
print_moved(DemurContext *context, const DemurMoved *moved, const char *destination) {
  if (!context->json) {
    g_print("%u object%s moved to %s\n", moved->n_completed, demur_cli_s(moved->n_completed),
            destination);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "destination", destination);
  demur_json_int(json, "n_completed", moved->n_completed);
  demur_json_int(json, "n_failed", moved->n_failed);
  demur_json_int(json, "n_warnings", moved->n_warnings);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

/* A PatientID from standard input, in place of *patient: no list of programs and no history of a
 * shell holds it. */
static gboolean
read_patient(char **patient, GError **error) {
  char line[256];
  if (fgets(line, sizeof line, stdin) == NULL || *g_strstrip(line) == '\0') {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--patient - reads the PatientID from standard input, which has none");
    return FALSE;
  }
  g_free(*patient);
  *patient = g_strdup(line);
  return TRUE;
}

gboolean
demur_dicom_query(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(PeerOptions) options = {.timeout = 30};
  g_autofree char *patient = NULL, *accession = NULL, *date = NULL, *modality = NULL, *study = NULL,
                  *series = NULL, *destination = NULL, *host = NULL;
  g_auto(GStrv) words = NULL;
  DemurPeer peer;
  DemurWeb web;
  const GOptionEntry entries[] = {
      PEER_ENTRIES(options),
      WEB_ENTRY(options),
      {"patient", 0, 0, G_OPTION_ARG_STRING, &patient,
       "studies of this PatientID; - reads it from standard input", "ID"},
      {"accession", 0, 0, G_OPTION_ARG_STRING, &accession, "with this AccessionNumber", "N"},
      {"date", 0, 0, G_OPTION_ARG_STRING, &date, "of this date or range", "YYYYMMDD[-YYYYMMDD]"},
      {"modality", 0, 0, G_OPTION_ARG_STRING, &modality, "of this modality", "CT"},
      {"study", 0, 0, G_OPTION_ARG_STRING, &study, "list the series of this study", "UID"},
      {"series", 0, 0, G_OPTION_ARG_STRING, &series, "this series of it", "UID"},
      {"move-to", 0, 0, G_OPTION_ARG_STRING, &destination,
       "have the archive send --study (and --series) to its peer AE", "AE"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "dicom query takes HOST:PORT", error))
    return FALSE;
  const gboolean is_web = demur_web_is_url(words[0]);
  if (is_web ? !parse_web(words[0], &options, &web, error)
             : !parse_peer(words[0], &options, &peer, &host, error))
    return FALSE;
  if (g_strcmp0(patient, "-") == 0 && !read_patient(&patient, error))
    return FALSE;
  if ((series != NULL || destination != NULL) && study == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--series and --move-to need --study UID");
    return FALSE;
  }
  /* The modality is one of a series too. */
  const DemurOptionGiven of_studies[] = {{"--patient", patient != NULL},
                                         {"--accession", accession != NULL},
                                         {"--date", date != NULL},
                                         {"--modality", modality != NULL && destination != NULL}};
  if (study != NULL &&
      !demur_command_refuse_beside("--study", of_studies, G_N_ELEMENTS(of_studies), error))
    return FALSE;
  if (destination != NULL && is_web) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--move-to needs HOST:PORT; from the web `demur dicom retrieve` takes it");
    return FALSE;
  }
  if (destination != NULL) {
    DemurMoved moved;
    if (!check_ae(destination, error) ||
        !demur_network_move(&peer, destination, study, series, &moved, error))
      return FALSE;
    print_moved(context, &moved, destination);
    return TRUE;
  }
  const DemurQuery query = {patient, accession, date, modality, study, series};
  g_autoptr(GPtrArray) found =
      is_web ? demur_web_find(&web, &query, error) : demur_network_find(&peer, &query, error);
  if (found == NULL)
    return FALSE;
  print_found(context, found, study != NULL);
  return TRUE;
}

static gboolean
retrieve_web(DemurContext *context, char **words, PeerOptions *options, const char *study,
             const char *series, DemurGot *got, GError **error) {
  DemurWeb web;
  DemurWebRetrieved retrieved;
  if (!parse_web(words[0], options, &web, error) ||
      !demur_web_retrieve(&web, study, series, words[1], &retrieved, &context->task.progress,
                          error))
    return FALSE;
  *got = (DemurGot){.n_objects = retrieved.n_objects, .n_known = retrieved.n_known};
  return TRUE;
}

static gboolean
retrieve_peer(DemurContext *context, char **words, PeerOptions *options, const char *study,
              const char *series, DemurGot *got, GError **error) {
  DemurPeer peer;
  g_autofree char *host = NULL;
  return parse_peer(words[0], options, &peer, &host, error) &&
         demur_network_get(&peer, study, series, words[1], got, &context->task.progress, error);
}

gboolean
demur_dicom_retrieve(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(PeerOptions) options = {.timeout = 30};
  g_autofree char *study = NULL, *series = NULL;
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {
      {"study", 0, 0, G_OPTION_ARG_STRING, &study, "this study", "UID"},
      {"series", 0, 0, G_OPTION_ARG_STRING, &series, "this series of it", "UID"},
      PEER_ENTRIES(options),
      WEB_ENTRY(options),
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 2, "dicom retrieve takes PEER FOLDER", error))
    return FALSE;
  if (study == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "dicom retrieve needs --study UID");
    return FALSE;
  }
  DemurGot got;
  if (!(demur_web_is_url(words[0]) ? retrieve_web : retrieve_peer)(context, words, &options, study,
                                                                   series, &got, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "n_objects", (gint64)got.n_objects);
    demur_json_int(json, "n_known", (gint64)got.n_known);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("%zu object%s, %zu more were there before\n", got.n_objects, demur_cli_s(got.n_objects),
            got.n_known);
  }
  return TRUE;
}

/* What `receive` carries through its callbacks. */
typedef struct {
  DemurContext *context;
  const DemurEligibility *rules;
  const DemurSiteMap *sites;
  const char *selector; /* NULL: nothing is assessed */
  guint port;
  gboolean once;
  DemurJson *json;     /* the array of what was imported */
  GPtrArray *problems; /* char * */
  size_t n_series, n_accepted;
  GError *error; /* the first */
} Receiving;

static gboolean
on_listening(gpointer data, GError **error) {
  const Receiving *receiving = data;
  (void)error;
  g_printerr("demur: listening on port %u\n", receiving->port);
  fflush(stderr);
  return TRUE;
}

static void
on_problem(const char *sentence, gpointer data) {
  Receiving *receiving = data;
  g_ptr_array_add(receiving->problems, g_strdup(sentence));
  g_printerr("demur: %s\n", sentence);
}

/* One series that came in: its verdict, where a selector is given. */
static gboolean
assess_received(Receiving *receiving, const DemurSeriesRecord *record, GError **error) {
  g_autofree char *reason = demur_words_kept(record->reason, NULL);
  const char *word = record->accepted ? "to be assessed" : reason;
  g_auto(DemurAssessment) assessment = {0};
  if (receiving->selector != NULL) {
    const DemurAssessParams options = {.selector = receiving->selector, .scan_id = record->scan_id};
    if (!demur_task_assess(&receiving->context->task, &options, &assessment, error) ||
        !demur_assessment_save(&receiving->context->task, &assessment, error))
      return FALSE;
    if (assessment.verdicts->len > 0)
      word = demur_verdict_name(g_array_index(assessment.verdicts, DemurVerdictRecord, 0).verdict);
  }
  receiving->n_series++;
  receiving->n_accepted += record->accepted ? 1 : 0;
  demur_json_begin_object(receiving->json, NULL);
  demur_json_string(receiving->json, "scan_id", record->scan_id);
  demur_json_int(receiving->json, "n_slices", (gint64)record->n_slices);
  demur_json_bool(receiving->json, "accepted", record->accepted);
  demur_json_string(receiving->json, "reason", reason);
  demur_dicom_json_reasons(receiving->json, "reason_details", record->reason);
  demur_json_string(receiving->json, "verdict", receiving->selector != NULL ? word : NULL);
  demur_json_end_object(receiving->json);
  if (!receiving->context->json) {
    g_print("%s  %zu slice%s  %s\n", record->scan_id, record->n_slices,
            demur_cli_s(record->n_slices), word);
    fflush(stdout);
  }
  return TRUE;
}

static DemurSettled
on_settled(const char *const *folders, gpointer data) {
  Receiving *receiving = data;
  g_autoptr(GError) error = NULL;
  const DemurIntakeParams params = {.rules = receiving->rules, .sites = receiving->sites};
  g_autoptr(DemurIntake) intake =
      demur_intake_run(&receiving->context->task, folders, &params, &error);
  const gboolean unread = intake == NULL;
  for (guint i = 0; intake != NULL && error == NULL && i < intake->records->len; i++)
    if (!assess_received(receiving, intake->records->pdata[i], &error))
      break;
  if (error != NULL) {
    on_problem(error->message, receiving);
    if (receiving->error == NULL)
      receiving->error = g_steal_pointer(&error);
  }
  /* A folder that an earlier receiver made, and could put nothing into, is no study. */
  const gboolean read = intake != NULL && intake->records->len + intake->import->skipped->len > 0;
  if (receiving->once && (unread || read))
    return DEMUR_SETTLED_END;
  /* Locked, full, not there: what was acknowledged stays to be read. */
  return unread ? DEMUR_SETTLED_AGAIN : DEMUR_SETTLED_DONE;
}

static void
print_received(DemurContext *context, Receiving *receiving, const DemurReceived *received) {
  DemurJson *json = receiving->json;
  demur_json_end_array(json);
  demur_json_int(json, "n_associations", (gint64)received->n_associations);
  demur_json_int(json, "n_refused", (gint64)received->n_refused);
  demur_json_int(json, "n_broken", (gint64)received->n_broken);
  demur_json_int(json, "n_received", (gint64)received->n_received);
  demur_json_int(json, "n_known", (gint64)received->n_known);
  demur_json_int(json, "n_rejected", (gint64)received->n_rejected);
  demur_json_int(json, "n_missing", (gint64)received->n_missing);
  demur_json_int(json, "n_unread", (gint64)received->n_unread);
  demur_json_int(json, "n_cut", (gint64)received->n_cut);
  demur_json_begin_array(json, "problems");
  for (guint i = 0; i < receiving->problems->len; i++)
    demur_json_string(json, NULL, receiving->problems->pdata[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  receiving->json = NULL;
  if (context->json) {
    demur_context_print_json(context, json);
    return;
  }
  demur_json_free(json);
  g_print("%zu object%s in %zu association%s (%zu known before, %zu rejected; %zu association%s "
          "refused, %zu broken off); %zu series, %zu of them to be assessed\n",
          received->n_received, demur_cli_s(received->n_received), received->n_associations,
          demur_cli_s(received->n_associations), received->n_known, received->n_rejected,
          received->n_refused, demur_cli_s(received->n_refused), received->n_broken,
          receiving->n_series, receiving->n_accepted);
}

gboolean
demur_dicom_receive(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *ae = NULL, *selector = NULL, *rules_path = NULL, *sites_path = NULL;
  g_auto(PeerOptions) secrets = {0};
  g_auto(GStrv) words = NULL, callers = NULL, hosts = NULL, changes = NULL;
  int port = 11112, settle = 5, timeout = 30;
  gboolean once = FALSE;
  const GOptionEntry entries[] = {
      {"port", 0, 0, G_OPTION_ARG_INT, &port, "port to listen on (11112)", "N"},
      {"ae", 0, 0, G_OPTION_ARG_STRING, &ae, "AE title of our own (DEMUR)", "AE"},
      {"allow", 0, 0, G_OPTION_ARG_STRING_ARRAY, &callers,
       "accept this calling AE title (any); may be repeated", "AE"},
      {"allow-host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &hosts,
       "accept this address, or any (this machine only); may be repeated", "ADDRESS"},
      {"selector", 's', 0, G_OPTION_ARG_STRING, &selector, "assess what arrives", "S"},
      {"settle", 0, 0, G_OPTION_ARG_INT, &settle,
       "read what has arrived after so many quiet seconds (5)", "N"},
      {"timeout", 0, 0, G_OPTION_ARG_INT, &timeout, "end an association silent for so long (30)",
       "N"},
      {"once", 0, 0, G_OPTION_ARG_NONE, &once, "end after the first studies are read", NULL},
      {"rules", 0, 0, G_OPTION_ARG_FILENAME, &rules_path, "rules of eligibility", "FILE"},
      {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &changes, "change one rule", "RULE=VALUE"},
      {"site-map", 0, 0, G_OPTION_ARG_FILENAME, &sites_path, "institutions and sites", "FILE"},
      TLS_ENTRIES(secrets),
      {NULL}};
  const DemurTls *tls = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "dicom receive takes FOLDER", error) ||
      !parse_tls(secrets.certificate, secrets.key, secrets.authorities, &secrets.tls, &tls, error))
    return FALSE;
  if (port < 1 || port > 65535 || settle < 0 || settle > 3600 || timeout < 1 || timeout > 3600) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--port takes 1 to 65535, --settle 0 to 3600, --timeout 1 to 3600");
    return FALSE;
  }
  if (!check_ae(ae != NULL ? ae : "DEMUR", error))
    return FALSE;
  g_autoptr(DemurEligibility) rules = demur_intake_rules(rules_path, changes, error);
  g_autoptr(DemurSiteMap) sites = NULL;
  if (rules == NULL ||
      (sites_path != NULL && (sites = demur_site_map_read(sites_path, error)) == NULL) ||
      demur_task_workspace(&context->task, error) == NULL)
    return FALSE;
  /* Else only the first study would tell. */
  g_autoptr(DemurSelector) assessing =
      selector != NULL ? demur_task_load_selector(&context->task, selector, NULL, error) : NULL;
  if (selector != NULL &&
      (assessing == NULL || !demur_task_check_tuned(&context->task, selector, NULL, error)))
    return FALSE;
  g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
  Receiving receiving = {.context = context,
                         .rules = rules,
                         .sites = sites,
                         .selector = selector,
                         .port = (guint)port,
                         .once = once,
                         .json = demur_json_new(),
                         .problems = problems};
  demur_json_begin_object(receiving.json, NULL);
  demur_json_begin_array(receiving.json, "series");
  const DemurReceiver receiver = {.folder = words[0],
                                  .port = (guint)port,
                                  .ae = ae != NULL ? ae : "DEMUR",
                                  .callers = (const char *const *)callers,
                                  .hosts = (const char *const *)hosts,
                                  .tls = tls,
                                  .timeout_seconds = (guint)timeout,
                                  .settle_seconds = (guint)settle,
                                  .listening = on_listening,
                                  .settled = on_settled,
                                  .problem = on_problem,
                                  .data = &receiving};
  DemurReceived received;
  const gboolean served =
      demur_network_receive(&receiver, &received, &context->task.progress, error);
  if (!served) {
    demur_json_free(receiving.json);
    return FALSE;
  }
  print_received(context, &receiving, &received);
  if (receiving.error != NULL) {
    g_propagate_error(error, receiving.error);
    return FALSE;
  }
  if (received.n_missing > 0)
    demur_error_set(error, DEMUR_ERROR_OUTPUT,
                    "objects that could not be kept and were not sent again: %zu; make room, and "
                    "have them sent",
                    received.n_missing);
  else if (received.n_unread > 0)
    demur_error_set(error, DEMUR_ERROR_OUTPUT,
                    "studies that are kept and were not read: %zu (%zu of them were still coming); "
                    "start it again where there is room, and have what broke off sent again",
                    received.n_unread, received.n_cut);
  return received.n_missing == 0 && received.n_unread == 0;
}
