"""What a page or a comment names is there: every path of a file of this tree that docs, comments and build files write
exists. A renamed file takes its mentions with it.

Usage: paths.py --self-test | ROOT
"""
import os
import re
import sys

ROOMS = "base|cohort|features|shift|metrics|selector|evaluation|words|report|store|tasks"
TOPS = "core|dicom|ui|app|tests|docs|packaging|resources|po|cmake"
PATH = re.compile(r"(?<![\w/.{$}-])((?:" + TOPS + "|" + ROOMS + r")/[\w./-]*[\w-]\."
                  r"(?:c|h|cc|hh|inc|py|sh|md|ui|css|bash|cmake|desktop|service)(?:\.in)?)\b")
READ = (".c", ".h", ".cc", ".hh", ".inc", ".py", ".sh", ".md", ".txt", ".1")
# Include paths of the tree: "report/charts.h" is core/report/charts.h.
ROOTS = ("", "core", "tests", os.path.join("tests", "dicom"))


def sources(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("build", "demur-demo"))
        for name in sorted(names):
            if name.endswith(READ):
                yield os.path.join(folder, name)


def lacking(root, text):
    """Paths in text that are not there. One with a word in capitals stands for any name."""
    for match in PATH.finditer(text):
        path = match.group(1)
        if not re.search(r"[A-Z]{3,}", path) and not any(os.path.exists(os.path.join(root, top, path)) for top in ROOTS):
            yield match.start(), path


def self_test(root):
    gone = "core/report/" + "pages-of-old.c"
    for text, n in ((f"see {gone} for it", 1), ("core/report/report.h and report/report.h are there", 0),
                    ("core/report/NAME.c is any", 0)):
        if len(list(lacking(root, text))) != n:
            sys.exit(f"{n} paths were to be found lacking in: {text}")
    print("a path of a file that is gone was found")


def main():
    if sys.argv[1] == "--self-test":
        self_test(sys.argv[2])
        return
    root, faults = sys.argv[1], []
    for path in sources(root):
        if os.path.basename(path) == "CHANGELOG.md":  # tells of what was
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        faults += [f"{os.path.relpath(path, root)}:{text.count(chr(10), 0, at) + 1}: there is no {name}"
                   for at, name in lacking(root, text)]
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} paths are named that are not there")
    print("every file that is named is there")


main()
