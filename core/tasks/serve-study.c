#include "tasks/serve-study.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/number.h"
#include "dicom/acquisition-count.h"
#include "dicom/commitment.h"
#include "dicom/image-kind.h"
#include "dicom/network.h"
#include "dicom/receiver.h"
#include "dicom/writer.h"
#include "store/scores.h"
#include "store/verdicts.h"
#include "tasks/assess.h"
#include "tasks/result-objects.h"
#include "tasks/scores-run.h"

#define LONGEST_PAUSE 3600
#define READ_TRIES 5 /* of a study whose files say nothing of themselves */
#define ASK_AGAIN 60 /* seconds between questions to the archive */
#define MAX_DEPTH 8
#define LISTEN 5 /* seconds between looks for a storage commitment */

gint64
demur_serve_pause(guint pause_seconds, guint tries) {
  gint64 pause = MAX(pause_seconds, 1);
  for (guint t = 1; t < tries && pause < LONGEST_PAUSE; t++)
    pause *= 2;
  return MIN(pause, LONGEST_PAUSE);
}

static void
set_text(char **text, const char *value) {
  if (*text != value) {
    g_free(*text);
    *text = g_strdup(value);
  }
}

/* The study is at this step now, and may go on at once. */
static void
move_to(DemurServeStudy *study, DemurServeStep step) {
  study->step = step;
  study->tries = 0;
  study->next = 0;
  set_text(&study->why, NULL);
}

static void
hold(DemurServeStudy *study, const char *why) {
  move_to(study, DEMUR_SERVE_DONE);
  study->held = TRUE;
  set_text(&study->why, why);
}

/* Stays at its step until then. */
static void
wait_until(DemurServeStudy *study, const char *why, gint64 next) {
  study->next = next;
  set_text(&study->why, why);
}

static void
retry(const DemurServeConfig *config, DemurServeStudy *study, const char *why, gint64 now) {
  study->tries++;
  wait_until(study, why, now + demur_serve_pause(config->pause_seconds, study->tries));
}

static gboolean
is_cancelled(const GError *error) {
  return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static char *
study_folder(const DemurServeConfig *config, const DemurServeStudy *study) {
  return g_build_filename(config->folder, study->study, NULL);
}

/* --- read --- */

static guint
count_objects(const char *path, int depth) {
  g_autoptr(GDir) dir = depth < MAX_DEPTH ? g_dir_open(path, 0, NULL) : NULL;
  guint n = 0;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    n += g_str_has_suffix(name, ".dcm") ? 1 : count_objects(child, depth + 1);
  }
  return n;
}

/* Objects that a program made of the study, our own answers among them: they are no part of what
 * has to arrive. */
static gboolean
is_made_later(const DemurFound *series) {
  static const char *const modalities[] = {"SR", "DOC", "KO", "PR", NULL};
  return g_strv_contains(modalities, series->modality) ||
         g_str_has_prefix(series->series_description, "Demur:");
}

/* What the archive says the study has; 0: it does not say. FALSE with error where it can't be
 * asked. */
static gboolean
ask_archive(const DemurServeConfig *config, const char *study_uid, guint *n, GError **error) {
  DemurTls tls, web_tls;
  g_autofree char *login = NULL;
  const gboolean is_web = demur_web_is_url(config->archive_host);
  const DemurWeb web = demur_serve_config_web(config, config->archive_host, config->archive_login,
                                              config->timeout_seconds, &web_tls, &login);
  const DemurPeer peer = {.host = config->archive_host,
                          .port = config->archive_port,
                          .called = config->archive_called,
                          .calling = config->ae,
                          .timeout_seconds = config->timeout_seconds,
                          .tls = demur_serve_config_tls(config, config->archive_encrypted, &tls)};
  const DemurQuery query = {.study_uid = study_uid};
  g_autoptr(GPtrArray) found =
      is_web ? demur_web_find(&web, &query, error) : demur_network_find(&peer, &query, error);
  *n = 0;
  for (guint i = 0; found != NULL && i < found->len; i++) {
    const DemurFound *series = found->pdata[i];
    g_autofree char *text = g_strstrip(g_strdup(series->n_instances));
    gint64 number;
    if (is_made_later(series))
      continue;
    if (!demur_number_parse_int(text, strlen(text), &number) || number < 0 || number > 1000000) {
      *n = 0;
      return TRUE;
    }
    *n += (guint)number;
  }
  return found != NULL;
}

/* A study that is not known to be whole: it is assessed as a part, or held, as the settings say. */
static gboolean
decide_part(const DemurServeConfig *config, DemurServeStudy *study, const char *why) {
  study->part = config->assess_part;
  if (!study->part)
    hold(study, why);
  return study->part;
}

static const char broke_off[] =
    "its association broke off, or objects of it were refused, and what "
    "was lost was not sent again: what came may be a part";

/* Where nobody else says: images may say how many their acquisition has, then quiet is all there
 * is. */
static gboolean
is_complete_by_itself(const DemurServeConfig *config, DemurServeStudy *study, const char *folder,
                      gint64 now) {
  const gint64 until = study->arrived + config->wait_seconds;
  const DemurAcquisitionCount count =
      config->count_acquisitions ? demur_acquisition_count(folder) : (DemurAcquisitionCount){0, 0};
  if (count.n_missing == 0)
    return !demur_receiver_is_broken(config->folder, study->study) ||
           decide_part(config, study, broke_off);
  study->n_expected = study->n_objects + count.n_missing;
  g_autofree char *why =
      g_strdup_printf("%u of the %u images that its acquisitions have (0020,1002) are here",
                      count.n_here, count.n_here + count.n_missing);
  if (now < until) {
    wait_until(study, why, MIN(now + ASK_AGAIN, until));
    return FALSE;
  }
  return decide_part(config, study, why);
}

/* Whether the study may be read now. */
static gboolean
is_complete(const DemurServeConfig *config, DemurServeStudy *study, gint64 now) {
  g_autofree char *folder = study_folder(config, study);
  study->n_objects = count_objects(folder, 0);
  study->n_expected = 0;
  study->part = FALSE;
  if (config->archive_host == NULL)
    return is_complete_by_itself(config, study, folder, now);
  const gint64 until = study->arrived + config->wait_seconds;
  g_autoptr(GError) error = NULL;
  if (!ask_archive(config, study->study, &study->n_expected, &error)) {
    if (now >= until)
      return is_complete_by_itself(config, study, folder, now);
    g_autofree char *why =
        g_strdup_printf("the archive can't say how many objects it has: %s", error->message);
    wait_until(study, why, MIN(now + ASK_AGAIN, until));
    return FALSE;
  }
  if (study->n_expected == 0)
    return is_complete_by_itself(config, study, folder, now);
  if (study->n_objects >= study->n_expected)
    return TRUE;
  g_autofree char *why = g_strdup_printf("%u of the %u objects that the archive has are here",
                                         study->n_objects, study->n_expected);
  if (now < until) {
    wait_until(study, why, MIN(now + ASK_AGAIN, until));
    return FALSE;
  }
  return decide_part(config, study, why);
}

/* The one series to be assessed, or the one that stands for a study that has none. */
static const DemurSeriesRecord *
find_subject(const GPtrArray *records, DemurServeStudy *study) {
  const DemurSeriesRecord *accepted = NULL, *other = NULL;
  for (guint i = 0; i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    if (record->accepted && accepted != NULL) {
      hold(study, "images of several persons came under one StudyInstanceUID: assess them by hand");
      return NULL;
    }
    if (record->accepted)
      accepted = record;
    else if (demur_modality_is_ct(record->modality) &&
             (other == NULL || record->n_slices > other->n_slices))
      other = record;
  }
  if (accepted == NULL && other == NULL)
    hold(study, "it has no CT series");
  return accepted != NULL ? accepted : other;
}

static gboolean
step_read(DemurTask *task, const DemurServeRules *rules, DemurServeStudy *study, gint64 now) {
  if (!is_complete(rules->config, study, now))
    return TRUE; /* why, and until when, or that it is held, is told */
  g_autofree char *folder = study_folder(rules->config, study);
  const char *const paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  const DemurIntakeParams params = {.rules = rules->rules, .sites = rules->sites};
  g_autoptr(DemurIntake) intake = demur_intake_run(task, paths, &params, &error);
  if (intake == NULL) {
    if (is_cancelled(error))
      return FALSE;
    /* A workspace that is locked or full delays a study; files that can't be read don't heal. */
    retry(rules->config, study, error->message, now);
    if (study->tries >= READ_TRIES && g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_INPUT)) {
      g_autofree char *why = g_strdup(error->message);
      hold(study, why);
    }
    return TRUE;
  }
  const DemurSeriesRecord *subject = find_subject(intake->records, study);
  if (subject == NULL)
    return TRUE;
  set_text(&study->scan_id, subject->scan_id);
  set_text(&study->verdict, NULL);
  move_to(study, subject->accepted ? DEMUR_SERVE_MODEL : DEMUR_SERVE_ASSESS);
  return TRUE;
}

/* --- model --- */

/* Whether the scan has a score of the images that are there now; *any: it has one at all. */
static gboolean
has_score(DemurTask *task, const DemurServeRules *rules, const char *scan_id, gboolean *fresh,
          gboolean *any, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurSeriesRecord) series =
      workspace != NULL ? demur_series_load(workspace, scan_id, error) : NULL;
  g_autoptr(DemurScoreRecord) score = NULL;
  if (series == NULL || !demur_scores_load(workspace, scan_id, rules->config->model, &score, error))
    return FALSE;
  *any = score != NULL;
  *fresh = *any && g_strcmp0(score->images_digest, series->images_digest) == 0;
  return TRUE;
}

static gboolean
step_model(DemurTask *task, const DemurServeRules *rules, DemurServeStudy *study, gint64 now) {
  const DemurServeConfig *config = rules->config;
  g_autoptr(GError) error = NULL;
  gboolean fresh = FALSE, any = FALSE;
  if (!has_score(task, rules, study->scan_id, &fresh, &any, &error)) {
    retry(config, study, error->message, now);
    return TRUE;
  }
  if (fresh) {
    move_to(study, DEMUR_SERVE_ASSESS);
    return TRUE;
  }
  const DemurScoresRunParams params = {.model = config->model,
                                       .model_version = config->model_version,
                                       .command = config->command,
                                       .scan_id = study->scan_id,
                                       .time_limit = config->time_limit_seconds,
                                       .replace = any};
  g_autoptr(DemurScoresRan) ran = demur_task_scores_run(task, &params, &error);
  if (ran == NULL || ran->stopped != NULL) {
    const GError *cause = ran != NULL ? ran->stopped : error;
    if (is_cancelled(cause))
      return FALSE;
    retry(config, study, cause->message, now);
    return TRUE;
  }
  if (ran->n_scored > 0) {
    move_to(study, DEMUR_SERVE_ASSESS);
    return TRUE;
  }
  const DemurScoreRunRecord *run = ran->runs->len > 0 ? ran->runs->pdata[0] : NULL;
  retry(config, study, run != NULL && run->message != NULL ? run->message : "there is no score",
        now);
  if (study->tries >= config->tries)
    move_to(study, DEMUR_SERVE_ASSESS); /* whose verdict is failed, with this reason */
  return TRUE;
}

/* --- assess --- */

/* The newest verdict of the scan by the selector, where it holds; else a new one. */
static DemurVerdictRecord *
get_verdict(DemurTask *task, const DemurServeConfig *config, const char *scan_id, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  for (int round = 0; workspace != NULL && round < 2; round++) {
    g_autoptr(GPtrArray) all = demur_verdicts_of_scan(workspace, NULL, scan_id, error);
    if (all == NULL)
      return NULL;
    DemurVerdictRecord *newest = all->len > 0 ? all->pdata[0] : NULL;
    /* One without a score does not know of a run since. */
    if (newest != NULL &&
        (round > 0 ||
         (newest->outdated == DEMUR_CURRENT && strcmp(newest->selector, config->selector) == 0 &&
          newest->verdict != DEMUR_VERDICT_NO_SCORE && newest->verdict != DEMUR_VERDICT_FAILED)))
      return g_ptr_array_steal_index(all, 0);
    const DemurAssessParams params = {
        .selector = config->selector, .scan_id = scan_id, .coverage = config->coverage};
    g_auto(DemurAssessment) assessment = {0};
    if (!demur_task_assess(task, &params, &assessment, error) ||
        !demur_assessment_save(task, &assessment, error))
      return NULL;
  }
  demur_error_set(error, DEMUR_ERROR_STATE, "scan %s got no verdict", scan_id);
  return NULL;
}

/* The file of one object for the study (owned); its folder is made. */
static char *
outbox_path(const DemurServeConfig *config, const DemurServeStudy *study, const char *name,
            GError **error) {
  g_autofree char *folder = g_build_filename(config->folder, ".outbox", study->study, NULL);
  if (!demur_folder_make(folder, error))
    return NULL;
  return g_build_filename(folder, name, NULL);
}

/* Writes what any destination wants of the verdict; paths go into files, in the order of
 * kinds. */
static gboolean
write_objects(DemurTask *task, const DemurServeConfig *config, const DemurServeStudy *study,
              const DemurVerdictRecord *verdict, guint wanted, char *files[DEMUR_N_ANSWER_OBJECTS],
              GError **error) {
  g_autofree char *remark =
      !study->part ? NULL
      : study->n_expected > 0
          ? g_strdup_printf("The verdict is of a part of the study: %u of %u objects",
                            study->n_objects, study->n_expected)
          : g_strdup_printf("The verdict may be of a part of the study: %u objects, whose "
                            "association broke off or had objects refused",
                            study->n_objects);
  if (wanted & DEMUR_ANSWER_REPORT) {
    const DemurReportParams params = {.remark = remark};
    files[0] = outbox_path(config, study, "report.dcm", error);
    if (files[0] == NULL ||
        !demur_task_result_report(task, verdict, &params, files[0], NULL, error))
      return FALSE;
  }
  if (wanted & DEMUR_ANSWER_PDF) {
    files[1] = outbox_path(config, study, "pdf.dcm", error);
    if (files[1] == NULL || !demur_task_result_pdf(task, verdict->scan_id, config->selector, NULL,
                                                   verdict->created, files[1], error))
      return FALSE;
  }
  if (wanted & DEMUR_ANSWER_PICTURE) {
    files[2] = outbox_path(config, study, "picture.dcm", error);
    if (files[2] == NULL || !demur_task_result_picture(task, verdict, remark, files[2], error))
      return FALSE;
  }
  return TRUE;
}

/* The question for storage commitment is answered, or given up. */
static void
close_question(const DemurServeConfig *config, DemurDelivery *delivery) {
  demur_commitment_forget(config->folder, delivery->transaction);
  g_clear_pointer(&delivery->transaction, g_free);
}

static gboolean
prepare_answers(DemurTask *task, const DemurServeConfig *config, DemurServeStudy *study,
                const DemurVerdictRecord *verdict, gint64 now, GError **error) {
  guint wanted = 0;
  for (guint d = 0; d < config->destinations->len; d++) {
    const DemurServeDestination *to = config->destinations->pdata[d];
    if (to->verdicts & (1u << verdict->verdict))
      wanted |= to->objects;
  }
  char *files[DEMUR_N_ANSWER_OBJECTS] = {NULL};
  const gboolean written = write_objects(task, config, study, verdict, wanted, files, error);
  for (guint d = 0; d < study->deliveries->len; d++) /* of an answer that is out of date */
    close_question(config, study->deliveries->pdata[d]);
  g_ptr_array_set_size(study->deliveries, 0);
  for (guint d = 0; written && d < config->destinations->len; d++) {
    const DemurServeDestination *to = config->destinations->pdata[d];
    if (!(to->verdicts & (1u << verdict->verdict)))
      continue;
    DemurDelivery *delivery = demur_delivery_new(to->name, now);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (int f = 0; f < DEMUR_N_ANSWER_OBJECTS; f++)
      if ((to->objects & (1u << f)) && files[f] != NULL)
        g_strv_builder_add(builder, files[f]);
    delivery->files = g_strv_builder_end(builder);
    g_ptr_array_add(study->deliveries, delivery);
  }
  for (int f = 0; f < DEMUR_N_ANSWER_OBJECTS; f++)
    g_free(files[f]);
  return written;
}

static gboolean
is_open(const DemurDelivery *delivery) {
  return delivery->state == DEMUR_DELIVERY_WAITING || delivery->state == DEMUR_DELIVERY_STORED;
}

static gboolean
has_waiting(const DemurServeStudy *study) {
  for (guint d = 0; d < study->deliveries->len; d++)
    if (is_open(study->deliveries->pdata[d]))
      return TRUE;
  return FALSE;
}

static gboolean
step_assess(DemurTask *task, const DemurServeRules *rules, DemurServeStudy *study, gint64 now) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVerdictRecord) verdict = get_verdict(task, rules->config, study->scan_id, &error);
  const gboolean told = verdict != NULL && g_strcmp0(study->answered, verdict->digest) == 0;
  if (verdict != NULL)
    set_text(&study->verdict, demur_verdict_name(verdict->verdict));
  if (verdict != NULL && !told)
    (void)prepare_answers(task, rules->config, study, verdict, now, &error);
  if (is_cancelled(error))
    return FALSE;
  if (error != NULL) {
    retry(rules->config, study, error->message, now);
    return TRUE;
  }
  set_text(&study->answered, verdict->digest);
  /* The same study once more, with nothing new in it: its answer stands, or is on its way. */
  move_to(study, has_waiting(study) ? DEMUR_SERVE_ANSWER : DEMUR_SERVE_DONE);
  return TRUE;
}

gboolean
demur_serve_study_step(DemurTask *task, const DemurServeRules *rules, DemurServeStudy *study,
                       gint64 now) {
  switch (study->step) {
  case DEMUR_SERVE_READ:
    return step_read(task, rules, study, now);
  case DEMUR_SERVE_MODEL:
    return step_model(task, rules, study, now);
  case DEMUR_SERVE_ASSESS:
    return step_assess(task, rules, study, now);
  case DEMUR_SERVE_ANSWER:
  case DEMUR_SERVE_DONE:
  case DEMUR_N_SERVE_STEPS:
    break;
  }
  return FALSE;
}

/* --- answer --- */

static DemurPeer
peer_of(const DemurServeConfig *config, const DemurServeDestination *to, DemurTls *tls) {
  return (DemurPeer){.host = to->host,
                     .port = to->port,
                     .called = to->called,
                     .calling = to->calling != NULL ? to->calling : config->ae,
                     .timeout_seconds = to->timeout_seconds,
                     .tls = demur_serve_config_tls(config, to->encrypted, tls)};
}

static gboolean
send_files(DemurTask *task, const DemurServeConfig *config, const DemurServeDestination *to,
           const DemurDelivery *delivery, GError **error) {
  DemurTls tls, web_tls;
  g_autofree char *login = NULL;
  const DemurWeb web =
      demur_serve_config_web(config, to->host, to->login, to->timeout_seconds, &web_tls, &login);
  const DemurPeer peer = peer_of(config, to, &tls);
  const char *const *files = (const char *const *)delivery->files;
  g_autoptr(DemurSending) sending = demur_web_is_url(to->host)
                                        ? demur_web_send(&web, files, &task->progress, error)
                                        : demur_network_send(&peer, files, &task->progress, error);
  if (sending == NULL)
    return FALSE;
  if (sending->n_sent == g_strv_length(delivery->files))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE, "%s",
                  sending->problems->len > 0 ? (const char *)sending->problems->pdata[0]
                                             : "not all objects were taken");
  return FALSE;
}

/* It is tried again later, or given up. */
static void
fail_delivery(const DemurServeConfig *config, DemurDelivery *delivery, const char *why,
              gint64 now) {
  delivery->tries++;
  delivery->state = DEMUR_DELIVERY_WAITING;
  set_text(&delivery->why, why);
  delivery->next = now + demur_serve_pause(config->pause_seconds, delivery->tries);
  if (now - delivery->since >= (gint64)config->give_up_hours * 3600)
    delivery->state = DEMUR_DELIVERY_GIVEN_UP;
}

static void
end_delivery(DemurDelivery *delivery) {
  delivery->state = DEMUR_DELIVERY_SENT;
  set_text(&delivery->why, NULL);
}

static const char not_committed[] =
    "the archive does not commit to what it stored: it is sent again";

/* Asks the archive to commit to what it has acknowledged. */
static gboolean
ask_commitment(const DemurServeConfig *config, const DemurServeDestination *to,
               DemurDelivery *delivery, gint64 now, GError **error) {
  DemurTls tls;
  const DemurPeer peer = peer_of(config, to, &tls);
  g_autofree char *name = g_uuid_string_random();
  g_autofree char *transaction = demur_writer_uid(name);
  if (!demur_commitment_await(config->folder, transaction, error))
    return FALSE;
  delivery->transaction = g_steal_pointer(&transaction);
  DemurCommitment outcome;
  if (!demur_network_commit(&peer, (const char *const *)delivery->files, delivery->transaction,
                            &outcome, error)) {
    close_question(config, delivery);
    return FALSE;
  }
  if (outcome == DEMUR_COMMITMENT_AWAITED) {
    delivery->state = DEMUR_DELIVERY_STORED;
    delivery->asked = now;
    delivery->next = now + LISTEN;
    set_text(&delivery->why, "it is stored, and the archive has not committed to it yet");
    return TRUE;
  }
  close_question(config, delivery);
  if (outcome == DEMUR_COMMITMENT_GIVEN)
    end_delivery(delivery);
  else
    fail_delivery(config, delivery, not_committed, now);
  return TRUE;
}

/* Looks for the answer to an open question; FALSE where there is none yet. */
static gboolean
hear_commitment(const DemurServeConfig *config, const DemurServeDestination *to,
                DemurDelivery *delivery, gint64 now) {
  const DemurCommitment heard = demur_commitment_heard(config->folder, delivery->transaction);
  const gboolean late = now - delivery->asked >= (gint64)to->commit_seconds;
  if (heard == DEMUR_COMMITMENT_AWAITED && !late) {
    delivery->next = now + LISTEN;
    return FALSE;
  }
  close_question(config, delivery);
  if (heard == DEMUR_COMMITMENT_GIVEN)
    end_delivery(delivery);
  else
    fail_delivery(config, delivery,
                  heard == DEMUR_COMMITMENT_AWAITED
                      ? "the archive never said that it commits to what it stored: it is sent again"
                      : not_committed,
                  now);
  return TRUE;
}

static gboolean
deliver_one(DemurTask *task, const DemurServeConfig *config, DemurDelivery *delivery, gint64 now) {
  const DemurServeDestination *to = demur_serve_config_destination(config, delivery->to);
  if (to == NULL) {
    close_question(config, delivery);
    delivery->state = DEMUR_DELIVERY_GIVEN_UP;
    set_text(&delivery->why, "the settings name no such destination any more");
    return TRUE;
  }
  if (delivery->state == DEMUR_DELIVERY_STORED)
    return hear_commitment(config, to, delivery, now);
  g_autoptr(GError) error = NULL;
  if (send_files(task, config, to, delivery, &error)) {
    if (!to->commit)
      end_delivery(delivery);
    if (!to->commit || ask_commitment(config, to, delivery, now, &error))
      return TRUE;
  }
  if (is_cancelled(error))
    return FALSE;
  fail_delivery(config, delivery, error->message, now);
  return TRUE;
}

gboolean
demur_serve_study_deliver(DemurTask *task, const DemurServeConfig *config, DemurServeStudy *study,
                          gint64 now) {
  gboolean changed = FALSE, given_up = FALSE;
  gint64 next = G_MAXINT64;
  const char *why = NULL;
  for (guint d = 0; d < study->deliveries->len; d++) {
    DemurDelivery *delivery = study->deliveries->pdata[d];
    if (is_open(delivery) && delivery->next <= now)
      changed |= deliver_one(task, config, delivery, now);
    if (is_open(delivery))
      next = MIN(next, delivery->next);
    given_up |= delivery->state == DEMUR_DELIVERY_GIVEN_UP;
    why = delivery->why != NULL ? delivery->why : why;
  }
  if (next < G_MAXINT64) {
    wait_until(study, why, next);
    return changed;
  }
  if (given_up) {
    hold(study, why);
    return TRUE;
  }
  move_to(study, DEMUR_SERVE_DONE);
  return TRUE;
}

void
demur_serve_study_clear(const char *service_folder, const DemurServeStudy *study) {
  g_autofree char *folder = g_build_filename(service_folder, ".outbox", study->study, NULL);
  for (guint d = 0; d < study->deliveries->len; d++) {
    const DemurDelivery *delivery = study->deliveries->pdata[d];
    for (char **file = delivery->files; file != NULL && *file != NULL; file++)
      (void)g_unlink(*file);
  }
  (void)g_rmdir(folder);
}
