/* Cohort tables: what is refused, where and with which remedy; what is read; what comes back.
 * Right values: the contract's section "Cohort table"; lines and columns are counted by hand
 * (columns in bytes from 1, the first byte of the field at fault). */
#include "commands.h"

#include <string.h>

#define HEAD "patient_id,site,split,label,risk\n"
#define GOOD "p1,A,train,0,0.2\np2,B,train,1,0.7\n"
#define SCANS "scan_id,patient_id,site,split,label,risk\n"

static const struct {
  const char *what, *bytes;
  const char *place;  /* line and column */
  const char *remedy; /* what to do about it */
} refused[] = {
    {"a patient in two splits", SCANS "s1,p1,A,train,0,0.2\ns2,p1,A,test,0,0.3\n",
     "line 3, column 9", "keep each patient in one split"},
    {"a patient in two splits, without scan_id", HEAD GOOD "p1,A,test,0,0.3\n", "line 4, column 6",
     "one split"},
    {"risk above 1", HEAD GOOD "p3,A,train,0,1.2\n", "line 4, column 14", "give a probability"},
    {"risk below 0", HEAD GOOD "p3,A,train,0,-0.1\n", "line 4, column 14", "give a probability"},
    {"NaN", HEAD GOOD "p3,A,train,0,NaN\n", "line 4, column 14", "probability from 0 to 1"},
    {"infinite", HEAD GOOD "p3,A,train,0,inf\n", "line 4, column 14", "probability from 0 to 1"},
    {"hexadecimal", HEAD GOOD "p3,A,train,0,0x1\n", "line 4, column 14", "probability from 0 to 1"},
    {"no risk", HEAD GOOD "p3,A,train,0,\n", "line 4, column 14", "probability from 0 to 1"},
    {"risk is a word", HEAD GOOD "p3,A,train,0,high\n", "line 4, column 14",
     "probability from 0 to 1"},
    {"decimal comma", "patient_id;site;split;label;risk\np1;A;train;0;0,2\n", "line 2, column 14",
     "decimal point"},
    {"a row too short", HEAD GOOD "p3,A,train,0\n", "line 4, column 12", "fill up short rows"},
    {"a row too long", HEAD GOOD "p3,A,train,0,0.1,7\n", "line 4, column 18", "quote fields"},
    {"a scan twice", SCANS "s1,p1,A,train,0,0.2\ns1,p1,A,train,0,0.3\n", "line 3, column 1",
     "may stand once"},
    {"a patient twice without scan_id", HEAD GOOD "p1,A,train,0,0.3\n", "line 4, column 1",
     "column scan_id"},
    {"an empty file", "", "line 1, column 1", "expected a header"},
    {"a header only", HEAD, "line 2, column 1", "expected one row a scan"},
    {"no label column", "patient_id,site,split,risk\np1,A,train,0.2\n", "line 1", "column label"},
    {"no risk column", "patient_id,site,split,label\np1,A,train,0\n", "line 1", "column risk"},
    {"no patient column", "site,split,label,risk\nA,train,0,0.2\n", "line 1", "column patient_id"},
    {"no site column", "patient_id,split,label,risk\np,train,0,0.2\n", "line 1", "column site"},
    {"no split column", "patient_id,site,label,risk\np,A,0,0.2\n", "line 1", "column split"},
    {"a column twice", "patient_id,site,split,label,risk,risk\np1,A,train,0,0.2,0.2\n",
     "line 1, column 34", "may stand once"},
    {"risk and risk_year_6 differ",
     "patient_id,site,split,label,risk,risk_year_6\np1,A,train,0,0.2,0.3\n", "line 2, column 18",
     "must be equal"},
    {"risk and prob_1 differ",
     "patient_id,site,split,label,risk,prob_0,prob_1\np1,A,train,0,0.2,0.7,0.3\n", "line 2",
     "must be equal"},
    {"a yearly risk above 1",
     "patient_id,site,split,label,risk,risk_year_2\np1,A,train,0,0.2,1.5\n", "line 2, column 18",
     "between 0 and 1"},
    {"two probabilities that do not sum to 1",
     "patient_id,site,split,label,prob_0,prob_1\np1,A,train,0,0.2,0.3\n", "line 2, column 18",
     "must sum to 1"},
    {"three that do not",
     "patient_id,site,split,label,prob_0,prob_1,prob_2\np1,A,train,0,0.2,0.3,0.49998\n",
     "line 2, column 18", "must sum to 1"},
    {"a probability missing", "patient_id,site,split,label,prob_0,prob_2\np1,A,train,0,0.2,0.8\n",
     "line 1, column 36", "without gaps"},
    {"one probability only", "patient_id,site,split,label,prob_0\np1,A,train,0,1\n", "line 1",
     "prob_1"},
    {"label 2", HEAD GOOD "p3,A,train,2,0.2\n", "line 4, column 12", "whole number from 0 to 1"},
    {"label -1", HEAD GOOD "p3,A,train,-1,0.2\n", "line 4, column 12", "whole number from 0 to 1"},
    {"label 0.5", HEAD GOOD "p3,A,train,0.5,0.2\n", "line 4, column 12",
     "whole number from 0 to 1"},
    {"label 3 of 3", "patient_id,site,split,label,prob_0,prob_1,prob_2\np1,A,train,3,0.2,0.3,0.5\n",
     "line 2, column 12", "whole number from 0 to 2"},
    {"no patient", HEAD ",A,train,0,0.2\n", "line 2, column 1", "patient_id"},
    {"no site", HEAD "p1,,train,0,0.2\n", "line 2, column 4", "site"},
    {"no split", HEAD "p1,A,,0,0.2\n", "line 2, column 6", "split"},
    {"an embedding that is NaN", "patient_id,site,split,label,risk,emb_0\np1,A,train,0,0.2,nan\n",
     "line 2, column 18", "emb_0"},
    {"one beyond a float", "patient_id,site,split,label,risk,emb_0\np1,A,train,0,0.2,1e300\n",
     "line 2, column 18", "emb_0"},
    {"an embedding with a gap", "patient_id,site,split,label,risk,emb_1\np1,A,train,0,0.2,1\n",
     "line 1, column 34", "without gaps"},
    {"a byte that is not UTF-8", HEAD "p1,A\xff,train,0,0.2\n", "line 2, column 5",
     "save the table as UTF-8"},
    {"UTF-16", "\xff\xfep\x01q\x01", "line 1, column 1", "save the table as UTF-8"},
    {"a quote never closed", HEAD "p1,\"A,train,0,0.2\n", "line 2, column 4", "close it"},
    {"text behind a quote", HEAD "p1,\"A\"B,train,0,0.2\n", "line 2, column 7", "doubled"},
    {"another separator in a row", HEAD "p1;A;train;0;0.2\n", "line 2", "quote fields"},
};

/* A workspace with one good cohort; the state that a refusal must leave. */
typedef struct {
  char *list, *digest, *table;
} State;

static void
state_clear(State *state) {
  g_free(state->list);
  g_free(state->digest);
  g_free(state->table);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(State, state_clear)

static State
state_of(const Sandbox *sandbox) {
  State state = {cohort_list(sandbox), cohort_digest(sandbox, "good"), NULL};
  g_autoptr(Run) run = run_demur(sandbox, "cohort", "export", "good", "state.csv", NULL);
  assert_status(run, 0);
  g_autofree char *path = sandbox_path(sandbox, "state.csv");
  g_assert_true(g_file_get_contents(path, &state.table, NULL, NULL));
  return state;
}

static void
assert_state(const Sandbox *sandbox, const State *before) {
  g_auto(State) after = state_of(sandbox);
  g_assert_cmpstr(after.list, ==, before->list);
  g_assert_cmpstr(after.digest, ==, before->digest);
  g_assert_cmpstr(after.table, ==, before->table);
}

static Run *
import_bytes(const Sandbox *sandbox, const char *name, const char *bytes, gssize length) {
  g_autofree char *file = g_strconcat(name, ".csv", NULL);
  g_autofree char *path = sandbox_write(sandbox, file, bytes, length);
  return run_demur(sandbox, "cohort", "import", name, path, "--json", NULL);
}

static void
import_good(const Sandbox *sandbox, const char *name, const char *bytes) {
  g_autoptr(Run) run = import_bytes(sandbox, name, bytes, -1);
  assert_status(run, 0);
}

static void
assert_refused(const Sandbox *sandbox, Run *run, const char *place, const char *remedy) {
  assert_status(run, 1);
  assert_members(root_of(run), "error");
  const char *error = string_at(root_of(run), "error");
  assert_says(error, place);
  assert_says(error, remedy);
  /* The file by its name, never the path above it; a message, not the file's content. */
  assert_says(error, ".csv");
  g_assert_null(strstr(error, sandbox->folder));
  g_assert_cmpuint(strlen(error), <, 600);
}

static void
test_faulty_tables_are_refused_and_change_nothing(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_good(sandbox, "good", HEAD GOOD);
  g_auto(State) before = state_of(sandbox);
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_test_message("%s", refused[i].what);
    g_autoptr(Run) run = import_bytes(sandbox, "bad", refused[i].bytes, -1);
    assert_refused(sandbox, run, refused[i].place, refused[i].remedy);
  }
  static const char binary[] = "\x7f"
                               "ELF\x02\x01\x01\0\0\0\0\0\0\0\n\0\0\xff\xfe\n";
  g_autoptr(Run) elf = import_bytes(sandbox, "binary", binary, sizeof binary - 1);
  assert_refused(sandbox, elf, "line 1, column 8", "expected CSV");
  static const char nul[] = HEAD "p1,A\0B,train,0,0.2\n";
  g_autoptr(Run) zero = import_bytes(sandbox, "zero", nul, sizeof nul - 1);
  assert_refused(sandbox, zero, "line 2, column 5", "expected CSV");
  /* A field of a megabyte: told of, not repeated. */
  g_autofree char *digits = g_strnfill(1 << 20, '9');
  g_autofree char *huge = g_strconcat(HEAD "p1,A,train,0,", digits, "\n", NULL);
  g_autoptr(Run) long_field = import_bytes(sandbox, "huge", huge, -1);
  assert_refused(sandbox, long_field, "line 2, column 14", "probability");
  /* A name that is taken. */
  g_autoptr(Run) taken = import_bytes(sandbox, "good", HEAD "q,A,train,0,0.5\n", -1);
  assert_status(taken, 1);
  assert_says(taken->err, "good");
  assert_state(sandbox, &before);
  /* A good file beside them imports. */
  import_good(sandbox, "beside", HEAD GOOD "p3,A,test,0,0.3\n");
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
  g_assert_true(bool_at(root_of(verify), "ok"));
}

/* Printed, what stands behind a line end would be a line of ours. */
static void
test_names_are_one_line(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *table = sandbox_write(
      sandbox, "lines.csv",
      "patient_id,scan_id,site,split,label,risk,\"ker\nforged\"\n"
      "\"p\nforged\",\"s\nforged\",\"H\nforged: all is well\",test,1,0.5,\"K\r\nforged\"\n"
      "q,t,H2,test,0,0.25,L\n",
      -1);
  g_autoptr(Run) imported =
      run_demur(sandbox, "cohort", "import", "c", table, "--model", "m", NULL);
  assert_status(imported, 0);
  assert_says(imported->out, "line ends");
  g_assert_null(strstr(imported->out, "\nforged"));
  g_autofree char *more = sandbox_write(
      sandbox, "more.csv", "site,\"war\nforged\"\nH2,\"W\nforged\"\nH forged: all is well,V\n", -1);
  g_autoptr(Run) attached =
      run_demur(sandbox, "cohort", "attach", "c", more, "--key", "site", NULL);
  assert_status(attached, 0);
  assert_says(attached->out, "line ends");
  g_autoptr(Run) exported = run_demur(sandbox, "cohort", "export", "c", "out.csv", NULL);
  assert_status(exported, 0);
  g_autofree char *path = sandbox_path(sandbox, "out.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_null(strstr(text, "\nforged"));
  assert_says(text, "W forged");
  assert_says(text, "H forged: all is well");
  static const char *const steering[] = {"m\nforged", "m\xe2\x80\xaem", "m\x1b[2J"};
  for (size_t i = 0; i < G_N_ELEMENTS(steering); i++) {
    g_autoptr(Run) model =
        run_demur(sandbox, "cohort", "import", "d", table, "--model", steering[i], NULL);
    assert_status(model, 2);
    assert_says(model->err, "control characters");
    g_autoptr(Run) outcome = run_demur(sandbox, "cohort", "import", "d", table, "--model", "m",
                                       "--outcome", steering[i], NULL);
    assert_status(outcome, 2);
    g_autoptr(Run) scores =
        run_demur(sandbox, "scores", "import", table, "--model", steering[i], NULL);
    assert_status(scores, 2);
    g_assert_null(strstr(scores->err, steering[i]));
  }
}

/* Every faulty row is counted; the first ten are told, each with its own place. */
static void
test_all_faulty_rows_are_counted(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) two = import_bytes(
      sandbox, "two", HEAD "p1,A,train,0,1.2\np2,A,train,0,0.2\np3,A,train,7,0.3\n", -1);
  assert_refused(sandbox, two, "2 rows refused", "line 2, column 14");
  assert_says(two->err, "line 4, column 12");
  g_autoptr(GString) many = g_string_new(HEAD);
  for (int i = 0; i < 25; i++)
    g_string_append_printf(many, "p%d,A,train,0,2\n", i);
  g_autoptr(Run) run = import_bytes(sandbox, "many", many->str, -1);
  assert_status(run, 1);
  assert_says(run->err, "25 rows refused");
  assert_says(run->err, "and 15 more");
}

/* One content, written in every way the contract allows: one digest. */
static void
test_ways_of_writing_give_one_digest(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const struct {
    const char *name, *bytes;
  } ways[] = {
      {"plain", HEAD GOOD},
      {"bom", "\xef\xbb\xbf" HEAD GOOD},
      {"semicolon", "patient_id;site;split;label;risk\np1;A;train;0;0.2\np2;B;train;1;0.7\n"},
      {"tab", "patient_id\tsite\tsplit\tlabel\trisk\np1\tA\ttrain\t0\t0.2\np2\tB\ttrain\t1\t0.7\n"},
      {"quoted", "\"patient_id\",\"site\",split,label,\"risk\"\n\"p1\",\"A\",train,\"0\",\"0.2\"\n"
                 "p2,B,\"train\",1,0.7\n"},
      {"crlf", "patient_id,site,split,label,risk\r\np1,A,train,0,0.2\r\np2,B,train,1,0.7\r\n"},
      {"no-last-line-end", HEAD "p1,A,train,0,0.2\np2,B,train,1,0.7"},
      {"order", "risk,label,split,site,patient_id\n0.2,0,train,A,p1\n0.7,1,train,B,p2\n"},
      {"digits", HEAD "p1,A,train,0,2e-1\np2,B,train,1,0.70000\n"},
      {"scan_id", "scan_id,patient_id,site,split,label,risk\np1,p1,A,train,0,0.2\n"
                  "p2,p2,B,train,1,0.7\n"},
      {"both-the-same", "patient_id,site,split,label,risk,prob_0,prob_1\n"
                        "p1,A,train,0,0.2,0.8,0.2\np2,B,train,1,0.7,0.3,0.7\n"},
      {"probabilities", "patient_id,site,split,label,prob_0,prob_1\n"
                        "p1,A,train,0,0.8,0.2\np2,B,train,1,0.3,0.7\n"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
    import_good(sandbox, ways[i].name, ways[i].bytes);
  g_autofree char *first = cohort_digest(sandbox, ways[0].name);
  for (size_t i = 1; i < G_N_ELEMENTS(ways); i++) {
    g_test_message("%s", ways[i].name);
    g_autofree char *digest = cohort_digest(sandbox, ways[i].name);
    g_assert_cmpstr(digest, ==, first);
  }
  /* Ids are text: 007 is not 7. */
  import_good(sandbox, "zeros", HEAD "007,A,train,0,0.2\n7,B,train,1,0.7\n");
  g_autofree char *zeros = cohort_digest(sandbox, "zeros");
  g_assert_cmpstr(zeros, !=, first);
}

static void
test_list_prints_what_the_contract_says(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_good(sandbox, "real", HEAD GOOD "p3,C,test,,0.3\n");
  g_autoptr(Run) removed = run_json(sandbox, 0, "cohort", "remove", "real", NULL);
  g_autofree char *empty = cohort_list(sandbox);
  g_assert_cmpstr(g_strstrip(empty), ==, "{\n \"cohorts\": []\n}");
  import_good(sandbox, "real", HEAD GOOD "p3,C,test,,0.3\n");
  simulate_small(sandbox, "sim");
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "list", NULL);
  assert_members(root_of(run), "cohorts");
  JsonArray *cohorts = array_at(root_of(run), "cohorts");
  g_assert_cmpuint(json_array_get_length(cohorts), ==, 2);
  JsonObject *real = find_in(cohorts, "name", "real"), *sim = find_in(cohorts, "name", "sim");
  assert_members(real, "name,n_scans,n_sites,splits,simulated");
  g_assert_cmpfloat(number_at(real, "n_scans"), ==, 3);
  g_assert_cmpfloat(number_at(real, "n_sites"), ==, 3);
  g_assert_false(bool_at(real, "simulated"));
  assert_members(object_at(real, "splits"), "train,test");
  g_assert_cmpfloat(number_at(object_at(real, "splits"), "train"), ==, 2);
  /* commands.md: selector_train --scans, validation a fifth of it, the rest as asked for. */
  g_assert_true(bool_at(sim, "simulated"));
  JsonObject *splits = object_at(sim, "splits");
  assert_members(splits, "base_train,selector_train,validation,tune,test");
  g_assert_cmpfloat(number_at(splits, "base_train"), ==, 500);
  g_assert_cmpfloat(number_at(splits, "selector_train"), ==, 600);
  g_assert_cmpfloat(number_at(splits, "validation"), ==, 120);
  g_assert_cmpfloat(number_at(splits, "tune"), ==, 300);
  g_assert_cmpfloat(number_at(splits, "test"), ==, 400);
  g_assert_cmpfloat(number_at(sim, "n_sites"), ==, 9); /* eight inside, one outside */
  g_autoptr(Run) plain = run_demur(sandbox, "cohort", "list", NULL);
  assert_says(plain->out, "SIMULATED");
}

/* Export and import again: the same digest, attributes and mark of simulation. */
static void
test_export_imports_back(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  import_good(sandbox, "small",
              "patient_id,scan_id,site,split,label,risk_year_1,risk_year_6,emb_0,emb_1,kernel,sex\n"
              "\"p,1\",s1,\"Sankt \"\"Anna\"\"\",train,0,0.01,0.2,0.1,-3e-7,\"B30\nB31\",f\n"
              "\"p,1\",s2,\"Sankt \"\"Anna\"\"\",train,,,0.3,0.25,1e10,,\n"
              "0007,s3,K\xc3\xb6ln,test,1,0.02,0.333333333333333314,5,6,B30,m\n");
  import_good(sandbox, "three",
              "patient_id,site,split,label,prob_0,prob_1,prob_2,shift\n"
              "p1,A,train,2,0.2,0.3,0.5,none\np2,A,train,0,0.7,0.2,0.1,fog\n");
  static const struct {
    const char *name;
    gboolean simulated;
  } rows[] = {{"sim", TRUE}, {"small", FALSE}, {"three", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *back = g_strconcat(rows[i].name, "-back", NULL);
    g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "export", rows[i].name, "out.csv", NULL);
    g_assert_true(bool_at(root_of(run), "simulated") == rows[i].simulated);
    g_autoptr(Run) again = run_json(sandbox, 0, "cohort", "import", back, "out.csv", NULL);
    g_assert_true(bool_at(root_of(again), "simulated") == rows[i].simulated);
    g_autofree char *first = cohort_digest(sandbox, rows[i].name);
    g_assert_cmpstr(string_at(root_of(again), "digest"), ==, first);
    /* Attributes are no part of the digest: the second table holds them byte for byte. */
    g_autoptr(Run) twice = run_json(sandbox, 0, "cohort", "export", back, "again.csv", NULL);
    g_autofree char *path = sandbox_path(sandbox, "out.csv");
    g_autofree char *other = sandbox_path(sandbox, "again.csv");
    g_autofree char *a = NULL, *b = NULL;
    g_assert_true(g_file_get_contents(path, &a, NULL, NULL));
    g_assert_true(g_file_get_contents(other, &b, NULL, NULL));
    g_assert_cmpstr(a, ==, b);
  }
}

/* attach joins by key; what it can't join is counted, what is not there is refused. */
static void
test_attach_joins_by_key(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  import_good(sandbox, "good", HEAD "007,A,train,0,0.2\n7,B,train,1,0.7\np3,B,test,1,0.7\n");
  g_autofree char *before = cohort_digest(sandbox, "good");
  g_autofree char *table =
      sandbox_write(sandbox, "a.csv", "patient_id,sex,age\n007,f,61\n7,m,62\nnobody,f,63\n", -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "attach", "good", table, "--key",
                                "patient_id", "--columns", "sex", NULL);
  g_assert_cmpfloat(number_at(root_of(run), "n_matched"), ==, 2);
  g_assert_cmpfloat(number_at(root_of(run), "n_unmatched"), ==, 1);
  g_assert_cmpfloat(number_at(root_of(run), "n_unused"), ==, 1);
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "good", NULL);
  JsonArray *attributes = array_at(root_of(show), "attributes");
  g_assert_nonnull(find_in(attributes, "name", "sex"));
  g_assert_null(find_in(attributes, "name", "age"));
  /* The scans stay what they were. */
  g_assert_cmpstr(string_at(root_of(show), "digest"), ==, before);
  g_autoptr(Run) again =
      run_json(sandbox, 1, "cohort", "attach", "good", table, "--key", "patient_id", NULL);
  assert_says(again->err, "sex");
  g_autoptr(Run) no_key =
      run_json(sandbox, 1, "cohort", "attach", "good", table, "--key", "scan_id", NULL);
  assert_says(no_key->err, "scan_id");
}

/* Embeddings in a NumPy file: its rows equal the table's, or ids join them. */
static void
test_embeddings_file_must_fit(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *table = sandbox_write(sandbox, "t.csv", HEAD GOOD, -1);
  /* NumPy format 1.0: magic, version, header length 118 (10 + 118 = 128), header, little endian. */
  g_autoptr(GString) npy = g_string_new_len("\x93NUMPY\x01\x00\x76\x00", 10);
  g_string_append(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }");
  while (npy->len < 127)
    g_string_append_c(npy, ' ');
  g_string_append_c(npy, '\n');
  const float values[] = {0.5f, -2.0f};
  g_string_append_len(npy, (const char *)values, sizeof values);
  g_autofree char *fits = sandbox_write(sandbox, "fits.npy", npy->str, (gssize)npy->len);
  g_autofree char *cut = sandbox_write(sandbox, "cut.npy", npy->str, (gssize)npy->len - 4);
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "import", "a", table, "--embeddings", fits, NULL);
  g_assert_cmpfloat(number_at(root_of(run), "embedding_width"), ==, 1);
  assert_says(run->out, "row order"); /* it says how it joined */
  import_good(
      sandbox, "b",
      "patient_id,site,split,label,risk,emb_0\np1,A,train,0,0.2,0.5\np2,B,train,1,0.7,-2\n");
  g_autofree char *a = cohort_digest(sandbox, "a"), *b = cohort_digest(sandbox, "b");
  g_assert_cmpstr(a, ==, b);
  /* By ids, in the other order. */
  g_autofree char *ids = sandbox_write(sandbox, "ids.txt", "p2\np1\n", -1);
  g_autofree char *swapped_npy = NULL;
  const float swapped[] = {-2.0f, 0.5f};
  memcpy(npy->str + 128, swapped, sizeof swapped);
  swapped_npy = sandbox_write(sandbox, "swapped.npy", npy->str, (gssize)npy->len);
  g_autoptr(Run) by_ids = run_json(sandbox, 0, "cohort", "import", "c", table, "--embeddings",
                                   swapped_npy, "--embedding-ids", ids, NULL);
  g_assert_cmpstr(string_at(root_of(by_ids), "digest"), ==, a);
  g_autoptr(Run) short_file =
      run_json(sandbox, 1, "cohort", "import", "d", table, "--embeddings", cut, NULL);
  assert_says(short_file->err, "cut.npy");
  g_autofree char *one = sandbox_write(sandbox, "one.csv", HEAD "p1,A,train,0,0.2\n", -1);
  g_autoptr(Run) rows =
      run_json(sandbox, 1, "cohort", "import", "e", one, "--embeddings", fits, NULL);
  assert_says(rows->err, "2");
}

static void
test_removing_asks_for_force_where_something_came_from_it(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) trained = train_small(sandbox, "s", "sim", NULL);
  assert_status(trained, 0);
  g_autoptr(Run) kept = run_json(sandbox, 1, "cohort", "remove", "sim", NULL);
  assert_says(kept->err, "force");
  assert_says(kept->err, "1 selector;");
  g_autofree char *table = sandbox_path(sandbox, "sim.csv");
  g_autoptr(Run) exported = run_demur(sandbox, "cohort", "export", "sim", table, NULL);
  assert_status(exported, 0);
  g_autoptr(Run) replaced =
      run_json(sandbox, 1, "cohort", "import", "sim", table, "--model", "m", "--replace", NULL);
  assert_says(replaced->err, "1 selector;");
  g_autoptr(Run) removed = run_json(sandbox, 0, "cohort", "remove", "sim", "--force", NULL);
  g_autofree char *list = cohort_list(sandbox);
  g_assert_null(strstr(list, "\"sim\""));
  /* The selector outlives its cohort. */
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
}

/* Right value: the selector's scores are its model's; a cohort that came again without that name is
 * mended by the name, in place, and every verdict of it says so until then. */
static void
test_a_cohort_is_given_the_name_of_its_model(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) trained = train_small(sandbox, "s", "sim", NULL);
  assert_status(trained, 0);
  g_autoptr(Run) tuned =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9", NULL);
  g_autoptr(Run) first = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_autofree char *table = sandbox_path(sandbox, "sim.csv"), *out = sandbox_path(sandbox, "v.json"),
                  *then_out = sandbox_path(sandbox, "then.json");
  g_autoptr(Run) exported = run_demur(sandbox, "cohort", "export", "sim", table, NULL);
  assert_status(exported, 0);
  g_autoptr(Run) removed = run_json(sandbox, 0, "cohort", "remove", "sim", "--force", NULL);
  g_autoptr(Run) unnamed = run_json(sandbox, 0, "cohort", "import", "sim", table, NULL);
  g_autoptr(Run) unread = run_json(sandbox, 1, "assess", "s", "--cohort", "sim", NULL);
  assert_says(unread->err, "'unnamed'");
  g_autoptr(Run) before = run_json(sandbox, 0, "export", out, "--cohort", "sim", NULL);
  g_autofree char *said = NULL, *after = NULL;
  g_assert_true(g_file_get_contents(out, &said, NULL, NULL));
  assert_says(said, "\"next_step\": \"cohort\"");
  g_assert_null(strstr(said, "\"next_step\": \"assess\""));
  g_autoptr(Run) as_before =
      run_json(sandbox, 1, "cohort", "import", "sim", table, "--replace", NULL);
  assert_says(as_before->err, "1 selector,"); /* names nothing */
  g_autoptr(Run) named = run_json(sandbox, 0, "cohort", "import", "sim", table, "--model",
                                  "simulated-cnn", "--replace", NULL);
  g_autoptr(Run) then = run_json(sandbox, 0, "export", then_out, "--cohort", "sim", NULL);
  g_assert_true(g_file_get_contents(then_out, &after, NULL, NULL));
  g_assert_null(strstr(after, "\"next_step\": \"cohort\""));
  g_autoptr(Run) assessed = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  /* Other rows are another cohort, whatever its model. */
  g_autofree char *text = NULL, *less = sandbox_path(sandbox, "less.csv");
  g_assert_true(g_file_get_contents(table, &text, NULL, NULL));
  *strrchr(g_strchomp(text), '\n') = '\0';
  g_assert_true(g_file_set_contents(less, text, -1, NULL));
  g_autoptr(Run) other =
      run_json(sandbox, 1, "cohort", "import", "sim", less, "--model", "m", "--replace", NULL);
  assert_says(other->err, "1 selector,");
  g_autoptr(Run) verify = run_json(sandbox, 0, "verify", NULL);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/cohort/refused", test_faulty_tables_are_refused_and_change_nothing);
  g_test_add_func("/commands/cohort/one-line", test_names_are_one_line);
  g_test_add_func("/commands/cohort/counted", test_all_faulty_rows_are_counted);
  g_test_add_func("/commands/cohort/ways", test_ways_of_writing_give_one_digest);
  g_test_add_func("/commands/cohort/named", test_a_cohort_is_given_the_name_of_its_model);
  g_test_add_func("/commands/cohort/list", test_list_prints_what_the_contract_says);
  g_test_add_func("/commands/cohort/round-trip", test_export_imports_back);
  g_test_add_func("/commands/cohort/attach", test_attach_joins_by_key);
  g_test_add_func("/commands/cohort/embeddings", test_embeddings_file_must_fit);
  g_test_add_func("/commands/cohort/remove",
                  test_removing_asks_for_force_where_something_came_from_it);
  return g_test_run();
}
