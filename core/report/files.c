#include "report/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

gboolean
demur_report_check_folder(const char *path, GError **error) {
  g_autofree char *folder = g_path_get_dirname(path);
  if (g_file_test(folder, G_FILE_TEST_IS_DIR))
    return TRUE;
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
              "%s can't be written: there is no folder %s; make it first, or name another one",
              path, folder);
  return FALSE;
}

static gboolean
fail(const char *path, const char *doing, GError **error) {
  const int saved = errno;
  g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(saved), "%s can't be %s: %s", path,
              doing, g_strerror(saved));
  return FALSE;
}

static gboolean
write_all(int file, const char *bytes, size_t n) {
  while (n > 0) {
    const ssize_t written = write(file, bytes, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return FALSE;
    bytes += written;
    n -= (size_t)written;
  }
  return fsync(file) == 0;
}

/* The bytes in a file of another name beside path, safe on the disk: its name (owned), NULL with
 * error. */
static char *
write_beside(const char *path, const char *bytes, size_t n, int mode, GError **error) {
  g_autofree char *name = g_strconcat(path, ".XXXXXX", NULL);
  const int file = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, mode);
  if (file < 0) {
    fail(path, "written", error);
    return NULL;
  }
  gboolean ok = write_all(file, bytes, n);
  if (!ok)
    fail(path, "written", error);
  if (close(file) != 0 && ok)
    ok = fail(path, "written", error);
  if (ok)
    return g_steal_pointer(&name);
  g_unlink(name);
  return NULL;
}

gboolean
demur_report_files_write(const char *path, const guchar *pdf, size_t n, const char *json, int mode,
                         GError **error) {
  g_autofree char *json_path = demur_report_json_path(path, error);
  if (!json_path)
    return FALSE;
  const char *const places[] = {json_path, path};
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    if (g_file_test(places[i], G_FILE_TEST_IS_DIR)) {
      errno = EISDIR;
      return fail(places[i], "replaced", error);
    }
  g_autofree char *new_json = write_beside(json_path, json, strlen(json), mode, error);
  g_autofree char *new_pdf =
      new_json ? write_beside(path, (const char *)pdf, n, mode, error) : NULL;
  gboolean ok = new_pdf != NULL;
  if (ok && g_rename(new_json, json_path) != 0)
    ok = fail(json_path, "replaced", error);
  if (ok && g_rename(new_pdf, path) != 0)
    ok = fail(path, "replaced", error);
  if (!ok) {
    if (new_json)
      g_unlink(new_json); /* it may have its name already */
    if (new_pdf)
      g_unlink(new_pdf);
  }
  return ok;
}

void
demur_report_request_write(DemurJson *json, const DemurReportRequest *r, gboolean patient,
                           double coverage, DemurPaper paper) {
  if (r->n_selectors == 0) {
    demur_json_null(json, "request");
    return;
  }
  demur_json_begin_object(json, "request");
  demur_json_string(json, "kind", patient ? "patient" : "report");
  demur_json_begin_array(json, "selectors");
  for (size_t i = 0; i < r->n_selectors; i++)
    demur_json_string(json, NULL, r->selectors[i]);
  demur_json_end_array(json);
  demur_json_string(json, "cohort", r->cohort);
  demur_json_string(json, "split", r->split);
  demur_json_string(json, "paper", paper == DEMUR_PAPER_LETTER ? "letter" : "a4");
  if (patient) {
    demur_json_string(json, "scan", r->scan_id);
    demur_json_bool(json, "cohort_scan", r->cohort_scan);
    demur_json_string(json, "tuned_coverage", r->tuned_coverage);
  } else {
    demur_json_int(json, "seed", (gint64)r->seed);
    demur_json_int(json, "resamples", (gint64)r->n_resamples);
    demur_json_string(json, "resample_unit", r->resample_unit);
    demur_json_int(json, "bootstrap", (gint64)r->n_bootstrap);
    demur_json_int(json, "bin_size", (gint64)r->min_bin_size);
    demur_json_bool(json, "in_sample", r->in_sample);
    demur_json_string(json, "group_by", r->group_by);
    demur_json_string(json, "net_benefit_threshold", r->net_benefit_threshold);
    demur_json_double(json, "coverage", coverage);
  }
  demur_json_end_object(json);
}
