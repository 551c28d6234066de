"""libdemur from Python, against the command line: the same numbers from the same vectors.

Builds the wheel as packaging/python/build.sh does, installs it into a folder, and works with that. What told.py lists (scores, risks,
threshold, curves, calibration, loss and features) is computed from numpy vectors. The gradient of the paper's loss is compared with differences, and rows in another order must change nothing.
Arrays that lie as the library reads them go by their own address.

Usage: libdemur.py DEMUR SOURCES LIBDEMUR.SO   (77 where numpy, setuptools, wheel or pip is not installed)
"""
import importlib
import os
import sys
import tempfile

try:
    for name in ("numpy", "setuptools", "wheel", "pip"):
        importlib.import_module(name)
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; packaging/dependencies-long.sh installs it")
    sys.exit(77)
sys.dont_write_bytecode = True
import told  # noqa: E402
from told import run  # noqa: E402


def close(a, b, relative=1e-12):
    return np.allclose(np.asarray(a, float), np.asarray(b, float), rtol=relative, atol=1e-12, equal_nan=True)


def by_numpy(demur, file, v):
    """What told.py asks for, by this module from numpy vectors."""
    selector = demur.Selector(file)
    assert selector.simulated and selector.embedding_width > 0
    scores, shown = selector.score(v["risks"], v["embeddings"])
    curve = demur.selective_curve(shown, v["labels"], scores, coverages=v["coverages"])
    kept = v["kept"] > 0
    found = demur.calibration(shown[kept], v["labels"][kept])
    squares = demur.site_error(shown, v["labels"], scores, v["sites"], v["patients"])
    outlier = demur.Outlier(v["reference"], seed=told.SEED).score(v["embeddings"])
    confidence = demur.confidence_features(np.column_stack([1 - v["risks"], v["risks"]]))

    def loss(coverage):
        return demur.loss(shown, v["labels"], np.where(scores >= demur.threshold(coverage, scores), 80, -80), q=2, kernel_width=.2, lambda1=1)[0]
    return {"scores": scores, "shown": shown, "threshold": [demur.threshold(.8, selector.score(v["tune_risks"], v["tune_embeddings"])[0])],
            "realised": curve["realised"], "auc": [demur.coverage_auc(curve["coverage"], curve["sbce2"])],
            "site_error": np.sign(squares) * np.sqrt(np.abs(squares)),
            "calibration": [found[name] for name in ("oe", "intercept", "slope", "ici", "auroc")],
            **{name: demur.selective_curve(shown, v["labels"], scores, coverages=v[f"coverages_{name}"])[name] for name in told.MEASURES},
            "loss": [loss(coverage) for coverage in v["coverages_loss"]],
            **dict(zip(demur.OUTLIER, outlier.T)), "max_p": confidence[:, -2], "entropy": confidence[:, -1]}


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
        assert demur.version() in run([program, "--version"])
        vectors, numbers = told.command_line(program, folder)
        told.compare(numbers, by_numpy(demur, os.path.join(folder, "s.json"), vectors))
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
