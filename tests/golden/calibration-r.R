# Reference values of the calibration measures, made with R. Writes calibration-r.json beside it:
#   Rscript tests/golden/calibration-r.R tests/golden/calibration-r.json
# Debian 12: r-base-core 4.2.2, r-cran-rms 6.5, r-cran-hmisc 4.8, r-cran-proc 1.18, r-cran-survival 3.5.
# Hosmer and Lemeshow's statistic is written out: no package of Debian's has it.
suppressMessages({library(rms); library(Hmisc); library(pROC)})

number <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")

hosmer_lemeshow <- function(r, y, g = 10) {
  group <- ceiling(rank(r) / (length(r) / g)) # no ties, a multiple of g
  n <- tapply(r, group, length); e <- tapply(r, group, sum); o <- tapply(y, group, sum)
  sum((o - e)^2 / (n * (e / n) * (1 - e / n)))
}

one <- function(name, n, shift, slope) {
  z <- rnorm(n, -1, 1.2)
  r <- plogis(z); y <- as.numeric(runif(n) < plogis(shift + slope * z))
  o <- order(r); r <- r[o]; y <- y[o]; l <- qlogis(r)
  exact <- glm.control(epsilon = 1e-15, maxit = 200)
  both <- coef(glm(y ~ l, family = binomial, control = exact))
  large <- coef(glm(y ~ 1 + offset(l), family = binomial, control = exact))
  v <- val.prob(r, y, pl = FALSE)
  paste0(' {"name": "', name, '",\n  "risks": ', vector(r), ',\n  "labels": ', vector(y),
    ',\n  "calibration_intercept": ', number(both[[1]]), ', "calibration_slope": ', number(both[[2]]),
    ', "calibration_in_the_large": ', number(large[[1]]),
    ',\n  "val_prob_intercept": ', number(v[["Intercept"]]), ', "val_prob_slope": ', number(v[["Slope"]]),
    ',\n  "brier": ', number(v[["Brier"]]), ', "spiegelhalter_z": ', number(v[["S:z"]]),
    ', "hosmer_lemeshow": ', number(hosmer_lemeshow(r, y)),
    ',\n  "auroc": ', number(as.numeric(auc(y, r, levels = c(0, 1), direction = "<"))),
    ', "somers_c": ', number(somers2(r, y)[["C"]]),
    ',\n  "val_prob_eavg": ', number(v[["Eavg"]]), ', "val_prob_e90": ', number(v[["E90"]]), "}")
}

set.seed(20221)
cases <- c(one("right", 500, 0, 1), one("too low", 800, 0.6, 1), one("too steep", 300, -0.2, 0.6))
arguments <- commandArgs(trailingOnly = TRUE)
writeLines(paste0("[\n", paste(cases, collapse = ",\n"), "\n]"), arguments[1])
