/* What lies at one position is told apart by attributes, tried in the order of their table, in four
 * rounds: those that leave in every part one image at every position; then those that leave as many
 * parts as images lie at one position; then those that leave clean parts of two images and more;
 * then one attribute after another. Repeats are half of the smallest part at least: consecutive
 * acquisitions that meet in a slice are halves of a body, not two stacks. Times separate at gaps of
 * more than twice any other, or, sorted, where a stack is full. Cost O(attributes x images),
 * bounded. */
#include "dicom/stack.h"

#include <math.h>
#include <string.h>

#define MAX_VISITS 20000000 /* of images: what nothing separates is not looked at for ever */
#define MAX_DEPTH 3

typedef struct {
  GPtrArray *images;
  guint n_places;
  guint n_used;
  guint most;  /* images at one position */
  guint *part; /* [images], of the partition at hand */
  guint n_parts;
  guint64 *visits;
} Stack;

typedef enum { ROUND_WHOLE, ROUND_FULLEST, ROUND_CLEAN } Round;

void
demur_stack_image_free(DemurStackImage *image) {
  g_free(image->own_values);
  g_free(image);
}

int
demur_stack_compare_values(const DemurStackImage *a, const DemurStackImage *b) {
  for (size_t i = 0; i < demur_slice_attributes_n(); i++) {
    const double x = g_ascii_strtod(a->values[i] != NULL ? a->values[i] : "", NULL);
    const double y = g_ascii_strtod(b->values[i] != NULL ? b->values[i] : "", NULL);
    if (x < y || x > y)
      return x < y ? -1 : 1;
    const int order = g_strcmp0(a->values[i], b->values[i]);
    if (order != 0)
      return order;
  }
  return 0;
}

static DemurStackImage *
image_at(const Stack *stack, guint i) {
  return stack->images->pdata[i];
}

/* Numbers the positions of the stack, whose images are sorted by distance. */
static void
number_places(Stack *stack) {
  const DemurStackImage *last = NULL;
  guint here = 0;
  for (guint i = 0; i < stack->images->len; i++) {
    DemurStackImage *image = image_at(stack, i);
    if (last == NULL || image->distance - last->distance > DEMUR_SAME_POSITION_MM) {
      stack->n_places++;
      last = image;
      here = 0;
    }
    image->place = stack->n_places - 1;
    if (image->state == DEMUR_SLICE_USED) {
      stack->n_used++;
      here++;
      stack->most = MAX(stack->most, here);
    }
  }
}

static void
part_by_value(Stack *stack, size_t attribute) {
  g_autoptr(GHashTable) by_value = g_hash_table_new(g_str_hash, g_str_equal);
  stack->n_parts = 0;
  for (guint i = 0; i < stack->images->len; i++) {
    const char *value = image_at(stack, i)->values[attribute];
    gpointer key = (gpointer)(value != NULL ? value : "");
    gpointer found = g_hash_table_lookup(by_value, key);
    if (found == NULL) {
      found = GUINT_TO_POINTER(++stack->n_parts);
      g_hash_table_insert(by_value, key, found);
    }
    stack->part[i] = GPOINTER_TO_UINT(found) - 1;
  }
}

typedef struct {
  double seconds;
  guint place;
} Moment;

static int
compare_moments(gconstpointer a, gconstpointer b) {
  const Moment *x = a, *y = b;
  return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static int
compare_falling(gconstpointer a, gconstpointer b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x > y ? -1 : x < y;
}

/* Seconds of all images, those after midnight behind those before it; FALSE where one has none. */
static gboolean
read_moments(const Stack *stack, size_t attribute, double *seconds, Moment *used) {
  const DemurSliceAttribute *facts = demur_slice_attribute(attribute);
  double lowest = INFINITY, highest = -INFINITY;
  for (guint i = 0; i < stack->images->len; i++) {
    seconds[i] = demur_slice_attribute_seconds(facts, image_at(stack, i)->values[attribute]);
    if (isnan(seconds[i]))
      return FALSE;
    lowest = fmin(lowest, seconds[i]);
    highest = fmax(highest, seconds[i]);
  }
  guint n = 0;
  for (guint i = 0; i < stack->images->len; i++) {
    if (facts->vr == DEMUR_VR_TM && highest - lowest > 43200 && seconds[i] < 43200)
      seconds[i] += 86400;
    if (image_at(stack, i)->state == DEMUR_SLICE_USED)
      used[n++] = (Moment){seconds[i], image_at(stack, i)->place};
  }
  qsort(used, n, sizeof *used, compare_moments);
  return TRUE;
}

static void
part_at_cuts(Stack *stack, const double *seconds, const double *cuts, guint n_cuts) {
  stack->n_parts = n_cuts + 1;
  for (guint i = 0; i < stack->images->len; i++) {
    guint part = 0;
    while (part < n_cuts && seconds[i] > cuts[part])
      part++;
    stack->part[i] = part;
  }
}

/* At the (images a position - 1) largest gaps, each more than twice any other. */
static gboolean
part_by_gaps(Stack *stack, size_t attribute) {
  const guint n = stack->n_used, n_cuts = stack->most - 1;
  g_autofree double *seconds = g_new(double, stack->images->len), *gaps = g_new(double, n);
  g_autofree double *cuts = g_new(double, n_cuts);
  g_autofree Moment *used = g_new(Moment, n);
  if (n < 3 || !read_moments(stack, attribute, seconds, used))
    return FALSE;
  for (guint i = 0; i + 1 < n; i++)
    gaps[i] = used[i + 1].seconds - used[i].seconds;
  qsort(gaps, n - 1, sizeof *gaps, compare_falling);
  const double least = gaps[n_cuts - 1];
  if (n_cuts >= n - 1 || !(least > 2 * gaps[n_cuts]))
    return FALSE;
  for (guint i = 0, cut = 0; i + 1 < n; i++)
    if (used[i + 1].seconds - used[i].seconds >= least)
      cuts[cut++] = used[i].seconds;
  part_at_cuts(stack, seconds, cuts, n_cuts);
  return TRUE;
}

/* Where, in order of time, every position has had its image; no two stacks share a moment. */
static gboolean
part_by_full_stacks(Stack *stack, size_t attribute) {
  const guint n = stack->n_used, n_cuts = stack->most - 1;
  if (n != stack->most * stack->n_places)
    return FALSE;
  g_autofree double *seconds = g_new(double, stack->images->len), *cuts = g_new(double, n_cuts);
  g_autofree Moment *used = g_new(Moment, n);
  if (!read_moments(stack, attribute, seconds, used))
    return FALSE;
  for (guint cut = 0; cut < n_cuts; cut++) {
    const guint end = (cut + 1) * stack->n_places;
    cuts[cut] = used[end - 1].seconds;
    if (!(used[end].seconds > cuts[cut]))
      return FALSE;
  }
  part_at_cuts(stack, seconds, cuts, n_cuts);
  return TRUE;
}

/* Whether the partition at hand leaves one image at most at each position of every part, and is
 * what the round asks for. */
static gboolean
is_good(const Stack *stack, Round round) {
  if (stack->n_parts < 2 || (round == ROUND_FULLEST && stack->n_parts != stack->most) ||
      (round == ROUND_WHOLE && stack->n_parts * (guint64)stack->n_places != stack->n_used))
    return FALSE;
  g_autofree guint *used = g_new0(guint, stack->n_parts);
  g_autofree guint *last = g_new0(guint, stack->n_parts); /* place + 1 */
  for (guint i = 0; i < stack->images->len; i++) {
    const DemurStackImage *image = image_at(stack, i);
    const guint part = stack->part[i];
    if (image->state != DEMUR_SLICE_USED)
      continue;
    if (last[part] == image->place + 1)
      return FALSE;
    last[part] = image->place + 1;
    used[part]++;
  }
  guint smallest = stack->n_used;
  for (guint p = 0; p < stack->n_parts; p++)
    smallest = MIN(smallest, used[p]);
  return 2 * (guint64)(stack->n_used - stack->n_places) >= smallest &&
         (round != ROUND_CLEAN || smallest >= 2);
}

static GPtrArray *
collect_parts(const Stack *stack) {
  GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  for (guint p = 0; p < stack->n_parts; p++)
    g_ptr_array_add(parts, g_ptr_array_new());
  for (guint i = 0; i < stack->images->len; i++)
    g_ptr_array_add(parts->pdata[stack->part[i]], image_at(stack, i));
  return parts;
}

/* Tries the attribute; TRUE leaves the partition at hand. */
static gboolean
separates(Stack *stack, size_t attribute, Round round) {
  const DemurSliceAttributeRole role = demur_slice_attribute(attribute)->role;
  *stack->visits += stack->images->len;
  part_by_value(stack, attribute);
  /* What differs from slice to slice anyway makes clean parts by chance. */
  const gboolean by_chance =
      role == DEMUR_SLICE_ATTRIBUTE_FREE || role == DEMUR_SLICE_ATTRIBUTE_TIME;
  if (!(round == ROUND_CLEAN && by_chance) && is_good(stack, round))
    return TRUE;
  if (stack->n_parts < 2 || role != DEMUR_SLICE_ATTRIBUTE_TIME)
    return FALSE;
  return (part_by_gaps(stack, attribute) && is_good(stack, round)) ||
         (round == ROUND_WHOLE && part_by_full_stacks(stack, attribute) && is_good(stack, round));
}

static GPtrArray *separate(GPtrArray *images, guint depth, guint64 *visits, gboolean *repeated);

/* Splits by one attribute and each part by others; NULL where a part stays repeated. */
static GPtrArray *
separate_further(Stack *stack, size_t attribute, guint depth) {
  part_by_value(stack, attribute);
  if (stack->n_parts < 2 || stack->n_parts > stack->most)
    return NULL;
  g_autoptr(GPtrArray) halves = collect_parts(stack);
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  gboolean any_repeated = FALSE; /* none: clean parts, which the rounds before have refused */
  for (guint i = 0; i < halves->len; i++) {
    gboolean repeated;
    g_autoptr(GPtrArray) parts = separate(halves->pdata[i], depth + 1, stack->visits, &repeated);
    if (parts == NULL && repeated)
      return NULL;
    any_repeated = any_repeated || repeated;
    if (parts == NULL)
      g_ptr_array_add(all, g_ptr_array_ref(halves->pdata[i]));
    for (guint k = 0; parts != NULL && k < parts->len; k++)
      g_ptr_array_add(all, g_ptr_array_ref(parts->pdata[k]));
  }
  return any_repeated ? g_steal_pointer(&all) : NULL;
}

static GPtrArray *
separate(GPtrArray *images, guint depth, guint64 *visits, gboolean *repeated) {
  Stack stack = {.images = images, .visits = visits};
  number_places(&stack);
  *repeated = stack.most > 1;
  if (stack.most < 2 || stack.n_places < 2)
    return NULL;
  g_autofree guint *part = stack.part = g_new(guint, images->len);
  for (int round = ROUND_WHOLE; round <= ROUND_CLEAN; round++)
    for (size_t a = 0; a < demur_slice_attributes_n() && *visits < MAX_VISITS; a++)
      if (separates(&stack, a, (Round)round))
        return collect_parts(&stack);
  for (size_t a = 0; a < demur_slice_attributes_n() && depth < MAX_DEPTH && *visits < MAX_VISITS;
       a++) {
    GPtrArray *parts = demur_slice_attribute(a)->role != DEMUR_SLICE_ATTRIBUTE_FREE
                           ? separate_further(&stack, a, depth)
                           : NULL;
    if (parts != NULL)
      return parts;
  }
  return NULL;
}

GPtrArray *
demur_stack_separate(GPtrArray *images) {
  guint64 visits = 0;
  gboolean repeated;
  return separate(images, 0, &visits, &repeated);
}
