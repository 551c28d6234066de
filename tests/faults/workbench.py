"""What the tests of faults share: a small workspace with everything in it, and the commands that write."""
import csv
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess

SIZES = ["--scans", "120", "--sites", "4", "--base-train", "100", "--tune", "60", "--test", "60", "--base-rate-logit", "2"]
QUICK = ["--epochs", "1", "--datasets-per-epoch", "64", "--batch", "8", "--kappa", "2", "--dataset-size", "60", "--hidden",
         "2", "--validation-datasets", "3", "--average", "1", "--features", "confidence,class"]


class Bench:
    """A folder with a workspace that holds a cohort, a selector that is tuned, a DICOM series with a score and verdicts;
    every run of a command works on a copy of it."""

    def __init__(self, demur, phantom, folder):
        self.demur, self.folder = os.path.abspath(demur), folder
        self.template = os.path.join(folder, "template")
        os.makedirs(self.template)
        dicom = os.path.join(folder, "series")
        self.scan = subprocess.run([phantom, dicom], check=True, capture_output=True, text=True).stdout.strip()
        shutil.copytree(dicom, os.path.join(self.template, "in"))
        self.write("cohort.csv", "patient_id,site,split,label,risk\n" +
                   "".join(f"p{i},S{i % 3},test,{i % 2},0.{i % 9 + 1}\n" for i in range(60)))
        self.write("more.csv", "patient_id,colour\n" + "".join(f"p{i},c{i % 4}\n" for i in range(60)))
        self.write("key", "not a secret, but long enough\n")
        self.must("cohort", "simulate", "c", *SIZES)
        self.must("cohort", "export", "c", "c.csv")
        with open(os.path.join(self.template, "c.csv"), encoding="utf-8") as file:
            row = next(row for row in csv.DictReader(file) if row["split"] == "test")
        self.site = row["site"]
        names = [name for name in row if name.startswith("emb_")]
        self.write("scores.csv", f"series_uid,risk,simulated,{','.join(names)}\n"
                   f"{self.scan},0.2,yes,{','.join(row[name] for name in names)}\n")
        self.must("cohort", "import", "d", "cohort.csv", "--model", "m")
        self.must("train", "s", "--cohort", "c", *QUICK)
        self.must("tune", "s", "--cohort", "c", "--coverage", "0.9")
        self.must("dicom", "import", "in")
        model = self.query("SELECT model FROM cohort WHERE name = 'c'")[0][0]
        self.model = model
        self.must("scores", "import", "scores.csv", "--model", model)
        self.must("assess", "s", "--cohort", "c")
        self.must("assess", "s", "--all")
        self.must("selector", "export", "s", "s.json", "--with-reference")

    def write(self, name, text):
        with open(os.path.join(self.template, name), "w", encoding="utf-8") as file:
            file.write(text)

    def must(self, *words):
        result = self.run(self.template, words)
        assert result.returncode == 0, (words, result.stderr)

    def query(self, sql):
        database = sqlite3.connect(os.path.join(self.template, "w.demur"))
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "HOME": self.folder, "XDG_CACHE_HOME": os.path.join(self.folder, "cache"),
                "SOURCE_DATE_EPOCH": "1700000000", "TMPDIR": self.folder, "LANG": "C.UTF-8", **more}

    def run(self, folder, words, timeout=120, **more):
        """One command in the folder, on its workspace."""
        return subprocess.run([self.demur, "--workspace", "w.demur", "--threads", "1", "--quiet", *words], cwd=folder,
                              env=self.environment(**more), capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL)

    def help_of(self, *words):
        return subprocess.run([self.demur, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def commands_of_help(self):
        """Every command and its help; what `demur report` keeps for itself too."""
        names = re.findall(r"^  ([a-z]+)  +\S", self.help_of().split("Commands:")[1].split("Global options")[0], re.M)
        for name in names:
            text = self.help_of(name)
            if " COMMAND .." in text.splitlines()[0]:
                for word in re.findall(r"^  ([a-z]+)  +\S", text, re.M):
                    yield f"{name} {word}", self.help_of(name, word)
                continue
            yield name, text
            for word in re.findall(rf"`demur {name} ([a-z]+) FILE", text):
                yield f"{name} {word}", self.help_of(name, word)

    def paths_of_help(self):
        """"COMMAND WORD" and "COMMAND --option" of each word and option that names a file or folder."""
        path = re.compile(r"^\(?(FILE|DIR|FOLDER|PATH|IN|OUT)\b")
        for name, text in self.commands_of_help():
            usage = text.splitlines()[1].split("\u2014")[0]
            for word in usage.split():
                if path.match(word) and not re.search(rf"--\S+ {re.escape(word)}", usage):
                    yield f"{name} {path.match(word)[1]}"
            for option, value in re.findall(r"--([a-z-]+)=(\S+)", text):
                if path.match(value) or re.match(r"\w+\.(csv|json|npy|pdf)$", value):
                    yield f"{name} --{option}"

    def copy(self):
        folder = os.path.join(self.folder, "work")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder)
        return folder


def files_of(folder):
    """{relative path: digest} of every file but the workspace."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(path, name)
            relative = os.path.relpath(full, folder)
            if not relative.startswith("w.demur"):
                with open(full, "rb") as file:
                    found[relative] = hashlib.sha256(file.read()).hexdigest()
    return found


def is_part(name):
    base = os.path.basename(name)
    return base.startswith(".demur-") and base.endswith(".part")


def rows_of(folder):
    """What the workspace holds: {table: rows}, sorted; None where it can't be read."""
    path = os.path.join(folder, "w.demur")
    if not os.path.exists(path):
        return {}
    database = sqlite3.connect(path)
    try:
        if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return None
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {table: sorted(map(repr, database.execute(f"SELECT * FROM \"{table}\""))) for table in tables}
    except sqlite3.DatabaseError:
        return None
    finally:
        database.close()


def commands_of(bench):
    """Every command that writes, with words that make it write."""
    scan, model = bench.scan, bench.model
    chart = ["--selector", "s", "--cohort", "c", "--bootstrap", "100"]
    return {
        "cohort import": ["cohort", "import", "e", "cohort.csv", "--model", "m"],
        "cohort attach": ["cohort", "attach", "d", "more.csv", "--key", "patient_id"],
        "cohort export": ["cohort", "export", "c", "out.csv"],
        "cohort remove": ["cohort", "remove", "d"],
        "train": ["train", "t", "--cohort", "c", *QUICK],
        "tune": ["tune", "s", "--cohort", "c", "--coverage", "0.7"],
        "assess": ["assess", "s", "--cohort", "c"],
        "selector import": ["selector", "import", "u", "s.json"],
        "selector export": ["selector", "export", "s", "out.json", "--with-reference"],
        "audit plan": ["audit", "plan", "s", "--cohort", "c", "--site", bench.site, "--scans", "12", "-o", "out.csv"],
        "accept plan": ["accept", "plan", "s", "--cohort", "c", "--site", bench.site, "-o", "out.csv"],
        "chart svg": ["chart", "coverage-brier", "out.svg", *chart],
        "chart csv": ["chart", "coverage-brier", "out.csv", *chart],
        "report": ["report", "out.pdf", "--selector", "s", "--cohort", "c", "--bootstrap", "100"],
        "report patient": ["report", "patient", "out.pdf", "--scan", scan],
        "export csv": ["export", "out.csv", "--cohort", "c"],
        "export json": ["export", "out.json"],
        "export sr": ["export", "out.dcm", "--scan", scan],
        "export pdf": ["export", "out.dcm", "--scan", scan, "--format", "pdf"],
        "dicom import": ["dicom", "import", "in"],
        "dicom deidentify": ["dicom", "deidentify", "in", "copies", "--key", "key"],
        "scores import": ["scores", "import", "scores.csv", "--model", model + "2"],
    }
