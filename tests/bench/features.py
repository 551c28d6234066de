#!/usr/bin/env python3
"""Our time for the outlier features beside scikit-learn's, on the same rows, and how closely they agree.

    features.py BENCH_PROGRAM [N M D THREADS]

BENCH_PROGRAM is bench-features, which draws the rows, times itself and writes rows and scores to a file.
scikit-learn runs as a user of it would: two processes' worth of threads where it takes n_jobs, defaults of the
method elsewhere. Its KDE is asked for no tolerance (atol = rtol = 0) and is still not exact in many
dimensions, so ours is compared with a direct sum in numpy instead.
"""
import os
import subprocess
import sys
import tempfile
import time

# What tunes the BLAS of this machine is left to the program and kept from scikit-learn.
TUNING = {name: os.environ.pop(name) for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ}

import numpy as np
import sklearn
from scipy.special import logsumexp
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity, LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM


def main():
    program = sys.argv[1]
    n, m, d, threads = (int(a) for a in (sys.argv[2:6] or (6000, 6282, 256, 2)))
    environment = {**os.environ, **TUNING}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows")
        runs = []
        for _ in range(5):
            line = subprocess.run([program, *map(str, (n, m, d, threads)), path], check=True,
                                  stdout=subprocess.PIPE, text=True, env=environment).stdout.strip()
            runs.append((float(line.split("both ")[1].split(" ")[0]), line))
        ours, line = sorted(runs)[2]
        rows = np.fromfile(path, np.float32, (n + m) * d).reshape(n + m, d)
        scores = np.fromfile(path, np.float64, m * 5, offset=rows.nbytes).reshape(m, 5)
    print(line)
    print(f"demur, median of 5 whole runs: {ours:.3f} s")

    reference, queries = rows[:n].astype(np.float64), rows[n:].astype(np.float64)
    start = time.perf_counter()
    mean, sd = reference.mean(0), reference.std(0)
    reference, queries = (reference - mean) / sd, (queries - mean) / sd
    spent = {"scaling": time.perf_counter() - start}

    def timed(name, function):
        begun = time.perf_counter()
        values = function()
        spent[name] = time.perf_counter() - begun
        return values

    found = [
        timed("knn", lambda: NearestNeighbors(n_neighbors=8, n_jobs=threads).fit(reference)
              .kneighbors(queries)[0].mean(1)),
        timed("kde", lambda: KernelDensity(bandwidth=1.0, atol=0, rtol=0).fit(reference)
              .score_samples(queries)),
        timed("ocsvm", lambda: OneClassSVM(nu=0.5, gamma="scale").fit(reference)
              .score_samples(queries)),
        timed("iforest", lambda: IsolationForest(n_estimators=100, random_state=0, n_jobs=threads)
              .fit(reference).score_samples(queries)),
        timed("lof", lambda: LocalOutlierFactor(n_neighbors=20, novelty=True, n_jobs=threads)
              .fit(reference).score_samples(queries)),
    ]
    total = sum(spent.values())
    for name, seconds in spent.items():
        print(f"  scikit-learn {sklearn.__version__} {name:8s} {seconds:8.3f} s")
    print(f"scikit-learn together {total:.3f} s; demur {ours:.3f} s; ratio {total / ours:.1f} (wanted: 8; without its KDE,"
          f" {(total - spent['kde']) / ours:.1f}); load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")

    some = np.arange(0, m, max(1, m // 200))
    exact = np.array([logsumexp(-0.5 * ((q - reference) ** 2).sum(1)) for q in queries[some]])
    exact -= 0.5 * d * np.log(2 * np.pi) + np.log(n)
    for column, name in enumerate(("knn", "kde", "ocsvm", "iforest", "lof")):
        difference = np.abs(scores[:, column] - found[column])
        print(f"  {name:8s} largest difference to scikit-learn {difference.max():.3g}"
              f" (values {np.abs(found[column]).mean():.4g} on average), correlation"
              f" {np.corrcoef(scores[:, column], found[column])[0, 1]:.9f}")
    print(f"  kde      largest difference to the direct sum {np.abs(scores[some, 1] - exact).max():.3g}")


main()
