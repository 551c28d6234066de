/* From a cohort to a selector and through its document: the same bytes, the same scores, and no
 * damaged document gets in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "selector/reasons.h"
#include "selector/risk-interval.h"
#include "selector/selector-private.h"
#include "selector-fixture.h"

static DemurTrainSettings *
quick_settings(void) {
  DemurTrainSettings *settings = fixture_settings(2, 40, 100, 2);
  settings->models = 2;
  return settings;
}

/* One training for all tests that only read. */
static DemurCohort *shared_cohort, *shared_view; /* view: with recalibrated risks */
static DemurSelector *shared_selector;

static void
same_bytes_at_any_number_of_threads(void) {
  g_autofree char *expected = demur_selector_to_json(shared_selector);
  static const guint threads[] = {2, 7};
  for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
    g_autoptr(DemurTrainSettings) settings = quick_settings();
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSelector) selector =
        demur_selector_train(shared_cohort, settings, 5, parallel, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *json = demur_selector_to_json(selector);
    g_assert_cmpstr(json, ==, expected);
  }
}

static void
scores_come_back_bit_for_bit(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSelector) read = demur_selector_from_json(json, -1, "the document", &error);
  g_assert_no_error(error);
  g_autofree char *again = demur_selector_to_json(read);
  g_assert_cmpstr(again, ==, json);
  g_autoptr(DemurSelector) kept = demur_selector_from_kept_json(json, "the document", &error);
  g_assert_no_error(error);
  g_autofree char *kept_again = demur_selector_to_json(kept);
  g_assert_cmpstr(kept_again, ==, json);
  fixture_comes_back_at_once(shared_selector);
  g_assert_cmpstr(demur_selector_digest(read), ==, demur_selector_digest(shared_selector));
  g_assert_cmpuint(demur_selector_n_models(read), ==, demur_selector_n_models(shared_selector));
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(shared_cohort, NULL, &n, &error);
  double *before = demur_selector_meta_features(shared_selector, shared_view, FALSE, rows, n, NULL,
                                                NULL, &error);
  double *after =
      demur_selector_meta_features(read, shared_view, FALSE, rows, n, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(memcmp(before, after, n * demur_selector_n_columns(read) * sizeof(double)) == 0);
  g_autofree double *a = g_new(double, n), *b = g_new(double, n);
  for (size_t m = 0; m < demur_selector_n_models(read); m++) {
    demur_selector_scores(shared_selector, m, before, n, a);
    demur_selector_scores(read, m, after, n, b);
    g_assert_true(memcmp(a, b, n * sizeof *a) == 0);
    for (size_t i = 0; i < n; i++)
      g_assert_true(a[i] > 0.0 && a[i] < 1.0);
  }
  g_aligned_free(before);
  g_aligned_free(after);
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Where only the lowest matter, those are to the last bit what they are among all, and the others above them. */
static void
lowest_scores_are_those_of_all(void) {
  g_assert_cmpuint(demur_selector_n_networks(shared_selector), >, 1);
  const size_t n = shared_selector->n_kept;
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_kept_meta(shared_selector);
  g_autofree double *all = g_new(double, n), *some = g_new(double, n);
  demur_selector_scores(shared_selector, 0, meta, n, all);
  g_autofree double *sorted = g_memdup2(all, n * sizeof *all);
  qsort(sorted, n, sizeof *sorted, compare_doubles);
  const size_t lowest[] = {1, 2, n / 10, n / 2, n - 1, n};
  const double limits[] = {-INFINITY, 0.0, sorted[n / 4], sorted[n - 1], INFINITY};
  for (size_t l = 0; l < G_N_ELEMENTS(lowest); l++)
    for (size_t b = 0; b < G_N_ELEMENTS(limits); b++) {
      demur_selector_lowest_scores(shared_selector, meta, n, lowest[l], limits[b], some);
      for (size_t i = 0; i < n; i++)
        if (all[i] <= sorted[lowest[l] - 1] || all[i] < limits[b])
          g_assert_true(memcmp(&some[i], &all[i], sizeof all[i]) == 0);
        else
          g_assert_true(some[i] <= all[i] && some[i] > sorted[lowest[l] - 1] &&
                        some[i] >= limits[b]);
    }
}

/* A scan's score does not depend on what is scored beside it, nor on its place among the rows. */
static void
scores_are_of_one_scan_alone(void) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(shared_cohort, NULL, &n, &error);
  double *meta = demur_selector_meta_features(shared_selector, shared_view, FALSE, rows, n, NULL,
                                              NULL, &error);
  const size_t width = demur_selector_n_columns(shared_selector);
  g_autofree double *scores = g_new(double, n);
  demur_selector_scores(shared_selector, 0, meta, n, scores);
  for (size_t i = 0; i < n; i += 37) {
    double alone;
    demur_selector_scores(shared_selector, 0, meta + i * width, 1, &alone);
    demur_assert_close(alone, scores[i], 1e-5, 0); /* float products of another height */
    double *one = demur_selector_meta_features(shared_selector, shared_view, FALSE, rows + i, 1,
                                               NULL, NULL, &error);
    g_assert_no_error(error);
    for (size_t c = 0; c < width; c++)
      demur_assert_close(one[c], meta[i * width + c], 1e-5, 1e-6);
    g_aligned_free(one);
  }
  g_aligned_free(meta);
}

/* The document names no patient and no scan. */
static void
document_holds_no_identifier(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  for (size_t i = 0; i < shared_cohort->n_patients; i += 7)
    g_assert_null(strstr(json, shared_cohort->patient_ids[i]));
  for (size_t i = 0; i < shared_cohort->n_scans; i += 7)
    g_assert_null(strstr(json, shared_cohort->scan_ids[i]));
}

/* Refused with a message, or the same selector (white space, unused bits of base64): a change that
 * is read must not change a byte of what is written. */
static gboolean
assert_refused_or_same(const char *text, gssize length, const char *original) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSelector) read = demur_selector_from_json(text, length, "the document", &error);
  if (length < 0 || (text[length] == '\0' && strlen(text) == (size_t)length)) {
    /* A kept document is judged alike, by a shorter way where it is as it was written. */
    g_autoptr(DemurSelector) kept = demur_selector_from_kept_json(text, "the document", NULL);
    g_assert_cmpint(kept != NULL, ==, read != NULL);
    if (kept != NULL)
      g_assert_cmpstr(demur_selector_digest(kept), ==, demur_selector_digest(read));
  }
  if (read == NULL) {
    g_assert_nonnull(error);
    g_assert_true(error->domain == DEMUR_ERROR);
    g_assert_true(strlen(error->message) > 0);
    return TRUE;
  }
  g_assert_no_error(error);
  g_autofree char *again = demur_selector_to_json(read);
  g_assert_cmpstr(again, ==, original);
  return FALSE;
}

static void
damaged_documents_are_refused(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  const size_t length = strlen(json);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (int i = 0; i < 40; i++) /* cut short; the last bytes are "}\n" */
    assert_refused_or_same(json, (gssize)(i < 20 ? (size_t)i : demur_random_below(&random, length)),
                           json);
  size_t n_refused = 0;
  g_autofree char *damaged = g_strdup(json);
  for (int i = 0; i < 80; i++) {
    const size_t place = (size_t)demur_random_below(&random, i % 2 == 0 ? length : 3000);
    damaged[place] = (char)(damaged[place] ^ (1 << demur_random_below(&random, 7)));
    n_refused += assert_refused_or_same(damaged, (gssize)length, json) ? 1 : 0;
    damaged[place] = json[place];
  }
  g_assert_cmpuint(n_refused, >=, 70);
  /* Nested deeper than any document of ours: a parser that recurses would run out of stack. */
  g_autofree char *deep = g_strnfill(200000, '[');
  g_autoptr(GError) too_deep = NULL;
  g_assert_null(demur_selector_from_json(deep, -1, "the document", &too_deep));
  g_assert_error(too_deep, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  static const char *const others[] = {"",
                                       "null",
                                       "[]",
                                       "{}",
                                       "3",
                                       "\"x\"",
                                       "{\"format\": 1}",
                                       "{\"format\": \"demur-selector\"}",
                                       "\xff\xfe",
                                       "{\"a\": "};
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_selector_from_json(others[i], -1, "the document", &error));
    g_assert_nonnull(error);
    g_assert_true(error->domain == DEMUR_ERROR);
  }
}

/* The digest is of the document without its line "digest": anyone can make a hostile document whose
 * digest fits, so the checks of its shapes must hold by themselves. */
static char *
sign(const char *document) {
  const char *line = strstr(document, " \"digest\": ");
  g_assert_nonnull(line);
  const char *end = strchr(line, '\n') + 1;
  g_autofree char *head = g_strndup(document, (gsize)(line - document));
  g_autofree char *content = g_strconcat(head, end, NULL);
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, content, -1);
  return g_strdup_printf("%s \"digest\": \"%s\",\n%s", head, digest, end);
}

/* Replaces what stands between `"key": ` and the end of its line. */
static char *
with_member(const char *document, const char *key, const char *value) {
  g_autofree char *start = g_strdup_printf("\"%s\": ", key);
  const char *place = strstr(document, start);
  if (place == NULL)
    g_error("no member %s", key);
  place += strlen(start);
  const char *end = strchr(place, '\n');
  if (end[-1] == ',')
    end--;
  g_autofree char *head = g_strndup(document, (gsize)(place - document));
  return g_strconcat(head, value, end, NULL);
}

/* The document without the member of that name, which is an object (owned). */
static char *
without_object(const char *document, const char *key) {
  g_autofree char *start = g_strdup_printf("\n \"%s\": {", key);
  const char *place = strstr(document, start);
  g_assert_nonnull(place);
  const char *end = strstr(place, "\n },");
  g_assert_nonnull(end);
  g_autofree char *head = g_strndup(document, (gsize)(place - document));
  return g_strconcat(head, end + strlen("\n },"), NULL);
}

/* What an older program wrote is read, keeps its digest and is written as it was. */
static DemurSelector *
read_older(const char *text, const char *version) {
  g_autofree char *renumbered = with_member(text, "version", version);
  g_autofree char *document = sign(renumbered);
  g_autoptr(GError) error = NULL;
  DemurSelector *read = demur_selector_from_json(document, -1, "the document", &error);
  g_assert_no_error(error);
  g_autofree char *written = demur_selector_to_json(read);
  g_assert_cmpstr(written, ==, document);
  fixture_comes_back_at_once(read);
  return read;
}

/* Version 1 had no posterior of the sites. */
static void
documents_of_version_1_are_read(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  g_autofree char *older = without_object(json, "sites");
  g_autoptr(DemurSelector) read = read_older(older, "1");
  g_assert_nonnull(demur_selector_site_prior(read)); /* the prior alone */
}

/* Version 2 knew one prior of the spread: its intervals stay as they were, and so does the document. */
static void
documents_of_version_2_keep_their_intervals(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  const char *place = strstr(json, ",\n  \"interval_weights\": [");
  g_assert_nonnull(place);
  g_autofree char *head = g_strndup(json, (gsize)(place - json));
  g_autofree char *older = g_strconcat(head, strchr(place, ']') + 1, NULL);
  g_autoptr(DemurSelector) read = read_older(older, "2");
  DemurRiskInterval before, now;
  g_assert_true(demur_risk_interval_unseen(read, &before));
  g_assert_true(demur_risk_interval_unseen(shared_selector, &now));
  g_assert_cmpfloat(now.low, <, before.low);
  g_assert_cmpfloat(before.high, <, now.high);
}

static void
hostile_shapes_are_refused_before_the_digest(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  g_autofree char *resigned = sign(json);
  g_assert_cmpstr(resigned, ==, json); /* the oracle of this test is right */
  g_autofree char *renamed = with_member(json, "cohort", "\"another\"");
  g_autofree char *signed_again = sign(renamed);
  g_autoptr(GError) none = NULL;
  g_autoptr(DemurSelector) fine = demur_selector_from_json(signed_again, -1, "x", &none);
  g_assert_no_error(none); /* a harmless change, signed, is a selector */
  static const struct {
    const char *key, *value;
  } rows[] = {
      {"format", "\"demur-workspace\""},
      {"version", "2000000000"},
      {"version", "0"},
      {"simulated", "1"},
      {"model", "null"},
      {"n_classes", "1"},
      {"n_classes", "99999999999"},
      {"embedding_width", "255"},
      {"embedding_width", "-1"},
      {"role", "\"nobody\""},
      {"seed", "\"x\""},
      {"seed", "\"99999999999999999999999\""},
      {"hidden", "9"},
      {"hidden", "4096"},
      {"hidden", "1e9"},
      {"patient_hashes", "\"\""},
      {"patient_hashes", "\"AAAA\""},
      {"means", "[]"},
      {"means", "[1, 2]"},
      {"sds", "[0]"},
      {"epoch", "-1"},
      {"n_components", "999999"},
      {"n_components", "1"},
      {"n_svd", "5"},
      {"parameters", "\"\""},
      {"parameters", "\"AAAAAAAA\""},
      {"n_reference", "2147483647"},
      {"n_reference", "99"},
      {"reference_hashes", "\"AAAA\""},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *changed = with_member(json, rows[r].key, rows[r].value);
    g_autofree char *document = sign(changed);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSelector) read = demur_selector_from_json(document, -1, "the document", &error);
    if (read != NULL)
      g_error("%s = %s was read", rows[r].key, rows[r].value);
    g_assert_true(error->domain == DEMUR_ERROR);
    if (strstr(error->message, "was changed after it was written") != NULL)
      g_error("%s = %s is only refused by the digest", rows[r].key, rows[r].value);
  }
}

/* The name of a family in the settings: none, or a text that is not empty. */
static void
an_empty_family_is_refused(void) {
  static const char *const families[] = {NULL, "f", ""};
  for (size_t i = 0; i < G_N_ELEMENTS(families); i++) {
    g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
    settings->family = g_strdup(families[i]);
    DemurJson *json = demur_json_new();
    demur_train_settings_write_json(settings, json, NULL);
    g_autofree char *text = demur_json_finish(json);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
    JsonObject *object = json_node_get_object(json_parser_get_root(parser));
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainSettings) read = demur_train_settings_read_json(object, &error);
    if (i == 2) {
      g_assert_null(read);
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    } else {
      g_assert_no_error(error);
      g_assert_cmpstr(read->family, ==, families[i]);
    }
  }
}

/* --- training --- */

typedef struct {
  size_t n_sites, n_per_site, n_per_patient;
  size_t embedding_width;
  gboolean with_validation, without_a_label;
  const char *split;
} Plan;

static DemurCohort *
planned_cohort(const Plan *plan) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, plan->embedding_width);
  DemurRandom random = demur_random_stream(6, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t s = 0; s < plan->n_sites; s++)
    for (size_t i = 0; i < plan->n_per_site; i++) {
      g_autofree char *scan = g_strdup_printf("scan-%zu-%zu", s, i);
      g_autofree char *patient = g_strdup_printf("patient-%zu-%zu", s, i / plan->n_per_patient);
      g_autofree char *site = g_strdup_printf("site-%zu", s);
      const double risk = demur_random_uniform(&random);
      int label = demur_random_uniform(&random) < risk;
      if (plan->without_a_label && s == 0 && i == 3)
        label = DEMUR_NO_LABEL;
      float embedding[4];
      for (int c = 0; c < 4; c++)
        embedding[c] = (float)demur_random_normal(&random);
      const gboolean validates = plan->with_validation && s + 1 == plan->n_sites;
      demur_cohort_builder_add(builder, scan, patient, site,
                               validates             ? "validation"
                               : plan->split != NULL ? plan->split
                                                     : "selector_train",
                               label, &risk, NULL, plan->embedding_width > 0 ? embedding : NULL);
    }
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_builder_finish(builder, "planned", "model", "drawn",
                                                    "2026-01-01T00:00:00Z", FALSE, &error);
  g_assert_no_error(error);
  return cohort;
}

/* A file that fits its digest and overflows: with it a score is no number, which once was told as a
 * verdict. Every number that a scan's score passes through. */
static void
numbers_that_overflow_are_refused(void) {
  g_autofree char *json = demur_selector_to_json(shared_selector);
  const size_t n = shared_selector->shape.n_parameters,
               d = demur_selector_n_inputs(shared_selector);
  g_autofree float *weights = g_new(float, n);
  for (size_t i = 0; i < n; i++)
    weights[i] = i % 2 == 0 ? 3e38f : -3e38f;
  g_autofree char *base64 = g_base64_encode((const guchar *)weights, n * sizeof(float));
  g_autofree char *parameters = g_strdup_printf("\"%s\"", base64);
  g_autoptr(GString) tiny = g_string_new("["), huge = g_string_new("[");
  for (size_t c = 0; c < d; c++) {
    g_string_append(tiny, c == 0 ? "1e-300" : ", 1e-300");
    g_string_append(huge, c == 0 ? "1e300" : ", 1e300");
  }
  g_string_append_c(tiny, ']');
  g_string_append_c(huge, ']');
  /* The networks' own scaler stands last of those called so. */
  const char *last = g_strrstr(json, "\"means\"");
  g_autofree char *before = g_strndup(json, (gsize)(last - json));
  g_autofree char *small = with_member(last, "sds", tiny->str);
  g_autofree char *far = with_member(last, "means", huge->str);
  char *documents[] = {with_member(json, "parameters", parameters),
                       g_strconcat(before, small, NULL), g_strconcat(before, far, NULL)};
  for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
    g_autofree char *document = sign(documents[i]);
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_selector_from_json(document, -1, "the document", &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, "overflow"));
    g_free(documents[i]);
  }
}

static void
what_can_not_train_is_refused(void) {
  static const struct {
    Plan plan;
    const char *validation_split, *features, *resample;
    int code;
  } rows[] = {
      {{6, 30, 1, 4, TRUE, TRUE, NULL}, NULL, NULL, NULL, DEMUR_ERROR_STATE},  /* a label missing */
      {{6, 30, 1, 4, FALSE, TRUE, NULL}, NULL, NULL, NULL, DEMUR_ERROR_STATE}, /* before drawing */
      {{6, 30, 1, 0, TRUE, FALSE, NULL}, NULL, NULL, NULL, DEMUR_ERROR_STATE}, /* no embeddings */
      {{6, 30, 1, 4, FALSE, FALSE, "other"}, NULL, NULL, NULL, DEMUR_ERROR_NOT_FOUND},
      {{6, 30, 1, 4, FALSE, FALSE, NULL}, "nowhere", NULL, NULL, DEMUR_ERROR_NOT_FOUND},
      {{6, 30, 1, 4, FALSE, FALSE, NULL}, "selector_train", NULL, NULL, DEMUR_ERROR_USAGE},
      {{6, 30, 1, 4, TRUE, FALSE, NULL}, NULL, NULL, "outside", DEMUR_ERROR_NOT_FOUND},
      {{6, 30, 1, 4, TRUE, FALSE, NULL}, NULL, NULL, "attribute:x", DEMUR_ERROR_NOT_FOUND},
      {{1, 30, 30, 4, FALSE, FALSE, NULL}, NULL, NULL, NULL, DEMUR_ERROR_STATE}, /* one patient */
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(DemurCohort) cohort = planned_cohort(&rows[r].plan);
    g_autoptr(DemurTrainSettings) settings = quick_settings();
    settings->validation_split = g_strdup(rows[r].validation_split);
    settings->stopping = DEMUR_STOPPING_WORST_CASE;
    settings->features_explicit = TRUE;
    settings->features_explicit = TRUE;
    if (rows[r].resample != NULL)
      g_assert_true(demur_train_settings_set_resample(settings, rows[r].resample, NULL));
    g_autoptr(GError) error = NULL;
    DemurTrainingLog *log = NULL;
    g_autoptr(DemurSelector) selector =
        demur_selector_train(cohort, settings, 1, NULL, NULL, &log, &error);
    if (selector != NULL)
      g_error("row %zu trained", r);
    g_assert_error(error, DEMUR_ERROR, rows[r].code);
    g_assert_null(log);
    g_assert_null(strstr(error->message, "patient-")); /* no patient in a message */
  }
}

/* Without a split "validation", and where the worst case chooses the epoch, whole sites are drawn
 * by the seed until they hold 20 % (five sites or more), else whole patients: so sites, or
 * patients, of the parts add up. Stopping flat chooses nothing: every scan trains. */
static void
validation_is_drawn_by_sites_or_patients(void) {
  static const struct {
    Plan plan;
    gboolean by_site;
  } rows[] = {{{8, 20, 2, 4, FALSE, FALSE, NULL}, TRUE},
              {{5, 20, 2, 4, FALSE, FALSE, NULL}, TRUE},
              {{4, 20, 2, 4, FALSE, FALSE, NULL}, FALSE},
              {{1, 40, 4, 4, FALSE, FALSE, NULL}, FALSE}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const Plan *plan = &rows[r].plan;
    g_autoptr(DemurCohort) cohort = planned_cohort(plan);
    g_autoptr(DemurTrainSettings) settings = quick_settings();
    settings->models = 1;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSelector) whole =
        demur_selector_train(cohort, settings, 1, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(demur_selector_n_parts(whole), ==, 2); /* reference and training */
    g_assert_cmpuint(demur_selector_part_of(whole, DEMUR_PART_TRAINING)->n_scans, ==,
                     plan->n_sites * plan->n_per_site);
    settings->stopping = DEMUR_STOPPING_WORST_CASE;
    g_autoptr(DemurTrainingLog) log = NULL;
    g_autoptr(DemurSelector) selector =
        demur_selector_train(cohort, settings, 1, NULL, NULL, &log, &error);
    g_assert_no_error(error);
    const DemurSelectorPart *training = demur_selector_part_of(selector, DEMUR_PART_TRAINING),
                            *validation = demur_selector_part_of(selector, DEMUR_PART_VALIDATION);
    const size_t n = plan->n_sites * plan->n_per_site;
    g_assert_cmpuint(training->n_scans + validation->n_scans, ==, n);
    g_assert_cmpuint(training->n_patients + validation->n_patients, ==, cohort->n_patients);
    g_assert_cmpuint(demur_selector_n_patients(selector), ==, cohort->n_patients);
    if (rows[r].by_site) {
      g_assert_cmpuint(training->n_sites + validation->n_sites, ==, plan->n_sites);
      g_assert_cmpuint(validation->n_sites, ==, (plan->n_sites + 4) / 5);
    } else {
      g_assert_cmpuint(validation->n_scans, >=, n / 5);
      g_assert_cmpuint(validation->n_scans, <, n / 5 + plan->n_per_patient);
    }
    g_assert_true(strlen(log->validation_note) > 0);
    g_assert_cmpuint(log->n_models, ==, 1);
  }
}

/* Without networks: every method trains, is read back with the same digest, ranks scans as its
 * column does (highest kept first, or lowest), with scores in (0, 1], and gives reasons. */
static void
methods_without_networks_are_selectors(void) {
  for (int k = DEMUR_SCORING_NETWORK + 1; k < DEMUR_N_SCORINGS; k++) {
    const DemurScoringRow *row = demur_scoring_row((DemurScoring)k);
    g_autoptr(DemurTrainSettings) settings = quick_settings();
    settings->scoring = (DemurScoring)k;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainingLog) log = NULL;
    g_autoptr(DemurSelector) selector =
        demur_selector_train(shared_cohort, settings, 5, NULL, NULL, &log, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(demur_selector_n_models(selector), ==, 1);
    g_assert_cmpuint(demur_selector_n_networks(selector), ==, 0);
    g_autofree char *json = demur_selector_to_json(selector);
    g_autoptr(DemurSelector) read = demur_selector_from_json(json, -1, row->name, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(demur_selector_digest(read), ==, demur_selector_digest(selector));
    fixture_comes_back_at_once(read);
    size_t n;
    g_autofree guint32 *rows = demur_cohort_rows(shared_cohort, "test", &n, &error);
    g_autoptr(DemurCohort) view = demur_selector_view(read, shared_cohort, &error);
    DEMUR_AUTO_ALIGNED double *meta =
        demur_selector_meta_features(read, view, FALSE, rows, n, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autofree double *scores = g_new(double, n);
    demur_selector_scores(read, 0, meta, n, scores);
    const size_t width = demur_selector_n_columns(read);
    const size_t column = (size_t)demur_selector_column(read, row->column);
    for (size_t i = 0; i < n; i++) {
      g_assert_true(scores[i] > 0.0 && scores[i] <= 1.0);
      const double before = meta[(i > 0 ? i - 1 : 0) * width + column];
      const double change = row->keep_sign * (meta[i * width + column] - before);
      const double followed = scores[i] - scores[i > 0 ? i - 1 : 0];
      g_assert_true((change > 0.0) == (followed > 0.0) && (change < 0.0) == (followed < 0.0));
    }
    g_autoptr(DemurReasoner) reasoner = demur_reasoner_new(read, scores[0] + 1e-6, 3);
    g_autoptr(GPtrArray) reasons = demur_reasoner_explain(reasoner, meta, NULL);
    g_assert_cmpuint(reasons->len, >, 0);
  }
}

/* Every patient of a part has been seen, no other. */
static void
seen_patients_are_known(void) {
  static const struct {
    const char *split;
    gboolean seen;
  } rows[] = {
      {"base_train", TRUE}, {"selector_train", TRUE}, {"validation", TRUE}, {"test", FALSE}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    if (demur_cohort_find_split(shared_cohort, rows[r].split) < 0)
      continue;
    size_t n;
    g_autoptr(GError) error = NULL;
    g_autofree guint32 *rows_of = demur_cohort_rows(shared_cohort, rows[r].split, &n, &error);
    const size_t n_patients = demur_cohort_count_patients(shared_cohort, rows_of, n);
    g_assert_cmpuint(demur_selector_count_seen(shared_selector, shared_cohort, rows_of, n, NULL),
                     ==, rows[r].seen ? n_patients : 0);
  }
  const Plan plan = {6, 30, 1, 4, TRUE, FALSE, NULL};
  g_autoptr(DemurCohort) other = planned_cohort(&plan);
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_selector_check_cohort(shared_selector, other, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

/* Each names what moved: with that one meta feature at its median, and nothing else, the selector
 * gives the score that is told; what lies at the median moved nothing. It lies beyond as many of the
 * kept training scans as it says (counted here one by one). The data come back as they went. */
static void
check_reasons(const double *meta, const GPtrArray *reasons) {
  const DemurSelector *s = shared_selector;
  const size_t width = demur_selector_n_columns(s);
  double score, changed;
  demur_selector_scores(s, 0, meta, 1, &score);
  g_autofree float *inputs = g_new(float, s->n_inputs);
  demur_selector_inputs(s, meta, 1, inputs);
  g_autofree double *moved = g_new(double, width);
  for (guint i = 0; i < reasons->len; i++) {
    const DemurReason *reason = reasons->pdata[i];
    if (reason->kind != DEMUR_REASON_FEATURE)
      continue;
    const gssize column = demur_selector_column(s, reason->subject);
    g_assert_cmpint(column, >=, 0);
    g_assert_cmpfloat(reason->value, ==, meta[column]);
    g_assert_cmpfloat(reason->score, ==, score);
    memcpy(moved, meta, width * sizeof *moved);
    moved[column] = reason->median;
    demur_selector_scores(s, 0, moved, 1, &changed);
    g_assert_cmpfloat(reason->changed, ==, changed);
    if (reason->changed != reason->score)
      g_assert_cmpint(reason->place, !=, DEMUR_PLACE_MEDIAN);
    size_t input = 0, n_beyond = 0;
    while (s->inputs[input] != (guint32)column)
      input++;
    for (size_t k = 0; k < s->n_kept; k++) {
      const float kept = s->kept_inputs[k * s->n_inputs + input];
      n_beyond += reason->value > reason->median ? kept < inputs[input] : kept > inputs[input];
    }
    if (reason->place != DEMUR_PLACE_MEDIAN)
      demur_assert_close(reason->beyond, (double)n_beyond / (double)s->n_kept, 0.0, 1e-12);
  }
  g_autofree char *json = demur_reasons_to_json(reasons);
  g_autoptr(GPtrArray) again = demur_reasons_from_json(json);
  g_autofree char *back = demur_reasons_to_json(again);
  g_assert_cmpstr(back, ==, json);
}

/* Shares of what scans are refused for in general, the most first, of one number of scans. Returns
 * how many there are. */
static guint
check_mostly(const GPtrArray *reasons) {
  guint n = 0, n_scans = 0;
  double sum = 0.0, before = 1.0;
  for (guint i = 0; i < reasons->len; i++) {
    const DemurReason *reason = reasons->pdata[i];
    if (reason->kind != DEMUR_REASON_MOSTLY)
      continue;
    g_assert_false(reason->tells_risk);
    g_assert_true(n == 0 || reason->n == n_scans);
    g_assert_cmpfloat(reason->share, <=, before);
    n_scans = reason->n;
    before = reason->share;
    sum += reason->share;
    n++;
  }
  g_assert_cmpfloat(sum, <=, 1.0 + 1e-12);
  return n;
}

/* At least one reason for every scan, at most what was asked for, none empty, whatever the
 * threshold: below all, among, above all training scores. */
static void
there_is_always_a_reason(void) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(shared_cohort, NULL, &n, &error);
  double *meta = demur_selector_meta_features(shared_selector, shared_view, FALSE, rows, n, NULL,
                                              NULL, &error);
  g_assert_no_error(error);
  const double thresholds[] = {-INFINITY, (double)shared_selector->kept_scores[0], INFINITY};
  static const size_t most[] = {0, 1, 3, 100};
  for (size_t t = 0; t < G_N_ELEMENTS(thresholds); t++) {
    for (size_t k = 0; k < G_N_ELEMENTS(most); k++) {
      g_autoptr(DemurReasoner) reasoner =
          demur_reasoner_new(shared_selector, thresholds[t], most[k]);
      for (size_t i = 0; i < n; i += 3) {
        const double *of = meta + i * demur_selector_n_columns(shared_selector);
        g_autoptr(GPtrArray) reasons = demur_reasoner_explain(reasoner, of, NULL);
        g_assert_cmpuint(reasons->len, >=, 1);
        /* of each kind, and two on the training scans most like it */
        g_assert_cmpuint(reasons->len - check_mostly(reasons), <=, 2 * MAX(most[k], 1) + 2);
        check_reasons(of, reasons);
      }
    }
  }
  g_aligned_free(meta);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  shared_cohort = fixture_cohort(0);
  g_autoptr(DemurTrainSettings) settings = quick_settings();
  g_autoptr(GError) error = NULL;
  shared_selector = demur_selector_train(shared_cohort, settings, 5, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  shared_view = demur_selector_view(shared_selector, shared_cohort, &error);
  g_assert_no_error(error);
  g_test_add_func("/selector/document/methods", methods_without_networks_are_selectors);
  g_test_add_func("/selector/document/threads", same_bytes_at_any_number_of_threads);
  g_test_add_func("/selector/document/scores", scores_come_back_bit_for_bit);
  g_test_add_func("/selector/document/alone", scores_are_of_one_scan_alone);
  g_test_add_func("/selector/document/lowest", lowest_scores_are_those_of_all);
  g_test_add_func("/selector/document/identifiers", document_holds_no_identifier);
  g_test_add_func("/selector/document/damaged", damaged_documents_are_refused);
  g_test_add_func("/selector/document/version-1", documents_of_version_1_are_read);
  g_test_add_func("/selector/document/version-2", documents_of_version_2_keep_their_intervals);
  g_test_add_func("/selector/document/hostile", hostile_shapes_are_refused_before_the_digest);
  g_test_add_func("/selector/document/family", an_empty_family_is_refused);
  g_test_add_func("/selector/document/overflow", numbers_that_overflow_are_refused);
  g_test_add_func("/selector/training/refused", what_can_not_train_is_refused);
  g_test_add_func("/selector/training/validation", validation_is_drawn_by_sites_or_patients);
  g_test_add_func("/selector/training/seen", seen_patients_are_known);
  g_test_add_func("/selector/reasons/always", there_is_always_a_reason);
  const int status = g_test_run();
  demur_cohort_unref(shared_view);
  demur_selector_unref(shared_selector);
  demur_cohort_unref(shared_cohort);
  return status;
}
