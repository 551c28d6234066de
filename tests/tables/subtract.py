"""A program that subtracts: what every output of one workspace tells of groups of scans, and what follows from any two of them.

Cohorts with a hospital inside a network, a ward inside a hospital, a scanner that one site alone has, and ages in bands; every
count that evaluate, the report's JSON and the chart forest tell is taken as a set of scans, whose number is known. A set (one told
group of a way of grouping, two together, or all scans without them) minus the told groups of any way that lie within it must
not leave 1 to 9 scans.

Usage: subtract.py DEMUR
"""
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

SMALL = 10
QUICK = ["--epochs", "1", "--datasets-per-epoch", "64", "--batch", "8", "--kappa", "2", "--dataset-size", "60", "--hidden", "2",
         "--validation-datasets", "3", "--average", "1", "--features", "confidence,class"]
SPEED = ["--selector", "s", "--cohort", "c", "--bootstrap", "20", "--resamples", "1"]
WAYS = ["site", "network", "manufacturer", "ward", "sex"]


def make(seed):
    """Rows of a cohort as dictionaries."""
    draw = random.Random(seed)
    rows = []

    def add(split, site):
        k = len(rows)
        risk = draw.uniform(.05, .6)
        network = "north" if site in ("X", "Z0") else "south"
        rows.append({"patient_id": f"p{k}", "scan_id": f"s{k}", "site": site, "split": split, "label": int(draw.random() < risk),
                     "risk": f"{risk:.4f}", "network": network, "manufacturer": "GE" if site in ("X", "Y", "Z0") else "Siemens",
                     "ward": "intensive" if site == "Z1" and draw.random() < .9 else "other",
                     "sex": draw.choice("fm") if draw.random() > .02 else "other"})
    for k in range(300):
        add("selector_train", f"T{k % 6}")
    for k in range(100):
        add("tune", "A")
    for site, n in (("X", draw.randint(1, 9)), ("Y", draw.randint(8, 20)), ("Z0", 55), ("Z1", draw.randint(30, 60)), ("Z2", 40)):
        for _ in range(n):
            add("test", site)
    return rows


class Workspace:
    def __init__(self, demur, folder, rows):
        self.demur, self.folder = os.path.abspath(demur), folder
        with open(os.path.join(folder, "c.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        self.run("cohort", "import", "c", "c.csv", "--model", "m")
        self.run("train", "s", "--cohort", "c", *QUICK)
        self.run("tune", "s", "--cohort", "c", "--coverage", "0.9")

    def run(self, *words):
        result = subprocess.run([self.demur, "--workspace", "w.demur", "--quiet", "--threads", "2", *words], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        assert result.returncode == 0, (words, result.stderr)
        return result.stdout

    def told(self):
        """{(way, value): scans} of every output; a value that two outputs tell must be the same."""
        counts = {}

        def add(where, way, value, n):
            if not isinstance(n, int):
                return
            assert counts.setdefault((way, value or ""), n) == n, (where, way, value, n, counts)
        for ways in ([way] for way in WAYS):
            words = [word for way in ways for word in ("--group-by", way)]
            for group in json.loads(self.run("--json", "evaluate", *SPEED, *words))["groups"]:
                add("evaluate", group["by"], group["value"], group["n_scans"])
        self.run("report", "r.pdf", *SPEED, *[word for way in WAYS[1:] for word in ("--group-by", way)])
        with open(os.path.join(self.folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
        cohort = report["cohort_facts"] if "cohort_facts" in report else report["cohort"]
        splits = [split["name"] for split in cohort["splits"]]
        for group in cohort["sites"]:
            add("report's sites", "site", group["name"], group["n_scans"])
        for group in cohort.get("scanners") or []:
            add("report's scanners", "manufacturer", group["name"], group["n_scans"])
        for row in cohort["characteristics"]:
            if row["value"] is not None:
                add("Table 1", row["attribute"], row["value"], row["by_split"][splits.index("test")]["n"])
        for row in report["rejections"]:
            add("rejections", row["attribute"], row["name"], row["n_scans"])
        return counts


def attack(rows, counts):
    """Every subtraction that leaves few: (what, how many)."""
    scans = frozenset(row["scan_id"] for row in rows)
    sets = {}
    for (way, value), n in counts.items():
        group = frozenset(row["scan_id"] for row in rows if row[way] == value)
        assert len(group) == n, (way, value, n, len(group))
        if group:
            sets.setdefault(way, {})[value] = group
    for way, groups in sets.items():  # what all told groups leave is known, too
        rest = scans.difference(*groups.values())
        if rest:
            groups["(rest)"] = rest
    found = []
    for way, groups in sets.items():
        for pair in itertools.combinations_with_replacement(sorted(groups), 2):
            inside = groups[pair[0]] | groups[pair[1]]
            for name, whole in ((pair, inside), (("all but", *pair), scans - inside)):
                for other, parts in sets.items():
                    left = whole.difference(*[part for part in parts.values() if part <= whole])
                    if 0 < len(left) < SMALL:
                        found.append((f"{way} {name} without {other}", len(left)))
    return found


def main():
    faults = []
    for seed in range(4):
        rows = make(seed)
        test = [row for row in rows if row["split"] == "test"]
        with tempfile.TemporaryDirectory() as folder:
            counts = Workspace(sys.argv[1], folder, rows).told()
        assert counts, "nothing is told"
        faults += [(seed, *fault) for fault in attack(test, counts)]
        # The attack is able: with every group told it finds what the hospital of a few scans has.
        whole = {(way, row[way]): sum(other[way] == row[way] for other in test) for way in WAYS for row in test}
        assert attack(test, whole), seed
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} subtractions tell of few scans")
    print("no subtraction tells of few scans")


main()
