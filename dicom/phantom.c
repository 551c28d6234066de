/* Geometry in mm, LPS: x to the patient's left, y to the back, z to the head, the middle of the
 * chest at 0. Each voxel takes the CT number of the innermost organ that holds it; vessels are a
 * random binary tree of tapering capsules drawn over the lungs; a 3 x 3 blur stands for the
 * scanner's resolution and blurred Gaussian noise for its noise. Cost O(voxels + vessels). One
 * chunk a slice, with its own stream. */
#include "dicom/phantom.h"
#include "base/error.h"
#include "dicom/sop-class.h"
#include "dicom/writer.h"
#include "base/file-output.h"
#include "base/memory.h"
#include "base/random.h"

#include <inttypes.h>
#include <math.h>

#define FIELD_OF_VIEW_MM 360.0
#define CHEST_MM 240.0 /* head to foot, before stretching */
#define MAX_VESSELS 4096

typedef struct {
  double from[3], to[3];
  double radius_from, radius_to;
} Vessel;

typedef struct {
  const DemurPhantomOptions *options;
  const char *folder;
  char *study_uid, *series_uid, *frame_uid;
  Vessel vessels[MAX_VESSELS];
  size_t n_vessels;
  size_t first;
  GError **errors; /* [n_slices] */
} Phantom;

DemurPhantomOptions
demur_phantom_defaults(guint64 seed) {
  return (DemurPhantomOptions){.seed = seed,
                               .index = 1,
                               .n_slices = 96,
                               .size = 256,
                               .spacing_mm = 2.5,
                               .nodule_radius_mm = 6,
                               .study_date = "20200101",
                               .maker = "SIEMENS",
                               .model = "Simulated phantom",
                               .kernel = "B30f",
                               .kvp = 120,
                               .noise_hu = 38};
}

static guint
patient_of(const DemurPhantomOptions *options) {
  return options->patient != 0 ? options->patient : options->index;
}

static double
squared(double value) {
  return value * value;
}

/* < 1 inside the ellipsoid. */
static double
ellipsoid(double x, double y, double z, double cx, double cy, double cz, double a, double b,
          double c) {
  return squared((x - cx) / a) + squared((y - cy) / b) + squared((z - cz) / c);
}

static gboolean
in_lung(double x, double y, double z) {
  const double side = x < 0 ? -1 : 1;
  /* The lungs narrow to an apex and stand on domes; the left makes room for the heart. */
  const double floor_z = -92 + 38 * exp(-(squared((x - side * 72) / 48) + squared((y - 0) / 60)));
  if (z < floor_z)
    return FALSE;
  const double apex = z > 30 ? 1 - 0.42 * squared((z - 30) / 88) : 1;
  if (ellipsoid(x, y, z, side * 74, 4, -10, 58 * apex, 80 * apex, 128) >= 1)
    return FALSE;
  if (ellipsoid(x, y, z, 24, -32, -52, 56, 44, 56) < 1) /* heart */
    return FALSE;
  return fabs(x) > 22 + 6 * exp(-squared((y + 20) / 40));
}

static double
bone(double depth, double rim) {
  return depth < rim ? 620 : 190;
}

/* What the superellipses of the body and of the ribs have of x or of y: taken once a column and once
 * a row, since powers cost more than the rest of a voxel. */
typedef struct {
  double body, ribs;
} Outline;

static double
shoulder_at(double z) {
  return z > 60 ? 1 + 0.08 * (z - 60) / 60 : 1;
}

static Outline
outline_of_x(double x, double shoulder) {
  return (Outline){pow(fabs(x) / (163 * shoulder), 2.4), pow(fabs(x) / 141, 2.2)};
}

static Outline
outline_of_y(double y) {
  return (Outline){pow(fabs(y) / 112, 2.4), pow(fabs(y - 2) / 92, 2.2)};
}

/* CT number of the tissue at a point, whose outlines are of_x and of_y; NaN outside of the body. */
static double
tissue(double x, double y, double z, const Outline *of_x, const Outline *of_y) {
  const double body = of_x->body + of_y->body;
  if (body >= 1)
    return NAN;

  /* Spine: bodies and discs, canal, arch. */
  const double vertebra = squared(x / 19) + squared((y - 62) / 16);
  if (vertebra < 1) {
    const double level = fabs(fmod(z + 1000, 26) - 13);
    return level > 10.5 ? 85 : bone(1 - vertebra, 0.22);
  }
  if (squared(x / 9) + squared((y - 85) / 8) < 1)
    return 15;
  if (squared(x / 15) + squared((y - 86) / 13) < 1 || (fabs(x) < 4 && y > 88 && y < 104))
    return 330;
  /* Sternum. */
  if (fabs(x) < 15 && fabs(y + 96) < 5 && z > -55 && z < 75)
    return bone(fmin(15 - fabs(x), 5 - fabs(y + 96)), 1.6);
  /* Ribs: slanted rings in the chest wall, open in front where cartilage is. */
  const double wall = pow(of_x->ribs + of_y->ribs, 1 / 2.2);
  if (wall > 0.93 && wall < 1.0 && z < 112) {
    const double place = fmod(z + 0.45 * y + 1000, 27);
    if (place < 10)
      return y < -62 ? 110
                     : bone(fmin(fmin(place, 10 - place), 130 * fmin(wall - 0.93, 1 - wall)), 2);
  }
  /* Shoulder blades. */
  if (z > 10 && z < 100 && fabs(fabs(x) - 96 - 0.15 * (z - 10)) < 32 &&
      fabs(y - 92 + 0.55 * (fabs(x) - 96)) < 3.5)
    return 420;
  if (wall < 1.0 && wall > 0.86 && !in_lung(x, y, z))
    return 45;
  /* Airways: trachea, then the two main bronchi. */
  if (z > 22 && squared(x / 8.5) + squared((y - 12) / 9) < 1)
    return squared(x / 7) + squared((y - 12) / 7.5) < 1 ? -985 : 20;
  if (z <= 22 && z > -16) {
    const double shift = (22 - z) * 0.95;
    if (squared((fabs(x) - shift) / 7) + squared((y - 14) / 7) < 1)
      return squared((fabs(x) - shift) / 5.5) + squared((y - 14) / 5.5) < 1 ? -975 : 25;
  }
  if (in_lung(x, y, z)) /* denser towards the back, where the patient lies on it */
    return -868 + 34 * (y + 80) / 160;
  /* Great vessels and heart. */
  if (squared((x - 22) / 12.5) + squared((y - 40) / 12.5) < 1 && z < 40)
    return 48;
  if (z >= 32 && z < 54 && fabs(sqrt(squared((y - 8) / 1.0) + squared((x - 12) / 0.45)) - 32) < 11)
    return 48;
  if (ellipsoid(x, y, z, 22, -30, -52, 52, 40, 52) < 1)
    return ellipsoid(x, y, z, 26, -28, -52, 26, 22, 28) < 1 ? 46 : 56;
  if (squared((x + 12) / 11) + squared((y + 14) / 12) < 1 && z > -20 && z < 70)
    return 46;
  /* Below the domes: liver on the patient's right, stomach and spleen on the left. */
  if (z < -40 && wall < 0.88 && x < 18)
    return 60;
  if (z < -40 && wall < 0.88 && x >= 18)
    return ellipsoid(x, y, z, 68, -34, -100, 34, 28, 34) < 1   ? (y < -40 ? -960 : 12)
           : ellipsoid(x, y, z, 100, 40, -100, 26, 32, 44) < 1 ? 52
                                                               : -95;
  const double radius = pow(body, 1 / 2.4);
  if (radius > 0.91) /* skin, then fat */
    return radius > 0.985 ? 20 : -105;
  /* Muscle of the chest wall, fat of the mediastinum. */
  return wall >= 1.0 ? 52 : -70 + 60 * exp(-squared(x / 14));
}

static void
grow(Phantom *phantom, DemurRandom *random, const double from[3], const double direction[3],
     double length, double radius, int generation) {
  if (generation == 0 || radius < 0.55 || phantom->n_vessels >= MAX_VESSELS)
    return;
  Vessel *vessel = &phantom->vessels[phantom->n_vessels];
  double unit[3], norm = 0;
  for (int i = 0; i < 3; i++) {
    unit[i] = direction[i];
    norm += squared(unit[i]);
  }
  norm = sqrt(norm);
  for (int i = 0; i < 3; i++) {
    unit[i] /= norm;
    vessel->from[i] = from[i];
    vessel->to[i] = from[i] + length * unit[i];
  }
  vessel->radius_from = radius;
  vessel->radius_to = radius * 0.78;
  phantom->n_vessels++;
  for (int child = 0; child < 2; child++) {
    double next[3];
    for (int i = 0; i < 3; i++)
      next[i] = unit[i] + 0.62 * demur_random_normal(random) * (i == 2 ? 1.1 : 1);
    const double share = 0.66 + 0.14 * demur_random_uniform(random);
    const double start[3] = {from[0] + length * unit[0], from[1] + length * unit[1],
                             from[2] + length * unit[2]};
    grow(phantom, random, start, next, length * (0.74 + 0.12 * demur_random_uniform(random)),
         radius * share, generation - 1);
  }
}

static void
grow_vessels(Phantom *phantom) {
  DemurRandom random = demur_random_stream(phantom->options->seed, DEMUR_STREAM_PHANTOM, 0,
                                           patient_of(phantom->options), 1);
  for (int side = -1; side <= 1; side += 2)
    for (int k = 0; k < 5; k++) {
      const double hilum[3] = {side * 27.0, 6 + 3 * demur_random_normal(&random),
                               -4 + 9 * demur_random_normal(&random)};
      const double angle = -1.15 + 0.575 * k;
      const double direction[3] = {side * cos(angle), 0.45 * demur_random_normal(&random),
                                   sin(angle)};
      grow(phantom, &random, hilum, direction, 30, 4.4, 8);
    }
}

/* Draws what of the vessels crosses the plane z into hu [size][size], over lung only. */
static void
draw_vessels(const Phantom *phantom, double z, double pixel, double *hu) {
  const int size = (int)phantom->options->size;
  const double middle = (size - 1) / 2.0;
  for (size_t k = 0; k < phantom->n_vessels; k++) {
    const Vessel *vessel = &phantom->vessels[k];
    const double reach = vessel->radius_from + pixel;
    if (z < fmin(vessel->from[2], vessel->to[2]) - reach ||
        z > fmax(vessel->from[2], vessel->to[2]) + reach)
      continue;
    double along[3], length2 = 0;
    for (int i = 0; i < 3; i++) {
      along[i] = vessel->to[i] - vessel->from[i];
      length2 += squared(along[i]);
    }
    const int left = (int)floor((fmin(vessel->from[0], vessel->to[0]) - reach) / pixel + middle);
    const int right = (int)ceil((fmax(vessel->from[0], vessel->to[0]) + reach) / pixel + middle);
    const int top = (int)floor((fmin(vessel->from[1], vessel->to[1]) - reach) / pixel + middle);
    const int bottom = (int)ceil((fmax(vessel->from[1], vessel->to[1]) + reach) / pixel + middle);
    for (int r = MAX(top, 0); r <= MIN(bottom, size - 1); r++)
      for (int c = MAX(left, 0); c <= MIN(right, size - 1); c++) {
        const double point[3] = {(c - middle) * pixel, (r - middle) * pixel, z};
        double share = 0, distance2 = 0;
        for (int i = 0; i < 3; i++)
          share += (point[i] - vessel->from[i]) * along[i];
        share = CLAMP(share / length2, 0, 1);
        for (int i = 0; i < 3; i++)
          distance2 += squared(point[i] - vessel->from[i] - share * along[i]);
        const double radius =
            vessel->radius_from + share * (vessel->radius_to - vessel->radius_from);
        const double cover = CLAMP((radius - sqrt(distance2)) / pixel + 0.5, 0, 1);
        double *value = &hu[r * size + c];
        if (cover > 0 && *value < -700 && *value > -930)
          *value = fmax(*value, *value + cover * (44 - *value));
      }
  }
}

static void
blur(int size, const double *in, double *out) {
  for (int r = 0; r < size; r++)
    for (int c = 0; c < size; c++) {
      double sum = 0, weight = 0;
      if (r > 0 && r < size - 1 && c > 0 && c < size - 1) { /* the sum below, in its order */
        const double *a = in + (r - 1) * size + c, *b = a + size, *d = b + size;
        sum = a[-1] + 2 * a[0] + a[1] + 2 * b[-1] + 4 * b[0] + 2 * b[1] + d[-1] + 2 * d[0] + d[1];
        out[r * size + c] = sum / 16;
        continue;
      }
      for (int i = MAX(r - 1, 0); i <= MIN(r + 1, size - 1); i++)
        for (int j = MAX(c - 1, 0); j <= MIN(c + 1, size - 1); j++) {
          const double w = (i == r ? 2.0 : 1.0) * (j == c ? 2.0 : 1.0);
          sum += w * in[i * size + j];
          weight += w;
        }
      out[r * size + c] = sum / weight;
    }
}

/* What a sharp kernel does: edges stand out, and noise with them. */
static void
sharpen(int size, double *hu, double *scratch) {
  blur(size, hu, scratch);
  for (int i = 0; i < size * size; i++)
    hu[i] += 1.4 * (hu[i] - scratch[i]);
}

/* The chest at two places of its breath, one over the other. */
static void
move(const DemurPhantomOptions *options, double pixel, double *hu, double *scratch) {
  const int size = (int)options->size, shift = (int)lround(options->motion_mm / pixel);
  for (int r = 0; shift > 0 && r < size; r++)
    for (int c = 0; c < size; c++)
      scratch[r * size + c] =
          0.6 * hu[r * size + c] + 0.4 * hu[CLAMP(r + shift, 0, size - 1) * size + c];
  for (int i = 0; shift > 0 && i < size * size; i++)
    hu[i] = scratch[i];
}

/* CT numbers of slice into hu [size][size]; scratch the same. A tilted gantry cuts the chest at a
 * slant: rows lie in the tilted plane. */
static void
draw_slice(const Phantom *phantom, size_t slice, double *hu, double *scratch) {
  const DemurPhantomOptions *options = phantom->options;
  const int size = (int)options->size;
  const double pixel = FIELD_OF_VIEW_MM / size, middle = (size - 1) / 2.0;
  const double z = ((double)slice + 0.5) / options->n_slices * CHEST_MM - CHEST_MM / 2;
  const double cosine = cos(options->tilt_degrees * G_PI / 180);
  const double sine = sin(options->tilt_degrees * G_PI / 180);
  g_autofree Outline *columns = g_new(Outline, (gsize)size);
  double shoulder = NAN; /* of the columns */
  for (int r = 0; r < size; r++) {
    const double along = (r - middle) * pixel, y = along * cosine, row_z = z - along * sine;
    const Outline row = outline_of_y(y);
    for (int c = 0; shoulder_at(row_z) != shoulder && c < size; c++)
      columns[c] = outline_of_x((c - middle) * pixel, shoulder_at(row_z));
    shoulder = shoulder_at(row_z);
    for (int c = 0; c < size; c++) {
      const double x = (c - middle) * pixel;
      double value = tissue(x, y, row_z, &columns[c], &row);
      if (value >= 46 && value <= 56 && fabs(x - 10) < 70) /* heart and great vessels */
        value += options->contrast_hu;
      if (isnan(value)) { /* air, and the table under the patient */
        const double curve = 128 + squared(x) / 700 - 10;
        value = y > curve && y < curve + 3.2 && fabs(x) < 165 ? -180 : -1000;
      }
      scratch[r * size + c] = value;
    }
  }
  draw_vessels(phantom, z, pixel, scratch);
  /* The nodule lies in the right upper lobe. */
  const double radius = options->nodule_radius_mm;
  for (int r = 0; radius > 0 && r < size; r++)
    for (int c = 0; c < size; c++) {
      const double x = (c - middle) * pixel + 84, y = (r - middle) * pixel + 8;
      const double distance = sqrt(squared(x) + squared(y) + squared(z - 42));
      if (distance > 1.13 * radius + pixel) /* beyond its bumps */
        continue;
      const double bumps = 1 + 0.12 * sin(5 * atan2(y, x));
      const double cover = CLAMP((radius * bumps - distance) / pixel + 0.5, 0, 1);
      if (cover > 0)
        scratch[r * size + c] += cover * (28 - scratch[r * size + c]);
    }
  blur(size, scratch, hu);
  move(options, pixel, hu, scratch);
  DemurRandom random =
      demur_random_stream(options->seed, DEMUR_STREAM_PHANTOM, slice, options->index, 0);
  for (int i = 0; i < size * size; i++)
    scratch[i] = options->noise_hu * demur_random_normal(&random);
  double *noise = demur_memory_new((size_t)size, (size_t)size, sizeof *noise);
  blur(size, scratch, noise);
  for (int i = 0; i < size * size; i++)
    hu[i] += noise[i];
  if (options->sharpness > 0) {
    sharpen(size, hu, scratch);
  } else if (options->sharpness < 0) {
    blur(size, hu, scratch);
    for (int i = 0; i < size * size; i++)
      hu[i] = scratch[i];
  }
  g_aligned_free(noise);
}

static gboolean
write_slice(const Phantom *phantom, size_t slice, const guint16 *words, GError **error) {
  const DemurPhantomOptions *options = phantom->options;
  const double pixel = FIELD_OF_VIEW_MM / options->size;
  const double spacing[2] = {pixel, pixel};
  const double corner = -(options->size - 1.0) / 2.0 * pixel;
  const double cosine = cos(options->tilt_degrees * G_PI / 180);
  const double sine = sin(options->tilt_degrees * G_PI / 180);
  const double position[3] = {
      corner, corner * cosine,
      ((double)slice - (options->n_slices - 1.0) / 2.0) * options->spacing_mm - corner * sine};
  const double orientation[6] = {1, 0, 0, 0, cosine, options->tilt_degrees != 0 ? -sine : 0};
  const double fov = FIELD_OF_VIEW_MM, slope = 1, intercept = -1024;
  g_autofree char *name = g_strdup_printf(
      "demur phantom %" PRIu64 " %u slice %zu of %u, %u, %g, %g", options->seed, options->index,
      slice, options->n_slices, options->size, options->spacing_mm, options->nodule_radius_mm);
  g_autofree char *uid = demur_writer_uid(name);
  g_autofree char *patient = g_strdup_printf("PHANTOM-%u", patient_of(options));
  g_autoptr(DemurWriter) w = demur_writer_new(DEMUR_SOP_CT_IMAGE_UID, uid);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0005), DEMUR_VR_CS, "ISO_IR 192");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0008), DEMUR_VR_CS, "ORIGINAL\\PRIMARY\\AXIAL");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0016), DEMUR_VR_UI, DEMUR_SOP_CT_IMAGE_UID);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0018), DEMUR_VR_UI, uid);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x001C), DEMUR_VR_CS, "YES"); /* Synthetic Data */
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0020), DEMUR_VR_DA, options->study_date);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0021), DEMUR_VR_DA, options->study_date);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0022), DEMUR_VR_DA, options->study_date);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0023), DEMUR_VR_DA, options->study_date);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0030), DEMUR_VR_TM, "120000");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0033), DEMUR_VR_TM, "120000");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0050), DEMUR_VR_SH, "");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0060), DEMUR_VR_CS, "CT");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0070), DEMUR_VR_LO, options->maker);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0080), DEMUR_VR_LO, "Simulated hospital");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0090), DEMUR_VR_PN, "");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x1010), DEMUR_VR_SH, "SIMULATION");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x1030), DEMUR_VR_LO, "Simulated phantom chest CT");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x103E), DEMUR_VR_LO, "Phantom chest CT (simulated)");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x1090), DEMUR_VR_LO, options->model);
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0010), DEMUR_VR_PN, "Simulated^Phantom");
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0020), DEMUR_VR_LO, patient);
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0030), DEMUR_VR_DA, "");
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0040), DEMUR_VR_CS, "O");
  if (options->contrast_hu > 0)
    demur_writer_text(w, DEMUR_TAG(0x0018, 0x0010), DEMUR_VR_LO, "SIMULATED CONTRAST");
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x0015), DEMUR_VR_CS, "CHEST");
  demur_writer_decimals(w, DEMUR_TAG(0x0018, 0x0050), &options->spacing_mm, 1);
  demur_writer_decimals(w, DEMUR_TAG(0x0018, 0x0060), &options->kvp, 1);
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x1020), DEMUR_VR_LO, "Demur phantom");
  demur_writer_decimals(w, DEMUR_TAG(0x0018, 0x1100), &fov, 1);
  if (options->tilt_degrees != 0)
    demur_writer_decimals(w, DEMUR_TAG(0x0018, 0x1120), &options->tilt_degrees, 1);
  demur_writer_integer(w, DEMUR_TAG(0x0018, 0x1151), 60);
  demur_writer_integer(w, DEMUR_TAG(0x0018, 0x1152), 30);
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x1210), DEMUR_VR_SH, options->kernel);
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x5100), DEMUR_VR_CS, "HFS");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000D), DEMUR_VR_UI, phantom->study_uid);
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000E), DEMUR_VR_UI, phantom->series_uid);
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x0010), DEMUR_VR_SH, "1");
  demur_writer_integer(w, DEMUR_TAG(0x0020, 0x0011), 1);
  demur_writer_integer(w, DEMUR_TAG(0x0020, 0x0012), 1);
  demur_writer_integer(w, DEMUR_TAG(0x0020, 0x0013), (gint64)(options->n_slices - slice));
  demur_writer_decimals(w, DEMUR_TAG(0x0020, 0x0032), position, 3);
  demur_writer_decimals(w, DEMUR_TAG(0x0020, 0x0037), orientation, 6);
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x0052), DEMUR_VR_UI, phantom->frame_uid);
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x1040), DEMUR_VR_LO, "");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x4000), DEMUR_VR_LT,
                    "Simulated: drawn by Demur, no person was scanned");
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0002), 1);
  demur_writer_text(w, DEMUR_TAG(0x0028, 0x0004), DEMUR_VR_CS, "MONOCHROME2");
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0010), (guint16)options->size);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0011), (guint16)options->size);
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x0030), spacing, 2);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0100), 16);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0101), 12);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0102), 11);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0103), 0);
  demur_writer_text(w, DEMUR_TAG(0x0028, 0x1050), DEMUR_VR_DS, "-600");
  demur_writer_text(w, DEMUR_TAG(0x0028, 0x1051), DEMUR_VR_DS, "1500");
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x1052), &intercept, 1);
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x1053), &slope, 1);
  demur_writer_text(w, DEMUR_TAG(0x0028, 0x1054), DEMUR_VR_LO, "HU");
  demur_writer_words(w, DEMUR_TAG(0x7FE0, 0x0010), words, (size_t)options->size * options->size);
  g_autofree char *file = g_strdup_printf("slice-%03" G_GSIZE_FORMAT ".dcm", slice + 1);
  g_autofree char *path = g_build_filename(phantom->folder, file, NULL);
  return demur_writer_save(w, path, error);
}

static void
make_slice(size_t chunk, guint worker, gpointer data) {
  Phantom *phantom = data;
  const size_t slice = phantom->first + chunk, size = phantom->options->size;
  DEMUR_AUTO_ALIGNED double *hu = demur_new_matrix(double, size, size);
  DEMUR_AUTO_ALIGNED double *scratch = demur_new_matrix(double, size, size);
  DEMUR_AUTO_ALIGNED guint16 *words = demur_new_matrix(guint16, size, size);
  draw_slice(phantom, slice, hu, scratch);
  for (size_t i = 0; i < size * size; i++)
    words[i] = (guint16)CLAMP(round(hu[i] + 1024), 0, 4095);
  const gboolean written = write_slice(phantom, slice, words, &phantom->errors[slice]);
  g_warn_if_fail(written || phantom->errors[slice] != NULL);
}

gboolean
demur_phantom_write(const DemurPhantomOptions *options, const char *folder, DemurParallel *parallel,
                    const DemurProgress *progress, char **series_uid, GError **error) {
  if (options->n_slices < 2 || options->n_slices > 4096 || options->size < 64 ||
      options->size > 1024 || !(options->spacing_mm > 0) || options->spacing_mm > 50 ||
      !(options->nodule_radius_mm >= 0) || options->nodule_radius_mm > 50) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a phantom has 2 to 4096 slices of 64 to 1024 pixels, above 0 and up to 50 mm "
                    "apart, and a nodule of 0 to 50 mm");
    return FALSE;
  }
  if (!demur_folder_make(folder, error))
    return FALSE;
  g_autofree Phantom *phantom = g_new0(Phantom, 1);
  g_autofree char *name = g_strdup_printf(
      "demur phantom %" PRIu64 " %u of %u, %u, %g, %g", options->seed, options->index,
      options->n_slices, options->size, options->spacing_mm, options->nodule_radius_mm);
  g_autofree char *study = g_strconcat(name, " study", NULL);
  g_autofree char *series = g_strconcat(name, " series", NULL);
  g_autofree char *frame = g_strconcat(name, " frame of reference", NULL);
  phantom->options = options;
  phantom->folder = folder;
  phantom->study_uid = demur_writer_uid(study);
  phantom->series_uid = demur_writer_uid(series);
  phantom->frame_uid = demur_writer_uid(frame);
  phantom->errors = g_new0(GError *, options->n_slices);
  grow_vessels(phantom);
  gboolean good = TRUE;
  const size_t batch = 16;
  for (; good && phantom->first < options->n_slices; phantom->first += batch) {
    good = demur_progress_step(progress, (double)phantom->first / options->n_slices,
                               "drawing the phantom", error);
    if (good)
      demur_parallel_map(parallel, MIN(batch, options->n_slices - phantom->first), make_slice,
                         phantom);
    for (size_t i = phantom->first; i < MIN(phantom->first + batch, options->n_slices); i++) {
      if (phantom->errors[i] != NULL && good) {
        g_propagate_error(error, g_steal_pointer(&phantom->errors[i]));
        good = FALSE;
      }
      g_clear_error(&phantom->errors[i]);
    }
  }
  if (good && series_uid != NULL)
    *series_uid = g_strdup(phantom->series_uid);
  g_free(phantom->study_uid);
  g_free(phantom->series_uid);
  g_free(phantom->frame_uid);
  g_free(phantom->errors);
  return good;
}
