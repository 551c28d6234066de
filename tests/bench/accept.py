#!/usr/bin/env python3
"""What the local acceptance test would have said at the hospitals of the stroke trial, beside what the rest of their
labels say.

    accept.py BUILD_FOLDER TABLE.csv [LEAST [RANGE..]]

A selector is trained and tuned on the table as `demur train` does by itself. At each hospital of the split test with
at least LEAST (70) scans the first half of the plan is labelled, looked at once; the other half of the hospital's
patients, whose labels the test never saw, say what was right: O:E of the shown risks with its exact Poisson interval.
RANGE: 0.8,1.25 and 0.5,2, each in a workspace of its own, since a plan takes patients whose labels no earlier one saw. Prints markdown; ends with 1 where an accepted hospital's rest lies outside its range
beyond chance in more than 5 % of hospitals and two standard errors.
"""
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile


def poisson_interval(observed, expected):
    """95 %, exact, by bisection on the mean."""
    def tail(mean, upto):  # P(X <= upto)
        term = total = math.exp(-mean)
        for k in range(1, upto + 1):
            term *= mean / k
            total += term
        return total

    def solve(ok):
        low, high = 0.0, 10.0 * observed + 40.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if ok(middle) else (low, middle)
        return low
    lower = 0.0 if observed == 0 else solve(lambda mean: 1 - tail(mean, observed - 1) < 0.025)
    upper = solve(lambda mean: tail(mean, observed) > 0.025)
    return lower / expected, upper / expected


def main():
    build, table = sys.argv[1:3]
    least = int(sys.argv[3]) if len(sys.argv) > 3 else 70
    ranges = sys.argv[4:] or ["0.8,1.25", "0.5,2"]
    folder = tempfile.mkdtemp(prefix="demur-accept-")
    trained = os.environ.get("DEMUR_ACCEPT_WORKSPACE", os.path.join(folder, "w.demur"))

    def demur(*words, workspace=trained):
        result = subprocess.run([os.path.join(build, "app", "demur"), "--quiet", "--json", "--workspace", workspace, *words],
                                capture_output=True, text=True, check=False)
        assert result.returncode == 0, (words, result.stderr)
        return json.loads(result.stdout)

    if not os.path.exists(trained):
        demur("cohort", "import", "c", table, "--model", "m")
        demur("train", "s", "--cohort", "c")
        demur("tune", "s", "--cohort", "c", "--coverage", "0.9")
    with open(table, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == "test"]
    labels = {row["patient_id"]: row["label"] for row in rows}
    shown = {v["patient_id"]: v["risk"] for v in demur("assess", "s", "--cohort", "c")["verdicts"]
             if v["verdict"] == "accepted"}
    sites = {}
    for row in rows:
        sites.setdefault(row["site"], []).append(row["patient_id"])
    wrong = 0
    for wanted in ranges:
        low, high = (float(x) for x in wanted.split(","))
        print(f"\nRange {low:g} to {high:g}:\n\n| hospital | patients | labels | answer | O:E by the labels (at all looks) | "
              "O:E of the rest (95 %) |\n|---|---|---|---|---|---|")
        n = {"accepted": 0, "not accepted": 0, "more": 0}
        workspace = os.path.join(folder, "range.demur")
        shutil.copyfile(trained, workspace)
        for site, people in sorted(sites.items(), key=lambda item: -len(item[1])):
            if len(people) < least:
                continue
            plan_table = os.path.join(folder, f"plan-{wanted}-{site}.csv")
            demur("accept", "plan", "s", "--cohort", "c", "--site", site, "--split", "test", "--range", wanted, "-o", plan_table, workspace=workspace)
            with open(plan_table, encoding="utf-8") as file:
                planned = list(csv.DictReader(file))
            half = planned[:(len(planned) + 1) // 2]
            for row in planned:
                row["label"] = labels[row["patient_id"]] if row in half else ""
            with open(plan_table, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, planned[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(planned)
            answer = demur("accept", "run", "s", plan_table, workspace=workspace)
            told = answer["shown"]
            seen = {row["patient_id"] for row in half}
            rest = [p for p in people if p in shown and p not in seen]
            observed, expected = sum(labels[p] == "1" for p in rest), sum(shown[p] for p in rest)
            rest_low, rest_high = poisson_interval(observed, expected)
            n[answer["answer"]] += 1
            wrong += answer["answer"] == "accepted" and (rest_low > high or rest_high < low)
            interval = told["observed_over_expected_interval"]
            ends = f"{interval[0]:.2f} to " + (f"{interval[1]:.2f}" if interval[1] is not None else "no end")
            print(f"| {site} | {len(people)} | {told['n_labels']} | {answer['answer']} | "
                  f"{told['observed_over_expected']:.2f} ({ends}) | "
                  f"{observed / expected:.2f} ({rest_low:.2f} to {rest_high:.2f}) |")
        print(f"\naccepted {n['accepted']}, not accepted {n['not accepted']}, more {n['more']}")
    total = len(ranges) * sum(len(people) >= least for people in sites.values())
    print(f"\naccepted though the rest lies outside beyond chance: {wrong} of {total}")
    return 1 if wrong > 0.05 * total + 2 * math.sqrt(0.0475 * total) else 0


if __name__ == "__main__":
    sys.exit(main())
