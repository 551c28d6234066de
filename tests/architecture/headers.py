"""Every header of the program compiles alone, and all of them in one file: a name means one thing.

A header that a source of its folder includes before all else was compiled alone by the build, which stands or falls with it; the
others are compiled here.

Usage: headers.py ROOT COMPILER BUILD_DIR"""
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

root, compiler, build = os.path.normpath(sys.argv[1]), *sys.argv[2:4]
# The include paths that the compile database gives any C file of the headers' room.
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
    database = json.load(file)
flags = {}
for entry in database:
    if not entry["file"].endswith(".c"):
        continue
    folder = os.path.dirname(os.path.relpath(entry["file"], root))
    words = shlex.split(entry["command"])
    kept = [w for w in words if w.startswith(("-I", "-D", "-std", "-pthread"))]
    for i, word in enumerate(words):
        if word == "-isystem":
            kept += words[i:i + 2]
    flags.setdefault(folder, kept)


def check(path):
    folder = os.path.dirname(os.path.relpath(path, root))
    if folder not in flags or path in built_alone:
        return None
    result = subprocess.run([compiler, *flags[folder], "-fsyntax-only", "-x", "c", path],
                            capture_output=True, text=True, check=False)
    return f"{os.path.relpath(path, root)} does not compile alone:\n{result.stderr}" if result.returncode else None


def first_of(source):
    """The file of its own folder that a source includes before all else; None where something stands before."""
    if not os.path.isfile(source):  # made by the build
        return None
    with open(source, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.S).lstrip()
    found = re.match(r'#include "([^"]+)"', text)
    beside = found and [os.path.normpath(os.path.join(way, found[1])) for way in (os.path.dirname(source), os.path.join(root, "core"), root)]
    return next((path for path in beside or [] if os.path.exists(path) and os.path.dirname(path) == os.path.dirname(source)), None)


built_alone = {first_of(entry["file"]) for entry in database if entry["file"].endswith(".c")}
headers = [os.path.join(path, name) for top in ("core", "dicom", "app", "ui")
           for path, _, names in os.walk(os.path.join(root, top)) for name in sorted(names) if name.endswith(".h")]
with ThreadPoolExecutor(2) as pool:
    faults = [fault for fault in pool.map(check, headers) if fault]


def check_together():
    """All headers in one file, with the include paths of every room."""
    together = list(dict.fromkeys(word for kept in flags.values() for word in kept if word != "-isystem"))
    words = [word for word in together if word.startswith("-")]
    for kept in flags.values():
        for i, word in enumerate(kept):
            if word == "-isystem" and kept[i + 1] not in words:
                words += ["-isystem", kept[i + 1]]
    # A build without the window has no include paths for what includes GTK.
    built = [path for path in headers if os.path.dirname(os.path.relpath(path, root)) in flags]
    text = "".join(f'#include "{path}"\n' for path in built)
    result = subprocess.run([compiler, *words, "-fsyntax-only", "-x", "c", "-"], input=text, capture_output=True, text=True,
                            check=False)
    return f"the headers do not go into one file:\n{result.stderr[:4000]}" if result.returncode else None


together = check_together()
if together:
    faults.append(together)
n_built = sum(path in built_alone for path in headers)
print("\n".join(faults) or f"{len(headers)} headers compile alone ({n_built} of them in the build), and together")
sys.exit(1 if faults else 0)
