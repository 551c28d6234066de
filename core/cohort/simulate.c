/* The story is told in simulate.h; here are its numbers.
 *
 *   patient   c ~ N(0, I_6); p6 = sigmoid(b0 + a_hospital + beta . c); cancer time T with survival
 *             (1 - p6)^s(t), s(t) the share of six years' hazard that is spent by year t, s(6) = 1
 *   screens   years 0, 1, 2 as long as T has not come; label by the NLST rule with follow-up F:
 *             cancer within 6 years 1, followed 6 years without 0, neither: left out (the outside
 *             hospital: 0, as the paper did)
 *   scan      shown = c + small change + effect of the acquisition (and of scanner and hidden version)
 *   f         sigmoid(platt(w . shown + w0)), w by ridge logistic regression on base_train
 *   yearly    risk by year k: 1 - (1 - risk)^s(k)
 *   emb       max(0, tanh(1.2 z W1) W2 + noise) * scale,
 *             z = (shown 6, anatomy 10, acquisition 4, hospital trace 6, manufacturer 4)
 *
 * Streams of DEMUR_STREAM_SIMULATION: (0, 0, 0) the hospitals, (0, 1, 0) the embedding's network,
 * (part, patient, 0) a patient, (part, patient, 1 + year) one of his scans. Patients are drawn in
 * order until their scans fill the part (cheap), then scans in parallel. Cost: O(scans x 48 x 256).
 */
#include "cohort/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

#define N_CLINICAL 6
#define N_ANATOMY 10
#define N_ACQUISITION 4
#define N_TRACE 6
#define N_MANUFACTURERS 4
#define N_INPUTS (N_CLINICAL + N_ANATOMY + N_ACQUISITION + N_TRACE + N_MANUFACTURERS)
#define N_HIDDEN 48
#define WIDTH DEMUR_SIMULATION_WIDTH
#define MAX_SCREENS 3
#define N_PLATT 6000
#define DENOISED_LOG_NOISE 1.5 /* taken away */
#define PATIENTS_A_CHUNK 64

/* nodule burden, emphysema, age, pack-years, family history, body mass */
static const double beta[N_CLINICAL] = {1.60, 0.45, 0.40, 0.35, 0.15, -0.10};
#define INTERCEPT (-4.10)

/* s(t) at whole years, straight between them. */
static const double hazard_share[] = {0.0, 0.20, 0.37, 0.53, 0.69, 0.85, 1.0, 1.15, 1.30};
#define LAST_YEAR 8

static const char *const manufacturers[N_MANUFACTURERS] = {"GE", "SIEMENS", "PHILIPS", "TOSHIBA"};
/* By manufacturer, denoised, sharp. */
static const char *const kernels[N_MANUFACTURERS][2][2] = {
    {{"STANDARD", "LUNG"}, {"STANDARD-DN", "LUNG-DN"}},
    {{"B30f", "B60f"}, {"I30f", "I60f"}},
    {{"C", "D"}, {"C-DN", "D-DN"}},
    {{"FC10", "FC51"}, {"FC10-DN", "FC51-DN"}}};

typedef enum {
  PART_BASE = 1,
  PART_PLATT,
  PART_TRAIN,
  PART_VALIDATION,
  PART_TUNE,
  PART_TEST,
  PART_READER
} Part;

typedef struct {
  double share;                          /* of the patients, cumulative */
  double manufacturers[N_MANUFACTURERS]; /* cumulative */
  double base_rate, thick, sharp, contrast, dose, version;
  double trace[N_TRACE];
} Site;

typedef struct {
  double first[N_INPUTS][N_HIDDEN], second[N_HIDDEN][WIDTH], scale[WIDTH];
} Network;

typedef struct {
  size_t site, first_scan;
  int n_screens; /* scans in the cohort */
  int years[MAX_SCREENS];
  int labels[MAX_SCREENS];
  double clinical[N_CLINICAL];
  double cancer_years;   /* from the first screen; infinite: none */
  double followup_years; /* from the first screen */
  gboolean male;
  int age;
} Patient;

typedef struct {
  int manufacturer, model;
  gboolean thick, sharp, contrast, denoised;
  double thickness_mm, spacing_mm, kvp, fov_mm, tube_current_ma;
  double shown[N_CLINICAL];
} Scan;

typedef struct {
  Part part;
  const char *split;
  gboolean outside;
  size_t n_scans, first_patient; /* first number of its patients' names */
  GArray *patients;
  Scan *scans;       /* [n_scans] */
  float *embeddings; /* [n_scans][WIDTH], NULL where not wanted */
  double *risks;     /* [n_scans] */
} Draw;

typedef struct {
  const DemurSimulation *options;
  Site *sites; /* [n_sites + n_outside], the last ones outside */
  Network *network;
  Draw *draw; /* the part being drawn */
} World;

static double
sigmoid(double x) {
  return x >= 0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
}

static double
draw_beta(DemurRandom *random, double a, double b) {
  const double x = demur_random_gamma(random, a);
  return x / (x + demur_random_gamma(random, b));
}

static double
mix(double from, double to, double share) {
  return from + (to - from) * share;
}

static void
make_sites(World *world) {
  const DemurSimulation *options = world->options;
  const size_t n = options->n_sites;
  DemurRandom random = demur_random_stream(options->seed, DEMUR_STREAM_SIMULATION, 0, 0, 0);
  static const double scanners[N_MANUFACTURERS] = {1.2, 1.0, 0.5,
                                                   0.3}; /* x 0.6: few kinds a site */
  double total = 0.0;
  for (size_t s = 0; s < n; s++) {
    Site *site = &world->sites[s];
    site->share = exp(0.8 * demur_random_normal(&random));
    total += site->share;
    double sum = 0.0;
    for (int m = 0; m < N_MANUFACTURERS; m++) {
      site->manufacturers[m] = demur_random_gamma(&random, 0.6 * scanners[m]);
      sum += site->manufacturers[m];
    }
    for (int m = 0; m < N_MANUFACTURERS; m++)
      site->manufacturers[m] =
          site->manufacturers[m] / sum + (m > 0 ? site->manufacturers[m - 1] : 0.0);
    site->base_rate = options->site_effect * 0.45 * demur_random_normal(&random);
    site->thick = draw_beta(&random, 1.2, 5.0);
    site->sharp = draw_beta(&random, 1.2, 4.0);
    site->contrast = draw_beta(&random, 0.6, 18.0);
    site->dose = 0.3 * demur_random_normal(&random);
    site->version = draw_beta(&random, 0.5, 0.5);
    for (int t = 0; t < N_TRACE; t++)
      site->trace[t] = demur_random_normal(&random);
  }
  double sum = 0.0;
  for (size_t s = 0; s < n; s++) {
    sum += world->sites[s].share / total;
    world->sites[s].share = s + 1 < n ? sum : 1.0;
  }
  /* Outside: from a hospital like the others on average to the all-comers' one. */
  const double shift = options->outside_shift;
  Site *outside = &world->sites[n];
  static const double usual[N_MANUFACTURERS] = {0.40, 0.73, 0.90, 1.0};
  static const double other[N_MANUFACTURERS] = {0.45, 0.70, 0.80, 1.0};
  for (int m = 0; m < N_MANUFACTURERS; m++)
    outside->manufacturers[m] = CLAMP(mix(usual[m], other[m], shift), 0.0, 1.0);
  outside->base_rate = 0.50 * shift;
  outside->thick = CLAMP(mix(0.19, 0.45, shift), 0.0, 0.95);
  outside->sharp = CLAMP(mix(0.23, 0.33, shift), 0.0, 0.95);
  outside->contrast = CLAMP(mix(0.03, 0.35, shift), 0.0, 0.95);
  outside->dose = -0.2 * shift;
  outside->version = CLAMP(mix(0.5, 0.8, shift), 0.0, 1.0);
  for (int t = 0; t < N_TRACE; t++)
    outside->trace[t] = demur_random_normal(&random);
  for (size_t s = 1; s < options->n_outside; s++) {
    outside[s] = *outside;
    for (int t = 0; t < N_TRACE; t++)
      outside[s].trace[t] = demur_random_normal(&random);
  }
}

static void
make_network(World *world) {
  Network *network = world->network;
  DemurRandom random = demur_random_stream(world->options->seed, DEMUR_STREAM_SIMULATION, 0, 1, 0);
  for (int i = 0; i < N_INPUTS; i++)
    for (int j = 0; j < N_HIDDEN; j++)
      network->first[i][j] = demur_random_normal(&random) / sqrt(N_INPUTS);
  for (int i = 0; i < N_HIDDEN; i++)
    for (int j = 0; j < WIDTH; j++)
      network->second[i][j] = demur_random_normal(&random) / sqrt(N_HIDDEN);
  for (int j = 0; j < WIDTH; j++)
    network->scale[j] = exp(0.5 * demur_random_normal(&random));
}

/* The time at which the spent share of hazard reaches share; infinite behind LAST_YEAR. */
static double
invert_hazard(double share) {
  for (int year = 0; year < LAST_YEAR; year++)
    if (share < hazard_share[year + 1])
      return year + (share - hazard_share[year]) / (hazard_share[year + 1] - hazard_share[year]);
  return INFINITY;
}

/* Label of the screen in that year by the NLST rule; -1: not known. */
static int
label_of(const Patient *patient, int year, gboolean outside) {
  const gboolean recorded = patient->cancer_years <= patient->followup_years;
  const double years_to_cancer = recorded ? patient->cancer_years - year : INFINITY;
  if (years_to_cancer < DEMUR_N_YEARS)
    return 1;
  return outside || patient->followup_years - year >= DEMUR_N_YEARS ? 0 : -1;
}

static Patient
draw_patient(const World *world, const Draw *draw, size_t number) {
  const DemurSimulation *options = world->options;
  DemurRandom random =
      demur_random_stream(options->seed, DEMUR_STREAM_SIMULATION, (guint64)draw->part, number, 0);
  Patient patient = {.site = options->n_sites};
  const double which = demur_random_uniform(&random);
  if (!draw->outside)
    for (patient.site = 0;
         which >= world->sites[patient.site].share && patient.site + 1 < options->n_sites;)
      patient.site++;
  else
    patient.site += number % options->n_outside;
  const double shift = draw->outside ? options->outside_shift : 0.0;
  double logit = INTERCEPT + options->base_rate_logit + world->sites[patient.site].base_rate;
  for (int k = 0; k < N_CLINICAL; k++)
    patient.clinical[k] = demur_random_normal(&random);
  patient.clinical[1] += 0.25 * shift;
  patient.clinical[2] += 0.35 * shift;
  for (int k = 0; k < N_CLINICAL; k++)
    logit += beta[k] * patient.clinical[k];
  patient.male = demur_random_uniform(&random) < 0.59;
  const double age = 61.5 + 5.0 * patient.clinical[2];
  patient.age = (int)lround(
      draw->outside ? CLAMP(mix(age, 64.0 + 9.0 * patient.clinical[2], shift), 40.0, 92.0)
                    : CLAMP(age, 55.0, 74.0));

  /* S(T) = (1 - p6)^s(T) is uniform. */
  const double survival = 1.0 - demur_random_uniform(&random);
  patient.cancer_years = invert_hazard(log(survival) / log1p(-sigmoid(logit)));
  const double lost = draw->outside ? 0.10 * shift : 0.03;
  const gboolean is_lost = demur_random_uniform(&random) < lost;
  const double u = demur_random_uniform(&random);
  if (is_lost)
    patient.followup_years = draw->outside ? u : LAST_YEAR * u;
  else
    patient.followup_years = LAST_YEAR + u;

  const double planned = demur_random_uniform(&random);
  const int n_planned = draw->outside    ? (planned < 0.7 ? 1 : 2)
                        : planned < 0.20 ? 1
                        : planned < 0.45 ? 2
                                         : 3;
  for (int year = 0; year < n_planned; year++) {
    if (patient.cancer_years <= year || (!draw->outside && patient.followup_years < year))
      break;
    const int label = label_of(&patient, year, draw->outside);
    if (label < 0)
      continue;
    patient.years[patient.n_screens] = year;
    patient.labels[patient.n_screens++] = label;
  }
  return patient;
}

static int
choose_manufacturer(const Site *site, DemurRandom *random) {
  const double which = demur_random_uniform(random);
  int m = 0;
  while (m + 1 < N_MANUFACTURERS && which >= site->manufacturers[m])
    m++;
  return m;
}

/* Whether the reconstruction that came after f was fitted made this scan. A stream of its own, so
 * that a cohort without drift is what it was before there was this effect. */
static gboolean
is_denoised(const World *world, const Draw *draw, size_t number, int year, size_t site) {
  const DemurSimulation *options = world->options;
  if (!(options->drift_effect > 0.0) || draw->part == PART_BASE || draw->part == PART_PLATT ||
      site > options->n_sites)
    return FALSE;
  DemurRandom of_site = demur_random_stream(options->seed, DEMUR_STREAM_SIMULATION, 100, site, 0);
  const double share = 0.20 + 0.25 * demur_random_uniform(&of_site);
  DemurRandom random = demur_random_stream(options->seed, DEMUR_STREAM_SIMULATION,
                                           101 + (guint64)draw->part, number, (guint64)(1 + year));
  return demur_random_uniform(&random) < share;
}

/* Log noise level at a log dose of -dose / 2. */
static double
noise_of(const Scan *scan, double dose) {
  return dose + (scan->sharp ? 0.5 : 0.0) - (scan->thick ? 0.3 : 0.0) -
         (scan->denoised ? DENOISED_LOG_NOISE : 0.0);
}

/* What of the latents c [N_CLINICAL] the acquisition lets be seen. */
static void
show(const DemurSimulation *options, Scan *scan, const double *c, double noise, double version,
     DemurRandom *random) {
  const double thick = scan->thick ? 1.0 : 0.0, sharp = scan->sharp ? 1.0 : 0.0,
               contrast = scan->contrast ? 1.0 : 0.0, e = options->acquisition_effect;
  static const double bias[N_MANUFACTURERS] = {0.0, 0.20, -0.25, 0.25};
  memcpy(scan->shown, c, sizeof scan->shown);
  scan->shown[0] += e * (-0.70 * thick * c[0] - 0.35 * thick + 0.80 * sharp + 1.40 * contrast +
                         0.30 * exp(noise) * demur_random_normal(random));
  scan->shown[1] +=
      e * (0.35 * sharp - 0.25 * contrast + 0.20 * exp(noise) * demur_random_normal(random));
  if (scan->manufacturer >= 0)
    scan->shown[0] += options->scanner_effect * bias[scan->manufacturer];
  scan->shown[0] -= scan->denoised ? options->drift_effect : 0.0;
  scan->shown[0] += options->hidden_effect * version;
}

static void
embed(const World *world, const Site *site, const Scan *scan, double noise, DemurRandom *random,
      float *embedding) {
  double z[N_INPUTS];
  double *at = z;
  for (int k = 0; k < N_CLINICAL; k++)
    *at++ = scan->shown[k];
  for (int k = 0; k < N_ANATOMY; k++)
    *at++ = demur_random_normal(random);
  *at++ = scan->thick ? 1.3 : 0.0;
  *at++ = scan->sharp ? 1.3 : 0.0;
  *at++ = scan->contrast ? 1.6 : 0.0;
  *at++ = noise;
  for (int k = 0; k < N_TRACE; k++)
    *at++ = 0.5 * site->trace[k];
  for (int k = 0; k < N_MANUFACTURERS; k++)
    *at++ = k == scan->manufacturer ? 1.0 : 0.0;
  double hidden[N_HIDDEN] = {0}, out[WIDTH] = {0};
  for (int i = 0; i < N_INPUTS; i++)
    for (int j = 0; j < N_HIDDEN; j++)
      hidden[j] += z[i] * world->network->first[i][j];
  for (int i = 0; i < N_HIDDEN; i++) {
    const double activation = tanh(1.2 * hidden[i]);
    for (int j = 0; j < WIDTH; j++)
      out[j] += activation * world->network->second[i][j];
  }
  const double spread = 0.10 * exp(0.8 * noise);
  for (int j = 0; j < WIDTH; j++) {
    const double value = out[j] + spread * demur_random_normal(random);
    embedding[j] = (float)(MAX(value, 0.0) * world->network->scale[j]);
  }
}

static void
draw_scan(const World *world, const Draw *draw, const Patient *patient, size_t number, int screen) {
  const DemurSimulation *options = world->options;
  const Site *site = &world->sites[patient->site];
  const size_t row = patient->first_scan + (size_t)screen;
  Scan *scan = &draw->scans[row];
  DemurRandom random =
      demur_random_stream(options->seed, DEMUR_STREAM_SIMULATION, (guint64)draw->part, number,
                          (guint64)(1 + patient->years[screen]));
  double c[N_CLINICAL];
  for (int k = 0; k < N_CLINICAL; k++)
    c[k] = patient->clinical[k] + 0.15 * demur_random_normal(&random);

  static const double sharpness[N_MANUFACTURERS] = {1.0, 1.3, 0.7, 1.4};
  scan->manufacturer = choose_manufacturer(site, &random);
  scan->model = demur_random_uniform(&random) < 0.6 ? 0 : 1;
  scan->thick = demur_random_uniform(&random) < site->thick;
  scan->sharp =
      demur_random_uniform(&random) < MIN(site->sharp * sharpness[scan->manufacturer], 0.95);
  scan->contrast = demur_random_uniform(&random) < site->contrast;
  const gboolean version = demur_random_uniform(&random) < site->version;
  const double dose = site->dose + 0.25 * demur_random_normal(&random);
  scan->denoised = is_denoised(world, draw, number, patient->years[screen], patient->site);
  const double noise = noise_of(scan, dose);
  show(options, scan, c, noise, version ? 0.15 : -0.15, &random);

  /* What the columns say of it. */
  static const double thin_mm[] = {1.0, 1.25, 2.0, 2.5}, thick_mm[] = {3.2, 5.0};
  scan->thickness_mm = scan->thick ? thick_mm[demur_random_below(&random, 2)]
                                   : thin_mm[demur_random_below(&random, 4)];
  scan->spacing_mm =
      demur_random_uniform(&random) < 0.7 ? scan->thickness_mm : 0.5 * scan->thickness_mm;
  const double kvp = demur_random_uniform(&random);
  scan->kvp = kvp < 0.85 ? 120.0 : draw->outside ? 100.0 : 140.0;
  scan->fov_mm = round(330.0 + (patient->male ? 25.0 : 0.0) + 20.0 * demur_random_normal(&random));
  scan->tube_current_ma =
      round(CLAMP((draw->outside ? 110.0 : 55.0) * exp(-2.0 * dose), 10.0, 500.0));

  if (draw->embeddings == NULL)
    return;
  embed(world, site, scan, noise, &random, draw->embeddings + row * WIDTH);
}

static void
draw_chunk(size_t chunk, guint worker, gpointer data) {
  const World *world = data;
  const Draw *draw = world->draw;
  const size_t begin = chunk * PATIENTS_A_CHUNK;
  const size_t end = MIN(begin + PATIENTS_A_CHUNK, draw->patients->len);
  for (size_t p = begin; p < end; p++) {
    const Patient *patient = &g_array_index(draw->patients, Patient, p);
    for (int screen = 0; screen < patient->n_screens; screen++)
      draw_scan(world, draw, patient, p, screen);
  }
}

static gboolean
draw_part(World *world, Draw *draw, DemurParallel *parallel, GError **error) {
  draw->patients = g_array_new(FALSE, FALSE, sizeof(Patient));
  size_t n = 0;
  /* Fewer than one scan in fifty patients can't be: base_rate_logit is limited. */
  for (size_t number = 0; n < draw->n_scans; number++) {
    Patient patient = draw_patient(world, draw, number);
    patient.first_scan = n;
    patient.n_screens = (int)MIN((size_t)patient.n_screens, draw->n_scans - n);
    n += (size_t)patient.n_screens;
    g_array_append_val(draw->patients, patient);
  }
  draw->scans = demur_memory_array(draw->n_scans, 1, sizeof(Scan), error);
  draw->risks = demur_memory_array(draw->n_scans, 1, sizeof(double), error);
  if (draw->scans == NULL || draw->risks == NULL)
    return FALSE;
  if (draw->split != NULL) {
    draw->embeddings = demur_memory_array(draw->n_scans, WIDTH, sizeof(float), error);
    if (draw->embeddings == NULL)
      return FALSE;
  }
  world->draw = draw;
  demur_parallel_map(parallel, (draw->patients->len + PATIENTS_A_CHUNK - 1) / PATIENTS_A_CHUNK,
                     draw_chunk, world);
  return TRUE;
}

static void
draw_clear(Draw *draw) {
  if (draw->patients != NULL)
    g_array_unref(draw->patients);
  g_aligned_free(draw->scans);
  g_aligned_free(draw->embeddings);
  g_aligned_free(draw->risks);
}

/* Labels of a part by scan (g_free). */
static double *
labels_of(const Draw *draw) {
  double *labels = g_new(double, draw->n_scans);
  for (guint p = 0; p < draw->patients->len; p++) {
    const Patient *patient = &g_array_index(draw->patients, Patient, p);
    for (int screen = 0; screen < patient->n_screens; screen++)
      labels[patient->first_scan + (size_t)screen] = patient->labels[screen];
  }
  return labels;
}

#define MAX_WEIGHTS (N_CLINICAL + 1)

/* Solves A x = b in place for symmetric positive definite A [n][n] by elimination; b becomes x. */
static void
solve(double a[MAX_WEIGHTS][MAX_WEIGHTS], double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      const double factor = a[j][i] / a[i][i];
      for (int k = i; k < n; k++)
        a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
}

/* Ridge logistic regression by Newton's method; the last weight is the intercept, which is not
 * penalised. x [n] rows of d values, stride apart. */
static void
fit_logistic(const double *x, size_t stride, int d, const double *y, size_t n, double ridge,
             double *weights) {
  memset(weights, 0, sizeof(double) * (size_t)(d + 1));
  for (int iteration = 0; iteration < 30; iteration++) {
    double hessian[MAX_WEIGHTS][MAX_WEIGHTS] = {{0}}, gradient[MAX_WEIGHTS] = {0};
    for (size_t i = 0; i < n; i++) {
      const double *row = x + i * stride;
      double logit = weights[d];
      for (int k = 0; k < d; k++)
        logit += weights[k] * row[k];
      const double p = sigmoid(logit), v = p * (1.0 - p) + 1e-12;
      for (int k = 0; k <= d; k++) {
        const double xk = k < d ? row[k] : 1.0;
        gradient[k] += xk * (p - y[i]);
        for (int l = 0; l <= d; l++)
          hessian[k][l] += v * xk * (l < d ? row[l] : 1.0);
      }
    }
    for (int k = 0; k < d; k++) {
      gradient[k] += ridge * weights[k];
      hessian[k][k] += ridge;
    }
    hessian[d][d] += 1e-9;
    solve(hessian, gradient, d + 1);
    double step = 0.0;
    for (int k = 0; k <= d; k++) {
      weights[k] -= gradient[k];
      step = MAX(step, fabs(gradient[k]));
    }
    if (step < 1e-10)
      return;
  }
}

/* f: weights on what scans show, then Platt's line of the logit. */
typedef struct {
  double weights[MAX_WEIGHTS], platt[2];
} Fit;

static double
logit_of(const Fit *fit, const Scan *scan) {
  double logit = fit->weights[N_CLINICAL];
  for (int k = 0; k < N_CLINICAL; k++)
    logit += fit->weights[k] * scan->shown[k];
  return logit;
}

static double
risk_of(const Fit *fit, const Scan *scan) {
  return sigmoid(fit->platt[0] * logit_of(fit, scan) + fit->platt[1]);
}

static double
risk_by_year(double risk, int year) {
  return year < DEMUR_N_YEARS ? -expm1(hazard_share[year] * log1p(-risk)) : risk;
}

/* Weights on base_train, Platt on its own draw, whose risks hold the logits for a while. */
static void
fit_model(const Draw *base, Draw *platt, Fit *fit) {
  const size_t stride = sizeof(Scan) / sizeof(double);
  G_STATIC_ASSERT(sizeof(Scan) % sizeof(double) == 0);
  g_autofree double *base_labels = labels_of(base), *platt_labels = labels_of(platt);
  fit_logistic(base->scans[0].shown, stride, N_CLINICAL, base_labels, base->n_scans, 1.0,
               fit->weights);
  for (size_t i = 0; i < platt->n_scans; i++)
    platt->risks[i] = logit_of(fit, &platt->scans[i]);
  fit_logistic(platt->risks, 1, 1, platt_labels, platt->n_scans, 0.0, fit->platt);
}

static void
add_number(DemurCohortBuilder *builder, const char *name, const char *format, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, format, value);
  demur_cohort_builder_attribute(builder, name, isfinite(value) ? text : "");
}

static void
add_scan(DemurCohortBuilder *builder, const World *world, const Draw *draw, const Patient *patient,
         size_t number, int screen) {
  static const char *const models[N_MANUFACTURERS][2] = {{"LightSpeed 16", "LightSpeed VCT"},
                                                         {"Sensation 16", "Sensation 64"},
                                                         {"Mx8000 IDT", "Brilliance 64"},
                                                         {"Aquilion 16", "Aquilion 64"}};
  const size_t row = patient->first_scan + (size_t)screen;
  const Scan *scan = &draw->scans[row];
  const int year = patient->years[screen];
  const double risk = draw->risks[row];
  double yearly[DEMUR_N_YEARS];
  for (int k = 0; k < DEMUR_N_YEARS; k++)
    yearly[k] = risk_by_year(risk, k + 1);
  g_autofree char *patient_id = g_strdup_printf("P%06zu", draw->first_patient + number);
  g_autofree char *scan_id = g_strdup_printf("%s-T%d", patient_id, year);
  g_autofree char *site = g_strdup_printf("H%02zu", patient->site + 1);
  demur_cohort_builder_add(builder, scan_id, patient_id, site, draw->split, patient->labels[screen],
                           &risk, yearly, draw->embeddings + row * WIDTH);
  demur_cohort_builder_attribute(builder, "manufacturer", manufacturers[scan->manufacturer]);
  demur_cohort_builder_attribute(builder, "model_name", models[scan->manufacturer][scan->model]);
  demur_cohort_builder_attribute(
      builder, "kernel", kernels[scan->manufacturer][scan->denoised ? 1 : 0][scan->sharp ? 1 : 0]);
  add_number(builder, "slice_thickness_mm", "%g", scan->thickness_mm);
  add_number(builder, "spacing_mm", "%g", scan->spacing_mm);
  add_number(builder, "kvp", "%g", scan->kvp);
  demur_cohort_builder_attribute(builder, "contrast", scan->contrast ? "yes" : "no");
  add_number(builder, "fov_mm", "%g", scan->fov_mm);
  add_number(builder, "tube_current_ma", "%g", scan->tube_current_ma);
  demur_cohort_builder_attribute(builder, "sex", patient->male ? "male" : "female");
  add_number(builder, "age", "%g", patient->age + year);
  add_number(builder, "study_year", "%g", year);
  const gboolean recorded = patient->cancer_years <= patient->followup_years;
  add_number(builder, "years_to_cancer", "%.3f",
             recorded ? patient->cancer_years - year : INFINITY);
  add_number(builder, "years_of_followup", "%.3f", MAX(patient->followup_years - year, 0.0));
}

void
demur_simulation_defaults(DemurSimulation *simulation) {
  *simulation = (DemurSimulation){.seed = 1,
                                  .n_scans = 6282,
                                  .n_sites = 33,
                                  .n_base_train = 6000,
                                  .n_tune = 1000,
                                  .n_test = 1337,
                                  .n_outside = 1,
                                  .site_effect = 1.0,
                                  .acquisition_effect = 1.0,
                                  .scanner_effect = 1.0,
                                  .hidden_effect = 1.0,
                                  .outside_shift = 1.0};
}

static gboolean
check_options(const DemurSimulation *o, GError **error) {
  const struct {
    const char *name;
    size_t value, least;
  } sizes[] = {{"scans", o->n_scans, 5},
               {"sites", o->n_sites, 2},
               {"base_train", o->n_base_train, 100},
               {DEMUR_SPLIT_TUNE, o->n_tune, 1},
               {DEMUR_SPLIT_TEST, o->n_test, 1}};
  const size_t most = 10000000;
  if (o->n_outside < 1 || o->n_outside > 2) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "simulation: %zu outside hospitals; expected 1 or 2",
                    o->n_outside);
    return FALSE;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
    if (sizes[i].value < sizes[i].least || sizes[i].value > most) {
      demur_error_set(error, DEMUR_ERROR_USAGE, "simulation: %s is %zu; expected %zu to %zu",
                      sizes[i].name, sizes[i].value, sizes[i].least, most);
      return FALSE;
    }
  const struct {
    const char *name;
    double value, least, most;
  } effects[] = {{"site effect", o->site_effect, 0, 10},
                 {"acquisition effect", o->acquisition_effect, 0, 10},
                 {"scanner effect", o->scanner_effect, 0, 10},
                 {"hidden effect", o->hidden_effect, 0, 10},
                 {"outside shift", o->outside_shift, 0, 3},
                 {"drift effect", o->drift_effect, 0, 10},
                 {"base rate logit", o->base_rate_logit, -3, 4}};
  for (size_t i = 0; i < G_N_ELEMENTS(effects); i++)
    if (!(effects[i].value >= effects[i].least && effects[i].value <= effects[i].most)) {
      demur_error_set(error, DEMUR_ERROR_USAGE, "simulation: %s is %g; expected %g to %g",
                      effects[i].name, effects[i].value, effects[i].least, effects[i].most);
      return FALSE;
    }
  return TRUE;
}

DemurCohort *
demur_cohort_simulate(const DemurSimulation *options, const char *name, const char *created,
                      DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  if (!check_options(options, error))
    return NULL;
  g_autofree Site *sites = g_new0(Site, options->n_sites + options->n_outside);
  g_autofree Network *network = g_new0(Network, 1);
  World world = {.options = options, .sites = sites, .network = network};
  make_sites(&world);
  make_network(&world);
  Draw draws[] = {
      {.part = PART_BASE, .split = "base_train", .n_scans = options->n_base_train},
      {.part = PART_PLATT, .n_scans = N_PLATT},
      {.part = PART_TRAIN, .split = "selector_train", .n_scans = options->n_scans},
      {.part = PART_VALIDATION, .split = "validation", .n_scans = options->n_scans / 5},
      {.part = PART_TUNE, .split = DEMUR_SPLIT_TUNE, .outside = TRUE, .n_scans = options->n_tune},
      {.part = PART_TEST, .split = DEMUR_SPLIT_TEST, .outside = TRUE, .n_scans = options->n_test},
  };
  const size_t n_draws = G_N_ELEMENTS(draws);
  gboolean ok = TRUE;
  size_t n_patients = 0;
  for (size_t p = 0; ok && p < n_draws; p++) {
    draws[p].first_patient = n_patients;
    ok = demur_progress_step(progress, 0.8 * (double)p / (double)n_draws, "simulating", error) &&
         draw_part(&world, &draws[p], parallel, error);
    n_patients += draws[p].patients != NULL ? draws[p].patients->len : 0;
  }
  DemurCohort *cohort = NULL;
  if (ok) {
    Fit fit;
    fit_model(&draws[0], &draws[1], &fit);
    for (size_t p = 0; p < n_draws; p++)
      for (size_t i = 0; i < draws[p].n_scans; i++)
        draws[p].risks[i] = risk_of(&fit, &draws[p].scans[i]);
    g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, WIDTH);
    for (size_t p = 0; p < n_draws; p++) {
      for (guint i = 0; draws[p].part != PART_PLATT && i < draws[p].patients->len; i++) {
        const Patient *patient = &g_array_index(draws[p].patients, Patient, i);
        for (int screen = 0; screen < patient->n_screens; screen++)
          add_scan(builder, &world, &draws[p], patient, i, screen);
      }
      g_clear_pointer(&draws[p].embeddings, g_aligned_free);
    }
    g_autofree char *source = g_strdup_printf("simulated, seed %" PRIu64, options->seed);
    cohort =
        demur_cohort_builder_finish(builder, name, "simulated-cnn", source, created, TRUE, error);
    if (cohort != NULL)
      cohort->horizon_years = DEMUR_N_YEARS; /* the last yearly risk is the risk */
  }
  for (size_t p = 0; p < n_draws; p++)
    draw_clear(&draws[p]);
  return cohort;
}

/* --- the reader by itself --- */

struct DemurSimulatedReader {
  DemurSimulation options;
  Site site; /* outside */
  Network network;
  Fit fit;
};

static gssize
find_manufacturer(const char *maker) {
  for (gssize m = 0; m < N_MANUFACTURERS; m++)
    if (g_strcmp0(maker, manufacturers[m]) == 0)
      return m;
  return -1;
}

const char *
demur_simulated_kernel(const char *maker, gboolean sharp, gboolean denoised) {
  return kernels[MAX(find_manufacturer(maker), 0)][denoised ? 1 : 0][sharp ? 1 : 0];
}

DemurSimulatedReader *
demur_simulated_reader_new(const DemurSimulation *options, DemurParallel *parallel,
                           GError **error) {
  if (!check_options(options, error))
    return NULL;
  g_autofree Site *sites = g_new0(Site, options->n_sites + options->n_outside);
  DemurSimulatedReader *reader = g_new0(DemurSimulatedReader, 1);
  World world = {.options = options, .sites = sites, .network = &reader->network};
  make_sites(&world);
  make_network(&world);
  Draw draws[] = {{.part = PART_BASE, .n_scans = options->n_base_train},
                  {.part = PART_PLATT, .n_scans = N_PLATT}};
  const gboolean ok = draw_part(&world, &draws[0], parallel, error) &&
                      draw_part(&world, &draws[1], parallel, error);
  if (ok) {
    reader->options = *options;
    reader->site = sites[options->n_sites];
    fit_model(&draws[0], &draws[1], &reader->fit);
  }
  for (size_t p = 0; p < G_N_ELEMENTS(draws); p++)
    draw_clear(&draws[p]);
  if (!ok)
    g_clear_pointer(&reader, demur_simulated_reader_free);
  return reader;
}

void
demur_simulated_reader_free(DemurSimulatedReader *reader) {
  g_free(reader);
}

void
demur_simulated_reader_read(const DemurSimulatedReader *reader, const DemurSimulatedScan *read,
                            double *yearly, float *embedding) {
  const World world = {.options = &reader->options, .network = (Network *)&reader->network};
  DemurRandom random = demur_random_stream(reader->options.seed, DEMUR_STREAM_SIMULATION,
                                           PART_READER, read->number, 0);
  Scan scan = {.manufacturer = (int)find_manufacturer(read->maker),
               .thick = read->thick,
               .sharp = read->sharp,
               .contrast = read->contrast,
               .denoised = read->denoised};
  const double noise = noise_of(&scan, read->log_noise);
  show(&reader->options, &scan, read->clinical, noise, 0.0, &random);
  const double risk = risk_of(&reader->fit, &scan);
  for (int year = 1; year <= DEMUR_N_YEARS; year++)
    yearly[year - 1] = risk_by_year(risk, year);
  embed(&world, &reader->site, &scan, noise, &random, embedding);
}
