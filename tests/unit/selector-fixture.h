/* What tests of trainings share: a cohort of some hundred scans. */
#pragma once

#include "cohort/simulate.h"
#include "selector/training.h"
#include "support/support.h"

/* 0: the seed of every simulation. */
static inline DemurCohort *
fixture_cohort(guint64 seed) {
  DemurSimulation options;
  demur_simulation_defaults(&options);
  if (seed != 0)
    options.seed = seed;
  options.n_scans = 200;
  options.n_sites = 6;
  options.n_base_train = 100;
  options.n_tune = 40;
  options.n_test = 60;
  options.base_rate_logit = 2;
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort =
      demur_cohort_simulate(&options, "small", "2026-01-01T00:00:00Z", NULL, NULL, &error);
  g_assert_no_error(error);
  return cohort;
}

/* A short training: batches of 8, kappa 2, 8 hidden units. */
static inline DemurTrainSettings *
fixture_settings(gint64 epochs, gint64 datasets_per_epoch, gint64 dataset_size, gint64 average) {
  DemurTrainSettings *settings = demur_train_settings_new();
  settings->epochs = epochs;
  settings->datasets_per_epoch = datasets_per_epoch;
  settings->batch = 8;
  settings->kappa = 2;
  settings->dataset_size = dataset_size;
  settings->hidden = 8;
  settings->validation_datasets = 5;
  settings->average = average;
  return settings;
}

/* Read as the workspace reads it, at once and with members kept apart, it is the same selector. */
static void G_GNUC_UNUSED
fixture_comes_back_at_once(const DemurSelector *selector) {
  g_autofree char *json = demur_selector_to_json(selector), *text = g_strdup(json);
  g_assert_true(demur_selector_is_document(text, strlen(text), demur_selector_digest(selector)));
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSelector) read =
      demur_selector_from_document(text, strlen(text), "the document", &error);
  g_assert_no_error(error);
  g_assert_cmpstr(text, ==, json);
  g_assert_cmpstr(demur_selector_digest(read), ==, demur_selector_digest(selector));
  g_autofree char *again = demur_selector_to_json(read);
  g_assert_cmpstr(again, ==, json);
}
