/* Usage: exit 2 for wrong usage, 0 for help; global options before and after the command; with
 * --json one document on stdout whatever happens. Right values: the outside contract of the
 * commands (docs/), section of exit status and global options. */
#include "commands.h"
#include "support/store.h"

#include <string.h>

/* Words that are wrong in themselves: exit 2, before any workspace is looked at. */
static const struct {
  const char *line, *says;
} wrong[] = {
    {"", "no command"},
    {"frobnicate", "frobnicate"},
    {"--threads 0 cohort list", "--threads"},
    {"--threads -1 cohort list", "--threads"},
    {"--threads two cohort list", "--threads"},
    {"cohort list --threads 0", "--threads"},
    {"cohort list --threads", "--threads"},
    {"--seed -1 cohort list", "--seed"},
    {"--seed 1.5 cohort list", "--seed"},
    {"--seed= cohort list", "--seed"},
    {"cohort list --seed 99999999999999999999", "--seed"},
    {"--frobnicate", "--frobnicate"},
    {"cohort", "import"},
    {"cohort frobnicate", "frobnicate"},
    {"cohort list --frobnicate", "frobnicate"},
    {"cohort list word", "no words"},
    {"cohort import", "NAME FILE"},
    {"cohort import only-name", "NAME FILE"},
    {"cohort import a b c", "NAME FILE"},
    {"cohort import a/b file.csv", "a/b"},
    {"cohort import a --nlst-persons p.csv", "--scores"},
    {"cohort import a b --split test", "--nlst-persons"},
    {"cohort show", "NAME"},
    {"cohort export a", "FILE"},
    {"cohort remove", "NAME"},
    {"cohort attach a b", "--key"},
    {"cohort simulate", "NAME"},
    {"cohort simulate x --scans -5", "below 0"},
    {"cohort simulate x --scans many", "many"},
    {"train", "name of the new selector"},
    {"train s", "--cohort"},
    {"train  --cohort c", "can't be named"}, /* an empty word */
    {"train a/b --cohort c", "can't be named"},
    {"train --cohort c -- -x", "can't be named"},
    {"train a\nb --cohort c", "can't be named \"a\\nb\""},
    {"selector import a/b file.json", "can't be named"},
    /* What would be taken and ignored. */
    {"selector import s file.json --force", "--force has no effect without --replace"},
    {"train s --cohort c --force", "--force has no effect without --replace"},
    {"train s --cohort c --search --shard 1/2 --part p --resume",
     "--resume has no effect beside --part"},
    {"log --keep-openings on --last 2", "--last has no effect beside --keep-openings"},
    {"log --keep-openings off --scan 1", "--scan has no effect beside --keep-openings"},
    {"log --keep-openings on --audit-messages",
     "--audit-messages has no effect beside --keep-openings"},
    {"dicom remove --scan 1 --dry-run --reason x", "--reason has no effect beside --dry-run"},
    {"dicom query h:1 --study 1 --date 20260101", "--date has no effect beside --study"},
    {"dicom query h:1 --study 1 --move-to A --modality CT",
     "--modality has no effect beside --study"},
    {"dicom query h:1 --login l", "--login has no effect beside HOST:PORT"},
    {"dicom query https://h --called A", "--called has no effect beside an https address"},
    {"dicom send https://h f --calling A", "--calling has no effect beside an https address"},
    {"dicom retrieve h:1 f --study 1 --login l", "--login has no effect beside HOST:PORT"},
    {"cohort simulate a\tb", "can't be named"},
    {"train s --cohort c --epochs 0", "epochs"},
    {"train s --cohort c --epochs nan", "epochs"},
    {"train s --cohort c --learning-rate nan", "learning"},
    {"train s --cohort c --learning-rate -1", "learning"},
    {"train s --cohort c --kappa 99 --batch 8", "kappa"},
    {"train s --cohort c --q 3", "q"},
    {"train s --cohort c --resample sideways", "sideways"},
    {"train s --cohort c --features beauty", "beauty"},
    {"tune", "selector"},
    {"tune s --cohort c", "--coverage"},
    {"tune s --use 0.9 --cohort c", "--cohort has no effect beside --use"},
    {"tune s --use 0.9 --reason x --split tune", "--split has no effect beside --use"},
    {"tune s --use 0.9 --guarantee npv:0.9:0.1", "--guarantee has no effect beside --use"},
    {"tune s --coverage 0.9", "--cohort"},
    {"tune s --cohort c --coverage nan", "nan"},
    {"tune s --cohort c --coverage inf", "inf"},
    {"tune s --cohort c --coverage 1.5", "1.5"},
    {"tune s --cohort c --coverage 0", "0"},
    {"tune s --cohort c --coverage -0.5", "-0.5"},
    {"tune s --cohort c --coverage abc", "abc"},
    {"tune s --cohort c --coverage 0.9,", "coverage"},
    {"tune s --cohort c --coverage 0,9", "0"},
    {"tune s --cohort c --coverage=", "coverage"},
    {"tune s --cohort c --coverage 0.9 --guarantee-coverage nan", "--guarantee-coverage"},
    {"tune s --cohort c --coverage 0.9 --guarantee-coverage 0", "--guarantee-coverage"},
    {"tune s --cohort c --coverage 0.9 --guarantee-coverage 1", "--guarantee-coverage"},
    {"tune s --cohort c --coverage 0.9 --guarantee-coverage=-1", "--guarantee-coverage"},
    {"assess", "selector"},
    {"assess s", "--cohort"},
    {"assess s --cohort c --all", "one of"},
    {"assess s --all --split test", "--split"},
    {"evaluate", "--selector"},
    {"evaluate --selector s", "--cohort"},
    {"evaluate --cohort c", "--selector"},
    {"evaluate word --selector s --cohort c", "options only"},
    {"evaluate --selector s --cohort c --resamples 0", "--resamples"},
    {"evaluate --selector s --cohort c --resamples -1", "--resamples"},
    {"evaluate --selector s --cohort c --bin-size 0", "--bin-size"},
    {"evaluate --selector s --cohort c --bootstrap 0", "--bootstrap"},
    {"evaluate --selector s --cohort c --resample-unit planet", "planet"},
    {"report", "FILE.pdf"},
    {"report a.pdf", "--selector"},
    {"report a.pdf --selector s --cohort c --resamples 0", "--resamples"},
    {"report a.pdf --selector s --cohort c --resample-unit planet", "planet"},
    {"report a.pdf --selector s --cohort c --coverage nan", "--coverage"},
    {"report a.pdf --selector s --cohort c --coverage 0", "--coverage"},
    {"report a.pdf --selector s --cohort c --paper a3", "a3"},
    {"selector", "list"},
    {"selector frobnicate", "frobnicate"},
    {"selector show", "selector"},
    {"selector export s", "FILE"},
    {"selector import s", "FILE"},
    {"scores", "import"},
    {"scores import file.csv", "--model"},
    {"scores import --model m", "FILE"},
    {"verify word", "no words"},
    {"demo", "folder"},
    {"demo a b", "folder"},
};

static void
test_wrong_usage_ends_with_2(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    /* Every other row with --json in front, where it can't be another option's value. */
    const gboolean before = i % 2 == 0 || g_str_has_suffix(wrong[i].line, "--threads") ||
                            strstr(wrong[i].line, " -- ") != NULL;
    g_autofree char *line = before ? g_strdup_printf("--json %s", wrong[i].line)
                                   : g_strdup_printf("%s --json", wrong[i].line);
    g_autoptr(Run) run = run_line(sandbox, g_strstrip(line));
    assert_status(run, 2);
    assert_says(run->err, wrong[i].says);
    g_assert_true(g_str_has_prefix(run->err, "demur: "));
    if (run->json == NULL) {
      g_printerr("demur %s: no single document: %s\n", line, run->out);
      g_test_fail();
      continue;
    }
    assert_members(root_of(run), "error");
    assert_says(string_at(root_of(run), "error"), wrong[i].says);
  }
  /* Nothing was asked of the workspace, so none was made. */
  g_assert_false(demur_test_store_exists(sandbox->workspace));
}

static void
test_wrong_usage_without_json_says_it_on_stderr_only(void) {
  static const char *const lines[] = {"frobnicate", "cohort frobnicate", "--threads 0 cohort list",
                                      "tune s --cohort c --coverage nan", "train s"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(Run) run = run_line(NULL, lines[i]);
    assert_status(run, 2);
    g_assert_cmpstr(run->out, ==, "");
    g_assert_true(g_str_has_prefix(run->err, "demur: "));
  }
}

static void
test_help_and_version_end_with_0(void) {
  static const struct {
    const char *line, *says;
  } lines[] = {
      {"--help", "Global options"},
      {"-h", "Global options"},
      {"help", "Global options"},
      {"--version", "demur " DEMUR_VERSION},
      {"--version --verbose", "kernel: "},
      {"--kernel portable --version --verbose", "kernel: portable"},
      {"cohort --help", "simulate"},
      {"selector --help", "export"},
      {"dicom --help", "import"},
      {"scores --help", "import"},
      {"cohort import --help", "--embeddings"},
      {"cohort simulate --help", "--sites"},
      {"cohort list --help", "Usage"},
      {"dicom import --help", "PATH"},
      {"scores import --help", "--model"},
      {"train --help", "--datasets-per-epoch"},
      {"train --help --threads 2", "--kappa"},
      {"tune --help", "--guarantee-coverage"},
      {"assess --help", "--coverage"},
      {"evaluate --help", "--in-sample"},
      {"report --help", "--paper"},
      {"selector import --help", "--replace"},
      {"verify --help", "Usage"},
      {"demo --help", "DIR"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_test_message("demur %s", lines[i].line);
    g_autoptr(Run) run = run_line(NULL, lines[i].line);
    assert_status(run, 0);
    assert_says(run->out, lines[i].says);
    g_assert_cmpstr(run->err, ==, "");
  }
}

/* The options of commands.md for train, each named by the help. */
static void
test_train_help_names_every_number(void) {
  g_autoptr(Run) run = run_line(NULL, "train --help");
  static const char *const options[] = {"--split",
                                        "--reference-split",
                                        "--validation-split",
                                        "--epochs",
                                        "--datasets-per-epoch",
                                        "--dataset-size",
                                        "--batch",
                                        "--kappa",
                                        "--q",
                                        "--kernel-width",
                                        "--resample",
                                        "--alpha",
                                        "--lambda2",
                                        "--clip",
                                        "--learning-rate",
                                        "--weight-decay",
                                        "--bin-size",
                                        "--features",
                                        "--models",
                                        "--as-published"};
  for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
    assert_says(run->out, options[i]);
}

static void
test_global_options_stand_before_or_after(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const lines[] = {"--json --seed 7 --threads 1 --quiet cohort simulate %s "
                                      "--scans 60 --sites 3 --base-train 100 "
                                      "--tune 30 --test 30",
                                      "cohort simulate %s --scans 60 --sites 3 --base-train 100 "
                                      "--tune 30 --test 30 --quiet --threads 2 "
                                      "--seed 7 --json",
                                      "cohort --json simulate --seed=7 %s --threads=2 --scans 60 "
                                      "--sites 3 --base-train 100 --tune 30 "
                                      "--test 30"};
  g_autofree char *first = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autofree char *name = g_strdup_printf("c%zu", i);
    g_auto(GStrv) halves = g_strsplit(lines[i], "%s", 2);
    g_autofree char *line = g_strconcat(halves[0], name, halves[1], NULL);
    g_autoptr(Run) run = run_line(sandbox, line);
    assert_status(run, 0);
    g_assert_cmpfloat(number_at(root_of(run), "seed"), ==, 7);
    /* The same draw, whatever the cohort's name, the threads and the place of the options. */
    if (first == NULL)
      first = g_strdup(string_at(root_of(run), "digest"));
    g_assert_cmpstr(string_at(root_of(run), "digest"), ==, first);
  }
  g_autoptr(Run) other = run_line(
      sandbox, "cohort simulate d --scans 60 --sites 3 --base-train 100 --tune 30 --test 30 "
               "--seed 8 --json");
  assert_status(other, 0);
  g_assert_cmpstr(string_at(root_of(other), "digest"), !=, first);
}

/* A workspace that can't be, a name that is not there: 1, not 2, and one document. */
static void
test_failures_end_with_1_and_one_document(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const struct {
    const char *line, *says;
  } lines[] = {
      {"cohort show nothing", "nothing"},
      {"cohort export nothing out.csv", "nothing"},
      {"cohort remove nothing", "nothing"},
      {"cohort attach nothing a.csv --key patient_id", "nothing"},
      {"cohort import x missing.csv", "missing.csv"},
      {"cohort import x .", "folder"},
      {"cohort simulate sim", "sim"},
      {"train s --cohort nothing", "nothing"},
      {"train s --cohort sim --split nowhere", "selector_train"},
      {"tune nobody --cohort sim --coverage 0.9", "nobody"},
      {"assess nobody --cohort sim", "nobody"},
      {"evaluate --selector nobody --cohort sim", "nobody"},
      {"report a.pdf --selector nobody --cohort sim", "nobody"},
      {"selector show nobody", "nobody"},
      {"selector export nobody out.json", "nobody"},
      {"selector import s missing.json", "missing.json"},
      {"selector remove nobody", "nobody"},
      {"scores import missing.csv --model m", "missing.csv"},
      {"dicom show nothing", "nothing"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_test_message("demur %s", lines[i].line);
    g_autofree char *line = g_strconcat(lines[i].line, " --json", NULL);
    g_autoptr(Run) run = run_line(sandbox, line);
    assert_status(run, 1);
    assert_members(root_of(run), "error");
    assert_says(run->err, lines[i].says);
    assert_says(string_at(root_of(run), "error"), lines[i].says);
  }
  /* NULL: a workspace below a file, which can't be. */
  g_autoptr(Run) nowhere = run_demur(NULL, "--json", "cohort", "list", NULL);
  assert_status(nowhere, 1);
  assert_members(root_of(nowhere), "error");
  /* A file that is no workspace is refused and left as it is. */
  g_autofree char *text = sandbox_write(sandbox, "text.demur", "not a database\n", -1);
  g_autoptr(Run) foreign = run_demur(NULL, "--workspace", text, "cohort", "list", NULL);
  assert_status(foreign, 1);
  g_autofree char *kept = NULL;
  g_assert_true(g_file_get_contents(text, &kept, NULL, NULL));
  g_assert_cmpstr(kept, ==, "not a database\n");
}

/* Every command that succeeds prints one document under --json. */
static void
test_successes_print_one_document(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) trained = train_small(sandbox, "s", "sim", NULL);
  assert_status(trained, 0);
  g_assert_nonnull(trained->json);
  static const char *const lines[] = {
      "cohort list",
      "cohort show sim",
      "cohort export sim out.csv",
      "cohort import back out.csv",
      "cohort attach back out.csv --key scan_id --columns manufacturer --replace",
      "cohort remove back",
      "tune s --cohort sim --coverage 0.9",
      "assess s --cohort sim",
      "evaluate --selector s --cohort sim --resamples 2 --bootstrap 50",
      "report out.pdf --selector s --cohort sim --resamples 2 --bootstrap 50",
      "selector list",
      "selector show s",
      "selector export s s.json",
      "selector import copy s.json",
      "selector remove copy",
      "dicom list",
      "verify",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_test_message("demur %s --json", lines[i]);
    g_autofree char *line = g_strconcat(lines[i], " --json --quiet", NULL);
    g_autoptr(Run) run = run_line(sandbox, line);
    assert_status(run, 0);
    if (run->json == NULL) {
      g_printerr("demur %s: no single document: %s\n", line, run->out);
      g_test_fail();
    }
    g_assert_cmpstr(run->err, ==, "");
    g_autoptr(Run) plain = NULL;
    if (i < 2 || g_str_has_prefix(lines[i], "selector list") ||
        g_str_has_prefix(lines[i], "assess"))
      plain = run_line(sandbox, lines[i]);
    if (plain != NULL) {
      assert_status(plain, 0);
      g_assert_null(plain->json);
      g_assert_cmpstr(plain->err, ==, "");
    }
  }
}

/* Training scans of one label would take every risk to it, at a log loss of 0: they recalibrate
 * nothing, which is said, and refused where it was asked for by name. */
static void
test_one_label_recalibrates_nothing(void) {
  for (int label = 0; label < 2; label++) {
    g_autoptr(Sandbox) sandbox = sandbox_new();
    g_autoptr(GString) csv = g_string_new("patient_id,site,split,risk,label\n");
    for (int i = 0; i < 120; i++)
      g_string_append_printf(csv, "P%d,H%d,selector_train,%g,%d\n", i, i % 6,
                             0.05 + 0.9 * (i * 7 % 120) / 120.0, label);
    g_autofree char *table = sandbox_write(sandbox, "one.csv", csv->str, -1),
                    *says = g_strdup_printf("risks are used as given: every scan that could "
                                            "recalibrate them has label %d",
                                            label);
    g_autoptr(Run) import = run_demur(sandbox, "cohort", "import", "c", table, NULL);
    assert_status(import, 0);
    g_autoptr(Run) train =
        run_json(sandbox, 0, "train", "s", "--cohort", "c", "--method", "confidence", NULL);
    g_assert_cmpstr(string_at(root_of(train), "recalibration"), ==, says);
    g_autoptr(Run) asked = run_json(sandbox, 1, "train", "s", "--cohort", "c", "--method",
                                    "confidence", "--replace", "--recalibrate", "platt", NULL);
    assert_says(asked->err, "give scans of both kinds, or say --recalibrate none");
  }
}

/* A name that was mistyped makes no workspace: only what brings a first cohort, series or selector does. */
static void
test_others_begin_no_workspace(void) {
  static const char *const lines[] = {"cohort list",
                                      "cohort show c",
                                      "dicom list",
                                      "selector list",
                                      "accept plan s --cohort c --site a --output p.csv",
                                      "watch start s --cohort c",
                                      "watch show",
                                      "train s --cohort c",
                                      "tune s --cohort c --coverage 0.9",
                                      "assess s --cohort c",
                                      "evaluate --selector s --cohort c",
                                      "log",
                                      "verify"};
  g_autoptr(Sandbox) sandbox = sandbox_new();
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    assert_status(run, 1);
    assert_says(run->err, sandbox->workspace);
    assert_says(run->err, "import something first");
  }
  g_assert_false(demur_test_store_exists(sandbox->workspace));
  simulate_small(sandbox, "c");
  g_autoptr(Run) there = run_line(sandbox, "cohort list");
  assert_status(there, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/usage/wrong", test_wrong_usage_ends_with_2);
  g_test_add_func("/commands/usage/wrong-plain",
                  test_wrong_usage_without_json_says_it_on_stderr_only);
  g_test_add_func("/commands/usage/help", test_help_and_version_end_with_0);
  g_test_add_func("/commands/usage/train-help", test_train_help_names_every_number);
  g_test_add_func("/commands/usage/globals", test_global_options_stand_before_or_after);
  g_test_add_func("/commands/usage/failures", test_failures_end_with_1_and_one_document);
  g_test_add_func("/commands/usage/others-begin-no-workspace", test_others_begin_no_workspace);
  g_test_add_func("/commands/usage/successes", test_successes_print_one_document);
  g_test_add_func("/commands/usage/one-label-recalibrates-nothing",
                  test_one_label_recalibrates_nothing);
  return g_test_run();
}
