"""What the command line loads when it starts: none of the libraries of the rooms that are loaded late.

The dynamic loader itself lists what it would load. Each of them must be seen in a module: a test that finds nothing anywhere
would be none.

Usage: start.py DEMUR MODULE ..
"""
import re
import subprocess
import sys

LATE = ["libdcmdata", "libdcmnet", "libopenjp2", "libcurl", "libcairo", "libpango", "libqpdf", "libopenblas", "libpq", "libstdc\\+\\+"]


def named(path):
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return {name for name in LATE if re.search(rf"^\s*{name}[-.]", text, re.M)}


demur, *modules = sys.argv[1:]
missing = set(LATE).difference(*map(named, modules))
assert not missing, f"no module loads {missing}: look for what it is called now"
assert not named(demur), f"the command line loads {named(demur)} when it starts: which call is not late (cmake/DemurLate.cmake)?"
print(f"none of {len(LATE)} libraries is loaded at the start")
