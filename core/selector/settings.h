/* Every number of training, with the paper's values as `--as-published`; printed with every result.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

#include "base/json-writer.h"
#include "selector/recalibration.h"
#include "selector/scoring.h"
#include "shift/resample.h"

G_BEGIN_DECLS

/* Groups of meta features that can be left out. */
typedef enum {
  DEMUR_FEATURES_CONFIDENCE = 1 << 0, /* p(y|x), max p, entropy */
  DEMUR_FEATURES_CLASS =
      1 << 1, /* one-hot of the argmax; p(y|x) needs this group and the one above */
  DEMUR_FEATURES_OUTLIER = 1 << 2, /* kNN, KDE, one-class SVM, isolation forest, LOF */
  DEMUR_FEATURES_CORRECTOR =
      1 << 3, /* s delta, |h - r|, expected miscalibration; denoised target */
  DEMUR_FEATURES_ACQUISITION = 1 << 4, /* how the scan was made: features/acquisition.h */
} DemurFeatureGroups;

/* What the loss takes for the error of a scan. */
typedef enum {
  DEMUR_TARGET_PAPER,    /* |y - r|^q */
  DEMUR_TARGET_DENOISED, /* |h_site - r|^q, rescaled (selector/corrector.h); K = 2 */
} DemurTarget;

/* Which parameters are kept. */
typedef enum {
  DEMUR_STOPPING_WORST_CASE, /* the epoch with the best worst-case AUC on the validation scans */
  DEMUR_STOPPING_FLAT,       /* the last update; training ends once the loss is flat */
} DemurStopping;

typedef struct {
  gboolean as_published; /* the settings are the paper's to the letter */

  DemurScoring scoring; /* networks; else a meta feature alone, and nothing is trained but what it
                           needs */
  gboolean scoring_explicit; /* asked for, itself or by a setting of the networks: then it is not
                                chosen by evaluation/fallback.h; not kept */

  /* Which scans: NULL is the default of docs/commands.md, section Splits. */
  char *split;            /* selector_train */
  char *reference_split;  /* base_train if there is one, else the training split */
  char *validation_split; /* validation if there is one, else, where stopping chooses by
                               it, sites drawn by the seed */

  gint64 epochs;              /* 5 */
  gint64 datasets_per_epoch;  /* 50,000 */
  gint64 dataset_size;        /* 1,024 scans */
  gint64 batch;               /* m = 32 data sets an update */
  gint64 kappa;               /* 4; 0: all */
  double kappa_coverage;      /* 0: by the 10-point AUC; else at this coverage */
  gint64 q;                   /* 2 */
  double kernel_width;        /* 0.2 */
  DemurShiftKind shift;       /* by groups */
  char *shift_attribute;      /* NULL: site; else the attribute whose values are the groups */
  double alpha;               /* 1: concentration of the Dirichlet */
  double lambda2;             /* 0.01, divided by the data set's size */
  double learning_rate;       /* 1e-3 */
  double weight_decay;        /* 1e-5 */
  double clip;                /* 10; 0: none */
  gint64 bin_size;            /* 25 */
  gint64 hidden;              /* 64 */
  gint64 validation_datasets; /* 200 */
  guint features;             /* DemurFeatureGroups */
  gboolean features_explicit; /* asked for by name: then outlier features without embeddings are
                                 refused and not left out; not kept */
  gint64 average;             /* networks whose g~ are averaged: 5; published 1 */
  gint64 risk_bands;          /* 0; 20: accept the same share in each band of risk (stratified) */
  gint64 embedding_svd;       /* 0; else embeddings are projected to so many components first */
  DemurTarget target;
  gboolean
      target_explicit; /* asked for by name: then K > 2 is refused and not replaced; not kept */
  DemurStopping stopping;
  DemurRecalibrationKind recalibrate;
  char *recalibration_split; /* NULL: the training split, out of fold by site */
  gint64 models;             /* 1: selectors trained from different initial weights */
  /* The common name of selectors of several horizons that were trained together, whose verdicts hold
   * risks back together (core/tasks/horizon-family.h); NULL: none. */
  char *family;
} DemurTrainSettings;

/* The program's defaults; and the paper's settings to the letter (--as-published). */
DemurTrainSettings *demur_train_settings_new(void);
DemurTrainSettings *demur_train_settings_new_published(void);
DemurTrainSettings *demur_train_settings_copy(const DemurTrainSettings *settings);
void demur_train_settings_free(DemurTrainSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTrainSettings, demur_train_settings_free)

/* FALSE with DEMUR_ERROR_USAGE and the name, range and value of the first setting out of range. */
gboolean demur_train_settings_check(const DemurTrainSettings *settings,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The numbers by name, for options and tables: "epochs", "datasets_per_epoch" ..; NULL past the
 * last. */
const char *demur_train_settings_number_name(size_t i);

/* The place of the number of that name; -1: there is none. */
gssize demur_train_settings_find_number(const char *name);

/* What number i means, in a few words ("m, data sets an update"), and its value by default and as
 * published. */
const char *demur_train_settings_number_help(size_t i);
double demur_train_settings_number_default(size_t i);
double demur_train_settings_number_published(size_t i);

/* Its value in these settings as text; buffer holds G_ASCII_DTOSTR_BUF_SIZE bytes; returns buffer.
 */
char *demur_train_settings_number_text(const DemurTrainSettings *settings, size_t i, char *buffer);

/* Sets number i from text; DEMUR_ERROR_USAGE with name and range where it is not such a number. */
gboolean demur_train_settings_set_number(DemurTrainSettings *settings, size_t i, const char *text,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether every number, the resampling by site and the feature groups are the paper's. */
gboolean demur_train_settings_are_published(const DemurTrainSettings *settings);

/* "site", "attribute:NAME", "none", "example", "outside" -> shift and shift_attribute;
 * DEMUR_ERROR_USAGE otherwise. */
gboolean demur_train_settings_set_resample(DemurTrainSettings *settings, const char *text,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *demur_train_settings_resample_text(const DemurTrainSettings *settings);

/* "confidence,class,outlier" -> features; DEMUR_ERROR_USAGE for an unknown or empty list. */
gboolean demur_train_settings_set_features(DemurTrainSettings *settings, const char *text,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *demur_train_settings_features_text(const DemurTrainSettings *settings);

/* "auto" leaves what to score by to the training; else a name of selector/scoring.h, asked for.
 * DEMUR_ERROR_USAGE for another word. */
gboolean demur_train_settings_set_scoring(DemurTrainSettings *settings, const char *text,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "paper" or "denoised"; "worst-case" or "flat". DEMUR_ERROR_USAGE for another word. */
gboolean demur_train_settings_set_target(DemurTrainSettings *settings, const char *text,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
const char *demur_target_name(DemurTarget target);
gboolean demur_train_settings_set_stopping(DemurTrainSettings *settings, const char *text,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
const char *demur_stopping_name(DemurStopping stopping);

/* Update at whose end epoch e (1-based) ends: floor(e datasets_per_epoch / batch). */
gint64 demur_train_settings_epoch_end(const DemurTrainSettings *settings, gint64 epoch);

/* All settings as one JSON object under key; read back with every number checked. DEMUR_ERROR_INPUT for a
 * family without a name. */
void demur_train_settings_write_json(const DemurTrainSettings *settings, DemurJson *json,
                                     const char *key);
DemurTrainSettings *demur_train_settings_read_json(JsonObject *object,
                                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
