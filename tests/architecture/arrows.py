"""The arrows test: a room may include, and call into, only the rooms that docs/architecture.md allows it.

Reads the table "Arrows" of docs/architecture.md, every #include "room/.." line of the tree, and the symbols that each
room's static library leaves undefined. Fails on an arrow that is not in the table, on one that nothing uses, on a
numeric room that reads the clock, the environment or the locale, on C++ or DCMTK outside dicom/, and where ui or
app ask the store for something themselves.

Usage: arrows.py [--self-test] ROOT [room=library.a ..]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOMS = {
    "base": "core/base", "cohort": "core/cohort", "features": "core/features", "shift": "core/shift",
    "metrics": "core/metrics", "selector": "core/selector", "evaluation": "core/evaluation",
    "words": "core/words", "library": "core/library", "report": "core/report", "store": "core/store", "dicom": "dicom", "tasks": "core/tasks", "ui": "ui", "app": "app",
}
NUMERIC = ["features", "shift", "metrics", "selector", "evaluation"]
FORBIDDEN_IN_NUMERIC = ["time", "clock_gettime", "gettimeofday", "getenv", "secure_getenv", "setlocale",
                        "localtime", "gmtime", "rand", "random", "g_get_real_time", "g_get_monotonic_time",
                        "g_getenv", "g_date_time_new_now_utc", "g_date_time_new_now_local", "g_random_int",
                        "g_log", "printf", "fprintf", "puts"]
# What a library may only be included from: rooms, or one file.
OWNERS = {"sqlite3.h": ["core/store/driver-sqlite.c"], "libpq": ["core/store/driver-postgres.c"],
          "dcmtk/": ["dicom"], "openjpeg": ["dicom"], "microhttpd": ["dicom"], "gnutls/": ["dicom"], "cairo": ["report", "ui"],
          "pango": ["report", "ui"], "qpdf": ["report"], "cblas": ["core/base/blas.c"], "gtk/": ["ui", "app"]}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def read_arrows(root):
    """{room: set of rooms it may include}, from the table in docs/architecture.md."""
    arrows = {}
    with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as page:
        for line in page:
            match = re.match(r"^\| `(\w+)` \| ([^|]*) \|", line)
            if match and match.group(1) in ROOMS:
                arrows[match.group(1)] = set(re.findall(r"`(\w+)`", match.group(2)))
    missing = set(ROOMS) - set(arrows)
    if missing:
        sys.exit(f"docs/architecture.md names no arrows for: {', '.join(sorted(missing))}")
    return arrows


def sources(folder):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cc", ".hh")):
                yield os.path.join(path, name)


def room_of_include(name):
    parts = name.split("/")
    if parts[0] in ("core", "app", "ui", "dicom") and len(parts) > 1:
        return parts[1] if parts[0] == "core" else parts[0]
    return parts[0] if len(parts) > 1 and parts[0] in ROOMS else None


def check_includes(root, arrows, called=frozenset()):
    """called: arrows that symbols go along, though no include line does."""
    faults = []
    unused = {(room, target) for room in arrows for target in arrows[room]} - called
    for room, folder in ROOMS.items():
        for path in sources(os.path.join(root, folder)):
            where = os.path.relpath(path, root)
            if path.endswith((".cc", ".hh")) and room != "dicom":
                faults.append(f"{where}: C++ outside dicom/")
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    match = INCLUDE.match(line)
                    if not match:
                        continue
                    name = match.group(2)
                    target = room_of_include(name)
                    unused.discard((room, target))
                    if target is not None and target != room and target not in arrows[room]:
                        faults.append(f"{where}:{number}: {room} must not include {target} ({name})")
                    for library, owners in OWNERS.items():
                        if name.startswith(library) and room not in owners and where not in owners:
                            faults.append(f"{where}:{number}: only {' and '.join(owners)} may include {name}")
    faults += [f"docs/architecture.md lets {room} include {target}, which nothing does" for room, target in sorted(unused)]
    return faults


def symbols(library, flag):
    output = subprocess.run(["nm", flag, "-P", library], capture_output=True, text=True, check=True).stdout
    found = set()
    for line in output.splitlines():
        words = line.split()
        if len(words) >= 2 and not line.endswith(":"):
            found.add(words[0])
    return found


def calls(libraries):
    """(room, other) where the library of a room calls into that of another."""
    defined = {room: symbols(path, "--defined-only") for room, path in libraries.items()}
    wanted = {room: symbols(path, "--undefined-only") - defined[room] for room, path in libraries.items()}
    return {(room, other) for room in libraries for other in libraries if other != room and wanted[room] & defined[other]}


def check_symbols(libraries, arrows):
    faults = []
    defined = {room: symbols(path, "--defined-only") for room, path in libraries.items()}
    for room, path in libraries.items():
        undefined = symbols(path, "--undefined-only") - defined[room]
        for other, names in defined.items():
            if other == room or other in arrows[room]:
                continue
            for name in sorted(undefined & names):
                faults.append(f"library of {room} calls {name} of {other}: no such arrow")
        if room in NUMERIC:
            for name in sorted(undefined & set(FORBIDDEN_IN_NUMERIC)):
                faults.append(f"library of {room} calls {name}: numeric rooms have no clock, environment, "
                              "locale or logging")
    return faults


def check_store_calls(root):
    """Above the tasks the store's records are seen (tasks hand them out) and freed, and their kinds named; nothing is asked
    of the store itself."""
    declared = set()
    for path in sources(os.path.join(root, ROOMS["store"])):
        if path.endswith(".h"):
            with open(path, encoding="utf-8") as file:
                declared |= set(re.findall(r"\b(demur_\w+)\(", file.read()))
    asked = {name for name in declared if not name.endswith(("_free", "_clear", "_name"))}
    faults = []
    for room in ("ui", "app"):
        for path in sources(os.path.join(root, ROOMS[room])):
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    faults += [f"{os.path.relpath(path, root)}:{number}: {room} calls {name} of store: a task does that"
                               for name in re.findall(r"\b(demur_\w+)\(", line) if name in asked]
    return faults


def self_test(root):
    """A forbidden include, put into a copy of the tree, must be found: a test that can't fail is none."""
    cases = [("core/metrics/coverage.h", '#include "selector/selector.h"\n', "metrics must not include selector"),
             ("core/selector/selector.h", '#include <sqlite3.h>\n', "only core/store/driver-sqlite.c may include sqlite3.h"),
             ("core/store/verdicts.c", '#include <sqlite3.h>\n', "only core/store/driver-sqlite.c may include sqlite3.h"),
             ("core/store/verdicts.c", '#include <libpq-fe.h>\n', "only core/store/driver-postgres.c may include libpq-fe.h"),
             ("core/base/error.h", '#include "dicom/series.h"\n', "base must not include dicom"),
             ("core/store/workspace.h", '#include "core/report/report.h"\n', "store must not include report"),
             ("app/cli/cohort.c", '#include "store/cohorts.h"\n', "app must not include store"),
             ("ui/session.c", '#include "store/scores.h"\n', "ui must not include store"),
             ("app/cli/cohort.c", "void f(void *w) { demur_cohorts_list(w, 0); }\n", "calls demur_cohorts_list of store")]
    for file, line, expected in cases:
        with tempfile.TemporaryDirectory() as copy:
            for folder in ("core", "docs", "dicom", "app", "ui"):
                if os.path.isdir(os.path.join(root, folder)):
                    shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
            with open(os.path.join(copy, file), "a", encoding="utf-8") as header:
                header.write(line)
            faults = check_includes(copy, read_arrows(copy)) + check_store_calls(copy)
            if not any(expected in fault for fault in faults):
                sys.exit(f"{line.strip()} in {file} was not found; faults: {faults}")
    arrows = read_arrows(root)
    arrows["base"].add("dicom")
    if not any("nothing does" in fault and "base" in fault for fault in check_includes(root, arrows)):
        sys.exit("an arrow that nothing uses was not found")
    print(f"{len(cases)} forbidden includes were found, and an unused arrow")


def main():
    words = sys.argv[1:]
    if words[0] == "--self-test":
        self_test(words[1])
        return
    root = words[0]
    arrows = read_arrows(root)
    libraries = dict(word.split("=", 1) for word in words[1:])
    faults = check_includes(root, arrows, calls(libraries)) + check_symbols(libraries, arrows) + check_store_calls(root)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} arrows and docs/architecture.md disagree")
    print("every arrow points downward, and is used")


main()
