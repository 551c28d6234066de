#include "tasks/serve-config.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/translate.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "base/number.h"

#define MAX_LOGIN 65536 /* bytes of a file with a login */

typedef enum {
  KIND_TEXT,
  KIND_PATH,     /* of a file or folder, absolute */
  KIND_PEER,     /* HOST:PORT into a text and the number, or an address of the web into the text */
  KIND_ADDRESS,  /* of IPv4 or IPv6 */
  KIND_AE,       /* title */
  KIND_NUMBER,   /* guint in [low, high] */
  KIND_LIST,     /* words between blanks or commas */
  KIND_COMMIT,   /* a list of AE=HOST:PORT */
  KIND_PART,     /* hold or assess, as gboolean */
  KIND_SWITCH,   /* no or yes, as gboolean */
  KIND_VERDICTS, /* words: bits */
  KIND_OBJECTS,
} Kind;

typedef enum { RECEIVE, TLS, STOW, COMPLETE, MODEL, ASSESS, KEEP, ANSWER, N_SECTIONS } Section;

static const char *const section_names[N_SECTIONS] = {
    [RECEIVE] = "receive", [TLS] = "tls",       [STOW] = "stow", [COMPLETE] = "complete",
    [MODEL] = "model",     [ASSESS] = "assess", [KEEP] = "keep", [ANSWER] = "answer NAME",
};

typedef struct {
  Section section;
  const char *key;
  Kind kind;
  gsize offset, port_offset; /* in the config, or in a destination */
  const char *usual;         /* NULL: none, "!": must be given */
  guint low, high;
  const char *meaning; /* and the remedy */
} Key;

#define IN_CONFIG(member) G_STRUCT_OFFSET(DemurServeConfig, member)
#define IN_ANSWER(member) G_STRUCT_OFFSET(DemurServeDestination, member)
#define MUST "!"

static const Key keys[] = {
    {RECEIVE, "folder", KIND_PATH, IN_CONFIG(folder), 0, MUST, 0, 0,
     "where what arrives is kept, and the journal"},
    {RECEIVE, "watch", KIND_PATH, IN_CONFIG(watched), 0, NULL, 0, 0,
     "a folder in which others put studies: images in it are taken over, and removed there"},
    {RECEIVE, "port", KIND_NUMBER, IN_CONFIG(port), 0, "11112", 1, 65535, "to listen on"},
    {RECEIVE, "ae", KIND_AE, IN_CONFIG(ae), 0, "DEMUR", 0, 0, "our own AE title"},
    {RECEIVE, "allow-ae", KIND_LIST, IN_CONFIG(callers), 0, NULL, 0, 0,
     "calling AE titles that are accepted (any)"},
    {RECEIVE, "allow-host", KIND_LIST, IN_CONFIG(hosts), 0, NULL, 0, 0,
     "addresses that are accepted, or any (this machine only)"},
    {RECEIVE, "associations", KIND_NUMBER, IN_CONFIG(max_associations), 0, "20", 1, 1000,
     "at once"},
    {RECEIVE, "timeout", KIND_NUMBER, IN_CONFIG(timeout_seconds), 0, "30", 1, 3600,
     "seconds until a silent peer is given up"},
    {RECEIVE, "settle", KIND_NUMBER, IN_CONFIG(settle_seconds), 0, "60", 0, 86400,
     "quiet seconds until a study is taken for complete"},
    {RECEIVE, "reserve", KIND_NUMBER, IN_CONFIG(reserve_mb), 0, "512", 0, 1 << 20,
     "MiB of the disk that are never filled: beyond, peers are told A700"},
    {RECEIVE, "commit-to", KIND_COMMIT, IN_CONFIG(commit_to), 0, NULL, 0, 0,
     "AE=HOST:PORT of peers that take our storage commitment over an association of its own"},
    {RECEIVE, "metrics", KIND_NUMBER, IN_CONFIG(metrics_port), 0, "0", 0, 65535,
     "port of this machine at which Prometheus may read the counters, 0: none"},
    {RECEIVE, "tls", KIND_SWITCH, IN_CONFIG(encrypted), 0, "no", 0, 0,
     "yes: only encrypted associations, by [tls]"},
    {TLS, "certificate", KIND_PATH, IN_CONFIG(certificate), 0, NULL, 0, 0,
     "our own (PEM), read anew for each connection"},
    {TLS, "key", KIND_PATH, IN_CONFIG(key), 0, NULL, 0, 0, "its private key (PEM)"},
    {TLS, "authorities", KIND_PATH, IN_CONFIG(authorities), 0, NULL, 0, 0,
     "whose certificates are trusted (PEM)"},
    {TLS, "any-caller", KIND_SWITCH, IN_CONFIG(any_caller), 0, "no", 0, 0,
     "yes: who sends to us needs no certificate of its own"},
    {STOW, "port", KIND_NUMBER, IN_CONFIG(stow_port), 0, "0", 0, 65535,
     "at which objects are taken over HTTP too (DICOMweb's STOW-RS), 0: none"},
    {STOW, "address", KIND_ADDRESS, IN_CONFIG(stow_address), 0, "127.0.0.1", 0, 0,
     "to listen at; one that other machines reach needs a certificate"},
    {STOW, "certificate", KIND_PATH, IN_CONFIG(stow_certificate), 0, NULL, 0, 0,
     "our own (PEM): https alone; read anew for each connection"},
    {STOW, "key", KIND_PATH, IN_CONFIG(stow_key), 0, NULL, 0, 0, "its private key (PEM)"},
    {STOW, "authorities", KIND_PATH, IN_CONFIG(stow_authorities), 0, NULL, 0, 0,
     "a caller shows a certificate of one of them (PEM)"},
    {STOW, "token", KIND_PATH, IN_CONFIG(stow_token), 0, NULL, 0, 0,
     "a file with the token that a caller shows (Bearer)"},
    {STOW, "connections", KIND_NUMBER, IN_CONFIG(stow_connections), 0, "20", 1, 1000, "at once"},
    {STOW, "of-peer", KIND_NUMBER, IN_CONFIG(stow_of_peer), 0, "8", 1, 1000, ".. of one address"},
    {STOW, "timeout", KIND_NUMBER, IN_CONFIG(stow_timeout_seconds), 0, "30", 1, 3600,
     "seconds without progress until a peer is given up"},
    {STOW, "object", KIND_NUMBER, IN_CONFIG(stow_object_mb), 0, "1024", 1, 2047,
     "MiB of an object, in memory while it comes"},
    {STOW, "request", KIND_NUMBER, IN_CONFIG(stow_request_mb), 0, "8192", 1, 1 << 20,
     "MiB of a request"},
    {COMPLETE, "archive", KIND_PEER, IN_CONFIG(archive_host), IN_CONFIG(archive_port), NULL, 0, 0,
     "HOST:PORT of who is asked how many objects a study has, or its https address (DICOMweb)"},
    {COMPLETE, "login", KIND_PATH, IN_CONFIG(archive_login), 0, NULL, 0, 0,
     "for an https address: a file with USER:PASSWORD, or a token"},
    {COMPLETE, "called", KIND_AE, IN_CONFIG(archive_called), 0, "ANY-SCP", 0, 0, "its AE title"},
    {COMPLETE, "wait", KIND_NUMBER, IN_CONFIG(wait_seconds), 0, "3600", 0, 604800,
     "seconds to wait for objects that are missing"},
    {COMPLETE, "acquisitions", KIND_SWITCH, IN_CONFIG(count_acquisitions), 0, "yes", 0, 0,
     "yes: images that say how many their acquisition has (0020,1002) are waited for, where no "
     "archive says how many there are"},
    {COMPLETE, "part", KIND_PART, IN_CONFIG(assess_part), 0, "hold", 0, 0,
     "then: hold (no verdict, listed with why) or assess (the report says it is of a part)"},
    {MODEL, "name", KIND_TEXT, IN_CONFIG(model), 0, MUST, 0, 0,
     "of the external model, as the selector knows it"},
    {MODEL, "version", KIND_TEXT, IN_CONFIG(model_version), 0, NULL, 0, 0,
     "of the model, where its output says none (model_version)"},
    {MODEL, "command", KIND_TEXT, IN_CONFIG(command), 0, MUST, 0, 0,
     "with {series} and {output}, as in `demur scores run --help`"},
    {MODEL, "time-limit", KIND_NUMBER, IN_CONFIG(time_limit_seconds), 0, "3600", 0, 604800,
     "seconds a run may take, 0: any"},
    {MODEL, "tries", KIND_NUMBER, IN_CONFIG(tries), 0, "3", 1, 100,
     "runs until the verdict is failed"},
    {MODEL, "pause", KIND_NUMBER, IN_CONFIG(pause_seconds), 0, "60", 0, 86400,
     "seconds before the second run, and before an answer goes out again; doubled each time"},
    {ASSESS, "selector", KIND_TEXT, IN_CONFIG(selector), 0, MUST, 0, 0,
     "name of a trained and tuned selector of the workspace"},
    {ASSESS, "coverage", KIND_TEXT, IN_CONFIG(coverage), 0, NULL, 0, 0,
     "of the threshold (the one in use)"},
    {ASSESS, "rules", KIND_PATH, IN_CONFIG(rules), 0, NULL, 0, 0, "of eligibility, a file"},
    {ASSESS, "sites", KIND_PATH, IN_CONFIG(sites), 0, NULL, 0, 0,
     "institutions and sites, a table"},
    {KEEP, "history", KIND_NUMBER, IN_CONFIG(history_days), 0, "365", 1, 36500,
     "days that an answered study stays in the list"},
    {KEEP, "give-up", KIND_NUMBER, IN_CONFIG(give_up_hours), 0, "168", 1, 8760,
     "hours until an answer that can't be delivered is given up, and listed"},
    {KEEP, "images", KIND_NUMBER, IN_CONFIG(image_days), 0, "0", 0, 36500,
     "days that the received images of an answered study stay, 0: for ever"},
    {ANSWER, "to", KIND_PEER, IN_ANSWER(host), IN_ANSWER(port), MUST, 0, 0,
     "HOST:PORT of a DICOM storage peer, or its https address (DICOMweb)"},
    {ANSWER, "login", KIND_PATH, IN_ANSWER(login), 0, NULL, 0, 0,
     "for an https address: a file with USER:PASSWORD, or a token"},
    {ANSWER, "called", KIND_AE, IN_ANSWER(called), 0, "ANY-SCP", 0, 0, "its AE title"},
    {ANSWER, "calling", KIND_AE, IN_ANSWER(calling), 0, NULL, 0, 0, "our own ([receive] ae)"},
    {ANSWER, "timeout", KIND_NUMBER, IN_ANSWER(timeout_seconds), 0, "30", 1, 3600,
     "seconds to wait for each of its answers"},
    {ANSWER, "verdicts", KIND_VERDICTS, IN_ANSWER(verdicts), 0, "accepted red_flag", 0, 0,
     "that go there: accepted, red_flag, not_eligible, failed"},
    {ANSWER, "objects", KIND_OBJECTS, IN_ANSWER(objects), 0, "sr", 0, 0,
     "that go there: sr, pdf, picture"},
    {ANSWER, "commit", KIND_SWITCH, IN_ANSWER(commit), 0, "no", 0, 0,
     "yes: storage commitment is asked for, and what is not committed is sent again"},
    {ANSWER, "commit-wait", KIND_NUMBER, IN_ANSWER(commit_seconds), 0, "86400", 1, 604800,
     "seconds to wait for it"},
};

static const char *const part_choices[] = {"hold", "assess"};
static const char *const switch_choices[] = {"no", "yes"};
static const struct {
  const char *name;
  DemurAnswerObjects object;
} object_names[] = {
    {"sr", DEMUR_ANSWER_REPORT}, {"pdf", DEMUR_ANSWER_PDF}, {"picture", DEMUR_ANSWER_PICTURE}};

static void
destination_free(gpointer data) {
  DemurServeDestination *destination = data;
  g_free(destination->name);
  g_free(destination->host);
  g_free(destination->called);
  g_free(destination->calling);
  g_free(destination->login);
  g_free(destination);
}

/* The base of a section's members; NULL: there is no such section yet. */
static gpointer
base_of(DemurServeConfig *config, const Key *key, DemurServeDestination *destination) {
  return key->section == ANSWER ? (gpointer)destination : (gpointer)config;
}

static void
free_member(gpointer base, const Key *key) {
  gpointer *member = G_STRUCT_MEMBER_P(base, key->offset);
  if (key->kind == KIND_LIST || key->kind == KIND_COMMIT)
    g_clear_pointer((char ***)member, g_strfreev);
  else if (key->kind <= KIND_AE)
    g_clear_pointer((char **)member, g_free);
}

void
demur_serve_config_free(DemurServeConfig *config) {
  if (config == NULL)
    return;
  for (gsize k = 0; k < G_N_ELEMENTS(keys); k++)
    if (keys[k].section != ANSWER)
      free_member(config, &keys[k]);
  g_ptr_array_unref(config->destinations);
  g_free(config->path);
  g_free(config);
}

/* --- values --- */

static gboolean
read_peer(const char *text, char **host, guint *port) {
  if (demur_web_is_url(text)) {
    g_free(*host);
    *host = g_strdup(text);
    *port = 0;
    return strpbrk(text, " \t") == NULL;
  }
  const char *colon = strrchr(text, ':');
  gint64 number = 0;
  if (colon == NULL || colon == text || strpbrk(text, " \t/") != NULL ||
      !demur_number_parse_int(colon + 1, strlen(colon + 1), &number) || number < 1 ||
      number > 65535)
    return FALSE;
  g_free(*host);
  *host = g_strndup(text, (gsize)(colon - text));
  *port = (guint)number;
  return TRUE;
}

static gboolean
is_ae(const char *text) {
  const size_t n = strlen(text);
  gboolean good = n > 0 && n <= 16;
  for (size_t i = 0; i < n; i++)
    good &= text[i] > ' ' && text[i] < 127 && text[i] != '\\';
  return good;
}

static char **
split_words(const char *text) {
  g_auto(GStrv) all = g_strsplit_set(text, " \t,", -1);
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  for (char **word = all; *word != NULL; word++)
    if (**word != '\0')
      g_strv_builder_add(words, *word);
  return g_strv_builder_end(words);
}

static gboolean
read_bits(const char *text, Kind kind, guint *bits) {
  g_auto(GStrv) words = split_words(text);
  guint found = 0;
  for (char **word = words; *word != NULL; word++) {
    guint bit = 0;
    DemurVerdict verdict;
    if (kind == KIND_VERDICTS && demur_verdict_from_name(*word, &verdict))
      bit = 1u << verdict;
    for (gsize o = 0; kind == KIND_OBJECTS && o < G_N_ELEMENTS(object_names); o++)
      if (strcmp(*word, object_names[o].name) == 0)
        bit = object_names[o].object;
    if (bit == 0)
      return FALSE;
    found |= bit;
  }
  *bits = found;
  return found != 0;
}

static gboolean
take_choice(const char *text, const char *const choices[2], gboolean *place) {
  for (int c = 0; c < 2; c++)
    if (strcmp(text, choices[c]) == 0) {
      *place = c;
      return TRUE;
    }
  return FALSE;
}

static gboolean
are_commit_peers(char *const *peers) {
  gboolean good = *peers != NULL;
  for (; good && *peers != NULL; peers++) {
    const char *equals = strchr(*peers, '=');
    g_autofree char *title = equals != NULL ? g_strndup(*peers, (gsize)(equals - *peers)) : NULL;
    g_autofree char *host = NULL;
    guint port = 0;
    good = title != NULL && is_ae(title) && !demur_web_is_url(equals + 1) &&
           read_peer(equals + 1, &host, &port);
  }
  return good;
}

/* What was expected, or NULL where the value was taken. */
static const char *
take_value(gpointer base, const Key *key, const char *text) {
  gpointer member = G_STRUCT_MEMBER_P(base, key->offset);
  gint64 number = 0;
  switch (key->kind) {
  case KIND_PEER:
    return read_peer(text, member, G_STRUCT_MEMBER_P(base, key->port_offset))
               ? NULL
               : "HOST:PORT, as in 10.0.0.5:104, or an https address";
  case KIND_NUMBER:
    if (!demur_number_parse_int(text, strlen(text), &number) || number < key->low ||
        number > key->high)
      return "a whole number in its range";
    *(guint *)member = (guint)number;
    return NULL;
  case KIND_LIST:
    g_strfreev(*(char ***)member);
    *(char ***)member = split_words(text);
    return **(char ***)member != NULL ? NULL : "words";
  case KIND_COMMIT:
    g_strfreev(*(char ***)member);
    *(char ***)member = split_words(text);
    return are_commit_peers(*(char ***)member) ? NULL : "AE=HOST:PORT, as in PACS=10.0.0.5:104";
  case KIND_PART:
    return take_choice(text, part_choices, member) ? NULL : "hold or assess";
  case KIND_SWITCH:
    return take_choice(text, switch_choices, member) ? NULL : "yes or no";
  case KIND_VERDICTS:
  case KIND_OBJECTS:
    return read_bits(text, key->kind, member) ? NULL : "words of the list";
  case KIND_AE:
    if (!is_ae(text))
      return "an AE title: 1 to 16 characters of ASCII without blanks";
    break;
  case KIND_ADDRESS:
    if (!g_hostname_is_ip_address(text))
      return "an address of this machine, as in 127.0.0.1 or 0.0.0.0";
    break;
  case KIND_PATH:
    if (!g_path_is_absolute(text))
      return "an absolute path: a service has no folder of its own";
    break;
  case KIND_TEXT:
    break;
  }
  g_free(*(char **)member);
  *(char **)member = g_strdup(text);
  return *text != '\0' ? NULL : "a text";
}

/* --- the file --- */

typedef struct {
  DemurServeConfig *config;
  const char *name;         /* of the file, for messages */
  guint line, section_line; /* from 1 */
  Section section;          /* of keys; N_SECTIONS before the first */
  DemurServeDestination *destination;
  GHashTable *given; /* "section/key" or "answer NAME/key" -> line */
} Reading;

static gboolean fail(const Reading *reading, guint line, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static gboolean
fail(const Reading *reading, guint line, GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  GError *fault = demur_error_new_valist(DEMUR_ERROR_INPUT, format, arguments);
  va_end(arguments);
  demur_error_prefix(&fault, "%s, line %u: ", reading->name, line);
  g_propagate_error(error, fault);
  return FALSE;
}

static char *
given_name(const Reading *reading, const char *key) {
  return g_strdup_printf("%s %s/%s", section_names[reading->section],
                         reading->destination != NULL ? reading->destination->name : "", key);
}

/* The usual values of a section, as if they were written. */
static void
fill_usual(DemurServeConfig *config, Section section, DemurServeDestination *destination) {
  for (gsize k = 0; k < G_N_ELEMENTS(keys); k++)
    if (keys[k].section == section && keys[k].usual != NULL && strcmp(keys[k].usual, MUST) != 0)
      (void)take_value(base_of(config, &keys[k], destination), &keys[k], keys[k].usual);
}

/* Behind a section, or the file: what must be given is. */
static gboolean
check_given(Reading *reading, Section section, guint line, GError **error) {
  for (gsize k = 0; k < G_N_ELEMENTS(keys); k++) {
    if (keys[k].section != section || g_strcmp0(keys[k].usual, MUST) != 0)
      continue;
    reading->section = section;
    g_autofree char *name = given_name(reading, keys[k].key);
    if (!g_hash_table_contains(reading->given, name))
      return fail(reading, line, error, N_("[%s] lacks %s: add `%s = ..` (%s)"),
                  reading->destination != NULL ? "answer" : section_names[section], keys[k].key,
                  keys[k].key, keys[k].meaning);
  }
  return TRUE;
}

static gboolean
end_answer(Reading *reading, GError **error) {
  const gboolean good =
      reading->destination == NULL || check_given(reading, ANSWER, reading->section_line, error);
  reading->destination = NULL;
  return good;
}

static gboolean
take_section(Reading *reading, char *text, GError **error) {
  const size_t n = strlen(text);
  if (text[n - 1] != ']')
    return fail(reading, reading->line, error, N_("a section ends with ]: write [receive]"));
  if (!end_answer(reading, error))
    return FALSE;
  text[n - 1] = '\0';
  const char *name = g_strstrip(text + 1);
  reading->section_line = reading->line;
  if (g_str_has_prefix(name, "answer ")) {
    const char *whom = name + strlen("answer ");
    while (*whom == ' ')
      whom++;
    for (const char *at = whom; *at != '\0'; at++)
      if (!g_ascii_isalnum(*at) && *at != '-' && *at != '_')
        return fail(reading, reading->line, error,
                    N_("a name of [answer NAME] has letters, digits, - and _ only"));
    if (demur_serve_config_destination(reading->config, whom) != NULL)
      return fail(reading, reading->line, error,
                  N_("[answer %s] is there twice: give another name"), whom);
    reading->destination = g_new0(DemurServeDestination, 1);
    reading->destination->name = g_strdup(whom);
    g_ptr_array_add(reading->config->destinations, reading->destination);
    reading->section = ANSWER;
    fill_usual(reading->config, ANSWER, reading->destination);
    return TRUE;
  }
  for (int section = 0; section < ANSWER; section++)
    if (strcmp(section_names[section], name) == 0) {
      reading->section = (Section)section;
      return TRUE;
    }
  return fail(reading, reading->line, error,
              N_("there is no section [%s]: there are [receive], [tls], [stow], [complete], "
                 "[model], [assess], [keep] and [answer NAME]"),
              name);
}

static gboolean
take_key(Reading *reading, char *text, GError **error) {
  char *equals = strchr(text, '=');
  if (equals == NULL)
    return fail(reading, reading->line, error,
                "neither a [section], a `key = value` nor a # comment");
  if (reading->section == N_SECTIONS)
    return fail(reading, reading->line, error,
                N_("a key before the first section: write [receive] "
                   "above it"));
  *equals = '\0';
  const char *name = g_strstrip(text), *value = g_strstrip(equals + 1);
  const Key *key = NULL;
  for (gsize k = 0; k < G_N_ELEMENTS(keys) && key == NULL; k++)
    if (keys[k].section == reading->section && strcmp(keys[k].key, name) == 0)
      key = &keys[k];
  if (key == NULL) {
    g_autoptr(GString) known = g_string_new(NULL);
    for (gsize k = 0; k < G_N_ELEMENTS(keys); k++)
      if (keys[k].section == reading->section)
        g_string_append_printf(known, "%s%s", known->len > 0 ? ", " : "", keys[k].key);
    return fail(reading, reading->line, error, N_("[%s] has no key '%s': it has %s"),
                section_names[reading->section], name, known->str);
  }
  g_autofree char *given = given_name(reading, key->key);
  gpointer before;
  if (g_hash_table_lookup_extended(reading->given, given, NULL, &before))
    return fail(reading, reading->line, error, N_("%s is given in line %u already: remove one"),
                name, GPOINTER_TO_UINT(before));
  g_hash_table_insert(reading->given, g_steal_pointer(&given), GUINT_TO_POINTER(reading->line));
  const char *expected =
      take_value(base_of(reading->config, key, reading->destination), key, value);
  if (expected == NULL)
    return TRUE;
  if (key->kind == KIND_NUMBER)
    return fail(reading, reading->line, error,
                N_("%s takes a whole number from %u to %u (%s), not '%s'"), name, key->low,
                key->high, key->meaning, value);
  return fail(reading, reading->line, error, N_("%s takes %s (%s), not '%s'"), name, expected,
              key->meaning, value);
}

static gboolean
take_line(Reading *reading, char *text, GError **error) {
  g_strstrip(text);
  if (*text == '\0' || *text == '#' || *text == ';')
    return TRUE;
  return *text == '[' ? take_section(reading, text, error) : take_key(reading, text, error);
}

/* Who encrypts needs the files for it. */
static gboolean
check_tls(const Reading *reading, GError **error) {
  const DemurServeConfig *c = reading->config;
  gboolean any = c->encrypted || c->archive_encrypted;
  for (guint d = 0; d < c->destinations->len; d++)
    any |= ((const DemurServeDestination *)c->destinations->pdata[d])->encrypted;
  if (any && c->authorities == NULL)
    return fail(reading, reading->line, error,
                N_("tls = yes needs `authorities = ..` under [tls]"));
  if (c->encrypted && c->certificate == NULL)
    return fail(reading, reading->line, error,
                N_("[receive] tls = yes needs `certificate = ..` and `key = ..` under [tls]"));
  if ((c->certificate == NULL) != (c->key == NULL))
    return fail(reading, reading->line, error, N_("[tls] certificate and key go together: add %s"),
                c->key == NULL ? "key" : "certificate");
  return TRUE;
}

/* What comes over HTTP is in the clear on this machine only. */
static gboolean
check_stow(const Reading *reading, GError **error) {
  const DemurServeConfig *c = reading->config;
  if (c->stow_port == 0)
    return TRUE;
  if (c->stow_port == c->port || c->stow_port == c->metrics_port)
    return fail(reading, reading->line, error,
                N_("[stow] port %u is taken under [receive]: give another one"), c->stow_port);
  if ((c->stow_certificate == NULL) != (c->stow_key == NULL))
    return fail(reading, reading->line, error, N_("[stow] certificate and key go together: add %s"),
                c->stow_key == NULL ? "key" : "certificate");
  if (c->stow_certificate != NULL)
    return TRUE;
  g_autoptr(GInetAddress) address = g_inet_address_new_from_string(c->stow_address);
  if (address == NULL || !g_inet_address_get_is_loopback(address))
    return fail(reading, reading->line, error,
                N_("[stow] address %s is reached from other machines: add certificate and key"),
                c->stow_address);
  return c->stow_authorities == NULL ||
         fail(reading, reading->line, error,
              N_("[stow] authorities need our own certificate and key too: add them"));
}

/* Storage commitment is a service of DICOM associations. */
static gboolean
check_commit(const Reading *reading, GError **error) {
  const GPtrArray *destinations = reading->config->destinations;
  for (guint d = 0; d < destinations->len; d++) {
    const DemurServeDestination *to = destinations->pdata[d];
    if (to->commit && demur_web_is_url(to->host))
      return fail(reading, reading->line, error,
                  N_("[answer %s] commit = yes needs HOST:PORT: over the web nobody commits"),
                  to->name);
  }
  return TRUE;
}

/* The place itself, behind the links of what is there already (owned). */
static char *
real_place(const char *path) {
  g_autofree char *plain = g_canonicalize_filename(path, NULL), *real = realpath(plain, NULL);
  if (real != NULL)
    return g_strdup(real);
  g_autofree char *above = g_path_get_dirname(plain), *name = g_path_get_basename(plain);
  g_autofree char *place = real_place(above);
  return g_build_filename(place, name, NULL);
}

/* Whether inner is outer or lies below it. */
static gboolean
is_within(const char *inner, const char *outer) {
  const size_t n = strlen(outer);
  return g_str_has_prefix(inner, outer) &&
         (inner[n] == '\0' || inner[n] == '/' || strcmp(outer, "/") == 0);
}

/* What is taken over from the watched folder is removed there: our own would be, over and over. */
static gboolean
check_watched(Reading *reading, GError **error) {
  const DemurServeConfig *c = reading->config;
  if (c->watched == NULL)
    return TRUE;
  g_autofree char *watched = real_place(c->watched), *folder = real_place(c->folder);
  if (!is_within(watched, folder) && !is_within(folder, watched))
    return TRUE;
  reading->section = RECEIVE;
  g_autofree char *name = given_name(reading, "watch");
  return fail(reading, GPOINTER_TO_UINT(g_hash_table_lookup(reading->given, name)), error,
              N_("watch and folder must not hold one another: give folders side by side"));
}

/* What no single key says. */
static gboolean
check_whole(Reading *reading, GError **error) {
  static const Section sections[] = {RECEIVE, MODEL, ASSESS};
  const DemurServeConfig *c = reading->config;
  for (gsize s = 0; s < G_N_ELEMENTS(sections); s++)
    if (!check_given(reading, sections[s], reading->line, error))
      return FALSE;
  if (strstr(c->command, "{series}") == NULL || strstr(c->command, "{output}") == NULL) {
    reading->section = MODEL;
    g_autofree char *name = given_name(reading, "command");
    return fail(reading, GPOINTER_TO_UINT(g_hash_table_lookup(reading->given, name)), error,
                N_("command lacks {series} or {output}: write it as `my-model {series} {output}`"));
  }
  return check_watched(reading, error) && check_tls(reading, error) && check_stow(reading, error) &&
         check_commit(reading, error);
}

DemurServeConfig *
demur_serve_config_read(const char *path, GError **error) {
  gsize n = 0;
  g_autofree char *name = g_filename_display_name(path);
  g_autofree char *text = demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES, &n, error);
  if (text == NULL)
    return NULL;
  if (!g_utf8_validate(text, (gssize)n, NULL)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s is no settings file: not UTF-8 text", name);
    return NULL;
  }
  g_autoptr(DemurServeConfig) config = g_new0(DemurServeConfig, 1);
  config->path = g_strdup(path);
  config->destinations = g_ptr_array_new_with_free_func(destination_free);
  g_autoptr(GHashTable) given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Reading reading = {.config = config, .name = name, .section = N_SECTIONS, .given = given};
  for (int section = 0; section < ANSWER; section++)
    fill_usual(config, (Section)section, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    reading.line++;
    if (!take_line(&reading, *line, error))
      return NULL;
  }
  if (!end_answer(&reading, error) || !check_whole(&reading, error))
    return NULL;
  return g_steal_pointer(&config);
}

const DemurServeDestination *
demur_serve_config_destination(const DemurServeConfig *config, const char *name) {
  for (guint d = 0; d < config->destinations->len; d++) {
    const DemurServeDestination *destination = config->destinations->pdata[d];
    if (strcmp(destination->name, name) == 0)
      return destination;
  }
  return NULL;
}

DemurWeb
demur_serve_config_web(const DemurServeConfig *config, const char *url, const char *login_path,
                       guint timeout_seconds, DemurTls *tls, char **login) {
  /* The machine's own authorities where none are named. */
  const DemurTls *use = demur_serve_config_tls(config, config->authorities != NULL, tls);
  *login = login_path != NULL ? demur_file_input_read(login_path, MAX_LOGIN, NULL, NULL) : NULL;
  return (DemurWeb){.url = url,
                    .tls = use,
                    .login = *login != NULL ? g_strstrip(*login) : NULL,
                    .timeout_seconds = timeout_seconds};
}

const DemurTls *
demur_serve_config_tls(const DemurServeConfig *config, gboolean encrypted, DemurTls *tls) {
  *tls = (DemurTls){config->certificate, config->key, config->authorities, config->any_caller};
  return encrypted ? tls : NULL;
}

const DemurStow *
demur_serve_config_stow(const DemurServeConfig *config, DemurStow *stow) {
  *stow = (DemurStow){.address = config->stow_address,
                      .port = config->stow_port,
                      .certificate = config->stow_certificate,
                      .key = config->stow_key,
                      .authorities = config->stow_authorities,
                      .token = config->stow_token,
                      .max_connections = config->stow_connections,
                      .max_of_peer = config->stow_of_peer,
                      .timeout_seconds = config->stow_timeout_seconds,
                      .object_mb = config->stow_object_mb,
                      .request_mb = config->stow_request_mb};
  return config->stow_port > 0 ? stow : NULL;
}

gboolean
demur_serve_config_same_receiver(const DemurServeConfig *one, const DemurServeConfig *other) {
  gboolean same = TRUE;
  for (gsize k = 0; k < G_N_ELEMENTS(keys) && same; k++) {
    if (keys[k].section != RECEIVE && keys[k].section != TLS && keys[k].section != STOW)
      continue;
    gconstpointer a = G_STRUCT_MEMBER_P(one, keys[k].offset),
                  b = G_STRUCT_MEMBER_P(other, keys[k].offset);
    if (keys[k].kind == KIND_NUMBER || keys[k].kind == KIND_SWITCH) {
      same = *(const guint *)a == *(const guint *)b;
    } else if (keys[k].kind == KIND_LIST || keys[k].kind == KIND_COMMIT) {
      char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
      same = (x == NULL) == (y == NULL) &&
             (x == NULL || g_strv_equal((const char *const *)x, (const char *const *)y));
    } else {
      same = g_strcmp0(*(char *const *)a, *(char *const *)b) == 0;
    }
  }
  return same;
}

char *
demur_serve_config_describe(void) {
  GString *text = g_string_new(NULL);
  Section section = N_SECTIONS;
  for (gsize k = 0; k < G_N_ELEMENTS(keys); k++) {
    const Key *key = &keys[k];
    if (section != key->section)
      g_string_append_printf(text, "[%s]\n", section_names[key->section]);
    section = key->section;
    g_string_append_printf(text, "  %-12s %s%s%s%s\n", key->key, key->meaning,
                           key->usual == NULL              ? ""
                           : strcmp(key->usual, MUST) == 0 ? "; must be given"
                                                           : "; usual: ",
                           key->usual != NULL && strcmp(key->usual, MUST) != 0 ? key->usual : "",
                           "");
  }
  return g_string_free(text, FALSE);
}
