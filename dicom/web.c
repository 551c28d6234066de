#define _GNU_SOURCE
#include "dicom/web.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/translate.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "dicom/files.h"
#include "dicom/library.h"
#include "dicom/multipart.h"
#include "dicom/object-folder.h"
#include "dicom/web-json.h"
#include "dicom/data-set.h"

#define MAX_JSON (64u << 20)
#define MAX_OBJECT ((size_t)1 << 30)
#define MAX_BATCH (16u << 20) /* bytes of objects that are stored at once, or one object */
#define BOUNDARY "demur-part-4f1d0c2b9a7e"

static gboolean
fail(GError **error, const char *what, const char *why) {
  demur_error_set(error, DEMUR_ERROR_STATE, "%s: %s", what, why);
  return FALSE;
}

gboolean
demur_web_is_url(const char *peer) {
  return g_ascii_strncasecmp(peer, "https://", 8) == 0 ||
         g_ascii_strncasecmp(peer, "http://", 7) == 0;
}

/* --- one exchange --- */

typedef struct {
  const DemurProgress *progress;
  GByteArray *answer; /* where it is to be kept whole */
  size_t max_answer;
  DemurMultipart *multipart; /* where it is to be cut into parts; made when the head has come */
  DemurMultipartFunc part;
  gpointer data;
  char *content_type;
  gboolean wants_parts;
  GError *error; /* ours, that ended it */
  CURL *curl;
} Exchange;

static void
exchange_clear(Exchange *exchange) {
  g_clear_pointer(&exchange->answer, g_byte_array_unref);
  g_clear_pointer(&exchange->multipart, demur_multipart_free);
  g_clear_pointer(&exchange->content_type, g_free);
  g_clear_error(&exchange->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Exchange, exchange_clear)

static gboolean
begin_parts(Exchange *exchange) {
  g_autofree char *boundary = demur_multipart_boundary(exchange->content_type);
  if (boundary == NULL)
    return fail(&exchange->error, N_("the server's answer"), N_("it is no multipart body"));
  exchange->multipart = demur_multipart_new(boundary, MAX_OBJECT, exchange->part, exchange->data);
  return TRUE;
}

static size_t
on_bytes(char *bytes, size_t size, size_t n, void *data) {
  Exchange *exchange = data;
  const size_t length = size * n;
  long status = 0;
  curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
  if (exchange->wants_parts && status == 200) {
    if (exchange->multipart == NULL && !begin_parts(exchange))
      return 0;
    return demur_multipart_feed(exchange->multipart, (const guint8 *)bytes, length,
                                &exchange->error)
               ? length
               : 0;
  }
  if (exchange->answer->len + length > exchange->max_answer) {
    (void)fail(&exchange->error, N_("the server's answer"), N_("it is too long"));
    return 0;
  }
  g_byte_array_append(exchange->answer, (const guint8 *)bytes, (guint)length);
  return length;
}

static size_t
on_head(char *bytes, size_t size, size_t n, void *data) {
  Exchange *exchange = data;
  const size_t length = size * n;
  static const char name[] = "content-type:";
  if (length > sizeof name && length < 4096 &&
      g_ascii_strncasecmp(bytes, name, sizeof name - 1) == 0) {
    g_free(exchange->content_type);
    exchange->content_type =
        g_strstrip(g_strndup(bytes + sizeof name - 1, length - (sizeof name - 1)));
  }
  return length;
}

static int
on_progress(void *data, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up) {
  Exchange *exchange = data;
  const double fraction = down_all > 0 ? (double)down / (double)down_all : 0.0;
  return demur_progress_step(exchange->progress, MIN(fraction, 1.0), "the web", &exchange->error)
             ? 0
             : 1;
}

static gboolean
is_loopback(const char *url) {
  g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
  const char *host = uri != NULL ? g_uri_get_host(uri) : NULL;
  return host != NULL && (strcmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0 ||
                          strcmp(host, "::1") == 0);
}

static gboolean
set_login(CURL *curl, const DemurWeb *web, const char *url, GError **error) {
  if (web->login == NULL)
    return TRUE;
  if (g_ascii_strncasecmp(url, "https://", 8) != 0 && !is_loopback(url)) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "a login goes to another machine by https only");
    return FALSE;
  }
  const gboolean user = strchr(web->login, ':') != NULL;
  curl_easy_setopt(curl, user ? CURLOPT_USERPWD : CURLOPT_XOAUTH2_BEARER, web->login);
  curl_easy_setopt(curl, CURLOPT_HTTPAUTH, user ? CURLAUTH_BASIC : CURLAUTH_BEARER);
  return TRUE;
}

static void
set_up(CURL *curl, const DemurWeb *web, Exchange *exchange, char *words) {
  const long timeout = (long)web->timeout_seconds;
  exchange->curl = curl;
  exchange->answer = g_byte_array_new();
  exchange->max_answer = MAX_JSON;
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "demur/" DEMUR_VERSION);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 64L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, timeout);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_head);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  if (web->tls == NULL)
    return;
  if (web->tls->authorities != NULL) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, web->tls->authorities);
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
  }
  if (web->tls->certificate != NULL) {
    curl_easy_setopt(curl, CURLOPT_SSLCERT, web->tls->certificate);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, web->tls->key);
  }
}

/* Performs it; *status gets HTTP's. headers are freed. */
static gboolean
perform(const DemurWeb *web, const char *url, struct curl_slist *headers, const GByteArray *body,
        Exchange *exchange, long *status, GError **error) {
  static gsize once = 0;
  if (g_once_init_enter(&once)) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    g_once_init_leave(&once, 1);
  }
  char words[CURL_ERROR_SIZE] = "";
  CURL *curl = curl_easy_init();
  gboolean good = curl != NULL;
  CURLcode code = CURLE_FAILED_INIT;
  *status = 0;
  if (good) {
    set_up(curl, web, exchange, words);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (body != NULL) {
      curl_easy_setopt(curl, CURLOPT_POST, 1L);
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    }
    good = set_login(curl, web, url, error);
    if (good) {
      code = curl_easy_perform(curl);
      curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    }
  }
  if (curl != NULL)
    curl_easy_cleanup(curl);
  curl_slist_free_all(headers);
  if (!good)
    return error != NULL && *error != NULL ? FALSE : fail(error, web->url, N_("libcurl fails"));
  if (exchange->error != NULL) {
    g_propagate_error(error, g_steal_pointer(&exchange->error));
    return FALSE;
  }
  return code == CURLE_OK ||
         fail(error, web->url, *words != '\0' ? words : curl_easy_strerror(code));
}

static gboolean
fail_status(const DemurWeb *web, long status, GError **error) {
  g_autofree char *why = g_strdup_printf("HTTP status %ld%s", status,
                                         status == 401 || status == 403 ? ", no access"
                                         : status == 404 ? ", nothing of that kind is there"
                                                         : "");
  return fail(error, web->url, why);
}

/* --- search --- */

static void
add_key(GString *url, gboolean *first, const char *name, const char *value) {
  if (value == NULL)
    return;
  g_autofree char *escaped = g_uri_escape_string(value, "*", FALSE);
  g_string_append_printf(url, "%c%s=%s", *first ? '?' : '&', name, escaped);
  *first = FALSE;
}

static GString *
url_of(const DemurWeb *web, const char *path) {
  GString *url = g_string_new(web->url);
  while (url->len > 0 && url->str[url->len - 1] == '/')
    g_string_truncate(url, url->len - 1);
  g_string_append(url, path);
  return url;
}

static gboolean
check_uid(const char *uid, GError **error) {
  if (uid == NULL || demur_object_is_uid(uid))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_USAGE, "'%s' is no UID", uid);
  return FALSE;
}

GPtrArray *
demur_web_find(const DemurWeb *web, const DemurQuery *query, GError **error) {
  if (!check_uid(query->study_uid, error) || !check_uid(query->series_uid, error))
    return NULL;
  const gboolean series = query->study_uid != NULL;
  g_autofree char *path =
      series ? g_strdup_printf("/studies/%s/series", query->study_uid) : g_strdup("/studies");
  g_autoptr(GString) url = url_of(web, path);
  gboolean first = TRUE;
  if (series) {
    add_key(url, &first, "SeriesInstanceUID", query->series_uid);
    add_key(url, &first, "Modality", query->modality);
    add_key(url, &first, "includefield", "SeriesDescription");
    add_key(url, &first, "includefield", "NumberOfSeriesRelatedInstances");
  } else {
    add_key(url, &first, "PatientID", query->patient_id);
    add_key(url, &first, "AccessionNumber", query->accession_number);
    add_key(url, &first, "StudyDate", query->study_date);
    add_key(url, &first, "ModalitiesInStudy", query->modality);
    add_key(url, &first, "includefield", "StudyDescription");
    add_key(url, &first, "includefield", "NumberOfStudyRelatedInstances");
  }
  g_auto(Exchange) exchange = {0};
  long status;
  struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/dicom+json");
  if (!perform(web, url->str, headers, NULL, &exchange, &status, error))
    return NULL;
  if (status == 204) /* nothing was found */
    return g_ptr_array_new_with_free_func((GDestroyNotify)demur_found_free);
  if (status != 200) {
    (void)fail_status(web, status, error);
    return NULL;
  }
  return demur_web_json_found((const char *)exchange.answer->data, exchange.answer->len, series,
                              error);
}

/* --- retrieve --- */

typedef struct {
  const char *study_uid, *series_uid, *folder;
  DemurWebRetrieved *retrieved;
} Retrieval;

static gboolean
keep_part(const guint8 *bytes, size_t n, gpointer data, GError **error) {
  Retrieval *retrieval = data;
  gboolean known;
  if (!demur_object_keep(retrieval->folder, retrieval->study_uid, retrieval->series_uid, bytes, n,
                         &known, error))
    return FALSE;
  retrieval->retrieved->n_objects += known ? 0 : 1;
  retrieval->retrieved->n_known += known ? 1 : 0;
  return TRUE;
}

gboolean
demur_web_retrieve(const DemurWeb *web, const char *study_uid, const char *series_uid,
                   const char *folder, DemurWebRetrieved *retrieved, const DemurProgress *progress,
                   GError **error) {
  *retrieved = (DemurWebRetrieved){0};
  if (!check_uid(study_uid, error) || !check_uid(series_uid, error) || !demur_dicom_init(error))
    return FALSE;
  g_autofree char *path = series_uid != NULL
                              ? g_strdup_printf("/studies/%s/series/%s", study_uid, series_uid)
                              : g_strdup_printf("/studies/%s", study_uid);
  g_autoptr(GString) url = url_of(web, path);
  Retrieval retrieval = {study_uid, series_uid, folder, retrieved};
  g_auto(Exchange)
      exchange = {.progress = progress, .wants_parts = TRUE, .part = keep_part, .data = &retrieval};
  long status;
  struct curl_slist *headers = curl_slist_append(
      NULL, "Accept: multipart/related; type=\"application/dicom\"; transfer-syntax=*");
  if (!perform(web, url->str, headers, NULL, &exchange, &status, error))
    return FALSE;
  if (status != 200)
    return fail_status(web, status, error);
  return exchange.multipart != NULL ? demur_multipart_end(exchange.multipart, error)
                                    : fail(error, N_("the server's answer"), N_("it is empty"));
}

/* --- store --- */

static gboolean
holds_boundary(const char *bytes, size_t n) {
  return memmem(bytes, n, BOUNDARY, strlen(BOUNDARY)) != NULL;
}

/* Adds the object to the body; FALSE where it can't be sent, which is noted. */
static gboolean
add_object(GByteArray *body, const char *path, DemurSending *sending) {
  static const char head[] = "--" BOUNDARY "\r\nContent-Type: application/dicom\r\n\r\n";
  g_autoptr(GError) cause = NULL;
  g_autofree char *name = demur_files_display(path, NULL);
  g_autoptr(DemurSource) source = demur_source_open(path, &cause);
  g_autoptr(DemurHeader) header = source != NULL ? demur_header_read(&source, &cause) : NULL;
  if (header == NULL) {
    sending->n_skipped++;
    g_ptr_array_add(sending->problems, g_strdup_printf("%s: %s", name, cause->message));
    return FALSE;
  }
  g_autoptr(DemurSource) whole = demur_source_open(path, &cause);
  gsize n = 0;
  g_autofree char *bytes = whole != NULL && demur_data_set_check(&whole, &cause)
                               ? demur_file_input_read(path, MAX_OBJECT, &n, &cause)
                               : NULL;
  const char *why = bytes == NULL              ? cause->message
                    : holds_boundary(bytes, n) ? "it holds our boundary"
                                               : NULL;
  if (why != NULL) {
    sending->n_failed++;
    g_ptr_array_add(sending->problems, g_strdup_printf("%s: %s", name, why));
    return FALSE;
  }
  g_byte_array_append(body, (const guint8 *)head, sizeof head - 1);
  g_byte_array_append(body, (const guint8 *)bytes, (guint)n);
  g_byte_array_append(body, (const guint8 *)"\r\n", 2);
  return TRUE;
}

/* Stores the n objects of a body. */
static gboolean
store(const DemurWeb *web, GByteArray *body, size_t n, DemurSending *sending,
      const DemurProgress *progress, GError **error) {
  static const char tail[] = "--" BOUNDARY "--\r\n";
  g_byte_array_append(body, (const guint8 *)tail, sizeof tail - 1);
  g_autoptr(GString) url = url_of(web, "/studies");
  struct curl_slist *headers = curl_slist_append(
      NULL, "Content-Type: multipart/related; type=\"application/dicom\"; boundary=" BOUNDARY);
  headers = curl_slist_append(headers, "Accept: application/dicom+json");
  headers = curl_slist_append(headers, "Expect:");
  g_auto(Exchange) exchange = {.progress = progress};
  long status;
  if (!perform(web, url->str, headers, body, &exchange, &status, error))
    return FALSE;
  size_t n_stored = 0;
  /* 200 all, 202 some, 409 none. */
  if (status != 200 && status != 202 && status != 409)
    return fail_status(web, status, error);
  if (!demur_web_json_stored((const char *)exchange.answer->data, exchange.answer->len, &n_stored,
                             sending->problems, error))
    return FALSE;
  n_stored = MIN(n_stored, n);
  sending->n_sent += n_stored;
  sending->n_failed += n - n_stored;
  return TRUE;
}

DemurSending *
demur_web_send(const DemurWeb *web, const char *const *paths, const DemurProgress *progress,
               GError **error) {
  if (!demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurSending) sending = g_new0(DemurSending, 1);
  sending->problems = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GByteArray) body = g_byte_array_new();
  size_t n = 0;
  for (; *paths != NULL; paths++) {
    n += add_object(body, *paths, sending) ? 1 : 0;
    if (n == 0 || (body->len < MAX_BATCH && paths[1] != NULL))
      continue;
    if (!store(web, body, n, sending, progress, error))
      return NULL;
    g_byte_array_set_size(body, 0);
    n = 0;
  }
  return g_steal_pointer(&sending);
}
