"""A program that subtracts: what every output of one workspace tells of groups of scans, and what follows from any two of them.

Cohorts with a hospital inside a network, a ward inside a hospital, a scanner that one site alone has, and ages in bands; every
count of scans, and of scans of a label, that evaluate, shift, the report's JSON and pages and the charts by group tell is taken as a set of scans, whose number is known. A set (one told
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
        self.test = [row for row in rows if row["split"] == "test"]
        self.values = {way: sorted({row[way] for row in self.test}) for way in WAYS}
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
        """({(way, value): scans}, the same of each label) of every output; a value that two outputs tell must be the same."""
        counts, labels = {}, ({}, {})

        def add(where, way, value, n, of=counts):
            if not isinstance(n, int):
                return
            assert of.setdefault((way, value or ""), n) == n, (where, way, value, n, of)
        for ways in ([way] for way in WAYS):
            words = [word for way in ways for word in ("--group-by", way)]
            for group in json.loads(self.run("--json", "evaluate", *SPEED, *words))["groups"]:
                add("evaluate", group["by"], group["value"], group["n_scans"])
                for method in group["methods"]:
                    for at in method["at"]:
                        for rejected in at["rejected_by_label"]:
                            add("evaluate", group["by"], group["value"], rejected["n_all"], labels[rejected["label"]])
        self.shift(add)
        self.charts(add)
        self.run("report", "r.pdf", *SPEED, *[word for way in WAYS[1:] for word in ("--group-by", way)])
        with open(os.path.join(self.folder, "r.json"), encoding="utf-8") as file:
            report = json.load(file)
        cohort = report["cohort_facts"] if "cohort_facts" in report else report["cohort"]
        splits = [split["name"] for split in cohort["splits"]]
        for group in cohort["sites"]:
            add("report's sites", "site", group["name"], group["n_scans"])
            add("report's sites", "site", group["name"], group["n_positive"], labels[1])
            if group["n_positive"] is not None and group["n_labelled"] is not None:
                add("report's sites", "site", group["name"], group["n_labelled"] - group["n_positive"], labels[0])
        for group in cohort.get("scanners") or []:
            add("report's scanners", "manufacturer", group["name"], group["n_scans"])
        for row in cohort["characteristics"]:
            if row["value"] is not None:
                add("Table 1", row["attribute"], row["value"], row["by_split"][splits.index("test")]["n"])
        for row in report["rejections"]:
            add("rejections", row["attribute"], row["name"], row["n_scans"])
        self.pages(counts)
        return counts, labels

    def shift(self, add):
        """Shares that another mix is told beside: each value alone, where it is taken."""
        for way in WAYS:
            for value in self.values[way]:
                result = subprocess.run([self.demur, "--workspace", "w.demur", "--quiet", "--json", "shift", "s", "--cohort", "c",
                                         "--bootstrap", "10", "--mix", f"{way}={value}:0.3"], cwd=self.folder, capture_output=True,
                                        text=True, check=False)
                if result.returncode != 0:
                    continue
                told = json.loads(result.stdout)
                for row in told["margins"][0]["values"]:
                    add("shift", way, row["value"], round(row["present"] * told["n_scans"]))

    def charts(self, add):
        """The table of each chart by group."""
        for way in WAYS:
            for name in ("forest", "forest-oe"):
                result = subprocess.run([self.demur, "--workspace", "w.demur", "--quiet", "chart", name, "f.csv", *SPEED, "--by", way],
                                        cwd=self.folder, capture_output=True, text=True, check=False)
                if result.returncode != 0:
                    continue
                with open(os.path.join(self.folder, "f.csv"), encoding="utf-8-sig") as file:
                    rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
                columns = [column for column in rows[0] if column.lower() in ("scans", "n", "n_scans")] if rows else []
                for row in rows:
                    value = next(iter(row.values()))
                    if columns and value in self.values[way] and row[columns[0]].isdigit():
                        add(f"chart {name}", way, value, int(row[columns[0]]))

    def pages(self, counts):
        """The report's pages tell of a group of few scans by no line that has its name and its number."""
        text = subprocess.run(["pdftotext", "-layout", "r.pdf", "-"], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        for way in WAYS:
            for value in self.values[way]:
                n = sum(row[way] == value for row in self.test)
                if (way, value) in counts or not 0 < n < SMALL:
                    continue
                for line in text.splitlines():
                    words = line.split()  # a row of a table: the name, then the number
                    assert not (words[:1] == [value] and str(n) in words[1:3]), (way, value, n, line)


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
            counts, labels = Workspace(sys.argv[1], folder, rows).told()
        assert counts and labels[0] and labels[1], "nothing is told"
        faults += [(seed, *fault) for fault in attack(test, counts)]
        for label, told in enumerate(labels):
            faults += [(seed, f"label {label}", *fault) for fault in attack([row for row in test if row["label"] == label], told)]
        # The attack is able: with every group told it finds what the hospital of a few scans has.
        whole = {(way, row[way]): sum(other[way] == row[way] for other in test) for way in WAYS for row in test}
        assert attack(test, whole), seed
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} subtractions tell of few scans")
    print("no subtraction tells of few scans")


main()
