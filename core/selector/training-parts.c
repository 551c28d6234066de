/* Which scans do what: the splits' rows, whole sites drawn to validate where no split does, the
 * groups of the family T, and what the selector remembers of all that. */
#include "selector/training-parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#include "selector/folds.h"
#include "selector/outcome-weights.h"
#include "selector/selector-private.h"

#define VALIDATION_SHARE 0.2
#define MIN_SITES_TO_DRAW 5

static void
part_clear(DemurTrainingPart *part) {
  g_free(part->split);
  g_free(part->rows);
  g_free(part->weights);
}

static gboolean
part_load(DemurTrainingPart *part, DemurPartRole role, const DemurCohort *cohort, const char *split,
          GError **error) {
  part->role = role;
  part->split = g_strdup(split);
  part->rows = demur_cohort_rows(cohort, split, &part->n_rows, error);
  return part->rows != NULL;
}

/* Scans that were left before the horizon go, and the others stand for them. */
static gboolean
weigh(const DemurCohort *cohort, DemurTrainingPart *part, GError **error) {
  const size_t n = part->n_rows;
  g_autofree double *weights = NULL;
  if (!demur_outcome_weights(cohort, part->rows, n, &weights, error))
    return FALSE;
  if (weights == NULL)
    return TRUE;
  part->weights = g_new(double, n);
  part->n_rows = 0;
  for (size_t i = 0; i < n; i++) {
    if (!(weights[i] > 0.0))
      continue;
    part->weights[part->n_rows] = weights[i];
    part->rows[part->n_rows++] = part->rows[i];
  }
  return TRUE;
}

static gboolean
check_labels(const DemurCohort *cohort, const DemurTrainingPart *part, GError **error) {
  size_t n_missing = 0, first = 0;
  for (size_t i = 0; i < part->n_rows; i++)
    if (cohort->labels[part->rows[i]] == DEMUR_NO_LABEL && n_missing++ == 0)
      first = part->rows[i];
  if (n_missing == 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "%zu scans of split '%s' have no label (the first is scan %s); every scan that %s "
      "needs one: put the others into a split of their own",
      n_missing, part->split, cohort->scan_ids[first],
      part->role == DEMUR_PART_TRAINING ? "trains" : "validates");
  return FALSE;
}

/* Moves whole sites, in an order drawn by the seed, until they hold 20 % of the training scans;
 * with fewer than five sites 20 % of the patients. */
static gboolean
draw_validation(const DemurCohort *cohort, guint64 seed, DemurTrainingPart *training,
                DemurTrainingPart *validation, char **note, GError **error) {
  g_autofree guint32 *site_scans = g_new0(guint32, MAX(cohort->n_sites, 1));
  g_autofree guint32 *units = g_new(guint32, MAX(cohort->n_sites, cohort->n_patients) + 1);
  size_t n_units = 0;
  for (size_t i = 0; i < training->n_rows; i++)
    site_scans[cohort->sites[training->rows[i]]]++;
  for (size_t s = 0; s < cohort->n_sites; s++)
    if (site_scans[s] > 0)
      units[n_units++] = (guint32)s;
  const gboolean by_site = n_units >= MIN_SITES_TO_DRAW;
  const guint32 *unit_of = by_site ? cohort->sites : cohort->patients;
  const size_t n_sites = n_units, n_names = by_site ? cohort->n_sites : cohort->n_patients;
  g_autofree guint32 *unit_scans = g_new0(guint32, MAX(n_names, 1));
  for (size_t i = 0; i < training->n_rows; i++)
    unit_scans[unit_of[training->rows[i]]]++;
  if (!by_site) {
    n_units = 0;
    for (size_t p = 0; p < n_names; p++)
      if (unit_scans[p] > 0)
        units[n_units++] = (guint32)p;
  }
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_VALIDATION_SPLIT, 0, 0, 0);
  demur_random_shuffle(&random, n_units, units);
  g_autofree guint8 *chosen = g_new0(guint8, MAX(n_names, 1));
  size_t n_wanted = (size_t)ceil(VALIDATION_SHARE * (double)training->n_rows);
  size_t n_drawn = 0, n_chosen = 0;
  while (n_drawn < n_wanted && n_chosen + 1 < n_units) {
    chosen[units[n_chosen]] = 1;
    n_drawn += unit_scans[units[n_chosen++]];
  }
  if (n_drawn == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "split '%s' holds one patient only: there is nothing to validate on",
                    training->split);
    return FALSE;
  }
  validation->role = DEMUR_PART_VALIDATION;
  validation->split = g_strdup_printf("%s (drawn)", training->split);
  validation->rows = g_new(guint32, n_drawn);
  size_t n_kept = 0;
  for (size_t i = 0; i < training->n_rows; i++) {
    const guint32 row = training->rows[i];
    if (chosen[unit_of[row]])
      validation->rows[validation->n_rows++] = row;
    else
      training->rows[n_kept++] = row;
  }
  training->n_rows = n_kept;
  *note = by_site
              ? g_strdup_printf("no split 'validation': %zu of %zu sites (%zu scans) of '%s' were "
                                "drawn by the seed to validate",
                                n_chosen, n_units, n_drawn, training->split)
              : g_strdup_printf("no split 'validation' and only %zu sites: %zu of %zu patients "
                                "(%zu scans) of '%s' were drawn by the seed to validate",
                                n_sites, n_chosen, n_units, n_drawn, training->split);
  return TRUE;
}

gboolean
demur_training_groups(const DemurCohort *cohort, const DemurTrainSettings *settings,
                      const DemurTrainingPart *part, guint32 **groups, size_t *n_groups,
                      GError **error) {
  const guint32 *codes = cohort->sites;
  *n_groups = cohort->n_sites;
  const char *attribute =
      settings->shift == DEMUR_SHIFT_OUTSIDE ? DEMUR_COHORT_SHIFT : settings->shift_attribute;
  if (attribute != NULL) {
    const gssize index = demur_cohort_find_attribute(cohort, attribute);
    if (index < 0) {
      demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                      "cohort '%s' has no column '%s' to resample by; see `demur cohort show %s`",
                      cohort->name, attribute, cohort->name);
      return FALSE;
    }
    codes = cohort->attributes[index].codes;
    *n_groups = cohort->attributes[index].n_values;
  }
  *groups = g_new(guint32, MAX(part->n_rows, 1));
  for (size_t i = 0; i < part->n_rows; i++)
    (*groups)[i] = codes[part->rows[i]];
  return TRUE;
}

static int
compare_hashes(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

/* Patients of all parts, and the table of parts. */
static void
remember_parts(DemurSelector *selector, const DemurCohort *cohort,
               const DemurTrainingPart *const *parts, size_t n_parts) {
  g_autofree guint8 *seen = g_new0(guint8, MAX(cohort->n_patients, 1));
  g_autoptr(GArray) hashes = g_array_new(FALSE, FALSE, sizeof(guint64));
  selector->parts = g_new0(DemurSelectorPart, n_parts);
  for (size_t p = 0; p < n_parts; p++) {
    DemurSelectorPart *part = &selector->parts[selector->n_parts++];
    g_autofree guint8 *patients = g_new0(guint8, MAX(cohort->n_patients, 1));
    g_autofree guint8 *sites = g_new0(guint8, MAX(cohort->n_sites, 1));
    part->role = parts[p]->role;
    part->split = g_strdup(parts[p]->split);
    part->n_scans = parts[p]->n_rows;
    for (size_t i = 0; i < parts[p]->n_rows; i++) {
      const guint32 row = parts[p]->rows[i], patient = cohort->patients[row];
      part->n_patients += !patients[patient];
      patients[patient] = 1;
      part->n_sites += !sites[cohort->sites[row]];
      sites[cohort->sites[row]] = 1;
      if (!seen[patient]) {
        seen[patient] = 1;
        const guint64 hash = demur_selector_patient_hash(cohort->patient_ids[patient]);
        g_array_append_val(hashes, hash);
      }
    }
  }
  g_array_sort(hashes, compare_hashes);
  selector->n_patients = hashes->len;
  selector->patient_hashes = g_memdup2(hashes->data, MAX(hashes->len, 1) * sizeof(guint64));
}

guint32 *
demur_training_fold_units(const DemurCohort *cohort, const DemurTrainingPart *part) {
  guint32 *units = g_new(guint32, MAX(part->n_rows, 1));
  for (size_t i = 0; i < part->n_rows; i++)
    units[i] = cohort->sites[part->rows[i]];
  if (demur_folds_count_units(units, part->n_rows) >= MIN_SITES_TO_DRAW)
    return units;
  for (size_t i = 0; i < part->n_rows; i++)
    units[i] = cohort->patients[part->rows[i]];
  return units;
}

void
demur_training_parts_clear(DemurTrainingParts *parts) {
  part_clear(&parts->reference);
  part_clear(&parts->training);
  part_clear(&parts->validation);
  part_clear(&parts->recalibration);
}

gboolean
demur_training_parts_find(const DemurCohort *cohort, const DemurTrainSettings *settings,
                          guint64 seed, DemurTrainingParts *parts, char **note, GError **error) {
  const char *split = settings->split != NULL ? settings->split : "selector_train";
  if (!part_load(&parts->training, DEMUR_PART_TRAINING, cohort, split, error))
    return FALSE;
  if (settings->validation_split != NULL || demur_cohort_find_split(cohort, "validation") >= 0) {
    const char *name =
        settings->validation_split != NULL ? settings->validation_split : "validation";
    if (strcmp(name, split) == 0) {
      demur_error_set(error, DEMUR_ERROR_USAGE,
                      "the validation split is the training split '%s'; name another, or none",
                      name);
      return FALSE;
    }
    if (!part_load(&parts->validation, DEMUR_PART_VALIDATION, cohort, name, error))
      return FALSE;
    *note = g_strdup_printf("split '%s' validates (%zu scans)", name, parts->validation.n_rows);
  } else if (settings->stopping == DEMUR_STOPPING_FLAT) {
    *note = g_strdup("every labelled scan trains: stopping flat chooses nothing by validation");
  } else if (!draw_validation(cohort, seed, &parts->training, &parts->validation, note, error)) {
    return FALSE;
  }
  const char *reference = settings->reference_split;
  if (reference == NULL)
    reference = demur_cohort_find_split(cohort, "base_train") >= 0 ? "base_train" : split;
  if (strcmp(reference, split) == 0) {
    parts->reference.role = DEMUR_PART_REFERENCE;
    parts->reference.split = g_strdup(split);
    parts->reference.rows =
        g_memdup2(parts->training.rows, parts->training.n_rows * sizeof(guint32));
    parts->reference.n_rows = parts->training.n_rows;
  } else if (!part_load(&parts->reference, DEMUR_PART_REFERENCE, cohort, reference, error)) {
    return FALSE;
  }
  /* The reference needs no outcomes: scans that were left before the horizon stay in it. */
  if (!weigh(cohort, &parts->training, error) || !weigh(cohort, &parts->validation, error) ||
      !check_labels(cohort, &parts->training, error) ||
      !check_labels(cohort, &parts->validation, error))
    return FALSE;
  if (settings->recalibrate != DEMUR_RECALIBRATION_NONE && settings->recalibration_split != NULL &&
      strcmp(settings->recalibration_split, split) != 0)
    return part_load(&parts->recalibration, DEMUR_PART_RECALIBRATION, cohort,
                     settings->recalibration_split, error) &&
           weigh(cohort, &parts->recalibration, error) &&
           check_labels(cohort, &parts->recalibration, error);
  return TRUE;
}

void
demur_training_parts_remember(DemurSelector *s, const DemurCohort *cohort,
                              const DemurTrainingParts *parts) {
  const DemurTrainingPart *list[4] = {&parts->reference, &parts->training};
  size_t n_parts = 2;
  if (parts->validation.n_rows > 0)
    list[n_parts++] = &parts->validation;
  if (parts->recalibration.n_rows > 0)
    list[n_parts++] = &parts->recalibration;
  remember_parts(s, cohort, list, n_parts);
  size_t n_all = 0;
  for (size_t p = 0; p < n_parts; p++)
    n_all += list[p]->n_rows;
  g_autofree guint32 *all = g_new(guint32, MAX(n_all, 1));
  size_t place = 0;
  for (size_t p = 0; p < n_parts; p++) {
    memcpy(all + place, list[p]->rows, list[p]->n_rows * sizeof *all);
    place += list[p]->n_rows;
  }
  s->cohort_digest = demur_cohort_digest(cohort, all, n_all);
}
