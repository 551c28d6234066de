#include "dicom/object-folder.h"

#include <string.h>

#include "base/file-input.h"
#include "base/file-output.h"

#define MAX_META 65536 /* bytes by which file meta information may differ */

gboolean
demur_object_is_uid(const char *text) {
  const size_t n = text != NULL ? strlen(text) : 0;
  return n > 0 && n <= 64 && strspn(text, "0123456789.") == n && text[0] != '.';
}

/* Where the data set begins behind preamble and file meta information, PS3.10 7.1. */
static size_t
data_set_offset(const char *bytes, size_t n) {
  static const char length_tag[] = {2, 0, 0, 0, 'U', 'L', 4, 0};
  if (n < 144 || memcmp(bytes + 132, length_tag, sizeof length_tag) != 0)
    return 0;
  guint32 length;
  memcpy(&length, bytes + 140, sizeof length);
  const size_t offset = 144 + (size_t)GUINT32_FROM_LE(length);
  return offset <= n ? offset : 0;
}

static gboolean
is_same(const char *path, const char *bytes, size_t n) {
  gsize m;
  g_autofree char *other = demur_file_input_read(path, n + MAX_META, &m, NULL);
  if (other == NULL)
    return FALSE;
  const size_t i = data_set_offset(bytes, n), j = data_set_offset(other, m);
  return n - i == m - j && memcmp(bytes + i, other + j, n - i) == 0;
}

gboolean
demur_object_put(const char *folder, const char *instance_uid, const char *bytes, size_t n,
                 gboolean *known, GError **error) {
  *known = FALSE;
  for (int copy = 1;;) {
    g_autofree char *name = copy == 1 ? g_strdup_printf("%s/%s.dcm", folder, instance_uid)
                                      : g_strdup_printf("%s/%s-%d.dcm", folder, instance_uid, copy);
    if (g_file_test(name, G_FILE_TEST_EXISTS)) {
      if ((*known = is_same(name, bytes, n)))
        return TRUE;
      copy++;
      continue;
    }
    g_autoptr(GError) cause = NULL;
    if (demur_file_write(name, bytes, (gssize)n, DEMUR_FILE_NEW, &cause))
      return TRUE;
    if (!g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_EXISTS)) {
      g_propagate_error(error, g_steal_pointer(&cause));
      return FALSE;
    }
    /* Somebody else was faster: the same object? */
  }
}
