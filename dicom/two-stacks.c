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
 * (dicom/free-elements.c), and an element that is not written in one way in all slices is not compared:
 * an archive wrote some of them anew.
 *
 * Cost O(e) in the elements e by which the slices differ from the first one of their series: a slice
 * that has the first one's value costs nothing. Memory O(1) for each element that differs at all. */
#include "dicom/two-stacks.h"

#include <math.h>

#include "dicom/free-elements.h"
#include "dicom/root-elements.h"

#define MOST_VALUES 4
#define LEAST_SLICES 3 /* of a value */
#define MEASURED 0.1   /* share by which measured numbers differ at least */

typedef struct {
  guint64 value;
  guint length;
} Run;

/* The values of one element along the stack, followed slice by slice. */
typedef struct {
  guint32 tag;
  DemurRootElement base; /* what a slice has that does not differ */
  guint at;              /* slices so far */
  guint n_values, counts[MOST_VALUES];
  guint64 values[MOST_VALUES];
  guint writings;         /* 1 << each */
  gboolean too_many;      /* values: nothing more is looked at */
  double lowest, highest; /* of numbers; NaN: a value is none */
  guint n_runs;
  Run runs[MOST_VALUES];        /* the first ones */
  Run last[MOST_VALUES + 1];    /* run i at i modulo their number, as far as they are the last */
  guint alike[MOST_VALUES + 1]; /* of k: runs of one slice with the value of the run k before */
} Course;

/* Which of the values it is; MOST_VALUES where it is one too many. */
static guint
value_of(Course *course, const DemurRootElement *element) {
  guint i = 0;
  while (i < course->n_values && course->values[i] != element->digest)
    i++;
  if (i < course->n_values || i == MOST_VALUES)
    return i;
  const double number = (double)element->number;
  course->values[course->n_values++] = element->digest;
  if (element->digest != DEMUR_ROOT_ABSENT)
    course->writings |= 1u << demur_root_element_writing(element);
  course->lowest = i == 0 || number < course->lowest ? number : course->lowest;
  course->highest = i == 0 || number > course->highest ? number : course->highest;
  if (isnan(number))
    course->lowest = course->highest = NAN;
  return i;
}

static Run *
last_run(Course *course, guint back) {
  return &course->last[(course->n_runs - 1 - back) % G_N_ELEMENTS(course->last)];
}

/* The last run has ended. */
static void
end_run(Course *course) {
  if (course->n_runs == 0)
    return;
  const Run *run = last_run(course, 0);
  if (course->n_runs <= MOST_VALUES)
    course->runs[course->n_runs - 1] = *run;
  for (guint k = 2; k <= MOST_VALUES && k < course->n_runs; k++) {
    const Run *before = last_run(course, k);
    if (run->length == 1 && before->length == 1 && before->value == run->value)
      course->alike[k]++;
  }
}

/* The next length slices have the element. */
static void
go_on(Course *course, const DemurRootElement *element, guint length) {
  course->at += length;
  if (length == 0 || course->too_many)
    return;
  const guint i = value_of(course, element);
  course->too_many = i == MOST_VALUES;
  if (course->too_many)
    return;
  course->counts[i] += length;
  if (course->n_runs == 0 || last_run(course, 0)->value != element->digest) {
    end_run(course);
    course->n_runs++;
    *last_run(course, 0) = (Run){element->digest, 0};
  }
  last_run(course, 0)->length += length;
}

/* Whether these are runs of a scan in steps: equally long, the one at one end may be shorter. */
static gboolean
are_steps(const Course *course) {
  const guint n = course->n_runs;
  guint longest = 0, n_shorter = 0;
  for (guint i = 0; i < n; i++)
    longest = MAX(longest, course->runs[i].length);
  for (guint i = 0; i < n; i++) {
    const gboolean shorter = course->runs[i].length + 1 < longest;
    if (shorter && i > 0 && i + 1 < n)
      return FALSE;
    n_shorter += shorter ? 1 : 0;
  }
  return n >= 3 && n_shorter <= 1;
}

/* Measured private numbers that are about the same. */
static gboolean
is_noise(const Course *course) {
  const gboolean is_private = (course->tag & 0x10000u) != 0;
  return is_private && course->highest - course->lowest <
                           MEASURED * fmax(fabs(course->highest), fabs(course->lowest));
}

/* Whether the course that has ended is of more stacks than one; how in *in_turns. */
static gboolean
is_of_two(const Course *course, gboolean *in_turns) {
  guint least = G_MAXUINT;
  for (guint i = 0; i < course->n_values; i++)
    least = MIN(least, course->counts[i]);
  if (course->too_many || course->n_values < 2 || least < LEAST_SLICES || is_noise(course) ||
      (course->writings & (course->writings - 1)) != 0)
    return FALSE;
  const guint k = course->n_values;
  *in_turns = demur_element_freedom(course->tag, DEMUR_CREATOR_UNKNOWN) != DEMUR_ELEMENT_TURNS &&
              4 * (course->alike[k] + k) >= 3 * course->at;
  return *in_turns || (course->n_runs == k && !are_steps(course));
}

static Course *
course_of(GHashTable *courses, const DemurRootElements *first, guint32 tag) {
  Course *course = g_hash_table_lookup(courses, GUINT_TO_POINTER(tag));
  if (course != NULL)
    return course;
  course = g_new0(Course, 1);
  course->tag = tag;
  course->base = demur_root_elements_base(first, tag);
  g_hash_table_insert(courses, GUINT_TO_POINTER(tag), course);
  return course;
}

void
demur_stack_find_two(const DemurStackImage *const *images, guint n, DemurSeries *series) {
  const DemurRootElements *first = images[0]->file->header->root;
  g_autoptr(GHashTable) courses = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  for (guint i = 0; i < n; i++) {
    const DemurRootElements *root = images[i]->file->header->root;
    g_return_if_fail(demur_root_elements_share(root, first));
    guint n_differing;
    const DemurRootElement *elements = demur_root_elements_differing(root, &n_differing);
    for (guint k = 0; k < n_differing; k++) {
      Course *course = course_of(courses, first, elements[k].tag);
      go_on(course, &course->base, i - course->at);
      go_on(course, &elements[k], 1);
    }
  }
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, courses);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    Course *course = value;
    gboolean in_turns;
    go_on(course, &course->base, n - course->at);
    end_run(course);
    if (!is_of_two(course, &in_turns))
      continue;
    if (series->n_two_stacks++ > 0 && course->tag > series->two_stacks_tag)
      continue;
    series->two_stacks_tag = course->tag;
    series->two_stacks_in_turns = in_turns;
  }
}
