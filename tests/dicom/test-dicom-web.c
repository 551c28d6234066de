/* The DICOMweb client against a stand-in server that says what each case lays down: right answers,
 * and what a broken or hostile server may send. Right: objects as they were, or a refusal; never
 * anything kept of what was not asked for. */
#include "base/error.h"
#include "dicom/multipart.h"
#include "dicom/web-json.h"
#include "web-fixture.h"

static void
test_objects_are_retrieved_as_they_are(void) {
  g_autofree char *folder = fixture_folder(), *url = NULL;
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 5);
  Web *web = web_new();
  const DemurWeb peer = web_client(web, &url);
  g_autoptr(GByteArray) body = web_multipart(paths);
  web_answer(web, "200 OK", WEB_TYPE, body->data, body->len);
  g_autoptr(GError) error = NULL;
  DemurWebRetrieved retrieved;
  g_assert_true(demur_web_retrieve(&peer, "1.2.3", NULL, out, &retrieved, NULL, &error));
  g_assert_cmpuint(retrieved.n_objects, ==, 5);
  g_assert_nonnull(g_strstr_len((char *)web->request->data, web->request->len,
                                "GET /dicom-web/studies/1.2.3 HTTP/1.1\r\n"));
  g_assert_true(demur_web_retrieve(&peer, "1.2.3", "1.2.3.4", out, &retrieved, NULL, &error));
  g_assert_cmpuint(retrieved.n_objects, ==, 0);
  g_assert_cmpuint(retrieved.n_known, ==, 5);
  g_autofree char *sent = NULL, *kept = NULL;
  g_autofree char *file = g_build_filename(out, "1.2.3", "1.2.3.4", "1.2.3.4.1.1.dcm", NULL);
  gsize n, m;
  g_assert_true(g_file_get_contents(paths[0], &sent, &n, NULL));
  g_assert_true(g_file_get_contents(file, &kept, &m, NULL));
  g_assert_cmpuint(n, ==, m);
  g_assert_cmpint(memcmp(sent, kept, n), ==, 0);
  web_free(web);
  fixture_remove(folder);
}

/* Nothing of a faulty answer is kept that was not whole, asked for and sound; each says why. */
static void
test_broken_answers_are_refused(void) {
  g_autofree char *folder = fixture_folder(), *url = NULL;
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 2);
  g_autoptr(GByteArray) body = web_multipart(paths);
  g_autofree char *cut = g_strndup((const char *)body->data, 60);
  g_autofree char *huge_head = g_strnfill(40000, 'h');
  const char *whole = (const char *)body->data;
  const struct {
    const char *what, *status, *type, *study;
    const void *bytes;
    gssize n;
    const char *says;
  } rows[] = {
      {"cut in the middle", "200 OK", WEB_TYPE, "1.2.3", whole, (gssize)body->len - 400,
       "ends before"},
      {"cut in a head", "200 OK", WEB_TYPE, "1.2.3", cut, 30, "ends before"},
      {"no closing boundary", "200 OK", WEB_TYPE, "1.2.3", whole, (gssize)body->len - 9,
       "ends before"},
      {"empty", "200 OK", WEB_TYPE, "1.2.3", "", 0, "empty"},
      {"no boundary in it", "200 OK", WEB_TYPE, "1.2.3", huge_head, 40000, "no boundary"},
      {"no boundary named", "200 OK", "multipart/related", "1.2.3", whole, (gssize)body->len,
       "no multipart body"},
      {"one object bare", "200 OK", "application/dicom", "1.2.3", whole, 100, "no multipart body"},
      {"parts of no DICOM", "200 OK", WEB_TYPE, "1.2.3", "--xyz\r\nA: b\r\n\r\nhello\r\n--xyz--",
       -1, NULL},
      {"a part without an end of its head", "200 OK", WEB_TYPE, "1.2.3", "--xyz\r\nA: b", -1,
       "ends before"},
      {"another study's objects", "200 OK", WEB_TYPE, "9.9.9", whole, (gssize)body->len,
       "not asked for"},
      {"not found", "404 Not Found", "text/plain", "1.2.3", "no", -1, "HTTP status 404"},
      {"no access", "401 Unauthorized", "text/plain", "1.2.3", "no", -1, "no access"},
      {"a redirection", "302 Found\r\nLocation: http://127.0.0.1:1/", "text/plain", "1.2.3", "", 0,
       "HTTP status 302"},
  };
  Web *web = web_new();
  const DemurWeb peer = web_client(web, &url);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    DemurWebRetrieved retrieved;
    web_answer(web, rows[i].status, rows[i].type, rows[i].bytes, rows[i].n);
    if (demur_web_retrieve(&peer, rows[i].study, NULL, out, &retrieved, NULL, &error))
      g_error("%s: it was taken", rows[i].what);
    if (rows[i].says != NULL && strstr(error->message, rows[i].says) == NULL)
      g_error("%s: '%s' does not say '%s'", rows[i].what, error->message, rows[i].says);
    g_autofree char *other = g_build_filename(out, "9.9.9", NULL);
    g_assert_false(g_file_test(other, G_FILE_TEST_EXISTS));
  }
  web_free(web);
  fixture_remove(folder);
}

/* A server that says nothing is given up; one that is not there too. */
static void
test_silent_and_absent_servers_are_given_up(void) {
  g_autofree char *url = NULL;
  Web *web = web_new();
  const DemurWeb peer = web_client(web, &url);
  web->silent = TRUE;
  const DemurQuery query = {.patient_id = "P1"};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_web_find(&peer, &query, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  web_free(web);
  g_clear_error(&error);
  g_assert_null(demur_web_find(&peer, &query, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

static void
test_what_is_found_is_read(void) {
  static const char studies[] = "[{\"0020000D\": {\"vr\": \"UI\", \"Value\": [\"1.2.3\"]},"
                                " \"00100020\": {\"vr\": \"LO\", \"Value\": [\"P1\"]},"
                                " \"00080061\": {\"vr\": \"CS\", \"Value\": [\"CT\", \"SR\"]},"
                                " \"00080020\": {\"vr\": \"DA\"},"
                                " \"00201208\": {\"vr\": \"IS\", \"Value\": [24]}}]";
  g_autofree char *url = NULL;
  Web *web = web_new();
  const DemurWeb peer = web_client(web, &url);
  web_answer(web, "200 OK", "application/dicom+json", studies, -1);
  const DemurQuery query = {.patient_id = "P 1&x=*", .modality = "CT"};
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) found = demur_web_find(&peer, &query, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(found->len, ==, 1);
  const DemurFound *study = found->pdata[0];
  g_assert_cmpstr(study->study_uid, ==, "1.2.3");
  g_assert_cmpstr(study->patient_id, ==, "P1");
  g_assert_cmpstr(study->modality, ==, "CT\\SR");
  g_assert_cmpstr(study->study_date, ==, "");
  g_assert_cmpstr(study->n_instances, ==, "24");
  g_assert_nonnull(g_strstr_len((char *)web->request->data, web->request->len,
                                "GET /dicom-web/studies?PatientID=P%201%26x%3D*&Modalities"));
  web_answer(web, "204 No Content", "application/dicom+json", "", 0);
  g_autoptr(GPtrArray) nothing = demur_web_find(&peer, &query, &error);
  g_assert_cmpuint(nothing->len, ==, 0);
  web_free(web);
}

static void
test_hostile_json_is_refused(void) {
  g_autoptr(GString) deep = g_string_new(NULL);
  for (int i = 0; i < 100000; i++)
    g_string_append(deep, "[{\"a\":");
  g_autoptr(GString) many = g_string_new("[{}");
  for (int i = 0; i < DEMUR_WEB_MAX_FOUND; i++)
    g_string_append(many, ",{}");
  g_string_append_c(many, ']');
  const char *const refused[] = {deep->str, many->str,         "",       "{}", "[1]", "[[]]",
                                 "null",    "[{\"0020000D\":", "/* */[]"};
  for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_web_json_found(refused[i], strlen(refused[i]), FALSE, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  /* Odd, but harmless: what is no text is none. */
  const char *const odd[] = {"[]", "[{}]", "[{\"0020000D\": 5}]",
                             "[{\"0020000D\": {\"Value\": 5}}]",
                             "[{\"0020000D\": {\"Value\": [null, {}, [], true]}}]"};
  for (gsize i = 0; i < G_N_ELEMENTS(odd); i++) {
    g_autoptr(GPtrArray) found = demur_web_json_found(odd[i], strlen(odd[i]), FALSE, NULL);
    g_assert_nonnull(found);
    for (guint f = 0; f < found->len; f++)
      g_assert_cmpstr(((DemurFound *)found->pdata[f])->study_uid, ==, "");
  }
}

/* What a server says it stored, and no more. */
static void
test_stored_objects_are_counted(void) {
  static const struct {
    const char *status, *body;
    size_t n_sent, n_failed;
    gboolean good;
  } rows[] = {
      {"200 OK", "{\"00081199\": {\"vr\": \"SQ\", \"Value\": [{}, {}, {}]}}", 3, 0, TRUE},
      {"202 Accepted",
       "{\"00081199\": {\"vr\": \"SQ\", \"Value\": [{}, {}]}, \"00081198\": {\"vr\": \"SQ\", "
       "\"Value\": [{\"00081155\": {\"vr\": \"UI\", \"Value\": [\"1.2\"]}, \"00081197\": {\"vr\": "
       "\"US\", \"Value\": [272]}}]}}",
       2, 1, TRUE},
      {"409 Conflict", "{\"00081198\": {\"vr\": \"SQ\", \"Value\": [{}, {}, {}]}}", 0, 3, TRUE},
      {"200 OK", "{}", 0, 3, TRUE},
      {"200 OK", "thanks", 0, 0, FALSE},
      {"500 Internal Server Error", "{}", 0, 0, FALSE},
  };
  g_autofree char *folder = fixture_folder(), *url = NULL;
  g_auto(GStrv) paths = fixture_write_series(folder, 3);
  Web *web = web_new();
  const DemurWeb peer = web_client(web, &url);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    web_answer(web, rows[i].status, "application/dicom+json", rows[i].body, -1);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSending) sending =
        demur_web_send(&peer, (const char *const *)paths, NULL, &error);
    g_assert_cmpint(sending != NULL, ==, rows[i].good);
    if (sending == NULL)
      continue;
    g_assert_cmpuint(sending->n_sent, ==, rows[i].n_sent);
    g_assert_cmpuint(sending->n_failed, ==, rows[i].n_failed);
  }
  g_assert_nonnull(g_strstr_len((char *)web->request->data, web->request->len,
                                "POST /dicom-web/studies HTTP/1.1\r\n"));
  web_free(web);
  fixture_remove(folder);
}

/* A login does not leave the machine unencrypted. */
static void
test_a_login_is_not_told_in_the_open(void) {
  const DemurWeb web = {
      .url = "http://192.0.2.1/dicom-web", .login = "somebody:secret", .timeout_seconds = 1};
  const DemurQuery query = {.patient_id = "P1"};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_web_find(&web, &query, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_assert_null(strstr(error->message, "secret"));
}

static void
test_boundaries_are_read(void) {
  static const struct {
    const char *type, *boundary;
  } rows[] = {
      {"multipart/related; boundary=abc", "abc"},
      {"multipart/related; type=\"application/dicom\"; boundary=\"a b;c\"", "a b;c"},
      {"Multipart/Related;BOUNDARY=x; type=y", "x"},
      {"multipart/related; type=\"a; boundary=wrong\"; boundary=right", "right"},
      {"multipart/related; boundary=", NULL},
      {"multipart/related; boundary=\"abc", NULL},
      {"multipart/related; boundary=\"\"", NULL},
      {"application/dicom; boundary=abc", NULL},
      {NULL, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *boundary = demur_multipart_boundary(rows[i].type);
    g_assert_cmpstr(boundary, ==, rows[i].boundary);
  }
}

static gboolean
gather(const guint8 *bytes, size_t n, gpointer data, GError **error) {
  g_ptr_array_add(data, g_strndup((const char *)bytes, n));
  return TRUE;
}

/* The same parts whatever pieces the body comes in. */
static void
test_parts_do_not_hang_on_the_pieces(void) {
  static const char body[] =
      "before\r\n--b\r\nA: 1\r\n\r\none\r\n--x\r\n--b\r\n\r\n\r\n--b\r\nB: 2\r\n"
      "\r\n-b-\r\nthree\r\n--b--\r\nbehind";
  for (size_t piece = 1; piece < sizeof body; piece++) {
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(DemurMultipart) multipart = demur_multipart_new("b", 1000, gather, parts);
    g_autoptr(GError) error = NULL;
    for (size_t at = 0; at < sizeof body - 1; at += piece)
      g_assert_true(demur_multipart_feed(multipart, (const guint8 *)body + at,
                                         MIN(piece, sizeof body - 1 - at), &error));
    g_assert_true(demur_multipart_end(multipart, &error));
    g_assert_cmpuint(parts->len, ==, 3);
    g_assert_cmpstr(parts->pdata[0], ==, "one\r\n--x");
    g_assert_cmpstr(parts->pdata[1], ==, "");
    g_assert_cmpstr(parts->pdata[2], ==, "-b-\r\nthree");
  }
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(DemurMultipart) small = demur_multipart_new("b", 3, gather, parts);
  g_autoptr(GError) error = NULL;
  g_assert_false(
      demur_multipart_feed(small, (const guint8 *)"--b\r\n\r\n12345678901234", 21, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/web/objects-are-retrieved-as-they-are",
                  test_objects_are_retrieved_as_they_are);
  g_test_add_func("/dicom/web/broken-answers-are-refused", test_broken_answers_are_refused);
  g_test_add_func("/dicom/web/silent-and-absent-servers-are-given-up",
                  test_silent_and_absent_servers_are_given_up);
  g_test_add_func("/dicom/web/what-is-found-is-read", test_what_is_found_is_read);
  g_test_add_func("/dicom/web/hostile-json-is-refused", test_hostile_json_is_refused);
  g_test_add_func("/dicom/web/stored-objects-are-counted", test_stored_objects_are_counted);
  g_test_add_func("/dicom/web/a-login-is-not-told-in-the-open",
                  test_a_login_is_not_told_in_the_open);
  g_test_add_func("/dicom/web/boundaries-are-read", test_boundaries_are_read);
  g_test_add_func("/dicom/web/parts-do-not-hang-on-the-pieces",
                  test_parts_do_not_hang_on_the_pieces);
  return g_test_run();
}
