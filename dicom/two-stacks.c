/* An element parts a stack of n slices in two (three, four) where it has few values, each in three
 * slices at least, and the slices of each value are a regular stack themselves:
 *
 *   one behind the other: each value in one run of slices;
 *   in turns: 3 of 4 slices have the value of the slice k before, k the number of values, and
 *     few that of their neighbour.
 *
 * Nothing else is two stacks: a value in the middle of another (A B A leaves a hole in A), one that
 * comes and goes, one that changes from slice to slice, one in two slices. Nor are three equal steps
 * and more with a value each, which a scan in steps has; nor measured private numbers that differ by
 * less than a tenth, as a temperature does. What may differ in any pattern is never read
 * (dicom/free-elements.c).
 *
 * Cost O(e log e) in the elements e by which the slices differ from the first one of their series:
 * a slice that has the first one's value costs nothing. */
#include "dicom/two-stacks.h"

#include <math.h>

#include "dicom/free-elements.h"
#include "dicom/root-elements.h"

#define MOST_VALUES 4
#define LEAST_SLICES 3 /* of a value */
#define MEASURED 0.1   /* share by which measured numbers differ at least */

typedef struct {
  DemurRootElement element;
  guint slice;
} Difference;

typedef struct {
  guint64 value;
  guint first, length;
} Run;

/* The values of one element along the stack. */
typedef struct {
  GArray *runs; /* Run */
  guint n_values, counts[MOST_VALUES + 1];
  guint64 values[MOST_VALUES + 1];
  double lowest, highest; /* of numbers; NaN: a value is none */
} Course;

static int
compare_differences(gconstpointer a, gconstpointer b) {
  const Difference *x = a, *y = b;
  if (x->element.tag != y->element.tag)
    return x->element.tag < y->element.tag ? -1 : 1;
  return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* The next length slices have the element; FALSE where it has more values than are looked at. */
static gboolean
go_on(Course *course, const DemurRootElement *element, guint first, guint length) {
  if (length == 0)
    return TRUE;
  guint i = 0;
  while (i < course->n_values && course->values[i] != element->digest)
    i++;
  if (i == course->n_values) {
    if (course->n_values++ == MOST_VALUES)
      return FALSE;
    course->values[i] = element->digest;
    course->counts[i] = 0;
    const double number = (double)element->number;
    course->lowest = i == 0 || number < course->lowest ? number : course->lowest;
    course->highest = i == 0 || number > course->highest ? number : course->highest;
    if (isnan(number))
      course->lowest = course->highest = NAN;
  }
  course->counts[i] += length;
  Run *last =
      course->runs->len > 0 ? &g_array_index(course->runs, Run, course->runs->len - 1) : NULL;
  if (last != NULL && last->value == element->digest) {
    last->length += length;
    return TRUE;
  }
  const Run run = {element->digest, first, length};
  g_array_append_val(course->runs, run);
  return TRUE;
}

static const Run *
run_at(const Course *course, guint i) {
  return &g_array_index(course->runs, Run, i);
}

/* Whether these are runs of a scan in steps: equally long, the one at one end may be shorter. */
static gboolean
are_steps(const Course *course) {
  const guint n = course->runs->len;
  guint longest = 0, n_shorter = 0;
  for (guint i = 0; i < n; i++)
    longest = MAX(longest, run_at(course, i)->length);
  for (guint i = 0; i < n; i++) {
    const gboolean shorter = run_at(course, i)->length + 1 < longest;
    if (shorter && i > 0 && i + 1 < n)
      return FALSE;
    n_shorter += shorter ? 1 : 0;
  }
  return n >= 3 && n_shorter <= 1;
}

/* Of n slices: whether values follow each other in a circle. Short runs alone are looked at. */
static gboolean
are_in_turns(const Course *course, guint n) {
  const guint n_runs = course->runs->len, k = course->n_values;
  guint alike = 0;
  for (guint i = k; i < n_runs; i++)
    alike += run_at(course, i)->length == 1 && run_at(course, i - k)->length == 1 &&
                     run_at(course, i)->value == run_at(course, i - k)->value
                 ? 1
                 : 0;
  return 4 * (alike + k) >= 3 * n;
}

static gboolean
is_noise(guint32 tag, const Course *course) {
  const gboolean is_private = (tag & 0x10000u) != 0;
  return is_private && course->highest - course->lowest <
                           MEASURED * fmax(fabs(course->highest), fabs(course->lowest));
}

/* Whether the course of the element is of more stacks than one; how in *in_turns. */
static gboolean
is_of_two(guint32 tag, const Course *course, guint n, gboolean *in_turns) {
  guint least = G_MAXUINT;
  for (guint i = 0; i < course->n_values; i++)
    least = MIN(least, course->counts[i]);
  if (course->n_values < 2 || least < LEAST_SLICES || is_noise(tag, course))
    return FALSE;
  *in_turns = demur_element_freedom(tag, DEMUR_CREATOR_UNKNOWN) != DEMUR_ELEMENT_TURNS &&
              are_in_turns(course, n);
  return *in_turns || (course->runs->len == course->n_values && !are_steps(course));
}

/* Follows one element, whose differences [m] are in order of the slices. */
static void
look_at(const Difference *differences, guint m, const DemurRootElements *first, guint n,
        GArray *runs, DemurSeries *series) {
  const guint32 tag = differences[0].element.tag;
  const DemurRootElement base = demur_root_elements_base(first, tag);
  Course course = {.runs = runs};
  guint at = 0;
  g_array_set_size(runs, 0);
  for (guint i = 0; i < m; at = differences[i++].slice + 1)
    if (!go_on(&course, &base, at, differences[i].slice - at) ||
        !go_on(&course, &differences[i].element, differences[i].slice, 1))
      return;
  gboolean in_turns;
  if (!go_on(&course, &base, at, n - at) || !is_of_two(tag, &course, n, &in_turns))
    return;
  if (series->n_two_stacks++ > 0)
    return;
  series->two_stacks_tag = tag;
  series->two_stacks_in_turns = in_turns;
}

void
demur_stack_find_two(const DemurStackImage *const *images, guint n, DemurSeries *series) {
  const DemurRootElements *first = images[0]->file->header->root;
  g_autoptr(GArray) differences = g_array_new(FALSE, FALSE, sizeof(Difference));
  for (guint i = 0; i < n; i++) {
    const DemurRootElements *root = images[i]->file->header->root;
    g_return_if_fail(demur_root_elements_share(root, first));
    guint n_differing;
    const DemurRootElement *elements = demur_root_elements_differing(root, &n_differing);
    for (guint k = 0; k < n_differing; k++) {
      const Difference difference = {elements[k], i};
      g_array_append_val(differences, difference);
    }
  }
  g_array_sort(differences, compare_differences);
  g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(Run));
  for (guint start = 0, end; start < differences->len; start = end) {
    const Difference *at = &g_array_index(differences, Difference, start);
    for (end = start + 1; end < differences->len; end++)
      if (g_array_index(differences, Difference, end).element.tag != at->element.tag)
        break;
    look_at(at, end - start, first, n, runs, series);
  }
}
