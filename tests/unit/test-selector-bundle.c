/* A family's file: the same selectors come back, and one that was changed, or from which a horizon is
 * gone, is refused with its place, though every digest in it fit. Right values: the documents of the
 * members by themselves; the digest by GChecksum. */
#include <string.h>

#include "base/error.h"
#include "selector/selector-bundle.h"
#include "selector/selector-private.h"
#include "selector-fixture.h"

#define N 3
static const int years[N] = {1, 3, 6};
static const char *const names[N] = {"f-1y", "f-3y", "f-6y"};
static DemurSelector *members[N];

/* A copy of the trained one that says it is of this horizon, family and model. */
static DemurSelector *
renamed(const DemurSelector *trained, double horizon, const char *family, const char *model) {
  g_autofree char *json = demur_selector_to_json(trained);
  DemurSelector *copy = demur_selector_from_json(json, -1, "copy", NULL);
  copy->horizon_years = horizon;
  g_free(copy->settings->family);
  copy->settings->family = g_strdup(family);
  g_free(copy->model);
  copy->model = g_strdup(model);
  demur_selector_seal(copy);
  return copy;
}

static char *
document_of_all(void) {
  g_auto(DemurSelectorBundle) bundle = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_selector_bundle_of_family(members, names, N, &bundle, &error));
  return demur_selector_bundle_to_json(&bundle);
}

static void
a_family_comes_back_whole(void) {
  g_autofree char *json = document_of_all();
  g_auto(DemurSelectorBundle) read = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_selector_bundle_from_json(json, -1, "f.json", &read, &error));
  g_assert_no_error(error);
  g_assert_cmpstr(read.family, ==, "f");
  g_assert_cmpuint(read.n, ==, N);
  for (size_t i = 0; i < N; i++) {
    g_autofree char *right = demur_selector_to_json(members[i]),
                    *ours = demur_selector_to_json(read.members[i]);
    g_assert_cmpint(read.years[i], ==, years[i]);
    g_assert_cmpstr(ours, ==, right);
    g_assert_nonnull(strstr(json, demur_selector_digest(members[i])));
  }
  g_autofree char *again = demur_selector_bundle_to_json(&read);
  g_assert_cmpstr(again, ==, json);
  /* The digest, by another hand: of the document without its line. */
  const char *line = strstr(json, " \"digest\": "), *rest = strchr(line, '\n') + 1;
  g_autofree char *head = g_strndup(json, (gsize)(line - json)),
                  *content = g_strconcat(head, rest, NULL),
                  *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, content, -1);
  g_assert_cmpstr(read.digest, ==, digest);
}

/* The file of one selector is the document that it always was. */
static void
one_selector_is_its_document(void) {
  g_autofree char *right = demur_selector_to_json(members[1]);
  g_auto(DemurSelectorBundle) bundle = {0}, read = {0};
  demur_selector_bundle_of_one(members[1], &bundle);
  g_autofree char *json = demur_selector_bundle_to_json(&bundle);
  g_assert_cmpstr(json, ==, right);
  g_assert_true(demur_selector_bundle_from_json(json, -1, "s.json", &read, NULL));
  g_assert_null(read.family);
  g_assert_cmpuint(read.n, ==, 1);
  g_assert_cmpstr(read.digest, ==, demur_selector_digest(members[1]));
}

static void
others_are_no_family(void) {
  g_autoptr(DemurSelector)
      other_family = renamed(members[0], 3, "g", "m"),
      alone = renamed(members[0], 3, NULL, "m"), other_model = renamed(members[0], 3, "f", "n"),
      half = renamed(members[0], 2.5, "f", "m"), unknown = renamed(members[0], 0, "f", "m"),
      twice = renamed(members[0], 1, "f", "m");
  const struct {
    DemurSelector *second;
    const char *says;
  } rows[] = {{other_family, "f-3y was trained as family g, not f"},
              {alone, "f-3y is of no family"},
              {other_model, "f-3y reads the scores of model n"},
              {half, "f-3y is of a risk within 2.5 years"},
              {unknown, "f-3y is of a risk within 0 years"},
              {twice, "f-3y is of horizon 1, the one before it of 1"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    DemurSelector *const all[] = {members[0], rows[i].second};
    g_auto(DemurSelectorBundle) bundle = {0};
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_selector_bundle_of_family(all, names, 2, &bundle, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
    if (strstr(error->message, rows[i].says) == NULL)
      g_error("%s, not %s", error->message, rows[i].says);
    g_assert_cmpuint(bundle.n, ==, 0);
  }
}

/* A family's document by hand, its digest right: of these members [n] at the places. */
static char *
signed_document(const char *family, const char *model, const char *horizons,
                DemurSelector *const *of, size_t n) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "format", "demur-selector-family");
  demur_json_int(json, "version", 1);
  demur_json_string(json, "family", family);
  demur_json_string(json, "model", model);
  demur_json_begin_array(json, "horizons");
  g_auto(GStrv) parts = g_strsplit(horizons, ",", -1);
  for (char **part = parts; *part != NULL; part++)
    demur_json_int(json, NULL, g_ascii_strtoll(*part, NULL, 10));
  demur_json_end_array(json);
  demur_json_begin_array(json, "members");
  for (size_t i = 0; i < n; i++)
    demur_selector_write_json(of[i], json, NULL);
  demur_json_end_array(json);
  demur_json_end_object(json);
  g_autofree char *content = demur_json_finish(json),
                  *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, content, -1);
  return g_strdup_printf("{\n \"digest\": \"%s\",%s", digest, content + 1);
}

static void
assert_refused(const char *text, const char *says) {
  g_auto(DemurSelectorBundle) read = {0};
  g_autoptr(GError) error = NULL;
  if (demur_selector_bundle_from_json(text, -1, "f.json", &read, &error))
    g_error("was read, not refused by: %s", says);
  g_assert_true(error->domain == DEMUR_ERROR);
  if (strstr(error->message, says) == NULL)
    g_error("%s, not %s", error->message, says);
  g_assert_cmpuint(read.n, ==, 0);
}

static void
hostile_families_are_refused_with_their_place(void) {
  g_autofree char *right = document_of_all(),
                  *ours = signed_document("f", "m", "1,3,6", members, N);
  g_assert_cmpstr(ours, ==, right); /* the oracle of this test is right */
  DemurSelector *const one_gone[] = {members[0], members[2]},
                       *const swapped[] = {members[1], members[0], members[2]},
                       *const twice[] = {members[0], members[0], members[2]};
  const struct {
    const char *family, *model, *horizons;
    DemurSelector *const *of;
    size_t n;
    const char *says;
  } rows[] = {{"f", "m", "1,3,6", one_gone, 2, "horizon 3, which 'horizons' names, is lacking"},
              {"f", "m", "1,3,6", members, 2, "horizon 6, which 'horizons' names, is lacking"},
              {"f", "m", "1,3", members, N, "holds 3 selectors where 'horizons' names 2"},
              {"f", "m", "1,3,6", swapped, N, "members[0] is of horizon 3"},
              {"f", "m", "1,3,6", twice, N, "members[1] is of horizon 1"},
              {"g", "m", "1,3,6", members, N, "members[0] was trained as family f, not g"},
              {"f", "n", "1,3,6", members, N, "member 'model' is n"},
              {"f", "m", "1,1,6", members, N, "'horizons' is not a list of years"},
              {"f", "m", "0,3,6", members, N, "'horizons' is not a list of years"},
              {"f", "m", "1,2,3,4,5,6,7", members, N, "'horizons' is not a list of years"},
              {"f", "m", "", members, 0, "'horizons' is not a list of years"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text =
        signed_document(rows[i].family, rows[i].model, rows[i].horizons, rows[i].of, rows[i].n);
    assert_refused(text, rows[i].says);
  }
}

/* One line of the document in place of another. */
static char *
with(const char *document, const char *before, const char *after) {
  g_auto(GStrv) parts = g_strsplit(document, before, 2);
  g_assert_cmpuint(g_strv_length(parts), ==, 2);
  return g_strjoinv(after, parts);
}

static void
changed_families_are_refused(void) {
  g_autofree char *json = document_of_all();
  g_autofree char *digest =
      g_strdup_printf("\"digest\": \"%s\"", demur_selector_digest(members[1]));
  const struct {
    const char *before, *after, *says;
  } rows[] = {{"\"version\": 1,", "\"version\": 2,", "newer than this program's"},
              {"\"version\": 1,", "\"version\": 1.5,", "version"},
              {"\"horizons\": [", "\"horizon\": [", "horizons"},
              {"\"members\": [", "\"member\": [", "members"},
              {digest, "\"digest\": \"00\"", "members[1] was changed after it was written"},
              {"\"digest\": \"", "\"digest\": \"0", "it was changed after it was written"},
              {"\"format\": \"demur-selector-family\"", "\"format\": \"another\"", "format"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = with(json, rows[i].before, rows[i].after);
    assert_refused(text, rows[i].says);
  }
  const size_t length = strlen(json);
  for (size_t i = 1; i < 12; i++) {
    g_autofree char *text = g_strndup(json, length * i / 12);
    assert_refused(text, "f.json");
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(DemurCohort) cohort = fixture_cohort(3);
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 20, 60, 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(1);
  g_autoptr(DemurSelector) trained =
      demur_selector_train(cohort, settings, 5, parallel, NULL, NULL, &error);
  g_assert_no_error(error);
  for (size_t i = 0; i < N; i++)
    members[i] = renamed(trained, years[i], "f", "m");
  g_test_add_func("/selector/bundle/whole", a_family_comes_back_whole);
  g_test_add_func("/selector/bundle/one", one_selector_is_its_document);
  g_test_add_func("/selector/bundle/no-family", others_are_no_family);
  g_test_add_func("/selector/bundle/hostile", hostile_families_are_refused_with_their_place);
  g_test_add_func("/selector/bundle/changed", changed_families_are_refused);
  const int status = g_test_run();
  for (size_t i = 0; i < N; i++)
    demur_selector_unref(members[i]);
  return status;
}
