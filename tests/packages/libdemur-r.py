"""libdemur from R: the command line's numbers from the same vectors, those of Python to the last digit, and no copies.

Installs the R package into a folder as packaging/r/install.sh does. What told.py lists is computed by R from vectors that are written as
text; the rest (gradient, rows left out of an outlier model, a selector of the risk alone) is compared with numpy's to the last digit. What R
allocates while vectors of a million numbers are worked on is counted by R itself.

Usage: libdemur-r.py DEMUR SOURCES LIBDEMUR.SO   (77 where R or numpy is not installed)
"""
import os
import shutil
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    np = None
if np is None or shutil.which("R") is None:
    print("skipped: R or numpy is not installed; packaging/dependencies-long.sh installs both")
    sys.exit(77)
sys.dont_write_bytecode = True
import told  # noqa: E402
from told import run  # noqa: E402

# A line of vectors.txt: name, rows, columns, then the numbers row by row.
COMMAND_LINE = r"""
library(demur, lib.loc = "library")
v <- list()
for (line in strsplit(readLines("vectors.txt"), " ")) {
  x <- as.double(line[-(1:3)])
  v[[line[1]]] <- if (line[3] == "1") x else matrix(x, as.integer(line[2]), as.integer(line[3]), byrow = TRUE)
}
tell <- function(name, x) cat(name, sprintf("%.17g", as.numeric(x)), "\n")
s <- selector_read("s.json")
stopifnot(selector_info(s)$simulated, selector_info(s)$embedding_width == ncol(v$embeddings))
g <- selector_score(s, v$risks, v$embeddings)
score <- g[, "score"]
shown <- g[, "risk"]
tell("scores", score)
tell("shown", shown)
tell("threshold", threshold(0.8, selector_score(s, v$tune_risks, v$tune_embeddings)[, "score"]))
curve <- selective_curve(shown, v$labels, score, v$coverages)
tell("realised", curve$realised)
tell("auc", coverage_auc(curve$coverage, curve$sbce2))
for (name in c("sbce1", "sbce2", "sbce_inf", "brier", "accuracy"))
  tell(name, selective_curve(shown, v$labels, score, v[[paste0("coverages_", name)]])[[name]])
square <- site_error(shown, v$labels, score, v$sites, v$patients)
tell("site_error", sign(square) * sqrt(abs(square)))
kept <- v$kept > 0
tell("calibration", calibration(shown[kept], v$labels[kept])[c("oe", "intercept", "slope", "ici", "auroc")])
tell("loss", sapply(v$coverages_loss, function(coverage)
  paper_loss(shown, v$labels, ifelse(score >= threshold(coverage, score), 80, -80), q = 2, kernel_width = 0.2, lambda1 = 1)$smmce))
outlier <- outlier_score(outlier_fit(v$reference, seed = SEED), v$embeddings)
for (name in colnames(outlier)) tell(name, outlier[, name])
confidence <- confidence_features(cbind(1 - v$risks, v$risks))
tell("max_p", confidence[, ncol(confidence) - 1])
tell("entropy", confidence[, ncol(confidence)])
"""

# What R allocates at most, in bytes, while a function works: R counts vectors that it makes, those of .Call among them, before they are collected.
COPIES = r"""
library(demur, lib.loc = "library")
n <- 1e6
x <- runif(n); y <- as.double(runif(n) < x); w <- rep(1, n); score <- rnorm(n)
allocated <- function(work) {
  before <- gc(reset = TRUE)["Vcells", "used"]
  work()
  8 * (gc()["Vcells", "max used"] - before)
}
one <- 8 * n
stopifnot(allocated(function() score + 1) >= one) # it sees a copy
within <- function(bytes, work) {
  found <- allocated(work)
  if (found > bytes + 5e5) stop(deparse(body(work)), " allocates ", found, " bytes; ", bytes, " are right")
}
within(0, function() threshold(0.8, score))
within(0, function() selective_curve(x, y, score, weights = w))
within(0, function() calibration(x[1:10], y[1:10]))
within(0, function() coverage_auc(x, y))
m <- 2e5
a <- x[1:m]; b <- y[1:m]; z <- score[1:m]
within(0, function() calibration(a, b))
within(4 * m + 4 * m + 8 * m, function() paper_loss(a, b, z)) # logits and gradient in float, and the gradient as R has it
s <- selector_read("s.json")
d <- selector_info(s)$embedding_width
m <- 2e4
a <- x[1:m]
e <- matrix(rnorm(m * d), m, d)
within(4 * m * d + 16 * m, function() selector_score(s, a, e)) # embeddings in float, row by row
within(4 * m * d, function() tryCatch(outlier_fit(e, threads = 2000L), error = function(e) NULL))
"""

SCRIPT = r"""
library(demur, lib.loc = "library")
d <- read.csv("vectors.csv")
e <- as.matrix(read.csv("embeddings.csv", header = FALSE))
tell <- function(name, x) cat(name, sprintf("%.17g", as.numeric(x)), "\n")
curve <- selective_curve(d$risk, d$label, d$score)
for (name in names(curve)) tell(name, curve[[name]])
tell("auc", coverage_auc(curve$coverage, curve$sbce2))
tell("threshold", threshold(0.8, d$score))
tell("calibration", calibration(d$risk, d$label))
tell("site_error", site_error(d$risk, d$label, d$score, d$site, d$patient))
loss <- paper_loss(d$risk, d$label, d$score, q = 2)
tell("loss", c(loss$smmce, loss$regulariser, loss$gradient))
tell("outlier", t(outlier_score(outlier_fit(e, seed = 3), e[1:5, ], exclude = 1:5)))
tell("confidence", t(confidence_features(cbind(1 - d$risk, d$risk))))
s <- selector_read("plain.json")
tell("selector", t(selector_score(s, c(0.1, 0.3, 0.7))))
stopifnot(!selector_info(s)$simulated, selector_info(s)$model == "m", selector_info(s)$embedding_width == 0)
refused <- c(tryCatch(calibration(d$risk * 9, d$label), error = conditionMessage),
             tryCatch(threshold(2, d$score), error = conditionMessage),
             tryCatch(selector_read("none.json"), error = conditionMessage),
             tryCatch(selective_curve(d$risk, d$label[-1], d$score), error = conditionMessage))
stopifnot(grepl("is not from 0 to 1", refused[1]), grepl("coverage", refused[2]), grepl("none.json", refused[3]),
          grepl("labels has", refused[4]))
"""

# What R must refuse by name, and what must not end it.
HOSTILE = r"""
library(demur, lib.loc = "library")
s <- selector_read("plain.json")
m <- cbind(c(0, 1, 2, 5), c(1, 0, 2, 3))
o <- outlier_fit(m, threads = 1L)
x <- c(0.1, 0.2, 0.3, 0.4); y <- c(0, 1, 0, 1); z <- rep(0, 4)
saved <- unserialize(serialize(list(s, o), NULL))
refused <- function(says, ...) for (call in as.list(substitute(list(...)))[-1]) {
  heard <- tryCatch({ eval(call); "taken" }, error = conditionMessage, warning = function(w) paste("warned:", conditionMessage(w)))
  if (!grepl(says, heard, fixed = TRUE)) stop(deparse(call), ": ", heard, "; it should say: ", says)
}
refused("no handle of selector", selector_score("plain.json", x), selector_score(NULL, x), selector_score(o, x), selector_score(1, x), selector_score(list(s), x),
        selector_info("plain.json"), selector_info(NULL), selector_info(o), selector_info(42L), selector_info(sum))
refused("no handle of outlier models", outlier_score("m", m), outlier_score(NULL, m), outlier_score(s, m), outlier_score(m, m), outlier_score(list(o), m))
refused("another session", selector_score(saved[[1]], x), selector_info(saved[[1]]), outlier_score(saved[[2]], m))
refused("must be finite", paper_loss(x, y, z, lambda1 = Inf), paper_loss(x, y, z, lambda2 = NaN), paper_loss(x, y, z, kernel_width = -Inf))
refused("kernel_width must be", paper_loss(x, y, z, lambda1 = -1), paper_loss(x, y, z, kernel_width = 0))
refused("q is", paper_loss(x, y, z, q = 1.9), paper_loss(x, y, z, q = 0), paper_loss(x, y, z, q = Inf), paper_loss(x, y, z, q = NaN))
refused("not one number", paper_loss(x, y, z, q = 1:2), paper_loss(x, y, z, lambda1 = "1"), threshold(c(0.9, 0.1), x), threshold("a", x), threshold(NULL, x),
        outlier_fit(m, seed = 1:2), selective_curve(x, y, x, min_bin_size = NULL), coverage_grid(c(2, 3)))
refused("coverage, value 1", threshold(NaN, x), threshold(NA_real_, x), threshold(-1, x))
refused("seed is", outlier_fit(m, seed = -1), outlier_fit(m, seed = NaN), outlier_fit(m, seed = NA_real_), outlier_fit(m, seed = 0.5), outlier_fit(m, seed = 2^54))
refused("threads is", outlier_fit(m, threads = -1), outlier_fit(m, threads = 1.5), outlier_fit(m, threads = 2000), selector_read("plain.json", threads = NA_integer_))
refused("min_bin_size is", selective_curve(x, y, x, min_bin_size = -1), selective_curve(x, y, x, min_bin_size = NA_real_), selective_curve(x, y, x, min_bin_size = 0),
        selective_curve(x, y, x, min_bin_size = 2.5), selective_curve(x, y, x, min_bin_size = 2^33))
refused("n is", coverage_grid(0), coverage_grid(-1), coverage_grid(NA_real_), coverage_grid(1e9))
refused("exclude", outlier_score(o, m, exclude = "a"), outlier_score(o, m, exclude = c(1, 2, 3, 1.5)), outlier_score(o, m, exclude = c(0, 1, 2, 3)),
        outlier_score(o, m, exclude = c(NaN, 1, 2, 3)), outlier_score(o, m, exclude = c(5, 1, 2, 3)), outlier_score(o, m, exclude = 1),
        outlier_score(o, m, exclude = factor(1:4)), outlier_score(o, m, exclude = c(TRUE, FALSE, TRUE, TRUE)))
refused("path is not", selector_read(NULL), selector_read(NA_character_), selector_read(character()), selector_read(c("a", "b")), selector_read(3))
refused("not a vector of numbers", selective_curve(NULL, y, x), selective_curve(x, NULL, x), selective_curve(x, y, NULL), calibration(x, factor(y)), threshold(0.5, "a"),
        threshold(0.5, x + 1i), coverage_auc(x, NULL), calibration(list(0.1), 1))
refused("not a matrix of numbers", outlier_fit("a"), confidence_features(matrix("a")), outlier_score(o, m + 1i))
refused("names none", site_error(x, y, x, c("a", NA, "b", "c"), 1:4), site_error(x, y, x, 1:4, c(1, 2, NaN, 3)))
refused("names", site_error(x, y, x, 1:3, 1:4), site_error(x, y, x, 1:4, list(1, 2, 3, 4)))
stopifnot(identical(paper_loss(x, y, z, q = NA, lambda1 = NA_real_, lambda2 = NA_integer_), paper_loss(x, y, z)),
          identical(outlier_score(o, m, exclude = rep(NA, 4)), outlier_score(o, m)), identical(threshold(1, 1:4), 1),
          is.nan(coverage_auc(numeric(), numeric())))
# A forked process has the handles and not their threads; it may drop them.
o2 <- outlier_fit(m, threads = 3L)
if (.Platform$OS.type == "unix") {
  told <- parallel::mclapply(1:2, function(i) { score <- outlier_score(o2, m); rm(o2, envir = globalenv()); gc(); score }, mc.cores = 2)
  stopifnot(identical(told[[1]], outlier_score(o2, m)), identical(told[[2]], told[[1]]))
}
"""


def passes_check(sources, library, folder):
    """R CMD check of the package as it is sent out (without the manual's PDF, which needs LaTeX): no error, warning or note."""
    packed = os.path.join(folder, "packed", "demur")
    shutil.copytree(os.path.join(sources, "packaging", "r"), packed, ignore=shutil.ignore_patterns("install.sh"))
    where = os.path.dirname(library)
    environment = {**os.environ, "LIBDEMUR_CFLAGS": "-I" + os.path.join(sources, "core", "library"),
                   "LIBDEMUR_LIBS": f"-L{where} -ldemur -Wl,-rpath,{where}"}
    run(["R", "CMD", "build", "demur"], cwd=os.path.dirname(packed), env=environment)
    tarball = next(name for name in os.listdir(os.path.dirname(packed)) if name.endswith(".tar.gz"))
    said = run(["R", "CMD", "check", "--no-manual", tarball], cwd=os.path.dirname(packed), env=environment)
    assert "\nStatus: OK\n" in said, said[-3000:]


def by_r(script, folder):
    """{name: array} of the lines that a script tells."""
    with open(os.path.join(folder, "script.R"), "w", encoding="utf-8") as file:
        file.write(script)
    found = {}
    for line in run(["Rscript", "script.R"], cwd=folder).splitlines():
        name, *numbers = line.split()
        found[name] = np.array([float(number.replace("NA", "nan")) for number in numbers])
    return found


def gives_the_command_line_s(program, folder):
    vectors, numbers = told.command_line(program, folder)
    with open(os.path.join(folder, "vectors.txt"), "w", encoding="utf-8") as file:
        for name, array in vectors.items():
            rows = array if array.ndim == 2 else array[:, None]
            file.write(f"{name} {len(rows)} {rows.shape[1]} " + " ".join(repr(float(x)) for x in rows.ravel()) + "\n")
    told.compare(numbers, by_r(COMMAND_LINE.replace("SEED", str(told.SEED)), folder))
    by_r(COPIES, folder)


def gives_numpy_s(program, demur, folder):
    draw = np.random.default_rng(7)
    n = 400
    risks = draw.uniform(.01, .7, n).round(6)
    labels, scores = (draw.uniform(size=n) < risks).astype(int), draw.normal(size=n).round(4)
    sites, patients = draw.integers(0, 5, n), np.arange(n) // 2
    embeddings = draw.normal(size=(80, 4)).round(4)
    command = [program, "--workspace", os.path.join(folder, "plain.demur"), "--quiet"]
    with open(os.path.join(folder, "plain.csv"), "w", encoding="utf-8") as file:
        file.write("patient_id,site,split,label,risk\n")
        for i in range(n):
            file.write(f"p{i},H{sites[i]},{('selector_train', 'tune', 'test')[i % 3]},{labels[i]},{risks[i]}\n")
    run([*command, "cohort", "import", "c", os.path.join(folder, "plain.csv"), "--model", "m"])
    run([*command, "train", "s", "--cohort", "c", "--method", "entropy"])
    run([*command, "selector", "export", "s", os.path.join(folder, "plain.json")])
    with open(os.path.join(folder, "vectors.csv"), "w", encoding="utf-8") as file:
        file.write("risk,label,score,site,patient\n")
        for row in zip(risks, labels, scores, sites, patients):
            file.write(",".join(str(x) for x in row) + "\n")
    np.savetxt(os.path.join(folder, "embeddings.csv"), embeddings, delimiter=",", fmt="%.4f")
    found = by_r(SCRIPT, folder)
    smmce, regulariser, gradient = demur.loss(risks, labels, scores, q=2)
    outlier = demur.Outlier(embeddings, seed=3).score(embeddings[:5], exclude=range(5))
    curve = demur.selective_curve(risks, labels, scores)
    wanted = {**curve, "auc": [demur.coverage_auc(curve["coverage"], curve["sbce2"])], "threshold": [demur.threshold(.8, scores)],
              "calibration": list(demur.calibration(risks, labels).values()),
              "site_error": demur.site_error(risks, labels, scores, sites, patients),
              "loss": [smmce, regulariser, *gradient.astype(float)], "outlier": outlier.ravel(),
              "confidence": demur.confidence_features(np.stack([1 - risks, risks], 1)).ravel(),
              "selector": np.stack(demur.Selector(os.path.join(folder, "plain.json")).score([.1, .3, .7]), 1).ravel()}
    assert set(wanted) == set(found), (set(wanted) ^ set(found))
    for name, values in wanted.items():
        assert np.array_equal(np.asarray(values, float), found[name], equal_nan=True), (name, values, found[name])


def main():
    program, sources, library = (os.path.abspath(path) for path in sys.argv[1:4])
    os.environ["LIBDEMUR"] = library
    sys.path.insert(0, os.path.join(sources, "packaging", "python"))
    import demur  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        run(["sh", os.path.join(sources, "packaging", "r", "install.sh"), os.path.join(folder, "library"),
             os.path.join(sources, "core", "library"), os.path.dirname(library)])
        gives_the_command_line_s(program, folder)
        gives_numpy_s(program, demur, folder)
        by_r(HOSTILE, folder)
        passes_check(sources, library, folder)
    print("R's vectors give the command line's numbers and numpy's, where they lie")


main()
