/* demur-mpi: one command of demur by several processes, the only program that links MPI.
 *
 *   mpirun -n 4 demur-mpi validate S --cohort C
 *
 * A command that is cut into shards (train, validate; tasks/shards.h) is run by each rank as its own
 * shard, and rank 0 puts the parts together: the workspace is written by that rank, at the end. One
 * that is not (evaluate; base/gather.h) is run by all ranks, which share its replicates out, and printed by
 * rank 0. Both give the bytes of `demur`. Exit status: that of demur. Ranks of another program are refused
 * before anything is done. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/cli/run.h"
#include "app/mpi/transport.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"
#include "base/private-folder.h"
#include "tasks/shards.h"

typedef enum { WAY_NONE, WAY_SHARDS, WAY_TOGETHER } Way;

static const struct {
  const char *command;
  Way way;
} ways[] = {{"train", WAY_SHARDS}, {"validate", WAY_SHARDS}, {"evaluate", WAY_TOGETHER}};

static Way
way_of(const char *command) {
  for (size_t w = 0; command != NULL && w < G_N_ELEMENTS(ways); w++)
    if (strcmp(command, ways[w].command) == 0)
      return ways[w].way;
  return WAY_NONE;
}

/* What is this program's own to say. */
static gboolean
names_shards(int argc, char **argv) {
  static const char *const options[] = {"--shard", "--part", "--merge"};
  for (int i = 1; i < argc; i++)
    for (size_t o = 0; o < G_N_ELEMENTS(options); o++) {
      const size_t n = strlen(options[o]);
      if (strncmp(argv[i], options[o], n) == 0 && (argv[i][n] == '\0' || argv[i][n] == '='))
        return TRUE;
    }
  return FALSE;
}

/* fd leads to the file `to` until it is led back to what is returned. */
static int
lead(int fd, FILE *stream, int to) {
  fflush(stream);
  const int before = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (before < 0 || dup2(to, fd) < 0)
    demur_mpi_abort(g_strerror(errno));
  return before;
}

static void
lead_back(int fd, FILE *stream, int before) {
  fflush(stream);
  if (dup2(before, fd) < 0)
    demur_mpi_abort(g_strerror(errno));
  (void)close(before);
}

/* All ranks meet the same fault as a rule: the first of those that failed by themselves tells it, rank 0 as
 * it goes. */
static void
tell(const DemurRanks *ranks, int said, int status) {
  const int place =
      status != 0 && status != DEMUR_CLI_PEER_FAILED ? (int)(ranks->size - ranks->rank) : 0;
  char buffer[4096];
  if (demur_mpi_greatest(ranks, place) != place || place == 0 || lseek(said, 0, SEEK_SET) < 0)
    return;
  for (ssize_t n; (n = read(said, buffer, sizeof buffer)) > 0;)
    if (write(STDERR_FILENO, buffer, (size_t)n) != n)
      return;
}

/* demur with these words. quiet: nothing is printed; progress is rank 0's. */
static int
run(const GPtrArray *words, const DemurRanks *ranks, const DemurRanks *together, gboolean quiet) {
  g_autofree char **argv = g_new0(char *, words->len + 1);
  memcpy(argv, words->pdata, words->len * sizeof *argv);
  const int said = memfd_create("said", MFD_CLOEXEC),
            nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (said < 0 || nowhere < 0)
    demur_mpi_abort(g_strerror(errno));
  const int err = ranks->rank > 0 ? lead(STDERR_FILENO, stderr, said) : -1;
  const int out = quiet ? lead(STDOUT_FILENO, stdout, nowhere) : -1;
  int status = demur_cli_run((int)words->len, argv, together);
  if (together != NULL && !demur_ranks_part(together, status == 0) && status == 0)
    status = EXIT_FAILURE;
  if (out >= 0)
    lead_back(STDOUT_FILENO, stdout, out);
  if (err >= 0)
    lead_back(STDERR_FILENO, stderr, err);
  tell(ranks, said, status);
  (void)close(said);
  (void)close(nowhere);
  return demur_mpi_greatest(ranks, status == DEMUR_CLI_PEER_FAILED ? EXIT_FAILURE : status);
}

static GPtrArray *
copy_words(int argc, char **argv, int n) {
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  for (int i = 0; i < MIN(argc, n); i++)
    g_ptr_array_add(words, g_strdup(argv[i]));
  return words;
}

/* argv with the words between the command and its own. */
static GPtrArray *
insert_words(int argc, char **argv, int command, char *const *more) {
  GPtrArray *words = copy_words(argc, argv, command + 1);
  for (char *const *word = more; *word != NULL; word++)
    g_ptr_array_add(words, g_strdup(*word));
  for (int i = command + 1; i < argc; i++)
    g_ptr_array_add(words, g_strdup(argv[i]));
  return words;
}

static char *
part_path(const DemurPrivateFolder *folder, size_t rank) {
  g_autofree char *name = g_strdup_printf("part-%zu", rank + 1);
  return demur_private_folder_name(folder, name);
}

/* The parts of all ranks, into rank 0's folder. */
static void
bring_parts(const DemurRanks *ranks, const DemurPrivateFolder *folder) {
  for (size_t r = 1; r < ranks->size; r++) {
    g_autofree char *path = part_path(folder, r), *own = NULL;
    gsize n = 0;
    g_autoptr(GError) error = NULL;
    if (r == ranks->rank &&
        (own = demur_file_input_read(path, DEMUR_LIMIT_PART_BYTES, &n, &error)) == NULL)
      demur_mpi_abort(error->message);
    g_autofree guint8 *brought = demur_mpi_bring(ranks, r, (const guint8 *)own, &n);
    if (ranks->rank == 0 && !demur_file_write(path, brought, (gssize)n, DEMUR_FILE_REPLACE, &error))
      demur_mpi_abort(error->message);
  }
}

static int
merge(int argc, char **argv, int command, const DemurRanks *ranks,
      const DemurPrivateFolder *folder) {
  char *const option[] = {g_strdup("--merge"), NULL};
  g_autoptr(GPtrArray) words = insert_words(argc, argv, command, option);
  g_free(option[0]);
  for (size_t r = 0; r < ranks->size; r++)
    g_ptr_array_add(words, part_path(folder, r));
  int status = EXIT_SUCCESS;
  if (ranks->rank == 0) {
    g_autofree char **copy = g_new0(char *, words->len + 1);
    memcpy(copy, words->pdata, words->len * sizeof *copy);
    status = demur_cli_run((int)words->len, copy, NULL);
  }
  return demur_mpi_greatest(ranks, status);
}

static int
run_in_shards(int argc, char **argv, int command, const DemurRanks *ranks) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurPrivateFolder) folder = demur_private_folder_make(NULL, "demur-mpi-", &error);
  if (folder == NULL)
    demur_mpi_abort(error->message);
  g_autofree char *path = part_path(folder, ranks->rank);
  g_autofree char *shard = g_strdup_printf("%zu/%zu", ranks->rank + 1, ranks->size);
  char *const options[] = {(char[]){"--shard"}, shard, (char[]){"--part"}, path, NULL};
  g_autoptr(GPtrArray) words = insert_words(argc, argv, command, options);
  int status = run(words, ranks, NULL, TRUE);
  if (status == EXIT_SUCCESS) {
    bring_parts(ranks, folder);
    status = merge(argc, argv, command, ranks, folder);
  }
  return status;
}

int
main(int argc, char **argv) {
  if (!demur_cli_begin(argc, argv))
    return EXIT_FAILURE;
  DemurRanks ranks;
  demur_mpi_begin(&argc, &argv, &ranks);
  if (ranks.rank > 0)
    demur_cli_log_no_refusals();
  const int command = demur_cli_find_command(argc, argv);
  const Way way = way_of(command > 0 ? argv[command] : NULL);
  g_autoptr(GError) error = NULL;
  int status;
  if (!demur_ranks_meet(&ranks, demur_task_program_label(), &error)) {
    if (ranks.rank == 0)
      g_printerr("demur-mpi: the processes are of different programs; start the same demur-mpi "
                 "everywhere\n");
    status = EXIT_FAILURE;
  } else if (way == WAY_NONE || names_shards(argc, argv)) {
    if (ranks.rank == 0)
      g_printerr(
          "demur-mpi: %s\n",
          way == WAY_NONE
              ? "train, validate and evaluate are what several processes do together; for all "
                "else take demur"
              : "it cuts and merges itself: leave --shard, --part and --merge out");
    status = 2;
  } else if (way == WAY_TOGETHER) {
    g_autoptr(GPtrArray) words = copy_words(argc, argv, argc);
    status = run(words, &ranks, &ranks, ranks.rank > 0);
  } else {
    status = run_in_shards(argc, argv, command, &ranks);
  }
  demur_mpi_end();
  return status;
}
