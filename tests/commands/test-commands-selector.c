/* Train, tune, assess, evaluate, report and verify on a small simulated cohort. Right values: the
 * members that the contract names; numbers worked out here anew from the scores that `assess`
 * prints and the labels of `cohort export`, by the formulas of the paper (Eq. quantile, equal-mass
 * S-BCE). */
#include "commands.h"
#include "store/selectors.h"
#include "support/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Workspaces made once and copied: "sim" with selector "s" (two models), and the same tuned at 0.5
 * and 0.9. */
static Sandbox *trained_base, *tuned_base;
static char *trained_document;

static Sandbox *
copy_of(const Sandbox *base) {
  Sandbox *sandbox = sandbox_new();
  demur_test_store_copy(base->workspace, sandbox->workspace);
  return sandbox;
}

static Sandbox *
trained(void) {
  if (trained_base == NULL) {
    trained_base = sandbox_new();
    simulate_small(trained_base, "sim");
    g_autoptr(Run) run = train_small(trained_base, "s", "sim", NULL);
    assert_status(run, 0);
    trained_document = g_strdup(run->out);
  }
  return copy_of(trained_base);
}

static Sandbox *
tuned(void) {
  if (tuned_base == NULL) {
    tuned_base = trained();
    g_autoptr(Run) run =
        run_json(tuned_base, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9,0.5", NULL);
    assert_status(run, 0);
  }
  return copy_of(tuned_base);
}

/* ---- numbers worked out anew ------------------------------------------------------------------
 */

typedef struct {
  double score, risk;
  int label;
  guint row;
  char *verdict;
} Scan;

static void
scan_clear(gpointer data) {
  g_free(((Scan *)data)->verdict);
}

/* scan_id -> label of a cohort, from its exported table. */
static GHashTable *
labels_of(const Sandbox *sandbox, const char *cohort) {
  g_autoptr(Run) run = run_demur(sandbox, "cohort", "export", cohort, "labels.csv", NULL);
  assert_status(run, 0);
  g_autofree char *path = sandbox_path(sandbox, "labels.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_auto(GStrv) header = g_strsplit(lines[0], ",", -1);
  guint at_label = 0, at_scan = 0;
  for (guint i = 0; header[i] != NULL; i++) {
    at_label = strcmp(header[i], "label") == 0 ? i : at_label;
    at_scan = strcmp(header[i], "scan_id") == 0 ? i : at_scan;
  }
  g_assert_cmpuint(at_label, >, 0);
  GHashTable *labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    g_auto(GStrv) fields = g_strsplit(*line, ",", -1);
    g_hash_table_insert(labels, g_strdup(fields[at_scan]),
                        GINT_TO_POINTER((int)g_ascii_strtoll(fields[at_label], NULL, 10)));
  }
  return labels;
}

static GArray *
scans_of(const Sandbox *sandbox, JsonObject *assessed) {
  g_autoptr(GHashTable) labels = labels_of(sandbox, "sim");
  GArray *scans = g_array_new(FALSE, FALSE, sizeof(Scan));
  g_array_set_clear_func(scans, scan_clear);
  JsonArray *verdicts = array_at(assessed, "verdicts");
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    gpointer label;
    g_assert_true(g_hash_table_lookup_extended(labels, string_at(v, "scan_id"), NULL, &label));
    const Scan scan = {number_at(v, "score"), number_at(v, "risk"), GPOINTER_TO_INT(label), i,
                       g_strdup(string_at(v, "verdict"))};
    g_array_append_val(scans, scan);
  }
  return scans;
}

static int
by_score_down(gconstpointer a, gconstpointer b) {
  const Scan *s = a, *t = b;
  return s->score > t->score ? -1 : s->score < t->score;
}

static int
by_risk(gconstpointer a, gconstpointer b) {
  const Scan *s = a, *t = b;
  if (s->risk != t->risk)
    return s->risk < t->risk ? -1 : 1;
  return s->row < t->row ? -1 : s->row > t->row;
}

/* The k-th largest score. */
static double
kth_largest(const GArray *scans, guint k) {
  g_autoptr(GArray) copy = g_array_new(FALSE, FALSE, sizeof(Scan));
  g_array_append_vals(copy, scans->data, scans->len);
  g_array_sort(copy, by_score_down);
  return g_array_index(copy, Scan, k - 1).score;
}

typedef struct {
  double sbce2, sbceinf, brier, accuracy;
  guint n, n_bins;
} Measured;

/* Equal-mass bins of the accepted scans as numpy.array_split cuts them. */
static Measured
measure(const GArray *scans, double threshold) {
  g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(Scan));
  for (guint i = 0; i < scans->len; i++)
    if (g_array_index(scans, Scan, i).score >= threshold)
      g_array_append_val(kept, g_array_index(scans, Scan, i));
  g_array_sort(kept, by_risk);
  Measured m = {.n = kept->len, .n_bins = CLAMP(kept->len / 25, 1, 15)};
  guint next = 0;
  double sum = 0.0;
  for (guint b = 0; b < m.n_bins; b++) {
    const guint size = m.n / m.n_bins + (b < m.n % m.n_bins);
    double difference = 0.0;
    for (guint i = 0; i < size; i++, next++) {
      const Scan *s = &g_array_index(kept, Scan, next);
      difference += s->label - s->risk;
      m.brier += (s->label - s->risk) * (s->label - s->risk) / m.n;
      m.accuracy += ((s->risk >= 0.5) == (s->label == 1)) / (double)m.n;
    }
    sum += difference * difference / size / m.n;
    m.sbceinf = fmax(m.sbceinf, fabs(difference / size));
  }
  m.sbce2 = sqrt(sum);
  return m;
}

/* ---- training ---------------------------------------------------------------------------------
 */

static void
test_train_prints_what_the_contract_says(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(JsonNode) node = json_from_string(trained_document, NULL);
  JsonObject *root = json_node_get_object(node);
  assert_holds(root, "seed,settings,seconds,updates,best_epoch,digest,history");
  g_assert_cmpfloat(number_at(root, "seed"), ==, 1);
  g_assert_true(bool_at(root, "simulated"));
  /* Two epochs of 96 data sets by 8: 12 updates each. */
  g_assert_cmpfloat(number_at(root, "updates"), ==, 24);
  g_assert_cmpuint(strlen(string_at(root, "digest")), ==, 64);
  JsonArray *history = array_at(root, "history");
  g_assert_cmpuint(json_array_get_length(history), ==, 3); /* the untrained epoch 0 first */
  const double best = number_at(root, "best_epoch");
  double lowest = INFINITY;
  for (guint e = 0; e < 3; e++) {
    JsonObject *epoch = json_array_get_object_element(history, e);
    assert_members(epoch, "epoch,loss,mean_auc,worst_auc");
    g_assert_cmpfloat(number_at(epoch, "epoch"), ==, e);
    g_assert_cmpfloat(number_at(epoch, "worst_auc"), >=, number_at(epoch, "mean_auc"));
    if (e > 0)
      g_assert_true(isfinite(number_at(epoch, "loss")));
    lowest = fmin(lowest, number_at(epoch, "worst_auc"));
  }
  /* The epoch with the lowest worst-case AUC is kept. */
  JsonObject *kept = json_array_get_object_element(history, (guint)best);
  g_assert_cmpfloat(number_at(kept, "worst_auc"), ==, lowest);
  JsonObject *settings = object_at(root, "settings");
  assert_holds(settings, "epochs,datasets_per_epoch,dataset_size,batch,kappa,q,kernel_width,alpha,"
                         "lambda2,learning_rate,weight_decay,clip,bin_size,models");
  g_assert_cmpfloat(number_at(settings, "batch"), ==, 8);
  g_autoptr(Run) taken = run_json(sandbox, 1, "train", "s", "--cohort", "sim", NULL);
  assert_says(taken->err, "--replace");
}

/* --as-published names the paper's numbers; an explicit option beats it in any order. */
static void
test_as_published_yields_to_explicit_options(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) before = train_small(sandbox, "a", "sim", "--alpha", "3", "--threads", "2", NULL);
  assert_status(before, 0);
  g_autoptr(Run) after =
      run_json(sandbox, 0, "train", "b", "--alpha", "3", "--epochs", "2", "--datasets-per-epoch",
               "96", "--batch", "8", "--dataset-size", "128", "--kappa", "2",
               "--validation-datasets", "20", "--cohort", "sim", "--as-published", NULL);
  static const struct {
    const char *name;
    double value;
  } paper[] = {{"q", 2},       {"kernel_width", 0.2}, {"lambda2", 0.01},
               {"clip", 10},   {"bin_size", 25},      {"learning_rate", 1e-3},
               {"hidden", 64}, {"alpha", 3},          {"weight_decay", 1e-5},
               {"epochs", 2}};
  for (size_t i = 0; i < G_N_ELEMENTS(paper); i++) {
    demur_assert_close(number_at(object_at(root_of(before), "settings"), paper[i].name),
                       paper[i].value, 0, 0);
    demur_assert_close(number_at(object_at(root_of(after), "settings"), paper[i].name),
                       paper[i].value, 0, 0);
  }
  g_assert_cmpstr(string_at(root_of(before), "digest"), ==, string_at(root_of(after), "digest"));
}

/* ---- selector files ---------------------------------------------------------------------------
 */

static void
test_selector_file_goes_out_and_in(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) list = run_json(sandbox, 0, "selector", "list", NULL);
  JsonObject *s = find_in(array_at(root_of(list), "selectors"), "name", "s");
  assert_holds(s, "name,cohort,model,digest,simulated,created,coverages");
  g_assert_true(bool_at(s, "simulated"));
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  assert_holds(root_of(show), "name,digest,model,n_classes,embedding_width,seed,cohort,"
                              "cohort_digest,settings,parts,meta_features,models,thresholds");
  g_assert_cmpstr(string_at(root_of(show), "digest"), ==, string_at(s, "digest"));
  /* What leaves is another selector, by its digest too: without what tells who made it. */
  g_autoptr(Run) out =
      run_json(sandbox, 0, "selector", "export", "s", "s.json", "--with-reference", NULL);
  g_autoptr(Run) in = run_json(sandbox, 0, "selector", "import", "copy", "s.json", NULL);
  g_assert_cmpstr(string_at(root_of(in), "digest"), !=, string_at(s, "digest"));
  g_autoptr(Run) again =
      run_json(sandbox, 0, "selector", "export", "copy", "copy.json", "--with-reference", NULL);
  g_autofree char *path = sandbox_path(sandbox, "s.json"), *text = NULL;
  g_autofree char *copy_path = sandbox_path(sandbox, "copy.json"), *copy = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_true(g_file_get_contents(copy_path, &copy, NULL, NULL));
  g_assert_cmpstr(text, ==, copy);
  /* The copy gives the same scores, and is not tuned. */
  g_autoptr(Run) a =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(Run) b =
      run_json(sandbox, 0, "assess", "copy", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(GArray) scans_a = scans_of(sandbox, root_of(a)),
                    scans_b = scans_of(sandbox, root_of(b));
  for (guint i = 0; i < scans_a->len; i++)
    g_assert_cmpfloat(g_array_index(scans_a, Scan, i).score, ==,
                      g_array_index(scans_b, Scan, i).score);
  g_assert_cmpstr(g_array_index(scans_b, Scan, 0).verdict, ==, "not_tuned");
  /* Nothing could be accepted of what came: before it listens. */
  g_autoptr(Run) receive =
      run_demur(sandbox, "dicom", "receive", "received", "--selector", "copy", NULL);
  assert_status(receive, 1);
  assert_says(receive->err, "the selector copy has no threshold: run `demur tune copy ..` first");
  /* A name that is taken, and a file that is none. */
  g_autoptr(Run) taken = run_json(sandbox, 1, "selector", "import", "copy", "s.json", NULL);
  /* One without thresholds is replaced; thresholds don't go unasked. */
  g_autoptr(Run) bare =
      run_json(sandbox, 0, "selector", "import", "copy", "s.json", "--replace", NULL);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "copy", "--cohort", "sim", "--coverage", "0.8", NULL);
  g_autoptr(Run) tuned =
      run_json(sandbox, 1, "selector", "import", "copy", "s.json", "--replace", NULL);
  assert_says(tuned->err, "1 threshold, which would end with it");
  g_autoptr(Run) kept = run_json(sandbox, 0, "selector", "show", "copy", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(kept), "thresholds")), ==, 1);
  g_autoptr(Run) alone =
      run_json(sandbox, 2, "selector", "import", "copy", "s.json", "--force", NULL);
  g_autoptr(Run) forced =
      run_json(sandbox, 0, "selector", "import", "copy", "s.json", "--replace", "--force", NULL);
  g_autoptr(Run) gone = run_json(sandbox, 0, "selector", "show", "copy", NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(gone), "thresholds")), ==, 0);
  g_autofree char *junk = sandbox_write(sandbox, "junk.json", "{\"format\": 7}", -1);
  g_autoptr(Run) foreign = run_json(sandbox, 1, "selector", "import", "j", junk, NULL);
  g_autofree char *cut = sandbox_write(sandbox, "cut.json", text, (gssize)strlen(text) / 2);
  g_autoptr(Run) half = run_json(sandbox, 1, "selector", "import", "j", cut, NULL);
  assert_says(half->err, "cut.json");
}

/* The document of a selector as it is kept, its hashes under the workspace's key (owned). */
static char *
kept_document_of(const Sandbox *sandbox, const char *selector) {
  g_autofree char *sql =
      g_strdup_printf("SELECT document FROM selector WHERE name = '%s'", selector);
  return demur_test_store_text(sandbox->workspace, sql);
}

/* The document of a selector (owned). */
static char *
document_of(const Sandbox *sandbox, const char *selector) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace =
      demur_workspace_open(sandbox->workspace, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  g_autoptr(DemurSelectorRecord) record = demur_selectors_load(workspace, selector, &error);
  g_assert_no_error(error);
  return g_steal_pointer(&record->document);
}

static int
compare_words(const void *a, const void *b) {
  const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

/* Every eight bytes in a row that its base64 members hold, sorted: there are a million, and numbers
 * that lie close together make a poor hash. */
static GArray *
words_of(const char *document) {
  GArray *words = g_array_new(FALSE, FALSE, sizeof(gint64));
  for (const char *p = document; (p = strchr(p, '"')) != NULL;) {
    const char *end = strchr(p + 1, '"');
    if (end == NULL)
      break;
    g_autofree char *member = g_strndup(p + 1, (gsize)(end - p - 1));
    gsize n;
    g_autofree guchar *bytes = g_base64_decode(member, &n);
    for (gsize i = 0; end - p > 40 && i + 8 <= n; i += 4) {
      gint64 word;
      memcpy(&word, bytes + i, sizeof word);
      g_array_append_val(words, word);
    }
    p = end + 1;
  }
  qsort(words->data, words->len, sizeof(gint64), compare_words);
  return words;
}

/* How many of the eight-byte words of a base64 member of `of` are among the words; those with a
 * zero half (a zero of an embedding is nobody's) are passed over. */
static guint
count_words(const GArray *words, JsonObject *of, const char *member, guint *n) {
  gsize length;
  g_autofree guchar *bytes = g_base64_decode(string_at(of, member), &length);
  guint found = 0;
  *n = 0;
  for (gsize i = 0; i + 8 <= length; i += 8) {
    guint32 halves[2];
    memcpy(halves, bytes + i, sizeof halves);
    if (halves[0] == 0 || halves[1] == 0)
      continue;
    ++*n;
    gint64 word;
    memcpy(&word, bytes + i, sizeof word);
    found += bsearch(&word, words->data, words->len, sizeof word, compare_words) != NULL ? 1 : 0;
  }
  return found;
}

/* The file gives up no one: none of the hashes of patients and scans that the workspace's document
 * holds, and of the reference embeddings no two numbers in a row, nor of the training scans'
 * scores; with the reference these are there, and said to be. What is searched for is found in the
 * workspace's own document. */
static void
test_exported_file_names_nobody(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autofree char *document = document_of(sandbox, "s");
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, document, -1, NULL));
  JsonObject *own = json_node_get_object(json_parser_get_root(parser));
  static const struct {
    const char *object, *member;
    gboolean is_reference; /* it stays with --with-reference */
  } secrets[] = {{NULL, "patient_hashes", FALSE},
                 {NULL, "reference_hashes", FALSE},
                 {"outlier", "reference", TRUE},
                 {"training_scans", "scores", TRUE}};
  /* Nor does the row that the workspace keeps: its hashes are under a key that lies elsewhere. */
  g_autofree char *kept = kept_document_of(sandbox, "s");
  g_assert_cmpuint(strlen(kept), ==, strlen(document));
  g_autoptr(GArray) kept_words = words_of(kept);
  for (size_t i = 0; i < 2; i++) {
    guint n;
    g_assert_cmpuint(count_words(kept_words, own, secrets[i].member, &n), ==, 0);
    g_assert_cmpuint(n, >, 100);
  }
  static const char *const exports[][2] = {
      {NULL, NULL}, {"plain.json", NULL}, {"full.json", "--with-reference"}};
  for (size_t e = 0; e < G_N_ELEMENTS(exports); e++) {
    g_autofree char *text = NULL;
    if (exports[e][0] != NULL) {
      g_autoptr(Run) out =
          run_json(sandbox, 0, "selector", "export", "s", exports[e][0], exports[e][1], NULL);
      g_autofree char *path = sandbox_path(sandbox, exports[e][0]);
      g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    }
    g_autoptr(GArray) words = words_of(text != NULL ? text : document);
    for (size_t i = 0; i < G_N_ELEMENTS(secrets); i++) {
      JsonObject *object = secrets[i].object != NULL ? object_at(own, secrets[i].object) : own;
      guint n;
      const guint found = count_words(words, object, secrets[i].member, &n);
      g_test_message("%s of %s: %u of %u", secrets[i].member,
                     exports[e][0] != NULL ? exports[e][0] : "the workspace", found, n);
      g_assert_cmpuint(n, >, 100);
      if (exports[e][0] == NULL || (exports[e][1] != NULL && secrets[i].is_reference))
        g_assert_cmpuint(found, ==, n);
      else
        g_assert_cmpuint(found, ==, 0);
    }
  }
  g_autoptr(Run) said =
      run_demur(sandbox, "selector", "export", "s", "full.json", "--with-reference", NULL);
  assert_says(said->out, "WITH ITS REFERENCE");
  /* One that came so is written again as it is, has no rows to give, and knows its own splits. */
  g_autoptr(Run) in = run_json(sandbox, 0, "selector", "import", "copy", "plain.json", NULL);
  g_autoptr(Run) again = run_json(sandbox, 0, "selector", "export", "copy", "again.json", NULL);
  g_autofree char *one_path = sandbox_path(sandbox, "plain.json"), *one = NULL;
  g_autofree char *other_path = sandbox_path(sandbox, "again.json"), *other = NULL;
  g_assert_true(g_file_get_contents(one_path, &one, NULL, NULL));
  g_assert_true(g_file_get_contents(other_path, &other, NULL, NULL));
  g_assert_cmpstr(one, ==, other);
  g_autoptr(Run) rows =
      run_json(sandbox, 1, "selector", "export", "copy", "no.json", "--with-reference", NULL);
  assert_says(rows->err, "no reference rows");
  g_autoptr(Run) seen = run_json(sandbox, 1, "evaluate", "--selector", "copy", "--cohort", "sim",
                                 "--split", "selector_train", "--bootstrap", "20", NULL);
  assert_says(seen->err, "--in-sample");
  g_autoptr(Run) works =
      run_json(sandbox, 0, "assess", "copy", "--reveal", "a test", "--cohort", "sim", NULL);
}

/* One character changed anywhere in the file: refused, or it was one that says nothing (the 17th
 * digit of the same double, the cut of a leaf), and then what was read is the original to the byte.
 * Twelve places spread over the file. */
static void
test_changed_selector_file_is_refused(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) out =
      run_json(sandbox, 0, "selector", "export", "s", "s.json", "--with-reference", NULL);
  g_autofree char *path = sandbox_path(sandbox, "s.json"), *text = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(path, &text, &length, NULL));
  guint n_refused = 0;
  for (gsize i = 0; i < 12; i++) {
    gsize at = length * (2 * i + 1) / 24;
    while (at < length && !g_ascii_isalnum(text[at]))
      at++;
    g_assert_cmpuint(at, <, length);
    const char kept = text[at];
    text[at] = kept == '7' || kept == 'A' ? kept + 1 : g_ascii_isdigit(kept) ? '7' : 'A';
    g_autofree char *changed = sandbox_write(sandbox, "changed.json", text, (gssize)length);
    text[at] = kept;
    g_autoptr(Run) run =
        run_demur(sandbox, "selector", "import", "c", changed, "--replace", "--json", NULL);
    if (run->status != 0) {
      assert_status(run, 1);
      assert_says(run->err, "changed.json");
      n_refused++;
      continue;
    }
    g_autoptr(Run) back =
        run_json(sandbox, 0, "selector", "export", "c", "c.json", "--with-reference", NULL);
    g_autofree char *back_path = sandbox_path(sandbox, "c.json"), *read = NULL;
    g_assert_true(g_file_get_contents(back_path, &read, NULL, NULL));
    g_assert_cmpstr(read, ==, text);
  }
  g_assert_cmpuint(n_refused, >=, 6);
}

/* ---- tuning and verdicts -----------------------------------------------------------------------
 */

static void
test_assess_before_tune_gives_scores_and_no_verdict(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) run =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  JsonArray *verdicts = array_at(root_of(run), "verdicts");
  g_assert_cmpuint(json_array_get_length(verdicts), ==, 400);
  for (guint i = 0; i < 400; i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    assert_members(
        v, "scan_id,patient_id,risk,risk_raw,risk_interval,score,threshold,verdict,reasons,reason_"
           "details,state,out_of_date_because");
    g_assert_cmpstr(string_at(v, "verdict"), ==, "not_tuned");
    g_assert_true(is_null_at(v, "threshold"));
    g_assert_true(number_at(v, "score") >= 0 && number_at(v, "score") <= 1);
    g_assert_cmpuint(json_array_get_length(array_at(v, "reasons")), >, 0);
  }
  g_autoptr(Run) no_such = run_json(sandbox, 1, "assess", "s", "--reveal", "a test", "--cohort",
                                    "sim", "--coverage", "0.9", NULL);
  assert_says(no_such->err, "0.9");
}

static void
test_tune_keeps_one_threshold_a_coverage(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) scored = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                   "sim", "--split", "tune", NULL);
  g_autoptr(GArray) scans = scans_of(sandbox, root_of(scored));
  g_assert_cmpuint(scans->len, ==, 300);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9,0.55,0.5", NULL);
  static const struct {
    double coverage;
    guint k; /* ceil(coverage x 300), exact: 0.55 x 300 is 165 */
  } expected[] = {{0.9, 270}, {0.55, 165}, {0.5, 150}};
  JsonArray *thresholds = array_at(root_of(tune), "thresholds");
  g_assert_cmpuint(json_array_get_length(thresholds), ==, 3);
  for (guint i = 0; i < 3; i++) {
    JsonObject *t = json_array_get_object_element(thresholds, i);
    assert_holds(t, "coverage,threshold,realised,n_scans,n_patients,guarantee");
    g_assert_cmpfloat(number_at(t, "coverage"), ==, expected[i].coverage);
    g_assert_cmpfloat(number_at(t, "threshold"), ==, kth_largest(scans, expected[i].k));
    g_assert_cmpfloat(number_at(t, "realised"), >=, expected[i].coverage);
    assert_says(string_at(t, "guarantee"), "or scans drawn like the tuning split");
  }
  /* The coverage that was named first is in use. */
  g_autoptr(Run) in_use = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
  g_assert_cmpfloat(number_at(root_of(in_use), "requested_coverage"), ==, 0.9);
  /* 0.9 again: replaced, and the last is current. */
  g_autoptr(Run) repeat = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--split",
                                   "validation", "--coverage", "0.9", NULL);
  g_autoptr(Run) told = run_demur(sandbox, "selector", "show", "s", NULL);
  assert_says(told->out, ", 1 model, kept epoch");
  g_autoptr(Run) show = run_json(sandbox, 0, "selector", "show", "s", NULL);
  thresholds = array_at(root_of(show), "thresholds");
  g_assert_cmpuint(json_array_get_length(thresholds), ==, 3);
  for (guint i = 0; i < 3; i++) {
    JsonObject *t = json_array_get_object_element(thresholds, i);
    const gboolean is_last = number_at(t, "coverage") == 0.9;
    g_assert_true(bool_at(t, "current") == is_last);
    g_assert_cmpstr(string_at(t, "split"), ==, is_last ? "validation" : "tune");
  }
  /* Without --coverage the current one is used, with it the one asked for. */
  g_autoptr(Run) current =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_assert_cmpfloat(number_at(root_of(current), "requested_coverage"), ==, 0.9);
  g_autoptr(Run) half = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim",
                                 "--coverage", "0.5", NULL);
  g_assert_cmpfloat(number_at(root_of(half), "requested_coverage"), ==, 0.5);
  g_assert_cmpfloat(number_at(root_of(half), "threshold"), ==, kth_largest(scans, 150));
}

/* P(Bin(n, p) <= k), summed by logarithms of the terms. */
static double
binomial_cdf(guint k, guint n, double p) {
  double sum = 0.0;
  for (guint i = 0; i <= k; i++)
    sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
               (n - i) * log1p(-p));
  return sum;
}

static void
test_guaranteed_coverage(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) run = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.8",
                                "--guarantee-coverage", "0.05", NULL);
  JsonObject *t = json_array_get_object_element(array_at(root_of(run), "thresholds"), 0);
  g_assert_cmpfloat(number_at(t, "delta"), ==, 0.05);
  /* One scan a patient is looked at: n is the number of patients. At least k = 1 + the 0.95
   * quantile of Bin(n, 0.8) of them are accepted. */
  const guint n = (guint)number_at(t, "n_patients");
  g_assert_cmpuint(n, <=, 300);
  guint quantile = 0;
  while (binomial_cdf(quantile, n, 0.8) < 0.95)
    quantile++;
  g_autoptr(Run) scored = run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort",
                                   "sim", "--split", "tune", NULL);
  g_autoptr(GHashTable) accepted = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) patients = g_hash_table_new(g_str_hash, g_str_equal);
  JsonArray *verdicts = array_at(root_of(scored), "verdicts");
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    g_hash_table_add(patients, (gpointer)string_at(v, "patient_id"));
    if (number_at(v, "score") >= number_at(t, "threshold"))
      g_hash_table_add(accepted, (gpointer)string_at(v, "patient_id"));
  }
  g_assert_cmpuint(g_hash_table_size(patients), ==, n);
  g_assert_cmpuint(g_hash_table_size(accepted), >=, quantile + 1);
  assert_says(string_at(t, "guarantee"), "or scans drawn like the tuning split");
  /* 0.999^300 = 0.74: even the lowest score of all does not reach it. Nothing of the run is kept.
   */
  g_autoptr(Run) before = run_json(sandbox, 0, "selector", "show", "s", NULL);
  g_autoptr(Run) refused = run_json(sandbox, 1, "tune", "s", "--cohort", "sim", "--coverage",
                                    "0.5,0.999", "--guarantee-coverage", "0.05", NULL);
  assert_says(refused->err, "cannot be guaranteed with n = ");
  g_autoptr(Run) after = run_json(sandbox, 0, "selector", "show", "s", NULL);
  g_assert_cmpstr(before->out, ==, after->out);
}

static void
test_verdicts_count_to_the_realised_coverage(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) run =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  JsonObject *root = root_of(run);
  const double threshold = number_at(root, "threshold");
  JsonArray *verdicts = array_at(root, "verdicts");
  guint n_accepted = 0;
  for (guint i = 0; i < json_array_get_length(verdicts); i++) {
    JsonObject *v = json_array_get_object_element(verdicts, i);
    const gboolean accepted = strcmp(string_at(v, "verdict"), "accepted") == 0;
    g_assert_true(accepted || strcmp(string_at(v, "verdict"), "red_flag") == 0);
    g_assert_cmpfloat(number_at(v, "threshold"), ==, threshold);
    g_assert_true(accepted == (number_at(v, "score") >= threshold));
    JsonArray *reasons = array_at(v, "reasons");
    g_assert_true((json_array_get_length(reasons) == 0) == accepted);
    for (guint r = 0; r < json_array_get_length(reasons); r++)
      g_assert_cmpuint(strlen(json_array_get_string_element(reasons, r)), >, 10);
    n_accepted += accepted ? 1 : 0;
  }
  g_assert_cmpuint(n_accepted, >, 0);
  g_assert_cmpuint(n_accepted, <, 400);
  g_assert_cmpfloat(number_at(root, "coverage"), ==, n_accepted / 400.0);
  /* The same scans by the evaluation's own count. */
  g_autoptr(Run) evaluate = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                     "--resamples", "1", "--bootstrap", "20", NULL);
  JsonArray *at =
      array_at(find_in(array_at(root_of(evaluate), "methods"), "name", "selector:s"), "at");
  gboolean found = FALSE;
  for (guint i = 0; i < json_array_get_length(at); i++) {
    JsonObject *a = json_array_get_object_element(at, i);
    if (strcmp(string_at(a, "threshold_from"), "tune") != 0 || number_at(a, "coverage") != 0.9)
      continue;
    found = TRUE;
    demur_assert_close(number_at(a, "realised"), n_accepted / 400.0, 1e-12, 0);
  }
  g_assert_true(found);
  /* For people: no risk that is held back is printed. */
  g_autoptr(Run) plain = run_demur(sandbox, "assess", "s", "--cohort", "sim", NULL);
  assert_status(plain, 0);
  g_auto(GStrv) lines = g_strsplit(plain->out, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix(*line, "! red_flag"))
      g_assert_nonnull(strstr(*line, "risk held back"));
  assert_says(plain->out, "simulated");
}

/* ---- evaluation --------------------------------------------------------------------------------
 */

/* counted: of some sets of scans alone (docs/privacy.md), whose share is told; the area is rounded. */
static void
check_curve(JsonArray *curve, JsonObject *auc, gboolean counted) {
  g_assert_cmpuint(json_array_get_length(curve), ==, 50);
  double sum = 0.0, last_x = 0.0, last_y = 0.0;
  guint n_told = 0;
  for (guint i = 0; i < 50; i++) {
    JsonObject *p = json_array_get_object_element(curve, i);
    assert_members(p, "coverage,realised,point,mean,sd,debiased,noise_floor,n_bins");
    const double x = number_at(p, "coverage"),
                 y = is_null_at(p, "point") ? NAN : number_at(p, "point");
    demur_assert_close(x, 0.05 + 0.95 * i / 49, 1e-12, 0);
    g_assert_cmpfloat(number_at(p, "realised"), >=, x - (counted ? 0.01 : 1e-12));
    n_told += isfinite(y) ? 1 : 0;
    if (i > 0)
      sum += (x - last_x) * (y + last_y) / 2;
    last_x = x;
    last_y = y;
  }
  g_assert_cmpuint(n_told, >, counted ? 0 : 38); /* under 100 scans: errors of 3 bins or fewer */
  if (counted) /* in steps of 10 of 400 scans at one of 50 coverages */
    demur_assert_close(number_at(auc, "point"), round(number_at(auc, "point") * 2e3) / 2e3, 1e-9,
                       0);
  else if (n_told == 50)
    demur_assert_close(number_at(auc, "point"), sum / 0.95, 1e-9, 1e-12);
}

static void
test_evaluate_prints_what_the_contract_says(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                "--bootstrap", "200", NULL);
  JsonObject *root = root_of(run);
  assert_holds(root, "cohort,split,seed,n_scans,n_sites,prevalence,trials,coverages,methods,"
                     "comparisons");
  g_assert_cmpstr(string_at(root, "cohort"), ==, "sim");
  g_assert_cmpstr(string_at(root, "split"), ==, "test");
  g_assert_cmpfloat(number_at(root, "seed"), ==, 1);
  g_assert_cmpfloat(number_at(root, "n_scans"), ==, 400);
  g_assert_cmpfloat(number_at(root, "n_sites"), ==, 1);
  g_assert_true(bool_at(root, "simulated"));
  g_assert_false(bool_at(root, "in_sample"));
  g_assert_true(number_at(root, "prevalence") > 0 && number_at(root, "prevalence") < 1);
  assert_members(object_at(root, "trials"), "models,resamples,resample_unit");
  g_assert_cmpfloat(number_at(object_at(root, "trials"), "models"), ==, 1);
  g_assert_cmpfloat(number_at(object_at(root, "trials"), "resamples"), ==, 5);
  g_assert_cmpstr(string_at(object_at(root, "trials"), "resample_unit"), ==, "scan");
  g_assert_cmpuint(json_array_get_length(array_at(root, "coverages")), ==, 50);
  JsonArray *methods = array_at(root, "methods");
  static const char *const names[] = {"selector:s", "full",  "confidence", "entropy", "knn",
                                      "kde",        "ocsvm", "iforest",    "lof"};
  static const char *const measures[] = {"sbce2",    "sbceinf",    "brier",
                                         "accuracy", "site_error", "smmce"};
  for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
    g_test_message("%s", names[k]);
    JsonObject *method = find_in(methods, "name", names[k]);
    g_assert_nonnull(method);
    assert_holds(method, "name,risk,auc,curve,at");
    g_assert_cmpstr(string_at(method, "risk"), ==, "raw");
    JsonObject *auc = object_at(method, "auc"), *curve = object_at(method, "curve");
    for (size_t m = 0; m < G_N_ELEMENTS(measures); m++) {
      assert_holds(object_at(auc, measures[m]), "point,mean,sd");
      const gboolean counted =
          k != 1 && (strcmp(measures[m], "brier") == 0 || strcmp(measures[m], "accuracy") == 0);
      if (strcmp(measures[m], "site_error") != 0) /* its AUC is over 20 coverages, of the square */
        check_curve(array_at(curve, measures[m]), object_at(auc, measures[m]), counted);
      g_assert_true(isfinite(number_at(object_at(auc, measures[m]), "point")) ||
                    strcmp(measures[m], "site_error") == 0);
    }
    JsonArray *at = array_at(method, "at");
    const gboolean is_selector = k == 0;
    g_assert_cmpuint(json_array_get_length(at), ==, is_selector ? 5 : 3);
    static const double by_split[] = {0.9, 0.7, 0.5};
    for (guint i = 0; i < json_array_get_length(at); i++) {
      JsonObject *a = json_array_get_object_element(at, i);
      assert_holds(a, "coverage,threshold_from,realised,n_accepted,n_counted,sbce2,sbceinf,brier,"
                      "accuracy,rejected_by_label");
      g_assert_cmpstr(string_at(a, "threshold_from"), ==, i < 3 ? "split" : "tune");
      if (i < 3)
        g_assert_cmpfloat(number_at(a, "coverage"), ==, by_split[i]);
      JsonArray *labels = array_at(a, "rejected_by_label");
      g_assert_cmpuint(json_array_get_length(labels), ==, 2);
      for (guint l = 0; l < 2; l++)
        assert_holds(json_array_get_object_element(labels, l),
                     "label,share_of_rejected,share_of_all,rate");
    }
  }
  JsonArray *comparisons = array_at(root, "comparisons");
  g_assert_cmpuint(json_array_get_length(comparisons), >, 0);
  JsonObject *to_confidence = NULL;
  for (guint i = 0; i < json_array_get_length(comparisons); i++) {
    JsonObject *c = json_array_get_object_element(comparisons, i);
    assert_members(c, "method,against,risk,measure,difference,interval,level,unit,n_units,"
                      "correction,verdict");
    g_assert_cmpfloat(number_at(c, "level"), ==, 0.95);
    static const char *const verdicts[] = {"better", "no difference shown", "worse",
                                           "cannot be decided"};
    g_assert_true(g_strv_contains(
        (const char *const[]){verdicts[0], verdicts[1], verdicts[2], verdicts[3], NULL},
        string_at(c, "verdict")));
    if (strcmp(string_at(c, "method"), "selector:s") == 0 &&
        strcmp(string_at(c, "against"), "confidence") == 0 &&
        strcmp(string_at(c, "measure"), "sbce2_auc") == 0)
      to_confidence = c;
  }
  /* The headline: the difference of the point values. */
  g_assert_nonnull(to_confidence);
  const double mine = number_at(
      object_at(object_at(find_in(methods, "name", "selector:s"), "auc"), "sbce2"), "point");
  const double theirs = number_at(
      object_at(object_at(find_in(methods, "name", "confidence"), "auc"), "sbce2"), "point");
  demur_assert_close(number_at(to_confidence, "difference"), mine - theirs, 1e-9, 1e-12);
}

/* The AUC of what counts outcomes is of all 50 coverages, of the scans that each accepts, whatever of the
 * curve is told: within the half of a step that it is rounded by. */
static void
check_counted_auc(const GArray *scans, JsonObject *auc) {
  const double step = 10.0 / (400.0 * 50.0);
  double brier = 0.0, accuracy = 0.0;
  Measured last = {0};
  for (guint i = 0; i < 50; i++) {
    const guint k = (guint)ceil((0.05 + 0.95 * i / 49) * 400.0 - 1e-9);
    const Measured m = measure(scans, kth_largest(scans, k));
    brier += i > 0 ? (m.brier + last.brier) / (2.0 * 49.0) : 0.0;
    accuracy += i > 0 ? (m.accuracy + last.accuracy) / (2.0 * 49.0) : 0.0;
    last = m;
  }
  g_test_message("Brier %g of %g, accuracy %g of %g", number_at(object_at(auc, "brier"), "point"),
                 brier, number_at(object_at(auc, "accuracy"), "point"), accuracy);
  demur_assert_close(number_at(object_at(auc, "brier"), "point"), brier, 0, step / 2 + 1e-9);
  demur_assert_close(number_at(object_at(auc, "accuracy"), "point"), accuracy, 0, step / 2 + 1e-9);
}

/* Accepted by hand, binned by hand. */
static void
test_evaluate_agrees_with_scores_of_assess(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) assessed =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(GArray) scans = scans_of(sandbox, root_of(assessed));
  g_assert_cmpuint(scans->len, ==, 400);
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                "--resamples", "1", "--bootstrap", "20", NULL);
  JsonArray *methods = array_at(root_of(run), "methods");
  JsonArray *at = array_at(find_in(methods, "name", "selector:s"), "at");
  check_counted_auc(scans, object_at(find_in(methods, "name", "selector:s"), "auc"));
  static const struct {
    double coverage;
    guint k;
  } rows[] = {{0.9, 360}, {0.7, 280}, {0.5, 200}};
  guint n_told = 0;
  for (guint i = 0; i < 3; i++) {
    JsonObject *a = json_array_get_object_element(at, i);
    const double threshold = kth_largest(scans, rows[i].k);
    const Measured m = measure(scans, threshold);
    g_assert_cmpfloat(number_at(a, "coverage"), ==, rows[i].coverage);
    demur_assert_close(number_at(a, "realised"), m.n / 400.0, 1e-12, 0);
    demur_assert_close(number_at(a, "sbce2"), m.sbce2, 1e-9, 1e-12);
    demur_assert_close(number_at(a, "sbceinf"), m.sbceinf, 1e-9, 1e-12);
    g_assert_cmpfloat(number_at(a, "n_bins"), ==, m.n_bins);
    if (is_null_at(a, "n_counted")) { /* what counts outcomes would tell of few (docs/privacy.md) */
      g_assert_true(is_null_at(a, "brier") && is_null_at(a, "accuracy"));
      continue;
    }
    n_told++;
    const double of = kth_largest(scans, (guint)number_at(a, "n_counted"));
    const Measured counted = measure(scans, of);
    demur_assert_close(number_at(a, "brier"), counted.brier, 1e-9, 1e-12);
    demur_assert_close(number_at(a, "accuracy"), counted.accuracy, 1e-9, 1e-12);
    double n_rejected = 0, by_label[2] = {0, 0}, all[2] = {0, 0};
    for (guint s = 0; s < scans->len; s++) {
      const Scan *scan = &g_array_index(scans, Scan, s);
      all[scan->label]++;
      if (scan->score < of) {
        n_rejected++;
        by_label[scan->label]++;
      }
    }
    for (guint l = 0; l < 2; l++) {
      JsonObject *r = json_array_get_object_element(array_at(a, "rejected_by_label"), l);
      g_assert_cmpfloat(number_at(r, "label"), ==, l);
      demur_assert_close(number_at(r, "share_of_rejected"), by_label[l] / n_rejected, 1e-12, 0);
      demur_assert_close(number_at(r, "share_of_all"), all[l] / 400.0, 1e-12, 0);
      demur_assert_close(number_at(r, "rate"), by_label[l] / all[l], 1e-12, 0);
    }
  }
  g_assert_cmpuint(n_told, >, 0);
  /* "full" refuses nobody, at every coverage. */
  const Measured everyone = measure(scans, -INFINITY);
  JsonArray *full = array_at(object_at(find_in(methods, "name", "full"), "curve"), "sbce2");
  for (guint i = 0; i < 50; i++) {
    JsonObject *p = json_array_get_object_element(full, i);
    demur_assert_close(number_at(p, "point"), everyone.sbce2, 1e-9, 1e-12);
    g_assert_cmpfloat(number_at(p, "realised"), ==, 1.0);
  }
}

static void
test_two_models_make_ten_trials(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) train = train_small(sandbox, "two", "sim", "--models", "2", NULL);
  assert_status(train, 0);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(train), "networks")), ==, 2);
  g_assert_cmpfloat(number_at(root_of(train), "updates"), ==, 48);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "two", "--cohort", "sim", "--coverage", "0.9", NULL);
  JsonObject *t = json_array_get_object_element(array_at(root_of(tune), "thresholds"), 0);
  g_assert_cmpuint(json_array_get_length(array_at(t, "thresholds")), ==, 2);
  g_autoptr(Run) run = run_json(sandbox, 0, "evaluate", "--selector", "two", "--selector", "s",
                                "--cohort", "sim", "--bootstrap", "20", NULL);
  /* What is named twice would stand, and be corrected for, twice. */
  g_autoptr(Run) twice = run_demur(sandbox, "evaluate", "--selector", "two", "--selector", "two",
                                   "--cohort", "sim", NULL),
                 again = run_demur(sandbox, "tune", "two", "--cohort", "sim", "--coverage",
                                   "0.9,0.5,0.90", NULL);
  assert_status(twice, 2);
  assert_says(twice->err, "selector two is named twice");
  assert_status(again, 2);
  assert_says(again->err, "coverage 0.9 is named twice");
  JsonObject *trials = object_at(root_of(run), "trials");
  g_assert_cmpfloat(number_at(trials, "models"), ==, 2);
  g_assert_cmpfloat(number_at(trials, "resamples"), ==, 5);
  JsonArray *methods = array_at(root_of(run), "methods");
  g_assert_cmpfloat(number_at(find_in(methods, "name", "selector:two"), "models"), ==, 2);
  g_assert_cmpfloat(number_at(find_in(methods, "name", "selector:s"), "models"), ==, 1);
  g_assert_cmpfloat(number_at(find_in(methods, "name", "confidence"), "models"), ==, 1);
  /* Model 1 of "two" is the model of "s": the same stream. */
  g_autoptr(Run) a =
      run_json(sandbox, 0, "assess", "two", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(Run) b =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(GArray) scans_a = scans_of(sandbox, root_of(a)),
                    scans_b = scans_of(sandbox, root_of(b));
  for (guint i = 0; i < scans_a->len; i++)
    g_assert_cmpfloat(g_array_index(scans_a, Scan, i).score, ==,
                      g_array_index(scans_b, Scan, i).score);
}

/* ---- refusals -----------------------------------------------------------------------------------
 */

static void
test_what_a_selector_has_seen_is_refused(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  static const char *const seen[] = {"selector_train", "validation", "tune"};
  for (size_t i = 0; i < G_N_ELEMENTS(seen); i++) {
    g_autoptr(Run) evaluate = run_json(sandbox, 1, "evaluate", "--selector", "s", "--cohort", "sim",
                                       "--split", seen[i], "--bootstrap", "20", NULL);
    assert_says(evaluate->err, "--in-sample");
    assert_says(evaluate->err, seen[i]);
    g_autoptr(Run) report = run_json(sandbox, 1, "report", "a.pdf", "--selector", "s", "--cohort",
                                     "sim", "--split", seen[i], "--bootstrap", "20", NULL);
    assert_says(report->err, "--in-sample");
    g_autofree char *pdf = sandbox_path(sandbox, "a.pdf");
    g_assert_false(g_file_test(pdf, G_FILE_TEST_EXISTS));
    g_autoptr(Run) allowed =
        run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim", "--split", seen[i],
                 "--in-sample", "--bootstrap", "20", "--resamples", "1", NULL);
    g_assert_true(bool_at(root_of(allowed), "in_sample"));
    g_autoptr(Run) plain =
        run_demur(sandbox, "evaluate", "--selector", "s", "--cohort", "sim", "--split", seen[i],
                  "--in-sample", "--bootstrap", "20", "--resamples", "1", NULL);
    assert_says(plain->out, "IN-SAMPLE");
    assert_says(plain->out, "sd over 1 model x 1 resample of the scan)");
  }
  /* The same patients under another cohort's name are found too. */
  g_autoptr(Run) out = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "sim", NULL);
  g_autoptr(Run) in = run_json(sandbox, 0, "cohort", "import", "other", "sim.csv", "--model",
                               string_at(root_of(show), "model"), NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(seen); i++) {
    g_autoptr(Run) evaluate = run_json(sandbox, 1, "evaluate", "--selector", "s", "--cohort",
                                       "other", "--split", seen[i], "--bootstrap", "20", NULL);
    assert_says(evaluate->err, "--in-sample");
  }
}

static void
test_scores_of_another_model_are_refused(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  g_autoptr(Run) out = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
  g_autoptr(Run) in =
      run_json(sandbox, 0, "cohort", "import", "other", "sim.csv", "--model", "another", NULL);
  static const char *const lines[] = {"tune s --cohort other --coverage 0.9 --json",
                                      "assess s --cohort other --json",
                                      "evaluate --selector s --cohort other --json",
                                      "report r.pdf --selector s --cohort other --json"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    assert_status(run, 1);
    assert_says(run->err, "another");
    assert_members(root_of(run), "error");
  }
  /* Another embedding width, the model's name the same. */
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "sim", NULL);
  g_autofree char *narrow = sandbox_write(
      sandbox, "narrow.csv",
      "patient_id,site,split,label,risk,emb_0\nq1,A,test,0,0.2,1\nq2,A,test,1,0.3,2\n", -1);
  g_autoptr(Run) narrow_in = run_json(sandbox, 0, "cohort", "import", "narrow", narrow, "--model",
                                      string_at(root_of(show), "model"), NULL);
  g_autoptr(Run) width =
      run_json(sandbox, 1, "assess", "s", "--reveal", "a test", "--cohort", "narrow", NULL);
  assert_says(width->err, "width");
}

static void
test_a_missing_split_lists_the_splits(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  static const char *const lines[] = {
      "train x --cohort sim --split nowhere --json",
      "train x --cohort sim --reference-split nowhere --json",
      "train x --cohort sim --validation-split nowhere --json",
      "tune s --cohort sim --split nowhere --coverage 0.9 --json",
      "assess s --cohort sim --split nowhere --json",
      "evaluate --selector s --cohort sim --split nowhere --json",
      "report r.pdf --selector s --cohort sim --split nowhere --json"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    assert_status(run, 1);
    static const char *const splits[] = {"base_train", "selector_train", "validation", "tune",
                                         "test"};
    for (size_t s = 0; s < G_N_ELEMENTS(splits); s++)
      assert_says(run->err, splits[s]);
  }
  /* A default that is not there is not "all". */
  g_autofree char *table = sandbox_write(
      sandbox, "t.csv",
      "patient_id,site,split,label,risk\nq1,A,elsewhere,0,0.2\nq2,A,elsewhere,1,0.3\n", -1);
  g_autoptr(Run) in = run_json(sandbox, 0, "cohort", "import", "t", table, NULL);
  g_autoptr(Run) train = run_json(sandbox, 1, "train", "x", "--cohort", "t", NULL);
  assert_says(train->err, "elsewhere");
}

static void
test_selectors_of_other_references_are_not_evaluated_together(void) {
  g_autoptr(Sandbox) sandbox = trained();
  g_autoptr(Run) train =
      train_small(sandbox, "other", "sim", "--reference-split", "validation", NULL);
  assert_status(train, 0);
  g_autoptr(Run) run = run_json(sandbox, 1, "evaluate", "--selector", "s", "--selector", "other",
                                "--cohort", "sim", NULL);
  assert_says(run->err, "together");
}

/* ---- report and verify
 * --------------------------------------------------------------------------- */

static void
test_report_is_the_same_bytes_twice(void) {
  g_autoptr(Sandbox) sandbox = tuned();
  static const char *const names[] = {"a.pdf", "b.pdf"};
  g_auto(GStrv) bytes = g_new0(char *, 5);
  gsize lengths[4];
  for (size_t i = 0; i < 2; i++) {
    g_autoptr(Run) run =
        run_json(sandbox, 0, "report", names[i], "--selector", "s", "--cohort", "sim",
                 "--bootstrap", "100", "--threads", i == 0 ? "1" : "2", NULL);
    assert_holds(root_of(run), "pdf,json,simulated,seed");
    g_autofree char *pdf = sandbox_path(sandbox, names[i]);
    g_autofree char *json = sandbox_path(sandbox, i == 0 ? "a.json" : "b.json");
    g_assert_true(g_file_get_contents(pdf, &bytes[i], &lengths[i], NULL));
    g_assert_true(g_file_get_contents(json, &bytes[2 + i], &lengths[2 + i], NULL));
  }
  g_assert_true(g_str_has_prefix(bytes[0], "%PDF-"));
  for (size_t i = 0; i < 4; i += 2) {
    g_assert_cmpuint(lengths[i], ==, lengths[i + 1]);
    g_assert_true(memcmp(bytes[i], bytes[i + 1], lengths[i]) == 0);
  }
  g_autoptr(JsonNode) numbers = json_from_string(bytes[2], NULL);
  g_assert_nonnull(numbers);
  /* The report's numbers are the evaluation's. */
  g_autoptr(Run) evaluate = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                     "--bootstrap", "100", NULL);
  const double point = number_at(
      object_at(
          object_at(find_in(array_at(root_of(evaluate), "methods"), "name", "selector:s"), "auc"),
          "sbce2"),
      "point");
  JsonObject *root = json_node_get_object(numbers);
  JsonObject *evaluation =
      json_object_has_member(root, "methods") ? root : object_at(root, "evaluation");
  demur_assert_close(
      number_at(object_at(object_at(find_in(array_at(evaluation, "methods"), "name", "selector:s"),
                                    "auc"),
                          "sbce2"),
                "point"),
      point, 0, 0);
  assert_says(bytes[2], "imulated");
  /* A place that can't be written: exit 1, nothing half there. */
  g_autoptr(Run) nowhere = run_json(sandbox, 1, "report", "no/such/folder/c.pdf", "--selector", "s",
                                    "--cohort", "sim", "--bootstrap", "20", NULL);
  g_autoptr(Run) no_pdf = run_demur(sandbox, "report", "c.txt", "--selector", "s", "--cohort",
                                    "sim", "--bootstrap", "20", NULL);
  g_assert_cmpint(no_pdf->status, !=, 0);
}

static void
change(const Sandbox *sandbox, const char *sql) {
  g_assert_cmpint(demur_test_store_run(sandbox->workspace, sql), >, 0);
}

static void
assert_found(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 1, "verify", NULL);
  g_assert_false(bool_at(root_of(run), "ok"));
  JsonArray *findings = array_at(root_of(run), "findings");
  guint n_wrong = 0;
  for (guint i = 0; i < json_array_get_length(findings); i++) {
    JsonObject *finding = json_array_get_object_element(findings, i);
    assert_members(finding, "ok,subject,message");
    n_wrong += bool_at(finding, "ok") ? 0 : 1;
  }
  g_assert_cmpuint(n_wrong, >, 0);
  g_autoptr(Run) plain = run_demur(sandbox, "verify", NULL);
  assert_status(plain, 1);
  assert_says(plain->out, "damaged");
}

static void
test_verify_finds_a_changed_byte(void) {
  g_autoptr(Sandbox) whole = tuned();
  g_autoptr(Run) assess =
      run_json(whole, 0, "assess", "s", "--reveal", "a test", "--cohort", "sim", NULL);
  g_autoptr(Run) sound = run_json(whole, 0, "verify", NULL);
  g_assert_true(bool_at(root_of(sound), "ok"));
  g_assert_cmpfloat(number_at(root_of(sound), "n_cohorts"), ==, 1);
  g_assert_cmpfloat(number_at(root_of(sound), "n_selectors"), ==, 1);
  g_assert_cmpfloat(number_at(root_of(sound), "n_verdicts"), ==, 400);
  static const char *const columns[] = {"embedding", "label", "risk"};
  for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
    g_test_message("column %s", columns[i]);
    g_autoptr(Sandbox) sandbox = tuned();
    g_autofree char *where = g_strdup_printf("name = '%s'", columns[i]);
    demur_test_store_change_byte(sandbox->workspace, "cohort_column", "data", where);
    assert_found(sandbox);
  }
  static const char *const changes[] = {
      "UPDATE selector SET document = replace(document, 'demur-selector', 'demur-selectar')",
      "UPDATE selector SET digest = 'a' || substr(digest, 2) WHERE substr(digest, 1, 1) <> 'a'",
      "DELETE FROM cohort_column WHERE name = 'risk'",
      "UPDATE cohort SET n_scans = n_scans + 1",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_test_message("%s", changes[i]);
    g_autoptr(Sandbox) sandbox = tuned();
    change(sandbox, changes[i]);
    assert_found(sandbox);
  }
  /* No workspace to verify: said, and none made. */
  g_autoptr(Sandbox) empty = sandbox_new();
  g_autoptr(Run) nothing = run_json(empty, 1, "verify", NULL);
  g_assert_false(demur_test_store_exists(empty->workspace));
}

/* Verdicts come of the document that was saved, and of no other: a byte of its reference scans, a number, a
 * blank behind its end, or another document in its place. The digest beside it, which is looked at first, is no way around. */
static void
test_a_changed_document_gives_no_verdict(void) {
  g_autofree char *of_reference =
      g_strdup_printf("UPDATE selector SET document = replace(document, substr(document, "
                      "%s(document, '\"reference\": \"') + 100, 12), 'AAAABBBBCCCC')",
                      demur_test_store_position());
  const char *const changes[] = {
      of_reference,
      "UPDATE selector SET document = replace(document, '\"n_classes\": 2', '\"n_classes\": 3')",
      "UPDATE selector SET document = document || ' '",
      "UPDATE selector SET document = '{}'",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    g_test_message("%s", changes[i]);
    g_autoptr(Sandbox) sandbox = tuned();
    change(sandbox, changes[i]);
    g_autoptr(Run) run = run_json(sandbox, 1, "assess", "s", "--cohort", "sim", NULL);
    assert_says(run->err, "its document is not what was saved");
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func("/commands/selector/" name, function)
  TEST("train", test_train_prints_what_the_contract_says);
  TEST("as-published", test_as_published_yields_to_explicit_options);
  TEST("file", test_selector_file_goes_out_and_in);
  TEST("changed-file", test_changed_selector_file_is_refused);
  TEST("file-names-nobody", test_exported_file_names_nobody);
  TEST("assess-before-tune", test_assess_before_tune_gives_scores_and_no_verdict);
  TEST("tune", test_tune_keeps_one_threshold_a_coverage);
  TEST("guarantee", test_guaranteed_coverage);
  TEST("verdicts", test_verdicts_count_to_the_realised_coverage);
  TEST("evaluate", test_evaluate_prints_what_the_contract_says);
  TEST("evaluate-by-hand", test_evaluate_agrees_with_scores_of_assess);
  TEST("models", test_two_models_make_ten_trials);
  TEST("in-sample", test_what_a_selector_has_seen_is_refused);
  TEST("another-model", test_scores_of_another_model_are_refused);
  TEST("missing-split", test_a_missing_split_lists_the_splits);
  TEST("other-reference", test_selectors_of_other_references_are_not_evaluated_together);
  TEST("report", test_report_is_the_same_bytes_twice);
  TEST("changed-document", test_a_changed_document_gives_no_verdict);
  TEST("verify", test_verify_finds_a_changed_byte);
  const int status = g_test_run();
  sandbox_free(trained_base);
  sandbox_free(tuned_base);
  g_free(trained_document);
  return status;
}
