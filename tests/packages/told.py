"""What the command line says of one simulated cohort: the numbers that libdemur must give in every language.

`command_line` draws a cohort, trains, tunes, assesses and evaluates, and returns (vectors, numbers): the vectors that a language is
given (by name: arrays, and matrices row by row), and what must come of them (by name: what is told, and how near it must be).
`compare` fails where a language's numbers are others, or one is missing.

  scores, shown            of a network over embeddings, with its recalibrated risks: `assess`
  threshold                for a coverage of .8 of the tuning split: `tune`
  sbce1 .. accuracy        over coverage, where they are not withheld; realised, auc: `evaluate`
  site_error               the root, with its sign
  calibration              of what the split's threshold keeps
  loss                     the first term of the paper's loss of a hard selection, as the normalised S-MMCE_u that `evaluate` tells:
                           with n scans, k of them kept, lambda1 / sqrt(n) S^(1/2) is lambda1 k / sqrt(n) times it
  knn .. lof, max_p, entropy   features x: what selectors made of one of them score, .5 + .5 x / (1 + |x|) with its sign (max_p: itself)
"""
import csv
import json
import os
import subprocess

import numpy as np

TRAIN = ["--epochs", "1", "--datasets-per-epoch", "64", "--batch", "8", "--kappa", "2", "--dataset-size", "100", "--average", "1",
         "--recalibrate", "platt"]
MEASURES = {"sbce1": "sbce1", "sbce2": "sbce2", "sbce_inf": "sbceinf", "brier": "brier", "accuracy": "accuracy"}  # as the curve names them
COUNTS = ("brier", "accuracy")  # what counts outcomes stands at the coverage that came of it
FEATURES = {"max_p": 0, "entropy": -1, "knn": -1, "kde": 1, "ocsvm": 1, "iforest": 1, "lof": 1}  # sign; 0: the score is the feature
CALIBRATION = ["oe_ratio", "calibration_in_the_large", "calibration_slope", "ici", "auroc"]
SEED = 5


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, (words, result.stdout[-3000:], result.stderr[-3000:])
    return result.stdout


def command_line(program, folder):
    command = [program, "--workspace", os.path.join(folder, "w.demur"), "--quiet"]

    def told(*words):
        return json.loads(run([*command, "--json", *words]))

    def assess(selector, split):
        return told("assess", selector, "--cohort", "c", "--split", split, "--reveal", "test")
    run([*command, "cohort", "simulate", "c", "--scans", "600", "--base-train", "500", "--sites", "6", "--tune", "200", "--test", "300"])
    file, table = os.path.join(folder, "s.json"), os.path.join(folder, "c.csv")
    run([*command, "train", "s", "--cohort", "c", *TRAIN])
    run([*command, "selector", "export", "s", file])
    run([*command, "selector", "import", "again", file])
    run([*command, "tune", "again", "--cohort", "c", "--coverage", "0.8"])
    run([*command, "cohort", "export", "c", table])
    with open(table, encoding="utf-8") as opened:
        rows = {row["scan_id"]: row for row in csv.DictReader(opened)}
    columns = sorted((c for c in next(iter(rows.values())) if c.startswith("emb_")), key=lambda c: int(c[4:]))

    def embeddings(chosen):
        return np.array([[float(row[c]) for c in columns] for row in chosen], np.float32)
    by_test, by_tune = assess("again", "test"), assess("again", "tune")
    test = [rows[v["scan_id"]] for v in by_test["verdicts"]]
    tune = [rows[v["scan_id"]] for v in by_tune["verdicts"]]
    reference = [row for row in rows.values() if row["split"] == "base_train"]
    evaluated = told("evaluate", "--selector", "again", "--cohort", "c", "--resamples", "1", "--bootstrap", "20")
    method = next(m for m in evaluated["methods"] if m["name"] == "selector:again" and m["risk"] != "raw")
    at = next(a for a in method["at"] if a["threshold_from"] == "split" and a["n_counted"] == a["n_accepted"])

    scores = np.array([v["score"] for v in by_test["verdicts"]])
    vectors = {"risks": np.array([float(row["risk"]) for row in test]), "labels": np.array([float(row["label"]) for row in test]),
               "sites": np.unique([row["site"] for row in test], return_inverse=True)[1].astype(float),
               "patients": np.unique([row["patient_id"] for row in test], return_inverse=True)[1].astype(float),
               "embeddings": embeddings(test), "tune_risks": np.array([float(row["risk"]) for row in tune]),
               "tune_embeddings": embeddings(tune), "reference": embeddings(reference), "coverages": np.array(evaluated["coverages"]),
               "kept": (scores >= at["threshold"]).astype(float)}
    numbers = {"scores": (scores, 1e-12), "shown": (np.array([v["risk"] for v in by_test["verdicts"]]), 1e-12),
               "threshold": (np.array([by_test["threshold"]]), 0.0),
               "realised": (np.array([p["realised"] for p in method["curve"]["sbce2"]]), 1e-12),
               "auc": (np.array([method["auc"]["sbce2"]["point"]]), 1e-12),
               "site_error": (np.array([p["point"] for p in method["curve"]["site_error"]]), 1e-9),
               "calibration": (np.array([at[name] if at[name] is not None else np.nan for name in CALIBRATION]), 1e-9)}
    for ours, theirs in MEASURES.items():
        points = [p for p in method["curve"][theirs] if p["point"] is not None]  # errors of few bins are withheld
        assert len(points) > (1 if ours in COUNTS else len(method["curve"][theirs]) // 2), (ours, len(points))
        vectors[f"coverages_{ours}"] = np.array([p["realised" if ours in COUNTS else "coverage"] for p in points])
        numbers[ours] = (np.array([p["point"] for p in points]), 1e-12)
    points = [p for p in method["curve"]["smmce"] if p["point"] is not None]
    vectors["coverages_loss"] = np.array([p["coverage"] for p in points])
    share = np.round(np.array([p["realised"] for p in points]) * len(test))
    numbers["loss"] = (np.array([p["point"] for p in points]) * share / np.sqrt(len(test)), 1e-6)
    for name in FEATURES:
        maker = {"max_p": "confidence"}.get(name, name)
        run([*command, "train", f"by-{name}", "--cohort", "c", "--method", maker, "--seed", str(SEED), "--recalibrate", "none"])
        numbers[name] = (np.array([v["score"] for v in assess(f"by-{name}", "test")["verdicts"]]), 1e-9)
    return vectors, numbers


def compare(numbers, told):
    assert set(numbers) == set(told), set(numbers) ^ set(told)
    for name, (wanted, relative) in numbers.items():
        values = np.asarray(told[name], float).ravel()
        if FEATURES.get(name, 0) != 0:
            values = .5 + .5 * FEATURES[name] * values / (1 + np.abs(values))
        assert values.shape == wanted.shape and len(wanted) > 0, (name, values.shape, wanted.shape)
        assert np.allclose(values, wanted, rtol=relative, atol=relative and 1e-12, equal_nan=True), \
            (name, np.nanmax(np.abs(values - wanted)), values[:5], wanted[:5])
