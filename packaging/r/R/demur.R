# Demur's numbers over R's vectors: libdemur (libdemur.h says what each of them is). Undefined numbers are NaN; what is wrong with an
# argument is an error. For research use, not a cleared device.

vector_of <- function(x, what, n = NULL) {
  if (!is.numeric(x) && !is.logical(x)) stop(what, " is not a vector of numbers")
  if (!is.null(n) && length(x) != n) stop(what, " has ", length(x), " values; there are ", n, " risks")
  # Assigning a storage mode copies, even where it is that already.
  if (is.double(x) && is.null(attributes(x))) x else as.double(x)
}

weights_of <- function(x, n) if (is.null(x)) NULL else vector_of(x, "weights", n)

number_of <- function(x, what) {
  if (!is.numeric(x) || length(x) != 1L) stop(what, " is not one number")
  as.double(x)
}

whole_of <- function(x, what, low, high) {
  x <- number_of(x, what)
  if (is.na(x) || x != trunc(x) || x < low || x > high)
    stop(what, " is ", format(x, digits = 16), "; it must be a whole number from ", low, " to ", format(high, digits = 16))
  x
}

# NA, and nothing else that is not finite, is the paper's.
setting_of <- function(x, what, check = number_of, ...) {
  if (identical(x, NA) || identical(x, NA_real_) || identical(x, NA_integer_)) return(NA_real_)
  x <- check(x, what, ...)
  if (!is.finite(x)) stop(what, " is ", x, "; it must be finite (NA: as in the paper)")
  x
}

threads_of <- function(x) as.integer(whole_of(x, "threads", 0, 1024))

# What names nothing is refused: NA would be a site, or a patient, of its own.
codes_of <- function(names, what, n) {
  if (!is.atomic(names) || length(names) != n) stop(what, " is not a vector of ", n, " names")
  if (anyNA(names)) stop(what, ", value ", which(is.na(names))[1], " of ", n, ", is NA: it names none")
  match(names, unique(names))
}

# Rows of the reference, from 1; NA: none.
rows_of <- function(x, what, n) {
  if (!is.numeric(x) && !(is.logical(x) && all(is.na(x)))) stop(what, " is not a vector of row numbers")
  if (length(x) != n) stop(what, " has ", length(x), " values; there are ", n, " scans")
  wrong <- is.nan(x) | (!is.na(x) & (x != trunc(x) | x < 1 | x > .Machine$integer.max))
  if (any(wrong)) stop(what, ", value ", which(wrong)[1], " of ", n, ", is no row: they are numbered from 1 (NA: none)")
  as.integer(x)
}

matrix_of <- function(x, what) {
  x <- as.matrix(x)
  if (!is.numeric(x)) stop(what, " is not a matrix of numbers")
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

demur_version <- function() .Call(r_version)

coverage_grid <- function(n = 50L) .Call(r_grid, as.integer(whole_of(n, "n", 1, 1e6)))

coverage_auc <- function(coverages, values) {
  coverages <- vector_of(coverages, "coverages")
  .Call(r_auc, coverages, vector_of(values, "values", length(coverages)))
}

threshold <- function(coverage, scores) .Call(r_threshold, number_of(coverage, "coverage"), vector_of(scores, "scores"))

selective_curve <- function(risks, labels, scores, coverages = coverage_grid(), weights = NULL, min_bin_size = 25L) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  points <- .Call(r_curve, risks, vector_of(labels, "labels", n), weights_of(weights, n), vector_of(scores, "scores", n),
                  vector_of(coverages, "coverages"), as.integer(whole_of(min_bin_size, "min_bin_size", 1, .Machine$integer.max)))
  colnames(points) <- c("realised", "sbce1", "sbce2", "sbce_inf", "debiased2", "brier", "accuracy")
  data.frame(coverage = coverages, points)
}

paper_loss <- function(risks, labels, logits, q = NA, kernel_width = NA, lambda1 = NA, lambda2 = NA) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  .Call(r_loss, risks, vector_of(labels, "labels", n), vector_of(logits, "logits", n),
        c(setting_of(q, "q", whole_of, 1, 2), setting_of(kernel_width, "kernel_width"), setting_of(lambda1, "lambda1"),
          setting_of(lambda2, "lambda2")))
}

calibration <- function(risks, labels, weights = NULL) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  values <- .Call(r_calibration, risks, vector_of(labels, "labels", n), weights_of(weights, n))
  names(values) <- c("oe", "intercept", "slope", "slope_intercept", "ici", "e50", "e90", "auroc")
  values
}

site_error <- function(risks, labels, scores, sites, patients, coverages = coverage_grid()) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  .Call(r_site_error, risks, vector_of(labels, "labels", n), vector_of(scores, "scores", n), codes_of(sites, "sites", n),
        codes_of(patients, "patients", n), vector_of(coverages, "coverages"))
}

confidence_features <- function(probabilities) .Call(r_confidence, matrix_of(probabilities, "probabilities"))

outlier_fit <- function(embeddings, seed = 1, threads = 0L) {
  .Call(r_outlier_fit, matrix_of(embeddings, "embeddings"), whole_of(seed, "seed", 0, 2^53), threads_of(threads))
}

outlier_score <- function(outlier, embeddings, exclude = NULL) {
  embeddings <- matrix_of(embeddings, "embeddings")
  out <- .Call(r_outlier_score, outlier, embeddings, if (is.null(exclude)) NULL else rows_of(exclude, "exclude", nrow(embeddings)))
  colnames(out) <- c("knn", "kde", "ocsvm", "iforest", "lof")
  out
}

selector_read <- function(path, threads = 0L) {
  if (!is.character(path) || length(path) != 1L || is.na(path)) stop("path is not the name of one file")
  .Call(r_selector_read, path, threads_of(threads))
}

selector_info <- function(selector) .Call(r_selector_info, selector)

selector_score <- function(selector, risks, embeddings = NULL) {
  out <- .Call(r_selector_score, selector, vector_of(risks, "risks"),
               if (is.null(embeddings)) NULL else matrix_of(embeddings, "embeddings"))
  colnames(out) <- c("score", "risk")
  out
}
