"""Strings that steer a terminal, turn the direction of text, or mean something to a spreadsheet, a shell, a markup or a path: in every
field that comes from outside, to everything that the program says or writes, in English and German.

Each run plants another string in each field (a Latin square), so that N runs try every string in every field. Right is, in every
output: no control and no bidirectional control as itself; JSON that parses and gives identifiers back as they were; CSV whose
cells no spreadsheet takes for a formula; paper on which a patient's identifier stands with its code points; and nothing run or written
elsewhere. A string that a command refuses is refused in words that hold to the same.

Usage: strings.py DEMUR PHANTOM [--runs N | --run I ..]
"""
import argparse
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata

from workbench import Bench, files_of

STRINGS = [
    "\u202eTXEN", "70\u202e07", "\u2066<b>x\u2069", "\u200fabc", "\u061cx", "\u2067a\u202c", "\u202d021", "a\u200eb", "\x1b[31mred", "\x1b]0;t\x07",
    "bell\x07", "\u009b31m", "\u0085next", "back\x08\x08", "del\x7f", "\u2028line", "\u2029para", "<b>bold</b>", "&amp;&lt;", "%s%n%99d",
    "{series}{output}", "'; DROP TABLE series;--", 'a"quoted"', "=1+1", "+1-1", "-2+3", "@sum(a)", "../../etc/passwd", "$(touch ran)`touch ran`",
    "e\u0301\U0001f600\u05d0"]
DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile("[\x00-\x1f\x7f]")  # none of DICOM's identifiers may hold one: read as U+FFFD
# DICOM texts that may be read or shown: group, element.
TAGS = {"StudyDescription": (8, 0x1030), "SeriesDescription": (8, 0x103e), "Institution": (8, 0x80), "Accession": (8, 0x50), "Referring": (8, 0x90),
        "Station": (8, 0x1010), "Maker": (8, 0x70), "MakersModel": (8, 0x1090), "PatientName": (0x10, 0x10), "PatientID": (0x10, 0x20),
        "Kernel": (0x18, 0x1210), "Protocol": (0x18, 0x1030), "StudyID": (0x20, 0x10), "Comments": (0x20, 0x4000)}
LONG = (b"OB", b"OW", b"SQ", b"UN", b"UT")


def planted(content, values):
    """The DICOM file (explicit VR, no sequences) with other texts."""
    at, out = 132, [content[:132]]
    while at < len(content):
        tag, vr = struct.unpack("<HH", content[at:at + 4]), content[at + 4:at + 6]
        head = 12 if vr in LONG else 8
        n = struct.unpack("<I", content[at + 8:at + 12])[0] if vr in LONG else struct.unpack("<H", content[at + 6:at + 8])[0]
        if tag in values:
            text = values[tag].encode()
            text += b" " * (len(text) % 2)
            out.append(content[at:at + 6] + struct.pack("<H", len(text)) + text)
        else:
            out.append(content[at:at + head + n])
        at += head + n
    return b"".join(out)


class Square:
    """The string of a field in a run."""

    def __init__(self, run):
        self.run, self.fields = run, {}

    def __getitem__(self, field):
        if field not in self.fields:
            self.fields[field] = STRINGS[(len(self.fields) * 7 + self.run) % len(STRINGS)]
        return self.fields[field]


def shown(text):
    return re.sub(r"\s", "", DANGEROUS.sub(lambda match: f"[U+{ord(match[0]):04X}]", text))


def check_text(where, text, square):
    found = DANGEROUS.search(text)
    assert not found, (where, f"U+{ord(found[0]):04X}", text[max(0, found.start() - 60):found.end() + 20], square.fields)


def check_csv(where, path, square):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    check_text(where, text.replace("\r\n", "\n"), square)
    for row in csv.reader(text.splitlines()):
        for cell in row:
            assert not re.match(r"[=@\t]|[+-](?![\d.])|[+-][\d.]+[^\d.eE]", cell), (where, cell, square.fields)


def plant_in(folder, square):
    """The run's strings into every text of the images there."""
    values = {tag: square[name] for name, tag in TAGS.items()}
    values[(0x10, 0x20)] = square["PatientID"].replace("\\", "/")
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(planted(content, values))


def plant(bench, square):
    """A fresh folder with images and tables that hold the run's strings; their words."""
    folder = bench.copy()
    plant_in(os.path.join(folder, "in"), square)
    with open(os.path.join(folder, "odd.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient_id", "scan_id", "site", "split", "label", "risk", square["column"] + "c"])
        for i in range(60):
            writer.writerow([f"{square['person']}p{i}", f"{square['scan']}s{i}", f"{square['site']}h{i % 3}", "test", i % 2, f"0.{i % 9 + 1}",
                             square["value"] + str(i % 2)])
    return folder


def commands_of_run(bench, square):
    model, scan = bench.model, bench.scan
    return [["cohort", "import", "c", "c.csv", "--model", model], ["selector", "import", square["selector"], "s.json"],
            ["selector", "import", "s", "s.json"], ["tune", "s", "--cohort", "c", "--coverage", "0.9", "--reason", square["why"]],
            ["cohort", "import", square["cohort"], "odd.csv", "--model", square["model"]], ["cohort", "import", "o", "odd.csv", "--model", "m"],
            ["cohort", "export", "o", "o.csv"], ["cohort", "show", "o"], ["cohort", "show", square["absent"]], ["cohort", "list"],
            ["selector", "list"], ["selector", "show", square["selector"]], ["dicom", "import", "in"], ["dicom", "list"], ["dicom", "show", scan],
            ["scores", "import", "scores.csv", "--model", model, "--model-version", square["version"]], ["assess", "s", "--all"],
            ["dicom", "choose", scan, "--reason", square["reason"]], ["assess", "s", "--all", "--reveal", square["reveal"]],
            ["export", "v.csv"], ["export", "v.json"], ["export", "sr.dcm", "--scan", scan], ["report", "patient", "p.pdf", "--scan", scan],
            ["report", "verify", "p.pdf"], ["log"], ["verify"], [square["command"]], ["export", square["file"] + ".csv"],
            ["dicom", "import", square["path"]], ["assess", square["nobody"], "--all"]]


def try_one(bench, run):
    square = Square(run)
    folder = plant(bench, square)
    for words in commands_of_run(bench, square):
        for form in (["--json"], []) if words[1:2] in (["list"], ["show"]) or words[0] in ("log", "verify") else ([],):
            more = {"LANGUAGE": "de", "LANG": "de_DE.UTF-8"} if run % 2 else {}
            result = bench.run(folder, [*words, *form, "--workspace", "odd.demur"], **more)
            assert result.returncode in (0, 1, 2), (words, result.returncode, result.stderr)
            check_text((words, form), result.stdout + result.stderr, square)
            if form and result.stdout:
                json.loads(result.stdout)
    for name in ("o.csv", "v.csv"):
        if os.path.exists(os.path.join(folder, name)):
            check_csv(name, os.path.join(folder, name), square)
    # What a person is called came through the whole chain.
    identifier = CONTROL.sub("\ufffd", square["PatientID"])
    for name in ("v.json", "p.json"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        check_text(name, text, square)
        forms = [json.dumps(unicodedata.normalize(form, identifier))[1:-1] for form in ("NFC", "NFD")]
        assert any(form in json.dumps(json.loads(text)) for form in forms), (name, square.fields)
    if shutil.which("pdftotext"):
        page = subprocess.run(["pdftotext", "-raw", os.path.join(folder, "p.pdf"), "-"], capture_output=True, text=True, check=True).stdout
        # pdftotext itself puts U+202B and U+202C around what reads from right to left.
        page = re.sub("\u202b([^\u202b\u202c]*)\u202c", r"\1", page)
        check_text("p.pdf", page.replace("\f", "\n"), square)
        if identifier.isascii() or DANGEROUS.search(identifier):
            assert shown(identifier) in shown(page), ("p.pdf", identifier, page[:1500])
    with open(os.path.join(folder, "sr.dcm"), "rb") as file:
        assert CONTROL.sub("\ufffd", square["PatientID"]).encode() in file.read(), "the archive's own identifier goes back to it"
    assert not any("ran" == os.path.basename(name) for name in files_of(bench.folder)), "a string was run"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demur")
    parser.add_argument("phantom")
    parser.add_argument("--runs", type=int, default=len(STRINGS))
    parser.add_argument("--run", type=int, action="append", help="these alone, from 0")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="demur-strings-") as folder:
        bench = Bench(options.demur, options.phantom, folder)
        for run in options.run or range(0, len(STRINGS), max(1, len(STRINGS) // options.runs)):
            try:
                try_one(bench, run)
                print(f"run {run}: right", flush=True)
            except AssertionError as error:
                wrong += 1
                print(f"run {run}: {error}", flush=True)
    print(f"{len(STRINGS)} strings, {wrong} runs wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
