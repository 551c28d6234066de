/* The table of training numbers: the paper's values, ranges at both ends, and the way through JSON.
 */
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "selector/settings.h"
#include "support/support.h"

/* method.md, section Training. */
static void
published_numbers_are_the_papers(void) {
  static const struct {
    const char *name, *text;
  } rows[] = {{"epochs", "5"},
              {"datasets_per_epoch", "50000"},
              {"dataset_size", "1024"},
              {"batch", "32"},
              {"kappa", "4"},
              {"kappa_coverage", "0"},
              {"q", "2"},
              {"kernel_width", "0.2"},
              {"alpha", "1"},
              {"lambda2", "0.01"},
              {"learning_rate", "0.001"},
              {"weight_decay", "1e-05"},
              {"clip", "10"},
              {"bin_size", "25"},
              {"hidden", "64"},
              {"validation_datasets", "200"},
              {"models", "1"}};
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  if (settings->as_published)
    g_assert_true(demur_train_settings_are_published(settings));
  size_t n = 0;
  while (demur_train_settings_number_name(n) != NULL)
    n++;
  g_assert_cmpuint(n, >=, G_N_ELEMENTS(rows));
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const gssize i = demur_train_settings_find_number(rows[r].name);
    g_assert_cmpint(i, >=, 0);
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_assert_cmpstr(demur_number_format(demur_train_settings_number_published((size_t)i), buffer),
                    ==, rows[r].text);
    g_assert_true(strlen(demur_train_settings_number_help((size_t)i)) > 0);
  }
  g_assert_null(demur_train_settings_number_help(n));
  for (size_t i = 0; i < n; i++)
    g_assert_cmpint(demur_train_settings_find_number(demur_train_settings_number_name(i)), ==,
                    (gssize)i);
  g_assert_cmpint(demur_train_settings_find_number("epoch"), ==, -1);
  static const gint64 ends[] = {0, 1562, 3125, 4687, 6250, 7812};
  for (gint64 e = 0; e <= 5; e++)
    g_assert_cmpint(demur_train_settings_epoch_end(settings, e), ==, ends[e]);
}

/* Both ends of each range are taken, the values just past them and other texts are not; a refusal
 * leaves the value alone and names the setting. */
static void
ranges_are_kept(void) {
  static const struct {
    const char *name, *lowest, *highest, *below, *above;
  } rows[] = {
      {"epochs", "1", "10000", "0", "10001"},
      {"datasets_per_epoch", "1", "1000000000", "0", "1000000001"},
      {"dataset_size", "1", "65535", "0", "65536"},
      {"batch", "1", "10000", "0", "10001"},
      {"kappa", "0", "10000", "-1", "10001"},
      {"kappa_coverage", "0", "1", "-0.01", "1.01"},
      {"q", "1", "2", "0", "3"},
      {"kernel_width", "1e-06", "1000000", "0", "1e7"},
      {"alpha", "1e-06", "1000000", "0", "1e7"},
      {"lambda2", "0", "1000000", "-1", "1e7"},
      {"learning_rate", "1e-12", "10", "0", "11"},
      {"weight_decay", "0", "10", "-1e-9", "11"},
      {"clip", "0", "1000000000", "-1", "1e10"},
      {"bin_size", "1", "1000000", "0", "1000001"},
      {"hidden", "1", "4096", "0", "4097"},
      {"validation_datasets", "1", "1000000", "0", "1000001"},
      {"models", "1", "100", "0", "101"},
  };
  static const char *const never[] = {"",    " ",   "x",     "nan", "inf",
                                      "1,5", "0x2", "1e999", "--1", "1 2"};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const size_t i = (size_t)demur_train_settings_find_number(rows[r].name);
    g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
    char before[G_ASCII_DTOSTR_BUF_SIZE], after[G_ASCII_DTOSTR_BUF_SIZE];
    g_autoptr(GError) none = NULL;
    const char *const good[] = {rows[r].lowest, rows[r].highest};
    for (int k = 0; k < 2; k++) {
      g_assert_true(demur_train_settings_set_number(settings, i, good[k], &none));
      g_assert_no_error(none);
      g_assert_cmpstr(demur_train_settings_number_text(settings, i, before), ==,
                      k == 1 && strcmp(good[k], "1000000000") == 0 ? "1000000000" : good[k]);
    }
    for (size_t k = 0; k < G_N_ELEMENTS(never) + 3; k++) {
      const char *text = k < G_N_ELEMENTS(never)        ? never[k]
                         : k == G_N_ELEMENTS(never)     ? rows[r].below
                         : k == G_N_ELEMENTS(never) + 1 ? rows[r].above
                                                        : "1.5";
      const gboolean whole = strchr(rows[r].highest, '.') == NULL &&
                             strstr("kappa_coverage "
                                    "kernel_width alpha lambda2 learning_rate weight_decay clip",
                                    rows[r].name) == NULL;
      if (k == G_N_ELEMENTS(never) + 2 && !(whole || strcmp(rows[r].name, "kappa") == 0))
        continue; /* 1.5 is no whole number, but a fine alpha */
      g_autoptr(GError) error = NULL;
      g_assert_false(demur_train_settings_set_number(settings, i, text, &error));
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
      g_assert_nonnull(strstr(error->message, rows[r].name));
      g_assert_cmpstr(demur_train_settings_number_text(settings, i, after), ==, before);
    }
  }
}

static void
settings_that_contradict_are_refused(void) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_train_settings_check(settings, &error));
  settings->kappa = 33; /* of 32 */
  g_assert_false(demur_train_settings_check(settings, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  settings->kappa = 32;
  g_assert_true(demur_train_settings_check(settings, &error));
  settings->datasets_per_epoch = 31; /* less than one update */
  g_assert_false(demur_train_settings_check(settings, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  settings->datasets_per_epoch = 32;
  settings->alpha = 0;
  g_assert_false(demur_train_settings_check(settings, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
}

static void
ways_of_resampling_and_features_by_name(void) {
  static const char *const resample[] = {
      "site", "none", "example", "outside", "attribute:vendor", "attribute:site"};
  static const char *const features[] = {"confidence", "outlier", "confidence,class",
                                         "class,outlier", "confidence,class,outlier"};
  static const char *const no_resample[] = {"",           "sites", "attribute",
                                            "attribute:", "Site",  " none"};
  static const char *const no_features[] = {"", ",", "class", "confidence,", "confidences", "all"};
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  g_autoptr(GError) error = NULL;
  for (size_t r = 0; r < G_N_ELEMENTS(resample); r++) {
    g_assert_true(demur_train_settings_set_resample(settings, resample[r], &error));
    g_assert_no_error(error);
    g_autofree char *text = demur_train_settings_resample_text(settings);
    g_assert_cmpstr(text, ==, resample[r]);
    g_assert_true(r == 0 || !demur_train_settings_are_published(settings));
  }
  g_assert_true(demur_train_settings_set_resample(settings, "site", &error));
  g_assert_no_error(error);
  for (size_t f = 0; f < G_N_ELEMENTS(features); f++) {
    g_assert_true(demur_train_settings_set_features(settings, features[f], &error));
    g_assert_no_error(error);
    g_autofree char *text = demur_train_settings_features_text(settings);
    g_assert_cmpstr(text, ==, features[f]);
    g_assert_true(f == 4 || !demur_train_settings_are_published(settings));
  }
  for (size_t r = 0; r < G_N_ELEMENTS(no_resample); r++) {
    g_autoptr(GError) refused = NULL;
    g_assert_false(demur_train_settings_set_resample(settings, no_resample[r], &refused));
    g_assert_error(refused, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  for (size_t f = 0; f < G_N_ELEMENTS(no_features); f++) {
    g_autoptr(GError) refused = NULL;
    g_assert_false(demur_train_settings_set_features(settings, no_features[f], &refused));
    g_assert_error(refused, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  g_autofree char *resample_text = demur_train_settings_resample_text(settings);
  g_autofree char *features_text = demur_train_settings_features_text(settings);
  g_assert_cmpstr(resample_text, ==, "site"); /* refusals changed nothing */
  g_assert_cmpstr(features_text, ==, "confidence,class,outlier");
}

static char *
json_of(const DemurTrainSettings *settings) {
  DemurJson *json = demur_json_new();
  demur_train_settings_write_json(settings, json, NULL);
  return demur_json_finish(json);
}

static DemurTrainSettings *
read_text(const char *text, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  return demur_train_settings_read_json(json_node_get_object(json_parser_get_root(parser)), error);
}

static void
settings_come_back_from_json(void) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  for (int kind = 0; kind < 2; kind++) {
    g_autofree char *text = json_of(settings);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainSettings) read = read_text(text, &error);
    g_assert_no_error(error);
    g_autofree char *again = json_of(read);
    g_assert_cmpstr(again, ==, text);
    g_autoptr(DemurTrainSettings) copy = demur_train_settings_copy(settings);
    g_autofree char *copied = json_of(copy);
    g_assert_cmpstr(copied, ==, text);
    if (kind == 1)
      break;
    settings->as_published = FALSE;
    settings->split = g_strdup("a");
    settings->reference_split = g_strdup("b \"quoted\"");
    settings->validation_split = g_strdup("c");
    settings->alpha = 0.1 + 0.2;
    settings->epochs = 3;
    settings->kappa = 0;
    g_assert_true(demur_train_settings_set_resample(settings, "attribute:vendor", NULL));
    g_assert_true(demur_train_settings_set_features(settings, "outlier", NULL));
  }
}

/* A document from outside: each number missing, past its range, of another kind, or not whole. */
static void
settings_from_outside_are_checked(void) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  g_autofree char *text = json_of(settings);
  static const struct {
    const char *from, *to;
  } rows[] = {
      {"\"epochs\": 5", "\"epochs\": 0"},
      {"\"epochs\": 5", "\"epochs\": 2.5"},
      {"\"kappa\": 4", "\"kappa\": 33"}, /* of 32 */
      {"\"epochs\": 5", "\"epochs\": \"5\""},
      {"\"epochs\": 5", "\"epochs\": null"},
      {"\"epochs\": 5", "\"epoch\": 5"},
      {"\"hidden\": 64", "\"hidden\": 1000000"},
      {"\"hidden\": 64", "\"hidden\": -1"},
      {"\"alpha\": 1", "\"alpha\": 1e300"},
      {"\"alpha\": 1", "\"alpha\": []"},
      {"\"as_published\": true", "\"as_published\": 1"},
      {"\"split\": null", "\"split\": 3"},
      {"\"resample\": \"site\"", "\"resample\": \"moon\""},
      {"\"features\": \"confidence,class,outlier\"", "\"features\": \"\""},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(GString) damaged = g_string_new(text);
    g_assert_cmpuint(g_string_replace(damaged, rows[r].from, rows[r].to, 1), ==, 1);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainSettings) read = read_text(damaged->str, &error);
    if (read != NULL)
      g_error("%s was read", rows[r].to);
    g_assert_nonnull(error);
    g_assert_true(error->domain == DEMUR_ERROR);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/settings/published", published_numbers_are_the_papers);
  g_test_add_func("/selector/settings/ranges", ranges_are_kept);
  g_test_add_func("/selector/settings/contradictions", settings_that_contradict_are_refused);
  g_test_add_func("/selector/settings/names", ways_of_resampling_and_features_by_name);
  g_test_add_func("/selector/settings/json", settings_come_back_from_json);
  g_test_add_func("/selector/settings/outside", settings_from_outside_are_checked);
  return g_test_run();
}
