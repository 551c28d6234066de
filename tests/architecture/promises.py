"""Each promise of docs/security.md names a test that is there: one that is renamed or taken out takes its mention with it.

Usage: promises.py --self-test | ROOT BUILD
"""
import fnmatch
import json
import os
import re
import subprocess
import sys


def promises_of(text):
    """(line number, promise, what its second cell names in backticks) of each row of a table of promises."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == "promise":
            inside = True
        elif inside and not line.startswith("|---"):
            yield number, cells[0], re.findall(r"`([^`]+)`", cells[-1]) if len(cells) > 1 else []


def faults_of(text, tests, is_file, groups):
    """groups: those of which this build has tests (a build without the window has none of ui)."""
    short = {name.split("/", 1)[1] if name.startswith(("unit/", "dicom/", "commands/")) else name for name in tests} | set(tests)
    for number, promise, named in promises_of(text):
        found = [name for name in named if any(fnmatch.fnmatch(test, name) for test in short)]
        absent = [name for name in named if name not in found and not is_file(name) and re.split("[/-]", name)[0] in groups | {name}]
        for name in absent:
            yield f"line {number}: there is no test {name}"
        if not named or not found and not absent and all(is_file(name) for name in named):
            yield f"line {number}: no test holds: {promise[:60]}"


def self_test():
    tests = ["unit/unit-base-person", "faults/some", "fuzz/replay-npy"]
    for cell, n in (("`faults/some`", 0), ("`unit-base-person`, `fuzz/replay-*`", 0), ("`faults/none`", 1), ("a sentence", 1),
                    ("`README.md`", 1), ("`unit-base-nobody`", 1), ("`ui/a-page`", 0), ("`faults/some`, `fuzz/replay-x`", 1)):
        text = f"| promise | test |\n|---|---|\n| it is so | {cell} |\n\n| other | table |\n"
        found = list(faults_of(text, tests, lambda name: name == "README.md", {"unit", "faults", "fuzz"}))
        if len(found) != n:
            sys.exit(f"{cell}: {found}")
    print("what is not there was found")


def main():
    if sys.argv[1] == "--self-test":
        self_test()
        return
    root, build = sys.argv[1:3]
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    tests = [test["name"] for test in json.loads(listed)["tests"]]
    with open(os.path.join(root, "docs", "security.md"), encoding="utf-8") as file:
        text = file.read()
    assert list(promises_of(text)), "docs/security.md promises nothing"
    faults = list(faults_of(text, tests, lambda name: os.path.exists(os.path.join(root, name)), {name.split("/")[0] for name in tests}))
    print("\n".join(faults) or "every promise names its test")
    sys.exit(1 if faults else 0)


main()
