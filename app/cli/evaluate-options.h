/* The options that evaluate, report and chart share. */
#pragma once

#include "app/cli/command.h"
#include "tasks/evaluate.h"

#define DEMUR_CLI_EVALUATION_ENTRIES(options)                                                       \
  {"cohort", 'c', 0, G_OPTION_ARG_STRING, &(options).cohort, "cohort to evaluate on", "C"},         \
      {"split", 0, 0, G_OPTION_ARG_STRING, &(options).split, "its split (test)", "SPLIT"},          \
      {"resamples", 0, 0, G_OPTION_ARG_STRING, &(options).n_resamples, "resamples a model (5)",     \
       "N"},                                                                                        \
      {"resample-unit",                                                                             \
       0,                                                                                           \
       0,                                                                                           \
       G_OPTION_ARG_STRING,                                                                         \
       &(options).resample_unit,                                                                    \
       "what a resample draws: scan, patient or site (scan)",                                       \
       "UNIT"},                                                                                     \
      {"bootstrap",                                                                                 \
       0,                                                                                           \
       0,                                                                                           \
       G_OPTION_ARG_STRING,                                                                         \
       &(options).n_bootstrap,                                                                      \
       "replicates for intervals (1000)",                                                           \
       "N"},                                                                                        \
      {"bin-size", 0, 0, G_OPTION_ARG_STRING, &(options).bin_size, "fewest scans a bin (25)", "N"}, \
  {                                                                                                 \
    "in-sample", 0, 0, G_OPTION_ARG_NONE, &(options).in_sample,                                     \
        "allow scans that made the selector; printed on every result", NULL                         \
  }

/* What else can be asked for, where the command shows it. */
#define DEMUR_CLI_MEASURE_ENTRIES(options)                                                         \
  {"group-by",                                                                                     \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING_ARRAY,                                                                      \
   &(options).group_by,                                                                            \
   "results by site, scanner, shift or an attribute too; may be given several times",              \
   "NAME"},                                                                                        \
  {                                                                                                \
    "net-benefit-threshold", 0, 0, G_OPTION_ARG_STRING, &(options).net_benefit_threshold,          \
        "risk from which on a scan would be treated (the split's prevalence)", "R"                 \
  }
