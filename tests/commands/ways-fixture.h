/* The ways in which images come into a workspace, each as a function of the folder where they lie. */
#pragma once

#include "dicom/web-fixture.h"
#include "life-fixture.h"

/* In an archive of their own; FALSE where nothing is there to pack one. */
static inline gboolean
can_pack(void) {
  g_autofree char *python = g_find_program_in_path("python3");
  return python != NULL;
}

static inline void
import_packed(const Sandbox *sandbox, const char *name) {
  g_autofree char *folder = sandbox_path(sandbox, name);
  g_autofree char *archive = g_strconcat(folder, ".zip", NULL);
  const char *const words[] = {"python3", "-m", "zipfile", "-c", archive, folder, NULL};
  g_autoptr(GError) error = NULL;
  g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                             NULL, NULL, &error));
  g_assert_no_error(error);
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", archive, NULL);
}

/* By a DICOMDIR that stands for the folder it is in. */
static inline void
import_by_directory(const Sandbox *sandbox, const char *name) {
  g_autofree char *folder = sandbox_path(sandbox, name);
  g_autofree char *path = g_build_filename(folder, "DICOMDIR", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWriter) writer = demur_writer_new("1.2.840.10008.1.3.10", "1.2.3.999");
  demur_writer_text(writer, DEMUR_TAG(0x0004, 0x1130), DEMUR_VR_CS, "DISC");
  g_assert_true(demur_writer_save(writer, path, &error));
  g_assert_no_error(error);
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", path, NULL);
}

/* Over the network: what lies in the folder is sent to `dicom receive`, which ends when it has read
 * it. */
static inline void
receive(const Sandbox *sandbox, const char *name) {
  const guint port = fixture_port();
  g_autofree char *folder = sandbox_path(sandbox, name), *inbox = sandbox_path(sandbox, "inbox"),
                  *number = g_strdup_printf("%u", port),
                  *peer = g_strdup_printf("127.0.0.1:%u", port);
  g_autoptr(GSubprocess) receiver = start_demur_heard(sandbox, "dicom", "receive", inbox, "--port",
                                                      number, "--settle", "0", "--once", NULL);
  g_autoptr(GDataInputStream) heard =
      g_data_input_stream_new(g_subprocess_get_stderr_pipe(receiver));
  g_autoptr(GError) error = NULL;
  for (gboolean open = FALSE; !open;) {
    g_autofree char *line = g_data_input_stream_read_line(heard, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(line);
    open = strstr(line, "listening on port") != NULL;
  }
  g_autoptr(Run) sent =
      run_json(sandbox, 0, "dicom", "send", peer, folder, "--called", "DEMUR", NULL);
  g_assert_true(g_subprocess_wait_check(receiver, NULL, &error));
  g_assert_no_error(error);
}

/* From a web server into the folder of the time before, which is imported then. */
static inline void
retrieve(const Sandbox *sandbox, const char *name) {
  g_autofree char *folder = sandbox_path(sandbox, name), *inbox = sandbox_path(sandbox, "inbox");
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *file; (file = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_strv_builder_add(builder, path);
  }
  g_auto(GStrv) paths = g_strv_builder_end(builder);
  g_autoptr(GByteArray) body = web_multipart(paths);
  Web *web = web_new();
  web_answer(web, "200 OK", WEB_TYPE, body->data, body->len);
  g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u/dicom-web", web->port);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "dicom", "retrieve", url, inbox, "--study", "1.2.3", NULL);
  web_free(web);
  import(sandbox, "inbox");
}

static void (*const ways[])(const Sandbox *, const char *) = {import, receive, retrieve};
static const char *const way_names[] = {"import", "receive", "retrieve"};
