#!/usr/bin/env python3
"""Evaluation of 9 methods x 25 trials x 50 coverages x 4 measures on 1,337 scans beside numpy: equal, and how fast?

    evaluate.py BENCH_EVALUATION [THREADS]

The twin follows the paper's appendix: for each trial the resampled scans are selected by the ceil(coverage n)-th
largest score, put in order of risk (stable) and cut into equal-mass bins. Exit 1 where a number differs by over 1e-9.
"""
import math
import os
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = dict(os.environ)
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy as np


def read(path):
    with open(path, "rb") as file:
        def take(dtype, *shape):
            return np.fromfile(file, dtype, math.prod(shape)).reshape(shape)

        n, methods, models, resamples, coverages = (int(v) for v in take("<i8", 5))
        return {"n": n, "risks": take("<f8", n), "labels": take("<f8", n), "scores": take("<f8", methods, models, n),
                "counts": take("<u4", resamples, n), "coverages": take("<f8", coverages),
                "found": take("<f8", methods, 4, coverages, 3)}


def count_of(coverage, n):
    product = coverage * n
    return round(product) if abs(product - round(product)) < 1e-9 else math.ceil(product)


def measures(r, y):
    """S-BCE_2, S-BCE_inf, Brier and accuracy of the selected, which stand in ascending risk."""
    n = len(r)
    m = max(1, min(15, n // 25))
    sizes = np.full(m, n // m)
    sizes[: n % m] += 1
    gaps = np.add.reduceat(y - r, np.concatenate(([0], np.cumsum(sizes)[:-1])))
    return (math.sqrt((gaps * gaps / sizes).sum() / n), np.abs(gaps / sizes).max(), np.mean((y - r) ** 2),
            np.mean((r >= 0.5) == (y >= 0.5)))


def curve(risks, labels, scores, counts, coverages):
    rows = np.repeat(np.arange(len(risks)), counts)
    r, y, g = risks[rows], labels[rows], scores[rows]
    ranked = np.sort(g)[::-1]
    result = np.empty((4, len(coverages)))
    for c, coverage in enumerate(coverages):
        keep = g >= ranked[count_of(coverage, len(g)) - 1]
        result[:, c] = measures(r[keep], y[keep])
    return result


def main():
    threads = sys.argv[2] if len(sys.argv) > 2 else "2"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "evaluation")
        text = subprocess.run([sys.argv[1], threads, path], check=True, stdout=subprocess.PIPE, text=True,
                              env=ENVIRONMENT).stdout
        data = read(path)
    print(text.strip())
    ours = float([line for line in text.splitlines() if line.startswith("4 measures")][0].split()[-2])
    shape = data["scores"].shape
    once = np.ones(data["n"], np.int64)
    start = time.perf_counter()
    trials = np.array([[[curve(data["risks"], data["labels"], data["scores"][k, m], counts, data["coverages"])
                         for counts in data["counts"]] for m in range(shape[1])] for k in range(shape[0])])
    numpy_seconds = time.perf_counter() - start
    points = np.array([[curve(data["risks"], data["labels"], data["scores"][k, m], once, data["coverages"])
                        for m in range(shape[1])] for k in range(shape[0])]).mean(1)
    flat = trials.reshape(shape[0], -1, 4, len(data["coverages"]))
    wanted = np.stack((points, flat.mean(1), flat.std(1, ddof=1)), axis=-1)
    difference = np.abs(wanted - data["found"]).max()
    print(f"numpy, the same trials: {numpy_seconds:.2f} s; demur {ours:.4f} s: {numpy_seconds / ours:.0f} times faster"
          f" (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)")
    print(f"largest difference of points, means and standard deviations {difference:.2g} (allowed 1e-9)")
    return 0 if difference <= 1e-9 else 1


sys.exit(main())
