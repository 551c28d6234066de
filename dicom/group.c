/* Images -> groups by text key -> split by orientation and pixel spacing -> split where positions
 * repeat -> ordered and measured. Everything is decided on values and breaks its ties by path, so
 * the order in which files were found plays no part. Cost O(n log n) in the images. */
#include "base/sha256.h"
#include "dicom/geometry.h"
#include "dicom/image-kind.h"
#include "dicom/measure.h"
#include "dicom/repeats.h"

#include <math.h>
#include <string.h>

#define FARTHEST_MM 1e6 /* positions beyond a kilometre are none */
#define SAME_DIRECTION_DEGREES 0.5
#define SAME_SPACING 0.01 /* share of the pixel spacing */

typedef DemurStackImage Image;

typedef struct {
  GPtrArray *images;      /* Image, borrowed */
  const char *series_uid; /* borrowed; NULL */
  double first_distance;
  DemurSeries *series;
} Part;

typedef struct {
  guint *persons; /* [n files] */
  DemurRepeats repeats;
  double gap_tolerance;
} Grouping;

static int
compare_number(gint64 a, gint64 b) {
  return a < b ? -1 : a > b;
}

static char *
group_key(const DemurFile *file, guint person) {
  const DemurHeader *header = file->header;
  g_autofree char *folder = g_path_get_dirname(file->path);
  g_autofree char *unnamed =
      g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s", header->series_number,
                      file->entry != NULL ? file->path : folder, header->series_description);
  return g_strdup_printf("%s\n%s\n%u\n%s\n%s\n%d%d%d\n%u x %u x %u",
                         header->series_uid == NULL && header->study_uid != NULL ? header->study_uid
                                                                                 : "",
                         header->series_uid != NULL ? header->series_uid : unnamed, person,
                         header->modality != NULL ? header->modality : "",
                         header->sop_class_uid != NULL ? header->sop_class_uid : "",
                         demur_image_is_localizer(header), demur_image_is_secondary(header),
                         header->n_frames > 1, header->rows, header->columns, header->samples);
}

/* Which person each file is of: [n files], owned. The same words in one series are one person; what
 * can't be told stands apart (base/person.h). */
static guint *
persons_of(const DemurFiles *files) {
  const guint n = files->images->len;
  g_autofree DemurPerson *persons = g_new0(DemurPerson, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    const DemurHeader *header = ((const DemurFile *)files->images->pdata[i])->header;
    persons[i] = (DemurPerson){header->patient_id_issuer, header->patient_id, header->patient_name,
                               header->patient_birth_date, header->patient_sex};
  }
  guint *classes = g_new0(guint, MAX(n, 1));
  demur_person_classes(persons, n, classes);
  return classes;
}

static gboolean
same_plane(const Image *a, const Image *b) {
  if (a->has_normal != b->has_normal)
    return FALSE;
  if (a->has_normal &&
      (demur_geometry_angle(a->normal, b->normal) > SAME_DIRECTION_DEGREES ||
       demur_geometry_angle(a->facts.orientation, b->facts.orientation) > SAME_DIRECTION_DEGREES))
    return FALSE;
  for (int i = 0; i < 2; i++) {
    const double x = a->facts.pixel_spacing_mm[i], y = b->facts.pixel_spacing_mm[i];
    if (isfinite(x) && isfinite(y) && fabs(x - y) > SAME_SPACING * fmax(fabs(x), fabs(y)))
      return FALSE;
  }
  return TRUE;
}

static int
order_parts(gconstpointer a, gconstpointer b) {
  const Part *x = *(Part *const *)a, *y = *(Part *const *)b;
  const int uids = g_strcmp0(x->series_uid, y->series_uid);
  if (uids != 0)
    return uids;
  const gboolean x_at = isfinite(x->first_distance), y_at = isfinite(y->first_distance);
  if (x_at != y_at)
    return y_at - x_at;
  if (x_at && fabs(x->first_distance - y->first_distance) > DEMUR_SAME_POSITION_MM)
    return x->first_distance < y->first_distance ? -1 : 1;
  const int acquisitions =
      compare_number(x->series->acquisition_number, y->series->acquisition_number);
  if (acquisitions != 0)
    return acquisitions;
  const int values = demur_stack_compare_values(x->images->pdata[0], y->images->pdata[0]);
  return values != 0 ? values : demur_stack_compare_place(x->images->pdata[0], y->images->pdata[0]);
}

static int
order_series(gconstpointer a, gconstpointer b) {
  const DemurSeries *x = *(DemurSeries *const *)a, *y = *(DemurSeries *const *)b;
  const int studies = g_strcmp0(x->study_uid, y->study_uid);
  if (studies != 0)
    return studies;
  const int numbers = compare_number(x->series_number, y->series_number);
  if (numbers != 0)
    return numbers;
  const int uids = g_strcmp0(x->series_uid, y->series_uid);
  if (uids != 0)
    return uids;
  return x->part != y->part ? compare_number(x->part, y->part) : strcmp(x->scan_id, y->scan_id);
}

static int
compare_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
name_by_digest(Grouping *grouping, Part *part) {
  g_autoptr(GPtrArray) digests = g_ptr_array_new();
  for (guint i = 0; i < part->images->len; i++) {
    const Image *image = part->images->pdata[i];
    if (image->state != DEMUR_SLICE_SAME_FILE)
      g_ptr_array_add(digests, (gpointer)demur_repeats_digest(&grouping->repeats, image));
  }
  g_ptr_array_sort(digests, compare_text);
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (guint i = 0; i < digests->len; i++)
    demur_sha256_update(&sha, digests->pdata[i], strlen(digests->pdata[i]));
  g_autofree char *digest = demur_sha256_finish_hex(&sha);
  part->series->scan_id = g_strdup_printf("digest-%.32s", digest);
  part->series->scan_id_from_digest = TRUE;
}

static void
name_parts(Grouping *grouping, GPtrArray *parts) {
  g_ptr_array_sort(parts, order_parts);
  for (guint start = 0; start < parts->len;) {
    Part *first = parts->pdata[start];
    guint end = start + 1;
    while (first->series_uid != NULL && end < parts->len &&
           g_strcmp0(((Part *)parts->pdata[end])->series_uid, first->series_uid) == 0)
      end++;
    for (guint i = start; i < end; i++) {
      Part *part = parts->pdata[i];
      part->series->part = i - start + 1;
      part->series->n_parts = end - start;
      if (part->series_uid == NULL)
        name_by_digest(grouping, part);
      else
        part->series->scan_id = i == start
                                    ? g_strdup(part->series_uid)
                                    : g_strdup_printf("%s#%u", part->series_uid, i - start + 1);
    }
    start = end;
  }
}

/* The object's values, overlaid by the frame's; *own: the first of the frames' not yet looked at.
 */
static void
take_values(Image *image, const DemurHeader *header, guint32 frame, guint32 *own) {
  image->values = (const char *const *)(void *)header->attributes;
  if (header->n_frame_attributes == 0)
    return;
  image->own_values =
      g_memdup2(header->attributes, demur_slice_attributes_n() * sizeof *header->attributes);
  image->values = (const char *const *)(void *)image->own_values;
  for (; *own < header->n_frame_attributes && header->frame_attributes[*own].frame <= frame; ++*own)
    if (header->frame_attributes[*own].frame == frame)
      image->own_values[header->frame_attributes[*own].attribute] =
          header->frame_attributes[*own].text;
}

static void
add_part(const Grouping *grouping, GPtrArray *parts, GPtrArray *images, GHashTable *patients) {
  Part *part = g_new0(Part, 1);
  const DemurHeader *header = ((Image *)images->pdata[0])->file->header;
  part->images = g_ptr_array_ref(images);
  part->series_uid = header->series_uid;
  part->series = demur_series_measure(images, grouping->gap_tolerance);
  part->first_distance =
      part->series->n_slices > 0 ? part->series->slices[0].distance_mm : (double)NAN;
  if (part->series_uid != NULL) {
    GHashTable *keys = g_hash_table_lookup(patients, part->series_uid);
    part->series->two_patients = keys != NULL && g_hash_table_size(keys) > 1;
  }
  g_ptr_array_add(parts, part);
}

/* Images of one study, one plane and different positions that each are a series of their own. */
static void
find_lone_siblings(const Grouping *grouping, const GPtrArray *parts) {
  g_autoptr(GHashTable) stacks =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = parts->pdata[i];
    const Image *image = part->images->pdata[0];
    const DemurSeries *series = part->series;
    if (series->n_slices != 1 || part->series_uid == NULL || !image->has_position ||
        !demur_modality_is_ct(series->modality) || series->type == DEMUR_SERIES_LOCALIZER)
      continue;
    char *key = g_strdup_printf("%s\n%u\n%u x %u\n%.2f %.2f %.2f", series->study_uid,
                                grouping->persons[image->file_index], series->rows, series->columns,
                                series->normal[0], series->normal[1], series->normal[2]);
    GPtrArray *stack = g_hash_table_lookup(stacks, key);
    if (stack == NULL) {
      stack = g_ptr_array_new();
      g_hash_table_insert(stacks, key, stack);
    } else {
      g_free(key);
    }
    g_ptr_array_add(stack, parts->pdata[i]);
  }
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, stacks);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const GPtrArray *stack = value;
    double lowest = INFINITY, highest = -INFINITY;
    for (guint i = 0; i < stack->len; i++) {
      const Image *image = ((const Part *)stack->pdata[i])->images->pdata[0];
      lowest = fmin(lowest, image->distance);
      highest = fmax(highest, image->distance);
    }
    for (guint i = 0; i < stack->len && stack->len >= 3 && highest > lowest; i++)
      ((const Part *)stack->pdata[i])->series->n_lone_siblings = stack->len;
  }
}

/* Files that name a series but end before they say what they hold: counted in each of its parts. */
static void
find_unreadable(const DemurFiles *files, const GPtrArray *parts) {
  for (guint i = 0; i < files->unreadable->len; i++) {
    const DemurUnreadable *file = files->unreadable->pdata[i];
    for (guint k = 0; k < parts->len; k++) {
      const Part *part = parts->pdata[k];
      if (g_strcmp0(part->series_uid, file->series_uid) != 0)
        continue;
      if (part->series->n_unreadable++ == 0)
        part->series->unreadable_problem = g_strdup(file->reason);
    }
  }
}

static int
compare_numbers(gconstpointer a, gconstpointer b) {
  return compare_number(*(const gint64 *)a, *(const gint64 *)b);
}

/* SeriesInstanceUID (borrowed) -> GArray of its images' InstanceNumbers, sorted. */
static GHashTable *
numbers_of(const DemurFiles *files) {
  GHashTable *numbers =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
  for (guint i = 0; i < files->images->len; i++) {
    const DemurHeader *header = ((const DemurFile *)files->images->pdata[i])->header;
    if (header->series_uid == NULL || header->instance_number == DEMUR_NO_NUMBER)
      continue;
    GArray *own = g_hash_table_lookup(numbers, header->series_uid);
    if (own == NULL) {
      own = g_array_new(FALSE, FALSE, sizeof(gint64));
      g_hash_table_insert(numbers, header->series_uid, own);
    }
    g_array_append_val(own, header->instance_number);
  }
  GHashTableIter iter;
  gpointer own;
  g_hash_table_iter_init(&iter, numbers);
  while (g_hash_table_iter_next(&iter, NULL, &own))
    g_array_sort(own, compare_numbers);
  return numbers;
}

/* How many numbers are lacking between the sorted ones, or before the first from 1 on; 0 where it is
 * more than most: such a series is numbered in steps, or from elsewhere. */
static size_t
count_lacking(const GArray *sorted, guint most) {
  gint64 before = 0;
  guint64 n_between = 0;
  for (guint i = 0; i < sorted->len; i++) {
    const gint64 number = g_array_index(sorted, gint64, i);
    if (i > 0 && number > before)
      n_between += (guint64)number - (guint64)before - 1;
    before = number;
  }
  const gint64 first = g_array_index(sorted, gint64, 0);
  const guint64 n_before = first >= 2 && first - 1 <= (gint64)most ? (guint64)first - 1 : 0;
  return n_between + n_before <= most ? (size_t)(n_between + n_before) : 0;
}

/* Files that can't be read and lie in the folders of a part's images. */
static void
find_strays(const DemurFiles *files, const GPtrArray *parts) {
  if (!demur_strays_any(files->strays))
    return;
  g_autoptr(GHashTable) numbers = numbers_of(files);
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = parts->pdata[i];
    DemurSeries *series = part->series;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    const DemurFile *last = NULL;
    for (guint k = 0; k < part->images->len; k++) {
      const DemurFile *file = ((const Image *)part->images->pdata[k])->file;
      const DemurStray *found[2] = {NULL, NULL};
      if (file != last) /* frames of one file follow each other */
        demur_strays_find(files->strays, file->path, file->entry, found);
      last = file;
      for (size_t f = 0; f < G_N_ELEMENTS(found); f++) {
        if (found[f] == NULL || !g_hash_table_add(seen, (gpointer)found[f]))
          continue;
        if (series->n_strays == 0)
          series->stray_problem = g_strdup(found[f]->problem);
        series->n_strays += found[f]->n;
      }
    }
    const GArray *own = series->n_strays > 0 && part->series_uid != NULL
                            ? g_hash_table_lookup(numbers, part->series_uid)
                            : NULL;
    if (own != NULL)
      series->n_numbers_lacking =
          count_lacking(own, (guint)MIN(series->n_strays, (size_t)G_MAXINT));
  }
}

static void
part_free(gpointer data) {
  Part *part = data;
  g_ptr_array_unref(part->images);
  demur_series_free(part->series);
  g_free(part);
}

static void
split_group(Grouping *grouping, GPtrArray *group, GPtrArray *parts, GHashTable *patients) {
  g_autoptr(GPtrArray) planes = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  demur_repeats_mark(&grouping->repeats, group);
  for (guint i = 0; i < group->len; i++) {
    GPtrArray *plane = NULL;
    for (guint k = 0; k < planes->len && plane == NULL; k++)
      if (same_plane(((GPtrArray *)planes->pdata[k])->pdata[0], group->pdata[i]))
        plane = planes->pdata[k];
    if (plane == NULL) {
      plane = g_ptr_array_new();
      g_ptr_array_add(planes, plane);
    }
    g_ptr_array_add(plane, group->pdata[i]);
  }
  for (guint k = 0; k < planes->len; k++) {
    GPtrArray *plane = planes->pdata[k];
    /* Distances within a plane are along one normal, the first image's. */
    const Image *first = plane->pdata[0];
    gboolean positioned = TRUE;
    for (guint i = 0; i < plane->len; i++) {
      Image *image = plane->pdata[i];
      positioned &= image->has_position;
      if (image->has_position)
        image->distance = demur_geometry_dot(image->facts.position_mm, first->normal);
    }
    g_ptr_array_sort(plane, demur_stack_order_by_distance);
    g_autoptr(GPtrArray) split = positioned ? demur_stack_separate(plane) : NULL;
    for (guint i = 0; split != NULL && i < split->len; i++)
      add_part(grouping, parts, split->pdata[i], patients);
    if (split == NULL)
      add_part(grouping, parts, plane, patients);
  }
}

GPtrArray *
demur_series_group(const DemurFiles *files, double gap_tolerance, const DemurProgress *progress,
                   GError **error) {
  Grouping grouping = {.gap_tolerance = gap_tolerance};
  demur_repeats_init(&grouping.repeats, files);
  grouping.persons = persons_of(files);
  g_autoptr(GPtrArray) images =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_stack_image_free);
  g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(part_free);
  g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) patients =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_hash_table_unref);
  for (guint i = 0; i < files->images->len; i++) {
    const DemurFile *file = files->images->pdata[i];
    const DemurHeader *header = file->header;
    g_autofree char *key = group_key(file, grouping.persons[i]);
    GPtrArray *group = g_hash_table_lookup(by_key, key);
    if (group == NULL) {
      group = g_ptr_array_new();
      g_ptr_array_add(groups, group);
      g_hash_table_insert(by_key, g_steal_pointer(&key), group);
    }
    if (header->series_uid != NULL) {
      GHashTable *keys = g_hash_table_lookup(patients, header->series_uid);
      if (keys == NULL) {
        keys = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(patients, header->series_uid, keys);
      }
      g_hash_table_add(keys, GUINT_TO_POINTER(grouping.persons[i]));
    }
    /* What can't be decoded is listed once, however many frames it claims. */
    const guint32 n_frames = header->pixels == DEMUR_PIXELS_COMPLETE ? header->n_frames : 1;
    guint32 own = 0; /* of the attributes of frames */
    for (guint32 frame = 0; frame < n_frames; frame++) {
      Image *image = g_new0(Image, 1);
      take_values(image, header, frame, &own);
      image->file = file;
      image->file_index = i;
      image->frame = frame;
      image->facts = demur_header_frame(header, frame);
      image->has_normal = demur_geometry_normal(image->facts.orientation, image->normal);
      /* One position for all frames of an image says nothing of any of them. */
      const gboolean its_own = header->n_frames == 1 || header->frames != NULL;
      image->has_position = image->has_normal && its_own;
      for (int k = 0; k < 3; k++)
        image->has_position &= fabs(image->facts.position_mm[k]) < FARTHEST_MM; /* not NaN either */
      if (image->has_position)
        image->distance = demur_geometry_dot(image->facts.position_mm, image->normal);
      g_ptr_array_add(images, image);
      g_ptr_array_add(group, image);
    }
  }
  GPtrArray *result = NULL;
  gboolean going = TRUE;
  for (guint i = 0; i < groups->len && going; i++) {
    going = demur_progress_step(progress, (double)i / groups->len, "grouping", error);
    if (going)
      split_group(&grouping, groups->pdata[i], parts, patients);
  }
  if (going) {
    find_lone_siblings(&grouping, parts);
    find_unreadable(files, parts);
    find_strays(files, parts);
    name_parts(&grouping, parts);
    result = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_free);
    for (guint i = 0; i < parts->len; i++)
      g_ptr_array_add(result, g_steal_pointer(&((Part *)parts->pdata[i])->series));
    g_ptr_array_sort(result, order_series);
  }
  g_free(grouping.persons);
  demur_repeats_clear(&grouping.repeats);
  return result;
}
