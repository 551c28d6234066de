"""A hundred planted identifiers and names, looked for in everything that a run writes: only where docs/privacy.md says.

The table of that page is read: each of its rows must have its outputs here, and its cells say what is right ("yes": they stand
there; "no" or "only ..": they do not, where nothing was asked for). Files are searched as they are, with their compressed streams unpacked,
and PDF pages by their text.

Usage: persons.py DEMUR PHANTOM FOLDER-OF-WORKBENCH PRIVACY.md
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, sys.argv[3])
from workbench import Bench, QUICK  # noqa: E402

N = 100
BIG = ["--scans", "120", "--sites", "4", "--base-train", "400", "--tune", "60", "--test", "60", "--base-rate-logit", "2"]
SPEED = ["--bootstrap", "20", "--resamples", "1"]


def plant(bench):
    """Cohort p: a simulated one, its patients and scans called IDENT000Z .., with referrers NAMED-000Z .."""
    bench.must("cohort", "simulate", "big", *BIG)
    bench.must("cohort", "export", "big", "big.csv")
    with open(os.path.join(bench.template, "big.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bench.outside = next(row["site"] for row in rows if row["split"] == "test")
    for k, row in enumerate(rows):
        row["patient_id"] = f"IDENT{k % N:03}Z {row['patient_id']}"
        row["scan_id"] = f"IDENT{k % N:03}Z {row['scan_id']}"
        row["referrer"] = f"NAMED-{k % N:03}Z"
    with open(os.path.join(bench.template, "planted.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    bench.must("cohort", "import", "p", "planted.csv", "--model", "planted-model")


def unpacked(data):
    """The bytes, and behind them every zlib stream in them."""
    parts = [data]
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.S):
        try:
            parts.append(zlib.decompressobj().decompress(match.group(1)))
        except zlib.error:
            pass
    if data.startswith(b"\x89PNG"):
        packed = b"".join(match.group(1) for match in re.finditer(rb"IDAT(.*?)(?=....(?:IDAT|IEND))", data, re.S))
        try:
            parts.append(zlib.decompressobj().decompress(packed))
        except zlib.error:
            pass
    return b"\n".join(parts)


class Run:
    """One command; what it said and the files that it wrote, as one text."""

    def __init__(self, bench, folder, words, outputs):
        result = subprocess.run([bench.demur, "--workspace", "w.demur", "--threads", "1", *words], cwd=folder,
                                env=bench.environment(), capture_output=True, timeout=300, check=False)
        assert result.returncode == 0, (words, result.stderr)
        self.said = result.stderr
        self.data = b"" if outputs else result.stdout
        for name in outputs:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                self.data += unpacked(file.read())
            if name.endswith(".pdf") and shutil.which("pdftotext"):
                self.data += subprocess.run(["pdftotext", "-raw", path, "-"], check=True, capture_output=True).stdout


def commands(bench):
    """{words of a row of the table: [(command, files that it writes)]}."""
    site = bench.outside
    p, scan = ["--selector", "t", "--cohort", "p", *SPEED], bench.scan
    chart = [(["chart", "forest", f"f.{kind}", *p], [f"f.{kind}"]) for kind in ("svg", "png", "pdf", "csv")]
    chart += [(["chart", "coverage-brier", f"b.{kind}", *p], [f"b.{kind}"]) for kind in ("svg", "png", "pdf", "csv")]
    return {
        "the workspace": [(["cohort", "list"], ["w.demur"])],
        "`cohort export`": [(["cohort", "export", "p", "e.csv"], ["e.csv"])],
        "`cohort show`": [(["cohort", "show", "p"], []), (["cohort", "show", "p", "--json"], []), (["cohort", "list"], [])],
        "`assess`": [(["assess", "t", "--cohort", "p", "--json"], []), (["export", "v.csv", "--cohort", "p"], ["v.csv"]),
                     (["export", "v.json", "--cohort", "p", "--format", "json"], ["v.json"]),
                     (["audit", "plan", "t", "--cohort", "p", "--site", site, "--scans", "12", "-o", "plan.csv"], ["plan.csv"]),
                     (["accept", "plan", "t", "--cohort", "p", "--site", site, "-o", "accept-plan.csv"], ["accept-plan.csv"])],
        "`evaluate`": [(["evaluate", *p, "--json"], []), (["evaluate", *p], []), (["evaluate", *p, "--group-by", "site"], []),
                       (["tune", "t", "--cohort", "p", "--coverage", "0.8"], []), (["selector", "show", "t", "--json"], []),
                       (["train", "u", "--cohort", "p", *QUICK], []), (["train", "v", "--cohort", "p", "--json", *QUICK], []),
                       (["selector", "list"], []), (["selector", "show", "t"], []),
                       *[(words + json, []) for json in ([], ["--json"]) for words in (
                           ["validate", "t", "--cohort", "p", "--folds", "2"], ["accept", "run", "t", "labels.csv"],
                           ["ablate", "t", "--cohort", "p", "--bootstrap", "5", "--without", "without_class"],
                           ["shift", "t", "--cohort", "p", "--bootstrap", "5", "--mix", f"site={site}:1"],
                           ["watch", "start", "t", "--cohort", "p"], ["watch", "show"])]],
        "`federate`": [*[(words, ["t-b.json"]) for words in (  # two sites: the other's workspace is b.demur
                           ["selector", "export", "t", "t-b.json"], ["selector", "import", "released", "t-b.json"],
                           ["selector", "import", "released", "t-b.json", "--workspace", "b.demur"],
                           ["cohort", "import", "p", "planted.csv", "--model", "planted-model", "--workspace", "b.demur"])],
                       (["federate", "start", "asked.json", "--study", "recalibration", "--selector", "released", "--sites", "a,b"], ["asked.json"]),
                       *[(["federate", "answer", "asked.json", "--as", site, "--cohort", "p", "-o", f"{site}.json", *more],
                          [f"{site}.json", f"{file}.federate"]) for site, file, more in (
                              ("a", "w.demur", []), ("b", "b.demur", ["--workspace", "b.demur", "--split", "tune"]))],
                       (["federate", "answer", "asked.json", "--as", "a", "--cohort", "p", "--json"], []),
                       (["federate", "merge", "asked.json", "a.json", "b.json", "-o", "next.json"], ["next.json"])],
        "charts": chart + [(["chart", name, f"{name}.csv", *p], [f"{name}.csv"]) for name in bench.charts],
        "the report": [(["report", "r.pdf", *p], ["r.pdf", "r.json"])],
        "`selector export`": [(["selector", "export", "t", "t.json"], ["t.json"]),
                              (["selector", "export", "t", "rows.json", "--with-reference"], ["rows.json"])],
        "`report patient`": [(["report", "patient", "one.pdf", "--scan", scan, "--selector", "s"], ["one.pdf"]),
                             (["export", "one.dcm", "--scan", scan, "--selector", "s"], ["one.dcm"])],
        "messages and logs": [(["log"], []), (["log", "--json"], []), (["verify"], []), (["verify", "--json"], [])],
    }


def drawn(bench, name):
    return subprocess.run([bench.demur, "--workspace", "w.demur", "--quiet", "chart", name, "try.csv", "--selector", "t", "--cohort", "p",
                           *SPEED], cwd=bench.template, env=bench.environment(), capture_output=True, timeout=300,
                          check=False).returncode == 0


def table_of(path):
    """[(output, cell of identifiers, cell of names)] of the page's first table."""
    with open(path, encoding="utf-8") as file:
        lines = file.read()[1:].partition("\n|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[2:]]


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(sys.argv[1], sys.argv[2], folder)
        plant(bench)
        bench.must("train", "t", "--cohort", "p", *QUICK)
        bench.must("tune", "t", "--cohort", "p", "--coverage", "0.9")
        bench.must("assess", "t", "--cohort", "p")
        person = bench.query(f"SELECT patient_id FROM series WHERE scan_id = '{bench.scan}'")[0][0].encode()
        bench.must("accept", "plan", "t", "--cohort", "p", "--site", bench.outside, "-o", "labels.csv")
        with open(os.path.join(bench.template, "labels.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        with open(os.path.join(bench.template, "labels.csv"), "w", encoding="utf-8") as file:
            file.writelines(line + ("" if k == 0 else str(k % 2)) + "\n" for k, line in enumerate(lines))
        listed = bench.run(bench.template, ["chart", "--list"]).stdout  # every chart that this workspace can draw
        bench.charts = [name for name in (line.split()[0] for line in listed.splitlines() if line.strip()) if drawn(bench, name)]
        assert len(bench.charts) > 15, bench.charts
        here = commands(bench)
        for output, ids, names in table_of(sys.argv[4]):
            key = next((key for key in here if output.startswith(key)), None)
            if key is None:
                faults.append(f"{output}: no output of the test")
                continue
            for words, files in here.pop(key):
                run = Run(bench, bench.template, words, files)
                of_images = key == "`report patient`"
                found = {"identifiers": person in run.data if of_images else re.search(rb"IDENT\d{3}Z", run.data) is not None,
                         "names": re.search(rb"NAMED-\d{3}Z", run.data) is not None}
                for what, cell in (("identifiers", ids), ("names", names)):
                    right = cell.startswith("yes")
                    if found[what] != right and not (files == ["one.dcm"] and found[what]):
                        faults.append(f"{' '.join(words)}: {what} are {'' if found[what] else 'not '}there; the table says: {cell}")
                if re.search(rb"IDENT\d{3}Z|NAMED-\d{3}Z", run.said):
                    faults.append(f"{' '.join(words)}: a message names someone: {run.said[:200]}")
        faults += [f"{key}: not in the table" for key in here]
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} faults")
    print("identifiers and names stand only where the table says")


main()
