"""A program that subtracts: what every output of one workspace tells of groups of scans, and what follows from any two of them.

Cohorts with a hospital inside a network, a ward inside a hospital, a scanner that one site alone has, and ages in bands; every
count of scans, and of scans of a label, that evaluate, shift, the report's JSON and pages and the charts by group tell is taken as a set of scans, whose number is known. A set (one told
group of a way of grouping, two together, or all scans without them) minus the told groups of any way that lie within it must
not leave 1 to 9 scans. Besides, no output of any command (training, tuning, validation, ablation, watch, acceptance, charts, selector files,
the log) says the number of such a group beside its name, nor a share that is one of so few patients.

Who is refused: at every operating point of evaluate, the report's JSON, its pages and the charts, and in every state of the workspace
(other coverages, groupings, a threshold tuned anew, the split beside its parts), a label's refused or kept scans that are 1 to 9 are neither told as
a number, a rate or a share nor left when the others' are taken from all that are refused.

Usage: subtract.py DEMUR
"""
import csv
import itertools
import json
import os
import random
import re
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
                     "ward": "intensive" if site == "Z1" and draw.random() < .9 else "wardroom",
                     "sex": draw.choice("fm") if draw.random() > .02 else "divers"})
    for k in range(300):
        add("selector_train", f"T{k % 6}")
    for k in range(100):
        add("tune", "A" if k > 5 else "B")
    for k in range(4):
        add("selector_train", "T6")
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
        self.groups = {}  # (split, way, value): scans
        for row in rows:
            for way in WAYS:
                key = (row["split"], way, row[way])
                self.groups[key] = self.groups.get(key, 0) + 1

    def run(self, *words):
        result = self.result(*words)
        assert result.returncode == 0, (words, result.stderr)
        return result.stdout

    def result(self, *words):
        return subprocess.run([self.demur, "--workspace", "w.demur", "--quiet", "--threads", "2", *words], cwd=self.folder,
                              capture_output=True, text=True, check=False)

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

    def refusals(self):
        """[(where, label, refused, kept)] of every operating point that is told, in all states; faults are appended too."""
        self.points, states = [], []
        for coverage in ("0.9", "0.8", "0.6"):
            self.run("tune", "s", "--cohort", "c", "--coverage", coverage)
            states.append((coverage, ["--group-by", "site", "--group-by", "ward"]))
            states.append((coverage, ["--group-by", "sex"]))
        for coverage, ways in states:
            self.walk(f"evaluate at {coverage}", json.loads(self.run("--json", "evaluate", *SPEED, *ways)))
            for line in self.run("evaluate", *SPEED, *ways).splitlines():
                for label, rate in re.findall(r"label (\d): +([\d.]+) %", line):
                    self.point("evaluate's text", int(label), None, float(rate) / 100, self.of_label(self.test, int(label)))
        self.run("report", "r.pdf", *SPEED, "--coverage", "0.7")
        with open(os.path.join(self.folder, "r.json"), encoding="utf-8") as file:
            self.walk("report", json.load(file))
        pages = subprocess.run(["pdftotext", "-layout", "r.pdf", "-"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        rows = re.findall(r"^ *[\d.]+ % +\S+ +label (\d) +(\d+) +(\d+|withheld) ", pages, re.M)
        assert len(rows) > 5 and any(row[2] == "withheld" for row in rows), rows
        for label, n, refused in rows:
            if refused != "withheld":
                self.point("report's page", int(label), int(refused), None, int(n))
        for rate, label in re.findall(r"refused ([\d.]+) % of the scans labelled “label (\d)”", pages):
            self.point("report's sentence", int(label), None, float(rate) / 100, self.of_label(self.test, int(label)))
        for name in ("rejection-rates", "rejection-shares"):
            self.run("chart", name, "f.csv", *SPEED)
            with open(os.path.join(self.folder, "f.csv"), encoding="utf-8-sig") as file:
                for row in csv.DictReader(line for line in file if not line.startswith("#")):
                    if row["rejected"] != "withheld":
                        self.point(name, int(row["label"][-1]), int(row["rejected"]), None, int(row["scans"]))
                    else:
                        assert row["rate"] == row["95 % low"] == row["share of rejected"] == "", row
        return [point for point in self.points if point[2] in range(1, SMALL) or point[3] in range(1, SMALL)]

    def of_label(self, rows, label):
        return sum(row["label"] == label for row in rows)

    def point(self, where, label, refused, rate, n):
        refused = round(rate * n) if refused is None else refused
        self.points.append((where, label, refused, n - refused))

    def walk(self, where, node, part=None):
        """Every rejected_by_label of a document: what is told, and what follows from all that are refused at its point."""
        if isinstance(node, dict):
            if "by" in node and "value" in node:
                part = (node["by"], node["value"])
            labels = node.get("rejected_by_label")
            if isinstance(labels, list):
                rows = [row for row in self.test if part is None or row.get(part[0], "") == (part[1] or "")]
                told, total = {}, round((1 - node["realised"]) * len(rows)) if node["realised"] is not None else None
                for row in labels:
                    n = self.of_label(rows, row["label"])
                    if isinstance(row.get("n_rejected"), int):
                        told[row["label"]] = row["n_rejected"]
                    elif row["rate"] is not None:
                        told[row["label"]] = round(row["rate"] * n)
                    elif row.get("share_of_rejected") is not None:
                        told[row["label"]] = round(row["share_of_rejected"] * total)
                if len(told) == 1 and total is not None:
                    (label, refused), = told.items()
                    told[1 - label] = total - refused
                for label, refused in told.items():
                    self.point(f"{where} {part or ''} {node.get('coverage')}", label, refused, None, self.of_label(rows, label))
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            self.walk(where, child, part)

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

    def others(self):
        """Every other output: none says the number of a group of few, or a share of few."""
        for words in (("train", "again", "--cohort", "c", *QUICK), ("tune", "again", "--cohort", "c", "--coverage", "0.8"),
                      ("validate", "s", "--cohort", "c", "--folds", "2"), ("selector", "show", "s"), ("selector", "list"),
                      ("cohort", "show", "c"), ("cohort", "list"), ("evaluate", *SPEED, "--group-by", "site", "--group-by", "ward"),
                      ("ablate", "s", "--cohort", "c", "--bootstrap", "5", "--without", "without_class"), ("log",)):
            again = ["--replace"] if words[0] == "train" else []
            self.look(words, self.run(*words))
            self.look(words, self.run("--json", *words, *again))
        self.run("selector", "export", "s", "s.json")
        with open(os.path.join(self.folder, "s.json"), encoding="utf-8") as file:
            self.look("selector export", file.read())
        self.look("accept plan", self.result("--json", "accept", "plan", "s", "--cohort", "c", "--site", "Z1").stdout)
        self.watch()
        charts = [line.split()[0] for line in self.run("chart", "--list").splitlines() if line.strip()]
        assert len(charts) > 20, charts
        for name in charts:
            for where in ([], ["--site", "Z1"]) if name.startswith("watch-") else ([],):
                if self.result("chart", name, "f.csv", *SPEED, *where).returncode == 0:
                    with open(os.path.join(self.folder, "f.csv"), encoding="utf-8-sig") as file:
                        self.look(name, file.read())

    def watch(self):
        """Patients come, some of them from where few were before, and their outcomes."""
        for site in ([], ["--site", "X"], ["--site", "Z1"]):
            self.look("watch start", self.run("watch", "start", "s", "--cohort", "c", *site))
        rows = [dict(row, patient_id="n" + row["patient_id"], scan_id="n" + row["scan_id"], label="") for row in self.test]
        for name, part, keys in (("n.csv", rows, rows[0]), ("o.csv", rows[:90] + rows[-40:], ("scan_id", "label"))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, keys, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(dict(row, label=len(row["scan_id"]) % 2) if name == "o.csv" else row for row in part)
        self.run("cohort", "import", "n", "n.csv", "--model", "m")
        self.run("assess", "s", "--cohort", "n")
        self.run("watch", "labels", "o.csv")
        told = 0  # how many came since is told, and not what they have
        for watch in json.loads(self.run("--json", "watch", "show", "--path"))["watches"]:
            for signal in watch["signals"]:
                assert len(signal["evidence_path"]) <= signal["n"] // SMALL, signal
                if signal["n_since"] is None or signal["n"] == 0:
                    assert signal["now"] is None and signal["before"] is None and not signal["what_changed"], signal
                    continue
                told += 1
                n = signal["n_reference"] + signal["n"] - signal["n_since"]
                assert signal["n_since"] >= SMALL and n >= SMALL, signal
                if watch["site"] is not None:
                    assert signal["n_reference"] % SMALL == 0, signal
                if signal["signal"] in ("manufacturer", "coverage", "eligible", "outcome"):
                    some = round(signal["now"] * signal["n_since"])
                    assert some >= SMALL and (some == signal["n_since"] or signal["n_since"] - some >= SMALL), signal
                    if signal["before"] is not None and watch["site"] is None:  # of one site the reference is known in tens only
                        some = round(signal["before"] * n)
                        assert all(part == 0 or part >= SMALL for part in (some, n - some)), signal
        assert told > 5, told

    def look(self, where, text):
        """No line has the name of a group of few and its number, be it a row of a table or an object of JSON."""
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        few = {(value, n) for (_, _, value), n in self.groups.items() if n < SMALL}

        def walk(node):
            if isinstance(node, dict):
                names = {value for value in node.values() if isinstance(value, str)}
                numbers = {value for key, value in node.items() if isinstance(value, int) and not isinstance(value, bool)
                           and key not in ("id", "watch", "alarm")}
                for value, n in few:
                    assert not (value in names and n in numbers), (where, value, n, node)
            for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
                walk(child)
        walk(document)
        for line in text.splitlines() if document is None else ():
            words = line.replace(",", " ").replace("'", " ").replace(":", " ").split()
            for value, n in few:
                assert not (value in words and str(n) in words), (where, value, n, line)

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
            workspace = Workspace(sys.argv[1], folder, rows)
            counts, labels = workspace.told()
            if seed == 0:
                faults += [(seed, *point) for point in workspace.refusals()]
                assert len(workspace.points) > 100, workspace.points
            if seed < 2:
                workspace.others()
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
