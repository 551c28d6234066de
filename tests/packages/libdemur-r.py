"""libdemur from R, against the same library from Python: the same numbers from the same vectors, to the last digit.

Installs the R package into a folder as packaging/r/install.sh does, and runs R on vectors that are written as text.

Usage: libdemur-r.py DEMUR SOURCES LIBDEMUR.SO   (77 where R or numpy is not installed)
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    np = None
if np is None or shutil.which("R") is None:
    print("skipped: R or numpy is not installed; packaging/dependencies-long.sh installs both")
    sys.exit(77)

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
s <- selector_read("s.json")
tell("selector", t(selector_score(s, c(0.1, 0.3, 0.7))))
stopifnot(!selector_info(s)$simulated, selector_info(s)$model == "m", selector_info(s)$embedding_width == 0)
refused <- c(tryCatch(calibration(d$risk * 9, d$label), error = conditionMessage),
             tryCatch(threshold(2, d$score), error = conditionMessage),
             tryCatch(selector_read("none.json"), error = conditionMessage),
             tryCatch(selective_curve(d$risk, d$label[-1], d$score), error = conditionMessage))
stopifnot(grepl("is not from 0 to 1", refused[1]), grepl("coverage", refused[2]), grepl("none.json", refused[3]),
          grepl("labels has", refused[4]))
"""


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-3000:], result.stderr[-3000:])
    return result.stdout


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


def main():
    program, sources, library = (os.path.abspath(path) for path in sys.argv[1:4])
    os.environ["LIBDEMUR"] = library
    sys.path.insert(0, os.path.join(sources, "packaging", "python"))
    sys.dont_write_bytecode = True
    import demur  # pylint: disable=import-outside-toplevel
    draw = np.random.default_rng(7)
    n = 400
    risks = draw.uniform(.01, .7, n).round(6)
    labels, scores = (draw.uniform(size=n) < risks).astype(int), draw.normal(size=n).round(4)
    sites, patients = draw.integers(0, 5, n), np.arange(n) // 2
    embeddings = draw.normal(size=(80, 4)).round(4)
    with tempfile.TemporaryDirectory() as folder:
        run(["sh", os.path.join(sources, "packaging", "r", "install.sh"), os.path.join(folder, "library"),
             os.path.join(sources, "core", "library"), os.path.dirname(library)])
        passes_check(sources, library, folder)
        command = [program, "--workspace", os.path.join(folder, "w.demur"), "--quiet"]
        with open(os.path.join(folder, "c.csv"), "w", encoding="utf-8") as file:
            file.write("patient_id,site,split,label,risk\n")
            for i in range(n):
                file.write(f"p{i},H{sites[i]},{('selector_train', 'tune', 'test')[i % 3]},{labels[i]},{risks[i]}\n")
        run([*command, "cohort", "import", "c", os.path.join(folder, "c.csv"), "--model", "m"])
        run([*command, "train", "s", "--cohort", "c", "--method", "entropy"])
        run([*command, "selector", "export", "s", os.path.join(folder, "s.json")])
        with open(os.path.join(folder, "vectors.csv"), "w", encoding="utf-8") as file:
            file.write("risk,label,score,site,patient\n")
            for row in zip(risks, labels, scores, sites, patients):
                file.write(",".join(str(x) for x in row) + "\n")
        np.savetxt(os.path.join(folder, "embeddings.csv"), embeddings, delimiter=",", fmt="%.4f")
        with open(os.path.join(folder, "script.R"), "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        told = {}
        for line in run(["Rscript", "script.R"], cwd=folder).splitlines():
            name, *numbers = line.split()
            told[name] = np.array([float(number.replace("NA", "nan")) for number in numbers])
        curve = demur.selective_curve(risks, labels, scores)
        smmce, regulariser, gradient = demur.loss(risks, labels, scores, q=2)
        outlier = demur.Outlier(embeddings, seed=3).score(embeddings[:5], exclude=range(5))
        with open(os.path.join(folder, "s.json"), encoding="utf-8") as file:
            assert json.load(file)
        wanted = {**curve, "auc": [demur.coverage_auc(curve["coverage"], curve["sbce2"])], "threshold": [demur.threshold(.8, scores)],
                  "calibration": list(demur.calibration(risks, labels).values()),
                  "site_error": demur.site_error(risks, labels, scores, sites, patients),
                  "loss": [smmce, regulariser, *gradient.astype(float)], "outlier": outlier.ravel(),
                  "confidence": demur.confidence_features(np.stack([1 - risks, risks], 1)).ravel(),
                  "selector": np.stack(demur.Selector(os.path.join(folder, "s.json")).score([.1, .3, .7]), 1).ravel()}
        assert set(wanted) == set(told), (set(wanted) ^ set(told))
        for name, values in wanted.items():
            assert np.array_equal(np.asarray(values, float), told[name], equal_nan=True), (name, values, told[name])
    print("R's vectors give numpy's numbers")


main()
