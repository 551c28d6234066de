/* bench-dicom phantom FOLDER N SIZE | scan FOLDER | digest FOLDER | decode FOLDER | study FOLDER: what tests/bench/
 * dicom.py asks for, each in a process of its own so that its peak memory is its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "dicom/import.h"
#include "dicom/library.h"
#include "dicom/phantom.h"
#include "dicom/pixels.h"
#include "dicom/volume.h"

static double
peak_mib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024.0;
}

static double
seconds_since(gint64 start) {
  return (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
}

/* Processor time of the whole process: what a busy machine does not stretch. */
static double
cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static DemurSeries *
first_series(const char *folder, DemurParallel *parallel, DemurImport **import, GError **error) {
  const char *paths[] = {folder, NULL};
  *import = demur_import_run(paths, NULL, parallel, NULL, error);
  return *import != NULL && (*import)->series->len > 0 ? (*import)->series->pdata[0] : NULL;
}

static gboolean
scan(const char *folder, guint n_threads, GError **error) {
  const char *paths[] = {folder, NULL};
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  const gint64 start = g_get_monotonic_time();
  g_autoptr(DemurFiles) files = demur_files_scan(paths, DEMUR_FILES_HEADERS, parallel, NULL, error);
  if (files == NULL)
    return FALSE;
  const double seconds = seconds_since(start);
  printf("{\"files\": %u, \"threads\": %u, \"seconds\": %.4f, \"files_per_second\": %.0f}\n",
         files->images->len, n_threads, seconds, files->images->len / seconds);
  return TRUE;
}

/* Reads every byte of the files, in one thread; adds them to sha where that is given. */
static guint64
read_all(const DemurFiles *files, DemurSha256 *sha) {
  guint64 total = 0;
  for (guint i = 0; i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    guint8 bytes[65536];
    FILE *stream = fopen(file->path, "rb");
    for (size_t n; stream != NULL && (n = fread(bytes, 1, sizeof bytes, stream)) > 0; total += n)
      if (sha != NULL)
        demur_sha256_update(sha, bytes, n);
    if (stream != NULL)
      fclose(stream);
  }
  return total;
}

/* What the digest of contents costs beside headers alone, beside reading and beside reading with one
 * SHA-256 over all bytes; one thread each, the best of three. */
static gboolean
digest(const char *folder, GError **error) {
  const char *paths[] = {folder, NULL};
  double headers = INFINITY, contents = INFINITY, reading = INFINITY, hashing = INFINITY;
  double cpu_contents = INFINITY;
  guint64 bytes = 0;
  for (int turn = 0; turn < 3; turn++) {
    gint64 start = g_get_monotonic_time();
    g_autoptr(DemurFiles) files = demur_files_scan(paths, DEMUR_FILES_HEADERS, NULL, NULL, error);
    if (files == NULL)
      return FALSE;
    headers = MIN(headers, seconds_since(start));
    start = g_get_monotonic_time();
    bytes = read_all(files, NULL);
    reading = MIN(reading, seconds_since(start));
    DemurSha256 sha;
    guint8 whole[DEMUR_SHA256_BYTES];
    demur_sha256_init(&sha);
    start = g_get_monotonic_time();
    read_all(files, &sha);
    demur_sha256_finish(&sha, whole);
    hashing = MIN(hashing, seconds_since(start));
    start = g_get_monotonic_time();
    const double cpu = cpu_seconds();
    g_autoptr(DemurFiles) all = demur_files_scan(paths, DEMUR_FILES_CONTENTS, NULL, NULL, error);
    if (all == NULL)
      return FALSE;
    contents = MIN(contents, seconds_since(start));
    cpu_contents = MIN(cpu_contents, cpu_seconds() - cpu);
  }
  const double mib = (double)bytes / 1048576;
  printf("{\"mib\": %.0f, \"headers_seconds\": %.3f, \"contents_seconds\": %.3f, "
         "\"contents_processor_seconds\": %.3f, \"contents_mib_per_second\": %.0f, "
         "\"reading_mib_per_second\": %.0f, \"reading_and_sha_mib_per_second\": %.0f, "
         "\"share_of_sha\": %.2f}\n",
         mib, headers, contents, cpu_contents, mib / contents, mib / reading, mib / hashing,
         hashing / contents);
  return TRUE;
}

typedef struct {
  GBytes **images; /* [n], compressed */
  DemurHeader **headers;
  guint16 **words; /* [n_threads] */
} Alone;

static void
decode_alone(size_t chunk, guint worker, gpointer data) {
  const Alone *alone = data;
  DemurDecodedLayout layout;
  g_autoptr(GError) error = NULL;
  if (!demur_dcmtk_decode(alone->images[chunk], alone->headers[chunk], alone->words[worker],
                          &layout, &error))
    g_error("%s", error->message);
}

/* DCMTK's decoder over frames in memory against the whole way from files to CT numbers. */
static gboolean
decode(const char *folder, guint n_threads, GError **error) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  g_autoptr(DemurImport) import = NULL;
  const DemurSeries *series = first_series(folder, parallel, &import, error);
  if (series == NULL || !demur_dicom_init(error))
    return FALSE;
  const size_t n = series->n_slices;
  Alone alone = {g_new0(GBytes *, n), g_new0(DemurHeader *, n), g_new0(guint16 *, n_threads)};
  for (guint t = 0; t < n_threads; t++)
    alone.words[t] = demur_new_matrix(guint16, series->rows, series->columns);
  for (size_t i = 0; i < n; i++) {
    g_autoptr(DemurSource) source = demur_source_open(series->slices[i].path, error);
    alone.headers[i] = source != NULL ? demur_header_read(&source, error) : NULL;
    if (alone.headers[i] == NULL ||
        (alone.images[i] = demur_pixels_fragment(source, alone.headers[i], 0, error)) == NULL)
      return FALSE;
  }
  double best_alone = INFINITY, best_whole = INFINITY, cpu_alone = INFINITY, cpu_whole = INFINITY;
  for (int turn = 0; turn < 3; turn++) {
    gint64 start = g_get_monotonic_time();
    double cpu = cpu_seconds();
    demur_parallel_map(parallel, n, decode_alone, &alone);
    best_alone = MIN(best_alone, seconds_since(start));
    cpu_alone = MIN(cpu_alone, cpu_seconds() - cpu);
    start = g_get_monotonic_time();
    cpu = cpu_seconds();
    g_autoptr(DemurVolume) volume = demur_volume_read(series, parallel, NULL, error);
    if (volume == NULL)
      return FALSE;
    best_whole = MIN(best_whole, seconds_since(start));
    cpu_whole = MIN(cpu_whole, cpu_seconds() - cpu);
  }
  printf("{\"slices\": %zu, \"threads\": %u, \"dcmtk_alone_slices_per_second\": %.1f, "
         "\"demur_slices_per_second\": %.1f, \"share\": %.3f, \"share_of_processor_time\": %.3f}\n",
         n, n_threads, (double)n / best_alone, (double)n / best_whole, best_alone / best_whole,
         cpu_alone / cpu_whole);
  for (size_t i = 0; i < n; i++) {
    g_bytes_unref(alone.images[i]);
    demur_header_free(alone.headers[i]);
  }
  for (guint t = 0; t < n_threads; t++)
    g_aligned_free(alone.words[t]);
  g_free(alone.images);
  g_free(alone.headers);
  g_free(alone.words);
  return TRUE;
}

static gboolean
study(const char *folder, guint n_threads, GError **error) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  g_autoptr(DemurImport) import = NULL;
  const gint64 start = g_get_monotonic_time();
  const DemurSeries *series = first_series(folder, parallel, &import, error);
  if (series == NULL)
    return FALSE;
  const double import_seconds = seconds_since(start), import_peak = peak_mib();
  g_autoptr(DemurVolume) volume = demur_volume_read(series, parallel, NULL, error);
  if (volume == NULL)
    return FALSE;
  const double volume_mib =
      (double)volume->n_slices * (double)volume->rows * (double)volume->columns * 2 / 1048576;
  printf("{\"slices\": %zu, \"import_seconds\": %.2f, \"import_peak_mib\": %.0f, "
         "\"volume_mib\": %.0f, \"peak_mib\": %.0f, \"beyond_volume_mib\": %.0f}\n",
         volume->n_slices, import_seconds, import_peak, volume_mib, peak_mib(),
         peak_mib() - volume_mib);
  return TRUE;
}

int
main(int argc, char **argv) {
  g_autoptr(GError) error = NULL;
  gboolean ok = FALSE;
  const guint n_threads = 2;
  if (argc == 5 && strcmp(argv[1], "phantom") == 0) {
    DemurPhantomOptions options = demur_phantom_defaults(1);
    options.n_slices = (guint)g_ascii_strtoull(argv[3], NULL, 10);
    options.size = (guint)g_ascii_strtoull(argv[4], NULL, 10);
    options.spacing_mm = 1;
    g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
    ok = demur_phantom_write(&options, argv[2], parallel, NULL, NULL, &error);
  } else if (argc == 3 && strcmp(argv[1], "scan") == 0) {
    ok = scan(argv[2], n_threads, &error);
  } else if (argc == 3 && strcmp(argv[1], "digest") == 0) {
    ok = digest(argv[2], &error);
  } else if (argc == 3 && strcmp(argv[1], "decode") == 0) {
    ok = decode(argv[2], n_threads, &error);
  } else if (argc == 3 && strcmp(argv[1], "study") == 0) {
    ok = study(argv[2], n_threads, &error);
  } else {
    fprintf(stderr,
            "usage: bench-dicom phantom FOLDER N SIZE | scan | digest | decode | study FOLDER\n");
    return 2;
  }
  if (!ok)
    fprintf(stderr, "bench-dicom: %s\n", error != NULL ? error->message : "no series");
  return ok ? 0 : 1;
}
