# Demur's numbers over R's vectors: libdemur (libdemur.h says what each of them is). Undefined numbers are NaN; what is wrong with an
# argument is an error. For research use, not a cleared device.

vector_of <- function(x, what, n = NULL) {
  if (is.null(x)) return(NULL)
  if (!is.numeric(x) && !is.logical(x)) stop(what, " is not a vector of numbers")
  if (!is.null(n) && length(x) != n) stop(what, " has ", length(x), " values; there are ", n, " risks")
  # Assigning a storage mode copies, even where it is that already.
  if (is.double(x) && is.null(attributes(x))) x else as.double(x)
}

matrix_of <- function(x, what) {
  x <- as.matrix(x)
  if (!is.numeric(x)) stop(what, " is not a matrix of numbers")
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

demur_version <- function() .Call(r_version)

coverage_grid <- function(n = 50L) .Call(r_grid, as.integer(n))

coverage_auc <- function(coverages, values) {
  coverages <- vector_of(coverages, "coverages")
  .Call(r_auc, coverages, vector_of(values, "values", length(coverages)))
}

threshold <- function(coverage, scores) .Call(r_threshold, vector_of(coverage, "coverage"), vector_of(scores, "scores"))

selective_curve <- function(risks, labels, scores, coverages = coverage_grid(), weights = NULL, min_bin_size = 25L) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  points <- .Call(r_curve, risks, vector_of(labels, "labels", n), vector_of(weights, "weights", n), vector_of(scores, "scores", n),
                  vector_of(coverages, "coverages"), as.integer(min_bin_size))
  colnames(points) <- c("realised", "sbce1", "sbce2", "sbce_inf", "debiased2", "brier", "accuracy")
  data.frame(coverage = coverages, points)
}

paper_loss <- function(risks, labels, logits, q = NA, kernel_width = NA, lambda1 = NA, lambda2 = NA) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  .Call(r_loss, risks, vector_of(labels, "labels", n), vector_of(logits, "logits", n), as.double(c(q, kernel_width, lambda1, lambda2)))
}

calibration <- function(risks, labels, weights = NULL) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  values <- .Call(r_calibration, risks, vector_of(labels, "labels", n), vector_of(weights, "weights", n))
  names(values) <- c("oe", "intercept", "slope", "slope_intercept", "ici", "e50", "e90", "auroc")
  values
}

site_error <- function(risks, labels, scores, sites, patients, coverages = coverage_grid()) {
  risks <- vector_of(risks, "risks")
  n <- length(risks)
  stopifnot(length(sites) == n, length(patients) == n)
  .Call(r_site_error, risks, vector_of(labels, "labels", n), vector_of(scores, "scores", n), match(sites, unique(sites)),
        match(patients, unique(patients)), vector_of(coverages, "coverages"))
}

confidence_features <- function(probabilities) .Call(r_confidence, matrix_of(probabilities, "probabilities"))

outlier_fit <- function(embeddings, seed = 1, threads = 0L) {
  .Call(r_outlier_fit, matrix_of(embeddings, "embeddings"), as.double(seed), as.integer(threads))
}

outlier_score <- function(outlier, embeddings, exclude = NULL) {
  embeddings <- matrix_of(embeddings, "embeddings")
  if (!is.null(exclude)) stopifnot(length(exclude) == nrow(embeddings))
  out <- .Call(r_outlier_score, outlier, embeddings, if (is.null(exclude)) NULL else as.integer(exclude))
  colnames(out) <- c("knn", "kde", "ocsvm", "iforest", "lof")
  out
}

selector_read <- function(path, threads = 0L) .Call(r_selector_read, as.character(path), as.integer(threads))

selector_info <- function(selector) .Call(r_selector_info, selector)

selector_score <- function(selector, risks, embeddings = NULL) {
  out <- .Call(r_selector_score, selector, vector_of(risks, "risks"),
               if (is.null(embeddings)) NULL else matrix_of(embeddings, "embeddings"))
  colnames(out) <- c("score", "risk")
  out
}
