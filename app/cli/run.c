#include "app/cli/run.h"

#include "app/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/history.h"
#include "base/csv-field.h"
#include "base/file-output.h"
#include "base/number.h"
#include "selector/mlp-kernel.h"
#include "base/program.h"
#include "base/shown-text.h"

static const DemurCommand *const commands[] = {
    &demur_command_demo,     &demur_command_cohort,    &demur_command_dicom,
    &demur_command_scores,   &demur_command_export,    &demur_command_train,
    &demur_command_tune,     &demur_command_assess,    &demur_command_evaluate,
    &demur_command_selector, &demur_command_report,    &demur_command_chart,
    &demur_command_validate, &demur_command_audit,     &demur_command_accept,
    &demur_command_verify,   &demur_command_log,       &demur_command_serve,
    &demur_command_shift,    &demur_command_watch,     &demur_command_ablate,
    &demur_command_federate, &demur_command_workspace,
};

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int signal_number) {
  interrupted = 1;
  /* A second Ctrl-C ends at once; SQLite's journal keeps the workspace whole. */
  signal(signal_number, SIG_DFL);
}

/* Progress on stderr once a stage has taken a second; a terminal sees one line that changes, a log
 * a line for every tenth. */
typedef struct {
  DemurContext *context;
  gint64 started; /* of the stage */
  double last_fraction;
  gint64 last_time;
  const char *stage; /* borrowed: stages are literals */
  gboolean shown;
} ProgressLine;

static void
on_progress(double fraction, const char *stage, gpointer data) {
  ProgressLine *line = data;
  if (interrupted)
    g_cancellable_cancel(line->context->task.progress.cancellable);
  if (line->context->quiet)
    return;
  const gint64 now = g_get_monotonic_time();
  if (g_strcmp0(stage, line->stage) != 0) {
    line->stage = stage;
    line->started = now;
    line->last_fraction = -1.0;
  }
  if (now - line->started < G_USEC_PER_SEC)
    return;
  const gboolean terminal = isatty(STDERR_FILENO);
  if (terminal ? now - line->last_time < G_USEC_PER_SEC / 10 : fraction - line->last_fraction < 0.1)
    return;
  if (terminal)
    fprintf(stderr, "\r%-32s %3.0f %%\033[K", stage, 100.0 * fraction);
  else
    fprintf(stderr, "demur: %s %.0f %%\n", stage, 100.0 * fraction);
  fflush(stderr);
  line->shown = terminal;
  line->last_fraction = fraction;
  line->last_time = now;
}

typedef enum {
  GLOBAL_WORKSPACE,
  GLOBAL_THREADS,
  GLOBAL_SEED,
  GLOBAL_JSON,
  GLOBAL_QUIET,
  GLOBAL_RAW_CELLS,
  GLOBAL_NETWORK_DISK,
  GLOBAL_KERNEL,
} Global;

/* The one table of them: they are read, told and completed by it. */
static const struct {
  Global global;
  const char *name, *value; /* value: NULL where it takes none */
  const char *help;         /* lines */
} globals[] = {
    {GLOBAL_WORKSPACE, "--workspace", "FILE",
     "the workspace (default: DEMUR_WORKSPACE, else the user's data folder)"},
    {GLOBAL_THREADS, "--threads", "N", "processors to use (default: all)"},
    {GLOBAL_SEED, "--seed", "S", "seed of every random stream (default 1)"},
    {GLOBAL_JSON, "--json", NULL, "one JSON document on stdout"},
    {GLOBAL_QUIET, "--quiet", NULL, "no progress on stderr"},
    {GLOBAL_RAW_CELLS, "--raw-cells", NULL,
     "write CSV cells that a spreadsheet would run as they are, without an\napostrophe in front"},
    {GLOBAL_NETWORK_DISK, "--network-disk", NULL,
     "open a workspace on a network's disk (NFS, SMB, FUSE), which no other machine\nmay then open"},
    {GLOBAL_KERNEL, "--kernel", "NAME",
     "compute with this kernel (default: the processor's fastest; `portable`\ngives the same bytes on "
     "every processor)"},
};

static void
print_help(void) {
  g_print("Usage: demur [GLOBAL OPTIONS] COMMAND [OPTIONS] ..\n\n"
          "Decides when a risk read from a chest CT may be shown and when to hold it back, so that "
          "the\nrisks it lets through are calibrated.\n\nCommands:\n");
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    g_print("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  g_print("\nGlobal options, before or after the command:\n");
  for (size_t i = 0; i < G_N_ELEMENTS(globals); i++) {
    const char *value = globals[i].value;
    g_autofree char *option =
        g_strconcat(globals[i].name, value != NULL ? " " : "", value != NULL ? value : "", NULL);
    g_auto(GStrv) lines = g_strsplit(globals[i].help, "\n", -1);
    for (guint l = 0; lines[l] != NULL; l++)
      g_print("  %-17s %s\n", l == 0 ? option : "", lines[l]);
  }
  g_print("  --version         the version; with --verbose the kernels too\n\n"
          "`demur COMMAND --help` says all. For research use, not a cleared device.\n");
}

static void
print_version(gboolean verbose) {
  g_print("demur %s\n", DEMUR_VERSION);
  if (verbose) {
    size_t n;
    const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n);
    g_print("kernel: %s (of this processor:", demur_mlp_kernel()->name);
    for (size_t i = 0; i < n; i++)
      if (demur_mlp_kernel_is_supported(kernels[i]))
        g_print(" %s", kernels[i]->name);
    g_print(")\n");
  }
  g_print("For research use, not a cleared device.\n");
}

/* "--name VALUE" or "--name=VALUE" at argv[*i]; *i moves to the last word taken. */
static gboolean
take_value(const char *name, int argc, char **argv, int *i, const char **value, GError **error) {
  const size_t length = strlen(name);
  if (strncmp(argv[*i], name, length) != 0)
    return FALSE;
  if (argv[*i][length] == '=') {
    *value = argv[*i] + length + 1;
    return TRUE;
  }
  if (argv[*i][length] != '\0')
    return FALSE;
  if (*i + 1 >= argc) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s needs a value", name);
    return FALSE;
  }
  *value = argv[++*i];
  return TRUE;
}

static gboolean
set_global(DemurContext *context, Global global, const char *value, guint *n_threads,
           GError **error) {
  gint64 number;
  switch (global) {
  case GLOBAL_WORKSPACE:
    g_free(context->task.workspace_path);
    context->task.workspace_path = g_strdup(value);
    return TRUE;
  case GLOBAL_THREADS:
    if (!demur_number_parse_int(value, strlen(value), &number) || number < 1 || number > 1024) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                  "--threads takes a whole number from 1 to 1024, not '%s'", value);
      return FALSE;
    }
    *n_threads = (guint)number;
    return TRUE;
  case GLOBAL_SEED:
    if (g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, &context->task.seed, NULL))
      return TRUE;
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "--seed takes a whole number from 0 to 9223372036854775807, not '%s'", value);
    return FALSE;
  case GLOBAL_JSON:
    context->json = TRUE;
    return TRUE;
  case GLOBAL_QUIET:
    context->quiet = TRUE;
    return TRUE;
  case GLOBAL_RAW_CELLS:
    demur_csv_use_raw_cells();
    return TRUE;
  case GLOBAL_NETWORK_DISK:
    demur_task_allow_network_disk();
    return TRUE;
  case GLOBAL_KERNEL:
    return demur_mlp_kernel_choose(value, error);
  }
  g_return_val_if_reached(FALSE);
}

/* The global option at argv[*i], read; *taken: whether there is one, and *i its last word. */
static gboolean
take_global(int argc, char **argv, int *i, DemurContext *context, guint *n_threads, gboolean *taken,
            GError **error) {
  for (size_t g = 0; g < G_N_ELEMENTS(globals); g++) {
    GError *local = NULL;
    const char *value = NULL;
    *taken = globals[g].value != NULL ? take_value(globals[g].name, argc, argv, i, &value, &local)
                                      : strcmp(argv[*i], globals[g].name) == 0;
    if (local != NULL) {
      g_propagate_error(error, local);
      return FALSE;
    }
    if (*taken)
      return set_global(context, globals[g].global, value, n_threads, error);
  }
  return TRUE;
}

int
demur_cli_find_command(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    gboolean global = FALSE;
    for (size_t g = 0; g < G_N_ELEMENTS(globals) && !global; g++) {
      const size_t n = strlen(globals[g].name);
      global = strncmp(argv[i], globals[g].name, n) == 0 &&
               (argv[i][n] == '\0' || (argv[i][n] == '=' && globals[g].value != NULL));
      if (global && globals[g].value != NULL && argv[i][n] == '\0')
        i++;
    }
    if (!global)
      return i;
  }
  return 0;
}

/* Takes the global options out of argv; what is left is the command with its own words. */
static gboolean
take_globals(int argc, char **argv, DemurContext *context, guint *n_threads, GPtrArray *rest,
             GError **error) {
  /* Looked for first, so that a fault in another option is told as a document too. */
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    context->json |= strcmp(argv[i], "--json") == 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      for (; i < argc; i++)
        g_ptr_array_add(rest, argv[i]);
      break;
    }
    const int at = i;
    gboolean taken;
    if (!take_global(argc, argv, &i, context, n_threads, &taken, error))
      return FALSE;
    if (!taken)
      g_ptr_array_add(rest, argv[at]);
  }
  return TRUE;
}

static gboolean stdout_is_taken;

void
demur_context_take_stdout(const char *path) {
  stdout_is_taken |= demur_file_output_is_stdout(path);
}

/* Names and identifiers from outside stand in what is said: nothing in them steers a terminal. */
static void
say(const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  fputs(safe, stdout_is_taken ? stderr : stdout);
}

static void
say_error(const char *text) {
  g_autofree char *safe = demur_shown_lines(text);
  fputs(safe, stderr);
}

void
demur_context_print_json(DemurContext *context, DemurJson *json) {
  g_autofree char *text = demur_json_finish(json);
  g_autofree char *safe = demur_shown_json(text);
  fputs(safe, stdout_is_taken ? stderr : stdout);
  context->printed_json = TRUE;
}

void
demur_context_end_json(DemurContext *context, DemurJson *json) {
  if (context->json)
    demur_context_print_json(context, json);
  else
    demur_json_free(json);
}

/* SOURCE_DATE_EPOCH in place of the clock where that is set. */
static char *
now(void) {
  const char *epoch = g_getenv("SOURCE_DATE_EPOCH");
  gint64 seconds;
  g_autoptr(GDateTime) time =
      epoch != NULL && demur_number_parse_int(epoch, strlen(epoch), &seconds)
          ? g_date_time_new_from_unix_utc(seconds)
          : g_date_time_new_now_utc();
  return g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ");
}

gboolean
demur_command_parse(const DemurContext *context, int argc, char **argv, const GOptionEntry *entries,
                    char ***arguments, GError **error) {
  return demur_command_parse_group(context, argc, argv, entries, NULL, arguments, error);
}

gboolean
demur_command_parse_group(const DemurContext *context, int argc, char **argv,
                          const GOptionEntry *entries, gpointer data, char ***arguments,
                          GError **error) {
  /* GOption prints parameter_string behind the program's name, which has no room for the command's:
   * so it is told the whole. */
  const DemurCommand *command = context->command;
  g_autofree char *usage = g_strdup_printf("%s — %s", command->parameters, command->summary);
  g_autofree char *more = command->describe != NULL ? command->describe() : NULL;
  g_autofree char *description =
      more != NULL ? g_strconcat(command->description, "\n", more, NULL) : NULL;
  g_autoptr(GOptionContext) parser = g_option_context_new(usage);
  g_option_context_set_description(parser,
                                   description != NULL ? description : command->description);
  GOptionGroup *group = g_option_group_new("", "", "", data, NULL);
  if (entries != NULL)
    g_option_group_add_entries(group, entries);
  g_option_context_set_main_group(parser, group);
  g_auto(GStrv) words = g_new0(char *, (size_t)argc + 1);
  for (int i = 0; i < argc; i++)
    words[i] = g_strdup(argv[i]);
  g_autofree char *name = g_strconcat("demur ", argv[0], NULL);
  g_set_prgname(name);
  g_autoptr(GError) local = NULL;
  if (!g_option_context_parse_strv(parser, &words, &local)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s; see `%s --help`", local->message, name);
    return FALSE;
  }
  guint n = g_strv_length(words);
  char **left = g_new0(char *, n + 1);
  guint kept = 0;
  for (guint i = 1; i < n; i++)
    if (strcmp(words[i], "--") != 0)
      left[kept++] = g_strdup(words[i]);
  *arguments = left;
  return TRUE;
}

/* Those that may make the workspace that is named, where nothing is there yet: what they bring is its first. With any other
 * the name is mistyped, or something was not imported yet. */
static const char *const beginners[] = {
    "cohort import",  "cohort simulate", "demo", "dicom import", "dicom receive",
    "dicom retrieve", "selector import", "serve"};

static DemurWorkspaceFlags
opening_of(const char *command) {
  for (gsize i = 0; i < G_N_ELEMENTS(beginners); i++)
    if (g_str_equal(command, beginners[i]))
      return DEMUR_WORKSPACE_CREATE;
  return DEMUR_WORKSPACE_DEFAULT;
}

gboolean
demur_command_dispatch(DemurContext *context, const DemurCommand *list, size_t n_commands, int argc,
                       char **argv, GError **error) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < n_commands; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", list[i].name);
  if (argc < 2) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s needs one of: %s", argv[0], names->str);
    return FALSE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    g_print("Usage: demur %s COMMAND ..\n\n", argv[0]);
    for (size_t i = 0; i < n_commands; i++)
      g_print("  %-12s %s\n", list[i].name, list[i].summary);
    g_print("\n`demur %s COMMAND --help` says all.\n", argv[0]);
    return TRUE;
  }
  for (size_t i = 0; i < n_commands; i++)
    if (strcmp(argv[1], list[i].name) == 0) {
      g_autofree char *name = g_strdup_printf("%s %s", argv[0], argv[1]);
      g_autofree char **words = g_memdup2(argv + 1, (size_t)argc * sizeof *words);
      words[0] = name;
      g_free(context->attempt);
      context->attempt = g_strdup(name);
      context->task.opening = opening_of(name);
      context->command = &list[i];
      return list[i].run(context, argc - 1, words, error);
    }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s has no '%s'; there are: %s", argv[0],
              argv[1], names->str);
  return FALSE;
}

gboolean
demur_command_expect(char **arguments, guint n, const char *what, GError **error) {
  if (g_strv_length(arguments) == n)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s; %u were given", what,
              g_strv_length(arguments));
  return FALSE;
}

/* Of the first of others that was given: how says why it has no effect. */
static gboolean
refuse_useless(const char *how, const char *other, const DemurOptionGiven *others, size_t n,
               GError **error) {
  for (size_t i = 0; i < n; i++)
    if (others[i].given) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s has no effect %s %s: leave it out",
                  others[i].name, how, other);
      return FALSE;
    }
  return TRUE;
}

gboolean
demur_command_refuse_beside(const char *beside, const DemurOptionGiven *others, size_t n,
                            GError **error) {
  return refuse_useless("beside", beside, others, n, error);
}

gboolean
demur_command_refuse_without(const char *needed, const DemurOptionGiven *others, size_t n,
                             GError **error) {
  return refuse_useless("without", needed, others, n, error);
}

gboolean
demur_command_range(const char *text, double *low, double *high, GError **error) {
  g_auto(GStrv) parts = g_strsplit(text, ",", 3);
  if (g_strv_length(parts) == 2 && demur_number_parse(parts[0], strlen(parts[0]), low) &&
      demur_number_parse(parts[1], strlen(parts[1]), high))
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "--range takes two numbers, LOW,HIGH (0.8,1.25), not '%s'", text);
  return FALSE;
}

void
demur_command_print_warnings(const GPtrArray *warnings) {
  for (guint i = 0; i < warnings->len; i++) {
    g_autofree char *words = demur_task_warning_words(warnings->pdata[i], NULL);
    g_print("Warning: %s.\n", words);
  }
}

void
demur_command_write_warnings(DemurJson *json, const GPtrArray *warnings) {
  demur_json_begin_array(json, "warnings");
  for (guint i = 0; i < warnings->len; i++) {
    g_autofree char *words = demur_task_warning_words(warnings->pdata[i], NULL);
    demur_json_string(json, NULL, words);
  }
  demur_json_end_array(json);
}

/* Who works, and where: kept with what is done. */
static void
name_worker(DemurTask *task) {
  task->user = g_filename_to_utf8(g_get_user_name(), -1, NULL, NULL, NULL);
  task->station = g_filename_to_utf8(g_get_host_name(), -1, NULL, NULL, NULL);
}

/* The whole run but for what main owns. */
static gboolean
run(int argc, char **argv, const DemurRanks *ranks, DemurContext *context, ProgressLine *line,
    GError **error) {
  guint n_threads = 0;
  g_autoptr(GPtrArray) rest = g_ptr_array_new();
  if (!take_globals(argc, argv, context, &n_threads, rest, error))
    return FALSE;
  const char *name = rest->len > 0 ? rest->pdata[0] : NULL;
  if (name == NULL || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
      strcmp(name, "help") == 0) {
    if (name != NULL || !context->json)
      print_help();
    if (name != NULL)
      return TRUE;
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "no command was given; `demur --help` lists them");
    return FALSE;
  }
  if (strcmp(name, "--version") == 0) {
    print_version(rest->len > 1 && strcmp(rest->pdata[1], "--verbose") == 0);
    return TRUE;
  }
  const DemurCommand *command = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(name, commands[i]->name) == 0)
      command = commands[i];
  if (command == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "there is no command '%s'; `demur --help` lists them", name);
    return FALSE;
  }
  if (context->task.workspace_path == NULL)
    context->task.workspace_path = demur_task_usual_workspace(NULL);
  context->task.parallel = demur_parallel_new(n_threads);
  demur_parallel_set_ranks(context->task.parallel, ranks);
  line->context = context;
  context->task.progress = (DemurProgress){on_progress, line, g_cancellable_new()};
  struct sigaction action = {.sa_handler = on_interrupt};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  g_ptr_array_add(rest, NULL);
  context->attempt = g_strdup(command->name);
  context->task.opening = opening_of(command->name);
  context->command = command;
  return command->run(context, (int)rest->len - 1, (char **)rest->pdata, error);
}

/* Every user of the machine can list the words of every program (ps): those that name a patient are
 * written over once a copy is taken. A scan of a cohort may be called as its patient is. */
static char **
take_words(int argc, char **argv) {
  static const char *const persons[] = {"--patient", "--accession", "--scan"};
  char **words = g_new0(char *, (size_t)argc + 1);
  for (int i = 0; i < argc; i++)
    words[i] = g_strdup(argv[i]);
  for (int i = 1; i < argc; i++)
    for (size_t p = 0; p < G_N_ELEMENTS(persons); p++) {
      const size_t n = strlen(persons[p]);
      if (strcmp(words[i], persons[p]) == 0 && i + 1 < argc)
        memset(argv[i + 1], 'x', strlen(argv[i + 1]));
      else if (strncmp(words[i], persons[p], n) == 0 && words[i][n] == '=')
        memset(argv[i] + n + 1, 'x', strlen(argv[i] + n + 1));
    }
  return words;
}

static gboolean
asks_for_portable(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--kernel=portable") == 0 ||
        (strcmp(argv[i], "--kernel") == 0 && i + 1 < argc && strcmp(argv[i + 1], "portable") == 0))
      return TRUE;
  return FALSE;
}

/* The C library's exp, log and pow and the BLAS choose code by the processor too, when they are
 * loaded: for the portable kernel the program is started anew with their plainest code. Returns
 * where that is so already; FALSE with errno where it can't be. */
static gboolean
be_portable(char **argv) {
  static const struct {
    const char *name, *value;
  } settings[] = {
#ifdef __x86_64__
      {"OPENBLAS_CORETYPE", "Prescott"},
      {"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"},
#elif defined(__aarch64__)
      {"OPENBLAS_CORETYPE", "ARMV8"},
#endif
  };
  gboolean anew = FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
    anew |= g_strcmp0(g_getenv(settings[i].name), settings[i].value) != 0;
    g_setenv(settings[i].name, settings[i].value, TRUE);
  }
  if (!anew)
    return TRUE;
  execv("/proc/self/exe", argv);
  return FALSE;
}

static gboolean logs_refusals = TRUE;

void
demur_cli_log_no_refusals(void) {
  logs_refusals = FALSE;
}

gboolean
demur_cli_begin(int argc, char **argv) {
  demur_program_begin("demur");
  if (!asks_for_portable(argc, argv) || be_portable(argv))
    return TRUE;
  fprintf(stderr, "demur: the program can't be started anew for --kernel portable: %s\n",
          g_strerror(errno));
  return FALSE;
}

int
demur_cli_run(int argc, char **argv, const DemurRanks *ranks) {
  stdout_is_taken = FALSE;
  g_auto(GStrv) words = take_words(argc, argv);
  setlocale(LC_CTYPE, "C.UTF-8"); /* UTF-8 in and out; numbers are never the locale's */
  g_set_print_handler(say);
  g_set_printerr_handler(say_error);
  DemurContext context = {.task = {.seed = 1, .now = now}, .program = argc > 0 ? argv[0] : NULL};
  name_worker(&context.task);
  ProgressLine line = {0};
  g_autoptr(GError) error = NULL;
  gboolean ok = run(argc, words, ranks, &context, &line, &error);
  if (line.shown)
    fputs("\r\033[K", stderr);
  int status = EXIT_SUCCESS;
  g_autoptr(GError) unlogged = NULL;
  if (!ok && logs_refusals && context.attempt != NULL &&
      !demur_history_add_refusal(&context.task, context.attempt, error, &unlogged))
    g_printerr("demur: the refusal is not in the log: %s\n", unlogged->message);
  g_clear_pointer(&context.attempt, g_free);
  if (!ok) {
    status = g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_USAGE)  ? 2
             : g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_PEER) ? DEMUR_CLI_PEER_FAILED
                                                                     : 1;
    if (status == DEMUR_CLI_PEER_FAILED)
      ; /* the other one's to say */
    else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      fputs("demur: interrupted; what had been finished is kept, nothing is half written\n",
            stderr);
    else
      g_printerr("demur: %s\n", error->message);
    if (context.json && !context.printed_json) {
      DemurJson *json = demur_json_new();
      demur_json_begin_object(json, NULL);
      demur_json_string(json, "error", error->message);
      demur_json_end_object(json);
      demur_context_print_json(&context, json);
    }
  }
  if (!demur_program_end_output() && status == EXIT_SUCCESS)
    status = EXIT_FAILURE;
  g_clear_object(&context.task.progress.cancellable);
  demur_task_clear(&context.task);
  return status;
}
