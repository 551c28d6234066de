/* A stand-in for a DICOMweb server, in a thread of the test: it says what each case lays down. */
#pragma once

#include "dicom/web.h"
#include "network-fixture.h"

/* --- a server of one answer --- */

typedef struct {
  int listener;
  guint port;
  GThread *thread;
  GMutex lock;         /* of the answer: a caller may hang up before the last one is sent */
  GByteArray *answer;  /* with its head */
  GByteArray *request; /* the last one */
  gboolean silent;     /* reads and says nothing until the caller goes */
  gint ended;
} Web;

/* Reads until the end of what the head promises. */
static inline void
web_read_request(int fd, GByteArray *request) {
  guint8 bytes[65536];
  ssize_t n;
  g_byte_array_set_size(request, 0);
  while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0) {
    g_byte_array_append(request, bytes, (guint)n);
    const char *head = (const char *)request->data;
    const char *end = g_strstr_len(head, request->len, "\r\n\r\n");
    if (end == NULL)
      continue;
    const char *length = g_strstr_len(head, end - head, "Content-Length: ");
    const guint64 body =
        length != NULL ? g_ascii_strtoull(length + strlen("Content-Length: "), NULL, 10) : 0;
    if (request->len >= (guint64)(end + 4 - head) + body)
      return;
  }
}

static inline gpointer
web_run(gpointer data) {
  Web *web = data;
  for (;;) {
    const int fd = accept(web->listener, NULL, NULL);
    if (fd < 0 || g_atomic_int_get(&web->ended)) {
      if (fd >= 0)
        close(fd);
      return NULL;
    }
    web_read_request(fd, web->request);
    guint8 byte;
    if (web->silent)
      while (recv(fd, &byte, 1, 0) > 0)
        ;
    g_mutex_lock(&web->lock);
    const guint length = web->answer->len;
    g_autofree guint8 *answer = g_memdup2(web->answer->data, length);
    g_mutex_unlock(&web->lock);
    for (guint at = 0; !web->silent && at < length;) {
      const ssize_t n = send(fd, answer + at, length - at, MSG_NOSIGNAL);
      if (n <= 0)
        break;
      at += (guint)n;
    }
    close(fd);
  }
}

static inline Web *
web_new(void) {
  Web *web = g_new0(Web, 1);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  g_mutex_init(&web->lock);
  web->answer = g_byte_array_new();
  web->request = g_byte_array_new();
  web->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(web->listener, (struct sockaddr *)&address, length), ==, 0);
  g_assert_cmpint(getsockname(web->listener, (struct sockaddr *)&address, &length), ==, 0);
  g_assert_cmpint(listen(web->listener, 8), ==, 0);
  web->port = ntohs(address.sin_port);
  web->thread = g_thread_new("web", web_run, web);
  return web;
}

static inline void
web_free(Web *web) {
  g_atomic_int_set(&web->ended, 1);
  shutdown(web->listener, SHUT_RDWR);
  close(web->listener);
  g_thread_join(web->thread);
  g_mutex_clear(&web->lock);
  g_byte_array_unref(web->answer);
  g_byte_array_unref(web->request);
  g_free(web);
}

/* What the next caller gets. n -1: text. */
static inline void
web_answer(Web *web, const char *status, const char *type, const void *body, gssize n) {
  const size_t length = n < 0 ? strlen(body) : (size_t)n;
  g_autofree char *head =
      g_strdup_printf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %" G_GSIZE_FORMAT
                      "\r\nConnection: close\r\n\r\n",
                      status, type, length);
  g_mutex_lock(&web->lock);
  g_byte_array_set_size(web->answer, 0);
  g_byte_array_append(web->answer, (const guint8 *)head, (guint)strlen(head));
  g_byte_array_append(web->answer, body, (guint)length);
  g_mutex_unlock(&web->lock);
}

static inline DemurWeb
web_client(const Web *web, char **url) {
  *url = g_strdup_printf("http://127.0.0.1:%u/dicom-web/", web->port);
  return (DemurWeb){.url = *url, .timeout_seconds = 2};
}

/* --- objects as a multipart body --- */

static inline GByteArray *
web_multipart(char **paths) {
  GByteArray *body = g_byte_array_new();
  for (; *paths != NULL; paths++) {
    static const char head[] = "--xyz\r\nContent-Type: application/dicom\r\n\r\n";
    g_autofree char *bytes = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(*paths, &bytes, &n, NULL));
    g_byte_array_append(body, (const guint8 *)head, sizeof head - 1);
    g_byte_array_append(body, (const guint8 *)bytes, (guint)n);
    g_byte_array_append(body, (const guint8 *)"\r\n", 2);
  }
  g_byte_array_append(body, (const guint8 *)"--xyz--\r\n", 9);
  return body;
}

#define WEB_TYPE "multipart/related; type=\"application/dicom\"; boundary=\"xyz\""
