#include "tasks/audit-message.h"

#include "base/shown-text.h"

/* What an event is in the words of PS3.16 CID 400, and its EventActionCode: Create, Read, Update,
 * Delete. */
typedef struct {
  const char *code, *title, *action;
} Meaning;

#define INSTANCES "110103", "DICOM Instances Accessed"
#define RECORD "110110", "Patient Record"

static const Meaning meanings[DEMUR_N_EVENTS] = {
    [DEMUR_EVENT_IMPORT] = {INSTANCES, "C"},     [DEMUR_EVENT_CHOICE] = {INSTANCES, "U"},
    [DEMUR_EVENT_OVERRULE] = {INSTANCES, "U"},   [DEMUR_EVENT_CONFLICT] = {INSTANCES, "U"},
    [DEMUR_EVENT_RESOLUTION] = {INSTANCES, "U"}, [DEMUR_EVENT_CORRECTION] = {RECORD, "U"},
    [DEMUR_EVENT_REMOVAL] = {INSTANCES, "D"},    [DEMUR_EVENT_SCORE] = {RECORD, "U"},
    [DEMUR_EVENT_OPENED] = {INSTANCES, "R"},
};

/* Adds name="text", with what XML can't hold as it is shown elsewhere (base/shown-text.h). */
static void
add_attribute(GString *xml, const char *name, const char *text) {
  g_autofree char *safe = demur_shown_text(text != NULL ? text : "");
  g_autofree char *escaped = g_markup_escape_text(safe, -1);
  g_string_append_printf(xml, " %s=\"%s\"", name, escaped);
}

static void
add_code(GString *xml, const char *element, const char *code, const char *system,
         const char *title) {
  g_string_append_printf(xml, "<%s", element);
  add_attribute(xml, "csd-code", code);
  add_attribute(xml, "codeSystemName", system);
  add_attribute(xml, "originalText", title);
  g_string_append(xml, "/>");
}

static void
add_object(GString *xml, const char *id, const char *type, const char *role, const char *code,
           const char *system, const char *title) {
  g_string_append(xml, "<ParticipantObjectIdentification");
  add_attribute(xml, "ParticipantObjectID", id);
  add_attribute(xml, "ParticipantObjectTypeCode", type);
  add_attribute(xml, "ParticipantObjectTypeCodeRole", role);
  g_string_append_c(xml, '>');
  add_code(xml, "ParticipantObjectIDTypeCode", code, system, title);
  /* The schema asks for a name: that of the identifier, since no person's goes out. */
  g_string_append_printf(xml, "<ParticipantObjectName>%s</ParticipantObjectName>", title);
  g_string_append(xml, "</ParticipantObjectIdentification>");
}

char *
demur_audit_message(const DemurEvent *event, const DemurSeriesRecord *series) {
  const Meaning *meaning = &meanings[event->kind];
  if (meaning->code == NULL)
    return NULL;
  GString *xml = g_string_new("<AuditMessage><EventIdentification");
  add_attribute(xml, "EventActionCode", meaning->action);
  add_attribute(xml, "EventDateTime", event->created);
  add_attribute(xml, "EventOutcomeIndicator", "0");
  g_string_append_c(xml, '>');
  add_code(xml, "EventID", meaning->code, "DCM", meaning->title);
  g_string_append(xml, "</EventIdentification><ActiveParticipant");
  /* A person's as login@machine (A.5.2.1). */
  g_autofree char *user = event->user != NULL && event->station != NULL
                              ? g_strconcat(event->user, "@", event->station, NULL)
                              : g_strdup(event->user);
  add_attribute(xml, "UserID", user);
  add_attribute(xml, "UserIsRequestor", "true");
  if (event->station != NULL) {
    add_attribute(xml, "NetworkAccessPointID", event->station);
    add_attribute(xml, "NetworkAccessPointTypeCode", "1"); /* a machine's name */
  }
  g_string_append(xml, "/><AuditSourceIdentification");
  add_attribute(xml, "AuditSourceID", event->station != NULL ? event->station : "demur");
  g_string_append(xml, "/>");
  add_object(xml, series->study_uid, "2", "3", "110180", "DCM", "Study Instance UID");
  add_object(xml, series->patient_id, "1", "1", "2", "RFC-3881", "Patient Number");
  g_string_append(xml, "</AuditMessage>");
  return g_string_free(xml, FALSE);
}
