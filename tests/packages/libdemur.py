"""libdemur from Python, against the command line: the same numbers from the same vectors.

Builds the wheel as packaging/python/build.sh does, installs it into a folder, and works with that. A cohort is drawn by the
command line, a selector trained, tuned and exported; its scores, risks, threshold, curve over coverage and calibration are then
computed from numpy vectors. The gradient of the paper's loss is compared with differences, and rows in another order must
change nothing. Arrays that lie as the library reads them go by their own address.

Usage: libdemur.py DEMUR SOURCES LIBDEMUR.SO   (77 where numpy, setuptools, wheel or pip is not installed)
"""
import csv
import importlib
import json
import os
import subprocess
import sys
import tempfile

try:
    for name in ("numpy", "setuptools", "wheel", "pip"):
        importlib.import_module(name)
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; packaging/dependencies-long.sh installs it")
    sys.exit(77)

TRAIN = ["--epochs", "1", "--datasets-per-epoch", "64", "--batch", "8", "--kappa", "2", "--dataset-size", "100", "--average", "1",
         "--recalibrate", "platt"]


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def close(a, b, relative=1e-12):
    return np.allclose(np.asarray(a, float), np.asarray(b, float), rtol=relative, atol=1e-12, equal_nan=True)


def compare_selector(demur, command, folder):
    """Scores, shown risks, threshold, curve and calibration of the test split, equal to the command line's."""
    run([*command, "cohort", "simulate", "c", "--scans", "600", "--base-train", "500", "--sites", "6", "--tune", "200", "--test", "300"])
    run([*command, "train", "s", "--cohort", "c", *TRAIN])
    file, table = os.path.join(folder, "s.json"), os.path.join(folder, "c.csv")
    run([*command, "selector", "export", "s", file])
    run([*command, "selector", "import", "again", file])
    run([*command, "tune", "again", "--cohort", "c", "--coverage", "0.8"])
    run([*command, "cohort", "export", "c", table])
    with open(table, encoding="utf-8") as opened:
        rows = {row["scan_id"]: row for row in csv.DictReader(opened)}
    selector = demur.Selector(file)
    assert selector.simulated and selector.embedding_width > 0

    def vectors(ids):
        risks = np.array([float(rows[i]["risk"]) for i in ids])
        columns = [f"emb_{k}" for k in range(selector.embedding_width)]
        return risks, np.array([[float(rows[i][c]) for c in columns] for i in ids], np.float32)
    told = {}
    for split in ("tune", "test"):
        told[split] = json.loads(run([*command, "--json", "assess", "again", "--cohort", "c", "--split", split, "--reveal", "test"]))
    verdicts = told["test"]["verdicts"]
    ids = [v["scan_id"] for v in verdicts]
    scores, shown = selector.score(*vectors(ids))
    assert close(scores, [v["score"] for v in verdicts]), "scores"
    assert close(shown, [v["risk"] for v in verdicts]), "risks"
    tuned = selector.score(*vectors([v["scan_id"] for v in told["tune"]["verdicts"]]))[0]
    assert demur.threshold(.8, tuned) == told["test"]["threshold"], "threshold"

    labels = np.array([float(rows[i]["label"]) for i in ids])
    evaluated = json.loads(run([*command, "--json", "evaluate", "--selector", "again", "--cohort", "c", "--resamples", "1",
                                "--bootstrap", "20"]))
    method = next(m for m in evaluated["methods"] if m["name"] == "selector:again" and m["risk"] != "raw")
    curve = demur.selective_curve(shown, labels, scores, coverages=evaluated["coverages"])
    for ours, theirs in (("sbce2", "sbce2"), ("sbce1", "sbce1"), ("sbce_inf", "sbceinf"), ("brier", "brier"), ("accuracy", "accuracy")):
        points, counts = method["curve"][theirs], theirs in ("brier", "accuracy")  # what counts outcomes: of few sets, at their own coverage
        part = demur.selective_curve(shown, labels, scores, coverages=[p["realised" if counts else "coverage"] for p in points])
        told = [p["point"] is not None for p in points]  # errors of few bins are withheld
        assert sum(told) > (1 if counts else len(told) // 2), (ours, sum(told))
        assert close(part[ours][told], [p["point"] for p in points if p["point"] is not None]), ours
    assert close(curve["realised"], [p["realised"] for p in method["curve"]["sbce2"]]), "realised"
    assert close(demur.coverage_auc(curve["coverage"], curve["sbce2"]), method["auc"]["sbce2"]["point"]), "AUC"
    squares = demur.site_error(shown, labels, scores, [rows[i]["site"] for i in ids], [rows[i]["patient_id"] for i in ids])
    roots = np.sign(squares) * np.sqrt(np.abs(squares))
    assert close(roots, [p["point"] for p in method["curve"]["site_error"]], 1e-9), "site error"
    at = next(a for a in method["at"] if a["threshold_from"] == "split" and a["n_counted"] == a["n_accepted"])
    kept = scores >= at["threshold"]
    values = demur.calibration(shown[kept], labels[kept])
    for ours, theirs in (("oe", "oe_ratio"), ("intercept", "calibration_in_the_large"), ("slope", "calibration_slope"), ("ici", "ici"),
                         ("auroc", "auroc")):
        assert close(values[ours], at[theirs] if at[theirs] is not None else np.nan, 1e-9), (ours, values[ours], at[theirs])


def compare_loss(demur):
    draw = np.random.default_rng(1)
    risks, logits = draw.uniform(.01, .9, 60), draw.normal(size=60).astype(np.float32)
    labels = (draw.uniform(size=60) < risks).astype(float)
    for q in (1, 2):
        smmce, regulariser, slope = demur.loss(risks, labels, logits, q=q)
        other = draw.permutation(60)
        again = demur.loss(risks[other], labels[other], logits[other], q=q)
        assert close(again[:2], (smmce, regulariser), 1e-6) and close(again[2], slope[other], 1e-4), "another order"
        for i in range(0, 60, 7):
            step = np.zeros(60, np.float32)
            step[i] = 1e-2
            up, down = (sum(demur.loss(risks, labels, logits + s, q=q, gradient=False)[:2]) for s in (step, -step))
            assert abs((up - down) / 2e-2 - slope[i]) < 2e-3 * max(1, abs(slope[i])), (q, i, slope[i], (up - down) / 2e-2)


def no_copies(demur, file):
    """Arrays as libdemur reads them go by their address, however large; results are written where the caller sees them."""
    draw = np.random.default_rng(5)
    n = 20000
    risks, weights, scores = draw.uniform(.01, .9, n), np.ones(n), draw.normal(size=n)
    labels, logits = (draw.uniform(size=n) < risks).astype(float), draw.normal(size=n).astype(np.float32)
    selector = demur.Selector(file)
    embeddings = draw.normal(size=(n, selector.embedding_width)).astype(np.float32)
    probabilities = np.column_stack([1 - risks, risks])
    passed, call = set(), demur._call

    def heard(function, *arguments):
        for argument in arguments:
            sample = getattr(argument, "_obj", None)
            if isinstance(sample, demur._Sample):
                passed.update((sample.risks, sample.labels, sample.weights, sample.scores))
            elif isinstance(argument, int):
                passed.add(argument)
        return call(function, *arguments)
    demur._call = heard
    try:
        for work, arrays in ((lambda: demur.threshold(.8, scores), [scores]),
                             (lambda: demur.selective_curve(risks, labels, scores, weights=weights), [risks, labels, scores, weights]),
                             (lambda: demur.calibration(risks, labels, weights), [risks, labels, weights]),
                             (lambda: demur.loss(risks[:500], labels[:500], logits[:500]), [risks, labels, logits]),
                             (lambda: demur.confidence_features(probabilities), [probabilities]),
                             (lambda: demur.Outlier(embeddings[:300], threads=1).score(embeddings[:20]), [embeddings]),
                             (lambda: selector.score(risks[:500], embeddings[:500]), [risks, embeddings])):
            passed.clear()
            work()
            assert {array.ctypes.data for array in arrays} <= passed, "an array was copied"
        # What libdemur can't read as it lies is converted, and only that.
        passed.clear()
        demur.threshold(.8, scores.astype(np.float32))
        assert scores.ctypes.data not in passed
    finally:
        demur._call = call


def refuses(demur, folder):
    risks, labels = np.array([.1, .2, .3]), np.array([0., 1., 0.])
    with open(os.path.join(folder, "bad.json"), "w", encoding="utf-8") as file:
        file.write("{}")
    for call, says in ((lambda: demur.selective_curve([.1, 2, .3], labels, risks), "risks, value 2 of 3: 2"),
                       (lambda: demur.selective_curve(risks, [0, .5, 1], risks), "labels, value 2 of 3"),
                       (lambda: demur.selective_curve(risks, labels, [1, 2]), "2 rows"),
                       (lambda: demur.selective_curve(risks, labels, [1, np.nan, 0]), "scores, value 2"),
                       (lambda: demur.threshold(1.5, risks), "coverage, value 1"), (lambda: demur.threshold(risks, .9), "threshold(coverage, scores)"),
                       (lambda: demur.calibration(np.zeros((2, 2)), labels), "dimensions"),
                       (lambda: demur.Outlier(np.zeros((1, 3))), "two scans"),
                       (lambda: demur.Outlier(np.zeros((3, 3)), threads=100000), "threads"),
                       (lambda: demur.calibration(np.full(40, .3), np.arange(40) % 2, weights=np.full(40, 1e308)), "weights"),
                       (lambda: demur.coverage_grid(0), "coverages"),
                       (lambda: demur.Outlier(np.array([[1, np.inf], [0, 0]])), "column"),
                       (lambda: demur.Selector(os.path.join(folder, "none.json")), "none.json"),
                       (lambda: demur.Selector(os.path.join(folder, "bad.json")), "bad.json")):
        try:
            call()
        except demur.DemurError as error:
            assert says in str(error), (says, str(error))
        else:
            raise AssertionError(f"taken: {says}")
    # A scan whose outcome is not known weighs nothing, whatever stands for it.
    known = demur.calibration(risks, labels)
    assert close(list(demur.calibration([*risks, .7], [*labels, np.nan], [1, 1, 1, 0]).values()), list(known.values()))


def runs_in_a_venv(wheel, folder):
    """The wheel in a virtual environment of its own, which has numpy from the system: imported by its own interpreter, told nothing."""
    where = os.path.join(folder, "venv")
    run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", where])
    python = os.path.join(where, "bin", "python")
    packages = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib', 'venv'))"]).strip()
    assert packages.startswith(where), packages
    run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", packages, wheel])
    said = run([python, "-I", "-c", "import demur; print(demur.__file__); print(demur.threshold(.5, [.1, .2, .3, .4]))"], cwd=folder)
    file, threshold = said.split()
    assert file.startswith(packages) and float(threshold) == .3, said


def main():
    program, sources, library = (os.path.abspath(path) for path in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        run(["sh", os.path.join(sources, "packaging", "python", "build.sh"), library, folder])
        wheel = next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".whl"))
        site = os.path.join(folder, "site")
        run([sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", site, wheel])
        sys.path.insert(0, site)
        os.environ.pop("LIBDEMUR", None)
        demur = importlib.import_module("demur")
        assert demur.__file__.startswith(site), demur.__file__
        command = [program, "--workspace", os.path.join(folder, "w.demur"), "--quiet"]
        assert demur.version() in run([program, "--version"])
        compare_selector(demur, command, folder)
        compare_loss(demur)
        no_copies(demur, os.path.join(folder, "s.json"))
        refuses(demur, folder)
        runs_in_a_venv(wheel, folder)
        embeddings = np.random.default_rng(2).normal(size=(200, 8)).astype(np.float32)
        outlier = demur.Outlier(embeddings, seed=3)
        itself = outlier.score(embeddings[:5], exclude=[0, 1, 2, 3, 4])
        assert itself.shape == (5, 5) and np.isfinite(itself).all()
        assert (outlier.score(embeddings[:5])[:, 0] < itself[:, 0]).all(), "a scan among its own neighbours is nearer"
    print("numpy vectors give the command line's numbers")


main()
