/* demur serve: receive, complete, model, assess, answer, until Ctrl-C; and its status. */
#include "app/cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "app/late/late.h"
#include "base/error.h"
#include "tasks/serve-metrics.h"

static volatile sig_atomic_t reload_wanted;

static void
on_hangup(int signal_number) {
  reload_wanted = 1;
}

static gboolean
reload_asked(gpointer data) {
  const gboolean asked = reload_wanted != 0;
  reload_wanted = 0;
  return asked;
}

static void
say_line(const char *sentence, gpointer data) {
  g_printerr("demur serve: %s\n", sentence);
  fflush(stderr);
}

/* "2026-01-31T12:00:00Z", or null. */
static void
write_time(DemurJson *json, const char *key, gint64 seconds) {
  g_autoptr(GDateTime) time = seconds > 0 ? g_date_time_new_from_unix_utc(seconds) : NULL;
  g_autofree char *text = time != NULL ? g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ") : NULL;
  demur_json_string(json, key, text);
}

static void
write_studies(DemurJson *json, const char *key, const GPtrArray *studies) {
  demur_json_begin_array(json, key);
  for (guint i = 0; i < studies->len; i++) {
    demur_json_begin_object(json, NULL);
    demur_serve_study_write(json, studies->pdata[i]);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
print_status_json(DemurContext *context, const DemurServeStatus *status) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_bool(json, "running", status->running);
  demur_json_int(json, "n_arriving", status->n_arriving);
  demur_json_int(json, "n_broken", status->n_broken);
  demur_json_int(json, "n_queue", status->n_queue);
  for (int s = 0; s < DEMUR_SERVE_DONE; s++) {
    g_autofree char *key = g_strconcat("n_", demur_serve_step_name((DemurServeStep)s), NULL);
    demur_json_int(json, key, status->n_step[s]);
  }
  demur_json_int(json, "n_held", status->n_held);
  demur_json_int(json, "n_answered", status->n_answered);
  demur_json_int(json, "oldest_seconds", status->oldest);
  write_time(json, "last_answer", status->last_answer);
  demur_json_int(json, "free_mb", status->free_mb);
  demur_json_begin_array(json, "arriving");
  for (guint i = 0; i < status->arriving->len; i++) {
    const DemurArriving *arriving = status->arriving->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "study_uid", arriving->study);
    demur_json_bool(json, "broken", arriving->broken);
    write_time(json, "since", arriving->since);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  write_studies(json, "queue", status->queue);
  write_studies(json, "held", status->held);
  demur_json_begin_array(json, "damaged");
  for (guint i = 0; i < status->damaged->len; i++)
    demur_json_string(json, NULL, status->damaged->pdata[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_study(const DemurServeStudy *study, gint64 now) {
  g_print("%s  %s  %" G_GINT64_FORMAT " s  %s\n", study->study,
          study->held ? "held" : demur_serve_step_name(study->step), now - study->arrived,
          study->why != NULL ? study->why : "");
}

static void
print_status_text(const DemurServeStatus *status) {
  g_print(
      "%s: %u arriving (%u broken off), %u on their way, %u held, %u answered; the oldest waits "
      "%" G_GINT64_FORMAT " s; %" G_GINT64_FORMAT " MiB free\n",
      status->running ? "running" : "not running", status->n_arriving, status->n_broken,
      status->n_queue, status->n_held, status->n_answered, status->oldest, status->free_mb);
  for (guint i = 0; i < status->arriving->len; i++) {
    const DemurArriving *arriving = status->arriving->pdata[i];
    g_print("%s  %s  %" G_GINT64_FORMAT " s\n", arriving->study,
            arriving->broken ? "broken off: waits until it is sent again" : "arriving",
            status->now - arriving->since);
  }
  for (guint i = 0; i < status->queue->len; i++)
    print_study(status->queue->pdata[i], status->now);
  for (guint i = 0; i < status->held->len; i++)
    print_study(status->held->pdata[i], status->now);
  for (guint i = 0; i < status->damaged->len; i++)
    g_print("%s  its record can't be read\n", (const char *)status->damaged->pdata[i]);
}

typedef struct {
  gboolean status, metrics, check;
  char *again;
} Options;

static gboolean
run_about(DemurContext *context, const char *path, const Options *options, GError **error) {
  g_autoptr(DemurServeConfig) config = demur_serve_config_read(path, error);
  if (config == NULL)
    return FALSE;
  if (options->check) {
    if (!context->json)
      g_print("%s: the settings are right\n", path);
    return TRUE;
  }
  if (options->again != NULL) {
    if (!demur_task_serve_again(config, options->again, error))
      return FALSE;
    g_print("study %s is taken up again by the service\n", options->again);
    return TRUE;
  }
  g_autoptr(DemurServeStatus) status = demur_task_serve_status(config, error);
  if (status == NULL)
    return FALSE;
  if (options->metrics) {
    g_autofree char *text = demur_serve_metrics_text(status);
    g_print("%s", text);
  } else if (context->json) {
    print_status_json(context, status);
  } else {
    print_status_text(status);
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  Options options = {0};
  g_autofree char *again = NULL;
  g_auto(GStrv) words = NULL;
  const GOptionEntry entries[] = {
      {"status", 0, 0, G_OPTION_ARG_NONE, &options.status,
       "tell what waits, why, and what is done, and end", NULL},
      {"metrics", 0, 0, G_OPTION_ARG_NONE, &options.metrics, "the same as Prometheus text", NULL},
      {"check", 0, 0, G_OPTION_ARG_NONE, &options.check, "look at the settings only, and end",
       NULL},
      {"again", 0, 0, G_OPTION_ARG_STRING, &again, "take a held study up again, and end", "STUDY"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 1, "serve takes SETTINGS, a file", error))
    return FALSE;
  options.again = again;
  if (options.status + options.metrics + options.check + (again != NULL) > 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--status, --metrics, --check and --again exclude each other");
    return FALSE;
  }
  if (options.status || options.metrics || options.check || again != NULL)
    return run_about(context, words[0], &options, error);
  const struct sigaction action = {.sa_handler = on_hangup, .sa_flags = SA_RESTART};
  sigaction(SIGHUP, &action, NULL);
  demur_late_load_all(); /* what is lacking ends it now, and not with the first study */
  context->quiet = TRUE; /* a log has no use for a line of progress */
  const DemurServeParams params = {
      .config_path = words[0], .say = say_line, .reload_asked = reload_asked};
  return demur_task_serve(&context->task, &params, error);
}

const DemurCommand demur_command_serve = {
    .name = "serve",
    .parameters = "SETTINGS",
    .summary = "receive studies, have them scored, assess and answer them",
    .description =
        "Runs until SIGTERM or Ctrl-C, for weeks; SIGHUP reads the settings again. What was "
        "acknowledged is kept whatever ends it, and each study is answered once or listed with "
        "why.\n\nSETTINGS is a text of sections and `key = value` lines, # begins a comment:",
    .run = run,
    .describe = demur_serve_config_describe};
