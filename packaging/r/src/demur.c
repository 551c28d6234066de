/* libdemur for R: vectors and matrices in and out. A matrix of R lies column by column, libdemur's
 * row by row: matrices are turned here. NULL in R is NULL there. */
#include <limits.h>

#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>

#include <libdemur.h>

static const double *
reals(SEXP x) {
  return Rf_isNull(x) ? NULL : REAL(x);
}

static void
stop_if(int status, const libdemur_error *error) {
  if (status != 0)
    Rf_error("%s", error->message);
}

static libdemur_sample
sample_of(SEXP risks, SEXP labels, SEXP weights, SEXP scores) {
  const libdemur_sample sample = {(size_t)XLENGTH(risks), REAL(risks), REAL(labels), reals(weights),
                                  reals(scores)};
  return sample;
}

/* x, an R matrix [n][d] of doubles, row by row; freed by R when the call ends. */
static double *
turned(SEXP x, size_t n, size_t d) {
  double *rows = (double *)R_alloc(n * d, sizeof *rows);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < d; k++)
      rows[i * d + k] = REAL(x)[k * n + i];
  return rows;
}

static float *
turned_float(SEXP x, size_t n, size_t d) {
  float *rows = (float *)R_alloc(n * d, sizeof *rows);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < d; k++)
      rows[i * d + k] = (float)REAL(x)[k * n + i];
  return rows;
}

/* rows [n][d] as an R matrix. */
static SEXP
matrix_of(const double *rows, size_t n, size_t d) {
  SEXP x = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)d));
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < d; k++)
      REAL(x)[k * n + i] = rows[i * d + k];
  UNPROTECT(1);
  return x;
}

static SEXP
r_version(void) {
  return Rf_mkString(libdemur_version());
}

static SEXP
r_threshold(SEXP coverage, SEXP scores) {
  libdemur_error error;
  double tau;
  stop_if(
      libdemur_threshold(Rf_asReal(coverage), REAL(scores), (size_t)XLENGTH(scores), &tau, &error),
      &error);
  return Rf_ScalarReal(tau);
}

static SEXP
r_grid(SEXP n) {
  SEXP grid = PROTECT(Rf_allocVector(REALSXP, Rf_asInteger(n)));
  libdemur_coverage_grid((size_t)XLENGTH(grid), REAL(grid));
  UNPROTECT(1);
  return grid;
}

static SEXP
r_auc(SEXP coverages, SEXP values) {
  return Rf_ScalarReal(
      libdemur_coverage_auc(REAL(coverages), REAL(values), (size_t)XLENGTH(values)));
}

static SEXP
r_curve(SEXP risks, SEXP labels, SEXP weights, SEXP scores, SEXP coverages, SEXP min_bin_size) {
  libdemur_error error;
  const libdemur_sample sample = sample_of(risks, labels, weights, scores);
  const size_t n = (size_t)XLENGTH(coverages);
  double *points = (double *)R_alloc(n * LIBDEMUR_N_POINT, sizeof *points);
  stop_if(libdemur_selective_curve(&sample, REAL(coverages), n, (size_t)Rf_asInteger(min_bin_size),
                                   points, &error),
          &error);
  return matrix_of(points, n, LIBDEMUR_N_POINT);
}

static SEXP
r_loss(SEXP risks, SEXP labels, SEXP logits, SEXP given) {
  libdemur_error error;
  const size_t n = (size_t)XLENGTH(risks);
  libdemur_loss_settings settings;
  libdemur_loss_settings_init(&settings);
  double *const numbers[] = {&settings.kernel_width, &settings.lambda1, &settings.lambda2};
  if (!R_IsNA(REAL(given)[0]))
    settings.q = (int)REAL(given)[0];
  for (int k = 0; k < 3; k++)
    if (!R_IsNA(REAL(given)[k + 1]))
      *numbers[k] = REAL(given)[k + 1];
  float *z = (float *)R_alloc(n, sizeof *z), *gradient = (float *)R_alloc(n, sizeof *gradient);
  for (size_t i = 0; i < n; i++)
    z[i] = (float)REAL(logits)[i];
  const char *names[] = {"smmce", "regulariser", "gradient", ""};
  double smmce, regulariser;
  stop_if(libdemur_loss(&settings, REAL(risks), REAL(labels), z, n, gradient, &smmce, &regulariser,
                        &error),
          &error);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(smmce));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(regulariser));
  SEXP slope = Rf_allocVector(REALSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(out, 2, slope);
  for (size_t i = 0; i < n; i++)
    REAL(slope)[i] = gradient[i];
  UNPROTECT(1);
  return out;
}

static SEXP
r_calibration(SEXP risks, SEXP labels, SEXP weights) {
  libdemur_error error;
  const libdemur_sample sample = sample_of(risks, labels, weights, R_NilValue);
  SEXP values = PROTECT(Rf_allocVector(REALSXP, LIBDEMUR_N_CALIBRATION));
  stop_if(libdemur_calibration(&sample, REAL(values), &error), &error);
  UNPROTECT(1);
  return values;
}

static int64_t *
codes_of(SEXP names) {
  const size_t n = (size_t)XLENGTH(names);
  int64_t *codes = (int64_t *)R_alloc(n, sizeof *codes);
  for (size_t i = 0; i < n; i++)
    codes[i] = INTEGER(names)[i];
  return codes;
}

static SEXP
r_site_error(SEXP risks, SEXP labels, SEXP scores, SEXP sites, SEXP patients, SEXP coverages) {
  libdemur_error error;
  const libdemur_sample sample = sample_of(risks, labels, R_NilValue, scores);
  SEXP squares = PROTECT(Rf_allocVector(REALSXP, XLENGTH(coverages)));
  stop_if(libdemur_site_error(&sample, codes_of(sites), codes_of(patients), REAL(coverages),
                              (size_t)XLENGTH(coverages), REAL(squares), &error),
          &error);
  UNPROTECT(1);
  return squares;
}

static SEXP
r_confidence(SEXP probabilities) {
  libdemur_error error;
  const size_t n = (size_t)Rf_nrows(probabilities), k = (size_t)Rf_ncols(probabilities);
  const size_t width = libdemur_confidence_width(k);
  double *out = (double *)R_alloc(n * (width > 0 ? width : 1), sizeof *out);
  stop_if(libdemur_confidence_features(turned(probabilities, n, k), n, k, out, &error), &error);
  return matrix_of(out, n, width);
}

/* What a handle is of: the tag that its pointer bears, and what makes one. */
typedef struct {
  const char *tag, *what, *maker;
} Kind;

static const Kind outlier_kind = {"libdemur_outlier", "outlier models", "outlier_fit"};
static const Kind selector_kind = {"libdemur_selector", "selector", "selector_read"};

static SEXP
handle_of(void *address, const Kind *kind, R_CFinalizer_t finalizer) {
  SEXP handle = PROTECT(R_MakeExternalPtr(address, Rf_install(kind->tag), R_NilValue));
  R_RegisterCFinalizerEx(handle, finalizer, TRUE);
  UNPROTECT(1);
  return handle;
}

static void *
address_of(SEXP handle, const Kind *kind) {
  if (TYPEOF(handle) != EXTPTRSXP || R_ExternalPtrTag(handle) != Rf_install(kind->tag))
    Rf_error("this is no handle of %s: %s gives one", kind->what, kind->maker);
  void *address = R_ExternalPtrAddr(handle);
  if (address == NULL)
    Rf_error("this handle of %s is of another session: make it again by %s", kind->what,
             kind->maker);
  return address;
}

static void
free_outlier(SEXP handle) {
  libdemur_outlier_free(R_ExternalPtrAddr(handle));
  R_ClearExternalPtr(handle);
}

static SEXP
r_outlier_fit(SEXP embeddings, SEXP seed, SEXP threads) {
  libdemur_error error;
  const size_t n = (size_t)Rf_nrows(embeddings), d = (size_t)Rf_ncols(embeddings);
  libdemur_outlier *outlier =
      libdemur_outlier_fit(turned_float(embeddings, n, d), n, d, (uint64_t)Rf_asReal(seed),
                           (unsigned)Rf_asInteger(threads), &error);
  stop_if(outlier == NULL, &error);
  return handle_of(outlier, &outlier_kind, free_outlier);
}

static SEXP
r_outlier_score(SEXP handle, SEXP embeddings, SEXP exclude) {
  libdemur_error error;
  libdemur_outlier *outlier = address_of(handle, &outlier_kind);
  const size_t m = (size_t)Rf_nrows(embeddings), d = (size_t)Rf_ncols(embeddings);
  if (d != libdemur_outlier_width(outlier))
    Rf_error("embeddings have %d columns; the reference has %d", (int)d,
             (int)libdemur_outlier_width(outlier));
  int64_t *rows = NULL;
  if (!Rf_isNull(exclude)) {
    rows = (int64_t *)R_alloc(m, sizeof *rows);
    for (size_t i = 0; i < m; i++) /* from 1 in R; NA: none */
      rows[i] = INTEGER(exclude)[i] == NA_INTEGER ? -1 : INTEGER(exclude)[i] - 1;
  }
  double *out = (double *)R_alloc(m * LIBDEMUR_N_OUTLIER, sizeof *out);
  stop_if(libdemur_outlier_score(outlier, turned_float(embeddings, m, d), m, rows, out, &error),
          &error);
  return matrix_of(out, m, LIBDEMUR_N_OUTLIER);
}

static void
free_selector(SEXP handle) {
  libdemur_selector_free(R_ExternalPtrAddr(handle));
  R_ClearExternalPtr(handle);
}

static SEXP
r_selector_read(SEXP path, SEXP threads) {
  libdemur_error error;
  libdemur_selector *selector =
      libdemur_selector_read(R_ExpandFileName(Rf_translateChar(STRING_ELT(path, 0))),
                             (unsigned)Rf_asInteger(threads), &error);
  stop_if(selector == NULL, &error);
  return handle_of(selector, &selector_kind, free_selector);
}

static SEXP
r_selector_info(SEXP handle) {
  const libdemur_selector *selector = address_of(handle, &selector_kind);
  const char *names[] = {
      "digest", "model", "horizon_years", "simulated", "embedding_width", "uses_acquisition", ""};
  SEXP info = PROTECT(Rf_mkNamed(VECSXP, names));
  const double years = libdemur_selector_horizon_years(selector);
  SET_VECTOR_ELT(info, 0, Rf_mkString(libdemur_selector_digest(selector)));
  SET_VECTOR_ELT(info, 1, Rf_mkString(libdemur_selector_model(selector)));
  SET_VECTOR_ELT(info, 2, Rf_ScalarReal(years > 0 ? years : NA_REAL));
  SET_VECTOR_ELT(info, 3, Rf_ScalarLogical(libdemur_selector_is_simulated(selector)));
  SET_VECTOR_ELT(info, 4, Rf_ScalarInteger((int)libdemur_selector_embedding_width(selector)));
  SET_VECTOR_ELT(info, 5, Rf_ScalarLogical(libdemur_selector_uses_acquisition(selector)));
  UNPROTECT(1);
  return info;
}

static SEXP
r_selector_score(SEXP handle, SEXP risks, SEXP embeddings) {
  libdemur_error error;
  libdemur_selector *selector = address_of(handle, &selector_kind);
  const size_t n = (size_t)XLENGTH(risks), d = libdemur_selector_embedding_width(selector);
  const float *rows = NULL;
  if (d > 0 && !Rf_isNull(embeddings)) {
    if ((size_t)Rf_nrows(embeddings) != n || (size_t)Rf_ncols(embeddings) != d)
      Rf_error("embeddings are [%d][%d]; %d scans of %d numbers are read", Rf_nrows(embeddings),
               Rf_ncols(embeddings), (int)n, (int)d);
    rows = turned_float(embeddings, n, d);
  }
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, 2));
  stop_if(libdemur_selector_score(selector, REAL(risks), rows, n, REAL(out), REAL(out) + n, &error),
          &error);
  UNPROTECT(1);
  return out;
}

#define ENTRY(name, n)                                                                             \
  { #name, (DL_FUNC)&name, n }

static const R_CallMethodDef entries[] = {
    ENTRY(r_version, 0),       ENTRY(r_threshold, 2),      ENTRY(r_grid, 1),
    ENTRY(r_auc, 2),           ENTRY(r_curve, 6),          ENTRY(r_loss, 4),
    ENTRY(r_calibration, 3),   ENTRY(r_site_error, 6),     ENTRY(r_confidence, 1),
    ENTRY(r_outlier_fit, 3),   ENTRY(r_outlier_score, 3),  ENTRY(r_selector_read, 2),
    ENTRY(r_selector_info, 1), ENTRY(r_selector_score, 3), {NULL, NULL, 0}};

void
R_init_demur(DllInfo *info) {
  R_registerRoutines(info, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
