#include "dicom/import.h"
#include "base/error.h"
#include "dicom/transfer-syntax.h"
#include "dicom/volume.h"

#include <math.h>
#include <string.h>

#define SLICES_A_BATCH 16

typedef struct {
  const DemurSeries *series;
  size_t first;
  char **problems;            /* [n_slices]; NULL where the slice decodes */
  DemurSliceReader **readers; /* [n_threads] */
} Check;

static void
check_slice(size_t chunk, guint worker, gpointer data) {
  Check *check = data;
  const size_t i = check->first + chunk;
  g_autoptr(GError) error = NULL;
  if (check->series->slices[i].decodes)
    return;
  if (!demur_slice_reader_check(check->readers[worker], i, &error)) {
    check->problems[i] = g_strdup_printf("pixel data undecodable: %s", error->message);
  }
}

static gboolean
is_compressed(const DemurSeries *series) {
  for (size_t i = 0; i < series->n_slices; i++) {
    const DemurTransferSyntax *syntax =
        demur_transfer_syntax_find(series->slices[i].transfer_syntax_uid);
    if (syntax != NULL && syntax->coding != DEMUR_CODING_NATIVE &&
        syntax->coding != DEMUR_CODING_DEFLATED)
      return TRUE;
  }
  return FALSE;
}

static DemurFile *
find_file(const DemurFiles *files, const DemurSlice *slice) {
  guint low = 0, high = files->images->len;
  while (low < high) {
    const guint middle = low + (high - low) / 2;
    DemurFile *file = files->images->pdata[middle];
    int order = strcmp(file->path, slice->path);
    if (order == 0)
      order = g_strcmp0(file->entry, slice->entry);
    if (order == 0)
      return file;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* Decodes every slice; what fails is noted in the headers of files. *n_bad counts them. */
static gboolean
check_series(const DemurFiles *files, const DemurSeries *series, DemurParallel *parallel,
             const DemurProgress *progress, size_t *n_bad, GError **error) {
  g_autofree char **problems = g_new0(char *, series->n_slices);
  const guint n_threads = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  g_autoptr(GPtrArray) readers =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_slice_reader_free);
  for (guint t = 0; t < n_threads; t++)
    g_ptr_array_add(readers, demur_slice_reader_new(series));
  Check check = {series, 0, problems, (DemurSliceReader **)readers->pdata};
  gboolean going = TRUE;
  for (; going && check.first < series->n_slices; check.first += SLICES_A_BATCH) {
    going = demur_progress_step(progress, (double)check.first / (double)series->n_slices,
                                "checking pixels", error);
    if (going)
      demur_parallel_map(parallel, MIN(SLICES_A_BATCH, series->n_slices - check.first), check_slice,
                         &check);
  }
  for (size_t i = 0; i < series->n_slices; i++) {
    DemurFile *file = find_file(files, &series->slices[i]);
    if (problems[i] == NULL) {
      series->slices[i].decodes = going;
      if (file != NULL && file->header->n_frames == 1)
        file->decodes = going; /* kept where the files are grouped anew */
      continue;
    }
    if (file != NULL && file->header->pixels == DEMUR_PIXELS_COMPLETE) {
      file->header->pixels = DEMUR_PIXELS_TRUNCATED;
      file->header->pixels_problem = g_steal_pointer(&problems[i]);
      ++*n_bad;
    }
    g_free(problems[i]);
  }
  return going;
}

/* Small images by their archives: {path (borrowed): number of series that begin with one}. */
static GHashTable *
count_series(const DemurFiles *files, const GPtrArray *series) {
  GHashTable *numbers = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < series->len; i++) {
    const DemurSeries *one = series->pdata[i];
    const DemurFile *file =
        one->n_slices + one->n_left_out > 0 ? find_file(files, &one->slices[0]) : NULL;
    if (file == NULL || file->most_series == 0)
      continue;
    const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, file->path));
    g_hash_table_insert(numbers, file->path, GUINT_TO_POINTER(n + 1));
  }
  return numbers;
}

static void
skip_archive(DemurFiles *files, const char *path, guint n, guint most) {
  g_autoptr(GError) error = demur_error_new(
      DEMUR_ERROR_INPUT,
      "the archive has %u series of images that are packed to less than %d bytes, more than %u at "
      "its size: unpack it first if that is meant",
      n, DEMUR_ZIP_SMALL_BYTES, most);
  DemurSkipped *skipped = demur_skipped_new(path, NULL, error, NULL);
  guint at = 0;
  while (at < files->skipped->len &&
         strcmp(((DemurSkipped *)files->skipped->pdata[at])->path, skipped->path) < 0)
    at++;
  g_ptr_array_insert(files->skipped, (gint)at, skipped);
}

/* Leaves out archives that make more series of small images than one of their size does, each of
 * which would cost its records; TRUE where there was one. */
static gboolean
leave_out_crowded(DemurFiles *files, const GPtrArray *series) {
  if (series->len <= DEMUR_ZIP_FREE_SERIES)
    return FALSE;
  g_autoptr(GHashTable) numbers = count_series(files, series);
  g_autoptr(GHashTable) crowded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, file->path));
    if (file->most_series > 0 && n > file->most_series &&
        g_hash_table_add(crowded, g_strdup(file->path)))
      skip_archive(files, file->path, n, file->most_series);
  }
  g_autoptr(GPtrArray) kept = g_ptr_array_new();
  for (guint i = 0; i < files->images->len; i++) {
    DemurFile *file = files->images->pdata[i];
    if (g_hash_table_contains(crowded, file->path)) {
      files->n_known -= file->is_known ? 1 : 0;
      demur_file_free(file);
    } else
      g_ptr_array_add(kept, file);
  }
  const gboolean found = kept->len < files->images->len;
  for (guint i = 0; i < kept->len; i++)
    files->images->pdata[i] = kept->pdata[i];
  g_ptr_array_set_free_func(files->images, NULL);
  g_ptr_array_set_size(files->images, (gint)kept->len);
  g_ptr_array_set_free_func(files->images, (GDestroyNotify)demur_file_free);
  return found;
}

static GPtrArray *
group(DemurFiles *files, double tolerance, const DemurProgress *progress, GError **error) {
  GPtrArray *series = demur_series_group(files, tolerance, progress, error);
  if (series == NULL || !leave_out_crowded(files, series))
    return series;
  g_ptr_array_unref(series);
  return demur_series_group(files, tolerance, progress, error);
}

DemurImport *
demur_import_run(const char *const *paths, const DemurEligibility *eligibility,
                 DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  return demur_import_run_known(paths, eligibility, NULL, parallel, progress, error);
}

DemurImport *
demur_import_run_known(const char *const *paths, const DemurEligibility *eligibility,
                       const DemurKnownFiles *known, DemurParallel *parallel,
                       const DemurProgress *progress, GError **error) {
  g_autoptr(DemurEligibility) defaults = eligibility == NULL ? demur_eligibility_new() : NULL;
  const DemurEligibility *rules = eligibility != NULL ? eligibility : defaults;
  const double tolerance = demur_eligibility_limit(rules, "irregular");
  g_autoptr(DemurFiles) files = demur_files_scan_known(paths, known, parallel, progress, error);
  g_autoptr(GPtrArray) series = files != NULL ? group(files, tolerance, progress, error) : NULL;
  g_autoptr(GHashTable) checked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  while (series != NULL) {
    demur_eligibility_judge(rules, series);
    size_t n_bad = 0;
    gboolean going = TRUE;
    for (guint i = 0; i < series->len && going; i++) {
      const DemurSeries *one = series->pdata[i];
      if (one->accepted && is_compressed(one) && g_hash_table_add(checked, g_strdup(one->scan_id)))
        going = check_series(files, one, parallel, progress, &n_bad, error);
    }
    if (!going)
      return NULL;
    if (n_bad == 0)
      break;
    /* A series has lost slices: it is measured and judged anew, and another may be chosen. */
    g_ptr_array_unref(series);
    series = demur_series_group(files, tolerance, progress, error);
  }
  if (series == NULL)
    return NULL;
  DemurImport *import = g_new0(DemurImport, 1);
  import->series = g_steal_pointer(&series);
  import->skipped = g_ptr_array_ref(files->skipped);
  import->n_known = files->n_known;
  return import;
}

void
demur_import_free(DemurImport *import) {
  if (import == NULL)
    return;
  g_ptr_array_unref(import->series);
  g_ptr_array_unref(import->skipped);
  g_free(import);
}

static gboolean
is_named(GHashTable *named, const char *path, const char *entry) {
  g_autofree char *whole = entry != NULL ? g_strdup_printf("%s!/%s", path, entry) : NULL;
  return g_hash_table_contains(named, whole != NULL ? whole : path);
}

/* Leaves out every file that paths doesn't name (an archive is scanned whole). */
static void
keep_named(DemurFiles *files, const char *const *paths) {
  g_autoptr(GHashTable) named = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; paths[i] != NULL; i++)
    g_hash_table_add(named, (gpointer)paths[i]);
  for (guint i = files->images->len; i-- > 0;) {
    const DemurFile *file = files->images->pdata[i];
    if (!is_named(named, file->path, file->entry))
      g_ptr_array_remove_index(files->images, i);
  }
  for (guint i = files->unreadable->len; i-- > 0;) {
    const DemurUnreadable *file = files->unreadable->pdata[i];
    if (!is_named(named, file->path, file->entry))
      g_ptr_array_remove_index(files->unreadable, i);
  }
  /* What names no series was told when it was imported. */
  demur_strays_free(files->strays);
  files->strays = demur_strays_new();
}

DemurSeries *
demur_import_reopen(const char *scan_id, const char *const *paths, DemurParallel *parallel,
                    const DemurProgress *progress, GError **error) {
  g_autoptr(GPtrArray) containers = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; paths[i] != NULL; i++) {
    const char *mark = strstr(paths[i], "!/");
    char *container = mark != NULL && !g_file_test(paths[i], G_FILE_TEST_EXISTS)
                          ? g_strndup(paths[i], (gsize)(mark - paths[i]))
                          : g_strdup(paths[i]);
    if (g_hash_table_contains(seen, container)) {
      g_free(container);
      continue;
    }
    g_hash_table_add(seen, container);
    g_ptr_array_add(containers, container);
    if (!g_file_test(container, G_FILE_TEST_EXISTS)) {
      g_autofree char *name = g_filename_display_name(container);
      demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                      "%s of scan %s is not there: put it back, or import the scan again", name,
                      scan_id);
      return NULL;
    }
  }
  g_ptr_array_add(containers, NULL);
  g_autoptr(DemurFiles) files = demur_files_scan((const char *const *)containers->pdata,
                                                 DEMUR_FILES_CONTENTS, parallel, progress, error);
  if (files == NULL)
    return NULL;
  keep_named(files, paths);
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  g_autoptr(GPtrArray) series =
      demur_series_group(files, demur_eligibility_limit(rules, "irregular"), progress, error);
  if (series == NULL)
    return NULL;
  if (series->len != 1) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the files of %s hold %u series now, 1 when they were imported: import them again", scan_id,
        series->len);
    return NULL;
  }
  demur_eligibility_judge(rules, series);
  DemurSeries *found = g_ptr_array_steal_index(series, 0);
  g_free(found->scan_id);
  found->scan_id = g_strdup(scan_id);
  return found;
}
