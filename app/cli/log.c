/* demur log: who did what. */
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "base/shown-text.h"
#include "tasks/history.h"

static void
write_event(DemurJson *json, const DemurEvent *event) {
  demur_json_begin_object(json, NULL);
  demur_json_int(json, "sequence", event->sequence);
  demur_json_string(json, "event", demur_event_kind_name(event->kind));
  demur_json_string(json, "of", event->key);
  demur_json_string(json, "digest", event->digest);
  demur_json_string(json, "details", event->details);
  demur_json_string(json, "user", event->user);
  demur_json_string(json, "station", event->station);
  demur_json_string(json, "program", event->program);
  demur_json_string(json, "created", event->created);
  demur_json_string(json, "previous", event->previous);
  demur_json_string(json, "chain", event->chain);
  demur_json_end_object(json);
}

/* JSON of several lines as one (owned): in its texts line ends are escaped. */
static char *
one_line(const char *json) {
  g_auto(GStrv) lines = g_strsplit(json, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    g_strstrip(*line);
  return g_strjoinv(" ", lines);
}

static void
print_event(const DemurEvent *event) {
  g_autofree char *of = demur_shown_text(event->key);
  g_autofree char *user = demur_shown_text(event->user != NULL ? event->user : "-");
  g_autofree char *whole = one_line(event->details != NULL ? event->details : "");
  g_autofree char *details = demur_shown_text(whole);
  g_print("%6" G_GINT64_FORMAT "  %-20s %-11s %-10s %s  %.12s%s%s\n", event->sequence,
          event->created, demur_event_kind_name(event->kind), user, of,
          event->digest != NULL                ? event->digest
          : event->kind == DEMUR_EVENT_REMOVAL ? "gone"
                                               : "-",
          *details != '\0' ? "  " : "", details);
}

static gboolean
print_audit_messages(DemurContext *context, const GPtrArray *events, GError **error) {
  guint n_gone;
  g_auto(GStrv) messages = demur_history_audit_messages(&context->task, events, &n_gone, error);
  if (messages == NULL)
    return FALSE;
  for (char **message = messages; *message != NULL; message++)
    g_print("%s\n", *message);
  if (n_gone > 0)
    g_printerr(
        "demur: %u event%s of series that left the workspace, whose patient is not known any "
        "more: no message\n",
        n_gone, n_gone == 1 ? " is" : "s are");
  return TRUE;
}

static gboolean
set_openings(DemurContext *context, const char *word, GError **error) {
  const gboolean keeps = strcmp(word, "on") == 0;
  if (!keeps && strcmp(word, "off") != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--keep-openings takes on or off, not '%s'",
                word);
    return FALSE;
  }
  if (!demur_history_set_openings(&context->task, keeps, error))
    return FALSE;
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_bool(json, "keeps_openings", keeps);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
  } else {
    g_print("Who opens which patient is %s.\n", keeps ? "kept from now on" : "no longer kept");
  }
  return TRUE;
}

/* A date or a time of any zone as events have theirs (owned); NULL with an error. */
static char *
time_of(const char *text, GError **error) {
  g_autofree char *midnight = g_strconcat(text, "T00:00:00", NULL);
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
  g_autoptr(GDateTime) given =
      g_date_time_new_from_iso8601(strchr(text, 'T') != NULL ? text : midnight, utc);
  g_autoptr(GDateTime) time = given != NULL ? g_date_time_to_utc(given) : NULL;
  if (time == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "--since takes a date or a time such as 2026-01-31 or 2026-01-31T12:00:00Z, not "
                "'%s'",
                text);
    return NULL;
  }
  return g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ");
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) words = NULL;
  g_autofree char *kind = NULL, *user = NULL, *scan_id = NULL, *since = NULL, *from_head = NULL;
  g_autofree char *patient = NULL, *openings = NULL;
  gboolean audit = FALSE;
  int last = G_MAXINT; /* all */
  const GOptionEntry entries[] = {
      {"event", 0, 0, G_OPTION_ARG_STRING, &kind, "only events of this kind", "KIND"},
      {"user", 0, 0, G_OPTION_ARG_STRING, &user, "only what this user did", "NAME"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id, "only what is of this DICOM series", "SCAN"},
      {"patient", 0, 0, G_OPTION_ARG_STRING, &patient,
       "only what is of DICOM series of this PatientID", "ID"},
      {"since", 0, 0, G_OPTION_ARG_STRING, &since, "only from this time on (2026-01-31T12:00:00Z)",
       "TIME"},
      {"from-head", 0, 0, G_OPTION_ARG_STRING, &from_head,
       "only what came after this head, as a report or an export prints it; fails where the log has "
       "none such",
       "DIGEST"},
      {"last", 0, 0, G_OPTION_ARG_INT, &last, "only the last N of them", "N"},
      {"audit-messages", 0, 0, G_OPTION_ARG_NONE, &audit,
       "what is of DICOM series as DICOM audit messages (PS3.15 A.5), one XML document a line",
       NULL},
      {"keep-openings", 0, 0, G_OPTION_ARG_STRING, &openings,
       "from now on keep who opened which patient, or no longer; off until it is asked for",
       "on|off"},
      {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &words, error) ||
      !demur_command_expect(words, 0, "log takes no words", error))
    return FALSE;
  if (last < 1) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "--last takes a number from 1 on");
    return FALSE;
  }
  if (openings != NULL) {
    const DemurOptionGiven others[] = {
        {"--event", kind != NULL},          {"--user", user != NULL},
        {"--scan", scan_id != NULL},        {"--patient", patient != NULL},
        {"--since", since != NULL},         {"--last", last != G_MAXINT},
        {"--from-head", from_head != NULL}, {"--audit-messages", audit}};
    return demur_command_refuse_beside("--keep-openings", others, G_N_ELEMENTS(others), error) &&
           set_openings(context, openings, error);
  }
  if (audit && context->json) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "audit messages are XML: give --audit-messages without --json");
    return FALSE;
  }
  g_autofree char *from = since != NULL ? time_of(since, error) : NULL;
  if (since != NULL && from == NULL)
    return FALSE;
  const DemurHistoryFilter filter = {kind, user, scan_id, patient, from, (guint)last, from_head};
  g_autofree char *head = NULL;
  g_autoptr(GPtrArray) events = demur_history_list(&context->task, &filter, &head, error);
  if (events == NULL)
    return FALSE;
  if (audit)
    return print_audit_messages(context, events, error);
  if (!context->json) {
    for (guint i = 0; i < events->len; i++)
      print_event(events->pdata[i]);
    g_print("%u event%s; head %s\n", events->len, demur_cli_s(events->len),
            *head != '\0' ? head : "none");
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "head", head);
  demur_json_begin_array(json, "events");
  for (guint i = 0; i < events->len; i++)
    write_event(json, events->pdata[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

const DemurCommand demur_command_log = {
    .name = "log",
    .parameters = "",
    .summary = "show who did what",
    .description = "Every change that a verdict could rest on, in order, each chained to "
                   "the one before by its digest. `demur verify` walks the chain; the head, "
                   "kept elsewhere, finds one that was cut or written anew.",
    .run = run};
