#!/usr/bin/env python3
"""The tables of the real cohorts (../shared/cohorts), trained and measured through the command line.

    real.py BUILD_FOLDER [--only ist_deaddep6m|ist_death6m|cifar] [--quick] [--document FILE.md]

Prints markdown. With --document the text between the lines `<!-- NAME -->` and `<!-- /NAME -->` of that file is
replaced, NAME being the cohort. --quick trains with 200 updates: to see that it works, not for numbers.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("DEMUR_SHARED", os.path.join(HERE, "..", "..", "..", "shared"))
QUICK = ["--epochs", "1", "--datasets-per-epoch", "6400"]

# Point values of S-BCE_2 AUC measured before (../shared/cohorts/README.md), to compare with: (method, risk).
BEFORE = {
    "ist_deaddep6m": {("full", "raw"): ".223", ("confidence", "raw"): ".156", ("knn", "raw"): ".213",
                      ("kde", "raw"): ".218", ("ocsvm", "raw"): ".246", ("iforest", "raw"): ".247",
                      ("lof", "raw"): ".217", ("selector:published", "raw"): ".165-.172", ("mc", "raw"): ".144",
                      ("selector:denoised-raw", "raw"): ".146", ("confidence", "recalibrated"): ".034"},
    "ist_death6m": {("full", "raw"): ".034", ("confidence", "raw"): ".024", ("selector:published", "raw"): ".025",
                    ("selector:denoised-raw", "raw"): ".024", ("mc", "raw"): ".024",
                    ("confidence", "recalibrated"): ".019"},
    # Over 15 corruption types; five of them are here, which flatter the selector (.046 against .050).
    "cifar": {"full": ".069", "confidence": ".056", "lof": ".076", "knn": ".081", "kde": ".082", "ocsvm": ".088",
              "iforest": ".092", "selector:published": ".058"},
}

IST_SELECTORS = {
    "published": ["--as-published"],
    "published-recalibrated": ["--as-published", "--recalibrate", "auto"],
    "denoised": [],
    "denoised-raw": ["--recalibrate", "none"],
}

CIFAR_SELECTORS = {
    "published": [],
    "without-T": ["--resample", "none"],
    "per-example-T": ["--resample", "example"],
    "all-kappa": ["--kappa", "0"],
    "no-confidence": ["--features", "class,outlier"],
    "no-class": ["--features", "confidence,outlier"],
    "no-outlier": ["--features", "confidence,class"],
    "temperature": ["--recalibrate", "temperature"],
}


class Demur:
    def __init__(self, program, workspace):
        self.command = [program, "--quiet", "--json", "--workspace", workspace]

    def __call__(self, *arguments):
        start = time.perf_counter()
        done = subprocess.run([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"demur {' '.join(arguments)}: {done.stderr.strip()}")
        print(f"  {time.perf_counter() - start:7.1f} s  demur {' '.join(arguments[:2])}", file=sys.stderr, flush=True)
        return json.loads(done.stdout)


def number(value, digits=3):
    if value is None:
        return "-"
    text = f"{abs(value):.{digits}f}"
    return ("-" if value < 0 and float(text) != 0 else "") + (text[1:] if text.startswith("0.") else text)


def between(interval, digits=3):
    return f"({number(interval[0], digits)} to {number(interval[1], digits)})"


def per_cent(rejection):
    low, high = rejection["rate_interval"]
    if rejection["rate"] is None or low is None:
        return "-"
    return f"{100 * rejection['rate']:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def comparison(evaluation, method, risk, measure):
    for c in evaluation["comparisons"]:
        if (c["method"], c["against"], c["risk"]) == (method, "confidence", risk) and c["measure"] in measure:
            return f"{number(c['difference'])} {between(c['interval'])}: {c['verdict']}"
    return ""


def trained(demur, cohort, selectors, common, quick):
    lines = []
    for name, options in selectors.items():
        log = demur("train", name, "--cohort", cohort, *common, *options, *(QUICK if quick else []))
        lines.append(f"| {name} | `{' '.join(common + options) or '(default)'}` | {log['updates']} |"
                     f" {', '.join(str(n['best_epoch']) for n in log['networks'])} | {log['settings']['recalibrate']}: {log['recalibration']} |")
    return lines


def note(evaluation, quick):
    return (f"{evaluation['n_scans']} scans of {evaluation['n_patients']} patients at {evaluation['n_sites']} sites,"
            f" seed {evaluation['seed']}, intervals by resampling {evaluation['interval_unit']}s."
            + (" TRAINED WITH 200 UPDATES ONLY: not results." if quick else ""))


def ist(demur, name, quick):
    demur("cohort", "import", name, os.path.join(SHARED, "cohorts", name + ".csv"))
    lines = [f"### {name}, split test", "", "| selector | options | updates | epoch kept (0: untrained) | recalibration |", "|---|---|---|---|---|"]
    lines += trained(demur, name, IST_SELECTORS, [], quick)
    evaluation = demur("evaluate", *(a for s in IST_SELECTORS for a in ("--selector", s)), "--cohort", name,
                       *(["--bootstrap", "50"] if quick else []))
    lines += ["", note(evaluation, quick), "AUC over coverage, point values on the split; S-BCE_2 on resamples of scans"
              " in brackets (mean, sd: larger than on the split, see method.md). `before`: S-BCE_2 measured earlier with"
              " the authors' code and scikit-learn.", "",
              "| method | risk | S-BCE_2 | before | S-BCE_inf | debiased S-BCE_2 | floor | site error | refused at 0.9,"
              " label 0, % | label 1, % | S-BCE_2 minus confidence |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for m in evaluation["methods"]:
        auc, key = m["auc"], (m["name"], m["risk"])
        rejected = m["at"][0]["rejected_by_label"]
        lines.append(
            f"| {m['name']} | {m['risk']} | {number(auc['sbce2']['point'])} ({number(auc['sbce2']['mean'])},"
            f" {number(auc['sbce2']['sd'])}) | {BEFORE[name].get(key, '')} | {number(auc['sbceinf']['point'])} |"
            f" {number(auc['sbce2']['debiased'])} {between(auc['sbce2']['debiased_interval'])} |"
            f" {number(auc['sbce2']['noise_floor'])} | {number(auc['site_error']['point'])}"
            f" {between(auc['site_error']['interval'])} | {per_cent(rejected[0])} | {per_cent(rejected[1])} |"
            f" {comparison(evaluation, m['name'], m['risk'], ('sbce2_auc',))} |")
    return lines + [""] + [f"- {w}" for w in evaluation["warnings"]]


def cifar(demur, name, quick):
    folder = os.path.join(SHARED, "cohorts", "cifar")
    demur("cohort", "import", name, os.path.join(folder, "cifar.csv"), "--embeddings",
          os.path.join(folder, "cifar_embeddings.npy"))
    lines = ["### cifar, split test, ten classes", "", "| selector | options | updates | epoch kept (0: untrained) | recalibration |", "|---|---|---|---|---|"]
    lines += trained(demur, name, CIFAR_SELECTORS, ["--as-published", "--resample", "outside"], quick)
    evaluation = demur("evaluate", *(a for s in CIFAR_SELECTORS for a in ("--selector", s)), "--cohort", name,
                       "--resample-unit", "patient", "--group-by", "shift", *(["--bootstrap", "50"] if quick else []))
    groups = [g for g in evaluation["groups"] if g["by"] == "shift"]
    shifts = [g["value"] for g in groups]
    lines += ["", note(evaluation, quick), "S-TCE_2 AUC over coverage by perturbation, thresholds from each"
              " perturbation's own scores; their mean with and without the clean images; and of all test rows together."
              " `before`: mean over 15 corruption types, of which five are here.", "",
              f"| method | risk | {' | '.join(shifts)} | mean of corruptions | before | mean of all | pooled |"
              " pooled minus confidence |", "|---" * (len(shifts) + 7) + "|"]
    for m in evaluation["methods"]:
        values = {}
        for g in groups:
            for of_group in g["methods"]:
                if (of_group["name"], of_group["risk"]) == (m["name"], m["risk"]):
                    values[g["value"]] = of_group["stce2_auc"]
        corrupted = [v for s, v in values.items() if s != "clean" and v is not None]
        every = [v for v in values.values() if v is not None]
        before = BEFORE["cifar"].get(m["name"], "") if m["risk"] == "raw" else ""
        lines.append(f"| {m['name']} | {m['risk']} | {' | '.join(number(values.get(s)) for s in shifts)} |"
                     f" {number(sum(corrupted) / len(corrupted)) if corrupted else '-'} | {before} |"
                     f" {number(sum(every) / len(every)) if every else '-'} | {number(m['auc']['stce2']['point'])} |"
                     f" {comparison(evaluation, m['name'], m['risk'], ('stce2_auc', 'sbce2_auc'))} |")
    return lines + [""] + [f"- {w}" for w in evaluation["warnings"]]


def write_section(path, name, text):
    with open(path, encoding="utf-8") as file:
        document = file.read()
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if not pattern.search(document):
        sys.exit(f"{path} has no section <!-- {name} --> .. <!-- /{name} -->")
    with open(path, "w", encoding="utf-8") as file:
        file.write(pattern.sub(lambda match: match[1] + text + "\n" + match[2], document))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", choices=BEFORE)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--document")
    options = parser.parse_args()
    for name in BEFORE if options.only is None else [options.only]:
        if not os.path.isdir(os.path.join(SHARED, "cohorts")):
            print(f"{name}: skipped, no cohorts in {SHARED} (set DEMUR_SHARED)", file=sys.stderr)
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            demur = Demur(os.path.join(options.build, "app", "demur"), os.path.join(folder, "workspace.db"))
            text = "\n".join((cifar if name == "cifar" else ist)(demur, name, options.quick)).rstrip() + "\n"
        print(text)
        print(f"{name}: {time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        if options.document is not None:
            write_section(options.document, name, text)


main()
