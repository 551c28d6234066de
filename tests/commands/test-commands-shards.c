/* Studies cut into shards. Right values: what one run of the whole says, byte for byte; parts that
 * do not make up the whole are refused. */
#include "commands.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A network on the demo's kind of cohort, small enough to be trained nine times. */
static void
train_s(const Sandbox *sandbox) {
  simulate_small(sandbox, "sim");
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  assert_status(train, 0);
}

static void
make_part(const Sandbox *sandbox, const char *work, size_t shard, size_t n, const char *threads) {
  g_autofree char *line = g_strdup_printf("--threads %s %s --shard %zu/%zu --part part%zu", threads,
                                          work, shard, n, shard);
  g_autoptr(Run) part = run_line(sandbox, line);
  assert_status(part, 0);
}

static void
assert_refuses(const Sandbox *sandbox, const char *line, const char *says, int status) {
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, status);
  assert_says(run->err, says);
}

static void
test_validation_in_shards_is_the_validation(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  train_s(sandbox);
  g_autoptr(Run) whole = run_line(sandbox, "--json validate s --cohort sim");
  assert_status(whole, 0);
  for (size_t i = 1; i <= 4; i++)
    make_part(sandbox, "validate s --cohort sim", i, 4, i % 2 == 0 ? "1" : "2");
  static const char *const orders[] = {"part1 part2 part3 part4", "part4 part2 part1 part3"};
  for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_autofree char *line = g_strdup_printf("--json validate s --cohort sim --merge %s", orders[i]);
    g_autoptr(Run) merged = run_line(sandbox, line);
    assert_status(merged, 0);
    g_assert_cmpstr(merged->out, ==, whole->out);
  }

  assert_refuses(sandbox, "validate s --cohort sim --merge part1 part2 part4", "in no part", 1);
  assert_refuses(sandbox, "validate s --cohort sim --merge part1 part2 part3 part4 part2",
                 "in another part already", 1);
  assert_refuses(sandbox, "validate s --cohort sim --folds 3 --merge part1 part2 part3 part4",
                 "cut into folds", 1);
  assert_refuses(sandbox,
                 "--kernel portable validate s --cohort sim --merge part1 part2 part3 part4",
                 "another kernel", 1);
  assert_refuses(sandbox, "validate s --cohort sim --merge nothing", "nothing", 1);
  static const char *const others[] = {"a,b\n1,2\n", "[]", "{\"format\": \"x\", \"version\": 1}",
                                       ""};
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autofree char *written = sandbox_write(sandbox, "other", others[i], -1);
    assert_refuses(sandbox, "validate s --cohort sim --merge other", "no part, as --shard", 1);
  }
  assert_refuses(sandbox, "validate s --cohort sim --merge", "files of all parts", 2);
  assert_refuses(sandbox, "validate s --cohort sim --shard 1/2", "belong together", 2);
  assert_refuses(sandbox, "validate s --cohort sim --shard 3/2 --part p", "is no shard", 2);
  assert_refuses(sandbox, "validate s --cohort sim --shard 0/2 --part p", "is no shard", 2);
  assert_refuses(sandbox, "validate s --cohort sim --shard 1/6 --part p", "nothing to do", 2);
}

/* The part in path edited, with the digest that its content then has: whoever edits on purpose computes it. */
static void
edit_and_seal(const Sandbox *sandbox, const char *text, const char *from, const char *to) {
  g_auto(GStrv) pieces = g_strsplit(text, from, 2);
  g_assert_cmpuint(g_strv_length(pieces), ==, 2);
  g_autofree char *edited = g_strconcat(pieces[0], to, pieces[1], NULL);
  char *at = strstr(edited, "\"digest\": \""), *line = at, *next = strchr(at, '\n');
  while (line[-1] != '\n')
    line--;
  g_autofree char *head = g_strndup(edited, (gsize)(line - edited)),
                  *body = g_strconcat(head, next + 1, NULL),
                  *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, body, -1);
  memcpy(at + strlen("\"digest\": \""), digest, strlen(digest));
  g_autofree char *written = sandbox_write(sandbox, "edited", edited, -1);
}

/* One value after another that the digest guards: every member, and a byte of the numbers. */
static void
test_edited_and_foreign_parts_are_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  train_s(sandbox);
  for (size_t i = 1; i <= 2; i++)
    make_part(sandbox, "validate s --cohort sim", i, 2, "1");
  g_autofree char *path = sandbox_path(sandbox, "part2"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  static const char *const edits[][2] = {
      {"\"kind\": \"validate\"", "\"kind\": \"search\""},
      {"\"seed\": \"1\"", "\"seed\": \"2\""},
      {"\"failed\": []", "\"failed\": [0]"},
      {"\"fold\": 4", "\"fold\": 1"},
      {"\"version\": 2", "\"version\": 1"},
      {"\"scores\": [0.", "\"scores\": [0.0"},
      {"\"risks\": [0.", "\"risks\": [0.0"},
      {"\"digest\": \"", "\"digest\": \"0"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(edits); i++) {
    g_auto(GStrv) pieces = g_strsplit(text, edits[i][0], 2);
    g_assert_cmpuint(g_strv_length(pieces), ==, 2);
    g_autofree char *edited = g_strconcat(pieces[0], edits[i][1], pieces[1], NULL);
    g_autofree char *written = sandbox_write(sandbox, "edited", edited, -1);
    g_autoptr(Run) run = run_line(sandbox, "validate s --cohort sim --merge part1 edited");
    assert_status(run, 1);
    assert_says(run->err, "edited");
  }
  /* Sealed anew it is what it says: another study's, or no numbers of this one. */
  static const char *const sealed[][3] = {
      {"\"program\": \"" DEMUR_VERSION, "\"program\": \"" DEMUR_VERSION "0",
       "edited: it is of another version of the program"},
      {"\"cohort_digest\": \"", "\"cohort_digest\": \"0", "edited: it is of another cohort"},
      {"\"settings\": \"", "\"settings\": \"0", "edited: it is of another settings"},
      {"\"scores\": [0.", "\"scores\": [7.", "edited: member \"scores[0]\""},
      {"\"risks\": [0.", "\"risks\": [0.5, 0.", "edited: member \"risks\""},
      {"\"fold\": 4", "\"fold\": 9", "edited: member \"fold\""},
      {"\"failed\": []", "\"failed\": [3]", "edited: member \"failed[0]\""},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(sealed); i++) {
    edit_and_seal(sandbox, text, sealed[i][0], sealed[i][1]);
    assert_refuses(sandbox, "validate s --cohort sim --merge part1 edited", sealed[i][2], 1);
  }
  /* Whoever built the part: the same version may be of other sources. */
  g_assert_nonnull(strstr(text, "\"program\": \"" DEMUR_VERSION " "));
  static const char *const no_files[] = {"folder", "link", "loop"};
  g_autofree char *as_folder = sandbox_path(sandbox, "folder"),
                  *link = sandbox_path(sandbox, "link"), *loop = sandbox_path(sandbox, "loop"),
                  *sparse = sandbox_path(sandbox, "sparse");
  g_assert_cmpint(g_mkdir(as_folder, 0700), ==, 0);
  g_assert_cmpint(symlink("nowhere", link), ==, 0);
  g_assert_cmpint(symlink("loop", loop), ==, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(no_files); i++) {
    g_autofree char *line =
        g_strconcat("validate s --cohort sim --merge part1 ", no_files[i], NULL);
    assert_refuses(sandbox, line, no_files[i], 1);
  }
  g_autofree char *empty = sandbox_write(sandbox, "sparse", "", 0);
  g_assert_cmpint(truncate(sparse, (off_t)2 << 30), ==, 0);
  assert_refuses(sandbox, "validate s --cohort sim --merge part1 sparse",
                 "sparse can't be read: it is larger", 1);
  g_autofree char *twice = g_strconcat(text, text, NULL);
  g_autofree char *doubled = sandbox_write(sandbox, "edited", twice, -1);
  assert_refuses(sandbox, "validate s --cohort sim --merge part1 edited", "stands behind", 1);
  /* Cut anywhere, it is no document. */
  const size_t length = strlen(text);
  for (size_t cut = 0; cut < length - 2; cut += length / 20) {
    g_autofree char *written = sandbox_write(sandbox, "edited", text, (gssize)cut);
    g_autoptr(Run) run = run_line(sandbox, "validate s --cohort sim --merge part1 edited");
    assert_status(run, 1);
  }
  g_autoptr(Run) other = train_small(sandbox, "other", "sim", "--seed", "2", NULL);
  assert_status(other, 0);
  assert_refuses(sandbox, "validate other --cohort sim --merge part1 part2", "another seed", 1);
  g_autoptr(Run) wider = train_small(sandbox, "wider", "sim", "--kappa", "1", NULL);
  assert_status(wider, 0);
  assert_refuses(sandbox, "validate wider --cohort sim --merge part1 part2", "another settings", 1);
  g_autoptr(Run) kept = run_line(sandbox, "--json selector show s");
  assert_status(kept, 0);
  g_assert_null(strstr(kept->out, "left out of training in turn")); /* no refusal kept anything */
}

static void
test_search_in_shards_is_the_search(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const char work[] = "train s --cohort sim --epochs 1 --datasets-per-epoch 32 --batch 8 "
                             "--dataset-size 64 --kappa 2 --average 1 "
                             "--search-grid kernel_width=0.1,0.5;lambda2=0.003";
  g_autofree char *line = g_strconcat("--json ", work, NULL);
  g_autoptr(Run) whole = run_line(sandbox, line);
  assert_status(whole, 0);
  g_autofree char *shown = g_strdup(string_at(root_of(whole), "digest"));
  g_autofree char *searched =
      json_to_string(json_object_get_member(root_of(whole), "search"), FALSE);
  /* The name is taken by now: said before anything is trained, unless it may be replaced. */
  g_autofree char *taken = g_strconcat(work, " --shard 1/7 --part part1", NULL);
  assert_refuses(sandbox, taken, "selector s already", 1);
  g_autofree char *path = sandbox_path(sandbox, "part1");
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  g_autofree char *replacing = g_strconcat(work, " --replace", NULL);
  for (size_t i = 1; i <= 7; i++)
    make_part(sandbox, replacing, i, 7, "2");
  g_autofree char *merge = g_strconcat(
      "--json ", work, " --replace --merge part7 part1 part6 part2 part5 part3 part4", NULL);
  g_autoptr(Run) merged = run_line(sandbox, merge);
  assert_status(merged, 0);
  g_assert_cmpstr(string_at(root_of(merged), "digest"), ==, shown);
  g_autofree char *again = json_to_string(json_object_get_member(root_of(merged), "search"), FALSE);
  g_assert_cmpstr(again, ==, searched);
  g_autofree char *missing =
      g_strconcat(work, " --replace --merge part7 part1 part6 part2 part5 part3", NULL);
  assert_refuses(sandbox, missing, "in no part", 1);
}

/* Networks of two models, each of three averaged, in shards that cut a model in two. */
static void
test_training_in_shards_is_the_training(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const char work[] = "train s --cohort sim --method network --epochs 2 "
                             "--datasets-per-epoch 32 --batch 8 --dataset-size 64 --kappa 2 "
                             "--models 2 --average 3";
  g_autofree char *line = g_strconcat("--json ", work, NULL);
  g_autoptr(Run) whole = run_line(sandbox, line);
  assert_status(whole, 0);
  g_autofree char *digest = g_strdup(string_at(root_of(whole), "digest"));
  g_autofree char *networks =
      json_to_string(json_object_get_member(root_of(whole), "networks"), FALSE);
  g_autofree char *taken = g_strconcat(work, " --shard 1/4 --part part1", NULL);
  assert_refuses(sandbox, taken, "selector s already", 1);
  g_autofree char *replacing = g_strconcat(work, " --replace", NULL);
  for (size_t i = 1; i <= 4; i++)
    make_part(sandbox, replacing, i, 4, i % 2 == 0 ? "1" : "2");
  g_autofree char *merge =
      g_strconcat("--json ", work, " --replace --merge part3 part1 part4 part2", NULL);
  g_autoptr(Run) merged = run_line(sandbox, merge);
  assert_status(merged, 0);
  g_assert_cmpstr(string_at(root_of(merged), "digest"), ==, digest);
  g_autofree char *again =
      json_to_string(json_object_get_member(root_of(merged), "networks"), FALSE);
  g_assert_cmpstr(again, ==, networks);

  static const struct {
    const char *more, *says;
  } refused[] = {
      {" --replace --merge part3 part1 part4", "in no part, the first of them network 2"},
      {" --replace --merge part3 part1 part4 part2 part1", "in another part already"},
      {" --replace --merge part3 part1 part4 part2 --kappa 1", "another settings"},
      {" --replace --merge part3 part1 part4 part2 --seed 2", "another seed"},
      {" --replace --merge part3 part1 part4 part2 --models 3", "another settings"},
      {" --search --replace --merge part3 part1 part4 part2", "another study"},
      {" --resume --merge part3 part1 part4 part2", "--resume"},
      {" --replace --shard 1/7 --part p", "nothing to do"},
      {" --replace --method confidence --shard 1/2 --part p", "no networks"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autofree char *refuse = g_strconcat(work, refused[i].more, NULL);
    g_autoptr(Run) run = run_line(sandbox, refuse);
    g_assert_cmpint(run->status, !=, 0);
    assert_says(run->err, refused[i].says);
  }
  assert_refuses(sandbox, "train t --cohort sim --shard 1/2 --part p", "--method network", 2);

  /* One character of the networks' bytes. */
  g_autofree char *path = sandbox_path(sandbox, "part2"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  char *at = strstr(text, "\"checkpoint\": \"") + 200;
  *at = *at == 'A' ? 'B' : 'A';
  g_autofree char *written = sandbox_write(sandbox, "part2", text, -1);
  g_autofree char *edited = g_strconcat(work, " --replace --merge part1 part2 part3 part4", NULL);
  assert_refuses(sandbox, edited, "changed after it was written", 1);
}

/* Replicates of an evaluation in 25 shards, of raw and recalibrated risks and by group; parts of other runs
 * beside. */
#define N_EVALUATED 25

static void
test_evaluation_in_shards_is_the_evaluation(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  train_s(sandbox);
  static const char work[] = "evaluate --selector s --cohort sim --bootstrap 60 --resamples 3 "
                             "--group-by site";
  g_autofree char *line = g_strconcat("--json --threads 1 ", work, NULL);
  g_autoptr(Run) whole = run_line(sandbox, line);
  assert_status(whole, 0);
  for (size_t i = 1; i <= N_EVALUATED; i++)
    make_part(sandbox, work, i, N_EVALUATED, i % 2 == 0 ? "1" : "2");
  g_autoptr(GString) parts = g_string_new(NULL), but_one = g_string_new(NULL);
  for (size_t i = 0; i < N_EVALUATED; i++) { /* 7 and 25 have no factor in common: each once */
    const size_t part = 1 + 7 * i % N_EVALUATED;
    g_string_append_printf(parts, " part%zu", part);
    if (part != 3)
      g_string_append_printf(but_one, " part%zu", part);
  }
  g_autofree char *merge = g_strconcat("--json --threads 2 ", work, " --merge", parts->str, NULL);
  g_autoptr(Run) merged = run_line(sandbox, merge);
  assert_status(merged, 0);
  g_assert_cmpstr(merged->out, ==, whole->out);

  const struct {
    const char *options, *parts, *more, *says;
  } refused[] = {
      {"", but_one->str, "", "1 of 25 shards are in no part, the first of them shard 3"},
      {"", parts->str, " part9", "shard 9 is in another part already"},
      {" --seed 2", parts->str, "", "another seed"},
      {" --bootstrap 61", parts->str, "", "another settings"},
      {" --resamples 4", parts->str, "", "another settings"},
      {" --split tune", parts->str, "", "another settings"},
      {" --kernel portable", parts->str, "", "another kernel"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autofree char *refuse =
        g_strconcat(work, refused[i].options, " --merge", refused[i].parts, refused[i].more, NULL);
    assert_refuses(sandbox, refuse, refused[i].says, 1);
  }
  g_autofree char *of_two = g_strconcat(work, " --shard 1/2 --part other", NULL);
  g_autoptr(Run) half = run_line(sandbox, of_two);
  assert_status(half, 0);
  g_autofree char *mixed = g_strconcat(work, " --merge part1 other", NULL);
  assert_refuses(sandbox, mixed, "shard 1 of 2, and the parts before it are of 25", 1);
  g_autofree char *many = g_strconcat(work, " --shard 1/61 --part other", NULL);
  assert_refuses(sandbox, many, "nothing to do", 2);
  g_autofree char *positional = g_strconcat(work, " part1", NULL);
  assert_refuses(sandbox, positional, "options only", 2);
  g_autofree char *foreign = g_strconcat("validate s --cohort sim --merge part1", NULL);
  assert_refuses(sandbox, foreign, "another study", 1);

  /* One character of the numbers, and which shard it is. */
  g_autofree char *path = sandbox_path(sandbox, "part2"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autofree char *renamed_merge = g_strconcat(work, " --merge", parts->str, NULL);
  g_auto(GStrv) pieces = g_strsplit(text, "\"shard\": 2,", 2);
  g_assert_cmpuint(g_strv_length(pieces), ==, 2);
  g_autofree char *renamed = g_strconcat(pieces[0], "\"shard\": 3,", pieces[1], NULL);
  g_autofree char *written = sandbox_write(sandbox, "part2", renamed, -1);
  assert_refuses(sandbox, renamed_merge, "changed after it was written", 1);
  /* Numbers of another work, sealed anew: the part is named. */
  edit_and_seal(sandbox, text, "\"numbers\": \"", "\"numbers\": \"AAAA");
  g_autofree char *of_edited = g_strconcat(work, " --merge edited", NULL);
  for (size_t i = 1; i <= N_EVALUATED; i++) {
    g_autofree char *before = of_edited, *name = g_strdup_printf(" part%zu", i);
    of_edited = i != 2 ? g_strconcat(before, name, NULL) : g_steal_pointer(&before);
  }
  assert_refuses(sandbox, of_edited, "edited: the processes, or parts, of this work", 1);
  char *at = strstr(text, "\"numbers\": \"") + 200;
  *at = *at == 'A' ? 'B' : 'A';
  g_autofree char *again = sandbox_write(sandbox, "part2", text, -1);
  assert_refuses(sandbox, renamed_merge, "changed after it was written", 1);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/shards/validation", test_validation_in_shards_is_the_validation);
  g_test_add_func("/shards/refused", test_edited_and_foreign_parts_are_refused);
  g_test_add_func("/shards/search", test_search_in_shards_is_the_search);
  g_test_add_func("/shards/training", test_training_in_shards_is_the_training);
  g_test_add_func("/shards/evaluation", test_evaluation_in_shards_is_the_evaluation);
  return g_test_run();
}
