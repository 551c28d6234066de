"""Every command that reads a table, against every way in which hospitals write one.

Each input is a sound table. WRAPPINGS change how it is written, never what it says: the command must answer the same.
BROKEN is no table, or one whose columns can't be told: refused, with line and column, and the workspace stays as it was.
NUMBERS are local spellings in a column of numbers: refused by their name. NOTICED is taken and told.

Usage: every-input.py DEMUR PHANTOM FOLDER-OF-WORKBENCH
"""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[3])
from workbench import Bench, rows_of  # noqa: E402

NBSP, ZWSP = "\u00a0", "\u200b"


class Input:
    """A command and its table: header, rows, the place of an identifier and of a number (None: there is none)."""

    def __init__(self, name, words, text, identifier, number=None, may_be_missing=False):
        self.name, self.words = name, words
        rows = list(csv.reader(io.StringIO(text)))
        self.header, self.rows = rows[0], rows[1:]
        self.identifier = self.header.index(identifier)
        self.number = self.header.index(number) if number else None
        self.may_be_missing = may_be_missing


def write(table, separator=",", end="\n", quoted=False):
    """The text of a table; a cell with the separator, a quote or a line end is quoted."""
    def cell(text):
        if quoted or any(c in text for c in separator + '"\r\n') or text != text.strip():
            return '"' + text.replace('"', '""') + '"'
        return text
    return "".join(separator.join(map(cell, row)) + end for row in table)


def padded(table, place, text):
    """With the text behind every identifier."""
    return [table[0]] + [[c + text if k == place else c for k, c in enumerate(row)] for row in table[1:]]


def with_note(table):
    return [table[0] + ["note"]] + [row + [f"first line\nsecond; line, of {i}"] for i, row in enumerate(table[1:])]


def table_of(one):
    return [one.header] + one.rows


# What each says is the table itself. (bytes, whether the whole goes through standard input)
WRAPPINGS = {
    "byte order mark": lambda i: ("\ufeff" + write(table_of(i))).encode(),
    "semicolons": lambda i: write(table_of(i), ";").encode(),
    "tabs": lambda i: write(table_of(i), "\t").encode(),
    "sep= line": lambda i: ("sep=;\r\n" + write(table_of(i), ";", "\r\n")).encode(),
    "sep= line of tabs": lambda i: ("\ufeff\"sep=\t\"\n" + write(table_of(i), "\t")).encode(),
    "line ends of a PC": lambda i: write(table_of(i), ",", "\r\n").encode(),
    "line ends of an old spreadsheet": lambda i: write(table_of(i), ",", "\r").encode(),
    "all quoted": lambda i: write(table_of(i), ",", "\n", True).encode(),
    "compressed": lambda i: gzip.compress(write(table_of(i)).encode()),
    "compressed in parts": lambda i: gzip.compress(write(table_of(i)).encode()[:9]) + gzip.compress(write(table_of(i)).encode()[9:]),
    "a tail of empty rows": lambda i: (write(table_of(i)) + ("," * (len(i.header) - 1) + "\n") * 3 + "\n \n").encode(),
    "an empty row in the middle": lambda i: write([i.header, i.rows[0], [""] * len(i.header), *i.rows[1:]]).encode(),
    "no line end at the end": lambda i: write(table_of(i)).encode()[:-1],
    "columns in another order": lambda i: write([row[::-1] for row in table_of(i)]).encode(),
    "blanks around fields": lambda i: "\n".join(" , ".join(row) for row in table_of(i)).encode() + b"\n",
    "hard blanks behind identifiers": lambda i: write(padded(table_of(i), i.identifier, NBSP)).encode(),
    "invisible characters in identifiers": lambda i: write(padded(table_of(i), i.identifier, ZWSP)).encode(),
    "a tab behind identifiers": lambda i: write(padded(table_of(i), i.identifier, "\t")).encode(),
    "the apostrophe of a spreadsheet": lambda i: write([i.header] + [["'" + c if c[:1] in "=+@" and k == i.identifier else c
                                                        for k, c in enumerate(row)] for row in i.rows]).encode(),
}
TOLD = {"hard blanks behind identifiers": "trimmed", "invisible characters in identifiers": "trimmed",
        "a tab behind identifiers": "trimmed", "a tail of empty rows": "empty_rows",
        "an empty row in the middle": "empty_rows", "no line end at the end": "ends_open"}


def capital(i, change):
    header = list(i.header)
    header[i.identifier] = change(header[i.identifier])
    return write([header] + i.rows).encode()


BROKEN = {
    "UTF-16 with a mark": (lambda i: write(table_of(i)).encode("utf-16"), "UTF-16"),
    "UTF-16, big ends first": (lambda i: b"\xfe\xff" + write(table_of(i)).encode("utf-16-be"), "UTF-16"),
    "UTF-16 without a mark": (lambda i: write(table_of(i)).encode("utf-16-le"), "UTF-16"),
    "UTF-32": (lambda i: write(table_of(i)).encode("utf-32"), "UTF-32"),
    "a spreadsheet": (lambda i: b"PK\x03\x04" + write(table_of(i)).encode(), ".xlsx"),
    "an old spreadsheet": (lambda i: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), ".xls"),
    "a null byte": (lambda i: write(table_of(i)).encode() + b"a\0b\n", "line "),
    "Latin-1": (lambda i: write([i.header] + [[c + "é" for c in i.rows[0]]] + i.rows[1:]).encode("latin-1"), "UTF-8"),
    "compressed and cut": (lambda i: gzip.compress(write(table_of(i)).encode())[:-9], "cut off"),
    "a name in capitals": (lambda i: capital(i, str.upper), "line 1, column "),
    "a name with blanks": (lambda i: capital(i, lambda n: n.replace("_", " ") + NBSP), "line 1, column "),
    "a name with a capital and a mark": (lambda i: capital(i, lambda n: "\"" + n.title() + ".\""), "line 1, column "),
    "a column twice": (lambda i: write([row + [row[i.identifier]] for row in table_of(i)]).encode(), "line 1, column "),
    "a column without a name": (lambda i: write([row + ["" if k == 0 else "1"] for k, row in enumerate(table_of(i))]).encode(),
                                "line 1, column "),
    "the identifier's column missing": (lambda i: write([row[:i.identifier] + row[i.identifier + 1:] for row in table_of(i)])
                                        .encode(), "line 1, column "),
    "a title above": (lambda i: ("Report of May" + "," * (len(i.header) - 1) + "\n" + write(table_of(i))).encode(),
                      "line 1, column "),
    "a short row": (lambda i: write([i.header, i.rows[0], i.rows[-1][:-1]]).encode(), "line 3, column "),
    "a long row": (lambda i: write([i.header, i.rows[0], i.rows[-1] + ["x"]]).encode(), "line 3, column "),
    "an open quote": (lambda i: write(table_of(i)).encode() + b"\"never closed,1\n", "line "),
    "a header and nothing else": (lambda i: write([i.header]).encode(), "line 2, column 1"),
    "nothing": (lambda i: b"", "line 1, column 1"),
    "a mark and nothing": (lambda i: b"\xef\xbb\xbf", "line 1, column 1"),
    "no identifier": (lambda i: write([i.header] + [[NBSP if k == i.identifier else c for k, c in enumerate(row)]
                                                    for row in i.rows]).encode(), "line 2, column "),
}

NUMBERS = {"0,5": "decimal comma", "50%": "per cent", "1,000.5": "thousands", "1'000": "thousands", "0" + NBSP + "5": "blank",
           "\u22120.5": "minus sign", "1.000.000": "thousands", "0.5 mm": "this text", "nan": "", "inf": "", "1e999": "",
           "-1": "", "0x1p-1": "", "yes": "this text"}


def inputs_of(bench):
    """One for every option that names a table."""
    scan, model = bench.scan, bench.model
    persons = "pid,cen,scr_days0,scr_days1,candx_days,fup_days,split\n" + "".join(
        f"N{k},H{k % 3},{k},{365 + k},{'' if k % 4 else 400 + k},3000,{'test' if k % 2 else 'tune'}\n" for k in range(1, 13))
    scores = "pid,study_yr,risk\n" + "".join(f"N{k},{y},0.{k:02}\n" for k in range(1, 13) for y in range(2))
    images = "pid,study_yr,manufacturer,reconfilter,reconthickness\n" + "".join(
        f"N{k},{y},GE,B30f,{1 + k % 2}\n" for k in range(1, 13) for y in range(2))
    for name, text in (("persons.csv", persons), ("nscores.csv", scores), ("images.csv", images)):
        bench.write(name, text)
    nlst = ["cohort", "import", "n", "--nlst-persons", "persons.csv", "--scores", "nscores.csv", "--nlst-images", "images.csv"]
    cohort = "patient_id,scan_id,site,split,label,risk,age\n" + "".join(
        f"P{k},S{k},H{k % 3},{'test' if k % 2 else 'tune'},{k % 2},0.{k:02},{50 + k}\n" for k in range(1, 13))
    bench.write("small.csv", cohort)
    bench.write("predictions.json", json.dumps({"predictions": [[.01, .02, .03, .04, .05, .06]]}))
    bench.must("audit", "plan", "s", "--cohort", "c", "--site", bench.site, "--scans", "12", "-o", "audit-new.csv")
    bench.must("accept", "plan", "s", "--cohort", "c", "--site", bench.site, "-o", "accept-new.csv")

    def filled(name):
        with open(os.path.join(bench.template, name), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for k, row in enumerate(rows):
            row["label"] = str(k % 2)
        return write([list(rows[0])] + [list(row.values()) for row in rows])

    def replaced(words, name):
        return [FILE if word == name else word for word in words]
    return [
        Input("cohort", ["cohort", "import", "x", FILE], cohort, "patient_id", "risk"),
        Input("NLST persons", replaced(nlst, "persons.csv"), persons, "pid", "scr_days1", True),
        Input("NLST scores", replaced(nlst, "nscores.csv"), scores, "pid", "risk"),
        Input("NLST images", replaced(nlst, "images.csv"), images, "pid"),
        Input("attach", ["cohort", "attach", "d", FILE, "--key", "patient_id"],
              "patient_id,colour\n" + "".join(f"p{k},c{k % 4}\n" for k in range(60)), "patient_id"),
        Input("scores", ["scores", "import", FILE, "--model", "m9"], f"series_uid,risk\n{scan},0.25\n", "series_uid", "risk"),
        Input("scores by scan", ["scores", "import", FILE, "--model", "m9"],
              f"scan_id,risk_year_1,risk_year_6\n{scan},0.125,0.25\n", "scan_id", "risk_year_6"),
        Input("map of predictions", ["scores", "import", "predictions.json", "--map", FILE, "--model", "m9"],
              f"name,series_uid\n0,{scan}\n", "series_uid"),
        Input("audit labels", ["audit", "apply", "s", FILE], filled("audit-new.csv"), "scan_id", "label", True),
        Input("acceptance labels", ["accept", "run", "s", FILE], filled("accept-new.csv"), "scan_id", "label", True),
        Input("columns", ["cohort", "import", "x", "small.csv", "--columns", FILE], "column,means\nage,years\n", "column"),
        Input("sites", ["dicom", "import", "in", "--site-map", FILE], "station,site\nPHANTOM,Here\n", "site"),
    ]


# (input, what is in it, changes of its text, kinds that must be told; or None and what the refusal says)
NOTICED = [
    ("cohort", "a twin in another case", ("P3,S3", "p1,S3"), {"like"}, None),
    ("cohort", "a twin in another split", ("P2,S2", "p1,S2"), None, "looks like"),
    ("cohort", "a twin with zeros in front", (("P1,", "7,"), ("P3,", "007,")), {"like"}, None),
    ("cohort", "a twin with zeros in front in another split", (("P1,", "7,"), ("P2,", "007,")), None, "looks like"),
    ("cohort", "persons that became one", (("P1,", "1.67683E+15,"), ("P3,", "1.67683E+15,")), None, "spreadsheet"),
    ("cohort", "one rewritten person", ("P1,", "1.67683E+15,"), {"rewritten"}, None),
    ("cohort", "a code among ages", (",0.01,51", ",0.01,999"), {"code"}, None),
    ("cohort", "a word for a label", ("tune,0,0.02", "tune,N/A,0.02"), {"missing_words", "unlabelled"}, None),
    ("NLST persons", "a code for none", ("N4,H1,4,369,404", "N4,H1,4,369,-1"), None, "(candx_days)"),
    ("NLST persons", "-1 as the day of a screen", ("N4,H1,4", "N4,H1,-1"), None, "(scr_days0)"),
    ("NLST persons", "days before the first", (("N4,H1,4", "N4,H1,-1"), ("N3,H0,3", "N3,H0,-4")), set(), None),
    ("NLST persons", "SAS says not recorded", ("N1,H1,1,366,", "N1,H1,1,366,.N"), set(), None),
    ("NLST scores", "a person in another spelling", ("N3,0", "n3,0"), {"like", "no_person", "no_score"}, None),
    ("NLST scores", "years that fall", (("pid,study_yr,risk", "pid,study_yr,risk_year_1,risk_year_6"), (",0.", ",0.5,0.")),
     {"falling"}, None),
    ("NLST scores", "years from 0", ("pid,study_yr,risk", "pid,study_yr,risk_year_0"), None, "numbered from 1"),
    ("NLST images", "kernels that differ", ("N2,0,GE,B30f,1\n", "N2,0,GE,B30f,1\nN2,0,GE,B70f,1\n"), {"images_differ"}, None),
    ("NLST images", "a screen without images", ("N2,0,GE,B30f,1\n", ""), {"no_image"}, None),
    ("attach", "a key in another spelling", ("p7,", "P7,"), {"like"}, None),
    ("attach", "words for not recorded", ("p7,c3", "p7,NULL"), {"missing_words"}, None),
    ("attach", "a column that looks like the key beside it", (("patient_id,colour", "patient_id,Patient ID"),), {"like_column"},
     None),
    ("scores by scan", "years that fall", (",0.125,0.25", ",0.5,0.25"), {"falling"}, None),
    ("scores by scan", "years from 0", ("risk_year_1,", "risk_year_0,"), None, "numbered from 1"),
    ("scores by scan", "zeros in front of the year", ("risk_year_1,", "risk_year_01,"), None, "risk_year_1, risk_year_2"),
    ("scores", "a name that pads", ("series_uid,risk", "series_uid,Risk "), None, "line 1, column 12"),
    ("audit labels", "words for a label", (",1\n", ",unknown\n"), {"missing_words"}, None),
    ("audit labels", "labels of a data frame", ((",1\n", ",1.0\n"), (",0\n", ",0.0\n")), set(), None),
    ("acceptance labels", "labels of a data frame", ((",1\n", ",1.0\n"), (",0\n", ",0.0\n")), set(), None),
]

FILE = "{table}"
# Not the table's: when, from where, and what was noticed.
PASSING = {"created", "source", "warnings", "noticed", "planned", "seconds"}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in PASSING}
    return [plain(v) for v in value] if isinstance(value, list) else value


class Run:
    """One command on a copy of the workspace; a copy that a refusal left as it was is used again."""
    folder, before = None, None

    def __init__(self, bench, one, data, by_stdin=False):
        if Run.folder is None:
            Run.folder = bench.copy()
            Run.before = Run.before or rows_of(Run.folder)
        folder = Run.folder
        path = "-" if by_stdin else "table.csv"
        if not by_stdin:
            with open(os.path.join(folder, path), "wb") as file:
                file.write(data)
        words = [path if word == FILE else word for word in one.words]
        result = subprocess.run([bench.demur, "--workspace", "w.demur", "--threads", "1", "--quiet", "--json", *words],
                                cwd=folder, env=bench.environment(), input=data if by_stdin else b"", capture_output=True,
                                timeout=120, check=False)
        self.status, self.error = result.returncode, result.stderr.decode("utf-8")
        self.answer = json.loads(result.stdout) if result.returncode == 0 else None
        self.after = rows_of(folder) if result.returncode != 0 else None
        if self.after is None or not self.unchanged():
            Run.folder = None

    def kinds(self):
        return {noticed["kind"] for noticed in self.answer.get("noticed", [])}

    def unchanged(self):
        """Whether the workspace holds what it held; attempts may be in the log."""
        return self.after is not None and \
            {k: v for k, v in Run.before.items() if k != "event"} == {k: v for k, v in self.after.items() if k != "event"}


GRAMMAR = re.compile(r"(table\.csv|standard input): (line \d+, column \d+|\d+ rows? refused, nothing imported:\n  line \d+)")
# The commands of sites and columns say nothing of what was noticed: their tables are not kept.
SILENT = {"sites", "columns"}


def main():
    faults, n = [], 0
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nothing here is about disks
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        bench = Bench(sys.argv[1], sys.argv[2], folder)
        inputs_of_bench = inputs_of(bench)

        def expect(ok, what, run):
            if not ok:
                faults.append(f"{one.name}: {what}: status {run.status}: {run.error.strip()[:300]}")
        for one in inputs_of_bench:
            base = Run(bench, one, write(table_of(one)).encode())
            expect(base.status == 0, "plain", base)
            if base.status != 0:
                continue
            for name, wrap in WRAPPINGS.items():
                run = Run(bench, one, wrap(one))
                n += 1
                expect(run.status == 0 and plain(run.answer) == plain(base.answer), name, run)
                if run.status == 0 and name in TOLD and one.name not in SILENT:
                    expect(TOLD[name] in run.kinds(), f"{name}: not told: {run.kinds()}", run)
            run = Run(bench, one, write(table_of(one)).encode(), by_stdin=True)
            expect(run.status == 0 and plain(run.answer) == plain(base.answer), "standard input", run)
            if one.name not in ("columns", "sites", "map of predictions"):
                run = Run(bench, one, write(with_note(table_of(one))).encode())
                expect(run.status == 0, "line ends in a quoted field", run)
            for name, (wrap, says) in BROKEN.items():
                run = Run(bench, one, wrap(one))
                n += 1
                expect(run.status == 1 and says in run.error, name, run)
                if says != "cut off":
                    expect(GRAMMAR.search(run.error), f"{name}: another grammar", run)
                expect(run.unchanged(), f"{name}: the workspace was changed", run)
            for text, says in NUMBERS.items() if one.number is not None else ():
                if text == "nan" and one.may_be_missing:
                    continue  # a word for not recorded
                rows = [list(row) for row in one.rows]
                rows[0][one.number] = text
                run = Run(bench, one, write([one.header] + rows).encode())
                n += 1
                expect(run.status == 1 and says in run.error and GRAMMAR.search(run.error), text, run)
                expect(run.unchanged(), f"{text}: the workspace was changed", run)
        for name, what, changes, kinds, says in NOTICED:
            one = next(one for one in inputs_of_bench if one.name == name)
            text = write(table_of(one))
            for old, new in [changes] if isinstance(changes[0], str) else changes:
                assert old in text, (name, what, old)
                text = text.replace(old, new)
            run = Run(bench, one, text.encode())
            n += 1
            if kinds is None:
                expect(run.status == 1 and says in run.error and run.unchanged(), what, run)
            else:
                expect(run.status == 0 and kinds <= run.kinds(), f"{what}: {run.kinds() if run.answer else ''}", run)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} faults in {n} tables")
    print(f"{n} tables read or refused as they should be")


main()
