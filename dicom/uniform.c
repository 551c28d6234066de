/* Whether a volume is one acquisition of one reconstruction, by all its slices and attributes:
 * values that a volume has once; acquisition numbers, which may step along a scan made in at least
 * three equal steps; times, which go one way and without a jump; and what may vary but takes turns
 * between few values, or is smooth in every other slice, only where two stacks are interleaved. Sideways: what is left of the slices'
 * places across the stack when the median slope (a gantry tilt) is taken off. */
#include "dicom/stack.h"
#include "base/number.h"
#include "dicom/dose-turns.h"
#include "dicom/two-stacks.h"

#include <math.h>
#include <string.h>

#define SCATTER_S 1.0       /* by which the times of neighbours may lie the wrong way */
#define JUMP_RATIO 10.0     /* of a jump against the next largest step */
#define LEAST_JUMP_S 5.0    /* what is less is never told */
#define MADE_JUMP_S 60.0    /* of times at which images were made: a computer may wait */
#define TWO_MOMENTS_S 2.0   /* two only, this far apart: two scans, not a coarse clock */
#define LEAST_IN_BLOCK 3    /* slices */
#define MOST_VALUES 4       /* that take turns */
#define LEAST_DIFFERENCE .1 /* share by which numbers that take turns differ */
#define STEEPEST 0.7        /* no gantry tilts by more than 35 degrees */

typedef struct {
  const DemurStackImage *const *images; /* [n], used ones in order */
  guint n;
  GArray *mixed; /* DemurMixed */
} Volume;

static void
tell(Volume *volume, size_t attribute, DemurMixedKind kind, const char *first, const char *other,
     double seconds) {
  const DemurMixed mixed = {(guint)attribute, kind, g_strdup(first), g_strdup(other), seconds};
  g_array_append_val(volume->mixed, mixed);
}

static const char *
value_at(const Volume *volume, guint i, size_t attribute) {
  return volume->images[i]->values[attribute];
}

/* Index of the first slice with another value than the first slice; n where there is none. */
static guint
first_other(const Volume *volume, size_t attribute) {
  guint i = 1;
  while (i < volume->n &&
         g_strcmp0(value_at(volume, i, attribute), value_at(volume, 0, attribute)) == 0)
    i++;
  return i;
}

typedef struct {
  guint n_runs, n_values;
  guint shortest, longest; /* of the runs but the outer ones */
  guint first, last;       /* lengths of the outer runs */
  guint least;             /* slices of the rarest value */
} Runs;

static Runs
runs_of(const Volume *volume, size_t attribute) {
  g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
  Runs runs = {.shortest = G_MAXUINT, .least = G_MAXUINT};
  for (guint start = 0; start < volume->n;) {
    const char *value = value_at(volume, start, attribute);
    guint end = start + 1;
    while (end < volume->n && g_strcmp0(value_at(volume, end, attribute), value) == 0)
      end++;
    runs.n_runs++;
    if (start == 0)
      runs.first = end;
    else if (end < volume->n) {
      runs.shortest = MIN(runs.shortest, end - start);
      runs.longest = MAX(runs.longest, end - start);
    }
    runs.last = end - start;
    gpointer key = (gpointer)(value != NULL ? value : "");
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));
    g_hash_table_insert(counts, key, GUINT_TO_POINTER(before + end - start));
    start = end;
  }
  runs.n_values = g_hash_table_size(counts);
  GHashTableIter iter;
  gpointer count;
  g_hash_table_iter_init(&iter, counts);
  while (g_hash_table_iter_next(&iter, NULL, &count))
    runs.least = MIN(runs.least, GPOINTER_TO_UINT(count));
  return runs;
}

/* A scan in steps: each acquisition one run, all equally long but the outer ones, at least three.
 */
static void
check_steps(Volume *volume, size_t attribute) {
  const guint other = first_other(volume, attribute);
  if (other == volume->n)
    return;
  const Runs runs = runs_of(volume, attribute);
  const gboolean stepped = runs.n_runs >= 3 && runs.longest - runs.shortest <= 1 &&
                           runs.first <= runs.longest && runs.last <= runs.longest;
  if (runs.n_runs != runs.n_values || !stepped)
    tell(volume, attribute, runs.n_runs != runs.n_values ? DEMUR_MIXED_TURNS : DEMUR_MIXED_VALUES,
         value_at(volume, 0, attribute), value_at(volume, other, attribute), NAN);
}

static gboolean
differ_enough(const char *a, const char *b) {
  char *end_a, *end_b;
  if (a == NULL || b == NULL)
    return TRUE;
  const double x = g_ascii_strtod(a, &end_a), y = g_ascii_strtod(b, &end_b);
  if (end_a == a || end_b == b)
    return TRUE; /* words */
  return fabs(x - y) >= LEAST_DIFFERENCE * fmax(fabs(x), fabs(y));
}

/* Numbers of many values that are smooth in every other slice only. */
static gboolean
is_dose_in_turns(const Volume *volume, size_t attribute) {
  g_autofree double *numbers = g_new(double, volume->n);
  for (guint i = 0; i < volume->n; i++) {
    const char *value = value_at(volume, i, attribute);
    if (value == NULL || !demur_number_parse(value, strlen(value), &numbers[i]))
      return FALSE;
  }
  return demur_dose_takes_turns(numbers, volume->n);
}

static void
check_free(Volume *volume, size_t attribute) {
  const guint other = first_other(volume, attribute);
  if (other == volume->n)
    return;
  const Runs runs = runs_of(volume, attribute);
  const char *first = value_at(volume, 0, attribute), *second = value_at(volume, other, attribute);
  if ((runs.n_values <= MOST_VALUES && runs.least >= LEAST_IN_BLOCK &&
       2 * (runs.n_runs - 1) >= volume->n && differ_enough(first, second)) ||
      is_dose_in_turns(volume, attribute))
    tell(volume, attribute, DEMUR_MIXED_TURNS, first, second, NAN);
}

/* Index of the attribute with the date that belongs to a TM of group 0008; -1 where there is none.
 */
static int
date_of(size_t attribute) {
  return demur_slice_attribute_find(demur_slice_attribute(attribute)->tag - 0x10);
}

/* Moments of all slices; FALSE where one has none, or all have the same. Where dates are known they
 * count; else a step over midnight is one of seconds. */
static gboolean
read_moments(const Volume *volume, size_t attribute, double *seconds) {
  const DemurSliceAttribute *facts = demur_slice_attribute(attribute);
  const int date = facts->vr == DEMUR_VR_TM ? date_of(attribute) : -1;
  gboolean differ = FALSE, dated = date >= 0;
  for (guint i = 0; i < volume->n; i++) {
    seconds[i] = demur_slice_attribute_seconds(facts, value_at(volume, i, attribute));
    if (isnan(seconds[i]))
      return FALSE;
    dated = dated && !isnan(demur_slice_attribute_seconds(demur_slice_attribute((size_t)date),
                                                          value_at(volume, i, (size_t)date)));
  }
  for (guint i = 0; i < volume->n; i++) {
    if (dated)
      seconds[i] += demur_slice_attribute_seconds(demur_slice_attribute((size_t)date),
                                                  value_at(volume, i, (size_t)date));
    else if (facts->vr == DEMUR_VR_TM && i > 0)
      seconds[i] += 86400 * round((seconds[i - 1] - seconds[i]) / 86400);
    differ = differ || seconds[i] != seconds[0];
  }
  return differ;
}

/* Whether the date is looked at with its time: then it isn't by itself. */
static gboolean
has_time(const Volume *volume, size_t attribute) {
  const int time = demur_slice_attribute_find(demur_slice_attribute(attribute)->tag + 0x10);
  return time >= 0 && value_at(volume, 0, (size_t)time) != NULL;
}

/* Of the moments on either side of the largest gap in time: whether both lie all along. */
static gboolean
is_interleaved(const double *seconds, guint n, double after) {
  guint changes = 0, late = 0;
  for (guint i = 0; i < n; i++) {
    late += seconds[i] > after ? 1 : 0;
    changes += i > 0 && (seconds[i] > after) != (seconds[i - 1] > after) ? 1 : 0;
  }
  return late >= LEAST_IN_BLOCK && n - late >= LEAST_IN_BLOCK && changes >= 3;
}

static int
compare_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void
check_time(Volume *volume, size_t attribute) {
  const DemurSliceAttribute *facts = demur_slice_attribute(attribute);
  const guint n = volume->n;
  g_autofree double *seconds = g_new(double, n), *sorted = g_new(double, n);
  if (n < 2 || (facts->vr == DEMUR_VR_DA && has_time(volume, attribute)) ||
      !read_moments(volume, attribute, seconds))
    return;
  guint up = 0, down = 0;
  for (guint i = 1; i < n; i++) {
    up += seconds[i] - seconds[i - 1] > SCATTER_S ? 1 : 0;
    down += seconds[i - 1] - seconds[i] > SCATTER_S ? 1 : 0;
  }
  memcpy(sorted, seconds, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_double);
  double largest = 0, next = 0, after = sorted[0];
  for (guint i = 1; i < n; i++) {
    const double gap = sorted[i] - sorted[i - 1];
    next = gap > largest ? largest : fmax(next, gap);
    after = gap > largest ? sorted[i - 1] : after;
    largest = fmax(largest, gap);
  }
  const guint other = first_other(volume, attribute);
  const char *first = value_at(volume, 0, attribute);
  const char *second = other < n ? value_at(volume, other, attribute) : NULL;
  /* When images were made, not when they were scanned, may scatter: other computers make them. */
  const gboolean scanned = facts->tag == DEMUR_TAG(0x0008, 0x002A) ||
                           facts->tag == DEMUR_TAG(0x0008, 0x0032) ||
                           facts->tag == DEMUR_TAG(0x0008, 0x0022) || (facts->tag >> 16) == 0x0018;
  const gboolean apart = largest > JUMP_RATIO * next;
  if ((scanned && MIN(up, down) >= 2 && 10 * MIN(up, down) >= n) ||
      (largest > 2 * next && largest > SCATTER_S && is_interleaved(seconds, n, after)))
    tell(volume, attribute, DEMUR_MIXED_TURNS, first, second, NAN);
  else if (scanned && next == 0 && largest > TWO_MOMENTS_S)
    tell(volume, attribute, DEMUR_MIXED_VALUES, first, second, NAN);
  else if (scanned ? largest > LEAST_JUMP_S : apart && largest > MADE_JUMP_S)
    tell(volume, attribute, DEMUR_MIXED_JUMP, first, second, largest);
}

/* Across the stack, what each slice lies off where the slope of the stack would have it. */
static double
sideways_of(const Volume *volume) {
  const guint n = volume->n;
  double worst = 0;
  const double *normal = volume->images[0]->normal;
  g_autofree double *slopes = g_new(double, MAX(n, 2));
  double steps[3], median[3], steepness = 0;
  for (int k = 0; k < 3; k++) {
    for (guint i = 0; i + 1 < n; i++) {
      const DemurStackImage *a = volume->images[i], *b = volume->images[i + 1];
      const double gap = b->distance - a->distance;
      slopes[i] = (b->facts.position_mm[k] - a->facts.position_mm[k]) / gap - normal[k];
    }
    qsort(slopes, n - 1, sizeof *slopes, compare_double);
    median[k] = slopes[(n - 2) / 2];
    steepness += median[k] * median[k];
  }
  for (guint i = 0; i + 1 < n; i++) {
    const DemurStackImage *a = volume->images[i], *b = volume->images[i + 1];
    const double gap = b->distance - a->distance;
    double off = 0;
    for (int k = 0; k < 3; k++) {
      steps[k] = b->facts.position_mm[k] - a->facts.position_mm[k] - normal[k] * gap;
      off += (steps[k] - median[k] * gap) * (steps[k] - median[k] * gap);
      if (sqrt(steepness) > STEEPEST)
        off = fmax(off, steps[k] * steps[k]);
    }
    worst = fmax(worst, sqrt(off));
  }
  return worst;
}

void
demur_stack_check(const GPtrArray *images, DemurSeries *series) {
  g_autoptr(GPtrArray) used = g_ptr_array_new();
  for (guint i = 0; i < images->len; i++)
    if (((const DemurStackImage *)images->pdata[i])->state == DEMUR_SLICE_USED)
      g_ptr_array_add(used, images->pdata[i]);
  series->sideways_mm = NAN;
  if (used->len < 2 || series->n_positions < 2)
    return;
  Volume volume = {(const DemurStackImage *const *)(void *)used->pdata, used->len,
                   g_array_new(FALSE, FALSE, sizeof(DemurMixed))};
  for (size_t a = 0; a < demur_slice_attributes_n(); a++) {
    const DemurSliceAttributeRole role = demur_slice_attribute(a)->role;
    const guint other = first_other(&volume, a);
    if (role == DEMUR_SLICE_ATTRIBUTE_STEPS)
      check_steps(&volume, a);
    else if (role == DEMUR_SLICE_ATTRIBUTE_TIME)
      check_time(&volume, a);
    else if (role == DEMUR_SLICE_ATTRIBUTE_FREE)
      check_free(&volume, a);
    else if (other < volume.n)
      tell(&volume, a, DEMUR_MIXED_VALUES, value_at(&volume, 0, a), value_at(&volume, other, a),
           NAN);
  }
  demur_stack_find_two(volume.images, volume.n, series);
  series->sideways_mm = sideways_of(&volume);
  series->n_mixed = volume.mixed->len;
  series->mixed = (DemurMixed *)(void *)g_array_free(volume.mixed, FALSE);
}
